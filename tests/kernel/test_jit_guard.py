"""Every kernel is compiled with the one preset, and kernel modules hold nothing but kernels."""

from __future__ import annotations

import ast
import importlib
import math
import os
import pkgutil
from pathlib import Path
from types import ModuleType

import numba
import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

import fieldcraft_kernel
from fieldcraft_kernel._jit import jit

PACKAGE = Path(fieldcraft_kernel.__file__).parent
MODULES = [module.name for module in pkgutil.walk_packages([str(PACKAGE)], "fieldcraft_kernel.")]
FILES = sorted(PACKAGE.rglob("*.py"))

ALLOWED_IMPORTS = {
    "__future__",
    "collections.abc",
    "enum",
    "fieldcraft_kernel",
    "math",
    "numba",
    "numpy",
    "typing",
}
COMPILERS = {
    "cfunc",
    "experimental",
    "generated_jit",
    "guvectorize",
    "jit",
    "jit_module",
    "jitclass",
    "njit",
    "objmode",
    "stencil",
    "vectorize",
}
RECORDS = {"IntEnum", "NamedTuple"}
"""The only classes: modes and states, and named tuples of arrays."""


# ---- What is compiled --------------------------------------------------------------------------


def preset_faults(name: str, kernel: Dispatcher) -> list[str]:
    """Return in what a kernel departs from the preset."""
    options = kernel.targetoptions
    faults = [
        f"{name}: {option} is {options.get(option)!r}, expected {wanted!r}"
        for option, wanted in (("nopython", True), ("nogil", True))
        if options.get(option) is not wanted
    ]
    faults += [
        f"{name}: {option} is {options[option]!r}, expected nothing"
        for option in sorted(options)
        if option not in ("nopython", "nogil") and options[option] not in (None, False)
    ]
    if isinstance(kernel._cache, NullCache):
        faults.append(f"{name}: cache is off, expected on")
    return faults


def kernels(module: ModuleType) -> dict[str, Dispatcher]:
    """Return the kernels that a module defines."""
    return {
        f"{module.__name__}.{name}": value
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.__module__ == module.__name__
    }


@pytest.mark.jit_only
def test_every_kernel_has_the_preset():
    found = {}
    for name in MODULES:
        found |= kernels(importlib.import_module(name))
    assert found, "no kernel was found"
    assert [fault for name, kernel in found.items() for fault in preset_faults(name, kernel)] == []


def plus_one(value):
    return value + 1


@pytest.mark.jit_only
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"nopython": True, "cache": True}, "nogil is None, expected True"),
        ({"forceobj": True, "nogil": True, "cache": True}, "nopython is False, expected True"),
        ({"nopython": True, "nogil": True}, "cache is off, expected on"),
        ({"nopython": True, "nogil": True, "cache": True, "fastmath": True}, "fastmath is True"),
        ({"nopython": True, "nogil": True, "cache": True, "parallel": True}, "parallel is True"),
        ({"nopython": True, "nogil": True, "cache": True, "inline": "always"}, "inline is"),
        ({"nopython": True, "nogil": True, "cache": True, "boundscheck": True}, "boundscheck is"),
    ],
)
def test_another_preset_is_found(options, fault):
    assert any(fault in found for found in preset_faults("k", numba.jit(**options)(plus_one)))


@pytest.mark.jit_only
def test_kernels_of_a_module_are_found():
    module = ModuleType("bad")
    module.kernel = numba.njit(plus_one)
    module.kernel.__module__ = "bad"
    module.imported = jit(plus_one)
    assert list(kernels(module)) == ["bad.kernel"]


def test_the_preset_itself():
    kernel = jit(plus_one)
    assert kernel(2) == 3
    assert kernel.__name__ == "plus_one"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        assert kernel is plus_one
        return
    assert preset_faults("k", kernel) == []


@pytest.mark.jit_only
def test_infinity_and_nan_survive():
    @jit
    def below(costs, limit):
        n = 0
        for cost in costs:
            if cost < limit:
                n += 1
        return n

    assert below((0.0, math.inf, math.nan, 1.0), math.inf) == 2


# ---- What is written ---------------------------------------------------------------------------


def source_faults(source: str, is_preset: bool = False) -> list[str]:
    """Return what a kernel module may not hold; only the preset's own may name a compiler."""
    tree = ast.parse(source)
    numba_names = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.partition(".")[0] == "numba"
    }
    faults = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            faults += [_import_fault(node, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = () if is_preset else tuple(alias.name for alias in node.names)
            module = f"fieldcraft_kernel.{node.module or ''}" if node.level else node.module or ""
            faults.append(_import_fault(node, module, names))
        elif isinstance(node, ast.Attribute) and not is_preset:
            base = node.value
            while isinstance(base, ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name) and base.id in numba_names and node.attr in COMPILERS:
                faults.append(f"line {node.lineno}: {ast.unparse(node)} instead of the preset")
        elif isinstance(node, ast.ClassDef):
            bases = {ast.unparse(base) for base in node.bases}
            if not bases & RECORDS:
                faults.append(f"line {node.lineno}: class {node.name}")
        elif isinstance(node, ast.Global | ast.Nonlocal):
            faults.append(f"line {node.lineno}: {ast.unparse(node)}")
    return [fault for fault in faults if fault]


def _import_fault(node: ast.stmt, module: str, names: tuple[str, ...]) -> str:
    """Return what is wrong with an import, or nothing."""
    if not {module, module.partition(".")[0]} & ALLOWED_IMPORTS:
        return f"line {node.lineno}: import of {module}"
    if module.partition(".")[0] == "numba":
        parts = {*module.split("."), *names}
        if parts & COMPILERS or "*" in names:
            return f"line {node.lineno}: {ast.unparse(node)} instead of the preset"
    return ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_kernel_modules_hold_only_kernels(file):
    faults = source_faults(file.read_text(encoding="utf-8"), file.name == "_jit.py")
    assert [f"{file.name}: {fault}" for fault in faults] == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("from numba import njit", "from numba import njit instead"),
        ("from numba import prange, jit as fast", "instead of the preset"),
        ("from numba import *", "instead of the preset"),
        ("from numba.experimental import jitclass", "instead of the preset"),
        ("import numba\n@numba.njit\ndef f(x):\n    return x", "line 2: numba.njit instead"),
        ("import numba as nb\n@nb.jit(cache=True)\ndef f(x):\n    return x", "line 2: nb.jit"),
        ("import numba\nk = numba.experimental.jitclass", "numba.experimental.jitclass instead"),
        ("import numba\nwith numba.objmode():\n    pass", "numba.objmode instead"),
        ("import os", "line 1: import of os"),
        ("import collections", "line 1: import of collections"),
        ("def f():\n    from scipy import sparse", "line 2: import of scipy"),
        ("import fieldcraft.board", "line 1: import of fieldcraft.board"),
        ("from fieldcraft import rules", "line 1: import of fieldcraft"),
        ("class Search:\n    pass", "line 1: class Search"),
        ("def f():\n    global n\n    n = 1", "line 2: global n"),
    ],
)
def test_a_bad_module_is_found(source, fault):
    faults = source_faults(source)
    assert len([found for found in faults if fault in found]) >= 1, faults


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport math\nimport numpy as np",
        "from collections.abc import Callable\nfrom enum import IntEnum\nfrom typing import Any",
        "from numba import prange, types\nfrom numba.extending import overload",
        "from fieldcraft_kernel._jit import jit\nfrom . import queues\nfrom .queues import push",
        "class Status(IntEnum):\n    OK = 0\nclass Arrays(NamedTuple):\n    enter: Any",
    ],
)
def test_a_good_module_passes(source):
    assert source_faults(source) == []

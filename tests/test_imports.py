"""Importing is cheap, needs no extra, and runs one way."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fieldcraft

PACKAGE = Path(fieldcraft.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

OPTIONAL = (
    "dask",
    "distributed",
    "matplotlib",
    "networkx",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "shapely",
    "typer",
)
COMPILER = ("llvmlite", "numba")


# ---- What an import brings ---------------------------------------------------------------------


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after running the code."""
    code += "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_import_brings_no_compiler_and_nothing_optional():
    assert modules_after("import fieldcraft") & {*OPTIONAL, *COMPILER} == set()


@pytest.mark.parametrize(
    "option", ["--help", "--version", "reach --help", "encounters --help", "encounters analyse -h"]
)
def test_help_brings_no_compiler_and_nothing_but_its_extra(option):
    code = f"""
import sys
sys.argv = ["fieldcraft", *{option.split()!r}]
from fieldcraft.cli import main
try:
    code = main()
except SystemExit as end:
    code = end.code
assert not code, code
"""
    assert modules_after(code) & {*OPTIONAL, *COMPILER} <= {"typer", "rich"}


def test_an_optional_import_is_seen():
    assert "networkx" in modules_after("import fieldcraft, networkx.algorithms")


def test_every_module_imports_without_extras():
    """Also the command line and the plots: they say which extra is missing when they are used."""
    names = [module_name(PACKAGE, file) for file in FILES if file.stem != "__main__"]
    code = f"""
import importlib, sys
for name in {OPTIONAL!r}:
    sys.modules[name] = None
for name in {names!r}:
    importlib.import_module(name)
"""
    assert "fieldcraft" in modules_after(code)


# ---- Which way imports run ---------------------------------------------------------------------

LAYERS = (
    {"_version", "errors"},
    {"frozen", "lattice", "units"},
    {"creature", "queries", "terrain"},
    {"path", "reach", "reaches", "route", "safest", "sight"},
    {"all_views", "line_tables", "pair_sums", "sight_field"}.union(
        {"body", "connected", "fields", "graph", "kernel_arrays", "legal", "plain", "searching"},
        {"step_field", "turns", "uniform"},
    ),
    {"rules"},
    {"_arrays", "board", "grid", "hexes", "plane", "questions", "stacks", "trees", "warming"},
    {"io", "plot", "tactics"},
    {"encounters"},
    {"__init__"},
    {"cli"},
    {"__main__"},
)
"""From the lowest layer to the highest; a module imports from its own layer or a lower one.

`__init__` is the package's root with the public names, which only the command line uses.
"""

KERNEL_USERS = {"_arrays", "grid", "hexes", "stacks"}.union(*LAYERS[: LAYERS.index({"rules"})])
"""Rules, and what holds rules, leave the kernels to the fields."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def module_name(package: Path, file: Path) -> str:
    """Return the dotted name of a module from its file."""
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(package: Path, file: Path) -> list[tuple[int, str]]:
    """Return the line and the dotted name of everything a module imports, at any depth in it.

    What only a type checker imports is left out: it never runs.
    """
    name = module_name(package, file)
    inside = name if file.stem == "__init__" else name.rpartition(".")[0]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    never_run = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    found = []
    for node in ast.walk(tree):
        if node in never_run:
            continue
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = inside.split(".")[: len(inside.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            if base == package.name:
                found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
            else:
                found.append((node.lineno, base))
    return found


def direction_faults(package: Path, file: Path) -> list[str]:
    """Return the imports of a module that run against the layers."""
    parts = file.relative_to(package).with_suffix("").parts
    own = parts[0]
    where = "/".join(file.relative_to(package).parts)
    if own not in LEVEL:
        return [f"{where}: has no layer; give it one in this test"]
    faults = []
    for line, name in imports(package, file):
        root, _, rest = name.partition(".")
        if root == "fieldcraft_kernel":
            if own not in KERNEL_USERS:
                faults.append(f"{where}:{line}: {name} is left to the fields")
        elif root == package.name:
            other = rest.partition(".")[0]
            if LEVEL.get(other, LEVEL["__init__"]) > LEVEL[own]:
                faults.append(f"{where}:{line}: {name} lies above")
    return faults


@pytest.mark.parametrize("file", FILES, ids=lambda file: module_name(PACKAGE, file))
def test_imports_run_one_way(file):
    assert direction_faults(PACKAGE, file) == []


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        (
            "terrain.py",
            "from fieldcraft.fields import StepField",
            "terrain.py:1: fieldcraft.fields",
        ),
        ("fields.py", "import fieldcraft.rules.hexwild", "fieldcraft.rules.hexwild lies above"),
        (
            "rules/hexwild.py",
            "from fieldcraft.board import Board",
            "rules/hexwild.py:1: fieldcraft",
        ),
        ("rules/hexwild.py", "from ..board import Board", "fieldcraft.board lies above"),
        ("rules/__init__.py", "from .. import board", "fieldcraft.board lies above"),
        (
            "rules/hexwild.py",
            "def f():\n    from fieldcraft import io",
            "hexwild.py:2: fieldcraft.io",
        ),
        ("board.py", "from fieldcraft import read", "fieldcraft.read lies above"),
        ("board.py", "import fieldcraft", "fieldcraft lies above"),
        (
            "reach.py",
            "if TYPE_CHECKING:\n    pass\nelse:\n    import fieldcraft.fields",
            "reach.py:4",
        ),
        ("io/boardfile.py", "import fieldcraft.cli", "fieldcraft.cli lies above"),
        ("rules/hexwild.py", "from fieldcraft_kernel.flood import flood", "is left to the"),
        ("board.py", "import fieldcraft_kernel", "fieldcraft_kernel is left to the fields"),
        ("__init__.py", "from fieldcraft.cli import main", "fieldcraft.cli lies above"),
        ("novelty.py", "", "novelty.py: has no layer"),
    ],
)
def test_an_import_back_is_found(tmp_path, module, source, fault):
    file = tmp_path / "fieldcraft" / module
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    faults = direction_faults(tmp_path / "fieldcraft", file)
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("cli.py", "from fieldcraft import board, io\nfrom fieldcraft.rules import get"),
        ("rules/hexwild.py", "from fieldcraft.rules.table import load\nfrom . import table"),
        ("rules/__init__.py", "from .table import load\nfrom ..errors import RulesError"),
        ("fields.py", "from fieldcraft_kernel.flood import flood\nimport numpy as np"),
        ("reach.py", "if TYPE_CHECKING:\n    from fieldcraft.fields import StepField"),
        ("__init__.py", "from .board import Board\nfrom fieldcraft._version import __version__"),
        ("cli.py", "from fieldcraft import __version__\nimport fieldcraft as fc"),
        ("__main__.py", "from fieldcraft.cli import main"),
    ],
)
def test_imports_down_and_sideways_pass(tmp_path, module, source):
    file = tmp_path / "fieldcraft" / module
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    assert direction_faults(tmp_path / "fieldcraft", file) == []


def foreign_faults(package: Path, file: Path, declared: set[str]) -> list[str]:
    """Return the imports of packages that the project does not declare."""
    known = {*sys.stdlib_module_names, *declared, package.name, "fieldcraft_kernel"}
    return [
        f"{file.name}:{line}: {name}"
        for line, name in imports(package, file)
        if name.partition(".")[0] not in known
    ]


def test_only_declared_packages_are_imported(root, tmp_path):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = [re.split(r"[^\w-]", requirement)[0] for group in groups for requirement in group]
    declared = {*wanted} - {"fieldcraft"}
    assert [fault for file in FILES for fault in foreign_faults(PACKAGE, file, declared)] == []

    bad = tmp_path / "fieldcraft" / "fields.py"
    bad.parent.mkdir()
    bad.write_text("def f():\n    import networkx as nx", encoding="utf-8")
    assert foreign_faults(bad.parent, bad, declared) == ["fields.py:2: networkx"]

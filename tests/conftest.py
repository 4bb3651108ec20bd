"""What all tests share: the cache of compiled kernels, Hypothesis profiles, the shared folder."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sharedfolder import IN_CI, ROOT, shared_dir

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


# ---- Compiled kernels --------------------------------------------------------------------------


def kernel_cache_name() -> str:
    """Return the name of the cache folder for the kernels as they are now.

    Numba notices a change only in the file that defines a function, not in the functions it calls,
    and takes code compiled with bounds checks for code without. So the name says it all: a hash
    of every kernel file, the version of Numba, and whether bounds are checked.
    """
    digest = hashlib.sha256()
    for file in sorted((ROOT / "kernel").rglob("*.py")):
        digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    checked = os.environ.get("NUMBA_BOUNDSCHECK", "0") != "0"
    version = importlib.metadata.version("numba")
    return f"{digest.hexdigest()[:16]}-numba{version}-{'checked' if checked else 'unchecked'}"


def _use_kernel_cache() -> None:
    """Point Numba to the cache folder of these kernels; each worker has one of its own.

    Two processes that compile different signatures of a function into one folder can leave its
    index pointing to the wrong code, so workers do not share.
    """
    if "numba" in sys.modules:
        raise pytest.UsageError("numba was imported before its cache folder was set")
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fieldcraft-tests"
    base = Path(os.environ.setdefault("FIELDCRAFT_TEST_CACHE", str(default)))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder = base / kernel_cache_name() / worker
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder.parent)
        if worker == "main":
            _forget_old(base)
    except OSError:  # no home, or one that cannot be written to
        folder = Path(tempfile.gettempdir()) / "fieldcraft-tests" / folder.parent.name / worker
        folder.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


def _forget_old(base: Path, days: float = 7) -> None:
    """Remove caches of kernels that nobody has tested for some days."""
    for folder in base.glob("*-numba*-*checked"):
        if time.time() - folder.stat().st_mtime > days * 86_400:
            shutil.rmtree(folder, ignore_errors=True)


_use_kernel_cache()


# ---- Hypothesis --------------------------------------------------------------------------------

# No deadline: the first example of a test may compile a kernel. CI draws the same examples each
# time, and says how to repeat one that fails.
settings.register_profile(
    "fieldcraft",
    deadline=None,
    derandomize=IN_CI,
    print_blob=IN_CI,
    database=None if IN_CI else settings.default.database,
)
settings.register_profile("quick", settings.get_profile("fieldcraft"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("fieldcraft"), max_examples=1000)
settings.load_profile("fieldcraft")


# ---- The shared folder -------------------------------------------------------------------------


@pytest.fixture(scope="session", name="shared_dir")
def _shared_dir_fixture() -> Path:
    """Return the folder `shared` beside the repository, as ``shared_dir()`` does."""
    return shared_dir()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("shared"):
        shared_dir()
    if NO_JIT and item.get_closest_marker("jit_only"):
        pytest.skip("needs compiled kernels")


@pytest.fixture(autouse=True)
def _forget_registered_rules() -> Iterator[None]:
    """Take back the rule systems that a test registered."""
    yield
    if "fieldcraft.rules" in sys.modules:
        sys.modules["fieldcraft.rules"]._registered.clear()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return ROOT

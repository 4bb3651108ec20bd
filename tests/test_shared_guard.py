"""Without the folder `shared` tests are skipped, and under CI they fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
    import pytest
    from sharedfolder import shared_dir

    def test_by_fixture(shared_dir):
        assert shared_dir.is_dir()

    def test_by_call():
        assert shared_dir("maps", "one.map").is_file()

    @pytest.mark.shared
    def test_by_marker():
        pass

    def test_without():
        pass
"""
COLLECTS = """
    import pytest
    from sharedfolder import shared_dir

    @pytest.mark.parametrize("name", [path.name for path in shared_dir("maps").iterdir()])
    def test_each(name):
        assert name == "one.map"
"""
INI = """
    [pytest]
    addopts = --import-mode=importlib --strict-markers -p no:cacheprovider
    pythonpath = tests
    markers =
        shared: as in the project
"""


def run(root: Path, tmp_path: Path, ci: str | None, *options: str) -> tuple[int, str]:
    """Run the tests of a small project that has this project's conftest."""
    folder = tmp_path / "project" / "tests"
    folder.mkdir(parents=True)
    for name in ("conftest.py", "sharedfolder.py"):
        shutil.copy(root / "tests" / name, folder)
    for name, text in (("test_uses.py", TESTS), ("test_collects.py", COLLECTS)):
        (folder / name).write_text(text.replace("\n    ", "\n"), encoding="utf-8")
    (folder.parent / "pytest.ini").write_text(INI.replace("\n    ", "\n"), encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "CI"))}
    environment["FIELDCRAFT_TEST_CACHE"] = str(tmp_path / "cache")
    if ci is not None:
        environment["CI"] = ci
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rsfE", *options],
        cwd=folder.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("ci", [None, "false"])
def test_missing_folder_skips(root, tmp_path, ci):
    code, output = run(root, tmp_path, ci)
    assert code == 0, output
    assert "1 passed, 4 skipped" in output
    assert "needs ../shared, beside the repository" in output
    assert "needs ../shared/maps/one.map, beside the repository" in output


def test_missing_folder_fails_under_ci(root, tmp_path):
    code, output = run(root, tmp_path, "true", "--continue-on-collection-errors")
    assert code == 1, output
    # test_by_marker and test_by_fixture stop in their set-up, test_each while it is collected.
    assert "1 failed, 1 passed, 3 errors" in output
    assert "needs ../shared/maps, beside the repository" in output


@pytest.mark.parametrize("ci", [None, "true"])
def test_folder_is_found(root, tmp_path, ci):
    maps = tmp_path / "shared" / "maps"
    maps.mkdir(parents=True)
    (maps / "one.map").touch()
    code, output = run(root, tmp_path, ci)
    assert code == 0, output
    assert "5 passed" in output

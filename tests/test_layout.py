"""What holds for the repository as a whole."""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import fieldcraft
import fieldcraft_kernel

MACHINE_PATH = re.compile(
    # The brackets keep this line from being found by itself.
    r"(?:^|[^A-Za-z0-9._~])(?:/(?:w[o]rk|ro[o]t|t[m]p|h[o]me|U[s]ers|var/f[o]lders)/|[A-Z]:\\U[s]ers\\)"
    r"[A-Za-z0-9._-]"
)
GENERATED = re.compile(r"(^|/)(\.git|\.venv[^/]*|__pycache__|\.[a-z_]*cache|build|dist)(/|$)")


def repository_files(root: Path) -> list[Path]:
    """Return the files that belong to the repository, committed or about to be."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        names = {name for name in done.stdout.decode().split("\0") if name}
    else:  # an unpacked archive
        names = {file.relative_to(root).as_posix() for file in root.rglob("*")}
    return [
        root / name
        for name in sorted(names)
        if not GENERATED.search(name) and (root / name).is_file()
    ]


def machine_paths(text: str) -> list[str]:
    """Return the lines that name a path of one machine."""
    return [
        f"{number}: {line.strip()[:100]}"
        for number, line in enumerate(text.splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]


def test_no_file_names_a_path_of_one_machine(root):
    files = repository_files(root)
    assert root / "pyproject.toml" in files
    found = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{file.relative_to(root)}:{fault}" for fault in machine_paths(text)]
    assert found == []


@pytest.mark.parametrize("folder", ["work", "root", "tmp", "home", "Users"])
@pytest.mark.parametrize("line", ["{}", "see {} for it", 'open("{}")', "file://{}", "PATH={}:x"])
def test_a_machine_path_is_found(folder, line):
    text = f"first\n{line.format(f'/{folder}/someone/map.board')}"
    assert machine_paths(text) == [f"2: {text.splitlines()[1]}"]


@pytest.mark.parametrize(
    "line", ["https://example.org/home/page", "docs/work/plan.md", "~/tmp/x", "cost / work / 2"]
)
def test_other_paths_pass(line):
    assert machine_paths(line) == []


@pytest.mark.parametrize("package", [fieldcraft, fieldcraft_kernel], ids=lambda p: p.__name__)
def test_packages_are_typed(package):
    assert (Path(package.__file__).parent / "py.typed").is_file()


def test_terrain_tables_lie_beside_their_rules():
    """Data files are found in the installed package, whichever way it was installed."""
    folder = Path(fieldcraft.__file__).parent / "rules"
    tables = {file.stem for file in folder.glob("*.toml")}
    assert tables
    assert tables <= {file.stem for file in folder.glob("*.py")}


# ---- Versions and dependencies -----------------------------------------------------------------


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def test_version_has_one_source(root, pyproject):
    assert "version" not in pyproject["project"]
    assert pyproject["project"]["dynamic"] == ["version"]
    source = root / pyproject["tool"]["hatch"]["version"]["path"]
    assigned = re.compile(r"^_*version_*\s*(:\s*\w+\s*)?=\s*[\"']\d", re.IGNORECASE | re.MULTILINE)
    files = [file for folder in ("python", "kernel") for file in (root / folder).rglob("*.py")]
    assert [file for file in files if assigned.search(file.read_text(encoding="utf-8"))] == [source]


def test_version_is_that_of_the_installation():
    try:
        installed = importlib.metadata.version("fieldcraft")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("fieldcraft is on the path, but not installed")
    assert fieldcraft.__version__ == installed


def test_changelog_knows_the_version(root):
    """A version in the making is described under Unreleased."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[?([^\]\s]+)", text, re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert len(headings) == 1 or headings[1] == fieldcraft.__version__


def test_core_dependencies_are_numpy_and_numba(pyproject):
    names = {re.split(r"[^\w-]", name)[0] for name in pyproject["project"]["dependencies"]}
    assert names == {"numba", "numpy"}


def test_test_group_repeats_the_extras_it_needs(pyproject):
    extras = pyproject["project"]["optional-dependencies"]
    needed = {*extras["cli"], *extras["plot"], *extras["table"], *extras["dask"]}
    assert needed <= set(pyproject["dependency-groups"]["test"])


def test_extra_all_names_every_other(pyproject):
    extras = pyproject["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = everything.removeprefix("fieldcraft[").removesuffix("]").split(",")
    assert sorted(named) == sorted(set(extras) - {"all"})


def test_readme_tests_as_ci_does(root):
    """The last command of the README's test line is what .ci/run calls."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    install = "pip install -q -e . --group test"
    line = next(line for line in readme.splitlines() if install in line)
    assert line.rstrip("`").endswith("/bin/pytest")
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    assert install in script


# ---- What is not ours --------------------------------------------------------------------------


@pytest.mark.shared
def test_nothing_of_the_shared_folder_is_copied(root, shared_dir):
    def digest(file):
        return hashlib.sha256(file.read_bytes()).digest()

    ours = {digest(file): file for file in repository_files(root) if file.stat().st_size > 64}
    shared = [file for file in shared_dir.rglob("*") if file.is_file()]
    assert shared
    assert [file for file in shared if digest(file) in ours] == []

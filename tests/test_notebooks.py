"""The notebooks run from the first cell to the last, and are stored without outputs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets import default

import fieldcraft
import fieldcraft_kernel

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))


def name(notebook: Path) -> str:
    return notebook.relative_to(ROOT).as_posix()


class ThisPython(AsyncKernelManager):
    """Starts the Python that runs the tests, whatever kernels are installed for the user."""

    @default("kernel_spec_manager")
    def _only_the_native_kernel(self):
        return KernelSpecManager(kernel_dirs=[])


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a notebook in an empty folder, on the packages under test."""
    packages = {str(Path(p.__file__).parents[1]) for p in (fieldcraft, fieldcraft_kernel)}
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sorted(packages)))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")  # without it Jupyter warns
    folder = tmp_path / "empty"
    folder.mkdir()

    def execute(notebook: nbformat.NotebookNode) -> None:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            kernel_manager_class=ThisPython,
            timeout=300,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
        assert list(folder.iterdir()) == [], "a notebook leaves no files behind"

    return execute


def outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what the code cells of an executed notebook show, as text."""
    return [
        output.get("text") or output["data"].get("text/plain", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.jit_only
@pytest.mark.parametrize("file", NOTEBOOKS, ids=name)
def test_notebook_runs(file, run):
    notebook = nbformat.read(file, as_version=4)
    run(notebook)
    shown = outputs(notebook)
    assert shown
    assert not [text for text in shown if "Warning" in text]


def test_a_cell_that_raises_fails(run):
    cell = nbformat.v4.new_code_cell("assert 1 + 1 == 3")
    with pytest.raises(CellExecutionError, match="AssertionError"):
        run(nbformat.v4.new_notebook(cells=[cell]))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=name)
def test_notebook_is_stored_without_outputs(file):
    notebook = json.loads(file.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None

"""How these tests call the command line: in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from fieldcraft.cli import main

VALLEY = """
name = "valley"
lattice = "odd-r"
rules = "hexwild"
rows = '''
.fF~.
.fF#.
.....
'''

[legend]
"." = "open"
"f" = "light_forest"
"F" = "heavy_forest"
"~" = "mud"
"#" = "rock_formation"

[[tokens]]
name = "Scout"
side = "blue"
cell = [0, 0]
speed = 3

[[tokens]]
name = "Ogre"
side = "red"
cell = [2, 4]
size = "large"
"""

HALL = """
name = "hall"
lattice = "square"
rules = "pathfinder"
rows = '''
.....
.##~.
.#...
'''

[legend]
"." = "open"
"#" = "wall"
"~" = "difficult"
"""


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        """Return the one JSON object that was printed, without NaN or Infinity."""
        assert self.err == ""
        assert self.out.count("\n") == 1

        def refuse(word):
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def fault(self):
        """Return the one line that says what was wrong."""
        assert (self.code, self.out) == (2, "")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1
        start = "fieldcraft: error: "
        assert self.err.startswith(start)
        assert self.err.isprintable() or self.err[:-1].isprintable()
        return self.err[len(start) : -1]


@pytest.fixture
def run(capsys):
    """Return a call of the command line in this process."""

    def run(*args):
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def program():
    """Return a call of ``python -m fieldcraft`` in a process of its own."""

    def program(*args, code=None, **env):
        python = [sys.executable, "-m", "fieldcraft"] if code is None else [
            sys.executable, "-c", code
        ]  # fmt: skip
        done = subprocess.run(
            [*python, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, **env},
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return program


@pytest.fixture
def valley(tmp_path):
    """Return the file of a small hex board with two tokens."""
    file = tmp_path / "valley.toml"
    file.write_text(VALLEY)
    return file


@pytest.fixture
def hall(tmp_path):
    """Return the file of a small square board."""
    file = tmp_path / "hall.toml"
    file.write_text(HALL)
    return file

"""A new process to its first answer, from a warm cache of compiled code."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fieldcraft
import fieldcraft_kernel
from benchmarks.harness import OURS, Answer, Question, Target, Wrong
from benchmarks.sizes import Sizes

SIDE = 64
MAP = f"import numpy as np; cost = np.ones(({SIDE}, {SIDE}), np.int32)"
# From corner to corner: so many diagonals at 99.
FAR = (SIDE - 1) * 99
TRIVIAL = """
import numba
import numpy as np

@numba.njit(cache=True)
def total(cost):
    sum_ = 0
    for value in cost:
        sum_ += value
    return sum_

print(total(np.ones(64, np.int32)) - 64 + {far})
"""
OUR = f"""{MAP}
import fieldcraft as fc
"""
PROGRAMS = {
    f"{OURS} reach": f"""{OUR}
print(len(fc.grid.reach(cost, (0, 0), 12, diagonals=(70, 99)).cells) and {FAR})
""",
    f"{OURS} distances": f"""{OUR}
print(round(70 * fc.grid.distances(cost, (0, 0), diagonals=(70, 99))[-1, -1]))
""",
    f"{OURS} path": f"""{OUR}
path = fc.grid.path(cost, (0, 0), ({SIDE - 1}, {SIDE - 1}), diagonals=(70, 99))
print(round(70 * path.cost))
""",
    f"{OURS} view": f"""{OUR}
print(len(fc.grid.view(cost == 0, (0, 0), 20).cells) and {FAR})
""",
    f"import {OURS} alone": f"import fieldcraft; print({FAR})",
    "import numba alone": f"import numba; print({FAR})",
    "import numpy alone": f"import numpy; print({FAR})",
    "tcod dijkstra2d": f"""{MAP}
import tcod.path
totals = tcod.path.maxarray(cost.shape, dtype=np.int32)
totals[0, 0] = 0
print(tcod.path.dijkstra2d(totals, cost, 70, 99, out=totals)[-1, -1])
""",
    "scipy csgraph.dijkstra": f"""{MAP}
from scipy.sparse import csgraph, diags
n = {SIDE}
graph = diags([np.full(n - 1, 99.0)], offsets=[1], format="csr")
print(round(csgraph.dijkstra(graph, indices=0)[-1]))
""",
    "dijkstra3d distance_field": f"""{MAP}
import dijkstra3d
totals = dijkstra3d.distance_field(cost.astype(np.float32), source=(0, 0), connectivity=8)
print(round(totals[-1, -1] * 99))
""",
}
TRIVIAL_NAME = "a trivial cached Numba kernel"
NEEDS = {
    "tcod dijkstra2d": "tcod",
    "scipy csgraph.dijkstra": "scipy",
    "dijkstra3d distance_field": "dijkstra3d",
}


@functools.cache
def _folder() -> Path:
    """Return a folder for programs and their cache; Numba caches only what lies in a file."""
    folder = tempfile.TemporaryDirectory(prefix="fieldcraft-cold-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


# Both change what a process has to do at its start: compiled code is kept, as an installed
# package has it, even where the machine that measures keeps none.
LEFT_OUT = ("NUMBA_NUM_THREADS", "PYTHONDONTWRITEBYTECODE")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    sources = {Path(package.__file__).parents[1] for package in (fieldcraft, fieldcraft_kernel)}
    path = [str(source) for source in sources] + [kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    kept["NUMBA_CACHE_DIR"] = str(_folder() / "cache")
    kept["PYTHONPYCACHEPREFIX"] = str(_folder() / "pycache")
    return kept


def run(file: Path) -> int:
    """Run a program in a new process and return the number that it prints."""
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=_environment(), check=False
    )
    if done.returncode:
        raise Wrong(done.stderr.strip().splitlines()[-1][:120])
    return int(done.stdout)


def answer(name: str, program: str) -> Answer:
    def build() -> Path:
        file = _folder() / f"{abs(hash(name))}.py"
        file.write_text(program, encoding="utf-8")
        run(file)  # compiles into the cache
        return file

    return Answer(name, build=build, query=run, needs=NEEDS.get(name, ""))


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    programs: dict[str, Any] = {**PROGRAMS, TRIVIAL_NAME: TRIVIAL.format(far=FAR)}
    if sizes.rounds:  # a quick run starts few processes
        programs = {name: programs[name] for name in (f"{OURS} reach", TRIVIAL_NAME)}
    ours = [name for name in programs if name.startswith(OURS)]
    yield Question(
        "cold",
        "cold start",
        "a new process to its first answer, warm cache",
        [answer(name, program) for name, program in programs.items()],
        {"": lambda: FAR},
        [Target(TRIVIAL_NAME, 1.3, ours=name, most=True) for name in ours],
        rounds=7,
        seconds=30,
        note="the whole life of the process, the interpreter's start included",
    )

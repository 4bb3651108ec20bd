"""The limit: a C++ program of our own, asked in the same run where a compiler is found."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Answer, Missing, Wrong
from benchmarks.scenes import Array, Cell

SOURCE = Path(__file__).parent / "limit" / "limit.cpp"
NAME = "limit (C++)"


@functools.cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="fieldcraft-limit-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def compiler() -> str | None:
    """Return a C++ compiler, or None."""
    return next((name for name in ("g++", "clang++") if shutil.which(name)), None)


@functools.cache
def program() -> Path:
    """Compile the program once a run, or raise Missing."""
    found = compiler()
    if found is None:
        raise Missing("neither g++ nor clang++ is there")
    out = _folder() / "limit"
    for march in (["-march=native"], []):
        command = [found, "-O3", *march, "-std=c++17", "-o", str(out), str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return out
    raise Missing(f"{found} does not compile it: {done.stderr.strip()[:200]}")


class Limit:
    """One running program with one map."""

    def __init__(self, terrain: Array) -> None:
        file = _folder() / f"map-{id(self)}.u8"
        terrain.astype(np.uint8).tofile(file)
        height, width = terrain.shape
        self._process = subprocess.Popen(
            [str(program()), str(file), str(height), str(width)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, command: str) -> tuple[float, tuple[int, int, int]]:
        """Return seconds, and (count, sum of totals, expanded)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline().split()
        if len(line) != 4:
            raise Wrong("the limit program ended early")
        return float(line[0]), (int(line[1]), int(line[2]), int(line[3]))

    def __del__(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None:
            process.stdin.close()
            process.wait(timeout=10)
            process.stdout.close()


def sums(found: tuple[int, int, int], expected: Any) -> str:
    """Compare count and sum of finite totals."""
    totals = np.asarray(expected, np.float64)
    finite = totals[np.isfinite(totals)]
    if found[:2] != (finite.size, int(finite.sum())):
        raise Wrong(f"{found[0]} totals sum to {found[1]}, not {finite.size} to {finite.sum():g}")
    return "sum equal"


def answer(
    command: Callable[[], str], terrain: Callable[[], Array], rule: str, *, per: int = 1
) -> Answer:
    """Return the limit's answer to a question; `command` is made when it is first asked."""
    kept = functools.cache(command)
    return Answer(
        NAME,
        build=lambda: Limit(terrain()),
        query=lambda running: running.ask(kept()),
        rule=rule,
        per=per,
        compare=sums,
        own_clock=True,
        work=lambda found: {"expanded": found[2] / per},
    )


def cells(given: Sequence[Cell]) -> str:
    return " ".join(f"{row} {col}" for row, col in given)

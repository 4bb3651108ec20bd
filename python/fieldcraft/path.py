"""Paths: how to get there, and what each step costs and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import Frozen
from fieldcraft.lattice import Cell

__all__ = ["Explanation", "Path", "Step", "amount"]


def amount(value: float | Fraction) -> str:
    """Return a cost as text, with at most six decimals and no trailing zeros."""
    if isinstance(value, float) and math.isinf(value):
        return "no way"
    text = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    Attributes
    ----------
    start, to : tuple of int
        The cells it leads from and to, ``(row, col)``; the same when only the layer changes.
    cost : float
        What it costs, in the system's unit.
    parts : tuple of (str, float)
        What the cost is made of; the parts sum to the cost.
    layer : str
        Name of the layer it arrives in, empty where there is but one.
    """

    start: Cell
    to: Cell
    cost: float
    parts: tuple[tuple[str, float], ...]
    layer: str = ""

    @property
    def why(self) -> str:
        """The parts as text, for example ``"plain hex 1 + light forest 0.5"``."""
        return " + ".join(f"{label} {amount(cost)}" for label, cost in self.parts)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A table of a path's steps; `str` prints it, iteration gives the steps."""

    steps: tuple[Step, ...]
    cost: float
    unit: str = ""

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Step:
        return self.steps[index]

    def __str__(self) -> str:
        if math.isinf(self.cost):
            return "no way"
        rows = [("step", "cell", "cost", "why")]
        for number, step in enumerate(self.steps, 1):
            why = f"{step.why} ({step.layer})" if step.layer else step.why
            rows.append((str(number), f"{step.to[0]},{step.to[1]}", amount(step.cost), why))
        rows.append(("", "total", amount(self.cost), self.unit))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = []
        for step_, cell, cost, why in rows:
            line = f"{step_:>{widths[0]}}  {cell:<{widths[1]}}  {cost:>{widths[2]}}  {why}"
            lines.append(line.rstrip())
        return "\n".join(lines)


def _no_steps() -> tuple[Step, ...]:
    return ()


@dataclass(frozen=True, eq=False)
class Path(Frozen):
    """A cheapest path, or the answer that there is none.

    A path is true when it was found, also when it has no steps because start and goal are one;
    its length is the number of its steps.

    Attributes
    ----------
    cells : ndarray of int64, shape (k, 2)
        The cells from start to goal, both included; shape (0, 2) when there is no way.
    cost : float
        Total of the steps in the system's unit; infinite when there is no way.
    parity : int
        Diagonals made so far, modulo 2, where diagonals alternate; else 0.
    expanded : int
        How many states the search expanded.
    unit : str
    """

    cells: npt.NDArray[np.int64]
    cost: float
    parity: int = 0
    expanded: int = 0
    unit: str = ""
    _n_steps: int = field(default=0, repr=False)
    _explain: Callable[[], tuple[Step, ...]] = field(default=_no_steps, repr=False)

    def __post_init__(self) -> None:
        self.cells.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        # The steps go along, not the whole map that could work them out again.
        return {**self.__dict__, "steps": self.steps, "_explain": _no_steps}

    def __bool__(self) -> bool:
        return bool(len(self.cells))

    def __len__(self) -> int:
        return self._n_steps

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return bool(
            np.array_equal(self.cells, other.cells)
            and (self.cost, self.parity, len(self)) == (other.cost, other.parity, len(other))
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps, each with its cost and what it is made of (worked out when first asked)."""
        return self._explain()

    def explain(self) -> Explanation:
        """Return a table of the steps: cell, cost and why; the costs sum to the path's.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> print(fc.grid.path([[1, 2, 1]], (0, 0), (0, 2)).explain())
        step  cell   cost  why
           1  0,1       2  entry 2
           2  0,2       1  entry 1
              total     3
        """
        return Explanation(self.steps, self.cost, self.unit)

    def __repr__(self) -> str:
        if not self:
            return "Path(no way)"
        first, last = tuple(map(int, self.cells[0])), tuple(map(int, self.cells[-1]))
        return f"Path({first} to {last}, {len(self)} steps, cost {amount(self.cost)})"


def no_path(expanded: int, unit: str) -> Path:
    """Return the answer "no way"."""
    return Path(np.zeros((0, 2), np.int64), math.inf, expanded=expanded, unit=unit)

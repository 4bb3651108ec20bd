"""Paths: how to get there, and what each step costs and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import Frozen, cached_property
from fieldcraft.lattice import Cell

__all__ = ["Explanation", "Mark", "Path", "Stake", "Step", "amount", "joined", "no_path"]

ATTACK = "attack"


def amount(value: float | Fraction) -> str:
    """Return a cost as text, with at most six decimals and no trailing zeros."""
    if isinstance(value, float) and math.isinf(value):
        return "no way"
    text = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@dataclass(frozen=True, slots=True)
class Stake:
    """Something that a step risks. Data: nothing is rolled.

    Attributes
    ----------
    kind : str
        ``"attack"``, ``"save"``, ``"slip"``, ``"climb"``, ``"test"``, ``"fall"``, ``"malus"`` or
        ``"forbids"``.
    source : str
        Where it comes from: the id of a terrain, or the name of a token.
    detail : object
        What it is: of an attack the token that may make it, else the rules' own structure, such as
        `fieldcraft.rules.Save`; None where the modifiers say it all.
    modifiers : tuple
        Changes to tests that it brings, or that hold for its own test on this step, such as
        `fieldcraft.rules.Modifier`.
    besides : tuple
        What failing does besides: the `fieldcraft.rules.Knockdown` of a place.
    text : str
        The same in words, as a table of steps shows it.
    """

    kind: str
    source: str
    detail: Any = None
    modifiers: tuple[Any, ...] = ()
    besides: tuple[Any, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"{self.kind} ({self.source})"


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
    stakes : tuple of Stake
        What it risks.
    """

    start: Cell
    to: Cell
    cost: float
    parts: tuple[tuple[str, float], ...]
    layer: str = ""
    stakes: tuple[Stake, ...] = ()

    @property
    def why(self) -> str:
        """The parts as text, for example ``"plain hex 1 + light forest 0.5"``."""
        return " + ".join(f"{label} {amount(cost)}" for label, cost in self.parts)


class Mark(NamedTuple):
    """A line of a table that closes a part of a path, which costs so much.

    It stands after so many steps; `ends` tells a turn, where a movement ends, from a pause.
    """

    text: str
    steps: int
    cost: float
    ends: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """A table of a path's steps, and what they risk; `str` prints it, iteration gives the steps.

    `marks` close its turns, or what came before a pause.
    """

    steps: tuple[Step, ...]
    cost: float
    unit: str = ""
    marks: tuple[Mark, ...] = ()

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Step:
        return self.steps[index]

    def __str__(self) -> str:
        if math.isinf(self.cost) and not self.marks:
            return "no way"
        rows = [("step", "cell", "cost", "why")]
        for number in range(len(self.steps) + 1):
            if number:
                step = self.steps[number - 1]
                why = f"{step.why} ({step.layer})" if step.layer else step.why
                rows.append((str(number), f"{step.to[0]},{step.to[1]}", amount(step.cost), why))
            here = [mark for mark in self.marks if mark.steps == number]
            rows += [("", mark.text, amount(mark.cost), "") for mark in here]
        rows.append(("", "total", amount(self.cost), self.unit))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = []
        for step_, cell, cost, why in rows:
            line = f"{step_:>{widths[0]}}  {cell:<{widths[1]}}  {cost:>{widths[2]}}  {why}"
            lines.append(line.rstrip())
        return "\n".join([*lines, *self.at_stake()])

    def at_stake(self) -> list[str]:
        """Return a line for each thing at stake, with the steps that risk it."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, step in enumerate(self.steps, 1):
            for stake in step.stakes:
                found.setdefault((stake.kind, str(stake)), []).append(number)
        ends = [0, *(mark.steps for mark in self.marks if mark.ends), len(self.steps)]
        movements = [self.steps[begin:end] for begin, end in pairwise(ends)]
        n_attacks = Counter(str(stake) for steps in movements for stake in _attacks(steps))
        lines = []
        for (kind, text), numbers in found.items():
            where = ", ".join(str(number) for number in dict.fromkeys(numbers))
            steps = "step" if len(set(numbers)) == 1 else "steps"
            times = n_attacks[text] if kind == ATTACK else len(numbers)
            if kind == ATTACK and times < len(numbers):
                text += f" ({times} in all)"
            elif times > len(set(numbers)):
                text += f" ({times} times)"
            lines.append(f"at stake in {steps} {where}: {text}")
        return lines


def _attacks(steps: tuple[Step, ...]) -> list[Stake]:
    """Return the attacks that the steps of one movement provoke, of each token the first."""
    most: Counter[Any] = Counter()
    found = []
    for step in steps:
        mine = [stake for stake in step.stakes if stake.kind == ATTACK]
        # Tokens that are equal in everything stand on one cell and attack at the same steps.
        count: Counter[Any] = Counter()
        for stake in mine:
            count[stake.detail] += 1
            if count[stake.detail] > most[stake.detail]:
                most[stake.detail] += 1
                found.append(stake)
    return found


def _no_steps() -> tuple[Step, ...]:
    return ()


@dataclass(frozen=True, eq=False, init=False)
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
    legs : tuple of Path
        Its parts between the pauses of a movement that was gone on with (`Reach.then`): all but
        the last end with a pause. Empty where there was none.
    """

    cells: npt.NDArray[np.int64]
    cost: float
    parity: int = 0
    expanded: int = 0
    unit: str = ""
    legs: tuple[Path, ...] = ()
    _n_steps: int = field(default=0, repr=False)
    _explain: Callable[[], tuple[Step, ...]] = field(default=_no_steps, repr=False)

    def __init__(
        self,
        cells: npt.NDArray[np.int64],
        cost: float,
        parity: int = 0,
        expanded: int = 0,
        unit: str = "",
        legs: tuple[Path, ...] = (),
        _n_steps: int = 0,
        _explain: Callable[[], tuple[Step, ...]] = _no_steps,
    ) -> None:
        cells.flags.writeable = False
        # What a frozen dataclass does one by one takes longer than a short search.
        self.__dict__.update(
            cells=cells, cost=cost, parity=parity, expanded=expanded, unit=unit, legs=legs,
            _n_steps=_n_steps, _explain=_explain,
        )  # fmt: skip

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
            and self.legs == other.legs
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps: what each costs and why, and what it risks (worked out when first asked)."""
        return self._explain()

    @property
    def stakes(self) -> tuple[Stake, ...]:
        """What the steps risk, one after the other."""
        return tuple(stake for step in self.steps for stake in step.stakes)

    @property
    def attacks(self) -> tuple[Stake, ...]:
        """The opportunity attacks it provokes, of each foe the first: it has one a movement."""
        return tuple(_attacks(self.steps))

    @property
    def pauses(self) -> tuple[Cell, ...]:
        """The cells where the movement paused, in order."""
        return tuple((int(leg.cells[-1, 0]), int(leg.cells[-1, 1])) for leg in self.legs[:-1])

    def explain(self) -> Explanation:
        """Return a table of the steps: cell, cost and why; the costs sum to the path's.

        Below it stands what is at stake, a line for each thing, where something is.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> print(fc.grid.path([[1, 2, 1]], (0, 0), (0, 2)).explain())
        step  cell   cost  why
           1  0,1       2  entry 2
           2  0,2       1  entry 1
              total     3
        """
        ends = accumulate(len(leg) for leg in self.legs[:-1])
        marks = [
            Mark("pause", end, leg.cost, ends=False)
            for end, leg in zip(ends, self.legs[:-1], strict=True)
        ]
        return Explanation(self.steps, self.cost, self.unit, tuple(marks))

    def __repr__(self) -> str:
        if not self:
            return "Path(no way)"
        first, last = tuple(map(int, self.cells[0])), tuple(map(int, self.cells[-1]))
        return f"Path({first} to {last}, {len(self)} steps, cost {amount(self.cost)})"


def joined(legs: Sequence[Path], cost: float) -> Path:
    """Return paths that go on from each other as one, with a pause between each and the next."""
    return Path(
        np.concatenate([legs[0].cells, *(leg.cells[1:] for leg in legs[1:])]),
        cost,
        legs[-1].parity,
        legs[-1].expanded,
        legs[-1].unit,
        tuple(legs),
        sum(len(leg) for leg in legs),
        lambda: tuple(step for leg in legs for step in leg.steps),
    )


def no_path(expanded: int, unit: str) -> Path:
    """Return the answer "no way"."""
    return Path(np.zeros((0, 2), np.int64), math.inf, expanded=expanded, unit=unit)

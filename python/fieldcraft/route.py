"""Routes: a way to a goal cut into legal turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError
from fieldcraft.frozen import Frozen
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import Explanation, Mark, Path, Step, amount

if TYPE_CHECKING:
    from fieldcraft.reach import Reach
    from fieldcraft.step_field import StepField

__all__ = ["Route", "find_route"]

Array = npt.NDArray[Any]
BLOCK = 1 << 20
"""Distances worked out at a time."""


@dataclass(frozen=True, eq=False)
class Route(Frozen):
    """A way to a goal in turns, or the nearest approach to a goal to which there is none.

    A route is true when the goal was reached; its length is the number of its turns, none where
    it begins at the goal.

    Attributes
    ----------
    turns : tuple of Path
        The movement of each turn. Where there is no way, those of the nearest approach.
    start : tuple of int
    found : bool
        Whether the goal was reached.
    expanded : int
        How many states the searches expanded.
    unit : str
    """

    turns: tuple[Path, ...]
    start: Cell
    found: bool
    expanded: int = 0
    unit: str = ""
    cells: npt.NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        start = np.array([self.start], np.int64)
        cells = np.concatenate([start, *(turn.cells[1:] for turn in self.turns)])
        cells.flags.writeable = False
        object.__setattr__(self, "cells", cells)

    @property
    def cost(self) -> float:
        """Total of the turns in the system's unit; infinite when there is no way."""
        return sum((turn.cost for turn in self.turns), 0.0) if self.found else math.inf

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all turns."""
        return tuple(step for turn in self.turns for step in turn.steps)

    def __bool__(self) -> bool:
        return self.found

    def __len__(self) -> int:
        return len(self.turns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Route):
            return NotImplemented
        mine = (self.found, self.start, self.turns)
        return mine == (other.found, other.start, other.turns)

    __hash__ = None  # type: ignore[assignment]

    def explain(self) -> Explanation:
        """Return a table of the steps, with a line that closes each turn.

        Where there is no way it shows the nearest approach, and "no way" in place of the total.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> board = fc.Board([["open"] * 4], rules="pathfinder")
        >>> print(board.route((0, 0), (0, 3), budget=2).explain())
        step  cell    cost  why
           1  0,1        1  square 1
           2  0,2        1  square 1
              turn 1     2
           3  0,3        1  square 1
              turn 2     1
              total      3  squares
        """
        ends = accumulate(len(turn) for turn in self.turns)
        marks = [
            Mark(f"turn {number}", end, turn.cost, ends=True)
            for number, (end, turn) in enumerate(zip(ends, self.turns, strict=True), 1)
        ]
        return Explanation(self.steps, self.cost, self.unit, tuple(marks))

    def __repr__(self) -> str:
        turns = f"{len(self)} turn{'' if len(self) == 1 else 's'}"
        last = tuple(map(int, self.cells[-1]))
        if self.found:
            return f"Route({self.start} to {last}, {turns}, cost {amount(self.cost)})"
        return f"Route(no way; {turns} to {last})"


class Stops(NamedTuple):
    """Where movements may end, as columns: turn, settled state, cell, layer, ticks spent."""

    turn: Array
    state: Array
    cell: Array
    layer: Array
    spent: Array

    def best(self, order: Sequence[Array]) -> tuple[int, int]:
        """Return turn and state of the first by some columns, the most important first."""
        first = np.lexsort(tuple(reversed(order)))[0]
        return int(self.turn[first]), int(self.state[first])


def find_route(
    field: StepField,
    start: Cell,
    goal: Any,
    *,
    budget: Any = None,
    parity: int = 0,
    max_turns: int | None = None,
) -> Route:
    """Return a route through a field; see `Board.route`."""
    if max_turns is not None and (
        isinstance(max_turns, bool) or not isinstance(max_turns, int | np.integer) or max_turns < 0
    ):
        raise ArgumentTypeError(
            f"max_turns must be a whole number, 0 or more, or None, not {max_turns!r}"
        )
    start, goals = field.check(start, "start"), field.goal_cells(goal)
    if start in goals:
        return Route((), start, True, 0, field.unit)
    expanded = 0
    if budget is None and max_turns != 0:
        # Without a limit one turn is enough, unless some speed has one.
        path = field.path(start, goal, parity=parity)
        expanded = path.expanded
        if path:
            return Route((path,), start, True, expanded, field.unit)
    padded = np.array([field.padded(cell) for cell in sorted(goals)])
    states, totals = field.seeds(start, parity=parity)
    seen = np.unique(field.places_of(states))
    turns: list[Reach] = []
    found: list[Stops] = []
    while max_turns is None or len(turns) < max_turns:
        turns.append(field.reach_from(states, totals, budget))
        expanded += turns[-1].expanded
        stops = stops_of(field, turns[-1], len(turns))
        at_goal = np.isin(stops.cell, padded)
        if at_goal.any():
            stops = Stops(*(column[at_goal] for column in stops))
            last = stops.best((stops.spent, stops.cell, stops.layer))
            return Route(cut(field, turns, *last), start, True, expanded, field.unit)
        where = field.places_of(stops.state)
        new = np.flatnonzero(~np.isin(where, seen))
        if not len(new):
            break
        # Of the states of one place the cheapest: what tells them apart ends with the turn.
        new = new[np.lexsort((stops.state[new], stops.spent[new], where[new]))]
        new = new[np.diff(where[new], prepend=-1) > 0]
        found.append(Stops(*(column[new] for column in stops)))
        seen = np.union1d(seen, where[new])
        zeros = np.zeros(len(new), totals.dtype)
        states, totals = field.states_at(stops.layer[new], stops.cell[new], zeros)
    return Route(approach(field, start, goals, turns, found), start, False, expanded, field.unit)


def stops_of(field: StepField, reach: Reach, turn: int) -> Stops:
    """Return where a turn may end."""
    states, totals = reach.states_that_may_end()
    cells, _ = field.split_states(states)
    layers = field.layers_of(states)
    return Stops(np.full(len(states), turn), states, cells, layers, field.whole(totals))


def cut(field: StepField, turns: Sequence[Reach], turn: int, state: int) -> tuple[Path, ...]:
    """Return the paths of the turns that lead to a state of the last of them."""
    paths: list[Path] = []
    for number in range(turn, 0, -1):
        paths.append(turns[number - 1].path_to_state(state))
        if number > 1:
            first = turns[number - 1].first_of(state)
            stops = stops_of(field, turns[number - 2], number - 1)
            here = field.places_of(stops.state) == field.places_of(np.array([first]))
            stops = Stops(*(column[here] for column in stops))
            _, state = stops.best((stops.spent, stops.state))
    return tuple(reversed(paths))


def approach(
    field: StepField,
    start: Cell,
    goals: set[Cell],
    turns: Sequence[Reach],
    found: Sequence[Stops],
) -> tuple[Path, ...]:
    """Return the turns to the stop that is nearest to the goals; none where the start is."""
    if not found:
        return ()
    stops = Stops(*map(np.concatenate, zip(*found, strict=True)))
    targets = np.array(sorted(goals), np.int64)
    apart = distances(field.lattice, field.to_cells(stops.cell), targets)
    if apart.min() >= distances(field.lattice, np.array([start]), targets)[0]:
        return ()
    last = stops.best((apart, stops.turn, stops.spent, stops.cell, stops.layer))
    return cut(field, turns, *last)


def distances(lattice: Lattice, cells: Array, goals: Array) -> Array:
    """Return how far each cell is from the nearest goal, in steps of the lattice."""
    least = lattice.distances(cells, goals[0])
    many = max(1, BLOCK // len(cells))
    for begin in range(1, len(goals), many):
        block = goals[None, begin : begin + many]
        np.minimum(least, lattice.distances(cells[:, None], block).min(axis=1), out=least)
    return least

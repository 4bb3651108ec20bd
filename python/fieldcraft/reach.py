"""Reach: the cells a creature gets to within its budget, at what price and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import as_cell
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.frozen import Frozen, cached_property, frozen
from fieldcraft.lattice import Cell
from fieldcraft.path import Path, amount, joined, no_path
from fieldcraft.queries import cells_of

if TYPE_CHECKING:
    from fieldcraft.plain import Page
    from fieldcraft.searching import Settled, Way
    from fieldcraft.step_field import StepField

__all__ = ["Pause", "Reach", "Speeds"]

Speeds = Sequence[tuple[str, float | None]]
"""Ways of moving and the ticks of each, None without limit."""


class Pause(NamedTuple):
    """What a reach goes on from: another one, at some cells of it (None: all its stops).

    `states`: of each start of the reach that goes on, the state of the other that it was.
    """

    reach: Reach
    cells: tuple[Cell, ...] | None
    states: npt.NDArray[np.int64]


class Reach(Frozen):
    """Everything one search settled: a value that keeps its field and never changes.

    `then` goes on after a pause, and gives a reach as well: its costs count from the first start,
    and its paths lead from there.

    Attributes
    ----------
    cells : ndarray of int64, shape (n, 2)
        The cells reached, by rising cost, then by row and column. The start is among them.
    cost : ndarray of float64, shape (n,)
        The least total of each cell, in the system's unit.
    can_stop : ndarray of bool, shape (n,)
        Whether a movement may end there.
    parity : ndarray of int8, shape (n,)
        Diagonals made on a cheapest way, modulo 2, where diagonals alternate; else 0. Where
        cheapest ways end with either, the one after which the next diagonal is cheap.
    budget : float
        What could be spent; infinite when there was no limit.
    rest : str
        What of a budget in metres or feet was too little for a whole unit, as text; else empty.
    expanded : int
        How many states the search expanded.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> reach = fc.grid.reach([[1, 2, 1]], (0, 0), 2)
    >>> reach.cells.tolist(), reach.cost.tolist(), (0, 2) in reach
    ([[0, 0], [0, 1]], [0.0, 2.0], False)
    """

    rest: str = ""
    _speeds: Speeds = ()
    _pause: Pause | None = None

    def __init__(
        self,
        field: StepField,
        settled: Settled,
        starts: npt.NDArray[np.int64],
        initial: npt.NDArray[Any],
        *,
        budget: float,
        expanded: int,
        rest: str = "",
        speeds: Speeds = (),
        pause: Pause | None = None,
    ) -> None:
        self._field = field
        self._settled = settled
        self._states, self._totals, _ = settled
        self._starts, self._initial = starts, initial
        self.budget = budget
        self.expanded = expanded
        self.rest = rest
        self._speeds = tuple(speeds)
        self._pause = pause

    @property
    def field(self) -> StepField:
        """The movement graph that was searched."""
        return self._field

    # -- arrays ---------------------------------------------------------------------------------

    @cached_property
    def _table(self) -> tuple[npt.NDArray[Any], ...]:
        """Cells, costs, whether some state may stop, and the parity of the best state."""
        field = self._field
        cells, rows = field.split_states(self._states)
        order = np.lexsort((rows, self._dear(rows), self._totals, cells))
        best, can_stop = best_of_cells(cells, order, self._ends)
        cost = field.to_cost(self._totals[best])
        by_cost = np.lexsort((cells[best], cost))
        best, cost, can_stop = best[by_cost], cost[by_cost], can_stop[by_cost]
        parity = field.parity_of(rows[best], self._totals[best])
        arrays = (field.to_cells(cells[best]), cost, can_stop, parity)
        for array in arrays:
            array.flags.writeable = False
        return arrays

    @cached_property
    def _ends(self) -> npt.NDArray[np.bool_]:
        """Whether a movement may end in each settled state."""
        field = self._field
        if self._pause is None:
            return field.may_end(self._states, self._starts)
        cells, rows = field.split_states(self._states)
        # Whoever has paused there may stay there.
        at = np.searchsorted(self._starts, self._states)
        starts, initial = np.append(self._starts, -1), np.append(self._initial, 0)
        has_paused = (starts[at] == self._states) & (initial[at] == self._totals)
        ends: npt.NDArray[np.bool_] = field.may_stop(rows, cells) | has_paused
        return ends

    def _dear(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Tell which rows have a dear diagonal next: of equal totals the others are better."""
        return self._field.next_is_dear(rows)

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells reached, shape (n, 2), by rising cost."""
        cells: npt.NDArray[np.int64] = self._table[0]
        return cells

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """The least total of each cell, shape (n,)."""
        cost: npt.NDArray[np.float64] = self._table[1]
        return cost

    @property
    def can_stop(self) -> npt.NDArray[np.bool_]:
        """Whether a movement may end in each cell, shape (n,)."""
        can_stop: npt.NDArray[np.bool_] = self._table[2]
        return can_stop

    @property
    def parity(self) -> npt.NDArray[np.int8]:
        """Diagonals made so far, modulo 2, shape (n,)."""
        parity: npt.NDArray[np.int8] = self._table[3]
        return parity

    @property
    def stops(self) -> npt.NDArray[np.int64]:
        """The cells where a movement may end, shape (m, 2), by rising cost."""
        return self.cells[self.can_stop]

    @cached_property
    def _places(self) -> dict[Cell, int]:
        return {(row, col): i for i, (row, col) in enumerate(self.cells.tolist())}

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, cell: object) -> bool:
        return as_cell(cell) in self._places

    def __repr__(self) -> str:
        within = "" if math.isinf(self.budget) else f" within {amount(self.budget)}"
        return f"Reach({len(self)} cells{within})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reach):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._table, other._table, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def cost_at(self, cell: Cell) -> float:
        """Return the least total of a cell, infinite when it is not reached.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        place = self._places.get(self._field.check(cell))
        return math.inf if place is None else float(self.cost[place])

    def to_array(self) -> npt.NDArray[np.float64]:
        """Return the costs as a map, shape (height, width), infinite where not reached."""
        array = np.full(self._field.shape, np.inf)
        array[self.cells[:, 0], self.cells[:, 1]] = self.cost
        return array

    # -- paths ----------------------------------------------------------------------------------

    def path_to(self, cell: Cell, *, stop: bool = True) -> Path:
        """Return the cheapest path to a cell within the budget.

        Of several cheapest paths the written rule picks one: walking back from the goal, the
        predecessor in the lowest direction number. After `then` it is the whole path from the
        first start; `Path.pauses` are the cells where it paused, `Path.legs` what lies between.

        Parameters
        ----------
        cell : tuple of int
        stop : bool
            Whether the path must end where a movement may end; with False it may end on a cell
            that may only be passed.

        Returns
        -------
        Path
            False when the cell is not reached, or only where nobody may stop.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        cell = self._field.check(cell, "goal")
        if stop and self._pause is None:
            # It begins there already, whether or not it may stay.
            stop = self._field.padded(cell) not in self._field.split_states(self._starts)[0]
        goal = self._cheapest(cell, stop=stop)
        if goal is None:
            return no_path(self.expanded, self._field.unit)
        return self.path_to_state(int(self._states[goal]))

    def _cheapest(self, cell: Cell, *, stop: bool) -> int | None:
        """Return which settled state of a cell is the cheapest, or None where there is none."""
        cells, rows = self._field.split_states(self._states)
        here = np.flatnonzero(cells == self._field.padded(cell))
        if stop:
            here = here[self._ends[here]]
        if not len(here):
            return None
        rows = rows[here]
        return int(here[np.lexsort((rows, self._dear(rows), self._totals[here]))[0]])

    def path_to_state(self, state: int) -> Path:
        """Return the path to a settled state of the search."""
        ways = list(self._ways_to(state))
        legs = [reach.field.path_of(way, self.expanded) for reach, way in ways]
        if len(legs) == 1:
            return legs[0]
        field = self._field
        ticks = field.whole(ways[-1][1][1][-1:]) - ways[0][0].field.whole(ways[0][1][1][:1])
        return joined(legs, float(field.in_units(ticks.item())))

    def _ways_to(self, state: int) -> Iterator[tuple[Reach, Way]]:
        """List the ways to a state from one pause to the next, each with its reach."""
        way = self._field.way_to(state, self._settled, self._starts, self._initial)
        if self._pause is not None:
            at = np.searchsorted(self._starts, way[0][0])
            yield from self._pause.reach._ways_to(int(self._pause.states[at]))
        yield self, way

    def first_of(self, state: int) -> int:
        """Return the start from which the path to a settled state leads."""
        return int(self._field.way_to(state, self._settled, self._starts, self._initial)[0][0])

    def states_that_may_end(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the settled states in which a movement may end, and their totals."""
        return self._states[self._ends], self._totals[self._ends]

    def ending(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return in which settled states a turn may end: which, the states, and their totals.

        Where it begins it may always end; that is the first one.
        """
        ends = self._ends.copy()
        first = np.flatnonzero(self._states == self._starts[0])[:1]
        ends[first] = False
        which = np.concatenate([first, np.flatnonzero(ends)])
        return which, self._states[which], self._totals[which]

    # -- going on after a pause -----------------------------------------------------------------

    def then(
        self, cells: Any = None, *, field: StepField | None = None, budget: Any = None
    ) -> Reach:
        """Return where the movement gets to that goes on after a pause (move, act, move).

        It goes on from every state of these cells in which a movement may end, with what that has
        spent of every speed (S5-01, S5-03), and the diagonals it has made (PF-01). Who was halted
        goes no further.

        Parameters
        ----------
        cells : tuple of int, or array_like of int, shape (n, 2), optional
            Where it pauses: one cell, or several of which any will do; every stop if absent.
        field : StepField, optional
            What it goes on in, where the board has changed meanwhile: laid out as this reach's
            own, such as ``reach.field.update(others)`` after a foe fell.
        budget : float, optional
            What may be spent in all, before and after the pause, in the field's unit; as before
            if absent. Who has spent more already stays where it is.

        Returns
        -------
        Reach
            Its costs count from the first start, and its paths lead from there.

        Raises
        ------
        MapError
            If a movement may not end in one of the cells, or the field is laid out otherwise.
        OutsideMapError
            If a cell lies outside the map.
        CostError
            If the budget is negative or not a number, or a total would overflow.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> reach = fc.grid.reach([[1, 1, 1, 1]], (0, 1), 3)
        >>> path = reach.then((0, 3)).path_to((0, 2))
        >>> path.cells.tolist(), path.cost, path.pauses
        ([[0, 1], [0, 2], [0, 3], [0, 2]], 3.0, ((0, 3),))
        """
        if field is not None and not hasattr(field, "keeps"):
            raise ArgumentTypeError(f"field must be a StepField, not {field!r}")
        if cells is not None and np.size(cells) == 0:
            raise ArgumentTypeError("then needs a cell to go on from; without cells: any stop")
        given = None if cells is None else tuple(cells_of(cells, self._field.shape, "cell"))
        target = self._field if field is None else field
        if target is not self._field:
            unlike = self._field.unlike(target)
            if unlike:
                raise MapError(
                    f"the field to go on with is laid out otherwise: its {unlike} differ"
                )
        at = self._stops_at(given)
        if not target.keeps(self._field):
            return self._told_apart().then(given, field=target, budget=budget)
        return self._go_on(at, given, target, budget)

    def _go_on(
        self,
        at: npt.NDArray[np.int64],
        given: tuple[Cell, ...] | None,
        target: StepField,
        budget: Any,
    ) -> Reach:
        """Return where the movement gets to from some settled states, over a field that keeps it.

        `given` are the cells of these states, None for all stops.
        """
        states, totals, before = target.carried(self._field, self._states[at], self._totals[at])
        return target.reach_from(
            states,
            totals,
            self.budget if budget is None else budget,
            rest=self.rest if budget is None else "",
            speeds=self._speeds,
            pause=Pause(self, given, before),
        )

    def resumed(self, which: npt.NDArray[np.int64]) -> Reach:
        """Return where the movement gets to after a pause in some settled states alone.

        Parameters
        ----------
        which : ndarray of int64, shape (n,)
            Which of the settled ones; that one may end a movement in them is for the caller to
            know.
        """
        cells = self._field.to_cells(self._field.split_states(self._states[which])[0])
        given = tuple(dict.fromkeys((row, col) for row, col in cells.tolist()))
        return self._go_on(which, given, self._field, None)

    def resumed_each(
        self, which: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Return in which states the movement may end after a pause in each of some settled ones.

        Parameters
        ----------
        which : ndarray of int64, shape (n,)
            As in `resumed`, each one a pause of its own.

        Returns
        -------
        whose : ndarray of int64, shape (m,)
            After which of the pauses.
        states, totals : ndarray, shape (m,)
        """
        field, begun = self._field, self._states[which].astype(np.int64)
        limit, _ = field._limit(self.budget)
        settled = field._searcher.flood_each(begun, limit, self._totals[which])
        whose = np.repeat(np.arange(len(which)), [len(one[0]) for one in settled])
        states, totals = (
            np.concatenate([array[:0], *(one[i] for one in settled)])
            for i, array in enumerate((self._states, self._totals))
        )
        cells, rows = field.split_states(states)
        ends = field.may_stop(rows, cells) | (states == begun[whose])
        return whose[ends], states[ends].astype(np.int64), totals[ends]

    def _stops_at(self, cells: tuple[Cell, ...] | None) -> npt.NDArray[np.int64]:
        """Return which settled states of some cells, or of all, a movement may end in."""
        if cells is None:
            return np.flatnonzero(self._ends)
        for cell in cells:
            place = self._places.get(cell)
            if place is None:
                raise MapError(f"cell {cell} is not reached, so the movement cannot pause there")
            if not self.can_stop[place]:
                raise MapError(f"at cell {cell} no movement may end, so it cannot pause there")
        padded = [self._field.padded(cell) for cell in cells]
        return np.flatnonzero(
            self._ends & np.isin(self._field.split_states(self._states)[0], padded)
        )

    def _told_apart(self) -> Reach:
        """Return the reach with the parity of diagonals as rows of the search."""
        field = self._field.told_apart()
        if self._pause is not None:
            return self._pause.reach.then(self._pause.cells, field=field, budget=self.budget)
        states, totals, _ = field.carried(self._field, self._starts, self._initial)
        return field.reach_from(states, totals, self.budget, rest=self.rest, speeds=self._speeds)

    def left_at(self, cell: Cell) -> dict[str, float]:
        """Return what is left at a cell of each way of moving, in the field's unit.

        That is its speed less what was spent in all, never below 0 (S5-03), after the path that
        `path_to` gives; infinite without a limit. A field that knows no speeds tells of its
        layers by name; where they have none it is called ``"walk"``.

        Parameters
        ----------
        cell : tuple of int

        Returns
        -------
        dict of str to float
            Empty where the cell is not reached.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> board = fc.Board([["open"] * 9], rules="srd5")
        >>> hawk = fc.Creature("hawk", speed={"walk": 3, "fly": 18})
        >>> board.reach((0, 0), creature=hawk).left_at((0, 4))
        {'walk': 0.0, 'fly': 12.0}
        """
        field = self._field
        cell = field.check(cell)
        place = self._cheapest(cell, stop=True)
        place = self._cheapest(cell, stop=False) if place is None else place
        if place is None:
            return {}
        used = field.whole(self._totals[place : place + 1])[0].item()
        limit = field.to_ticks(self.budget)
        speeds = self._speeds or [(layer.name or "walk", layer.cap) for layer in field.layers]
        left: dict[str, float] = {}
        for mode, speed in speeds:
            caps = [cap for cap in (speed, limit) if cap is not None]
            left[mode] = float(field.in_units(max(0, min(caps) - used))) if caps else math.inf
        return left


def best_of_cells(
    cells: npt.NDArray[Any], order: npt.NDArray[Any], ends: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return which entry of each cell comes first, and whether any of the cell's may be the end.

    `order` sorts entries by cell, and those of a cell from the best on; `ends` tells of each entry
    whether a movement may end in it.
    """
    first = np.ones(len(order), bool)
    first[1:] = cells[order[1:]] != cells[order[:-1]]
    can_stop = ends[order]
    if len(order):
        can_stop = np.maximum.reduceat(can_stop, np.flatnonzero(first))
    return order[first], can_stop


class WrittenReach(Reach):
    """A reach from one cell that a kernel has written out, so that there is nothing to work out.

    Made for speed: it is a place on a page that it shares with others, and what is asked for is
    looked up there. `fieldcraft_kernel.flood.flood_reach` says what is written where.
    """

    def __init__(
        self,
        field: StepField,
        written: tuple[Page, int, int, int],
        seed: tuple[int, int],
        budget: float,
    ) -> None:
        self._field = field
        self._written = written
        self._seed = seed
        self.budget = budget

    def __getstate__(self) -> dict[str, Any]:
        # Its own part of the page goes along, not what others have there.
        page, at, n, k = self._written
        parts = page.cells[at : at + k], page.costs[at : at + k], page.rest[2 * at :][: n + k]
        page = type(page)(*(np.array(part) for part in parts))
        return {**self.__dict__, "_written": (page, 0, n, k)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for array in state["_written"][0]:
            array.flags.writeable = False
        super().__setstate__(state)

    @property
    def expanded(self) -> int:  # type: ignore[override]
        """How many states the search expanded."""
        return self._written[2]

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells reached, shape (n, 2), by rising cost."""
        page, at, _, k = self._written
        return page.cells[at : at + k]

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """The least total of each cell, shape (n,)."""
        page, at, _, k = self._written
        return page.costs[at : at + k]

    @property
    def _flags(self) -> npt.NDArray[np.int64]:
        page, at, n, k = self._written
        return page.flags(at, n, k)

    @cached_property
    def can_stop(self) -> npt.NDArray[np.bool_]:
        """Whether a movement may end in each cell, shape (n,)."""
        return frozen((self._flags & 1).astype(np.bool_))

    @cached_property
    def parity(self) -> npt.NDArray[np.int8]:
        """Diagonals made so far, modulo 2, shape (n,)."""
        return frozen((self._flags >> 1).astype(np.int8))

    @property
    def _table(self) -> tuple[npt.NDArray[Any], ...]:
        return self.cells, self.cost, self.can_stop, self.parity

    @cached_property
    def _settled(self) -> Settled:
        page, at, n, _ = self._written
        return (*page.settled(at, n), np.zeros(0, np.int16))

    @property
    def _states(self) -> npt.NDArray[Any]:  # type: ignore[override]
        return self._settled[0]

    @property
    def _totals(self) -> npt.NDArray[Any]:  # type: ignore[override]
        return self._settled[1]

    @property
    def _starts(self) -> npt.NDArray[np.int64]:  # type: ignore[override]
        return np.array(self._seed[:1], np.int64)

    @property
    def _initial(self) -> npt.NDArray[Any]:  # type: ignore[override]
        return np.array(self._seed[1:], np.int64)

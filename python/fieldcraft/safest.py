"""The safest ways within a budget: least stake first, then least price, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, CostError, MapError
from fieldcraft.frozen import Frozen, cached_property, frozen
from fieldcraft.lattice import Cell
from fieldcraft.path import Path, Step, no_path
from fieldcraft.reach import best_of_cells
from fieldcraft_kernel import safest as kernel

if TYPE_CHECKING:
    from fieldcraft.step_field import StepField

__all__ = ["SafestReach", "Tradeoff"]

Array = npt.NDArray[Any]
StakeOf = Callable[[Step], int]

MOST_LABELS = 1 << 26
"""So many pairs of states and ticks have room; more are refused."""
LARGEST_STAKE = 1 << 40
"""The largest stake of a step, so that no way's sum comes near the mark for "none"."""


class Tradeoff(NamedTuple):
    """A way that no other undercuts in both: its price, its stake, and its path."""

    cost: float
    stake: int
    path: Path


class SafestReach(Frozen):
    """The least stake of every cell within a budget, and the ways that have it.

    Made by `StepField.safest`. Stakes add up along a way; of ways of equal stake the cheapest
    counts, and of equal ones the first that the search finds.

    Attributes
    ----------
    cells : ndarray of int64, shape (n, 2)
        The cells reached, by rising stake, then by cost, then by row and column.
    stake : ndarray of int64, shape (n,)
        The least stake of each.
    cost : ndarray of float64, shape (n,)
        The least total of a way of that stake, in the system's unit.
    can_stop : ndarray of bool, shape (n,)
        Whether a movement may end there; `frontier` tells at what stake.
    budget : float
        What could be spent.
    expanded : int
        How many pairs of a state and the ticks spent the search expanded.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> field = fc.grid.field([[1, 1, 1], [1, 1, 1]], diagonals="illegal")
    >>> thorns = [[0, 500, 0], [0, 0, 0]]
    >>> safest = field.safest((0, 0), 4, thorns)
    >>> [(way.cost, way.stake) for way in safest.frontier((0, 2))]
    [(2.0, 500), (4.0, 0)]
    """

    def __init__(
        self, field: StepField, start: Any, budget: Any, stake: Any, parity: int, layer: int | None
    ) -> None:
        self._field = field
        if field.is_float:
            raise CostError("the safest ways need costs in whole ticks; these are floats")
        starts, spent = field.seeds(start, None, parity, layer)
        limit, self.budget = field._limit(budget)
        if math.isinf(self.budget):
            raise CostError("the safest ways need a budget; without one every detour is allowed")
        settled, _ = field._searcher.flood(starts, spent, limit)
        by = np.argsort(settled[0])
        self._states = frozen(settled[0][by].astype(np.int64))
        ticks = int(limit) + 1
        if ticks * len(self._states) > MOST_LABELS:
            raise CostError(
                f"budget {self.budget:g} is too large for the safest ways: {ticks:,} ticks times "
                f"{len(self._states):,} states are more than {MOST_LABELS:,}"
            )
        listed = _listed(field, self._states, limit)
        self._source, self._links = listed.source, listed.links
        self._edges = listed.edges._replace(stake=frozen(_stakes(field, listed, stake)))
        n = len(self._states)
        undercut, least = np.empty(n, np.int64), np.empty((ticks, n), np.int64)
        via = np.empty((ticks, n), np.int32)
        self._starts = frozen(np.searchsorted(self._states, starts).astype(np.int64))
        nothing = frozen(np.zeros(len(starts), np.int64))
        self.expanded = int(
            kernel.spread_stakes(
                self._edges, self._starts, frozen(spent.astype(np.int64)), nothing, int(limit),
                undercut, least, via,
            )
        )  # fmt: skip
        self._least, self._via = frozen(least), frozen(via)

    # -- answers --------------------------------------------------------------------------------

    @cached_property
    def _labels(self) -> tuple[Array, ...]:
        """Padded cell, stake, ticks, place of the state and whether it may stop, of each label."""
        field = self._field
        ticks, places = np.nonzero(self._least < kernel.NO_STAKE)
        states = self._states[places]
        ends = field.may_end(states, self._states[self._starts])
        return field.split_states(states)[0], self._least[ticks, places], ticks, places, ends

    @cached_property
    def _table(self) -> tuple[Array, ...]:
        field = self._field
        cells, stakes, ticks, _, ends = self._labels
        order = np.lexsort((ticks, stakes, cells))
        best, can_stop = best_of_cells(cells, order, ends)
        costs = field.to_cost(ticks[best])
        by = np.lexsort((cells[best], costs, stakes[best]))
        best = best[by]
        return tuple(
            frozen(one)
            for one in (field.to_cells(cells[best]), stakes[best], costs[by], can_stop[by])
        )

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells reached, shape (n, 2), by rising stake."""
        return self._table[0]

    @property
    def stake(self) -> npt.NDArray[np.int64]:
        """The least stake of each cell, shape (n,)."""
        return self._table[1]

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """The least total of a way of that stake, shape (n,)."""
        return self._table[2]

    @property
    def can_stop(self) -> npt.NDArray[np.bool_]:
        """Whether a movement may end in each cell, shape (n,)."""
        return self._table[3]

    def __len__(self) -> int:
        return len(self.cells)

    def to_array(self, *, stop: bool = True) -> npt.NDArray[np.int64]:
        """Return the least stakes as a map, shape (height, width), -1 where no way leads.

        Parameters
        ----------
        stop : bool
            Whether the ways must end where a movement may end.
        """
        cells, stakes, _, _, ends = self._labels
        kept = ends | (not stop)
        return _as_map(self._field, cells[kept], stakes[kept])

    def __repr__(self) -> str:
        return f"SafestReach({len(self)} cells within {self.budget:g})"

    def frontier(self, cell: Cell, *, stop: bool = True) -> tuple[Tradeoff, ...]:
        """Return the ways to a cell of which none undercuts another in price and in stake.

        Parameters
        ----------
        cell : tuple of int
        stop : bool
            Whether they must end where a movement may end.

        Returns
        -------
        tuple of Tradeoff
            By rising cost and falling stake; empty where no way leads within the budget.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        _, stakes, ticks, _, _ = self._labels
        return tuple(
            Tradeoff(float(self._field.to_cost(ticks[i]).item()), int(stakes[i]), self._path(i))
            for i in self._undominated(cell, stop=stop)
        )

    def _undominated(self, cell: Cell, *, stop: bool) -> list[int]:
        """Return the labels of a cell of which none undercuts another, by rising cost."""
        field = self._field
        padded = field.padded(field.check(cell, "goal"))
        cells, stakes, ticks, _, ends = self._labels
        here = np.flatnonzero((cells == padded) & (ends | (not stop)))
        here = here[np.lexsort((ticks[here], stakes[here], field.whole(ticks[here])))]
        least = np.minimum.accumulate(stakes[here])
        kept: list[int] = here[np.diff(least, prepend=kernel.NO_STAKE) < 0].tolist()
        return kept

    def path_to(self, cell: Cell, *, stop: bool = True) -> Path:
        """Return the safest path to a cell within the budget, of equal ones the cheapest.

        Parameters
        ----------
        cell, stop
            As in `frontier`.

        Returns
        -------
        Path
            False where there is none.
        """
        labels = self._undominated(cell, stop=stop)
        return self._path(labels[-1]) if labels else no_path(self.expanded, self._field.unit)

    def _path(self, label: int) -> Path:
        """Return the path of a label."""
        _, _, ticks_of, places_of, _ = self._labels
        ticks, place = int(ticks_of[label]), int(places_of[label])
        size, n = 64, -1
        while n < 0:
            size *= 4
            if size > 16 * self._via.size + 256:
                raise AssertionError("a label has no way back; please report this")
            out = np.empty(size, np.int64)
            n = int(kernel.way_back(self._edges, self._source, self._via, ticks, place, out))
        edges = out[:n][::-1]
        places = np.append(self._source[edges], place)
        before = np.cumsum(np.append(0, self._edges.price[edges]))
        links = np.append(0, self._links[edges])
        way = self._states[places], ticks - before[-1] + before, links
        return self._field.path_of(way, self.expanded)


class _Listed(NamedTuple):
    """Steps and links among states, stakes apart.

    Of each edge: `source`, the place of the state that it leaves among `states`; `direction`, -1
    where it stands still; `links`, the link plus one, 0 where there is none.
    """

    states: npt.NDArray[np.int64]
    edges: kernel.Edges
    source: Array
    direction: Array
    links: Array


def _listed(field: StepField, states: npt.NDArray[np.int64], limit: Any) -> _Listed:
    """Return the steps and links among states, which rise."""
    room = len(states) * field.lattice.n_directions
    first = np.empty(len(states) + 1, np.int64)
    while True:
        to, price, latest, via = (np.empty(room, np.int32) for _ in range(4))
        direction = np.empty(room, np.int8)
        n = int(
            kernel.list_edges(
                field._graph.arrays, states, int(limit), first, to, price, latest, direction, via
            )
        )
        if n <= room:
            break
        room = n
    source = np.repeat(np.arange(len(states), dtype=np.int32), np.diff(first))
    edges = kernel.Edges(
        frozen(first), frozen(to[:n]), frozen(price[:n]), np.zeros(n, np.int64), frozen(latest[:n])
    )
    return _Listed(states, edges, frozen(source), frozen(direction[:n]), frozen(via[:n]))


def has_room(field: StepField, budget: Any, n_states: int) -> bool:
    """Return whether the safest ways within a budget are found: in whole ticks, and not too many.

    `n_states` is how many states are reached within it.
    """
    limit, shown = field._limit(budget)
    if field.is_float or math.isinf(shown):
        return False
    return (int(limit) + 1) * n_states <= MOST_LABELS


def least_stakes(
    field: StepField, start: Any, stake: Any, *, parity: int = 0
) -> npt.NDArray[np.int64]:
    """Return the least stake of a way to each cell where a movement may end, whatever it costs.

    Parameters
    ----------
    field : StepField
        In whole ticks, and without caps.
    start, stake, parity
        As in `StepField.safest`.

    Returns
    -------
    ndarray of int64, shape (height, width)
        -1 where no way leads.
    """
    starts, spent = field.seeds(start, None, parity)
    limit, _ = field._limit(None)
    states = frozen(np.sort(field._searcher.flood(starts, spent, limit)[0][0]).astype(np.int64))
    listed = _listed(field, states, limit)
    edges, n = listed.edges, len(states)
    nothing = frozen(np.zeros(len(edges.to), np.int32))
    # Where prices do not count, all ways are of the same tick.
    edges = edges._replace(
        price=nothing, latest=nothing, stake=frozen(_stakes(field, listed, stake))
    )
    at = frozen(np.searchsorted(states, starts).astype(np.int64))
    none = frozen(np.zeros(len(at), np.int64))
    undercut, least = np.empty(n, np.int64), np.empty((1, n), np.int64)
    kernel.spread_stakes(edges, at, none, none, 0, undercut, least, np.empty((1, n), np.int32))
    ends = field.may_end(states, starts)
    return _as_map(field, field.split_states(states)[0][ends], undercut[ends])


def _as_map(field: StepField, cells: Array, stakes: Array) -> npt.NDArray[np.int64]:
    """Return the least of the stakes of padded cells as a map, -1 where there is none."""
    least = np.full(field.shape, kernel.NO_STAKE, np.int64)
    where = field.to_cells(cells)
    np.minimum.at(least, (where[:, 0], where[:, 1]), stakes)
    least[least == kernel.NO_STAKE] = -1
    return least


# -- stakes ---------------------------------------------------------------------------------------


def _stakes(field: StepField, listed: _Listed, given: Any) -> npt.NDArray[np.int64]:
    """Return the stake of each edge."""
    of_states = getattr(given, "of_states", None)
    if of_states is not None:
        # It values all steps at once.
        return _checked(
            of_states(field, listed.states[listed.source], listed.states[listed.edges.to])
        )
    if callable(given):
        return _stakes_of_steps(field, listed, given)
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise MapError(f"stake must be a full array of whole numbers: {error}") from None
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"stake must be whole numbers, not of {array.dtype}")
    shapes = field.shape, (*field.shape, field.lattice.n_directions)
    if array.shape not in shapes:
        raise MapError(
            f"stake has shape {array.shape}; expected {shapes[0]}, to enter each cell, or "
            f"{shapes[1]}, to leave it in each direction"
        )
    _checked(array)
    moves = listed.direction >= 0
    ends = listed.states[listed.edges.to if array.ndim == 2 else listed.source]
    cells = field.to_cells(field.split_states(ends)[0])
    at: tuple[Array, ...] = (cells[:, 0], cells[:, 1])
    if array.ndim == 3:
        at = (*at, listed.direction)
    return np.where(moves, array[at].astype(np.int64), 0)


def _stakes_of_steps(field: StepField, listed: _Listed, stake_of: StakeOf) -> npt.NDArray[np.int64]:
    """Return what a function says of each step."""
    cells = list(map(tuple, field.to_cells(field.split_states(listed.states)[0]).tolist()))
    rows = field.split_states(listed.states)[1].tolist()
    halves = int(field._graph.halves)
    stakes = [
        stake_of(field._step(cells[a], cells[b], rows[b], link, ticks >> halves))
        for a, b, link, ticks in zip(
            listed.source.tolist(), listed.edges.to.tolist(), listed.links.tolist(),
            listed.edges.price.tolist(), strict=True,
        )
    ]  # fmt: skip
    array = np.array(stakes) if stakes else np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError("stake of a step must be a whole number")
    return _checked(array)


def _checked(array: Array) -> npt.NDArray[np.int64]:
    if array.size and not (array.min() >= 0 and array.max() <= LARGEST_STAKE):
        wrong = array.min() if array.min() < 0 else array.max()
        raise CostError(f"a stake must be 0 to {LARGEST_STAKE:,}, not {wrong}")
    return array.astype(np.int64)

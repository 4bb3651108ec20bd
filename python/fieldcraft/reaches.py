"""Reach from every cell of a map: who gets where, without a search for each start."""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import as_cell
from fieldcraft.errors import ClosedCellError
from fieldcraft.frozen import cached_property, frozen
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.queries import in_turn, spread
from fieldcraft_kernel import lanes as kernel
from fieldcraft_kernel.steps import HALT, RESERVE, STOP

if TYPE_CHECKING:
    from fieldcraft.step_field import StepField

__all__ = ["ReachBlock", "Reaches"]

Array = npt.NDArray[Any]
Result = TypeVar("Result")

MOST_LEFT = 65_534
"""Largest budget in ticks that the rows of the lanes kernel hold."""
MOST_OFFSETS = 1 << 12
"""Where more cells lie within the budget at the least prices, each start is searched from."""
BLOCK_BYTES = 1 << 20
"""Rows of one block: they should stay in the cache of a core."""
LEAST_COLUMNS, MOST_COLUMNS = 512, 2048
SEARCHES = 256
"""Starts of a block where each is searched from."""
QUICK_CELLS = 1 << 13
"""So many cells are laid out in the time that handing them to a thread takes."""
FEWEST_SHARES = 8
"""Into how many parts counting is divided, at least, so that cores are done at the same time."""


class ReachBlock(NamedTuple):
    """The reaches of some starts, as one table.

    Attributes
    ----------
    cells : ndarray of int64, shape (b, 2)
        The starts; on hexagons all of rows (with flat tops: columns) of one parity.
    offsets : ndarray of int64, shape (n, 2)
        What to add to a start, as (row, col), to get a cell that some of them reach.
    costs : ndarray of float64, shape (b, n)
        The least total from each start to the cell at each offset, infinite where not reached.
    can_stop : ndarray of bool, shape (b, n)
        Whether it is reached and a movement may end there.
    """

    cells: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]
    can_stop: npt.NDArray[np.bool_]


class Reaches:
    """What is reached from each cell of a map within one budget, worked out when asked for.

    Nothing of the size of all pairs of cells is stored: there are maps of counts, maps for one
    cell, and blocks of starts to go over.

    Attributes
    ----------
    field : StepField
        What is moved over.
    budget : float
        What each movement may spend; infinite without a limit.

    Notes
    -----
    Starts are worked on side by side where the movement keeps to one layer, in whole ticks and
    without links, and where the budget is at most 65,534 ticks (half ticks where diagonals
    alternate) and no more than 4,096 cells lie within it at the map's least prices. A start then
    takes a fraction of a microsecond for budgets of a few cells. Elsewhere each start has a search
    of its own. The answers are the same. Blocks of starts are spread over the cores.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> reaches = fc.grid.reaches([[1, 1, 2, 1]], 2)
    >>> reaches.count.tolist(), reaches.visitors.tolist()
    ([[2, 3, 4, 2]], [[3, 3, 3, 2]])
    >>> reaches.costs_to((0, 3)).tolist()
    [[inf, inf, 1.0, 0.0]]
    """

    def __init__(
        self, field: StepField, budget: Any = None, *, parity: int = 0, layer: int | None = None
    ) -> None:
        self.field = field
        self._limit, self.budget = field._limit(budget)
        self._given, self._parity, self._layer = budget, parity, layer
        # Any cell will do: the parity and the layer are looked at before it is.
        with suppress(ClosedCellError):
            field.seeds((0, 0), None, parity, layer)
        self._order = _Order(field.lattice, field.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the map."""
        return self.field.shape

    def __repr__(self) -> str:
        height, width = self.shape
        within = "" if math.isinf(self.budget) else f" within {self.budget:g}"
        return f"Reaches({height} x {width}{within})"

    # -- maps -----------------------------------------------------------------------------------

    @property
    def count(self) -> npt.NDArray[np.int32]:
        """How many cells each cell reaches, itself included, shape (height, width).

        A cell from which no movement may begin (a closed one of a bare array) reaches none.
        """
        return self._maps[0]

    @property
    def stops(self) -> npt.NDArray[np.int32]:
        """How many cells each cell reaches where a movement may end, shape (height, width)."""
        return self._maps[1]

    @property
    def visitors(self) -> npt.NDArray[np.int32]:
        """From how many cells each cell is reached, itself included, shape (height, width)."""
        return self._maps[2]

    def of(self, cell: Any) -> npt.NDArray[np.float64]:
        """Return the least total from one cell to every cell, infinite where not reached.

        Returns
        -------
        ndarray of float64, shape (height, width)
            As ``field.distances(cell, budget=...)``; all infinite where no movement may begin.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        start = self.field.check(as_cell(cell))
        try:
            return self.field.distances(
                start, budget=self._given, parity=self._parity, layer=self._layer
            )
        except ClosedCellError:
            return np.full(self.shape, math.inf)

    __getitem__ = of

    def costs_to(self, cell: Any) -> npt.NDArray[np.float64]:
        """Return the least total from every cell to one, infinite where it is not reached.

        Returns
        -------
        ndarray of float64, shape (height, width)

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        target = self.field.check(as_cell(cell))
        costs = np.full(self.shape, math.inf)
        cells, found = self._way.costs_to(target)
        costs[cells[:, 0], cells[:, 1]] = found
        return costs

    def who_reaches(self, cell: Any) -> npt.NDArray[np.bool_]:
        """Return from which cells one cell is reached, shape (height, width)."""
        return np.isfinite(self.costs_to(cell))

    @cached_property
    def _way(self) -> _SideBySide | _OneByOne:
        """How the starts are worked on."""
        query = _Query(self.field, self._limit, self._parity, self._layer)
        lanes = _lanes_of(query, self._order)
        if lanes is None:
            return _OneByOne(query, self._order)
        return _SideBySide(query, self._order, *lanes)

    @cached_property
    def _maps(self) -> tuple[npt.NDArray[np.int32], ...]:
        flats = self._way.counted()

        def laid_back(begin: int, end: int) -> list[npt.NDArray[np.int32]]:
            return [frozen(self._order.on_map(flat, np.int32)) for flat in flats[begin:end]]

        if self._order.size < QUICK_CELLS:
            return tuple(laid_back(0, len(flats)))
        return tuple(spread(len(flats), laid_back))

    # -- blocks ---------------------------------------------------------------------------------

    def blocks(self) -> Iterator[ReachBlock]:
        """Go over all starts, block by block.

        Each cell from which a movement may begin is in one block, in no promised order. Some
        blocks are worked out ahead, on all cores.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> for block in fc.hexes.reaches([[1, 1, 2]], 1).blocks():
        ...     print(block.cells.tolist(), block.offsets.tolist())
        ...     print(block.costs.tolist())
        [[0, 0], [0, 1], [0, 2]] [[0, 0], [0, -1], [0, 1]]
        [[0.0, inf, 1.0], [0.0, 1.0, inf], [0.0, 1.0, inf]]
        """
        way = self._way
        ranges = self._order.ranges(way.columns)
        yield from in_turn(ranges, lambda one: way.block(*one))

    def each(self, callback: Callable[[ReachBlock], object]) -> None:
        """Call a function with each block, one after the other, in this thread.

        Parameters
        ----------
        callback : callable
            Takes a `ReachBlock`.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> fc.grid.reaches([[1, 1], [1, 1]], 1).each(lambda block: print(len(block.cells)))
        4
        """
        for block in self.blocks():
            callback(block)


# -- the order of starts --------------------------------------------------------------------------


class _Range(NamedTuple):
    """Starts that follow each other, of lines of one parity."""

    begin: int
    end: int
    parity: int


class _Query(NamedTuple):
    """What is asked of each start: how far, with which parity, in which layer."""

    field: StepField
    limit: Any
    parity: int
    layer: int | None


class _Order:
    """The cells in the order of the lanes kernel: hexagons by the parity of their line.

    Lines are rows, or columns on hexagons with flat tops.
    """

    def __init__(self, lattice: Lattice, shape: tuple[int, int]) -> None:
        self.lattice, self.shape = lattice, shape
        height, width = shape
        n_lines, self.length = (width, height) if lattice.is_flat else (height, width)
        # Even lines end to end, then the odd ones.
        self.apart = 2 if lattice.is_hex else 1
        self.n_even = -(-n_lines // self.apart) * self.length
        lines = np.arange(n_lines, dtype=np.int64)
        self.begins = frozen(lines // self.apart * self.length + lines % self.apart * self.n_even)
        """The place with which each line begins, shape (lines,)."""
        self.size = height * width

    def along(self, array: Array) -> Array:
        """Return an array of the map, shape (height, width), in order."""
        lines = array.T if self.lattice.is_flat else array
        return np.concatenate([lines[i :: self.apart].ravel() for i in range(self.apart)])

    def on_map(self, flat: Array, kind: Any) -> Array:
        """Return an array in order as one of the map and of a kind, shape (height, width)."""
        array = np.empty(self.shape, kind)
        lines = array.T if self.lattice.is_flat else array
        for i, part in enumerate((flat[: self.n_even], flat[self.n_even :])[: self.apart]):
            lines[i :: self.apart] = part.reshape(-1, self.length)
        return array

    @cached_property
    def places(self) -> npt.NDArray[np.int64]:
        """The place of each cell in the order, shape (height, width)."""
        return frozen(self.on_map(np.arange(self.size), np.int64))

    @cached_property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells in order, shape (height * width, 2)."""
        numbers = self.along(np.arange(self.size).reshape(self.shape))
        return np.stack(np.divmod(numbers, self.shape[1]), axis=-1)

    def ranges(self, size: int) -> list[_Range]:
        """Return ranges of at most that many starts."""
        return [
            _Range(begin, min(begin + size, end), parity)
            for parity, first, end in ((0, 0, self.n_even), (1, self.n_even, self.size))
            for begin in range(first, end, size)
        ]

    def shifts(self, offsets: Array) -> npt.NDArray[np.int64]:
        """Return how far a cell at an offset lies off its start in the order, shape (2, n).

        `offsets` are rows and columns from starts of lines of either parity, shape (2, n, 2).
        """
        across, along = (1, 0) if self.lattice.is_flat else (0, 1)
        lines = offsets[..., across]
        parity = np.arange(2)[:, None] % self.apart
        after = (lines + parity) % self.apart
        lines = (lines + parity - after) // self.apart
        shifts: npt.NDArray[np.int64] = (
            (after - parity) * self.n_even + lines * self.length + offsets[..., along]
        )
        return shifts


# -- all starts of a block at once ----------------------------------------------------------------


def _lanes_of(query: _Query, order: _Order) -> tuple[kernel.Lanes, Array, int, int] | None:
    """Return the field in lanes, its offsets, the room before the first lane and the budget.

    None where starts have to be searched from one by one.
    """
    field, graph, arrays = query.field, query.field._graph, query.field._graph.arrays
    is_plain = not (graph.is_float or len(arrays.links) or (field.seats and query.layer is None))
    if not is_plain or query.limit > MOST_LEFT + 1:
        return None
    layer = field.home if query.layer is None else query.layer
    states, totals = field.states_at(
        np.array([layer]), np.zeros(1, np.int64), np.zeros(1, np.int64), query.parity
    )
    row, spent = int(states[0]) // graph.n_cells, int(totals[0])
    most = max(spent, min(int(query.limit), int(arrays.caps[row])))
    if arrays.rows[row, RESERVE] >= 0 or most > MOST_LEFT:
        return None
    rows = np.array([row, row ^ 1][: graph.copies], np.int64)
    kind: Any = np.uint8 if most < 255 else np.uint16
    n_directions = field.lattice.n_directions
    halts = bool((arrays.rows[rows, HALT] >= 0).any())

    n = order.size
    blocked = int(np.iinfo(kind).max)
    prices = np.empty((len(rows) * n_directions, n), kind)
    first = np.empty((n_directions if halts else 0, n), kind)
    stop = np.empty(n, np.uint8)

    def laid_out(begin: int, end: int) -> list[None]:
        kernel.lay_out(
            prices, first, stop, arrays, rows, order.begins, int(field.lattice.is_flat), begin, end,
            field.shape[1], most, blocked, int(arrays.rows[row, STOP]),
        )  # fmt: skip
        return []

    spread(len(order.begins), laid_out, least=-(-QUICK_CELLS // order.length))
    found = _within(field.lattice, _least(prices, first, n_directions), most - spent)
    if found is None:
        return None
    offsets, beyond = found
    shift = order.shifts(offsets)
    # Room at both ends for the cells at any offset from any start.
    evens, odds = (0, order.n_even), (order.n_even, n)
    lowest = [low + shift[parity].min() for parity, (low, high) in enumerate((evens, odds))]
    highest = [high + shift[parity].max() for parity, (low, high) in enumerate((evens, odds))]
    room = (max(0, -int(min(lowest))), max(0, int(max(highest)) - n))

    def padded(array: Array, fill: int) -> Array:
        # What `np.pad` does, in half the time.
        wide = np.empty((*array.shape[:-1], n + sum(room)), array.dtype)
        wide[..., : room[0]] = wide[..., room[0] + n :] = fill
        wide[..., room[0] : room[0] + n] = array
        return frozen(wide)

    begins = np.full(field.shape, most - spent + 1, kind)
    if field._closed is not None:
        begins[field._closed] = 0
    stay = stop.copy()
    if field.stay is not None:
        stay |= order.along(field.stay)
    lanes = kernel.Lanes(
        prices=padded(prices, blocked),
        first=padded(first, blocked),
        shift=frozen(shift),
        beyond=frozen(beyond),
        to=frozen((arrays.to[rows, :n_directions] != row).astype(np.int64)),
        begins=padded(order.along(begins), 0),
        stop=padded(stop, 0),
        stay=padded(stay, 0),
    )
    return lanes, offsets, room[0], most


def _least(prices: Array, first: Array, n_directions: int) -> tuple[int, ...]:
    """Return the least price of a step in each direction, anywhere and in any row."""
    least = np.empty(len(prices) + len(first), np.int64)
    kernel.least_prices(prices, least[: len(prices)])
    kernel.least_prices(first, least[len(prices) :])
    return tuple(least.reshape(-1, n_directions).min(axis=0).tolist())


@lru_cache(maxsize=64)
def _within(lattice: Lattice, least: tuple[int, ...], most: int) -> tuple[Array, Array] | None:
    """Return what may be reached within a budget: offsets by rising least total, and the next.

    Returns
    -------
    offsets : ndarray of int64, shape (2, n, 2)
        Rows and columns, from a start on a line of either parity; the first is (0, 0).
    beyond : ndarray of int64, shape (n, directions)
        The offset a step in each direction leads to, -1 where that is beyond the budget.

    None where they are more than `MOST_OFFSETS`.
    """
    vectors = lattice.axial_offsets() if lattice.is_hex else lattice.offsets()[0]
    steps = [(d[0], d[1], price) for d, price in zip(vectors.tolist(), least, strict=True)]
    labels = {(0, 0): 0}
    queue = [(0, 0, 0)]
    numbers: dict[Cell, int] = {}
    while queue:
        total, x, y = heapq.heappop(queue)
        if (x, y) in numbers:
            continue
        numbers[x, y] = len(numbers)
        if len(numbers) > MOST_OFFSETS:
            return None
        for dx, dy, price in steps:
            new, there = total + price, (x + dx, y + dy)
            if new <= most and new < labels.get(there, most + 1):
                labels[there] = new
                heapq.heappush(queue, (new, *there))
    beyond = np.full((len(numbers), len(steps)), -1, np.int64)
    for (x, y), number in numbers.items():
        for k, (dx, dy, price) in enumerate(steps):
            if labels[x, y] + price <= most:
                beyond[number, k] = numbers[x + dx, y + dy]
    return frozen(_offsets(lattice, np.array(list(numbers), np.int64))), frozen(beyond)


def _offsets(lattice: Lattice, deltas: Array) -> npt.NDArray[np.int64]:
    """Return deltas, axial on hexagons, as rows and columns from either parity, (2, n, 2).

    On squares both are the same, so that nobody need ask.
    """
    if not lattice.is_hex:
        return np.stack([deltas, deltas])
    starts = np.array([[0, 0], [0, 1] if lattice.is_flat else [1, 0]])
    return np.stack([lattice.from_axial(deltas + lattice.to_axial(one)) - one for one in starts])


class _SideBySide:
    """Starts worked on by the lanes kernel; see `kernel.Lanes`."""

    def __init__(
        self,
        query: _Query,
        order: _Order,
        lanes: kernel.Lanes,
        offsets: Array,
        room: int,
        most: int,
    ) -> None:
        self.order, self.lanes, self.offsets, self.room = order, lanes, offsets, room
        self.n_offsets = offsets.shape[1]
        self.n_rows = len(lanes.to) * self.n_offsets
        # A whole number of vectors; a row of few columns costs more to begin than to go along.
        columns = BLOCK_BYTES // (self.n_rows * lanes.begins.itemsize) // 64 * 64
        self.columns = max(LEAST_COLUMNS, min(MOST_COLUMNS, columns))
        totals = most + 1 - np.arange(most + 2)
        self.costs = query.field.to_cost(totals)
        """What each entry of a row stands for, in the field's unit."""
        self.costs[0] = math.inf
        self._idle: list[tuple[Array, Array]] = []
        self._lock = threading.Lock()

    @contextmanager
    def _lend(self) -> Iterator[tuple[Array, Array]]:
        """Lend rows and marks to a thread."""
        with self._lock:
            lent = self._idle.pop() if self._idle else None
        if lent is None:
            kind = self.lanes.begins.dtype
            lent = np.empty((self.n_rows, self.columns), kind), np.empty(self.n_rows, np.uint8)
        yield lent
        with self._lock:
            self._idle.append(lent)

    def counted(self) -> list[Array]:
        """Return counts, stops and visitors of all cells in order."""
        n = self.lanes.begins.size
        count, stops = np.zeros(n, np.int32), np.zeros(n, np.int32)
        ranges = self.order.ranges(self.columns)
        # Handing out a block takes a thread a tenth of the time that the block does.
        shares = min(len(ranges), max(FEWEST_SHARES, len(ranges) // 8))
        bounds = [len(ranges) * i // shares for i in range(shares + 1)]
        # A cell has visitors of several blocks, hence a map for each thread.
        idle: list[Array] = []
        visitors: list[Array] = []

        def part(first: int, last: int) -> list[None]:
            with self._lock:
                if not idle:
                    idle.append(np.zeros(n, np.uint16))
                    visitors.append(idle[0])
                mine = idle.pop()
            tally = np.empty((2, self.columns), np.uint8)
            with self._lend() as (left, fresh):
                for begin, end, parity in ranges[bounds[first] : bounds[last]]:
                    kernel.count_lanes(
                        count, stops, mine, left, fresh, tally, self.lanes, self.room + begin,
                        self.room + end, parity,
                    )  # fmt: skip
            with self._lock:
                idle.append(mine)
            return []

        spread(shares, part)
        inner = slice(self.room, self.room + self.order.size)
        for more in visitors[1:]:
            visitors[0] += more
        return [count[inner], stops[inner], visitors[0][inner]]

    def _best(self, left: Array, size: int) -> Array:
        """Return what is left at each offset, in whichever row of the graph that is most."""
        best: Array = left[:, :size].reshape(-1, self.n_offsets, size).max(axis=0)
        return best

    def block(self, begin: int, end: int, parity: int) -> ReachBlock:
        """Return the reaches of a range of starts."""
        at, size = self.room + begin, end - begin
        lanes = self.lanes
        with self._lend() as (left, fresh):
            kernel.spread_lanes(left, fresh, lanes, at, size, parity)
            best = self._best(left, size)
        found = np.flatnonzero(best.any(axis=1))
        begun = np.flatnonzero(best[0])
        best = best[np.ix_(found, begun)].T
        targets = (at + begun)[:, None] + lanes.shift[parity, found]
        can_stop = (np.where(found == 0, lanes.stay[targets], lanes.stop[targets]) != 0) & (
            best > 0
        )
        offsets = self.offsets[parity, found]
        return ReachBlock(self.order.cells[begin:end][begun], offsets, self.costs[best], can_stop)

    def costs_to(self, target: Cell) -> tuple[Array, Array]:
        """Return the starts that reach a cell, and the cost of each."""
        lane = self.room + int(self.order.places[target])
        lanes = self.lanes
        ranges = []
        for parity, low, high in (
            (0, 0, self.order.n_even),
            (1, self.order.n_even, self.order.size),
        ):
            sources = lane - lanes.shift[parity] - self.room
            low, high = max(low, int(sources.min())), min(high, int(sources.max()) + 1)
            ranges += [
                _Range(begin, min(begin + self.columns, high), parity)
                for begin in range(low, high, self.columns)
            ]

        def part(first: int, last: int) -> list[tuple[Array, Array]]:
            found = []
            for begin, end, parity in ranges[first:last]:
                at, size = self.room + begin, end - begin
                sources = lane - lanes.shift[parity] - at
                inside = np.flatnonzero((sources >= 0) & (sources < size))
                with self._lend() as (left, fresh):
                    kernel.spread_lanes(left, fresh, lanes, at, size, parity)
                    rows = left.reshape(-1, self.n_offsets, self.columns)
                    best = rows[:, inside, sources[inside]].max(axis=0)
                reached = best > 0
                starts = begin + sources[inside][reached]
                found.append((self.order.cells[starts], self.costs[best[reached]]))
            return found

        parts = spread(len(ranges), part)
        return (
            np.concatenate([cells for cells, _ in parts]),
            np.concatenate([costs for _, costs in parts]),
        )


# -- a search for each start ----------------------------------------------------------------------


class _Found(NamedTuple):
    """The cells found from some starts: each once a start, by start and cell."""

    start: Array
    cell: Array
    cost: Array
    can_stop: Array


class _OneByOne:
    """Starts searched from one after the other, with the field's own search."""

    columns = SEARCHES

    def __init__(self, query: _Query, order: _Order) -> None:
        self.query, self.order = query, order

    def _begun(self, cells: Array) -> Array:
        """Return those of some cells from which a movement may begin."""
        closed = self.query.field._closed
        return cells if closed is None else cells[~closed[cells[:, 0], cells[:, 1]]]

    def _single_seeds(self, cells: Array) -> list[tuple[Array, Array]]:
        """Return the state to start in and its total for each cell, all in one layer."""
        field, _, parity, layer = self.query
        padded = np.array([field.padded(cell) for cell in map(tuple, cells.tolist())], np.int64)
        by = np.argsort(padded)
        layers = np.full(len(cells), field.home if layer is None else layer, np.int64)
        states, totals = field.states_at(
            layers, padded[by], np.zeros(len(cells), field._graph.number), parity
        )
        back = np.argsort(by)
        return list(zip(states[back, None], totals[back, None], strict=True))

    def _searched(self, cells: Array) -> _Found:
        """Return what is found from each of some cells, numbered as they come."""
        field, limit, parity, layer = self.query
        searcher = field._searcher
        if field.seats and layer is None:
            seeds = [field.seeds(cell, None, parity, layer) for cell in map(tuple, cells.tolist())]
        else:
            seeds = self._single_seeds(cells)
        if all(len(states) == 1 and not totals[0] for states, totals in seeds):
            first = np.array([states[0] for states, _ in seeds], np.int64)
            settled = searcher.flood_each(first, limit)
        else:
            settled = [searcher.flood(states, totals, limit)[0] for states, totals in seeds]
        start = np.repeat(np.arange(len(cells)), [len(states) for states, _, _ in settled])
        states = np.concatenate([states for states, _, _ in settled])
        totals = np.concatenate([totals for _, totals, _ in settled])
        cell, rows = field.split_states(states)
        can_stop = field.may_stop(rows, cell)
        if field.stay is not None:
            # One number for a state of a start.
            n_states = len(field._graph.arrays.rows) * field._graph.n_cells
            begun = [i * n_states + some for i, (some, _) in enumerate(seeds)]
            began = np.isin(start * n_states + states, np.concatenate(begun))
            where = field.to_cells(cell[began])
            can_stop[began] |= field.stay[where[:, 0], where[:, 1]]
        by = np.lexsort((totals, cell, start))
        start, cell, totals, can_stop = start[by], cell[by], totals[by], can_stop[by]
        new = np.ones(len(by), bool)
        new[1:] = (start[1:] != start[:-1]) | (cell[1:] != cell[:-1])
        at = np.flatnonzero(new)
        return _Found(
            start[at],
            cell[at],
            field.to_cost(totals[at]),
            np.logical_or.reduceat(can_stop, at) if len(at) else can_stop,
        )

    def counted(self) -> list[Array]:
        """Return counts, stops and visitors of all cells in order."""
        order, field = self.order, self.query.field
        n = order.size
        ranges = order.ranges(self.columns)

        def part(first: int, last: int) -> list[list[Array]]:
            maps = [np.zeros(n, np.int32) for _ in range(3)]
            for begin, end, _ in ranges[first:last]:
                cells = self._begun(order.cells[begin:end])
                if not len(cells):
                    continue
                found = self._searched(cells)
                at = order.places[cells[:, 0], cells[:, 1]]
                where = field.to_cells(found.cell)
                maps[0][at] = np.bincount(found.start, minlength=len(cells))
                maps[1][at] = np.bincount(found.start[found.can_stop], minlength=len(cells))
                np.add.at(maps[2], order.places[where[:, 0], where[:, 1]], 1)
            return [maps]

        parts = spread(len(ranges), part)
        return [sum(maps, np.zeros(n, np.int32)) for maps in zip(*parts, strict=True)]

    def block(self, begin: int, end: int, parity: int) -> ReachBlock:
        """Return the reaches of a range of starts."""
        del parity
        cells = self._begun(self.order.cells[begin:end])
        if not len(cells):
            nothing = np.zeros((0, 2), np.int64)
            return ReachBlock(cells, nothing, np.zeros((0, 0)), np.zeros((0, 0), bool))
        field = self.query.field
        found = self._searched(cells)
        offsets = field.to_cells(found.cell) - cells[found.start]
        # One number for an offset, whatever its signs.
        wide = 2 * sum(field.shape) + 1
        keys, column = np.unique(offsets[:, 0] * wide + offsets[:, 1], return_inverse=True)
        rows = (keys + wide // 2) // wide
        costs = np.full((len(cells), len(keys)), math.inf)
        costs[found.start, column] = found.cost
        can_stop = np.zeros(costs.shape, bool)
        can_stop[found.start, column] = found.can_stop
        return ReachBlock(cells, np.stack([rows, keys - rows * wide], axis=-1), costs, can_stop)

    def costs_to(self, target: Cell) -> tuple[Array, Array]:
        """Return the starts that reach a cell, and the cost of each."""
        field, order = self.query.field, self.order
        cells = self._begun(order.cells)
        graph = field._graph
        # No step costs less than this, so whoever starts further away does not arrive.
        least = graph.least * graph.arrays.scale.min()
        least = least if graph.is_float else max(1, int(least) >> int(graph.arrays.shift))
        steps = min(self.query.limit / least, order.size)
        cells = cells[field.lattice.distances(cells, target) <= steps]
        goal = field.padded(target)

        def part(first: int, last: int) -> list[tuple[Array, Array]]:
            parts = []
            for begin in range(first, last, SEARCHES):
                some = cells[begin : min(begin + SEARCHES, last)]
                found = self._searched(some)
                mine = found.cell == goal
                parts.append((some[found.start[mine]], found.cost[mine]))
            return parts

        parts = [(cells[:0], np.zeros(0)), *spread(len(cells), part)]
        return (
            np.concatenate([starts for starts, _ in parts]),
            np.concatenate([costs for _, costs in parts]),
        )

"""Searching plain movement graphs: one layer, whole ticks, no links (fieldcraft_kernel.plain)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import FieldcraftError
from fieldcraft.frozen import frozen
from fieldcraft.lattice import Cell
from fieldcraft_kernel import astar, book, flood, walk
from fieldcraft_kernel import plain as kernel
from fieldcraft_kernel.lattice import LATTICE_KINDS
from fieldcraft_kernel.steps import (
    BORDER,
    LEAVE,
    NO_WAY,
    PARITY_BIT,
    STEPS,
    STOP,
)

if TYPE_CHECKING:
    from fieldcraft.graph import Graph

__all__ = ["Page", "PlainGraph", "PlainScratch", "PlainSearcher", "plain_graph"]

Array = npt.NDArray[Any]

MAX_STATES = 1 << 28
"""A queue's entry has 28 bits for the state."""
MIN_SLOTS = 32
ANSWER = 1 << 14
"""Entries of the array in which a search works out its answer, at first."""
PAGE, MOST_ROOM, MOST_WRITTEN = 1 << 11, 1 << 13, 1 << 16
"""Cells on a page, and at most on one for a batch; larger reaches are taken as they are."""


class PlainGraph:
    """A plain graph, laid out for its kernels; see `fieldcraft_kernel.plain`.

    Attributes
    ----------
    words, dues, plan : ndarray
    n_states, n_cells : int
    cap : int
        Largest total of a step.
    largest : int
        Up to which total these kernels may search; beyond, the general one counts exactly.
    """

    def __init__(self, graph: Graph, words: Array, dues: Array, plan: Array) -> None:
        self.words, self.dues, self.plan = words, dues, plan
        self.near_plan = frozen(_near(plan, graph.n_cells))
        self.n_cells = graph.n_cells
        self.n_states = graph.copies * graph.n_cells
        self.n_slots = int(plan[kernel.SLOTS])
        self.n_pool = 16 * self.n_slots + 16 * sum(graph.shape) + 1024
        self.cap = int(graph.arrays.caps[0])
        # One more step, which the ring is longer than, must stay below the mark for "no way".
        self.largest = NO_WAY - 1 - self.n_slots

    @property
    def layout(self) -> tuple[int, ...]:
        """What two graphs must have in common to share scratch."""
        return self.n_states, self.n_cells, self.n_slots

    @property
    def n_before_pool(self) -> int:
        """How many words of a queue come before its pool."""
        return int(self.plan[kernel.TOP]) + self.n_slots

    def queue_size(self, n_pool: int) -> int:
        """Return how many words a queue has whose pool has at least so many."""
        entries = n_pool // (2 * kernel.ENTRY) + kernel.SPARE  # of each half
        return self.n_before_pool + 2 * kernel.ENTRY * entries


def plain_graph(
    graph: Graph, ticks: tuple[int, int], old: PlainGraph | None = None, rows: Sequence[range] = ()
) -> PlainGraph | None:
    """Return a graph as a plain one, or None where it is not.

    Parameters
    ----------
    graph : Graph
    ticks : tuple of int
        A cost is so many ticks, times the first and divided by the second.
    old : PlainGraph, optional
        That of a graph that differs in some rows of the map only.
    rows : sequence of range
        Those rows.
    """
    arrays, copies = graph.arrays, graph.copies
    is_plain = (
        not graph.is_float
        and graph.slots > 0
        and len(arrays.rows) == copies
        and len(arrays.links) == len(arrays.reserve) == 0
        and graph.n_cells * copies < MAX_STATES
        and bool((arrays.entry[:, : graph.lattice.n_directions] == arrays.entry[0, 0]).all())
        and max(ticks) < 1 << 53
    )
    if not is_plain:
        return None
    first = arrays.rows[0]
    steps, enter = arrays.steps[first[STEPS]], arrays.enter[arrays.entry[0, 0]]
    stop = arrays.stop[first[STOP]]
    dues = _dues(graph)
    plan, instead = _plan(graph, ticks, is_bare=dues.ndim == 1)
    if old is None or (old.dues.ndim, old.n_states) != (dues.ndim, copies * graph.n_cells):
        words = np.empty(graph.n_cells, np.uint32)
        changed = [range(graph.shape[0] + 2)]
    else:
        words = np.array(old.words)
        plan[kernel.KEEP : kernel.KEEP + kernel.START] |= old.plan[
            kernel.KEEP : kernel.KEEP + kernel.START
        ]
        changed = [range(part.start + 1, part.stop + 1) for part in rows]  # of the padded map
    bit = PARITY_BIT if graph.lattice.is_hex else -1
    width = graph.shape[1] + 2
    for part in changed:
        kernel.pack(steps, enter, stop, bit, part.start * width, part.stop * width, words)
    for part in changed:
        # A cell's neighbours may have changed where it has not.
        begin, end = max(0, part.start - 1), min(graph.shape[0] + 2, part.stop + 1)
        kernel.keep_needed(words, instead, begin * width, end * width, plan)
    return PlainGraph(graph, frozen(words), frozen(dues), frozen(plan))


def _near(plan: Array, n_cells: int) -> Array:
    """Return the plan of the window in which near reaches are searched, see `flood.cut_out`."""
    near = plan.copy()
    near[kernel.WIDTH] = flood.SIDE
    for row in range(2):
        moves = near[kernel.MOVES + row * kernel.N_MOVES :][: kernel.N_MOVES].reshape(-1, 8)
        down, right = moves[kernel.DOWN // 8], moves[kernel.RIGHT // 8]
        moves[kernel.OFFSET // 8] = down * flood.SIDE + right
        moves[kernel.TURN // 8] //= n_cells
        moves[kernel.TURN // 8] *= flood.SIDE**2
    return near


def _dues(graph: Graph) -> Array:
    """Return what is paid besides entry, shape (N, 1 or 9); of a bare graph shape (0,)."""
    arrays = graph.arrays
    first = arrays.rows[0]
    if graph.copies == 1 and first[LEAVE] < 0 and first[BORDER] < 0:
        return np.zeros(0, np.uint16)
    if first[LEAVE] < 0 and first[BORDER] < 0:
        return np.zeros((0, 1), np.uint16)
    dues = np.zeros((graph.n_cells, 1 if first[BORDER] < 0 else 9), np.uint16)
    if first[LEAVE] >= 0:
        dues[:, 0] = arrays.leave[first[LEAVE]]
    if first[BORDER] >= 0:
        n = graph.lattice.n_directions
        dues[:, 1 : n + 1] = arrays.border[first[BORDER]]
    return dues


def _plan(graph: Graph, ticks: tuple[int, int], *, is_bare: bool) -> tuple[Array, Array]:
    """Return a plan that keeps no direction yet, and which direction leads instead of two."""
    arrays, lattice, n = graph.arrays, graph.lattice, graph.lattice.n_directions
    plan = np.zeros(kernel.N_PLAN, np.int64)
    plan[kernel.WIDTH] = graph.shape[1] + 2
    plan[kernel.SLOTS] = max(graph.slots, MIN_SLOTS)
    # After a bit for each bucket, in an even number of words: entries begin at even places.
    plan[kernel.TOP] = -(plan[kernel.SLOTS] // -64) * kernel.ENTRY
    plan[kernel.SHIFT] = arrays.shift
    if graph.is_alternating:
        plan[kernel.PARITY] = kernel.IN_TOTALS if graph.halves else kernel.IN_ROWS
        plan[kernel.FLIP] = graph.flip
    plan[kernel.UNITS], plan[kernel.TICKS] = ticks
    scale = arrays.scale[0]
    plan[kernel.LEAST] = max(1, (int(scale[:n].min()) * int(graph.least)) >> arrays.shift)
    straight, diagonal = (int(price) for price in graph.heuristic())
    unit = 1
    if graph.copies == 2:
        # Straight steps count whole; the shift is of the diagonals alone.
        straight //= 2
        if graph.plain > 1 and graph.has_diagonals:
            diagonal, unit = 3, graph.plain
    plan[kernel.STRAIGHT], plan[kernel.DIAGONAL], plan[kernel.UNIT] = straight, diagonal, unit
    plan[kernel.KIND] = LATTICE_KINDS[lattice.name]
    plan[kernel.KEEP + kernel.START] = 255
    offsets = lattice.offsets()
    for row in range(2):
        copy = min(row, graph.copies - 1)
        parity = row if lattice.is_hex else 0
        moves = plan[kernel.MOVES + row * kernel.N_MOVES :][: kernel.N_MOVES].reshape(-1, 8)
        moves[kernel.OFFSET // 8] = arrays.offsets[parity]
        moves[kernel.SCALE // 8] = arrays.scale[copy]
        moves[kernel.DOWN // 8, :n] = offsets[parity, :, 0]
        moves[kernel.RIGHT // 8, :n] = offsets[parity, :, 1]
        moves[kernel.BACK // 8] = graph.opposite
        moves[kernel.EXTRA // 8] = arrays.extra[copy]
        moves[kernel.TURN // 8] = arrays.to[copy] * graph.n_cells
    instead = np.full((8, 8), -1, np.int64)
    vectors = [
        tuple(v) for v in (lattice.axial_offsets() if lattice.is_hex else offsets[0]).tolist()
    ]
    for d, (x, y) in enumerate(vectors):
        for k, (dx, dy) in enumerate(vectors):
            both = (x + dx, y + dy)
            if both == (0, 0):
                instead[d, k] = 8
            elif is_bare and both in vectors and scale[vectors.index(both)] <= scale[k]:
                instead[d, k] = vectors.index(both)
    return plan, instead


NO_WAY_BACK = "a settled state has no way back; please report this"


class Page(NamedTuple):
    """What reaches are written on, one after the other; they keep it and only look at it.

    `cells` int64 (m, 2), `costs` float64 (m,), `rest` int64 (2 m,): see `flood.flood_reach`.
    """

    cells: Array
    costs: Array
    rest: Array

    def settled(self, at: int, n: int) -> tuple[Array, Array]:
        """Return the n states of a reach that stands there, and their totals."""
        both = self.rest[2 * at : 2 * at + n]
        return both & 0xFFFFFFFF, both >> 32

    def flags(self, at: int, n: int, k: int) -> Array:
        """Return ``stop + 2 * parity`` of the k cells of a reach of n states."""
        return self.rest[2 * at + n : 2 * at + n + k]


class PlainScratch:
    """What a plain search works in; one set a thread.

    Most of it has the size of the graph, is made once and cleaned cell by cell. `book` names the
    arrays to the kernels; `page` is what the next reach is written on, from `at` on, at best before
    `full`.
    """

    __slots__ = (
        "at", "book", "full", "graph", "near_totals", "near_words", "order", "out", "page", "queue",
        "totals",
    )  # fmt: skip

    def __init__(self, graph: PlainGraph) -> None:
        self.totals = np.full(graph.n_states, NO_WAY, np.int32)
        self.order = np.empty(graph.n_states, np.int32)
        self.out = np.empty(ANSWER, np.int64)
        self.book = np.zeros(book.N_BOOK, np.int64)
        self.queue = np.zeros(0, np.uint32)
        self._note(book.TOTALS, self.totals)
        self._note(book.ORDER, self.order)
        self._note(book.OUT, self.out)
        self.near_words = np.zeros(flood.SIDE**2, np.uint32)
        self.near_totals = np.full(2 * flood.SIDE**2, NO_WAY, np.int32)
        self._note(book.NEAR_WORDS, self.near_words)
        self._note(book.NEAR_TOTALS, self.near_totals)
        self.turn_page(PAGE)
        self.use(graph)
        self.enlarge(graph.n_pool)

    def turn_page(self, size: int) -> None:
        """Begin a new page with room for so many cells."""
        one = np.empty(5 * size, np.int64)
        # Closed to everybody but the kernels, which know its address.
        one.flags.writeable = False
        parts = one[: 2 * size], one[2 * size : 3 * size], one[3 * size :]
        self.page = Page(parts[0].reshape(size, 2), parts[1].view(np.float64), parts[2])
        self.at, self.full = 0, size - size // 8
        begin: int = one.__array_interface__["data"][0]
        self.book[book.CELLS : book.REST + 2] = (
            begin, 2 * size, begin + 16 * size, size, begin + 24 * size, 2 * size,
        )  # fmt: skip

    def _note(self, place: int, array: Array) -> None:
        self.book[place : place + 2] = array.ctypes.data, array.size

    def use(self, graph: PlainGraph) -> None:
        """Serve another graph of the same layout."""
        self.graph = graph  # kept alive as long as the book names its arrays
        self._note(book.WORDS, graph.words)
        self._note(book.PLAN, graph.plan)
        self._note(book.NEAR_PLAN, graph.near_plan)

    def lengthen(self, size: int | None = None) -> None:
        """Make the array of answers longer, four times if not told how long."""
        self.out = np.empty(4 * len(self.out) if size is None else size, np.int64)
        self._note(book.OUT, self.out)

    def enlarge(self, n_pool: int | None = None) -> None:
        """Make the queue's pool larger, four times if not told how large."""
        if n_pool is None:
            n_pool = 4 * (len(self.queue) - self.graph.n_before_pool)
        self.queue = np.zeros(self.graph.queue_size(n_pool), np.uint32)
        self._note(book.QUEUE, self.queue)


class PlainSearcher:
    """Searches over one plain graph, from any number of threads.

    Every search returns None where this kind of search cannot tell, and the general one must: where
    totals come near the largest that can be counted, or starts lie too far apart.
    """

    def __init__(self, graph: PlainGraph, like: PlainSearcher | None = None) -> None:
        self.graph = graph
        # Scratch is clean between searches and knows no prices: searchers of one layout lend it.
        is_alike = like is not None and like.graph.layout == graph.layout
        self._idle: list[PlainScratch] = like._idle if like is not None and is_alike else []

    def _lend(self) -> PlainScratch:
        try:
            scratch = self._idle.pop()
        except IndexError:
            return PlainScratch(self.graph)
        if scratch.graph is not self.graph:
            scratch.use(self.graph)
        return scratch

    def _limit(self, initial: Array, limit: int) -> int | None:
        """Return up to which total to search, or None."""
        graph = self.graph
        latest = int(initial.max(initial=0))
        if latest > graph.cap or 2 * (latest - int(initial.min(initial=0))) > graph.n_slots:
            return None
        return min(limit, graph.cap, graph.largest)

    def bound(self, limit: int) -> int:
        """Return up to which total to search, of one start that has cost nothing."""
        return min(limit, self.graph.cap, self.graph.largest)

    def _is_cut_off(self, status: int, limit: int) -> bool:
        """Tell whether a search has met totals that only the general one can count."""
        return status == kernel.BEYOND and limit >= self.graph.largest

    def reach(
        self, state: int, total: int, stay: int, limit: int
    ) -> tuple[Page, int, int, int] | tuple[Array, Array] | None:
        """Return what is within the limit from one state, as a place on a page, n and k.

        A very large one as its states, as settled, and their totals.
        """
        scratch = self._lend()
        if scratch.at >= scratch.full:
            scratch.turn_page(PAGE)
        at, dues = scratch.at, self.graph.dues
        n, k, status = flood.flood_reach(scratch.book, dues, at, state, total, stay, limit)
        while status == kernel.POOL_FULL:
            scratch.enlarge()
            n, k, status = flood.flood_reach(scratch.book, dues, at, state, total, stay, limit)
        found: tuple[Page, int, int, int] | tuple[Array, Array] | None
        if k > 0 or not n:
            found = (scratch.page, at, n, k) if k else None
            scratch.at = at + n
        elif k == flood.IN_WINDOW or n <= MOST_WRITTEN:
            found = self._written_again(scratch, state, n, stay, k == flood.IN_WINDOW)
        else:
            found = self._take(scratch, n)
        self._idle.append(scratch)
        return None if status and self._is_cut_off(status, limit) else found

    @staticmethod
    def _written_again(
        scratch: PlainScratch, start: int, n: int, stay: int, in_window: bool
    ) -> tuple[Page, int, int, int]:
        """Return what a flood has found but the page had no room for."""
        if len(scratch.out) < 2 * n:
            scratch.lengthen(2 * n)
        kept = None
        if 4 * n > PAGE:
            # A page of its own, so that no small reach keeps it alive.
            kept = scratch.page, scratch.at, scratch.full, scratch.book.copy()
        scratch.turn_page(n if kept else PAGE)
        k = flood.write_again(scratch.book, start, n, stay, int(in_window))
        page, scratch.at = scratch.page, n
        if kept is not None:
            scratch.page, scratch.at, scratch.full, scratch.book[:] = kept
        return page, 0, n, k

    @staticmethod
    def _take(scratch: PlainScratch, n: int) -> tuple[Array, Array]:
        """Return the states that a flood listed, and their totals; the scratch is blank again."""
        states, totals = np.empty(n, np.int32), np.empty(n, np.int32)
        flood.take_states(scratch.book, n, states, totals)
        return states, totals

    def _flood(
        self, scratch: PlainScratch, starts: Array, initial: Array, limit: int
    ) -> tuple[int, int]:
        dues = self.graph.dues
        n, status = flood.flood_list(scratch.book, dues, starts, initial, limit)
        while status == kernel.POOL_FULL:
            scratch.enlarge()
            n, status = flood.flood_list(scratch.book, dues, starts, initial, limit)
        return n, status

    def flood(self, starts: Array, initial: Array, limit: int) -> tuple[Array, Array] | None:
        """Return the states within the limit, as settled, and their totals."""
        bound = self._limit(initial, limit)
        if bound is None:
            return None
        scratch = self._lend()
        n, status = self._flood(scratch, starts, initial, bound)
        found = self._take(scratch, n)
        self._idle.append(scratch)
        return None if self._is_cut_off(status, bound) else found

    def costs(
        self, starts: Array, initial: Array, limit: int, shape: tuple[int, int]
    ) -> npt.NDArray[np.float64] | None:
        """Return the cost of every cell, shape (height, width), infinite where none is known."""
        bound = self._limit(initial, limit)
        if bound is None:
            return None
        scratch = self._lend()
        _, status = self._flood(scratch, starts, initial, bound)
        costs = np.empty(shape)
        flood.take_costs(scratch.book, costs)
        self._idle.append(scratch)
        return None if self._is_cut_off(status, bound) else costs

    def reach_each(
        self, starts: Array, initial: Array, stays: Array, limit: int
    ) -> list[tuple[Page, Array]] | None:
        """Return what `reach` would from each start on its own, in parts.

        A part is a page, and n and k of each reach, shape (s, 2): they stand n places apart.
        """
        bound, dues = self.bound(limit), self.graph.dues

        def search(book_: Array, columns: Sequence[Array], found: Array) -> tuple[int, int]:
            begun, spent, stay = columns
            return flood.reach_each(book_, dues, begun, spent, stay, bound, found)

        return self._each(search, (starts, initial, stays), bound)

    def _each(
        self,
        search: Callable[[Array, Sequence[Array], Array], tuple[int, int]],
        columns: Sequence[Array],
        bound: int,
    ) -> list[tuple[Page, Array]] | None:
        """Run a search that answers many questions, page after page.

        `search` takes a book, the columns of the questions that are left, and room for two numbers
        of each; it returns how many it has answered, and why no more.
        """
        parts: list[tuple[Page, Array]] = []
        size = PAGE
        scratch = self._lend()
        while len(columns[0]):
            scratch.turn_page(size)
            found = np.zeros((len(columns[0]), 2), np.int64)
            done, status = search(scratch.book, columns, found)
            if status == kernel.POOL_FULL:
                scratch.enlarge()
            elif status == walk.LOST:
                raise FieldcraftError(NO_WAY_BACK)
            elif status == flood.OUTPUT_FULL:
                size = min(2 * size, MOST_ROOM) if done else 2 * size
                if not done:
                    scratch.lengthen(max(len(scratch.out), 2 * size))
            elif self._is_cut_off(status, bound):
                self._idle.append(scratch)
                return None
            if done:
                parts.append((scratch.page, found[:done]))
                columns = [column[done:] for column in columns]
        scratch.turn_page(PAGE)
        self._idle.append(scratch)
        return parts

    def path(
        self,
        starts: Array,
        initial: Array,
        cells: Iterable[Cell],
        limit: int,
        *,
        must_stop: bool,
        guided: bool,
    ) -> tuple[Page, int, int, int] | None:
        """Return a cheapest way as a place on a page, its states (0: none), and states expanded."""
        width = int(self.graph.plan[kernel.WIDTH])
        goals = np.array(sorted((row + 1) * width + col + 1 for row, col in cells), np.int64)
        bound = self._limit(initial, limit)
        if bound is None or len(starts) > 1:
            return None  # the keys of several might lie further apart than the ring is long
        options = bound, int(must_stop), int(guided)

        def search(scratch: PlainScratch) -> tuple[int, int, int]:
            return astar.path_of(
                scratch.book, self.graph.dues, scratch.at, starts, initial, goals, *options
            )

        return self._one_path(search, bound)

    def path_between(
        self, state: int, total: int, goal: int, limit: int, must_stop: int, guided: int
    ) -> tuple[Page, int, int, int] | None:
        """Return what `path` does, from one state to one padded cell."""

        def search(scratch: PlainScratch) -> tuple[int, int, int]:
            return astar.path_between(
                scratch.book, self.graph.dues, scratch.at, state, total, goal, limit, must_stop,
                guided,
            )  # fmt: skip

        return self._one_path(search, limit)

    def _one_path(
        self, search: Callable[[PlainScratch], tuple[int, int, int]], bound: int
    ) -> tuple[Page, int, int, int] | None:
        scratch = self._lend()
        if scratch.at >= scratch.full:
            scratch.turn_page(PAGE)
        n, expanded, status = search(scratch)
        while status == kernel.POOL_FULL or n < 0:
            if status == kernel.POOL_FULL:
                scratch.enlarge()
            elif n == walk.LOST:
                raise FieldcraftError(NO_WAY_BACK)
            else:
                scratch.lengthen()
            n, expanded, status = search(scratch)
        if status == flood.OUTPUT_FULL:
            # The way is known, but the page is full.
            scratch.turn_page(max(PAGE, 2 * n))
            astar.put_again(scratch.book, n)
        page, at = scratch.page, scratch.at
        scratch.at += n
        self._idle.append(scratch)
        return None if status and self._is_cut_off(status, bound) else (page, at, n, expanded)

    def path_each(
        self,
        starts: Array,
        initial: Array,
        goals: Array,
        limit: int,
        must_stop: int,
        guided: int,
    ) -> list[tuple[Page, Array]] | None:
        """Return what `path_between` would for each start and goal on its own, in parts.

        A part is a page, and n and states expanded of each way, shape (s, 2): they stand n apart.
        """
        bound, dues = self.bound(limit), self.graph.dues

        def search(book_: Array, columns: Sequence[Array], found: Array) -> tuple[int, int]:
            begun, spent, ends = columns
            return astar.path_each(book_, dues, begun, spent, ends, bound, must_stop, guided, found)

        return self._each(search, (starts, initial, goals), bound)

    @staticmethod
    def _way(scratch: PlainScratch, n: int) -> tuple[Array, Array]:
        if n < 0:
            raise FieldcraftError(NO_WAY_BACK)
        states, totals = scratch.out[:n], scratch.out[n : 2 * n]
        return states[::-1].copy(), totals[::-1].astype(np.int32)

    def way_to(
        self, goal: int, states: Array, totals: Array, starts: Array, initial: Array
    ) -> tuple[Array, Array]:
        """Return the way to a settled state of an earlier search, start first, and its totals."""
        # Of one type however they were found, or the kernel would be compiled for each.
        states, totals = np.array(states, np.int64), np.array(totals, np.int64)
        scratch = self._lend()
        while True:
            n = walk.way_to(scratch.book, self.graph.dues, states, totals, starts, initial, goal)
            if n != walk.TOO_SHORT:
                break
            scratch.lengthen()
        way = self._way(scratch, n)
        self._idle.append(scratch)
        return way

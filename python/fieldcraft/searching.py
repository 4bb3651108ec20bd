"""Running the search kernel: scratch memory lent to threads, pools that grow, goals."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import CostError, FieldcraftError
from fieldcraft.frozen import cached_property, frozen
from fieldcraft.graph import Graph
from fieldcraft.lattice import Cell
from fieldcraft.plain import Page, PlainSearcher, plain_graph
from fieldcraft_kernel import search as kernel
from fieldcraft_kernel import walk
from fieldcraft_kernel.lattice import LATTICE_KINDS
from fieldcraft_kernel.queues import N_COUNTERS

__all__ = ["Searcher", "Settled", "Way"]

Array = npt.NDArray[Any]
Settled = tuple[Array, Array, Array]
"""States, totals and links of one search, in the order settled."""
Way = tuple[Array, Array, Array]
"""States of a way, start first, their totals, and the link into each + 1."""

FIRST_POOL = 1024
FIRST_OUTPUT = 1 << 14
MAX_BUCKET = 1 << 40
NO_LINKS = frozen(np.zeros(0, np.int16))
FLOAT_NOISE = 1e-12
"""Relative difference of two sums of the same floats in another order, and some more."""


class Searcher:
    """Searches over one graph, from any number of threads.

    Plain graphs are searched by kernels of their own; whatever those do not do, the general one
    does. A set of scratch arrays has the size of the graph; it is made when a thread finds none
    idle, kept for the next search and cleaned cell by cell, so a search costs what it visits.

    Parameters
    ----------
    graph : Graph
    ticks : Fraction
        Ticks in a unit of cost.
    like : Searcher, optional
        One over a graph that is the same but in some rows of the map; both share their scratch.
    changed : sequence of range
        Those rows.
    """

    def __init__(
        self,
        graph: Graph,
        ticks: Fraction,
        like: Searcher | None = None,
        changed: Sequence[range] = (),
    ) -> None:
        self.graph = graph
        self._ticks = ticks
        self._idle: list[kernel.Scratch] = []
        self._lock = threading.Lock()
        self._before: PlainSearcher | None = None
        self._changed = changed
        if like is not None:
            self._before = like.__dict__.get("plain")
            if like._layout == self._layout:
                # Scratch is clean between searches and knows no prices: both may lend it.
                self._idle, self._lock = like._idle, like._lock
        self._no_goals = self._goals(np.zeros(0, np.int64), np.zeros(6, np.int64), must_stop=False)

    def __reduce__(self) -> tuple[type[Searcher], tuple[Graph, Fraction]]:
        return Searcher, (self.graph, self._ticks)

    @cached_property
    def plain(self) -> PlainSearcher | None:
        """Searches over the graph as a plain one; None where it is not."""
        units = (self._ticks.denominator, self._ticks.numerator)
        before, self._before = self._before, None
        old = None if before is None else before.graph
        graph = plain_graph(self.graph, units, old, self._changed)
        return None if graph is None else PlainSearcher(graph, before)

    @property
    def _layout(self) -> tuple[object, ...]:
        """What two graphs must have in common to share scratch."""
        graph = self.graph
        n_links = len(graph.arrays.links)
        return len(graph.arrays.rows), graph.n_cells, n_links > 0, graph.is_float, graph.slots

    # -- scratch --------------------------------------------------------------------------------

    def _new_scratch(self, pool: int = FIRST_POOL) -> kernel.Scratch:
        graph = self.graph
        n_states = len(graph.arrays.rows) * graph.n_cells
        number = np.float64 if graph.is_float else np.int32
        return kernel.Scratch(
            totals=np.full(n_states, graph.blank, number),
            vias=np.zeros(n_states if len(graph.arrays.links) else 0, np.int16),
            order=np.empty(n_states, np.int32),
            head=np.empty(graph.slots, np.int32),
            pool_state=np.empty(pool, np.int32),
            pool_key=np.empty(pool, number),
            pool_next=np.empty(pool, np.int32),
            counters=np.zeros(N_COUNTERS, np.int64),
        )

    @contextmanager
    def lend(self) -> Iterator[list[kernel.Scratch]]:
        """Lend scratch to one thread: a list of one, so that a larger one can take its place."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        holder = [idle if idle is not None else self._new_scratch()]
        # After an exception the arrays may not be clean; they are then left to the collector.
        yield holder
        with self._lock:
            self._idle.append(holder[0])

    @staticmethod
    def _enlarge(holder: list[kernel.Scratch]) -> None:
        scratch = holder[0]
        size = 4 * len(scratch.pool_state)
        holder[0] = scratch._replace(
            pool_state=np.empty(size, np.int32),
            pool_key=np.empty(size, scratch.pool_key.dtype),
            pool_next=np.empty(size, np.int32),
        )

    # -- goals ----------------------------------------------------------------------------------

    def _box(self, cells: Iterable[Cell]) -> tuple[Array, Array]:
        """Return goals as padded cells, rising, and the box around them in frame coordinates."""
        graph = self.graph
        array = np.array(sorted(cells), np.int64)
        frame = graph.lattice.to_axial(array) if graph.lattice.is_hex else array
        x, y = frame[:, 0], frame[:, 1]
        box = [f(v) for v in (x, y, x + y) for f in (np.min, np.max)]
        padded = np.unique((array[:, 0] + 1) * (graph.shape[1] + 2) + array[:, 1] + 1)
        return padded, np.array(box, np.int64)

    def _goals(
        self, cells: Array, box: Array, *, must_stop: bool, prices: tuple[float, float] = (0, 0)
    ) -> kernel.Goals:
        graph = self.graph
        number: Any = float if graph.is_float else int
        n_rows = len(graph.arrays.rows)
        # Where rows tell the parity apart, odd ones have the dear diagonal next.
        dear = np.arange(n_rows) & 1 if graph.copies == 2 else np.zeros(n_rows, np.int64)
        return kernel.Goals(
            cells=cells,
            must_stop=int(must_stop),
            box=box,
            kind=LATTICE_KINDS[graph.lattice.name],
            width=graph.shape[1] + 2,
            straight=number(prices[0]),
            diagonal=number(prices[1]),
            added=(dear if any(prices) else 0 * dear).astype(graph.number),
            worse=dear,
            # A little below 1, so that rounding never makes the heuristic overestimate.
            factor=number(1 - FLOAT_NOISE if graph.is_float else 1),
            margin=number(FLOAT_NOISE if graph.is_float and any(prices) else 0),
        )

    # -- searches -------------------------------------------------------------------------------

    def run(
        self,
        holder: list[kernel.Scratch],
        goals: kernel.Goals,
        starts: Array,
        initial: Array,
        limit: Any,
    ) -> tuple[int, int, int]:
        """Search in lent scratch; return (entries of order, goal state or -1, expanded).

        Raises
        ------
        CostError
            If a total would overflow.
        """
        graph = self.graph
        # Starts whose first keys lie further apart than the buckets reach, or so far out that
        # floats no longer tell steps apart, go through the heap.
        use_heap = len(starts) > 0 and initial[0] * graph.per_bucket > MAX_BUCKET
        if len(starts) > 1:
            latest, first = float(initial.max()), float(initial.min())
            use_heap = 2 * (latest - first) * graph.per_bucket > graph.slots
            use_heap |= latest * graph.per_bucket > MAX_BUCKET
        while True:
            scratch = holder[0]
            if use_heap:
                scratch = scratch._replace(head=scratch.head[:0])
            n_order, goal, expanded, status = kernel.search(
                graph.arrays, goals, starts, initial, limit, graph.largest, graph.per_bucket,
                scratch,
            )  # fmt: skip
            if status == kernel.DONE:
                return n_order, goal, expanded
            self._handle(status, holder)

    def _handle(self, status: int, holder: list[kernel.Scratch]) -> None:
        if status == kernel.POOL_FULL:
            self._enlarge(holder)
        elif status == kernel.TOTAL_TOO_LARGE:
            raise CostError(
                "a total would overflow: some path costs more than can be counted "
                f"({self.graph.largest:g} ticks, or with floats so much that a step no longer "
                "changes it); give a budget or costs closer together"
            )
        elif status == kernel.SETTLED_TWICE:
            raise FieldcraftError("a search settled a state twice; please report this")

    def flood(self, starts: Array, initial: Array, limit: Any) -> tuple[Settled, int]:
        """Settle all within the limit; return states, totals and links, and states expanded."""
        if self.plain is not None:
            found = self.plain.flood(starts, initial, limit)
            if found is not None:
                return (*found, NO_LINKS), len(found[0])
        with self.lend() as holder:
            n, _, expanded = self.run(holder, self._no_goals, starts, initial, limit)
            scratch = holder[0]
            states = scratch.order[:n].copy()
            totals = np.empty(n, scratch.totals.dtype)
            vias = np.empty(n if len(scratch.vias) else 0, np.int16)
            kernel.collect(scratch, n, totals, vias)
        return (states, totals, vias), expanded

    def least_totals(self, starts: Array, initial: Array, limit: Any) -> Array:
        """Flood and return the least total of each cell over the rows, shape (height, width)."""
        graph = self.graph
        with self.lend() as holder:
            n, _, _ = self.run(holder, self._no_goals, starts, initial, limit)
            scratch = holder[0]
            shape = (-1, graph.shape[0] + 2, graph.shape[1] + 2)
            least: Array = scratch.totals.reshape(shape)[:, 1:-1, 1:-1].min(axis=0)
            walk.blank_states(scratch.totals, scratch.order[:n], graph.blank)
        return least

    def flood_each(self, states: Array, limit: Any, initial: Array | None = None) -> list[Settled]:
        """Flood from each state on its own, in one kernel call as long as its output fits.

        `initial` is what each has spent, nothing if absent.
        """
        graph = self.graph
        if self.plain is not None:
            zeros = np.zeros(len(states), np.int64)
            spent = zeros if initial is None else initial.astype(np.int64)
            parts = self.plain.reach_each(states, spent, zeros, limit)
            if parts is not None:
                return [(*found, NO_LINKS) for part in parts for found in _settled(*part)]
        if initial is not None:
            # The kernel for general fields begins at nothing.
            each = range(len(states))
            return [self.flood(states[i : i + 1], initial[i : i + 1], limit)[0] for i in each]
        results: list[Settled] = []
        size = FIRST_OUTPUT
        with self.lend() as holder:
            while len(results) < len(states):
                scratch = holder[0]
                out_state = np.empty(size, np.int32)
                out_total = np.empty(size, scratch.totals.dtype)
                out_via = np.empty(size if len(scratch.vias) else 0, np.int16)
                left = states[len(results) :]
                ends = np.zeros(len(left), np.int64)
                done, status = kernel.search_many(
                    graph.arrays, self._no_goals, left, limit, graph.largest, graph.per_bucket,
                    scratch, out_state, out_total, out_via, ends,
                )  # fmt: skip
                begin = 0
                for end in ends[:done].tolist():
                    part = slice(begin, end)
                    results.append(
                        (out_state[part].copy(), out_total[part].copy(), out_via[part].copy())
                    )
                    begin = end
                if status == kernel.OUTPUT_FULL:
                    size *= 4
                self._handle(status, holder)
        return results

    # -- paths ----------------------------------------------------------------------------------

    def find(
        self,
        starts: Array,
        initial: Array,
        cells: Iterable[Cell],
        limit: Any,
        *,
        must_stop: bool,
        guided: bool,
    ) -> tuple[Way | None, int]:
        """Search for a goal; return the way there (see `_walk`), or None, and states expanded.

        With a heuristic (`guided`, A*) or without one (Dijkstra that stops there).
        """
        padded, box = self._box(cells)
        prices = self.graph.heuristic() if guided else (0, 0)
        goals = self._goals(padded, box, must_stop=must_stop, prices=prices)
        way = None
        with self.lend() as holder:
            n, goal, expanded = self.run(holder, goals, starts, initial, limit)
            scratch = holder[0]
            if goal >= 0:
                way = self._walk(scratch, starts, initial, goal, 2 * goals.margin)
            walk.blank_states(scratch.totals, scratch.order[:n], self.graph.blank)
        return way, expanded

    def way_to(self, goal: int, settled: Settled, starts: Array, initial: Array) -> Way:
        """Return the way to a settled state of an earlier search (see `_walk`)."""
        states, totals, vias = settled
        if self.plain is not None:
            known = self.plain.way_to(goal, states, totals, starts, initial)
            return (*known, np.zeros(len(known[0]), np.int64))
        with self.lend() as holder:
            scratch = holder[0]
            walk.spread(scratch.totals, scratch.vias, states, totals, vias)
            way = self._walk(scratch, starts, initial, goal, 0 * self._no_goals.margin)
            walk.blank_states(scratch.totals, states, self.graph.blank)
        return way

    def _walk(
        self, scratch: kernel.Scratch, starts: Array, initial: Array, goal: int, margin: float
    ) -> Way:
        size = 256
        while True:
            out, links = np.empty(size, np.int64), np.empty(size, np.int64)
            n = walk.walk_back(
                self.graph.arrays, scratch.totals, scratch.vias, starts, initial,
                self.graph.opposite, margin, goal, out, links,
            )  # fmt: skip
            if n > 0:
                states = out[:n][::-1].copy()
                return states, scratch.totals[states], links[:n][::-1].copy()
            if n != walk.TOO_SHORT or size > len(scratch.totals):
                raise FieldcraftError("a settled state has no way back; please report this")
            size *= 4


def _settled(page: Page, sizes: Array) -> Iterator[tuple[Array, Array]]:
    """List states and totals of reaches as `PlainSearcher.reach_each` gives them."""
    at = 0
    for n in sizes[:, 0].tolist():
        yield page.settled(at, n)
        at += n

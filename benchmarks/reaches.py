"""The reach from every cell of a map."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.cores import cores
from benchmarks.harness import OURS, Answer, NotBuilt, Question, Target, method, module
from benchmarks.scenes import RULES, Array, Noise, graph_of
from benchmarks.sizes import Sizes
from benchmarks.textbook import warmed

BUDGET = 6
TICKS = np.array([0, 2, 3, 4, 6], np.uint8)  # by terrain; two are a point
CHECKED = 24
EVERY = 37
POOL = 1 << 16


class Ground:
    """Hexes whose entry costs 1, 1.5, 2 or 3 points, 10 % closed."""

    def __init__(self, size: int) -> None:
        self.scene = Noise(size, walls=0.1)

    @cached_property
    def ticks(self) -> Array:
        return TICKS[self.scene.terrain]

    @cached_property
    def open_cells(self) -> Array:
        return np.argwhere(~self.scene.closed)

    @cached_property
    def checked(self) -> Array:
        """Random open cells whose answers are compared, half of them near the map's edge."""
        rng, cells = self.scene.rng(31), self.open_cells
        near = (np.minimum(cells, self.scene.size - 1 - cells) < 3).any(axis=1)
        parts = [rng.choice(some, CHECKED // 2) for some in (cells[near], cells)]
        return np.concatenate(parts)

    def field(self) -> fc.StepField:
        cost = np.maximum(self.ticks, 1) / 2
        return fc.hexes.field(cost, layout="odd-r", closed=self.scene.closed)

    @cached_property
    def costs(self) -> Array:
        """Ticks from each checked cell to every cell, shape (CHECKED, size, size)."""
        graph = graph_of(self.ticks, RULES["hex"])
        found = []
        for cell in self.checked.tolist():
            totals = graph.distances(self.scene.number(tuple(cell)), 2 * BUDGET)
            found.append(np.where(totals <= 2 * BUDGET, totals, np.inf))
        return np.array(found).reshape(-1, *self.ticks.shape)

    def counts(self) -> Array:
        return np.isfinite(self.costs).sum(axis=(1, 2))


def counted(ground: Ground) -> Answer:
    """Return how many cells each cell reaches, all of them in one call."""

    def query(made: fc.StepField) -> Array:
        reaches = method(made, "reaches")
        with cores(1):
            return reaches(BUDGET).count

    return Answer(
        f"{OURS} reaches",
        build=ground.field,
        query=query,
        plain=lambda found: found[tuple(ground.checked.T)],
        rule="counts",
        per=len(ground.open_cells),
    )


def priced(ground: Ground) -> Answer:
    """Return the costs of all that each cell reaches, gone over block by block."""
    wanted = np.zeros(ground.ticks.shape, bool)
    wanted[tuple(ground.checked.T)] = True

    def query(made: fc.StepField) -> list[tuple[Array, Array, Array]]:
        kept = []
        with cores(1):
            for block in method(made, "reaches")(BUDGET).blocks():
                some = np.flatnonzero(wanted[tuple(block.cells.T)])
                kept.append((block.cells[some], block.offsets, block.costs[some]))
        return kept

    def plain(found: list[tuple[Array, Array, Array]]) -> Array:
        maps: dict[tuple[int, int], Array] = {}
        for cells, offsets, costs in found:
            for cell, row in zip(cells.tolist(), costs, strict=True):
                reached = np.isfinite(row)
                around = maps[tuple(cell)] = np.full(wanted.shape, np.inf)
                around[tuple((cell + offsets[reached]).T)] = 2 * row[reached]
        return np.array([maps[tuple(cell)] for cell in ground.checked.tolist()])

    return Answer(
        f"{OURS} reaches, costs in blocks",
        build=ground.field,
        query=query,
        plain=plain,
        rule="costs",
        per=len(ground.open_cells),
    )


@functools.cache
def search_each() -> Any:
    """Return a loop over our own search, compiled as one: it counts and writes nothing else."""
    from fieldcraft_kernel.flood import flood
    from fieldcraft_kernel.plain import POOL_FULL, blank

    numba = module("numba")

    @numba.njit  # not cached: a cache would not see that the kernels it calls have changed
    def each(words, dues, plan, totals, order, queue, starts, limit, counts):
        start, nothing = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for i in range(starts.shape[0]):
            start[0] = starts[i]
            n, status = flood(words, dues, plan, totals, order, queue, start, nothing, limit)
            if status == POOL_FULL:
                return False
            counts[i] = n
            blank(totals, order, n)
        return True

    return each


def looped(ground: Ground) -> Answer:
    """Return our own compiled reach in a loop within one kernel, from every open cell."""

    def build() -> tuple[Any, ...]:
        try:
            from fieldcraft_kernel import plain
            from fieldcraft_kernel.steps import NO_WAY

            made = ground.field()
            graph = made._searcher.plain.graph
            limit = int(made._limit(BUDGET)[0])
            rows, cols = ground.open_cells.T + 1
            starts = rows * int(graph.plan[plain.WIDTH]) + cols
            for i in (0, len(starts) - 1):  # the states of the padded map, as the field has them
                assert made.seeds(tuple(ground.open_cells[i]))[0].tolist() == [starts[i]]
        except (AttributeError, ImportError, TypeError) as error:
            raise NotBuilt("a search to loop over") from error
        first = int(graph.plan[plain.TOP]) + graph.n_slots
        scratch = (
            np.full(graph.n_states, NO_WAY, np.int32),
            np.empty(graph.n_states, np.int32),
            np.zeros(first + POOL, np.uint32),
        )
        state = graph.words, graph.dues, graph.plan, *scratch, starts, limit
        search_each()(*state[:6], starts[:1], limit, np.zeros(1, np.int64))
        return state

    def query(state: tuple[Any, ...]) -> Array:
        counts = np.zeros(len(state[6]), np.int64)
        assert search_each()(*state, counts)
        return counts

    def plain(found: Array) -> Array:
        counts = np.zeros(ground.ticks.shape, np.int64)
        counts[tuple(ground.open_cells.T)] = found
        return counts[tuple(ground.checked.T)]

    return Answer(
        f"{OURS} kernel, a search a cell",
        build=build,
        query=query,
        plain=plain,
        rule="counts",
        per=len(ground.open_cells),
        note="one compiled loop over the search of a single reach",
    )


def one_by_one(ground: Ground) -> Answer:
    """Return the public call in a loop: the checked cells, and some others."""
    some = np.concatenate([ground.checked, ground.open_cells[::EVERY]])
    cells = [(row, col) for row, col in some.tolist()]
    return Answer(
        f"{OURS} reach in a loop",
        build=ground.field,
        query=lambda made: np.array([len(made.reach(cell, BUDGET).cells) for cell in cells]),
        plain=lambda found: found[:CHECKED],
        rule="counts",
        per=len(cells),
        one=lambda made: made.reach(cells[0], BUDGET).cells,
        note=f"every {EVERY}th cell, and those checked",
    )


def textbook(ground: Ground) -> Answer:
    def query(search: Any) -> Array:
        return np.array(
            [
                (search(ground.ticks, row, col, 2 * BUDGET) <= 2 * BUDGET).sum()
                for row, col in ground.checked.tolist()
            ]
        )

    return Answer(
        "Numba heapq, whole map",
        build=lambda: warmed("hex", ground.ticks),
        query=query,
        rule="counts",
        per=CHECKED,
        note=f"{CHECKED} cells",
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    ground = Ground(sizes.reaches)
    answers = [make(ground) for make in (counted, priced, looped, one_by_one, textbook)]
    yield Question(
        "reaches",
        "reaches",
        f"reach {BUDGET} from every cell, {sizes.reaches}² hexes, a cell",
        answers,
        {"counts": ground.counts, "costs": lambda: ground.costs},
        [Target(looped(ground).name, 8, ours=counted(ground).name)],
        unit="us",
        rounds=7,
        seconds=5,
    )

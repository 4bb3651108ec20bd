"""The reach from every cell of a map."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.cores import cores
from benchmarks.harness import OURS, Answer, NotBuilt, Question, Target, method
from benchmarks.scenes import RULES, Array, Noise, graph_of
from benchmarks.sizes import Sizes
from benchmarks.textbook import searches

BUDGET = 6
TICKS = np.array([0, 2, 3, 4, 6], np.uint8)  # by terrain; two are a point
CHECKED = 12
EVERY = 37


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

    def field(self) -> fc.StepField:
        cost = np.maximum(self.ticks, 1) / 2
        return fc.hexes.field(cost, layout="odd-r", closed=self.scene.closed)

    def expected(self) -> Array:
        """Return how many cells are reached from some of the open cells."""
        graph = graph_of(self.ticks, RULES["hex"])
        counts = []
        for cell in self.open_cells[::EVERY][:CHECKED].tolist():
            totals = graph.distances(self.scene.number(tuple(cell)), 2 * BUDGET)
            counts.append(int((totals <= 2 * BUDGET).sum()))
        return np.array(counts)


def ours(ground: Ground, name: str, n_cores: int) -> Answer:
    def query(made: fc.StepField) -> Array:
        reaches = method(made, "reaches")
        with cores(n_cores):
            return reaches(BUDGET).count

    return Answer(
        name,
        build=ground.field,
        query=query,
        plain=lambda found: found[tuple(ground.open_cells[::EVERY][:CHECKED].T)],
        per=len(ground.open_cells),
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    ground = Ground(sizes.reaches)
    cells = ground.open_cells

    def looped(made: fc.StepField) -> Array:
        """Search from each cell in turn, all in one call of the kernel."""
        try:
            states = np.concatenate([made.seeds(tuple(cell))[0] for cell in starts])
            found = made._searcher.flood_each(states, 2 * BUDGET)
        except (AttributeError, TypeError) as error:
            raise NotBuilt("the kernel of many reaches") from error
        return np.array([len(settled[0]) for settled in found])

    def textbook(search: Any) -> Array:
        return np.array(
            [
                (search(ground.ticks, row, col, 2 * BUDGET) <= 2 * BUDGET).sum()
                for row, col in starts.tolist()[:CHECKED]
            ]
        )

    starts = cells[::EVERY]
    all_of, loop = f"{OURS} reaches", f"{OURS} kernel, a search a cell"
    yield Question(
        "reaches",
        "reaches",
        f"reach {BUDGET} from every cell, {sizes.reaches}² hexes, a cell",
        [
            ours(ground, all_of, 1),
            Answer(
                loop,
                build=ground.field,
                query=looped,
                plain=lambda found: found[:CHECKED],
                per=len(starts),
                note=f"every {EVERY}th cell",
            ),
            Answer(
                f"{OURS} reach in a loop",
                build=ground.field,
                query=lambda made: np.array(
                    [len(made.reach(cell, BUDGET).cells) for cell in starts]
                ),
                plain=lambda found: found[:CHECKED],
                per=len(starts),
                note=f"every {EVERY}th cell",
            ),
            Answer(
                "Numba heapq, whole map",
                build=lambda: searches()[1],
                query=textbook,
                per=CHECKED,
                note=f"{CHECKED} cells",
            ),
        ],
        {"": ground.expected},
        [Target(loop, 8, ours=all_of)],
        unit="us",
        rounds=7,
        seconds=5,
    )

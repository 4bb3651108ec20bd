"""The view of every cell of a map: how many cells it sees, which, and with what malus."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.harness import OURS, Answer, NotBuilt, Question, Target
from benchmarks.scenes import Array, Cell, window
from benchmarks.sizes import Sizes
from benchmarks.view import UNSEEN, Woods

EVERY = 97
CHECKED = 12


def all_views(made: fc.SightField, radius: int) -> Any:
    """Return the views of every cell, or raise NotBuilt."""
    try:
        return made.views(None, radius)
    except (AttributeError, TypeError) as error:
        raise NotBuilt("all views in one call") from error


class Asked:
    """The map, whose views are compared, and what the answers are turned into for that."""

    def __init__(self, sizes: Sizes, layout: str) -> None:
        self.woods, self.layout = Woods(sizes.hexes, layout), layout
        self.radius, self.size = sizes.radius, sizes.hexes

    @functools.cached_property
    def checked(self) -> list[Cell]:
        """Random cells, a third of them on the map's edge."""
        rng = self.woods.scene.rng(32)
        cells = rng.integers(0, self.size, (CHECKED, 2))
        last = self.size - 1
        cells[: CHECKED // 3, 0] = rng.choice([0, last], CHECKED // 3)
        cells[CHECKED // 6 : CHECKED // 3] = cells[CHECKED // 6 : CHECKED // 3, ::-1]
        return [(row, col) for row, col in cells.tolist()]

    @functools.cached_property
    def looped(self) -> list[Cell]:
        """Those that are looked from one by one: the checked ones, and some others."""
        some = range(0, self.size * self.size, EVERY)
        return [*self.checked, *((i // self.size, i % self.size) for i in some)]

    @functools.cached_property
    def maluses(self) -> Array:
        """The reference's windows around the checked cells."""
        return np.array(
            [
                window(self.woods.maluses(cell, self.radius), cell, self.radius, UNSEEN)
                for cell in self.checked
            ]
        )

    def all_counts(self) -> Answer:
        return Answer(
            f"{OURS} views, counts",
            build=self.woods.field,
            query=lambda made: all_views(made, self.radius).count,
            plain=lambda found: found[tuple(np.array(self.checked).T)],
            rule="counts",
            per=self.size * self.size,
        )

    def all_windows(self, rule: str, take: Callable[[Any], Array]) -> Answer:
        """Return what is taken of each block; of the checked cells it is kept."""
        wanted = np.zeros((self.size, self.size), bool)
        wanted[tuple(np.array(self.checked).T)] = True

        def query(made: fc.SightField) -> dict[Cell, Array]:
            kept: dict[Cell, Array] = {}
            for block in all_views(made, self.radius).blocks():
                windows = take(block)
                for i in np.flatnonzero(wanted[tuple(block.viewers.T)]).tolist():
                    row, col = block.viewers[i].tolist()
                    kept[row, col] = windows[i].copy()
            return kept

        return Answer(
            f"{OURS} views, {rule} in blocks",
            build=self.woods.field,
            query=query,
            plain=lambda found: np.array([found[cell] for cell in self.checked]),
            rule=rule,
            per=self.size * self.size,
        )

    def loop(
        self, rule: str, take: Callable[[fc.View], Any], plain: Callable[[Cell, Any], Any]
    ) -> Answer:
        """Return our own single view, one cell after the other."""

        def query(made: fc.SightField) -> list[Any]:
            return [take(made.view(cell, self.radius)) for cell in self.looped]

        return Answer(
            f"{OURS} view in a loop, {rule}",
            build=self.woods.field,
            query=query,
            plain=lambda found: np.array(
                [plain(cell, one) for cell, one in zip(self.checked, found, strict=False)]
            ),
            rule=rule,
            per=len(self.looped),
            one=lambda made: take(made.view(self.looped[0], self.radius)),
            note=f"every {EVERY}th cell, and those checked",
        )

    def around(self, cell: Cell, cells: Array, values: Any, outside: int) -> Array:
        """Return listed cells as a window around one."""
        side = 2 * self.radius + 1
        found = np.full((side, side), outside)
        found[tuple((cells - np.array(cell) + self.radius).T)] = values
        return found


def question(sizes: Sizes, layout: str) -> Question:
    asked = Asked(sizes, layout)
    answers = [
        asked.all_counts(),
        asked.loop("counts", len, lambda _, found: found),
        asked.all_windows("masks", lambda block: block.visible),
        asked.loop(
            "masks",
            lambda view: view.cells,
            lambda cell, cells: asked.around(cell, cells, 1, 0),
        ),
        asked.all_windows("maluses", lambda block: block.malus),
        asked.loop(
            "maluses",
            lambda view: (view.cells, view.maluses),
            lambda cell, found: asked.around(cell, *found, UNSEEN),
        ),
    ]
    names = [answer.name for answer in answers]
    return Question(
        f"all-views-{layout}",
        "all views",
        f"all views on hexes ({layout}), radius {asked.radius}, {asked.size}², a view",
        answers,
        {
            "counts": lambda: (asked.maluses != UNSEEN).sum(axis=(1, 2)),
            "masks": lambda: asked.maluses != UNSEEN,
            "maluses": lambda: asked.maluses,
        },
        [Target(names[i + 1], 15, ours=names[i]) for i in (0, 2)],
        unit="us",
        rounds=7,
        seconds=4,
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    for layout in ("odd-r", "odd-q"):
        yield question(sizes, layout)

"""The view of every cell of a map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import fieldcraft as fc
from benchmarks.harness import OURS, Answer, NotBuilt, Question, Target
from benchmarks.scenes import Array, Cell
from benchmarks.sizes import Sizes
from benchmarks.view import Woods

EVERY = 97
CHECKED = 3


def all_views(made: fc.SightField, radius: int) -> Array:
    """Return how many cells each cell sees, or raise NotBuilt."""
    try:
        return made.views(None, radius).count
    except (AttributeError, TypeError) as error:
        raise NotBuilt("all views in one call") from error


def question(sizes: Sizes, layout: str) -> Question:
    woods = Woods(sizes.hexes, layout)
    radius, size = sizes.radius, sizes.hexes
    cells: list[Cell] = [(i // size, i % size) for i in range(0, size * size, EVERY)]

    def loop(made: fc.SightField) -> Array:
        return np.array([len(made.view(cell, radius).cells) for cell in cells])

    return Question(
        f"all-views-{layout}",
        "all views",
        f"all views on hexes ({layout}), radius {radius}, {size}², a view",
        [
            Answer(
                f"{OURS} views, all",
                build=woods.field,
                query=lambda made: all_views(made, radius),
                plain=lambda found: found[tuple(np.array(cells).T)][:CHECKED],
                per=size * size,
            ),
            Answer(
                f"{OURS} view in a loop",
                build=woods.field,
                query=loop,
                plain=lambda found: found[:CHECKED],
                per=len(cells),
                note=f"every {EVERY}th cell",
            ),
        ],
        {"": lambda: np.array([woods.seen(cell, radius).sum() for cell in cells[:CHECKED]])},
        [Target(f"{OURS} view in a loop", 15, ours=f"{OURS} views, all")],
        unit="us",
        rounds=7,
        seconds=6,
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    for layout in ("odd-r", "odd-q"):
        yield question(sizes, layout)

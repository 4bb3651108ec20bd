"""Everything seen from one cell."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.harness import OURS, Answer, Question, Target, module, unchecked
from benchmarks.lines import BLOCKED, halves_on_hexes, hex_steps, sees_on_squares
from benchmarks.scenes import Array, Cell, Noise, window
from benchmarks.sizes import Sizes

CHECKED = 4
THRESHOLD = 4
UNSEEN = -32768
"""What the library says of a cell that is not seen."""


def square_field(scene: Noise) -> fc.SightField:
    """Return our sight field of squares: what is closed is opaque, corners are closed."""
    shape = scene.closed.shape
    return fc.SightField(
        fc.Lattice("square"),
        shape,
        between=np.zeros(shape, np.uint8),
        opaque=scene.closed,
        threshold=None,
        corners="closed",
    )


class Woods:
    """Hexes with woods (half a point, a point) and 10 % opaque cells."""

    def __init__(self, size: int, layout: str) -> None:
        self.scene = Noise(size, walls=0.1)
        self.layout = layout

    @functools.cached_property
    def between(self) -> Array:
        rng = self.scene.rng(20)
        return rng.choice(np.array([0, 1, 2], np.uint8), self.opaque.shape, p=[0.8, 0.1, 0.1])

    @property
    def opaque(self) -> Array:
        return self.scene.closed

    def field(self) -> fc.SightField:
        return fc.SightField(
            fc.Lattice(self.layout),
            self.opaque.shape,
            between=self.between,
            opaque=self.opaque,
            threshold=THRESHOLD,
        )

    def seen(self, viewer: Cell, radius: int) -> Array:
        """Return the reference's view, as a map."""
        return self.maluses(viewer, radius) != UNSEEN

    def maluses(self, viewer: Cell, radius: int) -> Array:
        """Return the malus of each cell in the reference's view: a point for each begun."""
        found = np.full(self.opaque.shape, UNSEEN)
        reach = radius + 1
        for row in range(max(0, viewer[0] - reach), min(len(found), viewer[0] + reach + 1)):
            for col in range(max(0, viewer[1] - reach), min(len(found), viewer[1] + reach + 1)):
                target = row, col
                if hex_steps(self.layout, viewer, target) > radius:
                    continue
                halves = halves_on_hexes(self.layout, self.between, self.opaque, viewer, target)
                points = (halves + 1) // 2
                if target == viewer:
                    found[target] = 0
                elif halves < BLOCKED and points < THRESHOLD:
                    found[target] = -points
        return found


def crops_of(found: list[fc.View], viewers: list[Cell], radius: int) -> Array:
    """Return the seen cells of the first few views, each around its viewer."""
    maps = []
    for viewer, view in zip(viewers[:CHECKED], found, strict=False):
        seen = np.zeros(view.shape, bool)
        seen[tuple(view.cells.T)] = True
        maps.append(window(seen, viewer, radius, False))
    return np.array(maps)


def ours(name: str, build: Any, viewers: list[Cell], radius: int) -> Answer:
    def query(made: fc.SightField, viewers: list[Cell] = viewers) -> list[fc.View]:
        found = [made.view(viewer, radius) for viewer in viewers]
        for view in found:
            view.cells  # noqa: B018 - an array that is made when it is asked for is part of it
        return found

    return Answer(
        name,
        build=build,
        query=query,
        plain=lambda found: crops_of(found, viewers, radius),
        per=len(viewers),
        one=lambda made: query(made, viewers[:1]),
        work=lambda found: {"cells": float(np.mean([len(view.cells) for view in found]))},
    )


def squares(sizes: Sizes) -> Question:
    radius = sizes.radius
    scene = Noise(sizes.medium, walls=0.1)
    viewers = scene.open_cells(sizes.starts, 21, margin=min(radius, sizes.medium // 3))
    few = max(1, sizes.starts // 4)

    def reference() -> Array:
        found = []
        for row, col in viewers[:CHECKED]:
            seen = np.zeros(scene.closed.shape, bool)
            for r in range(max(0, row - radius), min(scene.size, row + radius + 1)):
                for c in range(max(0, col - radius), min(scene.size, col + radius + 1)):
                    seen[r, c] = sees_on_squares(scene.closed, (row, col), (r, c))
            found.append(window(seen, (row, col), radius, False))
        return np.array(found)

    def tcod(transparent: Array, at: Cell) -> Array:
        shadows = module("tcod").constants.FOV_SYMMETRIC_SHADOWCAST
        return module("tcod.map").compute_fov(transparent, at, radius, True, shadows)

    def crop(transparent: Array) -> list[Array]:
        return [
            tcod(window(transparent, viewer, radius, False), (radius, radius)) for viewer in viewers
        ]

    other = unchecked("sees by symmetric shadowcasting, ours are exact lines")
    return Question(
        "view-square",
        "view",
        f"view on squares, radius {radius}, {scene.size}², 10 % opaque",
        [
            ours(f"{OURS} view", lambda: square_field(scene), viewers, radius),
            Answer(
                "tcod compute_fov on a crop",
                build=lambda: ~scene.closed,
                needs="tcod.map",
                query=crop,
                per=len(viewers),
                compare=other,
            ),
            Answer(
                "tcod compute_fov, whole map",
                build=lambda: ~scene.closed,
                needs="tcod.map",
                query=lambda transparent: [tcod(transparent, at) for at in viewers[:few]],
                per=few,
                compare=other,
            ),
        ],
        {"": reference},
        [
            Target("tcod compute_fov on a crop", 1, ours=f"{OURS} view"),
            Target("tcod compute_fov, whole map", 10, ours=f"{OURS} view"),
        ],
        unit="us",
        rounds=15,
        seconds=3,
    )


def hexes(sizes: Sizes, layout: str) -> Question:
    woods = Woods(sizes.hexes, layout)
    radius = sizes.radius
    viewers = woods.scene.open_cells(sizes.starts, 22)
    few = max(1, sizes.starts // 16)

    def hexutil(_: Any) -> list[Any]:
        make = module("hexutil").Hex
        opaque = woods.opaque

        def transparent(place: Any) -> bool:
            row, col = place.y, (place.x - (place.y & 1)) // 2
            inside = 0 <= row < len(opaque) and 0 <= col < len(opaque)
            return inside and not opaque[row, col]

        return [
            make(2 * col + (row & 1), row).field_of_view(transparent, radius)
            for row, col in viewers[:few]
        ]

    answers = [ours(f"{OURS} view", woods.field, viewers, radius)]
    if layout == "odd-r":
        answers.append(
            Answer(
                "hexutil field_of_view",
                query=hexutil,
                per=few,
                compare=unchecked("opaque or not, no obstruction in points, other lines"),
            )
        )
    return Question(
        f"view-{layout}",
        "view",
        f"view on hexes ({layout}), radius {radius}, {sizes.hexes}²",
        answers,
        {
            "": lambda: np.array(
                [
                    window(woods.seen(viewer, radius), viewer, radius, False)
                    for viewer in viewers[:CHECKED]
                ]
            )
        },
        [Target("hexutil field_of_view", 100, ours=f"{OURS} view")] if layout == "odd-r" else [],
        unit="us",
        rounds=15,
        seconds=3,
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    yield squares(sizes)
    yield hexes(sizes, "odd-r")
    yield hexes(sizes, "odd-q")

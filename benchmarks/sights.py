"""Sight lines between many pairs in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.harness import OURS, Answer, Question, Target, module, mostly, same
from benchmarks.lines import sees_on_squares
from benchmarks.scenes import Array, Noise
from benchmarks.sizes import Sizes
from benchmarks.view import square_field

CHECKED = 400
AT_ONCE = 2000


def visible(found: Any) -> Array:
    """Return which targets are seen: of an object with an array, or of a list of sights."""
    seen = getattr(found, "visible", None)
    return np.array([one.visible for one in found]) if seen is None else np.asarray(seen)


def at_once(clear: Array, pairs: Array) -> Array:
    """Return what NumPy users write: points along all lines, rounded to cells and looked up."""
    seen = np.empty(len(pairs), bool)
    for begin in range(0, len(pairs), AT_ONCE):
        part = pairs[begin : begin + AT_ONCE]
        start, way = part[:, 0], part[:, 1] - part[:, 0]
        steps = np.abs(way).max(axis=1)
        ahead = np.arange(1, max(2, int(steps.max())))
        share = np.minimum(ahead / np.maximum(steps, 1)[:, None], 1)[..., None]
        cells = np.rint(start[:, None] + share * way[:, None]).astype(np.intp)
        is_clear = clear[cells[..., 0], cells[..., 1]] | (ahead >= steps[:, None])
        seen[begin : begin + AT_ONCE] = is_clear.all(axis=1)
    return seen


def question(sizes: Sizes, key: str, far: bool) -> Question:
    scene = Noise(sizes.medium, walls=0.1)
    n, radius = sizes.sights, sizes.radius
    rng = scene.rng(31)
    starts = rng.integers(0, scene.size, (n, 2))
    ways = rng.integers(-radius, radius + 1, (n, 2))
    goals = (
        rng.integers(0, scene.size, (n, 2)) if far else np.clip(starts + ways, 0, scene.size - 1)
    )
    pairs = np.stack([starts, goals], axis=1)

    def reference() -> Array:
        listed = pairs[:CHECKED].tolist()
        return np.array([sees_on_squares(scene.closed, tuple(a), tuple(b)) for a, b in listed])

    def tcod(clear: Array) -> Array:
        line = module("tcod.los").bresenham
        seen = np.empty(n, bool)
        for i, (start, goal) in enumerate(pairs.tolist()):
            cells = line(start, goal)[1:-1]
            seen[i] = clear[cells[:, 0], cells[:, 1]].all()
        return seen

    def query(made: fc.SightField) -> Array:
        return visible(made.sights(pairs))

    other = mostly(0.8 if not far else 0.6)
    ours = f"{OURS} sights"
    return Question(
        key,
        "sight lines",
        f"{n:,} sight lines on {scene.size}², "
        + ("any distance" if far else f"at most {radius} cells away"),
        [
            Answer(
                ours,
                build=lambda: square_field(scene),
                query=query,
                plain=lambda found: found[:CHECKED],
                per=n,
                compare=same,
            ),
            Answer(
                "NumPy, all at once",
                build=lambda: ~scene.closed,
                query=lambda clear: at_once(clear, pairs),
                plain=lambda found: found[:CHECKED],
                per=n,
                compare=other,
            ),
            Answer(
                "tcod.los.bresenham",
                build=lambda: ~scene.closed,
                needs="tcod.los",
                query=tcod,
                plain=lambda found: found[:CHECKED],
                per=n,
                compare=other,
            ),
        ],
        {"": reference},
        []
        if far
        else [
            Target("NumPy, all at once", 5, ours=ours),
            Target("tcod.los.bresenham", 50, ours=ours),
        ],
        unit="us",
        rounds=9,
        seconds=4,
        note="ours are exact lines; the peers' points along a line are another rule",
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    yield question(sizes, "sights-near", far=False)
    yield question(sizes, "sights-far", far=True)

"""How our costs grow with size: exponents fitted to times at several sizes."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.cores import cores
from benchmarks.harness import OURS, NotBuilt
from benchmarks.path import Asked
from benchmarks.reaches import BUDGET as POINTS
from benchmarks.reaches import Ground
from benchmarks.scenes import Noise
from benchmarks.sizes import Sizes
from benchmarks.view import Woods, square_field
from benchmarks.whole_map import field


@dataclass
class Curve:
    """Times of one question at several sizes; `measure` returns (size, seconds) for a side."""

    name: str
    size: str
    sides: list[int]
    points: Callable[[int], Callable[[], float]]
    """Given a side, prepares it and returns what asks once and returns seconds a question."""
    sizes: Callable[[int], float]


@dataclass
class Fit:
    """What came of a curve: sizes, least times, and the exponent."""

    name: str
    size: str
    at: list[float]
    seconds: list[float]
    status: str = ""

    @property
    def exponent(self) -> float:
        size, seconds = np.log(self.at), np.log(self.seconds)
        size -= size.mean()
        return float((size * seconds).sum() / (size * size).sum())


def timed(call: Callable[[], Any], per: int = 1) -> Callable[[], float]:
    """Return what calls once and returns the seconds a question took."""

    def once() -> float:
        begin = time.perf_counter()
        call()
        return (time.perf_counter() - begin) / per

    return once


def measure(curve: Curve, rounds: int) -> Fit:
    """Ask at each size in turn, round after round; the least time of each size counts."""
    fit = Fit(curve.name, curve.size, [curve.sizes(side) for side in curve.sides], [])
    try:
        asked = [curve.points(side) for side in curve.sides]
        for once in asked:
            once()  # compiles, and fills caches
        least = [math.inf] * len(asked)
        gc.collect()
        for _ in range(rounds):
            for i, once in enumerate(asked):
                least[i] = min(least[i], once())
    except (NotBuilt, AttributeError, TypeError, fc.FieldcraftError) as error:
        fit.status = f"not built: {error}"
        return fit
    fit.seconds = least
    return fit


def curves(sizes: Sizes) -> Iterator[Curve]:
    """Give the curves of a run."""
    quick = bool(sizes.rounds)
    maps = [16, 24, 32] if quick else [128, 256, 512, 1024, 2048]

    def cells(side: int) -> float:
        return float(side * side)

    def whole(rule: str, top: int) -> Callable[[int], Callable[[], float]]:
        def prepare(side: int) -> Callable[[], float]:
            scene = Noise(side, top=top)
            made = field(scene, rule)
            return timed(lambda: made.distances(scene.middle))

        return prepare

    yield Curve(f"{OURS} whole map, octile", "cells", maps, whole("octile", 4), cells)
    yield Curve(f"{OURS} whole map, hexes", "cells", maps, whole("hex", 4), cells)
    yield Curve(f"{OURS} breadth first", "cells", maps, whole("equidistant", 1), cells)

    def path(side: int) -> Callable[[], float]:
        asked = Asked(Noise(side), "octile", 10, 51)
        made, pairs = field(asked.scene, "octile"), asked.pairs
        return timed(lambda: [made.path(a, b) for a, b in pairs], len(pairs))

    yield Curve(f"{OURS} path, terrain 1 to 4", "cells", maps[:-1], path, cells)

    def reach(side: int) -> Callable[[], float]:
        scene = Noise(side)
        starts = scene.open_cells(8 * sizes.starts, 52)
        made = field(scene, "octile")
        return timed(lambda: [made.reach(start, 12).cells for start in starts], len(starts))

    sides = [20, 40] if quick else [100, 316, 1000, 3162, 10_000]
    yield Curve(f"{OURS} reach 12 (public call)", "cells of the map", sides, reach, cells)

    def budget(points: int) -> Callable[[], float]:
        scene = Noise(sizes.medium)
        starts = scene.open_cells(sizes.starts, 53)
        made = field(scene, "octile")
        return timed(lambda: [made.reach(start, points).cells for start in starts], len(starts))

    budgets = [4, 8] if quick else [12, 24, 48, 96]
    yield Curve(f"{OURS} reach", "budget", budgets, budget, float)

    def view(made: Any, scene: Noise) -> Callable[[int], Callable[[], float]]:
        def prepare(radius: int) -> Callable[[], float]:
            viewers = scene.open_cells(sizes.starts, 54)
            return timed(lambda: [made.view(at, radius).cells for at in viewers], len(viewers))

        return prepare

    radii = [3, 5] if quick else [5, 10, 20, 40]
    scene = Noise(sizes.medium, walls=0.1)
    yield Curve(f"{OURS} view, squares", "radius", radii, view(square_field(scene), scene), float)
    woods = Woods(sizes.hexes, "odd-r")
    yield Curve(f"{OURS} view, hexes", "radius", radii, view(woods.field(), woods.scene), float)

    def all_views(side: int) -> Callable[[], float]:
        made = Woods(side, "odd-r").field()
        return timed(lambda: made.views(None, sizes.radius).count)

    sides = [12, 16] if quick else [48, 96, 192, 384]
    yield Curve(f"{OURS} views of every cell", "cells", sides, all_views, cells)

    def reaches(side: int) -> Callable[[], float]:
        made: Any = Ground(side).field()
        return timed(lambda: made.reaches(POINTS).count)

    sides = [12, 16] if quick else [64, 128, 256, 512]
    yield Curve(f"{OURS} reach from every cell", "cells", sides, reaches, cells)

    def sights(n: int) -> Callable[[], float]:
        made = square_field(scene)
        starts = scene.rng(55).integers(0, scene.size, (n, 2))
        ways = scene.rng(56).integers(-sizes.radius, sizes.radius + 1, (n, 2))
        pairs = np.stack([starts, np.clip(starts + ways, 0, scene.size - 1)], axis=1)
        return timed(lambda: made.sights(pairs))

    counts = [20, 40] if quick else [100, 1000, 10_000, 100_000]
    yield Curve(f"{OURS} sight lines", "pairs", counts, sights, float)


def fits(sizes: Sizes) -> Iterator[Fit]:
    """Measure all curves."""
    for curve in curves(sizes):
        with cores(1):
            fit = measure(curve, 1 if sizes.rounds else 5)
        yield fit

"""What a line of sight adds up to, from the rules as they are written, one line at a time.

Obstruction counts in halves of a point. `None` stands for a sum that something opaque ends.
Heights are decimals, taken as they are printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy.typing as npt

from . import heights, hexlines, squarelines
from .graph import compass, neighbour

Cell = tuple[int, int]
Array = npt.NDArray[Any]


@dataclass
class SightSpec:
    """A map as sight meets it: obstruction in halves of a point, what is opaque, light, walls."""

    lattice: str
    height: int
    width: int
    between: Array
    at_target: Array | None = None
    at_viewer: Array | None = None
    adjacent_target: Array | None = None
    adjacent_viewer: Array | None = None
    opaque: Array | None = None
    light: Array | None = None
    walls: Array | None = None
    threshold: int | None = 4
    line: str = "crossed"
    tie: str = "worst-side"
    corners: str = "closed"
    failure_per_point: float = 0.0
    top: Array | None = None
    viewer_eyes: Array | None = None
    target_eyes: Array | None = None
    levels_apart: int = 0

    def has(self, cell: Cell) -> bool:
        """Whether the cell lies on the map."""
        return 0 <= cell[0] < self.height and 0 <= cell[1] < self.width

    def is_opaque(self, cell: Cell) -> bool:
        """Whether nothing is seen through the cell."""
        return self.opaque is not None and bool(self.opaque[cell])

    def is_high(self, a: Cell, b: Cell, cell: Cell) -> bool:
        """Whether the cell reaches up to the line from an eye in `a` to an eye in `b`."""
        if self.top is None or self.viewer_eyes is None or self.target_eyes is None:
            return False
        top = float(self.top[cell])
        if math.isnan(top) or math.isinf(top):
            return top == math.inf
        eyes = _decimal(self.viewer_eyes[a]), _decimal(self.target_eyes[b])
        return _decimal(top) >= heights.lowest(self.lattice, a, b, eyes, cell)

    def is_walled(self, cell: Cell, beyond: Cell) -> bool:
        """Whether a wall stands on the border of two cells, which have one if they are neighbours.

        Squares that touch at a corner have none.
        """
        if self.walls is None:
            return False
        lattice = "square4" if self.lattice == "square" else self.lattice
        return any(
            neighbour(lattice, cell, direction) == beyond and int(self.walls[cell]) >> direction & 1
            for direction in range(len(compass(lattice)))
        )


def _decimal(value: Any) -> Fraction:
    return Fraction(repr(float(value)))


@dataclass(frozen=True)
class Look:
    """What one line of sight comes to."""

    halves: int | None
    line: tuple[Cell, ...]
    pairs: tuple[tuple[Cell, Cell], ...]
    obstruction: int | None
    light: int
    visible: bool
    malus: int | None
    spell_failure: float | None


def distance(spec: SightSpec, a: Cell, b: Cell) -> int:
    """Return the number of steps between two cells; on squares a diagonal counts as one."""
    if spec.lattice.startswith("square"):
        return max(abs(a[0] - b[0]), abs(a[1] - b[1]))
    return hexlines.distance(spec.lattice, a, b)


def look(spec: SightSpec, a: Cell, b: Cell, light: int | None = None) -> Look:
    """Return what the viewer in `a` has against it when it looks at a target in `b`."""
    if a == b and not spec.levels_apart:
        return Look(0, (a,), (), 0, 0, True, 0, 0.0)
    value: float = 0
    passed: list[Cell] = []
    pairs: list[tuple[Cell, Cell]] = []
    if a == b:
        pass
    elif spec.lattice.startswith("square"):
        value, passed = _square_sum(spec, a, b)
    else:
        value, passed, pairs = _hex_sum(spec, a, b)
    near = distance(spec, a, b) + spec.levels_apart == 1
    of_viewer = spec.adjacent_viewer if near else spec.at_viewer
    of_target = spec.adjacent_target if near else spec.at_target
    at_viewer = 0 if of_viewer is None else int(of_viewer[a])
    at_target = 0 if of_target is None else int(of_target[b])
    # Two in one cell: it counts once.
    value += max(at_viewer, at_target) if a == b else at_viewer + at_target
    line = (a, *passed, b) if a != b else (a,)
    if light is None:
        light = 0 if spec.light is None else int(spec.light[b])
    if value == math.inf:
        return Look(None, line, tuple(pairs), None, light, False, None, None)
    halves = int(value)
    points = (halves + 1) // 2
    if spec.threshold is not None and points >= spec.threshold:
        return Look(halves, line, tuple(pairs), -points, light, False, None, None)
    malus = light - points
    failure = min(1.0, spec.failure_per_point * -malus)
    return Look(halves, line, tuple(pairs), -points, light, True, malus, failure)


def _hex_sum(
    spec: SightSpec, a: Cell, b: Cell
) -> tuple[float, list[Cell], list[tuple[Cell, Cell]]]:
    """Return (sum strictly between, hexes that counted, pairs); an infinite sum is opaque."""

    stages: list[tuple[Cell, Cell]] = []
    for left, right in hexlines.between(spec.lattice, a, b, spec.line):
        # A hex off the map takes no part: its partner stands for both.
        here = [cell for cell in (left, right) if spec.has(cell)]
        if here:
            stages.append((here[0], here[-1]))
    pairs = [stage for stage in stages if stage[0] != stage[1]]
    walls = list(_walls(spec, a, b, stages))
    weight = {cell: _weight(spec, a, b, cell) for stage in stages for cell in stage}
    weights = [(weight[left], weight[right]) for left, right in stages]
    lefts, rights = [left for left, _ in stages], [right for _, right in stages]
    left_sum, right_sum = (sum(both[side] for both in walls + weights) for side in (0, 1))
    if spec.tie == "worst-side":
        return max(left_sum, right_sum), lefts if left_sum >= right_sum else rights, pairs
    if spec.tie == "best-side":
        return min(left_sum, right_sum), lefts if left_sum <= right_sum else rights, pairs
    if spec.tie == "both":
        second = sum(weight[right] for _, right in pairs)
        return sum(map(max, walls)) + sum(left for left, _ in weights) + second, lefts, pairs
    choose, sign = (max, -1) if spec.tie == "worst-hex" else (min, 1)
    counted = [
        left if sign * weight[left] <= sign * weight[right] else right for left, right in stages
    ]
    return sum(map(choose, walls + weights)), counted, pairs


def _weight(spec: SightSpec, a: Cell, b: Cell, cell: Cell) -> float:
    ended = spec.is_opaque(cell) or spec.is_high(a, b, cell)
    return math.inf if ended else int(spec.between[cell])


def _walls(
    spec: SightSpec, a: Cell, b: Cell, stages: list[tuple[Cell, Cell]]
) -> Iterator[tuple[float, float]]:
    """Give for each border that is crossed, on the left and on the right, what a wall counts.

    The borders are those from stage to stage, each side from the hex before on the same side; at a
    pair they count by the same tie rule as the hexes do.
    """
    for before, after in pairwise([(a, a), *stages, (b, b)]):
        left, right = (
            math.inf if spec.is_walled(earlier, cell) else 0
            for earlier, cell in zip(before, after, strict=True)
        )
        yield left, right


def _square_sum(spec: SightSpec, a: Cell, b: Cell) -> tuple[float, list[Cell]]:
    """Return (sum strictly between, squares crossed); an infinite sum is opaque."""
    total: float = 0
    passed = []
    before = a
    stages = [*squarelines.between(a, b), squarelines.Square(b)]
    at_corner = False
    for stage in stages:
        if isinstance(stage, squarelines.Corner):
            at_corner = True
            ways = [_way_closed(spec, a, b, stage, side) for side in (stage.left, stage.right)]
            if spec.corners == "closed" and all(ways):
                total = math.inf
            continue
        cell = stage.cell
        if not at_corner and spec.is_walled(before, cell):
            total = math.inf
        at_corner = False
        before = cell
        if cell != b:
            passed.append(cell)
            total += _weight(spec, a, b, cell)
    return total, passed


def _way_closed(spec: SightSpec, a: Cell, b: Cell, corner: squarelines.Corner, side: Cell) -> bool:
    """Whether the way round a corner point through one of the squares beside it is closed."""
    return (
        spec.is_opaque(side)
        or spec.is_high(a, b, side)
        or spec.is_walled(corner.before, side)
        or spec.is_walled(side, corner.after)
    )

"""What a line of sight adds up to, from the rules as they are written, one line at a time.

Obstruction counts in halves of a point. `None` stands for a sum that something opaque ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from . import hexlines, squarelines
from .graph import neighbour

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

    def has(self, cell: Cell) -> bool:
        """Whether the cell lies on the map."""
        return 0 <= cell[0] < self.height and 0 <= cell[1] < self.width

    def is_opaque(self, cell: Cell) -> bool:
        """Whether nothing is seen through the cell."""
        return self.opaque is not None and bool(self.opaque[cell])

    def is_walled(self, cell: Cell, beyond: Cell) -> bool:
        """Whether a wall stands on the border of two squares side by side."""
        if self.walls is None:
            return False
        for direction in range(4):
            if neighbour("square4", cell, direction) == beyond:
                return bool(int(self.walls[cell]) >> direction & 1)
        raise AssertionError((cell, beyond))


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
    """Return the number of steps between two cells."""
    if not spec.lattice.startswith("square"):
        return hexlines.distance(spec.lattice, a, b)
    rows, cols = abs(a[0] - b[0]), abs(a[1] - b[1])
    return rows + cols if spec.lattice == "square4" else max(rows, cols)


def look(spec: SightSpec, a: Cell, b: Cell, light: int | None = None) -> Look:
    """Return what the viewer in `a` has against it when it looks at a target in `b`."""
    if spec.lattice.startswith("square"):
        value, passed = _square_sum(spec, a, b)
        pairs: list[tuple[Cell, Cell]] = []
    else:
        value, passed, pairs = _hex_sum(spec, a, b)
    near = distance(spec, a, b) <= 1
    for array, cell in (
        (spec.adjacent_viewer if near else spec.at_viewer, a),
        (spec.adjacent_target if near else spec.at_target, b),
    ):
        if array is not None:
            value += int(array[cell])
    line = (a,) if a == b else (a, *passed, b)
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

    def weight(cell: Cell) -> float:
        return math.inf if spec.is_opaque(cell) else int(spec.between[cell])

    stages: list[tuple[Cell, Cell]] = []
    for left, right in hexlines.between(spec.lattice, a, b, spec.line):
        # A hex off the map takes no part: its partner stands for both.
        here = [cell for cell in (left, right) if spec.has(cell)]
        if here:
            stages.append((here[0], here[-1]))
    pairs = [stage for stage in stages if stage[0] != stage[1]]
    lefts = [left for left, _ in stages]
    rights = [right for _, right in stages]
    left_sum, right_sum = sum(map(weight, lefts)), sum(map(weight, rights))
    if spec.tie == "worst-side":
        return max(left_sum, right_sum), lefts if left_sum >= right_sum else rights, pairs
    if spec.tie == "best-side":
        return min(left_sum, right_sum), lefts if left_sum <= right_sum else rights, pairs
    if spec.tie == "both":
        total = left_sum + sum(weight(right) for _, right in pairs)
        return total, lefts, pairs
    sign = {"worst-hex": -1, "best-hex": 1}[spec.tie]
    chosen = [
        left if sign * weight(left) <= sign * weight(right) else right for left, right in stages
    ]
    return sum(map(weight, chosen)), chosen, pairs


def _square_sum(spec: SightSpec, a: Cell, b: Cell) -> tuple[float, list[Cell]]:
    """Return (sum strictly between, squares crossed); an infinite sum is opaque."""
    total: float = 0
    passed = []
    before = a
    stages = [*squarelines.between(a, b), squarelines.Square(b)] if a != b else []
    at_corner = False
    for stage in stages:
        if isinstance(stage, squarelines.Corner):
            at_corner = True
            ways = [_way_closed(spec, stage, side) for side in (stage.left, stage.right)]
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
            total += math.inf if spec.is_opaque(cell) else int(spec.between[cell])
    return total, passed


def _way_closed(spec: SightSpec, corner: squarelines.Corner, side: Cell) -> bool:
    """Whether the way round a corner point through one of the squares beside it is closed."""
    return (
        spec.is_opaque(side)
        or spec.is_walled(corner.before, side)
        or spec.is_walled(side, corner.after)
    )

"""Lines between hexagon centres, by clipping the segment with hexagons in rational arithmetic.

The plane is stretched so that centres and corners have whole coordinates: with pointy tops half a
hexagon's width is 1 to the right and half its side is 1 down, so that a row is 3 down; with flat
tops the two axes change places. Stretching keeps straight lines straight and inside inside.
Rows grow downwards.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

Cell = tuple[int, int]
Point = tuple[int, int]

# A hexagon is where |f . (point - centre)| <= bound for these three forms (right, down, bound).
_POINTY = ((1, 0, 1), (1, 1, 2), (1, -1, 2))
_FLAT = ((0, 1, 1), (1, 1, 2), (1, -1, 2))
_POINTY_STEPS = ((1, -3), (2, 0), (1, 3), (-1, 3), (-2, 0), (-1, -3))
_FLAT_STEPS = ((0, -2), (3, -1), (3, 1), (0, 2), (-3, 1), (-3, -1))


class Item(NamedTuple):
    """One stage of a line: a hex (left = right), or two hexes it runs between."""

    left: Cell
    right: Cell

    @property
    def is_pair(self) -> bool:
        """Whether the line runs between two hexes here."""
        return self.left != self.right


def centre(layout: str, cell: Cell) -> Point:
    """Return the centre of a hex, (right, down)."""
    row, col = cell
    first = 1 if layout.startswith("odd") else 0
    if layout.endswith("r"):
        return 2 * col + (1 if row % 2 == first else 0), 3 * row
    return 3 * col, 2 * row + (1 if col % 2 == first else 0)


def hex_at(layout: str, point: Point) -> Cell:
    """Return the hex whose centre lies there."""
    x, y = point
    first = 1 if layout.startswith("odd") else 0
    if layout.endswith("r"):
        row = y // 3
        return row, (x - (1 if row % 2 == first else 0)) // 2
    col = x // 3
    return (y - (1 if col % 2 == first else 0)) // 2, col


def stretch(flat: bool, hexagon: Point, end: Point) -> tuple[int, int, bool] | None:
    """Return which stretch of the segment from (0, 0) to `end` lies in the closed hexagon.

    As (from, to, inside); `from` and `to` are fractions of the way, their common denominator
    (`denominator`) left out; `inside` tells whether the open stretch meets the interior (else it
    runs along an edge, or touches a corner). None if they do not meet.
    """
    whole = denominator(flat, end)
    low, high, inside = 0, whole, True
    for right, down, bound in _FLAT if flat else _POINTY:
        at_start = -(right * hexagon[0] + down * hexagon[1])
        along = right * end[0] + down * end[1]
        if along == 0:
            if abs(at_start) > bound:
                return None
            if abs(at_start) == bound:
                inside = False
            continue
        one, two = (-bound - at_start) * (whole // along), (bound - at_start) * (whole // along)
        low, high = max(low, min(one, two)), min(high, max(one, two))
    if low > high:
        return None
    return low, high, inside and low < high


@cache
def denominator(flat: bool, end: Point) -> int:
    """Return a denominator that serves every crossing of the segment with an edge."""
    product = 1
    for right, down, _ in _FLAT if flat else _POINTY:
        product *= abs(right * end[0] + down * end[1]) or 1
    return product


@cache
def _crossed(flat: bool, end: Point) -> tuple[tuple[Point, Point], ...]:
    """List (left, right) centres in order, ends left out, for the segment from (0, 0) to `end`."""
    # The closed hexagons that meet the segment hang together: look from each at its neighbours.
    met: dict[Point, tuple[int, int, bool]] = {}
    todo: list[Point] = [(0, 0)]
    seen = {(0, 0)}
    while todo:
        here = todo.pop()
        part = stretch(flat, here, end)
        if part is None:
            continue
        met[here] = part
        for right, down in _FLAT_STEPS if flat else _POINTY_STEPS:
            after = (here[0] + right, here[1] + down)
            if after not in seen:
                seen.add(after)
                todo.append(after)
    stages: dict[tuple[int, int], list[Point]] = {}
    for hexagon, (low, high, inside) in met.items():
        if hexagon in ((0, 0), end) or low == high:
            continue
        stages.setdefault((low, high), []).append(hexagon)
        assert inside or len(stages[low, high]) <= 2
    line = []
    for key in sorted(stages):
        hexagons = stages[key]
        if met[hexagons[0]][2]:
            assert len(hexagons) == 1, (end, hexagons)
            line.append((hexagons[0], hexagons[0]))
        else:
            assert len(hexagons) == 2, (end, hexagons)
            left, right = sorted(hexagons, key=lambda point: _side(end, point))
            assert _side(end, left) < 0 < _side(end, right)
            line.append((left, right))
    return tuple(line)


def _side(end: Point, point: Point) -> int:
    """Return a negative number for points left of the way to `end`, rows growing downwards."""
    return end[0] * point[1] - end[1] * point[0]


@cache
def _stepped(flat: bool, end: Point) -> tuple[tuple[Point, Point], ...]:
    """List the hex, or the two hexes, that hold each point that is a whole step along."""
    n_steps = steps(flat, end)
    line = []
    for step in range(1, n_steps):
        point = end[0] * step, end[1] * step
        holders = sorted(_holders(flat, point, n_steps), key=lambda centre: _side(end, centre))
        assert 1 <= len(holders) <= 2, (end, step, holders)
        line.append((holders[0], holders[-1]))
    return tuple(line)


def _holders(flat: bool, point: Point, whole: int) -> list[Point]:
    """List the centres of the closed hexagons that hold the point ``point / whole``."""
    if flat:
        return [(x, y) for y, x in _holders(False, point[::-1], whole)]
    px, py = point
    return [
        (x, 3 * row)
        for row in range((py - 2 * whole) // (3 * whole), (py + 2 * whole) // (3 * whole) + 2)
        for x in range(px // whole - 1, px // whole + 3)
        if (x - row) % 2 == 0
        and all(
            abs(right * (px - x * whole) + down * (py - 3 * row * whole)) <= bound * whole
            for right, down, bound in _POINTY
        )
    ]


def steps(flat: bool, end: Point) -> int:
    """Return how many steps lie between two hexes that far apart."""
    across, along = (abs(end[1]), abs(end[0])) if flat else (abs(end[0]), abs(end[1]))
    rows = along // 3
    return rows + max(0, across - rows) // 2


def distance(layout: str, a: Cell, b: Cell) -> int:
    """Return the number of steps between two hexes."""
    (ax, ay), (bx, by) = centre(layout, a), centre(layout, b)
    return steps(layout.endswith("q"), (bx - ax, by - ay))


def between(layout: str, a: Cell, b: Cell, line: str = "crossed") -> list[Item]:
    """Return the stages strictly between two hexes in order, map edges left out of account."""
    (ax, ay), (bx, by) = centre(layout, a), centre(layout, b)
    flat = layout.endswith("q")
    walk = _crossed if line == "crossed" else _stepped
    return [
        Item(
            hex_at(layout, (left[0] + ax, left[1] + ay)),
            hex_at(layout, (right[0] + ax, right[1] + ay)),
        )
        for left, right in walk(flat, (bx - ax, by - ay))
    ]


def within(layout: str, cell: Cell, radius: int) -> list[Cell]:
    """Return the hexes at most that far away, row by row."""
    row, col = cell
    return [
        (r, c)
        for r in range(row - radius, row + radius + 1)
        for c in range(col - radius, col + radius + 1)
        if distance(layout, cell, (r, c)) <= radius
    ]

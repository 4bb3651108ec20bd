"""Lines of sight in rational arithmetic and plain Python: what the answers about sight are held to.

A cell is on the line where its interior meets the segment between the two centres, ends left out.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import gcd
from typing import Any

from benchmarks.scenes import Array, Cell

BLOCKED = 10**6

# Hexagons with pointy tops, stretched so that centres and corners are whole: half a width is 1 to
# the right, half a side 1 down. A hexagon is where |a x + b y| <= bound for these three.
SIDES = ((1, 0, 1), (1, 1, 2), (1, -1, 2))


def sees_on_squares(opaque: Array, viewer: Cell, target: Cell) -> bool:
    """Tell whether no opaque square lies on the line, nor two that touch at a corner it passes."""
    d_row, d_col = target[0] - viewer[0], target[1] - viewer[1]
    crossed, corners = _squares(d_row, d_col)
    row, col = viewer

    def is_opaque(cell: Cell) -> bool:
        return bool(opaque[row + cell[0], col + cell[1]])

    return not any(map(is_opaque, crossed)) and not any(
        is_opaque(a) and is_opaque(b) for a, b in corners
    )


@cache
def _squares(d_row: int, d_col: int) -> tuple[list[Cell], list[tuple[Cell, Cell]]]:
    """Return the squares crossed, and the pairs beside corners passed exactly, from (0, 0)."""
    up, left = (-1 if d_row < 0 else 1), (-1 if d_col < 0 else 1)
    rows, cols = abs(d_row), abs(d_col)
    crossed = [
        (up * r, left * c)
        for r in range(rows + 1)
        for c in range(cols + 1)
        # Its corners lie on both sides of the line.
        if 2 * abs(rows * c - cols * r) < rows + cols and (r, c) not in ((0, 0), (rows, cols))
    ]
    corners = []
    n = gcd(rows, cols)
    if n and rows // n % 2 and cols // n % 2:
        for k in range(n):
            r, c = (rows // n * (2 * k + 1) - 1) // 2, (cols // n * (2 * k + 1) - 1) // 2
            corners.append(((up * r, left * (c + 1)), (up * (r + 1), left * c)))
    return crossed, corners


def centre(layout: str, cell: Cell) -> Cell:
    """Return the centre of a hex, (right, down) for pointy tops, the axes changed for flat ones."""
    row, col = cell if layout.endswith("r") else cell[::-1]
    return 2 * col + (row % 2 == layout.startswith("odd")), 3 * row


def hex_at(layout: str, point: Cell) -> Cell:
    """Return the hex with that centre."""
    row = point[1] // 3
    col = (point[0] - (row % 2 == layout.startswith("odd"))) // 2
    return (row, col) if layout.endswith("r") else (col, row)


def hex_steps(layout: str, a: Cell, b: Cell) -> int:
    """Return how many steps lie between two hexes."""
    (ax, ay), (bx, by) = centre(layout, a), centre(layout, b)
    rows = abs(by - ay) // 3
    return rows + max(0, abs(bx - ax) - rows) // 2


def halves_on_hexes(layout: str, between: Array, opaque: Array, viewer: Cell, target: Cell) -> int:
    """Return what a line takes off, in halves, along the worse side where it runs between hexes."""
    height, width = between.shape

    def taken(point: Cell) -> int | None:
        row, col = hex_at(layout, (point[0] + start[0], point[1] + start[1]))
        if not (0 <= row < height and 0 <= col < width):
            return None
        return BLOCKED if opaque[row, col] else int(between[row, col])

    start, end = centre(layout, viewer), centre(layout, target)
    single, pairs = _hexes(end[0] - start[0], end[1] - start[1])
    total = sum(taken(point) or 0 for point in single)
    sides = [0, 0]
    for left, right in pairs:
        both = [taken(left), taken(right)]
        # Of a pair with one hex off the map the other counts twice.
        both = [both[1 - i] if one is None else one for i, one in enumerate(both)]
        sides = [side + (one or 0) for side, one in zip(sides, both, strict=True)]
    return total + max(sides)


@cache
def _hexes(x: int, y: int) -> tuple[list[Cell], list[tuple[Cell, Cell]]]:
    """Return the hexes crossed, and the pairs the line runs between, from (0, 0) to (x, y)."""
    widest = max(2 * abs(x), abs(x) + abs(y))
    low_x, high_x, low_y, high_y = min(0, x) - 2, max(0, x) + 2, min(0, y) - 3, max(0, y) + 3
    single: list[Cell] = []
    beside: dict[tuple[Fraction, Fraction], list[tuple[int, Cell]]] = {}
    for py in range(low_y, high_y + 1, 3):
        for px in range(low_x, high_x + 1):
            side = x * py - y * px
            if (px - py) % 2 or (px, py) in ((0, 0), (x, y)) or abs(side) > widest:
                continue
            part, runs_along = _clip(px, py, x, y)
            if part is None:
                continue
            if runs_along:
                beside.setdefault(part, []).append((side, (px, py)))
            else:
                single.append((px, py))
    pairs = []
    for found in beside.values():
        (_, left), (_, right) = sorted(found)
        pairs.append((left, right))
    return single, pairs


def _clip(px: int, py: int, x: int, y: int) -> tuple[Any, bool]:
    """Return which part of the way lies in a hexagon, and whether only along an edge of it."""
    low, high, runs_along = Fraction(0), Fraction(1), False
    for a, b, bound in SIDES:
        along, at = a * x + b * y, a * px + b * py
        if along == 0:
            if abs(at) > bound:
                return None, False
            runs_along |= abs(at) == bound
            continue
        one, two = Fraction(at - bound, along), Fraction(at + bound, along)
        low, high = max(low, min(one, two)), min(high, max(one, two))
    return ((low, high), runs_along) if low < high else (None, False)

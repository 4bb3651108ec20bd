"""How high a line from eye to eye is over the cells it passes, by clipping it with polygons.

Everything is a fraction. The plane is that of `hexlines` for hexagons, where corners have whole
coordinates; squares have sides of 1. A stretch is given as fractions of the way from a to b.
"""

from __future__ import annotations

from fractions import Fraction

from . import hexlines

Cell = tuple[int, int]
Point = tuple[Fraction, Fraction]

_SQUARE = tuple((Fraction(x, 2), Fraction(y, 2)) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
_POINTY = tuple(
    (Fraction(x), Fraction(y)) for x, y in ((0, -2), (1, -1), (1, 1), (0, 2), (-1, 1), (-1, -1))
)
_FLAT = tuple((y, x) for x, y in reversed(_POINTY))  # turned over, so listed backwards


def centre(lattice: str, cell: Cell) -> Point:
    """Return the centre of a cell, (right, down)."""
    if lattice.startswith("square"):
        return Fraction(cell[1]), Fraction(cell[0])
    right, down = hexlines.centre(lattice, cell)
    return Fraction(right), Fraction(down)


def corners(lattice: str, cell: Cell) -> list[Point]:
    """Return the corners of a cell, in the order in which the inside lies to one side."""
    x, y = centre(lattice, cell)
    shape = _FLAT if lattice.endswith("q") else _POINTY
    if lattice.startswith("square"):
        shape = _SQUARE
    return [(x + right, y + down) for right, down in shape]


def stretch(lattice: str, a: Cell, b: Cell, cell: Cell) -> tuple[Fraction, Fraction] | None:
    """Return from where to where the line from centre to centre lies in a closed cell."""
    (ax, ay), (bx, by) = centre(lattice, a), centre(lattice, b)
    around = corners(lattice, cell)
    low, high = Fraction(0), Fraction(1)
    for (px, py), (qx, qy) in zip(around, [*around[1:], around[0]], strict=True):
        # Positive inside this side of the polygon; linear along the line.
        at_a = (qx - px) * (ay - py) - (qy - py) * (ax - px)
        at_b = (qx - px) * (by - py) - (qy - py) * (bx - px)
        if at_a < 0 and at_b < 0:
            return None
        if at_a < 0:
            low = max(low, at_a / (at_a - at_b))
        elif at_b < 0:
            high = min(high, at_a / (at_a - at_b))
    return (low, high) if low <= high else None


def lowest(lattice: str, a: Cell, b: Cell, eyes: tuple[Fraction, Fraction], cell: Cell) -> Fraction:
    """Return the least height of the line from eye to eye over a cell that it meets."""
    part = stretch(lattice, a, b, cell)
    assert part is not None, (a, b, cell)
    return min(eyes[0] + (eyes[1] - eyes[0]) * t for t in part)

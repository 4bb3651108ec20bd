"""Coordinates in which straight steps are constant vectors, for heuristics and lines.

Squares use (row, col). Hexagons use axial (q, r). The kinds are those of `LATTICE_KINDS`, in that
order; offset layouts differ only in how a row or a column is shifted.
"""

from __future__ import annotations

from fieldcraft_kernel._jit import jit

SQUARE, ODD_R, EVEN_R, ODD_Q, EVEN_Q = 0, 1, 2, 3, 4
LATTICE_KINDS = {
    "square4": SQUARE,
    "square": SQUARE,
    "odd-r": ODD_R,
    "even-r": EVEN_R,
    "odd-q": ODD_Q,
    "even-q": EVEN_Q,
}


@jit
def shift_of(kind: int, line: int) -> int:
    """Return how far axial and offset numbering differ on that row or column."""
    if kind == ODD_R or kind == ODD_Q:
        return (line - (line & 1)) >> 1
    return (line + (line & 1)) >> 1


@jit
def frame(kind: int, row: int, col: int) -> tuple[int, int]:
    """Return (row, col) of a square, or axial (q, r) of a hexagon."""
    if kind == SQUARE:
        return row, col
    if kind == ODD_R or kind == EVEN_R:
        return col - shift_of(kind, row), row
    return col, row - shift_of(kind, col)


@jit
def unframe(kind: int, x: int, y: int) -> tuple[int, int]:
    """Return (row, col) of what `frame` returned."""
    if kind == SQUARE:
        return x, y
    if kind == ODD_R or kind == EVEN_R:
        return y, x + shift_of(kind, y)
    return y + shift_of(kind, x), x

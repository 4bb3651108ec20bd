"""Lines between centres of squares, by clipping the segment with squares in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple

Cell = tuple[int, int]


class Square(NamedTuple):
    """A square whose interior the line meets."""

    cell: Cell


class Corner(NamedTuple):
    """A corner point the line passes exactly, with the squares on both sides of it."""

    before: Cell
    after: Cell
    left: Cell
    right: Cell


def _clip(cell: Cell, end: Cell) -> tuple[Fraction, Fraction] | None:
    """Return the stretch of the segment from (0, 0) to `end` in the closed square round `cell`."""
    low, high = Fraction(0), Fraction(1)
    for here, along in zip(cell, end, strict=True):
        if along == 0:
            if here != 0:
                return None
            continue
        one = (here - Fraction(1, 2)) / along
        two = (here + Fraction(1, 2)) / along
        low, high = max(low, min(one, two)), min(high, max(one, two))
    return (low, high) if low <= high else None


@cache
def _line(end: Cell) -> tuple[Square | Corner, ...]:
    """List squares and corners strictly between (0, 0) and `end`, in order."""
    # The closed squares that meet the segment hang together: look from each at its neighbours.
    met: dict[Cell, tuple[Fraction, Fraction]] = {}
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        here = todo.pop()
        part = _clip(here, end)
        if part is None:
            continue
        met[here] = part
        for row in (here[0] - 1, here[0], here[0] + 1):
            for col in (here[1] - 1, here[1], here[1] + 1):
                if (row, col) not in seen:
                    seen.add((row, col))
                    todo.append((row, col))
    crossed = sorted((cell for cell in met if met[cell][0] < met[cell][1]), key=met.__getitem__)
    touched = {cell: part[0] for cell, part in met.items() if part[0] == part[1]}
    line: list[Square | Corner] = []
    for before, after in pairwise(crossed):
        if before[0] != after[0] and before[1] != after[1]:
            point = met[after][0]
            sides = [cell for cell, t in touched.items() if t == point]
            assert len(sides) == 2, (end, before, after, sides)
            sides.sort(key=lambda cell: end[1] * cell[0] - end[0] * cell[1])
            line.append(Corner(before, after, sides[0], sides[1]))
        if after != end:
            line.append(Square(after))
    return tuple(line)


def between(a: Cell, b: Cell) -> list[Square | Corner]:
    """Return what the segment between two centres passes, in order, both end squares left out."""

    def move(cell: Cell) -> Cell:
        return cell[0] + a[0], cell[1] + a[1]

    return [
        Square(move(item.cell)) if isinstance(item, Square) else Corner(*map(move, item))
        for item in _line((b[0] - a[0], b[1] - a[1]))
    ]


def crossed(a: Cell, b: Cell) -> list[Cell]:
    """Return the squares strictly between whose interior the segment meets."""
    return [item.cell for item in between(a, b) if isinstance(item, Square)]

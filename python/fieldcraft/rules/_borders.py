"""Borders between cells as a creature meets them: barred, priced, opaque."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import cached_property
from fieldcraft.lattice import Cell, Lattice

if TYPE_CHECKING:
    from fieldcraft.body import Body

__all__ = ["Edges", "Parts", "crossings", "mask", "total"]

Part = tuple[str, int]
Parts = list[Part]
"""What a price is made of: a label and ticks each."""
Side = tuple[Cell, int]
"""A border, seen from a cell in a straight direction."""


def total(parts: Iterable[Part]) -> int:
    """Return the ticks of some parts together."""
    return sum(ticks for _, ticks in parts)


def mask(shape: tuple[int, int], sides: Iterable[Side]) -> npt.NDArray[np.uint8] | None:
    """Return one byte a cell with the bits of these borders, or None where there are none."""
    found: npt.NDArray[np.uint8] | None = None
    for (row, col), direction in sides:
        if found is None:
            found = np.zeros(shape, np.uint8)
        if 0 <= row < shape[0] and 0 <= col < shape[1]:
            found[row, col] |= 1 << direction
    return found


@dataclass(frozen=True)
class Edges:
    """The borders of a map as a creature meets them.

    Parameters
    ----------
    lattice : Lattice
    barred : frozenset of (cell, direction)
        Straight steps that may not be made.
    priced : mapping from (cell, direction) to parts
        What crossing costs, by straight step.
    opaque : frozenset of (cell, direction)
        Where sight ends, set on both sides.
    lifted : frozenset of (cell, direction)
        Straight steps that may rise at will, for nothing (a ladder).
    """

    lattice: Lattice
    barred: frozenset[Side] = frozenset()
    priced: Mapping[Side, tuple[Part, ...]] = field(default_factory=dict)
    opaque: frozenset[Side] = frozenset()
    lifted: frozenset[Side] = frozenset()

    @cached_property
    def inner(self) -> frozenset[Side]:
        """Borders barred both ways, on both of their sides."""
        lattice = self.lattice
        return frozenset(
            (cell, side)
            for cell, side in self.barred
            if (lattice.neighbor(cell, side), lattice.opposite(side)) in self.barred
        )

    def cropped(self, row: int, col: int, shape: tuple[int, int]) -> Edges:
        """Return the borders of a part of the map, whose first cell is (row, col)."""

        def inside(side: Side) -> bool:
            return row <= side[0][0] < row + shape[0] and col <= side[0][1] < col + shape[1]

        def moved(side: Side) -> Side:
            return (side[0][0] - row, side[0][1] - col), side[1]

        def some(sides: Iterable[Side]) -> frozenset[Side]:
            return frozenset(moved(side) for side in sides if inside(side))

        return Edges(
            self.lattice,
            some(self.barred),
            {moved(side): parts for side, parts in self.priced.items() if inside(side)},
            some(self.opaque),
            some(self.lifted),
        )


def crossings(edges: Edges, body: Body) -> dict[Side, tuple[Part, ...]]:
    """Return what the borders add to each step of a body, by its anchor and the direction.

    Of the borders that its leading side crosses the dearest is paid, once; a diagonal crosses those
    of both ways round its corner.
    """
    found: dict[Side, tuple[Part, ...]] = {}
    lattice = edges.lattice

    def offer(anchor: Cell, direction: int, parts: tuple[Part, ...]) -> None:
        known = found.get((anchor, direction))
        if known is None or total(parts) > total(known):
            found[anchor, direction] = parts

    for (cell, side), parts in edges.priced.items():
        for anchor in _anchors(body, cell, side):
            offer(anchor, side, parts)
            if lattice.n_directions != 8:
                continue
            for other, diagonal in (
                ((side + 1) % 4, 4 + side),
                ((side + 3) % 4, 4 + (side + 3) % 4),
            ):
                offer(anchor, diagonal, parts)
                offer(lattice.neighbor(anchor, (other + 2) % 4), diagonal, parts)
    return found


def _anchors(body: Body, cell: Cell, side: int) -> list[Cell]:
    """Return the anchors of the places that lead with a cell in that direction."""
    found = []
    for kind in range(2 if body.lattice.is_hex else 1):
        for j, (row, col) in enumerate(body.rows_cols[kind].tolist()):
            anchor = (cell[0] - row, cell[1] - col)
            if body.leading[kind, side, j] and int(body.lattice.parity(anchor)) == kind:
                found.append(anchor)
    return found

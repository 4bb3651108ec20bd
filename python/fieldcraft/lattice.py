"""Lattices: which cells neighbour which, and how far apart two cells are.

A lattice is the infinite tiling; a map is a window of it with a shape. Cells are ``(row, col)``
everywhere. Hexagonal maps keep their offset layout: ``odd-r`` and ``even-r`` have pointy tops and
push the odd or the even rows half a hex to the right; ``odd-q`` and ``even-q`` have flat tops and
push the odd or the even columns half a hex down. Rows and columns count from 0 and may be negative.

Direction numbers
-----------------
Squares: 0 north, 1 east, 2 south, 3 west, then 4 north-east, 5 south-east, 6 south-west,
7 north-west, so diagonal ``4 + i`` lies between the straight directions ``i`` and ``i + 1``.
Hexagons: clockwise from the top; with pointy tops 0 is north-east, with flat tops 0 is north.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, MapError, nearest

__all__ = [
    "LATTICES",
    "Cell",
    "Lattice",
    "LatticeName",
    "as_lattice",
    "hexagons",
    "rows_and_columns",
    "squares",
]

Cell = tuple[int, int]
LatticeName = Literal["square4", "square", "odd-r", "even-r", "odd-q", "even-q"]
Ints = npt.NDArray[np.int64]

LARGEST_INDEX = 1 << 40
"""No map reaches further; sums of such coordinates fit 64 bits."""

LATTICES: tuple[LatticeName, ...] = ("square4", "square", "odd-r", "even-r", "odd-q", "even-q")

_SQUARE = np.array(
    [(-1, 0), (0, 1), (1, 0), (0, -1), (-1, 1), (1, 1), (1, -1), (-1, -1)], dtype=np.int64
)
# Axial (q, r) deltas, clockwise; pointy tops start at north-east, flat tops at north.
_POINTY = np.array([(1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1)], dtype=np.int64)
_FLAT = np.array([(0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Lattice:
    """A tiling of the plane by squares or hexagons.

    Parameters
    ----------
    name : str
        ``"square4"`` (four neighbours), ``"square"`` (eight), or a hexagonal offset layout:
        ``"odd-r"``, ``"even-r"``, ``"odd-q"``, ``"even-q"``.

    Raises
    ------
    MapError
        If there is no lattice of that name.

    Examples
    --------
    >>> from fieldcraft import Lattice
    >>> Lattice("odd-r").distance((0, 0), (2, 1))
    2
    >>> Lattice("odd-q").neighbors((0, 0))
    [(-1, 0), (-1, 1), (0, 1), (1, 0), (0, -1), (-1, -1)]
    """

    name: LatticeName

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ArgumentTypeError(f"lattice must be a name, not {type(self.name).__name__}")
        if self.name not in LATTICES:
            raise MapError(
                f"unknown lattice {self.name!r}{nearest(self.name, LATTICES)}; "
                f"expected one of {', '.join(LATTICES)}"
            )

    # -- what kind of tiling ------------------------------------------------------------------

    @property
    def is_hex(self) -> bool:
        """Whether the cells are hexagons."""
        return not self.name.startswith("square")

    @property
    def is_flat(self) -> bool:
        """Whether the hexagons have flat tops (columns are shifted, not rows)."""
        return self.name.endswith("-q")

    @property
    def n_directions(self) -> int:
        """How many neighbours a cell has: 4, 8 or 6."""
        return 6 if self.is_hex else (4 if self.name == "square4" else 8)

    @property
    def n_straight(self) -> int:
        """How many of the directions are straight steps (the rest are diagonals)."""
        return 6 if self.is_hex else 4

    def opposite(self, direction: int) -> int:
        """Return the direction that leads back."""
        if self.is_hex:
            return (direction + 3) % 6
        return (direction + 2) % 4 if direction < 4 else 4 + (direction - 2) % 4

    # -- offset tables ------------------------------------------------------------------------

    def parity(self, cell: Cell | npt.ArrayLike) -> Ints:
        """Return the row set (0 or 1) that `offsets` uses for each cell; 0 on squares."""
        cells = self._whole(cell)
        if not self.is_hex:
            return np.zeros(cells.shape[:-1], dtype=np.int64)
        return cast(Ints, cells[..., 1 if self.is_flat else 0] & 1)

    def offsets(self) -> Ints:
        """Return the (row, col) deltas, shape (2, n_directions, 2), by parity and direction."""
        if not self.is_hex:
            rows = _SQUARE[: self.n_directions]
            return np.stack([rows, rows])
        origins = np.array([(0, 0), (0, 1) if self.is_flat else (1, 0)], dtype=np.int64)
        axial = self.to_axial(origins)[:, None, :] + self.axial_offsets()[None, :, :]
        return self.from_axial(axial) - origins[:, None, :]

    def axial_offsets(self) -> Ints:
        """Return the axial ``(q, r)`` deltas of the six hex directions, shape (6, 2)."""
        self._need_hex("axial coordinates")
        return (_FLAT if self.is_flat else _POINTY).copy()

    # -- coordinates --------------------------------------------------------------------------

    @staticmethod
    def _whole(cells: npt.ArrayLike) -> Ints:
        """Return coordinates as integers; what is none is refused, not cut."""
        array = np.asarray(cells)
        if array.dtype.kind not in "iu":
            raise ArgumentTypeError(f"cells must be whole numbers, not {array.dtype}")
        if array.size and not -LARGEST_INDEX <= array.min() <= array.max() <= LARGEST_INDEX:
            raise ArgumentTypeError(f"cells must lie within {LARGEST_INDEX:,} of the origin")
        return array.astype(np.int64)

    def _need_hex(self, what: str) -> None:
        if not self.is_hex:
            raise MapError(f"{what} belong to hexagonal lattices, this one is {self.name!r}")

    def _shift(self, line: Ints) -> Ints:
        """Return how far axial and offset numbering differ on that row or column."""
        odd = line & 1
        return (line - odd) // 2 if self.name.startswith("odd") else (line + odd) // 2

    def to_axial(self, cells: npt.ArrayLike) -> Ints:
        """Turn offset cells ``(row, col)`` into axial ``(q, r)``; shape (..., 2) in and out."""
        self._need_hex("axial coordinates")
        given = self._whole(cells)
        row, col = given[..., 0], given[..., 1]
        if self.is_flat:
            return np.stack([col, row - self._shift(col)], axis=-1)
        return np.stack([col - self._shift(row), row], axis=-1)

    def from_axial(self, axial: npt.ArrayLike) -> Ints:
        """Turn axial ``(q, r)`` into offset cells ``(row, col)``; shape (..., 2) in and out."""
        self._need_hex("axial coordinates")
        given = self._whole(axial)
        q, r = given[..., 0], given[..., 1]
        if self.is_flat:
            return np.stack([r + self._shift(q), q], axis=-1)
        return np.stack([r, q + self._shift(r)], axis=-1)

    def to_cube(self, cells: npt.ArrayLike) -> Ints:
        """Turn offset cells into cube ``(q, r, s)`` with q + r + s = 0; (..., 2) to (..., 3)."""
        axial = self.to_axial(cells)
        return np.concatenate([axial, -axial.sum(axis=-1, keepdims=True)], axis=-1)

    def from_cube(self, cube: npt.ArrayLike) -> Ints:
        """Turn cube ``(q, r, s)`` into offset cells; (..., 3) to (..., 2).

        Raises
        ------
        MapError
            If q + r + s is not 0.
        """
        given = self._whole(cube)
        if np.any(given.sum(axis=-1) != 0):
            raise MapError("cube coordinates must have q + r + s = 0")
        return self.from_axial(given[..., :2])

    # -- distances and neighbourhoods ---------------------------------------------------------

    def distances(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Ints:
        """Return the number of steps between cells; ``(..., 2)`` broadcast against ``(..., 2)``.

        On ``"square"`` a diagonal is one step; on ``"square4"`` there are no diagonals.
        """
        if self.is_hex:
            delta = np.abs(self.to_cube(a) - self.to_cube(b))
            return cast(Ints, delta.max(axis=-1))
        delta = np.abs(self._whole(a) - self._whole(b))
        if self.name == "square4":
            return cast(Ints, delta.sum(axis=-1))
        return cast(Ints, delta.max(axis=-1))

    def distance(self, a: Cell, b: Cell) -> int:
        """Return the number of steps from cell `a` to cell `b` on open ground."""
        return int(self.distances(a, b))

    def neighbors(self, cell: Cell) -> list[Cell]:
        """Return the neighbours of `cell` in direction order (they may lie off a map)."""
        deltas = self.offsets()[int(self.parity(cell))]
        return [(cell[0] + int(dr), cell[1] + int(dc)) for dr, dc in deltas]

    def neighbor(self, cell: Cell, direction: int, steps: int = 1) -> Cell:
        """Return the cell reached from `cell` by `steps` steps in one direction."""
        if not 0 <= direction < self.n_directions:
            raise MapError(f"direction {direction} is not one of 0 to {self.n_directions - 1}")
        if self.is_hex:
            axial = self.to_axial(cell) + steps * self.axial_offsets()[direction]
            row, col = self.from_axial(axial)
            return int(row), int(col)
        row, col = _SQUARE[direction]
        return cell[0] + steps * int(row), cell[1] + steps * int(col)

    def ring(self, cell: Cell, radius: int) -> list[Cell]:
        """Return the cells at exactly that distance, clockwise from the top (or top left)."""
        if not isinstance(radius, int | np.integer) or radius < 0:
            raise MapError(f"radius must be a whole number, 0 or more, not {radius!r}")
        if radius == 0:
            return [cell]
        return list(self._ring(cell, radius))

    def _ring(self, cell: Cell, radius: int) -> Iterator[Cell]:
        if self.is_hex:
            corner = np.array(self.to_axial(cell)) + radius * self.axial_offsets()[0]
            for side in range(6):
                delta = self.axial_offsets()[(side + 2) % 6]
                for _ in range(radius):
                    row, col = self.from_axial(corner)
                    yield int(row), int(col)
                    corner = corner + delta
            return
        row, col = cell
        if self.name == "square4":
            for i in range(radius):
                yield row - radius + i, col + i
            for i in range(radius):
                yield row + i, col + radius - i
            for i in range(radius):
                yield row + radius - i, col - i
            for i in range(radius):
                yield row - i, col - radius + i
            return
        for i in range(-radius, radius):
            yield row - radius, col + i
        for i in range(-radius, radius):
            yield row + i, col + radius
        for i in range(radius, -radius, -1):
            yield row + radius, col + i
        for i in range(radius, -radius, -1):
            yield row + i, col - radius

    def disc(self, cell: Cell, radius: int) -> list[Cell]:
        """Return the cells within that distance, ring by ring from the centre."""
        return [c for r in range(radius + 1) for c in self.ring(cell, r)]


def as_lattice(lattice: Lattice | str) -> Lattice:
    """Return a `Lattice` for a lattice or its name."""
    return lattice if isinstance(lattice, Lattice) else Lattice(cast(LatticeName, lattice))


@cache
def squares(side: int) -> tuple[Cell, ...]:
    """Return the cells of a body of side x side squares, (row, col) from the top-left one."""
    return tuple((row, col) for row in range(side) for col in range(side))


@cache
def rows_and_columns(lattice: Lattice, offsets: tuple[Cell, ...], parity: int) -> tuple[Cell, ...]:
    """Return axial offsets as (row, col) offsets from a cell of that parity."""
    anchor = next(c for c in ((0, 0), (1, 0), (0, 1)) if int(lattice.parity(c)) == parity)
    cells = lattice.from_axial(np.array(offsets) + lattice.to_axial(anchor)) - np.array(anchor)
    return tuple((row, col) for row, col in cells.tolist())


@cache
def hexagons(lattice: Lattice, n: int, facing: int) -> tuple[Cell, ...]:
    """Return the axial cells of a body of 1, 2, 3 or 7 hexagons around its anchor.

    Two: the anchor and the one it faces; three: also the next one clockwise; seven: the whole ring.
    """
    around: list[Cell] = [(q, r) for q, r in lattice.axial_offsets().tolist()]
    if n == 1:
        return ((0, 0),)
    if n == 7:
        return ((0, 0), *around)
    return ((0, 0), *(around[(facing + i) % 6] for i in range(n - 1)))

"""What a map is: terrain, borders, elevation and light as arrays. Data, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import SIZES, Size, as_cell
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.frozen import frozen
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.queries import on_map

__all__ = ["BORDER_KINDS", "Border", "Kind", "Perch", "Terrain"]

Kind = tuple[str, ...]
"""What a cell holds: a base terrain id, then its overlays."""

LEAST_LIGHT = -127
HIGHEST = 1_000_000
"""The largest height, in a system's unit: heights are compared in whole thousandths."""

BORDER_KINDS = ("wall", "low_wall", "door", "drop", "ladder", "price")


@dataclass(frozen=True, slots=True)
class Border:
    """Something that stands between two neighbouring cells.

    Parameters
    ----------
    cells : pair of cells
        The two cells, each ``(row, col)``.
    kind : str
        ``wall``, ``low_wall``, ``door``, ``drop`` (downhill from the first cell to the second),
        ``ladder``, or ``price`` (a price of its own and nothing else).
    open : bool
        For doors: whether it stands open.
    height, length : float, optional
        Of a drop, of a ladder, in the system's units.
    price : float, optional
        What crossing it costs, in the system's unit, on top of the cell beyond.
    one_way : bool
        Passable only from the first cell to the second.
    """

    cells: tuple[Cell, Cell]
    kind: str = "wall"
    open: bool = False
    height: float | None = None
    length: float | None = None
    price: float | None = None
    one_way: bool = False

    def __post_init__(self) -> None:
        try:
            first, second = self.cells
        except (TypeError, ValueError):
            raise MapError(f"a border needs two cells, not {self.cells!r}") from None
        pair = tuple(as_cell(cell, "cell of a border") for cell in (first, second))
        object.__setattr__(self, "cells", pair)
        for name in ("height", "length", "price", "open", "one_way"):
            value = getattr(self, name)
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
        for name in ("open", "one_way"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentTypeError(
                    f"{name} of a border must be true or false, not {getattr(self, name)!r}"
                )
        if self.kind not in BORDER_KINDS:
            raise MapError(
                f"unknown border kind {self.kind!r} between {pair[0]} and {pair[1]}; "
                f"expected one of {', '.join(BORDER_KINDS)}"
            )
        if self.kind == "price" and self.price is None:
            raise MapError(f"the border between {pair[0]} and {pair[1]} has kind 'price' and none")


@dataclass(frozen=True, slots=True)
class Perch:
    """A place in a tree where somebody may stay (HW-22).

    Parameters
    ----------
    cell : tuple of int
    level : int
        1 to 4.
    size : str
        The largest creature it bears.
    metres : float
        Its height above the ground of the cell.
    """

    cell: Cell
    level: int
    size: Size = "medium"
    metres: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cell", as_cell(self.cell, "cell of a perch"))
        if isinstance(self.level, bool) or self.level not in range(1, 5):
            raise MapError(
                f"a perch at {self.cell} must have a level from 1 to 4, not {self.level!r}"
            )
        if self.size not in SIZES:
            raise MapError(
                f"a perch at {self.cell} must bear a size ({', '.join(SIZES)}), not {self.size!r}"
            )
        metres = self.metres
        if isinstance(metres, bool) or not isinstance(metres, int | float | np.number):
            raise MapError(f"the height of a perch at {self.cell} must be a number, not {metres!r}")
        if not 0 < metres <= 1000:
            raise MapError(
                f"the height of a perch at {self.cell} must be above 0 metres, not {metres}"
            )
        object.__setattr__(self, "metres", float(metres))


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """A map as data.

    Parameters
    ----------
    lattice : Lattice
    codes : ndarray of uint16, shape (height, width)
        Index into `kinds` of each cell.
    kinds : tuple of tuples of str
        The distinct contents of cells: base terrain id first, then overlays.
    elevation : ndarray of float64, shape (height, width) or (0, 0)
        The top of each cell in the system's unit of height; (0, 0) where the map has none.
    light : ndarray of int8, shape (height, width) or (1, 1)
        Malus of a target there, 0 or negative; (1, 1) where it is the same everywhere.
    borders : tuple of Border
    perches : tuple of Perch
        At most one a cell and level.
    """

    lattice: Lattice
    codes: npt.NDArray[np.uint16]
    kinds: tuple[Kind, ...]
    elevation: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    light: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros((1, 1), np.int8))
    borders: tuple[Border, ...] = ()
    perches: tuple[Perch, ...] = ()

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.size == 0:
            raise MapError(f"a map needs at least one cell; its shape is {self.codes.shape}")
        for name in ("codes", "elevation", "light"):
            # A copy, so that what was given stays open to writing and cannot change the map.
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), order="C")))
        if self.has_elevation and self.elevation.shape != self.shape:
            raise MapError(f"elevation has shape {self.elevation.shape}, the map has {self.shape}")
        if self.light.shape not in ((1, 1), self.shape):
            raise MapError(f"light has shape {self.light.shape}, the map has {self.shape}")
        for most in (int(self.light.max()), int(self.light.min())):
            if not LEAST_LIGHT <= most <= 0:
                raise MapError(
                    f"light is the malus of a target, from {LEAST_LIGHT} to 0, not {most}"
                )
        if self.codes.dtype != np.uint16:
            raise MapError(f"codes must be uint16, not {self.codes.dtype}")
        if int(self.codes.max()) >= len(self.kinds):
            row, col = np.argwhere(self.codes >= len(self.kinds))[0]
            raise MapError(
                f"cell ({row}, {col}) has the code {self.codes[row, col]}, and there are "
                f"{len(self.kinds)} kinds of cells"
            )
        for border in self.borders:
            if not isinstance(border, Border):
                raise ArgumentTypeError(f"borders must be Border, not {type(border).__name__}")
            first, second = border.cells
            for cell in border.cells:
                self.check(cell, "cell of a border")
            if second not in self.lattice.neighbors(first):
                raise MapError(f"a border needs two neighbouring cells, not {first} and {second}")
        taken: set[tuple[Cell, int]] = set()
        for perch in self.perches:
            if not isinstance(perch, Perch):
                raise ArgumentTypeError(f"perches must be Perch, not {type(perch).__name__}")
            place = self.check(perch.cell, "cell of a perch"), perch.level
            if place in taken:
                raise MapError(f"two perches at {perch.cell} have the level {perch.level}")
            taken.add(place)

    def __setstate__(self, state: Any) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            value = frozen(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, value)

    def __getstate__(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in cells."""
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def has_elevation(self) -> bool:
        """Whether the map says how high its cells are."""
        return self.elevation.size > 0

    def kind(self, cell: Cell) -> Kind:
        """Return what the cell holds: base terrain id, then overlays."""
        row, col = self.check(cell)
        return self.kinds[self.codes[row, col]]

    def check(self, cell: Any, what: str = "cell") -> Cell:
        """Return the cell as two integers, or raise OutsideMapError."""
        return on_map(cell, self.shape, what)

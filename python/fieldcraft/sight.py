"""Sight: whether one cell is seen from another, how well, and everything seen from one cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import as_cell
from fieldcraft.frozen import Frozen
from fieldcraft.lattice import Cell

__all__ = ["HIDDEN", "Sight", "View"]

HIDDEN = -32768
"""The malus of a cell that is not seen, in `View.malus`."""

Line = tuple[npt.NDArray[np.int64], list[tuple[Cell, Cell]]]


@dataclass(frozen=True, eq=False)
class Sight(Frozen):
    """One sight line; true when the target is seen.

    Attributes
    ----------
    viewer, target : tuple of int
    visible : bool
    obstruction : int or None
        What the line takes off a shot, 0 or negative, in points; None where something opaque
        ends it. Reported in full beyond the threshold too.
    light : int
        The target's light malus, 0 or negative; no part of what hides it.
    malus : int or None
        Obstruction and light together; None when hidden.
    spell_failure : float or None
        Chance that a spell fails, 0 to 1; None when hidden.
    line : ndarray of int64, shape (n, 2)
        The cells from viewer to target, both included, along the side that counted.
    pairs : list of pairs of cells
        Where the line runs between two hexagons: ``(left, right)`` as one walks to the target.
    """

    viewer: Cell
    target: Cell
    visible: bool
    obstruction: int | None
    light: int
    malus: int | None
    spell_failure: float | None
    _trace: Callable[[], Line] = field(repr=False)

    def __bool__(self) -> bool:
        return self.visible

    def __getstate__(self) -> dict[str, Any]:
        # The line goes along, not the whole map that could trace it again.
        return {**self.__dict__, "_traced": self._traced, "_trace": _traced_already}

    @cached_property
    def _traced(self) -> Line:
        return self._trace()

    @property
    def line(self) -> npt.NDArray[np.int64]:
        """The cells from viewer to target, both included, shape (n, 2)."""
        return self._traced[0]

    @property
    def pairs(self) -> list[tuple[Cell, Cell]]:
        """The pairs of hexagons the line runs between, each ``(left, right)``."""
        return list(self._traced[1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sight):
            return NotImplemented
        return self._key == other._key

    __hash__ = None  # type: ignore[assignment]

    @property
    def _key(self) -> tuple[Any, ...]:
        return (
            self.viewer, self.target, self.visible, self.obstruction, self.light, self.malus,
            self.spell_failure,
        )  # fmt: skip


def _traced_already() -> Line:
    raise AssertionError("a sight that was pickled carries its line")


class View(Frozen):
    """Everything seen from one cell within a radius.

    Attributes
    ----------
    viewer : tuple of int
    radius : int
    cells : ndarray of int64, shape (n, 2)
        The cells seen, row by row; the viewer's own is always among them, with malus 0.
    maluses : ndarray of int16, shape (n,)
        The malus of each, 0 or negative, light included.
    """

    def __init__(
        self,
        viewer: Cell,
        radius: int,
        shape: tuple[int, int],
        cells: npt.NDArray[np.int64],
        maluses: npt.NDArray[np.int16],
    ) -> None:
        for array in (cells, maluses):
            array.flags.writeable = False
        self.viewer, self.radius, self.shape = viewer, radius, shape
        self.cells, self.maluses = cells, maluses

    @cached_property
    def malus(self) -> npt.NDArray[np.int16]:
        """The maluses as a map, shape (height, width); HIDDEN where nothing is seen."""
        array = np.full(self.shape, HIDDEN, np.int16)
        array[self.cells[:, 0], self.cells[:, 1]] = self.maluses
        array.flags.writeable = False
        return array

    @property
    def visible(self) -> npt.NDArray[np.bool_]:
        """Which cells are seen, as a map, shape (height, width)."""
        seen: npt.NDArray[np.bool_] = self.malus != HIDDEN
        return seen

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, cell: object) -> bool:
        row, col = as_cell(cell)
        height, width = self.shape
        inside = 0 <= row < height and 0 <= col < width
        return inside and bool(self.malus[row, col] != HIDDEN)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented
        return (
            (self.viewer, self.radius, self.shape) == (other.viewer, other.radius, other.shape)
            and np.array_equal(self.cells, other.cells)
            and np.array_equal(self.maluses, other.maluses)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"View({len(self)} cells from {self.viewer} within {self.radius})"

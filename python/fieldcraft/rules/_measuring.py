"""What the systems share about distances: how far apart creatures are, and who reaches whom.

On squares a distance is what the way there would cost over open ground, levels of the air taken
along; on hexagons it is hexes and levels together (HW-10, HW-25).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcraft.rules._gaits import Movement

if TYPE_CHECKING:
    from fieldcraft.creature import Token
    from fieldcraft.lattice import Cell, Lattice

__all__ = ["Measuring"]


class Measuring:
    """The part of a rule system that measures."""

    if TYPE_CHECKING:

        @property
        def ticks(self) -> int | Fraction: ...
        @property
        def cell_ticks(self) -> int: ...
        def _movement(self) -> Movement: ...
        def cells_of(self, token: Token, lattice: Lattice) -> list[Cell]: ...

    def level_of(self, token: Token) -> int:
        """Return on which level above the ground a token is: of flyers alone, from 1."""
        return max(1, token.level) if token.flying else 0

    def distances(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: Any = 0
    ) -> npt.NDArray[np.float64]:
        """Return how far apart cells are, in the system's unit of movement.

        Parameters
        ----------
        a, b : array_like of int, shape (..., 2)
            Cells, broadcast against each other.
        lattice : Lattice
        levels : int or array_like of int, shape (...), keyword-only
            How many levels lie between them.

        Returns
        -------
        ndarray of float64, shape (...)
        """
        cell = Fraction(self.cell_ticks) / self.ticks
        if lattice.is_hex:
            return np.asarray((lattice.distances(a, b) + levels) * float(cell), np.float64)
        away = np.abs(np.asarray(a, np.int64) - np.asarray(b, np.int64))
        steps, slants = away.sum(axis=-1), away.min(axis=-1)
        counts = self._movement()
        if lattice.n_directions == 4 or counts.straight_only:
            slants = np.zeros_like(slants)
        # A step of any kind takes a level along; where levels are left over, straight steps serve
        # as well as diagonals and take along more.
        slants = np.clip(steps - levels, 0, slants)
        steps = steps - slants
        climbs = np.maximum(levels - steps, 0)
        straight: Any = steps - slants + climbs
        if isinstance(counts.diagonal, str):
            dear = slants + 1 if counts.diagonal == "alternating-2" else slants
            cells = straight + slants + dear // 2
        else:
            along, across = counts.diagonal
            cells = straight + slants * across / along
        return np.asarray(cells * float(cell), np.float64)

    def distance(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: int = 0
    ) -> float:
        """Return the least distance between the cells of two bodies, in the unit of movement.

        Parameters
        ----------
        a, b : array_like of int, shapes (m, 2) and (k, 2)
        lattice, levels
            As in `distances`.
        """
        return float(self.distances(*_pairs(a, b), lattice, levels=levels).min())

    def steps_apart(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: int = 0
    ) -> int:
        """Return how many cells two bodies are apart: 1 when adjacent, 0 when they overlap.

        A diagonal is a step like any other, however the system charges it; parameters as in
        `distance`.
        """
        return int(self.cells_apart(*_pairs(a, b), lattice, levels=levels).min())

    def cells_apart(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: Any = 0
    ) -> npt.NDArray[np.int64]:
        """Return how many cells two cells are apart, each of one array from each of the other.

        Parameters as in `distances`; bodies are as far apart as their closest cells.
        """
        flat = lattice.distances(a, b)
        return np.asarray(flat + levels if lattice.is_hex else np.maximum(flat, levels), np.int64)

    def can_hit(self, attacker: Token, target: Token, lattice: Lattice) -> bool:
        """Return whether one token reaches another hand to hand, whatever stands between (HW-25).

        Its reach is counted in cells, see `steps_apart`.
        """
        levels = abs(self.level_of(attacker) - self.level_of(target))
        bodies = self.cells_of(attacker, lattice), self.cells_of(target, lattice)
        return self.steps_apart(*bodies, lattice, levels=levels) <= attacker.creature.reach


def _pairs(
    a: npt.ArrayLike, b: npt.ArrayLike
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return two lists of cells so that they broadcast to all pairs."""
    return np.asarray(a, np.int64)[:, None], np.asarray(b, np.int64)[None]

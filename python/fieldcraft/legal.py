"""Which steps are legal: open cells, corners and barred borders as one bit mask a cell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import RulesError, nearest
from fieldcraft.lattice import Lattice

__all__ = ["legal_steps", "windows"]


def legal_steps(
    lattice: Lattice,
    open_: npt.NDArray[np.bool_],
    *,
    solid: npt.NDArray[np.bool_] | None = None,
    corners: str = "both",
    barred: npt.NDArray[np.uint8] | None = None,
) -> npt.NDArray[np.uint8]:
    """Return the legal steps of every cell as a bit mask.

    Parameters
    ----------
    lattice : Lattice
    open_ : ndarray of bool, shape (height, width)
        Cells that may be entered.
    solid : ndarray of bool, shape (height, width), optional
        Cells that count as corners; by default those that are not open.
    corners : str
        What a diagonal step asks of the two cells beside it: ``"both"`` free of corners,
        ``"either"``, or nothing (``"free"``).
    barred : ndarray of uint8, shape (height, width), optional
        Bit k: the border in direction k may not be crossed from here. A diagonal is barred by a
        barred border on any of the four edges around the point it crosses.

    Returns
    -------
    ndarray of uint8, shape (height, width)
        Bit k: the step in direction k is legal.

    Raises
    ------
    RulesError
        If `corners` is unknown.
    """
    if corners not in ("both", "either", "free"):
        raise RulesError(
            f"unknown corners {corners!r}{nearest(corners, ('both', 'either', 'free'))}; "
            "expected 'both', 'either' or 'free'"
        )
    height, width = open_.shape
    if solid is None:
        solid = ~open_
    steps = np.zeros((height, width), np.uint8)
    offsets = lattice.offsets()
    for direction in range(lattice.n_directions):
        bit = np.uint8(1 << direction)
        for parity in range(2 if lattice.is_hex else 1):
            d_row, d_col = (int(x) for x in offsets[parity, direction])
            here, there = windows(height, width, d_row, d_col)
            ok = open_[there].copy()
            if lattice.is_hex:
                lines = np.arange(width)[here[1]] if lattice.is_flat else np.arange(height)[here[0]]
                mine = (lines & 1) == parity
                ok &= mine[None, :] if lattice.is_flat else mine[:, None]
            if barred is not None and direction < lattice.n_straight:
                ok &= (barred[here] & bit) == 0
            if direction >= lattice.n_straight:
                ok &= _diagonal_is_free(solid, barred, here, d_row, d_col, direction, corners)
            steps[here] |= np.where(ok, bit, np.uint8(0))
    return steps


def windows(
    height: int, width: int, d_row: int, d_col: int
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the cells whose neighbour at that offset is on the map, and those neighbours."""
    rows = slice(max(0, -d_row), height - max(0, d_row))
    cols = slice(max(0, -d_col), width - max(0, d_col))
    rows_there = slice(max(0, d_row), height - max(0, -d_row))
    cols_there = slice(max(0, d_col), width - max(0, -d_col))
    return (rows, cols), (rows_there, cols_there)


def _diagonal_is_free(
    solid: npt.NDArray[np.bool_],
    barred: npt.NDArray[np.uint8] | None,
    here: tuple[slice, slice],
    d_row: int,
    d_col: int,
    direction: int,
    corners: str,
) -> npt.NDArray[np.bool_]:
    """Tell where a diagonal step passes its corners and the four edges around its point."""
    vertical = 0 if d_row < 0 else 2
    horizontal = 1 if d_col > 0 else 3
    rows, cols = here
    beside_row = (slice(rows.start + d_row, rows.stop + d_row), cols)
    beside_col = (rows, slice(cols.start + d_col, cols.stop + d_col))
    if corners == "both":
        free = ~(solid[beside_row] | solid[beside_col])
    elif corners == "either":
        free = ~(solid[beside_row] & solid[beside_col])
    else:
        free = np.ones((rows.stop - rows.start, cols.stop - cols.start), bool)
    if barred is not None:
        v, h = np.uint8(1 << vertical), np.uint8(1 << horizontal)
        free &= (barred[here] & (v | h)) == 0
        free &= (barred[beside_row] & h) == 0
        free &= (barred[beside_col] & v) == 0
    return free

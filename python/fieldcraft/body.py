"""Bodies of several cells on a map: where they fit, which steps they take, what their cells ask.

A thin layer over `fieldcraft_kernel.bodies`: maps of shape (height, width) in and out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import cached_property, frozen
from fieldcraft.lattice import Cell, Lattice, rows_and_columns, squares
from fieldcraft_kernel import bodies as kernel

__all__ = ["Body", "Places", "Squeezed"]

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Masks = npt.NDArray[np.uint8]

THOUSANDTHS = 1000
"""Heights are compared in whole thousandths of their unit."""
BEYOND_ALL = 1 << 60
"""A height that nothing has."""


def thousandths(height: float) -> int:
    """Return a height in whole thousandths; an infinite one is beyond all."""
    return BEYOND_ALL if math.isinf(height) else round(height * THOUSANDTHS)


class Places(NamedTuple):
    """Where a body may be and go, as maps of shape (height, width), by its anchor.

    `on_map`: the whole body is on the map; `fits`: it may stand there; `steps`: bit k, the step in
    direction k is legal.
    """

    on_map: Bools
    fits: Bools
    steps: Masks


class Squeezed(NamedTuple):
    """Where a body squeezes, by the class of its place (see `fieldcraft_kernel.bodies.squeeze`).

    `cover` uint16 (classes, height, width), the cells of the window it covers as bits; `blocks`
    alike, the blocks it may be in; `moves` uint8 (classes + 1, classes + 1, height, width), the
    legal steps from one class to another, class 0 being the full place.
    """

    cover: npt.NDArray[np.uint16]
    blocks: npt.NDArray[np.uint16]
    moves: Masks


@dataclass(frozen=True)
class Body:
    """A body on a map of some size.

    Parameters
    ----------
    lattice : Lattice
    shape : tuple of int
        Height and width of the map.
    offsets : tuple of (int, int)
        The cells it covers from its anchor: rows and columns on squares, axial (q, r) on hexagons.
    """

    lattice: Lattice
    shape: tuple[int, int]
    offsets: tuple[Cell, ...] = ((0, 0),)

    @property
    def size(self) -> int:
        """How many cells it covers."""
        return len(self.offsets)

    @property
    def side(self) -> int:
        """Cells a side of a body of n x n squares."""
        return math.isqrt(self.size)

    @property
    def rows_cols(self) -> npt.NDArray[np.int64]:
        """Row and column of each cell from the anchor, by its parity, shape (2, m, 2)."""
        return _tables(self.lattice, self.offsets)[0]

    @property
    def leading(self) -> Bools:
        """Which cells have no other cell of the body in a straight direction, shape (2, 8, m)."""
        return _tables(self.lattice, self.offsets)[1]

    @cached_property
    def cells(self) -> npt.NDArray[np.int64]:
        """Flat offset of each cell in the padded map, by the anchor's parity, shape (2, m)."""
        return frozen(self.rows_cols @ np.array([self.shape[1] + 2, 1]))

    @cached_property
    def steps(self) -> npt.NDArray[np.int64]:
        """Flat step to each neighbour in the padded map, by parity, shape (2, 8)."""
        found = np.zeros((2, 8), np.int64)
        deltas = self.lattice.offsets()
        found[:, : self.lattice.n_directions] = deltas @ np.array([self.shape[1] + 2, 1])
        return frozen(found)

    @cached_property
    def parity(self) -> npt.NDArray[np.uint8]:
        """Parity of each cell of the padded map, flat."""
        height, width = self.shape
        padded = np.zeros((height + 2, width + 2), np.uint8)
        if self.lattice.is_flat:
            padded[:, (np.arange(-1, width + 1) & 1) == 1] = 1
        elif self.lattice.is_hex:
            padded[(np.arange(-1, height + 1) & 1) == 1] = 1
        return frozen(padded.ravel())

    def at(self, anchor: Cell) -> list[Cell]:
        """Return the cells it covers, on the map or off it."""
        kind = int(self.lattice.parity(anchor)) if self.lattice.is_hex else 0
        return [(anchor[0] + r, anchor[1] + c) for r, c in self.rows_cols[kind].tolist()]

    # -- maps in and out --------------------------------------------------------------------

    def pad(self, array: Array | None, dtype: Any, fill: Any = 0) -> Array:
        """Return a map as a flat padded array; none is an empty one."""
        if array is None:
            return np.zeros(0, dtype)
        height, width = self.shape
        padded = np.full((height + 2, width + 2), fill, dtype)
        padded[1:-1, 1:-1] = array
        return padded.ravel()

    def unpad(self, flat: Array) -> Array:
        """Return a flat padded array, or a stack of them, without its padding."""
        height, width = self.shape
        return flat.reshape(*flat.shape[:-1], height + 2, width + 2)[..., 1:-1, 1:-1]

    def _flat(self, dtype: Any) -> Array:
        return np.zeros((self.shape[0] + 2) * (self.shape[1] + 2), dtype)

    def on_map(self) -> Bools:
        """Return where the whole body is on the map, by its anchor."""
        if self.size == 1:
            return np.ones(self.shape, bool)
        everywhere = self.pad(np.ones(self.shape, bool), np.bool_)
        return self.unpad(self._place(everywhere, np.zeros(0, np.uint8))[0])

    def _place(self, open_: Array, inner: Array) -> tuple[Array, Array, Array]:
        on_map, clean, fits = (self._flat(np.bool_) for _ in range(3))
        kernel.place(
            open_, inner, *self.shape, self.parity, self.rows_cols, self.cells, self.steps,
            self.lattice.n_straight, on_map, clean, fits,
        )  # fmt: skip
        return on_map, clean, fits

    def places(
        self,
        open_: Bools,
        *,
        taken: Bools | None = None,
        solid: Bools | None = None,
        inner: Masks | None = None,
        barred: Masks | None = None,
        corners: str = "both",
        tops: Array | None = None,
        limit: float = 0.0,
        high: float | None = None,
        lifted: Masks | None = None,
    ) -> Places:
        """Return where the body may be and which steps are legal.

        Parameters
        ----------
        open_ : ndarray of bool, shape (height, width)
            Cells that may be entered.
        taken : ndarray of bool, shape (height, width), optional
            Open cells that no step may newly cover: who stands on one already may walk off.
        solid : ndarray of bool, shape (height, width), optional
            Cells with corners.
        inner, barred : ndarray of uint8, shape (height, width), optional
            Bit k: the border in straight direction k blocks both ways; may not be crossed from
            here.
        corners : str
            ``"both"``, ``"either"`` or ``"free"``.
        tops : ndarray of float, shape (height, width), optional
            Heights; a step that rises by `limit` or more is illegal, unless `lifted` (bit k at
            the anchor); what is `high` or more (`limit` if absent) above a place has corners.

        Returns
        -------
        Places
        """
        lattice = self.lattice
        on_map, clean, fits = self._place(self.pad(open_, np.bool_), self.pad(inner, np.uint8))
        steps = self._flat(np.uint8)
        heights = None if tops is None else np.rint(tops * THOUSANDTHS)
        kernel.step_masks(
            fits, clean, on_map, self.pad(taken, np.bool_), self.pad(solid, np.bool_),
            self.pad(barred, np.uint8), self.pad(heights, np.int64, -BEYOND_ALL),
            thousandths(limit), thousandths(limit if high is None else high),
            self.pad(lifted, np.uint8), kernel.CORNERS[corners], self.parity, self.cells,
            self.leading, self.steps, lattice.n_straight, lattice.n_directions, steps,
        )  # fmt: skip
        fits = self.unpad(fits)
        if taken is not None and taken.any():
            fits = fits & self.every(~taken, self.unpad(on_map))
        return Places(self.unpad(on_map), fits, self.unpad(steps))

    def worst(self, values: Array, on_map: Bools) -> Array:
        """Return the largest value that each place covers; the cell's own off the map."""
        return self._over(kernel.worst, values, on_map)

    def median(self, values: Array, on_map: Bools) -> Array:
        """Return the lower median of the values that each place covers."""
        return self._over(kernel.median, values, on_map)

    def every(self, flags: Bools, on_map: Bools) -> Bools:
        """Return the places with the flag on all cells they cover."""
        return self._over(kernel.every, flags, on_map)

    def _over(self, reduce_: Any, values: Array, on_map: Bools) -> Array:
        if self.size == 1:
            return values
        out = self._flat(values.dtype)
        padded = self.pad(values, values.dtype), self.pad(on_map, np.bool_)
        reduce_(padded[0], self.parity, self.cells, padded[1], out)
        return np.where(on_map, self.unpad(out), values)

    def worst_new(self, values: Array, on_map: Bools, direction: int) -> Array:
        """Return the largest value that a step newly covers, by the place entered."""
        if self.size == 1:
            return values
        out = self._flat(values.dtype)
        kernel.worst_new(
            self.pad(values, values.dtype), self.parity, self.cells, self.pad(on_map, np.bool_),
            self.steps, self.lattice.n_straight, direction, out,
        )  # fmt: skip
        return np.where(on_map, self.unpad(out), values)

    # -- squeezing --------------------------------------------------------------------------

    def squeezed(
        self,
        block: int,
        free: Bools,
        taken: Bools,
        full: Places,
        *,
        solid: Bools | None,
        inner: Masks | None,
        barred: Masks | None,
        corners: str,
        straight_only: bool = False,
        classes: int | None = None,
    ) -> Squeezed:
        """Return where a body of n x n squares squeezes, moving as a block x block body does.

        Parameters
        ----------
        block : int
        free : ndarray of bool, shape (height, width)
            Cells it may enter if no creature were there.
        taken : ndarray of bool, shape (height, width)
            Cells closed by a creature.
        full : Places
            Of the whole body, creatures considered.
        solid, inner, barred, corners
            As in `places`.
        straight_only : bool
            Whether there are no diagonals.
        classes : int, optional
            How many classes to keep; as many as there are without creatures if absent.

        Returns
        -------
        Squeezed
        """
        small = Body(self.lattice, self.shape, squares(block))
        rules: dict[str, Any] = {
            "solid": solid, "inner": inner, "barred": barred, "corners": corners,
        }  # fmt: skip
        borders = self.pad(inner, np.uint8)
        n_directions = self.lattice.n_straight if straight_only else self.lattice.n_directions
        mask = np.uint8((1 << n_directions) - 1)
        sizes = self.shape[1] + 2, self.side, block, n_directions
        if classes is None:
            alone = small.places(free, **rules)
            on_map, _, whole = self._place(self.pad(free, np.bool_), borders)
            classes = int(
                kernel.count_classes(
                    self.pad(free, np.bool_), borders, on_map, whole,
                    self.pad(alone.fits, np.bool_), self.pad(alone.steps & mask, np.uint8), *sizes,
                )
            )  # fmt: skip
        open_ = free & ~taken
        blocks = small.places(open_, **rules)
        block_fits, block_steps = (
            self.pad(blocks.fits, bool),
            self.pad(blocks.steps & mask, np.uint8),
        )
        full_fits, on_map = self.pad(full.fits, np.bool_), self.pad(full.on_map, np.bool_)
        n_classes = self._flat(np.uint8)
        cover, which = (np.zeros((classes, len(n_classes)), np.uint16) for _ in range(2))
        kernel.squeeze(
            self.pad(open_, np.bool_), self.pad(taken, np.bool_), borders,
            on_map, full_fits, block_fits, block_steps, *sizes,
            n_classes, cover, which,
        )  # fmt: skip
        moves = np.zeros((classes + 1, classes + 1, len(n_classes)), np.uint8)
        if classes:
            kernel.squeeze_steps(
                on_map, full_fits, n_classes, which, block_fits, block_steps, *sizes, moves
            )
        return Squeezed(self.unpad(cover), self.unpad(which), self.unpad(moves))

    def worst_covered(self, values: Array, cover: Array) -> Array:
        """Return the largest value over the cells of each window that `cover` names; else 0."""
        out = self._flat(values.dtype)
        kernel.worst_covered(
            self.pad(values, values.dtype), self.pad(cover, np.uint16), self.side,
            self.shape[1] + 2, out,
        )  # fmt: skip
        return self.unpad(out)

    def every_covered(self, flags: Bools, cover: Array) -> Bools:
        """Return the windows where all cells that `cover` names have the flag."""
        out = self._flat(np.bool_)
        kernel.every_covered(
            self.pad(flags, np.bool_), self.pad(cover, np.uint16), self.side, self.shape[1] + 2, out
        )
        return self.unpad(out)


@cache
def _tables(lattice: Lattice, offsets: tuple[Cell, ...]) -> tuple[npt.NDArray[np.int64], Bools]:
    """Return `Body.rows_cols` and `Body.leading`, which do not depend on the map."""
    rows_cols = np.zeros((2, len(offsets), 2), np.int64)
    leading = np.zeros((2, 8, len(offsets)), bool)
    for kind in range(2):
        anchor = (kind, kind) if lattice.is_hex else (0, 0)
        cells = rows_and_columns(lattice, offsets, kind) if lattice.is_hex else offsets
        rows_cols[kind] = cells
        places = [(anchor[0] + row, anchor[1] + col) for row, col in cells]
        for j, place in enumerate(places):
            for k, beyond in enumerate(lattice.neighbors(place)[: lattice.n_straight]):
                leading[kind, k, j] = beyond not in places
    return frozen(rows_cols), frozen(leading)

"""What a map does to sight lines, `SightField`, and its queries."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fieldcraft.all_views import AllViews
from fieldcraft.errors import ArgumentTypeError, CostError, MapError, RulesError, nearest
from fieldcraft.frozen import Frozen, frozen
from fieldcraft.kernel_arrays import sight_arrays, sight_scratch
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.line_tables import (
    Fan,
    PairLines,
    Shadows,
    Shelf,
    fan_of,
    pair_lines_of,
    shadows_of,
    size_of,
)
from fieldcraft.queries import Batch, batch_array, checked_cells, on_map, spread
from fieldcraft.sight import HIDDEN, LEAST_MALUS, Line, Passed, Sight, Sights, View
from fieldcraft.terrain import HIGHEST
from fieldcraft_kernel import lines as lines_
from fieldcraft_kernel import pairs as pairs_
from fieldcraft_kernel import shadows as shadows_
from fieldcraft_kernel import sight as kernel
from fieldcraft_kernel import views as views_
from fieldcraft_kernel.inside import SightArrays, SightScratch
from fieldcraft_kernel.lattice import LATTICE_KINDS

__all__ = ["TIES", "SightField", "stack_views", "trace"]

Array = npt.NDArray[Any]
Halves = npt.NDArray[np.int64]

TIES = {
    "worst-side": kernel.WORST_SIDE,
    "best-side": kernel.BEST_SIDE,
    "worst-hex": kernel.WORST_HEX,
    "best-hex": kernel.BEST_HEX,
    "both": kernel.BOTH,
}
LINES = ("crossed", "stepped")
CORNERS = ("closed", "open")
MAX_HALVES = 253
LONGEST_LINE = 1 << 24
THOUSANDTHS = 1000
"""Parts of a unit of height: what the kernel counts in."""
TABLE_BYTES = 64 << 20
"""How much the line templates of one field may take; where those of one radius would take more,
lines are walked."""
BYTES_AN_ENTRY = 11
QUICK_PAIRS = 8192
"""Of pairs of some 20 cells so many are worth a thread's while: half a millisecond."""
RADIUS_STEP = 10
"""Tables of the lines of pairs have radii that are multiples of this."""
WIDEST_TABLE = 60
"""The largest radius of such a table."""
TABLES_AT_HAND = 2
"""For how many radii a field holds its table; for others it asks the shelf that all share."""


def _choice(value: Any, known: Any, what: str) -> None:
    if value not in known:
        raise RulesError(
            f"unknown {what} {value!r}{nearest(str(value), known)}; "
            f"expected one of {', '.join(known)}"
        )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def neighbour_vectors(lattice: Lattice) -> npt.NDArray[np.int64]:
    """Return the frame vectors of the straight directions, shape (4 or 6, 2)."""
    return lattice.axial_offsets() if lattice.is_hex else lattice.offsets()[0, :4]


def trace(lattice: Lattice, viewer: Cell, target: Cell, *, line: str = "crossed") -> Array:
    """Return the entries of a line, ends left out, as the kernel lists them.

    Returns
    -------
    ndarray of int64, shape (n, 5)
        Row and column of the left cell, of the right cell, and what the entry is: 0 one cell,
        1 a pair, 2 (squares) a corner point passed exactly.
    """
    _choice(line, LINES, "line")
    ends = np.array([viewer, target], np.int64)
    frame = lattice.to_axial(ends) if lattice.is_hex else ends
    dx, dy = (int(x) for x in frame[1] - frame[0])
    if max(abs(dx), abs(dy)) > LONGEST_LINE:
        raise CostError(
            f"a line may be {LONGEST_LINE:,} cells long; {viewer} to {target} is longer"
        )
    out = np.empty((lines_.longest(dx, dy), lines_.N_FIELDS), np.int64)
    n = lines_.line(int(lattice.is_hex), int(line == "stepped"), dx, dy, out)
    cells = out[:n, :4].reshape(-1, 2, 2) + frame[0]
    if lattice.is_hex:
        cells = lattice.from_axial(cells)
    return np.concatenate([cells.reshape(-1, 4), out[:n, 4:]], axis=1)


class SightField(Frozen):
    """What every cell takes off a sight line, compiled for one viewer and one kind of target.

    Parameters
    ----------
    lattice : Lattice
    shape : tuple of int
        Height and width in cells.
    between : ndarray of uint8, shape (height, width)
        Obstruction in halves of a point where the cell lies strictly between the two ends.
    at_target, at_viewer : ndarray of uint8, optional
        The same where it is the target's or the viewer's cell, at a distance of 2 or more.
    adjacent_target, adjacent_viewer : ndarray of uint8, optional
        The same at a distance of 1. None of the four: nothing.
    opaque : ndarray of bool, optional
        Cells that end a line when strictly between its ends, so that they are themselves seen.
    light : ndarray of int, shape (height, width) or (1, 1), optional
        Malus of a target there, 0 or negative.
    walls : ndarray of uint8, optional
        Bit k: no sight across the border in straight direction k; set on both of its sides.
    threshold : int, optional
        Points of obstruction that hide a target; None: nothing hides but what is opaque.
    line : str
        ``"crossed"`` (every hex whose interior the line meets) or ``"stepped"`` (one a step).
    tie : str
        How the two hexes of a pair count: ``"worst-side"``, ``"best-side"``, ``"worst-hex"``,
        ``"best-hex"`` or ``"both"``.
    corners : str
        Whether two opaque squares that touch at a corner are ``"closed"`` or ``"open"`` there.
    failure_per_point : float
        Chance of spell failure for each point of malus.
    top : ndarray of float, shape (height, width), optional
        Height up to which a cell strictly between ends a line, which runs straight from eye to
        eye: where it reaches the least height the line has over that cell. NaN or minus
        infinity: it does not; what is `opaque` does whatever its top. At a corner of squares
        that a line passes exactly, both tops together end it where both reach the line there.
    viewer_eyes, target_eyes : ndarray of float, shape (height, width) or (1, 1), optional
        How high the eye of a viewer, and of a target, is that stands in the cell; given if `top`
        is. All heights are in one unit, kept in whole thousandths.
    levels_apart : int
        Difference of the levels of viewer and target. The distance that tells what the two ends
        count is the cells' and this; in one cell and not adjacent, the cell counts once.

    Raises
    ------
    MapError, RulesError, CostError
        If an array has the wrong shape or values, or a parameter is unknown; if there are heights
        and the line is ``"stepped"``.
    """

    def __init__(
        self,
        lattice: Lattice,
        shape: tuple[int, int],
        *,
        between: Array,
        at_target: Array | None = None,
        at_viewer: Array | None = None,
        adjacent_target: Array | None = None,
        adjacent_viewer: Array | None = None,
        opaque: Array | None = None,
        light: Array | None = None,
        walls: Array | None = None,
        threshold: int | None = 4,
        line: str = "crossed",
        tie: str = "worst-side",
        corners: str = "closed",
        failure_per_point: float = 0.0,
        top: Array | None = None,
        viewer_eyes: Array | None = None,
        target_eyes: Array | None = None,
        levels_apart: int = 0,
    ) -> None:
        height, width = shape
        if height < 1 or width < 1:
            raise MapError(f"a map needs at least one cell; its shape is {shape}")
        _choice(line, LINES, "line")
        _choice(tie, TIES, "tie")
        _choice(corners, CORNERS, "corners")
        if line == "stepped" and not lattice.is_hex:
            raise RulesError("line='stepped' is for hexagons; lines on squares are 'crossed'")
        if threshold is not None and not _is_whole(threshold):
            raise ArgumentTypeError(f"threshold must be whole points or None, not {threshold!r}")
        if threshold is not None and threshold <= 0:
            raise CostError(f"threshold must be above 0 points, not {threshold}")
        if not _is_whole(levels_apart) or levels_apart < 0:
            raise ArgumentTypeError(
                f"levels_apart must be a whole number, 0 or more, not {levels_apart!r}"
            )
        self.lattice, self.shape = lattice, (int(height), int(width))
        self.levels_apart = int(levels_apart)
        threshold = None if threshold is None else int(threshold)
        self.threshold, self.line, self.tie, self.corners = threshold, line, tie, corners
        self.failure_per_point = failure_per_point
        halves = self._halves(between, "between")
        self.between = frozen(halves)
        self.at_target = self._end(at_target, "at_target")
        self.at_viewer = self._end(at_viewer, "at_viewer")
        self.adjacent_target = self._end(adjacent_target, "adjacent_target")
        self.adjacent_viewer = self._end(adjacent_viewer, "adjacent_viewer")
        self.opaque = frozen(
            self._shaped(np.zeros(shape, bool) if opaque is None else opaque, "opaque", np.bool_)
        )
        self.light = self._light(light)
        cover = np.full((height + 2, width + 2), kernel.OFF_MAP, np.uint8)
        cover[1:-1, 1:-1] = np.where(self.opaque, np.uint8(kernel.OPAQUE), halves)
        self._cover = frozen(cover.reshape(-1))
        padded_walls = np.zeros((0, 0), np.uint8)
        if walls is not None:
            padded_walls = np.zeros((height + 2, width + 2), np.uint8)
            bits = self._shaped(walls, "walls", np.uint8)
            if bits.min() < 0 or bits.max() > 255:
                raise MapError("walls must be bit masks from 0 to 255")
            padded_walls[1:-1, 1:-1] = bits
            if not bits.any():
                padded_walls = padded_walls[:0]
        self._walls = frozen(padded_walls.reshape(-1))
        self._tops, self._from_eyes, self._to_eyes = self._heights(top, viewer_eyes, target_eyes)
        self._neighbours = frozen(neighbour_vectors(lattice))
        self._tables: Shelf[tuple[Array, kernel.Templates]] = Shelf(TABLE_BYTES)
        self._maps, self._barred = self._in_rows()
        self._planes, self._rules = self._laid_out()
        self._plain = not (self._walls.size or self._tops.size or self.levels_apart)
        self._solid = self._bits()
        self._at_hand: dict[int, tuple[Fan | Shadows | None, int]] = {}
        self._lanes: tuple[int, Any] = (-1, None)

    def _bits(self) -> npt.NDArray[np.uint64]:
        """Return opaque squares as bits, shape (1, height, words), if nothing else counts."""
        if self.lattice.is_hex or not self._plain or self._planes.size or self.between.any():
            return np.zeros((0, 0, 0), np.uint64)
        return frozen(bits_of(self.opaque)[None])

    def _in_rows(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return cover and walls as a stack of one padded map; no walls, no map of them."""
        padded = (self.shape[0] + 2, self.shape[1] + 2)
        n_walls = int(self._walls.size > 0)
        walls = self._walls.reshape((n_walls, *padded) if n_walls else (0, 0, 0))
        return self._cover.reshape(1, *padded), walls

    def _laid_out(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return what the ends count as planes, one for all that are equal, and the rules."""
        given = (self.at_viewer, self.adjacent_viewer, self.at_target, self.adjacent_target)
        planes: list[npt.NDArray[np.uint8]] = []
        which = []
        for plane in given:
            if plane is None or not plane.any():
                which.append(-1)
                continue
            same = [i for i, known in enumerate(planes) if np.array_equal(known, plane)]
            which.append(same[0] if same else len(planes))
            if not same:
                planes.append(plane)
        rules = np.zeros(views_.N_RULES, np.int64)
        rules[views_.HEIGHT], rules[views_.WIDTH] = self.shape
        rules[views_.KIND] = LATTICE_KINDS[self.lattice.name]
        rules[views_.TIE] = TIES[self.tie]
        rules[views_.CLOSED_CORNERS] = self.corners == "closed"
        rules[views_.LIMIT] = self._limit
        rules[views_.THRESHOLD] = min(self.threshold or 0, kernel.BLOCKED)
        rules[views_.PARITY_OF_ROW] = self.lattice.is_hex and not self.lattice.is_flat
        rules[views_.PARITY_OF_COL] = self.lattice.is_hex and self.lattice.is_flat
        rules[views_.VIEWER_FAR : views_.TARGET_NEAR + 1] = which
        if len(planes) == 1:
            return planes[0].reshape(1, *self.shape), frozen(rules)
        stacked = np.array(planes, np.uint8) if planes else np.zeros((0, 0, 0), np.uint8)
        return frozen(stacked), frozen(rules)

    @property
    def _limit(self) -> int:
        """The sum of halves that is enough to hide."""
        # No sum comes near BLOCKED, so a threshold that does hides nothing but what is opaque.
        return min(kernel.BLOCKED, 2 * (self.threshold or kernel.BLOCKED) - 1)

    def _shaped(self, array: Any, name: str, dtype: Any) -> Array:
        array = np.asarray(array)
        if array.shape != self.shape:
            raise MapError(f"{name} has shape {array.shape}, the map has {self.shape}")
        if (array.dtype == np.bool_) != (dtype is np.bool_) or array.dtype.kind not in "biu":
            raise MapError(f"{name} must be an array of {np.dtype(dtype)}, not {array.dtype}")
        return np.array(array, order="C")  # a copy: what is given stays open to writing

    def _halves(self, array: Any, name: str) -> npt.NDArray[np.uint8]:
        array = self._shaped(array, name, np.uint8)
        if array.max() > MAX_HALVES or array.min() < 0:
            raise CostError(f"{name} must lie between 0 and {MAX_HALVES} halves, not {array.max()}")
        halves: npt.NDArray[np.uint8] = array.astype(np.uint8)
        return halves

    def _end(self, array: Any, name: str) -> npt.NDArray[np.uint8] | None:
        return None if array is None else frozen(self._halves(array, name))

    def _light(self, light: Any) -> npt.NDArray[np.int8]:
        array = np.zeros((1, 1), np.int8) if light is None else np.asarray(light)
        if array.shape not in ((1, 1), self.shape) or array.dtype.kind not in "iu":
            raise MapError(
                f"light must be whole numbers of shape {self.shape}, not {array.shape} of "
                f"{array.dtype}"
            )
        if array.max() > 0 or array.min() < -127:
            raise CostError("light is the malus of a target, 0 or negative (to -127)")
        return frozen(array.astype(np.int8))

    def _heights(self, top: Any, viewer_eyes: Any, target_eyes: Any) -> tuple[Array, Array, Array]:
        """Return padded tops and the eyes in thousandths, all empty where no cell is too high."""
        nothing = frozen(np.zeros((0, 0), np.int64))
        none = nothing, nothing, nothing
        if top is None and viewer_eyes is None and target_eyes is None:
            return none
        if top is None or viewer_eyes is None or target_eyes is None:
            raise MapError("top, viewer_eyes and target_eyes are given together or not at all")
        if self.line == "stepped":
            raise RulesError(
                "heights need the line itself: line='stepped' has none over a cell; use 'crossed'"
            )
        inner = _thousandths(top, "top", (self.shape,), unlimited=True)
        shapes = self.shape, (1, 1)
        eyes = [
            _thousandths(viewer_eyes, "viewer_eyes", shapes),
            _thousandths(target_eyes, "target_eyes", shapes),
        ]
        if inner.max() < min(array.min() for array in eyes):
            return none
        height, width = self.shape
        tops = np.full((height + 2, width + 2), kernel.NO_TOP, np.int64)
        tops[1:-1, 1:-1] = inner
        return frozen(tops.reshape(-1)), frozen(eyes[0]), frozen(eyes[1])

    def __getstate__(self) -> dict[str, Any]:
        dropped = ("_tables", "_at_hand", "_lanes", "_maps", "_barred")
        return {k: v for k, v in self.__dict__.items() if k not in dropped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._tables = Shelf(TABLE_BYTES)
        self._at_hand, self._lanes = {}, (-1, None)
        self._maps, self._barred = self._in_rows()

    # -- sums along lines -----------------------------------------------------------------------

    def _look(
        self,
        viewers: Array,
        targets: Array,
        *,
        lines: Array | None = None,
        templates: kernel.Templates | None = None,
        exact: bool = True,
        tie: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the sums between padded cells, in halves; BLOCKED or more where opaque."""
        height, width = self.shape
        longest = 1
        if lines is None or templates is None:
            longest = 4 * (height + width) + 8
            lines, templates = np.zeros(0, np.int64), _templates(0, longest)
        limit = 2 * kernel.BLOCKED
        if not exact:
            limit = self._limit
        from_eyes, to_eyes = (
            self._eyes(self._from_eyes, viewers),
            self._eyes(self._to_eyes, targets),
        )
        out = np.empty(len(viewers), np.int32)
        kernel.look(
            self._cover, self._tops, self._walls, LATTICE_KINDS[self.lattice.name], width + 2,
            int(self.line == "stepped"), self._neighbours, TIES[self.tie] if tie is None else tie,
            int(self.corners == "closed"), limit, viewers, targets, from_eyes, to_eyes,
            lines, templates, np.empty((longest, lines_.N_FIELDS), np.int64), out,
        )  # fmt: skip
        return out.astype(np.int64)

    def _eyes(self, eyes: Array, cells: Array) -> npt.NDArray[np.int64]:
        """Return how high the eyes in padded cells are; nothing where heights do not matter."""
        if not eyes.size:
            return np.zeros(0, np.int64)
        if eyes.shape == (1, 1):
            return np.full(len(cells), eyes[0, 0], np.int64)
        width = self.shape[1] + 2
        rows = cells // width
        found: npt.NDArray[np.int64] = eyes[rows - 1, cells - rows * width - 1]
        return found

    def _with_ends(self, sums: Array, viewers: Array, targets: Array) -> npt.NDArray[np.int64]:
        """Add what the two end cells count; cells of shape (n, 2)."""
        at_viewer, at_target = self._ends(viewers, targets)
        total = np.array(sums, np.int64)
        if not self.levels_apart:
            total += at_viewer + at_target
        else:
            one_cell = (viewers == targets).all(axis=1)
            total += np.where(one_cell, np.maximum(at_viewer, at_target), at_viewer + at_target)
        return total

    def _ends(self, viewers: Array, targets: Array) -> tuple[Halves, Halves]:
        """Return what the viewers' cells and the targets' count; cells of shape (n, 2)."""
        distance = self._distances(viewers, targets) + self.levels_apart
        return (
            _at(viewers, distance, self.at_viewer, self.adjacent_viewer),
            _at(targets, distance, self.at_target, self.adjacent_target),
        )

    def _distances(self, a: Array, b: Array) -> npt.NDArray[np.int64]:
        """Return distances in steps; on squares a diagonal neighbour is adjacent."""
        lattice = Lattice("square") if not self.lattice.is_hex else self.lattice
        return lattice.distances(a, b)

    def _padded(self, cells: Array) -> npt.NDArray[np.int64]:
        padded: npt.NDArray[np.int64] = (cells[:, 0] + 1) * (self.shape[1] + 2) + cells[:, 1] + 1
        return padded

    def _light_at(self, cells: Array, light: int | None) -> npt.NDArray[np.int64]:
        if light is not None:
            return np.full(len(cells), light, np.int64)
        if self.light.shape == (1, 1):
            return np.full(len(cells), int(self.light[0, 0]), np.int64)
        return self.light[cells[:, 0], cells[:, 1]].astype(np.int64)

    @staticmethod
    def _given_light(light: Any) -> int | None:
        if light is None:
            return None
        if not _is_whole(light):
            raise ArgumentTypeError(f"light must be a whole number, 0 or negative, not {light!r}")
        if not -127 <= light <= 0:
            raise CostError(f"light is the malus of a target, 0 or negative (to -127), not {light}")
        return int(light)

    # -- questions ------------------------------------------------------------------------------

    def sight(self, viewer: Any, target: Any, *, light: int | None = None) -> Sight:
        """Return whether and how well one cell is seen from another.

        Parameters
        ----------
        viewer, target : tuple of int
        light : int, optional
            Light malus of the target, 0 or negative, in place of the field's.

        Raises
        ------
        OutsideMapError
            If either lies outside the map.
        """
        pair = [on_map(viewer, self.shape, "viewer"), on_map(target, self.shape, "target")]
        array, given = np.array([pair], np.int64), self._given_light(light)
        halves, lights = np.empty(1, np.int32), np.empty(1, np.int16)
        self._count(array, given, halves, lights)
        return self._answer(pair[0], pair[1], int(halves[0]), int(lights[0]))

    def sights(self, pairs: Any, *, light: int | None = None) -> Sights:
        """Return the sight of each pair (viewer, target), as `sight` would, in parallel.

        Parameters
        ----------
        pairs : array_like of int, shape (n, 2, 2)
        light : int, optional
            As in `sight`.

        Returns
        -------
        Sights
            A sequence of `Sight` with arrays of all answers.
        """
        asked = batch_array(pairs, (2, 2), "pairs")
        given = self._given_light(light)
        n = len(asked)
        # A copy: what is given stays open to writing.
        array = np.empty((n, 2, 2), np.int64)
        halves, lights = np.empty(n, np.int32), np.empty(n, np.int16)

        def taken(begin: int, end: int) -> list[int]:
            array[begin:end] = asked[begin:end]
            found = int(pairs_.widest(self._rules, array[begin:end]))
            return [found if found >= 0 else found - begin]

        def counted(begin: int, end: int, table: PairLines | None = None) -> list[None]:
            own = slice(begin, end)
            self._count(array[own], given, halves[own], lights[own], table)
            return []

        def both(begin: int, end: int) -> list[int]:
            extents = taken(begin, end)
            if extents[0] >= 0:
                counted(begin, end)
            return extents

        if self._plain and not self.lattice.is_hex and n >= 2 * QUICK_PAIRS:
            # So many are worth threads however near they look, and squares need no table.
            self._check_pairs(spread(n, both, least=QUICK_PAIRS // 4), asked)
            return Sights(array, halves, lights, (self,))
        # How far they look tells which table hexes need, and whether few are worth a thread.
        widest = self._check_pairs(spread(n, taken, least=4 * QUICK_PAIRS), asked)
        table = self._pair_lines(n, widest)
        # A far line, or one over heights, takes as long as many near ones.
        is_quick = self._plain and widest <= 2 * WIDEST_TABLE
        least = QUICK_PAIRS if is_quick else QUICK_PAIRS // 32
        spread(n, partial(counted, table=table), least=least)
        return Sights(array, halves, lights, (self,))

    def _check_pairs(self, extents: Sequence[int], pairs: Array) -> int:
        """Return the largest extent, or raise for the pair that one below 0 stands for."""
        wrong = next((extent for extent in extents if extent < 0), 0)
        if wrong:
            for cell, what in zip(pairs[-1 - wrong].tolist(), ("viewer", "target"), strict=True):
                on_map(cell, self.shape, what)
        return max(extents, default=0)

    def _pair_lines(self, n: int, widest: int) -> PairLines | None:
        """Return a table of lines for a batch of pairs, if it is worth its making."""
        # Its making takes about as long as half the square of its radius pairs that are walked.
        most = min(WIDEST_TABLE, int((2 * n) ** 0.5))
        radius = -(-max(widest, 1) // RADIUS_STEP) * RADIUS_STEP
        radius = min(radius, most - most % RADIUS_STEP)
        if not self._plain or not self.lattice.is_hex or radius == 0:
            return None
        return pair_lines_of(self.lattice, self.line, self.shape[1], radius)

    def _count(
        self,
        pairs: Array,
        light: int | None,
        halves: Array,
        lights: Array,
        table: PairLines | None = None,
    ) -> None:
        """Write the sums of pairs, BLOCKED or more where opaque, and the light at the targets."""
        given = views_.FIELD_LIGHT if light is None else light
        self._count_between(pairs, halves, table)
        if not self.levels_apart:
            pairs_.finish(self._rules, self._planes, self.light, given, pairs, halves, lights)
            return
        viewers, targets = pairs[:, 0], pairs[:, 1]
        halves[:] = self._with_ends(halves, viewers, targets)
        lights[:] = self._light_at(targets, light)

    def _count_between(self, pairs: Array, halves: Array, table: PairLines | None) -> None:
        """Write the sums of pairs, their ends left out, BLOCKED or more where opaque."""
        if not self._plain:
            halves[:] = self._look(self._padded(pairs[:, 0]), self._padded(pairs[:, 1]))
        elif not self.lattice.is_hex:
            pairs_.walk_squares(self._rules, self._cover, pairs, halves)
        else:
            self._count_hexes(pairs, halves, table)

    def _count_hexes(self, pairs: Array, halves: Array, table: PairLines | None) -> None:
        """Write the sums of pairs, from a table as far as it goes."""
        if table is None:
            halves[:] = pairs_.TOO_FAR
        elif not pairs_.look_over(
            table.first, table.cells, self._rules, self._cover, pairs, table.radius, halves
        ):
            return
        longest = 4 * (self.shape[0] + self.shape[1]) + 8
        entries = np.empty((longest, lines_.N_FIELDS), np.int64)
        pairs_.walk_hexes(
            self._rules, int(self.line == "stepped"), self._cover, pairs, entries, halves
        )

    def _answer(self, viewer: Cell, target: Cell, halves: int, light: int) -> Sight:
        """Return the sight line between two cells for a sum of halves and the target's light."""
        blocked = halves >= kernel.BLOCKED
        points = (halves + 1) // 2
        visible = not blocked and (self.threshold is None or points < self.threshold)
        malus = light - points if visible else None
        return Sight(
            viewer=viewer,
            target=target,
            visible=visible,
            obstruction=None if blocked else -points,
            light=light,
            malus=malus,
            spell_failure=None if malus is None else self.spell_failure(malus),
            _lines=self,
        )

    def spell_failure(self, malus: int) -> float:
        """Return the chance that a spell fails at a malus, 0 to 1."""
        return min(1.0, round(-malus * self.failure_per_point, 9) + 0.0)

    def view(self, viewer: Any, radius: int = 20, *, light: int | None = None) -> View:
        """Return every cell seen from one cell within a radius.

        Parameters
        ----------
        viewer : tuple of int
        radius : int
            Largest distance of a target, in steps (on squares diagonals count as one).
        light : int, optional
            Light malus everywhere, in place of the field's.

        Raises
        ------
        OutsideMapError
            If the viewer lies outside the map.
        ArgumentTypeError, CostError
            If the radius is no whole number, or negative.
        """
        height, width = self.shape
        cell = viewer
        # What nearly everybody gives is known to be right without a call.
        if not (
            type(viewer) is tuple
            and len(viewer) == 2
            and type(viewer[0]) is type(viewer[1]) is int
            and 0 <= viewer[0] < height
            and 0 <= viewer[1] < width
        ):
            cell = on_map(viewer, self.shape, "viewer")
        reach = self._radius(radius)
        given = None if light is None else self._given_light(light)
        table, within = self._table_for(reach)
        if table is None:
            return self._view_by_lines(cell, reach, given)
        looking = np.array(((0, *cell),), np.int64)
        windows, counts = self._see(table, within, looking, given)
        return View._of_window(cell, reach, self.shape, windows[0], int(counts[0]))

    @overload
    def views(
        self, viewers: None = None, radius: int = 20, *, light: int | None = None
    ) -> AllViews: ...
    @overload
    def views(
        self, viewers: Any, radius: int = 20, *, light: int | None = None
    ) -> Sequence[View]: ...
    def views(
        self, viewers: Any = None, radius: int = 20, *, light: int | None = None
    ) -> Sequence[View] | AllViews:
        """Return the view of each viewer, as `view` would, in parallel.

        Parameters
        ----------
        viewers : array_like of int, shape (n, 2), optional
            Every cell of the map if absent.
        radius, light
            As in `view`.

        Returns
        -------
        sequence of View, or AllViews
            A view is made when it is asked for. For every cell the views are counted or handed
            out block by block when asked for.
        """
        if viewers is None:
            return AllViews(self, self._radius(radius), self._given_light(light))
        cells = checked_cells(viewers, self.shape, (2,), "viewers", ("viewer",))
        looking = np.concatenate([np.zeros((len(cells), 1), np.int64), cells], axis=1)
        return self._views(looking, self._radius(radius), self._given_light(light))

    def windows(
        self, viewers: Any, radius: int = 20, *, light: int | None = None
    ) -> npt.NDArray[np.int16]:
        """Return what each viewer sees around it: maluses, HIDDEN where nothing is seen.

        Parameters
        ----------
        viewers : array_like of int, shape (n, 2)
        radius, light
            As in `view`.

        Returns
        -------
        ndarray of int16, shape (n, side, side)
            The viewer is in the middle; a side is 2 radius + 1, less where the map ends anyway.
        """
        cells = checked_cells(viewers, self.shape, (2,), "viewers", ("viewer",))
        reach, given = self._radius(radius), self._given_light(light)
        table, within = self._table_for(reach)
        side = 2 * within + 1
        if table is None:
            found = np.full((len(cells), side, side), HIDDEN, np.int16)
            for window, (row, col) in zip(found, cells.tolist(), strict=True):
                view = self._view_by_lines((row, col), within, given)
                rows, cols = (view.cells - (row - within, col - within)).T
                window[rows, cols] = view.maluses
            return found
        looking = np.concatenate([np.zeros((len(cells), 1), np.int64), cells], axis=1)
        found = np.empty((len(cells), side, side), np.int16)

        def seen(begin: int, end: int) -> list[None]:
            found[begin:end] = self._see(table, within, looking[begin:end], given)[0]
            return []

        spread(len(cells), seen)
        return found

    def _views(self, looking: Array, radius: int, light: int | None) -> Sequence[View]:
        """Return the views of viewers (map, row, column)."""
        table, within = self._table_for(radius)
        shape = self.shape
        if table is None:

            def by_lines(begin: int, end: int) -> list[View]:
                cells = looking[begin:end, 1:].tolist()
                return [self._view_by_lines((row, col), radius, light) for row, col in cells]

            return spread(len(looking), by_lines)

        def seen(begin: int, end: int) -> list[tuple[int, Array, Array]]:
            return [(begin, *self._see(table, within, looking[begin:end], light))]

        blocks = spread(len(looking), seen)
        begins = [begin for begin, _, _ in blocks]

        def make(i: int) -> View:
            begin, windows, counts = blocks[bisect_right(begins, i) - 1]
            _, row, col = looking[i].tolist()
            return View._of_window(
                (row, col), radius, shape, windows[i - begin], int(counts[i - begin])
            )

        return Batch(len(looking), make)

    def _of_stack(self, n_maps: int) -> SightField:
        """Turn a field over maps laid one below the other into one over a stack of them."""
        height, width = self.shape[0] // n_maps, self.shape[1]
        cover = np.full((n_maps, height + 2, width + 2), kernel.OFF_MAP, np.uint8)
        cover[:, 1:-1, 1:-1] = self._maps[0, 1:-1, 1:-1].reshape(n_maps, height, width)
        rules = self._rules.copy()
        rules[views_.HEIGHT] = height
        self._maps, self._rules, self.shape = frozen(cover), frozen(rules), (height, width)
        if self._solid.size:
            self._solid = self._solid.reshape(n_maps, height, -1)
        return self

    def _table_for(self, radius: int) -> tuple[Fan | Shadows | None, int]:
        """Return the fan or the shadows for a radius, and its own: the map's where it is smaller.

        None where lines have to be looked along one by one: over heights, between levels, or so
        far that no table has room.
        """
        found = self._at_hand.get(radius)
        if found is None:
            height, width = self.shape
            # No two cells of the map are further apart.
            within = min(radius, height + width if self.lattice.is_hex else max(height, width) - 1)
            table: Fan | Shadows | None = None
            if self._plain and self._solid.size:
                table = shadows_of(within)
                if table is not None and self.corners == "open":
                    table = table._replace(partners=table.partners[:, :0])
            if table is None and not (self._tops.size or self.levels_apart):
                table = fan_of(self.lattice, self.line, within)
            found = table, within
            # A new dict each time, so that threads never see one that changes.
            last = list(self._at_hand.items())[1 - TABLES_AT_HAND :]
            self._at_hand = {**dict(last), radius: found}
        return found

    def _see(
        self, table: Fan | Shadows, radius: int, viewers: Array, light: int | None
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int64]]:
        """Return windows of maluses around viewers (map, row, column), and how many cells each."""
        side = 2 * radius + 1
        out = np.empty((len(viewers), side, side), np.int16)
        counts = np.empty(len(viewers), np.int64)
        given = views_.FIELD_LIGHT if light is None else light
        if isinstance(table, Shadows):
            shadows_.shade(
                table.partners, table.casts, table.masks, self._rules, self._solid, self.light,
                viewers, radius, given, out, counts,
            )  # fmt: skip
        else:
            views_.see(
                table.nodes, table.into, table.near, self._rules, self._maps, self._barred,
                self._planes, self.light, viewers, radius, given, out, counts,
            )  # fmt: skip
        out.flags.writeable = False
        return out, counts

    # -- compiled code of one's own -------------------------------------------------------------

    def kernel_arrays(self) -> SightArrays:
        """Return the field as plain arrays, for `fieldcraft_kernel.inside` in code of your own.

        Returns
        -------
        SightArrays
            A named tuple that functions compiled with Numba take, of arrays closed to writing:
            any number of threads may read them.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> from fieldcraft_kernel import inside
        >>> field = fc.hexes.sight_field([[0, 1, 0.5, 0]])
        >>> inside.sight(field.kernel_arrays(), field.kernel_scratch(), 0, 0, 0, 3)
        -2
        """
        return sight_arrays(self)

    def kernel_scratch(self) -> SightScratch:
        """Return new memory for `fieldcraft_kernel.inside.sight` to work in, for one thread.

        Returns
        -------
        SightScratch
            It serves every field on a map of this shape.
        """
        return sight_scratch(self.shape)

    def _radius(self, radius: Any) -> int:
        if not _is_whole(radius):
            raise ArgumentTypeError(f"radius must be a whole number of cells, not {radius!r}")
        if radius < 0:
            raise CostError(f"radius must be 0 or more, not {radius}")
        return int(radius)

    def _view_by_lines(self, viewer: Cell, radius: int, light: int | None) -> View:
        """Return a view line by line."""
        height, width = self.shape
        # No two cells of the map are further apart than this, whatever the lattice.
        offsets, templates = self._table(viewer, min(radius, 2 * (height + width)))
        cells = offsets + np.array(viewer, np.int64)
        inside = (
            (cells[:, 0] >= 0) & (cells[:, 0] < height) & (cells[:, 1] >= 0) & (cells[:, 1] < width)
        )
        cells = cells[inside]
        lines = np.flatnonzero(inside) if templates is not None else None
        targets = self._padded(cells)
        at = np.repeat(np.array([viewer], np.int64), len(cells), axis=0)
        sums = self._look(self._padded(at), targets, lines=lines, templates=templates, exact=False)
        halves = self._with_ends(sums, at, cells)
        points = (halves + 1) // 2
        seen = halves < kernel.BLOCKED
        if self.threshold is not None:
            seen &= points < self.threshold
        maluses = self._light_at(cells, light) - points
        if not self.levels_apart:
            own = (cells == at).all(axis=1)
            seen |= own
            maluses[own] = 0
        return View(
            viewer,
            radius,
            self.shape,
            cells[seen].copy(),
            np.maximum(maluses[seen], LEAST_MALUS).astype(np.int16),
        )

    def _table(self, viewer: Cell, radius: int) -> tuple[Array, kernel.Templates | None]:
        """Return the targets' (row, col) offsets within a radius, and their templates if kept."""
        parity = int(self.lattice.parity(viewer))
        key = (radius, parity)
        found = self._tables.find(key)
        if found is not None:
            return found
        offsets = self._offsets(viewer, radius)
        # A template has at most about twice as many entries as its line has steps.
        entries = len(offsets) * (2 * radius + 4)
        if entries * BYTES_AN_ENTRY > TABLE_BYTES:
            return offsets, None
        frame = np.concatenate([np.zeros((1, 2), np.int64), offsets]) + np.array(viewer)
        if self.lattice.is_hex:
            frame = self.lattice.to_axial(frame)
        vectors = np.ascontiguousarray(frame[1:] - frame[0])
        table = _templates(len(vectors), entries)
        end = kernel.lay_all(
            LATTICE_KINDS[self.lattice.name], self.shape[1] + 2, int(self.line == "stepped"),
            self._neighbours, viewer[0], viewer[1], vectors,
            np.empty((4 * radius + 8, lines_.N_FIELDS), np.int64), *table,
        )  # fmt: skip
        if end < 0:
            raise AssertionError("a table of line templates was sized too small")
        kept = kernel.Templates(table.first, *(array[:end].copy() for array in table[1:]))
        return self._tables.put(key, (offsets, kept), offsets.nbytes + size_of(kept))

    def _offsets(self, viewer: Cell, radius: int) -> npt.NDArray[np.int64]:
        """Return the (row, col) offsets of all cells within a radius, row by row."""
        height, width = self.shape
        rows = np.arange(-min(radius, height), min(radius, height) + 1)
        cols = np.arange(-min(radius, width), min(radius, width) + 1)
        grid = np.stack(np.meshgrid(rows, cols, indexing="ij"), axis=-1).reshape(-1, 2)
        near = self._distances(grid + np.array(viewer), np.array(viewer)) <= radius
        return np.ascontiguousarray(grid[near])

    # -- lines to show --------------------------------------------------------------------------

    def trace(self, viewer: Cell, target: Cell) -> Line:
        """Return the cells of a line along the side that counted, and its pairs."""
        sides: list[list[Cell]] = [[], []]
        counted: list[Cell] = []
        pairs: list[tuple[Cell, Cell]] = []
        for here, what in self._entries(viewer, target):
            if what == lines_.PINCH or not here:
                continue
            left, right = here[0], here[-1]
            if left != right:
                pairs.append((left, right))
            sides[0].append(left)
            sides[1].append(right)
            counted.append(self._counted(viewer, target, left, right))
        middle = counted
        if self.tie in ("worst-side", "best-side"):
            middle = sides[self._side(viewer, target)] if pairs else sides[0]
        cells = [viewer] if viewer == target else [viewer, *middle, target]
        return frozen(np.array(cells, np.int64)), pairs

    def passed(self, viewer: Cell, target: Cell) -> tuple[Passed, ...]:
        """Return what each cell of a line takes off it, up to where it ends."""
        entries = self._entries(viewer, target)
        side = None
        tie = TIES[self.tie]
        if self.tie in ("worst-side", "best-side"):
            side = self._side(viewer, target)
            tie = (kernel.LEFT_SIDE, kernel.RIGHT_SIDE)[side]
        sums = self._beginnings(viewer, target, len(entries), tie)
        at_viewer, at_target = self._halves_at(viewer, target)
        found = [Passed(viewer, "viewer", at_viewer / 2)]
        before = 0
        for (here, what), total in zip(entries, sums, strict=False):
            added, before = total - before, total
            if what == lines_.PINCH:
                if added >= kernel.BLOCKED:
                    return (*found, Passed(here[0], "corner", 0.0, "corner"))
                continue
            if not here:
                continue
            cell, where = here[0], "between"
            if here[0] != here[-1]:
                if side is not None:
                    cell = (here[0], here[-1])[side]
                else:
                    cell = self._counted(viewer, target, here[0], here[-1])
                where = "both" if self.tie == "both" else ("left", "right")[cell == here[-1]]
            if added >= kernel.BLOCKED:
                if where == "both" and not self._blocks(viewer, target, cell):
                    cell = here[-1] if self._blocks(viewer, target, here[-1]) else cell
                ends = self._blocks(viewer, target, cell) or "border"
                return (*found, Passed(cell, where, 0.0, ends))
            found.append(Passed(cell, where, added / 2))
        if sums[-1] >= kernel.BLOCKED:
            return (*found, Passed(target, "target", 0.0, "border"))
        return (*found, Passed(target, "target", at_target / 2))

    def _entries(self, viewer: Cell, target: Cell) -> list[tuple[list[Cell], int]]:
        """Return of each entry of a line the cells on the map, left then right, and what it is."""
        height, width = self.shape
        found = []
        for *cells, what in trace(self.lattice, viewer, target, line=self.line).tolist():
            both = [(cells[0], cells[1]), (cells[2], cells[3])]
            found.append(([c for c in both if 0 <= c[0] < height and 0 <= c[1] < width], what))
        return found

    def _beginnings(self, viewer: Cell, target: Cell, n: int, tie: int) -> list[int]:
        """Return the kernel's sums of a line up to each of its n entries, and up to its target."""
        ends = np.array([viewer, target], np.int64)
        frame = self.lattice.to_axial(ends) if self.lattice.is_hex else ends
        longest = 2 * int(np.abs(frame[1] - frame[0]).sum()) + 4
        table = _templates(2 * n + 1, longest)
        dx, dy = (int(x) for x in frame[1] - frame[0])
        kernel.lay(
            LATTICE_KINDS[self.lattice.name], self.shape[1] + 2, int(self.line == "stepped"),
            self._neighbours, viewer[0], viewer[1], dx, dy,
            np.empty((longest, lines_.N_FIELDS), np.int64),
            table.left, table.right, table.into_left, table.into_right, table.what, 0,
        )  # fmt: skip
        # Every other line of the table is a beginning; those between go back to the start.
        table.first[::2], table.first[1::2] = 0, np.arange(1, n + 2)
        padded = np.repeat(self._padded(ends)[:, None], n + 1, axis=1)
        lines = np.arange(0, 2 * n + 1, 2)
        sums: list[int] = self._look(
            padded[0], padded[1], lines=lines, templates=table, tie=tie
        ).tolist()
        return sums

    def _halves_at(self, viewer: Cell, target: Cell) -> tuple[int, int]:
        """Return what the viewer's cell and the target's count."""
        if viewer == target and not self.levels_apart:
            return 0, 0
        ends = np.array([viewer], np.int64), np.array([target], np.int64)
        at_viewer, at_target = (int(np.sum(halves)) for halves in self._ends(*ends))
        if viewer == target:
            return max(at_viewer - at_target, 0), at_target
        return at_viewer, at_target

    def _blocks(self, viewer: Cell, target: Cell, cell: Cell) -> str:
        """Return why a cell ends the line where it lies between: opaque, height or nothing."""
        at = int(self._padded(np.array([cell], np.int64))[0])
        if self._cover[at] == kernel.OPAQUE:
            return "opaque"
        if not self._tops.size:
            return ""
        cells = np.array([viewer, target, cell], np.int64)
        padded = self._padded(cells)
        frame = self.lattice.to_axial(cells) if self.lattice.is_hex else cells
        eyes = self._eyes(self._from_eyes, padded[:1]), self._eyes(self._to_eyes, padded[1:2])
        (dx, dy), (x, y) = (frame[1:] - frame[0]).tolist()
        high = kernel.reaches(
            LATTICE_KINDS[self.lattice.name], int(self._tops[at]),
            int(eyes[0][0]), int(eyes[1][0]), x, y, dx, dy,
        )  # fmt: skip
        return "height" if high else ""

    def _weight(self, viewer: Cell, target: Cell, cell: Cell) -> int:
        if self._blocks(viewer, target, cell):
            return kernel.BLOCKED
        return int(self.between[cell])

    def _counted(self, viewer: Cell, target: Cell, left: Cell, right: Cell) -> Cell:
        """Return the hex of a pair that counted first, the left one if equal."""
        if left == right or self.tie not in ("worst-hex", "best-hex"):
            return left
        of_left, of_right = (self._weight(viewer, target, cell) for cell in (left, right))
        farther = of_right > of_left if self.tie == "worst-hex" else of_right < of_left
        return right if farther else left

    def _side(self, viewer: Cell, target: Cell) -> int:
        """Return which whole side of a line with pairs counted: 0 left (also if equal), 1 right."""
        ends = self._padded(np.array([viewer, target], np.int64))
        left, counted = (
            min(int(self._look(ends[:1], ends[1:], tie=tie)[0]), kernel.BLOCKED)
            for tie in (kernel.LEFT_SIDE, TIES[self.tie])
        )
        return 0 if left == counted else 1

    def __repr__(self) -> str:
        height, width = self.shape
        return f"SightField({height} x {width}, {self.lattice.name}, {self.line}, {self.tie})"


def stack_views(field: SightField, n_maps: int, cells: Any, radius: int) -> Sequence[View]:
    """Return one view a map of a field over maps laid one below the other; cells (n_maps, 2)."""
    stack = field._of_stack(n_maps)
    if cells is None:
        raise ArgumentTypeError("of a stack of maps, tell a viewer a map: cells of shape (n, 2)")
    viewers = checked_cells(cells, stack.shape, (2,), "viewers", ("viewer",))
    if len(viewers) != n_maps:
        raise ArgumentTypeError(f"a stack of {n_maps} maps has as many viewers, not {len(viewers)}")
    looking = np.concatenate([np.arange(n_maps)[:, None], viewers], axis=1)
    if stack._table_for(stack._radius(radius))[0] is None:
        raise CostError(f"radius {radius} is too large for a stack of maps of shape {stack.shape}")
    return stack._views(looking, stack._radius(radius), None)


def bits_of(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Return each row of a mask, shape (..., width), as words of bits, the first in the lowest."""
    width = mask.shape[-1]
    padded = np.zeros((*mask.shape[:-1], -(-width // 64) * 64), np.bool_)
    padded[..., :width] = mask
    packed = np.packbits(padded, axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def _templates(n_lines: int, n_entries: int) -> kernel.Templates:
    """Return empty arrays for templates."""
    return kernel.Templates(
        np.zeros(n_lines + 1, np.int64), np.empty(n_entries, np.int32),
        np.empty(n_entries, np.int32), np.empty(n_entries, np.int8),
        np.empty(n_entries, np.int8), np.empty(n_entries, np.uint8),
    )  # fmt: skip


def _at(cells: Array, distance: Array, far: Array | None, near: Array | None) -> Halves:
    """Return what end cells count at a distance and adjacent."""
    rows, cols = cells[:, 0], cells[:, 1]
    total = np.zeros(len(cells), np.int64)
    if far is not None:
        total += np.where(distance > 1, far[rows, cols].astype(np.int64), 0)
    if near is not None:
        total += np.where(distance == 1, near[rows, cols].astype(np.int64), 0)
    return total


def _thousandths(
    given: Any, name: str, shapes: tuple[tuple[int, int], ...], *, unlimited: bool = False
) -> npt.NDArray[np.int64]:
    """Return heights in whole thousandths; where they may be unlimited, NaN and -inf are NO_TOP."""
    array = np.asarray(given)
    if array.shape not in shapes or array.dtype.kind not in "iuf":
        raise MapError(
            f"{name} must be numbers of shape {' or '.join(map(str, shapes))}, not "
            f"{array.shape} of {array.dtype}"
        )
    array = array.astype(np.float64)
    free = ~(array > -np.inf) if unlimited else np.zeros(array.shape, np.bool_)
    endless = array == np.inf if unlimited else free
    outside = ~(np.abs(array) <= HIGHEST) & ~free & ~endless
    if outside.any():
        row, col = np.argwhere(outside)[0]
        raise MapError(
            f"{name} at ({row}, {col}) is {array[row, col]}; heights lie between -{HIGHEST:,} and "
            f"{HIGHEST:,}"
        )
    inside = np.where(free, 0.0, np.minimum(array, HIGHEST))
    parts = np.rint(inside * THOUSANDTHS).astype(np.int64)
    return np.where(free, np.int64(kernel.NO_TOP), parts)

"""The views of every cell of a map: counted, or handed out block by block, never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import Frozen, cached_property, frozen
from fieldcraft.line_tables import Fan, fan_of
from fieldcraft.queries import in_turn, spread
from fieldcraft.sight import HIDDEN, View
from fieldcraft_kernel import fans
from fieldcraft_kernel import viewlanes as kernel
from fieldcraft_kernel.lines import PAIR, PINCH, SINGLE

if TYPE_CHECKING:
    from fieldcraft.sight_field import SightField

__all__ = ["AllViews", "Planes", "ViewBlock", "lay_planes", "nodes_of"]

Array = npt.NDArray[Any]

LANES = 4096
"""About so many viewers are counted at a time: their sums fit the processor's nearer caches."""
BLOCK_LANES = 1536
"""About so many make a block: less is fetched from memory when its sums are turned to windows."""
BLOCK_BYTES = 16 << 20
"""What the answers of one block may take."""


class _Swept(NamedTuple):
    """What viewers side by side found: arguments of the kernel's `turn_to_maluses`.

    counts int32 (lanes,), without the own cell; sums T (targets, lanes).
    """

    counts: npt.NDArray[np.int32]
    sums: Array
    limit: int
    stride: int
    along: int
    light: npt.NDArray[np.int8]


class ViewBlock(Frozen):
    """The views of some of a map's cells, side by side.

    Attributes
    ----------
    viewers : ndarray of int64, shape (n, 2)
    radius : int
        What the windows show: a side has 2 radius + 1 cells, and the viewer is in the middle.
    malus : ndarray of int16, shape (n, 2 radius + 1, 2 radius + 1)
        Malus of each cell of the viewer's window, HIDDEN where it is not seen or not on the map.
    visible : ndarray of bool, shape (n, 2 radius + 1, 2 radius + 1)
    count : ndarray of int32, shape (n,)
        How many cells each sees, its own included.
    """

    def __init__(
        self,
        viewers: npt.NDArray[np.int64],
        radius: int,
        asked: int,
        shape: tuple[int, int],
        *,
        swept: _Swept | None = None,
        malus: npt.NDArray[np.int16] | None = None,
    ) -> None:
        viewers.flags.writeable = False
        self.viewers, self.radius, self._asked, self._shape = viewers, radius, asked, shape
        if swept is not None:
            self._swept = swept
        if malus is not None:
            self.__dict__["malus"] = malus
            self.__dict__["visible"] = frozen(malus != HIDDEN)
            counts = np.count_nonzero(self.visible, axis=(1, 2))
            self.__dict__["count"] = frozen(counts.astype(np.int32))

    @cached_property
    def visible(self) -> npt.NDArray[np.bool_]:
        """Which cells of each window are seen, shape (n, side, side)."""
        swept, side = self._swept, 2 * self.radius + 1
        seen = swept.sums.reshape(side * side, -1, swept.stride)[:, :, : swept.along] < swept.limit
        by_viewer = seen.reshape(side, side, len(self.viewers)).transpose(2, 0, 1)
        by_viewer.flags.writeable = False
        return by_viewer

    @cached_property
    def malus(self) -> npt.NDArray[np.int16]:
        """The malus of each cell of each window, HIDDEN where it is not seen, (n, side, side)."""
        swept, side = self._swept, 2 * self.radius + 1
        malus = np.empty((len(self.viewers), side, side), np.int16)
        rows, cols = np.ascontiguousarray(self.viewers.T)
        kernel.turn_to_maluses(
            swept.sums, swept.limit, swept.stride, swept.along, swept.light, rows, cols, malus
        )
        return frozen(malus)

    @cached_property
    def count(self) -> npt.NDArray[np.int32]:
        """How many cells each viewer sees, its own included, shape (n,)."""
        swept = self._swept
        return frozen(swept.counts.reshape(-1, swept.stride)[:, : swept.along].reshape(-1) + 1)

    def __len__(self) -> int:
        return len(self.viewers)

    def __getitem__(self, index: int) -> View:
        row, col = self.viewers[index].tolist()
        window = np.ascontiguousarray(self.malus[index])
        window.flags.writeable = False
        n_seen = int(np.count_nonzero(window != HIDDEN))
        return View._of_window((row, col), self._asked, self._shape, window, n_seen)

    def __iter__(self) -> Iterator[View]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"ViewBlock({len(self)} viewers, radius {self.radius})"


class _Lanes(NamedTuple):
    """A map laid out for the kernel; lines run along rows, with flat tops along columns.

    planes T (N_PLANES, cells); nodes of the fan for each parity of a line (one on squares);
    stride of a line; border, how many lines of nothing come before the map; limits T (2,);
    has_viewer as in the kernel; deepest of the fan.
    """

    planes: Array
    nodes: list[npt.NDArray[np.int32]]
    stride: int
    border: int
    limits: Array
    has_viewer: int
    deepest: int


class AllViews:
    """What every cell of a map sees within a radius, worked out when it is asked for.

    Attributes
    ----------
    radius : int
    shape : tuple of int
    count : ndarray of int32, shape (height, width)
        How many cells each cell sees, its own included.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> views = fc.grid.views([[False, True, False]], radius=5)
    >>> views.count.tolist()
    [[2, 3, 2]]
    >>> for block in views.blocks():
    ...     for viewer, visible in zip(block.viewers.tolist(), block.visible, strict=True):
    ...         print(viewer, visible.sum())
    [0, 0] 2
    [0, 1] 3
    [0, 2] 2
    """

    def __init__(self, field: SightField, radius: int, light: int | None = None) -> None:
        self.radius, self.shape = radius, field.shape
        self._field, self._light = field, light
        self._table, self._within = field._table_for(radius)
        self._lanes = _lanes_of(field, self._within)

    @property
    def _turned(self) -> bool:
        """Whether lines run along columns."""
        return self._field.lattice.is_flat and self._field.lattice.is_hex

    @cached_property
    def _parts(self) -> list[Array]:
        """The lines of each block, or, without lanes, its viewers' flat numbers."""
        return self._split(BLOCK_LANES)

    def _split(self, lanes: int) -> list[Array]:
        """Return all lines, or, without lanes, flat numbers, in parts of about so many viewers."""
        height, width = self.shape
        side = 2 * self._within + 1
        if self._lanes is None:
            n = max(1, min(lanes, BLOCK_BYTES // (2 * side * side)))
            return [np.arange(i, min(i + n, height * width)) for i in range(0, height * width, n)]
        lines = width if self._turned else height
        most = max(1, min(lanes, BLOCK_BYTES // (side * side)) // self._lanes.stride)
        parts: list[Array] = []
        step = len(self._lanes.nodes)
        for first in range(min(step, lines)):
            own = np.arange(first, lines, step)
            parts += np.array_split(own, -(-len(own) // most))
        return parts

    @cached_property
    def count(self) -> npt.NDArray[np.int32]:
        """How many cells each cell sees, its own included, shape (height, width)."""
        found = np.empty(self.shape, np.int32)
        parts = self._split(LANES)

        def counted(begin: int, end: int) -> list[None]:
            for part in parts[begin:end]:
                if self._lanes is None:
                    found.reshape(-1)[part] = self._looped(part).count
                else:
                    lines = found.T if self._turned else found
                    counts = self._sweep(part, with_sums=False)[0]
                    along = lines.shape[1]
                    lines[part] = counts.reshape(len(part), -1)[:, :along] + 1
            return []

        spread(len(parts), counted)
        return frozen(found)

    def blocks(self) -> Iterator[ViewBlock]:
        """Iterate over blocks of viewers; every cell of the map is in one of them.

        The next blocks are worked out on other threads meanwhile. `ViewBlock.viewers` tells which
        cells a block holds; their order is not that of the map.
        """
        return in_turn(self._parts, self._looped if self._lanes is None else self._block)

    def each(self, callback: Callable[[ViewBlock], Any]) -> None:
        """Call a function with each block, one after the other, in the caller's thread.

        Blocks come in the order of `blocks`, and the next ones are worked out on other threads
        meanwhile. What the function returns is dropped; what it raises ends the iteration.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> heard = []
        >>> fc.grid.views([[False, True, False]], radius=5).each(
        ...     lambda block: heard.append(block.count.tolist())
        ... )
        >>> heard
        [[2, 3, 2]]
        """
        for block in self.blocks():
            callback(block)

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1]

    def __repr__(self) -> str:
        height, width = self.shape
        return f"AllViews({height} x {width} cells within {self.radius})"

    # -- viewers side by side -------------------------------------------------------------------

    def _sweep(self, lines: Array, *, with_sums: bool) -> tuple[Array, Array]:
        """Return counts (lanes,), own cells left out, and sums (side * side, lanes)."""
        lanes = self._lanes
        if lanes is None:
            raise AssertionError("without lanes views are looped")
        step = len(lanes.nodes)
        n = len(lines) * lanes.stride
        dtype = lanes.planes.dtype
        side = 2 * self._within + 1
        sums = np.empty((side * side if with_sums else 0, n), dtype)
        if with_sums:
            sums[...] = lanes.limits[0]
            sums[side * side // 2] = 0
        counts = np.empty(n, np.int32)
        parity = int(lines[0]) % step
        at = (int(lines[0]) + lanes.border) // step * lanes.stride
        begin = parity * (lanes.planes.shape[1] // step) + at
        depth = lanes.deepest + 2
        kernel.see_lanes(
            lanes.nodes[parity], lanes.planes, begin, lanes.limits, lanes.has_viewer,
            np.empty((depth, n), dtype), np.empty((depth, n), dtype), np.empty(n, np.uint8),
            counts, sums,
        )  # fmt: skip
        return counts, sums

    def _block(self, lines: Array) -> ViewBlock:
        lanes = self._lanes
        if lanes is None:
            raise AssertionError("without lanes views are looped")
        counts, sums = self._sweep(lines, with_sums=True)
        along = self.shape[0] if self._turned else self.shape[1]
        viewers = np.stack(np.meshgrid(lines, np.arange(along), indexing="ij"), axis=-1)
        viewers = viewers.reshape(-1, 2)
        if self._turned:
            viewers = viewers[:, ::-1]
        return ViewBlock(
            np.ascontiguousarray(viewers, np.int64), self._within, self.radius, self.shape,
            swept=_Swept(counts, sums, int(lanes.limits[0]), lanes.stride, along, self._lights),
        )  # fmt: skip

    @cached_property
    def _lights(self) -> npt.NDArray[np.int8]:
        """The light of targets, (1, 1) or the map's with a border as wide as the radius."""
        if self._light is not None:
            return frozen(np.array([[self._light]], np.int8))
        light = self._field.light
        # Where the map ends nothing is seen, so any light does.
        return light if light.size == 1 else frozen(np.pad(light, self._within))

    # -- one by one -----------------------------------------------------------------------------

    def _looped(self, numbers: Array) -> ViewBlock:
        """Return the views of cells given by flat numbers, as single views are worked out."""
        field, radius = self._field, self._within
        viewers = np.stack(np.divmod(numbers, self.shape[1]), axis=-1)
        if self._table is not None:
            looking = np.concatenate([np.zeros((len(viewers), 1), np.int64), viewers], axis=1)
            malus = field._see(self._table, radius, looking, self._light)[0]
        else:
            side = 2 * radius + 1
            malus = np.full((len(viewers), side, side), HIDDEN, np.int16)
            for i, (row, col) in enumerate(viewers.tolist()):
                view = field._view_by_lines((row, col), self.radius, self._light)
                cells = view.cells + np.array((radius - row, radius - col))
                malus[i, cells[:, 0], cells[:, 1]] = view.maluses
        return ViewBlock(viewers, radius, self.radius, self.shape, malus=frozen(malus))


def _lanes_of(field: SightField, radius: int) -> _Lanes | None:
    """Return a map laid out for a radius, kept with the field; None where views are looped."""
    # Read once and stored whole: another thread may ask for another radius meanwhile.
    of_radius, found = field._lanes
    if of_radius != radius:
        fan = fan_of(field.lattice, field.line, radius) if field._plain else None
        found = None if fan is None else _laid_out(field, fan, radius)
        field._lanes = radius, found
    lanes: _Lanes | None = found
    return lanes


def _laid_out(field: SightField, fan: Fan, radius: int) -> _Lanes | None:
    """Lay out a map and a fan; None if the sums do not fit."""
    planes = lay_planes(field, fan.deepest, radius, radius + 1)
    if planes is None:
        return None
    turned = field.lattice.is_hex and field.lattice.is_flat
    parities = fan.cells.shape[0]
    lines = planes.planes.shape[1] // planes.stride
    nodes = [
        nodes_of(fan, parity, planes.stride, lines // parities, radius, field.tie, turned)
        for parity in range(parities)
    ]
    return _Lanes(planes.planes, nodes, *planes[1:5], fan.deepest)


class Planes(NamedTuple):
    """A map laid out for the kernel, see `_Lanes`; `parities` of its lines are told apart."""

    planes: Array
    stride: int
    border: int
    limits: Array
    has_viewer: int
    parities: int


def lay_planes(field: SightField, deepest: int, radius: int, gap: int) -> Planes | None:
    """Lay out a map for lines within a radius and of so many cells at most.

    `gap`: how many cells of nothing part two lines of the map: one where only targets on the map
    matter, else as many as lines may run off it. None if the sums do not fit.
    """
    between = field.between.astype(np.int64)
    none = np.zeros((1, 1), np.int64)
    far_viewer, near_viewer, far_target, near_target = (
        none if end is None else end.astype(np.int64)
        for end in (field.at_viewer, field.adjacent_viewer, field.at_target, field.adjacent_target)
    )
    sides = 2 if field.tie == "both" else 1
    # More than any line counts that nothing opaque ends.
    limit = 1 + sides * deepest * int(between.max())
    limit += max(int(far_viewer.max()), int(near_viewer.max()))
    limit += max(int(far_target.max()), int(near_target.max()))
    limit = min(limit, field._limit)
    dtype = next((t for t in (np.uint8, np.uint16) if limit <= np.iinfo(t).max // 3), None)
    if dtype is None:
        return None
    mark = np.iinfo(dtype).max
    ended = np.where(field.opaque, limit, np.minimum(between, limit))
    if field.lattice.is_hex:
        marked, off = ended, mark
    else:
        marked, off = np.where(field.opaque & (field.corners == "closed"), limit, 0), 0
    turned = field.lattice.is_hex and field.lattice.is_flat
    parities = 2 if field.lattice.is_hex else 1
    border = radius + 1 + (radius + 1) % 2
    lines, along = field.shape[::-1] if turned else field.shape
    stride = along + gap
    total = lines + 2 * border
    total += total % 2
    planes = np.zeros((kernel.N_PLANES, parities, total // parities, stride), dtype)
    for plane, values, outside in (
        (kernel.BETWEEN, ended, 0),
        (kernel.MARKED, marked, off),
        (kernel.TARGET_FAR, far_target, limit),
        (kernel.TARGET_NEAR, near_target, limit),
        (kernel.VIEWER_FAR, far_viewer, 0),
        (kernel.VIEWER_NEAR, near_viewer, 0),
    ):
        laid = np.full((total, stride), outside, dtype)
        cut = values if plane == kernel.MARKED else np.minimum(values, limit)
        cut = np.broadcast_to(cut, field.shape)
        laid[border : border + lines, :along] = cut.T if turned else cut
        for parity in range(parities):
            planes[plane, parity] = laid[parity::parities]
    has_viewer = int(far_viewer.any() or near_viewer.any())
    return Planes(
        frozen(planes.reshape(kernel.N_PLANES, -1)), stride, border,
        np.array([limit, mark], dtype), has_viewer, parities,
    )  # fmt: skip


def nodes_of(
    fan: Fan, parity: int, stride: int, lines: int, radius: int, tie: str, turned: bool
) -> npt.NDArray[np.int32]:
    """Return the kernel's nodes of a fan for viewers on lines of a parity."""
    cells = fan.cells[parity].astype(np.int64)
    rows, cols = cells[:, 0::2], cells[:, 1::2]
    across, along = (cols, rows) if turned else (rows, cols)
    parities = fan.cells.shape[0]
    there = (parity + across) % parities
    shifts = (there - parity) * lines * stride
    shifts += (across + parity - there) // parities * stride + along
    nodes = np.zeros((len(cells), kernel.N_COLUMNS), np.int32)
    nodes[:, kernel.LEFT : kernel.RIGHT + 1] = shifts
    nodes[:, kernel.DEPTH] = fan.depth
    sided = tie in ("worst-side", "best-side")
    split = fan.split & sided
    split_before = split[fan.before] & (fan.before >= 0)
    steps = nodes[:, kernel.STEP]
    steps[(fan.what == SINGLE) & split] = kernel.ADD_BOTH
    steps[fan.what == PINCH] = kernel.CORNER
    one_sum = {"worst-hex": kernel.HIGHER, "best-hex": kernel.LOWER, "both": kernel.TOGETHER}
    pair = fan.what == PAIR
    steps[pair] = one_sum.get(tie, kernel.SPLIT)
    steps[pair & split_before & sided] = kernel.SPLIT_ON
    ends = fan.what == fans.TARGET
    steps[ends] = kernel.END
    steps[ends & split_before] = kernel.END_WORST if tie == "worst-side" else kernel.END_BEST
    side = 2 * radius + 1
    targets = (rows[:, 0] + radius) * side + cols[:, 0] + radius
    nodes[:, kernel.TARGET] = np.where(fan.adjacent, -1 - targets, targets)
    return frozen(nodes)

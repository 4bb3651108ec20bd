"""What lies between cells of a map, in tables: from some cells to all others, or from all.

The sums are those of sight lines with their ends left out, up to what is enough to hide; they are
the same both ways. From all cells they are worked out with the viewers side by side, as in
`fieldcraft.all_views`, but for half of all lines, and only for those that stay on the map.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.all_views import Planes, lay_planes, nodes_of
from fieldcraft.frozen import frozen
from fieldcraft.line_tables import Fan, extent, fan_over, kept
from fieldcraft.sight_field import SightField
from fieldcraft_kernel import fans, viewlanes, views

__all__ = ["all_sums", "has_sums", "sums_from"]

Array = npt.NDArray[Any]

LANES = 480
"""About so many viewers are counted at a time: their sums fit the nearest caches."""
GAP = 1
"""Cells between the lines of a map: those between two of its cells leave it by one ring at most."""
MOST_CELLS = 1 << 13
"""Maps of more cells have no table of all sums, which grows with the square of their number."""


class Block(NamedTuple):
    """Viewers on some lines of one parity, and what of the fan matters to them.

    nodes int32 (m, N_COLUMNS), whose targets are numbered; targets int32 (k, 2), how far these lie
    across the lines and along them; lines int64 (n,).
    """

    nodes: Array
    targets: Array
    lines: Array


def has_sums(field: SightField) -> bool:
    """Tell whether a field's sums depend on nothing but cells, and can be told."""
    return (
        field._plain
        and field._limit <= np.iinfo(np.uint8).max // 3
        and fan_over(field.lattice, field.line, field.shape, half=False) is not None
    )


def sums_from(field: SightField, cells: Array) -> npt.NDArray[np.uint8]:
    """Return the halves between some cells, shape (n, 2), and all others, up to the limit.

    Returns
    -------
    ndarray of uint8, shape (n, height * width)
        0 between a cell and itself.
    """
    height, width = field.shape
    fan = _fan(field, half=False)
    out = np.empty((len(cells), height * width), np.uint8)
    views.sum_between(
        fan.nodes, field._rules, field._cover.reshape(height + 2, width + 2),
        np.ascontiguousarray(cells, np.int64), extent(field.shape), fan.deepest, out,
    )  # fmt: skip
    return out


def all_sums(field: SightField) -> npt.NDArray[np.uint8] | None:
    """Return the halves between all pairs of cells, up to the limit; None if there are too many.

    Returns
    -------
    ndarray of uint8, shape (height * width, height * width), or None
        0 between a cell and itself.
    """
    n = field.shape[0] * field.shape[1]
    if n > MOST_CELLS:
        return None
    fan = _fan(field, half=True)
    bare = SightField(
        field.lattice, field.shape, between=field.between, opaque=field.opaque,
        threshold=field.threshold, line=field.line, tie=field.tie, corners=field.corners,
    )  # fmt: skip
    planes = lay_planes(bare, fan.deepest, extent(field.shape), GAP)
    if planes is None:
        return None
    turned = field.lattice.is_hex and field.lattice.is_flat
    across, along = field.shape[::-1] if turned else field.shape
    # One number for each step across the lines and along them, as cells are numbered.
    step_across, step_along = (1, field.shape[1]) if turned else (field.shape[1], 1)
    out = np.zeros((n, n), np.uint8)
    for block in _blocks(bare, fan, planes):
        viewlanes.put_sums(
            _swept(planes, block, fan.deepest), block.targets, block.lines, planes.stride, across,
            along, step_across, step_along, int(planes.limits[0]), field._limit, out,
        )  # fmt: skip
    return out


def _fan(field: SightField, *, half: bool) -> Fan:
    fan = fan_over(field.lattice, field.line, field.shape, half=half)
    if fan is None:
        raise AssertionError("such a map has no fan; see `has_sums`")
    return fan


def _swept(planes: Planes, block: Block, deepest: int) -> Array:
    """Return the sums of a block, shape (targets, lanes)."""
    n = len(block.lines) * planes.stride
    dtype = planes.planes.dtype
    first, parities = int(block.lines[0]), planes.parities
    begin = first % parities * (planes.planes.shape[1] // parities)
    begin += (first + planes.border) // parities * planes.stride
    sums = np.empty((len(block.targets), n), dtype)
    viewlanes.see_lanes(
        block.nodes, planes.planes, begin, planes.limits, 0, np.empty((deepest + 2, n), dtype),
        np.empty((deepest + 2, n), dtype), np.empty(n, np.uint8), np.empty(n, np.int32), sums,
    )  # fmt: skip
    return sums


def _blocks(field: SightField, fan: Fan, planes: Planes) -> list[Block]:
    """Return the blocks of a map, the same for all maps of a shape."""
    key = "blocks", field.lattice.name, field.line, field.tie, field.shape, planes.stride
    found: list[Block] = kept(key, lambda: _cut(field, fan, planes), _size)
    return found


def _size(blocks: list[Block]) -> int:
    return sum(part.nbytes for block in blocks for part in block)


def _cut(field: SightField, fan: Fan, planes: Planes) -> list[Block]:
    """Cut a map into blocks of lines of one parity."""
    turned = field.lattice.is_hex and field.lattice.is_flat
    radius = extent(field.shape)
    n_lines = field.shape[1] if turned else field.shape[0]
    parities = len(fan.cells)
    total = planes.planes.shape[1] // planes.stride // parities
    blocks = []
    for parity in range(min(parities, n_lines)):
        nodes = nodes_of(fan, parity, planes.stride, total, radius, field.tie, turned)
        numbers = nodes[:, viewlanes.TARGET].astype(np.int64)
        numbers = np.where(numbers < 0, -1 - numbers, numbers)
        offsets = np.stack(np.divmod(numbers, 2 * radius + 1), axis=1) - radius
        if turned:
            offsets = offsets[:, ::-1]
        own = np.arange(parity, n_lines, parities)
        for lines in np.array_split(own, -(-len(own) * planes.stride // LANES)):
            ends = (fan.what == fans.TARGET) & (offsets[:, 0] <= n_lines - 1 - lines[0])
            wanted = _with_all_before(fan, ends)
            mine = nodes[wanted].copy()
            is_end = ends[wanted]
            # By line and along it, so that the table is written to near where it was before.
            targets = offsets[ends].astype(np.int32)
            order = np.lexsort((targets[:, 1], targets[:, 0]))
            mine[np.flatnonzero(is_end)[order], viewlanes.TARGET] = np.arange(len(order))
            targets = targets[order]
            blocks.append(Block(frozen(mine), frozen(targets), frozen(lines.astype(np.int64))))
    return blocks


def _with_all_before(fan: Fan, ends: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return some ends of a fan with every node that lies before one of them."""
    wanted = ends.copy()
    here = np.flatnonzero(ends)
    while len(here):
        here = np.unique(fan.before[here])
        here = here[here >= 0]
        here = here[~wanted[here]]
        wanted[here] = True
    return wanted

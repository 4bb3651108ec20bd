"""What every cell of a map sees, the viewers side by side.

A fan (see fans.py) is walked once for a whole row of viewers, one lane each: a step adds a shifted
row of the map to a row of sums, which the compiler turns into vector code as long as it sees
slices (an index that might be negative would stop it). On hexes the lines of a map of equal parity
are laid end to end, so that rows are long and a step leads to the same offset in all lanes.

Sums are of one narrow unsigned type and stop at `limit`, which is enough to hide and at most a
third of what the type holds: so three of them can be added before the next stop. Round the map
lie cells that add nothing and are never seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.views import HIDDEN

ADD, ADD_BOTH, SPLIT, SPLIT_ON, HIGHER, LOWER, TOGETHER, CORNER, END, END_WORST, END_BEST = range(
    11
)
"""What to do at a node: add a cell to the sum, or to both sides' sums; add a pair to two sides from
one sum, or from two; add the higher or the lower cell of a pair, or both together; add what two
cells beside a corner have in common; end a line with one sum, or with the worse or the better of
two."""
LEFT, RIGHT, DEPTH, STEP, TARGET = 0, 1, 2, 3, 4
"""Columns of a node, int32: shifts from a viewer to the left and the right cell, depth, one of the
above, and at an end which target it is, -1 - target if the target is adjacent."""
N_COLUMNS = 5
BETWEEN, MARKED, TARGET_FAR, TARGET_NEAR, VIEWER_FAR, VIEWER_NEAR = 0, 1, 2, 3, 4, 5
"""Planes of the map: what a cell adds between; on hexes the same with MARK off the map, on squares
the limit where a cell is opaque; what it adds as a target, the limit off the map, and as a viewer,
both at a distance and adjacent."""
N_PLANES = 6
TALLY_FULL = 255
TILE = 64
"""So many viewers are turned at a time: a line of the cache holds their sums of one target."""


@jit
def add_row(out: Any, before: Any, row: Any, limit: Any) -> None:
    """Set a row of sums to the sums before with a row added, `limit` at most."""
    for i in range(out.shape[0]):
        total = out.dtype.type(before[i] + row[i])
        out[i] = limit if total > limit else total


@jit
def add_pair(
    out_left: Any, out_right: Any, left: Any, right: Any, rows: Any, others: Any, mark: Any,
    limit: Any,
) -> None:  # fmt: skip
    """Add either row of a pair to its side; a marked cell has the other one stand for it."""
    for i in range(out_left.shape[0]):
        a, b = rows[i], others[i]
        a = b if a == mark else a
        b = a if b == mark else b
        a = out_left.dtype.type(0) if a == mark else a
        b = out_left.dtype.type(0) if b == mark else b
        total = out_left.dtype.type(left[i] + a)
        other = out_left.dtype.type(right[i] + b)
        out_left[i] = limit if total > limit else total
        out_right[i] = limit if other > limit else other


@jit
def add_one_of(
    out: Any, before: Any, rows: Any, others: Any, mark: Any, step: int, limit: Any
) -> None:
    """Add the higher or lower of two rows, or both; marked cells as in `add_pair`."""
    for i in range(out.shape[0]):
        a, b = rows[i], others[i]
        alone = a == mark or b == mark
        a = b if a == mark else a
        b = a if b == mark else b
        a = out.dtype.type(0) if a == mark else a
        b = out.dtype.type(0) if b == mark else b
        high, low = (a if a > b else b), (b if a > b else a)
        value = high if step == HIGHER else low
        if step == TOGETHER:
            value = a if alone else out.dtype.type(a + b)
        total = out.dtype.type(before[i] + value)
        out[i] = limit if total > limit else total


@jit
def add_common(out: Any, before: Any, rows: Any, others: Any, limit: Any) -> None:
    """Add the lower of two rows."""
    for i in range(out.shape[0]):
        a, b = rows[i], others[i]
        total = out.dtype.type(before[i] + (a if a < b else b))
        out[i] = limit if total > limit else total


@jit
def pick(out: Any, left: Any, right: Any, worst: bool) -> None:
    """Set a row to the higher, or the lower, of two."""
    for i in range(out.shape[0]):
        a, b = left[i], right[i]
        high, low = (a if a > b else b), (b if a > b else a)
        out[i] = high if worst else low


@jit
def see_lanes(
    nodes: Any,
    planes: Any,
    begin: int,
    limits: Any,
    has_viewer: int,
    left: Any,
    right: Any,
    tally: Any,
    counts: Any,
    sums: Any,
) -> None:
    """Count what a row of viewers sees, and write their sums if there is room.

    In: nodes int32 (m, N_COLUMNS); planes T (N_PLANES, cells), T uint8 or uint16; begin, the
    first viewer's cell in them; limits T (2,), the limit and the mark; has_viewer 0 if the viewers'
    planes are 0 everywhere. Scratch: left, right T (deepest + 2, lanes), tally uint8 (lanes,).
    Out: counts int32 (lanes,), without the own cell; sums T (targets, lanes) or (0, lanes), the
    halves of each line or the limit.
    """
    limit, mark = limits[0], limits[1]
    n = left.shape[1]
    lanes = np.uint64(n)
    between, marked = planes[BETWEEN], planes[MARKED]
    left[0] = 0
    counts[:] = 0
    tally[:] = 0
    tallied = 0
    spare = left[left.shape[0] - 1]
    for k in range(nodes.shape[0]):
        step = nodes[k, STEP]
        depth = nodes[k, DEPTH]
        at = begin + nodes[k, LEFT]
        if step == ADD:
            # Nearly all are of this kind. Written out: to slice rows takes longer than to add them.
            to, back, here = np.uint64(depth), np.uint64(depth - 1), np.uint64(at)
            for i in range(lanes):
                total = left.dtype.type(left[back, i] + between[here + i])
                left[to, i] = limit if total > limit else total
            continue
        if step == ADD_BOTH:
            add_row(left[depth], left[depth - 1], between[at : at + n], limit)
            add_row(right[depth], right[depth - 1], between[at : at + n], limit)
            continue
        if step < END:
            other = begin + nodes[k, RIGHT]
            rows, others = marked[at : at + n], marked[other : other + n]
            if step == SPLIT or step == SPLIT_ON:
                from_right = left[depth - 1] if step == SPLIT else right[depth - 1]
                add_pair(
                    left[depth], right[depth], left[depth - 1], from_right, rows, others, mark,
                    limit,
                )  # fmt: skip
            elif step == CORNER:
                add_common(left[depth], left[depth - 1], rows, others, limit)
            else:
                add_one_of(left[depth], left[depth - 1], rows, others, mark, step, limit)
            continue

        found = left[depth]
        if step != END:
            pick(spare, left[depth], right[depth], step == END_WORST)
            found = spare
        target, near = nodes[k, TARGET], 0
        if target < 0:
            target, near = -1 - target, 1
        of_target = planes[TARGET_FAR + near][at : at + n]
        if has_viewer:
            add_row(spare, found, planes[VIEWER_FAR + near][begin : begin + n], limit)
            found = spare
        if sums.shape[0] > 0:
            add_row(sums[target], found, of_target, limit)
            found = sums[target]
            for i in range(n):
                tally[i] += found[i] < limit
        else:
            for i in range(n):
                tally[i] += left.dtype.type(found[i] + of_target[i]) < limit
        # Counting in bytes keeps as many lanes in a vector as adding does.
        tallied += 1
        if tallied == TALLY_FULL:
            for i in range(n):
                counts[i] += tally[i]
                tally[i] = 0
            tallied = 0
    for i in range(n):
        counts[i] += tally[i]


@jit
def turn_to_maluses(
    sums: Any, limit: int, stride: int, along: int, light: Any, rows: Any, cols: Any, out: Any
) -> None:
    """Turn the sums of each target into the maluses of each viewer's window.

    In: sums T (targets, lines * stride) of `see_lanes`, `along` viewers on each line and lanes of
    nothing behind them; light int8, the map's with side // 2 cells of any light around it, or
    (1, 1); rows, cols int64 (viewers,), where the viewers stand.
    Out: out int16 (viewers, side, side), HIDDEN where a sum reaches the limit, 0 in the middle.

    The limit and all light fit an int16 together, so no malus is below what that holds.
    """
    side = out.shape[1]
    turned = np.empty((TILE, side), sums.dtype)
    of_map = light.size > 1
    enough, constant = np.int32(limit), np.int32(light[0, 0])
    for line in range(sums.shape[1] // stride):
        for first in range(0, along, TILE):
            n = min(TILE, along - first)
            lane, viewer = line * stride + first, line * along + first
            for r in range(side):
                for c in range(side):
                    # Without a sign: indices that might be negative would stop vector code.
                    target, at = np.uint64(r * side + c), np.uint64(lane)
                    for i in range(n):
                        turned[i, c] = sums[target, at + np.uint64(i)]
                # One loop for each kind of light, so that either runs over many cells at a time.
                for i in range(n):
                    v = viewer + i
                    if of_map:
                        top, left = np.uint64(rows[v] + r), np.uint64(cols[v])
                        for c in range(side):
                            halves = np.int32(turned[i, c])
                            malus = np.int32(light[top, left + np.uint64(c)]) - ((halves + 1) >> 1)
                            out[v, r, c] = malus if halves < enough else HIDDEN
                    else:
                        for c in range(side):
                            halves = np.int32(turned[i, c])
                            malus = constant - ((halves + 1) >> 1)
                            out[v, r, c] = malus if halves < enough else HIDDEN
            for i in range(n):
                out[viewer + i, side // 2, side // 2] = 0


@jit
def put_sums(
    sums: Any, targets: Any, lines: Any, stride: int, n_lines: int, along: int, step_line: int,
    step_along: int, limit: int, enough: int, out: Any,
) -> None:  # fmt: skip
    """Put the sums of some viewers into the table of all pairs of cells, both ways.

    In: sums T (targets, lines * stride) of `see_lanes`, `along` viewers on each line; targets int32
    (k, 2), how far each lies across the lines and along them, those of one line side by side;
    lines int64 (n,); n_lines of the map; by how much a cell's number rises from line to line, and
    along one; a sum that reaches `limit` is put as `enough`. Out: out uint8 (C, C), C-contiguous.
    """
    u: Any = np.uint64
    n_cells = out.shape[0]
    flat = out.reshape(-1)
    cut, whole = sums.dtype.type(limit), np.uint8(enough)
    step = u(step_along * (n_cells + 1))
    for i in range(lines.shape[0]):
        line = lines[i]
        for first in range(0, along, TILE):
            last = min(first + TILE, along)
            for t in range(targets.shape[0]):
                across, on = targets[t, 0], targets[t, 1]
                low, high = max(first, -on), min(last, along - on)
                if line + across >= n_lines or low >= high:
                    continue
                # From viewer to viewer both ways go on along a diagonal of the table.
                viewer = line * step_line + low * step_along
                target = (line + across) * step_line + (low + on) * step_along
                here, there = u(viewer * n_cells + target), u(target * n_cells + viewer)
                found, lane = sums[t], u(i * stride + low)
                for a in range(u(high - low)):
                    value = found[lane + a]
                    halves = np.uint8(value) if value < cut else whole
                    flat[here] = halves
                    flat[there] = halves
                    here += step
                    there += step

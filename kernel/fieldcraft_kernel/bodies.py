"""Bodies of several cells: where they fit, which steps they take, what their cells ask.

All arrays are flat over a map padded with one ring of closed cells: N cells, W = width + 2 a row.
Directions are those of `lattice`: straight ones first (4 on squares, 6 on hexagons), then on
squares the diagonals, 4 + i between the straight directions i and i + 1.

A body is m cells around an anchor, by which its place is named:

cells     int64 (2, m)      flat offset of each cell from the anchor, by the anchor's parity
rows_cols int64 (2, m, 2)   the same as (row, col)
leading   bool (2, 8, m)    the cell has a neighbour in that straight direction outside the body
parity    uint8 (N,)        row set of `offsets` and of the above that a cell uses; 0 on squares
offsets   int64 (2, 8)      flat step to each neighbour, by parity

Borders are bits of uint8 (N,): `inner`, those that block both ways, on both of their sides (no
body lies across one); `barred`, those that may not be crossed walking that way. Either may be
empty, (0,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit

BOTH, EITHER, FREE = 0, 1, 2
"""What a diagonal asks of the places beside it: both without corners, one of them, nothing."""
CORNERS = {"both": BOTH, "either": EITHER, "free": FREE}


# ---- Places ------------------------------------------------------------------------------------


@jit
def is_split(inner: Any, parity: Any, cells: Any, offsets: Any, n_straight: int, cell: int) -> bool:
    """Tell whether a blocking border runs inside the body anchored there; all of it on the map."""
    kind = parity[cell]
    for i in range(cells.shape[1]):
        part = cell + cells[kind, i]
        borders = inner[part]
        if borders == 0:
            continue
        for direction in range(n_straight):
            if not (borders >> direction) & 1:
                continue
            beyond = part + offsets[parity[part], direction] - cell
            for j in range(cells.shape[1]):
                if cells[kind, j] == beyond:
                    return True
    return False


@jit
def place(
    open_: Any,
    inner: Any,
    height: int,
    width: int,
    parity: Any,
    rows_cols: Any,
    cells: Any,
    offsets: Any,
    n_straight: int,
    on_map: Any,
    clean: Any,
    fits: Any,
) -> None:
    """Find the places of a body: on the map, not split by a border, all cells open.

    In: open_ bool (N,), inner uint8 (N,) or (0,), height and width of the map without padding,
    parity, rows_cols, cells, offsets, n_straight.
    Out, bool (N,), False off the map: on_map, the anchor and all cells are on the map; clean, and
    no border of `inner` lies between two of them; fits, and all cells are open.
    """
    on_map[:] = False
    clean[:] = False
    fits[:] = False
    for row in range(height):
        for col in range(width):
            cell = (row + 1) * (width + 2) + col + 1
            kind = parity[cell]
            inside = True
            for i in range(cells.shape[1]):
                there = row + rows_cols[kind, i, 0]
                across = col + rows_cols[kind, i, 1]
                if there < 0 or there >= height or across < 0 or across >= width:
                    inside = False
                    break
            if not inside:
                continue
            on_map[cell] = True
            if inner.shape[0] and is_split(inner, parity, cells, offsets, n_straight, cell):
                continue
            clean[cell] = True
            free = True
            for i in range(cells.shape[1]):
                if not open_[cell + cells[kind, i]]:
                    free = False
                    break
            fits[cell] = free


# ---- Steps -------------------------------------------------------------------------------------


@jit
def step_masks(
    fits: Any,
    clean: Any,
    on_map: Any,
    taken: Any,
    solid: Any,
    barred: Any,
    tops: Any,
    limit: int,
    high: int,
    lifted: Any,
    corners: int,
    parity: Any,
    cells: Any,
    leading: Any,
    offsets: Any,
    n_straight: int,
    n_directions: int,
    out: Any,
) -> None:
    """Find the legal steps from every anchor on the map, whether or not the body fits there.

    A step leads to a place that fits, and newly covers no cell that is taken. A straight one
    crosses no barred border with its leading cells. A diagonal asks that both places beside it, u
    and v, are clean; that neither way over them in two straight steps crosses a barred border; and,
    by `corners`, that the cells of both (BOTH) or of one (EITHER) outside the place left are not
    solid. With `tops` a place is as high as the highest top of its cells: no step rises by `limit`
    or more unless lifted, and a cell whose top is `high` or more above the place left is solid.

    In: fits, clean, on_map bool (N,), see `place`; taken, solid bool (N,) or (0,); barred uint8
    (N,) or (0,), bit k: not from this cell across the border in direction k; tops int64 (N,) or
    (0,) with limit and high; lifted uint8 (N,) or (0,), bit k at the anchor: a step in direction k
    may rise at will; corners BOTH, EITHER or FREE; parity, cells, leading, offsets, n_straight,
    n_directions.
    Out: out uint8 (N,), bit k: the step in direction k is legal; 0 off the map.
    """
    out[:] = 0
    n_cells = fits.shape[0]
    size = cells.shape[1]
    # The leading cells of each direction, one after the other.
    n_front = np.zeros((2, n_straight), np.int64)
    front = np.zeros((2, n_straight, size), np.int64)
    for kind in range(2):
        for direction in range(n_straight):
            for i in range(size):
                if leading[kind, direction, i]:
                    front[kind, direction, n_front[kind, direction]] = cells[kind, i]
                    n_front[kind, direction] += 1
    # The straight steps of a place that some barred border forbids, and how high the places are.
    shut = np.zeros(n_cells if barred.shape[0] else 0, np.uint8)
    heights = np.zeros(n_cells if tops.shape[0] else 0, np.int64)
    if barred.shape[0] or tops.shape[0]:
        for cell in range(n_cells):
            if not on_map[cell]:
                continue
            kind = parity[cell]
            if barred.shape[0]:
                for direction in range(n_straight):
                    for i in range(n_front[kind, direction]):
                        if (barred[cell + front[kind, direction, i]] >> direction) & 1:
                            shut[cell] |= 1 << direction
                            break
            if tops.shape[0]:
                highest = tops[cell + cells[kind, 0]]
                for i in range(1, size):
                    highest = max(highest, tops[cell + cells[kind, i]])
                heights[cell] = highest

    n_diagonals = n_directions - n_straight
    straight = (1 << n_straight) - 1
    for cell in range(n_cells):
        if not on_map[cell]:
            continue
        kind = parity[cell]
        mask = 0
        for direction in range(n_directions):
            target = cell + offsets[kind, direction]
            if fits[target] and not (taken.shape[0] and meets(taken, parity, cells, cell, target)):
                mask |= 1 << direction
        if tops.shape[0]:
            for direction in range(n_directions):
                rise = heights[cell + offsets[kind, direction]] - heights[cell]
                if rise >= limit and not (lifted.shape[0] and (lifted[cell] >> direction) & 1):
                    mask &= ~(1 << direction)
        if mask >> n_straight:
            # Bit i of what follows is about the place beside it in direction i, then about the
            # diagonal between i and i + 1.
            beside = 0
            for i in range(n_diagonals):
                if clean[cell + offsets[kind, i]]:
                    beside |= 1 << i
            legal = beside & turned(beside)
            if barred.shape[0]:
                own = ~int(shut[cell])
                legal &= own & turned(own)
                for i in range(n_diagonals):
                    j = (i + 1) % n_diagonals
                    ways = shut[cell + offsets[kind, i]] >> j
                    ways |= shut[cell + offsets[kind, j]] >> i
                    if ways & 1:
                        legal &= ~(1 << i)
            if corners != FREE and legal & (mask >> n_straight):
                beside = ~solid_edges(
                    solid, tops, heights, high, front, n_front, kind, offsets, cell
                )
                if corners == BOTH:
                    legal &= beside & turned(beside)
                else:
                    legal &= beside | turned(beside)
            mask &= straight | (legal << n_straight)
        if barred.shape[0]:
            mask &= ~int(shut[cell])
        out[cell] = mask


@jit
def turned(bits: int) -> int:
    """Return four bits turned by one: bit i is what bit i + 1 was, and bit 3 what bit 0 was."""
    return ((bits >> 1) & 7) | ((bits & 1) << 3)


@jit
def meets(flags: Any, parity: Any, cells: Any, cell: int, target: int) -> bool:
    """Tell whether a body going from one anchor to another newly covers a cell with the flag."""
    before, after = parity[cell], parity[target]
    for i in range(cells.shape[1]):
        there = target + cells[after, i]
        if not flags[there]:
            continue
        is_new = True
        for j in range(cells.shape[1]):
            if cell + cells[before, j] == there:
                is_new = False
                break
        if is_new:
            return True
    return False


@jit
def solid_edges(
    solid: Any,
    tops: Any,
    heights: Any,
    high: int,
    front: Any,
    n_front: Any,
    kind: int,
    offsets: Any,
    cell: int,
) -> int:
    """Return the straight directions, as bits, in which a solid cell touches the body."""
    edges = 0
    for direction in range(front.shape[1]):
        for i in range(n_front[kind, direction]):
            beyond = cell + front[kind, direction, i] + offsets[kind, direction]
            hard = solid.shape[0] > 0 and solid[beyond]
            if tops.shape[0] and tops[beyond] - heights[cell] >= high:
                hard = True
            if hard:
                edges |= 1 << direction
                break
    return edges


# ---- What the cells of a place ask -------------------------------------------------------------


@jit
def worst(values: Any, parity: Any, cells: Any, on_map: Any, out: Any) -> None:
    """Find the largest value over the cells of each place.

    In: values T (N,), parity, cells, on_map bool (N,). Out: out T (N,), 0 off the map.
    """
    out[:] = 0
    for cell in range(out.shape[0]):
        if not on_map[cell]:
            continue
        kind = parity[cell]
        most = values[cell + cells[kind, 0]]
        for i in range(1, cells.shape[1]):
            most = max(most, values[cell + cells[kind, i]])
        out[cell] = most


@jit
def median(values: Any, parity: Any, cells: Any, on_map: Any, out: Any) -> None:
    """Find the middle value over the cells of each place, of two the lower.

    In: values T (N,), parity, cells, on_map bool (N,). Out: out T (N,), 0 off the map.
    """
    out[:] = 0
    size = cells.shape[1]
    row = np.empty(size, values.dtype)
    for cell in range(out.shape[0]):
        if not on_map[cell]:
            continue
        kind = parity[cell]
        for i in range(size):
            value = values[cell + cells[kind, i]]
            j = i
            while j > 0 and row[j - 1] > value:
                row[j] = row[j - 1]
                j -= 1
            row[j] = value
        out[cell] = row[(size - 1) // 2]


@jit
def every(flags: Any, parity: Any, cells: Any, on_map: Any, out: Any) -> None:
    """Find the places with the flag on all of their cells.

    In: flags bool (N,), parity, cells, on_map bool (N,). Out: out bool (N,), False off the map.
    """
    out[:] = False
    for cell in range(out.shape[0]):
        if not on_map[cell]:
            continue
        kind = parity[cell]
        all_set = True
        for i in range(cells.shape[1]):
            if not flags[cell + cells[kind, i]]:
                all_set = False
                break
        out[cell] = all_set


@jit
def worst_new(
    values: Any,
    parity: Any,
    cells: Any,
    on_map: Any,
    offsets: Any,
    n_straight: int,
    direction: int,
    out: Any,
) -> None:
    """Find the largest value over the cells that a step newly covers, by the place entered.

    In: values T (N,), parity, cells, on_map bool (N,), offsets, n_straight, direction (a diagonal
    too) of the step.
    Out: out T (N,), at the anchor of the place entered; 0 off the map. On the rim, where no step
    in that direction comes from, the value is one of that place's, but means nothing.
    """
    out[:] = 0
    size = cells.shape[1]
    if n_straight == 6:
        back = (direction + 3) % 6
    elif direction < 4:
        back = (direction + 2) % 4
    else:
        back = 4 + (direction - 2) % 4
    # The cells covered after a step from parity s to parity t that were not covered before.
    n_new = np.zeros((2, 2), np.int64)
    new = np.zeros((2, 2, size), np.int64)
    for source in range(2):
        for target in range(2):
            for i in range(size):
                covered = False
                for j in range(size):
                    if offsets[source, direction] + cells[target, i] == cells[source, j]:
                        covered = True
                        break
                if not covered:
                    new[source, target, n_new[source, target]] = cells[target, i]
                    n_new[source, target] += 1
    for cell in range(out.shape[0]):
        if not on_map[cell]:
            continue
        kind = parity[cell]
        before = parity[cell + offsets[kind, back]]
        if n_new[before, kind] == 0:
            continue
        most = values[cell + new[before, kind, 0]]
        for i in range(1, n_new[before, kind]):
            most = max(most, values[cell + new[before, kind, i]])
        out[cell] = most


# ---- Squeezing (squares only) ------------------------------------------------------------------
#
# A window is an n x n place, full where the n x n body fits. A block is a k x k place in it, and
# moves as a k x k body does: `block_fits` and `block_steps` are the answers of `place` and
# `step_masks` for that body. Sets of blocks, and of cells, are the bits of an integer, row by row.


@jit
def row_step(direction: int) -> int:
    """Return by how many rows a step between squares goes down."""
    if direction == 0 or direction == 4 or direction == 7:
        return -1
    if direction == 2 or direction == 5 or direction == 6:
        return 1
    return 0


@jit
def col_step(direction: int) -> int:
    """Return by how many columns a step between squares goes to the right."""
    if direction == 1 or direction == 4 or direction == 5:
        return 1
    if direction == 3 or direction == 6 or direction == 7:
        return -1
    return 0


@jit
def find_boxes(side: int, n_directions: int, inside: Any, shifts: Any) -> None:
    """Find the steps that stay inside a box, from each of its places, for each kind of box.

    Box 0 is a window of side x side places; box 1 + d is that window and its neighbour in
    direction d, within their common rows and columns. Bit row * cols + col stands for a place; of
    a diagonal pair, the two corners of the rows and columns hold places of neither window.

    Out: inside int64 (9, 8), the places of each box whose step in each direction stays inside;
    shifts int64 (9, 8), by how much the number of the bit grows with it.
    """
    inside[:] = 0
    shifts[:] = 0
    for box in range(n_directions + 1):
        down, right = 0, 0
        if box > 0:
            down, right = row_step(box - 1), col_step(box - 1)
        rows, cols = side + abs(down), side + abs(right)
        places = (1 << (rows * cols)) - 1
        if down * right > 0:
            places &= ~(1 << (cols - 1) | 1 << (cols * (rows - 1)))
        elif down * right < 0:
            places &= ~(1 | 1 << (cols * rows - 1))
        for direction in range(n_directions):
            shifts[box, direction] = row_step(direction) * cols + col_step(direction)
            for row in range(rows):
                for col in range(cols):
                    there, across = row + row_step(direction), col + col_step(direction)
                    if there < 0 or there >= rows or across < 0 or across >= cols:
                        continue
                    both = 1 << (row * cols + col) | 1 << (there * cols + across)
                    if places & both == both:
                        inside[box, direction] |= 1 << (row * cols + col)


@jit
def moved(bits: int, shift: int) -> int:
    """Return the bits with their numbers raised by `shift`."""
    if shift >= 0:
        return bits << shift
    return bits >> -shift


@jit
def gather(flags: Any, padded: int, corner: int, rows: int, cols: int) -> int:
    """Return the flags of rows x cols cells as bits; `corner` is the top-left cell."""
    bits = 0
    for row in range(rows):
        for col in range(cols):
            if flags[corner + row * padded + col]:
                bits |= 1 << (row * cols + col)
    return bits


@jit
def find_moves(
    block_fits: Any,
    block_steps: Any,
    padded: int,
    corner: int,
    rows: int,
    cols: int,
    inside: Any,
    also: int,
    moves: Any,
) -> None:
    """Find the steps of blocks in a box.

    In: block_fits bool (N,), block_steps uint8 (N,); corner, rows and cols of the box; inside
    int64 (8,), its row of `find_boxes`; also, the blocks that are left although they do not fit.
    Out: moves int64 (8,): the blocks that fit and have the step in each direction.
    """
    moves[:] = 0
    for row in range(rows):
        for col in range(cols):
            cell = corner + row * padded + col
            if block_fits[cell] or (also >> (row * cols + col)) & 1:
                mask = int(block_steps[cell])
                for direction in range(8):
                    moves[direction] |= ((mask >> direction) & 1) << (row * cols + col)
    for direction in range(8):
        moves[direction] &= inside[direction]


@jit
def find_sides(
    free: int, inner: Any, padded: int, window: int, n: int, inside: Any, shifts: Any, moves: Any
) -> None:
    """Find the steps between free cells of a window that share a side without a blocking border.

    In: free, the window's free cells as bits; inner uint8 (N,) or (0,); inside, shifts int64
    (8,), box 0 of `find_boxes` for n x n places. Out: moves int64 (8,), of which the first four.
    """
    for direction in range(4):
        moves[direction] = free & inside[direction] & moved(free, -shifts[direction])
    if inner.shape[0]:
        for at in range(n * n):
            borders = int(inner[window + (at // n) * padded + at % n])
            if borders:
                for direction in range(4):
                    moves[direction] &= ~(((borders >> direction) & 1) << at)


@jit
def flood(start: int, moves: Any, shifts: Any, n_directions: int) -> int:
    """Return the bits reached from those of `start` by the moves."""
    reached = start
    grows = True
    while grows:
        before = reached
        for direction in range(n_directions):
            reached |= moved(reached & moves[direction], shifts[direction])
        grows = reached != before
    return reached


@jit
def flood_back(goal: int, moves: Any, shifts: Any, n_directions: int) -> int:
    """Return the bits from which those of `goal` are reached."""
    reached = goal
    grows = True
    while grows:
        before = reached
        for direction in range(n_directions):
            reached |= moved(reached, -shifts[direction]) & moves[direction]
        grows = reached != before
    return reached


@jit
def split_window(
    free: Any,
    inner: Any,
    block_fits: Any,
    block_steps: Any,
    padded: int,
    n: int,
    k: int,
    n_directions: int,
    window: int,
    blocks: int,
    boxes: Any,
    class_cover: Any,
    class_blocks: Any,
) -> int:
    """Sort the blocks of a window into classes and return how many there are.

    In: see `squeeze`; the window's blocks as bits; boxes int64 (6, 8), of which the caller fills
    the first four rows: box 0 of `find_boxes` for the blocks and for the cells. The rest is
    scratch.
    Out: class_cover, class_blocks int64 (16,).
    """
    side = n - k + 1
    moves, sides = boxes[4], boxes[5]
    find_moves(block_fits, block_steps, padded, window, side, side, boxes[0], 0, moves)
    cells = gather(free, padded, window, n, n)
    find_sides(cells, inner, padded, window, n, boxes[2], boxes[3], sides)
    count = 0
    left = blocks
    for block in range(side * side):
        if not (left >> block) & 1:
            continue
        # A block is of one piece, so its first cell tells which cells it covers.
        covered = flood(1 << ((block // side) * n + block % side), sides, boxes[3], 4)
        members = 1 << block
        if left != members:
            same = flood(members, moves, boxes[1], n_directions) & left
            same &= flood_back(members, moves, boxes[1], n_directions)
            for other in range(block + 1, side * side):
                first_cell = (other // side) * n + other % side
                if (same >> other) & 1 and (covered >> first_cell) & 1:
                    members |= 1 << other
        left &= ~members
        class_cover[count] = covered
        class_blocks[count] = members
        count += 1
    return count


@jit
def window_boxes(n: int, k: int, n_directions: int) -> Any:
    """Return the boxes that `split_window` asks for."""
    boxes = np.zeros((6, 8), np.int64)
    inside, shifts = np.zeros((9, 8), np.int64), np.zeros((9, 8), np.int64)
    for i in range(2):
        find_boxes(n - k + 1 if i == 0 else n, n_directions, inside, shifts)
        for direction in range(8):
            boxes[2 * i, direction] = inside[0, direction]
            boxes[2 * i + 1, direction] = shifts[0, direction]
    return boxes


@jit
def count_classes(
    free: Any,
    inner: Any,
    on_map: Any,
    full: Any,
    block_fits: Any,
    block_steps: Any,
    padded: int,
    n: int,
    k: int,
    n_directions: int,
) -> int:
    """Return the largest number of classes that `squeeze` finds in a window without creatures.

    In: as for `squeeze`, but all made as if there were no creatures; then no creatures make the
    number larger.
    """
    boxes = window_boxes(n, k, n_directions)
    class_cover, class_blocks = np.zeros(16, np.int64), np.zeros(16, np.int64)
    most = 0
    for window in range(on_map.shape[0]):
        if not on_map[window] or full[window]:
            continue
        blocks = gather(block_fits, padded, window, n - k + 1, n - k + 1)
        if blocks == 0:
            continue
        count = split_window(
            free, inner, block_fits, block_steps, padded, n, k, n_directions, window, blocks,
            boxes, class_cover, class_blocks,
        )  # fmt: skip
        most = max(most, count)
    return most


@jit
def squeeze(
    free: Any,
    taken: Any,
    inner: Any,
    on_map: Any,
    full: Any,
    block_fits: Any,
    block_steps: Any,
    padded: int,
    n: int,
    k: int,
    n_directions: int,
    n_classes: Any,
    cover: Any,
    blocks: Any,
) -> None:
    """Find the windows into which an n x n body squeezes, 1 <= k < n <= 4.

    A window on the map is squeezed if it is not full, no cell of it is taken and a block of it
    fits. A block covers the free cells of the window that hang together with it by their sides,
    not across borders of `inner`. Blocks of the window that cover the same and reach each other
    by steps inside it are one class; classes are numbered by their first block, row by row.

    In: free bool (N,), cells the body may enter, creatures considered; taken bool (N,), cells
    closed by a creature; inner uint8 (N,) or (0,); on_map, full bool (N,), `on_map` and `fits` of
    `place` for the n x n body; block_fits bool (N,), block_steps uint8 (N,), what `place` and
    `step_masks` find for a k x k body on the cells of `free`; padded, the width W; n, k,
    n_directions.
    Out: n_classes uint8 (N,), 0 where not squeezed; cover uint16 (C, N), bit row * n + col of the
    window at [class, window]; blocks uint16 (C, N), bit row * (n - k + 1) + col of the blocks'
    top-left cells. C as of `count_classes`. Entries beyond a window's classes are set to 0.
    """
    boxes = window_boxes(n, k, n_directions)
    class_cover, class_blocks = np.zeros(16, np.int64), np.zeros(16, np.int64)
    n_classes[:] = 0
    cover[:] = 0
    blocks[:] = 0
    for window in range(on_map.shape[0]):
        if not on_map[window] or full[window]:
            continue
        fitting = gather(block_fits, padded, window, n - k + 1, n - k + 1)
        if fitting == 0 or gather(taken, padded, window, n, n):
            continue
        count = split_window(
            free, inner, block_fits, block_steps, padded, n, k, n_directions, window, fitting,
            boxes, class_cover, class_blocks,
        )  # fmt: skip
        count = min(count, cover.shape[0])
        n_classes[window] = count
        for i in range(count):
            cover[i, window] = class_cover[i]
            blocks[i, window] = class_blocks[i]


@jit
def widen(blocks: int, side: int, cols: int, row: int, col: int) -> int:
    """Return the bits of a window's blocks as bits of a box with `cols` blocks a row.

    The window's first block is at (row, col) of the box; the window has `side` blocks a row.
    """
    wide = 0
    for i in range(side):
        line = (blocks >> (i * side)) & ((1 << side) - 1)
        wide |= line << ((row + i) * cols + col)
    return wide


@jit
def squeeze_steps(
    on_map: Any,
    full: Any,
    n_classes: Any,
    blocks: Any,
    block_fits: Any,
    block_steps: Any,
    padded: int,
    n: int,
    k: int,
    n_directions: int,
    out: Any,
) -> None:
    """Find the steps between neighbouring windows of which at least one is squeezed.

    From class s of a window to class t of the next one if some block of s reaches some block of t
    by steps of the k x k body whose cells stay inside the two windows. To a full window belong all
    of its blocks; so do they to a window that is no place, for whoever stands there all the same.

    In: on_map, full bool (N,); n_classes uint8 (N,), blocks uint16 (C, N) of `squeeze`; block_fits,
    block_steps, padded, n, k, n_directions as given to it.
    Out: out uint8 (C + 1, C + 1, N), all 0 when given; bit d of out[s, t, window]: the step in
    direction d is legal from s of the window, 0 for the full window and else class s - 1, to t of
    the window there. out[0, 0] stays 0: steps between full windows are those of `step_masks`.
    """
    moves = np.zeros(8, np.int64)
    inside, shifts = np.zeros((9, 8), np.int64), np.zeros((9, 8), np.int64)
    side = n - k + 1
    find_boxes(side, n_directions, inside, shifts)
    whole = (1 << (side * side)) - 1
    for window in range(full.shape[0]):
        if not on_map[window]:
            continue
        n_here = int(n_classes[window])
        is_place = n_here > 0 or full[window]
        for direction in range(n_directions):
            down, right = row_step(direction), col_step(direction)
            beyond = window + down * padded + right
            n_there = int(n_classes[beyond])
            if n_there == 0 and (n_here == 0 or not full[beyond]):
                continue
            box = 1 + direction
            rows, cols = side + abs(down), side + abs(right)
            top, left = min(down, 0), min(right, 0)
            corner = window + top * padded + left
            is_known = False
            for s in range(min(n_here, 1), n_here + 1):
                start = whole if s == 0 else int(blocks[s - 1, window])
                start = widen(start, side, cols, -top, -left)
                reached = start
                is_flooded = False
                for t in range(min(n_there, 1), n_there + 1):
                    goal = whole if t == 0 else int(blocks[t - 1, beyond])
                    goal = widen(goal, side, cols, down - top, right - left)
                    # Often a block belongs to both, and nothing needs to be searched.
                    if not reached & goal and not is_flooded:
                        if not is_known:
                            find_moves(
                                block_fits, block_steps, padded, corner, rows, cols, inside[box],
                                0 if is_place else start, moves,
                            )  # fmt: skip
                            is_known = True
                        reached = flood(start, moves, shifts[box], n_directions)
                        is_flooded = True
                    if reached & goal:
                        out[s, t, window] |= 1 << direction


# ---- What the cells of a squeezed place ask ----------------------------------------------------


@jit
def worst_covered(values: Any, cover: Any, n: int, padded: int, out: Any) -> None:
    """Find the largest value over the covered cells of each window.

    In: values T (N,); cover uint16 (N,), a row of that of `squeeze`; n, padded width W.
    Out: out T (N,), 0 where nothing is covered.
    """
    out[:] = 0
    for window in range(out.shape[0]):
        covered = int(cover[window])
        is_first = True
        for at in range(n * n):
            if (covered >> at) & 1:
                value = values[window + (at // n) * padded + at % n]
                if is_first or value > out[window]:
                    out[window] = value
                is_first = False


@jit
def every_covered(flags: Any, cover: Any, n: int, padded: int, out: Any) -> None:
    """Find the windows with the flag on all of their covered cells.

    In: flags bool (N,); cover uint16 (N,), a row of that of `squeeze`; n, padded width W.
    Out: out bool (N,), False where nothing is covered.
    """
    for window in range(out.shape[0]):
        covered = int(cover[window])
        all_set = covered != 0
        for at in range(n * n):
            if (covered >> at) & 1 and not flags[window + (at // n) * padded + at % n]:
                all_set = False
        out[window] = all_set

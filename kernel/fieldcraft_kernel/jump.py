"""Jump point search on maps of one price, by words of 64 cells.

Of all cheapest ways between two cells most differ only in the order of their steps. One of them is
kept: that with the fewest steps, then the fewest diagonals, then the diagonals as early as can be.
On it a straight run is left only where a corner of something closed forces it (a jump point), and
a diagonal run only for one of its two straight directions. So the search leaps from jump point to
jump point, and between them it looks at nothing but where runs end.

What may be left out, and why, for a straight step of price s and a diagonal one of price d with
s <= d <= 2 s (p the cell before, x the cell itself, written for the way east and north-east):

    east, then north        p to north of x is one diagonal, d <= 2 s, and has fewer steps
    east, then north-east   north-east first, then east: as dear, the diagonal earlier
    north-east, then north-west (south-east)    two straight steps, 2 s <= 2 d, fewer diagonals
    north-east, then west (south)               one straight step, s <= d + s, fewer steps

With corners "both" the first two need the cell north of p to be open; with corners "free" the
second needs the cell north of x, the third the one north (east) of p. A jump point is where that is
missing. Each swap gives a way that comes before the other in the order above, so the first way of
all has none left, and every step of it is one that the search makes.

`stops` holds, for each of the eight directions, the cells where a run ends or, on a diagonal, has
something beside it: closed ones, jump points, and those whose straight runs end at a jump point.
They are words along the run, diagonals too: a scan is a mask, a test a word and a count of zeros.
A jump point keeps all directions in which ways of the least price came to it, not just one.

References: Harabor and Grastien, "Online graph pruning for pathfinding on grid maps", AAAI 2011,
and "Improving jump point search", ICAPS 2014 (scans by words, no diagonal jump points).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.bits import count_bits, highest_bit, lowest_bit
from fieldcraft_kernel.words import (
    ALL,
    LAST,
    NONE,
    ONE,
    turn_block,
)

DONE, POOL_FULL, OUTPUT_FULL, TOTAL_TOO_LARGE = 0, 1, 2, 3
"""Status codes of `jump_search`."""
BOTH, FREE = 1, 2
"""What a diagonal asks of the cells beside it; see `survey`."""
NOISE = 1e-12
"""Relative difference of totals that counts as none."""


@jit
def survey(
    open_bits: Any, labels: Any, label: int, masks: Any, by_block: Any, width: int
) -> tuple[int, int, int]:
    """Write down the cells of a component, and tell whether jump points apply to it.

    Out: open_bits uint64 (height, words), bit by bit the cells of that label.
    In: labels int32 (N,); masks uint8 (N,); by_block uint8 (2, 512), the legal steps in the middle
    of 3 x 3 cells by what is open of them (bit 3 * row + column), with corners "both" and "free".
    Returns BOTH or FREE, or 0 where the steps are not those of a map of open and closed cells; how
    many cells there are, and how many beside another kind of cell.
    """
    height = labels.shape[0] // width
    is_both, is_free = True, True
    n_open, n_beside = 0, 0
    for row in range(height):
        open_bits[row, :] = NONE
        if row == 0 or row == height - 1:
            continue
        first = row * width
        block = 0
        for col in range(1, width):
            cell = first + col
            # The 3 x 3 cells around the one to the left: a column further each time.
            block = (block >> 1) & 0b011011011
            block |= (
                (int(labels[cell - width] == label) << 2)
                | (int(labels[cell] == label) << 5)
                | (int(labels[cell + width] == label) << 8)
            )
            if not block & 16:
                continue
            here = cell - 1
            word = (col - 1) >> 6
            open_bits[row, word] |= ONE << np.uint64((col - 1) & 63)
            mask = masks[here]
            is_both &= mask == by_block[0, block]
            is_free &= mask == by_block[1, block]
            n_open += 1
            n_beside += block != 511
    corners = 0
    if is_both:
        corners = BOTH
    elif is_free:
        corners = FREE
    return corners, n_open, n_beside


@jit
def turn(out: Any, bits: Any, block: Any) -> None:
    """Exchange rows and columns of a map of bits.

    Out: out uint64 (width, words of a column). In: bits uint64 (height, words of a row), scratch
    block uint64 (64,).
    """
    n_rows, n_words = bits.shape
    for word in range(n_words):
        for group in range(out.shape[1]):
            for i in range(64):
                row = 64 * group + i
                block[i] = bits[row, word] if row < n_rows else NONE
            turn_block(block)
            for i in range(64):
                if 64 * word + i < out.shape[0]:
                    out[64 * word + i, group] = block[i]


@jit
def mark_stops(onward: Any, back: Any, bits: Any, corners: int) -> int:
    """Mark where straight runs along lines end: closed cells, and jump points.

    Out: onward, back uint64 (lines, words), for runs to higher and to lower places.
    In: bits uint64 (lines, words), the open cells; the first and the last line are closed.
    Returns how many open cells are marked, those marked for both ways twice.
    """
    n_lines, n_words = bits.shape
    n_marked = 0
    onward[0, :], onward[n_lines - 1, :] = ALL, ALL
    back[0, :], back[n_lines - 1, :] = ALL, ALL
    for line in range(1, n_lines - 1):
        for word in range(n_words):
            forced_on, forced_back = NONE, NONE
            for side in (line - 1, line + 1):
                here = bits[side, word]
                before, after = _moved(bits, side, word, 1), _moved(bits, side, word, -1)
                if corners == BOTH:
                    forced_on |= here & ~before
                    forced_back |= here & ~after
                else:
                    forced_on |= after & ~here
                    forced_back |= before & ~here
            is_open = bits[line, word]
            onward[line, word] = ~is_open | forced_on
            back[line, word] = ~is_open | forced_back
            n_marked += count_bits(forced_on & is_open) + count_bits(forced_back & is_open)
    return n_marked


@jit
def mark_finds(finds_on: Any, finds_back: Any, onward: Any, back: Any, bits: Any) -> None:
    """Mark the cells from which a straight run along the line ends at a jump point.

    Out: finds_on, finds_back uint64 (lines, words), for runs to higher and to lower places.
    In: onward, back, bits as in `mark_stops`.

    A run from a cell ends at the next cell if that is a stop, else where one from there does; so
    what is known of a stop spreads over the cells before it, in six doublings within a word.
    """
    n_lines, n_words = bits.shape
    for line in range(n_lines):
        carried = NONE
        for word in range(n_words - 1, -1, -1):
            stop, found = onward[line, word], onward[line, word] & bits[line, word]
            spread = (found >> ONE) | (carried << LAST)
            free = ~(stop >> ONE)
            for i in range(6):
                shift = ONE << np.uint64(i)
                spread |= free & (spread >> shift)
                free &= free >> shift
            finds_on[line, word] = spread
            carried = (found | (spread & ~stop)) & ONE
        carried = NONE
        for word in range(n_words):
            stop, found = back[line, word], back[line, word] & bits[line, word]
            spread = (found << ONE) | carried
            free = ~(stop << ONE)
            for i in range(6):
                shift = ONE << np.uint64(i)
                spread |= free & (spread << shift)
                free &= free << shift
            finds_back[line, word] = spread
            carried = (found | (spread & ~stop)) >> LAST


@jit
def mark_diagonals(
    stops: Any, bits: Any, finds_along: Any, finds_across: Any, d_row: int, d_col: int, corners: int
) -> None:
    """Mark where diagonal runs end, and the cells on the way whose straight runs find something.

    Out: stops uint64 (height, words), by rows.
    In: bits uint64 (height, words), the open cells; finds_along, finds_across likewise: where a
    run along the row, and along the column, in the two directions of the diagonal, ends at a jump
    point; the direction of the diagonal.
    """
    height, n_words = bits.shape
    stops[0, :], stops[height - 1, :] = ALL, ALL
    for row in range(1, height - 1):
        for word in range(n_words):
            beside_row, beside_col = bits[row - d_row, word], _moved(bits, row, word, d_col)
            legal = bits[row, word] & _moved(bits, row - d_row, word, d_col)
            if corners == BOTH:
                legal &= beside_row & beside_col
                corner = NONE
            else:
                corner = ~beside_row & _moved(bits, row - d_row, word, -d_col)
                corner |= ~beside_col & _moved(bits, row + d_row, word, d_col)
            stops[row, word] = ~legal | corner | finds_along[row, word] | finds_across[row, word]


@jit
def _moved(bits: Any, line: int, word: int, by: int) -> Any:
    """Return a word of a line with every bit one place higher (by = 1) or lower (-1)."""
    here = bits[line, word]
    if by > 0:
        return (here << ONE) | (bits[line, word - 1] >> LAST if word else NONE)
    return (here >> ONE) | (bits[line, word + 1] << LAST if word + 1 < bits.shape[1] else NONE)


@jit
def skew(out: Any, bits: Any, width: int, slope: int) -> None:
    """Turn each row in a circle, so that diagonals become columns.

    Out: out uint64 (height, words): bit j of a row is bit (j + slope * row) modulo width of
    `bits`. A diagonal that leaves the map on one side shares its column with one that begins at
    the other; the ring of closed cells lies between the two.
    """
    height, n_words = bits.shape
    for row in range(height):
        for word in range(n_words):
            place = (64 * word + slope * row) % width
            value, n = NONE, 0
            while n < 64:
                i, shift = place >> 6, np.uint64(place & 63)
                part = bits[row, i] >> shift
                if place & 63 and i + 1 < n_words:
                    part |= bits[row, i + 1] << (np.uint64(64) - shift)
                if width - place < 64:
                    part &= ~(ALL << np.uint64(width - place))
                value |= part << np.uint64(n)
                n += width - place
                place = 0
            out[row, word] = value


@jit
def lay_plane(
    stops: Any, labels: Any, label: int, masks: Any, by_block: Any, width: int
) -> tuple[int, int, int, int]:
    """Lay a component out for `jump_search`; one kernel, so that one is fetched from the cache.

    Out: stops uint64 (2 * height * words of a row + 6 * width * words of a column,), as there.
    In: as `survey`. Returns what `survey` does, and how many jump points there are (`mark_stops`).
    """
    height = labels.shape[0] // width
    rows = np.zeros((height, (width + 63) >> 6), np.uint64)
    corners, n_open, n_beside = survey(rows, labels, label, masks, by_block, width)
    if corners == 0:
        return corners, n_open, n_beside, 0
    cols = np.zeros((width, (height + 63) >> 6), np.uint64)
    block = np.empty(64, np.uint64)
    turn(cols, rows, block)
    by_rows = stops[: 2 * rows.size].reshape((2, *rows.shape))
    by_cols = stops[2 * rows.size :].reshape((6, *cols.shape))
    finds_rows, finds_cols = np.empty_like(by_rows), np.empty_like(by_cols[:2])
    n_stops = mark_stops(by_rows[0], by_rows[1], rows, corners)
    n_stops += mark_stops(by_cols[0], by_cols[1], cols, corners)
    mark_finds(finds_rows[0], finds_rows[1], by_rows[0], by_rows[1], rows)
    mark_finds(finds_cols[0], finds_cols[1], by_cols[0], by_cols[1], cols)
    across, slanted, skewed = np.empty_like(rows), np.empty_like(rows), np.empty_like(rows)
    for i in range(4):
        # South-east, north-west, south-west, north-east.
        d_row = 1 if i == 0 or i == 2 else -1
        d_col = 1 if i == 0 or i == 3 else -1
        turn(across, finds_cols[0 if d_row > 0 else 1], block)
        along = finds_rows[0 if d_col > 0 else 1]
        mark_diagonals(slanted, rows, along, across, d_row, d_col, corners)
        skew(skewed, slanted, width, d_row * d_col)
        turn(by_cols[2 + i], skewed, block)
    return corners, n_open, n_beside, n_stops


@jit
def jump_search(
    out: Any,
    masks: Any,
    stops: Any,
    corners: int,
    start: int,
    goal: int,
    straight: float,
    diagonal: float,
    limit: float,
    width: int,
    totals: Any,
    parents: Any,
    arrivals: Any,
    touched: Any,
    keys: Any,
    cells: Any,
) -> tuple[int, int, int, int, int]:
    """Search the cheapest way from a cell to another cell of the same component.

    Out: out int64 (m, 2), the cells of the way, start first, as (row, column) without the padding.
    In: masks uint8 (N,) of the padded map; stops uint64, the words of `mark_stops` one direction
    after the other: east and west by rows, south and north by columns, then south-east,
    north-west, south-west and north-east (`mark_diagonals`) by diagonals, as `skew` numbers them;
    corners, see `survey`; the prices of a straight and of a diagonal step; the largest total that
    counts; width of the padded map.
    Scratch: totals float64 (N,); parents int32 (N,); arrivals uint16 (N,), 0 between searches and
    where there is no total: directions still to be followed and, in the upper byte, all that were;
    touched int32 (N,); keys float64 (k,) and cells int32 (k,): a binary heap.
    Returns (cells of the way or 0, straight steps, diagonal steps, jump points expanded, status).
    TOTAL_TOO_LARGE says that there may be a way beyond the limit.
    """
    height = masks.shape[0] // width
    row_words, col_words = (width + 63) >> 6, (height + 63) >> 6
    row_plane, col_plane = height * row_words, width * col_words
    # Multiplying is five times as fast as dividing, and exact for half numbers of this size.
    inverse = 1.0 / width
    goal_row, goal_col = goal // width, goal % width
    n_touched, n_heap, expanded = 1, 1, 0
    status = DONE
    touched[0] = start
    best = math.inf
    totals[start] = 0.0
    parents[start] = start
    arrivals[start] = int(masks[start]) << 8 | int(masks[start])
    keys[0], cells[0] = 0.0, start
    while n_heap > 0:
        # -- take the cell of the least key off the heap --
        cell = int(cells[0])
        n_heap -= 1
        last_key, last_cell = keys[n_heap], cells[n_heap]
        place = 0
        while True:
            below = 2 * place + 1
            if below >= n_heap:
                break
            if below + 1 < n_heap and keys[below + 1] < keys[below]:
                below += 1
            if keys[below] >= last_key:
                break
            keys[place], cells[place] = keys[below], cells[below]
            place = below
        keys[place], cells[place] = last_key, last_cell
        if cell == goal:
            break
        pending = int(arrivals[cell]) & 0xFF
        if not pending:
            continue
        arrivals[cell] &= 0xFF00
        expanded += 1
        row0 = int((cell + 0.5) * inverse)
        col0 = cell - row0 * width
        total0 = totals[cell]

        while pending:
            along = lowest_bit(pending)
            pending &= pending - 1
            at, row, col = cell, row0, col0
            n_diagonal, to_goal, base = 0, 0, 0
            d_row, d_col = 0, 0
            first_scan, n_scans = along, 1
            if along >= 4:
                # Diagonal 4 + i lies between the straight directions i and i + 1.
                first_scan, n_scans = along - 4, 2
                d_row = -1 if along == 4 or along == 7 else 1
                d_col = 1 if along < 6 else -1
                base = 2 * row_plane + 2 * col_plane
                line = col - row if along == 5 or along == 7 else col + row
                line -= width * math.floor((line + 0.5) * inverse)
                base += line * col_words
                if along == 7:
                    base += col_plane
                elif along == 6:
                    base += 2 * col_plane
                elif along == 4:
                    base += 3 * col_plane
                # Where the diagonal crosses the row or the column of the goal, a run may end there.
                to_goal = min((goal_row - row) * d_row, (goal_col - col) * d_col)
            while True:
                is_end = False
                if along >= 4:
                    # -- how far the diagonal goes: to the next cell that is marked --
                    word = row >> 6
                    if d_row > 0:
                        bits = stops[base + word] & (ALL << np.uint64(row & 63) << ONE)
                        while bits == NONE:
                            word += 1
                            bits = stops[base + word]
                        n = (word << 6) + lowest_bit(bits) - row
                    else:
                        bits = stops[base + word] & ~(ALL << np.uint64(row & 63))
                        while bits == NONE:
                            word -= 1
                            bits = stops[base + word]
                        n = row - (word << 6) - highest_bit(bits)
                    if n_diagonal < to_goal < n_diagonal + n:
                        n = to_goal - n_diagonal
                    n_diagonal += n
                    row += n * d_row
                    col += n * d_col
                    at = row * width + col
                    if not (masks[at - d_row * width - d_col] >> along) & 1:
                        break
                    high, low = abs(goal_row - row), abs(goal_col - col)
                    if high < low:
                        high, low = low, high
                    bound = total0 + n_diagonal * diagonal
                    bound += straight * (high - low) + diagonal * low
                    # Nothing from here on is below the bound, which never falls along a run.
                    if bound > limit:
                        status = TOTAL_TOO_LARGE
                        break
                    if bound >= best:
                        break
                # Scan -1: the cell of the diagonal itself, where it is the goal or a corner.
                for i in range(-1 if along >= 4 else 0, n_scans):
                    target = at
                    n_straight = 0
                    arrived = 1  # of the goal, which is not gone on from
                    if i < 0:
                        if at == goal:
                            is_end = True
                        elif corners == FREE:
                            arrived = 0
                            # Beside and behind: closed, and beyond it open.
                            mask = int(masks[at])
                            one, other = (first_scan + 3) & 3, (first_scan + 2) & 3
                            before, after = 4 + ((along - 5) & 3), 4 + ((along - 3) & 3)
                            if not (mask >> one) & 1 and (mask >> before) & 1:
                                arrived |= 1 << before
                            if not (mask >> other) & 1 and (mask >> after) & 1:
                                arrived |= 1 << after
                            if not arrived:
                                continue
                            # The straight directions are scanned from here at once.
                            arrived |= 1 << along
                            is_end = True
                        else:
                            continue
                    else:
                        # -- how far a straight run goes --
                        scan = (first_scan + i) & 3
                        is_row = scan & 1
                        here = col if is_row else row
                        word = here >> 6
                        if scan == 1 or scan == 2:
                            line = row * row_words if is_row else 2 * row_plane + col * col_words
                            bits = stops[line + word] & (ALL << np.uint64(here & 63) << ONE)
                            while bits == NONE:
                                word += 1
                                bits = stops[line + word]
                            n_straight = (word << 6) + lowest_bit(bits) - here
                            step = 1 if is_row else width
                        else:
                            line = row_plane + row * row_words
                            if not is_row:
                                line = 2 * row_plane + col_plane + col * col_words
                            bits = stops[line + word] & ~(ALL << np.uint64(here & 63))
                            while bits == NONE:
                                word -= 1
                                bits = stops[line + word]
                            n_straight = here - (word << 6) - highest_bit(bits)
                            step = -1 if is_row else -width
                        n = (goal_col - col if is_row else goal_row - row) * (1 if step > 0 else -1)
                        if 0 < n <= n_straight and (row == goal_row if is_row else col == goal_col):
                            n_straight = n
                            target = goal
                        else:
                            target = at + n_straight * step
                            behind = int(masks[target - step])
                            if not (behind >> scan) & 1:
                                continue  # closed: a dead end
                            mask = int(masks[target])
                            arrived = 1 << scan
                            for turned in (1, 3):
                                side = (scan + turned) & 3
                                slant = 4 + (scan if turned == 1 else side)
                                if corners == BOTH:
                                    if (mask >> side) & 1 and not (behind >> side) & 1:
                                        arrived |= 1 << side | 1 << slant
                                elif (mask >> slant) & 1 and not (mask >> side) & 1:
                                    arrived |= 1 << slant

                    # -- label the jump point, or add to the directions of an equal label --
                    total = total0 + (n_diagonal * diagonal + n_straight * straight)
                    known = totals[target] if arrivals[target] else math.inf
                    if total > known * (1 + NOISE):
                        continue
                    to_row = int((target + 0.5) * inverse)
                    high, low = abs(goal_row - to_row), abs(goal_col - target + to_row * width)
                    if high < low:
                        high, low = low, high
                    key = total + (straight * (high - low) + diagonal * low)
                    if key > limit:
                        status = TOTAL_TOO_LARGE
                        continue
                    if key >= best:
                        continue
                    if total < known * (1 - NOISE):
                        if known == math.inf:
                            touched[n_touched] = target
                            n_touched += 1
                        totals[target] = total
                        if target == goal:
                            best = total
                        parents[target] = cell
                        arrivals[target] = arrived << 8 | arrived
                    else:
                        arrived &= ~(int(arrivals[target]) >> 8)
                        if not arrived:
                            continue
                        waits = int(arrivals[target]) & 0xFF
                        arrivals[target] |= arrived << 8 | arrived
                        if waits:
                            continue
                    if n_heap == keys.shape[0]:
                        status = POOL_FULL
                        break
                    place = n_heap
                    n_heap += 1
                    while place > 0:
                        above = (place - 1) >> 1
                        if keys[above] < key:
                            break
                        keys[place], cells[place] = keys[above], cells[above]
                        place = above
                    keys[place], cells[place] = key, target
                if along < 4 or is_end or status == POOL_FULL:
                    break
            if status == POOL_FULL:
                break
        if status == POOL_FULL:
            break

    # -- write down the way: from each jump point back along a straight run, then a diagonal one --
    n_out, n_straight, n_diagonal = 0, 0, 0
    if status != POOL_FULL and best < math.inf:
        status = DONE
        at = goal
        while at != start:
            before = parents[at]
            high = abs(at // width - before // width)
            low = abs(at % width - before % width)
            n_diagonal += min(high, low)
            n_straight += abs(high - low)
            at = before
        n_out = n_straight + n_diagonal + 1
        if n_out > out.shape[0]:
            status = OUTPUT_FULL
        else:
            place = n_out - 1
            at = goal
            row, col = goal_row, goal_col
            while at != start:
                before = int(parents[at])
                row1, col1 = before // width, before % width
                while row != row1 or col != col1:
                    out[place, 0], out[place, 1] = row - 1, col - 1
                    place -= 1
                    high, low = row1 - row, col1 - col
                    # Back: first the straight run, until what is left is a diagonal.
                    if abs(high) >= abs(low):
                        row += 1 if high > 0 else -1
                    if abs(low) >= abs(high):
                        col += 1 if low > 0 else -1
                at = before
            out[0, 0], out[0, 1] = row - 1, col - 1
    for i in range(n_touched):
        arrivals[touched[i]] = 0
    return n_out, n_straight, n_diagonal, expanded, status

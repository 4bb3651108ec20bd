"""What one cell sees: a walk over a fan (see fans.py) that leaves out all behind what hides.

A viewer's surroundings are copied into a window first, a square of 2 radius + 3 cells around it
with OFF_MAP where the map ends. So the same fan serves every map, and no bounds are checked on the
way: lines between cells of the map leave it by one ring at most, other lines count for nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.fans import TARGET
from fieldcraft_kernel.lines import PAIR, PINCH, SINGLE
from fieldcraft_kernel.sight import (
    BEST_SIDE,
    BLOCKED,
    OFF_MAP,
    OPAQUE,
    by_rule,
)

LEFT, RIGHT, PACKED, BEHIND = 0, 1, 2, 3
"""Columns of a fan's nodes, int32: the left and the right cell as flat offsets into the window;
what the node is, with TWO_SUMS if a pair lies before it and the depth shifted by DEPTH_SHIFT; and
the node that follows all behind it."""
TWO_SUMS, DEPTH_SHIFT = 4, 3

HEIGHT, WIDTH, TIE, CLOSED_CORNERS, LIMIT, THRESHOLD = 0, 1, 2, 3, 4, 5
PARITY_OF_ROW, PARITY_OF_COL = 6, 7
VIEWER_FAR, VIEWER_NEAR, TARGET_FAR, TARGET_NEAR = 8, 9, 10, 11
KIND = 12
N_RULES = 13
"""Items of `rules`, int64. HEIGHT and WIDTH of the map; TIE as in sight.py; LIMIT, a sum of halves
that is enough to hide, BLOCKED if only what is opaque hides; THRESHOLD in points or 0; 1 where the
row, or the column, tells the parity, else 0; and for what the end cells count at a distance and
adjacent which plane of `ends`, or -1; KIND of the lattice as in lattice.py."""

HIDDEN = -32768
"""The malus of a cell that is not seen."""
UNSEEN = 1 << 30
"""The sum of a line that was not followed to its end."""
FIELD_LIGHT = 1
"""As a light malus: the field's own light."""


@jit
def surround(
    padded: Any, top: int, bottom: int, first: int, last: int, row: int, col: int, radius: int,
    window: Any,
) -> None:  # fmt: skip
    """Copy what lies around a cell, rows top to bottom and columns first to last, to a window.

    In: padded uint8 (height + 2, width + 2). Out: window uint8 (side * side,) around (row, col).
    """
    side = 2 * radius + 3
    n = last - first + 1
    for r in range(top, bottom + 1):
        begin = (r - row + radius + 1) * side + first - col + radius + 1
        window[begin : begin + n] = padded[r + 1, first + 1 : last + 2]


@jit
def walk(
    own: Any,
    window: Any,
    middle: int,
    tie: int,
    closed_corners: int,
    limit: int,
    left_of: Any,
    right_of: Any,
    sums: Any,
) -> None:
    """Sum the lines of a fan, and leave all that lies behind where a sum reaches the limit.

    In: own int32 (m, 4), the nodes for the viewer's parity; window uint8 (cells,), what `cover`
    says around it; middle, its own cell there. Scratch: left_of, right_of int32 (m + 1,), either
    side's sum by depth. Out: sums int32 (cells,), of each target that was come to.
    """
    left_of[0] = 0
    i = 0
    while i < own.shape[0]:
        packed = own[i, PACKED]
        what, two, depth = packed & 3, packed & TWO_SUMS, packed >> DEPTH_SHIFT
        at = middle + own[i, LEFT]
        if what == TARGET:
            total = left_of[depth]
            if two:
                right = right_of[depth]
                total = min(total, right) if tie == BEST_SIDE else max(total, right)
            sums[at] = total
            i += 1
            continue
        a = int(window[at])
        if what == SINGLE:
            if a >= OPAQUE:
                a = BLOCKED if a == OPAQUE else 0
            if not two:
                # Nearly all lines are of this kind.
                total = left_of[depth - 1] + a
                if total >= limit:
                    i = own[i, BEHIND]
                    continue
                left_of[depth] = total
                i += 1
                continue
            b = a
        else:
            b = int(window[middle + own[i, RIGHT]])
            if what == PAIR:
                both_on = a != OFF_MAP and b != OFF_MAP
                # Of a pair at the map's border the hex on the map stands for both sides.
                if a == OFF_MAP:
                    a = b
                if b == OFF_MAP:
                    b = a
                if a >= OPAQUE:
                    a = BLOCKED if a == OPAQUE else 0
                if b >= OPAQUE:
                    b = BLOCKED if b == OPAQUE else 0
                a, b = by_rule(tie, a, b, both_on)
            else:
                a = b = BLOCKED if closed_corners and a == OPAQUE and b == OPAQUE else 0
        sum_left = left_of[depth - 1] + a
        sum_right = (right_of[depth - 1] if two else left_of[depth - 1]) + b
        so_far = min(sum_left, sum_right) if tie == BEST_SIDE else max(sum_left, sum_right)
        if so_far >= limit:
            i = own[i, BEHIND]
            continue
        # One side may be ended long before the other: its sum must not wrap.
        left_of[depth] = min(sum_left, BLOCKED)
        right_of[depth] = min(sum_right, BLOCKED)
        i += 1


@jit
def walk_walled(
    own: Any,
    into: Any,
    window: Any,
    barred: Any,
    middle: int,
    tie: int,
    closed_corners: int,
    limit: int,
    left_of: Any,
    right_of: Any,
    left_at: Any,
    right_at: Any,
    gone: Any,
    sums: Any,
) -> None:
    """Do what `walk` does where borders end lines too, as `sight.look` has it.

    In: into int8 (m, 2), the direction in which a node's left and its right cell are entered from
    the entry before (at a corner: from the cell before it), -1 where they are no neighbours; barred
    uint8 (cells,), walls around the viewer. Scratch: left_at, right_at int32 (m + 1,), cells by
    depth; gone uint8 (m + 1,), 1 or 2 where the left or the right hex of a pair is off the map.
    """
    left_of[0] = 0
    right_of[0] = 0
    left_at[0] = middle
    right_at[0] = middle
    gone[0] = 0
    i = 0
    while i < own.shape[0]:
        what = own[i, PACKED] & 3
        depth = own[i, PACKED] >> DEPTH_SHIFT
        up = depth if what == TARGET else depth - 1
        a, b = middle + own[i, LEFT], middle + own[i, RIGHT]
        in_a, in_b = int(window[a]), int(window[b])
        to_a, to_b = int(into[i, 0]), int(into[i, 1])
        from_a, from_b = left_at[up], right_at[up]
        gone_here = 0
        if what == PINCH:
            here = barred[from_a]
            past_a = in_a == OPAQUE or (here >> to_a) & 1 == 1 or (barred[a] >> to_b) & 1 == 1
            past_b = in_b == OPAQUE or (here >> to_b) & 1 == 1 or (barred[b] >> to_a) & 1 == 1
            add_left = add_right = BLOCKED if closed_corners and past_a and past_b else 0
            # The next entry is reached from the cell before the corner, and no neighbour of it.
            a, b = from_a, from_b
        else:
            if gone[up] == 1:
                from_a, to_a = from_b, to_b
            elif gone[up] == 2:
                from_b, to_b = from_a, to_a
            pair = what == PAIR
            if pair and in_a == OFF_MAP:
                a, from_a, to_a, in_a = b, from_b, to_b, in_b
                pair, gone_here = False, 1
            elif pair and in_b == OFF_MAP:
                b, from_b, to_b, in_b = a, from_a, to_a, in_a
                pair, gone_here = False, 2
            if in_a == OPAQUE:
                in_a = BLOCKED
            if in_b == OPAQUE:
                in_b = BLOCKED
            if what == TARGET or in_a == OFF_MAP:
                in_a = in_b = 0
            wall_a = BLOCKED if to_a >= 0 and (barred[from_a] >> to_a) & 1 == 1 else 0
            wall_b = BLOCKED if to_b >= 0 and (barred[from_b] >> to_b) & 1 == 1 else 0
            in_a, in_b = by_rule(tie, in_a, in_b, pair)
            wall_a, wall_b = by_rule(tie, wall_a, wall_b, False)
            add_left, add_right = in_a + wall_a, in_b + wall_b
        sum_left = min(left_of[up] + add_left, BLOCKED)
        sum_right = min(right_of[up] + add_right, BLOCKED)
        so_far = min(sum_left, sum_right) if tie == BEST_SIDE else max(sum_left, sum_right)
        if what == TARGET:
            sums[a] = so_far
            i += 1
            continue
        if so_far >= limit:
            i = own[i, BEHIND]
            continue
        left_of[depth] = sum_left
        right_of[depth] = sum_right
        left_at[depth] = a
        right_at[depth] = b
        gone[depth] = gone_here
        i += 1


@jit
def see(
    nodes: Any,
    into: Any,
    near: Any,
    rules: Any,
    cover: Any,
    walls: Any,
    ends: Any,
    light: Any,
    viewers: Any,
    radius: int,
    given_light: int,
    out: Any,
    counts: Any,
) -> None:
    """Write the maluses of all cells within a radius of each viewer.

    In: nodes int32 (1 or 2 parities, m, 4); into int8 (m, 2), see `walk_walled`; near int32
    (parities, k, 2), rows and columns to the cells next to the viewer; rules int64 (N_RULES,);
    cover uint8 (maps, height + 2, width + 2), and walls of that shape or (0, 0, 0), as in sight.py;
    ends uint8 (planes, height, width), of any size where none is used; light int8, the map's or
    (1, 1); viewers int64 (n, 3), map, row and column; given_light 0 or below, or FIELD_LIGHT.
    Out: out int16 (n, 2 radius + 1, 2 radius + 1), HIDDEN where nothing is seen; counts int64
    (n,), how many cells are. The viewer's own is seen with malus 0. Of a stack of maps `ends` and
    `light` hold the rows of one map after those of the other.
    """
    height, width, tie = rules[HEIGHT], rules[WIDTH], rules[TIE]
    closed_corners = rules[CLOSED_CORNERS]
    threshold = rules[THRESHOLD]
    side = 2 * radius + 3
    middle = (radius + 1) * side + radius + 1
    window = np.empty(side * side, np.uint8)
    sums = np.empty(side * side, np.int32)
    left_of = np.empty(nodes.shape[1] + 1, np.int32)
    right_of = np.empty(nodes.shape[1] + 1, np.int32)
    has_walls = walls.shape[0] > 0
    barred = np.empty(side * side if has_walls else 0, np.uint8)
    left_at = np.empty(nodes.shape[1] + 1 if has_walls else 0, np.int32)
    right_at = np.empty(nodes.shape[1] + 1 if has_walls else 0, np.int32)
    gone = np.empty(nodes.shape[1] + 1 if has_walls else 0, np.uint8)
    least = HIDDEN + 1
    constant = given_light if given_light != FIELD_LIGHT else int(light[0, 0])
    of_map = given_light == FIELD_LIGHT and light.size > 1
    for v in range(viewers.shape[0]):
        where, row, col = viewers[v, 0], viewers[v, 1], viewers[v, 2]
        parity = (row * rules[PARITY_OF_ROW] + col * rules[PARITY_OF_COL]) & 1

        top, bottom = max(row - radius - 1, -1), min(row + radius + 1, height)
        first, last = max(col - radius - 1, -1), min(col + radius + 1, width)
        at_edge = bottom - top < 2 * radius + 2 or last - first < 2 * radius + 2
        if at_edge:
            window[:] = OFF_MAP
            barred[:] = 0
        surround(cover[where], top, bottom, first, last, row, col, radius, window)
        sums[:] = UNSEEN

        # What the viewer's own cell counts is against every target at a distance.
        of_viewer = 0
        of_viewer_near = 0
        if rules[VIEWER_FAR] >= 0:
            of_viewer = int(ends[rules[VIEWER_FAR], where * height + row, col])
        if rules[VIEWER_NEAR] >= 0:
            of_viewer_near = int(ends[rules[VIEWER_NEAR], where * height + row, col])
        limit = max(rules[LIMIT] - of_viewer, 1)

        if has_walls:
            surround(walls[where], top, bottom, first, last, row, col, radius, barred)
            walk_walled(
                nodes[parity], into, window, barred, middle, tie, closed_corners, limit, left_of,
                right_of, left_at, right_at, gone, sums,
            )  # fmt: skip
        else:
            walk(nodes[parity], window, middle, tie, closed_corners, limit, left_of, right_of, sums)

        seen = 0
        out[v] = HIDDEN
        top, bottom = max(row - radius, 0), min(row + radius, height - 1)
        first, last = max(col - radius, 0), min(col + radius, width - 1)
        limit = rules[LIMIT]
        for r in range(top, bottom + 1):
            begin = (r - row + radius + 1) * side + radius + 1 - col
            for c in range(first, last + 1):
                halves = sums[begin + c]
                if halves >= limit:
                    continue
                halves += of_viewer
                if rules[TARGET_FAR] >= 0:
                    halves += int(ends[rules[TARGET_FAR], where * height + r, c])
                points = (halves + 1) >> 1
                if threshold > 0 and points >= threshold:
                    continue
                malus = int(light[where * height + r, c]) if of_map else constant
                out[v, r - row + radius, c - col + radius] = max(malus - points, least)
                seen += 1

        # Next to the viewer other rules may hold for the ends.
        for k in range(near.shape[1]):
            r, c = row + near[parity, k, 0], col + near[parity, k, 1]
            if r < 0 or r >= height or c < 0 or c >= width:
                continue
            halves = sums[middle + near[parity, k, 0] * side + near[parity, k, 1]]
            was_seen = out[v, r - row + radius, c - col + radius] != HIDDEN
            malus = HIDDEN
            if halves < limit:
                halves += of_viewer_near
                if rules[TARGET_NEAR] >= 0:
                    halves += int(ends[rules[TARGET_NEAR], where * height + r, c])
                points = (halves + 1) >> 1
                if threshold == 0 or points < threshold:
                    malus = int(light[where * height + r, c]) if of_map else constant
                    malus = max(malus - points, least)
            out[v, r - row + radius, c - col + radius] = malus
            seen += int(malus != HIDDEN) - int(was_seen)
        out[v, radius, radius] = 0
        counts[v] = seen + 1


@jit
def sum_between(
    nodes: Any, rules: Any, cover: Any, viewers: Any, radius: int, deepest: int, out: Any
) -> None:
    """Write the halves between some cells and all others of a map, up to the limit.

    In: nodes int32 (1 or 2 parities, m, 4) of a fan that leads to every cell, in a window of the
    radius; deepest of it; rules int64 (N_RULES,); cover uint8 (height + 2, width + 2); viewers
    int64 (n, 2). Out: out uint8 (n, height * width), 0 in the viewer's own cell.
    """
    height, width, limit = rules[HEIGHT], rules[WIDTH], rules[LIMIT]
    side = 2 * radius + 3
    middle = (radius + 1) * side + radius + 1
    window, sums = np.empty(side * side, np.uint8), np.empty(side * side, np.int32)
    left_of, right_of = np.empty(deepest + 2, np.int32), np.empty(deepest + 2, np.int32)
    for v in range(viewers.shape[0]):
        row, col = viewers[v, 0], viewers[v, 1]
        parity = (row * rules[PARITY_OF_ROW] + col * rules[PARITY_OF_COL]) & 1
        window[:] = OFF_MAP
        sums[:] = UNSEEN
        surround(cover, -1, height, -1, width, row, col, radius, window)
        walk(
            nodes[parity], window, middle, rules[TIE], rules[CLOSED_CORNERS], limit, left_of,
            right_of, sums,
        )  # fmt: skip
        for r in range(height):
            begin = (r - row + radius + 1) * side + radius + 1 - col
            for c in range(width):
                out[v, r * width + c] = min(sums[begin + c], limit)
        out[v, row * width + col] = 0


@jit
def list_seen(window: Any, row: int, col: int, cells: Any, maluses: Any) -> None:
    """List the cells that a view's window shows, row by row.

    In: window int16 (rows, cols); row and col of its first cell. Out: cells int64 (n, 2) and
    maluses int16 (n,), n the number of cells seen.
    """
    n, total = 0, maluses.shape[0]
    for r in range(window.shape[0]):
        for c in range(window.shape[1]):
            if n == total:
                return
            # Written always and kept if seen: what is seen is hard to predict.
            cells[n, 0] = row + r
            cells[n, 1] = col + c
            maluses[n] = window[r, c]
            n += int(window[r, c] != HIDDEN)

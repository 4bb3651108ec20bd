"""Sight lines of many pairs in one call, where nothing but cells counts on the way.

On squares a line is walked, and left where something ends it. On hexes a step of a line costs more
to find, so near pairs are read from a table: a line depends only on the vector between its ends and
on the parity of the viewer's line. The order of the cells does not change a sum, so the table lists
a line's single cells first: most lines have no others, and for those one array is read and nothing
is asked of it.
"""

from __future__ import annotations

from typing import Any

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.lattice import EVEN_Q, ODD_Q, SQUARE, frame, unframe
from fieldcraft_kernel.lines import PAIR, SINGLE, line
from fieldcraft_kernel.sight import (
    BEST_SIDE,
    BLOCKED,
    OFF_MAP,
    OPAQUE,
    WORST_SIDE,
    by_rule,
)
from fieldcraft_kernel.views import (
    CLOSED_CORNERS,
    FIELD_LIGHT,
    HEIGHT,
    KIND,
    PARITY_OF_COL,
    PARITY_OF_ROW,
    TARGET_FAR,
    TARGET_NEAR,
    TIE,
    VIEWER_FAR,
    VIEWER_NEAR,
    WIDTH,
)

TOO_FAR = -1
"""The sum of a pair that is not in the table."""


@jit
def lay_pairs(
    kind: int,
    stepped: int,
    parity: int,
    width: int,
    vectors: Any,
    entries: Any,
    first: Any,
    cells: Any,
) -> int:
    """Write the lines from a viewer to cells at given offsets.

    In: kind of the lattice; parity of the viewer's line; width of the padded map; vectors int64
    (lines, 2), rows and columns to the targets; the lattice is one of hexes. Scratch: entries int64
    (m, lines.N_FIELDS).
    Out: first int32 (2 lines + 1,): the single cells of line i are 2i to 2i + 1, its pairs,
    two items each, go on to 2i + 2; cells int32 (m,), flat offsets from the viewer.
    Returns how many items of `cells` were written, or -1 if it is too short.
    """
    row, col = (0, parity) if kind == ODD_Q or kind == EVEN_Q else (parity, 0)
    x, y = frame(kind, row, col)
    n = 0
    first[0] = 0
    for i in range(vectors.shape[0]):
        target_x, target_y = frame(kind, row + vectors[i, 0], col + vectors[i, 1])
        count = line(kind, stepped, target_x - x, target_y - y, entries)
        if n + 2 * count > cells.shape[0]:
            return -1
        for part in range(2):
            for j in range(count):
                if (entries[j, 4] == SINGLE) != (part == 0):
                    continue
                for k in range(0, 2 * part + 1, 2):
                    cell_row, cell_col = unframe(kind, x + entries[j, k], y + entries[j, k + 1])
                    cells[n] = (cell_row - row) * width + cell_col - col
                    n += 1
            first[2 * i + part + 1] = n
    return n


@jit
def widest(rules: Any, pairs: Any) -> int:
    """Return by how many rows or columns the ends of a pair are apart at most.

    In: rules int64 (views.N_RULES,); pairs int64 (n, 2, 2). Returns -1 - i instead if pair i is
    the first with a cell off the map.
    """
    height, width = rules[HEIGHT], rules[WIDTH]
    most = 0
    for i in range(pairs.shape[0]):
        row, col, target_row, target_col = (
            pairs[i, 0, 0], pairs[i, 0, 1], pairs[i, 1, 0], pairs[i, 1, 1],
        )  # fmt: skip
        if not (
            0 <= row < height
            and 0 <= col < width
            and 0 <= target_row < height
            and 0 <= target_col < width
        ):
            return -1 - i
        most = max(most, abs(target_row - row), abs(target_col - col))
    return most


@jit
def add_entry(
    tie: int, a: int, b: int, what: int, sum_left: int, sum_right: int
) -> tuple[int, int]:
    """Return both sides' sums with the two hexes of an entry added, by what `cover` says of them.

    A hex off the map takes no part: of a pair the other one stands for both sides.
    """
    both_on = a != OFF_MAP and b != OFF_MAP
    if a == OFF_MAP:
        a = b
    if b == OFF_MAP:
        b = a
    if a >= OPAQUE:
        a = BLOCKED if a == OPAQUE else 0
    if b >= OPAQUE:
        b = BLOCKED if b == OPAQUE else 0
    a, b = by_rule(tie, a, b, both_on and what != SINGLE)
    return min(sum_left + a, BLOCKED), min(sum_right + b, BLOCKED)


@jit
def of_sides(tie: int, sum_left: int, sum_right: int) -> int:
    """Return the sum that counts of a line's two sides."""
    if tie == BEST_SIDE:
        return min(sum_left, sum_right)
    if tie == WORST_SIDE:
        return max(sum_left, sum_right)
    return sum_left


@jit
def look_over(
    first: Any, cells: Any, rules: Any, cover: Any, pairs: Any, radius: int, out: Any
) -> int:
    """Sum what lies between viewers and targets on hexes, the ends left out.

    In: first int32 (parities, 2 lines + 1) and cells int32 (parities, m) as `lay_pairs` made them
    for all cells of a square of rows and columns within `radius`, row by row; rules int64
    (views.N_RULES,); cover uint8 ((height + 2) * (width + 2),) as in sight.py; pairs int64
    (n, 2, 2), all on the map. Out: out int32 (n,), halves; BLOCKED or more where something opaque
    ends the line, TOO_FAR where the table does not reach. Returns how many of these there are.
    """
    width, tie = rules[WIDTH], rules[TIE]
    side = 2 * radius + 1
    too_far = 0
    for i in range(pairs.shape[0]):
        row, col, target_row, target_col = (
            pairs[i, 0, 0], pairs[i, 0, 1], pairs[i, 1, 0], pairs[i, 1, 1],
        )  # fmt: skip
        rows, cols = target_row - row + radius, target_col - col + radius
        if not (0 <= rows < side and 0 <= cols < side):
            out[i] = TOO_FAR
            too_far += 1
            continue
        parity = (row * rules[PARITY_OF_ROW] + col * rules[PARITY_OF_COL]) & 1
        at = 2 * (rows * side + cols)
        base = (row + 1) * (width + 2) + col + 1
        total = 0
        for j in range(first[parity, at], first[parity, at + 1]):
            value = int(cover[base + cells[parity, j]])
            if value >= OPAQUE:
                # A cell off the map takes no part.
                if value == OFF_MAP:
                    continue
                total = BLOCKED
                break
            total += value
        begin, end = first[parity, at + 1], first[parity, at + 2]
        if begin < end and total < BLOCKED:
            sum_left = 0
            sum_right = 0
            for j in range(begin, end, 2):
                a = int(cover[base + cells[parity, j]])
                b = int(cover[base + cells[parity, j + 1]])
                sum_left, sum_right = add_entry(tie, a, b, PAIR, sum_left, sum_right)
            total += of_sides(tie, sum_left, sum_right)
        out[i] = total
    return too_far


@jit
def finish(
    rules: Any, ends: Any, light: Any, given_light: int, pairs: Any, out: Any, lights: Any
) -> None:
    """Add what the two ends count, and tell the light at the target.

    In: rules, ends, light and given_light as in `views.see`; pairs int64 (n, 2, 2).
    In and out: out int32 (n,), the sums between. Out: lights int16 (n,). In one cell both
    are 0.
    """
    kind = rules[KIND]
    constant = given_light if given_light != FIELD_LIGHT else int(light[0, 0])
    of_map = given_light == FIELD_LIGHT and light.size > 1
    for i in range(pairs.shape[0]):
        row, col, target_row, target_col = (
            pairs[i, 0, 0], pairs[i, 0, 1], pairs[i, 1, 0], pairs[i, 1, 1],
        )  # fmt: skip
        if row == target_row and col == target_col:
            out[i] = 0
            lights[i] = 0
            continue
        lights[i] = int(light[target_row, target_col]) if of_map else constant
        if ends.shape[0] == 0:
            continue
        rows, cols = target_row - row, target_col - col
        near = max(abs(rows), abs(cols)) == 1
        if near and kind != SQUARE:
            x, y = frame(kind, row, col)
            target_x, target_y = frame(kind, target_row, target_col)
            near = abs(target_x + target_y - x - y) <= 1 and abs(target_x - x) <= 1
            near = near and abs(target_y - y) <= 1
        of_viewer, of_target = rules[VIEWER_FAR], rules[TARGET_FAR]
        if near:
            of_viewer, of_target = rules[VIEWER_NEAR], rules[TARGET_NEAR]
        total = int(out[i])
        if of_viewer >= 0:
            total += int(ends[of_viewer, row, col])
        if of_target >= 0:
            total += int(ends[of_target, target_row, target_col])
        out[i] = total


@jit
def walk_squares(rules: Any, cover: Any, pairs: Any, out: Any) -> None:
    """Sum what lies between viewers and targets on squares, the ends left out.

    In: rules, cover and pairs as in `look_over`. Out: out int32 (n,) as there.

    These are the lines of `lines.square_crossed`, left at the first cell that ends them: `ahead`
    is how much further the next border of a row is than that of a column.
    """
    width, closed_corners = rules[WIDTH] + 2, rules[CLOSED_CORNERS]
    for i in range(pairs.shape[0]):
        rows, cols = pairs[i, 1, 0] - pairs[i, 0, 0], pairs[i, 1, 1] - pairs[i, 0, 1]
        at = (pairs[i, 0, 0] + 1) * width + pairs[i, 0, 1] + 1
        target = at + rows * width + cols
        down = width if rows > 0 else -width
        right = 1 if cols > 0 else -1
        high, wide = abs(rows), abs(cols)
        ahead = wide - high
        total = 0
        while at != target:
            if ahead == 0:
                both = cover[at + down] == OPAQUE and cover[at + right] == OPAQUE
                if both and closed_corners:
                    total = BLOCKED
                    break
                at += down + right
                ahead += 2 * wide - 2 * high
            elif ahead < 0:
                at += down
                ahead += 2 * wide
            else:
                at += right
                ahead -= 2 * high
            if at == target:
                break
            value = int(cover[at])
            if value == OPAQUE:
                total = BLOCKED
                break
            total += value
        out[i] = total


@jit
def walk_hexes(rules: Any, stepped: int, cover: Any, pairs: Any, entries: Any, out: Any) -> None:
    """Sum what lies between the ends of the pairs that `look_over` left.

    In: rules, cover and pairs as there; TOO_FAR everywhere in `out` if there is no table. Scratch:
    entries int64 (m, lines.N_FIELDS). In and out: out int32 (n,), where it is TOO_FAR.
    """
    width, kind, tie = rules[WIDTH] + 2, rules[KIND], rules[TIE]
    for i in range(pairs.shape[0]):
        if out[i] != TOO_FAR:
            continue
        x, y = frame(kind, pairs[i, 0, 0], pairs[i, 0, 1])
        target_x, target_y = frame(kind, pairs[i, 1, 0], pairs[i, 1, 1])
        sum_left = 0
        sum_right = 0
        for j in range(line(kind, stepped, target_x - x, target_y - y, entries)):
            row, col = unframe(kind, x + entries[j, 0], y + entries[j, 1])
            a = int(cover[(row + 1) * width + col + 1])
            b = a
            if entries[j, 4] != SINGLE:
                row, col = unframe(kind, x + entries[j, 2], y + entries[j, 3])
                b = int(cover[(row + 1) * width + col + 1])
            sum_left, sum_right = add_entry(tie, a, b, entries[j, 4], sum_left, sum_right)
        out[i] = of_sides(tie, sum_left, sum_right)

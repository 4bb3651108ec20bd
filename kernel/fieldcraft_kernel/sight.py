"""What lies along sight lines: sums of obstruction over templates, with both sides of a tie.

`cover` holds for each padded cell what it takes off a line that passes: halves of a point, OPAQUE,
or OFF_MAP. A template is a run of entries (see lines.py) as flat offsets from the viewer's cell; it
depends only on the vector to the target and on the parity of the viewer's line, so a table of
templates serves every viewer. Lines that are not in the table are walked.

A line between two cells of the map leaves it by one ring at most, so the padding is enough.

Where heights matter a line runs straight from eye to eye, and a cell ends it whose top reaches the
least height the line has over the stretch in which it crosses that cell. A square or a hexagon is
where some linear forms L of a point differ by at most 1 from the centre's (see lines.py; for
squares twice the row and twice the column). So the line over d lies in cell c from the largest
(|L(c)| - 1) / |L(d)| to the least (|L(c)| + 1) / |L(d)|, signs taken along the line, and it is
lowest where it comes in if it climbs, where it goes out if it falls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.lattice import SQUARE, frame, unframe
from fieldcraft_kernel.lines import PAIR, PINCH, line

OPAQUE, OFF_MAP = 254, 255
"""Marks in `cover`; what obstructs is at most 253."""
NO_TOP = -(1 << 33)
"""The top of a cell that no line is too low for."""
BLOCKED = 1 << 28
"""What a line counts that something opaque ends; no sum of obstruction gets there."""
END = 3
"""The last entry of a template is the target: only the border before it counts."""

WORST_SIDE, BEST_SIDE, WORST_HEX, BEST_HEX, BOTH, LEFT_SIDE, RIGHT_SIDE = 0, 1, 2, 3, 4, 5, 6
"""How the two hexes of a pair count."""


class Templates(NamedTuple):
    """Lines as flat offsets, one after the other.

    first   int64 (lines + 1,)  entries of line i: first[i] to first[i + 1]
    left, right  int32 (entries,)   flat offset from the viewer of either cell
    into_left, into_right  int8 (entries,)  direction in which the line enters it from the entry
            before (PINCH: from the cell before the corner), -1 where they are no neighbours
    what    uint8 (entries,)    SINGLE, PAIR, PINCH or END
    """

    first: Any
    left: Any
    right: Any
    into_left: Any
    into_right: Any
    what: Any


@jit
def by_rule(tie: int, a: int, b: int, both: bool) -> tuple[int, int]:
    """Return what two hexes, or two borders, add to the left and to the right side of a line.

    Under the rules of single hexes that is the same for both sides; `both`, whether two that are
    not the same one count together under BOTH, where else the higher one counts.
    """
    if tie == WORST_HEX or (tie == BOTH and not both):
        a = b = max(a, b)
    elif tie == BEST_HEX:
        a = b = min(a, b)
    elif tie == BOTH:
        a = b = min(a + b, BLOCKED)
    return a, b


@jit
def direction_of(neighbours: Any, dx: int, dy: int) -> int:
    """Return the direction of a frame vector between neighbours, or -1."""
    for k in range(neighbours.shape[0]):
        if neighbours[k, 0] == dx and neighbours[k, 1] == dy:
            return k
    return -1


@jit
def lay(
    kind: int,
    width: int,
    stepped: int,
    neighbours: Any,
    row: int,
    col: int,
    dx: int,
    dy: int,
    entries: Any,
    left: Any,
    right: Any,
    into_left: Any,
    into_right: Any,
    what: Any,
    begin: int,
) -> int:
    """Write the template of the line from (row, col) over (dx, dy) and return where it ends.

    In: kind of the lattice, width of the padded map, neighbours int64 (straight directions, 2).
    Scratch: entries int64 (m, lines.N_FIELDS). Out: the arrays of `Templates`, from `begin` on.
    """
    n = line(kind, stepped, dx, dy, entries)
    x, y = frame(kind, row, col)
    before_xl = before_yl = before_xr = before_yr = 0
    for i in range(n + 1):
        if i < n:
            xl, yl, xr, yr = entries[i, 0], entries[i, 1], entries[i, 2], entries[i, 3]
            what[begin + i] = entries[i, 4]
        else:
            xl = xr = dx
            yl = yr = dy
            what[begin + i] = END
        row_l, col_l = unframe(kind, x + xl, y + yl)
        row_r, col_r = unframe(kind, x + xr, y + yr)
        left[begin + i] = (row_l - row) * width + col_l - col
        right[begin + i] = (row_r - row) * width + col_r - col
        into_left[begin + i] = direction_of(neighbours, xl - before_xl, yl - before_yl)
        into_right[begin + i] = direction_of(neighbours, xr - before_xr, yr - before_yr)
        if what[begin + i] != PINCH:
            before_xl, before_yl, before_xr, before_yr = xl, yl, xr, yr
    return begin + n + 1


@jit
def lay_all(
    kind: int,
    width: int,
    stepped: int,
    neighbours: Any,
    row: int,
    col: int,
    vectors: Any,
    entries: Any,
    first: Any,
    left: Any,
    right: Any,
    into_left: Any,
    into_right: Any,
    what: Any,
) -> int:
    """Write the templates of many lines from one cell: vectors int64 (lines, 2).

    Returns the number of entries, or -1 if the arrays are too short.
    """
    end = 0
    first[0] = 0
    for i in range(vectors.shape[0]):
        dx, dy = vectors[i, 0], vectors[i, 1]
        if end + 2 * (abs(dx) + abs(dy)) + 3 > left.shape[0]:
            return -1
        end = lay(
            kind, width, stepped, neighbours, row, col, dx, dy, entries,
            left, right, into_left, into_right, what, end,
        )  # fmt: skip
        first[i + 1] = end
    return end


@jit
def reaches(
    kind: int, top: int, from_eye: int, to_eye: int, x: int, y: int, dx: int, dy: int
) -> bool:
    """Tell whether a top reaches the lowest height of a line over the cell.

    The line runs over the frame vector (dx, dy) and crosses, or touches in a point, the cell at
    (x, y) from its start; heights between -2^30 and 2^30, and `top` down to NO_TOP.
    """
    rise = to_eye - from_eye
    end = -1 if rise >= 0 else 1
    above = top - from_eye
    if kind == SQUARE:
        along_1, size_1, along_2, size_2, along_3, size_3 = 2 * x, 2 * dx, 2 * y, 2 * dy, 0, 0
    else:
        along_1, size_1 = x - y, dx - dy
        along_2, size_2 = x + 2 * y, dx + 2 * dy
        along_3, size_3 = 2 * x + y, 2 * dx + dy
    # Of the heights at these fractions the greatest counts, so the top must reach each of them.
    if size_1 < 0:
        along_1, size_1 = -along_1, -size_1
    if size_2 < 0:
        along_2, size_2 = -along_2, -size_2
    if size_3 < 0:
        along_3, size_3 = -along_3, -size_3
    return (
        (size_1 == 0 or above * size_1 >= rise * (along_1 + end))
        and (size_2 == 0 or above * size_2 >= rise * (along_2 + end))
        and (size_3 == 0 or above * size_3 >= rise * (along_3 + end))
    )


@jit
def look(
    cover: Any,
    tops: Any,
    walls: Any,
    kind: int,
    width: int,
    stepped: int,
    neighbours: Any,
    tie: int,
    closed_corners: int,
    limit: int,
    viewers: Any,
    targets: Any,
    from_eyes: Any,
    to_eyes: Any,
    lines: Any,
    templates: Templates,
    entries: Any,
    out: Any,
) -> None:
    """Sum what lies between viewers and targets.

    In: cover uint8 (N,); tops int64 (N,), up to where a cell ends a line, NO_TOP where it does
    not, or (0, 0) where heights do not matter; walls uint8 (N,) or (0,), bit k: no sight across
    the border in straight direction k; viewers, targets int64 (n,) padded cells; from_eyes,
    to_eyes int64 (n,), how high either eye is, or (0,) without tops; lines int64 (n,), the
    template of each, or (0,): every line is walked, and `templates` is scratch for the longest of
    them, as is entries int64 (m, N_FIELDS). limit: a sum that is enough, the line is left there.
    Lines over tops are not stepped.
    Out: out int32 (n,), halves of a point, BLOCKED or more where something opaque ends the line.

    The rank of `tops` is known when this is compiled, so lines without heights pay nothing.
    """
    has_walls = walls.shape[0] > 0
    walk = lines.shape[0] == 0
    left, right, what = templates.left, templates.right, templates.what
    into_left, into_right, first = templates.into_left, templates.into_right, templates.first
    for i in range(viewers.shape[0]):
        viewer, target = viewers[i], targets[i]
        sum_left = 0
        sum_right = 0
        begin = 0
        x = y = dx = dy = 0
        from_eye = to_eye = lowest = 0
        if walk or tops.ndim == 1:
            row, target_row = viewer // width, target // width
            col, target_col = viewer - row * width, target - target_row * width
            x, y = frame(kind, row - 1, col - 1)
            target_x, target_y = frame(kind, target_row - 1, target_col - 1)
            dx, dy = target_x - x, target_y - y
        if tops.ndim == 1:
            from_eye, to_eye = from_eyes[i], to_eyes[i]
            lowest = min(from_eye, to_eye)
        if walk:
            end = lay(
                kind, width, stepped, neighbours, row - 1, col - 1, dx, dy,
                entries, left, right, into_left, into_right, what, 0,
            )  # fmt: skip
        else:
            begin, end = first[lines[i]], first[lines[i] + 1]
        left_before = viewer
        right_before = viewer
        left_gone = False
        right_gone = False
        for j in range(begin, end):
            a, b = viewer + left[j], viewer + right[j]
            kind_here = what[j]
            high_a = False
            high_b = False
            if tops.ndim == 1:
                if tops[a] >= lowest:
                    row = a // width
                    cell_x, cell_y = frame(kind, row - 1, a - row * width - 1)
                    high_a = reaches(
                        kind, tops[a], from_eye, to_eye, cell_x - x, cell_y - y, dx, dy
                    )
                if b == a:
                    high_b = high_a
                elif tops[b] >= lowest:
                    row = b // width
                    cell_x, cell_y = frame(kind, row - 1, b - row * width - 1)
                    high_b = reaches(
                        kind, tops[b], from_eye, to_eye, cell_x - x, cell_y - y, dx, dy
                    )
            if kind_here == PINCH:
                if not closed_corners:
                    continue
                past_a = high_a or cover[a] == OPAQUE
                past_b = high_b or cover[b] == OPAQUE
                if has_walls:
                    to_a, to_b = into_left[j], into_right[j]
                    here = walls[left_before]
                    past_a = past_a or (here >> to_a) & 1 == 1 or (walls[a] >> to_b) & 1 == 1
                    past_b = past_b or (here >> to_b) & 1 == 1 or (walls[b] >> to_a) & 1 == 1
                if past_a and past_b:
                    sum_left += BLOCKED
                    sum_right += BLOCKED
                    break
                continue
            pair = kind_here == PAIR
            to_a, to_b = into_left[j], into_right[j]
            # A hex off the map takes no part: of a pair the other one stands for both sides, here
            # and as the cell from which the next entry is reached.
            if left_gone:
                left_before, to_a = right_before, to_b
            elif right_gone:
                right_before, to_b = left_before, to_a
            left_gone = pair and cover[a] == OFF_MAP
            right_gone = pair and cover[b] == OFF_MAP
            if left_gone:
                a, left_before, to_a, high_a = b, right_before, to_b, high_b
                pair = False
            elif right_gone:
                b, right_before, to_b, high_b = a, left_before, to_a, high_a
                pair = False
            in_left = 0
            in_right = 0
            if kind_here != END and cover[a] != OFF_MAP:
                in_left = int(cover[a])
                in_right = int(cover[b])
                if high_a or in_left == OPAQUE:
                    in_left = BLOCKED
                if high_b or in_right == OPAQUE:
                    in_right = BLOCKED
            wall_left = 0
            wall_right = 0
            if has_walls:
                if to_a >= 0 and (walls[left_before] >> to_a) & 1:
                    wall_left = BLOCKED
                if to_b >= 0 and (walls[right_before] >> to_b) & 1:
                    wall_right = BLOCKED
            left_before, right_before = a, b
            # Borders and hexes each count by the rule: so the line back counts the same.
            in_left, in_right = by_rule(tie, in_left, in_right, pair)
            wall_left, wall_right = by_rule(tie, wall_left, wall_right, False)
            sum_left += in_left + wall_left
            sum_right += in_right + wall_right
            so_far = sum_left
            if tie == WORST_SIDE:
                so_far = max(sum_left, sum_right)
            elif tie == BEST_SIDE:
                so_far = min(sum_left, sum_right)
            elif tie == RIGHT_SIDE:
                so_far = sum_right
            if so_far >= limit:
                break
        result = sum_left
        if tie == WORST_SIDE:
            result = max(sum_left, sum_right)
        elif tie == BEST_SIDE:
            result = min(sum_left, sum_right)
        elif tie == RIGHT_SIDE:
            result = sum_right
        out[i] = min(result, 2 * BLOCKED)

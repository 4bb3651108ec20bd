"""The cells a straight line passes from centre to centre, in exact integer arithmetic.

A line depends only on the vector between its ends, in frame coordinates (lattice.frame). It is a
list of entries, the ends left out. An entry is one cell; or a pair, where the line runs along the
edge between two hexagons (or, stepped, where a sample lies exactly on it); or, on squares, a pinch:
the line passes exactly through the corner point between the two cells beside it.

Hexagons: with u = q - r, v = q + 2r, w = -2q - r the hexagon round a centre is where all three
differ from the centre's by at most 1, and the neighbour across a face is 2 further in one of them
and 1 back in the others. So the line leaves a hexagon through the face it meets first, and where
it meets two at once it passes a corner: into the hexagon on the side it leans to, or, if the third
coordinate stands still, along the edge between both.

Left and right are those of someone walking along the line with rows growing downwards.
"""

from __future__ import annotations

from typing import Any

from fieldcraft_kernel._jit import jit

SINGLE, PAIR, PINCH = 0, 1, 2
"""What an entry is."""
N_FIELDS = 5
"""Columns of an entry: x and y of the left cell, x and y of the right cell, what it is."""


@jit
def longest(dx: int, dy: int) -> int:
    """Return how many entries a line over that vector can have at most."""
    return 2 * (abs(dx) + abs(dy)) + 2


@jit
def put(out: Any, n: int, xl: int, yl: int, xr: int, yr: int, what: int) -> int:
    """Write an entry and return the number of entries."""
    out[n, 0] = xl
    out[n, 1] = yl
    out[n, 2] = xr
    out[n, 3] = yr
    out[n, 4] = what
    return n + 1


@jit
def put_sides(
    out: Any, n: int, dx: int, dy: int, xa: int, ya: int, xb: int, yb: int, what: int
) -> int:
    """Write an entry of two cells in the order left, right, as seen along (dx, dy)."""
    if dx * ya - dy * xa <= dx * yb - dy * xb:
        return put(out, n, xa, ya, xb, yb, what)
    return put(out, n, xb, yb, xa, ya, what)


@jit
def hex_crossed(q: int, r: int, out: Any) -> int:
    """List the hexagons whose interior the line to (q, r) meets, and the pairs it runs between.

    Out: out int64 (m, N_FIELDS), m at least `longest`. Returns how many entries.
    """
    total_u, total_v, total_w = q - r, q + 2 * r, -2 * q - r
    sign_u = 1 if total_u > 0 else -1
    sign_v = 1 if total_v > 0 else -1
    sign_w = 1 if total_w > 0 else -1
    size_u, size_v, size_w = abs(total_u), abs(total_v), abs(total_w)
    x, y, n = 0, 0, 0
    while True:
        # Where the line meets each face, as a fraction of its length: reach / size.
        reach_u = sign_u * (x - y) + 1
        reach_v = sign_v * (x + 2 * y) + 1
        reach_w = sign_w * (-2 * x - y) + 1
        # Faces that are met first; a face parallel to the line (size 0) is never met.
        u = size_u > 0
        v = size_v > 0
        w = size_w > 0
        if u and v:
            u, v = reach_u * size_v <= reach_v * size_u, reach_v * size_u <= reach_u * size_v
        if u and w:
            u, w = reach_u * size_w <= reach_w * size_u, reach_w * size_u <= reach_u * size_w
            if not u and v and reach_v * size_w > reach_w * size_v:
                v = False
        elif v and w:
            v, w = reach_v * size_w <= reach_w * size_v, reach_w * size_v <= reach_v * size_w
        ux, uy = sign_u, -sign_u
        vx, vy = 0, sign_v
        wx, wy = -sign_w, 0
        if u and v:
            ax, ay, bx, by, third, sign = ux, uy, vx, vy, total_w, sign_u
        elif u and w:
            ax, ay, bx, by, third, sign = ux, uy, wx, wy, total_v, sign_u
        elif v and w:
            ax, ay, bx, by, third, sign = vx, vy, wx, wy, total_u, sign_v
        else:
            ax, ay = (ux, uy) if u else ((vx, vy) if v else (wx, wy))
            bx, by, third, sign = 0, 0, -1, 1
        if third == 0:
            n = put_sides(out, n, q, r, x + ax, y + ay, x + bx, y + by, PAIR)
            x, y = x + ax + bx, y + ay + by
        elif third * sign < 0:
            x, y = x + ax, y + ay
        else:
            x, y = x + bx, y + by
        if x == q and y == r:
            return n
        n = put(out, n, x, y, x, y, SINGLE)


@jit
def hex_norm(x: int, y: int) -> int:
    """Return the largest of |u|, |v| and |w| of a vector: the hexagon's own measure."""
    return max(abs(x - y), abs(x + 2 * y), abs(2 * x + y))


@jit
def hex_stepped(q: int, r: int, out: Any) -> int:
    """List one hexagon a step, nearest to evenly spaced points; a pair where a point is between.

    Out: out int64 (m, N_FIELDS), m at least `longest`. Returns how many entries.
    """
    steps = max(abs(q), abs(r), abs(q + r))
    n = 0
    for i in range(1, steps):
        base_x, base_y = (i * q) // steps, (i * r) // steps
        found = 0
        ax = ay = bx = by = 0
        for corner in range(4):
            x, y = base_x + (corner & 1), base_y + (corner >> 1)
            if hex_norm(i * q - x * steps, i * r - y * steps) <= steps:
                if found == 0:
                    ax, ay = x, y
                bx, by = x, y
                found += 1
        if found == 1:
            n = put(out, n, ax, ay, ax, ay, SINGLE)
        else:
            n = put_sides(out, n, q, r, ax, ay, bx, by, PAIR)
    return n


@jit
def square_crossed(rows: int, cols: int, out: Any) -> int:
    """List the squares whose interior the line meets, and the corner points it passes exactly.

    Frame coordinates of squares are (row, col), so x is the row here.
    Out: out int64 (m, N_FIELDS), m at least `longest`. Returns how many entries.
    """
    down = 1 if rows > 0 else -1
    right = 1 if cols > 0 else -1
    high, wide = abs(rows), abs(cols)
    i, j, n = 0, 0, 0
    while True:
        # The next border between rows is met at (2i + 1) / 2high, between columns (2j + 1) / 2wide.
        by_row = (2 * i + 1) * wide
        by_col = (2 * j + 1) * high
        if i < high and j < wide and by_row == by_col:
            xa, ya = (i + 1) * down, j * right
            xb, yb = i * down, (j + 1) * right
            # With (row, col) for (x, y) the sides of the cross product change places.
            n = put_sides(out, n, -rows, -cols, xa, ya, xb, yb, PINCH)
            i, j = i + 1, j + 1
        elif j == wide or (i < high and by_row < by_col):
            i += 1
        else:
            j += 1
        if i == high and j == wide:
            return n
        n = put(out, n, i * down, j * right, i * down, j * right, SINGLE)


@jit
def line(is_hex: int, stepped: int, dx: int, dy: int, out: Any) -> int:
    """List the entries of the line to (dx, dy): none if it has no length.

    Out: out int64 (m, N_FIELDS), m at least `longest`. Returns how many entries.
    """
    if dx == 0 and dy == 0:
        return 0
    if not is_hex:
        return square_crossed(dx, dy, out)
    if stepped:
        return hex_stepped(dx, dy, out)
    return hex_crossed(dx, dy, out)

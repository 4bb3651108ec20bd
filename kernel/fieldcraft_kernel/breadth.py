"""Breadth-first search where every step costs the same, by tiles of 8 x 8 cells in a word.

The frontier of a tile is a word, its legal steps in a direction are a word, and a step of all its
cells in that direction is a shift: eight shifts do what would be up to 512 single steps. A frontier
crosses a tile in about eight levels, whichever way it comes, where in words along the rows it would
stay for 64 levels wherever it runs along the columns.

Steps are masks by cell and direction, so that walls, corners and one-way borders are all in them.
Hexagons take part as squares: the neighbours of an offset layout are among the eight around a cell,
which of them depending on the parity of its row or column.

Bit ``8 * row + column`` of a word is a cell of its tile. Reference for the idea of boards in words:
chess programs since Kaissa (Adelson-Velsky, Arlazarov and Donskoy, 1970).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.bits import lowest_bit
from fieldcraft_kernel.words import NONE, ONE

DONE, TOTAL_TOO_LARGE = 0, 1
"""Status codes of `breadth_first`."""

FIRST = np.uint64(0x0101010101010101)
"""The first column of a tile."""
LAST = np.uint64(0x8080808080808080)
"""The last one."""
BYTE = np.uint64(0xFF)
S1, S7, S8, S9 = np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(9)
S15, S55, S56, S57, S63 = (
    np.uint64(15), np.uint64(55), np.uint64(56), np.uint64(57), np.uint64(63),
)  # fmt: skip
# Exchanging rows and columns of 8 x 8 bits: 1 x 1, then 2 x 2, then 4 x 4 of them.
ONES, TWOS, FOURS = (
    np.uint64(0x00AA00AA00AA00AA),
    np.uint64(0x0000CCCC0000CCCC),
    np.uint64(0x00000000F0F0F0F0),
)


@jit
def lay_tiles(legal: Any, masks: Any, height: int, width: int) -> None:
    """Lay the step masks of a map out by tile and direction.

    Out: legal uint64 (tile rows, tile columns, 8), zero beforehand: for each of the eight
    directions of squares the cells of the tile from which the step is legal.
    In: masks uint8 (N,) of the padded map, in those directions; height and width of the map.
    """
    for row in range(height):
        first = (row + 1) * (width + 2) + 1
        for tile in range(legal.shape[1]):
            word = NONE
            for i in range(min(8, width - 8 * tile)):
                word |= np.uint64(masks[first + 8 * tile + i]) << np.uint64(8 * i)
            if word == NONE:
                continue
            moved = (word ^ (word >> np.uint64(7))) & ONES
            word ^= moved ^ (moved << np.uint64(7))
            moved = (word ^ (word >> np.uint64(14))) & TWOS
            word ^= moved ^ (moved << np.uint64(14))
            moved = (word ^ (word >> np.uint64(28))) & FOURS
            word ^= moved ^ (moved << np.uint64(28))
            shift = np.uint64(8 * (row & 7))
            for k in range(8):
                legal[row >> 3, tile, k] |= ((word >> np.uint64(8 * k)) & BYTE) << shift


@jit
def breadth_first(
    out: Any,
    legal: Any,
    starts: Any,
    price: float,
    limit: float,
    multiplier: float,
    divisor: float,
    boards: Any,
    lists: Any,
) -> tuple[int, int]:
    """Write the distance of every cell from the nearest of the starts.

    Out: out float64 (height, width): total * multiplier / divisor, infinite where no way leads.
    In: legal, see `lay_tiles`; starts int64 (s, 2), cells; price of a step; largest total.
    Scratch: boards uint64 (tiles, 3), zero beforehand; lists int32 (2, tiles).
    Returns how many cells were reached, and TOTAL_TOO_LARGE where the limit left out some, else
    DONE.
    """
    n_tiles, per_row = boards.shape[0], legal.shape[1]
    n_reached = 0
    here, there = 1, 2  # columns of `boards`: the frontier, and the next; 0: who has been reached
    n_listed = 0
    for i in range(starts.shape[0]):
        row, col = starts[i, 0], starts[i, 1]
        tile = (row >> 3) * per_row + (col >> 3)
        bit = ONE << np.uint64(8 * (row & 7) + (col & 7))
        if boards[tile, 0] == NONE:
            _blank(out, tile, per_row)
            lists[0, n_listed] = tile
            n_listed += 1
        boards[tile, here] |= bit
        boards[tile, 0] |= bit
    total = 0.0
    status = DONE
    turn = 0
    spill = np.zeros(9, np.uint64)
    away = np.array(
        [0, -per_row, per_row, 1, -1, 1 - per_row, per_row + 1, per_row - 1, -per_row - 1]
    )
    while n_listed > 0:
        if total > limit:
            status = TOTAL_TOO_LARGE
            break
        shown = total * multiplier / divisor
        n_next = 0
        for i in range(n_listed):
            tile = lists[turn, i]
            front = boards[tile, here]
            boards[tile, here] = NONE
            tile_row, tile_col = tile // per_row, tile % per_row
            row0, col0 = tile_row << 3, tile_col << 3
            bits = front
            while bits != NONE:
                place = lowest_bit(bits)
                bits &= bits - ONE
                out[row0 + (place >> 3), col0 + (place & 7)] = shown
                n_reached += 1
            # Steps inside the tile, and what of them leaves it over its sides and corners.
            north = front & legal[tile_row, tile_col, 0]
            east = front & legal[tile_row, tile_col, 1]
            south = front & legal[tile_row, tile_col, 2]
            west = front & legal[tile_row, tile_col, 3]
            ne = front & legal[tile_row, tile_col, 4]
            se = front & legal[tile_row, tile_col, 5]
            sw = front & legal[tile_row, tile_col, 6]
            nw = front & legal[tile_row, tile_col, 7]
            # Nine boards may get some: this one and those beside it, in a fixed order.
            inner_ne, inner_se = ne & ~LAST, se & ~LAST
            inner_sw, inner_nw = sw & ~FIRST, nw & ~FIRST
            spill[0] = (
                (north >> S8) | (south << S8)
                | ((east & ~LAST) << S1) | ((west & ~FIRST) >> S1)
                | (inner_ne >> S7) | (inner_se << S9) | (inner_sw << S7) | (inner_nw >> S9)
            )  # fmt: skip
            spill[1] = (north << S56) | (inner_ne << S57) | (inner_nw << S55)
            spill[2] = (south >> S56) | (inner_se >> S55) | (inner_sw >> S57)
            spill[3] = ((east & LAST) >> S7) | ((ne & LAST) >> S15) | ((se & LAST) << S1)
            spill[4] = ((west & FIRST) << S7) | ((nw & FIRST) >> S1) | ((sw & FIRST) << S15)
            spill[5] = ((ne >> S7) & ONE) << S56
            spill[6] = se >> S63
            spill[7] = ((sw >> S56) & ONE) << S7
            spill[8] = (nw & ONE) << S63
            for beside in range(9):
                bits = spill[beside]
                if bits == NONE:
                    continue
                other = tile + away[beside]
                known = boards[other, 0]
                bits &= ~known
                if bits == NONE:
                    continue
                if known == NONE:
                    _blank(out, other, per_row)
                boards[other, 0] = known | bits
                if boards[other, there] == NONE:
                    lists[1 - turn, n_next] = other
                    n_next += 1
                boards[other, there] |= bits
        here, there = there, here
        turn = 1 - turn
        n_listed = n_next
        total += price
    for tile in range(n_tiles):
        if boards[tile, 0] == NONE:
            _blank(out, tile, per_row)
    return n_reached, status


@jit
def _blank(out: Any, tile: int, per_row: int) -> None:
    """Make a tile of distances infinite; done at first touch, while it comes into the cache."""
    row0, col0 = (tile // per_row) << 3, (tile % per_row) << 3
    for row in range(row0, min(row0 + 8, out.shape[0])):
        for col in range(col0, min(col0 + 8, out.shape[1])):
            out[row, col] = math.inf

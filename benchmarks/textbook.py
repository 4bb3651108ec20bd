"""What a user writes who translates the textbook to Numba: a heap of tuples, arrays, no dicts."""

from __future__ import annotations

import functools
import heapq
from typing import Any

from benchmarks.harness import module

FAR = 2**31 - 2**16


def warmed(rule: str, terrain: Any) -> Any:
    """Return the search of a rule, compiled for arrays such as this one.

    It has been asked once, with nothing to spend, so that no query compiles or loads it.
    """
    search = searches()[rule == "hex"]
    search(terrain, 0, 0, 0, *prices(rule))
    return search


def prices(rule: str) -> tuple[Any, ...]:
    """Return what a search takes after its limit: steps on squares, and whether they alternate."""
    if rule == "hex":
        return ()
    straight, diagonal = (70, 99) if rule == "octile" else (1, 1)
    return straight, diagonal, rule == "alternating"


@functools.cache
def searches() -> tuple[Any, Any]:
    """Return Dijkstra on squares and on hexes, compiled.

    On squares with `alternating` there are two totals a cell, one for each parity. Both return
    totals of all cells, FAR where none is within the limit.
    """
    numba = module("numba")
    np = module("numpy")

    @numba.njit(cache=True)
    def squares(terrain, row, col, limit, straight, diagonal, alternating):
        height, width = terrain.shape
        totals = np.full((2 if alternating else 1, height, width), FAR, np.int32)
        totals[0, row, col] = 0
        heap = [(0, 0, row, col)]
        while heap:
            total, odd, r, c = heapq.heappop(heap)
            if total > totals[odd, r, c]:
                continue
            for d_row in range(-1, 2):
                for d_col in range(-1, 2):
                    to_row, to_col, then = r + d_row, c + d_col, odd
                    if (d_row == 0 and d_col == 0) or to_row < 0 or to_col < 0:
                        continue
                    if to_row >= height or to_col >= width or terrain[to_row, to_col] == 0:
                        continue
                    price = straight * terrain[to_row, to_col]
                    if d_row != 0 and d_col != 0:
                        price = diagonal * terrain[to_row, to_col]
                        if alternating:
                            price = (3 * terrain[to_row, to_col] + odd) // 2
                            then = 1 - odd
                    after = total + price
                    if after <= limit and after < totals[then, to_row, to_col]:
                        totals[then, to_row, to_col] = after
                        heapq.heappush(heap, (after, then, to_row, to_col))
        return totals

    @numba.njit(cache=True)
    def hexes(terrain, row, col, limit):
        height, width = terrain.shape
        totals = np.full((height, width), FAR, np.int32)
        totals[row, col] = 0
        heap = [(0, row, col)]
        while heap:
            total, r, c = heapq.heappop(heap)
            if total > totals[r, c]:
                continue
            for d_row in range(-1, 2):
                for d_col in range(-1, 2):
                    # Above and below lie two hexes: col - 1 and col in even rows, else the next.
                    if d_row == 0 and d_col == 0:
                        continue
                    if d_row != 0 and d_col == (1 if r % 2 == 0 else -1):
                        continue
                    to_row, to_col = r + d_row, c + d_col
                    if to_row < 0 or to_col < 0 or to_row >= height or to_col >= width:
                        continue
                    if terrain[to_row, to_col] == 0:
                        continue
                    after = total + terrain[to_row, to_col]
                    if after <= limit and after < totals[to_row, to_col]:
                        totals[to_row, to_col] = after
                        heapq.heappush(heap, (after, to_row, to_col))
        return totals

    return squares, hexes

"""Reach from every cell of a map, the sources side by side.

Where a movement gets to is worked out for many sources at once: for each cell relative to its
source ("offset") there is a row with one entry a source ("lane"), and a step is one operation on
whole rows. The sources of a block follow each other in memory, and so do the cells at one offset
from them, hence the prices of their steps: rows are plain slices, which LLVM makes vector code of.

Cells are numbered in *lanes*: squares row by row; hexagons first all even lines, then all odd ones
(lines are rows, or columns where the tops are flat), since cells of lines of equal parity have
their neighbours at equal distances. No lane is needed for a cell off the map: no step leads there,
and a lane that nothing has reached stays so whatever price is read beside it.

A row holds what is left of the budget, plus one, so that 0 is "not reached" and a step is a
subtraction that stops at 0 and a maximum: one instruction each, on entries of one byte up to a
budget of 254 ticks, else of two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.steps import BORDER, HALT, LEAVE, STEPS, StepArrays

UNTOUCHED, FRESH, TAKEN = 0, 1, 2
"""Marks of a row: nothing is reached; it has changed since its steps were taken; it has not."""
MOST_TALLIED = 255


class Lanes(NamedTuple):
    """A movement graph laid out in lanes, for one budget; T is uint8 or uint16.

    R rows of the graph (two where they tell the parity of diagonals apart), K directions, n
    offsets, the first that of the source itself, M lanes with room on either side.

    prices  T (R * K, M)    price of a step from the lane in a direction, or the largest T
    first   T (K, M)        the same for the first step of a movement, which begins in row 0;
                            (0, M) where no cell halts
    shift   int64 (2, n)    from the lane of a source, by the parity of its line, to that of the
                            cell at an offset
    beyond  int64 (n, K)    offset that a step in a direction leads to, -1 where none within the
                            budget does
    to      int64 (R, K)    row in which it arrives
    begins  T (M,)          entry of a source at itself: what it may spend, plus one; 0: no source
    stop    uint8 (M,)      1: a movement may end there
    stay    uint8 (M,)      1: a movement may end there that began there
    """

    prices: Any
    first: Any
    shift: Any
    beyond: Any
    to: Any
    begins: Any
    stop: Any
    stay: Any


@jit
def side_by_side(array: Any, begin: int, end: int, along: int) -> Any:
    """Return every `along`-th entry of an array (N,) from `begin` to `end`, contiguous."""
    if along == 1:
        return array[begin:end]
    return array[begin:end:along].copy()


@jit
def lay_out(
    prices: Any,
    first: Any,
    stop: Any,
    graph: StepArrays,
    rows: Any,
    begins: Any,
    is_flat: int,
    begin: int,
    end: int,
    width: int,
    budget: int,
    blocked: int,
    stop_row: int,
) -> None:
    """Write prices and stops of some lines in lanes; what costs more than the budget is closed.

    Out: as in `Lanes`. In: rows int64 (R,), rows of the graph; begins int64 (lines,), the lane with
    which each line begins; 1 if lines are columns; which lines, `begin` to `end`; width of the map;
    budget; the largest T; row of graph.stop.
    """
    kind = prices.dtype.type
    steps, enter, leave, border = graph.steps, graph.enter, graph.leave, graph.border
    offsets, halt, shift, is_hex = graph.offsets, graph.halt, graph.shift, graph.is_hex
    n_directions = prices.shape[0] // rows.shape[0]
    n_lanes = prices.shape[1] // begins.shape[0]
    halts = first.shape[0] > 0
    stops = graph.stop[stop_row]
    # Along a line lanes follow each other, and cells lie equally far apart.
    across, along = (1, width + 2) if is_flat else (width + 2, 1)
    price = np.empty(n_lanes, np.int64)
    for line in range(begin, end):
        cell = (line + 1) * across + along
        lane, behind = begins[line], cell + (n_lanes - 1) * along + 1
        stop[lane : lane + n_lanes] = stops[cell:behind:along]
        for i in range(rows.shape[0]):
            row = rows[i]
            masks = side_by_side(steps[graph.rows[row, STEPS]], cell, behind, along)
            leave_row, border_row = graph.rows[row, LEAVE], graph.rows[row, BORDER]
            halt_row = graph.rows[row, HALT]
            for k in range(n_directions):
                scale, extra = graph.scale[row, k], graph.extra[row, k]
                ahead = offsets[line & is_hex, k]
                # One thing a loop, and from where it lies side by side: that becomes vector code.
                entered = side_by_side(
                    enter[graph.entry[row, k]], cell + ahead, behind + ahead, along
                )
                for j in range(n_lanes):
                    price[j] = (scale * np.int64(entered[j]) + extra) >> shift
                if leave_row >= 0:
                    price += leave[leave_row, cell:behind:along]
                if border_row >= 0:
                    price += border[border_row, cell:behind:along, k]
                for j in range(n_lanes):
                    is_legal = (masks[j] >> k) & 1 == 1 and price[j] <= budget
                    price[j] = price[j] if is_legal else blocked
                if halts and i == 0:
                    for j in range(n_lanes):
                        first[k, lane + j] = kind(price[j])
                if halt_row >= 0:
                    halting = halt[halt_row, cell:behind:along]
                    for j in range(n_lanes):
                        price[j] = blocked if halting[j] else price[j]
                into = prices[i * n_directions + k, lane : lane + n_lanes]
                for j in range(n_lanes):
                    into[j] = kind(price[j])


@jit
def least_prices(prices: Any, least: Any) -> None:
    """Write the least price of each direction: least int64 (R * K,) from prices T (R * K, M)."""
    for k in range(prices.shape[0]):
        row = prices[k]
        low = row.dtype.type(row[0])
        for i in range(row.shape[0]):
            low = min(low, row[i])
        least[k] = low


@jit
def spread_lanes(left: Any, fresh: Any, lanes: Lanes, begin: int, size: int, parity: int) -> int:
    """Fill in what is left of the budget at every offset of a block of sources.

    Out: left T (R * n, at least `size`), a row for each offset, those of further rows of the graph
    after one another; fresh uint8 (R * n,), UNTOUCHED where nobody reaches the offset. In: the
    first lane of the block and how many there are, all of lines of that parity.

    Goes over the offsets outwards and back, and takes the steps only from rows that have changed
    since, until none has. Returns how often the steps in one direction were taken.
    """
    prices, first, shift, beyond, to = (
        lanes.prices, lanes.first, lanes.shift, lanes.beyond, lanes.to,
    )  # fmt: skip
    kind = left.dtype.type
    n, n_directions = beyond.shape
    left[:, :size] = 0
    fresh[:] = UNTOUCHED
    left[0, :size] = lanes.begins[begin : begin + size]
    fresh[0] = FRESH
    n_taken = 0
    halts = first.shape[0] > 0
    outwards = True
    again = True
    while again:
        again = False
        for i in range(n):
            offset = i if outwards else n - 1 - i
            for row in range(to.shape[0]):
                here = row * n + offset
                if fresh[here] != FRESH:
                    continue
                fresh[here] = TAKEN
                at = begin + shift[parity, offset]
                from_ = left[here, :size]
                for k in range(n_directions):
                    there = beyond[offset, k]
                    if there < 0:
                        continue
                    there += to[row, k] * n
                    into = left[there, :size]
                    if halts and here == 0:
                        price = first[k, at : at + size]
                    else:
                        price = prices[row * n_directions + k, at : at + size]
                    n_taken += 1
                    # All in the type of a row, or the loop runs on lanes of eight bytes.
                    changed = kind(0)
                    for lane in range(size):
                        cost = price[lane]
                        rest = kind(max(from_[lane], cost) - cost)
                        old = into[lane]
                        new = max(old, rest)
                        changed = kind(changed | kind(new ^ old))
                        into[lane] = new
                    if changed:
                        fresh[there] = FRESH
                        again = True
        outwards = not outwards
    return n_taken


@jit
def add_tallies(count: Any, stops: Any, tally: Any) -> None:
    """Add what has been tallied of some sources to their counts: int32 (m,), uint8 (2, >= m)."""
    for lane in range(count.shape[0]):
        count[lane] = np.int32(count[lane] + np.int32(tally[0, lane]))
        stops[lane] = np.int32(stops[lane] + np.int32(tally[1, lane]))


@jit
def count_lanes(
    count: Any,
    stops: Any,
    visitors: Any,
    left: Any,
    fresh: Any,
    tally: Any,
    lanes: Lanes,
    begin: int,
    end: int,
    parity: int,
) -> int:
    """Count what each source reaches, and by how many sources each cell is reached.

    Out: count, stops int32 (M,) and visitors uint16 (M,), added to: cells reached, those of them
    where a movement may end, and sources that reach the cell, at most one an offset. Scratch: left,
    fresh, see `spread_lanes`; tally uint8 (2, columns of left), counts in single bytes, as long as
    they fit. In: lanes `begin` to `end` of one parity, worked on in blocks of as many as `left` has
    columns.
    """
    shift = lanes.shift
    n, columns = lanes.beyond.shape[0], left.shape[1]
    n_rows = lanes.to.shape[0]
    n_taken = 0
    for start in range(begin, end, columns):
        size = min(columns, end - start)
        n_taken += spread_lanes(left, fresh, lanes, start, size, parity)
        counted, stopped = count[start : start + size], stops[start : start + size]
        reached, stopping = tally[0, :size], tally[1, :size]
        n_tallied = 0
        for offset in range(n):
            row = left[offset, :size]
            is_touched = fresh[offset] != UNTOUCHED
            for further in range(1, n_rows):
                if fresh[further * n + offset] == UNTOUCHED:
                    continue
                is_touched = True
                other = left[further * n + offset, :size]
                for lane in range(size):
                    row[lane] = max(row[lane], other[lane])
            if not is_touched:
                continue
            at = start + shift[parity, offset]
            may_stop = lanes.stop[at : at + size] if offset else lanes.stay[at : at + size]
            visited = visitors[at : at + size]
            if n_tallied == 0:
                reached[:] = 0
                stopping[:] = 0
            # Two loops: with entries of two bytes among them, those of one would go by them.
            for lane in range(size):
                one = np.uint8(row[lane] > 0)
                reached[lane] = np.uint8(reached[lane] + one)
                stopping[lane] = np.uint8(stopping[lane] + np.uint8(one & may_stop[lane]))
            for lane in range(size):
                visited[lane] = np.uint16(visited[lane] + np.uint16(row[lane] > 0))
            n_tallied += 1
            if n_tallied == MOST_TALLIED:
                add_tallies(counted, stopped, tally)
                n_tallied = 0
        if n_tallied:
            add_tallies(counted, stopped, tally)
    return n_taken

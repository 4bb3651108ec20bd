"""A* over a plain movement graph (plain.py): the cheapest way to one of some goals.

Keys are total + heuristic, in the buckets of the queue. The heuristic is consistent: no step lowers
it by more than its price (docs/decisions.md has the cases). So keys never fall, a state is expanded
once, and the search ends when no key below the best goal's total is left. Of entries of one key the
newest comes first, which is mostly the one nearest to the goal.

Reference: Hart, Nilsson and Raphael, IEEE Trans. SSC 4 (1968).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.bits import lowest_bit
from fieldcraft_kernel.book import (
    CELLS,
    ORDER,
    OUT,
    PLAN,
    QUEUE,
    REST,
    TOTALS,
    WORDS,
    array_at,
)
from fieldcraft_kernel.flood import OUTPUT_FULL
from fieldcraft_kernel.lattice import frame
from fieldcraft_kernel.plain import (
    BEYOND,
    DIAGONAL,
    DONE,
    DOWN,
    ENTER,
    ENTRY,
    EXTRA,
    IN_ROWS,
    KEEP,
    KIND,
    MOVES,
    N_MOVES,
    ODD,
    PARITY,
    POOL_FULL,
    RIGHT,
    SCALE,
    SHIFT,
    SLOTS,
    SPARE,
    START,
    STOP,
    STRAIGHT,
    TOP,
    TURN,
    UNIT,
    WIDTH,
    blank,
    gather,
    wipe,
)
from fieldcraft_kernel.search import is_in, outside
from fieldcraft_kernel.steps import NO_WAY
from fieldcraft_kernel.walk import LOST, TOO_SHORT, walk_plain


@jit
def estimate(
    row: int,
    col: int,
    dear: int,
    kind: int,
    x_low: int,
    x_high: int,
    y_low: int,
    y_high: int,
    sum_low: int,
    sum_high: int,
    straight: int,
    diagonal: int,
    unit: int,
    shift: int,
) -> int:
    """Return a price that no way from a cell to the box of goals undercuts.

    Squares: with a >= b the differences along the axes, straight steps for a - b and diagonal ones
    for b, the first of them the dear one if `dear`. Hexagons: the hex distance to the box.
    """
    x, y = frame(kind, row, col)
    across = outside(x, x_low, x_high)
    along = outside(y, y_low, y_high)
    if kind:
        return straight * max(across, along, outside(x + y, sum_low, sum_high))
    if across < along:
        across, along = along, across
    return straight * (across - along) + unit * ((diagonal * along + dear) >> shift)


@jit
def astar(
    words: Any,
    dues: Any,
    plan: Any,
    totals: Any,
    order: Any,
    queue: Any,
    starts: Any,
    initial: Any,
    goals: Any,
    limit: int,
    must_stop: int,
    guided: int,
) -> tuple[int, int, int, int]:
    """Search until a goal is reached at the least total.

    In: the graph (plain.py); starts, initial int64 (s,), whose keys lie within one turn of the
    ring; goals int64 (g,), padded cells, rising; limit as in `flood`; must_stop, whether a goal
    must be a place to stop; guided, 0 for a heuristic of nothing (Dijkstra's search).
    Out: totals int32 (R * N,), of every labelled state; order int32 (R * N,), those states.
    Scratch: queue uint32 (m,), all 0 before and after but for the pool.
    Returns the number labelled, the goal's state or -1, states expanded, and the status; after
    POOL_FULL all is blank again.
    """
    u: Any = np.uint64
    i64: Any = np.int64
    one, low, entry_words = u(1), u(31), u(ENTRY)
    slots = int(plan[SLOTS])
    wrap = u(slots - 1)
    ring_wrap = u(slots // 32 - 1)
    top = u(plan[TOP])
    pool = top + u(slots)
    half = (u(queue.shape[0]) - pool) // u(2)
    base, used = pool, pool
    full = base + half - u(SPARE)
    n_cells = u(words.shape[0])
    width = np.uint32(plan[WIDTH])
    shift, by_row, kind = plan[SHIFT], plan[PARITY] == IN_ROWS, plan[KIND]
    straight, diagonal, unit = plan[STRAIGHT] * guided, plan[DIAGONAL] * guided, plan[UNIT] * guided
    # The box around the goals, in frame coordinates (lattice.py).
    x_low, y_low, sum_low = NO_WAY, NO_WAY, NO_WAY
    x_high, y_high, sum_high = -NO_WAY, -NO_WAY, -NO_WAY
    for i in range(goals.shape[0]):
        line = np.uint32(goals[i]) // width
        x, y = frame(kind, i64(line) - 1, i64(np.uint32(goals[i]) - line * width) - 1)
        x_low, x_high = min(x_low, x), max(x_high, x)
        y_low, y_high = min(y_low, y), max(y_high, y)
        sum_low, sum_high = min(sum_low, x + y), max(sum_high, x + y)
    bit = np.uint32(1)
    n = u(0)
    alive = 0
    expanded = 0
    status = DONE
    # The best goal so far. Where its row is the worse of two, one of equal total is still welcome.
    best, best_state, slack = limit, -1, 0
    key = NO_WAY
    for i in range(starts.shape[0]):
        begin, total = u(starts[i]), i64(initial[i])
        if total >= totals[begin]:
            continue
        cell = begin % n_cells
        row = np.uint32(cell) // width
        goal_key = total + estimate(
            i64(row) - 1, i64(np.uint32(cell) - row * width) - 1, i64(begin // n_cells), kind,
            x_low, x_high, y_low, y_high, sum_low, sum_high, straight, diagonal, unit, shift,
        )  # fmt: skip
        if goal_key > limit:
            status = BEYOND
            continue
        if used >= full:
            _, status = wipe(plan, totals, queue)
            return 0, -1, 0, status
        if totals[begin] == NO_WAY:
            order[n] = begin
            n += one
        totals[begin] = total
        slot = u(goal_key) & wrap
        queue[used] = queue[top + slot]
        queue[used + one] = (begin << u(4)) | u(START)
        queue[top + slot] = used
        queue[slot >> u(5)] |= np.uint32(one << (slot & low))
        used += entry_words
        alive += 1
        key = min(key, goal_key)

    while alive > 0:
        if used >= full:
            base = pool + pool + half - base
            used = gather(plan, queue, base)
            full = base + half - u(SPARE)
            if u(2) * (used - base) > half:
                _, status = wipe(plan, totals, queue)
                return 0, -1, 0, status
        slot = u(key) & wrap
        word = slot >> u(5)
        after = (word + one) & ring_wrap
        bits = (u(queue[word]) | (u(queue[after]) << u(32))) >> (slot & low)
        if bits == u(0):
            key += 64 - i64(slot & low)
            word = (after + one) & ring_wrap
            while queue[word] == 0:
                key += 32
                word = (word + one) & ring_wrap
            bits = u(queue[word])
        key += i64(lowest_bit(bits))
        if best_state >= 0 and key >= best + slack:
            break
        slot = u(key) & wrap
        place = u(queue[top + slot])
        link, entry = queue[place], u(queue[place + one])
        queue[top + slot] = link
        queue[slot >> u(5)] &= ~np.uint32(u(link == 0) << (slot & low))
        alive -= 1
        state = entry >> u(4)
        total = i64(totals[state])
        cell = state
        dear = u(0)
        if dues.ndim == 2 and state >= n_cells:
            cell -= n_cells
            dear = one
        line = np.uint32(cell) // width
        row, col = i64(line) - 1, i64(np.uint32(cell) - line * width) - 1
        now = total + estimate(
            row, col, i64(dear), kind,
            x_low, x_high, y_low, y_high, sum_low, sum_high, straight, diagonal, unit, shift,
        )  # fmt: skip
        if now != key:
            continue
        expanded += 1
        paid = total
        if dues.ndim == 2:
            if dues.shape[0]:
                paid += i64(dues[cell, u(0)])
        here = words[cell]
        moves = u(MOVES) + u(N_MOVES) * (dear | (u(here >> np.uint32(ODD)) & one))
        mask = here & np.uint32(plan[u(KEEP) + (entry & u(15))])
        while mask:
            k = u(lowest_bit(mask))
            mask &= mask - bit
            number = u(i64(cell) + plan[moves + k])
            price = plan[moves + u(SCALE) + k] * i64(words[number] >> np.uint32(ENTER))
            beyond = number
            if dues.ndim == 2:
                price = (price + plan[moves + u(EXTRA) + k]) >> shift
                if dues.shape[1] > 1:
                    price += i64(dues[cell, one + k])
                beyond = u(i64(number) + plan[moves + u(TURN) + k])
            new = paid + price
            if new >= totals[beyond]:
                continue
            turned = i64(1) if dues.ndim == 2 and by_row and beyond >= n_cells else i64(0)
            goal_key = new + estimate(
                row + plan[moves + u(DOWN) + k], col + plan[moves + u(RIGHT) + k], turned, kind,
                x_low, x_high, y_low, y_high, sum_low, sum_high, straight, diagonal, unit, shift,
            )  # fmt: skip
            if best_state < 0:
                if goal_key > limit:
                    status = BEYOND
                    continue
            elif goal_key >= best + slack:
                continue
            if totals[beyond] == NO_WAY:
                order[n] = beyond
                n += one
            totals[beyond] = new
            if goal_key == new and is_in(goals, i64(number)):
                may_stop = must_stop == 0 or (words[number] >> np.uint32(STOP)) & bit != 0
                if may_stop and (new < best or best_state < 0 or turned < slack):
                    best, best_state, slack = new, i64(beyond), turned
            slot = u(goal_key) & wrap
            queue[used] = queue[top + slot]
            queue[used + one] = (beyond << u(4)) | k
            queue[top + slot] = used
            queue[slot >> u(5)] |= np.uint32(one << (slot & low))
            used += entry_words
            alive += 1

    # What is left in the queue goes.
    for i in range(slots // 32):
        left = queue[u(i)]
        queue[u(i)] = 0
        while left:
            queue[top + u(32) * u(i) + u(lowest_bit(left))] = 0
            left &= left - bit
    return i64(n), best_state, expanded, status


@jit
def put_way(words: Any, plan: Any, work: Any, cells: Any, rest: Any, at: int, n: int) -> None:
    """Write a way that `walk_plain` has left in `work` where `write_way` says."""
    width, n_cells = plan[WIDTH], words.shape[0]
    for i in range(n):
        state = work[n - 1 - i]
        rest[2 * at + i] = state | work[2 * n - 1 - i] << 32
        cell = state % n_cells
        cells[2 * (at + i)] = cell // width - 1
        cells[2 * (at + i) + 1] = cell % width - 1


@jit
def write_way(
    words: Any,
    dues: Any,
    plan: Any,
    totals: Any,
    order: Any,
    queue: Any,
    work: Any,
    cells: Any,
    rest: Any,
    at: int,
    starts: Any,
    initial: Any,
    goals: Any,
    limit: int,
    must_stop: int,
    guided: int,
) -> tuple[int, int, int]:
    """Search for a goal and write the way there.

    In, scratch: as `astar`; work int64 (w,).
    Out, from `at` on, of the n cells of the way: cells int64 (2 m,), row and column; and, from
    ``2 at`` on, rest int64 (2 m,): ``state + (total << 32)``. The scratch is blank again.
    Returns n (0: no way; walk.TOO_SHORT where `work` is too short for 2 n), states expanded, and
    the status: OUTPUT_FULL where there is no room for n cells, and the way is left in `work`.
    """
    labelled, goal, expanded, status = astar(
        words, dues, plan, totals, order, queue, starts, initial, goals, limit, must_stop, guided
    )
    n = 0
    if goal >= 0:
        status = DONE
        n = walk_plain(words, dues, plan, totals, starts, initial, goal, work)
    blank(totals, order, labelled)
    if at + n > rest.shape[0] // 2:
        status = OUTPUT_FULL
    else:
        put_way(words, plan, work, cells, rest, at, n)
    return n, expanded, status


@jit
def put_again(book: Any, n: int) -> None:
    """Write a way that is left in `work` at the beginning of a page with room."""
    put_way(
        array_at(book, WORDS, np.uint32), array_at(book, PLAN, np.int64),
        array_at(book, OUT, np.int64), array_at(book, CELLS, np.int64),
        array_at(book, REST, np.int64), 0, n,
    )  # fmt: skip


@jit
def path_of(
    book: Any,
    dues: Any,
    at: int,
    starts: Any,
    initial: Any,
    goals: Any,
    limit: int,
    must_stop: int,
    guided: int,
) -> tuple[int, int, int]:
    """Write one way, as `write_way` does: book (book.py) of the graph and all the rest."""
    return write_way(
        array_at(book, WORDS, np.uint32), dues, array_at(book, PLAN, np.int64),
        array_at(book, TOTALS, np.int32), array_at(book, ORDER, np.int32),
        array_at(book, QUEUE, np.uint32), array_at(book, OUT, np.int64),
        array_at(book, CELLS, np.int64), array_at(book, REST, np.int64),
        at, starts, initial, goals, limit, must_stop, guided,
    )  # fmt: skip


@jit
def path_between(
    book: Any,
    dues: Any,
    at: int,
    start: int,
    initial: int,
    goal: int,
    limit: int,
    must_stop: int,
    guided: int,
) -> tuple[int, int, int]:
    """Write the way from one state to one padded cell, as `path_of` does."""
    ends = np.array([start, initial, goal])
    return path_of(book, dues, at, ends[:1], ends[1:2], ends[2:], limit, must_stop, guided)


@jit
def path_each(
    book: Any,
    dues: Any,
    starts: Any,
    initial: Any,
    goals: Any,
    limit: int,
    must_stop: int,
    guided: int,
    found: Any,
) -> tuple[int, int]:
    """Write the way from each start to its goal in turn, until all are done or one does not fit.

    In: book, dues as `path_of`; starts, initial, goals int64 (s,), one search each.
    Out: what `write_way` writes, one after the other; found int64 (s, 2), n and states expanded.
    Returns how many are done, and DONE, BEYOND where one found no way and something lay beyond the
    limit, or why the next could not be: POOL_FULL, OUTPUT_FULL, or LOST.
    """
    words, plan = array_at(book, WORDS, np.uint32), array_at(book, PLAN, np.int64)
    totals, order = array_at(book, TOTALS, np.int32), array_at(book, ORDER, np.int32)
    queue, work = array_at(book, QUEUE, np.uint32), array_at(book, OUT, np.int64)
    cells, rest = array_at(book, CELLS, np.int64), array_at(book, REST, np.int64)
    at = 0
    result = DONE
    for i in range(starts.shape[0]):
        one = slice(i, i + 1)
        n, expanded, status = write_way(
            words, dues, plan, totals, order, queue, work, cells, rest, at,
            starts[one], initial[one], goals[one], limit, must_stop, guided,
        )  # fmt: skip
        if status == POOL_FULL:
            return i, status
        if n < 0:
            return i, OUTPUT_FULL if n == TOO_SHORT else LOST
        if status == OUTPUT_FULL:
            return i, status
        found[i, 0] = n
        found[i, 1] = expanded
        at += n
        result = max(result, status)
    return starts.shape[0], result

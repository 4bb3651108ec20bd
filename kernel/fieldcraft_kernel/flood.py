"""Dijkstra's flood over a plain movement graph (plain.py): everything within a limit.

Reference: Dial, "Algorithm 360: shortest-path forest with topological ordering", CACM 12 (1969).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.bits import lowest_bit
from fieldcraft_kernel.book import (
    CELLS,
    COSTS,
    NEAR_PLAN,
    NEAR_TOTALS,
    NEAR_WORDS,
    ORDER,
    OUT,
    PLAN,
    QUEUE,
    REST,
    TOTALS,
    WORDS,
    array_at,
)
from fieldcraft_kernel.plain import (
    BEYOND,
    DONE,
    ENTER,
    ENTRY,
    EXTRA,
    FLIP,
    IN_ROWS,
    IN_TOTALS,
    KEEP,
    LEAST,
    MOVES,
    N_MOVES,
    ODD,
    PARITY,
    POOL_FULL,
    SCALE,
    SHIFT,
    SLOTS,
    SPARE,
    START,
    STOP,
    TICKS,
    TOP,
    TURN,
    UNITS,
    WIDTH,
    blank,
    gather,
    wipe,
)
from fieldcraft_kernel.steps import NO_WAY

OUTPUT_FULL = 3
"""A further status of `reach_each`."""
NEAR = 15
SIDE = 2 * (NEAR + 1)
"""Up to which radius a reach is searched in a window of its own, and the window's side: one more,
so that it is a round number."""
HALF = NEAR + 1
MIDDLE = HALF * (SIDE + 1)
"""Row and column of the window's middle, and its cell."""
IN_WINDOW = -1
"""In place of a number of cells: what was found did not fit, and lies in the window."""


@jit
def flood(
    words: Any,
    dues: Any,
    plan: Any,
    totals: Any,
    order: Any,
    queue: Any,
    starts: Any,
    initial: Any,
    limit: int,
) -> tuple[int, int]:
    """Settle all states within the limit, cheapest first.

    In: the graph (plain.py); starts int64 (s,), initial int64 (s,), which lie within one turn of
    the ring; limit, so far below NO_WAY that one more step stays below it.
    Out: totals int32 (R * N,), of every settled state; order int32 (R * N,), as settled.
    Scratch: queue uint32 (m,), all 0 before and after but for the pool.
    Returns how many are settled, and the status; after POOL_FULL all is blank again.
    """
    # Unsigned throughout: an index that cannot be negative is not tested for it.
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
    bit = np.uint32(1)
    first = limit + 1
    least = plan[LEAST]
    rim = limit - least
    n = u(0)
    alive = 0
    farthest = 0
    key = limit
    for i in range(starts.shape[0]):
        begin, total = u(starts[i]), i64(initial[i])
        farthest = max(farthest, total)
        if total <= limit and total < totals[begin]:
            if used >= full:
                return wipe(plan, totals, queue)
            totals[begin] = total
            slot = u(total) & wrap
            queue[used] = queue[top + slot]
            queue[used + one] = (begin << u(4)) | u(START)
            queue[top + slot] = used
            queue[slot >> u(5)] |= np.uint32(one << (slot & low))
            used += entry_words
            alive += 1
            key = min(key, total)

    while alive > 0:
        slot = u(key) & wrap
        word = slot >> u(5)
        after = (word + one) & ring_wrap
        # Two words, since one is empty too often for its branch to be foretold.
        bits = (u(queue[word]) | (u(queue[after]) << u(32))) >> (slot & low)
        if bits == u(0):
            key += 64 - i64(slot & low)
            word = (after + one) & ring_wrap
            while queue[word] == 0:
                key += 32
                word = (word + one) & ring_wrap
            bits = u(queue[word])
        key += i64(lowest_bit(bits))
        slot = u(key) & wrap
        queue[slot >> u(5)] &= ~np.uint32(one << (slot & low))
        place = u(queue[top + slot])
        queue[top + slot] = 0
        while place:
            entry = u(queue[place + one])
            place = u(queue[place])
            alive -= 1
            state = entry >> u(4)
            if totals[state] != key:
                continue
            order[n] = state
            n += one
            cell = state
            paid = key
            row = u(0)
            if dues.ndim == 2:
                if state >= n_cells:
                    cell -= n_cells
                    row = one
                if dues.shape[0]:
                    paid += i64(dues[cell, u(0)])
            here = words[cell]
            row |= u(here >> np.uint32(ODD)) & one
            moves = u(MOVES) + row * u(N_MOVES)
            mask = here & np.uint32(plan[u(KEEP) + (entry & u(15))])
            # Nothing further on is within the limit: true of all cells at the rim of a reach.
            mask = mask if paid <= rim else np.uint32(0)
            farthest = max(farthest, paid + least)
            while mask:
                k = u(lowest_bit(mask))
                mask &= mask - bit
                beyond = u(i64(cell) + plan[moves + k])
                price = plan[moves + u(SCALE) + k] * i64(words[beyond] >> np.uint32(ENTER))
                if dues.ndim == 2:
                    price = (price + plan[moves + u(EXTRA) + k]) >> plan[SHIFT]
                    if dues.shape[1] > 1:
                        price += i64(dues[cell, one + k])
                    beyond = u(i64(beyond) + plan[moves + u(TURN) + k])
                new = paid + price
                farthest = max(farthest, new)
                # All is written in any case, and stays if this is an improvement.
                old = totals[beyond]
                is_better = new < min(i64(old), first)
                totals[beyond] = np.int32(new) if is_better else old
                slot = u(new) & wrap
                before = queue[top + slot]
                queue[used] = before
                queue[used + one] = (beyond << u(4)) | k
                queue[top + slot] = np.uint32(used) if is_better else before
                count = u(is_better)
                queue[slot >> u(5)] |= np.uint32(count << (slot & low))
                used += count * entry_words
                alive += i64(count)
            if used >= full:
                slot = u(key) & wrap
                queue[top + slot] = place
                base = pool + pool + half - base
                used = gather(plan, queue, base)
                full = base + half - u(SPARE)
                if u(2) * (used - base) > half:
                    return wipe(plan, totals, queue)
                place = u(queue[top + slot])
                queue[top + slot] = 0
        key += 1
    return i64(n), BEYOND if farthest > limit else DONE


@jit
def sort_run(numbers: Any, flags: Any, begin: int, end: int) -> None:
    """Sort a part of two columns by the first: shell sort, since the parts are short."""
    gap = 1
    while 3 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            number, flag = numbers[i], flags[i]
            j = i
            while j >= begin + gap and numbers[j - gap] > number:
                numbers[j], flags[j] = numbers[j - gap], flags[j - gap]
                j -= gap
            numbers[j], flags[j] = number, flag
        gap //= 3


@jit
def cut_out(words: Any, near_words: Any, width: int, cell: int, radius: int) -> None:
    """Copy the words around a cell into a window, the cell in its middle.

    What lies beyond the map is left as it is: no step leads there.
    """
    seen = np.uint32(0)
    for row in range(-radius, radius + 1):
        # Rows of a large map lie far apart. To look at both ends of each first makes the machine
        # fetch all at once; what is made of them is kept, or the looks would be left out.
        at = cell + row * width
        if at >= radius and at + radius < words.shape[0]:
            seen ^= words[np.uint64(at - radius)] ^ words[np.uint64(at + radius)]
    near_words[0] = seen  # further off than any step leads
    for row in range(-radius, radius + 1):
        at = cell + row * width - radius
        to = MIDDLE + row * SIDE - radius
        begin, end = max(at, 0), min(at + 2 * radius + 1, words.shape[0])
        for i in range(begin, end):
            near_words[np.uint64(to - at + i)] = words[np.uint64(i)]


@jit
def write_out(
    words: Any,
    plan: Any,
    totals: Any,
    order: Any,
    work: Any,
    cells: Any,
    costs: Any,
    rest: Any,
    at: int,
    n: int,
    stay: int,
    origin: int,
    real_width: int,
    n_real: int,
) -> int:
    """Write the n states that a flood has settled, ready to be shown, and blank the scratch.

    In: words, plan; totals, order as `flood` leaves them; stay, 1 where a movement may end in the
    start's cell whatever its word says; and of the whole map, if words are those of a window, the
    cell at the window's origin, the padded width, and how many cells there are.
    Out, from `at` on, of the k cells by rising ticks, then by number: cells int64 (2 m,), row and
    column; costs float64 (m,); and, from ``2 at`` on, rest int64 (2 m,): of n states, as settled,
    ``state + (total << 32)``, and of the k cells ``stop + 2 * parity``. There must be room for n
    cells. Scratch: work int64 (w,), at least 2 n.
    Returns k.
    """
    u: Any = np.uint64
    i64: Any = np.int64
    n_cells = u(words.shape[0])
    halves = i64(1 if plan[PARITY] == IN_TOTALS else 0)
    parity, flip = plan[PARITY], 2 * plan[FLIP]
    units, per_unit = float(plan[UNITS]), float(plan[TICKS])
    width, further = np.uint32(plan[WIDTH]), i64(real_width - plan[WIDTH])
    numbers, flags = work[:n], work[n : 2 * n]
    to, place = u(at), u(2 * at)
    k, begin = u(0), u(0)
    run = i64(-1)
    in_order = True
    for i in range(n):
        state = u(order[u(i)])
        total = i64(totals[state])
        is_second = state >= n_cells
        cell = state - n_cells if is_second else state
        number = origin + i64(cell) + i64(np.uint32(cell) // width) * further
        rest[place + u(i)] = number + (n_real if is_second else 0) | total << 32
        dear = total & halves
        if parity == IN_ROWS:
            dear = i64(is_second)
            # One row of a cell is shown: the cheaper, of equal ones that with the cheap diagonal.
            if totals[cell if is_second else cell + n_cells] < total + dear:
                continue
        else:
            totals[state] = NO_WAY
        flag = i64(words[cell] >> np.uint32(STOP)) & 1
        if parity:
            flag |= (2 * dear) ^ flip
        ticks = total >> halves
        if run < ticks:
            if not in_order:
                sort_run(numbers, flags, i64(begin), i64(k))
                in_order = True
            run = ticks
            begin = k
        costs[to + k] = ticks * units / per_unit
        # Cells of equal ticks by number: put in place at once while they are few.
        j = k
        if k - begin < u(16):
            while j > begin and numbers[j - u(1)] > number:
                numbers[j] = numbers[j - u(1)]
                flags[j] = flags[j - u(1)]
                j -= u(1)
        else:
            in_order = False
        numbers[j] = number
        flags[j] = flag
        k += u(1)
    if not in_order:
        sort_run(numbers, flags, i64(begin), i64(k))
    if parity == IN_ROWS:
        blank(totals, order, n)
    if stay and k:
        flags[u(0)] |= i64(1)  # nothing but the start is as cheap
    place += u(n)
    to += to
    across = np.uint32(real_width)
    for i in range(i64(k)):
        number = np.uint32(numbers[u(i)])
        row = number // across
        cells[to] = i64(row) - 1
        cells[to + u(1)] = i64(number - row * across) - 1
        rest[place + u(i)] = flags[u(i)]
        to += u(2)
    return int(i64(k))


@jit
def write_near(book: Any, at: int, start: int, n: int, stay: int) -> int:
    """Write out what a flood from a state has settled in the window, as `write_out` does."""
    words = array_at(book, WORDS, np.uint32)
    width, n_cells = array_at(book, PLAN, np.int64)[WIDTH], words.shape[0]
    cell = start if start < n_cells else start - n_cells
    return write_out(
        array_at(book, NEAR_WORDS, np.uint32), array_at(book, NEAR_PLAN, np.int64),
        array_at(book, NEAR_TOTALS, np.int32), array_at(book, ORDER, np.int32),
        array_at(book, OUT, np.int64), array_at(book, CELLS, np.int64),
        array_at(book, COSTS, np.float64), array_at(book, REST, np.int64), at, n, stay,
        cell - HALF * (width + 1), width, n_cells,
    )  # fmt: skip


@jit
def write_far(book: Any, at: int, n: int, stay: int) -> int:
    """Write out what a flood has settled on the map, as `write_out` does."""
    words, plan = array_at(book, WORDS, np.uint32), array_at(book, PLAN, np.int64)
    return write_out(
        words, plan, array_at(book, TOTALS, np.int32), array_at(book, ORDER, np.int32),
        array_at(book, OUT, np.int64), array_at(book, CELLS, np.int64),
        array_at(book, COSTS, np.float64), array_at(book, REST, np.int64), at, n, stay,
        0, plan[WIDTH], words.shape[0],
    )  # fmt: skip


@jit
def write_again(book: Any, start: int, n: int, stay: int, in_window: int) -> int:
    """Write what did not fit out at the beginning of a page with room."""
    return write_near(book, 0, start, n, stay) if in_window else write_far(book, 0, n, stay)


@jit
def flood_reach(
    book: Any, dues: Any, at: int, start: int, initial: int, stay: int, limit: int
) -> tuple[int, int, int]:
    """Flood from one state and write the answer out.

    In: book (book.py), of the graph and of all that is worked in and written on; limit as in
    `flood`; start a state, initial its total; stay as in `write_out`.
    Out, scratch: as those two.
    Returns n, k and the status. Where it does not fit, k is 0, or IN_WINDOW; the states are in
    `order`, their totals in the scratch, and the caller makes room and writes them out, or takes
    those of the map and blanks them.
    """
    words, plan = array_at(book, WORDS, np.uint32), array_at(book, PLAN, np.int64)
    order, queue = array_at(book, ORDER, np.int32), array_at(book, QUEUE, np.uint32)
    work, room = array_at(book, OUT, np.int64), int(book[COSTS + 1])
    n_cells = words.shape[0]
    radius = limit // plan[LEAST]
    work[1] = initial
    if radius <= NEAR and dues.shape[0] == 0:
        near_words = array_at(book, NEAR_WORDS, np.uint32)
        cell = start if start < n_cells else start - n_cells
        cut_out(words, near_words, plan[WIDTH], cell, radius)
        work[0] = MIDDLE if start < n_cells else MIDDLE + SIDE * SIDE
        n, status = flood(
            near_words, dues, array_at(book, NEAR_PLAN, np.int64),
            array_at(book, NEAR_TOTALS, np.int32), order, queue, work[:1], work[1:2], limit,
        )  # fmt: skip
        if status == POOL_FULL:
            return n, 0, status
        if 2 * n > work.shape[0] or at + n > room:
            return n, IN_WINDOW, status
        return n, write_near(book, at, start, n, stay), status
    totals = array_at(book, TOTALS, np.int32)
    work[0] = start
    n, status = flood(words, dues, plan, totals, order, queue, work[:1], work[1:2], limit)
    if status == POOL_FULL or 2 * n > work.shape[0] or at + n > room:
        return n, 0, status
    return n, write_far(book, at, n, stay), status


@jit
def flood_list(book: Any, dues: Any, starts: Any, initial: Any, limit: int) -> tuple[int, int]:
    """Flood from several states at once: starts int64 (s,), initial int64 (s,), else `flood`."""
    return flood(
        array_at(book, WORDS, np.uint32), dues, array_at(book, PLAN, np.int64),
        array_at(book, TOTALS, np.int32), array_at(book, ORDER, np.int32),
        array_at(book, QUEUE, np.uint32), starts, initial, limit,
    )  # fmt: skip


@jit
def reach_each(
    book: Any, dues: Any, starts: Any, initial: Any, stays: Any, limit: int, sizes: Any
) -> tuple[int, int]:
    """Write the reach of each start in turn, until all are done or one does not fit.

    In: book, dues, limit as `flood_reach`; starts, initial, stays int64 (s,), one search each.
    Out: what `flood_reach` writes, one after the other, n entries of `cells` apart; sizes int64
    (s, 2), n and k of each. The scratch is blank again.
    Returns how many starts are done, and DONE or BEYOND, or why the next one could not be:
    POOL_FULL, or OUTPUT_FULL.
    """
    at = 0
    result = DONE
    for i in range(starts.shape[0]):
        n, k, status = flood_reach(book, dues, at, starts[i], initial[i], stays[i], limit)
        if status == POOL_FULL:
            return i, status
        if n > 0 and k <= 0:
            where = NEAR_TOTALS if k == IN_WINDOW else TOTALS
            blank(array_at(book, where, np.int32), array_at(book, ORDER, np.int32), n)
            return i, OUTPUT_FULL
        sizes[i, 0] = n
        sizes[i, 1] = k
        at += n
        result = max(result, status)
    return starts.shape[0], result


@jit
def take_states(book: Any, n: int, out_state: Any, out_total: Any) -> None:
    """Copy the n states listed and their totals, int32 (n,) both, and blank the scratch."""
    totals, order = array_at(book, TOTALS, np.int32), array_at(book, ORDER, np.int32)
    for i in range(n):
        out_state[i] = order[i]
        out_total[i] = totals[order[i]]
    blank(totals, order, n)


@jit
def take_costs(book: Any, out: Any) -> None:
    """Write the cost of every cell, infinite where none is known, and blank the scratch.

    In: book. Out: out float64 (height, width).
    """
    plan, totals = array_at(book, PLAN, np.int64), array_at(book, TOTALS, np.int32)
    height, width = out.shape
    padded = width + 2
    n_cells = padded * (height + 2)
    halves = 1 if plan[PARITY] == IN_TOTALS else 0
    units, per_unit = float(plan[UNITS]), float(plan[TICKS])
    two = totals.shape[0] > n_cells
    for row in range(height):
        begin = (row + 1) * padded + 1
        here = totals[begin : begin + width]
        line = out[row]
        if two:
            twin = totals[n_cells + begin : n_cells + begin + width]
            for col in range(width):
                here[col] = min(here[col], twin[col])
                twin[col] = NO_WAY
        for col in range(width):
            total = here[col]
            line[col] = (total >> halves) * units / per_unit if total != NO_WAY else np.inf
            here[col] = NO_WAY

"""Best-first search over a movement graph: Dijkstra's flood, or A* where there are goals.

One kernel for whole ticks and for floats, on circular buckets where the dearest step spans few of
them, else on a heap. Without goals the keys are the totals, whatever leaves the queue is final, and
the search ends when nothing within the budget is left. With goals the keys are total + heuristic
and the search ends when no key below the best goal's total is left; that is exact for every
heuristic that never overestimates, since a state that improves is opened again.

With floats a bucket is a little narrower than the least step, so whatever comes out of the lowest
bucket is final although a bucket itself is not sorted.

References: Dial, "Algorithm 360: shortest-path forest with topological ordering", CACM 12 (1969);
Denardo and Fox, "Shortest-route methods", Operations Research 27 (1979), for the bucket width;
Hart, Nilsson and Raphael, IEEE Trans. SSC 4 (1968), for A*.

The steps and links of a state are written out inside the search rather than called: passing arrays
to a function in the innermost loop makes Numba count references, twenty times the cost of a step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.lattice import frame
from fieldcraft_kernel.queues import (
    LIVE,
    USED,
    pop_bucket,
    pop_heap,
    push_bucket,
    push_heap,
    reset,
)
from fieldcraft_kernel.steps import (
    BORDER,
    CELLS,
    DIRECTION,
    DIRECTIONS,
    HALT,
    LEAVE,
    OWN,
    PARITY_BIT,
    RESERVE,
    STEPS,
    STOP,
    TARGET,
    TWIN,
    StepArrays,
    no_way,
    shifted,
)

DIRECTION_BITS = 255
DONE, POOL_FULL, TOTAL_TOO_LARGE, OUTPUT_FULL, SETTLED_TWICE = 0, 1, 2, 3, 4
"""Status codes. SETTLED_TWICE says that the queue was laid out wrongly; nothing is overrun."""


class Scratch(NamedTuple):
    """What a search works in; one set a thread, T as in the graph (int32 totals or float64).

    totals      T (R * N,), all "no way" between searches
    vias        int16 (R * N,), or (0,) if the graph has no links: link + 1 that led here, else 0
    order       int32 (R * N,)  out: see `search`
    head        int32 (slots,), a power of two, or (0,) for the heap
    pool_state  int32 (m,)
    pool_key    T (m,)
    pool_next   int32 (m,)
    counters    int64 (queues.N_COUNTERS,)
    """

    totals: Any
    vias: Any
    order: Any
    head: Any
    pool_state: Any
    pool_key: Any
    pool_next: Any
    counters: Any


class Goals(NamedTuple):
    """Where an A* search wants to get to; without cells it is a plain flood.

    cells       int64 (g,)  padded cells, rising
    must_stop   int64       1: only states where a movement may end count
    box         int64 (6,)  least and largest x, y and x + y of the goals, in frame coordinates
    kind        int64       of the lattice, see lattice.LATTICE_KINDS
    width       int64       of the padded map
    straight, diagonal  T   heuristic price of a straight and of a diagonal step
    added       T (R,)      what a row adds to the sum before the shift (a parity)
    worse       int64 (R,)  1: of goal states of equal total, one in another row is better
    factor      T           what the sum is multiplied by last (1; for floats a little less)
    margin      T           relative difference of totals that counts as none (0; for floats
                            tiny, so that sums of the same steps in another order are one)
    """

    cells: Any
    must_stop: Any
    box: Any
    kind: Any
    width: Any
    straight: Any
    diagonal: Any
    added: Any
    worse: Any
    factor: Any
    margin: Any


@jit
def outside(value: int, low: int, high: int) -> int:
    """Return how far a value lies outside an interval."""
    if value < low:
        return low - value
    if value > high:
        return value - high
    return 0


@jit
def is_in(cells: Any, cell: int) -> bool:
    """Tell whether a rising array holds a value."""
    low, high = 0, cells.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if cells[middle] < cell:
            low = middle + 1
        else:
            high = middle
    return bool(low < cells.shape[0] and cells[low] == cell)


@jit
def heuristic(
    cell: int,
    kind: int,
    width: int,
    x_low: int,
    x_high: int,
    y_low: int,
    y_high: int,
    sum_low: int,
    sum_high: int,
    straight: Any,
    diagonal: Any,
    added: Any,
    shift: int,
    factor: Any,
) -> Any:
    """Return a price that no way from the cell to the box of goals undercuts.

    Squares: with a >= b the differences along the axes, ``straight * (a - b) + diagonal * b``.
    Hexagons: the hex distance to the box, the longest of the differences of x, y and x + y.
    """
    padded_row = cell // width
    x, y = frame(kind, padded_row - 1, cell - padded_row * width - 1)
    across = outside(x, x_low, x_high)
    along = outside(y, y_low, y_high)
    if kind:
        steps = max(across, along, outside(x + y, sum_low, sum_high))
        return shifted(straight * steps + added, shift) * factor
    if across < along:
        across, along = along, across
    if across == 0:
        return shifted(straight * 0, shift) * factor
    return shifted(straight * (across - along) + diagonal * along + added, shift) * factor


@jit
def search(
    graph: StepArrays,
    goals: Goals,
    starts: Any,
    initial: Any,
    budget: Any,
    largest: Any,
    per_bucket: Any,
    scratch: Scratch,
) -> tuple[int, int, int, int]:
    """Settle states cheapest first: all within the budget, or until a goal is reached.

    In: graph, goals; starts int64 (s,) states, initial T (s,); budget T, at most `largest`, the
    largest total that fits; per_bucket T, buckets a unit of total.
    Out: scratch.totals and .vias of every labelled state; scratch.order, without goals the states
    as they were settled, with goals the states as they were first labelled: each state once.
    Returns (entries of order, goal state or -1, states expanded, status). Unless the status is
    DONE all totals are blank again; after DONE the caller blanks them (`collect`, `blank`).
    """
    steps, enter, leave, border = graph.steps, graph.enter, graph.leave, graph.border
    stop, halt, rows, entry_of = graph.stop, graph.halt, graph.rows, graph.entry
    onward, reserve, latest = graph.onward, graph.reserve, graph.latest
    to, scale, extra, shift, caps = graph.to, graph.scale, graph.extra, graph.shift, graph.caps
    links, link_price, link_cells = graph.links, graph.link_price, graph.link_cells
    link_steps, link_rest = graph.link_steps, graph.link_rest
    first_link, offsets, is_hex = graph.first_link, graph.offsets, graph.is_hex
    totals, vias, order, head = scratch.totals, scratch.vias, scratch.order, scratch.head
    pool_state, pool_key = scratch.pool_state, scratch.pool_key
    pool_next, counters = scratch.pool_next, scratch.counters
    goal_cells, must_stop, added = goals.cells, goals.must_stop, goals.added
    kind, width, factor = goals.kind, goals.width, goals.factor
    same = 1 - goals.margin
    straight, diagonal, worse = goals.straight, goals.diagonal, goals.worse
    x_low, x_high, y_low = goals.box[0], goals.box[1], goals.box[2]
    y_high, sum_low, sum_high = goals.box[3], goals.box[4], goals.box[5]

    n_cells = steps.shape[1]
    has_goals = goal_cells.shape[0] > 0
    keep_via = vias.shape[0] > 0
    has_links = links.shape[0] > 0
    has_reserve = reserve.shape[0] > 0
    slots = head.shape[0]
    wrap = slots - 1
    blank = no_way(totals)
    n_order = 0
    expanded = 0
    status = DONE
    bucket = 0
    best, best_state = budget, -1
    # Where the goal found is the worse of equal ones, keys equal to its total are still looked at.
    slack = 0
    reset(head, counters)

    for i in range(starts.shape[0]):
        state, total = starts[i], initial[i]
        if total > budget or total >= totals[state]:
            continue
        if has_goals and totals[state] == blank:
            order[n_order] = state
            n_order += 1
        totals[state] = total
        if keep_via:
            vias[state] = 0
        key = total
        if has_goals:
            key = total + heuristic(
                state % n_cells, kind, width, x_low, x_high, y_low, y_high, sum_low, sum_high,
                straight, diagonal, added[state // n_cells], shift, factor,
            )  # fmt: skip
            if key > budget:
                if budget >= largest:
                    status = TOTAL_TOO_LARGE
                continue
        if slots:
            slot = int(key * per_bucket)
            if counters[LIVE] == 0 or slot < bucket:
                bucket = slot
            fits = push_bucket(
                head, pool_state, pool_key, pool_next, counters, slot & wrap, state, total
            )
        else:
            fits = push_heap(pool_state, pool_key, counters, state, key)
        if not fits:
            # A label that is neither queued nor listed would be forgotten: it goes here.
            totals[state] = blank
            status = POOL_FULL
            break

    while status == DONE and counters[LIVE] > 0:
        if slots:
            while head[bucket & wrap] < 0:
                bucket += 1
            if best_state >= 0 and bucket >= (best * same + slack) * per_bucket:
                break
            entry = pop_bucket(head, pool_next, counters, bucket & wrap)
            state = int(pool_state[entry])
            total = totals[state]
            if pool_key[entry] != total:
                continue
        else:
            if best_state >= 0 and pool_key[0] >= best * same + slack:
                break
            state, key = pop_heap(pool_state, pool_key, counters)
            total = totals[state]
            now = total
            if has_goals:
                now = total + heuristic(
                    state % n_cells, kind, width, x_low, x_high, y_low, y_high, sum_low, sum_high,
                    straight, diagonal, added[state // n_cells], shift, factor,
                )  # fmt: skip
            if key != now:
                continue
        expanded += 1
        if not has_goals:
            if n_order == order.shape[0]:
                status = SETTLED_TWICE
                break
            order[n_order] = state
            n_order += 1

        # Candidates: the legal steps by direction number, then each link: standing still, or with
        # every step that it may make.
        row = state // n_cells
        cell = state - row * n_cells
        mask = steps[rows[row, STEPS], cell]
        parity = (mask >> PARITY_BIT) & is_hex
        legal = mask & rows[row, DIRECTIONS]
        direction = -1
        link = 0
        last_link = 0
        if has_links and rows[row, DIRECTIONS]:
            link, last_link = first_link[row], first_link[row + 1]
        base = row
        by_link = 0
        paid = total
        while True:
            along = -1
            if legal:
                direction += 1
                if not legal & 1:
                    legal >>= 1
                    continue
                legal >>= 1
                along = direction
            elif link < last_link:
                by_link = link + 1
                link += 1
                where = links[by_link - 1, CELLS]
                if where >= 0 and not link_cells[where, cell]:
                    continue
                base = links[by_link - 1, TARGET]
                paid = total + link_price[by_link - 1]
                own = links[by_link - 1, OWN]
                only = links[by_link - 1, DIRECTION]
                if own >= 0 or only >= 0:
                    if own >= 0:
                        legal = link_steps[own, cell] & DIRECTION_BITS
                    else:
                        legal = steps[rows[base, STEPS], cell] & (1 << only)
                    direction = -1
                    continue
                needed = paid + link_rest[by_link - 1]
                if needed > caps[base] or needed > budget:
                    continue
            else:
                break
            new = paid
            beyond = cell
            after = base
            if along >= 0:
                beyond = cell + offsets[parity, along]
                new += shifted(
                    scale[base, along] * enter[entry_of[base, along], beyond] + extra[base, along],
                    shift,
                )
                if rows[base, LEAVE] >= 0:
                    new += leave[rows[base, LEAVE], cell]
                if rows[base, BORDER] >= 0:
                    new += border[rows[base, BORDER], cell, along]
                after = to[base, along]
                if rows[base, HALT] >= 0 and halt[rows[base, HALT], beyond]:
                    after = rows[after, TWIN]
                if new <= total:
                    # A float so large that the step no longer changes it.
                    status = TOTAL_TOO_LARGE
                    continue
            if new > caps[after]:
                continue
            if has_reserve and along >= 0 and rows[after, RESERVE] >= 0:
                held, at = rows[after, RESERVE], onward[beyond]
                if at >= 0 and (
                    new + reserve[held, along, at] > budget or new > latest[held, along, at]
                ):
                    continue
            if new > budget:
                if budget >= largest:
                    status = TOTAL_TOO_LARGE
                continue
            next_state = after * n_cells + beyond
            if new >= totals[next_state] * same:
                continue

            key = new
            if has_goals:
                key = new + heuristic(
                    beyond, kind, width, x_low, x_high, y_low, y_high, sum_low, sum_high,
                    straight, diagonal, added[after], shift, factor,
                )  # fmt: skip
                if best_state < 0 and key > budget:
                    if budget >= largest:
                        status = TOTAL_TOO_LARGE
                    continue
                if best_state >= 0 and key >= best * same + slack:
                    continue
                if totals[next_state] == blank:
                    order[n_order] = next_state
                    n_order += 1
                if (
                    is_in(goal_cells, beyond)
                    and (not must_stop or stop[rows[after, STOP], beyond])
                    and (new < best or best_state < 0 or worse[after] < slack)
                ):
                    best, best_state, slack = new, next_state, worse[after]
            totals[next_state] = new
            if keep_via:
                vias[next_state] = by_link
            if slots:
                slot = max(int(key * per_bucket), bucket)
                fits = push_bucket(
                    head, pool_state, pool_key, pool_next, counters, slot & wrap, next_state, new
                )
            else:
                fits = push_heap(pool_state, pool_key, counters, next_state, key)
            if not fits:
                totals[next_state] = blank
                status = POOL_FULL
                break

    if status != DONE:
        forget(totals, order, n_order, pool_state, counters)
        n_order = 0
    return n_order, best_state, expanded, status


@jit
def forget(totals: Any, order: Any, n_order: int, pool_state: Any, counters: Any) -> None:
    """Blank the totals after a search that broke off: those listed and those still queued."""
    blank = no_way(totals)
    for i in range(n_order):
        totals[order[i]] = blank
    for i in range(counters[USED]):
        totals[pool_state[i]] = blank


@jit
def collect(scratch: Scratch, n_order: int, out: Any, out_via: Any) -> None:
    """Copy the totals (and links) in order and blank the scratch.

    Out: out T (n_order,), out_via int16 (n_order,) or (0,).
    """
    totals, vias, order = scratch.totals, scratch.vias, scratch.order
    blank = no_way(totals)
    for i in range(n_order):
        state = order[i]
        out[i] = totals[state]
        totals[state] = blank
        if out_via.shape[0]:
            out_via[i] = vias[state]


@jit
def search_many(
    graph: StepArrays,
    goals: Goals,
    starts: Any,
    budget: Any,
    largest: Any,
    per_bucket: Any,
    scratch: Scratch,
    out_state: Any,
    out_total: Any,
    out_via: Any,
    ends: Any,
) -> tuple[int, int]:
    """Flood from each start in turn, until all are done or the output is full.

    In, scratch: as `search`; starts int64 (s,), one search each, with an initial total of 0.
    Out: out_state int32 (m,), out_total T (m,), out_via int16 (m,) or (0,): the settled states of
    all searches end to end; ends int64 (s,), where the part of each search ends.
    Returns how many starts are done, and a status: DONE, or why the next one could not be.
    """
    filled = 0
    zero = goals.added[:1] * 0
    for i in range(starts.shape[0]):
        n_order, _, _, status = search(
            graph, goals, starts[i : i + 1], zero, budget, largest, per_bucket, scratch
        )
        if status != DONE:
            return i, status
        until = filled + n_order
        if until > out_state.shape[0]:
            forget(scratch.totals, scratch.order, n_order, scratch.pool_state, scratch.counters)
            return i, OUTPUT_FULL
        out_state[filled:until] = scratch.order[:n_order]
        via_part = out_via[filled:until] if out_via.shape[0] else out_via
        collect(scratch, n_order, out_total[filled:until], via_part)
        filled = until
        ends[i] = filled
    return starts.shape[0], DONE

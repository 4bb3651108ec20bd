"""Walking back from a goal over the totals of a search: which way was the cheapest.

Predecessors are not stored but recognised: a state lies before another on a cheapest way when its
total plus the price of the step is the other's total. Among several the written rule takes, in this
order: a start (the path ends there); the step whose direction, seen from the later cell, has the
lowest number, and of equal ones the lowest row; a link that makes a step, the first in order; the
link standing still that first led to the state. Totals fall along every step, and a link of 0
ticks is only followed back to the state that was settled before, so there are no circles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.book import OUT, PLAN, TOTALS, WORDS, array_at
from fieldcraft_kernel.plain import (
    BACK,
    ENTER,
    EXTRA,
    IN_ROWS,
    MOVES,
    N_MOVES,
    ODD,
    PARITY,
    SCALE,
    SHIFT,
    TURN,
    blank,
)
from fieldcraft_kernel.search import is_in
from fieldcraft_kernel.steps import (
    CELLS,
    DIRECTION,
    DIRECTIONS,
    OWN,
    PARITY_BIT,
    SOURCE,
    STEPS,
    TARGET,
    StepArrays,
    after_step,
    arrival,
)

TOO_SHORT, LOST = -1, -2
"""Status codes of `walk_back`."""


@jit
def spread(totals: Any, vias: Any, states: Any, values: Any, via_values: Any) -> None:
    """Write totals (and links) of a search's states back into a full array."""
    for i in range(states.shape[0]):
        totals[states[i]] = values[i]
        if vias.shape[0]:
            vias[states[i]] = via_values[i]


@jit
def blank_states(totals: Any, states: Any, blank: Any) -> None:
    """Blank the totals of the states given."""
    for i in range(states.shape[0]):
        totals[states[i]] = blank


@jit
def before(
    graph: StepArrays, totals: Any, vias: Any, opposite: Any, margin: Any, state: int
) -> tuple[int, int]:
    """Return the state before this one on its cheapest way and the link taken + 1, or (-1, 0).

    In: graph; totals T (R * N,), vias int16 (R * N,) or (0,), opposite int64 (8,); margin T, the
    relative difference of totals that counts as none (see search.Goals).
    """
    n_cells = graph.steps.shape[1]
    n_rows = graph.rows.shape[0]
    row = state // n_cells
    cell = state - row * n_cells
    total = totals[state]
    least, most = total * (1 - margin), total * (1 + margin)
    parity = (graph.steps[0, cell] >> PARITY_BIT) & graph.is_hex
    for back in range(8):
        along = opposite[back]
        if along < 0:
            break
        source_cell = cell + graph.offsets[parity, back]
        for source in range(n_rows):
            legal = graph.steps[graph.rows[source, STEPS], source_cell]
            if not ((legal & graph.rows[source, DIRECTIONS]) >> along) & 1:
                continue
            if arrival(graph, source, along, cell) != row:
                continue
            earlier = source * n_cells + source_cell
            if totals[earlier] >= total:
                continue
            reached = after_step(graph, totals[earlier], source, source_cell, along, cell)
            if least <= reached <= most:
                return earlier, 0
    for link in range(graph.links.shape[0]):
        only, own = graph.links[link, DIRECTION], graph.links[link, OWN]
        if only < 0 and own < 0:
            continue
        source, target = graph.links[link, SOURCE], graph.links[link, TARGET]
        where = graph.links[link, CELLS]
        for back in range(8):
            along = opposite[back]
            if along < 0:
                break
            if own < 0 and along != only:
                continue
            source_cell = cell + graph.offsets[parity, back]
            if where >= 0 and not graph.link_cells[where, source_cell]:
                continue
            legal = graph.steps[graph.rows[target, STEPS], source_cell]
            if own >= 0:
                legal = graph.link_steps[own, source_cell]
            if not (legal >> along) & 1 or arrival(graph, target, along, cell) != row:
                continue
            earlier = source * n_cells + source_cell
            if totals[earlier] >= total:
                continue
            paid = totals[earlier] + graph.link_price[link]
            if least <= after_step(graph, paid, target, source_cell, along, cell) <= most:
                return earlier, link + 1
    if vias.shape[0] and vias[state] > 0:
        link = vias[state] - 1
        return graph.links[link, SOURCE] * n_cells + cell, link + 1
    return -1, 0


@jit
def walk_back(
    graph: StepArrays,
    totals: Any,
    vias: Any,
    starts: Any,
    initial: Any,
    opposite: Any,
    margin: Any,
    goal: int,
    out: Any,
    out_link: Any,
) -> int:
    """List the states of the path that ends in `goal`, goal first.

    In: starts int64 (s,) rising, initial T (s,): the least initial total of each.
    Out: out int64 (m,), the states; out_link int64 (m,), link + 1 by which each was reached.
    Returns how many, or TOO_SHORT where `out` is, or LOST where a state has no predecessor.
    """
    n = 0
    state = goal
    while True:
        if n == out.shape[0]:
            return TOO_SHORT
        out[n] = state
        out_link[n] = 0
        n += 1
        if is_in(starts, state):
            for i in range(starts.shape[0]):
                if starts[i] == state and initial[i] == totals[state]:
                    return n
        earlier, link = before(graph, totals, vias, opposite, margin, state)
        if earlier < 0:
            return LOST
        out_link[n - 1] = link
        state = earlier


@jit
def walk_plain(
    words: Any,
    dues: Any,
    plan: Any,
    totals: Any,
    starts: Any,
    initial: Any,
    goal: int,
    out: Any,
) -> int:
    """List the states of the path that ends in `goal`, goal first: `walk_back` for plain graphs.

    In: the graph (plain.py); totals int32 (R * N,); starts, initial int64 (s,).
    Out: out int64 (m,): the states, then their totals.
    Returns how many states, or TOO_SHORT where ``m / 2`` is, or LOST.
    """
    n_cells = words.shape[0]
    n_rows = 2 if plan[PARITY] == IN_ROWS else 1
    shift = plan[SHIFT]
    longest = out.shape[0] // 2
    n = 0
    state = goal
    while True:
        if n == longest:
            return TOO_SHORT
        out[n] = state
        n += 1
        total = np.int64(totals[state])
        begun = False
        for i in range(starts.shape[0]):
            if starts[i] == state and initial[i] == total:
                begun = True
        if begun:
            for i in range(n):
                out[n + i] = totals[out[i]]
            return n
        row = state // n_cells
        cell = state - row * n_cells
        odd = (np.int64(words[cell]) >> ODD) & 1
        entry = np.int64(words[cell] >> np.uint32(ENTER))
        earlier = -1
        for back in range(8):
            if earlier >= 0:
                break
            at = cell + plan[MOVES + N_MOVES * odd + back]
            along = plan[MOVES + N_MOVES * odd + BACK + back]
            if along < 0 or at < 0 or at >= n_cells or not (np.int64(words[at]) >> along) & 1:
                continue
            for source in range(n_rows):
                before = np.int64(totals[source * n_cells + at])
                if before >= total:
                    continue
                moves = MOVES + N_MOVES * (source | ((np.int64(words[at]) >> ODD) & 1))
                price = plan[moves + SCALE + along] * entry
                if dues.ndim == 2:
                    if plan[moves + TURN + along] != row * n_cells:
                        continue
                    price = (price + plan[moves + EXTRA + along]) >> shift
                    if dues.shape[0]:
                        price += dues[at, 0]
                    if dues.shape[1] > 1:
                        price += dues[at, 1 + along]
                if before + price == total:
                    earlier = source * n_cells + at
                    break
        if earlier < 0:
            return LOST
        state = earlier


@jit
def way_to(
    book: Any, dues: Any, states: Any, values: Any, starts: Any, initial: Any, goal: int
) -> int:
    """Write the way to a state settled by an earlier search, as `walk_plain` does.

    In: book (book.py); states, values int32 or int64 (n,): the totals known; starts, initial int64.
    """
    totals = array_at(book, TOTALS, np.int32)
    for i in range(states.shape[0]):
        totals[states[i]] = values[i]
    n = walk_plain(
        array_at(book, WORDS, np.uint32), dues, array_at(book, PLAN, np.int64),
        totals, starts, initial, goal, array_at(book, OUT, np.int64),
    )  # fmt: skip
    blank(totals, states, states.shape[0])
    return n

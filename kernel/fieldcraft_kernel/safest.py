"""Ways of least stake within a budget: a search over states and the ticks spent so far.

Every step has a price in ticks and a stake, which add up along a way. A label is the least stake
with which a state is come to after so many ticks; one that an earlier label of the state undercuts
or equals leads nowhere better and is left out, so the labels kept of a state are the undominated
pairs of price and stake. Ticks never fall, so they are worked off in order; steps that cost nothing
are taken within a tick until none changes anything.

Reference: Hansen, "Bicriterion path problems", in Multiple Criteria Decision Making (1980).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.steps import (
    CELLS,
    DIRECTION,
    DIRECTIONS,
    OWN,
    PARITY_BIT,
    RESERVE,
    STEPS,
    TARGET,
    StepArrays,
    after_step,
    arrival,
)

NO_STAKE = 2**62
"""The stake of what is not come to; no sum of stakes may reach it."""
NOWHERE = -(2**31)
"""In place of an edge: not come to. A start i is noted as ``-1 - i``."""


class Edges(NamedTuple):
    """A graph as edges: those of state v are ``first[v]`` to ``first[v + 1]``.

    first   int64 (n + 1,)
    to      int32 (m,)      state led to
    price   int32 (m,)      ticks, 0 or more
    stake   int64 (m,)      0 or more
    latest  int32 (m,)      the largest total of ticks with which the edge may arrive
    """

    first: Any
    to: Any
    price: Any
    stake: Any
    latest: Any


@jit
def place_of(states: Any, state: int) -> int:
    """Return the place of a state among states int64 (n,), rising; -1 if it is not one of them."""
    low, high = 0, states.shape[0]
    while low < high:
        middle = (low + high) // 2
        if states[middle] < state:
            low = middle + 1
        else:
            high = middle
    return low if low < states.shape[0] and states[low] == state else -1


@jit
def list_steps(
    graph: StepArrays, states: Any, base: int, cell: int, legal: int, paid: int, link: int,
    budget: int, n: int, to: Any, price: Any, latest: Any, direction: Any, via: Any,
) -> int:  # fmt: skip
    """List the legal steps from a cell by the arrays of a row, behind n edges; return how many.

    In, out: as `list_edges`; paid, ticks before the step; link, its number plus one, or 0.
    """
    rows = graph.rows
    n_cells = graph.steps.shape[1]
    parity = (int(graph.steps[rows[base, STEPS], cell]) >> PARITY_BIT) & graph.is_hex
    for k in range(8):
        if not (legal >> k) & 1:
            continue
        beyond = cell + graph.offsets[parity, k]
        after = arrival(graph, base, k, beyond)
        there = place_of(states, after * n_cells + beyond)
        if there < 0:
            continue
        late = min(budget, int(graph.caps[after]))
        held = rows[after, RESERVE]
        if held >= 0 and graph.onward[beyond] >= 0:
            at = graph.onward[beyond]
            late = min(late, budget - graph.reserve[held, k, at], graph.latest[held, k, at])
        if n < to.shape[0]:
            to[n], direction[n], via[n], latest[n] = there, k, link, late
            price[n] = after_step(graph, paid, base, cell, k, beyond)
        n += 1
    return n


@jit
def list_edges(
    graph: StepArrays, states: Any, budget: int, first: Any, to: Any, price: Any, latest: Any,
    direction: Any, via: Any,
) -> int:  # fmt: skip
    """List the steps and links that lead from one of some states to another, in whole ticks.

    In: graph; states int64 (n,), rising; budget in ticks. Out: first, to, price, latest as in
    `Edges`; direction int8 (m,), of the step, -1 where a link stands still; via int32 (m,), the
    link plus one, 0 where there is none. The order is that in which a search looks at them.
    Returns how many there are. Where that is more than there is room for, only `first` is right.
    """
    rows, links = graph.rows, graph.links
    n_cells = graph.steps.shape[1]
    n = 0
    for i in range(states.shape[0]):
        first[i] = n
        row = states[i] // n_cells
        cell = states[i] - row * n_cells
        legal = int(graph.steps[rows[row, STEPS], cell]) & rows[row, DIRECTIONS]
        n = list_steps(
            graph, states, row, cell, legal, 0, 0, budget, n, to, price, latest, direction, via
        )
        if not rows[row, DIRECTIONS]:
            continue  # somebody halted, who takes no links either
        for link in range(graph.first_link[row], graph.first_link[row + 1]):
            where, own, only = links[link, CELLS], links[link, OWN], links[link, DIRECTION]
            if where >= 0 and not graph.link_cells[where, cell]:
                continue
            base, paid = links[link, TARGET], int(graph.link_price[link])
            if own >= 0 or only >= 0:
                if own >= 0:
                    legal = int(graph.link_steps[own, cell])
                else:
                    legal = int(graph.steps[rows[base, STEPS], cell]) & (1 << only)
                n = list_steps(
                    graph, states, base, cell, legal, paid, link + 1, budget, n,
                    to, price, latest, direction, via,
                )  # fmt: skip
                continue
            there = place_of(states, base * n_cells + cell)
            if there < 0:
                continue
            if n < to.shape[0]:
                to[n], direction[n], via[n], price[n] = there, -1, link + 1, paid
                latest[n] = min(budget, int(graph.caps[base])) - graph.link_rest[link]
            n += 1
    first[states.shape[0]] = n
    return n


@jit
def take(
    edges: Edges, ticks: int, state: int, budget: int, undercut: Any, least: Any, via: Any
) -> bool:
    """Take all edges of a label; tell whether one led to a better label of the same tick."""
    stake = least[ticks, state]
    again = False
    for edge in range(edges.first[state], edges.first[state + 1]):
        then = ticks + edges.price[edge]
        if then > budget or then > edges.latest[edge]:
            continue
        there = edges.to[edge]
        total = stake + edges.stake[edge]
        if total < least[then, there] and total < undercut[there]:
            least[then, there] = total
            via[then, there] = edge
            again |= then == ticks
    return again


@jit
def spread_stakes(
    edges: Edges, starts: Any, spent: Any, risked: Any, budget: int, undercut: Any, least: Any,
    via: Any,
) -> int:  # fmt: skip
    """Find the undominated labels of all states within a budget.

    In: edges; starts, spent, risked int64 (s,): states, their ticks and stakes; budget in ticks.
    Out: undercut int64 (n,), the least stake of each state, NO_STAKE where it is not come to; least
    int64 (budget + 1, n), the stake of each label kept, else NO_STAKE; via int32 (budget + 1, n),
    the edge by which it was come to, ``-1 - i`` at start i, else NOWHERE.
    Returns how many labels were expanded. Of equal ways that found first stays: edges are taken by
    rising ticks, then by state and edge.
    """
    n = undercut.shape[0]
    expanded_at = np.full(n, -1, np.int64)
    undercut[:] = NO_STAKE
    least[:] = NO_STAKE
    via[:] = NOWHERE
    for i in range(starts.shape[0]):
        if spent[i] <= budget and risked[i] < least[spent[i], starts[i]]:
            least[spent[i], starts[i]] = risked[i]
            via[spent[i], starts[i]] = -1 - i
    expanded = 0
    for ticks in range(budget + 1):
        again = True
        while again:
            again = False
            for state in range(n):
                stake = least[ticks, state]
                if stake >= undercut[state]:
                    continue
                undercut[state] = stake
                expanded_at[state] = ticks
                expanded += 1
                again |= take(edges, ticks, state, budget, undercut, least, via)
        for state in range(n):
            # What an earlier tick undercuts, or equals, is no label.
            if expanded_at[state] != ticks:
                least[ticks, state] = NO_STAKE
                via[ticks, state] = NOWHERE
    return expanded


@jit
def way_back(edges: Edges, source: Any, via: Any, ticks: int, state: int, out: Any) -> int:
    """Write the edges of the way to a label, the last one first, and return how many.

    In: source int32 (m,), the state that each edge leaves; via as above; a label that was kept.
    Out: int64 (k,), with room for every edge of the way. Returns -1 where it has not, or where
    there is no such label.
    """
    n = 0
    while True:
        edge = int(via[ticks, state])
        if edge == NOWHERE or n > out.shape[0]:
            return -1
        if edge < 0:
            return n
        if n == out.shape[0]:
            return -1
        out[n] = edge
        n += 1
        ticks -= edges.price[edge]
        state = source[edge]

"""Ways of least stake: against every way there is, and against NetworkX on cells times ticks."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import strategies as fc_st
from fieldcraft_kernel import safest


def edges_of(n, steps, latest=None):
    """Return edges, and the state each leaves, of a list of (from, to, price, stake)."""
    steps = sorted(steps)
    columns = [np.array(column) for column in zip(*steps, strict=True)] or [np.zeros(0)] * 4
    source, to, price, stake = columns
    first = np.searchsorted(source, np.arange(n + 1)).astype(np.int64)
    late = np.full(len(steps), 2**30) if latest is None else np.array(latest)
    made = safest.Edges(
        first, to.astype(np.int32), price.astype(np.int32), stake.astype(np.int64),
        late.astype(np.int32),
    )  # fmt: skip
    return made, source.astype(np.int32)


def found(edges, starts, budget):
    """Return the labels kept of each state, and what else the kernel wrote."""
    n = len(edges.first) - 1
    undercut, least = np.empty(n, np.int64), np.empty((budget + 1, n), np.int64)
    via = np.empty((budget + 1, n), np.int32)
    states, spent, risked = (np.array(column, np.int64) for column in zip(*starts, strict=True))
    safest.spread_stakes(edges, states, spent, risked, budget, undercut, least, via)
    kept = [
        [(t, int(least[t, v])) for t in range(budget + 1) if least[t, v] < safest.NO_STAKE]
        for v in range(n)
    ]
    return kept, undercut, via


def undominated(pairs):
    kept = []
    for ticks, stake in sorted(pairs):
        if not kept or stake < kept[-1][1]:
            kept.append((ticks, stake))
    return kept


def every_way(n, steps, starts, budget):
    """Return the undominated pairs of each state, by trying all ways without a state twice."""
    pairs = [set() for _ in range(n)]

    def go(state, ticks, stake, seen):
        pairs[state].add((ticks, stake))
        for source, to, price, more in steps:
            if source == state and to not in seen and ticks + price <= budget:
                go(to, ticks + price, stake + more, {*seen, to})

    for state, ticks, stake in starts:
        if ticks <= budget:
            go(state, ticks, stake, {state})
    return [undominated(some) for some in pairs]


@st.composite
def graphs(draw, most, n_steps):
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(fc_st.seeds))
    m = int(rng.integers(0, n_steps + 1))
    ends = rng.integers(0, n, (m, 2))
    cheapest = draw(st.integers(0, 1))  # with and without steps that cost nothing
    price, stake = (
        rng.integers(cheapest, 5, m),
        rng.integers(0, draw(st.sampled_from([1, 4, 999])), m),
    )
    steps = [
        (int(a), int(b), int(p), int(s)) for (a, b), p, s in zip(ends, price, stake, strict=True)
    ]
    starts = [
        (int(rng.integers(n)), int(rng.integers(3)), int(rng.integers(50)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return n, steps, starts, draw(st.integers(0, 14))


def check_ways(edges, source, kept, via, starts):
    """Each label is what the edges of its way add up to."""
    out = np.empty(64, np.int64)
    for state, labels in enumerate(kept):
        for ticks, stake in labels:
            n = safest.way_back(edges, source, via, ticks, state, out)
            assert n >= 0
            way = out[:n][::-1]
            first = source[way[0]] if n else state
            begun = {(t, s) for at, t, s in starts if at == first}
            assert list(edges.to[way[:-1]]) == list(source[way[1:]])
            assert (ticks - edges.price[way].sum(), stake - edges.stake[way].sum()) in begun


@fc_st.examples(200)
@given(case=graphs(6, 14))
def test_labels_are_the_undominated_of_all_ways(case):
    n, steps, starts, budget = case
    edges, source = edges_of(n, steps)
    kept, undercut, via = found(edges, starts, budget)
    assert kept == every_way(n, steps, starts, budget)
    for labels, least in zip(kept, undercut.tolist(), strict=True):
        assert least == (labels[-1][1] if labels else safest.NO_STAKE)
    check_ways(edges, source, kept, via, starts)


@fc_st.examples(60)
@given(case=graphs(40, 200))
def test_labels_equal_networkx_on_states_times_ticks(case):
    n, steps, starts, budget = case
    edges, source = edges_of(n, steps)
    kept, _, via = found(edges, starts, budget)
    product = nx.DiGraph()
    product.add_nodes_from((v, t) for v in range(n) for t in range(budget + 1))
    for a, b, price, stake in steps:
        for ticks in range(budget + 1 - price):
            ends = (a, ticks), (b, ticks + price)
            known = product.get_edge_data(*ends, {"stake": stake})["stake"]
            product.add_edge(*ends, stake=min(stake, known))
    for state, ticks, stake in starts:
        if ticks <= budget:
            known = product.get_edge_data("start", (state, ticks), {"stake": stake})["stake"]
            product.add_edge("start", (state, ticks), stake=min(stake, known))
    stakes = {}
    if "start" in product:
        stakes = nx.single_source_dijkstra_path_length(product, "start", weight="stake")
    pairs = [[(t, stakes[v, t]) for t in range(budget + 1) if (v, t) in stakes] for v in range(n)]
    assert kept == [undominated(some) for some in pairs]
    check_ways(edges, source, kept, via, starts)


def listed(field, states, limit):
    """Return the edges of a field among some states, their directions and links."""
    room = 4
    while True:
        first = np.empty(len(states) + 1, np.int64)
        to, price, latest, via = (np.empty(room, np.int32) for _ in range(4))
        direction = np.empty(room, np.int8)
        n = safest.list_edges(
            field._graph.arrays, states, limit, first, to, price, latest, direction, via
        )
        if n <= room:
            break
        room = n
    source = np.repeat(np.arange(len(states), dtype=np.int32), np.diff(first))
    stake = price[:n].astype(np.int64)
    edges = safest.Edges(first, to[:n], price[:n], stake, latest[:n])
    return edges, source, direction[:n], via[:n]


@fc_st.examples(200)
@given(case=fc_st.movements(shape=fc_st.small_shapes))
def test_edges_of_a_field_are_those_of_its_search(case):
    """With the price for a stake every state has one label: its total."""
    spec, query = case
    field = fc_st.step_field(spec)
    starts, totals = field.seeds(query.starts, query.initial, query.parity, query.layer)
    limit, _ = field._limit(min(query.budget, 60))
    settled, _ = field._searcher.flood(starts, totals, limit)
    by = np.argsort(settled[0])
    states, wanted = settled[0][by].astype(np.int64), settled[1][by].astype(np.int64)
    if not len(states) or wanted.max() > 400:
        return
    limit = min(int(limit), 400)
    edges, source, _, _ = listed(field, states, limit)
    places = np.searchsorted(states, starts)
    begun = [
        (int(place), int(total), int(total))
        for place, state, total in zip(places, starts, totals, strict=True)
        if place < len(states) and states[place] == state
    ]
    kept, _, via = found(edges, begun, limit)
    assert [labels[0] for labels in kept] == [(total, total) for total in wanted.tolist()]
    assert all(len(labels) == 1 for labels in kept)
    check_ways(edges, source, kept, via, begun)


def test_a_detour_is_safer_and_an_edge_may_come_too_late():
    """By hand: 0 to 1 past somebody (2 ticks, stake 500), or by 2 and 3 (6 ticks, nothing)."""
    steps = [(0, 1, 2, 500), (0, 2, 2, 0), (2, 3, 2, 0), (3, 1, 2, 0)]
    edges, source = edges_of(4, steps)
    kept, undercut, via = found(edges, [(0, 0, 0)], 6)
    assert kept[1] == [(2, 500), (6, 0)]
    out = np.empty(3, np.int64)
    assert safest.way_back(edges, source, via, 6, 1, out) == 3
    assert out[::-1].tolist() == [1, 2, 3]
    assert safest.way_back(edges, source, via, 6, 1, out[:2]) == -1
    assert safest.way_back(edges, source, via, 5, 1, out) == -1
    assert found(edges, [(0, 0, 0)], 5)[0][1] == [(2, 500)]
    late, _ = edges_of(4, steps, latest=[9, 9, 9, 5])
    assert found(late, [(0, 0, 0)], 9)[0][1] == [(2, 500)]
    assert undercut.tolist() == [0, 0, 0, 0]


def test_steps_that_cost_nothing_are_taken_within_a_tick_until_nothing_changes():
    steps = [(3, 2, 0, 1), (2, 1, 0, 1), (1, 0, 0, 1), (0, 3, 0, 0), (3, 0, 1, 0)]
    edges, source = edges_of(4, steps)
    kept, _, via = found(edges, [(3, 0, 0)], 2)
    assert kept == [[(0, 3), (1, 0)], [(0, 2)], [(0, 1)], [(0, 0)]]
    check_ways(edges, source, kept, via, [(3, 0, 0)])

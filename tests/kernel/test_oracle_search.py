"""Searches against networkx and plain Python, on graphs built from the map and the rules."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

import strategies as fc_st
from reference.dijkstra import dijkstra, relax, tied_path
from reference.graph import (
    SQRT2,
    LayerSpec,
    LinkSpec,
    MapSpec,
    Mover,
    Node,
    cell_at,
    cell_totals,
    digraph,
    networkx_totals,
    position,
    start_node,
)

EXAMPLES = 360  # for each of six lattices: more than 2,000 maps


def totals_of(mover: Mover, query: fc_st.Query) -> dict[Node, float]:
    """Return the totals of a query: by networkx where no layer has a cap."""
    starts = query.nodes(mover.spec)
    if any(layer.cap is not None for layer in mover.spec.layers):
        return dijkstra(mover, starts, query.budget)
    found = networkx_totals(mover, starts)
    return {node: total for node, total in found.items() if total <= query.budget}


def as_array(spec: MapSpec, cells: dict) -> np.ndarray:
    array = np.full((spec.height, spec.width), np.inf)
    for cell, (total, _, _) in cells.items():
        array[cell] = total
    return array


def options(query: fc_st.Query, ticks: int = 1) -> dict:
    return {
        "parity": query.parity,
        "layer": query.layer,
        "initial": [total / ticks for total in query.initial],
        "budget": query.budget / ticks,
    }


# ---- The references themselves -----------------------------------------------------------------


@fc_st.examples(150)
@given(fc_st.movements(shape=fc_st.small_shapes))
def test_references_agree(movement):
    spec, query = movement
    mover = Mover(spec)
    starts = query.nodes(spec)
    found = dijkstra(mover, starts, query.budget)
    assert relax(mover, starts, query.budget) == found
    if all(layer.cap is None for layer in spec.layers):
        assert totals_of(mover, query) == found


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
def test_reference_geometry_is_the_lattice(lattice):
    from fieldcraft.lattice import Lattice
    from reference.graph import compass, neighbour

    ours = Lattice(lattice)
    for cell in [(0, 0), (0, 1), (1, 0), (1, 1), (-3, -2), (6, 7)]:
        assert cell_at(lattice, *position(lattice, cell)) == cell
        there = [neighbour(lattice, cell, k) for k in range(len(compass(lattice)))]
        assert there == ours.neighbors(cell)


def test_digraph_is_a_real_graph():
    spec = MapSpec("square", 2, 2, [np.ones((2, 2), bool)], [np.ones((2, 2), int)])
    graph = digraph(Mover(spec))
    assert graph.number_of_nodes() == 4
    assert graph.number_of_edges() == 12
    assert nx.is_strongly_connected(graph)


# ---- Totals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(EXAMPLES)
@given(data=st.data())
def test_totals_equal_the_oracle(lattice, data):
    spec, query = data.draw(fc_st.movements(lattice))
    check_totals(spec, query, ticks=data.draw(st.sampled_from((1, 2))))


def check_totals(spec: MapSpec, query: fc_st.Query, ticks: int = 1) -> None:
    mover = Mover(spec)
    best = cell_totals(mover, totals_of(mover, query))
    expected = as_array(spec, best) / ticks
    field = fc_st.step_field(spec, ticks=ticks)
    reach = field.reach(query.starts, **options(query, ticks))
    np.testing.assert_array_equal(reach.to_array(), expected)
    np.testing.assert_array_equal(field.distances(query.starts, **options(query, ticks)), expected)
    assert len(reach) == len(best)
    assert np.all(np.diff(reach.cost) >= 0)
    found = {
        tuple(cell): (cost, parity, stop)
        for cell, cost, parity, stop in zip(
            reach.cells.tolist(),
            (reach.cost * ticks).tolist(),
            reach.parity.tolist(),
            reach.can_stop.tolist(),
            strict=True,
        )
    }
    assert found == best


@fc_st.examples(200)
@given(st.data())
def test_every_diagonal_rule_with_both_parities(data):
    rule = data.draw(
        st.one_of(
            st.tuples(st.sampled_from(fc_st.ALTERNATING), st.sampled_from(("advances", "carry"))),
            st.tuples(st.sampled_from((*fc_st.PAIRS, "illegal")), st.just("advances")),
        )
    )
    spec, query = data.draw(fc_st.movements("square", diagonal=rule))
    for parity in (0, 1):
        query.parity = parity
        check_totals(spec, query)


@fc_st.examples(200)
@given(fc_st.movements(exact=True))
def test_float_totals_equal_the_oracle(movement):
    spec, query = movement
    mover = Mover(spec)
    # Sums of floats depend on their order: leave out what a last digit decides.
    best = cell_totals(mover, totals_of(mover, query))
    near = cell_totals(mover, dijkstra(mover, query.nodes(spec), query.budget * (1 + 1e-12)))
    reach = fc_st.step_field(spec).reach(query.starts, **options(query))
    there = {tuple(cell) for cell in reach.cells.tolist()}
    if not any(layer.cap for layer in spec.layers):
        assert there <= set(near)
    assert reach.to_array() == pytest.approx(as_array(spec, best), rel=1e-12)


# ---- Hand-made maps for what chance seldom brings ----------------------------------------------


def row_map(width: int, **options) -> MapSpec:
    return MapSpec(
        "square4", 1, width, [np.ones((1, width), bool)], [np.ones((1, width), int)], **options
    )


def query(start, layer=0, parity=0, budget=math.inf, initial=None):
    starts = start if isinstance(start, list) else [start]
    return fc_st.Query(starts, initial or [0] * len(starts), layer, parity, budget)


def test_second_start_on_a_halting_cell_goes_on_although_the_first_got_there_cheaper():
    halt = np.array([[False, False, True, False, False]])
    spec = row_map(5, halt=[halt], layers=[LayerSpec(halt=0)])
    asked = query([(0, 0), (0, 2)], initial=[0, 10])
    mover = Mover(spec)
    best = cell_totals(mover, dijkstra(mover, asked.nodes(spec)))
    assert [best[0, col][0] for col in range(5)] == [0, 1, 2, 11, 12]
    check_totals(spec, asked)


def test_link_in_a_circle_of_no_ticks_ends():
    spec = row_map(3, layers=[LayerSpec(), LayerSpec()])
    spec.links = [LinkSpec(0, 1, 0), LinkSpec(1, 0, 0)]
    check_totals(spec, query((0, 0)))


def test_cap_counts_what_was_spent_before():
    spec = row_map(9, layers=[LayerSpec(cap=3), LayerSpec(cap=5)])
    spec.links = [LinkSpec(0, 1, 1)]
    mover = Mover(spec)
    asked = query((0, 0))
    best = cell_totals(mover, dijkstra(mover, asked.nodes(spec)))
    assert max(best) == (0, 4)  # three steps, one to change, one more
    check_totals(spec, asked)


def test_link_with_a_step_follows_the_target_layers_rules():
    closed = np.array([[True, False, True]])
    spec = row_map(3, layers=[LayerSpec(open=1), LayerSpec(enter=1, cap=7)])
    spec.open.append(closed)
    spec.enter.append(np.array([[1, 4, 1]]))
    spec.links = [LinkSpec(0, 1, 2, 1)]
    mover = Mover(spec)
    asked = query((0, 0))
    best = cell_totals(mover, dijkstra(mover, asked.nodes(spec)))
    assert {cell: total for cell, (total, _, _) in best.items()} == {
        (0, 0): 0,
        (0, 1): 6,
        (0, 2): 7,
    }
    check_totals(spec, asked)


def two_layers_with_a_tie() -> MapSpec:
    """From (0, 0) to (1, 1) at 3: by a diagonal in layer 0, by two straight steps in layer 1."""
    dear, cheap = np.array([[2, 2], [2, 2]]), np.array([[1, 1], [1, 2]])
    spec = MapSpec("square", 2, 2, [np.ones((2, 2), bool)], [dear, cheap], corners="free")
    spec.layers = [LayerSpec(enter=0), LayerSpec(enter=1)]
    spec.links = [LinkSpec(0, 1, 0)]
    return spec


@pytest.mark.parametrize("rule", ["alternating", "alternating-2"])
def test_parity_reported_over_layers(rule):
    # PF-01: where cheapest ways end with either parity, the one before a cheap diagonal.
    spec = two_layers_with_a_tie()
    spec.diagonal = rule
    for parity in (0, 1):
        check_totals(spec, query((0, 0), parity=parity))


@pytest.mark.parametrize("algorithm", ["astar", "dijkstra"])
def test_path_reports_the_cheap_parity(algorithm):
    # Two ways cost 3: one diagonal into the 2, or two straight steps; the next diagonal is then
    # dear after the first and cheap after the second (PF-01).
    weights = np.array([[1, 2], [1, 3]])
    spec = MapSpec("square", 2, 2, [np.ones((2, 2), bool)], [weights], diagonal="alternating")
    path = fc_st.step_field(spec).path((1, 0), (0, 1), algorithm=algorithm)
    assert (path.cost, path.parity) == (3, 0)
    assert fc_st.step_field(spec).reach((1, 0)).path_to((0, 1)).parity == 0


def test_starts_far_apart_in_cost():
    spec = row_map(24)
    check_totals(spec, query([(0, 0), (0, 23), (0, 12)], initial=[100_000, 0, 7]))


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
def test_one_cell(lattice):
    spec = MapSpec(lattice, 1, 1, [np.zeros((1, 1), bool)], [np.full((1, 1), 65_535)])
    check_totals(spec, query((0, 0), budget=0))


@pytest.mark.parametrize("rule", ["alternating", "alternating-2"])
@pytest.mark.parametrize("reading", ["advances", "carry"])
def test_largest_costs(rule, reading):
    size = (24, 24)
    spec = MapSpec("square", *size, [np.ones(size, bool)], [np.full(size, 65_535)])
    spec.diagonal, spec.reading = rule, reading
    for parity in (0, 1):
        check_totals(spec, query((23, 0), parity=parity))


# ---- Paths -------------------------------------------------------------------------------------


def walk_again(mover: Mover, path, starts: dict[Node, float], ticks: int = 1, rel: float = 0.0):
    """Return every (node, total) in which the path, made again by the rules, may end.

    Each step must lead to the cell it names at the price it names.
    """
    cells = [tuple(cell) for cell in path.cells.tolist()]
    assert len(path.steps) == len(path)
    here = {node: total for node, total in starts.items() if node[1:3] == cells[0]}
    assert here, "the path begins at no start"
    visited = [cells[0]]
    for step in path.steps:
        after: dict[Node, float] = {}
        for node, total in here.items():
            for there, price, _, _ in mover.moves(node):
                if there[1:3] != step.to or total + price > mover.cap(there):
                    continue
                if abs(price - step.cost * ticks) <= rel * price:
                    after[there] = min(total + price, after.get(there, math.inf))
        assert after, f"no legal step to {step.to} at {step.cost}"
        assert sum(cost for _, cost in step.parts) == pytest.approx(step.cost)
        here = after
        visited.append(step.to)
    # A change of layer without a step names its cell once more, or not at all.
    assert [c for c, d in zip(visited, [None, *visited], strict=False) if c != d] == [
        c for c, d in zip(cells, [None, *cells], strict=False) if c != d
    ]
    return {node: total for node, total in here.items()}


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(130)
@given(data=st.data())
def test_paths_are_cheapest_legal_and_cost_what_they_say(lattice, data):
    spec, asked = data.draw(fc_st.movements(lattice, single=True))
    ticks = data.draw(st.sampled_from((1, 2)))
    mover = Mover(spec)
    totals = totals_of(mover, asked)
    field = fc_st.step_field(spec, ticks=ticks)
    start = asked.starts[0]
    cell = st.tuples(st.integers(0, spec.height - 1), st.integers(0, spec.width - 1))
    goals = data.draw(st.lists(cell, min_size=1, max_size=3))
    stop = data.draw(st.booleans())
    fitting = [
        total
        for node, total in totals.items()
        if node[1:3] in goals and (not stop or mover.may_stop(node))
    ]
    if start in goals:
        fitting.append(0)  # whoever stays where it is has arrived
    expected = min(fitting, default=math.inf)
    given_goal = goals[0] if len(goals) == 1 else np.array(goals)
    for algorithm in ("astar", "dijkstra", "auto"):
        ask = {"parity": asked.parity, "layer": asked.layer, "stop": stop}
        ask |= {"budget": asked.budget / ticks, "algorithm": algorithm}
        path = field.path(start, given_goal, **ask)
        note(f"{algorithm}: {path!r}")
        assert path.cost * ticks == expected
        assert bool(path) == (expected < math.inf)
        if path:
            assert tuple(path.cells[-1].tolist()) in goals
            ends = walk_again(mover, path, asked.nodes(spec), ticks)
            cheap = 1 if spec.diagonal == "alternating-2" else 0
            arrived = {
                node[3] if spec.alternates else 0
                for node, total in ends.items()
                if total == expected and (not stop or mover.may_stop(node) or not path.steps)
            }
            assert path.parity in arrived
            last = tuple(path.cells[-1].tolist())
            tied = {
                node[3]
                for node, total in totals.items()
                if node[1:3] == last
                and total == expected
                and (not stop or mover.may_stop(node) or not path.steps)
            }
            if spec.alternates and cheap in tied:
                assert path.parity == cheap
            again = field.path(start, given_goal, **ask)
            assert again == path


@fc_st.examples(150)
@given(st.data())
def test_paths_out_of_a_reach(data):
    spec, asked = data.draw(fc_st.movements())
    mover = Mover(spec)
    totals = totals_of(mover, asked)
    reach = fc_st.step_field(spec).reach(asked.starts, **options(asked))
    cell = data.draw(st.tuples(st.integers(0, spec.height - 1), st.integers(0, spec.width - 1)))
    there = [node for node in totals if node[1:3] == cell]
    for stop in (False, True):
        fitting = [totals[node] for node in there if not stop or mover.may_stop(node)]
        if stop and cell in asked.starts:
            continue
        path = reach.path_to(cell, stop=stop)
        assert bool(path) == bool(fitting)
        if path:
            # The total is what the start had cost already and what the path costs.
            ends = walk_again(mover, path, asked.nodes(spec))
            first = tuple(path.cells[0].tolist())
            before = min(t for node, t in asked.nodes(spec).items() if node[1:3] == first)
            assert before + path.cost == min(fitting)
            assert before + path.cost in ends.values()


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(60)
@given(data=st.data())
def test_ties_follow_the_written_rule(lattice, data):
    spec, asked = data.draw(fc_st.movements(lattice, single=True, layers=False))
    start = asked.starts[0]
    root = start_node(Mover(spec), start, asked.layer, asked.parity)
    mover = Mover(spec)
    totals = totals_of(mover, asked)
    cheap = 1 if spec.diagonal == "alternating-2" else 0
    reach = fc_st.step_field(spec).reach(start, **options(asked))
    goals = sorted({node[1:3] for node in totals})
    for cell in goals[:: max(1, len(goals) // 12)]:
        ends = [(total, node[3] != cheap, node) for node, total in totals.items()]
        goal = min(end for end in ends if end[2][1:3] == cell)[2]
        expected = [node[1:3] for node in tied_path(mover, totals, goal, root)]
        found = [tuple(c) for c in reach.path_to(cell, stop=False).cells.tolist()]
        assert found == expected


def test_tie_rule_by_hand():
    # Two ways round lead from (0, 0) to (1, 1); seen from (1, 1) north is 0, west is 3.
    spec = MapSpec("square4", 2, 2, [np.ones((2, 2), bool)], [np.ones((2, 2), int)])
    path = fc_st.step_field(spec).reach((0, 0)).path_to((1, 1))
    assert path.cells.tolist() == [[0, 0], [0, 1], [1, 1]]


@fc_st.examples(120)
@given(fc_st.movements(exact=True, single=True), st.data())
def test_float_paths(movement, data):
    spec, asked = movement
    asked.budget = math.inf
    mover = Mover(spec)
    totals = totals_of(mover, asked)
    cell = data.draw(st.tuples(st.integers(0, spec.height - 1), st.integers(0, spec.width - 1)))
    expected = min((t for node, t in totals.items() if node[1:3] == cell), default=math.inf)
    field = fc_st.step_field(spec)
    for algorithm in ("astar", "dijkstra"):
        path = field.path(asked.starts[0], cell, stop=False, layer=asked.layer, algorithm=algorithm)
        assert path.cost == pytest.approx(expected, rel=1e-12)
        if path:
            walk_again(mover, path, asked.nodes(spec), rel=1e-9)


@example("square", (1, 1), 1)
@example("square4", (1, 1), 2)
@example("odd-r", (1, 1), 3)
@given(
    st.sampled_from(fc_st.LATTICES), st.sampled_from(((1, 1), (2, 3), (70, 99))), st.integers(0, 6)
)
@fc_st.examples(40)
def test_within_is_the_nearest_cell_of_a_disc(lattice, rule, distance):
    import fieldcraft as fc

    size = (11, 12)
    spec = MapSpec(lattice, *size, [np.ones(size, bool)], [np.ones(size, int)])
    spec.open[0][4, 2:9] = False
    if lattice == "square":
        spec.diagonal = rule
    mover = Mover(spec)
    totals = dijkstra(mover, {start_node(mover, (0, 0)): 0})
    goal = (9, 7)
    disc = set(fc.Lattice(lattice).disc(goal, distance))
    expected = min(total for node, total in totals.items() if node[1:3] in disc)
    for algorithm in ("astar", "dijkstra"):
        path = fc_st.step_field(spec).path((0, 0), fc.within(distance, goal), algorithm=algorithm)
        assert path.cost == expected
        assert tuple(path.cells[-1].tolist()) in disc


@pytest.mark.parametrize("rule", [*fc_st.PAIRS, *fc_st.ALTERNATING, "illegal", (1.0, SQRT2)])
@pytest.mark.parametrize("weights", ["one", "mixed"])
def test_astar_to_every_cell_equals_dijkstra(rule, weights):
    # Also where a diagonal costs less than a straight step, or more than two.
    size = (7, 8)
    rng = np.random.default_rng(7)
    enter = rng.integers(1, 4, size) if weights == "mixed" else np.ones(size, int)
    spec = MapSpec("square", *size, [rng.random(size) < 0.9], [enter], diagonal=rule)
    spec.open[0][3, 3] = True
    field = fc_st.step_field(spec)
    for parity in (0, 1) if spec.alternates else (0,):
        mover = Mover(spec)
        totals = dijkstra(mover, {start_node(mover, (3, 3), parity=parity): 0})
        best = cell_totals(mover, totals)
        for cell in spec.cells:
            expected = best[cell][0] if cell in best else math.inf
            for algorithm in ("astar", "dijkstra"):
                path = field.path((3, 3), cell, parity=parity, algorithm=algorithm)
                assert path.cost == pytest.approx(expected, rel=1e-12), (cell, algorithm)


@pytest.mark.jit_only
@pytest.mark.parametrize("lattice", fc_st.LATTICES)
def test_astar_expands_a_tenth_of_open_ground_at_most(lattice):
    size = (256, 256)
    for rule in ((1, 1), (2, 3), "alternating", "alternating-2", (70, 99)):
        if lattice != "square" and rule != (1, 1):
            continue
        spec = MapSpec(lattice, *size, [np.ones(size, bool)], [np.ones(size, int)])
        spec.diagonal = rule
        field = fc_st.step_field(spec)
        for start, goal in (((128, 128), (255, 255)), ((3, 250), (200, 9)), ((0, 7), (255, 7))):
            path = field.path(start, goal, algorithm="astar")
            flood = field.path(start, goal, algorithm="dijkstra")
            assert path.cost == flood.cost
            assert path.expanded <= 256 * 256 / 10, (rule, start, goal, path.expanded)

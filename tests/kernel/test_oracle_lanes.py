"""Reach from every cell against plain Python, and the lanes kernel against searches one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import strategies as fc_st
from reference.dijkstra import dijkstra
from reference.graph import Mover, cell_totals, start_node

WHOLE = {"layers": False, "shape": fc_st.small_shapes}
MIDDLING = st.tuples(st.integers(1, 13), st.integers(1, 13))


def tables(reaches) -> tuple[np.ndarray, np.ndarray]:
    """Return costs and stops of all pairs of cells, from the blocks."""
    height, width = reaches.shape
    costs = np.full((height * width, height, width), math.inf)
    stops = np.zeros(costs.shape, bool)
    begun = []
    for block in reaches.blocks():
        assert block.costs.shape == (len(block.cells), len(block.offsets)) == block.can_stop.shape
        for cell, row, ends in zip(block.cells, block.costs, block.can_stop, strict=True):
            at = np.isfinite(row)
            rows, cols = (cell + block.offsets[at]).T
            assert rows.min() >= 0 <= cols.min()
            flat = int(cell[0] * width + cell[1])
            begun.append(flat)
            costs[flat, rows, cols] = row[at]
            stops[flat, rows, cols] = ends[at]
            assert not ends[~at].any()
        assert len(np.unique(block.offsets, axis=0)) == len(block.offsets)
    assert len(set(begun)) == len(begun)
    return costs, stops


def check_maps(reaches, costs: np.ndarray, stops: np.ndarray) -> None:
    """Check counts and the maps of one cell against the table of all pairs."""
    reached = np.isfinite(costs)
    shape = reaches.shape
    np.testing.assert_array_equal(reaches.count, reached.sum(axis=(1, 2)).reshape(shape))
    np.testing.assert_array_equal(reaches.stops, stops.sum(axis=(1, 2)).reshape(shape))
    np.testing.assert_array_equal(reaches.visitors, reached.sum(axis=0))
    for row, col in {(0, 0), (shape[0] - 1, shape[1] // 2), (shape[0] // 2, shape[1] - 1)}:
        to = costs[:, row, col].reshape(shape)
        np.testing.assert_array_equal(reaches.costs_to((row, col)), to)
        np.testing.assert_array_equal(reaches.who_reaches((row, col)), np.isfinite(to))
        np.testing.assert_array_equal(reaches[row, col], costs[row * shape[1] + col])


def short_budgets(spec) -> st.SearchStrategy[float]:
    """Draw budgets of some steps, of nothing, and ones that reach across the map."""
    dear = max(int(array.max()) for array in spec.enter)
    return st.sampled_from([0, 1, dear, 2 * dear, 3 * dear + 1, 7 * dear, 12, 60, 126, 127, 300])


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(15)
@given(data=st.data())
def test_every_reach_equals_the_oracle(lattice, data):
    spec = data.draw(fc_st.maps(lattice, **WHOLE))
    budget, parity = data.draw(short_budgets(spec)), data.draw(st.integers(0, 1))
    mover, field = Mover(spec), fc_st.step_field(spec)
    reaches = field.reaches(budget, parity=parity)
    costs, stops = np.full((spec.height * spec.width, *field.shape), math.inf), []
    for i, cell in enumerate(np.ndindex(field.shape)):
        start = {start_node(mover, cell, 0, parity if spec.alternates else 0): 0}
        best = cell_totals(mover, dijkstra(mover, start, budget))
        stops.append(np.zeros(field.shape, bool))
        for there, (total, _, can_stop) in best.items():
            costs[i][there], stops[i][there] = total, can_stop
    found = tables(reaches)
    np.testing.assert_array_equal(found[0], costs)
    np.testing.assert_array_equal(found[1], stops)
    check_maps(reaches, costs, np.array(stops))


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(30)
@given(data=st.data())
def test_lanes_equal_searches_one_by_one(lattice, data):
    spec = data.draw(fc_st.maps(lattice, layers=False, shape=MIDDLING))
    budget, parity = data.draw(short_budgets(spec)), data.draw(st.integers(0, 1))
    closed = ~spec.open[0] if data.draw(st.booleans()) else None
    field = fc_st.step_field(spec, closed=closed)
    one, other = (field.reaches(budget, parity=parity) for _ in range(2))
    other.__dict__["_way"] = _one_by_one(other)
    note(type(one._way).__name__)
    for a, b in zip(one._maps, other._maps, strict=True):
        np.testing.assert_array_equal(a, b)
    cell = tuple(data.draw(st.integers(0, n - 1)) for n in field.shape)
    np.testing.assert_array_equal(one.costs_to(cell), other.costs_to(cell))
    np.testing.assert_array_equal(one.of(cell), other.of(cell))
    if spec.height * spec.width <= 80:
        for a, b in zip(tables(one), tables(other), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("lattice", ["square", "even-r", "odd-q"])
@fc_st.examples(40)
@given(data=st.data())
def test_layers_caps_and_places_to_stay(lattice, data):
    """Each start in a layer named, with its cap, or in the layers that it is seated in."""
    spec = data.draw(fc_st.maps(lattice, shape=st.tuples(st.integers(1, 6), st.integers(1, 6))))
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    size, n_layers = (spec.height, spec.width), len(spec.layers)
    stay = rng.random(size) < 0.5 if data.draw(st.booleans()) else None
    seats = [(n_layers - 1, rng.random(size) < 0.5)] if data.draw(st.booleans()) else []
    layer = data.draw(st.one_of(st.none(), st.integers(0, n_layers - 1)))
    options = {"layer": layer, "parity": data.draw(st.integers(0, 1))}
    budget = data.draw(short_budgets(spec))
    field = fc_st.step_field(spec, stay=stay, seats=seats)
    costs = np.full((spec.height * spec.width, *size), math.inf)
    stops = np.zeros(costs.shape, bool)
    for i, cell in enumerate(np.ndindex(size)):
        reach = field.reach(cell, budget, **options)
        costs[i] = reach.to_array()
        stops[i][reach.cells[:, 0], reach.cells[:, 1]] = reach.can_stop
    reaches = field.reaches(budget, **options)
    note(type(reaches._way).__name__)
    found = tables(reaches)
    np.testing.assert_array_equal(found[0], costs)
    np.testing.assert_array_equal(found[1], stops)
    check_maps(reaches, costs, stops)


def test_a_cap_below_the_budget():
    """On the lanes as in a search."""
    from fieldcraft.fields import Layer, StepField, legal_steps
    from fieldcraft.lattice import Lattice

    steps = legal_steps(Lattice("square4"), np.ones((1, 9), bool))
    field = StepField(
        Lattice("square4"), (1, 9), steps=steps, enter=np.ones((1, 9), int), layers=[Layer(cap=2)]
    )
    assert is_side_by_side(field, 5)
    assert field.reaches(5).count.tolist() == [[3, 4, 5, 5, 5, 5, 5, 4, 3]]


def _one_by_one(reaches):
    from fieldcraft.reaches import _OneByOne, _Query

    query = _Query(reaches.field, reaches._limit, reaches._parity, reaches._layer)
    return _OneByOne(query, reaches._order)


# ---- Which way is taken ------------------------------------------------------------------------


def is_side_by_side(field, budget, **options) -> bool:
    return type(field.reaches(budget, **options)._way).__name__ == "_SideBySide"


@pytest.mark.parametrize(
    ("options", "budget", "expected"),
    [
        ({}, 6, True),
        ({"diagonals": "alternating"}, 6, True),
        ({"diagonals": "equidistant"}, 254, True),  # what is left, plus one, fits a byte
        ({"diagonals": "illegal"}, 6, True),
        ({"diagonals": (70, 99)}, 6, True),
        ({"diagonals": "exact"}, 6, False),
        ({}, None, False),
        ({"diagonals": "equidistant"}, 65_534, False),  # more cells than it takes at a time
    ],
)
def test_which_way_is_taken(options, budget, expected):
    import fieldcraft as fc

    cost = np.full((5, 7), 1 + 29 * (budget == 254))
    assert is_side_by_side(fc.grid.field(cost, **options), budget) is expected


@pytest.mark.parametrize("most", [253, 254, 255, 256, 65_533, 65_534, 65_535])
def test_largest_budgets_of_each_kind_of_row(most):
    """A budget at the edge of what an entry holds, in steps of 1 and of nearly all."""
    import fieldcraft as fc

    cost = np.array([[most, 1, most - 1, 1, 1, most, 2]])
    field = fc.grid.field(cost, closed=cost == 1, diagonals="illegal")
    bare = fc.grid.field(cost, diagonals="illegal")
    for one in (field, bare) if most <= 65_535 else ():
        reaches = one.reaches(most)
        costs, stops = tables(reaches)
        for i in range(7):
            expected = np.full((1, 7), math.inf)
            if one is bare or cost[0, i] != 1:
                expected = one.distances((0, i), budget=most)
            np.testing.assert_array_equal(costs[i], expected)
        check_maps(reaches, costs, stops)


def test_no_kernel_has_more_than_two_kinds_of_rows():
    """Bytes, and pairs of them: nothing else is compiled."""
    from fieldcraft_kernel import lanes

    for kernel in (lanes.spread_lanes, lanes.count_lanes, lanes.lay_out, lanes.least_prices):
        assert len(getattr(kernel, "signatures", ())) <= 2

"""Breadth-first distances against networkx and against the ordinary search."""

from __future__ import annotations

import math
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from fieldcraft.fields import StepField
from fieldcraft.lattice import Lattice
from fieldcraft.uniform import Uniform
from reference.graph import neighbour


@st.composite
def one_way_fields(draw: st.DrawFn, lattice: str):
    """Draw any step masks at all, one-way ones included, and one price for all steps."""
    height, width = draw(fc_st.shapes)
    rng = np.random.default_rng(draw(fc_st.seeds))
    share = draw(st.sampled_from((0.1, 0.3, 0.6, 1.0)))
    n = Lattice(lattice).n_directions
    bits = rng.random((height, width, n)) < share
    masks = fc_st.on_map_steps(lattice, (bits << np.arange(n)).sum(axis=2))
    price = draw(st.sampled_from((1, 3, 0.1, 2.5)))
    enter = np.full((height, width), price)
    field = StepField(Lattice(lattice), (height, width), steps=masks, enter=enter, ticks=2)
    cell = st.tuples(st.integers(0, height - 1), st.integers(0, width - 1))
    starts = draw(st.lists(cell, min_size=1, max_size=4))
    return field, masks, starts, price


def breadth_first(field: StepField, starts: list) -> np.ndarray:
    """Return the distances of a field, after checking that they come from this search."""
    with mock.patch.object(
        Uniform, "distances", autospec=True, side_effect=Uniform.distances
    ) as spy:
        found = field.distances(starts)
    assert spy.call_count == 1
    cells = np.array(starts)
    own = field._uniform.distances(cells, field._graph.largest, 1.0, float(field.ticks))
    assert own is not None
    np.testing.assert_array_equal(own, found)
    return found


def networkx_steps(lattice: str, masks: np.ndarray, starts: list) -> np.ndarray:
    """Return the steps from the nearest start to each cell."""
    graph = nx.DiGraph()
    graph.add_nodes_from(np.ndindex(masks.shape))
    for cell in np.ndindex(masks.shape):
        for direction in range(8):
            if int(masks[cell]) >> direction & 1:
                graph.add_edge(cell, neighbour(lattice, cell, direction))
    graph.add_edges_from(("source", start) for start in starts)
    expected = np.full(masks.shape, math.inf)
    for cell, n in nx.single_source_shortest_path_length(graph, "source").items():
        if cell != "source":
            expected[cell] = n - 1
    return expected


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(60)
@given(data=st.data())
def test_distances_equal_networkx(lattice, data):
    field, masks, starts, price = data.draw(one_way_fields(lattice))
    found = breadth_first(field, starts)
    expected = networkx_steps(lattice, masks, starts) * price / 2
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(60)
@given(data=st.data())
def test_distances_equal_the_ordinary_search_to_the_last_bit(lattice, data):
    field, _, starts, price = data.draw(one_way_fields(lattice))
    budget = data.draw(st.sampled_from((None, 0, price / 2, price, 4 * price, 1000 * price)))
    found = field.distances(starts, budget=budget)
    with mock.patch.object(Uniform, "distances", return_value=None):
        slow = field.distances(starts, budget=budget)
    np.testing.assert_array_equal(found, slow)


@pytest.mark.parametrize("shape", [(1, 1), (1, 70), (70, 1), (8, 8), (9, 17), (64, 65)])
def test_open_ground_is_the_distance_of_the_lattice(shape):
    for name in fc_st.LATTICES:
        field = StepField(
            Lattice(name),
            shape,
            steps=fc.fields.legal_steps(Lattice(name), np.ones(shape, bool)),
            enter=np.ones(shape, np.uint16),
        )
        for start in ((0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, shape[1] // 3)):
            cells = np.stack(np.indices(shape), axis=-1)
            expected = field.lattice.distances(cells, np.array(start))
            np.testing.assert_array_equal(breadth_first(field, [start]), expected)


def test_prices_of_closed_cells_do_not_matter():
    cost = np.array([[1.0, 1.0, np.inf], [1.0, np.inf, 1.0]])
    field = StepField(
        Lattice("square4"),
        (2, 3),
        steps=fc.fields.legal_steps(Lattice("square4"), np.isfinite(cost)),
        enter=np.where(np.isfinite(cost), 2, 77),
    )
    found = breadth_first(field, [(1, 0)])
    np.testing.assert_array_equal(found, [[2, 4, np.inf], [0, np.inf, np.inf]])


@pytest.mark.parametrize(
    "options",
    [
        {"diagonals": "exact"},
        {"diagonals": "alternating"},
        {"diagonals": "equidistant", "leave": np.ones((4, 4))},
        {"diagonals": "equidistant", "halt": np.eye(4, dtype=bool)},
        {"diagonals": "equidistant", "border": np.ones((4, 4, 8))},
    ],
)
def test_where_steps_differ_the_ordinary_search_answers(options):
    field = fc.grid.field(np.ones((4, 4)), **options)
    assert field._uniform.distances(np.array([[0, 0]]), math.inf, 1.0, 1.0) is None
    assert np.isfinite(field.distances((0, 0))).any()


def test_initial_costs_go_to_the_ordinary_search():
    field = fc.grid.field(np.ones((1, 9)), diagonals="equidistant")
    found = field.distances([(0, 0), (0, 8)], initial=[0, 6])
    np.testing.assert_array_equal(found[0], [0, 1, 2, 3, 4, 5, 6, 7, 6])

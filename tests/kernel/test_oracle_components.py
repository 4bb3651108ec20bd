"""Component labels against networkx, on graphs built from the map and the rules."""

from __future__ import annotations

from collections import Counter, defaultdict

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import strategies as fc_st
from fieldcraft.connected import Components
from reference.graph import Cell, Mover


def steps_between_cells(mover: Mover) -> nx.DiGraph[Cell]:
    """Return all steps, of whatever layer or link, as a graph of cells."""
    graph: nx.DiGraph[Cell] = nx.DiGraph()
    graph.add_nodes_from(mover.spec.cells)
    for node in mover.nodes():
        for after, *_ in mover.moves(node):
            if after[1:3] != node[1:3]:
                graph.add_edge(node[1:3], after[1:3])
    return graph


def expected_labels(graph: nx.DiGraph[Cell]) -> dict[Cell, Cell]:
    """Return the first cell of the component of every cell that some step enters."""
    # Who stands where nobody enters joins nothing: a wall would join the rooms beside it.
    entered = [cell for cell in graph if graph.in_degree(cell)]
    found = {}
    for component in nx.weakly_connected_components(graph.subgraph(entered)):
        first = min(component)
        found |= dict.fromkeys(component, first)
    return found


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(40)
@given(data=st.data())
def test_labels_are_the_weak_components(lattice, data):
    spec, _ = data.draw(fc_st.movements(lattice))
    mover = Mover(spec)
    graph = steps_between_cells(mover)
    field = fc_st.step_field(spec)
    components = Components(field._graph)
    labels = components.labels
    expected = expected_labels(graph)
    numbers = {first: number for number, first in enumerate(sorted(set(expected.values())), 1)}
    got = {cell: int(labels[field.padded(cell)]) for cell in spec.cells}
    assert got == {cell: numbers[expected[cell]] if cell in expected else 0 for cell in spec.cells}
    sizes = Counter(got.values())
    assert components.sizes[1:].tolist() == [sizes[number] for number in range(1, 1 + len(numbers))]


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(40)
@given(data=st.data())
def test_a_no_is_never_wrong(lattice, data):
    spec, query = data.draw(fc_st.movements(lattice))
    field = fc_st.step_field(spec)
    components = Components(field._graph)
    start = query.starts[0]
    options = {"parity": query.parity, "layer": query.layer}
    reach = field.reach(start, **options)
    there = set(map(tuple, reach.cells.tolist()))
    maybe = {
        cell
        for cell in spec.cells
        if components.may_lead(field.padded(start), [field.padded(cell)])
    }
    note(f"reached {len(there)}, not ruled out {len(maybe)}")
    assert there - {start} <= maybe
    for cell in spec.cells:
        if cell not in maybe and cell != start:
            path = field.path(start, cell, **options)
            assert not path
            assert path.expanded == 0


def test_a_wall_joins_nothing_but_whoever_stands_in_it_gets_out():
    import fieldcraft as fc

    cost = np.ones((3, 5))
    cost[:, 2] = np.inf
    field = fc.grid.field(cost, diagonals="equidistant")
    components = Components(field._graph)
    west, wall, east = (field.padded((1, col)) for col in (0, 2, 4))
    assert not components.may_lead(west, [east])
    assert components.may_lead(wall, [west])
    assert components.may_lead(wall, [east])
    assert not components.may_lead(west, [wall])
    assert components.may_lead(west, [east, field.padded((2, 1))])


def test_long_arms_meet_last():
    # A comb: each tooth is a label of its own until the back of the comb joins them all.
    import fieldcraft as fc

    closed = np.zeros((40, 101), bool)
    closed[:-1, 1::2] = True
    field = fc.grid.field(np.ones(closed.shape), closed=closed, diagonals="illegal")
    labels = Components(field._graph).labels.reshape(42, 103)[1:-1, 1:-1]
    assert set(labels[~closed].tolist()) == {1}
    assert not labels[closed].any()
    closed[-1, 51] = True
    field = fc.grid.field(np.ones(closed.shape), closed=closed, diagonals="illegal")
    labels = Components(field._graph).labels.reshape(42, 103)[1:-1, 1:-1]
    groups = defaultdict(set)
    for (row, col), label in np.ndenumerate(labels):
        groups[int(label)].add(col < 51)
        assert closed[row, col] == (label == 0)
    assert groups[1] == {True}
    assert groups[2] == {False}
    assert len(groups) == 3

"""Queues that fill up, floats that stop telling steps apart, links cheaper than any step."""

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import searching
from fieldcraft._arrays import DIAGONALS
from fieldcraft.fields import Layer, Link
from fieldcraft.lattice import Lattice


def noise(seed, size=60, top=100):
    return np.random.default_rng(seed).integers(1, top, (size, size))


def rules():
    return [
        {"diagonals": "equidistant"},
        {"diagonals": "alternating"},
        {"diagonals": "alternating", "parity": "carry"},
        {"diagonals": (70, 99)},
        {"diagonals": "exact"},
    ]


@pytest.mark.parametrize("options", rules(), ids=str)
@pytest.mark.parametrize("pool", [1, 4, 1024])
def test_a_pool_that_fills_up_loses_nothing(monkeypatch, options, pool):
    """The same answers, and clean scratch, however small the first pool is."""
    cost = noise(7, 40)
    wanted = fc.grid.field(cost, **options)
    monkeypatch.setattr(searching, "FIRST_POOL", pool)
    field = fc.grid.field(cost, **options)
    start, goal = (20, 20), (1, 38)
    assert np.array_equal(field.distances(start), wanted.distances(start))
    assert field.reach(start, 300) == wanted.reach(start, 300)
    assert field.path(start, goal).cost == wanted.path(start, goal).cost
    assert len(field.reach(start)) == cost.size
    starts = [(0, 0), (20, 20), (39, 3)]
    assert field.reach_many(starts, 200) == wanted.reach_many(starts, 200)
    for scratch in field._searcher._idle:
        assert (scratch.totals == field._graph.blank).all()


def test_more_starts_than_the_pool_holds():
    closed = np.zeros((80, 80), bool)
    closed[::2] = closed[:, ::2] = True
    starts = np.argwhere(~closed)
    field = fc.grid.field(np.ones((80, 80)), closed=closed, diagonals="equidistant")
    assert len(starts) > searching.FIRST_POOL
    assert len(field.reach(starts)) == len(starts)
    assert len(field.reach(tuple(starts[-1]))) == 1


@pytest.mark.parametrize("ticks", [0.0, 1e-9, 0.3, 0.99, 5.0])
def test_float_links_cheaper_than_a_step(ticks):
    """Every state is settled once, and the totals are those of the same field in whole ticks."""
    lattice, shape = Lattice("square"), (12, 12)
    legal = fc.legal_steps(lattice, np.ones(shape, bool))
    layers = [Layer(name=str(i)) for i in range(4)]
    links = [Link(i, (i + 1) % 4, ticks) for i in range(4)]
    field = fc.StepField(
        lattice, shape, steps=legal, enter=np.ones(shape), layers=layers, links=links
    )
    reach = field.reach((0, 0))
    assert reach.expanded == 4 * 144
    assert np.isfinite(reach._totals).all()
    assert np.array_equal(field.distances((0, 0)), fc.grid.distances(
        np.ones(shape), (0, 0), diagonals="equidistant"))  # fmt: skip
    assert field.path((0, 0), (11, 11)).cost == 11


@pytest.mark.parametrize("diagonals", ["equidistant", "exact"])
def test_costs_so_far_apart_that_a_step_changes_nothing(diagonals):
    cost = np.array([[1, 1, 1e17, 1, 1]] * 2)
    with pytest.raises(fc.CostError, match="a total would overflow"):
        fc.grid.path(cost, (0, 0), (0, 4), diagonals=diagonals)
    with pytest.raises(fc.CostError, match="a total would overflow"):
        fc.hexes.distances(cost, (0, 0))
    assert len(fc.grid.reach(cost, (0, 0), 1e6, diagonals=diagonals)) == 4


def test_a_start_so_dear_that_a_step_changes_nothing():
    with pytest.raises(fc.CostError, match="a total would overflow"):
        fc.grid.reach(np.full((3, 3), 0.7), [(0, 0)], initial=[1e20], diagonals="exact")


@pytest.mark.parametrize("diagonals", [*DIAGONALS, (70, 99)], ids=str)
@pytest.mark.parametrize("goal", [(255, 255), (255, 128), (128, 200), (0, 200)])
def test_astar_expands_little_of_an_open_map(diagonals, goal):
    """At most a tenth of what Dijkstra expands, wherever the goal is."""
    field = fc.grid.field(np.ones((256, 256), int), diagonals=diagonals)
    found, slow = field.path((0, 0), goal), field.path((0, 0), goal, algorithm="dijkstra")
    assert found.cost == pytest.approx(slow.cost, rel=1e-12)
    assert found.expanded <= slow.expanded / 10


@pytest.mark.parametrize("rules_", ["hexwild", "pathfinder"])
def test_astar_expands_little_of_an_open_board(rules_):
    lattice = "odd-q" if rules_ == "hexwild" else "square"
    options = [{}] if rules_ == "hexwild" else [{}, {"diagonals": "illegal"}]
    for parameters in options:
        system = fc.rules.get(rules_, **parameters)
        board = fc.Board(np.full((128, 128), "open"), lattice=lattice, rules=system)
        field = board.step_field((0, 0))
        found, slow = (field.path((0, 0), (127, 60), algorithm=a) for a in ("astar", "dijkstra"))
        assert found.cost == slow.cost
        assert found.expanded <= slow.expanded / 10


@pytest.mark.parametrize("name", ["square4", "square", "odd-r", "even-q"])
def test_step_masks_that_leave_the_map_or_the_lattice(name):
    lattice = Lattice(name)
    ones = np.ones((3, 3), np.uint16)
    legal = fc.legal_steps(lattice, np.ones((3, 3), bool))
    for direction in range(lattice.n_directions):
        steps = legal.copy()
        off = [
            (row, col)
            for row in range(3)
            for col in range(3)
            if not all(0 <= i < 3 for i in lattice.neighbor((row, col), direction))
        ]
        steps[off[0]] |= 1 << direction
        with pytest.raises(fc.MapError, match="off the map"):
            fc.StepField(lattice, (3, 3), steps=steps, enter=ones)
    if lattice.n_directions < 8:
        steps = legal.copy()
        steps[1, 1] |= 1 << lattice.n_directions
        with pytest.raises(fc.MapError, match="beyond"):
            fc.StepField(lattice, (3, 3), steps=steps, enter=ones)


def test_caps_of_float_layers_count_decimals_as_budgets_do():
    lattice, shape = Lattice("square"), (1, 6)
    legal = fc.legal_steps(lattice, np.ones(shape, bool))
    options = {"steps": legal, "enter": np.full(shape, 0.1)}
    free = fc.StepField(lattice, shape, **options).reach((0, 0), 0.3)
    capped = fc.StepField(lattice, shape, **options, layers=[Layer(cap=0.3)]).reach((0, 0))
    assert len(free) == len(capped) == 4


@pytest.mark.parametrize("pair", [(3, 2), (3, 1), (1, 1), (2, 3), (1, 2), (1, 5)])
def test_distance_on_open_ground_is_what_a_path_costs(pair):
    for goal in [(0, 4), (3, 5), (4, 4), (1, 6), (0, 1)]:
        there = fc.grid.path(np.ones((12, 12)), (4, 4), (4 + goal[0], 4 + goal[1]), diagonals=pair)
        found = fc.grid.distance((0, 0), goal, diagonals=pair)
        assert found == pytest.approx(there.cost, rel=1e-12)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"])
def test_every_dtype_of_costs_means_the_same(dtype):
    cost = np.array([[3, 100, 7], [1, 2, 90]]).astype(dtype)
    leave = np.full((2, 3), 0.5)
    found = fc.grid.distances(cost, (0, 0), diagonals="equidistant", leave=leave)
    wanted = fc.grid.distances(cost.tolist(), (0, 0), diagonals="equidistant", leave=leave)
    assert np.array_equal(found, wanted)
    assert len(fc.grid.reach(cost, (0, 0), np.dtype(dtype).type(3))) == 3


@pytest.mark.parametrize("factors", [(1, 10**30), (10**30, 1)])
def test_pairs_too_large_to_count(factors):
    with pytest.raises(fc.FieldcraftError, match=r"diagonal|pair"):
        fc.grid.reach(np.full((3, 3), 60000), (0, 0), 10**6, diagonals=factors)

"""Fields of one price through the public calls: which search answers, errors, copies, threads."""

from __future__ import annotations

import copy
import math
import pickle
from unittest import mock

import numpy as np
import pytest

import fieldcraft as fc
import fieldcraft.uniform
from fieldcraft import uniform
from fieldcraft.io import read_scenario
from fieldcraft_kernel import breadth, components, jump

SIDE = 40


@pytest.fixture(name="closed")
def _closed() -> np.ndarray:
    closed = np.zeros((SIDE, SIDE), bool)
    closed[10, :30] = closed[25, 8:] = True
    closed[5:20, 33] = True
    return closed


@pytest.fixture(name="field")
def _field(closed):
    return fc.grid.field(np.ones(closed.shape), closed=closed, diagonals="exact")


def is_by_jump_points(field, *args, **options) -> bool:
    """Tell whether a path came without the ordinary search."""
    with mock.patch.object(fieldcraft.uniform.jump, "jump_search", side_effect=LookupError):
        try:
            field.path(*args, **options)
        except LookupError:
            return True
    return False


def test_the_library_chooses_jump_points(field):
    assert is_by_jump_points(field, (0, 0), (39, 39))
    assert not is_by_jump_points(field, (0, 0), (39, 39), algorithm="astar")
    assert not is_by_jump_points(field, (0, 0), (39, 39), algorithm="dijkstra")
    costs = [
        field.path((0, 0), (39, 39), algorithm=name).cost
        for name in ("auto", "jps", "astar", "dijkstra")
    ]
    assert costs == pytest.approx([costs[0]] * 4, rel=1e-12)
    assert field.path((0, 0), (39, 39)) == field.path((0, 0), (39, 39), algorithm="jps")


def test_the_library_chooses_plain_search_on_strewn_ground_and_in_small_components():
    rng = np.random.default_rng(1)
    closed = rng.random((160, 160)) < 0.2
    closed[0, 0] = closed[159, 159] = False
    options = {"closed": closed, "corners": "free"}
    field = fc.grid.field(np.ones(closed.shape), diagonals=(70, 99), **options)
    assert field.path((0, 0), (159, 159))
    assert not is_by_jump_points(field, (0, 0), (159, 159))
    assert is_by_jump_points(field, (0, 0), (159, 159), algorithm="jps")
    floats = fc.grid.field(np.ones(closed.shape), diagonals="exact", **options)
    assert is_by_jump_points(floats, (0, 0), (159, 159))
    small = fc.grid.field(np.ones((5, 5)), diagonals="exact")
    assert not is_by_jump_points(small, (0, 0), (4, 4))
    assert is_by_jump_points(small, (0, 0), (4, 4), algorithm="jps")


def test_several_goals_and_within_go_to_the_plain_search(field):
    goals = [(39, 39), (12, 4)]
    path = field.path((0, 0), goals)
    assert path.cost == min(field.path((0, 0), goal).cost for goal in goals)
    near = field.path((0, 0), fc.within(2, (39, 39)))
    assert near.cost < field.path((0, 0), (39, 39)).cost
    for goal in (goals, fc.within(2, (39, 39))):
        with pytest.raises(fc.RulesError, match="one goal"):
            field.path((0, 0), goal, algorithm="jps")
    # One cell is one goal, however it is written.
    expected = field.path((0, 0), (39, 39))
    for goal in ([39, 39], np.array([39, 39]), [(39, 39)], fc.within(0, (39, 39))):
        assert is_by_jump_points(field, (0, 0), goal)
        assert field.path((0, 0), goal) == expected


def test_start_is_goal(field):
    for name in ("auto", "jps"):
        path = field.path((3, 3), (3, 3), algorithm=name)
        assert (bool(path), len(path), path.cost) == (True, 0, 0.0)


def test_goal_where_nobody_may_stop(closed):
    stop = np.ones(closed.shape, bool)
    stop[39, 39] = False
    field = fc.grid.field(np.ones(closed.shape), closed=closed, stop=stop, diagonals="exact")
    path = field.path((0, 0), (39, 39))
    assert not path
    assert path.expanded == 0
    assert field.path((0, 0), (39, 39), stop=False)
    assert field.path((0, 0), (38, 39))


def test_no_way_at_once(closed):
    closed[:, 20] = True
    for cost in (1, np.arange(1, 1601).reshape(SIDE, SIDE)):
        field = fc.grid.field(cost * np.ones((SIDE, SIDE), int), closed=closed)
        for name in ("auto", "astar", "dijkstra"):
            path = field.path((0, 0), (0, 39), algorithm=name)
            assert (bool(path), path.cost, path.expanded) == (False, math.inf, 0)
        assert field.path((0, 0), [(0, 39), (9, 0)])


@pytest.mark.parametrize("name", ["auto", "jps"])
def test_errors_are_those_of_every_search(field, name):
    def ask(start=(0, 0), goal=(39, 39), **options):
        return field.path(start, goal, algorithm=name, **options)

    with pytest.raises(fc.OutsideMapError, match=r"goal \(40, 0\)"):
        ask(goal=(40, 0))
    with pytest.raises(fc.OutsideMapError, match="start"):
        ask(start=(-1, 0))
    with pytest.raises(fc.ArgumentTypeError):
        ask(goal=(1.5, 2))
    with pytest.raises(fc.ClosedCellError):
        ask(start=(10, 0))
    with pytest.raises(fc.CostError, match="parity"):
        ask(parity=2)
    with pytest.raises(fc.CostError, match="parity"):
        ask(parity=0.0)
    with pytest.raises(fc.MapError, match="layer"):
        ask(layer=1)
    with pytest.raises(fc.CostError, match="budget"):
        ask(budget=-1)
    assert ask(parity=1, layer=0) == ask()
    with pytest.raises(fc.ArgumentTypeError, match="'jps'"):
        field.path((0, 0), (1, 1), algorithm="jump")


def test_steps_add_up_and_say_why(field):
    path = field.path((0, 0), (39, 39))
    assert sum(step.cost for step in path.steps) == pytest.approx(path.cost, rel=1e-12)
    diagonal = next(step for step in path.steps if step.cost > 1)
    assert diagonal.parts[-1][0] == "diagonal"
    assert str(path.explain()).splitlines()[-1].split()[0] == "total"


def test_pickles_and_copies(field):
    path = field.path((0, 0), (39, 39))
    again = pickle.loads(pickle.dumps(path))
    assert again == path
    assert again.steps == path.steps
    assert not again.cells.flags.writeable
    for other in (pickle.loads(pickle.dumps(field)), copy.copy(field), copy.deepcopy(field)):
        assert other.path((0, 0), (39, 39)) == path


def test_tables_belong_to_the_graph_they_were_made_of():
    cost = np.ones((12, 12))
    one = fc.grid.field(cost, diagonals="exact")
    assert one.path((0, 0), (0, 11)).cost == 11
    other = copy.copy(one)
    cost[:, 6] = np.inf
    other.__dict__["_graph"] = fc.grid.field(cost, diagonals="exact")._graph
    assert not other.path((0, 0), (0, 11))
    assert one.path((0, 0), (0, 11)).cost == 11


def test_scratch_that_is_too_short_grows(field, monkeypatch):
    monkeypatch.setattr(uniform, "FIRST_HEAP", 1)
    monkeypatch.setattr(uniform, "FIRST_WAY", 1)
    expected = field.path((0, 0), (39, 39), algorithm="astar").cost
    for _ in range(3):
        assert field.path((0, 0), (39, 39)).cost == pytest.approx(expected)
    scratch = field._uniform._idle[0]
    assert len(scratch.heap[0]) > 1
    assert len(scratch.way) >= 40
    # Whatever broke off left nothing behind.
    assert not scratch.labels[2].any()


def test_few_planes_are_kept(monkeypatch):
    # Nine rooms without doors, and room for two planes.
    closed = np.zeros((32, 32), bool)
    closed[10::11] = closed[:, 10::11] = True
    field = fc.grid.field(np.ones(closed.shape), closed=closed, diagonals="exact")
    field.path((0, 0), (5, 5))
    one = field._uniform.plane(1).stops.nbytes
    monkeypatch.setattr(uniform, "MAX_PLANE_BYTES", 2 * one + 2)
    for row in (0, 11, 22):
        for col in (0, 11, 22):
            assert field.path((row, col), (row + 9, col + 4)).cost > 9
            assert len(field._uniform._planes) <= 2


def test_batches_use_it_from_threads(field, closed):
    rng = np.random.default_rng(3)
    cells = np.argwhere(~closed)
    pairs = np.stack([rng.choice(cells, 60), rng.choice(cells, 60)], axis=1)
    paths = field.paths(pairs)
    for (start, goal), path in zip(pairs.tolist(), paths, strict=True):
        assert path == field.path(tuple(start), tuple(goal))
    assert len(field._uniform._idle) <= 8


@pytest.mark.parametrize("lattice", ["square", "square4"])
def test_a_total_that_does_not_fit_is_an_error_as_ever(lattice):
    shape = (1, 40_000)
    field = fc.fields.StepField(
        fc.Lattice(lattice),
        shape,
        steps=fc.fields.legal_steps(fc.Lattice(lattice), np.ones(shape, bool)),
        enter=np.full(shape, 65_535, np.uint16),
    )
    with pytest.raises(fc.CostError, match="overflow"):
        field.path((0, 0), (0, 39_999))
    with pytest.raises(fc.CostError, match="overflow"):
        field.distances((0, 0))
    assert field.path((0, 0), (0, 30_000)).cost == 30_000 * 65_535
    assert not field.path((0, 0), (0, 39_999), budget=65_535 * 30_000)
    assert np.isfinite(field.distances((0, 0), budget=65_535 * 5.5)).sum() == 6


@pytest.mark.jit_only
def test_one_compilation_serves_whole_ticks_and_floats_squares_and_hexagons(closed):
    cost = np.ones(closed.shape)
    for diagonals in ("exact", (70, 99), "equidistant"):
        field = fc.grid.field(cost, closed=closed, diagonals=diagonals)
        field.path((0, 0), (39, 39), algorithm="jps")
        field.distances((0, 0))
    fc.hexes.field(cost, closed=closed).distances([(0, 0), (1, 1)])
    for kernel in (
        jump.jump_search,
        jump.lay_plane,
        components.label_components,
        breadth.lay_tiles,
        breadth.breadth_first,
    ):
        assert len(kernel.signatures) == 1, kernel


@pytest.mark.shared
@pytest.mark.jit_only
@pytest.mark.parametrize("name", ["dao/den312d.map", "da2/ht_chantry.map"])
def test_every_row_of_a_game_map_by_jump_points(shared_dir, name):
    file = shared_dir / "data" / "movingai" / name
    board = fc.read(file, rules="octile")
    for row in read_scenario(f"{file}.scen"):
        field = board.step_field(row.start)
        assert is_by_jump_points(field, row.start, row.goal)
        assert row.matches(field.path(row.start, row.goal).cost)

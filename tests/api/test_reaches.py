"""Reach from every cell through the public interface, on bare maps and on boards of each system."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fieldcraft as fc

BARE = [
    ("grid", {}, 5),
    ("grid", {"diagonals": "alternating-2", "parity": "carry"}, 4),
    ("grid", {"diagonals": "illegal"}, 5),
    ("grid", {"diagonals": (70, 99), "corners": "either"}, 3),
    ("grid", {"diagonals": "approximate", "corners": "free"}, 6),
    ("grid", {"diagonals": "exact"}, 4),
    ("hexes", {"layout": "odd-r"}, 6),
    ("hexes", {"layout": "even-r"}, 6),
    ("hexes", {"layout": "odd-q"}, 6),
    ("hexes", {"layout": "even-q"}, 6),
    ("hexes", {"layout": "even-q"}, None),
]


def check_against_single(reaches, single, begun=None) -> None:
    """Check every map against `single(cell)`, the reach from one cell."""
    shape = reaches.shape
    expected = np.zeros((3, *shape), np.int32)
    costs = np.full((*shape, *shape), math.inf)
    for cell in np.ndindex(shape):
        if begun is not None and not begun[cell]:
            continue
        reach = single(cell)
        costs[cell] = reach.to_array()
        expected[0][cell], expected[1][cell] = len(reach), len(reach.stops)
        expected[2] += np.isfinite(costs[cell])
    np.testing.assert_array_equal(reaches.count, expected[0])
    np.testing.assert_array_equal(reaches.stops, expected[1])
    np.testing.assert_array_equal(reaches.visitors, expected[2])
    seen = 0
    for block in reaches.blocks():
        seen += len(block.cells)
        for cell, row in zip(block.cells, block.costs, strict=True):
            found = np.full(shape, math.inf)
            at = np.isfinite(row)
            rows, cols = (cell + block.offsets[at]).T
            found[rows, cols] = row[at]
            np.testing.assert_array_equal(found, costs[tuple(cell)])
    assert seen == (math.prod(shape) if begun is None else begun.sum())
    for cell in [(0, 0), (shape[0] // 2, shape[1] // 2), (shape[0] - 1, 0)]:
        np.testing.assert_array_equal(reaches.costs_to(cell), costs[:, :, cell[0], cell[1]])
        np.testing.assert_array_equal(reaches.of(cell), costs[cell])


@pytest.mark.parametrize(("module", "options", "budget"), BARE)
def test_bare_maps(module, options, budget):
    rng = np.random.default_rng(len(str(options)))
    space = getattr(fc, module)
    shape = (13, 11)
    cost = rng.choice([1, 1, 2, 3], shape)
    closed, stop = rng.random(shape) < 0.15, rng.random(shape) < 0.8
    halt, leave = rng.random(shape) < 0.1, rng.choice([0, 0, 1], shape)
    options = {**options, "closed": closed, "stop": stop, "halt": halt, "leave": leave}
    field = space.field(cost, **options)
    check_against_single(
        space.reaches(cost, budget, **options), lambda c: field.reach(c, budget), ~closed
    )


def test_a_closed_start_reaches_nothing():
    reaches = fc.grid.reaches([[1, math.inf, 1]], 3)
    assert reaches.count.tolist() == [[1, 0, 1]]
    assert np.isinf(reaches[0, 1]).all()
    assert not reaches.who_reaches((0, 1)).any()
    (block,) = reaches.blocks()
    assert block.cells.tolist() == [[0, 0], [0, 2]]


def test_each_calls_for_every_block():
    reaches = fc.hexes.reaches(np.ones((70, 70), int), 2)
    sums = []
    reaches.each(lambda block: sums.append(int(np.isfinite(block.costs).sum())))
    assert sum(sums) == reaches.count.sum() == reaches.visitors.sum()
    assert len(sums) > 1


def test_parity_carried_in():
    cost = np.ones((9, 9), int)
    for parity in (0, 1):
        reaches = fc.grid.reaches(cost, 2, parity_in=parity)
        expected = fc.grid.reach(cost, (4, 4), 2, parity_in=parity)
        assert reaches.count[4, 4] == len(expected)
        np.testing.assert_array_equal(reaches[4, 4], expected.to_array())


def test_decimals_are_counted_exactly():
    reaches = fc.hexes.reaches(np.full((1, 9), 0.1), 0.3)
    assert reaches.count.tolist() == [[4, 5, 6, 7, 7, 7, 6, 5, 4]]
    assert reaches.costs_to((0, 0))[0, :4].tolist() == [0.0, 0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("error", "arguments", "options"),
    [
        (fc.CostError, (-1,), {}),
        (fc.CostError, (math.nan,), {}),
        (fc.CostError, (3,), {"parity": 2}),
        (fc.MapError, (3,), {"layer": 1}),
        (fc.ArgumentTypeError, (3,), {"layer": "walk"}),
    ],
)
def test_bad_questions(error, arguments, options):
    with pytest.raises(error):
        fc.grid.field([[math.inf, 1]]).reaches(*arguments, **options)


def test_cells_off_the_map():
    reaches = fc.grid.reaches([[1, 1]], 1)
    for ask in (reaches.of, reaches.costs_to, reaches.who_reaches, reaches.__getitem__):
        with pytest.raises(fc.OutsideMapError):
            ask((1, 0))


# ---- Boards ------------------------------------------------------------------------------------

HAWK = fc.Creature("hawk", speed={"walk": 2, "fly": 5})
OGRE = fc.Creature("ogre", size="large")
SYSTEMS = [
    (
        "hexwild",
        "odd-r",
        ["open", "open", "light_forest", "mud", "gravel", "rock_formation"],
        {},
        4,
    ),
    ("hexwild", "even-q", ["open", "mud", "stones", "deep_water"], {}, 5),
    ("pathfinder", "square", ["open", "open", "difficult", "wall"], {}, 4),
    ("pathfinder", "square", ["open", "open", "open", "difficult", "wall"], {"creature": OGRE}, 3),
    ("srd5", "square", ["open", "open", "difficult", "wall"], {}, 4),
    ("srd5", "square", ["open", "open", "difficult", "wall"], {"creature": HAWK}, None),
    ("skirmish", "square", ["open", "open", "difficult", "wall"], {}, 4),
    ("octile", "square", ["ground", "ground", "swamp", "trees"], {}, 3),
]


@pytest.mark.parametrize(("system", "lattice", "kinds", "options", "budget"), SYSTEMS)
def test_boards(system, lattice, kinds, options, budget):
    rng = np.random.default_rng(7)
    terrain = rng.choice(kinds, (9, 10)).tolist()
    tokens = [
        fc.Token(fc.Creature("guard"), (4, 4), side="red"),
        fc.Token(fc.Creature("scout"), (2, 7), side="blue"),
    ]
    board = fc.Board(terrain, lattice=lattice, rules=system, tokens=tokens)
    who = tokens[1]
    reaches = board.reaches(who, budget=budget, **options)
    check_against_single(
        reaches,
        lambda cell: board.move(who, cell).reach(who.at(cell), budget=budget, **options),
    )
    np.testing.assert_array_equal(
        reaches.of(who.cell), board.reach(who, budget=budget, **options).to_array()
    )


def test_boards_without_a_mover():
    board = fc.Board([["open"] * 5] * 5, rules="pathfinder")
    reaches = board.reaches(budget=2, creature=OGRE)
    check_against_single(reaches, lambda cell: board.reach(cell, budget=2, creature=OGRE))
    with pytest.raises(fc.ArgumentTypeError):
        board.reaches(creature="ogre")

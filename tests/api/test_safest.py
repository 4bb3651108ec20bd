"""The safest ways, against a plain search over nodes and ticks, and by hand."""

from __future__ import annotations

import copy
import heapq
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from reference.graph import Mover, compass


def plain_frontiers(spec, query, budget, stakes):
    """Return of each cell the undominated (ticks, stake), for all ways and those to a stop."""
    mover = Mover(spec)
    best = {}
    heap = [(0, total, node) for node, total in query.nodes(spec).items() if total <= budget]
    heapq.heapify(heap)
    while heap:
        stake, ticks, node = heapq.heappop(heap)
        if best.get((node, ticks), stake + 1) <= stake:
            continue
        best[node, ticks] = stake
        for there, price, direction, _ in mover.moves(node):
            then = ticks + price
            if then > min(budget, mover.cap(there)):
                continue
            more = 0
            if direction is not None:
                at = (*there[1:3],) if stakes.ndim == 2 else (*node[1:3], direction)
                more = int(stakes[at])
            if best.get((there, then), stake + more + 1) > stake + more:
                heapq.heappush(heap, (stake + more, then, there))
    found = {}
    for stop in (False, True):
        pairs = {}
        for (node, ticks), stake in best.items():
            if not stop or mover.may_stop(node):
                pairs.setdefault(node[1:3], []).append((ticks, stake))
        for cell, some in pairs.items():
            kept = []
            for ticks, stake in sorted(some):
                if not kept or stake < kept[-1][1]:
                    kept.append((ticks, stake))
            found[cell, stop] = kept
    return found


def stakes_along(path, stakes, lattice):
    cells = [tuple(cell) for cell in path.cells.tolist()]
    if stakes.ndim == 2:
        return sum(int(stakes[cell]) for cell in cells[1:])
    return sum(int(stakes[(*a, lattice.neighbors(a).index(b))]) for a, b in pairwise(cells))


@fc_st.examples(200)
@given(case=fc_st.movements(shape=st.tuples(st.integers(1, 6), st.integers(1, 6))), data=st.data())
def test_frontiers_equal_a_plain_search(case, data):
    spec, query = case
    budget = int(min(query.budget, data.draw(st.sampled_from([0, 3, 9, 25]))))
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    shape = (spec.height, spec.width)
    if data.draw(st.booleans()):
        shape = (*shape, len(compass(spec.lattice)))
    stakes = rng.integers(0, data.draw(st.sampled_from([1, 3, 1000])), shape)
    field = fc_st.step_field(spec)
    query.initial = [0] * len(query.starts)
    found = field.safest(query.starts, budget, stakes, parity=query.parity, layer=query.layer)
    wanted = plain_frontiers(spec, query, budget, stakes)
    reached = {cell for cell, _ in wanted}
    assert {tuple(cell) for cell in found.cells.tolist()} == reached
    for cell in spec.cells:
        for stop in (False, True):
            ways = found.frontier(cell, stop=stop)
            assert [(way.cost, way.stake) for way in ways] == wanted.get((cell, stop), [])
            for way in ways:
                assert way.path.cost == way.cost
                assert tuple(way.path.cells[-1].tolist()) == cell
                assert sum(step.cost for step in way.path.steps) == pytest.approx(way.cost)
                assert stakes_along(way.path, stakes, field.lattice) == way.stake
            path = found.path_to(cell, stop=stop)
            assert bool(path) == bool(ways)
            if ways:
                assert path == ways[-1].path
    for cell, stake, cost, can_stop in zip(
        found.cells.tolist(), found.stake.tolist(), found.cost.tolist(), found.can_stop.tolist(),
        strict=True,
    ):  # fmt: skip
        assert (cost, stake) == wanted[tuple(cell), False][-1]
        assert can_stop == ((tuple(cell), True) in wanted)


def corridor():
    """A hall with a guard in the middle and a way around."""
    guard = fc.Token(fc.Creature("guard"), (1, 3), side="red")
    rogue = fc.Token(fc.Creature("rogue", speed=10), (0, 0), side="blue")
    rows = ["......." for _ in range(5)]
    return fc.Board.from_rows(rows, {".": "open"}, rules="pathfinder", tokens=[rogue, guard])


def attacks(step):
    return sum(1000 for stake in step.stakes if stake.kind == "attack")


def test_the_safest_way_goes_around_who_may_strike():
    board = corridor()
    rogue = board.token("rogue")
    field = board.step_field(rogue)
    ways = field.safest(rogue.cell, 10, attacks).frontier((0, 6))
    # Straight on it leaves three squares that the guard reaches; by the fourth row none, at four
    # diagonals (1-2-1-2) and four straight steps.
    assert ways[0][:2] == (6, 3000)
    assert ways[-1][:2] == (10, 0)
    for way in ways:
        assert sum(map(attacks, way.path.steps)) == way.stake
    assert field.safest(rogue.cell, 9, attacks).path_to((0, 6)) == ways[-2].path
    assert not ways[-1].path.attacks
    # The same by the board, whose tokens have their own speeds.
    assert board.safest(rogue, attacks).frontier((0, 6)) == ways
    assert len(board.safest(rogue, attacks, budget=6).frontier((0, 6))) == 1
    assert not board.safest(rogue, attacks, tokens=[rogue]).stake.any()
    with pytest.raises(fc.CostError, match="need a budget"):
        board.safest(board.token("guard"), attacks)


def test_what_may_not_be_asked():
    field = fc.grid.field(np.ones((3, 4), np.int64), diagonals="equidistant")
    stakes = np.zeros((3, 4), np.int64)
    for budget in (None, "inf"):
        with pytest.raises(fc.CostError, match="need a budget"):
            field.safest((0, 0), budget, stakes)
    with pytest.raises(fc.CostError, match="0 to"):
        field.safest((0, 0), 2, stakes - 1)
    with pytest.raises(fc.CostError, match="0 to"):
        field.safest((0, 0), 2, lambda step: 1 << 50)
    with pytest.raises(fc.CostError, match="too large"):
        field.safest((0, 0), 60_000_000, stakes)
    with pytest.raises(fc.MapError, match=r"expected \(3, 4\)"):
        field.safest((0, 0), 2, stakes.T)
    with pytest.raises(fc.MapError, match="a full array"):
        field.safest((0, 0), 2, [[1, 2], [3]])
    with pytest.raises(fc.CostError, match="0 to"):
        field.safest((0, 0), 2, np.full((3, 4), 2**63, np.uint64))
    for wrong in (stakes + 0.5, stakes * np.nan, stakes > 0, "none", None, lambda step: 0.5):
        with pytest.raises(fc.ArgumentTypeError, match="whole number"):
            field.safest((0, 0), 2, wrong)
    with pytest.raises(fc.OutsideMapError):
        field.safest((9, 0), 2, stakes)
    with pytest.raises(fc.OutsideMapError):
        field.safest((0, 0), 2, stakes).frontier((0, 9))
    exact = fc.grid.field(np.ones((3, 4)), diagonals="exact")
    with pytest.raises(fc.CostError, match="floats"):
        exact.safest((0, 0), 2, stakes)


def test_maps_of_one_cell_and_without_a_way():
    single = fc.grid.field([[1]], diagonals="equidistant").safest((0, 0), 0, [[7]])
    assert [(way.cost, way.stake) for way in single.frontier((0, 0))] == [(0, 0)]
    alone = np.ones((3, 3), bool)
    alone[1, 1] = False
    field = fc.grid.field(np.ones((3, 3), np.int64), closed=alone)
    found = field.safest((1, 1), 9, np.ones((3, 3), np.int64))
    assert found.cells.tolist() == [[1, 1]]
    assert not found.path_to((0, 0))
    assert found.frontier((0, 0)) == ()
    with pytest.raises(fc.ClosedCellError):
        field.safest((0, 0), 9, np.ones((3, 3), np.int64))


def test_a_way_may_be_long():
    field = fc.grid.field(np.ones((1, 3000), np.int64), diagonals="illegal")
    way = field.safest((0, 0), 2999, np.ones((1, 3000), np.int64)).path_to((0, 2999))
    assert (len(way.cells), way.cost) == (3000, 2999)


def test_it_is_a_value():
    field = fc.grid.field(np.ones((3, 4), np.int64), diagonals="equidistant")
    found = field.safest((0, 0), 2, np.arange(12).reshape(3, 4))
    again = pickle.loads(pickle.dumps(found))
    for other in (again, copy.deepcopy(found)):
        assert np.array_equal(other.cells, found.cells)
        assert other.frontier((2, 2)) == found.frontier((2, 2))
    assert repr(found) == "SafestReach(9 cells within 2)"
    assert not found.path_to((0, 3))
    for array in (found.cells, found.stake, found.cost, found.can_stop):
        assert not array.flags.writeable


SYSTEMS = {
    "hexwild": ("odd-r", ["open", "light_forest", "mud", "stones", "boulder"]),
    "pathfinder": ("square", ["open", "difficult", "wall", "low_obstacle", "narrow:0.4"]),
    "srd5": ("square", ["open", "difficult", "wall"]),
    "skirmish": ("square", ["open", "difficult", "wall"]),
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("size", ["medium", "large"])
def test_without_stakes_it_is_the_reach(system, size):
    """Layers, links and places that must be left again, of boards full of tokens."""
    lattice, kinds = SYSTEMS[system]
    reserved = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        shares = np.array([6] + [1] * (len(kinds) - 1)) / (5 + len(kinds))
        terrain = rng.choice(kinds, (9, 9), p=shares)
        terrain[4:6, 4:6] = "open"
        cells = [divmod(int(place), 9) for place in rng.permutation(81)[:9]]
        cells = [cell for cell in cells if not (cell[0] in (4, 5) and cell[1] in (4, 5))]
        mover = fc.Creature("mover", size=size, speed={"walk": 5, "fly": 3})
        if seed % 2:
            mover = fc.Creature("mover", size=size, speed=6)
        others = [
            fc.Token(fc.Creature(f"other {i}"), cell, side="blue" if i % 2 else "red")
            for i, cell in enumerate(cells)
        ]
        board = fc.Board(
            terrain.tolist(), lattice=lattice, rules=system,
            tokens=[fc.Token(mover, (4, 4), side="blue"), *others],
        )  # fmt: skip
        token = board.tokens[0]
        reach = board.reach(token, budget=6)
        reserved += len(reach.field._graph.arrays.reserve)
        found = reach.field.safest(token.cell, 6, lambda step: 0)
        assert found.stake.max() == 0
        mine, theirs = (
            {
                tuple(cell): (cost, stop)
                for cell, cost, stop in zip(
                    one.cells.tolist(), one.cost.tolist(), one.can_stop.tolist(), strict=True
                )
            }
            for one in (found, reach)
        )
        assert mine == theirs
        last = tuple(reach.cells[-1].tolist())
        assert found.path_to(last, stop=False).cost == reach.path_to(last, stop=False).cost
        risky = reach.field.safest(token.cell, 6, attacks)
        for way in risky.frontier(last, stop=False):
            assert sum(map(attacks, way.path.steps)) == way.stake
    assert bool(reserved) == (system == "pathfinder")

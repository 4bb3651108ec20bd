"""Movements that go on after a pause: `Reach.then`, `Reach.left_at`, and paths with pauses."""

from __future__ import annotations

import dataclasses
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from reference.dijkstra import dijkstra
from reference.graph import MapSpec, Mover, Node, cell_totals

# ---- Help --------------------------------------------------------------------------------------


def costs(reach: fc.Reach) -> dict[tuple[int, int], float]:
    return {tuple(cell): cost for cell, cost in zip(reach.cells.tolist(), reach.cost, strict=True)}


def row(width: int, rules: str = "srd5", **options) -> fc.Board:
    return fc.Board([["open"] * width], rules=rules, **options)


def walk_and_fly(width: int = 16) -> fc.StepField:
    """A row of 1.5 m a cell, 2 ticks: walk 9 m, fly 18 m; cells 4 to 6 must be walked."""
    low = np.zeros((1, width), bool)
    low[0, 4:7] = True
    high = ~low
    high[0, [4, 6]] = True
    return fc.StepField(
        fc.Lattice("square"),
        (1, width),
        steps=np.stack([fc.legal_steps(fc.Lattice("square"), open_) for open_ in (low, high)]),
        enter=np.full((1, width), 2),
        layers=[fc.Layer(steps=0, cap=12, name="walk"), fc.Layer(steps=1, cap=24, name="fly")],
        links=[fc.Link(0, 1, cells=low & high), fc.Link(1, 0, cells=low & high)],
        ticks=Fraction(4, 3),
        home=1,
    )


# ---- S5-01 to S5-03, S5-07 ---------------------------------------------------------------------


def test_move_act_move():
    """S5-01: 4.5 m to the foe's side, an attack, and 4.5 m back; another cell is too far."""
    board = row(10)
    reach = board.reach((0, 4), budget="9 m")
    again = reach.then((0, 7))
    assert costs(again) == {(0, col): 4.5 + 1.5 * abs(col - 7) for col in range(4, 10)}
    assert again.can_stop.all()
    path = again.path_to((0, 4))
    assert path.cells.tolist() == [[0, c] for c in (4, 5, 6, 7, 6, 5, 4)]
    assert (path.cost, len(path), path.pauses) == (9, 6, ((0, 7),))
    assert [leg.cost for leg in path.legs] == [4.5, 4.5]
    assert sum(step.cost for step in path.steps) == path.cost


def test_the_sources_example_in_one_search():
    """S5-03: walk 9 m, fly 18 m: 6 m flown, 3 walked, 9 flown; and not a cell more of either."""
    reach = walk_and_fly().reach((0, 0))
    assert reach.cost_at((0, 4)) == 6
    assert reach.cost_at((0, 6)) == 9
    assert reach.cost_at((0, 12)) == 18
    assert (0, 13) not in reach
    layers = [step.layer for step in reach.path_to((0, 12)).steps if step.start != step.to]
    assert layers == ["fly"] * 4 + ["walk"] * 2 + ["fly"] * 6
    # 6 m and three cells on foot would be 10.5 m, more than the walking speed.
    assert walk_and_fly().reach((0, 0), 8.25).left_at((0, 5)) == {"walk": 0.75, "fly": 0.75}


def test_the_sources_example_with_pauses():
    """S5-03: the same with a pause at each change; what is left of each speed."""
    hawk = fc.Token(fc.Creature("hawk", speed={"walk": 9, "fly": 18}), (0, 0), flying=True)
    reach = row(16, tokens=[hawk]).reach(hawk)
    assert reach.left_at((0, 4)) == {"walk": 3, "fly": 12}
    second = reach.then((0, 4))
    assert second.left_at((0, 6)) == {"walk": 0, "fly": 9}
    third = second.then((0, 6))
    assert third.cost_at((0, 12)) == 18
    assert third.left_at((0, 12)) == {"walk": 0, "fly": 0}
    assert (0, 13) not in third
    path = third.path_to((0, 12))
    assert path.pauses == ((0, 4), (0, 6))
    assert [leg.cost for leg in path.legs] == [6, 3, 9]
    by_hand = walk_and_fly().reach((0, 0)).then((0, 4)).then((0, 6))
    assert (by_hand.cost_at((0, 12)), (0, 13) in by_hand) == (18, False)


def test_walking_after_the_pause_counts_what_was_flown():
    """S5-03: after 6 m flown, 3 m of 9 are left on foot: two cells beyond the pause, not three."""
    field = walk_and_fly()
    reach = field.reach((0, 0)).then((0, 4))
    assert reach.left_at((0, 4)) == {"walk": 3, "fly": 12}
    slower = field.reach((0, 0), initial=[1.5]).then((0, 4))
    assert slower.left_at((0, 4)) == {"walk": 1.5, "fly": 10.5}
    assert ((0, 5) in slower, (0, 6) in slower) == (True, False)


def test_modes_mix_over_a_pause():
    """S5-02: swimming goes on where walking paused; a swimmer's own speed is not added to it."""
    board = fc.Board([["open", "open", "water", "water", "water", "open"]], rules="srd5")
    otter = fc.Creature("otter", speed={"walk": 4.5, "swim": 6})
    reach = board.reach((0, 0), creature=otter).then((0, 1))
    assert costs(reach) == {(0, c): 1.5 + 1.5 * abs(c - 1) for c in range(5)}
    assert reach.left_at((0, 4)) == {"walk": 0, "swim": 0}


def test_climbing_is_used_up_by_difficult_walking():
    """S5-03: three squares of difficult walking use 6 of walk 6, and climb 4 as well."""
    board = fc.Board([["open", "difficult", "difficult", "difficult", "open"]], rules="srd5")
    climber = fc.Creature("climber", speed={"walk": "6 sq", "climb": "4 sq"})
    reach = board.reach((0, 0), creature=climber)
    assert reach.left_at((0, 3)) == {"walk": 0, "climb": 0}
    assert reach.left_at((0, 2)) == {"walk": 3, "climb": 0}
    assert reach.left_at((0, 4)) == {}
    assert len(reach.then((0, 3))) == 1


def test_prone_and_standing_go_on_both():
    """S5-07: at the pause one may lie or stand: 3 m crawled or 6 m with standing up, of 9 m."""
    goblin = fc.Token(fc.Creature("goblin", speed=9), (0, 0), prone=True)
    reach = row(8, tokens=[goblin]).reach(goblin)
    again = reach.then((0, 1))
    assert {cell: cost for cell, cost in costs(again).items() if cell[1] >= 1} == {
        (0, 1): 3,  # crawled
        (0, 2): 6,  # crawled
        (0, 3): 9,  # crawled, or stood up first: 4.5 + 3 * 1.5
    }
    assert again.left_at((0, 1)) == {"walk": 6}
    lying = {step.layer for step in again.path_to((0, 2)).steps}
    assert lying == {"crawl"}


# ---- PF-01: the parity goes on -----------------------------------------------------------------


@pytest.mark.parametrize("reading", ["advances", "carry"])
@pytest.mark.parametrize("terrain", ["open", "difficult"])
def test_a_waypoint_does_not_reset_the_count_of_diagonals(reading, terrain):
    """PF-01: three diagonals cost 4, and the fourth after the pause 2, so 5 are too few."""
    rules = fc.rules.get("pathfinder").configure(parity=reading)
    board = fc.Board([["open"] * 6] * 6, rules=rules).replace((0, 5), terrain)
    second = board.reach((0, 0), budget=6).then((3, 3))
    assert second.cost_at((3, 3)) == 4
    assert second.cost_at((4, 4)) == 6
    assert second.path_to((4, 4)).legs[1].cost == 2
    short = board.reach((0, 0), budget=5).then((3, 3))
    assert (4, 4) not in short
    assert short.cost_at((3, 4)) == 5
    lowered = board.reach((0, 0), budget=6).then((3, 3), budget=5)
    assert lowered == short


def test_both_parities_go_on():
    """PF-01: (1, 1) costs 1 by a diagonal, 2 by two straight steps: only then the next costs 1.

    Beyond a pause on ground where a diagonal costs 3 either way, both are worth knowing.
    """
    board = fc.Board([["open", "open", "open"]] * 3, rules="pathfinder").replace(
        (0, 2), "difficult"
    )
    again = board.reach((0, 0)).then((1, 1))
    assert again.cost_at((2, 2)) == 3
    assert again.parity[again.cells.tolist().index([1, 1])] == 1
    later = board.reach((0, 0), parity=1).then((1, 1))
    assert (later.cost_at((1, 1)), later.cost_at((2, 2))) == (2, 3)


def test_a_foe_that_comes_makes_both_parities_count():
    """PF-01, PF-05: without even weights one label a cell will do, with them two are needed.

    The first movement was searched with one; going on over a square of weight 2 needs the other.
    """
    weights = np.ones((5, 5), int)
    first = fc.grid.field(weights)
    weights[3, 3] = 2
    only_the_diagonal = ~np.eye(5, dtype=bool)
    second = fc.grid.field(weights, closed=only_the_diagonal, corners="free")
    again = first.reach((0, 0), 9).then((1, 1), field=second)
    # (1, 1) costs 1, and three diagonals on: 2 + 3 + 2; or 2, and on: 1 + 3 + 1.
    assert again.cost_at((1, 1)) == 1
    assert again.cost_at((4, 4)) == 7
    path = again.path_to((4, 4))
    assert [leg.cost for leg in path.legs] == [2, 5]
    assert second.reach((1, 1), initial=[1], parity=1).cost_at((4, 4)) == 8
    twice = first.reach((0, 0), 9).then((0, 1)).then((1, 1), field=second)
    assert twice.cost_at((4, 4)) == 7
    assert twice.path_to((4, 4)).pauses == ((0, 1), (1, 1))


# ---- Who may pause where -----------------------------------------------------------------------


def test_who_was_halted_stays_halted():
    halt = np.array([[False, False, True, False, False]])
    reach = fc.grid.reach(np.ones((1, 5)), (0, 0), 4, diagonals="equidistant", halt=halt)
    assert costs(reach.then((0, 2))) == {(0, 2): 2}
    assert costs(reach.then()) == costs(reach)
    free = fc.grid.field(np.ones((1, 5)), diagonals="equidistant")
    with pytest.raises(fc.MapError, match="halted"):
        reach.then((0, 2), field=free)
    assert costs(reach.then((0, 1), field=free))[0, 4] == 4


def test_a_cell_that_is_no_stop_is_refused():
    stop = np.array([[True, False, True, True]])
    reach = fc.grid.reach(np.ones((1, 4)), (0, 0), 2, diagonals="equidistant", stop=stop)
    with pytest.raises(fc.MapError, match=r"at cell \(0, 1\) no movement may end"):
        reach.then((0, 1))
    with pytest.raises(fc.MapError, match=r"cell \(0, 3\) is not reached"):
        reach.then([(0, 2), (0, 3)])
    with pytest.raises(fc.OutsideMapError, match=r"cell \(0, 4\) lies outside"):
        reach.then((0, 4))
    assert costs(reach.then([(0, 0), (0, 2)])) == {(0, 0): 0, (0, 1): 1, (0, 2): 2}


def test_paths_after_a_pause_end_where_one_may_stop():
    stop = np.array([[True, False, True, True]])
    reach = fc.grid.reach(np.ones((1, 4)), (0, 0), diagonals="equidistant", stop=stop).then((0, 3))
    assert not reach.path_to((0, 1))
    assert reach.path_to((0, 1), stop=False).cost == 5
    assert [tuple(cell) for cell in reach.stops.tolist()] == [(0, 3), (0, 2), (0, 0)]


def test_nowhere_to_pause():
    stop = np.zeros((1, 3), bool)
    reach = fc.grid.reach(np.ones((1, 3)), (0, 1), diagonals="equidistant", stop=stop)
    again = reach.then()
    assert len(again) == len(again.stops) == len(again.then()) == 0
    assert not again.path_to((0, 1))
    assert again.left_at((0, 1)) == {}
    with pytest.raises(fc.MapError, match="no movement may end"):
        reach.then((0, 1))


def test_the_start_may_be_paused_on_where_others_allow():
    """PF-06: whoever begins inside another stands there, and cannot pause there."""
    ada, bo = (fc.Token(name, (0, 1), side="blue") for name in ("Ada", "Bo"))
    board = row(4, "pathfinder", tokens=[ada, bo])
    reach = board.reach(ada, budget=2)
    assert not reach.can_stop[0]
    with pytest.raises(fc.MapError, match="no movement may end"):
        reach.then((0, 1))
    alone = board.replace(tokens=[ada]).replace((0, 1), "pit")
    assert costs(alone.reach(ada, budget=2).then((0, 1))) == {
        (0, 0): 1, (0, 1): 0, (0, 2): 1, (0, 3): 2,
    }  # fmt: skip


# ---- Another field -----------------------------------------------------------------------------


def test_a_foe_falls():
    """S5-01: past the foe in the doorway, once it is dead; its square was no way before."""
    rows = ["..#..", ".....", "..#.."]
    ada = fc.Token(fc.Creature("Ada", speed=9), (1, 0), side="blue")
    ogre = fc.Token("ogre", (1, 2), side="red")
    legend = {".": "open", "#": "wall"}
    board = fc.Board.from_rows(rows, legend, rules="srd5", tokens=[ada, ogre])
    reach = board.reach(ada)
    assert (1, 4) not in reach
    after = reach.then((1, 1), field=reach.field.update([]))
    assert costs(after)[1, 4] == 6
    assert after == reach.then((1, 1), field=board.step_field(ada, tokens=[ada]))
    path = after.path_to((1, 4))
    assert (path.cost, path.pauses) == (6, ((1, 1),))
    assert path.steps[1].why == "cell 1.5"
    assert (1, 4) not in reach.then((1, 1))
    assert after.left_at((1, 4)) == {"walk": 3}


def test_where_one_paused_one_may_stay():
    stop = np.array([[True, True, False]])
    field = fc.grid.field(np.ones((1, 3)), diagonals="equidistant")
    later = fc.grid.field(np.ones((1, 3)), diagonals="equidistant", stop=stop)
    again = field.reach((0, 0)).then((0, 2), field=later)
    assert again.can_stop.tolist() == [True, True, True]
    assert again.path_to((0, 2)).pauses == ((0, 2),)
    assert again.then((0, 2)).cost_at((0, 0)) == 4


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"cost": np.ones((3, 4))}, "shape"),
        ({"diagonals": "equidistant"}, "diagonals"),
        ({"diagonals": "alternating-2"}, "diagonals"),
        ({"parity": "carry"}, "diagonals"),
        ({"cost": np.full((3, 3), math.pi), "diagonals": "exact"}, "unit, diagonals"),
    ],
)
def test_a_field_of_another_layout_is_refused(options, what):
    reach = fc.grid.field(np.ones((3, 3))).reach((0, 0))
    other = fc.grid.field(**{"cost": np.ones((3, 3)), **options})
    with pytest.raises(fc.MapError, match=f"laid out otherwise: its {what} differ"):
        reach.then(field=other)


def test_other_lattices_and_layers_are_refused():
    reach = fc.hexes.field(np.ones((3, 3)), layout="odd-r").reach((0, 0))
    with pytest.raises(fc.MapError, match="its lattice differ"):
        reach.then(field=fc.hexes.field(np.ones((3, 3)), layout="even-r"))
    board = row(5)
    walker, flyer = (fc.Creature("x", speed=speed) for speed in (9, {"walk": 9, "fly": 9}))
    walks, flies = (board.step_field((0, 0), creature=who) for who in (walker, flyer))
    with pytest.raises(fc.MapError, match="its layers differ"):
        walks.reach((0, 0)).then(field=flies)


def test_fields_told_apart_keep_borders_and_obstacles():
    """PF-02, PF-08: laid out once more with the parities as rows, nothing else changes."""
    rules = fc.rules.get("pathfinder")
    assert rules.parameters()["parity"] == "advances"
    board = fc.Board(
        [["open"] * 6] * 6,
        rules=rules,
        borders=[fc.Border(((2, 2), (2, 3)), "low_wall"), fc.Border(((3, 2), (3, 3)), "wall")],
    )
    field = board.step_field((2, 2))
    assert field.reach((2, 2), 5) == field.told_apart().reach((2, 2), 5)
    low = np.zeros((5, 5), bool)
    low[1:4, 2] = True
    over = fc.StepField(
        fc.Lattice("square"),
        (5, 5),
        steps=fc.legal_steps(fc.Lattice("square"), np.ones((5, 5), bool)),
        enter=np.where(low, 3, 1),
        stop=~low,
        onward=low,
        layers=[fc.Layer(onward=0)],
        diagonal="alternating",
    )
    for budget in (3, 4, 5, 6):
        reach = over.told_apart().reach((2, 1), budget)
        assert reach == over.reach((2, 1), budget)
        assert ((2, 2) in reach) == (budget >= 4)  # 3 to get on it, 1 to get off again


# ---- Budgets -----------------------------------------------------------------------------------


def test_budget_of_both_parts():
    reach = fc.grid.reach(np.ones((1, 9)), (0, 4), 2, diagonals="equidistant")
    assert costs(reach.then((0, 6), budget=3)) == {(0, 5): 3, (0, 6): 2, (0, 7): 3}
    assert reach.then((0, 6), budget=math.inf).cost_at((0, 0)) == 8
    assert reach.then((0, 6), budget=3).budget == 3
    assert reach.then((0, 6)).budget == 2
    with pytest.raises(fc.CostError):
        reach.then((0, 6), budget=-1)


def test_who_has_spent_more_stays():
    reach = fc.grid.reach(np.ones((1, 9)), (0, 4), 4, diagonals="equidistant")
    slowed = reach.then([(0, 7), (0, 5)], budget=1)
    assert costs(slowed) == {(0, 5): 1, (0, 7): 3}
    assert slowed.path_to((0, 7)).cells[:, 1].tolist() == [4, 5, 6, 7]
    assert slowed.left_at((0, 7)) == {"walk": 0}
    assert costs(slowed.then(budget=4)) == {
        (0, 4): 2,
        (0, 5): 1,
        (0, 6): 2,
        (0, 7): 3,
        (0, 8): 4,
        (0, 3): 3,
        (0, 2): 4,
    }


def test_what_is_left_without_a_limit_and_without_speeds():
    field = fc.grid.field([[1, 2, 1]], diagonals="equidistant")
    assert field.reach((0, 0)).left_at((0, 1)) == {"walk": math.inf}
    assert field.reach((0, 0), 5).left_at((0, 1)) == {"walk": 3}
    board = row(3)
    half = fc.Creature("half", speed={"walk": 6, "fly": None})
    reach = board.reach((0, 0), creature=half)
    assert reach.left_at((0, 1)) == {"walk": 4.5, "fly": math.inf}
    assert reach.then((0, 1), budget=3).left_at((0, 1)) == {"walk": 1.5, "fly": 1.5}
    (many,) = board.reach_many([(0, 0)], creature=half)
    assert many.left_at((0, 1)) == reach.left_at((0, 1))


def test_what_is_left_where_one_may_only_pass():
    """PF-06: through a friend one passes for 2; left of 6 are 4."""
    ada, bo = fc.Token("Ada", (0, 0), side="blue"), fc.Token("Bo", (0, 1), side="blue")
    reach = row(4, "pathfinder", tokens=[ada, bo]).reach(ada, budget=6)
    assert reach.left_at((0, 1)) == {"walk": 4}


# ---- Paths -------------------------------------------------------------------------------------


def test_a_path_shows_its_pauses():
    reach = fc.grid.reach([[1, 2, 1]], (0, 0), diagonals="equidistant")
    path = reach.then((0, 2)).path_to((0, 1))
    assert str(path.explain()) == (
        "step  cell   cost  why\n"
        "   1  0,1       2  entry 2\n"
        "   2  0,2       1  entry 1\n"
        "      pause     3\n"
        "   3  0,1       2  entry 2\n"
        "      total     5"
    )
    assert path != reach.path_to((0, 1))
    assert reach.path_to((0, 1)).pauses == reach.path_to((0, 1)).legs == ()
    stayed = reach.then((0, 2)).path_to((0, 2))
    assert (stayed.pauses, len(stayed), len(stayed.legs[1])) == (((0, 2),), 2, 0)
    assert stayed.legs[1]


def test_reaches_and_paths_pickle():
    reach = row(6).reach((0, 0), budget=9).then((0, 3))
    copy = pickle.loads(pickle.dumps(reach))
    assert copy == reach
    assert copy.path_to((0, 2)) == reach.path_to((0, 2))
    path = pickle.loads(pickle.dumps(reach.path_to((0, 2))))
    assert (path, path.steps) == (reach.path_to((0, 2)), reach.path_to((0, 2)).steps)
    assert copy.left_at((0, 2)) == {"walk": 3}


def test_bodies_keep_their_squeezed_place():
    """S5-13: a large body that paused in a passage one cell wide is still squeezed in it."""
    rows = ["....####", "........", "....####"]
    ogre = fc.Token(fc.Creature("ogre", size="large", speed=12), (0, 0))
    board = fc.Board.from_rows(rows, {".": "open", "#": "wall"}, rules="srd5", tokens=[ogre])
    reach = board.reach(ogre)
    inside = [cell for cell in map(tuple, reach.stops.tolist()) if cell[1] == 4]
    again = reach.then(inside)
    whole = {cell: cost for cell, cost in costs(reach).items() if cell[1] > 4}
    assert whole
    assert {cell: cost for cell, cost in costs(again).items() if cell[1] > 4} == whole


# ---- Properties --------------------------------------------------------------------------------


def compare(reach: fc.Reach, expected: dict[tuple[int, int], tuple[float, int, bool]]) -> None:
    """Compare with cost, parity and whether one may stop, by cell."""
    columns = reach.cells.tolist(), reach.cost, reach.parity.tolist(), reach.can_stop.tolist()
    assert {tuple(c): rest for c, *rest in zip(*columns, strict=True)} == {
        cell: list(entry) for cell, entry in expected.items()
    }


def retrace(movers: list[Mover], path: fc.Path, starts: dict[Node, float]) -> dict[Node, float]:
    """Return the nodes and totals in which a path may end, made again leg by leg by the rules."""
    here = {n: t for n, t in starts.items() if n[1:3] == tuple(path.cells[0].tolist())}
    legs = path.legs or (path,)
    for number, leg in enumerate(legs):
        mover = movers[min(number, len(movers) - 1)]
        for step in leg.steps:
            after: dict[Node, float] = {}
            for node, total in here.items():
                for there, price, _, _ in mover.moves(node):
                    fits = there[1:3] == step.to and price == step.cost
                    if fits and total + price <= mover.cap(there):
                        after[there] = min(total + price, after.get(there, math.inf))
            here = after
        assert here, "no legal step"
        if number < len(legs) - 1:
            here = {node: total for node, total in here.items() if mover.may_stop(node)}
            assert here, "a pause where nobody may stop"
    return here


@st.composite
def later_maps(draw, spec: MapSpec) -> MapSpec:
    """Draw a map of the same layout on which the movement goes on; as often the same.

    Where one could stop one still can: who has paused may stay anyway, see the tests above.
    """
    if draw(st.booleans()):
        return spec
    rng = np.random.default_rng(draw(fc_st.seeds))

    def changed(arrays, values):
        size = (spec.height, spec.width)
        return [
            np.where(rng.random(size) < 0.3, rng.choice(values, size), array).astype(array.dtype)
            for array in arrays
        ]

    return dataclasses.replace(
        spec,
        enter=changed(spec.enter, [1, 2, 3, 4]),
        open=changed(spec.open, [True, True, False]),
        stop=changed(spec.stop, [True]),
        halt=changed(spec.halt, [True, False]),
    )


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(80)
@given(data=st.data())
def test_going_on_equals_the_reference(lattice, data):
    """S5-01, S5-03, PF-01: two and three parts, by Dijkstra's search over all states of a pause."""
    spec, query = data.draw(fc_st.movements(lattice, shape=fc_st.small_shapes))
    check_going_on(spec, query, data)


@fc_st.examples(150)
@given(data=st.data())
def test_going_on_with_alternating_diagonals(data):
    """PF-01, PF-02: both readings; odd weights first, so that the search may keep one label."""
    rule = data.draw(
        st.tuples(st.sampled_from(fc_st.ALTERNATING), st.sampled_from(("advances", "carry")))
    )
    spec, query = data.draw(
        fc_st.movements(
            "square", diagonal=rule, shape=fc_st.small_shapes, layers=data.draw(st.booleans())
        )
    )
    if data.draw(st.booleans()):
        spec.enter = [array | 1 for array in spec.enter]
    check_going_on(spec, query, data)


def check_going_on(spec: MapSpec, query, data) -> None:
    movers = [Mover(spec)]
    starts = query.nodes(spec)
    totals = dijkstra(movers[0], starts, query.budget)
    reach = fc_st.step_field(spec).reach(
        query.starts, query.budget, parity=query.parity, layer=query.layer, initial=query.initial
    )
    budget = query.budget
    for _ in range(data.draw(st.integers(1, 2))):
        stops = list(map(tuple, reach.stops.tolist()))
        if not stops:
            return
        cells = data.draw(st.none() | st.lists(st.sampled_from(stops), min_size=1, max_size=3))
        given_budget = data.draw(st.none() | st.sampled_from([0, 5, 20, 100]))
        budget = budget if given_budget is None else given_budget
        begun = {
            node: total
            for node, total in totals.items()
            if movers[-1].may_stop(node) and (cells is None or node[1:3] in cells)
        }
        later = data.draw(later_maps(movers[-1].spec))
        field = None if later is movers[-1].spec else fc_st.step_field(later)
        if field is not None and any(node[4] for node in begun) and not later.halt:
            return
        movers.append(Mover(later))
        reach = reach.then(cells, field=field, budget=given_budget)
        totals = dijkstra(movers[-1], begun, budget)
        for node, total in begun.items():
            if total > budget:
                totals.setdefault(node, total)
        expected = cell_totals(movers[-1], totals)
        compare(reach, expected)
    for cell in data.draw(st.lists(st.sampled_from(list(expected)), max_size=3)):
        path = reach.path_to(cell, stop=False)
        ends = retrace(movers, path, starts)
        assert min(ends.values()) == expected[cell][0]
        assert path.cost == sum(step.cost for step in path.steps)
        assert tuple(path.cells[-1].tolist()) == cell
        assert len(path.pauses) == len(movers) - 1


@fc_st.examples(150)
@given(data=st.data())
def test_one_label_a_cell_and_two_give_the_same(data):
    """PF-02: where no weight is even; the fields that tell parities apart are laid out from it."""
    rule = data.draw(st.tuples(st.sampled_from(fc_st.ALTERNATING), st.just("advances")))
    spec, query = data.draw(
        fc_st.movements("square", diagonal=rule, shape=fc_st.small_shapes, single=True)
    )
    spec.enter = [array | 1 for array in spec.enter]
    field = fc_st.step_field(spec)
    apart = field.told_apart()
    ask = {"parity": query.parity, "layer": query.layer}
    one, two = (some.reach(query.starts, query.budget, **ask) for some in (field, apart))
    assert one == two
    for cell in two.cells[-2:].tolist():
        assert two.path_to(tuple(cell), stop=False).cost == two.cost_at(tuple(cell))


@fc_st.examples(100)
@given(st.data())
def test_every_stop_at_once_is_the_union_of_each(data):
    spec, query = data.draw(fc_st.movements(shape=fc_st.small_shapes))
    reach = fc_st.step_field(spec).reach(
        query.starts, query.budget, parity=query.parity, layer=query.layer, initial=query.initial
    )
    budget = data.draw(st.sampled_from([None, 10, 50, math.inf]))
    union = np.full((spec.height, spec.width), np.inf)
    for cell in reach.stops.tolist():
        np.minimum(union, reach.then(tuple(cell), budget=budget).to_array(), out=union)
    np.testing.assert_array_equal(reach.then(budget=budget).to_array(), union)
    if len(reach.stops):
        np.testing.assert_array_equal(reach.then(reach.stops, budget=budget).to_array(), union)
    if budget is None:
        assert (union >= reach.to_array()).all()


@fc_st.examples(60)
@given(fc_st.movements(exact=True, shape=fc_st.small_shapes))
def test_going_on_with_floats(movement):
    spec, query = movement
    spec.stop = [np.ones_like(array) for array in spec.stop]
    field = fc_st.step_field(spec)
    reach = field.reach(query.starts, parity=query.parity, layer=query.layer)
    again = reach.then()
    assert again.to_array() == pytest.approx(reach.to_array(), rel=1e-12)
    for cell in again.cells[:3].tolist():
        path = again.path_to(tuple(cell), stop=False)
        assert path.cost == pytest.approx(again.cost_at(tuple(cell)), rel=1e-12)
        assert sum(leg.cost for leg in path.legs) == pytest.approx(path.cost, rel=1e-12)

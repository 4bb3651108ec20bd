"""Routes over several turns: `Board.route`."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from fieldcraft.route import find_route
from reference.dijkstra import dijkstra
from reference.graph import MapSpec, Mover, Node

LEGEND = {".": "open", "o": "pit", "#": "wall", "~": "difficult", "w": "water"}


def board(rows, rules: str | fc.rules.Rules = "pathfinder", **options) -> fc.Board:
    return fc.Board.from_rows(rows, LEGEND, rules=rules, **options)


def ends(route: fc.Route) -> list[tuple[int, int]]:
    return [tuple(turn.cells[-1].tolist()) for turn in route.turns]


# ---- Worked by hand ----------------------------------------------------------------------------


def test_a_way_is_cut_into_turns():
    route = board(["......."]).route((0, 0), (0, 6), budget=4)
    assert route
    assert (len(route), route.cost, route.found) == (2, 6, True)
    assert route.cells.tolist() == [[0, col] for col in range(7)]
    assert [(len(turn), turn.cost) for turn in route.turns] == [(4, 4), (2, 2)]
    assert repr(route) == "Route((0, 0) to (0, 6), 2 turns, cost 6)"
    assert sum(step.cost for step in route.steps) == 6


def test_the_count_of_diagonals_begins_again_each_turn():
    """PF-01: with 2 squares a turn one diagonal each; the second, counted on, would cost 2."""
    field = board([".oooo", "o.ooo", "oo.oo", "ooo.o", "oooo."])
    route = field.route((0, 0), (4, 4), budget=2)
    assert [turn.cost for turn in route.turns] == [1, 1, 1, 1]
    assert [turn.parity for turn in route.turns] == [1, 1, 1, 1]
    assert len(field.route((0, 0), (4, 4), budget=3)) == 2  # 1 + 2 a turn
    # The first turn goes on from a movement that made one diagonal already.
    later = field.route((0, 0), (2, 2), budget=2, parity=1)
    assert [turn.cost for turn in later.turns] == [2, 1]


def test_no_turn_ends_where_nobody_may_stop():
    """PF-05, PF-06: a friend's square costs 2 and is no place to stop.

    With 3 squares a turn: one to the square before the friend, then 2 + 1 past him.
    """
    ada = fc.Token(fc.Creature("Ada", speed=3), (0, 0), side="blue")
    bo = fc.Token("Bo", (0, 2), side="blue")
    route = board(["....."], tokens=[ada, bo]).route(ada, (0, 3))
    assert ends(route) == [(0, 1), (0, 3)]
    assert [turn.cost for turn in route.turns] == [1, 3]
    slow = board(["....."], tokens=[ada, bo]).route(ada, (0, 3), budget=2)
    assert not slow
    assert ends(slow) == [(0, 1)]


def test_a_dear_step_takes_a_turn_of_its_own():
    """S5-04: a difficult cell is 3 m, so of 4.5 m a turn one is left over before each."""
    route = board([".~~~."], "srd5").route((0, 0), (0, 4), budget="4.5 m")
    assert [turn.cost for turn in route.turns] == [3, 3, 4.5]
    assert len(board([".~~~."], "srd5").route((0, 0), (0, 4), budget="6 m")) == 2


def test_the_last_turn_is_as_cheap_as_can_be():
    """Two turns either way: by the mire 3 + 2, or 4 + 1 where the first takes all it can."""
    field = board(["...~.."])
    route = field.route((0, 0), (0, 4), budget=4)
    assert [turn.cost for turn in route.turns] == [4, 1]
    assert ends(route) == [(0, 3), (0, 4)]
    # In one turn the last is the first, and as cheap as any way.
    assert field.route((0, 0), (0, 4), budget=5).cost == 5


def test_who_stood_up_stays_up():
    """S5-07: speed 6: standing up takes 3 m, two cells on foot; the next turn begins upright."""
    goblin = fc.Token(fc.Creature("goblin", speed=6), (0, 0), prone=True)
    route = board(["........."], "srd5", tokens=[goblin]).route(goblin, (0, 6))
    assert [turn.cost for turn in route.turns] == [6, 6]
    assert ends(route) == [(0, 2), (0, 6)]
    assert {step.layer for step in route.turns[1].steps} == {"walk"}
    # Crawling costs 3 m a cell: two cells a turn, four in two.
    assert len(board(["........."], "srd5", tokens=[goblin]).route(goblin, (0, 7))) == 3


def test_flyers_stay_in_the_air():
    """S5-03, S5-11: over the chasm, which takes two turns, nobody lands between."""
    legend = {".": "open", "_": "chasm"}
    hawk = fc.Token(fc.Creature("hawk", speed={"walk": 3, "fly": 4.5}), (0, 0))
    air = fc.Board.from_rows("._____.", legend, rules="srd5", tokens=[hawk])
    route = air.route(hawk, (0, 6))
    assert ends(route) == [(0, 3), (0, 6)]
    assert "to walk" not in str(route.turns[0].explain())
    assert not air.route(hawk, (0, 6), creature=fc.Creature("mole", speed={"walk": 3}))


def test_each_turn_has_every_speed_again():
    """S5-03: on foot 3 m a turn, swimming 6, less what was moved before in the turn."""
    newt = fc.Creature("newt", speed={"walk": 3, "swim": 6})
    route = board(["..wwww.."], "srd5").route((0, 0), (0, 7), creature=newt)
    # In the second turn 1.5 swum leave as much on foot, so the last cell waits for a third.
    assert [turn.cost for turn in route.turns] == [6, 3, 1.5]


def test_a_goal_of_several_cells_or_within_reach():
    field = board(["........."])
    assert ends(field.route((0, 0), [(0, 8), (0, 5)], budget=3)) == [(0, 3), (0, 5)]
    assert ends(field.route((0, 0), fc.within(2, (0, 8)), budget=3)) == [(0, 3), (0, 6)]
    assert ends(field.route((0, 4), [(0, 7), (0, 1)], budget=3)) == [(0, 1)]  # by row and column


def test_at_the_goal_there_is_nothing_to_do():
    field = board(["..."])
    for budget in (None, 0, 2):
        route = field.route((0, 1), (0, 1), budget=budget)
        assert route
        assert (len(route), route.cost, route.cells.tolist()) == (0, 0, [[0, 1]])
    assert str(field.route((0, 1), (0, 1)).explain()).split() == [
        "step", "cell", "cost", "why", "total", "0", "squares",
    ]  # fmt: skip


def test_without_a_limit_it_is_one_turn():
    field = board(["....", ".##.", "...."])
    route = field.route((0, 0), (2, 3))
    assert len(route) == 1
    assert route.turns[0] == field.path((0, 0), (2, 3))


def test_one_speed_without_a_limit():
    """S5-03: on foot without limit, over the chasm 3 m a turn: the way to it uses the wings up."""
    legend = {".": "open", "_": "chasm"}
    half = fc.Creature("half", speed={"walk": None, "fly": 4.5})
    field = fc.Board.from_rows("....__..", legend, rules="srd5")
    route = field.route((0, 0), (0, 7), creature=half)
    assert ends(route)[0][1] <= 3
    assert [turn.cost for turn in route.turns] == [4.5, 6]
    assert len(field.route((0, 0), (0, 3), creature=half)) == 1


def test_the_nearest_approach():
    rows = ["......", ".####.", ".#..#.", ".####."]
    route = board(rows).route((0, 5), (2, 2), budget=2)
    assert not route
    assert route.cost == math.inf
    # Of the squares two steps away all around, the first of the cheapest.
    assert ends(route) == [(0, 4)]
    assert repr(route) == "Route(no way; 1 turn to (0, 4))"
    assert str(route.explain()) == (
        "step  cell      cost  why\n"
        "   1  0,4          1  square 1\n"
        "      turn 1       1\n"
        "      total   no way  squares"
    )


def test_of_equally_near_approaches_the_one_of_fewer_turns():
    """Two squares from the goal: (0, 1) at 4 in the first turn, (0, 5) at 1 in the second."""
    field = board(["..###..", ".#####.", ".#####.", "......."])
    route = field.route((3, 0), (0, 3), budget=9)
    assert ends(route) == [(0, 1)]
    assert [turn.cost for turn in field.route((3, 0), (0, 5), budget=9).turns] == [9, 1]


def test_no_approach_where_the_start_is_the_nearest():
    route = board(["..#.."]).route((0, 1), (0, 4), budget=2)
    assert (bool(route), len(route), route.cost) == (False, 0, math.inf)
    assert route.cells.tolist() == [[0, 1]]
    assert repr(route) == "Route(no way; 0 turns to (0, 1))"


def test_the_approach_to_a_foe_ends_beside_it():
    """PF-04: nobody stops on a foe; the nearest stop is beside it."""
    ada = fc.Token(fc.Creature("Ada", speed=4), (0, 0), side="blue")
    orc = fc.Token("orc", (0, 7), side="red")
    route = board(["........"], tokens=[ada, orc]).route(ada, orc)
    assert not route
    assert ends(route) == [(0, 4), (0, 6)]
    assert board(["........"], tokens=[ada, orc]).route(ada, fc.within(1, orc.cell))


def test_most_turns():
    field = board(["........."])
    route = field.route((0, 0), (0, 8), budget=2, max_turns=3)
    assert not route
    assert ends(route) == [(0, 2), (0, 4), (0, 6)]
    assert field.route((0, 0), (0, 8), budget=2, max_turns=4)
    assert ends(field.route((0, 0), (0, 8), budget=2, max_turns=0)) == []
    assert not field.route((0, 0), (0, 8), max_turns=0)
    for wrong in (-1, 1.5, True, "2"):
        with pytest.raises(fc.ArgumentTypeError, match="max_turns must be a whole number"):
            field.route((0, 0), (0, 8), max_turns=wrong)


def test_wrong_cells_are_refused():
    field = board(["..."])
    with pytest.raises(fc.OutsideMapError, match="goal"):
        field.route((0, 0), (0, 3))
    with pytest.raises(fc.OutsideMapError, match="start"):
        field.route((0, 3), (0, 0))
    with pytest.raises(fc.CostError):
        field.route((0, 0), (0, 2), budget=-1)


def test_large_bodies_go_in_turns():
    """PF-09: a body of two squares a side is named by its top-left square, in every turn."""
    ogre = fc.Token(fc.Creature("ogre", size="large", speed=2), (0, 0))
    field = board(["......", "......"], tokens=[ogre])
    assert ends(field.route(ogre, (0, 4))) == [(0, 2), (0, 4)]
    assert ends(field.route(ogre, (1, 5))) == [(0, 2), (0, 4)]  # the nearest place on the map


def test_hexes_go_in_turns():
    """Three points a turn on plain hexes."""
    field = fc.Board([["open"] * 9], lattice="odd-r", rules="hexwild")
    assert ends(field.route((0, 0), (0, 8), budget=3)) == [(0, 3), (0, 6), (0, 8)]


def test_a_foe_has_one_attack_each_turn():
    """S5-10: the way leaves the reach of the foe in the wall twice: once in each of two turns."""
    ada = fc.Token(fc.Creature("Ada", speed=9), (0, 0), side="blue")
    orc = fc.Token("orc", (1, 2), side="red")
    field = board(["......", "##.##.", "......"], "srd5", tokens=[ada, orc])
    route = field.route(ada, (2, 0))
    assert [len(turn.attacks) for turn in route.turns] == [1, 1]
    text = "at stake in steps 4, 12: opportunity attack by orc"
    assert str(route.explain()).splitlines()[-1] == text
    in_one = field.path(ada, (2, 0)).explain()
    assert str(in_one).splitlines()[-1] == f"{text} (1 in all)"


def test_routes_pickle_and_compare():
    field = board(["......"])
    route = field.route((0, 0), (0, 5), budget=2)
    copy = pickle.loads(pickle.dumps(route))
    assert copy == route
    assert str(copy.explain()) == str(route.explain())
    assert not copy.cells.flags.writeable
    assert route != field.route((0, 0), (0, 5), budget=3)
    assert route != "route"


# ---- Against a plain reference -----------------------------------------------------------------

Place = tuple[int, int, int]


def begun(mover: Mover, place: Place, parity: int = 0) -> Node:
    return (*place, parity if mover.spec.alternates else 0, 0)


class Turns:
    """What is reached turn by turn, each place on its own and nothing left out."""

    def __init__(self, spec: MapSpec, start: tuple[int, int], parity: int, budget: float) -> None:
        self.mover, self.budget = Mover(spec), budget
        first = (0, *start)
        self.known: set[Place] = {first}
        self.turns: list[dict[Place, float]] = []  # of each turn the stops and their least cost
        frontier = {first}
        for number in range(60):
            stops: dict[Place, float] = {}
            for place in frontier:
                node = begun(self.mover, place, 0 if number else parity)
                for end, total in dijkstra(self.mover, {node: 0}, budget).items():
                    if self.mover.may_stop(end):
                        stops[end[:3]] = min(total, stops.get(end[:3], math.inf))
            self.turns.append(stops)
            if stops.keys() <= self.known:
                break
            self.known |= stops.keys()
            frontier = set(self.known)

    def retrace(self, route: fc.Route, parity: int) -> set[Place]:
        """Return where the route may end, each turn made again by the rules; none if illegal."""
        places: set[Place] = {(0, *route.start)}
        for number, turn in enumerate(route.turns):
            here = {begun(self.mover, place, 0 if number else parity): 0.0 for place in places}
            assert tuple(turn.cells[0].tolist()) in {place[1:] for place in places}
            for step in turn.steps:
                after: dict[Node, float] = {}
                for node, total in here.items():
                    for there, price, _, _ in self.mover.moves(node):
                        fits = there[1:3] == step.to and price == step.cost
                        if fits and total + price <= min(self.mover.cap(there), self.budget):
                            after[there] = min(total + price, after.get(there, math.inf))
                here = after
            assert turn.cost <= self.budget
            places = {node[:3] for node in here if self.mover.may_stop(node)}
        return places


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(60)
@given(data=st.data())
def test_routes_are_legal_and_of_the_fewest_turns(lattice, data):
    shape = st.tuples(st.integers(1, 5), st.integers(1, 5))
    spec, query = data.draw(fc_st.movements(lattice, shape=shape, single=True))
    dear = max(int(array.max()) for array in spec.enter)
    query.budget = data.draw(st.sampled_from([dear * n for n in (0, 1, 2, 3, 5)] + [math.inf]))
    cell = st.tuples(st.integers(0, spec.height - 1), st.integers(0, spec.width - 1))
    goals = data.draw(st.lists(cell, min_size=1, max_size=2))
    start = query.starts[0]
    most = data.draw(st.sampled_from([None, None, 1, 2, 3]))
    route = find_route(
        fc_st.step_field(spec),
        start,
        np.array(goals),
        budget=None if math.isinf(query.budget) else query.budget,
        parity=query.parity,
        max_turns=most,
    )
    reference = Turns(spec, start, query.parity, query.budget)
    turns = reference.turns[:most]
    arrived = [[cost for place, cost in stops.items() if place[1:] in goals] for stops in turns]
    fewest = next((n for n, costs in enumerate(arrived, 1) if costs), None)
    if start in goals:
        assert route
        assert len(route) == 0
        return
    assert bool(route) == (fewest is not None)
    assert {tuple(cell) for cell in route.cells.tolist()[:1]} == {start}
    assert reference.retrace(route, query.parity) or not route.turns
    assert [tuple(route.cells[-1].tolist())] == [place for place in (ends(route) or [start])[-1:]]
    if fewest is not None:
        assert len(route) == fewest
        assert ends(route)[-1] in goals
        assert route.turns[-1].cost == min(arrived[fewest - 1])
        assert route.cost == sum(turn.cost for turn in route.turns)
        return
    space = fc.Lattice(spec.lattice)
    near = {goal: 0 for goal in goals}

    def away(place: tuple[int, int]) -> int:
        return min(space.distance(place, goal) for goal in near)

    best = (away(start), 0, 0.0, start)
    known = {(0, *start)}
    for number, stops in enumerate(turns, 1):
        for place, cost in stops.items():
            if place not in known:
                best = min(best, (away(place[1:]), number, cost, place[1:]))
        known |= stops.keys()
    last = ends(route)[-1] if route.turns else start
    spent = route.turns[-1].cost if route.turns else 0
    assert (away(last), len(route), spent, last) == best

"""`octile`: the rules of the MovingAI benchmark, on hand-worked maps."""

from __future__ import annotations

import math

import pytest

from fieldcraft import rules as systems
from fieldcraft.creature import Creature, Token
from fieldcraft.terrain import Border
from rules.boards import MEDIUM, OCTILE, drawn, steps_of

RULES = systems.get("octile")
ROOT = math.sqrt(2)
INF = math.inf


def board(rows, **options):
    return drawn(rows, OCTILE, "square", **options)


def cost(rows, start=(0, 0), goal=None, creature=MEDIUM, **options):
    terrain = board(rows, **options)
    height, width = terrain.shape
    goal = (height - 1, width - 1) if goal is None else goal
    return RULES.step_field(terrain, creature).path(start, goal).cost


def test_straight_steps_cost_1_and_diagonals_the_root_of_2():
    assert cost(["....", "....", "...."]) == pytest.approx(1 + 2 * ROOT, abs=1e-12)
    assert cost(["...."]) == 3


def test_steps_stay_inside_one_group():
    assert cost([".S."]) == 2
    for char in "WT":
        assert cost([f".{char}."]) == INF
        assert cost([f"{char}{char}{char}"]) == 2
        assert cost([f"{char}."]) == INF
        assert cost([f".{char}"]) == INF
    assert cost(["WT"]) == INF
    assert cost(["@@"]) == INF
    assert cost([".@."]) == INF


@pytest.mark.parametrize("char", ["W", "T", "@"])
def test_a_diagonal_needs_both_sides_in_the_same_group(char):
    assert cost([f".{char}", ".."]) == 2
    assert cost(["S.", "S."]) == ROOT
    assert cost([f".{char}", f"{char}."]) == INF


def test_a_diagonal_in_the_water_needs_water_beside_it():
    assert cost(["WW", "WW"]) == ROOT
    assert cost(["W.", "WW"]) == 2
    assert cost(["W.", ".W"]) == INF


def test_tokens_are_not_in_the_way():
    token = Token(Creature("rock"), (0, 1), side="red")
    compiled = steps_of(RULES, board(["..."]), tokens=[token])
    assert compiled.legal((0, 0), (0, 1))
    assert compiled.stop.all()


def test_crossing_makes_a_terrain_ground():
    frog = Creature("frog", crosses=frozenset({"water", "out_of_bounds"}))
    assert cost([".W@."], creature=frog) == 3
    assert cost([".T."], creature=frog) == INF


def test_borders():
    pair = ((0, 0), (0, 1))
    assert cost([".."], borders=[Border(pair, "wall")]) == INF
    assert cost([".."], borders=[Border(pair, "price", price=2)]) == 3
    assert cost(["..", ".."], borders=[Border(pair, "wall")]) == 2
    compiled = steps_of(RULES, board(["..", ".."], borders=[Border(pair, "wall")]))
    assert not compiled.legal((0, 0), (1, 1))


def test_trees_and_what_is_out_of_bounds_end_a_line_of_sight():
    for char, visible in ((".", True), ("S", True), ("W", True), ("T", False), ("@", False)):
        field = RULES.sight_field(board([f".{char}."]), MEDIUM, MEDIUM)
        assert field.sight((0, 0), (0, 2)).visible is visible


def test_a_users_surcharge(tmp_path):
    path = tmp_path / "bog.toml"
    path.write_text('extends = "octile"\n[terrain.swamp]\nentry = 1\nexit = 1\n', "utf-8")
    field = systems.load(path).step_field(board([".S", "SS"]), MEDIUM)
    assert field.path((0, 0), (0, 1)).cost == 2
    assert field.path((0, 1), (0, 0)).cost == 2
    assert field.path((0, 0), (1, 1)).cost == pytest.approx(2 * ROOT)
    step = field.path((0, 0), (1, 1)).steps[0]
    assert sum(part for _, part in step.parts) == pytest.approx(step.cost)

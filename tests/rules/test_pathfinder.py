"""`pathfinder`: PF-01 to PF-06 and PF-13, on hand-worked maps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldcraft import rules as systems
from fieldcraft.creature import Creature, Token
from fieldcraft.errors import MapError
from fieldcraft.terrain import Border
from rules.boards import MEDIUM, of_kind, sight_of, squares, steps_of

RULES = systems.get("pathfinder")
CARRY = RULES.configure(parity="carry")
HERO = Token(Creature("hero", speed="9 m"), (0, 0), side="blue")
RELATIONS = {"blue": "friend", "grey": "neutral", "red": "foe"}
INF = math.inf


def field_of(rows, rules=RULES, creature=MEDIUM, tokens=(), **options):
    return rules.step_field(
        squares(rows, **options),
        creature,
        token=HERO,
        tokens=tokens,
        relation=lambda mine, theirs: RELATIONS[theirs],
    )


def cost(rows, start=(0, 0), goal=None, *, parity=0, stop=True, **options):
    rows = rows.split() if isinstance(rows, str) else rows
    goal = (len(rows) - 1, len(rows[0]) - 1) if goal is None else goal
    return field_of(rows, **options).path(start, goal, parity=parity, stop=stop).cost


def foe(cell, side="red", **options):
    return Token(Creature("other"), cell, side=side, **options)


# Pits are closed and have no corners: they leave one way, along the diagonal.
def diagonal(chars):
    """Return a map whose diagonal holds these terrains, with pits all round."""
    n = len(chars)
    return ["".join(chars[i] if i == j else "o" for j in range(n)) for i in range(n)]


# -- PF-01 --------------------------------------------------------------------------------------


def test_pf01_diagonals_cost_1_2_1_2():
    """PF-01: the first diagonal 1, the second 2, and so on."""
    assert [cost(diagonal("." * n)) for n in range(1, 6)] == [0, 1, 3, 4, 6]
    assert [cost(["." * 5] * 5, goal=(i, i)) for i in range(5)] == [0, 1, 3, 4, 6]


def test_pf01_straight_steps_between_do_not_reset_the_count():
    """PF-01: diagonals of this movement are counted, whatever lies between."""
    # diagonal 1, straight 1, diagonal 2
    assert cost([".ooo", "o..o", "ooo."]) == 4


def test_pf01_parity_goes_in_and_comes_out():
    """PF-01: a movement that goes on after a pause carries its parity on."""
    field = field_of(diagonal("...."))
    assert [field.path((0, 0), (i, i)).parity for i in range(4)] == [0, 1, 0, 1]
    assert [field.path((0, 0), (i, i), parity=1).cost for i in range(4)] == [0, 2, 3, 5]
    assert [field.path((0, 0), (i, i), parity=1).parity for i in range(4)] == [1, 0, 1, 0]
    first = field.path((0, 0), (1, 1))
    assert first.cost + field.path((1, 1), (3, 3), parity=first.parity).cost == 4


def test_pf01_the_cheapest_way_on_is_not_always_the_cheapest_way_there():
    """PF-01: two ways to the middle cost the same, and their parity decides what follows."""
    assert cost("... .~~ .~.") == 4
    assert cost("... .~~ .~.", rules=CARRY) == 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("equidistant", 5),
        ("exact", 2 + 3 * math.sqrt(2)),
        ("approximate", 6.5),
        ("rectilinear", 8),
        ("alternating", 6),
        ("alternating-2", 7),
        ("illegal", 8),
    ],
)
def test_pf01_the_seven_ways_to_count_diagonals(name, expected):
    """PF-01: 5 squares one way and 3 the other, under each name."""
    rules = RULES.configure(diagonals=name)
    assert cost(["." * 6] * 4, rules=rules) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "straight", "slant"),
    [
        ("equidistant", 2, 2),
        ("exact", 2, 2 * math.sqrt(2)),
        ("approximate", 2, 3),
        ("rectilinear", 2, 4),
        ("alternating", 2, 3),
        ("alternating-2", 2, 3),
        ("illegal", 2, INF),
    ],
)
def test_pf01_difficult_squares_under_the_seven_ways(name, straight, slant):
    """PF-01, PF-02: a square of weight 2, straight and diagonal; a low wall adds 2 to either."""
    rules = RULES.configure(diagonals=name)
    assert cost(".~", rules=rules) == straight
    assert cost(diagonal(".~"), rules=rules) == pytest.approx(slant)
    walls = [Border(((0, 0), (0, 1)), "low_wall")]
    assert cost(".~", rules=rules, borders=walls) == straight + 2
    assert cost(diagonal(".~"), rules=rules, borders=walls) == pytest.approx(slant + 2)


def test_pf01_only_alternating_diagonals_have_a_parity():
    """PF-01: 2-1-2-1 counts the other way round."""
    second = RULES.configure(diagonals="alternating-2")
    assert [cost(diagonal("." * n), rules=second) for n in range(1, 6)] == [0, 2, 3, 5, 6]
    assert [cost(diagonal("." * n), rules=second, parity=1) for n in range(1, 5)] == [0, 1, 3, 4]


def test_pf01_four_neighbours_know_no_diagonal():
    """PF-01: on a lattice of four neighbours every way is straight."""
    assert cost(["...", "...", "..."], lattice="square4") == 4


def test_pf01_a_budget_in_metres_makes_whole_squares():
    """PF-01: 9 m are 6 squares, and 10 m too."""
    field = field_of(["." * 9] * 9)
    for text in ("9 m", "10 m"):
        budget = RULES.budget(text)
        reach = field.reach((0, 0), budget.ticks)
        assert max(reach.cost) == 6
        assert (4, 4) in reach
        assert (5, 5) not in reach
    assert RULES.budget("10 m").rest == "1 m"


# -- PF-02 --------------------------------------------------------------------------------------


def test_pf02_difficult_terrain_counts_2_and_3_on_any_diagonal():
    """PF-02: 2 straight; 3 diagonally, first or not."""
    assert cost(".~") == 2
    assert cost(diagonal(".~")) == 3
    assert cost(diagonal(".~"), parity=1) == 3
    assert cost(diagonal(".~~~")) == 9


def test_pf02_squares_of_any_weight():
    """PF-02: weight 3 costs 3, diagonally 4 and 5 in turn; weight 4 costs 4, diagonally 6."""
    assert (cost(".3"), cost(".4")) == (3, 4)
    assert [cost(diagonal("." + "3" * n)) for n in range(1, 5)] == [4, 9, 13, 18]
    assert [cost(diagonal("." + "4" * n)) for n in range(1, 4)] == [6, 12, 18]
    assert cost(".x", legend={"x": "difficult:7"}) == 7
    assert cost(".x", legend={"x": "difficult:1"}) == 1


@pytest.mark.parametrize(
    ("chars", "advances", "carry"),
    [
        (".~.", (3 + 2, 0), (3 + 1, 1)),
        ("..~.", (1 + 3 + 1, 1), (1 + 3 + 2, 0)),
        (".~~.", (3 + 3 + 1, 1), (3 + 3 + 1, 1)),
        (".3.", (4 + 2, 0), (4 + 2, 0)),
        ("..4.", (1 + 6 + 1, 1), (1 + 6 + 2, 0)),
    ],
)
def test_pf02_a_difficult_diagonal_and_its_place_in_the_count(chars, advances, carry):
    """PF-02: every diagonal is counted, or half squares are carried over."""
    for rules, expected in ((RULES, advances), (CARRY, carry)):
        end = (len(chars) - 1, len(chars) - 1)
        path = field_of(diagonal(chars), rules=rules).path((0, 0), end)
        assert (path.cost, path.parity) == expected


# -- PF-03 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("char", ["#", "I"])
def test_pf03_no_diagonal_past_a_corner(char):
    """PF-03: walls and columns bar the diagonal past them, on either side."""
    assert cost([f".{char}", ".."]) == 2
    assert cost(["..", f"{char}."]) == 2
    assert cost([f".{char}", f"{char}."]) == INF


@pytest.mark.parametrize("char", ["o", "c", "l"])
def test_pf03_a_diagonal_past_what_is_closed_but_flat(char):
    """PF-03: pits, chasms and lava are not entered and have no corners."""
    assert cost([f".{char}", f"{char}."]) == 1
    assert cost([f".{char}."], goal=(0, 2)) == INF


def test_pf03_a_diagonal_past_a_creature_even_an_enemy():
    """PF-03: occupied squares never count as corners."""
    assert cost(["..", ".."], tokens=[foe((0, 1)), foe((1, 0))]) == 1


def test_pf03_corners_is_a_parameter():
    """PF-03: "either" asks for one free side, "free" for none."""
    either, free = RULES.configure(corners="either"), RULES.configure(corners="free")
    one, two = [".#", ".."], [".#", "#."]
    assert (cost(one), cost(one, rules=either), cost(one, rules=free)) == (2, 1, 1)
    assert (cost(two), cost(two, rules=either), cost(two, rules=free)) == (INF, INF, 1)


@pytest.mark.parametrize(
    "pair",
    [((0, 0), (0, 1)), ((0, 1), (1, 1)), ((0, 0), (1, 0)), ((1, 0), (1, 1))],
)
def test_pf03_a_blocking_border_at_the_corner_bars_the_diagonal(pair):
    """PF-03: any of the four edges round the crossing point, whatever `corners` says."""
    for rules in (RULES, RULES.configure(corners="free")):
        compiled = steps_of(rules, squares(["..", ".."], borders=[Border(pair, "wall")]))
        assert not compiled.legal((0, 0), (1, 1))
        assert not compiled.legal((1, 1), (0, 0))
        compiled = steps_of(rules, squares(["..", ".."], borders=[Border(pair, "door", open=True)]))
        assert compiled.legal((0, 0), (1, 1))


def test_pf03_walking_through_walls():
    """PF-03: a creature that crosses walls finds no corners there."""
    ghost = Creature("ghost", crosses=frozenset({"wall"}))
    assert cost(".#.", goal=(0, 2), creature=ghost) == 2
    assert cost([".#", "#."], creature=ghost) == 1
    assert cost([".I", "I."], creature=ghost) == INF


# -- PF-04, PF-05, PF-06 ------------------------------------------------------------------------


def test_pf04_friends_and_neutrals_are_passed_enemies_are_not():
    """PF-04: friends may be passed, and neutrals as friends; enemies not."""
    for side, expected in (("blue", 3), ("grey", 3), ("red", INF)):
        assert cost("...", tokens=[foe((0, 1), side)]) == expected


def test_pf04_a_helpless_enemy_is_passed():
    """PF-04: enemies may be passed when they are helpless."""
    assert cost("...", tokens=[foe((0, 1), helpless=True)]) == 3
    both = [foe((0, 1), helpless=True), foe((0, 1))]
    assert cost("...", tokens=both) == INF, "another enemy stands there too"


def test_pf04_tumbling_through_enemies():
    """PF-04: with a test of Acrobatics enemies' squares are passed, and the step says so."""
    rules = RULES.configure(tumble=True)
    assert cost("...", tokens=[foe((0, 1))], rules=rules) == 3
    field = field_of("...", rules=rules, tokens=[foe((0, 1))])
    step = field.path((0, 0), (0, 2)).steps[0]
    assert sorted(step.parts) == [("enemy in the square (Acrobatics)", 1), ("square", 1)]
    assert not field.path((0, 0), (0, 1)), "and nobody stops there (PF-06)"


@pytest.mark.parametrize("side", ["blue", "grey"])
def test_pf05_any_square_with_a_creature_counts_as_2(side):
    """PF-05: 2 straight, 3 on any diagonal."""
    assert cost("..", tokens=[foe((0, 1), side)], stop=False) == 2
    for parity in (0, 1):
        tokens = [foe((1, 1), side)]
        assert cost(diagonal(".."), tokens=tokens, stop=False, parity=parity) == 3


def test_pf05_helpless_and_tumbled_enemies_count_as_2_as_well():
    """PF-05: a square with any creature in it."""
    assert cost("..", tokens=[foe((0, 1), helpless=True)]) == 2
    tumble = RULES.configure(tumble=True)
    assert cost("..", tokens=[foe((0, 1))], rules=tumble, stop=False) == 2
    two = [foe((0, 1), "blue"), foe((0, 1), "grey")]
    assert cost("..", tokens=two, stop=False) == 2, "two creatures in a square count once"


def test_pf05_leaving_an_occupied_square_costs_nothing_more():
    """PF-05: the square entered counts."""
    assert cost("..", tokens=[foe((0, 0), "blue")]) == 1


def test_pf06_no_stop_on_a_creature_unless_it_is_helpless():
    """PF-06: friends are passed but not stopped on; the helpless are."""
    tokens = [foe((0, 1), "blue"), foe((0, 2), "grey"), foe((0, 3), helpless=True)]
    reach = field_of(".....", tokens=tokens).reach((0, 0), 8)
    assert reach.cells.tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]
    assert reach.cost.tolist() == [0, 2, 4, 6, 7]
    assert reach.can_stop.tolist() == [True, False, False, True, True]
    helpless = [foe((0, 1), "blue", helpless=True), foe((0, 1), "blue")]
    assert not field_of("..", tokens=helpless).path((0, 0), (0, 1))


def test_pf04_a_large_body_is_in_the_way_with_all_its_squares():
    """PF-04: other tokens cover n x n squares from their top left (PF-09)."""
    for size, n in (("large", 2), ("huge", 3), ("gargantuan", 4)):
        ogre = Token(Creature("ogre", size=size), (1, 1), side="red")
        compiled = steps_of(
            RULES, squares(["." * 6] * 6), token=HERO, tokens=[ogre],
            relation=lambda mine, theirs: "foe",
        )  # fmt: skip
        taken = {(1 + i, 1 + j) for i in range(n) for j in range(n)}
        assert set(map(tuple, np.argwhere(~compiled.stop).tolist())) == taken
        entered = {b for _, b in compiled.legal_pairs()}
        assert entered == {(i, j) for i in range(6) for j in range(6)} - taken


# -- PF-13 --------------------------------------------------------------------------------------


def test_pf13_several_causes_multiply_or_the_worst_counts():
    """PF-13: difficult and occupied count as 4, diagonally 6; or as 2 and 3."""
    friend = [foe((0, 1), "blue")]
    worst = RULES.configure(stack="worst")
    assert cost(".~", tokens=friend, stop=False) == 4
    assert cost(".~", tokens=friend, stop=False, rules=worst) == 2
    assert cost(".3", tokens=friend, stop=False) == 6
    assert cost(".3", tokens=friend, stop=False, rules=worst) == 3
    friend = [foe((1, 1), "blue")]
    assert cost(diagonal(".~"), tokens=friend, stop=False) == 6
    assert cost(diagonal(".~"), tokens=friend, stop=False, rules=worst) == 3


def test_pf13_two_terrains_in_a_square():
    """PF-13: three causes are 8, the worst of them 3."""
    legend = {"x": ("difficult", "difficult"), "y": ("difficult", "difficult:3")}
    worst = RULES.configure(stack="worst")
    assert (cost(".x", legend=legend), cost(".x", legend=legend, rules=worst)) == (4, 2)
    assert (cost(".y", legend=legend), cost(".y", legend=legend, rules=worst)) == (6, 3)
    friend = [foe((0, 1), "blue")]
    assert cost(".x", legend=legend, tokens=friend, stop=False) == 8


def test_pf13_friends_squares_may_cost_as_usual():
    """PF-13: occupied="normal": friends and neutrals cost as usual, enemies count as 2."""
    rules = RULES.configure(occupied="normal")
    for side in ("blue", "grey"):
        assert cost("...", tokens=[foe((0, 1), side)], rules=rules) == 2
    assert cost("...", tokens=[foe((0, 1), helpless=True)], rules=rules) == 3


def test_pf13_borders_always_add():
    """PF-13: a low wall adds 2 to whatever the square beyond costs."""
    wall = [Border(((0, 0), (0, 1)), "low_wall")]
    for rules in (RULES, RULES.configure(stack="worst")):
        assert cost("..", borders=wall, rules=rules) == 3
        assert cost(".~", borders=wall, rules=rules) == 4
        assert cost("..", borders=wall, start=(0, 1), goal=(0, 0), rules=rules) == 3


def test_pf13_of_the_borders_round_a_diagonal_the_dearest_is_paid_once():
    """PF-13: a low wall of 2 and a price of 5 round one point: 5 more, each way."""
    low = Border(((0, 0), (0, 1)), "low_wall")
    dear = Border(((1, 1), (1, 0)), "price", price=5)
    assert cost(diagonal(".."), borders=[low]) == 3
    assert cost(diagonal(".."), borders=[low], start=(1, 1), goal=(0, 0)) == 3
    assert cost(diagonal(".."), borders=[low, dear]) == 6
    compiled = steps_of(RULES, squares(["...", "...", "..."], borders=[low]))
    priced = {(a, b) for a, b in compiled.legal_pairs() if compiled.kinds_of(a, b)["border"] == 2}
    ends = [((0, 0), (0, 1)), ((0, 0), (1, 1)), ((0, 1), (1, 0))]
    assert priced == {*ends, *(pair[::-1] for pair in ends)}


# -- borders, bodies and the rest ---------------------------------------------------------------


def test_one_way_borders_and_drops():
    """PF-03: what may be passed one way bars the other, and its diagonals."""
    pair = ((0, 1), (1, 1))
    for border in (Border(pair, "drop"), Border(pair, "price", price=0, one_way=True)):
        compiled = steps_of(RULES, squares(["...", "..."], borders=[border]))
        assert compiled.legal(*pair)
        assert not compiled.legal(*pair[::-1])
        assert compiled.legal((0, 0), (1, 1))
        assert not compiled.legal((1, 1), (0, 0))
        assert not compiled.legal((1, 1), (0, 2))
        assert not compiled.legal((1, 0), (0, 1))
        assert compiled.legal((0, 1), (1, 0))
    assert cost(["..", ".."], goal=(0, 1), borders=[Border(((0, 0), (0, 1)), "low_wall")],
                creature=Creature(crosses=frozenset({"low_wall"}))) == 1  # fmt: skip


def test_crossing_difficult_ground():
    """PF-02: a creature that crosses difficult ground pays plain squares, numbered ones too."""
    elf = Creature("elf", crosses=frozenset({"difficult"}))
    assert cost(".~3", creature=elf) == 2
    narrow = Creature("elf", crosses=frozenset({"difficult:3"}))
    assert cost(".~3", creature=narrow) == 3


def test_steps_say_what_they_cost_and_why():
    """PF-02, PF-05, PF-13: the parts of a step add up, the diagonal's share among them."""
    tokens = [foe((1, 1), "blue")]
    wall = [Border(((0, 0), (0, 1)), "low_wall")]
    field = field_of(diagonal(".~."), tokens=tokens, borders=wall)
    path = field.path((0, 0), (2, 2))
    assert sorted(path.steps[0].parts) == [
        ("creature in the square", 2),
        ("diagonal", 2),
        ("difficult", 1),
        ("low wall", 2),
        ("square", 1),
    ]
    assert [step.cost for step in path.steps] == [8, 2]
    half = field_of(diagonal(".~"), rules=RULES.configure(diagonals="approximate"), borders=wall)
    assert sorted(half.path((0, 0), (1, 1)).steps[0].parts) == [
        ("diagonal", 1),
        ("difficult", 1),
        ("low wall", 2),
        ("square", 1),
    ]


def test_a_rule_of_ones_own_with_an_exit(tmp_path):
    """PF-02: a user's terrain may cost on leaving too, in every way of counting."""
    path = tmp_path / "tar.toml"
    path.write_text(
        'extends = "pathfinder"\n[terrain.tar]\nentry = 2\nexit = 1\nstop = false\n', "utf-8"
    )
    rules = systems.load(path)
    for name in ("alternating", "approximate", "exact"):
        tar = rules.configure(diagonals=name)
        legend = {"t": "tar"}
        assert cost(".t.", rules=tar, legend=legend) == 5
        assert cost(".t", rules=tar, legend=legend) == INF
        assert cost(".t", rules=tar, legend=legend, stop=False) == 3


def test_sight_on_squares():
    """PF-03: walls and columns end a line, pits do not; light is the only malus; corners close."""

    def see(rows, a, b, rules=RULES, **options):
        return rules.sight_field(squares(rows, **options), MEDIUM, MEDIUM).sight(a, b)

    for char, visible in (("#", False), ("I", False), ("o", True), ("~", True), ("c", True)):
        assert see([f".{char}."], (0, 0), (0, 2)).visible is visible
    assert see(["..."], (0, 0), (0, 2), light=-3).malus == -3
    assert see(["..."], (0, 0), (0, 2), light=-3).spell_failure == 0
    corner = [".#", "#."]
    assert not see(corner, (0, 0), (1, 1))
    assert see(corner, (0, 0), (1, 1), rules=RULES.configure(sight_corners="open"))
    wall = [Border(((0, 0), (0, 1)), "wall")]
    assert not see(["..."], (0, 0), (0, 2), borders=wall)
    low = [Border(((0, 0), (0, 1)), "low_wall")]
    assert see(["..."], (0, 0), (0, 2), borders=low)
    assert sight_of(RULES, of_kind("wall", "square", "open")).threshold is None


def test_a_border_price_in_half_squares_only_where_a_tick_is_half_a_square():
    """PF-13: a price must be whole ticks."""
    wall = [Border(((0, 0), (0, 1)), "price", price=0.5)]
    with pytest.raises(MapError, match="no whole number of ticks"):
        cost("..", borders=wall)
    assert cost("..", borders=wall, rules=RULES.configure(diagonals="approximate")) == 1.5

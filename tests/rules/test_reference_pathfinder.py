"""`pathfinder`'s movement against the slow reference: worked maps by number, and random ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reference import cases, pathfinder
from reference.cases import BorderSpec, Case, TokenSpec, drawn
from strategies import examples

LEGEND = {
    ".": "open",
    "~": "difficult",
    "3": "difficult:3",
    "#": "wall",
    "o": "pit",
    "b": "low_obstacle",
    "B": ("difficult", "low_obstacle"),
    "w": "water",
    "h": "narrow:0.75",
    "q": "narrow:0.3",
    "x": "narrow:0.25",
    "H": "narrow:1.5",
    "Q": "narrow:0.6",
    "X": "narrow:0.5",
    "d": ("difficult", "narrow:0.75"),
}


def answer(case: Case, budget=None, parity=0):
    """Return the reference's answer for the first token, which the library must share."""
    expected = pathfinder.reach(case, case.tokens[0], budget, parity)
    board = cases.board_of(case, "pathfinder")
    reach = board.reach(board.tokens[0], budget=budget, parity=parity)
    assert cases.differences(expected, cases.answer_of(reach)) == [], case
    return expected


def costs(rows, mover=None, others=(), budget=None, came_in=0, borders=(), **parameters):
    """Return what `answer` finds on a drawing; the mover stands at the top left, on side blue."""
    mover = TokenSpec("mover", (0, 0), "blue", **(mover or {}))
    relations = {frozenset(("blue", "grey")): "neutral"}
    case = drawn(rows, LEGEND, borders=tuple(borders), parameters=parameters, relations=relations)
    case.tokens = (mover, *others)
    return answer(case, budget, came_in)


def cost(found, *cell):
    return found[cell][0] if cell in found else None


def stops(found):
    return {cell for cell, (_, stop, _) in found.items() if stop}


def other(cell, side="red", **options):
    return TokenSpec(f"other {cell}", cell, side, **options)


# -- worked by hand -----------------------------------------------------------------------------


def test_pf01_pf02_the_reference_counts_diagonals_as_printed():
    """PF-01, PF-02: 1, 2, 1 on open squares; 3 into a difficult one, which is counted."""
    found = costs([".ooo", "o.oo", "oo.o", "ooo."])
    assert [found[i, i] for i in range(4)] == [
        (0, True, 0),
        (1, True, 1),
        (3, True, 0),
        (4, True, 1),
    ]
    rows = [".ooo", "o~oo", "oo.o", "ooo."]
    assert [cost(costs(rows), i, i) for i in range(4)] == [0, 3, 5, 6]
    assert [cost(costs(rows, parity="carry"), i, i) for i in range(4)] == [0, 3, 4, 6]


def test_pf08_a_low_obstacle_is_entered_with_movement_to_leave_it():
    """PF-08: 2 to enter and 1 to leave; nobody ends on it, nobody goes in just to come back."""
    assert costs(".b.", budget=3) == {
        (0, 0): (0, True, 0),
        (0, 1): (2, False, 0),
        (0, 2): (3, True, 0),
    }
    assert set(costs(".b.", budget=2)) == {(0, 0)}
    assert set(costs(".b")) == {(0, 0)}
    assert set(costs(".bo")) == {(0, 0)}


def test_pf08_of_two_low_obstacles_the_way_out_leads_over_both():
    """PF-08: 2 + 2 + 1 or not at all; one may also leave to the side."""
    assert stops(costs(".bb.", budget=5)) == {(0, 0), (0, 3)}
    assert set(costs(".bb.", budget=4)) == {(0, 0)}
    assert set(costs([".bb.", "o.oo"], budget=3)) == {(0, 0), (0, 1), (1, 1)}


def test_pf08_whoever_comes_by_a_corner_does_not_leave_by_it():
    """PF-08: the two squares that share the corner do not count as the other side."""
    assert set(costs([".oo", "obo", "ooo"])) == {(0, 0)}
    assert set(costs([".o.", "obo", "ooo"])) == {(0, 0), (1, 1), (0, 2)}
    # Down the left side and back over the corner would be the only way out.
    assert set(costs(["..", ".b"])) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_pf08_low_obstacles_stack_and_cost_3_diagonally():
    """PF-08, PF-13: 4 on difficult ground; 3 and 6 diagonally, whatever came before."""
    assert cost(costs(".B."), 0, 1) == 4
    assert cost(costs(".B.", stack="worst"), 0, 1) == 2
    for char, price in (("b", 3), ("B", 6)):
        for parity in (0, 1):
            mover = TokenSpec("mover", (0, 0))
            case = drawn([".oo", f"o{char}o", "oo."], LEGEND, tokens=(mover,))
            assert cost(answer(case, parity=parity), 1, 1) == price


def test_pf08_a_large_body_stops_on_no_square_of_a_low_obstacle():
    """PF-08: with its front on the obstacle it needs three steps to be clear of it."""
    rows = ["..b...", "......"]
    large = {"size": "large"}
    assert stops(costs(rows, large)) == {(0, 0), (0, 3), (0, 4)}
    assert set(costs(rows, large, budget=4)) == {(0, 0)}
    assert cost(costs(rows, large, budget=5), 0, 3) == 5


def test_pf08_a_low_wall_is_paid_besides():
    """PF-08: 2 for the wall and 1 for the square beyond, both or neither."""
    wall = [BorderSpec(((0, 0), (0, 1)), "low_wall")]
    assert cost(costs("..", borders=wall), 0, 1) == 3
    assert set(costs("..", borders=wall, budget=2)) == {(0, 0)}
    large = costs(
        ["....", "...."], {"size": "large"}, borders=[BorderSpec(((0, 1), (0, 2)), "low_wall")]
    )
    assert [cost(large, 0, col) for col in range(3)] == [0, 3, 4]


def test_pf09_a_body_pays_by_the_squares_it_covers():
    """PF-09: two by two over one difficult square, four steps, in the four ways of counting."""
    rows = ["..~...", "......"]
    large = {"size": "large"}
    for way, total in {"worst": 6, "worst-new": 5, "median": 4, "anchor": 5}.items():
        assert cost(costs(rows, large, footprint_cost=way), 0, 4) == total
    assert cost(costs(rows, large), 0, 4) == 6


def test_pf09_corners_hold_for_the_whole_body():
    """PF-09: a wall that the body would brush on its way bars the diagonal."""
    case = drawn(["#..", "...", "..."], LEGEND, tokens=(TokenSpec("ogre", (1, 0), size="large"),))
    assert cost(answer(case), 0, 1) == 2
    assert cost(answer(case.replace(parameters={"corners": "either"})), 0, 1) == 1
    assert cost(answer(case.replace(parameters={"corners": "free"})), 0, 1) == 1
    case = drawn(["#..", "...", "..#"], LEGEND, tokens=(TokenSpec("ogre", (1, 0), size="large"),))
    assert set(answer(case.replace(parameters={"squeeze": False}))) == {(1, 0)}
    free = case.replace(parameters={"squeeze": False, "corners": "free"})
    assert cost(answer(free), 0, 1) == 1


def test_pf09_only_squares_newly_covered_must_be_free():
    """PF-09: who stands partly on an enemy walks off; nobody walks on."""
    foe = [other((0, 0))]
    found = costs(["....", "...."], {"size": "large"}, foe)
    assert {cell: value[:2] for cell, value in found.items()} == {
        (0, 0): (0, False), (0, 1): (1, True), (0, 2): (2, True),
    }  # fmt: skip
    assert set(costs(["....", "...."], {"size": "large"}, [other((1, 3))])) == {(0, 0), (0, 1)}


def test_pf10_a_large_creature_squeezes_through_a_corridor_of_one():
    """PF-10: five windows at 2 and the last at 1; it may stop inside."""
    rows = ["..####..", "........"]
    found = costs(rows, {"size": "large"})
    assert [cost(found, 0, col) for col in range(7)] == [0, 2, 4, 6, 8, 10, 11]
    assert stops(found) == set(found)
    assert set(costs(rows, {"size": "large"}, squeeze=False)) == {(0, 0)}


def test_pf10_half_of_three_and_of_four_is_two():
    """PF-10: a corridor of 2 lets Huge and Gargantuan through, one of 1 does not."""
    for size, across in (("huge", 3), ("gargantuan", 4)):
        for corridor in (1, 2):
            walls = "." * across + "#" * 4 + "." * across
            rows = [walls] * (across - corridor) + ["." * len(walls)] * corridor
            found = costs(rows, {"size": size})
            assert ((0, len(walls) - across) in found) is (corridor == 2)


def test_pf10_a_squeezed_body_passes_no_wall():
    """PF-10: its free squares on either side of a wall do not connect; those of a door do."""
    rows = ["..", "..", "##", "..", ".."]
    assert set(costs(rows, {"size": "large"})) == {(0, 0), (1, 0)}
    assert (3, 0) in costs(["..", "..", "#.", "..", ".."], {"size": "large"})
    thin = [BorderSpec(((1, col), (2, col))) for col in (0, 1)]
    assert (2, 0) not in costs([".."] * 4, {"size": "large"}, borders=thin)
    assert (2, 0) in costs([".."] * 4, {"size": "large"}, borders=thin[:1])


def test_pf10_narrow_squares_by_size():
    """PF-10: 1.5 m free, 0.75 and 0.30 at double price, less closed; Large in proportion."""
    assert [cost(costs(f".{char}"), 0, 1) for char in "Hhqx"] == [1, 2, 2, None]
    assert cost(costs(".h", squeeze=False), 0, 1) is None
    large = {"size": "large"}
    # In one square's row and column the rest of the window is open, so a closed one is squeezed by.
    both = [[f"..{char}", f"..{char}"] for char in "HhQX"]
    assert [cost(costs(rows, large), 0, 1) for rows in both] == [2, 2, 2, 2]
    closed = ["..XX", "..XX"]
    assert (0, 2) not in costs(closed, large)


def test_pf13_squeezing_is_one_more_cause():
    """PF-13: difficult and narrow count as 4, or as 2; occupied as well 8."""
    assert cost(costs(".d"), 0, 1) == 4
    assert cost(costs(".d", stack="worst"), 0, 1) == 2
    friend = [other((0, 1), "blue")]
    assert cost(costs(".d", None, friend), 0, 1) == 8


def test_pf11_water_asks_for_a_swim_speed():
    """PF-11: one total against each speed's cap."""
    assert set(costs(".w.")) == {(0, 0)}
    found = costs("..www", {"speed": {"walk": 6, "swim": 3}})
    assert [cost(found, 0, col) for col in range(5)] == [0, 1, 2, 3, None]
    found = costs(".ww....", {"speed": {"walk": 4, "swim": 9}})
    assert [cost(found, 0, col) for col in range(7)] == [0, 1, 2, 3, 4, None, None]
    found = costs(".w.w", {"speed": {"walk": 1, "swim": 9}})
    assert set(found) == {(0, 0), (0, 1)}


def test_pf11_a_body_needs_what_its_worst_square_asks():
    """PF-11: half in the water, it swims."""
    rows = ["..ww", "...."]
    found = costs(rows, {"size": "large", "speed": {"walk": 6, "swim": 1}})
    # Past the pool only squeezed, on the shore.
    assert [cost(found, 0, col) for col in range(3)] == [0, 1, 3]
    found = costs(rows, {"size": "large", "speed": {"walk": 6, "swim": 6}})
    assert [cost(found, 0, col) for col in range(3)] == [0, 1, 2]


def test_pf11_flyers_mind_neither_ground_nor_those_on_it():
    """PF-11: pits, difficult squares, low obstacles; a foe on the ground, not one in the air."""
    speeds = {"speed": {"walk": 2, "fly": 5}}
    found = costs(".o~b..#", speeds, [other((0, 2))])
    assert {cell[1]: value for cell, value in found.items()} == {
        i: (i, True, 0) for i in range(6)
    }  # fmt: skip
    assert set(costs("...", speeds, [other((0, 1), flying=True)])) == {(0, 0), (0, 1), (0, 2)}
    assert set(costs(".oo", speeds, [other((0, 1), flying=True)])) == {(0, 0)}
    assert set(costs("...", None, [other((0, 1), flying=True)])) == {(0, 0), (0, 1), (0, 2)}


def test_pf11_a_speed_of_0_is_none():
    """PF-11: nobody hovers over a friend, or digs in below, without a speed for it."""
    friend = [other((0, 0), "blue")]
    for mode in ("fly", "burrow"):
        assert costs(".", {"speed": {"walk": 9, mode: 0}}, friend) == {(0, 0): (0, False, 0)}
        assert costs(".", {"speed": {"walk": 9, mode: 1}}, friend) == {(0, 0): (0, True, 0)}


def test_pf11_burrowers_go_under_what_can_be_walked():
    """PF-11: plain price under difficult ground and under a foe; no way under walls and pits."""
    speeds = {"speed": {"walk": 1, "burrow": 4}}
    found = costs(".~~.", speeds, [other((0, 2))])
    assert found == {(0, i): (i, True, 0) for i in range(4)}
    for char in "#ow":
        assert set(costs(f".{char}.", speeds)) == {(0, 0)}


def test_pf11_speeds_are_used_one_after_another():
    """PF-11: swim 4, walk 2, swim 6; a longer swim first uses up the walking speed."""
    speeds = {"speed": {"walk": 6, "swim": 12}}
    found = costs(".wwww..wwwwwwww", speeds)
    assert cost(found, 0, 12) == 12
    assert (0, 13) not in found
    assert set(costs(".wwwww..w", speeds)) == {(0, col) for col in range(7)}


def standing(rows, cell, size="large", others=(), borders=(), **parameters):
    """Return what `answer` finds for a body that stands somewhere."""
    mover = TokenSpec("mover", cell, "blue", size, parameters.pop("speed", None))
    case = drawn(rows, LEGEND, borders=tuple(borders), parameters=parameters)
    case.tokens = (mover, *others)
    return answer(case)


def test_pf08_a_squeezed_start_on_a_low_obstacle_is_left():
    """PF-08, PF-10: the start is always in the reach, and its steps depend on where they lead."""
    found = standing(["....", "b#.."], (0, 0))
    assert [cost(found, 0, col) for col in range(3)] == [0, 2, 3]


def test_pf08_the_way_out_is_within_the_speeds():
    """PF-08: at 4 spent it cannot fly off with a speed of 2, and on foot it would take 7."""
    rows = ["....", "b.#.", "...."]
    assert (0, 0) not in standing(rows, (0, 2), speed={"walk": 6, "fly": 2})
    assert (0, 0) in standing(rows, (0, 2), speed={"walk": 7, "fly": 2})


def test_pf09_the_ways_of_counting_know_no_squeezing():
    """PF-09, PF-10: squeezed it is the worst square covered, twice, in every way of counting."""
    rows = [".....", "..#..", "~....", "....."]
    for way in ("worst", "worst-new", "median", "anchor"):
        assert cost(standing(["...", "o~."], (0, 1), footprint_cost=way), 0, 0) == 4
        assert cost(standing(rows, (0, 1), "gargantuan", footprint_cost=way), 0, 0) == 4


def test_pf09_who_starts_on_an_enemy_squeezes_away():
    """PF-09, PF-10: a door stands between; what it covers anew is free."""
    door = [BorderSpec(((0, 1), (0, 2)), "door")]
    found = standing(["....", "...."], (0, 0), others=[other((0, 0))], borders=door)
    assert [cost(found, 0, col) for col in range(3)] == [0, 2, 3]


def test_pf10_a_start_where_nothing_fits():
    """PF-10: inside a wall, or over two pits; the steps depend on where they lead."""
    assert cost(standing([".##", ".##"], (0, 1)), 0, 0) == 2
    assert cost(standing([".o..", "....", ".o.."], (0, 0), "huge"), 0, 1) == 2


def test_pf10_nobody_squeezes_past_an_enemy():
    """PF-10: not where it bars the way; one on a square that is closed anyhow does not matter."""
    rows = ["....", "..##"]
    assert (0, 1) in standing(rows, (0, 0), others=[other((1, 2))])
    assert (0, 1) not in standing(["...", "..."], (0, 0), others=[other((1, 2))])
    assert (0, 1) not in standing(["..#", "..."], (0, 0), others=[other((1, 2))])


def test_pf10_no_way_over_a_corner_without_diagonals():
    """PF-10: inside the two windows it makes legal steps only."""
    rows = ["...", "##.", "..o"]
    assert cost(standing(rows, (0, 0), corners="free"), 1, 0) == 5
    assert (1, 0) not in standing(rows, (0, 0), corners="free", diagonals="illegal")


def test_pf11_another_speed_while_squeezed():
    """PF-10, PF-11: it takes off, lands and walks on; in the air pits leave room."""
    found = standing(["...", ".o."], (0, 0), speed={"walk": None, "fly": None})
    assert cost(found, 0, 1) == 1
    found = standing(["....", ".#b."], (0, 2), speed={"walk": None, "fly": 3})
    assert cost(found, 0, 0) == 4, "flying 2 and walking 2, each squeezed"
    for speed in ({"swim": 9}, {"walk": 1, "swim": 9}):
        found = standing(["..", "o.", ".w"], (0, 0), speed=speed)
        assert cost(found, 1, 0) == 2, "squeezed on the shore, then squeezed in the water"


def test_pf11_burrowers_pass_below_low_walls():
    """PF-11: nothing that costs more on the ground does below; what closes it does."""
    pair = ((0, 0), (0, 1))
    for kind, price in (("low_wall", 1), ("wall", None)):
        found = costs("..", {"speed": {"burrow": 6}}, borders=[BorderSpec(pair, kind)])
        assert cost(found, 0, 1) == price


def test_pf11_a_budget_replaces_the_speeds():
    """PF-11: a number that of every mode, a mapping each."""
    speeds = {"speed": {"walk": 1, "swim": 1}}
    assert [cost(costs("..ww", speeds, budget=3), 0, col) for col in range(4)] == [0, 1, 2, 3]
    assert set(costs("..ww", speeds, budget={"walk": 6, "swim": 2})) == {(0, 0), (0, 1), (0, 2)}
    assert set(costs("....", None, budget="3 m")) == {(0, 0), (0, 1), (0, 2)}


# -- drawn at random ----------------------------------------------------------------------------

PALETTE = [
    ("difficult",), ("difficult:3",), ("wall",), ("pit",), ("column",), ("low_obstacle",),
    ("water",), ("narrow:0.75",), ("narrow:0.3",), ("narrow:1.5",), ("narrow:0.2",),
    ("difficult", "low_obstacle"), ("difficult", "narrow:0.75"), ("difficult", "difficult:3"),
]  # fmt: skip
BORDERS = [
    {}, {}, {"kind": "low_wall"}, {"kind": "low_wall"}, {"kind": "door"},
    {"kind": "door", "open": True}, {"kind": "price", "price": 3},
]  # fmt: skip
HEAVY = ("tiny", "medium", "medium", "large", "large", "large", "huge", "huge", "gargantuan")
amounts = st.one_of(st.integers(0, 14), st.sampled_from(("9 m", "10 m", "20 ft", "3 sq")))
MODES = (
    ("walk", "swim"), ("walk", "fly"), ("walk", "burrow"), ("swim",), ("fly",), ("walk", "climb"),
    ("walk", "swim", "fly"), ("swim", "burrow"), ("walk", "swim", "climb", "burrow", "fly"),
)  # fmt: skip


@st.composite
def movers(draw: st.DrawFn):
    found = {"size": draw(st.sampled_from(HEAVY))}
    if draw(st.booleans()):
        modes = draw(st.sampled_from(MODES))
        found["speed"] = {mode: draw(st.one_of(st.integers(1, 14), st.none())) for mode in modes}
        found["flying"] = "fly" in modes and draw(st.booleans())
    else:
        found["speed"] = draw(st.one_of(st.none(), amounts))
    return found


others = cases.fields_of(
    size=st.sampled_from(cases.SIZES), helpless=st.booleans(), flying=st.booleans()
)
parameters = cases.fields_of(
    diagonals=st.sampled_from(
        ("alternating", "alternating", "alternating-2", "equidistant", "approximate", "illegal")
    ),
    parity=st.sampled_from(("advances", "carry")),
    corners=st.sampled_from(("both", "either", "free")),
    stack=st.sampled_from(("multiply", "worst")),
    occupied=st.sampled_from(("double", "normal")),
    tumble=st.booleans(),
    footprint_cost=st.sampled_from(("worst", "worst-new", "median", "anchor")),
    squeeze=st.booleans(),
)
SQUARES = ("square", "square", "square", "square4")
everything = cases.cases(
    palette=PALETTE,
    lattices=SQUARES,
    mover=movers(),
    other=others,
    border_palette=BORDERS,
    parameters=parameters,
)
corridors = cases.cases(
    palette=[("wall",), ("wall",), ("pit",), ("difficult",), ("narrow:0.75",), ("narrow:2",)],
    shape=cases.shapes(8),
    mover=st.fixed_dictionaries({"size": st.sampled_from(("large", "huge", "gargantuan"))}),
    other=others,
    most_others=2,
    border_palette=BORDERS[:4],
    parameters=parameters,
)
obstacles = cases.cases(
    palette=[("low_obstacle",), ("low_obstacle",), ("pit",), ("difficult", "low_obstacle")],
    lattices=SQUARES,
    mover=cases.fields_of(
        size=st.sampled_from(("medium", "large")),
        speed=st.one_of(
            st.integers(0, 9),
            st.fixed_dictionaries({"walk": st.integers(1, 9), "fly": st.integers(1, 9)}),
        ),
    ),
    other=others,
    border_palette=BORDERS[1:4],
    parameters=parameters,
)
budgets = st.one_of(st.none(), st.none(), st.integers(0, 12))
parities = st.integers(0, 1)


@given(everything, budgets, parities)
@examples(150)
def test_random_boards_equal_the_reference(case, budget, parity):
    """PF-01 to PF-06, PF-08 to PF-11, PF-13: cells, costs, stops and parities are equal."""
    answer(case.settled(), budget, parity)


@given(corridors, budgets, parities)
@examples(100)
def test_random_corridors_equal_the_reference(case, budget, parity):
    """PF-09, PF-10: large bodies between walls."""
    answer(case.settled(), budget, parity)


@given(obstacles, budgets, parities)
@examples(100)
def test_random_low_obstacles_equal_the_reference(case, budget, parity):
    """PF-08: who may enter, and what it costs."""
    answer(case.settled(), budget, parity)

"""`srd5`'s movement against the slow reference: worked maps by number, and random ones."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from reference import cases, srd5
from reference.cases import BorderSpec, Case, TokenSpec, drawn
from strategies import examples

LEGEND = {
    ".": "open",
    "~": "difficult",
    "#": "wall",
    "o": "pit",
    "w": "water",
    "W": ("water", "difficult"),
    "c": "climb",
    "s": "narrow:small",
    "t": "narrow:tiny",
    "m": "narrow:medium",
    "d": ("difficult", "narrow:small"),
}


def answer(case: Case, budget=None, parity=0):
    """Return the reference's answer for the first token, which the library must share."""
    expected = srd5.reach(case, case.tokens[0], budget, parity)
    board = cases.board_of(case, "srd5")
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


def cells(found, row=0):
    """Return the costs along a row in cells of 1.5 m, until one is not reached."""
    line = []
    while (row, len(line)) in found:
        line.append(found[row, len(line)][0] / Fraction(3, 2))
    return line


def stops(found):
    return {cell for cell, (_, stop, _) in found.items() if stop}


def other(cell, side="red", **options):
    return TokenSpec(f"other {cell}", cell, side, **options)


# -- worked by hand -----------------------------------------------------------------------------


def test_s5_a_step_costs_one_cell_diagonal_or_not():
    """S5-02, S5-14: 1.5 m a step; the variant counts 1, 2, 1; corners bar."""
    rows = ["....", "....", "....", "...."]
    assert [costs(rows)[i, i][0] for i in range(4)] == [0, 1.5, 3, 4.5]
    found = costs(rows, diagonals="alternating")
    assert [found[i, i][::2] for i in range(4)] == [(0, 0), (1.5, 1), (4.5, 0), (6, 1)]
    for corners, price in (("both", 3), ("either", 1.5), ("free", 1.5)):
        assert costs([".#", ".."], corners=corners)[1, 1][0] == price
    assert (1, 1) not in costs([".#", "#."], corners="either")
    assert costs([".#", "#."], corners="free")[1, 1][0] == 1.5
    assert costs([".o", "o."])[1, 1][0] == 1.5


def test_s5_03_swim_6_walk_3_swim_9():
    """S5-03: the source's example with water for air: 6 m, then 3, then 9 of walk 9 and 18."""
    speeds = {"speed": {"walk": 9, "swim": 18}}
    found = costs(".wwww..wwwwwwww", speeds)
    assert found[0, 6][0] == 9
    assert found[0, 12][0] == 18
    assert (0, 13) not in found
    # After 7.5 m of swimming there is 1.5 m of walking left.
    assert costs(".wwwww..w", speeds)[0, 6][0] == 9
    assert (0, 7) not in costs(".wwwww..w", speeds)


def test_s5_03_fly_6_walk_3_fly_9():
    """S5-03: flying goes on to 18 m; on foot one gets no further than 9."""
    speeds = {"speed": {"walk": 9, "fly": 18}}
    assert max(cells(costs("." * 14, speeds))) == 12
    assert max(cells(costs("." * 14, speeds, budget={"walk": 9, "fly": 3}))) == 6


def test_s5_04_s5_05_difficult_only_once():
    """S5-04, S5-05: 2 for difficult ground, for a creature's space, and for both together."""
    friend = [other((0, 1), "blue")]
    assert cells(costs(".~")) == [0, 2]
    assert cells(costs("..", None, friend)) == [0, 2]
    assert cells(costs(".~", None, friend)) == [0, 2]
    found = costs([".o", "o~"], diagonals="alternating", came_in=1)
    assert found[1, 1][0] == 4.5, "2 for the second diagonal and 1 more"


def test_s5_06_crawling_over_difficult_ground_costs_3():
    """S5-06: a cell crawled costs 2, a difficult one 3."""
    prone = {"prone": True, "speed": 4.5}
    assert cells(costs(".~", prone)) == [0, 3]
    assert cells(costs("..", prone)) == [0, 2]


def test_s5_06_swimming_and_climbing_without_the_speed():
    """S5-06: 1 more a cell on the walking speed; with the speed nothing, while it lasts."""
    assert cells(costs(".wc")) == [0, 2, 4]
    assert cells(costs(".W")) == [0, 3]
    assert cells(costs(".wc", {"speed": {"walk": 9, "swim": 9, "climb": 9}})) == [0, 1, 2]
    assert cells(costs(".wwww", {"speed": {"walk": 9, "swim": 3}})) == [0, 1, 2, 4, 6]
    crawling = {"prone": True, "speed": 0.75 * 5}
    assert cells(costs(".w", crawling)) == [0, 2], "once"


def test_s5_07_standing_up_costs_half_the_walking_speed():
    """S5-07: 4.5 of 9 m, 3.75 of 7.5; never at speed 0; the search may crawl instead."""
    for walk, price in ((9, 4.5), (7.5, 3.75)):
        found = costs("......", {"prone": True, "speed": {"walk": walk, "fly": 15}})
        assert [found[0, col][0] for col in range(1, 4)] == [3, 6, price + 4.5]
    assert set(costs("...", {"prone": True, "speed": {"walk": 0, "fly": 15}})) == {(0, 0)}
    assert cells(costs("......", {"prone": True, "speed": 9})) == [0, 2, 4, 6]


def test_s5_08_through_creatures_two_sizes_apart():
    """S5-08: friends pass unless they do not let through; foes only two sizes apart."""
    for size, side, lets, passed in [
        ("medium", "red", True, False), ("large", "red", True, False),
        ("huge", "red", True, True), ("tiny", "red", True, True), ("small", "red", True, False),
        ("medium", "blue", True, True), ("medium", "blue", False, False),
        ("medium", "grey", True, True), ("medium", "grey", False, False),
        ("tiny", "blue", False, True), ("tiny", "red", False, True),
    ]:  # fmt: skip
        someone = [other((0, 1), side, size=size, lets_through=lets)]
        rows = ["." * 5] + ["o" + "." * 4] * 2 if size == "huge" else ["...", "ooo"]
        found = costs([rows[0]] if size in ("tiny", "small", "medium") else rows, None, someone)
        assert ((0, 1) in found) is passed, (size, side, lets)


def test_s5_09_nobody_stops_in_anothers_space():
    """S5-09: friend or foe, helpless or not."""
    for side, size in (("blue", "medium"), ("red", "tiny")):
        found = costs("...", None, [other((0, 1), side, size=size, helpless=True)])
        assert stops(found) == {(0, 0), (0, 2)}
        assert cells(found) == [0, 2, 3]


def test_s5_11_flyers_ignore_the_ground_and_who_is_on_it():
    """S5-11: over pits and foes, through no wall; who flies must land where one can stand."""
    flyer = {"speed": {"walk": 9, "fly": 4.5}, "flying": True}
    found = costs(".o~..#", flyer, [other((0, 2))])
    assert cells(found) == [0, 1, 2, 3, 4], "on foot after 4.5 m"
    assert stops(found) == set(found)
    assert cells(costs(".ooo.", flyer)) == [0, 1, 2, 3], "no landing on pits"
    assert cells(costs("...", flyer, [other((0, 1), flying=True)])) == [0, 1, 2]
    assert cells(costs(".o.", flyer, [other((0, 1), flying=True)])) == [0]


def test_s5_13_squeezing():
    """S5-13: Large through a corridor of 1, Huge of 2, Gargantuan of 3; 1 more a cell."""
    rows = ["..###..", "......."]
    assert cells(costs(rows, {"size": "large"})) == [0, 2, 4, 6, 8, 9]
    assert cells(costs(rows, {"size": "large"}, squeeze=False)) == [0]
    rows = ["..###..", "..~~~~~"]
    assert cells(costs(rows, {"size": "large"})) == [0, 3, 6, 9, 12, 14]
    for size, across in (("huge", 3), ("gargantuan", 4)):
        for corridor in range(1, across):
            walls = "." * across + "#" * 4 + "." * across
            rows = [walls] * (across - corridor) + ["." * len(walls)] * corridor
            found = costs(rows, {"size": size})
            assert ((0, len(walls) - across) in found) is (corridor == across - 1)


def test_s5_13_narrow_cells():
    """S5-13: room for one a size smaller, at 1 more; difficult as well 2 more."""
    assert cells(costs(".m")) == [0, 1]
    assert cells(costs(".s")) == [0, 2]
    assert cells(costs(".d")) == [0, 3]
    assert cells(costs(".t")) == [0]
    assert cells(costs(".s", {"size": "small"})) == [0, 1]
    assert cells(costs(".t", {"size": "small"})) == [0, 2]
    assert cells(costs(".s", squeeze=False)) == [0]
    assert cells(costs(["..m", "..m"], {"size": "large"})) == [0, 2]


def test_s5_12_the_one_in_the_doorway():
    """S5-12: a door 1.5 m wide is closed by whoever stands there and lets nobody through."""
    rows = ["...", "#.#", "..."]
    guard = other((1, 1), "blue", lets_through=False)
    assert (2, 1) not in costs(rows, None, [guard])
    assert (2, 1) in costs(rows, None, [other((1, 1), "blue")])


def test_s5_doors_and_walls_between_cells():
    """S5-14: a closed door and a wall bar the step and the diagonals past their ends."""
    for kind in ("wall", "door"):
        border = [BorderSpec(((0, 0), (0, 1)), kind)]
        assert costs(["..", ".."], borders=border)[1, 1][0] == 3
    assert (
        costs(["..", ".."], borders=[BorderSpec(((0, 0), (0, 1)), "door", open=True)])[1, 1][0]
        == 1.5
    )


def test_s5_06_a_body_in_water_and_on_a_cliff():
    """S5-06: climbing does not help it swim: the worst cell costs 1 more."""
    rows = ["....", "....", "...w", "...c"]
    found = costs(rows, {"size": "large", "speed": {"walk": 90, "climb": 90}}, squeeze=False)
    assert found[2, 2][0] == 4.5
    found = costs(["..w", "..c"], {"size": "large", "speed": {"swim": 9}}, squeeze=False)
    assert set(found) == {(0, 0)}


def test_s5_13_another_speed_is_no_way_through_a_thin_wall():
    """S5-13: on foot it gets no further than squeezing; taking off does not put it across."""
    rows = ["....", "....", "....", "...#"]
    wall = [BorderSpec(((1, 1), (1, 2)))]
    for speed in (9, {"walk": 9, "fly": 9}):
        mover = TokenSpec("mover", (0, 1), "blue", "huge", speed)
        found = answer(drawn(rows, LEGEND, borders=tuple(wall), tokens=(mover,)))
        assert (1, 0) not in found


def test_s5_13_nobody_swims_on_dry_land():
    """S5-06, S5-13: a swim speed does not make a cliff something to squeeze past."""
    friend = [other((0, 2), "blue")]
    for speed in (9, {"walk": 9, "swim": 9}):
        found = costs(["..c", "..."], {"size": "large", "speed": speed}, friend)
        assert found[0, 1] == (4.5, False, 0)


def test_s5_11_a_flyer_without_speed_falls():
    """S5-11: at speed 0 it is on the ground, among those who stand there."""
    friend = [other((0, 0), "blue")]
    for speed, stop in ((0, False), (3, True)):
        flyer = {"speed": {"walk": 0, "fly": speed}, "flying": True}
        assert costs(".", flyer, friend) == {(0, 0): (0, stop, 0)}


# -- drawn at random ----------------------------------------------------------------------------

PALETTE = [
    ("difficult",), ("wall",), ("pit",), ("column",), ("water",), ("climb",),
    ("narrow:tiny",), ("narrow:small",), ("narrow:medium",), ("narrow:large",),
    ("narrow:huge",), ("difficult", "narrow:medium"), ("water", "difficult"),
    ("climb", "difficult"),
]  # fmt: skip
BORDERS = [{}, {}, {"kind": "door"}, {"kind": "door", "open": True}, {"kind": "price", "price": 3}]
HEAVY = ("tiny", "small", "medium", "medium", "large", "large", "huge", "huge", "gargantuan")
MODES = (
    ("walk", "swim"), ("walk", "fly"), ("walk", "burrow"), ("walk", "climb"), ("fly",),
    ("walk", "swim", "climb"), ("walk", "swim", "fly"),
    ("walk", "swim", "climb", "burrow", "fly"),
)  # fmt: skip
amounts = st.integers(0, 12).map(lambda cells: 1.5 * cells)


@st.composite
def movers(draw: st.DrawFn):
    found = {"size": draw(st.sampled_from(HEAVY))}
    if draw(st.booleans()):
        modes = draw(st.sampled_from(MODES))
        found["speed"] = {mode: 1.5 + draw(amounts) for mode in modes}
        found["flying"] = "fly" in modes and draw(st.booleans())
    else:
        found["speed"] = draw(st.one_of(st.none(), amounts))
    if found["speed"] is not None and not found.get("flying"):
        found["prone"] = draw(st.booleans())
    return found


others = cases.fields_of(
    size=st.sampled_from(cases.SIZES), flying=st.booleans(), lets_through=st.booleans()
)
parameters = cases.fields_of(
    diagonals=st.sampled_from(("equidistant", "alternating")),
    corners=st.sampled_from(("both", "either", "free")),
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
    palette=[("wall",), ("wall",), ("pit",), ("difficult",), ("narrow:medium",), ("narrow:large",)],
    shape=cases.shapes(8),
    mover=st.fixed_dictionaries({"size": st.sampled_from(("large", "huge", "gargantuan"))}),
    other=others,
    most_others=2,
    border_palette=BORDERS[:4],
    parameters=parameters,
)
shores = cases.cases(
    palette=[("water",), ("water",), ("climb",), ("pit",), ("difficult",), ("water", "difficult")],
    lattices=SQUARES,
    mover=movers(),
    other=others,
    most_others=2,
    parameters=parameters,
)
budgets = st.one_of(st.none(), st.none(), amounts)
parities = st.integers(0, 1)


@given(everything, budgets, parities)
@examples(150)
def test_random_boards_equal_the_reference(case, budget, parity):
    """S5-02 to S5-09, S5-11 to S5-14: cells, costs, stops and parities are equal."""
    answer(case.settled(), budget, parity)


@given(corridors, budgets, parities)
@examples(100)
def test_random_corridors_equal_the_reference(case, budget, parity):
    """S5-13: large bodies between walls."""
    answer(case.settled(), budget, parity)


@given(shores, budgets, parities)
@examples(100)
def test_random_shores_equal_the_reference(case, budget, parity):
    """S5-02, S5-03, S5-06: several speeds between water, cliffs and open ground."""
    answer(case.settled(), budget, parity)

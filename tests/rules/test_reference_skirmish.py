"""`skirmish`, moving: worked examples and random boards, the slow reference and the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import skirmish
from reference.cases import (
    Answer,
    BorderSpec,
    Case,
    TokenSpec,
    answer_of,
    board_of,
    cases,
    differences,
    drawn,
    fields_of,
    token_of,
)

LEGEND = {
    ".": "open",
    "~": "difficult",
    "#": "wall",
    "I": "column",
    "X": "impassable",
    "s": "stairs",
    "H": "ladder",
    "w": "deep_water",
    "d": ("deep_water", "difficult"),
}

Reach = Callable[..., Answer]


def by_library(case: Case, mover: TokenSpec, budget: Any = None) -> Answer:
    return answer_of(board_of(case, "skirmish").reach(token_of(mover), budget=budget))


@pytest.fixture(params=[skirmish.reach, by_library], ids=["reference", "library"])
def reach(request: pytest.FixtureRequest) -> Reach:
    return request.param


def board(rows: str, heights: str = "", **options: Any) -> Case:
    """Return a drawn case; heights are digits, one a square."""
    if heights:
        options["elevation"] = [[float(digit) for digit in row] for row in heights.split()]
    return drawn(rows, LEGEND, **options)


def who(row: int, col: int, speed: Any = 6, **options: Any) -> TokenSpec:
    return TokenSpec("taeral", (row, col), "blue", speed=speed, **options)


def ally(row: int, col: int, **options: Any) -> TokenSpec:
    return TokenSpec(f"ally {row},{col}", (row, col), "blue", **options)


def foe(row: int, col: int, **options: Any) -> TokenSpec:
    return TokenSpec(f"foe {row},{col}", (row, col), "red", **options)


def shown(case: Case, answer: Answer) -> str:
    """Return the costs as a drawing: `-` where it does not get, `!` where it may not stop."""
    lines = []
    for row in range(case.shape[0]):
        words = []
        for col in range(case.shape[1]):
            cost, stop, parity = answer.get((row, col), (None, True, 0))
            assert parity == 0
            words.append("-" if cost is None else f"{float(cost):g}{'' if stop else '!'}")
        lines.append(" ".join(words))
    return "\n".join(lines)


def same(case: Case, answer: Answer, drawing: str) -> None:
    expected = "\n".join(" ".join(line.split()) for line in drawing.strip().splitlines())
    assert shown(case, answer) == expected


# -- the source's examples ------------------------------------------------------------------------


def test_sk03_three_squares_of_difficult_ground_with_movement_6(reach):
    """SK-03: 1 point more a square, so Movement 6 makes three squares."""
    case = board("~~~~~")
    same(case, reach(case, who(0, 0)), "0 2 4 6 -")


EXAMPLE = board(
    """
    ......
    ......
    ......
    ......
    """,
    # the wardrobe (2), the column (4), the shrine (1)
    """
    000000
    022000
    000410
    000000
    """,
)


def test_sk06_the_wardrobe_and_the_column_stop_taeral_and_the_shrine_does_not(reach):
    """SK-05, SK-06: height 2, Movement 6; up the shrine for 1 more, down for nothing more."""
    same(
        EXAMPLE,
        reach(EXAMPLE, who(1, 0)),
        """
        1 1 2 3 4 5
        0 - - 3 4 5
        1 1 2 - 5 5
        2 2 2 3 4 5
        """,
    )


def test_sk06_from_beside_the_shrine(reach):
    """SK-05, SK-06: 2 points onto the shrine, 1 point down from it."""
    case = board("...", "010")
    same(case, reach(case, who(0, 0, 3)), "0 2 3")


def test_sk01_the_square_of_an_ally_costs_2(reach):
    """SK-01, SK-06: the ally in the example is passed for 2 points, and nobody stops there."""
    case = board("....", tokens=(ally(0, 1),))
    same(case, reach(case, who(0, 0, 4)), "0 2! 3 4")


def test_sk05_a_table_and_a_wardrobe(reach):
    """SK-05, SK-06: onto a table (1) for 2; from the table onto a wardrobe (2) for 2 more."""
    case = board(".....", "01200")
    same(case, reach(case, who(0, 0)), "0 2 4 5 6")
    case = board("...", "020")
    same(case, reach(case, who(0, 0)), "0 - -")


@pytest.mark.parametrize("height", [1, 2, 2.5, 3, 4])
def test_sk06_compares_and_charges_the_rise(reach, height):
    """SK-06: 1 more for a rise of 1, the rise itself above, never the creature's own height."""
    for rise in range(1, 5):
        case = board("..", f"0{rise}")
        expected = f"0 {1 + rise}" if rise < height else "0 -"
        same(case, reach(case, who(0, 0, 9, height=height)), expected)
        case = board("..", f"{rise}0")
        same(case, reach(case, who(0, 0, 9, height=height)), "0 1")


def test_sk06_standing_higher_makes_nobody_taller(reach):
    """SK-05, SK-06: on a table a creature still does not step up by its own height."""
    case = board("..", "13")
    same(case, reach(case, who(0, 0)), "0 -")


def test_sk05_half_a_step_up_costs_1_as_well(reach):
    """SK-05: every rise above 0 costs, one below 1 costs 1."""
    case = board("...", elevation=[[0, 0.5, 1]])
    same(case, reach(case, who(0, 0)), "0 2 4")


def test_sk05_stairs(reach):
    """SK-05: stairs cost 1 more to enter; on a map with heights only the rise counts."""
    case = board(".sss.")
    same(case, reach(case, who(0, 0, 9)), "0 2 4 6 7")
    case = board(".ss.", "0112")
    same(case, reach(case, who(0, 0, 9)), "0 2 3 5")
    same(case, reach(case, who(0, 3, 9)), "3 2 1 0")


def test_sk05_level_surcharge(reach):
    """SK-05, SK-06: level_surcharge charges each raised square walked on level."""
    case = board("......", "011100", parameters={"level_surcharge": True})
    same(case, reach(case, who(0, 0, 9)), "0 2 4 6 7 8")
    case = board("....", "2110", parameters={"level_surcharge": True})
    same(case, reach(case, who(0, 0, 9)), "0 1 3 4")


# -- others ---------------------------------------------------------------------------------------


def test_sk01_enemies_are_not_passed_allies_and_neutrals_are(reach):
    """SK-01: enemies bar the way, neutrals pass as allies do."""
    case = board("...", tokens=(foe(0, 1),))
    same(case, reach(case, who(0, 0)), "0 - -")
    grey = TokenSpec("grey", (0, 1), "grey")
    neutral = {frozenset(("blue", "grey")): "neutral"}
    case = board("...", tokens=(grey,), relations=neutral)
    same(case, reach(case, who(0, 0)), "0 2! 3")


def test_sk01_an_engaged_ally_is_not_passed(reach):
    """SK-01: an ally with an enemy in one of the eight squares around it bars the way."""
    rows = """
    ....
    ####
    ...."""
    engaged = (ally(0, 1), foe(0, 2))
    case = board("....", tokens=engaged)
    same(case, reach(case, who(0, 0)), "0 - - -")
    case = board("....\n....", tokens=(ally(0, 1), foe(1, 2)))
    assert (0, 1) not in reach(case, who(0, 0))
    case = board(rows, tokens=(ally(0, 1), foe(2, 2)))
    same(case, reach(case, who(0, 0)), "0 2! 3 4\n- - - -\n- - - -")
    case = board("....\n####", tokens=(ally(0, 1), foe(1, 2)))
    assert (0, 1) not in reach(case, who(0, 0)), "walls and heights apart"


def test_sk01_the_token_may_say_whether_it_is_engaged(reach):
    """SK-01: `engaged` of the token overrides what stands around it."""
    case = board("...", tokens=(ally(0, 1, engaged=True),))
    same(case, reach(case, who(0, 0)), "0 - -")
    case = board("...", tokens=(ally(0, 1, engaged=False), foe(0, 2)))
    same(case, reach(case, who(0, 0)), "0 2! -")


def test_sk01_a_large_ally_is_engaged_all_round(reach):
    """SK-01: around a large one are twelve squares; it is one creature in all of its squares."""
    big = ally(0, 1, size="large")
    case = board("......\n......", tokens=(big, foe(0, 5)))
    same(case, reach(case, who(0, 0, 9)), "0 2! 4! 5 6 -\n1 2! 4! 5 6 7")
    case = board("......\n......", tokens=(big, foe(1, 3)))
    same(case, reach(case, who(0, 0, 9)), "0 - - - - -\n1 - - - - -")


def test_sk01_two_causes_add_up(reach):
    """SK-01, SK-03: an ally on difficult ground; two allies in a square are one cause."""
    case = board(".~.", tokens=(ally(0, 1),))
    same(case, reach(case, who(0, 0)), "0 3! 4")
    case = board(".~.", tokens=(ally(0, 1), TokenSpec("twin", (0, 1), "blue")))
    same(case, reach(case, who(0, 0)), "0 3! 4")


def test_sk01_a_start_on_somebody(reach):
    """SK-01: whoever stands on another gets off, and does not stop there again."""
    case = board("...", tokens=(foe(0, 1),))
    same(case, reach(case, who(0, 1)), "1 0! 1")


def test_sk01_a_large_one_gets_off_a_foe_by_and_by(reach):
    """SK-01: nobody is kept out of squares it holds already; they still are occupied ones."""
    case = board(".....\n.....", tokens=(foe(0, 1),))
    big = who(0, 0, size="large")
    same(case, reach(case, big), "0! 2! 3 4 -\n- - - - -")
    case = case.replace(tokens=(foe(0, 0),))
    same(case, reach(case, big), "0! 1 2 3 -\n- - - - -")
    case = case.replace(tokens=(foe(0, 2),))
    same(case, reach(case, big), "0 - - - -\n- - - - -")


# -- closed squares -------------------------------------------------------------------------------


@pytest.mark.parametrize("shut", ["#", "I", "X"])
def test_sk02_closed_squares(reach, shut):
    """SK-02: walls, columns and red squares are not entered; whoever stands on one gets off."""
    case = board(f"..{shut}..")
    same(case, reach(case, who(0, 0)), "0 1 - - -")
    same(case, reach(case, who(0, 2)), "2 1 0 1 2")


def test_sk02_what_a_creature_crosses_is_plain_ground(reach):
    """SK-02, SK-03: `crosses` opens a terrain, and takes its surcharge away."""
    case = board(".#X~wI")
    ghost = who(0, 0, 9, crosses=frozenset({"wall", "impassable", "difficult", "deep_water"}))
    same(case, reach(case, ghost), "0 1 2 3 4 -")


# -- flyers ---------------------------------------------------------------------------------------


FLIGHT = board(
    ".~w.s.#X\n....H...", "00003000\n00000000", tokens=(foe(0, 3), ally(1, 1)), lattice="square4"
)


@pytest.mark.parametrize(
    "flyer",
    [who(0, 0, flying=True), who(0, 0, {"fly": 6}), who(0, 0, {"fly": 6}, flying=True)],
    ids=["flying", "speed", "both"],
)
def test_sk04_flyers(reach, flyer):
    """SK-04: no difficult ground, heights, water nor others; walls and red squares stop them."""
    same(FLIGHT, reach(FLIGHT, flyer), "0 1 2 3! 4 5 - -\n1 2! 3 4 5 6 - -")


def test_sk04_borders_and_flyers(reach):
    """SK-04: a wall between squares stops a flyer; a drop or a ladder does not matter to it."""
    down = BorderSpec(((0, 1), (0, 0)), "drop", height=3)
    ladder = BorderSpec(((0, 1), (0, 2)), "ladder", length=4)
    wall = BorderSpec(((0, 2), (0, 3)), "wall")
    case = board("....", "0330", borders=(down, ladder, wall))
    same(case, reach(case, who(0, 0, flying=True)), "0 1 2 -")


def test_several_speeds_share_one_total(reach):
    """SK-04: by S5-03 what is used by one speed is taken off the other; landing needs a place."""
    case = board(".......", "0000220")
    walker = who(0, 0, {"walk": 3, "fly": 5})
    same(case, reach(case, walker), "0 1 2 3 4 5 -")
    case = board("....w.~")
    same(case, reach(case, who(0, 0, {"walk": 6, "fly": 5})), "0 1 2 3 4 5 -")
    same(case, reach(case, who(0, 0, {"walk": 7, "fly": 5})), "0 1 2 3 4 5 7")
    case = board("....~", tokens=(foe(0, 3),))
    same(case, reach(case, who(0, 0, {"walk": 9, "fly": 3})), "0 1 2 3! -")
    case = board("....~")
    same(case, reach(case, who(0, 0, {"walk": 9, "fly": 3})), "0 1 2 3 5")


# -- ladders --------------------------------------------------------------------------------------


def test_sk07_a_ladder_is_climbed_like_any_other_way(reach):
    """SK-07: no price and no limit for the rise in and out; 1 more with hands full."""
    case = board(".HHH.", "03690")
    same(case, reach(case, who(0, 0)), "0 1 2 3 4")
    same(case, reach(case, who(0, 0, 9, hands_full=True)), "0 2 4 6 7")
    case = board(".H.", "009")
    same(case, reach(case, who(0, 0)), "0 1 2")
    same(case, reach(case, who(0, 2)), "2 1 0")


def test_sk07_a_ladder_between_two_squares(reach):
    """SK-07: its length, twice with hands full, besides the square beyond; no rise."""
    ladder = BorderSpec(((0, 0), (0, 1)), "ladder", length=3)
    case = board("...", "055", borders=(ladder,))
    same(case, reach(case, who(0, 0, 9)), "0 4 5")
    same(case, reach(case, who(0, 2, 9)), "5 1 0")
    same(case, reach(case, who(0, 0, 9, hands_full=True)), "0 7 8")


# -- water ----------------------------------------------------------------------------------------


def test_sk08_deep_water(reach):
    """SK-08: it needs a swim speed, and costs the plain point."""
    case = board("..ww.")
    same(case, reach(case, who(0, 0)), "0 1 - - -")
    same(case, reach(case, who(0, 0, {"walk": 9, "swim": 3})), "0 1 2 3 4")
    same(case, reach(case, who(0, 0, {"walk": 9, "swim": 2})), "0 1 2 - -")
    same(case, reach(case, who(0, 2, {"swim": 3})), "- - 0 1 -")
    same(case, reach(case, who(0, 2)), "2 1 0 - -")


# -- climbers -------------------------------------------------------------------------------------


def test_sk06_climbers(reach):
    """SK-06: whoever has a climb speed is stopped by no height, and pays the rise."""
    case = board("...", "030")
    same(case, reach(case, who(0, 0, {"walk": 9, "climb": 9})), "0 4 5")
    same(case, reach(case, who(0, 0, {"walk": 9, "climb": 3})), "0 4 5")


# -- corners --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("corners", "past_one", "between_two"), [("either", 1, None), ("both", 2, None), ("free", 1, 1)]
)
@pytest.mark.parametrize("kind", ["wall", "column", "height"])
def test_sk10_corners(reach, corners, past_one, between_two, kind):
    """SK-10: past one corner and between two, of closed squares and of what is too high."""
    for places, cost in (([(0, 1)], past_one), ([(0, 1), (1, 0)], between_two)):
        case = board("..\n..", parameters={"corners": corners})
        case.elevation = [[0.0, 0.0], [0.0, 0.0]]
        for row, col in places:
            if kind == "height":
                case.elevation[row][col] = 2.0
            else:
                case.rows[row][col] = (kind,)
        got = reach(case, who(0, 0)).get((1, 1))
        assert (got and got[0]) == cost


def test_sk10_creatures_and_red_squares_are_no_corners(reach):
    """SK-10: occupied squares, red squares and lower elements never bar a diagonal."""
    both = {"corners": "both"}
    case = board("..\nX.", tokens=(foe(0, 1),), parameters=both)
    same(case, reach(case, who(0, 0)), "0 -\n- 1")
    case = board("..\n..", "01\n10", parameters=both)
    same(case, reach(case, who(0, 0)), "0 2\n2 1")


def test_sk10_corners_are_measured_from_the_square_left(reach):
    """SK-10: what is too high from the ground is none from a table."""
    both = {"corners": "both"}
    case = board("..\n..", "02\n00", parameters=both)
    same(case, reach(case, who(0, 0)), "0 -\n1 2")
    case = board("..\n..", "12\n00", parameters=both)
    same(case, reach(case, who(0, 0)), "0 2\n1 1")


def test_sk10_climbers_do_not_slip_between(reach):
    """SK-10: what is too high has corners for whoever could climb it as well."""
    case = board("..\n..", "03\n30")
    same(case, reach(case, who(0, 0, {"walk": 9, "climb": 9})), "0 4\n4 5")
    same(case, reach(case, who(0, 0, {"fly": 9})), "0 1\n1 1")


@pytest.mark.parametrize(
    "cells", [((0, 0), (0, 1)), ((0, 1), (1, 1)), ((0, 0), (1, 0)), ((1, 0), (1, 1))]
)
def test_sk10_a_wall_at_the_crossing_point_bars_a_diagonal(reach, cells):
    """SK-10: on any of the four sides that meet there, whatever `corners` says."""
    wall = BorderSpec(cells)
    case = board("..\n..", borders=(wall,), parameters={"corners": "free"})
    assert reach(case, who(0, 0))[1, 1][0] == 2


# -- large bodies ---------------------------------------------------------------------------------


def test_large_bodies_pay_the_worst_square(reach):
    """SK-03: of the squares covered after the step the worst is paid; no squeezing."""
    case = board("....~.\n......")
    same(case, reach(case, who(0, 0, 9, size="large")), "0 1 2 4 6 -\n- - - - - -")
    case = board("......\n...#..")
    same(case, reach(case, who(0, 0, 9, size="large")), "0 1 - - - -\n- - - - - -")


def test_large_bodies_rise_from_top_to_top(reach):
    """SK-05, SK-06: the highest square covered after the step, less the highest before."""
    case = board(".....\n.....", "00100\n00000")
    same(case, reach(case, who(0, 0, 9, size="large")), "0 2 3 4 -\n- - - - -")
    case = board("....\n....", "0020\n0000")
    same(case, reach(case, who(0, 0, 9, size="large")), "0 - - -\n- - - -")


def test_large_bodies_and_thin_walls(reach):
    """SK-02: no wall may run inside a body."""
    wall = BorderSpec(((0, 3), (1, 3)))
    case = board("......\n......", borders=(wall,))
    same(case, reach(case, who(0, 0, 9, size="large")), "0 1 - - - -\n- - - - - -")


# -- random boards: the library against the reference ---------------------------------------------


BORDERS: tuple[dict[str, Any], ...] = (
    {"kind": "wall"},
    {"kind": "wall", "one_way": True},
    {"kind": "door"},
    {"kind": "door", "open": True},
    {"kind": "drop", "height": 2},
    {"kind": "ladder", "length": 2},
    {"kind": "ladder", "length": 3, "one_way": True},
    {"kind": "price", "price": 1},
    {"kind": "price", "price": 3, "one_way": True},
)
BUDGETS = (None, None, None, 0, 3, 7, 12)
SPEEDS = (None, 0, 4, 6, 6.5, 9, {"walk": 6})
MIXED = (
    {"walk": 6, "fly": 4},
    {"walk": 4, "fly": 8},
    {"walk": 8, "swim": 5},
    {"walk": 3, "swim": 7},
    {"walk": 7, "climb": 7},
    {"walk": 7, "climb": 4},
    {"walk": 5, "swim": 8, "climb": 6, "fly": 3},
    {"walk": None, "swim": None, "fly": 6},
    {"swim": 6},
    {"fly": 5},
)
CROSSES = st.frozensets(
    st.sampled_from(("difficult", "deep_water", "wall", "door", "impassable", "price")), max_size=2
)
SIZES = st.sampled_from(("medium", "medium", "large", "huge"))
OTHERS = fields_of(
    size=st.sampled_from(("small", "large")), engaged=st.booleans(), flying=st.booleans()
)
PARAMETERS = fields_of(
    corners=st.sampled_from(("either", "both", "free")), level_surcharge=st.booleans()
)
PALETTE = [kind if isinstance(kind, tuple) else (kind,) for kind in LEGEND.values()]
WHOLE = (0.0, 1.0, 2.0, 3.0)
HALVES = (0.0, 0.5, 1.0)


def boards(speeds: Any, heights: Any = WHOLE, **options: Any) -> st.SearchStrategy[Case]:
    mover = fields_of(
        speed=st.sampled_from(speeds),
        size=SIZES,
        hands_full=st.booleans(),
        crosses=CROSSES,
        height=st.sampled_from((1, 2, 3)),
        **options,
    )
    return cases(
        palette=PALETTE,
        lattices=("square", "square", "square4"),
        mover=mover,
        other=OTHERS,
        border_palette=BORDERS,
        elevations=heights,
        parameters=PARAMETERS,
    )


def agree(case: Case, budget: Any = None) -> None:
    mover = case.tokens[0]
    expected = skirmish.reach(case, mover, budget)
    found = differences(expected, by_library(case, mover, budget))
    assert not found, found


@given(boards(SPEEDS), st.sampled_from(BUDGETS))
def test_random_boards(case, budget):
    """SK-01 to SK-03, SK-05 to SK-08, SK-10: walkers of all sizes, as the reference has them."""
    agree(case, budget)


@given(boards(SPEEDS, HALVES), st.sampled_from(BUDGETS))
def test_random_boards_with_half_heights(case, budget):
    """SK-05, SK-06: rises below 1."""
    agree(case, budget)


@given(boards(SPEEDS[:-1], flying=st.just(True)), st.sampled_from(BUDGETS))
def test_random_flyers(case, budget):
    """SK-04: tokens in the air."""
    agree(case, budget)


@given(boards(MIXED), st.sampled_from(BUDGETS))
def test_random_boards_with_several_speeds(case, budget):
    """SK-04, SK-06, SK-08: walking, swimming, climbing and flying in one movement."""
    agree(case, budget)

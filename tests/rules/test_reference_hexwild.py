"""`hexwild`, moving: worked examples and random boards, the slow reference and the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
from reference import hexwild
from reference.cases import (
    SIZES,
    Answer,
    BorderSpec,
    Case,
    Cell,
    PerchSpec,
    TokenSpec,
    answer_of,
    board_of,
    cases,
    differences,
    drawn,
    fields_of,
    token_of,
)
from reference.hexlines import centre

LAYOUTS = ("odd-r", "even-r", "odd-q", "even-q")
LEGEND = {
    ".": "open",
    "f": "light_forest",
    "F": "heavy_forest",
    "A": "ancient_trees",
    "b": "light_bushes",
    "B": "heavy_bushes",
    "t": "thorns",
    "g": "gravel",
    "s": "stones",
    "r": "sharp_rocks",
    "o": "boulder",
    "#": "rock_formation",
    "m": "mud",
    "w": "deep_water",
    "H": "building",
    "%": ("open", "fog:2"),
    "T": ("light_forest", "thorns"),
    "U": ("heavy_forest", "thorns", "stones"),
    "O": ("light_forest", "boulder"),
}

Reach = Callable[..., Answer]


def by_library(case: Case, mover: TokenSpec, budget: Any = None) -> Answer:
    return answer_of(board_of(case, "hexwild").reach(token_of(mover), budget=budget))


@pytest.fixture(params=[hexwild.reach, by_library], ids=["reference", "library"])
def reach(request: pytest.FixtureRequest) -> Reach:
    return request.param


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> str:
    return request.param


def board(rows: str, lattice: str = "odd-r", **options: Any) -> Case:
    return drawn(rows, LEGEND, lattice=lattice, **options)


def who(row: int, col: int, speed: Any = None, **options: Any) -> TokenSpec:
    return TokenSpec("hero", (row, col), "blue", speed=speed, **options)


def other(row: int, col: int, side: str = "red", **options: Any) -> TokenSpec:
    name = options.pop("name", f"{side} {row},{col} on {options.get('level', 0)}")
    return TokenSpec(name, (row, col), side, **options)


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


# -- the ground the reference stands on -----------------------------------------------------------


def test_neighbours_lie_where_geometry_has_them(layout):
    """The steps of every layout lead to the six nearest centres, clockwise from the top."""
    pointy = [(1, -3), (2, 0), (1, 3), (-1, 3), (-2, 0), (-1, -3)]
    flat = [(0, -2), (3, -1), (3, 1), (0, 2), (-3, 1), (-3, -1)]
    case = board("....\n....\n....\n....", layout)
    for cell in case.cells():
        x, y = centre(layout, cell)
        steps = [(a - x, b - y) for a, b in (centre(layout, c) for c in case.around(cell))]
        assert steps == (pointy if layout.endswith("r") else flat)


# -- terrain --------------------------------------------------------------------------------------


def test_hw15_every_terrain_in_a_row(reach, layout):
    """HW-15, HW-16: the surcharges besides the plain 1; mud costs 1 more to leave."""
    case = board(".fFAbBtgsrm%.", layout)
    same(
        case,
        reach(case, who(0, 0)),
        "0 1.5 3.5 5 6.5 8.5 10 11.5 13.5 16.5 19.5 21.5 22.5",
    )


def test_hw15_overlays(reach, layout):
    """HW-15: all overlays are paid, or the dearest of them."""
    case = board(".TU", layout)
    same(case, reach(case, who(0, 0)), "0 2 5.5")
    case = case.replace(parameters={"overlays_stack": False})
    same(case, reach(case, who(0, 0)), "0 2 5")


def test_hw16_mud(reach, layout):
    """HW-16: each mud hex left costs 1, or only the last one of the area."""
    case = board(".mm.m", layout)
    same(case, reach(case, who(0, 0)), "0 3 7 9 12")
    case = case.replace(parameters={"mud_exit": "zone"})
    same(case, reach(case, who(0, 0)), "0 3 6 8 11")


def test_hw17_footing(reach, layout):
    """HW-17: who is bold pays 1 less on stones and on sharp rocks."""
    case = board(".srg", layout)
    same(case, reach(case, who(0, 0)), "0 2 5 6.5")
    same(case, reach(case, who(0, 0, footing="bold")), "0 1 3 4.5")


def test_hw18_climbing(reach, layout):
    """HW-18: twice the rise in place of the plain 1, at least 1; down costs 1."""
    case = board(".oO#.", layout)
    same(case, reach(case, who(0, 0)), "0 2 4.5 10.5 11.5")
    case = case.replace(elevation=[[0, 0.3, 1, 3.1, 0]])
    same(case, reach(case, who(0, 0)), "0 1 3 7.5 8.5")
    same(case, reach(case, who(0, 4)), "10 9 8 6.5 0")
    same(case, reach(case, who(0, 2, climbs=False)), "- - 0 - -")


def test_hw15_closed_terrain_and_what_is_crossed(reach, layout):
    """HW-15: deep water and buildings are closed; `crosses` makes a terrain plain ground."""
    case = board(".w.Hmo", layout)
    same(case, reach(case, who(0, 0)), "0 - - - - -")
    same(case, reach(case, who(0, 1)), "1 0 1 - - -")
    crosses = frozenset({"deep_water", "building", "mud", "boulder"})
    same(case, reach(case, who(0, 0, climbs=False, crosses=crosses)), "0 1 2 3 4 5")


def test_hw15_budgets_in_halves(reach):
    """HW-15: a hex is reached at exactly the budget; what makes no half point is dropped."""
    case = board(".ff.")
    same(case, reach(case, who(0, 0, 3)), "0 1.5 3 -")
    same(case, reach(case, who(0, 0, 3.49)), "0 1.5 3 -")
    same(case, reach(case, who(0, 0, 9), 1), "0 - - -")
    same(case, reach(case, who(0, 0, {"walk": 1.5}), {"walk": 4}), "0 1.5 3 4")


# -- borders --------------------------------------------------------------------------------------


def test_borders_by_direction(reach, layout):
    """HW-15: walls, doors, drops and prices between hexes, forth and back."""
    pair = ((0, 0), (0, 1))
    for fields, forth, back in (
        ({"kind": "wall"}, "-", "-"),
        ({"kind": "wall", "one_way": True}, "1", "-"),
        ({"kind": "door"}, "-", "-"),
        ({"kind": "door", "open": True}, "1", "1"),
        ({"kind": "drop", "height": 3}, "1", "-"),
        ({"kind": "drop", "height": 3, "price": 2}, "3", "-"),
        ({"kind": "price", "price": 0.5}, "1.5", "1.5"),
    ):
        case = board("..", layout, borders=(BorderSpec(pair, **fields),))
        same(case, reach(case, who(0, 0)), f"0 {forth}")
        same(case, reach(case, who(0, 1)), f"{back} 0")
        kinds = frozenset({fields["kind"]})
        same(case, reach(case, who(0, 1, crosses=kinds)), "1 0")


# -- others ---------------------------------------------------------------------------------------


def test_hw15_others(reach, layout):
    """HW-15: friends and neutrals are passed for nothing, foes are not, nobody stops on any."""
    neutral = {frozenset(("blue", "grey")): "neutral"}
    tokens = (other(0, 1, "blue"), other(0, 2, "grey"), other(0, 4))
    case = board("......", layout, tokens=tokens, relations=neutral)
    same(case, reach(case, who(0, 0)), "0 1! 2! 3 - -")
    same(case, reach(case, who(0, 4)), "4 3! 2! 1 0! 1")


def test_hw24_places_are_a_hex_and_a_level(reach, layout):
    """HW-24: those up a tree leave the ground free, those below leave the perch free."""
    perches = (PerchSpec((0, 1), 1, "large", 4),)
    up = other(0, 1, level=1)
    case = board(".f.", layout, tokens=(up,), perches=perches)
    same(case, reach(case, who(0, 0)), "0 1.5 2.5")
    below = other(0, 1, "blue")
    case = case.replace(tokens=(below,))
    same(case, reach(case, who(0, 0, 9)), "0 1.5! 2.5")
    same(case, reach(case, who(0, 0, 9.5)), "0 1.5 2.5")
    case = case.replace(tokens=(below, other(0, 1, "blue", level=1, name="up")))
    same(case, reach(case, who(0, 0, 99)), "0 1.5! 2.5")


# -- trees ----------------------------------------------------------------------------------------


def test_hw22_a_perch_bears_creatures_up_to_its_size(reach, layout):
    """HW-22: too large a creature does not sit there."""
    below = other(0, 1, "blue")
    for size, stop in (("tiny", ""), ("small", ""), ("medium", "!"), ("huge", "!")):
        perches = (PerchSpec((0, 1), 1, "small", 3),)
        case = board(".f", layout, tokens=(below,), perches=perches)
        same(case, reach(case, who(0, 0, size=size)), f"0 1.5{stop}")


@pytest.mark.parametrize(
    ("metres", "points"), [(3, 6), (3.2, 6.5), (3.25, 6.5), (0.2, 1), (0.5, 1), (0.51, 1.5)]
)
def test_hw23_climbing_to_a_perch(reach, metres, points):
    """HW-23: twice the metres as points, rounded up to half a point, at least 1."""
    case = board(
        ".f", tokens=(other(0, 1, "blue"),), perches=(PerchSpec((0, 1), 1, "large", metres),)
    )
    same(case, reach(case, who(0, 0, 1.5 + points)), "0 1.5")
    same(case, reach(case, who(0, 0, 1 + points)), "0 1.5!")


def test_hw23_from_perch_to_perch(reach):
    """HW-23: between perches the difference is climbed; down to one or to the ground costs 1."""
    perches = (
        PerchSpec((0, 0), 1, "large", 4),
        PerchSpec((0, 0), 2, "large", 7),
        PerchSpec((0, 0), 3, "large", 9.5),
    )
    friend = other(0, 0, "blue")
    case = board("f.", perches=perches)
    same(case, reach(case, who(0, 0, level=3)), "0 2")
    # From its perch to the second level 1 point, from the first 6; the friends hold the rest.
    on_first = other(0, 0, "blue", level=1, name="first")
    on_third = other(0, 0, "blue", level=3, name="third")
    twin = other(0, 0, "blue", level=3, name="twin")
    case = case.replace(tokens=(friend, on_first, twin))
    same(case, reach(case, who(0, 0, 0.5, level=3)), "0! -")
    same(case, reach(case, who(0, 0, 1, level=3)), "0 -")
    same(case, reach(case, who(0, 0, 2, level=3)), "0 2")
    case = case.replace(tokens=(friend, on_third, other(0, 0, "blue", level=1, name="twin")))
    same(case, reach(case, who(0, 0, 5, level=1)), "0! 2")
    same(case, reach(case, who(0, 0, 6, level=1)), "0 2")


def test_hw23_nobody_jumps_onto_a_foe_nor_steps_from_a_tree(reach):
    """HW-23: on a perch one moves no other way; a foe below keeps its hex."""
    perches = (PerchSpec((0, 1), 1, "large", 4),)
    case = board(".f.", tokens=(other(0, 1),), perches=perches)
    same(case, reach(case, who(0, 1, level=1)), "- 0 -")
    case = case.replace(tokens=(other(0, 1, "blue"),))
    same(case, reach(case, who(0, 1, level=1)), "2 0 2")


def test_hw23_flyers_leave_a_perch_as_they_like(reach, layout):
    """HW-23: a way of moving that allows more, flying for one, leads off a perch."""
    perches = (PerchSpec((0, 1), 1, "large", 4),)
    case = board(".fm#H", layout, tokens=(other(0, 1), other(0, 2)), perches=perches)
    same(case, reach(case, who(0, 1, {"walk": 9, "fly": 9}, level=1)), "1 0 1 2 -")
    same(case, reach(case, who(0, 1, {"fly": 1}, level=1)), "1 0 1 - -")


# -- several speeds -------------------------------------------------------------------------------


def test_several_speeds_share_one_total(reach, layout):
    """HW-15: by S5-03 what is used by one speed is taken off the other; landing needs a place."""
    case = board("...F.mw", layout)
    same(case, reach(case, who(0, 0, {"walk": 4, "fly": 2})), "0 1 2 4 - - -")
    same(case, reach(case, who(0, 0, {"walk": 9.5, "fly": 4})), "0 1 2 3 4 7 -")
    case = board(".ww.f", layout)
    same(case, reach(case, who(0, 0, {"walk": 9, "swim": 2})), "0 1 2 3 4.5")
    same(case, reach(case, who(0, 0, {"walk": 9, "swim": 1.5})), "0 1 - - -")
    same(case, reach(case, who(0, 0, {"walk": 9, "fly": 2})), "0 1 2 - -")
    case = board("..w.", layout, tokens=(other(0, 1),))
    same(case, reach(case, who(0, 0, {"walk": 9, "fly": 1})), "0 1 - -")


# -- bodies of several hexes ----------------------------------------------------------------------


def test_a_body_of_two_pays_the_worst_hex_it_covers(reach):
    """HW-15, HW-16: entry is the worst hex after the step, exit the worst one before it."""
    horse = who(0, 0, body=2, facing=1)
    case = board("...F..")
    same(case, reach(case, horse), "0 1 3 5 6 -")
    case = board("...m..")
    same(case, reach(case, horse), "0 1 4 8 10 -")
    case = case.replace(parameters={"mud_exit": "zone"})
    same(case, reach(case, horse), "0 1 4 7 9 -")


def test_a_body_of_two_needs_both_hexes(reach):
    """HW-15: neither may be closed, off the map or held by a foe; nobody stops on a friend."""
    horse = who(0, 0, body=2, facing=1)
    case = board("....w.")
    same(case, reach(case, horse), "0 1 2 - - -")
    case = board("......", tokens=(other(0, 4),))
    same(case, reach(case, horse), "0 1 2 - - -")
    case = board("......", tokens=(other(0, 3, "blue"),))
    same(case, reach(case, horse), "0 1 2! 3! 4 -")
    case = board("......", tokens=(other(0, 3, body=2, facing=4),))
    same(case, reach(case, horse), "0 - - - - -")


def test_a_body_gets_off_a_foe_by_and_by(reach):
    """HW-15: nobody is kept out of hexes it holds already, and nobody gets back onto a foe."""
    case = board("......", tokens=(other(0, 1),))
    same(case, reach(case, who(0, 0, body=2, facing=1)), "0! 1! 2 3 4 -")
    same(case, reach(case, who(0, 2, body=2, facing=1)), "- - 0 1 2 -")


@pytest.mark.parametrize("facing", range(6))
@pytest.mark.parametrize("body", [2, 3, 7])
def test_a_body_covers_the_anchor_and_what_it_faces(reach, layout, body, facing):
    """HW-15: alone on an open map every anchor whose hexes all lie on it is reached."""
    case = board("\n".join(["......"] * 6), layout)
    around = {2: [facing], 3: [facing, (facing + 1) % 6], 7: range(6)}[body]
    fitting = {
        cell
        for cell in case.cells()
        if all(case.inside(case.around(cell)[direction]) for direction in around)
    }
    got = reach(case, who(2, 2, body=body, facing=facing))
    assert set(got) == fitting
    assert all(stop for _, stop, _ in got.values())


def test_a_wall_does_not_run_inside_a_body(reach):
    """HW-15: a wall that ends in the middle of the way stops a body of three hexes."""
    case = board("....\n....", borders=(BorderSpec(((0, 2), (1, 2))),))
    # The triangle stands on its tip in row 1: anchor, east of it and below.
    same(case, reach(case, who(0, 0, body=3, facing=1)), "0 1 - -\n- - - -")
    case = board("....\n....")
    same(case, reach(case, who(0, 0, body=3, facing=1)), "0 1 2 -\n- - - -")


def test_a_body_pays_the_dearest_border_once(reach):
    """HW-15: of the priced borders its leading hexes cross; those within it cost nothing."""
    borders = (
        BorderSpec(((0, 1), (0, 2)), "price", price=2),
        BorderSpec(((1, 0), (1, 1)), "price", price=3),
    )
    case = board("....\n....", borders=borders)
    # A triangle of (0, 0), (0, 1) and (1, 0) goes east.
    same(case, reach(case, who(0, 0, body=3, facing=1)), "0 4 5 -\n- - - -")


def test_turning_in_place(reach):
    """HW-15: with `turn_cost` a body turns by one direction at a time, where it fits."""
    case = board("..\n..")
    horse = who(0, 0, body=2, facing=1)
    same(case, reach(case, horse), "0 -\n1 -")
    case = case.replace(parameters={"turn_cost": 1})
    same(case, reach(case, horse), "0 2\n1 4")
    case = case.replace(parameters={"turn_cost": 0.5})
    same(case, reach(case, horse), "0 1.5\n1 3")


# -- random boards: the library against the reference ---------------------------------------------


BORDERS: tuple[dict[str, Any], ...] = (
    {"kind": "wall"},
    {"kind": "wall", "one_way": True},
    {"kind": "door"},
    {"kind": "door", "open": True},
    {"kind": "drop", "height": 2},
    {"kind": "drop", "height": 2, "price": 0.5},
    {"kind": "price", "price": 1.5},
    {"kind": "price", "price": 2, "one_way": True},
)
SPEEDS = (None, 0, 2, 4.5, 6, 7.25, 10, {"walk": 5}, {"walk": None})
BUDGETS = (None, None, 0, 1, 3.5, 6, 12, {"walk": 8})
MOVERS = fields_of(
    speed=st.sampled_from(SPEEDS),
    footing=st.sampled_from(("careful", "bold")),
    climbs=st.booleans(),
    crosses=st.frozensets(
        st.sampled_from(("mud", "boulder", "rock_formation", "deep_water", "wall", "price")),
        max_size=2,
    ),
    size=st.sampled_from(("tiny", "small", "medium", "large")),
)
OTHERS = fields_of(
    size=st.sampled_from(("small", "large")),
    body=st.sampled_from((1, 2, 3, 7)),
    facing=st.integers(0, 5),
)
PARAMETERS = fields_of(overlays_stack=st.booleans(), mud_exit=st.sampled_from(("hex", "zone")))
PALETTE = [
    case_kind if isinstance(case_kind, tuple) else (case_kind,) for case_kind in LEGEND.values()
]


def on_map(case: Case, token: TokenSpec) -> TokenSpec:
    """Return the token, or of a body that does not lie on the map whole a token of one hex."""
    around = case.around(token.cell)
    ways = {2: [0], 3: [0, 1], 7: range(6)}.get(token.body or 1, [])
    whole = all(case.inside(around[(token.facing + way) % 6]) for way in ways)
    return token if whole else replace(token, body=None)


@st.composite
def hexes(
    draw: st.DrawFn, mover: st.SearchStrategy[dict[str, Any]] = MOVERS, **options: Any
) -> Case:
    """Draw a board of hexes whose bodies lie on it."""
    options = {
        "palette": PALETTE,
        "lattices": LAYOUTS,
        "mover": mover,
        "other": OTHERS,
        "border_palette": BORDERS,
        "elevations": (0.0, 0.3, 1.0, 1.25, 2.5, 4.0),
        "parameters": PARAMETERS,
        **options,
    }
    case = draw(cases(**options))
    case.tokens = tuple(on_map(case, token) for token in case.tokens)
    return case


def perches_of(cells: list[Cell]) -> st.SearchStrategy[tuple[PerchSpec, ...]]:
    """Draw perches, at most one a level of a hex, each higher than the one below."""
    place = st.tuples(st.sampled_from(cells), st.integers(1, 4))
    perch = st.tuples(
        st.sampled_from(("small", "medium", "large")), st.sampled_from((0, 0.3, 1, 1.6, 2))
    )
    return st.dictionaries(place, perch, max_size=6).map(
        lambda drawn: tuple(
            PerchSpec(cell, level, size, 3 * level + more)
            for (cell, level), (size, more) in drawn.items()
        )
    )


@st.composite
def woods(draw: st.DrawFn) -> Case:
    """Draw a small board with perches, most of them near the mover, and tokens on some."""
    speeds = st.sampled_from((*SPEEDS, {"walk": 9, "fly": 4}, {"walk": 4, "fly": 7}, {"fly": 5}))
    mover = fields_of(speed=speeds, size=st.sampled_from(SIZES[:4]), climbs=st.booleans())
    case = draw(hexes(mover, other=fields_of(size=st.sampled_from(("small", "large")))))
    near = [case.tokens[0].cell, *case.neighbours(case.tokens[0].cell)]
    case.perches = draw(perches_of([*near, *(token.cell for token in case.tokens)]))
    tokens = []
    for token in case.tokens:
        levels = [0, *(perch.level for perch in case.perches if perch.cell == token.cell)]
        tokens.append(replace(token, level=draw(st.sampled_from(levels))))
    for perch in case.perches:
        if draw(st.booleans()):
            side = draw(st.sampled_from(("red", "blue", "grey")))
            tokens.append(other(*perch.cell, side, level=perch.level))
    case.tokens = tuple(tokens)
    return case


def agree(case: Case, budget: Any = None) -> None:
    mover = case.tokens[0]
    expected = hexwild.reach(case, mover, budget)
    found = differences(expected, by_library(case, mover, budget))
    assert not found, found


@given(hexes(), st.sampled_from(BUDGETS))
def test_random_boards(case, budget):
    """HW-15 to HW-18: terrain, heights, borders and others, as the reference has them."""
    agree(case, budget)


@given(woods(), st.sampled_from((None, None, 4, 9.5, 20)))
def test_random_woods(case, budget):
    """HW-22 to HW-24: perches, who sits there and who stands below."""
    agree(case, budget)


MIXED = (
    {"walk": 6, "fly": 4},
    {"walk": 4, "fly": 8},
    {"walk": 9, "swim": 4},
    {"walk": 4, "swim": 9},
    {"walk": None, "swim": 8, "fly": 3},
    {"fly": 5},
    {"swim": 6},
)


@given(
    hexes(
        fields_of(speed=st.sampled_from(MIXED), flying=st.booleans(), climbs=st.booleans()),
        palette=[("deep_water",), *PALETTE],
    ),
    st.sampled_from(BUDGETS[:-1]),
)
def test_random_boards_with_several_speeds(case, budget):
    """HW-15 to HW-18: walking, swimming and flying in one movement."""
    agree(case, budget)


BODIES = st.fixed_dictionaries(
    {"body": st.sampled_from((2, 3, 7)), "facing": st.integers(0, 5)},
    optional={"speed": st.sampled_from(SPEEDS), "climbs": st.booleans()},
)


@given(hexes(BODIES), st.sampled_from(BUDGETS))
def test_random_bodies(case, budget):
    """HW-15 to HW-18: bodies of two, three and seven hexes that keep their facing."""
    agree(case, budget)


@given(hexes(BODIES), st.sampled_from(BUDGETS), st.sampled_from((0.5, 1, 2)))
def test_random_bodies_that_turn(case, budget, turn_cost):
    """HW-15 to HW-18: bodies that turn in place for a price."""
    agree(case.replace(parameters={**case.parameters, "turn_cost": turn_cost}), budget)


SWIMMERS = st.fixed_dictionaries(
    {
        "body": st.sampled_from((2, 3, 7)),
        "facing": st.integers(0, 5),
        "speed": st.sampled_from(MIXED),
    },
    optional={"flying": st.booleans()},
)


@given(
    hexes(SWIMMERS, palette=[("deep_water",), ("deep_water",), ("open",), ("mud",)]),
    st.sampled_from((None, 4, 12)),
)
def test_random_bodies_that_swim_and_fly(case, budget):
    """HW-15: bodies of several hexes in lakes, on their shores and over them."""
    agree(case, budget)


@pytest.mark.parametrize("layout", ["odd-r", "even-r", "odd-q", "even-q"])
def test_hw15_a_large_swimmer_swims_every_way(layout):
    """HW-15: in a lake each of the six steps of a body costs the plain point."""
    lake = fc.Board([["deep_water"] * 9] * 9, lattice=layout, rules="hexwild")
    for body in (2, 3, 7):
        eel = fc.Creature("eel", body=body, speed={"swim": 9})
        for start in ((4, 4), (3, 4), (4, 3)):
            reach = lake.reach(start, creature=eel, budget=1)
            assert len(reach) == 7

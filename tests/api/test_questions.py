"""Questions about others: how far, who is nearest, places around somebody, charges, doors."""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft.rules._charging import crossed_cells

SQUARES = {
    ".": "open",
    "~": "difficult",
    "#": "wall",
    "I": "column",
    "o": "pit",
    "n": "low_obstacle",
    ":": "narrow:1",
    "=": "water",
}
KNIGHT = fc.Creature("knight", speed=6)
OGRE = fc.Creature("ogre", size="large", speed=8)


def plain(height, width, rules="pathfinder", lattice="square", **options):
    terrain = "ground" if rules == "octile" else "open"
    return fc.Board([[terrain] * width] * height, lattice=lattice, rules=rules, **options)


def orc(row, col, **options):
    return fc.Token(
        fc.Creature(options.pop("name", "orc"), size=options.pop("size", "medium")),
        (row, col),
        side=options.pop("side", "red"),
        **options,
    )


# -- distances ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("diagonals", "expected"),
    [
        ("alternating", [0, 1, 3, 4, 6]),
        ("alternating-2", [0, 2, 3, 5, 6]),
        ("equidistant", [0, 1, 2, 3, 4]),
        ("rectilinear", [0, 2, 4, 6, 8]),
        ("illegal", [0, 2, 4, 6, 8]),
        ("approximate", [0, 1.5, 3, 4.5, 6]),
        ("exact", [n * math.sqrt(2) for n in range(5)]),
    ],
)
def test_pf12_distance_counts_diagonals_as_movement_does(diagonals, expected):
    """PF-01, PF-12: the first diagonal is 1, the second 2, and so on, or as the parameter has."""
    board = plain(5, 5, fc.rules.get("pathfinder", diagonals=diagonals))
    assert [board.distance((0, 0), (n, n)) for n in range(5)] == pytest.approx(expected)
    assert board.distance((0, 0), (0, 4)) == 4
    assert board.distance((4, 3), (0, 0)) == board.distance((0, 0), (4, 3))


OPEN_GROUND = [
    *(
        (fc.rules.get("pathfinder", diagonals=name), lattice)
        for name in (
            "alternating", "alternating-2", "equidistant", "exact", "approximate", "rectilinear",
            "illegal",
        )
        for lattice in ("square", "square4")
    ),
    *((fc.rules.get("srd5", diagonals=d), "square") for d in ("equidistant", "alternating")),
    (fc.rules.get("srd5", diagonals="alternating-2"), "square"),
    ("srd5", "square4"),
    ("skirmish", "square"),
    ("skirmish", "square4"),
    ("octile", "square"),
    *(("hexwild", lattice) for lattice in ("odd-r", "even-r", "odd-q", "even-q")),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "lattice"), OPEN_GROUND)
def test_pf12_distance_is_the_price_over_open_ground(rules, lattice):
    """PF-12, S5-12: in every system a distance is what the way costs where nothing is in it."""
    board = plain(6, 7, rules, lattice)
    for start in ((0, 0), (3, 2)):
        costs = board.reach(start).to_array()
        for cell in np.ndindex(6, 7):
            assert board.distance(start, cell) == pytest.approx(costs[cell], abs=1e-12)


def test_distances_in_the_units_of_the_systems():
    """PF-12, S5-12: squares, metres, points of movement, hexes."""
    assert plain(3, 6).distance((0, 0), (1, 5)) == 5
    assert plain(3, 6, "srd5").distance((0, 0), (1, 5)) == 7.5
    alternating = fc.rules.get("srd5", diagonals="alternating")
    assert plain(3, 6, alternating).distance((0, 0), (2, 2)) == 4.5
    assert plain(3, 6, "skirmish").distance((0, 0), (2, 5)) == 5
    assert plain(3, 6, "hexwild", "odd-r").distance((0, 0), (2, 5)) == 6


def flights(diagonals):
    """Return the least price by (rows, cols, levels), flown step by step: a plain Dijkstra."""
    first_is_dear = diagonals == "alternating-2"
    found: dict[tuple[int, int, int], int] = {}
    queue = [(0, (0, 0, 0), first_is_dear)]
    done = set()
    while queue:
        price, at, dear = heapq.heappop(queue)
        if (at, dear) in done or max(map(abs, at)) > 5:
            continue
        done.add((at, dear))
        found.setdefault(at, price)
        for step in itertools.product((-1, 0, 1), repeat=3):
            diagonal = bool(step[0] and step[1])
            alternates = diagonal and diagonals != "equidistant"
            more = 2 if alternates and dear else 1
            there = tuple(a + b for a, b in zip(at, step, strict=True))
            heapq.heappush(queue, (price + more, there, dear ^ alternates))
    return found


@pytest.mark.parametrize("diagonals", ["alternating", "alternating-2", "equidistant"])
def test_pf12_levels_of_the_air_are_a_third_way_to_be_apart(diagonals):
    """PF-12, S5-11: flyers are as far apart as one of them would fly, slants included."""
    board = plain(5, 5, fc.rules.get("pathfinder", diagonals=diagonals, altitudes=6))
    high = {level: orc(0, 0, level=level, flying=True) for level in range(1, 6)}
    for (rows, cols, levels), price in flights(diagonals).items():
        if 0 <= rows < 5 and 0 <= cols < 5 and 0 <= levels < 5:
            other = orc(rows, cols, level=1, flying=True)
            assert board.distance(high[levels + 1], other) == price
    assert board.distance(high[3], (0, 0)) == 3, "a cell lies on the ground"
    assert board.distance(orc(0, 0, flying=True), (0, 1)) == 1, "the air begins on level 1"


def test_s5_11_who_falls_out_of_the_air_is_on_the_ground():
    """S5-11, S5-12: a flyer that is knocked prone falls; skirmish has no levels of the air."""
    board = plain(3, 3, "srd5")
    assert board.distance(orc(0, 0, flying=True, level=3), (0, 1)) == 4.5
    assert board.distance(orc(0, 0, flying=True, level=3, prone=True), (0, 1)) == 1.5
    assert plain(3, 3, "skirmish").distance(orc(0, 0, flying=True, level=3), (0, 1)) == 1


@pytest.mark.parametrize("rules", ["pathfinder", "srd5", "skirmish"])
def test_s5_12_bodies_are_as_far_apart_as_their_closest_cells(rules):
    """S5-12, PF-09, PF-12: the least over the cells of both; a cell is that cell alone."""
    board = plain(9, 9, rules)
    giant, ogre = orc(0, 0, size="huge"), orc(4, 6, size="large")
    board = board.replace(tokens=[giant, ogre])
    cells = itertools.product(
        itertools.product(range(3), range(3)), itertools.product((4, 5), (6, 7))
    )
    expected = min(board.distance(a, b) for a, b in cells)
    assert board.distance(giant, ogre) == board.distance(ogre, giant) == expected
    assert board.distance(giant, (2, 2)) == 0
    assert board.distance((0, 0), (0, 3)) > board.distance(giant, (0, 3))


def test_hw25_distance_is_hexes_and_levels():
    """HW-10, HW-25: up a tree one is a level further away from everybody below."""
    board = plain(5, 5, "hexwild", "odd-r")
    up = orc(2, 2, level=2)
    assert [board.distance(up, cell) for cell in ((2, 2), (2, 3), (2, 4))] == [2, 3, 4]
    assert board.distance(up, orc(2, 3, level=1)) == 2
    snake = fc.Token(fc.Creature("snake", body=2), (2, 0), facing=1)
    assert board.distance(snake, (2, 2)) == 1, "of a body of hexes the closest counts"


def test_what_has_no_distance():
    board = plain(3, 3, tokens=[orc(0, 0)])
    with pytest.raises(fc.OutsideMapError, match=r"cell \(3, 0\) lies outside the map"):
        board.distance((0, 0), (3, 0))
    with pytest.raises(fc.OutsideMapError, match="a cell that token 'ogre' covers"):
        board.distance(fc.Token(OGRE, (2, 2)), (0, 0))
    with pytest.raises(fc.ArgumentTypeError, match="must be \\(row, col\\)"):
        board.distance((0, 0), "orc")
    for level in (-1, 1.5, True):
        with pytest.raises(fc.RulesError, match="level of token 'orc' must be a whole number"):
            board.distance(orc(0, 0, level=level, flying=True), (0, 0))


# -- the nearest --------------------------------------------------------------------------------


def test_pf12_all_the_nearest_are_listed():
    """PF-12: of equally near ones all, in the order they were given."""
    knight = fc.Token(KNIGHT, (2, 2), side="blue")
    foes = [orc(2, 5, name="east"), orc(0, 0, name="far"), orc(5, 2, name="south")]
    friend = fc.Token("squire", (2, 3), side="blue")
    board = plain(7, 7, tokens=[friend, *foes, knight])
    near = board.nearest(knight)
    assert [foe.label for foe in near] == ["east", "far", "south"], "two diagonals make 3"
    equidistant = board.replace(rules=fc.rules.get("pathfinder", diagonals="equidistant"))
    assert [foe.label for foe in equidistant.nearest(knight)] == ["far"]
    assert board.nearest((2, 2)) == near, "a cell means the token there"
    assert board.nearest(knight, [friend, *foes]) == (friend,)
    assert board.nearest(knight, foes[::-1]) == near[::-1]


def test_pf12_squares_may_be_nearest_too():
    """PF-12: squares and creatures, mixed as one likes, in a list or an array."""
    board = plain(7, 7)
    cells = [(0, 0), (2, 5), (5, 2), (6, 6)]
    assert board.nearest((2, 2), cells) == ((0, 0), (2, 5), (5, 2))
    assert board.nearest((2, 2), np.array(cells)) == ((0, 0), (2, 5), (5, 2))
    someone = orc(2, 4)
    assert board.nearest((2, 2), [*cells, someone]) == (someone,)
    assert board.nearest((2, 2), [(2, 2), (2, 3)]) == ((2, 2),)


def test_pf12_one_of_them_is_drawn():
    """PF-12: a generator draws one of the nearest, each of them in time, the same for a seed."""
    board = plain(7, 7)
    cells = [(0, 0), (2, 5), (5, 2), (6, 6)]
    rng = np.random.default_rng(5)
    draws = [board.nearest((2, 2), cells, rng) for _ in range(60)]
    assert set(draws) == {(0, 0), (2, 5), (5, 2)}
    again = np.random.default_rng(5)
    assert [board.nearest((2, 2), cells, rng=again) for _ in range(60)] == draws
    assert board.nearest((2, 2), [], rng=rng) is None


def test_pf12_who_is_a_candidate():
    """PF-12: foes, whoever asks left out; neutrals are none."""
    knight = fc.Token(KNIGHT, (2, 2), side="blue")
    twin = fc.Token(KNIGHT, (2, 2), side="blue")
    trader, wolf = fc.Token("trader", (2, 3), side="green"), fc.Token("wolf", (0, 2), side="wild")
    board = plain(5, 5, tokens=[knight, trader, wolf], relations=[("blue", "green", "neutral")])
    assert board.nearest(knight) == (wolf,)
    assert board.nearest(knight, [knight, wolf]) == (wolf,)
    assert board.nearest(knight, [twin, knight, wolf]) == (twin,), "an equal one is another"
    assert board.replace(tokens=[knight]).nearest(knight) == ()
    civil_war = board.replace(relations=[("blue", "blue", "foe")], tokens=[knight, wolf])
    assert civil_war.nearest(knight) == (wolf,), "nobody is a foe of itself"


def test_what_cannot_be_nearest():
    board = plain(3, 3)
    with pytest.raises(fc.ArgumentTypeError, match="rng must be a NumPy Generator"):
        board.nearest((0, 0), [(1, 1)], 5)
    with pytest.raises(fc.OutsideMapError, match=r"candidate \(3, 3\) lies outside"):
        board.nearest((0, 0), [(1, 1), (3, 3)])
    for candidates in ([1, 2], "orc", [(0, 0, 0)], 7):
        with pytest.raises(fc.ArgumentTypeError, match="candidates"):
            board.nearest((0, 0), candidates)


# -- places around ------------------------------------------------------------------------------

SIDES = {"tiny": 1, "small": 1, "medium": 1, "large": 2, "huge": 3, "gargantuan": 4}


@pytest.mark.parametrize("size", SIDES)
@pytest.mark.parametrize("other", SIDES)
def test_s5_12_how_many_surround_a_creature(size, other):
    """S5-12: 4n + 4 Medium creatures around n x n; of larger ones all places that touch."""
    n, m = SIDES[size], SIDES[other]
    board = plain(12, 12, "srd5")
    around = board.surrounding(orc(4, 4, size=size), fc.Creature(size=other))
    assert len(around) == len(set(around)) == 4 * (n + m)

    def gap(anchor, start):
        """Return how many squares lie between two bodies along one axis, -1 if they overlap."""
        return max(anchor - (start + n), start - (anchor + m), -1)

    expected = [
        (row, col)
        for row in range(-2, 14)
        for col in range(-2, 14)
        if max(gap(row, 4), gap(col, 4)) == 0
    ]
    assert list(around) == expected


def test_s5_12_eight_around_one_square_and_twenty_around_four_by_four():
    """S5-12: the two counts of the specification, all at the same time."""
    board = plain(8, 8, "srd5")
    assert len(board.surrounding((3, 3))) == 8
    dragon = orc(2, 2, size="gargantuan")
    around = board.surrounding(dragon)
    assert len(around) == 20
    ring = [fc.Token("guard", cell, side="blue", name=f"guard {cell}") for cell in around]
    board = board.replace(tokens=[dragon, *ring])
    assert all(board.can_hit(guard, dragon) and board.can_hit(dragon, guard) for guard in ring)
    assert board.surrounding(dragon, free=True) == ()
    assert board.surrounding((3, 3)) == around, "a cell means the token there"


@pytest.mark.parametrize("lattice", ["odd-r", "even-r", "odd-q", "even-q"])
@pytest.mark.parametrize(("body", "n"), [(1, 6), (2, 8), (3, 9), (7, 12)])
def test_hexes_around_bodies_of_hexes(lattice, body, n):
    """S5-12 on hexes: six around one, twelve around seven; bodies touch with any of their hexes."""
    board = plain(11, 11, "hexwild", lattice)
    for cell in ((5, 5), (4, 5)):
        beast = fc.Token(fc.Creature("beast", body=body), cell, facing=2)
        assert len(board.surrounding(beast)) == n
        for other, facing in itertools.product((1, 2, 3, 7), (0, 3)):
            newcomer = fc.Token(fc.Creature("newcomer", body=other), (0, 0), facing=facing)
            expected = [
                anchor
                for anchor in np.ndindex(11, 11)
                if min(
                    board.lattice.distance(a, b)
                    for a in board.rules.cells_of(newcomer.at(anchor), board.lattice)
                    for b in board.rules.cells_of(beast, board.lattice)
                )
                == 1
            ]
            assert list(board.surrounding(beast, newcomer)) == expected


def test_squares_without_diagonals_have_four_neighbours():
    board = plain(7, 7, "srd5", "square4")
    assert board.surrounding((3, 3)) == ((2, 3), (3, 2), (3, 4), (4, 3))
    assert len(board.surrounding(orc(2, 2, size="huge"))) == 12


def test_s5_12_free_places_are_open_and_empty():
    """S5-12: on the map, open by the rules, and nobody there."""
    rows = ["#..", "..o", "=.."]
    board = fc.Board.from_rows(rows, SQUARES, rules="pathfinder")
    helpless = orc(0, 1, helpless=True)
    board = board.replace(tokens=[orc(1, 1), helpless, fc.Token("friend", (2, 1))])
    assert board.surrounding((1, 1), free=True) == ((0, 2), (1, 0), (2, 2))
    frog = fc.Creature("frog", speed={"walk": 4, "swim": 6})
    assert (2, 0) in board.surrounding((1, 1), frog, free=True)
    corner = plain(2, 2, "srd5")
    assert corner.surrounding((0, 0), free=True) == ((0, 1), (1, 0), (1, 1))
    assert len(corner.surrounding((0, 0))) == 8, "without free also off the map"


def test_s5_12_free_places_of_large_creatures():
    """S5-12, PF-09: the whole body needs room; its own place is free to who moves."""
    rows = ["......", "......", "....#.", "......", "......"]
    board = fc.Board.from_rows(rows, SQUARES, rules="srd5", tokens=[orc(2, 2)])
    places = board.surrounding((2, 2), OGRE, free=True)
    top, bottom = [[(row, col) for col in range(4)] for row in (0, 3)]
    assert list(places) == [*top, (1, 0), (2, 0), *bottom], "east of it stands the wall"
    ogre = fc.Token(OGRE, (0, 1), side="blue")
    board = board.replace(tokens=[*board.tokens, ogre])
    assert (0, 1) not in board.surrounding((2, 2), free=True)
    assert (0, 2) not in board.surrounding((2, 2), OGRE, free=True)
    assert {(0, 1), (0, 2)} <= {*board.surrounding((2, 2), ogre, free=True)}


def test_s5_12_free_places_of_large_swimmers():
    """S5-12, PF-11: a body that only swims needs water under some of it."""
    whale = fc.Creature("whale", size="large", speed={"swim": 6})
    rows = ["......", "......", ".....=", "......", "......"]
    board = fc.Board.from_rows(rows, SQUARES, rules="pathfinder", tokens=[orc(2, 3)])
    assert board.surrounding((2, 3), whale, free=True) == ((1, 4), (2, 4))


def test_s5_12_who_sits_in_a_tree_comes_down():
    """S5-12, HW-23: its places are on the ground."""
    up = fc.Token("elf", (2, 1), level=1, side="blue")
    board = plain(5, 5, "hexwild", "odd-r", tokens=[orc(2, 2), up])
    assert len(board.surrounding((2, 2), up, free=True)) == 6
    assert board.surrounding((2, 2), up) == board.surrounding((2, 2))


def test_s5_12_places_below_a_flyer_and_a_perch():
    """S5-12, HW-25: one level up all nine squares touch, of hexes only the one below."""
    board = plain(5, 5, "srd5")
    assert len(board.surrounding(orc(2, 2, flying=True, level=1))) == 9
    assert board.surrounding(orc(2, 2, flying=True, level=2)) == ()
    beside = orc(0, 0, flying=True, level=2)
    assert len(board.surrounding(orc(2, 2, flying=True, level=2), beside)) == 8
    woods = plain(5, 5, "hexwild", "odd-r")
    assert woods.surrounding(orc(2, 2, level=1)) == ((2, 2),)
    assert woods.surrounding(orc(2, 2, level=2)) == ()


def test_s5_12_flyers_hover_where_nobody_stands():
    """S5-12, PF-11: a token in the air needs room in the air."""
    board = fc.Board.from_rows("...o.", SQUARES, rules="pathfinder", tokens=[orc(0, 2)])
    bird = fc.Token(fc.Creature("bird", speed={"walk": 1, "fly": 6}), (0, 0), flying=True)
    assert board.surrounding((0, 2), bird, free=True) == ((0, 1), (0, 2), (0, 3))
    assert board.surrounding((0, 2), bird.creature, free=True) == ((0, 1),)


def test_s5_12_who_stands_in_a_doorway_blocks_it():
    """S5-12: the doorway is shut for those it does not let through."""
    rows = ["...#...", "......."]
    terrain = [[SQUARES[c] for c in row] for row in rows]
    porter = fc.Token("porter", (1, 3), side="blue", lets_through=False)
    board = fc.Board(terrain, rules="srd5", tokens=[porter])
    guest = fc.Token(KNIGHT, (1, 0), side="blue")
    assert not board.path(guest, (1, 6))
    assert board.path(guest, (1, 6), tokens=[orc(1, 3, side="blue")])


def test_what_has_no_places_around():
    board = plain(3, 3)
    with pytest.raises(fc.ArgumentTypeError, match="creature must be a Creature or a Token"):
        board.surrounding((0, 0), "orc")
    with pytest.raises(fc.OutsideMapError):
        board.surrounding((0, 3))


# -- charges ------------------------------------------------------------------------------------


def charging(rows, *, start=(0, 0), target=None, creature=KNIGHT, rules="pathfinder", **options):
    """Return the charge of a token at the start on an orc at the target."""
    board = fc.Board.from_rows(rows, SQUARES, rules=rules, **options)
    last = (board.shape[0] - 1, board.shape[1] - 1)
    mover, foe = fc.Token(creature, start, side="blue"), orc(*(target or last))
    board = board.replace(tokens=[mover, foe, *board.tokens])
    (charge,) = board.charge_lanes(mover, [foe])
    assert charge.target is foe
    assert bool(charge) == (charge.reason == "") == (len(charge.cells) > 0)
    assert math.isfinite(charge.length) == bool(charge)
    return charge


def test_pf07_a_charge_goes_straight_to_the_closest_square():
    """PF-07: along the row to the square before the target, 3 squares."""
    charge = charging(".....")
    assert charge.cells == ((0, 0), (0, 1), (0, 2), (0, 3))
    assert charge.length == 3


def test_pf07_at_least_two_squares():
    """PF-07: 2 squares by PF-01, so one diagonal is too little and two are enough."""
    assert charging("...").reason == "only 1 to go, and a charge needs 2 squares"
    assert charging("..").reason == "only 0 to go, and a charge needs 2 squares"
    assert charging("....").length == 2
    assert charging(["...", "...", "..."]).reason.startswith("only 1 to go")
    charge = charging(["....", "....", "....", "...."])
    assert (charge.length, charge.cells) == (3, ((0, 0), (1, 1), (2, 2)))


def test_pf07_at_most_twice_the_speed():
    """PF-07: with a speed of 6 over 12 squares and not over 13; without one as far as one likes."""
    assert charging("." * 14).length == 12
    assert charging("." * 15).reason == "13 squares to go, more than twice the speed of 6"
    assert charging("." * 40, creature=fc.Creature()).length == 38
    in_metres = fc.Creature("knight", speed={"walk": "9 m", "swim": "30 m"})
    assert charging("." * 14, creature=in_metres).length == 12
    assert not charging("." * 15, creature=in_metres)
    diagonal = ["." * 10] * 10
    assert charging(diagonal).length == 12, "eight diagonals are 12 squares"
    assert "13 squares" in charging(["." * 11] * 10).reason


@pytest.mark.parametrize(
    ("square", "reason"),
    [
        ("~", "difficult is in the way at (0, 2)"),
        ("n", "low obstacle is in the way at (0, 2)"),
        (":", "squeezing is in the way at (0, 2)"),
        ("#", "an obstacle is in the way from (0, 1) to (0, 2)"),
        ("o", "an obstacle is in the way from (0, 1) to (0, 2)"),
        ("=", "an obstacle is in the way from (0, 1) to (0, 2)"),
    ],
)
def test_pf07_no_difficult_terrain_and_no_obstacle(square, reason):
    """PF-07: nothing that slows or stops in the squares crossed; the first one does not count."""
    assert charging(f"..{square}...").reason == reason
    if square != "#":
        assert charging(f"{square}.....").length == 4
    assert charging([".......", f"..{square}....", "......."], target=(0, 6))
    thief = fc.Creature("thief", speed=6, crosses=frozenset({"difficult"}))
    assert bool(charging(f"..{square}...", creature=thief)) == (square == "~")


def test_pf07_no_creature_in_the_lane():
    """PF-07: friends and the helpless are in the way, too, also where the charge would end."""
    for other in (orc(0, 2), orc(0, 2, side="blue"), orc(0, 2, helpless=True)):
        assert charging("......", tokens=[other]).reason == "orc is in the way at (0, 2)"
    page = orc(0, 4, name="page")
    assert charging("......", tokens=[page]).reason == "page is in the way at (0, 4)"
    friendly = fc.rules.get("pathfinder", occupied="normal", tumble=True)
    assert not charging("......", tokens=[orc(0, 2)], rules=friendly)
    # In the air nobody is in the way of those on the ground.
    assert charging("......", tokens=[orc(0, 2, flying=True)])


def test_pf07_another_closest_square_serves_as_well():
    """PF-07: of squares equally close any will do, the straightest first."""
    rows = ["......", "......", "......"]
    charge = charging(rows, start=(1, 0), target=(1, 5))
    assert charge.cells[-1] == (1, 4)
    # (0, 4) and (2, 4) are 4 squares away as well: the first diagonal costs 1.
    charge = charging(rows, start=(1, 0), target=(1, 5), tokens=[orc(1, 4)])
    assert (charge.cells[-1], charge.length) == ((0, 4), 4)
    charge = charging(rows, start=(1, 0), target=(1, 5), tokens=[orc(1, 4), orc(0, 3)])
    assert charge.cells[-1] == (2, 4)
    # Further ones do not serve.
    blocked = [orc(1, 4), orc(0, 4), orc(2, 4)]
    assert charging(rows, start=(1, 0), target=(1, 5), tokens=blocked).reason == (
        "orc is in the way at (1, 4)"
    )


def test_pf07_the_squares_crossed():
    """PF-07: every square whose inside the line meets, and across a corner none beside it."""
    assert crossed_cells((0, 0), (1, 2)) == [(0, 0), (0, 1), (1, 1), (1, 2)]
    assert crossed_cells((4, 4), (2, 2)) == [(4, 4), (3, 3), (2, 2)]
    assert crossed_cells((0, 0), (1, 3)) == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert crossed_cells((2, 2), (2, 2)) == [(2, 2)]
    for rows, cols in itertools.product(range(-6, 7), repeat=2):
        cells = crossed_cells((0, 0), (rows, cols))
        assert set(cells) == {
            (row, col)
            for row, col in itertools.product(range(-6, 7), repeat=2)
            if meets_inside(rows, cols, row, col)
        }
        for a, b in itertools.pairwise(cells):
            assert max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1


def meets_inside(rows, cols, row, col):
    """Return whether the segment to (rows, cols) meets the inside of a square, by clipping it."""
    low, high = 0.0, 1.0
    inside = True
    for length, at in ((rows, row), (cols, col)):
        if length == 0:
            inside &= abs(at) < 0.5
            continue
        ends = sorted(((at - 0.5) / length, (at + 0.5) / length))
        low, high = max(low, ends[0]), min(high, ends[1])
    return inside and high - low > 1e-9


def test_pf07_a_lane_at_an_angle():
    """PF-07: what stands in any square crossed is in the way, what stands beside is not."""
    rows = ["......", "......", "......", "......"]
    charge = charging(rows, target=(3, 5))
    assert charge.length == 5
    for cell in charge.cells[1:]:
        where = {"tokens": [orc(*cell)]}
        other = charging(rows, target=(3, 5), **where)
        assert cell not in other.cells
    beside = [cell for cell in np.ndindex(4, 6) if cell not in (*charge.cells, (3, 5))]
    friends = [orc(*cell, name=f"friend {cell}", side="blue") for cell in beside]
    assert charging(rows, target=(3, 5), tokens=friends).cells == charge.cells


def test_pf07_corners_walls_and_low_walls_between():
    """PF-03, PF-07, PF-08: the line makes legal steps, over no wall, high or low."""
    rows = ["....", "....", "....", "...."]
    assert charging(rows)
    assert "from (0, 0) to (1, 1)" in charging([".#..", *rows[1:]]).reason
    assert charging([".o..", *rows[1:]]), "a pit has no corners"
    pair = ((0, 1), (0, 2))
    for kind, word in (("wall", "an obstacle"), ("low_wall", "low wall"), ("door", "an obstacle")):
        border = fc.Border(pair, kind)
        reason = charging(".....", borders=[border]).reason
        assert reason == f"{word} is in the way from {pair[0]} to {pair[1]}"
    assert charging(".....", borders=[fc.Border(pair, "door", open=True)])
    assert charging(".....", borders=[fc.Border(pair, "drop")])
    assert not charging(".....", borders=[fc.Border(pair[::-1], "drop")])
    ghost = fc.Creature("ghost", speed=6, crosses=frozenset({"wall", "low_wall"}))
    for kind in ("wall", "low_wall"):
        assert charging(".....", borders=[fc.Border(pair, kind)], creature=ghost)


def test_pf07_from_where_it_can_attack():
    """PF-07: through a wall nobody attacks; with a reach of 2 the charge ends a square earlier."""
    wall = fc.Border(((0, 4), (0, 5)), "wall")
    charge = charging("......", borders=[wall])
    assert charge.reason == "there is no place on the map from which it can be attacked"
    walls = [wall, fc.Border(((1, 4), (1, 5)), "wall")]
    around = charging(["......", "......"], target=(0, 5), borders=walls)
    assert around.reason == "an obstacle is in the way from (1, 4) to (1, 5)", (
        "to attack from below"
    )
    lancer = fc.Creature("lancer", speed=6, reach=2)
    assert charging("......", creature=lancer).cells[-1] == (0, 3)
    assert charging("....", creature=lancer).reason.startswith("only 1 to go")
    unarmed = fc.Creature("scholar", speed=6, reach=0)
    assert "no place" in charging("......", creature=unarmed).reason


def test_pf07_a_charge_ends_where_a_movement_may_end(tmp_path):
    """PF-07: where nobody may stop no charge ends, however easily one passes."""
    path = tmp_path / "ropes.toml"
    path.write_text('extends = "pathfinder"\n[terrain.rope]\nstop = false\n')
    board = fc.Board([["open", "rope", "open", "rope", "open"]], rules=path)
    knight = fc.Token(KNIGHT, (0, 0), side="blue")
    far, near = board.replace(tokens=[knight]).charge_lanes(knight, [(0, 4), (0, 3)])
    assert far.reason == "no movement may end at (0, 3)"
    assert near.cells[-1] == (0, 2)


def test_pf07_large_bodies_need_a_lane_as_wide_as_they_are():
    """PF-07, PF-09: the squares that any part of the body crosses."""
    rows = ["........", "........", "........"]
    charge = charging(rows, creature=OGRE, target=(0, 7))
    assert (charge.cells[-1], charge.length) == ((0, 5), 5)
    assert charging(rows, creature=OGRE, target=(0, 7), tokens=[orc(1, 3)]).reason == (
        "orc is in the way at (1, 3)"
    )
    assert charging(rows, creature=OGRE, target=(0, 7), tokens=[orc(2, 3)])
    below = orc(1, 2, side="blue", name="page")
    charge = charging(rows, creature=OGRE, target=(0, 7), tokens=[below])
    assert charge.reason == "page is in the way at (1, 2)"
    narrow = ["........", "..####..", "........"]
    assert "an obstacle" in charging(narrow, creature=OGRE, target=(0, 7)).reason, "no squeezing"
    assert charging(["~~......", "........"], creature=OGRE, target=(0, 7)), (
        "where it stands already"
    )
    assert not charging(["~~~.....", "........"], creature=OGRE, target=(0, 7))
    dragon = orc(0, 5, size="huge")
    board = fc.Board.from_rows(rows, SQUARES, rules="pathfinder")
    mover = fc.Token(OGRE, (0, 0), side="blue")
    (charge,) = board.replace(tokens=[mover, dragon]).charge_lanes(mover)
    assert charge.cells == ((0, 0), (0, 1), (0, 2), (0, 3))


def test_pf07_flyers_charge_over_the_ground():
    """PF-07, PF-11: nothing on the ground is in their way, and they reach a level down."""
    bird = fc.Creature("griffon", speed={"walk": 6, "fly": 10})
    board = fc.Board.from_rows("..~#o...", SQUARES, rules="pathfinder")
    mover = fc.Token(bird, (0, 0), side="blue", flying=True)
    foes = [orc(0, 7), orc(0, 7, name="high", flying=True, level=3)]
    board = board.replace(tokens=[mover, *foes, orc(0, 1)])
    low, high = board.charge_lanes(mover, foes)
    assert not low, "a wall stops flyers as well"
    board = board.replace((0, 3), "pit")
    low, high = board.charge_lanes(mover, foes)
    assert (low.cells[-1], low.length) == ((0, 6), 6)
    assert "no place" in high.reason
    assert not board.charge_lanes(mover, [orc(0, 7)])[0].reason


def test_pf07_who_is_charged():
    """PF-07: all foes in the board's order, or those asked for; cells stand for who is there."""
    mover = fc.Token(KNIGHT, (0, 0), side="blue")
    one, two = orc(0, 4, name="one"), orc(3, 0, name="two")
    friend = fc.Token("friend", (3, 4), side="blue")
    board = plain(4, 5, tokens=[two, mover, friend, one])
    charges = board.charge_lanes(mover)
    assert [charge.target for charge in charges] == [two, one]
    assert board.charge_lanes((0, 0)) == charges
    assert board.charge_lanes(mover, [(0, 4), (3, 4)])[0] == charges[1]
    assert board.charge_lanes(mover, [(0, 4), (3, 4)])[1].target is friend
    assert board.charge_lanes(mover, [(1, 4)])[0].target == (1, 4)
    assert board.charge_lanes(mover, []) == ()
    assert board.charge_lanes((2, 2), [(2, 4)])[0].reason.startswith("only 1")


@pytest.mark.parametrize("diagonals", ["illegal", "exact", "approximate"])
def test_pf07_under_other_diagonals(diagonals):
    """PF-07: lengths and legal steps are those of the parameter."""
    rules = fc.rules.get("pathfinder", diagonals=diagonals)
    charge = charging(["....", "....", "....", "...."], rules=rules)
    if diagonals == "illegal":
        assert "an obstacle is in the way" in charge.reason
    else:
        assert charge.length == pytest.approx(2 * math.sqrt(2) if diagonals == "exact" else 3)
    assert charging("." * 14, rules=rules).length == 12
    assert not charging("." * 15, rules=rules)


@pytest.mark.parametrize("rules", ["srd5", "skirmish", "hexwild", "octile"])
def test_pf07_other_systems_have_no_charge(rules):
    """PF-07: asked for a charge they say that they have none."""
    board = plain(2, 5, rules, "odd-r" if rules == "hexwild" else "square")
    with pytest.raises(fc.RulesError, match=f"{rules} has no charge"):
        board.charge_lanes((0, 0), [(0, 4)])
    with pytest.raises(fc.RulesError, match=f"{rules} has no charge"):
        board.charge_lanes((0, 0))


# -- doors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["pathfinder", "srd5", "skirmish"])
def test_doors_are_opened_and_closed(rules):
    """PF-08: a new board each time; whoever asked the old one sees its door as it was."""
    pair = ((0, 1), (0, 2))
    doors = [fc.Border(pair, "door"), fc.Border(((1, 1), (1, 2)), "wall")]
    board = plain(2, 4, rules, borders=doors)
    assert not board.path((0, 0), (0, 3))
    assert not board.sight((0, 0), (0, 3))
    opened = board.open_door(*pair)
    assert opened.path((0, 0), (0, 3)).cost == opened.distance((0, 0), (0, 3))
    assert opened.sight((0, 0), (0, 3))
    assert not board.path((0, 0), (0, 3))
    assert opened.close_door(*pair[::-1]) == board
    assert board.close_door(*pair) == board
    assert opened.open_door(*pair) == opened
    assert opened.terrain.borders[1] == doors[1]


def test_doors_that_are_not_there():
    pair = ((0, 1), (0, 2))
    board = plain(2, 4, borders=[fc.Border(pair, "door"), fc.Border(((0, 0), (0, 1)), "wall")])
    with pytest.raises(fc.MapError) as caught:
        board.open_door((0, 0), (0, 1))
    assert str(caught.value) == (
        "there is no door between (0, 0) and (0, 1); doors are between (0, 1) and (0, 2)"
    )
    with pytest.raises(fc.MapError, match="nor anywhere on this board"):
        plain(2, 2).close_door((0, 0), (0, 1))
    with pytest.raises(fc.OutsideMapError):
        board.open_door((0, 3), (0, 4))
    with pytest.raises(fc.ArgumentTypeError):
        board.open_door(0, 1)

"""Seeing over heights, from trees and with large bodies, in the systems that have them."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies
from fieldcraft import rules as systems
from fieldcraft.creature import Creature, Token
from fieldcraft.terrain import Border, Perch
from reference.sightsum import SightSpec, look
from rules.boards import HEXES, SQUARES, hexes
from sharedfolder import shared_dir

HEXWILD = systems.get("hexwild")
MAN = Creature("man")
METRES = {"tiny": 0.5, "small": 1.0, "medium": 1.8, "large": 3.0, "huge": 5.0, "gargantuan": 8.0}


def wild(rows, elevation=None, *, tokens=(), perches=(), **options):
    """Return a board of hexagons in rows."""
    rules = HEXWILD.configure(**options.pop("parameters", {}))
    terrain = hexes(rows, options.pop("lattice", "odd-r"), elevation=elevation, **options)
    if perches:
        terrain = fc.Terrain(
            terrain.lattice, terrain.codes, terrain.kinds, terrain.elevation, terrain.light,
            terrain.borders, tuple(perches),
        )  # fmt: skip
    return fc.Board.from_terrain(terrain, rules=rules, tokens=tokens)


def sees(rows, elevation, a=(0, 0), b=None, **options):
    """Tell whether a man in one cell of a drawing sees one in another, and the other way round."""
    board = wild(rows, elevation, **options)
    goal = (0, board.shape[1] - 1) if b is None else b
    there, back = board.sight(a, goal), board.sight(goal, a)
    assert there.visible == back.visible
    return there.visible


# ---- hexwild: rocks, hills, boulders -----------------------------------------------------------


def test_hw13_who_looks_from_above_the_top_looks_over_a_rock():
    """HW-13: from a hill of 6 m (eyes at 7.8) down to eyes at 1.8, four hexes on."""
    # The line leaves the first hex at 5.55 m, the second at 4.05, the third at 2.55.
    for at, least in ((1, 5.55), (2, 4.05), (3, 2.55)):
        rows = "." * at + "#" + "." * (4 - at)
        for top, seen in ((least, False), (least - 0.01, True)):
            elevation = [6.0, 0.0, 0.0, 0.0, 0.0]
            elevation[at] = top
            assert sees(rows, [elevation]) == seen
    assert not sees(".#.", [[0, 3, 0]])
    assert not sees(".#.", [[0, 1.8, 0]]), "up to the line itself"
    assert sees(".#.", [[0, 1.79, 0]])


def test_hw13_who_stands_on_a_rock_is_seen_and_sees():
    """HW-13: the ends of a line do not block, and eyes are raised by what one stands on."""
    assert sees("..#", [[0, 0, 5]])
    assert sees("#.#", [[5, 0, 5]])
    assert sees("#..#", [[5, 6.7, 6.7, 5]])
    assert not sees("#..#", [[5, 6.8, 0, 5]])


def test_hw13_without_an_elevation_a_rock_has_no_limit():
    """HW-13: opaque without limit, for the tallest."""
    giant = Creature("giant", size="gargantuan", height=100)
    board = wild(".#.", tokens=[Token(giant, (0, 0)), Token(giant, (0, 2), name="other")])
    assert not board.sight((0, 0), (0, 2))
    flat = wild(".#.", [[0, 3, 0]], tokens=[Token(giant, (0, 0)), Token(giant, (0, 2))])
    assert flat.sight((0, 0), (0, 2))


def test_hw13_buildings_and_walls_have_no_limit():
    """HW-13: on a map with an elevation too."""
    assert not sees("..H..", [[9, 0, 1, 0, 9]])
    wall = [Border(((0, 1), (0, 2)), "wall")]
    assert not sees(".....", [[9, 0, 0, 0, 9]], borders=wall)


def test_hw13_boulders_are_seen_over():
    """HW-13: the boulder is not opaque, however high its hex."""
    assert sees(".o.", [[0, 9, 0]])
    assert not sees(".x.", [[0, 9, 0]], legend={"x": ("rock_formation", "boulder")})


def test_hw13_hills_hide_what_is_behind_them():
    """HW-13: plain ground with an elevation blocks too, unless hills="clear"."""
    clear = {"parameters": {"hills": "clear"}}
    assert not sees("...", [[0, 3, 0]])
    assert sees("...", [[0, 1.7, 0]])
    assert sees("...", [[0, 3, 0]], **clear)
    assert not sees(".#.", [[0, 3, 0]], **clear)
    assert sees("..#", [[0, 3, 3]], **clear)
    assert sees("...", [[0, -2, 0]])
    assert not sees("...", [[-2, 0, -2]])
    with pytest.raises(fc.RulesError, match="hills"):
        HEXWILD.configure(hills="maybe")


def test_hw13_a_crest_hides_the_foot_of_its_slope():
    """HW-13: by creature heights: who is tall enough is seen over the crest."""
    elevation = [[6, 6, 0, 0]]
    for size, seen in (("small", False), ("medium", False), ("huge", True)):
        # From 7.8 down: the line leaves the crest half way to the third hex.
        board = wild(
            "....", elevation, tokens=[Token(MAN, (0, 0)), Token(Creature("it", size), (0, 3))]
        )
        least = 7.8 + (METRES[size] - 7.8) * 1.5 / 3
        assert (least > 6) == seen
        assert board.sight((0, 0), (0, 3)).visible == seen


def test_hw13_the_heights_of_creatures():
    """HW-13: by size, or the creature's own."""
    for size, metres in METRES.items():
        assert HEXWILD.height_of(Creature("it", size)) == metres
        assert HEXWILD.height_of(Creature("it", size, height=2.25)) == 2.25
    for height in (0, -1, float("nan"), float("inf"), True):
        with pytest.raises(fc.RulesError, match="height of creature 'it'"):
            HEXWILD.height_of(Creature("it", height=height))


def test_hw13_pairs_are_blocked_side_by_side():
    """HW-13, HW-14: of a line along an edge either side is blocked on its own."""
    # From (0, 0) to (2, 3) in odd-r the line runs between (0, 1) and (1, 0), then (1, 2), (2, 2).
    for heights, ways in (
        ((5, 0, 0, 0), (False, True, False, True, False)),
        ((5, 5, 0, 0), (False,) * 5),
        ((5, 0, 0, 5), (False, False, False, True, False)),
        ((5, 0, 5, 0), (False, True, False, True, False)),
    ):
        elevation = np.zeros((3, 4))
        for cell, height in zip(((0, 1), (1, 0), (1, 2), (2, 2)), heights, strict=True):
            elevation[cell] = height
        ties = ("worst-side", "best-side", "worst-hex", "best-hex", "both")
        for tie, seen in zip(ties, ways, strict=True):
            found = sees(["...."] * 3, elevation, b=(2, 3), parameters={"tie": tie})
            assert found == seen, (heights, tie)


def test_hw13_foliage_counts_whatever_its_height():
    """HW-13: heights end a line; what obstructs obstructs as ever."""
    board = wild(".F.f.", [[6, 0, 0, 0, 6]])
    sight = board.sight((0, 0), (0, 4))
    assert (sight.visible, sight.obstruction) == (True, -2)


def test_sk09_hw13_stepped_lines_have_no_heights():
    """SK-09: heights with line="stepped" are an error."""
    stepped = {"parameters": {"line": "stepped"}}
    with pytest.raises(fc.RulesError, match="stepped"):
        sees("...", [[0, 0, 0]], **stepped)
    assert sees("...", None, **stepped)
    assert sees("...", [[0, 9, 0]], parameters={"line": "stepped", "hills": "clear"})


def test_hw13_an_elevation_that_is_no_number_is_named():
    """HW-13: with its cell."""
    with pytest.raises(fc.MapError, match=r"cell \(0, 1\)"):
        HEXWILD.sight_field(hexes("...", elevation=[[0, np.nan, 0]]), MAN, MAN)


# ---- hexwild: trees ----------------------------------------------------------------------------


def up(cell, level, name="up", creature=MAN):
    return Token(creature, cell, name=name, level=level)


def malus(board, viewer, target):
    sight = board.sight(viewer, target)
    return sight.malus if sight else "hidden"


def test_hw23_from_a_tree_the_own_hex_obstructs_at_a_distance():
    """HW-23: foliage of the own hex counts for who looks from above the ground."""
    board = wild("F...")
    assert malus(board, (0, 0), (0, 3)) == 0
    assert malus(board, up((0, 0), 1), (0, 3)) == -1
    assert malus(board, up((0, 0), 1), (0, 1)) == -1, "a neighbour on the ground is at 2"
    assert malus(wild("f..f"), up((0, 0), 2), (0, 3)) == -1, "two halves are one point"
    assert malus(wild("A..F"), up((0, 0), 2), (0, 3)) == -2
    assert malus(wild("1..."), up((0, 0), 2), (0, 3)) == 0, "fog by HW-11"
    own = wild("1...", parameters={"fog_counts": {"own": True}})
    assert malus(own, up((0, 0), 2), (0, 3)) == -1


def test_hw25_adjacent_is_distance_and_levels_together():
    """HW-10, HW-25: a distance of 1 or less, levels included."""
    board = wild("FF..")
    one, same, two = up((0, 0), 1), up((0, 1), 1), up((0, 1), 2)
    assert malus(board, one, same) == 0
    assert malus(board, one, (0, 1)) == -2, "hex distance 1 and a level: both hexes count"
    assert malus(board, (0, 1), one) == -1, "the shooter on the ground picks its place"
    assert malus(board, one, two) == -2
    assert malus(board, up((0, 0), 2), up((0, 1), 2)) == 0


def test_hw25_two_in_one_hex():
    """HW-25: not adjacent, its foliage counts once; adjacent, not at all."""
    for char, points in (("f", -1), ("F", -1), ("A", -1), (".", 0)):
        board = wild(f".{char}.")
        here = (0, 1)
        assert malus(board, up(here, 1), here) == 0
        assert malus(board, here, up(here, 1)) == 0
        for level in (2, 3, 4):
            assert malus(board, up(here, level), here) == points
            assert malus(board, here, up(here, level)) == points
        assert malus(board, up(here, 1), up(here, 3, "other")) == points
        assert malus(board, up(here, 2), up(here, 3, "other")) == 0
        assert malus(board, up(here, 2), up(here, 2, "other")) == 0


def test_hw25_fog_and_light_in_one_hex():
    """HW-11, HW-25: fog counts once, and light as for any other target."""
    misty = {"x": ("heavy_forest", "fog:2")}
    board = wild(".x.", legend=misty, light=-1)
    here = (0, 1)
    assert malus(board, up(here, 1), here) == -2 - 1
    assert board.sight(up(here, 2), here).obstruction == -3
    assert malus(board, up(here, 2), here) == -4
    both = wild(".x.", legend=misty, parameters={"fog_counts": {"own": True}})
    assert malus(both, up(here, 2), here) == -3
    assert malus(both, up(here, 1), here) == -2


def test_hw25_views_from_a_level():
    """HW-25: the own hex is a target like others, unless one is on its level."""
    board = wild("fF1.", light=-1)
    view = board.view((0, 1), 5)
    assert view.malus[0].tolist() == [-1, 0, -2, -2]
    view = board.view(up((0, 1), 2), 5)
    assert view.malus[0].tolist() == [-3, -2, -3, -3]
    assert view == board.views([up((0, 1), 2)], 5)[0]
    for target in ((0, 0), (0, 1), (0, 2), (0, 3)):
        assert view.malus[target] == board.sight(up((0, 1), 2), target).malus


def test_hw13_eyes_on_a_perch():
    """HW-13, HW-23: the cell's elevation, the perch's metres and the creature's height."""
    hill = [[1, 0, 0, 0, 0, 0, 0]]
    perches = [Perch((0, 0), 1, "large", 3), Perch((0, 0), 2, "large", 8)]
    # Down to 1.8 over six hexes; the line leaves the second hex after a quarter of the way.
    for level, eyes in ((1, 1 + 3 + 1.8), (2, 1 + 8 + 1.8), (3, 1 + 10 + 1.8), (4, 1 + 13 + 1.8)):
        least = eyes + (1.8 - eyes) / 4
        for top, seen in ((least + 0.001, False), (least - 0.001, True)):
            hill[0][1] = top
            board = wild("A......", hill, perches=perches)
            assert board.sight(up((0, 0), level), (0, 6)).visible == seen, level
            assert board.sight((0, 6), up((0, 0), level)).visible == seen
    # Where there is no perch on that level, the middle of its range.
    for level, metres in ((1, 4), (2, 7), (3, 10), (4, 13)):
        eyes = metres + 1.8
        least = eyes + (1.8 - eyes) / 4
        for top, seen in ((least + 0.001, False), (least - 0.001, True)):
            board = wild("A......", [[0, top, 0, 0, 0, 0, 0]])
            assert board.sight(up((0, 0), level), (0, 6)).visible == seen


def test_hw25_levels_that_make_no_sense():
    """HW-25: a level is a whole number from 0."""
    for level in (-1, 0.5, True):
        with pytest.raises(fc.RulesError, match="a level must be a whole number"):
            HEXWILD.sight_field(hexes("..."), MAN, MAN, target_level=level)


def test_hw24_batches_keep_tokens_of_one_hex_apart():
    """HW-24: two tokens in one hex on different levels, asked for in one batch."""
    low, high = Token(MAN, (0, 0), name="low"), up((0, 0), 3)
    board = wild("F..F", tokens=[high, low])
    pairs = [(high, (0, 3)), (low, (0, 3)), ((0, 3), high), (high, low), ((0, 0), (0, 3))]
    found = [sight.malus for sight in board.sights(pairs)]
    assert found == [malus(board, *pair) for pair in pairs] == [-2, -1, -1, -1, -1]
    views = board.views([high, low, (0, 0)], 4)
    assert views == [board.view(high, 4), board.view(low, 4), board.view((0, 0), 4)]
    assert views[0] != views[1] == views[2]


# ---- hexwild against sums by the text ----------------------------------------------------------

CHARS = ".fFAbo#1HgT"


def by_the_text(cells, elevation, *, sizes, levels, perches, hills, lattice):
    """Return what the rules say of a map, worked out letter by letter."""
    cells = np.array([list(row) for row in cells])
    size = (cells.shape[0], cells.shape[1])
    foliage = np.select([cells == "f", cells == "T", np.isin(cells, ["F", "A"])], [1, 1, 2], 0)
    fog = np.where(cells == "1", 2, 0)
    bush = (cells == "b") & (sizes[1] in ("tiny", "small"))
    spec = SightSpec(lattice, *size, between=(foliage + fog).astype(np.uint8))
    spec.at_target = (np.maximum(foliage, bush) + fog).astype(np.uint8)
    spec.adjacent_target = fog.astype(np.uint8)
    if levels[0]:
        spec.at_viewer = foliage.astype(np.uint8)
    spec.levels_apart = abs(levels[0] - levels[1])
    spec.failure_per_point = 0.1
    spec.opaque = cells == "H"
    if elevation is None:
        spec.opaque = spec.opaque | (cells == "#")
        return spec
    spec.top = np.where(cells == "o", np.nan, elevation)
    if hills == "clear":
        spec.top[cells != "#"] = np.nan
    for name, whose, level in zip(("viewer_eyes", "target_eyes"), sizes, levels, strict=True):
        eyes = elevation + METRES[whose]
        for row in range(size[0]):
            for col in range(size[1]):
                if level:
                    eyes[row, col] += perches.get(((row, col), level), 3 * level + 1)
        setattr(spec, name, np.round(eyes, 3))
    return spec


@pytest.mark.parametrize("lattice", strategies.HEXES)
@strategies.examples(60)
@given(data=st.data())
def test_hw01_to_hw25_random_maps_equal_the_text(lattice, data):
    """HW-01 to HW-14, HW-23, HW-25: sizes, levels, perches and heights together."""
    rng = np.random.default_rng(data.draw(strategies.seeds))
    size = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    chars = data.draw(st.sampled_from((CHARS, "..f", "...#", "....FAo")))
    rows = ["".join(row) for row in rng.choice(list(chars), size)]
    elevation = None
    if data.draw(st.sampled_from((True, True, False))):
        elevation = rng.choice((0.0, 0.0, 0.0, 0.5, 1.25, 3.0, 7.0), size)
    sizes = tuple(rng.choice(list(METRES), 2).tolist())
    levels = tuple(rng.choice((0, 0, 1, 2, 4), 2).tolist())
    hills = data.draw(st.sampled_from(("opaque", "clear")))
    perches = {}
    for row, col in zip(rng.integers(0, size[0], 6), rng.integers(0, size[1], 6), strict=True):
        perches[(int(row), int(col)), int(rng.integers(1, 5))] = float(rng.integers(3, 15))
    spec = by_the_text(
        rows, elevation, sizes=sizes, levels=levels, perches=perches, hills=hills, lattice=lattice
    )
    board = wild(
        rows, elevation, lattice=lattice, parameters={"hills": hills},
        perches=[Perch(cell, level, "huge", m) for (cell, level), m in perches.items()],
    )  # fmt: skip
    creatures = [Creature("it", name) for name in sizes]
    cells = rng.integers(0, size, (12, 2)).tolist()
    for a, b in zip(map(tuple, cells[::2]), map(tuple, cells[1::2]), strict=True):
        viewer, target = (
            Token(creatures[0], a, level=levels[0]),
            Token(creatures[1], b, level=levels[1]),
        )
        found, expected = board.sight(viewer, target), look(spec, a, b)
        assert (found.visible, found.obstruction) == (expected.visible, expected.obstruction)
        assert found.malus == expected.malus


# ---- MegaMek -----------------------------------------------------------------------------------


def megamek_board(text, by_number):
    """Return the board of a file: in file order, row by row, or by the numbers of its hexes."""
    lines = text.split("\n")
    width, height = (int(word) for word in lines[0].split()[1:3])
    levels = np.zeros((height, width))
    for at, line in enumerate(line for line in lines if line.startswith("hex")):
        _, number, level = line.split()[:3]
        row, col = divmod(at, width)
        if by_number:
            row, col = int(number[2:]) - 1, int(number[:2]) - 1
        levels[row, col] = int(level)
    return fc.Board([["open"] * width] * height, lattice="odd-q", rules="hexwild", elevation=levels)


@pytest.mark.shared
@pytest.mark.parametrize("by_number", [True, False])
def test_hw13_the_published_sight_results_of_megamek(by_number):
    """HW-13: a flat board is clear; a row of hills of 1, 4 and 3 levels blocks."""
    folder = shared_dir("data", "megamek")
    published = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["los"]
    assert [case["blocked"] for case in published] == [False, True]
    for case in published:
        board = megamek_board((folder / case["board"]).read_text(encoding="latin-1"), by_number)
        if by_number and "hills" in case["board"]:
            assert board.terrain.elevation[2].tolist() == [1, 4, 3]
        (from_col, from_row), (to_col, to_row) = case["from"], case["to"]
        # Whoever is at least a hair and at most two levels tall.
        for height in (0.001, 1, 1.8, 2):
            who = Creature("walker", height=height)
            ends = Token(who, (from_row, from_col)), Token(who, (to_row, to_col), name="other")
            assert board.sight(*ends).visible == case["has_los"]
            assert board.sight(*ends[::-1]).visible == case["has_los"]


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::fieldcraft.FieldcraftWarning")
def test_hw13_the_reader_of_boards_gives_the_same_answers():
    """HW-13: as the files are read."""
    folder = shared_dir("data", "megamek")
    for case in json.loads((folder / "expected.json").read_text(encoding="utf-8"))["los"]:
        board = fc.read(folder / case["board"])
        sight = board.sight(case["from"][::-1], case["to"][::-1])
        assert sight.visible == case["has_los"]


# ---- Bodies of several cells -------------------------------------------------------------------


def dungeon(rows, tokens=(), **options):
    return fc.Board.from_rows(rows, SQUARES, rules="pathfinder", tokens=tokens, **options)


def test_large_bodies_see_and_are_seen_by_their_best_pair():
    """PF-09: a visible pair before a hidden one, then the least malus, then the first in order."""
    ogre, man = Token(Creature("ogre", "large"), (0, 0)), Token(MAN, (0, 5))
    rows = ["..#...", "......"]
    board = dungeon(rows, [ogre, man])
    sight = board.sight(ogre, man)
    assert sight.visible
    assert (sight.viewer, sight.target) == ((1, 0), (0, 5)), "the first square that sees it"
    back = board.sight(man, ogre)
    assert (back.visible, back.viewer, back.target) == (True, (0, 5), (1, 0))
    assert board.sights([(ogre, man), (man, ogre), ((0, 0), (0, 5))]) == [sight, back, sight]
    lit = dungeon(rows, [ogre, man], light=[[-3, -3, 0, 0, 0, 0], [-2, -1, 0, 0, 0, 0]])
    best = lit.sight(man, ogre)
    assert (best.malus, best.target) == (-1, (1, 1))
    closed = dungeon(["..#...", "..#..."], [ogre, man])
    hidden = closed.sight(ogre, man)
    assert (hidden.visible, hidden.viewer, hidden.target) == (False, (0, 0), (0, 5))


def test_large_bodies_view_from_all_their_cells():
    """PF-09: the view is what the single cells see, as well as the best of them."""
    rng = np.random.default_rng(3)
    for rows in (["..#....", "..#.#..", ".......", "##.#..."], ["....", "....", "....", "...."]):
        light = -rng.integers(0, 4, (4, len(rows[0])))
        giant = Token(Creature("giant", "huge"), (0, 0))
        board = dungeon(rows, [giant], light=light)
        alone = dungeon(rows, light=light)
        view = board.view(giant, 4)
        expected: dict[tuple[int, int], int] = {}
        for cell in [(r, c) for r in range(3) for c in range(3)]:
            one = alone.view(cell, 4)
            for target, value in zip(one.cells.tolist(), one.maluses.tolist(), strict=True):
                key = (target[0], target[1])
                expected[key] = max(value, expected.get(key, -999))
        found = [tuple(cell) for cell in view.cells.tolist()]
        assert found == sorted(expected)
        assert dict(zip(found, view.maluses.tolist(), strict=True)) == expected
        assert (view.viewer, view.radius) == ((0, 0), 4)
        assert board.views([giant, (3, 3)], 4) == [view, board.view((3, 3), 4)]


def test_bodies_of_hexagons_see_from_each_of_their_hexes():
    """HW-13, HW-14: a body of seven, and one on the edge of the map."""
    beast = Token(Creature("beast", "large", body=7), (1, 1))
    board = wild(["...#..", "......", "...#.."], tokens=[beast])
    cells = [(1, 1), *board.lattice.neighbors((1, 1))]
    single = wild(["...#..", "......", "...#.."])
    for target in ((0, 5), (1, 5), (2, 5)):
        sights = [single.sight(cell, target) for cell in cells]
        assert board.sight(beast, target).visible == any(s.visible for s in sights)
    with pytest.raises(fc.OutsideMapError, match="'beast' covers"):
        single.sight(Token(Creature("beast", body=7), (0, 0)), (1, 2))


def test_a_body_on_heights_looks_from_each_of_its_cells():
    """HW-13: each hex with its own elevation."""
    beast = Token(Creature("beast", body=2), (1, 0), facing=1)
    rows, ridge = ["......"] * 3, np.zeros((3, 6))
    ridge[:, 3] = 2
    assert not wild(rows, ridge, tokens=[beast]).sight(beast, (1, 5))
    covered = HEXWILD.cells_of(beast, fc.Lattice("odd-r"))
    assert len(covered) == 2
    for cell in covered:
        raised = ridge.copy()
        raised[cell] = 3
        board = wild(rows, raised, tokens=[beast])
        assert board.sight(beast, (1, 5)).visible
        assert board.sight(beast, (1, 5)).viewer == cell
        assert board.sight((1, 5), beast).target == cell


# ---- skirmish ----------------------------------------------------------------------------------


def table_top(rows, elevation, **options):
    """Return a board of squares under skirmish."""
    legend = {".": "open", "#": "wall", "I": "column", "~": "difficult", "X": "impassable"}
    parameters = options.pop("parameters", {})
    rules = systems.get("skirmish", **parameters)
    return fc.Board.from_rows(rows, legend, rules=rules, elevation=elevation, **options)


def test_sk05_a_man_on_a_table_has_his_eyes_at_three():
    """SK-05: height 2 on an element of 1 is a height of 3 for sight."""
    # From 3 down to 2 over four squares: the line leaves the middle square at 2.375.
    for top, seen in ((2.375, False), (2.374, True)):
        board = table_top(".....", [[1, 0, top, 0, 0]])
        assert board.sight((0, 0), (0, 4)).visible == seen
        assert board.sight((0, 4), (0, 0)).visible == seen
    # On level ground both have them at 2.
    for top, seen in ((2, False), (1.999, True)):
        assert table_top(".....", [[0, 0, top, 0, 0]]).sight((0, 0), (0, 4)).visible == seen


def test_sk09_lines_pass_above_what_is_lower():
    """SK-09: a table of 1 is seen over, a wardrobe of 2 and a column of 4 are not."""
    for top, seen in ((0, True), (1, True), (2, False), (4, False)):
        assert table_top("...", [[0, top, 0]]).sight((0, 0), (0, 2)).visible == seen
    assert table_top("...", [[3, 4, 3]]).sight((0, 0), (0, 2))
    assert table_top("...", [[0, 4, 9]]).sight((0, 1), (0, 2)), "neighbours see each other"


def test_sk09_walls_and_columns_end_lines_without_limit():
    """SK-09: and what is impassable but flat does not."""
    for char, seen in (("#", False), ("I", False), ("X", True), ("~", True)):
        for elevation in (None, [[9, 0, 9]]):
            assert table_top(f".{char}.", elevation).sight((0, 0), (0, 2)).visible == seen


def test_sk09_a_corner_is_closed_where_both_tops_reach_the_line():
    """SK-09: two squares that meet in a corner block together, or not at all."""
    for tops, seen in (((2, 2), False), ((2, 1.9), True), ((9, 0), True), ((9, 9), False)):
        board = table_top([".."] * 2, [[0, tops[0]], [tops[1], 0]])
        assert board.sight((0, 0), (1, 1)).visible == seen
        assert board.sight((1, 1), (0, 0)).visible == seen


def test_sk09_the_creatures_own_height():
    """SK-09: 2 for every size, unless the creature has one of its own."""
    rules = systems.get("skirmish")
    for size in METRES:
        assert rules.height_of(Creature("it", size)) == 2
    tall = Token(Creature("troll", height=4), (0, 0))
    board = table_top(".....", [[0, 0, 2.5, 0, 0]], tokens=[tall])
    # From 4 down to 2: the line leaves the middle square at 2.75.
    assert board.sight(tall, (0, 4))
    assert not board.sight((0, 3), (0, 1))


def test_sk09_there_is_no_obstruction_but_light():
    """SK-09: the malus is the light's."""
    sight = table_top("....", [[0, 1, 1, 0]], light=-2).sight((0, 0), (0, 3))
    assert (sight.obstruction, sight.malus) == (0, -2)


@strategies.examples(60)
@given(data=st.data())
def test_sk09_random_tables_equal_the_text(data):
    """SK-09: against clipping with squares in fractions."""
    rng = np.random.default_rng(data.draw(strategies.seeds))
    size = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    cells = rng.choice(list(data.draw(st.sampled_from((".", "....#I", "..~X")))), size)
    elevation = rng.choice((0.0, 0.0, 1.0, 1.5, 2.0, 4.0), size)
    heights = rng.choice((None, 1.0, 2.5), 2).tolist()
    spec = SightSpec("square", *size, between=np.zeros(size, np.uint8), threshold=None)
    spec.opaque = (cells == "#") | (cells == "I")
    spec.top = elevation
    spec.viewer_eyes, spec.target_eyes = (elevation + (h or 2) for h in heights)
    board = table_top(["".join(row) for row in cells], elevation)
    places = rng.integers(0, size, (12, 2)).tolist()
    for a, b in zip(map(tuple, places[::2]), map(tuple, places[1::2]), strict=True):
        ends = [Token(Creature("it", height=h), c) for h, c in zip(heights, (a, b), strict=True)]
        found, expected = board.sight(*ends), look(spec, a, b)
        assert (found.visible, found.obstruction) == (expected.visible, expected.obstruction)


# ---- The other systems -------------------------------------------------------------------------


def test_pathfinder_has_no_heights_in_sight():
    """PF-01: an elevation does nothing to lines; levels do nothing either."""
    board = dungeon(["....."], elevation=[[0, 9, 0, 9, 0]])
    assert board.sight((0, 0), (0, 4))
    assert board.sight(up((0, 0), 2), (0, 4)).malus == 0
    assert pickle.loads(pickle.dumps(board)).sight((0, 0), (0, 4))


def test_the_legend_of_hexes_has_every_letter_of_the_text():
    assert set(CHARS) <= set(HEXES)

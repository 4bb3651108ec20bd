"""`hexwild`, trees: perches, climbing, occupancy, reach by height, falls (HW-22 to HW-27)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import rules as systems
from fieldcraft.rules import Condition, Dice, Effect, Forbids, Landing, Modifier, PerchSearch

HEXES = {
    ".": "open",
    "f": "light_forest",
    "F": "heavy_forest",
    "A": "ancient_trees",
    "m": "mud",
    "w": "deep_water",
    "o": "boulder",
    "T": ("light_forest", "thorns"),
    "O": ("open", "heavy_forest"),
    "2": ("ancient_trees", "light_forest"),
}
LAYOUTS = ("odd-r", "even-r", "odd-q", "even-q")

TABLES = {
    "A": [(25, 50, 85, 100, 2), (35, 60, 95, 100, 5)],
    "B": [(15, 42, 82, 100, 2), (22, 49, 89, 100, 5), (40, 70, 95, 100, 8)],
    "C": [(40, 70, 95, 100, 2), (25, 50, 85, 100, 5), (15, 42, 82, 100, 8), (35, 60, 95, 100, 11)],
}
"""By table and level: the last rolls of no perch, Small, Medium, Large; the base in metres."""

FORESTS = {"light_forest": "A", "heavy_forest": "B", "ancient_trees": "C"}
BEARS = (None, "small", "medium", "large")


def woods(rows: str | list[str], lattice: str = "odd-r", **options: Any) -> fc.Board:
    return fc.Board.from_rows(rows, HEXES, lattice=lattice, **{"rules": "hexwild", **options})


def someone(row: int, col: int, **options: Any) -> fc.Token:
    creature = {key: options.pop(key) for key in ("size", "reach", "body") if key in options}
    name = options.pop("name", "elf")
    return fc.Token(fc.Creature(name, **creature), (row, col), **options)


class Scripted(np.random.Generator):
    """A generator that rolls what it is told and notes what it was asked for."""

    def __init__(self, rolls: list[int]) -> None:
        super().__init__(np.random.PCG64(0))
        self.rolls, self.asked = list(rolls), []

    def integers(self, low: int, high: int, **options: Any) -> int:  # type: ignore[override]
        self.asked.append((low, high))
        roll = self.rolls.pop(0)
        assert low <= roll < high
        return roll


# -- HW-22: rolling -----------------------------------------------------------------------------


def check_perches(rules: Any) -> None:
    """Compare every roll for every perch with the specification."""
    for forest, table in FORESTS.items():
        board = fc.Board([[forest]], lattice="odd-r", rules=rules)
        rows = TABLES[table]
        for number, (*lasts, base) in enumerate(rows):
            for roll in range(1, 101):
                bears = next(b for b, last in zip(BEARS, lasts, strict=True) if roll <= last)
                for metres in (1, 2, 3):
                    # On the other levels the least and the highest roll: none, and a Large one.
                    rolls: list[int] = [1] * number
                    rolls += [roll] if bears is None else [roll, metres]
                    rolls += [100, metres] * (len(rows) - number - 1)
                    rng = Scripted(rolls)
                    found = fc.roll_perches(board, rng)
                    assert rng.rolls == [], "one roll a level, and one for each perch's metres"
                    assert set(rng.asked) <= {(1, 101), (1, 4)}
                    mine = [perch for perch in found if perch.level == number + 1]
                    expected = [] if bears is None else [(bears, base + metres)]
                    assert [(perch.size, perch.metres) for perch in mine] == expected
                    higher = range(number + 2, len(rows) + 1)
                    assert [perch.level for perch in found if perch not in mine] == [*higher]


def test_hw22_the_tables_are_those_of_the_specification():
    """HW-22: every roll of 1d100 on every level of the three forests, and 1d3 for the metres."""
    check_perches(systems.get("hexwild"))


def test_hw22_the_figures_as_data():
    """HW-22: the tables of the system, level by level."""
    tables = systems.get("hexwild").table.perches
    assert set(tables) == set(TABLES)
    for name, levels in tables.items():
        assert [
            (row.none, row.small, row.medium, row.large, row.metres.plus) for row in levels
        ] == TABLES[name]
        assert {(row.metres.count, row.metres.sides) for row in levels} == {(1, 3)}
        assert str(levels[0].metres) == "1d3+2"
    for forest, name in FORESTS.items():
        assert systems.get("hexwild").table[forest].perches == name


def inline(levels: list[tuple[int, ...]], dice: list[tuple[int, int]]) -> str:
    keys = ("none", "small", "medium", "large")
    rows = []
    for (*lasts, base), (count, sides) in zip(levels, dice, strict=True):
        figures = ", ".join(f"{key} = {last}" for key, last in zip(keys, lasts, strict=True))
        metres = f"{count}d{sides}" + (f"{base:+d}" if base else "")
        rows.append(f'{{ {figures}, metres = "{metres}" }}')
    return f"[{', '.join(rows)}]"


def test_hw22_changing_any_figure_of_a_perch_is_noticed(tmp_path):
    """HW-22: by one, up or down, in any table, level and column, and any of its dice."""
    path = tmp_path / "changed.toml"
    n_noticed, refused, unnoticed = 0, [], []
    for name, levels in TABLES.items():
        plain = [(1, 3)] * len(levels)
        changed = []
        for i, j, by in (
            (i, j, by) for i in range(len(levels)) for j in range(5) for by in (1, -1)
        ):
            rows = [list(row) for row in levels]
            rows[i][j] += by
            changed.append((f"{name} level {i + 1} column {j} {by:+d}", rows, plain))
        for i in range(len(levels)):
            for die in ((2, 3), (1, 4), (1, 2)):
                dice = [*plain[:i], die, *plain[i + 1 :]]
                changed.append((f"{name} level {i + 1} {die}", levels, dice))
        for what, rows, dice in changed:
            text = f'extends = "hexwild"\n[perches]\n{name} = {inline(rows, dice)}\n'
            path.write_text(text, "utf-8")
            try:
                rules = systems.load(path)
            except systems.TableError:
                refused.append(what)
                continue
            try:
                check_perches(rules)
            except (AssertionError, IndexError):
                n_noticed += 1
            else:
                unnoticed.append(what)
    assert unnoticed == []
    # Only the last roll of all, which must be 100, is refused.
    assert {what.split()[-2] for what in refused} == {"3"}
    assert len(refused) == 2 * 9
    assert n_noticed == 9 * (8 + 3)


def test_hw22_hex_by_hex_and_level_by_level():
    """HW-22: in reading order; in each hex from level 1 up 1d100, then 1d3 where there is one."""
    board = woods([".f", "A."])
    rng = Scripted([60, 2, 35, 41, 1, 25, 83, 3, 61, 2])
    perches = fc.roll_perches(board, rng)
    d100, d3 = (1, 101), (1, 4)
    assert rng.asked == [d100, d3, d100, d100, d3, d100, d100, d3, d100, d3]
    assert perches == (
        fc.Perch((0, 1), 1, "medium", 4),
        fc.Perch((1, 0), 1, "small", 3),
        fc.Perch((1, 0), 3, "large", 11),
        fc.Perch((1, 0), 4, "medium", 13),
    )
    assert board.replace(perches=perches).terrain.perches == perches


@pytest.mark.parametrize("lattice", LAYOUTS)
def test_hw22_the_same_seed_makes_the_same_forest(lattice):
    """HW-22: and another seed another one."""
    board = woods(["fFA.T"] * 6, lattice)
    perches = fc.roll_perches(board, np.random.default_rng(7))
    assert perches == fc.roll_perches(board, np.random.default_rng(7))
    assert perches != fc.roll_perches(board, np.random.default_rng(8))
    assert perches == fc.roll_perches(board.replace(perches=perches), np.random.default_rng(7))
    levels = {board.kind(perch.cell)[0]: set() for perch in perches}
    for perch in perches:
        levels[board.kind(perch.cell)[0]].add(perch.level)
    assert levels == {
        "light_forest": {1, 2},
        "heavy_forest": {1, 2, 3},
        "ancient_trees": {1, 2, 3, 4},
    }
    assert all(3 * p.level <= p.metres <= 3 * p.level + 2 for p in perches)
    order = [(perch.cell, perch.level) for perch in perches]
    assert order == sorted(order)
    assert len(set(order)) == len(order), "at most one a level"


def test_hw22_what_counts_as_forest():
    """HW-22: base or overlay; of two forests in one hex the first; nothing grows elsewhere."""
    assert fc.roll_perches(woods(".mwo"), Scripted([])) == ()
    everything = [100, 1]
    assert len(fc.roll_perches(woods("T"), Scripted(everything * 2))) == 2
    assert len(fc.roll_perches(woods("O"), Scripted(everything * 3))) == 3
    assert len(fc.roll_perches(woods("2"), Scripted(everything * 4))) == 4


def test_hw22_forests_of_ones_own(tmp_path):
    """HW-22: a file may change a table or add one, and name it."""
    path = tmp_path / "jungle.toml"
    level = '{ none = 0, small = 0, medium = 0, large = 100, metres = "2d4" }'
    path.write_text(
        f'extends = "hexwild"\n[perches]\njungle = [{level}]\n'
        '[terrain.palms]\nname = "palms"\nperches = "jungle"\n'
    )
    board = fc.Board([["palms", "light_forest"]], lattice="odd-r", rules=path)
    rng = Scripted([1, 2, 4, 1, 1])
    assert fc.roll_perches(board, rng) == (fc.Perch((0, 0), 1, "large", 6),)
    assert rng.asked == [(1, 101), (1, 5), (1, 5), (1, 101), (1, 101)]
    assert board.rules != systems.get("hexwild")
    assert hash(board.rules.table) != hash(systems.get("hexwild").table)
    mapping = board.rules.table.perches
    mapping.clear()
    assert set(board.rules.table.perches) == {"A", "B", "C", "jungle"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A = 3", "expected a list of 1 to 4 tables"),
        ("A = []", "expected a list of 1 to 4 tables"),
        ("A = [{ none = 1 }]", "the key small is missing"),
        (
            'A = [{ none = 9, small = 8, medium = 10, large = 100, metres = "1d3" }]',
            "last rolls of 1d100 that do not fall",
        ),
        (
            'A = [{ none = 9, small = 10, medium = 10, large = 99, metres = "1d3" }]',
            "with large = 100, not 9, 10, 10, 99",
        ),
        (
            'A = [{ none = 9, small = 10, medium = 10, large = 100, metres = "1d3-1" }]',
            "expected a height above 0, not 1d3-1",
        ),
        (
            'A = [{ none = 9, small = 10, medium = 10, large = 100, metres = "tall" }]',
            "expected dice such as '2d3+1'",
        ),
        ("A = [{ nine = 9 }]", "unknown key"),
    ],
)
def test_hw22_tables_that_are_none(tmp_path, text, fault):
    """HW-22: a fault in a table of perches names its line and what was expected."""
    path = tmp_path / "bad.toml"
    path.write_text(f'extends = "hexwild"\n[perches]\n{text}\n')
    with pytest.raises(systems.TableError, match=r"line 3, perches\.A") as caught:
        systems.load(path)
    assert fault in str(caught.value)


def test_hw22_perches_of_other_systems(tmp_path):
    """HW-22: a system without perches has none to roll, and no tables for them."""
    with pytest.raises(fc.RulesError, match="pathfinder has no perches to roll"):
        fc.roll_perches(fc.Board([["open"]], rules="pathfinder"), np.random.default_rng(1))
    for rng in (7, None, np.random):
        with pytest.raises(fc.ArgumentTypeError, match="rng must be a NumPy Generator"):
            fc.roll_perches(woods("f"), rng)
    path = tmp_path / "bad.toml"
    path.write_text('extends = "pathfinder"\n[perches]\nA = []\n')
    with pytest.raises(systems.TableError, match="line 2, perches: the system has no perches"):
        systems.load(path)
    path.write_text('extends = "hexwild"\nperches = 3\n')
    with pytest.raises(systems.TableError, match="line 2, perches: expected tables of perches"):
        systems.load(path)
    path.write_text('extends = "hexwild"\n[terrain.light_forest]\nperches = "D"\n')
    with pytest.raises(systems.TableError, match="unknown table of perches 'D'"):
        systems.load(path)


# -- HW-23, HW-24: up and down --------------------------------------------------------------------


@pytest.mark.parametrize("lattice", LAYOUTS)
@pytest.mark.parametrize(("metres", "points"), [(3, 6), (4, 8), (4.5, 9), (4.25, 8.5), (0.25, 1)])
def test_hw23_climbing_costs_twice_the_rise(lattice, metres, points):
    """HW-23, HW-18: twice the metres as points, at least 1, rounded up to half a point."""
    board = woods(".f", lattice, perches=[fc.Perch((0, 1), 1, "medium", metres)])
    below = someone(0, 1, name="below")
    climber = someone(0, 0, name="climber")
    board = board.replace(tokens=[below, climber])
    path = board.path(climber, (0, 1))
    assert path.cost == 1.5 + points
    reach = board.reach(climber, budget=1.5 + points)
    assert reach.can_stop[reach.cells.tolist().index([0, 1])]
    short = board.reach(climber, budget=1 + points)
    assert not short.can_stop[short.cells.tolist().index([0, 1])]


def test_hw23_from_perch_to_perch_and_down():
    """HW-23: up the difference counts, and down it is 1 point, to a perch or to the ground."""
    perches = [fc.Perch((0, 0), 1, "medium", 3), fc.Perch((0, 0), 3, "medium", 10)]
    board = woods("F.", perches=perches)
    high, low = someone(0, 0, level=3), someone(0, 0, level=1, name="low")
    assert board.path(high, (0, 1)).cost == 1 + 1, "down to the ground, whatever lies between"
    assert board.path(low, (0, 1)).cost == 1 + 1
    steps = board.path(high, (0, 1)).steps
    assert [step.cost for step in steps] == [1, 1]
    ground, first = someone(0, 0, name="ground"), low
    field = board.replace(tokens=[ground]).step_field(ground)
    names = [layer.name for layer in field.layers]
    up = {level: names.index(f"level {level}") for level in (1, 3)}
    prices = {(link.source, link.target): link.ticks / 2 for link in field.links}
    assert prices[0, up[1]] == 6
    assert prices[0, up[3]] == 20
    assert prices[up[1], up[3]] == 14
    assert prices[up[3], up[1]] == prices[up[3], 0] == prices[up[1], 0] == 1
    # It climbs from the first to the third for 14: the second somebody holds, or nobody.
    others = [ground, fc.Token("friend", (0, 0), level=1)]
    assert board.replace(tokens=[*others, first]).path(first, (0, 1)).cost == 2


def test_hw23_who_sits_there_climbs_or_jumps_and_no_more():
    """HW-23: its neighbours are reached over the ground alone, but for those who fly."""
    board = woods(["fff"], perches=[fc.Perch((0, col), 1, "medium", 3) for col in range(3)])
    up = someone(0, 1, level=1)
    foe = someone(0, 1, side="red", name="foe")
    assert board.path(up, (0, 2)).cost == 1 + 1.5
    held = board.replace(tokens=[up, foe])
    assert board.path(up, (0, 2)).cost == 2.5
    assert held.reach(up).cells.tolist() == [[0, 1]], "a foe below keeps it up there"
    eagle = fc.Token(fc.Creature("eagle", speed={"fly": 9}), (0, 1), level=1, flying=True)
    assert len(held.replace(tokens=[eagle, foe]).reach(eagle)) == 3


@pytest.mark.parametrize("size", ["small", "medium", "large"])
def test_hw22_a_perch_bears_creatures_up_to_its_size(size):
    """HW-22: the perch of a Small creature bears no larger one."""
    sizes = ("tiny", "small", "medium", "large", "huge")
    board = woods(".f", perches=[fc.Perch((0, 1), 1, size, 3)], tokens=[someone(0, 1, name="x")])
    borne = [s for s in sizes if board.path(someone(0, 0, size=s), (0, 1))]
    assert borne == list(sizes[: sizes.index(size) + 1])


def test_hw23_the_own_hex_obstructs_shots_from_a_perch():
    """HW-23, HW-08: at a distance its own foliage counts; from the ground it does not."""
    board = woods("F....", perches=[fc.Perch((0, 0), 1, "medium", 3)])
    up, down = someone(0, 0, level=1), someone(0, 0)
    assert board.sight(up, (0, 4)).malus == -1
    assert board.sight(down, (0, 4)).malus == 0
    assert board.sight(up, someone(0, 0, name="below")).malus == 0, "not where they are adjacent"


@pytest.mark.parametrize(("forest", "climb"), [("f", None), ("F", None), ("A", -10)])
def test_hw23_staying_on_a_perch_is_data(forest, climb):
    """HW-23: incapacitated, not standing, no rest; the ground's own effects do not get up there."""
    board = woods([forest], perches=[fc.Perch((0, 0), 2, "medium", 7)])
    found = board.effects((0, 0), level=2)
    assert {effect.when for effect in found if not isinstance(effect.detail, Modifier)} == {
        "staying"
    }
    details = [effect.detail for effect in found]
    for detail in (Condition("incapacitated"), Condition("not standing"), Forbids("rest")):
        assert details.count(detail) == 1
    assert board.effects(someone(0, 0, level=2)) == found
    assert all(effect.terrain == HEXES[forest] for effect in found)
    ground = [effect.detail for effect in board.effects((0, 0))]
    assert Condition("incapacitated") not in ground
    assert (Modifier("climb", -10, "%") in ground) == (climb is not None)


def test_hw24_a_place_is_a_hex_and_a_level():
    """HW-24: the ground below is free for others, and so is the perch above them."""
    perches = [fc.Perch((0, 1), 1, "medium", 3), fc.Perch((0, 1), 2, "medium", 6)]
    board = woods(".f.", perches=perches)
    archer = someone(0, 1, level=1, name="archer", side="red")
    walker = someone(0, 0, side="blue", name="walker")
    board = board.replace(tokens=[archer, walker])
    assert board.path(walker, (0, 1)).cost == 1.5
    assert board.path(walker, (0, 2)).cost == 2.5
    assert board.token_at((0, 1)) == archer
    # With the ground held by a friend the second level is left; the first has the archer.
    board = board.replace(tokens=[archer, walker, someone(0, 1, side="blue", name="friend")])
    assert board.path(walker, (0, 1)).cost == 1.5 + 12
    second = someone(0, 1, level=2, side="blue", name="second")
    assert not board.replace(tokens=[*board.tokens, second]).path(walker, (0, 1))


# -- HW-25: reach by height -----------------------------------------------------------------------


@pytest.mark.parametrize("lattice", LAYOUTS)
def test_hw25_reach_by_height(lattice):
    """HW-25: on level 1 it is hit from its own hex, from beside it with a reach of two hexes."""
    board = woods(["....."] * 5, lattice)
    up = someone(2, 2, level=1, name="up")
    beside = board.lattice.neighbors((2, 2))
    assert board.can_hit(someone(2, 2), up)
    for cell in beside:
        assert not board.can_hit(someone(*cell), up)
        assert board.can_hit(someone(*cell, reach=2), up)
        assert not board.can_hit(up, someone(*cell))
        assert board.can_hit(someone(*cell, level=1), up)
    assert board.can_hit(up, someone(2, 2))


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_hw25_distance_adds_levels(level):
    """HW-25: hexes and levels together, on every level."""
    board = woods(["......."] * 3)
    up = someone(1, 1, level=level)
    for col in range(1, 7):
        apart = col - 1 + level
        assert board.distance(up, (1, col)) == apart
        assert board.can_hit(someone(1, col, reach=apart), up)
        assert not board.can_hit(someone(1, col, reach=apart - 1), up)


def test_hw25_bad_tokens():
    board = woods("...")
    with pytest.raises(fc.ArgumentTypeError, match="attacker and target must be Token"):
        board.can_hit((0, 0), someone(0, 1))
    with pytest.raises(fc.OutsideMapError):
        board.can_hit(someone(0, 0), someone(0, 3))
    with pytest.raises(fc.RulesError, match="level of token 'elf'"):
        board.can_hit(someone(0, 0, level=-1), someone(0, 1))


@pytest.mark.parametrize(("rules", "size", "n"), [("srd5", "large", 20), ("pathfinder", "tiny", 8)])
def test_s5_12_reach_is_counted_in_cells_on_squares_too(rules, size, n):
    """S5-12, S5-10, PF-09: a diagonal is a cell like any other, and any cell of a body reaches."""
    board = fc.Board([["open"] * 9] * 9, rules=rules)
    beast = fc.Token(fc.Creature("beast", size=size, reach=2), (4, 4))
    side = 2 if size == "large" else 1
    hit = [c for c in np.ndindex(9, 9) if board.can_hit(beast, fc.Token("x", c))]
    assert len(hit) == (side + 4) ** 2
    one = fc.Token(fc.Creature("beast", size=size), (4, 4))
    hit = [c for c in np.ndindex(9, 9) if board.can_hit(one, fc.Token("x", c))]
    assert len(hit) == (side + 2) ** 2
    assert board.can_hit(beast, fc.Token("x", (6, 6)))
    assert board.can_hit(beast, fc.Token("x", (4, 4), flying=True, level=2))
    assert not board.can_hit(beast, fc.Token("x", (4, 4), flying=True, level=3))


# -- HW-26: falls -------------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", LAYOUTS)
def test_hw26_where_the_displaced_go(lattice):
    """HW-26: free adjacent hexes, in the order of the directions; off the map there are none."""
    board = woods(["fff"] * 3, lattice)
    around = board.lattice.neighbors((1, 1))
    assert list(fc.fall_displacements(board, (1, 1))) == around
    corner = [c for c in board.lattice.neighbors((0, 0)) if min(c) >= 0]
    assert list(fc.fall_displacements(board, (0, 0))) == corner
    below = someone(1, 1, name="below")
    taken = board.replace(tokens=[below, someone(*around[2], side="red"), someone(*around[4])])
    free = [cell for i, cell in enumerate(around) if i not in (2, 4)]
    assert list(fc.fall_displacements(taken, (1, 1))) == free
    # Those in trees around are not on the ground.
    perched = taken.replace(tokens=[below, someone(*around[2], level=1)])
    assert list(fc.fall_displacements(perched, (1, 1))) == around


def test_hw26_only_hexes_fit_for_the_displaced():
    """HW-26: enterable by one legal step of its own: no water, no wall, no climb for an ox."""
    board = woods(["...", "wfo", "..."])
    cells = {"west": (1, 0), "east": (1, 2)}
    elf, ox = fc.Creature("elf"), fc.Creature("ox", climbs=False)
    fish = fc.Creature("pike", speed={"swim": 4})
    assert cells["west"] not in fc.fall_displacements(board, (1, 1), elf)
    assert cells["east"] in fc.fall_displacements(board, (1, 1), elf)
    assert cells["east"] not in fc.fall_displacements(board, (1, 1), ox)
    assert fc.fall_displacements(board, (1, 1), fish) == (cells["west"],)
    for border in (
        fc.Border(((1, 1), (0, 1)), "wall"),
        fc.Border(((1, 1), (0, 1)), "door"),
        fc.Border(((0, 1), (1, 1)), "drop"),
        fc.Border(((0, 1), (1, 1)), "price", price=1, one_way=True),
    ):
        walled = board.replace(borders=[border])
        free = set(fc.fall_displacements(board, (1, 1)))
        assert free - set(fc.fall_displacements(walled, (1, 1))) == {(0, 1)}


def test_hw26_who_is_displaced():
    """HW-26: the one below if none is named; the faller, wherever it came from, leaves no hex."""
    board = woods(["fff"] * 3, perches=[fc.Perch((1, 1), 2, "large", 6)])
    around = tuple(board.lattice.neighbors((1, 1)))
    faller = someone(1, 1, level=2, name="faller")
    below = someone(1, 1, name="below")
    board = board.replace(tokens=[faller, below])
    assert fc.fall_displacements(board, (1, 1)) == around
    assert fc.fall_displacements(board, (1, 1), faller) == around
    assert fc.fall_displacements(board, (1, 1), below) == around
    # A body of seven hexes below leaves nobody a hex beside the one fallen upon.
    whale = fc.Token(fc.Creature("whale", body=7), (1, 1))
    wide = woods(["....."] * 5, tokens=[whale.at((2, 2)), faller.at((2, 2))])
    assert fc.fall_displacements(wide, (2, 2), faller) == ()
    # It moves by a hex itself, and clears the hex only where it lay on it with its rim.
    assert fc.fall_displacements(wide, (2, 2)) == ()
    rim = wide.lattice.neighbor((2, 2), 1)
    away = {wide.lattice.neighbor((2, 2), d) for d in (3, 4, 5)}
    assert set(fc.fall_displacements(wide, rim)) == away
    snake = fc.Token(fc.Creature("snake", body=2), (2, 2), facing=1)
    assert len(fc.fall_displacements(wide.replace(tokens=[snake]), (2, 2))) == 5


def test_hw26_who_is_in_the_air_is_not_below():
    """HW-26: a flyer over the hex is not the one fallen upon, and in nobody's way."""
    board = woods(["...", ".fo", "..."])
    ox = fc.Token(fc.Creature("ox", climbs=False), (1, 1), flying=True)
    over = board.replace(tokens=[ox, someone(0, 1, flying=True)])
    assert fc.fall_displacements(over, (1, 1)) == fc.fall_displacements(board, (1, 1))
    assert (1, 2) not in fc.fall_displacements(over, (1, 1), ox)


def test_hw26_bad_questions():
    board = woods("f.")
    with pytest.raises(fc.OutsideMapError):
        fc.fall_displacements(board, (0, 2))
    with pytest.raises(fc.ArgumentTypeError, match="creature must be a Creature or a Token"):
        fc.fall_displacements(board, (0, 0), "elf")


@pytest.mark.parametrize("forest", FORESTS)
def test_hw26_the_one_below_saves_or_takes_half(forest):
    """HW-26: a pure Reflex save or half the damage, as data on the forest."""
    found = [e for e in systems.get("hexwild").effects(forest) if e.when == "falling"]
    assert found == [Effect(forest, "falling", Landing("pure reflex", Fraction(1, 2)))]


# -- HW-27: looking for a perch -------------------------------------------------------------------


@pytest.mark.parametrize("char", ["f", "F", "A", "T"])
def test_hw27_looking_for_a_perch_is_data(char):
    """HW-27: here free once a round at +2 later, or a full action; elsewhere that and a test."""
    board = woods(["." + char])
    found = [e.detail for e in board.effects((0, 1)) if isinstance(e.detail, PerchSearch)]
    free, full, other = found
    assert (free.where, free.action, free.test, free.later, free.a_round) == (
        "own", "free", False, 2, 1,
    )  # fmt: skip
    assert (full.where, full.action, full.test, full.later, full.a_round) == (
        "own", "full", False, 0, 0,
    )  # fmt: skip
    assert (other.where, other.action, other.test, other.later, other.a_round) == (
        "other", "full", True, 0, 0,
    )  # fmt: skip
    assert [e.when for e in board.effects((0, 1)) if e.detail in found] == ["searching"] * 3
    assert not [e for e in board.effects((0, 0)) if isinstance(e.detail, PerchSearch)]


def test_hw22_dice_of_perches_are_1d3():
    """HW-22: 1d3 metres above a base of 2, 5, 8 and 11."""
    levels = systems.get("hexwild").table.perches["C"]
    assert [level.metres for level in levels] == [Dice(1, 3, base) for base in (2, 5, 8, 11)]

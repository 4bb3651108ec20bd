"""`hexwild`, seeing: HW-01 to HW-14, on hand-worked maps."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcraft import rules as systems
from fieldcraft.creature import Creature
from fieldcraft.terrain import Border
from rules.boards import MEDIUM, SMALL, hexes, of_kind, sight_of

RULES = systems.get("hexwild")


def see(rows, a=(0, 0), b=None, *, rules=RULES, target=MEDIUM, **options):
    """Return the sight between two cells of a drawing, by default along its first row."""
    terrain = hexes(rows, **options)
    goal = (0, terrain.shape[1] - 1) if b is None else b
    return rules.sight_field(terrain, MEDIUM, target).sight(a, goal)


def malus(rows, **options):
    sight = see(rows, **options)
    return sight.malus if sight else "hidden"


def test_hw01_obstruction_adds_up():
    """HW-01: foliage and fog along the line are summed."""
    assert malus("....") == 0
    assert malus(".F..") == -1
    assert malus(".FF.") == -2
    assert malus(".F2.") == -3
    assert malus(".f1.") == -2


def test_hw02_the_threshold_hides_at_4():
    """HW-02: -3 is seen with full perception, -4 is not seen."""
    sight = see(".FFF.")
    assert (sight.visible, sight.obstruction, sight.malus) == (True, -3, -3)
    sight = see(".FFFF.")
    assert (sight.visible, sight.obstruction, sight.malus) == (False, -4, None)
    # 3.5 points are -4 already: hidden at 7 halves or more
    assert malus(".FFFf.") == "hidden"


def test_hw02_the_threshold_is_a_parameter():
    """HW-02: threshold=3 and threshold=5 move the edge; without one nothing hides."""
    assert malus(".FF.", rules=RULES.configure(threshold=3)) == -2
    assert malus(".FFF.", rules=RULES.configure(threshold=3)) == "hidden"
    assert malus(".FFFF.", rules=RULES.configure(threshold=5)) == -4
    assert malus(".FFFFF.", rules=RULES.configure(threshold=5)) == "hidden"
    assert malus(".FFFFFFFF.", rules=RULES.configure(threshold=None)) == -8


def test_hw03_poor_light_is_apart():
    """HW-03: forest -3 and darkness -2: seen, the shot at -5, a spell fails in half the cases."""
    sight = see(".FFF.", light=-2)
    assert sight.visible
    assert (sight.obstruction, sight.light, sight.malus) == (-3, -2, -5)
    assert sight.spell_failure == 0.5
    for light in (0, -1, -2, -9):
        hidden = see(".FFFF.", light=light)
        assert (hidden.visible, hidden.obstruction) == (False, -4)
        assert (hidden.malus, hidden.spell_failure) == (None, None)


def test_hw03_the_light_is_the_targets():
    """HW-03: light may differ from hex to hex, and the target's counts."""
    light = [[-1, -4, -3, -2]]
    assert malus("....", light=light) == -2
    assert malus("....", a=(0, 3), b=(0, 0), light=light) == -1
    field = RULES.sight_field(hexes("....", light=light), MEDIUM, MEDIUM)
    assert field.sight((0, 0), (0, 1)).malus == -4
    assert field.sight((0, 0), (0, 1), light=-1).malus == -1


def test_hw04_spell_failure_is_a_tenth_a_point_of_the_whole_malus():
    """HW-04: 10 % for each point, obstruction and light and fog."""
    assert see("....").spell_failure == 0
    assert see(".F..").spell_failure == pytest.approx(0.1)
    assert see("...", light=-3).spell_failure == pytest.approx(0.3)
    assert see(".2.", light=-1).spell_failure == pytest.approx(0.3)


def test_hw05_light_forest_counts_for_every_two_or_fraction():
    """HW-05: 1 or 2 hexes -1, 3 or 4 -2, 5 or 6 -3, 7 hide; over the whole line."""
    found = [malus("." + "f" * n + ".") for n in range(9)]
    assert found == [0, -1, -1, -2, -2, -3, -3, "hidden", "hidden"]
    assert malus(".f.f.f.") == -2, "not hex by hex"
    assert malus(".fFf.") == -2, "halves are summed before they are rounded"


def test_hw06_heavy_forest_counts_for_every_hex():
    """HW-06: -1 for each hex."""
    assert [malus("." + "F" * n + ".") for n in range(5)] == [0, -1, -2, -3, "hidden"]


def test_hw07_ancient_trees_obstruct_as_heavy_forest_or_as_light():
    """HW-07: -1 for each hex by default, else as light forest."""
    light = RULES.configure(ancient_trees_obstruct="light")
    assert [malus("." + "A" * n + ".") for n in range(4)] == [0, -1, -2, -3]
    assert [malus("." + "A" * n + ".", rules=light) for n in range(4)] == [0, -1, -1, -2]
    assert malus(".AfA.", rules=light) == -2


def test_hw08_the_shooters_own_foliage_does_not_count():
    """HW-08: the shooter picks its place in its own hex."""
    assert malus("F...") == 0
    assert malus("A.F.") == -1


def test_hw09_the_targets_foliage_counts_when_not_adjacent():
    """HW-09: the target's hex obstructs every shooter at a distance."""
    assert malus("...F") == -1
    assert malus("..f") == -1
    assert malus("F..F") == -1
    assert malus(".FFFF") == "hidden"


def test_hw10_between_adjacent_creatures_no_foliage_counts():
    """HW-10: at a distance of 1 (and 0) foliage does nothing."""
    for rows in ("FF", ".F", ".A", "ff"):
        assert malus(rows) == 0
    assert malus("F", b=(0, 0)) == 0


def test_hw11_fog_counts_in_whole_points_on_top():
    """HW-11: fog of 1, 2, 3 points adds to what stands there, and is part of HW-02."""
    assert [malus(f".{fog}.") for fog in "123"] == [-1, -2, -3]
    assert malus(".4.") == "hidden"
    misty = {"x": ("heavy_forest", "fog"), "y": ("light_forest", "fog:2")}
    assert malus(".x.", legend=misty) == -2
    assert malus(".y.", legend=misty) == -3
    assert malus(".1f1.") == -3


def test_hw11_by_default_the_targets_fog_counts_and_the_own_does_not():
    """HW-11: adjacent or not, the target's hex counts and the shooter's does not."""
    assert malus("..2") == -2
    assert malus(".2") == -2
    assert malus("2..") == 0
    assert malus("2.") == 0


def test_hw11_fog_counts_is_a_parameter():
    """HW-11: own, target and adjacent may each be set."""
    own = RULES.configure(fog_counts={"own": True})
    assert (malus("2..", rules=own), malus("2.", rules=own)) == (-2, -2)
    assert malus("2.1", rules=own) == -3
    far = RULES.configure(fog_counts={"own": True, "adjacent": False})
    assert (malus("2..", rules=far), malus("2.", rules=far)) == (-2, 0)
    assert (malus("..2", rules=far), malus(".2", rules=far)) == (-2, 0)
    between = RULES.configure(fog_counts={"target": False})
    assert (malus("..2", rules=between), malus(".2", rules=between)) == (0, 0)
    assert malus(".2.", rules=between) == -2


def test_hw11_target_hex_false_frees_the_targets_hex_from_everything():
    """HW-11: for games that count only what lies between."""
    rules = RULES.configure(target_hex=False)
    assert malus("..F", rules=rules) == 0
    assert malus("..2", rules=rules) == 0
    assert malus(".2", rules=rules) == 0
    assert malus("..b", rules=rules, target=SMALL) == 0
    assert malus(".F2.", rules=rules) == -3


@pytest.mark.parametrize("char", ["b", "B", "t", "g", "s", "r", "m", "o"])
def test_hw12_low_things_do_not_obstruct(char):
    """HW-12: bushes, thorns, gravel, stones, rocks, mud and boulders are seen over."""
    assert malus("." + 9 * char + ".") == 0
    assert malus(".." + char) == 0


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_hw12_a_bush_hides_a_small_target_in_it(size):
    """HW-12: as one light-forest hex, only as the target's hex, only at a distance."""
    target = Creature("imp", size=size)
    for char in "bB":
        assert malus(f"..{char}", target=target) == -1
        assert malus(f".{char}", target=target) == 0
        assert malus(f".{char}{char}.", target=target) == 0
        assert malus(f".f{char}", target=target) == -1, "two halves make one point"
        assert malus(f"..{char}", target=MEDIUM) == 0


def test_hw12_small_in_bushes_is_a_parameter():
    """HW-12: "all": each bush on the line is one half; "off": none."""
    everywhere = RULES.configure(small_in_bushes="all")
    off = RULES.configure(small_in_bushes="off")
    found = [malus("." + "b" * n + ".", rules=everywhere, target=SMALL) for n in range(8)]
    assert found == [0, -1, -1, -2, -2, -3, -3, "hidden"]
    assert malus(".bB", rules=everywhere, target=SMALL) == -1
    assert malus("b..", rules=everywhere, target=SMALL) == 0, "the own hex is not on the line"
    assert malus(".bbb.", rules=everywhere, target=MEDIUM) == 0
    assert malus("..b", rules=off, target=SMALL) == 0


def test_hw12_forest_and_bush_in_one_hex_count_as_the_denser():
    """HW-12: a bush in a forest adds nothing; two bushes are one."""
    mixed = {"x": ("light_forest", "light_bushes"), "y": ("heavy_forest", "heavy_bushes")}
    mixed["z"] = ("light_bushes", "heavy_bushes")
    everywhere = RULES.configure(small_in_bushes="all")
    field = sight_of(everywhere, hexes("xyz", legend=mixed), target=SMALL)
    assert field.between.tolist() == field.at_target.tolist() == [[1, 2, 1]]
    field = sight_of(RULES, hexes("xyz", legend=mixed))
    assert field.between.tolist() == field.at_target.tolist() == [[1, 2, 0]]


def test_hw13_a_rock_formation_is_opaque_strictly_between():
    """HW-13: nothing is seen through it; on it and from it everything is (heights come later)."""
    sight = see(".#.")
    assert (sight.visible, sight.obstruction, sight.malus) == (False, None, None)
    assert malus("..#") == 0
    assert malus("#..") == 0
    assert malus(".#") == 0
    assert malus(".o.") == 0, "a boulder is not opaque"
    assert not see(".H."), "a building is, which is ours"
    assert malus(".w.") == 0


def test_hw13_walls_and_closed_doors_end_a_line():
    """HW-13: borders that block are opaque from both sides; open doors and low walls are not."""
    pair = ((0, 1), (0, 2))
    for border, visible in (
        (Border(pair, "wall"), False),
        (Border(pair, "wall", one_way=True), False),
        (Border(pair, "door"), False),
        (Border(pair, "door", open=True), True),
        (Border(pair, "low_wall", price=1), True),
        (Border(pair, "drop"), True),
        (Border(pair, "price", price=1), True),
    ):
        assert see("....", borders=[border]).visible is visible
        assert see("....", a=(0, 3), b=(0, 0), borders=[border]).visible is visible


# From (0, 0) the line to (2, 3) in odd-r runs along edges twice: first between (0, 1) on its left
# and (1, 0) on its right, then through (1, 1), then between (1, 2) and (2, 2).
TIES = ["worst-side", "best-side", "worst-hex", "best-hex", "both"]


def along_edges(chars, tie):
    """Return the obstruction in points with these terrains left, right, left, right."""
    rows = [list("...."), list("...."), list("....")]
    for (row, col), char in zip(((0, 1), (1, 0), (1, 2), (2, 2)), chars, strict=True):
        rows[row][col] = char
    rules = RULES.configure(tie=tie, threshold=None)
    return -see(["".join(row) for row in rows], (0, 0), (2, 3), rules=rules).obstruction


@pytest.mark.parametrize(
    ("chars", "expected"),
    [
        #        worst-side best-side worst-hex best-hex both
        ("....", (0, 0, 0, 0, 0)),
        ("F...", (1, 0, 1, 0, 1)),
        ("FF..", (1, 1, 1, 1, 2)),
        ("F.F.", (2, 0, 2, 0, 2)),
        ("F..F", (1, 1, 2, 0, 2)),
        ("FfFf", (2, 1, 2, 1, 3)),
        ("Ff.F", (2, 1, 2, 1, 3)),
        ("ffFF", (2, 2, 2, 2, 3)),
    ],
)
def test_hw14_a_line_along_edges_and_the_five_ties(chars, expected):
    """HW-14: whole sides, hex by hex, or both hexes of each pair."""
    assert tuple(along_edges(chars, tie) for tie in TIES) == expected


def test_hw14_a_pair_with_one_hex_off_the_map_is_a_single_hex():
    """HW-14: along the edge of the map the one hex counts once, under every tie."""
    # In odd-q the line from (0, 0) to (0, 2) runs between (0, 1) and the hex above it, and this map
    # has but one row.
    for tie in TIES:
        rules = RULES.configure(tie=tie)
        assert see([".F."], (0, 0), (0, 2), rules=rules, lattice="odd-q").obstruction == -1


def test_hw14_lines_cross_hexes_that_stepping_leaves_out():
    """HW-14: from (0, 0) to (1, 3) in odd-r the line cuts the tip of (1, 1)."""
    rows = ["....", ".F.."]
    for tie, stepped in (("worst-side", -1), ("best-side", 0)):
        rules = RULES.configure(tie=tie)
        assert see(rows, (0, 0), (1, 3), rules=rules).obstruction == -1
        assert (
            see(rows, (0, 0), (1, 3), rules=rules.configure(line="stepped")).obstruction == stepped
        )


def test_hw14_a_line_and_its_reverse_differ_only_by_what_depends_on_the_end():
    """HW-14: there and back cross the same hexes, on random maps, with open ends."""
    rng = np.random.default_rng(14)
    for lattice in ("odd-r", "even-r", "odd-q", "even-q"):
        cells = rng.choice(list(".fF1"), (9, 9))
        cells[::4, ::4] = "."
        terrain = hexes(["".join(row) for row in cells], lattice)
        for tie in TIES:
            field = RULES.configure(tie=tie).sight_field(terrain, MEDIUM, MEDIUM)
            for a in ((0, 0), (4, 4), (8, 0)):
                for b in ((8, 8), (4, 0), (0, 8)):
                    assert field.sight(a, b).obstruction == field.sight(b, a).obstruction


def test_what_a_viewer_gets_is_what_the_parameters_say():
    """HW-01 to HW-14: parameters reach the field."""
    rules = RULES.configure(line="stepped", tie="both", threshold=6)
    field = sight_of(rules, of_kind("light_forest", "odd-q", "open"))
    assert (field.line, field.tie, field.threshold) == ("stepped", "both", 6)
    assert field.failure_per_point == 0.1
    assert field.walls is None
    assert field.opaque is None
    assert field.at_viewer is field.adjacent_viewer is field.adjacent_target is None

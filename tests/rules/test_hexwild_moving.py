"""`hexwild`, moving: HW-15 to HW-18, on hand-worked maps."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcraft import rules as systems
from fieldcraft.creature import Creature, Token
from fieldcraft.errors import MapError
from fieldcraft.terrain import Border
from rules.boards import hexes, of_kind, steps_of

RULES = systems.get("hexwild")
WALKER = Creature("walker", speed=4)
HERO = Token(WALKER, (0, 0), side="blue")


def cost(terrain, start, goal, *, rules=RULES, creature=WALKER, stop=True, **tokens):
    return rules.step_field(terrain, creature, **tokens).path(start, goal, stop=stop).cost


def entry(kind, rules=RULES, creature=WALKER, lattice="odd-r"):
    """Return the points it costs to step from open ground onto a cell of that kind."""
    return cost(of_kind(kind, lattice, "open"), (0, 0), (0, 1), rules=rules, creature=creature)


# -- HW-15: entry and stacking ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "points"),
    [
        ("open", 1),
        ("light_forest", 1.5),
        ("heavy_forest", 2),
        ("ancient_trees", 1.5),
        ("light_bushes", 1.5),
        ("heavy_bushes", 2),
        ("thorns", 1.5),
        ("gravel", 1.5),
        ("stones", 2),
        ("sharp_rocks", 3),
        ("mud", 3),
        (("open", "fog"), 1),
        (("open", "fog:3"), 1),
    ],
)
def test_hw15_entry_adds_to_the_plain_point(kind, points):
    """HW-15: each terrain's surcharge is paid besides the plain point."""
    assert entry(kind) == points


def test_hw15_overlays_stack():
    """HW-15: overlays_stack: every overlay is paid, or of several overlays the dearest."""
    dearest = RULES.configure(overlays_stack=False)
    assert entry(("light_forest", "thorns")) == 2
    assert entry(("light_forest", "thorns"), dearest) == 2, "thorns stack on forest either way"
    assert entry(("heavy_forest", "thorns", "stones")) == 3.5
    assert entry(("heavy_forest", "thorns", "stones"), dearest) == 3
    assert entry(("open", "stones", "gravel", "thorns"), dearest) == 2


def test_hw15_a_path_is_the_sum_of_its_hexes_and_takes_the_cheaper_way():
    """HW-15: the way round through open ground is cheaper than through the forest."""
    terrain = hexes(["..F..", "....."])
    assert cost(terrain, (0, 0), (0, 4)) == 5
    assert cost(hexes([".fFf."]), (0, 0), (0, 4)) == 6


def test_hw15_closed_terrain():
    """HW-15: deep water and buildings are not entered; both are ours."""
    for char in "wH":
        assert cost(hexes([f".{char}."]), (0, 0), (0, 2)) == float("inf")
        # a token may stand on a closed hex and walk off it
        assert cost(hexes([f".{char}."]), (0, 1), (0, 2)) == 1


def test_hw15_friends_and_neutrals_are_passed_at_no_price_and_foes_are_not():
    """HW-15: friends and neutrals are passed, foes not, and nobody ends on an occupied hex."""
    terrain = hexes("....")

    def field(side):
        other = Token(Creature("other"), (0, 1), side=side)
        relation = {"blue": "friend", "grey": "neutral", "red": "foe"}
        return RULES.step_field(
            terrain,
            WALKER,
            token=HERO,
            tokens=[HERO, other],
            relation=lambda mine, theirs: relation[theirs],
        )

    for side in ("blue", "grey"):
        reach = field(side).reach((0, 0), 2)
        assert dict(zip(map(tuple, reach.cells.tolist()), reach.cost.tolist(), strict=True)) == {
            (0, 0): 0,
            (0, 1): 1,
            (0, 2): 2,
        }
        assert reach.can_stop.tolist() == [True, False, True]
        assert not field(side).path((0, 0), (0, 1))
        assert field(side).path((0, 0), (0, 1), stop=False).cost == 1
    assert len(field("red").reach((0, 0), 3)) == 1


def test_hw15_by_default_one_side_is_friends_and_others_are_foes():
    """HW-15: without relations a side's tokens are friends, all others foes."""
    terrain = hexes("...")
    for side, open_ in (("blue", True), ("red", False), ("", False)):
        other = Token(Creature("other"), (0, 1), side=side)
        compiled = steps_of(RULES, terrain, token=HERO, tokens=[other])
        assert compiled.legal((0, 0), (0, 1)) is open_


def test_hw15_occupancy_is_by_hex_and_level():
    """HW-15: who sits in a tree leaves the ground free (HW-24), and the other way round."""
    terrain = hexes(".f.")
    up = Token(Creature("archer"), (0, 1), side="red", level=1)
    compiled = steps_of(RULES, terrain, token=HERO, tokens=[HERO, up])
    assert compiled.legal((0, 0), (0, 1))
    assert compiled.stop.all()
    down = Token(Creature("wolf"), (0, 1), side="red")
    assert not steps_of(RULES, terrain, token=HERO, tokens=[down]).legal((0, 0), (0, 1))


def test_hw15_the_mover_is_in_nobodys_way_but_a_twin_on_its_hex_is():
    """HW-15: the mover itself does not count, found by identity or equality, once."""
    terrain = hexes("...")
    assert steps_of(RULES, terrain, token=HERO, tokens=[HERO]).stop.all()
    same = Token(WALKER, (0, 0), side="blue")
    assert steps_of(RULES, terrain, token=HERO, tokens=[same]).stop.all()
    twins = steps_of(RULES, terrain, token=HERO, tokens=[same, HERO])
    assert twins.stop[0, 0] == np.False_
    without = steps_of(RULES, terrain, tokens=[HERO])
    assert not without.legal((0, 1), (0, 0)), "no side is at war with every side"


def test_hw15_a_large_creature_holds_one_hex():
    """HW-15: hexwild knows no bodies of several hexes."""
    ogre = Token(Creature("ogre", size="huge"), (1, 1), side="red")
    compiled = steps_of(RULES, hexes(["...", "...", "..."]), token=HERO, tokens=[ogre])
    assert np.argwhere(~compiled.stop).tolist() == [[1, 1]]


def test_crossing_frees_a_terrain_of_its_price_and_of_being_closed():
    """HW-15, HW-16, HW-18: a creature may cross terrains as if they were plain."""
    sprite = Creature("sprite", crosses=frozenset({"mud", "deep_water", "heavy_forest", "boulder"}))
    for kind in ("mud", "deep_water", "heavy_forest", "boulder"):
        assert entry(kind, creature=sprite) == 1
    assert entry(("heavy_forest", "thorns"), creature=sprite) == 1.5
    assert cost(hexes("mm."), (0, 0), (0, 2), creature=sprite) == 2
    assert cost(hexes("mm."), (0, 0), (0, 2), rules=RULES.configure(mud_exit="zone"),
                creature=sprite) == 2  # fmt: skip
    assert entry("boulder", creature=Creature(climbs=False, crosses=frozenset({"boulder"}))) == 1


# -- HW-16: mud ---------------------------------------------------------------------------------


def test_hw16_mud_is_paid_on_the_way_in_and_out():
    """HW-16: 3 points in, and 1 more for the step out."""
    assert entry("mud") == 3
    assert cost(hexes("m."), (0, 0), (0, 1)) == 2
    assert cost(hexes(".m."), (0, 0), (0, 2)) == 5


def test_hw16_mud_exit_by_hex_or_by_zone():
    """HW-16: every muddy hex that is left is paid, or only leaving the muddy area."""
    zone = RULES.configure(mud_exit="zone")
    # in 3, then 1 + 3, then 1 + 3, then 1 + 1 out
    assert cost(hexes(".mmm."), (0, 0), (0, 4)) == 13
    assert cost(hexes(".mmm."), (0, 0), (0, 4), rules=zone) == 11
    assert cost(hexes("mm"), (0, 0), (0, 1)) == 4
    assert cost(hexes("mm"), (0, 0), (0, 1), rules=zone) == 3
    assert cost(hexes("m.m"), (0, 0), (0, 2), rules=zone) == 5
    for lattice in ("odd-r", "even-r", "odd-q", "even-q"):
        compiled = steps_of(zone, hexes(["m.m", ".m.", "mm."], lattice))
        assert compiled.leave is None
        for a, b in compiled.legal_pairs():
            muddy = {(0, 0), (0, 2), (1, 1), (2, 0), (2, 1)}
            leaves = a in muddy and b not in muddy
            assert compiled.kinds_of(a, b)["border"] == (2 if leaves else 0)


def test_hw16_several_exits_stack_as_entries_do(tmp_path):
    """HW-16, HW-15: exits of overlays stack, or the dearest overlay's is paid."""
    path = tmp_path / "bog.toml"
    path.write_text(
        'extends = "hexwild"\n[terrain.bog]\nexit = 0.5\n[terrain.reeds]\nexit = 1.5\n', "utf-8"
    )
    rules = systems.load(path)
    kind = ("mud", "bog", "reeds")
    compiled = steps_of(rules, of_kind(kind, "odd-r", "open"))
    assert compiled.price((0, 1), (0, 0)) == 2 * (1 + 1 + 0.5 + 1.5)
    compiled = steps_of(rules.configure(overlays_stack=False), of_kind(kind, "odd-r", "open"))
    assert compiled.price((0, 1), (0, 0)) == 2 * (1 + 1 + 1.5)


# -- HW-17: footing -----------------------------------------------------------------------------


def test_hw17_the_careful_and_the_bold_price():
    """HW-17: stones +1 or +0, sharp rocks +2 or +1, by the creature's footing."""
    bold = Creature("daredevil", footing="bold")
    assert (entry("stones"), entry("stones", creature=bold)) == (2, 1)
    assert (entry("sharp_rocks"), entry("sharp_rocks", creature=bold)) == (3, 2)
    assert entry("gravel", creature=bold) == 1.5, "gravel has but one price"
    assert entry("mud", creature=bold) == 3


# -- HW-18: climbing ----------------------------------------------------------------------------


def test_hw18_without_an_elevation_a_boulder_is_1_m_and_a_formation_3_m():
    """HW-18: twice the rise in points in place of the plain one: 2 and 6; coming down costs 1."""
    assert entry("boulder") == 2
    assert entry("rock_formation") == 6
    assert cost(hexes("o."), (0, 0), (0, 1)) == 1
    assert cost(hexes("#."), (0, 0), (0, 1)) == 1
    assert entry(("open", "boulder")) == 2
    assert entry(("light_forest", "boulder")) == 2.5
    assert entry(("rock_formation", "boulder")) == 6, "one climb, the higher"


@pytest.mark.parametrize(
    ("rise", "points"),
    [
        (-3, 1),
        (0, 1),
        (0.1, 1),
        (0.5, 1),
        (0.51, 1.5),
        (0.75, 1.5),
        (1, 2),
        (1.1, 2.5),
        (1.25, 2.5),
        (2, 4),
        (7, 14),
    ],
)
def test_hw18_with_an_elevation_the_rise_is_the_difference(rise, points):
    """HW-18: twice the rise in metres, at least 1, rounded up to half a point."""
    for char in "o#":
        terrain = hexes([f".{char}"], elevation=[[2, 2 + rise]])
        assert cost(terrain, (0, 0), (0, 1)) == points


def test_hw18_rounding_of_the_elevation_itself_is_no_rise():
    """HW-18: 1.1 - 0.6 is half a metre, whatever floating point makes of it."""
    assert cost(hexes(".o", elevation=[[0.6, 1.1]]), (0, 0), (0, 1)) == 1
    assert cost(hexes(".o", elevation=[[0.1, 0.6]]), (0, 0), (0, 1)) == 1


def test_hw18_only_climbing_hexes_ask_for_a_climb():
    """HW-18: other hexes cost what they cost, uphill and downhill; surcharges stay."""
    assert cost(hexes(".f", elevation=[[0, 5]]), (0, 0), (0, 1)) == 1.5
    assert cost(hexes("o.", elevation=[[5, 0]]), (0, 0), (0, 1)) == 1
    terrain = hexes(".x", legend={"x": ("light_forest", "boulder")}, elevation=[[0, 2]])
    assert cost(terrain, (0, 0), (0, 1)) == 4.5


def test_hw18_a_climb_depends_on_where_it_starts():
    """HW-18: from one formation to the next only the difference is climbed."""
    terrain = hexes(".##.", elevation=[[0, 4, 5, 0]])
    assert cost(terrain, (0, 0), (0, 3)) == 8 + 2 + 1
    assert cost(terrain, (0, 3), (0, 0)) == 10 + 1 + 1


def test_hw18_climbs_false_closes_climbing_hexes():
    """HW-18: who does not climb goes round, but may come down."""
    ox = Creature("ox", climbs=False)
    assert cost(hexes(["o#"]), (0, 0), (0, 1), creature=ox) == float("inf")
    assert cost(hexes(["#.."]), (0, 0), (0, 2), creature=ox) == 2


@pytest.mark.parametrize("lattice", ["odd-r", "even-r", "odd-q", "even-q"])
def test_hw18_the_climb_is_by_direction_in_every_layout(lattice):
    """HW-18: each step onto a climbing hex pays its own rise."""
    rows = ["..#o", ".o#.", "#..o", "o#o."]
    elevation = np.random.default_rng(4).integers(0, 9, (4, 4)) / 4
    compiled = steps_of(RULES, hexes(rows, lattice, elevation=elevation))
    n = 0
    for a, b in compiled.legal_pairs():
        climbs = rows[b[0]][b[1]] in "#o"
        rise = elevation[b] - elevation[a]
        expected = max(2, 4 * rise) if climbs else 2
        assert compiled.price(a, b) == expected
        n += 1
    assert n > 60


def test_hw18_bad_elevations():
    """HW-18: an elevation that is no number, or a climb too dear to count, names its cell."""
    with pytest.raises(MapError, match=r"elevation at cell \(0, 1\) is nan; expected a number"):
        steps_of(RULES, hexes(".o", elevation=[[0, np.nan]]))
    with pytest.raises(MapError, match=r"a step from cell \(0, 0\) costs more than can be counted"):
        steps_of(RULES, hexes(".o", elevation=[[0, 20_000]]))


# -- borders ------------------------------------------------------------------------------------


def test_borders_bar_and_cost_by_direction():
    """HW-15: walls and closed doors bar, drops go down, prices add; on hexes too."""
    pair = ((0, 0), (0, 1))

    def both(border, creature=WALKER):
        field = RULES.step_field(hexes("..", borders=[border]), creature)
        return field.path(*pair).cost, field.path(*pair[::-1]).cost

    inf = float("inf")
    assert both(Border(pair, "wall")) == (inf, inf)
    assert both(Border(pair, "wall", one_way=True)) == (1, inf)
    assert both(Border(pair, "door")) == (inf, inf)
    assert both(Border(pair, "door", open=True)) == (1, 1)
    assert both(Border(pair, "door", open=True, price=0.5)) == (1.5, 1.5)
    assert both(Border(pair, "drop", height=2)) == (1, inf)
    assert both(Border(pair, "drop", price=2)) == (3, inf)
    assert both(Border(pair, "price", price=1.5)) == (2.5, 2.5)
    assert both(Border(pair, "price", price=1.5, one_way=True)) == (2.5, inf)
    ghost = Creature("ghost", crosses=frozenset({"wall", "drop", "price"}))
    assert both(Border(pair, "wall"), ghost) == (1, 1)
    assert both(Border(pair, "drop", price=1), ghost) == (1, 1)
    assert both(Border(pair, "price", price=1.5), ghost) == (1, 1)


def test_prices_of_borders_add_to_mud_and_climbs():
    """HW-16, HW-18: a border's price is paid besides everything else on that step."""
    pair = ((0, 0), (0, 1))
    border = Border(pair, "price", price=1)
    assert cost(hexes("mm", borders=[border]), *pair) == 5
    assert cost(hexes(".o", elevation=[[0, 2]], borders=[border]), *pair) == 5
    zone = RULES.configure(mud_exit="zone")
    assert cost(hexes("m.", borders=[border]), *pair, rules=zone) == 3
    assert cost(hexes("..", borders=[border, border]), *pair) == 3, "two borders add"


# -- reasons ------------------------------------------------------------------------------------


def test_steps_say_what_they_cost_and_why():
    """HW-15, HW-16, HW-17, HW-18: the reasons of a path, in the words of the table."""
    terrain = hexes("fTmo", elevation=[[0, 0, 0, 2]])
    path = RULES.step_field(terrain, Creature()).path((0, 0), (0, 3))
    assert [sorted(step.parts) for step in path.steps] == [
        [("light forest", 0.5), ("plain hex", 1), ("thorns", 0.5)],
        [("mud", 2), ("plain hex", 1)],
        [("climb 2 m", 3), ("mud (leaving)", 1), ("plain hex", 1)],
    ]
    assert path.cost == sum(step.cost for step in path.steps) == 10
    bold = RULES.step_field(hexes(".s"), Creature(footing="bold")).path((0, 0), (0, 1))
    assert bold.steps[0].parts == (("plain hex", 1),)
    flat = RULES.step_field(hexes(".#"), Creature()).path((0, 0), (0, 1))
    assert flat.steps[0].parts == (("climb 3 m", 6),)

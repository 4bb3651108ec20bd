"""`hexwild`, what terrain does: HW-17 and HW-19 to HW-21, as data."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fieldcraft import rules as systems
from fieldcraft.errors import RulesError
from fieldcraft.rules import (
    Climb,
    Damage,
    Dice,
    Effect,
    Forbids,
    Ground,
    Hidden,
    Knockdown,
    Modifier,
    Save,
    Slip,
)

RULES = systems.get("hexwild")


def details(kind, cls, when=None, **options):
    """Return the effects of one kind on a cell, in their order."""
    return [
        effect.detail
        for effect in RULES.effects(kind, **options)
        if isinstance(effect.detail, cls) and when in (None, effect.when)
    ]


def modifiers(kind, when="staying", **options):
    return {m.what: m.value for m in details(kind, Modifier, when, **options)}


def test_hw17_the_bold_price_is_a_save_against_a_knockdown():
    """HW-17: a Reflex save, -5 % on wet and -10 % on snow or ice ground, or the damage given."""
    for kind, damage in (("stones", Dice(1, 4)), ("sharp_rocks", Dice(1, 6, 1))):
        (effect,) = (e for e in RULES.effects(kind) if e.footing == "bold")
        assert effect.when == "entering"
        assert effect.detail == Save(
            "reflex",
            Damage(damage, "laceration"),
            Ground(dry=0, wet=-5, snow=-10, ice=-10),
            knockdown=True,
        )
        # the terrain's own knockdown damage comes besides
        assert details(kind, Knockdown, "knockdown")
    assert not [e for kind in ("gravel", "mud") for e in RULES.effects(kind) if e.footing]


def test_hw17_any_knockdown_has_its_damage():
    """HW-17: each terrain's knockdown damage, and who may fall off a rock."""
    found = {
        kind: str(hit.damage)
        for kind in RULES.table
        for hit in details(kind, Knockdown, "knockdown")
    }
    assert found == {
        "thorns": "1d4 piercing",
        "gravel": "1d2 laceration",
        "stones": "1d3 laceration",
        "sharp_rocks": "1d6+1 laceration",
        "boulder": "1d2 blunt",
        "rock_formation": "1d2 blunt",
    }
    (boulder,) = details("boulder", Knockdown)
    (formation,) = details("rock_formation", Knockdown)
    assert (boulder.fall_chance, formation.fall_chance) == (33, 33)
    assert str(boulder.fall_damage) == "1d2 blunt"
    assert (boulder.high_metres, str(boulder.high_fall_damage)) == (2, "1d2+1 blunt")
    assert formation.fall_damage is None, "what the fall itself does"


def test_hw18_the_climbing_test_is_data():
    """HW-18: slopes by 1d12, heights in metres, and the modifier of climbing ancient trees."""
    (boulder,) = details("boulder", Climb, "climbing")
    assert [(s.upto, s.name, s.modifier) for s in boulder.slopes] == [
        (5, "light", 45),
        (9, "moderate", 35),
        (12, "severe", 25),
    ]
    (formation,) = details("rock_formation", Climb, "climbing")
    assert (boulder.height.low, boulder.height.high) == (1, 2)
    assert (formation.height.low, formation.height.high) == (3, 7)
    assert formation.height.mean == 5
    assert formation.metres_per_level == 3
    assert details("ancient_trees", Modifier, "climbing") == [Modifier("climb", -10, "%")]


def test_hw19_staying_on_stones_and_rocks():
    """HW-19: the maluses of staying are data on the hex."""
    stones = {
        "hit": -1,
        "dexterity_tests": -1,
        "reflex": -5,
        "dodge": -5,
        "deflect": -1,
        "somatic_failure": 10,
    }
    rocks = {
        "hit": -1,
        "dexterity_ac": -1,
        "dexterity_tests": -2,
        "reflex": -10,
        "dodge": -10,
        "deflect": -2,
        "somatic_failure": 15,
    }
    assert modifiers("stones") == modifiers("rock_formation") == stones
    assert modifiers("sharp_rocks") == modifiers("boulder") == rocks
    assert details("rock_formation", Forbids, "staying") == [Forbids("rest")]
    units = {m.what: m.unit for m in details("sharp_rocks", Modifier)}
    assert [what for what, unit in units.items() if unit == "%"] == [
        "reflex",
        "dodge",
        "somatic_failure",
    ]
    for kind in ("open", "light_forest", "gravel", "light_bushes", ("open", "fog:3")):
        assert modifiers(kind) == {}


def test_hw19_mud_holds_on_while_leaving_and_is_worse_when_prone():
    """HW-19: 2 points of Dexterity to AC at most; -3 (-4), -15 % (-20 %), while leaving too."""
    standing = {"dexterity_tests": -3, "reflex": -15, "dodge": -15}
    lying = {"dexterity_tests": -4, "reflex": -20, "dodge": -20}
    assert modifiers("mud") == {"dexterity_ac": -2, **standing}
    assert modifiers("mud", prone=True) == {"dexterity_ac": -2, **lying}
    assert modifiers("mud", "leaving") == standing
    assert modifiers("mud", "leaving", prone=True) == lying
    assert details("mud", Forbids, "getting_up") == [Forbids("half_move")]


def test_hw19_thorns_prick_in_combat():
    """HW-19: on entry a Reflex save, at each round's end a pure one, or 1d3 piercing."""
    pricks = Damage(Dice(1, 3), "piercing")
    assert details("thorns", Save, "entering") == [Save("reflex", pricks, combat=True)]
    assert details("thorns", Save, "round_end") == [Save("pure reflex", pricks, combat=True)]


def test_hw19_a_hex_has_the_effects_of_all_it_holds():
    """HW-19: base first, then overlays; nothing is summed here."""
    both = RULES.effects(("stones", "thorns"))
    assert both == RULES.effects("stones") + RULES.effects(("thorns",))
    assert {effect.terrain for effect in both} == {"stones", "thorns"}
    assert RULES.effects("open") == ()
    with pytest.raises(RulesError, match="did you mean 'stones'"):
        RULES.effects("stone")


def test_hw20_slips_by_the_initiative_roll():
    """HW-20: on a 10 (wet 9-10, snow 10, ice 8-10) a save of 0, -5 %, -10 %; rocks -10, -20."""
    rolls = Ground(dry=10, wet=9, snow=10, ice=8)
    low, high = Ground(0, -5, -10, -10), Ground(0, -10, -20, -20)
    for kind in ("stones", "sharp_rocks"):
        assert details(kind, Slip, "staying") == [Slip(rolls, low)]
    for kind in ("boulder", "rock_formation"):
        assert details(kind, Slip, "staying") == [Slip(rolls, high)]
    assert details("gravel", Slip, "entering") == [Slip(rolls, low, "entering")]
    slippery = {kind for kind in RULES.table if details(kind, Slip)}
    assert slippery == {"gravel", "stones", "sharp_rocks", "boulder", "rock_formation"}


def test_hw21_hazards_hidden_in_bushes():
    """HW-21: found from within 9 m, or 6 m at -2; hex_metres turns metres into hexes."""
    assert details("light_bushes", Hidden, "searching") == [Hidden(Fraction(9), 0, 6)]
    assert details("heavy_bushes", Hidden, "searching") == [Hidden(Fraction(6), -2, 4)]
    wide = RULES.configure(hex_metres=4)
    (effect,) = wide.effects("light_bushes")
    assert effect == Effect("light_bushes", "searching", Hidden(Fraction(9), 0, 2))

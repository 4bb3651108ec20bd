"""Every figure of the terrain tables, written out by hand from the specification.

A check compares what a system *does* on maps of two cells with these figures, so that changing any
of them by one tick is noticed (`test_figures.py` shows that it is).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from fieldcraft.creature import Creature
from fieldcraft.rules import (
    Climb,
    Damage,
    Dice,
    Effect,
    Forbids,
    Ground,
    Hidden,
    Knockdown,
    Landing,
    Modifier,
    PerchSearch,
    Raised,
    Save,
    Slip,
    Slope,
)
from rules.boards import SMALL, drawn, of_kind, sight_of, steps_of

BOLD = Creature("daredevil", footing="bold")


@dataclass
class Row:
    """Ticks and halves of a row of the table; the plain hex is in `careful` and `bold`."""

    careful: int = 2
    bold: int = 0
    exit: int = 0
    halves: int = 0
    small_halves: int = 0
    fog: int = 0
    opaque: bool = False
    closed: bool = False
    perches: str = ""
    effects: tuple[Any, ...] = ()
    prone: tuple[Any, ...] = ()


def stay(what: str, value: int, when: str = "staying") -> tuple[str, Any]:
    unit = "%" if what in ("reflex", "dodge", "somatic_failure") else ""
    return when, Modifier(what, value, unit)


def damage(count: int, sides: int, kind: str, plus: int = 0) -> Damage:
    return Damage(Dice(count, sides, plus), kind)


SLIP = Slip(Ground(dry=10, wet=9, snow=10, ice=8), Ground(dry=0, wet=-5, snow=-10, ice=-10))
HIGH_SLIP = Slip(Ground(dry=10, wet=9, snow=10, ice=8), Ground(dry=0, wet=-10, snow=-20, ice=-20))
GRAVEL_SLIP = Slip(
    Ground(dry=10, wet=9, snow=10, ice=8),
    Ground(dry=0, wet=-5, snow=-10, ice=-10),
    when="entering",
)
AS_STONES = (
    stay("hit", -1),
    stay("dexterity_tests", -1),
    stay("reflex", -5),
    stay("dodge", -5),
    stay("deflect", -1),
    stay("somatic_failure", 10),
)
AS_SHARP_ROCKS = (
    stay("hit", -1),
    stay("dexterity_ac", -1),
    stay("dexterity_tests", -2),
    stay("reflex", -10),
    stay("dodge", -10),
    stay("deflect", -2),
    stay("somatic_failure", 15),
)
ON_FOOT = Ground(dry=0, wet=-5, snow=-10, ice=-10)

FOREST = (
    ("searching", PerchSearch("own", "free", test=False, later=2, a_round=1)),
    ("searching", PerchSearch("own", "full", test=False, later=0, a_round=0)),
    ("searching", PerchSearch("other", "full", test=True, later=0, a_round=0)),
    ("falling", Landing("pure reflex", Fraction(1, 2))),
)

HEXWILD = {
    "open": Row(),
    "light_forest": Row(careful=3, halves=1, small_halves=1, perches="A", effects=FOREST),
    "heavy_forest": Row(careful=4, halves=2, small_halves=2, perches="B", effects=FOREST),
    "ancient_trees": Row(
        careful=3,
        halves=2,
        small_halves=2,
        perches="C",
        effects=(("climbing", Modifier("climb", -10, "%")), *FOREST),
    ),
    "light_bushes": Row(
        careful=3,
        small_halves=1,
        effects=(("searching", Hidden(Fraction(9), 0, 6)),),
    ),
    "heavy_bushes": Row(
        careful=4,
        small_halves=1,
        effects=(("searching", Hidden(Fraction(6), -2, 4)),),
    ),
    "thorns": Row(
        careful=3,
        effects=(
            ("entering", Save("reflex", damage(1, 3, "piercing"), combat=True)),
            ("round_end", Save("pure reflex", damage(1, 3, "piercing"), combat=True)),
            ("knockdown", Knockdown(damage(1, 4, "piercing"))),
        ),
    ),
    "gravel": Row(
        careful=3,
        effects=(
            ("entering", GRAVEL_SLIP),
            ("knockdown", Knockdown(damage(1, 2, "laceration"))),
        ),
    ),
    "stones": Row(
        careful=4,
        bold=2,
        effects=(
            (
                "entering",
                Save("reflex", damage(1, 4, "laceration"), ON_FOOT, knockdown=True),
                "bold",
            ),
            ("staying", SLIP),
            *AS_STONES,
            ("knockdown", Knockdown(damage(1, 3, "laceration"))),
        ),
    ),
    "sharp_rocks": Row(
        careful=6,
        bold=4,
        effects=(
            (
                "entering",
                Save("reflex", damage(1, 6, "laceration", 1), ON_FOOT, knockdown=True),
                "bold",
            ),
            ("staying", SLIP),
            *AS_SHARP_ROCKS,
            ("knockdown", Knockdown(damage(1, 6, "laceration", 1))),
        ),
    ),
    "boulder": Row(
        careful=4,
        effects=(
            (
                "climbing",
                Climb(
                    Dice(1, 2),
                    Fraction(1),
                    "steep wall",
                    (Slope(5, "light", 45), Slope(9, "moderate", 35), Slope(12, "severe", 25)),
                ),
            ),
            ("staying", HIGH_SLIP),
            *AS_SHARP_ROCKS,
            ("staying", Raised("huge", Fraction(3))),
            (
                "knockdown",
                Knockdown(
                    damage(1, 2, "blunt"),
                    33,
                    damage(1, 2, "blunt"),
                    Fraction(2),
                    damage(1, 2, "blunt", 1),
                ),
            ),
        ),
    ),
    "rock_formation": Row(
        careful=12,
        opaque=True,
        effects=(
            ("climbing", Climb(Dice(2, 3, 1), Fraction(3), "irregular wall", (), 3)),
            ("staying", HIGH_SLIP),
            *AS_STONES,
            ("staying", Forbids("rest")),
            ("knockdown", Knockdown(damage(1, 2, "blunt"), 33)),
        ),
    ),
    "mud": Row(
        careful=6,
        exit=2,
        effects=(
            stay("dexterity_ac", -2),
            stay("dexterity_tests", -3),
            stay("reflex", -15),
            stay("dodge", -15),
            ("getting_up", Forbids("half_move")),
            stay("dexterity_tests", -3, "leaving"),
            stay("reflex", -15, "leaving"),
            stay("dodge", -15, "leaving"),
        ),
        prone=(
            stay("dexterity_ac", -2),
            stay("dexterity_tests", -4),
            stay("reflex", -20),
            stay("dodge", -20),
            ("getting_up", Forbids("half_move")),
            stay("dexterity_tests", -4, "leaving"),
            stay("reflex", -20, "leaving"),
            stay("dodge", -20, "leaving"),
        ),
    ),
    "fog": Row(halves=2, small_halves=2, fog=2),
    "deep_water": Row(closed=True),
    "building": Row(closed=True, opaque=True),
}


def effects(identifier: str, rows: tuple[Any, ...]) -> tuple[Effect, ...]:
    return tuple(Effect(identifier, *row) for row in rows)


def expect(identifier: str, what: str, found: object, expected: object) -> None:
    assert found == expected, (
        f"{identifier}: {what} is {found!r}, the specification has {expected!r}"
    )


def check_hexwild(rules: Any) -> None:
    """Compare every figure of the table of `hexwild` with the specification."""
    assert set(rules.table) == set(HEXWILD)
    everywhere = rules.configure(small_in_bushes="all")
    own = rules.configure(fog_counts={"own": True})
    here, there = (0, 0), (0, 1)
    for identifier, row in HEXWILD.items():
        terrain = of_kind(identifier, "odd-r", "open")
        careful, bold = steps_of(rules, terrain), steps_of(rules, terrain, BOLD)
        expect(identifier, "being open", careful.legal(here, there), not row.closed)
        expect(identifier, "being closed", rules.table[identifier].closed, row.closed)
        expect(identifier, "entry", careful.price(here, there), row.careful)
        expect(identifier, "bold entry", bold.price(here, there), row.bold or row.careful)
        expect(identifier, "exit", careful.price(there, here), 2 + row.exit)
        seen, small = sight_of(rules, terrain), sight_of(everywhere, terrain, target=SMALL)
        expect(identifier, "obstruction", seen.between[there], row.halves)
        expect(identifier, "obstruction for the small", small.between[there], row.small_halves)
        fog = sight_of(own, terrain).at_viewer
        expect(identifier, "fog", 0 if fog is None else fog[there], row.fog)
        opaque = seen.opaque is not None and bool(seen.opaque[there])
        expect(identifier, "being opaque", opaque, row.opaque)
        expect(identifier, "stopping", careful.stop is None or careful.stop[there], True)
        expect(identifier, "perches", rules.table[identifier].perches, row.perches)
        found = rules.effects(identifier)
        expect(identifier, "effects", found, effects(identifier, row.effects))
        found = rules.effects(identifier, prone=True)
        expect(
            identifier, "effects when prone", found, effects(identifier, row.prone or row.effects)
        )


MODES = ("walk", "swim", "climb", "burrow", "fly")


def with_number(rules: Any, identifier: str) -> str:
    """Return an id for a map: a narrow passage wide enough for everyone."""
    numbers = {"width": ":6", "size": ":gargantuan"}
    return identifier + numbers.get(rules.table[identifier].number, "")


def by_mode(rules: Any, identifier: str, **options: Any) -> list[float | None]:
    """Return the ticks of a straight step into a terrain by each mode, None where it is closed."""
    terrain = drawn(["pkp"], {"p": "open", "k": with_number(rules, identifier)}, "square")
    found: list[float | None] = []
    for mode in MODES:
        field = rules.step_field(terrain, Creature("mover", speed={mode: 99}, **options))
        path = field.path((0, 0), (0, 2))
        ticks = path.cost * rules.ticks - rules.cell_ticks
        if not path and mode in ("swim", "climb"):
            # That mode does not lead out again.
            path = field.path((0, 0), (0, 1))
            ticks = path.cost * rules.ticks
        found.append(round(ticks, 9) if path else None)
    return found


class Square(NamedTuple):
    """Corners, opaque, a movement may end there, and the ticks of a step by mode."""

    corners: bool
    opaque: bool
    stop: bool
    ticks: tuple[float | None, ...]
    closed: bool = False


# Ticks by walking, swimming, climbing, burrowing and flying.
PLAIN = (1, None, None, 1, 1)
SHUT = (None,) * 5
IN_THE_AIR = (None, None, None, None, 1)
PATHFINDER = {
    "open": Square(False, False, True, PLAIN),
    "difficult": Square(False, False, True, (2, None, None, 1, 1)),
    "wall": Square(True, True, True, SHUT, True),
    "column": Square(True, True, True, SHUT, True),
    "pit": Square(False, False, True, IN_THE_AIR, True),
    "chasm": Square(False, False, True, IN_THE_AIR, True),
    "lava": Square(False, False, True, IN_THE_AIR, True),
    "low_obstacle": Square(False, False, False, (2, None, None, 1, 1)),
    "water": Square(False, False, True, (None, 1, None, None, 1)),
    "narrow": Square(False, False, True, PLAIN),
}
CELL = (2, None, None, 2, 2)
OVER = (None, None, None, None, 2)
SRD5 = {
    "open": Square(False, False, True, CELL),
    "difficult": Square(False, False, True, (4, None, None, 2, 2)),
    "wall": Square(True, True, True, SHUT, True),
    "column": Square(True, True, True, SHUT, True),
    "pit": Square(False, False, True, OVER, True),
    "chasm": Square(False, False, True, OVER, True),
    "lava": Square(False, False, True, OVER, True),
    "water": Square(False, False, True, (4, 2, None, None, 2)),
    "climb": Square(False, False, True, (4, None, 2, None, 2)),
    "narrow": Square(False, False, True, CELL),
}
# Who climbs walks on whatever can be walked on, however high (SK-06).
GROUND = (1, None, 1, 1, 1)
SKIRMISH = {
    "open": Square(False, False, True, GROUND),
    "difficult": Square(False, False, True, (2, None, 2, 2, 1)),
    "wall": Square(True, True, True, SHUT, True),
    "column": Square(True, True, True, SHUT, True),
    "impassable": Square(False, False, True, SHUT, True),
    "stairs": Square(False, False, True, (2, None, 2, 2, 1)),
    "ladder": Square(False, False, True, GROUND),
    "deep_water": Square(False, False, True, (None, 1, None, None, 1), True),
}
SKIRMISH_EFFECTS: dict[str, tuple[Any, ...]] = {
    "difficult": tuple(
        ("staying", Modifier(what, -1)) for what in ("combat", "shooting", "agility", "casting")
    ),
    "ladder": (("staying", Forbids("run")),),
    "deep_water": (
        ("staying", Modifier("combat", -1)),
        ("staying", Forbids("cast")),
        ("staying", Forbids("dispel")),
        ("staying", Forbids("fight_at_a_distance")),
        ("staying", Forbids("fight_with_long_weapons")),
    ),
}


def check_squares(rules: Any, table: dict[str, Square], borders: dict[str, int]) -> None:
    """Compare the table of a system on squares with the specification."""
    assert set(rules.table) == set(table)
    assert rules.table.borders == borders
    for identifier, row in table.items():
        compiled = steps_of(rules, of_kind(with_number(rules, identifier), "square", "open"))
        entry = rules.table[identifier]
        expect(identifier, "ticks by mode", by_mode(rules, identifier), list(row.ticks))
        expect(identifier, "exit", compiled.price((0, 1), (0, 0)), row_exit(rules))
        expect(identifier, "stopping", bool(compiled.stop[0, 1]), row.stop)
        expect(identifier, "having corners", entry.corners, row.corners)
        expect(identifier, "being opaque", entry.opaque, row.opaque)
        expect(identifier, "being closed", entry.closed, row.closed)
        dear = identifier in ("difficult", "low_obstacle", "stairs")
        expect(identifier, "entry", entry.entry, int(dear))
        expect(identifier, "hands", entry.hands, int(identifier == "ladder"))
        onward = identifier == "low_obstacle"
        expect(identifier, "having to be left", entry.onward, onward)


def row_exit(rules: Any) -> int:
    """Return the ticks of a step onto open ground: nothing is paid for leaving."""
    return int(rules.cell_ticks)


def check_pathfinder(rules: Any) -> None:
    """Compare every figure of the table of `pathfinder` with the specification."""
    check_squares(rules, PATHFINDER, {"low_wall": 2})
    for identifier in PATHFINDER:
        expect(identifier, "effects", rules.effects(identifier), ())


def check_srd5(rules: Any) -> None:
    """Compare every figure of the table of `srd5` with the specification."""
    check_squares(rules, SRD5, {})
    for identifier in SRD5:
        expect(identifier, "effects", rules.effects(identifier), ())


def check_skirmish(rules: Any) -> None:
    """Compare every figure of the table of `skirmish` with the specification."""
    check_squares(rules, SKIRMISH, {})
    for identifier in SKIRMISH:
        rows = SKIRMISH_EFFECTS.get(identifier, ())
        expect(identifier, "effects", rules.effects(identifier), effects(identifier, rows))
    busy = by_mode(rules, "ladder", hands_full=True)
    expect("ladder", "ticks with hands full", busy, [2, None, 2, 2, 1])
    raised = drawn(["sp"], {"s": "stairs", "p": "open"}, "square", elevation=[[0, 0]])
    expect(
        "stairs", "ticks where heights are known", steps_of(rules, raised).price((0, 1), (0, 0)), 1
    )


# group, opaque
OCTILE = {
    "ground": ("ground", False),
    "swamp": ("ground", False),
    "water": ("water", False),
    "trees": ("trees", True),
    "out_of_bounds": ("", True),
}


def check_octile(rules: Any) -> None:
    """Compare every figure of the table of `octile` with the formats' description."""
    assert set(rules.table) == set(OCTILE)
    assert rules.table.borders == {}
    for identifier, (group, opaque) in OCTILE.items():
        for other, (beside, _) in OCTILE.items():
            compiled = steps_of(rules, of_kind(identifier, "square", other))
            legal = bool(group) and group == beside
            expect(identifier, f"a step from {other}", compiled.legal((0, 0), (0, 1)), legal)
            expect(identifier, "entry", compiled.price((0, 0), (0, 1)), 1.0)
            expect(identifier, "exit", compiled.price((0, 1), (0, 0)), 1.0)
        expect(identifier, "being opaque", rules.table[identifier].opaque, opaque)
        expect(identifier, "being closed", rules.table[identifier].closed, not group)
        expect(identifier, "stopping", rules.table[identifier].stop, True)


CHECKS = {
    "hexwild": check_hexwild,
    "pathfinder": check_pathfinder,
    "srd5": check_srd5,
    "skirmish": check_skirmish,
    "octile": check_octile,
}

"""Encounters scored together answer as each by itself does, and by itself as the board does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
from fieldcraft.encounters import (
    BOARD_LIGHT,
    Boards,
    Combatant,
    Encounter,
    Encounters,
    Profile,
    analyse,
)
from fieldcraft.encounters.model import HELPLESS
from fieldcraft.encounters.scoring import score_arrays
from fieldcraft.encounters.single import score_one
from fieldcraft.tactics import Weapon
from fieldcraft.tactics.valuation import StepKinds
from fieldcraft.terrain import Border

pa = pytest.importorskip("pyarrow")

HEX_TERRAIN = (
    "open", "open", "open", "light_forest", "heavy_forest", "ancient_trees", "mud", "gravel",
    "thorns", "stones", "light_bushes", "boulder", "rock_formation", "deep_water", "fog:2",
)  # fmt: skip
PROFILES = (
    Profile("scout", fc.Creature("scout", size="small", speed=7), (Weapon("sling", 6, -2),)),
    Profile("archer", fc.Creature("archer", speed=4), (Weapon("bow", 10), Weapon("knife"))),
    Profile("ogre", fc.Creature("ogre", size="large", speed=5, reach=2), (Weapon("club"),)),
    Profile(
        "monk",
        fc.Creature("monk", speed=3, climbs=False, footing="bold", crosses=frozenset({"mud"})),
    ),
)
RULES: tuple[dict[str, Any], ...] = (
    {},
    {"tie": "best-side", "mud_exit": "zone"},
    {"tie": "both", "line": "stepped", "threshold": 2},
    {"tie": "worst-hex", "fog_counts": {"own": True, "target": True, "adjacent": True}},
    {"tie": "best-hex", "target_hex": False, "overlays_stack": False},
    {"small_in_bushes": "off", "threshold": 6},
)


def random_board(rng: np.random.Generator, lattice: str, rules: fc.rules.Rules) -> fc.Board:
    """Return a small board with borders and light of its own."""
    height, width = rng.integers(3, 11, 2).tolist()
    terrain = rng.choice(HEX_TERRAIN, (height, width))
    borders = []
    tiling = fc.Lattice(lattice)
    for _ in range(4):
        cell = (int(rng.integers(height)), int(rng.integers(width)))
        other = tiling.neighbors(cell)[int(rng.integers(6))]
        if 0 <= other[0] < height and 0 <= other[1] < width:
            borders.append(Border((cell, other), "drop"))
    light = rng.integers(-2, 1, (height, width)) if rng.random() < 0.5 else 0
    return fc.Board(
        terrain, lattice=lattice, rules=rules, light=light, borders=borders,
        relations=[("red", "green", "neutral")],
    )  # fmt: skip


def random_encounters(
    rng: np.random.Generator, boards: dict[str, fc.Board], n: int, *, flags: int = HELPLESS
) -> Encounters:
    """Return encounters of two to nine tokens of three sides, on distinct cells of the boards."""
    names = list(boards)
    which = rng.integers(0, len(names), n)
    first, cells = [0], []
    for board in which.tolist():
        height, width = boards[names[board]].shape
        count = int(rng.integers(2, min(10, height * width)))
        places = rng.choice(height * width, count, replace=False)
        cells.append(np.stack(np.divmod(places, width), axis=1))
        first.append(first[-1] + count)
    m = first[-1]
    return Encounters(
        names, PROFILES, ("red", "blue", "green"), board=which,
        light=rng.choice([BOARD_LIGHT, 0, -3], n), ground=rng.integers(0, 4, n),
        number=np.arange(n), first=first, profile=rng.integers(0, len(PROFILES), m),
        side=rng.integers(0, 3, m), cells=np.concatenate(cells), level=np.zeros(m, int),
        flags=np.where(rng.random(m) < 0.15, flags, 0),
    )  # fmt: skip


def assert_same(encounters: Encounters, boards: Boards, *, together: bool) -> None:
    """Compare each encounter of a batch with the answers it has by itself."""
    found = score_arrays(encounters, boards)
    row = 0
    for i, encounter in enumerate(encounters):
        scene = boards.scenes.get(encounter.board, boards[encounter.board], encounters.profiles)
        assert (scene.map is not None) == together
        tokens, pairs = score_one(encounter, scene, pairs=True)
        own = slice(int(encounters.first[i]), int(encounters.first[i + 1]))
        for name, values in tokens.items():
            np.testing.assert_array_equal(
                found.tokens[name][own], np.array(values, found.tokens[name].dtype), name
            )
        n = len(encounter.tokens) * (len(encounter.tokens) - 1)
        for name, values in pairs.items():
            np.testing.assert_array_equal(
                found.pairs[name][row : row + n], np.array(values, found.pairs[name].dtype), name
            )
        row += n


@given(
    seed=st.integers(0, 2**32 - 1),
    lattice=st.sampled_from(["odd-r", "even-r", "odd-q", "even-q"]),
    parameters=st.sampled_from(RULES),
)
def test_a_batch_answers_as_each_encounter_alone(seed, lattice, parameters):
    rng = np.random.default_rng(seed)
    rules = fc.rules.get("hexwild", **parameters)
    boards = {name: random_board(rng, lattice, rules) for name in ("a", "b")}
    assert_same(random_encounters(rng, boards, 4), Boards(boards), together=True)


@pytest.mark.parametrize("system", ["pathfinder", "skirmish", "srd5", "octile"])
def test_where_tokens_do_more_each_is_scored_alone(system):
    rng = np.random.default_rng(5)
    terrain = rng.choice(["open", "open", "difficult", "wall"], (7, 9))
    if system == "octile":
        terrain = rng.choice(["ground", "ground", "swamp", "trees"], (7, 9))
    boards = {"a": fc.Board(terrain, rules=system)}
    encounters = random_encounters(rng, boards, 3)
    assert_same(encounters, Boards(boards), together=False)
    assert score_arrays(encounters, boards).tokens["reached"].min() >= 1


@pytest.mark.parametrize("lattice", ["odd-r", "even-q"])
def test_kinds_of_steps_are_worth_what_each_step_is(lattice):
    rng = np.random.default_rng(3)
    for profile in PROFILES:
        board = random_board(rng, lattice, fc.rules.get("hexwild"))
        kinds = StepKinds.of(board.step_field((0, 0), creature=profile.creature), profile.creature)
        for ground in ("dry", "ice"):
            expected = fc.tactics.stakes(board, profile.creature, ground=ground)
            np.testing.assert_array_equal(kinds.worth(ground)[kinds.kind], expected)
            assert expected.any()


def test_two_profiles_of_one_name_are_refused():
    twins = [Profile("a", fc.Creature("a", speed=speed)) for speed in (1, 5)]
    who = (Combatant("a", "red", (0, 0)),)
    with pytest.raises(fc.MapError, match="two profiles have the name 'a'"):
        Encounters.of([Encounter("x", who)], twins)
    one = Encounters.of([Encounter("x", who)], twins[:1])
    columns = {name: getattr(one, name) for name in one.__annotations__}
    with pytest.raises(fc.MapError, match="names has 2 texts; expected 1"):
        Encounters(one.boards, one.profiles, one.sides, names=["p", "q"], **columns)
    with pytest.raises(fc.ArgumentTypeError, match="profiles must be Profiles"):
        Encounters(one.boards, ["a"], one.sides, **columns)


@pytest.mark.parametrize(
    ("rules", "height", "message"),
    [({"line": "stepped"}, None, "heights need the line"), ({}, 0, "height")],
)
def test_what_rules_cannot_see_is_set_aside_and_stops_nobody_else(rules, height, message):
    hill = fc.Board(
        [["open"] * 3] * 3, lattice="odd-r", rules=fc.rules.get("hexwild", **rules),
        elevation=np.eye(3),
    )  # fmt: skip
    boards = {"hill": hill, "flat": hill.replace(elevation=None)}
    profile = Profile("a", fc.Creature("a", speed=4, height=height))
    who = (Combatant("a", "red", (0, 0)), Combatant("a", "blue", (2, 2)))
    some = [Encounter("hill", who), Encounter("flat", who)]
    found = analyse(some, boards=boards, profiles=[profile])
    assert [reject.row for reject in found.rejects] == [0]
    assert message in found.rejects[0].message
    assert found.tokens["encounter"].to_pylist() == [1, 1]

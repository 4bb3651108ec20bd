"""Encounters that are made up: the same everywhere, where somebody may stand, sides apart."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
from fieldcraft import rules
from fieldcraft.encounters import (
    BOARD_LIGHT,
    CONDITIONS,
    PROFILES,
    Boards,
    Conditions,
    Encounters,
    Profile,
    check,
    generate,
    random_board,
)
from fieldcraft.encounters.draws import Draws
from fieldcraft.encounters.generator import _Builder
from fieldcraft.encounters.placing import kind_of
from fieldcraft.errors import ArgumentTypeError, FieldcraftError, MapError, RulesError
from fieldcraft.rules import names
from fieldcraft.tactics import Weapon
from strategies import examples

SYSTEMS = ("hexwild", "octile", "pathfinder", "skirmish", "srd5")


def digest(encounters: Encounters) -> str:
    """Return a hash of the columns of encounters."""
    found = hashlib.sha256()
    for name in ("board", "light", "ground", "first", "profile", "side", "cells"):
        found.update(np.ascontiguousarray(getattr(encounters, name), np.int64).tobytes())
    return found.hexdigest()[:16]


# ---- Draws -------------------------------------------------------------------------------------


def test_draws_are_those_of_the_bits():
    """What PCG64 puts out is kept by NumPy for ever; these figures hold on every machine."""
    assert Draws(7).raw(4).tolist() == [2684764585, 3853503932, 3331544671, 967257515]
    assert Draws(2**80 + 1, 3, 4).below(1000, 3).tolist() == [34, 845, 464]
    assert Draws(7, 1).raw(2, 2).tolist() != Draws(7, 2).raw(2, 2).tolist()
    drawn = Draws(3).below([2, 5, 1 << 31], 4000, 3)
    assert (drawn.min(axis=0) == 0).tolist() == [True, True, False]
    assert drawn[:, :2].max(axis=0).tolist() == [1, 4]
    counts = np.bincount(drawn[:, 1])
    assert counts.min() > 700
    rolls = Draws(1).roll(2, 3, 1, 500)
    assert {*rolls.tolist()} == {3, 4, 5, 6, 7}


# ---- Boards ------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 2), (3, 40), (24, 31)])
def test_boards_of_every_system_and_shape(system, shape):
    for lattice in rules.get(system).lattices:
        board = random_board(5, shape, rules=system, lattice=lattice)
        assert (board.shape, board.lattice.name) == (shape, lattice)
        assert board.rules == rules.get(system)
        assert board == random_board(np.int64(5), shape, rules=system, lattice=lattice)
    assert random_board(5, shape, rules=system).lattice.name == rules.get(system).lattices[0]


def test_every_system_there_is_makes_boards():
    assert set(SYSTEMS) <= set(names())


def test_terrain_lies_in_patches():
    """A cell is far more often like its neighbour than chance would have it."""
    alike = by_chance = 0
    for seed in range(12):
        codes = random_board(seed).terrain.codes
        other = codes != np.bincount(codes.ravel()).argmax()
        alike += (other[:, 1:] & (codes[:, 1:] == codes[:, :-1])).sum()
        by_chance += (other & (codes == np.random.default_rng(seed).permuted(codes))).sum()
    assert alike > 5 * by_chance


def test_most_ground_is_open_and_all_terrains_come():
    shares: dict[str, int] = {}
    for seed in range(60):
        board = random_board(seed)
        for kind, count in zip(
            board.terrain.kinds, np.bincount(board.terrain.codes.ravel()), strict=True
        ):
            assert count > 0
            for id_ in kind:
                name = id_.partition(":")[0]
                shares[name] = shares.get(name, 0) + int(count)
    assert set(shares) == set(rules.get("hexwild").table)
    assert 0.5 < shares["open"] / sum(shares.values()) < 0.8
    assert shares["light_forest"] > shares["ancient_trees"]


def test_heights_are_rolled_by_the_table():
    """HW: a boulder is 1d2 high, a formation 2d3+1; the table says so, not the generator."""
    heights: dict[str, set[float]] = {}
    for seed in range(40):
        terrain = random_board(seed, (30, 30), heights=True).terrain
        for code, kind in enumerate(terrain.kinds):
            if terrain.has_elevation:
                found = terrain.elevation[terrain.codes == code]
                heights.setdefault(kind[0], set()).update(found.tolist())
    assert heights.pop("boulder") == {1, 2}
    assert heights.pop("rock_formation") == {3, 4, 5, 6, 7}
    assert set().union(*heights.values()) == {0}
    assert not random_board(3).terrain.has_elevation


def test_rules_of_ones_own_make_their_own_boards(tmp_path):
    file = tmp_path / "house.toml"
    file.write_text(
        'extends = "hexwild"\n[terrain.boulder.climb]\nheight = "1d1+8"\nrise = 1\n'
        'surface = "wall"\n[terrain.bog]\nname = "bog"\nentry = 4\n'
    )
    boards = [random_board(seed, rules=file, heights=True) for seed in range(20)]
    kinds = {kind[0] for board in boards for kind in board.terrain.kinds}
    assert "bog" in kinds
    for board in boards:
        for code, kind in enumerate(board.terrain.kinds):
            if kind == ("boulder",):
                assert {*board.terrain.elevation[board.terrain.codes == code].tolist()} == {9}


def test_perches_are_rolled_if_asked():
    board = random_board(4, (20, 20), perches=True)
    assert board.terrain.perches
    assert board == random_board(4, (20, 20), perches=True)
    assert board.replace(perches=()) == random_board(4, (20, 20))
    with pytest.raises(RulesError, match="has no perches"):
        random_board(4, rules="srd5", perches=True)


def test_a_generator_makes_another_board_each_time():
    rng = np.random.default_rng(3)
    first, second = random_board(rng), random_board(rng)
    assert first != second
    assert first == random_board(np.random.default_rng(3))


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, True])
def test_a_seed_that_is_none(seed):
    with pytest.raises(ArgumentTypeError, match="seed must be a whole number"):
        random_board(seed)
    with pytest.raises(ArgumentTypeError, match="seed must be a whole number"):
        generate(1, seed)


@pytest.mark.parametrize("shape", [(0, 5), (5, -1), (1 << 20, 1 << 20), 7, (3,), (1.5, 2), None])
def test_a_shape_that_is_none(shape):
    with pytest.raises(FieldcraftError, match=r"shape must be|from 1 to"):
        random_board(1, shape)


# ---- Encounters --------------------------------------------------------------------------------

SAME = {"hexwild": "a17c63fe8c0e8b8d", "pathfinder": "5f784f1918dfce38"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_same_seed_makes_the_same_encounters(system):
    """The figures hold on every machine and under every version of NumPy."""
    made, boards = generate(60, 7, rules=system, n_boards=3, shape=(24, 30), heights=True)
    again, others = generate(60, 7, rules=system, n_boards=3, shape=(24, 30), heights=True)
    assert made == again
    assert made != generate(60, 8, rules=system, n_boards=3, shape=(24, 30)).encounters
    assert dict(boards) == dict(others)
    if system in SAME:
        assert digest(made) == SAME[system]


def test_the_first_do_not_depend_on_how_many_there_are(monkeypatch):
    whole, boards = generate(300, 5, n_boards=40, shape=(16, 16))
    for n in (0, 1, 41, 299):
        some, fewer = generate(n, 5, n_boards=40, shape=(16, 16))
        assert list(some) == list(whole[:n])
        assert list(fewer) == list(boards)[:n]
        assert all(fewer[name] == boards[name] for name in fewer)
    # Nor on how blocks are cut: what is small enough to be placed at once.
    monkeypatch.setattr("fieldcraft.encounters.placing.MOST_HELD", 16 * 16 * 5)
    monkeypatch.setattr("fieldcraft.encounters.generator.KEPT", 1)
    assert generate(300, 5, n_boards=40, shape=(16, 16)).encounters == whole


def test_more_encounters_than_a_block(monkeypatch):
    blocks: list[int] = []
    real = _Builder._block
    monkeypatch.setattr(_Builder, "_block", lambda self, b, n: blocks.append(b) or real(self, b, n))
    whole, boards = generate(700, 3, n_boards=5, shape=(20, 20), tokens=60)
    assert len(blocks) > 2
    assert check(whole, boards) == []
    assert list(generate(300, 3, n_boards=5, shape=(20, 20), tokens=60).encounters) == list(
        whole[:300]
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_nobody_stands_where_it_may_not(system):
    made, boards = generate(200, 11, rules=system, n_boards=8, shape=(20, 24))
    assert check(made, boards) == []
    standing: dict[Any, Any] = {}
    for encounter in made:
        board = boards[encounter.board]
        for token in encounter.tokens:
            key = encounter.board, token.profile
            if key not in standing:
                profile = next(p for p in made.profiles if p.name == token.profile)
                standing[key] = board.rules.standing(board.terrain, profile.creature).where
            assert standing[key][token.cell]
            assert (token.level, token.prone, token.flying, token.helpless) == (0, *[False] * 3)


def test_where_somebody_may_stand_asks_little_of_a_creature():
    """Speeds, names, reach and saves do not matter to where somebody may stand."""
    board = random_board(9)
    for profile in PROFILES:
        plain = board.rules.standing(board.terrain, kind_of(profile.creature))
        whole = board.rules.standing(board.terrain, profile.creature)
        assert np.array_equal(plain.where, whole.where)
        assert np.array_equal(plain.steps, whole.steps)


def test_sides_are_clusters_apart():
    made, boards = generate(500, 2, n_boards=10)
    apart, wide = [], []
    for encounter in made:
        lattice = boards[encounter.board].lattice
        cells = np.array([token.cell for token in encounter.tokens])
        red = np.array([token.side == "red" for token in encounter.tokens])
        assert red.sum() == 6
        distances = lattice.distances(cells[:, None], cells[None])
        apart.append(distances[red][:, ~red].min())
        wide.append(max(distances[red][:, red].max(), distances[~red][:, ~red].max()))
    assert np.mean(apart) > 3 * np.mean(wide)
    assert np.quantile(apart, 0.02) > np.quantile(wide, 0.5)


def test_sides_meet_in_every_direction():
    made, _ = generate(400, 2, n_boards=10)
    ways = [np.sign(np.round((e.tokens[-1].cell - np.array(e.tokens[0].cell)) / 9)) for e in made]
    seen = np.unique(ways, axis=0)
    assert len(seen) >= 8


def test_sides_can_get_to_each_other():
    """All stand on the part of the map that hangs together most widely."""
    rows = ["." * 12] * 8
    rows = [row[:5] + "#" + row[6:] for row in rows]
    board = fc.Board.from_rows(rows, {".": "open", "#": "wall"}, rules="pathfinder", name="two")
    walkers = [p for p in PROFILES if p.name != "ogre"]
    made, _ = generate(50, 1, boards=[board], profiles=walkers, tokens=4)
    assert made.cells[:, 1].min() > 5
    # Where there is too little room on it, the rest serves too.
    made, _ = generate(5, 1, boards=[board], profiles=walkers, tokens=80)
    assert check(made, {"two": board}) == []
    assert made.cells[:, 1].min() < 5


def test_a_board_may_be_full():
    board = fc.Board([["open"] * 3] * 2, lattice="odd-r", name="tiny")
    made, _ = generate(20, 3, boards=[board], tokens=6)
    assert check(made, {"tiny": board}) == []
    with pytest.raises(MapError, match="board 'tiny' has room for 6 of 7 tokens"):
        generate(1, 3, boards=[board], tokens=7)
    sea = fc.Board([["deep_water"] * 3] * 2, lattice="odd-r", name="sea")
    with pytest.raises(MapError, match="board 'sea' has no cell where a token may stand"):
        generate(1, 3, boards=[sea])


def test_large_bodies_do_not_overlap():
    herd = [Profile("dragon", fc.Creature(size="gargantuan", speed="8 sq")), PROFILES[0]]
    made, boards = generate(100, 1, rules="pathfinder", shape=(30, 30), n_boards=4, profiles=herd)
    assert check(made, boards) == []
    worm = [
        Profile("worm", fc.Creature(speed=6, body=7)),
        Profile("eel", fc.Creature(speed=6, body=2)),
    ]
    made, boards = generate(100, 1, shape=(21, 23), n_boards=4, profiles=worm, lattice="odd-q")
    assert check(made, boards) == []


@examples(25)
@given(
    st.integers(0, 2**70),
    st.integers(1, 14),
    st.integers(1, 14),
    st.sampled_from(SYSTEMS),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_any_map_serves_or_is_refused(seed, height, width, system, tokens, sides):
    names_ = ["a", "b", "c"][: min(sides, tokens)]
    try:
        made, boards = generate(
            7, seed, shape=(height, width), rules=system, tokens=tokens, sides=names_, n_boards=3
        )
    except MapError as error:
        assert "room for" in str(error) or "no cell" in str(error)  # noqa: PT017
        return
    assert check(made, boards) == []
    assert np.diff(made.first).tolist() == [tokens] * 7


def test_what_may_be_asked_for():
    mine = [Conditions(-3), Conditions(ground="ice")]
    archer = Profile("a", fc.Creature(speed=6), (Weapon("bow", 9),))
    bear = Profile("b", fc.Creature(size="large", speed=8))
    made, boards = generate(
        90, 1, n_boards=1, shape=(18, 18), tokens={"hunters": 3, "bear": 1},
        profiles={"hunters": [archer], "bear": bear}, conditions=mine,
    )  # fmt: skip
    assert list(boards) == ["made-00000"]
    assert made.sides == ("hunters", "bear")
    assert made.profiles == (archer, bear)
    assert np.array_equal(made.side, made.profile)
    assert np.bincount(made.side[:4]).tolist() == [3, 1]
    assert {(int(a), int(b)) for a, b in zip(made.light, made.ground, strict=True)} == {
        (-3, 0),
        (BOARD_LIGHT, 3),
    }
    dark = generate(9, 1, n_boards=1, conditions=Conditions(-5)).encounters
    assert {*dark.light.tolist()} == {-5}
    odd = generate(9, 1, n_boards=1, tokens=7, sides=["a", "b", "c"]).encounters
    assert np.bincount(odd.side[:7]).tolist() == [3, 2, 2]
    usual = generate(900, 1, n_boards=2).encounters
    assert {one.conditions for one in usual} == {*CONDITIONS}
    assert np.bincount(usual.profile).min() > 900 * 12 / len(PROFILES) * 0.9
    assert usual.number.tolist() == list(range(900))


def test_boards_may_be_given_in_any_form(tmp_path):
    boards = {f"m{i}": random_board(i, (18, 18), name=f"m{i}") for i in range(3)}
    for name, board in boards.items():
        fc.write(board, tmp_path / f"{name}.toml")
    expected = generate(20, 4, boards=boards).encounters
    assert expected.boards == ("m0", "m1", "m2")
    paths = [tmp_path / f"{name}.toml" for name in boards]
    given_ = Boards(boards)
    for form in (given_, list(boards.values()), paths, [str(path) for path in paths]):
        made, known = generate(20, 4, boards=form)
        assert made == expected
        assert list(known) == list(boards)
        assert known["m1"] == boards["m1"]
    assert generate(20, 4, boards=given_).boards is given_
    twice = generate(4, 1, boards=[boards["m0"], boards["m0"], boards["m0"].replace(name="")])
    assert list(twice.boards) == ["m0", "m0-00001", "board-00002"]
    # Other tokens on a board do not count.
    full = boards["m0"].replace(tokens=[fc.Token("x", (r, c)) for r in range(18) for c in range(9)])
    assert len(generate(3, 1, boards=full).encounters) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": -1}, "n must be a whole number, 0 or more, not -1"),
        ({"n": 1.5}, "n must be"),
        ({"n_boards": 0}, "n_boards must be a whole number, 1 or more"),
        ({"boards": [], "n": 1}, "no boards"),
        ({"boards": 7}, "boards must be several boards or files"),
        ({"boards": [7]}, "boards must be boards or files, not 7"),
        ({"boards": {"x": random_board(1)}, "rules": "hexwild"}, "rules is of made-up boards"),
        ({"tokens": 1}, "tokens must be a whole number, 2 or more"),
        ({"tokens": 2000}, "from 1 to 1,024 tokens, not 2,000"),
        ({"tokens": {"red": 0}}, "tokens of 'red' must be"),
        ({"tokens": {}}, "from 1 to 1,024 tokens, not 0"),
        ({"tokens": {3: 1}}, "a side must have a name"),
        ({"sides": "red"}, "sides must be several names"),
        ({"sides": ["a", "a"]}, "each once"),
        ({"sides": []}, "several names"),
        ({"profiles": []}, "has no profiles"),
        ({"profiles": 7}, "profiles must be several Profile"),
        ({"profiles": ["scout"]}, "profiles must be Profile, not 'scout'"),
        ({"profiles": {"red": PROFILES}}, "side 'blue' has no profiles"),
        (
            {"profiles": {"red": PROFILES, "blue": PROFILES, "bleu": PROFILES}},
            "did you mean 'blue'?",
        ),
        (
            {"profiles": {"red": PROFILES[0], "blue": Profile("scout", fc.Creature(speed=1))}},
            "two profiles have the name 'scout'",
        ),
        ({"conditions": []}, "conditions must be Conditions"),
        ({"conditions": ["wet"]}, "conditions must be Conditions"),
        ({"rules": "hexwld"}, "did you mean 'hexwild'?"),
        ({"lattice": "square"}, "hexwild is played on"),
        ({"shape": (0, 0)}, "from 1 to"),
        (
            {"rules": "octile", "profiles": Profile("m", fc.Creature(speed="9 m"))},
            "profile 'm': .*octile counts in cells",
        ),
    ],
)  # fmt: skip
def test_arguments_that_are_none(arguments, message):
    with pytest.raises(FieldcraftError, match=message.replace("?", r"\?")):
        generate(**{"n": 3, "seed": 1, **arguments})


def test_a_large_map_and_many_tokens():
    sides = ["a", "b", "c", "d"]
    made, boards = generate(3, 1, n_boards=2, shape=(150, 140), tokens=1000, sides=sides)
    assert check(made, boards) == []
    assert len(made.profile) == 3000

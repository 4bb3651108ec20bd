"""Threat maps, against stop by stop and cell by cell, and by hand."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import tactics
from reference.turns import SYSTEMS, WEAPONS, attack, random_board, stops

module = import_module("fieldcraft.tactics.threats")  # by its name it is the function


def fits(board, token):
    cells = board.rules.cells_of(token, board.lattice)
    return all(0 <= row < board.shape[0] and 0 <= col < board.shape[1] for row, col in cells)


def overlap(board, one, other):
    return board.distance(one, other) == 0


def by_hand(board, foe, target, weapons, tokens=None):
    """Return the best malus of a foe against each cell, by the board's single questions."""
    found = np.full(board.shape, fc.HIDDEN, np.int16)
    for stop in stops(board, foe, tokens):
        attacker = foe.at(stop)
        for cell in np.ndindex(board.shape):
            there = target.at(cell)
            if not fits(board, there) or overlap(board, attacker, there):
                continue
            shot = attack(board, attacker, there, weapons)
            if shot is not None:
                found[cell] = max(found[cell], shot[0])
    return found


def alike(board, seed):
    """Let the foes be of two profiles."""
    red = [t for t in board.tokens if t.side == "red"]
    kinds = [
        replace(red[0].creature, name="orc"),
        replace(red[0].creature, name="wolf", speed=None),
    ]
    kinds[1] = replace(kinds[1], speed=red[0].creature.speed, reach=2)
    tokens = [
        t if t.side != "red" else replace(t, creature=kinds[i % 3 == 2])
        for i, t in enumerate(board.tokens)
    ]
    return board.replace(tokens=tokens)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("case", ["each its own", "profiles", "all sources"])
def test_every_threat_is_what_the_single_questions_say(system, case, monkeypatch):
    if case == "all sources":
        monkeypatch.setattr(module, "EVERY", 10_000)
    threatened = 0
    for seed in range(2):
        rng = np.random.default_rng([seed, 21])
        board = random_board(system, rng, size=(5, 6), n=7)
        if case != "each its own":
            board = alike(board, seed)
        token = board.tokens[0]
        weapons = WEAPONS[system]
        found = tactics.threats(board, token, weapons=weapons)
        foes = [t for t in board.tokens if t.side == "red" and not t.helpless]
        assert found.foes == tuple(foes)
        wanted = np.array([by_hand(board, foe, token, weapons) for foe in foes])
        wanted = wanted.reshape(len(foes), *board.shape)
        assert np.array_equal(found.maluses, wanted)
        assert np.array_equal(found.masks, wanted != fc.HIDDEN)
        assert np.array_equal(found.cells, (wanted != fc.HIDDEN).sum(axis=0))
        assert np.array_equal(found.malus, wanted.max(axis=0, initial=fc.HIDDEN))
        threatened += int(found.cells.sum())
        for cell in ((0, 0), token.cell, (4, 5)):
            able = [i for i in range(len(foes)) if wanted[i][cell] != fc.HIDDEN]
            able.sort(key=lambda i: -wanted[i][cell])
            assert found.at(cell) == tuple((foes[i], wanted[i][cell]) for i in able)
    assert threatened


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("who", ["large foe", "large target"])
def test_large_bodies_threaten_and_are_threatened(system, who):
    """By their best pair of cells, and from the closest one."""
    threatened = 0
    rng = np.random.default_rng([1, 22])
    board = random_board(system, rng, size=(7, 7), n=5, large=True, states=False)
    big, foe, *others = board.tokens
    if who == "large foe":
        board = board.replace(tokens=[replace(big, side="red"), replace(foe, side="blue"), *others])
        big, token = board.tokens[0], board.tokens[1]
    else:
        token = big
    weapons = WEAPONS[system]
    found = tactics.threats(board, token, weapons=weapons)
    foes = [t for t in board.tokens if t.side == "red"]
    assert found.foes == tuple(foes)
    for number, one in enumerate(foes[:2]):
        wanted = by_hand(board, one, token, weapons)
        assert np.array_equal(found.maluses[number], wanted)
        threatened += int((wanted != fc.HIDDEN).sum())
    assert threatened
    check_origins(board, found, 0, token, weapons, cells=[(0, 0), (3, 3), (3, 5), (6, 2), (5, 5)])


def check_origins(board, found, number, token, weapons, cells):
    """Check from where a foe could come, cell by cell: it begins there, and stops and attacks."""
    foe = found.foes[number]
    others = [t for t in board.tokens if t is not foe]
    origins = found.origins(number)
    for cell in cells:
        there = foe.at(cell)
        wanted = False
        if fits(board, there) and not overlap(board, there, token):
            wanted = any(
                attack(board, foe.at(stop), token, weapons) is not None
                for stop in stops(board, there, others)
                if not overlap(board, foe.at(stop), token)
            )
        assert origins[cell] == wanted, cell


@pytest.mark.parametrize("system", SYSTEMS)
def test_from_where_a_foe_could_come(system):
    some = 0
    for seed in range(2):
        rng = np.random.default_rng([seed, 23])
        board = random_board(system, rng, size=(5, 6), n=6)
        token = board.tokens[0]
        weapons = WEAPONS[system][:2]
        found = tactics.threats(board, token, weapons=weapons)
        for number in range(min(2, len(found.foes))):
            check_origins(board, found, number, token, weapons, list(np.ndindex(board.shape)))
            some += int(found.origins(number).sum())
    assert some


def test_a_wolf_that_walks_and_one_that_flies():
    """From the air it comes over the water, and strikes down: the level counts as a cell."""
    rows = ["..~~~..", "..~~~.."]
    elf = fc.Token("elf", (0, 0), side="blue")
    for speed, reached in (({"walk": 6}, False), ({"walk": 3, "fly": 7.5}, True)):
        bat = fc.Token(fc.Creature("bat", speed=speed), (0, 5), side="red")
        board = fc.Board.from_rows(
            rows, {".": "open", "~": "water"}, rules="srd5", tokens=[elf, bat]
        )
        found = tactics.threats(board, elf, weapons=[tactics.Weapon()])
        assert bool(found.masks[0, 0, 1]) == reached
        origins = found.origins(bat)
        assert origins[0, 1]
        assert not origins[0, 0]
        assert bool(origins[0, 5]) == bool(found.masks[0, 0, 0])
    # As the brute force has it: any state in which it may end, and the attack from there.
    wanted = np.zeros(board.shape, bool)
    for cell in np.ndindex(board.shape):
        if cell == elf.cell:
            continue
        reach = board.reach(bat.at(cell), tokens=[elf])
        for stop in [cell, *map(tuple, reach.stops.tolist())]:
            for flying in (False, True):
                state = bat.at(stop) if not flying else replace(bat.at(stop), flying=True, level=1)
                wanted[cell] |= board.can_hit(state, elf) and stop != elf.cell
    assert np.array_equal(origins, wanted)


def gate():
    """A watch on one side of a wall with a gap, an elf on the other."""
    return fc.Board.from_rows(
        [".....", "##.##", "....."],
        {".": "open", "#": "wall"},
        rules="srd5",
        tokens=[
            fc.Token("elf", (2, 0), side="blue"),
            fc.Token(fc.Creature("watch", speed=3), (0, 2), side="red"),
            fc.Token(fc.Creature("dog", speed=6), (0, 4), side="red", name="Rex"),
            fc.Token(fc.Creature("fox", speed=6), (0, 0), side="green"),
            fc.Token(fc.Creature("sleeper", speed=6), (2, 4), side="red", helpless=True),
        ],
        relations=[("blue", "green", "neutral")],
    )


AXE, BOW = tactics.Weapon("axe"), tactics.Weapon("bow", range=6)


def test_who_threatens_whom():
    board = gate()
    elf, watch, dog, fox, _ = board.tokens
    found = tactics.threats(board, elf, weapons=[AXE])
    assert found.foes == (watch, dog)
    assert repr(found) == f"Threats(2 foes, {int((found.cells > 0).sum())} cells)"
    side = tactics.threats(board, "blue", weapons=[AXE])
    assert np.array_equal(side.maluses, found.maluses)
    assert np.array_equal(tactics.threats(board, elf.cell, weapons=[AXE]).cells, found.cells)
    both = tactics.threats(board, elf, foes=[watch, fox], weapons=[AXE])
    assert both.foes == (watch, fox)
    alone = tactics.threats(board, elf, tokens=[elf, watch], weapons=[AXE])
    assert alone.foes == (watch,)
    assert alone.masks[0][0].all()
    nobody = tactics.threats(board, elf, tokens=[elf], weapons=[AXE])
    assert not nobody.cells.any()
    assert (nobody.malus == fc.HIDDEN).all()
    assert nobody.at((0, 0)) == ()
    dark = tactics.threats(board, elf, weapons=[tactics.Weapon("bow", 6, -1)], light=-2)
    assert not dark.cells.any()


def test_each_has_weapons_of_its_own():
    board = gate()
    elf, watch, dog, *_ = board.tokens
    axe = tactics.threats(board, elf, weapons=[AXE])
    bow = tactics.threats(board, elf, weapons=[BOW])
    assert not np.array_equal(axe.masks[0], bow.masks[0])
    for key in (watch, "watch", watch.creature):
        found = tactics.threats(board, elf, weapons={key: [BOW]})
        assert np.array_equal(found.maluses[0], bow.maluses[0])
        assert not found.masks[1].any()
    for key in (dog, "Rex", dog.creature, "dog"):
        found = tactics.threats(board, elf, weapons={"watch": [BOW], key: [AXE]})
        assert np.array_equal(found.maluses[0], bow.maluses[0])
        assert np.array_equal(found.maluses[1], axe.maluses[1])
    assert not tactics.threats(board, elf, weapons=[]).cells.any()


def test_what_is_attacked_may_be_another_creature():
    board = fc.Board.from_rows(
        ["B.....", "......"],
        {".": "open", "B": "light_bushes"},
        lattice="odd-r",
        rules="hexwild",
        tokens=[fc.Token("elf", (0, 0), side="blue"), fc.Token("orc", (0, 4), side="red")],
    )
    board = board.replace(
        tokens=[board.tokens[0], replace(board.tokens[1], creature=fc.Creature("orc", speed=0))]
    )
    elf = board.tokens[0]
    weapons = [tactics.Weapon("bow", range=9)]
    assert tactics.threats(board, elf, weapons=weapons).malus[0, 0] == 0
    small = tactics.threats(board, elf, weapons=weapons, creature=fc.Creature(size="small"))
    assert (
        small.malus[0, 0] == board.sight((0, 4), fc.Token(fc.Creature(size="small"), (0, 0))).malus
    )
    assert small.malus[0, 0] < 0


def test_where_the_token_would_stand():
    """It is in the way there, and no more where it is."""
    board = gate()
    elf, watch, *_ = board.tokens
    found = tactics.threats(board, elf, weapons=[AXE])
    moved = board.move(elf, (2, 2))
    again = tactics.threats(moved, moved.tokens[0], weapons=[AXE])
    for number in range(2):
        there = found.origins(number, (2, 2))
        assert np.array_equal(there, again.origins(number))
        assert not there[2, 2]
    assert np.array_equal(found.origins(watch), found.origins(0))
    side = tactics.threats(board, "blue", weapons=[AXE])
    assert np.array_equal(side.origins(0, elf.cell), found.origins(0))


def test_it_is_a_value():
    board = gate()
    found = tactics.threats(board, board.tokens[0], weapons=[AXE, BOW])
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert np.array_equal(other.maluses, found.maluses)
        assert np.array_equal(other.origins(1), found.origins(1))
        assert not other.maluses.flags.writeable
    for array in (found.maluses, found.masks, found.cells, found.malus, found.origins(0)):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"who": (1, 2)}, fc.MapError, "nobody stands at"),
        ({"who": (9, 2)}, fc.OutsideMapError, "outside the map"),
        ({"weapons": AXE}, fc.ArgumentTypeError, "several Weapon"),
        ({"weapons": {"watch": AXE}}, fc.ArgumentTypeError, "several Weapon"),
        ({"weapons": {"wacht": [AXE]}}, fc.MapError, "did you mean 'watch'"),
        ({"weapons": {3: [AXE]}}, fc.MapError, "none of the foes"),
        ({"creature": "ogre"}, fc.ArgumentTypeError, "must be a Creature"),
        ({"light": 2}, fc.CostError, "0 or negative"),
        ({"weapons": [tactics.Weapon(range="3 pt")]}, fc.RulesError, "range of weapon"),
    ],
)
def test_what_may_not_be_asked(given, error, words):
    board = gate()
    asked = {"who": board.tokens[0], "weapons": [AXE], **given}
    with pytest.raises(error, match=words):
        tactics.threats(board, asked.pop("who"), **asked)


def test_from_where_who_may_not_be_asked():
    board = gate()
    elf, watch, _, fox, _ = board.tokens
    found = tactics.threats(board, elf, weapons=[AXE])
    for wrong, error in ((fox, fc.MapError), (2, fc.MapError), ("watch", fc.ArgumentTypeError)):
        with pytest.raises(error):
            found.origins(wrong)
    with pytest.raises(fc.OutsideMapError):
        found.origins(watch, (7, 7))
    with pytest.raises(fc.OutsideMapError):
        found.at((7, 7))
    with pytest.raises(fc.MapError, match="threats to a side"):
        tactics.threats(board, "blue", weapons=[AXE]).origins(0)


def test_many_places_are_looked_from_in_parts(monkeypatch):
    board = random_board("hexwild", np.random.default_rng(4), size=(9, 9), n=9)
    weapons = WEAPONS["hexwild"]
    found = tactics.threats(board, board.tokens[0], weapons=weapons)
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    again = tactics.threats(board, board.tokens[0], weapons=weapons)
    assert np.array_equal(found.maluses, again.maluses)


def test_over_heights_lines_are_walked():
    rng = np.random.default_rng(2)
    terrain = rng.choice(["open", "open", "boulder"], (5, 6))
    board = fc.Board(
        terrain.tolist(), lattice="odd-r", rules="hexwild",
        elevation=rng.choice([0, 0, 1, 3], (5, 6)),
        tokens=[fc.Token("elf", (0, 0), side="blue"),
                fc.Token(fc.Creature("orc", speed=2), (4, 4), side="red")],
    )  # fmt: skip
    weapons = WEAPONS["hexwild"]
    found = tactics.threats(board, board.tokens[0], weapons=weapons)
    assert np.array_equal(
        found.maluses[0], by_hand(board, board.tokens[1], board.tokens[0], weapons)
    )

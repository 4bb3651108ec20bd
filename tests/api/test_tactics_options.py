"""One creature's turn, against a stop-by-stop account by the board's own single questions."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import tactics
from reference.turns import SYSTEMS, WEAPONS, attack, random_board, stops


def by_hand(board, token, weapons):
    """Return one dictionary a stop."""
    foes = [other for other in board.tokens if board.relation(token, other) == "foe"]
    rows = []
    for cell, price in stops(board, token).items():
        there = token.at(cell)
        shots = [attack(board, there, foe, weapons) for foe in foes]
        seen = [
            board.sight(foe, there).malus
            for foe in foes
            if not foe.helpless and board.sight(foe, there).visible
        ]
        far = [board.distance(there, foe) for foe in foes]
        possible = [i for i, shot in enumerate(shots) if shot is not None]
        best = min(possible, key=lambda i: (-shots[i][0], far[i], i), default=-1)
        rows.append(
            {
                "cell": cell,
                "price": price,
                "malus": [fc.HIDDEN if shot is None else shot[0] for shot in shots],
                "weapon": [-1 if shot is None else shot[1] for shot in shots],
                "distance": far,
                "n_targets": len(possible),
                "best_target": best,
                "best_malus": fc.HIDDEN if best < 0 else shots[best][0],
                "exposure": len(seen),
                "exposed_malus": max(seen, default=fc.HIDDEN),
                "nearest": min(far, default=math.inf),
            }
        )
    return foes, rows


@pytest.mark.parametrize("large", [False, True], ids=["one cell", "large"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_stop_is_what_the_single_questions_say(system, large):
    attacked = 0
    for seed in range(6):
        board = random_board(system, np.random.default_rng([seed, large]), large=large)
        token = board.tokens[0]
        weapons = WEAPONS[system]
        found = tactics.options(board, token, weapons=weapons)
        foes, rows = by_hand(board, token, weapons)
        assert found.foes == tuple(foes)
        assert list(map(tuple, found.cells.tolist())) == [row["cell"] for row in rows]
        for name in rows[0]:
            if name != "cell":
                assert getattr(found, name).tolist() == [row[name] for row in rows], name
        left = [found.reach.left_at(row["cell"])["walk"] for row in rows]
        assert found.left.tolist() == pytest.approx(left)
        assert found.left[0] == found.reach.budget
        attacked += int(found.n_targets.sum())

        possible = [i for i, row in enumerate(rows) if row["n_targets"]]
        best = min(
            possible,
            default=None,
            key=lambda i: (
                -rows[i]["best_malus"], -rows[i]["n_targets"], rows[i]["exposure"],
                rows[i]["price"], rows[i]["cell"],
            ),
        )  # fmt: skip
        assert found.best_attack() == best
        safest = min(
            range(len(rows)),
            key=lambda i: (
                rows[i]["exposure"], rows[i]["exposed_malus"], -rows[i]["nearest"],
                rows[i]["price"], rows[i]["cell"],
            ),
        )  # fmt: skip
        assert found.safest() == safest
        for i, option in enumerate(found):
            assert option == found[i]
            assert option.cell == rows[i]["cell"]
            assert {shot.target: shot.malus for shot in option.shots} == {
                foe: malus for foe, malus in zip(foes, rows[i]["malus"], strict=True)
                if malus != fc.HIDDEN
            }  # fmt: skip
            if option.best is not None:
                assert option.best.target is foes[rows[i]["best_target"]]
            assert found.path(i).cost == option.price
            assert found.effects(i) == board.effects(token.at(option.cell))
    assert attacked


def skirmish_line():
    """An archer behind a wood, an orc on each side of it, one of whom sleeps."""
    return fc.Board.from_rows(
        ["..f....", ".......", "......."],
        {".": "open", "f": "light_forest"},
        lattice="odd-r",
        rules="hexwild",
        tokens=[
            fc.Token(fc.Creature("archer", speed=3), (1, 1), side="blue"),
            fc.Token(fc.Creature("orc"), (0, 6), side="red"),
            fc.Token(fc.Creature("sleeper"), (2, 3), side="red", helpless=True),
            fc.Token(fc.Creature("wolf"), (2, 5), side="green"),
        ],
        relations=[("blue", "green", "neutral")],
    )


BOW = tactics.Weapon("bow", range=4, limit=-1)


def test_all_sight_lines_run_in_one_batch_each_way(monkeypatch):
    board = random_board("hexwild", np.random.default_rng(1), n=11, states=False)
    asked = []
    field_type = type(board.sight_field())
    sights = field_type.sights
    monkeypatch.setattr(
        field_type, "sights", lambda self, pairs, **given: asked.append(len(pairs)) or
        sights(self, pairs, **given),
    )  # fmt: skip
    board = board.replace(
        tokens=[fc.Token(fc.Creature("one", speed=4), t.cell, t.side) for t in board.tokens]
    )
    found = tactics.options(board, board.tokens[0], weapons=WEAPONS["hexwild"])
    assert asked == [len(found) * len(found.foes)] * 2


def test_who_is_asked_about():
    board = skirmish_line()
    archer, orc, sleeper, wolf = board.tokens
    found = tactics.options(board, archer, weapons=[BOW])
    assert found.foes == (orc, sleeper)
    # The sleeper is a target and watches nobody.
    assert {shot.target for option in found for shot in option.shots} == {orc, sleeper}
    assert set(found.exposure.tolist()) <= {0, 1}
    assert tactics.options(board, (1, 1), weapons=[BOW])[1] == found[1]
    alone = tactics.options(board, archer, tokens=[archer, wolf], weapons=[BOW])
    assert alone.foes == ()
    assert alone.best_attack() is None
    assert alone.nearest.tolist() == [math.inf] * len(alone)
    assert alone.safest() == 0
    assert [option.best for option in alone] == [None] * len(alone)
    chosen = tactics.options(board, archer, foes=[wolf], weapons=[BOW])
    assert chosen.foes == (wolf,)
    assert not tactics.options(board, archer).n_targets.any()
    dark = tactics.options(board, archer, weapons=[BOW], light=-2)
    assert dark.best_attack() is None
    assert dark.exposed_malus.max() == -2


def test_a_turn_without_a_speed_has_no_end():
    board = skirmish_line()
    orc = board.tokens[1]
    found = tactics.options(board, orc, weapons=[BOW])
    assert set(found.left.tolist()) == {math.inf}
    assert len(found) == len(board.reach(orc).stops)


def test_the_start_is_a_stop_wherever_it_is():
    board = fc.Board(
        [["open", "wall", "open"]],
        rules="pathfinder",
        tokens=[fc.Token(fc.Creature("stuck", speed=1), (0, 1), side="blue")],
    )
    found = tactics.options(board, board.tokens[0])
    assert found.cells.tolist() == [[0, 1], [0, 0], [0, 2]]
    assert found.price.tolist() == [0, 1, 1]


def test_who_flies_there_is_in_the_air_there():
    """A pond that only wings cross: from above it a sword does not reach, nor does one from below.

    On land the way on foot is as cheap, and so the hawk walks.
    """
    hawk = fc.Token(fc.Creature("hawk", speed={"walk": 9, "fly": 18}), (0, 0), side="blue")
    crab = fc.Token(fc.Creature("crab", reach=0), (0, 3), side="red", level=0)
    board = fc.Board.from_rows(
        ["..~~.."], {".": "open", "~": "water"}, rules="srd5", tokens=[hawk, crab]
    )
    found = tactics.options(board, hawk, weapons=[tactics.Weapon()])
    states = {tuple(cell): found.standing(i) for i, cell in enumerate(found.cells.tolist())}
    assert not states[0, 1].flying
    for i, cell in enumerate(found.cells.tolist()):
        there = found.standing(i)
        assert there.cell == tuple(cell)
        assert found.distance[i, 0] == board.distance(there, crab)
        assert (found.malus[i, 0] != fc.HIDDEN) == board.can_hit(there, crab)


def test_who_climbs_down_stands_on_the_ground():
    board = fc.Board.from_rows(
        ["F..."],
        {".": "open", "F": "heavy_forest"},
        lattice="odd-r",
        rules="hexwild",
        perches=[fc.Perch((0, 0), 1, "medium", 4.0)],
        tokens=[fc.Token(fc.Creature("scout", speed=6), (0, 0), side="blue", level=1),
                fc.Token("orc", (0, 3), side="red")],
    )  # fmt: skip
    found = tactics.options(board, board.tokens[0], weapons=[BOW])
    levels = {tuple(cell): found.standing(i).level for i, cell in enumerate(found.cells.tolist())}
    assert levels == {(0, 0): 1, (0, 1): 0, (0, 2): 0}
    for i in range(len(found)):
        assert found.exposed_malus[i] == board.sight(board.tokens[1], found.standing(i)).malus


def test_tables():
    pa = pytest.importorskip("pyarrow")
    board = skirmish_line()
    found = tactics.options(board, board.tokens[0], weapons=[BOW])
    table = found.to_table()
    assert table.num_rows == len(found)
    for row, option in zip(table.to_pylist(), found, strict=True):
        assert (row["row"], row["col"]) == option.cell
        assert row["exposed_malus"] == option.exposed_malus
        assert (row["best_malus"] is None) == (option.best is None)
        if option.best is not None:
            assert found.foes[row["best_target"]] is option.best.target
        assert {t["name"]: (t["malus"], t["distance"]) for t in row["targets"]} == {
            s.target.label: (s.malus, s.distance) for s in option.shots
        }
        assert [e["when"] for e in row["effects"]] == [
            e.when for e in board.effects(board.tokens[0].at(option.cell))
        ]
    assert table.schema.field("best_malus").type == pa.int16()
    records = found.to_records()
    assert records.price.tolist() == found.price.tolist()
    assert np.array_equal(records["malus"], found.malus)
    assert records[0].row == 1


def test_it_is_a_value():
    board = skirmish_line()
    found = tactics.options(board, board.tokens[0], weapons=[BOW])
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert list(other) == list(found)
        assert not other.malus.flags.writeable
    assert repr(found) == f"Options({len(found)} stops of archer, attacks from {len(found)})"
    assert found[-1] == list(found)[-1]
    assert found[1:3] == list(found)[1:3]
    with pytest.raises(IndexError):
        found[len(found)]
    for array in (found.cells, found.price, found.left, found.exposure, found.nearest):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"token": (0, 0)}, fc.MapError, "nobody stands at"),
        ({"token": (9, 0)}, fc.OutsideMapError, "outside the map"),
        ({"token": "archer"}, fc.ArgumentTypeError, "two whole numbers"),
        ({"weapons": BOW}, fc.ArgumentTypeError, "several Weapon"),
        ({"weapons": ["bow"]}, fc.ArgumentTypeError, "several Weapon"),
        ({"weapons": [tactics.Weapon(range="3 pt")], "rules": "srd5"}, fc.RulesError, "range of"),
        ({"foes": 3}, fc.ArgumentTypeError, "foes must be several"),
        ({"foes": [fc.Token("orc", (9, 9))]}, fc.OutsideMapError, "outside the map"),
        ({"tokens": ["orc"]}, fc.ArgumentTypeError, "tokens must be Token"),
        ({"light": 1, "weapons": [BOW]}, fc.CostError, "0 or negative"),
    ],
)
def test_what_may_not_be_asked(given, error, words):
    board = skirmish_line()
    if given.pop("rules", None):
        board = fc.Board([["open"] * 7] * 3, rules="srd5", tokens=board.tokens)
    asked = {"token": board.tokens[0], **given}
    with pytest.raises(error, match=words):
        tactics.options(board, **asked)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"name": 3}, fc.ArgumentTypeError, "name of a weapon"),
        ({"range": -1}, fc.CostError, "range of weapon 'weapon' must be 0 or more"),
        ({"range": "3 leagues"}, fc.CostError, "unknown unit"),
        ({"range": [3]}, fc.ArgumentTypeError, "must be a number"),
        ({"limit": 1}, fc.CostError, "0 or negative"),
        ({"limit": -0.5}, fc.ArgumentTypeError, "whole number"),
        ({"limit": True}, fc.ArgumentTypeError, "whole number"),
    ],
)
def test_what_no_weapon_is(given, error, words):
    with pytest.raises(error, match=words):
        tactics.Weapon(**given)


def test_a_weapon_is_a_value():
    bow = tactics.Weapon("bow", range="30 ft", limit=np.int16(-2))
    assert bow == tactics.Weapon("bow", "30 ft", -2)
    assert len({bow, tactics.Weapon("bow", "30 ft", -2)}) == 1
    assert pickle.loads(pickle.dumps(bow)) == bow
    assert type(bow.limit) is int
    assert bow.is_ranged
    assert not tactics.Weapon().is_ranged

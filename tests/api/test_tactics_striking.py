"""Strike and return, against every way of the slow references, and by hand."""

from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import tactics
from reference.turns import PALETTES, WEAPONS, Walk, a_case, attack, product_graph, stops


def by_walks(system, case, board, target, weapons, watchers):
    """Return {(strike cell, shelter): (price, malus, weapon, total)} from every way there is."""
    token = board.tokens[0]
    walk = Walk(system, case, None)
    graph = product_graph(walk, lambda a, b: 0)
    at = {}
    for state, total in graph:
        at.setdefault(state.at, []).append((state, total))
    hidden = {
        cell for cell in at
        if not any(board.sight(foe, token.at(cell)) for foe in watchers if not foe.helpless)
    }  # fmt: skip
    found = {}
    for cell, price in stops(board, token).items():
        shot = attack(board, token.at(cell), target, weapons)
        if shot is None:
            continue
        paused = [node for node in at[cell] if walk.may_stop(node[0])]
        if cell == token.cell:
            paused = walk.starts()
        after = set(paused).union(*(nx.descendants(graph, node) for node in paused))
        for state, total in after:
            stays = (state, total) in paused and state.at == cell
            if state.at in hidden and (walk.may_stop(state) or stays):
                known = found.get((cell, state.at), (price, *shot, np.inf))
                found[cell, state.at] = (price, *shot, min(known[3], walk.cost(total)))
    return found


def order(row):
    (cell, shelter), (_, malus, _, total) = row
    return -malus, total, cell, shelter


@pytest.mark.parametrize("system", PALETTES)
def test_every_strike_and_return_is_found(system):
    some = 0
    for seed in range(8):
        rng = np.random.default_rng([seed, 11])
        case, board = a_case(system, rng, (6, 7), 5, 7.5 if system == "srd5" else 5)
        token, others = board.tokens[0], board.tokens[1:]
        foes = [other for other in others if other.side == "red"]
        if not foes:
            continue
        target, weapons = foes[0], WEAPONS[system]
        chosen = None if seed % 2 else foes[:1]
        found = tactics.strike_and_return(board, token, target, weapons=weapons, hidden_from=chosen)
        wanted = by_walks(system, case, board, target, weapons, chosen or foes)
        rows = [
            ((row.cell, row.shelter), (row.price, row.malus, weapons.index(row.weapon), row.total))
            for row in found
        ]
        assert rows == sorted(wanted.items(), key=order)
        some += len(rows)
        for i in range(0, len(found), 7):
            path = found.path(i)
            assert path.cost == found[i].total
            assert path.pauses == (found[i].cell,)
            assert tuple(path.cells[-1].tolist()) == found[i].shelter
            assert sum(step.cost for step in path.steps) == pytest.approx(path.cost)
    assert some


def door(**creature):
    """A hall with a guard, seen through a gap in the wall from the corridor below it."""
    thief = fc.Token(fc.Creature("thief", **creature), (2, 0), side="blue")
    guard = fc.Token(fc.Creature("guard"), (0, 3), side="red")
    return fc.Board.from_rows(
        ["......", "###.##", "......"],
        {".": "open", "#": "wall"},
        rules="srd5",
        tokens=[thief, guard],
    )


SLING = tactics.Weapon("sling", range=9)


def test_what_is_spent_before_the_strike_is_gone_after_it():
    board = door(speed=9)
    thief, guard = board.tokens
    found = tactics.strike_and_return(board, thief, guard, weapons=[SLING])
    # In the gap and below it the thief sees the guard; a step to the side hides it again.
    assert {(strike.cell, strike.price) for strike in found} == {((1, 3), 6), ((2, 3), 4.5)}
    assert {s.shelter for s in found if s.cell == (1, 3)} == {(2, 2), (2, 4)}
    assert found.best() == found[0] == ((2, 3), 4.5, 0, SLING, (2, 2), 6)
    for speed, strikes in ((7.5, 4), (6, 2), (4.5, 0)):
        board = door(speed=speed)
        found = tactics.strike_and_return(board, *board.tokens, weapons=[SLING])
        assert len(found) == strikes
        assert all(strike.total <= speed for strike in found)


def test_speeds_are_carried():
    """S5-01, S5-03: what was flown counts against walking too."""
    for speed in ({"walk": 9, "fly": 3}, {"walk": 3, "fly": 9}):
        board = door(speed=speed)
        found = tactics.strike_and_return(board, *board.tokens, weapons=[SLING])
        for i, strike in enumerate(found):
            path = found.path(i)
            assert (path.cost, path.pauses) == (strike.total, (strike.cell,))
            modes = [step.layer for step in path.steps]
            before = 0.0
            for step, mode in zip(path.steps, modes, strict=True):
                before += step.cost
                assert before <= speed[mode]


def test_the_parity_is_carried():
    """PF-01: after one diagonal before the strike the next one is the dear one."""
    board = fc.Board.from_rows(
        ["....", "....", "####", "...."],
        {".": "open", "#": "wall"},
        rules="pathfinder",
        tokens=[
            fc.Token(fc.Creature("a", speed=3), (0, 0), side="blue"),
            fc.Token("b", (1, 3), side="red"),
        ],
    )
    found = tactics.strike_and_return(
        board, *board.tokens, weapons=[tactics.Weapon("dart", range=2)], hidden_from=[]
    )
    totals = {(strike.cell, strike.shelter): strike.total for strike in found}
    # One diagonal to strike and one back are 1 + 2.
    assert totals[(1, 1), (0, 0)] == 3
    assert totals[(1, 1), (1, 0)] == 2
    assert ((1, 2), (0, 0)) not in totals


def test_who_is_hidden_from():
    board = door(speed=9)
    thief, guard = board.tokens
    watch = fc.Token("watch", (2, 5), side="red")
    both = [thief, guard, watch]
    assert not tactics.strike_and_return(board, thief, guard, both, weapons=[SLING])
    asleep = fc.Token("watch", (2, 5), side="red", helpless=True)
    for tokens, chosen in ((both, [guard]), ([thief, guard, asleep], None)):
        found = tactics.strike_and_return(
            board, thief, guard, tokens, weapons=[SLING], hidden_from=chosen
        )
        assert found
    free = tactics.strike_and_return(board, thief, guard, weapons=[SLING], hidden_from=[])
    # From nobody: also where it stays in view.
    assert any(strike.cell == strike.shelter for strike in free)
    assert (
        tactics.strike_and_return(board, (2, 0), (0, 3), weapons=[SLING])[0]
        == (tactics.strike_and_return(board, thief, guard, weapons=[SLING])[0])
    )


def test_a_strike_from_where_the_turn_begins():
    """Also where nobody else might stop: one begins there and goes on from there."""
    board = fc.Board.from_rows(
        ["b.#.", "...."],
        {".": "open", "#": "wall", "b": "low_obstacle"},
        rules="pathfinder",
        tokens=[
            fc.Token(fc.Creature("a", speed=4), (0, 0), side="blue"),
            fc.Token("b", (0, 1), side="red"),
        ],
    )
    a, b = board.tokens
    found = tactics.strike_and_return(board, a, b, weapons=[tactics.Weapon()], hidden_from=[])
    assert (a.cell, a.cell) in {(strike.cell, strike.shelter) for strike in found}
    assert any(strike.cell == a.cell and strike.total for strike in found)
    assert not any(strike.shelter == a.cell and strike.total for strike in found)


def test_it_is_a_value():
    board = door(speed=9)
    found = tactics.strike_and_return(board, *board.tokens, weapons=[SLING])
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert list(other) == list(found)
        assert other.path(0) == found.path(0)
    assert found[-1] == list(found)[-1]
    assert found[:2] == list(found)[:2]
    assert repr(found).startswith("Strikes(thief at guard: ")
    none = tactics.strike_and_return(board, *board.tokens, weapons=[])
    assert (len(none), none.best(), bool(none)) == (0, None, False)
    assert none.cells.shape == (0, 2)
    with pytest.raises(fc.MapError, match="nobody stands at"):
        tactics.strike_and_return(board, board.tokens[0], (2, 4), weapons=[SLING])
    with pytest.raises(fc.OutsideMapError):
        tactics.strike_and_return(board, board.tokens[0], (9, 4), weapons=[SLING])

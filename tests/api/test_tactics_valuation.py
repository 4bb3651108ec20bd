"""What steps are worth avoiding: by hand, many at once, and the safest ways with that."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import tactics
from fieldcraft.path import Stake
from fieldcraft.rules import (
    Climb,
    Damage,
    Dice,
    Forbids,
    Ground,
    Knockdown,
    Landing,
    Modifier,
    Save,
    SkillTest,
    Slip,
)
from fieldcraft.tactics.valuation import Valuer
from reference.turns import (
    PALETTES,
    SYSTEMS,
    Walk,
    a_case,
    frontiers,
    product_graph,
    random_board,
)

THORNS = Damage(Dice(1, 3), "piercing")
SHARP = Damage(Dice(1, 6, 1), "laceration")


def save(kind="reflex", damage=THORNS, *, knockdown=False, by_ground=None, harder=(), besides=()):
    detail = Save(kind, damage, by_ground or Ground(), knockdown=knockdown)
    return Stake("save", "x", detail, tuple(Modifier("reflex", -m, "%") for m in harder), besides)


@pytest.mark.parametrize(
    ("stake", "saves", "ground", "worth"),
    [
        # 1d3 is 2 on average, 1d6+1 is 4.5.
        (save(), None, "dry", 1000),
        (save(), {"reflex": 55}, "dry", 900),
        (save(), {"reflex": 100}, "dry", 0),
        (save(), {"reflex": 0}, "dry", 2000),
        (save("pure reflex"), {"reflex": 55}, "dry", 900),
        (save("pure reflex"), {"reflex": 55, "pure reflex": 40}, "dry", 1200),
        (save("reflex"), {"pure reflex": 40}, "dry", 1000),
        (save(harder=[15, 5]), {"reflex": 55}, "dry", 1300),
        (save(harder=[90]), {"reflex": 55}, "dry", 2000),
        (save(by_ground=Ground(0, -5, -10, -20)), {"reflex": 55}, "wet", 1000),
        (save(by_ground=Ground(0, -5, -10, -20)), {"reflex": 55}, "ice", 1300),
        (save(by_ground=Ground(60)), {"reflex": 55}, "dry", 0),
        (save(damage=None), None, "dry", 0),
        (save(knockdown=True, besides=(Knockdown(SHARP),)), None, "dry", 3250),
        (
            save(knockdown=True, besides=(Knockdown(THORNS, 33, SHARP, None, THORNS),)),
            None, "dry", 2743,  # (2 + 2 + 0.33 x 4.5) / 2 = 2.7425
        ),
        (save(besides=(Knockdown(fall_chance=33),), knockdown=True), None, "dry", 1000),
        (save(damage=Damage(Dice(1, 2), "blunt")), {"reflex": 33.3}, "dry", 1001),
    ],
)  # fmt: skip
def test_what_a_save_is_worth(stake, saves, ground, worth):
    creature = fc.Creature(saves=saves)
    assert tactics.value([stake], creature, ground=ground) == worth
    assert tactics.value([stake, stake], creature, ground=ground) == 2 * worth


@pytest.mark.parametrize(
    ("figures", "ground", "worth"),
    [
        # A roll of 1d10 at the figure or above it, then a save at 50 % less what the ground takes
        # off, or 1d6+1, which is 4.5 on average.
        (Ground(10, 9, 10, 8), "dry", 225),  # 0.1 x 0.50 x 4.5
        (Ground(10, 9, 10, 8), "wet", 495),  # 0.2 x 0.55 x 4.5
        (Ground(10, 9, 10, 8), "snow", 270),  # 0.1 x 0.60 x 4.5
        (Ground(10, 9, 10, 8), "ice", 810),  # 0.3 x 0.60 x 4.5
        (Ground(11, 1, 0, 8), "dry", 0),
        (Ground(11, 1, 0, 8), "wet", 2475),
        (Ground(11, 1, 0, 8), "snow", 2700),
    ],
)
def test_what_a_slip_is_worth(figures, ground, worth):
    stake = Stake("slip", "x", Slip(figures, Ground(0, -5, -10, -10)), (), (Knockdown(SHARP),))
    assert tactics.value([stake], fc.Creature(), ground=ground) == worth


def test_what_has_no_figure_is_worth_nothing():
    climb = Climb(Dice(1, 2), Fraction(1), "wall")
    found = [
        Stake("climb", "x", climb),
        Stake("test", "x", SkillTest("Acrobatics")),
        Stake("malus", "x", None, (Modifier("reflex", -5, "%"),)),
        Stake("forbids", "x", Forbids("run")),
        Stake("fall", "x", Landing("reflex", Fraction(1, 2))),
    ]
    assert tactics.value(found, fc.Creature()) == 0
    assert tactics.value([], fc.Creature()) == 0


def test_what_an_attack_is_worth():
    orc, ogre = fc.Token("orc", (0, 0)), fc.Token("ogre", (0, 1))
    found = [Stake("attack", "orc", orc), Stake("attack", "ogre", ogre)]
    assert tactics.value(found, fc.Creature()) == 2000
    assert tactics.value(found, fc.Creature(), attack=0) == 0
    worth = {"orc": 1500, "ogre": 4000}
    assert tactics.value(found, fc.Creature(), attack=lambda foe: worth[foe.label]) == 5500


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ground": "icy"}, fc.RulesError, "did you mean 'ice'"),
        ({"attack": -1}, fc.CostError, "0 or more"),
        ({"attack": 0.5}, fc.ArgumentTypeError, "whole number"),
        ({"attack": True}, fc.ArgumentTypeError, "whole number"),
        ({"attack": lambda foe: -1}, fc.CostError, "0 or more"),
        ({"attack": lambda foe: None}, fc.ArgumentTypeError, "whole number"),
        ({"creature": "orc"}, fc.ArgumentTypeError, "must be a Creature"),
    ],
)
def test_what_may_not_be_valued(given, error, words):
    asked = {"creature": fc.Creature(), **given}
    orc = Stake("attack", "orc", fc.Token("orc", (0, 0)))
    with pytest.raises(error, match=words):
        tactics.value([orc], **asked)


@pytest.mark.parametrize(
    ("saves", "error", "words"),
    [
        ({"fortitude": 5}, fc.RulesError, "unknown save 'fortitude'"),
        ({"reflex": 101}, fc.RulesError, "0 to 100 percent"),
        ({"reflex": math.nan}, fc.CostError, "finite"),
        ({"reflex": "high"}, fc.ArgumentTypeError, "must be a number"),
        (55, fc.ArgumentTypeError, "by name"),
    ],
)
def test_what_no_save_is(saves, error, words):
    with pytest.raises(error, match=words):
        fc.Creature(saves=saves)


def test_saves_are_part_of_a_creature():
    creature = fc.Creature(saves={"reflex": 55, "pure reflex": Fraction(81, 2)})
    assert creature.saves == {"reflex": 55, "pure reflex": 40.5}
    assert len({creature, replace(creature), fc.Creature()}) == 2
    with pytest.raises(TypeError, match="cannot be changed"):
        creature.saves["reflex"] = 100


# -- many steps at once ---------------------------------------------------------------------------


def worths(board, token, valuer):
    """Return every step of the token's whole field: its worth at once, and by its stakes."""
    field = board.step_field(token)
    reach = field.reach(token.cell)
    seen = []

    def by_step(step):
        seen.append(valuer(step))
        return seen[-1]

    class AtOnce:
        def __call__(self, step):
            raise AssertionError("all steps are valued at once")

        def of_states(self, field, sources, ends):
            self.found = valuer.of_states(field, sources, ends)
            return self.found

    at_once = AtOnce()
    budget = 8
    field.safest(token.cell, budget, at_once)
    field.safest(token.cell, budget, by_step)
    assert len(reach)
    return at_once.found.tolist(), seen


MOVERS = {
    "plain": {},
    "large": {"size": "large"},
    "huge": {"size": "huge"},
    "flying": {"speed": {"walk": 6, "fly": 9}},
    "prone": {"saves": {"reflex": 70}},
}


@pytest.mark.parametrize("mover", MOVERS)
@pytest.mark.parametrize("system", [system for system in SYSTEMS if system != "octile"])
def test_all_steps_at_once_are_worth_what_their_stakes_are(system, mover):
    some = 0
    for seed in range(3):
        rng = np.random.default_rng([seed, len(mover)])
        board = random_board(system, rng, size=(8, 8), n=9, large=mover in ("large", "huge"))
        first = board.tokens[0]
        creature = replace(first.creature, **{"size": "medium", **MOVERS[mover]})
        if mover == "huge":
            board = board.replace(
                [(3 + i, 3 + j) for i in range(3) for j in range(3)], SYSTEMS[system][0]
            )
        if system == "hexwild" and mover in ("large", "huge"):
            creature = replace(creature, body=7 if mover == "huge" else 3)
        token = replace(first, creature=creature, prone=mover == "prone")
        kept = [
            t for t in board.tokens[1:] if mover != "huge" or min(t.cell) < 3 or max(t.cell) > 5
        ]
        board = board.replace(tokens=[token, *kept])
        if system == "hexwild" and seed == 0:
            board = board.replace(
                perches=[fc.Perch((2, 2), 1, "large", 3.0), fc.Perch((2, 2), 2, "large", 6.0)]
            )
        ground = ("dry", "wet", "ice")[seed]
        valuer = Valuer(creature, ground, attack=lambda foe: 1000 + 10 * foe.cell[0] + foe.cell[1])
        found, wanted = worths(board, token, valuer)
        assert found == wanted
        some += sum(found)
    assert bool(some) == (system != "skirmish")


@pytest.mark.parametrize("system", ["pathfinder", "srd5"])
def test_squeezed_bodies_leave_the_cells_they_cover(system):
    """A body of 4 x 4 among walls covers part of its window, and foes reach that or the rest."""
    squeezed = 0
    for seed in (0, 3, 7, 8):
        rng = np.random.default_rng([seed, 5])
        terrain = rng.choice(["open", "wall"], (9, 9), p=[0.75, 0.25])
        terrain[3:7, 3:7] = "open"
        ogre = fc.Token(fc.Creature("ogre", size="gargantuan", speed=9), (3, 3), side="blue")
        places = [(r, c) for r in range(9) for c in range(9) if not (2 < r < 7 and 2 < c < 7)]
        foes = [
            fc.Token(fc.Creature(f"foe {i}", reach=1 + i % 2), places[at], side="red")
            for i, at in enumerate(rng.permutation(len(places))[:4])
        ]
        board = fc.Board(terrain.tolist(), rules=system, tokens=[ogre, *foes])
        valuer = Valuer(ogre.creature, attack=lambda foe: 1000 + foe.cell[0] * 9 + foe.cell[1])
        found, wanted = worths(board, ogre, valuer)
        assert found == wanted
        field = board.step_field(ogre)
        squeezed += len(np.unique(field.layers_of(board.reach(ogre)._states))) - 1
    assert squeezed


@pytest.mark.parametrize("system", SYSTEMS)
def test_stakes_of_a_board_are_those_of_its_legal_steps(system):
    for seed in range(3):
        board = random_board(system, np.random.default_rng(seed), n=9, large=seed == 2)
        rules = {"squeeze": False} if system in ("pathfinder", "srd5") and seed == 2 else {}
        board = board.replace(rules=board.rules.configure(**rules))
        token = board.tokens[0]
        found = tactics.stakes(board, token.creature, token=token, attack=1500)
        field = board.step_field(token)
        legal = field.legal_steps()
        wanted = np.zeros_like(found)
        for row, col in np.ndindex(board.shape):
            for k, to in enumerate(board.lattice.neighbors((row, col))):
                if legal[row, col] >> k & 1:
                    risked = field.explainer.stakes((row, col), to)
                    wanted[row, col, k] = tactics.value(risked, token.creature, attack=1500)
        assert np.array_equal(found, wanted)
        assert found.any() == (system not in ("octile", "skirmish"))


def test_stakes_of_somebody_new():
    board = fc.Board.from_rows(
        ["...", "..."], {".": "open"}, rules="srd5", tokens=[fc.Token("orc", (0, 0), side="red")]
    )
    found = tactics.stakes(board, fc.Creature())
    assert found[0, 1].tolist() == [0, 1000, 0, 0, 0, 1000, 0, 0]
    assert not tactics.stakes(board, fc.Creature(), tokens=[]).any()
    friend = fc.Token("friend", (0, 2), side="red")
    assert not tactics.stakes(board, friend.creature, token=friend).any()


class Odd(type(fc.rules.get("srd5"))):
    """A system where attacks are provoked in odd rows alone, and that does not say so."""

    def _stakes(self, site, stride):
        return super()._stakes(site, stride) if stride.start[0] % 2 else []


def test_rules_that_do_not_say_what_provokes_are_asked_step_by_step():
    tokens = [fc.Token(fc.Creature("a", speed=9), (0, 0), "blue"), fc.Token("b", (1, 3), "red")]
    board = fc.Board([["open"] * 7] * 4, rules=Odd(), tokens=tokens)
    found, wanted = worths(board, tokens[0], Valuer(tokens[0].creature))
    assert found == wanted
    assert any(found)
    assert not tactics.stakes(board, fc.Creature())[::2].any()
    with_all = board.replace(rules="srd5")
    assert tactics.stakes(with_all, fc.Creature())[::2].any()


def test_a_field_of_bare_arrays_risks_nothing():
    field = fc.grid.field([[1, 1, 1]])
    assert not field.safest((0, 0), 2, Valuer(fc.Creature())).stake.any()


# -- the safest ways ------------------------------------------------------------------------------


def step_stake(board, token, attack):
    """Return a function of two cells: what the step is worth by its stakes."""
    explainer = board.step_field(token).explainer
    known = {}

    def stake(a, b):
        if (a, b) not in known:
            known[a, b] = tactics.value(
                explainer.stakes(a, b), token.creature, ground="wet", attack=attack
            )
        return known[a, b]

    return stake


def agree(found, wanted, board):
    """Check the frontiers of every cell, and the ways themselves."""
    assert {tuple(cell) for cell in found.cells.tolist()} == {cell for cell, _ in wanted}
    least = found.to_array()
    for cell in np.ndindex(board.shape):
        if cell == board.tokens[0].cell:
            continue
        for stop in (False, True):
            ways = found.frontier(cell, stop=stop)
            assert [(way.cost, way.stake) for way in ways] == wanted.get((cell, stop), [])
        assert least[cell] == (ways[-1].stake if ways else -1)


@pytest.mark.parametrize("system", PALETTES)
def test_the_safest_ways_are_those_of_a_product_graph(system):
    """Every pair of a state and the ticks spent as a node of NetworkX, stakes as weights."""
    some = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, 7])
        case, board = a_case(system, rng, (7, 8), 6, 9 if system == "srd5" else 6)
        token = board.tokens[0]
        worth = int(rng.integers(100, 3000))
        found = tactics.safest(board, token, ground="wet", attack=worth)
        walk = Walk(system, case, None)
        graph = product_graph(walk, step_stake(board, token, worth))
        stakes = nx.multi_source_dijkstra_path_length(graph, set(walk.starts()), weight="stake")
        agree(found, frontiers(walk, stakes), board)
        some += int(found.stake.sum())
        for i, cell in enumerate(map(tuple, found.cells[-3:].tolist())):
            path = found.path_to(cell, stop=False)
            total = tactics.value(path.stakes, token.creature, ground="wet", attack=worth)
            assert total == found.stake[len(found) - 3 + i]
    assert bool(some) == (system != "skirmish")


@pytest.mark.parametrize("system", PALETTES)
def test_the_safest_ways_are_those_of_an_exhaustive_search(system):
    """Every walk within the budget on maps of nine cells, back and forth and round in circles."""
    for seed in range(5):
        rng = np.random.default_rng([seed, 3])
        case, board = a_case(system, rng, (3, 3), 3, 6 if system == "srd5" else 4)
        token = board.tokens[0]
        walk = Walk(system, case, None)
        stakes = every_walk(walk, step_stake(board, token, 700))
        found = tactics.safest(board, token, ground="wet", attack=700)
        agree(found, frontiers(walk, stakes), board)


def every_walk(walk, stake):
    """Return the least stake of every (state, total) by going every way there is."""
    stakes = {}

    def go(state, total, risked):
        stakes[state, total] = min(risked, stakes.get((state, total), risked))
        for after, spent in walk.moves(state, total):
            go(after, spent, risked + stake(state.at, after.at))

    for state, total in walk.starts():
        go(state, total, 0)
    return stakes


def test_who_asks_and_for_how_much():
    board = fc.Board.from_rows(
        [".*.", "..."], {".": "open", "*": "thorns"}, lattice="odd-r", rules="hexwild"
    )
    found = tactics.safest(board, (0, 0), budget="6 pt")
    assert found.stake.tolist() == [0, 0, 0, 0, 0, 1000]
    with pytest.raises(fc.CostError, match="need a budget"):
        tactics.safest(board, (0, 0))
    with pytest.raises(fc.RulesError, match="state of the ground"):
        tactics.safest(board, (0, 0), budget=3, ground="dusty")
    sure = fc.Token(fc.Creature("sure", saves={"reflex": 100}, speed=3), (0, 0))
    assert not tactics.safest(board, sure, tokens=[]).stake.any()


# -- the stake of the options ---------------------------------------------------------------------


@pytest.mark.parametrize("system", [system for system in SYSTEMS if system != "octile"])
def test_options_have_the_stake_of_the_safest_way_that_may_end_there(system):
    for seed in range(3):
        board = random_board(system, np.random.default_rng(seed), n=8, large=seed == 2)
        token = board.tokens[0]
        found = tactics.options(board, token, ground="snow", attack=300)
        safest = tactics.safest(board, token, ground="snow", attack=300)
        assert found.stake[0] == 0
        for i, cell in enumerate(found.cells.tolist()):
            if i:
                assert found.stake[i] == safest.frontier(tuple(cell))[-1].stake
                assert found[i].stake == found.stake[i]


def test_without_a_budget_every_detour_is_allowed():
    rows = ["..*..", ".***.", "....."]
    board = fc.Board.from_rows(
        rows, {".": "open", "*": "thorns"}, lattice="odd-r", rules="hexwild",
        tokens=[fc.Token("rogue", (0, 0), side="blue")],
    )  # fmt: skip
    rogue = board.tokens[0]
    found = tactics.options(board, rogue)
    with_budget = tactics.safest(board, rogue, budget=30)
    for i, cell in enumerate(map(tuple, found.cells.tolist())):
        assert found.stake[i] == with_budget.frontier(cell)[-1].stake
    assert set(found.stake.tolist()) == {0, 1000}
    assert len(found) == 15


def test_a_stake_may_be_unknown():
    tokens = [fc.Token(fc.Creature("a", speed=3), (0, 0), "blue"), fc.Token("b", (1, 3), "red")]
    exact = fc.rules.get("pathfinder", diagonals="exact")
    board = fc.Board([["open"] * 7] * 4, rules=exact, tokens=tokens)
    found = tactics.options(board, tokens[0])
    assert found.stake[0] == 0
    assert set(found.stake[1:].tolist()) == {tactics.UNKNOWN}
    assert found[1].stake is None
    assert tactics.options(board, tokens[0], attack=0).stake.tolist() == [0] * len(found)
    with pytest.raises(fc.CostError, match="floats"):
        tactics.safest(board, tokens[0])
    pytest.importorskip("pyarrow")
    assert found.to_table()["stake"].to_pylist()[:2] == [0, None]
    # Nothing is at stake in octile, and so that is known.
    octile = fc.Board([["ground"] * 4] * 4, rules="octile", tokens=tokens)
    assert not tactics.options(octile, tokens[0]).stake.any()


def test_options_pickle_whatever_values_attacks():
    board = random_board("pathfinder", np.random.default_rng(3), n=8)
    found = tactics.options(board, board.tokens[0], attack=lambda foe: 500)
    again = pickle.loads(pickle.dumps(found))
    assert again.stake.tolist() == found.stake.tolist()
    assert found.stake.any()

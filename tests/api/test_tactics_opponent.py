"""The worked opponent: on maps worked by hand, and that what it does is always allowed."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import tactics
from fieldcraft.tactics.opponent import Decision, place_of, way
from reference.turns import SYSTEMS, WEAPONS, attack, random_board

BOW = tactics.Weapon("bow", range=8, limit=-3)
SWORD = tactics.Weapon("sword")
LEGEND = {
    ".": "open", "f": "light_forest", "F": "heavy_forest", "t": "thorns", "#": "rock_formation",
}  # fmt: skip


def hexes(drawing, *tokens, **options):
    return fc.Board.from_rows(
        drawing, LEGEND, lattice="odd-r", rules="hexwild", tokens=tokens, **options
    )


def squares(drawing, *tokens):
    legend = {".": "open", "#": "wall", "=": "water"}
    return fc.Board.from_rows(drawing, legend, rules="pathfinder", tokens=tokens)


def blue(cell, speed=4, **state):
    return fc.Token(fc.Creature("hero", speed=speed), cell, side="blue", **state)


def red(cell, name="orc", **state):
    return fc.Token(fc.Creature(name, speed=4), cell, side="red", **state)


def decided(board, *weapons, **weights):
    return tactics.Opponent(**weights).decide(board, board.tokens[0], weapons=weapons)


# -- on maps worked by hand -----------------------------------------------------------------------


def test_it_shoots_from_cover():
    """One step into the wood: it still shoots at 0, and is shot at with -1 from there.

    An attack at 0 is worth 10, being seen by one foe costs 1, at -1 a quarter less, and the step
    costs 1.5 hundredths.
    """
    board = hexes([".f....", "......"], blue((1, 1)), red((0, 5)))
    found = decided(board, BOW)
    assert (found.kind, found.end.cell) == ("shoot", (0, 1))
    assert found.shot == tactics.Shot(board.tokens[1], 0, BOW, 4.0)
    assert found.score == pytest.approx(10 - 1 + 0.25 - 0.015)
    assert found.why == "hero shoots orc with bow at malus 0 from 0,1"
    # Whoever thinks little of cover stays where it is.
    assert decided(board, BOW, cover=0.0).end.cell == (1, 1)


def test_it_shoots_at_the_best_target():
    """The orc in the wood is nearer, and a shot at it is at -1."""
    orc, elf = red((1, 2)), red((0, 5), "elf")
    board = hexes(["......", "..f..."], blue((0, 0), speed=0), orc, elf)
    assert decided(board, BOW).shot.target is elf
    assert decided(board, tactics.Weapon("bow", range=4)).shot.target is orc


def test_it_hides_after_a_shot_where_that_costs_no_malus():
    board = squares(["......", ".#....", "......"], blue((0, 2)), red((0, 5)), red((2, 3)))
    found = decided(board, tactics.Weapon("bow", range=5))
    assert (found.kind, found.path.pauses, found.end.cell) == ("shoot", ((0, 0),), (1, 0))
    assert found.shot.malus == 0
    assert found.path.cost == 3
    assert found.why == "hero shoots orc with bow at malus 0 from 0,0, then hides at 1,0"
    assert all(not board.sight(foe, found.end).visible for foe in board.tokens[1:])
    # Without a step to spare it is seen by the one that it shoots at.
    slow = board.replace(tokens=[blue((0, 2), speed=0), *board.tokens[1:]])
    assert decided(slow, tactics.Weapon("bow", range=5)).end.cell == (0, 2)


def test_it_strikes_where_it_gets_there_and_charges_where_it_does_not():
    drawing = ["........"] * 3
    near = decided(squares(drawing, blue((1, 0), speed=5), red((1, 6))), SWORD)
    assert (near.kind, near.end.cell) == ("strike", (0, 5))
    board = squares(drawing, blue((1, 0), speed=3), red((1, 6)))
    far = decided(board, SWORD)
    assert (far.kind, far.end.cell, far.shot.target) == ("charge", (1, 5), board.tokens[1])
    assert far.path.cost == 5 <= 2 * 3
    # A bow needs no charge, nor is it any use in one.
    assert decided(board, SWORD, BOW).kind == "shoot"
    assert decided(board, tactics.Weapon("bow", range=1)).kind == "approach"
    # Where the rules know no charge, or something lies in the lane, it walks.
    assert decided(hexes(drawing, *board.tokens), SWORD).kind == "approach"
    wall = squares(["........", "...#....", "........"], *board.tokens)
    assert decided(wall, SWORD).kind == "approach"
    assert decided(board, tactics.Weapon("sword", limit=-1), charge=-99.0).kind == "approach"


def test_it_comes_closer_by_the_cheapest_route():
    """Through the wood it is 6 hexes, each at 2; round it, by the row below, 7 at 1 each."""
    board = hexes(["########", ".FFFFFF.", "........"], blue((1, 0)), red((1, 7)))
    found = decided(board, tactics.Weapon("club"), exposure=0.0)
    route = board.route(board.tokens[0], board.tokens[1].cell)
    assert found.kind == "approach"
    assert found.path == route.turns[0]
    assert found.path.cost == len(found.path) == 4
    assert found.why == "hero can attack nobody and comes closer, to 2,4, where 1 foe can see it"


def test_it_takes_cover_when_exposed_and_without_a_target():
    board = hexes(["......", ".#....", "......"], blue((0, 2)), red((1, 5)), red((0, 5)))
    armless = decided(board)
    assert (armless.kind, armless.end.cell) == ("cover", (1, 0))
    assert armless.options.exposure[0] == 2
    assert armless.why == "hero takes cover at 1,0, where no foes can see it"
    # With a weapon it weighs two eyes against coming closer.
    club = tactics.Weapon("club", range=1, limit=0)
    fearful = board.replace(light=-1)
    assert decided(fearful, club).kind == "approach"
    assert decided(fearful, club, approach=1.5).kind == "cover"


def test_of_two_ways_to_a_stop_it_takes_the_one_that_risks_less():
    """Through the thorns it is 2.5 and half a save of 1d3 damage, round them 3 and no harm."""
    for speed, cells in ((4, [[0, 0], [1, 0], [1, 1], [0, 2]]), (None, [[0, 0], [0, 1], [0, 2]])):
        board = hexes([".t.", "..."], blue((0, 0), speed=speed))
        turn = tactics.options(board, board.tokens[0])
        stop = place_of(turn, (0, 2))
        assert (turn.price[stop], turn.stake[stop], turn.path(stop).cost) == (2.5, 0, 2.5)
        plan = Decision("cover", 0.0, turn.standing(stop), turn.path(stop), None, turn)
        # Without a budget the way of least stake is not looked for.
        assert way(plan).cells.tolist() == cells
    # So does a decision that gets within range.
    board = hexes([".t....", "...###"], blue((0, 0)), red((0, 5)))
    found = decided(board, tactics.Weapon("bow", range=3))
    assert (found.kind, found.end.cell, found.path.cost) == ("shoot", (0, 2), 3.0)
    assert not found.path.stakes


def test_it_waits_with_nothing_to_do():
    alone = decided(hexes(["...", "..."], blue((0, 0))), BOW)
    assert (alone.kind, alone.end.cell, alone.shot, alone.score) == ("wait", (0, 0), None, 0)
    assert alone.why == "hero waits at 0,0, where no foes can see it"
    hidden = hexes(["..#..", "..#..", "..#.."], blue((0, 0)), red((0, 4)))
    assert decided(hidden).kind == "wait"
    # Whoever is helpless does nothing at all.
    helpless = hexes(["....."], blue((0, 0), helpless=True), red((0, 4)))
    assert decided(helpless, BOW).kind == "wait"


# -- odd situations -------------------------------------------------------------------------------


def test_on_an_island_it_goes_to_the_shore():
    board = squares(["...===..", "...===.."], blue((0, 0)), red((0, 7)))
    found = decided(board, SWORD)
    assert (found.kind, found.end.cell[1]) == ("approach", 2)
    shore = board.replace(tokens=[found.end, board.tokens[1]])
    assert decided(shore, SWORD, exposure=0.0).kind == "wait"
    assert decided(shore, BOW).kind == "shoot"


def test_surrounded_it_strikes_out():
    ring = [red((row, col)) for row in range(3) for col in range(3) if (row, col) != (1, 1)]
    board = squares(["..."] * 3, blue((1, 1)), *ring)
    found = decided(board, SWORD)
    assert (found.kind, found.end.cell, len(found.options)) == ("strike", (1, 1), 1)
    assert found.shot.target is ring[0]
    assert decided(board).kind == "wait"


@pytest.mark.parametrize("rules", sorted(SYSTEMS))
def test_without_a_speed_it_may_go_anywhere(rules):
    board = random_board(rules, np.random.default_rng(8))
    token = fc.Token(fc.Creature("ghost"), board.tokens[0].cell, side="blue")
    board = board.replace(tokens=[token, *board.tokens[1:]])
    found = decided(board, *WEAPONS[rules])
    assert found.kind in ("shoot", "strike")
    assert found.options.left.max() == math.inf


def test_who_flies_ends_in_the_air_or_on_the_ground():
    hawk = fc.Token(fc.Creature("hawk", speed={"walk": 3, "fly": 18}), (0, 0), side="blue")
    crab = fc.Token("crab", (0, 5), side="red")
    board = fc.Board.from_rows(
        ["..~~~~~", "..~~~~~"], {".": "open", "~": "water"}, rules="srd5", tokens=[hawk, crab]
    )
    found = decided(board, tactics.Weapon("sling", range="2 sq"))
    assert found.kind == "shoot"
    assert found.end.flying
    assert board.distance(found.end, crab) == found.shot.distance <= 3


def test_tokens_may_be_given():
    board = hexes([".f....", "......"])
    tokens = blue((1, 1)), red((0, 5))
    found = tactics.Opponent().decide(board, tokens[0], tokens, [BOW])
    assert (found.kind, found.end.cell, found.shot.target) == ("shoot", (0, 1), tokens[1])


# -- always ---------------------------------------------------------------------------------------

KINDS = ("shoot", "strike", "charge", "approach", "cover", "wait")


def check(board, decision, weapons):
    """Check a decision against the board's single questions."""
    token, found = decision.options.token, decision.options
    reach = board.reach(token)
    end, path = decision.end.cell, decision.path
    assert decision.kind in KINDS
    assert "\n" not in decision.why
    assert tuple(path.cells[0].tolist()) == token.cell
    assert tuple(path.cells[-1].tolist()) == end
    assert path.cost == pytest.approx(sum(step.cost for step in path.steps))
    if decision.kind == "charge":
        lanes = board.charge_lanes(token, [decision.shot.target])
        assert lanes[0].cells[-1] == end
        assert path.cost <= 2 * token.creature.speed
        at = decision.end
    else:
        assert path.cost <= reach.budget + 1e-9
        assert (
            end == token.cell or reach.can_stop[list(map(tuple, reach.cells.tolist())).index(end)]
        )
        for pause in path.pauses:
            assert pause == token.cell or pause in set(map(tuple, reach.stops.tolist()))
        if len(path) and not path.pauses:
            assert board.path(token, end, budget=reach.budget).cost <= path.cost
        spot = (path.pauses or (end,))[0]
        at = found.standing(list(map(tuple, found.cells.tolist())).index(spot))
    if decision.shot is not None:
        malus, number = attack(board, at, decision.shot.target, weapons)
        assert decision.shot.malus == malus
        assert decision.shot.weapon.is_ranged == (decision.kind == "shoot")
        if not path.pauses:
            assert decision.shot.weapon == weapons[number]
        assert decision.shot.distance == board.distance(at, decision.shot.target)
        assert board.relation(token, decision.shot.target) == "foe"
    if path.pauses:
        assert not any(
            board.sight(foe, decision.end).visible for foe in found.foes if not foe.helpless
        )


@pytest.mark.parametrize("large", [False, True], ids=["one cell", "large"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_decision_is_allowed(system, large):
    kinds = Counter()
    for seed in range(5):
        board = random_board(system, np.random.default_rng([seed, large, 77]), large=large)
        for i, token in enumerate(board.tokens[: 3 if large else 6]):
            weapons = WEAPONS[system][: (i + seed) % 4]
            policy = tactics.Opponent(seed, whim=0.5 * (seed % 2))
            decision = policy.decide(board, token, weapons=weapons)
            check(board, decision, weapons)
            scores = policy.scores(decision.options)
            assert token.helpless or decision.score >= scores.max()
            again = policy.decide(board, token, weapons=weapons)
            assert (again.why, again.score, again.path) == (
                decision.why, decision.score, decision.path,
            )  # fmt: skip
            kinds[decision.kind] += 1
    assert {"shoot", "strike"} < set(kinds)


def test_charges_are_allowed():
    charged = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 3])
        board = random_board("pathfinder", rng, size=(7, 14), n=4, states=False)
        token = board.tokens[0]
        decision = tactics.Opponent().decide(board, token, weapons=[SWORD])
        check(board, decision, [SWORD])
        charged += decision.kind == "charge"
    assert charged


# -- the seed -------------------------------------------------------------------------------------


def test_a_seed_decides_alike_everywhere():
    """The figures of the generator are the same on every machine, and so are these decisions."""
    board = random_board("hexwild", np.random.default_rng(2), states=False)
    hero = board.tokens[0]
    fickle = [tactics.Opponent(seed, whim=3.0) for seed in range(4)]
    ends = [one.decide(board, hero, weapons=[BOW]).end.cell for one in fickle]
    assert ends == [(1, 1), (3, 1), (0, 1), (2, 0)]


def test_without_a_whim_the_seed_does_not_matter():
    board = random_board("hexwild", np.random.default_rng(2))
    one, two = (
        tactics.Opponent(seed).decide(board, board.tokens[0], weapons=[BOW]) for seed in (1, 2)
    )
    assert (one.why, one.score) == (two.why, two.score)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"seed": -1}, fc.ArgumentTypeError, "seed must be a whole number, 0 or more, not -1"),
        ({"seed": True}, fc.ArgumentTypeError, "seed must be"),
        ({"seed": 1.5}, fc.ArgumentTypeError, "seed must be"),
        ({"attack": math.nan}, fc.CostError, "attack must be a finite number, not nan"),
        ({"whim": "high"}, fc.CostError, "whim must be a finite number, not 'high'"),
    ],
)
def test_what_no_policy_is(given, error, words):
    with pytest.raises(error, match=words):
        tactics.Opponent(**given)


# -- a fight for the show -------------------------------------------------------------------------


def test_a_fight_goes_on_from_turn_to_turn():
    board = random_board("hexwild", np.random.default_rng(5), n=8, states=False)
    arms = {"creature 0": [BOW], "n3": [SWORD, BOW], "red": [SWORD]}
    turns = tactics.play(board, arms, rounds=4, seed=3)
    before = board
    fallen = 0
    for decision, after in turns:
        token = decision.options.token
        assert token in before.tokens
        assert decision.options.board == before
        names = (token.label, token.creature.name, token.side)
        assert decision.options.weapons == tuple(next((arms[n] for n in names if n in arms), ()))
        left = [one for one in before.tokens if one != token]
        gone = [one for one in left if one not in after.tokens]
        assert gone in ([], [decision.shot.target] if decision.shot else [])
        assert decision.end in after.tokens
        assert len(after.tokens) == len(before.tokens) - len(gone)
        fallen += len(gone)
        before = after
    assert fallen
    again = tactics.play(board, arms, rounds=4, seed=3)
    assert [d.why for d, _ in again] == [d.why for d, _ in turns]
    assert again[-1][1] == turns[-1][1]
    other = tactics.play(board, arms, rounds=4, seed=4)
    assert [d.why for d, _ in other] != [d.why for d, _ in turns]
    waiting = tactics.play(board, {}, rounds=1, opponent=tactics.Opponent(exposure=0.0))
    assert {d.kind for d, _ in waiting} <= {"wait", "cover"}
    assert tactics.play(board, arms, rounds=0) == []

"""What steps risk and what places do to who is there: data on paths and cells."""

from __future__ import annotations

import itertools
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies
from fieldcraft import rules as systems
from fieldcraft.rules import (
    Climb,
    Condition,
    Damage,
    Dice,
    Effect,
    Forbids,
    Ground,
    Hidden,
    Knockdown,
    Modifier,
    Raised,
    Save,
    SkillTest,
    Slip,
    TwoRolls,
)
from rules.boards import HEXES, SQUARES

LEGENDS = {
    "hexwild": HEXES,
    "pathfinder": {**SQUARES, "n": "narrow:0.4", "h": "narrow:0.8", "w": "water"},
    "srd5": {**{c: k for c, k in SQUARES.items() if c not in "34"}, "n": "narrow:small"},
    "skirmish": {".": "open", "~": "difficult", "#": "wall", "H": "ladder", "w": "deep_water"},
}
ON_FOOT = Ground(dry=0, wet=-5, snow=-10, ice=-10)


def board(name, rows, **options):
    """Return a drawn board; ``parameters`` are those of the system."""
    rules = systems.get(name, **options.pop("parameters", {}))
    legend = {**LEGENDS[name], **options.pop("legend", {})}
    options.setdefault("lattice", "odd-r" if name == "hexwild" else "square")
    return fc.Board.from_rows(rows, legend, rules=rules, **options)


def along(where, cells, creature=None, token=None):
    """Return the steps of the way along these cells."""
    field = where.step_field(cells[0] if token is None else token, creature=creature)
    steps = []
    for a, b in itertools.pairwise(cells):
        path = field.path(a, b, stop=False)
        assert len(path) == 1, (a, b)
        steps += path.steps
    return steps


def attacked(steps):
    """Return who may attack, by the number of the step, from 1."""
    return {
        number: [stake.source for stake in step.stakes if stake.kind == "attack"]
        for number, step in enumerate(steps, 1)
        if any(stake.kind == "attack" for stake in step.stakes)
    }


def only(stakes, kind):
    """Return the one stake, which is of that kind."""
    (stake,) = stakes
    assert stake.kind == kind
    return stake


def row(n, at=0, start=0):
    return [(at, col) for col in range(start, start + n)]


def foe(cell, name="foe", **options):
    creature = fc.Creature(name, **{k: options.pop(k) for k in ("size", "reach") if k in options})
    return fc.Token(creature, cell, side="red", **options)


# ---- Opportunity attacks -----------------------------------------------------------------------


def test_s5_10_leaving_a_reach_provokes():
    """S5-10: neither entering a reach nor a step inside it provokes, the step out of it does."""
    hall = board("srd5", [".......", "......."], tokens=[foe((1, 3), "ogre")])
    steps = along(hall, row(7))
    assert attacked(steps) == {5: ["ogre"]}
    stake = only(steps[4].stakes, "attack")
    assert stake.detail == hall.tokens[0]
    assert str(stake) == "opportunity attack by ogre"


def test_s5_10_a_reach_is_as_long_as_the_creature_says():
    """S5-10: in cells around the whole body, two of a long reach, none of a reach of 0."""
    longer = board("srd5", [".........", "........."], tokens=[foe((1, 4), reach=2)])
    assert attacked(along(longer, row(9))) == {7: ["foe"]}
    none = board("srd5", [".........", "........."], tokens=[foe((1, 4), reach=0)])
    assert attacked(along(none, row(9))) == {}
    large = board("srd5", ["........."] * 3, tokens=[foe((1, 3), size="large")])
    assert attacked(along(large, row(9))) == {6: ["foe"]}


def test_s5_10_a_large_body_leaves_when_all_of_it_has_left():
    """S5-10: while one cell of the body is within the reach nothing is provoked."""
    hall = board("srd5", ["......."] * 3, tokens=[foe((2, 3), "ogre")])
    giant = fc.Creature("giant", size="large")
    assert attacked(along(hall, row(6), giant)) == {5: ["ogre"]}


def test_s5_10_reach_needs_no_line():
    """S5-10: a wall between the two changes nothing."""
    hall = board("srd5", [".....", "#####", "....."], tokens=[foe((2, 1), reach=2)])
    assert attacked(along(hall, row(5))) == {4: ["foe"]}


@pytest.mark.parametrize("name", ["srd5", "pathfinder"])
def test_s5_10_only_hostile_creatures_that_can_attack(name):
    """S5-10: friends, neutral and helpless creatures do not, and PF-04 has the same relations."""
    cells = (1, 2)
    mover = fc.Token("mover", (0, 0), side="blue")
    for other, attacks in (
        (fc.Token("foe", cells, side="red"), True),
        (fc.Token("foe", cells, side="red", helpless=True), False),
        (fc.Token("friend", cells, side="blue"), False),
        (fc.Token("trader", cells, side="grey"), False),
    ):
        hall = board(
            name, [".....", "....."], tokens=[mover, other], relations=[("blue", "grey", "neutral")]
        )
        assert bool(attacked(along(hall, row(5), token=mover))) == attacks, other.label


@pytest.mark.parametrize("name", ["srd5", "pathfinder"])
def test_s5_10_others_in_the_air_or_on_the_ground_do_not_count(name):
    """S5-10, S5-11: who is in the air reaches who is on its level, and the other way round."""
    flyer = fc.Creature("hawk", speed={"walk": 60, "fly": 60})
    above = fc.Token("bat", (1, 2), side="red", flying=True)
    below = foe((1, 2), "ogre")
    hall = board(name, [".....", "....."], tokens=[above, below], parameters={"altitudes": 2})
    on_foot = fc.Token(flyer, (0, 0), side="blue")
    in_air = fc.Token(flyer, (0, 0), side="blue", flying=True, level=1)
    assert attacked(along(hall, row(5), token=on_foot))[4] == ["ogre"]
    assert attacked(along(hall, row(5), token=in_air))[4] == ["bat"]
    higher = fc.Token(flyer, (0, 0), side="blue", flying=True, level=2)
    assert attacked(along(hall, row(5), token=higher)) == {}


def test_s5_10_taking_off_leaves_a_reach():
    """S5-10, S5-11: who goes into the air beside a foe on the ground leaves its reach."""
    hall = board("srd5", ["..#.."], tokens=[foe((0, 0), "ogre")])
    chasm = hall.replace((0, 2), "chasm")
    path = chasm.path(fc.Token(fc.Creature("hawk", speed={"walk": 60, "fly": 60}), (0, 1)), (0, 4))
    assert path.steps[0].layer == "fly"
    assert path.steps[0].start == path.steps[0].to == (0, 1)
    assert attacked(path.steps) == {1: ["ogre"]}
    assert len(path.attacks) == 1


def test_s5_11_a_flyer_that_falls_is_within_reach_again():
    """S5-11: a helpless flyer lies on the ground; one that is prone there attacks who leaves it."""
    hawk = fc.Creature("hawk", speed={"walk": 6, "fly": 18})
    prone = fc.Token(hawk, (1, 2), side="red", flying=True, prone=True)
    hall = board("srd5", [".....", "....."], tokens=[prone])
    assert attacked(along(hall, row(5))) == {4: ["hawk"]}


def test_s5_10_each_foe_attacks_once_a_movement():
    """S5-10: every step out of a reach is listed, and a foe counts once in the movement."""
    hall = board("srd5", ["....#", "...##", "....."], tokens=[foe((2, 0), "ogre")])
    cells = [(1, 1), (0, 2), (1, 1), (0, 2)]
    steps = tuple(along(hall, cells))
    assert attacked(steps) == {1: ["ogre"], 3: ["ogre"]}
    path = fc.Path(np.array(cells), 3.0, _n_steps=3, _explain=lambda: steps)
    assert [stake.source for stake in path.stakes] == ["ogre", "ogre"]
    assert [stake.source for stake in path.attacks] == ["ogre"]
    assert str(path.explain()).endswith(
        "at stake in steps 1, 3: opportunity attack by ogre (1 in all)"
    )


def test_s5_10_foes_of_one_name_attack_each():
    """S5-10: two goblins are two attacks, also where nothing but their cells tells them apart."""
    hall = board("srd5", [".....", ".....", "....."], tokens=[foe((0, 1)), foe((2, 1))])
    path = hall.path((1, 1), (1, 4))
    assert attacked(path.steps) == {2: ["foe", "foe"]}
    assert len(path.attacks) == 2
    assert str(path.explain()).endswith("at stake in step 2: opportunity attack by foe (2 times)")


def test_s5_10_a_route_counts_them_by_turn():
    """S5-10: once a movement, so in the next turn once again."""
    long = board("pathfinder", [".......", "......."], tokens=[foe((1, 3), "ogre")])
    turns = long.route((0, 0), (0, 6), budget=3)
    assert [len(turn.attacks) for turn in turns.turns] == [1, 1]
    assert str(turns.explain()).endswith(
        "at stake in steps 3, 4, 5: opportunity attack by ogre (2 in all)"
    )


def test_pf_04_every_step_out_of_a_threatened_square_provokes():
    """PF-04: in that game also a step from one threatened square to another; one attack a foe."""
    hall = board("pathfinder", [".......", "......."], tokens=[foe((1, 3), "ogre")])
    path = hall.reach((0, 0)).path_to((0, 6))
    assert path.cells.tolist() == [[0, col] for col in range(7)]
    assert attacked(path.steps) == {3: ["ogre"], 4: ["ogre"], 5: ["ogre"]}
    assert len(path.attacks) == 1


def test_pf_09_a_large_body_leaves_the_squares_it_no_longer_covers():
    """PF-09: of a body those squares count that it gives up."""
    hall = board("pathfinder", ["......"] * 3, tokens=[foe((2, 4), "ogre", reach=1)])
    giant = fc.Creature("giant", size="large")
    # its right column comes under threat at column 3 and is given up as the left one
    assert attacked(along(hall, row(5), giant)) == {4: ["ogre"]}


@pytest.mark.parametrize("name", ["hexwild", "skirmish"])
def test_hw_26_these_systems_have_no_opportunity_attacks(name):
    """HW-26: a displaced creature provokes nothing; neither system has a rule that another does."""
    hall = board(name, [".....", "....."], tokens=[foe((1, 2))])
    assert attacked(along(hall, row(5))) == {}
    assert hall.path((0, 0), (0, 4)).stakes == ()


def by_hand(name, path, tokens, lattice):
    """Return who may attack at each step of a creature of one cell, by the words of the rules."""
    found = []
    for a, b in itertools.pairwise(map(tuple, path.cells.tolist())):
        provoked = []
        for token in tokens:
            side = {"tiny": 1, "small": 1, "medium": 1, "large": 2, "huge": 3}[token.creature.size]
            body = [
                (token.cell[0] + r, token.cell[1] + c) for r in range(side) for c in range(side)
            ]
            was, is_ = (min(lattice.distance(x, c) for c in body) for x in (a, b))
            inside = was <= token.creature.reach
            left = inside if name == "pathfinder" else inside and is_ > token.creature.reach
            if token.side == "red" and not token.helpless and left:
                provoked.append(token.label)
        found.append(provoked)
    return found


@st.composite
def melees(draw):
    name = draw(st.sampled_from(["srd5", "pathfinder"]))
    height, width = draw(st.integers(2, 7)), draw(st.integers(2, 7))
    rng = random.Random(draw(st.integers(0, 2**32)))
    rows = ["".join(rng.choices(".~#", (8, 2, 1), k=width)) for _ in range(height)]
    tokens = []
    for number in range(draw(st.integers(0, 4))):
        size = draw(st.sampled_from(["tiny", "medium", "large", "huge"]))
        side = {"large": 2, "huge": 3}.get(size, 1)
        if side > min(height, width):
            continue
        cell = (rng.randrange(height - side + 1), rng.randrange(width - side + 1))
        creature = fc.Creature(f"t{number}", size=size, reach=draw(st.integers(0, 3)))
        tokens.append(
            fc.Token(creature, cell, side=draw(st.sampled_from(["red", "blue"])),
                     helpless=draw(st.booleans()))
        )  # fmt: skip
    lattice = draw(st.sampled_from(["square", "square4"]))
    where = board(name, rows, tokens=tokens, lattice=lattice)
    return where, (rng.randrange(height), rng.randrange(width)), draw(st.integers(1, 8))


@strategies.examples(30)
@given(melees())
def test_s5_10_attacks_are_those_counted_by_hand(melee):
    """S5-10, PF-04: on random maps, for every cell reached."""
    where, start, budget = melee
    mover = fc.Token("mover", start, side="blue")
    tokens = where.tokens
    reach = where.reach(mover, budget=budget, tokens=tokens)
    for cell in reach.cells.tolist():
        path = reach.path_to(tuple(cell), stop=False)
        expected = by_hand(where.rules.name, path, tokens, where.lattice)
        found = [[s.source for s in step.stakes if s.kind == "attack"] for step in path.steps]
        assert found == expected
        assert len(path.attacks) == len({label for labels in expected for label in labels})


# ---- hexwild -----------------------------------------------------------------------------------

BOLD = fc.Creature("bold", footing="bold")


def test_hw17_a_bold_step_risks_a_save():
    """HW-17: by the ground 0, -5, -10, -10, or the damage in brackets and a knockdown's besides."""
    trail = board("hexwild", ".s.r.")
    steps = along(trail, row(5), BOLD)
    assert [len(step.stakes) for step in steps] == [1, 0, 1, 0]
    for step, source, damage, more in (
        (steps[0], "stones", Dice(1, 4), Dice(1, 3)),
        (steps[2], "sharp_rocks", Dice(1, 6, 1), Dice(1, 6, 1)),
    ):
        stake = only(step.stakes, "save")
        assert stake.source == source
        assert stake.detail == Save("reflex", Damage(damage, "laceration"), ON_FOOT, knockdown=True)
        assert stake.besides == (Knockdown(Damage(more, "laceration")),)
    assert str(steps[0].stakes[0]) == (
        "Reflex save on stones (wet -5 %, snow -10 %, ice -10 %) or knockdown, 1d4 laceration, "
        "1d3 laceration"
    )
    assert [step.stakes for step in along(trail, row(5))] == [(), (), (), ()], "with care"


def test_hw17_a_knockdown_does_what_all_that_lies_there_does():
    """HW-17: stones with thorns on them prick who falls, 1d4."""
    trail = board("hexwild", ".x", legend={"x": ("stones", "thorns")})
    bold, pricks = along(trail, row(2), BOLD)[0].stakes
    assert [str(k.damage) for k in bold.besides] == ["1d3 laceration", "1d4 piercing"]
    assert (pricks.source, pricks.besides) == ("thorns", ()), "no knockdown by thorns"


def test_hw17_a_creature_may_be_spared_the_test_or_the_damage():
    """HW-17: `untested_by`, `unharmed_by` and `crosses`."""
    trail = board("hexwild", ".s")

    def at_stake(**abilities):
        return along(trail, row(2), fc.Creature(footing="bold", **abilities))[0].stakes

    assert at_stake(untested_by={"stones"}) == at_stake(crosses={"stones"}) == ()
    unharmed = only(at_stake(unharmed_by={"stones"}), "save")
    assert unharmed.detail == Save("reflex", None, ON_FOOT, knockdown=True)
    assert unharmed.besides == ()
    assert str(unharmed).endswith("or knockdown")
    assert at_stake(untested_by={"gravel"}, unharmed_by={"thorns"}) == at_stake()


def test_hw18_a_climb_is_a_test():
    """HW-18: its modifiers are data on the step; coming down to open ground asks for none."""
    trail = board("hexwild", ".o.#.")
    steps = along(trail, row(5))
    assert [len(step.stakes) for step in steps] == [1, 0, 1, 0]
    boulder, formation = only(steps[0].stakes, "climb"), only(steps[2].stakes, "climb")
    assert isinstance(boulder.detail, Climb)
    assert [slope.modifier for slope in boulder.detail.slopes] == [45, 35, 25]
    assert (
        str(boulder) == "climb of boulder (steep wall, light +45 %, moderate +35 %, severe +25 %)"
    )
    assert str(formation) == "climb of rock formation (irregular wall)"
    spared = fc.Creature(untested_by={"boulder"}, crosses={"rock_formation"})
    assert not any(step.stakes for step in along(trail, row(5), spared))


def test_hw18_trees_are_climbed_by_a_test_too():
    """HW-18, HW-23: up to a perch, at -10 % in ancient trees; coming down is none."""
    wood = fc.Board(
        [["open", "light_forest", "ancient_trees"]],
        lattice="odd-r",
        perches=[
            fc.Perch((0, 1), 1, "medium", 3.0),
            fc.Perch((0, 1), 2, "medium", 6.0),
            fc.Perch((0, 2), 1, "medium", 4.0),
        ],
    )
    up = wood.step_field((0, 1))
    layers = [layer.name for layer in up.layers]
    field = up.explainer
    low, high, top = (layers.index(name) for name in ("walk", "level 1", "level 2"))
    light = only(field.stakes((0, 1), (0, 1), high, low), "climb")
    ancient = only(field.stakes((0, 2), (0, 2), high, low), "climb")
    assert (light.source, light.modifiers) == ("light_forest", ())
    assert (ancient.source, ancient.modifiers) == ("ancient_trees", (Modifier("climb", -10, "%"),))
    assert str(ancient) == "climb of a tree, ancient trees (climb -10 %)"
    assert field.stakes((0, 1), (0, 1), low, high) == []
    assert field.stakes((0, 1), (0, 1), top, high) == [light]
    assert field.stakes((0, 1), (0, 1), high, top) == []
    squirrel = fc.Creature("squirrel", untested_by={"ancient_trees"})
    spared = wood.step_field((0, 1), creature=squirrel).explainer
    assert spared.stakes((0, 2), (0, 2), high, low) == []
    assert only(spared.stakes((0, 1), (0, 1), high, low), "climb") == light
    assert Modifier("climb", -10, "%") in details(wood.effects((0, 2), creature=fc.Creature()))
    assert Modifier("climb", -10, "%") not in details(wood.effects((0, 2), creature=squirrel))


def test_hw26_who_jumps_down_may_hit_somebody():
    """HW-26: a pure Reflex save of whoever stands there, or half the damage."""
    bo = fc.Token("Bo", (0, 0), side="blue")
    ada = fc.Token("Ada", (0, 0), side="blue", level=1)
    wood = fc.Board(
        [["light_forest", "open"]],
        lattice="odd-r",
        perches=[fc.Perch((0, 0), 1, "medium", 3.0)],
        tokens=[ada, bo],
    )
    path = wood.path(ada, (0, 1))
    stake = only(path.stakes, "fall")
    assert path.steps[0].stakes == (stake,)
    assert (stake.source, stake.detail.save, stake.detail.share) == (
        "Bo",
        "pure reflex",
        Fraction(1, 2),
    )
    assert wood.path(ada, (0, 1), tokens=[ada]).stakes == ()
    owl = fc.Token("owl", (0, 0), side="blue", level=2)
    assert wood.path(ada, (0, 1), tokens=[ada, owl]).stakes == ()


def test_hw19_tests_on_leaving_mud_are_harder():
    """HW-19: Dexterity tests -3, Reflex and dodge -15 %, also while leaving; prone -4, -20 %."""
    trail = board("hexwild", "..m..")
    steps = along(trail, row(5))
    assert [len(step.stakes) for step in steps] == [0, 0, 1, 0]
    stake = only(steps[2].stakes, "malus")
    assert (stake.source, stake.detail) == ("mud", None)
    assert {m.what: m.value for m in stake.modifiers} == {
        "dexterity_tests": -3, "reflex": -15, "dodge": -15,
    }  # fmt: skip
    assert str(stake) == "dexterity tests -3, reflex -15 %, dodge -15 % on leaving mud"
    lying = fc.Token("worm", (0, 0), prone=True)
    prone = only(along(trail, row(5), token=lying)[2].stakes, "malus")
    assert [m.value for m in prone.modifiers] == [-4, -20, -20]
    eel = fc.Creature("eel", crosses={"mud"})
    assert not any(step.stakes for step in along(trail, row(5), eel))


def test_hw19_the_mud_one_leaves_counts_for_the_next_save():
    """HW-19: the Reflex save of a bold step out of mud is at -15 % more, a slip's too."""
    trail = board("hexwild", "msmg")
    steps = along(trail, row(4), BOLD)
    harder = (Modifier("reflex", -15, "%"),)
    assert [(s.kind, s.modifiers) for s in steps[0].stakes][1:] == [("save", harder)]
    assert [(s.kind, s.modifiers) for s in steps[2].stakes][1:] == [("slip", harder)]
    assert "ice -10 %, reflex -15 %)" in str(steps[0].stakes[1])


def test_hw19_thorns_prick_on_entry():
    """HW-19: in combat a Reflex save, or 1d3 piercing."""
    trail = board("hexwild", ".t")
    stake = only(along(trail, row(2))[0].stakes, "save")
    assert stake.detail == Save("reflex", Damage(Dice(1, 3), "piercing"), combat=True)
    assert str(stake) == "in combat Reflex save on thorns or 1d3 piercing"
    for ability in ("untested_by", "unharmed_by", "crosses"):
        assert along(trail, row(2), fc.Creature(**{ability: {"thorns"}}))[0].stakes == ()


def test_hw20_gravel_slips_on_entering():
    """HW-20: on gravel when entering, on stones and rocks while staying."""
    trail = board("hexwild", ".gsr")
    steps = along(trail, row(4))
    assert [len(step.stakes) for step in steps] == [1, 0, 0]
    stake = only(steps[0].stakes, "slip")
    assert stake.detail == Slip(Ground(10, 9, 10, 8), ON_FOOT, "entering")
    assert stake.besides == (Knockdown(Damage(Dice(1, 2), "laceration")),)
    assert str(stake) == (
        "in combat slip on gravel from initiative 10 (wet 9, ice 8): Reflex save (wet -5 %, "
        "snow -10 %, ice -10 %) or knockdown, 1d2 laceration"
    )
    assert along(trail, row(2), fc.Creature(untested_by={"gravel"}))[0].stakes == ()


def test_hw15_a_large_body_risks_what_it_newly_covers():
    """HW-15, HW-17: of several hexes those that a step newly covers, each kind once."""
    trail = board("hexwild", [".ss.", ".ss.", "...."])
    beast = fc.Creature("beast", body=2, footing="bold")
    token = fc.Token(beast, (0, 0), facing=1)
    steps = along(trail, [(0, 0), (0, 1)], token=token)
    assert [len(step.stakes) for step in steps] == [1]
    assert along(trail, [(0, 1), (0, 2)], token=token)[0].stakes == ()


def test_hw_flyers_risk_nothing_on_the_ground():
    """HW-15: who flies meets no terrain."""
    hawk = fc.Creature("hawk", speed={"fly": 20}, footing="bold")
    trail = board("hexwild", ".smgto.")
    token = fc.Token(hawk, (0, 0), flying=True, level=1)
    assert trail.path(token, (0, 6)).stakes == ()


def test_hw20_landing_and_taking_off():
    """HW-19, HW-20: who lands on gravel enters it, who takes off from mud leaves it."""
    hawk = fc.Creature("hawk", speed={"walk": 20, "fly": 20}, footing="bold")
    trail = board("hexwild", "mgso")
    field = trail.step_field((0, 0), creature=hawk)
    walk, fly = ([one.name for one in field.layers].index(name) for name in ("walk", "fly"))
    at = field.explainer.stakes
    assert only(at((0, 1), (0, 1), walk, fly), "slip").source == "gravel"
    assert only(at((0, 0), (0, 0), fly, walk), "malus").source == "mud"
    assert at((0, 1), (0, 1), fly, walk) == at((0, 0), (0, 0), walk, fly) == []
    # no step, so neither a bold one nor a climb
    assert at((0, 2), (0, 2), walk, fly) == at((0, 3), (0, 3), walk, fly) == []


# ---- pathfinder --------------------------------------------------------------------------------


def test_pf04_a_test_for_each_enemy_passed():
    """PF-04: tumbling, one a foe, however many squares of its are crossed; helpless ones none."""
    tokens = [
        foe((0, 1), "rat"),
        foe((0, 3), "ogre", size="large"),
        foe((0, 6), "x", helpless=True),
    ]
    hall = board("pathfinder", ["........", "........"], tokens=tokens, parameters={"tumble": True})
    steps = along(hall, row(8))
    tests = {
        number: stake.source
        for number, step in enumerate(steps, 1)
        for stake in step.stakes
        if stake.kind == "test"
    }
    assert tests == {1: "rat", 3: "ogre"}
    stake = next(stake for stake in steps[0].stakes if stake.kind == "test")
    assert stake.detail == SkillTest("Acrobatics")
    assert str(stake) == "Acrobatics to pass rat"


def test_pf04_no_test_for_who_is_in_the_air():
    """PF-04, PF-11: under a foe that flies one passes."""
    hawk = fc.Token("hawk", (0, 1), side="red", flying=True)
    hall = board("pathfinder", "...", tokens=[hawk], parameters={"tumble": True})
    assert hall.path((0, 0), (0, 2)).stakes == ()


def test_pf08_some_obstacles_take_a_test(tmp_path):
    """PF-08: a table may name the skill; the step reports it, and the cell lists it."""
    file = tmp_path / "fences.toml"
    file.write_text(
        'extends = "pathfinder"\n'
        '[terrain.fence]\nname = "fence"\nentry = 1\nnumber = "weight"\ntest = "Climb"\n',
        encoding="utf-8",
    )
    yard = fc.Board([["open", "fence", "open"]], rules=systems.load(file))
    path = yard.path((0, 0), (0, 2))
    stake = only(path.stakes, "test")
    assert path.steps[0].stakes == (stake,)
    assert (stake.source, stake.detail) == ("fence", SkillTest("Climb"))
    assert str(stake) == "Climb to pass fence"
    assert yard.effects((0, 1)) == (Effect("fence", "entering", SkillTest("Climb")),)
    cat = fc.Creature("cat", untested_by={"fence"})
    assert yard.path((0, 0), (0, 2), creature=cat).stakes == ()
    assert yard.effects((0, 1), creature=cat) == ()
    thicker = yard.replace((0, 1), "fence:3")
    assert only(thicker.path((0, 0), (0, 2)).stakes, "test").source == "fence:3"
    assert thicker.path((0, 0), (0, 2), creature=cat).stakes == ()


def test_pf10_squeezing_through_a_quarter_takes_a_test():
    """PF-10: down to a half there is none."""
    for cell, tested in (("n", True), ("h", False)):
        gap = board("pathfinder", [f"..{cell}..", "#####"])
        steps = along(gap, row(5))
        assert [bool(step.stakes) for step in steps] == [False, tested, False, False]
        if tested:
            stake = only(steps[1].stakes, "test")
            assert (stake.source, stake.detail) == ("narrow:0.4", SkillTest("Acrobatics"))
    eel = fc.Creature("eel", untested_by={"narrow"})
    assert not any(s.stakes for s in along(board("pathfinder", ["..n..", "#####"]), row(5), eel))


def details(effects):
    return [effect.detail for effect in effects]


def test_pf10_squeezed_is_entangled():
    """PF-10: at half entangled; at a quarter flat-footed besides, of two attack rolls the worse."""
    entangled = [Condition("entangled")]
    tight = [*entangled, Condition("flat-footed"), TwoRolls("attacks", "worse")]
    gaps = board("pathfinder", [".hn."])
    human = fc.Creature()
    assert details(gaps.effects((0, 0), creature=human)) == []
    assert details(gaps.effects((0, 1), creature=human)) == entangled
    assert gaps.effects((0, 2), creature=human) == tuple(
        Effect("narrow:0.4", "staying", detail) for detail in tight
    )
    assert details(gaps.effects((0, 2), creature=fc.Creature(size="tiny"))) == entangled
    assert gaps.effects((0, 2), creature=fc.Creature(crosses={"narrow"})) == ()
    rigid = board("pathfinder", [".hn."], parameters={"squeeze": False})
    assert rigid.effects((0, 2), creature=human) == ()


@pytest.mark.parametrize(
    ("name", "squeezed"),
    [
        ("pathfinder", [Condition("entangled")]),
        (
            "srd5",
            [
                TwoRolls("attacks", "worse"),
                TwoRolls("dexterity saves", "worse"),
                TwoRolls("attacks against", "better"),
            ],
        ),
    ],
)
def test_s5_13_a_body_between_walls_is_squeezed(name, squeezed):
    """S5-13, PF-10: where a cell of its space is closed or a wall runs through; not in a crowd."""
    hall = board(name, ["....", "....", "##..", "...."])
    giant = fc.Creature("giant", size="large")
    assert details(hall.effects((0, 0), creature=giant)) == []
    assert details(hall.effects((1, 1), creature=giant)) == squeezed
    assert details(hall.effects((1, 1), creature=fc.Creature())) == []
    assert {effect.terrain for effect in hall.effects((1, 1), creature=giant)} == {"squeezing"}
    thin = hall.replace(borders=[fc.Border(((0, 0), (0, 1)), "wall")])
    assert details(thin.effects((0, 0), creature=giant)) == squeezed
    door = hall.replace(borders=[fc.Border(((0, 0), (0, 1)), "door", open=True)])
    assert details(door.effects((0, 0), creature=giant)) == []
    crowd = hall.replace(tokens=[fc.Token(giant, (0, 0)), foe((0, 1))])
    assert details(crowd.effects(crowd.tokens[0])) == []


@pytest.mark.parametrize("name", ["pathfinder", "srd5"])
def test_s5_13_squeezed_is_what_the_field_says(name):
    """S5-13, PF-10: on random maps, where a body fits only squeezed it is said to be."""
    rng = random.Random(5)
    for size in ("large", "huge", "gargantuan"):
        creature = fc.Creature(size=size)
        for _ in range(6):
            rows = ["".join(rng.choices(".#", (6, 1), k=8)) for _ in range(8)]
            walls = [fc.Border(((r, 3), (r, 4)), "wall") for r in range(8) if rng.random() < 0.3]
            hall = board(name, rows, borders=walls)
            field = hall.step_field((0, 0), creature=creature)
            squeezed = np.zeros(hall.shape, bool)
            for layer, mask in field.seats:
                if layer != field.home:
                    squeezed |= mask
            n = {"large": 2, "huge": 3, "gargantuan": 4}[size]
            for r, c in itertools.product(range(9 - n), range(9 - n)):
                told = bool(hall.effects((r, c), creature=creature))
                if squeezed[r, c] or not told:
                    assert told == squeezed[r, c], (rows, r, c)


# ---- srd5 --------------------------------------------------------------------------------------


def test_s5_11_a_falling_flyer_is_reported():
    """S5-11: one that is prone or cannot move falls, one that hovers does not."""
    hall = board("srd5", ["..."])
    hawk = fc.Creature("hawk", speed={"walk": 6, "fly": 18})
    falls = (Effect("air", "staying", Condition("falls")),)
    for creature, state, expected in (
        (hawk, {}, ()),
        (hawk, {"prone": True}, falls),
        (hawk, {"helpless": True}, falls),
        (fc.Creature("hawk", speed={"fly": 0}), {}, falls),
        (fc.Creature("orb", speed={"fly": 18}, hovers=True), {"prone": True}, ()),
    ):
        token = fc.Token(creature, (0, 1), flying=True, **state)
        assert hall.effects(token) == expected, (creature.name, state)


def test_s5_13_narrow_passages_squeeze():
    """S5-13: in room for a size smaller."""
    hall = board("srd5", [".n."])
    assert len(hall.effects((0, 1), creature=fc.Creature())) == 3
    assert {e.terrain for e in hall.effects((0, 1), creature=fc.Creature())} == {"narrow:small"}
    assert hall.effects((0, 1), creature=fc.Creature(size="small")) == ()
    rigid = board("srd5", [".n."], parameters={"squeeze": False})
    assert rigid.effects((0, 1), creature=fc.Creature()) == ()


# ---- skirmish ----------------------------------------------------------------------------------


def test_sk03_entering_difficult_terrain_costs_until_the_next_turn():
    """SK-03: -1 to combat, shooting, agility, casting on entering or staying, not on leaving it."""
    moor = board("skirmish", "..~~..")
    steps = along(moor, row(6))
    assert [len(step.stakes) for step in steps] == [0, 1, 1, 0, 0]
    stake = only(steps[1].stakes, "malus")
    names = ["combat", "shooting", "agility", "casting"]
    assert [(m.what, m.value) for m in stake.modifiers] == [(name, -1) for name in names]
    assert str(stake) == (
        "combat -1, shooting -1, agility -1, casting -1 in difficult until the next turn"
    )
    staying = [e.detail for e in moor.effects((0, 2)) if e.when == "staying"]
    assert [m.what for m in staying] == names


def test_sk04_flyers_ignore_it():
    """SK-04: neither difficult terrain nor ladders nor water; landing on it is entering."""
    hawk = fc.Creature("hawk", speed={"walk": 20, "fly": 20})
    moor = board("skirmish", ".~Hw.")
    path = moor.path(fc.Token(hawk, (0, 0), flying=True), (0, 4))
    assert [step.stakes for step in path.steps] == [()] * 4
    field = moor.step_field(fc.Token(hawk, (0, 0), flying=True))
    walk, fly = (
        next(n for n, one in enumerate(field.layers) if one.name == m) for m in ("walk", "fly")
    )
    assert only(field.explainer.stakes((0, 1), (0, 1), walk, fly), "malus").source == "difficult"
    assert field.explainer.stakes((0, 1), (0, 1), fly, walk) == []


def test_sk07_no_running_on_ladders():
    """SK-07: in a square with a ladder, and over a border with one."""
    wall = board("skirmish", "..HH.")
    steps = along(wall, row(5))
    assert [len(step.stakes) for step in steps] == [0, 1, 1, 0]
    stake = only(steps[1].stakes, "forbids")
    assert (stake.source, stake.detail) == ("ladder", Forbids("run"))
    assert str(stake) == "no running on ladder"
    rung = board(
        "skirmish", ["...", "..."], borders=[fc.Border(((0, 0), (0, 1)), "ladder", length=2)]
    )
    assert [len(s.stakes) for s in along(rung, [(0, 0), (0, 1), (0, 2)])] == [1, 0]
    assert [len(s.stakes) for s in along(rung, [(0, 1), (0, 0), (1, 0)])] == [1, 0]


def test_sk08_deep_water():
    """SK-08: -1 to combat for who is no creature of the water; no casting, no dispelling."""
    lake = board("skirmish", ".ww.")
    swimmer = fc.Creature("swimmer", speed={"walk": 9, "swim": 9})
    path = lake.path((0, 0), (0, 3), creature=swimmer)
    inside = [step.stakes for step in path.steps if step.stakes]
    assert len(inside) == 2
    maluses = [stake for stake in inside[0] if stake.kind == "malus"]
    assert [m for stake in maluses for m in stake.modifiers] == [Modifier("combat", -1)]
    forbidden = ["cast", "dispel", "fight_at_a_distance", "fight_with_long_weapons"]
    assert [s.detail.what for s in inside[0] if s.kind == "forbids"] == forbidden
    assert "no casting in deep water" in str(path.explain())
    shark = fc.Creature("shark", speed={"swim": 9}, crosses={"deep_water"})
    assert [e.detail.what for e in lake.effects((0, 1), creature=shark)] == forbidden
    assert details(lake.effects((0, 1), creature=swimmer))[0] == Modifier("combat", -1)


# ---- Effects of a place on somebody ------------------------------------------------------------


def test_hw19_effects_on_a_creature():
    """HW-19: `untested_by` spares the tests, `unharmed_by` the damage, `crosses` both and more."""
    field = board("hexwild", [".stob"])
    anybody = field.effects((0, 1))
    careful = field.effects((0, 1), creature=fc.Creature())
    assert [e for e in anybody if e.footing] == [anybody[0]]
    assert careful == anybody[1:], "the bold price is for the bold"
    assert field.effects((0, 1), creature=BOLD) == anybody

    def left(cell, **abilities):
        effects = field.effects(cell, creature=fc.Creature(footing="bold", **abilities))
        return [type(effect.detail) for effect in effects]

    assert left((0, 1), untested_by={"stones"}) == [Modifier] * 6 + [Knockdown]
    assert left((0, 1), unharmed_by={"stones"}) == [Save, Slip] + [Modifier] * 6
    assert left((0, 1), crosses={"stones"}) == []
    assert left((0, 2), untested_by={"thorns"}) == [Knockdown]
    assert left((0, 2), unharmed_by={"thorns"}) == []
    assert left((0, 3), crosses={"boulder"}) == [Raised, Knockdown]
    (fall,) = details(field.effects((0, 3), creature=fc.Creature(crosses={"boulder"})))[1:]
    assert fall == Knockdown(fall_chance=33)
    assert left((0, 4), crosses={"light_bushes"}) == [Hidden]


def test_hw19_effects_on_a_token():
    """HW-19: its state counts; a body of several hexes has the effects of each kind under it."""
    field = board("hexwild", ["mm.", "s.."])
    worm = fc.Token("worm", (0, 0), prone=True)
    values = {e.detail.what: e.detail.value for e in field.effects(worm) if e.when == "leaving"}
    assert values == {"dexterity_tests": -4, "reflex": -20, "dodge": -20}
    assert field.effects(worm) == field.effects((0, 0), creature=worm.creature, prone=True)
    beast = fc.Token(fc.Creature("beast", body=2), (0, 0), facing=2)
    assert {e.terrain for e in field.effects(beast)} == {"mud", "stones"}
    flat = fc.Token(fc.Creature("beast", body=2), (0, 0), facing=1)
    assert field.effects(flat) == field.effects((0, 0), creature=fc.Creature()), "mud counts once"
    hawk = fc.Token(fc.Creature("hawk", speed={"fly": 9}), (0, 0), flying=True, level=1)
    assert field.effects(hawk) == ()


def test_hw23_effects_of_sitting_in_a_tree():
    """HW-23: incapacitated, not standing, no rest; what lies on the ground does not reach it."""
    wood = board("hexwild", "T")
    held = (Condition("incapacitated"), Condition("not standing"), Forbids("rest"))
    expected = tuple(Effect("light_forest", "staying", detail) for detail in held)
    assert wood.effects((0, 0), level=1) == expected
    assert wood.effects(fc.Token("owl", (0, 0), level=2)) == expected
    assert not set(expected) & set(wood.effects((0, 0), creature=fc.Creature()))


def test_effects_need_a_cell_of_the_map():
    with pytest.raises(fc.OutsideMapError):
        board("hexwild", "..").effects((0, 2), creature=fc.Creature())


# ---- Paths -------------------------------------------------------------------------------------


@st.composite
def scenes(draw):
    """Draw a board of any system, and who goes where on it."""
    name = draw(st.sampled_from(sorted(LEGENDS)))
    rng = random.Random(draw(st.integers(0, 2**32)))
    height, width = draw(st.integers(3, 7)), draw(st.integers(3, 7))
    letters = "".join(c for c in LEGENDS[name] if c not in "#HIw")
    rows = ["".join(rng.choices("." + letters, k=width)) for _ in range(height)]
    parameters = {"tumble": True} if name == "pathfinder" else {}
    where = board(name, rows, parameters=parameters)
    size = draw(st.sampled_from(["small", "medium", "large"])) if name != "hexwild" else "medium"
    creature = fc.Creature(
        "mover",
        size=size,
        speed=draw(st.sampled_from([None, {"walk": 30, "fly": 30}, {"walk": 20, "swim": 20}])),
        footing=draw(st.sampled_from(["careful", "bold"])),
        body=draw(st.sampled_from([None, 2, 3])) if name == "hexwild" else None,
    )

    def others():
        return [
            fc.Token(fc.Creature(f"t{n}", reach=rng.randint(0, 2)),
                     (rng.randrange(height), rng.randrange(width)),
                     side=rng.choice(["red", "blue"]), helpless=rng.random() < 0.2)
            for n in range(rng.randint(0, 4))
        ]  # fmt: skip

    ends = [(rng.randrange(height - 1), rng.randrange(width - 1)) for _ in range(2)]
    return where, fc.Token(creature, ends[0], side="blue"), ends[1], others(), others()


@strategies.examples(40)
@given(scenes())
def test_a_path_risks_what_its_steps_risk(scene):
    where, mover, goal, tokens, _ = scene
    path = where.path(mover, goal, tokens=tokens, stop=False)
    assert path.stakes == tuple(itertools.chain.from_iterable(step.stakes for step in path.steps))
    assert set(path.attacks) == {stake for stake in path.stakes if stake.kind == "attack"}
    copy = pickle.loads(pickle.dumps(path))
    assert copy.stakes == path.stakes
    assert str(copy.explain()) == str(path.explain())
    lines = str(path.explain()).splitlines()
    told = [line for line in lines if line.startswith("at stake in step")]
    assert len(told) == len({(stake.kind, str(stake)) for stake in path.stakes})
    assert lines[len(lines) - len(told) :] == told


@strategies.examples(40)
@given(scenes())
def test_a_field_that_follows_tokens_risks_what_a_new_one_does(scene):
    where, mover, goal, before, after = scene
    options = {"token": mover, "relation": where.relation}
    rules, terrain = where.rules, where.terrain
    moved = rules.step_field(terrain, mover.creature, tokens=before, **options).update(after)
    fresh = rules.step_field(terrain, mover.creature, tokens=after, **options)
    one, other = (field.reach(mover.cell).path_to(goal, stop=False) for field in (moved, fresh))
    assert one == other
    assert one.steps == other.steps


def test_a_squeezed_body_is_known_after_tokens_moved():
    """PF-10: what it covers, and so whom it leaves, follows the tokens too."""
    cave = board(
        "pathfinder",
        """
        ..##....#.........#..##.
        ##.....###.#.......#..#.
        ....#....#...........#..
        ..............#......##.
        ..#...#.#..#..##......#.
        ..#...........##..#..#.#
        ..#..........##.##.....#
        .......##.##.....#......
        ........#....##.#.##.#.#
        """,
    )
    creature = fc.Creature("giant", size="huge")
    mover = fc.Token(creature, (0, 0), side="blue")
    first, second = [foe((3, 5), "ogre")], [foe((3, 7), "ogre")]
    field = cave.rules.step_field(cave.terrain, creature, token=mover, tokens=first)
    moved = field.update(second)
    fresh = cave.rules.step_field(cave.terrain, creature, token=mover, tokens=second)
    n_attacks = 0
    for start in itertools.product(range(5), range(10)):
        one, other = (field.reach(start, 3) for field in (moved, fresh))
        for cell in other.cells.tolist():
            way = other.path_to(tuple(cell), stop=False)
            assert one.path_to(tuple(cell), stop=False).steps == way.steps
            n_attacks += len(way.attacks)
    assert n_attacks > 10


def test_what_risks_nothing_is_told_as_before():
    path = board("pathfinder", "...").path((0, 0), (0, 2))
    assert path.stakes == path.attacks == ()
    assert str(path.explain()).splitlines()[-1] == "      total     2  squares"
    bare = fc.grid.path([[1, 2, 1]], (0, 0), (0, 2))
    assert bare.stakes == ()
    assert "stake" not in str(bare.explain())
    nowhere = board("pathfinder", ".#.").path((0, 0), (0, 2))
    assert nowhere.stakes == nowhere.attacks == ()


def test_equal_tokens_on_one_cell_attack_each():
    """S5-10: as far as anybody can tell them apart."""
    hall = board("srd5", ["....", "...."], tokens=[foe((1, 0)), foe((1, 0))])
    path = hall.path((0, 0), (0, 3))
    assert attacked(path.steps) == {2: ["foe", "foe"]}
    assert len(path.attacks) == 2

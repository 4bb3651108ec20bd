"""Very many turns on one map: against each turn by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as fc_st
from fieldcraft import turns
from fieldcraft.fields import Layer
from fieldcraft.lattice import Lattice
from fieldcraft.sight_field import SightField
from fieldcraft.step_field import StepField
from fieldcraft.turns import TurnMap, TurnMover
from fieldcraft_kernel.views import FIELD_LIGHT
from reference.crowds import HIDDEN, Land, Someone, turn
from reference.graph import neighbour

FOES = [[False, True, False], [True, False, True], [False, True, False]]
EYES = 2


def random_land(rng, lattice, shape, *, dues):
    """Return a map with random legal steps; with prices of leaving and of borders, or without."""
    height, width = shape
    n = Lattice(lattice).n_directions
    closed = rng.random(shape) < 0.15
    steps = np.zeros(shape, np.uint8)
    for row, col in np.ndindex(shape):
        for k in range(n):
            to = neighbour(lattice, (row, col), k)
            inside = 0 <= to[0] < height and 0 <= to[1] < width
            if inside and not closed[to] and rng.random() < 0.93:
                steps[row, col] |= 1 << k
    some = rng.integers(0, 3, shape) if dues else np.zeros(shape)
    borders = np.zeros((*shape, n))
    if dues and rng.random() < 0.5:
        borders = rng.integers(0, 2, (*shape, n))
    stake = np.where(rng.random((*shape, n)) < 0.3, rng.integers(0, 900, (*shape, n)), 0)
    return Land(
        lattice, steps, rng.integers(1, 5, shape), some, borders, rng.random(shape) < 0.8, stake
    )


def field_of(land):
    return StepField(
        Lattice(land.lattice), land.steps.shape, steps=land.steps,
        enter=land.enter.astype(np.uint16),
        leave=land.leave.astype(np.uint16) if land.leave.any() else None,
        border=land.border.astype(np.uint16) if land.border.any() else None, stop=land.stop,
    )  # fmt: skip


def random_sights(rng, lattice, shape, threshold):
    """Return a sight field for each two eyes, alike but for what their ends count."""
    ends = [rng.integers(0, 4, shape).astype(np.uint8) for _ in range(3)]
    ends.append(None)
    common = {
        "between": np.where(rng.random(shape) < 0.4, rng.integers(0, 3, shape), 0).astype(np.uint8),
        "opaque": rng.random(shape) < 0.08,
        "light": -rng.integers(0, 3, shape if rng.random() < 0.5 else (1, 1)),
        "threshold": threshold,
        "tie": str(rng.choice(["worst-side", "best-side", "both"])),
    }

    def some():
        return ends[int(rng.integers(len(ends)))]

    return {
        (viewer, target): SightField(
            Lattice(lattice), shape, at_viewer=some(), at_target=some(), adjacent_viewer=some(),
            adjacent_target=some(), **common,
        )
        for viewer in range(EYES)
        for target in range(EYES)
    }  # fmt: skip


def random_crowds(rng, shape, n):
    """Return encounters of up to six tokens on cells of their own."""
    height, width = shape
    weapons = (((1, -(2**31)),), ((3, -2), (1, -9)), ())
    crowds = []
    for _ in range(n):
        count = int(rng.integers(1, min(6, height * width) + 1))
        places = rng.choice(height * width, count, replace=False)
        crowds.append(
            [
                Someone(
                    divmod(int(place), width), int(rng.integers(3)), int(rng.integers(EYES)),
                    bool(rng.random() < 0.8), weapons[int(rng.integers(3))],
                )
                for place in places
            ]
        )  # fmt: skip
    return crowds


def as_crowd(game, crowds, light):
    everybody = [one for crowd in crowds for one in crowd]
    first = np.cumsum([0, *map(len, crowds)])
    return game.crowd(
        first=first, cells=np.array([one.cell for one in everybody]),
        side=np.array([one.side for one in everybody]),
        eye=np.array([one.eye for one in everybody]),
        looks=np.array([one.looks for one in everybody]), light=np.array(light),
        foes=np.array(FOES),
    )  # fmt: skip


@fc_st.examples(60)
@given(
    seed=fc_st.seeds,
    lattice=st.sampled_from(["odd-r", "even-q", "square", "square4"]),
    dues=st.booleans(),
    threshold=st.sampled_from([2, 4, 11]),
    enough=st.sampled_from([1, 24]),
)
def test_turns_are_those_of_the_definition(seed, lattice, dues, threshold, enough):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 8, 2).tolist())
    land, fields = random_land(rng, lattice, shape, dues=dues), None
    fields = random_sights(rng, lattice, shape, threshold)
    crowds = random_crowds(rng, shape, 3)
    light = [int(rng.choice([FIELD_LIGHT, 0, -2])) for _ in crowds]
    field, budget = field_of(land), int(rng.integers(0, 12))
    assert TurnMap.serves(fields)
    game = TurnMap(fields)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "ENOUGH", enough)  # 1: never a table of the whole map
        crowd = as_crowd(game, crowds, light)
    distances = Lattice("square" if lattice == "square4" else lattice).distances
    row = 0
    for i, tokens in enumerate(crowds):

        def malus(viewer, target, a, b, given=light[i]):
            asked = None if given == FIELD_LIGHT else given
            return fields[viewer, target].sight(a, b, light=asked).malus

        for number, me in enumerate(tokens):
            mover = TurnMover(
                field, budget, [w for w, _ in me.weapons], [low for _, low in me.weapons], me.eye,
                *land.kinds(),
            )  # fmt: skip
            assert mover.serves()
            found = {
                name: column[0].item()
                for name, column in game.turns(crowd, mover, np.array([[i, row, 1]])).items()
            }
            for name in ("attack", "safe"):
                found[name] = (found.pop(f"{name}_row"), found.pop(f"{name}_col"))
            assert found == turn(
                land, malus, lambda a, b: int(distances(a, b)), FOES, tokens, number, budget
            )
            row += 1


@fc_st.examples(30)
@given(seed=fc_st.seeds, lattice=st.sampled_from(["even-r", "odd-q", "square"]))
def test_pairs_are_single_sight_lines(seed, lattice):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 12, 2).tolist())
    fields = random_sights(rng, lattice, shape, 3)
    crowds = random_crowds(rng, shape, 4)
    light = [int(rng.choice([FIELD_LIGHT, 0, -2])) for _ in crowds]
    game = TurnMap(fields)
    found = game.pairs(as_crowd(game, crowds, light))
    row = 0
    for tokens, given_light in zip(crowds, light, strict=True):
        for a, viewer in enumerate(tokens):
            for b, target in enumerate(tokens):
                if a == b:
                    continue
                sight = fields[viewer.eye, target.eye].sight(
                    viewer.cell, target.cell,
                    light=None if given_light == FIELD_LIGHT else given_light,
                )  # fmt: skip
                one = {name: column[row].item() for name, column in found.items()}
                assert one == {
                    "viewer": a,
                    "target": b,
                    "foe": FOES[viewer.side][target.side],
                    "steps": int(Lattice(lattice).distances(viewer.cell, target.cell)),
                    "visible": sight.visible,
                    "obstruction": HIDDEN if sight.obstruction is None else sight.obstruction,
                    "light": sight.light,
                    "malus": HIDDEN if sight.malus is None else sight.malus,
                }
                row += 1
    assert len(found["viewer"]) == row


def test_a_queue_that_is_too_small_grows_and_nothing_is_lost():
    rng = np.random.default_rng(3)
    land = random_land(rng, "odd-r", (9, 9), dues=False)
    field, game = field_of(land), TurnMap(random_sights(rng, "odd-r", (9, 9), 4))
    crowd = as_crowd(game, random_crowds(rng, (9, 9), 6), [0] * 6)
    movers = np.array(
        [[i, m, 1] for i in range(6) for m in range(crowd.first[i], crowd.first[i + 1])]
    )
    mover = TurnMover(field, 12, [3], [None], 0, *land.kinds())
    expected = game.turns(crowd, mover, movers)
    scratch = turns._lent(field._searcher.plain.graph)
    turns._give_back(scratch)
    scratch.queue = scratch.queue[: len(scratch.queue) - scratch.graph.n_pool + 60].copy()
    found = game.turns(crowd, mover, movers)
    for name, column in expected.items():
        np.testing.assert_array_equal(found[name], column, name)


def test_fields_that_differ_between_their_ends_are_told_apart():
    shape = (3, 3)
    plain = SightField(Lattice("odd-r"), shape, between=np.zeros(shape, np.uint8))
    bushy = SightField(Lattice("odd-r"), shape, between=np.ones(shape, np.uint8))
    raised = SightField(
        Lattice("odd-r"), shape, between=np.zeros(shape, np.uint8), top=np.ones(shape),
        viewer_eyes=np.zeros((1, 1)), target_eyes=np.zeros((1, 1)),
    )  # fmt: skip
    free = SightField(Lattice("odd-r"), shape, between=np.zeros(shape, np.uint8), threshold=None)
    assert TurnMap.serves({(0, 0): plain})
    for other in (bushy, raised, free):
        both = {(0, 0): plain, (0, 1): other, (1, 0): plain, (1, 1): plain}
        assert not TurnMap.serves(both)
    assert not TurnMap.serves({(0, 0): raised})
    assert not TurnMap.serves({(0, 0): free})


def test_a_field_of_several_layers_or_stakes_too_large_do_not_serve():
    shape = (2, 2)
    steps = np.zeros((1, *shape), np.uint8)
    enter = np.ones((1, *shape), np.uint16)
    two = StepField(Lattice("odd-r"), shape, steps=steps, enter=enter, layers=[Layer(), Layer()])
    kind = np.ones((*shape, 6), np.uint16)
    assert not TurnMover(two, 9, [], [], 0, kind, np.array([[0, 1]])).serves()
    one = field_of(random_land(np.random.default_rng(1), "odd-r", shape, dues=False))
    assert TurnMover(one, 9, [], [], 0, kind, np.array([[0, 1 << 40]])).serves()
    assert not TurnMover(one, 9, [], [], 0, kind, np.array([[0, 1 << 60]])).serves()

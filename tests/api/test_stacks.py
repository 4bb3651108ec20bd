"""Stacks of maps give on each map what the map alone gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from fieldcraft.lattice import Lattice
from fieldcraft.legal import legal_steps
from fieldcraft.stacks import FieldStack

PALETTES = ((1,), (2,), (1, 3, 5), (1, 2, 3, 4), (0.5, 1.5, 2), (0.1, 0.7), (3, 900), (7, 65_535))
DIAGONALS = (
    "alternating", "alternating-2", "equidistant", "approximate", "rectilinear", "illegal", "exact",
    (70, 99), (2, 1), (3, 5_000),
)  # fmt: skip


@st.composite
def stacks(draw: st.DrawFn, is_hex: bool) -> tuple[Any, np.ndarray, np.ndarray, dict[str, Any]]:
    """Draw the module, costs, starts and options of a stack."""
    shape = (draw(st.integers(1, 5)), *draw(fc_st.small_shapes))
    rng = np.random.default_rng(draw(fc_st.seeds))
    options: dict[str, Any] = {}
    palette = draw(st.sampled_from(PALETTES))
    if is_hex:
        options["layout"] = draw(st.sampled_from(fc_st.HEXES))
    else:
        options["diagonals"] = draw(st.sampled_from(DIAGONALS))
        options["corners"] = draw(st.sampled_from(("both", "either", "free")))
        if isinstance(options["diagonals"], str) and options["diagonals"].startswith("alt"):
            options["parity"] = draw(st.sampled_from(("advances", "carry")))
            palette = tuple(math.ceil(price) for price in palette)
    whole = all(float(price).is_integer() for price in palette)
    dtypes = (np.float64, np.float32, np.int64, np.uint16) if whole else (np.float64, np.float32)
    cost = rng.choice(np.array(palette), shape).astype(draw(st.sampled_from(dtypes)))
    shut = rng.random(shape) < draw(st.sampled_from((0.0, 0.1, 0.3, 0.6)))
    starts = np.stack([rng.integers(0, side, shape[0]) for side in shape[1:]], axis=-1)
    shut[np.arange(shape[0]), starts[:, 0], starts[:, 1]] = False
    if cost.dtype.kind == "f" and draw(st.booleans()):
        cost[shut] = np.inf
    else:
        # What lies under a closed cell is nobody's business.
        cost[shut] = 0
        options["closed"] = shut
    return (fc.hexes if is_hex else fc.grid), cost, starts, options


@pytest.mark.parametrize("is_hex", [False, True], ids=["squares", "hexagons"])
@fc_st.examples(80)
@given(data=st.data())
def test_each_map_is_as_if_alone(is_hex, data):
    module, cost, starts, options = data.draw(stacks(is_hex))
    given_options: dict[str, Any] = {"budget": data.draw(st.sampled_from((None, 0, 1.5, 4, 12)))}
    if not is_hex:
        given_options["parity_in"] = data.draw(st.integers(0, 1))
    stack = module.stack(cost, **options)
    note(f"in one call: {stack._rule is not None}")
    found = module.distances(cost, starts, **given_options, **options)
    assert found.shape == cost.shape
    assert found.dtype == np.float64
    closed = options.pop("closed", np.zeros(cost.shape, bool))
    for i, start in enumerate(starts):
        alone = module.distances(
            cost[i], tuple(start.tolist()), closed=closed[i], **given_options, **options
        )
        np.testing.assert_array_equal(found[i], alone)


@pytest.mark.parametrize("parity_in", [0, 1])
@pytest.mark.parametrize("parity", ["advances", "carry"])
@pytest.mark.parametrize("diagonals", ["alternating", "alternating-2"])
@pytest.mark.parametrize("palette", [(1,), (1, 3), (1, 2), (2, 4)])
def test_alternating_diagonals(palette, diagonals, parity, parity_in):
    rng = np.random.default_rng(9)
    cost = rng.choice(palette, (3, 8, 9))
    closed = rng.random(cost.shape) < 0.2
    starts = [(0, 0), (4, 4), (7, 2)]
    closed[[0, 1, 2], [0, 4, 7], [0, 4, 2]] = False
    options = {"diagonals": diagonals, "parity": parity}
    stack = fc.grid.stack(cost, closed=closed, **options)
    assert stack._rule is not None
    for budget in (None, 0, 3, 9):
        found = stack.distances(starts, budget=budget, parity=parity_in)
        for i, start in enumerate(starts):
            alone = fc.grid.field(cost[i], closed=closed[i], **options)
            expected = alone.distances(start, budget=budget, parity=parity_in)
            np.testing.assert_array_equal(found[i], expected)


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(40)
@given(data=st.data())
def test_masks_of_the_kernel_are_the_legal_steps(lattice, data):
    from fieldcraft_kernel import stacks as kernel

    height, width = data.draw(fc_st.small_shapes)
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    open_ = rng.random((1, height, width)) < data.draw(st.sampled_from((0.0, 0.5, 0.8, 1.0)))
    corners = data.draw(st.sampled_from(("both", "either", "free")))
    stack = FieldStack(Lattice(lattice), np.ones(open_.shape), closed=~open_, corners=corners)
    scratch = stack._scratch()
    kernel.pad(scratch, stack._ticks[0])
    if stack.lattice.is_hex:
        kernel.hex_steps(scratch.steps, scratch.is_open, height, width, stack._rule)
    else:
        kernel.square_steps(scratch.steps, scratch.is_open, width, stack._rule)
    found = scratch.steps.reshape(height + 2, width + 2)[1:-1, 1:-1] & (
        (1 << stack.lattice.n_directions) - 1
    )
    np.testing.assert_array_equal(found, legal_steps(stack.lattice, open_[0], corners=corners))


@pytest.mark.parametrize(
    ("cost", "options", "expected"),
    [
        (1, {}, True),
        (2, {}, True),
        (0.25, {"diagonals": "equidistant"}, True),
        (1, {"diagonals": "exact"}, False),
        (1, {"diagonals": (1, 4096)}, False),
        (1 / 3, {"diagonals": "equidistant"}, False),
        (1, {"leave": np.zeros((2, 3, 3))}, False),
        (1, {"stop": np.zeros((2, 3, 3), bool)}, True),
    ],
)
def test_which_stacks_go_in_one_call(cost, options, expected):
    stack = fc.grid.stack(np.full((2, 3, 3), cost), **options)
    assert (stack._rule is not None) is expected


def test_large_stacks_are_spread_over_threads():
    rng = np.random.default_rng(5)
    cost = rng.integers(1, 5, (70, 20, 31))
    starts = np.stack([rng.integers(0, 20, 70), rng.integers(0, 31, 70)], axis=-1)
    stack = fc.grid.stack(cost)
    found = stack.distances(starts)
    for i in range(0, 70, 9):
        np.testing.assert_array_equal(found[i], stack.field(i).distances(tuple(starts[i].tolist())))


def test_the_extras_of_each_map():
    rng = np.random.default_rng(6)
    size = (3, 5, 6)
    cost = rng.integers(1, 4, size)
    starts = [(0, 0), (4, 5), (2, 2)]
    extras = {
        "leave": rng.integers(0, 3, size),
        "border": rng.integers(0, 2, (*size, 8)),
        "halt": rng.random(size) < 0.2,
        "barred": rng.integers(0, 16, size),
    }
    for diagonals in ("alternating", "illegal", (70, 99)):
        found = fc.grid.distances(cost, starts, diagonals=diagonals, **extras)
        reaches = fc.grid.reach_many(cost, starts, 5, diagonals=diagonals, **extras)
        for i, start in enumerate(starts):
            mine = {name: array[i] for name, array in extras.items()}
            alone = fc.grid.field(cost[i], diagonals=diagonals, **mine)
            np.testing.assert_array_equal(found[i], alone.distances(start))
            assert reaches[i] == alone.reach(start, 5)


def test_reaches_of_a_stack_of_hexagons():
    cost = np.array([[[1, 2, 1]], [[1, 1, 3]]])
    reaches = fc.hexes.reach_many(cost, [(0, 0), (0, 2)], 2)
    assert [len(reach) for reach in reaches] == [2, 3]
    assert len(fc.hexes.stack(cost)) == 2


BAD_STACKS = [
    (fc.CostError, r"map 1 at \(0, 1\) is -1", [[[1, 1]], [[1, -1]]], {}),
    (fc.CostError, r"map 0 at \(0, 0\) is nan", [[[math.nan, 1]], [[1, -1]]], {}),
    (fc.CostError, r"map 1: cost at \(0, 1\) is 0.5", [[[1, 1]], [[1, 0.5]]], {}),
    (fc.MapError, "shape", np.ones((2, 2)), {}),
    (fc.MapError, "shape", np.ones((0, 2, 2)), {}),
    (fc.MapError, "shape", [[[1, 1]], [[1, 1]]], {"closed": np.zeros((1, 2), bool)}),
    (fc.MapError, "leave has shape", [[[1, 1]], [[1, 1]]], {"leave": np.zeros((1, 2))}),
    (fc.MapError, "full array", [[[1, 1]], [[1]]], {}),
    (fc.ArgumentTypeError, "numbers", [[["a", "b"]]], {}),
    (fc.ArgumentTypeError, "plain array", np.ma.masked_array(np.ones((1, 1, 1))), {}),
    (fc.RulesError, "corners", [[[1, 1]]], {"corners": "none"}),
    (fc.RulesError, "parity", [[[1, 1]]], {"parity": "none"}),
    (fc.RulesError, "diagonals", [[[1, 1]]], {"diagonals": "none"}),
]


@pytest.mark.parametrize(("error", "match", "cost", "options"), BAD_STACKS)
def test_bad_stacks(error, match, cost, options):
    with pytest.raises(error, match=match):
        fc.grid.stack(cost, **options)


@pytest.mark.parametrize(
    ("error", "match", "starts", "options"),
    [
        (fc.OutsideMapError, "outside map 1", [(0, 0), (1, 0)], {}),
        (fc.OutsideMapError, "outside map 0", [(0, -1), (1, 0)], {}),
        (fc.ClosedCellError, "closed cell of map 1", [(0, 0), (0, 1)], {}),
        (fc.ArgumentTypeError, "one cell a map", [(0, 0)], {}),
        (fc.ArgumentTypeError, "one cell a map", [(0.0, 0), (0, 0)], {}),
        (fc.ArgumentTypeError, "one cell a map", [(0,), (0, 0)], {}),
        (fc.CostError, "budget", [(0, 0), (0, 0)], {"budget": -1}),
        (fc.CostError, "length", [(0, 0), (0, 0)], {"budget": "3 m"}),
        (fc.CostError, "parity", [(0, 0), (0, 0)], {"parity_in": 3}),
        (fc.ArgumentTypeError, "initial", [(0, 0), (0, 0)], {"initial": [0, 0]}),
    ],
)
def test_bad_questions(error, match, starts, options):
    with pytest.raises(error, match=match):
        fc.grid.distances([[[1, 1]], [[1, math.inf]]], starts, **options)


def test_no_field_of_another_number():
    with pytest.raises(fc.MapError, match="map 2 is not one of 0 to 1"):
        fc.grid.stack(np.ones((2, 1, 1))).field(2)


def test_arrays_may_be_used_again():
    """What a stack was made of may change; the stack does not."""
    costs, closed = np.ones((2, 3, 3)), np.zeros((2, 3, 3), bool)
    leave = np.zeros((2, 3, 3), int)
    stacks = [fc.grid.stack(costs, closed=closed), fc.grid.stack(costs, leave=leave)]
    starts = [(0, 0)] * 2
    before = [stack.distances(starts) for stack in stacks]
    costs[:] = 7
    closed[:] = True
    leave[:] = 3
    for stack, wanted in zip(stacks, before, strict=True):
        assert np.array_equal(stack.distances(starts), wanted)
        assert stack.reach_many(starts)[0].cost.max() == wanted[0].max()

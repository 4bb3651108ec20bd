"""Tables of what lies between cells: against single lines, and the same both ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as fc_st
from fieldcraft.lattice import Lattice
from fieldcraft.pair_sums import MOST_CELLS, all_sums, has_sums, sums_from
from fieldcraft.sight_field import SightField


def random_field(rng, lattice, shape, **options):
    some = rng.integers(0, 4, shape).astype(np.uint8)
    return SightField(
        Lattice(lattice), shape,
        between=np.where(rng.random(shape) < 0.4, rng.integers(0, 3, shape), 0).astype(np.uint8),
        opaque=rng.random(shape) < 0.08, at_target=some, adjacent_viewer=some,
        light=np.full((1, 1), -1), **options,
    )  # fmt: skip


def by_single_lines(field):
    """Return the table from single sight lines of the same map with ends that count nothing."""
    bare = SightField(
        field.lattice, field.shape, between=field.between, opaque=field.opaque, threshold=None,
        line=field.line, tie=field.tie, corners=field.corners,
    )  # fmt: skip
    cells = [tuple(cell) for cell in np.argwhere(np.ones(field.shape, bool)).tolist()]
    limit = 2 * field.threshold - 1
    table = np.zeros((len(cells), len(cells)), np.int64)
    for i, a in enumerate(cells):
        for j, b in enumerate(cells):
            if i != j:
                table[i, j] = sum_of(bare, a, b, limit)
    return table


def sum_of(field, a, b, limit):
    """Return the halves that a line's cells take off it, as it explains itself."""
    passed = field.passed(a, b)
    if any(one.ends for one in passed):
        return limit
    return min(limit, round(2 * sum(one.points for one in passed)))


@fc_st.examples(60)
@given(
    seed=fc_st.seeds,
    lattice=st.sampled_from(fc_st.LATTICES),
    tie=st.sampled_from(fc_st.TIES),
    stepped=st.booleans(),
    shape=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    threshold=st.sampled_from([1, 2, 4, 30]),
    corners=st.sampled_from(["closed", "open"]),
)
def test_tables_are_made_of_single_lines(seed, lattice, tie, stepped, shape, threshold, corners):
    rng = np.random.default_rng(seed)
    line = "stepped" if stepped and not lattice.startswith("square") else "crossed"
    field = random_field(
        rng, lattice, shape, tie=tie, line=line, threshold=threshold, corners=corners
    )
    expected = by_single_lines(field)
    assert has_sums(field)
    np.testing.assert_array_equal(all_sums(field), expected)
    some = rng.integers(0, shape, (3, 2))
    rows = some[:, 0] * shape[1] + some[:, 1]
    np.testing.assert_array_equal(sums_from(field, some), expected[rows])


@pytest.mark.parametrize("lattice", ["odd-r", "even-q", "square"])
@pytest.mark.parametrize("shape", [(1, 40), (33, 2), (23, 31)])
def test_larger_tables_agree_with_batches_of_lines_and_both_ways(lattice, shape):
    field = random_field(np.random.default_rng(7), lattice, shape)
    cells = np.argwhere(np.ones(shape, bool))
    table = all_sums(field)
    np.testing.assert_array_equal(table, table.T)
    some = np.random.default_rng(8).integers(0, len(cells), (400, 2))
    bare = SightField(field.lattice, shape, between=field.between, opaque=field.opaque)
    sights = bare.sights(cells[some])
    halves = np.where(sights.visible, -sights.obstruction, 99)
    # Points are halves rounded up, and what is hidden is at the limit.
    found = table[some[:, 0], some[:, 1]].astype(int)
    np.testing.assert_array_equal(np.where(found < field._limit, (found + 1) // 2, 99), halves)
    np.testing.assert_array_equal(sums_from(field, cells[::50]), table[::50])


def test_where_there_is_no_table():
    flat = Lattice("odd-r")
    wide = (2, MOST_CELLS // 2 + 1)
    field = SightField(flat, (3, 3), between=np.zeros((3, 3), np.uint8))
    assert has_sums(field)
    raised = SightField(
        flat, (3, 3), between=np.zeros((3, 3), np.uint8), top=np.ones((3, 3)),
        viewer_eyes=np.zeros((1, 1)), target_eyes=np.zeros((1, 1)),
    )  # fmt: skip
    assert not has_sums(raised)
    assert not has_sums(SightField(flat, (3, 3), between=field.between, threshold=None))
    assert not has_sums(SightField(flat, (3, 3), between=field.between, threshold=100))
    assert all_sums(SightField(flat, wide, between=np.zeros(wide, np.uint8))) is None
    assert not has_sums(SightField(flat, wide, between=np.zeros(wide, np.uint8)))


def test_a_map_too_large_for_a_fan_is_refused_at_once():
    shape = (3000, 3000)
    field = SightField(Lattice("odd-r"), shape, between=np.zeros(shape, np.uint8))
    assert not has_sums(field)

"""Sight against the sums of a plain reference, line by line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from reference import hexlines, sightsum
from reference.sightsum import SightSpec, look

EXAMPLES = 120  # for each of six lattices


def draw_cells(data, spec: SightSpec, count: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(data.draw(strategies.seeds))
    rows = rng.integers(0, spec.height, count).tolist()
    cols = rng.integers(0, spec.width, count).tolist()
    return list(zip(rows, cols, strict=True))


def check(sight, expected: sightsum.Look) -> None:
    assert bool(sight) == sight.visible == expected.visible
    assert sight.obstruction == expected.obstruction
    assert sight.light == expected.light
    assert sight.malus == expected.malus
    if expected.spell_failure is None:
        assert sight.spell_failure is None
    else:
        assert sight.spell_failure == pytest.approx(expected.spell_failure)
    assert [tuple(map(int, cell)) for cell in sight.line] == list(expected.line)
    found = [(tuple(map(int, left)), tuple(map(int, right))) for left, right in sight.pairs]
    assert found == list(expected.pairs)


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(EXAMPLES)
@given(data=st.data())
def test_sights_equal_the_reference(lattice, data):
    spec = data.draw(strategies.sights(lattice))
    field = strategies.sight_field(spec)
    pairs = list(zip(draw_cells(data, spec, 12), draw_cells(data, spec, 12), strict=True))
    light = data.draw(st.sampled_from((None, 0, -2)))
    for (a, b), from_batch in zip(pairs, field.sights(np.array(pairs)), strict=True):
        expected = look(spec, a, b, light)
        check(field.sight(a, b, light=light), expected)
        check(from_batch, look(spec, a, b))


@pytest.mark.parametrize("tie", strategies.TIES)
@pytest.mark.parametrize("layout", strategies.HEXES)
@strategies.examples(25)
@given(data=st.data())
def test_lines_along_edges_with_every_tie_rule(layout, tie, data):
    spec = data.draw(strategies.sights(layout))
    field_of = {}
    for line in ("crossed", "stepped"):
        spec.line, spec.tie = line, tie
        field_of[line] = strategies.sight_field(spec)
    # Lines with pairs only: from each viewer all those among 60 targets.
    for a in draw_cells(data, spec, 3):
        for b in draw_cells(data, spec, 60):
            for line, field in field_of.items():
                spec.line = line
                if any(item.is_pair for item in hexlines.between(layout, a, b, line)):
                    check(field.sight(a, b), look(spec, a, b))


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(40)
@given(data=st.data())
def test_views_equal_the_reference(lattice, data):
    spec = data.draw(strategies.sights(lattice))
    radius = data.draw(st.sampled_from((0, 1, 2, 5, 9, 30)))
    light = data.draw(st.sampled_from((None, None, -3)))
    viewer = draw_cells(data, spec, 1)[0]
    view = strategies.sight_field(spec).view(viewer, radius, light=light)
    expected = {viewer: 0}
    for row in range(spec.height):
        for col in range(spec.width):
            target = (row, col)
            if target == viewer or sightsum.distance(spec, viewer, target) > radius:
                continue
            seen = look(spec, viewer, target, light)
            if seen.visible:
                expected[target] = seen.malus
    found = [tuple(cell) for cell in view.cells.tolist()]
    assert found == sorted(expected)  # row by row
    assert dict(zip(found, view.maluses.tolist(), strict=True)) == expected
    assert len(view) == len(expected)
    size = (spec.height, spec.width)
    assert view.visible.shape == view.malus.shape == size
    assert {tuple(cell) for cell in np.argwhere(view.visible).tolist()} == set(expected)
    hidden = np.ones(size, bool)
    for cell, malus in expected.items():
        assert cell in view
        assert view.malus[cell] == malus
        hidden[cell] = False
    assert np.all(view.malus[hidden] == -32_768)


@strategies.examples(60)
@given(strategies.sights(), st.data())
def test_view_is_the_single_sights(spec, data):
    field = strategies.sight_field(spec)
    viewer = draw_cells(data, spec, 1)[0]
    view = field.view(viewer, 40)
    for target in draw_cells(data, spec, 20):
        if target != viewer and sightsum.distance(spec, viewer, target) <= 40:
            sight = field.sight(viewer, target)
            assert (target in view) == sight.visible
            if sight:
                assert view.malus[target] == sight.malus


@pytest.mark.parametrize("tie", strategies.TIES)
@pytest.mark.parametrize(
    ("layout", "line"),
    [("odd-r", "crossed"), ("even-r", "stepped"), ("odd-q", "stepped"), ("even-q", "crossed")],
)
def test_sums_of_solid_ground_do_not_wrap(layout, line, tie):
    size = (123, 123)
    spec = SightSpec(layout, *size, between=np.full(size, 253, np.uint8), line=line, tie=tie)
    spec.at_target = spec.at_viewer = spec.between
    spec.threshold = None
    field = strategies.sight_field(spec)
    viewer = (61, 61)
    view = field.view(viewer, 60)
    targets = [cell for cell in hexlines.within(layout, viewer, 60)[::61] if cell != viewer]
    for target in targets:
        expected = look(spec, viewer, target)
        check(field.sight(viewer, target), expected)
        assert view.malus[target] == expected.malus
    # With a threshold the sum may be left early, and must not come out too small.
    spec.threshold = 126
    view = strategies.sight_field(spec).view(viewer, 60)
    for target in targets:
        assert (target in view) == look(spec, viewer, target).visible


def test_maluses_of_a_very_long_view_do_not_wrap():
    size = (1, 300)
    spec = SightSpec("odd-q", *size, between=np.full(size, 253, np.uint8), threshold=None)
    field = strategies.sight_field(spec)
    view = field.view((0, 0), 300)
    assert len(view) == 300
    assert np.all(np.diff(view.maluses) <= 0)
    assert field.sight((0, 0), (0, 299)).malus == look(spec, (0, 0), (0, 299)).malus


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(40)
@given(data=st.data())
def test_without_rules_for_the_ends_sight_is_symmetric(lattice, data):
    spec = data.draw(strategies.sights(lattice))
    spec.at_target = spec.at_viewer = spec.adjacent_target = spec.adjacent_viewer = None
    spec.light = None
    field = strategies.sight_field(spec)
    cells = draw_cells(data, spec, 24)
    for a, b in zip(cells[::2], cells[1::2], strict=True):
        there, back = field.sight(a, b), field.sight(b, a)
        assert (there.visible, there.obstruction) == (back.visible, back.obstruction)


# ---- By hand -----------------------------------------------------------------------------------


def on_axial(obstruction, opaque=(), off=(), **options):
    """Return a sight field on odd-r with axial hexes shifted by (6, 6), and the shift."""
    size = (13, 16)

    def cell(hexagon):
        q, r = hexagon
        row = r + 6
        return row, q + 6 + (row - row % 2) // 2 - 3

    between = np.zeros(size, np.uint8)
    for hexagon, halves in obstruction.items():
        between[cell(hexagon)] = halves
    closed = np.zeros(size, bool)
    for hexagon in opaque:
        closed[cell(hexagon)] = True
    spec = SightSpec("odd-r", *size, between=between, opaque=closed, **options)
    return strategies.sight_field(spec), cell


# The line from (0, 0) to (2, 2) runs between (1, 0) and (0, 1), through (1, 1), and between
# (2, 1) and (1, 2). Walking there (down to the right, pointy tops) (1, 0) and (2, 1) are left.
@pytest.mark.parametrize(
    ("tie", "points"),
    [("worst-side", 4), ("best-side", 3), ("worst-hex", 5), ("best-hex", 2), ("both", 6)],
)
def test_ties_by_hand_hw_14(tie, points):
    obstruction = {(1, 0): 6, (0, 1): 2, (1, 1): 2, (2, 1): 0, (1, 2): 2}
    field, cell = on_axial(obstruction, tie=tie, threshold=None)
    there = field.sight(cell((0, 0)), cell((2, 2)))
    back = field.sight(cell((2, 2)), cell((0, 0)))
    assert there.obstruction == back.obstruction == -points
    assert there.pairs == [(cell((1, 0)), cell((0, 1))), (cell((2, 1)), cell((1, 2)))]
    assert back.pairs == [(cell((1, 2)), cell((2, 1))), (cell((0, 1)), cell((1, 0)))]


@pytest.mark.parametrize(
    ("tie", "seen_one", "seen_both"),
    [
        ("worst-side", False, False),
        ("best-side", True, False),
        ("worst-hex", False, False),
        ("best-hex", True, True),
        ("both", False, False),
    ],
)
def test_opaque_hexes_beside_the_line(tie, seen_one, seen_both):
    # One opaque hex left of the line; then another right of it, further on.
    field, cell = on_axial({}, opaque=[(1, 0)], tie=tie)
    assert field.sight(cell((0, 0)), cell((2, 2))).visible == seen_one
    field, cell = on_axial({}, opaque=[(1, 0), (1, 2)], tie=tie)
    sight = field.sight(cell((0, 0)), cell((2, 2)))
    assert sight.visible == seen_both
    assert (sight.obstruction is None) == (not seen_both)


def test_threshold_in_halves_hw_02_hw_05():
    for halves, visible in ((6, True), (7, False), (8, False)):
        field, cell = on_axial({(1, 0): halves})
        sight = field.sight(cell((0, 0)), cell((2, 0)))
        assert sight.visible == visible
        assert sight.obstruction == -((halves + 1) // 2)


def test_corner_where_two_walls_touch():
    # Walls south and east of (0, 0) meet in its corner; the other diagonal goes round them.
    size = (2, 2)
    south_and_east = np.array([[6, 8], [1, 0]], np.uint8)
    for corners, seen in (("closed", False), ("open", True)):
        spec = SightSpec(
            "square", *size, between=np.zeros(size, np.uint8), walls=south_and_east, corners=corners
        )
        field = strategies.sight_field(spec)
        assert field.sight((0, 0), (1, 1)).visible == seen
        assert field.sight((1, 1), (0, 0)).visible == seen
        assert field.sight((0, 1), (1, 0)).visible
        assert not field.sight((0, 0), (0, 1)).visible
    one = np.array([[4, 0], [1, 0]], np.uint8)
    spec = SightSpec("square", *size, between=np.zeros(size, np.uint8), walls=one)
    assert strategies.sight_field(spec).sight((0, 0), (1, 1)).visible

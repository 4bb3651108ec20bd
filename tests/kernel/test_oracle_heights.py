"""Sight over heights: from eye to eye, against clipping with polygons in fractions."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fieldcraft.errors import ArgumentTypeError, MapError, RulesError
from fieldcraft.fields import SightField
from fieldcraft.lattice import Lattice
from fieldcraft_kernel import sight as kernel
from fieldcraft_kernel.lattice import LATTICE_KINDS
from reference import heights, hexlines, sightsum, squarelines
from reference.sightsum import SightSpec, look


def passed(lattice: str, a, b) -> list[tuple[int, int]]:
    """Return the cells a line passes: crossed, along an edge, or (squares) at a corner."""
    if a == b:
        return []
    if not lattice.startswith("square"):
        return [cell for item in hexlines.between(lattice, a, b) for cell in item]
    found = []
    for item in squarelines.between(a, b):
        square = isinstance(item, squarelines.Square)
        found += [item.cell] if square else [item.left, item.right]
    return found


def frame(lattice: str, cells) -> np.ndarray:
    tiling = Lattice(lattice)
    array = np.array(cells, np.int64)
    return tiling.to_axial(array) if tiling.is_hex else array


def reaches(lattice: str, top: int, eyes, a, b, cell) -> bool:
    here, there, at = frame(lattice, [a, b, cell]).tolist()
    return bool(
        kernel.reaches(
            LATTICE_KINDS[lattice], top, *eyes,
            at[0] - here[0], at[1] - here[1], there[0] - here[0], there[1] - here[1],
        )
    )  # fmt: skip


# ---- The kernel's test -------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", ["square", *strategies.HEXES])
def test_a_top_reaches_the_line_as_the_fractions_say(lattice):
    rng = np.random.default_rng(9)
    compared = on_the_line = 0
    for _ in range(1_500):
        a, b = (tuple(cell) for cell in rng.integers(-14, 15, (2, 2)).tolist())
        eyes = tuple(rng.integers(-4_000, 9_000, 2).tolist())
        if rng.random() < 0.1:
            eyes = eyes[0], eyes[0]
        cells = passed(lattice, a, b)
        for cell in rng.permutation(len(cells))[:4].tolist():
            least = heights.lowest(lattice, a, b, eyes, cells[cell])
            around = math.floor(least)
            for top in (around - 1, around, around + 1, kernel.NO_TOP, 1 << 30):
                found = reaches(lattice, top, eyes, a, b, cells[cell])
                assert found == (top >= least), (a, b, eyes, cells[cell], top)
                assert found == reaches(lattice, top, eyes[::-1], b, a, cells[cell])
            compared += 1
            on_the_line += least == around
    assert compared > 3_000
    assert on_the_line > 100


@pytest.mark.parametrize("lattice", ["square", *strategies.HEXES])
def test_the_largest_heights_and_longest_lines_do_not_wrap(lattice):
    """Heights of a million units, over a line of 2^23 cells."""
    far = 1 << 23
    most = 10**9
    for a, b in (((0, 0), (far, 0)), ((0, 0), (0, far)), ((far, far), (0, 0))):
        for eyes in ((-most, most), (most, -most), (most, most), (-most, -most)):
            for part in (1, far // 2, far - 1):
                cell = a[0] + (b[0] - a[0]) // far * part, a[1] + (b[1] - a[1]) // far * part
                if heights.stretch(lattice, a, b, cell) is None:
                    continue  # columns of hexagons beside the line
                least = heights.lowest(lattice, a, b, eyes, cell)
                for top in (math.floor(least), math.ceil(least), -most, most, kernel.NO_TOP):
                    assert reaches(lattice, top, eyes, a, b, cell) == (top >= least)


# ---- Fields ------------------------------------------------------------------------------------


def cells_of(data, spec: SightSpec, count: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(data.draw(strategies.seeds))
    rows = rng.integers(0, spec.height, count).tolist()
    return list(zip(rows, rng.integers(0, spec.width, count).tolist(), strict=True))


def check(sight, expected: sightsum.Look) -> None:
    assert (sight.visible, sight.obstruction) == (expected.visible, expected.obstruction)
    assert (sight.light, sight.malus) == (expected.light, expected.malus)
    assert [tuple(cell) for cell in sight.line.tolist()] == list(expected.line)
    assert sight.pairs == list(expected.pairs)


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(120)
@given(data=st.data())
def test_sights_equal_the_reference(lattice, data):
    spec = data.draw(strategies.raised(lattice))
    field = strategies.sight_field(spec)
    pairs = list(zip(cells_of(data, spec, 12), cells_of(data, spec, 12), strict=True))
    pairs.append((pairs[0][0], pairs[0][0]))
    light = data.draw(st.sampled_from((None, -2)))
    for (a, b), from_batch in zip(pairs, field.sights(np.array(pairs)), strict=True):
        check(field.sight(a, b, light=light), look(spec, a, b, light))
        check(from_batch, look(spec, a, b))


@pytest.mark.parametrize("tie", strategies.TIES)
@pytest.mark.parametrize("layout", strategies.HEXES)
@strategies.examples(25)
@given(data=st.data())
def test_lines_along_edges_with_every_tie_rule(layout, tie, data):
    spec = data.draw(strategies.raised(layout))
    spec.tie = tie
    field = strategies.sight_field(spec)
    for a in cells_of(data, spec, 3):
        for b in cells_of(data, spec, 60):
            if any(item.is_pair for item in hexlines.between(layout, a, b)):
                check(field.sight(a, b), look(spec, a, b))


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(40)
@given(data=st.data())
def test_views_equal_the_reference(lattice, data):
    spec = data.draw(strategies.raised(lattice))
    radius = data.draw(st.sampled_from((0, 1, 2, 5, 9, 30)))
    viewer = cells_of(data, spec, 1)[0]
    view = strategies.sight_field(spec).view(viewer, radius)
    expected = {}
    for row in range(spec.height):
        for col in range(spec.width):
            if sightsum.distance(spec, viewer, (row, col)) <= radius:
                seen = look(spec, viewer, (row, col))
                if seen.visible:
                    expected[row, col] = seen.malus
    found = [tuple(cell) for cell in view.cells.tolist()]
    assert dict(zip(found, view.maluses.tolist(), strict=True)) == expected


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(60)
@given(data=st.data())
def test_who_sees_is_seen(lattice, data):
    """With eyes of its own for each cell, swapped with the ends."""
    spec = data.draw(strategies.raised(lattice))
    spec.at_target = spec.at_viewer = spec.adjacent_target = spec.adjacent_viewer = None
    spec.light = None
    field = strategies.sight_field(spec)
    spec.viewer_eyes, spec.target_eyes = spec.target_eyes, spec.viewer_eyes
    swapped = strategies.sight_field(spec)
    cells = cells_of(data, spec, 24)
    for a, b in zip(cells[::2], cells[1::2], strict=True):
        there, back = field.sight(a, b), swapped.sight(b, a)
        assert (there.visible, there.obstruction) == (back.visible, back.obstruction)


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(60)
@given(data=st.data())
def test_the_explanation_adds_up(lattice, data):
    spec = data.draw(
        strategies.raised(lattice) if data.draw(st.booleans()) else strategies.sights(lattice)
    )
    field = strategies.sight_field(spec)
    for a, b in zip(cells_of(data, spec, 10), cells_of(data, spec, 10), strict=True):
        sight = field.sight(a, b)
        table = sight.explain()
        parts = list(table)
        assert (parts[0].cell, parts[0].where) == (a, "viewer")
        assert all(part.points >= 0 for part in parts)
        ended = [part.ends for part in parts if part.ends]
        assert len(ended) == (sight.obstruction is None)
        # Up to the end the cells are those of the line; of a pair the other may end it.
        shown = [part.cell for part in parts if part.where != "corner"]
        line = [tuple(cell) for cell in sight.line.tolist()][: len(shown)]
        if parts[-1].where == "both" and parts[-1].ends:
            assert shown.pop() in (*sight.pairs[sum(p.where == "both" for p in parts) - 1],)
            line.pop()
        assert shown == line or a == b
        if sight.obstruction is not None:
            assert -math.ceil(sum(part.points for part in parts)) == sight.obstruction
            assert (parts[-1].cell, parts[-1].where) == (b, "target")
            sides = [part.cell for part in parts if part.where in ("left", "right", "both")]
            assert len(sides) == len(sight.pairs)
            assert all(c in pair for c, pair in zip(sides, sight.pairs, strict=True))
        else:
            why(spec, a, b, parts[-1])


def why(spec: SightSpec, a, b, last) -> None:
    """Check what is said to end a line."""
    if last.ends == "opaque":
        assert spec.is_opaque(last.cell)
    elif last.ends == "height":
        assert spec.is_high(a, b, last.cell)
        assert not spec.is_opaque(last.cell)
    elif last.ends == "corner":
        assert spec.lattice.startswith("square")
        assert heights.stretch(spec.lattice, a, b, last.cell) is not None
    else:
        assert last.ends == "border"
        assert spec.walls is not None


def test_eyes_that_are_the_same_everywhere():
    rng = np.random.default_rng(4)
    for lattice in strategies.LATTICES:
        size = (14, 15)
        spec = SightSpec(lattice, *size, between=np.zeros(size, np.uint8), threshold=None)
        spec.top = rng.integers(0, 4, size).astype(float)
        spec.viewer_eyes, spec.target_eyes = np.full(size, 2.5), np.full(size, 1.5)
        whole = strategies.sight_field(spec)
        spec.viewer_eyes, spec.target_eyes = np.full((1, 1), 2.5), np.full((1, 1), 1.5)
        one = strategies.sight_field(spec)
        for viewer in ((0, 0), (7, 7), (13, 2)):
            assert one.view(viewer, 30) == whole.view(viewer, 30)


def test_heights_below_every_eye_change_nothing():
    rng = np.random.default_rng(5)
    size = (12, 12)
    between = rng.integers(0, 2, size).astype(np.uint8)
    flat = SightField(Lattice("odd-q"), size, between=between)
    low = SightField(
        Lattice("odd-q"), size, between=between, top=np.full(size, 1.999),
        viewer_eyes=np.array([[2.0]]), target_eyes=np.array([[2]]),
    )  # fmt: skip
    assert flat.view((5, 5), 12) == low.view((5, 5), 12)
    level = SightField(
        Lattice("odd-q"), size, between=between, top=np.full(size, 2.0),
        viewer_eyes=np.array([[2.0]]), target_eyes=np.array([[2]]),
    )  # fmt: skip
    assert len(level.view((5, 5), 12)) == 7, "a top at the line ends it; neighbours are seen"


# ---- By hand -----------------------------------------------------------------------------------


def squares(top, eyes, corners="closed", opaque=None):
    """Return a field of squares with a top of each; the eyes of viewer and target."""
    top = np.array(top, float)
    shape = (top.shape[0], top.shape[1])
    return SightField(
        Lattice("square"), shape, between=np.zeros(shape, np.uint8), threshold=None, top=top,
        viewer_eyes=np.array([[eyes[0]]]), target_eyes=np.array([[eyes[1]]]), corners=corners,
        opaque=opaque,
    )  # fmt: skip


def test_a_row_of_squares_by_hand():
    """From 2 up to 4 over four squares: the line is at 2.25 where it enters the first between."""
    for at, least in ((1, 2.25), (2, 2.75), (3, 3.25)):
        for top, seen in ((least, False), (least - 0.001, True)):
            row = [0.0] * 5
            row[at] = top
            assert squares([row], (2, 4)).sight((0, 0), (0, 4)).visible == seen
            assert squares([row], (4, 2)).sight((0, 4), (0, 0)).visible == seen


def test_the_ends_themselves_never_block():
    assert squares([[9, 0, 9]], (2, 2)).sight((0, 0), (0, 2))
    assert squares([[9, 9]], (2, 2)).sight((0, 0), (0, 1))


def test_a_corner_is_closed_where_both_tops_reach_the_line_there():
    """From 1 up to 3 over one corner: the line passes it at 2."""
    for tops, seen in (((2, 2), False), ((2, 1.999), True), ((1.999, 2), True), ((9, 9), False)):
        top = [[0, tops[0]], [tops[1], 0]]
        assert squares(top, (1, 3)).sight((0, 0), (1, 1)).visible == seen
        assert squares(top, (3, 1)).sight((1, 1), (0, 0)).visible == seen
        assert squares(top, (1, 3), corners="open").sight((0, 0), (1, 1)).visible
    # An opaque square on one side, a top on the other.
    opaque = np.array([[False, True], [False, False]])
    assert not squares([[0, 0], [2, 0]], (1, 3), opaque=opaque).sight((0, 0), (1, 1))
    assert squares([[0, 0], [1.9, 0]], (1, 3), opaque=opaque).sight((0, 0), (1, 1))


def test_hexagons_in_a_row_by_hand():
    """From 0 up to 8 over four hexagons: the second is entered after 3/8 of the way."""
    for at, least in ((1, 1.0), (2, 3.0), (3, 5.0)):
        for top, seen in ((least, False), (least - 0.001, True)):
            tops = np.full((1, 5), -1.0)
            tops[0, at] = top
            field = SightField(
                Lattice("odd-r"), (1, 5), between=np.zeros((1, 5), np.uint8), top=tops,
                viewer_eyes=np.array([[0.0]]), target_eyes=np.array([[8.0]]),
            )  # fmt: skip
            assert field.sight((0, 0), (0, 4)).visible == seen


def test_the_explanation_names_what_ends_the_line():
    sight = squares([[0, 3, 0]], (2, 2)).sight((0, 0), (0, 2))
    assert str(sight.explain()).splitlines() == [
        "cell  where    points",
        "0,0   viewer        0",
        "0,1   between          high enough to end the line",
        "      light         0",
        "      malus    hidden",
    ]
    assert pickle.loads(pickle.dumps(sight)).explain() == sight.explain()
    corner = squares([[0, 2], [2, 0]], (1, 3)).sight((0, 0), (1, 1)).explain()
    assert [part.ends for part in corner] == ["", "corner"]


# ---- Bad input ---------------------------------------------------------------------------------


def field_with(**options):
    given_ = {
        "top": np.zeros((2, 3)), "viewer_eyes": np.ones((1, 1)), "target_eyes": np.ones((2, 3)),
        **options,
    }  # fmt: skip
    return SightField(Lattice("odd-r"), (2, 3), between=np.zeros((2, 3), np.uint8), **given_)


def test_bad_heights_are_refused():
    field_with()
    with pytest.raises(RulesError, match="stepped"):
        field_with(line="stepped")
    for missing in ("top", "viewer_eyes", "target_eyes"):
        with pytest.raises(MapError, match="together or not at all"):
            field_with(**{missing: None})
    with pytest.raises(MapError, match=r"top must be numbers of shape \(2, 3\), not \(3, 2\)"):
        field_with(top=np.zeros((3, 2)))
    with pytest.raises(MapError, match=r"viewer_eyes must be numbers"):
        field_with(viewer_eyes=np.array([["a"]]))
    for value in (np.nan, np.inf, -np.inf, 1_000_001.0, -1e300):
        with pytest.raises(MapError, match=r"target_eyes at \(0, 0\)"):
            field_with(target_eyes=np.full((2, 3), value))
    for value in (1_000_001.0, -1e300):
        with pytest.raises(MapError, match=r"top at \(1, 2\)"):
            field_with(top=np.array([[0, 0, 0], [0, 0, value]]))
    for value in (-1, 0.5, True, "1"):
        with pytest.raises(ArgumentTypeError, match="levels_apart"):
            field_with(levels_apart=value)


def test_given_heights_are_not_kept_open_nor_closed():
    top = np.array([[0.0, 5.0, 0.0]])
    eyes = np.array([[1.0]])
    field = SightField(
        Lattice("odd-r"), (1, 3), between=np.zeros((1, 3), np.uint8),
        top=top, viewer_eyes=eyes, target_eyes=eyes,
    )  # fmt: skip
    top[0, 1] = eyes[0, 0] = 0.0
    assert not field.sight((0, 0), (0, 2))
    assert not pickle.loads(pickle.dumps(field)).sight((0, 0), (0, 2))

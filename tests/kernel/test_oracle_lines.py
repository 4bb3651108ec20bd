"""Lines of sight against exact references: which cells they cross, and what they run between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fieldcraft.lattice import Lattice
from fieldcraft.sight_field import trace
from reference import hexlines, squarelines
from reference.sightsum import SightSpec

RADIUS = 40


def line_field(lattice: str, size: tuple[int, int], line: str = "crossed", tie: str = "both"):
    spec = SightSpec(lattice, *size, between=np.zeros(size, np.uint8), line=line, tie=tie)
    return strategies.sight_field(spec)


def cells(array) -> list[tuple[int, int]]:
    return [(int(row), int(col)) for row, col in array]


def pairs(sight) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [(tuple(map(int, left)), tuple(map(int, right))) for left, right in sight.pairs]


# ---- The reference itself ----------------------------------------------------------------------


def nearest_hexes(layout: str, a, b, parts: int) -> list[set[tuple[int, int]]]:
    """Return the hexes whose centres are nearest to points along the segment, none at a corner."""
    (ax, ay), (bx, by) = hexlines.centre(layout, a), hexlines.centre(layout, b)
    flat = layout.endswith("q")
    hexes = hexlines.within(layout, a, hexlines.distance(layout, a, b) + 1)
    centres = np.array([hexlines.centre(layout, cell) for cell in hexes])
    found = []
    for k in range(1, parts):
        # Everything times `parts`, so that all is whole. In real distances half a hexagon's width
        # is sqrt(3) times half its side.
        right = parts * (centres[:, 0] - ax) - k * (bx - ax)
        down = parts * (centres[:, 1] - ay) - k * (by - ay)
        square = right**2 + 3 * down**2 if flat else 3 * right**2 + down**2
        found.append({hexes[i] for i in np.flatnonzero(square == square.min())})
    return found


@pytest.mark.parametrize("layout", strategies.HEXES)
def test_reference_names_the_nearest_hexes(layout):
    a = (3, 4)
    for b in hexlines.within(layout, a, 7):
        line = [{a}, *({left, right} for left, right in hexlines.between(layout, a, b)), {b}]
        # Points dense enough to fall into every stretch; 211 is prime, so none is on a border
        # that the line crosses.
        seen: list[set[tuple[int, int]]] = []
        for here in nearest_hexes(layout, a, b, 211):
            if not seen or seen[-1] != here:
                seen.append(here)
        assert all(len(here) <= 2 for here in seen)
        assert seen == (line if a != b else [{a}]), b


@pytest.mark.parametrize("layout", strategies.HEXES)
@pytest.mark.parametrize("a", [(8, 8), (9, 9)])
def test_reference_gives_the_figures_of_hw_14(layout, a):
    more = runs = 0
    targets = [b for b in hexlines.within(layout, a, 6) if b != a]
    assert len(targets) == 126
    for b in targets:
        crossed = hexlines.between(layout, a, b)
        stepped = hexlines.between(layout, a, b, "stepped")
        assert len(stepped) == hexlines.distance(layout, a, b) - 1
        more += len(crossed) > len(stepped)
        runs += any(item.is_pair for item in crossed)
        ties = {cell for item in stepped if item.is_pair for cell in item}
        assert {c for item in crossed for c in item} ^ {c for item in stepped for c in item} <= ties
    assert (more, runs) == (24, 18)


def test_reference_cuts_tips_from_distance_7_on():
    a, b = (2, 0), (1, 6)
    crossed = {cell for item in hexlines.between("odd-r", a, b) for cell in item}
    stepped = {cell for item in hexlines.between("odd-r", a, b, "stepped") for cell in item}
    assert hexlines.distance("odd-r", a, b) == 7
    assert stepped < crossed
    assert not any(item.is_pair for item in hexlines.between("odd-r", a, b, "stepped"))


# ---- The library -------------------------------------------------------------------------------


def entries(lattice: str, a, b, line: str = "crossed") -> list[tuple[tuple[int, int], ...]]:
    """Return (left, right) of each entry of the kernel's line; corners of squares with a mark."""
    found = []
    for *cells, what in trace(Lattice(lattice), a, b, line=line).tolist():
        left, right = tuple(cells[:2]), tuple(cells[2:])
        assert (what == 0) == (left == right)
        found.append((left, right, "corner") if what == 2 else (left, right))
    return found


@pytest.mark.parametrize("line", ["crossed", "stepped"])
@pytest.mark.parametrize("layout", strategies.HEXES)
def test_hex_lines_within_40_equal_the_reference(layout, line):
    for a in ((0, 0), (-3, -3)):  # both parities
        targets = hexlines.within(layout, a, RADIUS)
        assert len(targets) == 3 * RADIUS * (RADIUS + 1) + 1
        for b in targets:
            expected = [tuple(item) for item in hexlines.between(layout, a, b, line)]
            assert entries(layout, a, b, line) == expected, (a, b)
            # Backwards the same, and what was left is right.
            back = [(right, left) for left, right in reversed(expected)]
            assert entries(layout, b, a, line) == back, (a, b)


@pytest.mark.parametrize("line", ["crossed", "stepped"])
@pytest.mark.parametrize("layout", strategies.HEXES)
def test_sights_show_the_line(layout, line):
    field = line_field(layout, (20, 21), line)
    for a in ((9, 9), (10, 10)):
        targets = hexlines.within(layout, a, 9)
        sights = field.sights(np.array([(a, b) for b in targets]))
        for b, sight in zip(targets, sights, strict=True):
            stages = hexlines.between(layout, a, b, line)
            expected = [a, *(left for left, _ in stages), b] if a != b else [a]
            assert cells(sight.line) == expected, (a, b)
            assert pairs(sight) == [tuple(stage) for stage in stages if stage.is_pair], (a, b)


@pytest.mark.parametrize("lattice", ["square", "square4"])
def test_square_lines_equal_the_reference(lattice):
    radius = 20
    a = (radius, radius)
    targets = [(row, col) for row in range(2 * radius + 1) for col in range(2 * radius + 1)]
    sights = line_field(lattice, (2 * radius + 1, 2 * radius + 1)).sights(
        np.array([(a, b) for b in targets])
    )
    for b, sight in zip(targets, sights, strict=True):
        expected = [
            (item.cell, item.cell)
            if isinstance(item, squarelines.Square)
            else (item.left, item.right, "corner")
            for item in squarelines.between(a, b)
        ]
        if a == b:
            expected = []
        assert entries(lattice, a, b) == expected, b
        back = [(item[1], item[0], *item[2:]) for item in reversed(expected)]
        assert entries(lattice, b, a) == back, b
        passed = [item[0] for item in expected if len(item) == 2]
        assert cells(sight.line) == ([a, *passed, b] if a != b else [a]), b
        assert pairs(sight) == []


@strategies.examples(200)
@given(st.sampled_from(strategies.HEXES), st.sampled_from(("crossed", "stepped")), st.data())
def test_hexes_off_the_map_are_left_out(layout, line, data):
    size = data.draw(st.tuples(st.integers(1, 24), st.integers(1, 24)))
    cell = st.tuples(st.integers(0, size[0] - 1), st.integers(0, size[1] - 1))
    a, b = data.draw(cell), data.draw(cell)
    spec = SightSpec(layout, *size, between=np.zeros(size, np.uint8), line=line)
    sight = strategies.sight_field(spec).sight(a, b)
    stages = [
        [cell for cell in item if spec.has(cell)] for item in hexlines.between(layout, a, b, line)
    ]
    stages = [stage for stage in stages if stage]
    expected = [a, *(stage[0] for stage in stages), b] if a != b else [a]
    assert cells(sight.line) == expected
    assert pairs(sight) == [tuple(stage) for stage in stages if stage[0] != stage[-1]]

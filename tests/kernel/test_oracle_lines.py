"""Lines of sight against exact references: which cells they cross, and what they run between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from reference import hexlines, squarelines
from reference.sightsum import SightSpec

RADIUS = 40
SIDE = 2 * RADIUS + 6


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


@pytest.mark.parametrize("line", ["crossed", "stepped"])
@pytest.mark.parametrize("layout", strategies.HEXES)
def test_hex_lines_within_40_equal_the_reference(layout, line):
    field = line_field(layout, (SIDE, SIDE), line)
    for a in ((RADIUS + 2, RADIUS + 2), (RADIUS + 3, RADIUS + 3)):  # both parities
        targets = hexlines.within(layout, a, RADIUS)
        assert len(targets) == 3 * RADIUS * (RADIUS + 1) + 1
        there = field.sights(np.array([(a, b) for b in targets]))
        back = field.sights(np.array([(b, a) for b in targets]))
        for b, sight, reverse in zip(targets, there, back, strict=True):
            stages = hexlines.between(layout, a, b, line)
            expected = [a, *(left for left, _ in stages), b] if a != b else [a]
            ties = [tuple(stage) for stage in stages if stage.is_pair]
            assert cells(sight.line) == expected, (a, b)
            assert pairs(sight) == ties, (a, b)
            # Backwards the same: what was left is right.
            assert pairs(reverse) == [(right, left) for left, right in reversed(ties)], (a, b)
            right_side = [a, *(right for _, right in stages), b] if a != b else [a]
            assert cells(reverse.line) == right_side[::-1], (a, b)


@pytest.mark.parametrize("lattice", ["square", "square4"])
def test_square_lines_equal_the_reference(lattice):
    radius = 24
    field = line_field(lattice, (2 * radius + 1, 2 * radius + 1))
    a = (radius, radius)
    targets = [(row, col) for row in range(2 * radius + 1) for col in range(2 * radius + 1)]
    there = field.sights(np.array([(a, b) for b in targets]))
    back = field.sights(np.array([(b, a) for b in targets]))
    for b, sight, reverse in zip(targets, there, back, strict=True):
        expected = [a, *squarelines.crossed(a, b), b] if a != b else [a]
        assert cells(sight.line) == expected, b
        assert cells(reverse.line) == expected[::-1], b
        assert pairs(sight) == []


@settings(max_examples=200)
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
    assert pairs(sight) == [tuple(stage) for stage in stages if stage[0] != stage[1]]

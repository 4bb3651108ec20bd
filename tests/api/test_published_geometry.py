"""Distances, neighbours and rings that MegaMek and Battle for Wesnoth publish in their own tests.

Both count columns before rows; their boards have flat tops and push odd columns down (odd-q).
"""

import json

import numpy as np
import pytest

from fieldcraft.lattice import Lattice
from sharedfolder import shared_dir

ODD_Q = Lattice("odd-q")


def cell(point):
    """Turn (column, row), from 0, into (row, column)."""
    return point[1], point[0]


def numbered(point):
    """Turn a board number, column first and both from 1, into (row, column)."""
    return point[1] - 1, point[0] - 1


@pytest.fixture(scope="module")
def megamek():
    return json.loads(shared_dir("data", "megamek", "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wesnoth():
    path = shared_dir("data", "wesnoth", "expected_distances.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.shared
def test_megamek_distances(megamek):
    assert len(megamek["distance"]) == 2
    for pair in megamek["distance"]:
        assert ODD_Q.distance(cell(pair["a"]), cell(pair["b"])) == pair["distance"]


@pytest.mark.shared
def test_megamek_translations(megamek):
    assert len(megamek["translated"]) == 9
    for move in megamek["translated"]:
        found = ODD_Q.neighbor(cell(move["from"]), move["dir"], move["steps"])
        assert found == numbered(move["board_number"])


@pytest.mark.shared
def test_megamek_three_steps_in_each_direction(megamek):
    given = megamek["three_steps_each_dir"]
    found = [ODD_Q.neighbor(cell(given["from"]), direction, 3) for direction in range(6)]
    assert found == [numbered(point) for point in given["dirs_0_to_5_board_numbers"]]


@pytest.mark.shared
def test_megamek_neighbours_in_direction_order(megamek):
    given = megamek["neighbours"]
    found = ODD_Q.neighbors(cell(given["of"]))
    assert found == [numbered(point) for point in given["dirs_0_to_5_board_numbers"]]


@pytest.mark.shared
def test_megamek_rings(megamek):
    rings = megamek["ring"]
    for radius in (1, 2):
        found = ODD_Q.ring(cell(rings["center"]), radius)
        assert len(found) == 6 * radius
        assert set(found) == {cell(point) for point in rings[str(radius)]}


@pytest.mark.shared
def test_wesnoth_distances(wesnoth):
    pairs = wesnoth["pairs"]
    assert len(pairs) == 55
    a = np.array([cell(pair["a"]) for pair in pairs])
    b = np.array([cell(pair["b"]) for pair in pairs])
    expected = [pair["distance"] for pair in pairs]
    assert ODD_Q.distances(a, b).tolist() == expected
    assert ODD_Q.distances(b, a).tolist() == expected
    assert [ODD_Q.distance(tuple(i), tuple(j)) for i, j in zip(a, b, strict=True)] == expected

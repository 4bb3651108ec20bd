"""Jump points against networkx and the ordinary searches; words of bits against plain Python."""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from fieldcraft.fields import StepField, legal_steps
from fieldcraft.lattice import Lattice
from fieldcraft_kernel import bits, jump, words
from reference.graph import SQRT2

SQUARE = Lattice("square")
PAIRS = ((1, 1), (70, 99), (2, 3), (1, 2), (5, 7), (1.0, SQRT2), (1.0, 1.25), (0.3, 0.4))


def uniform_field(open_: np.ndarray, corners: str, pair=(1, 1), price: float = 1) -> StepField:
    """Return a field of one price."""
    steps = legal_steps(SQUARE, open_, corners=corners)
    return StepField(SQUARE, open_.shape, steps=steps, enter=np.full(open_.shape, price),
                     diagonal=pair)  # fmt: skip


def blobs(rng: np.random.Generator, shape: tuple[int, int], share: float) -> np.ndarray:
    """Return open cells of a map with obstacles of all sizes, so that there are long runs."""
    open_ = np.ones(shape, bool)
    while (~open_).mean() < share:
        row, col = (int(rng.integers(0, n)) for n in shape)
        high, wide = (int(x) for x in rng.integers(1, 2 + np.array(shape) // 4))
        open_[row : row + high, col : col + wide] = False
        if rng.random() < 0.3:
            open_[row + high // 2 : row + high, col : col + wide // 2] = True
    return open_


@st.composite
def open_maps(draw: st.DrawFn) -> np.ndarray:
    """Draw which cells of a map are open: noise, or blobs, also wider than two words."""
    shape = draw(st.one_of(fc_st.shapes, st.sampled_from(((3, 140), (140, 3), (9, 70), (70, 9)))))
    rng = np.random.default_rng(draw(fc_st.seeds))
    share = draw(st.sampled_from((0.0, 0.02, 0.1, 0.2, 0.3, 0.45)))
    if draw(st.booleans()):
        return rng.random(shape) >= share
    return blobs(rng, shape, share)


def check_path(field: StepField, path: fc.Path, open_: np.ndarray, corners: str) -> None:
    """Check that a path steps from neighbour to neighbour by the rules, and its cost and steps."""
    cells = list(map(tuple, path.cells.tolist()))
    assert len(path) == len(cells) - 1
    assert len(set(cells)) == len(cells)
    for (r0, c0), (r1, c1) in pairwise(cells):
        assert max(abs(r1 - r0), abs(c1 - c0)) == 1
        assert open_[r1, c1]
        if r0 != r1 and c0 != c1 and corners == "both":
            assert open_[r0, c1]
            assert open_[r1, c0]
    assert [step.to for step in path.steps] == cells[1:]
    assert sum(step.cost for step in path.steps) == pytest.approx(path.cost, rel=1e-12)


# ---- Paths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("corners", ["both", "free"])
@fc_st.examples(120)
@given(data=st.data())
def test_jump_points_find_the_least_cost(corners, data):
    open_ = data.draw(open_maps())
    pair = data.draw(st.sampled_from(PAIRS))
    price = data.draw(st.sampled_from((1, 3) if isinstance(pair[0], int) else (1.0, 0.7)))
    field = uniform_field(open_, corners, pair, price)
    cells = np.argwhere(open_)
    if not len(cells):
        return
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    start = tuple(rng.choice(cells).tolist())
    distances = field.reach(start).to_array()
    goals = rng.choice(cells, min(12, len(cells)), replace=False)
    for goal in map(tuple, goals.tolist()):
        path = field.path(start, goal, algorithm="jps")
        assert path.cost == pytest.approx(distances[goal], rel=1e-12)
        if not isinstance(pair[0], float):
            assert path.cost == distances[goal]
        assert bool(path) == math.isfinite(distances[goal])
        if path:
            check_path(field, path, open_, corners)
            assert path.cells[[0, -1]].tolist() == [list(start), list(goal)]
            assert field.path(start, goal, algorithm="jps") == path


@pytest.mark.parametrize("corners", ["both", "free"])
@fc_st.examples(40)
@given(open_=open_maps(), seed=fc_st.seeds)
def test_jump_points_against_networkx(corners, open_, seed):
    graph = nx.DiGraph()
    steps = legal_steps(SQUARE, open_, corners=corners)
    for cell in np.ndindex(open_.shape):
        for k, beyond in enumerate(SQUARE.neighbors(cell)):
            if open_[cell] and int(steps[cell]) >> k & 1:
                graph.add_edge(cell, beyond, weight=99 if k >= 4 else 70)
    if not graph:
        return
    rng = np.random.default_rng(seed)
    nodes = sorted(graph)
    start = nodes[int(rng.integers(0, len(nodes)))]
    expected = nx.single_source_dijkstra_path_length(graph, start)
    field = uniform_field(open_, corners, (70, 99))
    for i in rng.integers(0, len(nodes), 8):
        path = field.path(start, nodes[i], algorithm="jps")
        assert path.cost == expected.get(nodes[i], math.inf)


@pytest.mark.parametrize("corners", ["both", "free"])
@fc_st.examples(60)
@given(open_=open_maps(), seed=fc_st.seeds, share=st.floats(0, 1.3))
def test_budgets_are_kept(corners, open_, seed, share):
    cells = np.argwhere(open_)
    if len(cells) < 2:
        return
    rng = np.random.default_rng(seed)
    start, goal = (tuple(c) for c in rng.choice(cells, 2, replace=False).tolist())
    for pair in ((70, 99), (1.0, SQRT2)):
        field = uniform_field(open_, corners, pair)
        cost = field.path(start, goal, algorithm="dijkstra").cost
        if not math.isfinite(cost):
            continue
        assert field.path(start, goal, algorithm="jps", budget=cost).cost == pytest.approx(cost)
        assert not field.path(start, goal, algorithm="jps", budget=cost * 0.999)
        budget = int(cost * share)
        slow = field.path(start, goal, algorithm="astar", budget=budget)
        assert bool(field.path(start, goal, algorithm="jps", budget=budget)) == bool(slow)


@fc_st.examples(60)
@given(shape=fc_st.shapes, seed=fc_st.seeds)
def test_groups_that_touch_have_planes_of_their_own(shape, seed):
    # Ground and water: each is open to itself, a closed cell to the other.
    rng = np.random.default_rng(seed)
    kinds = rng.choice(4, shape, p=(0.1, 0.45, 0.4, 0.05))
    for _ in range(2):  # clumps
        kinds[1:] = np.where(rng.random((shape[0] - 1, shape[1])) < 0.6, kinds[:-1], kinds[1:])
        kinds[:, 1:] = np.where(
            rng.random((shape[0], shape[1] - 1)) < 0.6, kinds[:, :-1], kinds[:, 1:]
        )
    steps = np.zeros(shape, np.uint8)
    enter = np.ones(shape, np.uint16)
    for kind in (1, 2, 3):
        inside = kinds == kind
        np.copyto(steps, legal_steps(SQUARE, inside), where=inside)
        enter[inside] = kind  # of one price within each
    field = StepField(SQUARE, shape, steps=steps, enter=enter, diagonal=(70, 99))
    cells = np.argwhere(kinds > 0)
    if not len(cells):
        return
    for start in map(tuple, rng.choice(cells, 4).tolist()):
        distances = field.reach(start).to_array()
        for goal in map(tuple, rng.choice(cells, 6).tolist()):
            path = field.path(start, goal, algorithm="jps")
            assert path.cost == distances[goal]


@pytest.mark.parametrize("size", [(1, 1), (1, 200), (200, 1), (62, 62), (63, 64), (65, 130)])
@pytest.mark.parametrize("corners", ["both", "free"])
def test_runs_across_words_on_open_ground(size, corners):
    field = uniform_field(np.ones(size, bool), corners, (70, 99))
    rows, cols = size[0] - 1, size[1] - 1
    for start, goal in (((0, 0), (rows, cols)), ((rows, 0), (0, cols)), ((0, cols), (rows, 0))):
        path = field.path(start, goal, algorithm="jps")
        assert path.cost == 70 * abs(rows - cols) + 99 * min(rows, cols)
        assert path.expanded <= 2


@pytest.mark.parametrize("corners", ["both", "free"])
def test_expanded_counts_jump_points(corners):
    open_ = np.ones((41, 41), bool)
    open_[20, :40] = False
    field = uniform_field(open_, corners, (70, 99))
    path = field.path((40, 0), (0, 0), algorithm="jps")
    slow = field.path((40, 0), (0, 0), algorithm="astar")
    assert path.cost == slow.cost
    assert 2 <= path.expanded <= 6 < slow.expanded / 50


# ---- What makes a map one for jump points -------------------------------------------------------


def refusal(field: StepField) -> str:
    with pytest.raises(fc.RulesError, match="jump points need") as error:
        field.path((0, 0), (3, 3), algorithm="jps")
    return str(error.value)


@pytest.mark.parametrize(
    ("diagonals", "options"),
    [
        ("rectilinear", {}),
        ("equidistant", {}),
        ("approximate", {"corners": "free"}),
        ("exact", {"stop": np.eye(4, dtype=bool)}),
    ],
)
def test_maps_that_qualify(diagonals, options):
    path = fc.grid.field(np.ones((4, 4)), diagonals=diagonals, **options).path(
        (0, 0), (3, 3), algorithm="jps"
    )
    assert len(path) == 3


BARRED = np.zeros((4, 4), np.uint8)
BARRED[1, 1] = 2
CROSSED = np.zeros((4, 4), bool)
CROSSED[1, 2] = CROSSED[2, 1] = True


@pytest.mark.parametrize(
    "options",
    [
        {"diagonals": (1, 3)},
        {"diagonals": (3, 2)},
        {"diagonals": "alternating"},
        {"diagonals": "illegal"},
        {"corners": "either", "closed": CROSSED},
        {"leave": np.ones((4, 4))},
        {"halt": np.eye(4, dtype=bool)},
        {"barred": BARRED},
    ],
)
def test_maps_that_do_not_qualify(options):
    field = fc.grid.field(np.ones((4, 4)), **{"diagonals": "exact", **options})
    refusal(field)
    slow = field.path((0, 0), (3, 3), algorithm="dijkstra")
    assert field.path((0, 0), (3, 3)).cost == slow.cost


def test_one_dearer_cell_is_enough():
    cost = np.ones((20, 20))
    cost[7, 7] = 2
    assert "one price" in refusal(fc.grid.field(cost, diagonals="exact"))
    assert "lattice of squares" in refusal(fc.hexes.field(np.ones((4, 4))))


@fc_st.examples(40)
@given(fc_st.movements("square"))
def test_the_choice_of_the_library_costs_the_least(movement):
    spec, query = movement
    field = fc_st.step_field(spec)
    options = {"parity": query.parity, "layer": query.layer}
    start = query.starts[0]
    for goal in spec.cells[:: max(1, len(spec.cells) // 5)]:
        slow = field.path(start, goal, algorithm="dijkstra", **options)
        assert field.path(start, goal, **options).cost == slow.cost


# ---- Words of bits -----------------------------------------------------------------------------


def as_words(array: np.ndarray) -> np.ndarray:
    """Return an array of bool as words of 64 bits, row by row."""
    height, width = array.shape
    words = np.zeros((height, (width + 63) // 64), np.uint64)
    for row, col in np.argwhere(array):
        words[row, col // 64] |= np.uint64(1) << np.uint64(col % 64)
    return words


def as_bools(words: np.ndarray, width: int) -> np.ndarray:
    return np.array([[int(row[c // 64]) >> (c % 64) & 1 for c in range(width)] for row in words])


@given(st.integers(1, 2**64 - 1))
@example(1)
@example(2**63)
@example(2**64 - 1)
def test_bits_of_a_word(value):
    found = ask(np.uint64(value))
    digits = f"{value:b}"
    assert found == (digits[::-1].index("1"), len(digits) - 1, digits.count("1"))


@words.jit
def ask(word):
    return bits.lowest_bit(word), bits.highest_bit(word), bits.count_bits(word)


@pytest.mark.parametrize("shape", [(1, 1), (64, 64), (65, 63), (3, 200), (130, 5)])
def test_rows_and_columns_change_places(shape):
    array = np.random.default_rng(5).random(shape) < 0.5
    turned = np.empty((shape[1], (shape[0] + 63) // 64), np.uint64)
    jump.turn(turned, as_words(array), np.empty(64, np.uint64))
    np.testing.assert_array_equal(turned, as_words(array.T))


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (64, 64), (200, 65), (20, 130)])
@pytest.mark.parametrize("slope", [1, -1])
def test_diagonals_become_columns(shape, slope):
    array = np.random.default_rng(6).random(shape) < 0.5
    skewed = np.empty_like(as_words(array))
    jump.skew(skewed, as_words(array), shape[1], slope)
    expected = np.stack([np.roll(row, -slope * i) for i, row in enumerate(array)])
    np.testing.assert_array_equal(as_bools(skewed, shape[1]), expected)


@pytest.mark.parametrize("corners", [jump.BOTH, jump.FREE])
@fc_st.examples(60)
@given(open_=open_maps())
def test_where_straight_runs_end(corners, open_):
    open_ = np.pad(open_, 1)
    words = as_words(open_)
    onward, back = np.empty_like(words), np.empty_like(words)
    n_marked = jump.mark_stops(onward, back, words, corners)
    finds = np.empty_like(words), np.empty_like(words)
    jump.mark_finds(*finds, onward, back, words)
    width = open_.shape[1]
    count = 0
    for step, marks, found in ((1, onward, finds[0]), (-1, back, finds[1])):
        marks, found = as_bools(marks, width), as_bools(found, width)
        for row, col in np.argwhere(open_):
            beside = (open_[row - 1], open_[row + 1])
            if corners == jump.BOTH:
                is_stop = any(line[col] and not line[col - step] for line in beside)
            else:
                is_stop = any(not line[col] and line[col + step] for line in beside)
            assert marks[row, col] == is_stop
            count += is_stop
            at = col + step
            while not marks[row, at]:
                at += step
            assert found[row, col] == open_[row, at]
        assert marks[~open_].all()
    assert n_marked == count

"""Batches of sights, all views of a map and stacks of maps, through the public API."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fieldcraft as fc

RNG = np.random.default_rng(40)
WALLS = RNG.random((12, 15)) < 0.2
POINTS = RNG.choice([0, 0, 0.5, 1, 1.5], (12, 15))
PAIRS = RNG.integers(0, (12, 15), (300, 2, 2))


def wild(**options) -> fc.Board:
    rows = ["..ff..#.", ".f.h..f.", "..f...#.", ".ff..h.."]
    drawn = {".": "open", "f": "light_forest", "h": "heavy_forest", "#": "rock_formation"}
    return fc.Board.from_rows(rows, drawn, lattice="odd-r", rules="hexwild", **options)


# ---- Sights --------------------------------------------------------------------------------------


def test_sights_are_a_sequence():
    sights = fc.hexes.sights(POINTS, PAIRS)
    assert isinstance(sights, fc.Sights)
    listed = list(sights)
    assert len(sights) == len(listed) == 300
    assert sights[7] == listed[7]
    assert sights[-1] == listed[-1]
    assert sights[np.int64(3)] == listed[3]
    part = sights[20:4:-3]
    assert isinstance(part, fc.Sights)
    assert part == listed[20:4:-3]
    assert part.malus.tolist() == sights.malus[20:4:-3].tolist()
    assert sights == listed
    assert sights == tuple(listed)
    assert sights != listed[1:]
    assert sights != [*listed[:-1], listed[0]]
    assert (sights == "sights") is False
    assert listed[0] in sights
    for index in (300, -301):
        with pytest.raises(IndexError):
            sights[index]
    assert repr(sights) == f"Sights(300 pairs, {sum(map(bool, listed))} visible)"


def test_sights_keep_to_themselves_and_pickle():
    given = PAIRS.copy()
    sights = fc.hexes.sights(POINTS, given)
    before = list(sights)
    given[...] = 0
    assert sights == before
    again = pickle.loads(pickle.dumps(sights))
    assert again == sights
    np.testing.assert_array_equal(again[5].line, sights[5].line)
    for which in (sights, again, sights[3:9]):
        for array in (which.pairs, which.visible, which.obstruction, which.malus, which.light):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


def test_arrays_of_hidden_sights_hold_one_constant():
    sights = fc.hexes.sights(
        [[0, 2, 2, 1, 0]], [((0, 0), (0, 1)), ((0, 0), (0, 3)), ((0, 1), (0, 3))],
        opaque=[[False, False, True, False, False]], light=[[0, -1, 0, -3, 0]],
    )  # fmt: skip
    assert sights.visible.tolist() == [True, False, False]
    assert sights.obstruction.tolist() == [-2, fc.HIDDEN, fc.HIDDEN]
    assert sights.malus.tolist() == [-3, fc.HIDDEN, fc.HIDDEN]
    assert sights.light.tolist() == [-1, -3, -3]
    over = fc.hexes.sights([[0, 2, 2, 1, 0]], [((0, 0), (0, 3))])
    assert (over.obstruction.tolist(), over.malus.tolist()) == ([-5], [fc.HIDDEN])


def test_sums_beyond_what_the_arrays_hold():
    points = np.full((1, 700), 126.5)
    sights = fc.hexes.sights(points, [((0, 0), (0, 699))], threshold=None)
    assert sights[0].obstruction == -88424
    assert sights.obstruction.tolist() == sights.malus.tolist() == [fc.HIDDEN + 1]


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([((0, 0), (0, 15))], fc.OutsideMapError, r"target \(0, 15\) lies outside the map"),
        ([((0, 0), (1, 1)), ((-1, 0), (0, 15))], fc.OutsideMapError, r"viewer \(-1, 0\)"),
        ([(0, 0)], fc.ArgumentTypeError, "pairs must be whole numbers of shape"),
        ([((0.5, 0), (0, 1))], fc.ArgumentTypeError, "pairs must be whole numbers of shape"),
    ],
)
def test_pairs_that_are_none(pairs, error, message):
    board = fc.Board([["open"] * 15] * 12)
    for ask in (lambda p: fc.grid.sights(WALLS, p), board.sights):
        with pytest.raises(error, match=message):
            ask(pairs)
        with pytest.raises(error, match=message):
            ask(np.array(pairs))


def test_no_pairs_and_no_viewers():
    board = wild()
    for found in (
        board.sights([]),
        board.sights(np.zeros((0, 2, 2), int)),
        fc.grid.sights(WALLS, []),
    ):
        assert len(found) == 0
        assert found == []
        assert found.visible.shape == (0,)
    assert board.views([]) == []


def test_sights_of_a_board_with_tokens():
    giant = fc.Token(fc.Creature("giant", size="large", body=7), (1, 1), side="red")
    mouse = fc.Token(fc.Creature("mouse", size="tiny"), (3, 6), side="red")
    board = wild(tokens=[giant, mouse])
    cells = [(row, col) for row in range(4) for col in range(8)]
    pairs = np.array([(a, b) for a in cells for b in cells])
    found = board.sights(pairs)
    assert isinstance(found, fc.Sights)
    singles = [board.sight(tuple(a), tuple(b)) for a, b in pairs.tolist()]
    assert found == singles
    assert found.visible.tolist() == [bool(one) for one in singles]
    assert board.sights([(giant, mouse), (mouse, (0, 0))]) == [
        board.sight(giant, mouse), board.sight(mouse, (0, 0)),
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(found)) == singles


# ---- Views ---------------------------------------------------------------------------------------


def test_all_views_of_bare_arrays():
    for views, single in (
        (fc.grid.views(WALLS, radius=6), lambda cell: fc.grid.view(WALLS, cell, 6)),
        (
            fc.hexes.views(POINTS, radius=6, layout="odd-q"),
            lambda cell: fc.hexes.view(POINTS, cell, 6, layout="odd-q"),
        ),
    ):
        assert isinstance(views, fc.AllViews)
        assert len(views) == views.count.size == 180
        found = {view.viewer: view for block in views.blocks() for view in block}
        assert len(found) == 180
        for cell, view in found.items():
            assert view == single(cell)
            assert views.count[cell] == len(view)


def test_all_views_of_a_board_are_of_medium_creatures():
    heights = [[0] * 8, [0, 2, 2, 0, 0, 1, 1, 0], [0] * 8, [3] * 8]
    for board in (wild(light=-1), wild(elevation=heights)):
        crowded = board.replace(tokens=[fc.Token(fc.Creature("x", size="tiny"), (0, 0))])
        small = fc.Creature("cat", size="small")
        for target in (None, small):
            every = crowded.views(radius=5, target=target, light=-2)
            for block in every.blocks():
                for view in block:
                    assert view == board.view(view.viewer, 5, target=target, light=-2)
                    assert every.count[view.viewer] == len(view)


def test_views_pickle_before_and_after_they_are_listed():
    view = fc.hexes.view(POINTS, (3, 4), 6)
    assert (3, 4) in pickle.loads(pickle.dumps(view))
    again = pickle.loads(pickle.dumps(view))
    assert again == view
    assert pickle.loads(pickle.dumps(again)) == view
    for array in (view.cells, view.maluses, again.cells, again.malus):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_field_that_was_pickled_answers_the_same():
    field = wild().sight_field()
    again = pickle.loads(pickle.dumps(field))
    assert again.view((1, 1), 5) == field.view((1, 1), 5)
    assert again.sights([((0, 0), (3, 7))]) == field.sights([((0, 0), (3, 7))])
    np.testing.assert_array_equal(again.views(radius=3).count, field.views(radius=3).count)


def test_threads_share_a_field():
    field = wild().sight_field()
    cells = [(row, col) for row in range(4) for col in range(8)] * 8
    expected = field.views(np.array(cells), 6)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda cell: field.view(cell, 6), cells)) == expected


# ---- Stacks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 7, 9), (3, 1, 6), (4, 6, 1), (6, 1, 1), (1, 4, 4)])
@pytest.mark.parametrize("layout", [None, "odd-r", "even-q"])
def test_views_of_a_stack(shape, layout):
    rng = np.random.default_rng(41)
    opaque = rng.random(shape) < 0.25
    cells = rng.integers(0, shape[1:], (shape[0], 2))
    if layout is None:
        found = fc.grid.views(opaque, cells, 5, corners="open")
        singles = [
            fc.grid.view(m, tuple(c), 5, corners="open") for m, c in zip(opaque, cells, strict=True)
        ]
    else:
        points = rng.integers(0, 5, shape) / 2
        light = -rng.integers(0, 3, shape)
        options = {"layout": layout, "tie": "both"}
        found = fc.hexes.views(points, cells, 5, opaque=opaque, light=light, **options)
        singles = [
            fc.hexes.view(m, tuple(c), 5, opaque=o, light=x, **options)
            for m, c, o, x in zip(points, cells, opaque, light, strict=True)
        ]
    assert found == singles


def test_stacks_that_are_none():
    stack = np.zeros((3, 4, 4), bool)
    with pytest.raises(fc.ArgumentTypeError, match="a viewer a map"):
        fc.grid.views(stack)
    with pytest.raises(fc.ArgumentTypeError, match="3 maps has as many viewers, not 2"):
        fc.grid.views(stack, [(0, 0), (1, 1)])
    with pytest.raises(fc.OutsideMapError, match=r"viewer \(4, 0\) lies outside the map of shape"):
        fc.grid.views(stack, [(0, 0), (1, 1), (4, 0)])
    with pytest.raises(fc.MapError, match="light has shape"):
        fc.hexes.views(stack.astype(int), [(0, 0)] * 3, light=np.zeros((4, 4), int))
    with pytest.raises(fc.MapError, match="at least one cell"):
        fc.grid.views(np.zeros((0, 4, 4), bool), [])


@pytest.mark.parametrize("threshold", [None, 10**6, 2**27, 2**28, 2**31, 2**63])
def test_no_threshold_makes_walls_transparent(threshold):
    clear, wall = np.zeros((1, 6)), np.zeros((1, 6), bool)
    wall[0, 2] = True
    options = {"threshold": threshold, "opaque": wall}
    assert len(fc.hexes.view(clear, (0, 0), 5, **options)) == 3
    pairs = [((0, 0), (0, 4)), ((0, 0), (0, 2))]
    assert fc.hexes.sights(clear, pairs, **options).visible.tolist() == [False, True]
    assert not fc.hexes.sight(clear, (0, 0), (0, 4), **options).visible
    assert fc.hexes.views(clear, radius=5, **options).count[0, 0] == 3

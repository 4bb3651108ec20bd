"""The searches of plain graphs against the general one, which networkx has proved."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from fieldcraft import plain
from fieldcraft.fields import Layer
from fieldcraft.lattice import Lattice
from fieldcraft.queries import Batch
from fieldcraft_kernel import flood
from fieldcraft_kernel import plain as kernel
from fieldcraft_kernel.bits import lowest_bit
from fieldcraft_kernel.steps import NO_WAY

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
DIAGONALS = [*fc_st.PAIRS, *fc_st.ALTERNATING]


@st.composite
def fields(draw):
    """Draw a plain field, and the same one for the general search."""
    lattice = draw(st.sampled_from(fc_st.LATTICES))
    shape = draw(fc_st.small_shapes if NO_JIT else fc_st.shapes)
    rng = np.random.default_rng(draw(fc_st.seeds))
    is_square = lattice == "square"
    diagonal = draw(st.sampled_from(DIAGONALS)) if is_square else (1, 1)
    is_odd = isinstance(diagonal, str) and draw(st.booleans())
    top = draw(st.sampled_from([1, 2, 4, 40]))
    enter = rng.integers(1, top + 1, shape)
    enter = enter | 1 if is_odd else enter  # no even weight: the parity goes into the totals
    closed = rng.random(shape) < draw(st.sampled_from([0.0, 0.2, 0.5]))
    kind = Lattice(lattice)
    n = kind.n_directions
    corners = draw(st.sampled_from(["both", "either", "free"]))
    steps = fc.legal_steps(kind, ~closed, corners=corners)
    if draw(st.booleans()):  # steps that lead one way only
        steps &= rng.integers(0, 256, shape, dtype=np.uint8) | rng.integers(
            0, 256, shape, dtype=np.uint8
        )
    more = {}
    if draw(st.booleans()):
        more["leave"] = rng.integers(0, 3, shape)
    if draw(st.booleans()):
        more["border"] = rng.integers(0, 3, (*shape, n)) * (rng.random((*shape, n)) < 0.3)
    cap = draw(st.sampled_from([None, None, 30]))
    layer = Layer(leave=0 if "leave" in more else -1, border=0 if "border" in more else -1, cap=cap)
    parity = draw(st.sampled_from(["advances", "carry"]))
    stop = rng.random(shape) < 0.8
    field, general = (
        fc.StepField(
            kind, shape, steps=steps, enter=enter, diagonal=diagonal, layers=[layer],
            parity=parity, stop=stop, **more,
        )
        for _ in range(2)
    )  # fmt: skip
    assert field._searcher.plain is not None
    general._searcher.__dict__["plain"] = None
    return field, general, rng


def some_cell(rng, shape):
    return int(rng.integers(shape[0])), int(rng.integers(shape[1]))


@fc_st.examples(250)
@given(case=fields(), budget=st.sampled_from([0, 1, 3, 8, 30, 200, None]), parity=st.integers(0, 1))
def test_reach_equals_the_general_search(case, budget, parity):
    field, general, rng = case
    start = some_cell(rng, field.shape)
    found, wanted = (
        field.reach(start, budget, parity=parity),
        general.reach(start, budget, parity=parity),
    )
    assert type(found) is not type(wanted)
    assert found == wanted
    assert (found.expanded, found.budget) == (wanted.expanded, wanted.budget)
    order, other = np.argsort(found._states), np.argsort(wanted._states)
    assert np.array_equal(found._states[order], wanted._states[other])
    assert np.array_equal(found._totals[order], wanted._totals[other])
    goal = some_cell(rng, field.shape)
    for stop in (True, False):
        assert found.path_to(goal, stop=stop) == wanted.path_to(goal, stop=stop)
    if len(found.stops):
        assert found.then() == wanted.then()
    assert found.left_at(goal) == wanted.left_at(goal)


@fc_st.examples(150)
@given(case=fields(), parity=st.integers(0, 1))
def test_distances_and_many_equal_the_general_search(case, parity):
    field, general, rng = case
    starts = [some_cell(rng, field.shape) for _ in range(3)]
    options = {"parity": parity, "budget": [None, 7, 40][rng.integers(3)]}
    assert np.array_equal(field.distances(starts, **options), general.distances(starts, **options))
    behind = rng.integers(0, 12, 3).tolist()
    assert field.reach(starts, 30, initial=behind) == general.reach(starts, 30, initial=behind)
    budget = options["budget"]
    many = field.reach_many(starts, budget, parity=options["parity"])
    assert isinstance(many, Batch)
    assert many == general.reach_many(starts, budget, parity=options["parity"])
    assert [reach.path_to(starts[0]) for reach in many] == [
        general.reach(start, **options).path_to(starts[0]) for start in starts
    ]


@fc_st.examples(250)
@given(case=fields(), parity=st.integers(0, 1), stop=st.booleans())
def test_paths_equal_the_general_search(case, parity, stop):
    field, general, rng = case
    start = some_cell(rng, field.shape)
    goals = [some_cell(rng, field.shape) for _ in range(rng.integers(1, 4))]
    options = {"parity": parity, "stop": stop, "budget": [None, 9, 60][rng.integers(3)]}
    found = field.path(start, goals, algorithm="astar", **options)
    wanted = general.path(start, goals, algorithm="astar", **options)
    assert (bool(found), found.cost, found.parity) == (bool(wanted), wanted.cost, wanted.parity)
    known = field.path(start, goals, algorithm="dijkstra", **options)
    assert known == general.path(start, goals, algorithm="dijkstra", **options)
    assert known.cost == found.cost
    single = field.path(start, goals[0], algorithm="dijkstra", **options)
    assert single == general.path(start, goals[0], algorithm="dijkstra", **options)
    pairs = [(some_cell(rng, field.shape), goal) for goal in (*goals, start)]
    pairs += [(goal, goal) for goal in goals]
    many = field.paths(pairs, algorithm="dijkstra", **options)
    assert isinstance(many, Batch)
    assert many == [field.path(*pair, algorithm="dijkstra", **options) for pair in pairs]
    costs = field.path_costs(pairs, algorithm="astar", **options)
    assert costs.tolist() == [path.cost for path in many]
    if found:
        assert sum(step.cost for step in found.steps) == pytest.approx(found.cost)


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@pytest.mark.parametrize("shape", [(60, 41), (70, 3), (2, 90), (1, 1)], ids=str)
def test_near_reaches_are_cut_out_of_the_map(lattice, shape):
    """At the edges, at radii around that of the window, and one after the other."""
    rng = np.random.default_rng(sum(shape))
    kind = Lattice(lattice)
    steps = fc.legal_steps(kind, rng.random(shape) < 0.9)
    enter = rng.integers(2, 5, shape)
    corners = [(0, 0), (shape[0] - 1, shape[1] - 1), (0, shape[1] - 1)]
    starts = corners + [some_cell(rng, shape) for _ in range(3 if NO_JIT else 12)]
    rules = [(1, 1), (70, 99), "alternating", "alternating-2"] if lattice == "square" else [(1, 1)]
    for diagonal in rules:
        field, general = (
            fc.StepField(kind, shape, steps=steps, enter=enter, diagonal=diagonal) for _ in range(2)
        )
        general._searcher.__dict__["plain"] = None
        near = flood.NEAR * 2
        for budget in (0, 7, near, near + 1.5, near + 2, near + 9):
            for parity in (0, 1):
                for start in starts:
                    found = field.reach(start, budget, parity=parity)
                    wanted = general.reach(start, budget, parity=parity)
                    assert found == wanted
                    goal = tuple(found.cells[-1].tolist())
                    assert found.path_to(goal, stop=False) == wanted.path_to(goal, stop=False)
                assert field.reach_many(starts, budget, parity=parity) == [
                    general.reach(start, budget, parity=parity) for start in starts
                ]


@pytest.mark.parametrize("diagonals", ["equidistant", "alternating"])
def test_near_reaches_that_do_not_fit_the_page_are_not_searched_again(diagonals, monkeypatch):
    cost = np.ones((60, 60), np.int64)
    field, wanted = (fc.grid.field(cost, diagonals=diagonals) for _ in range(2))
    wanted._searcher.__dict__["plain"] = None
    expected = {budget: wanted.reach((30, 30), budget) for budget in (3, 15)}
    floods = []
    search = flood.flood_reach

    def counted(*given):
        floods.append(given)
        return search(*given)

    monkeypatch.setattr(flood, "flood_reach", counted)
    found = [(budget, field.reach((30, 30), budget)) for _ in range(20) for budget in (15, 3)]
    assert all(reach == expected[budget] for budget, reach in found)
    assert len(floods) == len(found)
    many = field.reach_many([(30, 30)] * 40, 15)
    assert all(reach == expected[15] for reach in many)
    (scratch,) = field._searcher.plain._idle[:1]
    assert (scratch.near_totals == NO_WAY).all()


@pytest.mark.parametrize("diagonals", ["equidistant", "alternating", (70, 99)], ids=str)
def test_a_pool_that_fills_up_loses_nothing(diagonals):
    cost = np.random.default_rng(7).integers(1, 9, (24, 24))
    wanted = fc.grid.field(cost, diagonals=diagonals)
    field = fc.grid.field(cost, diagonals=diagonals)
    field._searcher.plain.graph.n_pool = 0
    starts = [(0, 0), (12, 12), (23, 3)]
    assert field.reach((12, 12), 30) == wanted.reach((12, 12), 30)
    field._searcher.plain._idle.clear()
    assert np.array_equal(field.distances(starts), wanted.distances(starts))
    field._searcher.plain._idle.clear()
    assert field.path((12, 12), (1, 22)).cost == wanted.path((12, 12), (1, 22)).cost
    field._searcher.plain._idle.clear()
    assert field.reach_many(starts, 20) == wanted.reach_many(starts, 20)
    field._searcher.plain._idle.clear()
    assert len(field.reach((12, 12), 90)) == 24 * 24  # beyond the window
    (scratch,) = field._searcher.plain._idle[:1]
    assert len(scratch.queue) > scratch.graph.n_slots + 8 * kernel.SPARE
    first = int(scratch.graph.plan[kernel.TOP]) + scratch.graph.n_slots
    assert (scratch.totals == NO_WAY).all()
    assert not scratch.queue[:first].any()


@pytest.mark.parametrize(("answer", "most"), [(8, 4), (8, 1000), (64, 30), (1 << 15, 1 << 16)])
def test_answers_of_every_size(monkeypatch, answer, most):
    """Whether or not a reach, a path or a batch fits what is kept for it."""
    cost = np.random.default_rng(3).integers(1, 4, (9, 14))
    general = fc.grid.field(cost)
    general._searcher.__dict__["plain"] = None
    for name in ("ANSWER", "PAGE"):
        monkeypatch.setattr(plain, name, answer)
    monkeypatch.setattr(plain, "MOST_WRITTEN", most)
    field = fc.grid.field(cost)
    assert field.reach((4, 4), 9) == general.reach((4, 4), 9)
    assert field.path((0, 0), (8, 13)).cost == general.path((0, 0), (8, 13)).cost
    assert field.reach_many([(0, 0), (4, 4), (8, 13)]) == general.reach_many(
        [(0, 0), (4, 4), (8, 13)]
    )
    reach, other = field.reach((4, 4)), general.reach((4, 4))
    assert reach.path_to((8, 13)) == other.path_to((8, 13))


def test_equal_ticks_are_listed_by_cell():
    """Many cells of one price, more than are put in place one by one."""
    reach = fc.grid.field(np.ones((41, 41)), diagonals="equidistant").reach((20, 20), 20)
    key = reach.cost * 10_000 + reach.cells[:, 0] * 41 + reach.cells[:, 1]
    assert (np.diff(key) > 0).all()
    assert len(reach) == 41 * 41


def test_totals_near_the_largest_are_counted_exactly():
    """Beyond what plain kernels can count the general search decides, errors included."""
    lattice = Lattice("square4")
    shape = (1, 600)
    enter = np.full(shape, 16_000)
    steps = fc.legal_steps(lattice, np.ones(shape, bool))
    field = fc.StepField(lattice, shape, steps=steps, enter=enter)
    assert field._searcher.plain is not None
    largest = fc_st.LARGEST_TOTAL
    behind = largest - 16_000 * 3
    assert len(field.reach((0, 0), largest - 1, initial=[behind])) == 3
    with pytest.raises(fc.CostError, match="overflow"):
        field.reach([(0, 0)], initial=[behind])
    with pytest.raises(fc.CostError, match="overflow"):
        field.distances([(0, 0)], initial=[behind])
    assert len(field.reach((0, 0))) == 600


def test_starts_further_apart_than_the_ring():
    field = fc.grid.field(np.ones((5, 200)), diagonals="equidistant")
    reach = field.reach([(2, 0), (2, 199)], initial=[0, 150])
    assert reach.cost_at((2, 199)) == 150
    assert reach.cost_at((2, 190)) == 159


@fc_st.examples(60)
@given(seed=fc_st.seeds, lattice=st.sampled_from(fc_st.LATTICES))
def test_directions_are_dropped_only_where_the_direct_step_is_as_good(seed, lattice):
    """What a cell leaves out, its predecessor had in reach at no higher price."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    kind = Lattice(lattice)
    steps = fc.legal_steps(kind, rng.random(shape) < 0.8)
    steps &= rng.integers(0, 256, shape, dtype=np.uint8) | rng.integers(0, 256, shape, np.uint8)
    pair = fc_st.PAIRS[rng.integers(len(fc_st.PAIRS))] if lattice == "square" else (1, 1)
    field = fc.StepField(kind, shape, steps=steps, enter=np.ones(shape, int), diagonal=pair)
    keep = field._searcher.plain.graph.plan[kernel.KEEP :][:8]
    n = kind.n_directions
    scale = [pair[0]] * kind.n_straight + [pair[1]] * (n - kind.n_straight)
    for cell in np.ndindex(shape):
        around = kind.neighbors(cell)
        for d in range(n):
            if not steps[cell] >> d & 1:
                continue
            further = kind.neighbors(around[d])
            for k in range(n):
                if keep[d] >> k & 1 or not steps[around[d]] >> k & 1 or further[k] == cell:
                    continue
                direct = around.index(further[k])
                assert steps[cell] >> direct & 1
                assert scale[direct] <= scale[k]


def test_open_ground_drops_what_it_can():
    """On open squares three of eight directions are left after a straight step of equal price."""
    field = fc.grid.field(np.ones((9, 9)), diagonals="equidistant")
    keep = field._searcher.plain.graph.plan[kernel.KEEP :][: kernel.START + 1].tolist()
    assert [bin(mask).count("1") for mask in keep] == [3, 3, 3, 3, 5, 5, 5, 5, 8]
    hexes = fc.hexes.field(np.ones((9, 9)))
    keep = hexes._searcher.plain.graph.plan[kernel.KEEP :][:6].tolist()
    assert [bin(mask & 63).count("1") for mask in keep] == [3] * 6


@pytest.mark.parametrize("mask", [1, 2, 12, 128, 1 << 31, (1 << 32) - 1])
def test_lowest_bit(mask):
    assert lowest_bit(np.uint32(mask)) == (mask & -mask).bit_length() - 1


def test_an_output_that_is_full_says_so():
    field = fc.grid.field(np.ones((9, 9)))
    searcher = field._searcher.plain
    scratch = searcher._lend()
    starts = np.array([field.padded((4, 4)), field.padded((0, 0))], np.int64)
    zeros = np.zeros(2, np.int64)
    first, second = (len(field.reach(cell, 2)) for cell in ((4, 4), (0, 0)))
    for size, done in ((first - 1, 0), (first + second - 1, 1), (first + second, 2)):
        scratch.turn_page(size)
        sizes = np.zeros((2, 2), np.int64)
        n, status = flood.reach_each(
            scratch.book, searcher.graph.dues, starts, zeros, zeros, 5, sizes
        )
        assert n == done
        assert sizes[:, 1].tolist() == [first, second][:done] + [0] * (2 - done)
        assert (status == flood.OUTPUT_FULL) == (done < 2)
        assert (scratch.totals == NO_WAY).all()


def test_pages_are_shared_and_kept():
    """A reach stays what it was, whatever is asked afterwards."""
    field = fc.grid.field(np.random.default_rng(2).integers(1, 3, (60, 60)))
    general = fc.grid.field(np.random.default_rng(2).integers(1, 3, (60, 60)))
    general._searcher.__dict__["plain"] = None
    asked = [((i % 60, 7 * i % 60), b) for i in range(120) for b in (1, 4, 9, 200)]
    found = [field.reach(start, budget) for start, budget in asked]
    assert found == [general.reach(start, budget) for start, budget in asked]
    pages = {id(reach._written[0]) for reach in found}
    assert 1 < len(pages) < len(found)
    with pytest.raises(ValueError, match="read-only"):
        found[0].cells[0] = 1


def test_reaches_survive_a_pickle():
    import pickle

    reach = fc.grid.field(np.ones((5, 5))).reach((2, 2), 3)
    again = pickle.loads(pickle.dumps(reach))
    assert again == reach
    assert not again.cells.flags.writeable
    assert again.path_to((0, 0)) == reach.path_to((0, 0))


def test_a_batch_is_a_sequence():
    import pickle

    field = fc.grid.field(np.ones((5, 5)))
    starts = [(0, 0), (2, 2), (4, 1)]
    many = field.reach_many(starts, 2)
    wanted = [field.reach(start, 2) for start in starts]
    assert isinstance(many, Batch)
    assert many == wanted
    assert list(many) == wanted == many[:]
    assert many[-1] == wanted[2]
    assert many[1:] == wanted[1:]
    assert many != wanted[:2]
    assert many != [*wanted[:2], wanted[0]]
    assert pickle.loads(pickle.dumps(many)) == wanted
    assert field.reach_many(np.zeros((0, 2), int), 2) == []
    with pytest.raises(IndexError, match="answer 3"):
        many[3]
    with pytest.raises(fc.ClosedCellError, match=r"\(0, 1\)"):
        fc.grid.reach_many([[1, np.inf]], [(0, 0), (0, 1)], 1)


def test_who_stands_may_stay_whatever_the_cell_says():
    """A start that may be stayed on though nobody else may stop there, alone and in a batch."""
    lattice, shape = Lattice("square"), (3, 3)
    stop = np.ones(shape, bool)
    stop[1, 1] = stop[0, 2] = False
    stay = np.ones(shape, bool)
    stay[0, 2] = False
    steps = fc.legal_steps(lattice, np.ones(shape, bool))
    options = {"steps": steps, "enter": np.ones(shape, int), "stop": stop, "stay": stay}
    field, general = (fc.StepField(lattice, shape, **options) for _ in range(2))
    general._searcher.__dict__["plain"] = None
    starts = [(0, 0), (1, 1), (0, 2)]
    many = field.reach_many(starts, 2)
    single = [field.reach(start, 2) for start in starts]
    assert many == single == [general.reach(start, 2) for start in starts]
    assert [bool(reach.can_stop[0]) for reach in many] == [True, True, False]
    assert not many[0].can_stop[np.flatnonzero((many[0].cells == (1, 1)).all(axis=1))].any()


@pytest.mark.parametrize("how", ["pickle", "copy", "deepcopy", "told apart", "searched before"])
@pytest.mark.parametrize("diagonals", ["alternating", (70, 99)], ids=str)
def test_fields_that_are_copied_answer_as_before(how, diagonals):
    import copy
    import pickle

    cost = np.random.default_rng(5).integers(0, 2, (12, 12)) * 2 + 1
    field = fc.grid.field(cost, diagonals=diagonals)
    if how != "pickle":
        field.reach((0, 0), 3)  # with everything made that is made at the first search
        field.path((0, 0), (3, 3))
    copies = {
        "pickle": lambda: pickle.loads(pickle.dumps(field)),
        "copy": lambda: copy.copy(field),
        "deepcopy": lambda: copy.deepcopy(field),
        "told apart": field.told_apart,
        "searched before": lambda: pickle.loads(pickle.dumps(field)),
    }
    other = copies[how]()
    for start in ((3, 4), (0, 0)):
        for parity in (0, 1):
            options = {"parity": parity}
            assert other.reach(start, 5, **options) == field.reach(start, 5, **options)
            assert other.path(start, (9, 9), **options) == field.path(start, (9, 9), **options)
            found = other.distances(start, **options)
            assert np.array_equal(found, field.distances(start, **options))
    pairs = [((0, 0), (5, 5)), ((1, 1), (11, 0))]
    assert other.reach_many([(0, 0), (3, 3)], 4) == field.reach_many([(0, 0), (3, 3)], 4)
    assert other.paths(pairs) == field.paths(pairs)


def test_small_reaches_keep_little_alive():
    """Large ones have pages of their own, and the largest none."""
    field = fc.grid.field(np.ones((300, 300)), diagonals="equidistant")
    kept = []
    for radius in (2, 40, 2, 60, 2, 200, 2):
        kept += [field.reach((150, 150), radius) for _ in range(3)]
    small = [reach for reach in kept if len(reach) < 100]
    pages = {id(reach._written[0]): reach._written[0] for reach in small}
    assert sum(len(page.costs) for page in pages.values()) <= 2 * plain.PAGE
    assert [len(reach) for reach in kept[::3]] == [25, 81**2, 25, 121**2, 25, 300**2, 25]
    large = kept[3]._written[0]
    assert len(large.costs) == 81**2
    assert type(kept[15]) is fc.Reach


def test_one_start_in_every_form():
    field = fc.grid.field(np.ones((5, 5)))
    wanted = field.reach((2, 3), 2)
    for start in ([2, 3], np.array([2, 3]), (np.int64(2), 3), [(2, 3)], np.array([[2, 3]])):
        found = field.reach(start, 2)
        assert found == wanted
        assert (2, 3) in found


def test_paths_of_all_lengths_on_small_pages(monkeypatch):
    """A full page is turned, a way too long for what it is worked out in makes that longer."""
    monkeypatch.setattr(plain, "ANSWER", 16)
    monkeypatch.setattr(plain, "PAGE", 32)
    cost = np.ones((3, 200), int)
    cost[1, ::2] = 2
    field = fc.grid.field(cost)
    general = fc.grid.field(cost)
    general._searcher.__dict__["plain"] = None
    goals = [(i % 3, j) for i, j in enumerate((1, 5, 20, 199, 3, 31, 40, 7, 150, 2) * 4)]
    asked = {"algorithm": "dijkstra"}
    found = [field.path((0, 0), goal, **asked) for goal in goals]
    assert found == [general.path((0, 0), goal, **asked) for goal in goals]
    pairs = [((0, 0), goal) for goal in goals]
    assert field.paths(pairs, **asked) == found
    (scratch,) = field._searcher.plain._idle[:1]
    assert len(scratch.out) <= 16 * 4**3  # longer once or twice, not at every page

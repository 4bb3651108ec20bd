"""Moving and seeing from compiled code of one's own: the answers of the fields, without Python."""

from __future__ import annotations

import copy
import pickle
import threading

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies as fc_st
from fieldcraft.kernel_arrays import NOT_PLAIN
from fieldcraft_kernel import inside
from reference.graph import compass, neighbour

HIDDEN = fc.HIDDEN


def same(found: int, scratch: inside.ReachScratch, reach: fc.Reach) -> None:
    """Compare an answer in scratch with a reach, order included."""
    assert found == len(reach)
    for name in ("cells", "cost", "can_stop", "parity"):
        np.testing.assert_array_equal(getattr(scratch, name)[:found], getattr(reach, name), name)


def reach(arrays, scratch, start: tuple[int, int], budget: float, parity: int = 0) -> int:
    """Call `inside.reach` with arguments of one type, so that it is compiled once."""
    return inside.reach(arrays, scratch, *start, float(budget), parity)


def is_clean(arrays: inside.ReachArrays, scratch: inside.ReachScratch) -> bool:
    """Tell whether the next search finds scratch as the first one did."""
    n_cells = len(scratch.shut)
    totals = scratch.search.totals.reshape(-1, n_cells)
    blank = np.inf if totals.dtype.kind == "f" else 2**31 - 1
    return bool((totals == np.where(scratch.shut, -1, blank)).all() and (scratch.place == -1).all())


# ---- Moving ------------------------------------------------------------------------------------


def without(field: fc.StepField, shut: list[tuple[int, int]], start: tuple[int, int]):
    """Return a field where no step leads into some cells, the start excepted."""
    graph = copy.copy(field._graph)
    offsets, name = graph.arrays.offsets, field.lattice.name
    changed = {}
    for stack in ("steps", "link_steps"):
        masks = np.array(getattr(graph.arrays, stack))
        for cell in shut:
            for direction in range(len(compass(name)) if cell != start else 0):
                back = field.lattice.opposite(direction)
                beyond = neighbour(name, cell, direction)
                inner = all(-1 <= x <= n for x, n in zip(beyond, field.shape, strict=True))
                if inner:
                    masks[:, field.padded(beyond)] &= np.uint8(0xFF ^ 1 << back)
        masks.flags.writeable = False
        changed[stack] = masks
    assert len(offsets) == 2
    graph.arrays = graph.arrays._replace(**changed)
    found = copy.copy(field)
    searcher = type(field._searcher)(graph, field.ticks)
    found.__dict__.update(_graph=graph, _searcher=searcher, _quick=None)
    return found


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(60)
@given(data=st.data())
def test_reach_is_that_of_the_field(lattice, data):
    exact = lattice == "square" and data.draw(st.booleans())
    spec = data.draw(fc_st.maps(lattice, exact=exact))
    field = fc_st.step_field(spec, ticks=data.draw(st.sampled_from((1, 2, 10))))
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    dear = max(int(array.max()) for array in spec.enter)
    for _ in range(4):
        query = data.draw(fc_st.queries(spec, single=True))
        parity = query.parity
        budget = query.budget / float(field.ticks)
        if rng.random() < 0.3:
            budget = rng.integers(0, 80) * dear / 10
        n = reach(arrays, scratch, query.starts[0], budget, parity)
        same(n, scratch, field.reach(query.starts[0], budget, parity=parity))
        assert is_clean(arrays, scratch)


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(40)
@given(data=st.data())
def test_nobody_enters_closed_cells(lattice, data):
    spec = data.draw(fc_st.maps(lattice))
    field = fc_st.step_field(spec)
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    shut: set[tuple[int, int]] = set()
    for _ in range(4):
        query = data.draw(fc_st.queries(spec, single=True))
        start = query.starts[0]
        for cell in {tuple(map(int, rng.integers(0, field.shape))) for _ in range(6)} | {start}:
            change = inside.open_cell if rng.random() < 0.3 else inside.close_cell
            change(arrays, scratch, *cell)
            shut = shut - {cell} if change is inside.open_cell else shut | {cell}
        n = reach(arrays, scratch, start, query.budget)
        same(n, scratch, without(field, sorted(shut), start).reach(start, query.budget))
        assert is_clean(arrays, scratch)
        assert scratch.shut.sum() == len(shut)
    for cell in shut:
        inside.open_cell(arrays, scratch, *cell)
    assert not scratch.shut.any()
    assert is_clean(arrays, scratch)


def test_what_is_wrong_is_told_by_a_number():
    closed = np.array([[False, True, False]])
    field = fc.grid.field([[1, 1, 1]], closed=closed)
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    for cell in ((-1, 0), (0, -1), (1, 0), (0, 3)):
        assert reach(arrays, scratch, cell, 1.0) == inside.OUTSIDE_MAP
        inside.close_cell(arrays, scratch, *cell)
        inside.open_cell(arrays, scratch, *cell)
    assert reach(arrays, scratch, (0, 1), 1.0) == inside.CLOSED_START
    for budget in (-1.0, np.nan, -np.inf):
        assert reach(arrays, scratch, (0, 0), budget) == inside.BAD_BUDGET
    assert reach(arrays, scratch, (0, 0), np.inf) == 1
    for other in (
        fc.grid.field([[1, 1]]),
        fc.grid.field([[1, 1, 1]] * 3),
        fc.grid.field([[99] * 3]),
    ):
        wrong = other.kernel_scratch()
        assert reach(arrays, wrong, (0, 0), 1.0) == inside.OTHER_SCRATCH
    assert is_clean(arrays, scratch)


def dear_row(n: int = 3) -> fc.StepField:
    return fc.StepField(
        fc.Lattice("square"), (1, n),
        steps=fc.legal_steps(fc.Lattice("square"), np.ones((1, n), bool)),
        enter=np.full((1, n), 65_535), diagonal=(20_000, 20_000),
    )  # fmt: skip


def test_totals_that_overflow():
    field = dear_row()
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    inside.close_cell(arrays, scratch, 0, 2)
    inside.open_cell(arrays, scratch, 0, 2)
    assert reach(arrays, scratch, (0, 0), np.inf) == inside.TOO_DEAR
    assert is_clean(arrays, scratch)
    assert reach(arrays, scratch, (0, 0), 1.4e9) == 2
    same(2, scratch, field.reach((0, 0), 1.4e9))


def test_totals_that_a_plain_search_cannot_count():
    """Near the largest total: it says so, and leaves closed cells closed."""
    field = fc.grid.field([[1, 1, 1, 1]], diagonals="equidistant")
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    assert arrays.words.ndim == 1
    inside.close_cell(arrays, scratch, 0, 3)
    assert reach(arrays._replace(most=1, bound=1), scratch, (0, 0), 9.0) == inside.TOO_DEAR
    assert is_clean(arrays, scratch)
    assert reach(arrays._replace(bound=1), scratch, (0, 0), 9.0) == 2
    assert reach(arrays, scratch, (0, 0), 9.0) == 3
    assert is_clean(arrays, scratch)


def general(field: fc.StepField) -> inside.ReachArrays:
    """Return the arrays of a plain field for the search of those that are not."""
    words, dues, plan = NOT_PLAIN
    return field.kernel_arrays()._replace(words=words, dues=dues, plan=plan)


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_queue_that_is_full(is_plain):
    """Whoever has closed cells finds them closed afterwards."""
    field = fc.grid.field(np.ones((20, 20)), diagonals="equidistant")
    arrays = field.kernel_arrays() if is_plain else general(field)
    scratch = field.kernel_scratch()
    inside.close_cell(arrays, scratch, 5, 5)
    inside.close_cell(arrays, scratch, 9, 9)
    least = field._searcher.plain.graph.queue_size(0)
    few = {k: getattr(scratch.search, k)[:3] for k in ("pool_state", "pool_key", "pool_next")}
    small = scratch._replace(
        queue=scratch.queue[:least].copy(), search=scratch.search._replace(**few)
    )
    assert reach(arrays, small, (9, 9), np.inf) == inside.TOO_MANY
    assert is_clean(arrays, small)
    assert reach(arrays, scratch, (9, 9), 2.0) == 25
    assert is_clean(arrays, scratch)


@fc_st.examples(40)
@given(data=st.data())
def test_no_queue_of_a_small_map_is_ever_full(data):
    """One entry for each step and link is enough, with the general search and with plain ones."""
    spec = data.draw(fc_st.maps())
    field = fc_st.step_field(spec)
    scratch = field.kernel_scratch()
    for start in ((0, 0), (spec.height // 2, spec.width // 2)):
        for arrays in (field.kernel_arrays(), general(field)):
            n = reach(arrays, scratch, start, np.inf)
            same(n, scratch, field.reach(start))


# ---- Boards of every system --------------------------------------------------------------------

SYSTEMS = {
    "hexwild": (
        ("odd-r", "even-q"),
        ["open", "light_forest", "mud", "boulder", "deep_water"],
        [{}, {"mud_exit": "zone"}, {"turn_cost": 0.5}],
    ),
    "pathfinder": (
        ("square", "square4"),
        ["open", "difficult", "wall", "low_obstacle", "narrow:0.4", "water"],
        [{}, {"parity": "carry"}, {"diagonals": "exact"}],
    ),
    "srd5": (
        ("square",),
        ["open", "difficult", "wall", "water"],
        [{}, {"diagonals": "alternating"}],
    ),
    "skirmish": (("square",), ["open", "difficult", "wall", "stairs", "ladder"], [{}]),
}
SPEEDS = [6, {"walk": 6, "fly": 9}, {"walk": 3, "swim": 6, "burrow": 6}]


def scene(system: str, rng: np.random.Generator) -> fc.Board:
    """Return a random board with a mover, `board.tokens[0]`, and others."""
    lattices, kinds, parameters = SYSTEMS[system]
    shape = tuple(rng.integers(3, 13, 2).tolist())
    shares = rng.dirichlet(np.r_[8.0, np.ones(len(kinds) - 1)])
    is_hex = system == "hexwild"
    size = "medium" if is_hex else str(rng.choice(["small", "medium", "large"]))
    mover = fc.Creature(
        "mover", size=size, speed=SPEEDS[int(rng.integers(3))],
        body=[None, 2, 3][int(rng.integers(3))] if is_hex else None,
    )  # fmt: skip
    places = [divmod(int(i), shape[1]) for i in rng.permutation(shape[0] * shape[1])]
    tokens = [fc.Token(mover, (1, 1), side="blue", prone=bool(rng.random() < 0.2))]
    tokens += [
        fc.Token(fc.Creature(f"other {i}"), cell, side="red" if i % 2 else "blue")
        for i, cell in enumerate(places[:4])
        if cell != (1, 1)
    ]
    elevation = None
    if system in ("hexwild", "skirmish") and rng.random() < 0.5:
        elevation = rng.choice([0, 0, 1, 2], shape)
    perches = [fc.Perch(places[-1], 1, "medium", 4)] if is_hex else []
    return fc.Board(
        np.array(kinds)[rng.choice(len(kinds), shape, p=shares)].tolist(),
        lattice=lattices[int(rng.integers(len(lattices)))],
        rules=fc.rules.get(system, **parameters[int(rng.integers(len(parameters)))]),
        elevation=elevation, perches=perches, light=-rng.integers(0, 3, shape), tokens=tokens,
    )  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS)
def test_boards_of_every_system(system):
    """Moving by layers and links, seeing over heights and to levels, tokens that have moved."""
    layers, ways = set(), set()
    for seed in range(14):
        rng = np.random.default_rng(seed)
        board = scene(system, rng)
        mover = board.tokens[0]
        field = board.step_field(mover)
        arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
        layers.add(len(field.layers))
        for _ in range(6):
            start = tuple(rng.integers(0, board.shape).tolist())
            budget = float(rng.choice([0, 1.5, 3, 6, np.inf]))
            n = reach(arrays, scratch, start, budget)
            same(n, scratch, field.reach(start, budget))
        moved = field.update([*board.tokens[:-1], board.tokens[-1].at((0, 0))])
        n = reach(moved.kernel_arrays(), scratch, (1, 1), 6.0)
        same(n, scratch, moved.reach((1, 1), 6))
        for eyes in (board.sight_field(), board.sight_field(mover, fc.Creature(size="small"))):
            ways.add(eyes.kernel_arrays().way.ndim)
            same_sights(eyes, rng)
    assert len(layers) > 1
    assert {inside.ANY} <= ways or system in ("pathfinder", "srd5")


# ---- Seeing ------------------------------------------------------------------------------------


def same_sights(field: fc.SightField, rng: np.random.Generator, n: int = 90) -> None:
    """Compare random pairs, among them some of one cell and some next to each other."""
    height, width = field.shape
    pairs = rng.integers(0, [height, width], (n, 2, 2))
    pairs[::7, 1] = pairs[::7, 0]
    pairs[::5, 1] = np.clip(pairs[::5, 0] + rng.integers(-1, 2, (len(pairs[::5]), 2)), 0, None)
    pairs[:, 1] = np.minimum(pairs[:, 1], [height - 1, width - 1])
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    malus = np.zeros(n, np.int16)
    for light in (None, -2):
        given = inside.FIELD_LIGHT if light is None else light
        expected = field.sights(pairs, light=light).malus
        inside.sights(arrays, scratch, pairs, malus, given)
        np.testing.assert_array_equal(malus, expected)
        for (a, b), wanted in zip(pairs[:12].tolist(), expected, strict=False):
            assert inside.sight(arrays, scratch, *a, *b, given) == wanted


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(40)
@given(data=st.data())
def test_sight_is_that_of_the_field(lattice, data):
    spec = data.draw(st.one_of(fc_st.sights(lattice), fc_st.raised(lattice)))
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    same_sights(fc_st.sight_field(spec), rng)


def test_nobody_sees_or_is_seen_off_the_map():
    field = fc.hexes.sight_field(np.zeros((4, 5)))
    arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
    pairs = np.zeros((5, 2, 2), np.int64)
    for i, cell in enumerate([(-1, 0), (0, -1), (4, 0), (0, 5)]):
        assert inside.sight(arrays, scratch, 0, 0, *cell, inside.FIELD_LIGHT) == HIDDEN
        assert inside.sight(arrays, scratch, *cell, 0, 0, inside.FIELD_LIGHT) == HIDDEN
        pairs[i, i % 2] = cell
    malus = np.ones(5, np.int16)
    inside.sights(arrays, scratch, pairs, malus, inside.FIELD_LIGHT)
    assert malus.tolist() == [HIDDEN] * 4 + [0]


def test_far_hexes_are_not_in_the_table():
    rng = np.random.default_rng(5)
    field = fc.hexes.sight_field(rng.choice([0, 0, 0, 0.5], (3, 150)), threshold=40)
    assert 0 <= field.kernel_arrays().radius < 149
    same_sights(field, rng)


# ---- Promises ----------------------------------------------------------------------------------


def some_arrays(given) -> list[np.ndarray]:
    """Return all arrays of a named tuple and of those in it."""
    found = []
    for item in given:
        found += some_arrays(item) if isinstance(item, tuple) else [item]
    return [item for item in found if isinstance(item, np.ndarray)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_arrays_are_closed_to_writing_and_scratch_is_open(system):
    board = scene(system, np.random.default_rng(1))
    for field in (board.step_field(board.tokens[0]), board.sight_field()):
        for one in (field, pickle.loads(pickle.dumps(field))):
            arrays = one.kernel_arrays()
            goals = some_arrays(getattr(arrays, "goals", ()))
            assert not any(
                array.flags.writeable
                for array in some_arrays(arrays)
                if not any(array is goal for goal in goals)
            )
            mine, other = (some_arrays(one.kernel_scratch()) for _ in range(2))
            assert all(array.flags.writeable for array in mine if array.size)
            assert not any(np.shares_memory(a, b) for a in mine for b in other if a.size)


@pytest.mark.jit_only
def test_a_copy_is_of_the_same_type():
    """Code compiled for one field of a board runs for its pickles and for what it became."""
    board = scene("hexwild", np.random.default_rng(2))
    field = board.step_field(board.tokens[0])
    others = [pickle.loads(pickle.dumps(field)), field.update([])]
    kinds = {numba.typeof(one.kernel_arrays()) for one in (field, *others)}
    assert len(kinds) == 1
    assert len({numba.typeof(one.kernel_scratch()) for one in (field, *others)}) == 1


# ---- A user's own loop -------------------------------------------------------------------------


@numba.njit(nogil=True, cache=True)
def play(moves, sights, paper, eyes, agents, foes, speed, draws, track):
    """Move two agents in turn to random stops; return how often they were seen.

    `track` int64 (steps, 4): where each went, by how many foes it was seen, and the best malus.
    """
    for i in range(len(foes)):
        inside.close_cell(moves, paper, foes[i, 0], foes[i, 1])
    exposed = 0
    for step in range(len(draws)):
        who, other = step % 2, 1 - step % 2
        inside.close_cell(moves, paper, agents[other, 0], agents[other, 1])
        n = inside.reach(moves, paper, agents[who, 0], agents[who, 1], speed)
        inside.open_cell(moves, paper, agents[other, 0], agents[other, 1])
        n_stops = 0
        for i in range(n):
            n_stops += paper.can_stop[i]
        chosen = int(draws[step] * n_stops)
        for i in range(n):
            if paper.can_stop[i]:
                if chosen == 0:
                    agents[who] = paper.cells[i]
                    break
                chosen -= 1
        seen, best = 0, HIDDEN
        for i in range(len(foes)):
            malus = inside.sight(
                sights, eyes, foes[i, 0], foes[i, 1], agents[who, 0], agents[who, 1]
            )
            seen += malus > HIDDEN
            best = max(best, malus)
        track[step] = agents[who, 0], agents[who, 1], seen, best
        exposed += seen
    return exposed


def replay(board, field, sight_field, agents, foes, speed, draws):
    """Do what `play` does by the library's own objects."""
    rows = []
    for step, draw in enumerate(draws):
        who, other = step % 2, 1 - step % 2
        shut = [*foes, agents[other]]
        reach = without(field, shut, agents[who]).reach(agents[who], speed)
        stops = reach.cells[reach.can_stop]
        agents[who] = tuple(stops[int(draw * len(stops))].tolist())
        malus = sight_field.sights([(foe, agents[who]) for foe in foes]).malus
        rows.append([*agents[who], int((malus > HIDDEN).sum()), int(malus.max())])
    return rows


def arena(system: str, seed: int):
    """Return a random board, what the loop takes, and draws."""
    rng = np.random.default_rng(seed)
    board = scene(system, rng)
    field, eyes = board.step_field(board.tokens[0], tokens=[]), board.sight_field()
    cells = [
        divmod(int(i), board.shape[1]) for i in rng.permutation(board.shape[0] * board.shape[1])
    ]
    return board, field, eyes, cells[:2], cells[2:5], rng


def played(field, eyes, agents, foes, draws, loop=play):
    track = np.zeros((len(draws), 4), np.int64)
    exposed = loop(
        field.kernel_arrays(), eyes.kernel_arrays(), field.kernel_scratch(), eyes.kernel_scratch(),
        np.array(agents), np.array(foes), 4.0, draws, track,
    )  # fmt: skip
    return exposed, track.tolist()


# Three types of arrays, for each of which the loop is compiled.
@pytest.mark.jit_only
@pytest.mark.parametrize(
    ("system", "seed"), [("hexwild", 0), ("pathfinder", 4), ("srd5", 0), ("skirmish", 1)]
)
def test_a_loop_of_some_hundred_steps(system, seed):
    board, field, eyes, agents, foes, rng = arena(system, seed)
    draws = rng.random(300)
    exposed, track = played(field, eyes, agents, foes, draws)
    assert track == replay(board, field, eyes, list(agents), foes, 4, draws)
    assert exposed == sum(row[2] for row in track)
    assert len({tuple(row[:2]) for row in track}) > 10
    # Nothing in it is run by the interpreter.
    assert len(play.nopython_signatures) == len(play.signatures)


@pytest.mark.jit_only
def test_threads_share_arrays_and_not_scratch():
    _, field, eyes, agents, foes, rng = arena("hexwild", 0)
    games = [rng.random(400) for _ in range(6)]
    expected = [played(field, eyes, agents, foes, draws) for draws in games]
    found = [None] * len(games)
    moves, sights = field.kernel_arrays(), eyes.kernel_arrays()

    def run(i):
        track = np.zeros((len(games[i]), 4), np.int64)
        exposed = play(
            moves, sights, field.kernel_scratch(), eyes.kernel_scratch(), np.array(agents),
            np.array(foes), 4.0, games[i], track,
        )  # fmt: skip
        found[i] = exposed, track.tolist()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(games))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected

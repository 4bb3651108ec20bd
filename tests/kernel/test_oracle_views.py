"""Tables of sight lines and what is worked out of them, against plain lines and single sights."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import get_ident

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fieldcraft import all_views, line_tables, sight
from fieldcraft.all_views import AllViews
from fieldcraft.lattice import Lattice
from fieldcraft.line_tables import Shelf, fan_of, pair_lines_of, shadows_of, size_of
from fieldcraft.queries import spread
from fieldcraft_kernel import fans, shadows, views
from reference import hexlines, sightsum, squarelines
from reference.sightsum import SightSpec

TIES_AND_LINES = [("worst-side", "crossed"), ("best-side", "stepped"), ("worst-hex", "stepped"),
                  ("best-hex", "crossed"), ("both", "stepped")]  # fmt: skip


# ---- Tables --------------------------------------------------------------------------------------


def entries_of(name: str, line: str, a, b) -> list[tuple]:
    """Return the entries of a line as sets of cells, by the plain reference."""
    if name != "square":
        items = hexlines.between(name, a, b, line)
        return [(frozenset((item.left, item.right)), False) for item in items]
    return [
        (frozenset((item.left, item.right)), True)
        if isinstance(item, squarelines.Corner)
        else (frozenset((item.cell,)), False)
        for item in squarelines.between(a, b)
    ]


@pytest.mark.parametrize("radius", [0, 1, 2, 7])
@pytest.mark.parametrize(
    ("name", "line"),
    [("square", "crossed"), ("odd-r", "crossed"), ("even-r", "stepped"), ("odd-q", "stepped"),
     ("even-q", "crossed")],
)  # fmt: skip
def test_fan_holds_every_line_once(name, line, radius):
    lattice = Lattice(name)
    fan = fan_of(lattice, line, radius)
    for parity in range(fan.cells.shape[0]):
        viewer = (20, 20 + parity) if lattice.is_flat else (20 + parity, 20)
        found = {}
        path: list[int] = []
        for i, (what, depth) in enumerate(zip(fan.what.tolist(), fan.depth.tolist(), strict=True)):
            cells = (fan.cells[parity, i].reshape(2, 2) + viewer).tolist()
            if what == fans.TARGET:
                own = path[:depth]
                assert fan.before[i] == (own[-1] if own else -1)
                target = tuple(cells[0])
                assert target not in found
                found[target] = [
                    (
                        frozenset(
                            map(tuple, (fan.cells[parity, j].reshape(2, 2) + viewer).tolist())
                        ),
                        fan.what[j] == 2,
                    )
                    for j in own
                ]
                assert fan.split[i] == any(fan.what[j] == 1 for j in own)
                assert fan.adjacent[i] == (
                    max(abs(target[0] - viewer[0]), abs(target[1] - viewer[1])) == 1
                    if name == "square"
                    else hexlines.distance(name, viewer, target) == 1
                )
                continue
            path = [*path[: depth - 1], i]
            # All behind this node is as deep or deeper, what follows is not.
            behind = fan.behind[i]
            assert all(
                d > depth or (w == fans.TARGET and d == depth)
                for w, d in zip(fan.what[i + 1 : behind], fan.depth[i + 1 : behind], strict=True)
            )
            assert behind == len(fan.what) or (
                fan.depth[behind] < depth + (fan.what[behind] != fans.TARGET)
            )
        rows, cols = (
            range(20 - radius - 1, 22 + radius + 1),
            range(20 - radius - 1, 22 + radius + 1),
        )
        expected = {}
        for target in ((r, c) for r in rows for c in cols):
            steps = (
                max(abs(target[0] - viewer[0]), abs(target[1] - viewer[1]))
                if name == "square"
                else hexlines.distance(name, viewer, target)
            )
            if target != viewer and steps <= radius:
                expected[target] = entries_of(name, line, viewer, target)
        assert found == expected


def test_tables_that_would_be_too_large_are_not_made():
    assert fan_of(Lattice("odd-r"), "crossed", 400) is None
    assert shadows_of(400) is None
    assert pair_lines_of(Lattice("odd-r"), "crossed", 30, 400) is None


def test_a_shelf_keeps_what_was_used_last():
    shelf: Shelf[str] = Shelf(100)
    for key in "abc":
        assert shelf.put(key, key, 30) == key
    assert shelf.find("a") == "a"
    shelf.put("d", "d", 35)
    # The longest unused one went, and no more than had to.
    assert [shelf.find(key) for key in "abcd"] == ["a", None, "c", "d"]
    assert (len(shelf), shelf.taken) == (3, 95)
    assert shelf.put("a", "another", 30) == "a"
    assert (len(shelf), shelf.taken) == (3, 95)
    shelf.put("whole", "w", 400)
    assert (len(shelf), shelf.taken) == (1, 400)
    shelf.put("b", "b", 1)
    assert (len(shelf), shelf.taken) == (1, 1)


@pytest.mark.jit_only
def test_all_tables_together_keep_to_their_bytes(monkeypatch):
    lattice = Lattice("odd-r")
    sizes = {radius: size_of(fan_of(lattice, "crossed", radius)) for radius in (6, 7, 8)}
    shelf = Shelf(sizes[7] + sizes[8])
    monkeypatch.setattr(line_tables, "_SHELF", shelf)
    kept = fan_of(lattice, "crossed", 8)
    assert shelf.taken == sizes[8]
    for _ in range(3):
        for radius in (6, 7):
            fan_of(lattice, "crossed", radius)
            assert shelf.taken <= shelf.room
            # What is used again and again is not made again.
            assert fan_of(lattice, "crossed", 8) is kept
    assert fan_of(lattice, "crossed", 400) is None
    assert len(shelf) == 2


def test_a_field_holds_few_tables():
    field = strategies.sight_field(SightSpec("odd-r", 9, 9, between=np.ones((9, 9), np.uint8)))
    expected = [field.view((4, 4), radius) for radius in range(6)]
    assert list(field._at_hand) == [4, 5]
    assert [field.view((4, 4), radius) for radius in range(6)] == expected
    field.view((4, 4), 4)
    assert list(field._at_hand) == [4, 5]


def test_constants_of_both_sides_are_equal():
    assert views.HIDDEN == sight.HIDDEN
    assert shadows.words_a_row(31) == 1
    assert shadows.words_a_row(32) == 2


# ---- Single views --------------------------------------------------------------------------------


@pytest.mark.parametrize("corners", ["closed", "open"])
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (30, 41), (70, 3), (40, 130)])
@strategies.examples(12)
@given(data=st.data())
def test_shadows_equal_lines(size, corners, data):
    rng = np.random.default_rng(data.draw(strategies.seeds))
    share = data.draw(st.sampled_from((0.0, 0.1, 0.4, 1.0)))
    radius = data.draw(st.sampled_from((0, 1, 5, 20, 33)))
    spec = SightSpec(
        "square", *size, between=np.zeros(size, np.uint8), opaque=rng.random(size) < share,
        corners=corners, threshold=data.draw(st.sampled_from((None, 1))),
    )  # fmt: skip
    if data.draw(st.booleans()):
        spec.light = -rng.integers(0, 5, size).astype(np.int8)
    field = strategies.sight_field(spec)
    viewer = tuple(int(rng.integers(0, n)) for n in size)
    light = data.draw(st.sampled_from((None, -7)))
    # What the view says line by line is compared with the reference elsewhere.
    assert field._solid.size
    view = field.view(viewer, radius, light=light)
    assert view == field._view_by_lines(viewer, radius, light)
    assert np.count_nonzero(view.visible) == len(view)


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(40)
@given(data=st.data())
def test_fans_equal_lines(lattice, data):
    spec = data.draw(strategies.sights(lattice))
    field = strategies.sight_field(spec)
    rng = np.random.default_rng(data.draw(strategies.seeds))
    viewer = int(rng.integers(0, spec.height)), int(rng.integers(0, spec.width))
    radius = data.draw(st.sampled_from((0, 1, 3, 12, 50)))
    light = data.draw(st.sampled_from((None, -3)))
    assert field._table_for(radius)[0] is not None
    assert field.view(viewer, radius, light=light) == field._view_by_lines(viewer, radius, light)


# ---- All views -----------------------------------------------------------------------------------


def check_all(field, radius: int, light=None, *, lanes: bool | None = None, some: int = 1) -> None:
    every = AllViews(field, radius, light)
    if lanes is not None:
        assert (every._lanes is not None) == lanes
    height, width = field.shape
    seen = set()
    for block in every.blocks():
        assert block.visible.shape == block.malus.shape == (
            len(block), 2 * block.radius + 1, 2 * block.radius + 1,
        )  # fmt: skip
        np.testing.assert_array_equal(block.visible, block.malus != sight.HIDDEN)
        for i, viewer in enumerate(map(tuple, block.viewers.tolist())):
            assert viewer not in seen
            seen.add(viewer)
            if len(seen) % some:
                continue
            single = field.view(viewer, radius, light=light)
            assert block[i] == single
            assert every.count[viewer] == block.count[i] == len(single)
    assert len(seen) == len(every) == height * width


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(25)
@given(data=st.data())
def test_all_views_are_the_single_views(lattice, data):
    spec = data.draw(strategies.sights(lattice, strategies.small_shapes))
    light = data.draw(st.sampled_from((None, None, -3)))
    radius = data.draw(st.sampled_from((0, 1, 2, 5, 9)))
    check_all(strategies.sight_field(spec), radius, light)


@pytest.mark.parametrize(("tie", "line"), TIES_AND_LINES)
@pytest.mark.parametrize("layout", strategies.HEXES)
def test_lanes_with_every_tie(layout, tie, line):
    rng = np.random.default_rng(5)
    size = (10, 9)
    spec = SightSpec(
        layout, *size, between=rng.choice(np.array([0, 0, 1, 2, 3], np.uint8), size), line=line,
        tie=tie, opaque=rng.random(size) < 0.1, light=-rng.integers(0, 4, size).astype(np.int8),
    )  # fmt: skip
    for name in ("at_target", "at_viewer", "adjacent_target", "adjacent_viewer"):
        setattr(spec, name, rng.integers(0, 3, size).astype(np.uint8))
    check_all(strategies.sight_field(spec), 5, lanes=True, some=3)
    spec.threshold = None
    check_all(strategies.sight_field(spec), 5, lanes=True, some=5)


@pytest.mark.jit_only
@pytest.mark.parametrize("tie", ["worst-side", "both"])
def test_lanes_over_solid_rock_do_not_wrap(tie):
    size = (5, 70)
    spec = SightSpec("odd-r", *size, between=np.full(size, 253, np.uint8), tie=tie)
    spec.at_target = spec.at_viewer = spec.between
    for threshold, lanes in ((126, True), (None, tie != "both")):
        spec.threshold = threshold
        check_all(strategies.sight_field(spec), 60, lanes=lanes, some=61)


@pytest.mark.jit_only
def test_lanes_of_a_map_of_several_blocks():
    rng = np.random.default_rng(6)
    size = (61, 300)
    spec = SightSpec(
        "square", *size, between=np.zeros(size, np.uint8), opaque=rng.random(size) < 0.2
    )
    field = strategies.sight_field(spec)
    assert len(AllViews(field, 4)._parts) > 3
    check_all(field, 4, lanes=True, some=501)
    heard = []
    AllViews(field, 4).each(lambda block: heard.append(len(block)))
    assert sum(heard) == size[0] * size[1]


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@pytest.mark.parametrize("size", [(1, 1), (1, 140), (150, 1), (3, 70)])
def test_windows_longer_than_a_tile(lattice, size):
    rng = np.random.default_rng(12)
    spec = SightSpec(
        lattice, *size, between=rng.choice(np.array([0, 0, 0, 1], np.uint8), size),
        opaque=rng.random(size) < 0.02, light=-rng.integers(0, 128, size).astype(np.int8),
    )  # fmt: skip
    field = strategies.sight_field(spec)
    for light in (None, -127):
        check_all(field, 4, light, lanes=True, some=7)


@pytest.mark.parametrize("lattice", ["square", "odd-r"])
def test_two_radii_on_several_threads(lattice):
    rng = np.random.default_rng(13)
    size = (8, 9)
    between = rng.integers(0, 2, size).astype(np.uint8)
    field = strategies.sight_field(SightSpec(lattice, *size, between=between))
    expected = {radius: AllViews(field, radius).count.tolist() for radius in (2, 5)}
    # Other radii, so that each view lays the map out anew.
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda radius: AllViews(field, radius).count.tolist(), [2, 5] * 60)
        assert list(found) == [expected[2], expected[5]] * 60


@pytest.mark.parametrize("other", [5, 0])
def test_lanes_are_those_of_the_radius_asked_for(other):
    field = strategies.sight_field(SightSpec("odd-r", 6, 6, between=np.ones((6, 6), np.uint8)))
    expected = all_views._lanes_of(field, 2)
    lay_out = all_views._laid_out

    class Field:
        """A field whose lanes another thread exchanges as soon as they are stored."""

        def __init__(self):
            self.__dict__["stored"] = (-1, None)

        def __getattr__(self, name):
            return getattr(field, name)

        @property
        def _lanes(self):
            return self.stored

        @_lanes.setter
        def _lanes(self, lanes):
            self.__dict__["stored"] = (
                other, lay_out(field, fan_of(field.lattice, field.line, other), other)
            )  # fmt: skip

    found = all_views._lanes_of(Field(), 2)
    assert (found.border, found.stride, found.deepest) == (
        expected.border, expected.stride, expected.deepest,
    )  # fmt: skip
    np.testing.assert_array_equal(found.planes, expected.planes)


def test_blocks_that_are_dropped_leave_nothing_running(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    field = strategies.sight_field(SightSpec("square", 40, 50, between=np.ones((40, 50), np.uint8)))
    every = AllViews(field, 1)
    every.__dict__["_parts"] = [np.arange(i, i + 1) for i in range(40)]
    make, begun, ended = every._block, [], []

    def block(lines):
        begun.append(1)
        found = make(lines)
        ended.append(1)
        return found

    monkeypatch.setattr(every, "_block", block)
    blocks = every.blocks()
    next(blocks)
    blocks.close()
    assert 1 <= len(ended) == len(begun) < 40
    # From one of the shared threads, whose team would wait for itself.
    (inner,) = spread(1, lambda begin, end: [sum(map(len, every.blocks()))])
    assert inner == 2000
    totals = spread(4, lambda begin, end: [sum(map(len, every.blocks()))] * (end - begin))
    assert totals == [2000] * 4


def test_each_calls_in_order_in_the_callers_thread():
    field = strategies.sight_field(SightSpec("odd-r", 9, 9, between=np.ones((9, 9), np.uint8)))
    every = AllViews(field, 2)
    heard = []
    assert every.each(lambda block: heard.append((get_ident(), block.viewers.tolist()))) is None
    assert heard == [(get_ident(), block.viewers.tolist()) for block in every.blocks()]
    assert len(heard) > 1


def test_a_block_keeps_its_answers_to_itself():
    field = strategies.sight_field(SightSpec("odd-q", 3, 3, between=np.zeros((3, 3), np.uint8)))
    block = next(AllViews(field, 2).blocks())
    for array in (block.viewers, block.visible, block.malus, block.count, AllViews(field, 2).count):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


# ---- Pairs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(30)
@given(data=st.data())
def test_a_batch_from_a_table_equals_single_sights(lattice, data):
    spec = data.draw(strategies.sights(lattice))
    field = strategies.sight_field(spec)
    rng = np.random.default_rng(data.draw(strategies.seeds))
    size = (spec.height, spec.width)
    pairs = rng.integers(0, size, (60, 2, 2))
    light = data.draw(st.sampled_from((None, -2)))
    found = field.sights(pairs, light=light)
    singles = [field.sight(tuple(a), tuple(b), light=light) for a, b in pairs.tolist()]
    assert found == singles
    assert found.visible.tolist() == [bool(one) for one in singles]
    assert found.light.tolist() == [one.light for one in singles]
    for array, name in ((found.obstruction, "obstruction"), (found.malus, "malus")):
        values = [getattr(one, name) for one in singles]
        assert array.tolist() == [sight.HIDDEN if value is None else value for value in values]


@pytest.mark.jit_only
@pytest.mark.parametrize(("tie", "line"), TIES_AND_LINES)
@pytest.mark.parametrize("layout", strategies.HEXES)
def test_pairs_along_edges_with_every_tie(layout, tie, line):
    rng = np.random.default_rng(8)
    size = (40, 40)
    spec = SightSpec(
        layout, *size, between=rng.integers(0, 4, size).astype(np.uint8), line=line, tie=tie,
        threshold=None, opaque=rng.random(size) < 0.02,
    )  # fmt: skip
    spec.at_target = rng.integers(0, 3, size).astype(np.uint8)
    spec.adjacent_viewer = rng.integers(0, 3, size).astype(np.uint8)
    field = strategies.sight_field(spec)
    pairs = rng.integers(0, 40, (1500, 2, 2))
    found = field.sights(pairs)
    assert field._pair_lines(1500, 39) is not None
    for i, (a, b) in enumerate(pairs.tolist()):
        if i % 15 == 0 or any(
            e.is_pair for e in hexlines.between(layout, tuple(a), tuple(b), line)
        ):
            expected = sightsum.look(spec, tuple(a), tuple(b))
            assert (found[i].visible, found[i].obstruction) == (
                expected.visible, expected.obstruction,
            )  # fmt: skip


@pytest.mark.jit_only
@pytest.mark.parametrize("lattice", ["square", "odd-q"])
def test_pairs_beyond_the_table_are_walked(lattice):
    rng = np.random.default_rng(9)
    size = (30, 400)
    spec = SightSpec(
        lattice, *size, between=rng.integers(0, 2, size).astype(np.uint8), threshold=None,
        opaque=rng.random(size) < 0.01,
    )  # fmt: skip
    field = strategies.sight_field(spec)
    pairs = rng.integers(0, size, (800, 2, 2))
    if lattice == "odd-q":
        assert 0 < field._pair_lines(800, 399).radius < 100
    found = field.sights(pairs)
    assert 0 < found.visible.sum() < 800
    # The sums of a field with walls are counted line by line; one wall far from all is enough.
    far = np.argwhere(np.bincount(pairs[..., 0].ravel() * 400 + pairs[..., 1].ravel()) == 0)[0, 0]
    spec.walls = np.zeros(size, np.uint8)
    spec.walls.reshape(-1)[far] = 128
    walled = strategies.sight_field(spec)
    assert walled._walls.size
    assert walled.sights(pairs) == found

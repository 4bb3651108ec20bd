"""Bodies of several cells against plain sets, and by hand: places, steps, squeezing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as fc_st
from fieldcraft.lattice import Lattice
from fieldcraft.legal import legal_steps
from fieldcraft_kernel import bodies
from reference import bodies as ref
from reference.bodies import Body, Ground
from reference.graph import Cell, compass

SQUARES = ("square4", "square")
SIZES = [(n, k) for n in (2, 3, 4) for k in range(1, n)]
NO_BITS = np.zeros(0, np.uint8)
NO_TOPS = np.zeros(0, np.int64)
NO_FLAGS = np.zeros(0, bool)


# ---- From sets to padded arrays ----------------------------------------------------------------


@dataclass
class Arrays:
    """The padded arrays of a map, and the kernels' answers as arrays without the padding."""

    ground: Ground

    @cached_property
    def padded(self) -> int:
        return self.ground.width + 2

    @cached_property
    def size(self) -> int:
        return (self.ground.height + 2) * self.padded

    def flat(self, cell: Cell) -> int:
        return (cell[0] + 1) * self.padded + cell[1] + 1

    def flags(self, cells) -> np.ndarray:
        array = np.zeros(self.size, bool)
        for cell in cells:
            array[self.flat(cell)] = True
        return array

    def bits(self, sides) -> np.ndarray:
        if not sides:
            return NO_BITS
        array = np.zeros(self.size, np.uint8)
        for cell, direction in sides:
            array[self.flat(cell)] |= 1 << direction
        return array

    def values(self, mapping, dtype) -> np.ndarray:
        array = np.zeros(self.size, dtype)
        for cell, value in mapping.items():
            array[self.flat(cell)] = value
        return array

    def crop(self, array: np.ndarray) -> np.ndarray:
        """Return an array without its padding, in which nothing may be set."""
        shape = (self.ground.height + 2, self.padded)
        whole = array.reshape(*array.shape[:-1], *shape)
        inside = whole[..., 1:-1, 1:-1]
        assert np.count_nonzero(whole) == np.count_nonzero(inside)
        return inside

    def by_cell(self, array: np.ndarray) -> dict[Cell, object]:
        inside = self.crop(array)
        return {cell: inside[cell].item() for cell in self.ground.cells()}

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice(self.ground.lattice)

    @cached_property
    def parity(self) -> np.ndarray:
        if not self.lattice.is_hex:
            return np.zeros(self.size, np.uint8)
        parity = np.zeros((self.ground.height + 2, self.padded), np.uint8)
        for row, col in self.ground.cells():
            parity[row + 1, col + 1] = (col if self.lattice.is_flat else row) & 1
        return parity.reshape(-1)

    @cached_property
    def offsets(self) -> np.ndarray:
        deltas = self.lattice.offsets()
        offsets = np.zeros((2, 8), np.int64)
        offsets[:, : deltas.shape[1]] = deltas[..., 0] * self.padded + deltas[..., 1]
        return offsets

    def tables(self, body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows_cols, cells and leading of a body."""
        rows_cols = np.zeros((2, len(body), 2), np.int64)
        leading = np.zeros((2, 8, len(body)), bool)
        for kind in range(2):
            anchor = (kind, kind) if self.lattice.is_hex else (0, 0)
            covered = ref.covered(self.ground, body, anchor)
            rows_cols[kind] = np.array(covered) - np.array(anchor)
            for direction in range(self.ground.n_straight):
                edge = ref.leading(self.ground, body, anchor, direction)
                leading[kind, direction] = [cell in edge for cell in covered]
        cells = rows_cols[..., 0] * self.padded + rows_cols[..., 1]
        return rows_cols, cells, leading

    def place(self, body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return on_map, clean and fits."""
        ground = self.ground
        rows_cols, cells, _ = self.tables(body)
        on_map, clean, fits = (np.ones(self.size, bool) for _ in range(3))
        bodies.place(
            self.flags(ground.open), self.bits(ground.inner), ground.height, ground.width,
            self.parity, rows_cols, cells, self.offsets, ground.n_straight, on_map, clean, fits,
        )  # fmt: skip
        return on_map, clean, fits

    def steps(self, body: Body) -> np.ndarray:
        ground = self.ground
        on_map, clean, fits = self.place(body)
        _, cells, leading = self.tables(body)
        out = np.full(self.size, 255, np.uint8)
        tops = self.values(ground.tops, np.int64) if ground.tops else NO_TOPS
        bodies.step_masks(
            fits, clean, on_map, self.flags(ground.kept) if ground.kept else NO_FLAGS,
            self.flags(ground.solid), self.bits(ground.barred), tops, ground.limit, ground.limit,
            self.bits(ground.lifted), bodies.CORNERS[ground.corners], self.parity,
            cells, leading, self.offsets, ground.n_straight, ground.n_directions, out,
        )  # fmt: skip
        return out

    def count_classes(self, n: int, k: int) -> int:
        """Return the number of layers a map needs; creatures are left out by the caller."""
        on_map, _, full = self.place(ref.block(n))
        return bodies.count_classes(
            self.flags(self.ground.open), self.bits(self.ground.inner), on_map, full,
            self.place(ref.block(k))[2], self.steps(ref.block(k)), self.padded, n, k,
            self.ground.n_directions,
        )  # fmt: skip

    def squeeze(self, n: int, k: int, layers: int) -> tuple[np.ndarray, ...]:
        """Return n_classes, cover, blocks and the steps."""
        ground = self.ground
        on_map, _, full = self.place(ref.block(n))
        block_fits, block_steps = self.place(ref.block(k))[2], self.steps(ref.block(k))
        n_classes = np.full(self.size, 9, np.uint8)
        cover, blocks = (np.full((layers, self.size), 77, np.uint16) for _ in range(2))
        bodies.squeeze(
            self.flags(ground.open), self.flags(ground.taken), self.bits(ground.inner), on_map,
            full, block_fits, block_steps, self.padded, n, k, ground.n_directions, n_classes,
            cover, blocks,
        )  # fmt: skip
        steps = np.zeros((layers + 1, layers + 1, self.size), np.uint8)
        bodies.squeeze_steps(
            on_map, full, n_classes, blocks, block_fits, block_steps, self.padded, n, k,
            ground.n_directions, steps,
        )  # fmt: skip
        return n_classes, cover, blocks, steps


# ---- Maps --------------------------------------------------------------------------------------


def scatter(rng: np.random.Generator, lattice: str, shape: Cell, **shares) -> Ground:
    """Return a random map: shares of walls, pits, columns, creatures, thin walls, one-way borders.

    `heights` are what the cells' tops are drawn from, `lifted` the share of steps that may rise.
    """
    ground = Ground(lattice, *shape)

    def some(name: str) -> set[Cell]:
        return {cell for cell in ground.cells() if rng.random() < shares.get(name, 0)}

    walls, pits = some("walls"), some("pits")
    ground.taken = some("creatures")
    ground.open = set(ground.cells()) - walls - pits - ground.taken
    ground.solid = walls | some("columns")
    for cell in ground.cells():
        for direction in range(ground.n_straight):
            beyond = ground.beyond(cell, direction)
            if rng.random() < shares.get("one_way", 0):
                ground.barred.add((cell, direction))
            thin = rng.random() < shares.get("thin", 0)
            if thin and ground.has(beyond) and direction < ground.n_straight // 2:
                back = direction + ground.n_straight // 2
                ground.inner |= {(cell, direction), (beyond, back)}
    ground.barred |= ground.inner
    if "heights" in shares:
        ground.tops = {cell: int(rng.choice(shares["heights"])) for cell in ground.cells()}
        ground.limit = int(rng.integers(1, 4))
        ground.lifted = {
            (cell, direction)
            for cell in ground.cells()
            for direction in range(ground.n_directions)
            if rng.random() < shares.get("lifted", 0)
        }
    return ground


@st.composite
def grounds(draw: st.DrawFn, lattice: str, *, heights: bool = True, most: int = 9) -> Ground:
    shape = draw(st.tuples(st.integers(1, most), st.integers(1, most)))
    few = st.sampled_from((0.0, 0.0, 0.05, 0.1, 0.2, 0.4))
    shares = {
        name: draw(few) for name in ("walls", "pits", "columns", "creatures", "thin", "one_way")
    }
    if heights and draw(st.booleans()):
        shares["heights"] = draw(st.sampled_from(((0, 1), (0, 0, 0, 1, 2), (0, 1, 2, 3), (-2, 4))))
        shares["lifted"] = draw(few)
    ground = scatter(np.random.default_rng(draw(fc_st.seeds)), lattice, shape, **shares)
    ground.corners = draw(st.sampled_from(("both", "either", "free")))
    return ground


def bodies_of(lattice: str) -> list[Body]:
    """Return n x n bodies on squares; on hexagons those of 1, 2, 3 and 7 cells, turned."""
    if lattice.startswith("square"):
        return [ref.block(n) for n in (1, 2, 3, 4)]
    ways = compass(lattice)
    pairs = [[(0, 0), way] for way in ways]
    threes = [[(0, 0), ways[i], ways[(i + 1) % 6]] for i in range(6)]
    return [[(0, 0)], *pairs, *threes, [(0, 0), *ways]]


# ---- Places and steps --------------------------------------------------------------------------


def mask_of(ground: Ground, body: Body, anchor: Cell) -> int:
    """Return the legal steps by the reference."""
    if not ref.is_on_map(ground, body, anchor):
        return 0
    ways = range(ground.n_directions)
    return sum(1 << way for way in ways if ref.is_legal(ground, body, anchor, way))


def check_steps(ground: Ground, body: Body) -> None:
    arrays = Arrays(ground)
    for found, expected in zip(
        arrays.place(body), (ref.is_on_map, ref.is_clean, ref.fits), strict=True
    ):
        assert arrays.by_cell(found) == {
            cell: expected(ground, body, cell) for cell in ground.cells()
        }
    steps = {cell: mask_of(ground, body, cell) for cell in ground.cells()}
    assert arrays.by_cell(arrays.steps(body)) == steps


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(100)
@given(data=st.data())
def test_places_and_steps_equal_the_reference(lattice, data):
    """PF-03, PF-09, SK-06, SK-10: where a body fits and which steps it takes."""
    ground = data.draw(grounds(lattice))
    if data.draw(st.booleans()):
        rng = np.random.default_rng(data.draw(fc_st.seeds))
        ground.kept = {cell for cell in ground.cells() if rng.random() < 0.2}
    check_steps(ground, data.draw(st.sampled_from(bodies_of(lattice))))


@pytest.mark.parametrize("has_heights", [False, True])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_steps_on_dense_and_open_maps(seed, n, has_heights):
    """PF-03, PF-09, SK-06, SK-10: few obstacles, so that large bodies find room."""
    rng = np.random.default_rng((seed, n))
    shares = {
        "walls": 0.03 * (seed % 4),
        "pits": 0.03,
        "columns": 0.02,
        "thin": 0.02 * (seed % 3),
        "one_way": 0.04,
    }
    if has_heights:
        shares |= {"heights": (0,) * 12 + (1, 1, 2, 3), "lifted": 0.05, "walls": 0.01}
    ground = scatter(rng, SQUARES[1], (10, 11), **shares)
    ground.corners = ("both", "either", "free")[seed % 3]
    check_steps(ground, ref.block(n))


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(60)
@given(data=st.data())
def test_a_body_of_one_cell_steps_as_every_creature_does(lattice, data):
    ground = data.draw(grounds(lattice, heights=False))
    arrays = Arrays(ground)

    def inside(array: np.ndarray) -> np.ndarray:
        whole = array.reshape(ground.height + 2, ground.width + 2)
        return np.ascontiguousarray(whole[1:-1, 1:-1])

    barred = arrays.bits(ground.barred)
    expected = legal_steps(
        arrays.lattice,
        inside(arrays.flags(ground.open)),
        solid=inside(arrays.flags(ground.solid)),
        corners=ground.corners,
        barred=inside(barred) if barred.size else None,
    )
    np.testing.assert_array_equal(arrays.crop(arrays.steps([(0, 0)])), expected)


def test_a_border_inside_the_body_bars_the_place_not_one_beside_it():
    """PF-09: no blocking border runs inside a place."""
    ground = Ground("square", 2, 4, open={(r, c) for r in range(2) for c in range(4)})
    ground.inner = {((1, 1), 1), ((1, 2), 3)}
    fits = Arrays(ground).by_cell(Arrays(ground).place(ref.block(2))[2])
    assert [fits[0, col] for col in range(4)] == [True, False, True, False]


def test_a_one_way_border_bars_the_step_of_the_whole_body():
    """PF-09: a border that may not be crossed under any leading cell stops the body."""
    ground = Ground("square4", 2, 3, open={(r, c) for r in range(2) for c in range(3)})
    ground.barred = {((1, 1), 1)}
    steps = Arrays(ground).by_cell(Arrays(ground).steps(ref.block(2)))
    assert steps[0, 0] == 0  # not to the east
    assert steps[0, 1] == 1 << 3  # but back to the west


def test_corners_hold_for_the_whole_body():
    """PF-03, SK-10: a wall beside any cell of the body, past which a diagonal would slide."""
    ground = Ground("square", 4, 3, solid={(2, 2)})
    ground.open = set(ground.cells()) - {(2, 2)}
    south_west, south_east, north_east = 1 << 6, 1 << 5, 1 << 4
    for corners, legal in (("both", 0), ("either", 1 << 6), ("free", 1 << 6)):
        ground.corners = corners
        steps = Arrays(ground).by_cell(Arrays(ground).steps(ref.block(2)))
        assert steps[0, 1] & south_west == legal
        assert steps[0, 0] & south_east == 0  # the wall is in the place itself
        assert steps[1, 0] & north_east == legal >> 2
    ground.solid = set()  # a pit: no corners
    ground.corners = "both"
    steps = Arrays(ground).by_cell(Arrays(ground).steps(ref.block(2)))
    assert steps[0, 1] & south_west
    assert steps[1, 0] & north_east


def test_no_rise_to_the_limit_unless_lifted():
    """SK-06: the rise is that of the highest cells covered, before and after the step."""
    ground = Ground("square4", 2, 4, open={(r, c) for r in range(2) for c in range(4)})
    ground.tops = dict.fromkeys(ground.cells(), 0) | {(0, 1): 1, (1, 2): 2, (0, 3): 3}
    ground.limit = 2
    east, west = 1 << 1, 1 << 3
    steps = Arrays(ground).by_cell(Arrays(ground).steps([(0, 0)]))
    assert steps[1, 1] & east == 0  # 0 to 2
    assert steps[1, 3] & west == 0
    assert steps[1, 2] & (east | west) == east | west  # down
    steps = Arrays(ground).by_cell(Arrays(ground).steps(ref.block(2)))
    assert [steps[0, col] for col in range(3)] == [east, east | west, west]  # 1, 2, 3
    ground.limit = 1
    ground.lifted = {((0, 1), 1)}
    steps = Arrays(ground).by_cell(Arrays(ground).steps(ref.block(2)))
    assert [steps[0, col] for col in range(3)] == [0, east | west, west]


@pytest.mark.parametrize(("n", "place"), [(1, (2, 0)), (2, (1, 0))])
def test_an_element_as_high_above_the_place_as_the_limit_is_a_corner(n, place):
    """SK-10: what counts is how far it rises above the highest cell of the place left."""
    ground = Ground("square", 4, 3, open={(r, c) for r in range(4) for c in range(3)})
    ground.tops = dict.fromkeys(ground.cells(), 0) | {(place[0] + n - 1, n): 2}
    ground.limit = 2
    south_east = 1 << 5
    assert Arrays(ground).by_cell(Arrays(ground).steps(ref.block(n)))[place] & south_east == 0
    ground.corners = "either"
    assert Arrays(ground).by_cell(Arrays(ground).steps(ref.block(n)))[place] & south_east == (
        south_east if n == 1 else 0  # 2 x 2 would step on it
    )
    ground.corners = "both"
    ground.tops[place] = 1
    assert Arrays(ground).by_cell(Arrays(ground).steps(ref.block(n)))[place] & south_east


# ---- What the cells ask ------------------------------------------------------------------------


@pytest.mark.parametrize("lattice", fc_st.LATTICES)
@fc_st.examples(40)
@given(data=st.data())
def test_values_of_places_equal_the_reference(lattice, data):
    """PF-09: what the worst of the cells asks, of all of them and of the new ones."""
    ground = data.draw(grounds(lattice, heights=False))
    body = data.draw(st.sampled_from(bodies_of(lattice)))
    dtype = data.draw(st.sampled_from((np.uint16, np.int64, np.float64)))
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    drawn = rng.integers(0, 9, ground.height * ground.width)
    if dtype != np.uint16:
        drawn -= 4
    values = dict(zip(ground.cells(), drawn.tolist(), strict=True))
    arrays = Arrays(ground)
    on_map, (_, cells, _) = arrays.place(body)[0], arrays.tables(body)
    padded, out = arrays.values(values, dtype), np.full(arrays.size, 7, dtype)
    places = [cell for cell in ground.cells() if ref.is_on_map(ground, body, cell)]
    blank = dict.fromkeys(ground.cells(), 0)

    def all_values(cell: Cell) -> list[int]:
        return sorted(values[part] for part in ref.covered(ground, body, cell))

    bodies.worst(padded, arrays.parity, cells, on_map, out)
    assert arrays.by_cell(out) == blank | {cell: all_values(cell)[-1] for cell in places}
    bodies.median(padded, arrays.parity, cells, on_map, out)
    middle = (len(body) - 1) // 2
    assert arrays.by_cell(out) == blank | {cell: all_values(cell)[middle] for cell in places}
    out_flags = np.ones(arrays.size, bool)
    bodies.every(padded > 0, arrays.parity, cells, on_map, out_flags)
    assert arrays.by_cell(out_flags) == blank | {c: all_values(c)[0] > 0 for c in places}

    for direction in range(ground.n_directions):
        out[:] = 7
        bodies.worst_new(
            padded, arrays.parity, cells, on_map, arrays.offsets, ground.n_straight, direction, out
        )
        found = arrays.by_cell(out)
        for source in places:
            target = ground.beyond(source, direction)
            if target in places:
                new = ref.newly_covered(ground, body, target, direction)
                assert found[target] == max(values[cell] for cell in new)


# ---- Squeezing ---------------------------------------------------------------------------------


def check_squeezing(ground: Ground, n: int, k: int) -> None:
    arrays = Arrays(ground)
    empty = Ground(**{**vars(ground), "open": ground.open | ground.taken, "taken": set()})
    layers = Arrays(empty).count_classes(n, k)
    assert layers == max(len(ref.classes(empty, n, k, cell)) for cell in ground.cells())
    expected = {cell: ref.classes(ground, n, k, cell) for cell in ground.cells()}
    n_classes, cover, blocks, steps = arrays.squeeze(n, k, layers)
    assert arrays.by_cell(n_classes) == {cell: len(known) for cell, known in expected.items()}

    def cells_of(bits: int, side: int, window: Cell) -> set[Cell]:
        every = [(window[0] + i, window[1] + j) for i in range(side) for j in range(side)]
        return {cell for at, cell in enumerate(every) if bits >> at & 1}

    for layer in range(layers):
        covers, anchors = arrays.by_cell(cover[layer]), arrays.by_cell(blocks[layer])
        for window, known in expected.items():
            if layer >= len(known):
                assert covers[window] == anchors[window] == 0
                continue
            assert cells_of(covers[window], n, window) == known[layer].cover
            assert cells_of(anchors[window], n - k + 1, window) == known[layer].blocks
    assert steps_of(arrays, steps) == ref.squeezed_steps(ground, n, k)


def steps_of(arrays: Arrays, steps: np.ndarray) -> set:
    """Return the steps of an array as the reference has them."""
    inside = arrays.crop(steps)
    found = set()
    for s, t, row, col in np.argwhere(inside).tolist():
        for direction in range(8):
            if inside[s, t, row, col] >> direction & 1:
                beyond = arrays.ground.beyond((row, col), direction)
                found.add((((row, col), s), (beyond, t), direction))
    return found


@pytest.mark.parametrize("lattice", SQUARES)
@pytest.mark.parametrize(("n", "k"), SIZES)
@fc_st.examples(25)
@given(data=st.data())
def test_squeezing_equals_the_reference(lattice, n, k, data):
    """PF-10: the windows into which a body squeezes, their classes and the steps between them."""
    check_squeezing(data.draw(grounds(lattice, heights=False, most=7)), n, k)


@pytest.mark.parametrize("lattice", SQUARES)
@pytest.mark.parametrize(("n", "k"), SIZES)
@pytest.mark.parametrize("seed", range(8))
def test_squeezing_on_seeded_maps(lattice, n, k, seed):
    """PF-10: caves, fields of pits, mazes of thin walls, one-way borders, crowds."""
    rng = np.random.default_rng((seed, n, k))
    share = 0.06 + 0.24 / k**2
    kinds = (
        {"walls": share},
        {"walls": share / 2, "pits": share / 2, "creatures": 0.03},
        {"thin": share, "one_way": 0.02},
        {"walls": share / 2, "thin": share / 3, "one_way": 0.1, "creatures": 0.02, "columns": 0.05},
    )
    ground = scatter(rng, lattice, (8, 7), **kinds[seed % 4])
    ground.corners = ("both", "either", "free")[seed % 3]
    check_squeezing(ground, n, k)


def test_the_most_classes_a_window_can_have():
    """Every cell of a 4 x 4 window walled in: sixteen classes of one block each."""
    ground = Ground("square", 5, 5)
    ground.open = set(ground.cells())
    for cell in ground.cells():
        for direction in range(4):
            if ground.has(ground.beyond(cell, direction)):
                ground.inner.add((cell, direction))
    ground.barred = ground.inner
    arrays = Arrays(ground)
    assert arrays.count_classes(4, 1) == 16
    check_squeezing(ground, 4, 1)


@pytest.mark.parametrize(("n", "k"), SIZES)
@fc_st.examples(15)
@given(data=st.data())
def test_values_of_squeezed_places_equal_the_reference(n, k, data):
    """PF-09, PF-10: what the worst of the cells asks that a squeezed body covers."""
    ground = data.draw(grounds("square", heights=False, most=8))
    dtype = data.draw(st.sampled_from((np.uint16, np.int64, np.float64)))
    rng = np.random.default_rng(data.draw(fc_st.seeds))
    drawn = rng.integers(0, 9, ground.height * ground.width)
    if dtype != np.uint16:
        drawn -= 4
    values = dict(zip(ground.cells(), drawn.tolist(), strict=True))
    arrays = Arrays(ground)
    cover = arrays.squeeze(n, k, max(1, arrays.count_classes(n, k)))[1]
    padded = arrays.values(values, dtype)
    out, flags = np.full(arrays.size, 7, dtype), np.ones(arrays.size, bool)
    bodies.worst_covered(padded, cover[0], n, arrays.padded, out)
    bodies.every_covered(padded > 1, cover[0], n, arrays.padded, flags)
    worst, every = arrays.by_cell(out), arrays.by_cell(flags)
    for cell in ground.cells():
        known = ref.classes(ground, n, k, cell)
        asked = [values[part] for part in known[0].cover] if known else []
        assert worst[cell] == max(asked, default=0)
        assert every[cell] == (bool(asked) and min(asked) > 1)


# ---- Squeezing by hand -------------------------------------------------------------------------


def drawn(text: str, lattice: str = "square", corners: str = "both") -> Ground:
    """Return a map from a drawing: `.` floor, `#` wall, `o` pit, `@` creature.

    If it begins with `+`, every other line and every other sign stands for a border, `-` or `|`
    where it blocks.
    """
    lines = text.split()
    has_borders = lines[0][0] == "+"
    rows = [line[1::2] for line in lines[1::2]] if has_borders else lines
    ground = Ground(lattice, len(rows), len(rows[0]), corners=corners)
    for row, col in ground.cells():
        sign = rows[row][col]
        if sign == ".":
            ground.open.add((row, col))
        if sign == "#":
            ground.solid.add((row, col))
        if sign == "@":
            ground.taken.add((row, col))
        if has_borders and lines[2 * row][2 * col + 1] == "-" and row:
            ground.inner |= {((row, col), 0), ((row - 1, col), 2)}
        if has_borders and lines[2 * row + 1][2 * col] == "|" and col:
            ground.inner |= {((row, col), 3), ((row, col - 1), 1)}
    ground.barred = set(ground.inner)
    return ground


def places_reached(ground: Ground, n: int, k: int, start: Cell) -> set[tuple[Cell, int]]:
    """Return the windows (with 0 for full, or class + 1) reached from every state of a window."""
    arrays = Arrays(ground)
    layers = arrays.count_classes(n, k)
    n_classes, _, _, steps = arrays.squeeze(n, k, layers)
    ordinary, full = arrays.steps(ref.block(n)), arrays.place(ref.block(n))[2]
    at = arrays.flat(start)
    todo = [(at, s) for s in range(layers + 1) if (full[at] if s == 0 else s <= n_classes[at])]
    found = set(todo)
    while todo:
        at, s = todo.pop()
        for t in range(layers + 1):
            bits = ordinary[at] if s == t == 0 else steps[s, t, at]
            for direction in range(ground.n_directions):
                place = (at + int(arrays.offsets[0, direction]), t)
                if bits >> direction & 1 and place not in found:
                    found.add(place)
                    todo.append(place)
    width = arrays.padded
    return {((at // width - 1, at % width - 1), s) for at, s in found}


def test_a_body_squeezes_along_a_corridor_of_half_its_width():
    """PF-10: half of 2 x 2 is a corridor of 1; wide ground is full on both sides of it."""
    ground = drawn(
        """
        ..####..
        ........
        ..####..
        """
    )
    reached = places_reached(ground, 2, 1, (0, 0))
    assert ((0, 6), 0) in reached
    assert ((0, 3), 1) in reached
    assert ((0, 3), 0) not in reached
    assert ((1, 6), 0) in reached


def test_a_body_of_three_squeezes_through_a_corridor_of_two():
    """PF-10: 3 x 3 with blocks of 2 x 2; a corridor of 1 is too narrow."""
    wide = drawn(
        """
        ...####...
        ..........
        ..........
        """
    )
    assert ((0, 7), 0) in places_reached(wide, 3, 2, (0, 0))
    narrow = drawn(
        """
        ...####...
        ..........
        ...####...
        """
    )
    reached = places_reached(narrow, 3, 2, (0, 0))
    assert ((0, 7), 0) not in reached
    assert max(window[1] for window, _ in reached) == 1  # two columns of the hall are enough
    assert ((0, 7), 0) in places_reached(narrow, 3, 1, (0, 0))  # a third of its width would do


def test_a_body_of_four_squeezes_through_a_corridor_of_two_but_not_with_blocks_of_three():
    """PF-10: 4 x 4 with blocks of 2 x 2, and another system's n - 1."""
    ground = drawn(
        """
        ....#####....
        .............
        .............
        ....#####....
        """
    )
    assert ((0, 9), 0) in places_reached(ground, 4, 2, (0, 0))
    assert ((0, 9), 0) not in places_reached(ground, 4, 3, (0, 0))
    ground.open |= {(0, col) for col in range(4, 9)}  # three wide
    ground.solid -= ground.open
    assert ((0, 9), 0) in places_reached(ground, 4, 3, (0, 0))


def test_no_sliding_through_a_thin_wall():
    """PF-10: the two sides of a wall are two classes, and no step leads from one to the other."""
    ground = drawn(
        """
        +---------
        |.........
        +---------
        |.........
        +---------
        """
    )
    assert (ground.height, ground.width) == (2, 5)
    arrays = Arrays(ground)
    assert arrays.count_classes(2, 1) == 2
    n_classes, cover, _, steps = arrays.squeeze(2, 1, 2)
    assert arrays.crop(n_classes)[0].tolist() == [2, 2, 2, 2, 0]
    assert arrays.crop(cover)[:, 0, 0].tolist() == [0b0011, 0b1100]
    assert not steps[1, 2].any()
    assert not steps[2, 1].any()
    assert arrays.crop(steps)[1, 1, 0].tolist() == [1 << 1, 1 << 1 | 1 << 3, 1 << 1 | 1 << 3, 8, 0]


@pytest.mark.parametrize("corners", ["both", "either", "free"])
@pytest.mark.parametrize("gap", [None, 2, 4])
def test_from_hall_to_hall_only_through_the_gap_in_the_thin_wall(corners, gap):
    """PF-10: a full window reaches across a wall where the wall is open, nowhere else."""
    ground = drawn(
        """
        +---------
        |.........
        +.........
        |.........
        +---------
        |.........
        +.........
        |.........
        +---------
        """,
        corners=corners,
    )
    assert (ground.height, ground.width) == (4, 5)
    if gap is not None:
        ground.inner -= {((1, gap), 2), ((2, gap), 0)}
        ground.barred = set(ground.inner)
    reached = places_reached(ground, 2, 1, (0, 0))
    assert ((0, 3), 0) in reached
    assert (((2, 0), 0) in reached) == (gap is not None)
    arrays = Arrays(ground)
    cover = arrays.crop(arrays.squeeze(2, 1, 2)[1])
    for window in ((1, col) for col in range(4)):
        through = gap in (window[1], window[1] + 1)
        assert cover[0][window] == (0b1111 if through else 0b0011)
        assert (window, 1) in reached
        assert ((window, 2) in reached) == (gap is not None and not through)


@pytest.mark.parametrize(
    ("corners", "passes"), [("both", False), ("either", False), ("free", True)]
)
def test_no_passing_across_a_pinched_window(corners, passes):
    """PF-10: free cells that touch at a corner only are two classes."""
    ground = drawn(
        """
        ..##
        ..##
        ##..
        ##..
        """,
        corners=corners,
    )
    arrays = Arrays(ground)
    n_classes, cover, _, _ = arrays.squeeze(2, 1, 2)
    assert arrays.crop(n_classes)[1, 1] == 2
    assert arrays.crop(cover)[:, 1, 1].tolist() == [0b0001, 0b1000]
    reached = places_reached(ground, 2, 1, (0, 0))
    assert (((1, 1), 1) in reached, ((1, 1), 2) in reached) == (True, passes)
    assert (((2, 2), 0) in reached) == passes


def test_pits_are_no_corners_when_squeezing():
    """PF-03, PF-10: between two pits a block moves diagonally, between two walls it does not."""
    pits = drawn(
        """
        ..oo
        ..oo
        oo..
        oo..
        """
    )
    assert ((2, 2), 0) in places_reached(pits, 2, 1, (0, 0))
    assert ((2, 2), 0) not in places_reached(
        Ground(**{**vars(pits), "lattice": "square4"}), 2, 1, (0, 0)
    )


def test_no_squeezing_past_a_creature():
    """PF-10: what closes the other cells of the window is terrain, not a creature."""
    ground = drawn(
        """
        ......
        ...@..
        """
    )
    assert {window for window, _ in places_reached(ground, 2, 1, (0, 0))} == {(0, 0), (0, 1)}
    ground.taken.clear()
    assert ((0, 4), 0) in places_reached(ground, 2, 1, (0, 0))


def test_one_way_borders_part_the_blocks_of_a_window():
    """Two blocks are of one class only if each reaches the other."""
    ground = drawn(
        """
        ...
        ...
        ##.
        """
    )
    arrays = Arrays(ground)
    assert arrays.count_classes(3, 2) == 1
    ground.barred = {((0, 1), 1)}  # not to the east
    arrays = Arrays(ground)
    _, cover, blocks, _ = arrays.squeeze(3, 2, 2)
    assert arrays.crop(blocks)[:, 0, 0].tolist() == [0b0001, 0b0010]
    assert arrays.crop(cover)[:, 0, 0].tolist() == [0b100111111] * 2

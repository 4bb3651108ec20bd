"""What holds for every map: batches, budgets, symmetries, prices that only rise."""

from __future__ import annotations

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies
from reference.dijkstra import dijkstra
from reference.graph import MapSpec, Mover, cell_at, cell_totals, compass, position
from reference.sightsum import SightSpec


def options(query, ticks=1) -> dict:
    return {
        "parity": query.parity,
        "layer": query.layer,
        "initial": [total / ticks for total in query.initial],
    }


def draw_pairs(data, spec, count: int) -> np.ndarray:
    rng = np.random.default_rng(data.draw(strategies.seeds))
    return rng.integers(0, (spec.height, spec.width), (count, 2, 2))


def same(reach, other) -> bool:
    return reach == other and reach.budget == other.budget


# ---- Budgets -----------------------------------------------------------------------------------


@strategies.examples(80)
@given(strategies.movements(), st.integers(0, 60), st.integers(0, 60))
def test_reach_grows_with_the_budget(movement, one, other):
    spec, query = movement
    field = strategies.step_field(spec)
    less, more = (
        field.reach(query.starts, budget, **options(query)) for budget in sorted((one, other))
    )
    far = field.reach(query.starts, **options(query))
    wide = more.to_array()
    for cell, cost in zip(less.cells.tolist(), less.cost.tolist(), strict=True):
        assert wide[tuple(cell)] == cost
    stops = {tuple(cell) for cell in more.stops.tolist()}
    assert {tuple(cell) for cell in less.stops.tolist()} <= stops
    # The reach within a budget is what the whole distances say.
    expected = far.to_array()
    expected[expected > max(one, other)] = np.inf
    np.testing.assert_array_equal(wide, expected)


@strategies.examples(60)
@given(strategies.movements(single=True, layers=False), st.data())
def test_path_within_a_budget_is_the_path_without_it_or_none(movement, data):
    spec, query = movement
    field = strategies.step_field(spec)
    goal = tuple(draw_pairs(data, spec, 1)[0, 0].tolist())
    ask = {"parity": query.parity, "stop": False}
    free = field.path(query.starts[0], goal, **ask)
    if free:
        assert field.path(query.starts[0], goal, budget=free.cost, **ask).cost == free.cost
        if free.cost:
            assert not field.path(query.starts[0], goal, budget=free.cost - 1, **ask)


# ---- Batches -----------------------------------------------------------------------------------


@strategies.examples(80)
@given(strategies.movements(), st.data())
def test_batches_equal_single_calls(movement, data):
    spec, query = movement
    field = strategies.step_field(spec)
    pairs = draw_pairs(data, spec, 5)
    starts = pairs[:, 0]
    ask = {"parity": query.parity, "layer": query.layer}
    many = field.reach_many(starts, query.budget, **ask)
    assert len(many) == len(starts)
    for start, reach in zip(starts, many, strict=True):
        single = field.reach(start, query.budget, **ask)
        assert same(reach, single)
        for goal in pairs[:, 1]:
            assert reach.path_to(goal, stop=False) == single.path_to(goal, stop=False)
    for stop in (False, True):
        found = field.paths(pairs, budget=query.budget, stop=stop, **ask)
        singles = [field.path(a, b, budget=query.budget, stop=stop, **ask) for a, b in pairs]
        assert found == singles
        costs = field.path_costs(pairs, budget=query.budget, stop=stop, **ask)
        assert costs.tolist() == [path.cost for path in singles]


@strategies.examples(40)
@given(strategies.sights(), st.data())
def test_batches_of_sights_equal_single_calls(spec, data):
    field = strategies.sight_field(spec)
    pairs = draw_pairs(data, spec, 6)
    radius = data.draw(st.sampled_from((0, 3, 12)))
    for (a, b), sight in zip(pairs, field.sights(pairs), strict=True):
        single = field.sight(a, b)
        assert sight == single
        np.testing.assert_array_equal(sight.line, single.line)
        assert sight.pairs == single.pairs
    for cell, view in zip(pairs[:, 0], field.views(pairs[:, 0], radius), strict=True):
        assert view == field.view(cell, radius)


@pytest.mark.parametrize("name", ["reach_many", "paths", "path_costs"])
def test_empty_batches(name):
    field = fc.grid.field([[1, 1]])
    shape = (0, 2) if name == "reach_many" else (0, 2, 2)
    assert len(getattr(field, name)(np.zeros(shape, int))) == 0


# ---- Values: nothing given is changed, nothing kept can be ---------------------------------------


@strategies.examples(60)
@given(strategies.movements())
def test_inputs_are_left_alone_and_copied(movement):
    spec, query = movement
    given_spec = copy.deepcopy(spec)
    starts = np.array(query.starts)
    before = starts.copy()
    field = strategies.step_field(spec)
    reach = field.reach(starts, query.budget, **options(query))
    np.testing.assert_array_equal(starts, before)
    for name in ("open", "enter", "leave", "border", "stop", "halt", "solid"):
        for mine, theirs in zip(getattr(spec, name), getattr(given_spec, name), strict=True):
            np.testing.assert_array_equal(mine, theirs)
            mine[...] = 0
    assert same(field.reach(before, query.budget, **options(query)), reach)
    for array in (reach.cells, reach.cost, reach.can_stop, reach.parity):
        assert not array.flags.writeable


@strategies.examples(30)
@given(strategies.sights(), st.data())
def test_sight_inputs_are_left_alone_and_copied(spec, data):
    before = copy.deepcopy(spec)
    field = strategies.sight_field(spec)
    pairs = draw_pairs(data, spec, 6)
    sights = field.sights(pairs)
    for name, old in vars(before).items():
        if isinstance(old, np.ndarray):
            np.testing.assert_array_equal(getattr(spec, name), old)
            getattr(spec, name)[...] = 0
    assert field.sights(pairs) == sights


@strategies.examples(25)
@given(strategies.movements(), st.data())
def test_fields_pickle_and_threads_share_them(movement, data):
    spec, query = movement
    field = strategies.step_field(spec)
    again = pickle.loads(pickle.dumps(field))
    starts = draw_pairs(data, spec, 8)[:, 0]
    ask = {"parity": query.parity, "layer": query.layer}
    expected = [field.reach(start, query.budget, **ask) for start in starts]
    assert [again.reach(start, query.budget, **ask) for start in starts] == expected
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda start: field.reach(start, query.budget, **ask), starts))
    assert found == expected


# ---- Symmetries --------------------------------------------------------------------------------

QUARTER = {"square": lambda x, y: (-y, x), "hex": lambda x, y: ((x - 3 * y) // 2, (x + y) // 2)}


def to_plane(lattice: str, cell) -> tuple[int, int]:
    """Return a cell's place; hexes as on odd-r, whose x + y is even, the axes of -q exchanged."""
    x, y = position(lattice, cell)
    if lattice.endswith("q"):
        x, y = y, x
    return (x - 1 if lattice.startswith("even") else x), y


def from_plane(lattice: str, x: int, y: int):
    if lattice.startswith("even"):
        x += 1
    return cell_at(lattice, y, x) if lattice.endswith("q") else cell_at(lattice, x, y)


class Turned:
    """A map turned and mirrored, on a map of another lattice that is just large enough."""

    def __init__(self, source: str, target: str, shape, turns: int, mirrored: bool) -> None:
        self.source, self.target = source, target
        self.turns, self.mirrored = turns, mirrored
        cells = [(row, col) for row in range(shape[0]) for col in range(shape[1])]
        places = {cell: self._turn(*to_plane(source, cell)) for cell in cells}
        # By an even distance each way, so that rows and columns keep their parity.
        left = min(x for x, _ in places.values())
        top = min(y for _, y in places.values())
        move_x, move_y = -(left - left % 2) + 2, -(top - top % 2)
        self.cells = {
            cell: from_plane(target, x + move_x, y + move_y) for cell, (x, y) in places.items()
        }
        assert len(set(self.cells.values())) == len(cells)
        self.shape = tuple(max(cell[axis] for cell in self.cells.values()) + 1 for axis in (0, 1))
        self.directions = [self._direction(x, y) for x, y in compass(source)]

    def _turn(self, x: int, y: int) -> tuple[int, int]:
        if self.mirrored:
            x = -x
        for _ in range(self.turns):
            x, y = QUARTER["square" if self.source.startswith("square") else "hex"](x, y)
        return x, y

    def _direction(self, x: int, y: int) -> int:
        if self.source.endswith("q"):
            x, y = y, x
        x, y = self._turn(x, y)
        return compass(self.target).index((y, x) if self.target.endswith("q") else (x, y))

    def array(self, array, fill=0):
        """Return a cell array on the turned map."""
        turned = np.full((*self.shape, *array.shape[2:]), fill, array.dtype)
        for cell, there in self.cells.items():
            turned[there] = array[cell]
        return turned

    def bits(self, array):
        """Return an array of direction bits on the turned map."""
        turned = self.array(array)
        out = np.zeros_like(turned)
        for direction, there in enumerate(self.directions):
            out |= ((turned >> direction) & 1).astype(array.dtype) << there
        return out

    def by_direction(self, enter):
        """Return the arrays that each direction enters by on the turned map."""
        if isinstance(enter, int):
            return enter
        there = dict(zip(self.directions, enter, strict=False))
        return tuple(there[direction] for direction in range(len(enter)))

    def border(self, array):
        turned = self.array(array)
        out = np.zeros_like(turned)
        out[:, :, self.directions] = turned[:, :, : len(self.directions)]
        return out

    def back(self, array):
        """Return a cell array of the turned map as the first map has it."""
        rows, cols = zip(*self.cells.values(), strict=True)
        shape = tuple(max(cell[axis] for cell in self.cells) + 1 for axis in (0, 1))
        return array[list(rows), list(cols)].reshape(shape)


@st.composite
def turnings(draw, lattice: str, shape) -> Turned:
    if lattice.startswith("square"):
        return Turned(lattice, lattice, shape, draw(st.integers(0, 3)), draw(st.booleans()))
    target = draw(st.sampled_from(strategies.HEXES))
    return Turned(lattice, target, shape, draw(st.integers(0, 5)), draw(st.booleans()))


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(40)
@given(data=st.data())
def test_turning_and_mirroring_keeps_costs(lattice, data):
    spec, query = data.draw(strategies.movements(lattice))
    turned = data.draw(turnings(lattice, (spec.height, spec.width)))
    other = replace(
        spec,
        lattice=turned.target,
        height=turned.shape[0],
        width=turned.shape[1],
        open=[turned.array(array) for array in spec.open],
        solid=[turned.array(array) for array in spec.solid],
        enter=[turned.array(array, 1) for array in spec.enter],
        leave=[turned.array(array) for array in spec.leave],
        border=[turned.border(array) for array in spec.border],
        stop=[turned.array(array) for array in spec.stop],
        halt=[turned.array(array) for array in spec.halt],
        barred=None if spec.barred is None else turned.bits(spec.barred),
        links=[
            replace(
                link,
                direction=None if link.direction is None else turned.directions[link.direction],
                cells=None if link.cells is None else turned.array(link.cells),
                steps=None if link.steps is None else turned.bits(link.steps),
            )
            for link in spec.links
        ],
        layers=[replace(layer, enter=turned.by_direction(layer.enter)) for layer in spec.layers],
    )
    starts = [turned.cells[cell] for cell in query.starts]
    here = strategies.step_field(spec).reach(query.starts, query.budget, **options(query))
    there = strategies.step_field(other).reach(starts, query.budget, **options(query))
    assert len(here) == len(there)
    np.testing.assert_array_equal(turned.back(there.to_array()), here.to_array())
    stops = {tuple(cell) for cell in there.stops.tolist()}
    assert {turned.cells[tuple(cell)] for cell in here.stops.tolist()} == stops


SIGHT_ARRAYS = (
    "between", "at_target", "at_viewer", "adjacent_target", "adjacent_viewer", "opaque", "light",
    "walls",
)  # fmt: skip


@pytest.mark.parametrize("lattice", strategies.LATTICES)
@strategies.examples(30)
@given(data=st.data())
def test_turning_and_mirroring_turns_views(lattice, data):
    spec = data.draw(strategies.sights(lattice, strategies.small_shapes))
    # A margin all round: what is off the map takes no part, and that is not the same when turned.
    margin = 2
    spec.height, spec.width = spec.height + 2 * margin, spec.width + 2 * margin
    turned = data.draw(turnings(lattice, (spec.height, spec.width)))
    other = replace(spec, lattice=turned.target, height=turned.shape[0], width=turned.shape[1])
    for name in SIGHT_ARRAYS:
        array = getattr(spec, name)
        if array is not None:
            array = np.pad(array, margin)
            setattr(spec, name, array)
            setattr(other, name, turned.bits(array) if name == "walls" else turned.array(array))
    inner = (slice(margin, -margin), slice(margin, -margin))
    rng = np.random.default_rng(data.draw(strategies.seeds))
    viewer = tuple(int(rng.integers(margin, size - margin)) for size in (spec.height, spec.width))
    here = strategies.sight_field(spec).view(viewer, 30)
    there = strategies.sight_field(other).view(turned.cells[viewer], 30)
    np.testing.assert_array_equal(turned.back(there.malus)[inner], here.malus[inner])


# ---- Prices ------------------------------------------------------------------------------------


@strategies.examples(100)
@given(strategies.movements(), st.data())
def test_raising_a_price_never_lowers_a_total(movement, data):
    spec, query = movement
    before = strategies.step_field(spec).distances(query.starts, **options(query))
    rng = np.random.default_rng(data.draw(strategies.seeds))
    dearer = copy.deepcopy(spec)
    for name in ("enter", "leave", "border"):
        for array in getattr(dearer, name):
            chosen = rng.random(array.shape) < 0.2
            array[chosen] += rng.integers(0, 9)
            np.minimum(array, strategies.LARGEST // 2, out=array, where=array < 60_000)
    if max(int(array.max()) for array in dearer.enter) > strategies.LARGEST:
        return
    after = strategies.step_field(dearer).distances(query.starts, **options(query))
    assert np.all(after >= before)


NAMED = {
    "equidistant": ((1, 1), 1),
    "approximate": ((2, 3), 2),
    "rectilinear": ((1, 2), 1),
    "illegal": ("illegal", 1),
    "alternating": ("alternating", 1),
    "alternating-2": ("alternating-2", 1),
    (70, 99): ((70, 99), 70),
}


@strategies.examples(150)
@given(st.data())
def test_array_front_door_equals_the_reference(data):
    lattice = data.draw(st.sampled_from(("square", *strategies.HEXES)))
    named = data.draw(st.sampled_from(list(NAMED))) if lattice == "square" else "equidistant"
    rule, factor = NAMED[named]
    shape = data.draw(strategies.small_shapes)
    rng = np.random.default_rng(data.draw(strategies.seeds))
    weights = rng.integers(1, 7, shape)
    # Quarters, tenths or whole points; where diagonals alternate they must be whole.
    parts = (
        1 if isinstance(rule, str) and rule != "illegal" else data.draw(st.sampled_from((1, 4, 10)))
    )
    closed = rng.random(shape) < 0.2
    start = tuple(int(i) for i in np.argwhere(~closed)[0]) if not closed.all() else None
    leave = rng.integers(0, 3, shape)
    cost = np.where(closed, np.inf, weights / parts)
    spec = MapSpec(lattice, *shape, [~closed], [weights], leave=[factor * leave], diagonal=rule)
    spec.layers = [replace(spec.layers[0], leave=0)]
    spec.corners = data.draw(st.sampled_from(("both", "either", "free")))
    parity = data.draw(st.integers(0, 1))
    door, ask = (
        (fc.grid, {"diagonals": named, "corners": spec.corners})
        if lattice == "square"
        else (fc.hexes, {"layout": lattice})
    )
    field = door.field(cost, leave=leave / parts, **ask)
    if start is None:
        with pytest.raises(fc.ClosedCellError):
            field.reach((0, 0))
        return
    mover = Mover(spec)
    node = (0, *start, parity if spec.alternates else 0, 0)
    best = cell_totals(mover, dijkstra(mover, {node: 0}))
    expected = np.full(shape, np.inf)
    for cell, (total, _, _) in best.items():
        expected[cell] = total / (factor * parts)
    np.testing.assert_array_equal(field.distances(start, parity=parity), expected)
    for cell, (total, _, _) in list(best.items())[:: max(1, len(best) // 8)]:
        budget = total / (factor * parts)
        assert cell in field.reach(start, budget, parity=parity)
        assert field.path(start, cell, parity=parity).cost == budget


@strategies.examples(60)
@given(st.data())
def test_hex_front_door_sees_as_the_field_does(data):
    layout = data.draw(st.sampled_from(strategies.HEXES))
    spec = data.draw(strategies.sights(layout))
    spec = SightSpec(
        layout, spec.height, spec.width, between=spec.between, at_target=spec.between,
        adjacent_target=spec.between, opaque=spec.opaque, light=spec.light,
        threshold=spec.threshold, line=spec.line, tie=spec.tie,
    )  # fmt: skip
    pairs = draw_pairs(data, spec, 6)
    sights = fc.hexes.sights(
        spec.between / 2, pairs, layout=layout, threshold=spec.threshold, line=spec.line,
        tie=spec.tie, opaque=spec.opaque, light=spec.light,
    )  # fmt: skip
    assert sights == strategies.sight_field(spec).sights(pairs)


def test_zero_budget_stays_and_infinite_is_no_limit():
    reach = fc.grid.reach([[1, 1]], (0, 0), 0)
    assert reach.cells.tolist() == [[0, 0]]
    assert len(fc.grid.reach([[1, 1]], (0, 0), math.inf)) == 2

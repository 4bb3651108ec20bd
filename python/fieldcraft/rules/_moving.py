"""From a map and a creature to a step field: gaits, sheets, occupancy, reasons, updates.

A *gait* is a way of moving (walking, crawling, flying). A *sheet* is what becomes a layer of the
field: a gait, with the place's class where the body squeezes, or the direction it faces. Maps have
few kinds of cells and many cells, so a rule is worked out once a kind and spread over the map by
one indexing of `Terrain.codes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.body import Body, Places
from fieldcraft.creature import Creature, Token, without
from fieldcraft.errors import MapError, RulesError
from fieldcraft.fields import Layer, Link, Part, Patch, StepField, windows
from fieldcraft.frozen import cached_property
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import Stake
from fieldcraft.rules._borders import Edges, Parts, crossings, mask, total
from fieldcraft.rules._gaits import (
    GROUND,
    MAX_TICKS,
    Gait,
    Movement,
    Mover,
    Occupancy,
    Occupants,
    Pace,
    Relate,
    Switch,
    Types,
    spread,
)
from fieldcraft.rules._risks import Risks, Strides, is_of_one_cell, provoking, risks
from fieldcraft.rules._stakes import Other, Stride
from fieldcraft.terrain import HIGHEST, Perch, Terrain

if TYPE_CHECKING:
    from fieldcraft.rules._grid import GridRules

__all__ = ["Explainer", "Setting", "Site", "compile_field"]

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Masks = npt.NDArray[np.uint8]
NONE = -1
PATCH_CELLS = 250
"""A part of a map compiled by itself takes as long as so many cells beyond its own."""
# -- the map as it is compiled ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Site:
    """A map, or a part of one, with what a creature makes of its kinds and borders.

    `edges` are those on the ground and those in the air; `perches` are those of the whole map, of
    which a part begins at `origin`; `read` keeps what kinds of cells are to a gait and `common`
    what else is worked out once for the map and its parts, `memo` what is for this part.
    """

    rules: GridRules
    terrain: Terrain
    kinds: Sequence[Types | None]
    edges: tuple[Edges, Edges]
    bodies: tuple[Body, ...]
    perches: tuple[Perch, ...] = ()
    read: dict[Gait, Kinds] = field(default_factory=dict, repr=False)
    common: dict[Any, Any] = field(default_factory=dict, repr=False)
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    origin: Cell = (0, 0)

    @cached_property
    def masks(self) -> list[dict[str, Masks | None]]:
        """Borders that block both ways, and those that may not be crossed, by edges."""
        shape = self.terrain.shape
        return [
            {"inner": mask(shape, edges.inner), "barred": mask(shape, edges.barred)}
            for edges in self.edges
        ]

    @cached_property
    def crossings(self) -> list[list[dict[tuple[Cell, int], tuple[tuple[str, int], ...]]]]:
        """What borders add to the steps, by edges and body."""
        return [[crossings(edges, body) for body in self.bodies] for edges in self.edges]

    @cached_property
    def on_map(self) -> list[Bools]:
        """Where each body is on the map, by its anchor."""
        return [body.on_map() for body in self.bodies]

    @cached_property
    def tops(self) -> npt.NDArray[np.float64]:
        """The top of each cell, checked: heights are compared in whole thousandths."""
        tops = self.terrain.elevation
        bad = ~(np.abs(tops) <= HIGHEST)
        if bad.any():
            row, col = np.argwhere(bad)[0]
            raise MapError(
                f"the elevation at cell ({row}, {col}) is {tops[row, col]}; expected a number from "
                f"{-HIGHEST:,} to {HIGHEST:,}"
            )
        return tops

    @cached_property
    def height(self) -> list[npt.NDArray[np.float64]]:
        """The highest top that each body covers, by its anchor."""
        elevation = self.tops
        return [
            body.worst(elevation, on_map)
            for body, on_map in zip(self.bodies, self.on_map, strict=True)
        ]

    def lifted(self, body: int) -> list[tuple[Cell, int]]:
        """Return the steps of a body that lead over a ladder, by its anchor."""
        edges = self.edges[0]
        ladders = Edges(edges.lattice, priced=dict.fromkeys(edges.lifted, (("", 1),)))
        straight = self.terrain.lattice.n_straight
        return [step for step in crossings(ladders, self.bodies[body]) if step[1] < straight]

    def flags_at(self, cells: Array) -> Bools:
        """Return a map with some cells of the whole map flagged, (n, 2), those that lie on it."""
        flags = np.zeros(self.terrain.shape, bool)
        here = cells.reshape(-1, 2) - np.array(self.origin)
        here = here[(here >= 0).all(axis=1) & (here < self.terrain.shape).all(axis=1)]
        flags[here[:, 0], here[:, 1]] = True
        return flags

    def has(self, cell: Cell) -> bool:
        """Return whether a cell lies on it."""
        return 0 <= cell[0] < self.terrain.shape[0] and 0 <= cell[1] < self.terrain.shape[1]

    def cropped(self, row: int, col: int, height: int, width: int) -> Site:
        """Return a part of the map, whose first cell is (row, col)."""
        part = (slice(row, row + height), slice(col, col + width))
        terrain = self.terrain
        cut = Terrain(
            terrain.lattice,
            terrain.codes[part],
            terrain.kinds,
            terrain.elevation[part] if terrain.has_elevation else terrain.elevation,
        )
        bodies = tuple(Body(b.lattice, (height, width), b.offsets) for b in self.bodies)
        ground, air = (edges.cropped(row, col, (height, width)) for edges in self.edges)
        # All perches, wherever they lie: they decide which links there are.
        return Site(
            self.rules, cut, self.kinds, (ground, air), bodies, self.perches, self.read,
            self.common, origin=(row, col),
        )  # fmt: skip

    def steps_from(
        self, anchors: Array, direction: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return those anchors whose step in a direction stays on the map, and where it leads."""
        lattice, shape = self.terrain.lattice, self.terrain.shape
        ends = anchors + lattice.offsets()[lattice.parity(anchors), direction]
        inside = (ends >= 0).all(axis=1) & (ends < shape).all(axis=1)
        return anchors[inside], ends[inside]


@dataclass(frozen=True, eq=False)
class Cells:
    """What the cells of a map are to one gait, creatures considered.

    `ground`: open but for creatures; `taken`: closed by one; `price` in ticks, `tight` the same
    while squeezing; `solid`: has corners; `stop`; `leave` in ticks; `low`: filled by an obstacle
    that must be left again; `free`: nobody is there with whom one may not stop; `named`: of such
    a body of several cells must cover one (water, to one that swims).
    """

    ground: Bools
    taken: Bools
    solid: Bools
    price: npt.NDArray[np.int64]
    tight: npt.NDArray[np.int64] | None
    stop: Bools
    leave: npt.NDArray[np.int64] | None
    low: Bools | None
    free: Bools
    named: Bools | None


class Kinds(NamedTuple):
    """What each kind of cell is to one gait: the values that `Cells` spreads over the map."""

    ground: list[bool]
    named: list[bool] | None
    solid: list[bool]
    price: list[int]
    tight: list[int] | None
    rests: list[bool]
    leave: list[int]
    low: list[bool]


def read_kinds(site: Site, mover: Mover) -> Kinds:
    """Return what the kinds of cells are to a gait; worked out once for a map and its parts."""
    if mover.gait not in site.read:
        site.read[mover.gait] = _read_kinds(site, mover)
    return site.read[mover.gait]


def _read_kinds(site: Site, mover: Mover) -> Kinds:
    rules, kinds = site.rules, site.kinds
    open_ = [bool(t) and rules._open(t or (), mover) for t in kinds]
    named = None
    if mover.gait.mode in ("swim", "climb") and any(body.size > 1 for body in site.bodies):
        # A body pays and needs what its worst cell asks, and may lie on plain ground in part.
        walker = replace(mover, gait=replace(mover.gait, mode="walk"))
        named = open_
        open_ = [
            bool(t)
            and (mine or (not any(e.speeds for e in t or ()) and rules._open(t or (), walker)))
            for t, mine in zip(kinds, open_, strict=True)
        ]
    squeezes = any(rules._block(mover.creature, body) for body in site.bodies)
    return Kinds(
        open_,
        named,
        [bool(t) and rules._solid(t or (), mover) for t in kinds],
        [price(rules, t, (), mover) if t else 1 for t in kinds],
        [price(rules, t, (), mover, squeezed=True) if t else 1 for t in kinds]
        if squeezes
        else None,
        [not t or rules._rests(t, mover) for t in kinds],
        [fits(total(rules._leave_parts(t, mover)), t) if t else 0 for t in kinds],
        [bool(t) and rules._obstructs(t or (), mover) for t in kinds],
    )


def price(
    rules: GridRules, types: Types, who: Occupants, mover: Mover, *, squeezed: bool = False
) -> int:
    """Return the ticks of a cell with somebody in it."""
    return fits(total(rules._enter_parts(types, who, mover, squeezed=squeezed)) or 1, types)


def read_cells(site: Site, mover: Mover, occupants: Mapping[Cell, Occupants]) -> Cells:
    """Return what the cells are to a gait."""
    rules, terrain = site.rules, site.terrain
    kinds = read_kinds(site, mover)
    ground = spread(terrain, kinds.ground, bool)
    prices = spread(terrain, kinds.price, np.int64)
    tight = None if kinds.tight is None else spread(terrain, kinds.tight, np.int64)
    free = np.ones(terrain.shape, bool)
    taken = np.zeros(terrain.shape, bool)
    for cell, who in occupants.items():
        types = site.kinds[terrain.codes[cell]]
        if not all(rules._pass(o, mover) for o in who):
            taken[cell] = ground[cell]
        if not all(rules._stop_on(o, mover) for o in who):
            free[cell] = False
        if types:
            prices[cell] = price(rules, types, who, mover)
            if tight is not None:
                tight[cell] = price(rules, types, who, mover, squeezed=True)
    return Cells(
        ground,
        taken,
        spread(terrain, kinds.solid, bool),
        prices,
        tight,
        spread(terrain, kinds.rests, bool) & free,
        spread(terrain, kinds.leave, np.int64) if any(kinds.leave) else None,
        spread(terrain, kinds.low, bool) if any(kinds.low) else None,
        free,
        None if kinds.named is None else spread(terrain, kinds.named, bool),
    )


def fits(ticks: int, types: Types) -> int:
    """Return a price, or raise RulesError if it is more than a field can carry."""
    if ticks > MAX_TICKS:
        names = ", ".join(entry.id for entry in types)
        raise RulesError(f"a cell of {names} costs {ticks} ticks, more than can be counted")
    return ticks


# -- sheets -------------------------------------------------------------------------------------


@dataclass
class Sheet:
    """What becomes a layer of a field; maps by the anchor of the body's place."""

    gait: int
    fits: Bools
    enter: list[Array]
    stop: Bools
    leave: Array | None
    border: Array | None
    body: int = 0
    cover: npt.NDArray[np.uint16] | None = None
    blocks: npt.NDArray[np.uint16] | None = None
    squeezed: int = 0
    onward: Bools | None = None


@dataclass
class Plan:
    """Sheets, the steps between them, and the changes standing still."""

    sheets: list[Sheet] = field(default_factory=list)
    steps: dict[tuple[int, int], Masks] = field(default_factory=dict)
    changes: list[tuple[int, int, int, Bools | None, int]] = field(default_factory=list)
    slants: list[tuple[int, int, int]] = field(default_factory=list)
    seats: list[tuple[int, Bools]] = field(default_factory=list)
    home: int = 0
    stay: Bools | None = None
    classes: tuple[int, ...] = ()
    n_directions: int = 8


class Setting(NamedTuple):
    """What is compiled, apart from the map: kept to compile parts of it again."""

    creature: Creature
    token: Token | None
    pace: Pace
    gaits: tuple[Gait, ...]
    start: int
    facing: int
    classes: tuple[int, ...] | None = None
    paid: tuple[tuple[bool, bool], ...] | None = None


def make_plan(site: Site, setting: Setting, occupancy: Occupancy) -> Plan:
    """Compile a map, or a part of one, into sheets."""
    plan = Plan(n_directions=site.terrain.lattice.n_directions)
    rules, terrain = site.rules, site.terrain
    at: list[list[int]] = []
    read: list[Cells] = []
    classes = []
    for number, gait in enumerate(setting.gaits):
        mover = Mover(setting.creature, setting.token, gait, terrain.has_elevation)
        occupants = occupancy.get(gait.plane, {})
        cells = read_cells(site, mover, occupants)
        known = None if setting.classes is None else setting.classes[number]
        made = len(plan.sheets)
        classes.append(_add_gait(plan, site, mover, number, cells, known))
        at.append(list(range(made, len(plan.sheets))))
        read.append(cells)
    _take_seats(plan, site, setting, at, read)
    plan.classes = tuple(classes)
    for switch in rules._switches(site, setting, occupancy):
        _add_switch(plan, at, switch)
    _add_turns(plan, at, rules)
    if setting.paid is not None:
        _fill(plan, setting.paid)
    return plan


def _fill(plan: Plan, paid: Sequence[tuple[bool, bool]]) -> None:
    """Give sheets the maps of exits and borders that they have elsewhere: nothing is paid here."""
    exits: dict[tuple[int, int], Array] = {}
    borders: dict[tuple[int, int], Array] = {}
    for sheet, (leave, border) in zip(plan.sheets, paid, strict=True):
        # Sheets of one gait and body share them.
        key = sheet.gait, sheet.body
        shape = sheet.fits.shape
        if leave and sheet.leave is None:
            sheet.leave = exits.setdefault(key, np.zeros(shape, np.int64))
        if border and sheet.border is None:
            n_directions = plan.n_directions
            sheet.border = borders.setdefault(key, np.zeros((*shape, n_directions), np.int64))


def _add_gait(
    plan: Plan, site: Site, mover: Mover, number: int, cells: Cells, classes: int | None
) -> int:
    """Add the sheets of a gait: full places by facing, then squeezed ones."""
    rules, counts = site.rules, site.rules._movement()
    first = len(plan.sheets)
    for index, body in enumerate(site.bodies):
        places = find_places(site, mover, body, cells)
        steps = places.steps
        if counts.straight_only:
            steps = steps & np.uint8((1 << site.terrain.lattice.n_straight) - 1)
        if mover.gait.still:
            places = places._replace(fits=rules._seats(site, mover, cells.free))
            steps = np.zeros_like(steps)
        held = places.on_map
        if cells.named is not None:
            held = places.on_map & ~body.every(~cells.named, places.on_map)
            steps = _into(steps, held, site.terrain.lattice)
        enter = _entries(body, cells.price, places, counts.footprint)
        extra = rules._step_prices(site, mover, index, cells.price, enter[0])
        leave = None if cells.leave is None else body.worst(cells.leave, places.on_map)
        sheet = Sheet(
            number, places.fits & held, enter, body.every(cells.stop, places.on_map), leave,
            _borders(site.crossings[mover.aloft][index], site.terrain, extra), index,
        )  # fmt: skip
        if cells.low is not None:
            sheet.onward = places.on_map & ~body.every(~cells.low, places.on_map)
        plan.steps[len(plan.sheets), len(plan.sheets)] = steps
        plan.sheets.append(sheet)
        side = rules._block(mover.creature, body)
        if side and cells.tight is not None:
            classes = _add_squeezed(plan, site, mover, cells, places, side, classes)
    for sheet in plan.sheets[first:]:
        _flatten(sheet, site)
    return classes or 0


def find_places(site: Site, mover: Mover, body: Body, cells: Cells) -> Places:
    """Return where a body may be and go by a gait, in each group of terrains on its own."""
    rules = site.rules
    options: dict[str, Any] = {"corners": rules._movement().corners, **site.masks[mover.aloft]}
    climb = rules._climbing(site, mover)
    if climb is not None:
        lifted = rules._lifted(site, mover, body)
        limit, high = climb
        options |= {"tops": site.tops, "limit": limit, "high": high, "lifted": lifted}
    groups = rules._groups(site, mover)
    if groups is None:
        return body.places(cells.ground, taken=cells.taken, solid=cells.solid, **options)
    found = body.places(cells.ground, **options)
    steps = np.zeros_like(found.steps)
    for inside in groups:
        legal = body.places(inside, taken=cells.taken, solid=~inside, **options).steps
        np.copyto(steps, legal, where=inside)
    return found._replace(steps=steps)


def _into(steps: Masks, places: Bools, lattice: Lattice) -> Masks:
    """Return the steps that lead to some places."""
    found = np.zeros_like(steps)
    for direction in range(lattice.n_directions):
        bit = np.uint8(1 << direction)
        found |= np.where(_beyond(places, lattice, direction), steps & bit, np.uint8(0))
    return found


def _entries(body: Body, price: Array, places: Places, footprint: str) -> list[Array]:
    """Return what entering a place costs: one map, or one for each direction."""
    if body.size == 1 or footprint == "anchor":
        return [price]
    if footprint == "median":
        return [body.median(price, places.on_map)]
    if footprint == "worst-new":
        n = body.lattice.n_directions
        return [body.worst_new(price, places.on_map, direction) for direction in range(n)]
    return [body.worst(price, places.on_map)]


def _borders(
    crossed: Mapping[tuple[Cell, int], tuple[tuple[str, int], ...]],
    terrain: Terrain,
    extra: Iterable[tuple[Array, int, Array]],
) -> npt.NDArray[np.int64] | None:
    """Return what borders and steps cost by direction, or None where nothing does."""
    height, width = terrain.shape
    found: npt.NDArray[np.int64] | None = None
    for anchors, direction, ticks in extra:
        if found is None:
            found = np.zeros((height, width, terrain.lattice.n_directions), np.int64)
        found[anchors[:, 0], anchors[:, 1], direction] += ticks
        _count(ticks, anchors)
    for ((row, col), direction), parts in crossed.items():
        if found is None:
            found = np.zeros((height, width, terrain.lattice.n_directions), np.int64)
        if 0 <= row < height and 0 <= col < width:
            found[row, col, direction] += total(parts)
            if found[row, col, direction] > MAX_TICKS:
                raise MapError(f"the borders at cell ({row}, {col}) cost too much to count")
    return found


def _count(ticks: Array, cells: Array) -> None:
    if ticks.size and ticks.max() > MAX_TICKS:
        row, col = cells[int(ticks.argmax())]
        raise MapError(f"a step from cell ({row}, {col}) costs more than can be counted")


def _add_squeezed(
    plan: Plan,
    site: Site,
    mover: Mover,
    cells: Cells,
    full: Places,
    side: int,
    classes: int | None,
) -> int:
    """Add a sheet for each class of squeezed places; return how many there are."""
    (body,) = site.bodies
    rules = site.rules
    corners = rules._movement().corners
    found = body.squeezed(
        side, cells.ground, cells.taken, full, solid=cells.solid, corners=corners,
        straight_only=rules._movement().straight_only, classes=classes, **site.masks[mover.aloft],
    )  # fmt: skip
    base = len(plan.sheets) - 1
    whole, tight = plan.sheets[base], cells.tight
    assert tight is not None
    n_classes = len(found.cover)
    for number in range(n_classes):
        cover = found.cover[number]
        held, obstacle = cover > 0, None
        if cells.named is not None:
            held = held & ~body.every_covered(~cells.named, cover)
        if cells.low is not None:
            obstacle = (cover > 0) & ~body.every_covered(~cells.low, cover)
        plan.sheets.append(
            Sheet(
                whole.gait, held, [np.maximum(body.worst_covered(tight, cover), 1)],
                body.every_covered(cells.stop, cover) & held, whole.leave, whole.border, 0, cover,
                found.blocks[number], number + 1, onward=obstacle,
            )
        )  # fmt: skip
    straight = np.uint8(0x0F if rules._movement().straight_only else 0xFF)
    for source in range(n_classes + 1):
        for target in range(n_classes + 1):
            if source or target:
                moves = found.moves[source, target] & straight
                if cells.named is not None:
                    held = plan.sheets[base + target].fits
                    moves = _into(moves, held, site.terrain.lattice)
                plan.steps[base + source, base + target] = moves
    return n_classes


def _beyond(flags: Bools, lattice: Lattice, direction: int) -> Bools:
    """Return where the cell one step away has the flag."""
    found = np.zeros(flags.shape, bool)
    axes = np.indices(flags.shape, sparse=True)
    lines = np.broadcast_to(axes[1 if lattice.is_flat else 0] & 1, flags.shape)
    for parity in range(2 if lattice.is_hex else 1):
        d_row, d_col = (int(x) for x in lattice.offsets()[parity, direction])
        here, there = windows(flags.shape[0], flags.shape[1], d_row, d_col)
        mine = lines[here] == parity if lattice.is_hex else True
        found[here] |= flags[there] & mine
    return found


def _flatten(sheet: Sheet, site: Site) -> None:
    """Move surcharges from the entry, which diagonals multiply, to the border."""
    counts, lattice = site.rules._movement(), site.terrain.lattice
    if not counts.flat:
        return
    border = np.zeros((*site.terrain.shape, lattice.n_directions), np.int64)
    if sheet.border is not None:
        border += sheet.border
    for direction in range(lattice.n_directions):
        price = sheet.enter[direction if len(sheet.enter) > 1 else 0]
        d_row, d_col = (int(x) for x in lattice.offsets()[0, direction])
        here, there = windows(*site.terrain.shape, d_row, d_col)
        border[(*here, direction)] += np.maximum(price[there] - counts.plain, 0)
    sheet.border = border
    sheet.enter = [np.ones(site.terrain.shape, np.int64)]


def _take_seats(
    plan: Plan,
    site: Site,
    setting: Setting,
    at: Sequence[Sequence[int]],
    cells: Sequence[Cells],
) -> None:
    """Note in which sheets a movement begins, and where it may end before it has begun.

    A body that is squeezed where it begins is so by whichever way of moving over the ground.
    """
    index = setting.facing if len(site.bodies) > 1 else 0
    body, on_map = site.bodies[index], site.on_map[index]
    start = setting.gaits[setting.start]
    plan.home = next(n for n in at[setting.start] if plan.sheets[n].body == index)
    plan.stay = body.every(cells[setting.start].free, on_map)
    for number, gait in enumerate(setting.gaits):
        alike = (gait.plane, gait.prone, gait.still) == (start.plane, start.prone, start.still)
        if number != setting.start and not (alike and gait.plane == GROUND):
            continue
        for sheet in at[number]:
            cover = plan.sheets[sheet].cover
            if cover is not None:
                plan.seats.append((sheet, cover > 0))
                plan.stay |= body.every_covered(cells[number].free, cover)
    if plan.seats:
        plan.seats.append((plan.home, plan.sheets[plan.home].fits))


def _add_switch(plan: Plan, at: Sequence[Sequence[int]], switch: Switch) -> None:
    """Add a change of gait between sheets that hold the body alike, or some cell of it."""
    for source in at[switch.source]:
        for target in at[switch.target]:
            one, other = plan.sheets[source], plan.sheets[target]
            if one.body != other.body:
                continue
            if switch.slant:
                if one.squeezed == other.squeezed == 0:
                    plan.slants.append((source, target, switch.ticks))
                continue
            where = other.fits
            if not switch.fitting and other.cover is not None:
                where = other.cover > 0
            elif not switch.fitting and one.cover is None:
                where = np.ones_like(other.fits)
            if one.blocks is not None and other.blocks is not None:
                # It stays in a block that both ways of moving know: no wall is passed.
                where = where & (one.blocks & other.blocks > 0)
            if switch.cells is not None:
                where = where & switch.cells
            plan.changes.append((source, target, switch.ticks, where, switch.rest))


def _add_turns(plan: Plan, at: Sequence[Sequence[int]], rules: GridRules) -> None:
    """Let bodies that face a direction turn to the next ones, standing still."""
    ticks = rules._turn_ticks()
    if ticks is None:
        return
    for sheets in at:
        for source in sheets:
            for target in sheets:
                apart = (plan.sheets[source].body - plan.sheets[target].body) % 6
                if apart in (1, 5):
                    plan.changes.append((source, target, ticks, plan.sheets[target].fits, 0))


# -- from sheets to a field ---------------------------------------------------------------------


class Compiled(NamedTuple):
    """The arrays of a field, stacked, and the layers and links that name them."""

    stacks: dict[str, Array | None]
    layers: tuple[Layer, ...]
    links: tuple[Link, ...]


class _Stack:
    """Arrays to be stacked, each once."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._places: dict[int, int] = {}

    def add(self, array: Array | None) -> int:
        """Return the place of an array in the stack, -1 for none."""
        if array is None:
            return NONE
        if id(array) not in self._places:
            self._places[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return self._places[id(array)]

    def stacked(self, dtype: Any) -> Array | None:
        """Return the stack, or None where it is empty."""
        if not self.arrays:
            return None
        if dtype == np.uint16:
            most = max(int(array.max()) for array in self.arrays)
            least = min(int(array.min()) for array in self.arrays)
            if most > MAX_TICKS or least < 0:
                ticks = most if most > MAX_TICKS else least
                raise MapError(f"a step costs {ticks} ticks, more or less than can be counted")
        return np.stack(self.arrays).astype(dtype)


def assemble(plan: Plan, setting: Setting, counts: Movement) -> Compiled:
    """Return a plan as the arrays, layers and links of a field."""
    names = ("steps", "enter", "leave", "border", "stop", "onward")
    stacks = {name: _Stack() for name in names}
    blank = np.zeros_like(plan.steps[0, 0])
    caps = setting.pace.caps
    layers = []
    for number, sheet in enumerate(plan.sheets):
        gait = setting.gaits[sheet.gait]
        entries = tuple(stacks["enter"].add(array) for array in sheet.enter)
        layers.append(
            Layer(
                steps=stacks["steps"].add(plan.steps.get((number, number), blank)),
                enter=entries if len(entries) > 1 else entries[0],
                leave=stacks["leave"].add(sheet.leave),
                border=stacks["border"].add(sheet.border),
                stop=stacks["stop"].add(sheet.stop),
                cap=caps.get(gait.mode),
                name=gait.name,
                onward=stacks["onward"].add(sheet.onward),
            )
        )
    links = [
        Link(source, target, steps=steps)
        for (source, target), steps in plan.steps.items()
        if source != target
    ]
    links += [
        Link(source, target, ticks, steps=plan.steps[target, target])
        for source, target, ticks in plan.slants
    ]
    links += [
        Link(source, target, ticks, cells=cells, rest=rest)
        for source, target, ticks, cells, rest in plan.changes
    ]
    dtypes = {"steps": np.uint8, "stop": np.bool_, "onward": np.bool_}
    return Compiled(
        {name: stacks[name].stacked(dtypes.get(name, counts.dtype)) for name in names},
        tuple(layers),
        tuple(links),
    )


def compile_field(
    site: Site, setting: Setting, explainer: Explainer, occupancy: Occupancy
) -> StepField:
    """Compile a map for a creature."""
    rules, counts = site.rules, site.rules._movement()
    plan = make_plan(site, setting, occupancy)
    made = assemble(plan, setting, counts)
    explainer = replace(
        explainer,
        setting=setting._replace(
            classes=plan.classes,
            paid=tuple((s.leave is not None, s.border is not None) for s in plan.sheets),
        ),
        sheets=tuple((sheet.gait, sheet.body, sheet.cover) for sheet in plan.sheets),
    )
    arrays: dict[str, Any] = made.stacks
    return StepField(
        site.terrain.lattice,
        site.terrain.shape,
        **arrays,
        diagonal=counts.diagonal,
        parity=counts.parity,
        plain=counts.plain if counts.flat else 1,
        ticks=rules.ticks,
        layers=made.layers,
        links=made.links,
        home=plan.home,
        seats=plan.seats,
        stay=plan.stay,
        explainer=explainer,
        unit=rules.unit,
    )


# -- reasons and updates ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Explainer:
    """Says what a compiled price is made of, and compiles again what tokens change."""

    site: Site
    setting: Setting
    occupancy: Occupancy
    relation: Relate
    sheets: tuple[tuple[int, int, npt.NDArray[np.uint16] | None], ...] = ()
    others: tuple[Token, ...] = ()

    def mover(self, layer: int) -> Mover:
        """Return who moves in a layer, and how."""
        setting = self.setting
        gait = setting.gaits[self.sheets[layer][0]]
        return Mover(setting.creature, setting.token, gait, self.site.terrain.has_elevation)

    def ended(self, token: Token, layer: int, began: int) -> Token:
        """Return a token in the state in which its movement ends in a layer, where it began.

        Parameters
        ----------
        token : Token
        layer, began : int
            Where the movement ends, and where it began: there the token is as it is.
        """
        gait, (_, body, _) = self.mover(layer).gait, self.sheets[layer]
        old = self.mover(began).gait
        if (gait.plane, gait.prone) != (old.plane, old.prone):
            aloft = gait.mode == "fly"
            token = replace(token, level=gait.level, flying=aloft, prone=gait.prone)
        turned = len(self.site.bodies) > 1 and body != token.facing
        return replace(token, facing=body) if turned else token

    def covered(self, cell: Cell, layer: int) -> list[Cell]:
        """Return the cells that the body covers at a place of a layer."""
        _, index, cover = self.sheets[layer]
        body = self.site.bodies[index]
        cells = body.at(cell)
        if cover is None or not cover[cell]:
            return cells
        return [c for bit, c in enumerate(cells) if int(cover[cell]) >> bit & 1]

    def parts(self, a: Cell, b: Cell, layer: int = 0) -> list[Part]:
        """Return the parts of a step from place `a` to the next, `b`, without its diagonal."""
        site, rules, terrain = self.site, self.site.rules, self.site.terrain
        mover = self.mover(layer)
        index = self.sheets[layer][1]
        direction = terrain.lattice.neighbors(a).index(b)
        enter = self._entering(a, b, layer, mover)
        height, width = terrain.shape
        left = [
            rules._leave_parts(rules.types(terrain.kind(cell)), mover)
            for cell in site.bodies[index].at(a)
            if 0 <= cell[0] < height and 0 <= cell[1] < width
        ]
        border = list(site.crossings[mover.aloft][index].get((a, direction), ()))
        border += rules._step_parts(site, mover, index, a, b)
        flat = rules._movement().flat
        return [
            *(Part("leave", *part) for part in max(left, key=total, default=[])),
            *(Part("border", *part) for part in border),
            *(Part("border" if flat and i else "enter", *part) for i, part in enumerate(enter)),
        ]

    def _entering(self, a: Cell, b: Cell, layer: int, mover: Mover) -> Parts:
        """Return the parts of the cell that decides what a place costs."""
        rules, terrain = self.site.rules, self.site.terrain
        squeezed = self.sheets[layer][2] is not None
        occupants = self.occupancy.get(mover.gait.plane, {})
        cells = self.covered(b, layer)
        footprint = "worst" if squeezed else rules._movement().footprint
        if footprint == "anchor":
            cells = [b]
        elif footprint == "worst-new":
            before = set(self.covered(a, layer))
            cells = [cell for cell in cells if cell not in before]
        found = [
            rules._enter_parts(
                rules.types(terrain.kind(cell)), occupants.get(cell, ()), mover, squeezed=squeezed
            )
            for cell in cells
        ]
        found.sort(key=total)
        return found[(len(found) - 1) // 2 if footprint == "median" else -1]

    @cached_property
    def company(self) -> tuple[Other, ...]:
        """Who else is on the map, as the stakes of steps ask."""
        rules, lattice, token = self.site.rules, self.site.terrain.lattice, self.setting.token
        side = "" if token is None else token.side
        return tuple(
            Other(
                other,
                self.relation(side, other.side),
                rules._plane(other),
                tuple(rules.cells_of(other, lattice)),
            )
            for other in self.others
        )

    def stride(self, a: Cell, b: Cell, layer: int, source: int) -> Stride:
        """Return a step from place `a` to `b`, into a layer and out of the source, for stakes."""
        return Stride(
            self.mover(source),
            self.mover(layer),
            a,
            b,
            tuple(self.covered(a, source)),
            tuple(self.covered(b, layer)),
            self.company,
        )

    def stakes(self, a: Cell, b: Cell, layer: int = 0, source: int | None = None) -> list[Stake]:
        """Return what a step from place `a` to `b` risks, into a layer and out of the source."""
        stride = self.stride(a, b, layer, layer if source is None else source)
        return self.site.rules._stakes(self.site, stride)

    def risks(self, steps: Strides) -> Risks | None:
        """Return what many steps risk, without a look at each; None where the rules need one."""
        if provoking(self.site.rules) is None:
            return None
        return risks(self, steps)

    def alike_by(self) -> npt.NDArray[np.uint16] | None:
        """Return numbers of the cells: steps of a layer between the same two risk the same.

        Attacks apart. None where that is not all that tells steps apart.
        """
        return self.site.terrain.codes if is_of_one_cell(self) else None

    # -- updates ----------------------------------------------------------------------------

    def update(self, old: StepField, tokens: Sequence[Token], has_mover: bool = True) -> StepField:
        """Return the field with other tokens on the map, compiled again where they matter."""
        site, setting = self.site, self.setting
        others = list(tokens)
        if has_mover and setting.token is not None:
            mine = [t for t in others if t.at(setting.token.cell) == setting.token]
            others = without(others, mine[0]) if mine else others
        occupancy = site.rules._occupancy(site.terrain, setting.token, others, self.relation)
        changed = self._changed(occupancy)
        if not changed:
            return old
        explainer = replace(self, occupancy=occupancy, others=tuple(others))
        rows, cols = site.terrain.shape
        boxes = _boxes(changed, self._margin(), (rows, cols))
        area = sum((bottom - top) * (right - left) for top, left, bottom, right in boxes)
        onward = any(layer.onward >= 0 for layer in old.layers)
        if onward or 2 * area + PATCH_CELLS * (len(boxes) - 1) > rows * cols:
            return compile_field(
                site, setting._replace(classes=None, paid=None), explainer, occupancy
            )
        patches = [self._patch(box, occupancy) for box in boxes]
        explainer = replace(explainer, sheets=self._renewed(patches))
        patched = old.patched(patches, explainer)
        if patched is None:
            return compile_field(
                site, setting._replace(classes=None, paid=None), explainer, occupancy
            )
        return patched

    def _renewed(
        self, patches: Sequence[Patch]
    ) -> tuple[tuple[int, int, npt.NDArray[np.uint16] | None], ...]:
        """Return the sheets with what squeezed bodies cover in some parts of the map."""
        found = []
        for number, (gait, body, cover) in enumerate(self.sheets):
            if cover is not None:
                cover = cover.copy()
                for patch in patches:
                    part, (row, col) = patch.covers[number], patch.corner
                    assert part is not None
                    cover[row : row + part.shape[0], col : col + part.shape[1]] = part
            found.append((gait, body, cover))
        return tuple(found)

    def _changed(self, occupancy: Occupancy) -> set[Cell]:
        """Return the cells where somebody else stands now, or the same in another state."""
        found: set[Cell] = set()
        for plane in {gait.plane for gait in self.setting.gaits}:
            old, new = self.occupancy.get(plane, {}), occupancy.get(plane, {})
            found.update(c for c in old.keys() | new.keys() if old.get(c) != new.get(c))
        return found

    def _margin(self) -> int:
        """Return how far from a cell its creature matters to the steps of a place."""
        extent = max(int(np.abs(body.rows_cols).max()) for body in self.site.bodies)
        return extent + 1

    def _patch(self, box: tuple[int, int, int, int], occupancy: Occupancy) -> Patch:
        """Compile the surroundings of a box (top, left, bottom, right) and cut the box out."""
        height, width = self.site.terrain.shape
        top, left, bottom, right = box
        around = self._margin() + 1
        # The first row and column stay even, as the offsets of hexagons ask.
        row, col = max(0, top - around) & ~1, max(0, left - around) & ~1
        below, beyond = min(height, bottom + around), min(width, right + around)
        part = self.site.cropped(row, col, below - row, beyond - col)
        moved = {
            plane: {
                (r - row, c - col): who
                for (r, c), who in cells.items()
                if row <= r < below and col <= c < beyond
            }
            for plane, cells in occupancy.items()
        }
        plan = make_plan(part, self.setting, moved)
        made = assemble(plan, self.setting, self.site.rules._movement())
        inner = (slice(top - row, bottom - row), slice(left - col, right - col))
        stacks = {n: None if a is None else a[:, *inner] for n, a in made.stacks.items()}
        cells = [link.cells[inner] for link in made.links if link.cells is not None]
        steps = [link.steps[inner] for link in made.links if link.steps is not None]
        covers = tuple(None if sheet.cover is None else sheet.cover[inner] for sheet in plan.sheets)
        seats = [mask[inner] for _, mask in plan.seats]
        stay = None if plan.stay is None else plan.stay[inner]
        return Patch((top, left), stacks, cells, steps, seats, stay, covers)


def _boxes(
    cells: Iterable[Cell], margin: int, shape: tuple[int, int]
) -> list[tuple[int, int, int, int]]:
    """Return boxes (top, left, bottom, right) around cells, those that overlap made one."""
    boxes = [
        (
            max(0, row - margin),
            max(0, col - margin),
            min(shape[0], row + margin + 1),
            min(shape[1], col + margin + 1),
        )
        for row, col in sorted(cells)
    ]
    found: list[tuple[int, int, int, int]] = []
    while boxes:
        box = boxes.pop()
        near = next(
            (
                other
                for other in found
                if box[0] <= other[2] and other[0] <= box[2]
                and box[1] <= other[3] and other[1] <= box[3]
            ),
            None,
        )  # fmt: skip
        if near is None:
            found.append(box)
            continue
        found.remove(near)
        boxes.append(
            (min(box[0], near[0]), min(box[1], near[1]), max(box[2], near[2]), max(box[3], near[3]))
        )
    return found

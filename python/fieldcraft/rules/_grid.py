"""What the systems on a grid share: parameters, budgets, borders, occupancy, compiled masks.

A map has few kinds of cells and many cells, so a rule is worked out once a kind and spread over
the map by one indexing of `Terrain.codes`. Prices are lists of parts, (label, ticks); a field gets
their sums and an `Explainer` the parts, both from the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token
from fieldcraft.errors import MapError, RulesError, nearest
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.rules._table import (
    Bad,
    Document,
    Effect,
    Hidden,
    Schema,
    TerrainTable,
    TerrainType,
    decimal,
    read_table,
    show,
)
from fieldcraft.terrain import Border, Terrain

if TYPE_CHECKING:
    from fieldcraft.fields import Part, SightField, StepField
    from fieldcraft.units import Quantity

__all__ = [
    "Budget",
    "Edges",
    "Explainer",
    "GridRules",
    "Occupant",
    "Relation",
    "default_relation",
]

Relation = Literal["friend", "foe", "neutral"]
Relate = Callable[[str, str], Relation]
Types = tuple[TerrainType, ...]
Parts = list[tuple[str, int]]
"""What a price is made of: a label and ticks each."""

MAX_TICKS = 65_535
"""The most ticks a step may pay for one cell or border: what the fields carry."""

BLOCK = 1 << 16
"""Cells that are spread at a time."""

FEET_PER_METRE = Fraction(10, 3)
"""Five feet are 1.5 metres, as the games have it."""


def default_relation(side: str, other: str) -> Relation:
    """Return friend for tokens of one side, foe for others."""
    return "friend" if side == other else "foe"


@dataclass(frozen=True, slots=True)
class Budget:
    """What a creature may spend.

    Parameters
    ----------
    ticks : int, float or None
        Ticks; None for no limit; a float only where the system counts in floats.
    rest : str
        What of the budget is left over because it makes no whole cell, such as ``"1 m"``.
    rest_value : Fraction
        The same as a number in the budget's own unit.
    """

    ticks: int | float | None
    rest: str = ""
    rest_value: Fraction = Fraction(0)


def float_budget(points: Fraction) -> Budget:
    """Return a budget of a system that counts in floats; what no float holds is as good as less."""
    return Budget(float(min(points, Fraction(10**300))))


# -- parameters ---------------------------------------------------------------------------------


Check = Callable[[object], object]
"""Takes a value; returns it, made canonical, or raises Bad with what was expected."""


def one_of(*words: str) -> Check:
    """Check for one of some words."""

    def check(value: object) -> object:
        if not isinstance(value, str) or value not in words:
            hint = nearest(value, words) if isinstance(value, str) else ""
            raise Bad(f"expected one of {', '.join(words)}, not {show(value)}{hint}")
        return value

    return check


def switch(value: object) -> object:
    """Check for true or false."""
    if not isinstance(value, bool):
        raise Bad(f"expected true or false, not {show(value)}")
    return value


def metres(value: object) -> object:
    """Check for a length above 0; returned as an exact fraction."""
    expected = f"expected a length in metres above 0, not {show(value)}"
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise Bad(expected)
    if not 0 < value <= 1000 or math.isnan(value):
        raise Bad(expected)
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


# -- borders ------------------------------------------------------------------------------------


class Occupant(NamedTuple):
    """A token on a cell, and what it is to the creature that moves."""

    token: Token
    relation: Relation


@dataclass(frozen=True, slots=True)
class Edges:
    """The borders of a map as a creature meets them.

    Parameters
    ----------
    lattice : Lattice
    barred : frozenset of (cell, direction)
        Straight steps that may not be made.
    priced : mapping from (cell, direction) to parts
        What crossing costs, by straight step.
    opaque : frozenset of (cell, direction)
        Where sight ends, set on both sides.
    """

    lattice: Lattice
    barred: frozenset[tuple[Cell, int]] = frozenset()
    priced: Mapping[tuple[Cell, int], tuple[tuple[str, int], ...]] = field(default_factory=dict)
    opaque: frozenset[tuple[Cell, int]] = frozenset()

    def parts(self, cell: Cell, direction: int) -> Parts:
        """Return what the borders add to a step; of those round a diagonal the dearest counts."""
        if direction < self.lattice.n_straight:
            return list(self.priced.get((cell, direction), ()))
        one, two = direction - 4, (direction - 3) % 4
        ways = (
            (cell, one),
            (cell, two),
            (self.lattice.neighbor(cell, one), two),
            (self.lattice.neighbor(cell, two), one),
        )
        dearest = max((self.priced.get(way, ()) for way in ways), key=_total)
        return list(dearest)

    def priced_steps(self) -> set[tuple[Cell, int]]:
        """Return every step, diagonals included, that a priced border may touch."""
        found = set(self.priced)
        if self.lattice.name == "square":
            for cell, side in self.priced:
                right, left = (side + 1) % 4, (side - 1) % 4
                for turn, diagonal in (right, 4 + side), (left, 4 + left):
                    found.add((cell, diagonal))
                    found.add((self.lattice.neighbor(cell, (turn + 2) % 4), diagonal))
        return found


def _total(parts: Iterable[tuple[str, int]]) -> int:
    return sum(ticks for _, ticks in parts)


def mask(shape: tuple[int, int], steps: Iterable[tuple[Cell, int]]) -> npt.NDArray[np.uint8] | None:
    """Return one byte a cell with the bits of these steps, or None where there are none."""
    mask: npt.NDArray[np.uint8] | None = None
    for (row, col), direction in steps:
        if mask is None:
            mask = np.zeros(shape, np.uint8)
        mask[row, col] |= 1 << direction
    return mask


def crossed(entry: TerrainType, creature: Creature) -> bool:
    """Return whether the creature crosses that terrain as if it were plain."""
    return entry.id in creature.crosses or entry.base_id in creature.crosses


# -- the base class of the systems --------------------------------------------------------------


@dataclass(frozen=True)
class GridRules:
    """A rule system on cells. Its parameters are fields; instances are values.

    Parameters
    ----------
    name : str
        The name of the system, or of the user's file that extends it.
    table : TerrainTable
    """

    name: str = ""
    table: TerrainTable = field(default_factory=lambda: TerrainTable(()), repr=False)

    schema: ClassVar[Schema]
    lattices: ClassVar[tuple[str, ...]]
    units: ClassVar[tuple[str, ...]]
    metric: ClassVar[bool] = True
    later: ClassVar[Mapping[str, str]] = {}
    checks: ClassVar[Mapping[str, Check]] = {}

    def __post_init__(self) -> None:
        for name, check in self.checks.items():
            try:
                object.__setattr__(self, name, check(getattr(self, name)))
            except Bad as bad:
                raise RulesError(f"parameter {name} of {self.name}: {bad}") from None

    # -- what kind of system ------------------------------------------------------------------

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural."""
        raise NotImplementedError

    @property
    def ticks(self) -> int:
        """Ticks in one unit."""
        raise NotImplementedError

    @property
    def cell_metres(self) -> Fraction:
        """How wide a cell is."""
        return Fraction(3, 2)

    # -- parameters ---------------------------------------------------------------------------

    def parameters(self) -> dict[str, object]:
        """Return the rule parameters and their values."""
        return {name: getattr(self, name) for name in self.checks}

    def configure(self, **parameters: object) -> Self:
        """Return the same rules with other parameters.

        Raises
        ------
        RulesError
            If there is no such parameter, or it cannot have that value.
        """
        for key in parameters:
            if key not in self.checks:
                raise RulesError(self._unknown_parameter(key))
        return replace(self, **cast(Any, parameters))

    def _unknown_parameter(self, key: str) -> str:
        return (
            f"{self.name} has no parameter {key!r}{nearest(key, self.checks)}; "
            f"it has {', '.join(self.checks) or 'none'}"
        )

    def extended(self, doc: Document, name: str) -> Self:
        """Return these rules with the terrain and the parameters of a document over them."""
        table = read_table(doc, self.table, self.schema)
        given = doc.data.get("parameters", {})
        if not isinstance(given, dict):
            doc.fault(("parameters",), "expected a table [parameters]")
            given = {}
        found: dict[str, Any] = {}
        for key, value in given.items():
            try:
                if key not in self.checks:
                    raise Bad(self._unknown_parameter(key))
                found[key] = self.checks[key](value)
            except Bad as bad:
                doc.fault(("parameters", key), str(bad))
        doc.finish()
        return replace(self, name=name, table=table, **found)

    # -- budgets ------------------------------------------------------------------------------

    def budget(
        self,
        value: float | int | str | Fraction | Quantity | None,
        creature: Creature | None = None,
    ) -> Budget:
        """Return a budget in ticks; metres and feet make whole cells, and the rest is named.

        Parameters
        ----------
        value : number, str, Quantity or None
            A number in the system's unit or text with a unit (``"9 m"``). None means the
            creature's speed, or no limit where it has none; infinity means no limit.
        creature : Creature, optional

        Raises
        ------
        CostError
            If the budget is negative or no number.
        RulesError
            If its unit means nothing in this system.
        """
        from fieldcraft.units import quantity

        if value is None and creature is not None:
            value = creature.walking_speed()
        given = quantity(value, "budget")
        if given.value is None:
            return Budget(None)
        if given.unit in ("", *self.units):
            return self._spend(given.value)
        if given.unit in ("m", "ft") and self.metric:
            side = self.cell_metres * (FEET_PER_METRE if given.unit == "ft" else 1)
            cells = given.value // side
            rest = given.value - cells * side
            text = f"{decimal(rest)} {given.unit}" if rest else ""
            return Budget(int(cells * self.ticks), text, rest)
        known = [self.unit, *(("m", "ft") if self.metric else ())]
        raise RulesError(
            f"budget {value!r}: {self.name} counts in {', '.join(known)}, not in {given.unit}"
        )

    def _spend(self, points: Fraction) -> Budget:
        ticks = points * self.ticks
        rest = Fraction(ticks.numerator % ticks.denominator, ticks.denominator * self.ticks)
        return Budget(int(ticks // 1), f"{decimal(rest)} {self.unit}" if rest else "", rest)

    # -- maps ---------------------------------------------------------------------------------

    def types(self, kind: Sequence[str] | str) -> Types:
        """Return the table's entries for what a cell holds.

        Raises
        ------
        RulesError
            If an id is unknown, with the nearest known one.
        """
        ids = (kind,) if isinstance(kind, str) else kind
        found = []
        for identifier in ids:
            reason = self.later.get(identifier.partition(":")[0])
            if reason and identifier not in self.table:
                raise RulesError(f"terrain {identifier!r}: {reason}")
            found.append(self.table.find(identifier))
        return tuple(found)

    def effects(self, kind: Sequence[str] | str, *, prone: bool = False) -> tuple[Effect, ...]:
        """Return what a cell of that kind does to who enters, stays or leaves (HW-17 to HW-21).

        Parameters
        ----------
        kind : str or sequence of str
            A terrain id, or a base id and its overlays.
        prone : bool, keyword-only
            Whether the creature is prone or crawls.

        Returns
        -------
        tuple of Effect
            By terrain, in the order of the ids; nothing is summed.
        """
        found: list[Effect] = []
        for entry in self.types(kind):
            for effect in entry.effects(prone=prone):
                if isinstance(effect.detail, Hidden):
                    cells = int(effect.detail.metres // self.cell_metres)
                    effect = replace(effect, detail=replace(effect.detail, cells=cells))
                found.append(effect)
        return tuple(found)

    def glyph(self, kind: Sequence[str] | str) -> tuple[str, str]:
        """Return the character and the colour that draw a cell: those of its last overlay."""
        top = self.types(kind)[-1]
        return top.glyph, top.colour

    def check(self, terrain: Terrain) -> None:
        """Raise if this system cannot be played on the map.

        Raises
        ------
        MapError
            For another lattice; for an unknown terrain, with its cell and the nearest known id;
            for a border the system has no rule for.
        """
        self._all_types(terrain)
        self._edges(terrain, Creature())

    def _all_types(self, terrain: Terrain) -> list[Types | None]:
        """Return the entries of every kind; None for a kind that is unknown and not in use."""
        if terrain.lattice.name not in self.lattices:
            raise MapError(
                f"{self.name} is played on {' or '.join(self.lattices)}, and the lattice of this "
                f"map is {terrain.lattice.name}"
            )
        found: list[Types | None] = []
        for code, kind in enumerate(terrain.kinds):
            try:
                types = self.types(kind)
                if not types:
                    raise RulesError("a cell needs a terrain")
                self._check_kind(types)
            except RulesError as error:
                where = _first(terrain, code)
                if where is not None:
                    raise MapError(f"cell {where} of the map: {error}, in {self.name}") from None
                found.append(None)
            else:
                found.append(types)
        return found

    def _check_kind(self, types: Types) -> None:
        """Raise RulesError if these terrains cannot lie together."""

    # -- the hooks of a system ----------------------------------------------------------------

    def _enter_parts(
        self, types: Types, creature: Creature, occupants: tuple[Occupant, ...], raised: bool
    ) -> Parts:
        """Return what entering such a cell costs; `raised`: the map has an elevation."""
        raise NotImplementedError

    def _leave_parts(self, types: Types, creature: Creature) -> Parts:
        """Return what leaving such a cell costs."""
        return [
            (f"{entry.name} (leaving)", int(entry.exit * self.ticks))
            for entry in types
            if entry.exit and not crossed(entry, creature)
        ]

    def _open(self, types: Types, creature: Creature) -> bool:
        """Return whether such a cell may be entered."""
        return not any(entry.closed and not crossed(entry, creature) for entry in types)

    def _pass(self, occupant: Occupant) -> bool:
        """Return whether the cell of a token may be entered."""
        return occupant.relation != "foe"

    def _stop_on(self, occupant: Occupant) -> bool:
        """Return whether a movement may end on the cell of a token."""
        return False

    def _occupied_cells(self, token: Token) -> list[Cell]:
        """Return the cells that a token covers."""
        return [token.cell]

    def _step_parts(
        self, terrain: Terrain, creature: Creature, a: Cell, b: Cell, types: tuple[Types, Types]
    ) -> Parts:
        """Return what a step costs besides its cells and its borders."""
        return []

    # -- borders and occupancy ----------------------------------------------------------------

    def _edges(self, terrain: Terrain, creature: Creature) -> Edges:
        """Return the borders of a map as that creature meets them."""
        lattice = terrain.lattice
        barred: set[tuple[Cell, int]] = set()
        opaque: set[tuple[Cell, int]] = set()
        priced: dict[tuple[Cell, int], tuple[tuple[str, int], ...]] = {}
        for border in terrain.borders:
            first, second = border.cells
            side = lattice.neighbors(first).index(second)
            if side >= lattice.n_straight:
                raise MapError(f"{_named(border)}: a border needs two cells that share a side")
            there, back = (first, side), (second, lattice.opposite(side))
            price = self._price(border)
            solid = border.kind == "wall" or (border.kind == "door" and not border.open)
            if solid:
                opaque.update((there, back))
            if border.kind in creature.crosses:
                continue
            if solid and not border.one_way:
                barred.add(there)
            if solid or border.one_way or border.kind == "drop":
                barred.add(back)
            if price:
                part = (border.kind.replace("_", " "), price)
                for step in (there, back):
                    priced[step] = (*priced.get(step, ()), part)
        return Edges(lattice, frozenset(barred), priced, frozenset(opaque))

    def _price(self, border: Border) -> int:
        """Return what crossing a border costs in ticks."""
        if border.price is None:
            figure = self.table.border(border.kind)
            if figure is None and border.kind in ("low_wall", "ladder"):
                raise MapError(
                    f"{_named(border)}: {self.name} has no rule for it; give the border a price"
                )
            return int((figure or 0) * self.ticks)
        price = border.price
        number = isinstance(price, int | float | Fraction) and not isinstance(price, bool)
        if not number or not 0 <= price < math.inf:
            raise MapError(f"{_named(border)}: its price must be 0 or more, not {price!r}")
        ticks = (Fraction(str(price)) if isinstance(price, float) else Fraction(price)) * self.ticks
        if ticks.denominator != 1:
            raise MapError(
                f"{_named(border)}: its price of {price!r} {self.unit} is no whole number of ticks "
                f"(1 tick is {decimal(Fraction(1, self.ticks))} {self.unit})"
            )
        if ticks > MAX_TICKS:
            raise MapError(f"{_named(border)}: its price of {price!r} is too high to count")
        return int(ticks)

    def _occupants(
        self,
        terrain: Terrain,
        token: Token | None,
        tokens: Iterable[Token],
        relation: Relate,
    ) -> dict[Cell, tuple[Occupant, ...]]:
        """Return who stands where, without the token that moves."""
        others = list(tokens)
        if token is not None:
            mine = next((i for i, other in enumerate(others) if other is token), None)
            if mine is None and token in others:
                mine = others.index(token)
            if mine is not None:
                del others[mine]
        side = "" if token is None else token.side
        found: dict[Cell, tuple[Occupant, ...]] = {}
        for other in others:
            if self._apart(token, other):
                continue
            occupant = Occupant(other, relation(side, other.side))
            for cell in self._occupied_cells(other):
                cell = terrain.check(cell, f"cell of token {other.label!r}")
                found[cell] = (*found.get(cell, ()), occupant)
        return found

    def _apart(self, token: Token | None, other: Token) -> bool:
        """Return whether a token stands where it is in nobody's way (another level, say)."""
        return False

    # -- compiling ----------------------------------------------------------------------------

    def step_field(
        self,
        terrain: Terrain,
        creature: Creature,
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Relate = default_relation,
    ) -> StepField:
        """Compile the map for a creature that moves.

        Parameters
        ----------
        terrain : Terrain
        creature : Creature
        token : Token, keyword-only, optional
            The token that moves: it is not in its own way, and its side decides who is a friend.
        tokens : iterable of Token, keyword-only
            Who stands on the map.
        relation : callable, keyword-only
            From two sides to ``"friend"``, ``"foe"`` or ``"neutral"``.

        Returns
        -------
        StepField

        Raises
        ------
        MapError
            If the map holds what this system has no rule for.
        """
        from fieldcraft.fields import StepField

        self._check_mover(creature)
        explainer = Explainer(
            self,
            terrain,
            creature,
            self._occupants(terrain, token, tokens, relation),
            self._edges(terrain, creature),
        )
        kinds = self._all_types(terrain)
        open_ = spread(terrain, [bool(k) and self._open(k or (), creature) for k in kinds], bool)
        stop = self._stop(terrain, kinds, explainer.occupants)
        open_ = self._let_pass(open_, explainer.occupants)
        options = self._movement()
        enter = self._enter(terrain, kinds, explainer, options.dtype)
        return StepField(
            terrain.lattice,
            terrain.shape,
            steps=self._steps(terrain, kinds, creature, open_, explainer.edges),
            enter=enter,
            leave=self._leave(terrain, kinds, creature, options.dtype),
            border=self._border(terrain, kinds, explainer, options.dtype),
            stop=stop,
            diagonal=options.diagonal,
            parity=options.parity,
            ticks=self.ticks,
            explainer=explainer,
            unit=self.unit,
        )

    def _check_mover(self, creature: Creature) -> None:
        """Raise RulesError if the system cannot move such a creature."""

    def _movement(self) -> Movement:
        """Return how the field counts."""
        return Movement()

    def _steps(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        creature: Creature,
        open_: npt.NDArray[np.bool_],
        edges: Edges,
    ) -> npt.NDArray[np.uint8]:
        """Return the legal steps."""
        from fieldcraft.fields import legal_steps

        solid = spread(
            terrain,
            [any(e.corners and not crossed(e, creature) for e in types or ()) for types in kinds],
            bool,
        )
        return legal_steps(
            terrain.lattice,
            open_,
            solid=solid,
            corners=self._movement().corners,
            barred=mask(terrain.shape, edges.barred),
        )

    def _let_pass(
        self, open_: npt.NDArray[np.bool_], occupants: Mapping[Cell, tuple[Occupant, ...]]
    ) -> npt.NDArray[np.bool_]:
        closed = [c for c, who in occupants.items() if not all(self._pass(o) for o in who)]
        if not closed:
            return open_
        open_ = open_.copy()
        for cell in closed:
            open_[cell] = False
        return open_

    def _stop(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        occupants: Mapping[Cell, tuple[Occupant, ...]],
    ) -> npt.NDArray[np.bool_] | None:
        taken = [c for c, who in occupants.items() if not all(self._stop_on(o) for o in who)]
        rests = [all(entry.stop for entry in types or ()) for types in kinds]
        if all(rests) and not taken:
            return None
        stop = spread(terrain, rests, bool)
        for cell in taken:
            stop[cell] = False
        return stop

    def _enter(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        explainer: Explainer,
        dtype: type[np.generic],
    ) -> npt.NDArray[Any]:
        raised = terrain.has_elevation
        prices = []
        for types in kinds:
            parts = self._enter_parts(types, explainer.creature, (), raised) if types else []
            prices.append(_fits(_total(parts) or 1, types))
        enter = spread(terrain, prices, dtype)
        for cell, who in explainer.occupants.items():
            types = kinds[terrain.codes[cell]]
            if types:
                parts = self._enter_parts(types, explainer.creature, who, raised)
                enter[cell] = _fits(_total(parts), types)
        return enter

    def _leave(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        creature: Creature,
        dtype: type[np.generic],
    ) -> npt.NDArray[Any] | None:
        prices = [
            _fits(_total(self._leave_parts(types, creature)), types) if types else 0
            for types in kinds
        ]
        return spread(terrain, prices, dtype) if any(prices) else None

    def _border(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        explainer: Explainer,
        dtype: type[np.generic],
    ) -> npt.NDArray[Any] | None:
        """Return the price of each border by direction, or None where none costs anything."""
        edges = explainer.edges
        extras = self._step_prices(terrain, kinds, explainer.creature)
        if not edges.priced and not extras:
            return None
        height, width = terrain.shape
        border = np.zeros((height, width, terrain.lattice.n_directions), dtype)
        for cells, direction, ticks in extras:
            border[cells[:, 0], cells[:, 1], direction] = _count(ticks, cells)
        for (row, col), direction in edges.priced_steps():
            if 0 <= row < height and 0 <= col < width:
                total = int(border[row, col, direction])
                total += _total(edges.parts((row, col), direction))
                if total > MAX_TICKS:
                    raise MapError(f"the borders at cell ({row}, {col}) cost too much to count")
                border[row, col, direction] = total
        return border

    def _step_prices(
        self, terrain: Terrain, kinds: Sequence[Types | None], creature: Creature
    ) -> list[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.int64]]]:
        """Return what `_step_parts` sums to: cells (n, 2), the direction, ticks (n,)."""
        return []

    def _walls(self, terrain: Terrain) -> npt.NDArray[np.uint8] | None:
        """Return where borders end a line of sight."""
        return mask(terrain.shape, self._edges(terrain, Creature()).opaque)

    def sight_field(self, terrain: Terrain, viewer: Creature, target: Creature) -> SightField:
        """Compile the map for a creature that looks at another.

        Parameters
        ----------
        terrain : Terrain
        viewer, target : Creature

        Returns
        -------
        SightField
        """
        from fieldcraft.fields import SightField

        self._check_mover(viewer)
        self._check_mover(target)
        kinds = self._all_types(terrain)
        return SightField(
            terrain.lattice,
            terrain.shape,
            between=np.zeros(terrain.shape, np.uint8),
            opaque=self._opaque(terrain, kinds),
            light=terrain.light,
            walls=self._walls(terrain),
            threshold=None,
            corners=self._sight_corners(),
        )

    def _sight_corners(self) -> Literal["closed", "open"]:
        return "closed"

    def _opaque(
        self, terrain: Terrain, kinds: Sequence[Types | None]
    ) -> npt.NDArray[np.bool_] | None:
        opaque = [any(entry.opaque for entry in types or ()) for types in kinds]
        return spread(terrain, opaque, bool) if any(opaque) else None


class Movement(NamedTuple):
    """How a field counts: the numbers of its arrays, diagonals, parity and corners."""

    dtype: type[np.generic] = np.uint16
    diagonal: tuple[int, int] | tuple[float, float] | str = (1, 1)
    parity: str = "advances"
    corners: str = "both"


def spread(terrain: Terrain, values: Sequence[Any], dtype: type) -> npt.NDArray[Any]:
    """Return one value a cell from one value a kind."""
    by_kind: npt.NDArray[Any] = np.array(values, dtype=dtype)
    if (by_kind == by_kind[0]).all():
        return np.full(terrain.shape, by_kind[0])
    spread_out = np.empty(terrain.shape, by_kind.dtype)
    # In blocks of rows: indexing the whole map at once would widen all its codes to 64 bits.
    rows = max(1, BLOCK // terrain.shape[1])
    for begin in range(0, terrain.shape[0], rows):
        block = slice(begin, begin + rows)
        np.take(by_kind, terrain.codes[block], out=spread_out[block], mode="clip")
    return spread_out


def _first(terrain: Terrain, code: int) -> Cell | None:
    """Return the first cell of that code, or None."""
    flat = terrain.codes.ravel() == code
    at = int(flat.argmax())
    return divmod(at, terrain.shape[1]) if flat[at] else None


def _named(border: Border) -> str:
    return f"{border.kind} between {border.cells[0]} and {border.cells[1]}"


def _fits(ticks: int, types: Types | None) -> int:
    if ticks > MAX_TICKS:
        names = ", ".join(entry.id for entry in types or ())
        raise RulesError(f"a cell of {names} costs {ticks} ticks, more than can be counted")
    return ticks


def _count(ticks: npt.NDArray[np.int64], cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    if ticks.size and ticks.max() > MAX_TICKS:
        row, col = cells[int(ticks.argmax())]
        raise MapError(f"a step from cell ({row}, {col}) costs more than can be counted")
    return ticks


# -- reasons ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explainer:
    """Says what a compiled price is made of, by the functions that compiled it."""

    rules: GridRules
    terrain: Terrain
    creature: Creature
    occupants: Mapping[Cell, tuple[Occupant, ...]]
    edges: Edges

    def parts(self, a: Cell, b: Cell, layer: int = 0) -> list[Part]:
        """Return the parts of a step from `a` to its neighbour `b`, without its diagonal."""
        from fieldcraft.fields import Part

        rules, terrain, creature = self.rules, self.terrain, self.creature
        here, there = rules.types(terrain.kind(a)), rules.types(terrain.kind(b))
        occupants = self.occupants.get(b, ())
        direction = terrain.lattice.neighbors(a).index(b)
        border = self.edges.parts(a, direction)
        border += rules._step_parts(terrain, creature, a, b, (here, there))
        return [
            *(Part("leave", *part) for part in rules._leave_parts(here, creature)),
            *(Part("border", *part) for part in border),
            *(
                Part("enter", *part)
                for part in rules._enter_parts(there, creature, occupants, terrain.has_elevation)
            ),
        ]

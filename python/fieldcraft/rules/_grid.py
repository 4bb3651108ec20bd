"""What the systems on a grid share: parameters, budgets, borders, occupancy, compiled masks.

A system is a set of small answers about kinds of cells, borders and creatures; `_moving` makes step
fields of them, `_seeing` sight fields. Prices are lists of parts, (label, ticks): a field gets
their sums and an `Explainer` the parts, both from the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import SIZES, Creature, Relations, Token, by_mode, without
from fieldcraft.errors import MapError, RulesError, nearest
from fieldcraft.lattice import Cell, Lattice, hexagons, rows_and_columns, squares
from fieldcraft.path import Stake
from fieldcraft.rules._borders import Edges, Parts
from fieldcraft.rules._gaits import (
    GROUND,
    MAX_TICKS,
    Gait,
    Movement,
    Mover,
    Occupancy,
    Occupant,
    Occupants,
    Pace,
    Relate,
    Switch,
    Types,
)
from fieldcraft.rules._measuring import Measuring
from fieldcraft.rules._seeing import Seeing
from fieldcraft.rules._stakes import Stride, kinds_of, spared
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
    from fieldcraft.body import Body
    from fieldcraft.fields import StepField
    from fieldcraft.rules._charging import Lane, Mark
    from fieldcraft.rules._moving import Setting, Site
    from fieldcraft.rules._places import Standing
    from fieldcraft.units import Quantity

__all__ = ["ONE_SIDE_IS_FRIEND", "Budget", "GridRules"]

MEDIUM = SIZES.index("medium")
GROUND_BORDERS = ("low_wall", "drop", "ladder")
"""Borders that mean nothing in the air and under the ground."""
FEET_PER_METRE = Fraction(10, 3)
"""Five feet are 1.5 metres, as the games have it."""


ONE_SIDE_IS_FRIEND = Relations()


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


def true_or_false(value: object) -> object:
    """Check for true or false."""
    if not isinstance(value, bool):
        raise Bad(f"expected true or false, not {show(value)}")
    return value


def whole_from(low: int, high: int) -> Check:
    """Check for a whole number between two, both included."""

    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Bad(f"expected a whole number from {low} to {high}, not {show(value)}")
        return value

    return check


def metres(value: object) -> object:
    """Check for a length above 0; returned as an exact fraction."""
    expected = f"expected a length in metres above 0, not {show(value)}"
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise Bad(expected)
    if not 0 < value <= 1000 or math.isnan(value):
        raise Bad(expected)
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


# -- the base class of the systems --------------------------------------------------------------


def crossed(entry: TerrainType, creature: Creature) -> bool:
    """Return whether the creature crosses that terrain as if it were plain."""
    return entry.id in creature.crosses or entry.base_id in creature.crosses


@dataclass(frozen=True)
class GridRules(Measuring, Seeing):
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
    tokens_only_bar: ClassVar[bool] = False
    """Whether, of tokens of one cell on the ground, all that a mover meets is that the cells of its
    foes are closed and that it does not end where anybody stands; and lines pass over all of them.
    """
    provokes: ClassVar[str] = ""
    """What provokes opportunity attacks, `LEAVING_A_CELL` or `LEAVING_THE_REACH`; else nothing. To
    be said by the class that has `_stakes`."""
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
    def ticks(self) -> int | Fraction:
        """Ticks in one unit."""
        raise NotImplementedError

    @property
    def figure_ticks(self) -> int:
        """Ticks in one point of the terrain table's figures."""
        return int(self.ticks)

    @property
    def cell_ticks(self) -> int:
        """Ticks of a plain cell."""
        return self.figure_ticks

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

    def pace(
        self,
        creature: Creature,
        token: Token | None = None,
        budget: Any = None,
        *,
        limited: bool = True,
    ) -> Pace:
        """Return what a creature may spend by each of its ways of moving.

        Parameters
        ----------
        creature : Creature
        token : Token, optional
            A token in the air without a speed for flying flies with the one it has.
        budget : number, str or mapping, optional
            In place of its speeds: an amount for every way of moving, or one for each. Its speeds
            where absent.
        limited : bool, keyword-only
            False: as much as it likes by every way it has.

        Returns
        -------
        Pace
        """
        speeds = by_mode(creature.speed, f"creature {creature.name!r}")
        walking = self.budget(speeds["walk"]).ticks if "walk" in speeds else 0
        if isinstance(budget, Mapping):
            speeds = by_mode(budget, "the budget")
        elif budget is not None:
            speeds = dict.fromkeys(speeds, budget)
        aloft = token is not None and self._plane(token) != GROUND
        if self._flies(token) and "fly" not in speeds:
            # A single speed is that of the way it moves.
            speeds = {"fly": speeds.get("walk", next(iter(speeds.values())))}
        counted = {mode: self.budget(amount) for mode, amount in speeds.items()}
        rest = next((b.rest for b in counted.values() if b.rest), "")
        modes = [(mode, b.ticks if limited else None) for mode, b in counted.items()]
        if walking is None and "walk" in counted:
            walking = counted["walk"].ticks
        if not aloft and not any(mode in ("walk", "swim", "climb") for mode in speeds):
            # It stands on the ground and has no speed there.
            modes.append(("walk", 0))
        return Pace(tuple(modes), walking, rest)

    # -- maps ---------------------------------------------------------------------------------

    def types(self, kind: Sequence[str] | str) -> Types:
        """Return the table's entries for what a cell holds.

        Raises
        ------
        RulesError
            If an id is unknown, with the nearest known one.
        """
        ids = (kind,) if isinstance(kind, str) else kind
        return tuple(self.table.find(identifier) for identifier in ids)

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

    def effects_at(self, terrain: Terrain, token: Token) -> tuple[Effect, ...]:
        """Return what the place of a token does to it.

        That is the effects of every kind of cell it covers, each kind once, as far as they concern
        its creature (see `Creature.untested_by`, `unharmed_by` and `crosses`), unless it is above
        or below the ground; then what holds for it there as it is.

        Parameters
        ----------
        terrain : Terrain
        token : Token
            ``prone``, ``level`` and ``flying`` count.

        Returns
        -------
        tuple of Effect
        """
        found: list[Effect] = []
        if self._plane(token) == GROUND:
            for kind in kinds_of(terrain, self.cells_of(token, terrain.lattice)):
                found += spared(self.effects(kind, prone=token.prone), token.creature)
        return (*dict.fromkeys(found), *self._held(terrain, token))

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
                for entry in types:
                    if (entry.number, entry.width) == ("width", None):
                        raise RulesError(f"terrain {entry.id!r} needs metres, as in narrow:0.75")
                    if (entry.number, entry.room) == ("size", ""):
                        raise RulesError(f"terrain {entry.id!r} needs a size, as in narrow:small")
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
        self, types: Types, occupants: Occupants, mover: Mover, *, squeezed: bool
    ) -> Parts:
        """Return what entering such a cell costs."""
        raise NotImplementedError

    def _leave_parts(self, types: Types, mover: Mover) -> Parts:
        """Return what leaving such a cell costs."""
        if mover.gait.plane != GROUND:
            return []
        return [
            (f"{entry.name} (leaving)", int(entry.exit * self.figure_ticks))
            for entry in types
            if entry.exit and not crossed(entry, mover.creature)
        ]

    def _open(self, types: Types, mover: Mover) -> bool:
        """Return whether such a cell may be entered, creatures apart.

        What is closed must name the mode among its speeds, and so must what names any; swimming
        and climbing ask for a terrain that names them.
        """
        mode, named = mover.gait.mode, False
        for entry in types:
            if crossed(entry, mover.creature) or not (entry.closed or entry.speeds):
                continue
            if mode not in entry.speeds:
                return False
            named = True
        return named or mode not in ("swim", "climb")

    def _solid(self, types: Types, mover: Mover) -> bool:
        """Return whether such a cell has corners."""
        return any(entry.corners and not crossed(entry, mover.creature) for entry in types)

    def _groups(self, site: Site, mover: Mover) -> list[npt.NDArray[np.bool_]] | None:
        """Return the classes of cells that steps stay inside of; None where there are none."""
        return None

    def _rests(self, types: Types, mover: Mover) -> bool:
        """Return whether a movement may end on such a cell, creatures apart."""
        return mover.gait.plane != GROUND or all(entry.stop for entry in types)

    def _obstructs(self, types: Types, mover: Mover) -> bool:
        """Return whether such a cell must be left again, over another side (PF-08)."""
        return False

    def _pass(self, occupant: Occupant, mover: Mover) -> bool:
        """Return whether the cell of a token may be entered."""
        return occupant.relation != "foe"

    def _stop_on(self, occupant: Occupant, mover: Mover) -> bool:
        """Return whether a movement may end on the cell of a token."""
        return False

    def _flies(self, token: Token | None) -> bool:
        """Return whether a token is in the air."""
        return token is not None and token.flying

    def _plane(self, token: Token) -> str:
        """Return where a token is: others matter only on the same plane."""
        return f"air {max(1, token.level)}" if token.flying else GROUND

    def _block(self, creature: Creature, body: Body) -> int:
        """Return the side of the space that a body squeezes into, 0 where it does not."""
        return 0

    def _climbing(self, site: Site, mover: Mover) -> tuple[float, float] | None:
        """Return the rise that no step makes, and that of what has corners; None: no heights."""
        return None

    def _lifted(self, site: Site, mover: Mover, body: Body) -> npt.NDArray[np.uint8] | None:
        """Return the steps that may rise at will, as bits by the anchor."""
        return None

    def _seats(
        self, site: Site, mover: Mover, free: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return where somebody may be by a gait that makes no steps; `free`: nobody is there."""
        return free

    def _step_prices(
        self,
        site: Site,
        mover: Mover,
        body: int,
        price: npt.NDArray[np.int64],
        entered: npt.NDArray[np.int64],
    ) -> list[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.int64]]]:
        """Return what steps cost besides: anchors (n, 2), the direction, ticks (n,).

        In: the number of the body; `price` of each cell, `entered` of each place, in ticks.
        """
        return []

    def _step_parts(self, site: Site, mover: Mover, body: int, a: Cell, b: Cell) -> Parts:
        """Return what `_step_prices` is made of for one step."""
        return []

    def _stakes(self, site: Site, stride: Stride) -> list[Stake]:
        """Return what a step risks.

        A class that has this also says what `provokes`. Then the attacks must follow from that,
        and what else has a figure (saves, slips) from the gaits, from the kinds of cells that the
        body leaves and enters, and from whether it moves at all. Where it does not say so, every
        step is looked at.
        """
        return []

    def _held(self, terrain: Terrain, token: Token) -> list[Effect]:
        """Return what holds for a token as it is there, whatever the terrain: squeezed, say."""
        return []

    def _turn_ticks(self) -> int | None:
        """Return what turning a body by one direction costs, or None where it does not turn."""
        return None

    def _altitudes(self) -> int:
        """Return how many levels of the air are told apart."""
        return 1

    def _movement(self) -> Movement:
        """Return how the field counts."""
        return Movement()

    def _start(self, token: Token | None, gaits: Sequence[Gait]) -> int:
        """Return the gait in which a creature begins."""
        if token is not None:
            plane = self._plane(token)
            for number, gait in enumerate(gaits):
                if gait.plane == plane and gait.prone == (token.prone and plane == GROUND):
                    return number
            for number, gait in enumerate(gaits):
                if gait.plane == plane:
                    return number
        return next((n for n, gait in enumerate(gaits) if gait.plane == GROUND), 0)

    def _gaits(
        self, terrain: Terrain, creature: Creature, token: Token | None, pace: Pace
    ) -> list[Gait]:
        """Return the ways in which the creature moves: one a mode, by altitude when flying."""
        gaits = []
        for mode, _ in pace.modes:
            if mode == "fly":
                for level in range(1, self._altitudes() + 1):
                    name = "fly" if level == 1 else f"fly {level}"
                    gaits.append(Gait(name, "fly", f"air {level}", level=level))
            else:
                gaits.append(Gait(mode, mode, "under" if mode == "burrow" else GROUND))
        return gaits

    def _switches(self, site: Site, setting: Setting, occupancy: Occupancy) -> list[Switch]:
        """Return the changes between gaits, free on one spot, and those of altitude.

        On the ground a step is legal by where it leads, whatever the way of moving. Into the air,
        out of it and under the ground one comes where one may then be.
        """
        found = []
        for source, one in enumerate(setting.gaits):
            for target, other in enumerate(setting.gaits):
                if source == target or one.still or other.still or one.prone or other.prone:
                    continue
                if one.mode == other.mode == "fly":
                    if abs(one.level - other.level) == 1:
                        found.append(Switch(source, target, self.cell_ticks))
                        found.append(Switch(source, target, slant=True))
                elif one.level <= 1 and other.level <= 1:
                    apart = one.plane != other.plane or "fly" in (one.mode, other.mode)
                    found.append(Switch(source, target, fitting=apart, rest=1))
        return found

    # -- borders and occupancy ----------------------------------------------------------------

    def _edges(self, terrain: Terrain, creature: Creature, *, aloft: bool = False) -> Edges:
        """Return the borders of a map as that creature meets them, on the ground or off it."""
        lattice = terrain.lattice
        barred: set[tuple[Cell, int]] = set()
        opaque: set[tuple[Cell, int]] = set()
        lifted: set[tuple[Cell, int]] = set()
        priced: dict[tuple[Cell, int], tuple[tuple[str, int], ...]] = {}
        for border in terrain.borders:
            first, second = border.cells
            side = lattice.neighbors(first).index(second)
            if side >= lattice.n_straight:
                raise MapError(f"{_named(border)}: a border needs two cells that share a side")
            there, back = (first, side), (second, lattice.opposite(side))
            price = self._price(border, creature)
            solid = border.kind == "wall" or (border.kind == "door" and not border.open)
            if solid:
                opaque.update((there, back))
            if border.kind in creature.crosses or (aloft and border.kind in GROUND_BORDERS):
                continue
            if solid and not border.one_way:
                barred.add(there)
            if solid or border.one_way or border.kind == "drop":
                barred.add(back)
            if border.kind == "ladder":
                lifted.update((there, back))
            if price:
                part = (border.kind.replace("_", " "), price)
                for step in (there, back):
                    priced[step] = (*priced.get(step, ()), part)
        return Edges(lattice, frozenset(barred), priced, frozenset(opaque), frozenset(lifted))

    def _price(self, border: Border, creature: Creature) -> int:
        """Return what crossing a border costs in ticks."""
        if border.price is None:
            figure = self.table.border(border.kind)
            if figure is None and border.kind in ("low_wall", "ladder"):
                raise MapError(
                    f"{_named(border)}: {self.name} has no rule for it; give the border a price"
                )
            return int((figure or 0) * self.figure_ticks)
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

    def cells_of(self, token: Token, lattice: Lattice) -> list[Cell]:
        """Return the cells that a token covers, on the map or off it."""
        offsets = self.footprint(token.creature, lattice, token.facing)
        if len(offsets) == 1:
            return [token.cell]
        row, col = token.cell
        if lattice.is_hex:
            parity = col & 1 if lattice.is_flat else row & 1
            offsets = rows_and_columns(lattice, offsets, parity)
        return [(row + r, col + c) for r, c in offsets]

    def footprint(self, creature: Creature, lattice: Lattice, facing: int = 0) -> tuple[Cell, ...]:
        """Return the cells of a body from its anchor: (row, col), or axial (q, r) on hexagons."""
        if lattice.is_hex:
            return hexagons(lattice, creature.body or 1, facing)
        return squares(max(1, creature.size_index - MEDIUM + 1))

    def _occupancy(
        self, terrain: Terrain, token: Token | None, others: Sequence[Token], relation: Relate
    ) -> Occupancy:
        """Return where others than the token that moves stand."""
        side = "" if token is None else token.side
        height, width = terrain.shape
        places = [self.cells_of(other, terrain.lattice) for other in others]
        for other, cells in zip(others, places, strict=True):
            for row, col in cells:
                if not (0 <= row < height and 0 <= col < width):
                    terrain.check((row, col), f"cell of token {other.label!r}")
        found: dict[str, dict[Cell, Occupants]] = {}
        engaged = self._engaged(terrain.lattice, others, places, relation)
        for other, cells, fights in zip(others, places, engaged, strict=True):
            plane = found.setdefault(self._plane(other), {})
            occupant = Occupant(other, relation(side, other.side), fights)
            for cell in cells:
                plane[cell] = (*plane.get(cell, ()), occupant)
        return found

    def _engaged(
        self,
        lattice: Lattice,
        others: Sequence[Token],
        places: Sequence[Sequence[Cell]],
        relation: Relate,
    ) -> list[bool]:
        """Return which tokens are in combat, where the system asks."""
        return [False] * len(others)

    @property
    def is_company_judged(self) -> bool:
        """Whether it matters to a mover who stands beside the others, as it does in combat."""
        return type(self)._engaged is not GridRules._engaged

    # -- compiling ----------------------------------------------------------------------------

    def step_field(
        self,
        terrain: Terrain,
        creature: Creature,
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Relate = ONE_SIDE_IS_FRIEND,
        pace: Pace | None = None,
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
        pace : Pace, keyword-only, optional
            What it may spend, see `pace`; its speeds if absent.

        Returns
        -------
        StepField

        Raises
        ------
        MapError
            If the map holds what this system has no rule for.
        """
        from fieldcraft.rules._moving import Explainer, compile_field

        site, setting = self._setting(terrain, creature, token, pace)
        others = without(tokens, token)
        occupancy = self._occupancy(terrain, token, others, relation)
        explainer = Explainer(site, setting, occupancy, relation, others=tuple(others))
        return compile_field(site, setting, explainer, occupancy)

    def _setting(
        self, terrain: Terrain, creature: Creature, token: Token | None, pace: Pace | None
    ) -> tuple[Site, Setting]:
        """Return a map and a creature as they are compiled."""
        from fieldcraft.body import Body
        from fieldcraft.rules._moving import Setting, Site

        if pace is None:
            pace = self.pace(creature, token)
        facing = 0 if token is None else token.facing
        turns = self._turn_ticks() is not None and creature.body in (2, 3)
        facings = range(6) if turns else (facing,)
        lattice = terrain.lattice
        site = Site(
            self,
            terrain,
            self._all_types(terrain),
            (self._edges(terrain, creature), self._edges(terrain, creature, aloft=True)),
            tuple(
                Body(lattice, terrain.shape, self.footprint(creature, lattice, direction))
                for direction in facings
            ),
            terrain.perches,
        )
        gaits = tuple(self._gaits(terrain, creature, token, pace))
        return site, Setting(creature, token, pace, gaits, self._start(token, gaits), facing)

    # -- places -------------------------------------------------------------------------------

    def standing(
        self,
        terrain: Terrain,
        creature: Creature,
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Relate = ONE_SIDE_IS_FRIEND,
    ) -> Standing:
        """Return where a creature may stand, and its single steps.

        Parameters
        ----------
        terrain, creature, token, relation
            As in `step_field`.
        tokens : iterable of Token, keyword-only
            Who is in its way: all of them.

        Returns
        -------
        Standing
        """
        from fieldcraft.rules._places import standing

        site, setting = self._setting(terrain, creature, token, None)
        occupancy = self._occupancy(terrain, token, tuple(tokens), relation)
        return standing(site, setting, occupancy)

    def charge_lanes(
        self,
        terrain: Terrain,
        creature: Creature,
        cell: Cell,
        marks: Sequence[Mark],
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Relate = ONE_SIDE_IS_FRIEND,
    ) -> list[Lane]:
        """Return for each target the lane in which it can be charged, or why it cannot (PF-07).

        Parameters
        ----------
        terrain, creature, token, tokens, relation
            As in `standing`.
        cell : tuple of int
            Where the creature is.
        marks : sequence of Mark

        Raises
        ------
        RulesError
            If the system has no charge.
        """
        raise RulesError(f"{self.name} has no charge")


def _first(terrain: Terrain, code: int) -> Cell | None:
    """Return the first cell of that code, or None."""
    flat = terrain.codes.ravel() == code
    at = int(flat.argmax())
    return divmod(at, terrain.shape[1]) if flat[at] else None


def _named(border: Border) -> str:
    return f"{border.kind} between {border.cells[0]} and {border.cells[1]}"

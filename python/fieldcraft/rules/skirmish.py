"""`skirmish`: movement points and heights (SK-01 to SK-10)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token
from fieldcraft.errors import MapError
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import Stake
from fieldcraft.rules._borders import Parts
from fieldcraft.rules._gaits import (
    GROUND,
    MAX_TICKS,
    Gait,
    Movement,
    Mover,
    Occupant,
    Occupants,
    Pace,
    Relate,
    Types,
    spread,
)
from fieldcraft.rules._grid import Check, GridRules, crossed, one_of, true_or_false
from fieldcraft.rules._stakes import Stride, forbidden, kinds_of, malus, spared
from fieldcraft.rules._table import (
    COMMON_KEYS,
    Forbids,
    Modifier,
    Schema,
    TerrainTable,
    shipped_table,
)
from fieldcraft.terrain import Border, Terrain

if TYPE_CHECKING:
    from fieldcraft.body import Body
    from fieldcraft.rules._moving import Site

__all__ = ["Skirmish"]


NO_LIMIT = 1 << 60
AROUND = (-1, 0, 1)

_SCHEMA = Schema(
    ticks=1,
    keys=COMMON_KEYS | {"corners", "ascending", "hands", "stay", "forbids"},
    borders=("low_wall", "drop", "door"),
)


def _thousandths(height: Any) -> Any:
    """Return heights in whole thousandths, in which they are compared."""
    return np.rint(np.asarray(height) * 1000).astype(np.int64)


@cache
def _table() -> TerrainTable:
    return shipped_table("skirmish", _SCHEMA)


@dataclass(frozen=True)
class Skirmish(GridRules):
    """Squares and movement points, with elements as high as one climbs or sees over.

    Parameters
    ----------
    name, table
        As in every system.
    corners : str
        What a diagonal asks of the two squares beside it (SK-10): ``"either"`` without a corner,
        ``"both"``, or ``"free"``.
    level_surcharge : bool
        Whether each raised square walked on level costs 1 more (SK-05).
    """

    name: str = "skirmish"
    table: TerrainTable = field(default_factory=_table, repr=False)
    corners: Literal["both", "either", "free"] = "either"
    level_surcharge: bool = False

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("square", "square4")
    units: ClassVar[tuple[str, ...]] = ("pt", "sq")
    metric: ClassVar[bool] = False
    provokes: ClassVar[str] = ""
    checks: ClassVar[Mapping[str, Check]] = {
        "corners": one_of("both", "either", "free"),
        "level_surcharge": true_or_false,
    }

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural."""
        return "points"

    @property
    def ticks(self) -> int:
        """Ticks in one point."""
        return 1

    # -- moving -------------------------------------------------------------------------------

    def _movement(self) -> Movement:
        return Movement(corners=self.corners)

    def _enter_parts(
        self, types: Types, occupants: Occupants, mover: Mover, *, squeezed: bool
    ) -> Parts:
        """Return a square, what its terrains cost besides, and an ally in it (SK-01, SK-03)."""
        parts: Parts = [("square", 1)]
        if mover.gait.mode == "fly":
            return parts
        for entry in types:
            if crossed(entry, mover.creature):
                continue
            if entry.entry and not (entry.ascending and mover.raised):
                parts.append((entry.name, int(entry.entry)))
            if entry.hands and mover.creature.hands_full:
                parts.append((f"{entry.name} with hands full", int(entry.hands)))
        if occupants:
            parts.append(("ally in the square", 1))
        return parts

    def _open(self, types: Types, mover: Mover) -> bool:
        if mover.gait.mode == "climb":
            mover = Mover(mover.creature, mover.token, Gait("walk", "walk"), mover.raised)
        return super()._open(types, mover)

    def _pass(self, occupant: Occupant, mover: Mover) -> bool:
        """Return whether the square of a token may be entered (SK-01, SK-04)."""
        if mover.gait.mode == "fly":
            return True
        return occupant.relation != "foe" and not occupant.engaged

    def _engaged(
        self,
        lattice: Lattice,
        others: Sequence[Token],
        places: Sequence[Sequence[Cell]],
        relation: Relate,
    ) -> list[bool]:
        """Return which tokens have an enemy in one of the squares around them (SK-01)."""
        foes: dict[tuple[str, str], bool] = {}

        def hostile(one: Token, other: Token) -> bool:
            sides = (one.side, other.side)
            if sides not in foes:
                foes[sides] = relation(*sides) == "foe"
            return foes[sides]

        standing: dict[Cell, list[int]] = {}
        for number, cells in enumerate(places):
            for cell in cells:
                standing.setdefault(cell, []).append(number)

        def engaged(number: int) -> bool:
            around = {
                (row + i, col + j) for row, col in places[number] for i in AROUND for j in AROUND
            }
            return any(
                near != number and hostile(others[number], others[near])
                for cell in around & standing.keys()
                for near in standing[cell]
            )

        return [
            engaged(number) if token.engaged is None else token.engaged
            for number, token in enumerate(others)
        ]

    def _plane(self, token: Token) -> str:
        return GROUND

    def level_of(self, token: Token) -> int:
        """Return 0: who flies is in the way of others as if on the ground (SK-04)."""
        return 0

    def _gaits(
        self, terrain: Terrain, creature: Creature, token: Token | None, pace: Pace
    ) -> list[Gait]:
        """Return the ways of moving; who flies passes over others, and is in their way (SK-04)."""
        return [Gait(mode, mode) for mode, _ in pace.modes]

    def _start(self, token: Token | None, gaits: Sequence[Gait]) -> int:
        flies = token is not None and token.flying
        return next((n for n, gait in enumerate(gaits) if (gait.mode == "fly") == flies), 0)

    # -- heights ------------------------------------------------------------------------------

    def _is_level(self, site: Site, mover: Mover) -> bool:
        """Return whether heights do not matter to who moves."""
        return mover.gait.mode == "fly" or not site.terrain.has_elevation

    def _climbing(self, site: Site, mover: Mover) -> tuple[float, float] | None:
        """Return the creature's height, which only climbers step up (SK-06, SK-10)."""
        climbs = isinstance(mover.creature.speed, Mapping) and "climb" in mover.creature.speed
        if self._is_level(site, mover):
            return None
        height = self.height_of(mover.creature)
        return math.inf if climbs else height, height

    def _lifted(self, site: Site, mover: Mover, body: Body) -> npt.NDArray[np.uint8] | None:
        """Return the steps over ladders and into or out of squares with one (SK-07)."""
        number = site.bodies.index(body)
        if ("lifted", number) not in site.memo:
            site.memo["lifted", number] = self._find_lifted(site, body, number)
        found: npt.NDArray[np.uint8] | None = site.memo["lifted", number]
        return found

    def _find_lifted(self, site: Site, body: Body, number: int) -> npt.NDArray[np.uint8] | None:
        terrain, lattice = site.terrain, site.terrain.lattice
        rungs = spread(terrain, [any(e.hands for e in types or ()) for types in site.kinds], bool)
        if not rungs.any() and not site.edges[0].lifted:
            return None
        lifted = np.zeros(terrain.shape, np.uint8)
        on_map = site.on_map[number]
        at = on_map & ~body.every(~rungs, on_map)
        lifted[at] = (1 << lattice.n_directions) - 1
        for direction in range(lattice.n_directions):
            starts, ends = site.steps_from(np.argwhere(on_map), direction)
            there = at[ends[:, 0], ends[:, 1]]
            lifted[starts[there, 0], starts[there, 1]] |= 1 << direction
        for anchor, direction in site.lifted(number):
            if site.has(anchor):
                lifted[anchor] |= 1 << direction
        return lifted

    def _step_prices(
        self,
        site: Site,
        mover: Mover,
        body: int,
        price: npt.NDArray[np.int64],
        entered: npt.NDArray[np.int64],
    ) -> list[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.int64]]]:
        """Return what steps up cost (SK-05, SK-06)."""
        if self._is_level(site, mover):
            return []
        tops, on_map = site.height[body], site.on_map[body]
        high = _thousandths(tops)
        limit = (self._climbing(site, mover) or (math.inf, math.inf))[0]
        lifted = self._lifted(site, mover, site.bodies[body])
        found = []
        for direction in range(site.terrain.lattice.n_directions):
            starts, ends = site.steps_from(np.argwhere(on_map), direction)
            both = on_map[ends[:, 0], ends[:, 1]]
            starts, ends = starts[both], ends[both]
            rise = high[ends[:, 0], ends[:, 1]] - high[starts[:, 0], starts[:, 1]]
            made = rise < (NO_LIMIT if math.isinf(limit) else _thousandths(limit))
            if lifted is not None:
                made &= (lifted[starts[:, 0], starts[:, 1]] >> direction) & 1 == 0
            ticks = np.where(made, self._rise_ticks(rise, tops[ends[:, 0], ends[:, 1]]), 0)
            odd = made & (rise > 1000) & (rise % 1000 != 0)
            if odd.any():
                row, col = ends[odd][0]
                raise MapError(
                    f"the rise of {rise[odd][0] / 1000:g} to cell ({row}, {col}) costs no whole "
                    "number of points; expected 1 or less, or a whole number"
                )
            some = ticks > 0
            if some.any():
                found.append((starts[some], direction, ticks[some].astype(np.int64)))
        return found

    def _step_parts(self, site: Site, mover: Mover, body: int, a: Cell, b: Cell) -> Parts:
        if self._is_level(site, mover):
            return []
        direction = site.terrain.lattice.neighbors(a).index(b)
        lifted = self._lifted(site, mover, site.bodies[body])
        if lifted is not None and int(lifted[a]) >> direction & 1:
            return []
        tops = site.height[body]
        ticks = self._rise_ticks(_thousandths(tops[b]) - _thousandths(tops[a]), tops[b])
        rise = float(tops[b] - tops[a])
        return [(f"up {rise:g}" if rise > 0 else "raised", int(ticks))] if ticks else []

    def _rise_ticks(self, rise: Any, top: Any) -> Any:
        """Return what going up costs (SK-05, SK-06), the rise in thousandths."""
        ticks = np.where(rise > 1000, rise // 1000, np.where(rise > 0, 1, 0))
        if self.level_surcharge:
            ticks = ticks + ((rise == 0) & (top > 0))
        return ticks

    def _price(self, border: Border, creature: Creature) -> int:
        """Return what crossing a border costs; a ladder its length, twice with hands full."""
        if border.kind != "ladder" or border.price is not None:
            return super()._price(border, creature)
        length = 1 if border.length is None else border.length
        good = isinstance(length, int | float) and not isinstance(length, bool)
        if not good or not 0 <= length <= MAX_TICKS // 2 or length % 1:
            raise MapError(
                f"the ladder between {border.cells[0]} and {border.cells[1]} must be a whole "
                f"number of squares long, not {border.length}"
            )
        return int(length) * (2 if creature.hands_full else 1)

    # -- seeing -------------------------------------------------------------------------------

    def _tops(self, terrain: Terrain, kinds: Sequence[Types]) -> npt.NDArray[np.float64] | None:
        """Return up to where elements end a line: every one up to its top (SK-09)."""
        return self._ground(terrain) if terrain.has_elevation else None

    # -- at stake -----------------------------------------------------------------------------

    def _stakes(self, site: Site, stride: Stride) -> list[Stake]:
        """Return what entering brings (SK-03, SK-08), and what a ladder forbids (SK-07)."""
        if stride.after.gait.mode == "fly":
            return []
        creature = stride.after.creature
        found: list[Stake] = []
        lands = stride.before.gait.mode == "fly"
        for kind in kinds_of(site.terrain, stride.taken if lands else stride.entered):
            effects = list(spared(self.effects(kind), creature))
            for entry in self.types(kind):
                mine = [e.detail for e in effects if (e.terrain, e.when) == (entry.id, "staying")]
                modifiers = [detail for detail in mine if isinstance(detail, Modifier)]
                where = f"on {entry.name}" if entry.hands else f"in {entry.name}"
                if modifiers:
                    lasting = " until the next turn" if entry.entry else ""
                    found.append(malus(entry.id, modifiers, where + lasting))
                found += [forbidden(entry.id, d, where) for d in mine if isinstance(d, Forbids)]
        lattice = site.terrain.lattice
        ladders = site.edges[0].lifted
        if ladders and "ladder" not in creature.crosses and stride.start != stride.to:
            direction = lattice.neighbors(stride.start).index(stride.to)
            if any((cell, direction) in ladders for cell in stride.held
                   if lattice.neighbor(cell, direction) in stride.entered):  # fmt: skip
                found.append(forbidden("ladder", Forbids("run"), "on ladder"))
        return list(dict.fromkeys(found))

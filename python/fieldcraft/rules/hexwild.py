"""`hexwild`: hexagonal wilderness with cumulative obstruction (HW-01 to HW-27)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import SIZES, Creature, Token
from fieldcraft.errors import RulesError, nearest
from fieldcraft.lattice import Cell
from fieldcraft.path import Stake
from fieldcraft.rules._borders import Parts, total
from fieldcraft.rules._gaits import (
    GROUND,
    Gait,
    Mover,
    Occupancy,
    Occupants,
    Pace,
    Switch,
    Types,
    spread,
)
from fieldcraft.rules._grid import Check, GridRules, crossed, metres, one_of, true_or_false
from fieldcraft.rules._stakes import (
    Stride,
    climb_stake,
    kinds_of,
    landing_stake,
    malus,
    save_stake,
    slip_stake,
    spared,
)
from fieldcraft.rules._table import (
    COMMON_KEYS,
    MAX_HALVES,
    Bad,
    Climb,
    Condition,
    Dice,
    Effect,
    Forbids,
    Knockdown,
    Landing,
    Modifier,
    PerchSearch,
    Save,
    Schema,
    Slip,
    TerrainTable,
    TerrainType,
    shipped_table,
    show,
)
from fieldcraft.terrain import Perch, Terrain

if TYPE_CHECKING:
    from fieldcraft.rules._moving import Setting, Site

__all__ = ["FogCounts", "Hexwild"]

TICKS = 2
PLAIN = 1 * TICKS
SMALL = SIZES.index("small")


LOOKING = (
    PerchSearch("own", "free", later=2, a_round=1),
    PerchSearch("own", "full"),
    PerchSearch("other", "full", test=True),
)
"""The ways to look for a perch (HW-27)."""
LANDING = Landing("pure reflex", Fraction(1, 2))
"""What who comes down from a tree does to whoever stands below (HW-26)."""


class FogCounts(NamedTuple):
    """Where fog counts beyond the hexes between (HW-11).

    `own`: in the viewer's hex; `target`: in the target's; `adjacent`: also when the two are
    adjacent.
    """

    own: bool = False
    target: bool = True
    adjacent: bool = True


_FOG_COUNTS = FogCounts()
_HEX_METRES = Fraction(3, 2)


def _fog_counts(value: object) -> object:
    if isinstance(value, FogCounts):
        value = value._asdict()
    if not isinstance(value, Mapping):
        raise Bad(f"expected a table of {', '.join(FogCounts._fields)}, not {show(value)}")
    for key, flag in value.items():
        if key not in FogCounts._fields:
            hint = nearest(str(key), FogCounts._fields)
            raise Bad(f"expected {', '.join(FogCounts._fields)}, not {key!r}{hint}")
        if not isinstance(flag, bool):
            raise Bad(f"expected true or false for {key}, not {show(flag)}")
    return FogCounts(**value)


def _threshold(value: object) -> object:
    if value is None or value == "none":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
        raise Bad(f"expected a whole number from 1 to 100, or 'none', not {show(value)}")
    return value


def _half_points(value: object) -> object:
    if value is None or value == "none":
        return None
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    points = Fraction(value) if number and 0 <= value <= 100 else Fraction(-1)  # type: ignore[call-overload, operator]
    if points < 0 or (points * TICKS).denominator != 1:
        raise Bad(f"expected points, a multiple of 0.5 from 0 to 100, or 'none', not {show(value)}")
    return points


_SCHEMA = Schema(
    ticks=TICKS,
    keys=COMMON_KEYS
    | {
        "obstruction", "obstructs", "bold", "climb", "stay", "prone", "leaving", "forbids",
        "on_entry", "round_end", "slip", "knockdown", "raised", "hidden", "perches", "tree_climb",
    },
    borders=("low_wall", "drop", "door", "ladder"),
)  # fmt: skip


@cache
def _table() -> TerrainTable:
    return shipped_table("hexwild", _SCHEMA)


@dataclass(frozen=True)
class Hexwild(GridRules):
    """Hexagonal wilderness: surcharges in half points, and obstruction that adds up along a line.

    Parameters
    ----------
    name, table
        As in every system.
    threshold : int or None
        Points of obstruction that hide (HW-02); None: none do.
    ancient_trees_obstruct : str
        ``"heavy"`` or ``"light"`` (HW-07).
    fog_counts : FogCounts or mapping
        Where fog counts (HW-11).
    target_hex : bool
        Whether the target's hex obstructs at all (HW-11).
    small_in_bushes : str
        ``"target"``, ``"all"`` or ``"off"`` (HW-12).
    line : str
        ``"crossed"`` or ``"stepped"`` (HW-14).
    hills : str
        ``"opaque"``: plain ground too ends a line that is no higher; ``"clear"``: only rocks do
        (HW-13). Asked for on maps with an elevation.
    tie : str
        ``"worst-side"``, ``"best-side"``, ``"worst-hex"``, ``"best-hex"`` or ``"both"`` (HW-14).
    overlays_stack : bool
        Whether all overlays are paid, or only the dearest (HW-15).
    mud_exit : str
        ``"hex"``: each muddy hex left is paid; ``"zone"``: only leaving the muddy area (HW-16).
    hex_metres : Fraction
        Metres across a hex.
    turn_cost : Fraction or None
        Points for turning a body of two or three hexes by one direction; None: it does not turn.
    """

    name: str = "hexwild"
    table: TerrainTable = field(default_factory=_table, repr=False)
    threshold: int | None = 4
    ancient_trees_obstruct: Literal["heavy", "light"] = "heavy"
    fog_counts: FogCounts = _FOG_COUNTS
    target_hex: bool = True
    small_in_bushes: Literal["target", "all", "off"] = "target"
    line: Literal["crossed", "stepped"] = "crossed"
    hills: Literal["opaque", "clear"] = "opaque"
    tie: Literal["worst-side", "best-side", "worst-hex", "best-hex", "both"] = "worst-side"
    overlays_stack: bool = True
    mud_exit: Literal["hex", "zone"] = "hex"
    hex_metres: Fraction = _HEX_METRES
    turn_cost: Fraction | None = None

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("odd-r", "even-r", "odd-q", "even-q")
    units: ClassVar[tuple[str, ...]] = ("pt", "sq")
    tokens_only_bar: ClassVar[bool] = True
    provokes: ClassVar[str] = ""
    checks: ClassVar[Mapping[str, Check]] = {
        "threshold": _threshold,
        "ancient_trees_obstruct": one_of("heavy", "light"),
        "fog_counts": _fog_counts,
        "target_hex": true_or_false,
        "small_in_bushes": one_of("target", "all", "off"),
        "line": one_of("crossed", "stepped"),
        "hills": one_of("opaque", "clear"),
        "tie": one_of("worst-side", "best-side", "worst-hex", "best-hex", "both"),
        "overlays_stack": true_or_false,
        "mud_exit": one_of("hex", "zone"),
        "hex_metres": metres,
        "turn_cost": _half_points,
    }

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural."""
        return "points"

    @property
    def ticks(self) -> int:
        """Ticks in one point."""
        return TICKS

    @property
    def cell_metres(self) -> Fraction:
        """Metres across a hex."""
        return self.hex_metres

    # -- moving -------------------------------------------------------------------------------

    def _entry_ticks(self, entry: TerrainType, creature: Creature) -> int:
        """Return a terrain's surcharge by the creature's footing (HW-15, HW-17)."""
        if crossed(entry, creature):
            return 0
        bold = entry.bold is not None and creature.footing == "bold"
        points = entry.bold.entry if bold and entry.bold is not None else entry.entry
        return int(points * TICKS)

    def _stacked(self, parts: Parts, n_base: int) -> Parts:
        """Return the parts that are paid: of several overlays all, or the dearest (HW-15)."""
        if self.overlays_stack or len(parts) <= n_base + 1:
            return parts
        dearest = max(parts[n_base:], key=lambda part: part[1])
        return [*parts[:n_base], dearest]

    def _enter_parts(
        self, types: Types, occupants: Occupants, mover: Mover, *, squeezed: bool
    ) -> Parts:
        """Return plain hex or climb, then the surcharges; friends cost nothing (HW-15, HW-18)."""
        if mover.gait.plane != GROUND:
            return [("plain hex", PLAIN)]
        surcharges = [(entry.name, self._entry_ticks(entry, mover.creature)) for entry in types]
        paid = [part for part in self._stacked(surcharges, 1) if part[1]]
        rise = _rise(types, mover.creature)
        if rise is None or mover.raised:
            return [("plain hex", PLAIN), *paid]
        return [(f"climb {float(rise):g} m", int(_climb_ticks(float(rise)))), *paid]

    def _leave_parts(self, types: Types, mover: Mover) -> Parts:
        return [] if self.mud_exit == "zone" else self._exit_parts(types, mover)

    def _exit_parts(self, types: Types, mover: Mover) -> Parts:
        if mover.gait.plane != GROUND:
            return []
        parts = [
            (
                f"{entry.name} (leaving)",
                0 if crossed(entry, mover.creature) else int(entry.exit * TICKS),
            )
            for entry in types
        ]
        return [part for part in self._stacked(parts, 1) if part[1]]

    def _open(self, types: Types, mover: Mover) -> bool:
        on_foot = mover.gait.plane == GROUND
        climbs = mover.creature.climbs or not on_foot or _rise(types, mover.creature) is None
        return climbs and super()._open(types, mover)

    def _turn_ticks(self) -> int | None:
        return None if self.turn_cost is None else int(self.turn_cost * TICKS)

    def _step_prices(
        self,
        site: Site,
        mover: Mover,
        body: int,
        price: npt.NDArray[np.int64],
        entered: npt.NDArray[np.int64],
    ) -> list[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.int64]]]:
        """Return climbs on a map with elevation (HW-18), and leaving a muddy area (HW-16)."""
        terrain, kinds, shape = site.terrain, site.kinds, site.bodies[body]
        if mover.gait.plane != GROUND or mover.gait.still:
            return []
        exits = [total(self._exit_parts(types or (), mover)) for types in kinds]
        leaving = exits if self.mud_exit == "zone" else [0] * len(kinds)
        climbing = [
            terrain.has_elevation and _rise(types or (), mover.creature) is not None
            for types in kinds
        ]
        if not any(leaving) and not any(climbing):
            return []
        exit_of = spread(terrain, leaving, np.int64)
        climb = spread(terrain, climbing, bool)
        # Only places that are left at a price, or lie beside a climb, are looked at.
        covers = site.on_map[body]
        exit_at = shape.worst(exit_of, site.on_map[body])
        lost = np.argwhere(covers & (exit_at > 0))
        high = np.argwhere(covers & ~shape.every(~climb, site.on_map[body]))
        lattice = terrain.lattice
        found = []
        for direction in range(lattice.n_directions):
            below = high + lattice.offsets()[lattice.parity(high), lattice.opposite(direction)]
            starts = np.unique(np.concatenate([lost, below]), axis=0)
            inside = (starts >= 0).all(axis=1) & (starts < terrain.shape).all(axis=1)
            starts, ends = site.steps_from(starts[inside], direction)
            both = covers[starts[:, 0], starts[:, 1]] & covers[ends[:, 0], ends[:, 1]]
            starts, ends = starts[both], ends[both]
            if not len(starts):
                continue
            ticks = np.zeros(len(starts), np.int64)
            if any(leaving):
                here, there = (exit_at[cells[:, 0], cells[:, 1]] for cells in (starts, ends))
                ticks += np.where(there == 0, here, 0)
            if any(climbing):
                stood = site.height[body][starts[:, 0], starts[:, 1]]
                dearest = np.zeros(len(starts), np.int64)
                rows_cols = shape.rows_cols[lattice.parity(ends)]
                for j in range(shape.size):
                    row, col = (ends + rows_cols[:, j]).T
                    rise = np.where(climb[row, col], terrain.elevation[row, col] - stood, 0.0)
                    steep = np.where(climb[row, col], _climb_ticks(rise) - PLAIN, 0)
                    dearest = np.maximum(dearest, price[row, col] + steep)
                ticks += dearest - entered[ends[:, 0], ends[:, 1]]
            found.append((starts, direction, ticks))
        return found

    def _step_parts(self, site: Site, mover: Mover, body: int, a: Cell, b: Cell) -> Parts:
        if mover.gait.plane != GROUND:
            return []
        terrain, shape = site.terrain, site.bodies[body]
        before = [self.types(terrain.kind(cell)) for cell in shape.at(a)]
        after = [self.types(terrain.kind(cell)) for cell in shape.at(b)]
        parts: Parts = []
        if self.mud_exit == "zone" and not any(self._exit_parts(types, mover) for types in after):
            parts += max((self._exit_parts(types, mover) for types in before), key=total)
        if terrain.has_elevation and any(
            _rise(types, mover.creature) is not None for types in after
        ):
            stood = max(float(terrain.elevation[cell]) for cell in shape.at(a))
            plain, dear, rise = 0, 0, 0.0
            for cell, types in zip(shape.at(b), after, strict=True):
                ticks = total(self._enter_parts(types, (), mover, squeezed=False))
                plain = max(plain, ticks)
                if _rise(types, mover.creature) is not None:
                    here = float(terrain.elevation[cell]) - stood
                    ticks += int(_climb_ticks(here)) - PLAIN
                    rise = max(rise, here)
                dear = max(dear, ticks)
            if dear != plain:
                parts.append((f"climb {rise:g} m", dear - plain))
        return parts

    # -- trees --------------------------------------------------------------------------------

    def level_of(self, token: Token) -> int:
        """Return on which level above the ground a token is, in a tree or in the air (HW-24)."""
        return token.level

    def effects(self, kind: Sequence[str] | str, *, prone: bool = False) -> tuple[Effect, ...]:
        """Return what a cell of that kind does; see `GridRules.effects`.

        Of a forest also how a perch is looked for (HW-27), and what who falls on somebody does
        (HW-26).
        """
        found = list(super().effects(kind, prone=prone))
        for entry in self.types(kind):
            if entry.perches:
                found += [Effect(entry.id, "searching", way) for way in LOOKING]
                found.append(Effect(entry.id, "falling", LANDING))
        return tuple(found)

    def _plane(self, token: Token) -> str:
        if token.level and not token.flying:
            return f"tree {token.level}"
        return super()._plane(token)

    def _gaits(
        self, terrain: Terrain, creature: Creature, token: Token | None, pace: Pace
    ) -> list[Gait]:
        """Return the ways of moving; on foot also each level of the trees (HW-23, HW-24)."""
        gaits = super()._gaits(terrain, creature, token, pace)
        levels = {perch.level for perch in terrain.perches}
        if token is not None and token.level and not token.flying:
            levels.add(token.level)
        if any(gait.plane == GROUND for gait in gaits):
            mode = next(gait.mode for gait in gaits if gait.plane == GROUND)
            gaits += [
                Gait(f"level {level}", mode, f"tree {level}", level=level, still=True)
                for level in sorted(levels)
            ]
        return gaits

    def _seats(
        self, site: Site, mover: Mover, free: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return the hexes with a free perch on a level that bears the creature (HW-22)."""
        level, creature = mover.gait.level, mover.creature
        if ("seats", level) not in site.common:
            mine = [p.cell for p in site.perches if p.level == level and _bears(p, creature)]
            site.common["seats", level] = np.array(mine, np.int64)
        seats = site.flags_at(site.common["seats", level])
        return seats & free

    def _switches(self, site: Site, setting: Setting, occupancy: Occupancy) -> list[Switch]:
        """Return climbs to and between perches, and the ways down (HW-23, HW-26)."""
        found = super()._switches(site, setting, occupancy)
        ground = [n for n, g in enumerate(setting.gaits) if g.plane == GROUND and g.mode == "walk"]
        perched = [n for n, gait in enumerate(setting.gaits) if gait.still]
        for source in [*ground, *perched]:
            for target in [*ground, *perched]:
                low, high = setting.gaits[source].level, setting.gaits[target].level
                if source == target or (source in ground and target in ground):
                    continue
                if high < low:
                    found.append(Switch(source, target, PLAIN))
                    continue
                if not setting.creature.climbs:
                    continue
                found += [
                    Switch(source, target, ticks, site.flags_at(cells))
                    for ticks, cells in self._climbs(site, low, high).items()
                ]
        for n in perched:
            for aloft, gait in enumerate(setting.gaits):
                if gait.mode == "fly" and gait.level == 1 and not gait.still:
                    found += [Switch(n, aloft, rest=1), Switch(aloft, n, rest=1)]
        return found

    def _climbs(self, site: Site, low: int, high: int) -> dict[int, npt.NDArray[np.int64]]:
        """Return the cells of climbs from one level to another, by what they cost in ticks."""
        if ("climbs", low, high) not in site.common:
            below = {perch.cell: perch.metres for perch in site.perches if perch.level == low}
            above = [perch for perch in site.perches if perch.level == high]
            cells = np.array([perch.cell for perch in above], np.int64).reshape(-1, 2)
            rises = [perch.metres - below.get(perch.cell, 0.0) for perch in above]
            ticks = _climb_ticks(np.array(rises, np.float64))
            site.common["climbs", low, high] = {
                int(price): cells[ticks == price] for price in np.unique(ticks)
            }
        found: dict[int, npt.NDArray[np.int64]] = site.common["climbs", low, high]
        return found

    # -- seeing -------------------------------------------------------------------------------

    heights: ClassVar[Mapping[str, float]] = {
        "tiny": 0.5, "small": 1.0, "medium": 1.8, "large": 3.0, "huge": 5.0, "gargantuan": 8.0,
    }  # fmt: skip

    def _halves(self, entry: TerrainType) -> int:
        """Return the halves of a point a terrain takes off (HW-05 to HW-07, HW-11, HW-12)."""
        if entry.id == "ancient_trees" and self.ancient_trees_obstruct == "light":
            entry = self.table.get("light_forest", entry)
        return entry.halves

    def _foliage(self, types: Types, *, bushes: bool) -> int:
        """Return the halves of foliage; forest and bush in one hex count as the denser (HW-12)."""
        of: dict[str, int] = {"foliage": 0, "bush": 0, "fog": 0}
        for entry in types:
            if entry.obstructs == "bush":
                of["bush"] = max(of["bush"], entry.halves)
            else:
                of[entry.obstructs] += self._halves(entry)
        return max(of["foliage"], of["bush"]) if bushes else of["foliage"]

    def _fog(self, types: Types) -> int:
        return sum(entry.halves for entry in types if entry.obstructs == "fog")

    def _check_kind(self, types: Types) -> None:
        halves = self._foliage(types, bushes=True) + self._fog(types)
        if halves > MAX_HALVES:
            names = ", ".join(entry.id for entry in types)
            raise RulesError(
                f"a cell of {names} takes {halves / 2:g} points off a line, more than the "
                f"{MAX_HALVES / 2:g} that can be counted"
            )

    def _obstruction(
        self, terrain: Terrain, kinds: Sequence[Types], target: Creature, *, raised: bool
    ) -> dict[str, Any]:
        """Return what foliage and fog take off (HW-01 to HW-12); of the target its size counts.

        Who looks from a tree has the foliage of its own hex against it at a distance (HW-23).
        """
        small = target.size_index <= SMALL
        everywhere = small and self.small_in_bushes == "all"
        there = small and self.small_in_bushes != "off"
        counts = self.fog_counts
        fog = [self._fog(types) for types in kinds]
        none = [0] * len(kinds)
        foliage = [self._foliage(types, bushes=there) for types in kinds]
        own = [self._foliage(types, bushes=False) for types in kinds] if raised else none

        def halves(*values: Sequence[int]) -> npt.NDArray[Any] | None:
            summed = [sum(of_kind) for of_kind in zip(*values, strict=True)]
            return spread(terrain, summed, np.uint8) if any(summed) else None

        fog_there = fog if counts.target else none
        fog_here = fog if counts.own else none
        between = [self._foliage(t, bushes=everywhere) + self._fog(t) for t in kinds]
        return {
            "between": spread(terrain, between, np.uint8),
            "at_target": halves(foliage, fog_there) if self.target_hex else None,
            "at_viewer": halves(own, fog_here),
            "adjacent_target": halves(fog_there) if self.target_hex and counts.adjacent else None,
            "adjacent_viewer": halves(fog_here) if counts.adjacent else None,
            "threshold": self.threshold,
            "line": self.line,
            "tie": self.tie,
            "failure_per_point": 0.1,
        }

    def _opaque(self, terrain: Terrain, kinds: Sequence[Types]) -> npt.NDArray[np.bool_] | None:
        """Return what is opaque without limit: on a map with heights no rock (HW-13)."""
        limited = terrain.has_elevation
        opaque = [
            any(entry.opaque and not (limited and entry.climb is not None) for entry in types)
            for types in kinds
        ]
        return spread(terrain, opaque, bool) if any(opaque) else None

    def _tops(self, terrain: Terrain, kinds: Sequence[Types]) -> npt.NDArray[np.float64] | None:
        """Return the elevation of rocks and hills; boulders are seen over (HW-13)."""
        if not terrain.has_elevation:
            return None
        blocks = []
        for types in kinds:
            rock = any(entry.opaque and entry.climb is not None for entry in types)
            low = any(entry.climb is not None and not entry.opaque for entry in types)
            blocks.append(rock or (self.hills == "opaque" and not low))
        if not any(blocks):
            return None
        return np.where(spread(terrain, blocks, bool), self._ground(terrain), np.nan)

    def _eyes(self, terrain: Terrain, creature: Creature, level: int) -> npt.NDArray[np.float64]:
        """Return the height of eyes; on a level without a perch that of a middling one (HW-13)."""
        eyes = super()._eyes(terrain, creature, level)
        if level > 0:
            # A perch is 1d3 metres above the base of its level, and levels are 3 metres apart.
            up = np.full(terrain.shape, float(Dice(1, 3, 3 * level - 1).mean))
            for perch in terrain.perches:
                if perch.level == level:
                    up[perch.cell] = perch.metres
            eyes = eyes + up
        return eyes

    # -- at stake -----------------------------------------------------------------------------

    def _stakes(self, site: Site, stride: Stride) -> list[Stake]:
        """Return maluses on leaving (HW-19), climbs (HW-18), saves (HW-17) and slips (HW-20).

        Who comes down from a tree risks what happens to somebody below (HW-26).
        """
        before, after = stride.before.gait, stride.after.gait
        terrain, creature = site.terrain, stride.after.creature
        token = stride.after.token
        prone = token is not None and token.prone
        found: list[Stake] = []
        lost: list[Modifier] = []

        def met(cells: Sequence[Cell]) -> Iterator[tuple[dict[str, str], list[Effect]]]:
            for kind in kinds_of(terrain, cells):
                names = {entry.id: entry.name for entry in self.types(kind)}
                yield names, list(spared(self.effects(kind, prone=prone), creature))

        if before.plane == GROUND:
            for names, effects in met(stride.left):
                for source, name in names.items():
                    modifiers = [
                        effect.detail
                        for effect in effects
                        if effect.terrain == source
                        and effect.when == "leaving"
                        and isinstance(effect.detail, Modifier)
                    ]
                    if modifiers:
                        lost += modifiers
                        found.append(malus(source, modifiers, f"on leaving {name}"))
        # What makes tests harder on the way out does so for those on the way in, pure saves apart.
        harder = tuple(dict.fromkeys(m for m in lost if m.what == "reflex"))
        if after.still and after.level > before.level:
            found += [
                _into_tree(names, effects)
                for names, effects in met([stride.to])
                if not (creature.untested_by | creature.crosses) & names.keys()
            ]
        if after.plane != GROUND:
            return found
        if before.still:
            below = [o for o in stride.others if o.plane == GROUND and stride.to in o.cells]
            found += [landing_stake(LANDING, other) for other in below]
        for names, effects in met(stride.entered):
            falls = tuple(e.detail for e in effects if isinstance(e.detail, Knockdown))
            for effect in effects:
                source, detail, steps = effect.terrain, effect.detail, stride.start != stride.to
                if isinstance(detail, Climb):
                    if steps:
                        found.append(climb_stake(source, detail, (), names[source]))
                elif effect.when != "entering" or (effect.footing and not steps):
                    continue
                elif isinstance(detail, Save):
                    mods = harder if detail.save == "reflex" else ()
                    found.append(save_stake(source, detail, mods, falls, names[source]))
                elif isinstance(detail, Slip):
                    found.append(slip_stake(source, detail, harder, falls, names[source]))
        return list(dict.fromkeys(found))

    def _held(self, terrain: Terrain, token: Token) -> list[Effect]:
        """Return what sitting in a tree does (HW-23)."""
        if self._plane(token) != f"tree {token.level}":
            return []
        types = self.types(terrain.kind(token.cell))
        source = next((entry.id for entry in types if entry.perches), types[0].id)
        details = Condition("incapacitated"), Condition("not standing"), Forbids("rest")
        return [Effect(source, "staying", detail) for detail in details]


def _into_tree(names: Mapping[str, str], effects: Sequence[Effect]) -> Stake:
    """Return the climb to a perch, with the modifiers of its trees (HW-18)."""
    modifiers = tuple(
        e.detail for e in effects if e.when == "climbing" and isinstance(e.detail, Modifier)
    )
    source = next(iter(names))
    return climb_stake(source, None, modifiers, f"a tree, {names[source]}")


def _rise(types: Types, creature: Creature) -> Fraction | None:
    """Return the rise of the highest terrain that must be climbed, or None."""
    rises = [e.climb.rise for e in types if e.climb is not None and not crossed(e, creature)]
    return max(rises, default=None)


def _bears(perch: Perch, creature: Creature) -> bool:
    """Return whether a perch bears a creature of that size."""
    return creature.size_index <= SIZES.index(perch.size)


def _climb_ticks(rise: Any) -> Any:
    """Return what climbing so many metres costs in place of a plain hex (HW-18).

    Twice the rise in points, at least one, rounded up to a tick; a millionth of a tick is taken
    for rounding of the elevation.
    """
    # A rise beyond what a price can hold is cut there, and refused where it is counted.
    ticks = np.ceil(np.round(np.minimum(rise, 10.0**9) * (2 * TICKS), 6))
    return np.maximum(PLAIN, ticks).astype(np.int64)

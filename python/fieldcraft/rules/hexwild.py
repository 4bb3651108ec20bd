"""`hexwild`: hexagonal wilderness with cumulative obstruction (HW-01 to HW-21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import SIZES, Creature, Token
from fieldcraft.errors import MapError, RulesError, nearest
from fieldcraft.lattice import Cell
from fieldcraft.rules._grid import (
    Check,
    GridRules,
    Occupant,
    Parts,
    Types,
    crossed,
    metres,
    one_of,
    spread,
    switch,
)
from fieldcraft.rules._table import (
    COMMON_KEYS,
    MAX_HALVES,
    Bad,
    Schema,
    TerrainTable,
    TerrainType,
    shipped_table,
    show,
)
from fieldcraft.terrain import Terrain

if TYPE_CHECKING:
    from fieldcraft.fields import SightField

__all__ = ["FogCounts", "Hexwild"]

TICKS = 2
PLAIN = 1 * TICKS
SMALL = SIZES.index("small")


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
    tie : str
        ``"worst-side"``, ``"best-side"``, ``"worst-hex"``, ``"best-hex"`` or ``"both"`` (HW-14).
    overlays_stack : bool
        Whether all overlays are paid, or only the dearest (HW-15).
    mud_exit : str
        ``"hex"``: each muddy hex left is paid; ``"zone"``: only leaving the muddy area (HW-16).
    hex_metres : Fraction
        Metres across a hex.

    Notes
    -----
    A rock formation is opaque without limit for now, whatever its height (HW-13).
    """

    name: str = "hexwild"
    table: TerrainTable = field(default_factory=_table, repr=False)
    threshold: int | None = 4
    ancient_trees_obstruct: Literal["heavy", "light"] = "heavy"
    fog_counts: FogCounts = _FOG_COUNTS
    target_hex: bool = True
    small_in_bushes: Literal["target", "all", "off"] = "target"
    line: Literal["crossed", "stepped"] = "crossed"
    tie: Literal["worst-side", "best-side", "worst-hex", "best-hex", "both"] = "worst-side"
    overlays_stack: bool = True
    mud_exit: Literal["hex", "zone"] = "hex"
    hex_metres: Fraction = _HEX_METRES

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("odd-r", "even-r", "odd-q", "even-q")
    units: ClassVar[tuple[str, ...]] = ("pt", "sq")
    checks: ClassVar[Mapping[str, Check]] = {
        "threshold": _threshold,
        "ancient_trees_obstruct": one_of("heavy", "light"),
        "fog_counts": _fog_counts,
        "target_hex": switch,
        "small_in_bushes": one_of("target", "all", "off"),
        "line": one_of("crossed", "stepped"),
        "tie": one_of("worst-side", "best-side", "worst-hex", "best-hex", "both"),
        "overlays_stack": switch,
        "mud_exit": one_of("hex", "zone"),
        "hex_metres": metres,
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
        self, types: Types, creature: Creature, occupants: tuple[Occupant, ...], raised: bool
    ) -> Parts:
        """Return plain hex or climb, then the surcharges; friends cost nothing (HW-15, HW-18)."""
        surcharges = [(entry.name, self._entry_ticks(entry, creature)) for entry in types]
        paid = [part for part in self._stacked(surcharges, 1) if part[1]]
        rise = _rise(types, creature)
        if rise is None or raised:
            return [("plain hex", PLAIN), *paid]
        return [(f"climb {float(rise):g} m", int(_climb_ticks(float(rise)))), *paid]

    def _leave_parts(self, types: Types, creature: Creature) -> Parts:
        return [] if self.mud_exit == "zone" else self._exit_parts(types, creature)

    def _exit_parts(self, types: Types, creature: Creature) -> Parts:
        parts = [
            (f"{entry.name} (leaving)", 0 if crossed(entry, creature) else int(entry.exit * TICKS))
            for entry in types
        ]
        return [part for part in self._stacked(parts, 1) if part[1]]

    def _open(self, types: Types, creature: Creature) -> bool:
        climbs = creature.climbs or _rise(types, creature) is None
        return climbs and super()._open(types, creature)

    def _apart(self, token: Token | None, other: Token) -> bool:
        return other.level != (0 if token is None else token.level)

    def _step_parts(
        self, terrain: Terrain, creature: Creature, a: Cell, b: Cell, types: tuple[Types, Types]
    ) -> Parts:
        """Return a climb on a map with elevation (HW-18), and leaving a muddy area (HW-16)."""
        here, there = types
        parts: Parts = []
        if self.mud_exit == "zone" and not self._exit_parts(there, creature):
            parts += self._exit_parts(here, creature)
        if terrain.has_elevation and _rise(there, creature) is not None:
            rise = float(terrain.elevation[b] - terrain.elevation[a])
            extra = int(_climb_ticks(rise)) - PLAIN
            if extra:
                parts.append((f"climb {rise:g} m", extra))
        return parts

    def _step_prices(
        self, terrain: Terrain, kinds: Sequence[Types | None], creature: Creature
    ) -> list[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.int64]]]:
        lattice = terrain.lattice
        exits = [sum(t for _, t in self._exit_parts(types or (), creature)) for types in kinds]
        leaving = exits if self.mud_exit == "zone" else [0] * len(kinds)
        climbing = [
            terrain.has_elevation and _rise(types or (), creature) is not None for types in kinds
        ]
        if not any(leaving) and not any(climbing):
            return []
        # Only cells that are left at a price, or lie beside a climb, are looked at.
        found = []
        lost = np.argwhere(spread(terrain, [bool(ticks) for ticks in leaving], bool))
        high = np.argwhere(spread(terrain, climbing, bool))
        height, width = terrain.shape
        offsets = lattice.offsets()
        exit_of, climb_of = np.array(exits, np.int64), np.array(climbing, bool)
        for direction in range(lattice.n_directions):
            back = lattice.opposite(direction)
            below = high + offsets[lattice.parity(high), back]
            starts = np.unique(np.concatenate([lost, below]), axis=0)
            ends = starts + offsets[lattice.parity(starts), direction]
            inside = np.ones(len(starts), bool)
            for cells in (starts, ends):
                inside &= (cells >= 0).all(axis=1) & (cells < (height, width)).all(axis=1)
            starts, ends = starts[inside], ends[inside]
            if not len(starts):
                continue
            source = terrain.codes[starts[:, 0], starts[:, 1]]
            goal = terrain.codes[ends[:, 0], ends[:, 1]]
            ticks = np.zeros(len(starts), np.int64)
            if any(leaving):
                ticks += np.where(exit_of[goal] == 0, exit_of[source], 0)
            if any(climbing):
                rise = (
                    terrain.elevation[ends[:, 0], ends[:, 1]]
                    - terrain.elevation[starts[:, 0], starts[:, 1]]
                )
                climb = climb_of[goal]
                if not np.isfinite(rise[climb]).all():
                    row, col = ends[climb][~np.isfinite(rise[climb])][0]
                    raise MapError(f"the elevation at or beside cell ({row}, {col}) is no number")
                ticks += np.where(climb, _climb_ticks(np.where(climb, rise, 0.0)) - PLAIN, 0)
            found.append((starts, direction, ticks))
        return found

    # -- seeing -------------------------------------------------------------------------------

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

    def sight_field(self, terrain: Terrain, viewer: Creature, target: Creature) -> SightField:
        """Compile the map for a creature that looks at another (HW-01 to HW-14).

        Parameters
        ----------
        terrain : Terrain
        viewer, target : Creature
            Of the target its size counts (HW-12).

        Returns
        -------
        SightField
        """
        from fieldcraft.fields import SightField

        kinds = [types or () for types in self._all_types(terrain)]
        small = target.size_index <= SMALL
        everywhere = small and self.small_in_bushes == "all"
        there = small and self.small_in_bushes != "off"
        fog = [self._fog(types) for types in kinds]
        counts = self.fog_counts
        at_target = [self._foliage(types, bushes=there) for types in kinds]
        if counts.target:
            at_target = [a + b for a, b in zip(at_target, fog, strict=True)]

        def halves(values: Sequence[int], *, counted: bool = True) -> npt.NDArray[Any] | None:
            return spread(terrain, values, np.uint8) if counted and any(values) else None

        between = [self._foliage(t, bushes=everywhere) + self._fog(t) for t in kinds]
        return SightField(
            terrain.lattice,
            terrain.shape,
            between=spread(terrain, between, np.uint8),
            at_target=halves(at_target, counted=self.target_hex),
            at_viewer=halves(fog, counted=counts.own),
            adjacent_target=halves(
                fog, counted=self.target_hex and counts.target and counts.adjacent
            ),
            adjacent_viewer=halves(fog, counted=counts.own and counts.adjacent),
            opaque=self._opaque(terrain, kinds),
            light=terrain.light,
            walls=self._walls(terrain),
            threshold=self.threshold,
            line=self.line,
            tie=self.tie,
            failure_per_point=0.1,
        )


def _rise(types: Types, creature: Creature) -> Fraction | None:
    """Return the rise of the highest terrain that must be climbed, or None."""
    rises = [e.climb.rise for e in types if e.climb is not None and not crossed(e, creature)]
    return max(rises, default=None)


def _climb_ticks(rise: Any) -> Any:
    """Return what climbing so many metres costs in place of a plain hex (HW-18).

    Twice the rise in points, at least one, rounded up to a tick; a millionth of a tick is taken
    for rounding of the elevation.
    """
    # A rise beyond what a price can hold is cut there, and refused where it is counted.
    ticks = np.ceil(np.round(np.minimum(rise, 10.0**9) * (2 * TICKS), 6))
    return np.maximum(PLAIN, ticks).astype(np.int64)

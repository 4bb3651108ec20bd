"""`srd5`: fifth-edition movement (S5-01 to S5-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fieldcraft.creature import SIZES, Creature, Token
from fieldcraft.path import Stake
from fieldcraft.rules._borders import Parts
from fieldcraft.rules._gaits import (
    GROUND,
    Gait,
    Movement,
    Mover,
    Occupancy,
    Occupant,
    Occupants,
    Pace,
    Switch,
    Types,
)
from fieldcraft.rules._grid import (
    Budget,
    Check,
    GridRules,
    crossed,
    one_of,
    true_or_false,
    whole_from,
)
from fieldcraft.rules._stakes import (
    LEAVING_THE_REACH,
    SQUEEZING,
    Stride,
    attacks,
    is_squeezed,
    kinds_of,
)
from fieldcraft.rules._table import (
    COMMON_KEYS,
    Condition,
    Effect,
    Schema,
    TerrainTable,
    TwoRolls,
    shipped_table,
)
from fieldcraft.terrain import Terrain
from fieldcraft.units import Quantity, quantity

if TYPE_CHECKING:
    from fieldcraft.body import Body
    from fieldcraft.rules._moving import Setting, Site

__all__ = ["Srd5"]

CELL = 2
"""Ticks of a cell: standing up may cost two cells and a half (S5-07)."""
CELL_METRES = Fraction(3, 2)
FOOT = Fraction(3, 10)
EFFORTS = {"swim": "swimming", "climb": "climbing"}
IN_A_GAP = (
    TwoRolls("attacks", "worse"),
    TwoRolls("dexterity saves", "worse"),
    TwoRolls("attacks against", "better"),
)
"""What squeezing does to who squeezes (S5-13)."""

_SCHEMA = Schema(ticks=CELL, keys=COMMON_KEYS | {"corners"}, borders=("low_wall", "drop", "door"))


@cache
def _table() -> TerrainTable:
    return shipped_table("srd5", _SCHEMA)


@dataclass(frozen=True)
class Srd5(GridRules):
    """Squares of 1.5 m, a diagonal like any step, several speeds in one movement.

    Parameters
    ----------
    name, table
        As in every system; the table's figures are cells.
    diagonals : str
        ``"equidistant"``, or the variants ``"alternating"`` and ``"alternating-2"``.
    corners : str
        What a diagonal asks of the two squares beside it (S5-14): ``"both"`` without a corner,
        ``"either"``, or ``"free"``.
    squeeze : bool
        Whether creatures squeeze into the space of one a size smaller (S5-13).
    altitudes : int
        How many levels of the air flyers tell apart.
    """

    name: str = "srd5"
    table: TerrainTable = field(default_factory=_table, repr=False)
    diagonals: Literal["equidistant", "alternating", "alternating-2"] = "equidistant"
    corners: Literal["both", "either", "free"] = "both"
    squeeze: bool = True
    altitudes: int = 1

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("square", "square4")
    units: ClassVar[tuple[str, ...]] = ("m",)
    provokes: ClassVar[str] = LEAVING_THE_REACH
    checks: ClassVar[Mapping[str, Check]] = {
        "diagonals": one_of("equidistant", "alternating", "alternating-2"),
        "corners": one_of("both", "either", "free"),
        "squeeze": true_or_false,
        "altitudes": whole_from(1, 20),
    }

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural."""
        return "metres"

    @property
    def ticks(self) -> Fraction:
        """Ticks in one metre: a tick is half a cell, 0.75 m."""
        return CELL / CELL_METRES

    @property
    def figure_ticks(self) -> int:
        """Ticks in one point of the table's figures, a cell."""
        return CELL

    def budget(
        self,
        value: float | int | str | Fraction | Quantity | None,
        creature: Creature | None = None,
    ) -> Budget:
        """Return a budget in ticks of 0.75 m; feet and cells become metres first."""
        if value is None and creature is not None:
            value = creature.walking_speed()
        given = quantity(value, "budget")
        metres = {"ft": FOOT, "sq": CELL_METRES}.get(given.unit)
        if given.value is not None and metres is not None:
            given = Quantity(given.value * metres, "m")
        return super().budget(given)

    # -- moving -------------------------------------------------------------------------------

    def _movement(self) -> Movement:
        if self.diagonals == "equidistant":
            return Movement(corners=self.corners)
        return Movement(diagonal=self.diagonals, corners=self.corners, flat=True, plain=CELL)

    def _altitudes(self) -> int:
        return self.altitudes

    def _enter_parts(
        self, types: Types, occupants: Occupants, mover: Mover, *, squeezed: bool
    ) -> Parts:
        """Return a cell, and a cell more for each of three kinds of hindrance (S5-04 to S5-06)."""
        creature, gait = mover.creature, mover.gait
        parts: Parts = [("cell", CELL)]
        met = [e for e in types if not crossed(e, creature)]
        hard = [(e.name, int(e.entry * CELL)) for e in met if e.entry and gait.plane == GROUND]
        if occupants:
            hard.append(("creature in the space", self._difficult()))
        if hard:
            parts.append(max(hard, key=lambda part: part[1]))
        efforts = [mode for e in met for mode in EFFORTS if mode in e.speeds]
        if gait.prone:
            parts.append(("crawling", CELL))
        elif gait.mode == "walk" and efforts:
            parts.append((f"{EFFORTS[efforts[0]]} without a speed", CELL))
        if squeezed or self._is_narrow(types, mover):
            parts.append(("squeezing", CELL))
        return parts

    def _difficult(self) -> int:
        """Return what difficult terrain costs besides, in ticks (S5-05)."""
        entry = self.table.get("difficult")
        return CELL if entry is None else int(entry.entry * CELL)

    def _rooms(self, types: Types, mover: Mover) -> list[int]:
        """Return the sizes that narrow passages have room for."""
        if mover.gait.mode == "burrow":
            return []
        return [
            SIZES.index(entry.room)
            for entry in types
            if entry.room and not crossed(entry, mover.creature)
        ]

    def _is_narrow(self, types: Types, mover: Mover) -> bool:
        return any(room < mover.creature.size_index for room in self._rooms(types, mover))

    def _open(self, types: Types, mover: Mover) -> bool:
        least = mover.creature.size_index - (1 if self.squeeze else 0)
        return all(room >= least for room in self._rooms(types, mover)) and super()._open(
            types, mover
        )

    def _pass(self, occupant: Occupant, mover: Mover) -> bool:
        """Return whether the space of a creature may be entered (S5-08)."""
        apart = abs(occupant.token.creature.size_index - mover.creature.size_index)
        if apart >= 2:
            return True
        return occupant.token.lets_through and occupant.relation != "foe"

    def _block(self, creature: Creature, body: Body) -> int:
        """Return the side of a body one size smaller (S5-13)."""
        return body.side - 1 if self.squeeze and body.side > 1 else 0

    # -- prone and in the air -----------------------------------------------------------------

    def falls(self, token: Token) -> bool:
        """Return whether a flyer falls: prone or unable to move, and not hovering (S5-11)."""
        if not token.flying or token.creature.hovers:
            return False
        speed = token.creature.speed
        if isinstance(speed, Mapping):
            speed = speed["fly"] if "fly" in speed else next(iter(speed.values()))
        return token.prone or token.helpless or quantity(speed, "speed").value == 0

    def level_of(self, token: Token) -> int:
        """Return on which level of the air a token is; one that falls is on the ground."""
        return 0 if self.falls(token) else super().level_of(token)

    def _flies(self, token: Token | None) -> bool:
        return token is not None and token.flying and not self.falls(token)

    def _plane(self, token: Token) -> str:
        return super()._plane(token) if self._flies(token) else GROUND

    def pace(
        self,
        creature: Creature,
        token: Token | None = None,
        budget: Any = None,
        *,
        limited: bool = True,
    ) -> Pace:
        """Return what a creature may spend by each of its ways of moving; see `GridRules.pace`."""
        pace = super().pace(creature, token, budget, limited=limited)
        if self._is_prone(token) and "walk" not in dict(pace.modes):
            # It crawls on its walking speed, and has none.
            pace = replace(pace, modes=(*pace.modes, ("walk", 0)), walking=0)
        return pace

    def _is_prone(self, token: Token | None) -> bool:
        return token is not None and token.prone and self._plane(token) == GROUND

    def _gaits(
        self, terrain: Terrain, creature: Creature, token: Token | None, pace: Pace
    ) -> list[Gait]:
        gaits = super()._gaits(terrain, creature, token, pace)
        if self._is_prone(token):
            gaits.insert(0, Gait("crawl", "walk", GROUND, prone=True))
        return gaits

    def _start(self, token: Token | None, gaits: Sequence[Gait]) -> int:
        return 0 if self._is_prone(token) else super()._start(token, gaits)

    def _switches(self, site: Site, setting: Setting, occupancy: Occupancy) -> list[Switch]:
        """Return the changes of every system, and standing up for half the speed (S5-07)."""
        found = super()._switches(site, setting, occupancy)
        walking = setting.pace.walking
        # Half of a speed that nobody knows is unknown too.
        if not setting.gaits[0].prone or not walking:
            return found
        # What is left after standing up is half the speed, to the tick.
        ticks = int(walking) - int(walking) // 2
        for target, gait in enumerate(setting.gaits):
            if gait.mode == "walk" and not gait.prone:
                found.append(Switch(0, target, ticks, fitting=False))
        return found

    # -- at stake -----------------------------------------------------------------------------

    def _stakes(self, site: Site, stride: Stride) -> list[Stake]:
        """Return the attack of each foe whose reach a step leaves (S5-10)."""
        return attacks(stride, site.terrain.lattice, self.provokes)

    def _held(self, terrain: Terrain, token: Token) -> list[Effect]:
        """Return the fall of a flyer that cannot stay up (S5-11), and squeezing (S5-13)."""
        found = [Effect("air", "staying", Condition("falls"))] if self.falls(token) else []
        if not self.squeeze:
            return found
        gait = Gait("walk", "walk", self._plane(token))
        mover = Mover(token.creature, token, gait, terrain.has_elevation)
        narrow = [
            entry.id
            for kind in kinds_of(terrain, self.cells_of(token, terrain.lattice))
            for entry in self.types(kind)
            if entry.room and self._is_narrow((entry,), mover)
        ]
        if narrow or is_squeezed(self, terrain, token):
            source = narrow[0] if narrow else SQUEEZING
            found += [Effect(source, "staying", rolls) for rolls in IN_A_GAP]
        return found

"""`pathfinder`: squares with alternating diagonals (PF-01 to PF-13)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from fieldcraft.creature import SIZES, Creature, Token
from fieldcraft.path import Stake
from fieldcraft.rules._borders import Parts
from fieldcraft.rules._gaits import (
    GROUND,
    Gait,
    Movement,
    Mover,
    Occupant,
    Occupants,
    Relate,
    Types,
)
from fieldcraft.rules._grid import (
    ONE_SIDE_IS_FRIEND,
    Budget,
    Check,
    GridRules,
    crossed,
    float_budget,
    one_of,
    true_or_false,
    whole_from,
)
from fieldcraft.rules._stakes import (
    ACROBATICS,
    LEAVING_A_CELL,
    SQUEEZING,
    Stride,
    attacks,
    is_squeezed,
    kinds_of,
    spared,
    tumbles,
)
from fieldcraft.rules._table import (
    COMMON_KEYS,
    Condition,
    Effect,
    Schema,
    SkillTest,
    TerrainTable,
    TwoRolls,
    shipped_table,
)
from fieldcraft.terrain import Terrain

if TYPE_CHECKING:
    from fieldcraft.body import Body
    from fieldcraft.lattice import Cell
    from fieldcraft.rules._charging import Lane, Mark
    from fieldcraft.rules._moving import Site

__all__ = ["Pathfinder"]

DIAGONALS = (
    "equidistant",
    "alternating",
    "alternating-2",
    "exact",
    "approximate",
    "rectilinear",
    "illegal",
)
Diagonals = Literal[
    "equidistant", "alternating", "alternating-2", "exact", "approximate", "rectilinear", "illegal"
]
TUMBLED = "enemy in the square (Acrobatics)"
SQUEEZED, SQUEEZED_BY_TEST = "squeezing", "squeezing (Acrobatics)"
SPACE = dict(zip(SIZES, map(Fraction, ("0.75", "1.5", "1.5", "3", "4.5", "6")), strict=True))
"""Metres a side of the space of each size."""
HALF, QUARTER = Fraction(1, 2), Fraction(3, 10) / Fraction(3, 2)
"""Down to which share of its space a creature squeezes, and squeezes by a test (0.30 of 1.5 m)."""

_SCHEMA = Schema(
    ticks=1,
    keys=COMMON_KEYS | {"corners", "onward", "test"},
    borders=("low_wall", "drop", "door", "ladder"),
)


@cache
def _table() -> TerrainTable:
    return shipped_table("pathfinder", _SCHEMA)


@dataclass(frozen=True)
class Pathfinder(GridRules):
    """Squares of 1.5 m, diagonals 1-2-1-2, difficult squares that count as 2.

    Parameters
    ----------
    name, table
        As in every system.
    diagonals : str
        ``"alternating"`` (PF-01), or another of the seven ways virtual tabletops know.
    parity : str
        ``"advances"``: every diagonal is counted; ``"carry"``: half squares are carried (PF-02).
    corners : str
        What a diagonal asks of the two squares beside it: ``"both"`` without a corner (PF-03),
        ``"either"``, or ``"free"``.
    occupied : str
        ``"double"``: any square with a creature counts as 2 (PF-05); ``"normal"``: those of
        friends and neutrals cost as usual.
    stack : str
        Several causes ``"multiply"``, or only the ``"worst"`` counts (PF-13).
    tumble : bool
        Whether enemies' squares are passed, by a test of Acrobatics (PF-04).
    sight_corners : str
        Whether sight passes between two walls that touch at a corner: ``"closed"`` or ``"open"``.
    footprint_cost : str
        Which square of a large body decides the price: the ``"worst"`` it covers after the step
        (PF-09), the ``"worst-new"`` it did not cover before, the lower ``"median"``, or its
        ``"anchor"``.
    squeeze : bool
        Whether creatures squeeze through spaces narrower than their own (PF-10).
    altitudes : int
        How many levels of the air flyers tell apart.
    """

    name: str = "pathfinder"
    table: TerrainTable = field(default_factory=_table, repr=False)
    diagonals: Diagonals = "alternating"
    parity: Literal["advances", "carry"] = "advances"
    corners: Literal["both", "either", "free"] = "both"
    occupied: Literal["double", "normal"] = "double"
    stack: Literal["multiply", "worst"] = "multiply"
    tumble: bool = False
    sight_corners: Literal["closed", "open"] = "closed"
    footprint_cost: Literal["worst", "worst-new", "median", "anchor"] = "worst"
    squeeze: bool = True
    altitudes: int = 1

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("square", "square4")
    units: ClassVar[tuple[str, ...]] = ("sq",)
    provokes: ClassVar[str] = LEAVING_A_CELL
    checks: ClassVar[Mapping[str, Check]] = {
        "diagonals": one_of(*DIAGONALS),
        "parity": one_of("advances", "carry"),
        "corners": one_of("both", "either", "free"),
        "occupied": one_of("double", "normal"),
        "stack": one_of("multiply", "worst"),
        "tumble": true_or_false,
        "sight_corners": one_of("closed", "open"),
        "footprint_cost": one_of("worst", "worst-new", "median", "anchor"),
        "squeeze": true_or_false,
        "altitudes": whole_from(1, 20),
    }

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural."""
        return "squares"

    @property
    def ticks(self) -> int:
        """Ticks in one square: 1, or 2 where a diagonal costs one and a half."""
        return 2 if self.diagonals == "approximate" else 1

    def _spend(self, points: Fraction) -> Budget:
        return float_budget(points) if self.diagonals == "exact" else super()._spend(points)

    # -- moving -------------------------------------------------------------------------------

    def _movement(self) -> Movement:
        ways: dict[str, tuple[int, int] | tuple[float, float] | str] = {
            "equidistant": (1, 1),
            "exact": (1.0, math.sqrt(2.0)),
            "approximate": (2, 3),
            "rectilinear": (1, 2),
            "illegal": (1, 1),
        }
        return Movement(
            dtype=np.float64 if self.diagonals == "exact" else np.uint16,
            diagonal=ways.get(self.diagonals, self.diagonals),
            parity=self.parity,
            corners=self.corners,
            straight_only=self.diagonals == "illegal",
            footprint=self.footprint_cost,
        )

    def _altitudes(self) -> int:
        return self.altitudes

    def _enter_parts(
        self, types: Types, occupants: Occupants, mover: Mover, *, squeezed: bool
    ) -> Parts:
        """Return the square, and what each cause adds to its weight (PF-02, PF-05, PF-13)."""
        creature, causes = mover.creature, []
        if mover.gait.plane == GROUND:
            causes += [(e.name, 1 + int(e.entry)) for e in types if not crossed(e, creature)]
        causes += [(_who(o), 2) for o in self._hampering(occupants)[:1]]
        share = self._share(types, mover)
        if squeezed or share < 1:
            causes.append((SQUEEZED if share >= HALF else SQUEEZED_BY_TEST, 2))
        parts: Parts = [("square", 1)]
        weight = 1
        for label, factor in causes:
            more = weight * factor if self.stack == "multiply" else max(weight, factor)
            # What takes a test is named even where it adds nothing to the price.
            if more > weight or label in (TUMBLED, SQUEEZED_BY_TEST):
                parts.append((label, more - weight))
            weight = more
        return parts

    def _share(self, types: Types, mover: Mover) -> Fraction:
        """Return the share of its space that a creature finds in a narrow square (PF-10)."""
        if mover.gait.mode == "burrow":
            return Fraction(1)
        widths = [e.width for e in types if e.width is not None and not crossed(e, mover.creature)]
        return min(widths, default=Fraction(6)) / SPACE[mover.creature.size]

    def _open(self, types: Types, mover: Mover) -> bool:
        narrowest = QUARTER if self.squeeze else 1
        return self._share(types, mover) >= narrowest and super()._open(types, mover)

    def _obstructs(self, types: Types, mover: Mover) -> bool:
        return mover.gait.plane == GROUND and any(
            entry.onward and not crossed(entry, mover.creature) for entry in types
        )

    def _hampering(self, occupants: Occupants) -> list[Occupant]:
        """Return who makes a square count as 2 (PF-05): enemies first, once a square."""
        foes = [o for o in occupants if o.relation == "foe"]
        return foes or (list(occupants) if self.occupied == "double" else [])

    def _pass(self, occupant: Occupant, mover: Mover) -> bool:
        return occupant.relation != "foe" or occupant.token.helpless or self.tumble

    def _stop_on(self, occupant: Occupant, mover: Mover) -> bool:
        return occupant.token.helpless

    def _block(self, creature: Creature, body: Body) -> int:
        """Return half the side of the body, rounded up (PF-10)."""
        return (body.side + 1) // 2 if self.squeeze and body.side > 1 else 0

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
        """Return for each target the lane in which it can be charged, or why it cannot (PF-07)."""
        from fieldcraft.rules._charging import find_lanes

        site, setting = self._setting(terrain, creature, token, None)
        occupancy = self._occupancy(terrain, token, tuple(tokens), relation)
        return find_lanes(site, setting, occupancy, cell, marks)

    def _sight_corners(self) -> Literal["closed", "open"]:
        return self.sight_corners

    # -- at stake -----------------------------------------------------------------------------

    def _stakes(self, site: Site, stride: Stride) -> list[Stake]:
        """Return attacks, and tests for enemies (PF-04), obstacles (PF-08), gaps (PF-10).

        Every step out of a square that a foe threatens provokes; a foe attacks once a movement.
        """
        struck = attacks(stride, site.terrain.lattice, self.provokes)
        found = tumbles(stride)
        creature = stride.after.creature
        for kind in kinds_of(site.terrain, stride.entered):
            types = self.types(kind)
            names = {entry.id: entry.name for entry in types}
            if stride.after.gait.plane == GROUND:
                for effect in spared(self.effects(kind), creature):
                    if effect.when == "entering" and isinstance(effect.detail, SkillTest):
                        name = names[effect.terrain]
                        text = f"{effect.detail.skill} to pass {name}"
                        found.append(Stake("test", effect.terrain, effect.detail, text=text))
            if self._share(types, stride.after) < HALF:
                gaps = [e for e in types if e.width is not None and not crossed(e, creature)]
                gap = min(gaps, key=lambda entry: entry.width or 0)
                if not {gap.id, gap.base_id} & creature.untested_by:
                    text = f"{ACROBATICS} to squeeze through {gap.name}"
                    found.append(Stake("test", gap.id, SkillTest(ACROBATICS), text=text))
        return [*struck, *dict.fromkeys(found)]

    def _held(self, terrain: Terrain, token: Token) -> list[Effect]:
        """Return what being squeezed does (PF-10)."""
        if not self.squeeze:
            return []
        gait = Gait("walk", "walk", self._plane(token))
        mover = Mover(token.creature, token, gait, terrain.has_elevation)
        kinds = [
            self.types(kind) for kind in kinds_of(terrain, self.cells_of(token, terrain.lattice))
        ]
        tightest = min(kinds, key=lambda types: self._share(types, mover), default=())
        share = self._share(tightest, mover)
        if share >= 1 and not is_squeezed(self, terrain, token):
            return []
        gaps = [e for e in tightest if e.width is not None and not crossed(e, token.creature)]
        source = gaps[0].id if gaps and share < 1 else SQUEEZING
        details: list[Condition | TwoRolls] = [Condition("entangled")]
        if share < HALF:
            details += [Condition("flat-footed"), TwoRolls("attacks", "worse")]
        return [Effect(source, "staying", detail) for detail in details]


def _who(occupant: Occupant) -> str:
    """Return how a creature in the square is named in a reason."""
    if occupant.token.helpless:
        return "helpless creature in the square"
    if occupant.relation == "foe":
        return TUMBLED
    return "creature in the square"

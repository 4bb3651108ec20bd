"""`octile`: the rules of the MovingAI benchmark, 1 a straight step and the root of 2 a diagonal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.rules._borders import Parts
from fieldcraft.rules._gaits import (
    Movement,
    Mover,
    Occupancy,
    Occupants,
    Relate,
    Types,
    spread,
)
from fieldcraft.rules._grid import Budget, GridRules, crossed, float_budget
from fieldcraft.rules._table import COMMON_KEYS, Schema, TerrainTable, shipped_table
from fieldcraft.terrain import Terrain

if TYPE_CHECKING:
    from fieldcraft.rules._moving import Site

__all__ = ["Octile"]

PLAIN = "ground"
_SCHEMA = Schema(ticks=1, keys=COMMON_KEYS | {"group"}, borders=("low_wall", "drop", "door"))


@cache
def _table() -> TerrainTable:
    return shipped_table("octile", _SCHEMA)


@dataclass(frozen=True)
class Octile(GridRules):
    """The plain rules of a pathfinding benchmark: no creatures, no budgets in metres.

    A step stays inside one group of terrains (ground with swamp, water, trees), costs 1, or the
    root of 2 on a diagonal, and a diagonal needs both squares beside it in the same group. Tokens
    are not in the way. Trees and what lies out of bounds end a line of sight; nothing takes
    anything off it.

    Parameters
    ----------
    name, table
        As in every system; there are no parameters.
    """

    name: str = "octile"
    table: TerrainTable = field(default_factory=_table, repr=False)

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("square", "square4")
    units: ClassVar[tuple[str, ...]] = ("sq",)
    metric: ClassVar[bool] = False

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural."""
        return "cells"

    @property
    def ticks(self) -> int:
        """Ticks in one cell: costs are floats, and a tick is a cell."""
        return 1

    @property
    def cell_metres(self) -> Fraction:
        """The benchmark has no metres; 1."""
        return Fraction(1)

    def _spend(self, points: Fraction) -> Budget:
        return float_budget(points)

    def _movement(self) -> Movement:
        return Movement(dtype=np.float64, diagonal=(1.0, math.sqrt(2.0)))

    def _enter_parts(
        self, types: Types, occupants: Occupants, mover: Mover, *, squeezed: bool
    ) -> Parts:
        surcharges = [
            (entry.name, int(entry.entry))
            for entry in types
            if entry.entry and not crossed(entry, mover.creature)
        ]
        return [("cell", 1), *surcharges]

    def _occupancy(
        self, terrain: Terrain, token: Token | None, tokens: Iterable[Token], relation: Relate
    ) -> Occupancy:
        return {}

    def footprint(self, creature: Creature, lattice: Lattice, facing: int = 0) -> tuple[Cell, ...]:
        """Return the one cell of every creature."""
        return ((0, 0),)

    def _group(self, types: Types | None, mover: Mover) -> str:
        """Return the group of a cell; of what the creature crosses, the plain one."""
        if not types or not self._open(types, mover):
            return ""
        return PLAIN if crossed(types[-1], mover.creature) else types[-1].group

    def _groups(self, site: Site, mover: Mover) -> list[npt.NDArray[np.bool_]]:
        groups = [self._group(types, mover) for types in site.kinds]
        return [
            spread(site.terrain, [other == group for other in groups], bool)
            for group in sorted(set(groups) - {""})
        ]

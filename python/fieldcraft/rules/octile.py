"""`octile`: the rules of the MovingAI benchmark, 1 a straight step and the root of 2 a diagonal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token
from fieldcraft.lattice import Cell
from fieldcraft.rules._grid import (
    Budget,
    Edges,
    GridRules,
    Movement,
    Occupant,
    Parts,
    Relate,
    Types,
    crossed,
    float_budget,
    mask,
    spread,
)
from fieldcraft.rules._table import COMMON_KEYS, Schema, TerrainTable, shipped_table
from fieldcraft.terrain import Terrain

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
        self, types: Types, creature: Creature, occupants: tuple[Occupant, ...], raised: bool
    ) -> Parts:
        surcharges = [
            (entry.name, int(entry.entry))
            for entry in types
            if entry.entry and not crossed(entry, creature)
        ]
        return [("cell", 1), *surcharges]

    def _occupants(
        self, terrain: Terrain, token: Token | None, tokens: Iterable[Token], relation: Relate
    ) -> dict[Cell, tuple[Occupant, ...]]:
        return {}

    def _group(self, types: Types | None, creature: Creature) -> str:
        """Return the group of a cell; of what the creature crosses, the plain one."""
        if not types or not self._open(types, creature):
            return ""
        groups = [PLAIN if crossed(entry, creature) else entry.group for entry in types]
        return groups[-1]

    def _steps(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        creature: Creature,
        open_: npt.NDArray[np.bool_],
        edges: Edges,
    ) -> npt.NDArray[np.uint8]:
        from fieldcraft.fields import legal_steps

        groups = [self._group(types, creature) for types in kinds]
        barred = mask(terrain.shape, edges.barred)
        steps = np.zeros(terrain.shape, np.uint8)
        for group in sorted(set(groups) - {""}):
            inside = spread(terrain, [other == group for other in groups], bool)
            legal = legal_steps(terrain.lattice, inside, solid=~inside, barred=barred)
            np.copyto(steps, legal, where=inside)
        return steps

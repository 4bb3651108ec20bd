"""`pathfinder`: squares with alternating diagonals (PF-01 to PF-06, PF-13)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import SIZES, Creature, Token
from fieldcraft.errors import RulesError
from fieldcraft.lattice import Cell
from fieldcraft.rules._grid import (
    Budget,
    Check,
    Edges,
    GridRules,
    Movement,
    Occupant,
    Parts,
    Types,
    crossed,
    float_budget,
    one_of,
    switch,
)
from fieldcraft.rules._table import COMMON_KEYS, Schema, TerrainTable, shipped_table
from fieldcraft.terrain import Terrain

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
MEDIUM = SIZES.index("medium")
TUMBLED = "enemy in the square (Acrobatics)"

_SCHEMA = Schema(
    ticks=1, keys=COMMON_KEYS | {"corners"}, borders=("low_wall", "drop", "door", "ladder")
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

    Notes
    -----
    Creatures of size Large and up, water, low obstacles and narrow squares are refused for now.
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

    schema: ClassVar[Schema] = _SCHEMA
    lattices: ClassVar[tuple[str, ...]] = ("square", "square4")
    units: ClassVar[tuple[str, ...]] = ("sq",)
    checks: ClassVar[Mapping[str, Check]] = {
        "diagonals": one_of(*DIAGONALS),
        "parity": one_of("advances", "carry"),
        "corners": one_of("both", "either", "free"),
        "occupied": one_of("double", "normal"),
        "stack": one_of("multiply", "worst"),
        "tumble": switch,
        "sight_corners": one_of("closed", "open"),
    }
    later: ClassVar[Mapping[str, str]] = {
        "low_obstacle": "squares filled by a low obstacle (PF-08) are not covered yet",
        "narrow": "squeezing through narrow squares (PF-10) is not covered yet",
        "water": "swimming (PF-11) is not covered yet",
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
        )

    def _check_mover(self, creature: Creature) -> None:
        if creature.size_index > MEDIUM:
            raise RulesError(
                f"creature {creature.name!r} is {creature.size}: bodies larger than one square "
                f"(PF-09) are not covered by {self.name} yet"
            )

    def _occupied_cells(self, token: Token) -> list[Cell]:
        """Return the squares of a body: n x n from its top-left square."""
        n = max(1, token.creature.size_index - MEDIUM + 1)
        row, col = token.cell
        return [(row + i, col + j) for i in range(n) for j in range(n)]

    def _enter_parts(
        self, types: Types, creature: Creature, occupants: tuple[Occupant, ...], raised: bool
    ) -> Parts:
        """Return the square, and what each cause adds to its weight (PF-02, PF-05, PF-13)."""
        causes = [
            (entry.name, 1 + int(entry.entry)) for entry in types if not crossed(entry, creature)
        ]
        causes += [(_who(o), 2) for o in self._hampering(occupants)[:1]]
        parts: Parts = [("square", 1)]
        weight = 1
        for label, factor in causes:
            more = weight * factor if self.stack == "multiply" else max(weight, factor)
            # An enemy is named even where its square adds nothing: passing it takes a test.
            if more > weight or label == TUMBLED:
                parts.append((label, more - weight))
            weight = more
        return parts

    def _hampering(self, occupants: tuple[Occupant, ...]) -> list[Occupant]:
        """Return who makes a square count as 2 (PF-05): enemies first, once a square."""
        foes = [o for o in occupants if o.relation == "foe"]
        return foes or (list(occupants) if self.occupied == "double" else [])

    def _pass(self, occupant: Occupant) -> bool:
        return occupant.relation != "foe" or occupant.token.helpless or self.tumble

    def _stop_on(self, occupant: Occupant) -> bool:
        return occupant.token.helpless

    def _steps(
        self,
        terrain: Terrain,
        kinds: Sequence[Types | None],
        creature: Creature,
        open_: npt.NDArray[np.bool_],
        edges: Edges,
    ) -> npt.NDArray[np.uint8]:
        steps = super()._steps(terrain, kinds, creature, open_, edges)
        return steps & np.uint8(0x0F) if self.diagonals == "illegal" else steps

    def _sight_corners(self) -> Literal["closed", "open"]:
        return self.sight_corners


def _who(occupant: Occupant) -> str:
    """Return how a creature in the square is named in a reason."""
    if occupant.token.helpless:
        return "helpless creature in the square"
    if occupant.relation == "foe":
        return TUMBLED
    return "creature in the square"

"""Who moves and how: gaits, movers, occupants, speeds. Data for the rules and for compiling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token
from fieldcraft.lattice import Cell
from fieldcraft.rules._table import TerrainType
from fieldcraft.terrain import Terrain

__all__ = [
    "GROUND",
    "MAX_TICKS",
    "Gait",
    "Movement",
    "Mover",
    "Occupancy",
    "Occupant",
    "Occupants",
    "Pace",
    "Relate",
    "Relation",
    "Switch",
    "Types",
    "spread",
]

Relation = Literal["friend", "foe", "neutral"]
Relate = Callable[[str, str], Relation]
Types = tuple[TerrainType, ...]
Bools = npt.NDArray[np.bool_]

MAX_TICKS = 65_535
"""The most ticks a step may pay for one cell or border: what the fields carry."""
BLOCK = 1 << 16
"""Cells that are spread at a time."""
GROUND = "ground"
"""The plane of whoever is neither in the air nor in a tree nor under the ground."""


@dataclass(frozen=True, slots=True)
class Gait:
    """A way of moving.

    Parameters
    ----------
    name : str
        As paths show it.
    mode : str
        Whose speed it spends: ``walk``, ``swim``, ``climb``, ``burrow`` or ``fly``.
    plane : str
        Others matter only on the same plane.
    prone : bool
    level : int
        Level in a tree, or altitude.
    still : bool
        Whether it makes no steps at all.
    """

    name: str
    mode: str
    plane: str = GROUND
    prone: bool = False
    level: int = 0
    still: bool = False


@dataclass(frozen=True, slots=True)
class Mover:
    """Who moves, by which gait, on what kind of map; `raised`: the map has an elevation."""

    creature: Creature
    token: Token | None
    gait: Gait
    raised: bool

    @property
    def aloft(self) -> int:
        """1 off the ground (above it or below), else 0: which borders it meets."""
        return int(self.gait.mode in ("fly", "burrow"))


class Occupant(NamedTuple):
    """A token on a cell, what it is to the creature that moves, and whether it is in combat."""

    token: Token
    relation: Relation
    engaged: bool = False


Occupants = tuple[Occupant, ...]
Occupancy = Mapping[str, Mapping[Cell, Occupants]]
"""Who is where, by plane and cell."""


class Switch(NamedTuple):
    """A change of gait standing still: from one to another at so many ticks, and where.

    `fitting`: only where the new gait may be; `slant`: made with a step in any direction instead;
    `rest`: what must be left of the new speed.
    """

    source: int
    target: int
    ticks: int = 0
    cells: Bools | None = None
    slant: bool = False
    fitting: bool = True
    rest: int = 0


@dataclass(frozen=True)
class Pace:
    """What a creature may spend: ticks by mode (None: no limit), and what is left over.

    Parameters
    ----------
    modes : tuple of (str, int or float or None)
    walking : int or None
        Ticks of its speed on foot, half of which it takes to stand up.
    rest : str
    """

    modes: tuple[tuple[str, float | None], ...]
    walking: float | None = None
    rest: str = ""

    @property
    def limit(self) -> float | None:
        """The most that may be spent in all."""
        caps = [cap for _, cap in self.modes]
        return None if None in caps else max(cap for cap in caps if cap is not None)

    @property
    def caps(self) -> Mapping[str, float | None]:
        """What each mode is capped at, where they differ; else nothing."""
        if len({cap for _, cap in self.modes}) == 1:
            return dict.fromkeys((mode for mode, _ in self.modes), None)
        return dict(self.modes)


class Movement(NamedTuple):
    """How a field counts: the numbers of its arrays, diagonals, parity and corners.

    `flat`: surcharges are not multiplied on diagonals, and a plain cell is `plain` ticks;
    `footprint`: which of the cells of a body decides.
    """

    dtype: type[np.generic] = np.uint16
    diagonal: tuple[int, int] | tuple[float, float] | str = (1, 1)
    parity: str = "advances"
    corners: str = "both"
    straight_only: bool = False
    flat: bool = False
    plain: int = 1
    footprint: str = "worst"


def spread(terrain: Terrain, values: Sequence[Any], dtype: Any) -> npt.NDArray[Any]:
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

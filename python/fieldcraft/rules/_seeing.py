"""What the systems share about seeing: from a map and two creatures to a sight field.

A system says what its cells take off a line (`_obstruction`), up to which height they end it
(`_tops`) and how high a creature's eyes are (`_eyes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import SIZES, Creature
from fieldcraft.errors import MapError, RulesError
from fieldcraft.rules._borders import mask
from fieldcraft.rules._gaits import Types, spread
from fieldcraft.terrain import HIGHEST, Terrain

if TYPE_CHECKING:
    from fieldcraft.fields import SightField
    from fieldcraft.rules._borders import Edges

__all__ = ["Seeing"]

Kinds = Sequence[Types]
Floats = npt.NDArray[np.float64]


class Seeing:
    """The half of a rule system that compiles maps for those who look."""

    heights: ClassVar[Mapping[str, float]] = dict.fromkeys(SIZES, 2.0)
    """How tall a creature of each size is that names no height, in the system's unit of height."""

    if TYPE_CHECKING:
        name: str

        def _all_types(self, terrain: Terrain) -> list[Types | None]: ...
        def _edges(self, terrain: Terrain, creature: Creature) -> Edges: ...

    def sight_field(
        self,
        terrain: Terrain,
        viewer: Creature,
        target: Creature,
        *,
        viewer_level: int = 0,
        target_level: int = 0,
    ) -> SightField:
        """Compile the map for a creature that looks at another.

        Parameters
        ----------
        terrain : Terrain
        viewer, target : Creature
        viewer_level, target_level : int, keyword-only
            Levels above the ground on which they are (HW-25).

        Returns
        -------
        SightField

        Raises
        ------
        RulesError
            If a level or a creature's height makes no sense, or the parameters do not fit the map.
        """
        from fieldcraft.fields import SightField

        for level in (viewer_level, target_level):
            if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                raise RulesError(f"a level must be a whole number, 0 or more, not {level!r}")
        kinds = [types or () for types in self._all_types(terrain)]
        tops = self._tops(terrain, kinds)
        high: dict[str, Any] = {}
        if tops is not None:
            high = {
                "top": tops,
                "viewer_eyes": self._eyes(terrain, viewer, viewer_level),
                "target_eyes": self._eyes(terrain, target, target_level),
            }
        return SightField(
            terrain.lattice,
            terrain.shape,
            opaque=self._opaque(terrain, kinds),
            light=terrain.light,
            walls=self._walls(terrain),
            corners=self._sight_corners(),
            levels_apart=abs(viewer_level - target_level),
            **self._obstruction(terrain, kinds, target, raised=viewer_level > 0),
            **high,
        )

    # -- the hooks of a system ------------------------------------------------------------------

    def _obstruction(
        self, terrain: Terrain, kinds: Kinds, target: Creature, *, raised: bool
    ) -> dict[str, Any]:
        """Return what cells take off a line, and how that counts: arguments of a SightField.

        `raised`: the viewer is above the ground of its cell.
        """
        return {"between": np.zeros(terrain.shape, np.uint8), "threshold": None}

    def _opaque(self, terrain: Terrain, kinds: Kinds) -> npt.NDArray[np.bool_] | None:
        """Return which cells end a line whatever its height."""
        opaque = [any(entry.opaque for entry in types) for types in kinds]
        return spread(terrain, opaque, bool) if any(opaque) else None

    def _tops(self, terrain: Terrain, kinds: Kinds) -> Floats | None:
        """Return up to which height cells end a line; None where heights do not matter."""
        return None

    def _eyes(self, terrain: Terrain, creature: Creature, level: int) -> Floats:
        """Return how high a creature's eyes are in each cell: what it stands on and its height."""
        return self._ground(terrain) + self.height_of(creature)

    def _sight_corners(self) -> Literal["closed", "open"]:
        """Return whether a line ends between two opaque squares that touch at a corner."""
        return "closed"

    def _walls(self, terrain: Terrain) -> npt.NDArray[np.uint8] | None:
        """Return where borders end a line."""
        return mask(terrain.shape, self._edges(terrain, Creature()).opaque)

    # -- heights --------------------------------------------------------------------------------

    def height_of(self, creature: Creature) -> float:
        """Return how tall a creature is: its own height, or that of its size.

        Raises
        ------
        RulesError
            If its height is no number above 0.
        """
        height = creature.height
        if height is None:
            return self.heights[creature.size]
        number = isinstance(height, int | float | np.number) and not isinstance(height, bool)
        if not number or not 0 < height <= HIGHEST:
            raise RulesError(
                f"height of creature {creature.name!r} must be a number above 0, at most "
                f"{HIGHEST:,}, not {height!r}"
            )
        return float(height)

    def _ground(self, terrain: Terrain) -> Floats:
        """Return what one stands on in each cell: the elevation, else 0 everywhere."""
        if not terrain.has_elevation:
            return np.zeros((1, 1))
        bad = ~np.isfinite(terrain.elevation)
        if bad.any():
            row, col = np.argwhere(bad)[0]
            raise MapError(f"the elevation at cell ({row}, {col}) is no number")
        return terrain.elevation

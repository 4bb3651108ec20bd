"""Charges (PF-07): straight lanes to where a target can be attacked, and what bars them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fieldcraft.lattice import Cell
from fieldcraft.rules._gaits import Occupancy
from fieldcraft.rules._places import survey

if TYPE_CHECKING:
    from fieldcraft.fields import SightField
    from fieldcraft.rules._moving import Setting, Site

__all__ = ["Lane", "Mark", "crossed_cells", "find_lanes"]

LEAST = 2
"""Squares that a charge covers at least."""
TIMES_SPEED = 2
"""How often the speed a charge covers at most."""
ROUNDING = 1e-9


class Mark(NamedTuple):
    """Somebody to be charged: the cells covered, the level, and what the charger sees of it."""

    cells: Sequence[Cell]
    level: int
    sight: SightField


@dataclass(frozen=True, slots=True)
class Lane:
    """A way of charging: its places from first to last, and its length; or why there is none."""

    cells: tuple[Cell, ...] = ()
    length: float = float("inf")
    reason: str = ""


def crossed_cells(start: Cell, end: Cell) -> list[Cell]:
    """Return the squares whose inside the line between two centres meets, in order.

    Where it runs through a corner point, the next square is the one across that corner.

    Examples
    --------
    >>> from fieldcraft.rules._charging import crossed_cells
    >>> crossed_cells((0, 0), (1, 2))
    [(0, 0), (0, 1), (1, 1), (1, 2)]
    """
    rows, cols = end[0] - start[0], end[1] - start[1]
    down, right = (1 if rows > 0 else -1), (1 if cols > 0 else -1)
    rows, cols = abs(rows), abs(cols)
    row = col = 0
    found = [start]
    while (row, col) != (rows, cols):
        # The line leaves a square over the side that it meets first; sides lie at odd halves.
        by_row, by_col = (2 * row + 1) * cols, (2 * col + 1) * rows
        row += by_row <= by_col
        col += by_col <= by_row
        found.append((start[0] + down * row, start[1] + right * col))
    return found


def find_lanes(
    site: Site, setting: Setting, occupancy: Occupancy, cell: Cell, marks: Sequence[Mark]
) -> list[Lane]:
    """Return the lane to each target, from a place of the creature's body."""
    charger = _Charger(site, setting, occupancy, cell)
    return [charger.lane(mark) for mark in marks]


class _Charger:
    """A creature about to charge."""

    def __init__(self, site: Site, setting: Setting, occupancy: Occupancy, cell: Cell) -> None:
        self.site, self.cell = site, cell
        self.rules, self.lattice = site.rules, site.terrain.lattice
        self.survey = survey(site, setting, occupancy, setting.start)
        self.mover, self.body = self.survey.mover, self.survey.body
        self.occupants = occupancy.get(self.mover.gait.plane, {})
        self.reach = setting.creature.reach
        cap = dict(setting.pace.modes).get(self.mover.gait.mode)
        self.speed = None if cap is None else float(cap / self.rules.ticks)
        self.level = 0 if setting.token is None else self.rules.level_of(setting.token)

    def lane(self, mark: Mark) -> Lane:
        """Return the first open lane to a closest place from which the target can be attacked."""
        levels = abs(self.level - mark.level)
        ends = self._ends(mark, levels)
        if not ends:
            return Lane(reason="there is no place on the map from which it can be attacked")
        length = ends[0][0]
        if length < LEAST:
            return Lane(reason=f"only {length:g} to go, and a charge needs {LEAST} squares")
        if self.speed is not None and length > TIMES_SPEED * self.speed + ROUNDING:
            return Lane(
                reason=f"{length:g} squares to go, more than twice the speed of {self.speed:g}"
            )
        lanes = [self._try(end, length) for _, end in ends]
        return next((lane for lane in lanes if not lane.reason), lanes[0])

    def _ends(self, mark: Mark, levels: int) -> list[tuple[float, Cell]]:
        """Return the closest places from which a target can be attacked, the straightest first."""
        away = self.reach + self.body.side
        target = np.array(mark.cells)
        low = np.maximum(target.min(axis=0) - away, 0)
        high = np.minimum(target.max(axis=0) + away + 1, self.site.terrain.shape)
        within: list[tuple[float, int, Cell]] = []
        for row, col in itertools.product(range(low[0], high[0]), range(low[1], high[1])):
            place = row, col
            if not self.survey.places.on_map[place]:
                continue
            cells = self.body.at(place)
            apart = self.rules.steps_apart(cells, mark.cells, self.lattice, levels=levels)
            if 1 <= apart <= self.reach:
                length = self.rules.distance([self.cell], [place], self.lattice)
                bend = sum((a - b) ** 2 for a, b in zip(place, self.cell, strict=True))
                within.append((length, bend, place))
        within.sort()
        for length, group in itertools.groupby(within, key=lambda one: one[0]):
            seen = [(length, place) for *_, place in group if self._attacks(place, mark, levels)]
            if seen:
                return seen
        return []

    def _attacks(self, place: Cell, mark: Mark, levels: int) -> bool:
        """Return whether some cell of the body has a target's cell within reach and in sight."""
        pairs = [
            (a, b)
            for a in self.body.at(place)
            for b in mark.cells
            if self.rules.steps_apart([a], [b], self.lattice, levels=levels) <= self.reach
        ]
        return any(mark.sight.sights(pairs))

    def _try(self, end: Cell, length: float) -> Lane:
        """Return the lane to a place, or what is in its way."""
        cells = crossed_cells(self.cell, end)
        left = set(self.body.at(self.cell))
        for a, b in itertools.pairwise(cells):
            entered = [cell for cell in self.body.at(b) if cell not in left]
            for reason in self._hindrances(a, b, entered):
                return Lane(reason=reason)
        if not self.survey.rests[end]:
            return Lane(reason=f"no movement may end at {end}")
        return Lane(tuple(cells), length)

    def _hindrances(self, a: Cell, b: Cell, entered: Sequence[Cell]) -> Iterator[str]:
        """Yield what hinders a step of a charge: creatures, obstacles, what slows it."""
        for cell in entered:
            for occupant in self.occupants.get(cell, ()):
                yield f"{occupant.token.label} is in the way at {cell}"
        around = self.lattice.neighbors(a)
        if b not in around or not self.survey.places.steps[a] >> around.index(b) & 1:
            yield f"an obstacle is in the way from {a} to {b}"
            return
        crossings = self.site.crossings[self.mover.aloft][self.survey.number]
        for label, _ in crossings.get((a, around.index(b)), ()):
            yield f"{label} is in the way from {a} to {b}"
        for cell in entered:
            types = self.rules.types(self.site.terrain.kind(cell))
            parts = self.rules._enter_parts(types, (), self.mover, squeezed=False)
            if len(parts) > 1:
                yield f"{parts[-1][0]} is in the way at {cell}"

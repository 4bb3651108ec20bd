"""Where a creature may stand, and its single steps: for questions about places, not ways."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.body import Body, Places
from fieldcraft.rules._gaits import GROUND, Mover, Occupancy
from fieldcraft.rules._moving import Cells, Setting, Site, find_places, read_cells

__all__ = ["Standing", "Survey", "standing", "survey"]

Bools = npt.NDArray[np.bool_]


class Standing(NamedTuple):
    """Maps of shape (height, width), by the anchor of the body.

    `where`: it may end a movement there, and nobody is there; `steps` uint8, bit k: it may step
    from there in direction k.
    """

    where: Bools
    steps: npt.NDArray[np.uint8]


class Survey(NamedTuple):
    """What a map is to one gait of a creature with its whole body; `rests`: it may stop there."""

    mover: Mover
    number: int
    body: Body
    cells: Cells
    places: Places
    rests: Bools


def survey(site: Site, setting: Setting, occupancy: Occupancy, gait: int) -> Survey:
    """Return what a map is to one of the gaits."""
    mover = Mover(setting.creature, setting.token, setting.gaits[gait], site.terrain.has_elevation)
    number = setting.facing if len(site.bodies) > 1 else 0
    body = site.bodies[number]
    cells = read_cells(site, mover, occupancy.get(mover.gait.plane, {}))
    places = find_places(site, mover, body, cells)
    if site.rules._movement().straight_only:
        straight = np.uint8((1 << site.terrain.lattice.n_straight) - 1)
        places = places._replace(steps=places.steps & straight)
    rests = places.fits & body.every(cells.stop, places.on_map)
    if cells.named is not None:
        rests &= ~body.every(~cells.named, places.on_map)
    return Survey(mover, number, body, cells, places, rests)


def standing(site: Site, setting: Setting, occupancy: Occupancy) -> Standing:
    """Return where a creature may stand on the plane it is on, by any of its ways of moving.

    Of one in a tree that is the ground.
    """
    start = setting.gaits[setting.start]
    plane = GROUND if start.still else start.plane
    where = np.zeros(site.terrain.shape, bool)
    steps = np.zeros(site.terrain.shape, np.uint8)
    empty = np.ones(site.terrain.shape, bool)
    for cell in occupancy.get(plane, {}):
        empty[cell] = False
    for number, gait in enumerate(setting.gaits):
        if gait.plane == plane and not gait.still:
            found = survey(site, setting, occupancy, number)
            where |= found.rests & found.body.every(empty, found.places.on_map)
            steps |= found.places.steps
    return Standing(where, steps)

"""A board and its profiles, compiled once for all encounters on it."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fieldcraft.creature import Creature
from fieldcraft.encounters.model import GROUNDS, Profile
from fieldcraft.tactics.valuation import StepKinds
from fieldcraft.tactics.weapons import Weapon, range_in

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.turns import TurnMap, TurnMover

__all__ = ["Scene", "Scenes"]

SCENE_BYTES = 320 << 20
"""How much the tables of the scenes in memory may take."""
A_CELL = 64
"""About so many bytes a cell of the map takes for each profile, and once more for all."""


class Scene:
    """A board on which encounters between some profiles are scored.

    Attributes
    ----------
    board : Board
    profiles : tuple of Profile
    eyes : tuple of Creature
        What of the profiles matters to sight, each once.
    eye_of : ndarray of int64, shape (profiles,)
        The eye of each profile.
    cell : float
        What a step counts as a distance, in the unit of movement.
    map : TurnMap or None
        None where tokens do more to each other than close cells, or sight is not the same for all:
        encounters are then scored one by one.
    """

    def __init__(self, board: Board, profiles: Sequence[Profile]) -> None:
        self.board, self.profiles = board, tuple(profiles)
        looks = [Creature(size=p.creature.size, height=p.creature.height) for p in self.profiles]
        self.eyes = tuple(dict.fromkeys(looks))
        self.eye_of = np.array([self.eyes.index(eye) for eye in looks], np.int64)
        rules, lattice = board.rules, board.lattice
        self.cell = float(rules.distance([(0, 0)], [lattice.neighbors((0, 0))[0]], lattice))
        self._movers: dict[int, TurnMover | None] = {}
        self.map = self._compiled()

    def _compiled(self) -> TurnMap | None:
        from fieldcraft.turns import TurnMap

        if not getattr(self.board.rules, "tokens_only_bar", False):
            return None
        if any(profile.creature.body not in (None, 1) for profile in self.profiles):
            return None
        fields = {
            (i, j): self.board.sight_field(viewer, target)
            for i, viewer in enumerate(self.eyes)
            for j, target in enumerate(self.eyes)
        }
        return TurnMap(fields) if TurnMap.serves(fields) else None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        height, width = self.board.shape
        fields = A_CELL * height * width * (len(self.profiles) + 1)
        return fields + (0 if self.map is None else self.map.nbytes)

    def mover(self, profile: int) -> TurnMover | None:
        """Return a profile as a mover; None where it must be scored by itself."""
        if profile not in self._movers:
            self._movers[profile] = self._mover(self.profiles[profile], int(self.eye_of[profile]))
        return self._movers[profile]

    def _mover(self, given: Profile, eye: int) -> TurnMover | None:
        from fieldcraft.turns import TurnMover

        pace = self.board.rules.pace(given.creature)
        field = self.board.step_field((0, 0), tokens=(), creature=given.creature)
        kinds = StepKinds.of(field, given.creature)
        if kinds is None or pace.limit is None:
            return None
        mover = TurnMover(
            field,
            int(pace.limit),
            [self._carries(weapon, given.creature) for weapon in given.weapons],
            [weapon.limit for weapon in given.weapons],
            eye,
            kinds.kind,
            np.array([kinds.worth(ground) for ground in GROUNDS]),
        )
        return mover if mover.serves() else None

    def _carries(self, weapon: Weapon, creature: Creature) -> int:
        """Return how many steps a weapon carries."""
        limit = range_in(self.board.rules, weapon)
        if limit is None:
            return creature.reach
        # No two cells of a map are further apart than its rows and columns together.
        steps = int(min(limit / self.cell, sum(self.board.shape)))
        # A float's division may land beside the whole number that its multiplication gives.
        near = range(max(steps - 1, 0), steps + 2)
        return max((k for k in near if k * self.cell <= limit), default=0)


class Scenes:
    """The scenes in memory; where they take too many bytes, some other goes at random.

    Encounters come in parts that go through all boards in turn: the scene not used for longest is
    then the one that is wanted next. May be asked by any number of threads; a scene is made once.
    """

    def __init__(self, limit: int = SCENE_BYTES) -> None:
        self._limit = limit
        self._kept: dict[Any, Scene] = {}
        self._chance = random.Random(0)  # only of what is made anew
        self._lock = threading.Lock()
        self._making: dict[Any, threading.Lock] = {}

    def get(self, name: str, board: Board, profiles: Sequence[Profile]) -> Scene:
        """Return the scene of a board of some name with some profiles."""
        key = name, id(board), tuple(profiles)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                return found
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                found = self._kept.get(key)
            if found is None:
                found = Scene(board, profiles)
                self._keep(key, found)
        return found

    def _keep(self, key: Any, scene: Scene) -> None:
        with self._lock:
            self._making.pop(key, None)
            self._kept[key] = scene
            total = sum(kept.nbytes for kept in self._kept.values())
            others = [other for other in self._kept if other != key]
            self._chance.shuffle(others)
            while total > self._limit and others:
                total -= self._kept.pop(others.pop()).nbytes

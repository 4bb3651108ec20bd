"""Turns on a map among others, by the definition: every way, every line, every stop."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.graph import Cell, neighbour

HIDDEN = -32768


@dataclass(frozen=True)
class Someone:
    """A token: where, of which side and eye, whether it looks, and weapons (steps, limit)."""

    cell: Cell
    side: int
    eye: int
    looks: bool = True
    weapons: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Land:
    """A map: masks of legal steps, prices, where a movement may end, stakes of leaving."""

    lattice: str
    steps: Any
    enter: Any
    leave: Any
    border: Any
    stop: Any
    stake: Any

    def kinds(self) -> tuple[Any, Any]:
        """Return of each step what kind it is of, and the stake of each kind on the second ground.

        On the first ground everything is at stake.
        """
        worth, kind = np.unique(np.append(0, self.stake), return_inverse=True)
        return kind.reshape(-1)[1:].reshape(self.stake.shape).astype(np.uint16), np.stack(
            [worth + 9, worth]
        )

    def onward(self, cell: Cell, barred: set[Cell]) -> list[tuple[Cell, int, int]]:
        """Return where steps lead from a cell, with price and stake."""
        found = []
        for k in range(self.stake.shape[2]):
            if int(self.steps[cell]) >> k & 1:
                to = neighbour(self.lattice, cell, k)
                if to not in barred:
                    price = (
                        int(self.enter[to]) + int(self.leave[cell]) + int(self.border[(*cell, k)])
                    )
                    found.append((to, price, int(self.stake[(*cell, k)])))
        return found


def costs(land: Land, start: Cell, barred: set[Cell], budget: int) -> dict[Cell, int]:
    """Return the least price of each cell within a budget."""
    known: dict[Cell, int] = {}
    queue = [(0, start)]
    while queue:
        spent, cell = heapq.heappop(queue)
        if cell in known:
            continue
        known[cell] = spent
        for to, price, _ in land.onward(cell, barred):
            if spent + price <= budget:
                heapq.heappush(queue, (spent + price, to))
    return known


def least_stake(land: Land, start: Cell, goal: Cell, barred: set[Cell], budget: int) -> int:
    """Return the least stake of a way within a budget, over cells times what was spent."""
    seen = set()
    queue = [(0, 0, start)]
    while queue:
        stake, spent, cell = heapq.heappop(queue)
        if cell == goal:
            return stake
        if (spent, cell) in seen:
            continue
        seen.add((spent, cell))
        for to, price, more in land.onward(cell, barred):
            if spent + price <= budget:
                heapq.heappush(queue, (stake + more, spent + price, to))
    raise AssertionError("the goal is within the budget")


def turn(
    land: Land, malus: Any, apart: Any, foes: Any, crowd: list[Someone], number: int, budget: int
) -> dict[str, Any]:
    """Return the answers of one of a crowd.

    `malus(viewer eye, target eye, from, to)` is None where the target is hidden; `apart(a, b)` in
    steps; `foes[side][side]`.
    """
    me = crowd[number]
    against = [
        (i, other) for i, other in enumerate(crowd) if i != number and foes[me.side][other.side]
    ]
    barred = {other.cell for _, other in against}
    taken = {other.cell for i, other in enumerate(crowd) if i != number}
    known = costs(land, me.cell, barred, budget)
    stops = []
    attacked = set()
    for cell, price in known.items():
        if cell != me.cell and (cell in taken or not land.stop[cell]):
            continue
        seen = [malus(o.eye, me.eye, o.cell, cell) for _, o in against if o.looks]
        seen = [one for one in seen if one is not None]
        shots = []
        for i, other in against:
            shot, far = malus(me.eye, other.eye, cell, other.cell), apart(cell, other.cell)
            if shot is not None and any(far <= w and shot >= low for w, low in me.weapons):
                shots.append(shot)
                attacked.add(i)
        nearest = min((apart(cell, other.cell) for _, other in against), default=2**30)
        stops.append((cell, price, shots, seen, nearest))
    with_shots = [one for one in stops if one[2]]
    attack = min(
        with_shots,
        key=lambda one: (-max(one[2]), -len(one[2]), len(one[3]), one[1], one[0]),
        default=None,
    )
    safe = min(
        stops, key=lambda one: (len(one[3]), max(one[3], default=HIDDEN), -one[4], one[1], one[0])
    )
    here = next(one for one in stops if one[0] == me.cell)
    goal = (attack or safe)[0]
    return {
        "reached": len(known),
        "stops": len(stops),
        "targets_now": len(here[2]),
        "targets_after": len(attacked),
        "attack": (-1, -1) if attack is None else attack[0],
        "attack_malus": HIDDEN if attack is None else max(attack[2]),
        "attack_price": 0 if attack is None else attack[1],
        "safe": safe[0],
        "exposure_before": len(here[3]),
        "exposure_after": len(safe[3]),
        "malus_before": max(here[3], default=HIDDEN),
        "malus_after": max(safe[3], default=HIDDEN),
        "stake": least_stake(land, me.cell, goal, barred, budget),
    }

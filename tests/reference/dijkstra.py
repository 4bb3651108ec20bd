"""Least totals in plain Python: Dijkstra's search, and relaxation until nothing changes.

Both know caps: a total is only good where it fits the cap of the layer it arrives in. The lowest
total serves best whatever comes later, so one total a node is enough.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

from .graph import Mover, Node


def dijkstra(mover: Mover, starts: dict[Node, Any], budget: float = math.inf) -> dict[Node, Any]:
    """Return the least total of every node within the budget."""
    best = {node: total for node, total in starts.items() if total <= budget}
    queue = [(total, node) for node, total in best.items()]
    heapq.heapify(queue)
    done: set[Node] = set()
    while queue:
        total, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for after, price, _, _ in mover.moves(node):
            new = total + price
            if new <= mover.cap(after) and new <= budget and new < best.get(after, math.inf):
                best[after] = new
                heapq.heappush(queue, (new, after))
    return best


def relax(mover: Mover, starts: dict[Node, Any], budget: float = math.inf) -> dict[Node, Any]:
    """Return the same by trying every way on from every node until no total falls any more."""
    best = {node: total for node, total in starts.items() if total <= budget}
    ways = {node: list(mover.moves(node)) for node in mover.nodes()}
    changed = True
    while changed:
        changed = False
        for node, total in list(best.items()):
            for after, price, _, _ in ways[node]:
                new = total + price
                if new <= mover.cap(after) and new <= budget and new < best.get(after, math.inf):
                    best[after] = new
                    changed = True
    return best


def tied_path(mover: Mover, totals: dict[Node, Any], goal: Node, start: Node) -> list[Node]:
    """Return the path the tie rule fixes, for one layer and whole costs.

    Walking back from the goal: of the predecessors on a cheapest way, the one in the lowest
    direction number, seen from the cell back to its predecessor.
    """
    spec = mover.spec
    count = len(mover.directions)
    path = [goal]
    here = goal
    into: dict[Node, list[tuple[Node, int]]] = {}
    for node, total in totals.items():
        for after, price, direction, _ in mover.moves(node):
            if direction is not None and totals.get(after) == total + price:
                into.setdefault(after, []).append((node, direction))
    while here != start:
        back = [
            ((direction + 3) % 6 if count == 6 else _opposite(direction), node)
            for node, direction in into[here]
        ]
        assert len({way for way, _ in back}) == len(back), spec
        _, here = min(back)
        path.append(here)
    return path[::-1]


def _opposite(direction: int) -> int:
    return (direction + 2) % 4 if direction < 4 else 4 + (direction - 2) % 4

"""Steps to every cell where each costs the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import limits, peers
from benchmarks.harness import OURS, Answer, Question, Target
from benchmarks.scenes import DIAGONAL, RULES, STRAIGHT, Array, Noise, graph_of
from benchmarks.sizes import Sizes
from benchmarks.whole_map import dijkstra3d, ours, references, tcod


def frontiers(scene: Noise) -> Answer:
    """Return the breadth-first search that NumPy users write: a frontier at a time."""

    def query(ringed: Array) -> Array:
        width = scene.size + 2
        offsets = np.array([row * width + col for row, col in STRAIGHT + DIAGONAL])
        steps = np.where(ringed, -1, -2).reshape(-1)
        row, col = scene.middle
        front = np.array([(row + 1) * width + col + 1])
        steps[front] = 0
        n = 0
        while front.size:
            n += 1
            beside = (front[:, None] + offsets).reshape(-1)
            beside = beside[steps[beside] == -1]
            steps[beside] = n
            # Each once.
            front = np.unique(beside)
        return steps

    def plain(found: Array) -> Array:
        steps = found.reshape(scene.size + 2, -1)[1:-1, 1:-1].astype(np.float64)
        return np.where(steps < 0, np.inf, steps)

    return Answer(
        "NumPy frontiers",
        build=lambda: np.pad(~scene.closed, 1),
        query=query,
        plain=plain,
        rule="equidistant",
    )


def scipy(scene: Noise) -> Answer:
    return Answer(
        "scipy dijkstra(unweighted)",
        build=lambda: graph_of(scene.terrain, RULES["equidistant"]).sparse(),
        needs="scipy.sparse",
        query=lambda graph: peers.scipy_totals(graph, scene.number(scene.middle), unweighted=True),
        plain=lambda found: peers.map_of(scene, found),
        rule="equidistant",
        note="ratio without its build",
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    for key, size in (("bfs-large", sizes.large), ("bfs-medium", sizes.medium)):
        scene = Noise(size, top=1)
        row, col = scene.middle
        answers: list[Any] = [
            ours(scene, "equidistant"),
            limits.answer(
                lambda row=row, col=col: f"whole bfs {row} {col}",
                lambda scene=scene: scene.terrain,
                "equidistant",
            ),
            dijkstra3d(scene),
            scipy(scene),
            tcod(scene, "equidistant", 1, 1),
            frontiers(scene),
        ]
        yield Question(
            key,
            "bfs",
            f"breadth first on {size}², 8 neighbours, 20 % walls",
            answers,
            references(scene, "equidistant"),
            [Target("dijkstra3d distance_field", 4, ours=f"{OURS} distances")],
            rounds=7,
            seconds=4,
        )

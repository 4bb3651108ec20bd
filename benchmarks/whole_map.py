"""The least total from one cell to every other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks import limits, peers
from benchmarks.harness import OURS, Answer, Question, Target, module
from benchmarks.scenes import RULES, Array, Noise, graph_of
from benchmarks.sizes import Sizes
from benchmarks.textbook import FAR, prices, warmed

NO_LIMIT = FAR - 1


def field(scene: Noise, rule: str) -> fc.StepField:
    """Return our field of a map under a rule."""
    if rule == "hex":
        return fc.hexes.field(scene.cost, layout="odd-r", closed=scene.closed)
    diagonals = (70, 99) if rule.startswith("octile") else rule
    corners = "both" if rule.endswith("corners open") else "free"
    return fc.grid.field(scene.cost, closed=scene.closed, diagonals=diagonals, corners=corners)


def in_ticks(costs: Any, rule: str) -> Array:
    """Return our costs in the rule's whole numbers, exactly or not at all."""
    scale = 70 if rule.startswith("octile") else 1
    ticks = np.asarray(costs) * scale
    whole = np.rint(ticks)
    assert np.allclose(ticks, whole, rtol=0, atol=1e-6)
    return whole


def ours(scene: Noise, rule: str, **options: Any) -> Answer:
    return Answer(
        f"{OURS} distances" + (f", {rule}" if options.pop("named", False) else ""),
        build=lambda: field(scene, rule),
        query=lambda made: made.distances(scene.middle),
        plain=lambda found: in_ticks(found, rule),
        rule=rule,
        work=lambda found: {"cells": float(np.isfinite(found).sum())},
        **options,
    )


def scipy(scene: Noise, rule: str) -> Answer:
    return Answer(
        "scipy csgraph.dijkstra",
        build=lambda: graph_of(scene.terrain, RULES[rule]).sparse(),
        needs="scipy.sparse.csgraph",
        query=lambda graph: peers.scipy_totals(graph, scene.number(scene.middle)),
        plain=lambda found: peers.map_of(scene, found),
        rule=rule,
        note="ratio without its build",
    )


def tcod(scene: Noise, rule: str, straight: int, diagonal: int) -> Answer:
    return Answer(
        f"tcod dijkstra2d ({straight}, {diagonal})",
        query=lambda _: peers.tcod_totals(scene.terrain, scene.middle, straight, diagonal),
        plain=peers.unreached,
        rule=rule,
    )


def dijkstra3d(scene: Noise) -> Answer:
    return Answer(
        "dijkstra3d distance_field",
        build=lambda: peers.volume(scene.terrain),
        needs="dijkstra3d",
        query=lambda volume: module("dijkstra3d").distance_field(
            volume, source=scene.middle, connectivity=8
        ),
        rule="equidistant",
        note="diagonals cost as straight steps",
    )


def textbook(scene: Noise, rule: str) -> Answer:
    return Answer(
        "Numba heapq",
        build=lambda: warmed(rule, scene.terrain),
        query=lambda search: search(scene.terrain, *scene.middle, NO_LIMIT, *prices(rule)),
        plain=peers.textbook_totals,
        rule=rule,
    )


def networkx(scene: Noise, rule: str) -> Answer:
    return Answer(
        "networkx single_source_dijkstra",
        build=lambda: graph_of(scene.terrain, RULES[rule]).networkx(),
        needs="networkx",
        query=lambda graph: module("networkx").single_source_dijkstra_path_length(
            graph, scene.number(scene.middle)
        ),
        plain=lambda found: peers.map_of(scene, peers.listed(found, scene.graph(rule).n_nodes)),
        rule=rule,
        note="for scale",
    )


def rustworkx(scene: Noise, rule: str) -> Answer:
    def plain(found: Any) -> Array:
        totals = peers.listed(found, scene.graph(rule).n_nodes)
        totals[scene.number(scene.middle)] = 0
        return peers.map_of(scene, totals)

    return Answer(
        "rustworkx dijkstra",
        build=lambda: peers.rustworkx_graph(scene.graph(rule)),
        query=lambda graph: module("rustworkx").dijkstra_shortest_path_lengths(
            graph, scene.number(scene.middle), float
        ),
        plain=plain,
        rule=rule,
    )


def networkit(scene: Noise, rule: str) -> Answer:
    return Answer(
        "networkit Dijkstra",
        build=lambda: peers.networkit_graph(scene.graph(rule)),
        query=lambda graph: np.array(
            module("networkit")
            .distance.Dijkstra(graph, scene.number(scene.middle), False)
            .run()
            .getDistances()
        ),
        plain=lambda found: peers.map_of(scene, peers.unreached(found, 1e300)),
        rule=rule,
    )


def limit(scene: Noise, rule: str) -> Answer:
    row, col = scene.middle
    return limits.answer(lambda: f"whole {rule} {row} {col}", lambda: scene.terrain, rule)


def references(scene: Noise, *rules: str) -> dict[str, Any]:
    return {rule: lambda rule=rule: scene.distances(rule, scene.middle) for rule in rules}


def tcod_hexes(scene: Noise) -> Answer:
    size = scene.size
    edges = np.zeros((3, 3), int)
    for d_row, d_col in peers.axial_steps():
        edges[d_row + 1, d_col + 1] = 1
    row, col = scene.middle
    start = row, peers.shear(row, col, size)

    def query(terrain: Array) -> Array:
        path = module("tcod.path")
        totals = path.maxarray(terrain.shape, dtype=np.int32)
        totals[start] = 0
        return path.dijkstra2d(totals, terrain, edge_map=edges, out=totals)

    def plain(found: Array) -> Array:
        rows = [found[r, (left := peers.shear(r, 0, size)) : left + size] for r in range(size)]
        return peers.unreached(np.stack(rows))

    return Answer(
        "tcod dijkstra2d (edge_map)",
        build=lambda: peers.sheared(scene.terrain),
        needs="tcod.path",
        query=query,
        plain=plain,
        rule="hex",
        note="the map is sheared: half as many cells again",
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    scene = Noise(sizes.large)
    yield Question(
        "whole-octile",
        "whole map",
        f"whole map {scene.size}², octile, terrain 1 to 4, 20 % walls",
        [
            ours(scene, "octile", named=True),
            ours(scene, "equidistant", named=True),
            limit(scene, "octile"),
            scipy(scene, "octile"),
            tcod(scene, "octile", 70, 99),
            textbook(scene, "octile"),
            dijkstra3d(scene),
        ],
        references(scene, "octile", "equidistant"),
        [
            Target("scipy csgraph.dijkstra", 4, ours=f"{OURS} distances, octile"),
            Target("tcod dijkstra2d (70, 99)", 6, ours=f"{OURS} distances, octile"),
            Target("dijkstra3d distance_field", 2, ours=f"{OURS} distances, equidistant"),
            Target(limits.NAME, 1.4, ours=f"{OURS} distances, octile", most=True),
        ],
        rounds=5,
        seconds=12,
    )
    scene = Noise(sizes.medium)
    yield Question(
        "whole-hex",
        "whole map",
        f"whole map {scene.size}², hexes (odd-r)",
        [
            ours(scene, "hex"),
            limit(scene, "hex"),
            scipy(scene, "hex"),
            tcod_hexes(scene),
            textbook(scene, "hex"),
            networkit(scene, "hex"),
            rustworkx(scene, "hex"),
            networkx(scene, "hex"),
        ],
        references(scene, "hex"),
        [
            Target("scipy csgraph.dijkstra", 4, ours=f"{OURS} distances"),
            Target(limits.NAME, 1.4, ours=f"{OURS} distances", most=True),
        ],
        seconds=4,
    )
    scene = Noise(sizes.small)
    yield Question(
        "whole-alternating",
        "whole map",
        f"whole map {scene.size}², alternating diagonals, both parities",
        [
            ours(scene, "alternating"),
            limit(scene, "alternating"),
            scipy(scene, "alternating"),
            textbook(scene, "alternating"),
            networkit(scene, "alternating"),
            rustworkx(scene, "alternating"),
            networkx(scene, "alternating"),
        ],
        references(scene, "alternating"),
        [Target("scipy csgraph.dijkstra", 3, ours=f"{OURS} distances")],
        rounds=9,
        seconds=4,
        note="peers search a graph with two nodes a cell",
    )

"""How the peers are called where several groups ask them the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import module
from benchmarks.scenes import HEX_EVEN, Array, Cell, Graph, Noise
from benchmarks.textbook import FAR

INT_FAR = int(np.iinfo(np.int32).max)


def unreached(found: Array, far: float = INT_FAR) -> Array:
    """Return totals with infinity for what a peer marks as far."""
    totals = np.asarray(found, np.float64)
    return np.where(totals >= far, np.inf, totals)


def textbook_totals(found: Array) -> Array:
    """Return the textbook search's totals, the least of both parities."""
    return unreached(found.min(axis=0) if found.ndim == 3 else found, FAR)


def tcod_totals(terrain: Array, start: Cell, straight: int, diagonal: int) -> Array:
    """Return tcod's totals from one cell to the whole array."""
    path = module("tcod.path")
    totals = path.maxarray(terrain.shape, dtype=np.int32)
    totals[start] = 0
    return path.dijkstra2d(totals, terrain, straight, diagonal, out=totals)


def volume(terrain: Array) -> Array:
    """Return a map as dijkstra3d wants it."""
    return np.asfortranarray(np.where(terrain == 0, np.inf, terrain).astype(np.float32))


def sheared(terrain: Array) -> Array:
    """Return an odd-r map in axial columns, half as wide again, for a peer that knows no hexes."""
    height, width = terrain.shape
    out = np.zeros((height, width + (height - 1) // 2), terrain.dtype)
    for row in range(height):
        left = shear(row, 0, height)
        out[row, left : left + width] = terrain[row]
    return out


def shear(row: int, col: int, height: int) -> int:
    """Return the column of a cell in a sheared map."""
    return col - row // 2 + (height - 1) // 2


def axial_steps() -> list[Cell]:
    """Return the steps in a sheared map: those of an even row, the next row half a hex on."""
    return [(d_row, d_col - d_row // 2) for d_row, d_col in HEX_EVEN]


def w9_grid(terrain: Array, diagonal: float, corners: str) -> Any:
    """Return a map as w9-pathfinding wants it."""
    envs = module("w9_pathfinding.envs")
    rows = np.where(terrain == 0, -1.0, terrain).tolist()
    kind = envs.DiagonalMovement["always" if corners == "free" else "only_when_no_obstacle"]
    return envs.Grid(rows, diagonal_movement=kind, diagonal_movement_cost_multiplier=diagonal)


def w9_hexes(terrain: Array) -> Any:
    envs = module("w9_pathfinding.envs")
    rows = np.where(terrain == 0, -1.0, terrain).tolist()
    return envs.HexGrid(rows, layout=envs.HexLayout.odd_r)


def scipy_totals(graph: Any, start: int, **options: Any) -> Array:
    return module("scipy.sparse.csgraph").dijkstra(graph, indices=start, **options)


def rustworkx_graph(graph: Graph) -> Any:
    rx = module("rustworkx")
    made = rx.PyDiGraph(multigraph=False)
    made.add_nodes_from(range(graph.n_nodes))
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    made.extend_from_weighted_edge_list(
        list(zip(tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True))
    )
    return made


def networkit_graph(graph: Graph) -> Any:
    nk = module("networkit")
    nk.setNumberOfThreads(1)
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr)).astype(np.uint64)
    triples = graph.weights, (tails, graph.heads.astype(np.uint64))
    return nk.GraphFromCoo(triples, n=graph.n_nodes, weighted=True, directed=True)


def listed(found: Any, size: int) -> Array:
    """Return a mapping from node to total as an array."""
    totals = np.full(size, np.inf)
    totals[list(found.keys())] = list(found.values())
    return totals


def map_of(scene: Noise, totals: Array) -> Array:
    """Return totals by node as a map, the least of a cell's nodes."""
    return np.asarray(totals).reshape(-1, scene.size, scene.size).min(axis=0)

"""Maps that the questions are asked of, and their explicit graphs, which answer first.

A map is white noise: terrain of 1 to 4, a fifth of the cells closed (0 in `terrain`). Graphs list
every step with its price; they are built here, step by step, and share nothing with the library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

SEED = 20261130
Array = npt.NDArray[Any]
Cell = tuple[int, int]
Price = Callable[[Array], Array]

STRAIGHT = ((-1, 0), (0, 1), (1, 0), (0, -1))
DIAGONAL = ((-1, 1), (1, 1), (1, -1), (-1, -1))
# Six neighbours of a hex in an even and in an odd row of the layout odd-r.
HEX_EVEN = ((0, 1), (0, -1), (-1, -1), (-1, 0), (1, -1), (1, 0))
HEX_ODD = ((0, 1), (0, -1), (-1, 0), (-1, 1), (1, 0), (1, 1))


class Rule(NamedTuple):
    """What a step costs: the cost w of the cell entered, times a factor by direction.

    Alternating diagonals cost (3 w) / 2, rounded down and up in turn: 1-2-1-2 on plain ground.
    """

    straight: int
    diagonal: int
    is_hex: bool = False
    is_alternating: bool = False
    corners: str = "free"


RULES = {
    "octile": Rule(70, 99),
    "octile, corners open": Rule(70, 99, corners="both"),
    "equidistant": Rule(1, 1),
    "alternating": Rule(1, 1, is_alternating=True),
    "hex": Rule(1, 1, is_hex=True),
}


class Graph(NamedTuple):
    """Steps by the node they leave: of node i, `heads` and `weights` from indptr[i] on."""

    indptr: Array
    heads: Array
    weights: Array

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    def sparse(self) -> Any:
        """Return it as SciPy wants it."""
        import scipy.sparse

        shape = self.n_nodes, self.n_nodes
        return scipy.sparse.csr_matrix((self.weights, self.heads, self.indptr), shape=shape)

    def networkx(self) -> Any:
        """Return it as NetworkX wants it."""
        import networkx as nx

        tails = np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))
        graph = nx.DiGraph()
        graph.add_nodes_from(range(self.n_nodes))
        edges = zip(tails.tolist(), self.heads.tolist(), self.weights.tolist(), strict=True)
        graph.add_weighted_edges_from(edges)
        return graph

    def distances(self, start: int, limit: float = np.inf) -> npt.NDArray[np.float64]:
        """Return the least total to every node by SciPy, or by NetworkX where that is missing."""
        try:
            from scipy.sparse import csgraph
        except ImportError:
            return _networkx_distances(self.networkx(), start, limit, self.n_nodes)
        return csgraph.dijkstra(self.sparse(), indices=start, limit=limit)


def _networkx_distances(graph: Any, start: int, limit: float, n: int) -> npt.NDArray[np.float64]:
    import networkx as nx

    cutoff = None if np.isinf(limit) else limit
    found = nx.single_source_dijkstra_path_length(graph, start, cutoff=cutoff)
    totals = np.full(n, np.inf)
    totals[list(found)] = list(found.values())
    return totals


def graph_of(terrain: Array, rule: Rule) -> Graph:
    """Return every legal step of a map. Alternating: two nodes a cell, one for each parity."""
    if rule.is_hex:
        return _stacked([_steps(terrain, HEX_EVEN, HEX_ODD, (_times(1),) * 6, (0,) * 6)])
    moves = STRAIGHT + DIAGONAL
    if not rule.is_alternating:
        prices = (_times(rule.straight),) * 4 + (_times(rule.diagonal),) * 4
        return _stacked([_steps(terrain, moves, moves, prices, (0,) * 8, rule.corners)])
    size = terrain.size
    plain = (_times(1),) * 4
    first = _steps(terrain, moves, moves, plain + (_half(0),) * 4, (0,) * 4 + (size,) * 4)
    second = _steps(terrain, moves, moves, plain + (_half(1),) * 4, (size,) * 4 + (0,) * 4)
    return _stacked([first, second])


def _times(factor: int) -> Price:
    return lambda cost: cost * factor


def _half(odd: int) -> Price:
    return lambda cost: (3 * cost + odd) // 2


def _steps(
    terrain: Array,
    even: tuple[Cell, ...],
    odd: tuple[Cell, ...],
    prices: tuple[Price, ...],
    shifts: tuple[int, ...],
    corners: str = "free",
) -> tuple[Array, Array, Array]:
    """Return how many steps leave each cell, where they lead and what they cost."""
    height, width = terrain.shape
    ringed = np.zeros((height + 2, width + 2), np.int64)
    ringed[1:-1, 1:-1] = terrain
    number = np.arange(height * width).reshape(height, width)
    heads = np.zeros((height, width, len(even)), np.int32)
    weights = np.zeros((height, width, len(even)), np.float64)

    def beside(parity: int, d_row: int, d_col: int) -> Array:
        rows = slice(1 + parity + d_row, 1 + height + d_row, 2)
        return ringed[rows, 1 + d_col : 1 + d_col + width]

    for i, moves in enumerate(zip(even, odd, strict=True)):
        for parity, (d_row, d_col) in enumerate(moves):
            entered = beside(parity, d_row, d_col) * (beside(parity, 0, 0) > 0)
            if corners == "both" and d_row and d_col:
                entered = entered * (beside(parity, d_row, 0) > 0) * (beside(parity, 0, d_col) > 0)
            weights[parity::2, :, i] = prices[i](entered)
            heads[parity::2, :, i] = number[parity::2] + d_row * width + d_col + shifts[i]
    legal = weights > 0
    return legal.sum(axis=2).reshape(-1), heads[legal], weights[legal]


def _stacked(parts: list[tuple[Array, Array, Array]]) -> Graph:
    counts = np.concatenate([part[0] for part in parts])
    indptr = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=indptr[1:])
    return Graph(indptr, *(np.concatenate([part[i] for part in parts]) for i in (1, 2)))


class Noise:
    """A square map of random terrain; its arrays and graphs are made when first asked for."""

    def __init__(self, size: int, *, walls: float = 0.2, top: int = 4, seed: int = 0) -> None:
        self.size, self.walls, self.top = size, walls, top
        self._seed = seed
        self._graphs: dict[str, Graph] = {}

    def rng(self, purpose: int) -> np.random.Generator:
        """Return random numbers for one purpose, the same at each run."""
        return np.random.default_rng((SEED, self.size, self._seed, purpose))

    @cached_property
    def terrain(self) -> npt.NDArray[np.uint8]:
        """Cost to enter each cell, 0 where closed; the middle is open."""
        rng = self.rng(0)
        terrain = rng.integers(1, self.top + 1, (self.size, self.size), dtype=np.uint8)
        terrain[rng.random((self.size, self.size), dtype=np.float32) < self.walls] = 0
        terrain[self.middle] = 1
        return terrain

    @property
    def middle(self) -> Cell:
        return self.size // 2, self.size // 2

    @cached_property
    def closed(self) -> npt.NDArray[np.bool_]:
        return self.terrain == 0

    @cached_property
    def cost(self) -> npt.NDArray[np.int16]:
        """Cost to enter each cell, above 0; what is closed says `closed`."""
        return np.maximum(self.terrain, 1).astype(np.int16)

    def number(self, cell: Cell) -> int:
        return cell[0] * self.size + cell[1]

    def graph(self, rule: str) -> Graph:
        """Return the explicit graph of a rule, made once."""
        if rule not in self._graphs:
            self._graphs[rule] = graph_of(self.terrain, RULES[rule])
        return self._graphs[rule]

    def distances(self, rule: str, start: Cell) -> npt.NDArray[np.float64]:
        """Return the least total to every cell, shape (size, size)."""
        totals = self.graph(rule).distances(self.number(start))
        return totals.reshape(-1, self.size, self.size).min(axis=0)

    def open_cells(self, n: int, purpose: int, margin: int = 0) -> list[Cell]:
        """Return random open cells, at least `margin` cells away from the border."""
        rng = self.rng(purpose)
        found: list[Cell] = []
        while len(found) < n:
            row, col = (int(x) for x in rng.integers(margin, self.size - margin, 2))
            if self.terrain[row, col]:
                found.append((row, col))
        return found

    def connected_pairs(self, n: int, purpose: int, rule: str) -> list[tuple[Cell, Cell]]:
        """Return random pairs of cells with a way between them."""
        home = np.isfinite(self.distances(rule, self.middle))
        cells = np.argwhere(home)
        chosen = cells[self.rng(purpose).integers(0, len(cells), (n, 2))]
        return [((a, b), (c, d)) for (a, b), (c, d) in chosen.tolist()]


def window(array: Array, cell: Cell, margin: int, outside: float) -> Array:
    """Return the (2 * margin + 1)² cells around one; what lies off the map is `outside`."""
    out = np.full((2 * margin + 1, 2 * margin + 1), outside, array.dtype)
    height, width = array.shape
    top, left = cell[0] - margin, cell[1] - margin
    rows = slice(max(top, 0), min(top + len(out), height))
    cols = slice(max(left, 0), min(left + len(out), width))
    out[rows.start - top : rows.stop - top, cols.start - left : cols.stop - left] = array[
        rows, cols
    ]
    return out

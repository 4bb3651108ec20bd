"""A movement graph built from a map and its rules of movement, cell by cell.

Nothing here uses the library: neighbours come from where cells lie in the plane, prices from the
rules as they are written. A node is (layer, row, col, parity, halted).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import networkx as nx
import numpy as np
import numpy.typing as npt

Cell = tuple[int, int]
Node = tuple[int, int, int, int, int]
Array = npt.NDArray[Any]
Diagonal = tuple[float, float] | Literal["alternating", "alternating-2", "illegal"]

SQRT2 = math.sqrt(2.0)

# Where the neighbour in each direction lies, seen from a cell: (right, down).
COMPASS = {
    "square4": [(0, -1), (1, 0), (0, 1), (-1, 0)],
    "square": [(0, -1), (1, 0), (0, 1), (-1, 0), (1, -1), (1, 1), (-1, 1), (-1, -1)],
    # Pointy tops, in half widths and rows: clockwise from the north-east.
    "r": [(1, -1), (2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1)],
    # Flat tops, in columns and half heights: clockwise from the north.
    "q": [(0, -2), (1, -1), (1, 1), (0, 2), (-1, 1), (-1, -1)],
}


def position(lattice: str, cell: Cell) -> tuple[int, int]:
    """Return where the centre of a cell lies, (right, down), in the units of `COMPASS`."""
    row, col = cell
    if lattice.startswith("square"):
        return col, row
    pushed = 1 if lattice.startswith("odd") else 0
    if lattice.endswith("r"):
        return 2 * col + (1 if row % 2 == pushed else 0), row
    return col, 2 * row + (1 if col % 2 == pushed else 0)


def cell_at(lattice: str, x: int, y: int) -> Cell:
    """Return the cell whose centre lies there."""
    if lattice.startswith("square"):
        return y, x
    pushed = 1 if lattice.startswith("odd") else 0
    if lattice.endswith("r"):
        return y, (x - (1 if y % 2 == pushed else 0)) // 2
    return (y - (1 if x % 2 == pushed else 0)) // 2, x


def compass(lattice: str) -> list[tuple[int, int]]:
    """Return the directions of a lattice in order."""
    return COMPASS[lattice if lattice.startswith("square") else lattice[-1]]


def neighbour(lattice: str, cell: Cell, direction: int) -> Cell:
    """Return the cell one step away, on the map or off it."""
    x, y = position(lattice, cell)
    right, down = compass(lattice)[direction]
    return cell_at(lattice, x + right, y + down)


@dataclass(frozen=True)
class LayerSpec:
    """Which of the map's arrays a layer uses (-1: none), and the largest total inside it."""

    open: int = 0
    enter: int | tuple[int, ...] = 0  # one for all directions, or one each
    leave: int = -1
    border: int = -1
    stop: int = -1
    halt: int = -1
    cap: int | None = None


@dataclass(frozen=True)
class LinkSpec:
    """A way from one layer into another, standing still or with a step."""

    source: int
    target: int
    ticks: int
    direction: int | None = None
    cells: Array | None = None
    steps: Array | None = None  # bit k: with a step in direction k, whatever the layers allow


@dataclass
class MapSpec:
    """A map and how one moves on it, in words that a person would use."""

    lattice: str
    height: int
    width: int
    open: list[Array]
    enter: list[Array]
    solid: list[Array | None] = field(default_factory=list)
    leave: list[Array] = field(default_factory=list)
    border: list[Array] = field(default_factory=list)
    stop: list[Array] = field(default_factory=list)
    halt: list[Array] = field(default_factory=list)
    barred: Array | None = None
    corners: str = "both"
    diagonal: Diagonal = (1, 1)
    reading: str = "advances"
    layers: list[LayerSpec] = field(default_factory=lambda: [LayerSpec()])
    links: list[LinkSpec] = field(default_factory=list)

    @property
    def alternates(self) -> bool:
        """Whether the price of a diagonal depends on how many came before."""
        return isinstance(self.diagonal, str) and self.diagonal.startswith("alternating")

    @property
    def cells(self) -> list[Cell]:
        """All cells, row by row."""
        return [(r, c) for r in range(self.height) for c in range(self.width)]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # Hypothesis would print every array in full

    def __repr__(self) -> str:
        lines = [f"MapSpec({self.lattice} {self.height}x{self.width} corners={self.corners}"]
        lines.append(f" diagonal={self.diagonal} reading={self.reading}")
        for name in ("open", "solid", "enter", "leave", "border", "stop", "halt"):
            for i, array in enumerate(getattr(self, name)):
                lines.append(f" {name}[{i}]={_brief(array)}")
        lines.append(f" barred={_brief(self.barred)}")
        lines += [f" {layer}" for layer in self.layers]
        lines += [
            f" link {k.source}->{k.target} ticks={k.ticks} direction={k.direction} "
            f"cells={_brief(k.cells)} steps={_brief(k.steps)}"
            for k in self.links
        ]
        return "\n".join(lines) + ")"


def _brief(array: Array | None) -> str:
    if array is None:
        return "None"
    if array.size > 60:
        return f"<{array.shape}>"
    return str(np.asarray(array).astype(int).tolist()).replace(" ", "")


class Mover:
    """The steps and links out of a node, with their prices."""

    def __init__(self, spec: MapSpec) -> None:
        self.spec = spec
        # Plain lists are quicker to read one by one.
        self._open = [a.tolist() for a in spec.open]
        self._solid = [
            [[not x for x in row] for row in self._open[i]]
            if i >= len(spec.solid) or spec.solid[i] is None
            else spec.solid[i].tolist()  # type: ignore[union-attr]
            for i in range(len(spec.open))
        ]
        self._enter = [a.tolist() for a in spec.enter]
        self._leave = [a.tolist() for a in spec.leave]
        self._border = [a.tolist() for a in spec.border]
        self._halt = [a.tolist() for a in spec.halt]
        self._stop = [a.tolist() for a in spec.stop]
        self._barred = None if spec.barred is None else spec.barred.tolist()
        self._link_cells = [None if k.cells is None else k.cells.tolist() for k in spec.links]
        self._parities = 2 if spec.alternates else 1
        n_directions = len(compass(spec.lattice))
        self.directions = range(4 if spec.diagonal == "illegal" else n_directions)
        if not spec.lattice.startswith("square"):
            self.directions = range(n_directions)
        self._beyond: dict[Cell, list[Cell | None]] = {}
        for cell in spec.cells:
            found: list[Cell | None] = []
            for direction in self.directions:
                row, col = neighbour(spec.lattice, cell, direction)
                on_map = 0 <= row < spec.height and 0 <= col < spec.width
                found.append((row, col) if on_map else None)
            self._beyond[cell] = found

    # -- the rules ----------------------------------------------------------------------------

    def is_diagonal(self, direction: int) -> bool:
        """Whether that direction is a diagonal of the squares."""
        return self.spec.lattice == "square" and direction >= 4

    def is_barred(self, cell: Cell, direction: int) -> bool:
        """Whether the border in that direction may not be crossed from this cell."""
        if self._barred is None:
            return False
        return bool(self._barred[cell[0]][cell[1]] >> direction & 1)

    def legal(self, open_index: int, cell: Cell, direction: int) -> Cell | None:
        """Return the cell a step leads to, or None if there is no such step."""
        beyond = self._beyond[cell][direction]
        if beyond is None or not self._open[open_index][beyond[0]][beyond[1]]:
            return None
        if not self.is_diagonal(direction):
            return None if self.is_barred(cell, direction) else beyond
        # The diagonal between the straight directions `one` and `other`; two ways round the corner.
        one, other = direction - 4, (direction - 3) % 4
        beside = (neighbour("square", cell, one), neighbour("square", cell, other))
        if self.is_barred(cell, one) or self.is_barred(beside[0], other):
            return None
        if self.is_barred(cell, other) or self.is_barred(beside[1], one):
            return None
        solid = [self._solid[open_index][r][c] for r, c in beside]
        if self.spec.corners == "both" and any(solid):
            return None
        if self.spec.corners == "either" and all(solid):
            return None
        return beyond

    def price(
        self, layer: LayerSpec, cell: Cell, direction: int, beyond: Cell, parity: int
    ) -> tuple[Any, int]:
        """Return what a step costs in a layer, and the parity after it."""
        enter = layer.enter if isinstance(layer.enter, int) else layer.enter[direction]
        weight = self._enter[enter][beyond[0]][beyond[1]]
        rule = self.spec.diagonal
        diagonal = self.is_diagonal(direction)
        after = parity
        if rule == "illegal":
            total = weight
        elif rule == "alternating" or rule == "alternating-2":
            total = weight
            if diagonal:
                odd = parity if rule == "alternating" else 1 - parity
                total = (3 * weight + odd) // 2
                # "carry": the half square left over is what parity means.
                turn = 1 if self.spec.reading == "advances" else weight % 2
                after = (parity + turn) % 2
        else:
            total = weight * rule[1 if diagonal else 0]
        if layer.leave >= 0:
            total += self._leave[layer.leave][cell[0]][cell[1]]
        if layer.border >= 0:
            total += self._border[layer.border][cell[0]][cell[1]][direction]
        return total, after

    def halts(self, layer: LayerSpec, cell: Cell) -> int:
        """Whether whoever enters the cell goes no further."""
        return int(layer.halt >= 0 and self._halt[layer.halt][cell[0]][cell[1]])

    def may_stop(self, node: Node) -> bool:
        """Whether a movement may end there."""
        layer = self.spec.layers[node[0]]
        return layer.stop < 0 or bool(self._stop[layer.stop][node[1]][node[2]])

    def moves(self, node: Node) -> Iterator[tuple[Node, Any, int | None, int | None]]:
        """List (node after, price, direction or None, link or None) for all ways on."""
        index, row, col, parity, halted = node
        if halted:
            return
        cell = (row, col)
        layer = self.spec.layers[index]
        for direction in self.directions:
            beyond = self.legal(layer.open, cell, direction)
            if beyond is None:
                continue
            price, after = self.price(layer, cell, direction, beyond, parity)
            yield (index, *beyond, after, self.halts(layer, beyond)), price, direction, None
        for number, link in enumerate(self.spec.links):
            taken = self._link_cells[number]
            if link.source != index or (taken is not None and not taken[row][col]):
                continue
            if link.direction is None and link.steps is None:
                yield (link.target, row, col, parity, 0), link.ticks, None, number
                continue
            target = self.spec.layers[link.target]
            for direction in self.directions:
                if link.steps is not None:
                    allowed = int(link.steps[row, col]) >> direction & 1
                    beyond = self._beyond[cell][direction] if allowed else None
                elif direction == link.direction:
                    beyond = self.legal(target.open, cell, direction)
                else:
                    beyond = None
                if beyond is None:
                    continue
                price, after = self.price(target, cell, direction, beyond, parity)
                there = (link.target, *beyond, after, self.halts(target, beyond))
                yield there, price + link.ticks, direction, number

    def nodes(self) -> Iterator[Node]:
        """All nodes that there can be."""
        for index, layer in enumerate(self.spec.layers):
            for cell in self.spec.cells:
                for parity in range(self._parities):
                    yield (index, *cell, parity, 0)
                    if self.halts(layer, cell):
                        yield (index, *cell, parity, 1)

    def cap(self, node: Node) -> float:
        """Return the largest total with which the node may be entered."""
        cap = self.spec.layers[node[0]].cap
        return math.inf if cap is None else cap


def digraph(mover: Mover) -> nx.DiGraph[Node]:
    """Return the whole graph with edge attribute `weight`, caps left out."""
    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from(mover.nodes())
    for node in mover.nodes():
        for after, price, _, _ in mover.moves(node):
            known = graph.get_edge_data(node, after)
            if known is None or price < known["weight"]:
                graph.add_edge(node, after, weight=price)
    return graph


def start_node(mover: Mover, cell: Cell, layer: int = 0, parity: int = 0) -> Node:
    """Return the node in which a movement begins; whoever starts on a cell has not entered it."""
    return (layer, *cell, parity if mover.spec.alternates else 0, 0)


def networkx_totals(mover: Mover, starts: dict[Node, Any]) -> dict[Node, Any]:
    """Return the least total of every node that can be reached, by networkx; no caps."""
    graph = digraph(mover)
    source: Any = "source"
    for node, total in starts.items():
        graph.add_edge(source, node, weight=total)
    found = nx.single_source_dijkstra_path_length(graph, source)
    found.pop(source)
    return dict(found)


def cell_totals(
    mover: Mover, totals: dict[Node, Any], budget: float = math.inf
) -> dict[Cell, tuple[Any, int, bool]]:
    """Return by cell the least total, the parity reported with it, and whether one may stop there.

    The parity is the one whose next diagonal is cheap wherever a cheapest way ends with it.
    """
    cheap = 1 if mover.spec.diagonal == "alternating-2" else 0
    best: dict[Cell, tuple[Any, int, bool]] = {}
    for node, total in totals.items():
        if total > budget:
            continue
        cell = (node[1], node[2])
        stop = mover.may_stop(node)
        if cell in best:
            old, parity, old_stop = best[cell]
            stop = stop or old_stop
            if old < total or (old == total and parity == cheap):
                best[cell] = (old, parity, stop)
                continue
        best[cell] = (total, node[3], stop)
    return best

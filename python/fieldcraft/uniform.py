"""What a field can do where every step costs the same: jump points, and breadth first.

Tables are made when they are first needed, from the arrays of a graph, and kept with the field;
whether they apply is decided by those arrays alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.connected import SQUARE, Components, as_squares
from fieldcraft.errors import RulesError
from fieldcraft.frozen import cached_property, frozen
from fieldcraft.graph import Graph
from fieldcraft.lattice import Cell
from fieldcraft.legal import legal_steps
from fieldcraft.path import Path, no_path
from fieldcraft_kernel import breadth, jump
from fieldcraft_kernel import steps as layout

if TYPE_CHECKING:
    from fieldcraft.step_field import StepField

__all__ = ["Uniform"]

Array = npt.NDArray[Any]

SMALL, PART = 64, 16
"""In components of fewer cells, or of less than that part of the map, plain A* takes no longer than
making a table as large as the map."""
CROWDED, LARGE = 0.6, 1 << 14
"""Where a larger part of the cells lies beside a closed one, and there are more jump points than
that for each cell (by the four directions), the ground is strewn with single obstacles: there a way
has almost as many jump points as cells, and on a large map A* over whole ticks is faster."""
MAX_PLANE_BYTES = 1 << 26
FIRST_HEAP, FIRST_WAY = 1 << 12, 1 << 12
CORNERS = ("both", "free")


class Plane(NamedTuple):
    """A component as words of bits; see `kernel.jump`.

    `corners` is 0 where jump points do not apply, and the rest then means nothing; `is_quick` says
    whether they are the quicker way through it.
    """

    corners: int
    is_quick: bool
    straight: float
    diagonal: float
    stops: Array


NO_PLANE = Plane(0, False, 0.0, 0.0, frozen(np.zeros(0, np.uint64)))


class Scratch:
    """What one thread works in; see `jump.jump_search`.

    Of the size of the map, but only what is touched takes memory.
    """

    def __init__(self, n_cells: int) -> None:
        self.way = np.empty((FIRST_WAY, 2), np.int64)
        self.labels = (
            np.empty(n_cells),
            np.empty(n_cells, np.int32),
            np.zeros(n_cells, np.uint16),
            np.empty(n_cells, np.int32),
        )
        self.heap = np.empty(FIRST_HEAP), np.empty(FIRST_HEAP, np.int32)

    def enlarge(self, status: int) -> None:
        """Make room for what was found to be too short."""
        if status == jump.POOL_FULL:
            size = 4 * len(self.heap[0])
            self.heap = np.empty(size), np.empty(size, np.int32)
        else:
            self.way = np.empty((4 * len(self.way), 2), np.int64)


class Uniform:
    """Searches on the parts of a graph where every step costs the same.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._planes: dict[int, Plane] = {}
        self._idle: list[Scratch] = []
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Uniform], tuple[Graph]]:
        return Uniform, (self.graph,)

    @cached_property
    def components(self) -> Components:
        """The components of the graph."""
        return Components(self.graph)

    # -- where it applies -----------------------------------------------------------------------

    @cached_property
    def _is_plain(self) -> bool:
        """Whether a step costs what entering does, and nothing but the cell tells states apart."""
        graph, arrays = self.graph, self.graph.arrays
        unused = (layout.LEAVE, layout.BORDER, layout.HALT, layout.RESERVE)
        n = graph.lattice.n_directions
        return bool(
            len(arrays.rows) == 1
            and not graph.is_alternating
            and not len(arrays.links)
            and (arrays.rows[0, list(unused)] < 0).all()
            and (arrays.entry[0, :n] == arrays.entry[0, 0]).all()
            and arrays.caps[0] >= graph.largest
        )

    @cached_property
    def refusal(self) -> str:
        """Why no part of the field can be searched by jump points; empty where one may."""
        straight, diagonal = self.graph.arrays.scale[0, [0, -1]].tolist()
        if self.graph.lattice.name != "square":
            return "a lattice of squares with diagonals"
        if self.graph.is_alternating or not straight <= diagonal <= 2 * straight:
            return "a diagonal that always costs the same, from one to two straight steps"
        if not self._is_plain:
            return "no prices but for entering, one layer and nothing that halts"
        return ""

    def plane(self, label: int) -> Plane:
        """Return a component as words of bits, made at the first use."""
        plane = self._planes.get(label)
        if plane is not None:
            return plane
        with self._lock:
            if label in self._planes:
                return self._planes[label]
            plane = self._new_plane(label)
            self._planes[label] = plane
            # Few components are large enough; of many planes the oldest go.
            while (
                sum(kept.stops.nbytes for kept in self._planes.values()) > MAX_PLANE_BYTES
                and len(self._planes) > 1
            ):
                self._planes.pop(next(iter(self._planes)), None)
        return plane

    def is_quick_from(self, cells: Array) -> bool:
        """Tell whether jump points are the quicker way from one of some padded cells."""
        if self.refusal:
            return False
        labels = np.unique(self.components.labels[cells]).tolist()
        return any(self._is_worth_it(label) and self.plane(label).is_quick for label in labels)

    def _is_worth_it(self, label: int) -> bool:
        """Tell whether a component is large enough for a plane of its own."""
        size = int(self.components.sizes[label]) if label else 0
        return label in self._planes or size >= max(SMALL, self.graph.n_cells // PART)

    def _new_plane(self, label: int) -> Plane:
        labels = self.components.labels
        price = self._price or _only(self._enter[labels == label])
        if not price:
            return NO_PLANE
        height, width = (side + 2 for side in self.graph.shape)
        size = 2 * height * ((width + 63) // 64) + 6 * width * ((height + 63) // 64)
        stops = np.empty(size, np.uint64)
        corners, n_cells, n_beside, n_stops = jump.lay_plane(
            stops, labels, label, self._steps, _legal_by_block(), width
        )
        if not corners:
            return NO_PLANE
        straight, diagonal = (float(x) * price for x in self.graph.arrays.scale[0, [0, -1]])
        is_crowded = min(n_stops, n_beside) > CROWDED * n_cells and n_cells >= LARGE
        # A* over floats is slower than that over whole ticks, and than jump points everywhere.
        is_quick = self.graph.is_float or not is_crowded
        return Plane(corners, is_quick, straight, diagonal, frozen(stops))

    @cached_property
    def _price(self) -> float:
        """What entering any cell costs; 0 where that differs."""
        return _only(self._enter.reshape(-1, self.graph.shape[1] + 2)[1:-1, 1:-1])

    @cached_property
    def _steps(self) -> Array:
        return frozen(self.graph.arrays.steps[self.graph.arrays.rows[0, layout.STEPS]])

    @cached_property
    def _enter(self) -> Array:
        return frozen(self.graph.arrays.enter[self.graph.arrays.entry[0, 0]])

    @cached_property
    def _stop(self) -> Array:
        return frozen(self.graph.arrays.stop[self.graph.arrays.rows[0, layout.STOP]])

    # -- jump points ----------------------------------------------------------------------------

    def path(
        self,
        field: StepField,
        start: Cell,
        goal: Any,
        budget: Any,
        parity: int,
        layer: int | None,
        stop: bool,
        must: bool,
    ) -> Path | None:
        """Return a cheapest path found by jump points, or None where another search is better.

        Parameters
        ----------
        field : StepField
            The field of this graph.
        start : tuple of int
            A cell of the map.
        goal, budget, parity, layer, stop
            As in `StepField.path`.
        must : bool
            Whether another search is none that the user wants.

        Raises
        ------
        RulesError
            If jump points must be used and do not apply.
        OutsideMapError, ArgumentTypeError, CostError
            If an argument is not valid.
        """
        if self.refusal:
            if must:
                raise RulesError(f"jump points need {self.refusal}; use algorithm='auto'")
            return None
        if parity != 0 or isinstance(parity, float) or layer is not None:
            field.seeds(start, None, parity, layer)  # says what is wrong; all else is one layer
        goal = self._one_cell(field, goal)
        if goal is None or goal == start:
            if must and goal is None:
                raise RulesError("jump points lead to one goal, not to several")
            return None
        graph, width = self.graph, self.graph.shape[1] + 2
        limit = graph.largest if budget is None else field._limit(budget)[0]
        here = (start[0] + 1) * width + start[1] + 1
        there = (goal[0] + 1) * width + goal[1] + 1
        labels = self.components.labels
        label = int(labels[here])
        if label == 0 or (field._closed is not None and field._closed[start]):
            # Nobody enters the start: it is no part of what the words of bits describe.
            return None
        if labels[there] != label or (stop and not self._stop[there]):
            return no_path(0, field.unit)
        if not must and not self._is_worth_it(label):
            return None
        plane = self.plane(label)
        if must and not plane.corners:
            raise RulesError(
                "jump points need one price to enter, and steps between all open cells that have "
                "their corners free (corners='both' or 'free'); use algorithm='auto'"
            )
        if not (must or plane.is_quick):
            return None
        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = Scratch(graph.n_cells)
        while True:
            n, n_straight, n_diagonal, expanded, status = jump.jump_search(
                scratch.way, self._steps, plane.stops, plane.corners,
                here, there, plane.straight, plane.diagonal, float(limit), width,
                *scratch.labels, *scratch.heap,
            )  # fmt: skip
            if status in (jump.DONE, jump.TOTAL_TOO_LARGE):
                break
            scratch.enlarge(status)
        cells = scratch.way[:n].copy()
        self._idle.append(scratch)
        if status == jump.TOTAL_TOO_LARGE and limit >= graph.largest:
            return None  # the ordinary search says what is too large
        if not n:
            return no_path(expanded, field.unit)
        ticks = n_straight * plane.straight + n_diagonal * plane.diagonal
        cost = field.in_units(ticks if graph.is_float else int(ticks))
        explain = partial(_steps, field.steps_along, cells, plane, graph.number)
        return Path(cells, float(cost), 0, expanded, field.unit, (), n - 1, explain)

    @staticmethod
    def _one_cell(field: StepField, goal: Any) -> Cell | None:
        """Return the goal if it is one cell, checked, else None."""
        if isinstance(goal, tuple) and len(goal) == 2 and type(goal[0]) is type(goal[1]) is int:
            return field.check(goal, "goal")
        cells = field.goal_cells(goal)
        return next(iter(cells)) if len(cells) == 1 else None

    # -- breadth first --------------------------------------------------------------------------

    @cached_property
    def _step_price(self) -> float:
        """What every step of the graph costs, in ticks; 0 where they differ."""
        graph, arrays = self.graph, self.graph.arrays
        scale = arrays.scale[0]
        if not self._is_plain or (graph.has_diagonals and scale[0] != scale[-1]):
            return 0.0
        # Cells that nobody enters may have any price.
        price = self._price or _only(self._enter[self.components.labels > 0])
        return float(scale[0]) * price

    @cached_property
    def _tiles(self) -> Array:
        height, width = self.graph.shape
        tiles = np.zeros(((height + 7) // 8, (width + 7) // 8, 8), np.uint64)
        breadth.lay_tiles(tiles, as_squares(self.graph, self._steps), height, width)
        return frozen(tiles)

    def distances(
        self, cells: npt.NDArray[np.int64], limit: float, multiplier: float, divisor: float
    ) -> npt.NDArray[np.float64] | None:
        """Return how far each cell is from the nearest of some, or None where prices differ.

        Parameters
        ----------
        cells : ndarray of int64, shape (n, 2)
        limit : int or float
            The largest total, in ticks.
        multiplier, divisor : float
            What turns ticks into units of cost.
        """
        price = self._step_price
        if not price:
            return None
        tiles = self._tiles
        n_tiles = tiles.shape[0] * tiles.shape[1]
        out = np.empty(self.graph.shape)
        _, status = breadth.breadth_first(
            out, tiles, cells, price, float(limit), multiplier, divisor,
            np.zeros((n_tiles, 3), np.uint64), np.empty((2, n_tiles), np.int32),
        )  # fmt: skip
        if status == breadth.TOTAL_TOO_LARGE and limit >= self.graph.largest:
            return None  # the ordinary search says what is too large
        return out


def _only(prices: Array) -> float:
    """Return the price that all have in common, or 0."""
    if not prices.size or prices.min() != prices.max():
        return 0.0
    return float(prices.flat[0])


def _steps(along: Callable[..., Any], cells: Array, plane: Plane, number: Any) -> Any:
    """Return the steps of a path, by `along` of its field."""
    is_diagonal = np.abs(np.diff(cells, axis=0)).sum(axis=1) == 2
    prices = np.where(is_diagonal, plane.diagonal, plane.straight)
    ticks = np.concatenate([[0], np.cumsum(prices)]).astype(number)
    zeros = np.zeros(len(cells), np.int64)
    return along(cells, zeros, zeros, ticks)


_BY_BLOCK: list[Array] = []


def _legal_by_block() -> Array:
    """Return the legal steps amid 3 x 3 cells by what is open of them, see `jump.survey`."""
    if not _BY_BLOCK:
        # One below the other: what is outside a block changes nothing for the cell in its middle.
        blocks = (np.arange(512)[:, None] >> np.arange(9) & 1).astype(bool).reshape(-1, 3)
        steps = [legal_steps(SQUARE, blocks, corners=corners)[1::3, 1] for corners in CORNERS]
        _BY_BLOCK.append(frozen(np.stack(steps)))
    return _BY_BLOCK[0]

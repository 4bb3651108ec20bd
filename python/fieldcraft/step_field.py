"""The movement graph of one creature, `StepField`, and its queries.

Rules compile a board into these arrays once; every search then runs on them. A field does not
know games: cells, prices, layers and links are all there is.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import as_cell
from fieldcraft.errors import (
    ArgumentTypeError,
    ClosedCellError,
    CostError,
    MapError,
    RulesError,
    nearest,
)
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import Path, Step, no_path
from fieldcraft.queries import batch_of, cells_of, on_map, spread
from fieldcraft.reach import Reach
from fieldcraft.terrain import frozen
from fieldcraft.units import exact, quantity
from fieldcraft_kernel import search as kernel
from fieldcraft_kernel import steps as graph_
from fieldcraft_kernel import walk as walk_
from fieldcraft_kernel.lattice import LATTICE_KINDS
from fieldcraft_kernel.queues import N_COUNTERS

__all__ = ["Explainer", "Layer", "Link", "Part", "StepField", "Within", "legal_steps", "within"]

Array = npt.NDArray[Any]

NO_CAP_TICKS = 2**62
LARGEST_FLOAT = 1e300
MAX_INT_SLOTS, MAX_FLOAT_SLOTS = 1 << 15, 1 << 12
FIRST_POOL = 1024


# -- what a field is made of ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layer:
    """A copy of the map with arrays, and a cap, of its own.

    Each number names one of the arrays stacked in the field (-1: none, where that is allowed).

    Parameters
    ----------
    steps, enter, stop : int
    leave, border, halt : int
    cap : int, optional
        Largest total, in ticks, that a step into this layer may reach.
    name : str
    """

    steps: int = 0
    enter: int = 0
    leave: int = -1
    border: int = -1
    stop: int = 0
    halt: int = -1
    cap: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A way from one layer to another, standing still or with a step.

    A link with a direction makes the step by the rules and prices of the layer it leads to, and
    pays its own ticks on top.

    Parameters
    ----------
    source, target : int
        Layers.
    ticks : int or float
    direction : int, optional
        None: standing still.
    cells : ndarray of bool, shape (height, width), optional
        Where the link may be taken, by the cell it starts from; everywhere if absent.
    """

    source: int
    target: int
    ticks: float = 0
    direction: int | None = None
    cells: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what a step costs, before diagonals: parts of kind "enter" sum to `enter`."""

    kind: Literal["enter", "leave", "border"]
    label: str
    ticks: float


class Explainer(Protocol):
    """Says what the price of a step is made of."""

    def parts(self, a: Cell, b: Cell, layer: int) -> Sequence[Part]:
        """Return the parts of the step from cell `a` to its neighbour `b`."""
        ...


@dataclass(frozen=True, slots=True)
class Within:
    """A goal: every cell of the map at most `radius` steps from `cell`."""

    radius: int
    cell: Cell


def within(radius: int, cell: Cell) -> Within:
    """Return the goal "any cell at most `radius` steps of the lattice from `cell`"."""
    if isinstance(radius, bool) or not isinstance(radius, int | np.integer) or radius < 0:
        raise ArgumentTypeError(f"radius must be a whole number, 0 or more, not {radius!r}")
    return Within(int(radius), as_cell(cell, "cell of the goal"))


def legal_steps(
    lattice: Lattice,
    open_: npt.NDArray[np.bool_],
    *,
    solid: npt.NDArray[np.bool_] | None = None,
    corners: str = "both",
    barred: npt.NDArray[np.uint8] | None = None,
) -> npt.NDArray[np.uint8]:
    """Return the legal steps of every cell as a bit mask.

    Parameters
    ----------
    lattice : Lattice
    open_ : ndarray of bool, shape (height, width)
        Cells that may be entered.
    solid : ndarray of bool, shape (height, width), optional
        Cells that count as corners; by default those that are not open.
    corners : str
        What a diagonal step asks of the two cells beside it: ``"both"`` free of corners,
        ``"either"``, or nothing (``"free"``).
    barred : ndarray of uint8, shape (height, width), optional
        Bit k: the border in direction k may not be crossed from here. A diagonal is barred by a
        barred border on any of the four edges around the point it crosses.

    Returns
    -------
    ndarray of uint8, shape (height, width)
        Bit k: the step in direction k is legal.

    Raises
    ------
    RulesError
        If `corners` is unknown.
    """
    if corners not in ("both", "either", "free"):
        raise RulesError(
            f"unknown corners {corners!r}{nearest(corners, ('both', 'either', 'free'))}; "
            "expected 'both', 'either' or 'free'"
        )
    height, width = open_.shape
    if solid is None:
        solid = ~open_
    steps = np.zeros((height, width), np.uint8)
    offsets = lattice.offsets()
    for direction in range(lattice.n_directions):
        bit = np.uint8(1 << direction)
        for parity in range(2 if lattice.is_hex else 1):
            d_row, d_col = (int(x) for x in offsets[parity, direction])
            here, there = _windows(height, width, d_row, d_col)
            ok = open_[there].copy()
            if lattice.is_hex:
                lines = np.arange(width)[here[1]] if lattice.is_flat else np.arange(height)[here[0]]
                mine = (lines & 1) == parity
                ok &= mine[None, :] if lattice.is_flat else mine[:, None]
            if barred is not None and direction < lattice.n_straight:
                ok &= (barred[here] & bit) == 0
            if direction >= lattice.n_straight:
                ok &= _diagonal_is_free(solid, barred, here, d_row, d_col, direction, corners)
            steps[here] |= np.where(ok, bit, np.uint8(0))
    return steps


def _windows(
    height: int, width: int, d_row: int, d_col: int
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the cells whose neighbour at that offset is on the map, and those neighbours."""
    rows = slice(max(0, -d_row), height - max(0, d_row))
    cols = slice(max(0, -d_col), width - max(0, d_col))
    rows_there = slice(max(0, d_row), height - max(0, -d_row))
    cols_there = slice(max(0, d_col), width - max(0, -d_col))
    return (rows, cols), (rows_there, cols_there)


def _diagonal_is_free(
    solid: npt.NDArray[np.bool_],
    barred: npt.NDArray[np.uint8] | None,
    here: tuple[slice, slice],
    d_row: int,
    d_col: int,
    direction: int,
    corners: str,
) -> npt.NDArray[np.bool_]:
    """Tell where a diagonal step passes its corners and the four edges around its point."""
    vertical = 0 if d_row < 0 else 2
    horizontal = 1 if d_col > 0 else 3
    rows, cols = here
    beside_row = (slice(rows.start + d_row, rows.stop + d_row), cols)
    beside_col = (rows, slice(cols.start + d_col, cols.stop + d_col))
    if corners == "both":
        free = ~(solid[beside_row] | solid[beside_col])
    elif corners == "either":
        free = ~(solid[beside_row] & solid[beside_col])
    else:
        free = np.ones((rows.stop - rows.start, cols.stop - cols.start), bool)
    if barred is not None:
        v, h = np.uint8(1 << vertical), np.uint8(1 << horizontal)
        free &= (barred[here] & (v | h)) == 0
        free &= (barred[beside_row] & h) == 0
        free &= (barred[beside_col] & v) == 0
    return free


# -- the field ------------------------------------------------------------------------------------


class StepField:
    """A movement graph without a graph: what each step costs and where it may go.

    Parameters
    ----------
    lattice : Lattice
    shape : tuple of int
        Height and width in cells.
    steps : ndarray of uint8, shape (height, width) or (s, height, width)
        Legal steps, see `legal_steps`. With several layers each names one of the `s` arrays; the
        same holds for the arrays below.
    enter : ndarray of int or float, shape (height, width) or (e, height, width)
        Ticks to enter a cell, 1 to 65,535. A float array makes a float field.
    leave : ndarray like `enter`, optional
        Ticks to leave a cell.
    border : ndarray like `enter` with a last axis of `lattice.n_directions`, optional
        Ticks for the border in each direction.
    stop, halt : ndarray of bool, shape (height, width) or (n, height, width), optional
        Whether a movement may end there (everywhere if absent); whether whoever enters goes no
        further in this movement (nowhere if absent; the start is excepted).
    diagonal : pair of numbers or str
        What `enter` is multiplied by, straight and diagonal; or ``"alternating"`` (1-2-1-2) or
        ``"alternating-2"`` (2-1-2-1).
    parity : str
        How alternating diagonals count into cells of even weight: ``"advances"`` or ``"carry"``.
    ticks : int, Fraction or float
        Ticks per unit of cost.
    layers : sequence of Layer, optional
    links : sequence of Link
    explainer : Explainer, optional
    closed : ndarray of bool, shape (height, width), optional
        Where given, a search may not start on such a cell.
    unit : str
        Name of the unit of cost, for display.

    Raises
    ------
    MapError, CostError, RulesError
        If an array has the wrong shape, dtype or value, or a layer or link names what is not
        there.
    """

    def __init__(
        self,
        lattice: Lattice,
        shape: tuple[int, int],
        *,
        steps: Array,
        enter: Array,
        leave: Array | None = None,
        border: Array | None = None,
        stop: Array | None = None,
        halt: Array | None = None,
        diagonal: tuple[float, float] | str = (1, 1),
        parity: str = "advances",
        ticks: float | Fraction = 1,
        layers: Sequence[Layer] | None = None,
        links: Sequence[Link] = (),
        explainer: Explainer | None = None,
        closed: npt.NDArray[np.bool_] | None = None,
        unit: str = "",
    ) -> None:
        height, width = shape
        if height < 1 or width < 1:
            raise MapError(f"a map needs at least one cell; its shape is {shape}")
        self.lattice = lattice
        self.shape = (int(height), int(width))
        self.unit = unit
        self._unit = exact(ticks, "ticks")
        if self._unit <= 0:
            raise CostError(f"ticks must be above 0, not {ticks}")
        self.ticks = ticks
        self.explainer = explainer
        self.layers = tuple(layers) if layers is not None else (self._default_layer(leave, border,
                                                                                  halt),)
        self.links = tuple(links)
        self._alternating = isinstance(diagonal, str)
        self.diagonal = diagonal
        self.parity = parity
        self._check_diagonal(diagonal, parity)
        self._closed = None if closed is None else frozen(np.asarray(closed, bool))

        self.is_float = np.asarray(enter).dtype.kind == "f" or (
            not isinstance(diagonal, str)
            and any(not float(factor).is_integer() for factor in diagonal)
        )
        if self.is_float and self._alternating:
            raise CostError("alternating diagonals need whole ticks, and these costs are floats")
        steps = self._stack(steps, "steps", np.uint8)
        kind = np.float64 if self.is_float else np.uint16
        enter = self._stack(enter, "enter", kind)
        leave = self._stack(leave, "leave", kind)
        border = self._stack(border, "border", kind, (lattice.n_directions,))
        stop = self._stack(np.ones(self.shape, bool) if stop is None else stop, "stop", np.bool_)
        halt = self._stack(halt, "halt", np.bool_)
        self._check_layers(steps, enter, leave, border, stop, halt)
        self._halves = self._alternating and (
            parity == "carry" or not self._has_even_weight(enter, steps)
        )
        self._graph = self._compile(steps, enter, leave, border, stop, halt)
        self._least = self._least_entry(enter)
        self._largest = LARGEST_FLOAT if self.is_float else graph_.MAX_TOTAL
        self._per_bucket, self._slots = self._queue_size()
        self._opposite = np.full(8, -1, np.int64)
        for direction in range(lattice.n_directions):
            self._opposite[direction] = lattice.opposite(direction)
        self._idle: list[kernel.Scratch] = []
        self._lock = threading.Lock()

    # -- building -------------------------------------------------------------------------------

    @staticmethod
    def _default_layer(leave: Any, border: Any, halt: Any) -> Layer:
        return Layer(
            leave=-1 if leave is None else 0,
            border=-1 if border is None else 0,
            halt=-1 if halt is None else 0,
        )

    @staticmethod
    def _check_diagonal(diagonal: tuple[float, float] | str, parity: str) -> None:
        if isinstance(diagonal, str):
            if diagonal not in ("alternating", "alternating-2"):
                raise RulesError(
                    f"unknown diagonal {diagonal!r}; expected 'alternating', 'alternating-2' or "
                    "a pair of numbers"
                )
        elif len(diagonal) != 2 or not all(factor > 0 for factor in diagonal):
            raise RulesError(f"diagonal must be a pair of numbers above 0, not {diagonal!r}")
        if parity not in ("advances", "carry"):
            raise RulesError(f"parity must be 'advances' or 'carry', not {parity!r}")

    def _stack(self, array: Any, name: str, dtype: Any, last: tuple[int, ...] = ()) -> Array:
        """Return an array as a checked, padded, flat and frozen stack of shape (n, N, *last)."""
        height, width = self.shape
        if array is None:
            return frozen(np.zeros((0, (height + 2) * (width + 2), *last), dtype))
        array = np.asarray(array)
        if array.ndim == 2 + len(last):
            array = array[None]
        if array.shape[1:] != (height, width, *last) or array.shape[0] == 0:
            raise MapError(
                f"{name} has shape {array.shape}, expected {(height, width, *last)} "
                f"or a stack of such arrays"
            )
        if dtype is np.bool_ and array.dtype != np.bool_:
            raise MapError(f"{name} must be an array of bool, not {array.dtype}")
        if dtype in (np.uint8, np.uint16) and array.dtype != dtype:
            if array.dtype.kind not in "iu":
                raise MapError(f"{name} must be an array of whole numbers, not {array.dtype}")
            if array.size and (array.min() < 0 or array.max() > np.iinfo(dtype).max):
                place = np.argwhere((array < 0) | (array > np.iinfo(dtype).max))[0]
                raise CostError(
                    f"{name} must lie between 0 and {np.iinfo(dtype).max} ticks; at cell "
                    f"({place[1]}, {place[2]}) it is {array[tuple(place)]}"
                )
        if dtype is np.float64 and array.dtype.kind not in "iuf":
            raise MapError(f"{name} must be an array of numbers, not {array.dtype}")
        padded = np.zeros((array.shape[0], height + 2, width + 2, *last), dtype)
        padded[:, 1:-1, 1:-1] = array
        return frozen(padded.reshape(array.shape[0], -1, *last))

    def _check_layers(
        self, steps: Array, enter: Array, leave: Array, border: Array, stop: Array, halt: Array
    ) -> None:
        stacks = {
            "steps": (steps, False), "enter": (enter, False), "stop": (stop, False),
            "leave": (leave, True), "border": (border, True), "halt": (halt, True),
        }  # fmt: skip
        if not self.layers:
            raise MapError("a field needs at least one layer")
        for number, layer in enumerate(self.layers):
            for name, (stack, optional) in stacks.items():
                index = getattr(layer, name)
                if not ((optional and index == -1) or 0 <= index < len(stack)):
                    raise MapError(
                        f"layer {number} uses {name} {index}, and there are {len(stack)}"
                    )
            if layer.cap is not None and not layer.cap >= 0:
                raise CostError(f"the cap of layer {number} must be 0 or more, not {layer.cap}")
        for number, link in enumerate(self.links):
            for end in (link.source, link.target):
                if not 0 <= end < len(self.layers):
                    raise MapError(
                        f"link {number} names layer {end}, and there are {len(self.layers)}"
                    )
            if link.direction is not None and not 0 <= link.direction < self.lattice.n_directions:
                raise MapError(
                    f"link {number} has direction {link.direction}; directions run from 0 to "
                    f"{self.lattice.n_directions - 1}"
                )
            whole = self.is_float or float(link.ticks).is_integer()
            if not (whole and 0 <= link.ticks < LARGEST_FLOAT):
                raise CostError(f"the ticks of link {number} must be whole, not {link.ticks}")
        total_states = len(self.layers) * steps.shape[1] * 4
        if total_states >= 2**31 and len(self.layers) * steps.shape[1] * self._n_copies() >= 2**31:
            raise MapError("the map has too many cells and layers: states must stay below 2**31")
        self._check_enter(steps, enter)

    def _n_copies(self) -> int:
        halts = any(layer.halt >= 0 for layer in self.layers)
        return (2 if self._alternating else 1) * (2 if halts else 1)

    def _check_enter(self, steps: Array, enter: Array) -> None:
        """Refuse a legal step into a cell whose price is 0, negative or not finite."""
        for layer in {(layer.steps, layer.enter): layer for layer in self.layers}.values():
            prices = enter[layer.enter]
            bad = ~((prices > 0) & (prices < LARGEST_FLOAT))
            bad = bad.reshape(self.shape[0] + 2, self.shape[1] + 2)[1:-1, 1:-1]
            if not bad.any():
                continue
            reached = bad & self._entered(steps[layer.steps])
            if reached.any():
                row, col = np.argwhere(reached)[0]
                price = prices[self.padded((int(row), int(col)))]
                raise CostError(
                    f"the price to enter must be above 0; at cell ({row}, {col}), which can be "
                    f"entered, it is {price}"
                )

    def _entered(self, flat_steps: Array) -> npt.NDArray[np.bool_]:
        """Tell which cells some legal step leads to, shape (height, width)."""
        height, width = self.shape
        steps = flat_steps.reshape(height + 2, width + 2)[1:-1, 1:-1]
        entered = np.zeros(self.shape, bool)
        lines = np.arange(width)[None, :] if self.lattice.is_flat else np.arange(height)[:, None]
        for parity in range(2 if self.lattice.is_hex else 1):
            for direction in range(self.lattice.n_directions):
                d_row, d_col = (int(x) for x in self.lattice.offsets()[parity, direction])
                here, there = _windows(height, width, d_row, d_col)
                legal = (steps >> direction) & 1
                if self.lattice.is_hex:
                    legal = legal & ((lines & 1) == parity)
                entered[there] |= legal[here].astype(bool)
        return entered

    def _has_even_weight(self, enter: Array, steps: Array) -> bool:
        """Tell whether some cell's weight is even, so that the readings of PF-02 differ."""
        if self.lattice.n_directions != 8:
            return False
        inner = (slice(None), slice(1, -1), slice(1, -1))
        shape = (-1, self.shape[0] + 2, self.shape[1] + 2)
        return bool((enter.reshape(shape)[inner] % 2 == 0).any())

    def _compile(
        self, steps: Array, enter: Array, leave: Array, border: Array, stop: Array, halt: Array
    ) -> graph_.StepArrays:
        lattice, n_layers = self.lattice, len(self.layers)
        width = self.shape[1] + 2
        offsets = np.zeros((2, 8), np.int64)
        deltas = lattice.offsets()
        offsets[:, : lattice.n_directions] = deltas[..., 0] * width + deltas[..., 1]
        if lattice.is_hex:
            steps = self._with_parity(steps)
        number = np.float64 if self.is_float else np.int64
        self._copies = 2 if self._alternating and not self._halves else 1
        n_base = n_layers * self._copies
        has_halt = any(layer.halt >= 0 for layer in self.layers)
        n_rows = n_base * (2 if has_halt else 1)
        rows = np.zeros((n_rows, graph_.N_COLUMNS), np.int64)
        to = np.zeros((n_rows, 8), np.int64)
        scale = np.ones((n_rows, 8), number)
        extra = np.zeros((n_rows, 8), number)
        caps = np.full(n_rows, math.inf if self.is_float else NO_CAP_TICKS, number)
        mask = (1 << lattice.n_directions) - 1
        for base in range(n_base):
            layer, parity = divmod(base, self._copies)
            given = self.layers[layer]
            halted = base + n_base if given.halt >= 0 else base
            rows[base] = (given.steps, given.enter, given.leave, given.border, given.stop,
                          given.halt, halted, mask)  # fmt: skip
            to[base] = base
            scale[base], extra[base] = self._multipliers(parity)
            if self._copies == 2:
                to[base, 4:] = base ^ 1
            if given.cap is not None:
                caps[base] = 2 * given.cap + 1 if self._halves else given.cap
            if has_halt:
                rows[base + n_base] = rows[base]
                rows[base + n_base, graph_.DIRECTIONS] = 0
                to[base + n_base] = base + n_base
                caps[base + n_base] = caps[base]
        if self._halves:
            leave, border = self._doubled(leave, "leave"), self._doubled(border, "border")
        links, link_price, link_cells, first_link = self._compile_links(n_rows, number)
        return graph_.StepArrays(
            steps=steps, enter=enter, leave=leave, border=border, stop=stop, halt=halt,
            rows=frozen(rows), to=frozen(to), scale=frozen(scale), extra=frozen(extra),
            shift=1 if self._copies == 2 else 0, caps=frozen(caps), links=links,
            link_price=link_price, link_cells=link_cells, first_link=first_link,
            offsets=frozen(offsets), is_hex=int(lattice.is_hex),
        )  # fmt: skip

    def _multipliers(self, parity: int) -> tuple[Array, Array]:
        """Return what `enter` is multiplied by in each direction, and what is added."""
        scale, extra = np.ones(8), np.zeros(8)
        straight = slice(0, self.lattice.n_straight)
        diagonal = slice(self.lattice.n_straight, 8)
        if isinstance(self.diagonal, str):
            scale[straight], scale[diagonal] = 2, 3
            if self._copies == 2:
                extra[diagonal] = parity
        else:
            scale[straight], scale[diagonal] = self.diagonal
        return scale, extra

    def _with_parity(self, steps: Array) -> Array:
        shape = (steps.shape[0], self.shape[0] + 2, self.shape[1] + 2)
        marked = np.array(steps).reshape(shape)
        bit = np.uint8(1 << graph_.PARITY_BIT)
        if self.lattice.is_flat:
            marked[:, 1:-1, 2:-1:2] |= bit
        else:
            marked[:, 2:-1:2, 1:-1] |= bit
        return frozen(marked.reshape(steps.shape))

    @staticmethod
    def _doubled(array: Array, name: str) -> Array:
        if array.size and array.max() > 32767:
            raise CostError(f"{name} must be at most 32,767 ticks where diagonals alternate")
        return frozen(array * np.uint16(2))

    def _compile_links(self, n_rows: int, number: Any) -> tuple[Array, Array, Array, Array]:
        table: list[tuple[int, int, int, int, float]] = []
        masks: list[Array] = []
        for link in self.links:
            where = -1
            if link.cells is not None:
                where = len(masks)
                masks.append(self._stack(link.cells, "cells of a link", np.bool_)[0])
            price = link.ticks * (2 if self._halves else 1)
            for parity in range(self._copies):
                source = link.source * self._copies + parity
                target = link.target * self._copies + parity
                along = -1 if link.direction is None else link.direction
                table.append((source, target, along, where, price))
        table.sort(key=lambda row: row[0])
        links = np.array([row[:4] for row in table], np.int64).reshape(-1, graph_.N_LINK_COLUMNS)
        price_ = np.array([row[4] for row in table], number)
        first = np.searchsorted(links[:, 0], np.arange(n_rows + 1)).astype(np.int64)
        n_cells = (self.shape[0] + 2) * (self.shape[1] + 2)
        cells = np.stack(masks) if masks else np.zeros((0, n_cells), bool)
        return frozen(links), frozen(price_), frozen(cells), frozen(first)

    def _least_entry(self, enter: Array) -> float:
        """Return a lower bound of the price to enter any cell that can be entered."""
        shape = (-1, self.shape[0] + 2, self.shape[1] + 2)
        inner = enter.reshape(shape)[:, 1:-1, 1:-1]
        if self.is_float:
            usable = inner[(inner > 0) & np.isfinite(inner)]
            return float(usable.min()) if usable.size else 1.0
        return max(1, int(inner.min())) if inner.min() > 0 else 1

    def _queue_size(self) -> tuple[Any, int]:
        """Return buckets a unit of total, and the slots a search needs (0: use the heap)."""
        graph = self._graph
        enter = graph.enter[np.isfinite(graph.enter)] if self.is_float else graph.enter
        dearest = float(enter.max(initial=0)) * float(graph.scale.max()) + float(graph.extra.max())
        if graph.shift:
            dearest = dearest // 2 + 1
        for stack in (graph.leave, graph.border, graph.link_price):
            dearest += float(stack.max(initial=0))
        per_bucket: Any = 1
        if self.is_float:
            per_bucket = 1 / (0.99 * self._least * float(graph.scale.min()))
        span = 2 * dearest * per_bucket + 4
        limit = MAX_FLOAT_SLOTS if self.is_float else MAX_INT_SLOTS
        if span > limit:
            return per_bucket, 0
        return per_bucket, 1 << math.ceil(math.log2(span))

    # -- pickling -------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_idle", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._graph = graph_.StepArrays(
            *(frozen(x) if isinstance(x, np.ndarray) else x for x in self._graph)
        )
        self._idle, self._lock = [], threading.Lock()

    # -- cells and states -----------------------------------------------------------------------

    @property
    def n_cells(self) -> int:
        """Cells of the padded map."""
        return (self.shape[0] + 2) * (self.shape[1] + 2)

    def check(self, cell: Any, what: str = "cell") -> Cell:
        """Return the cell as two integers, or raise OutsideMapError."""
        return on_map(cell, self.shape, what)

    def padded(self, cell: Cell) -> int:
        """Return the flat number of a cell in the padded arrays."""
        return (cell[0] + 1) * (self.shape[1] + 2) + cell[1] + 1

    def to_cells(self, padded: Array) -> npt.NDArray[np.int64]:
        """Return (row, col) of flat padded numbers, shape (n,) to (n, 2)."""
        rows, cols = np.divmod(padded.astype(np.int64), self.shape[1] + 2)
        return np.stack([rows - 1, cols - 1], axis=-1)

    def split_states(self, states: Array) -> tuple[Array, Array]:
        """Return padded cells and rows of states."""
        rows, cells = np.divmod(states.astype(np.int64), self.n_cells)
        return cells, rows

    def may_stop(self, rows: Array, cells: Array) -> npt.NDArray[np.bool_]:
        """Tell for each (row, padded cell) whether a movement may end there."""
        stop: npt.NDArray[np.bool_] = self._graph.stop[self._graph.rows[rows, graph_.STOP], cells]
        return stop

    def to_cost(self, totals: Array) -> npt.NDArray[np.float64]:
        """Return totals in ticks (or half ticks) as costs in the field's unit."""
        if self._halves:
            totals = totals >> 1
        return self._in_units(totals.astype(np.float64))

    def _in_units(self, ticks: Any) -> Any:
        """Return ticks in the field's unit: one multiplication, one division, no more rounding."""
        return ticks * float(self._unit.denominator) / float(self._unit.numerator)

    def parity_of(self, rows: Array, totals: Array) -> npt.NDArray[np.int8]:
        """Return the diagonals made so far, modulo 2, of states."""
        if not self._alternating:
            return np.zeros(len(rows), np.int8)
        inner = totals & 1 if self._halves else (rows % (len(self.layers) * 2)) & 1
        return (inner ^ self._flip).astype(np.int8)

    @property
    def _flip(self) -> int:
        """1 where the first diagonal is the dear one: inside, parity 0 always means "next cheap"."""
        return int(self.diagonal == "alternating-2")

    def layer_of(self, row: int) -> int:
        """Return the layer that a row of the graph belongs to."""
        return (row % (len(self.layers) * self._copies)) // self._copies

    # -- amounts --------------------------------------------------------------------------------

    def to_ticks(self, value: Any, what: str = "budget", *, whole: bool = False) -> Any:
        """Return an amount in the field's unit as ticks; None means no limit.

        Raises
        ------
        CostError
            If it is negative, not a number, or (with `whole`) no whole number of ticks.
        """
        amount = quantity(value, what)
        if amount.unit not in ("", "pt", "sq"):
            raise CostError(
                f"{what} {value!r} is a length; this field counts {self.unit or 'plain numbers'}"
            )
        if amount.value is None:
            return None
        if self.is_float:
            return float(amount.value * self._unit)
        ticks = amount.value * self._unit
        if whole and ticks.denominator != 1:
            raise CostError(
                f"{what} {value} is no whole number of ticks; one tick is {1 / self._unit}"
            )
        return min(ticks.numerator // ticks.denominator, NO_CAP_TICKS // 4)

    def _limit(self, budget: Any) -> tuple[Any, float]:
        """Return the largest total a search may reach, and the budget to show."""
        ticks = self.to_ticks(budget)
        if ticks is None:
            return self._largest, math.inf
        shown = float(self._in_units(ticks))
        if self.is_float:
            # Sums of floats may end a hair above the decimal they stand for.
            return min(ticks * (1 + 1e-12), self._largest), shown
        return min(2 * ticks + 1 if self._halves else ticks, self._largest), shown

    def _seeds(
        self, start: Any, initial: Any, parity: int, layer: int
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Return start states, rising and each once, and their initial totals."""
        if parity not in (0, 1):
            raise CostError(f"parity must be 0 or 1 (diagonals made so far, modulo 2), not {parity!r}")
        if not 0 <= layer < len(self.layers):
            raise MapError(f"layer {layer} is not one of 0 to {len(self.layers) - 1}")
        cells = cells_of(start, self.shape, "start")
        if self._closed is not None:
            for row, col in cells:
                if self._closed[row, col]:
                    raise ClosedCellError(f"start ({row}, {col}) is a closed cell")
        number = np.float64 if self.is_float else np.int64
        totals = np.zeros(len(cells), number)
        if initial is not None:
            given = np.asarray(initial, dtype=object).reshape(-1)
            if len(given) != len(cells):
                raise CostError(f"initial has {len(given)} costs for {len(cells)} starts")
            for i, value in enumerate(given):
                ticks = self.to_ticks(value, "initial cost", whole=True)
                if ticks is None:
                    raise CostError("an initial cost must be finite")
                totals[i] = ticks
            if self._halves:
                totals *= 2
        inner = parity ^ self._flip if self._alternating else 0
        row_ = layer * self._copies
        if self._halves:
            totals += inner
        elif self._alternating:
            row_ += inner
        states = row_ * self.n_cells + np.array([self.padded(c) for c in cells], np.int64)
        order = np.lexsort((totals, states))
        states, totals = states[order], totals[order]
        first = np.ones(len(states), bool)
        first[1:] = states[1:] != states[:-1]
        return np.ascontiguousarray(states[first]), np.ascontiguousarray(totals[first])

    # -- scratch --------------------------------------------------------------------------------

    def _new_scratch(self, pool: int = FIRST_POOL) -> kernel.Scratch:
        n_states = len(self._graph.rows) * self.n_cells
        number = np.float64 if self.is_float else np.int32
        blank = math.inf if self.is_float else graph_.NO_WAY
        return kernel.Scratch(
            totals=np.full(n_states, blank, number),
            vias=np.zeros(n_states if len(self._graph.links) else 0, np.int16),
            order=np.empty(n_states, np.int32),
            head=np.empty(self._slots, np.int32),
            pool_state=np.empty(pool, np.int32),
            pool_key=np.empty(pool, number),
            pool_next=np.empty(pool, np.int32),
            counters=np.zeros(N_COUNTERS, np.int64),
        )

    @contextmanager
    def _scratch(self) -> Iterator[list[kernel.Scratch]]:
        """Lend a set of scratch arrays to one thread; a list, so that a larger one can replace it."""
        with self._lock:
            lent = self._idle.pop() if self._idle else None
        holder = [lent if lent is not None else self._new_scratch()]
        yield holder
        with self._lock:
            self._idle.append(holder[0])

    @staticmethod
    def _with_larger_pool(scratch: kernel.Scratch) -> kernel.Scratch:
        size = 4 * len(scratch.pool_state)
        return scratch._replace(
            pool_state=np.empty(size, np.int32),
            pool_key=np.empty(size, scratch.pool_key.dtype),
            pool_next=np.empty(size, np.int32),
        )

    def _no_goals(self) -> kernel.Goals:
        return self._goals(np.zeros(0, np.int64), np.zeros(6, np.int64), False, False)

    def _goals(self, cells: Array, box: Array, must_stop: bool, guided: bool) -> kernel.Goals:
        number = np.float64 if self.is_float else np.int64
        scale = self._graph.scale
        straight = diagonal = scale[0, 0] * 0
        added = np.zeros(len(self._graph.rows), number)
        if guided:
            straight, diagonal = scale[0, 0], scale[0, -1]
            if self.lattice.n_directions == 8:
                straight = min(straight, diagonal)
                diagonal = min(diagonal, 2 * straight)
            else:
                diagonal = 2 * straight
            straight, diagonal = straight * self._least, diagonal * self._least
            if self._copies == 2:
                added += np.arange(len(added)) & 1
        cast: Callable[[Any], Any] = float if self.is_float else int
        return kernel.Goals(
            cells=cells,
            must_stop=int(must_stop),
            box=box,
            kind=LATTICE_KINDS[self.lattice.name],
            width=self.shape[1] + 2,
            straight=cast(straight),
            diagonal=cast(diagonal),
            added=added,
            factor=cast(1 - 1e-9 if self.is_float else 1),
        )

    def _run(
        self,
        holder: list[kernel.Scratch],
        goals: kernel.Goals,
        starts: Array,
        initial: Array,
        limit: Any,
    ) -> tuple[int, int, int]:
        """Search, with a larger pool as often as it fills; return entries, goal and expanded."""
        per_bucket, wide = self._per_bucket, holder[0].head
        spread = float(initial.max() - initial.min()) * float(per_bucket)
        while True:
            scratch = holder[0]
            if spread * 2 > self._slots:
                scratch = scratch._replace(head=wide[:0])
            n_order, goal, expanded, status = kernel.search(
                self._graph, goals, starts, initial, limit, self._largest, per_bucket, scratch
            )
            if status == kernel.DONE:
                return n_order, goal, expanded
            self._refuse(status)
            holder[0] = self._with_larger_pool(holder[0])

    def _refuse(self, status: int) -> None:
        if status == kernel.TOTAL_TOO_LARGE:
            raise CostError(
                "a total would overflow: without a budget some path costs more than "
                f"{self._in_units(self._largest):g}; give a budget or cheaper costs"
            )

    # -- questions ------------------------------------------------------------------------------

    def reach(
        self,
        start: Any,
        budget: Any = None,
        *,
        parity: int = 0,
        initial: Any = None,
        layer: int = 0,
        rest: str = "",
    ) -> Reach:
        """Return every cell that can be reached within a budget.

        The start costs nothing and is always reached. Cells at exactly the budget are included.

        Parameters
        ----------
        start : tuple of int, or array_like of int, shape (n, 2)
            One start, or several.
        budget : float, str, optional
            What may be spent, in the field's unit; without one (or infinite) there is no limit.
        parity : int
            Diagonals made before, modulo 2, where diagonals alternate.
        initial : array_like of float, shape (n,), optional
            What each start has cost already.
        layer : int
            Layer to start in.
        rest : str
            What to report as `Reach.rest`.

        Returns
        -------
        Reach

        Raises
        ------
        OutsideMapError
            If a start lies outside the map.
        ClosedCellError
            If a start lies on a closed cell of a bare array.
        CostError
            If the budget is negative or not a number, or a total would overflow.

        Notes
        -----
        Time and memory grow with the cells reached, not with the map; one set of scratch arrays
        of the size of the map is kept with the field for each thread at work.
        """
        starts, totals = self._seeds(start, initial, parity, layer)
        limit, shown = self._limit(budget)
        with self._scratch() as holder:
            n, _, expanded = self._run(holder, self._no_goals(), starts, totals, limit)
            states = holder[0].order[:n].copy()
            values = np.empty(n, holder[0].totals.dtype)
            vias = np.empty(n if len(holder[0].vias) else 0, np.int16)
            kernel.collect(holder[0], n, values, vias)
        return Reach(
            self, states, values, vias, starts, totals, budget=shown, expanded=expanded, rest=rest
        )

    def distances(
        self,
        starts: Any,
        *,
        budget: Any = None,
        parity: int = 0,
        initial: Any = None,
        layer: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Return the least total to every cell, shape (height, width), infinite where no way leads.

        Parameters and errors are those of `reach`.
        """
        seeds, totals = self._seeds(starts, initial, parity, layer)
        limit, _ = self._limit(budget)
        height, width = self.shape
        with self._scratch() as holder:
            n, _, _ = self._run(holder, self._no_goals(), seeds, totals, limit)
            scratch = holder[0]
            shape = (len(self._graph.rows), height + 2, width + 2)
            least = scratch.totals.reshape(shape)[:, 1:-1, 1:-1].min(axis=0)
            blank = math.inf if self.is_float else graph_.NO_WAY
            walk_.blank_states(scratch.totals, scratch.order[:n], blank)
        result = self.to_cost(least)
        result[least == blank] = math.inf
        return result

    def path(
        self,
        start: Any,
        goal: Any,
        *,
        budget: Any = None,
        parity: int = 0,
        layer: int = 0,
        stop: bool = True,
        algorithm: Literal["auto", "astar", "dijkstra"] = "auto",
    ) -> Path:
        """Return a cheapest path from a start to a goal.

        Parameters
        ----------
        start : tuple of int
        goal : tuple of int, array_like of int of shape (n, 2), or Within
            A cell, several cells of which the cheapest is wanted, or ``within(radius, cell)``.
        budget : float, str, optional
            What may be spent.
        parity, layer : int
            As in `reach`.
        stop : bool
            Whether the path must end where a movement may end.
        algorithm : str
            ``"astar"`` (the default), or ``"dijkstra"``, whose path follows the tie rule of
            `Reach.path_to`. Both give the least cost, and the same path at every call.

        Returns
        -------
        Path
            False when there is no way. If the start is a goal, a path without steps.

        Raises
        ------
        OutsideMapError, ClosedCellError, CostError
            As in `reach`; also if a goal lies outside the map.
        """
        if algorithm not in ("auto", "astar", "dijkstra"):
            raise ArgumentTypeError(
                f"algorithm must be 'auto', 'astar' or 'dijkstra', not {algorithm!r}"
            )
        start_cell = self.check(start, "start")
        seeds, totals = self._seeds(start_cell, None, parity, layer)
        cells = self._goal_cells(goal)
        limit, _ = self._limit(budget)
        if start_cell in cells:
            return self._to_path([int(seeds[0])], [int(totals[0])], [0], 0)
        padded = np.unique(np.array([self.padded(cell) for cell in cells], np.int64))
        goals = self._goals(padded, self._box(cells), stop, algorithm != "dijkstra")
        with self._scratch() as holder:
            n, found, expanded = self._run(holder, goals, seeds, totals, limit)
            scratch = holder[0]
            path = no_path(expanded, self.unit)
            if found >= 0:
                path = self._walk(scratch.totals, scratch.vias, seeds, totals, found, expanded)
            blank = math.inf if self.is_float else graph_.NO_WAY
            walk_.blank_states(scratch.totals, scratch.order[:n], blank)
        return path

    def _goal_cells(self, goal: Any) -> set[Cell]:
        if isinstance(goal, Within):
            centre = self.check(goal.cell, "goal")
            height, width = self.shape
            rows = np.arange(max(0, centre[0] - 2 * goal.radius), min(height, centre[0] + 2 * goal.radius + 1))
            cols = np.arange(max(0, centre[1] - 2 * goal.radius), min(width, centre[1] + 2 * goal.radius + 1))
            grid = np.stack(np.meshgrid(rows, cols, indexing="ij"), axis=-1).reshape(-1, 2)
            near = grid[self.lattice.distances(grid, centre) <= goal.radius]
            return {(row, col) for row, col in near.tolist()}
        return set(cells_of(goal, self.shape, "goal"))

    def _box(self, cells: set[Cell]) -> npt.NDArray[np.int64]:
        array = np.array(sorted(cells), np.int64)
        frame = self.lattice.to_axial(array) if self.lattice.is_hex else array
        x, y = frame[:, 0], frame[:, 1]
        both = x + y
        return np.array(
            [x.min(), x.max(), y.min(), y.max(), both.min(), both.max()], np.int64
        )

    # -- batches --------------------------------------------------------------------------------

    def reach_many(
        self, starts: Any, budget: Any = None, *, parity: int = 0, layer: int = 0, rest: str = ""
    ) -> list[Reach]:
        """Return the reach of each start, as `reach` would, in parallel.

        Parameters
        ----------
        starts : array_like of int, shape (n, 2)
        budget, parity, layer, rest
            As in `reach`.
        """
        cells = batch_of(starts, (2,), "starts")
        limit, shown = self._limit(budget)
        seeds = [self._seeds(cell, None, parity, layer) for cell in cells]
        states = np.array([state[0] for state, _ in seeds], np.int64)

        def part(begin: int, end: int) -> list[Reach]:
            found = self._flood_block(states[begin:end], seeds[begin:end], limit)
            return [
                Reach(self, *arrays, *seed, budget=shown, expanded=len(arrays[0]), rest=rest)
                for arrays, seed in zip(found, seeds[begin:end], strict=True)
            ]

        if len(seeds) and seeds[0][1][0] != 0:
            # Half squares carried in: the batch kernel starts at 0, so search one by one.
            return spread(
                len(cells),
                lambda a, b: [
                    self.reach(c, budget, parity=parity, layer=layer, rest=rest) for c in cells[a:b]
                ],
            )
        return spread(len(cells), part)

    def _flood_block(
        self, states: Array, seeds: Any, limit: Any
    ) -> list[tuple[Array, Array, Array]]:
        """Flood from each state in turn and return states, totals and links of each."""
        results: list[tuple[Array, Array, Array]] = []
        size = 1 << 14
        with self._scratch() as holder:
            while len(results) < len(states):
                scratch = holder[0]
                out_state = np.empty(size, np.int32)
                out_total = np.empty(size, scratch.totals.dtype)
                out_via = np.empty(size if len(scratch.vias) else 0, np.int16)
                left = states[len(results) :]
                ends = np.zeros(len(left), np.int64)
                done, status = kernel.search_many(
                    self._graph, self._no_goals(), left, limit, self._largest, self._per_bucket,
                    scratch, out_state, out_total, out_via, ends,
                )  # fmt: skip
                begin = 0
                for end in ends[:done].tolist():
                    via = out_via[begin:end].copy()
                    results.append((out_state[begin:end].copy(), out_total[begin:end].copy(), via))
                    begin = end
                if status == kernel.POOL_FULL:
                    holder[0] = self._with_larger_pool(scratch)
                elif status == kernel.OUTPUT_FULL:
                    size *= 4
                self._refuse(status)
        return results

    def paths(self, pairs: Any, **options: Any) -> list[Path]:
        """Return a cheapest path for each pair (start, goal), as `path` would, in parallel.

        Parameters
        ----------
        pairs : array_like of int, shape (n, 2, 2)
        **options
            As in `path`.
        """
        cells = batch_of(pairs, (2, 2), "pairs")
        return spread(
            len(cells), lambda a, b: [self.path(s, g, **options) for s, g in cells[a:b]]
        )

    def path_costs(self, pairs: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Return the least cost for each pair (start, goal), shape (n,), infinite where no way."""
        return np.array([path.cost for path in self.paths(pairs, **options)], np.float64)

    # -- paths out of totals --------------------------------------------------------------------

    def walk(
        self,
        goal: int,
        states: Array,
        values: Array,
        vias: Array,
        starts: Array,
        initial: Array,
        *,
        expanded: int,
    ) -> Path:
        """Return the path to a settled state of a search, from the search's own arrays."""
        blank = math.inf if self.is_float else graph_.NO_WAY
        with self._scratch() as holder:
            scratch = holder[0]
            walk_.spread(scratch.totals, scratch.vias, states, values, vias)
            path = self._walk(scratch.totals, scratch.vias, starts, initial, goal, expanded)
            walk_.blank_states(scratch.totals, states, blank)
        return path

    def _walk(
        self, totals: Array, vias: Array, starts: Array, initial: Array, goal: int, expanded: int
    ) -> Path:
        size = 256
        while True:
            out, links = np.empty(size, np.int64), np.empty(size, np.int64)
            n = walk_.walk_back(
                self._graph, totals, vias, starts, initial, self._opposite, goal, out, links
            )
            if n > 0:
                break
            if n == -2:
                raise AssertionError("a settled state has no predecessor")
            size *= 4
        states = out[:n][::-1]
        return self._to_path(
            states.tolist(), totals[states].tolist(), links[:n][::-1].tolist(), expanded
        )

    def _to_path(
        self, states: list[int], totals: list[Any], links: list[int], expanded: int
    ) -> Path:
        array = np.array(states, np.int64)
        padded, rows = self.split_states(array)
        cells = self.to_cells(padded)
        values = np.array(totals, np.float64 if self.is_float else np.int64)
        if self._halves:
            values = values >> 1
        points: list[Cell] = [(row, col) for row, col in cells.tolist()]
        steps = tuple(
            self._step(
                points[i], points[i + 1], int(rows[i]), int(rows[i + 1]), links[i + 1],
                values[i + 1] - values[i],
            )
            for i in range(len(states) - 1)
        )  # fmt: skip
        # Standing still changes the layer, not the cell: such cells are listed once.
        moved = np.ones(len(cells), bool)
        moved[1:] = (cells[1:] != cells[:-1]).any(axis=1)
        parity = int(self.parity_of(rows[-1:], np.array(totals[-1:]))[0])
        total = float(self._in_units(values[-1] - values[0]))
        return Path(cells[moved], total, parity, steps, expanded, self.unit)

    def _step(self, a: Cell, b: Cell, row_a: int, row_b: int, link: int, ticks: Any) -> Step:
        """Return one step with what it is made of; the parts sum to the price."""
        layer = self.layer_of(row_b)
        units = self._in_units
        parts: list[tuple[str, float]] = []
        rest = ticks
        if link:
            price = self._graph.link_price[link - 1] / (2 if self._halves else 1)
            rest = rest - price
            parts.append((f"to {self.layers[layer].name or f'layer {layer}'}", units(price)))
        if a != b:
            factor = 1 if self._alternating else self.diagonal[0]
            for part in self.parts(a, b, layer):
                price = part.ticks * (factor if part.kind == "enter" else 1)
                rest = rest - price
                parts.append((part.label, units(price)))
            if abs(rest) > 1e-9 * max(1.0, abs(float(ticks))):
                parts.append(("diagonal", units(float(rest))))
        name = self.layers[layer].name if len(self.layers) > 1 else ""
        return Step(a, b, float(units(ticks)), tuple((k, float(v)) for k, v in parts), name)

    def parts(self, a: Cell, b: Cell, layer: int = 0) -> list[Part]:
        """Return what the price of a step is made of, before diagonals."""
        if self.explainer is not None:
            return list(self.explainer.parts(a, b, layer))
        given = self.layers[layer]
        halves = 2 if self._halves else 1
        here, there = self.padded(a), self.padded(b)
        parts = [Part("enter", "entry", self._graph.enter[given.enter, there].item())]
        if given.leave >= 0:
            ticks = self._graph.leave[given.leave, here].item() / halves
            if ticks:
                parts.append(Part("leave", "exit", ticks))
        if given.border >= 0:
            direction = self.lattice.neighbors(a).index(b)
            ticks = self._graph.border[given.border, here, direction].item() / halves
            if ticks:
                parts.append(Part("border", "border", ticks))
        return parts

    def __repr__(self) -> str:
        height, width = self.shape
        return f"StepField({height} x {width}, {self.lattice.name}, {len(self.layers)} layers)"

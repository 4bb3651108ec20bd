"""The movement graph behind a step field: arrays checked, padded and laid out for the kernels."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import CostError, MapError, RulesError
from fieldcraft.frozen import frozen
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.legal import windows
from fieldcraft_kernel import steps as kernel

__all__ = ["Graph", "Layer", "Link", "Patch"]

Array = npt.NDArray[Any]

LARGEST_FLOAT = 1e300
NO_CAP = 2**62
MAX_INT_SLOTS, MAX_FLOAT_SLOTS = 1 << 15, 1 << 12
"""Where the dearest step spans more buckets than this, searches use the heap."""
MAX_TICKS = 65535
MAX_FACTOR = 1 << 31
FLOAT_SLACK = 1e-12
"""Sums of floats may end a hair above the decimal they stand for."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A copy of the map with arrays, and a cap, of its own.

    Each number names one of the arrays stacked in the field (-1: none, where that is allowed).

    Parameters
    ----------
    steps, stop : int
    enter : int or tuple of int
        One for every direction, or one each.
    leave, border, halt : int
    cap : int or float, optional
        Largest total, in ticks, that a step into this layer may reach.
    name : str
    onward : int
        Cells that nobody enters who has not enough left to step out again, not over the side or
        corner of coming in.
    """

    steps: int = 0
    enter: int | tuple[int, ...] = 0
    leave: int = -1
    border: int = -1
    stop: int = 0
    halt: int = -1
    cap: float | None = None
    name: str = ""
    onward: int = -1

    def entries(self, n_directions: int) -> tuple[int, ...]:
        """Return which array each direction enters by."""
        return self.enter if isinstance(self.enter, tuple) else (self.enter,) * n_directions


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A way from one layer to another, standing still or with a step.

    A link that makes a step pays the prices of the layer it leads to, and its own ticks on top.
    With a direction it makes that step where the layer it leads to may; with masks of its own it
    makes every step that they allow.

    Parameters
    ----------
    source, target : int
        Layers.
    ticks : int or float
    direction : int, optional
        None: standing still.
    cells : ndarray of bool, shape (height, width), optional
        Where the link may be taken, by the cell it starts from; everywhere if absent.
    steps : ndarray of uint8, shape (height, width), optional
        Bit k: the link may be taken with a step in direction k.
    rest : int or float
        Of a link standing still: what must be left, after it, of the cap of its target.
    """

    source: int
    target: int
    ticks: float = 0
    direction: int | None = None
    cells: npt.NDArray[np.bool_] | None = None
    steps: npt.NDArray[np.uint8] | None = None
    rest: float = 0


class Patch(NamedTuple):
    """Arrays of a part of a field, to replace what stands there.

    `corner`: the first cell; `stacks`: the arrays of the layers by name, each (n, rows, cols, ...);
    `cells`, `steps`: those of the links; `seats`, `stay`: see `StepField`.
    """

    corner: Cell
    stacks: dict[str, Array | None]
    cells: list[npt.NDArray[np.bool_]]
    steps: list[npt.NDArray[np.uint8]]
    seats: list[npt.NDArray[np.bool_]]
    stay: npt.NDArray[np.bool_] | None
    covers: tuple[npt.NDArray[np.uint16] | None, ...] = ()

    @property
    def rows(self) -> range:
        """The rows of the map that it lies in."""
        n = max(stack.shape[1] for stack in self.stacks.values() if stack is not None)
        return range(self.corner[0], self.corner[0] + n)


@dataclass(frozen=True, slots=True)
class Stacks:
    """The arrays of a field as padded stacks, each of shape (n, N) or (n, N, directions)."""

    steps: Array
    enter: Array
    leave: Array
    border: Array
    stop: Array
    halt: Array
    onward: Array


class Graph:
    """A movement graph: `StepArrays` for the kernels and what is known of them.

    Parameters are those of `StepField`. Rows of the kernels' graph are copies of the layers: two
    each, by the parity of diagonals, where that must be told apart, and as many again for those
    who have been halted.

    Attributes
    ----------
    arrays : StepArrays
    is_float : bool
        Whether prices are floats.
    is_alternating : bool
    halves : bool
        Whether totals count half squares, so that one label carries the parity (PF-02, "carry").
    copies : int
        Rows a layer: 2 where the parity is a row of its own, else 1.
    largest : int or float
        The largest total that fits.
    least : int or float
        No cell that can be entered costs less.
    has_diagonals : bool
        Whether any diagonal step is legal.
    per_bucket, slots
        How the queue of a search is laid out; no slots: the heap.
    """

    def __init__(
        self,
        lattice: Lattice,
        shape: tuple[int, int],
        layers: Sequence[Layer],
        links: Sequence[Link],
        *,
        steps: Any,
        enter: Any,
        leave: Any,
        border: Any,
        stop: Any,
        halt: Any,
        diagonal: tuple[float, float] | str,
        parity: str,
        plain: int = 1,
        onward: Any = None,
    ) -> None:
        _check_diagonal(diagonal, parity)
        self.lattice, self.shape = lattice, shape
        self.diagonal, self.parity, self.plain = diagonal, parity, plain
        self.is_alternating = isinstance(diagonal, str)
        self.is_float = np.asarray(enter).dtype.kind == "f" or (
            not isinstance(diagonal, str)
            and any(not float(factor).is_integer() for factor in diagonal)
        )
        if self.is_float and self.is_alternating:
            raise CostError("alternating diagonals need whole ticks, and these costs are floats")
        number = np.float64 if self.is_float else np.uint16
        stacks = Stacks(
            self._stack(steps, "steps", np.uint8),
            self._stack(enter, "enter", number),
            self._stack(leave, "leave", number),
            self._stack(border, "border", number, (lattice.n_directions,)),
            self._stack(np.ones(shape, bool) if stop is None else stop, "stop", np.bool_),
            self._stack(halt, "halt", np.bool_),
            self._stack(onward, "onward", np.bool_),
        )
        _check_layers(layers, stacks, lattice.n_directions, self.is_float)
        _check_links(links, layers, lattice, self.is_float)
        own = [link.steps for link in links if link.steps is not None]
        self._own = self._stack(np.stack(own) if own else None, "steps of a link", np.uint8)
        self._check_steps(stacks.steps)
        self._check_steps(self._own)
        self._check_enter(layers, links, stacks)
        # Where a plain cell is several ticks, a weight of several would have to be alternated
        # before it is multiplied; such prices belong into `border`.
        self._check_plain(stacks.enter)
        self.halves = (
            self.is_alternating
            and plain == 1
            and (parity == "carry" or not self._has_even_weight(stacks.enter))
        )
        self.copies = 2 if self.is_alternating and not self.halves else 1
        self.has_diagonals = lattice.n_directions == 8 and any(
            bool((masks & 0xF0).any()) for masks in (stacks.steps, self._own)
        )
        self.arrays = self._lay_out(layers, links, stacks)
        if len(stacks.onward):
            self.arrays = self._with_reserves(layers, stacks.onward)
        self._check_states()
        self.largest: Any = LARGEST_FLOAT if self.is_float else kernel.MAX_TOTAL
        self.least = self._least_entry(stacks.enter)
        self.per_bucket, self.slots = self._queue()
        self.opposite = np.full(8, -1, np.int64)
        for direction in range(lattice.n_directions):
            self.opposite[direction] = lattice.opposite(direction)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Unpickled arrays are open to writing, which to Numba is another type.
        self.arrays = kernel.StepArrays(
            *(frozen(x) if isinstance(x, np.ndarray) else x for x in self.arrays)
        )

    @property
    def n_cells(self) -> int:
        """Cells of the padded map."""
        return (self.shape[0] + 2) * (self.shape[1] + 2)

    @property
    def flip(self) -> int:
        """1 where the first diagonal is the dear one: inside, parity 0 means "next is cheap"."""
        return int(self.diagonal == "alternating-2")

    @property
    def blank(self) -> Any:
        """The mark for "no way" in arrays of totals."""
        return math.inf if self.is_float else kernel.NO_WAY

    @property
    def number(self) -> Any:
        """The dtype of amounts given to a search."""
        return np.float64 if self.is_float else np.int64

    def _inner(self, flat: Array) -> Array:
        """Return a stack of flat padded arrays without the padding, shape (n, height, width)."""
        return flat.reshape(-1, self.shape[0] + 2, self.shape[1] + 2)[:, 1:-1, 1:-1]

    # -- checks ---------------------------------------------------------------------------------

    def _stack(self, given: Any, name: str, dtype: Any, last: tuple[int, ...] = ()) -> Array:
        """Return an array as a checked, padded, flat and frozen stack of shape (n, N, *last)."""
        height, width = self.shape
        if given is None:
            return frozen(np.zeros((0, self.n_cells, *last), dtype))
        array = np.asarray(given)
        if array.ndim == 2 + len(last):
            array = array[None]
        if array.shape[1:] != (height, width, *last) or array.shape[0] == 0:
            raise MapError(
                f"{name} has shape {array.shape}, expected {(height, width, *last)} "
                "or a stack of such arrays"
            )
        _check_dtype(array, name, dtype)
        padded = np.zeros((array.shape[0], height + 2, width + 2, *last), dtype)
        padded[:, 1:-1, 1:-1] = array
        return frozen(padded.reshape(array.shape[0], -1, *last))

    def _check_steps(self, steps: Array) -> None:
        """Refuse steps in directions the lattice has not, and steps off the map."""
        height, width = self.shape
        inner = self._inner(steps)
        if (inner >> self.lattice.n_directions).any():
            raise MapError(
                f"steps has bits beyond the {self.lattice.n_directions} directions of the lattice"
            )
        offsets = self.lattice.offsets()
        for direction in range(self.lattice.n_directions):
            for parity in range(2 if self.lattice.is_hex else 1):
                d_row, d_col = (int(x) for x in offsets[parity, direction])
                rim = np.ones(self.shape, bool)
                rim[windows(height, width, d_row, d_col)[0]] = False
                rows, cols = np.nonzero(rim)
                mine = self.lattice.parity(np.stack([rows, cols], axis=-1)) == parity
                if ((inner[:, rows[mine], cols[mine]] >> direction) & 1).any():
                    raise MapError(f"steps has a step in direction {direction} off the map")

    def _check_enter(self, layers: Sequence[Layer], links: Sequence[Link], stacks: Stacks) -> None:
        """Refuse a legal step into a cell whose price is 0, negative or not finite."""
        pairs: list[tuple[int, Array]] = []
        n = self.lattice.n_directions
        for layer in dict.fromkeys((layer.entries(n), layer.steps) for layer in layers):
            entries, steps = layer
            legal = self._inner(stacks.steps[steps])[0]
            for number in dict.fromkeys(entries):
                pairs.append((number, legal & _bits(entries, number)))
        own = self._inner(self._own)
        masks = [link for link in links if link.steps is not None]
        for mask, link in zip(own, masks, strict=True):
            entries = layers[link.target].entries(n)
            for number in dict.fromkeys(entries):
                pairs.append((number, mask & _bits(entries, number)))
        for number, legal in pairs:
            prices = self._inner(stacks.enter[number])[0]
            bad = ~((prices > 0) & (prices < LARGEST_FLOAT))
            if bad.any():
                bad &= self._entered(legal)
            if bad.any():
                row, col = np.argwhere(bad)[0]
                raise CostError(
                    f"the price to enter must be above 0; at cell ({row}, {col}), which can be "
                    f"entered, it is {prices[row, col]}"
                )

    def _check_plain(self, enter: Array) -> None:
        """Refuse weights that cannot be alternated in cells of several ticks."""
        if self.is_alternating and self.plain > 1 and (self._inner(enter) > 1).any():
            raise CostError(
                "where diagonals alternate in cells of several ticks, every cell has the weight 1"
            )

    def _entered(self, steps: Array) -> npt.NDArray[np.bool_]:
        """Tell which cells some legal step leads to, shape (height, width)."""
        height, width = self.shape
        lattice = self.lattice
        entered = np.zeros(self.shape, bool)
        lines = np.arange(width)[None, :] if lattice.is_flat else np.arange(height)[:, None]
        for parity in range(2 if lattice.is_hex else 1):
            for direction in range(lattice.n_directions):
                d_row, d_col = (int(x) for x in lattice.offsets()[parity, direction])
                here, there = windows(height, width, d_row, d_col)
                legal = (steps >> direction) & 1
                if lattice.is_hex:
                    legal = legal & ((lines & 1) == parity)
                entered[there] |= legal[here].astype(bool)
        return entered

    def _has_even_weight(self, enter: Array) -> bool:
        """Tell whether some cell's weight is even, so that the readings of PF-02 differ."""
        return self.lattice.n_directions == 8 and bool((self._inner(enter) % 2 == 0).any())

    # -- layout ---------------------------------------------------------------------------------

    def _lay_out(
        self, layers: Sequence[Layer], links: Sequence[Link], stacks: Stacks
    ) -> kernel.StepArrays:
        lattice, copies = self.lattice, self.copies
        offsets = np.zeros((2, 8), np.int64)
        deltas = lattice.offsets()
        offsets[:, : lattice.n_directions] = deltas[..., 0] * (self.shape[1] + 2) + deltas[..., 1]
        n_base = len(layers) * copies
        has_halt = any(layer.halt >= 0 for layer in layers)
        n_rows = n_base * (2 if has_halt else 1)
        rows = np.zeros((n_rows, kernel.N_COLUMNS), np.int64)
        entry = np.zeros((n_rows, 8), np.int64)
        to = np.zeros((n_rows, 8), np.int64)
        scale = np.ones((n_rows, 8), self.number)
        extra = np.zeros((n_rows, 8), self.number)
        caps = np.full(n_rows, math.inf if self.is_float else NO_CAP, self.number)
        mask = (1 << lattice.n_directions) - 1
        for base in range(n_base):
            layer = layers[base // copies]
            twin = base + n_base
            halted = twin if layer.halt >= 0 else base
            rows[base] = (layer.steps, layer.leave, layer.border, layer.stop, layer.halt, halted,
                          mask, -1)  # fmt: skip
            entry[base, : lattice.n_directions] = layer.entries(lattice.n_directions)
            scale[base], extra[base] = self._multipliers(base % copies)
            to[base] = base
            if copies == 2:
                to[base, 4:] = base ^ 1
            if layer.cap is not None:
                caps[base] = self._cap(float(layer.cap) if self.is_float else int(layer.cap))
            if has_halt:
                rows[twin], to[twin], caps[twin] = rows[base], twin, caps[base]
                entry[twin] = entry[base]
                rows[twin, kernel.DIRECTIONS] = 0
        steps = self._with_parity(stacks.steps) if lattice.is_hex else stacks.steps
        leave, border = stacks.leave, stacks.border
        if self.halves:
            leave, border = _doubled(leave, "leave"), _doubled(border, "border")
        table, price, rest, cells, first = self._lay_out_links(links, n_rows)
        return kernel.StepArrays(
            steps=steps, enter=stacks.enter, leave=leave, border=border, stop=stacks.stop,
            halt=stacks.halt, reserve=frozen(np.zeros((0, 8, 0), self.number)),
            latest=frozen(np.zeros((0, 8, 0), self.number)), onward=frozen(np.zeros(0, np.int32)),
            rows=frozen(rows), entry=frozen(entry), to=frozen(to),
            scale=frozen(scale), extra=frozen(extra), shift=1 if copies == 2 else 0,
            caps=frozen(caps), links=table, link_price=price, link_rest=rest, link_cells=cells,
            link_steps=self._own, first_link=first, offsets=frozen(offsets),
            is_hex=int(lattice.is_hex),
        )  # fmt: skip

    def _cap(self, cap: float) -> float:
        """Return the largest total of a row under a cap of the layer's."""
        if self.is_float:
            return cap * (1 + FLOAT_SLACK)
        return 2 * cap + 1 if self.halves else cap

    def _multipliers(self, parity: int) -> tuple[Array, Array]:
        """Return what `enter` is multiplied by in each direction, and what is then added.

        Alternating: 2m straight and 3m diagonal, in half squares; with the parity as a row of its
        own, 3m + p is then shifted right by one.
        """
        scale, extra = np.ones(8), np.zeros(8)
        n_straight, plain = self.lattice.n_straight, self.plain
        factors = (2, 3) if isinstance(self.diagonal, str) else self.diagonal
        if self.is_alternating and plain > 1:
            # Every weight is 1: a diagonal costs a plain cell, the dear one two.
            factors = (2 * plain, 2 * plain)
            parity *= 2 * plain
        scale[:n_straight], scale[n_straight:] = factors
        if self.copies == 2:
            extra[n_straight:] = parity
        return scale, extra

    def _with_parity(self, steps: Array) -> Array:
        """Return step masks that also say which row set of the offsets a hexagon uses."""
        marked = np.array(steps)
        inner = self._inner(marked)
        bit = np.uint8(1 << kernel.PARITY_BIT)
        if self.lattice.is_flat:
            inner[:, :, 1::2] |= bit
        else:
            inner[:, 1::2] |= bit
        return frozen(marked)

    def _lay_out_links(
        self, links: Sequence[Link], n_rows: int
    ) -> tuple[Array, Array, Array, Array, Array]:
        table: list[tuple[int, int, int, int, int, float, float]] = []
        masks: list[Array] = []
        n_own = 0
        for link in links:
            where = -1
            if link.cells is not None:
                where = len(masks)
                mask = self._stack(link.cells, "cells of a link", np.bool_)
                if len(mask) != 1:
                    raise MapError(f"cells of a link must be one map, not {len(mask)}")
                masks.append(mask[0])
            along = -1 if link.direction is None else link.direction
            own = -1 if link.steps is None else n_own
            n_own += link.steps is not None
            price, rest = (float(x) * (2 if self.halves else 1) for x in (link.ticks, link.rest))
            for parity in range(self.copies):
                source, target = (end * self.copies + parity for end in (link.source, link.target))
                table.append((source, target, along, where, own, price, rest))
        table.sort(key=lambda row: row[0])
        rows = np.array([row[:-2] for row in table], np.int64).reshape(-1, kernel.N_LINK_COLUMNS)
        prices = np.array([row[-2] for row in table], self.number)
        rests = np.array([row[-1] for row in table], self.number)
        first = np.searchsorted(rows[:, 0], np.arange(n_rows + 1)).astype(np.int64)
        cells = np.stack(masks) if masks else np.zeros((0, self.n_cells), bool)
        return frozen(rows), frozen(prices), frozen(rests), frozen(cells), frozen(first)

    def _with_reserves(self, layers: Sequence[Layer], onward: Array) -> kernel.StepArrays:
        """Return the arrays with what must be left to whoever enters an `onward` cell.

        That is the price of the cheapest step out, not over the side or corner of coming in; and,
        where it leads onto such a cell again, what must be left there. Found by going over the
        cells until nothing changes.
        """
        arrays, n = self.arrays, self.lattice.n_directions
        rows = np.array(arrays.rows)
        held = [layers[row // self.copies % len(layers)].onward for row in range(len(rows))]
        # Whoever changes layers on the spot leaves by the steps of another one.
        mine = [row for row, number in enumerate(held) if number >= 0]
        standing = arrays.links[(arrays.links[:, [kernel.DIRECTION, kernel.OWN]] < 0).all(axis=1)]
        others = {int(to) for row, to in standing[:, :2].tolist() if row in mine} - set(mine)
        known = {row: i for i, row in enumerate([*mine, *sorted(others)])}
        rows[mine, kernel.RESERVE] = np.arange(len(mine))
        # Few cells are such: what is known of them has an axis of its own, `at` says where.
        cells = np.flatnonzero(onward.any(axis=0))
        at = np.full(self.n_cells, -1, np.int32)
        at[cells] = np.arange(len(cells))
        bound = np.zeros((len(known), len(cells) + 1), bool)  # the last: any other cell
        for row in mine:
            bound[known[row], :-1] = onward[held[row], cells]
        blank = LARGEST_FLOAT if self.is_float else kernel.MAX_TOTAL
        needed = np.full((len(known), 8, len(cells) + 1), blank, self.number)
        # Where speeds differ, what is left depends on which: the largest total to enter with.
        latest = np.full(needed.shape, -1, self.number)
        ways = {row: list(self._ways_out(row, cells)) for row in known}
        while True:
            before, earlier = needed.copy(), latest.copy()
            for row, some in ways.items():
                for along, left, entered, after, prices in some:
                    there, from_, beyond = known.get(after), at[left], at[entered]
                    for came in range(n):
                        if along is not None and not _not_back(came, n) >> along & 1:
                            continue
                        rest, most = 0 * prices, 0 * prices + min(arrays.caps[after], blank)
                        if there is not None:
                            way = came if along is None else along
                            go_on = bound[there, beyond] | (along is None)
                            rest = np.where(go_on, before[there, way, beyond], rest)
                            kept = np.minimum(earlier[there, way, beyond], most)
                            most = np.where(go_on, kept, most)
                        place, late = needed[known[row], came], latest[known[row], came]
                        place[from_] = np.minimum(place[from_], np.minimum(prices + rest, blank))
                        late[from_] = np.maximum(late[from_], most - prices)
            if np.array_equal(before, needed) and np.array_equal(earlier, latest):
                break
        n_mine = len(mine)
        reserve = np.where(bound[:n_mine, None], needed[:n_mine], 0)
        latest = np.where(bound[:n_mine, None], latest[:n_mine], blank)
        return arrays._replace(
            rows=frozen(rows), reserve=frozen(reserve), latest=frozen(latest), onward=frozen(at)
        )

    def _ways_out(
        self, row: int, where_from: Array
    ) -> Iterator[tuple[int | None, Array, Array, int, Array]]:
        """List the ways out of some cells of a row: direction, cells, beyond, row after, prices."""
        arrays = self.arrays
        everywhere = np.ones(self.n_cells, bool)
        own_steps = (
            arrays.steps[arrays.rows[row, kernel.STEPS]] & arrays.rows[row, kernel.DIRECTIONS]
        )
        masks: list[tuple[int, Array, Any]] = [(row, own_steps, 0)]
        first, last = arrays.first_link[row], arrays.first_link[row + 1]
        for link in range(first, last if arrays.rows[row, kernel.DIRECTIONS] else first):
            _, target, along, where, own = arrays.links[link].tolist()
            allowed = arrays.link_cells[where] if where >= 0 else everywhere
            price = arrays.link_price[link]
            if own < 0 and along < 0:
                cells = where_from[allowed[where_from]]
                yield None, cells, cells, target, np.full(len(cells), price, self.number)
                continue
            if own >= 0:
                mask = arrays.link_steps[own]
            else:
                mask = arrays.steps[arrays.rows[target, kernel.STEPS]] & (1 << along)
            masks.append((target, np.where(allowed, mask, np.uint8(0)), price))
        for base, mask, price in masks:
            for along in range(self.lattice.n_directions):
                cells = where_from[((mask[where_from] >> along) & 1).astype(bool)]
                if not len(cells):
                    continue
                parity = (arrays.steps[0, cells] >> kernel.PARITY_BIT) & arrays.is_hex
                beyond = cells + arrays.offsets[parity, along]
                entered = arrays.enter[arrays.entry[base, along], beyond]
                prices = arrays.scale[base, along] * entered + arrays.extra[base, along]
                prices = prices if self.is_float else prices >> arrays.shift
                prices = prices + price
                for column, stack in ((kernel.LEAVE, arrays.leave), (kernel.BORDER, arrays.border)):
                    number = arrays.rows[base, column]
                    if number >= 0:
                        paid = stack[number, cells]
                        prices = prices + (paid if paid.ndim == 1 else paid[:, along])
                yield along, cells, beyond, int(arrays.to[base, along]), prices

    # -- parts made anew ------------------------------------------------------------------------

    def patched(self, patches: Sequence[Patch]) -> Graph | None:
        """Return the graph with other arrays in parts of the map.

        None where it would have to be laid out otherwise: where half squares no longer do.
        """
        for patch in patches:
            enter = patch.stacks["enter"]
            is_bound = self.halves and self.parity != "carry" and self.lattice.n_directions == 8
            if is_bound and enter is not None and (enter % 2 == 0).any():
                return None
        changed: dict[str, Array] = {}
        for name in ("steps", "enter", "leave", "border", "stop"):
            changed[name] = self._patched(name, [(p.corner, p.stacks[name]) for p in patches])
        for name in ("link_cells", "link_steps"):
            parts = [(p.corner, p.cells if name == "link_cells" else p.steps) for p in patches]
            changed[name] = self._patched(
                name, [(corner, np.stack(some) if some else None) for corner, some in parts]
            )
        graph = copy.copy(self)
        graph.arrays = self.arrays._replace(**changed)
        graph.least = self._least_entry(graph.arrays.enter)
        graph.per_bucket, graph.slots = graph._queue()
        if self.lattice.n_directions == 8 and not self.has_diagonals:
            graph.has_diagonals = bool((changed["steps"] & 0xF0).any())
        return graph

    def _patched(self, name: str, parts: Sequence[tuple[Cell, Array | None]]) -> Array:
        """Return a stack with parts of its maps replaced; the stack itself if nothing differs."""
        old: Array = getattr(self.arrays, name)
        new: Array | None = None
        height, width = self.shape
        for (row, col), part in parts:
            if part is None:
                continue
            if self.halves and name in ("leave", "border"):
                part = part * 2
            rows = slice(row + 1, row + 1 + part.shape[1])
            cols = slice(col + 1, col + 1 + part.shape[2])
            inner = (slice(None), rows, cols)
            shape = (len(old), height + 2, width + 2, *old.shape[2:])
            if name == "steps" and self.lattice.is_hex:
                part = part | old.reshape(shape)[inner] & np.uint8(1 << kernel.PARITY_BIT)
            if new is None:
                if np.array_equal(old.reshape(shape)[inner], part):
                    continue
                new = np.array(old)
            new.reshape(shape)[inner] = part
        return old if new is None else frozen(new)

    # -- half squares and parities --------------------------------------------------------------

    def told_apart(self, layers: Sequence[Layer], links: Sequence[Link]) -> Graph:
        """Return the graph with the parity as rows of its own where it counts in half squares."""
        if not self.halves:
            return self
        old = self.arrays
        bound = [(i, layer.onward) for i, layer in enumerate(layers) if layer.onward >= 0]
        onward = np.zeros((1 + max((n for _, n in bound), default=-1), self.n_cells), bool)
        where = np.flatnonzero(old.onward >= 0)
        for layer, number in bound:
            kept = old.reserve[old.rows[layer, kernel.RESERVE]].any(axis=0)
            onward[number, where] = kept[old.onward[where]]
        # Of the arrays, since they may have been patched since the links were given.
        cells, steps = iter(self._inner(old.link_cells)), iter(self._inner(old.link_steps))
        links = [
            replace(
                link,
                cells=None if link.cells is None else next(cells),
                steps=None if link.steps is None else next(steps),
            )
            for link in links
        ]
        graph = copy.copy(self)
        graph.halves, graph.copies, graph._own = False, 2, old.link_steps
        leave, border = frozen(old.leave >> 1), frozen(old.border >> 1)
        stacks = Stacks(old.steps, old.enter, leave, border, old.stop, old.halt, onward)
        graph.arrays = graph._lay_out(layers, links, stacks)
        if bound:
            graph.arrays = graph._with_reserves(layers, onward)
        graph._check_states()
        graph.per_bucket, graph.slots = graph._queue()
        return graph

    def _check_states(self) -> None:
        if len(self.arrays.rows) * self.n_cells >= 2**31:
            raise MapError("the map has too many cells and layers: states must stay below 2**31")

    # -- queues ---------------------------------------------------------------------------------

    def _least_entry(self, enter: Array) -> float:
        """Return a lower bound of the price to enter any cell that can be entered."""
        inner = self._inner(enter)
        if self.is_float:
            usable = inner[(inner > 0) & np.isfinite(inner)]
            return float(usable.min()) if usable.size else 1.0
        return max(1, int(inner.min()))

    def heuristic(self) -> tuple[Any, Any]:
        """Return the least price of a straight and of a diagonal step, before the shift."""
        straight, diagonal = self.arrays.scale[0, 0], self.arrays.scale[0, -1]
        if self.has_diagonals:
            straight = min(straight, diagonal)
            diagonal = min(diagonal, 2 * straight)
        else:
            diagonal = 2 * straight
        return straight * self.least, diagonal * self.least

    def _queue(self) -> tuple[Any, int]:
        """Return buckets a unit of total, and how many slots any search needs (0: the heap).

        With a heuristic a key may rise by twice the dearest step, so that many keys are alive.
        """
        arrays = self.arrays
        enter = arrays.enter[np.isfinite(arrays.enter)] if self.is_float else arrays.enter
        dearest = float(enter.max(initial=0)) * float(arrays.scale.max()) + 1
        for stack in (arrays.leave, arrays.border, arrays.link_price):
            dearest += float(stack.max(initial=0))
        per_bucket: Any = 1
        if self.is_float:
            # Whatever leaves the lowest bucket is final only if every price is wider than it.
            moving = (arrays.links[:, [kernel.DIRECTION, kernel.OWN]] >= 0).any(axis=1)
            standing = arrays.link_price[~moving]
            least = min(self.least * float(arrays.scale.min()), standing.min(initial=math.inf))
            if least <= 0:
                return 0.0, 0
            per_bucket = 1 / (0.99 * least)
        span = 2 * dearest * per_bucket + 4
        if span > (MAX_FLOAT_SLOTS if self.is_float else MAX_INT_SLOTS):
            return per_bucket, 0
        return per_bucket, 1 << math.ceil(math.log2(span))


def _not_back(direction: int, n_directions: int) -> int:
    """Return, as bits, the directions not back over the side or corner of coming in."""
    if n_directions == 6:
        return 0x3F ^ 1 << (direction + 3) % 6
    if direction < 4:
        return 0xFF ^ 1 << (direction + 2) % 4
    one, other = (direction - 4 + 2) % 4, (direction - 4 + 3) % 4
    return 0xFF ^ (1 << one | 1 << other | 1 << 4 + one)


def _bits(entries: Sequence[int], number: int) -> np.uint8:
    """Return the directions that enter by one array, as a mask."""
    return np.uint8(sum(1 << k for k, index in enumerate(entries) if index == number))


def _check_diagonal(diagonal: tuple[float, float] | str, parity: str) -> None:
    if isinstance(diagonal, str):
        if diagonal not in ("alternating", "alternating-2"):
            raise RulesError(
                f"unknown diagonal {diagonal!r}; expected 'alternating', 'alternating-2' or "
                "a pair of numbers"
            )
    elif len(diagonal) != 2 or not all(0 < factor <= MAX_FACTOR for factor in diagonal):
        raise RulesError(
            f"diagonal must be a pair of numbers above 0, at most {MAX_FACTOR}, not {diagonal!r}"
        )
    if parity not in ("advances", "carry"):
        raise RulesError(f"parity must be 'advances' or 'carry', not {parity!r}")


def _check_dtype(array: Array, name: str, dtype: Any) -> None:
    if dtype is np.bool_:
        if array.dtype != np.bool_:
            raise MapError(f"{name} must be an array of bool, not {array.dtype}")
        return
    if dtype is np.float64:
        if array.dtype.kind not in "iuf":
            raise MapError(f"{name} must be an array of numbers, not {array.dtype}")
        if name in ("leave", "border"):
            _check_range(array, name, LARGEST_FLOAT)
        return
    if array.dtype.kind not in "iu":
        raise MapError(f"{name} must be an array of whole numbers, not {array.dtype}")
    if array.dtype != dtype:
        _check_range(array, name, int(np.iinfo(dtype).max))


def _check_range(array: Array, name: str, most: float) -> None:
    wrong = ~((array >= 0) & (array <= most))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise CostError(
            f"{name} must lie between 0 and {most} ticks; at cell ({place[1]}, {place[2]}) it is "
            f"{array[place]}"
        )


def _check_layers(
    layers: Sequence[Layer], stacks: Stacks, n_directions: int, is_float: bool
) -> None:
    if not layers:
        raise MapError("a field needs at least one layer")
    for number, layer in enumerate(layers):
        for name in ("steps", "leave", "border", "stop", "halt", "onward"):
            index, n = getattr(layer, name), len(getattr(stacks, name))
            optional = name in ("leave", "border", "halt", "onward")
            if not ((optional and index == -1) or 0 <= index < n):
                raise MapError(f"layer {number} uses {name} {index}, and there are {n}")
        entries, n = layer.entries(n_directions), len(stacks.enter)
        if len(entries) != n_directions:
            raise MapError(
                f"layer {number} enters by {len(entries)} arrays, and there are {n_directions} "
                "directions"
            )
        for index in entries:
            if not 0 <= index < n:
                raise MapError(f"layer {number} uses enter {index}, and there are {n}")
        cap = layer.cap
        whole = is_float or cap is None or float(cap).is_integer()
        if cap is not None and not (0 <= cap < NO_CAP // 4 and whole):
            raise CostError(f"the cap of layer {number} must be 0 or more whole ticks, not {cap}")


def _check_links(
    links: Sequence[Link], layers: Sequence[Layer], lattice: Lattice, is_float: bool
) -> None:
    if len(links) > 8000:
        raise MapError(f"a field may have 8,000 links, not {len(links)}")
    for number, link in enumerate(links):
        for end in (link.source, link.target):
            if not 0 <= end < len(layers):
                raise MapError(f"link {number} names layer {end}, and there are {len(layers)}")
        if link.direction is not None and not 0 <= link.direction < lattice.n_directions:
            raise MapError(
                f"link {number} has direction {link.direction}; directions run from 0 to "
                f"{lattice.n_directions - 1}"
            )
        if link.direction is not None and link.steps is not None:
            raise MapError(f"link {number} has both a direction and masks of its own")
        if not 0 <= link.rest < LARGEST_FLOAT:
            raise CostError(f"the rest of link {number} must be 0 or more, not {link.rest}")
        if not 0 <= link.ticks < LARGEST_FLOAT:
            raise CostError(f"the ticks of link {number} must be 0 or more, not {link.ticks}")
        if not is_float and not (float(link.ticks).is_integer() and link.ticks <= MAX_TICKS):
            raise CostError(
                f"the ticks of link {number} must be whole, at most {MAX_TICKS}, not {link.ticks}"
            )


def _doubled(array: Array, name: str) -> Array:
    if array.size and array.max() > MAX_TICKS // 2:
        raise CostError(f"{name} must be at most {MAX_TICKS // 2} ticks where diagonals alternate")
    return frozen(array * np.uint16(2))

"""The movement graph of one creature, `StepField`, and its queries.

Rules compile a board into these arrays once; every search then runs on them. A field does not
know games: cells, prices, layers and links are all there is.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token, as_cell
from fieldcraft.errors import (
    ArgumentTypeError,
    ClosedCellError,
    CostError,
    FieldcraftError,
    MapError,
)
from fieldcraft.frozen import Frozen, frozen
from fieldcraft.graph import FLOAT_SLACK, LARGEST_FLOAT, NO_CAP, Graph, Layer, Link, Patch
from fieldcraft.kernel_arrays import reach_arrays, reach_scratch
from fieldcraft.lattice import Cell, Lattice, as_lattice
from fieldcraft.path import Path, Step, no_path
from fieldcraft.plain import Page, PlainSearcher
from fieldcraft.queries import Batch, cells_of, checked_cells, on_map, spread
from fieldcraft.reach import Reach, Speeds, WrittenReach
from fieldcraft.reaches import Reaches
from fieldcraft.safest import SafestReach
from fieldcraft.searching import NO_LINKS, Searcher, Settled, Way
from fieldcraft.uniform import Uniform
from fieldcraft.units import exact, quantity
from fieldcraft_kernel.inside import ReachArrays, ReachScratch
from fieldcraft_kernel.steps import SOURCE, STOP

__all__ = ["Explainer", "Part", "StepField", "Within", "within"]

Array = npt.NDArray[Any]
ROUNDING = Fraction(1, 10**12)
PLAIN_NUMBERS = (int, float, Fraction)
MOST_STATES = (1 << 32) - 1
FEW = 8
"""Searches of a batch that are worth a thread's while."""
MAX_LIMITS = 256
"""Budgets of which a field remembers what they are in ticks."""


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


class StepField(Frozen):
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
    plain : int
        Where diagonals alternate, ticks of a cell of weight 1; if more than 1, every weight is 1.
    onward : ndarray of bool, shape (height, width) or (n, height, width), optional
        Cells that nobody enters who has not enough left to step out again, not over the side or
        corner of coming in.
    home : int
        Layer in which a movement begins where no other is named.
    seats : sequence of (int, ndarray of bool of shape (height, width))
        Layers in which a movement begins instead, and where: in all that have the cell.
    stay : ndarray of bool, shape (height, width), optional
        Whether a movement may end where it began; by `stop` if absent.

    Raises
    ------
    MapError, CostError, RulesError
        If an array has the wrong shape, dtype or value, or a layer or link names what is not
        there.
    """

    _has_labels = True
    """Whether it is worth knowing what hangs together; see `_may_lead`."""
    _quick: tuple[Any, ...] | None = None
    """What `_ready` returns; made at the first search, and not kept in pickles."""

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
        plain: int = 1,
        onward: Array | None = None,
        home: int = 0,
        seats: Sequence[tuple[int, npt.NDArray[np.bool_]]] = (),
        stay: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        height, width = shape
        if height < 1 or width < 1:
            raise MapError(f"a map needs at least one cell; its shape is {shape}")
        self.lattice = lattice = as_lattice(lattice)
        self.shape = (int(height), int(width))
        self.layers = tuple(layers) if layers is not None else (_only_layer(leave, border, halt),)
        self.links = tuple(links)
        self.diagonal = diagonal
        self.parity = parity
        self.unit = unit
        self.explainer = explainer
        if not 0 <= home < len(self.layers):
            raise MapError(f"home {home!r} is not one of the layers 0 to {len(self.layers) - 1}")
        self.home = home
        self.seats = tuple(
            (self._seat(layer), self._flags(cells, "seats")) for layer, cells in seats
        )
        self.stay = None if stay is None else self._flags(stay, "stay")
        self.is_shared = False
        self._ticks = exact(ticks, "ticks")
        if self._ticks <= 0:
            raise CostError(f"ticks must be above 0, not {ticks}")
        if closed is not None and np.shape(closed) != self.shape:
            raise MapError(f"closed has shape {np.shape(closed)}, the map has {self.shape}")
        self._closed = None if closed is None else frozen(np.array(closed, bool))
        self._graph = Graph(
            lattice, self.shape, self.layers, self.links, steps=steps, enter=enter, leave=leave,
            border=border, stop=stop, halt=halt, diagonal=diagonal, parity=parity, plain=plain,
            onward=onward,
        )  # fmt: skip
        self._searcher = Searcher(self._graph, self._ticks)

    def _seat(self, layer: int) -> int:
        if not 0 <= layer < len(self.layers):
            raise MapError(f"a seat in layer {layer!r}, not in 0 to {len(self.layers) - 1}")
        return layer

    def _flags(self, array: Any, name: str) -> npt.NDArray[np.bool_]:
        flags = np.asarray(array)
        if flags.shape != self.shape or flags.dtype != np.bool_:
            raise MapError(
                f"{name} must be bool of shape {self.shape}, not {flags.dtype} of {flags.shape}"
            )
        return frozen(np.array(flags))

    @property
    def is_float(self) -> bool:
        """Whether prices are floats rather than whole ticks."""
        return self._graph.is_float

    @property
    def _uniform(self) -> Uniform:
        """What can be done where steps cost the same, with its tables; of the graph as it is."""
        known: Uniform | None = self.__dict__.get("_tables")
        if known is None or known.graph is not self._graph:
            known = self.__dict__["_tables"] = Uniform(self._graph)
        return known

    @property
    def ticks(self) -> Fraction:
        """Ticks in one unit of cost."""
        return self._ticks

    # -- other tokens ---------------------------------------------------------------------------

    def update(
        self, tokens: Iterable[Token], *, inplace: bool = False, has_mover: bool = True
    ) -> StepField:
        """Return the field with other tokens on the map, compiled again only where they matter.

        The mover is left out of them, wherever it stands now. Everything else stays: map, creature,
        rules.

        Parameters
        ----------
        tokens : iterable of Token
            Give those that are otherwise equal names of their own, or the first is the mover.
        inplace : bool
            Whether this field becomes the new one: only for a field that nobody else holds, no
            board and no reach.
        has_mover : bool
            False where the mover is not among the tokens.

        Returns
        -------
        StepField
            Equal to a field compiled afresh; this field itself where nothing differs.

        Raises
        ------
        FieldcraftError
            If the field was made from bare arrays, where nobody stands, or is to be updated in
            place and belongs to a board.
        """
        renew = getattr(self.explainer, "update", None)
        if renew is None:
            raise FieldcraftError("only a field that rules compiled from a map knows of tokens")
        if inplace and self.is_shared:
            raise FieldcraftError("this field belongs to a board; update it without inplace")
        try:
            others = list(tokens)
        except TypeError:
            raise ArgumentTypeError(f"tokens must be several Token, not {tokens!r}") from None
        for other in others:
            if not isinstance(other, Token):
                raise ArgumentTypeError(f"tokens must be Token, not {other!r}")
        field: StepField = renew(self, others, has_mover)
        if not inplace:
            return field
        self.__dict__.update(field.__dict__)
        return self

    def patched(self, patches: Sequence[Patch], explainer: Explainer) -> StepField | None:
        """Return the field with other arrays in parts of the map, or None where it cannot be."""
        graph = self._graph.patched(patches)
        if graph is None:
            return None
        field = copy.copy(self)
        searcher = Searcher(graph, self._ticks, self._searcher, [patch.rows for patch in patches])
        field.__dict__.update(
            _graph=graph, _searcher=searcher, explainer=explainer, _quick=None, _has_labels=False
        )
        seats = [(layer, np.array(mask)) for layer, mask in self.seats]
        stay = None if self.stay is None else np.array(self.stay)
        for patch in patches:
            row, col = patch.corner
            for (_, mask), part in zip(seats, patch.seats, strict=True):
                mask[row : row + part.shape[0], col : col + part.shape[1]] = part
            if stay is not None and patch.stay is not None:
                part = patch.stay
                stay[row : row + part.shape[0], col : col + part.shape[1]] = part
        kept = tuple((layer, frozen(mask)) for layer, mask in seats)
        stay = None if stay is None else frozen(stay)
        field.__dict__.update(seats=kept, stay=stay, is_shared=False)
        return field

    # -- compiled code of one's own -------------------------------------------------------------

    def kernel_arrays(self) -> ReachArrays:
        """Return the field as plain arrays, for `fieldcraft_kernel.inside` in code of your own.

        Returns
        -------
        ReachArrays
            A named tuple that functions compiled with Numba take, of arrays closed to writing:
            any number of threads may read them. It does not follow `update`: that gives a field
            with arrays of its own.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> from fieldcraft_kernel import inside
        >>> field = fc.grid.field([[1, 2, 1]])
        >>> arrays, scratch = field.kernel_arrays(), field.kernel_scratch()
        >>> n = inside.reach(arrays, scratch, 0, 0, 2.0)
        >>> scratch.cells[:n].tolist(), scratch.cost[:n].tolist()
        ([[0, 0], [0, 1]], [0.0, 2.0])
        """
        return reach_arrays(self)

    def kernel_scratch(self) -> ReachScratch:
        """Return new memory for `fieldcraft_kernel.inside.reach` to work in, for one thread.

        It holds the answer of the last call and the cells that are closed; it serves every field
        that is laid out alike, as those of `update` mostly are.

        Returns
        -------
        ReachScratch
        """
        return reach_scratch(self._searcher)

    # -- cells and states -----------------------------------------------------------------------

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
        rows, cells = np.divmod(states.astype(np.int64), self._graph.n_cells)
        return cells, rows

    def may_stop(self, rows: Array, cells: Array) -> npt.NDArray[np.bool_]:
        """Tell for each (row, padded cell) whether a movement may end there."""
        arrays = self._graph.arrays
        stop: npt.NDArray[np.bool_] = arrays.stop[arrays.rows[rows, STOP], cells]
        return stop

    def may_end(self, states: Array, starts: Array) -> npt.NDArray[np.bool_]:
        """Tell for each state whether a movement from some starts may end in it."""
        cells, rows = self.split_states(states)
        ends = self.may_stop(rows, cells)
        if self.stay is not None:
            begun = np.flatnonzero(np.isin(states, starts))
            where = self.to_cells(cells[begun])
            ends[begun] |= self.stay[where[:, 0], where[:, 1]]
        return ends

    def to_cost(self, totals: Array) -> npt.NDArray[np.float64]:
        """Return totals in ticks (or half ticks) as costs in the field's unit."""
        costs: npt.NDArray[np.float64] = self.in_units(self.whole(totals).astype(np.float64))
        return costs

    def whole(self, totals: Array) -> Array:
        """Return totals in ticks where they may be in half ticks."""
        return totals >> 1 if self._graph.halves else totals

    def in_units(self, ticks: Any) -> Any:
        """Return ticks in the field's unit: one multiplication, one division, no more rounding."""
        return ticks * float(self._ticks.denominator) / float(self._ticks.numerator)

    def parity_of(self, rows: Array, totals: Array) -> npt.NDArray[np.int8]:
        """Return the diagonals made so far, modulo 2, of states."""
        graph = self._graph
        if not graph.is_alternating:
            return np.zeros(len(rows), np.int8)
        dear = totals & 1 if graph.halves else self.next_is_dear(rows)
        return (dear ^ graph.flip).astype(np.int8)

    def next_is_dear(self, rows: Array) -> Array:
        """Tell by row whether the next diagonal is the dear one, where rows tell that apart."""
        return rows & 1 if self._graph.copies == 2 else np.zeros_like(rows)

    def layer_of(self, row: int) -> int:
        """Return the layer that a row of the graph belongs to."""
        return row // self._graph.copies % len(self.layers)

    def layers_of(self, states: Array) -> npt.NDArray[np.int64]:
        """Return the layers of states."""
        _, rows = self.split_states(states)
        return rows // self._graph.copies % len(self.layers)

    def places_of(self, states: Array) -> npt.NDArray[np.int64]:
        """Return numbers of (layer, cell): what is left of a state when a new movement begins."""
        cells, _ = self.split_states(states)
        return self.layers_of(states) * self._graph.n_cells + cells

    def legal_steps(self, layer: int | None = None) -> npt.NDArray[np.uint8]:
        """Return the legal steps of a layer, shape (height, width), bit k for direction k.

        Of the layer in which a movement begins, if none is named.
        """
        stacked = self.layers[self.home if layer is None else layer].steps
        every = np.uint8((1 << self.lattice.n_directions) - 1)
        height, width = self.shape
        padded = self._graph.arrays.steps[stacked].reshape(height + 2, width + 2)
        legal: npt.NDArray[np.uint8] = padded[1:-1, 1:-1] & every
        return legal

    # -- amounts --------------------------------------------------------------------------------

    def to_ticks(self, value: Any, what: str = "budget", *, whole: bool = False) -> Any:
        """Return an amount in the field's unit as ticks; None means no limit.

        Raises
        ------
        CostError
            If it is negative, not a number, or (with `whole`) no whole number of ticks.
        """
        amount = quantity(value, what)
        if amount.unit not in ("", "pt", "sq") and (amount.unit, self.unit) != ("m", "metres"):
            raise CostError(
                f"{what} {value!r} is a length; this field counts {self.unit or 'plain numbers'}"
            )
        if amount.value is None:
            return None
        if self.is_float:
            return float(min(amount.value * self._ticks, Fraction(LARGEST_FLOAT)))
        ticks = amount.value * self._ticks
        # A cost reported by a field may be a hair away from the tick it stands for.
        nearest = round(ticks)
        if abs(ticks - nearest) <= max(1, nearest) * ROUNDING:
            ticks = Fraction(nearest)
        if whole and ticks.denominator != 1:
            raise CostError(
                f"{what} {value} is no whole number of ticks; one tick is {1 / self._ticks}"
            )
        return min(ticks.numerator // ticks.denominator, NO_CAP // 4)

    def _limit(self, budget: Any) -> tuple[Any, float]:
        """Return the largest total a search may reach, and the budget to show."""
        ticks = self.to_ticks(budget)
        largest = self._graph.largest
        if ticks is None:
            return largest, math.inf
        shown = float(self.in_units(ticks))
        if self.is_float:
            return min(ticks * (1 + FLOAT_SLACK), largest), shown
        return min(2 * ticks + 1 if self._graph.halves else ticks, largest), shown

    def _layers_at(self, cell: Cell) -> list[int]:
        """Return the layers in which a movement from a cell begins."""
        return [layer for layer, mask in self.seats if mask[cell]] or [self.home]

    def seeds(
        self, start: Any, initial: Any = None, parity: int = 0, layer: int | None = None
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Return start states, rising and each once, and their initial totals."""
        if isinstance(parity, float) or parity not in (0, 1):
            raise CostError(
                f"parity must be 0 or 1 (diagonals made so far, modulo 2), not {parity!r}"
            )
        if layer is not None and not isinstance(layer, int | np.integer):
            raise ArgumentTypeError(f"layer must be a whole number, not {layer!r}")
        if layer is not None and not 0 <= layer < len(self.layers):
            raise MapError(f"layer {layer} is not one of 0 to {len(self.layers) - 1}")
        cells = cells_of(start, self.shape, "start")
        if self._closed is not None:
            for row, col in cells:
                if self._closed[row, col]:
                    raise ClosedCellError(f"start ({row}, {col}) is a closed cell")
        totals = self._initial(initial, len(cells))
        places = [[layer] if layer is not None else self._layers_at(cell) for cell in cells]
        if any(len(some) > 1 for some in places):
            totals = np.repeat(totals, [len(some) for some in places])
            cells = [cell for cell, some in zip(cells, places, strict=True) for _ in some]
        layers = np.array([one for some in places for one in some], np.int64)
        return self.states_at(layers, np.array([self.padded(c) for c in cells]), totals, parity)

    def states_at(
        self, layers: Array, cells: Array, totals: Array, parity: int = 0
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Return states in layers and padded cells, rising and each once, and their totals.

        Totals go in as ticks and come out as the search counts them; of a state that comes more
        than once the least counts.
        """
        graph = self._graph
        rows = layers * graph.copies
        if graph.is_alternating:
            next_is_dear = parity ^ graph.flip
            if graph.halves:
                totals = 2 * totals + next_is_dear
                if totals.max() > graph.largest:
                    raise CostError(
                        "an initial cost is too large to count where diagonals alternate"
                    )
            else:
                rows += next_is_dear
        states, totals = _each_once(rows * graph.n_cells + cells, totals)
        return states, totals

    def _initial(self, initial: Any, n: int) -> Array:
        """Return what each of n starts has cost already, in ticks."""
        totals = np.zeros(n, self._graph.number)
        if initial is None:
            return totals
        given = np.asarray(initial, dtype=object).reshape(-1)
        if len(given) != n:
            raise CostError(f"initial has {len(given)} costs for {n} starts")
        for i, value in enumerate(given):
            ticks = self.to_ticks(value, "initial cost", whole=True)
            if ticks is None or ticks > self._graph.largest:
                raise CostError(f"an initial cost must be finite and fit the totals, not {value}")
            totals[i] = ticks
        return totals

    # -- questions ------------------------------------------------------------------------------

    def reach(
        self,
        start: Any,
        budget: Any = None,
        *,
        parity: int = 0,
        initial: Any = None,
        layer: int | None = None,
        rest: str = "",
        speeds: Speeds = (),
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
        layer : int, optional
            Layer to start in; the field's own choice if absent (see `home` and `seats`).
        rest : str
            What to report as `Reach.rest`.
        speeds : sequence of (str, int or float or None)
            What `Reach.left_at` reports of: ways of moving and the ticks of each, None without
            limit. They bound nothing here; that is what the caps of the layers are for.

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
        if initial is None and layer is None:
            one = start
            if type(start) is not tuple:
                cells = cells_of(start, self.shape, "start")
                one = cells[0] if len(cells) == 1 else ()
            found = self._plain_reach(one, budget, parity)
            if found is not None:
                if rest or speeds:
                    found.rest, found._speeds = rest, tuple(speeds)
                return found
        starts, totals = self.seeds(start, initial, parity, layer)
        limit, shown = self._limit(budget)
        settled, expanded = self._searcher.flood(starts, totals, limit)
        return Reach(
            self, settled, starts, totals,
            budget=shown, expanded=expanded, rest=rest, speeds=speeds,
        )  # fmt: skip

    def _plain_reach(self, start: tuple[Any, ...], budget: Any, parity: Any) -> Reach | None:
        """Return the reach from one plain cell of a plain graph.

        Made for speed: None where anything is out of the ordinary, faults included.
        """
        row, col = start if len(start) == 2 else (None, None)
        height, width = self.shape
        if not (type(row) is int and type(col) is int and 0 <= row < height and 0 <= col < width):
            return None
        ready = self._begun(row, col, budget, parity)
        if ready is None:
            return None
        plain, state, total, limit, shown = ready
        stay = 0 if self.stay is None else int(self.stay.item(row, col))
        found = plain.reach(state, total, stay, limit)
        if found is None:
            return None
        if len(found) == 4:
            return WrittenReach(self, found, (state, total), shown)
        starts, initial = np.array([state], np.int64), np.array([total], np.int64)
        settled = (*found, NO_LINKS)
        return Reach(self, settled, starts, initial, budget=shown, expanded=len(found[0]))

    def _begun(
        self, row: int, col: int, budget: Any, parity: Any
    ) -> tuple[PlainSearcher, int, int, int, float] | None:
        """Return what searches, the state and total in which it begins, its limit, and the budget.

        None where the graph is not plain, or anything is out of the ordinary, faults included.
        """
        ready = self._quick
        if ready is None:
            ready = self._quick = self._ready()
        plain, limits, closed, parities = ready
        if plain is None or not (parity == 0 or (type(parity) is int and parity == 1)):
            return None
        if closed is not None and closed(row, col):
            return None
        known = limits.get(budget) if type(budget) in PLAIN_NUMBERS else None
        if known is None:
            limit, shown = self._limit(budget)
            known = plain.bound(limit), shown
            if type(budget) in PLAIN_NUMBERS and len(limits) < MAX_LIMITS:
                limits[budget] = known
        state, total = (row + 1) * (self.shape[1] + 2) + col + 1, 0
        if parities is not None:
            shift, total = parities[parity]
            state += shift
        return plain, state, total, *known

    def _plain_path(
        self,
        start: Cell,
        goal: tuple[Any, ...],
        budget: Any,
        parity: Any,
        must_stop: int,
        guided: int,
    ) -> Path | None:
        """Return the path between two plain cells of a plain graph; see `_plain_reach`."""
        row, col = goal if len(goal) == 2 else (None, None)
        height, width = self.shape
        if not (type(row) is int and type(col) is int and 0 <= row < height and 0 <= col < width):
            return None
        ready = self._begun(*start, budget, parity)
        if ready is None or start == goal:
            return None
        plain, state, total, limit, _ = ready
        there = (row + 1) * (width + 2) + col + 1
        if not self._may_lead(self.padded(start), [there]):
            return no_path(0, self.unit)
        written = plain.path_between(state, total, there, limit, must_stop, guided)
        return None if written is None else self._path_on(*written)

    def _ready(self) -> tuple[Any, ...]:
        """Return what the start of a search of a plain graph needs, at hand.

        What searches (None where it does not apply), known budgets, whether a cell is closed, and
        by parity what that adds to the state and to the total.
        """
        graph = self._graph
        parities = None
        if graph.is_alternating:
            dear = [parity ^ graph.flip for parity in (0, 1)]
            parities = [(0, one) if graph.halves else (one * graph.n_cells, 0) for one in dear]
        plain = None if self.seats else self._searcher.plain
        return plain, {}, None if self._closed is None else self._closed.item, parities

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_quick"}

    def unlike(self, other: StepField) -> str:
        """Return in what another field is laid out differently; empty where it is not."""
        same = {
            "lattice": self.lattice == other.lattice,
            "shape": self.shape == other.shape,
            "layers": [one.name for one in self.layers] == [one.name for one in other.layers],
            "unit": (self.ticks, self.is_float) == (other.ticks, other.is_float),
            "diagonals": (self.diagonal, self.parity) == (other.diagonal, other.parity),
        }
        return ", ".join(what for what, is_same in same.items() if not is_same)

    def keeps(self, source: StepField) -> bool:
        """Return whether a search of `source` settles all that one here has to go on from.

        One label a cell in half squares is exact only where no weight is even (PF-02).
        """
        return self.parity == "carry" or not source._graph.halves or self._graph.copies == 1

    def told_apart(self) -> StepField:
        """Return the field with the parity of diagonals as rows of the search."""
        graph = self._graph.told_apart(self.layers, self.links)
        field = copy.copy(self)
        field.__dict__.update(_graph=graph, _searcher=Searcher(graph, self._ticks), _quick=None)
        return field

    def carried(
        self, source: StepField, states: Array, totals: Array
    ) -> tuple[npt.NDArray[np.int64], Array, Array]:
        """Return states of a field of the same layout as states of this one.

        Returns
        -------
        states : ndarray of int64, shape (n,)
            Rising and each once.
        totals : ndarray, shape (n,)
            The least total of each.
        before : ndarray of int64, shape (n,)
            The state of `source` that each was.

        Raises
        ------
        MapError
            If somebody was halted, and this field has no way to tell that.
        """
        old, new = source._graph, self._graph
        cells, rows = source.split_states(states)
        halted, rows = np.divmod(rows, len(self.layers) * old.copies)
        if halted.any() and len(new.arrays.rows) == len(self.layers) * new.copies:
            raise MapError("somebody was halted, and the field to go on with halts nobody")
        layers, dear = np.divmod(rows, old.copies)
        totals = totals.astype(new.number)
        if old.halves:
            totals, dear = totals >> 1, totals & 1
        if new.halves:
            totals = 2 * totals + dear
            if len(totals) and totals.max() > new.largest:
                raise CostError("a total is too large to count where diagonals alternate")
        rows = (halted * len(self.layers) + layers) * new.copies
        if new.copies == 2:
            rows += dear
        found, totals, before = _each_once(
            rows * new.n_cells + cells, totals, states.astype(np.int64)
        )
        return found, totals, before

    def reach_from(self, states: Array, totals: Array, budget: Any = None, **options: Any) -> Reach:
        """Return what is reached from states that have spent their totals; see `Reach`.

        Who has spent more than the budget stays where it is.
        """
        limit, shown = self._limit(budget)
        settled, expanded = self._searcher.flood(states, totals, limit)
        spent = totals > limit
        if spent.any():
            spent &= ~np.isin(states, settled[0])
            vias = np.zeros(spent.sum() if len(self._graph.arrays.links) else 0, np.int16)
            stay = zip(settled, (states[spent], totals[spent], vias), strict=True)
            known, spent_by, links = (
                np.concatenate([old, new.astype(old.dtype)]) for old, new in stay
            )
            settled = known, spent_by, links
        return Reach(self, settled, states, totals, budget=shown, expanded=expanded, **options)

    def distances(
        self,
        starts: Any,
        *,
        budget: Any = None,
        parity: int = 0,
        initial: Any = None,
        layer: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return the least total to every cell, shape (height, width), infinite where no way leads.

        Parameters and errors are those of `reach`.
        """
        seeds, totals = self.seeds(starts, initial, parity, layer)
        limit, _ = self._limit(budget)
        if initial is None:
            scale = float(self._ticks.denominator), float(self._ticks.numerator)
            found = self._uniform.distances(self.to_cells(seeds), limit, *scale)
            if found is not None:
                return found
        searcher = self._searcher
        if searcher.plain is not None:
            costs = searcher.plain.costs(seeds, totals, limit, self.shape)
            if costs is not None:
                return costs
        least = searcher.least_totals(seeds, totals, limit)
        result = self.to_cost(least)
        result[least == self._graph.blank] = math.inf
        return result

    def path(
        self,
        start: Any,
        goal: Any,
        *,
        budget: Any = None,
        parity: int = 0,
        layer: int | None = None,
        stop: bool = True,
        algorithm: Literal["auto", "astar", "jps", "dijkstra"] = "auto",
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
            ``"astar"``; ``"jps"``, jump points, for squares of one price; ``"dijkstra"``, whose
            path follows the tie rule of `Reach.path_to`; or the choice of the library (``"auto"``),
            which is the quickest. All give the least cost, and the same path at every call.

        Returns
        -------
        Path
            False when there is no way. If the start is a goal, a path without steps.

        Raises
        ------
        OutsideMapError, ClosedCellError, CostError
            As in `reach`; also if a goal lies outside the map.
        RulesError
            If jump points are asked for and do not apply.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> field = fc.grid.field([[1] * 50] * 50, diagonals="approximate")
        >>> path = field.path((0, 0), (49, 20))
        >>> path.cost, path.expanded
        (59.0, 1)
        >>> field.path((0, 0), (49, 20), algorithm="astar").cost
        59.0
        """
        if algorithm not in ("auto", "astar", "jps", "dijkstra"):
            raise ArgumentTypeError(
                f"algorithm must be 'auto', 'astar', 'jps' or 'dijkstra', not {algorithm!r}"
            )
        start_cell = self.check(start, "start")
        if algorithm in ("auto", "jps"):
            must = algorithm == "jps"
            quick = self._uniform.path(self, start_cell, goal, budget, parity, layer, stop, must)
            if quick is not None:
                return quick
        if layer is None and type(goal) is tuple:
            guided = int(algorithm != "dijkstra")
            found = self._plain_path(start_cell, goal, budget, parity, int(bool(stop)), guided)
            if found is not None:
                return found
        seeds, totals = self.seeds(start_cell, None, parity, layer)
        cells = self.goal_cells(goal)
        limit, _ = self._limit(budget)
        if start_cell in cells:
            return self.path_of((seeds[:1], totals[:1], np.zeros(1, np.int64)), 0)
        if not self._may_lead(self.padded(start_cell), map(self.padded, cells)):
            return no_path(0, self.unit)
        asked: dict[str, bool] = {"must_stop": bool(stop), "guided": algorithm != "dijkstra"}
        if self._searcher.plain is not None:
            written = self._searcher.plain.path(seeds, totals, cells, limit, **asked)
            if written is not None:
                return self._path_on(*written)
        way, expanded = self._searcher.find(seeds, totals, cells, limit, **asked)
        return self._in_vain(expanded) if way is None else self.path_of(way, expanded)

    def _may_lead(self, start: int, goals: Iterable[int]) -> bool:
        """Tell whether a way may lead from a padded cell to any of others.

        What hangs together is found by a look at the whole map. A field that follows its tokens
        from move to move looks only after a search has been in vain.
        """
        return not self._has_labels or self._uniform.components.may_lead(start, goals)

    def _in_vain(self, expanded: int) -> Path:
        """Return the answer "no way" of a search."""
        self._has_labels = True
        return no_path(expanded, self.unit)

    def goal_cells(self, goal: Any) -> set[Cell]:
        """Return the cells that a goal means: a cell, several, or `Within`."""
        if isinstance(goal, Within):
            centre, radius = self.check(goal.cell, "goal"), min(goal.radius, sum(self.shape))
            # A hex column is never further away in rows than in steps, nor a row in columns.
            low = np.maximum(np.array(centre) - radius, 0)
            high = np.minimum(np.array(centre) + radius + 1, self.shape)
            rows, cols = (np.arange(a, b) for a, b in zip(low, high, strict=True))
            block = np.stack(np.meshgrid(rows, cols, indexing="ij"), axis=-1).reshape(-1, 2)
            near = block[self.lattice.distances(block, centre) <= radius]
            return {(row, col) for row, col in near.tolist()}
        return set(cells_of(goal, self.shape, "goal"))

    # -- batches --------------------------------------------------------------------------------

    def reach_many(
        self,
        starts: Any,
        budget: Any = None,
        *,
        parity: int = 0,
        layer: int | None = None,
        rest: str = "",
        speeds: Speeds = (),
    ) -> Sequence[Reach]:
        """Return the reach of each start, as `reach` would, in parallel.

        Parameters
        ----------
        starts : array_like of int, shape (n, 2)
        budget, parity, layer, rest, speeds
            As in `reach`.

        Returns
        -------
        sequence of Reach
            Each made when it is asked for, of what was found at once.
        """
        cells = checked_cells(starts, self.shape, (2,), "starts", ("start",))
        limit, shown = self._limit(budget)
        if layer is None and not self.seats and len(cells) and self._searcher.plain is not None:
            seeds = self._plain_seeds(cells, parity)
            found = self._plain_reaches(cells, seeds, limit, shown, rest, speeds)
            if found is not None:
                return found
        many = [self.seeds(tuple(cell), None, parity, layer) for cell in cells.tolist()]
        several = any(len(some) > 1 for some, _ in many)
        states = np.array([state[0] for state, _ in many], np.int64)

        common: dict[str, Any] = {"budget": shown, "rest": rest, "speeds": speeds}

        def part(begin: int, end: int) -> list[Reach]:
            found = self._searcher.flood_each(states[begin:end], limit)
            return [
                Reach(self, settled, *seed, expanded=len(settled[0]), **common)
                for settled, seed in zip(found, many[begin:end], strict=True)
            ]

        def one_by_one(begin: int, end: int) -> list[Reach]:
            return [
                self.reach(tuple(cell), budget, parity=parity, layer=layer, **options)
                for cell in cells[begin:end].tolist()
            ]

        # The batch kernel starts at 0 in one state, and a half square carried in is not 0.
        options: dict[str, Any] = {"rest": rest, "speeds": speeds}
        carried = bool(many) and many[0][1][0] != 0
        return spread(len(cells), one_by_one if carried or several else part)

    def _plain_seeds(self, cells: Array, parity: Any) -> tuple[Array, Array]:
        """Return the states in which movements begin on a plain graph, and their totals."""
        if self._closed is not None:
            shut = self._closed[cells[:, 0], cells[:, 1]]
            if shut.any():
                cells = cells[shut][:1]  # reported below
        first, total = self.seeds(tuple(cells[0].tolist()), None, parity)
        numbers = (cells[:, 0] + 1) * (self.shape[1] + 2) + cells[:, 1] + 1
        states = numbers + (first[0] - numbers[0])
        return states, np.full(len(states), total[0], np.int64)

    def _plain_reaches(
        self,
        cells: Array,
        seeds: tuple[Array, Array],
        limit: int,
        shown: float,
        rest: str,
        speeds: Speeds,
    ) -> Batch[Reach] | None:
        """Return the reaches of a batch on a plain graph; None where that cannot tell."""
        plain, states, totals = self._searcher.plain, *seeds
        if plain is None:
            return None
        stays = np.zeros(len(states), np.int64)
        if self.stay is not None:
            stays += self.stay[cells[:, 0], cells[:, 1]]
        blocks = spread(
            len(states),
            lambda a, b: [plain.reach_each(states[a:b], totals[a:b], stays[a:b], limit)],
            least=FEW,
        )
        pages, table = _joined(blocks)
        if table is None:
            return None

        def make(i: int) -> Reach:
            number, at, n, k = table[i].tolist()
            seed = int(states[i]), int(totals[i])
            reach = WrittenReach(self, (pages[number], at, n, k), seed, shown)
            reach.rest, reach._speeds = rest, tuple(speeds)
            return reach

        return Batch(len(table), make)

    def safest(
        self,
        start: Any,
        budget: Any,
        stake: Any,
        *,
        parity: int = 0,
        layer: int | None = None,
    ) -> SafestReach:
        """Return the ways of least stake to every cell within a budget, exactly.

        Parameters
        ----------
        start, budget, parity, layer
            As in `reach`; there must be a budget.
        stake : array_like of int, or callable
            What steps risk, in a unit of your own (thousandths, say), 0 or more: to enter each
            cell, shape (height, width), or to leave it in each direction, shape (height, width,
            directions); or a function of a `Step`, whose `Step.stakes` say what the rules know. A
            function that has a method ``of_states(field, sources, ends)`` as well is asked for
            the stakes of all steps at once, from states to states of the field.

        Returns
        -------
        SafestReach

        Raises
        ------
        CostError
            If there is no budget or one too large, costs are floats, or a stake is negative.
        ArgumentTypeError, MapError, OutsideMapError
            If stakes are no whole numbers or of the wrong shape, or a start is not on the map.

        Notes
        -----
        Time and memory grow with the states within the budget times its ticks.
        """
        return SafestReach(self, start, budget, stake, parity, layer)

    def reaches(self, budget: Any = None, *, parity: int = 0, layer: int | None = None) -> Reaches:
        """Return what is reached from each cell of the map, worked out when asked for.

        Parameters
        ----------
        budget, parity, layer
            As in `reach`.

        Returns
        -------
        Reaches
            With how many cells each cell reaches, from how many each is reached, who reaches one
            cell and at what price, and all reaches in blocks.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> field = fc.grid.field([[1, 1, 1]])
        >>> field.reaches(1).count.tolist()
        [[2, 3, 2]]
        """
        return Reaches(self, budget, parity=parity, layer=layer)

    def paths(self, pairs: Any, **options: Any) -> Sequence[Path]:
        """Return a cheapest path for each pair (start, goal), as `path` would, in parallel.

        Parameters
        ----------
        pairs : array_like of int, shape (n, 2, 2)
        **options
            As in `path`.
        """
        cells = checked_cells(pairs, self.shape, (2, 2), "pairs", ("start", "goal"))
        found = self._plain_paths(cells, **options) if len(cells) else None
        if found is not None:
            return found
        items = [(tuple(start), tuple(goal)) for start, goal in cells.tolist()]
        return spread(len(items), lambda a, b: [self.path(*item, **options) for item in items[a:b]])

    def _plain_paths(
        self,
        cells: Array,
        *,
        budget: Any = None,
        parity: Any = 0,
        layer: int | None = None,
        stop: bool = True,
        algorithm: str = "auto",
    ) -> Batch[Path] | None:
        """Return the paths of a batch on a plain graph, or None where another search is needed."""
        numbers = (cells[..., 0] + 1) * (self.shape[1] + 2) + cells[..., 1] + 1
        if layer is not None or self.seats or algorithm not in ("auto", "astar", "dijkstra"):
            return None
        plain = self._searcher.plain
        if plain is None or (algorithm == "auto" and self._uniform.is_quick_from(numbers[:, 0])):
            return None
        states, totals = self._plain_seeds(cells[:, 0], parity)
        limit, _ = self._limit(budget)
        labels = self._uniform.components.labels[numbers]
        is_there = numbers[:, 0] == numbers[:, 1]
        # Who begins where no step leads is no part of any component.
        asked = np.flatnonzero(~is_there & ((labels[:, 0] == labels[:, 1]) | (labels[:, 0] == 0)))
        options = limit, int(bool(stop)), int(algorithm != "dijkstra")
        begun, spent, goals = states[asked], totals[asked], numbers[asked, 1]
        blocks = spread(
            len(asked),
            lambda a, b: [plain.path_each(begun[a:b], spent[a:b], goals[a:b], *options)],
            least=FEW,
        )
        pages, table = _joined(blocks)
        if table is None:
            return None
        rows = np.full((len(cells), 4), -1, np.int64)
        rows[asked] = table
        rows[is_there, 0] = -2

        def make(i: int) -> Path:
            number, at, n, expanded = rows[i].tolist()
            if number == -2:
                seed = states[i : i + 1], totals[i : i + 1], np.zeros(1, np.int64)
                return self.path_of(seed, 0)
            if number < 0:
                return no_path(0, self.unit)
            return self._path_on(pages[number], at, n, expanded)

        return Batch(len(rows), make)

    def path_costs(self, pairs: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Return the least cost for each pair (start, goal), shape (n,), infinite where no way."""
        return np.array([path.cost for path in self.paths(pairs, **options)], np.float64)

    # -- paths out of ways ----------------------------------------------------------------------

    def way_to(self, goal: int, settled: Settled, starts: Array, initial: Array) -> Way:
        """Return the way to a settled state of a search, from the search's own arrays."""
        return self._searcher.way_to(goal, settled, starts, initial)

    def path_of(self, way: Way, expanded: int) -> Path:
        """Return a way as a path."""
        states, totals, links = way
        padded, rows = self.split_states(states)
        cells = self.to_cells(padded)
        ticks = self.whole(totals.astype(self._graph.number))
        # Standing still changes the layer, not the cell: such cells are listed once.
        moved = np.ones(len(cells), bool)
        moved[1:] = (cells[1:] != cells[:-1]).any(axis=1)
        parity = int(self.parity_of(rows[-1:], totals[-1:])[0])
        cost = float(self.in_units((ticks[-1] - ticks[0]).item()))
        return Path(
            cells[moved],
            cost,
            parity,
            expanded,
            self.unit,
            (),
            len(states) - 1,
            partial(self.steps_along, cells, rows, links, ticks),
        )

    def _path_on(self, page: Page, at: int, n: int, expanded: int) -> Path:
        """Return a way that stands on a page as a path."""
        if not n:
            return self._in_vain(expanded)
        first, last = page.rest[2 * at].item(), page.rest[2 * at + n - 1].item()
        graph, spent, parity = self._graph, (last >> 32) - (first >> 32), 0
        if graph.halves:
            spent = (last >> 33) - (first >> 33)
        if graph.is_alternating:
            dear = last >> 32 & 1 if graph.halves else int((last & MOST_STATES) >= graph.n_cells)
            parity = dear ^ graph.flip
        return Path(
            page.cells[at : at + n], float(self.in_units(spent)), parity, expanded, self.unit, (),
            n - 1, partial(self._steps_on, page, at, n),
        )  # fmt: skip

    def _steps_on(self, page: Page, at: int, n: int) -> tuple[Step, ...]:
        """Return the steps of a way that stands on a page."""
        states, totals = page.settled(at, n)
        padded, rows = self.split_states(states)
        return self.steps_along(
            self.to_cells(padded), rows, np.zeros(n, np.int64), self.whole(totals)
        )

    def steps_along(
        self, cells: Array, rows: Array, links: Array, ticks: Array
    ) -> tuple[Step, ...]:
        """Return the steps of a way, given the cell, row, link and total of each of its states."""
        points: list[Cell] = [(row, col) for row, col in cells.tolist()]
        prices = np.diff(ticks).tolist()
        layers, taken = rows[1:].tolist(), links[1:].tolist()
        return tuple(map(self._step, points[:-1], points[1:], layers, taken, prices))

    def _step(self, a: Cell, b: Cell, row: int, link: int, ticks: float) -> Step:
        """Return one step with what it is made of; the parts sum to the price."""
        layer = source = self.layer_of(row)
        units = self.in_units
        parts: list[tuple[str, float]] = []
        rest = ticks
        if link:
            source = self.layer_of(int(self._graph.arrays.links[link - 1, SOURCE]))
            price = self._graph.arrays.link_price[link - 1].item() / self._halving
            rest = rest - price
            name = self.layers[layer].name or f"layer {layer}"
            # Places of one kind may lie on several layers; going between them is no change.
            if price or a == b or self.layers[source].name != name:
                parts.append((f"to {name}", float(units(price))))
        if a != b:
            factor = 1.0 if isinstance(self.diagonal, str) else self.diagonal[0]
            for part in self.parts(a, b, layer):
                price = part.ticks * (factor if part.kind == "enter" else 1)
                rest = rest - price
                parts.append((part.label, float(units(price))))
            if abs(rest) > 1e-9 * max(1.0, abs(float(ticks))):
                parts.append(("diagonal", float(units(rest))))
        names = {one.name for one in self.layers}
        name = self.layers[layer].name if len(names) > 1 else ""
        stakes = getattr(self.explainer, "stakes", None)
        risked = () if stakes is None else tuple(stakes(a, b, layer, source))
        return Step(a, b, float(units(ticks)), tuple(parts), name, risked)

    def parts(self, a: Cell, b: Cell, layer: int = 0) -> list[Part]:
        """Return what the price of a step is made of, before diagonals."""
        if self.explainer is not None:
            return list(self.explainer.parts(a, b, layer))
        given, arrays = self.layers[layer], self._graph.arrays
        here, there = self.padded(a), self.padded(b)
        direction = self.lattice.neighbors(a).index(b)
        entry = given.entries(self.lattice.n_directions)[direction]
        entered = arrays.enter[entry, there].item() * self._graph.plain
        parts = [Part("enter", "entry", entered)]
        if given.leave >= 0 and arrays.leave[given.leave, here]:
            ticks = arrays.leave[given.leave, here].item() / self._halving
            parts.append(Part("leave", "exit", ticks))
        if given.border >= 0 and arrays.border[given.border, here, direction]:
            ticks = arrays.border[given.border, here, direction].item() / self._halving
            parts.append(Part("border", "border", ticks))
        return parts

    @property
    def _halving(self) -> int:
        """How often a tick is counted in the graph's arrays of prices that are not multiplied."""
        return 2 if self._graph.halves else 1

    def __repr__(self) -> str:
        height, width = self.shape
        return f"StepField({height} x {width}, {self.lattice.name}, {len(self.layers)} layers)"


def _joined(
    blocks: Sequence[Sequence[tuple[Page, Array]] | None],
) -> tuple[list[Page], Array | None]:
    """Return the pages of blocks, and a row for each answer: page, place on it, n and its other.

    No rows where one of the blocks could not tell.
    """
    parts: list[tuple[Page, Array]] = []
    for block in blocks:
        if block is None:
            return [], None
        parts += block
    lengths = np.array([len(sizes) for _, sizes in parts], np.int64)
    sizes = np.concatenate([np.zeros((0, 2), np.int64), *(sizes for _, sizes in parts)])
    before = np.cumsum(sizes[:, 0]) - sizes[:, 0]
    begins = before[np.cumsum(lengths) - lengths]
    rows = np.column_stack(
        [np.arange(len(parts)).repeat(lengths), before - begins.repeat(lengths), sizes]
    )
    return [page for page, _ in parts], rows


def _each_once(states: Array, totals: Array, *others: Array) -> Sequence[Array]:
    """Return states, rising and each once, with the least total of each and what goes with it."""
    columns = (states, totals, *others)
    if len(states) <= 1:
        return columns
    order = np.lexsort((totals, states))
    columns = tuple(column[order] for column in columns)
    first = np.ones(len(states), bool)
    first[1:] = columns[0][1:] != columns[0][:-1]
    return tuple(np.ascontiguousarray(column[first]) for column in columns)


def _only_layer(leave: Any, border: Any, halt: Any) -> Layer:
    """Return the layer of a field that names none: each array that is there."""
    return Layer(
        leave=-1 if leave is None else 0,
        border=-1 if border is None else 0,
        halt=-1 if halt is None else 0,
    )

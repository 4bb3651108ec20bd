"""Stacks of maps: one question asked of each of many maps of one size, in few kernel calls."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft._arrays import array_field, checked_mask, whole_ticks
from fieldcraft.errors import (
    ArgumentTypeError,
    ClosedCellError,
    CostError,
    MapError,
    OutsideMapError,
    RulesError,
    nearest,
)
from fieldcraft.frozen import frozen
from fieldcraft.graph import MAX_TICKS
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.queries import spread
from fieldcraft.reach import Reach
from fieldcraft.step_field import StepField
from fieldcraft_kernel import stacks as kernel
from fieldcraft_kernel.steps import MAX_TOTAL

__all__ = ["FieldStack", "alone", "is_stack"]

Array = npt.NDArray[Any]

CORNERS = {"both": kernel.BOTH, "either": kernel.EITHER, "free": kernel.FREE}
MOST_SLOTS = 1 << 12
MOST_ENTRIES = 1 << 24
"""Where the buckets of one map would hold more, maps are prepared and searched one by one."""
CELLS_A_BLOCK = 1 << 14
"""So few cells are not worth another thread."""


def is_stack(cost: Any) -> bool:
    """Tell whether costs are a stack of maps, of three axes, rather than one map."""
    if isinstance(cost, np.ndarray):
        return cost.ndim == 3
    try:
        return np.ndim(cost) == 3
    except ValueError:
        return False


def alone(initial: Any) -> None:
    """Refuse starts that have cost something already, which belong to a single map."""
    if initial is not None:
        raise ArgumentTypeError("initial belongs to one map; a stack of maps has none")


class FieldStack:
    """Maps of one size, prepared once, of each of which one question is asked at a time.

    Made by `fieldcraft.grid.stack` and `fieldcraft.hexes.stack`.

    Attributes
    ----------
    lattice : Lattice
    shape : tuple of int
        Number of maps, height and width.

    Notes
    -----
    Where all costs can be counted in the same whole ticks and the dearest step takes less than
    4,096 of them, masks, searches and answers of a block of maps are one kernel call; blocks are
    spread over the cores. Maps with exact diagonals, with costs to leave or of borders, or with
    halts are prepared and searched one by one. The answers are the same.
    """

    def __init__(
        self,
        lattice: Lattice,
        cost: Any,
        *,
        diagonals: tuple[float, float] | str = (1, 1),
        parity: str = "advances",
        corners: str = "both",
        closed: Any = None,
        **extras: Any,
    ) -> None:
        if isinstance(cost, np.ma.MaskedArray):
            raise ArgumentTypeError("cost must be a plain array; give its mask as `closed`")
        try:
            given = np.asarray(cost)
        except ValueError as error:
            raise MapError(f"cost must be a full array of numbers: {error}") from None
        if given.dtype.kind not in "iuf":
            raise ArgumentTypeError(f"cost must be an array of numbers, not of {given.dtype}")
        if given.ndim != 3 or given.size == 0:
            raise MapError(
                f"cost must have the shape (n, height, width), one cell or more, not {given.shape}"
            )
        if corners not in CORNERS:
            raise RulesError(
                f"unknown corners {corners!r}{nearest(corners, CORNERS)}; "
                "expected 'both', 'either' or 'free'"
            )
        if parity not in ("advances", "carry"):
            raise RulesError(f"parity must be 'advances' or 'carry', not {parity!r}")
        self.lattice = lattice
        self.shape: tuple[int, int, int] = given.shape
        n = self.shape[0]
        self._options: dict[str, Any] = {
            "diagonals": diagonals,
            "parity": parity,
            "corners": corners,
        }
        self._extras = {
            name: self._each(array, name) for name, array in extras.items() if array is not None
        }
        self._shut = (
            None if closed is None else np.array(checked_mask(closed, "closed", given.shape))
        )
        self._cost = np.empty(given.shape, given.dtype)
        self._fields: dict[int, StepField] = {}
        # Where a movement may end is no matter of distances.
        needs_fields = bool(self._extras.keys() - {"stop"}) or diagonals == (1.0, math.sqrt(2.0))
        counted = self._taken_in(given)
        self._ticks: npt.NDArray[np.uint16] | None = None
        self._unit = Fraction(1)
        if counted is not None:
            self._ticks, self._unit = counted
        self._rule = None if needs_fields or counted is None else self._rule_of(counted[1])
        if self._rule is None:
            # What is wrong with a map shows now, not when it is searched.
            for i in range(n):
                self.field(i)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, height, width = self.shape
        return f"FieldStack({n} x {height} x {width}, {self.lattice.name})"

    # -- preparing ------------------------------------------------------------------------------

    def _each(self, given: Any, name: str) -> Array:
        """Return a copy of an array that has one part a map."""
        array = np.array(given)
        if array.ndim < 3 or array.shape[:3] != self.shape:
            raise MapError(f"{name} has shape {array.shape}, the stack has {self.shape}")
        return array

    def _taken_in(self, given: Array) -> tuple[npt.NDArray[np.uint16], Fraction] | None:
        """Keep a copy of the costs, since training loops use their arrays again, and return ticks.

        Ticks, 0 where closed, and the ticks in a unit; None where costs are no ticks.
        """
        ticks = np.empty(self.shape, np.uint16)

        def taken_in(begin: int, end: int) -> list[tuple[int, bool]]:
            own = slice(begin, end)
            self._cost[own] = given[own]
            wrong, fits = self._write_ticks(own, ticks[own])
            return [(wrong + begin * ticks[0].size if wrong >= 0 else wrong, fits)]

        blocks = spread(len(self), taken_in, least=self._maps_a_block)
        for wrong, _ in blocks:
            if wrong >= 0:
                raise self._wrong(wrong)
        if all(fits for _, fits in blocks):
            return frozen(ticks), Fraction(1)
        costs = self._cost
        is_shut = np.zeros(self.shape, bool) if self._shut is None else self._shut.copy()
        if costs.dtype.kind == "f":
            is_shut |= np.isinf(costs)
        least = 1 if is_shut.all() else costs[~is_shut].min()
        by_one = isinstance(self._options["diagonals"], str)
        counted = whole_ticks([np.where(is_shut, least, costs)], by_one=by_one)
        if counted is None:
            return None
        ticks = counted[0][0].astype(np.uint16)
        ticks[is_shut] = 0
        return frozen(ticks), counted[1]

    def _write_ticks(self, own: slice, ticks: npt.NDArray[np.uint16]) -> tuple[int, bool]:
        """Write the ticks of some maps, 0 where closed.

        Returns the place of the first wrong cost among theirs, or -1, and whether ticks of one
        unit hold them all.
        """
        costs, shut = self._cost[own], None if self._shut is None else self._shut[own]
        if costs.dtype.kind == "f":
            if shut is not None:
                costs = np.where(shut, np.inf, costs)
            numbers = np.ascontiguousarray(costs, np.float64).reshape(-1)
            wrong, fits = kernel.whole_numbers(ticks.reshape(-1), frozen(numbers))
            return int(wrong), bool(fits)
        is_wrong = costs <= 0 if shut is None else (costs <= 0) & ~shut
        if is_wrong.any():
            return int(np.argmax(is_wrong)), True
        if costs.max() > MAX_TICKS or costs.min() < 0:
            return -1, False
        ticks[:] = costs
        if shut is not None:
            ticks[shut] = 0
        return -1, True

    def _wrong(self, place: int) -> CostError:
        i, row, col = (int(x) for x in np.unravel_index(place, self.shape))
        return CostError(
            f"cost of map {i} at ({row}, {col}) is {self._cost[i, row, col]}; expected a number "
            "above 0, or inf for a closed cell"
        )

    def _rule_of(self, unit: Fraction) -> kernel.Rule | None:
        """Return the rule of the kernel, or None where its buckets would be too many."""
        ticks, lattice = self._ticks, self.lattice
        assert ticks is not None
        _, height, width = self.shape
        diagonal = self._options["diagonals"]
        n_rows, halves, shift = 1, 0, 0
        extra = np.zeros((2, 2), np.int64)
        scale = np.ones((2, 2), np.int64)
        if isinstance(diagonal, str):
            # In half squares a total says whose turn it is; with even costs only if they carry.
            odd = self._options["parity"] == "carry" or not ((ticks & 1 == 0) & (ticks > 0)).any()
            n_rows, halves, shift = (1, 1, 0) if odd else (2, 0, 1)
            scale[:] = (2, 3)
            extra[1, 1] = shift
        else:
            straight, across = (int(factor) for factor in diagonal)
            if max(straight, across) > MOST_SLOTS:
                return None
            scale[:] = (straight, across)
            unit = unit * straight
        dearest = (int(ticks.max()) * int(scale.max()) + shift) >> shift
        n_states = n_rows * (height + 2) * (width + 2)
        slots = 1 << dearest.bit_length()
        if slots > MOST_SLOTS or slots * (n_states + 1) > MOST_ENTRIES:
            return None
        if dearest * n_states >= MAX_TOTAL:
            return None
        offsets = np.zeros((2, 8), np.int64)
        deltas = lattice.offsets()
        offsets[:, : lattice.n_directions] = deltas[..., 0] * (width + 2) + deltas[..., 1]
        # Where diagonals are as dear as straight steps, one loop takes them all.
        alike = n_rows == 1 and scale[0, 0] == scale[0, 1]
        self._unit, self._slots = unit, slots
        return kernel.Rule(
            offsets=frozen(offsets.reshape(-1)),
            n_directions=lattice.n_directions,
            n_straight=lattice.n_directions if alike else lattice.n_straight,
            is_hex=int(lattice.is_hex),
            is_flat=int(lattice.is_flat),
            corners=CORNERS[self._options["corners"]],
            n_rows=n_rows,
            scale=frozen(scale),
            extra=frozen(extra),
            shift=shift,
            halves=halves,
            numerator=float(unit.numerator),
            denominator=float(unit.denominator),
        )

    def _scratch(self) -> kernel.Scratch:
        assert self._rule is not None
        n_cells, n_rows = (self.shape[1] + 2) * (self.shape[2] + 2), self._rule.n_rows
        return kernel.Scratch(
            ticks=np.zeros(n_cells, np.uint16),
            is_open=np.zeros(n_cells, np.uint8),
            steps=np.zeros(n_cells, np.uint8),
            prices=np.empty(2 * n_rows * n_cells, np.int32),
            totals=np.empty(n_rows * n_cells, np.int32),
            buckets=np.empty(self._slots * (n_rows * n_cells + 1), np.int32),
            counts=np.empty(self._slots, np.int32),
        )

    def field(self, number: int) -> StepField:
        """Return the field of one map, as `fieldcraft.grid.field` would.

        Raises
        ------
        MapError
            If there is no map of that number.
        """
        if not 0 <= number < len(self):
            raise MapError(f"map {number} is not one of 0 to {len(self) - 1}")
        found = self._fields.get(number)
        if found is None:
            closed = None if self._shut is None else self._shut[number]
            extras = {name: array[number] for name, array in self._extras.items()}
            try:
                found = array_field(
                    self.lattice, self._cost[number], closed=closed, **self._options, **extras
                )
            except (CostError, MapError) as error:
                raise type(error)(f"map {number}: {error}") from None
            self._fields[number] = found
        return found

    # -- questions ------------------------------------------------------------------------------

    def _starts(self, starts: Any) -> npt.NDArray[np.int64]:
        """Return one start a map, checked."""
        n, height, width = self.shape
        try:
            cells = np.asarray(starts)
        except ValueError:
            cells = np.zeros(0)
        if cells.shape != (n, 2) or cells.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"starts must be one cell a map, whole numbers of shape ({n}, 2), not "
                f"{cells.shape} of {cells.dtype}"
            )
        outside = ((cells < 0) | (cells >= (height, width))).any(axis=1)
        if outside.any():
            i = int(np.argmax(outside))
            row, col = (int(x) for x in cells[i])
            raise OutsideMapError(
                f"start ({row}, {col}) lies outside map {i} of shape ({height}, {width}); "
                f"rows run from 0 to {height - 1}, columns from 0 to {width - 1}"
            )
        cells = cells.astype(np.int64)
        at = (np.arange(n), cells[:, 0], cells[:, 1])
        shut = np.isinf(self._cost[at]) if self._cost.dtype.kind == "f" else np.zeros(n, bool)
        if self._shut is not None:
            shut |= self._shut[at]
        if shut.any():
            i = int(np.argmax(shut))
            row, col = (int(x) for x in cells[i])
            raise ClosedCellError(f"start ({row}, {col}) is a closed cell of map {i}")
        return cells

    def distances(
        self, starts: Any, *, budget: float | str | None = None, parity: int = 0
    ) -> npt.NDArray[np.float64]:
        """Return the least total from the start of each map to all its cells.

        Parameters
        ----------
        starts : array_like of int, shape (n, 2)
            One cell a map.
        budget : float, optional
            What may be spent on each map; without one there is no limit.
        parity : int
            Diagonals made before, modulo 2.

        Returns
        -------
        ndarray of float64, shape (n, height, width)
            Infinite where no way leads, or none within the budget.

        Raises
        ------
        OutsideMapError, ClosedCellError
            If a start lies outside its map or on a closed cell.
        CostError
            If the budget is negative or not a number.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> stack = fc.hexes.stack([[[1, 2, 1]], [[1, 1, 3]]])
        >>> stack.distances([(0, 0), (0, 2)]).tolist()
        [[[0.0, 2.0, 3.0]], [[2.0, 1.0, 0.0]]]
        """
        cells = self._starts(starts)
        if isinstance(parity, float) or parity not in (0, 1):
            raise CostError(
                f"parity must be 0 or 1 (diagonals made so far, modulo 2), not {parity!r}"
            )
        n = len(self)
        out = np.empty(self.shape, np.float64)
        rule, ticks = self._rule, self._ticks
        if rule is None or ticks is None:

            def one_by_one(begin: int, end: int) -> list[None]:
                for i in range(begin, end):
                    start: Cell = (int(cells[i, 0]), int(cells[i, 1]))
                    out[i] = self.field(i).distances(start, budget=budget, parity=parity)
                return []

            spread(n, one_by_one)
            return out
        limit = self._limit(budget)
        dear = parity ^ (self._options["diagonals"] == "alternating-2")
        is_alternating = isinstance(self._options["diagonals"], str)
        initial = int(dear) if is_alternating and rule.halves else 0
        row = int(dear) if rule.n_rows == 2 else 0
        padded = (cells[:, 0] + 1) * (self.shape[2] + 2) + cells[:, 1] + 1

        def part(begin: int, end: int) -> list[None]:
            kernel.distances_each(
                out[begin:end], ticks[begin:end], padded[begin:end], row, initial, limit,
                rule, self._scratch(),
            )  # fmt: skip
            return []

        spread(n, part, least=self._maps_a_block)
        return out

    @property
    def _maps_a_block(self) -> int:
        """How many maps are worth handing to a thread."""
        return -(-CELLS_A_BLOCK // (self.shape[1] * self.shape[2]))

    def _limit(self, budget: Any) -> int:
        """Return the largest total that a search may reach."""
        assert self._rule is not None
        if budget is None:
            return MAX_TOTAL
        # A field of one cell reads amounts as the field of each map would.
        one = np.ones((1, 1), np.uint16)
        reader = StepField(self.lattice, (1, 1), steps=0 * one, enter=one, ticks=self._unit)
        ticks = reader.to_ticks(budget)
        if ticks is None:
            return MAX_TOTAL
        return min(int(2 * ticks + 1 if self._rule.halves else ticks), MAX_TOTAL)

    def reach_many(
        self, starts: Any, budget: float | str | None = None, *, parity: int = 0
    ) -> list[Reach]:
        """Return the reach from the start of each map, as a reach of its own.

        Each map is prepared as a field for that, once. Where costs are all that is wanted,
        `distances` with a budget is much faster.

        Parameters
        ----------
        starts, budget, parity
            As in `distances`.

        Returns
        -------
        list of Reach
        """
        cells = self._starts(starts).tolist()

        def part(begin: int, end: int) -> list[Reach]:
            return [
                self.field(i).reach(tuple(cells[i]), budget, parity=parity)
                for i in range(begin, end)
            ]

        return spread(len(self), part)

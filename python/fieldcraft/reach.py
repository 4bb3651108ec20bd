"""Reach: the cells a creature gets to within its budget, at what price and how."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import as_cell
from fieldcraft.frozen import Frozen
from fieldcraft.lattice import Cell
from fieldcraft.path import Path, amount, no_path

if TYPE_CHECKING:
    from fieldcraft.searching import Settled
    from fieldcraft.step_field import StepField

__all__ = ["Reach"]


class Reach(Frozen):
    """Everything one search settled: a value that keeps its field and never changes.

    Attributes
    ----------
    cells : ndarray of int64, shape (n, 2)
        The cells reached, by rising cost, then by row and column. The start is among them.
    cost : ndarray of float64, shape (n,)
        The least total of each cell, in the system's unit.
    can_stop : ndarray of bool, shape (n,)
        Whether a movement may end there.
    parity : ndarray of int8, shape (n,)
        Diagonals made on a cheapest way, modulo 2, where diagonals alternate; else 0. Where
        cheapest ways end with either, the one after which the next diagonal is cheap.
    budget : float
        What could be spent; infinite when there was no limit.
    rest : str
        What of a budget in metres or feet was too little for a whole unit, as text; else empty.
    expanded : int
        How many states the search expanded.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> reach = fc.grid.reach([[1, 2, 1]], (0, 0), 2)
    >>> reach.cells.tolist(), reach.cost.tolist(), (0, 2) in reach
    ([[0, 0], [0, 1]], [0.0, 2.0], False)
    """

    def __init__(
        self,
        field: StepField,
        settled: Settled,
        starts: npt.NDArray[np.int64],
        initial: npt.NDArray[Any],
        *,
        budget: float,
        expanded: int,
        rest: str = "",
    ) -> None:
        self._field = field
        self._settled = settled
        self._states, self._totals, _ = settled
        self._starts, self._initial = starts, initial
        self.budget = budget
        self.expanded = expanded
        self.rest = rest

    # -- arrays ---------------------------------------------------------------------------------

    @cached_property
    def _table(self) -> tuple[npt.NDArray[Any], ...]:
        """Padded cell, total and parity of the best state, and whether some state may stop."""
        field = self._field
        cells, rows = field.split_states(self._states)
        order = np.lexsort((rows, self._dear(rows), self._totals, cells))
        sorted_cells = cells[order]
        first = np.ones(len(order), bool)
        first[1:] = sorted_cells[1:] != sorted_cells[:-1]
        best = order[first]
        can_stop = np.maximum.reduceat(
            field.may_stop(rows[order], sorted_cells), np.flatnonzero(first)
        )
        if field.stay is not None:
            begun = np.isin(sorted_cells[first], field.split_states(self._starts)[0])
            where = field.to_cells(sorted_cells[first][begun])
            can_stop[begun] |= field.stay[where[:, 0], where[:, 1]]
        cost = field.to_cost(self._totals[best])
        by_cost = np.lexsort((cells[best], cost))
        best, cost, can_stop = best[by_cost], cost[by_cost], can_stop[by_cost]
        parity = field.parity_of(rows[best], self._totals[best])
        arrays = (field.to_cells(cells[best]), cost, can_stop, parity)
        for array in arrays:
            array.flags.writeable = False
        return arrays

    def _dear(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Tell which rows have a dear diagonal next: of equal totals the others are better."""
        return self._field.next_is_dear(rows)

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells reached, shape (n, 2), by rising cost."""
        return self._table[0]

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """The least total of each cell, shape (n,)."""
        return self._table[1]

    @property
    def can_stop(self) -> npt.NDArray[np.bool_]:
        """Whether a movement may end in each cell, shape (n,)."""
        return self._table[2]

    @property
    def parity(self) -> npt.NDArray[np.int8]:
        """Diagonals made so far, modulo 2, shape (n,)."""
        return self._table[3]

    @property
    def stops(self) -> npt.NDArray[np.int64]:
        """The cells where a movement may end, shape (m, 2), by rising cost."""
        return self.cells[self.can_stop]

    @cached_property
    def _places(self) -> dict[Cell, int]:
        return {(row, col): i for i, (row, col) in enumerate(self.cells.tolist())}

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, cell: object) -> bool:
        return as_cell(cell) in self._places

    def __repr__(self) -> str:
        within = "" if math.isinf(self.budget) else f" within {amount(self.budget)}"
        return f"Reach({len(self)} cells{within})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reach):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._table, other._table, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def cost_at(self, cell: Cell) -> float:
        """Return the least total of a cell, infinite when it is not reached.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        place = self._places.get(self._field.check(cell))
        return math.inf if place is None else float(self.cost[place])

    def to_array(self) -> npt.NDArray[np.float64]:
        """Return the costs as a map, shape (height, width), infinite where not reached."""
        array = np.full(self._field.shape, np.inf)
        array[self.cells[:, 0], self.cells[:, 1]] = self.cost
        return array

    # -- paths ----------------------------------------------------------------------------------

    def path_to(self, cell: Cell, *, stop: bool = True) -> Path:
        """Return the cheapest path to a cell within the budget.

        Of several cheapest paths the written rule picks one: walking back from the goal, the
        predecessor in the lowest direction number.

        Parameters
        ----------
        cell : tuple of int
        stop : bool
            Whether the path must end where a movement may end; with False it may end on a cell
            that may only be passed.

        Returns
        -------
        Path
            False when the cell is not reached, or only where nobody may stop.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        field = self._field
        padded = field.padded(field.check(cell, "goal"))
        cells, rows = field.split_states(self._states)
        here = np.flatnonzero(cells == padded)
        if stop and padded not in field.split_states(self._starts)[0]:
            here = here[field.may_stop(rows[here], cells[here])]
        if not len(here):
            return no_path(self.expanded, field.unit)
        cheapest = np.lexsort((rows[here], self._dear(rows[here]), self._totals[here]))
        goal = here[cheapest[0]]
        return field.path_from(
            int(self._states[goal]), self._settled, self._starts, self._initial, self.expanded
        )

"""The movement graph as arrays, and the steps that leave a state.

A state is ``row * N + cell``: `N` padded cells, and rows that are copies of the map (a speed, a
level, a parity of diagonals, "halted"). What a row stands for is the caller's business; here it is
a line of `StepArrays.rows`, which names the arrays it uses and where its steps lead.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import types
from numba.extending import overload

from fieldcraft_kernel._jit import jit

# Columns of StepArrays.rows.
STEPS, LEAVE, BORDER, STOP, HALT, TWIN, DIRECTIONS, RESERVE = 0, 1, 2, 3, 4, 5, 6, 7
N_COLUMNS = 8
# Columns of StepArrays.links.
SOURCE, TARGET, DIRECTION, CELLS, OWN = 0, 1, 2, 3, 4
N_LINK_COLUMNS = 5

MAX_TOTAL = 2**31 - 2
"""The largest integer total; one more means "no way"."""
NO_WAY = 2**31 - 1
PARITY_BIT = 6
"""On hexes this bit of a cell's step mask says which row set of `offsets` it uses."""


class StepArrays(NamedTuple):
    """A movement graph; T is int64 for whole ticks and float64 otherwise.

    steps   uint8 (S, N)        bit k: the step in direction k is legal
    enter   uint16 | float64 (E, N)
    leave   like enter (V, N)   may have no rows
    border  like enter (B, N, K) may have no rows
    stop    bool (P, N)         may a movement end here
    halt    bool (H, N)         may have no rows: whoever enters goes no further
    onward  int32 (N,) or (0,)  place in the next two of a cell that must be left again, else -1
    reserve T (Z, 8, B)         may have no rows: what must be left of the budget to whoever enters
                                    such a cell by a step in direction k
    latest  T (Z, 8, B)         and the largest total with which one may enter so
    rows    int64 (R, N_COLUMNS)    which of the above each row uses (-1: none), its halted twin,
                                    and the directions it has at all, as a mask
    entry   int64 (R, 8)        row of `enter` that a step in direction k pays
    to      int64 (R, 8)        row in which a step in direction k arrives
    scale   T (R, 8)            what `enter` is multiplied by
    extra   T (R, 8)            what is then added
    shift   int64               and by how many bits the sum is shifted right (0 for floats)
    caps    T (R,)              largest total a step into the row may reach
    links   int64 (M, N_LINK_COLUMNS)   sorted by source row: row, row, direction or -1, row of
                                    `link_cells` or -1, row of `link_steps` or -1
    link_price  T (M,)          ticks a link costs, besides the step if it makes one
    link_rest   T (M,)          what must be left of cap and budget after a link standing still
    link_cells  bool (Q, N)     where a link may be taken
    link_steps  uint8 (D, N)    bit k: the link may be taken with a step in direction k; a link
                                    without such masks, and with a direction, makes that step
                                    where its target row may
    first_link  int64 (R + 1,)  the links of row r are first_link[r] to first_link[r + 1]
    offsets int64 (2, 8)        flat step to each neighbour, by parity
    is_hex  int64               1 if the step masks carry the parity
    """

    steps: Any
    enter: Any
    leave: Any
    border: Any
    stop: Any
    halt: Any
    onward: Any
    reserve: Any
    latest: Any
    rows: Any
    entry: Any
    to: Any
    scale: Any
    extra: Any
    shift: Any
    caps: Any
    links: Any
    link_price: Any
    link_rest: Any
    link_cells: Any
    link_steps: Any
    first_link: Any
    offsets: Any
    is_hex: Any


def shifted(value: Any, shift: int) -> Any:
    """Return ``value >> shift`` for integers and the value itself for floats."""
    return value if isinstance(value, float) else value >> shift


@overload(shifted, strict=False)
def _shifted(value: Any, shift: Any) -> Any:
    if isinstance(value, types.Float):
        return lambda value, shift: value
    return lambda value, shift: value >> shift


def no_way(totals: Any) -> Any:
    """Return the mark for "no way" of an array of totals: NO_WAY, or infinity for floats."""
    return math.inf if totals.dtype.kind == "f" else NO_WAY


@overload(no_way, strict=False)
def _no_way(totals: Any) -> Any:
    if isinstance(totals.dtype, types.Float):
        return lambda totals: math.inf
    return lambda totals: NO_WAY


@jit
def after_step(
    graph: StepArrays, total: Any, row: int, cell: int, direction: int, beyond: int
) -> Any:
    """Return the total after the step from `cell` to `beyond` by the arrays of `row`.

    Added up in the order of the search, so that floats round alike.
    """
    rows = graph.rows
    total += shifted(
        graph.scale[row, direction] * graph.enter[graph.entry[row, direction], beyond]
        + graph.extra[row, direction],
        graph.shift,
    )
    if rows[row, LEAVE] >= 0:
        total += graph.leave[rows[row, LEAVE], cell]
    if rows[row, BORDER] >= 0:
        total += graph.border[rows[row, BORDER], cell, direction]
    return total


@jit
def arrival(graph: StepArrays, row: int, direction: int, beyond: int) -> int:
    """Return the row in which a step made by the rules of `row` arrives."""
    halt = graph.rows[row, HALT]
    after = graph.to[row, direction]
    if halt >= 0 and graph.halt[halt, beyond]:
        return int(graph.rows[after, TWIN])
    return int(after)

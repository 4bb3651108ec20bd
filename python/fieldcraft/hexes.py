"""Hexagons: reach, distances, paths and sight for people with nothing but a NumPy array.

Maps keep their offset layout: ``layout`` is ``"odd-r"``, ``"even-r"`` (pointy tops), ``"odd-q"``
or ``"even-q"`` (flat tops). To ask more than one question of a map, prepare it once with
`field` or `sight_field`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fieldcraft._arrays import array_field
from fieldcraft.all_views import AllViews
from fieldcraft.creature import as_cell
from fieldcraft.errors import ArgumentTypeError, CostError, MapError
from fieldcraft.lattice import Cell, Lattice, as_lattice
from fieldcraft.path import Path
from fieldcraft.reach import Reach
from fieldcraft.reaches import Reaches
from fieldcraft.sight import Sight, Sights, View
from fieldcraft.sight_field import SightField, stack_views
from fieldcraft.sight_field import trace as _trace
from fieldcraft.stacks import FieldStack, alone, is_stack
from fieldcraft.step_field import StepField
from fieldcraft_kernel.lines import PAIR

__all__ = [
    "distance",
    "distances",
    "field",
    "from_axial",
    "from_cube",
    "line",
    "neighbors",
    "path",
    "paths",
    "reach",
    "reach_many",
    "reaches",
    "ring",
    "sight",
    "sight_field",
    "sights",
    "stack",
    "to_axial",
    "to_cube",
    "view",
    "views",
]


def _lattice(layout: str) -> Lattice:
    lattice = as_lattice(layout)
    if not lattice.is_hex:
        raise MapError(f"layout must be odd-r, even-r, odd-q or even-q, not {layout!r}")
    return lattice


def field(
    cost: npt.ArrayLike,
    *,
    layout: str = "odd-r",
    closed: npt.ArrayLike | None = None,
    leave: npt.ArrayLike | None = None,
    border: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    halt: npt.ArrayLike | None = None,
    barred: npt.ArrayLike | None = None,
) -> StepField:
    """Prepare a map of hexagons once, for many questions.

    Parameters
    ----------
    cost : array_like of int or float, shape (height, width)
        Price to enter each cell, above 0; ``inf`` closes a cell.
    layout : str
        Offset layout.
    closed, leave, stop, halt
        As in `fieldcraft.grid.field`.
    border : array_like, shape (height, width, 6), optional
        Price of the border in each direction (see `fieldcraft.lattice`), 0 or more.
    barred : array_like of int, shape (height, width), optional
        Bit k: the border in direction k may not be crossed from here.

    Returns
    -------
    StepField

    Raises
    ------
    CostError, MapError, ArgumentTypeError
        As in `fieldcraft.grid.field`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.hexes.field([[1, 1, 3], [1, 1, 1]]).distances((0, 0)).tolist()
    [[0.0, 1.0, 4.0], [1.0, 2.0, 3.0]]
    """
    return array_field(
        _lattice(layout), cost, closed=closed, leave=leave, border=border, stop=stop, halt=halt,
        barred=barred,
    )  # fmt: skip


def stack(
    cost: npt.ArrayLike,
    *,
    layout: str = "odd-r",
    closed: npt.ArrayLike | None = None,
    **extras: Any,
) -> FieldStack:
    """Prepare many maps of hexagons of one size, to ask one question of each at a time.

    Parameters
    ----------
    cost : array_like of int or float, shape (n, height, width)
        Price to enter each cell of each map, above 0; ``inf`` closes a cell.
    layout : str
        Offset layout of all maps.
    closed, **extras
        As in `fieldcraft.grid.stack`.

    Returns
    -------
    FieldStack

    Examples
    --------
    >>> import fieldcraft as fc
    >>> stack = fc.hexes.stack([[[1, 2, 1]], [[1, 1, 3]]])
    >>> stack.distances([(0, 0), (0, 0)]).tolist()
    [[[0.0, 2.0, 3.0]], [[0.0, 1.0, 4.0]]]
    """
    return FieldStack(_lattice(layout), cost, closed=closed, **extras)


def reach(
    cost: npt.ArrayLike,
    start: npt.ArrayLike,
    budget: float | str | None = None,
    *,
    initial: npt.ArrayLike | None = None,
    **options: Any,
) -> Reach:
    """Return every cell that can be reached within a budget.

    Parameters
    ----------
    cost : array_like, shape (height, width)
        As in `field`.
    start : tuple of int, or array_like of int, shape (n, 2)
    budget : float, optional
        What may be spent; without one there is no limit.
    initial : array_like of float, shape (n,), optional
        What each start has cost already.
    **options
        As in `field`: ``layout="odd-r"``, ``closed=None``, ...

    Returns
    -------
    Reach

    Examples
    --------
    >>> import fieldcraft as fc
    >>> len(fc.hexes.reach([[1] * 9] * 9, (4, 4), 3))
    37
    """
    return field(cost, **options).reach(start, budget, initial=initial)


def reach_many(
    cost: npt.ArrayLike,
    starts: npt.ArrayLike,
    budget: float | str | None = None,
    **options: Any,
) -> Sequence[Reach]:
    """Return the reach of each start, shape (n, 2), as `reach` would, on all cores.

    Costs of shape (n, height, width) are a stack of maps, each with one of the starts; see `stack`.
    """
    if is_stack(cost):
        return stack(cost, **options).reach_many(starts, budget)
    return field(cost, **options).reach_many(starts, budget)


def reaches(cost: npt.ArrayLike, budget: float | str | None = None, **options: Any) -> Reaches:
    """Return what is reached from each cell within a budget, worked out when asked for.

    Parameters
    ----------
    cost, budget, **options
        As in `reach`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.hexes.reaches([[1] * 3] * 3, 1).count.tolist()
    [[3, 5, 4], [6, 7, 4], [3, 5, 4]]
    """
    return field(cost, **options).reaches(budget)


def distances(
    cost: npt.ArrayLike,
    starts: npt.ArrayLike,
    *,
    budget: float | str | None = None,
    initial: npt.ArrayLike | None = None,
    **options: Any,
) -> npt.NDArray[np.float64]:
    """Return the least total to every cell, shape (height, width), inf where there is no way.

    Costs of shape (n, height, width) are a stack of maps, each with one of the n starts, and the
    answer is one as well; see `stack`.
    """
    if is_stack(cost):
        alone(initial)
        return stack(cost, **options).distances(starts, budget=budget)
    return field(cost, **options).distances(starts, budget=budget, initial=initial)


def path(
    cost: npt.ArrayLike,
    start: Cell,
    goal: Any,
    *,
    budget: float | str | None = None,
    **options: Any,
) -> Path:
    """Return a cheapest path from a start to a goal; see `fieldcraft.grid.path`."""
    return field(cost, **options).path(start, goal, budget=budget)


def paths(
    cost: npt.ArrayLike,
    pairs: npt.ArrayLike,
    *,
    budget: float | str | None = None,
    **options: Any,
) -> Sequence[Path]:
    """Return a cheapest path for each pair (start, goal), shape (n, 2, 2), on all cores."""
    return field(cost, **options).paths(pairs, budget=budget)


# -- geometry -------------------------------------------------------------------------------------


def distance(a: Cell, b: Cell, *, layout: str = "odd-r") -> int:
    """Return the number of steps between two hexagons on open ground."""
    return _lattice(layout).distance(as_cell(a, "a"), as_cell(b, "b"))


def neighbors(cell: Cell, *, layout: str = "odd-r") -> list[Cell]:
    """Return the six neighbours, clockwise from the top (pointy tops: from the north-east)."""
    return _lattice(layout).neighbors(as_cell(cell))


def ring(cell: Cell, radius: int, *, layout: str = "odd-r") -> list[Cell]:
    """Return the hexagons at exactly that distance, clockwise."""
    return _lattice(layout).ring(as_cell(cell), radius)


def to_axial(cells: npt.ArrayLike, *, layout: str = "odd-r") -> npt.NDArray[np.int64]:
    """Turn offset cells (row, col) into axial (q, r), shape (..., 2); see `Lattice`."""
    return _lattice(layout).to_axial(cells)


def to_cube(cells: npt.ArrayLike, *, layout: str = "odd-r") -> npt.NDArray[np.int64]:
    """Turn offset cells (row, col) into cube (q, r, s), shape (..., 3); see `Lattice`."""
    return _lattice(layout).to_cube(cells)


def from_axial(axial: npt.ArrayLike, *, layout: str = "odd-r") -> npt.NDArray[np.int64]:
    """Turn axial (q, r) into offset cells (row, col), shape (..., 2); see `Lattice`."""
    return _lattice(layout).from_axial(axial)


def from_cube(cube: npt.ArrayLike, *, layout: str = "odd-r") -> npt.NDArray[np.int64]:
    """Turn cube (q, r, s) into offset cells (row, col), shape (..., 2); see `Lattice`."""
    return _lattice(layout).from_cube(cube)


# -- sight ----------------------------------------------------------------------------------------


def sight_field(
    obstruction: npt.ArrayLike,
    *,
    layout: str = "odd-r",
    threshold: int | None = 4,
    line: str = "crossed",
    tie: str = "worst-side",
    target_hex: bool = True,
    opaque: npt.ArrayLike | None = None,
    light: npt.ArrayLike | None = None,
) -> SightField:
    """Prepare a map of hexagons once, for many questions about sight.

    Parameters
    ----------
    obstruction : array_like, shape (height, width)
    layout, threshold, line, tie, target_hex, opaque, light
        As in `view`.

    Returns
    -------
    SightField
        With the methods `sight`, `sights`, `view` and `views`.

    Raises
    ------
    CostError, MapError, ArgumentTypeError, RulesError
        If an array or a name is not as described.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> field = fc.hexes.sight_field([[0, 2, 1, 1, 0]])
    >>> len(field.view((0, 0), 9)), field.sight((0, 0), (0, 2)).malus
    (3, -3)
    """
    points = np.asarray(obstruction)
    if points.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"obstruction must be an array of numbers, not of {points.dtype}")
    if points.ndim != 2 or points.size == 0:
        raise MapError(
            f"obstruction must have the shape (height, width) with at least one cell, not "
            f"{points.shape}"
        )
    halves = points.astype(np.float64) * 2
    wrong = ~((halves >= 0) & (halves <= 253) & (halves == np.floor(halves)))
    if wrong.any():
        row, col = (int(i) for i in np.argwhere(wrong)[0])
        raise CostError(
            f"obstruction at ({row}, {col}) is {points[row, col]}; expected points from 0 to "
            "126.5 in multiples of one half"
        )
    between = halves.astype(np.uint8)
    shape = (points.shape[0], points.shape[1])
    ends = between if target_hex else None
    return SightField(
        _lattice(layout), shape, between=between, at_target=ends, adjacent_target=ends,
        opaque=None if opaque is None else np.asarray(opaque),
        light=None if light is None else np.asarray(light),
        threshold=threshold, line=line, tie=tie,
    )  # fmt: skip


def view(
    obstruction: npt.ArrayLike,
    cell: Cell,
    radius: int = 20,
    *,
    threshold: int | None = 4,
    layout: str = "odd-r",
    line: str = "crossed",
    tie: str = "worst-side",
    target_hex: bool = True,
    opaque: npt.ArrayLike | None = None,
    light: npt.ArrayLike | None = None,
) -> View:
    """Return every cell seen from one cell within a radius.

    Obstruction adds up along the line between the two centres; where the sum, rounded up to whole
    points, reaches the threshold, the target is hidden. The viewer's own cell never obstructs.

    Parameters
    ----------
    obstruction : array_like of int or float, shape (height, width)
        What each cell takes off a line, in points, 0 or more, in multiples of one half.
    cell : tuple of int
    radius : int
    threshold : int or None
        None: obstruction never hides.
    layout : str
    line : str
        ``"crossed"``: every hexagon whose interior the line meets; ``"stepped"``: one a step.
    tie : str
        How the two hexagons count that a line runs between: ``"worst-side"``, ``"best-side"``,
        ``"worst-hex"``, ``"best-hex"`` or ``"both"``.
    target_hex : bool
        Whether the target's own cell counts, or only what lies between.
    opaque : array_like of bool, shape (height, width), optional
        Cells that end a line when strictly between.
    light : array_like of int, shape (height, width), optional
        Malus of a target there, 0 or negative; no part of what the threshold tests.

    Returns
    -------
    View

    Raises
    ------
    CostError, MapError, ArgumentTypeError, OutsideMapError
        If an array or the cell is not as described.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> view = fc.hexes.view([[0, 2, 1, 1, 0]], (0, 0), 9)
    >>> view.cells.tolist(), view.maluses.tolist()
    ([[0, 0], [0, 1], [0, 2]], [0, -2, -3])
    """
    return sight_field(
        obstruction, layout=layout, threshold=threshold, line=line, tie=tie,
        target_hex=target_hex, opaque=opaque, light=light,
    ).view(cell, radius)  # fmt: skip


@overload
def views(
    obstruction: npt.ArrayLike, cells: None = None, radius: int = 20, **options: Any
) -> AllViews: ...
@overload
def views(
    obstruction: npt.ArrayLike, cells: npt.ArrayLike, radius: int = 20, **options: Any
) -> Sequence[View]: ...
def views(
    obstruction: npt.ArrayLike,
    cells: npt.ArrayLike | None = None,
    radius: int = 20,
    **options: Any,
) -> Sequence[View] | AllViews:
    """Return the view of each cell, shape (n, 2), as `view` would, on all cores.

    Parameters
    ----------
    obstruction : array_like, shape (height, width), or (n, height, width)
        A map; or a stack of maps, with one viewer on each. What else is given as an array, `opaque`
        and `light`, is a stack then too.
    cells : array_like of int, shape (n, 2), optional
        Every cell of the map if absent.
    radius, **options
        As in `view`.

    Returns
    -------
    sequence of View, or AllViews
        For every cell the views are counted or handed out block by block when asked for.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.hexes.views([[0, 2, 1, 1, 0]], radius=9).count.tolist()
    [[3, 5, 5, 5, 3]]
    """
    points = np.asarray(obstruction)
    if points.ndim == 3 and points.size:
        n_maps, height, width = points.shape
        for name in ("opaque", "light"):
            if options.get(name) is not None:
                array = np.asarray(options[name])
                if array.shape != points.shape:
                    raise MapError(f"{name} has shape {array.shape}, the maps have {points.shape}")
                options[name] = array.reshape(n_maps * height, width)
        field = sight_field(points.reshape(n_maps * height, width), **options)
        return stack_views(field, n_maps, cells, radius)
    return sight_field(points, **options).views(cells, radius)


def sight(obstruction: npt.ArrayLike, a: Cell, b: Cell, **options: Any) -> Sight:
    """Return whether and how well cell `b` is seen from cell `a`; options as in `view`."""
    return sight_field(obstruction, **options).sight(a, b)


def sights(obstruction: npt.ArrayLike, pairs: npt.ArrayLike, **options: Any) -> Sights:
    """Return the sight of each pair, shape (n, 2, 2), as `sight` would, on all cores."""
    return sight_field(obstruction, **options).sights(pairs)


def line(
    a: Cell, b: Cell, *, layout: str = "odd-r", line: str = "crossed"
) -> tuple[npt.NDArray[np.int64], list[tuple[Cell, Cell]]]:
    """Return the hexagons on the line between two centres, and the pairs it runs between.

    Parameters
    ----------
    a, b : tuple of int
    layout : str
    line : str
        ``"crossed"`` or ``"stepped"``, see `view`.

    Returns
    -------
    cells : ndarray of int64, shape (n, 2)
        From `a` to `b`, both included; of a pair the left hexagon.
    pairs : list of pairs of cells
        ``(left, right)`` as one walks from `a` to `b` with rows growing downwards.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> cells, pairs = fc.hexes.line((0, 0), (2, 0))
    >>> cells.tolist(), pairs
    ([[0, 0], [1, 0], [2, 0]], [((1, 0), (1, -1))])
    """
    first, last = as_cell(a, "a"), as_cell(b, "b")
    entries = _trace(_lattice(layout), first, last, line=line).tolist()
    pairs = [((e[0], e[1]), (e[2], e[3])) for e in entries if e[4] == PAIR]
    middle = [(e[0], e[1]) for e in entries]
    cells = [first, *middle, *([last] if last != first else [])]
    return np.array(cells, np.int64), pairs

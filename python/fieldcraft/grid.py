"""Squares: reach, distances, paths and sight for people with nothing but a NumPy array.

Every function takes the costs, or what is opaque, first. To ask more than one question of a map,
prepare it once with `field` or `sight_field` and ask that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fieldcraft._arrays import array_field, checked_mask, diagonal_rule
from fieldcraft.all_views import AllViews
from fieldcraft.creature import as_cell
from fieldcraft.errors import MapError
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import Path
from fieldcraft.reach import Reach
from fieldcraft.reaches import Reaches
from fieldcraft.sight import Sight, Sights, View
from fieldcraft.sight_field import SightField, stack_views
from fieldcraft.sight_field import trace as _trace
from fieldcraft.stacks import FieldStack, alone, is_stack
from fieldcraft.step_field import StepField
from fieldcraft_kernel.lines import PINCH

__all__ = [
    "distance",
    "distances",
    "field",
    "line",
    "path",
    "paths",
    "reach",
    "reach_many",
    "reaches",
    "sight",
    "sight_field",
    "sights",
    "stack",
    "view",
    "views",
]


def field(
    cost: npt.ArrayLike,
    *,
    diagonals: str | tuple[int, int] = "alternating",
    parity: str = "advances",
    corners: str = "both",
    closed: npt.ArrayLike | None = None,
    leave: npt.ArrayLike | None = None,
    border: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    halt: npt.ArrayLike | None = None,
    barred: npt.ArrayLike | None = None,
) -> StepField:
    """Prepare a map of squares once, for many questions.

    Parameters
    ----------
    cost : array_like of int or float, shape (height, width)
        Price to enter each cell, above 0; ``inf`` closes a cell.
    diagonals : str or pair of int
        What a diagonal step costs: ``"equidistant"`` (as a straight one), ``"alternating"``
        (1-2-1-2), ``"alternating-2"`` (2-1-2-1), ``"exact"`` (times sqrt 2), ``"approximate"``
        (times 1.5), ``"rectilinear"`` (times 2) or ``"illegal"``; or a pair ``(a, b)``: a diagonal
        costs ``b / a`` of a straight step.
    parity : str
        How alternating diagonals count into cells of even cost: ``"advances"`` (each diagonal is
        counted) or ``"carry"`` (half squares are carried over).
    corners : str
        What a diagonal step asks of the two cells beside it: ``"both"`` open, ``"either"``, or
        ``"free"``.
    closed : array_like of bool, shape (height, width), optional
        Further closed cells.
    leave : array_like, shape (height, width), optional
        Price to leave each cell, 0 or more, the same straight and diagonal.
    border : array_like, shape (height, width, 8), optional
        Price of the border in each direction (see `fieldcraft.lattice`), 0 or more.
    stop, halt : array_like of bool, shape (height, width), optional
        Where a movement may end; where whoever enters goes no further.
    barred : array_like of int, shape (height, width), optional
        Bit k: the border in straight direction k (0 north, 1 east, 2 south, 3 west) may not be
        crossed from here; nor may a diagonal pass it.

    Returns
    -------
    StepField
        With the methods `reach`, `distances`, `path`, `reach_many`, `paths` and `path_costs`.

    Raises
    ------
    CostError
        If a cost is NaN, negative or zero, or no whole number where diagonals alternate.
    MapError, ArgumentTypeError, RulesError
        If an array has the wrong shape or dtype, or a name is unknown.

    Notes
    -----
    Costs that are whole numbers or decimals to a millionth are counted in whole ticks, exactly;
    others, and exact diagonals, in floats.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> field = fc.grid.field([[1, 1, 1], [1, 2, 1]], diagonals="equidistant")
    >>> field.distances((0, 0)).tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 2.0]]
    """
    rule = diagonal_rule(diagonals)
    lattice = Lattice("square")
    if rule == "illegal":
        lattice, rule = Lattice("square4"), (1, 1)
        if border is not None and np.ndim(border) == 3 and np.shape(border)[2] == 8:
            border = np.asarray(border)[:, :, :4]
    return array_field(
        lattice, cost, diagonals=rule, parity=parity, corners=corners, closed=closed,
        leave=leave, border=border, stop=stop, halt=halt, barred=barred,
    )  # fmt: skip


def stack(
    cost: npt.ArrayLike,
    *,
    diagonals: str | tuple[int, int] = "alternating",
    parity: str = "advances",
    corners: str = "both",
    closed: npt.ArrayLike | None = None,
    **extras: Any,
) -> FieldStack:
    """Prepare many maps of squares of one size, to ask one question of each at a time.

    Parameters
    ----------
    cost : array_like of int or float, shape (n, height, width)
        Price to enter each cell of each map, above 0; ``inf`` closes a cell.
    diagonals, parity, corners : str
        As in `field`, the same for all maps.
    closed : array_like of bool, shape (n, height, width), optional
        Further closed cells.
    **extras
        ``leave``, ``border``, ``stop``, ``halt`` and ``barred`` as in `field`, each with an axis
        for the maps first. With any of them maps are prepared one by one.

    Returns
    -------
    FieldStack
        With the methods `distances`, `reach_many` and `field`.

    Raises
    ------
    CostError, MapError, ArgumentTypeError, RulesError
        As in `field`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> stack = fc.grid.stack([[[1, 2, 1]], [[1, 1, 3]]])
    >>> stack.distances([(0, 0), (0, 2)], budget=2).tolist()
    [[[0.0, 2.0, inf]], [[2.0, 1.0, 0.0]]]
    """
    rule = diagonal_rule(diagonals)
    lattice = Lattice("square")
    if rule == "illegal":
        lattice, rule = Lattice("square4"), (1, 1)
        border = extras.get("border")
        if border is not None and np.ndim(border) == 4 and np.shape(border)[3] == 8:
            extras["border"] = np.asarray(border)[..., :4]
    return FieldStack(
        lattice, cost, diagonals=rule, parity=parity, corners=corners, closed=closed, **extras
    )


def reach(
    cost: npt.ArrayLike,
    start: npt.ArrayLike,
    budget: float | str | None = None,
    *,
    parity_in: int = 0,
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
        What may be spent; without one there is no limit. Cells at exactly this total are included.
    parity_in : int
        Diagonals made before, modulo 2.
    initial : array_like of float, shape (n,), optional
        What each start has cost already.
    **options
        As in `field`: ``diagonals="alternating"``, ``corners="both"``, ``closed=None``, ...

    Returns
    -------
    Reach

    Raises
    ------
    OutsideMapError, ClosedCellError
        If a start lies outside the map or on a closed cell.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> len(fc.grid.reach([[1] * 9] * 9, (4, 4), 2))
    21
    """
    return field(cost, **options).reach(start, budget, parity=parity_in, initial=initial)


def reach_many(
    cost: npt.ArrayLike,
    starts: npt.ArrayLike,
    budget: float | str | None = None,
    *,
    parity_in: int = 0,
    **options: Any,
) -> Sequence[Reach]:
    """Return the reach of each start, shape (n, 2), as `reach` would, on all cores.

    Costs of shape (n, height, width) are a stack of maps, each with one of the starts; see `stack`.
    """
    if is_stack(cost):
        return stack(cost, **options).reach_many(starts, budget, parity=parity_in)
    return field(cost, **options).reach_many(starts, budget, parity=parity_in)


def reaches(
    cost: npt.ArrayLike,
    budget: float | str | None = None,
    *,
    parity_in: int = 0,
    **options: Any,
) -> Reaches:
    """Return what is reached from each cell within a budget, worked out when asked for.

    Parameters
    ----------
    cost : array_like, shape (height, width)
        As in `field`.
    budget : float, optional
        What each movement may spend.
    parity_in, **options
        As in `reach`.

    Returns
    -------
    Reaches

    Examples
    --------
    >>> import fieldcraft as fc
    >>> reaches = fc.grid.reaches([[1, 1, 9, 1]], 2)
    >>> reaches.count.tolist(), reaches.who_reaches((0, 0)).tolist()
    ([[2, 2, 4, 1]], [[True, True, True, False]])
    """
    return field(cost, **options).reaches(budget, parity=parity_in)


def distances(
    cost: npt.ArrayLike,
    starts: npt.ArrayLike,
    *,
    budget: float | str | None = None,
    parity_in: int = 0,
    initial: npt.ArrayLike | None = None,
    **options: Any,
) -> npt.NDArray[np.float64]:
    """Return the least total to every cell, shape (height, width), inf where there is no way.

    Parameters and errors are those of `reach`. Costs of shape (n, height, width) are a stack of
    maps, each with one of the n starts, and the answer is one as well; see `stack`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.grid.distances([[[1, 2]], [[3, 1]]], [(0, 0), (0, 1)]).tolist()
    [[[0.0, 2.0]], [[3.0, 0.0]]]
    """
    if is_stack(cost):
        alone(initial)
        return stack(cost, **options).distances(starts, budget=budget, parity=parity_in)
    prepared = field(cost, **options)
    return prepared.distances(starts, budget=budget, parity=parity_in, initial=initial)


def path(
    cost: npt.ArrayLike,
    start: Cell,
    goal: Any,
    *,
    budget: float | str | None = None,
    parity_in: int = 0,
    **options: Any,
) -> Path:
    """Return a cheapest path from a start to a goal.

    Parameters
    ----------
    cost : array_like, shape (height, width)
        As in `field`.
    start : tuple of int
    goal : tuple of int, array_like of shape (n, 2), or ``fc.within(radius, cell)``
    budget, parity_in, **options
        As in `reach`.

    Returns
    -------
    Path
        False when there is no way.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.grid.path([[1] * 5] * 5, (0, 0), (4, 4)).cost
    6.0
    """
    return field(cost, **options).path(start, goal, budget=budget, parity=parity_in)


def paths(
    cost: npt.ArrayLike,
    pairs: npt.ArrayLike,
    *,
    budget: float | str | None = None,
    parity_in: int = 0,
    **options: Any,
) -> Sequence[Path]:
    """Return a cheapest path for each pair (start, goal), shape (n, 2, 2), on all cores."""
    return field(cost, **options).paths(pairs, budget=budget, parity=parity_in)


def distance(
    a: Cell, b: Cell, *, diagonals: str | tuple[int, int] = "alternating", parity_in: int = 0
) -> float:
    """Return the price of the shortest way between two cells on open ground.

    Parameters
    ----------
    a, b : tuple of int
    diagonals, parity_in
        As in `field` and `reach`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> [fc.grid.distance((0, 0), (3, 5), diagonals=d) for d in ("alternating", "rectilinear")]
    [6.0, 8.0]
    """
    rule = diagonal_rule(diagonals)
    if isinstance(parity_in, float) or parity_in not in (0, 1):
        raise MapError(f"parity_in must be 0 or 1, not {parity_in!r}")
    (row_a, col_a), (row_b, col_b) = as_cell(a, "a"), as_cell(b, "b")
    longer, shorter = sorted((abs(row_a - row_b), abs(col_a - col_b)), reverse=True)
    if rule == "illegal":
        return float(longer + shorter)
    if isinstance(rule, str):
        parity = parity_in ^ (rule == "alternating-2")
        return float(longer - shorter + (3 * shorter + parity) // 2)
    straight, diagonal = rule
    ratio = diagonal / straight
    if ratio > 2:
        return float(longer + shorter)
    if ratio < 1:
        # Two diagonals are cheaper than two straight steps: at most one straight step is left.
        odd = (longer - shorter) % 2
        return (longer - odd) * ratio + odd
    return float(longer - shorter) + shorter * ratio


# -- sight ----------------------------------------------------------------------------------------


def sight_field(opaque: npt.ArrayLike, *, corners: str = "closed") -> SightField:
    """Prepare a map of squares once, for many questions about sight.

    Parameters
    ----------
    opaque : array_like of bool, shape (height, width)
    corners : str
        As in `view`.

    Returns
    -------
    SightField
        With the methods `sight`, `sights`, `view` and `views`.

    Raises
    ------
    MapError, ArgumentTypeError, RulesError
        If the array is none of bool with at least one cell, or `corners` is unknown.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> field = fc.grid.sight_field([[False, True, False]])
    >>> len(field.view((0, 0), 5)), field.sight((0, 0), (0, 2)).visible
    (2, False)
    """
    array = np.asarray(opaque)
    if array.ndim != 2 or array.size == 0:
        raise MapError(
            f"opaque must have the shape (height, width) with at least one cell, not {array.shape}"
        )
    mask = checked_mask(array, "opaque", array.shape)
    shape = (mask.shape[0], mask.shape[1])
    return SightField(
        Lattice("square"), shape, between=np.zeros(shape, np.uint8), opaque=mask, threshold=None,
        corners=corners,
    )  # fmt: skip


def view(opaque: npt.ArrayLike, cell: Cell, radius: int = 20, *, corners: str = "closed") -> View:
    """Return every cell seen from one cell within a radius.

    A cell is seen when no opaque cell strictly between lies on the straight line between the two
    centres; opaque cells are themselves seen. So whoever sees is seen.

    Parameters
    ----------
    opaque : array_like of bool, shape (height, width)
    cell : tuple of int
    radius : int
        In steps, diagonals counting as one.
    corners : str
        Whether two opaque cells that touch at a corner are ``"closed"`` there, or ``"open"``.

    Returns
    -------
    View

    Raises
    ------
    OutsideMapError
        If the cell lies outside the map.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> wall = [[False, True, False]]
    >>> fc.grid.view(wall, (0, 0), 5).visible.tolist()
    [[True, True, False]]
    """
    return sight_field(opaque, corners=corners).view(cell, radius)


@overload
def views(
    opaque: npt.ArrayLike, cells: None = None, radius: int = 20, *, corners: str = "closed"
) -> AllViews: ...
@overload
def views(
    opaque: npt.ArrayLike, cells: npt.ArrayLike, radius: int = 20, *, corners: str = "closed"
) -> Sequence[View]: ...
def views(
    opaque: npt.ArrayLike,
    cells: npt.ArrayLike | None = None,
    radius: int = 20,
    *,
    corners: str = "closed",
) -> Sequence[View] | AllViews:
    """Return the view of each cell, shape (n, 2), as `view` would, on all cores.

    Parameters
    ----------
    opaque : array_like of bool, shape (height, width), or (n, height, width)
        A map; or a stack of maps, with one viewer on each.
    cells : array_like of int, shape (n, 2), optional
        Every cell of the map if absent.
    radius, corners
        As in `view`.

    Returns
    -------
    sequence of View, or AllViews
        For every cell the views are counted or handed out block by block when asked for.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> maps = [[[False, True, False]], [[False, False, False]]]
    >>> [len(view) for view in fc.grid.views(maps, [(0, 0), (0, 2)])]
    [2, 3]
    """
    array = np.asarray(opaque)
    if array.ndim == 3 and array.size:
        n_maps, height, width = array.shape
        field = sight_field(array.reshape(n_maps * height, width), corners=corners)
        return stack_views(field, n_maps, cells, radius)
    return sight_field(array, corners=corners).views(cells, radius)


def sight(opaque: npt.ArrayLike, a: Cell, b: Cell, *, corners: str = "closed") -> Sight:
    """Return whether cell `b` is seen from cell `a`; see `view`."""
    return sight_field(opaque, corners=corners).sight(a, b)


def sights(opaque: npt.ArrayLike, pairs: npt.ArrayLike, *, corners: str = "closed") -> Sights:
    """Return the sight of each pair, shape (n, 2, 2), as `sight` would, on all cores."""
    return sight_field(opaque, corners=corners).sights(pairs)


def line(a: Cell, b: Cell) -> npt.NDArray[np.int64]:
    """Return the cells whose interior the line between two centres meets, ends included.

    Returns
    -------
    ndarray of int64, shape (n, 2)
        From `a` to `b`. A cell that the line only touches at a corner is not crossed.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.grid.line((0, 0), (1, 2)).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 2]]
    """
    first, last = as_cell(a, "a"), as_cell(b, "b")
    entries = _trace(Lattice("square"), first, last)
    middle = entries[entries[:, 4] != PINCH, :2]
    ends = [first] if first == last else [first, last]
    return np.concatenate([np.array(ends[:1]), middle, np.array(ends[1:]).reshape(-1, 2)]).astype(
        np.int64
    )

"""Bare arrays of costs made into step fields: what `grid` and `hexes` share."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, CostError, MapError, RulesError, nearest
from fieldcraft.graph import MAX_FACTOR, MAX_TICKS
from fieldcraft.lattice import Lattice
from fieldcraft.legal import legal_steps
from fieldcraft.step_field import StepField

__all__ = ["DIAGONALS", "array_field", "diagonal_rule"]

Array = npt.NDArray[Any]

DIAGONALS: dict[str, tuple[float, float] | str] = {
    "equidistant": (1, 1),
    "alternating": "alternating",
    "alternating-2": "alternating-2",
    "exact": (1.0, math.sqrt(2.0)),
    "approximate": (2, 3),
    "rectilinear": (1, 2),
    "illegal": "illegal",
}
"""The diagonal rules by name: factors of a straight and of a diagonal step, or a rule."""

MILLIONTHS = 10**6
LARGEST_WHOLE = 2**40


def diagonal_rule(diagonals: Any) -> tuple[float, float] | str:
    """Return the factors of a rule's name or pair, or its name where it is no pair."""
    if isinstance(diagonals, str):
        if diagonals not in DIAGONALS:
            raise RulesError(
                f"unknown diagonals {diagonals!r}{nearest(diagonals, DIAGONALS)}; expected one of "
                f"{', '.join(DIAGONALS)}, or a pair of whole numbers"
            )
        return DIAGONALS[diagonals]
    try:
        straight, diagonal = diagonals
    except (TypeError, ValueError):
        raise RulesError(f"diagonals must be a name or a pair, not {diagonals!r}") from None
    for factor in (straight, diagonal):
        whole = isinstance(factor, int | np.integer) and not isinstance(factor, bool)
        if not (whole and 1 <= factor <= MAX_FACTOR):
            raise RulesError(f"a pair of diagonals must be whole numbers from 1 to {MAX_FACTOR}")
    return int(straight), int(diagonal)


def checked_costs(cost: Any, name: str, *, closed: Array | None = None, ndim: int = 2) -> Array:
    """Return prices as an array of numbers: NaN, negative and (for `cost`) zero are refused."""
    if isinstance(cost, np.ma.MaskedArray):
        raise ArgumentTypeError(f"{name} must be a plain array; give its mask as `closed`")
    try:
        array = np.asarray(cost)
    except ValueError as error:
        raise MapError(f"{name} must be a full array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"{name} must be an array of numbers, not of {array.dtype}")
    if array.ndim != ndim or array.size == 0:
        shape = "(height, width)" if ndim == 2 else "(height, width, directions)"
        raise MapError(f"{name} must have the shape {shape}, one cell or more, not {array.shape}")
    is_cost = name == "cost"
    wrong = np.isnan(array) | ((array <= 0) if is_cost else ~np.isfinite(array) | (array < 0))
    if closed is not None:
        wrong &= ~closed
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        expected = "above 0, or inf for a closed cell" if is_cost else "0 or more, and finite"
        raise CostError(f"{name} at {place} is {array[place]}; expected a number {expected}")
    return array


def _shape_of(cost: Any) -> tuple[int, ...]:
    try:
        return np.shape(cost)
    except ValueError as error:
        raise MapError(f"cost must be a full array of numbers: {error}") from None


def checked_mask(mask: Any, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return an array of bool of that shape."""
    try:
        array = np.asarray(mask)
    except ValueError as error:
        raise MapError(f"{name} must be a full array of bool: {error}") from None
    if array.dtype != np.bool_:
        raise ArgumentTypeError(f"{name} must be an array of bool, not of {array.dtype}")
    if array.shape != shape:
        raise MapError(f"{name} has shape {array.shape}, the map has {shape}")
    return array


def whole_ticks(
    arrays: list[Array], *, by_one: bool = False
) -> tuple[list[Array], Fraction] | None:
    """Return arrays as whole ticks and the ticks in one unit, or None where that cannot be.

    Whole numbers and decimals to a millionth can be counted in whole ticks, as long as none needs
    more than 65,535 of them. With `by_one` a tick must be one unit.
    """
    scale = 1
    if any(float(array.max(initial=0)) > LARGEST_WHOLE for array in arrays):
        return None
    if any(array.dtype.kind == "f" for array in arrays):
        scale = MILLIONTHS
        scaled = [np.rint(array.astype(np.float64) * scale).astype(np.int64) for array in arrays]
        for array, counted in zip(arrays, scaled, strict=True):
            if not np.array_equal((counted / scale).astype(array.dtype), array):
                return None
    else:
        scaled = [array.astype(np.int64) for array in arrays]
    divisor = max(1, int(np.gcd.reduce([np.gcd.reduce(array, axis=None) for array in scaled])))
    if by_one:
        if divisor % scale:
            return None
        divisor = scale
    ticks = [array // divisor for array in scaled]
    if any(array.max(initial=0) > MAX_TICKS for array in ticks):
        return None
    return ticks, Fraction(scale, divisor)


def array_field(
    lattice: Lattice,
    cost: Any,
    *,
    diagonals: tuple[float, float] | str = (1, 1),
    parity: str = "advances",
    corners: str = "both",
    closed: Any = None,
    leave: Any = None,
    border: Any = None,
    stop: Any = None,
    halt: Any = None,
    barred: Any = None,
) -> StepField:
    """Return a step field over bare arrays; see `grid.field` for the parameters."""
    mask = None
    if closed is not None:
        mask = checked_mask(closed, "closed", _shape_of(cost))
    costs = checked_costs(cost, "cost", closed=mask)
    shape = (costs.shape[0], costs.shape[1])
    shut = np.isinf(costs)
    if mask is not None:
        shut |= mask
    # Closed cells get the least price: a lower one would only loosen the heuristic of A*.
    least = 1 if shut.all() else costs[~shut].min()
    arrays = {"enter": np.where(shut, least, costs)}
    for name, given, wanted in (
        ("leave", leave, shape),
        ("border", border, (*shape, lattice.n_directions)),
    ):
        if given is not None:
            arrays[name] = checked_costs(given, name, ndim=len(wanted))
            if arrays[name].shape != wanted:
                raise MapError(f"{name} has shape {arrays[name].shape}, expected {wanted}")
    steps = legal_steps(
        lattice,
        ~shut,
        corners=corners,
        barred=None if barred is None else _bits(barred, shape),
    )
    if not isinstance(diagonals, str) and not (steps >> lattice.n_straight).any():
        # No diagonal is legal anywhere, so what one would cost is all one.
        diagonals = (1, 1)
    prices, ticks, factors = _counted(arrays, diagonals)
    return StepField(
        lattice,
        shape,
        steps=steps,
        enter=prices["enter"],
        leave=prices.get("leave"),
        border=prices.get("border"),
        stop=None if stop is None else checked_mask(stop, "stop", shape),
        halt=None if halt is None else checked_mask(halt, "halt", shape),
        diagonal=factors,
        parity=parity,
        ticks=ticks,
        closed=shut,
    )


def _counted(
    arrays: dict[str, Array], diagonals: tuple[float, float] | str
) -> tuple[dict[str, Array], Fraction, tuple[float, float] | str]:
    """Return prices in ticks, the ticks in a unit and the factors; in floats where need be."""
    if isinstance(diagonals, str):
        counted = whole_ticks(list(arrays.values()), by_one=True)
        if counted is None:
            raise _not_whole(arrays)
        return dict(zip(arrays, counted[0], strict=True)), Fraction(1), diagonals
    straight, diagonal = diagonals
    if float(straight).is_integer() and float(diagonal).is_integer():
        counted = whole_ticks(list(arrays.values()))
        if counted is not None:
            prices = dict(zip(arrays, counted[0], strict=True))
            # Only entering is multiplied by the factors, so the rest is put in the same ticks.
            others = {k: v * int(straight) for k, v in prices.items() if k != "enter"}
            if all(array.max() <= MAX_TICKS for array in others.values()):
                return {**prices, **others}, counted[1] * int(straight), diagonals
    floats = {name: array.astype(np.float64) for name, array in arrays.items()}
    return floats, Fraction(1), (1.0, diagonal / straight)


def _not_whole(arrays: dict[str, Array]) -> CostError:
    for name, array in arrays.items():
        wrong = (array != np.floor(array)) | (array.astype(np.float64) > MAX_TICKS)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            shown = "cost" if name == "enter" else name
            return CostError(
                f"{shown} at {place} is {array[place]}; alternating diagonals count whole squares, "
                f"so it must be a whole number of at most {MAX_TICKS} (diagonals='exact' takes any)"
            )
    raise AssertionError("whole numbers that are no whole ticks")


def _bits(barred: Any, shape: tuple[int, int]) -> npt.NDArray[np.uint8]:
    array = np.asarray(barred)
    fits = array.dtype.kind in "iu" and array.shape == shape
    if not (fits and array.min() >= 0 and array.max() <= 255):
        raise MapError(
            f"barred must be bit masks of shape {shape} from 0 to 255, "
            f"not {array.shape} of {array.dtype}"
        )
    return array.astype(np.uint8)

"""Bare arrays of costs made into step fields: what `grid` and `hexes` share."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, CostError, MapError, RulesError, nearest
from fieldcraft.lattice import Lattice
from fieldcraft.step_field import StepField, legal_steps

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
MAX_TICKS = 65535


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
        if isinstance(factor, bool) or not isinstance(factor, int | np.integer) or factor < 1:
            raise RulesError(
                f"a pair of diagonals must be whole numbers above 0, not {diagonals!r}"
            )
    return int(straight), int(diagonal)


def checked_costs(cost: Any, name: str, closed: Array | None, *, ndim: int = 2) -> Array:
    """Return costs as an array of numbers: NaN, negative and (for `cost`) zero are refused."""
    try:
        array = np.asarray(cost)
    except ValueError as error:
        raise MapError(f"{name} must be a full array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"{name} must be an array of numbers, not of {array.dtype}")
    if array.ndim != ndim or array.size == 0:
        shape = "(height, width)" if ndim == 2 else "(height, width, directions)"
        raise MapError(f"{name} must have the shape {shape} with at least one cell, not {array.shape}")
    wrong = np.isnan(array) | ((array <= 0) if name == "cost" else (array < 0))
    if closed is not None and name == "cost":
        wrong &= ~closed
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        least = "above 0" if name == "cost" else "0 or more"
        raise CostError(
            f"{name} at {place} is {array[place]}; expected a number {least}"
            + (", or inf for a closed cell" if name == "cost" else "")
        )
    return array


def checked_mask(mask: Any, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return an array of bool of that shape."""
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        raise ArgumentTypeError(f"{name} must be an array of bool, not of {array.dtype}")
    if array.shape != shape:
        raise MapError(f"{name} has shape {array.shape}, the map has {shape}")
    return array


def whole_ticks(arrays: list[Array]) -> tuple[list[Array], Fraction] | None:
    """Return arrays as whole ticks and the ticks in one unit, or None where that cannot be.

    Whole numbers and decimals to a millionth can be counted in whole ticks, as long as none needs
    more than 65,535 of them.
    """
    scaled, scale = [], 1
    if any(array.dtype.kind == "f" for array in arrays):
        for array in arrays:
            finite = np.where(np.isfinite(array), array, 1.0)
            if finite.max(initial=0) > MAX_TICKS:
                return None
            if not np.array_equal(np.round(finite, 6), finite):
                return None
        scale = MILLIONTHS
    for array in arrays:
        finite = np.where(np.isfinite(array), array, 1) if array.dtype.kind == "f" else array
        if scale == 1:
            if finite.max(initial=0) > 2**62:
                return None
            scaled.append(finite.astype(np.int64))
        else:
            scaled.append(np.round(finite * scale).astype(np.int64))
    divisor = int(np.gcd.reduce([np.gcd.reduce(array, axis=None) for array in scaled if array.size]))
    divisor = max(divisor, 1)
    if any(array.max(initial=0) // divisor > MAX_TICKS for array in scaled):
        return None
    ticks = [(array // divisor).astype(np.uint16) for array in scaled]
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
        shape = np.asarray(cost).shape
        mask = checked_mask(closed, "closed", shape)
    costs = checked_costs(cost, "cost", mask)
    shape2 = (costs.shape[0], costs.shape[1])
    shut = np.isinf(costs) if costs.dtype.kind == "f" else np.zeros(shape2, bool)
    if mask is not None:
        shut = shut | mask
    arrays = [np.where(shut, 1, costs) if shut.any() else costs]
    extras = {}
    for name, given, ndim in (("leave", leave, 2), ("border", border, 3)):
        if given is not None:
            array = checked_costs(given, name, None, ndim=ndim)
            wanted = shape2 if ndim == 2 else (*shape2, lattice.n_directions)
            if array.shape != wanted:
                raise MapError(f"{name} has shape {array.shape}, expected {wanted}")
            if not np.isfinite(array).all():
                raise CostError(f"{name} must be finite; close a border with `barred`")
            extras[name] = array
            arrays.append(array)
    steps = legal_steps(
        lattice,
        ~shut,
        corners=corners,
        barred=None if barred is None else _bits(barred, shape2),
    )
    factors = diagonals
    if not isinstance(factors, str) and not (steps >> lattice.n_straight).any():
        # No diagonal is legal anywhere, so what one would cost is all one.
        factors = (1, 1)
    whole = isinstance(factors, str) or all(float(f).is_integer() for f in factors)
    counted = whole_ticks(arrays) if whole else None
    if counted is None and isinstance(factors, str):
        _refuse_alternating(arrays[0], shut)
    if counted is not None and isinstance(factors, str) and counted[1] != 1:
        factor = counted[1]
        if factor.numerator != 1:
            _refuse_alternating(arrays[0], shut)
        # 1-2-1-2 counts squares, so a square's weight must stay what it is.
        counted = ([(a * factor.denominator).astype(np.int64) for a in counted[0]], Fraction(1))
    names = list(extras)
    if counted is None:
        prices = [array.astype(np.float64) for array in arrays]
        ticks: Fraction | float = 1
    else:
        prices, ticks = counted
        if not isinstance(factors, str):
            straight = int(factors[0])
            ticks = ticks * straight
            prices = [prices[0], *(array.astype(np.int64) * straight for array in prices[1:])]
            if any(array.max(initial=0) > MAX_TICKS for array in prices[1:]):
                raise CostError("exit or border costs are too large to count in ticks")
    if counted is None and not isinstance(factors, str) and factors[0] != 1:
        factors = (1.0, factors[1] / factors[0])
    return StepField(
        lattice,
        shape2,
        steps=steps,
        enter=prices[0],
        leave=prices[1 + names.index("leave")] if leave is not None else None,
        border=prices[1 + names.index("border")] if border is not None else None,
        stop=None if stop is None else checked_mask(stop, "stop", shape2),
        halt=None if halt is None else checked_mask(halt, "halt", shape2),
        diagonal=factors,
        parity=parity,
        ticks=ticks,
        closed=shut,
    )


def _refuse_alternating(costs: Array, shut: Array) -> None:
    wrong = ~shut & (costs != np.floor(costs))
    text = "alternating diagonals count whole squares, so costs must be whole numbers"
    if wrong.any():
        row, col = (int(i) for i in np.argwhere(wrong)[0])
        raise CostError(
            f"cost at ({row}, {col}) is {costs[row, col]}, no whole number; {text} "
            "(diagonals='exact' takes any)"
        )
    raise CostError(f"{text} of at most {MAX_TICKS} ticks, exit and border costs too")


def _bits(barred: Any, shape: tuple[int, int]) -> npt.NDArray[np.uint8]:
    array = np.asarray(barred)
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise MapError(
            f"barred must be whole numbers of shape {shape} (bit k: the border in direction k), "
            f"not {array.shape} of {array.dtype}"
        )
    return array.astype(np.uint8)

"""Amounts of movement: plain numbers in a system's own unit, or text with a unit."""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fieldcraft.errors import ArgumentTypeError, CostError, nearest

__all__ = ["Quantity", "exact", "quantity"]

_UNITS = {
    "": "",
    "m": "m", "metre": "m", "metres": "m", "meter": "m", "meters": "m",
    "ft": "ft", "foot": "ft", "feet": "ft", "'": "ft",
    "sq": "sq", "square": "sq", "squares": "sq", "cell": "sq", "cells": "sq",
    "hex": "sq", "hexes": "sq",
    "pt": "pt", "pts": "pt", "point": "pt", "points": "pt",
}  # fmt: skip
# Digits are limited, since an exact fraction writes out every power of ten.
_TEXT = re.compile(
    r"\s*([+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
    r"|inf|infinity|nan)\s*([^\s0-9.].*)?"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount.

    Parameters
    ----------
    value : Fraction or None
        None: without limit.
    unit : str
        ``""`` (the system's own), ``"m"``, ``"ft"``, ``"sq"`` (cells) or ``"pt"`` (points).
    """

    value: Fraction | None
    unit: str = ""


def exact(value: Any, what: str) -> Fraction:
    """Return a finite number as an exact fraction; a float stands for its shortest decimal."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentTypeError(f"{what} must be a number, not {value!r}")
    if isinstance(value, numbers.Rational):
        # Through int: the parts of a NumPy number are NumPy numbers, which overflow.
        return Fraction(int(value.numerator), int(value.denominator))
    number = float(value)
    if not math.isfinite(number):
        raise CostError(f"{what} must be a finite number, not {number}")
    return Fraction(repr(number))


def quantity(value: Any, what: str = "budget") -> Quantity:
    """Read an amount: a number, or text such as ``"9 m"``, ``"30 ft"``, ``"6 sq"``, ``"4"``.

    Parameters
    ----------
    value : float, int, Fraction, str, Quantity or None
        None and infinity mean "no limit".
    what : str
        What to call it in an error.

    Raises
    ------
    CostError
        If the amount is negative or not a number, or its unit is unknown.
    ArgumentTypeError
        If it is neither a number nor text.
    """
    if isinstance(value, Quantity):
        return value
    if value is None:
        return Quantity(None)
    unit = ""
    if isinstance(value, str):
        match = _TEXT.fullmatch(value)
        if match is None:
            raise CostError(f"{what} must be a number, with a unit if need be, not {value[:40]!r}")
        given = (match[2] or "").strip().lower()
        if given not in _UNITS:
            raise CostError(
                f"{what} has the unknown unit {given[:40]!r}{nearest(given, _UNITS)}; "
                "expected m, ft, sq, hex or pt"
            )
        unit = _UNITS[given]
        value = float(match[1]) if match[1].isalpha() else Fraction(match[1])
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        if isinstance(value, float | numbers.Rational) is False:
            value = float(value)
        if isinstance(value, float) and math.isnan(value):
            raise CostError(f"{what} must be a number, not NaN")
        if value < 0:
            raise CostError(f"{what} must be 0 or more, not {value}")
        if isinstance(value, float) and math.isinf(value):
            return Quantity(None, unit)
    return Quantity(exact(value, what), unit)

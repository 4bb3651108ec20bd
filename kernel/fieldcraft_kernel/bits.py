"""Counting bits, in one machine instruction where compiled."""

from __future__ import annotations

from typing import Any

from numba.cpython.unsafe import numbers
from numba.extending import overload

__all__ = ["lowest_bit"]

_trailing_zeros: Any = numbers.trailing_zeros


def lowest_bit(mask: Any) -> int:
    """Return the number of the lowest bit set in a mask that is not 0."""
    bits = int(mask)
    return (bits & -bits).bit_length() - 1


@overload(lowest_bit, strict=False)
def _lowest_bit(mask: Any) -> Any:
    return lambda mask: _trailing_zeros(mask)

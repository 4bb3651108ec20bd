"""Counting bits, in one machine instruction where compiled."""

from __future__ import annotations

from typing import Any

from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import overload

__all__ = ["lowest_bit"]


def lowest_bit(mask: Any) -> int:
    """Return the number of the lowest bit set in a mask that is not 0."""
    value = int(mask)
    return (value & -value).bit_length() - 1


@overload(lowest_bit, strict=False)
def _lowest_bit(mask: Any) -> Any:
    count: Any = trailing_zeros
    return lambda mask: count(mask)

"""Counting bits, in one machine instruction where compiled, or a few.

Words are unsigned: mixed with signed integers they would become floats in plain Python, and their
shifts arithmetic where they are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe import numbers
from numba.extending import overload

__all__ = ["count_bits", "highest_bit", "lowest_bit"]

_trailing_zeros: Any = numbers.trailing_zeros
_leading_zeros: Any = numbers.leading_zeros
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


def lowest_bit(word: Any) -> int:
    """Return the number of the lowest bit set in a word that is not 0."""
    value = int(word)
    return (value & -value).bit_length() - 1


@overload(lowest_bit, strict=False)
def _lowest_bit(word: Any) -> Any:
    return lambda word: np.int64(_trailing_zeros(word))


def highest_bit(word: Any) -> int:
    """Return the number of the highest bit set in a word uint64 that is not 0."""
    return int(word).bit_length() - 1


@overload(highest_bit, strict=False)
def _highest_bit(word: Any) -> Any:
    return lambda word: 63 - np.int64(_leading_zeros(word))


def count_bits(word: Any) -> int:
    """Return how many bits of a word uint64 are set."""
    return int(word).bit_count()


@overload(count_bits, strict=False)
def _count_bits(word: Any) -> Any:
    def count(word: Any) -> Any:
        # Sums of two, four and eight bits side by side; the product adds the eight bytes up.
        word = word - ((word >> np.uint64(1)) & PAIRS)
        word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
        word = (word + (word >> np.uint64(4))) & EIGHTS
        return np.int64((word * BYTES) >> np.uint64(56))

    return count

"""Sixty-four cells in a word: where bits are, and how blocks of them are turned.

Words are uint64, and so are shift counts: mixed with signed integers they would become floats in
plain Python, and arithmetic shifts where they are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe import numbers
from numba.extending import overload

from fieldcraft_kernel._jit import jit

NONE = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(2**64 - 1)
LAST = np.uint64(63)
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


def lowest_bit(word: Any) -> int:
    """Return the place of the lowest bit that is set; the word is not 0."""
    value = int(word)
    return (value & -value).bit_length() - 1


@overload(lowest_bit, strict=False)
def _lowest_bit(word: Any) -> Any:
    zeros: Any = numbers.trailing_zeros  # one instruction of the processor
    return lambda word: np.int64(zeros(word))


def highest_bit(word: Any) -> int:
    """Return the place of the highest bit that is set; the word is not 0."""
    return int(word).bit_length() - 1


@overload(highest_bit, strict=False)
def _highest_bit(word: Any) -> Any:
    zeros: Any = numbers.leading_zeros
    return lambda word: 63 - np.int64(zeros(word))


def count_bits(word: Any) -> int:
    """Return how many bits are set."""
    return int(word).bit_count()


@overload(count_bits, strict=False)
def _count_bits(word: Any) -> Any:
    def count(word: Any) -> Any:
        # Sums of two, four and eight bits side by side; the product adds the eight bytes up.
        word = word - ((word >> ONE) & PAIRS)
        word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
        word = (word + (word >> np.uint64(4))) & EIGHTS
        return np.int64((word * BYTES) >> np.uint64(56))

    return count


@jit
def turn_block(block: Any) -> None:
    """Exchange rows and columns of 64 x 64 bits: block uint64 (64,), in place.

    Halves of the block change places, then quarters, down to single bits.
    """
    half = 32
    mask = ALL >> np.uint64(32)
    while half:
        shift = np.uint64(half)
        row = 0
        while row < 64:
            # Bits above the half in the upper row go below it in the lower row, and back.
            moved = ((block[row] >> shift) ^ block[row + half]) & mask
            block[row] ^= moved << shift
            block[row + half] ^= moved
            row = (row + half + 1) & ~half
        half >>= 1
        mask ^= mask << np.uint64(half)

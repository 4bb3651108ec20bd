"""Sixty-four cells in a word: constants, and how blocks of them are turned.

Words are uint64, and so are shift counts: mixed with signed integers they would become floats in
plain Python, and arithmetic shifts where they are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit

NONE = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(2**64 - 1)
LAST = np.uint64(63)


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

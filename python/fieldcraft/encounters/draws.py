"""Random numbers that are the same on every machine and under every version of NumPy.

NumPy keeps the output of its bit generators for ever, but not what `numpy.random.Generator` makes
of it. So numbers are drawn from the bits here, in whole numbers only.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError

__all__ = ["Draws", "as_seed"]

Ints = npt.NDArray[np.int64]


class Draws:
    """Numbers of one stream, which the seed and the numbers of its key tell from all others."""

    def __init__(self, seed: int, *key: int) -> None:
        self.bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))

    def raw(self, *shape: int) -> Ints:
        """Return whole numbers below 2**32, evenly drawn."""
        drawn: Any = self.bits.random_raw(int(np.prod(shape)))
        numbers: Ints = (drawn >> np.uint64(32)).astype(np.int64).reshape(shape)
        return numbers

    def below(self, limit: npt.ArrayLike, *shape: int) -> Ints:
        """Return whole numbers from 0 to below a limit, or below limits of that shape."""
        numbers: Ints = self.raw(*shape) * np.asarray(limit, np.int64) >> 32
        return numbers

    def one(self, limit: int) -> int:
        """Return one number from 0 to below a limit."""
        return int(self.below(limit, 1)[0])

    def roll(self, count: int, sides: int, plus: int, times: int) -> Ints:
        """Return what dice show, rolled so many times."""
        rolls: Ints = self.below(sides, times, count).sum(axis=1) + count + plus
        return rolls


def as_seed(seed: Any) -> int:
    """Return a seed as an integer, or raise ArgumentTypeError."""
    try:
        found = operator.index(seed)
    except TypeError:
        found = -1
    if found < 0 or isinstance(seed, bool | np.bool_):
        raise ArgumentTypeError(f"seed must be a whole number, 0 or more, not {seed!r}")
    return found

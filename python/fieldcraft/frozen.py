"""Arrays closed to writing, and values that hold such arrays through copies and pickles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Frozen", "frozen"]


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of one's own, C-contiguous, closed to writing."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


class Frozen:
    """A value whose arrays are closed to writing, also after a pickle, which forgets that."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, np.ndarray):
                    item.flags.writeable = False
        self.__dict__.update(state)

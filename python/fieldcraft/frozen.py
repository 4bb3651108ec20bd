"""Arrays closed to writing, and values that hold such arrays through copies and pickles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

__all__ = ["Frozen", "cached_property", "frozen"]

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """A property worked out when first asked for, and then kept: as `functools` has it.

    That of Python 3.11 holds one lock for all objects while it works, so that a batch could wait
    for its own threads. Two threads may work it out twice here, to the same end.
    """

    def __init__(self, work: Callable[[Any], Value]) -> None:
        self.work = work
        self.__doc__ = work.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(
        self, instance: object | None, owner: type | None = None
    ) -> cached_property[Value] | Value:
        if instance is None:
            return self
        value = self.work(instance)
        instance.__dict__[self.name] = value
        return value


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

"""The one preset with which every kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Return the function as a kernel: compiled at its first call, its code kept on disk.

    Kernels release the GIL. There are no parallel loops, and no fast maths, which would take
    infinity and NaN out of the answers. To a type checker the function stays what it was, and with
    ``NUMBA_DISABLE_JIT=1`` it really does.
    """
    return cast(F, numba.jit(nopython=True, nogil=True, cache=True)(function))

"""Many arrays as one argument: a book of their addresses.

Handing an array to a compiled function from Python costs some 85 ns, returning one 500 ns; a search
of 75 cells takes 4 microseconds, and its arrays are the same each time. So whoever owns them writes
their addresses and lengths down once (`WORDS` and so on; each address is followed by the length)
and hands over that. The owner keeps the arrays alive for as long as the book is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.numpy_support import carray

WORDS, PLAN, TOTALS, ORDER, QUEUE, OUT, CELLS, COSTS, REST = 0, 2, 4, 6, 8, 10, 12, 14, 16
NEAR_WORDS, NEAR_PLAN, NEAR_TOTALS = 18, 20, 22
N_BOOK = 24


def _cast_pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


_pointer: Any = intrinsic(_cast_pointer)


def array_at(book: Any, place: int, dtype: Any) -> Any:
    """Return the array whose address and length stand at a place of a book int64 (N_BOOK,)."""
    kind = np.ctypeslib.as_ctypes_type(dtype)
    length = int(book[place + 1])
    return np.ctypeslib.as_array((kind * length).from_address(int(book[place])))


@overload(array_at, strict=False)
def _array_at(book: Any, place: Any, dtype: Any) -> Any:
    return lambda book, place, dtype: carray(_pointer(book[place]), (book[place + 1],), dtype)

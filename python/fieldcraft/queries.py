"""What every query needs: cells checked against the map, and batches spread over the cores."""

from __future__ import annotations

import contextlib
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token, as_cell
from fieldcraft.errors import ArgumentTypeError, OutsideMapError
from fieldcraft.lattice import Cell

__all__ = [
    "Batch",
    "alone",
    "batch_array",
    "batch_of",
    "cells_of",
    "checked_cells",
    "cores",
    "in_turn",
    "on_map",
    "spread",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

BLOCKS_A_WORKER = 12
"""Enough to even out what is unlike, and for an interrupt not to wait for the whole batch."""
SHOWN = 20
"""Answers of a batch that are shown one by one."""


class Batch(Sequence[Result]):
    """The answers of a batch, in order: a sequence that makes each when it is asked for.

    It equals any sequence of the same answers.
    """

    def __init__(self, n: int, make: Callable[[int], Result]) -> None:
        self._n, self._make = n, make

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self._make(i) for i in range(*index.indices(self._n))]
        place = operator.index(index)
        if not -self._n <= place < self._n:
            raise IndexError(f"answer {place} of a batch of {self._n}")
        return self._make(place % self._n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)

    def __repr__(self) -> str:
        return repr(list(self)) if self._n <= SHOWN else f"Batch({self._n} answers)"


def on_map(cell: Any, shape: tuple[int, int], what: str = "cell") -> Cell:
    """Return the cell as two integers, or raise OutsideMapError."""
    height, width = shape
    if type(cell) is tuple and len(cell) == 2:
        # The ordinary case, in a fifth of the time.
        row, col = cell
        if type(row) is type(col) is int and 0 <= row < height and 0 <= col < width:
            return row, col
    row, col = as_cell(cell, what)
    if not (0 <= row < height and 0 <= col < width):
        raise OutsideMapError(
            f"{what} ({row}, {col}) lies outside the map of shape ({height}, {width}); "
            f"rows run from 0 to {height - 1}, columns from 0 to {width - 1}"
        )
    return row, col


def cells_of(given: Any, shape: tuple[int, int], what: str) -> list[Cell]:
    """Return one cell, or several of shape (n, 2), as a list of checked cells."""
    try:
        array = _array_of(given)
    except ValueError:
        raise ArgumentTypeError(f"{what} must be a cell or several, not {given!r}") from None
    if array.ndim != 2:
        return [on_map(given, shape, what)]
    return [on_map(cell, shape, what) for cell in batch_of(given, (2,), what, empty=False)]


def _without_tokens(given: Any) -> Any:
    """Return cells and pairs with each token replaced by the cell it stands on."""
    if isinstance(given, Token):
        return given.cell
    if isinstance(given, list | tuple):
        return [_without_tokens(item) for item in given]
    return given


def _array_of(given: Any) -> npt.NDArray[Any]:
    """Return cells as an array; only what NumPy cannot read is searched for tokens."""
    try:
        array = np.asarray(given)
    except ValueError:
        return np.asarray(_without_tokens(given))
    return array if array.dtype != object else np.asarray(_without_tokens(given))


def batch_of(given: Any, shape: tuple[int, ...], what: str, *, empty: bool = True) -> list[Any]:
    """Return whole numbers of shape (n, *shape) as nested lists, or raise ArgumentTypeError."""
    cells: list[Any] = batch_array(given, shape, what, empty=empty).tolist()
    return cells


def batch_array(
    given: Any, shape: tuple[int, ...], what: str, *, empty: bool = True
) -> npt.NDArray[Any]:
    """Return whole numbers of shape (n, *shape) as an array, or raise ArgumentTypeError."""
    try:
        array = _array_of(given)
    except ValueError:
        array = np.zeros((0, 0, 0, 0))
    if array.size == 0 and array.ndim <= 1 + len(shape):
        if empty:
            return np.zeros((0, *shape), np.int64)
        raise ArgumentTypeError(f"{what} needs at least one cell")
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape or array.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"{what} must be whole numbers of shape (n, {', '.join(map(str, shape))}), not "
            f"shape {array.shape} of {array.dtype}"
        )
    return array


def checked_cells(
    given: Any,
    shape: tuple[int, int],
    each: tuple[int, ...],
    what: str,
    roles: tuple[str, ...],
) -> npt.NDArray[np.int64]:
    """Return a batch of cells, shape (n, *each), that all lie on the map, C-contiguous.

    `roles` names the cells of one item, in order; the first one off the map is reported.
    """
    array = batch_array(given, each, what)
    rows, cols = array[..., 0], array[..., 1]
    height, width = shape
    if array.size and not (
        rows.min() >= 0 and cols.min() >= 0 and rows.max() < height and cols.max() < width
    ):
        for i, (row, col) in enumerate(array.reshape(-1, 2).tolist()):
            on_map((row, col), shape, roles[i % len(roles)])
    return np.ascontiguousarray(array, np.int64)


def cores() -> int:
    """Return the cores this process may use; ``NUMBA_NUM_THREADS`` may say fewer."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(found or 1, int(wanted)) if wanted.isdigit() and int(wanted) else found or 1


class _Team(threading.local):
    """Whether this thread is one that works for `spread`."""

    is_working = False


_TEAM = _Team()
_POOLS: dict[int, ThreadPoolExecutor] = {}
_POOLS_LOCK = threading.Lock()
"""One pool for a number of cores, which is nearly always the same."""


def _join_team() -> None:
    _TEAM.is_working = True


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Let what is asked in here be worked out by this thread: the other cores have work already."""
    before = _TEAM.is_working
    _TEAM.is_working = True
    try:
        yield
    finally:
        _TEAM.is_working = before


def _pool(workers: int) -> ThreadPoolExecutor:
    """Return threads that stay: starting them takes a millisecond, as long as many a batch."""
    with _POOLS_LOCK:
        if workers not in _POOLS:
            _POOLS[workers] = ThreadPoolExecutor(workers, "fieldcraft", _join_team)
        return _POOLS[workers]


def _forget_pools() -> None:
    """Forget the threads of the parent: a child that was forked has none."""
    global _POOLS_LOCK
    _POOLS_LOCK = threading.Lock()
    _POOLS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


def in_turn(items: Sequence[Item], make: Callable[[Item], Result]) -> Iterator[Result]:
    """Yield ``make(item)`` in order; the next ones are worked out on other threads meanwhile.

    Nothing goes on behind the caller's back when the iterator is dropped.
    """
    workers = min(cores(), len(items))
    if workers <= 1 or _TEAM.is_working:
        yield from map(make, items)
        return
    pool = _pool(cores())
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(make, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        _stop(waiting)


def spread(n: int, part: Callable[[int, int], list[Result]], *, least: int = 1) -> list[Result]:
    """Return the results of `part(begin, end)` over ``range(n)``, on as many threads as cores.

    The caller works along, so that what is short need not wait for a thread to wake up. `least`: so
    many are worth a block, which costs some 10 microseconds to hand out, and a thread's help 30.
    """
    workers = min(cores(), n // least)
    if workers <= 1 or _TEAM.is_working:  # whoever waited for its own team would wait for ever
        return part(0, n) if n else []
    n_blocks = min(n // least, workers * BLOCKS_A_WORKER)
    bounds = [n * i // n_blocks for i in range(n_blocks + 1)]
    todo = deque(enumerate(pairwise(bounds)))
    found: list[list[Result]] = [[] for _ in range(n_blocks)]

    def work() -> None:
        try:
            while True:
                try:
                    i, (begin, end) = todo.popleft()
                except IndexError:
                    return
                found[i] = part(begin, end)
        except BaseException:
            todo.clear()  # nobody begins anything more
            raise

    pool = _pool(cores())
    others: list[Future[None]] = []
    _TEAM.is_working = True
    try:
        others += [pool.submit(work) for _ in range(workers - 1)]
        work()
    finally:
        _TEAM.is_working = False
        helped = _stop(others)
    for one in helped:
        one.result()
    return [result for block in found for result in block]


def _stop(tasks: Iterable[Future[Result]]) -> list[Future[Result]]:
    """Call off the tasks that nobody has begun, and wait for the others; return these.

    Nothing goes on behind the caller's back then, after an error or an interrupt neither. A task
    called off counts as done only when a thread comes by, so it is not waited for.
    """
    begun = [one for one in tasks if not one.cancel()]
    wait(begun)
    return begun

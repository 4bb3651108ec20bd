"""How many cores the library's batches may use, within one process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "NUMBA_NUM_THREADS"


def available() -> int:
    """Return the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def cores(n: int) -> Iterator[None]:
    """Let batches use so many cores; the library looks when a batch begins."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(n)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before

"""Monotone priority queues over preallocated arrays: circular buckets, or a binary heap.

Both share one pool of entries (`pool_state`, `pool_key`, `pool_next`) and one set of counters. An
entry is never moved to another key: a state that improves is pushed again and the old entry is
recognised when it comes out, since its key is no longer the state's total (lazy deletion). The
pool may fill up; a push then answers False and the caller, who can make a larger pool, starts
again. The queue itself can therefore never be overrun, whatever the map.

Buckets: `head` has a power of two of slots and a key belongs to slot ``bucket & (slots - 1)``. The
caller guarantees that all keys alive at one time lie within ``slots`` buckets. A `head` of no slots
means: use the heap.
"""

from __future__ import annotations

from typing import Any

from fieldcraft_kernel._jit import jit

FREE, USED, LIVE = 0, 1, 2
"""Counters: first entry of the free list, entries ever used, entries alive."""
N_COUNTERS = 3


@jit
def reset(head: Any, counters: Any) -> None:
    """Empty the queue: head int32 (slots), counters int64 (N_COUNTERS)."""
    head[:] = -1
    counters[FREE] = -1
    counters[USED] = 0
    counters[LIVE] = 0


@jit
def push_bucket(
    head: Any,
    pool_state: Any,
    pool_key: Any,
    pool_next: Any,
    counters: Any,
    slot: int,
    state: int,
    key: Any,
) -> bool:
    """Put a state into a bucket; False if the pool is full."""
    entry = counters[FREE]
    if entry >= 0:
        counters[FREE] = pool_next[entry]
    else:
        entry = counters[USED]
        if entry == pool_state.shape[0]:
            return False
        counters[USED] = entry + 1
    pool_state[entry] = state
    pool_key[entry] = key
    pool_next[entry] = head[slot]
    head[slot] = entry
    counters[LIVE] += 1
    return True


@jit
def pop_bucket(head: Any, pool_next: Any, counters: Any, slot: int) -> int:
    """Take the newest entry of a bucket that has one and return its place in the pool."""
    entry = int(head[slot])
    head[slot] = pool_next[entry]
    pool_next[entry] = counters[FREE]
    counters[FREE] = entry
    counters[LIVE] -= 1
    return entry


@jit
def push_heap(pool_state: Any, pool_key: Any, counters: Any, state: int, key: Any) -> bool:
    """Put a state into the binary heap kept in the pool; False if the pool is full."""
    place = counters[LIVE]
    if place == pool_state.shape[0]:
        return False
    counters[LIVE] = place + 1
    if place >= counters[USED]:
        counters[USED] = place + 1
    while place > 0:
        above = (place - 1) >> 1
        if pool_key[above] <= key:
            break
        pool_state[place] = pool_state[above]
        pool_key[place] = pool_key[above]
        place = above
    pool_state[place] = state
    pool_key[place] = key
    return True


@jit
def pop_heap(pool_state: Any, pool_key: Any, counters: Any) -> tuple[int, Any]:
    """Take the least entry of a heap that is not empty and return (state, key)."""
    state, key = int(pool_state[0]), pool_key[0]
    last = counters[LIVE] - 1
    counters[LIVE] = last
    moved_state, moved_key = pool_state[last], pool_key[last]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        if below + 1 < last and pool_key[below + 1] < pool_key[below]:
            below += 1
        if pool_key[below] >= moved_key:
            break
        pool_state[place] = pool_state[below]
        pool_key[place] = pool_key[below]
        place = below
    pool_state[place] = moved_state
    pool_key[place] = moved_key
    return state, key

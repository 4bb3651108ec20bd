"""The plain movement graph: one layer, whole ticks, no links; and the queue its searches use.

A plain graph is what bare arrays and most creatures on most boards come to. It is laid out for
speed: all that is known of a cell is one word, and a state is a cell, or, where the parity of
diagonals must be told apart, ``row * N + cell``.

words   uint32 (N,)     the legal directions (bits 0 to 7), the parity of a hex (ODD), whether a
                        movement may end there (STOP), the ticks to enter (from ENTER on)
dues    uint16 (N, 1) or (N, 9)     ticks to leave, and for the border in each direction; (0, 1)
                        where there are none, but two rows of states
plan    int64 (N_PLAN,) what else there is to know, see below

A graph is *bare* where it has one row of states and no dues; `dues` then has the rank 1, which is
known when a kernel is compiled, so that bare graphs pay for nothing they have not.

The queue is a ring of buckets of one tick each, in one array uint32: first a bit for each bucket
that says whether it is not empty, so that empty ones are passed 32 or 64 at a time; then for each
the place of its newest entry, 0 where it is empty; then the pool, in two halves. An entry is two
words: the place of the one before it in its bucket, and a state with the direction in which it was
entered. Its tick is the bucket's, and when it comes out it is stale if that is no longer the
state's total.

Entries are written one after the other into one half of the pool. One more is always written, and
stays if the step was an improvement: whether it is cannot be foretold, and a branch that is guessed
wrong costs more than the writing. (A* branches, as most of its steps improve nothing.) Where a half
is full, what is in the buckets is gathered in the other, so the pool stays small and near however
many there were.

Proof of size: prices are at least 1 and the ring is longer than the dearest step (with a heuristic
twice that, see graph.py), so ticks alive differ in their slots. Each improvement of a state is one
entry, and one expansion writes at most eight and one on trial (SPARE). It begins with that much
room: where gathering fills more than half of a half, the search is stopped (POOL_FULL), and the
caller begins again with a larger pool.

Who was entered in direction d need not look at what its predecessor reached at once and no dearer:
the directions that are left are ``plan[KEEP + d]``, worked out for each field (`keep_needed`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.steps import NO_WAY

ODD, STOP, ENTER = 8, 9, 16
"""Bits of a word."""
ENTRY, SPARE = 2, 18
"""Words of an entry in the queue, and of the nine that an expansion needs at most."""

# Places in `plan`. TOP is where the places of the buckets begin in a queue; the pool begins SLOTS
# later. KIND is that of the lattice (lattice.py). What no way undercuts: STRAIGHT for a straight
# step, and for n diagonal ones UNIT times n DIAGONAL (and 1 where the dear one comes first) shifted
# by SHIFT. From KEEP on there are the directions to look in, by the direction of entry, or START.
# From MOVES on, for each row of states or parity of a hex, lines of 8 directions: flat step to the
# neighbour; what its entry is multiplied by; rows and columns to the neighbour; the direction back;
# and, where the graph is not bare, what is added before the shift, and where the states of the row
# entered begin.
WIDTH, SLOTS, SHIFT, PARITY, FLIP, TICKS, UNITS, LEAST = 0, 1, 2, 3, 4, 5, 6, 7
KEEP, START, TOP, KIND, STRAIGHT, DIAGONAL, UNIT, MOVES = 8, 8, 17, 18, 19, 20, 21, 24
OFFSET, SCALE, DOWN, RIGHT, BACK, EXTRA, TURN = 0, 8, 16, 24, 32, 40, 48
N_MOVES = 56
N_PLAN = MOVES + 2 * N_MOVES
NO_PARITY, IN_TOTALS, IN_ROWS = 0, 1, 2
"""Where the parity of diagonals is kept."""

DONE, POOL_FULL, BEYOND = 0, 1, 2
"""Status: BEYOND says that some way leads beyond the limit."""


@jit
def wipe(plan: Any, totals: Any, queue: Any) -> tuple[int, int]:
    """Blank the scratch of a search that ran out of pool, which is rare, and say so."""
    for i in range(totals.shape[0]):
        totals[i] = NO_WAY
    for i in range(plan[TOP] + plan[SLOTS]):
        queue[i] = 0
    return 0, POOL_FULL


@jit
def gather(plan: Any, queue: Any, to: Any) -> Any:
    """Copy all entries into the half of the pool that begins at `to`; return the place after."""
    u: Any = np.uint64
    top = u(plan[TOP])
    for slot in range(plan[SLOTS]):
        last = top + u(slot)
        place = u(queue[last])
        while place:
            queue[last] = to
            queue[to + u(1)] = queue[place + u(1)]
            last = to
            to += u(ENTRY)
            place = u(queue[place])
        queue[last] = 0
    return to


@jit
def blank(totals: Any, order: Any, n: int) -> None:
    """Blank the totals of the first n states listed."""
    for i in range(n):
        totals[order[i]] = NO_WAY


@jit
def pack(
    steps: Any, enter: Any, stop: Any, parity_bit: int, begin: int, end: int, words: Any
) -> None:
    """Write the words of some cells, from `begin` to `end`.

    In: steps uint8, enter uint16, stop bool (N,); parity_bit, where a step mask has the parity of
    its hex, or -1. Out: words uint32 (N,).
    """
    for cell in range(begin, end):
        mask = int(steps[cell])
        odd = 0
        if parity_bit >= 0:
            odd = (mask >> parity_bit) & 1
            mask &= (1 << parity_bit) - 1
        may_stop = 1 if stop[cell] else 0
        words[cell] = mask | odd << ODD | may_stop << STOP | int(enter[cell]) << ENTER


@jit
def keep_needed(words: Any, instead: Any, begin: int, end: int, plan: Any) -> None:
    """Keep the directions that some cell needs, who was entered in direction d, for each d.

    In: words; instead int64 (8, 8): the direction that leads at once where d and then k lead
    together, 8 where that is back to the beginning, -1 where there is none or it is dearer.
    In, out: plan, whose KEEP has what is kept so far: k is added where d and then k are legal from
    a cell from `begin` to `end` and the direct step is not.
    """
    allowed = np.zeros((8, 256), np.int64)
    for d in range(8):
        for mask in range(256):
            for k in range(8):
                direct = instead[d, k]
                if direct == 8 or (direct >= 0 and (mask >> direct) & 1):
                    allowed[d, mask] |= 1 << k
    for cell in range(begin, end):
        mask = int(words[cell] & 255)
        moves = MOVES + N_MOVES * (int(words[cell] >> ODD) & 1)
        for d in range(8):
            if (mask >> d) & 1:
                beyond = cell + plan[moves + OFFSET + d]
                plan[KEEP + d] |= int(words[beyond] & 255) & ~allowed[d, mask]

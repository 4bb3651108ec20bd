"""Least totals on many small maps: masks of legal steps, a flood and its answer for each in turn.

For training loops, which ask one question of each of thousands of maps: what a map costs besides
its search must be small, so everything is done in one call for a block of maps, in scratch of one
map that stays in the nearest cache.

The flood is Dial's, on circular buckets ("Algorithm 360", CACM 12, 1969), which are arrays of their
own here. A state enters a bucket once a total, since it must have improved, and a bucket holds one
total at a time; so a bucket with room for every state, and one entry that does not count, is never
overrun. (The floods of large maps share a pool instead, see plain.py: so much room would not fit.)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.steps import PARITY_BIT

BOTH, EITHER, FREE = 0, 1, 2
"""What a diagonal step asks of the two cells beside it; see `legal.legal_steps`."""


class Rule(NamedTuple):
    """What all maps of a stack have in common.

    offsets     int64 (16,)     flat step to each neighbour on the padded map, 8 a parity
    n_directions, n_straight    int64
    is_hex      int64
    is_flat     int64       1: the parity is that of the column
    corners     int64       BOTH, EITHER or FREE
    n_rows      int64       2: states tell the parity of diagonals apart, and diagonals change it
    scale, extra    int64 (2, 2)    by row; straight, diagonal: what `ticks` is multiplied by, and
                            what is then added
    shift       int64       by how many bits that sum is shifted right
    halves      int64       1: totals are twice what they stand for, but for the lowest bit
    numerator, denominator  float64     ticks in a unit
    """

    offsets: Any
    n_directions: Any
    n_straight: Any
    is_hex: Any
    is_flat: Any
    corners: Any
    n_rows: Any
    scale: Any
    extra: Any
    shift: Any
    halves: Any
    numerator: Any
    denominator: Any


class Scratch(NamedTuple):
    """What one map is worked out in: N padded cells, R rows.

    ticks       uint16 (N,)     0 where closed, as is the ring of padding, which stays as given
    is_open     uint8 (N,)
    steps       uint8 (N,)
    prices      int32 (2 * R * N,)  to enter a cell, by row; straight, diagonal
    totals      int32 (R * N,)
    buckets     int32 (slots * (R * N + 1),)    slots: a power of two, more than the dearest price;
                                    a state comes into a bucket once for each total
    counts      int32 (slots,)      entries of each
    """

    ticks: Any
    is_open: Any
    steps: Any
    prices: Any
    totals: Any
    buckets: Any
    counts: Any


@jit
def whole_numbers(out: Any, costs: Any) -> tuple[int, int]:
    """Turn costs into whole ticks, infinity into 0, which closes a cell.

    Out: uint16 (m,); in: costs float64 (m,). Returns the place of the first cost that is NaN or
    not above 0, or -1, and 0 where some is no whole number of at most 65,535.
    """
    wrong, fits = 0, 1
    for i in range(costs.shape[0]):
        cost = costs[i]
        # Written so that NaN is wrong, and without a way out, which would stop vector code.
        wrong |= not cost > 0
        closed = cost == math.inf
        ticks = np.uint16(cost) if 0 < cost <= 65535 else np.uint16(0)
        fits &= closed | (np.float64(ticks) == cost)
        out[i] = ticks
    if wrong:
        for i in range(costs.shape[0]):
            if not costs[i] > 0:
                return i, fits
    return -1, fits


@jit
def pad(scratch: Scratch, ticks: Any) -> None:
    """Write the padded ticks of a map and which cells are open; ticks uint16 (H, W)."""
    padded, is_open = scratch.ticks, scratch.is_open
    height, width = ticks.shape
    for row in range(height):
        begin = (row + 1) * (width + 2) + 1
        into, from_ = padded[begin : begin + width], ticks[row]
        for col in range(width):
            into[col] = from_[col]
    for cell in range(padded.shape[0]):
        is_open[cell] = np.uint8(padded[cell] != 0)


@jit
def square_steps(steps: Any, is_open: Any, width: int, rule: Rule) -> None:
    """Write the legal steps of a padded map of squares: steps, is_open uint8 (N,).

    What it writes for cells of the ring means nothing; no step leads there.
    """
    wide = width + 2
    size = steps.shape[0] - 2 * (wide + 1)
    # Slices of the whole map, one for each of the cells around, so that this is vector code.
    nw, n, ne = is_open[:size], is_open[1 : 1 + size], is_open[2 : 2 + size]
    w, e = is_open[wide : wide + size], is_open[wide + 2 : wide + 2 + size]
    south = 2 * wide
    sw, s = is_open[south : south + size], is_open[south + 1 : south + 1 + size]
    se = is_open[south + 2 : south + 2 + size]
    into = steps[wide + 1 : wide + 1 + size]
    for i in range(size):
        into[i] = np.uint8(n[i] | e[i] << 1 | s[i] << 2 | w[i] << 3)
    if rule.n_directions == 4:
        return
    if rule.corners == BOTH:
        for i in range(size):
            a, b = np.uint8(ne[i] & n[i] & e[i]), np.uint8(se[i] & s[i] & e[i])
            c, d = np.uint8(sw[i] & s[i] & w[i]), np.uint8(nw[i] & n[i] & w[i])
            into[i] = np.uint8(into[i] | a << 4 | b << 5 | c << 6 | d << 7)
    elif rule.corners == EITHER:
        for i in range(size):
            a, b = np.uint8(ne[i] & (n[i] | e[i])), np.uint8(se[i] & (s[i] | e[i]))
            c, d = np.uint8(sw[i] & (s[i] | w[i])), np.uint8(nw[i] & (n[i] | w[i]))
            into[i] = np.uint8(into[i] | a << 4 | b << 5 | c << 6 | d << 7)
    else:
        for i in range(size):
            into[i] = np.uint8(into[i] | ne[i] << 4 | se[i] << 5 | sw[i] << 6 | nw[i] << 7)


@jit
def hex_steps(steps: Any, is_open: Any, height: int, width: int, rule: Rule) -> None:
    """Write the legal steps of a padded map of hexagons, and the parity of each cell's line."""
    offsets = rule.offsets
    for row in range(height):
        for col in range(width):
            cell = (row + 1) * (width + 2) + col + 1
            parity = (col if rule.is_flat else row) & 1
            mask = parity << PARITY_BIT
            for k in range(6):
                mask |= is_open[cell + offsets[8 * parity + k]] << k
            steps[cell] = mask


@jit
def flood(scratch: Scratch, rule: Rule, start: int, initial: int, limit: int) -> None:
    """Find the least totals from a state: scratch.totals, before it all more than the limit.

    In: scratch.steps and .prices; the start's total; the largest total.

    Whether a step improves a total is anybody's guess, so nothing branches on it: the state is
    always written behind its bucket, and counted if the step is legal and improves it. Into a
    closed cell, whose price is 0, that writes over the first entry of the bucket being emptied,
    which has been read by then.
    """
    steps, prices, totals = scratch.steps, scratch.prices, scratch.totals
    buckets, counts, offsets = scratch.buckets, scratch.counts, rule.offsets
    n_directions, n_straight = rule.n_directions, rule.n_straight
    n_cells = steps.shape[0]
    flips = n_cells if rule.n_rows == 2 else 0
    is_hex = rule.is_hex
    slots = counts.shape[0]
    capacity = buckets.shape[0] // slots
    wrap = slots - 1
    counts[:] = 0
    totals[start] = initial
    buckets[(initial & wrap) * capacity] = start
    counts[initial & wrap] = 1
    total = initial
    empty = 0
    while empty < slots:
        slot = total & wrap
        # Every price is above 0 and below the number of buckets: none is put into this one now.
        size = np.int64(counts[slot])
        if size == 0:
            empty += 1
            total += 1
            continue
        counts[slot] = 0
        empty = 0
        for i in range(slot * capacity, slot * capacity + size):
            state = np.int64(buckets[np.uint64(i)])
            if totals[np.uint64(state)] != total:
                continue
            base = n_cells if state >= n_cells else 0
            cell = state - base
            mask = np.int64(steps[np.uint64(cell)])
            around = ((mask >> PARITY_BIT) & is_hex) << 3
            # Unsigned, or every access asks whether its index counts from the end.
            for k in range(n_straight):
                beyond = cell + offsets[np.uint64(around + k)]
                new = total + prices[np.uint64(2 * base + beyond)]
                there = np.uint64(base + beyond)
                old = totals[there]
                better = np.int64(new < old) & (mask >> k) & 1
                into = np.uint64(new & wrap)
                place = np.int64(counts[into])
                buckets[np.uint64((new & wrap) * capacity + place)] = there
                counts[into] = place + better
                totals[there] = new if better else old
            for k in range(n_straight, n_directions):
                beyond = cell + offsets[np.uint64(around + k)]
                new = total + prices[np.uint64(2 * base + n_cells + beyond)]
                there = np.uint64(flips - base + beyond)
                old = totals[there]
                better = np.int64(new < old) & (mask >> k) & 1
                into = np.uint64(new & wrap)
                place = np.int64(counts[into])
                buckets[np.uint64((new & wrap) * capacity + place)] = there
                counts[into] = place + better
                totals[there] = new if better else old
        total += 1


@jit
def price_cells(scratch: Scratch, rule: Rule) -> None:
    """Write what it costs to enter each cell of a padded map."""
    ticks = scratch.ticks
    n_cells = ticks.shape[0]
    shift = np.int32(rule.shift)
    for line in range(2 * rule.n_rows):
        scale = np.int32(rule.scale[line >> 1, line & 1])
        extra = np.int32(rule.extra[line >> 1, line & 1])
        into = scratch.prices[line * n_cells : (line + 1) * n_cells]
        for cell in range(n_cells):
            into[cell] = (np.int32(ticks[cell]) * scale + extra) >> shift


@jit
def distances_each(
    out: Any,
    ticks: Any,
    starts: Any,
    first_row: int,
    initial: int,
    limit: int,
    rule: Rule,
    scratch: Scratch,
) -> None:
    """Write the least totals on each map, in units, infinite where there is no way.

    Out: float64 (n, H, W). In: ticks uint16 (n, H, W), 0 where closed; starts int64 (n,), padded
    cells; the row of the states to start in and their total; the largest total.
    """
    n, height, width = ticks.shape
    totals, steps = scratch.totals, scratch.steps
    n_cells = steps.shape[0]
    for i in range(n):
        pad(scratch, ticks[i])
        if rule.is_hex:
            hex_steps(steps, scratch.is_open, height, width, rule)
        else:
            square_steps(steps, scratch.is_open, width, rule)
        price_cells(scratch, rule)
        totals[:] = limit + 1
        flood(scratch, rule, first_row * n_cells + starts[i], initial, limit)
        for row in range(height):
            begin = (row + 1) * (width + 2) + 1
            into, least = out[i, row], totals[begin : begin + width]
            if rule.n_rows == 2:
                other = totals[n_cells + begin : n_cells + begin + width]
                for col in range(width):
                    least[col] = min(least[col], other[col])
            for col in range(width):
                cost = np.float64(least[col] >> rule.halves) * rule.denominator / rule.numerator
                into[col] = math.inf if least[col] > limit else cost

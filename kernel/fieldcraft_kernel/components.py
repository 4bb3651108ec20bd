"""Weakly connected components: which cells hang together by steps, whichever way they lead.

Two cells in different components have no way between them; two in one may have none either, since
steps may lead one way only. A cell that no step enters can only be a start, so it joins nothing:
otherwise a wall, from which steps lead to both of its sides, would join the rooms it divides.

One pass over the cells in order, and a union-find whose forest is the array of labels itself: a
cell points to one before it, so a second pass in the same order can number the roots.

References: Rosenfeld and Pfaltz, "Sequential operations in digital picture processing", JACM 13
(1966); Wu, Otoo and Suzuki, "Optimizing two-pass connected-component labeling algorithms",
Pattern Analysis and Applications 12 (2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit

WEST, NORTH_WEST = 1, 2
"""Bits of `back`; north and north-east follow."""


@jit
def label_components(labels: Any, masks: Any, width: int) -> Any:
    """Label cells with their component, numbered by first cells from 1; 0 where no step enters.

    Out: labels int32 (N,).
    In: masks uint8 (N,), the legal steps of every padded cell, in the eight directions of squares;
    width of the padded map.
    Returns how many cells each has, int64 (components + 1,).
    """
    height = masks.shape[0] // width
    entered, back = np.zeros(width, np.uint8), np.zeros(width, np.uint8)
    labels[:width] = 0
    labels[(height - 1) * width :] = 0
    for row in range(1, height - 1):
        first = row * width
        above, here = masks[first - width : first], masks[first : first + width]
        below = masks[first + width : first + 2 * width]
        # Whether a step enters each cell, and to which cells before it a step leads or comes from:
        # a loop without branches, which is compiled to vector code.
        for i in range(width - 2):
            entered[i + 1] = (
                (above[i] >> 5) | (above[i + 1] >> 2) | (above[i + 2] >> 6)
                | (here[i] >> 1) | (here[i + 2] >> 3)
                | (below[i] >> 4) | below[i + 1] | (below[i + 2] >> 7)
            ) & 1  # fmt: skip
            back[i + 1] = (
                (((here[i + 1] >> 3) | (here[i] >> 1)) & 1)
                | ((((here[i + 1] >> 7) | (above[i] >> 5)) & 1) << 1)
                | (((here[i + 1] | (above[i + 1] >> 2)) & 1) << 2)
                | ((((here[i + 1] >> 4) | (above[i + 2] >> 6)) & 1) << 3)
            )
        own = 0
        for i in range(width):
            cell = first + i
            if not entered[i]:
                own = 0
                labels[cell] = 0
                continue
            linked = back[i]
            if not linked & WEST:
                own = 0
            for k in range(3):
                if not (linked >> k) & NORTH_WEST:
                    continue
                other = labels[cell - width - 1 + k]
                if other == own or other == 0:
                    continue
                while labels[other] != other:
                    other = labels[other]
                if own == 0 or other == own:
                    own = other
                    continue
                # The first of the two roots stays one, so that labels never point onwards.
                labels[max(own, other)] = min(own, other)
                own = min(own, other)
            if own == 0:
                own = cell
            labels[cell] = own
    n_components = 0
    for cell in range(width, (height - 1) * width):
        first = labels[cell]
        if first == cell:
            n_components += 1
            labels[cell] = n_components
        elif first:
            # What it points to lies before it and has its number already.
            labels[cell] = labels[first]
    sizes = np.zeros(n_components + 1, np.int64)
    for cell in range(labels.shape[0]):
        sizes[labels[cell]] += 1
    return sizes

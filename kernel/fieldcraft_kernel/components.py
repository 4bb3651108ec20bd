"""Weakly connected components: which cells hang together by steps, whichever way they lead.

Two cells in different components have no way between them; two in one may have none either, since
steps may lead one way only. A cell that no step enters can only be a start, so it joins nothing:
otherwise a wall, from which steps lead to both of its sides, would join the rooms it divides.

One pass over the cells in order, and a union-find whose forest is the array of labels itself: a
cell points to one before it, so a second pass in the same order makes every label a root.

References: Rosenfeld and Pfaltz, "Sequential operations in digital picture processing", JACM 13
(1966); Wu, Otoo and Suzuki, "Optimizing two-pass connected-component labeling algorithms",
Pattern Analysis and Applications 12 (2009).
"""

from __future__ import annotations

from typing import Any

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.steps import PARITY_BIT


@jit
def label_components(
    labels: Any,
    masks: Any,
    width: int,
    n_directions: int,
    is_hex: int,
    offsets: Any,
    opposite: Any,
) -> None:
    """Label every cell with the first cell of its component, and 0 where no step enters.

    Out: labels int32 (N,).
    In: masks uint8 (N,), the legal steps of every padded cell, with the parity of hexagons; width
    of the padded map; offsets int64 (2, 8), opposite int64 (8,), as in the graph.
    """
    labels[:] = 0
    height = masks.shape[0] // width
    for row in range(1, height - 1):
        for cell in range(row * width + 1, (row + 1) * width - 1):
            mask = masks[cell]
            parity = (mask >> PARITY_BIT) & is_hex
            # Where steps come from; in open ground the first neighbour answers.
            entered = False
            for k in range(n_directions):
                if (masks[cell + offsets[parity, k]] >> opposite[k]) & 1:
                    entered = True
                    break
            if not entered:
                continue
            own = 0
            for k in range(n_directions):
                offset = offsets[parity, k]
                if offset > 0:
                    continue
                other = labels[cell + offset]
                if other == own or other == 0:
                    continue
                if not ((mask >> k) | (masks[cell + offset] >> opposite[k])) & 1:
                    continue
                while labels[other] != other:
                    other = labels[other]
                if own == 0 or other == own:
                    own = other
                    continue
                # The first of the two roots stays one, so that labels never point onwards.
                first, last = min(own, other), max(own, other)
                labels[last] = first
                own = first
            labels[cell] = own if own else cell
    for row in range(1, height - 1):
        for cell in range(row * width + 1, (row + 1) * width - 1):
            if labels[cell]:
                labels[cell] = labels[labels[cell]]

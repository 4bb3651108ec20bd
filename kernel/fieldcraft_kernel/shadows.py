"""What one cell sees on squares where cells are either opaque or not: shadows as words of bits.

Whether a line is ended depends on which cells it crosses, so each cell of a window around the
viewer throws a fixed shadow: the set of the targets whose line crosses it. A view is what no
opaque cell's shadow covers. Where corners are closed, each two cells beside a corner point throw
one too, over the targets whose line passes exactly through the point, if both are opaque.

A window has a side of 2 radius + 1 cells; each of its rows begins a new word of 64 bits. Of a
shadow only the words between its first and its last that is not 0 are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.bits import lowest_bit
from fieldcraft_kernel.lines import PINCH, line
from fieldcraft_kernel.views import FIELD_LIGHT, HEIGHT, HIDDEN, WIDTH
from fieldcraft_kernel.words import ALL, NONE, ONE

N_PARTNERS = 4
"""So many corner points a cell can have in which it is the left one of the two cells beside it."""
BEGIN, FIRST, WORDS = 0, 1, 2
"""Columns of `casts`, int32: where in `masks` a shadow begins, its first word in the window, and
how many words it has. Row i is cell i of the window; row side * side + N_PARTNERS * i + k is the
corner point between cell i and its partner k."""


@jit
def words_a_row(radius: int) -> int:
    """Return how many words a row of the window takes."""
    return (2 * radius + 64) >> 6


@jit
def throw(radius: int, entries: Any, partners: Any, casts: Any, masks: Any) -> None:
    """Measure shadows, or write them.

    In: masks uint64, of length 0 to measure: then casts comes with 0 WORDS everywhere and goes
    with FIRST and WORDS set, partners int32 (side * side, N_PARTNERS) comes with -1 everywhere and
    goes with the right cells of corner points. With masks, all 0, and BEGIN set, the bits are
    written. Scratch: entries int64 (m, lines.N_FIELDS).
    """
    side = 2 * radius + 1
    row_words = words_a_row(radius)
    for row in range(-radius, radius + 1):
        for col in range(-radius, radius + 1):
            word = (row + radius) * row_words + ((col + radius) >> 6)
            bit = ONE << np.uint64((col + radius) & 63)
            for j in range(line(0, 0, row, col, entries)):
                cell = (entries[j, 0] + radius) * side + entries[j, 1] + radius
                caster = cell
                if entries[j, 4] == PINCH:
                    partner = (entries[j, 2] + radius) * side + entries[j, 3] + radius
                    k = 0
                    while partners[cell, k] != partner and partners[cell, k] >= 0:
                        k += 1
                    partners[cell, k] = partner
                    caster = side * side + N_PARTNERS * cell + k
                if masks.shape[0] > 0:
                    masks[casts[caster, BEGIN] + word - casts[caster, FIRST]] |= bit
                elif casts[caster, WORDS] == 0:
                    casts[caster, FIRST] = word
                    casts[caster, WORDS] = 1
                else:
                    # Targets come row by row, but along a row words may come again.
                    last = max(casts[caster, FIRST] + casts[caster, WORDS] - 1, word)
                    casts[caster, FIRST] = min(casts[caster, FIRST], word)
                    casts[caster, WORDS] = last - casts[caster, FIRST] + 1


@jit
def shade(
    partners: Any,
    casts: Any,
    masks: Any,
    rules: Any,
    solid: Any,
    light: Any,
    viewers: Any,
    radius: int,
    given_light: int,
    out: Any,
    counts: Any,
) -> None:
    """Write the maluses of all squares within a radius of each viewer, which is light or hidden.

    In: partners, casts, masks as `throw` made them, partners with no columns where corners are
    open; rules int64 (views.N_RULES,); solid uint64 (maps, height, words), a bit for each opaque
    cell, the first in the lowest; light, viewers, given_light as in `views.see`.
    Out: out and counts as in `views.see`.
    """
    height, width = rules[HEIGHT], rules[WIDTH]
    side = 2 * radius + 1
    row_words = words_a_row(radius)
    spare = np.uint64(64 * row_words - side)
    opaque = np.empty(side * row_words, np.uint64)
    dark = np.empty(side * row_words, np.uint64)
    constant = given_light if given_light != FIELD_LIGHT else int(light[0, 0])
    of_map = given_light == FIELD_LIGHT and light.size > 1
    for v in range(viewers.shape[0]):
        where, row, col = viewers[v, 0], viewers[v, 1], viewers[v, 2]
        opaque[:] = NONE
        dark[:] = NONE
        top, bottom = max(row - radius, 0), min(row + radius, height - 1)
        shift = np.uint64((col - radius) & 63)
        for r in range(top, bottom + 1):
            # A word of the window lies across two of the map, which may be off it.
            k = (col - radius) >> 6
            for w in range(row_words):
                word = NONE
                if k + w >= 0 and k + w < solid.shape[2]:
                    word = solid[where, r, k + w] >> shift
                if shift != NONE and k + w + 1 >= 0 and k + w + 1 < solid.shape[2]:
                    word |= solid[where, r, k + w + 1] << (np.uint64(64) - shift)
                if w == row_words - 1:
                    word &= ALL >> spare
                opaque[(r - row + radius) * row_words + w] = word

        for i in range((top - row + radius) * row_words, (bottom - row + radius + 1) * row_words):
            word = opaque[i]
            base = (i // row_words) * side + ((i % row_words) << 6)
            while word != NONE:
                cell = base + lowest_bit(word)
                word &= word - ONE
                begin, first = casts[cell, BEGIN], casts[cell, FIRST]
                for j in range(casts[cell, WORDS]):
                    dark[first + j] |= masks[begin + j]
                for k in range(partners.shape[1]):
                    partner = partners[cell, k]
                    if partner < 0:
                        break
                    there = partner % side
                    bits = opaque[(partner // side) * row_words + (there >> 6)]
                    if (bits >> np.uint64(there & 63)) & ONE == NONE:
                        continue
                    caster = side * side + N_PARTNERS * cell + k
                    begin, first = casts[caster, BEGIN], casts[caster, FIRST]
                    for j in range(casts[caster, WORDS]):
                        dark[first + j] |= masks[begin + j]

        seen = 0
        out[v] = HIDDEN
        left, right = max(col - radius, 0), min(col + radius, width - 1)
        for r in range(top, bottom + 1):
            for w in range(row_words):
                word = ~dark[(r - row + radius) * row_words + w]
                begin = max(left - col + radius, w << 6)
                end = min(right - col + radius + 1, (w + 1) << 6)
                # One loop for each kind of light, so that either runs over many cells at a time.
                if of_map:
                    for c in range(begin, end):
                        bit = (word >> np.uint64(c - (w << 6))) & ONE
                        malus = int(light[where * height + r, c + col - radius])
                        out[v, r - row + radius, c] = malus if bit != NONE else HIDDEN
                        seen += int(bit)
                else:
                    for c in range(begin, end):
                        bit = (word >> np.uint64(c - (w << 6))) & ONE
                        out[v, r - row + radius, c] = constant if bit != NONE else HIDDEN
                        seen += int(bit)
        out[v, radius, radius] = 0
        counts[v] = seen

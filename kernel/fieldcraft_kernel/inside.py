"""Moving and seeing from compiled code of one's own: `reach` and `sight` in a few arguments.

Everything else in this package is called by the library, with arrays in the order that a kernel
wants. What stands here is for others: a user's own loop, compiled with Numba, calls these functions
with what `StepField.kernel_arrays`, `SightField.kernel_arrays` and the methods `kernel_scratch`
gave it, and no Python runs between its steps. Answers are those of `StepField.reach` and
`SightField.sights`.

What is wrong with a question is told by a number below 0, since compiled code raises nothing here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.flood import flood
from fieldcraft_kernel.pairs import TOO_FAR, finish, look_over, walk_hexes, walk_squares
from fieldcraft_kernel.plain import BEYOND
from fieldcraft_kernel.search import DONE, TOTAL_TOO_LARGE, search
from fieldcraft_kernel.sight import look
from fieldcraft_kernel.steps import STOP, no_way, shifted
from fieldcraft_kernel.views import (
    CLOSED_CORNERS,
    FIELD_LIGHT,
    HEIGHT,
    HIDDEN,
    KIND,
    LIMIT,
    TARGET_FAR,
    TARGET_NEAR,
    TIE,
    VIEWER_FAR,
    VIEWER_NEAR,
    WIDTH,
)

OUTSIDE_MAP, CLOSED_START, BAD_BUDGET, OTHER_SCRATCH, TOO_DEAR, TOO_MANY = -1, -2, -3, -4, -5, -6
"""What `reach` returns in place of a number of cells: the start is not on the map; it is a closed
cell of a bare array; the budget is negative or not a number; the scratch is that of a field laid
out otherwise; a total would overflow, near 2^31 ticks or half ticks; more states wait in the queue
than it has room for, which takes a map of many millions of cells."""
CLOSED = -1
"""The total of a cell that `close_cell` closed: no way there is cheaper."""
ROUNDING = 1e-12
"""A budget so much below a whole number of ticks, in proportion, stands for it, and sums of floats
may end so much above one."""
CELL, ROW, ROW_MASK = 32, 1, (1 << 31) - 1
"""How a padded cell, the row of its best state and whether one may stop there are packed."""
SQUARES, HEXES, ANY = 1, 2, 3
"""How lines are walked, as the rank of `SightArrays.way`, which is known when a kernel is compiled:
those of squares, those of hexes, or any line, over heights and past walls."""
LEAST = HIDDEN + 1
"""No malus is below this."""


class ReachArrays(NamedTuple):
    """A field of steps as `reach` reads it; T is int64 for whole ticks and float64 otherwise.

    graph, goals    see steps.StepArrays and search.Goals; there are no goals
    largest, per_bucket     T: the largest total that fits, buckets a unit of total
    slots           int64: of the queue
    words, dues, plan   the graph as a plain one (plain.py), words uint32 (0, 0) where it is not
    bound, most     int64: up to which total a plain search goes, and to which it can count
    height, width   int64: cells of the map
    copies          int64: rows a layer
    alternating, halves, flip   int64: whether diagonals alternate; whether totals are half ticks;
                    1 if the first diagonal is the dear one
    home            int64: the layer in which movements begin
    seats           int64 (k,): layers in which they begin instead,
    seat_cells      bool (k, N): where
    stay, closed    bool (N,) or (0,): where a movement may end that began there; where none begins
    units, ticks    float64: a total of 1 tick is units / ticks in the field's unit
    """

    graph: Any
    goals: Any
    largest: Any
    per_bucket: Any
    slots: Any
    words: Any
    dues: Any
    plan: Any
    bound: Any
    most: Any
    height: Any
    width: Any
    copies: Any
    alternating: Any
    halves: Any
    flip: Any
    home: Any
    seats: Any
    seat_cells: Any
    stay: Any
    closed: Any
    units: Any
    ticks: Any


class ReachScratch(NamedTuple):
    """What `reach` works in, and its answer; one for each thread.

    The answer, of the n cells reached by rising cost, then by row and column, until the next call:

    cells       int64 (height * width, 2)   row and column
    cost        float64 (height * width,)   in the field's unit
    can_stop    bool (height * width,)      whether a movement may end there
    parity      int8 (height * width,)      diagonals made, modulo 2, where they alternate; else 0

    The rest is worked in:

    search      search.Scratch
    queue       uint32 (m,)     of a plain graph, see plain.py
    starts, initial     int64, T (rows,)
    shut        bool (N,)       cells that `close_cell` closed
    place       int32 (N,)      all -1 between calls
    best        int64 (height * width,)
    """

    cells: Any
    cost: Any
    can_stop: Any
    parity: Any
    search: Any
    queue: Any
    starts: Any
    initial: Any
    shut: Any
    place: Any
    best: Any


class SightArrays(NamedTuple):
    """A field of sight as `sight` reads it; the arrays are those of pairs.py and sight.py.

    way             uint8, of rank SQUARES, HEXES or ANY, and empty
    stepped, levels_apart   int64: as in `SightField`
    rules           int64 (views.N_RULES,)
    cover, tops, walls, neighbours  as in `sight.look`
    from_eyes, to_eyes  int64 (height, width), (1, 1), or (0, 0) without tops
    planes, light   as in `pairs.finish`
    first, cells    the table of lines of `pairs.look_over`, within
    radius          int64: -1 if there is none
    """

    way: Any
    stepped: Any
    levels_apart: Any
    rules: Any
    cover: Any
    tops: Any
    walls: Any
    neighbours: Any
    from_eyes: Any
    to_eyes: Any
    planes: Any
    light: Any
    first: Any
    cells: Any
    radius: Any


class SightScratch(NamedTuple):
    """What `sight` works in; one for each thread.

    pair, half, light   int64 (1, 2, 2), int32 (1,), int16 (1,): a pair, its sum, the light there
    pairs, halves, lights   the same of b pairs at a time
    viewers, targets, from_eyes, to_eyes    int64 (b,)
    templates, entries  room for the longest line of the map, see `sight.look`
    """

    pair: Any
    half: Any
    light: Any
    pairs: Any
    halves: Any
    lights: Any
    viewers: Any
    targets: Any
    from_eyes: Any
    to_eyes: Any
    templates: Any
    entries: Any


# -- moving ----------------------------------------------------------------------------------------


@jit
def whole_limit(largest: int, ticks: float, halves: int) -> int:
    """Return the largest total for a budget in ticks; what is left of a tick buys nothing."""
    if ticks >= largest:
        return largest
    whole = int(np.floor(ticks))
    if whole + 1 - ticks <= ROUNDING * (whole + 1):
        whole += 1
    return min(2 * whole + 1 if halves else whole, largest)


def limit_of(largest: Any, ticks: float, halves: int) -> Any:
    """Return the largest total for a budget in ticks, of the type of `largest`."""
    if isinstance(largest, float):
        return min(ticks * (1 + ROUNDING), largest)
    return whole_limit(largest, ticks, halves)


@overload(limit_of, strict=False)
def _limit_of(largest: Any, ticks: Any, halves: Any) -> Any:
    if isinstance(largest, types.Float):
        return lambda largest, ticks, halves: min(ticks * (1 + ROUNDING), largest)
    return lambda largest, ticks, halves: whole_limit(largest, ticks, halves)


@jit
def settle(
    words: Any, dues: Any, plan: Any, queue: Any, bound: int, most: int, graph: Any, goals: Any,
    largest: Any, per_bucket: Any, work: Any, starts: Any, initial: Any, limit: Any,
) -> tuple[int, int]:  # fmt: skip
    """Settle all states within a limit; return how many, and the status of `search`.

    The rank of `words` is known when this is compiled: one for a plain graph, which `flood`
    searches, two for any other.
    """
    if words.ndim == 1:
        end = min(limit, bound)
        n, status = flood(words, dues, plan, work.totals, work.order, queue, starts, initial, end)
        if status != BEYOND:
            return n, status
        if end < most:
            return n, DONE
        clear(work.totals, work.order, n)
        return 0, TOTAL_TOO_LARGE
    else:
        n, _, _, status = search(graph, goals, starts, initial, limit, largest, per_bucket, work)
        return n, status


@jit
def mark(totals: Any, n_cells: int, cell: int, total: Any) -> None:
    """Set the totals of a padded cell in all rows."""
    for state in range(cell, totals.shape[0], n_cells):
        totals[state] = total


@jit
def clear(totals: Any, order: Any, n: int) -> None:
    """Blank the totals of the first n states listed."""
    blank = no_way(totals)
    for i in range(n):
        totals[order[i]] = blank


@jit
def close_cell(arrays: ReachArrays, scratch: ReachScratch, row: int, col: int) -> None:
    """Keep everybody out of a cell, in every layer, in the searches of this scratch.

    It is neither passed nor reached, and is no corner: so an occupied cell counts. A movement that
    begins there does, and may come back to it. Off the map nothing happens.
    """
    if 0 <= row < arrays.height and 0 <= col < arrays.width:
        cell = (row + 1) * (arrays.width + 2) + col + 1
        scratch.shut[cell] = True
        mark(scratch.search.totals, scratch.shut.shape[0], cell, CLOSED)


@jit
def open_cell(arrays: ReachArrays, scratch: ReachScratch, row: int, col: int) -> None:
    """Undo `close_cell`."""
    if 0 <= row < arrays.height and 0 <= col < arrays.width:
        cell = (row + 1) * (arrays.width + 2) + col + 1
        scratch.shut[cell] = False
        mark(scratch.search.totals, scratch.shut.shape[0], cell, no_way(scratch.search.totals))


@jit
def sit(
    seats: Any, seat_cells: Any, home: int, copies: int, halves: int, dear: int, cell: int,
    starts: Any, initial: Any,
) -> int:  # fmt: skip
    """Write the states in which a movement begins, and their totals; return how many.

    In: as in `ReachArrays`; dear, 1 if the first diagonal is; cell, padded. Out: starts int64 and
    initial T (rows,).
    """
    n = 0
    for k in range(seats.shape[0]):
        if seat_cells[k, cell]:
            starts[n] = seats[k]
            n += 1
    if n == 0:
        starts[0] = home
        n = 1
    n_cells = seat_cells.shape[1]
    for i in range(n):
        row = starts[i] * copies + (0 if halves else dear)
        starts[i] = row * n_cells + cell
        initial[i] = dear if halves else 0
    return n


@jit
def best_of_cells(
    totals: Any, order: Any, n_order: int, stop: Any, rows: Any, copies: int, place: Any, best: Any
) -> int:
    """Find the best state of each cell that a search has settled; return how many cells.

    Of equal totals the one with the cheap diagonal next, then that of the lowest row.
    In: totals and order as `search` leaves them; stop, rows as in StepArrays; copies, rows a layer.
    Out: best int64 (k,): the padded cell, the row, and 1 if a movement may end there in some state,
    packed by CELL and ROW; place int32 (N,): -1 before, then where each cell stands.
    """
    n_cells = place.shape[0]
    mask = copies - 1
    k = 0
    for i in range(n_order):
        state = int(order[i])
        row, cell = 0, state
        if state >= n_cells:
            row = state // n_cells
            cell = state - row * n_cells
        stops = int(stop[rows[row, STOP], cell])
        at = int(place[cell])
        if at < 0:
            place[cell] = k
            best[k] = cell << CELL | row << ROW | stops
            k += 1
            continue
        other = (best[at] >> ROW) & ROW_MASK
        stops |= best[at] & 1
        total, known = totals[state], totals[other * n_cells + cell]
        is_better = total < known
        if total == known:
            is_better = (row & mask, row) < (other & mask, other)
        best[at] = cell << CELL | (row if is_better else other) << ROW | stops
    return k


@jit
def sort_by_cost(cost: Any, best: Any, k: int) -> None:
    """Sort by cost, then by cell: shell sort, since a search settles nearly in that order."""
    gap = 1
    while 3 * gap < k:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, k):
            value, packed = cost[i], best[i]
            j = i
            while j >= gap and (
                cost[j - gap] > value or (cost[j - gap] == value and best[j - gap] > packed)
            ):
                cost[j], best[j] = cost[j - gap], best[j - gap]
                j -= gap
            cost[j], best[j] = value, packed
        gap //= 3


@jit
def write_out(
    totals: Any, halves: int, flip: int, alternating: int, units: float, ticks: float, width: int,
    k: int, place: Any, best: Any, cells: Any, cost: Any, can_stop: Any, parity: Any,
) -> None:  # fmt: skip
    """Write the answer for k cells, sorted, and forget where they stood.

    In: totals of a search; best as `best_of_cells` leaves it; the rest as in `ReachArrays`.
    Out: cells, cost, can_stop and parity as in `ReachScratch`; place all -1.
    """
    n_cells = place.shape[0]
    for i in range(k):
        cell, row = best[i] >> CELL, (best[i] >> ROW) & ROW_MASK
        cost[i] = shifted(totals[row * n_cells + cell], halves) * units / ticks
    sort_by_cost(cost, best, k)
    for i in range(k):
        cell, row = best[i] >> CELL, (best[i] >> ROW) & ROW_MASK
        cells[i, 0] = cell // width - 1
        cells[i, 1] = cell % width - 1
        can_stop[i] = (best[i] & 1) == 1
        dear = row & 1
        if halves:
            dear = int(totals[row * n_cells + cell]) & 1
        parity[i] = (dear ^ flip) * alternating
        place[cell] = -1


@jit
def reach(
    arrays: ReachArrays, scratch: ReachScratch, row: int, col: int, budget: float, parity: int = 0
) -> int:
    """Find every cell within a budget of (row, col), and return how many there are.

    The start is among them, at 0, and cells at exactly the budget. What is found stands in
    `scratch` until the next call: see `ReachScratch`.

    In: arrays; scratch of the same field, used by no other thread meanwhile; budget in the field's
    unit, infinite for no limit; parity, the diagonals made before, modulo 2, where they alternate.
    Returns the number of cells, at least 1; or, below 0, OUTSIDE_MAP, CLOSED_START, BAD_BUDGET,
    OTHER_SCRATCH, TOO_DEAR or TOO_MANY, and there is no answer to look at.
    """
    graph, work = arrays.graph, scratch.search
    totals, order, shut, best = work.totals, work.order, scratch.shut, scratch.best
    n_cells, n_rows = graph.steps.shape[1], graph.rows.shape[0]
    fits = shut.shape[0] == n_cells and totals.shape[0] == n_rows * n_cells
    if not fits or work.head.shape[0] != arrays.slots:
        return OTHER_SCRATCH
    if not (0 <= row < arrays.height and 0 <= col < arrays.width):
        return OUTSIDE_MAP
    width = arrays.width + 2
    start = (row + 1) * width + col + 1
    if arrays.closed.shape[0] and arrays.closed[start]:
        return CLOSED_START
    if not budget >= 0:
        return BAD_BUDGET
    halves, flip = arrays.halves, arrays.flip
    limit = limit_of(arrays.largest, budget * arrays.ticks / arrays.units, halves)
    n = sit(
        arrays.seats, arrays.seat_cells, arrays.home, arrays.copies, halves,
        ((parity & 1) ^ flip) * arrays.alternating, start, scratch.starts, scratch.initial,
    )  # fmt: skip
    starts, initial = scratch.starts[:n], scratch.initial[:n]
    if shut[start]:
        mark(totals, n_cells, start, no_way(totals))
    n_order, status = settle(
        arrays.words, arrays.dues, arrays.plan, scratch.queue, arrays.bound, arrays.most, graph,
        arrays.goals, arrays.largest, arrays.per_bucket, work, starts, initial, limit,
    )  # fmt: skip
    k = 0
    if status == DONE:
        k = best_of_cells(
            totals, order, n_order, graph.stop, graph.rows, arrays.copies, scratch.place, best
        )
        if arrays.stay.shape[0] and arrays.stay[start]:
            best[scratch.place[start]] |= 1
        write_out(
            totals, halves, flip, arrays.alternating, arrays.units, arrays.ticks, width, k,
            scratch.place, best, scratch.cells, scratch.cost, scratch.can_stop, scratch.parity,
        )  # fmt: skip
        clear(totals, order, n_order)
    else:
        # A plain search that broke off may have blanked all there was.
        for cell in range(n_cells):
            if shut[cell]:
                mark(totals, n_cells, cell, CLOSED)
    if shut[start]:
        mark(totals, n_cells, start, CLOSED)
    if status != DONE:
        return TOO_DEAR if status == TOTAL_TOO_LARGE else TOO_MANY
    return k


# -- seeing ----------------------------------------------------------------------------------------


@jit
def eye_at(eyes: Any, row: int, col: int) -> int:
    """Return how high an eye in a cell is."""
    return int(eyes[0, 0]) if eyes.size == 1 else int(eyes[row, col])


@jit
def walk_any(arrays: SightArrays, scratch: SightScratch, pairs: Any, halves: Any) -> None:
    """Write what lies between the ends of pairs over heights, past walls or between levels.

    A line is left where it is known to hide.
    """
    rules = arrays.rules
    n, width = pairs.shape[0], rules[WIDTH] + 2
    for i in range(n):
        row, col, target_row, target_col = (
            pairs[i, 0, 0], pairs[i, 0, 1], pairs[i, 1, 0], pairs[i, 1, 1],
        )  # fmt: skip
        scratch.viewers[i] = (row + 1) * width + col + 1
        scratch.targets[i] = (target_row + 1) * width + target_col + 1
        if arrays.tops.ndim == 1:
            scratch.from_eyes[i] = eye_at(arrays.from_eyes, row, col)
            scratch.to_eyes[i] = eye_at(arrays.to_eyes, target_row, target_col)
    look(
        arrays.cover, arrays.tops, arrays.walls, rules[KIND], width, arrays.stepped,
        arrays.neighbours, rules[TIE], rules[CLOSED_CORNERS], rules[LIMIT], scratch.viewers[:n],
        scratch.targets[:n], scratch.from_eyes[:n], scratch.to_eyes[:n], scratch.viewers[:0],
        scratch.templates, scratch.entries, halves,
    )  # fmt: skip


@jit
def walk(way: Any, arrays: SightArrays, scratch: SightScratch, pairs: Any, halves: Any) -> None:
    """Write what lies between the ends of pairs, by the way to walk that the rank of `way` says."""
    if way.ndim == SQUARES:
        walk_squares(arrays.rules, arrays.cover, pairs, halves)
    elif way.ndim == HEXES:
        left = 1
        if arrays.radius < 0:
            halves[:] = TOO_FAR
        else:
            left = look_over(
                arrays.first, arrays.cells, arrays.rules, arrays.cover, pairs, arrays.radius, halves
            )
        if left:
            walk_hexes(arrays.rules, arrays.stepped, arrays.cover, pairs, scratch.entries, halves)
    else:
        walk_any(arrays, scratch, pairs, halves)


@jit
def finish_levels(
    rules: Any, planes: Any, light: Any, given_light: int, levels_apart: int, pairs: Any,
    halves: Any, lights: Any,
) -> None:  # fmt: skip
    """Do what `pairs.finish` does, between levels: in one cell the cell counts once."""
    of_map = given_light == FIELD_LIGHT and light.size > 1
    constant = given_light if given_light != FIELD_LIGHT else int(light[0, 0])
    for i in range(pairs.shape[0]):
        row, col, target_row, target_col = (
            pairs[i, 0, 0], pairs[i, 0, 1], pairs[i, 1, 0], pairs[i, 1, 1],
        )  # fmt: skip
        lights[i] = int(light[target_row, target_col]) if of_map else constant
        in_one = row == target_row and col == target_col
        of_viewer, of_target = rules[VIEWER_FAR], rules[TARGET_FAR]
        # Cells count towards the distance too: only in one cell a level is all there is.
        if in_one and levels_apart == 1:
            of_viewer, of_target = rules[VIEWER_NEAR], rules[TARGET_NEAR]
        at_viewer = int(planes[of_viewer, row, col]) if of_viewer >= 0 else 0
        at_target = int(planes[of_target, target_row, target_col]) if of_target >= 0 else 0
        halves[i] += max(at_viewer, at_target) if in_one else at_viewer + at_target


@jit
def malus_of(rules: Any, halves: int, light: int) -> int:
    """Return the malus of a sum and the light at the target, or HIDDEN."""
    return max(light - ((halves + 1) >> 1), LEAST) if halves < rules[LIMIT] else HIDDEN


@jit
def look_at(
    arrays: SightArrays, scratch: SightScratch, pairs: Any, halves: Any, lights: Any, light: int
) -> None:
    """Sum the lines of pairs that are on the map, and tell the light at their targets.

    In: pairs int64 (n, 2, 2); light as in `sight`. Out: halves int32 (n,), lights int16 (n,).
    """
    rules, planes = arrays.rules, arrays.planes
    walk(arrays.way, arrays, scratch, pairs, halves)
    if arrays.levels_apart:
        finish_levels(
            rules, planes, arrays.light, light, arrays.levels_apart, pairs, halves, lights
        )
    else:
        finish(rules, planes, arrays.light, light, pairs, halves, lights)


@jit
def sight(
    arrays: SightArrays,
    scratch: SightScratch,
    row: int,
    col: int,
    target_row: int,
    target_col: int,
    light: int = FIELD_LIGHT,
) -> int:
    """Return the malus of a target seen from (row, col), HIDDEN where it is not seen.

    In: arrays; scratch of the same field, used by no other thread meanwhile; light, 0 or negative,
    in place of the field's. An end that is not on the map neither sees nor is seen.
    """
    rules, pairs, halves, lights = arrays.rules, scratch.pair, scratch.half, scratch.light
    height, width = rules[HEIGHT], rules[WIDTH]
    if not (0 <= row < height and 0 <= col < width):
        return HIDDEN
    if not (0 <= target_row < height and 0 <= target_col < width):
        return HIDDEN
    pairs[0, 0, 0], pairs[0, 0, 1], pairs[0, 1, 0], pairs[0, 1, 1] = (
        row, col, target_row, target_col,
    )  # fmt: skip
    look_at(arrays, scratch, pairs, halves, lights, light)
    return malus_of(rules, int(halves[0]), int(lights[0]))


@jit
def sights(
    arrays: SightArrays, scratch: SightScratch, pairs: Any, malus: Any, light: int = FIELD_LIGHT
) -> None:
    """Find how well each target is seen: `sight` of many pairs, with less ado for each.

    In: pairs int64 (n, 2, 2), C-contiguous: row and column of viewer and target; the rest as there.
    Out: malus int16 (n,), HIDDEN where the target is not seen.
    """
    rules = arrays.rules
    height, width, block = rules[HEIGHT], rules[WIDTH], scratch.halves.shape[0]
    for begin in range(0, pairs.shape[0], block):
        n = min(block, pairs.shape[0] - begin)
        few, halves, lights = scratch.pairs[:n], scratch.halves[:n], scratch.lights[:n]
        for i in range(n):
            malus[begin + i] = 0
            for end in range(2):
                row, col = pairs[begin + i, end, 0], pairs[begin + i, end, 1]
                if not (0 <= row < height and 0 <= col < width):
                    malus[begin + i] = HIDDEN
                    row, col = 0, 0
                few[i, end, 0], few[i, end, 1] = row, col
        look_at(arrays, scratch, few, halves, lights, light)
        for i in range(n):
            if malus[begin + i] != HIDDEN:
                malus[begin + i] = malus_of(rules, int(halves[i]), int(lights[i]))

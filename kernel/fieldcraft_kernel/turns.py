"""Many creatures' turns on one map: where each gets to, whom it can attack, who sees it there.

Encounters share a map and differ in who stands where, so nothing is compiled for any of them: a
cell that a foe stands on is closed by clearing the bit of each step that leads there, before the
search, which is set again after it. (Closing a cell takes away the last step of a way by two steps
and of the way by one alike, so the directions that plain.py leaves out stay needless.) What lies
between the cells of the tokens and all others is in a table.

A cell has two numbers here: `at`, in the padded map that is searched, and `place`, in the map
itself, row by row, which also orders cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.flood import flood
from fieldcraft_kernel.plain import (
    BACK,
    ENTER,
    EXTRA,
    LEAST,
    MOVES,
    N_MOVES,
    ODD,
    OFFSET,
    POOL_FULL,
    SCALE,
    SHIFT,
    STOP,
    blank,
)
from fieldcraft_kernel.queues import LIVE, N_COUNTERS, pop_heap, push_heap
from fieldcraft_kernel.safest import NO_STAKE
from fieldcraft_kernel.steps import NO_WAY
from fieldcraft_kernel.views import FIELD_LIGHT, HIDDEN

FAR = 2**30
"""The distance of the nearest foe where there is none."""
NOWHERE = -1

OF_VIEWER, OF_VIEWER_NEAR, OF_TARGET, OF_TARGET_NEAR = 0, 1, 2, 3
"""Columns of `Mover.attack` and `Mover.exposed`: which plane the two ends take, or -1."""

(
    REACHED, STOPS, TARGETS_NOW, TARGETS_AFTER, ATTACK, ATTACK_MALUS, ATTACK_TICKS, SAFE,
    EXPOSURE_BEFORE, EXPOSURE_AFTER, MALUS_BEFORE, MALUS_AFTER, STAKE,
) = range(13)  # fmt: skip
"""Columns of the answers: cells come to; of them those where a movement may end; foes that can be
attacked without moving, and from somewhere; the place of the best stop for an attack or NOWHERE,
with its malus and its price in ticks; that of the best stop for safety; how many foes see the start
and that stop, and the best malus among them or HIDDEN; the least stake of a way to the best stop
for an attack, else to that for safety."""
N_ANSWERS = 13


PLACE, X, Y, PRICE, EXPOSURE, EXPOSED, TARGETS, BEST, NEAREST = range(9)
"""Columns of stops: place, frame coordinates, ticks; how many foes see it, and the best malus among
them; how many it attacks, and the best malus; steps to the nearest."""
N_OF_STOP = 9


class Ground(NamedTuple):
    """A map.

    place   int32 (N,)      of each padded cell, -1 off the map
    x, y    int32 (C,)      frame coordinates of each place
    limit   int64           so many halves hide
    planes  uint8 (E, C)    halves that an end of a line counts
    light   int8 (C,)       light malus of a target
    is_hex  int64
    """

    place: Any
    x: Any
    y: Any
    limit: Any
    planes: Any
    light: Any
    is_hex: Any


class Crowd(NamedTuple):
    """Who stands on the map, encounter by encounter.

    first   int64 (n + 1,)  the tokens of encounter i are first[i] to first[i + 1]
    at      int32 (m,)      padded cell of each token
    side    int32 (m,)
    eye     int32 (m,)      what of a token matters to sight: row of `attack` and `exposed`
    looks   uint8 (m,)      0: sees nobody
    light   int16 (n,)      light malus everywhere, or views.FIELD_LIGHT
    foes    uint8 (sides, sides)    1: foes
    row     int32 (m,)      the row of `sums` of each token
    sums    uint8 (R, C) or (R, ceil(C / 2))    halves between the cell of some tokens and all
                            cells, or the limit; packed, two in a byte, the first in the lower half
    packed  int64           0 or 1
    """

    first: Any
    at: Any
    side: Any
    eye: Any
    looks: Any
    light: Any
    foes: Any
    row: Any
    sums: Any
    packed: Any


class Mover(NamedTuple):
    """A kind of creature on that map, alone.

    words       uint32 (N,)     a plain graph of one row (plain.py), with dues and plan
    dues        uint16 (N, 1 or 9) or (0, 1)
    plan        int64 (N_PLAN,)
    open_words  uint32 (N,)     `words` once more, open to writing: the same memory
    budget      int64           in ticks
    ranges      int64 (w,)      how far each weapon carries, in steps
    limits      int64 (w,)      the lowest malus at which each is used
    attack      int64 (eyes, 4)     planes of a line from it to a token of an eye
    exposed     int64 (eyes, 4)     and of one from such a token to it
    kind        uint16 (N, K)   of the step that leaves a cell in a direction
    worth       int64 (grounds, kinds)  the stake of each kind on each ground; (0, 0): nothing is at
                                stake anywhere
    """

    words: Any
    dues: Any
    plan: Any
    open_words: Any
    budget: Any
    ranges: Any
    limits: Any
    attack: Any
    exposed: Any
    kind: Any
    worth: Any


class Work(NamedTuple):
    """Scratch of the searches; clean before and after, see `flood`.

    totals  int32 (N,)
    order   int32 (N,)
    queue   uint32 (m,)
    """

    totals: Any
    order: Any
    queue: Any


@jit
def pack_sums(sums: Any, out: Any) -> None:
    """Put two sums of at most 15 in a byte: in uint8 (R, C), out uint8 (R, ceil(C / 2))."""
    n = np.uint64(sums.shape[1])
    one, two = np.uint64(1), np.uint64(2)
    for a in range(np.uint64(sums.shape[0])):
        for b in range(n // two):
            out[a, b] = sums[a, two * b] | sums[a, two * b + one] << np.uint8(4)
        if n & one:
            out[a, n // two] = sums[a, n - one]


@jit
def read_sum(row: Any, packed: int, place: int) -> int:
    """Return the sum of a place from a row of `Crowd.sums`."""
    byte = int(row[place >> packed])
    return (byte >> ((place & packed) << 2)) & (255 >> (packed << 2))


@jit
def apart(ground: Ground, a: int, b: int) -> int:
    """Return how many steps two places are apart; on squares a diagonal counts as one."""
    x, y = int(ground.x[a] - ground.x[b]), int(ground.y[a] - ground.y[b])
    most = max(abs(x), abs(y))
    return max(most, abs(x + y)) if ground.is_hex else most


@jit
def bar(mover: Mover, at: int, barred: Any, n: int) -> int:
    """Close a cell: clear the bits of all steps into it, behind n of them noted; return how many.

    Out: barred int64 (m, 2), the cells whose masks changed and the bit of each.
    """
    moves = MOVES + N_MOVES * (int(mover.words[at] >> ODD) & 1)
    for k in range(mover.kind.shape[1]):
        beside = at + mover.plan[moves + OFFSET + k]
        bit = 1 << mover.plan[moves + BACK + k]
        if int(mover.words[beside]) & bit:
            barred[n, 0], barred[n, 1] = beside, bit
            mover.open_words[beside] ^= np.uint32(bit)
            n += 1
    return n


@jit
def unbar(mover: Mover, barred: Any, n: int) -> None:
    """Open again what was closed."""
    for i in range(n):
        mover.open_words[barred[i, 0]] ^= np.uint32(barred[i, 1])


@jit
def entry_stake(mover: Mover, worth: Any, totals: Any, goal: int) -> int:
    """Return the least stake of a step into a cell from one that was come to."""
    moves = MOVES + N_MOVES * (int(mover.words[goal] >> ODD) & 1)
    least = NO_STAKE
    for k in range(mover.kind.shape[1]):
        back = mover.plan[moves + BACK + k]
        before = goal + mover.plan[moves + OFFSET + k]
        if totals[before] != NO_WAY and (int(mover.words[before]) >> back) & 1:
            least = min(least, worth[mover.kind[before, back]])
    return least


@jit
def has_free_way(mover: Mover, worth: Any, totals: Any, start: int, goal: int, last: int) -> bool:
    """Tell whether a cheapest way has no stake but for its last step, which has so much.

    One is followed back, without stakes wherever it can be; where that fails, another may have it.
    """
    words, dues, plan = mover.words, mover.dues, mover.plan
    kind = mover.kind
    cell, allowed = goal, last
    while cell != start:
        moves = MOVES + N_MOVES * (int(words[cell] >> ODD) & 1)
        entry = int(words[cell] >> ENTER)
        found = False
        for k in range(kind.shape[1]):
            back = plan[moves + BACK + k]
            before = cell + plan[moves + OFFSET + k]
            if totals[before] >= totals[cell] or worth[kind[before, back]] > allowed:
                continue
            if not (int(words[before]) >> back) & 1:
                continue
            price = (plan[moves + SCALE + back] * entry + plan[moves + EXTRA + back]) >> plan[SHIFT]
            price += int(dues[before, 0]) if dues.shape[0] else 0
            price += int(dues[before, 1 + back]) if dues.shape[1] > 1 else 0
            if totals[before] + price == totals[cell]:
                cell, found, allowed = before, True, 0
                break
        if not found:
            return False
    return True


@jit
def twice_as_long(array: Any) -> Any:
    """Return a copy with as much room again."""
    longer = np.empty(2 * array.shape[0], array.dtype)
    longer[: array.shape[0]] = array
    return longer


@jit
def least_stake(
    ground: Ground, mover: Mover, worth: Any, start: int, goal: int, fewest: Any
) -> int:
    """Return the least stake of a way to a cell within the budget, exactly.

    Labels (cell, ticks, stake) are taken by stake, then by ticks. One of a cell that had another of
    fewer ticks leads nowhere better; nor does one that is too far from the goal in a straight line.
    In, out: fewest int32 (N,), NO_WAY everywhere before; then of each cell the fewest ticks.
    """
    words, dues, plan, budget = mover.words, mover.dues, mover.plan, mover.budget
    kind, places = mover.kind, ground.place
    slots = budget + 1
    states, keys = np.empty(256, np.int32), np.empty(256, np.int64)
    counters = np.zeros(N_COUNTERS, np.int64)
    push_heap(states, keys, counters, start, 0)
    there = int(places[goal])
    while counters[LIVE] > 0:
        cell, key = pop_heap(states, keys, counters)
        stake, ticks = key // slots, key % slots
        if ticks >= fewest[cell]:
            continue
        fewest[cell] = ticks
        if cell == goal:
            return int(stake)
        moves = MOVES + N_MOVES * (int(words[cell] >> ODD) & 1)
        paid = ticks + int(dues[cell, 0]) if dues.shape[0] else ticks
        for k in range(kind.shape[1]):
            if not (int(words[cell]) >> k) & 1:
                continue
            beyond = cell + plan[moves + OFFSET + k]
            then = plan[moves + SCALE + k] * int(words[beyond] >> ENTER) + plan[moves + EXTRA + k]
            then = paid + (then >> plan[SHIFT])
            if dues.shape[1] > 1:
                then += int(dues[cell, 1 + k])
            left = budget - then
            if then >= fewest[beyond] or left < 0:
                continue
            if left < plan[LEAST] * apart(ground, int(places[beyond]), there):
                continue
            if counters[LIVE] == states.shape[0]:
                states, keys = twice_as_long(states), twice_as_long(keys)
            risked = stake + worth[kind[cell, k]]
            push_heap(states, keys, counters, beyond, risked * slots + then)
    return NO_STAKE


@jit
def list_stops(
    ground: Ground, mover: Mover, work: Work, start: int, n_order: int, taken: Any, stops: Any
) -> int:
    """List where a movement may end, the start with them, as it was searched; return how many.

    In: taken uint8 (N,), cells where somebody else stands. Out: stops int64 (n, N_OF_STOP), of each
    its place, frame coordinates and ticks; nobody sees it yet, and it attacks nobody.
    """
    n = 0
    order, totals, words = work.order, work.totals, mover.words
    places, x, y = ground.place, ground.x, ground.y
    for j in range(n_order):
        at = order[j]
        if at != start and (taken[at] or not (int(words[at]) >> STOP) & 1):
            continue
        place = places[at]
        stops[n, PLACE], stops[n, X], stops[n, Y] = place, x[place], y[place]
        stops[n, PRICE] = totals[at]
        stops[n, EXPOSURE], stops[n, EXPOSED] = 0, HIDDEN
        stops[n, TARGETS], stops[n, BEST], stops[n, NEAREST] = 0, HIDDEN, FAR
        n += 1
    return n


@jit
def face(
    ground: Ground, crowd: Crowd, mover: Mover, token: int, given_light: int, stops: Any, n: int
) -> bool:  # fmt: skip
    """Add to each stop what a foe is to it; tell whether it can be attacked from one.

    In: token, which of the crowd the foe is; given_light, the encounter's light, or FIELD_LIGHT.
    In, out: stops int64 (n, N_OF_STOP). Arrays are taken out of their tuples once: in a loop they
    would be counted.
    """
    foe, eye = int(ground.place[crowd.at[token]]), int(crowd.eye[token])
    looks = crowd.looks[token] == 1
    sums, planes, light = crowd.sums[crowd.row[token]], ground.planes, ground.light
    packed, limit = crowd.packed, ground.limit
    attack, exposed = mover.attack[eye], mover.exposed[eye]
    ranges, limits = mover.ranges, mover.limits
    foe_x, foe_y = int(ground.x[foe]), int(ground.y[foe])
    light_there = int(light[foe]) if given_light == FIELD_LIGHT else given_light
    is_attacked = False
    for j in range(n):
        here = stops[j, PLACE]
        x, y = stops[j, X] - foe_x, stops[j, Y] - foe_y
        distance = max(abs(x), abs(y))
        if ground.is_hex:
            distance = max(distance, abs(x + y))
        stops[j, NEAREST] = min(stops[j, NEAREST], distance)
        between = read_sum(sums, packed, here)
        if between >= limit:
            continue
        near = int(distance == 1)
        if looks:
            halves, plane = between, exposed[OF_VIEWER + near]
            halves += int(planes[plane, foe]) if plane >= 0 else 0
            plane = exposed[OF_TARGET + near]
            halves += int(planes[plane, here]) if plane >= 0 else 0
            if halves < limit:
                malus = int(light[here]) if given_light == FIELD_LIGHT else given_light
                malus -= (halves + 1) >> 1
                stops[j, EXPOSURE] += 1
                stops[j, EXPOSED] = max(stops[j, EXPOSED], malus)
        halves, plane = between, attack[OF_VIEWER + near]
        halves += int(planes[plane, here]) if plane >= 0 else 0
        plane = attack[OF_TARGET + near]
        halves += int(planes[plane, foe]) if plane >= 0 else 0
        if halves >= limit:
            continue
        malus = light_there - ((halves + 1) >> 1)
        for w in range(ranges.shape[0]):
            if distance <= ranges[w] and malus >= limits[w]:
                stops[j, TARGETS] += 1
                stops[j, BEST] = max(stops[j, BEST], malus)
                is_attacked = True
                break
    return is_attacked


@jit
def is_before(a: tuple[int, int, int, int, int], b: tuple[int, int, int, int, int]) -> bool:
    """Tell whether the first of five numbers that differ is lower in one than in the other."""
    return a < b


@jit
def pick_stops(stops: Any, n: int, out: Any) -> None:
    """Write the best stop for an attack and that for safety, and what both are like.

    In: stops int64 (n, N_OF_STOP). Out: out int64 (N_ANSWERS,), its columns from ATTACK to
    MALUS_AFTER but for MALUS_BEFORE.
    """
    attack, safe = -1, 0
    for j in range(n):
        one = stops[j]
        if one[TARGETS]:
            best = stops[attack]
            if attack < 0 or is_before(
                (-one[BEST], -one[TARGETS], one[EXPOSURE], one[PRICE], one[PLACE]),
                (-best[BEST], -best[TARGETS], best[EXPOSURE], best[PRICE], best[PLACE]),
            ):
                attack = j
        best = stops[safe]
        if is_before(
            (one[EXPOSURE], one[EXPOSED], -one[NEAREST], one[PRICE], one[PLACE]),
            (best[EXPOSURE], best[EXPOSED], -best[NEAREST], best[PRICE], best[PLACE]),
        ):
            safe = j
    out[ATTACK], out[ATTACK_MALUS], out[ATTACK_TICKS] = NOWHERE, HIDDEN, 0
    if attack >= 0:
        out[ATTACK], out[ATTACK_MALUS] = stops[attack, PLACE], stops[attack, BEST]
        out[ATTACK_TICKS] = stops[attack, PRICE]
    out[SAFE], out[EXPOSURE_AFTER] = stops[safe, PLACE], stops[safe, EXPOSURE]
    out[MALUS_AFTER] = stops[safe, EXPOSED]


@jit
def score_stops(
    ground: Ground, crowd: Crowd, mover: Mover, i: int, me: int, work: Work, n_order: int,
    taken: Any, stops: Any, out: Any,
) -> None:  # fmt: skip
    """Score every stop of one token, and write its answers but for the stake.

    In: i, the encounter; me, the token; the search that was made, in `work`; taken uint8 (N,),
    cells where somebody else stands. Scratch: stops int64 (C, N_OF_STOP). Out: out int64
    (N_ANSWERS,).
    """
    n = list_stops(ground, mover, work, crowd.at[me], n_order, taken, stops)
    out[REACHED], out[STOPS], out[TARGETS_AFTER] = n_order, n, 0
    for foe in range(crowd.first[i], crowd.first[i + 1]):
        if foe != me and crowd.foes[crowd.side[me], crowd.side[foe]]:
            out[TARGETS_AFTER] += face(ground, crowd, mover, foe, int(crowd.light[i]), stops, n)
    # The search begins with the start.
    out[TARGETS_NOW], out[EXPOSURE_BEFORE] = stops[0, TARGETS], stops[0, EXPOSURE]
    out[MALUS_BEFORE] = stops[0, EXPOSED]
    pick_stops(stops, n, out)


@jit
def score_turns(
    ground: Ground, crowd: Crowd, mover: Mover, movers: Any, begin: int, work: Work, out: Any
) -> int:
    """Score the turn of each token of one kind, from one of them on.

    In: movers int64 (k, 3), encounter, token and ground, whose graph and weapons `mover` has;
    begin, the first of them. Out: out int64 (k, N_ANSWERS).
    Returns how many are done: fewer than k where the queue of `work` is too small for the next.
    """
    most = 0
    for i in range(crowd.first.shape[0] - 1):
        most = max(most, crowd.first[i + 1] - crowd.first[i])
    taken = np.zeros(ground.place.shape[0], np.uint8)
    stops = np.empty((ground.x.shape[0], N_OF_STOP), np.int64)
    barred = np.empty((most * mover.kind.shape[1], 2), np.int64)
    fewest = np.full(ground.place.shape[0], NO_WAY, np.int32)
    starts, nothing = np.empty(1, np.int64), np.zeros(1, np.int64)
    for m in range(begin, movers.shape[0]):
        i, me = movers[m, 0], movers[m, 1]
        n_barred = 0
        for other in range(crowd.first[i], crowd.first[i + 1]):
            if other != me:
                taken[crowd.at[other]] = 1
                if crowd.foes[crowd.side[me], crowd.side[other]]:
                    n_barred = bar(mover, crowd.at[other], barred, n_barred)
        starts[0] = crowd.at[me]
        n_order, status = flood(
            mover.words, mover.dues, mover.plan, work.totals, work.order, work.queue, starts,
            nothing, mover.budget,
        )  # fmt: skip
        if status != POOL_FULL:
            score_stops(ground, crowd, mover, i, me, work, n_order, taken, stops, out[m])
            out[m, STAKE] = 0
            # The start of a turn is a stop, so there is a best one.
            place = out[m, ATTACK] if out[m, ATTACK] >= 0 else out[m, SAFE]
            goal = at_place(work.order, n_order, ground.place, place)
            if mover.worth.shape[0] and goal != starts[0]:
                # No way has less at stake than its last step, and mostly that is all.
                worth = mover.worth[movers[m, 2]]
                out[m, STAKE] = entry_stake(mover, worth, work.totals, goal)
                if not has_free_way(mover, worth, work.totals, starts[0], goal, out[m, STAKE]):
                    out[m, STAKE] = least_stake(ground, mover, worth, starts[0], goal, fewest)
                    for j in range(n_order):
                        fewest[work.order[j]] = NO_WAY
            blank(work.totals, work.order, n_order)
        unbar(mover, barred, n_barred)
        for other in range(crowd.first[i], crowd.first[i + 1]):
            taken[crowd.at[other]] = 0
        if status == POOL_FULL:
            return m
    return int(movers.shape[0])


@jit
def at_place(order: Any, n: int, place_of_cell: Any, place: int) -> int:
    """Return which of n cells has a place."""
    for j in range(n):
        if place_of_cell[order[j]] == place:
            return int(order[j])
    return NOWHERE


VIEWER, TARGET, IS_FOE, DISTANCE, SEEN, OBSTRUCTION, LIGHT, MALUS = range(8)
"""Columns of pairs: the two tokens, counted from the first of their encounter; whether the target
is a foe; steps apart; whether it is seen; points that the line takes off, 0 or less, or HIDDEN
where something ends it; light and whole malus, HIDDEN where it is not seen."""
N_OF_PAIR = 8


@jit
def list_far(ground: Ground, crowd: Crowd, out: Any, rows_cols: Any, width: int) -> int:
    """Note the halves between all pairs, and list those that the table has at its limit.

    In: width of the map. Out: out int32 (pairs,), encounter by encounter those of the first token
    with all later ones, then of the second; -1 for those listed; rows_cols int64 (pairs, 2, 2).
    Returns how many were listed.
    """
    n, far = 0, 0
    for i in range(crowd.first.shape[0] - 1):
        for a in range(crowd.first[i], crowd.first[i + 1]):
            here = int(ground.place[crowd.at[a]])
            for b in range(a + 1, crowd.first[i + 1]):
                there = int(ground.place[crowd.at[b]])
                out[n] = read_sum(crowd.sums[crowd.row[a]], crowd.packed, there)
                if out[n] >= ground.limit:
                    out[n] = -1
                    rows_cols[far, 0, 0], rows_cols[far, 0, 1] = here // width, here % width
                    rows_cols[far, 1, 0], rows_cols[far, 1, 1] = there // width, there % width
                    far += 1
                n += 1
    return far


@jit
def score_pairs(
    ground: Ground, crowd: Crowd, ends: Any, between: Any, far: Any, blocked: int, out: Any
) -> None:
    """Write what each token sees of each other one of its encounter, by viewer, then by target.

    In: ends int64 (eyes, eyes, 4), planes of a line from one eye to another; between int32 (pairs,)
    and far int32 (m,), as `list_far` left them and the sums of those listed; halves from `blocked`
    on end a line. Out: out int32 (2 pairs, N_OF_PAIR).
    """
    base, read, row = 0, 0, 0
    for n in range(between.shape[0]):
        if between[n] < 0:
            between[n] = far[read]
            read += 1
    for i in range(crowd.first.shape[0] - 1):
        begin, count = crowd.first[i], crowd.first[i + 1] - crowd.first[i]
        for a in range(count):
            here = ground.place[crowd.at[begin + a]]
            for b in range(count):
                if a == b:
                    continue
                there = ground.place[crowd.at[begin + b]]
                low, high = min(a, b), max(a, b)
                # Those of the first `low` tokens come before: count - 1, count - 2, ... of them.
                pair = base + low * (2 * count - low - 1) // 2 + high - low - 1
                halves = int(between[pair])
                distance = apart(ground, here, there)
                near = int(distance == 1)
                viewer, target = crowd.eye[begin + a], crowd.eye[begin + b]
                of_viewer = ends[viewer, target, OF_VIEWER + near]
                of_target = ends[viewer, target, OF_TARGET + near]
                if of_viewer >= 0:
                    halves += int(ground.planes[of_viewer, here])
                if of_target >= 0:
                    halves += int(ground.planes[of_target, there])
                given = int(crowd.light[i])
                light = int(ground.light[there]) if given == FIELD_LIGHT else given
                points = (halves + 1) >> 1
                seen = halves < ground.limit
                out[row, VIEWER], out[row, TARGET] = a, b
                out[row, IS_FOE] = crowd.foes[crowd.side[begin + a], crowd.side[begin + b]]
                out[row, DISTANCE], out[row, SEEN] = distance, seen
                out[row, OBSTRUCTION] = HIDDEN if halves >= blocked else max(-points, HIDDEN + 1)
                out[row, LIGHT] = light
                out[row, MALUS] = max(light - points, HIDDEN + 1) if seen else HIDDEN
                row += 1
        base += count * (count - 1) // 2

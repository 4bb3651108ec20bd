"""What a user writes for encounters who has NetworkX and no other library: graphs and dictionaries.

Hexes in the layout odd-r. A creature pays by the hex, sees along straight lines, is barred by foes
and ends where nobody stands. Boards are dictionaries from (row, col) to the name of a terrain.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from benchmarks.harness import module

Cell = tuple[int, int]
HIDDEN = -32768
THRESHOLD = 4


class Kind(NamedTuple):
    """A terrain: half points to enter and to leave, halves it takes off a line, opaque or not.

    `slips`: who enters may slip, and then takes so much on average; `pricks`: who enters is hurt by
    so much unless it saves; `climb`: half points to enter in place of all else.
    """

    entry: int = 2
    exit: int = 0
    halves: int = 0
    opaque: bool = False
    slips: Fraction = Fraction(0)
    pricks: Fraction = Fraction(0)


KINDS = {
    "open": Kind(),
    "light_forest": Kind(3, halves=1),
    "heavy_forest": Kind(4, halves=2),
    "mud": Kind(6, 2),
    "gravel": Kind(3, slips=Fraction(3, 2)),
    "thorns": Kind(3, pricks=Fraction(2)),
    "stones": Kind(4),
    "rock_formation": Kind(12, opaque=True),
}
SLIPS = {"dry": (1, 0), "wet": (2, 5), "snow": (1, 10), "ice": (3, 10)}
"""How many of ten rolls risk a slip, and what the ground takes off the save, in percent."""


class Token(NamedTuple):
    """Somebody: half points a turn, reach, weapons (range or None, limit or None), save."""

    cell: Cell
    side: str
    speed: int
    reach: int
    weapons: tuple[tuple[int | None, int | None], ...]
    save: int
    climbs: bool = True


def neighbours(cell: Cell) -> Iterator[Cell]:
    row, col = cell
    shift = row & 1
    for d_row, d_col in ((0, 1), (0, -1), (-1, shift - 1), (-1, shift), (1, shift - 1), (1, shift)):
        yield row + d_row, col + d_col


def axial(cell: Cell) -> Cell:
    row, col = cell
    return col - (row - (row & 1)) // 2, row


def offset(q: int, r: int) -> Cell:
    return r, q + (r - (r & 1)) // 2


def distance(a: Cell, b: Cell) -> int:
    (q, r), (to_q, to_r) = axial(a), axial(b)
    return max(abs(to_q - q), abs(to_r - r), abs(to_q + to_r - q - r))


# -- sight ----------------------------------------------------------------------------------------


@functools.cache
def crossed(dq: int, dr: int) -> tuple[tuple[Cell, ...], tuple[tuple[Cell, Cell], ...]]:
    """Return the hexes strictly between the ends of a line over (dq, dr), and its pairs.

    A hexagon is where three differences of a point's cube coordinates from the centre's are at most
    1; the line is in it between two times. Where one of them stays 1, it runs along an edge.
    """
    n = max(abs(dq), abs(dr), abs(dq + dr))
    near = set()
    for i in range(n + 1):
        q, r = round(dq * i / n), round(dr * i / n)
        near |= {(q + a, r + b) for a in range(-2, 3) for b in range(-2, 3)}
    forms = ((1, -1), (1, 2), (2, 1))
    singles, left, right = [], {}, {}
    for q, r in near - {(0, 0), (dq, dr)}:
        begin, end, edge = Fraction(0), Fraction(1), False
        for a, b in forms:
            at, speed = -(a * q + b * r), a * dq + b * dr
            if speed == 0:
                if abs(at) > 1:
                    begin = end = Fraction(0)
                edge |= abs(at) == 1
                continue
            times = sorted((Fraction(-1 - at, speed), Fraction(1 - at, speed)))
            begin, end = max(begin, times[0]), min(end, times[1])
        if begin >= end:
            continue
        if not edge:
            singles.append((q, r))
            continue
        # In axial coordinates the sign of the cross product tells the side as on paper.
        (left if dq * r - dr * q < 0 else right)[begin] = (q, r)
    return tuple(singles), tuple((left[t], right[t]) for t in left)


def halves_between(board: dict[Cell, str], a: Cell, b: Cell) -> float:
    """Return what lies between two cells, the worse side of a line along edges; inf if opaque."""
    (q, r), (to_q, to_r) = axial(a), axial(b)
    singles, pairs = crossed(to_q - q, to_r - r)

    def takes(hexagon: Cell) -> float | None:
        kind = board.get(offset(q + hexagon[0], r + hexagon[1]))
        if kind is None:
            return None
        return math.inf if KINDS[kind].opaque else KINDS[kind].halves

    total = sum(takes(one) or 0 for one in singles)
    sides = [0.0, 0.0]
    for pair in pairs:
        found = [takes(one) for one in pair]
        for i in (0, 1):
            mine, other = found[i], found[1 - i]
            sides[i] += (mine if mine is not None else other) or 0
    return total + max(sides)


def malus(board: dict[Cell, str], between: float, viewer: Cell, target: Cell, light: int) -> int:
    """Return the malus of a shot, HIDDEN where the target is."""
    halves = between
    if distance(viewer, target) > 1:
        halves += KINDS[board[target]].halves
    if halves > 2 * (THRESHOLD - 1):
        return HIDDEN
    return light - math.ceil(halves / 2)


# -- movement -------------------------------------------------------------------------------------


def graph_of(board: dict[Cell, str], *, climbs: bool) -> Any:
    """Return the movement graph of a board, prices in half points."""
    nx = module("networkx")
    graph = nx.DiGraph()
    for cell, kind in board.items():
        graph.add_node(cell)
        for other in neighbours(cell):
            there = board.get(other)
            if there is not None and (climbs or there != "rock_formation"):
                graph.add_edge(cell, other, price=KINDS[there].entry + KINDS[kind].exit)
    return graph


@functools.cache
def stake_of(kind: str, save: int, ground: str) -> int:
    """Return the expected damage of entering a terrain, in thousandths."""
    of = KINDS[kind]
    rolls, worse = SLIPS[ground]
    slip = of.slips * Fraction(rolls, 10) * (1 - Fraction(max(save - worse, 0), 100))
    prick = of.pricks * (1 - Fraction(save, 100))
    return rounded(1000 * slip) + rounded(1000 * prick)


def rounded(value: Fraction) -> int:
    """Return the nearest whole number, halves up."""
    return math.floor(value + Fraction(1, 2))


def least_stake(
    graph: Any, board: dict[Cell, str], me: Token, barred: set[Cell], goal: Cell, ground: str
) -> int:
    """Return the least stake of a way within the speed: a shortest path over (cell, spent)."""
    nx = module("networkx")
    if goal == me.cell:
        return 0
    states = nx.DiGraph()
    frontier = [(me.cell, 0)]
    seen = set(frontier)
    while frontier:
        cell, spent = frontier.pop()
        for _, other, price in graph.out_edges(cell, data="price"):
            then = (other, spent + price)
            if other in barred or then[1] > me.speed:
                continue
            states.add_edge((cell, spent), then, stake=stake_of(board[other], me.save, ground))
            if then not in seen:
                seen.add(then)
                frontier.append(then)
    found = nx.single_source_dijkstra_path_length(states, (me.cell, 0), weight="stake")
    return min(stake for (cell, _), stake in found.items() if cell == goal)


# -- an encounter ---------------------------------------------------------------------------------


def analyse(
    board: dict[Cell, str], graphs: dict[bool, Any], tokens: list[Token], light: int, ground: str
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return one row a token and one row an ordered pair of tokens."""
    rows = [turn(board, graphs, tokens, i, light, ground) for i in range(len(tokens))]
    pairs = []
    for i, one in enumerate(tokens):
        for j, other in enumerate(tokens):
            if i == j:
                continue
            between = halves_between(board, one.cell, other.cell)
            shot = malus(board, between, one.cell, other.cell, light)
            far = distance(one.cell, other.cell)
            whole = between + (KINDS[board[other.cell]].halves if far > 1 else 0)
            lost = HIDDEN if whole == math.inf else -math.ceil(whole / 2)
            pairs.append((i, j, one.side != other.side, far, shot != HIDDEN, lost, light, shot))
    return rows, pairs


def turn(
    board: dict[Cell, str], graphs: dict[bool, Any], tokens: list[Token], number: int, light: int,
    ground: str,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the row of one token."""
    nx = module("networkx")
    me = tokens[number]
    foes = [other for other in tokens if other.side != me.side]
    barred = {foe.cell for foe in foes}
    graph = graphs[me.climbs]
    taken = {other.cell for i, other in enumerate(tokens) if i != number}
    costs = nx.single_source_dijkstra_path_length(
        graph, me.cell, cutoff=me.speed,
        weight=lambda _, to, edge: None if to in barred else edge["price"],
    )  # fmt: skip
    stops = []
    targets_after: set[int] = set()
    for cell, price in costs.items():
        if cell in taken:
            continue
        exposed, shots = [], []
        for k, foe in enumerate(foes):
            between = halves_between(board, cell, foe.cell)
            seen = malus(board, between, foe.cell, cell, light)
            if seen != HIDDEN:
                exposed.append(seen)
            shot = malus(board, between, cell, foe.cell, light)
            far = distance(cell, foe.cell)
            if shot != HIDDEN and any(
                far <= (me.reach if carries is None else carries) and (low is None or shot >= low)
                for carries, low in me.weapons
            ):
                shots.append(shot)
                targets_after.add(k)
        nearest = min((distance(cell, foe.cell) for foe in foes), default=10**6)
        stops.append((cell, price, shots, exposed, nearest))
    attack = min(
        (stop for stop in stops if stop[2]),
        key=lambda stop: (-max(stop[2]), -len(stop[2]), len(stop[3]), stop[1], stop[0]),
        default=None,
    )
    safe = min(
        stops,
        key=lambda stop: (
            len(stop[3]), max(stop[3], default=HIDDEN), -stop[4], stop[1], stop[0]
        ),
    )  # fmt: skip
    here = next(stop for stop in stops if stop[0] == me.cell)
    goal = (safe if attack is None else attack)[0]
    return (
        len(costs), len(stops), len(here[2]), len(targets_after),
        *((-1, -1, HIDDEN, 0.0) if attack is None else (*attack[0], max(attack[2]), attack[1] / 2)),
        *safe[0], len(here[3]), len(safe[3]), max(here[3], default=HIDDEN),
        max(safe[3], default=HIDDEN), least_stake(graph, board, me, barred, goal, ground),
    )  # fmt: skip

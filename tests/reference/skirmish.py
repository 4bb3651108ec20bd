"""Where a creature gets to under `skirmish`, state by state and in points.

Written from the rule texts for small maps; it reads a case and nothing of the library. A state is
the top-left square of the creature and its way of moving. A plain Dijkstra runs over the states.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from reference.cases import Answer, BorderSpec, Case, Cell, TokenSpec

ON_LAND = ("walk", "climb")
SURFACE = ("walk", "climb", "swim")
SHUT = ("wall", "column", "impassable")
CORNERED = ("wall", "column")
STRAIGHT = ((-1, 0), (0, 1), (1, 0), (0, -1))
SLANTED = ((-1, 1), (1, 1), (1, -1), (-1, -1))
USUAL_HEIGHT = 2

Amount = Fraction | float
Step = tuple[int, int]


class State(NamedTuple):
    """Where the creature is and how it moves there."""

    at: Cell
    mode: str


def plus(cell: Cell, step: Step) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]


def amount(given: Any) -> Amount:
    """Return a speed or a budget in whole points; infinite for None."""
    if given is None or given == math.inf:
        return math.inf
    return Fraction(math.floor(Fraction(given)))


class Movement:
    """One movement of one token on one case."""

    def __init__(self, case: Case, mover: TokenSpec, budget: Any = None) -> None:
        self.case, self.mover = case, mover
        self.height = Fraction(str(USUAL_HEIGHT if mover.height is None else mover.height))
        self.limits = self.limits_of(budget)
        self.corners = case.parameters.get("corners", "either")
        self.level_surcharge = case.parameters.get("level_surcharge", False)
        self.directions = STRAIGHT + (SLANTED if case.lattice == "square" else ())
        self.there: dict[Cell, list[TokenSpec]] = {}
        for other in case.others(mover):
            for cell in other.covered():
                self.there.setdefault(cell, []).append(other)

    def limits_of(self, budget: Any) -> dict[str, Amount]:
        """Return the most that each way of moving may have spent in all."""
        speed = self.mover.speed
        if isinstance(speed, dict):
            speeds = dict(speed)
        else:
            speeds = {"fly" if self.mover.flying else "walk": speed}
        if self.mover.flying and "fly" not in speeds:
            speeds["fly"] = speeds.get("walk")  # it flies as fast as it walks
        if isinstance(budget, dict):
            speeds = dict(budget)
        elif budget is not None:
            speeds = dict.fromkeys(speeds, budget)
        return {mode: amount(given) for mode, given in speeds.items()}

    def window(self, at: Cell) -> list[Cell]:
        """Return the squares that the mover covers there."""
        n = self.mover.across
        return [(at[0] + i, at[1] + j) for i in range(n) for j in range(n)]

    # -- squares --

    def ids(self, cell: Cell) -> list[str]:
        """Return the terrain ids of a square; what the creature crosses is plain ground to it."""
        return ["open" if id_ in self.mover.crosses else id_ for id_ in self.case.kind(cell)]

    def has(self, cell: Cell, *ids: str) -> bool:
        return any(id_ in ids for id_ in self.ids(cell))

    def highest(self, cells: list[Cell]) -> Fraction:
        return max(self.case.height_of(cell) for cell in cells)

    # -- others (SK-01) --

    def engaged(self, other: TokenSpec) -> bool:
        """Tell whether an enemy of somebody is in the squares around it, or even in its own."""
        if other.engaged is not None:
            return other.engaged
        own = set(other.covered())
        around = own | {plus(cell, step) for cell in own for step in STRAIGHT + SLANTED}
        return any(
            self.case.relation(other.side, third.side) == "foe" and around & set(third.covered())
            for third in self.case.tokens
        )

    def kept_out(self, cell: Cell) -> bool:
        """Tell whether somebody in a square bars it."""
        return any(
            self.case.relation(self.mover.side, other.side) == "foe" or self.engaged(other)
            for other in self.there.get(cell, [])
        )

    def may_stop(self, state: State) -> bool:
        return not any(cell in self.there for cell in self.window(state.at))

    # -- borders --

    def borders(self, mode: str, a: Cell, b: Cell) -> list[BorderSpec]:
        """Return what stands between two neighbours; heights are nothing to who flies."""
        kinds = self.mover.crosses | ({"drop", "ladder"} if mode == "fly" else set())
        return [
            border
            for border in self.case.borders
            if set(border.cells) == {a, b} and border.kind not in kinds
        ]

    def barred(self, mode: str, a: Cell, b: Cell) -> bool:
        """Tell whether a border bars the way from a square to the one beside it."""
        for border in self.borders(mode, a, b):
            along = border.cells == (a, b)
            if border.one_way or border.kind == "drop":
                if not along:
                    return True
            elif border.kind == "wall" or (border.kind == "door" and not border.open):
                return True
        return False

    def toll(self, mode: str, a: Cell, b: Cell) -> Fraction:
        """Return what the borders between two squares ask for."""
        total = Fraction(0)
        for border in self.borders(mode, a, b):
            if border.kind == "ladder" and border.price is None:
                total += Fraction(border.length) * (2 if self.mover.hands_full else 1)
            else:
                total += Fraction(border.price or 0)
        return total

    def is_ladder(self, a: Cell, b: Cell) -> bool:
        return any(
            border.kind == "ladder" and set(border.cells) == {a, b} for border in self.case.borders
        )

    # -- places --

    def walled(self, mode: str, cells: list[Cell]) -> bool:
        """Tell whether a border that bars both ways runs inside a window."""
        pairs = [(a, plus(a, step)) for a in cells for step in STRAIGHT if plus(a, step) in cells]
        return any(self.barred(mode, a, b) and self.barred(mode, b, a) for a, b in pairs)

    def fits(self, mode: str, at: Cell, held: Collection[Cell] = ()) -> bool:
        """Tell whether the mover may come to be there, moving that way.

        Nobody keeps it out of the squares it holds already.
        """
        cells = self.window(at)
        if not all(self.case.inside(cell) for cell in cells):
            return False
        if any(self.has(cell, *SHUT) for cell in cells):
            return False
        if self.walled(mode, cells):
            return False
        if mode == "fly":
            return True
        if any(self.kept_out(cell) for cell in cells if cell not in held):
            return False
        wet = any(self.has(cell, "deep_water") for cell in cells)
        return wet if mode == "swim" else not wet

    # -- steps --

    def crossed(self, at: Cell, step: Step) -> set[tuple[Cell, Cell]]:
        """Return the sides between squares that the leading sides of the mover cross.

        A diagonal step goes both ways round its crossing point: straight one way and then the
        other.
        """
        if 0 in step:
            return self.led(self.window(at), step)
        down, right = (step[0], 0), (0, step[1])
        found = set()
        for first, then in ((down, right), (right, down)):
            found |= self.led(self.window(at), first)
            found |= self.led(self.window(plus(at, first)), then)
        return found

    def led(self, cells: list[Cell], step: Step) -> set[tuple[Cell, Cell]]:
        return {(a, plus(a, step)) for a in cells if plus(a, step) not in cells}

    def barred_by_borders(self, mode: str, at: Cell, step: Step) -> bool:
        """Tell whether a border is in the way, of a diagonal on either way round."""
        if any(self.barred(mode, a, b) for a, b in self.crossed(at, step)):
            return True
        ways = ((step[0], 0), (0, step[1])) if 0 not in step else ()
        return any(self.walled(mode, self.window(plus(at, way))) for way in ways)

    def barred_by_corners(self, mode: str, at: Cell, step: Step) -> bool:
        """Tell whether a diagonal is refused for what stands beside it (SK-10)."""
        if 0 in step or self.corners == "free":
            return False
        before, after = self.window(at), self.window(plus(at, step))
        ground = self.highest(before)

        def counts(cell: Cell) -> bool:
            if self.has(cell, *CORNERED):
                return True
            return mode != "fly" and self.case.height_of(cell) - ground >= self.height

        shut = []
        for way in ((step[0], 0), (0, step[1])):
            beside = [cell for cell in self.window(plus(at, way))]
            shut.append(any(counts(c) for c in beside if c not in before and c not in after))
        return all(shut) if self.corners == "either" else any(shut)

    def rise(self, mode: str, at: Cell, step: Step) -> Fraction | None:
        """Return what going up costs more; None where it is too high (SK-05 to SK-07)."""
        if mode == "fly":
            return Fraction(0)
        before, after = self.window(at), self.window(plus(at, step))
        if any(self.has(cell, "ladder") for cell in before + after):
            return Fraction(0)
        if any(self.is_ladder(a, b) for a, b in self.led(before, step)) and 0 in step:
            return Fraction(0)
        top = self.highest(after)
        rise = top - self.highest(before)
        if rise >= self.height and "climb" not in self.limits:
            return None
        if rise > 0:
            return max(Fraction(1), rise)
        if rise == 0 and top > 0 and self.level_surcharge:
            return Fraction(1)
        return Fraction(0)

    def surcharge(self, mode: str, cell: Cell) -> Fraction:
        """Return what a square costs besides the plain point."""
        if mode == "fly":
            return Fraction(0)
        extra = Fraction(0)
        if self.has(cell, "difficult"):
            extra += 1
        if self.has(cell, "stairs") and self.case.elevation is None:
            extra += 1
        if self.has(cell, "ladder") and self.mover.hands_full:
            extra += 1
        if cell in self.there:
            extra += 1
        return extra

    def price(self, mode: str, at: Cell, step: Step) -> Fraction | None:
        """Return the price of a step, or None where it is not legal."""
        after = plus(at, step)
        if not self.fits(mode, after, self.window(at)) or self.barred_by_borders(mode, at, step):
            return None
        if self.barred_by_corners(mode, at, step):
            return None
        rise = self.rise(mode, at, step)
        if rise is None:
            return None
        worst = max(self.surcharge(mode, cell) for cell in self.window(after))
        return 1 + worst + rise + max(self.toll(mode, a, b) for a, b in self.crossed(at, step))

    def moves(self, state: State) -> Iterator[tuple[State, Fraction]]:
        """Yield what may follow a state.

        On the ground and in the water the way of moving is chosen with each step; taking off and
        landing happen in place, where the new way of moving may be.
        """
        for mode in self.limits:
            same = mode == state.mode or (mode in SURFACE and state.mode in SURFACE)
            if not same:
                if self.fits(mode, state.at):
                    yield State(state.at, mode), Fraction(0)
                continue
            for step in self.directions:
                price = self.price(mode, state.at, step)
                if price is not None:
                    yield State(plus(state.at, step), mode), price

    def starts(self) -> list[State]:
        """Return how the mover may set out: in the air if it flies, else on the ground."""
        modes = [mode for mode in self.limits if (mode == "fly") == self.mover.flying]
        return [State(self.mover.cell, mode) for mode in modes or self.limits]

    def settle(self) -> dict[State, Fraction]:
        """Return the least total of every state within the limits; the start is always there."""
        ticket = count()
        queue = [(Fraction(0), next(ticket), state) for state in self.starts()]
        totals: dict[State, Fraction] = {}
        while queue:
            total, _, state = heapq.heappop(queue)
            if state in totals:
                continue
            totals[state] = total
            for after, price in self.moves(state):
                if after.mode != state.mode and not price and total == self.limits[after.mode]:
                    continue  # nobody changes to a speed that is used up (S5-03)
                if after not in totals and total + price <= self.limits[after.mode]:
                    heapq.heappush(queue, (total + price, next(ticket), after))
        return totals

    def reach(self) -> Answer:
        answer: Answer = {}
        for state, total in self.settle().items():
            cost, stop, _ = answer.get(state.at, (total, False, 0))
            answer[state.at] = min(cost, total), stop or self.may_stop(state), 0
        return answer


def reach(case: Case, mover: TokenSpec, budget: Any = None) -> Answer:
    """Return of each square reached the least cost in points, and whether one may stop there."""
    return Movement(case, mover, budget).reach()

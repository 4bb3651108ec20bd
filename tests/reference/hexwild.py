"""Where a creature gets to under `hexwild`, state by state and in points.

Written from the rule texts for small maps; it reads a case and nothing of the library. A state is
a place (the anchor's hex and the level), the direction a body of several hexes faces, and the way
of moving. Of flyers the rules say no more than HW-23; here they pay the plain point, meet only
others in the air, and of closed terrain only buildings stop them. Swimmers pay the plain point in
deep water. A plain Dijkstra runs over the states; prices are exact fractions.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from reference.cases import SIZES, Answer, BorderSpec, Case, Cell, TokenSpec

HALF = Fraction(1, 2)
PLAIN = Fraction(1)
ENTRY = {
    "open": Fraction(0),
    "light_forest": HALF,
    "heavy_forest": Fraction(1),
    "ancient_trees": HALF,
    "light_bushes": HALF,
    "heavy_bushes": Fraction(1),
    "thorns": HALF,
    "gravel": HALF,
    "stones": Fraction(1),
    "sharp_rocks": Fraction(2),
    "boulder": Fraction(0),
    "rock_formation": Fraction(0),
    "mud": Fraction(2),
    "fog": Fraction(0),
    "deep_water": Fraction(0),
    "building": Fraction(0),
}
BOLD_ENTRY = {"stones": Fraction(0), "sharp_rocks": Fraction(1)}
EXIT = {"mud": Fraction(1)}
RISE = {"boulder": Fraction(1), "rock_formation": Fraction(3)}
SURFACE = ("walk", "swim")

Amount = Fraction | float


class State(NamedTuple):
    """A place, and how the creature is there."""

    at: Cell
    level: int
    facing: int
    mode: str


def climb_price(rise: Fraction) -> Fraction:
    """Return twice the metres as points, rounded up to half a point, at least 1 (HW-18)."""
    return max(PLAIN, Fraction(math.ceil(4 * rise), 2))


def amount(given: Any) -> Amount:
    """Return a speed or a budget in whole half points; infinite for None."""
    if given is None or given == math.inf:
        return math.inf
    return Fraction(math.floor(Fraction(given) * 2), 2)


class Movement:
    """One movement of one token on one case."""

    def __init__(self, case: Case, mover: TokenSpec, budget: Any = None) -> None:
        self.case, self.mover = case, mover
        self.body = mover.body or 1
        self.limits = self.limits_of(budget)
        self.stacks = case.parameters.get("overlays_stack", True)
        self.mud_exit = case.parameters.get("mud_exit", "hex")
        turn = case.parameters.get("turn_cost")
        self.turn_cost = None if turn is None else Fraction(turn)
        self.there: dict[tuple[Cell, int, bool], list[TokenSpec]] = {}
        for other in case.others(mover):
            for cell in self.others_cells(other):
                self.there.setdefault((cell, other.level, other.flying), []).append(other)
        self.perches = {(perch.cell, perch.level): perch for perch in case.perches}

    def limits_of(self, budget: Any) -> dict[str, Amount]:
        """Return the most that each way of moving may have spent in all."""
        speed = self.mover.speed
        speeds = dict(speed) if isinstance(speed, dict) else {"walk": speed}
        if self.mover.flying and "fly" not in speeds:
            speeds["fly"] = speeds.get("walk")  # it flies as fast as it walks
        if isinstance(budget, dict):
            speeds = dict(budget)
        elif budget is not None:
            speeds = dict.fromkeys(speeds, budget)
        return {mode: amount(given) for mode, given in speeds.items()}

    # -- bodies --

    def spread(self, at: Cell, body: int, facing: int) -> list[Cell]:
        """Return the hexes of a body of 1, 2, 3 or 7, on the map or off it."""
        around = self.case.around(at)
        if body == 7:
            return [at, *around]
        return [at, *(around[(facing + i) % 6] for i in range(body - 1))]

    def others_cells(self, other: TokenSpec) -> list[Cell]:
        if other.level:
            return [other.cell]
        return self.spread(other.cell, other.body or 1, other.facing)

    def covered(self, state: State) -> list[Cell]:
        """Return the hexes that the mover covers; up a tree it sits in one."""
        if state.level:
            return [state.at]
        return self.spread(state.at, self.body, state.facing)

    # -- terrain --

    def ids(self, cell: Cell) -> list[str]:
        """Return the terrain ids of a hex; what the creature crosses is plain ground to it."""
        names = [name.partition(":")[0] for name in self.case.kind(cell)]
        return ["open" if name in self.mover.crosses else name for name in names]

    def stacked(self, figures: list[Fraction]) -> Fraction:
        """Return the base's figure and its overlays', all of them or the largest (HW-15)."""
        base, *overlays = figures
        if self.stacks:
            return base + sum(overlays)
        return base + max(overlays, default=Fraction(0))

    def surcharge(self, cell: Cell) -> Fraction:
        """Return what terrain adds to entering a hex (HW-15, HW-17)."""
        bold = self.mover.footing == "bold"
        figures = []
        for name in self.ids(cell):
            figures.append(BOLD_ENTRY[name] if bold and name in BOLD_ENTRY else ENTRY[name])
        return self.stacked(figures)

    def exit(self, cell: Cell) -> Fraction:
        """Return what terrain asks for leaving a hex (HW-16)."""
        return self.stacked([EXIT.get(name, Fraction(0)) for name in self.ids(cell)])

    def wet(self, cell: Cell) -> bool:
        return "deep_water" in self.ids(cell)

    def closed(self, mode: str, cell: Cell) -> bool:
        names = self.ids(cell)
        if mode == "fly":
            return "building" in names
        if "building" in names or (mode != "swim" and self.wet(cell)):
            return True
        return not self.mover.climbs and any(name in RISE for name in names)

    def entry(self, before: list[Cell], cell: Cell) -> Fraction:
        """Return the price of a hex covered after a step, mud left behind apart (HW-15, HW-18).

        A climb starts at the highest hex covered before the step.
        """
        rises = [RISE[name] for name in self.ids(cell) if name in RISE]
        if not rises:
            return PLAIN + self.surcharge(cell)
        rise = max(rises)
        if self.case.elevation is not None:
            rise = self.case.height_of(cell) - max(self.case.height_of(old) for old in before)
        return climb_price(rise) + self.surcharge(cell)

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
        """Tell whether a border bars the way from a hex to the one beside it."""
        for border in self.borders(mode, a, b):
            along = border.cells == (a, b)
            if border.one_way or border.kind == "drop":
                if not along:
                    return True
            elif border.kind == "wall" or (border.kind == "door" and not border.open):
                return True
        return False

    def toll(self, mode: str, a: Cell, b: Cell) -> Fraction:
        """Return what the borders between two hexes ask for."""
        prices = [Fraction(border.price or 0) for border in self.borders(mode, a, b)]
        return sum(prices, Fraction(0))

    # -- others --

    def others(self, state: State, held: Collection[Cell] = ()) -> list[TokenSpec]:
        """Return who else is where the mover is, but for the hexes it held before."""
        place = state.level, state.mode == "fly"
        cells = [cell for cell in self.covered(state) if cell not in held]
        return [other for cell in cells for other in self.there.get((cell, *place), [])]

    def may_stop(self, state: State) -> bool:
        return not self.others(state)

    # -- places and moves --

    def fits(self, state: State, held: Collection[Cell] = ()) -> bool:
        """Tell whether the mover may come to be in a state.

        Nobody keeps it out of the hexes it holds already.
        """
        if state.level:
            perch = self.perches.get((state.at, state.level))
            if perch is None or self.body > 1 or state.mode == "fly" or self.others(state):
                return False
            return SIZES.index(self.mover.size) <= SIZES.index(perch.size)
        cells = self.covered(state)
        if not all(self.case.inside(cell) for cell in cells):
            return False
        if any(self.closed(state.mode, cell) for cell in cells):
            return False
        for other in self.others(state, held):
            if self.case.relation(self.mover.side, other.side) == "foe":
                return False
        for a in cells:
            for b in self.case.around(a):
                if b in cells and self.barred(state.mode, a, b) and self.barred(state.mode, b, a):
                    return False
        return state.mode != "swim" or any(self.wet(cell) for cell in cells)

    def metres(self, state: State) -> Fraction:
        """Return how high above the ground of its hex a place is."""
        if state.level == 0:
            return Fraction(0)
        return Fraction(str(self.perches[state.at, state.level].metres))

    def steps(self, state: State) -> Iterator[tuple[State, Fraction]]:
        """Yield what a step by a way of moving leads to, and its price."""
        mode = state.mode
        before = self.covered(state)
        for direction in range(6):
            after = state._replace(at=self.case.around(state.at)[direction])
            if not self.fits(after, before):
                continue
            ways = [(cell, self.case.around(cell)[direction]) for cell in before]
            leading = [(a, b) for a, b in ways if b not in before]
            if any(self.barred(mode, a, b) for a, b in leading):
                continue
            price = max(self.toll(mode, a, b) for a, b in leading)
            if mode == "fly":
                price += PLAIN
            else:
                price += max(self.entry(before, b) for _, b in ways)
                price += self.leaving(before, [b for _, b in ways])
            yield after, price

    def leaving(self, before: list[Cell], after: list[Cell]) -> Fraction:
        """Return what the mud left behind asks for."""
        worst = max(self.exit(cell) for cell in before)
        if self.mud_exit == "zone" and any(self.exit(cell) for cell in after):
            return Fraction(0)
        return worst

    def turns(self, state: State) -> Iterator[tuple[State, Fraction]]:
        """Yield what turning in place leads to, one direction at a time."""
        if self.turn_cost is None or self.body == 1:
            return
        for turn in (1, 5):
            yield state._replace(facing=(state.facing + turn) % 6), self.turn_cost

    def climbs(self, state: State) -> Iterator[tuple[State, Fraction]]:
        """Yield the other levels of the hex, and the price of climbing there (HW-23, HW-24)."""
        for level in range(5):
            after = state._replace(level=level)
            if level == state.level or not self.fits(after):
                continue
            if level > state.level and not self.mover.climbs:
                continue
            yield after, climb_price(self.metres(after) - self.metres(state))

    def moves(self, state: State) -> Iterator[tuple[State, Fraction]]:
        """Yield what may follow a state.

        Walking or swimming is chosen with each step. Taking off and landing happen in place; who
        flies may take off from a perch too, and is not there any more.
        """
        for mode in self.limits:
            same = mode == state.mode or (mode in SURFACE and state.mode in SURFACE)
            here = state._replace(mode=mode)
            if not same:
                here = here._replace(level=0)
                if self.fits(here):
                    yield here, Fraction(0)
            elif state.level == 0:
                yield from self.steps(here)
                for after, price in self.turns(here):
                    if self.fits(after):
                        yield after, price
        if state.mode != "fly":
            yield from self.climbs(state)

    def settle(self) -> dict[State, Fraction]:
        """Return the least total of every state within the limit; the start is always there."""
        mover, ticket = self.mover, count()
        # In the air if it flies, else on the ground, if it has a speed for that.
        modes = [mode for mode in self.limits if (mode == "fly") == mover.flying]
        starts = [
            State(mover.cell, 0 if mode == "fly" else mover.level, mover.facing, mode)
            for mode in modes or self.limits
        ]
        queue = [(Fraction(0), next(ticket), start) for start in starts]
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
    """Return of each hex reached the least cost in points, and whether one may stop there."""
    return Movement(case, mover, budget).reach()

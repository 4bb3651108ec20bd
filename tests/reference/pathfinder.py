"""`pathfinder` from its rule text, square by square: the slow reference of its movement.

Totals are squares; with `parity="carry"` half squares (PF-02).
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import count
from typing import Any

from reference.cases import Answer, Case, Cell, TokenSpec
from reference.squares import SURFACE, Amount, Direction, Movement, State

CLOSED = ("wall", "column", "pit", "chasm", "lava")
LOW_WALL = 2
METRES = Fraction(3, 2)  # of a square


def number(kind: str) -> Fraction:
    """Return the number of an id such as ``narrow:0.75``."""
    return Fraction(kind.partition(":")[2])


class Pathfinder(Movement):
    default_diagonals = "alternating"

    def __init__(self, case: Case, mover: TokenSpec, budget: Any = None, parity: int = 0) -> None:
        given = case.parameters
        self.stack = given.get("stack", "multiply")
        self.occupied = given.get("occupied", "double")
        self.tumble = given.get("tumble", False)
        self.footprint_cost = given.get("footprint_cost", "worst")
        self.diagonals = given.get("diagonals", "alternating")
        self.alternates = self.diagonals in ("alternating", "alternating-2")
        self.carries = self.alternates and given.get("parity", "advances") == "carry"
        self.cheap_parity = 1 if self.diagonals == "alternating-2" else 0
        # Whether the next diagonal is dear: 2-1-2-1 is 1-2-1-2 turned round.
        dear = parity if self.cheap_parity == 0 else 1 - parity
        self.first_total = dear if self.carries else 0
        self._ways_out: dict[tuple[State, Direction], tuple[Any, Any]] = {}
        super().__init__(case, mover, budget, parity if self.alternates and not self.carries else 0)

    # -- amounts --

    def amount(self, given: Any) -> Amount:
        """PF-01: 9 m are 6 squares, and 10 m too."""
        if given is None:
            return math.inf
        if isinstance(given, str):
            size, unit = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]+)\s*", given).groups()  # type: ignore[union-attr]
            metres = {"m": Fraction(1), "ft": Fraction(3, 10), "sq": METRES}[unit]
            whole = Fraction(math.floor(Fraction(size) * metres / METRES))
        else:
            # Half a square counts for something only where a diagonal costs one and a half.
            whole = Fraction(given if self.diagonals == "approximate" else math.floor(given))
        return 2 * whole + 1 if self.carries else whole

    def cost(self, total: Any) -> Fraction:
        return Fraction(total // 2) if self.carries else Fraction(total)

    def reported_parity(self, total: Any, state: State) -> int:
        if not self.alternates:
            return 0
        if not self.carries:
            return state.parity
        return int(total % 2) if self.cheap_parity == 0 else 1 - int(total % 2)

    # -- terrain (PF-03, PF-08, PF-10, PF-11) --

    def room(self, cell: Cell) -> Fraction:
        """Return how wide a square's passage is, as a part of what the mover needs (PF-10)."""
        widths = [number(kind) for kind in self.case.kind(cell) if kind.startswith("narrow:")]
        space = METRES / 2 if self.mover.size == "tiny" else METRES * self.across
        return min(widths, default=space) / space

    def squeezes_in(self, cell: Cell) -> bool:
        """PF-10: less than its whole space is free there."""
        return self.room(cell) < 1

    def too_narrow(self, cell: Cell) -> bool:
        """PF-10: a quarter of the space is printed as 0.30 m for a Medium creature's 1.5 m."""
        return self.room(cell) < (Fraction("0.30") / METRES if self.squeeze else 1)

    def ground(self, cell: Cell) -> bool:
        """Tell whether the terrain is one to walk on, wide enough or not."""
        return not any(kind in (*CLOSED, "water") for kind in self.case.kind(cell))

    def admits(self, mode: str, cell: Cell) -> bool:
        if mode == "burrow":  # under the ground no passage is narrow
            return self.ground(cell)
        if self.too_narrow(cell):
            return False
        if mode == "fly":
            return not self.solid(cell)
        if mode == "swim":
            return "water" in self.case.kind(cell) or self.ground(cell)
        return mode == "walk" and self.ground(cell)

    def uses(self, mode: str, covered: Iterable[Cell]) -> bool:
        """PF-11: a body needs what its worst square asks, so one square of water asks to swim."""
        return mode != "swim" or any("water" in self.case.kind(cell) for cell in covered)

    def filled(self, state: State) -> bool:
        """PF-08: whether a low obstacle fills some square that the mover, on the ground, covers."""
        return state.mode in SURFACE and any(
            "low_obstacle" in self.case.kind(cell) for cell in self.covered(state)
        )

    def stops(self, mode: str, covered: frozenset[Cell]) -> bool:
        return mode not in SURFACE or not any(
            "low_obstacle" in self.case.kind(cell) for cell in covered
        )

    def may_enter(self, after: State, total: Any, came: Direction) -> bool:
        """PF-08: onto a low obstacle only with movement enough to leave it on another side.

        A way out may lead over further obstacles; where it first leaves them does not matter.
        """
        if not self.filled(after):
            return True
        # Who has spent less may do whatever one who has spent more may do.
        most, least = self._ways_out.get((after, came), (-1, math.inf))
        if most < total < least:
            if self.way_out(after, total, came):
                most = total
            else:
                least = total
            self._ways_out[after, came] = most, least
        return total <= most

    def way_out(self, after: State, total: Any, came: Direction) -> bool:
        """Search among the low obstacles for a step that leaves them."""
        seen = set()
        ticket = count()
        queue = [(total, next(ticket), after, came)]
        while queue:
            spent, _, state, came = heapq.heappop(queue)
            if (state, came) in seen:
                continue
            seen.add((state, came))
            back = -came[0], -came[1]
            shared = {back} if 0 in back else {back, (back[0], 0), (0, back[1])}
            for beyond, more, step in self.unchecked(state, spent):
                if step is None:
                    heapq.heappush(queue, (more, next(ticket), beyond, came))
                elif step in shared:
                    continue
                elif not self.filled(beyond):
                    return True
                else:
                    heapq.heappush(queue, (more, next(ticket), beyond, step))
        return False

    def unchecked(self, state: State, total: Any) -> Iterable[tuple[State, Any, Direction | None]]:
        """Return the moves that are legal but for PF-08's last clause."""
        kept = self.may_enter
        self.may_enter = lambda after, total, came: True  # type: ignore[method-assign]
        try:
            return list(self.moves(state, total))
        finally:
            self.may_enter = kept  # type: ignore[method-assign]

    # -- creatures (PF-04, PF-06) --

    def bars(self, other: TokenSpec) -> bool:
        foe = self.case.relation(self.mover.side, other.side) == "foe"
        return foe and not other.helpless and not self.tumble

    def shares(self, other: TokenSpec) -> bool:
        return other.helpless

    # -- prices (PF-01, PF-02, PF-05, PF-08, PF-09, PF-10, PF-13) --

    def halves(self, mode: str) -> int:
        return (self.across + 1) // 2

    def weight(self, mode: str, cell: Cell, squeezed: bool) -> Fraction:
        """Return what a square counts as."""
        causes: list[Fraction] = []
        if mode in SURFACE:
            for kind in self.case.kind(cell):
                if kind in ("difficult", "low_obstacle"):
                    causes.append(Fraction(2))
                elif kind.startswith("difficult:"):
                    causes.append(number(kind))
        if squeezed or (mode != "burrow" and self.squeezes_in(cell)):
            causes.append(Fraction(2))
        there = self.there(mode, cell)
        if self.occupied == "normal":
            there = [o for o in there if self.case.relation(self.mover.side, o.side) == "foe"]
        if there:
            causes.append(Fraction(2))
        if self.stack == "worst":
            return max(causes, default=Fraction(1))
        return Fraction(math.prod(causes))

    def price(
        self, state: State, after: State, covered: frozenset[Cell], new: frozenset[Cell]
    ) -> tuple[Any, int]:
        squeezed = after.block is not None
        weights = {cell: self.weight(after.mode, cell, squeezed) for cell in covered}
        if squeezed or self.footprint_cost == "worst":
            weight = max(weights.values())  # the other habits know no squeezing
        elif self.footprint_cost == "worst-new":
            weight = max((weights[cell] for cell in new), default=Fraction(2 if squeezed else 1))
        elif self.footprint_cost == "median":
            weight = sorted(weights.values())[(len(weights) - 1) // 2]
        else:
            anchor = after.at if after.at in covered else min(covered)
            weight = weights[anchor]
        slanted = 0 not in (after.at[0] - state.at[0], after.at[1] - state.at[1])
        if self.carries:
            return (3 if slanted else 2) * weight, 0
        if not slanted:
            return weight, state.parity
        if self.diagonals == "equidistant":
            return weight, 0
        if self.diagonals == "approximate":
            return weight * Fraction(3, 2), 0
        if self.diagonals == "rectilinear":
            return weight * 2, 0
        dear = state.parity if self.cheap_parity == 0 else 1 - state.parity
        return (3 * weight + dear) // 2, 1 - state.parity

    def border_price(self, mode: str, border: Any) -> Any:
        if border.kind == "low_wall" and mode not in SURFACE:
            return 0
        price = border.price
        if price is None:
            price = LOW_WALL if border.kind == "low_wall" else 0
        return Fraction(str(price)) * (2 if self.carries else 1)


def reach(case: Case, mover: TokenSpec, budget: Any = None, parity: int = 0) -> Answer:
    """Return of every position within the speeds its cost in squares, stop and parity.

    Parameters
    ----------
    case : Case
    mover : TokenSpec
        A token of the case, which is left out of its own way, or another.
    budget : number, text or mapping from mode to either, optional
        In place of the mover's speeds; None: its speeds.
    parity : int
        Diagonals made before in this movement, modulo 2.
    """
    return Pathfinder(case, mover, budget, parity).reach()

"""`srd5` from its rule text, square by square: the slow reference of its movement.

Totals are cells of 1.5 m, exact fractions of them where standing up costs half a cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from reference.cases import SIZES, Answer, Case, Cell, TokenSpec
from reference.squares import SURFACE, Amount, Movement, State

CLOSED = ("wall", "column", "pit", "chasm", "lava")
METRES = Fraction(3, 2)  # of a cell


class Srd5(Movement):
    default_diagonals = "equidistant"
    crawls = True
    falls = True

    def __init__(self, case: Case, mover: TokenSpec, budget: Any = None, parity: int = 0) -> None:
        diagonals = case.parameters.get("diagonals", "equidistant")
        self.alternates = diagonals in ("alternating", "alternating-2")
        self.cheap_parity = 1 if diagonals == "alternating-2" else 0
        super().__init__(case, mover, budget, parity if self.alternates else 0)

    # -- amounts --

    def amount(self, given: Any) -> Amount:
        """Return metres as cells: a number, or text with a unit."""
        if given is None:
            return math.inf
        if isinstance(given, str):
            size, unit = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]+)\s*", given).groups()  # type: ignore[union-attr]
            metres = {"m": Fraction(1), "ft": Fraction(3, 10), "sq": METRES}[unit]
            return Fraction(size) * metres / METRES
        return Fraction(given) / METRES

    def cost(self, total: Any) -> Fraction:
        return Fraction(total) * METRES

    # -- terrain (S5-02, S5-06, S5-11, S5-13) --

    def smaller_by(self, cell: Cell) -> int:
        """Return how many sizes too small the room in a square is for the mover; 0 if it fits."""
        rooms = [
            SIZES.index(kind.partition(":")[2])
            for kind in self.case.kind(cell)
            if kind.startswith("narrow:")
        ]
        return max(0, self.mover.size_number - min(rooms, default=len(SIZES)))

    def admits(self, mode: str, cell: Cell) -> bool:
        kinds = self.case.kind(cell)
        if mode == "burrow":  # under the ground no passage is narrow
            return not any(kind in (*CLOSED, "water", "climb") for kind in kinds)
        if self.smaller_by(cell) > (1 if self.squeeze else 0):
            return False
        if mode == "fly":
            return not self.solid(cell)
        if any(kind in CLOSED for kind in kinds):
            return False
        if mode == "swim":
            return "climb" not in kinds
        if mode == "climb":
            return "water" not in kinds
        return mode == "walk"

    def uses(self, mode: str, covered: Iterable[Cell]) -> bool:
        terrain = {"swim": "water", "climb": "climb"}.get(mode)
        return terrain is None or any(terrain in self.case.kind(cell) for cell in covered)

    # -- creatures (S5-08, S5-09) --

    def bars(self, other: TokenSpec) -> bool:
        if abs(self.mover.size_number - other.size_number) >= 2:
            return False
        foe = self.case.relation(self.mover.side, other.side) == "foe"
        return foe or not other.lets_through

    def shares(self, other: TokenSpec) -> bool:
        return False

    # -- prices (S5-04, S5-05, S5-06, S5-13) --

    def halves(self, mode: str) -> int:
        return max(1, self.across - 1)

    def extra(self, after: State, cell: Cell) -> int:
        """Return the cells more that a cell costs, over its plain step."""
        kinds = self.case.kind(cell)
        difficult = bool(self.there(after.mode, cell))
        toiling = False
        squeezing = after.block is not None
        if after.mode in SURFACE:
            difficult = difficult or "difficult" in kinds
            unaided = after.mode == "walk" and ("water" in kinds or "climb" in kinds)
            toiling = after.prone or unaided
        if after.mode != "burrow":
            squeezing = squeezing or self.smaller_by(cell) == 1
        return int(difficult) + int(toiling) + int(squeezing)

    def price(
        self, state: State, after: State, covered: frozenset[Cell], new: frozenset[Cell]
    ) -> tuple[Any, int]:
        more = max(self.extra(after, cell) for cell in covered)
        slanted = 0 not in (after.at[0] - state.at[0], after.at[1] - state.at[1])
        if not slanted or self.diagonals == "equidistant":
            return 1 + more, state.parity
        dear = state.parity if self.cheap_parity == 0 else 1 - state.parity
        return (2 if dear else 1) + more, 1 - state.parity

    def border_price(self, mode: str, border: Any) -> Any:
        return Fraction(str(border.price or 0)) / METRES


def reach(case: Case, mover: TokenSpec, budget: Any = None, parity: int = 0) -> Answer:
    """Return of every position within the speeds its cost in metres, stop and parity.

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
    return Srd5(case, mover, budget, parity).reach()

"""Movement of bodies on squares, state by state: what `pathfinder` and `srd5` have in common.

Written from the rule texts for slow and small maps. A state says by which mode the mover came
there, where its window's top-left square is, which part of the window it is squeezed into, the
parity of its diagonals and whether it is prone. A plain Dijkstra runs over these states; what a
terrain, a creature or a border does is asked of the system, square by square and step by step.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import count
from typing import Any, Literal, NamedTuple

from reference.cases import Answer, Case, Cell, TokenSpec

SURFACE = ("walk", "swim", "climb")
MODES = (*SURFACE, "burrow", "fly")
STRAIGHT = ((-1, 0), (0, 1), (1, 0), (0, -1))
SLANTED = ((-1, 1), (1, 1), (1, -1), (-1, -1))
SOLID = ("wall", "column")

Amount = Fraction | float
Direction = tuple[int, int]
Step = tuple["State", frozenset[Cell], frozenset[Cell], Direction]
"""Of a step: the state after it, what is covered then, what of that is new, and the direction."""


class State(NamedTuple):
    """Where a mover is, and how.

    `block` is None where it fills its window, ``"start"`` where it was put on squares it could not
    walk onto, else the top-left square of the k x k squares it is squeezed through.
    """

    mode: str
    at: Cell
    block: Cell | Literal["start"] | None = None
    parity: int = 0
    prone: bool = False


def plus(cell: Cell, step: Direction) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]


def square(at: Cell, across: int) -> list[Cell]:
    """Return the squares of a window, by its top-left one."""
    return [(at[0] + i, at[1] + j) for i in range(across) for j in range(across)]


class Movement:
    """One movement of one token on one case: what a system adds is in the methods at the top."""

    # The rules of a system -------------------------------------------------------------------

    def admits(self, mode: str, cell: Cell) -> bool:
        """Tell whether some part of the mover may be in a square while it moves by a mode.

        Terrain alone counts. Swimmers may have a foot on the shore; see `uses`.
        """
        raise NotImplementedError

    def uses(self, mode: str, covered: Iterable[Cell]) -> bool:
        """Tell whether who covers these squares moves by that mode there."""
        raise NotImplementedError

    def bars(self, other: TokenSpec) -> bool:
        """Tell whether another creature keeps the mover out of its squares."""
        raise NotImplementedError

    def shares(self, other: TokenSpec) -> bool:
        """Tell whether the mover may stop in another creature's squares."""
        raise NotImplementedError

    def price(
        self, state: State, after: State, covered: frozenset[Cell], new: frozenset[Cell]
    ) -> tuple[Any, int]:
        """Return the price of a step without borders, and the parity after it.

        `covered` is what the mover covers after the step, `new` what of it it did not before.
        """
        raise NotImplementedError

    def border_price(self, mode: str, border: Any) -> Any:
        """Return what a border that may be crossed adds to a step across it."""
        raise NotImplementedError

    def amount(self, given: Any) -> Amount:
        """Return a speed or a budget in the unit of totals; infinite for None."""
        raise NotImplementedError

    def cost(self, total: Any) -> Fraction:
        """Return a total in the system's unit."""
        raise NotImplementedError

    def halves(self, mode: str) -> int:
        """Return how wide the narrowest space is that the mover squeezes through, in squares."""
        raise NotImplementedError

    def stops(self, mode: str, covered: frozenset[Cell]) -> bool:
        """Tell whether the terrain lets a movement end on these squares."""
        return True

    def may_enter(self, after: State, total: Any, came: Direction) -> bool:
        """Tell whether a step that is otherwise legal may be made; `total` includes it."""
        return True

    def reported_parity(self, total: Any, state: State) -> int:
        """Return the diagonals made, modulo 2."""
        return state.parity

    cheap_parity = 0  # the parity after which the next diagonal is cheap
    first_total: Any = 0
    crawls = False  # whether being prone matters
    falls = False  # whether flyers fall that cannot move

    # What holds for every system ---------------------------------------------------------------

    def __init__(self, case: Case, mover: TokenSpec, budget: Any = None, parity: int = 0) -> None:
        self.case, self.mover, self.parity = case, mover, parity
        self.across = mover.across
        self.corners = case.parameters.get("corners", "both")
        self.squeeze = case.parameters.get("squeeze", True)
        self.diagonals = case.parameters.get("diagonals", self.default_diagonals)
        self.directions: tuple[Direction, ...] = STRAIGHT
        if case.lattice == "square" and self.diagonals != "illegal":
            self.directions += SLANTED
        self.on_ground: dict[Cell, list[TokenSpec]] = {}
        self.in_air: dict[Cell, list[TokenSpec]] = {}
        for other in case.others(mover):
            layer = self.in_air if other.flying else self.on_ground
            for cell in other.covered():
                layer.setdefault(cell, []).append(other)
        self.limits = self._limits(budget)
        self._positions: dict[tuple[str, Cell], list[tuple[Any, frozenset[Cell]]]] = {}
        self._steps: dict[State, list[Step]] = {}
        # Where it was put down anyhow, nothing within its window keeps it from squeezing away.
        self.stood_on: frozenset[Cell] = frozenset()

    default_diagonals = "alternating"

    @property
    def walking_speed(self) -> Amount:
        """The mover's own speed on foot; where it is not known, what it may spend."""
        speed = self.mover.speed
        own = speed.get("walk", 0) if isinstance(speed, dict) else speed
        return self.limits.get("walk", 0) if own is None else self.amount(own)

    def _limits(self, budget: Any) -> dict[str, Amount]:
        """Return the most each mode may have spent in all; a mode that is absent has no speed."""
        speed = self.mover.speed
        speeds = dict(speed) if isinstance(speed, dict) else {"walk": speed}
        if isinstance(budget, dict):
            speeds = dict(budget)
        elif budget is not None:
            speeds = dict.fromkeys(speeds, budget)
        return {mode: self.amount(given) for mode, given in speeds.items()}

    # -- creatures --

    def there(self, mode: str, cell: Cell) -> list[TokenSpec]:
        """Return the others in a square, on the layer of a mode."""
        if mode == "burrow":
            return []
        return (self.in_air if mode == "fly" else self.on_ground).get(cell, [])

    def kept_out(self, mode: str, cell: Cell) -> bool:
        return any(self.bars(other) for other in self.there(mode, cell))

    def vacant(self, mode: str, covered: Iterable[Cell]) -> bool:
        """Tell whether the others let a movement end on these squares."""
        return all(self.shares(other) for cell in covered for other in self.there(mode, cell))

    # -- borders --

    def borders(self, a: Cell, b: Cell) -> list[Any]:
        return [border for border in self.case.borders if set(border.cells) == {a, b}]

    def barred(self, mode: str, a: Cell, b: Cell) -> bool:
        """Tell whether a border bars the way from a square to the one beside it."""
        if a in self.stood_on and b in self.stood_on:
            return False
        for border in self.borders(a, b):
            backwards = border.cells != (a, b)
            if border.kind == "wall" or (border.kind == "door" and not border.open):
                return True
            if backwards and (border.one_way or border.kind == "drop"):
                return True
        return False

    def toll(self, mode: str, at: Cell, step: Direction) -> Any:
        """Return the price of the dearest border that the leading sides of a window cross."""
        window = set(square(at, self.across))
        edges = set()
        down, right = (step[0], 0), (0, step[1])
        if 0 in step:
            edges = {(a, plus(a, step)) for a in window if plus(a, step) not in window}
        else:  # both ways round: down first, or right first
            for first, then in ((down, right), (right, down)):
                for a in window:
                    if plus(a, first) not in window:
                        edges.add((a, plus(a, first)))
                        edges.add((plus(a, then), plus(plus(a, then), first)))
        return max(
            sum((self.border_price(mode, border) for border in self.borders(a, b)), start=0)
            for a, b in edges
        )

    # -- bodies --

    def linked(self, mode: str, a: Cell, b: Cell) -> bool:
        """Tell whether a body may lie across the side between two squares."""
        return not (self.barred(mode, a, b) and self.barred(mode, b, a))

    def whole(self, mode: str, cells: list[Cell]) -> bool:
        """Tell whether no border that blocks runs inside a window."""
        return all(
            self.linked(mode, a, plus(a, step))
            for a in cells
            for step in ((0, 1), (1, 0))
            if plus(a, step) in cells
        )

    def hanging_together(self, mode: str, block: list[Cell], cells: list[Cell]) -> frozenset[Cell]:
        """Return the admitted squares that hang together with a block by their sides."""
        found, todo = set(block), list(block)
        while todo:
            a = todo.pop()
            for step in STRAIGHT:
                b = plus(a, step)
                if (
                    b in cells
                    and b not in found
                    and self.admits(mode, b)
                    and self.linked(mode, a, b)
                ):
                    found.add(b)
                    todo.append(b)
        return frozenset(found)

    def positions(self, mode: str, at: Cell) -> list[tuple[Any, frozenset[Cell]]]:
        """Return how the mover may be in a window: (block, squares covered)."""
        key = mode, at
        if key not in self._positions:
            self._positions[key] = list(self._ways_to_be(mode, at))
        return self._positions[key]

    def _ways_to_be(self, mode: str, at: Cell) -> Iterator[tuple[Any, frozenset[Cell]]]:
        window = square(at, self.across)
        if not all(self.case.inside(cell) for cell in window):
            return
        if all(self.admits(mode, cell) for cell in window) and self.whole(mode, window):
            if self.uses(mode, window):
                yield None, frozenset(window)
            return
        if self.across == 1 or not self.squeeze:
            return
        if any(self.admits(mode, cell) and self.kept_out(mode, cell) for cell in window):
            return  # nobody squeezes past a creature that bars the way
        for cell in window:
            block = square(cell, self.halves(mode))
            if set(block) <= set(window) and all(self.admits(mode, b) for b in block):
                covered = self.hanging_together(mode, block, window)
                if self.whole(mode, block) and self.uses(mode, covered):
                    yield cell, covered

    def covered(self, state: State) -> frozenset[Cell]:
        if state.block == "start":
            return frozenset(square(state.at, self.across))
        return dict(self.positions(state.mode, state.at))[state.block]

    def straight_or_slanted(self, mode: str, at: Cell, across: int, step: Direction) -> bool:
        """Tell whether borders and corners let a body of so many squares across make a step."""
        old = set(square(at, across))
        new = {plus(a, step) for a in old}
        if 0 in step:
            return not any(
                self.barred(mode, a, plus(a, step)) for a in old if plus(a, step) not in old
            )
        ways = (step[0], 0), (0, step[1])
        shifted = [{plus(a, way) for a in old} for way in ways]  # the body shifted straight
        for a in old:  # the four sides that meet where this square crosses a corner point
            for first in ways:
                beside = plus(a, first)
                for one, two in ((a, beside), (beside, plus(a, step))):
                    # A border that it lay across, and that it just draws away from, is no matter.
                    left = {one, two} <= old and not any({one, two} <= way for way in shifted)
                    if not left and self.barred(mode, one, two):
                        return False
        clear = [not any(self.solid(cell) for cell in way - old - new) for way in shifted]
        if self.corners == "both":
            return all(clear)
        return any(clear) if self.corners == "either" else True

    def solid(self, cell: Cell) -> bool:
        """Tell whether a square has corners that bar a diagonal."""
        return self.case.inside(cell) and any(kind in SOLID for kind in self.case.kind(cell))

    def connected(self, state: State, after: State) -> bool:
        """Tell whether a squeezed body gets from one window to another through free squares.

        The way is one of legal steps of a body as wide as the block, inside the two windows. Who
        was put where it could not walk may begin on closed squares of its own, but not go over
        them.
        """
        old, new = square(state.at, self.across), square(after.at, self.across)
        before = self.covered(state)
        room = set()
        for cell in {*old, *new}:
            here = cell in old and self.admits(state.mode, cell)
            there = cell in new and self.admits(after.mode, cell)
            if (here or there) and (cell in before or not self.kept_out(after.mode, cell)):
                room.add(cell)
        k = self.halves(after.mode)

        def fits(cell: Cell) -> bool:
            block = square(cell, k)
            return set(block) <= room and self.whole(after.mode, block)

        if state.block is None or state.block == "start":
            todo = [cell for cell in old if set(square(cell, k)) <= set(old)]
            todo = [cell for cell in todo if state.block == "start" or fits(cell)]
        else:
            todo = [state.block]
        goals = {after.block}
        if after.block is None:
            goals = {cell for cell in new if set(square(cell, k)) <= set(new)}
        seen = set(todo)
        while todo:
            cell = todo.pop()
            if cell in goals:
                return True
            for step in self.directions:
                beyond = plus(cell, step)
                if beyond in seen or not fits(beyond):
                    continue
                if self.straight_or_slanted(after.mode, cell, k, step):
                    seen.add(beyond)
                    todo.append(beyond)
        return False

    # -- moves --

    def may_be(self, mode: str, at: Cell) -> Iterator[tuple[Any, frozenset[Cell]]]:
        if mode in self.limits:
            yield from self.positions(mode, at)

    def moves(self, state: State, total: Any) -> Iterator[tuple[State, Any, Direction | None]]:
        """Yield what may follow a state: (state, total, step or None for standing still)."""
        yield from self.changes(state, total)
        key = state._replace(parity=0)
        if key not in self._steps:
            self._steps[key] = list(self.steps(key))
        for after, covered, new, step in self._steps[key]:
            price, parity = self.price(state, after, covered, new)
            spent = total + price + self.toll(after.mode, state.at, step)
            arrived = after._replace(parity=parity)
            if spent <= self.limits[after.mode] and self.may_enter(arrived, spent, step):
                yield arrived, spent, step

    def used_up(self, mode: str, total: Any) -> bool:
        """Tell whether a speed can no longer be used: 0 or less of it is left (S5-03)."""
        limit = self.limits.get(mode, self.amount(0))
        return limit != math.inf and self.cost(total) >= self.cost(limit)

    def steps(self, state: State) -> Iterator[Step]:
        """Yield the steps from a state that bodies, borders, corners and creatures allow.

        What counts is the mode of the step: from the shore one swims into the water, and walks out
        of it. In the air one flies, under the ground one burrows, prone one crawls.
        """
        before = self.covered(state)
        for mode in MODES:
            if mode != state.mode and not (mode in SURFACE and state.mode in SURFACE):
                continue
            if state.prone and mode != "walk":
                continue
            for step in self.directions:
                for block, covered in self.may_be(mode, plus(state.at, step)):
                    after = State(mode, plus(state.at, step), block, 0, state.prone)
                    new = covered - before
                    if any(self.kept_out(mode, cell) for cell in new):
                        continue
                    if block is None and state.block in (None, "start"):
                        legal = self.straight_or_slanted(mode, state.at, self.across, step)
                    else:
                        self.stood_on = before if state.block == "start" else frozenset()
                        legal = self.connected(state, after)
                        self.stood_on = frozenset()
                    if legal:
                        yield after, covered, new, step

    def changes(self, state: State, total: Any) -> Iterator[tuple[State, Any, None]]:
        """Yield what may follow without a step: another mode, standing up."""
        if state.prone:
            walking = self.walking_speed
            if 0 < walking < math.inf and total + walking / 2 <= self.limits.get("walk", 0):
                yield state._replace(prone=False), total + walking / 2, None
            return
        for mode in MODES:
            if mode == state.mode or self.used_up(mode, total):
                continue
            for block, covered in self.may_be(mode, state.at):
                after = State(mode, state.at, block, state.parity)
                same = (mode in SURFACE) == (state.mode in SURFACE)
                new = covered - self.covered(state) if same else covered
                if any(self.kept_out(mode, cell) for cell in new):
                    continue
                plain = block is None and state.block in (None, "start")
                if plain or self.connected(state, after):
                    yield after, total, None

    # -- the search --

    def aloft(self) -> bool:
        """Tell whether the mover starts in the air: prone or without speed it falls (S5-11)."""
        mover = self.mover
        grounded = isinstance(mover.speed, dict) and mover.speed.get("fly") == 0
        if self.falls and not mover.hovers and (mover.prone or grounded):
            return False
        return mover.flying

    def starts(self) -> list[State]:
        """Return how the mover may be where it stands: anything goes."""
        mover = self.mover
        flying = self.aloft()
        prone = self.crawls and mover.prone and not flying
        moving = [mode for mode in SURFACE if mode in self.limits]
        # By a speed of its own, else standing on the ground, else anyhow.
        for modes in (["fly"],) if flying else (moving, ["walk"]):
            found = [
                State(mode, mover.cell, block, self.parity, prone)
                for mode in modes
                for block, _ in self.positions(mode, mover.cell)
            ]
            if found:
                return found
        return [State("fly" if flying else "walk", mover.cell, "start", self.parity, prone)]

    def settle(self) -> dict[State, Any]:
        """Return the least total of every state."""
        totals: dict[State, Any] = {}
        ticket = count()
        queue = [(self.first_total, next(ticket), state) for state in self.starts()]
        while queue:
            total, _, state = heapq.heappop(queue)
            if state in totals:
                continue
            totals[state] = total
            for after, spent, _ in self.moves(state, total):
                if after not in totals:
                    heapq.heappush(queue, (spent, next(ticket), after))
        return totals

    def may_stop(self, state: State) -> bool:
        covered = self.covered(state)
        return self.vacant(state.mode, covered) and self.stops(state.mode, covered)

    def reach(self) -> Answer:
        """Return cost, stop and parity of every position within the speeds."""
        totals = self.settle()
        answer: Answer = {}
        for cell in {state.at for state in totals}:
            here = {state: total for state, total in totals.items() if state.at == cell}
            least = min(self.cost(total) for total in here.values())
            parities = {
                self.reported_parity(total, state)
                for state, total in here.items()
                if self.cost(total) == least
            }
            parity = self.cheap_parity if self.cheap_parity in parities else min(parities)
            stop = any(self.may_stop(state) for state in here)
            answer[cell] = least, stop, parity
        # At the start the others alone decide whether it may stop.
        start = self.mover.cell
        least, stop, parity = answer[start]
        stop = stop or any(self.vacant(s.mode, self.covered(s)) for s in self.starts())
        answer[start] = least, stop, parity
        return answer

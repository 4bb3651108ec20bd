"""The demonstration: one move of a small skirmish, with every figure explained.

The policy is as simple as one can be: of the cells where the move may end, take the one from which
some foe is seen at the best malus; of several the cheapest, of these the first by row and column.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from fieldcraft.board import Board
from fieldcraft.cli._commands import (
    as_lines,
    because,
    ground_name,
    pairs_of,
    price_labels,
    step_table,
)
from fieldcraft.cli._text import STEP_MARK, Line, MapText, spot, table
from fieldcraft.creature import Token
from fieldcraft.io import boardfile
from fieldcraft.lattice import Cell
from fieldcraft.path import Path, amount
from fieldcraft.reach import Reach
from fieldcraft.sight import Sight

__all__ = ["Turn", "play", "report", "skirmish"]

WIDTH = 80
"""How wide the map may be, where there is more room."""


@dataclass(frozen=True)
class Turn:
    """A move: who made it, from what it was chosen, and who is seen before and after.

    Parameters
    ----------
    board : Board
    mover : Token
    reach : Reach
    path : Path
        The move; without steps if it is best to stay.
    target : Token or None
        The foe the move was made for; None if no foe is seen from anywhere.
    before, after : list of (Token, Sight)
        The sight of each foe, from where the mover stood and from where it stands now.
    """

    board: Board
    mover: Token
    reach: Reach
    path: Path
    target: Token | None
    before: list[tuple[Token, Sight]]
    after: list[tuple[Token, Sight]]

    @property
    def goal(self) -> Cell:
        """Where the move ends."""
        row, col = self.path.cells[-1].tolist()
        return row, col

    @property
    def sight(self) -> Sight | None:
        """The sight of the target, from where the move ends."""
        return next((sight for foe, sight in self.after if foe == self.target), None)

    @property
    def title(self) -> str:
        """What a picture of it is called."""
        return f"{self.mover.label} moves to {spot(self.goal)}"


def skirmish() -> Board:
    """Return the board of the demonstration."""
    return boardfile.loads(files("fieldcraft.cli").joinpath("demo.toml").read_text("utf-8"))


def play() -> Turn:
    """Let the first token of the skirmish move."""
    board = skirmish()
    mover = board.tokens[0]
    reach = board.reach(mover)
    foes = [token for token in board.tokens if board.relation(mover.side, token.side) == "foe"]

    def look(cell: Cell) -> list[tuple[Token, Sight]]:
        return [(foe, board.sight(mover.at(cell), foe)) for foe in foes]

    best: tuple[int, float, Cell] | None = None
    target = None
    for (row, col), cost in zip(
        reach.cells[reach.can_stop].tolist(), reach.cost[reach.can_stop].tolist(), strict=True
    ):
        for foe, sight in look((row, col)):
            if sight.malus is None:
                continue
            rank = (-sight.malus, cost, (row, col))
            if best is None or rank < best:
                best, target = rank, foe
    goal = mover.cell if best is None else best[2]
    return Turn(board, mover, reach, reach.path_to(goal), target, look(mover.cell), look(goal))


def report(turn: Turn, width: int) -> list[Line]:
    """Return the move as text: the map, who is seen, the move chosen and why."""
    board, mover, unit = turn.board, turn.mover, turn.board.rules.unit
    size = " x ".join(map(str, board.shape))
    ground = ground_name(board, mover.cell)
    budget = f"{amount(turn.reach.budget)} {unit}"
    cells, steps = pairs_of(turn.reach.cells), pairs_of(turn.path.cells[1:])
    marks = dict.fromkeys(steps, STEP_MARK)
    drawing = MapText(board, price_labels(turn.reach), marks, set(cells))
    stops = int(turn.reach.can_stop.sum())
    return as_lines(
        [
            [(board.name, "bold"), (f": {size} hexes, rules {board.rules.name}, dusk", "")],
            "",
            f"{mover.label} ({mover.side}) is at {spot(mover.cell)} in {ground} and has {budget}:",
            f"{len(turn.reach)} hexes are within reach, {stops} where the move may end. "
            f"Prices are in {unit}.",
            "",
            *drawing.lines(min(width, WIDTH)),
            "",
            [(f"Who {mover.label} sees from {spot(mover.cell)}", "bold")],
            *_seen(turn.board, turn.before),
            "",
            [("The move", "bold")],
            *_move(turn),
            "",
            [(f"Who {mover.label} sees from {spot(turn.goal)}", "bold")],
            *_seen(turn.board, turn.after),
        ]
    )


def _move(turn: Turn) -> list[Line | str]:
    """Return what was chosen, why, and how to get there."""
    mover, unit = turn.mover, turn.board.rules.unit
    sight = turn.sight
    if turn.target is None or sight is None:
        return [f"  No foe is seen from anywhere in reach: {mover.label} stays."]
    chosen = (
        f"  {mover.label} goes to {spot(turn.goal)} for {amount(turn.path.cost)} {unit}"
        if len(turn.path)
        else f"  {mover.label} stays at {spot(turn.goal)}"
    )
    return [
        f"{chosen}: {turn.target.label} is seen from there at",
        f"  malus {sight.malus}. No other hex in reach shows a foe better, or as well for less.",
        *step_table(turn.path, unit),
    ]


def _seen(board: Board, looks: list[tuple[Token, Sight]]) -> list[Line]:
    rows = [
        (
            foe.label,
            spot(foe.cell),
            "seen" if sight else "hidden",
            "" if sight.malus is None else str(sight.malus),
            because(board, sight),
        )
        for foe, sight in looks
    ]
    return table(("foe", "cell", "", "malus", "why"), rows, "malus")

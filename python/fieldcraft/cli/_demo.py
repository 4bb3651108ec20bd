"""The demonstration: one turn of a small skirmish, with every figure explained.

It is a turn of the worked opponent, `fieldcraft.tactics.Opponent`, with the weights it has by
itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import numpy.typing as npt

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
from fieldcraft.tactics import Decision, Opponent, Weapon

__all__ = ["Turn", "play", "report", "skirmish"]

WEAPONS = (Weapon("bow", range=10, limit=-3), Weapon("knife"))
SHOWN = 5
"""How many stops are listed."""
WIDTH = 80
"""How wide the map may be, where there is more room."""


@dataclass(frozen=True)
class Turn:
    """A turn: what was decided, from what, and who is seen before and after.

    Parameters
    ----------
    board : Board
    decision : Decision
    scores : ndarray of float64, shape (n,)
        What each stop is worth to whoever decides.
    before, after : list of (Token, Sight)
        The sight of each foe, from where the mover stood and from where it stands now.
    """

    board: Board
    decision: Decision
    scores: npt.NDArray[np.float64]
    before: list[tuple[Token, Sight]]
    after: list[tuple[Token, Sight]]

    @property
    def mover(self) -> Token:
        """Whose turn it is."""
        return self.decision.options.token

    @property
    def reach(self) -> Reach:
        """Where it gets to."""
        return self.decision.options.reach

    @property
    def path(self) -> Path:
        """The move; without steps if it is best to stay."""
        return self.decision.path

    @property
    def goal(self) -> Cell:
        """Where the move ends."""
        return self.decision.end.cell

    @property
    def target(self) -> Token | None:
        """Whom it attacks; None if nobody."""
        return None if self.decision.shot is None else self.decision.shot.target

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


def play(weapons: Iterable[Weapon] = WEAPONS) -> Turn:
    """Let the first token of the skirmish have its turn."""
    board, policy = skirmish(), Opponent()
    mover = board.tokens[0]
    decision = policy.decide(board, mover, weapons=weapons)
    before, after = (
        [(foe, board.sight(there, foe)) for foe in decision.options.foes]
        for there in (mover, decision.end)
    )
    return Turn(board, decision, policy.scores(decision.options), before, after)


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
            [(f"What it may do: the best of its {stops} stops", "bold")],
            *_stops(turn),
            "",
            [("The decision", "bold")],
            *_decision(turn),
            "",
            [(f"Who {mover.label} sees from {spot(turn.goal)}", "bold")],
            *_seen(turn.board, turn.after),
        ]
    )


def _stops(turn: Turn) -> list[Line | str]:
    """Return the stops that are worth most, and what makes them so."""
    options, policy = turn.decision.options, Opponent()
    best = np.argsort(-turn.scores, kind="stable")[:SHOWN].tolist()
    rows = []
    for option, score in ((options[i], turn.scores[i]) for i in best):
        shot = option.best
        attack = ("", "", "") if shot is None else (
            shot.target.label, shot.weapon.name, str(shot.malus)
        )  # fmt: skip
        worst = "" if option.exposed_malus is None else str(option.exposed_malus)
        place = spot(option.cell), amount(option.price)
        rows.append((*place, *attack, str(option.exposure), worst, f"{score:.2f}"))
    titles = ("cell", "price", "attack", "with", "malus", "exposure", "at", "worth")
    return [
        *table(titles, rows, "price malus exposure at worth"),
        f"  An attack is worth {policy.attack:g}, less {policy.malus:g} for each point of malus. "
        f"Each foe that sees",
        f"  the stop costs {policy.exposure:g}; {policy.cover:g} comes back for each point of the "
        "malus at which it is",
        f"  seen best. Each point of movement costs {policy.price:g}.",
    ]


def _decision(turn: Turn) -> list[Line | str]:
    """Return what was decided, why, and how to get there."""
    if not len(turn.path):
        return [f"  {turn.decision.why}."]
    cost = f"{amount(turn.path.cost)} {turn.board.rules.unit}"
    return [
        f"  {turn.decision.why}.",
        f"  {turn.mover.label} goes to {spot(turn.goal)} for {cost}:",
        *step_table(turn.path, turn.board.rules.unit),
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

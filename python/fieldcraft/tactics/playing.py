"""A fight of worked opponents, only for the show: who hits and who falls is a rule of thumb."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from fieldcraft.creature import Token
from fieldcraft.tactics.opponent import Decision, Opponent
from fieldcraft.tactics.weapons import Weapon

if TYPE_CHECKING:
    from fieldcraft.board import Board

__all__ = ["play"]


def play(
    board: Board,
    weapons: Mapping[str, Iterable[Weapon]],
    rounds: int = 3,
    seed: int = 0,
    *,
    opponent: Opponent | None = None,
) -> list[tuple[Decision, Board]]:
    """Return what everybody decides, turn by turn, and the board after each turn.

    All tokens have their turns in their order. An attack hits with a roll of 1 to 10 that is at
    most 6 and the malus, or a 1, and takes its target off the board. That is no rule of any system.

    Parameters
    ----------
    board : Board
    weapons : mapping
        What each has, by the name of a token, else of its creature, else of its side.
    rounds, seed : int
        How many rounds; the seed of the rolls, and of the policy where none is given.
    opponent : Opponent, optional
        The policy of all of them.
    """
    policy, dice = opponent or Opponent(seed), np.random.default_rng(seed)
    turns: list[tuple[Decision, Board]] = []
    present: list[Token | None] = list(board.tokens)
    for number in [*range(len(present))] * rounds:
        token = present[number]
        if token is None:
            continue
        names = token.label, token.creature.name, token.side
        arms = next((weapons[name] for name in names if name in weapons), ())
        decision = policy.decide(board, token, weapons=arms)
        present[number], shot = decision.end, decision.shot
        if shot is not None and dice.integers(1, 11) <= max(1, 6 + shot.malus):
            present = [None if one is shot.target else one for one in present]
        board = board.replace(tokens=[one for one in present if one is not None])
        turns.append((decision, board))
    return turns

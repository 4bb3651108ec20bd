"""One turn of one creature: where it can go, what it can do there, what that exposes it to.

    from fieldcraft import tactics

    bow = tactics.Weapon("bow", range=10, limit=-3)
    options = tactics.options(board, archer, weapons=[bow])
    best = options.best_attack()

Everything asked of a turn is asked in one batch, and nothing is decided: policies are the user's.
`Opponent` is one to begin with.
"""

from __future__ import annotations

from fieldcraft.tactics.opponent import Decision, Opponent
from fieldcraft.tactics.options import Option, Options, Shot, options
from fieldcraft.tactics.playing import play
from fieldcraft.tactics.striking import Strike, Strikes, strike_and_return
from fieldcraft.tactics.threats import Threat, Threats, threats
from fieldcraft.tactics.valuation import DEFAULT_SAVE, UNKNOWN, safest, stakes, value
from fieldcraft.tactics.weapons import Weapon

__all__ = [
    "DEFAULT_SAVE",
    "UNKNOWN",
    "Decision",
    "Opponent",
    "Option",
    "Options",
    "Shot",
    "Strike",
    "Strikes",
    "Threat",
    "Threats",
    "Weapon",
    "options",
    "play",
    "safest",
    "stakes",
    "strike_and_return",
    "threats",
    "value",
]

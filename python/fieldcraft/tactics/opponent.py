"""A worked opponent: one turn of one token, as an example for people who write their own.

It asks what anybody may ask, gives every stop a score, and does the best: it shoots or strikes from
a good place and hides again, charges, comes closer, or takes cover.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token
from fieldcraft.errors import ArgumentTypeError, CostError, RulesError
from fieldcraft.path import Path
from fieldcraft.tactics.options import Options, Shot, options
from fieldcraft.tactics.striking import strike_and_return
from fieldcraft.tactics.valuation import safest, value
from fieldcraft.tactics.weapons import Weapon

if TYPE_CHECKING:
    from fieldcraft.board import Board

__all__ = ["Decision", "Opponent"]


DONE = {
    "shoot": "shoots", "strike": "strikes", "charge": "charges", "wait": "waits at",
    "cover": "takes cover at", "approach": "can attack nobody and comes closer, to",
}  # fmt: skip


class Decision(NamedTuple):
    """What a token does in its turn.

    `kind` is ``"shoot"``, ``"strike"`` (hand to hand), ``"charge"``, ``"approach"``, ``"cover"``
    or ``"wait"``. `end` is the token as it stands in the end, `path` its way there, without steps
    if it stays, `shot` the attack it makes, if any, and `options` are all its stops.
    """

    kind: str
    score: float
    end: Token
    path: Path
    shot: Shot | None
    options: Options

    @property
    def why(self) -> str:
        """The decision in one line."""
        stops = [*self.path.pauses, self.end.cell]
        places = ", then hides at ".join(f"{row},{col}" for row, col in stops)
        did = f"{self.options.token.label} {DONE[self.kind]}"
        if self.shot is None:
            eyes = self.options.exposure[place_of(self.options, self.end.cell)]
            return f"{did} {places}, where {eyes or 'no'} foe{'s' * int(eyes != 1)} can see it"
        attack = f"{self.shot.target.label} with {self.shot.weapon.name}"
        return f"{did} {attack} at malus {self.shot.malus} from {places}"


@dataclass(frozen=True, slots=True)
class Opponent:
    """A policy: what weighs how much, in points.

    Parameters
    ----------
    seed : int
        Of the `whim`: the same seed decides the same of the same turn, on every machine.
    attack, malus : float
        What an attack is worth, and each point of its malus.
    charge, approach : float
        What a charge is worth, and to end the turn on the way to the foes.
    exposure, cover : float
        What each foe costs that sees where the turn ends; what of that each point gives back of
        the malus at which it is seen best.
    risk, price : float
        What each point of damage expected on the way costs, and each unit of movement.
    whim : float
        The most that chance adds to a stop, for an opponent that is hard to foresee.
    """

    seed: int = 0
    attack: float = 10.0
    malus: float = 2.0
    charge: float = 9.0
    approach: float = 4.0
    exposure: float = 1.0
    cover: float = 0.25
    risk: float = 1.0
    price: float = 0.01
    whim: float = 0.0

    def __post_init__(self) -> None:
        """Check the seed and the weights."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ArgumentTypeError(f"seed must be a whole number, 0 or more, not {self.seed!r}")
        for name in self.__slots__[1:]:
            weight = getattr(self, name)
            if not isinstance(weight, int | float) or not math.isfinite(weight):
                raise CostError(f"{name} must be a finite number, not {weight!r}")

    def decide(
        self,
        board: Board,
        token: Token,
        tokens: Iterable[Token] | None = None,
        weapons: Iterable[Weapon] = (),
    ) -> Decision:
        """Return what a token does in its turn; parameters as in `options`.

        Of plans that score alike it is the first, and of stops the first in the order of these.
        """
        board = board if tokens is None else board.replace(tokens=tokens)
        turn = options(board, token, weapons=weapons)
        best = max(self._plans(turn), key=lambda plan: plan.score)
        return best if best.kind == "charge" else best._replace(path=way(best))

    def scores(self, turn: Options) -> npt.NDArray[np.float64]:
        """Return what each stop is worth: the best attack from there, less what is bad about it."""
        attacks = np.where(turn.n_targets > 0, self.attack + self.malus * turn.best_malus, 0.0)
        # Where nobody sees it, that malus is HIDDEN, far below all others.
        seen = np.maximum(self.exposure * turn.exposure + self.cover * turn.exposed_malus, 0)
        costs = self.risk * np.maximum(turn.stake, 0) / 1000 + self.price * turn.price
        whims = self.whim * np.random.default_rng([self.seed, *turn.token.cell]).random(len(turn))
        return np.asarray(attacks - seen - costs + whims)

    def _plans(self, turn: Options) -> Iterator[Decision]:
        """Yield what it may do: the best of its stops, and what the stops alone do not tell."""
        if turn.token.helpless:
            yield Decision("wait", 0.0, turn.token, turn.path(0), None, turn)
            return
        scores = self.scores(turn)
        stop = int(scores.argmax())
        shot = turn[stop].best
        kind = "cover" if stop else "wait"
        if shot is not None:
            kind = "shoot" if shot.weapon.is_ranged else "strike"
        yield Decision(kind, float(scores[stop]), turn.standing(stop), turn.path(stop), shot, turn)
        if kind == "shoot" and shot is not None and turn.exposure[stop]:
            yield from self._hiding(turn, shot)
        if not turn.n_targets.any():
            yield from self._charges(turn)
            yield from self._approach(turn, scores)

    def _hiding(self, turn: Options, shot: Shot) -> Iterator[Decision]:
        """Yield a shot as good as that one after which it gets to where no foe sees it."""
        as_good = replace(shot.weapon, limit=shot.malus)
        strikes = strike_and_return(turn.board, turn.token, shot.target, weapons=[as_good])
        if strikes:
            best, path = strikes[0], strikes.path(0)
            at, end = (turn.standing(place_of(turn, cell)) for cell in (best.cell, best.shelter))
            shot = shot._replace(malus=best.malus, distance=turn.board.distance(at, shot.target))
            risk = self.risk * value(path.stakes, turn.token.creature) / 1000
            score = self.attack + self.malus * best.malus - risk - self.price * best.total
            yield Decision("shoot", score, end, path, shot, turn)

    def _charges(self, turn: Options) -> Iterator[Decision]:
        """Yield the charges that the rules allow, with what it has for hand to hand."""
        hands = [weapon for weapon in turn.weapons if not weapon.is_ranged]
        try:
            lanes = turn.board.charge_lanes(turn.token, turn.foes) if hands else ()
        except RulesError:  # these rules know no charge
            return
        for lane in filter(None, lanes):
            end = turn.token.at(lane.cells[-1])
            there = options(turn.board, end, weapons=hands)
            for shot in there[0].shots:
                if shot.target is lane.target:
                    score = self.charge + self.malus * shot.malus
                    score -= self.exposure * int(there.exposure[0])
                    path = turn.board.path(turn.token, end.cell)
                    yield Decision("charge", score, end, path, shot, turn)

    def _approach(self, turn: Options, scores: npt.NDArray[np.float64]) -> Iterator[Decision]:
        """Yield the first turn of the quickest way to the nearest stop that some foe leaves it."""
        if turn.weapons and turn.foes:
            route = turn.board.route(turn.token, [foe.cell for foe in turn.foes])
            for path in route.turns[:1]:
                stop = place_of(turn, path.cells[-1])
                score = self.approach + float(scores[stop])
                yield Decision("approach", score, turn.standing(stop), path, None, turn)


def place_of(turn: Options, cell: npt.ArrayLike) -> int:
    """Return which of the stops a cell is."""
    return int((turn.cells == cell).all(axis=1).argmax())


def way(decision: Decision) -> Path:
    """Return the path of a decision, or the safest one to the same stop where that risks less."""
    turn, path, end = decision.options, decision.path, decision.end
    least = turn.stake[place_of(turn, end.cell)]
    if path.pauses or math.isinf(turn.reach.budget) or least >= value(path.stakes, end.creature):
        return path
    return safest(turn.board, turn.token).path_to(end.cell) if least >= 0 else path

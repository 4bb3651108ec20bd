"""One decision of the worked opponent, and its parts, on a map of MegaMek with 24 tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks.harness import OURS, Answer, Missing, Question, Wrong, same
from benchmarks.scenes import SEED, Array
from benchmarks.sizes import Sizes
from fieldcraft import tactics
from fieldcraft.tactics import value

_BESIDE = Path(__file__).resolve().parents[2] / "shared"
FILE = "32x34 Bleaker's Way.board"
BOARD = Path(os.environ.get("FIELDCRAFT_SHARED", _BESIDE)) / "data" / "megamek" / FILE
A_SIDE = 12
NORTH, SOUTH = range(14), range(20, 34)
CREATURES = (
    fc.Creature("archer", speed=6),
    fc.Creature("scout", size="small", speed=8),
    fc.Creature("ogre", size="large", speed=6),
)
WEAPONS = (tactics.Weapon("bow", range=15, limit=-3), tactics.Weapon("sword"))
POLICY = tactics.Opponent()


class Fight:
    """Two sides on the map, of whom the first so many decide, in turn."""

    def __init__(self, n: int) -> None:
        self.n = n

    @cached_property
    def board(self) -> fc.Board:
        """The map with all tokens; those of the two sides take turns."""
        if not BOARD.is_file():
            raise Missing("the shared folder with the maps of MegaMek is not there")
        empty = fc.read(BOARD, rules="hexwild")
        free = [(row, col) for row, col in empty.reach((0, 0), budget=np.inf).stops.tolist()]
        rng, tokens = np.random.default_rng(SEED), []
        for side, rows in (("blue", SOUTH), ("red", NORTH)):
            own = [cell for cell in free if cell[0] in rows]
            for i, place in enumerate(rng.permutation(len(own))[:A_SIDE].tolist()):
                who = CREATURES[i % len(CREATURES)]
                tokens.append(fc.Token(who, own[place], side=side, name=f"{side} {i}"))
        turns = [token for pair in zip(tokens[:A_SIDE], tokens[A_SIDE:], strict=True)
                 for token in pair]  # fmt: skip
        return empty.replace(tokens=turns)

    @cached_property
    def movers(self) -> tuple[fc.Token, ...]:
        """Who decides."""
        return self.board.tokens[: self.n]

    @cached_property
    def turns(self) -> list[tactics.Options]:
        """All that each of them may do."""
        return [tactics.options(self.board, token, weapons=WEAPONS) for token in self.movers]

    @cached_property
    def lines(self) -> list[tuple[fc.SightField, Array]]:
        """The sight lines of all stops to and from every foe, by who looks and who is looked at."""
        groups: dict[Any, list[Any]] = {}
        fields = {}
        for turn in self.turns:
            for foe in turn.foes:
                for seer, seen in ((turn.token, foe), (foe, turn.token)):
                    key = seer.creature, seen.creature
                    fields[key] = self.board.sight_field(seer, seen)
                    ends = [
                        (cell, foe.cell) if seer is turn.token else (foe.cell, cell)
                        for cell in turn.cells.tolist()
                    ]
                    groups.setdefault(key, []).extend(ends)
        return [(fields[key], np.array(pairs, np.int64)) for key, pairs in groups.items()]

    # -- what is asked ----------------------------------------------------------------------------

    def decided(self, _: Any) -> list[tactics.Decision]:
        """Return what each decides where all stand."""
        return [POLICY.decide(self.board, token, weapons=WEAPONS) for token in self.movers]

    def fought(self, _: Any) -> list[tactics.Decision]:
        """Return what each decides where those before it have moved."""
        board, found = self.board, []
        for number in range(self.n):
            decision = POLICY.decide(board, board.tokens[number], weapons=WEAPONS)
            found.append(decision)
            tokens = board.tokens
            board = board.replace(tokens=[*tokens[:number], decision.end, *tokens[number + 1 :]])
        return found

    def looked_along(self, _: Any) -> Array:
        """Return the malus of all sight lines, in one batch for each pair of kinds of creatures."""
        return np.concatenate([field.sights(pairs).malus for field, pairs in self.lines])

    # -- the slow answers -------------------------------------------------------------------------

    def by_loop(self, turns: list[tactics.Options]) -> Array:
        """Return of each stop what `account` tells, by the sight of each foe and each foe's."""
        rows = []
        for turn in turns:
            board = turn.board
            for there in map(turn.standing, range(len(turn))):
                lines = [(board.sight(there, foe), board.sight(foe, there)) for foe in turn.foes]
                shots = [
                    there_to_foe.malus
                    for foe, (there_to_foe, _) in zip(turn.foes, lines, strict=True)
                    if there_to_foe and is_used(board, there, foe, there_to_foe.malus)
                ]
                seen = [back.malus for _, back in lines if back]
                best, worst = (max(some, default=fc.HIDDEN) for some in (shots, seen))
                rows.append((len(shots), best, len(seen), worst))
        return np.array(rows, np.int64)

    def are_right(self, found: list[tactics.Decision], _: Any) -> str:
        """Compare decisions with the slow account of their stops."""
        turns = [decision.options for decision in found]
        expected = self.by_loop(turns)
        same(account(turns), expected)
        ends = np.cumsum([len(turn) for turn in turns])
        for decision, rows in zip(found, np.split(expected, ends[:-1]), strict=True):
            n_shots, malus, n_seen, seen_at = rows.T
            worth = np.where(n_shots > 0, POLICY.attack + POLICY.malus * malus, 0)
            worth -= np.where(n_seen > 0, POLICY.exposure * n_seen + POLICY.cover * seen_at, 0)
            worth -= POLICY.risk * decision.options.stake / 1000
            worth -= POLICY.price * decision.options.price
            if decision.score < worth.max() - 1e-9:
                raise Wrong(f"{decision.why}: there is a better stop")
        return f"{len(expected)} stops equal"

    def line_by_line(self) -> Array:
        """Return the malus of each line by itself, HIDDEN where nothing is seen."""
        maluses = [
            field.sight(*map(tuple, pair)).malus
            for field, pairs in self.lines
            for pair in pairs.tolist()
        ]
        return np.array([fc.HIDDEN if malus is None else malus for malus in maluses])

    def step_by_step(self) -> Array:
        """Return the least stake of each stop, every step of the search looked at by itself."""
        found = []
        for turn in self.turns:
            who = turn.token.creature
            ways = self.board.safest(turn.token, lambda step, who=who: value(step.stakes, who))
            found.append(at_stops(turn, ways))
        return np.concatenate(found)

    # -- answers ----------------------------------------------------------------------------------

    def answers(self) -> Iterator[Answer]:
        """Give the whole decision, its parts, and the loop over single lines."""
        each = {"build": lambda: self.turns, "per": self.n}
        yield Answer(
            f"{OURS} decision", query=self.decided, rule="decision", compare=self.are_right,
            note="all stand where they stood the last time", **each,
        )  # fmt: skip
        yield Answer(
            f"{OURS} decision in a fight", query=self.fought, rule="decision",
            compare=self.are_right, note="those before have moved: fields are compiled again",
            **each,
        )  # fmt: skip
        yield Answer(
            f"{OURS} part: reach",
            query=lambda _: [self.board.reach(token) for token in self.movers],
            plain=lambda found: [len({*map(tuple, r.stops.tolist()), t.cell})
                                 for r, t in zip(found, self.movers, strict=True)],
            rule="stops",
            **each,
        )  # fmt: skip
        yield Answer(
            f"{OURS} part: sight lines", build=lambda: self.lines, query=self.looked_along,
            rule="lines", per=self.n, note="to and from every foe",
            work=lambda found: {"lines": len(found) / self.n},
        )  # fmt: skip
        yield Answer(
            f"{OURS} part: options",
            query=lambda _: [
                tactics.options(self.board, token, weapons=WEAPONS) for token in self.movers
            ],
            plain=account,
            rule="stop by stop",
            note="the reach and the sight lines with it",
            work=lambda found: {"stops": float(np.mean([len(turn) for turn in found]))},
            **each,
        )
        yield Answer(
            f"{OURS} part: stakes",
            query=lambda _: [tactics.safest(self.board, token) for token in self.movers],
            plain=lambda found: np.concatenate(
                [at_stops(turn, ways) for turn, ways in zip(self.turns, found, strict=True)]
            ),
            rule="stakes",
            **each,
        )
        yield Answer(
            f"{OURS} part: scoring",
            query=lambda turns: [POLICY.scores(turn) for turn in turns],
            plain=lambda found: [len(scores) for scores in found],
            rule="stops",
            **each,
        )
        yield Answer(
            "Board.sight, line by line", query=self.by_loop, rule="stop by stop",
            note="the loop that the answers are checked against", **each,
        )  # fmt: skip

    def references(self) -> dict[str, Any]:
        """Return the slow answers by the rule they answer."""
        return {
            "stops": lambda: [len(turn) for turn in self.turns],
            "lines": self.line_by_line,
            "stop by stop": lambda: self.by_loop(self.turns),
            "stakes": self.step_by_step,
        }


def is_used(board: fc.Board, there: fc.Token, foe: fc.Token, malus: int) -> bool:
    """Return whether some weapon is used against a foe that is seen at a malus."""
    for weapon in WEAPONS:
        near = (
            board.can_hit(there, foe)
            if weapon.range is None
            else board.distance(there, foe) <= weapon.range
        )
        if near and (weapon.limit is None or malus >= weapon.limit):
            return True
    return False


def account(turns: list[tactics.Options]) -> Array:
    """Return of each stop: how many can be attacked, how well; how many see it, how well."""
    columns = ("n_targets", "best_malus", "exposure", "exposed_malus")
    return np.concatenate(
        [np.stack([getattr(turn, name) for name in columns], axis=1) for turn in turns]
    ).astype(np.int64)


def at_stops(turn: tactics.Options, ways: Any) -> Array:
    """Return the least stakes of the stops of a turn, nothing where it begins."""
    found = ways.to_array()[turn.cells[:, 0], turn.cells[:, 1]]
    found[0] = 0
    return found


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    fight = Fight(min(2 * A_SIDE, sizes.pairs))
    yield Question(
        "decision",
        "tactics",
        f"a decision of the worked opponent, {A_SIDE} tokens a side on “{FILE}”",
        list(fight.answers()),
        fight.references(),
        rounds=9,
        note="the mean over all who decide, by one core",
    )

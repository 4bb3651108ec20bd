"""What a summary counts, added up block by block: exact, in whatever blocks it comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.encounters.streaming import Block
from fieldcraft.sight import HIDDEN

__all__ = ["Counts", "Sums", "Tallies"]

Array = npt.NDArray[Any]

PENDING = 1 << 16
"""Keys that wait, at least, before they are added to those that are held."""


class Sums:
    """Whole numbers added up by key.

    Parameters
    ----------
    width : int
        How many numbers each key has.
    """

    def __init__(self, width: int = 1) -> None:
        self._width = width
        self._parts: list[tuple[Array, Array]] = []
        self._held = self._waiting = 0

    def add(self, keys: Array, *columns: Array) -> None:
        """Add numbers, one of each column to each key; without columns 1 to each."""
        if not len(keys):
            return
        numbers = columns or (np.ones(len(keys), np.int64),)
        part = _summed(keys, np.stack(numbers, axis=1).astype(np.int64))
        self._parts.append(part)
        self._waiting += len(part[0])
        if self._waiting > max(PENDING, self._held):
            self.result()

    def result(self) -> tuple[Array, Array]:
        """Return the keys, rising, and the sums of each, shape (n, width)."""
        if not self._parts:
            return np.zeros(0, np.int64), np.zeros((0, self._width), np.int64)
        if len(self._parts) > 1:
            keys, sums = zip(*self._parts, strict=True)
            self._parts = [_summed(np.concatenate(keys), np.concatenate(sums))]
        self._held, self._waiting = len(self._parts[0][0]), 0
        return self._parts[0]


def _summed(keys: Array, sums: Array) -> tuple[Array, Array]:
    """Return keys without repetition, rising, and their sums."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[starts], np.add.reduceat(sums[order], starts, axis=0)


class Tallies:
    """How often each value comes, by group."""

    def __init__(self) -> None:
        self._of: dict[int, Sums] = {}

    def add(self, groups: Array, values: Array) -> None:
        """Count values, each in its group."""
        order = np.argsort(groups, kind="stable")
        groups, values = groups[order], values[order]
        bounds = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            self._of.setdefault(int(groups[begin]), Sums()).add(values[begin:end])

    def result(self, group: int | None = None) -> tuple[Array, Array]:
        """Return the values of a group, rising, and how often each comes; of all for None."""
        total = Sums()
        for part in self._of.values() if group is None else [self._of.get(group, Sums())]:
            values, counts = part.result()
            total.add(values, counts[:, 0])
        values, counts = total.result()
        return values, counts[:, 0]


class Counts:
    """All that a summary is made of; see `Summary` for what each stands for."""

    def __init__(self) -> None:
        self.encounters = self.opposed = self.tokens = 0
        self.seen_by = dict.fromkeys(("all", "some", "none"), 0)
        self.shots = {"now": 0, "after": 0}
        self.pairs = {"foes": 0, "seen": 0, "one_way": 0}
        # By side: encounters, those where it sees a foe, alone, can attack now, can after moving.
        self.sides = Sums(5)
        # By board: encounters, those with foes. By board and side: encounters with foes, those
        # where it alone sees, its pairs of foes, targets after moving, exposure after moving.
        self.boards, self.board_sides = Sums(2), Sums(5)
        # By profile: tokens, those that can attack now, those that can after moving.
        self.profiles = Sums(3)
        self.first_sight, self.first_shot = Tallies(), Tallies()
        self.nearest_seen, self.nearest_shot = Tallies(), Tallies()
        self.before, self.after = Tallies(), Tallies()
        self.reached, self.stops, self.stake = Tallies(), Tallies(), Tallies()
        self.malus_seen, self.malus_attack = Tallies(), Tallies()

    def add(self, block: Block) -> None:
        """Count a block."""
        tokens, first = block.tokens, block.first
        seen = block.foe & block.visible
        n_tokens, starts = int(first[-1]), first[:-1]
        foes = np.bincount(block.viewer[block.foe], minlength=n_tokens)
        near = np.full(n_tokens, np.inf, np.float32)
        np.minimum.at(near, block.viewer[seen], block.distance[seen])
        sees, now = np.isfinite(near), tokens["targets_now"] > 0
        shoots = np.where(now, near, np.float32(np.inf))
        self._tokens(tokens, now)
        self._exposure(tokens, foes > 0)
        self._pairs(block, seen)
        for of_tokens, of_encounters, values in (
            (self.nearest_seen, self.first_sight, near),
            (self.nearest_shot, self.first_shot, shoots),
        ):
            there = np.isfinite(values)
            of_tokens.add(tokens["side"][there], values[there])
            least = np.minimum.reduceat(values, starts)
            least = least[np.isfinite(least)]
            of_encounters.add(np.zeros(len(least), np.int64), least)
        self._sides(block, foes, sees, now)

    def _tokens(self, tokens: dict[str, Array], now: Array) -> None:
        """Count what creatures of a profile can do."""
        profile = tokens["profile"]
        self.tokens += len(profile)
        self.profiles.add(profile, np.ones(len(profile)), now, tokens["targets_after"] > 0)
        self.reached.add(profile, tokens["reached"])
        self.stops.add(profile, tokens["stops"])
        self.stake.add(profile, tokens["expected_stake"])
        attacks = tokens["attack_malus"]
        attacks = attacks[attacks != HIDDEN]
        self.malus_attack.add(np.zeros(len(attacks), np.int64), attacks)

    def _exposure(self, tokens: dict[str, Array], opposed: Array) -> None:
        """Count by how many foes tokens are seen, of those that have any."""
        side = tokens["side"][opposed]
        self.before.add(side, tokens["exposure_before"][opposed])
        self.after.add(side, tokens["exposure_after"][opposed])

    def _pairs(self, block: Block, seen: Array) -> None:
        """Count pairs of foes."""
        self.pairs["foes"] += int(block.foe.sum())
        self.pairs["seen"] += int(seen.sum())
        self.pairs["one_way"] += int((seen & ~seen[block.back]).sum())
        self.malus_seen.add(np.zeros(int(seen.sum()), np.int64), block.malus[seen])

    def _sides(self, block: Block, foes: Array, sees: Array, now: Array) -> None:
        """Count what holds for a side of an encounter, where any of its tokens has a foe."""
        tokens, first = block.tokens, block.first
        of = np.repeat(np.arange(len(first) - 1), np.diff(first))
        # One key for each side of each encounter.
        keys, group = np.unique(of << 32 | tokens["side"], return_inverse=True)
        encounter, side = keys >> 32, keys & 0xFFFFFFFF

        def added(values: Array) -> Array:
            return np.bincount(group, values, len(keys)).astype(np.int64)

        foes_of = added(foes)
        opposed = foes_of > 0
        can_see = added(sees) > 0
        shoots, after = added(now) > 0, added(tokens["targets_after"] > 0) > 0
        n = len(first) - 1
        n_opposed, n_see = (np.bincount(encounter, x, n) for x in (opposed, can_see))
        alone = can_see & ((n_see == 1) & (n_opposed > 1))[encounter]
        self.encounters += n
        self.opposed += int((n_opposed > 0).sum())
        self.seen_by["none"] += int(((n_see == 0) & (n_opposed > 0)).sum())
        self.seen_by["all"] += int(((n_see == n_opposed) & (n_see > 0)).sum())
        self.seen_by["some"] += int(((n_see > 1) & (n_see < n_opposed)).sum())
        self.shots["now"] += int((np.bincount(encounter, shoots, n) > 0).sum())
        self.shots["after"] += int((np.bincount(encounter, after, n) > 0).sum())
        self.sides.add(*(x[opposed] for x in (side, opposed, can_see, alone, shoots, after)))
        board = tokens["board"][first[:-1]]
        self.boards.add(board, np.ones(n), n_opposed > 0)
        columns = (opposed, alone, foes_of, added(tokens["targets_after"]),
                   added(tokens["exposure_after"]))  # fmt: skip
        self.board_sides.add(
            (board[encounter] << 32 | side)[opposed], *(column[opposed] for column in columns)
        )

    def sides_of_boards(self) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the board, the side and the sums of both, by their numbers."""
        keys, sums = self.board_sides.result()
        for key, numbers in zip(keys.tolist(), sums.tolist(), strict=True):
            yield key >> 32, key & 0xFFFFFFFF, numbers

"""What of encounters depends on their boards, checked for very many tokens at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.board import Board
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.model import FLYING, Encounters, Profile
from fieldcraft.encounters.rejects import Fault, Reject
from fieldcraft.encounters.rows import HIGHEST, as_line
from fieldcraft.errors import FieldcraftError, MapError
from fieldcraft.lattice import Lattice, rows_and_columns
from fieldcraft.rules import Rules
from fieldcraft.tactics.weapons import range_in

__all__ = ["Found", "board_faults", "check", "profile_fault"]

Ints = npt.NDArray[np.int64]
Found = dict[int, list[tuple[int, Fault]]]
"""By the place of an encounter its faults, each with the place of its token (-1: none)."""


def check(
    encounters: Encounters,
    boards: Boards | Mapping[str, Any] | str | Path | None,
    *,
    file: str = "",
) -> list[Reject]:
    """Return what of encounters does not fit their boards.

    A board must be known and readable; tokens must stand on it, no two in one place; and its rules
    must be able to move their creatures and to measure their weapons.

    Parameters
    ----------
    encounters : Encounters
    boards : Boards, mapping, str or Path
        Where the boards are, see `Boards`; a path is the folder below which they lie.
    file : str, keyword-only
        What the rejects name as their file.

    Returns
    -------
    list of Reject
        One for each encounter with faults, in their order.

    Examples
    --------
    >>> from fieldcraft import Board, Creature
    >>> from fieldcraft.encounters import Combatant, Encounter, Encounters, Profile, check
    >>> archer = Profile("archer", Creature("archer", speed=6))
    >>> tokens = (Combatant("archer", "red", (0, 0)), Combatant("archer", "blue", (3, 4)))
    >>> encounters = Encounters.of([Encounter("glade", tokens)], [archer])
    >>> glade = Board([["open"] * 4] * 4, lattice="odd-r")
    >>> [str(reject) for reject in check(encounters, {"glade": glade})]
    ["row 0: tokens[1].cell: (3, 4) lies outside board 'glade' of 4 rows and 4 columns"]
    """
    found = board_faults(encounters, Boards.of(boards))
    originals = as_line(encounters, found)
    return [
        Reject(file, int(encounters.number[i]), tuple(fault for _, fault in faults), original)
        for (i, faults), original in zip(found.items(), originals, strict=True)
    ]


def board_faults(encounters: Encounters, boards: Boards) -> Found:
    """Return all faults of encounters that depend on their boards."""
    return _Check(encounters, boards).found()


def profile_fault(rules: Rules, lattice: Lattice, profile: Profile) -> str | None:
    """Return why rules cannot play a profile, or None."""
    try:
        rules.pace(profile.creature)
        rules.footprint(profile.creature, lattice)
        for weapon in profile.weapons:
            range_in(rules, weapon)
    except FieldcraftError as error:
        return str(error)
    return None


class _Scheme:
    """A rule system on a lattice: what it makes of each profile."""

    def __init__(self, rules: Rules, lattice: Lattice) -> None:
        self.rules, self.lattice = rules, lattice
        self._known: dict[int, str | None] = {}

    def fault(self, number: int, profile: Profile) -> str | None:
        """Return why the rules cannot play a profile, or None."""
        if number not in self._known:
            self._known[number] = profile_fault(self.rules, self.lattice, profile)
        return self._known[number]

    def body(self, profile: Profile) -> list[Ints]:
        """Return the offsets of the cells of a body from its anchor, for both parities."""
        offsets = self.rules.footprint(profile.creature, self.lattice)
        if not self.lattice.is_hex or len(offsets) == 1:
            return [np.array(offsets, np.int64)] * 2
        return [
            np.array(rows_and_columns(self.lattice, offsets, parity), np.int64) for parity in (0, 1)
        ]


class _Check:
    """One run of all checks; a place is that of an encounter or of a token in the columns."""

    def __init__(self, encounters: Encounters, boards: Boards) -> None:
        self.given = encounters
        self.faults: list[tuple[int, int, Fault]] = []
        names = encounters.boards
        self.shapes = np.zeros((len(names), 2), np.int64)
        self.scheme_of = np.full(len(names), -1, np.int64)
        self.schemes: list[_Scheme] = []
        self.raised: dict[int, Board] = {}
        numbers: dict[Any, int] = {}
        wrong: dict[int, str] = {}
        for number in np.unique(encounters.board).tolist():
            try:
                board = boards[names[number]]
            except MapError as error:
                wrong[number] = str(error)
                continue
            self.shapes[number] = board.shape
            if board.terrain.has_elevation:
                self.raised[number] = board
            self.scheme_of[number] = self._scheme(board, numbers)
        self._no_board(wrong)

    def _scheme(self, board: Board, numbers: dict[Any, int]) -> int:
        """Return the number of the rules and the lattice of a board."""
        # Boards of one file format share their rules; to hash rules takes longer than to look.
        key = id(board.rules), board.lattice
        if key not in numbers:
            same = (
                i
                for i, scheme in enumerate(self.schemes)
                if scheme.lattice == board.lattice and scheme.rules == board.rules
            )
            numbers[key] = next(same, len(self.schemes))
            if numbers[key] == len(self.schemes):
                self.schemes.append(_Scheme(board.rules, board.lattice))
        return numbers[key]

    def found(self) -> Found:
        """Return all faults, by encounter and in it by token."""
        self._outside()
        self._unplayable()
        self._sightless()
        self._overlaps()
        found: Found = {}
        first = self.given.first
        for encounter, token, fault in sorted(self.faults, key=lambda fault: fault[:2]):
            place = token - int(first[encounter]) if token >= 0 else -1
            found.setdefault(encounter, []).append((place, fault))
        return found

    def _add(self, token: int, field: str, message: str, given: Any) -> None:
        encounter = int(self.owner[token])
        place = token - int(self.given.first[encounter])
        fault = Fault(f"tokens[{place}].{field}", message, given)
        self.faults.append((encounter, token, fault))

    @cached_property
    def owner(self) -> Ints:
        """The encounter of each token."""
        return np.repeat(np.arange(len(self.given)), np.diff(self.given.first))

    @cached_property
    def board(self) -> Ints:
        """The board of each token."""
        return self.given.board.astype(np.int64)[self.owner]

    @cached_property
    def playable(self) -> npt.NDArray[np.bool_]:
        """Which tokens stand on a board that there is."""
        return self.scheme_of[self.board] >= 0

    def _no_board(self, wrong: Mapping[int, str]) -> None:
        for encounter in np.flatnonzero(np.isin(self.given.board, list(wrong))).tolist():
            number = int(self.given.board[encounter])
            fault = Fault("board", wrong[number], self.given.boards[number])
            self.faults.append((encounter, -1, fault))

    def _is_on(self, tokens: Any, cells: Ints) -> npt.NDArray[np.bool_]:
        """Tell which cells lie on the boards of tokens."""
        on: npt.NDArray[np.bool_] = ((cells >= 0) & (cells < self.shapes[self.board[tokens]])).all(
            axis=1
        )
        return on

    def _outside(self) -> None:
        """Add the tokens beside their maps; what follows asks of the others only."""
        self.on = self.playable & self._is_on(slice(None), self.given.cells.astype(np.int64))
        for token in np.flatnonzero(self.playable & ~self.on).tolist():
            self._beside(token, self.given.cells[token].tolist(), "")

    def _beside(self, token: int, cell: list[int], what: str) -> None:
        number = int(self.board[token])
        height, width = self.shapes[number].tolist()
        self._add(
            token,
            "cell",
            f"{what}({cell[0]}, {cell[1]}) lies outside board {self.given.boards[number]!r} of "
            f"{height} rows and {width} columns",
            self.given.cells[token].tolist(),
        )

    def _unplayable(self) -> None:
        """Add the tokens that the rules of their boards cannot play."""
        self.large: list[tuple[Ints, list[Ints]]] = []
        scheme = self.scheme_of[self.board]
        kinds = len(self.given.profiles)
        pairs = np.where(self.on, scheme * kinds + self.given.profile, -1)
        for pair in np.unique(pairs[pairs >= 0]).tolist():
            number, kind = divmod(pair, kinds)
            profile = self.given.profiles[kind]
            message = self.schemes[number].fault(kind, profile)
            if message is None:
                body = self.schemes[number].body(profile)
                if len(body[0]) > 1:
                    self.large.append((np.flatnonzero(pairs == pair), body))
                continue
            for token in np.flatnonzero(pairs == pair).tolist():
                self._add(token, "profile", message, profile.name)
                self.on[token] = False

    def _sightless(self) -> None:
        """Add the tokens whom the rules of boards with an elevation cannot let see."""
        for number, board in self.raised.items():
            there = self.on & (self.board == number)
            for kind in np.unique(self.given.profile[there]).tolist():
                profile = self.given.profiles[kind]
                try:
                    board.sight_field(profile.creature, profile.creature)
                except FieldcraftError as error:
                    for token in np.flatnonzero(there & (self.given.profile == kind)).tolist():
                        self._add(token, "profile", str(error), profile.name)
                        self.on[token] = False

    def _overlaps(self) -> None:
        """Add the tokens in whose place there is another, and bodies that leave the map."""
        tokens = np.flatnonzero(self.on)
        cells = self.given.cells.astype(np.int64)[tokens]
        more = [self._covered(*large) for large in self.large]
        tokens = np.concatenate([tokens, *(owners for owners, _ in more)])
        cells = np.concatenate([cells, *(covered for _, covered in more)])
        if not len(tokens):
            return
        # Whoever flies is on a plane of the air, also on level 0.
        flies = (self.given.flags[tokens] & FLYING) != 0
        plane = self.given.level[tokens] * 2 + flies
        width = int(cells[:, 1].max()) + 1
        flat = cells[:, 0] * width + cells[:, 1]
        area = int(flat.max()) + 1
        if len(self.given) * area * 2 * (HIGHEST + 1) < 2**62:
            keys = [(self.owner[tokens] * 2 * (HIGHEST + 1) + plane) * area + flat]
        else:
            keys = [flat, plane, self.owner[tokens]]
        for token, other in _repeated(tokens, keys):
            place = other - int(self.given.first[self.owner[token]])
            self._add(
                token,
                "cell",
                f"tokens[{place}] is on that cell and level already",
                self.given.cells[token].tolist(),
            )

    def _covered(self, tokens: Ints, body: list[Ints]) -> tuple[Ints, Ints]:
        """Return the cells of large bodies but their anchors, each with its token."""
        cells = self.given.cells.astype(np.int64)[tokens]
        lattice = self.schemes[int(self.scheme_of[self.board[tokens[0]]])].lattice
        offsets = np.stack(body)[lattice.parity(cells)][:, 1:]
        covered = (cells[:, None] + offsets).reshape(-1, 2)
        owners = np.repeat(tokens, offsets.shape[1])
        on = self._is_on(owners, covered)
        outside, first = np.unique(owners[~on], return_index=True)
        for token, cell in zip(outside.tolist(), covered[~on][first].tolist(), strict=True):
            self._beside(token, cell, "its body covers a cell that is not on the map: ")
        return owners[on], covered[on]


def _repeated(tokens: Ints, keys: list[Ints]) -> list[tuple[int, int]]:
    """Return the tokens whose key another before them has, each with the first that has it."""
    if len(keys) == 1 and (np.diff(np.sort(keys[0])) > 0).all():
        return []
    order = np.lexsort((tokens, *keys))
    ordered = [key[order] for key in keys]
    new = np.ones(len(order), bool)
    new[1:] = np.any([np.diff(key) != 0 for key in ordered], axis=0)
    first = tokens[order][np.flatnonzero(new)[np.cumsum(new) - 1]]
    again = ~new & (tokens[order] != first)
    found: dict[int, int] = {}
    for token, other in zip(tokens[order][again].tolist(), first[again].tolist(), strict=True):
        found.setdefault(token, other)
    return sorted(found.items())

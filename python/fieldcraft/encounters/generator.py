"""Random encounters that are plausible, for tests, benchmarks and training."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.board import Board
from fieldcraft.creature import Creature
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.checking import profile_fault
from fieldcraft.encounters.draws import Draws, as_seed
from fieldcraft.encounters.landscape import first_lattice, made_board, shape_of
from fieldcraft.encounters.model import (
    BOARD_LIGHT,
    GROUNDS,
    MOST_TOKENS,
    Conditions,
    Encounters,
    Profile,
)
from fieldcraft.encounters.placing import Field, Placer, Plan
from fieldcraft.errors import ArgumentTypeError, MapError, nearest
from fieldcraft.lattice import Lattice, as_lattice
from fieldcraft.rules import Rules, resolve
from fieldcraft.tactics.weapons import Weapon

__all__ = ["CONDITIONS", "PROFILES", "Generated", "generate"]

Ints = npt.NDArray[np.int64]

PROFILES = (
    Profile(
        "scout",
        Creature("scout", "small", "8 sq", saves={"reflex": 65, "pure reflex": 55}),
        (Weapon("sling", range="10 sq", limit=-4), Weapon("knife")),
    ),
    Profile(
        "soldier",
        Creature("soldier", speed="6 sq", saves={"reflex": 45, "pure reflex": 35}),
        (Weapon("spear"), Weapon("javelin", range="6 sq", limit=-2)),
    ),
    Profile(
        "archer",
        Creature("archer", speed="6 sq", saves={"reflex": 55, "pure reflex": 45}),
        (Weapon("bow", range="20 sq", limit=-4), Weapon("knife")),
    ),
    Profile(
        "rider",
        Creature(
            "rider",
            speed="12 sq",
            footing="bold",
            climbs=False,
            saves={"reflex": 50, "pure reflex": 40},
        ),
        (Weapon("lance"),),
    ),
    Profile(
        "ogre",
        Creature("ogre", "large", "8 sq", reach=2, saves={"reflex": 30, "pure reflex": 20}),
        (Weapon("club"), Weapon("rock", range="8 sq", limit=-2)),
    ),
)
"""What tokens are drawn from where no profiles are given; for every rule system."""

CONDITIONS = (
    *(Conditions(),) * 5,
    Conditions(-1),
    Conditions(-2),
    Conditions(-4),
    Conditions(ground="wet"),
    Conditions(ground="wet"),
    Conditions(-2, "wet"),
    Conditions(ground="snow"),
    Conditions(-1, "snow"),
    Conditions(ground="ice"),
)
"""What conditions are drawn from where none are given."""

N_BOARDS = 100
MOST_BLOCK = 1024
TOKENS_A_BLOCK = 1 << 14
KEPT = 256
"""So many boards are kept as they are placed on."""
MOST_ALTOGETHER = 1 << 31
OF_BOARDS, OF_TOKENS = 0, 1
"""First numbers of the keys of streams."""


class Generated(NamedTuple):
    """What `generate` makes: encounters, and the boards they are on."""

    encounters: Encounters
    boards: Boards


def generate(
    n: int,
    seed: int,
    *,
    boards: Boards | Mapping[str, Any] | Iterable[Board | str | Path] | None = None,
    n_boards: int | None = None,
    shape: tuple[int, int] | None = None,
    rules: Rules | str | Path | None = None,
    lattice: str | Lattice | None = None,
    heights: bool | None = None,
    perches: bool | None = None,
    tokens: int | Mapping[str, int] = 12,
    sides: Sequence[str] = ("red", "blue"),
    profiles: Iterable[Profile] | Mapping[str, Iterable[Profile]] | None = None,
    conditions: Conditions | Iterable[Conditions] | None = None,
) -> Generated:
    """Return random encounters.

    Each side is a cluster in its own part of the map, on cells where its creatures may stand. The
    same arguments make the same encounters on every machine, and the first of them do not depend
    on how many there are: ``generate(10, seed)`` makes the first ten of ``generate(1000, seed)``.
    Encounter i is on board i modulo the number of boards.

    Parameters
    ----------
    n : int
    seed : int
    boards : Boards, mapping, or iterable of Board, str or Path, optional, keyword-only
        Boards to fight on, by name; of an iterable the names are those of the boards, or the files'
        without their ends. The tokens on them do not count. Where absent, boards are made up.
    n_boards : int, keyword-only
        How many boards are made up: 100 where absent, and never more than there are encounters.
    shape, rules, lattice, heights, perches : optional, keyword-only
        Of made-up boards, see `random_board`.
    tokens : int or mapping from str to int, keyword-only
        How many tokens an encounter has, dealt out evenly to the sides, or how many each side has.
    sides : sequence of str, keyword-only
        Names of the sides, if `tokens` does not name them.
    profiles : iterable of Profile, or mapping from str to such, optional, keyword-only
        From which each token is drawn, for all sides or by side; `PROFILES` where absent.
    conditions : Conditions or iterable of Conditions, optional, keyword-only
        From which each encounter's are drawn; `CONDITIONS` where absent.

    Returns
    -------
    Generated
        `encounters` and `boards`.

    Raises
    ------
    MapError
        If a board has too little room for the tokens.
    ArgumentTypeError
        If an argument is not as described.

    Examples
    --------
    >>> from fieldcraft.encounters import generate
    >>> encounters, boards = generate(20, 7, n_boards=2, tokens={"hunters": 3, "beast": 1})
    >>> len(encounters), list(boards), encounters.sides
    (20, ['made-00000', 'made-00001'], ('hunters', 'beast'))
    >>> (
    ...     encounters[0].tokens[0].side,
    ...     encounters[:5]
    ...     == generate(5, 7, n_boards=2, tokens={"hunters": 3, "beast": 1}).encounters,
    ... )
    ('hunters', True)
    """
    count, entropy = _whole("n", n, 0), as_seed(seed)
    sizes = _sizes(tokens, sides)
    if count * sum(sizes.values()) > MOST_ALTOGETHER:
        raise ArgumentTypeError(
            f"n must be fewer, with {sum(sizes.values())} tokens each: they would be more than "
            f"{MOST_ALTOGETHER:,} tokens altogether"
        )
    known, choices = _profiles(profiles, tuple(sizes))
    drawn = _conditions(conditions)
    made = {"n_boards": n_boards, "shape": shape, "rules": rules, "lattice": lattice,
            "heights": heights, "perches": perches}  # fmt: skip
    if boards is None:
        names, board_of = _made(entropy, count, made)
    else:
        for name, value in made.items():
            if value is not None:
                raise ArgumentTypeError(f"{name} is of made-up boards, and boards are given")
        given = _given(boards)
        names, board_of = list(given), given.__getitem__
    if not names:
        raise MapError("there are no boards to make encounters on")
    builder = _Builder(entropy, names, board_of, list(sizes.values()), known, choices, drawn)
    first = np.arange(count + 1) * sum(sizes.values())
    encounters = Encounters(
        names[:count], known, tuple(sizes), number=np.arange(count), first=first,
        side=np.tile(np.repeat(np.arange(len(sizes)), list(sizes.values())), count),
        **builder.columns(count),
    )  # fmt: skip
    if boards is None:
        given = Boards({name: board_of(name) for name in encounters.boards})
    return Generated(encounters, given)


class _Builder:
    """Draws encounters, block by block, always whole blocks."""

    def __init__(
        self,
        seed: int,
        names: Sequence[str],
        board_of: Callable[[str], Board],
        sizes: list[int],
        profiles: Sequence[Profile],
        choices: list[Ints],
        conditions: Sequence[Conditions],
    ) -> None:
        self.seed, self.names, self.board_of = seed, names, board_of
        self.placer, self.profiles = Placer(sizes, profiles), profiles
        self._playable: tuple[Rules, Lattice] | None = None
        self.n_tokens = sum(sizes)
        self.block = max(1, min(MOST_BLOCK, TOKENS_A_BLOCK // self.n_tokens))
        # Of each token the profiles it is drawn from, and how many.
        self.choices = [choices[side] for side in self.placer.side_of.tolist()]
        self.light = np.array(
            [BOARD_LIGHT if one.light is None else one.light for one in conditions], np.int64
        )
        self.ground = np.array([GROUNDS.index(one.ground) for one in conditions], np.int64)
        self._fields: OrderedDict[str, Field] = OrderedDict()

    def columns(self, count: int) -> dict[str, Any]:
        """Return the columns of so many encounters, as `Encounters` takes them."""
        found = [self._block(b, count) for b in range(-(-count // self.block))]
        m = count * self.n_tokens

        def column(name: str, *shape: int) -> Ints:
            parts = [block[name] for block in found]
            return np.concatenate(parts) if parts else np.zeros(shape, np.int64)

        return {
            "board": np.arange(count) % len(self.names),
            "light": column("light", 0),
            "ground": column("ground", 0),
            "profile": column("profile", 0).ravel(),
            "cells": column("cells", 0, 2).reshape(-1, 2),
            "level": np.zeros(m, np.int64),
            "flags": np.zeros(m, np.int64),
        }

    def _block(self, number: int, count: int) -> dict[str, Ints]:
        """Return the columns of one block, cut to those that are wanted."""
        draws = Draws(self.seed, OF_TOKENS, number)
        size, first = self.block, number * self.block
        wanted = min(size, count - first)
        condition = draws.below(len(self.light), size)[:wanted]
        luck = draws.raw(size, self.n_tokens)[:wanted]
        profiles = np.stack(
            [
                choice[luck[:, token] * len(choice) >> 32]
                for token, choice in enumerate(self.choices)
            ],
            axis=1,
        )
        boards = (first + np.arange(wanted)) % len(self.names)
        used, fields = np.unique(boards, return_inverse=True)
        known = [self._field(self.names[board]) for board in used.tolist()]
        return {
            "light": self.light[condition],
            "ground": self.ground[condition],
            "profile": profiles,
            "cells": self.placer.place(draws, size, Plan(known, fields, profiles)),
        }

    def _field(self, name: str) -> Field:
        """Return a board as it is placed on."""
        if name not in self._fields:
            board = self.board_of(name)
            self._check(name, board)
            self._fields[name] = self.placer.field(name, board)
            if len(self._fields) > max(KEPT, self.block):
                self._fields.popitem(last=False)
        return self._fields[name]

    def _check(self, name: str, board: Board) -> None:
        """Raise MapError for a board whose rules cannot play all profiles."""
        last = self._playable
        if last is not None and last[0] is board.rules and last[1] == board.lattice:
            return
        for profile in self.profiles:
            if message := profile_fault(board.rules, board.lattice, profile):
                raise MapError(f"board {name!r}: profile {profile.name!r}: {message}")
        self._playable = board.rules, board.lattice


# -- what comes in --------------------------------------------------------------------------------


def _whole(what: str, value: Any, least: int) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        found = least - 1
    if found < least or isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(f"{what} must be a whole number, {least} or more, not {value!r}")
    return found


def _sizes(tokens: Any, sides: Any) -> dict[str, int]:
    """Return how many tokens each side has."""
    if isinstance(tokens, Mapping):
        sizes = {side: _whole(f"tokens of {side!r}", number, 1) for side, number in tokens.items()}
    else:
        if isinstance(sides, str) or not isinstance(sides, Iterable):
            raise ArgumentTypeError(f"sides must be several names, not {sides!r}")
        names = list(sides)
        if len(set(names)) < len(names) or not names:
            raise ArgumentTypeError(f"sides must be several names, each once, not {sides!r}")
        total = _whole("tokens", tokens, len(names))
        sizes = {
            name: total // len(names) + (i < total % len(names)) for i, name in enumerate(names)
        }
    for side in sizes:
        if not isinstance(side, str):
            raise ArgumentTypeError(f"a side must have a name, not {side!r}")
    if not 1 <= sum(sizes.values()) <= MOST_TOKENS:
        raise ArgumentTypeError(
            f"an encounter has from 1 to {MOST_TOKENS:,} tokens, not {sum(sizes.values()):,}"
        )
    return sizes


def _profiles(given: Any, sides: tuple[str, ...]) -> tuple[tuple[Profile, ...], list[Ints]]:
    """Return all profiles, and of each side the numbers of those it draws from."""
    by_side = given if isinstance(given, Mapping) else dict.fromkeys(sides, given)
    for side in by_side:
        if side not in sides:
            raise ArgumentTypeError(
                f"profiles name side {side!r}{nearest(str(side), sides)}; "
                f"the sides are {', '.join(sides)}"
            )
    known: dict[str, Profile] = {}
    choices = []
    for side in sides:
        if side not in by_side:
            raise ArgumentTypeError(f"side {side!r} has no profiles; profiles name {[*by_side]!r}")
        listed = PROFILES if by_side[side] is None else by_side[side]
        mine = [listed] if isinstance(listed, Profile) else listed
        if not isinstance(mine, Iterable) or isinstance(mine, str):
            raise ArgumentTypeError(f"profiles must be several Profile, not {listed!r}")
        mine = list(mine)
        if not mine:
            raise ArgumentTypeError(f"side {side!r} has no profiles")
        for profile in mine:
            if not isinstance(profile, Profile):
                raise ArgumentTypeError(f"profiles must be Profile, not {profile!r}")
            if known.setdefault(profile.name, profile) != profile:
                raise ArgumentTypeError(f"two profiles have the name {profile.name!r}")
        choices.append(mine)
    numbers = {name: i for i, name in enumerate(known)}
    return tuple(known.values()), [
        np.array([numbers[profile.name] for profile in mine], np.int64) for mine in choices
    ]


def _conditions(given: Any) -> tuple[Conditions, ...]:
    if given is None:
        return CONDITIONS
    found = (given,) if isinstance(given, Conditions) else given
    if not isinstance(found, Iterable):
        raise ArgumentTypeError(f"conditions must be Conditions, or several, not {given!r}")
    listed = tuple(found)
    if not listed or not all(isinstance(one, Conditions) for one in listed):
        raise ArgumentTypeError(f"conditions must be Conditions, or several, not {given!r}")
    return listed


def _made(seed: int, count: int, given: dict[str, Any]) -> tuple[list[str], Callable[[str], Board]]:
    """Return the names of made-up boards, and what makes each."""
    n_boards = N_BOARDS if given["n_boards"] is None else _whole("n_boards", given["n_boards"], 1)
    rules = resolve("hexwild" if given["rules"] is None else given["rules"])
    lattice = first_lattice(rules) if given["lattice"] is None else as_lattice(given["lattice"])
    shape = shape_of((48, 48) if given["shape"] is None else given["shape"])
    kept: dict[str, Board] = {}
    names = [f"made-{number:05d}" for number in range(n_boards)]
    numbers = {name: number for number, name in enumerate(names)}

    def board_of(name: str) -> Board:
        if name not in kept:
            draws = Draws(seed, OF_BOARDS, numbers[name])
            kept[name] = made_board(
                draws, shape, rules, lattice, heights=bool(given["heights"]),
                perches=bool(given["perches"]),
                name=name,
            )  # fmt: skip
        return kept[name]

    return names, board_of


def _given(boards: Any) -> Boards:
    """Return boards that are given."""
    if isinstance(boards, Board | str | bytes | Path):
        boards = [boards]
    if not isinstance(boards, Mapping):
        if not isinstance(boards, Iterable):
            raise ArgumentTypeError(f"boards must be several boards or files, not {boards!r}")
        boards = _named(list(boards))
    return Boards.of(boards)


def _named(boards: list[Any]) -> dict[str, Any]:
    """Return boards by their names; by their place too where two would have the same."""
    found: dict[str, Any] = {}
    for place, board in enumerate(boards):
        if isinstance(board, Board):
            name = board.name or f"board-{place:05d}"
        elif isinstance(board, str | Path):
            name, board = Path(board).stem, Path(board).absolute()
        else:
            raise ArgumentTypeError(f"boards must be boards or files, not {board!r}")
        found[f"{name}-{place:05d}" if name in found else name] = board
    return found

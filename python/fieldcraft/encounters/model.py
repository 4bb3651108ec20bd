"""What an encounter is: a board, who stands on it, and under which conditions. Data, no behaviour.

`Encounter` is one of them, as a person writes it; `Encounters` is very many, as columns.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token, as_cell
from fieldcraft.errors import ArgumentTypeError, MapError, RulesError, nearest
from fieldcraft.frozen import Frozen, frozen
from fieldcraft.lattice import Cell
from fieldcraft.rules import Ground
from fieldcraft.tactics.weapons import Weapon

__all__ = [
    "BOARD_LIGHT",
    "FLYING",
    "GROUNDS",
    "HELPLESS",
    "PRONE",
    "Combatant",
    "Conditions",
    "Encounter",
    "Encounters",
    "Profile",
]

GROUNDS = Ground._fields
"""The states of the ground, in the order in which a column numbers them."""
BOARD_LIGHT = 1
"""In a column of light maluses: that of the board."""
PRONE, FLYING, HELPLESS = 1, 2, 4
"""Bits of a column of flags."""
MOST_TOKENS = 1024
"""So many tokens an encounter may have."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What tokens of one kind can do: their creature and their weapons.

    Parameters
    ----------
    name : str
        By which tokens name it.
    creature : Creature
        Its speed is what is spent in a turn; it must have one.
    weapons : tuple of Weapon
    """

    name: str
    creature: Creature
    weapons: tuple[Weapon, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentTypeError(f"a profile must have a name, not {self.name!r}")
        if not isinstance(self.creature, Creature):
            raise ArgumentTypeError(
                f"creature of profile {self.name!r} must be a Creature, not {self.creature!r}"
            )
        if self.creature.speed is None:
            raise RulesError(
                f"creature of profile {self.name!r} has no speed; expected what it moves in a turn"
            )
        object.__setattr__(self, "weapons", tuple(self.weapons))
        for weapon in self.weapons:
            if not isinstance(weapon, Weapon):
                raise ArgumentTypeError(
                    f"weapons of profile {self.name!r} must be Weapons, not {weapon!r}"
                )


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds all over the map.

    Parameters
    ----------
    light : int, optional
        Light malus everywhere, 0 or negative; the board's own where absent.
    ground : str
        ``"dry"``, ``"wet"``, ``"snow"`` or ``"ice"``: what slips and saves depend on.
    """

    light: int | None = None
    ground: Literal["dry", "wet", "snow", "ice"] = "dry"

    def __post_init__(self) -> None:
        light = self.light
        whole = isinstance(light, int | np.integer) and not isinstance(light, bool)
        if light is not None and not (whole and -127 <= light <= 0):
            raise RulesError(f"light must be a malus from -127 to 0, not {light!r}")
        if self.ground not in GROUNDS:
            raise RulesError(
                f"unknown ground {self.ground!r}{nearest(str(self.ground), GROUNDS)}; expected one "
                f"of {', '.join(GROUNDS)}"
            )


@dataclass(frozen=True, slots=True)
class Combatant:
    """Somebody in an encounter: a profile on a cell.

    Parameters
    ----------
    profile : str
        The name of a `Profile`.
    side : str
        Who is of one side are friends; of two sides foes.
    cell : tuple of int
    name : str
    level, prone, flying, helpless
        As of a `Token`.
    """

    profile: str
    side: str
    cell: Cell
    name: str = ""
    level: int = 0
    prone: bool = False
    flying: bool = False
    helpless: bool = False

    def __post_init__(self) -> None:
        for name in ("profile", "side", "name"):
            if not isinstance(getattr(self, name), str):
                raise ArgumentTypeError(
                    f"{name} of a combatant must be text, not {getattr(self, name)!r}"
                )
        # A token checks all the rest.
        token = self.token(Creature(self.profile))
        object.__setattr__(self, "cell", token.cell)

    def token(self, creature: Creature) -> Token:
        """Return it as a token of a creature."""
        return Token(
            creature, self.cell, self.side, self.name, self.level,
            helpless=self.helpless, prone=self.prone, flying=self.flying,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Encounter:
    """One encounter.

    Parameters
    ----------
    board : str
        The name of a board; many encounters share one.
    tokens : tuple of Combatant
    conditions : Conditions
    id : str
        A name of one's own.
    """

    board: str
    tokens: tuple[Combatant, ...]
    conditions: Conditions = field(default_factory=Conditions)
    id: str = ""

    def __post_init__(self) -> None:
        for name in ("board", "id"):
            if not isinstance(getattr(self, name), str):
                raise ArgumentTypeError(
                    f"{name} of an encounter must be text, not {getattr(self, name)!r}"
                )
        object.__setattr__(self, "tokens", tuple(self.tokens))
        for token in self.tokens:
            if not isinstance(token, Combatant):
                raise ArgumentTypeError(f"tokens of an encounter must be Combatants, not {token!r}")
        if not 1 <= len(self.tokens) <= MOST_TOKENS:
            raise MapError(
                f"an encounter has from 1 to {MOST_TOKENS:,} tokens, not {len(self.tokens):,}"
            )
        if not isinstance(self.conditions, Conditions):
            raise ArgumentTypeError(
                f"conditions of an encounter must be Conditions, not {self.conditions!r}"
            )


OF_ENCOUNTERS = ("board", "light", "ground", "number")
OF_TOKENS = ("profile", "side", "cells", "level", "flags")


class _Columns(NamedTuple):
    """The arrays of `Encounters`, with the dtype of each."""

    board: Any = np.int32
    light: Any = np.int16
    ground: Any = np.int8
    number: Any = np.int64
    first: Any = np.int64
    profile: Any = np.int32
    side: Any = np.int32
    cells: Any = np.int32
    level: Any = np.int16
    flags: Any = np.uint8


class Encounters(Frozen, Sequence[Encounter]):
    """Very many encounters: a sequence of `Encounter` over columns.

    Attributes
    ----------
    boards, sides : tuple of str
    profiles : tuple of Profile
    board : ndarray of int32, shape (n,)
        Of each encounter the number of its board.
    light : ndarray of int16, shape (n,)
        Its light malus, BOARD_LIGHT where the board's own holds.
    ground : ndarray of int8, shape (n,)
        The number of its ground in GROUNDS.
    number : ndarray of int64, shape (n,)
        Its row in the input, from 0; what the tables of an analysis call it.
    first : ndarray of int64, shape (n + 1,)
        The tokens of encounter i are ``first[i]`` to ``first[i + 1]``.
    profile, side : ndarray of int32, shape (m,)
        Of each token the number of its profile and of its side.
    cells : ndarray of int32, shape (m, 2)
    level : ndarray of int16, shape (m,)
    flags : ndarray of uint8, shape (m,)
        PRONE, FLYING and HELPLESS, added up.
    ids : tuple of str, or None
        The names of the encounters; None if none has one.
    names : tuple of str, or None
        The names of the tokens; None if none has one.

    Examples
    --------
    >>> from fieldcraft import Creature
    >>> from fieldcraft.encounters import Combatant, Encounter, Encounters, Profile
    >>> archer = Profile("archer", Creature("archer", speed=6))
    >>> tokens = (Combatant("archer", "red", (0, 0)), Combatant("archer", "blue", (3, 4)))
    >>> encounters = Encounters.of([Encounter("glade", tokens)], [archer])
    >>> len(encounters), encounters.cells.tolist(), encounters[0].board
    (1, [[0, 0], [3, 4]], 'glade')
    """

    def __init__(
        self,
        boards: Sequence[str],
        profiles: Sequence[Profile],
        sides: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        **columns: npt.ArrayLike,
    ) -> None:
        self.boards, self.profiles, self.sides = tuple(boards), tuple(profiles), tuple(sides)
        self.ids = None if ids is None or not any(ids) else tuple(ids)
        self.names = None if names is None or not any(names) else tuple(names)
        for name, dtype in _Columns()._asdict().items():
            setattr(self, name, _column(name, columns.pop(name), dtype))
        if columns:
            raise ArgumentTypeError(f"encounters have no column {next(iter(columns))!r}")
        self._check()

    board: npt.NDArray[np.int32]
    light: npt.NDArray[np.int16]
    ground: npt.NDArray[np.int8]
    number: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    profile: npt.NDArray[np.int32]
    side: npt.NDArray[np.int32]
    cells: npt.NDArray[np.int32]
    level: npt.NDArray[np.int16]
    flags: npt.NDArray[np.uint8]

    def _check(self) -> None:
        """Raise MapError if the columns do not fit together."""
        names: set[str] = set()
        for profile in self.profiles:
            if not isinstance(profile, Profile):
                raise ArgumentTypeError(f"profiles must be Profiles, not {profile!r}")
            if profile.name in names:
                raise MapError(f"two profiles have the name {profile.name!r}; tokens name them")
            names.add(profile.name)
        n, m = len(self.board), len(self.profile)
        for what, texts, count in (("ids", self.ids, n), ("names", self.names, m)):
            if texts is not None and len(texts) != count:
                raise MapError(f"{what} has {len(texts)} texts; expected {count}")
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(OF_ENCOUNTERS, (n,))
        shapes |= dict.fromkeys(OF_TOKENS, (m,))
        shapes |= {"first": (n + 1,), "cells": (m, 2)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise MapError(
                    f"column {name} has shape {getattr(self, name).shape}; expected {shape}"
                )
        if self.first[0] != 0 or self.first[-1] != m or (np.diff(self.first) < 1).any():
            raise MapError("column first must rise from 0 to the number of tokens")
        for name, known in (
            ("board", self.boards), ("profile", self.profiles), ("side", self.sides),
            ("ground", GROUNDS),
        ):  # fmt: skip
            column = getattr(self, name)
            if column.size and not (column.min() >= 0 and column.max() < len(known)):
                wrong = int(column.min()) if column.min() < 0 else int(column.max())
                raise MapError(f"column {name} has {wrong}; expected a number below {len(known)}")
        if self.light.size and not (self.light.min() >= -127 and self.light.max() <= BOARD_LIGHT):
            raise MapError(f"column light must be -127 to 0, or {BOARD_LIGHT} for the board's own")

    @classmethod
    def of(
        cls, encounters: Iterable[Encounter], profiles: Iterable[Profile] | Mapping[str, Profile]
    ) -> Encounters:
        """Return encounters as columns.

        Parameters
        ----------
        encounters : iterable of Encounter
        profiles : iterable of Profile
            All that their tokens name.

        Raises
        ------
        MapError
            If a token names a profile that is not among them.
        """
        given = tuple(profiles.values() if isinstance(profiles, Mapping) else profiles)
        number = {profile.name: i for i, profile in enumerate(given)}
        boards: dict[str, int] = {}
        sides: dict[str, int] = {}
        rows: list[tuple[Any, ...]] = []
        tokens: list[tuple[Any, ...]] = []
        first, ids, names = [0], [], []
        for i, encounter in enumerate(encounters):
            if not isinstance(encounter, Encounter):
                raise ArgumentTypeError(f"encounter {i} must be an Encounter, not {encounter!r}")
            light = encounter.conditions.light
            rows.append(
                (
                    boards.setdefault(encounter.board, len(boards)),
                    BOARD_LIGHT if light is None else light,
                    GROUNDS.index(encounter.conditions.ground),
                )
            )
            ids.append(encounter.id)
            for token in encounter.tokens:
                if token.profile not in number:
                    raise MapError(
                        f"encounter {i} names profile {token.profile!r}"
                        f"{nearest(token.profile, number)}; known are {', '.join(number) or 'none'}"
                    )
                flags = PRONE * token.prone + FLYING * token.flying + HELPLESS * token.helpless
                side = sides.setdefault(token.side, len(sides))
                tokens.append((number[token.profile], side, *token.cell, token.level, flags))
                names.append(token.name)
            first.append(len(tokens))
        of_rows = np.array(rows, np.int64).reshape(-1, 3)
        of_tokens = np.array(tokens, np.int64).reshape(-1, 6)
        return cls(
            tuple(boards), given, tuple(sides), ids=ids, names=names,
            board=of_rows[:, 0], light=of_rows[:, 1], ground=of_rows[:, 2],
            number=np.arange(len(rows)), first=first, profile=of_tokens[:, 0],
            side=of_tokens[:, 1], cells=of_tokens[:, 2:4], level=of_tokens[:, 4],
            flags=of_tokens[:, 5],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.board)

    @overload
    def __getitem__(self, index: int) -> Encounter: ...
    @overload
    def __getitem__(self, index: slice | npt.NDArray[Any]) -> Encounters: ...
    def __getitem__(self, index: int | slice | npt.NDArray[Any]) -> Encounter | Encounters:
        if isinstance(index, slice | np.ndarray):
            return self.take(np.arange(len(self))[index])
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"encounter {place} of {len(self)}")
        return self._one(place % len(self))

    def _one(self, i: int) -> Encounter:
        light = int(self.light[i])
        conditions: Any = Conditions(None if light == BOARD_LIGHT else light, self._ground(i))
        tokens = tuple(self._combatant(j) for j in range(self.first[i], self.first[i + 1]))
        id_ = "" if self.ids is None else self.ids[i]
        return Encounter(self.boards[self.board[i]], tokens, conditions, id_)

    def _ground(self, i: int) -> Any:
        return GROUNDS[self.ground[i]]

    def _combatant(self, j: int) -> Combatant:
        flags = int(self.flags[j])
        return Combatant(
            self.profiles[self.profile[j]].name,
            self.sides[self.side[j]],
            as_cell(self.cells[j].tolist()),
            "" if self.names is None else self.names[j],
            int(self.level[j]),
            prone=bool(flags & PRONE),
            flying=bool(flags & FLYING),
            helpless=bool(flags & HELPLESS),
        )

    def take(self, places: npt.NDArray[np.int64]) -> Encounters:
        """Return some of the encounters, by their places, in that order."""
        tokens, first = runs_of(self.first, places)
        return Encounters(
            self.boards, self.profiles, self.sides,
            ids=None if self.ids is None else [self.ids[i] for i in places.tolist()],
            names=None if self.names is None else [self.names[i] for i in tokens.tolist()],
            first=first,
            **{name: getattr(self, name)[places] for name in OF_ENCOUNTERS},
            **{name: getattr(self, name)[tokens] for name in OF_TOKENS},
        )  # fmt: skip

    def __iter__(self) -> Iterator[Encounter]:
        return (self._one(i) for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        if isinstance(other, Encounters) and self._same_columns(other):
            return True
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _same_columns(self, other: Encounters) -> bool:
        """Tell whether the columns are equal, without looking at encounters one by one."""
        texts = ("boards", "profiles", "sides", "ids", "names")
        return all(getattr(self, name) == getattr(other, name) for name in texts) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in _Columns._fields
            if name != "number"
        )

    def __repr__(self) -> str:
        return f"Encounters({len(self)} encounters on {len(self.boards)} boards)"


def runs_of(
    first: npt.NDArray[np.int64], places: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the members of some runs end to end, and where those of each begin and end.

    Run i has the members ``first[i]`` to ``first[i + 1]``.
    """
    sizes = np.diff(first)[places]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    return np.repeat(first[:-1][places] - begins[:-1], sizes) + np.arange(begins[-1]), begins


def _column(name: str, given: npt.ArrayLike, dtype: Any) -> npt.NDArray[Any]:
    """Return a column of whole numbers, closed to writing."""
    array = np.asarray(given)
    if array.size == 0:
        array = array.astype(dtype)
    bounds = np.iinfo(dtype)
    whole = array.dtype.kind in "iu"
    if not whole or (array.size and not bounds.min <= array.min() <= array.max() <= bounds.max):
        raise MapError(
            f"column {name} must be whole numbers from {bounds.min} to {bounds.max}, "
            f"not of {array.dtype}"
        )
    return frozen(np.array(array, dtype))

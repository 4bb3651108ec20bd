"""What stands at the head of a file of encounters: the profiles, and where the boards are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from fieldcraft.creature import Creature
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.model import Profile
from fieldcraft.encounters.rejects import shown
from fieldcraft.encounters.schema import VERSION
from fieldcraft.errors import FieldcraftError, MapError, nearest
from fieldcraft.io.boardfile import CREATURE_KEYS, creature_data, creature_of
from fieldcraft.rules import resolve
from fieldcraft.tactics.weapons import Weapon

__all__ = ["KIND", "Header"]

KIND = "encounters"
"""What the key ``fieldcraft`` of the header says."""
_KEYS = ("fieldcraft", "version", "profiles", "boards", "rules")
_WEAPON_KEYS = ("name", "range", "limit")


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Parameters
    ----------
    profiles : tuple of Profile
        All that tokens may name.
    boards : mapping from str to (str, str or None)
        Of a board its file, relative to the folder of the encounters, and its rules if the entry
        names any.
    rules : str, optional
        Those of all boards whose entry names none, in place of the rules in their files.
    """

    profiles: tuple[Profile, ...] = ()
    boards: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    rules: str | None = None

    @classmethod
    def loads(cls, text: str, source: str) -> Header:
        """Return the header of which a file says this.

        Raises
        ------
        MapError
            If it is none, or of another version, or anything in it is malformed or unknown.
        """
        try:
            value = json.loads(text, object_pairs_hook=_pairs)
        except _TwiceError as error:
            raise MapError(f"{source}: header: {error.args[0]} stands there twice") from None
        except RecursionError:
            raise MapError(f"{source}: header: is nested too deeply") from None
        except ValueError as error:
            raise MapError(f"{source}: header: is not valid JSON: {error}") from None
        return _Reader(source).header(value)

    def dumps(self) -> str:
        """Return the text of the header, on one line.

        Raises
        ------
        MapError
            If JSON cannot say what it holds.
        """
        entry: dict[str, Any] = {"fieldcraft": KIND, "version": VERSION}
        entry["profiles"] = {profile.name: _profile_data(profile) for profile in self.profiles}
        entry["boards"] = {
            name: file if rules is None else {"file": file, "rules": rules}
            for name, (file, rules) in self.boards.items()
        }
        if self.rules is not None:
            entry["rules"] = self.rules
        return json.dumps(entry, allow_nan=False)

    def boards_in(
        self, folder: Path, given: Boards | Mapping[str, Any] | str | Path | None = None
    ) -> Boards:
        """Return the boards of a file in a folder.

        Parameters
        ----------
        folder : Path
        given : Boards, mapping, str or Path, optional
            `Boards` in place of all that the header says; a mapping, whose boards come before those
            of the header; or another folder.
        """
        if isinstance(given, Boards):
            return given
        if isinstance(given, str | Path):
            folder, given = Path(given), None
        known: dict[str, Any] = {
            name: (folder / file, _rules_in(folder, rules or self.rules))
            for name, (file, rules) in self.boards.items()
        }
        if given is not None:
            # Its own paths are relative to where the caller is, as everywhere else.
            Boards.of(given)
            known |= {name: _absolute(board) for name, board in given.items()}
        return Boards(known, folder, rules=_rules_in(folder, self.rules))


def _absolute(board: Any) -> Any:
    if isinstance(board, tuple | list):
        return (_absolute(board[0]), *board[1:])
    return Path(board).absolute() if isinstance(board, str | Path) else board


def _rules_in(folder: Path, rules: str | None) -> str | Path | None:
    return folder / rules if rules is not None and rules.endswith(".toml") else rules


# -- reading --------------------------------------------------------------------------------------


class _TwiceError(Exception):
    """A key stands twice in one object."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(shown(next(name for name in names if names.count(name) > 1)))
    return found


class _Reader:
    """Reads a header; messages name the file and the key."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fault(self, key: str, text: str) -> MapError:
        return MapError(f"{self.source}: header: {key}: {text}" if key else
                        f"{self.source}: header: {text}")  # fmt: skip

    def table(self, key: str, value: Any, known: Sequence[str] | None = None) -> dict[str, Any]:
        """Return an object, its keys known."""
        if not isinstance(value, dict):
            raise self.fault(key, f"expected an object, not {shown(value)}")
        for name in value if known is not None else ():
            if name not in (known or ()):
                raise self.fault(
                    key,
                    f"unknown key {shown(name)}{nearest(name, known or ())}; expected one of "
                    f"{', '.join(known or ())}",
                )
        return value

    def header(self, value: Any) -> Header:
        if not isinstance(value, dict) or value.get("fieldcraft") != KIND:
            raise MapError(
                f"{self.source}: is no file of encounters: it begins with {shown(value)}; expected "
                f'{{"fieldcraft": "{KIND}", "version": {VERSION}, ...}}'
            )
        version = value.get("version")
        if version != VERSION or isinstance(version, bool):
            raise MapError(
                f"{self.source}: is of version {shown(version)}; this Fieldcraft reads {VERSION}"
            )
        self.table("", value, _KEYS)
        profiles = self.table("profiles", value.get("profiles", {}))
        boards = self.table("boards", value.get("boards", {}))
        rules = value.get("rules")
        return Header(
            tuple(self.profile(name, entry) for name, entry in profiles.items()),
            {name: self.board(name, entry) for name, entry in boards.items()},
            None if rules is None else self.rules("rules", rules),
        )

    def profile(self, name: str, value: Any) -> Profile:
        key = f"profiles.{name}"
        entry = self.table(key, value, ("creature", "weapons"))
        weapons = entry.get("weapons", [])
        if not isinstance(weapons, list):
            raise self.fault(f"{key}.weapons", f"expected a list, not {shown(weapons)}")
        found = [self.weapon(f"{key}.weapons[{i}]", weapon) for i, weapon in enumerate(weapons)]
        names = [weapon.name for weapon in found]
        for i, weapon in enumerate(names):
            if weapon in names[:i]:
                raise self.fault(f"{key}.weapons[{i}]", f"{shown(weapon)} is named already")
        try:
            return Profile(name, self.creature(key, name, entry.get("creature", {})), tuple(found))
        except FieldcraftError as error:
            raise self.fault(key, str(error)) from None

    def creature(self, key: str, name: str, value: Any) -> Creature:
        key = f"{key}.creature"
        entry = dict(self.table(key, value, ("name", *CREATURE_KEYS)))
        kind = entry.pop("name", name)
        if not isinstance(kind, str):
            raise self.fault(f"{key}.name", f"expected text, not {shown(kind)}")
        if isinstance(speeds := entry.get("speed"), dict):
            entry["speed"] = {way: math.inf if v is None else v for way, v in speeds.items()}
        for field_, item in entry.items():
            holds, expected = CREATURE_KEYS[field_]
            if not holds(item):
                raise self.fault(f"{key}.{field_}", f"expected {expected}, not {shown(item)}")
        return creature_of({"name": kind, **entry})

    def weapon(self, key: str, value: Any) -> Weapon:
        entry = self.table(key, value, _WEAPON_KEYS)
        try:
            return Weapon(**entry)
        except FieldcraftError as error:
            raise self.fault(key, str(error)) from None

    def board(self, name: str, value: Any) -> tuple[str, str | None]:
        key = f"boards.{name}"
        entry = {"file": value} if isinstance(value, str) else value
        self.table(key, entry, ("file", "rules"))
        file, rules = entry.get("file"), entry.get("rules")
        if not isinstance(file, str) or not file:
            raise self.fault(key, f"expected the name of a file, not {shown(file)}")
        self.below(key, file)
        return file, None if rules is None else self.rules(f"{key}.rules", rules)

    def rules(self, key: str, value: Any) -> str:
        """Return the name of rules that there are, or of a file below the folder."""
        if not isinstance(value, str):
            raise self.fault(key, f"expected the name of a rule system, not {shown(value)}")
        if value.endswith(".toml"):
            self.below(key, value)
            return value
        try:
            resolve(value)
        except FieldcraftError as error:
            raise self.fault(key, str(error)) from None
        return value

    def below(self, key: str, file: str) -> None:
        """Raise for a file that is not below the folder of the encounters."""
        absolute = PurePosixPath(file).is_absolute() or PureWindowsPath(file).drive
        if absolute or ".." in PureWindowsPath(file).parts or "\0" in file:
            raise self.fault(
                key, f"{shown(file)} is not below the folder of the encounters; give such a board "
                "with boards=",
            )  # fmt: skip


# -- writing --------------------------------------------------------------------------------------


def _profile_data(profile: Profile) -> dict[str, Any]:
    """Return what a header says of a profile."""
    what = f"profile {profile.name!r}"
    body = creature_data(profile.creature)
    if profile.creature.name != profile.name:
        body["name"] = profile.creature.name
    entry: dict[str, Any] = {"creature": _plain(body, what)}
    if profile.weapons:
        weapons: Iterable[Weapon] = profile.weapons
        entry["weapons"] = [
            _plain({key: getattr(weapon, key) for key in _WEAPON_KEYS}, what) for weapon in weapons
        ]
    return entry


def _plain(value: Any, what: str) -> Any:
    """Return a value of a profile as JSON has it; a speed without limit is null."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        return {
            key: None if isinstance(item, float) and math.isinf(item) else _plain(item, what)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item, what) for item in value]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        if math.isinf(number):
            return "inf"
        if not isinstance(value, Fraction) or Fraction(repr(number)) == value:
            return number
    raise MapError(f"{what}: {value!r} has no exact form in JSON")

"""One row of a file of encounters: all that may be wrong with it, and many as columns.

A row is an object as JSON has it. Nothing in it is believed before it is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np

from fieldcraft.encounters.model import (
    BOARD_LIGHT,
    FLYING,
    GROUNDS,
    HELPLESS,
    MOST_TOKENS,
    PRONE,
    Encounters,
    Profile,
)
from fieldcraft.encounters.rejects import Fault, as_json, shown
from fieldcraft.errors import nearest

__all__ = ["FARTHEST", "HIGHEST", "Row", "Rows", "Tokens", "as_line", "is_text", "read_row"]

FARTHEST = 2**31 - 1
"""The highest row and column of a cell."""
HIGHEST = 1000
"""The highest level, as of a `fieldcraft.Token`."""
ROW_KEYS = ("id", "board", "light", "ground", "tokens", "extra")
TOKEN_KEYS = ("profile", "side", "cell", "name", "level", "prone", "flying", "helpless", "extra")
FLAGS = (("prone", PRONE), ("flying", FLYING), ("helpless", HELPLESS))


class Tokens(NamedTuple):
    """The tokens of a row, column by column; profiles by number, cells flat."""

    profile: Sequence[int] = ()
    side: Sequence[str] = ()
    cells: Sequence[int] = ()
    level: Sequence[int] = ()
    flags: Sequence[int] = ()
    name: Sequence[str] = ()


class Row(NamedTuple):
    """A row; of one with faults a value that is wrong is that of a row without it, or absent.

    `places` are the places of the tokens in the row.
    """

    id: str = ""
    board: str | None = None
    light: int = BOARD_LIGHT
    ground: int = 0
    tokens: Tokens = Tokens()
    places: Sequence[int] = ()


def is_text(value: Any) -> bool:
    """Tell whether a value is text that can be written: JSON may hold halves of characters."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_row(value: Any, profiles: Mapping[str, int]) -> tuple[Row, list[Fault]]:
    """Return what a row says, and all that is wrong with it apart from its board."""
    faults: list[Fault] = []
    if not isinstance(value, dict):
        faults.append(_fault("", "expected an object", value))
        return Row(), faults
    if not value.keys() <= _ROW_SET:
        _unknown("", value, ROW_KEYS, faults)
    id_ = value.get("id")
    if id_ is None:
        id_ = ""
    elif not is_text(id_):
        faults.append(_fault("id", "expected text", id_))
        id_ = ""
    board = value.get("board")
    if not board or not is_text(board):
        faults.append(_fault("board", "expected the name of a board", board))
        board = None
    light = _light(value.get("light"), faults)
    ground = _ground(value.get("ground"), faults)
    given = value.get("tokens")
    quick = _plain_tokens(given, profiles)
    tokens, places = quick or _tokens(given, profiles, faults)
    return Row(id_, board, light, ground, tokens, places), faults


def _fault(field: str, expected: str, given: Any) -> Fault:
    found = f"{expected}, not {shown(given)}" if given is not None else f"{expected}; there is none"
    return Fault(field, found, as_json(given))


def _unknown(field: str, value: dict[str, Any], known: Sequence[str], faults: list[Fault]) -> None:
    """Add a fault for each key that means nothing."""
    for key in value:
        if key not in known:
            faults.append(
                Fault(
                    f"{field}.{key}"[:80] if field else key[:80],
                    f"unknown key{nearest(key[:80], known)}; expected one of {', '.join(known)}",
                    as_json(value[key]),
                )
            )


def whole(value: Any, least: int, most: int) -> int | None:
    """Return a whole number within bounds, or None."""
    if type(value) is int:
        return value if least <= value <= most else None
    if type(value) is float and least <= value <= most and value.is_integer():
        return int(value)
    return None


def _light(value: Any, faults: list[Fault]) -> int:
    if value is None:
        return BOARD_LIGHT
    light = whole(value, -127, 0)
    if light is None:
        faults.append(_fault("light", "expected a malus, a whole number from -127 to 0", value))
        return BOARD_LIGHT
    return light


def _ground(value: Any, faults: list[Fault]) -> int:
    if value is None:
        return 0
    if isinstance(value, str) and value in GROUNDS:
        return GROUNDS.index(value)
    hint = nearest(value[:80], GROUNDS) if isinstance(value, str) else ""
    fault = _fault("ground", f"expected one of {', '.join(GROUNDS)}", value)
    faults.append(fault._replace(message=fault.message + hint))
    return 0


_place = itemgetter("profile", "side", "cell")


def _plain_tokens(value: Any, profiles: Mapping[str, int]) -> tuple[Tokens, Sequence[int]] | None:
    """Return tokens that are plainly good and say nothing but the least, or None.

    It finds no faults and judges no token that `_tokens` would judge otherwise; it is ten times as
    fast, which is what reading JSON Lines takes.
    """
    try:
        named, sides, cells = zip(*map(_place, value), strict=True)
        numbers = [profiles[name] for name in named]
        flat = list(chain.from_iterable(cells))
        count = len(numbers)
        plain = (
            type(value) is list
            and count <= MOST_TOKENS
            and set(map(type, value)) == {dict}
            and set(map(len, value)) == {3}
            and set(map(type, named)) == {str}
            and set(map(type, cells)) == {list}
            and set(map(len, cells)) == {2}
            and set(map(type, flat)) == {int}
            and min(flat) >= 0
            and max(flat) <= FARTHEST
            and len(set(zip(flat[::2], flat[1::2], strict=True))) == count
            and all(map(is_text, set(sides)))
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return None
    if not plain:
        return None
    nothing = (0,) * count
    return Tokens(numbers, sides, flat, nothing, nothing, ("",) * count), range(count)


def _tokens(
    value: Any, profiles: Mapping[str, int], faults: list[Fault]
) -> tuple[Tokens, Sequence[int]]:
    """Return the tokens of a row that have no faults, and their places in it."""
    if not isinstance(value, list):
        faults.append(_fault("tokens", "expected a list of tokens", value))
        return Tokens(), ()
    if not 1 <= len(value) <= MOST_TOKENS:
        faults.append(
            Fault("tokens", f"expected from 1 to {MOST_TOKENS:,} tokens, not {len(value):,}")
        )
        return Tokens(), ()
    tokens = Tokens([], [], [], [], [], [])
    places: list[int] = []
    taken: dict[tuple[int, ...], int] = {}
    for place, entry in enumerate(value):
        token = _token(f"tokens[{place}]", entry, profiles, faults)
        if token is None:
            continue
        cells, level, flags = token[2], token[3][0], token[4][0]
        first = taken.setdefault((*cells, level, flags & FLYING), place)
        if first != place:
            message = f"tokens[{first}] is on that cell and level already"
            faults.append(Fault(f"tokens[{place}].cell", message, cells))
            continue
        for column, values in zip(tokens, token, strict=True):
            cast(list[Any], column).extend(values)
        places.append(place)
    return tokens, places


def _token(
    field: str, value: Any, profiles: Mapping[str, int], faults: list[Fault]
) -> Tokens | None:
    """Return a token as columns of one; None, and its faults, if there are any."""
    if not isinstance(value, dict):
        faults.append(_fault(field, "expected an object", value))
        return None
    before = len(faults)
    if not value.keys() <= _TOKEN_SET:
        _unknown(field, value, TOKEN_KEYS, faults)
    profile, side = value.get("profile"), value.get("side")
    number = profiles.get(profile) if isinstance(profile, str) else None
    if number is None:
        faults.append(_profile_fault(f"{field}.profile", profile, profiles))
    if not is_text(side):
        faults.append(_fault(f"{field}.side", "expected the name of a side", side))
    cell = _cell(f"{field}.cell", value.get("cell"), faults)
    level, flags, name = _rest(field, value, faults) if len(value) > 3 else (0, 0, "")
    if number is None or len(faults) > before:
        return None
    return Tokens([number], [str(side)], cell, [level], [flags], [name])


def _profile_fault(field: str, profile: Any, profiles: Mapping[str, int]) -> Fault:
    if not isinstance(profile, str):
        return _fault(field, "expected the name of a profile", profile)
    known = ", ".join(list(profiles)[:8]) + (", ..." if len(profiles) > 8 else "")
    return Fault(
        field,
        f"there is no profile {shown(profile)}{nearest(profile[:80], profiles)}; "
        f"the header has {known or 'none'}",
        as_json(profile),
    )


def _cell(field: str, value: Any, faults: list[Fault]) -> list[int]:
    if isinstance(value, list) and len(value) == 2:
        row, col = whole(value[0], 0, FARTHEST), whole(value[1], 0, FARTHEST)
        if row is not None and col is not None:
            return [row, col]
    faults.append(_fault(field, "expected [row, column], two whole numbers of 0 or more", value))
    return [0, 0]


def _rest(field: str, value: dict[str, Any], faults: list[Fault]) -> tuple[int, int, str]:
    """Return level, flags and name: what most tokens leave out."""
    level = value.get("level")
    number = 0 if level is None else whole(level, 0, HIGHEST)
    if number is None:
        faults.append(
            _fault(f"{field}.level", f"expected a whole number from 0 to {HIGHEST:,}", level)
        )
    flags = 0
    for key, bit in FLAGS:
        flag = value.get(key)
        if flag is True:
            flags |= bit
        elif flag is not None and flag is not False:
            faults.append(_fault(f"{field}.{key}", "expected true or false", flag))
    name = value.get("name")
    if name is not None and not is_text(name):
        faults.append(_fault(f"{field}.name", "expected text", name))
    return number or 0, flags, name or ""


_ROW_SET, _TOKEN_SET = frozenset(ROW_KEYS), frozenset(TOKEN_KEYS)


class Rows:
    """Rows that are gathered into columns."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        self._profiles = profiles
        self._boards: dict[str, int] = {}
        self._rows: list[tuple[int, int, int, int]] = []
        self._ids: list[str] = []
        self._first = [0]
        self._tokens = Tokens([], [], [], [], [], [])

    def add(self, number: int, row: Row) -> None:
        """Add a row that has a board and a token."""
        board = self._boards.setdefault(row.board or "", len(self._boards))
        self._rows.append((number, board, row.light, row.ground))
        self._ids.append(row.id)
        for column, values in zip(self._tokens, row.tokens, strict=True):
            cast(list[Any], column).extend(values)
        self._first.append(len(self._tokens.profile))

    def encounters(self) -> Encounters:
        """Return all of them."""
        rows = np.array(self._rows, np.int64).reshape(-1, 4)
        tokens = self._tokens
        sides = {name: i for i, name in enumerate(dict.fromkeys(tokens.side))}
        return Encounters(
            tuple(self._boards), self._profiles, tuple(sides),
            ids=self._ids, names=tokens.name, number=rows[:, 0], board=rows[:, 1],
            light=rows[:, 2], ground=rows[:, 3], first=self._first,
            profile=np.array(tokens.profile, np.int64),
            side=np.array([sides[side] for side in tokens.side], np.int64),
            cells=np.array(tokens.cells, np.int64).reshape(-1, 2),
            level=np.array(tokens.level, np.int64), flags=np.array(tokens.flags, np.int64),
        )  # fmt: skip


# -- writing --------------------------------------------------------------------------------------


def as_line(encounters: Encounters, places: Iterable[int] | None = None) -> Iterable[str]:
    """Yield encounters as lines of JSON Lines, without their ends."""
    quoted = [json.dumps(name) for name in encounters.sides]
    profiles = [json.dumps(profile.name) for profile in encounters.profiles]
    boards = [json.dumps(name) for name in encounters.boards]
    first = encounters.first.tolist()
    light, ground = encounters.light.tolist(), encounters.ground.tolist()
    for i in range(len(encounters)) if places is None else places:
        begin, end = first[i], first[i + 1]
        tokens = [
            f'{{"profile": {profiles[profile]}, "side": {quoted[side]}, "cell": [{row}, {col}]'
            for profile, side, (row, col) in zip(
                encounters.profile[begin:end].tolist(),
                encounters.side[begin:end].tolist(),
                encounters.cells[begin:end].tolist(),
                strict=True,
            )
        ]
        rest = [_rest_text(encounters, j) for j in range(begin, end)]
        listed = ", ".join(f"{token}{more}}}" for token, more in zip(tokens, rest, strict=True))
        head = "" if encounters.ids is None or not encounters.ids[i] else (
            f'"id": {json.dumps(encounters.ids[i])}, '
        )  # fmt: skip
        head += f'"board": {boards[encounters.board[i]]}'
        if light[i] != BOARD_LIGHT:
            head += f', "light": {light[i]}'
        if ground[i]:
            head += f', "ground": "{GROUNDS[ground[i]]}"'
        yield f'{{{head}, "tokens": [{listed}]}}'


def _rest_text(encounters: Encounters, token: int) -> str:
    """Return what a line says of a token besides profile, side and cell."""
    text = ""
    if encounters.names is not None and encounters.names[token]:
        text += f', "name": {json.dumps(encounters.names[token])}'
    if level := int(encounters.level[token]):
        text += f', "level": {level}'
    if flags := int(encounters.flags[token]):
        text += "".join(f', "{key}": true' for key, bit in FLAGS if flags & bit)
    return text

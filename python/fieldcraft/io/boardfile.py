"""Board files of our own: TOML that people write and read, and that loses nothing.

.. code-block:: toml

    lattice = "odd-r"
    rules = "hexwild"
    light = -2                      # optional: one number, or rows of numbers
    rows = '''
    ..F.
    .FF.
    '''
    elevation = [[0, 0, 1, 1], [0, 0.5, 1, 1]]      # optional

    [legend]
    "." = "open"
    "F" = ["light_forest", "fog:2"]                 # base first, then overlays

    [[tokens]]
    name = "scout"
    side = "blue"
    cell = [0, 1]                   # row, column

    [[borders]]
    cells = [[0, 0], [0, 1]]
    kind = "wall"

    [[perches]]
    cell = [0, 2]
    level = 1
    size = "small"                  # the largest creature it bears
    metres = 4                      # above the ground of the cell

One character of `rows` is one cell. Further keys: `name` of the board; `side_relations`, a list
such as ``[["red", "blue", "neutral"]]``; ``[parameters]`` of the rules, where they differ from the
defaults. `rules` is the name of a system, or of a rules file (``"house.toml"``) in the folder of
the board or below. A token may have `name`, `creature` (the name of its kind where it has one of
its own), `side`, `cell`, `size`, `speed` (a number, text with a unit, or a table from the way of
moving to either; ``inf`` means no limit), `level`, `height`, `footing`, `climbs`, `crosses`,
`untested_by`, `unharmed_by`, `reach`, `body`, `hands_full`, `hovers`, `saves` (a table from the
save to its chance in percent), `helpless`, `engaged`, `prone`, `lets_through`, `flying`, `facing`
and `extra`. A border may have `cells`, `kind`, `open`, `height`, `length`, `price` and `one_way`.

A file may also hold `[[tokens]]` alone, for `read_tokens`.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import BODIES, Creature, Token, as_cell
from fieldcraft.errors import FieldcraftError, MapError, RulesError, nearest
from fieldcraft.io._text import MAX_BYTES, as_path, code_points, named, read_text, shown, where
from fieldcraft.lattice import LATTICES, Cell, Lattice, as_lattice
from fieldcraft.terrain import Border, Kind, Perch, Terrain

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.rules import Rules

__all__ = [
    "CREATURE_KEYS",
    "BoardData",
    "creature_data",
    "creature_of",
    "dumps",
    "loads",
    "parse",
    "read",
    "read_tokens",
    "render",
    "write",
]

_FILE = "a board file in TOML"
_TOKENS_FILE = "a TOML file with [[tokens]]"
_KEYS = (
    "name",
    "lattice",
    "rules",
    "light",
    "rows",
    "elevation",
    "side_relations",
    "parameters",
    "legend",
    "tokens",
    "borders",
    "perches",
)
_RELATIONS = ("friend", "foe", "neutral")
_Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class BoardData:
    """What a board file says, before any rules are asked.

    Parameters
    ----------
    terrain : Terrain
    tokens : tuple of Token
    relations : mapping from frozenset of two sides to str
        Friend, foe or neutral; a set of one side speaks of its tokens among themselves.
    rules : str or None
        Name of the rule system.
    parameters : mapping from str
        Of the rules, where they differ from the defaults.
    name : str
    """

    terrain: Terrain
    tokens: tuple[Token, ...] = ()
    relations: Mapping[frozenset[str], str] = field(default_factory=dict)
    rules: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


# -- boards in and out ------------------------------------------------------------------------


def read(
    path: str | os.PathLike[str],
    *,
    rules: Rules | str | Path | None = None,
    max_bytes: int = MAX_BYTES,
) -> Board:
    """Return the board in a TOML board file.

    Parameters
    ----------
    path : str or path-like
    rules : Rules, str or Path, optional, keyword-only
        In place of the rules of the file and their parameters.
    max_bytes : int, keyword-only
        A larger file is refused before it is read.

    Returns
    -------
    Board

    Raises
    ------
    MapError
        If the file is no such board, with the key, the line where it is known, and what was
        expected.
    RulesError
        If there are no such rules, or no such parameters.
    """
    file = as_path(path)
    text = read_text(file, _FILE, max_bytes=max_bytes)
    source = where(file)
    return _board(parse(text, source=source), rules, source, file.parent, file.stem)


def loads(text: str, *, rules: Rules | str | Path | None = None) -> Board:
    """Return the board that the text of a TOML board file describes; see `read`."""
    return _board(parse(text), rules, "<text>", None, "")


def read_tokens(
    path: str | os.PathLike[str],
    shape: tuple[int, int],
    *,
    max_bytes: int = MAX_BYTES,
) -> tuple[Token, ...]:
    """Return the tokens in a TOML file that holds nothing else.

    Parameters
    ----------
    path : str or path-like
    shape : tuple of int
        Height and width of the map they stand on.
    max_bytes : int, keyword-only
        A larger file is refused before it is read.

    Returns
    -------
    tuple of Token

    Raises
    ------
    MapError
        If the file holds no ``[[tokens]]``, or anything else, or a token is malformed or stands
        outside the map, with the key, the line where it is known, and what was expected.
    """
    file = as_path(path)
    text = read_text(file, _TOKENS_FILE, max_bytes=max_bytes)
    return _Parser(text, where(file), _TOKENS_FILE).only_tokens(shape)


def _board(
    data: BoardData,
    rules: Rules | str | Path | None,
    source: str,
    folder: Path | None,
    stem: str,
) -> Board:
    from fieldcraft.board import Board
    from fieldcraft.rules import resolve

    if rules is not None:
        system = resolve(rules)
    elif data.rules is None:
        raise MapError(f"{source}: has no key 'rules'; expected the name of a rule system")
    else:
        try:
            system = resolve(_rules_file(data.rules, folder) or data.rules)
            if data.parameters:
                system = system.configure(**data.parameters)
        except RulesError as error:
            raise RulesError(f"{source}: {error}") from None
    with named(source):
        return Board.from_terrain(
            data.terrain,
            rules=system,
            tokens=data.tokens,
            relations=data.relations or None,
            name=data.name or stem,
        )


def _rules_file(name: str, folder: Path | None) -> Path | None:
    """Return the rules file that a board file names, or None for the name of a system."""
    if not name.endswith(".toml"):
        return None
    if "\0" in name:
        raise RulesError(f"{name!r} cannot be the name of a rules file")
    if folder is None:
        raise RulesError(f"rules file {name!r}: only a board in a folder can name a file there")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise RulesError(f"rules file {name!r} lies outside the folder of the board")
    return path


def write(board: Board, path: str | os.PathLike[str]) -> None:
    """Write a board to a TOML board file, from which `read` makes an equal board.

    The file names the rules and gives the parameters that differ from the defaults. Rules of your
    own must be known by that name when the file is read: ``fc.rules.register`` makes them so.

    Parameters
    ----------
    board : Board
    path : str or path-like

    Raises
    ------
    MapError
        If the board holds what the file cannot, or the file cannot be written.
    """
    file = as_path(path)
    text = dumps(board)
    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise MapError(f"{where(file)}: cannot be written ({error.strerror})") from None
    except ValueError:
        raise MapError(f"{str(file)!r} cannot be the name of a file") from None


def dumps(board: Board) -> str:
    """Return the text of a TOML board file that describes the board; see `write`."""
    system = board.rules
    data = BoardData(
        board.terrain,
        board.tokens,
        board.relations or {},
        system.name,
        _parameters(system),
        board.name,
    )
    return render(data, glyph=lambda kind: system.glyph(kind)[0])


def _parameters(system: Rules) -> dict[str, Any]:
    """Return the parameters of a rule system that differ from those it has by its name."""
    from fieldcraft.rules import get, names

    given = _named_parameters(system)
    # A system read from a file is known by name only where somebody has registered it.
    usual = _named_parameters(get(system.name) if system.name in names() else type(system)())
    return {
        name: value for name, value in given.items() if name not in usual or value != usual[name]
    }


def _named_parameters(system: Rules) -> Mapping[str, Any]:
    parameters = getattr(system, "parameters", None)
    return parameters() if callable(parameters) else {}


# -- reading ----------------------------------------------------------------------------------


def parse(text: str, *, source: str = "<text>") -> BoardData:
    """Return what the text of a TOML board file says.

    Parameters
    ----------
    text : str
    source : str, keyword-only
        The name that messages give to the text.

    Returns
    -------
    BoardData

    Raises
    ------
    MapError
        If the text is malformed, with the key, the line where it is known, and what was expected.
    """
    return _Parser(text, source).board()


class _Parser:
    """The data of a board file with the places of its keys, for messages."""

    def __init__(self, text: str, source: str, what: str = _FILE) -> None:
        self.source = source
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except RecursionError:
            raise MapError(f"{source}: is nested too deeply; expected {what}") from None
        except ValueError as error:
            raise MapError(f"{source}: is not valid TOML: {error}") from None
        self.text = text
        self._lines: dict[_Key, int] | None = None

    def line(self, key: _Key) -> int | None:
        """Return the line of a key, or of the nearest key that holds it."""
        if self._lines is None:
            self._lines = {}
            for place, number in _locate(self.text):
                for end in range(1, len(place) + 1):
                    self._lines.setdefault(place[:end], number)
        while key and key not in self._lines:
            key = key[:-1]
        return self._lines.get(key)

    def fault(self, key: _Key, text: str, *, line: int | None = None) -> MapError:
        """Return the error for a key: file, line, key, and what is wrong."""
        place = where(self.source, line or self.line(key))
        return MapError(f"{place}: {_named(key)}: {text}")

    def only(self, known: Sequence[str]) -> None:
        """Raise for a key that has no place at the top of the file."""
        for key in self.data:
            if key not in known:
                listed = ", ".join(known)
                raise self.fault((key,), f"unknown key{nearest(key, known)}; expected {listed}")

    def only_tokens(self, shape: tuple[int, int]) -> tuple[Token, ...]:
        self.only(("tokens",))
        if "tokens" not in self.data:
            raise MapError(f"{where(self.source)}: has no [[tokens]]; expected {_TOKENS_FILE}")
        return self.tokens(shape)

    def board(self) -> BoardData:
        self.only(_KEYS)
        for key in ("lattice", "rows", "legend"):
            if key not in self.data:
                raise MapError(f"{where(self.source)}: has no key {key!r}; expected {_FILE}")
        for key in ("name", "rules", "lattice"):
            if key in self.data and not isinstance(self.data[key], str):
                raise self.fault((key,), f"expected text, not {_value(self.data[key])}")
        lattice = self.lattice()
        codes, kinds = self.cells(self.legend())
        shape = codes.shape[0], codes.shape[1]
        terrain = Terrain(
            lattice,
            codes,
            kinds,
            self.elevation(shape),
            self.light(shape),
            self.borders(lattice, shape),
            self.perches(shape),
        )
        return BoardData(
            terrain,
            self.tokens(shape),
            self.relations(),
            self.data.get("rules"),
            self.table("parameters"),
            self.data.get("name", ""),
        )

    def table(self, key: str) -> dict[str, Any]:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.fault((key,), f"expected a table [{key}], not {_value(value)}")
        return value

    def lattice(self) -> Lattice:
        name = self.data["lattice"]
        if name not in LATTICES:
            hint = nearest(name, LATTICES)
            raise self.fault(
                ("lattice",), f"unknown lattice {shown(name)}{hint}; expected {_either(LATTICES)}"
            )
        return as_lattice(name)

    # -- cells

    def legend(self) -> dict[str, Kind]:
        legend: dict[str, Kind] = {}
        for character, value in self.table("legend").items():
            key = ("legend", character)
            if len(character) != 1 or character in "\n\r":
                raise self.fault(key, "a key of [legend] is one character")
            ids = [value] if isinstance(value, str) else value
            if not isinstance(ids, list) or not ids or not all(_is_word(id_) for id_ in ids):
                raise self.fault(
                    key,
                    f"expected a terrain id, or a list of them (base first, then overlays), "
                    f"not {_value(value)}",
                )
            legend[character] = tuple(ids)
        if not legend:
            raise self.fault(("legend",), "has no entries; expected characters and terrain ids")
        return legend

    def cells(self, legend: Mapping[str, Kind]) -> tuple[npt.NDArray[np.uint16], tuple[Kind, ...]]:
        value = self.data["rows"]
        if isinstance(value, str):
            rows = value.split("\n")
            if rows[-1] == "":
                rows.pop()
        elif isinstance(value, list) and all(isinstance(row, str) for row in value):
            rows = value
        else:
            raise self.fault(("rows",), f"expected a multi-line string, not {_value(value)}")
        if not rows or not rows[0]:
            raise self.fault(("rows",), "an empty map; expected one character for each cell")
        width = len(rows[0])
        for row, line in enumerate(rows):
            if len(line) != width:
                raise self.fault(
                    ("rows",),
                    f"row {row} has {len(line)} characters, the first has {width}",
                    line=self.row_line(row),
                )
        points = code_points(rows)
        present, inverse = np.unique(points, return_inverse=True)
        for point in present:
            if chr(point) not in legend:
                row, col = (int(i) for i in np.argwhere(points == point)[0])
                raise self.fault(
                    ("rows",),
                    f"the character {chr(point)!r} in row {row}, column {col} is not in [legend]"
                    f"; expected one of {' '.join(legend)}",
                    line=self.row_line(row),
                )
        used = {chr(point) for point in present}
        kinds = list(dict.fromkeys(kind for char, kind in legend.items() if char in used))
        if len(kinds) > np.iinfo(np.uint16).max:
            raise self.fault(("legend",), f"has {len(kinds):,} kinds of cells; at most 65,535")
        index = {kind: code for code, kind in enumerate(kinds)}
        code = np.array([index[legend[chr(point)]] for point in present], dtype=np.uint16)
        return code[inverse].reshape(points.shape), tuple(kinds)

    def row_line(self, row: int) -> int | None:
        """Return the line of a row, where `rows` is written as a multi-line string."""
        first = self.line(("rows",))
        if first is None:
            return None
        opening = self.text.split("\n")[first - 1]
        match = re.search(r"=\s*('''|\"\"\")(.*)$", opening.rstrip("\r"))
        if match is None:
            return None
        return first + row + (1 if match[2] == "" else 0)

    # -- numbers by cell

    def grid(self, key: str, value: Any, shape: tuple[int, int], what: str) -> list[list[Any]]:
        """Return rows of values of the map's shape, or raise."""
        height, width = shape
        if not isinstance(value, list):
            raise self.fault((key,), f"expected rows of {what}, not {_value(value)}")
        if len(value) != height:
            raise self.fault((key,), f"has {len(value)} rows, the map has {height}")
        for row, line in enumerate(value):
            if not isinstance(line, list):
                raise self.fault((key,), f"row {row}: expected {what}, not {_value(line)}")
            if len(line) != width:
                raise self.fault((key,), f"row {row} has {len(line)} {what}, the map has {width}")
        return value

    def elevation(self, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        if "elevation" not in self.data:
            return np.zeros((0, 0))
        rows = self.grid("elevation", self.data["elevation"], shape, "numbers")
        for row, line in enumerate(rows):
            for col, number in enumerate(line):
                if not _is_number(number) or not abs(number) <= _FARTHEST:
                    raise self.fault(
                        ("elevation",),
                        f"row {row}, column {col}: expected a finite number, not {_value(number)}",
                    )
        return np.array(rows, dtype=np.float64)

    def light(self, shape: tuple[int, int]) -> npt.NDArray[np.int8]:
        value = self.data.get("light", 0)
        if not isinstance(value, list):
            self.malus(value, "")
            return np.full((1, 1), value, dtype=np.int8)
        rows = self.grid("light", value, shape, "whole numbers")
        for row, line in enumerate(rows):
            for col, number in enumerate(line):
                self.malus(number, f"row {row}, column {col}: ")
        return np.array(rows, dtype=np.int8)

    def malus(self, value: Any, place: str) -> None:
        if not _is_whole(value) or not -127 <= value <= 0:
            raise self.fault(
                ("light",),
                f"{place}expected the malus of a target, a whole number from -127 to 0, "
                f"not {_value(value)}",
            )

    # -- tables

    def entries(self, key: str, known: Mapping[str, _Check]) -> Iterator[tuple[_Key, Any]]:
        """Yield the tables of an array of tables, their keys and values checked."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise self.fault((key,), f"expected tables [[{key}]], not {_value(value)}")
        for number, entry in enumerate(value):
            for name, item in entry.items():
                place: _Key = (key, number, name)
                if name not in known:
                    listed = ", ".join(known)
                    raise self.fault(
                        place, f"unknown key{nearest(name, known)}; expected one of {listed}"
                    )
                holds, expected = known[name]
                if not holds(item):
                    raise self.fault(place, f"expected {expected}, not {_value(item)}")
            yield (key, number), entry

    def within(self, key: _Key, value: Any, shape: tuple[int, int]) -> Cell:
        row, col = as_cell(value)
        if not (0 <= row < shape[0] and 0 <= col < shape[1]):
            raise self.fault(
                key, f"({row}, {col}) lies outside the map of {shape[0]} rows, {shape[1]} columns"
            )
        return row, col

    def tokens(self, shape: tuple[int, int]) -> tuple[Token, ...]:
        tokens = []
        for key, entry in self.entries("tokens", _TOKEN_KEYS):
            given = dict(entry)
            if "cell" not in given:
                raise self.fault(key, "has no cell; expected cell = [row, column]")
            cell = self.within((*key, "cell"), given.pop("cell"), shape)
            body = {k: given.pop(k) for k in CREATURE_KEYS if k in given}
            kind = given.pop("creature", given.get("name"))
            if kind is not None:
                body["name"] = kind
            try:
                tokens.append(Token(creature_of(body), cell, **given))
            except FieldcraftError as error:
                raise self.fault(key, str(error)) from None
        return tuple(tokens)

    def borders(self, lattice: Lattice, shape: tuple[int, int]) -> tuple[Border, ...]:
        borders = []
        for key, entry in self.entries("borders", _BORDER_KEYS):
            if "cells" not in entry:
                raise self.fault(key, "has no cells; expected cells = [[row, column], [...]]")
            place = (*key, "cells")
            first, second = (self.within(place, cell, shape) for cell in entry["cells"])
            if second not in lattice.neighbors(first):
                raise self.fault(
                    place, f"{first} and {second} are no neighbours on the lattice {lattice.name}"
                )
            try:
                borders.append(Border(**{**entry, "cells": (first, second)}))
            except FieldcraftError as error:
                raise self.fault(key, str(error)) from None
        return tuple(borders)

    def perches(self, shape: tuple[int, int]) -> tuple[Perch, ...]:
        perches: dict[tuple[Cell, int], Perch] = {}
        for key, entry in self.entries("perches", _PERCH_KEYS):
            for name in ("cell", "level", "metres"):
                if name not in entry:
                    raise self.fault(key, f"has no {name}; expected {name}, {_PERCH_KEYS[name][1]}")
            cell = self.within((*key, "cell"), entry["cell"], shape)
            try:
                perch = Perch(**{**entry, "cell": cell})
            except FieldcraftError as error:
                raise self.fault(key, str(error)) from None
            if (cell, perch.level) in perches:
                raise self.fault(key, f"{cell} has a perch on level {perch.level} already")
            perches[cell, perch.level] = perch
        return tuple(perches.values())

    def relations(self) -> dict[frozenset[str], str]:
        value = self.data.get("side_relations", [])
        relations: dict[frozenset[str], str] = {}
        if not isinstance(value, list):
            raise self.fault(("side_relations",), f"expected a list of {_TRIPLE}")
        for number, entry in enumerate(value):
            key = ("side_relations", number)
            if not _is_words(entry) or len(entry) != 3 or entry[2] not in _RELATIONS:
                raise self.fault(key, f"expected {_TRIPLE}, not {_value(entry)}")
            pair = frozenset(entry[:2])
            if relations.setdefault(pair, entry[2]) != entry[2]:
                raise self.fault(
                    key, f"{entry[0]!r} and {entry[1]!r} are {relations[pair]} already"
                )
        return relations


_FARTHEST = float(np.finfo(np.float64).max)
_TRIPLE = 'two sides and friend, foe or neutral, such as ["red", "blue", "neutral"]'


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_cell(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_whole, value))


def _is_cells(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_cell, value))


def _is_one_speed(value: Any) -> bool:
    return _is_word(value) or (_is_number(value) and value >= 0)


def _is_speed(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_one_speed, value.values()))
    return _is_one_speed(value)


def _is_chances(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_number(chance) for chance in value.values())


_Check = tuple[Callable[[Any], bool], str]
_FLAG: _Check = (lambda value: isinstance(value, bool), "true or false")
_TEXT: _Check = (lambda value: isinstance(value, str), "text")
_NAMES: _Check = (_is_words, "a list of names")
_SIZE: _Check = (lambda value: _is_number(value) and 0 < value < 1e9, "a number above 0")
_PRICE: _Check = (lambda value: _is_number(value) and 0 <= value < 1e9, "a number, 0 or more")

_TOKEN_KEYS: dict[str, _Check] = {
    "name": _TEXT,
    "creature": _TEXT,
    "side": _TEXT,
    "cell": (_is_cell, "[row, column], two whole numbers"),
    "size": _TEXT,
    "speed": (_is_speed, "a number of 0 or more, text with a unit, or a table of these"),
    "level": (_is_whole, "a whole number"),
    "height": _SIZE,
    "footing": _TEXT,
    "climbs": _FLAG,
    "crosses": _NAMES,
    "untested_by": _NAMES,
    "unharmed_by": _NAMES,
    "reach": (lambda value: _is_whole(value) and value >= 0, "a whole number of cells, 0 or more"),
    "body": (lambda value: _is_whole(value) and value in BODIES, "1, 2, 3 or 7 hexagons"),
    "hands_full": _FLAG,
    "hovers": _FLAG,
    "saves": (_is_chances, "a table from the save to its chance in percent"),
    "helpless": _FLAG,
    "engaged": _FLAG,
    "prone": _FLAG,
    "lets_through": _FLAG,
    "flying": _FLAG,
    "facing": (lambda value: _is_whole(value) and 0 <= value <= 5, "a direction, 0 to 5"),
    "extra": (lambda value: isinstance(value, dict), "a table"),
}
CREATURE_KEYS: dict[str, _Check] = {
    entry.name: _TOKEN_KEYS[entry.name] for entry in fields(Creature) if entry.name != "name"
}
"""What a file says of a creature besides its name: a check of each value, and what is expected."""
_TOKEN_FIELDS = ("level", "helpless", "engaged", "prone", "lets_through", "flying", "facing")


def creature_of(entry: Mapping[str, Any]) -> Creature:
    """Return the creature of which a file says this; the values hold by `CREATURE_KEYS`."""
    body = dict(entry)
    for sets in ("crosses", "untested_by", "unharmed_by"):
        if sets in body:
            body[sets] = frozenset(body[sets])
    if isinstance(body.get("speed"), dict):
        body["speed"] = {
            way: None if speed == math.inf else speed for way, speed in body["speed"].items()
        }
    return Creature(**body)


def creature_data(creature: Creature) -> dict[str, Any]:
    """Return what a file says of a creature besides its name: what differs from the default."""
    defaults = {entry.name: entry.default for entry in fields(Creature)}
    found: dict[str, Any] = {}
    for key in CREATURE_KEYS:
        value = getattr(creature, key)
        if value == defaults[key]:
            continue
        if isinstance(value, frozenset):
            value = sorted(value)
        if isinstance(value, Mapping):
            value = {way: math.inf if speed is None else speed for way, speed in value.items()}
        found[key] = value
    return found


_BORDER_KEYS: dict[str, _Check] = {
    "cells": (_is_cells, "two cells, [[row, column], [row, column]]"),
    "kind": _TEXT,
    "open": _FLAG,
    "height": _SIZE,
    "length": _SIZE,
    "price": _PRICE,
    "one_way": _FLAG,
}
_PERCH_KEYS: dict[str, _Check] = {
    "cell": (_is_cell, "[row, column], two whole numbers"),
    "level": (lambda value: _is_whole(value) and 1 <= value <= 4, "a whole number from 1 to 4"),
    "size": _TEXT,
    "metres": (lambda value: _is_number(value) and 0 < value <= 1000, "a number above 0"),
}


def _either(words: Sequence[str]) -> str:
    return f"one of {', '.join(words)}"


def _value(value: Any) -> str:
    """Return a value as a board file shows it, cut to a length that fits a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "..."


def _named(key: _Key) -> str:
    """Return how messages name a key: ``cell of [[tokens]] 2``, counted from 1."""
    match key:
        case (str(table), int(number), str(name)):
            return f"{name} of [[{table}]] {number + 1}"
        case ("side_relations", int(number)):
            return f"entry {number + 1} of side_relations"
        case (str(table), int(number)):
            return f"[[{table}]] {number + 1}"
        case ("legend", str(character)):
            return f"{character!r} of [legend]"
        case _:
            return shown(key[0])


_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z_-]+)\s*(?:\.[^\]]*)?\]")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*[=.]""")
_MULTI = re.compile(r"\"\"\"|'''")


def _locate(text: str) -> Iterator[tuple[_Key, int]]:
    """Yield the keys of a valid board file and their lines, from 1."""
    table: _Key = ()
    counts: dict[str, int] = {}
    inside: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if inside is not None:
            inside = None if inside in line else inside
            continue
        if header := _HEADER.match(line):
            table = (header[2],)
            if header[1] == "[[":
                table = (header[2], counts.get(header[2], 0))
                counts[header[2]] = counts.get(header[2], 0) + 1
            yield table, number
        elif key := _KEY.match(line):
            name = key[1]
            if name[0] in "\"'":
                name = next(iter(tomllib.loads(f"{name} = 0")))
            yield (*table, name), number
            if (opening := _MULTI.search(line)) and line.count(opening[0]) == 1:
                inside = opening[0]


# -- writing ----------------------------------------------------------------------------------


def render(data: BoardData, *, glyph: Callable[[Kind], str] | None = None) -> str:
    """Return the text of a TOML board file.

    Parameters
    ----------
    data : BoardData
    glyph : callable, optional, keyword-only
        The character that a rule system has for a kind of cell; letters are taken where absent, and
        where two kinds of cells would get the same.

    Returns
    -------
    str

    Raises
    ------
    MapError
        If the board holds a value that TOML has no form for.
    """
    terrain = data.terrain
    codes = np.asarray(terrain.codes)
    used = [int(code) for code in np.unique(codes)]
    characters = _characters([terrain.kinds[code] for code in used], glyph)
    points = np.zeros(max(used) + 1, dtype="<u4")
    points[used] = [ord(character) for character in characters]
    top: list[str] = []
    if data.name:
        top.append(f"name = {_toml(data.name)}")
    top.append(f"lattice = {_toml(terrain.lattice.name)}")
    if data.rules is not None:
        top.append(f"rules = {_toml(data.rules)}")
    if terrain.light.shape != (1, 1):
        top += _grid("light", terrain.light)
    elif terrain.light[0, 0] != 0:
        top.append(f"light = {_toml(terrain.light[0, 0])}")
    top.append("rows = '''")
    top += [points[row].tobytes().decode("utf-32-le") for row in codes]
    top.append("'''")
    if terrain.has_elevation:
        top += _grid("elevation", terrain.elevation)
    if data.relations:
        top.append("side_relations = [")
        for pair, relation in data.relations.items():
            sides = sorted(pair)
            top.append(f"    {_toml([sides[0], sides[-1], relation])},")
        top.append("]")
    blocks = [top]
    if data.parameters:
        entries = [f"{_key(key)} = {_parameter(value)}" for key, value in data.parameters.items()]
        blocks.append(["[parameters]", *entries])
    kinds = (terrain.kinds[code] for code in used)
    blocks.append(
        ["[legend]"]
        + [
            f"{_toml(character)} = {_toml(kind[0] if len(kind) == 1 else kind)}"
            for character, kind in zip(characters, kinds, strict=True)
        ]
    )
    blocks += [["[[tokens]]", *_token(token)] for token in data.tokens]
    blocks += [["[[borders]]", *_border(border)] for border in terrain.borders]
    blocks += [["[[perches]]", *_perch(perch)] for perch in terrain.perches]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _parameter(value: Any) -> str:
    """Return a rule parameter as TOML, which has no None and no tuples with names."""
    if value is None:
        return _toml("none")
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _toml(value._asdict())
    if isinstance(value, Fraction) and Fraction(repr(float(value))) != value:
        raise MapError(f"the rule parameter {value} has no exact decimals to write to a board file")
    return _toml(value)


def _grid(key: str, rows: npt.NDArray[Any]) -> list[str]:
    return [f"{key} = [", *(f"    {_toml(list(row))}," for row in rows), "]"]


def _token(token: Token) -> Iterator[str]:
    """Yield the lines of a token; what equals the default is left out."""
    body = token.creature
    if token.name:
        yield f"name = {_toml(token.name)}"
    if body.name != (token.name or Creature().name):
        yield f"creature = {_toml(body.name)}"
    if token.side:
        yield f"side = {_toml(token.side)}"
    yield f"cell = {_toml(token.cell)}"
    for key, value in creature_data(body).items():
        yield f"{key} = {_toml(value)}"
    defaults = {entry.name: entry.default for entry in fields(Token)}
    for key in _TOKEN_FIELDS:
        if getattr(token, key) != defaults[key]:
            yield f"{key} = {_toml(getattr(token, key))}"
    if token.extra:
        yield f"extra = {_toml(token.extra)}"


def _border(border: Border) -> Iterator[str]:
    yield f"cells = {_toml(border.cells)}"
    for entry in fields(Border):
        value = getattr(border, entry.name)
        if entry.default is not MISSING and (value != entry.default or entry.name == "kind"):
            yield f"{entry.name} = {_toml(value)}"


def _perch(perch: Perch) -> Iterator[str]:
    for entry in fields(Perch):
        yield f"{entry.name} = {_toml(getattr(perch, entry.name))}"


# Characters for the legend, after the glyphs of the rules. No quotation marks nor backslashes, so
# that no string is ever closed or escaped by a cell.
_ASCII = (
    ".ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789~^*%&$+=-:;,<>()[]{}/|!?@#_"
)


def _characters(kinds: Sequence[Kind], glyph: Callable[[Kind], str] | None) -> list[str]:
    """Return a character for each kind of cell, all different."""
    taken: dict[str, int] = {}
    spare = filter(_is_plain, _spare())
    # Plain kinds have the first choice, so that a glyph stands for the terrain alone.
    for index in sorted(range(len(kinds)), key=lambda i: len(kinds[i])):
        wanted = [kinds[index][0][:1].upper()]
        if glyph is not None and len(kinds[index]) == 1:
            wanted.insert(0, glyph(kinds[index]))
        choice = itertools.chain(filter(_is_plain, wanted), spare)
        character = next((char for char in choice if char not in taken), None)
        if character is None:
            raise MapError(f"the board has {len(kinds):,} kinds of cells, more than characters")
        taken[character] = index
    return sorted(taken, key=lambda character: taken[character])


def _spare() -> Iterator[str]:
    yield from _ASCII
    yield from map(chr, range(0xC0, 0xD800))
    yield from map(chr, range(0x10000, 0x30000))


def _is_plain(character: str) -> bool:
    if len(character) != 1 or character in "\"'\\":
        return False
    return (
        character in _ASCII
        or character.isalpha()
        or (character.isprintable() and not character.isspace() and ord(character) < 0x2800)
    )


_ESCAPES = {
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    """Return a value as TOML, on one line."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise MapError(f"the text {value!r} is no Unicode text and cannot be written")
        return '"' + "".join(map(_escaped, value)) + '"'
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
        return repr(number)
    if isinstance(value, Mapping):
        pairs = (f"{_key(str(key))} = {_toml(item)}" for key, item in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, (Sequence, np.ndarray)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    raise MapError(f"{_value(value)}, a {type(value).__name__}, cannot be written to a board file")


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if ord(character) < 0x20 or ord(character) == 0x7F:
        return f"\\u{ord(character):04X}"
    return character

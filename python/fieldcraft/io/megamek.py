"""Boards of MegaMek: ``.board`` (hexagons with flat tops, a level for each).

What is read
------------
Size, and for each hex its level and its terrain; everything else in a file (options, tags,
descriptions, themes, backgrounds, comments) is skipped. The hexes fill the board row by row in the
order of the file, as in the game; the number of a hex is compared with its place and nothing
more. A board file ends with ``end``: without it, it is taken to be cut off. The lattice is
``odd-q``.

What it becomes
---------------
``megamek.toml``, beside this module, says what each terrain becomes under a rule system;
``mapping=`` takes another such table. The choices made there for ``hexwild``:

* Woods 1, 2, 3 are light forest, heavy forest and ancient trees; jungle is the same with bushes as
  undergrowth. Planted fields are light bushes.
* Water of depth 0 is a ford, gravel; deeper water is ``deep_water``, closed to walkers, as it is to
  infantry in the game. Ice and bridges hide the water below them. What else closes a hex without
  hiding anything (liquid magma, impassable hexes) is ``deep_water`` too.
* Buildings and fuel tanks are ``building``, closed and opaque.
* Rough ground is stones or sharp rocks, rubble gravel to sharp rocks, sand gravel; mud and swamp
  are mud. Smoke is fog of one or two points; heavy industry is stones under a fog of one point.
* Snow, ice and tundra are the state of the ground, which the rules keep as a parameter; roads and
  pavement are open ground, as far as nothing else stands there; fire is no terrain.

The elevation of a cell is its top: its level, with what a building or a bridge adds. One level is
one unit of elevation (``level_metres = 1.0``), so the numbers of the file are kept. In the game a
level is 6 m and a hex 30 m across, twenty times a hex of ``hexwild``: who plays at that scale sets
``level_metres = 6.0`` in a table of their own.
"""

from __future__ import annotations

import functools
import importlib.resources
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fieldcraft.errors import ArgumentTypeError, MapError, RulesError, nearest
from fieldcraft.io._text import (
    MAX_BYTES,
    as_path,
    named,
    read_text,
    shown,
    table_for,
    warn,
    where,
)
from fieldcraft.lattice import Lattice
from fieldcraft.terrain import Kind, Terrain

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.rules import Rules

__all__ = ["MappingTable", "mapping_for", "parse_board", "read"]

_BOARD = "a MegaMek board"
_SKIPPED = ("option", "tag", "description", "note", "background")
_KEYWORDS = ("size", "hex", "end", *_SKIPPED)
_TOKEN = re.compile(r'"(?P<text>[^"]*)"|(?P<comment>#.*)|(?P<word>[^\s"#]+)|(?P<odd>")')
_LEAST_HEX_LINE = len('hex 0101 0 ""\n')

Item = tuple[str, int]
"""A terrain name and its number."""


# -- the mapping table ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MappingTable:
    """What the terrain of MegaMek becomes under one rule system; see ``megamek.toml``."""

    ground: str
    level_metres: float
    unknown: str
    base: tuple[str, ...]
    heights: frozenset[str]
    hides: Mapping[str, frozenset[str]]
    terrain: Mapping[str, Mapping[int | None, Kind]]

    def ids(self, name: str, number: int) -> Kind:
        """Return the terrain ids that one terrain becomes.

        Raises
        ------
        MapError
            If the table does not list the name, or the number.
        """
        numbers = self.terrain.get(name)
        if numbers is None:
            if self.unknown == "ignore":
                return ()
            raise MapError(
                f"unknown terrain {shown(name)}{nearest(name, self.terrain)}; "
                f"a mapping table with unknown = 'ignore' leaves such terrain out"
            )
        if number in numbers:
            return numbers[number]
        if None in numbers:
            return numbers[None]
        if self.unknown == "ignore":
            return ()
        listed = ", ".join(str(key) for key in numbers)
        raise MapError(f"terrain {name!r} has the unknown number {number}; expected {listed}")

    def kind(self, items: Sequence[Item]) -> Kind:
        """Return what a hex holds: base first, then overlays."""
        hidden = {under for name, _ in items for under in self.hides.get(name, ())}
        ids = dict.fromkeys(
            id_ for name, number in items if name not in hidden for id_ in self.ids(name, number)
        )
        bases = [id_ for id_ in self.base if id_ in ids]
        overlays = [id_ for id_ in ids if id_ not in self.base]
        return (*(bases or [self.ground]), *overlays)

    def height(self, items: Sequence[Item]) -> int:
        """Return how many levels what stands on the hex adds to it."""
        return sum(number for name, number in items if name in self.heights)


@functools.cache
def _builtin() -> dict[str, Any]:
    file = importlib.resources.files("fieldcraft.io").joinpath("megamek.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def mapping_for(
    system: Rules, mapping: Mapping[str, Any] | str | os.PathLike[str] | None = None
) -> MappingTable:
    """Return the mapping table to use under a rule system.

    Parameters
    ----------
    system : Rules
    mapping : mapping, str or path-like, optional
        A table in the shape of one section of ``megamek.toml``, or a TOML file with one.
        ``extends = "hexwild"`` begins with that section and changes only what is given.

    Returns
    -------
    MappingTable

    Raises
    ------
    RulesError
        If the table is malformed, with the key and what was expected.
    MapError
        If there is no table for the system and none was given, or the file cannot be read.
    """
    if mapping is None:
        section = table_for(system, _builtin())
        if section is None:
            raise MapError(
                f"there is no table of what the terrain of {_BOARD} is in {system.name!r}; "
                f"there is one for {', '.join(_builtin())}; give mapping=, a table or a TOML file"
            )
        return _mapping_table(section, "megamek.toml")
    if isinstance(mapping, Mapping):
        return _mapping_table(mapping, "mapping")
    if not isinstance(mapping, (str, os.PathLike)):
        raise ArgumentTypeError(
            f"mapping must be a table or the path of a TOML file, not {type(mapping).__name__}"
        )
    text = read_text(mapping, "a mapping table in TOML")
    try:
        given = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{where(mapping)}: is no TOML: {error}") from None
    return _mapping_table(given, where(mapping))


_KEYS = ("extends", "ground", "level_metres", "unknown", "base", "heights", "hides", "terrain")


def _mapping_table(given: Mapping[str, Any], source: str) -> MappingTable:
    """Check a mapping table, given as data."""

    def fault(key: str, what: str) -> RulesError:
        return RulesError(f"{source}: {key}: {what}")

    for key in given:
        if key not in _KEYS:
            raise fault(str(key), f"unknown key{nearest(str(key), _KEYS)}")
    table = dict(given)
    if "extends" in table:
        name = table.pop("extends")
        if not isinstance(name, str) or name not in _builtin():
            listed = ", ".join(_builtin())
            raise fault("extends", f"unknown section {name!r}; expected {listed}")
        section = _builtin()[name]
        for key in ("hides", "terrain"):
            if not isinstance(table.get(key, {}), Mapping):
                raise fault(key, f"expected a table, not {table[key]!r}")
            table[key] = {**section[key], **table.get(key, {})}
        table = {**section, **table}
    if "ground" not in table or "terrain" not in table:
        key = "terrain" if "ground" in table else "ground"
        raise fault(key, "is missing; extends = 'hexwild' would take it from there")

    ground = table["ground"]
    if not isinstance(ground, str) or not ground:
        raise fault("ground", f"expected a terrain id, not {ground!r}")
    level = table.get("level_metres", 1.0)
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1e6:
        raise fault("level_metres", f"expected a number above 0, not {level!r}")
    unknown = table.get("unknown", "error")
    if unknown not in ("error", "ignore"):
        raise fault("unknown", f"expected 'error' or 'ignore', not {unknown!r}")

    def names(key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise fault(key, f"expected a list of names, not {value!r}")
        if not all(isinstance(item, str) and item for item in value):
            raise fault(key, f"expected a list of names, not {value!r}")
        return tuple(value)

    def tables(key: str) -> Mapping[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, Mapping):
            raise fault(key, f"expected a table, not {value!r}")
        return value

    def ids(key: str, value: Any) -> Kind:
        return names(key, [value] if isinstance(value, str) else value)

    terrain: dict[str, dict[int | None, Kind]] = {}
    for name, entry in tables("terrain").items():
        key = f"terrain.{name}"
        if not isinstance(entry, Mapping):
            terrain[name] = {None: ids(key, entry)}
            continue
        terrain[name] = {}
        for number, value in entry.items():
            if number != "other" and not re.fullmatch(r"-?[0-9]{1,6}", str(number)):
                raise fault(key, f"expected a number or 'other', not {number!r}")
            index = None if number == "other" else int(number)
            terrain[name][index] = ids(f"{key}.{number}", value)
    return MappingTable(
        ground=ground,
        level_metres=float(level),
        unknown=unknown,
        base=names("base", table.get("base", ())),
        heights=frozenset(names("heights", table.get("heights", ()))),
        hides={k: frozenset(names(f"hides.{k}", v)) for k, v in tables("hides").items()},
        terrain=terrain,
    )


# -- boards -----------------------------------------------------------------------------------


def read(
    path: str | os.PathLike[str],
    *,
    rules: Rules | str | Path | None = None,
    mapping: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Board:
    """Return the board in a MegaMek ``.board`` file.

    Parameters
    ----------
    path : str or path-like
    rules : Rules, str or Path, optional, keyword-only
        ``hexwild`` where absent.
    mapping : mapping, str or path-like, optional, keyword-only
        What the terrain of the file becomes, in place of the table for the rule system: a table
        in the shape of a section of ``megamek.toml``, or the path of a TOML file with one.
    max_bytes : int, keyword-only
        A larger file is refused before it is read.

    Returns
    -------
    Board
        On the ``"odd-q"`` lattice, with an elevation.

    Raises
    ------
    MapError
        If the file is no such board, with the line and what was expected there.
    RulesError
        If the mapping table is malformed.

    Warns
    -----
    FieldcraftWarning
        If the numbers of hexes do not fit their places in the file; the places count.
    """
    from fieldcraft.board import Board
    from fieldcraft.rules import resolve

    system = resolve("hexwild" if rules is None else rules)
    table = mapping_for(system, mapping)
    file = as_path(path)
    text = read_text(file, _BOARD, max_bytes=max_bytes, fallback="latin-1")
    terrain = parse_board(text, table, source=where(file))
    with named(where(file)):
        return Board.from_terrain(terrain, rules=system, name=file.stem)


def parse_board(text: str, table: MappingTable, *, source: str = "<text>") -> Terrain:
    """Return the terrain that the text of a MegaMek board describes.

    Parameters
    ----------
    text : str
    table : MappingTable
        What the terrain becomes.
    source : str, keyword-only
        The name that messages give to the text.

    Returns
    -------
    Terrain

    Raises
    ------
    MapError
        If the text is malformed, with the line and what was expected there.
    """
    size: tuple[int, int] | None = None
    levels: list[int] = []
    codes: list[int] = []
    kinds: dict[Kind, int] = {}
    seen: dict[str, tuple[int, int]] = {}
    misplaced: list[tuple[int, str]] = []
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        place = functools.partial(where, source, number)
        words = _words(line, place)
        if not words:
            continue
        keyword = words[0].lower()
        if keyword == "hex":
            if size is None:
                raise MapError(f"{place()}: a 'hex' line comes before the 'size' line")
            height, width = size
            if len(codes) == height * width:
                raise MapError(
                    f"{place()}: one hex too many: size {width} {height} has {height * width} hexes"
                )
            name, level, terrain = _hex(words, place)
            if terrain not in seen:
                try:
                    items = _items(terrain)
                    kind = table.kind(items)
                except MapError as error:
                    raise MapError(f"{place()}: hex {name}: {error}") from None
                if len(kinds) == np.iinfo(np.uint16).max and kind not in kinds:
                    raise MapError(f"{place()}: more than 65,535 different kinds of hexes")
                seen[terrain] = (kinds.setdefault(kind, len(kinds)), table.height(items))
            code, added = seen[terrain]
            row, col = divmod(len(codes), width)
            if not _numbered(name, row, col):
                misplaced.append((number, name))
            codes.append(code)
            levels.append(level + added)
        elif keyword == "size":
            if size is not None:
                raise MapError(f"{place()}: 'size' is given a second time")
            size = _size(words, place, len(text))
        elif keyword == "end":
            break
        elif keyword not in _SKIPPED:
            raise MapError(
                f"{place()}: unknown keyword {shown(words[0])}{nearest(keyword, _KEYWORDS)}; "
                f"expected one of {', '.join(_KEYWORDS)} of {_BOARD}"
            )
    else:
        last = where(source, text.rstrip("\n").count("\n") + 1)
        raise MapError(f"{last}: the file ends without 'end'; is {_BOARD} cut off?")
    if size is None:
        raise MapError(f"{where(source, number)}: {_BOARD} ends without a 'size' line")
    height, width = size
    if len(codes) < height * width:
        raise MapError(
            f"{where(source, number)}: 'end' comes after {len(codes)} hexes; size {width} {height} "
            f"has {height * width}"
        )
    if misplaced:
        _warn(misplaced, source)
    return Terrain(
        Lattice("odd-q"),
        np.array(codes, dtype=np.uint16).reshape(size),
        tuple(kinds),
        np.array(levels, dtype=np.float64).reshape(size) * table.level_metres,
    )


def _words(line: str, place: functools.partial[str]) -> list[str]:
    """Split a line at blanks; quotes keep text together and a ``#`` outside them ends the line."""
    words = []
    for token in _TOKEN.finditer(line):
        if token["comment"] is not None:
            break
        if token["odd"] is not None:
            raise MapError(f"{place()}: a quotation mark is not closed: {shown(line)}")
        words.append(token["word"] if token["word"] is not None else token["text"])
    return words


def _size(words: list[str], place: functools.partial[str], n_characters: int) -> tuple[int, int]:
    """Return height and width; the file gives the width first."""
    if len(words) != 3 or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words[1:]):
        raise MapError(
            f"{place()}: expected 'size' with width and height in whole numbers, "
            f"not {shown(' '.join(words))}"
        )
    width, height = int(words[1]), int(words[2])
    if width == 0 or height == 0:
        raise MapError(f"{place()}: an empty map: size {width} {height}")
    if width * height * _LEAST_HEX_LINE > n_characters:
        raise MapError(
            f"{place()}: size {width} {height} claims {width * height:,} hexes, but the file holds "
            f"only {n_characters:,} characters; is it cut off?"
        )
    return height, width


def _hex(words: list[str], place: functools.partial[str]) -> tuple[str, int, str]:
    """Return number, level and terrain of a hex line."""
    if not 4 <= len(words) <= 5:
        raise MapError(
            f"{place()}: expected 'hex' with number, level, terrain and theme, "
            f"not {shown(' '.join(words))}"
        )
    if not re.fullmatch(r"[0-9]{4,6}", words[1]):
        raise MapError(
            f"{place()}: the number of a hex has four to six digits, not {shown(words[1])}"
        )
    if not re.fullmatch(r"[+-]?[0-9]{1,6}", words[2]):
        raise MapError(
            f"{place()}: the level of hex {words[1]} must be a whole number, not {shown(words[2])}"
        )
    return words[1], int(words[2]), words[3]


def _numbered(number: str, row: int, col: int) -> bool:
    """Return whether some reading of a hex number is that place: column first, both from 1."""
    return any(
        int(number[:split]) == col + 1 and int(number[split:]) == row + 1
        for split in (2, 3)
        if 2 <= len(number) - split <= 3
    )


def _items(terrain: str) -> list[Item]:
    """Return the names and numbers in a terrain string; of a name given twice the last counts."""
    items: dict[str, int] = {}
    for part in terrain.split(";"):
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*([^:\s]+):(-?[0-9]{1,6})(:[0-9]{1,6})?\s*", part)
        if match is None:
            raise MapError(
                f"terrain {shown(part)} is not understood; expected name:level or name:level:exits"
            )
        items.pop(match[1], None)
        items[match[1]] = int(match[2])
    return list(items.items())


def _warn(misplaced: list[tuple[int, str]], source: str) -> None:
    line, number = misplaced[0]
    warn(
        f"{where(source, line)}: hex {number} is not at the place that its number says, the first "
        f"of {len(misplaced)}; as in the game, hexes fill the board row by row in file order"
    )

"""Maps and scenarios of the MovingAI benchmarks: ``.map`` and ``.scen`` (square grids).

Maps
----
``type octile`` maps give one letter a cell. Under the ``octile`` rules of the benchmark ``.`` and
``G`` are ``ground``, ``S`` is ``swamp``, ``W`` is ``water``, ``T`` is ``trees``, ``@`` and ``O``
are ``out_of_bounds``. Under ``pathfinder``, ``srd5`` and ``skirmish`` ground is ``open``, swamp
``difficult``, trees and what lies out of bounds are ``wall``, and water is ``water`` or
``deep_water``. Another system needs ``mapping=``, a table from the letter to a terrain id (or to a
list: base first, then overlays), which may also replace letters of the tables here.

``type octile-corner`` maps (the older form of some) give the height of every corner as a digit,
2 standing for the plain ground, then a letter for every corner, of which those in the last row
and column mean nothing. So H lines of W corners make (H - 1) x (W - 1) cells. The elevation of a
cell is the mean of its four corners, which is where its middle lies: on a ramp a creature stands
half-way up. A small letter marks a ramp or a cliff; it is the same terrain as the capital.

Scenarios
---------
A row says what the shortest way from one cell to another costs, with straight steps of 1 and
diagonal steps of the square root of 2, as printed by the program that made the file. How exact
that is depends on the file, so it is read off the digits of all its rows. Fixed decimals are good
to half of the last one; at eight decimals the root that was used, 1.414213562, adds up to 3e-10
of the length. Else there are the six significant digits of C's ``%g``, good to half of the sixth;
the root was that of single precision there, 2.4e-8 too small, and adds up to 2e-8 of the length
(which shows in the few rows that lie next to the middle between two such numbers).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, MapError, RulesError
from fieldcraft.io._text import (
    MAX_BYTES,
    as_path,
    code_points,
    named,
    read_text,
    shown,
    table_for,
    where,
)
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.terrain import Kind, Terrain

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.rules import Rules

__all__ = ["Scenario", "ScenarioRow", "parse_map", "parse_scenario", "read", "read_scenario"]

_ON_SQUARES = {
    ".": "open",
    "G": "open",
    "S": "difficult",
    "W": "water",
    "T": "wall",
    "@": "wall",
    "O": "wall",
}
LETTERS: dict[str, dict[str, str]] = {
    "octile": {
        ".": "ground",
        "G": "ground",
        "S": "swamp",
        "W": "water",
        "T": "trees",
        "@": "out_of_bounds",
        "O": "out_of_bounds",
    },
    "pathfinder": _ON_SQUARES,
    "srd5": _ON_SQUARES,
    "skirmish": _ON_SQUARES | {"W": "deep_water"},
}
"""For each rule system: what the letters of a map stand for."""

_MAP = "a MovingAI map"
_SCENARIO = "a MovingAI scenario"
_HEADER = ("type", "height", "width")
_TYPES = ("octile", "octile-corner")
_PLAIN = 2  # the corner height of plain ground


# -- maps -------------------------------------------------------------------------------------


def read(
    path: str | os.PathLike[str],
    *,
    rules: Rules | str | Path | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Board:
    """Return the board in a MovingAI ``.map`` file.

    Parameters
    ----------
    path : str or path-like
    rules : Rules, str or Path, optional, keyword-only
        The plain ``octile`` rules of the benchmark where absent.
    mapping : mapping from str to str or sequence of str, optional, keyword-only
        What letters stand for, in place of or beside the table of the rule system.
    max_bytes : int, keyword-only
        A larger file is refused before it is read.

    Returns
    -------
    Board
        On the ``"square"`` lattice; with an elevation where the file gives corner heights.

    Raises
    ------
    MapError
        If the file is no such map, with the line and what was expected there; or if there is no
        table of letters for the rule system.
    """
    from fieldcraft.board import Board
    from fieldcraft.rules import resolve

    system = resolve("octile" if rules is None else rules)
    file = as_path(path)
    text = read_text(file, _MAP, max_bytes=max_bytes)
    terrain = parse_map(text, letters_for(system, mapping), source=where(file))
    with named(where(file)):
        return Board.from_terrain(terrain, rules=system, name=file.stem)


def letters_for(
    system: Rules, mapping: Mapping[str, str | Sequence[str]] | None = None
) -> dict[str, Kind]:
    """Return what each letter stands for under a rule system, with the changes of a user."""
    known = table_for(system, LETTERS)
    if known is None and mapping is None:
        raise MapError(
            f"there is no table of what the letters of {_MAP} are in {system.name!r}; "
            f"there are some for {', '.join(LETTERS)}; give mapping=, from letter to terrain id"
        )
    letters: dict[str, Kind] = {letter: (id_,) for letter, id_ in (known or {}).items()}
    if mapping is not None:
        if not isinstance(mapping, Mapping):
            raise ArgumentTypeError(
                f"mapping must go from letter to terrain id, not {type(mapping).__name__}"
            )
        for letter, ids in mapping.items():
            kind = tuple(ids) if isinstance(ids, (list, tuple)) else (ids,)
            if not isinstance(letter, str) or len(letter) != 1:
                raise RulesError(f"mapping: {letter!r} is not one character")
            if not kind or not all(isinstance(id_, str) and id_ for id_ in kind):
                raise RulesError(f"mapping: {letter!r} must become a terrain id, not {ids!r}")
            letters[letter] = kind
    return letters


def parse_map(text: str, letters: Mapping[str, Kind], *, source: str = "<text>") -> Terrain:
    """Return the terrain that the text of a MovingAI map describes.

    Parameters
    ----------
    text : str
    letters : mapping from str to tuple of str
        What each letter stands for: base terrain id, then overlays.
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
    lines = text.split("\n")
    while lines and not lines[-1].strip("" if " " in letters else None):
        lines.pop()
    form, height, width, first = _header(lines, source)
    if height * width > len(text):
        raise MapError(
            f"{where(source)}: claims {height} x {width} cells, but holds only {len(text):,} "
            f"characters"
        )
    if form == "octile":
        _need_rows(lines, first, height, f"rows for height {height}", source)
        codes = _letters(lines[first:], width, first, source)
        return _terrain(codes, letters, first, source)
    if height < 2 or width < 2:
        raise MapError(
            f"{where(source)}: {height} x {width} corners make an empty map; expected 2 x 2 or more"
        )
    what = f"rows: {height} of corner heights, then {height} of letters"
    _need_rows(lines, first, 2 * height, what, source)
    digits = _letters(lines[first : first + height], width, first, source)
    _refuse(digits, set("0123456789"), first, "a corner height, a digit", source)
    corners = digits.astype(np.float64) - (ord("0") + _PLAIN)
    elevation = (corners[:-1, :-1] + corners[:-1, 1:] + corners[1:, :-1] + corners[1:, 1:]) / 4.0
    # The letters of the last row and column mean nothing, but must be letters nevertheless.
    start = first + height
    codes = _letters(lines[start:], width, start, source)
    both_cases = {letter.lower(): kind for letter, kind in letters.items()} | dict(letters)
    _refuse(codes, set(both_cases), start, _expected(both_cases), source)
    return _terrain(codes[:-1, :-1], both_cases, start, source, elevation)


def _header(lines: list[str], source: str) -> tuple[str, int, int, int]:
    """Return type, height, width and the index of the first row."""
    values: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words == ["map"]:
            for key in _HEADER:
                if key not in values:
                    raise MapError(
                        f"{where(source, number)}: the header of {_MAP} has no {key!r} line; "
                        f"expected type, height and width before 'map'"
                    )
            height, width = (_whole(*values[key], key, source) for key in ("height", "width"))
            return values["type"][1], height, width, number
        if len(words) != 2 or words[0] not in _HEADER:
            raise MapError(
                f"{where(source, number)}: {shown(line)} is no header line of {_MAP}; "
                f"expected 'type octile', 'height' and 'width' with a number, then 'map'"
            )
        if words[0] in values:
            raise MapError(f"{where(source, number)}: {words[0]!r} is given a second time")
        values[words[0]] = (number, words[1])
        if words[0] == "type" and words[1] not in _TYPES:
            raise MapError(
                f"{where(source, number)}: unknown type {shown(words[1])}; "
                f"expected {' or '.join(_TYPES)}"
            )
    raise MapError(
        f"{where(source, len(lines))}: the file ends before the 'map' line; expected {_MAP}"
    )


def _whole(line: int, digits: str, key: str, source: str) -> int:
    """Return a number of the header, which must be above 0."""
    if not re.fullmatch(r"[0-9]{1,9}", digits):
        raise MapError(f"{where(source, line)}: {key} must be a whole number, not {shown(digits)}")
    if int(digits) == 0:
        raise MapError(f"{where(source, line)}: an empty map: {key} is 0")
    return int(digits)


def _need_rows(lines: list[str], first: int, n_rows: int, what: str, source: str) -> None:
    found = len(lines) - first
    if found < n_rows:
        raise MapError(
            f"{where(source, len(lines))}: the file ends after {found} of {n_rows} {what}"
        )
    if found > n_rows:
        raise MapError(
            f"{where(source, first + n_rows + 1)}: one row too many; expected {n_rows} {what}"
        )


def _letters(lines: list[str], width: int, first: int, source: str) -> npt.NDArray[np.uint32]:
    """Return the code points of the rows, after checking their length."""
    for index, line in enumerate(lines):
        if len(line) != width:
            raise MapError(
                f"{where(source, first + index + 1)}: the row has {len(line)} characters, "
                f"expected width {width}"
            )
    return code_points(lines)


def _refuse(
    points: npt.NDArray[np.uint32], known: set[str], first: int, expected: str, source: str
) -> None:
    """Raise for the first character, in reading order, that is not known."""
    odd = [point for point in np.unique(points) if chr(point) not in known]
    if odd:
        row, col = np.argwhere(np.isin(points, odd))[0]
        raise MapError(
            f"{where(source, first + int(row) + 1)}: unknown character "
            f"{chr(points[row, col])!r} in column {int(col)}; expected {expected}"
        )


def _expected(letters: Mapping[str, Kind]) -> str:
    return f"one of {' '.join(letters)}"


def _terrain(
    points: npt.NDArray[np.uint32],
    letters: Mapping[str, Kind],
    first: int,
    source: str,
    elevation: npt.NDArray[np.float64] | None = None,
) -> Terrain:
    _refuse(points, set(letters), first, _expected(letters), source)
    present, inverse = np.unique(points, return_inverse=True)
    kinds = list(dict.fromkeys(letters[chr(point)] for point in present))
    code = np.array([kinds.index(letters[chr(point)]) for point in present], dtype=np.uint16)
    codes = code[inverse].reshape(points.shape)
    if elevation is None:
        return Terrain(Lattice("square"), codes, tuple(kinds))
    return Terrain(Lattice("square"), codes, tuple(kinds), elevation)


# -- scenarios --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """One row of a scenario: a start, a goal, and the published length of a shortest way.

    Parameters
    ----------
    line : int
        Line of the file, from 1.
    bucket : int
    map_name : str
        As printed: often a path that does not exist here.
    width, height : int
        Of the map the row is meant for.
    start, goal : tuple of int
        ``(row, col)``; the file has x before y.
    printed : str
        The published length, as printed.
    length : float
        The same as a number.
    tolerance : float
        How far a correct length may be from the printed one.
    """

    line: int
    bucket: int
    map_name: str
    width: int
    height: int
    start: Cell
    goal: Cell
    printed: str
    length: float
    tolerance: float

    def matches(self, length: float) -> bool:
        """Return whether a length equals the published one, at the precision of the file."""
        return abs(length - self.length) <= self.tolerance


@dataclass(frozen=True, slots=True)
class Scenario:
    """The rows of a ``.scen`` file.

    Parameters
    ----------
    source : str
        The file, as messages name it.
    rows : tuple of ScenarioRow
    """

    source: str
    rows: tuple[ScenarioRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ScenarioRow]:
        return iter(self.rows)

    def check(self, board: Board | Terrain) -> None:
        """Raise MapError unless every row is meant for a map of the board's shape."""
        height, width = board.shape
        for row in self.rows:
            if (row.height, row.width) != (height, width):
                raise MapError(
                    f"{where(self.source, row.line)}: the row is meant for a map of height "
                    f"{row.height} and width {row.width} ({shown(row.map_name)}); the map given "
                    f"has height {height} and width {width}"
                )


def read_scenario(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Scenario:
    """Return the rows of a MovingAI ``.scen`` file.

    Parameters
    ----------
    path : str or path-like
    max_bytes : int, keyword-only
        A larger file is refused before it is read.

    Returns
    -------
    Scenario

    Raises
    ------
    MapError
        If the file is no such scenario, with the line and what was expected there.
    """
    file = as_path(path)
    return parse_scenario(read_text(file, _SCENARIO, max_bytes=max_bytes), source=where(file))


def parse_scenario(text: str, *, source: str = "<text>") -> Scenario:
    """Return the rows that the text of a MovingAI scenario holds; see `read_scenario`."""
    lines = text.split("\n")
    version = lines[0].split()
    if len(version) != 2 or version[0] != "version" or version[1] not in ("1", "1.0"):
        raise MapError(
            f"{where(source, 1)}: {shown(lines[0])} does not begin {_SCENARIO}; "
            f"expected 'version 1' or 'version 1.0'"
        )
    fields = [
        (number, _fields(line, number, source))
        for number, line in enumerate(lines[1:], start=2)
        if line.strip()
    ]
    if not fields:
        raise MapError(f"{where(source, 1)}: the file ends before the first row of {_SCENARIO}")
    printed = [row[-1] for _, row in fields]
    decimals = _fixed_decimals(printed, fixed=version[1] == "1.0")
    rows = []
    for number, row in fields:
        bucket, width, height, *ends = (int(row[i]) for i in (0, 2, 3, 4, 5, 6, 7))
        start, goal = (ends[1], ends[0]), (ends[3], ends[2])
        for what, cell in (("start", start), ("goal", goal)):
            if not (cell[0] < height and cell[1] < width):
                raise MapError(
                    f"{where(source, number)}: {what} x {cell[1]}, y {cell[0]} lies outside the "
                    f"map of width {width} and height {height} that the row names"
                )
        length = float(row[8])
        tolerance = _tolerance(length, decimals)
        rows.append(
            ScenarioRow(
                number, bucket, row[1], width, height, start, goal, row[8], length, tolerance
            )
        )
    return Scenario(source, tuple(rows))


_COLUMNS = (
    "bucket",
    "map name",
    "map width",
    "map height",
    "start x",
    "start y",
    "goal x",
    "goal y",
    "optimal length",
)
_LENGTH = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?(e[+-]?[0-9]{1,2})?", re.IGNORECASE)


def _fields(line: str, number: int, source: str) -> list[str]:
    """Return the nine fields of a row, which tabs or blanks separate."""
    fields = [field.strip() for field in line.split("\t")] if "\t" in line else []
    if len(fields) != len(_COLUMNS):
        # Blanks separate; the map name may have some of its own.
        ends = line.rsplit(None, 7)
        fields = ends[0].split(None, 1) + ends[1:]
    if len(fields) != len(_COLUMNS):
        raise MapError(
            f"{where(source, number)}: the row has {len(line.split())} fields, expected "
            f"{len(_COLUMNS)}: {', '.join(_COLUMNS)}"
        )
    for column, field in zip(_COLUMNS, fields, strict=True):
        if column == "map name":
            continue
        if column == "optimal length":
            if not _LENGTH.fullmatch(field) or not math.isfinite(float(field)):
                raise MapError(
                    f"{where(source, number)}: {column} must be a number, not {shown(field)}"
                )
        elif not re.fullmatch(r"[0-9]{1,9}", field):
            raise MapError(
                f"{where(source, number)}: {column} must be a whole number, not {shown(field)}"
            )
    return fields


def _fixed_decimals(printed: list[str], *, fixed: bool) -> int | None:
    """Return with how many decimals all lengths were printed, or None for six digits of ``%g``.

    ``%g`` drops the zeros at the end and never shows more than six digits: a file that does
    either was printed with fixed decimals.
    """
    decimals = 0
    for text in printed:
        digits, _, exponent = text.lower().partition("e")
        whole, _, fraction = digits.partition(".")
        decimals = max(decimals, len(fraction))
        significant = len((whole + fraction).lstrip("0"))
        fixed = fixed or (
            not exponent and bool(fraction) and (fraction.endswith("0") or significant > 6)
        )
    return decimals if fixed and decimals > 0 else None


def _tolerance(length: float, decimals: int | None) -> float:
    if decimals is None:
        exponent = math.floor(math.log10(length)) if length > 0 else 0
        return float(0.5 * 10.0 ** (exponent - 5) + 2e-8 * length)
    short_root = 3e-10 * length if decimals >= 8 else 0.0
    return float(0.5 * 10.0**-decimals + short_root)

"""Rows of a file that are no encounters: what is wrong with each, and the row itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from fieldcraft.errors import MapError
from fieldcraft.io._text import as_path, where

__all__ = ["Fault", "Reject", "as_json", "read_rejects", "write_rejects"]

LONGEST = 60
"""So many characters of a value are shown."""


class Fault(NamedTuple):
    """One thing that is wrong with a row.

    Attributes
    ----------
    field : str
        Where: ``"ground"``, ``"tokens[3].cell"``, counted from 0; empty for the row as a whole.
    message : str
        What was expected, and what was given.
    given : value
        What was given, as far as JSON can say it; a long value is cut.
    """

    field: str
    message: str
    given: Any = None

    def __str__(self) -> str:
        """Return, for example, ``tokens[3].cell: expected ..., not ...``."""
        return f"{self.field}: {self.message}" if self.field else self.message


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that is set aside, with all its faults.

    Parameters
    ----------
    file : str
    row : int
        Its number among the rows of the file, from 0: `Encounters.number` of an encounter.
    faults : tuple of Fault
        At least one.
    original : str
        The row: a line of JSON Lines as it stands in the file; of a Parquet file as such a line.
    line : int or None
        In JSON Lines the number of its line, from 1.
    """

    file: str
    row: int
    faults: tuple[Fault, ...]
    original: str = ""
    line: int | None = None

    @property
    def field(self) -> str:
        """Where its first fault is."""
        return self.faults[0].field

    @property
    def message(self) -> str:
        """What its first fault is."""
        return self.faults[0].message

    @property
    def given(self) -> Any:
        """What its first fault was given."""
        return self.faults[0].given

    def __str__(self) -> str:
        """Return file, row and all faults, on one line."""
        faults = "; ".join(map(str, self.faults))
        place = f"{where(self.file, self.line)}: " if self.file else ""
        return f"{place}row {self.row}: {faults}"

    def to_json(self) -> str:
        """Return the line that `write_rejects` writes."""
        entry = {
            "file": self.file,
            "row": self.row,
            "line": self.line,
            "faults": [fault._asdict() for fault in self.faults],
            "original": self.original,
        }
        return json.dumps(entry, allow_nan=False)


def write_rejects(rejects: Iterable[Reject], path: str | os.PathLike[str]) -> None:
    """Write rejects as JSON Lines, one a line.

    Raises
    ------
    MapError
        If the file cannot be written.
    """
    file = as_path(path)
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{reject.to_json()}\n" for reject in rejects)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MapError(f"{where(file)}: cannot be written ({reason})") from None


def read_rejects(path: str | os.PathLike[str]) -> list[Reject]:
    """Return the rejects in a file that `write_rejects` wrote.

    Raises
    ------
    MapError
        If it is no such file.
    """
    file = as_path(path)
    try:
        with open(file, encoding="utf-8") as stream:
            return rejects_of(stream, where(file))
    except OSError as error:
        raise MapError(f"{where(file)}: cannot be read ({error.strerror})") from None


def rejects_of(lines: Iterable[str], source: str) -> list[Reject]:
    """Return the rejects in lines that `write_rejects` wrote, or raise MapError."""
    found: list[Reject] = []
    try:
        for line in lines:
            entry = json.loads(line)
            faults = tuple(Fault(**fault) for fault in entry.pop("faults"))
            found.append(Reject(faults=faults, **entry))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise MapError(
            f"{where(source, len(found) + 1)}: is no file of rejects ({error})"
        ) from None
    return found


def as_json(value: Any) -> Any:
    """Return a value that is valid JSON and not long: itself, or the text that shows it."""
    if value is None or value is True or value is False:
        return value
    try:
        text = json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return shown(value)
    return value if len(text) <= 4 * LONGEST else shown(value)


def shown(value: Any) -> str:
    """Return a value as JSON shows it, cut to a length that fits a message."""
    try:
        text = json.dumps(value, default=repr)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."

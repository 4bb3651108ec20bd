"""A run: an analysis in parts, on disk, which may be finished or not."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fieldcraft import _version
from fieldcraft.encounters.folder import Folder, part_name
from fieldcraft.encounters.rejects import Reject, rejects_of
from fieldcraft.encounters.schema import VERSION, arrow, pairs_schema, tokens_schema
from fieldcraft.errors import RunError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset

__all__ = ["Analysis", "Run", "begin", "described", "open_run", "read_run", "record_of"]

RECORD = "run.json"
SCHEMAS = {"tokens": tokens_schema, "pairs": pairs_schema}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analysis tells, in memory.

    Attributes
    ----------
    tokens : pyarrow.Table
        One row a token.
    pairs : pyarrow.Table
        One row for each two different tokens of an encounter.
    rejects : tuple of Reject
        What was wrong with encounters that were set aside.
    missing : tuple of int
        Of a run the parts that were not finished.
    """

    tokens: pa.Table
    pairs: pa.Table
    rejects: tuple[Reject, ...] = ()
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """An analysis in a folder, part by part.

    Attributes
    ----------
    folder : str
        Its path or URL.
    n_encounters : int
        Rows of the input.
    n_parts : int
    finished : tuple of int
        The parts that are there.
    skipped : int
        How many of them were there before the call that returned this.
    """

    folder: str
    n_encounters: int
    n_parts: int
    finished: tuple[int, ...]
    skipped: int = 0

    @property
    def missing(self) -> tuple[int, ...]:
        """The parts that are not there yet."""
        there = set(self.finished)
        return tuple(part for part in range(self.n_parts) if part not in there)

    @property
    def is_complete(self) -> bool:
        """Whether all parts are there."""
        return len(self.finished) == self.n_parts

    def dataset(self, table: str) -> pa.dataset.Dataset:
        """Return the finished parts of a table, ``"tokens"`` or ``"pairs"``, not read yet.

        Raises
        ------
        RunError
            If there is no such table.
        """
        if table not in SCHEMAS:
            raise RunError(f"a run has the tables tokens and pairs, and not {table!r}")
        names = [part_name(table, part) for part in self.finished]
        return Folder(self.folder).open(names, SCHEMAS[table]())

    def tokens(self) -> pa.Table:
        """Return the table of tokens of all finished parts."""
        return _table(self.dataset("tokens"))

    def pairs(self) -> pa.Table:
        """Return the table of pairs of all finished parts."""
        return _table(self.dataset("pairs"))

    def rejects(self) -> list[Reject]:
        """Return what was set aside in the finished parts."""
        folder, there = Folder(self.folder), set(self.finished)
        parts = [part for part in folder.parts("rejects") if part in there]
        found: list[Reject] = []
        for name in (part_name("rejects", part) for part in parts):
            lines = (folder.get(name) or b"").decode(errors="replace").splitlines()
            found += rejects_of(lines, folder.name_of(name))
        return found

    def read(self) -> Analysis:
        """Return all finished parts in memory."""
        return Analysis(self.tokens(), self.pairs(), tuple(self.rejects()), self.missing)


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Return the run in a folder, whether or not it is complete.

    Parameters
    ----------
    folder : str or Path
        What was ``out`` of `analyse_to`: a path or a URL.

    Returns
    -------
    Run

    Raises
    ------
    RunError
        If there is none.
    """
    place = Folder(folder)
    record = record_of(place)
    if record is None:
        raise RunError(f"{place.name_of(RECORD)}: there is none; expected the folder of a run")
    return _run(place, record)


def read_run(folder: str | os.PathLike[str]) -> Analysis:
    """Return the tables of all finished parts of a run; parameters and errors as in `open_run`.

    Returns
    -------
    Analysis
        ``missing`` names the parts that are not finished.
    """
    return open_run(folder).read()


def begin(place: Folder, wanted: dict[str, Any], *, resume: bool) -> Run:
    """Return the run of a folder that is to be worked on: a new one, or one that goes on.

    Parameters
    ----------
    place : Folder
    wanted : dict
        What the run depends on, see `described`.
    resume : bool
        Whether a run that is there may go on.

    Raises
    ------
    RunError
        If the folder holds a run of something else, or one at all and none may go on.
    """
    found = record_of(place)
    if found is None:
        if place.parts("tokens"):
            raise RunError(
                f"{place.where}: has tables, but no {RECORD}; choose another folder, or remove them"
            )
    else:
        if not resume:
            raise RunError(
                f"{place.where}: holds a run already, and resume is False; choose another folder"
            )
        differences = list(_differences(found, wanted))
        if differences:
            raise RunError(
                f"{place.where}: holds another run, which cannot go on: {'; '.join(differences)}; "
                f"choose another folder, or remove this one"
            )
    place.clean()
    if found is None or found["on_error"] != wanted["on_error"]:
        place.put(RECORD, (json.dumps(wanted, indent=1, sort_keys=True) + "\n").encode())
    run = _run(place, wanted)
    return Run(run.folder, run.n_encounters, run.n_parts, run.finished, len(run.finished))


def described(
    source: dict[str, Any], boards: dict[str, Any], parts: Sequence[Any], size: int, on_error: str
) -> dict[str, Any]:
    """Return what a run depends on, as it stands in its record."""
    return {
        "fieldcraft": "run",
        "version": VERSION,
        "package": _version.__version__,
        "input": source,
        "boards": boards,
        "encounters": sum(part.n_rows for part in parts),
        "parts": len(parts),
        "part_size": size,
        "on_error": on_error,
    }


def _run(place: Folder, record: dict[str, Any]) -> Run:
    n_parts = int(record["parts"])
    finished = tuple(part for part in place.parts("tokens") if part < n_parts)
    return Run(place.where, int(record["encounters"]), n_parts, finished)


def record_of(place: Folder) -> dict[str, Any] | None:
    """Return the record of a run; None if there is none."""
    data = place.get(RECORD)
    if data is None:
        return None
    where = place.name_of(RECORD)
    try:
        record: dict[str, Any] = json.loads(data)
        kind, version = record["fieldcraft"], record["version"]
    except (ValueError, TypeError, KeyError):
        raise RunError(f"{where}: is not the record of a run") from None
    if kind != "run" or version != VERSION:
        raise RunError(
            f"{where}: is {kind!r} of version {version!r}; expected 'run' of version {VERSION}"
        )
    for name, usual in described({}, {}, (), 0, "").items():
        if not isinstance(record.get(name), type(usual)):
            raise RunError(f"{where}: {name} is {record.get(name)!r}; expected another type")
    return record


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return in words in what two runs differ."""
    said = []
    for name, what in (("package", "version of fieldcraft"), ("part_size", "part_size")):
        if found[name] != wanted[name]:
            said.append(f"its {what} is {found[name]}, not {wanted[name]}")
    for name, unit in (("bytes", "bytes"), ("sha256", "")):
        was, now = found["input"].get(name), wanted["input"].get(name)
        if was != now:
            shown = [
                f"{value:,} {unit}" if unit else f"{str(value)[:12]}..." for value in (was, now)
            ]
            said.append(f"its input is {shown[0]}, not {shown[1]} ({name})")
            break
    if found["boards"] != wanted["boards"]:
        said.append(_other_boards(found["boards"], wanted["boards"]))
    if found["on_error"] == "reject" != wanted["on_error"]:
        said.append("it has set bad rows aside, and on_error='raise' wants none")
    return said


def _other_boards(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Return in words in what two sets of boards differ."""
    was, now = found.get("each", {}), wanted["each"]
    names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    if not names or not was or not now:
        return "its boards are others"
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"its boards are others ({names[0]!r}{more})"


def _table(dataset: pa.dataset.Dataset) -> pa.Table:
    """Return a dataset in memory, the words of all parts numbered alike."""
    if not dataset.files:
        return arrow().Table.from_batches([], dataset.schema)
    return dataset.to_table().unify_dictionaries()

"""Files of encounters: Parquet and JSON Lines, whole or in parts that are cut by row.

Both forms begin with the same header (see `fieldcraft.encounters.header`): JSON Lines in its first
line, Parquet in its metadata, under the key ``fieldcraft``. ``docs/encounters.md`` describes them.
"""

from __future__ import annotations

import json
import operator
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.checking import board_faults
from fieldcraft.encounters.header import Header
from fieldcraft.encounters.model import Encounters
from fieldcraft.encounters.rejects import Fault, Reject
from fieldcraft.encounters.rows import Row, Rows, as_line, read_row
from fieldcraft.encounters.schema import arrow
from fieldcraft.encounters.tables import (
    check_schema,
    encounters_schema,
    read_batch,
    row_of,
    to_table,
)
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.io import boardfile
from fieldcraft.io._text import as_path, shown, where

__all__ = ["Contents", "Part", "boards_of", "parts", "read", "read_part", "write"]

SUFFIXES = (".parquet", ".jsonl")
KEY = b"fieldcraft"
"""Of the header in the metadata of a Parquet file."""
GROUP = 8192
"""So many rows are written as one row group."""
BATCH = 4096
"""So many rows of a Parquet file are held as a table at once."""
READ_AHEAD = 1 << 20
"""So many bytes of each column of a Parquet file."""
LONGEST_LINE = 1 << 20
LONGEST_HEADER = 64 << 20
_FILE = "a file of encounters, .parquet or .jsonl"


class Contents(NamedTuple):
    """What is in a file: the encounters, their boards, and the rows that are none."""

    encounters: Encounters
    boards: Boards
    rejects: list[Reject]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file: rows that follow each other. It may be pickled.

    Parameters
    ----------
    path : str
    number : int
        Among the parts, from 0.
    first_row, n_rows : int
    offset, line : int
        In JSON Lines where its first row begins, in bytes, and on which line, from 1.
    size : int
        Of the whole file, in bytes: another size is another file.
    """

    path: str
    number: int
    first_row: int
    n_rows: int
    offset: int
    line: int
    size: int


def read(
    path: str | os.PathLike[str],
    *,
    boards: Boards | Mapping[str, Any] | str | Path | None = None,
    on_error: Literal["reject", "raise"] = "reject",
) -> Contents:
    """Return all that is in a file of encounters.

    Parameters
    ----------
    path : str or path-like
        Ends in ``.parquet`` or ``.jsonl``.
    boards : Boards, mapping, str or Path, optional, keyword-only
        `Boards` in place of those of the header; a mapping whose boards come before those; or the
        folder below which the boards lie, if it is not that of the file.
    on_error : str, keyword-only
        ``"reject"`` sets rows aside that are no encounters, ``"raise"`` raises for the first.

    Returns
    -------
    Contents
        `encounters`, `boards` and `rejects`.

    Raises
    ------
    MapError
        If there is no such file, it cannot be read, or its header is malformed; with ``"raise"``
        also for a row.
    MissingExtraError
        For Parquet without pyarrow.
    """
    if on_error not in ("reject", "raise"):
        raise ArgumentTypeError(f"on_error must be 'reject' or 'raise', not {on_error!r}")
    known = boards_of(path, boards)
    (whole,) = parts(path, 1 << 62) or (None,)
    if whole is None:
        return Contents(Rows(_header(as_path(path)).profiles).encounters(), known, [])
    encounters, rejects = read_part(whole, boards=known)
    if rejects and on_error == "raise":
        raise MapError(str(rejects[0]))
    return Contents(encounters, known, rejects)


def boards_of(
    path: str | os.PathLike[str],
    boards: Boards | Mapping[str, Any] | str | Path | None = None,
) -> Boards:
    """Return the boards of a file of encounters; parameters as of `read`."""
    file = as_path(path)
    return _header(file).boards_in(file.parent, boards)


def parts(path: str | os.PathLike[str], size: int) -> list[Part]:
    """Cut a file into parts by its rows, without reading them.

    Parameters
    ----------
    path : str or path-like
    size : int
        How many rows a part has; the last may have fewer.

    Raises
    ------
    MapError
        If there is no such file, it cannot be read, or its header is malformed.
    """
    file = as_path(path)
    try:
        rows = operator.index(size)
    except TypeError:
        raise ArgumentTypeError(f"size must be a whole number of rows, not {size!r}") from None
    if rows < 1 or isinstance(size, bool):
        raise ArgumentTypeError(f"size must be a whole number of rows, 1 or more, not {size!r}")
    _header(file)
    if _is_parquet(file):
        with _parquet(file) as (opened, length):
            total = opened.metadata.num_rows
        begins = [(first, -1, 0) for first in range(0, total, rows)]
    else:
        with _lines(file) as (stream, length):
            begins, total = _cut(stream, rows)
    return [
        Part(str(file), number, first, min(rows, total - first), offset, line, length)
        for number, (first, offset, line) in enumerate(begins)
    ]


def read_part(part: Part, *, boards: Boards | None = None) -> tuple[Encounters, list[Reject]]:
    """Return the encounters of a part of a file, and its rows that are none.

    Parameters
    ----------
    part : Part
    boards : Boards, optional, keyword-only
        Where given, rows that do not fit their boards are set aside too, see `check`.

    Raises
    ------
    MapError
        If the file cannot be read, or is not that of which `parts` came.
    """
    file = Path(part.path)
    header = _header(file)
    reader = _PartReader(part, header, boards)
    if _is_parquet(file):
        with _parquet(file) as (opened, length):
            _same(part, length)
            return reader.parquet(opened)
    with _lines(file) as (stream, length):
        _same(part, length)
        return reader.lines(stream)


def _same(part: Part, length: int) -> None:
    if length != part.size:
        raise MapError(
            f"{part.path}: has {length:,} bytes, and had {part.size:,} when it was cut into parts"
        )


class _PartReader:
    """Reads one part."""

    def __init__(self, part: Part, header: Header, boards: Boards | None) -> None:
        self.part, self.profiles, self.boards = part, header.profiles, boards
        self.number = {profile.name: i for i, profile in enumerate(header.profiles)}
        self.rejects: list[Reject] = []

    # -- JSON Lines

    def lines(self, stream: IO[bytes]) -> tuple[Encounters, list[Reject]]:
        stream.seek(self.part.offset)
        rows = Rows(self.profiles)
        texts: dict[int, tuple[int, bytes]] = {}
        number = self.part.first_row
        given = islice(_rows(stream, self.part.line), self.part.n_rows)
        for number, (line, text) in enumerate(given, self.part.first_row):
            row, faults = self._line(text)
            if faults:
                self._reject(number, row, faults, _shown(text), line)
                continue
            rows.add(number, row)
            if self.boards is not None:
                texts[number] = line, text
        encounters = rows.encounters()

        def original(place: int) -> tuple[str, int | None]:
            line, text = texts[int(encounters.number[place])]
            return _shown(text), line

        return self._fitting(encounters, original)

    def _line(self, text: bytes) -> tuple[Row, list[Fault]]:
        if len(text) > LONGEST_LINE:
            fault = Fault("", f"the line has more than {LONGEST_LINE:,} bytes")
        else:
            try:
                return read_row(json.loads(text.decode()), self.number)
            except UnicodeDecodeError as error:
                fault = Fault(
                    "", f"is no text in UTF-8: byte 0x{text[error.start]:02x} at {error.start}"
                )
            except RecursionError:
                fault = Fault("", "is nested too deeply")
            except ValueError as error:
                fault = Fault("", f"is not valid JSON: {error}")
        return Row(), [fault]

    # -- Parquet

    def parquet(self, opened: Any) -> tuple[Encounters, list[Reject]]:
        found: list[Encounters] = []
        rows = Rows(self.profiles)
        for number, batch in _batches(opened, self.part.first_row, self.part.n_rows):
            encounters, doubtful = read_batch(batch, number, self.profiles)
            found.append(encounters)
            for place in doubtful.tolist():
                given = row_of(batch, place)
                row, faults = read_row(given, self.number)
                if faults:
                    self._reject(number + place, row, faults, _line_of(given), None)
                else:
                    rows.add(number + place, row)
        encounters = joined([*found, rows.encounters()])

        def original(place: int) -> tuple[str, None]:
            return next(iter(as_line(encounters, [place]))), None

        return self._fitting(encounters, original)

    # -- both

    def _reject(
        self, number: int, row: Row, faults: list[Fault], original: str, line: int | None
    ) -> None:
        """Set a row aside; what can be told of its tokens on the board is told too."""
        if self.boards is not None and row.board is not None:
            faults += self._of_board(row, row.board, self.boards)
        self.rejects.append(Reject(self.part.path, number, tuple(faults), original, line))

    def _of_board(self, row: Row, board: str, boards: Boards) -> Iterator[Fault]:
        """Yield what more is wrong with a row that has faults: with its board and on it."""
        if not row.places:
            try:
                boards[board]
            except MapError as error:
                yield Fault("board", str(error), board)
            return
        rows = Rows(self.profiles)
        rows.add(0, row)
        for place, fault in board_faults(rows.encounters(), boards).get(0, []):
            field = re.sub(r"\d+", str(row.places[place]), fault.field, count=1)
            yield fault._replace(field=field if place >= 0 else fault.field)

    def _fitting(
        self, encounters: Encounters, original: Callable[[int], tuple[str, int | None]]
    ) -> tuple[Encounters, list[Reject]]:
        """Set aside what does not fit its board."""
        if self.boards is not None:
            found = board_faults(encounters, self.boards)
            for place, faults in found.items():
                text, line = original(place)
                number = int(encounters.number[place])
                told = tuple(fault for _, fault in faults)
                self.rejects.append(Reject(self.part.path, number, told, text, line))
            if found:
                fits = np.ones(len(encounters), bool)
                fits[list(found)] = False
                encounters = encounters.take(np.flatnonzero(fits))
        return encounters, sorted(self.rejects, key=lambda reject: reject.row)


def joined(pieces: Iterable[Encounters]) -> Encounters:
    """Return encounters of the same profiles as one, by the rows they came from."""
    given = [piece for piece in pieces if len(piece)] or list(islice(pieces, 1))
    if len(given) == 1:
        return given[0]
    boards: dict[str, int] = {}
    sides: dict[str, int] = {}
    columns: dict[str, list[Any]] = {}
    first = [np.zeros(1, np.int64)]
    for piece in given:
        board = np.array([boards.setdefault(name, len(boards)) for name in piece.boards])
        side = np.array([sides.setdefault(name, len(sides)) for name in piece.sides])
        columns.setdefault("board", []).append(board[piece.board])
        columns.setdefault("side", []).append(side[piece.side])
        for name in ("light", "ground", "number", "profile", "cells", "level", "flags"):
            columns.setdefault(name, []).append(getattr(piece, name))
        first.append(piece.first[1:] + first[-1][-1])
    whole = Encounters(
        tuple(boards), given[0].profiles, tuple(sides),
        ids=_joined_texts([piece.ids for piece in given], [len(piece) for piece in given]),
        names=_joined_texts(
            [piece.names for piece in given], [len(piece.profile) for piece in given]
        ),
        first=np.concatenate(first),
        **{name: np.concatenate(column) for name, column in columns.items()},
    )  # fmt: skip
    if (np.diff(whole.number) < 0).any():
        return whole.take(np.argsort(whole.number, kind="stable"))
    return whole


def _joined_texts(texts: list[tuple[str, ...] | None], lengths: list[int]) -> list[str] | None:
    if all(text is None for text in texts):
        return None
    return [
        word
        for text, length in zip(texts, lengths, strict=True)
        for word in (("",) * length if text is None else text)
    ]


# -- JSON Lines -----------------------------------------------------------------------------------


def _rows(stream: IO[bytes], line: int) -> Iterator[tuple[int, bytes]]:
    """Yield the rows from here on, each with its line; blank lines are counted, and no rows."""
    while text := stream.readline(LONGEST_LINE + 1):
        whole = text
        while len(text) > LONGEST_LINE and not text.endswith(b"\n"):
            text = stream.readline(LONGEST_LINE + 1)
            if not text:
                break
        if not whole.isspace():
            yield line, whole
        line += 1


def _cut(stream: IO[bytes], size: int) -> tuple[list[tuple[int, int, int]], int]:
    """Return of each part its first row, where it begins and on which line; and all rows."""
    begins: list[tuple[int, int, int]] = []
    total = line = 0
    begin = 0
    header = True
    while text := stream.readline(LONGEST_LINE + 1):
        line += 1
        is_row = not text.isspace()
        if is_row and header:
            header, is_row = False, False
        if is_row:
            if total % size == 0:
                begins.append((total, begin, line))
            total += 1
        begin += len(text)
        while not text.endswith(b"\n") and (text := stream.readline(LONGEST_LINE + 1)):
            begin += len(text)
    return begins, total


def _shown(text: bytes) -> str:
    """Return a line as text, without its end; bytes that are none are spelled out."""
    return text.decode(errors="backslashreplace").rstrip("\r\n")


@contextmanager
def _lines(file: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file of JSON Lines; yield it and its length."""
    with _readable(file):
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
        with open(handle, "rb", buffering=1 << 20) as stream:
            yield stream, os.fstat(handle).st_size


_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Name a file that is none, or cannot be read."""
    name = where(file)
    try:
        if file.exists() and not file.is_file():
            raise MapError(f"{name}: is no regular file; expected {_FILE}")
        yield
    except FileNotFoundError:
        raise MapError(f"{name}: there is no such file; expected {_FILE}") from None
    except MapError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        printable = name if name.isprintable() and len(name) <= 1000 else shown(name, 200)
        raise MapError(f"{printable}: cannot be read ({reason}); expected {_FILE}") from None


def _header(file: Path) -> Header:
    """Return the header of a file."""
    source = where(file)
    if _is_parquet(file):
        with _parquet(file) as (opened, _):
            metadata = opened.schema_arrow.metadata or {}
            text = (opened.metadata.metadata or {}).get(KEY) or metadata.get(KEY)
            if text is None:
                raise MapError(f"{source}: has no header, metadata of the key {KEY.decode()!r}")
            check_schema(opened.schema_arrow, source)
    else:
        with _lines(file) as (stream, _):
            text = next((line for line in iter(lambda: stream.readline(LONGEST_HEADER), b"")
                         if not line.isspace()), b"")  # fmt: skip
        if not text:
            raise MapError(f"{source}: is empty; expected {_FILE}")
    try:
        return Header.loads(text.decode("utf-8-sig"), source)
    except UnicodeDecodeError:
        raise MapError(f"{source}: its header is no text in UTF-8") from None


def _is_parquet(file: Path) -> bool:
    """Tell whether a file is Parquet by its name, or raise MapError if it is neither."""
    if file.suffix.lower() not in SUFFIXES:
        raise MapError(f"{where(file)}: unknown kind of file; expected {' or '.join(SUFFIXES)}")
    return file.suffix.lower() == ".parquet"


# -- Parquet --------------------------------------------------------------------------------------


@contextmanager
def _parquet(file: Path) -> Iterator[tuple[Any, int]]:
    """Open a Parquet file; yield it and its length."""
    pa = arrow()
    with _readable(file):
        try:
            length = file.stat().st_size
            opened = pa.parquet.ParquetFile(
                file, buffer_size=READ_AHEAD, pre_buffer=False, page_checksum_verification=True
            )
            try:
                yield opened, length
            finally:
                opened.close()
        except (pa.ArrowException, OverflowError) as error:
            reason = str(error).partition("\n")[0]
            raise MapError(f"{where(file)}: is no sound Parquet file ({reason})") from None


def _batches(opened: Any, first: int, count: int) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a part in batches, each with the number of its first row."""
    columns = [name for name in opened.schema_arrow.names if name != "extra"]
    last, begin = first + count, 0
    for group in range(opened.num_row_groups):
        row, begin = begin, begin + opened.metadata.row_group(group).num_rows
        if row >= last:
            return
        if begin <= first:
            continue
        # Batches of several row groups fail where words are numbered differently in each.
        size = min(BATCH, last - row)
        for batch in opened.iter_batches(size, [group], columns, use_threads=False):
            skip, stop = max(first - row, 0), min(last - row, batch.num_rows)
            if skip < stop:
                yield row + skip, batch.slice(skip, stop - skip)
            row += batch.num_rows
            if row >= last:
                return


def _line_of(row: dict[str, Any]) -> str:
    """Return a row of a Parquet file as a line of JSON Lines."""
    return json.dumps(row, default=str)


# -- writing --------------------------------------------------------------------------------------


def write(
    encounters: Encounters | Iterable[Encounters],
    path: str | os.PathLike[str],
    *,
    boards: Boards | Mapping[str, Any] | None = None,
) -> None:
    """Write encounters to a file.

    Parameters
    ----------
    encounters : Encounters, or iterable of Encounters
        Several are written one after the other, so that they need not all be in memory; they must
        be of the same profiles.
    path : str or path-like
        Ends in ``.parquet`` or ``.jsonl``.
    boards : Boards or mapping, optional, keyword-only
        Those boards are written too, as board files in a folder beside the file, ``NAME.boards``,
        and the header says where. Without them the names of the boards must be paths of files
        relative to the folder of the file, or be given again when it is read.

    Raises
    ------
    MapError
        If the name ends in something else, a board or a profile has no form in a file, or the file
        cannot be written.
    """
    file = as_path(path)
    write_in = _write_parquet if _is_parquet(file) else _write_lines
    pieces = iter([encounters] if isinstance(encounters, Encounters) else encounters)
    first = next(pieces, None)
    if not isinstance(first, Encounters):
        raise ArgumentTypeError(f"expected Encounters to write, not {first!r}")

    def checked() -> Iterator[Encounters]:
        yield first
        for piece in pieces:
            if not isinstance(piece, Encounters):
                raise ArgumentTypeError(f"expected Encounters to write, not {piece!r}")
            if piece.profiles != first.profiles:
                raise MapError("encounters of one file must be of the same profiles")
            yield piece

    known = {} if boards is None else _write_boards(Boards.of(boards), file)
    header = Header(first.profiles, {name: (entry, None) for name, entry in known.items()})
    with _renamed(file) as unfinished:
        write_in(header, checked(), unfinished)


@contextmanager
def _renamed(file: Path) -> Iterator[Path]:
    """Yield another name, which becomes that of the file when all is written."""
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(8)}.unfinished")
    try:
        yield unfinished
        os.replace(unfinished, file)
    except OSError as error:
        raise MapError(f"{where(file)}: cannot be written ({error.strerror or error})") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _write_lines(header: Header, pieces: Iterable[Encounters], file: Path) -> None:
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(header.dumps() + "\n")
        for piece in pieces:
            stream.writelines(f"{line}\n" for line in as_line(piece))


def _write_parquet(header: Header, pieces: Iterable[Encounters], file: Path) -> None:
    pa = arrow()
    schema = encounters_schema().with_metadata({KEY: header.dumps().encode()})
    with pa.parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        for piece in pieces:
            for begin in range(0, len(piece), GROUP):
                group = piece[begin : begin + GROUP]
                writer.write_table(to_table(group).cast(schema), row_group_size=GROUP)


def _write_boards(boards: Boards, file: Path) -> dict[str, str]:
    """Write boards beside a file; return where each is, relative to the folder of the file."""
    folder = file.with_name(f"{file.stem}.boards")
    taken: set[str] = set()
    known: dict[str, str] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MapError(f"{where(folder)}: cannot be made ({reason})") from None
    for number, name in enumerate(boards):
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:60] or "board"
        # Names that differ in their case alone are one file on some systems.
        if plain.lower() in taken:
            plain = f"{plain}-{number:05d}"
        taken.add(plain.lower())
        boardfile.write(boards[name], folder / f"{plain}.toml")
        known[name] = f"{folder.name}/{plain}.toml"
    return known

"""What the importers share: reading files that may be anything, and naming places in messages.

Nothing is believed before it is looked at: the size is asked for before a byte is read, folders
and devices are refused, and what is not text is said to be so.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, MapError, OutsideMapError

if TYPE_CHECKING:
    from fieldcraft.rules import Rules

__all__ = [
    "MAX_BYTES",
    "FieldcraftWarning",
    "as_path",
    "code_points",
    "named",
    "read_text",
    "shown",
    "table_for",
    "warn",
    "where",
]

MAX_BYTES = 64 * 2**20
"""How large a file may be unless the caller says otherwise: 64 MiB."""

_T = TypeVar("_T")
_BINARY = getattr(os, "O_BINARY", 0)

# Control characters that no text file has; tab, line feed, form feed and carriage return are fine.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")


class FieldcraftWarning(UserWarning):
    """Something in a file looks odd, but the result does not depend on it."""


def shown(text: object, limit: int = 40) -> str:
    """Return the text in quotes, cut to a length that fits a message."""
    given = str(text)
    return repr(given) if len(given) <= limit else repr(given[:limit]) + "..."


def where(source: str | os.PathLike[str], line: int | None = None) -> str:
    """Return how messages name a place in a file: its name, and the line if known."""
    return f"{os.fspath(source)}" + (f", line {line}" if line is not None else "")


def warn(message: str) -> None:
    """Give a `FieldcraftWarning` at the line outside the package that called into it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, FieldcraftWarning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "fieldcraft"


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return a `Path`, or raise ArgumentTypeError for what is no path."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise ArgumentTypeError(f"path must be text or a path, not {type(path).__name__}")
    return Path(path)


def read_text(
    path: str | os.PathLike[str],
    what: str,
    *,
    max_bytes: int = MAX_BYTES,
    fallback: str | None = None,
) -> str:
    """Return the text of a file, its lines ended by line feeds, without a byte order mark.

    Parameters
    ----------
    path : str or path-like
    what : str
        What the file should be, for messages: ``"a MovingAI map"``.
    max_bytes : int, keyword-only
        A larger file is refused before it is read.
    fallback : str, optional, keyword-only
        Encoding to take for bytes that are no UTF-8; without it they are an error.

    Returns
    -------
    str

    Raises
    ------
    MapError
        If there is no such file, it is a folder or a device, may not be read, is larger than
        `max_bytes`, is empty, or holds no text.
    """
    file = as_path(path)
    name = where(file)
    if os.path.isdir(file):
        raise MapError(f"{name}: is a folder; expected {what}")
    try:
        # Not blocking: opening a named pipe would wait for somebody to write to it.
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
        with open(handle, "rb") as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise MapError(f"{name}: is not a regular file; expected {what}")
            if status.st_size > max_bytes:
                raise MapError(
                    f"{name}: has {status.st_size:,} bytes; {what} may have at most "
                    f"{max_bytes:,} (max_bytes= allows more)"
                )
            data = stream.read(min(max_bytes, status.st_size) + 1)
    except FileNotFoundError:
        raise MapError(f"{name}: there is no such file; expected {what}") from None
    except MapError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        printable = name if name.isprintable() and len(name) <= 1000 else shown(name, 200)
        raise MapError(f"{printable}: cannot be read ({reason}); expected {what}") from None
    if len(data) > max_bytes:
        raise MapError(f"{name}: grew beyond {max_bytes:,} bytes while it was read")
    return decode(data, name, what, fallback=fallback)


def decode(data: bytes, name: str, what: str, *, fallback: str | None = None) -> str:
    """Return the text that the bytes of a file hold; see `read_text`."""
    if not data.strip():
        raise MapError(f"{name}: is empty; expected {what}")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise MapError(f"{name}: is UTF-16 text; expected {what} in UTF-8")
    if (nul := data.find(b"\0")) >= 0:
        raise MapError(f"{name}: is a binary file (byte {nul} is zero); expected {what}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if fallback is None:
            line = data.count(b"\n", 0, error.start) + 1
            raise MapError(
                f"{where(name, line)}: byte 0x{data[error.start]:02x} is no UTF-8 text; "
                f"expected {what}"
            ) from None
        text = data.decode(fallback)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if control := _CONTROL.search(text):
        line = text.count("\n", 0, control.start()) + 1
        raise MapError(
            f"{where(name, line)}: is a binary file (it has the control character "
            f"0x{ord(control.group()):02x}); expected {what}"
        )
    if not text.strip():
        raise MapError(f"{name}: is empty; expected {what}")
    return text


@contextmanager
def named(source: str) -> Iterator[None]:
    """Put the name of the file before what a board finds wrong with it."""
    try:
        yield
    except (MapError, OutsideMapError) as error:
        raise MapError(f"{source}: {error}") from None


def code_points(rows: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Return the code points of rows of equal length, shape (rows, characters)."""
    points = np.frombuffer("".join(rows).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return points.reshape(len(rows), -1).astype(np.uint32)


def table_for(system: Rules, tables: Mapping[str, _T]) -> _T | None:
    """Return the table of a rule system, or of the system that it builds on, or None."""
    if system.name in tables:
        return tables[system.name]
    from fieldcraft.rules import get

    for name, table in tables.items():
        if type(get(name)) is type(system):
            return table
    return None

"""What a run depends on, as short texts that are equal if and only if it is the same."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fieldcraft.board import Board
from fieldcraft.encounters.boards import Boards
from fieldcraft.errors import MapError

__all__ = ["of_board", "of_boards", "of_file"]

EACH = 1000
"""Of so many boards each is told apart; of more only all of them together."""


def of_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the size and the SHA-256 of a file, which is read a piece at a time."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return {"bytes": file.tell(), "sha256": digest}
    except OSError as error:
        raise MapError(f"{os.fspath(path)}: cannot be read ({error.strerror})") from None


def of_boards(boards: Boards) -> dict[str, Any]:
    """Return the fingerprint of boards: of those held what they are, of files their contents.

    Boards that are found below a folder by their names alone are not among them.
    """
    each = {name: _of_one(boards, name) for name in sorted(boards)}
    together = hashlib.sha256(_text(each).encode()).hexdigest()
    return {"number": len(each), "sha256": together, "each": each if len(each) <= EACH else {}}


def _of_one(boards: Boards, name: str) -> str:
    """Return the fingerprint of one board."""
    given = boards.given(name)
    if isinstance(given, Board):
        return of_board(given)
    file, rules = given
    try:
        parts = [str(of_file(file)["sha256"])]
        if isinstance(rules, str | Path) and Path(rules).is_file():
            parts.append(str(of_file(rules)["sha256"]))
        else:
            parts.append(_text(rules))
    except MapError as error:
        raise MapError(f"board {name!r}: {error}") from None
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def of_board(board: Board) -> str:
    """Return the fingerprint of a board: its map, its rules and its relations, not its tokens."""
    text = _text([board.terrain, board.rules, board.relations])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _text(value: Any) -> str:
    """Return a value as text, the same in every process."""
    if value is None or isinstance(value, str | int | float | Fraction | Enum | Path):
        return repr(value)
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(value.tobytes()).hexdigest()
        return f"{value.dtype}{value.shape}{digest}"
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.compare]
        held = [f"{name}={_text(getattr(value, name))}" for name in fields]
        return f"{type(value).__qualname__}({', '.join(held)})"
    if isinstance(value, Mapping):
        items = sorted(f"{_text(key)}: {_text(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    return type(value).__qualname__

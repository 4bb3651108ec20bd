"""Maps from files, one module for each format.

`read` tells the format by the end of the file name: ``.board`` is a board of MegaMek, ``.map`` a
map of the MovingAI benchmarks, ``.toml`` a board file of our own, which `write` writes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fieldcraft.errors import MapError
from fieldcraft.io import boardfile, megamek, movingai
from fieldcraft.io._text import MAX_BYTES, FieldcraftWarning, as_path, where
from fieldcraft.io.movingai import Scenario, ScenarioRow, read_scenario

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.rules import Rules

__all__ = [
    "MAX_BYTES",
    "FieldcraftWarning",
    "Scenario",
    "ScenarioRow",
    "boardfile",
    "megamek",
    "movingai",
    "read",
    "read_scenario",
    "write",
]

_FORMATS = ".board (MegaMek), .map (MovingAI) or .toml (a board file)"


def read(
    path: str | os.PathLike[str],
    *,
    rules: Rules | str | Path | None = None,
    mapping: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Board:
    """Return the board in a map file.

    Parameters
    ----------
    path : str or path-like
        A ``.board`` of MegaMek, a ``.map`` of MovingAI or a board file in TOML.
    rules : Rules, str or Path, optional, keyword-only
        Without it a file's own rules hold; else a ``.board`` means ``hexwild`` and a ``.map`` the
        plain ``octile`` rules of its benchmark.
    mapping : mapping, str or path-like, optional, keyword-only
        What the terrain of a foreign file becomes: for a ``.board`` a table in the shape of
        ``megamek.toml`` or the path of one, for a ``.map`` a table from letter to terrain id.
    max_bytes : int, keyword-only
        A larger file is refused before it is read.

    Returns
    -------
    Board

    Raises
    ------
    MapError
        If the file is none of these, or malformed, with the line and what was expected there.
    RulesError
        If there are no such rules, or the mapping is malformed.
    """
    file = as_path(path)
    match file.suffix.lower():
        case ".board":
            return megamek.read(file, rules=rules, mapping=mapping, max_bytes=max_bytes)
        case ".map":
            letters = cast(Mapping[str, Any], mapping)  # checked there
            return movingai.read(file, rules=rules, mapping=letters, max_bytes=max_bytes)
        case ".toml":
            if mapping is not None:
                raise MapError(f"{where(file)}: a board file has a [legend] and takes no mapping")
            return boardfile.read(file, rules=rules, max_bytes=max_bytes)
        case ".scen":
            raise MapError(
                f"{where(file)}: is a scenario, not a map; read_scenario() reads it, and its map "
                f"is a file of its own"
            )
    raise MapError(f"{where(file)}: unknown kind of map file; expected {_FORMATS}")


def write(board: Board, path: str | os.PathLike[str]) -> None:
    """Write a board to a board file in TOML, from which `read` makes an equal board.

    Parameters
    ----------
    board : Board
    path : str or path-like
        Must end in ``.toml``.

    Raises
    ------
    MapError
        If the name ends in something else, the board holds what the file cannot, or the file
        cannot be written.
    """
    file = as_path(path)
    if file.suffix.lower() != ".toml":
        raise MapError(f"{where(file)}: boards are written to .toml files only")
    boardfile.write(board, file)

"""Where the boards of encounters come from: held, or read from files when asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fieldcraft.board import Board
from fieldcraft.encounters.scenes import Scenes
from fieldcraft.errors import ArgumentTypeError, FieldcraftError, MapError, nearest

__all__ = ["Boards"]

HELD = 256
"""So many boards that were read stay in memory."""


class Boards(Mapping[str, Board]):
    """Boards by name.

    Parameters
    ----------
    known : mapping from str to Board, path, or (path, rules)
        A board, or the file it is read from when first asked for, and the rules it is played by.
    folder : str or Path, optional
        Paths are below it. With a folder a name that is not known is a path below it too.
    rules : str or Path, optional, keyword-only
        Of such boards, in place of the rules in their files.

    Raises
    ------
    MapError
        When a board is asked for that is not known, or whose file is malformed.

    Attributes
    ----------
    scenes : Scenes
        What has been compiled of them.

    Examples
    --------
    >>> from fieldcraft import Board
    >>> from fieldcraft.encounters import Boards
    >>> boards = Boards({"glade": Board([["open"]], lattice="odd-r")})
    >>> boards["glade"].shape, list(boards)
    ((1, 1), ['glade'])
    """

    def __init__(
        self,
        known: Mapping[str, Any],
        folder: str | Path | None = None,
        *,
        rules: str | Path | None = None,
    ) -> None:
        self._known: dict[str, Any] = {}
        self._folder = None if folder is None else Path(folder)
        self._rules = rules
        for name, given in known.items():
            if not isinstance(name, str):
                raise ArgumentTypeError(f"a board must have a name, not {name!r}")
            file, rules = given if isinstance(given, tuple | list) else (given, None)
            if not isinstance(file, Board | str | Path):
                raise ArgumentTypeError(f"board {name!r} must be a Board or a file, not {file!r}")
            self._known[name] = file if isinstance(file, Board) else (file, rules)
        self._read: dict[str, Board] = {}
        self._lock = threading.Lock()
        self.scenes = Scenes()

    @classmethod
    def of(cls, boards: Boards | Mapping[str, Any] | str | Path | None) -> Boards:
        """Return boards for themselves, for a mapping of them, or for a folder."""
        if isinstance(boards, Boards):
            return boards
        if boards is None or isinstance(boards, str | Path):
            return cls({}, boards)
        if not isinstance(boards, Mapping):
            raise ArgumentTypeError(
                f"boards must be a mapping from names to boards, or a folder, not {boards!r}"
            )
        return cls(boards)

    def __getitem__(self, name: str) -> Board:
        given = self._known.get(name)
        if isinstance(given, Board):
            return given
        with self._lock:
            if name not in self._read:
                while len(self._read) >= HELD:
                    del self._read[next(iter(self._read))]
                self._read[name] = self._from_file(name, given)
            return self._read[name]

    def given(self, name: str) -> Board | tuple[Path, Any]:
        """Return a board that is held, or the file it is read from and the rules it is played by.

        Raises
        ------
        MapError
            If the board is not known.
        """
        known = self._known.get(name)
        return known if isinstance(known, Board) else self._file(name, known)

    def _from_file(self, name: str, given: Any) -> Board:
        """Return the board of a name from its file."""
        from fieldcraft.io import read

        path, rules = self._file(name, given)
        try:
            return read(path, rules=rules)
        except FieldcraftError as error:
            raise MapError(f"board {name!r}: {error}") from error

    def _file(self, name: str, given: Any) -> tuple[Path, Any]:
        """Return the file of a board, and its rules."""
        if given is None and self._folder is None:
            raise MapError(
                f"there is no board {name!r}{nearest(name, self._known)}; known are "
                f"{', '.join(self._known) or 'none'}"
            )
        file, rules = (name, self._rules) if given is None else given
        if given is None and (Path(name).is_absolute() or ".." in Path(name).parts):
            raise MapError(f"board {name!r} is not below the folder of the encounters")
        return Path(file) if self._folder is None else self._folder / file, rules

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except MapError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __getstate__(self) -> dict[str, Any]:
        # Whoever gets it may work in another folder.
        files = ((name, self.given(name)) for name in self._known)
        known = {
            name: given if isinstance(given, Board) else (given[0].absolute(), given[1])
            for name, given in files
        }
        folder = self._folder and self._folder.absolute()
        return {"_known": known, "_folder": folder, "_rules": self._rules}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _read={}, _lock=threading.Lock(), scenes=Scenes())

    def __repr__(self) -> str:
        where = "" if self._folder is None else f", and files below {self._folder}"
        return f"Boards({len(self)} known{where})"

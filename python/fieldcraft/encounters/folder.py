"""Where the tables of a run are: in a folder or an object store; a file is whole, or absent."""

from __future__ import annotations

import contextlib
import os
import secrets
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fieldcraft.encounters.schema import arrow
from fieldcraft.errors import ArgumentTypeError, MissingExtraError, RunError

__all__ = ["Folder", "part_name"]

ENDINGS = {"tokens": "parquet", "pairs": "parquet", "rejects": "jsonl"}
"""What a run is made of, each in a folder of its own."""
UNFINISHED = ".unfinished"


def part_name(kind: str, number: int) -> str:
    """Return the name of a part below the folder: ``tokens/part-00000.parquet``."""
    return f"{kind}/part-{number:05d}.{ENDINGS[kind]}"


class Folder:
    """A folder of files that are written at once or not at all. Pickles as its name.

    Parameters
    ----------
    where : str or Path
        A path, or the URL of an object store that pyarrow or fsspec knows.

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        if not isinstance(where, str | os.PathLike):
            raise ArgumentTypeError(f"the folder of a run must be a path or a URL, not {where!r}")
        name = os.fspath(where)
        if name.startswith("file://"):
            name = urllib.request.url2pathname(urllib.parse.urlparse(name).path)
        self.is_remote = "://" in name
        self.where = name if self.is_remote else os.path.abspath(name)

    def __reduce__(self) -> tuple[type[Folder], tuple[str]]:
        return Folder, (self.where,)

    def __repr__(self) -> str:
        return f"Folder({self.where!r})"

    @property
    def path(self) -> Path:
        """Its path; not for an object store."""
        return Path(self.where)

    def put(self, name: str, data: Any) -> None:
        """Write a file that is there whole under its name, or not at all.

        Raises
        ------
        RunError
            If it cannot be written.
        """
        try:
            if self.is_remote:
                self._put_remote(name, data)
            else:
                _put(self.path / name, data)
        except OSError as error:
            raise RunError(f"{self.name_of(name)}: cannot be written ({_why(error)})") from None

    def get(self, name: str) -> bytes | None:
        """Return what a file holds; None if there is none."""
        try:
            if not self.is_remote:
                return (self.path / name).read_bytes()
            system, base = _file_system(self.where)
            with system.open_input_stream(f"{base}/{name}") as stream:
                data: bytes = stream.read()
                return data
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunError(f"{self.name_of(name)}: cannot be read ({_why(error)})") from None

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        if not self.is_remote:
            (self.path / name).unlink(missing_ok=True)
        elif self.get(name) is not None:
            system, base = _file_system(self.where)
            system.delete_file(f"{base}/{name}")

    def parts(self, kind: str) -> list[int]:
        """Return the numbers of the parts that are there, in order."""
        ending = f".{ENDINGS[kind]}"
        names = (name for name in self._listed(kind) if name.startswith("part-"))
        numbers = (name.removeprefix("part-").removesuffix(ending) for name in names)
        return sorted(int(number) for number in numbers if number.isdigit())

    def has(self, name: str) -> bool:
        """Tell whether a file is there, without reading it."""
        if not self.is_remote:
            return (self.path / name).is_file()
        system, base = _file_system(self.where)
        return bool(system.get_file_info(f"{base}/{name}").is_file)

    def name_of(self, name: str) -> str:
        """Return the whole name of a file in it, for messages."""
        return f"{self.where.rstrip('/')}/{name}" if self.is_remote else str(self.path / name)

    def open(self, names: Sequence[str], schema: Any) -> Any:
        """Return the pyarrow Dataset of some of its files."""
        import pyarrow.dataset as dataset

        if self.is_remote:
            system, base = _file_system(self.where)
        else:
            system, base = arrow().fs.LocalFileSystem(), self.path.as_posix()
        files = [f"{base}/{name}" for name in names]
        return dataset.dataset(files, schema, format="parquet", filesystem=system)

    def clean(self) -> None:
        """Remove what killed writers left: only files that were never finished."""
        if not self.is_remote:
            for folder in (self.path, *(self.path / kind for kind in ENDINGS)):
                for file in folder.glob(f".*{UNFINISHED}"):
                    file.unlink(missing_ok=True)

    def _listed(self, kind: str) -> list[str]:
        """Return the names of the files of one kind."""
        if not self.is_remote:
            folder = self.path / kind
            return os.listdir(folder) if folder.is_dir() else []
        system, base = _file_system(self.where)
        selector = arrow().fs.FileSelector(f"{base}/{kind}", allow_not_found=True)
        return [info.base_name for info in system.get_file_info(selector) if info.is_file]

    def _put_remote(self, name: str, data: Any) -> None:
        """Write an object: stores show it when it is complete."""
        system, base = _file_system(self.where)
        system.create_dir(f"{base}/{name}".rpartition("/")[0], recursive=True)
        with system.open_output_stream(f"{base}/{name}") as stream:
            stream.write(data)


def _put(path: Path, data: Any) -> None:
    """Write a file under another name beside its own, see it on the disk, then name it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with open(unfinished, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _keep_names(path.parent)


def _keep_names(folder: Path) -> None:
    """See the names in a folder on the disk, where a system lets one."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    from pyarrow import ArrowInvalid, fs

    try:
        system, base = fs.FileSystem.from_uri(url)
    except ArrowInvalid:  # of no kind that pyarrow itself knows
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtraError(
                f"the folder {url} needs fsspec: pip install 'fieldcraft[dask]'"
            ) from None
        try:
            found, base = url_to_fs(url)
        except ImportError as error:
            raise MissingExtraError(f"the folder {url} needs another package: {error}") from None
        except ValueError as error:
            raise RunError(f"the folder {url} is not known: {error}") from None
        system = fs.PyFileSystem(fs.FSSpecHandler(found))
    return system, base.rstrip("/")


def _why(error: OSError) -> str:
    return error.strerror or str(error).partition("\n")[0]

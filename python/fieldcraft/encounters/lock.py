"""One run at a time in one folder: a file that says which process writes there."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fieldcraft.errors import RunError

__all__ = ["only_one"]

LOCK = ".lock"
BEGINNING = 10.0
"""A lock without contents is as old as this, in seconds, before its process counts as dead."""


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made where it is missing.

    A lock that a process of this machine has left when it was killed is taken over.

    Raises
    ------
    RunError
        If another process holds it, or one of another machine, of which nobody here can tell.
    """
    lock = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _take(lock)
    except OSError as error:
        raise RunError(f"{folder}: cannot be written to ({error.strerror})") from None
    try:
        yield
    finally:
        os.close(handle)
        lock.unlink(missing_ok=True)


def _take(lock: Path) -> int:
    """Return the handle of a lock that this process has made."""
    while True:
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            _remove_if_left(lock)
        else:
            who = {"pid": os.getpid(), "host": socket.gethostname(), "began": _began(os.getpid())}
            os.write(handle, json.dumps(who).encode())
            return handle


def _remove_if_left(lock: Path) -> None:
    """Remove a lock whose process is dead, or raise RunError."""
    found = _contents(lock)
    if found is None:
        return
    if _is_held(lock, found):
        raise _in_use(lock, found)
    # Two who find the same lock must not remove each other's: only one of them can rename it.
    aside = lock.with_name(f"{lock.name}.{secrets.token_hex(8)}.unfinished")
    try:
        os.rename(lock, aside)
    except FileNotFoundError:
        return
    except PermissionError:  # Windows: its process has it open
        raise _in_use(lock, found) from None
    taken = _contents(aside)
    if taken != found:
        with contextlib.suppress(OSError):
            os.link(aside, lock)
        aside.unlink(missing_ok=True)
        raise _in_use(lock, taken or b"")
    aside.unlink(missing_ok=True)


def _contents(lock: Path) -> bytes | None:
    try:
        return lock.read_bytes()
    except FileNotFoundError:
        return None


def _is_held(lock: Path, found: bytes) -> bool:
    """Tell whether the process that made a lock may still be there."""
    who = _who(found)
    if who is None:  # made this moment, or its process died between two calls
        with contextlib.suppress(FileNotFoundError):
            return time.time() - lock.stat().st_mtime < BEGINNING
        return False
    if who["host"] != socket.gethostname():
        return True
    if os.name == "nt":  # a lock that is held cannot be renamed there
        return False
    return _is_alive(int(who["pid"])) and who["began"] == _began(int(who["pid"]))


def _who(found: bytes) -> dict[str, Any] | None:
    try:
        who = json.loads(found)
        return {"pid": int(who["pid"]), "host": str(who["host"]), "began": str(who["began"])}
    except (ValueError, TypeError, KeyError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _began(pid: int) -> str:
    """Return when a process began, since numbers are given again; "" where nobody tells.

    Of a process that is dead and that nobody has asked about yet it is "dead".
    """
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2]
    except OSError:
        return ""
    fields = after_name.split()
    return "dead" if fields[0] == "Z" else fields[19]


def _in_use(lock: Path, found: bytes) -> RunError:
    who = _who(found)
    by = "another process" if who is None else f"process {who['pid']} on {who['host']}"
    return RunError(
        f"{lock.parent}: {by} is writing there; wait for it, choose another folder, or, if it is "
        f"no more, remove {lock}"
    )

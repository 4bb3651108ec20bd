"""The parts of an analysis on the workers of a Dask cluster."""

from __future__ import annotations

import secrets
import threading
from asyncio import CancelledError
from collections.abc import Generator, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

from fieldcraft import _version
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.folder import Folder
from fieldcraft.encounters.run import record_of
from fieldcraft.encounters.work import Done, Job, finish
from fieldcraft.errors import ArgumentTypeError, FieldcraftError, MissingExtraError, RunError

__all__ = ["each"]

RETRIES = 3
"""So often a part is tried again when it could not be written, or something unforeseen happened."""
UNDER_WAY = 2
"""Parts under way for each thread of the cluster: one is worked on, one waits."""

_KEPT: dict[str, Boards] = {}
"""In a worker: the boards of the run, with what was compiled for them."""
_KEPT_LOCK = threading.Lock()


def each(jobs: Iterable[Job], *, boards: Boards, client: Any) -> Generator[Done]:
    """Yield what became of the jobs, as they come; few are under way at a time.

    Parameters
    ----------
    jobs : iterable of Job
    boards : Boards
        Sent once to each worker.
    client : distributed.Client

    Raises
    ------
    RunError
        If parts are lost again and again with their workers, the cluster has gone, or a part
        was written where this process cannot see it.
    """
    distributed = _distributed(client)
    run, todo = secrets.token_hex(8), iter(jobs)
    # As the result of a task they come back when the worker that held them is lost.
    held = client.submit(_same, boards, key=f"fieldcraft-boards-{run}", pure=False)
    under_way: dict[str, tuple[Any, Job]] = {}
    results = distributed.as_completed()
    try:
        while True:
            room = UNDER_WAY * _threads(client) - len(under_way)
            for job in islice(todo, max(0, room)):
                key = f"fieldcraft-part-{job.part.number:05d}-{run}"
                future = client.submit(
                    _finish, job, held, run, key=key, pure=False, retries=RETRIES
                )
                under_way[key] = future, job
                results.add(future)
            if not under_way:
                return
            future, job = under_way.pop(next(results).key)
            yield _done(future, job.part.number)
    finally:
        with suppress(Exception):
            client.cancel([held, *(future for future, _ in under_way.values())])


def _threads(client: Any) -> int:
    """Return how many threads the workers have, 1 if there are none yet."""
    try:
        threads: dict[str, int] = client.nthreads()
        return max(1, sum(threads.values()))
    except (OSError, TimeoutError) as error:
        raise RunError(f"the cluster cannot be reached any more ({error})") from None


def _same(boards: Boards) -> Boards:
    return boards


def _finish(job: Job, boards: Boards, run: str) -> Done | FieldcraftError:
    """Finish a part in a worker. An error is returned where trying again would not help."""
    try:
        known = _kept(run, boards, job.folder)
    except RunError as error:
        return _named(error, job)
    try:
        return finish(job, known)
    except RunError as error:  # it could not be written
        raise _named(error, job) from None
    except FieldcraftError as error:
        return _named(error, job)


def _named(error: FieldcraftError, job: Job) -> FieldcraftError:
    """Return an error that says where it happened."""
    from distributed import get_worker

    return type(error)(f"part {job.part.number}, on worker {get_worker().address}: {error}")


def _kept(run: str, boards: Boards, folder: Folder) -> Boards:
    """Return the boards of a run: those this process had first, if it had them before."""
    with _KEPT_LOCK:
        if run not in _KEPT:
            _check(folder)
            _KEPT.clear()
            _KEPT[run] = boards
        return _KEPT[run]


def _check(folder: Folder) -> None:
    """Raise RunError if this worker sees another folder than the client, or is another version."""
    record = record_of(folder)
    if record is None:
        raise RunError(
            f"{folder.where}: holds no run here; expected a folder that all workers share"
        )
    if record["package"] != _version.__version__:
        raise RunError(
            f"here is fieldcraft {_version.__version__}; the run is one of {record['package']}"
        )


def _done(future: Any, number: int) -> Done:
    """Return what became of a part, or raise what went wrong."""
    from distributed.scheduler import KilledWorker

    try:
        done: Done | FieldcraftError = future.result()
    except KilledWorker:
        raise RunError(
            f"part {number} was lost with its worker again and again; workers may need more "
            "memory, or smaller parts"
        ) from None
    except CancelledError as error:
        raise RunError(f"the cluster has given up part {number} ({error})") from None
    if isinstance(done, FieldcraftError):
        raise done
    return done


def _distributed(client: Any) -> Any:
    """Return the package distributed, or raise an error if the client is none of its."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError(
            "a cluster needs distributed: pip install 'fieldcraft[dask]'"
        ) from None
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise ArgumentTypeError(
            f"client must be a distributed.Client, and no asynchronous one, not {client!r}"
        )
    return distributed

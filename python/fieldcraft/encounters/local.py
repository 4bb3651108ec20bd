"""An analysis of very many encounters on the cores of this machine; `analyse` and `analyse_to`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TypeVar

from fieldcraft.encounters import cluster, files
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.fingerprint import of_boards, of_file
from fieldcraft.encounters.folder import Folder
from fieldcraft.encounters.lock import only_one
from fieldcraft.encounters.model import Encounter, Encounters, Profile
from fieldcraft.encounters.progress import Progress, shown
from fieldcraft.encounters.rejects import Reject
from fieldcraft.encounters.run import Analysis, Run, begin, described, open_run
from fieldcraft.encounters.schema import arrow, pairs_schema, tokens_schema
from fieldcraft.encounters.work import (
    Done,
    Job,
    Stop,
    Tables,
    finish,
    joined,
    of_encounters,
    of_part,
)
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.queries import cores

__all__ = ["analyse", "analyse_to"]

PART = 4096
"""Encounters in a part: some seconds of work for a core, some megabytes of tables."""
MOST_IN_A_PART = 1 << 20
MOST_PARTS = 100_000
"""Names of parts have five digits, so that their order is that of the encounters."""
MOST_WORKERS = 1024
AWAKE = 0.2
"""Seconds between looks at whether somebody has interrupted, which not every system tells."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def analyse(
    source: Encounters | Iterable[Encounter] | str | os.PathLike[str],
    *,
    boards: Any = None,
    profiles: Iterable[Profile] | Mapping[str, Profile] | None = None,
    workers: int | None = None,
    on_error: str = "reject",
) -> Analysis:
    """Analyse encounters, and return the tables.

    Parameters
    ----------
    source : Encounters, iterable of Encounter, or path
        A file is one of those that `read` takes.
    boards : Boards, mapping from str to Board or path, or folder; optional
        Where the boards are that the encounters name; those that a file names where absent.
    profiles : iterable of Profile, optional
        With an iterable of Encounter: all that their tokens name.
    workers : int, optional
        So many threads work; as many as there are cores where absent.
    on_error : str
        ``"reject"`` sets encounters aside with which something is wrong; ``"raise"`` raises.

    Returns
    -------
    Analysis
        Tables of tokens and of pairs, in the order of the encounters, and the rejects.

    Raises
    ------
    MapError
        If a file cannot be read, or with ``"raise"`` if something is wrong with an encounter.

    See Also
    --------
    analyse_to : The same from file to files, which may be more than fits into memory.
    """
    arrow()
    workers, fails = _workers(workers), _fails(on_error)
    if isinstance(source, str | os.PathLike):
        _no_profiles(profiles, "a file")
        parts = files.parts(source, PART)
        given = files.boards_of(source, boards)
        tables = _gathered(parts, partial(_part, boards=given, fails=fails), workers)
    else:
        encounters = _columns(source, profiles)
        if boards is None:
            raise ArgumentTypeError(
                f"boards is missing; expected the boards {', '.join(encounters.boards[:3])}"
                f"{', ...' if len(encounters.boards) > 3 else ''}"
            )
        given = Boards.of(boards)
        size = max(1, min(PART, -(-len(encounters) // (4 * workers))))
        blocks = (encounters[i : i + size] for i in range(0, len(encounters), size))
        tables = _gathered(blocks, partial(_block, boards=given, fails=fails), workers)
    if fails and tables.rejects:
        raise MapError(str(tables.rejects[0]))
    return Analysis(*tables[:2], tuple(tables.rejects))


def analyse_to(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    boards: Any = None,
    workers: int | None = None,
    part_size: int = PART,
    on_error: str = "reject",
    progress: Progress = None,
    client: Any = None,
    resume: bool = True,
) -> Run:
    """Analyse a file of encounters part by part, and write the tables of each into a folder.

    A part is read, checked, scored and written by one worker, so the memory needed is that of as
    many parts as there are workers. It is finished when its tables are there under their names,
    whatever happens afterwards; the same call goes on with those that are not.

    Parameters
    ----------
    source : str or Path
        A file of encounters, ``.parquet`` or ``.jsonl``.
    out : str or Path
        The folder, or the URL of one in an object store: ``tokens/part-00000.parquet`` and so on,
        ``pairs``, ``rejects`` where there are some, and ``run.json``.
    boards : Boards, mapping from str to Board or path, or folder; optional
        Where the boards are; those that the file names where absent.
    workers : int, optional
        So many threads work; as many as there are cores where absent. Not with `client`.
    part_size : int
        Encounters in a part, up to 1,048,576.
    on_error : str
        ``"reject"`` writes into ``rejects`` what is wrong; ``"raise"`` stops at the first bad row.
    progress : callable or bool, optional
        Called with the encounters done and all of them. Otherwise a bar is shown on a terminal if
        `rich` is installed, unless it is False.
    client : distributed.Client, optional
        The workers of a cluster do it, see the page *On a cluster*.
    resume : bool
        Whether a run that is there may go on.

    Returns
    -------
    Run

    Raises
    ------
    MapError
        If the file cannot be read, or with ``"raise"`` if a row is bad: file, row and field.
    RunError
        If the folder holds a run of something else, another process writes there, or it cannot be
        written to.
    KeyboardInterrupt
        After an interrupt: no part is begun any more; what is finished stays.
    """
    arrow()
    if client is not None and workers is not None:
        raise ArgumentTypeError("workers and client exclude each other: a cluster has its workers")
    _fails(on_error)
    n_workers = _workers(workers)
    if not isinstance(source, str | os.PathLike):
        raise ArgumentTypeError(
            f"source must be a file of encounters, not {type(source).__name__}; "
            "encounters.write() makes one"
        )
    path, place = Path(source).absolute(), Folder(out)
    with only_one(place.path) if not place.is_remote else nullcontext():
        parts = files.parts(path, _part_size(part_size))
        if len(parts) > MOST_PARTS:
            raise ArgumentTypeError(
                f"part_size {part_size:,} makes {len(parts):,} parts; at most {MOST_PARTS:,} are "
                "possible, so it must be larger"
            )
        given = files.boards_of(path, boards)
        wanted = described(of_file(path), of_boards(given), parts, part_size, on_error)
        run = begin(place, wanted, resume=resume)
        missing = set(run.missing)
        jobs = [Job(part, place, on_error) for part in parts if part.number in missing]
        if client is not None:
            results = partial(cluster.each, boards=given, client=client)
        else:
            work = partial(_finish, boards=given)
            results = partial(each, work=work, workers=n_workers)
        with shown(progress, run.n_encounters - _rows(jobs), run.n_encounters) as tell:
            done = _all_of(jobs, results, tell, run)
        place.clean()  # of workers that were killed meanwhile
        finished = tuple(sorted([*run.finished, *done]))
        return Run(run.folder, run.n_encounters, run.n_parts, finished, run.skipped)


def _all_of(
    jobs: list[Job],
    results: Callable[[Iterable[Job]], Generator[Done]],
    tell: Callable[[int], None],
    run: Run,
) -> list[int]:
    """Do all jobs and return their parts; the first bad row is raised if there may be none."""
    n_done = run.n_encounters - _rows(jobs)
    done: list[int] = []
    faults: dict[int, Reject] = {}
    # Those under way when a bad row is met are waited for, so that it is always the first.
    todo = takewhile(lambda job: not faults, jobs)
    try:
        with closing(results(todo)) as outcomes:
            for outcome in outcomes:
                if outcome.fault is not None:
                    faults[outcome.part] = outcome.fault
                    continue
                done.append(outcome.part)
                n_done += outcome.n_encounters
                tell(n_done)
    except KeyboardInterrupt:
        now = open_run(run.folder)
        raise KeyboardInterrupt(
            f"stopped: {len(now.finished):,} of {now.n_parts:,} parts are finished in "
            f"{run.folder}; the same call goes on with the others"
        ) from None
    if faults:
        raise MapError(str(faults[min(faults)]))
    return done


def each(
    items: Iterable[Item], work: Callable[[Item, Stop], Result], workers: int
) -> Generator[Result]:
    """Yield the results of work on threads, as they come; few items are under way at a time.

    Whoever closes the iterator, or meets an error, waits for no more than the work's next look at
    whether to stop.
    """
    stop = threading.Event()
    todo = iter(items)
    waiting: set[Future[Result]] = set()
    pool = ThreadPoolExecutor(workers, "fieldcraft-run")
    try:
        while True:
            for item in islice(todo, workers + 1 - len(waiting)):
                waiting.add(pool.submit(work, item, stop.is_set))
            if not waiting:
                return
            done, waiting = wait(waiting, AWAKE, FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _finish(job: Job, stop: Stop, *, boards: Boards) -> Done:
    return finish(job, boards, stop)


# -- in memory --------------------------------------------------------------------------------


def _gathered(items: Iterable[Item], work: Callable[[Item, Stop], Tables], workers: int) -> Tables:
    """Return the tables of all items, in their order."""
    found: dict[int, Tables] = {}

    def numbered(item: tuple[int, Item], stop: Stop) -> tuple[int, Tables]:
        return item[0], work(item[1], stop)

    with closing(each(enumerate(items), numbered, workers)) as results:
        found.update(results)
    nothing = Tables(tokens_schema().empty_table(), pairs_schema().empty_table(), [])
    in_order = [found[i] for i in range(len(found))] or [nothing]
    return Tables(
        joined([tables.tokens for tables in in_order]).combine_chunks(),
        joined([tables.pairs for tables in in_order]).combine_chunks(),
        [reject for tables in in_order for reject in tables.rejects],
    )


def _part(part: files.Part, stop: Stop, *, boards: Boards, fails: bool) -> Tables:
    return of_part(part, boards, fails=fails, stop=stop)


def _block(encounters: Encounters, stop: Stop, *, boards: Boards, fails: bool) -> Tables:
    return of_encounters(encounters, boards, fails=fails, stop=stop)


def _columns(
    source: Iterable[Encounter], profiles: Iterable[Profile] | Mapping[str, Profile] | None
) -> Encounters:
    """Return encounters as columns."""
    if isinstance(source, Encounters):
        _no_profiles(profiles, "Encounters")
        return source
    if not isinstance(source, Iterable):
        raise ArgumentTypeError(
            f"source must be Encounters, single encounters or a file, not {type(source).__name__}"
        )
    if profiles is None:
        raise ArgumentTypeError("profiles is missing; expected those that the encounters name")
    return Encounters.of(source, profiles)


def _no_profiles(profiles: object, what: str) -> None:
    if profiles is not None:
        raise ArgumentTypeError(f"{what} has its own profiles; expected none besides")


# -- arguments --------------------------------------------------------------------------------


def _workers(workers: int | None) -> int:
    return cores() if workers is None else _whole(workers, "workers", MOST_WORKERS)


def _part_size(size: int) -> int:
    return _whole(size, "part_size", MOST_IN_A_PART)


def _whole(value: int, name: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ArgumentTypeError(f"{name} must be a whole number from 1 to {most:,}, not {value!r}")
    return value


def _fails(on_error: str) -> bool:
    if on_error not in ("reject", "raise"):
        raise ArgumentTypeError(f"on_error must be 'reject' or 'raise', not {on_error!r}")
    return on_error == "raise"


def _rows(jobs: list[Job]) -> int:
    return sum(job.part.n_rows for job in jobs)

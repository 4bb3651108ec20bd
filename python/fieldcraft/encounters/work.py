"""What is done with one part of an analysis: read, check, score, write. Here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fieldcraft.encounters import files, scoring
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.folder import Folder, part_name
from fieldcraft.encounters.model import Encounters
from fieldcraft.encounters.schema import arrow, pairs_schema, tokens_schema
from fieldcraft.queries import alone

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Done", "Job", "Stopped", "Tables", "finish", "never", "scored"]

BLOCK = 512
"""Encounters scored at a time: few enough that nobody waits long who wants to stop."""
COMPRESSION = "zstd"

Stop = Callable[[], bool]


class Stopped(Exception):  # noqa: N818
    """Work was left off because nobody wants it any more."""


class Tables(NamedTuple):
    """The rows of some encounters, and what is wrong with those that have none."""

    tokens: pa.Table
    pairs: pa.Table
    rejects: list[files.Reject]


@dataclass(frozen=True, slots=True)
class Job:
    """A part of the input, and where its tables go."""

    part: files.Part
    folder: Folder
    on_error: str


@dataclass(frozen=True, slots=True)
class Done:
    """A part whose tables are written, or, where bad rows are not allowed, that has one."""

    part: int
    n_encounters: int
    fault: files.Reject | None = None


def never() -> bool:
    """Tell that nobody wants to stop."""
    return False


def finish(job: Job, boards: Boards, stop: Stop = never) -> Done:
    """Read, check, score and write a part. Its file of tokens comes last: then it is finished.

    Raises
    ------
    Stopped
        If `stop` says so before it is written.
    """
    part = job.part
    encounters, rejects = files.read_part(part)
    tables = scored(encounters, boards, rejects, fails=job.on_error == "raise", stop=stop)
    if tables.rejects and job.on_error == "raise":
        return Done(part.number, part.n_rows, tables.rejects[0])
    _write(job.folder, part.number, tables)
    return Done(part.number, part.n_rows)


def scored(
    encounters: Encounters,
    boards: Boards,
    rejects: Iterable[files.Reject] = (),
    *,
    fails: bool = False,
    stop: Stop = never,
) -> Tables:
    """Return the tables of encounters, on this thread alone.

    Parameters
    ----------
    encounters : Encounters
    boards : Boards
    rejects : iterable of Reject
        What was wrong with rows that are not among them.
    fails : bool
        Whether tables are of no use if anything is wrong.
    stop : callable
        Asked between blocks whether to go on.
    """
    with alone():
        faults = files.check(encounters, boards)
        wrong = sorted([*rejects, *faults], key=lambda reject: reject.row)
        if faults:
            bad = np.array([reject.row for reject in faults])
            encounters = encounters[~np.isin(encounters.number, bad)]
        if wrong and fails:
            encounters = encounters[:0]
        tokens, pairs = [tokens_schema().empty_table()], [pairs_schema().empty_table()]
        for begin in range(0, len(encounters), BLOCK):
            if stop():
                raise Stopped
            of_tokens, of_pairs = scoring.score(encounters[begin : begin + BLOCK], boards)
            tokens.append(of_tokens)
            pairs.append(of_pairs)
        if stop():
            raise Stopped
        return Tables(joined(tokens), joined(pairs), wrong)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables end to end, the words of all numbered alike."""
    some = [table for table in tables if table.num_rows] or tables[:1]
    return some[0] if len(some) == 1 else arrow().concat_tables(some).unify_dictionaries()


def _write(folder: Folder, number: int, tables: Tables) -> None:
    """Write a part: pairs, rejects, and at the end tokens."""
    folder.put(part_name("pairs", number), _parquet(tables.pairs))
    if tables.rejects:
        folder.put(part_name("rejects", number), files.text_of(tables.rejects))
    folder.put(part_name("tokens", number), _parquet(tables.tokens))


def _parquet(table: pa.Table) -> Any:
    """Return a table as the bytes of a Parquet file, equal for equal tables."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table.combine_chunks(), sink, compression=COMPRESSION)
    return sink.getvalue()

"""What is done with one part of an analysis: read, check, score, write. Here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fieldcraft.encounters import scoring
from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.checking import check
from fieldcraft.encounters.files import Part, read_part
from fieldcraft.encounters.folder import Folder, part_name
from fieldcraft.encounters.model import Encounters
from fieldcraft.encounters.rejects import Reject
from fieldcraft.encounters.schema import arrow, pairs_schema, tokens_schema
from fieldcraft.queries import alone

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Done", "Job", "Stopped", "Tables", "finish", "of_encounters", "of_part"]

BLOCK = 4096
"""Encounters scored at a time: few enough that nobody waits long who wants to stop."""
PARQUET: dict[str, Any] = {
    "compression": "zstd", "compression_level": 1, "write_statistics": ["encounter"],
}  # fmt: skip

Stop = Callable[[], bool]


class Stopped(Exception):
    """Work was left off because nobody wants it any more."""


class Tables(NamedTuple):
    """The rows of some encounters, and what is wrong with those that have none."""

    tokens: pa.Table
    pairs: pa.Table
    rejects: list[Reject]


@dataclass(frozen=True, slots=True)
class Job:
    """A part of the input, and where its tables go."""

    part: Part
    folder: Folder
    on_error: str


@dataclass(frozen=True, slots=True)
class Done:
    """A part whose tables are written, or, where bad rows are not allowed, that has one."""

    part: int
    n_encounters: int
    fault: Reject | None = None


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
    tables = of_part(part, boards, fails=job.on_error == "raise", stop=stop)
    if tables.rejects and job.on_error == "raise":
        return Done(part.number, part.n_rows, tables.rejects[0])
    _write(job.folder, part.number, tables)
    return Done(part.number, part.n_rows)


def of_part(part: Part, boards: Boards, *, fails: bool, stop: Stop = never) -> Tables:
    """Return the tables of a part of a file.

    Parameters
    ----------
    part : Part
    boards : Boards
    fails : bool
        Whether tables are of no use if anything is wrong.
    stop : callable
        Asked between blocks whether to go on.
    """
    with alone():
        encounters, rejects = read_part(part, boards=boards)
        return Tables(
            *_scored(encounters[: 0 if fails and rejects else None], boards, stop), rejects
        )


def of_encounters(
    encounters: Encounters, boards: Boards, *, fails: bool, stop: Stop = never
) -> Tables:
    """Return the tables of encounters that nobody has checked; parameters as in `of_part`."""
    with alone():
        rejects = check(encounters, boards)
        if rejects:
            bad = [reject.row for reject in rejects]
            fits = ~np.isin(encounters.number, bad)
            encounters = encounters.take(np.flatnonzero(fits & (not fails)))
        return Tables(*_scored(encounters, boards, stop), rejects)


def _scored(encounters: Encounters, boards: Boards, stop: Stop) -> tuple[pa.Table, pa.Table]:
    """Return the tables of checked encounters, scored a block at a time."""

    def between() -> None:
        if stop():
            raise Stopped

    tokens, pairs = [tokens_schema().empty_table()], [pairs_schema().empty_table()]
    for begin in range(0, len(encounters), BLOCK):
        block = encounters[begin : begin + BLOCK] if len(encounters) > BLOCK else encounters
        of_tokens, of_pairs = scoring.score(block, boards, between=between)
        tokens.append(of_tokens)
        pairs.append(of_pairs)
    between()
    return joined(tokens), joined(pairs)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables end to end, the words of all numbered alike."""
    some = [table for table in tables if table.num_rows] or tables[:1]
    return some[0] if len(some) == 1 else arrow().concat_tables(some).unify_dictionaries()


def _write(folder: Folder, number: int, tables: Tables) -> None:
    """Write a part: pairs, rejects, and at the end tokens."""
    folder.put(part_name("pairs", number), _parquet(tables.pairs))
    if tables.rejects:
        folder.put(
            part_name("rejects", number),
            "".join(f"{reject.to_json()}\n" for reject in tables.rejects).encode(),
        )
    folder.put(part_name("tokens", number), _parquet(tables.tokens))


def _parquet(table: pa.Table) -> Any:
    """Return a table as the bytes of a Parquet file, equal for equal tables."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table.combine_chunks(), sink, **PARQUET)
    return sink.getvalue()

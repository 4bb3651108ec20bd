"""The tables of an analysis in blocks of whole encounters: never more of them than one block."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.encounters.model import MOST_TOKENS
from fieldcraft.encounters.run import Analysis, Run, open_run
from fieldcraft.encounters.schema import VERSION, arrow, pairs_schema, tokens_schema
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.sight import HIDDEN

__all__ = ["Block", "Tables"]

Array = npt.NDArray[Any]
Columns = dict[str, Array]

TOKEN_COLUMNS = (
    "encounter", "token", "board", "profile", "side", "reached", "stops", "targets_now",
    "targets_after", "attack_malus", "exposure_before", "exposure_after", "expected_stake",
)  # fmt: skip
PAIR_COLUMNS = ("encounter", "viewer", "target", "foe", "visible", "distance", "malus")
WORDS, FLAGS = ("board", "profile", "side"), ("foe", "visible")

ROWS = 1 << 15
"""Rows read at a time."""
PAIRS = 1 << 18
"""A block ends before it has more pairs, unless one encounter has."""


class Block(NamedTuple):
    """Some encounters, whole, with their tokens and their pairs.

    Attributes
    ----------
    first : ndarray of int64, shape (e + 1,)
        The tokens of encounter i are ``first[i]`` to ``first[i + 1]``.
    tokens : dict of ndarrays, shape (t,)
        Columns of the table of tokens. Of a board, a profile and a side it is the number among
        the names of `Tables`; a malus that is none is HIDDEN.
    viewer, target : ndarray of int64, shape (p,)
        Of each pair the tokens, counted in the block.
    back : ndarray of int64, shape (p,)
        The pair the other way round.
    foe, visible : ndarray of bool, shape (p,)
    distance : ndarray of float32, shape (p,)
    malus : ndarray of int16, shape (p,)
    """

    first: Array
    tokens: Columns
    viewer: Array
    target: Array
    back: Array
    foe: Array
    visible: Array
    distance: Array
    malus: Array


class Tables:
    """The two tables of an analysis.

    Parameters
    ----------
    source : str, Path, Run, Analysis or (pyarrow.Table, pyarrow.Table)
        The folder of a run, the run, or tables of tokens and of pairs.

    Attributes
    ----------
    names : dict from str to list of str
        The names of boards, profiles and sides that were met so far, by their numbers.
    run : Run or None

    Raises
    ------
    MapError
        If there are no such tables, their columns are others, or they do not fit together.
    RunError
        If there is no run.
    """

    def __init__(self, source: Any) -> None:
        self.run: Run | None = None
        self._numbers: dict[str, dict[str, int]] = {word: {} for word in WORDS}
        tables = arrow().Table
        if isinstance(source, str | os.PathLike):
            source = open_run(source)
        if isinstance(source, Analysis):
            source = source.tokens, source.pairs
        if isinstance(source, Run):
            self.run = source
            read: Any = self._of_run
            given: tuple[Any, ...] = ("tokens", "pairs")
        else:
            read = self._of_table
            given = tuple(source) if isinstance(source, Sequence) else ()
            if len(given) != 2 or not all(isinstance(part, tables) for part in given):
                raise ArgumentTypeError(
                    "expected a run, the folder of one, or its tables of tokens and of pairs as "
                    f"two pyarrow Tables, not {type(source).__name__}"
                )
        self._tokens = read(given[0], "tokens", tokens_schema(), TOKEN_COLUMNS)
        self._pairs = read(given[1], "pairs", pairs_schema(), PAIR_COLUMNS)

    @property
    def names(self) -> dict[str, list[str]]:
        """The names that were met so far."""
        return {word: list(numbers) for word, numbers in self._numbers.items()}

    def blocks(self) -> Iterator[Block]:
        """Yield all encounters in blocks. This can be done once."""
        pairs = _Stream(self._pairs)
        for tokens in _whole(self._tokens):
            numbers = tokens["encounter"]
            first = _starts(numbers)
            for begin, end in _cuts(np.diff(first)):
                part = {k: v[first[begin] : first[end]] for k, v in tokens.items()}
                last = int(part["encounter"][-1])
                yield _block(first[begin : end + 1] - first[begin], part, pairs.up_to(last))
        rest = pairs.next()
        if rest is not None:
            raise MapError(
                f"the table of pairs has encounter {int(rest['encounter'][0])}, "
                "the table of tokens has not"
            )

    # -- reading ------------------------------------------------------------------------------

    def _of_run(self, table: str, name: str, schema: Any, wanted: Sequence[str]) -> Any:
        """Yield the columns of the finished parts of a run, a batch at a time."""
        pa = arrow()
        if self.run is None:
            raise AssertionError("only a run has parts")
        parts = self.run.dataset(table)
        for file in parts.files:
            try:
                with pa.parquet.ParquetFile(file, filesystem=parts.filesystem) as parquet:
                    _check(parquet.schema_arrow, file, schema, wanted)
                    for batch in parquet.iter_batches(ROWS, columns=list(wanted)):
                        yield self._columns(batch, file, schema, wanted)
            except (OSError, pa.ArrowException) as error:
                raise MapError(f"{file}: cannot be read ({_line(error)})") from None

    def _of_table(self, table: Any, name: str, schema: Any, wanted: Sequence[str]) -> Any:
        """Yield the columns of a table, a batch at a time, in the order of the encounters."""
        where = f"the table of {name}"
        _check(table.schema, where, schema, wanted)
        table = table.select(list(wanted))
        if (np.diff(table["encounter"].to_numpy()) < 0).any():
            table = table.sort_by("encounter")
        for batch in table.to_batches(ROWS):
            yield self._columns(batch, where, schema, wanted)

    def _columns(self, batch: Any, where: str, schema: Any, wanted: Sequence[str]) -> Columns:
        """Return a batch as arrays, names as numbers."""
        pa = arrow()
        columns = {}
        for name in wanted:
            array, field = batch.column(name), schema.field(name)
            if array.null_count and not field.nullable:
                raise MapError(f"{where}: column {name} has an empty place")
            try:
                if name in WORDS:
                    columns[name] = self._word(name, array)
                    continue
                array = array.cast(field.type)
            except pa.ArrowException as error:
                raise MapError(f"{where}: column {name}: {_line(error)}") from None
            if array.null_count:
                array = array.fill_null(HIDDEN)
            columns[name] = array.to_numpy(zero_copy_only=False)
        return columns

    def _word(self, name: str, array: Any) -> Array:
        """Return the numbers of names, those of new ones after all others."""
        pa = arrow()
        if not pa.types.is_dictionary(array.type):
            array = array.cast(pa.string()).dictionary_encode()
        numbers = self._numbers[name]
        used, places = np.unique(array.indices.to_numpy(), return_inverse=True)
        words = array.dictionary.cast(pa.string()).take(pa.array(used)).to_pylist()
        if None in words:
            raise pa.ArrowInvalid("an empty place among its words")
        found = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        codes: Array = found[places]
        return codes


def _check(given: Any, where: str, schema: Any, wanted: Sequence[str]) -> None:
    """Raise MapError if columns are missing, or are those of another version."""
    kind = schema.metadata[b"fieldcraft"].decode()
    said = (given.metadata or {}).get(b"fieldcraft")
    if said is not None and said.decode(errors="replace") != kind:
        raise MapError(
            f"{where}: is of kind {said.decode(errors='replace')!r}; expected {kind!r}, "
            f"which version {VERSION} of the tables has"
        )
    missing = [name for name in wanted if given.get_field_index(name) < 0]
    if missing:
        raise MapError(f"{where}: has no column {', '.join(missing)}")


def _line(error: Exception) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split())


# -- cutting and joining ----------------------------------------------------------------------


class _Stream:
    """Rows in the order of their encounters, handed out up to one of them."""

    def __init__(self, batches: Iterable[Columns]) -> None:
        self._batches = _in_order(batches, "pairs")
        self._held: Columns | None = None

    def next(self) -> Columns | None:
        """Return the rows at hand, or the next ones; None at the end."""
        while self._held is None or not len(self._held["encounter"]):
            self._held = next(self._batches, None)
            if self._held is None:
                break
        return self._held

    def up_to(self, encounter: int) -> Columns:
        """Return all rows up to an encounter, which are then gone."""
        parts = []
        while (held := self.next()) is not None:
            cut = int(np.searchsorted(held["encounter"], encounter, "right"))
            parts.append({name: column[:cut] for name, column in held.items()})
            self._held = {name: column[cut:] for name, column in held.items()}
            if cut < len(held["encounter"]):
                break
        return _joined(parts, PAIR_COLUMNS)


def _in_order(batches: Iterable[Columns], kind: str) -> Iterator[Columns]:
    """Yield batches that have rows; raise MapError where an encounter comes after a later one."""
    last = None
    for batch in batches:
        numbers = batch["encounter"]
        if not len(numbers):
            continue
        before = numbers[:1] if last is None else last
        wrong = np.flatnonzero(np.diff(numbers, prepend=before) < 0)
        if len(wrong):
            at = int(numbers[wrong[0]])
            raise MapError(f"the table of {kind}: encounter {at} comes after a later one")
        last = numbers[-1:]
        yield batch


def _whole(batches: Iterable[Columns]) -> Iterator[Columns]:
    """Yield the tokens of whole encounters, a batch or so at a time."""
    held: Columns = {}
    for batch in _in_order(batches, "tokens"):
        held = _joined([held, batch] if held else [batch], TOKEN_COLUMNS)
        numbers = held["encounter"]
        cut = int(np.searchsorted(numbers, numbers[-1], "left"))
        if len(numbers) - cut > MOST_TOKENS:
            raise MapError(
                f"the table of tokens: encounter {int(numbers[-1])} has more than "
                f"{MOST_TOKENS:,} tokens"
            )
        if cut:
            yield {name: column[:cut] for name, column in held.items()}
            held = {name: column[cut:] for name, column in held.items()}
    if held:
        yield held


def _joined(parts: Sequence[Columns], names: Sequence[str]) -> Columns:
    """Return columns of several parts end to end."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return {name: np.zeros(0, bool if name in FLAGS else np.int64) for name in names}
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _starts(numbers: Array) -> Array:
    """Return where each run of equal numbers begins, and the end."""
    changes = np.flatnonzero(np.diff(numbers)) + 1
    return np.concatenate([[0], changes, [len(numbers)]])


def _cuts(sizes: Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of encounters with about PAIRS pairs at most, by their numbers of tokens."""
    pairs = np.cumsum(sizes * (sizes - 1))
    begin, done = 0, 0
    while begin < len(sizes):
        end = max(int(np.searchsorted(pairs, done + PAIRS, "right")), begin + 1)
        yield begin, end
        begin, done = end, int(pairs[end - 1])


def _block(first: Array, tokens: Columns, pairs: Columns) -> Block:
    """Return a block, after a look at whether tokens and pairs are all there."""
    sizes = np.diff(first)
    numbers = tokens["encounter"][first[:-1]]
    own = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    tokens = _sorted(tokens, (tokens["encounter"], tokens["token"]), ("token",), (own,), numbers)
    # All pairs of an encounter: viewer by viewer, and for each its targets, itself left out.
    n_pairs = sizes * (sizes - 1)
    begins = np.cumsum(n_pairs) - n_pairs
    base, one_less = np.repeat(begins, n_pairs), np.repeat(sizes - 1, n_pairs)
    viewer, target = np.divmod(np.arange(n_pairs.sum()) - base, np.maximum(one_less, 1))
    target += target >= viewer
    keys = (pairs["encounter"], pairs["viewer"], pairs["target"])
    wanted = (np.repeat(numbers, n_pairs), viewer, target)
    pairs = _sorted(pairs, keys, ("encounter", "viewer", "target"), wanted, numbers)
    if not np.isfinite(pairs["distance"]).all():
        raise MapError("the table of pairs: a distance is not finite")
    start = np.repeat(first[:-1], n_pairs)
    return Block(
        first, tokens, start + viewer, start + target,
        base + target * one_less + viewer - (viewer > target),
        *(pairs[name] for name in ("foe", "visible", "distance", "malus")),
    )  # fmt: skip


def _sorted(
    columns: Columns, keys: Sequence[Array], names: Sequence[str], wanted: Any, numbers: Array
) -> Columns:
    """Return rows in the order wanted; raise MapError if they are not the rows wanted."""
    for _ in range(2):
        rows = zip((columns[name] for name in names), wanted, strict=True)
        if all(np.array_equal(given, should) for given, should in rows):
            return columns
        order = np.lexsort(tuple(keys)[::-1])
        columns = {name: column[order] for name, column in columns.items()}
    kind = "pair" if "viewer" in names else "token"
    raise MapError(
        f"the table of {kind}s: among encounters {int(numbers[0])} to {int(numbers[-1])} a {kind} "
        "is missing, or is one too many"
    )

"""Encounters as tables of pyarrow, and back: the Parquet form, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.encounters.model import BOARD_LIGHT, FLYING, GROUNDS, MOST_TOKENS, Encounters
from fieldcraft.encounters.rows import FARTHEST, FLAGS, HIGHEST, is_text
from fieldcraft.encounters.schema import arrow
from fieldcraft.errors import MapError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batch", "check_schema", "encounters_schema", "read_batch", "row_of", "to_table"]

Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
COLUMNS = ("id", "board", "light", "ground", "tokens", "extra")
FIELDS = ("profile", "side", "row", "col", "name", "level", "prone", "flying", "helpless", "extra")
NEEDED = ("board", "tokens", "profile", "side", "row", "col")


def encounters_schema() -> pa.Schema:
    """Return the columns of a file of encounters: one row an encounter."""
    pa = arrow()
    word = pa.dictionary(pa.int32(), pa.string())
    token = pa.struct(
        [
            pa.field("profile", word, False),
            pa.field("side", word, False),
            pa.field("row", pa.int32(), False),
            pa.field("col", pa.int32(), False),
            pa.field("name", word),
            pa.field("level", pa.int16()),
            pa.field("prone", pa.bool_()),
            pa.field("flying", pa.bool_()),
            pa.field("helpless", pa.bool_()),
        ]
    )
    return pa.schema(
        [
            ("id", pa.string()),
            pa.field("board", word, False),
            ("light", pa.int16()),
            ("ground", word),
            pa.field("tokens", pa.list_(pa.field("element", token, False)), False),
        ]
    )


# -- writing --------------------------------------------------------------------------------------


def to_table(encounters: Encounters) -> pa.Table:
    """Return encounters as a table of `encounters_schema`."""
    pa = arrow()
    schema = encounters_schema()
    given = encounters
    ids = [id_ or None for id_ in given.ids or ("",) * len(given)]
    names = _words(_indices(given.names, len(given.profile)), _distinct(given.names))
    element = schema.field("tokens").type.value_type
    tokens = pa.StructArray.from_arrays(
        [
            _words(given.profile, [profile.name for profile in given.profiles]),
            _words(given.side, given.sides),
            pa.array(given.cells[:, 0]),
            pa.array(given.cells[:, 1]),
            names,
            pa.array(given.level),
            *(pa.array((given.flags & bit) != 0) for _, bit in FLAGS),
        ],
        fields=list(element),
    )
    lists = pa.ListArray.from_arrays(
        pa.array(given.first.astype(np.int32)), tokens, type=schema.field("tokens").type
    )
    columns = [
        pa.array(ids, pa.string()),
        _words(given.board, given.boards),
        pa.array(given.light, mask=given.light == BOARD_LIGHT),
        _words(given.ground.astype(np.int32), GROUNDS),
        lists,
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _words(indices: Array, words: Sequence[str]) -> pa.DictionaryArray:
    """Return a column of words by their numbers; -1 is none."""
    pa = arrow()
    mask = indices < 0
    numbers = pa.array(indices.astype(np.int32), mask=mask if mask.any() else None)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(list(words), pa.string()))


def _distinct(names: Sequence[str] | None) -> list[str]:
    return list(dict.fromkeys(name for name in names or () if name))


def _indices(names: Sequence[str] | None, count: int) -> Array:
    """Return of each name its number among the distinct ones, -1 for none."""
    if names is None:
        return np.full(count, -1, np.int32)
    number = {name: i for i, name in enumerate(_distinct(names))}
    return np.array([number.get(name, -1) for name in names], np.int32)


# -- reading --------------------------------------------------------------------------------------


def check_schema(schema: pa.Schema, source: str) -> None:
    """Raise MapError for a file whose columns are not those of encounters.

    Raises
    ------
    MapError
        If a column is missing, unknown or of a type that cannot hold its values.
    """
    types = {field.name: field.type for field in schema}
    _check_names(source, "column", types, len(schema), COLUMNS)
    pa = arrow()
    for name in ("id", "board", "ground"):
        _check_type(source, name, types.get(name), _holds_text, "text")
    _check_type(source, "light", types.get("light"), _holds_numbers, "whole numbers")
    tokens = types["tokens"]
    if not _is_list(tokens) or not pa.types.is_struct(tokens.value_type):
        raise MapError(f"{source}: column tokens has type {tokens}; expected a list of structures")
    inner = {field.name: field.type for field in tokens.value_type}
    _check_names(source, "field of tokens", inner, tokens.value_type.num_fields, FIELDS)
    for name in ("profile", "side", "name"):
        _check_type(source, f"tokens.{name}", inner.get(name), _holds_text, "text")
    for name in ("row", "col", "level"):
        _check_type(source, f"tokens.{name}", inner.get(name), _holds_numbers, "whole numbers")
    for name, _ in FLAGS:
        _check_type(source, f"tokens.{name}", inner.get(name), _holds_flags, "true or false")


def _check_names(
    source: str, what: str, given: dict[str, Any], count: int, known: Sequence[str]
) -> None:
    for name in given:
        if name not in known:
            raise MapError(
                f"{source}: unknown {what} {name[:80]!r}{nearest(name[:80], known)}; expected "
                f"{', '.join(known)}"
            )
    if count != len(given):
        raise MapError(f"{source}: a {what} stands there twice")
    for name in known:
        if name in NEEDED and name not in given:
            raise MapError(f"{source}: has no {what} {name!r}; expected {', '.join(known)}")


def _check_type(source: str, name: str, type_: Any, holds: Any, expected: str) -> None:
    if type_ is not None and not arrow().types.is_null(type_) and not holds(type_):
        raise MapError(f"{source}: column {name} has type {type_}; expected {expected}")


def _holds_text(type_: Any) -> bool:
    types = arrow().types
    if types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(types.is_string(type_) or types.is_large_string(type_))


def _holds_numbers(type_: Any) -> bool:
    types = arrow().types
    return bool(types.is_integer(type_) or types.is_float32(type_) or types.is_float64(type_))


def _holds_flags(type_: Any) -> bool:
    return bool(arrow().types.is_boolean(type_))


def _is_list(type_: Any) -> bool:
    return bool(arrow().types.is_list(type_) or arrow().types.is_large_list(type_))


class Batch(NamedTuple):
    """A batch of rows: those that are plainly good as columns, and where the others are."""

    encounters: Encounters
    doubtful: Array


def read_batch(batch: pa.RecordBatch, number: int, profiles: Sequence[Any]) -> Batch:
    """Return the rows of a batch.

    Parameters
    ----------
    batch : RecordBatch
    number : int
        The number of its first row in the file.
    profiles : sequence of Profile

    Returns
    -------
    Batch
        `doubtful` holds the places in the batch of rows that must be looked at one by one.
    """
    n = batch.num_rows
    lists = batch.column("tokens")
    values = lists.values
    sizes = np.diff(lists.offsets.to_numpy(zero_copy_only=False)).astype(np.int64)
    begins = lists.offsets.to_numpy(zero_copy_only=False)[:-1].astype(np.int64)
    good = _valid(lists) & (sizes >= 1) & (sizes <= MOST_TOKENS)
    board, boards = _texts(batch.column("board"))
    good &= board >= 0
    good &= np.array([bool(name) for name in boards] + [True], bool)[board]
    light, fine = _numbers(_column(batch, "light"), n, -127, 0, BOARD_LIGHT)
    good &= fine
    ground, fine = _grounds(_column(batch, "ground"), n)
    good &= fine
    id_, ids = _texts(_column(batch, "id"), n)
    good &= id_ >= -1

    count = len(values)
    fields: dict[str, Array] = {}
    token_good = _valid(values)
    named, words = _texts(values.field("profile"))
    numbers = {profile.name: i for i, profile in enumerate(profiles)}
    lookup = np.array([numbers.get(word, -1) for word in words] + [-1], np.int64)
    fields["profile"] = lookup[np.maximum(named, -1)]
    token_good &= fields["profile"] >= 0
    fields["side"], sides = _texts(values.field("side"))
    token_good &= fields["side"] >= 0
    for name, least, most, default in (
        ("row", 0, FARTHEST, None), ("col", 0, FARTHEST, None), ("level", 0, HIGHEST, 0),
    ):  # fmt: skip
        fields[name], fine = _numbers(_field(values, name), count, least, most, default)
        token_good &= fine
    fields["flags"] = np.zeros(count, np.int64)
    for name, bit in FLAGS:
        fields["flags"] |= bit * _flags(_field(values, name), count)
    fields["name"], names = _texts(_field(values, "name"), count)
    token_good &= fields["name"] >= -1
    return _gathered(
        good, token_good, begins, sizes, fields,
        {"board": board, "light": light, "ground": ground, "number": number + np.arange(n)},
        (id_, ids), (boards, profiles, sides, names),
    )  # fmt: skip


def _gathered(
    good: Bools,
    token_good: Bools,
    begins: Array,
    sizes: Array,
    fields: dict[str, Array],
    rows: dict[str, Array],
    ids: tuple[Array, list[str]],
    words: tuple[list[str], Sequence[Any], list[str], list[str]],
) -> Batch:
    """Return the good rows of a batch as encounters, and the places of the others."""
    sizes = np.where(good, sizes, 0)
    owner, tokens = _members(begins, sizes)
    good[owner[~token_good[tokens]]] = False
    good[owner[_repeated(owner, tokens, fields)]] = False
    kept = good[owner]
    tokens = tokens[kept]
    first = np.concatenate([[0], np.cumsum(sizes[good])])
    boards, profiles, sides, names = words
    board, known = _used(rows["board"][good], boards)
    side, known_sides = _used(fields["side"][tokens], sides)
    named = fields["name"][tokens]
    encounters = Encounters(
        known, profiles, known_sides,
        ids=_spelled(ids[0][good], ids[1]), names=_spelled(named, names),
        board=board, light=rows["light"][good], ground=rows["ground"][good],
        number=rows["number"][good], first=first,
        profile=fields["profile"][tokens], side=side,
        cells=np.stack([fields["row"][tokens], fields["col"][tokens]], axis=1),
        level=fields["level"][tokens], flags=fields["flags"][tokens],
    )  # fmt: skip
    return Batch(encounters, np.flatnonzero(~good))


def _members(begins: Array, sizes: Array) -> tuple[Array, Array]:
    """Return of all tokens the row they are of and their place among the values."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    return owner, np.arange(len(owner)) - first[owner] + begins[owner]


def _repeated(owner: Array, tokens: Array, fields: dict[str, Array]) -> Array:
    """Return which tokens stand where another of their row does."""
    plane = fields["level"][tokens] * 2 + ((fields["flags"][tokens] & FLYING) != 0)
    keys = (fields["col"][tokens], fields["row"][tokens], plane, owner)
    spread = [int(key.max()) + 1 if len(key) else 1 for key in keys]
    if np.prod([float(size) for size in spread]) < 2.0**62:
        key = ((owner * spread[2] + plane) * spread[1] + keys[1]) * spread[0] + keys[0]
        if (np.diff(np.sort(key)) > 0).all():
            return np.zeros(0, np.int64)
    order = np.lexsort(keys)
    same = np.all([np.diff(key[order]) == 0 for key in keys], axis=0)
    found: Array = order[1:][same]
    return found


def _used(indices: Array, words: Sequence[str]) -> tuple[Array, list[str]]:
    """Return indices into the words that are in use alone, in the order of their first use."""
    found, first = np.unique(indices, return_index=True)
    used = found[np.argsort(first)]
    # Two entries of a dictionary may be the same word.
    number: dict[str, int] = {}
    lookup = np.zeros(len(words) + 1, np.int64)
    for index in used.tolist():
        lookup[index] = number.setdefault(words[index], len(number))
    return lookup[indices], list(number)


def _spelled(indices: Array, words: Sequence[str]) -> list[str] | None:
    """Return words by their numbers, empty ones for none; None where there is none at all."""
    if not (indices >= 0).any():
        return None
    spelled = [*words, ""]
    return [spelled[i] for i in indices.tolist()]


def _column(batch: pa.RecordBatch, name: str) -> Any:
    return batch.column(name) if name in batch.schema.names else None


def _field(values: Any, name: str) -> Any:
    return values.field(name) if values.type.get_field_index(name) >= 0 else None


def _valid(array: Any) -> Bools:
    """Return which values are not null."""
    if array.null_count == 0:
        return np.ones(len(array), bool)
    valid: Bools = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _texts(array: Any, count: int = 0) -> tuple[Array, list[str]]:
    """Return a column of text as numbers and words: -1 for null, -2 for what is no text."""
    pa = arrow()
    if array is None or pa.types.is_null(array.type):
        return np.full(count if array is None else len(array), -1, np.int64), []
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    elif len(array.dictionary) > len(array) + 64:
        array = array.dictionary_decode().dictionary_encode()  # the words of this batch alone
    indices = array.indices
    valid = _valid(indices)
    numbers = indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    words, wrong = _decoded(array.dictionary)
    numbers = np.where(valid, numbers, -1)
    if wrong:
        lookup = np.arange(-1, len(words))
        lookup[np.array(wrong) + 1] = -2
        numbers = lookup[numbers + 1]
    return numbers, words


def _decoded(dictionary: Any) -> tuple[list[str], list[int]]:
    """Return the words of a dictionary, and the numbers of those that are no text."""
    pa = arrow()
    try:
        words = dictionary.to_pylist()
    except UnicodeDecodeError:
        found = dictionary.cast(pa.binary() if pa.types.is_string(dictionary.type) else
                                pa.large_binary()).to_pylist()  # fmt: skip
        words = [None if word is None else word.decode(errors="surrogateescape") for word in found]
    wrong = [i for i, word in enumerate(words) if not is_text(word)]
    return ["" if word is None else word for word in words], wrong


def _numbers(
    array: Any, count: int, least: int, most: int, default: int | None
) -> tuple[Array, Bools]:
    """Return a column of whole numbers, and which of them are good; null is the default if any."""
    pa = arrow()
    if array is None or pa.types.is_null(array.type):
        count = count if array is None else len(array)
        return np.full(count, default or 0), np.full(count, default is not None)
    valid = _valid(array)
    given = (array if valid.all() else array.fill_null(0)).to_numpy(zero_copy_only=False)
    fine = (given >= least) & (given <= most)
    if given.dtype.kind == "f":
        fine &= given == np.floor(given)
    numbers = np.where(fine, given, 0).astype(np.int64)
    if valid.all():
        return numbers, fine
    numbers = np.where(valid, numbers, default or 0)
    return numbers, (fine & valid) | (~valid & (default is not None))


def _flags(array: Any, count: int) -> Array:
    if array is None or arrow().types.is_null(array.type):
        return np.zeros(count, np.int64)
    flags: Array = array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64)
    return flags


def _grounds(array: Any, n: int) -> tuple[Array, Bools]:
    """Return the column of grounds; null is dry."""
    numbers, words = _texts(array, n)
    known = [GROUNDS.index(word) if word in GROUNDS else -1 for word in words]
    # The last two are asked for with -2 and -1: no text, and null.
    lookup = np.array([*known, -1, 0], np.int64)
    ground = lookup[numbers]
    return np.maximum(ground, 0), ground >= 0


def row_of(batch: pa.RecordBatch, place: int) -> dict[str, Any]:
    """Return a row of a batch as an object of JSON Lines."""
    row = _listed(batch.slice(place, 1))
    for name in [name for name in row if row[name] is None and name not in NEEDED]:
        del row[name]
    if isinstance(row.get("tokens"), list):
        row["tokens"] = [_token_of(token) for token in row["tokens"]]
    return row


def _token_of(token: Any) -> Any:
    if not isinstance(token, dict):
        return token
    given = {key: value for key, value in token.items() if value is not None}
    place = {"profile": token["profile"], "side": token["side"]}
    cell = [given.pop("row", None), given.pop("col", None)]
    if cell == [None, None]:
        return place | given
    return place | {"cell": cell} | given


def _listed(batch: pa.RecordBatch) -> dict[str, Any]:
    """Return a batch of one row as an object, text that is none with halves of characters."""
    row: dict[str, Any]
    try:
        (row,) = batch.to_pylist()
    except UnicodeDecodeError:
        (row,) = _as_bytes(batch).to_pylist()
        row = _escaped(row)
    return row


def _as_bytes(batch: Any) -> Any:
    """Return a batch with its text as bytes."""
    pa = arrow()

    def bare(type_: Any) -> Any:
        if pa.types.is_dictionary(type_):
            return bare(type_.value_type)
        if pa.types.is_string(type_):
            return pa.binary()
        if pa.types.is_large_string(type_):
            return pa.large_binary()
        if pa.types.is_struct(type_):
            return pa.struct([pa.field(f.name, bare(f.type)) for f in type_])
        if _is_list(type_):
            return (pa.list_ if pa.types.is_list(type_) else pa.large_list)(bare(type_.value_type))
        return type_

    schema = pa.schema([pa.field(field.name, bare(field.type)) for field in batch.schema])
    return pa.Table.from_batches([batch]).cast(schema)


def _escaped(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, dict):
        return {key: _escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    return value

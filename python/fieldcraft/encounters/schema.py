"""The tables of an analysis: their columns, and the version of their schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldcraft.errors import MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["VERSION", "arrow", "pairs_schema", "tokens_schema"]

VERSION = 1
"""Of the files and of the tables; a file of another is refused."""


def arrow() -> Any:
    """Return pyarrow, or raise MissingExtraError."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "encounters in files and tables need pyarrow: pip install 'fieldcraft[table]'"
        ) from None
    return pyarrow


def tokens_schema() -> pa.Schema:
    """Return the columns of the table of tokens: one row a token."""
    pa = arrow()
    word = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [
            ("encounter", pa.int64(), False),
            ("token", pa.int16(), False),
            ("board", word, False),
            ("profile", word, False),
            ("side", word, False),
            ("row", pa.int32(), False),
            ("col", pa.int32(), False),
            ("reached", pa.int32(), False),
            ("stops", pa.int32(), False),
            ("targets_now", pa.int16(), False),
            ("targets_after", pa.int16(), False),
            ("attack_row", pa.int32()),
            ("attack_col", pa.int32()),
            ("attack_malus", pa.int16()),
            ("attack_price", pa.float32()),
            ("safe_row", pa.int32(), False),
            ("safe_col", pa.int32(), False),
            ("exposure_before", pa.int16(), False),
            ("exposure_after", pa.int16(), False),
            ("malus_before", pa.int16()),
            ("malus_after", pa.int16()),
            ("expected_stake", pa.int64(), False),
        ],
        metadata={"fieldcraft": f"tokens {VERSION}"},
    )


def pairs_schema() -> pa.Schema:
    """Return the columns of the table of pairs: one row for each two tokens of an encounter."""
    pa = arrow()
    return pa.schema(
        [
            ("encounter", pa.int64(), False),
            ("viewer", pa.int16(), False),
            ("target", pa.int16(), False),
            ("foe", pa.bool_(), False),
            ("distance", pa.float32(), False),
            ("visible", pa.bool_(), False),
            ("obstruction", pa.int16()),
            ("light", pa.int16(), False),
            ("malus", pa.int16()),
            ("spell_failure", pa.float32()),
        ],
        metadata={"fieldcraft": f"pairs {VERSION}"},
    )

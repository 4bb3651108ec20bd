"""What lies between any two cells of a map, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from fieldcraft.sight_field import SightField

__all__ = ["PairSums", "pair_sums"]

Array = npt.NDArray[Any]


class PairSums(NamedTuple):
    """Halves between all pairs of cells, uint8 (cells, cells), `limit` at most."""

    sums: Array
    limit: int


def pair_sums(field: SightField) -> PairSums | None:
    """Return the table of a field; None where its sums depend on more than the two cells."""
    if not field._plain or field._limit > np.iinfo(np.uint8).max // 3:
        return None
    cells: Array = np.argwhere(np.ones(field.shape, np.bool_))
    table = np.zeros((len(cells), len(cells)), np.uint8)
    lines = field._pair_lines(len(cells) ** 2, max(field.shape))
    halves = np.empty(len(cells), np.int32)
    for i, cell in enumerate(cells):
        pairs = np.stack([np.broadcast_to(cell, cells.shape), cells], axis=1)
        field._count_between(np.ascontiguousarray(pairs), halves, lines)
        table[i] = np.minimum(halves, field._limit)
    np.fill_diagonal(table, 0)
    return PairSums(table, field._limit)

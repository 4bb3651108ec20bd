"""Fields as plain arrays, for compiled code of a user's own (fieldcraft_kernel.inside)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import frozen
from fieldcraft.line_tables import pair_lines_of
from fieldcraft_kernel import inside
from fieldcraft_kernel import sight as sight_kernel
from fieldcraft_kernel.lines import N_FIELDS
from fieldcraft_kernel.steps import DIRECTIONS

if TYPE_CHECKING:
    from fieldcraft.searching import Searcher
    from fieldcraft.sight_field import SightField
    from fieldcraft.step_field import StepField

__all__ = ["reach_arrays", "reach_scratch", "sight_arrays", "sight_scratch"]

PAIRS = 64
"""So many pairs are looked at at a time."""
MOST_QUEUED = 1 << 21
"""No queue has room for more; none of a map of a million cells needs it."""
WIDEST_TABLE = 60
"""Hexes further apart by rows or columns are looked at along lines that are laid then."""
NO_LINES = frozen(np.zeros((0, 0), np.int32))
NOT_PLAIN = (
    frozen(np.zeros((0, 0), np.uint32)),
    frozen(np.zeros(0, np.uint16)),
    frozen(np.zeros(0, np.int64)),
)
"""Words, dues and plan of a graph that is not plain."""


def reach_arrays(field: StepField) -> inside.ReachArrays:
    """Return what `inside.reach` reads of a field."""
    graph = field._graph
    seats: dict[int, npt.NDArray[np.bool_]] = {}
    for layer, mask in field.seats:
        seats[layer] = seats.get(layer, False) | _padded(mask)
    plain = field._searcher.plain
    words, dues, plan = NOT_PLAIN
    bound = most = 0
    if plain is not None:
        words, dues, plan = plain.graph.words, plain.graph.dues, plain.graph.plan
        bound, most = plain.bound(graph.largest), plain.graph.largest
    return inside.ReachArrays(
        graph=graph.arrays,
        goals=field._searcher._no_goals,
        largest=graph.largest,
        per_bucket=graph.per_bucket,
        slots=graph.slots,
        words=words,
        dues=dues,
        plan=plan,
        bound=bound,
        most=most,
        height=field.shape[0],
        width=field.shape[1],
        copies=graph.copies,
        alternating=int(graph.is_alternating),
        halves=int(graph.halves),
        flip=graph.flip,
        home=field.home,
        seats=frozen(np.array([*seats], np.int64)),
        seat_cells=frozen(np.array([*seats.values()], bool).reshape(len(seats), graph.n_cells)),
        stay=_padded(field.stay),
        closed=_padded(field._closed),
        units=float(field.ticks.denominator),
        ticks=float(field.ticks.numerator),
    )


def _padded(flags: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
    """Return flags of cells as those of padded cells; none at all if there are none."""
    return frozen(np.zeros(0, bool) if flags is None else np.pad(flags, 1).reshape(-1))


def reach_scratch(searcher: Searcher) -> inside.ReachScratch:
    """Return new scratch for `inside.reach`."""
    graph = searcher.graph
    n, n_rows = graph.shape[0] * graph.shape[1], len(graph.arrays.rows)
    # One entry for each start and for each way to get on from a state.
    moving = int((graph.arrays.rows[:, DIRECTIONS] != 0).sum()) + len(graph.arrays.links)
    queued = min(moving * graph.lattice.n_directions * graph.n_cells + n_rows, MOST_QUEUED)
    queue = np.zeros(0, np.uint32)
    if searcher.plain is not None:
        queue = np.zeros(searcher.plain.graph.queue_size(8 * queued), np.uint32)
    return inside.ReachScratch(
        cells=np.zeros((n, 2), np.int64),
        cost=np.zeros(n),
        can_stop=np.zeros(n, bool),
        parity=np.zeros(n, np.int8),
        search=searcher._new_scratch(queued),
        queue=queue,
        starts=np.zeros(n_rows, np.int64),
        initial=np.zeros(n_rows, graph.number),
        shut=np.zeros(graph.n_cells, bool),
        place=np.full(graph.n_cells, -1, np.int32),
        best=np.zeros(n, np.int64),
    )


def sight_arrays(field: SightField) -> inside.SightArrays:
    """Return what `inside.sight` reads of a field."""
    way, table = inside.ANY, None
    if field._plain:
        way = inside.HEXES if field.lattice.is_hex else inside.SQUARES
    if way == inside.HEXES:
        radius = min(WIDEST_TABLE, max(field.shape) - 1)
        table = pair_lines_of(field.lattice, field.line, field.shape[1], radius)
    first, cells, radius = (NO_LINES, NO_LINES, -1) if table is None else table
    return inside.SightArrays(
        way=frozen(np.zeros((0,) * way, np.uint8)),
        stepped=int(field.line == "stepped"),
        levels_apart=field.levels_apart,
        rules=field._rules,
        cover=field._cover,
        tops=field._tops,
        walls=field._walls,
        neighbours=field._neighbours,
        from_eyes=field._from_eyes,
        to_eyes=field._to_eyes,
        planes=field._planes,
        light=field.light,
        first=first,
        cells=cells,
        radius=radius,
    )


def sight_scratch(shape: tuple[int, int]) -> inside.SightScratch:
    """Return new scratch for `inside.sight` on a map of a shape."""
    longest = 4 * sum(shape) + 8

    def numbers() -> npt.NDArray[np.int64]:
        return np.zeros(PAIRS, np.int64)

    def entries(kind: Any) -> npt.NDArray[Any]:
        return np.zeros(longest, kind)

    return inside.SightScratch(
        pair=np.zeros((1, 2, 2), np.int64),
        half=np.zeros(1, np.int32),
        light=np.zeros(1, np.int16),
        pairs=np.zeros((PAIRS, 2, 2), np.int64),
        halves=np.zeros(PAIRS, np.int32),
        lights=np.zeros(PAIRS, np.int16),
        viewers=numbers(),
        targets=numbers(),
        from_eyes=numbers(),
        to_eyes=numbers(),
        templates=sight_kernel.Templates(
            np.zeros(1, np.int64), entries(np.int32), entries(np.int32),
            entries(np.int8), entries(np.int8), entries(np.uint8),
        ),
        entries=np.zeros((longest, N_FIELDS), np.int64),
    )  # fmt: skip

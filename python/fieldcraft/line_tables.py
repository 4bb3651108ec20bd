"""Tables of sight lines by lattice, line rule and radius, kept for every map.

They are fans (see the kernel's module `fans`), shadows (`shadows`) and lines of pairs (`pairs`).
They hold no map and no rule of a game, so all fields share them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import frozen
from fieldcraft.lattice import Lattice
from fieldcraft_kernel import fans as kernel
from fieldcraft_kernel import pairs, shadows, views
from fieldcraft_kernel.lattice import LATTICE_KINDS
from fieldcraft_kernel.lines import N_FIELDS, PINCH

__all__ = [
    "Fan",
    "PairLines",
    "Shadows",
    "Shelf",
    "fan_of",
    "pair_lines_of",
    "shadows_of",
    "size_of",
    "vectors_within",
]

Array = npt.NDArray[np.int32]
Table = TypeVar("Table")

TABLE_BYTES = 64 << 20
"""How much all tables together may take. A fan whose tree would take half as much again while it is
grown is not made, so that the largest (hexes, radius 94) takes 57 MiB.

Besides these a field holds the two tables it used last (`sight_field.TABLES_AT_HAND`), and an
`AllViews` its own. What is on the shelf too is the same in memory, so what can exceed this bound is
two tables a field, of fields of different radii, lattices or rules of lines.
"""
WIDEST_SHADOWS = 95
"""Shadows within a larger radius would take more than half of that."""
ENTRIES_A_STEP = 1.4
"""No set of lines has more entries than this for each step of its longest line, on the average."""


class Fan(NamedTuple):
    """A fan, its offsets for either parity of the viewer's line (one on squares).

    Attributes
    ----------
    cells : ndarray of int32, shape (parities, n, 4)
        Row and column offset of the left and of the right cell of each node.
    what, depth, behind : ndarray of int32, shape (n,)
        As in the kernel's fans.
    deepest : int
    before : ndarray of int32, shape (n,)
        The node before each, -1 for the viewer.
    split : ndarray of bool, shape (n,)
        Whether a pair is among a node and those before it.
    adjacent : ndarray of bool, shape (n,)
        Whether it is a target at distance 1.
    into : ndarray of int8, shape (n, 2)
        Direction in which either cell is entered from the entry before, -1 if none.
    nodes : ndarray of int32, shape (parities, n, 4)
        The same as the kernel's `see` reads it.
    near : ndarray of int32, shape (parities, k, 2)
        Offsets of the cells at distance 1.
    """

    cells: Array
    what: Array
    depth: Array
    behind: Array
    deepest: int
    before: Array
    split: npt.NDArray[np.bool_]
    adjacent: npt.NDArray[np.bool_]
    into: npt.NDArray[np.int8]
    nodes: Array
    near: Array


class Shadows(NamedTuple):
    """The shadows of the cells around a viewer; arrays as in the kernel's `shade`."""

    partners: Array
    casts: Array
    masks: npt.NDArray[np.uint64]


class PairLines(NamedTuple):
    """The lines to all hexes within a radius of rows and columns, as `look_over` reads them."""

    first: Array
    cells: Array
    radius: int


class Shelf(Generic[Table]):
    """Tables by key, those used last, as many as a number of bytes has room for.

    A table that takes more by itself drives out all others and stays till the next comes. Threads
    may share a shelf; two that miss a table at once make it both, and the first one made is kept.

    Parameters
    ----------
    room : int
        Bytes of the arrays of all tables together.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._kept: dict[Hashable, tuple[Table, int]] = {}
        self._taken = 0
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Table | None:
        """Return the table of a key, which becomes the last used, or None."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                return None
            self._kept[key] = found
            return found[0]

    def put(self, key: Hashable, table: Table, size: int) -> Table:
        """Keep a table of so many bytes, and return the one that is kept under its key."""
        with self._lock:
            if key in self._kept:
                return self._kept[key][0]
            # The first in a dict is the one that was not used for longest.
            while self._kept and self._taken + size > self.room:
                self._taken -= self._kept.pop(next(iter(self._kept)))[1]
            self._kept[key] = table, size
            self._taken += size
            return table

    @property
    def taken(self) -> int:
        """Bytes that the tables take."""
        return self._taken

    def __len__(self) -> int:
        return len(self._kept)


_SHELF: Shelf[Any] = Shelf(TABLE_BYTES)


def size_of(table: Iterable[Any]) -> int:
    """Return the bytes of the arrays of a table."""
    return sum(part.nbytes for part in table if isinstance(part, np.ndarray))


def kept(key: Hashable, make: Callable[[], Any], size: Callable[[Any], int] = size_of) -> Any:
    """Return the table of a key from the shelf, made if it is not there; None is not kept."""
    found = _SHELF.find(key)
    if found is not None:
        return found
    made = make()
    return None if made is None else _SHELF.put(key, made, size(made))


def fan_of(lattice: Lattice, line: str, radius: int) -> Fan | None:
    """Return the fan of a radius; None if it would take too much memory."""
    name: Any = lattice.name if lattice.is_hex else "square"
    found: Fan | None = kept(
        ("fan", name, line, radius),
        lambda: _grow(Lattice(name), line, vectors_within(Lattice(name), radius), radius),
    )
    return found


def fan_over(lattice: Lattice, line: str, shape: tuple[int, int], *, half: bool) -> Fan | None:
    """Return the fan of all lines between cells of a map; None if it would take too much memory.

    Its window has the radius `extent`; with `half`, only lines that lead to later rows, or on along
    the same (columns, where the tops are flat).
    """
    name: Any = lattice.name if lattice.is_hex else "square"
    n_vectors = (2 * shape[0] - 1) * (2 * shape[1] - 1)
    if not _has_room(_entries(n_vectors // 2 if half else n_vectors, extent(shape))):
        return None
    found: Fan | None = kept(
        ("fan over", name, line, shape, half),
        lambda: _grow(
            Lattice(name), line, _vectors_over(Lattice(name), shape, half=half), extent(shape)
        ),
    )
    return found


def extent(shape: tuple[int, int]) -> int:
    """Return a radius, in rows and columns, within which all lines over a map run."""
    return max(shape) + 1


def _vectors_over(lattice: Lattice, shape: tuple[int, int], *, half: bool) -> npt.NDArray[np.int64]:
    """Return the frame vectors between the cells of a map, shape (n, 2)."""
    height, width = shape
    offsets = np.stack(
        np.meshgrid(np.arange(1 - height, height), np.arange(1 - width, width), indexing="ij"),
        axis=-1,
    ).reshape(-1, 2)
    if half:
        across, along = offsets.T[::-1] if lattice.is_flat and lattice.is_hex else offsets.T
        offsets = offsets[(across > 0) | ((across == 0) & (along > 0))]
    else:
        offsets = offsets[offsets.any(axis=1)]
    if not lattice.is_hex:
        return np.ascontiguousarray(offsets, np.int64)
    found = []
    for parity in _parities(lattice):
        anchor = np.array((0, parity) if lattice.is_flat else (parity, 0))
        found.append(lattice.to_axial(offsets + anchor) - lattice.to_axial(anchor))
    return np.ascontiguousarray(np.unique(np.concatenate(found), axis=0), np.int64)


def shadows_of(radius: int) -> Shadows | None:
    """Return the shadows of squares within a radius; None if they would take too much memory."""
    found: Shadows | None = kept(("shadows", radius), lambda: _throw(radius))
    return found


def pair_lines_of(lattice: Lattice, line: str, width: int, radius: int) -> PairLines | None:
    """Return the lines of pairs on maps of hexes; None if they would take too much memory."""
    found: PairLines | None = kept(
        ("pairs", lattice.name, line, width, radius), lambda: _lay(lattice, line, width, radius)
    )
    return found


def _lay(lattice: Lattice, line: str, width: int, radius: int) -> PairLines | None:
    side = 2 * radius + 1
    room = int(side * side * (3 * radius + 3))
    if room * len(_parities(lattice)) * 4 > TABLE_BYTES:
        return None
    ahead = np.arange(-radius, radius + 1)
    vectors = np.stack(np.meshgrid(ahead, ahead, indexing="ij"), axis=-1).reshape(-1, 2)
    entries = np.empty((8 * radius + 8, N_FIELDS), np.int64)
    first = np.empty((len(_parities(lattice)), 2 * side * side + 1), np.int32)
    cells = np.empty((len(_parities(lattice)), room), np.int32)
    ends = [
        pairs.lay_pairs(
            LATTICE_KINDS[lattice.name], int(line == "stepped"), parity, width + 2, vectors,
            entries, first[parity], cells[parity],
        )
        for parity in _parities(lattice)
    ]  # fmt: skip
    if min(ends) < 0:
        raise AssertionError("a table of sight lines was sized too small")
    return PairLines(frozen(first), frozen(cells[:, : max(ends)].copy()), radius)


def _throw(radius: int) -> Shadows | None:
    n_cells = (2 * radius + 1) ** 2
    if radius > WIDEST_SHADOWS:
        return None
    entries = np.empty((4 * radius + 8, N_FIELDS), np.int64)
    partners = np.full((n_cells, shadows.N_PARTNERS), -1, np.int32)
    casts = np.zeros((n_cells * (1 + shadows.N_PARTNERS), 3), np.int32)
    shadows.throw(radius, entries, partners, casts, np.zeros(0, np.uint64))
    words = casts[:, shadows.WORDS].astype(np.int64)
    casts[:, shadows.BEGIN] = np.cumsum(words) - words
    masks = np.zeros(max(int(words.sum()), 1), np.uint64)
    shadows.throw(radius, entries, partners, casts, masks)
    return Shadows(frozen(partners), frozen(casts), frozen(masks))


def vectors_within(lattice: Lattice, radius: int) -> npt.NDArray[np.int64]:
    """Return the frame vectors from a cell to all others within a radius, shape (n, 2)."""
    ahead = np.arange(-radius, radius + 1)
    grid = np.stack(np.meshgrid(ahead, ahead, indexing="ij"), axis=-1).reshape(-1, 2)
    inside = (grid != 0).any(axis=1)
    if lattice.is_hex:
        inside &= np.abs(grid.sum(axis=1)) <= radius
    return np.ascontiguousarray(grid[inside], np.int64)


def _entries(n_vectors: int, radius: int) -> int:
    """Return how many entries a fan of so many lines has at most."""
    return int(n_vectors * (ENTRIES_A_STEP * radius + 2)) + 2


def _has_room(entries: int) -> bool:
    """Tell whether a fan of so many entries may be kept."""
    # The tree it grows from is as large as the fan, with room to spare.
    return entries * kernel.N_COLUMNS * 4 <= TABLE_BYTES * 3 // 2


def _grow(lattice: Lattice, line: str, vectors: npt.NDArray[np.int64], radius: int) -> Fan | None:
    """Grow a fan of the lines over some vectors, within a window of a radius."""
    room = _entries(len(vectors), radius)
    if not _has_room(room):
        return None
    tree = np.empty((room, kernel.N_COLUMNS), np.int32)
    n = kernel.grow(
        int(lattice.is_hex), int(line == "stepped"), vectors,
        np.empty((4 * radius + 8, N_FIELDS), np.int64), tree,
    )  # fmt: skip
    if n < 0:
        raise AssertionError("a fan of sight lines was sized too small")
    listed = np.empty((n - 1, kernel.N_COLUMNS), np.int32)
    deepest = kernel.spread_out(tree[:n], np.empty(4 * radius + 8, np.int64), listed)
    del tree
    before, split = np.empty(n - 1, np.int32), np.empty(n - 1, np.bool_)
    kernel.link(listed, np.empty(4 * radius + 8, np.int64), before, split)
    adjacent = listed[:, kernel.WHAT] == kernel.TARGET
    adjacent &= np.abs(listed[:, :2]).max(axis=1, initial=0) == 1
    if lattice.is_hex:
        adjacent &= np.abs(listed[:, 0] + listed[:, 1]) <= 1
    cells = np.stack([_offsets(lattice, listed[:, :4], parity) for parity in _parities(lattice)])
    what, depth, behind = (frozen(listed[:, k]) for k in range(4, 7))
    side = 2 * radius + 3
    flat = cells[..., 0::2] * side + cells[..., 1::2]
    nodes = np.empty((*flat.shape[:2], 4), np.int32)
    two = np.where(split[before] & (before >= 0), views.TWO_SUMS, 0)
    nodes[..., views.LEFT : views.RIGHT + 1], nodes[..., views.BEHIND] = flat, behind
    nodes[..., views.PACKED] = depth << views.DEPTH_SHIFT | two | what
    near = np.stack(
        [
            _offsets(lattice, vectors_within(lattice, min(radius, 1)), parity)
            for parity in _parities(lattice)
        ]
    )
    return Fan(
        frozen(cells), what, depth, behind, int(deepest), frozen(before), frozen(split),
        frozen(adjacent), frozen(_into(lattice, listed, before)), frozen(nodes),
        frozen(near.astype(np.int32)),
    )  # fmt: skip


def _into(lattice: Lattice, listed: Array, before: Array) -> npt.NDArray[np.int8]:
    """Return the directions in which nodes are entered; corner points are no cells to come from."""
    corner = (before >= 0) & (listed[before, kernel.WHAT] == PINCH)
    last = np.where(corner, before[before], before)
    start = np.where(last[:, None] >= 0, listed[last, :4], 0)
    ahead = (listed[:, :4] - start).reshape(-1, 2, 2)
    found = np.full(ahead.shape[:2], -1, np.int8)
    straight = lattice.axial_offsets() if lattice.is_hex else lattice.offsets()[0, :4]
    for k, vector in enumerate(straight):
        found[(ahead == vector).all(axis=-1)] = k
    return found


def _parities(lattice: Lattice) -> tuple[int, ...]:
    return (0, 1) if lattice.is_hex else (0,)


def _offsets(lattice: Lattice, frame: npt.NDArray[np.integer], parity: int) -> Array:
    """Return frame vectors, any number side by side, as offsets (row, col) from such a viewer."""
    if not lattice.is_hex:
        return frame.astype(np.int32)
    anchor = np.array((0, parity) if lattice.is_flat else (parity, 0))
    ends = frame.reshape(-1, 2).astype(np.int64) + lattice.to_axial(anchor)
    offsets: Array = (lattice.from_axial(ends) - anchor).astype(np.int32)
    return offsets.reshape(frame.shape)

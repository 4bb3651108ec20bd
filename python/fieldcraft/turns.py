"""Very many turns on one map: compiled fields in, one row of answers a token out.

Serves where tokens do no more to one another than close their foes' cells and keep each other from
ending a movement where they stand, so that one field without tokens serves all encounters; which
rules those are is not known here. See `fieldcraft_kernel.turns`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import frozen
from fieldcraft.pair_sums import all_sums, has_sums, sums_from
from fieldcraft.plain import PlainGraph, PlainScratch
from fieldcraft.sight_field import SightField
from fieldcraft.step_field import StepField
from fieldcraft_kernel import turns
from fieldcraft_kernel.sight import BLOCKED
from fieldcraft_kernel.turns import Crowd

__all__ = ["Crowd", "TurnMap", "TurnMover"]

Array = npt.NDArray[Any]
NO_DUES = frozen(np.zeros((0, 1), np.uint16))
ENOUGH = 24
"""Where as many places as one cell in so many are looked up, it is worth looking up all: those of a
map of 48 x 48 take the time of a hundred by themselves."""
MOST_PACKED = 15
"""The largest sum of which two go into a byte."""
LARGEST_KEY = 1 << 62
LEAST = -(2**31)
"""A limit that every malus keeps."""


class TurnMover:
    """A kind of creature for a `TurnMap`.

    Parameters
    ----------
    field : StepField
        Its own, on the map without tokens.
    limit : int
        The ticks it may spend.
    ranges : sequence of int
        How many steps each of its weapons carries.
    limits : sequence of int or None
        The lowest malus at which each is used; None for any.
    eye : int
        The number of what of it matters to sight.
    kind : ndarray of uint16, shape (height, width, directions)
        Of the step that leaves each cell in each direction.
    worth : ndarray of int64, shape (grounds, kinds)
        The stake of each kind of step on each ground.
    """

    def __init__(
        self, field: StepField, limit: int, ranges: Sequence[int], limits: Sequence[int | None],
        eye: int, kind: Array, worth: Array,
    ) -> None:  # fmt: skip
        self.field, self.limit, self.eye = field, limit, eye
        self.ranges = frozen(np.array(ranges, np.int64))
        self.limits = frozen(np.array([LEAST if low is None else low for low in limits], np.int64))
        self.kind = _padded(kind)
        # Where nothing is at stake, nothing is looked for.
        self.worth = frozen(np.array(worth if worth.any() else worth[:0, :0], np.int64))

    def serves(self) -> bool:
        """Tell whether its field is a single layer in whole ticks, and has no more to it."""
        field = self.field
        worst = int(self.worth.max(initial=0))
        return (
            field._searcher.plain is not None
            and len(field._graph.arrays.rows) == 1
            and (field.stay is None or bool(field.stay.all()))
            # Sums of stakes and ticks must fit into one number.
            and worst * field._graph.n_cells * (self.limit + 1) < LARGEST_KEY
        )


class TurnMap:
    """A map on which very many turns are scored.

    Parameters
    ----------
    fields : mapping from (int, int) to SightField
        For each pair of eyes, viewer and target, what the map does to lines between them. All
        must be alike but for what the ends of a line count.
    """

    def __init__(self, fields: Mapping[tuple[int, int], SightField]) -> None:
        field = fields[0, 0]
        height, width = field.shape
        cells: Array = np.argwhere(np.ones(field.shape, np.bool_))
        frame = field.lattice.to_axial(cells) if field.lattice.is_hex else cells
        place = np.full((height + 2, width + 2), -1, np.int32)
        place[1:-1, 1:-1] = np.arange(height * width).reshape(height, width)
        n_eyes = 1 + max(viewer for viewer, _ in fields)
        planes: list[Array] = []
        self._ends = np.full((n_eyes, n_eyes, 4), -1, np.int64)
        for (viewer, target), one in fields.items():
            ends = (one.at_viewer, one.adjacent_viewer, one.at_target, one.adjacent_target)
            for column, plane in enumerate(ends):
                self._ends[viewer, target, column] = _number(planes, plane)
        self._field = field
        self._table: npt.NDArray[np.uint8] | None = None
        self._lock = threading.Lock()
        self._ground = turns.Ground(
            frozen(place.reshape(-1)), frozen(frame[:, 0].astype(np.int32)),
            frozen(frame[:, 1].astype(np.int32)), field._limit,
            frozen(np.array(planes, np.uint8).reshape(-1, height * width)),
            frozen(np.broadcast_to(field.light, field.shape).reshape(-1).astype(np.int8)),
            int(field.lattice.is_hex),
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """How much memory its table of all pairs takes, if it has been made."""
        return 0 if self._table is None else self._table.nbytes

    @staticmethod
    def serves(fields: Mapping[tuple[int, int], SightField]) -> bool:
        """Tell whether all fields are alike but for their ends, and have a table of sums."""
        first = fields[0, 0]
        return has_sums(first) and all(
            field._plain
            and field.threshold == first.threshold
            and np.array_equal(field._cover, first._cover)
            for field in fields.values()
        )

    def crowd(
        self, *, first: Array, cells: Array, side: Array, eye: Array, looks: Array, light: Array,
        foes: Array,
    ) -> Crowd:  # fmt: skip
        """Return who stands on the map, encounter by encounter.

        Parameters
        ----------
        first : ndarray of int, shape (n + 1,)
            The tokens of encounter i are ``first[i]`` to ``first[i + 1]``.
        cells : ndarray of int, shape (m, 2)
            On the map, and no two of an encounter alike.
        side, eye : ndarray of int, shape (m,)
        looks : ndarray of bool, shape (m,)
            False: sees nobody.
        light : ndarray of int, shape (n,)
            Light malus everywhere, or 1 for the map's own.
        foes : ndarray of bool, shape (sides, sides)
        """
        width = self._field.shape[1]
        at = (cells[:, 0] + 1) * (width + 2) + cells[:, 1] + 1
        return Crowd(
            frozen(first.astype(np.int64)), frozen(at.astype(np.int32)),
            frozen(side.astype(np.int32)), frozen(eye.astype(np.int32)),
            frozen(looks.astype(np.uint8)), frozen(light.astype(np.int16)),
            frozen(foes.astype(np.uint8)), *self._sums(cells[:, 0] * width + cells[:, 1]),
        )  # fmt: skip

    def _sums(self, places: Array) -> tuple[Array, Array, int]:
        """Return the row of each of some places, the sums in it, and whether they are packed.

        A few are looked up by themselves; where there are many, all of the map are, once.
        """
        field = self._field
        n_cells = field.shape[0] * field.shape[1]
        is_packed = int(field._limit <= MOST_PACKED)
        some, row = np.unique(places, return_inverse=True)
        if self._table is None and len(some) > n_cells // ENOUGH:
            with self._lock:
                if self._table is None:
                    table = all_sums(field)
                    self._table = None if table is None else _packed(table, is_packed)
        if self._table is not None:
            return frozen(places.astype(np.int32)), self._table, is_packed
        cells = np.stack(np.divmod(some, field.shape[1]), axis=1)
        sums = _packed(sums_from(field, cells), is_packed)
        return frozen(row.reshape(-1).astype(np.int32)), sums, is_packed

    def turns(self, crowd: Crowd, mover: TurnMover, movers: Array) -> dict[str, Array]:
        """Return the answers of tokens of one kind as columns (k,), by name.

        Parameters
        ----------
        crowd : Crowd
        mover : TurnMover
        movers : ndarray of int64, shape (k, 3)
            Encounter, token and ground of each.

        Returns
        -------
        dict from str to ndarray
            ``reached``, ``stops``, ``targets_now``, ``targets_after``; ``attack_row`` and
            ``attack_col``, -1 where no stop serves, ``attack_malus``, ``attack_price`` in the
            field's unit; ``safe_row``, ``safe_col``, ``exposure_before``, ``exposure_after``,
            ``malus_before``, ``malus_after``; ``stake``. Maluses may be HIDDEN.
        """
        field = mover.field
        searcher = field._searcher.plain
        if searcher is None:
            raise AssertionError("only plain fields serve; see `TurnMover.serves`")
        plain = searcher.graph
        # The kernel closes cells here, and the searches read the same memory.
        words = np.array(plain.words)
        kind = turns.Mover(
            _read_only(words),
            plain.dues if plain.dues.ndim == 2 else NO_DUES,
            plain.plan,
            words,
            searcher.bound(mover.limit),
            mover.ranges,
            mover.limits,
            np.ascontiguousarray(self._ends[mover.eye]),
            np.ascontiguousarray(self._ends[:, mover.eye]),
            mover.kind,
            mover.worth,
        )
        movers = np.ascontiguousarray(movers, np.int64)
        out = np.zeros((len(movers), turns.N_ANSWERS), np.int64)
        scratch, done = _lent(plain), 0
        while done < len(movers):
            work = turns.Work(scratch.totals, scratch.order, scratch.queue)
            done = turns.score_turns(self._ground, crowd, kind, movers, done, work, out)
            if done < len(movers):
                scratch.enlarge()
        _give_back(scratch)
        return self._named(out, field)

    def _named(self, out: npt.NDArray[np.int64], field: StepField) -> dict[str, Array]:
        """Return the kernel's answers by name."""
        width = self._field.shape[1]
        found: dict[str, Array] = {
            "reached": out[:, turns.REACHED],
            "stops": out[:, turns.STOPS],
            "targets_now": out[:, turns.TARGETS_NOW],
            "targets_after": out[:, turns.TARGETS_AFTER],
            "attack_malus": out[:, turns.ATTACK_MALUS],
            "attack_price": field.to_cost(out[:, turns.ATTACK_TICKS]),
            "exposure_before": out[:, turns.EXPOSURE_BEFORE],
            "exposure_after": out[:, turns.EXPOSURE_AFTER],
            "malus_before": out[:, turns.MALUS_BEFORE],
            "malus_after": out[:, turns.MALUS_AFTER],
            "stake": out[:, turns.STAKE],
        }
        for name, column in (("attack", turns.ATTACK), ("safe", turns.SAFE)):
            place = out[:, column]
            found[f"{name}_row"] = np.where(place < 0, -1, place // width)
            found[f"{name}_col"] = np.where(place < 0, -1, place % width)
        return found

    def pairs(self, crowd: Crowd) -> dict[str, Array]:
        """Return what each token sees of each other one of its encounter as columns (n,), by name.

        By encounter, then by viewer, then by target.

        Returns
        -------
        dict from str to ndarray
            ``viewer`` and ``target``, counted from the first token of their encounter; ``foe``;
            ``steps`` between the two; ``visible``; ``obstruction`` (HIDDEN where something opaque
            ends the line), ``light``, ``malus`` (HIDDEN where the target is).
        """
        sizes = np.diff(crowd.first)
        n = int((sizes * (sizes - 1) // 2).sum())
        between, far = np.empty(n, np.int32), np.empty((n, 2, 2), np.int64)
        n_far = turns.list_far(self._ground, crowd, between, far, self._field.shape[1])
        asked = np.ascontiguousarray(far[:n_far])
        field = self._field
        halves = np.empty(n_far, np.int32)
        widest = int(np.abs(asked[:, 1] - asked[:, 0]).max(initial=0))
        field._count_between(asked, halves, field._pair_lines(n_far, widest))
        out = np.empty((2 * n, turns.N_OF_PAIR), np.int32)
        turns.score_pairs(self._ground, crowd, self._ends, between, halves, BLOCKED, out)
        return {
            "viewer": out[:, turns.VIEWER],
            "target": out[:, turns.TARGET],
            "foe": out[:, turns.IS_FOE] == 1,
            "steps": out[:, turns.DISTANCE],
            "visible": out[:, turns.SEEN] == 1,
            "obstruction": out[:, turns.OBSTRUCTION],
            "light": out[:, turns.LIGHT],
            "malus": out[:, turns.MALUS],
        }

    def spell_failure(self, malus: Array) -> npt.NDArray[np.float64]:
        """Return the chance that a spell fails at each malus, as `SightField.spell_failure`."""
        least = int(malus.min(initial=0))
        known = np.array([self._field.spell_failure(-i) for i in range(1 - least)])
        found: npt.NDArray[np.float64] = known[-malus]
        return found


def _padded(kind: Array) -> Array:
    """Return the kinds of steps by padded cell, shape (N, directions)."""
    height, width, n = kind.shape
    padded = np.zeros((height + 2, width + 2, n), np.uint16)
    padded[1:-1, 1:-1] = kind
    return frozen(padded.reshape(-1, n))


def _packed(sums: npt.NDArray[np.uint8], is_packed: int) -> npt.NDArray[np.uint8]:
    """Return sums, two in a byte if they are to be packed."""
    if not is_packed:
        return frozen(sums)
    packed = np.empty((len(sums), (sums.shape[1] + 1) // 2), np.uint8)
    turns.pack_sums(sums, packed)
    return frozen(packed)


_SCRATCH = threading.local()
"""The scratch of each thread: a map is asked now and then, and very many are in memory."""


def _lent(graph: PlainGraph) -> PlainScratch:
    """Return scratch for a graph: what the thread used last, if it is of the same layout."""
    last: PlainScratch | None = getattr(_SCRATCH, "last", None)
    _SCRATCH.last = None  # after an exception it may not be clean
    if last is None or last.graph.layout != graph.layout:
        return PlainScratch(graph)
    last.use(graph)
    return last


def _give_back(scratch: PlainScratch) -> None:
    _SCRATCH.last = scratch


def _number(planes: list[Array], plane: Array | None) -> int:
    """Return the number of a plane among those kept, -1 if it is nothing."""
    if plane is None or not plane.any():
        return -1
    for number, known in enumerate(planes):
        if np.array_equal(known, plane):
            return number
    planes.append(plane)
    return len(planes) - 1


def _read_only(array: Array) -> Array:
    """Return another view of the same memory, closed to writing."""
    view = array.view()
    view.flags.writeable = False
    return view

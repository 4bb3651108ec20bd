"""Where the tokens of very many encounters stand: each side a cluster in its own part of the map.

All encounters of a block are placed at once, token by token. What an encounter is depends on its
own draws and its board alone, not on the others of the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.board import Board
from fieldcraft.connected import mainland
from fieldcraft.creature import Creature, by_mode
from fieldcraft.encounters.draws import Draws
from fieldcraft.encounters.model import Profile
from fieldcraft.errors import MapError
from fieldcraft.lattice import Lattice, rows_and_columns

__all__ = ["Field", "Placer"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
AXES = ((1, 0), (0, 1), (1, 1), (1, -1))
"""Along which sides face each other: what is added up of row and column."""
ROOM = 4
"""A cluster is chosen from about so many cells a token."""
MOST_HELD = 1 << 23
"""So many cells of maps are marked at once as taken."""
NEARER = 1 << 29
"""How much a step away from the middle of a cluster counts, of 2**32 that chance does."""
NEVER = np.iinfo(np.int64).max


class Field:
    """What of a board matters to placing tokens of some profiles.

    Attributes
    ----------
    where : ndarray of bool, shape (kinds, height * width)
        Where a creature of each kind may stand, and get away from.
    anywhere : ndarray of bool
        The same, where it may stand only.
    key : tuple
        Encounters on fields of the same key are placed together.
    """

    def __init__(self, name: str, board: Board, kinds: Sequence[Creature]) -> None:
        self.name, self.shape, self.lattice = name, board.shape, board.lattice
        standing = [board.rules.standing(board.terrain, kind) for kind in kinds]
        free = [found.where & mainland(board.lattice, found.steps) for found in standing]
        self.where = np.stack(free).reshape(len(kinds), -1)
        self.anywhere = np.stack([found.where for found in standing]).reshape(len(kinds), -1)
        self.bodies = [_body(board, kind) for kind in kinds]
        covered = tuple(part.tobytes() for body in self.bodies for part in body)
        self.key = self.shape, self.lattice, covered
        self._lines: dict[int, Ints] = {}

    def line(self, axis: int) -> Ints:
        """Return the cells where all may stand in their order along an axis, flat.

        Of cells where somebody may stand if all can nowhere.
        """
        if axis not in self._lines:
            choices = (self.where.all(axis=0), self.where.any(axis=0), self.anywhere.any(axis=0))
            free: Any = next((some for some in choices if some.any()), choices[0])
            order = _order(self.shape, axis)
            self._lines[axis] = order[free[order]]
        return self._lines[axis]


def _body(board: Board, creature: Creature) -> tuple[Ints, Ints]:
    """Return the offsets of the cells of a body from its anchor, for both parities."""
    offsets = board.rules.footprint(creature, board.lattice)
    if not board.lattice.is_hex or len(offsets) == 1:
        found = np.array(offsets, np.int64)
        return found, found
    even, odd = (rows_and_columns(board.lattice, offsets, parity) for parity in (0, 1))
    return np.array(even, np.int64), np.array(odd, np.int64)


def kind_of(creature: Creature) -> Creature:
    """Return a creature without what does not matter to where it may stand."""
    modes = dict.fromkeys(by_mode(creature.speed, ""), 1)
    return replace(creature, name="", speed=modes, reach=1, saves=None)


@cache
def _order(shape: tuple[int, int], axis: int) -> Ints:
    """Return the cells of a map along an axis."""
    by_row, by_col = AXES[axis]
    row, col = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    order: Ints = np.argsort(by_row * row + by_col * col, kind="stable")
    return order


@cache
def _disc(lattice: Lattice, least: int) -> tuple[Ints, Ints]:
    """Return the offsets of a disc of at least so many cells, by parity, and their distances."""
    radius = 0
    while len(lattice.disc((0, 0), radius)) < least:
        radius += 1
    anchors = [(0, 0), (0, 1) if lattice.is_flat else (1, 0)]
    cells = [np.array(lattice.disc(anchor, radius)) - anchor for anchor in anchors]
    return np.stack(cells).astype(np.int64), lattice.distances((0, 0), cells[0])


@dataclass
class Plan:
    """What is to be placed in a block: of each encounter its field, and of each token its profile.

    `fields` is a number among `known`, `profiles` has shape (encounters, tokens).
    """

    known: Sequence[Field]
    fields: Ints
    profiles: Ints


class Placer:
    """Places tokens.

    Parameters
    ----------
    sizes : sequence of int
        How many tokens each side has.
    profiles : sequence of Profile
    """

    def __init__(self, sizes: Sequence[int], profiles: Sequence[Profile]) -> None:
        self.side_of = np.repeat(np.arange(len(sizes)), sizes)
        self.n_sides = len(sizes)
        looks = [kind_of(profile.creature) for profile in profiles]
        self.kinds = list(dict.fromkeys(looks))
        self.kind_of = np.array([self.kinds.index(look) for look in looks], np.int64)
        self.least = max(8, ROOM * max(sizes))

    def field(self, name: str, board: Board) -> Field:
        """Return what of a board matters."""
        return Field(name, board, self.kinds)

    def place(self, draws: Draws, size: int, plan: Plan) -> Ints:
        """Return where all tokens stand, shape (encounters, tokens, 2).

        Parameters
        ----------
        draws : Draws
        size : int
            For how many encounters is drawn; the plan may be for the first of them only.
        plan : Plan

        Raises
        ------
        MapError
            If a board has too few cells where they may stand.
        """
        sides = self.n_sides
        axis = draws.below(len(AXES), size)
        order = np.argsort(draws.raw(size, sides), axis=1, kind="stable")
        luck = draws.raw(size, sides)
        chances = draws.raw(size, sides, self.most_cells())
        cells = np.zeros((*plan.profiles.shape, 2), np.int64)
        for rows in self._alike(plan):
            shape = plan.known[plan.fields[rows[0]]].shape
            step = max(1, MOST_HELD // (shape[0] * shape[1]))
            for begin in range(0, len(rows), step):
                some = rows[begin : begin + step]
                anchors = self._anchors(plan, some, axis[some], order[some], luck[some])
                cells[some] = _Block(self, plan, some).placed(anchors, chances[some])
        return cells

    def most_cells(self) -> int:
        """Return the most cells that a cluster is chosen from, on any lattice."""
        names: tuple[Any, ...] = ("square4", "square", "odd-r")
        return max(len(_disc(Lattice(name), self.least)[1]) for name in names)

    def _alike(self, plan: Plan) -> list[Ints]:
        """Return the encounters on maps of one shape and lattice together."""
        groups: dict[Any, list[int]] = {}
        for number, field in enumerate(plan.known):
            groups.setdefault(field.key, []).append(number)
        found = [np.flatnonzero(np.isin(plan.fields, group)) for group in groups.values()]
        return [rows for rows in found if len(rows)]

    def _anchors(self, plan: Plan, rows: Ints, axis: Ints, order: Ints, luck: Ints) -> Ints:
        """Return the middle of each side, flat, shape (encounters, sides).

        The free cells along an axis are cut into as many parts as there are sides, and of each the
        three fifths in the middle serve.
        """
        anchors = np.zeros((len(rows), self.n_sides), np.int64)
        lines = plan.fields[rows] * len(AXES) + axis
        for line in np.unique(lines).tolist():
            number, along = divmod(line, len(AXES))
            field = plan.known[number]
            free = field.line(along)
            if not len(free):
                raise MapError(f"board {field.name!r} has no cell where a token may stand")
            mine = np.flatnonzero(lines == line)
            low = len(free) * (10 * order[mine] + 2) // (10 * self.n_sides)
            high = len(free) * (10 * order[mine] + 8) // (10 * self.n_sides)
            places = low + (luck[mine] * np.maximum(high - low, 1) >> 32)
            anchors[mine] = free[np.minimum(places, len(free) - 1)]
        return anchors


class _Block:
    """Encounters on maps of one shape and lattice, while they are placed."""

    def __init__(self, placer: Placer, plan: Plan, rows: Ints) -> None:
        self.placer, self.plan, self.rows = placer, plan, rows
        field = plan.known[plan.fields[rows[0]]]
        self.shape, self.lattice, self.bodies = field.shape, field.lattice, field.bodies
        used, self.field = np.unique(plan.fields[rows], return_inverse=True)
        self.fields = [plan.known[number] for number in used.tolist()]
        self.where = np.stack([field.where for field in self.fields])
        self.kinds = placer.kind_of[plan.profiles[rows]]
        self.taken = np.zeros((len(rows), self.shape[0] * self.shape[1]), bool)

    def placed(self, anchors: Ints, chances: Ints) -> Ints:
        """Return the cells of all tokens, those of one side around its anchor."""
        discs, distances = _disc(self.lattice, self.placer.least)
        middle = np.stack(np.divmod(anchors, self.shape[1]), axis=-1)
        near = middle[:, :, None] + discs[self.lattice.parity(middle)]
        order = chances[:, :, : near.shape[2]] + distances * NEARER
        n_tokens = self.kinds.shape[1]
        found = np.zeros((len(self.rows), n_tokens), np.int64)
        failed = np.zeros(len(self.rows), bool)
        everyone = np.arange(len(self.rows))
        for token in range(n_tokens):
            side = int(self.placer.side_of[token])
            cells, keys = near[:, side], order[:, side]
            free = self._free(everyone, token, cells)
            best = np.argmin(np.where(free, keys, NEVER), axis=1)
            failed |= ~free[everyone, best]
            found[:, token] = self._take(everyone, token, cells[everyone, best], ~failed)
        for row in np.flatnonzero(failed).tolist():
            found[row] = self._far(row, middle[row])
        return np.stack(np.divmod(found, self.shape[1]), axis=-1)

    def _free(self, rows: Ints, token: int, cells: Ints, where: Bools | None = None) -> Bools:
        """Tell in which cells a token of each encounter may stand, shape of cells (rows, m, 2)."""
        height, width = self.shape
        on: Any = ((cells >= 0) & (cells < (height, width))).all(axis=2)
        flat = np.where(on, cells[..., 0] * width + cells[..., 1], 0)
        kinds = self.kinds[rows, token]
        if where is None:
            on &= self.where[self.field[rows][:, None], kinds[:, None], flat]
        else:
            on &= where[kinds[:, None], flat]
        for kind in np.unique(kinds).tolist():
            mine = np.flatnonzero(kinds == kind)
            for offsets in self._offsets(kind, cells[mine]):
                covered = np.clip(flat[mine] + offsets, 0, height * width - 1)
                on[mine] &= ~self.taken[rows[mine][:, None], covered]
        found: Bools = on
        return found

    def _offsets(self, kind: int, cells: Ints) -> list[Ints]:
        """Return how far the cells of a body lie from its anchors, flat: one array a cell."""
        even, odd = self.bodies[kind]
        if len(even) == 1:
            return [np.zeros(cells.shape[:-1], np.int64)]
        flat = np.stack([even, odd]) @ np.array([self.shape[1], 1])
        parity = self.lattice.parity(cells)
        return [flat[parity, part] for part in range(len(even))]

    def _take(self, rows: Ints, token: int, cells: Ints, mark: Bools) -> Ints:
        """Mark the cells of a token of each encounter as taken; return its anchors, flat."""
        flat: Ints = cells[:, 0] * self.shape[1] + cells[:, 1]
        kinds = self.kinds[rows, token]
        for kind in np.unique(kinds).tolist():
            mine = np.flatnonzero((kinds == kind) & mark)
            for offsets in self._offsets(kind, cells[mine]):
                self.taken[rows[mine], flat[mine] + offsets] = True
        return flat

    def _far(self, row: int, middles: Ints) -> Ints:
        """Return the cells of one encounter that found no room near its anchors: the nearest."""
        field = self.fields[self.field[row]]
        size = self.shape[0] * self.shape[1]
        everywhere = np.stack(np.divmod(np.arange(size), self.shape[1]), axis=-1)[None]
        distances = [self.lattice.distances(middle, everywhere[0]) for middle in middles]
        one = np.array([row])
        for where in (field.where, field.anywhere):
            self.taken[row] = False
            found: list[int] = []
            for token, side in enumerate(self.placer.side_of.tolist()):
                free = self._free(one, token, everywhere, where)[0]
                best = int(np.argmin(np.where(free, distances[side], NEVER)))
                if not free[best]:
                    break
                self._take(one, token, everywhere[:, best], np.ones(1, bool))
                found.append(best)
            else:
                return np.array(found, np.int64)
        raise MapError(
            f"board {field.name!r} has room for {len(found)} of {self.kinds.shape[1]} tokens; "
            f"expected more cells where they may stand: {int(field.anywhere.any(axis=0).sum())} of "
            f"{field.anywhere.shape[1]} are such"
        )

"""Who is where: bodies in their places, what each sees of each, how far apart they are.

Whatever is asked of many bodies is asked in one batch for each pair of kinds of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token, without
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.lattice import Cell
from fieldcraft.sight import HIDDEN
from fieldcraft.tactics.weapons import Weapon, range_in

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.reach import Reach

__all__ = [
    "Bodies",
    "Stops",
    "apart",
    "attacks",
    "bodies_of",
    "cells_apart",
    "company",
    "ends_of",
    "in_layer",
    "maluses",
    "shapes_of",
    "stops_of",
    "the_foes",
]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bodies:
    """Bodies of some tokens in some places.

    Attributes
    ----------
    cells : ndarray of int64, shape (m, 2)
        The cells they cover, body after body.
    first : ndarray of int64, shape (n,)
        Where those of each begin.
    owners : tuple of Token
        Whose they are, wherever those stand.
    whose : ndarray of int64, shape (n,)
        Which of the owners each is of.
    levels : ndarray of int64, shape (n,)
        On which level above the ground each is.
    """

    cells: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    owners: tuple[Token, ...]
    whose: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def per_cell(self) -> npt.NDArray[np.int64]:
        """Of each cell the number of its body, shape (m,)."""
        sizes = np.diff(self.first, append=len(self.cells))
        return np.repeat(np.arange(len(self.first)), sizes)


def bodies_of(
    board: Board,
    owners: Sequence[Token],
    places: npt.ArrayLike | None = None,
    whose: npt.ArrayLike | None = None,
) -> Bodies:
    """Return the bodies of tokens where they stand, or in other places, shape (n, 2).

    `whose` are the numbers of the owners of these, shape (n,).
    """
    owners = tuple(owners)
    if places is None:
        anchors = np.array([owner.cell for owner in owners], np.int64).reshape(-1, 2)
        numbers = np.arange(len(owners))
    else:
        anchors, numbers = np.asarray(places, np.int64), np.asarray(whose, np.int64)
    rules, lattice = board.rules, board.lattice
    levels = np.array([rules.level_of(owner) for owner in owners], np.int64)[numbers]
    kinds = {(one.creature.size, one.creature.body, one.facing): one.creature for one in owners}
    if all(len(rules.footprint(one, lattice, at)) == 1 for (*_, at), one in kinds.items()):
        return Bodies(anchors, np.arange(len(anchors)), owners, numbers, levels)
    # What a body covers depends on its owner and on the parity of the place, no more.
    shapes = {number: shapes_of(board, owners[number]) for number in np.unique(numbers).tolist()}
    sizes = np.array([len(shapes[number][0]) for number in numbers.tolist()], np.int64)
    first = np.cumsum(sizes) - sizes
    cells = np.empty((int(sizes.sum()), 2), np.int64)
    parities = np.asarray(lattice.parity(anchors), np.int64)
    for number, of_parity in shapes.items():
        for parity, offsets in enumerate(of_parity):
            here = np.flatnonzero((numbers == number) & (parities == parity))
            at = first[here][:, None] + np.arange(len(offsets))
            cells[at] = anchors[here][:, None] + offsets
    return Bodies(cells, first, owners, numbers, levels)


def shapes_of(board: Board, owner: Token) -> list[npt.NDArray[np.int64]]:
    """Return the cells of a body, as seen from an even place and from an odd one."""
    return [
        np.array(board.rules.cells_of(owner.at(place), board.lattice), np.int64) - place
        for place in ((0, 0), (1, 1))
    ]


def maluses(
    board: Board, viewers: Bodies, targets: Bodies, light: int | None
) -> npt.NDArray[np.int16]:
    """Return at what malus each sees each, shape (viewers, targets), HIDDEN where it does not.

    Bodies of several cells see and are seen by their best pair of cells, as in `Board.sight`.
    """
    found = np.full((len(viewers), len(targets)), HIDDEN, np.int16)
    looked_at = [(shown, seen, _some(targets, seen)) for shown, seen in _by_eye(targets)]
    for seeing, mine in _by_eye(viewers):
        one = _some(viewers, mine)
        for shown, theirs, other in looked_at:
            pairs = np.empty((len(one.cells), len(other.cells), 2, 2), np.int64)
            pairs[:, :, 0], pairs[:, :, 1] = one.cells[:, None], other.cells
            sights = board.sight_field(seeing, shown).sights(pairs.reshape(-1, 2, 2), light=light)
            best = sights.malus.reshape(pairs.shape[:2])
            found[np.ix_(mine, theirs)] = _of_bodies(np.maximum, best, one, other)
    return found


def _by_eye(bodies: Bodies) -> list[tuple[Token, npt.NDArray[np.int64]]]:
    """Return bodies by what of them matters to sight: a token for each kind, and which they are."""
    kinds: dict[Any, int] = {}
    tokens: list[Token] = []
    numbers = []
    for owner in bodies.owners:
        key = owner.creature.size, owner.creature.height, owner.level
        if key not in kinds:
            kinds[key] = len(kinds)
            tokens.append(owner)
        numbers.append(kinds[key])
    of_body = np.array(numbers, np.int64)[bodies.whose]
    groups = [(token, np.flatnonzero(of_body == i)) for i, token in enumerate(tokens)]
    return [(token, members) for token, members in groups if len(members)]


def _some(bodies: Bodies, members: npt.NDArray[np.int64]) -> Bodies:
    """Return some of the bodies."""
    if len(members) == len(bodies):
        return bodies
    if len(bodies) == len(bodies.cells):
        return Bodies(
            bodies.cells[members],
            np.arange(len(members)),
            bodies.owners,
            bodies.whose[members],
            bodies.levels[members],
        )
    chosen = np.zeros(len(bodies), np.bool_)
    chosen[members] = True
    kept = chosen[bodies.per_cell]
    sizes = np.diff(bodies.first, append=len(bodies.cells))[members]
    return Bodies(
        bodies.cells[kept],
        np.cumsum(sizes) - sizes,
        bodies.owners,
        bodies.whose[members],
        bodies.levels[members],
    )


def _of_bodies(best: np.ufunc, by_cell: Array, one: Bodies, other: Bodies) -> Array:
    """Return the best of each pair of bodies from one of each pair of cells."""
    if len(one) < len(one.cells):
        by_cell = best.reduceat(by_cell, one.first, axis=0)
    if len(other) < len(other.cells):
        by_cell = best.reduceat(by_cell, other.first, axis=1)
    return by_cell


def apart(board: Board, one: Bodies, other: Bodies) -> npt.NDArray[np.float64]:
    """Return how far apart each is from each, shape (one, other), as `Board.distance`."""
    measure = board.rules.distances
    far = measure(one.cells[:, None], other.cells, board.lattice, levels=_levels(one, other))
    return _of_bodies(np.minimum, far, one, other)


def cells_apart(board: Board, one: Bodies, other: Bodies) -> npt.NDArray[np.int64]:
    """Return how many cells each is apart from each, shape (one, other)."""
    measure = board.rules.cells_apart
    far = measure(one.cells[:, None], other.cells, board.lattice, levels=_levels(one, other))
    return _of_bodies(np.minimum, far, one, other)


def _levels(one: Bodies, other: Bodies) -> npt.NDArray[np.int64]:
    """Return how many levels lie between each cell of one and each of the other."""
    apart: npt.NDArray[np.int64] = np.abs(
        one.levels[one.per_cell][:, None] - other.levels[other.per_cell]
    )
    return apart


def attacks(
    board: Board,
    attackers: Bodies,
    targets: Bodies,
    malus: npt.NDArray[np.int16],
    far: npt.NDArray[np.float64],
    weapons: Sequence[Weapon],
) -> npt.NDArray[np.int16]:
    """Return the first weapon with which each can attack each, shape (attackers, targets), or -1.

    In: at what malus each is seen and how far away it is, of the same shape.
    """
    found = np.full(malus.shape, -1, np.int16)
    cells: npt.NDArray[np.int64] | None = None
    reach = np.array([owner.creature.reach for owner in attackers.owners], np.int64)
    for number, weapon in reversed(list(enumerate(weapons))):
        limit = range_in(board.rules, weapon)
        if limit is None:
            cells = cells_apart(board, attackers, targets) if cells is None else cells
            near = cells <= reach[attackers.whose][:, None]
        else:
            near = far <= limit
        worst = HIDDEN + 1 if weapon.limit is None else weapon.limit
        found[near & (malus >= worst)] = number
    return found


# -- who is asked about ---------------------------------------------------------------------------


def company(
    board: Board, who: Token | Cell, tokens: Iterable[Token] | None
) -> tuple[Token, tuple[Token, ...]]:
    """Return who is asked about, and the others, checked."""
    present = board._present(tokens)
    if isinstance(who, Token):
        board.terrain.check(who.cell, f"cell of token {who.label!r}")
        return who, tuple(without(present, who))
    cell = board.terrain.check(who, "cell")
    token = board._lowest(present, cell)
    if token is None:
        raise MapError(f"nobody stands at {cell}; give a token, or the cell of one")
    return token, tuple(without(present, token))


def the_foes(
    board: Board, token: Token, others: Sequence[Token], foes: Iterable[Token] | None
) -> tuple[Token, ...]:
    """Return the foes of a token among others, or those given, checked."""
    if foes is None:
        return tuple(other for other in others if board.relation(token, other) == "foe")
    try:
        given = tuple(foes)
    except TypeError:
        raise ArgumentTypeError(f"foes must be several Token, not {foes!r}") from None
    return board._present(given)


# -- where a turn may end -------------------------------------------------------------------------


class Stops(NamedTuple):
    """Where a movement may end, the place where it begins first.

    Attributes
    ----------
    cells : ndarray of int64, shape (n, 2)
    ticks : ndarray, shape (n,)
        What the cheapest way there has spent, in ticks.
    price : ndarray of float64, shape (n,)
        The same in the field's unit.
    bodies : Bodies
        The token in each of these places, in the state in which that way ends.
    """

    cells: npt.NDArray[np.int64]
    ticks: Array
    price: npt.NDArray[np.float64]
    bodies: Bodies

    def token(self, stop: int) -> Token:
        """Return the token as it would be at one of them."""
        row, col = self.cells[stop].tolist()
        return self.bodies.owners[int(self.bodies.whose[stop])].at((row, col))


def stops_of(board: Board, token: Token, reach: Reach) -> Stops:
    """Return where a movement of a token may end, by rising cost, then by row and column."""
    field = reach.field
    ends = ends_of(board, token, reach)
    cells, rows = field.split_states(ends.states)
    start = cells == cells[0]
    # Where it begins it is as it begins.
    start[0] = False
    order = np.lexsort((rows, field.next_is_dear(rows), ends.totals, start, cells))
    best = order[np.diff(cells[order], prepend=-1) > 0]
    best = best[np.lexsort((cells[best], field.to_cost(ends.totals[best]), best != 0))]
    totals, places = ends.totals[best], field.to_cells(cells[best])
    bodies = bodies_of(board, ends.owners, places, ends.whose[best])
    return Stops(places, field.whole(totals), field.to_cost(totals), bodies)


class Ends(NamedTuple):
    """In which states a turn may end; the one in which it begins is the first.

    Attributes
    ----------
    which : ndarray of int64, shape (n,)
        Which settled state of the reach each is.
    states, totals : ndarray, shape (n,)
    whose : ndarray of int64, shape (n,)
        Of which of the owners the body is.
    owners : tuple of Token
        The token in the ways it may be at the end: on the ground, in the air, and the like.
    """

    which: npt.NDArray[np.int64]
    states: npt.NDArray[np.int64]
    totals: Array
    whose: npt.NDArray[np.int64]
    owners: tuple[Token, ...]


def ends_of(board: Board, token: Token, reach: Reach) -> Ends:
    """Return in which states of a reach a turn may end, and how the token is then."""
    which, states, totals = reach.ending()
    layers = reach.field.layers_of(states)
    known, inverse = np.unique(layers, return_inverse=True)
    ways = [in_layer(reach, token, layer, int(layers[0])) for layer in known.tolist()]
    owners = tuple(dict.fromkeys(ways))
    whose = np.array([owners.index(way) for way in ways], np.int64)[inverse.reshape(-1)]
    return Ends(which, states.astype(np.int64), totals, whose, owners)


def in_layer(reach: Reach, token: Token, layer: int, began: int) -> Token:
    """Return a token in the state in which its movement ends in a layer."""
    ended = getattr(reach.field.explainer, "ended", None)
    found: Token = token if ended is None or layer == began else ended(token, layer, began)
    return found

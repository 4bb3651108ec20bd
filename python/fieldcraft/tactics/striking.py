"""Strike and return: where a target can be attacked with movement enough left to hide again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token
from fieldcraft.errors import MapError
from fieldcraft.frozen import Frozen, frozen
from fieldcraft.lattice import Cell
from fieldcraft.sight import HIDDEN
from fieldcraft.tactics import _scene as scene
from fieldcraft.tactics.weapons import Weapon, as_weapons

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.path import Path
    from fieldcraft.reach import Reach

__all__ = ["Strike", "Strikes", "strike_and_return"]


class Strike(NamedTuple):
    """An attack and a way to hide after it.

    Attributes
    ----------
    cell : tuple of int
        Where the attack is made from.
    price : float
        What the cheapest way there costs.
    malus : int
    weapon : Weapon
    shelter : tuple of int
        Where the movement ends, hidden.
    total : float
        What both legs cost at least.
    """

    cell: Cell
    price: float
    malus: int
    weapon: Weapon
    shelter: Cell
    total: float


class Strikes(Frozen, Sequence[Strike]):
    """Attacks with a way to hide after them, the best ones first: a sequence of `Strike`.

    One row a pair of cells, by the malus of the attack from the highest on, then by what both legs
    cost, then by the cell of the attack and that of the shelter. False where there is none.

    Attributes
    ----------
    token, target : Token
    hidden_from : tuple of Token
        Who does not see the shelters.
    weapons : tuple of Weapon
    cells : ndarray of int64, shape (n, 2)
        Where the attack is made from.
    price : ndarray of float64, shape (n,)
    malus, weapon : ndarray of int16, shape (n,)
        At what malus, and with which of the weapons.
    shelters : ndarray of int64, shape (n, 2)
    total : ndarray of float64, shape (n,)
        What both legs cost at least.
    """

    def __init__(
        self,
        board: Board,
        token: Token,
        target: Token,
        hidden_from: tuple[Token, ...],
        weapons: tuple[Weapon, ...],
        reach: Reach,
        light: int | None,
    ) -> None:
        self.token, self.target = token, target
        self.hidden_from, self.weapons, self._reach = hidden_from, weapons, reach
        field = reach.field
        stands = _Stands(board, token, reach)
        aim = scene.bodies_of(board, [target])
        seen = scene.maluses(board, stands.bodies, aim, light)
        far = scene.apart(board, stands.bodies, aim)
        weapon = scene.attacks(board, stands.bodies, aim, seen, far, weapons)[:, 0]
        watchers = scene.bodies_of(board, [one for one in hidden_from if not one.helpless])
        exposed = (scene.maluses(board, watchers, stands.bodies, light) != HIDDEN).any(axis=0)

        strikes, shelters, totals, states = stands.after(np.flatnonzero(weapon >= 0), ~exposed)
        malus = seen[:, 0][strikes]
        places = stands.cells[strikes], stands.cells[shelters]
        keys = (*places[1].T[::-1], *places[0].T[::-1], totals, -malus.astype(np.int64))
        order = np.lexsort(keys)
        # Whoever may be there in several ways (on foot, in the air) takes the best of them.
        pairs = np.concatenate(places, axis=1)[order]
        _, first = np.unique(pairs, axis=0, return_index=True)
        order = order[np.sort(first)]
        self.cells, self.shelters = (frozen(cells[order]) for cells in places)
        self.price = frozen(field.to_cost(stands.totals[strikes[order]]))
        self.total = frozen(field.to_cost(totals[order].astype(stands.totals.dtype)))
        self.malus, self.weapon = frozen(malus[order]), frozen(weapon[strikes[order]])
        begun = {stand: stands.states(stand) for stand in np.unique(strikes).tolist()}
        self._from = [begun[stand] for stand in strikes[order].tolist()]
        self._to = frozen(states[order])

    def best(self) -> Strike | None:
        """Return the first of them, None where there is none."""
        return self[0] if len(self) else None

    def path(self, strike: int) -> Path:
        """Return both legs as one path, with a pause where the attack is made.

        Of all ways of both legs together it is a cheapest; ``.legs`` are the two.
        """
        place = range(len(self))[strike]
        return self._reach.resumed(self._from[place]).path_to_state(int(self._to[place]))

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, index: int) -> Strike: ...
    @overload
    def __getitem__(self, index: slice) -> list[Strike]: ...
    def __getitem__(self, index: int | slice) -> Strike | list[Strike]:
        if isinstance(index, slice):
            return [self._strike(i) for i in range(*index.indices(len(self)))]
        return self._strike(range(len(self))[index])

    def __iter__(self) -> Iterator[Strike]:
        return map(self._strike, range(len(self)))

    def _strike(self, i: int) -> Strike:
        (row, col), (back_row, back_col) = self.cells[i].tolist(), self.shelters[i].tolist()
        return Strike(
            (row, col), float(self.price[i]), int(self.malus[i]),
            self.weapons[int(self.weapon[i])], (back_row, back_col), float(self.total[i]),
        )  # fmt: skip

    def __repr__(self) -> str:
        n = len(np.unique(self.cells, axis=0))
        return f"Strikes({self.token.label} at {self.target.label}: {len(self)}, from {n} cells)"


class _After(NamedTuple):
    """Where movements may end after a pause: after which stand, in which, totals and states."""

    begun: npt.NDArray[np.int64]
    stands: npt.NDArray[np.int64]
    totals: npt.NDArray[Any]
    states: npt.NDArray[np.int64]


class _Stands:
    """The ways in which a token may stand at the end of a movement: where, and how.

    Attributes
    ----------
    cells : ndarray of int64, shape (n, 2)
    totals : ndarray, shape (n,)
        The least total of each, as the search counts.
    bodies : Bodies
    """

    def __init__(self, board: Board, token: Token, reach: Reach) -> None:
        self.reach, self.field = reach, reach.field
        self._ends = ends = scene.ends_of(board, token, reach)
        self._layers = self._owners_of_layers(token)
        keys = self._keys(ends.states)
        self._known, first, self._stand = np.unique(keys, return_index=True, return_inverse=True)
        padded = self.field.split_states(ends.states[first])[0]
        self.cells = self.field.to_cells(padded)
        self.totals = np.full(len(first), ends.totals.max(), ends.totals.dtype)
        np.minimum.at(self.totals, self._stand, ends.totals)
        self.bodies = scene.bodies_of(board, ends.owners, self.cells, ends.whose[first])

    def _owners_of_layers(self, token: Token) -> npt.NDArray[np.int64]:
        """Return which of the owners the token is at the end in each layer, -1 for none of them."""
        owners, began = self._ends.owners, int(self.field.layers_of(self._ends.states[:1])[0])
        ways = [
            scene.in_layer(self.reach, token, layer, began)
            for layer in range(len(self.field.layers))
        ]
        return np.array([owners.index(way) if way in owners else -1 for way in ways], np.int64)

    def _keys(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return numbers of (cell, owner) of states, -1 where nobody stands so in the end."""
        owners = self._layers[self.field.layers_of(states)]
        cells, _ = self.field.split_states(states)
        keys = np.where(owners < 0, -1, cells * len(self._ends.owners) + owners)
        return np.asarray(keys, np.int64)

    def states(self, stand: int) -> npt.NDArray[np.int64]:
        """Return which settled states are a stand."""
        members: npt.NDArray[np.bool_] = self._stand == stand
        return self._ends.which[members]

    def after(self, begun: npt.NDArray[np.int64], wanted: npt.NDArray[np.bool_]) -> _After:
        """Return where a movement may end that goes on from each of some stands: the wanted ones.

        Of each pair of stands it is the state of the least total, of these the first.
        """
        after, states, totals = self._resumed(begun)
        keys = self._keys(states)
        at = np.minimum(np.searchsorted(self._known, keys), len(self._known) - 1)
        kept = np.flatnonzero((self._known[at] == keys) & wanted[at])
        order = kept[np.lexsort((states[kept], totals[kept], at[kept], after[kept]))]
        pairs = after[order] * len(self._known) + at[order]
        best = order[np.diff(pairs, prepend=-1) > 0]
        return _After(after[best], at[best], totals[best], states[best])

    def _resumed(
        self, begun: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Return after which stand a movement may end, in which states, and their totals."""
        # Whoever stands there in one state, as nearly everybody does, goes on in one batch.
        n_states = np.bincount(self._stand, minlength=len(self._known))[begun]
        alone, rest = begun[n_states == 1], begun[n_states > 1].tolist()
        first = np.empty(len(self._known), np.int64)
        first[self._stand] = self._ends.which
        whose, states, totals = self.reach.resumed_each(first[alone])
        parts = [(alone[whose], states, totals)]
        for stand in rest:
            ways, spent = self.reach.resumed(self.states(stand)).states_that_may_end()
            parts.append((np.full(len(ways), stand), ways.astype(np.int64), spent))
        after, states, totals = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return after, states, totals


def strike_and_return(
    board: Board,
    token: Token | Cell,
    target: Token | Cell,
    tokens: Iterable[Token] | None = None,
    *,
    weapons: Iterable[Weapon],
    hidden_from: Iterable[Token] | None = None,
    light: int | None = None,
) -> Strikes:
    """Return from where a target can be attacked such that a hidden stop can still be reached.

    The movement pauses for the attack where it may end, and goes on with what is left of every
    speed (S5-03) and the diagonals made so far (PF-01), see `Reach.then`. It ends where none of
    those to hide from sees the token; that may be where it attacked from, or where it began. The
    others stay where they are, and the target stands.

    Parameters
    ----------
    board : Board
    token : Token or tuple of int
        Who strikes: a token, or the cell of one.
    target : Token or tuple of int
        On whom.
    tokens : iterable of Token, optional
        Who is on the board, in place of the board's own tokens; the token is left out.
    weapons : iterable of Weapon, keyword-only
    hidden_from : iterable of Token, optional
        From whom it must be hidden in the end: all foes if absent. Who is helpless sees nobody.
    light : int, optional
        Light malus everywhere, 0 or negative, in place of the board's.

    Returns
    -------
    Strikes
        False where there is no such way.

    Raises
    ------
    MapError
        If nobody stands on a cell given for the token or the target.
    OutsideMapError, RulesError, ArgumentTypeError, CostError
        As in `options`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> thief = fc.Token(fc.Creature("thief", speed=4), (0, 0), side="blue")
    >>> guard = fc.Token("guard", (0, 4), side="red")
    >>> board = fc.Board.from_rows(
    ...     [".#...", "....."],
    ...     {".": "open", "#": "wall"},
    ...     rules="pathfinder",
    ...     tokens=[thief, guard],
    ... )
    >>> sling = fc.tactics.Weapon("sling", range=5)
    >>> strikes = fc.tactics.strike_and_return(board, thief, guard, weapons=[sling])
    >>> strikes[0].cell, strikes[0].price, strikes[0].shelter, strikes[0].total
    ((1, 0), 1.0, (0, 0), 2.0)
    >>> strikes.path(0).cells.tolist(), strikes.path(0).pauses
    ([[0, 0], [1, 0], [0, 0]], ((1, 0),))
    """
    arms = as_weapons(weapons)
    mover, others = scene.company(board, token, tokens)
    aim = (
        target if isinstance(target, Token) else board._lowest(others, board.terrain.check(target))
    )
    if aim is None:
        raise MapError(f"nobody stands at {target}; give a token, or the cell of one")
    board._present([aim])
    hidden = scene.the_foes(board, mover, others, hidden_from)
    reach = board.reach(mover, tokens=others)
    return Strikes(board, mover, aim, hidden, arms, reach, light)

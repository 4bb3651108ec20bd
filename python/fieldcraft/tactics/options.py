"""One turn of one creature: where it may stop, what it can attack from there, who sees it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token
from fieldcraft.errors import MissingExtraError
from fieldcraft.frozen import Frozen, cached_property, frozen
from fieldcraft.lattice import Cell
from fieldcraft.sight import HIDDEN
from fieldcraft.tactics import _scene as scene
from fieldcraft.tactics.valuation import THOUSAND, UNKNOWN, AttackValue, Valuer, least
from fieldcraft.tactics.weapons import Weapon, as_weapons

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.path import Path
    from fieldcraft.reach import Reach
    from fieldcraft.rules import Effect

__all__ = ["Option", "Options", "Shot", "options"]


class Shot(NamedTuple):
    """An attack that is possible: on whom, at what malus, with what, how far away."""

    target: Token
    malus: int
    weapon: Weapon
    distance: float


class Option(NamedTuple):
    """One stop of a turn.

    Attributes
    ----------
    cell : tuple of int
    price, left : float
        What the way there costs, and what is left of the movement.
    stake : int or None
        What the safest way there risks, in thousandths; None where that is not known.
    shots : tuple of Shot
        The attacks possible from there, the best one first; the others in the order of the foes.
    exposure : int
        How many foes see the place.
    exposed_malus : int or None
        At what malus the one sees it that sees it best; None where nobody does.
    nearest : float
        How far away the nearest foe is, infinite without foes.
    """

    cell: Cell
    price: float
    left: float
    stake: int | None
    shots: tuple[Shot, ...]
    exposure: int
    exposed_malus: int | None
    nearest: float

    @property
    def best(self) -> Shot | None:
        """The best attack: of the highest malus, then on the nearest target; None where none is."""
        return self.shots[0] if self.shots else None


class Options(Frozen, Sequence[Option]):
    """The stops of one turn, one a row: where it begins first, then by price, row and column.

    A sequence of `Option` over arrays, made by `options`. Of f foes and n stops:

    Attributes
    ----------
    board : Board
    token : Token
        Whose turn it is.
    foes : tuple of Token
        The columns of what has one for each foe.
    weapons : tuple of Weapon
    reach : Reach
        Where it gets to: ``options.reach.path_to(cell)`` is the cheapest way.
    cells : ndarray of int64, shape (n, 2)
    price : ndarray of float64, shape (n,)
        What the cheapest way that may end there costs.
    left : ndarray of float64, shape (n,)
        What is left of the movement, infinite without a budget.
    stake : ndarray of int64, shape (n,)
        What the way of least stake there risks within the budget, in thousandths; `UNKNOWN`, -1,
        where that is not known: where prices are floats, or the budget is huge.
    malus : ndarray of int16, shape (n, f)
        Malus of an attack on each foe, `HIDDEN` where none is possible.
    weapon : ndarray of int16, shape (n, f)
        The first of the weapons with which it is possible, -1 where none is.
    distance : ndarray of float64, shape (n, f)
        How far away each foe is.
    n_targets : ndarray of int32, shape (n,)
        How many foes can be attacked.
    best_target : ndarray of int32, shape (n,)
        The foe that is attacked at the highest malus, of these the nearest, of these the first;
        -1 where none can be.
    best_malus : ndarray of int16, shape (n,)
    exposure : ndarray of int32, shape (n,)
        How many foes see the place, those who are helpless left out.
    exposed_malus : ndarray of int16, shape (n,)
        The highest malus at which one does, `HIDDEN` where none does.
    nearest : ndarray of float64, shape (n,)
        How far away the nearest foe is, infinite without foes.
    """

    def __init__(
        self,
        board: Board,
        token: Token,
        foes: tuple[Token, ...],
        weapons: tuple[Weapon, ...],
        reach: Reach,
        valuer: Valuer,
        light: int | None = None,
    ) -> None:
        self.board, self.token, self.foes, self.weapons = board, token, foes, weapons
        self.reach, self._valuer = reach, valuer
        self._stops = stops = scene.stops_of(board, token, reach)
        others = scene.bodies_of(board, foes)
        seen = scene.maluses(board, stops.bodies, others, light)
        self.distance = frozen(scene.apart(board, stops.bodies, others))
        self.weapon = frozen(
            scene.attacks(board, stops.bodies, others, seen, self.distance, weapons)
        )
        self.malus = frozen(np.where(self.weapon >= 0, seen, HIDDEN).astype(np.int16))
        watching = [foe for foe in foes if not foe.helpless]
        watched = scene.maluses(board, scene.bodies_of(board, watching), stops.bodies, light)
        self.exposure = frozen(np.count_nonzero(watched != HIDDEN, axis=0).astype(np.int32))
        self.exposed_malus = frozen(watched.max(axis=0, initial=HIDDEN))
        self.nearest = frozen(self.distance.min(axis=1, initial=math.inf))
        self.cells = frozen(stops.cells)
        self.price = frozen(stops.price)

    def __getstate__(self) -> dict[str, Any]:
        # What values attacks may be a function that does not pickle; the stakes go along instead.
        known = {"stake": self.stake}
        return {name: v for name, v in self.__dict__.items() if name != "_valuer"} | known

    # -- columns --------------------------------------------------------------------------------

    @cached_property
    def left(self) -> npt.NDArray[np.float64]:
        """What is left of the movement at each stop, infinite without a budget, shape (n,)."""
        field, spent = self.reach.field, self._stops.ticks
        limit = field.to_ticks(self.reach.budget)
        if limit is None:
            return frozen(np.full(len(self), math.inf))
        return frozen(np.asarray(field.in_units(np.maximum(limit - spent, 0)), np.float64))

    @cached_property
    def stake(self) -> npt.NDArray[np.int64]:
        """What the safest way to each stop risks, in thousandths, `UNKNOWN` where it is not known.

        Worked out when first asked.
        """
        risked = least(self.reach, self.token.cell, self._valuer)[
            self.cells[:, 0], self.cells[:, 1]
        ]
        risked[0] = 0
        return frozen(risked)

    @cached_property
    def n_targets(self) -> npt.NDArray[np.int32]:
        """How many foes can be attacked from each stop, shape (n,)."""
        return frozen(np.count_nonzero(self.weapon >= 0, axis=1).astype(np.int32))

    @cached_property
    def best_malus(self) -> npt.NDArray[np.int16]:
        """The highest malus of an attack from each stop, HIDDEN where none is possible."""
        return frozen(self.malus.max(axis=1, initial=HIDDEN))

    @cached_property
    def best_target(self) -> npt.NDArray[np.int32]:
        """Which foe is best attacked from each stop, -1 where none can be, shape (n,)."""
        if not self.foes:
            return frozen(np.full(len(self), -1, np.int32))
        best = (self.malus == self.best_malus[:, None]) & (self.weapon >= 0)
        nearest = np.where(best, self.distance, math.inf).argmin(axis=1)
        return frozen(np.where(self.n_targets > 0, nearest, -1).astype(np.int32))

    # -- answers --------------------------------------------------------------------------------

    def best_attack(self) -> int | None:
        """Return the best stop for an attack, or None where none is possible from any.

        That is the one of the highest malus of its best target, then of most targets, then least
        exposed, then cheapest, then first by row and column.
        """
        if not self.n_targets.any():
            return None
        rows, cols = self.cells.T
        keys = cols, rows, self.price, self.exposure, -self.n_targets, -self.best_malus.astype(int)
        return int(np.lexsort(keys)[0])

    def safest(self) -> int:
        """Return the best stop for safety.

        That is the one that the fewest foes see, then of the lowest malus at which it is seen,
        then farthest from the nearest foe, then cheapest, then first by row and column.
        """
        rows, cols = self.cells.T
        keys = cols, rows, self.price, -self.nearest, self.exposed_malus, self.exposure
        return int(np.lexsort(keys)[0])

    def standing(self, stop: int) -> Token:
        """Return the token as it would be at a stop."""
        return self._stops.token(range(len(self))[stop])

    def effects(self, stop: int) -> tuple[Effect, ...]:
        """Return what the place of a stop does to the token; see `Board.effects`."""
        return self.board.effects(self.standing(stop))

    def path(self, stop: int) -> Path:
        """Return the cheapest path to a stop."""
        row, col = self.cells[range(len(self))[stop]].tolist()
        return self.reach.path_to((row, col))

    # -- as a sequence --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> list[Option]: ...
    def __getitem__(self, index: int | slice) -> Option | list[Option]:
        if isinstance(index, slice):
            return [self._option(i) for i in range(*index.indices(len(self)))]
        return self._option(range(len(self))[index])

    def __iter__(self) -> Iterator[Option]:
        return map(self._option, range(len(self)))

    def _option(self, i: int) -> Option:
        row, col = self.cells[i].tolist()
        exposed = int(self.exposed_malus[i])
        return Option(
            (row, col),
            float(self.price[i]),
            float(self.left[i]),
            None if self.stake[i] == UNKNOWN else int(self.stake[i]),
            tuple(self._shots(i)),
            int(self.exposure[i]),
            None if exposed == HIDDEN else exposed,
            float(self.nearest[i]),
        )

    def _shots(self, i: int) -> Iterator[Shot]:
        """Yield the attacks from a stop, the best one first."""
        best = int(self.best_target[i])
        possible = np.flatnonzero(self.weapon[i] >= 0).tolist()
        for foe in sorted(possible, key=lambda foe: foe != best):
            yield Shot(
                self.foes[foe],
                int(self.malus[i, foe]),
                self.weapons[int(self.weapon[i, foe])],
                float(self.distance[i, foe]),
            )

    def __repr__(self) -> str:
        n = int(np.count_nonzero(self.n_targets))
        return f"Options({len(self)} stops of {self.token.label}, attacks from {n})"

    # -- as a table -----------------------------------------------------------------------------

    def to_records(self) -> np.recarray[Any, Any]:
        """Return the stops as a NumPy record array, one record a stop.

        The fields are those of `Options` and ``row`` and ``col``; ``malus``, ``weapon`` and
        ``distance`` hold one value for each foe.
        """
        columns = {
            "row": self.cells[:, 0],
            "col": self.cells[:, 1],
            **{name: getattr(self, name) for name in (*COLUMNS, *BY_FOE)},
        }
        kinds = [(name, array.dtype, array.shape[1:]) for name, array in columns.items()]
        records = np.recarray(len(self), dtype=kinds)
        for name, array in columns.items():
            records[name] = array
        return records

    def to_table(self) -> Any:
        """Return the stops as a pyarrow Table, one row a stop.

        What is hidden or absent is null. ``targets`` lists the attacks possible from a stop:
        number and name of the foe, malus, name of the weapon, distance. ``effects`` lists what the
        place does to the token.

        Raises
        ------
        MissingExtraError
            If pyarrow is not installed.
        """
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtraError(
                "tables need pyarrow; install it with: pip install 'fieldcraft[table]'"
            ) from None
        hidden = {"best_malus", "exposed_malus"}
        columns = {"row": pa.array(self.cells[:, 0]), "col": pa.array(self.cells[:, 1])}
        for name in COLUMNS:
            array = getattr(self, name)
            absent = array == HIDDEN if name in hidden else None
            if name in ("best_target", "stake"):
                absent = array < 0
            columns[name] = pa.array(array, mask=absent)
        shot = [
            ("foe", pa.int32()), ("name", pa.string()), ("malus", pa.int16()),
            ("weapon", pa.string()), ("distance", pa.float64()),
        ]  # fmt: skip
        effect = [(name, pa.string()) for name in ("terrain", "when", "detail")]
        columns["targets"] = pa.array(
            map(self._targets, range(len(self))), pa.list_(pa.struct(shot))
        )
        columns["effects"] = pa.array(
            map(self._effects, range(len(self))), pa.list_(pa.struct(effect))
        )
        return pa.table(columns)

    def _targets(self, i: int) -> list[dict[str, Any]]:
        """Return the attacks from a stop for a table, in the order of the foes."""
        return [
            {
                "foe": foe,
                "name": self.foes[foe].label,
                "malus": int(self.malus[i, foe]),
                "weapon": self.weapons[int(self.weapon[i, foe])].name,
                "distance": float(self.distance[i, foe]),
            }
            for foe in np.flatnonzero(self.weapon[i] >= 0).tolist()
        ]

    def _effects(self, i: int) -> list[dict[str, str]]:
        """Return what a place does for a table."""
        return [
            {"terrain": one.terrain, "when": one.when, "detail": str(one.detail)}
            for one in self.effects(i)
        ]


COLUMNS = (
    "price", "left", "stake", "n_targets", "best_target", "best_malus", "exposure",
    "exposed_malus", "nearest",
)  # fmt: skip
"""The columns of a table with one value a stop, beside its row and its column."""
BY_FOE = ("malus", "weapon", "distance")
"""Those with one for each foe."""


def options(
    board: Board,
    token: Token | Cell,
    tokens: Iterable[Token] | None = None,
    *,
    weapons: Iterable[Weapon] = (),
    ground: str = "dry",
    attack: AttackValue = THOUSAND,
    foes: Iterable[Token] | None = None,
    light: int | None = None,
) -> Options:
    """Return what a creature can do in its turn: one row for each place where it may stop.

    The stops are the cells of its reach in which a movement may end, and the one where it begins.
    At each the token is as the cheapest way there leaves it: in the air if that flies, on its
    level of a tree or of the air. All others stay where they are.

    Parameters
    ----------
    board : Board
    token : Token or tuple of int
        Whose turn it is: a token, or the cell of one. Its speeds are what it may spend.
    tokens : iterable of Token, optional
        Who is on the board, in place of the board's own tokens; the token is left out.
    weapons : iterable of Weapon
        What it may attack with; without any there are no attacks.
    ground, attack
        The state of the ground, and what an attack provoked is worth, for `Options.stake`; see
        `value`.
    foes : iterable of Token, optional
        Whom it may attack and who looks at it; those among `tokens` whose side is a foe if absent.
        Who is helpless looks at nobody.
    light : int, optional
        Light malus everywhere, 0 or negative, in place of the board's.

    Returns
    -------
    Options

    Raises
    ------
    MapError
        If nobody stands on the cell.
    OutsideMapError, CostError, RulesError, ArgumentTypeError
        If a token is not on the map, a weapon's range means nothing in the system, or what is
        given is of another kind.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> archer = fc.Token(fc.Creature("archer", speed=2), (0, 0), side="blue")
    >>> orc = fc.Token("orc", (0, 5), side="red")
    >>> board = fc.Board.from_rows(
    ...     [".f...."],
    ...     {".": "open", "f": "light_forest"},
    ...     lattice="odd-r",
    ...     rules="hexwild",
    ...     tokens=[archer, orc],
    ... )
    >>> bow = fc.tactics.Weapon("bow", range=5)
    >>> for option in fc.tactics.options(board, archer, weapons=[bow]):
    ...     print(option.cell, option.price, option.best.malus, option.exposure, option.nearest)
    (0, 0) 0.0 -1 1 5.0
    (0, 1) 1.5 0 1 4.0
    """
    arms = as_weapons(weapons)
    mover, others = scene.company(board, token, tokens)
    enemies = scene.the_foes(board, mover, others, foes)
    valuer = Valuer(mover.creature, ground, attack)
    return Options(board, mover, enemies, arms, board.reach(mover, tokens=others), valuer, light)

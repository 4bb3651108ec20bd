"""What a step is worth avoiding: the damage expected of it, and the attacks it provokes.

A stake is a whole number of thousandths, of a point of damage or of an attack, so that sums and
ties are exact. Sums are taken as they are: that a foe strikes but once a round is left out.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token
from fieldcraft.errors import ArgumentTypeError, CostError, RulesError, nearest
from fieldcraft.lattice import Cell
from fieldcraft.path import ATTACK, Stake, Step
from fieldcraft.rules import Damage, Ground, Knockdown, Save, Slip
from fieldcraft.safest import has_room, least_stakes

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.fields import StepField
    from fieldcraft.reach import Reach
    from fieldcraft.rules._risks import Risks
    from fieldcraft.safest import SafestReach

__all__ = ["DEFAULT_SAVE", "GROUNDS", "Valuer", "safest", "stakes", "value"]

Array = npt.NDArray[Any]
AttackValue = int | Callable[[Token], int]

THOUSAND = 1000
DEFAULT_SAVE = 50
"""How often, in percent, a save succeeds of a creature of which nothing else is known."""
UNKNOWN = -1
"""The stake of what is not known."""
GROUNDS = Ground._fields
"""The states of the ground on which slips and saves depend."""
ROLLED = 10
"""The sides of the die of initiative (HW-20)."""
KEPT = 64
"""For so many kinds of creatures, rules and states of the ground values are remembered."""
MOST_REMEMBERED = 1 << 14
"""So many kinds of steps of each."""


def value(
    stakes: Iterable[Stake],
    creature: Creature,
    *,
    ground: str = "dry",
    attack: AttackValue = THOUSAND,
) -> int:
    """Return what stakes are worth together, in thousandths of a point of damage.

    - A save: the chance that it fails, by `Creature.saves`, the state of the ground and what makes
      it harder, times the damage that failing does on average; with that of the place where it
      knocks down.
    - A slip: the chance that the roll of initiative, 1d10, is at the figure of the ground or above
      it, times the chance that the save fails, times the damages of the place.
    - A fall into another cell: its chance times its damage, that of an ordinary height.
    - An attack provoked: as given.

    What has no figure counts 0: tests, climbs, maluses, what cannot be done, and landing on
    somebody. Each stake is rounded once, halves upwards.

    Parameters
    ----------
    stakes : iterable of Stake
        Such as `Step.stakes`, or `Path.stakes`.
    creature : Creature
        Whose saves they are; what its `saves` do not name succeeds in `DEFAULT_SAVE` percent.
    ground : str
        ``"dry"``, ``"wet"``, ``"snow"`` or ``"ice"``.
    attack : int, or callable
        What an attack provoked is worth, in thousandths; or a function of the token that may make
        it.

    Returns
    -------
    int

    Raises
    ------
    RulesError
        If the ground is unknown.
    ArgumentTypeError, CostError
        If an attack is worth no whole number, or less than 0.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> board = fc.Board([["open", "thorns"]], lattice="odd-r", rules="hexwild")
    >>> path = board.path((0, 0), (0, 1))
    >>> fc.tactics.value(path.stakes, fc.Creature(saves={"reflex": 75}))
    500
    """
    valuer = Valuer(creature, ground, attack)
    return sum(map(valuer.of, stakes))


class Valuer:
    """What steps are worth: a function of a step, that values very many at once as well.

    Parameters
    ----------
    creature : Creature
    ground, attack
        As in `value`.
    """

    def __init__(
        self, creature: Creature, ground: str = "dry", attack: AttackValue = THOUSAND
    ) -> None:
        if not isinstance(creature, Creature):
            raise ArgumentTypeError(f"creature must be a Creature, not {creature!r}")
        if ground not in GROUNDS:
            raise RulesError(
                f"unknown state of the ground {ground!r}{nearest(str(ground), GROUNDS)}; expected "
                f"one of {', '.join(GROUNDS)}"
            )
        self.creature, self.ground, self.attack = creature, ground, attack
        if not callable(attack):
            self._worth(attack)

    def __call__(self, step: Step) -> int:
        """Return what a step is worth."""
        return sum(map(self.of, step.stakes))

    def of(self, stake: Stake) -> int:
        """Return what one stake is worth, in thousandths."""
        if stake.kind == ATTACK:
            return self.of_attack(stake.detail)
        damage: Fraction | int = 0
        if isinstance(stake.detail, Save):
            fails = self._fails(stake, stake.detail.save, stake.detail.modifiers)
            damage = fails * (_mean(stake.detail.damage) + _besides(stake))
        elif isinstance(stake.detail, Slip):
            least = getattr(stake.detail.initiative, self.ground)
            slips = Fraction(min(max(ROLLED + 1 - least, 0), ROLLED), ROLLED)
            damage = slips * self._fails(stake, "reflex", stake.detail.save) * _besides(stake)
        return int(damage * THOUSAND + Fraction(1, 2))

    def of_attack(self, foe: Token) -> int:
        """Return what an attack by a foe is worth, in thousandths."""
        return self._worth(self.attack(foe) if callable(self.attack) else self.attack)

    @staticmethod
    def _worth(worth: Any) -> int:
        if isinstance(worth, bool) or not hasattr(worth, "__index__"):
            raise ArgumentTypeError(
                f"attack must be worth a whole number of thousandths, not {worth!r}"
            )
        if worth < 0:
            raise CostError(f"attack must be worth 0 or more, not {worth}")
        return int(worth)

    def _fails(self, stake: Stake, save: str, by_ground: Ground) -> Fraction:
        """Return the chance that a save fails."""
        saves = self.creature.saves or {}
        chance = saves.get(save, saves.get("reflex", DEFAULT_SAVE))
        harder = sum(one.value for one in stake.modifiers if one.what == "reflex")
        percent = Fraction(chance) + getattr(by_ground, self.ground) + harder
        fails: Fraction = 1 - min(max(percent, Fraction(0)), Fraction(100)) / 100
        return fails

    # -- very many steps ------------------------------------------------------------------------

    def of_states(self, field: StepField, sources: Array, ends: Array) -> npt.NDArray[np.int64]:
        """Return what steps from states to states of a field are worth, shape (n,)."""
        starts, to = (field.to_cells(field.split_states(states)[0]) for states in (sources, ends))
        return self.of_steps(field, starts, to, field.layers_of(sources), field.layers_of(ends))

    def of_steps(
        self, field: StepField, starts: Array, ends: Array, before: Array, after: Array
    ) -> npt.NDArray[np.int64]:
        """Return what steps are worth, shape (n,).

        In: cells, shape (n, 2), and layers, shape (n,), that they lead from and to. They are looked
        at one by one only where the rules do not tell them apart by kinds.
        """
        risks = _risks(field, starts, ends, before, after)
        if risks is None:
            return self._one_by_one(field, starts, ends, before, after)
        total: npt.NDArray[np.int64] = self.of_kinds(risks)[risks.kind]
        for foe, provoked in zip(risks.foes, risks.provoked, strict=True):
            total = total + self.of_attack(foe) * provoked
        return total

    def of_kinds(self, risks: Risks) -> npt.NDArray[np.int64]:
        """Return what each kind of steps is worth, attacks apart, shape (kinds,)."""
        known = _remembered((risks.about, self.creature.saves, self.ground))
        worth = np.empty(len(risks.names), np.int64)
        for number, name in enumerate(risks.names):
            found = known.get(name)
            if found is None:
                found = sum(map(self.of, risks.stakes(number)))
                if len(known) < MOST_REMEMBERED:
                    known[name] = found
            worth[number] = found
        return worth

    def _one_by_one(
        self, field: StepField, starts: Array, ends: Array, before: Array, after: Array
    ) -> npt.NDArray[np.int64]:
        """Return what steps are worth, each looked at."""
        ask = getattr(field.explainer, "stakes", None)
        if ask is None:
            return np.zeros(len(starts), np.int64)
        return np.array(
            [
                sum(map(self.of, ask(tuple(a), tuple(b), layer, source)))
                for a, b, source, layer in zip(
                    starts.tolist(), ends.tolist(), before.tolist(), after.tolist(), strict=True
                )
            ],
            np.int64,
        )


def _risks(
    field: StepField, starts: Array, ends: Array, before: Array, after: Array
) -> Risks | None:
    """Return what steps risk by their kinds; None where each must be looked at."""
    ask = getattr(field.explainer, "risks", None)
    if ask is None:
        return None
    from fieldcraft.rules._risks import Strides

    found: Risks | None = ask(Strides(starts, ends, before, after))
    return found


def _mean(damage: Damage | None) -> Fraction:
    """Return what damage does on average."""
    return Fraction(0) if damage is None else damage.dice.mean


def _besides(stake: Stake) -> Fraction:
    """Return what being knocked down in a place does on average."""
    total = Fraction(0)
    for knockdown in stake.besides:
        if isinstance(knockdown, Knockdown):
            total += _mean(knockdown.damage)
            total += Fraction(knockdown.fall_chance, 100) * _mean(knockdown.fall_damage)
    return total


_MEMO: OrderedDict[Hashable, dict[Hashable, int]] = OrderedDict()
_MEMO_LOCK = threading.Lock()


def _remembered(about: Hashable) -> dict[Hashable, int]:
    """Return what kinds of steps are worth that are known already."""
    with _MEMO_LOCK:
        known = _MEMO.setdefault(about, {})
        _MEMO.move_to_end(about)
        if len(_MEMO) > KEPT:
            _MEMO.popitem(last=False)
        return known


def least(reach: Reach, start: Cell, valuer: Valuer) -> npt.NDArray[np.int64]:
    """Return the least stake of a way to each stop of a reach, as a map; `UNKNOWN` elsewhere.

    Without a budget every detour is allowed. `UNKNOWN` too, wherever anything is at stake at all,
    where ways cannot be listed: prices in floats, a budget too large, or none and some speeds
    bounded all the same.
    """
    field = reach.field
    if has_room(field, reach.budget, len(reach._states)):
        return field.safest(start, reach.budget, valuer).to_array()
    bounded = any(layer.cap is not None for layer in field.layers)
    if not field.is_float and math.isinf(reach.budget) and not bounded:
        return least_stakes(field, start, valuer)
    safe = not field.links and not any(
        _of_layer(field, valuer, layer).any() for layer in range(len(field.layers))
    )
    return np.full(field.shape, 0 if safe else UNKNOWN, np.int64)


def _of_layer(field: StepField, valuer: Valuer, layer: int) -> npt.NDArray[np.int64]:
    """Return what leaving each cell in each direction is worth in a layer, 0 where none may."""
    found = np.zeros((*field.shape, field.lattice.n_directions), np.int64)
    rows, cols, directions, starts, ends = _steps_of(field, layer)
    layers = np.full(len(rows), layer, np.int64)
    found[rows, cols, directions] = valuer.of_steps(field, starts, ends, layers, layers)
    return found


def _steps_of(field: StepField, layer: int) -> tuple[Array, ...]:
    """Return all legal steps of a layer: rows, columns, directions; cells they lead from and to."""
    lattice = field.lattice
    legal = field.legal_steps(layer)
    rows, cols, directions = np.nonzero(legal[:, :, None] >> np.arange(lattice.n_directions) & 1)
    starts = np.stack([rows, cols], axis=-1)
    ends = starts + lattice.offsets()[np.asarray(lattice.parity(starts)), directions]
    return rows, cols, directions, starts, ends


class StepKinds:
    """The steps of a creature alone on a board by their kinds, and what those are worth.

    Attributes
    ----------
    kind : ndarray of uint16, shape (height, width, directions)
        Of the step that leaves each cell in each direction; 0 where none is legal.
    """

    def __init__(self, creature: Creature, risks: Risks, kind: Array) -> None:
        self.kind = kind
        self._creature, self._risks = creature, risks

    @classmethod
    def of(cls, field: StepField, creature: Creature) -> StepKinds | None:
        """Return those of a field of one layer; None where more than two cells tell them apart."""
        ask = getattr(field.explainer, "alike_by", None)
        codes = None if ask is None else ask()
        if codes is None:
            return None
        lattice, n_codes = field.lattice, int(codes.max()) + 1
        cells = np.stack(np.meshgrid(*map(np.arange, field.shape), indexing="ij"), axis=-1)
        ends = cells[:, :, None] + lattice.offsets()[np.asarray(lattice.parity(cells))]
        inside = np.clip(ends, 0, np.array(field.shape) - 1)
        pair = codes[:, :, None].astype(np.int64) * n_codes + codes[inside[..., 0], inside[..., 1]]
        legal = (field.legal_steps()[:, :, None] >> np.arange(lattice.n_directions) & 1) == 1
        # One step is looked at for each two codes between which there are any.
        first = np.full(n_codes**2, -1, np.int64)
        steps = np.flatnonzero(legal)[::-1]
        first[pair.reshape(-1)[steps]] = steps
        used = np.flatnonzero(first >= 0)
        starts = cells.reshape(-1, 2)[first[used] // lattice.n_directions]
        layers = np.full(len(used), field.home, np.int64)
        risks = _risks(field, starts, ends.reshape(-1, 2)[first[used]], layers, layers)
        if risks is None or len(risks.names) > np.iinfo(np.uint16).max - 1:
            return None
        number = np.zeros(n_codes**2, np.uint16)
        number[used] = risks.kind + 1
        return cls(creature, risks, np.where(legal, number[pair], np.uint16(0)))

    def worth(self, ground: str) -> npt.NDArray[np.int64]:
        """Return what each kind is worth on some ground, in thousandths, shape (kinds,)."""
        return np.append(0, Valuer(self._creature, ground).of_kinds(self._risks))


# -- on a board -----------------------------------------------------------------------------------


def stakes(
    board: Board,
    creature: Creature,
    *,
    ground: str = "dry",
    token: Token | None = None,
    tokens: Iterable[Token] | None = None,
    attack: AttackValue = THOUSAND,
) -> npt.NDArray[np.int64]:
    """Return what leaving each cell in each direction is worth avoiding, in thousandths.

    That is the `value` of the stakes of each legal step, 0 where there is no step. Steps between
    the same kinds of cells are looked at once, so that a whole map takes milliseconds.

    Parameters
    ----------
    board : Board
    creature : Creature
    ground, attack
        As in `value`.
    token : Token, optional
        The token that moves: its side says who is a foe, and it lies or flies as it does. Somebody
        of no side, that is not on the board yet, if absent.
    tokens : iterable of Token, optional
        Who is on the board, in place of the board's own tokens; the token is left out.

    Returns
    -------
    ndarray of int64, shape (height, width, directions)
        As `Board.safest` takes it. Where a movement has layers (several speeds, squeezing, trees)
        these are the steps in the one in which it begins; `safest` of this module reckons with all.

    Raises
    ------
    RulesError, ArgumentTypeError, CostError
        As in `value`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> board = fc.Board([["open", "thorns"]], lattice="odd-r", rules="hexwild")
    >>> fc.tactics.stakes(board, fc.Creature()).sum(axis=2).tolist()
    [[1000, 0]]
    """
    valuer = Valuer(creature, ground, attack)
    if token is None:
        others = board._present(tokens)
        field = board._step_field(None, creature, others, board._pace(creature, None))
    else:
        field = board.step_field(token, tokens=tokens, creature=creature)
    return _of_layer(field, valuer, field.home)


def safest(
    board: Board,
    who: Token | Cell,
    *,
    tokens: Iterable[Token] | None = None,
    budget: Any = None,
    ground: str = "dry",
    attack: AttackValue = THOUSAND,
) -> SafestReach:
    """Return the ways of least stake to every cell a creature gets to, exactly.

    Stakes are the expected damage of the steps and the attacks they provoke, see `value`; they add
    up along a way. Of ways of equal stake the cheapest counts.

    Parameters
    ----------
    board : Board
    who, tokens, budget
        As in `Board.reach`; there must be a speed or a budget.
    ground, attack
        As in `value`.

    Returns
    -------
    SafestReach
        ``.frontier(cell)`` lists the ways to a cell of which none is better in price and stake.

    Raises
    ------
    OutsideMapError, CostError, RulesError, ArgumentTypeError
        As in `Board.safest` and in `value`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> board = fc.Board.from_rows(
    ...     [".*.", "..."], {".": "open", "*": "thorns"}, lattice="odd-r", rules="hexwild"
    ... )
    >>> safest = fc.tactics.safest(board, (0, 0), budget=4)
    >>> [(way.cost, way.stake) for way in safest.frontier((0, 2))]
    [(2.5, 1000), (3.0, 0)]
    """
    token, mover, _ = board._mover(who, tokens, None)
    valuer = Valuer(mover, ground, attack)
    return board.safest(who if token is None else token, valuer, tokens=tokens, budget=budget)

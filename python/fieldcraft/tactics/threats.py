"""Threat maps: which cells each foe could attack in its next turn, and from where it could come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Creature, Token, without
from fieldcraft.errors import ArgumentTypeError, MapError, nearest
from fieldcraft.frozen import Frozen, cached_property, frozen
from fieldcraft.lattice import Cell
from fieldcraft.queries import on_map
from fieldcraft.sight import HIDDEN
from fieldcraft.tactics import _scene as scene
from fieldcraft.tactics.weapons import Weapon, as_weapons, range_in

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.fields import StepField
    from fieldcraft.reach import Reach

__all__ = ["Threat", "Threats", "threats"]

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Maluses = npt.NDArray[np.int16]
WeaponsOf = Iterable[Weapon] | Mapping[Any, Iterable[Weapon]]

EVERY = 5
"""Where a foe of one profile stands on every so many cells, one run from all cells is quicker."""
CHUNK_BYTES = 1 << 25
"""Windows of maluses that are held at a time."""


class Threat(NamedTuple):
    """A foe that could attack a place in its next turn, and the best malus it could have."""

    foe: Token
    malus: int


class Threats(Frozen):
    """What foes could attack in their next turn, as maps; made by `threats`.

    Attributes
    ----------
    board : Board
    token : Token
        Who would be attacked: on a threatened cell it is thought to stand, by its anchor.
    foes : tuple of Token
        Those who may attack, the helpless left out.
    weapons : tuple of tuple of Weapon
        What each has.
    maluses : ndarray of int16, shape (f, height, width)
        The best malus that each could have against each cell, `HIDDEN` where it cannot attack.
    masks : ndarray of bool, shape (f, height, width)
        Which cells each could attack.
    cells : ndarray of int32, shape (height, width)
        How many could attack each cell.
    malus : ndarray of int16, shape (height, width)
        The best malus that any could have, `HIDDEN` where none can attack.
    """

    def __init__(
        self,
        board: Board,
        token: Token,
        foes: tuple[Token, ...],
        weapons: tuple[tuple[Weapon, ...], ...],
        everyone: tuple[Token, ...],
        light: int | None,
        *,
        placed: Token | None,
    ) -> None:
        self.board, self.token, self.foes, self.weapons = board, token, foes, weapons
        self._everyone, self._light, self._placed = everyone, light, placed
        found = np.full((len(foes), *board.shape), HIDDEN, np.int16)
        stands = _stands(board, foes, everyone)
        for arms, group in _alike(board, stands, weapons):
            _Attacks(board, token, arms, group[0].owner, light).paint(found, group)
        self.maluses = frozen(found)

    @cached_property
    def masks(self) -> Bools:
        """Which cells each could attack, shape (f, height, width)."""
        return frozen(self.maluses != HIDDEN)

    @cached_property
    def cells(self) -> npt.NDArray[np.int32]:
        """How many could attack each cell, shape (height, width)."""
        return frozen(np.count_nonzero(self.masks, axis=0).astype(np.int32))

    @cached_property
    def malus(self) -> Maluses:
        """The best malus that any could have against each cell, HIDDEN where none can attack."""
        return frozen(self.maluses.max(axis=0, initial=HIDDEN))

    def at(self, cell: Cell) -> tuple[Threat, ...]:
        """Return who could attack a place, the best malus first, then in the order of the foes.

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        row, col = on_map(cell, self.board.shape)
        maluses = self.maluses[:, row, col]
        order = np.argsort(-maluses.astype(np.int64), kind="stable")
        return tuple(
            Threat(self.foes[i], int(maluses[i])) for i in order.tolist() if maluses[i] != HIDDEN
        )

    def origins(self, foe: Token | int, cell: Cell | None = None) -> Bools:
        """Return from where a foe could attack the token in one turn, if it began that there.

        Its way is looked at backwards: from where the token can be attacked to all cells from
        which such a place is reached, in one run for all of them (`Board.reaches`). The foe is not
        where it stands now; all others are, and the token is where it would stand.

        Parameters
        ----------
        foe : Token or int
            One of the foes, or its number.
        cell : tuple of int, optional
            Where the token would stand; where it does if absent.

        Returns
        -------
        ndarray of bool, shape (height, width)
            By the anchor of the foe.

        Raises
        ------
        MapError
            If that is none of the foes; if the threats are to a side, and no cell is given.
        OutsideMapError
            If the cell lies outside the map.
        """
        number = self._number(foe)
        if cell is None and self._placed is None:
            raise MapError("these are threats to a side; give the cell that would be attacked")
        there = self.token.cell if cell is None else on_map(cell, self.board.shape)
        attacker, me = self.foes[number], self.token.at(there)
        others = without(without(self._everyone, self._placed), attacker)
        if self._placed is not None:
            others.append(self._placed.at(there))
        elif self.board._lowest(others, there) is None:
            others.append(me)
        arms = self.weapons[number]
        return frozen(_origins(self.board, attacker, me, tuple(others), arms, self._light))

    def _number(self, foe: Token | int) -> int:
        """Return the number of a foe."""
        if isinstance(foe, Token):
            found = [i for i, one in enumerate(self.foes) if one is foe]
            found = found or [i for i, one in enumerate(self.foes) if one == foe]
            if not found:
                raise MapError(f"{foe.label!r} at {foe.cell} is none of the foes")
            return found[0]
        if isinstance(foe, bool) or not hasattr(foe, "__index__"):
            raise ArgumentTypeError(f"foe must be a Token or a number, not {foe!r}")
        if not -len(self.foes) <= foe < len(self.foes):
            raise MapError(f"there is no foe {foe}; there are {len(self.foes)}, from 0 on")
        return range(len(self.foes))[foe]

    def __repr__(self) -> str:
        n = int(np.count_nonzero(self.cells))
        return f"Threats({len(self.foes)} foes, {n} cells)"


# -- where the foes get to ------------------------------------------------------------------------


class _Stand(NamedTuple):
    """Where a foe may end its turn in one way: on the ground, in the air, and the like.

    Attributes
    ----------
    foe : int
    owner : Token
        The foe as it is then.
    cells : ndarray of int64, shape (n, 2)
    """

    foe: int
    owner: Token
    cells: npt.NDArray[np.int64]


def _stands(board: Board, foes: Sequence[Token], everyone: tuple[Token, ...]) -> list[_Stand]:
    """Return where foes may end their turns.

    Those of one profile share a compiled field where their own bodies make no difference to it.
    """
    found = []
    profiles: dict[Token, list[int]] = {}
    for number, foe in enumerate(foes):
        profiles.setdefault(replace(foe, name="", cell=(0, 0)), []).append(number)
    for profile, numbers in profiles.items():
        pace = board._pace(profile.creature, profile)
        shared = _shared(board, profile, everyone) if len(numbers) > 1 else None
        if shared is not None:
            cells = np.array([foes[number].cell for number in numbers], np.int64)
            ends = _all_ends(shared, cells, board._limit(pace))
            found += [_Stand(n, foes[n], stops) for n, stops in zip(numbers, ends, strict=True)]
            continue
        for number in numbers:
            others = tuple(without(everyone, foes[number]))
            field = board._step_field(profile, profile.creature, others, pace)
            reach = field.reach(foes[number].cell, board._limit(pace))
            found += [_Stand(number, *way) for way in _ways(board, foes[number], reach)]
    return found


def _shared(board: Board, profile: Token, everyone: tuple[Token, ...]) -> StepField | None:
    """Return a field that is as good as one without the mover for each of a profile, or None.

    Nobody of one cell and one gait gains anything by coming back to where the movement began, so
    that it is no matter who stands there; unless others are judged by who is beside them.
    """
    rules = board.rules
    if getattr(rules, "is_company_judged", True):
        return None
    if len(rules.footprint(profile.creature, board.lattice)) > 1:
        return None
    pace = board._pace(profile.creature, profile)
    field = board._step_field(profile, profile.creature, everyone, pace)
    return field if len(field.layers) == 1 and not field.links else None


def _all_ends(field: StepField, cells: Array, limit: Any) -> list[npt.NDArray[np.int64]]:
    """Return where movements from some cells of a field of one layer may end, starts included."""
    if len(cells) * EVERY < field.shape[0] * field.shape[1]:
        reaches = field.reach_many(cells, limit)
        return [_with_start(cell, one.stops) for cell, one in zip(cells, reaches, strict=True)]
    number = np.full(field.shape, -1, np.int64)
    number[cells[:, 0], cells[:, 1]] = np.arange(len(cells))
    found: dict[int, npt.NDArray[np.int64]] = {}
    for block in field.reaches(limit).blocks():
        numbers = number[block.cells[:, 0], block.cells[:, 1]]
        for at in np.flatnonzero(numbers >= 0).tolist():
            cell = block.cells[at]
            ends = cell + block.offsets[block.can_stop[at]]
            found[int(numbers[at])] = _with_start(cell, ends)
    # Of several on one cell the last has the number.
    return [found[int(number[row, col])] for row, col in cells.tolist()]


def _with_start(cell: Array, ends: Array) -> npt.NDArray[np.int64]:
    """Return where a movement may end, the place where it begins first."""
    return np.concatenate([cell[None], ends[(ends != cell).any(axis=1)]])


def _ways(board: Board, foe: Token, reach: Reach) -> Iterator[tuple[Token, npt.NDArray[np.int64]]]:
    """Yield the ways in which a foe may be at the end of its reach, and where."""
    ends = scene.ends_of(board, foe, reach)
    cells = reach.field.to_cells(reach.field.split_states(ends.states)[0])
    for number, owner in enumerate(ends.owners):
        yield owner, np.unique(cells[ends.whose == number], axis=0)


def _alike(
    board: Board, stands: Iterable[_Stand], weapons: Sequence[tuple[Weapon, ...]]
) -> Iterator[tuple[tuple[Weapon, ...], list[_Stand]]]:
    """Yield weapons, and who has them, by all that matters to an attack."""
    groups: dict[Any, list[_Stand]] = {}
    for stand in stands:
        creature = stand.owner.creature
        key = (
            weapons[stand.foe], creature.size, creature.height, creature.reach, creature.body,
            stand.owner.level, board.rules.level_of(stand.owner), stand.owner.facing,
        )  # fmt: skip
        groups.setdefault(key, []).append(stand)
    for key, group in groups.items():
        if key[0]:
            yield key[0], group


# -- what they attack from there ------------------------------------------------------------------


class _Attacks:
    """The attacks of one kind of foe on one kind of target, from any place on any place."""

    def __init__(
        self,
        board: Board,
        target: Token,
        weapons: tuple[Weapon, ...],
        attacker: Token,
        light: int | None,
    ) -> None:
        self.board, self.light, self.weapons = board, light, weapons
        self.field = board.sight_field(attacker, target)
        rules = board.rules
        self.levels = abs(rules.level_of(attacker) - rules.level_of(target))
        self.reach = attacker.creature.reach
        self.ranges = [range_in(rules, weapon) for weapon in weapons]
        self.limits = [HIDDEN + 1 if one.limit is None else one.limit for one in weapons]
        # The cells of the two bodies from their anchors, in even places and in odd ones.
        self.bodies = scene.shapes_of(board, attacker)
        self.targets = scene.shapes_of(board, target)
        self.radius = max(map(self._radius, self.ranges), default=0)
        self._near: dict[int, tuple[Bools, list[Bools]]] = {}

    def _radius(self, limit: float | None) -> int:
        """Return within how many steps a target may be: an upper bound."""
        lattice, measure = self.board.lattice, self.board.rules.distances
        most = sum(self.board.shape) if lattice.is_hex else max(self.board.shape) - 1
        if limit is None:
            return min(self.reach, most)
        # A way of so many steps costs the least where it is straight, or slanted all along.
        steps = np.arange(most + 1)
        straight = np.stack([np.zeros_like(steps), steps], axis=-1)
        least = measure((0, 0), straight, lattice, levels=self.levels)
        if not lattice.is_hex:
            slanted = np.stack([steps, steps], axis=-1)
            least = np.minimum(least, measure((0, 0), slanted, lattice, levels=self.levels))
        return max(0, int(np.count_nonzero(least <= limit)) - 1)

    def near(self, half: int, parity: int) -> tuple[Bools, list[Bools]]:
        """Return which cells of a window coincide with its middle, and which are near enough.

        For each weapon: of windows with so many cells to each side, around a cell of a parity.
        """
        key = 2 * half + parity
        if key not in self._near:
            away = np.arange(-half, half + 1)
            cells = np.stack(np.meshgrid(away, away, indexing="ij"), axis=-1) + parity
            rules, lattice, middle = self.board.rules, self.board.lattice, (parity, parity)
            far = rules.distances(middle, cells, lattice, levels=self.levels)
            apart = rules.cells_apart(middle, cells, lattice, levels=self.levels)
            near = [
                (apart <= self.reach) if limit is None else (far <= limit) for limit in self.ranges
            ]
            self._near[key] = far == 0, near
        return self._near[key]

    def paint(self, found: Maluses, stands: Sequence[_Stand]) -> None:
        """Raise maps of maluses, shape (f, height, width), to those of attacks from some stands."""
        if len(self.bodies[0]) == len(self.targets[0]) == 1:
            self._paint_cells(found, stands)
            return
        for stand in stands:
            for cell in stand.cells:
                np.maximum(found[stand.foe], self._from_body(cell), out=found[stand.foe])

    def _paint_cells(self, found: Maluses, stands: Sequence[_Stand]) -> None:
        """Do that for bodies and targets of one cell: each cell is looked from once."""
        height, width = found.shape[1:]
        flat = [stand.cells[:, 0] * width + stand.cells[:, 1] for stand in stands]
        viewers = np.unique(np.concatenate(flat))
        who: dict[int, list[int]] = {}
        for stand, cells in zip(stands, flat, strict=True):
            for cell in cells.tolist():
                who.setdefault(cell, []).append(stand.foe)
        step = max(1, CHUNK_BYTES // (2 * (2 * self.radius + 1) ** 2))
        for begin in range(0, len(viewers), step):
            chunk = viewers[begin : begin + step]
            cells = np.stack(np.divmod(chunk, width), axis=-1)
            windows = self._windows(cells)
            half = windows.shape[1] // 2
            for (row, col), cell, window in zip(
                cells.tolist(), chunk.tolist(), windows, strict=True
            ):
                here, there = _overlap(row, half, height), _overlap(col, half, width)
                part = window[here[1], there[1]]
                for foe in who[cell]:
                    place = found[foe, here[0], there[0]]
                    np.maximum(place, part, out=place)

    def _windows(self, cells: npt.NDArray[np.int64]) -> Maluses:
        """Return the maluses of attacks from cells on what is around them, HIDDEN where none is."""
        windows = self.field.windows(cells, self.radius, light=self.light)
        half = windows.shape[1] // 2
        parities = np.asarray(self.board.lattice.parity(cells), np.int64)
        for parity in np.unique(parities).tolist():
            some = np.flatnonzero(parities == parity)
            own, near = self.near(half, parity)
            seen = windows[some]
            possible = np.zeros(seen.shape, bool)
            for limit, mask in zip(self.limits, near, strict=True):
                possible |= mask & (seen >= limit)
            windows[some] = np.where(possible & ~own, seen, np.int16(HIDDEN))
        return windows

    def _from_body(self, anchor: npt.NDArray[np.int64]) -> Maluses:
        """Return the maluses of attacks from a body on targets anywhere, by their anchor."""
        board, shape = self.board, self.board.shape
        parity = int(np.asarray(board.lattice.parity(anchor)))
        cells = anchor + self.bodies[parity]
        windows = self.field.windows(cells, self.radius, light=self.light)
        half = windows.shape[1] // 2
        seen = np.full(shape, HIDDEN, np.int16)
        own = np.zeros(shape, bool)
        near = np.zeros((len(self.weapons), *shape), bool)
        parities = np.asarray(board.lattice.parity(cells), np.int64).tolist()
        for (row, col), of_cell, window in zip(cells.tolist(), parities, windows, strict=True):
            here, there = _overlap(row, half, shape[0]), _overlap(col, half, shape[1])
            place, part = (here[0], there[0]), (here[1], there[1])
            np.maximum(seen[place], window[part], out=seen[place])
            middle, masks = self.near(half, of_cell)
            own[place] |= middle[part]
            for number, mask in enumerate(masks):
                near[number][place] |= mask[part]
        # A target is seen by its best cell, and is as near as its closest.
        maluses = self._of_targets(seen, np.maximum, np.int16(HIDDEN))
        possible = np.zeros(shape, bool)
        for limit, mask in zip(self.limits, near, strict=True):
            possible |= self._of_targets(mask, np.logical_or, np.False_) & (maluses >= limit)
        possible &= ~self._of_targets(own, np.logical_or, np.False_) & self._fits
        return np.where(possible, maluses, np.int16(HIDDEN)).astype(np.int16)

    @cached_property
    def _parities(self) -> npt.NDArray[np.int64]:
        """The parity of each cell of the map."""
        cells = np.moveaxis(np.indices(self.board.shape), 0, -1)
        return np.asarray(self.board.lattice.parity(cells), np.int64)

    @cached_property
    def _fits(self) -> Bools:
        """Where the whole body of the target is on the map."""
        everywhere = np.ones(self.board.shape, bool)
        return ~self._of_targets(~everywhere, np.logical_or, np.True_)

    def _of_targets(self, values: Array, best: np.ufunc, beyond: Any) -> Array:
        """Return the best of the values of the cells that a target covers, by its anchor."""
        height, width = self.board.shape
        found = np.empty_like(values)
        for parity in np.unique(self._parities).tolist():
            total: Array | None = None
            for row, col in self.targets[parity].tolist():
                shifted = np.full(values.shape, beyond, values.dtype)
                rows, cols = _shifted(row, height), _shifted(col, width)
                shifted[rows[0], cols[0]] = values[rows[1], cols[1]]
                total = shifted if total is None else best(total, shifted)
            of_parity = self._parities == parity
            found[of_parity] = np.asarray(total)[of_parity]
        return found


def _overlap(middle: int, half: int, size: int) -> tuple[slice, slice]:
    """Return which part of a line of the map a window covers, and which part of it that is."""
    low, high = max(0, middle - half), min(size, middle + half + 1)
    return slice(low, high), slice(low - middle + half, high - middle + half)


def _shifted(by: int, size: int) -> tuple[slice, slice]:
    """Return the places of a line from which so many further on is on the map, and those places."""
    low, high = max(0, -by), min(size, size - by)
    return slice(low, max(low, high)), slice(low + by, max(low, high) + by)


# -- backwards ------------------------------------------------------------------------------------


def _origins(
    board: Board,
    foe: Token,
    me: Token,
    others: tuple[Token, ...],
    weapons: tuple[Weapon, ...],
    light: int | None,
) -> Bools:
    """Return from where a foe could attack a token in one turn, if it began that there."""
    height, width = board.shape
    pace = board._pace(foe.creature, foe)
    field = board._step_field(foe, foe.creature, others, pace)
    limit = board._limit(pace)
    everywhere = np.argwhere(np.ones(board.shape, bool))

    def struck_from(owner: Token) -> Bools:
        return _struck_from(board, owner, me, weapons, light)

    strikes = {foe: struck_from(foe)}
    origins = strikes[foe].copy()
    if _keeps_one_state(board, foe, field):
        for block in field.reaches(limit).blocks():
            ends = block.cells[:, None] + block.offsets
            rows, cols = ends[..., 0], ends[..., 1]
            inside = block.can_stop & (rows >= 0) & (rows < height) & (cols >= 0) & (cols < width)
            struck = np.zeros(inside.shape, bool)
            struck[inside] = strikes[foe][rows[inside], cols[inside]]
            origins[block.cells[:, 0], block.cells[:, 1]] |= struck.any(axis=1)
        return origins & _apart_from(board, foe, me)
    for (row, col), reach in zip(
        everywhere.tolist(), field.reach_many(everywhere, limit), strict=True
    ):
        for owner, cells in _ways(board, foe, reach):
            if owner not in strikes:
                strikes[owner] = struck_from(owner)
            origins[row, col] |= strikes[owner][cells[:, 0], cells[:, 1]].any()
    return origins & _apart_from(board, foe, me)


def _struck_from(
    board: Board, owner: Token, me: Token, weapons: tuple[Weapon, ...], light: int | None
) -> Bools:
    """Return the places, by the anchor, from which a foe can attack a token."""
    anchors = np.argwhere(_apart_from(board, owner, me))
    bodies = scene.bodies_of(board, [owner], anchors, np.zeros(len(anchors), np.int64))
    aim = scene.bodies_of(board, [me])
    far = scene.apart(board, bodies, aim)
    seen = scene.maluses(board, bodies, aim, light)
    found = np.zeros(board.shape, bool)
    hits = anchors[scene.attacks(board, bodies, aim, seen, far, weapons)[:, 0] >= 0]
    found[hits[:, 0], hits[:, 1]] = True
    return found


def _apart_from(board: Board, owner: Token, me: Token) -> Bools:
    """Return the places, by the anchor, where a foe is on the map and not where a token is."""
    found = np.zeros(board.shape, bool)
    aim, every = scene.bodies_of(board, [me]), np.argwhere(~found)
    parities = np.asarray(board.lattice.parity(every), np.int64)
    for parity, shape in enumerate(scene.shapes_of(board, owner)):
        anchors = every[parities == parity]
        cells = anchors[:, None] + shape
        anchors = anchors[((cells >= 0) & (cells < board.shape)).all(axis=(1, 2))]
        found[anchors[:, 0], anchors[:, 1]] = True
    anchors = np.argwhere(found)
    bodies = scene.bodies_of(board, [owner], anchors, np.zeros(len(anchors), np.int64))
    within = anchors[scene.apart(board, bodies, aim)[:, 0] == 0]
    found[within[:, 0], within[:, 1]] = False
    return found


def _keeps_one_state(board: Board, foe: Token, field: StepField) -> bool:
    """Tell whether whoever moves over a field ends as it began: no other gait, level or facing."""
    ended = getattr(field.explainer, "ended", None)
    if ended is None or len(field.layers) == 1:
        return True
    layers = range(len(field.layers))
    return all(ended(foe, layer, began) == foe for layer in layers for began in layers)


# -- the question ---------------------------------------------------------------------------------


def threats(
    board: Board,
    who: Token | Cell | str,
    tokens: Iterable[Token] | None = None,
    *,
    weapons: WeaponsOf,
    creature: Creature | None = None,
    foes: Iterable[Token] | None = None,
    light: int | None = None,
) -> Threats:
    """Return which cells the foes of somebody could attack in their next turn, and how well.

    A foe gets to any stop of its reach, or stays, and attacks from there, all others standing where
    they stand. On each cell the target is thought to be, in the state of the token, whether or not
    it might stand there; from a place that covers any of its own a foe does not attack it.

    Parameters
    ----------
    board : Board
    who : Token, tuple of int, or str
        Who would be attacked: a token, the cell of one, or a side, any of whose tokens.
    tokens : iterable of Token, optional
        Who is on the board, in place of the board's own tokens.
    weapons : iterable of Weapon, or mapping, keyword-only
        What the foes have: all the same, or by token, by name of a token, by creature, or by name
        of a creature. Whoever is not named has none, and attacks nothing.
    creature : Creature, optional
        What is attacked: the creature of the token if absent, or of a side a Medium one.
    foes : iterable of Token, optional
        Who may attack; those among `tokens` that are foes if absent. The helpless are left out.
    light : int, optional
        Light malus everywhere, 0 or negative, in place of the board's.

    Returns
    -------
    Threats

    Raises
    ------
    MapError
        If nobody stands on the cell, or weapons are for nobody there.
    OutsideMapError, CostError, RulesError, ArgumentTypeError
        As in `options`.

    Notes
    -----
    Each place that some foe may attack from is looked from once. Foes of one profile that cover a
    cell share a compiled field: with twelve on 32 x 34 cells their stops take 0.3 ms then, in place
    of 2 ms a foe. One run from all cells takes as long as searches from a tenth to a fifth of them,
    and serves from there on, and in `Threats.origins`.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> elf = fc.Token("elf", (0, 0), side="blue")
    >>> orc = fc.Token(fc.Creature("orc", speed=2), (0, 6), side="red")
    >>> board = fc.Board([["open"] * 7], rules="pathfinder", tokens=[elf, orc])
    >>> found = fc.tactics.threats(board, elf, weapons=[fc.tactics.Weapon("axe")])
    >>> found.cells.tolist(), found.at(elf.cell)
    ([[0, 0, 0, 1, 1, 1, 1]], ())
    >>> found.origins(orc).tolist()
    [[False, True, True, True, False, False, False]]
    """
    if creature is not None and not isinstance(creature, Creature):
        raise ArgumentTypeError(f"creature must be a Creature, not {creature!r}")
    placed = None
    if isinstance(who, str):
        everyone = others = board._present(tokens)
        token = Token(creature or Creature(), (0, 0), side=who)
    else:
        placed, others = scene.company(board, who, tokens)
        everyone = (*others, placed)
        token = placed if creature is None else replace(placed, creature=creature)
    enemies = scene.the_foes(board, token, others, foes)
    able = tuple(foe for foe in enemies if not foe.helpless)
    arms = _arms(weapons, able, enemies)
    return Threats(board, token, able, arms, everyone, light, placed=placed)


def _arms(
    weapons: WeaponsOf, foes: Sequence[Token], known: Sequence[Token]
) -> tuple[tuple[Weapon, ...], ...]:
    """Return what each of the foes has."""
    if not isinstance(weapons, Mapping):
        return (as_weapons(weapons),) * len(foes)
    given = {key: as_weapons(some) for key, some in weapons.items()}
    names = {name for foe in known for name in _names(foe)}
    for key in given:
        if key not in names:
            hint = (
                nearest(key, [n for n in names if isinstance(n, str)])
                if isinstance(key, str)
                else ""
            )
            raise MapError(f"weapons for {key!r}, who is none of the foes{hint}")
    return tuple(next((given[name] for name in _names(foe) if name in given), ()) for foe in foes)


def _names(foe: Token) -> tuple[Token | Creature | str, ...]:
    """Return what a foe may be called, the closest first."""
    return foe, foe.label, foe.creature, foe.creature.name

"""What very many steps risk: of kinds of steps one is looked at, and of attacks who makes them.

A field may have more steps than anybody wants explained. Those that lead between the same kinds of
cells, by the same gaits, differ in the opportunity attacks they provoke at most; and those follow
from what each foe reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import Token
from fieldcraft.lattice import Lattice
from fieldcraft.path import Stake
from fieldcraft.rules._stakes import LEAVING_A_CELL, LEAVING_THE_REACH, Other, kinds_of

if TYPE_CHECKING:
    from fieldcraft.rules._grid import GridRules
    from fieldcraft.rules._moving import Explainer

__all__ = ["Risks", "Strides", "provoking", "risks"]

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]


class Strides(NamedTuple):
    """Many steps: from which place and in which layer, to which place and layer.

    Attributes
    ----------
    starts, ends : ndarray of int64, shape (n, 2)
        The same where only the layer changes.
    before, after : ndarray of int64, shape (n,)
    """

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]


class Risks(NamedTuple):
    """What many steps risk.

    Attributes
    ----------
    kind : ndarray of int64, shape (n,)
        Steps of one kind risk the same, attacks apart, as far as it has a figure.
    about : hashable
        What those risks depend on besides: fields of which this is the same are alike.
    names : list
        What tells one kind from any other, of this field and of those alike.
    stakes : callable
        From a kind to the stakes of its steps, attacks apart.
    foes : tuple of Token
    provoked : list of ndarray of bool, shape (n,)
        Which steps provoke each of the foes.
    """

    kind: npt.NDArray[np.int64]
    about: Hashable
    names: list[Hashable]
    stakes: Callable[[int], list[Stake]]
    foes: tuple[Token, ...]
    provoked: list[Bools]


def provoking(rules: GridRules) -> str | None:
    """Return what provokes opportunity attacks; None where the class with the stakes is silent."""
    owner = next(one for one in type(rules).__mro__ if "_stakes" in vars(one))
    found: str | None = vars(owner).get("provokes")
    return found


def risks(explainer: Explainer, steps: Strides) -> Risks:
    """Return what many steps of an explainer's field risk."""
    alone = replace(explainer, others=())
    kind = np.zeros(len(steps.starts), np.int64)
    firsts: list[int] = []
    foes = [other for other in explainer.company if _strikes(explainer.site.rules, other)]
    provoked = [np.zeros(len(steps.starts), bool) for _ in foes]
    reached = [_reached(other, explainer) for other in foes]
    for members, before, after in _by_layers(steps):
        held = _Covered.of(explainer, steps.starts[members], before)
        taken = _Covered.of(explainer, steps.ends[members], after)
        first, inverse = _alike(explainer, steps, members, held, taken)
        kind[members] = len(firsts) + inverse
        firsts += members[first].tolist()
        planes = explainer.mover(before).gait.plane, explainer.mover(after).gait.plane
        way = explainer.site.rules.provokes
        for other, mask, out in zip(foes, reached, provoked, strict=True):
            if planes[0] == other.plane:
                same = planes[1] == other.plane
                out[members] = _provokes(way, mask, held, taken if same else None)

    def step(number: int) -> tuple[Any, ...]:
        at = firsts[number]
        a, b = (tuple(cells[at].tolist()) for cells in (steps.starts, steps.ends))
        return a, b, int(steps.after[at]), int(steps.before[at])

    def name(number: int) -> Hashable:
        a, b, after, before = step(number)
        gaits = explainer.mover(before).gait, explainer.mover(after).gait
        terrain = explainer.site.terrain
        if a != b and gaits[0].plane == gaits[1].plane and is_of_one_cell(explainer):
            # What nearly all steps are: one cell is left, one is entered.
            return (*gaits, (terrain.kind(a),), (terrain.kind(b),), True)
        stride = alone.stride(a, b, after, before)
        left, entered = (tuple(kinds_of(terrain, cells)) for cells in (stride.left, stride.entered))
        return (*gaits, left, entered, a != b)

    def stakes(number: int) -> list[Stake]:
        return alone.stakes(*step(number))

    names = [name(number) for number in range(len(firsts))]
    tokens = tuple(other.token for other in foes)
    return Risks(kind, _about(explainer), names, stakes, tokens, provoked)


def is_of_one_cell(explainer: Explainer) -> bool:
    """Tell whether the body that moves covers one cell, however it stands."""
    return all(body.size == 1 for body in explainer.site.bodies)


def _about(explainer: Explainer) -> Hashable:
    """Return what the risks of kinds of steps depend on: rules, map, who moves and how it is."""
    setting, terrain = explainer.setting, explainer.site.terrain
    creature, token = replace(setting.creature, name="", speed=None), setting.token
    if token is not None:
        token = replace(token, creature=creature, cell=(0, 0), name="", side="")
    return explainer.site.rules, terrain.lattice, terrain.has_elevation, creature, token


def _strikes(rules: GridRules, other: Other) -> bool:
    """Tell whether somebody may make opportunity attacks at all."""
    is_way = rules.provokes in (LEAVING_A_CELL, LEAVING_THE_REACH)
    return is_way and other.relation == "foe" and not other.token.helpless


def _by_layers(steps: Strides) -> Iterator[tuple[npt.NDArray[np.int64], int, int]]:
    """Yield steps by the layers they lead from and to: which they are, and the layers."""
    pairs = steps.before << 32 | steps.after
    for pair in np.unique(pairs).tolist():
        yield np.flatnonzero(pairs == pair), pair >> 32, pair & 0xFFFFFFFF


class _Covered(NamedTuple):
    """What a body covers in some places: cells (n, m, 2), and which of them it does (n, m)."""

    cells: npt.NDArray[np.int64]
    does: Bools

    @classmethod
    def of(cls, explainer: Explainer, anchors: npt.NDArray[np.int64], layer: int) -> _Covered:
        _, number, cover = explainer.sheets[layer]
        body = explainer.site.bodies[number]
        parities = np.asarray(explainer.site.terrain.lattice.parity(anchors), np.int64)
        cells = anchors[:, None] + body.rows_cols[parities]
        does = np.ones(cells.shape[:2], bool)
        if cover is not None:
            bits = cover[anchors[:, 0], anchors[:, 1]].astype(np.int64)
            part = bits[:, None] >> np.arange(cells.shape[1]) & 1
            does = np.where(bits[:, None] > 0, part.astype(bool), True)
        return cls(cells, does)

    def on(self, flags: Bools) -> Bools:
        """Tell which of the cells covered have a flag on the map, shape (n, m)."""
        found: Bools = flags[self.cells[..., 0], self.cells[..., 1]] & self.does
        return found


def _alike(
    explainer: Explainer,
    steps: Strides,
    members: npt.NDArray[np.int64],
    held: _Covered,
    taken: _Covered,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return kinds of steps between two layers: the first of each, and the kind of each step."""
    terrain = explainer.site.terrain
    codes = [
        np.where(one.does, terrain.codes[one.cells[..., 0], one.cells[..., 1]].astype(np.int64), -1)
        for one in (held, taken)
    ]
    starts, ends = steps.starts[members], steps.ends[members]
    if codes[0].shape[1] == codes[1].shape[1] == 1:
        key = (codes[0] * len(terrain.kinds) + codes[1])[:, 0] * 2 + (starts != ends).any(axis=1)
        return _numbered(key, 2 * len(terrain.kinds) ** 2)
    # Which cells a large body enters and leaves also depends on the direction.
    away = ends - starts
    parity = np.asarray(terrain.lattice.parity(starts), np.int64)[:, None]
    table = np.concatenate([*codes, away, parity], axis=1)
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def _numbered(
    key: npt.NDArray[np.int64], most: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each key comes first, by rising key, and the number of each: all below `most`.

    As `numpy.unique`, which sorts; a table is made instead where it is no longer than the keys.
    """
    if most > len(key):
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return first, inverse.reshape(-1)
    first = np.full(most, -1, np.int64)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    known = np.flatnonzero(first >= 0)
    number = np.zeros(most, np.int64)
    number[known] = np.arange(len(known))
    return first[known], number[key]


def _reached(other: Other, explainer: Explainer) -> Bools:
    """Return the cells that somebody reaches hand to hand, as a map."""
    lattice, shape = explainer.site.terrain.lattice, explainer.site.terrain.shape
    return reached_by(lattice, shape, np.array(other.cells), other.token.creature.reach)


def reached_by(
    lattice: Lattice, shape: tuple[int, int], cells: npt.NDArray[np.int64], reach: int
) -> Bools:
    """Return a map with the cells within so many steps of some cells flagged."""
    flags = np.zeros(shape, bool)
    low = np.maximum(cells.min(axis=0) - reach, 0)
    high = np.minimum(cells.max(axis=0) + reach + 1, shape)
    rows, cols = np.mgrid[low[0] : high[0], low[1] : high[1]]
    around = np.stack([rows, cols], axis=-1)
    apart = lattice.distances(around[:, :, None], cells).min(axis=-1)
    flags[low[0] : high[0], low[1] : high[1]] = apart <= reach
    return flags


def _provokes(way: str, reached: Bools, held: _Covered, taken: _Covered | None) -> Bools:
    """Tell which steps provoke somebody who reaches those cells.

    `taken`: what the body covers after the step on that plane, None where it leaves it.
    """
    threatened = held.on(reached)
    if taken is not None and way == LEAVING_A_CELL:
        same = (held.cells[:, :, None] == taken.cells[:, None]).all(axis=-1)
        threatened &= ~(same & taken.does[:, None]).any(axis=-1)
    provoked: Any = threatened.any(axis=1)
    if taken is not None and way == LEAVING_THE_REACH:
        provoked &= ~taken.on(reached).any(axis=1)
    return np.asarray(provoked, np.bool_)

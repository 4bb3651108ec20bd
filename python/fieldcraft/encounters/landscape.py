"""Boards that are made up: patches of the terrains of a rule system, as its table describes them.

No terrain is named here. What a terrain is good for is read from its entry in the table: what it
costs, hides, and whether it is climbed or closed.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.board import Board
from fieldcraft.encounters.draws import Draws, as_seed
from fieldcraft.errors import ArgumentTypeError, MapError, RulesError
from fieldcraft.lattice import Lattice, as_lattice
from fieldcraft.rules import Climb, Rules, TerrainType, resolve
from fieldcraft.terrain import Kind, Terrain
from fieldcraft.trees import roll_perches

__all__ = ["random_board"]

Ints = npt.NDArray[np.int64]
MOST_CELLS = 1 << 24


class Layer(NamedTuple):
    """How a class of terrain lies on a map.

    Attributes
    ----------
    chance : int
        In percent, how often a map has any.
    least, most : int
        The share of the map it takes then, in thousandths.
    width : int
        About how wide its patches are, in cells.
    graded : bool
        Whether all terrains of the class lie in the same patches, the heavier further inside; else
        each has patches of its own.
    """

    chance: int
    least: int
    most: int
    width: int
    graded: bool = False


LAYERS = {
    "ground": Layer(70, 5, 45, 2),
    "low": Layer(90, 30, 110, 2, graded=True),
    "wood": Layer(95, 80, 260, 4, graded=True),
    "closed": Layer(35, 5, 30, 2),
    "climbed": Layer(80, 2, 12, 1),
    "fog": Layer(20, 40, 120, 5),
}
"""By class, in the order in which they cover each other; fog lies on top of what is there."""
HEAVIEST_FOG = 2


def random_board(
    seed: int | np.random.Generator,
    shape: tuple[int, int] = (48, 48),
    *,
    rules: Rules | str | Path = "hexwild",
    lattice: str | Lattice | None = None,
    heights: bool = False,
    perches: bool = False,
    name: str = "",
) -> Board:
    """Return a made-up board: open ground with patches of the terrains of a rule system.

    The same seed makes the same board, on every machine. A generator makes another board each
    time.

    Parameters
    ----------
    seed : int or numpy.random.Generator
    shape : tuple of int
        Height and width in cells.
    rules : Rules, str or Path, optional, keyword-only
    lattice : str or Lattice, optional, keyword-only
        The first that the rules are played on where absent.
    heights : bool, keyword-only
        Whether terrain that is climbed is as high as its dice say, which gives the board an
        elevation. On boards with one each sight line is asked for by itself, so that encounters on
        them take some hundred times as long to analyse.
    perches : bool, keyword-only
        Whether perches are rolled too, see `fieldcraft.roll_perches`.
    name : str, keyword-only

    Raises
    ------
    MapError
        If the shape is none, or the rules are not played on the lattice.
    RulesError
        If there are no such rules, or perches are asked of rules that have none.

    Examples
    --------
    >>> from fieldcraft.encounters import random_board
    >>> board = random_board(7, (12, 16))
    >>> board.shape, board == random_board(7, (12, 16))
    ((12, 16), True)
    """
    system = resolve(rules)
    size = shape_of(shape)
    if isinstance(seed, np.random.Generator):
        draws = Draws(int.from_bytes(seed.bytes(16), "little"))
    else:
        draws = Draws(as_seed(seed))
    tiling = as_lattice(lattice) if lattice is not None else first_lattice(system)
    return made_board(draws, size, system, tiling, heights=heights, perches=perches, name=name)


def shape_of(shape: Any) -> tuple[int, int]:
    """Return a shape as two integers, or raise for what is none."""
    try:
        height, width = map(operator.index, shape)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"shape must be (height, width), not {shape!r}") from None
    if not (height >= 1 and width >= 1 and height * width <= MOST_CELLS):
        raise MapError(f"a board has from 1 to {MOST_CELLS:,} cells, not {height} x {width}")
    return height, width


def first_lattice(rules: Rules) -> Lattice:
    """Return the first lattice that rules are played on."""
    names: Sequence[Any] = getattr(rules, "lattices", ("square",))
    return Lattice(names[0])


def made_board(
    draws: Draws,
    shape: tuple[int, int],
    rules: Rules,
    lattice: Lattice,
    *,
    heights: bool,
    perches: bool,
    name: str,
) -> Board:
    """Return the board that draws make; see `random_board`."""
    if perches and not rules.table.perches:
        raise RulesError(f"{rules.name} has no perches to roll")
    plain, classes = _classes(rules)
    kinds: list[Kind] = [(plain.id,)]
    codes = np.zeros(shape, np.int64)
    elevation = np.zeros(shape)
    climbs = False
    for label, layer in LAYERS.items():
        for group in _groups(classes[label], layer):
            cells, rank = _patch(draws, shape, layer)
            if label == "fog":
                _cover(draws, codes, kinds, cells, group[0])
                continue
            for entry, part in zip(group, _graded(cells, rank, len(group)), strict=True):
                codes[part] = len(kinds)
                kinds.append((entry.id,))
                if entry.climb is not None and heights and part.any():
                    elevation[part] = _heights(draws, entry.climb, int(part.sum()))
                    climbs = True
    used, packed = np.unique(codes, return_inverse=True)
    board = Board.from_terrain(
        Terrain(
            lattice,
            packed.reshape(shape).astype(np.uint16),
            tuple(kinds[code] for code in used.tolist()),
            elevation if climbs else np.zeros((0, 0)),
        ),
        rules=rules,
        name=name,
    )
    if perches:
        rng = np.random.Generator(np.random.PCG64(draws.raw(4).tolist()))
        return board.replace(perches=roll_perches(board, rng))
    return board


def _classes(rules: Rules) -> tuple[TerrainType, dict[str, list[TerrainType]]]:
    """Return the plain ground of a rule system, and its other terrains by class."""
    classes: dict[str, list[TerrainType]] = {label: [] for label in LAYERS}
    plain: TerrainType | None = None
    for entry in rules.table.values():
        label = _class(entry)
        if plain is not None and entry.group != plain.group:
            label = "closed"  # to whoever is on the plain ground
        if label == "plain":
            # The first is the ground of all maps; what is as plain is ground like others.
            label, plain = ("", entry) if plain is None else ("ground", plain)
        if label:
            classes[label].append(entry)
    if plain is None:
        raise RulesError(f"{rules.name} has no open ground to make boards of")
    for label in classes:
        classes[label].sort(key=lambda entry: (entry.obstruction, entry.entry))
    return plain, classes


def _class(entry: TerrainType) -> str:
    """Return the class of a terrain; empty for what is not strewn about."""
    if entry.number in ("width", "size") or entry.ascending or entry.hands:
        return ""
    if entry.climb is not None:
        return "climbed"
    if entry.closed:
        return "closed"
    if entry.obstructs == "fog" and entry.obstruction:
        return "fog"
    if entry.opaque or entry.obstruction:
        return "low" if entry.obstructs == "bush" else "wood"
    figures = (
        entry.entry, entry.exit, entry.stay, entry.prone, entry.forbids, entry.on_entry,
        entry.round_end, entry.slip, entry.knockdown, entry.hidden, entry.test, not entry.stop,
        entry.speeds, entry.corners,
    )  # fmt: skip
    return "ground" if any(figures) else "plain"


def _groups(entries: list[TerrainType], layer: Layer) -> list[list[TerrainType]]:
    """Return the terrains that share patches."""
    return ([entries] if entries else []) if layer.graded else [[entry] for entry in entries]


def _patch(
    draws: Draws, shape: tuple[int, int], layer: Layer
) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return where patches lie, and a number for each cell, higher further inside."""
    there = draws.one(100) < layer.chance
    share = layer.least + draws.one(layer.most - layer.least + 1)
    count = shape[0] * shape[1] * share // 1000
    if not there or count == 0:
        return np.zeros(shape, bool), np.zeros(shape, np.int64)
    rank = _blurred(draws.raw(*shape) >> 12, layer.width)
    limit = np.partition(rank.ravel(), -count)[-count]
    return rank >= limit, rank


def _blurred(field: Ints, width: int) -> Ints:
    """Return a field of numbers smoothed over about so many cells, in whole numbers.

    A window beyond an edge goes on at the other.
    """
    for _ in range(2):
        for axis in (0, 1):
            reach = min(width // 2, (field.shape[axis] - 1) // 2)
            if reach:
                lines = field if axis == 0 else field.T
                total = np.concatenate([lines[-reach - 1 :], lines, lines[:reach]]).cumsum(axis=0)
                lines = total[2 * reach + 1 :] - total[: -2 * reach - 1]
                field = lines if axis == 0 else lines.T
    return field


def _graded(cells: npt.NDArray[np.bool_], rank: Ints, count: int) -> list[npt.NDArray[np.bool_]]:
    """Return patches in so many parts from outside to inside, each smaller than the last."""
    if count == 1:
        return [cells]
    inside = np.sort(rank[cells])
    weights = np.cumsum([1 << (count - i) for i in range(count)])
    bounds = [inside[len(inside) * w // weights[-1]] for w in weights[:-1]] if len(inside) else []
    step = np.searchsorted(np.array(bounds, np.int64), rank, side="right")
    return [cells & (step == i) for i in range(count)]


def _heights(draws: Draws, climb: Climb, count: int) -> Ints:
    dice = climb.height
    return draws.roll(dice.count, dice.sides, dice.plus, count)


def _cover(
    draws: Draws, codes: Ints, kinds: list[Kind], cells: npt.NDArray[np.bool_], fog: TerrainType
) -> None:
    """Lay fog over what is there."""
    points = 1 + draws.one(HEAVIEST_FOG)
    overlay = f"{fog.id}:{points}" if fog.number == "obstruction" and points > 1 else fog.id
    for code in np.unique(codes[cells]).tolist():
        kinds.append((*kinds[code], overlay))
        codes[cells & (codes == code)] = len(kinds) - 1

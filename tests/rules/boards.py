"""Maps drawn as text, and the arrays that a rule system compiles from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import fieldcraft.fields
from fieldcraft.creature import Creature
from fieldcraft.lattice import Cell, as_lattice
from fieldcraft.rules import _moving
from fieldcraft.terrain import Border, Terrain

MEDIUM = Creature()
SMALL = Creature("goblin", size="small")

HEXES = {
    ".": "open",
    "f": "light_forest",
    "F": "heavy_forest",
    "A": "ancient_trees",
    "b": "light_bushes",
    "B": "heavy_bushes",
    "t": "thorns",
    "g": "gravel",
    "s": "stones",
    "r": "sharp_rocks",
    "o": "boulder",
    "#": "rock_formation",
    "m": "mud",
    "w": "deep_water",
    "H": "building",
    "1": ("open", "fog"),
    "2": ("open", "fog:2"),
    "3": ("open", "fog:3"),
    "4": ("open", "fog:4"),
    "T": ("light_forest", "thorns"),
}
SQUARES = {
    ".": "open",
    "~": "difficult",
    "3": "difficult:3",
    "4": "difficult:4",
    "#": "wall",
    "I": "column",
    "o": "pit",
    "c": "chasm",
    "l": "lava",
}
OCTILE = {".": "ground", "S": "swamp", "W": "water", "T": "trees", "@": "out_of_bounds"}


def drawn(
    rows: str | Sequence[str],
    legend: Mapping[str, str | tuple[str, ...]],
    lattice: str,
    *,
    elevation: Any = None,
    light: Any = 0,
    borders: Sequence[Border] = (),
) -> Terrain:
    """Return the map of a drawing, one character a cell."""
    if isinstance(rows, str):
        rows = rows.split()
    kinds: list[tuple[str, ...]] = []
    codes = np.zeros((len(rows), len(rows[0])), np.uint16)
    for row, line in enumerate(rows):
        for col, char in enumerate(line):
            kind = legend[char]
            kind = (kind,) if isinstance(kind, str) else kind
            if kind not in kinds:
                kinds.append(kind)
            codes[row, col] = kinds.index(kind)
    return Terrain(
        as_lattice(lattice),
        codes,
        tuple(kinds),
        elevation=np.zeros((0, 0)) if elevation is None else np.array(elevation, np.float64),
        light=np.atleast_2d(np.array(light, np.int8)),
        borders=tuple(borders),
    )


def hexes(rows: str | Sequence[str], lattice: str = "odd-r", **options: Any) -> Terrain:
    return drawn(rows, {**HEXES, **options.pop("legend", {})}, lattice, **options)


def squares(rows: str | Sequence[str], lattice: str = "square", **options: Any) -> Terrain:
    return drawn(rows, {**SQUARES, **options.pop("legend", {})}, lattice, **options)


def of_kind(kind: str | tuple[str, ...], lattice: str, plain: str) -> Terrain:
    """Return a map of two cells: a plain one, and one of that kind."""
    return drawn(["p", "k"] if lattice.endswith("q") else ["pk"], {"p": plain, "k": kind}, lattice)


class Compiled:
    """What a system hands to a field before it is packed; of a step field the first layer."""

    def __init__(self, lattice: Any, shape: tuple[int, int], **arrays: Any) -> None:
        self.lattice, self.shape = lattice, shape
        if "steps" in arrays:
            for name in ("steps", "enter", "leave", "border", "stop"):
                arrays[name] = None if arrays[name] is None else arrays[name][0]
        self.__dict__.update(arrays)

    def legal(self, a: Cell, b: Cell) -> bool:
        return bool(self.steps[a] >> self.direction(a, b) & 1)

    def direction(self, a: Cell, b: Cell) -> int:
        return self.lattice.neighbors(a).index(b)

    def kinds_of(self, a: Cell, b: Cell) -> dict[str, float]:
        """Return enter, leave and border of a step, as the arrays have them."""
        return {
            "enter": self.enter[b],
            "leave": 0 if self.leave is None else self.leave[a],
            "border": 0 if self.border is None else self.border[a][self.direction(a, b)],
        }

    def price(self, a: Cell, b: Cell) -> float:
        """Return the ticks of a straight step."""
        return float(sum(self.kinds_of(a, b).values()))

    def legal_pairs(self) -> Iterator[tuple[Cell, Cell]]:
        for row, col in np.argwhere(self.steps).tolist():
            for direction, cell in enumerate(self.lattice.neighbors((row, col))):
                if self.steps[row, col] >> direction & 1:
                    yield (row, col), cell


@contextmanager
def uncompiled() -> Iterator[None]:
    """Let rules make `Compiled` objects in place of fields."""
    places: list[tuple[Any, str]] = [(fieldcraft.fields, "SightField"), (_moving, "StepField")]
    kept = [getattr(module, name) for module, name in places]
    for module, name in places:
        setattr(module, name, Compiled)
    try:
        yield
    finally:
        for (module, name), value in zip(places, kept, strict=True):
            setattr(module, name, value)


def steps_of(rules: Any, terrain: Terrain, creature: Creature = MEDIUM, **options: Any) -> Any:
    with uncompiled():
        return rules.step_field(terrain, creature, **options)


def sight_of(
    rules: Any, terrain: Terrain, viewer: Creature = MEDIUM, target: Creature = MEDIUM
) -> Any:
    with uncompiled():
        return rules.sight_field(terrain, viewer, target)

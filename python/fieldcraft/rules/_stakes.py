"""What a step or a place puts at stake: whom it concerns, opportunity attacks, words for reports.

A system lists the stakes of a step in its hook `_stakes`, from a `Stride`, and what holds for who
stays as it is in `_held`. Nothing is rolled and nothing is summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fieldcraft.creature import Creature, Token
from fieldcraft.frozen import cached_property
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import ATTACK, Stake
from fieldcraft.rules._gaits import Gait, Mover, Relation
from fieldcraft.rules._table import (
    Climb,
    Effect,
    Forbids,
    Ground,
    Knockdown,
    Landing,
    Modifier,
    Save,
    SkillTest,
    Slip,
)
from fieldcraft.terrain import Kind, Terrain

if TYPE_CHECKING:
    from fieldcraft.rules._grid import GridRules

__all__ = [
    "ACROBATICS",
    "LEAVING_A_CELL",
    "LEAVING_THE_REACH",
    "SQUEEZING",
    "Other",
    "Stride",
    "attacks",
    "climb_stake",
    "forbidden",
    "is_squeezed",
    "kinds_of",
    "landing_stake",
    "malus",
    "save_stake",
    "slip_stake",
    "spared",
    "tumbles",
]

ACROBATICS = "Acrobatics"
LEAVING_A_CELL = "leaving a cell"
LEAVING_THE_REACH = "leaving the reach"
"""What provokes opportunity attacks."""
SQUEEZING = "squeezing"
"""Where an effect comes from that no terrain has."""
DOING = {
    "rest": "resting",
    "half_move": "half move",
    "run": "running",
    "cast": "casting",
    "dispel": "dispelling",
    "fight_at_a_distance": "fighting at a distance",
    "fight_with_long_weapons": "fighting with long weapons",
}


class Other(NamedTuple):
    """Somebody else on the map: what it is to the mover, on which plane, and its cells."""

    token: Token
    relation: Relation
    plane: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Stride:
    """A step as its stakes need it known.

    Parameters
    ----------
    before, after : Mover
        Who moves and how, before the step and after it.
    start, to : tuple of int
        The places it leads from and to, by the anchor; the same when only the gait changes.
    held, taken : tuple of cells
        What the body covers before and after.
    others : tuple of Other
    """

    before: Mover
    after: Mover
    start: Cell
    to: Cell
    held: tuple[Cell, ...]
    taken: tuple[Cell, ...]
    others: tuple[Other, ...] = ()

    @property
    def changes_plane(self) -> bool:
        """Whether it leads into the air, out of it, or the like."""
        return self.before.gait.plane != self.after.gait.plane

    @cached_property
    def entered(self) -> tuple[Cell, ...]:
        """The cells that the body newly covers on its plane."""
        old = () if self.changes_plane else self.held
        return tuple(cell for cell in self.taken if cell not in old)

    @cached_property
    def left(self) -> tuple[Cell, ...]:
        """The cells that the body covers no more on the plane it was on."""
        new = () if self.changes_plane else self.taken
        return tuple(cell for cell in self.held if cell not in new)


# -- whom effects concern -----------------------------------------------------------------------


def spared(effects: Iterable[Effect], creature: Creature) -> Iterator[Effect]:
    """Yield what effects leave of themselves for a creature.

    A terrain that the creature is `untested_by` asks for no test, one that it is `unharmed_by` does
    no damage; one that it `crosses` does neither and has no maluses. What a bold step risks
    concerns the bold alone.
    """
    for effect in effects:
        ids = {effect.terrain, effect.terrain.partition(":")[0]}
        crosses = bool(ids & creature.crosses)
        detail = effect.detail
        if effect.footing not in ("", creature.footing):
            continue
        if crosses and isinstance(detail, Modifier):
            continue
        if crosses or ids & creature.untested_by:
            if isinstance(detail, Save | Slip | Climb | SkillTest):
                continue
            if effect.when == "climbing":
                continue
        if crosses or ids & creature.unharmed_by:
            if isinstance(detail, Save):
                if not detail.knockdown:
                    continue
                effect = replace(effect, detail=replace(detail, damage=None))
            elif isinstance(detail, Knockdown):
                if not detail.fall_chance:
                    continue
                harmless = Knockdown(fall_chance=detail.fall_chance)
                effect = replace(effect, detail=harmless)
        yield effect


def kinds_of(terrain: Terrain, cells: Iterable[Cell]) -> list[Kind]:
    """Return what the cells of the map among some hold, each kind once."""
    height, width = terrain.shape
    return list(
        dict.fromkeys(
            terrain.kind(cell) for cell in cells if 0 <= cell[0] < height and 0 <= cell[1] < width
        )
    )


def is_squeezed(rules: GridRules, terrain: Terrain, token: Token) -> bool:
    """Return whether the body of a token has not all the room it takes, creatures apart."""
    from fieldcraft.body import Body

    lattice, creature = terrain.lattice, token.creature
    body = Body(lattice, terrain.shape, rules.footprint(creature, lattice, token.facing))
    if not rules._block(creature, body):
        return False
    plane = rules._plane(token)
    modes = ["fly"] if token.flying else [mode for mode, _ in rules.pace(creature, token).modes]
    movers = [
        Mover(creature, token, Gait(mode, mode, plane), terrain.has_elevation) for mode in modes
    ]
    cells = body.at(token.cell)
    for kind in kinds_of(terrain, cells):
        types = rules.types(kind)
        if not any(rules._open(types, mover) for mover in movers):
            return True
    inner = rules._edges(terrain, creature, aloft=token.flying).inner
    return any(cell in cells and lattice.neighbor(cell, side) in cells for cell, side in inner)


# -- creatures ----------------------------------------------------------------------------------


def _reached(other: Other, cells: Sequence[Cell], lattice: Lattice) -> list[Cell]:
    """Return the cells that somebody reaches hand to hand, whatever stands between."""
    if not cells:
        return []
    apart = lattice.distances(np.array(cells)[:, None], np.array(other.cells)[None])
    near = (apart.min(axis=1) <= other.token.creature.reach).tolist()
    return [cell for cell, is_near in zip(cells, near, strict=True) if is_near]


def attacks(stride: Stride, lattice: Lattice, provokes: str) -> list[Stake]:
    """Return the opportunity attacks that a step provokes, one a foe, in the order of the tokens.

    Parameters
    ----------
    stride : Stride
    lattice : Lattice
    provokes : str
        `LEAVING_A_CELL` within a foe's reach, or `LEAVING_THE_REACH`.
    """
    found = []
    for other in stride.others:
        if other.relation != "foe" or other.token.helpless:
            continue
        held = stride.held if stride.before.gait.plane == other.plane else ()
        taken = stride.taken if stride.after.gait.plane == other.plane else ()
        threatened = _reached(other, held, lattice)
        if provokes == LEAVING_A_CELL:
            provoked = any(cell not in taken for cell in threatened)
        else:
            provoked = bool(threatened) and not _reached(other, taken, lattice)
        if provoked:
            label = other.token.label
            found.append(Stake(ATTACK, label, other.token, text=f"opportunity attack by {label}"))
    return found


def tumbles(stride: Stride) -> list[Stake]:
    """Return the test for each enemy whose space a step enters (PF-04)."""
    return [
        Stake("test", other.token.label, SkillTest(ACROBATICS),
              text=f"{ACROBATICS} to pass {other.token.label}")
        for other in stride.others
        if other.relation == "foe" and not other.token.helpless
        and other.plane == stride.after.gait.plane
        and not set(other.cells).isdisjoint(stride.taken)
        and (stride.changes_plane or set(other.cells).isdisjoint(stride.held))
    ]  # fmt: skip


# -- stakes of terrain, in words ----------------------------------------------------------------


def malus(source: str, modifiers: Iterable[Modifier], where: str) -> Stake:
    """Return maluses as a stake; `where` ends the text."""
    modifiers = tuple(modifiers)
    text = f"{', '.join(map(_changed, modifiers))} {where}"
    return Stake("malus", source, modifiers=modifiers, text=text)


def forbidden(source: str, what: Forbids, where: str) -> Stake:
    """Return as a stake what cannot be done; `where` ends the text."""
    return Stake("forbids", source, what, text=f"no {DOING.get(what.what, what.what)} {where}")


def climb_stake(
    source: str, climb: Climb | None, modifiers: tuple[Modifier, ...], name: str
) -> Stake:
    """Return the test of a climb, onto a rock or, without data of its own, into a tree."""
    about = [] if climb is None else [climb.surface]
    if climb is not None:
        about += [f"{slope.name} {slope.modifier:+d} %" for slope in climb.slopes]
    about += map(_changed, modifiers)
    return Stake("climb", source, climb, modifiers, text=f"climb of {name}{_in_brackets(about)}")


def landing_stake(landing: Landing, below: Other) -> Stake:
    """Return what a jump down does to somebody who stands there, and to one of the two."""
    label = below.token.label
    save = landing.save.replace("reflex", "Reflex")
    text = (
        f"on jumping down {save} save of {label} or {landing.share} of the damage, and one of the "
        "two is moved"
    )
    return Stake("fall", label, landing, text=text)


def save_stake(
    source: str, save: Save, modifiers: tuple[Modifier, ...], besides: tuple[Knockdown, ...],
    name: str,
) -> Stake:  # fmt: skip
    """Return a save on entering, with what failing does."""
    if not save.knockdown:
        besides = ()
    about = [*_on_ground(save.modifiers), *map(_changed, modifiers)]
    fails = ["knockdown"] if save.knockdown else []
    fails += [str(save.damage)] if save.damage else []
    combat = "in combat " if save.combat else ""
    title = save.save.replace("reflex", "Reflex")
    text = f"{combat}{title} save on {name}{_in_brackets(about)} or {_failing(fails, besides)}"
    return Stake("save", source, save, modifiers, besides, text)


def slip_stake(
    source: str, slip: Slip, modifiers: tuple[Modifier, ...], besides: tuple[Knockdown, ...],
    name: str,
) -> Stake:  # fmt: skip
    """Return a slip on entering, with what failing its save does."""
    about = [*_on_ground(slip.save), *map(_changed, modifiers)]
    dry, *other = slip.initiative._asdict().items()
    rolls = ", ".join(f"{ground} {roll}" for ground, roll in other if roll != dry[1])
    least = f"{dry[1]} ({rolls})" if rolls else str(dry[1])
    text = (
        f"in combat slip on {name} from initiative {least}: Reflex save{_in_brackets(about)} or "
        f"{_failing(['knockdown'], besides)}"
    )
    return Stake("slip", source, slip, modifiers, besides, text)


def _changed(modifier: Modifier) -> str:
    return f"{modifier.what.replace('_', ' ')} {modifier.value:+d} {modifier.unit}".rstrip()


def _on_ground(ground: Ground) -> list[str]:
    return [f"{name} {value:+d} %" for name, value in ground._asdict().items() if value]


def _in_brackets(parts: Sequence[str]) -> str:
    return f" ({', '.join(parts)})" if parts else ""


def _failing(fails: list[str], besides: Iterable[Knockdown]) -> str:
    for knockdown in besides:
        fails += [str(knockdown.damage)] if knockdown.damage else []
        fails += [f"{knockdown.fall_chance} % fall"] if knockdown.fall_chance else []
    return ", ".join(fails)

"""Weapons: how far an attack carries, and how poor a shot is still taken."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fieldcraft.errors import ArgumentTypeError, CostError, RulesError
from fieldcraft.units import quantity

if TYPE_CHECKING:
    from fieldcraft.rules import Rules

__all__ = ["Weapon", "as_weapons", "range_in"]

LEAST_LIMIT = -32767
"""The least malus that tables of sight hold."""


@dataclass(frozen=True, slots=True)
class Weapon:
    """What somebody attacks with.

    An attack on a target is possible where the target is seen, at a malus that is not below the
    limit, and is near enough.

    Parameters
    ----------
    name : str
    range : float or str, optional
        How far away the target may be at most: a number in the rule system's unit of movement, or
        text with a unit (``"30 m"``), against `fieldcraft.Board.distance`. Without one the weapon
        is used hand to hand, as far as its owner reaches (`fieldcraft.Board.can_hit`).
    limit : int, optional
        The lowest malus at which it is used, 0 or negative; any if absent.

    Raises
    ------
    ArgumentTypeError, CostError
        If a range is no amount, or a limit no whole number of 0 or less.

    Examples
    --------
    >>> from fieldcraft import tactics
    >>> tactics.Weapon("bow", range=10, limit=-3)
    Weapon(name='bow', range=10, limit=-3)
    """

    name: str = "weapon"
    range: float | str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ArgumentTypeError(f"the name of a weapon must be text, not {self.name!r}")
        quantity(self.range, f"range of weapon {self.name!r}")
        if self.limit is None:
            return
        if isinstance(self.limit, bool) or not hasattr(self.limit, "__index__"):
            raise ArgumentTypeError(
                f"limit of weapon {self.name!r} must be a whole number, not {self.limit!r}"
            )
        limit = self.limit.__index__()
        if not LEAST_LIMIT <= limit <= 0:
            raise CostError(
                f"limit of weapon {self.name!r} is a malus, 0 or negative "
                f"(to {LEAST_LIMIT}), not {limit}"
            )
        object.__setattr__(self, "limit", limit)

    @property
    def is_ranged(self) -> bool:
        """Whether it is used at a distance."""
        return self.range is not None


def range_in(rules: Rules, weapon: Weapon) -> float | None:
    """Return the range of a weapon in a system's unit of movement; None hand to hand.

    Raises
    ------
    RulesError
        If its unit means nothing in that system.
    """
    if weapon.range is None:
        return None
    try:
        ticks = rules.budget(weapon.range).ticks
    except RulesError as error:
        raise RulesError(f"range of weapon {weapon.name!r}: {error}") from None
    return math.inf if ticks is None else float(Fraction(ticks) / rules.ticks)


def as_weapons(weapons: Any) -> tuple[Weapon, ...]:
    """Return weapons as a tuple, or raise ArgumentTypeError saying what came."""
    if isinstance(weapons, Iterable) and not isinstance(weapons, str | bytes):
        found = tuple(weapons)
        if all(isinstance(weapon, Weapon) for weapon in found):
            return found
    raise ArgumentTypeError(f"weapons must be several Weapon, not {weapons!r}")

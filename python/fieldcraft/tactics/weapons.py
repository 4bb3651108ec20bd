"""What a creature attacks with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldcraft.errors import ArgumentTypeError, RulesError
from fieldcraft.units import quantity

__all__ = ["Weapon"]

LEAST_LIMIT = -32767


@dataclass(frozen=True, slots=True)
class Weapon:
    """Something to attack with.

    Parameters
    ----------
    name : str
    range : float or str, optional
        How far it carries, in the system's unit of movement or as text with a unit (``"30 m"``);
        hand to hand, as far as the creature reaches, where absent.
    limit : int, optional
        The lowest malus at which it is used, 0 or negative; any that is seen where absent.

    Raises
    ------
    ArgumentTypeError, CostError, RulesError
        If the name is no text, the range no amount, or the limit no malus.
    """

    name: str = "weapon"
    range: float | str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ArgumentTypeError(f"name of a weapon must be text, not {self.name!r}")
        if self.range is not None:
            quantity(self.range, f"range of weapon {self.name!r}")
        limit: Any = self.limit
        whole = isinstance(limit, int) and not isinstance(limit, bool)
        if limit is not None and not (whole and LEAST_LIMIT <= limit <= 0):
            raise RulesError(
                f"limit of weapon {self.name!r} must be a malus, 0 or negative, not {limit!r}"
            )

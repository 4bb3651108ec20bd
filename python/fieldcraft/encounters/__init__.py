"""Very many encounters: generated, read, analysed and summed up, in bulk and on all cores."""

from __future__ import annotations

from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.model import (
    BOARD_LIGHT,
    GROUNDS,
    Combatant,
    Conditions,
    Encounter,
    Encounters,
    Profile,
)

__all__ = [
    "BOARD_LIGHT",
    "GROUNDS",
    "Boards",
    "Combatant",
    "Conditions",
    "Encounter",
    "Encounters",
    "Profile",
]

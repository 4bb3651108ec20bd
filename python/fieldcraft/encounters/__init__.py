"""Very many encounters: generated, read, analysed and summed up, in bulk and on all cores."""

from __future__ import annotations

from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.checking import check
from fieldcraft.encounters.files import (
    Contents,
    Part,
    boards_of,
    parts,
    read,
    read_part,
    write,
)
from fieldcraft.encounters.generator import CONDITIONS, PROFILES, Generated, generate
from fieldcraft.encounters.landscape import random_board
from fieldcraft.encounters.model import (
    BOARD_LIGHT,
    GROUNDS,
    Combatant,
    Conditions,
    Encounter,
    Encounters,
    Profile,
)
from fieldcraft.encounters.rejects import Fault, Reject, read_rejects, write_rejects

__all__ = [
    "BOARD_LIGHT",
    "CONDITIONS",
    "GROUNDS",
    "PROFILES",
    "Boards",
    "Combatant",
    "Conditions",
    "Contents",
    "Encounter",
    "Encounters",
    "Fault",
    "Generated",
    "Part",
    "Profile",
    "Reject",
    "boards_of",
    "check",
    "generate",
    "parts",
    "random_board",
    "read",
    "read_part",
    "read_rejects",
    "write",
    "write_rejects",
]

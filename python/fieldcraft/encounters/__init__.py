"""Very many encounters: generated, read, analysed and summed up, in bulk and on all cores."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from fieldcraft.encounters.local import analyse, analyse_to
    from fieldcraft.encounters.run import Analysis, Run, open_run, read_run
    from fieldcraft.encounters.summaries import Summary, summary

__all__ = [
    "BOARD_LIGHT",
    "CONDITIONS",
    "GROUNDS",
    "PROFILES",
    "Analysis",
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
    "Run",
    "Summary",
    "analyse",
    "analyse_to",
    "boards_of",
    "check",
    "generate",
    "open_run",
    "parts",
    "random_board",
    "read",
    "read_part",
    "read_rejects",
    "read_run",
    "summary",
    "write",
    "write_rejects",
]

_NAMES = {
    "Analysis": "run",
    "Run": "run",
    "Summary": "summaries",
    "analyse": "local",
    "analyse_to": "local",
    "open_run": "run",
    "read_run": "run",
    "summary": "summaries",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(import_module(f"fieldcraft.encounters.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'fieldcraft.encounters' has no attribute {name!r}")

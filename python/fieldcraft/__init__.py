"""Fieldcraft: where a creature gets to on a battle map and at what price, and who sees whom.

    import fieldcraft as fc

    board = fc.read("valley.board", rules="hexwild")
    reach = board.reach((4, 7), budget=6)
    sight = board.sight((4, 7), (9, 9))

Names are loaded when they are first used, so importing the package is quick and brings neither
Numba nor any optional package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fieldcraft._version import __version__

if TYPE_CHECKING:
    from fieldcraft import grid, hexes, io, rules, tactics
    from fieldcraft.all_views import AllViews, ViewBlock
    from fieldcraft.board import Board
    from fieldcraft.creature import Creature, Token
    from fieldcraft.errors import (
        ArgumentTypeError,
        ClosedCellError,
        CostError,
        FieldcraftError,
        MapError,
        MissingExtraError,
        OutsideMapError,
        RulesError,
        RunError,
    )
    from fieldcraft.fields import Layer, Link, SightField, StepField, Within, legal_steps, within
    from fieldcraft.io import FieldcraftWarning, read, read_scenario, write
    from fieldcraft.lattice import Lattice
    from fieldcraft.path import Path, Stake, Step
    from fieldcraft.questions import Charge
    from fieldcraft.reach import Reach
    from fieldcraft.reaches import ReachBlock, Reaches
    from fieldcraft.route import Route
    from fieldcraft.safest import SafestReach, Tradeoff
    from fieldcraft.sight import HIDDEN, Sight, Sights, View
    from fieldcraft.stacks import FieldStack
    from fieldcraft.terrain import Border, Perch, Terrain
    from fieldcraft.trees import fall_displacements, roll_perches
    from fieldcraft.warming import warmup

_MODULES = ("grid", "hexes", "io", "rules", "tactics")
_NAMES = {
    "AllViews": "all_views",
    "ViewBlock": "all_views",
    "Board": "board",
    "Creature": "creature",
    "Token": "creature",
    "ArgumentTypeError": "errors",
    "ClosedCellError": "errors",
    "CostError": "errors",
    "FieldcraftError": "errors",
    "MapError": "errors",
    "MissingExtraError": "errors",
    "OutsideMapError": "errors",
    "RulesError": "errors",
    "RunError": "errors",
    "Layer": "fields",
    "Link": "fields",
    "SightField": "fields",
    "StepField": "fields",
    "Within": "fields",
    "legal_steps": "fields",
    "within": "fields",
    "FieldcraftWarning": "io",
    "read": "io",
    "read_scenario": "io",
    "write": "io",
    "Lattice": "lattice",
    "Charge": "questions",
    "Path": "path",
    "Stake": "path",
    "Step": "path",
    "Reach": "reach",
    "ReachBlock": "reaches",
    "Reaches": "reaches",
    "FieldStack": "stacks",
    "Route": "route",
    "SafestReach": "safest",
    "Tradeoff": "safest",
    "HIDDEN": "sight",
    "Sight": "sight",
    "Sights": "sight",
    "View": "sight",
    "Border": "terrain",
    "Perch": "terrain",
    "Terrain": "terrain",
    "fall_displacements": "trees",
    "roll_perches": "trees",
    "warmup": "warming",
}

__all__ = [
    "HIDDEN",
    "AllViews",
    "ArgumentTypeError",
    "Board",
    "Border",
    "Charge",
    "ClosedCellError",
    "CostError",
    "Creature",
    "FieldStack",
    "FieldcraftError",
    "FieldcraftWarning",
    "Lattice",
    "Layer",
    "Link",
    "MapError",
    "MissingExtraError",
    "OutsideMapError",
    "Path",
    "Perch",
    "Reach",
    "ReachBlock",
    "Reaches",
    "Route",
    "RulesError",
    "RunError",
    "SafestReach",
    "Sight",
    "SightField",
    "Sights",
    "Stake",
    "Step",
    "StepField",
    "Terrain",
    "Token",
    "Tradeoff",
    "View",
    "ViewBlock",
    "Within",
    "__version__",
    "fall_displacements",
    "grid",
    "hexes",
    "io",
    "legal_steps",
    "read",
    "read_scenario",
    "roll_perches",
    "rules",
    "tactics",
    "warmup",
    "within",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"fieldcraft.{name}")
    if name in _NAMES:
        value = getattr(import_module(f"fieldcraft.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'fieldcraft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

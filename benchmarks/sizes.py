"""How large the maps are, and how many questions: a full run, and a quick one for a test."""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """Sides of maps, and counts."""

    small: int = 256
    medium: int = 512
    large: int = 2048
    huge: int = 10_000
    starts: int = 64
    pairs: int = 60
    sights: int = 10_000
    hexes: int = 192
    reaches: int = 208
    maps: int = 2000
    radius: int = 20
    encounters: int = 20_000
    boards: int = 100
    own_boards: int = 200
    battlefield: int = 48
    scenario_step: int = 1
    rounds: int = 0
    """0: as many as each question says."""


FULL = Sizes()
QUICK = Sizes(
    small=20, medium=32, large=40, huge=64, starts=6, pairs=4, sights=60, hexes=16, reaches=12,
    maps=6, radius=5, scenario_step=97, rounds=1, encounters=5, boards=2, own_boards=3,
    battlefield=10,
)  # fmt: skip

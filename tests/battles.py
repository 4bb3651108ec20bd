"""Small files of encounters for the tests of runs, and what to compare of two runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import fieldcraft as fc
from fieldcraft import encounters
from fieldcraft.encounters import BOARD_LIGHT, Encounters, Profile
from fieldcraft.tactics import Weapon

PROFILES = (
    Profile("archer", fc.Creature("archer", speed=3), (Weapon("bow", 6),)),
    Profile("ogre", fc.Creature("ogre", speed=2, reach=1), (Weapon("club"),)),
)
SIDE, TOKENS = 6, 3
KINDS = ("open", "open", "light_forest", "mud")


def boards() -> dict[str, fc.Board]:
    rng = np.random.default_rng(5)
    terrain = {name: rng.choice(KINDS, (SIDE, SIDE)) for name in ("east", "west")}
    return {name: fc.Board(cells, lattice="odd-r") for name, cells in terrain.items()}


def battles(n: int) -> Encounters:
    """Return encounters of three tokens on two boards."""
    rng = np.random.default_rng(6)
    places = np.argsort(rng.random((n, SIDE**2)), axis=1)[:, :TOKENS].reshape(-1)
    m = n * TOKENS
    return Encounters(
        ("east", "west"), PROFILES, ("red", "blue"), board=rng.integers(0, 2, n),
        light=rng.choice([BOARD_LIGHT, -2], n), ground=rng.integers(0, 4, n),
        number=np.arange(n), first=np.arange(n + 1) * TOKENS,
        profile=rng.integers(0, len(PROFILES), m), side=rng.integers(0, 2, m),
        cells=np.stack(np.divmod(places, SIDE), axis=1), level=np.zeros(m, int),
        flags=np.zeros(m, int),
    )  # fmt: skip


def write(
    folder: Path, n: int, *, suffix: str = ".jsonl", bad: dict[int, str] | None = None
) -> Path:
    """Write a file of n encounters with their boards; some rows of it are something else."""
    file = folder / f"battles{suffix}"
    encounters.write(battles(n), file, boards=boards())
    if bad:
        lines = file.read_text(encoding="utf-8").splitlines()
        for row, text in bad.items():
            lines[row + 1] = text
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def outside(row: int) -> str:
    """Return a row with a token that stands beside the map."""
    token = {"profile": "ogre", "side": "red", "cell": [SIDE, row]}
    return json.dumps({"board": "east", "tokens": [token]})


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a run, byte for byte."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def identities(folder: Path) -> dict[str, tuple[int, int]]:
    """Return of each file of a finished part which it is and when it was written."""
    there = {file.stem for file in folder.glob("tokens/part-*.parquet")}
    files = [file for file in folder.rglob("part-*") if file.stem in there]
    stats = {file.relative_to(folder).as_posix(): file.stat() for file in files}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def values(table: Any) -> Any:
    """Return a table with its words as they are, not as numbers of some dictionary."""
    fields = [
        field.with_type(field.type.value_type) if hasattr(field.type, "value_type") else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))

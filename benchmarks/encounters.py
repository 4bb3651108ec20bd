"""Encounters in bulk, from files to files, beside a script over NetworkX by hand."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks import handmade
from benchmarks.cores import available, cores
from benchmarks.harness import OURS, Answer, Question, Target, module, unchecked
from benchmarks.scenes import Array
from benchmarks.sizes import Sizes

TOKENS = 12
CHECKED = 2
SHARES = (0.5, 0.14, 0.09, 0.06, 0.07, 0.05, 0.05, 0.04)
SAVE = 55
TOKEN_ROWS = (
    "reached", "stops", "targets_now", "targets_after", "attack_row", "attack_col", "attack_malus",
    "attack_price", "safe_row", "safe_col", "exposure_before", "exposure_after", "malus_before",
    "malus_after", "expected_stake",
)  # fmt: skip
PAIR_ROWS = (
    "viewer", "target", "foe", "distance", "visible", "obstruction", "light", "malus",
)  # fmt: skip
NOTHING = {"attack_row": -1, "attack_col": -1, "attack_price": 0}


def profiles() -> list[Any]:
    """Return the kinds of creatures."""
    from fieldcraft.encounters import Profile
    from fieldcraft.tactics import Weapon

    saves = {"reflex": SAVE}
    return [
        Profile(
            "scout", fc.Creature("scout", size="small", speed=8, saves=saves),
            (Weapon("sling", 12, -3),),
        ),
        Profile(
            "archer", fc.Creature("archer", speed=6, saves=saves),
            (Weapon("bow", 20), Weapon("knife")),
        ),
        Profile(
            "ogre", fc.Creature("ogre", size="large", speed=6, reach=2, saves=saves),
            (Weapon("club"),),
        ),
        Profile(
            "knight", fc.Creature("knight", speed=5, climbs=False, saves=saves),
            (Weapon("sword"),),
        ),
    ]  # fmt: skip


class Battles:
    """A file of encounters over so many boards, and the same for the script by hand."""

    def __init__(self, n: int, n_boards: int, side: int) -> None:
        self.n, self.n_boards, self.side = n, n_boards, side

    @cached_property
    def terrain(self) -> list[Array]:
        rng = np.random.default_rng(71)
        kinds = np.array(list(handmade.KINDS))
        shape = (self.side, self.side)
        return [kinds[rng.choice(len(kinds), shape, p=SHARES)] for _ in range(self.n_boards)]

    @cached_property
    def encounters(self) -> Any:
        from fieldcraft.encounters import BOARD_LIGHT, Encounters

        rng = np.random.default_rng(72)
        m = self.n * TOKENS
        places = np.array(
            [rng.choice(self.side**2, TOKENS, replace=False) for _ in range(self.n)]
        ).reshape(-1)
        kinds = profiles()
        names = [f"board {i}" for i in range(self.n_boards)]
        return Encounters(
            names, kinds, ("red", "blue"),
            board=np.arange(self.n) % self.n_boards, light=rng.choice([BOARD_LIGHT, -2], self.n),
            ground=rng.integers(0, 4, self.n), number=np.arange(self.n),
            first=np.arange(self.n + 1) * TOKENS, profile=rng.integers(0, len(kinds), m),
            side=np.tile(np.arange(TOKENS) % 2, self.n),
            cells=np.stack([places // self.side, places % self.side], axis=1),
            level=np.zeros(m, int), flags=np.zeros(m, int),
        )  # fmt: skip

    def write(self) -> Path:
        """Write the boards and the encounters into a folder of their own; return the file."""
        from fieldcraft import encounters

        folder = Path(tempfile.mkdtemp(prefix="encounters-"))
        boards = {
            name: fc.Board(terrain, lattice="odd-r", rules="hexwild")
            for name, terrain in zip(self.encounters.boards, self.terrain, strict=True)
        }
        path = folder / "encounters.parquet"
        encounters.write(self.encounters, path, boards=boards)
        return path

    def ours(self, name: str, n_cores: int) -> Answer:
        def query(path: Path) -> Path:
            from fieldcraft import encounters

            out = path.parent / "out"
            shutil.rmtree(out, ignore_errors=True)
            with cores(n_cores):
                run = encounters.analyse_to(path, out, workers=n_cores, progress=False)
            assert run.n_parts == len(run.finished)
            return out

        return Answer(
            name, build=self.write, query=query, plain=self.read, per=self.n, needs="pyarrow"
        )  # fmt: skip

    def read(self, out: Path) -> Array:
        """Return the rows of the encounters that are checked, one after the other."""
        tables = [
            (out / "tokens", TOKEN_ROWS, TOKENS),
            (out / "pairs", PAIR_ROWS, TOKENS * (TOKENS - 1)),
        ]
        parquet = module("pyarrow.parquet")
        found = []
        for folder, names, n in tables:
            table = parquet.read_table(min(folder.glob("*.parquet"))).slice(0, CHECKED * n)
            columns = [
                [NOTHING.get(name, handmade.HIDDEN) if v is None else float(v) for v in values]
                for name, values in ((name, table[name].to_pylist()) for name in names)
            ]
            found.append(np.array(columns).T.reshape(-1))
        return np.concatenate(found)

    # -- by hand ----------------------------------------------------------------------------------

    def drawn(self, encounter: int) -> dict[Any, str]:
        """Return the board of an encounter as the script has it."""
        terrain = self.terrain[self.encounters.board[encounter]]
        return {cell: str(terrain[cell]) for cell in np.ndindex(terrain.shape)}

    def tokens(self, encounter: int) -> list[handmade.Token]:
        """Return the tokens of an encounter as the script has them."""
        kinds = {profile.name: profile for profile in self.encounters.profiles}
        found = []
        for token in self.encounters[encounter].tokens:
            kind = kinds[token.profile]
            found.append(
                handmade.Token(
                    token.cell, token.side, 2 * int(kind.creature.speed), kind.creature.reach,
                    tuple((weapon.range, weapon.limit) for weapon in kind.weapons), SAVE,
                    kind.creature.climbs,
                )
            )  # fmt: skip
        return found

    def by_hand(self, _: Any = None) -> list[Any]:
        """Return what the script answers to the encounters that are checked."""
        found = []
        for i in range(CHECKED):
            board = self.drawn(i)
            graphs = {climbs: handmade.graph_of(board, climbs=climbs) for climbs in (True, False)}
            conditions = self.encounters[i].conditions
            found.append(
                handmade.analyse(
                    board, graphs, self.tokens(i), conditions.light or 0, conditions.ground
                )
            )
        return found

    @staticmethod
    def flat(found: list[Any]) -> Array:
        parts = [[row for one in found for row in one[which]] for which in (0, 1)]
        return np.concatenate([np.array(part, np.float64).reshape(-1) for part in parts])

    def script(self) -> Answer:
        return Answer(
            "NetworkX and a line tracer",
            build=self.by_hand,  # lines that come again are kept, so all are traced once before
            query=self.by_hand,
            compare=unchecked("it is the reference"),
            per=CHECKED,
            needs="networkx",
            note=f"{CHECKED} encounters, their lines traced before",
        )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    side = sizes.battlefield
    shared = Battles(sizes.encounters, sizes.boards, side)
    one, two = f"{OURS} analyse", f"{OURS} analyse, two cores"
    many = f"{shared.n:,} encounters over {shared.n_boards} boards of {side}², files in, files out"
    yield Question(
        "encounters",
        "encounters",
        f"{many}, an encounter",
        [shared.ours(one, 1), shared.script()],
        {"": lambda: shared.flat(shared.by_hand())},
        [Target("NetworkX and a line tracer", 100, ours=one)],
        unit="us",
        rounds=3,
        seconds=60,
        note=f"{TOKENS} tokens in each; a row for each token and for each pair of them",
    )
    if available() > 1:
        yield Question(
            "encounters, two cores",
            "encounters",
            f"{many}, on two cores, an encounter",
            [shared.ours(one, 1), shared.ours(two, 2)],
            {"": lambda: shared.flat(shared.by_hand())},
            [Target(one, 1.8, ours=two)],
            unit="us",
            rounds=3,
            seconds=60,
        )
    alone = Battles(sizes.own_boards, sizes.own_boards, side)
    yield Question(
        "encounters, own boards",
        "encounters",
        f"{alone.n:,} encounters, a board of {side}² for each, an encounter",
        [alone.ours(one, 1), alone.script()],
        {"": lambda: alone.flat(alone.by_hand())},
        [],
        unit="us",
        rounds=3,
        seconds=60,
    )

"""One path: open noise, hexes, and the maps of games with all their published questions."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks import limits, peers
from benchmarks.harness import (
    OURS,
    Answer,
    Missing,
    Question,
    Target,
    Wrong,
    close,
    module,
)
from benchmarks.scenes import HEX_EVEN, HEX_ODD, RULES, Array, Cell, Noise
from benchmarks.sizes import Sizes
from benchmarks.whole_map import field

# The folder `shared` lies beside the repository, or where the variable says.
_BESIDE = Path(__file__).resolve().parents[2] / "shared"
SHARED = Path(os.environ.get("FIELDCRAFT_SHARED", _BESIDE)) / "data" / "movingai"
GAMES = ("dao", "da2", "sc1", "bg512")
Pair = tuple[Cell, Cell]


def priced(scene: Noise, rule: str, pairs: Sequence[Pair], paths: Sequence[Any]) -> Array:
    """Return what each path costs by the rule, cell by cell; raise Wrong where it breaks it."""
    return np.array(
        [
            _price(scene.terrain, rule, *pair, found)
            for pair, found in zip(pairs, paths, strict=True)
        ]
    )


def _price(terrain: Array, name: str, start: Cell, goal: Cell, found: Any) -> float:
    if found is None or len(found) == 0:
        return np.inf
    rule = RULES[name]
    cells = np.asarray(found, np.int64).reshape(-1, 2)
    if tuple(cells[0]) != start:
        # Some peers leave the start out.
        cells = np.concatenate([np.array([start]), cells])
    if tuple(cells[-1]) != goal:
        raise Wrong(f"a path to {goal} ends at {tuple(cells[-1].tolist())}")
    moves = np.diff(cells, axis=0)
    entered = terrain[tuple(cells[1:].T)].astype(np.int64)
    legal = (entered > 0) & (np.abs(moves).max(axis=1, initial=0) == 1)
    if rule.is_hex:
        kinds = np.array([[*even] for even in HEX_EVEN]), np.array([[*odd] for odd in HEX_ODD])
        for parity in (0, 1):
            here = cells[:-1, 0] % 2 == parity
            known = (moves[here, None] == kinds[parity]).all(axis=2).any(axis=1)
            legal[here] &= known
        prices = entered
    else:
        diagonal = np.abs(moves).sum(axis=1) == 2
        prices = entered * np.where(diagonal, rule.diagonal, rule.straight)
        if rule.corners == "both":
            beside = (terrain[cells[1:, 0], cells[:-1, 1]] > 0) & (
                terrain[cells[:-1, 0], cells[1:, 1]] > 0
            )
            legal &= beside | ~diagonal
    if not legal.all():
        raise Wrong(f"a path from {start} takes a step that is not allowed")
    return float(prices.sum())


class Asked:
    """Pairs on a map: some starts, each with several goals, and what the ways cost."""

    def __init__(self, scene: Noise, rule: str, n: int, purpose: int) -> None:
        self.scene, self.rule, self.n, self.purpose = scene, rule, n, purpose

    @cached_property
    def pairs(self) -> list[Pair]:
        goals = self.scene.connected_pairs(self.n, self.purpose, self.rule)
        return [(goals[i // 5 * 5][0], goal) for i, (_, goal) in enumerate(goals)]

    def expected(self, rule: str) -> Array:
        found: dict[Cell, Array] = {}
        for start, _ in self.pairs:
            if start not in found:
                found[start] = self.scene.distances(rule, start)
        return np.array([found[start][goal] for start, goal in self.pairs])

    def references(self, *rules: str) -> dict[str, Callable[[], Array]]:
        return {rule: (lambda rule=rule: self.expected(rule)) for rule in rules}

    def ours(self, rule: str, algorithm: str, name: str) -> Answer:
        def query(made: fc.StepField) -> list[Any]:
            return [made.path(start, goal, algorithm=algorithm) for start, goal in self.pairs]

        return self.answer(
            name,
            lambda: field(self.scene, rule),
            query,
            rule,
            cells=lambda path: path.cells if path else None,
            work=lambda found: {"expanded": statistics.fmean(path.expanded for path in found)},
            one=lambda made: made.path(*self.pairs[0], algorithm=algorithm),
        )

    def answer(
        self,
        name: str,
        build: Callable[[], Any],
        query: Callable[[Any], list[Any]],
        rule: str,
        *,
        cells: Callable[[Any], Any] = lambda path: path,
        **options: Any,
    ) -> Answer:
        return Answer(
            name,
            build=build,
            query=query,
            plain=lambda found: priced(self.scene, rule, self.pairs, [cells(p) for p in found]),
            rule=rule,
            per=self.n,
            **options,
        )

    def limit(self, rule: str) -> Answer:
        def command() -> str:
            flat = [cell for pair in self.pairs for cell in pair]
            return f"paths {rule} {self.n} {limits.cells(flat)}"

        return limits.answer(command, lambda: self.scene.terrain, rule, per=self.n)

    def w9(self, rule: str) -> Answer:
        def build() -> Any:
            star = module("w9_pathfinding.pf").AStar
            if rule == "hex":
                return star(peers.w9_hexes(self.scene.terrain))
            corners = "both" if rule.endswith("open") else "free"
            return star(peers.w9_grid(self.scene.terrain, 99 / 70, corners))

        return self.answer(
            "w9 AStar" + (" (corners open)" if rule.endswith("open") else ""),
            build,
            lambda star: [star.find_path(start[::-1], goal[::-1]) for start, goal in self.pairs],
            rule,
            one=lambda star: star.find_path(*(cell[::-1] for cell in self.pairs[0])),
            cells=lambda path: [(y, x) for x, y in path],
        )

    def tcod(self, rule: str) -> Answer:
        def query(graph: Any) -> list[Any]:
            found = []
            for start, goal in self.pairs:
                finder = module("tcod.path").Pathfinder(graph)
                finder.add_root(start)
                found.append(finder.path_to(goal))
            return found

        return self.answer(
            "tcod Pathfinder",
            lambda: module("tcod.path").SimpleGraph(
                cost=self.scene.terrain, cardinal=70, diagonal=99
            ),
            query,
            rule,
        )

    def pyastar2d(self) -> Answer:
        return self.answer(
            "pyastar2d",
            lambda: np.where(self.scene.closed, np.inf, self.scene.terrain).astype(np.float32),
            lambda weights: [
                module("pyastar2d").astar_path(weights, start, goal, allow_diagonal=True)
                for start, goal in self.pairs
            ],
            "equidistant",
            needs="pyastar2d",
            note="diagonals cost as straight steps",
        )

    def cstar(self) -> Answer:
        return self.answer(
            "cstar",
            lambda: ~self.scene.closed,
            lambda is_open: [
                module("cstar.pathfinding").run_astar_2D(is_open, *start, *goal)[0]
                for start, goal in self.pairs
            ],
            "octile",
            needs="cstar.pathfinding",
            compare=close(1e-3),
            note="counts the root of 2",
        )

    def nano(self, rule: str) -> Answer:
        return self.answer(
            "nano-astar",
            lambda: self.scene.closed.astype(np.uint8),
            lambda closed: [
                (module("nano_astar").astar(closed, start, goal) or (None,))[0]
                for start, goal in self.pairs
            ],
            rule,
            needs="nano_astar",
            compare=close(1e-3),
            note="counts the root of 2",
        )


def weighted(sizes: Sizes) -> Question:
    asked = Asked(Noise(sizes.medium), "octile", sizes.pairs, 11)
    octile, equal = f"{OURS} path, octile", f"{OURS} path, equidistant"
    return Question(
        "path-weighted",
        "path",
        f"path on {sizes.medium}², terrain 1 to 4",
        [
            asked.ours("octile", "auto", octile),
            asked.ours("equidistant", "auto", equal),
            asked.limit("octile"),
            asked.w9("octile"),
            asked.tcod("octile"),
            asked.pyastar2d(),
        ],
        asked.references("octile", "equidistant"),
        [Target("w9 AStar", 3, ours=octile), Target("pyastar2d", 2, ours=equal)],
        seconds=6,
    )


def unit(sizes: Sizes) -> Question:
    asked = Asked(Noise(sizes.medium, top=1), "octile, corners open", sizes.pairs, 12)
    free, both = f"{OURS} path", f"{OURS} path (corners open)"
    return Question(
        "path-unit",
        "path",
        f"path on {sizes.medium}², every cell costs 1, 20 % walls",
        [
            asked.ours("octile", "auto", free),
            asked.ours("octile", "astar", f"{OURS} path, plain A*"),
            asked.ours("octile, corners open", "auto", both),
            asked.limit("octile"),
            asked.w9("octile"),
            asked.w9("octile, corners open"),
            asked.cstar(),
            asked.nano("octile, corners open"),
            asked.tcod("octile"),
        ],
        asked.references("octile", "octile, corners open"),
        [
            Target("w9 AStar", 3, ours=free),
            Target("cstar", 3, ours=free),
            Target("w9 AStar (corners open)", 3, ours=both),
            Target("nano-astar", 3, ours=both),
        ],
        unit="us",
        rounds=9,
        seconds=4,
    )


def hexes(sizes: Sizes) -> Question:
    asked = Asked(Noise(sizes.medium), "hex", sizes.pairs, 13)
    terrain = asked.scene
    few = 2

    def hexutil(_: Any) -> list[Any]:
        make = module("hexutil").Hex
        size = terrain.size

        def cell(place: Any) -> Cell:
            return place.y, (place.x - (place.y & 1)) // 2

        def enterable(place: Any) -> bool:
            row, col = cell(place)
            return 0 <= row < size and 0 <= col < size and bool(terrain.terrain[row, col])

        def place(at: Cell) -> Any:
            return make(2 * at[1] + (at[0] & 1), at[0])

        return [
            [cell(step) for step in path]
            for path in (
                place(start).find_path(
                    place(goal), enterable, lambda p: int(terrain.terrain[cell(p)])
                )
                for start, goal in asked.pairs[:few]
            )
        ]

    return Question(
        "path-hex",
        "path",
        f"path on {sizes.medium}² hexes, terrain 1 to 4",
        [
            asked.ours("hex", "auto", f"{OURS} path"),
            asked.limit("hex"),
            asked.w9("hex"),
            Answer(
                "hexutil find_path",
                query=hexutil,
                plain=lambda found: priced(terrain, "hex", asked.pairs[:few], found),
                rule="hex, first pairs",
                per=few,
                note="plain Python; the first pairs only",
            ),
        ],
        {**asked.references("hex"), "hex, first pairs": lambda: asked.expected("hex")[:few]},
        [Target("w9 AStar", 3, ours=f"{OURS} path")],
        seconds=4,
    )


class Games:
    """The shared maps of games, with every row of their scenarios."""

    def __init__(self, step: int) -> None:
        self.step = step
        self._times: dict[str, list[float]] = {}

    @cached_property
    def boards(self) -> list[tuple[fc.Board, Any]]:
        """Boards, each with the rows asked of it."""
        files = [file for name in GAMES for file in sorted(SHARED.glob(f"{name}/*.map"))]
        if not files:
            raise Missing("the shared folder with the maps of games is not there")
        found = []
        for file in files:
            board = fc.read(file, rules="octile")
            rows = fc.read_scenario(file.with_name(file.name + ".scen"))
            found.append((board, rows.rows[:: self.step]))
        return found

    @cached_property
    def rows(self) -> list[Any]:
        return [row for _, rows in self.boards for row in rows]

    def fields(self) -> list[tuple[fc.StepField, Any]]:
        return [(board.step_field(rows[0].start), rows) for board, rows in self.boards]

    def lengths_agree(self, found: Any, _: Any) -> str:
        wrong = [
            row
            for row, length in zip(self.rows, found, strict=True)
            if not abs(length - row.length) <= row.tolerance
        ]
        if wrong:
            raise Wrong(f"{len(wrong)} of {len(self.rows)} lengths are not the published ones")
        return f"{len(self.rows)} published lengths"

    def not_longer(self, found: Any, _: Any) -> str:
        for row, length in zip(self.rows, found, strict=True):
            if not length <= row.length + row.tolerance + 0.002 * row.length:
                raise Wrong(f"line {row.line}: {length}, published {row.length}")
        return "another rule: cuts corners, never longer"

    def ours(self, algorithm: str, name: str, *, median: bool = False) -> Answer:
        def query(made: list[tuple[fc.StepField, Any]]) -> Any:
            return [
                one.path(row.start, row.goal, algorithm=algorithm)
                for one, rows in made
                for row in rows
            ]

        def timed(made: list[tuple[fc.StepField, Any]]) -> Any:
            found, times = [], []
            for one, rows in made:
                for row in rows:
                    begin = time.perf_counter()
                    path = one.path(row.start, row.goal, algorithm=algorithm)
                    times.append(time.perf_counter() - begin)
                    found.append(path)
            self._times[algorithm] = times
            return statistics.median(times), found

        def work(found: list[fc.Path]) -> dict[str, float]:
            done = {"expanded": statistics.fmean(path.expanded for path in found)}
            if median and len(self._times) == 2:
                pairs = zip(self._times["astar"], self._times["auto"], strict=True)
                ratios = [plain / auto for plain, auto in pairs]
                done["× auto, row by row (median)"] = statistics.median(ratios)
            return done

        return Answer(
            name,
            build=self.fields,
            query=timed if median else query,
            plain=lambda found: [path.cost for path in found],
            rule="octile, corners open",
            per=1 if median else len(self.rows) if SHARED.is_dir() else 1,
            compare=self.lengths_agree,
            own_clock=median,
            work=work,
        )

    def tcod(self) -> Answer:
        def build() -> Any:
            path = module("tcod.path")
            made = []
            for step_field, rows in self.fields():
                # What a path can enter; within one group of terrains on these maps.
                known = np.isfinite(step_field.distances(rows[0].start))
                for row in rows:
                    if not known[row.start]:
                        known |= np.isfinite(step_field.distances(row.start))
                cost = known.astype(np.int32)
                made.append((path.SimpleGraph(cost=cost, cardinal=70, diagonal=99), rows))
            return made

        def query(made: Any) -> Any:
            path = module("tcod.path")
            found = []
            for graph, rows in made:
                for row in rows:
                    finder = path.Pathfinder(graph)
                    finder.add_root(row.start)
                    found.append(finder.path_to(row.goal))
            return found

        def plain(found: Any) -> list[float]:
            lengths = []
            for path in found:
                moves = np.abs(np.diff(path, axis=0)).sum(axis=1)
                lengths.append(float((moves == 1).sum() + (moves == 2).sum() * 2**0.5))
            return lengths

        return Answer(
            "tcod Pathfinder",
            build=build,
            query=query,
            plain=plain,
            rule="octile, corners free",
            per=len(self.rows) if SHARED.is_dir() else 1,
            compare=self.not_longer,
        )


def games(sizes: Sizes) -> Iterator[Question]:
    asked = Games(sizes.scenario_step)
    auto, plain = f"{OURS} path", f"{OURS} path, plain A*"
    what = f"the shared maps of games ({', '.join(GAMES)}), all scenario rows"
    yield Question(
        "path-games",
        "path",
        f"path on {what}",
        [asked.ours("auto", auto), asked.ours("astar", plain), asked.tcod()],
        {},
        [Target("tcod Pathfinder", 20, ours=auto)],
        unit="us",
        rounds=3,
        seconds=6,
        note="time a row, all rows one after the other (mean)",
    )
    yield Question(
        "path-games-median",
        "path",
        f"path on {what}: the row in the middle",
        [
            asked.ours("auto", auto, median=True),
            asked.ours("astar", plain, median=True),
        ],
        {},
        [Target(plain, 10, ours=auto)],
        unit="us",
        rounds=3,
        note="the median over the rows of one round",
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    yield weighted(sizes)
    yield unit(sizes)
    yield hexes(sizes)
    yield from games(sizes)

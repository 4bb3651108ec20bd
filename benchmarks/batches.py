"""Many maps in one call, and batches on two cores beside the same on one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks import peers
from benchmarks.cores import available, cores
from benchmarks.harness import OURS, Answer, Missing, Question, Target, module
from benchmarks.reaches import BUDGET as POINTS
from benchmarks.reaches import Ground
from benchmarks.scenes import RULES, Array, Cell, Noise, graph_of
from benchmarks.sights import visible
from benchmarks.sizes import Sizes
from benchmarks.textbook import prices, searches, warmed
from benchmarks.view import Woods, square_field
from benchmarks.whole_map import NO_LIMIT, field
from fieldcraft.queries import spread

SIDE = 30
CHECKED = 25


class Maps:
    """Many small maps of their own, each with a start."""

    def __init__(self, n: int) -> None:
        self.n = n

    @cached_property
    def terrain(self) -> Array:
        rng = np.random.default_rng(41)
        terrain = rng.integers(1, 5, (self.n, SIDE, SIDE), dtype=np.uint8)
        terrain[rng.random(terrain.shape) < 0.2] = 0
        terrain[(np.arange(self.n), *np.array(self.starts).T)] = 1
        return terrain

    @cached_property
    def starts(self) -> list[Cell]:
        found = np.random.default_rng(42).integers(0, SIDE, (self.n, 2))
        return [(row, col) for row, col in found.tolist()]

    @cached_property
    def cost(self) -> Array:
        """Costs with infinity where closed, in 32 bits."""
        return np.where(self.terrain == 0, np.inf, self.terrain).astype(np.float32)

    def expected(self, rule: str) -> Array:
        found = []
        for terrain, (row, col) in zip(self.terrain[:CHECKED], self.starts, strict=False):
            totals = graph_of(terrain, RULES[rule]).distances(row * SIDE + col)
            found.append(totals.reshape(SIDE, SIDE))
        return np.array(found)

    def ours(self, name: str, rule: str, n_cores: int) -> Answer:
        diagonals: Any = (70, 99) if rule == "octile" else rule
        scale = 70 if rule == "octile" else 1

        def query(given: tuple[Array, Array, Array | None]) -> Array:
            cost, starts, closed = given
            with cores(n_cores):
                return fc.grid.distances(
                    cost, starts, diagonals=diagonals, corners="free", closed=closed
                )

        def build() -> tuple[Array, Array, Array | None]:
            starts = np.array(self.starts)
            if rule == "equidistant":  # floats, as dijkstra3d takes them
                return self.cost, starts, None
            return np.maximum(self.terrain, 1), starts, self.terrain == 0

        return Answer(
            name,
            build=build,
            query=query,
            plain=lambda found: np.rint(found[:CHECKED] * scale),
            rule=rule,
            per=self.n,
        )

    def looped(self, rule: str) -> Answer:
        diagonals: Any = (70, 99) if rule == "octile" else rule
        scale = 70 if rule == "octile" else 1
        few = max(CHECKED, self.n // 10)

        def query(_: Any) -> list[Array]:
            return [
                fc.grid.distances(cost, start, diagonals=diagonals, corners="free")
                for cost, start in zip(self.cost[:few], self.starts, strict=False)
            ]

        return Answer(
            f"{OURS} distances in a loop",
            query=query,
            plain=lambda found: np.rint(np.array(found[:CHECKED]) * scale),
            rule=rule,
            per=min(few, self.n),
            note="a field made for each map",
        )

    def each(
        self, name: str, rule: str, ask: Callable[[Array, Cell], Any], needs: str, **more: Any
    ) -> Answer:
        """Return a peer asked for one map after the other; `build` makes the maps it takes."""
        return Answer(
            name,
            needs=needs,
            build=more.get("build", lambda: self.terrain),
            query=lambda given: [
                ask(one, start) for one, start in zip(given, self.starts, strict=True)
            ],
            plain=lambda found: np.array(
                [more.get("plain", peers.unreached)(one) for one in found[:CHECKED]]
            ),
            rule=rule,
            per=self.n,
            note="one map after the other",
        )


def stack(sizes: Sizes) -> Question:
    maps = Maps(sizes.maps)

    def dijkstra3d(volume: Array, start: Cell) -> Array:
        return module("dijkstra3d").distance_field(volume, source=start, connectivity=8)

    def volumes() -> list[Array]:
        return [peers.volume(terrain) for terrain in maps.terrain]

    def heap(terrain: Array, start: Cell) -> Array:
        return searches()[0](terrain, *start, NO_LIMIT, *prices("octile"))

    def warm_maps() -> Array:
        warmed("octile", maps.terrain[0])
        return maps.terrain

    def scipy(terrain: Array, start: Cell) -> Array:
        graph = graph_of(terrain, RULES["octile"]).sparse()
        totals = peers.scipy_totals(graph, start[0] * SIDE + start[1])
        return totals.reshape(SIDE, SIDE)

    octile, equal = f"{OURS} distances, octile", f"{OURS} distances, equidistant"
    return Question(
        "stack",
        "batches",
        f"{sizes.maps:,} maps of {SIDE}², a map, one core",
        [
            maps.ours(octile, "octile", 1),
            maps.ours(equal, "equidistant", 1),
            maps.looped("octile"),
            maps.each(
                "dijkstra3d distance_field", "equidistant", dijkstra3d, "dijkstra3d", build=volumes
            ),
            maps.each(
                "tcod dijkstra2d",
                "octile",
                lambda terrain, start: peers.tcod_totals(terrain, start, 70, 99),
                "tcod.path",
            ),
            maps.each(
                "Numba heapq", "octile", heap, "numba", plain=peers.textbook_totals, build=warm_maps
            ),
            maps.each("scipy dijkstra, graph made", "octile", scipy, "scipy.sparse"),
        ],
        {rule: lambda rule=rule: maps.expected(rule) for rule in ("octile", "equidistant")},
        [
            Target("dijkstra3d distance_field", 2.5, ours=equal),
            Target("tcod dijkstra2d", 6, ours=octile),
        ],
        unit="us",
        rounds=7,
        seconds=3,
    )


def two_cores(
    key: str,
    title: str,
    build: Callable[[], Any],
    ask: Callable[[Any], Any],
    per: int,
    *,
    plain: Callable[[Any], Any] = lambda found: found,
    note: str = "",
    asked: bool = True,
) -> Question:
    """Return a batch on one core and on two; the answers must be the same."""
    made: dict[str, Any] = {}

    def answer(n: int) -> Answer:
        def prepare() -> Any:
            if n > available():
                raise Missing(f"this machine has not {n} cores")
            if "state" not in made:
                made["state"] = build()
            return made["state"]

        def query(state: Any) -> Any:
            with cores(n):
                return ask(state)

        name = f"{OURS} {key.rpartition('-')[2]}, {n} core" + ("s" if n > 1 else "")
        return Answer(name, build=prepare, query=query, plain=plain, per=per)

    one, two = answer(1), answer(2)

    def single() -> Any:
        with cores(1):
            return plain(ask(made["state"]))

    return Question(
        key,
        "batches",
        f"two cores against one: {title}",
        [one, two],
        {"": single},
        [Target(one.name, 1.8, ours=two.name)] if asked else [],
        unit="us",
        rounds=9,
        seconds=4,
        note=note,
    )


def ceiling(short: str, turns: int) -> Question:
    """Return arithmetic alone, spread as batches are: what two cores make of the best of cases."""

    def build() -> Callable[[int, int], list[int]]:
        numba = module("numba")

        @numba.njit(nogil=True)
        def mix(begin: int, end: int) -> int:
            found = 0
            for i in range(begin, end):
                word = np.uint64(i + 1)
                for _ in range(64):
                    word ^= word << np.uint64(13)
                    word ^= word >> np.uint64(7)
                    word ^= word << np.uint64(17)
                found ^= np.int64(word)
            return found

        mix(0, 1)
        return lambda begin, end: [int(mix(begin, end))]

    def ask(part: Callable[[int, int], list[int]]) -> int:
        return functools.reduce(operator.xor, spread(turns, part))

    return two_cores(
        f"cores-{short}arithmetic",
        f"{turns:,} times the same arithmetic, in registers",
        build,
        ask,
        turns,
        note="No search: what the machine gives to the best of batches.",
        asked=False,
    )


def pairs_of_cores(sizes: Sizes, times: int) -> Iterator[Question]:
    """Give a question a kind of batch; the longer ones are so many times the short ones."""
    short = "short-" if times == 1 else ""
    yield ceiling(short, 320 * sizes.starts * times)
    scene = Noise(sizes.medium)
    starts = np.array(scene.open_cells(50 * sizes.starts * times, 43))
    later = "The call; objects are made of its answers when they are asked for."
    yield two_cores(
        f"cores-{short}reach_many",
        f"{len(starts):,} reaches",
        lambda: field(scene, "octile"),
        lambda made: made.reach_many(starts, 12),
        len(starts),
        plain=lambda found: np.concatenate(
            [np.column_stack([one.cells, one.cost]) for one in found[::17]]
        ),
        note=later,
    )
    few = starts[: 50 * sizes.starts]
    pairs = [[a, b] for a, b in zip(few[:-1:20].tolist(), few[1::20].tolist(), strict=True)]
    if times > 1:  # they take long as they are
        yield two_cores(
            f"cores-{short}paths",
            f"{len(pairs)} paths",
            lambda: field(scene, "octile"),
            lambda made: made.paths(pairs),
            len(pairs),
            plain=lambda found: [one.cost for one in found],
            note=later,
        )
    clear = Noise(sizes.medium, walls=0.1)
    lines = np.stack([starts, np.clip(starts + 9, 0, sizes.medium - 1)], axis=1)
    lines = np.concatenate([lines] * max(1, 4 * sizes.sights * times // len(lines)))
    yield two_cores(
        f"cores-{short}sights",
        f"{len(lines):,} sight lines",
        lambda: square_field(clear),
        lambda made: visible(made.sights(lines)),
        len(lines),
    )
    viewers = np.array(clear.open_cells(8 * sizes.starts * times, 44))
    yield two_cores(
        f"cores-{short}views",
        f"{len(viewers)} views",
        lambda: square_field(clear),
        lambda made: made.views(viewers, sizes.radius),
        len(viewers),
        plain=lambda found: np.concatenate(
            [np.column_stack([one.cells, one.maluses]) for one in found[::17]]
        ),
        note=later,
    )
    further = round(times**0.5 * 0.75) if times > 1 else 1
    side = sizes.hexes * further
    woods = Woods(side, "odd-r")
    yield two_cores(
        f"cores-{short}all_views",
        f"all views on {side}² hexes",
        woods.field,
        lambda made: made.views(None, sizes.radius).count,
        side**2,
    )
    side = sizes.reaches * further
    ground = Ground(side)
    yield two_cores(
        f"cores-{short}reaches",
        f"reach from every cell of {side}² hexes",
        ground.field,
        lambda made: made.reaches(POINTS).count,
        side**2,
    )
    maps = Maps(max(1, sizes.maps // 8) * times)
    yield two_cores(
        f"cores-{short}stack",
        f"a stack of {maps.n:,} maps of {SIDE}²",
        lambda: (maps.cost, np.array(maps.starts)),
        lambda made: fc.grid.distances(*made, diagonals=(70, 99)),
        maps.n,
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    yield stack(sizes)
    for times in (1, 8):
        yield from pairs_of_cores(sizes, times)

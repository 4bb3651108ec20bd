"""Many maps in one call, and batches on two cores beside the same on one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks import peers
from benchmarks.cores import available, cores
from benchmarks.harness import OURS, Answer, Missing, NotBuilt, Question, Target, module
from benchmarks.reaches import BUDGET as POINTS
from benchmarks.reaches import Ground
from benchmarks.scenes import RULES, Array, Cell, Noise, graph_of
from benchmarks.sights import visible
from benchmarks.sizes import Sizes
from benchmarks.textbook import prices, searches, warmed
from benchmarks.view import Woods, square_field
from benchmarks.whole_map import NO_LIMIT, field

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
    key: str, title: str, build: Callable[[], Any], ask: Callable[[Any], Any], per: int, unit: str
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

        name = f"{OURS} {key.partition('-')[2]}, {n} core" + ("s" if n > 1 else "")
        return Answer(name, build=prepare, query=query, per=per)

    one, two = answer(1), answer(2)

    def single() -> Any:
        with cores(1):
            return ask(made["state"])

    return Question(
        key,
        "batches",
        f"two cores against one: {title}",
        [one, two],
        {"": single},
        [Target(one.name, 1.8, ours=two.name)],
        unit=unit,
        rounds=9,
        seconds=4,
    )


def pairs_of_cores(sizes: Sizes) -> Iterator[Question]:
    scene = Noise(sizes.medium)
    starts = np.array(scene.open_cells(50 * sizes.starts, 43))
    yield two_cores(
        "cores-reach_many",
        f"{len(starts):,} reaches",
        lambda: field(scene, "octile"),
        lambda made: [len(one.cells) for one in made.reach_many(starts, 12)],
        len(starts),
        "us",
    )
    pairs = [[a, b] for a, b in zip(starts[:-1:20].tolist(), starts[1::20].tolist(), strict=True)]
    yield two_cores(
        "cores-paths",
        f"{len(pairs)} paths",
        lambda: field(scene, "octile"),
        lambda made: [one.cost for one in made.paths(pairs)],
        len(pairs),
        "us",
    )
    clear = Noise(sizes.medium, walls=0.1)
    lines = np.stack([starts, np.clip(starts + 9, 0, sizes.medium - 1)], axis=1)
    lines = np.concatenate([lines] * max(1, 4 * sizes.sights // len(lines)))
    yield two_cores(
        "cores-sights",
        f"{len(lines):,} sight lines",
        lambda: square_field(clear),
        lambda made: visible(made.sights(lines)),
        len(lines),
        "us",
    )
    viewers = np.array(clear.open_cells(8 * sizes.starts, 44))
    yield two_cores(
        "cores-views",
        f"{len(viewers)} views",
        lambda: square_field(clear),
        lambda made: [len(one.cells) for one in made.views(viewers, sizes.radius)],
        len(viewers),
        "us",
    )
    woods = Woods(sizes.hexes, "odd-r")

    def all_views(made: fc.SightField) -> Array:
        try:
            return made.views(None, sizes.radius).count
        except (AttributeError, TypeError) as error:
            raise NotBuilt("all views in one call") from error

    yield two_cores("cores-all_views", "all views", woods.field, all_views, sizes.hexes**2, "us")
    ground = Ground(sizes.reaches)

    def reaches(made: fc.StepField) -> Array:
        if not hasattr(made, "reaches"):
            raise NotBuilt("there is no reaches")
        return made.reaches(POINTS).count

    yield two_cores(
        "cores-reaches", "reach from every cell", ground.field, reaches, sizes.reaches**2, "us"
    )
    maps = Maps(sizes.maps)

    def distances(_: Any) -> Array:
        try:
            return fc.grid.distances(maps.cost, np.array(maps.starts), diagonals=(70, 99))
        except fc.FieldcraftError as error:
            raise NotBuilt("a stack of maps in one call") from error

    yield two_cores("cores-stack", "a stack of maps", lambda: None, distances, sizes.maps, "us")


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    yield stack(sizes)
    yield from pairs_of_cores(sizes)

"""Every cell within a budget: the cost should be that of the cells, whatever the map."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import fieldcraft as fc
from benchmarks import limits, peers
from benchmarks.harness import OURS, Answer, Question, Target, module
from benchmarks.scenes import RULES, Array, Cell, Noise, graph_of, window
from benchmarks.sizes import Sizes
from benchmarks.textbook import FAR, prices, warmed
from benchmarks.whole_map import field, in_ticks

BUDGET = 12
MARGIN = BUDGET  # the cheapest cell costs 1
TICKS = 70 * BUDGET


def crops(scene: Noise, starts: list[Cell]) -> list[Array]:
    """Return the map around each start, as far as the budget leads."""
    return [window(scene.terrain, start, MARGIN, 0) for start in starts]


def ours(
    scene: Noise, starts: list[Cell], rule: str, budget: float, *, name: str = "", scale: int = 0
) -> Answer:
    """Return our reaches; cells and costs are both taken out of each."""

    def query(made: fc.StepField, starts: list[Cell] = starts) -> list[tuple[Array, Array, int]]:
        found = []
        for start in starts:
            reach = made.reach(start, budget)
            found.append((reach.cells, reach.cost, reach.expanded))
        return found

    def plain(found: list[tuple[Array, Array, int]]) -> Array:
        maps = []
        for start, (cells, cost, _) in zip(starts, found, strict=True):
            around = np.full((2 * MARGIN + 1, 2 * MARGIN + 1), np.inf)
            at = cells - np.array(start) + MARGIN
            around[at[:, 0], at[:, 1]] = cost * scale if scale else in_ticks(cost, rule)
            maps.append(around)
        return np.array(maps)

    return Answer(
        name or f"{OURS} reach",
        build=lambda: (
            fc.hexes.field(scene.cost / scale, closed=scene.closed) if scale else field(scene, rule)
        ),
        query=query,
        plain=plain,
        rule=rule,
        per=len(starts),
        one=lambda made: query(made, starts[:1]),
        work=lambda found: {
            "cells": float(np.mean([len(cells) for cells, _, _ in found])),
            "expanded": float(np.mean([expanded for _, _, expanded in found])),
        },
    )


def even_crops(scene: Noise, starts: list[Cell], rule: str) -> list[Array]:
    """Return the crops; those of hexes that begin with an odd row with a closed row above it."""
    found = crops(scene, starts)
    if rule != "hex":
        return found
    above = np.zeros((1, 2 * MARGIN + 1), scene.terrain.dtype)
    return [
        np.concatenate([above, crop]) if (start[0] - MARGIN) % 2 else crop
        for start, crop in zip(starts, found, strict=True)
    ]


def reference(scene: Noise, starts: list[Cell], rule: str, ticks: int) -> Array:
    """Return the totals around each start from the explicit graph of its crop."""
    found = []
    side = 2 * MARGIN + 1
    for crop in even_crops(scene, starts, rule):
        middle = (len(crop) - MARGIN - 1) * side + MARGIN
        totals = graph_of(crop, RULES[rule]).distances(middle, ticks)
        around = totals.reshape(-1, len(crop), side).min(axis=0)[len(crop) - side :]
        found.append(np.where(around <= ticks, around, np.inf))
    return np.array(found)


def within(found: list[Array], ticks: int) -> Array:
    totals = np.array([peers.textbook_totals(np.asarray(one)) for one in found])
    return np.where(totals > ticks, np.inf, totals)


def textbook_crop(scene: Noise, starts: list[Cell], rule: str, ticks: int) -> Answer:
    def query(search: Any, starts: list[Cell] = starts) -> list[Array]:
        found = []
        for start in starts:
            shift = (start[0] - MARGIN) % 2 if rule == "hex" else 0
            crop = window(scene.terrain, start, MARGIN + shift, 0)
            totals = search(crop, MARGIN + shift, MARGIN + shift, ticks, *prices(rule))
            found.append(totals[1:-1, 1:-1] if shift else totals)
        return found

    return Answer(
        "Numba heapq on a crop",
        build=lambda: warmed(rule, window(scene.terrain, starts[0], MARGIN, 0)),
        query=query,
        plain=lambda found: within(found, ticks),
        rule=rule,
        per=len(starts),
        one=lambda search: query(search, starts[:1]),
    )


def textbook_whole(
    scene: Noise, starts: list[Cell], rule: str, ticks: int, few: int | None = None
) -> Answer:
    """Return the textbook's search on the whole map, from all starts or the first few."""
    some = starts[:few]

    def one(search: Any, start: Cell = some[0]) -> Array:
        return around(search(scene.terrain, *start, ticks, *prices(rule)), start)

    return Answer(
        "Numba heapq, whole map",
        build=lambda: warmed(rule, scene.terrain),
        query=lambda search: [one(search, start) for start in some],
        one=one,
        plain=lambda found: within(found, ticks),
        rule=rule if few is None else f"{rule}, first {few}",
        per=len(some),
    )


def around(totals: Array, start: Cell) -> Array:
    """Return the part of one or two whole maps of totals around a start."""
    layers = totals.reshape(-1, *totals.shape[-2:])
    return np.stack([window(layer, start, MARGIN, FAR) for layer in layers])


def networkx(scene: Noise, starts: list[Cell], rule: str, ticks: int) -> Answer:
    """Return NetworkX's reaches with a cutoff on the graph of the whole map."""
    height, width = scene.terrain.shape

    def query(graph: Any) -> list[dict[int, float]]:
        search = module("networkx").single_source_dijkstra_path_length
        return [search(graph, scene.number(start), cutoff=ticks) for start in starts]

    def plain(found: list[dict[int, float]]) -> Array:
        layers = 2 if rule == "alternating" else 1
        maps = []
        for start, one in zip(starts, found, strict=True):
            totals = peers.listed(one, layers * height * width).reshape(layers, height, width)
            maps.append(window(totals.min(axis=0), start, MARGIN, np.inf))
        return np.array(maps)

    return Answer(
        "networkx cutoff",
        build=lambda: graph_of(scene.terrain, RULES[rule]).networkx(),
        query=query,
        plain=plain,
        rule=rule,
        per=len(starts),
    )


def small(sizes: Sizes, key: str, title: str, rule: str, budget: float, scale: int) -> Question:
    """Return a reach with a game's steps on the largest map that NetworkX holds in reason.

    The textbook's arrays are of the whole map too; on 2048² to make them is most of its time.
    """
    scene = Noise(min(sizes.large, 256), seed=2)
    starts = scene.open_cells(sizes.starts, 5)
    return Question(
        key,
        "reach",
        f"{title.format(scene.size)}, where NetworkX's graph of the whole map fits",
        [
            ours(scene, starts, rule, budget, scale=scale),
            textbook_whole(scene, starts, rule, BUDGET),
            networkx(scene, starts, rule, BUDGET),
        ],
        {rule: functools.partial(reference, scene, starts, rule, BUDGET)},
        [
            Target("Numba heapq, whole map", 15, ours=f"{OURS} reach"),
            Target("networkx cutoff", 50, ours=f"{OURS} reach"),
        ],
        unit="us",
        rounds=11,
        seconds=3,
    )


def octile(sizes: Sizes) -> Question:
    scene = Noise(sizes.large)
    starts = scene.open_cells(sizes.starts, 1)
    few = max(1, sizes.starts // 16)

    def tcod(_: Any) -> list[Array]:
        found = []
        for start in starts:
            crop = window(scene.terrain, start, MARGIN, 0)
            found.append(peers.tcod_totals(crop, (MARGIN, MARGIN), 70, 99))
        return found

    def scipy(graph: Any) -> list[Array]:
        found = []
        for start in starts[:few]:
            totals = peers.scipy_totals(graph, scene.number(start), limit=TICKS)
            found.append(window(totals.reshape(scene.terrain.shape), start, MARGIN, np.inf))
        return found

    def all_of(_: None = None) -> Array:
        return reference(scene, starts, "octile", TICKS)

    kept = functools.cache(all_of)
    return Question(
        "reach-octile",
        "reach",
        f"reach {BUDGET} on {scene.size}², octile, random starts",
        [
            ours(scene, starts, "octile", BUDGET),
            limits.answer(
                lambda: f"reach {TICKS} {len(starts)} {limits.cells(starts)}",
                lambda: scene.terrain,
                "octile",
                per=len(starts),
            ),
            textbook_crop(scene, starts, "octile", TICKS),
            textbook_whole(scene, starts, "octile", TICKS, few),
            Answer(
                "tcod dijkstra2d on a crop",
                query=tcod,
                plain=lambda found: within(found, TICKS),
                rule="octile",
                per=len(starts),
            ),
            Answer(
                "scipy dijkstra(limit=)",
                build=lambda: graph_of(scene.terrain, RULES["octile"]).sparse(),
                needs="scipy.sparse",
                query=scipy,
                plain=lambda found: within(found, TICKS),
                rule=f"octile, first {few}",
                per=few,
            ),
        ],
        {"octile": kept, f"octile, first {few}": lambda: kept()[:few]},
        [
            Target("Numba heapq on a crop", 2, ours=f"{OURS} reach"),
            Target("tcod dijkstra2d on a crop", 20, ours=f"{OURS} reach"),
            Target("scipy dijkstra(limit=)", 1000, ours=f"{OURS} reach"),
        ],
        unit="us",
        rounds=11,
        seconds=3,
    )


def sizes_of_map(sizes: Sizes) -> Question:
    small, large = Noise(100 if sizes.huge > 100 else 32), Noise(sizes.huge)
    answers = []
    references = {}
    for scene, what in ((small, "small"), (large, "huge")):
        starts = scene.open_cells(8 * sizes.starts, 2)
        rule = f"octile on {scene.size:,}²"
        answer = ours(scene, starts, "octile", BUDGET, name=f"{OURS} reach, {what} map")
        answers.append(Answer(**{**answer.__dict__, "rule": rule}))
        references[rule] = functools.partial(reference, scene, starts, "octile", TICKS)
    first, last = (answer.name for answer in answers)
    return Question(
        "reach-size",
        "reach",
        f"reach {BUDGET}, octile, on {small.size}² and on {large.size:,}²",
        answers,
        references,
        [Target(first, 1.5, ours=last, most=True)],
        unit="us",
        rounds=11,
        seconds=3,
    )


def alternating(sizes: Sizes) -> Question:
    scene = Noise(sizes.large)
    starts = scene.open_cells(sizes.starts, 3)
    few = max(1, sizes.starts // 16)
    kept = functools.cache(lambda: reference(scene, starts, "alternating", BUDGET))
    return Question(
        "reach-alternating",
        "reach",
        f"reach {BUDGET} on {scene.size}², alternating diagonals (1-2-1-2)",
        [
            ours(scene, starts, "alternating", BUDGET),
            textbook_whole(scene, starts, "alternating", BUDGET, few),
            textbook_crop(scene, starts, "alternating", BUDGET),
        ],
        {"alternating": kept, f"alternating, first {few}": lambda: kept()[:few]},
        [
            Target("Numba heapq, whole map", 15, ours=f"{OURS} reach"),
        ],
        unit="us",
        rounds=11,
        seconds=3,
    )


def halves(sizes: Sizes) -> Question:
    scene = Noise(sizes.large, seed=1)
    starts = scene.open_cells(sizes.starts, 4)
    few = max(1, sizes.starts // 16)
    # Entry costs of 1 to 4 halves, a budget of 6 points.
    kept = functools.cache(lambda: reference(scene, starts, "hex", BUDGET))
    return Question(
        "reach-halves",
        "reach",
        f"reach {BUDGET // 2} on {scene.size}² hexes, entry in halves (1/2 to 2)",
        [
            ours(scene, starts, "hex", BUDGET / 2, scale=2),
            textbook_whole(scene, starts, "hex", BUDGET, few),
            textbook_crop(scene, starts, "hex", BUDGET),
        ],
        {"hex": kept, f"hex, first {few}": lambda: kept()[:few]},
        [
            Target("Numba heapq, whole map", 15, ours=f"{OURS} reach"),
        ],
        unit="us",
        rounds=11,
        seconds=3,
    )


def questions(sizes: Sizes) -> Iterator[Question]:
    """Give the questions of this group."""
    yield octile(sizes)
    yield sizes_of_map(sizes)
    yield alternating(sizes)
    title = f"reach {BUDGET} on {{}}², alternating diagonals (1-2-1-2)"
    yield small(sizes, "reach-alternating-small", title, "alternating", BUDGET, 0)
    yield halves(sizes)
    title = f"reach {BUDGET // 2} on {{}}² hexes, entry in halves (1/2 to 2)"
    yield small(sizes, "reach-halves-small", title, "hex", BUDGET / 2, 2)

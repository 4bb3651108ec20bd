"""Hypothesis strategies for maps, movements and sight, and the fields built from them.

A strategy draws the shape of a map and the character of what is on it; the cells themselves come
from a generator with a drawn seed. That keeps maps of 24 x 24 cheap, and they still shrink.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from reference.graph import SQRT2, Cell, LayerSpec, LinkSpec, MapSpec, Node, compass, neighbour
from reference.sightsum import SightSpec

LATTICES = ("square4", "square", "odd-r", "even-r", "odd-q", "even-q")
HEXES = LATTICES[2:]
PAIRS = ((1, 1), (2, 3), (1, 2), (70, 99), (1, 3), (2, 1), (3, 2))
ALTERNATING = ("alternating", "alternating-2")
TIES = ("worst-side", "best-side", "worst-hex", "best-hex", "both")
LARGEST = 65_535
LARGEST_TOTAL = 2**31 - 2


def examples(count: int) -> settings:
    """Return settings for that many examples, fewer or more under another Hypothesis profile."""
    return settings(max_examples=max(1, count * settings.default.max_examples // 100))


side = st.integers(1, 24)
large = st.sampled_from((24, 23, 17, 16, 11, 10))  # integers alone come out small too often
shapes = st.one_of(
    st.tuples(large, large),
    st.tuples(large, side),
    st.tuples(side, large),
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    st.tuples(st.just(1), side),
    st.tuples(side, st.just(1)),
    st.just((1, 1)),
)
small_shapes = st.tuples(st.integers(1, 9), st.integers(1, 9))
seeds = st.integers(0, 2**32 - 1)


@dataclass
class Query:
    """Where a movement starts, with what behind it, and how far it may go (in ticks)."""

    starts: list[Cell]
    initial: list[int]
    layer: int
    parity: int
    budget: float

    def nodes(self, spec: MapSpec) -> dict[Node, int]:
        """Return the starts as nodes of the reference graph, each with its total."""
        found: dict[Node, int] = {}
        for cell, total in zip(self.starts, self.initial, strict=True):
            node = (self.layer, *cell, self.parity if spec.alternates else 0, 0)
            found[node] = min(total, found.get(node, total))
        return found


def diagonals(lattice: str) -> st.SearchStrategy[tuple[Any, str]]:
    """Draw a diagonal rule for whole costs, and its reading."""
    if lattice != "square":
        return st.just(((1, 1), "advances"))
    plain = st.tuples(st.sampled_from((*PAIRS, "illegal")), st.just("advances"))
    turns = st.tuples(st.sampled_from(ALTERNATING), st.sampled_from(("advances", "carry")))
    return st.one_of(plain, turns, turns)


@st.composite
def maps(
    draw: st.DrawFn,
    lattice: str | None = None,
    *,
    diagonal: Any = None,
    shape: st.SearchStrategy[tuple[int, int]] = shapes,
    layers: bool = True,
    extras: bool = True,
    exact: bool = False,
) -> MapSpec:
    """Draw a map with its rules of movement.

    Parameters
    ----------
    lattice, diagonal : optional
        Fixed where given, else drawn; `diagonal` is (rule, reading).
    layers : bool
        Whether there may be several layers, with caps and links.
    extras : bool
        Whether there may be exit and border costs, bars, halts and cells not to stop on.
    exact : bool
        Diagonals cost the square root of 2; costs are floats.
    """
    name = draw(st.sampled_from(LATTICES)) if lattice is None else lattice
    height, width = draw(shape)
    rule, reading = draw(diagonals(name)) if diagonal is None else diagonal
    if exact:
        rule, reading = (1.0, SQRT2), "advances"
    rng = np.random.default_rng(draw(seeds))
    n_layers = draw(st.sampled_from((1, 1, 2, 3))) if layers else 1
    n_directions = len(compass(name))
    size = (height, width)

    def chance(*shares: float) -> float:
        return draw(st.sampled_from(shares))

    def some(share: float, count: int = 1) -> list[np.ndarray]:
        return [rng.random(size) < share for _ in range(count)]

    def costs(palette: tuple[float, ...], shape: tuple[int, ...] = size) -> np.ndarray:
        return rng.choice(np.array(palette, np.float64 if exact else np.int64), shape)

    palettes: list[tuple[float, ...]] = [(1,), (2,), (1, 2), (1, 2, 3, 4), (1, 1, 1, 9), (5, 40)]
    palettes.append(tuple(range(1, 60)))
    most = max(rule) if isinstance(rule, tuple) else 2
    if height * width * n_layers * 2 * (LARGEST * (most + 2)) < LARGEST_TOTAL:
        palettes.append((1, LARGEST))
        palettes.append((LARGEST,))
    if exact:
        palettes += [(0.5, 1.0, 1.25), (0.1, 0.2, 0.7), (math.pi, 1.0)]
    n_open = draw(st.integers(1, n_layers))
    closed = chance(0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 1.0)
    spec = MapSpec(name, height, width, open=[~array for array in some(closed, n_open)], enter=[])
    palette = draw(st.sampled_from(palettes))
    spec.enter = [costs(palette) for _ in range(draw(st.integers(1, n_layers)))]
    spec.diagonal, spec.reading = rule, reading
    spec.corners = draw(st.sampled_from(("both", "either", "free")))
    if name == "square" and draw(st.booleans()):
        # Pits have no corners; a cell may also be open and yet have some (a column in a corner).
        spec.solid = [~array & (rng.random(size) < 0.5) for array in spec.open]
    if extras:
        if draw(st.booleans()):
            spec.leave = [costs((0, 0, 1, 3)) for _ in range(draw(st.integers(1, n_layers)))]
        if draw(st.booleans()):
            spec.border = [
                costs((0, 0, 0, 1, 2, 7), (*size, n_directions))
                for _ in range(draw(st.integers(1, n_layers)))
            ]
        share = chance(0.0, 0.0, 0.05, 0.2)
        if share:
            bits = rng.random((*size, n_directions)) < share
            spec.barred = (bits << np.arange(n_directions)).sum(axis=2).astype(np.uint8)
        share = chance(0.0, 0.0, 0.0, 0.05, 0.2)
        if share:
            spec.halt = some(share, draw(st.integers(1, n_layers)))
        share = chance(0.0, 0.0, 0.2, 1.0)
        if share:
            spec.stop = [~array for array in some(share, draw(st.integers(1, n_layers)))]

    spec.layers = []

    def which(arrays: list[Any], optional: bool = True) -> int:
        low = -1 if optional and n_layers > 1 else 0
        return int(rng.integers(low, len(arrays))) if arrays else -1

    by_direction = len(spec.enter) > 1 and draw(st.booleans())

    for _ in range(n_layers):
        cap = None
        if layers and max(palette) < 100 and draw(st.sampled_from((False, n_layers > 1, True))):
            cap = draw(st.integers(0, 30)) * int(max(palette))
        spec.layers.append(
            LayerSpec(
                open=which(spec.open, False),
                enter=tuple(which(spec.enter, False) for _ in range(n_directions))
                if by_direction
                else which(spec.enter, False),
                leave=which(spec.leave),
                border=which(spec.border),
                stop=which(spec.stop, False),
                halt=which(spec.halt),
                cap=cap,
            )
        )
    if n_layers > 1:
        for _ in range(draw(st.integers(0, 4))):
            source, target = rng.integers(0, n_layers, 2)
            direction = draw(st.one_of(st.none(), st.integers(0, n_directions - 1)))
            own = None
            if direction is None and draw(st.booleans()):
                own = on_map_steps(name, rng.integers(0, 1 << n_directions, size))
            share = chance(1.0, 0.2, 0.7)
            where = None if share == 1.0 else some(share)[0]
            ticks = draw(st.integers(0, 5))
            spec.links.append(LinkSpec(int(source), int(target), ticks, direction, where, own))
    return spec


def on_map_steps(lattice: str, bits: np.ndarray) -> np.ndarray:
    """Return step masks without the steps that leave the map."""
    masks = np.zeros(bits.shape, np.uint8)
    for row, col in np.ndindex(bits.shape):
        for direction in range(len(compass(lattice))):
            beyond = neighbour(lattice, (row, col), direction)
            inside = 0 <= beyond[0] < bits.shape[0] and 0 <= beyond[1] < bits.shape[1]
            if inside and int(bits[row, col]) >> direction & 1:
                masks[row, col] |= 1 << direction
    return masks


@st.composite
def queries(draw: st.DrawFn, spec: MapSpec, *, single: bool = False) -> Query:
    """Draw starts (also on the rim, also on closed cells) and a budget for a map."""
    cell = st.tuples(st.integers(0, spec.height - 1), st.integers(0, spec.width - 1))
    many = not single and draw(st.booleans())
    starts = draw(st.lists(cell, min_size=1, max_size=4)) if many else [draw(cell)]
    initial = [draw(st.integers(0, 20)) if many else 0 for _ in starts]
    dear = max(int(array.max()) for array in spec.enter)
    budget = draw(st.sampled_from([math.inf] * 8 + [n * dear for n in (0, 1, 3, 5, 8, 13, 30)]))
    return Query(
        starts,
        initial,
        draw(st.integers(0, len(spec.layers) - 1)),
        draw(st.integers(0, 1)),
        budget,
    )


@st.composite
def movements(draw: st.DrawFn, lattice: str | None = None, **options: Any) -> Any:
    """Draw a map and a query for it; `single` is the query's, the rest the map's."""
    single = options.pop("single", False)
    spec = draw(maps(lattice, **options))
    return spec, draw(queries(spec, single=single))


def step_field(spec: MapSpec, *, ticks: int | Fraction | float = 1, **options: Any) -> Any:
    """Return the library's field for a map."""
    from fieldcraft.fields import Layer, Link, StepField, legal_steps
    from fieldcraft.lattice import Lattice

    lattice = Lattice(spec.lattice)
    exact = isinstance(spec.diagonal, tuple) and isinstance(spec.diagonal[1], float)
    dtype = np.float64 if exact else np.uint16
    steps = []
    for i, open_ in enumerate(spec.open):
        solid = spec.solid[i] if spec.solid else None
        mask = legal_steps(lattice, open_, solid=solid, corners=spec.corners, barred=spec.barred)
        steps.append(mask & 0x0F if spec.diagonal == "illegal" else mask)

    def stack(arrays: list[Any], kind: Any = dtype) -> Any:
        return np.stack([np.asarray(array, kind) for array in arrays]) if arrays else None

    def own(link: LinkSpec) -> Any:
        if link.steps is None or spec.diagonal != "illegal":
            return link.steps
        return link.steps & 0x0F

    return StepField(
        lattice,
        (spec.height, spec.width),
        steps=np.stack(steps),
        enter=stack(spec.enter),
        leave=stack(spec.leave),
        border=stack(spec.border),
        stop=stack(spec.stop, bool),
        halt=stack(spec.halt, bool),
        diagonal=(1, 1) if spec.diagonal == "illegal" else spec.diagonal,
        parity=spec.reading,
        ticks=ticks,
        layers=[
            Layer(
                steps=layer.open,
                enter=layer.enter,
                leave=layer.leave,
                border=layer.border,
                stop=max(layer.stop, 0),
                halt=layer.halt,
                cap=layer.cap,
                name=f"layer {i}",
            )
            for i, layer in enumerate(spec.layers)
        ],
        links=[Link(k.source, k.target, k.ticks, k.direction, k.cells, own(k)) for k in spec.links],
        **options,
    )


@st.composite
def sights(
    draw: st.DrawFn,
    lattice: str | None = None,
    shape: st.SearchStrategy[tuple[int, int]] = shapes,
) -> SightSpec:
    """Draw a map to look across."""
    name = draw(st.sampled_from(LATTICES)) if lattice is None else lattice
    size = draw(shape)
    rng = np.random.default_rng(draw(seeds))
    palettes = ((0,), (0, 0, 0, 1, 2), (0, 1), (0, 1, 2, 2, 4), (0, 0, 253), (253,))

    def halves(palette: tuple[int, ...]) -> np.ndarray:
        return rng.choice(np.array(palette, np.uint8), size)

    palette = draw(st.sampled_from(palettes))
    spec = SightSpec(name, *size, between=halves(palette))
    for end in ("at_target", "at_viewer", "adjacent_target", "adjacent_viewer"):
        if draw(st.booleans()):
            setattr(spec, end, halves(draw(st.sampled_from(palettes[:4]))))
    share = draw(st.sampled_from((0.0, 0.0, 0.05, 0.2, 0.5)))
    if share:
        spec.opaque = rng.random(size) < share
    if draw(st.booleans()):
        spec.light = -rng.integers(0, 5, size).astype(np.int8)
    spec.threshold = draw(st.sampled_from((4, 4, 1, 2, 7, None)))
    if name in HEXES:
        spec.line = draw(st.sampled_from(("crossed", "stepped")))
    spec.tie = draw(st.sampled_from(TIES))
    spec.corners = draw(st.sampled_from(("closed", "open")))
    spec.failure_per_point = draw(st.sampled_from((0.0, 0.1, 0.25)))
    if draw(st.booleans()):
        spec.walls = walls(rng, name, size, draw(st.sampled_from((0.05, 0.2, 0.5))))
    return spec


@st.composite
def raised(draw: st.DrawFn, lattice: str) -> SightSpec:
    """Draw a map to look across, with tops and eyes."""
    spec = draw(sights(lattice))
    spec.line = "crossed"
    size = spec.height, spec.width
    rng = np.random.default_rng(draw(seeds))
    unit = draw(st.sampled_from((1.0, 0.5, 0.001)))
    ground = rng.choice(np.array(draw(st.sampled_from(((0,), (0, 0, 0, 1), range(6))))), size)
    spec.top = ground * unit
    for value, share in ((np.nan, 0.1), (-np.inf, 0.05), (np.inf, 0.02)):
        if draw(st.booleans()):
            spec.top[rng.random(size) < share] = value
    stands = draw(st.booleans())
    for name in ("viewer_eyes", "target_eyes"):
        eyes = rng.integers(1, 5, size) if draw(st.booleans()) else np.full(size, 2)
        eyes = np.where(stands, ground + eyes, eyes - 1)
        setattr(spec, name, np.round(eyes * unit, 3))
    spec.levels_apart = draw(st.sampled_from((0, 0, 1, 2)))
    return spec


def walls(
    rng: np.random.Generator, lattice: str, size: tuple[int, int], share: float
) -> np.ndarray:
    """Return random walls between cells with a common side, each set on both sides."""
    bits = np.zeros(size, np.uint8)
    lattice = "square4" if lattice == "square" else lattice
    straight = len(compass(lattice))
    for row in range(size[0]):
        for col in range(size[1]):
            for direction in range(straight // 2):
                beyond = neighbour(lattice, (row, col), direction)
                inside = 0 <= beyond[0] < size[0] and 0 <= beyond[1] < size[1]
                if inside and rng.random() < share:
                    bits[row, col] |= 1 << direction
                    bits[beyond] |= 1 << (direction + straight // 2)
    return bits


def sight_field(spec: SightSpec) -> Any:
    """Return the library's field for a map."""
    from fieldcraft.fields import SightField
    from fieldcraft.lattice import Lattice

    names = ("at_target", "at_viewer", "adjacent_target", "adjacent_viewer", "opaque", "light")
    rules = ("walls", "threshold", "line", "tie", "corners", "failure_per_point")
    high = ("top", "viewer_eyes", "target_eyes", "levels_apart")
    options = {name: getattr(spec, name) for name in (*names, *rules, *high)}
    size = (spec.height, spec.width)
    return SightField(Lattice(spec.lattice), size, between=spec.between, **options)

"""What a step is said to be made of sums to what was compiled, for every legal step."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fieldcraft import rules as systems
from fieldcraft.creature import Creature, Token
from fieldcraft.lattice import as_lattice
from fieldcraft.terrain import Border
from rules.boards import HEXES, OCTILE, SQUARES, drawn

BY_SYSTEM = {
    "hexwild": {
        "legend": {**HEXES, "X": ("heavy_forest", "thorns", "stones"), "Y": ("mud", "boulder")},
        "lattices": ["odd-r", "even-r", "odd-q", "even-q"],
        "parameters": {"overlays_stack": [True, False], "mud_exit": ["hex", "zone"]},
        "borders": ["wall", "door", "drop", "price"],
        "price": [0, 0.5, 2],
    },
    "pathfinder": {
        "legend": {**SQUARES, "X": ("difficult", "difficult:3"), "w": "water", "n": "narrow:0.75",
                   "q": "narrow:0.3", "v": "low_obstacle"},
        "lattices": ["square", "square4"],
        "parameters": {
            "diagonals": ["alternating", "alternating-2", "exact", "approximate", "rectilinear",
                          "equidistant", "illegal"],
            "occupied": ["double", "normal"],
            "stack": ["multiply", "worst"],
            "tumble": [True, False],
            "footprint_cost": ["worst", "worst-new", "median", "anchor"],
            "squeeze": [True, False],
            "corners": ["both", "either", "free"],
            "parity": ["advances", "carry"],
        },
        "borders": ["wall", "low_wall", "door", "drop", "price"],
        "price": [0, 1, 3],
    },
    "srd5": {
        "legend": {".": "open", "~": "difficult", "#": "wall", "o": "pit", "w": "water",
                   "k": "climb", "n": "narrow:small", "X": ("difficult", "narrow:medium")},
        "lattices": ["square", "square4"],
        "parameters": {
            "diagonals": ["equidistant", "alternating", "alternating-2"],
            "corners": ["both", "either", "free"],
            "squeeze": [True, False],
        },
        "borders": ["wall", "door", "drop", "price"],
        "price": [0, 0.75, 3],
    },
    "skirmish": {
        "legend": {".": "open", "~": "difficult", "#": "wall", "x": "impassable", "s": "stairs",
                   "l": "ladder", "w": "deep_water"},
        "lattices": ["square", "square4"],
        "parameters": {
            "corners": ["both", "either", "free"],
            "level_surcharge": [True, False],
        },
        "borders": ["wall", "door", "drop", "ladder", "price"],
        "price": [0, 1, 3],
    },
    "octile": {
        "legend": OCTILE,
        "lattices": ["square", "square4"],
        "parameters": {},
        "borders": ["wall", "door", "drop", "price"],
        "price": [0, 1, 3],
    },
}  # fmt: skip
CROSSES = ["mud", "stones", "boulder", "heavy_forest", "wall", "low_wall", "difficult", "water"]


SPEEDS = [None, None, 9, {"walk": 9, "fly": 12}, {"walk": 6, "swim": 6}, {"fly": 9},
          {"walk": 3, "climb": 9, "burrow": 6}]  # fmt: skip


@st.composite
def scenes(draw, name):
    """Draw rules, a map with borders and elevation, a creature, and tokens on the map."""
    system = BY_SYSTEM[name]
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    chars = st.sampled_from(sorted(system["legend"]))
    rows = ["".join(draw(st.lists(chars, min_size=width, max_size=width))) for _ in range(height)]
    lattice = as_lattice(draw(st.sampled_from(system["lattices"])))
    cells = list(itertools.product(range(height), range(width)))
    pairs = [
        (a, b) for a in cells for b in lattice.neighbors(a)[: lattice.n_straight] if b in cells
    ]
    borders = []
    if pairs:
        for pair in draw(st.lists(st.sampled_from(pairs), max_size=6)):
            kind = draw(st.sampled_from(system["borders"]))
            price = draw(st.sampled_from([None, *system["price"]]))
            price = system["price"][-1] if kind == "price" and price is None else price
            borders.append(
                Border(pair, kind, price=price, open=draw(st.booleans()),
                       one_way=draw(st.booleans()))
            )  # fmt: skip
    elevation = None
    if name in ("hexwild", "skirmish") and draw(st.booleans()):
        levels = st.lists(st.integers(-8, 8), min_size=width, max_size=width)
        elevation = np.array([draw(levels) for _ in range(height)]) / (
            4 if name == "hexwild" else 1
        )
    terrain = drawn(rows, system["legend"], lattice.name, elevation=elevation, borders=borders)
    creature = Creature(
        "mover",
        size=draw(st.sampled_from(["small", "medium", "large", "huge"])),
        body=draw(st.sampled_from([None, 2, 3, 7])),
        speed=draw(st.sampled_from(SPEEDS)),
        footing=draw(st.sampled_from(["careful", "bold"])),
        climbs=draw(st.booleans()),
        hands_full=draw(st.booleans()),
        crosses=draw(st.frozensets(st.sampled_from(CROSSES), max_size=2)),
    )
    tokens = [
        Token(Creature("other"), cell, side=draw(st.sampled_from(["", "red"])),
              helpless=draw(st.booleans()))
        for cell in draw(st.lists(st.sampled_from(cells), max_size=4))
    ]  # fmt: skip
    rules = systems.get(
        name, **{key: draw(st.sampled_from(v)) for key, v in system["parameters"].items()}
    )
    return rules, terrain, creature, tokens


def sums(parts):
    found = {"enter": 0, "leave": 0, "border": 0}
    for part in parts:
        assert part.label
        # A test of Acrobatics is named also where it costs nothing more (PF-04).
        assert part.ticks > 0 or part.label.endswith("(Acrobatics)")
        found[part.kind] += part.ticks
    return found


def compiled_ticks(field, a, b, layer, own=None):
    """Return enter, leave and border of a step in a layer, as the kernels' arrays have them."""
    graph, given = field._graph, field.layers[layer]
    arrays, halving = graph.arrays, 2 if graph.halves else 1
    here, there = field.padded(a), field.padded(b)
    direction = field.lattice.neighbors(a).index(b)
    entry = given.entries(field.lattice.n_directions)[direction]
    found = {"enter": arrays.enter[entry, there].item() * graph.plain, "leave": 0, "border": 0}
    if given.leave >= 0:
        found["leave"] = arrays.leave[given.leave, here].item() / halving
    if given.border >= 0:
        found["border"] = arrays.border[given.border, here, direction].item() / halving
    return found


def legal_steps_of(field):
    """Yield (layer arrived in, from, to) for every step that some layer or link makes legal."""
    graph = field._graph
    masks = [(n, graph.arrays.steps[layer.steps]) for n, layer in enumerate(field.layers)]
    own = iter(graph.arrays.link_steps)
    masks += [(link.target, next(own)) for link in field.links if link.steps is not None]
    n_directions = field.lattice.n_directions
    for layer, mask in masks:
        for padded in np.flatnonzero(
            mask & np.uint8((1 << n_directions) - 1 if n_directions < 8 else 255)
        ):
            (cell,) = map(tuple, field.to_cells(np.array([padded])).tolist())
            for direction, beyond in enumerate(field.lattice.neighbors(cell)):
                if mask[padded] >> direction & 1:
                    yield layer, cell, beyond


@pytest.mark.parametrize("name", BY_SYSTEM)
@strategies.examples(60)
@given(data=st.data())
def test_parts_sum_to_the_compiled_prices_of_every_legal_step(name, data):
    rules, terrain, creature, tokens = data.draw(scenes(name))
    field = rules.step_field(terrain, creature, tokens=tokens)
    for layer, a, b in legal_steps_of(field):
        assert sums(field.parts(a, b, layer)) == compiled_ticks(field, a, b, layer)


@pytest.mark.parametrize("name", BY_SYSTEM)
@strategies.examples(25)
@given(data=st.data())
def test_the_parts_of_paths_sum_to_their_cost(name, data):
    rules, terrain, creature, tokens = data.draw(scenes(name))
    field = rules.step_field(terrain, creature, tokens=tokens)
    height, width = terrain.shape
    path = field.path((0, 0), (height - 1, width - 1), stop=False)
    assert sum(step.cost for step in path.steps) == pytest.approx(path.cost if path else 0)
    for step in path.steps:
        assert sum(price for _, price in step.parts) == pytest.approx(step.cost)


@pytest.mark.parametrize("name", BY_SYSTEM)
def test_fields_may_be_pickled_with_their_reasons(name):
    system = BY_SYSTEM[name]
    plain = next(iter(system["legend"]))
    terrain = drawn([plain * 3], system["legend"], system["lattices"][0])
    token = Token(Creature("friend"), (0, 1))
    field = systems.get(name).step_field(terrain, Creature(), tokens=[token])
    copy = pickle.loads(pickle.dumps(field))
    assert copy.path((0, 0), (0, 2)).explain() == field.path((0, 0), (0, 2)).explain()

"""Random boards with tokens for questions about turns, and the plain answers to some of them."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx

import fieldcraft as fc
from fieldcraft import tactics
from reference import hexwild, pathfinder, skirmish, srd5
from reference.cases import Case, TokenSpec, board_of

SYSTEMS = {
    "hexwild": ("open", "light_forest", "heavy_forest", "mud", "stones", "thorns", "boulder"),
    "pathfinder": ("open", "difficult", "wall", "low_obstacle", "narrow:0.75"),
    "skirmish": ("open", "difficult", "wall"),
    "srd5": ("open", "difficult", "wall"),
    "octile": ("ground", "swamp", "trees"),
}
HEXES = ("odd-r", "even-r", "odd-q", "even-q")
SPEEDS = {"srd5": 9, "octile": 4.5}
WEAPONS = {
    system: (
        tactics.Weapon("spear"),
        tactics.Weapon("javelin", range=3 if system != "srd5" else "3 sq", limit=-1),
        tactics.Weapon("bow", range=8 if system != "srd5" else 12, limit=-3),
    )
    for system in SYSTEMS
}


def random_board(system, rng, *, size=(9, 11), n=6, large=False, states=True, **rules):
    """Return a board with tokens of three sides; the first is the one whose turn it is."""
    kinds = SYSTEMS[system]
    share = rng.choice([0.2, 0.4])
    terrain = rng.choice(kinds, size, p=[1 - share] + [share / (len(kinds) - 1)] * (len(kinds) - 1))
    lattice = str(rng.choice(HEXES)) if system == "hexwild" else "square"
    if large:
        terrain[3:5, 3:5] = kinds[0]
    cells = [divmod(int(place), size[1]) for place in rng.permutation(size[0] * size[1])]
    if large:
        cells = [(3, 3), *(c for c in cells if c not in ((3, 3), (3, 4), (4, 3), (4, 4)))]
    tokens = []
    for i, cell in enumerate(cells[:n]):
        size_ = "medium" if i else "large" if large else str(rng.choice(["small", "medium"]))
        creature = fc.Creature(
            f"creature {i % 3}",
            size=size_,
            speed=SPEEDS.get(system, 4),
            reach=int(rng.choice([1, 1, 2])),
            footing=str(rng.choice(["careful", "bold"])),
            body=3 if large and not i and system == "hexwild" else None,
        )
        state = {}
        if states and i:
            state = {"helpless": bool(rng.random() < 0.2), "flying": bool(rng.random() < 0.2)}
        side = ("blue", "red", "red", "green")[i % 4]
        tokens.append(fc.Token(creature, cell, side=side, name=f"n{i}", **state))
    rules_ = fc.rules.get(system, **rules)
    return fc.Board(
        terrain.tolist(),
        lattice=lattice,
        rules=rules_,
        light=rng.choice([0, 0, -1], size),
        tokens=tokens,
        relations=[("blue", "green", "neutral")],
    )


def range_of(board, weapon):
    """Return how far a weapon carries, by hand."""
    if weapon.range == "3 sq":
        return 4.5
    return weapon.range


def attack(board, attacker, target, weapons):
    """Return malus and number of the first weapon that serves, or None; `Board` is asked."""
    malus = board.sight(attacker, target).malus
    for number, weapon in enumerate(weapons):
        if malus is None or (weapon.limit is not None and malus < weapon.limit):
            continue
        if weapon.range is None:
            near = board.can_hit(attacker, target)
        else:
            near = board.distance(attacker, target) <= range_of(board, weapon)
        if near:
            return malus, number
    return None


def stops(board, token, tokens=None):
    """Return where a turn may end, and the price: by the paths of the reach."""
    reach = board.reach(token, tokens=tokens)
    found = {token.cell: 0.0}
    for cell in map(tuple, reach.stops.tolist()):
        if cell != token.cell:
            found[cell] = reach.path_to(cell).cost
    return dict(sorted(found.items(), key=lambda item: (item[0] != token.cell, item[1], item[0])))


PALETTES = {
    "hexwild": [
        ("thorns",),
        ("stones",),
        ("gravel",),
        ("mud",),
        ("light_forest", "thorns"),
        ("heavy_forest",),
        ("building",),
    ],
    "pathfinder": [("difficult",), ("wall",), ("low_obstacle",), ("narrow:0.75",)],
    "skirmish": [("difficult",), ("wall",)],
    "srd5": [("difficult",), ("wall",), ("narrow:small",)],
}


def a_case(system, rng, shape, n, speed):
    """Return a random case of a system and its board."""
    palette = [("open",)] * 5 + PALETTES[system]
    rows = [[palette[rng.integers(len(palette))] for _ in range(shape[1])] for _ in range(shape[0])]
    lattice = str(rng.choice(HEXES)) if system == "hexwild" else "square"
    places = [divmod(int(p), shape[1]) for p in rng.permutation(shape[0] * shape[1])]
    mover = TokenSpec("mover", places[0], "blue", speed=speed, footing="bold")
    others = [
        TokenSpec(f"n{i}", cell, str(rng.choice(["red", "red", "blue"])), reach=1 + i % 2)
        for i, cell in enumerate(places[1:n])
    ]
    case = Case(rows, lattice, tokens=(mover, *others))
    return case, board_of(case, system)


# -- ways of one creature, by the slow references of the systems ----------------------------------


class Walk:
    """The movement of a case's first token, on foot alone, as (state, total) and what follows."""

    def __init__(self, system, case, budget):
        reference = {
            "hexwild": hexwild.Movement,
            "pathfinder": pathfinder.Pathfinder,
            "skirmish": skirmish.Movement,
            "srd5": srd5.Srd5,
        }[system]
        self.movement = reference(case, case.tokens[0], budget)
        self.by_total = system in ("pathfinder", "srd5")
        self.may_stop = self.movement.may_stop

    def starts(self):
        if self.by_total:
            return [(state, self.movement.first_total) for state in self.movement.starts()]
        mover = self.movement.mover
        if hasattr(self.movement, "starts"):
            return [(state, Fraction(0)) for state in self.movement.starts()]
        return [(hexwild.State(mover.cell, 0, mover.facing, "walk"), Fraction(0))]

    def moves(self, state, total):
        if self.by_total:
            return [(after, spent) for after, spent, _ in self.movement.moves(state, total)]
        limit = self.movement.limits["walk"]
        found = [(after, total + price) for after, price in self.movement.moves(state)]
        return [(after, spent) for after, spent in found if spent <= limit]

    def cost(self, total):
        return float(self.movement.cost(total) if self.by_total else total)


def product_graph(walk, stake):
    """Return the states and totals within the budget as a graph whose weights are stakes.

    `stake` is a function of the cells that a step leads from and to.
    """
    graph = nx.DiGraph()
    todo = walk.starts()
    graph.add_nodes_from(todo)
    while todo:
        node = todo.pop()
        for after in walk.moves(*node):
            if after not in graph:
                todo.append(after)
            graph.add_edge(node, after, stake=stake(node[0].at, after[0].at))
    return graph


def frontiers(walk, stakes):
    """Return of each cell and for all ways or those to a stop the undominated (cost, stake).

    In: of (state, total) the least stake.
    """
    found = {}
    for stop in (False, True):
        pairs = {}
        for (state, total), stake in stakes.items():
            if not stop or walk.may_stop(state):
                pairs.setdefault(state.at, []).append((walk.cost(total), stake))
        for cell, some in pairs.items():
            kept = []
            for cost, stake in sorted(some):
                if not kept or stake < kept[-1][1]:
                    kept.append((cost, stake))
            found[cell, stop] = kept
    return found

"""Random boards with tokens for questions about turns, and the plain answers to some of them."""

from __future__ import annotations

import fieldcraft as fc
from fieldcraft import tactics

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

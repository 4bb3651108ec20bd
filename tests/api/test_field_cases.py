"""The small cases from the field, by id, through the public interface.

The file's squares are ``[x, y]`` with y growing downwards; its hexagons are axial ``[q, r]`` with
pointy tops and are put on an odd-r map here. Rules that belong to later issues are listed in
`LATER`; a test sees to it that every id of the file is in one place or the other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fieldcraft as fc

SQUARES = {".": 1, "S": 1, "G": 1, "~": 2, "^": 2, "#": math.inf}
TERRAIN = {
    ".": "open", "S": "open", "G": "open", "A": "open", "E": "open", "t": "open",
    "~": "difficult", "^": "difficult", "#": "wall", "o": "pit",
}  # fmt: skip

LATER = {
    "elev-01": "another game: climbing in the air at the price of difficult terrain",
    "elev-03": "another game: distances whose steps change three axes at once",
    "gridless-01": "movement without a grid",
    "gridless-03": "movement without a grid",
    "gridless-05": "movement without a grid",
    "import-01": "Universal VTT files",
    "import-03": "Foundry scenes",
}
"""Cases that wait, and for what."""

TESTED: dict[str, Callable[[dict[str, Any]], None]] = {}


def case(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def keep(function: Callable[..., None]) -> Callable[..., None]:
        TESTED[name] = function
        return function

    return keep


@pytest.fixture(scope="module")
def cases(shared_dir) -> dict[str, dict[str, Any]]:
    text = (shared_dir / "cases" / "field-cases.json").read_text(encoding="utf-8")
    return {entry["id"]: entry for entry in json.loads(text)["cases"]}


def test_every_case_is_tested_or_listed(cases):
    assert not TESTED.keys() & LATER.keys()
    assert set(cases) == TESTED.keys() | LATER.keys()


# ---- Help --------------------------------------------------------------------------------------


def at(xy) -> tuple[int, int]:
    """Return (row, col) of [x, y]."""
    return int(xy[1]), int(xy[0])


def xy(cells) -> list[list[int]]:
    return [[int(col), int(row)] for row, col in cells]


def costs(rows: list[str], legend: dict[str, float] = SQUARES) -> np.ndarray:
    return np.array([[legend[character] for character in row] for row in rows], float)


def pathfinder(case: dict[str, Any], **options) -> fc.Board:
    rules = fc.rules.get("pathfinder", **options.pop("parameters", {}))
    return fc.Board.from_rows(case["map"]["rows"], TERRAIN, rules=rules, **options)


def ends(case: dict[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return start and goal: the query's, the map's, or the cells marked S and G."""
    marked = {
        character: (row, col)
        for row, line in enumerate(case["map"].get("rows", []))
        for col, character in enumerate(line)
    }
    query, drawn = case["query"], case["map"]
    start = query.get("from") or drawn.get("start")
    goal = query.get("to") or drawn.get("goal")
    return (at(start) if start else marked["S"]), (at(goal) if goal else marked["G"])


def null(cost: float) -> float | None:
    """Return a cost as the file has it: null where there is no way."""
    return None if math.isinf(cost) else cost


def alternating_2e(weights: np.ndarray, closed: np.ndarray) -> Any:
    """Return a field whose difficult squares add a flat 1 or 2 to an alternating step."""
    extra = np.zeros((*weights.shape, 8))
    rows, cols = weights.shape
    lattice = fc.Lattice("square")
    for row in range(rows):
        for col in range(cols):
            for direction, (r, c) in enumerate(lattice.neighbors((row, col))):
                if 0 <= r < rows and 0 <= c < cols:
                    extra[row, col, direction] = weights[r, c] - 1
    return fc.grid.field(np.ones(weights.shape), closed=closed, border=extra)


HEX_SHIFT = 12  # even, so that rows keep their parity


def on_map(hexagon) -> tuple[int, int]:
    """Return where an axial hex lies on the odd-r maps used here."""
    row, col = fc.Lattice("odd-r").from_axial(hexagon).tolist()
    return row + HEX_SHIFT, col + HEX_SHIFT


def axial(cells) -> list[list[int]]:
    moved = np.asarray(cells, int).reshape(-1, 2) - HEX_SHIFT
    return sorted(fc.Lattice("odd-r").to_axial(moved).tolist())


def hex_map(fill: float) -> np.ndarray:
    return np.full((2 * HEX_SHIFT + 1, 2 * HEX_SHIFT + 1), fill)


def look(case: dict[str, Any], a=None, b=None, **options) -> Any:
    """Return the sight over the obstruction of a case; only what lies between counts there."""
    obstruction = hex_map(0.0)
    for entry in case["map"]["obstruction"]:
        obstruction[on_map(entry["hex"])] = -entry["value"]
    query = case["query"]
    ends = on_map(a or query["from"]), on_map(b or query["to"])
    return fc.hexes.sight(obstruction, *ends, target_hex=False, **options)


# ---- Alternating diagonals (PF-01) -------------------------------------------------------------


@case("alt-01")
def _(case):
    start, goal = ends(case)
    path = pathfinder(case).path(start, goal)
    assert path.cost == case["expected"]["cost_squares"]
    assert fc.grid.path(costs(case["map"]["rows"]), start, goal).cost == path.cost


@case("alt-03")
def _(case):
    first, second, third = (at(point) for point in case["query"]["waypoints"])
    field = fc.grid.field(np.ones((5, 5)))
    one = field.path(first, second)
    two = field.path(second, third, parity=one.parity)
    assert [one.cost, two.cost] == case["expected"]["leg_costs"]
    assert one.cost + two.cost == case["expected"]["total"]
    left = case["query"]["budget"] - one.cost
    assert (
        bool(field.path(second, third, parity=one.parity, budget=left))
        == (case["expected"]["within_budget"])
    )
    assert field.path(second, third, budget=left)  # what a reset would allow


@case("alt-05")
def _(case):
    board = fc.Board([["open"] * 3] * 3, rules="pathfinder")
    one = board.path((0, 0), (1, 1))
    two = board.path((1, 1), (2, 2), parity=one.parity)
    assert [one.cost, two.cost] == case["expected"]["pathfinder_2e"]
    assert board.path((1, 1), (2, 2)).cost == 1  # a movement of its own counts anew


@case("alt-07")
def _(case):
    names = {"alternating_1": "alternating", "alternating_2": "alternating-2"}
    a, b = at(case["query"]["from"]), at(case["query"]["to"])
    for name, expected in case["expected"].items():
        rule = names.get(name, name)
        path = fc.grid.path(np.ones((7, 8)), a, b, diagonals=rule)
        assert path.cost == pytest.approx(expected, abs=1e-6), name
        assert fc.grid.distance(a, b, diagonals=rule) == pytest.approx(expected, abs=1e-6), name


@case("alt-09")
def _(case):
    for parity in ("advances", "carry"):
        board = pathfinder(case, parameters={"parity": parity})
        assert board.path(*ends(case)).cost == case["expected"]["cost_squares"]


# ---- Difficult terrain (PF-02, PF-13) ----------------------------------------------------------


@case("dt-01")
def _(case):
    # The path is given: pits beside it leave no other.
    rows = [row.replace(".", "o") for row in case["map"]["rows"]]
    for parity in (0, 1):
        board = pathfinder({"map": {"rows": rows}})
        path = board.path(*(at(point) for point in case["query"]["path"]), parity=parity)
        assert xy(path.cells) == case["query"]["path"]
        assert path.cost == case["expected"]["cost_squares"]


def diagonal_steps(sequence: list[str], **options) -> list[float]:
    """Return the price of each step down a lone diagonal of squares."""
    n = len(sequence) + 1
    weights = np.full((n, n), math.inf)
    for i, kind in enumerate(["diag", *sequence]):
        weights[i, i] = 2 if kind.endswith("difficult") else 1
    path = fc.grid.path(weights, (0, 0), (n - 1, n - 1), corners="free", **options)
    return [step.cost for step in path.steps]


@case("dt-02")
def _(case):
    sequences = case["query"]["sequences"]
    expected = case["expected"]["costs"]
    assert [diagonal_steps(steps) for steps in sequences] == expected
    pairs = next(entry for entry in case["alternatives"] if "pair" in entry["who"])
    carried = [diagonal_steps(steps, parity="carry") for steps in sequences]
    assert carried == pairs["answer"]["costs"]


@case("dt-03")
def _(case):
    # The second edition adds a flat price; as a price of the border it does not grow on diagonals.
    grades = {"diag": 0, "diag-difficult": 1, "diag-greater": 2}
    for sequence, expected in zip(
        case["query"]["sequences"], case["expected"]["costs"], strict=True
    ):
        n = len(sequence) + 1
        border = np.zeros((n, n, 8))
        for i, kind in enumerate(sequence):
            border[i, i, 5] = grades[kind]  # south-east
        cost = np.where(np.eye(n), 1.0, math.inf)
        path = fc.grid.path(cost, (0, 0), (n - 1, n - 1), corners="free", border=border)
        assert [step.cost for step in path.steps] == expected


@case("dt-05")
def _(case):
    start, goal = ends(case)
    path = fc.grid.path(costs(case["map"]["rows"]), start, goal)
    assert xy(path.cells) == case["query"]["path"]
    assert [step.cost for step in path.steps] == case["expected"]["costs"]
    assert path.cost == case["expected"]["total"]


@case("dt-07")
def _(case):
    # Our second cause is a creature in the square (PF-05): they multiply (PF-13).
    friend = fc.Token("friend", (1, 1), side="blue")
    expected = case["expected"]["pathfinder_1e"]
    for kind, start, beside in (("straight", (0, 1), "open"), ("diag", (0, 0), "pit")):
        mover = fc.Token("mover", start, side="blue")
        terrain = [["open", beside], [beside, "difficult"]]
        board = fc.Board(terrain, rules="pathfinder", tokens=[friend, mover])
        for parity in (0, 1):
            path = board.path(mover, (1, 1), stop=False, parity=parity)
            assert (path.cost, len(path)) == (expected[kind], 1)


# ---- Corners (PF-03) ---------------------------------------------------------------------------


@case("corner-01")
def _(case):
    start, goal = ends(case)
    for path in (
        pathfinder(case).path(start, goal),
        fc.grid.path(costs(case["map"]["rows"]), start, goal, diagonals="equidistant"),
    ):
        assert path.cost == case["expected"]["cost_squares"]
        assert xy(path.cells) == case["expected"]["path"]


@case("corner-03")
def _(case):
    assert pathfinder(case).path(*ends(case)).cost == case["expected"]["cost_squares"]


@case("corner-05")
def _(case):
    start, goal = ends(case)
    foes = [fc.Token("foe", cell, side="red") for cell in ((0, 0), (1, 1))]
    mover = fc.Token("mover", start, side="blue")
    path = pathfinder(case, tokens=[mover, *foes]).path(mover, goal)
    assert path.cost == case["expected"]["cost_squares"]


@case("corner-07")
def _(case):
    walls = [
        fc.Border((at(entry["between"][0]), at(entry["between"][1])), "wall")
        for entry in case["map"]["edge_walls"]
    ]
    board = pathfinder(case, borders=walls)
    start, goal = ends(case)
    assert board.path(start, goal).cost == case["expected"]["cost_squares"]
    assert board.path(start, at([1, 1])).cost == case["expected"]["cost_to_[1,1]"]


# ---- Other creatures (PF-04 to PF-06) ----------------------------------------------------------


@case("occ-01")
def _(case):
    start, goal = ends(case)
    mover = fc.Token("mover", start, side="blue")
    friend = fc.Token("friend", (0, 1), side="blue")
    # The published game lets friends' squares cost as usual; PF-05 has its own default.
    board = pathfinder(case, tokens=[mover, friend], parameters={"occupied": "normal"})
    assert board.path(mover, goal).cost == case["expected"]["cost"]["pathfinder_1e"]
    stops = case["expected"]["stops_x"]["pathfinder_1e"]
    for budget, expected in zip(case["query"]["budgets"], stops, strict=True):
        reach = board.reach(mover, budget=budget)
        assert sorted(col for _, col in reach.stops.tolist()) == expected
    assert pathfinder(case, tokens=[mover, friend]).path(mover, goal).cost == 3


@case("occ-03")
def _(case):
    start, goal = ends(case)
    tiny = fc.Token(fc.Creature("rat", size="tiny"), (0, 1), side="red")
    mover = fc.Token("mover", start, side="blue")
    path = pathfinder(case, tokens=[mover, tiny]).path(mover, goal)
    assert null(path.cost) == case["expected"]["pathfinder_1e"]


@case("occ-05")
def _(case):
    relations = [("friendly", "neutral", "neutral"), ("hostile", "neutral", "neutral")]
    for mine in case["query"]["mover"]:
        answers = []
        for theirs in case["query"]["other"]:
            mover = fc.Token("mover", (0, 0), side=mine)
            other = fc.Token("other", (0, 1), side=theirs)
            board = fc.Board(
                [["open"] * 3], rules="pathfinder", tokens=[mover, other], relations=relations
            )
            answers.append("pass" if board.path(mover, (0, 2)) else "block")
        assert answers == case["expected"][mine]


@case("zoc-01")
def _(case):
    cost = hex_map(math.inf)
    for cell in case["map"]["cells"]:
        cost[on_map(cell)] = 1
    halt = np.zeros(cost.shape, bool)
    for enemy in case["map"]["enemies"]:
        cost[on_map(enemy)] = math.inf
        for row, col in fc.hexes.ring(on_map(enemy), 1):
            halt[row, col] = True
    start, budget = on_map(case["map"]["start"]), case["query"]["movement_points"]
    held = fc.hexes.reach(cost, start, budget, halt=halt)
    free = fc.hexes.reach(cost, start, budget)
    assert axial(held.cells) == case["expected"]["with_zone"]
    assert axial(free.cells) == case["expected"]["without_zone"]


# ---- One-way borders ---------------------------------------------------------------------------


@case("elev-05")
def _(case):
    east, west = 2, 8
    for query, expected in zip(case["query"]["cases"], case["expected"]["costs"], strict=True):
        heights = case["map"]["variants"][query["row"]]
        barred = np.zeros((1, len(heights)), int)
        for col, height in enumerate(heights):
            for bit, beyond in ((east, col + 1), (west, col - 1)):
                if 0 <= beyond < len(heights):
                    rise = heights[beyond] - height
                    if rise > query["max_up"] or -rise > query["max_down"]:
                        barred[0, col] |= bit
        field = fc.grid.field(np.ones(barred.shape), barred=barred)
        assert null(field.path((0, query["from"]), (0, query["to"])).cost) == expected


@case("wall-01")
def _(case):
    (left, right) = (at(point) for point in case["map"]["edge_walls"][0]["between"])
    one_way = fc.Border((left, right), "price", price=0, one_way=True)
    board = pathfinder(case, borders=[one_way])
    barred = np.zeros((1, 4), int)
    barred[right] = 8  # west
    found, from_bits = [], []
    for start, goal in case["query"]["pairs"]:
        found.append(null(board.path(at(start), at(goal)).cost))
        path = fc.grid.path(costs(case["map"]["rows"]), at(start), at(goal), barred=barred)
        from_bits.append(null(path.cost))
    assert found == from_bits == case["expected"]["costs"]


# ---- Lines of sight on hexes (HW-02, HW-14) ----------------------------------------------------


@case("hexlos-01")
def _(case):
    sight = look(case)
    assert (sight.obstruction, sight.visible) == (
        case["expected"]["sum"],
        case["expected"]["visible"],
    )


@case("hexlos-03")
def _(case):
    sight = look(case, threshold=-case["query"]["threshold"])
    assert (sight.obstruction, sight.visible) == (
        case["expected"]["sum"],
        case["expected"]["visible"],
    )


@case("hexlos-05")
def _(case):
    query, expected = case["query"], case["expected"]
    there, back = look(case), look(case, query["to"], query["from"])
    for sight in (there, back):
        assert (sight.obstruction, sight.visible) == (expected["sum"], expected["visible"])
    assert [axial(pair) for pair in there.pairs] == [sorted(expected["touched_pair"])]
    best = look(case, tie="best-side")
    assert (best.obstruction, best.visible) == (0, True)


@case("hexlos-07")
def _(case):
    assert look(case).obstruction == case["expected"]["sum_worst_whole_side"]
    assert look(case, tie="both").obstruction == case["alternatives"][0]["answer"]["sum"]


@case("hexlos-08")
def _(case):
    sight = look(case)
    assert axial(sight.line[1:-1]) == sorted(case["expected"]["crossed"])
    assert (sight.obstruction, sight.visible) == (
        case["expected"]["sum"],
        case["expected"]["visible"],
    )
    # Sampled points list the dense hex at most as a tie: one lies exactly on its edge.
    sampled = look(case, line="stepped", tie="best-side")
    assert (sampled.obstruction, sampled.visible) == (0, True)
    assert look(case, tie="best-side").obstruction == case["expected"]["sum"]


@case("hexlos-09")
def _(case):
    sight = look(case)
    assert axial(sight.line[1:-1]) == sorted(case["expected"]["crossed"])
    assert (sight.obstruction, sight.visible) == (
        case["expected"]["sum"],
        case["expected"]["visible"],
    )


@case("hexlos-11")
def _(case):
    # The same line a sixth of a turn on, down the left rim of a map: from (0, 0) two rows down,
    # between (1, 0) and a hex that is not there.
    for tie in ("worst-side", "best-side", "worst-hex", "best-hex", "both"):
        dense = -case["map"]["obstruction"][0]["value"]
        sight = fc.hexes.sight([[0], [dense], [0]], (0, 0), (2, 0), target_hex=False, tie=tie)
        assert sight.obstruction == case["expected"]["sum"]
        assert sight.visible == case["expected"]["visible"]
        assert sight.pairs == []


# ---- Sight on squares --------------------------------------------------------------------------


@case("vision-03")
def _(case):
    row = case["map"]["rows"][0]
    light = [[-4 if character == "d" else 0 for character in row]]
    board = fc.Board([["open"] * len(row)], rules="pathfinder", light=light)
    sight = board.sight((0, row.index("O")), (0, row.index("T")))
    assert sight.visible == case["expected"]["seen"]
    assert (sight.light, sight.malus) == (0, 0)


def opaque(rows: list[str]) -> np.ndarray:
    return np.array([[character == "#" for character in row] for row in rows])


@case("fov-01")
def _(case):
    walls = opaque(case["map"]["rows"])
    found = [fc.grid.sight(walls, at(a), at(b)).visible for a, b in case["query"]["pairs"]]
    assert found == case["expected"]["visible"]
    board = fc.Board.from_rows(
        case["map"]["rows"], {**TERRAIN, "A": "open", "B": "open"}, rules="pathfinder"
    )
    assert [board.sight(at(a), at(b)).visible for a, b in case["query"]["pairs"]] == found


@case("fov-03")
def _(case):
    walls = opaque(case["map"]["rows"])
    cells = np.argwhere(~walls)
    views = fc.grid.views(walls, cells, 20)
    seen = {
        (tuple(a), tuple(b))
        for a, view in zip(cells.tolist(), views, strict=True)
        for b in view.cells.tolist()
        if a != b and not walls[tuple(b)]
    }
    assert sum((b, a) not in seen for a, b in seen) == case["expected"]["asymmetric_pairs"]
    assert len(cells) * (len(cells) - 1) // 2 == case["expected"]["unordered_pairs"]
    assert len(seen) == 2 * case["expected"]["visible_pairs"]


# ---- Budgets and searches ----------------------------------------------------------------------


@case("budget-01")
def _(case):
    cost = costs(case["map"]["rows"], {"S": 1, "a": 0.1, "b": 0.2})
    query = case["query"]
    reach = fc.grid.reach(cost, at(case["map"]["start"]), query["budget"], diagonals="equidistant")
    assert (at(query["to"]) in reach) == case["expected"]["reaches"]
    assert reach.cost_at(at(query["to"])) == query["budget"]


@case("budget-03")
def _(case):
    field = fc.grid.field(case["map"]["rows"], diagonals="illegal")
    start, goal = at(case["map"]["start"]), at(case["map"]["goal"])
    for algorithm in ("dijkstra", "astar", "auto"):
        assert field.path(start, goal, algorithm=algorithm).cost == case["expected"]["cost"]


@case("perf-01")
def _(case):
    height, width = case["map"]["size"]
    cost = np.ones((height, width))
    cost[0:5, 0:5] = math.inf
    cost[1:4, 1:4] = 1
    path = fc.grid.path(cost, at(case["map"]["start"]), at(case["map"]["goal"]))
    assert bool(path) == case["expected"]["reachable"]
    assert path.expanded <= case["expected"]["max_expanded_cells"]


@case("perf-03")
def _(case):
    field = fc.grid.field(np.ones(case["map"]["size"]))
    reach = field.reach(at(case["map"]["start"]), case["query"]["budget"])
    assert len(reach) == case["expected"]["count"]
    assert reach.expanded <= 2 * len(reach)


@case("bad-01")
def _(case):
    path = pathfinder(case).path(*ends(case))
    assert path
    assert (path.cost, len(path)) == (case["expected"]["cost"], 0)
    assert xy(path.cells) == case["expected"]["path"]


@case("bad-03")
def _(case):
    rows = [[float(value) for value in row] for row in case["map"]["rows"]]
    for row, expected in zip(rows, ("nan", "negative", "inf"), strict=True):
        if case["expected"][expected] == "error":
            with pytest.raises(fc.CostError, match=r"cost at \(0, 1\)"):
                fc.grid.field([row], diagonals="equidistant")
        else:
            assert not fc.grid.path([row], (0, 0), (0, 2))
            assert (0, 1) not in fc.grid.reach([row], (0, 0))


@case("bad-05")
def _(case):
    cost = np.ones(case["map"]["size"])
    start, goal = at(case["query"]["from"]), at(case["query"]["to"])
    fields = [fc.grid.field(cost.copy()) for _ in range(3)]
    paths = [field.path(start, goal) for field in fields for _ in range(3)]
    assert all(path == paths[0] for path in paths) == case["expected"]["identical"]
    # The documented rule: walking back, the predecessor in the lowest direction number.
    by_rule = [field.reach(start).path_to(goal) for field in fields]
    assert all(path == by_rule[0] for path in by_rule)
    assert by_rule[0].cost == paths[0].cost


# ---- Bodies (PF-09, PF-10, S5-13) ---------------------------------------------------------------

SIZE = {1: "medium", 2: "large", 3: "huge", 4: "gargantuan"}


def body(size: int, cell: tuple[int, int], **options) -> fc.Token:
    return fc.Token(fc.Creature("body", size=SIZE[size]), cell, side="blue", **options)


@case("large-01")
def _(case):
    """PF-09: whichever system moves it; it may not squeeze here."""
    one, two = case["query"]["cases"]
    for rules in ("pathfinder", "srd5", "skirmish"):
        board = fc.Board.from_rows(case["map"]["rows"], TERRAIN, rules=rules)
        if rules != "skirmish":
            board = board.replace(rules=fc.rules.get(rules, squeeze=False))
        cell = board.rules.cell_ticks / board.rules.ticks
        costs = [
            board.path(body(1, at(one["from"])), at(one["to"])).cost / cell,
            board.path(body(2, at(two["from_anchor"])), at(two["to_anchor"])).cost / cell,
        ]
        assert [null(cost) for cost in costs] == case["expected"]["costs"]


@case("large-03")
def _(case):
    """PF-03, PF-09: the wall lies where the body's corner would pass."""
    query = case["query"]
    board = pathfinder(case)
    path = board.path(body(query["size"], at(query["from_anchor"])), at(query["to_anchor"]))
    assert path.cost == case["expected"]["cost_squares"]
    free = board.replace(rules=fc.rules.get("pathfinder", corners="free"))
    assert free.path(body(3, at(query["from_anchor"])), at(query["to_anchor"])).cost == 1


@case("large-05")
def _(case):
    """S5-05, S5-12: a body is not in its own way."""
    query = case["query"]
    mover = body(query["size"], at(query["from_anchor"]))
    board = fc.Board([["open"] * 4] * 3, rules="srd5", tokens=[mover])
    cost = board.path(mover, at(query["to_anchor"])).cost
    assert cost / 1.5 == case["expected"]["cost_squares"]


@case("large-07")
def _(case):
    """PF-10, S5-13: corridors of some width between walls."""
    rules = {"pathfinder_1e": "pathfinder", "5e": "srd5"}
    for name, expected in case["expected"].items():
        for entry, passes in zip(case["query"]["cases"], expected, strict=True):
            size, width = entry["size"], entry["width"]
            room, corridor = "." * (size + 2), "." * 5
            rows = [room + ("." if row < width else "#") * 5 + room for row in range(size)]
            board = fc.Board.from_rows(rows, TERRAIN, rules=rules[name])
            found = board.path(body(size, (0, 0)), (0, len(room + corridor)))
            assert bool(found) == passes, (name, entry)


@case("large-09")
def _(case):
    """PF-06, PF-09: what it may pass it may not end on, with no part of it."""
    query, rows = case["query"], case["map"]["rows"]
    ally = next((r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x == "A")
    mover = body(query["size"], at(query["from_anchor"]))
    others = [mover, fc.Token("A", ally, side="blue")]
    for rules in ("pathfinder", "srd5", "skirmish"):
        board = fc.Board.from_rows(rows, TERRAIN, rules=rules, tokens=others)
        reach = board.reach(mover, budget=f"{query['budget']} sq")
        columns = sorted(int(col) for _, col in reach.stops)
        assert columns == case["expected"]["anchors_x"]


@case("large-11")
def _(case):
    """HW-15: a body of three hexes keeps its orientation, and needs room everywhere."""
    corridor = [(q, 0) for q in range(6)] + [(q, 1) for q in range(-1, 6)]
    facings = {"A": 1, "B": 0}  # east and south-east of the anchor; north-east and east
    blocked = {tuple(hexagon) for hexagon in case["map"]["blocked_variant"]}
    for name, without in (("open", set()), ("with_block", blocked)):
        rows = [["deep_water"] * (2 * HEX_SHIFT + 1) for _ in range(2 * HEX_SHIFT + 1)]
        for hexagon in corridor:
            if hexagon not in without:
                row, col = on_map(hexagon)
                rows[row][col] = "open"
        board = fc.Board(rows, lattice="odd-r", rules="hexwild")
        for footprint, facing in facings.items():
            query = case["query"][footprint]
            creature = fc.Creature("three hexes", body=3)
            token = fc.Token(creature, on_map(query["from"]), facing=facing)
            covered = board.rules.cells_of(token, board.lattice)
            start = np.array(query["from"])
            shape = [start + offset for offset in case["map"]["footprints"][footprint]]
            assert axial(covered) == sorted(cell.tolist() for cell in shape)
            found = board.path(token, on_map(query["to"]))
            assert null(found.cost) == case["expected"][name][footprint]
    single = board.path(on_map([0, 0]), on_map([4, 0]))
    assert single.cost == case["expected"]["with_block"]["single_hex_along_r0"]


# ---- Seeing in the dark -------------------------------------------------------------------------


@case("vision-01")
def _(case):
    """HW-02: how far one sees in the dark is a radius of the view; the line is another test."""
    clear = hex_map(0.0)
    for i, entry in enumerate(case["query"]["cases"]):
        viewer, target = on_map(case["query"]["observer"]), on_map(entry["target"])
        assert bool(fc.hexes.sight(clear, viewer, target)) == case["expected"]["line_clear"][i]
        radius = HEX_SHIFT if entry["lit"] else entry["darkness_range"]
        view = fc.hexes.view(clear, viewer, radius)
        assert (target in view) == case["expected"]["seen"][i]


# ---- What a step risks -------------------------------------------------------------------------


@case("oa-01")
def _(case):
    """S5-10: and the other way of counting, that of PF-04's game."""
    rows, expected = case["map"]["rows"], case["expected"]
    enemy = next((r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x == "E")
    tokens = [fc.Token("E", enemy, side="red"), fc.Token("S", ends(case)[0], side="blue")]
    for name, rules, attacks in (
        ("5e", "srd5", "attacks"),
        ("pathfinder_1e", "pathfinder", "attacks_by_this_enemy"),
    ):
        board = fc.Board.from_rows(rows, TERRAIN, rules=rules, tokens=tokens)
        path = board.reach(tokens[1]).path_to(ends(case)[1])
        assert xy(path.cells) == case["query"]["path"]
        provoking = [number for number, step in enumerate(path.steps, 1) if step.stakes]
        assert provoking == expected[name]["provoking_steps"]
        assert len(path.attacks) == expected[name][attacks]
        assert {stake.kind for stake in path.stakes} == {"attack"}


# ---- Lattices and tables -----------------------------------------------------------------------


@case("import-05")
def _(case):
    layouts = {"x/odd": "odd-q", "x/even": "even-q", "y/odd": "odd-r", "y/even": "even-r"}
    assert layouts.keys() == case["expected"].keys()
    for setting, expected in case["expected"].items():
        cells = fc.Lattice(layouts[setting]).neighbors(at(case["query"]["of"]))
        assert sorted(xy(cells)) == expected


def table(distances: np.ndarray) -> list[list[float | None]]:
    return [[null(total) for total in row] for row in distances.tolist()]


def second_edition(case: dict[str, Any]) -> Any:
    rows = case["map"]["rows"]
    weights = costs(rows, {**SQUARES, "^": 3, "#": 1})
    return alternating_2e(weights, opaque(rows))


@case("table-01")
def _(case):
    rows, expected = case["map"]["rows"], case["expected"]
    start = at(case["map"]["start"])
    cost = costs(rows)
    names = {
        "pathfinder_1e_difficult_diagonal_advances": {"parity": "advances"},
        "pathfinder_1e_difficult_diagonal_is_a_pair": {"parity": "carry"},
        "5e": {"diagonals": "equidistant"},
    }
    for name, options in names.items():
        assert table(fc.grid.distances(cost, start, **options)) == expected[name], name
    for parity, name in list(zip(("advances", "carry"), names, strict=False)):
        reach = pathfinder(case, parameters={"parity": parity}).reach(start)
        assert table(reach.to_array()) == expected[name]
    assert table(second_edition(case).distances(start)) == expected["pathfinder_2e"]
    # Doubling the alternated step ("5e_optional_diagonals_doubling") is no rule of ours.
    assert len(names) + 2 == len(expected)


@case("table-02")
def _(case):
    tables = case["others"]["table-01"]["expected"]
    start = at(case["map"]["start"])
    cost = costs(case["map"]["rows"])
    halves = {
        "pathfinder_2e": second_edition(case).distances(start),
        "pathfinder_1e_difficult_diagonal_is_a_pair": fc.grid.distances(
            cost, start, parity="carry"
        ),
    }
    assert halves.keys() == set(case["expected"]["equals"])
    for name, distances in halves.items():
        assert table(distances) == tables[name]
    name = "pathfinder_1e_difficult_diagonal_advances"
    assert table(fc.grid.distances(cost, start, parity="carry")) != tables[name]
    # In half squares: straight 2, diagonal 3 times the weight, the half that is left dropped.
    plain = fc.grid.distances(2 * cost, start, diagonals="approximate")
    np.testing.assert_array_equal(
        np.floor(plain / 2), halves["pathfinder_1e_difficult_diagonal_is_a_pair"]
    )


@case("table-03")
def _(case):
    cost = hex_map(math.inf)
    for entry in case["map"]["enter_cost"]:
        if entry["cost"] is not None:
            cost[on_map(entry["hex"])] = entry["cost"]
    reach = fc.hexes.reach(cost, on_map(case["map"]["start"]))
    found = {
        tuple(axial([cell])[0]): total
        for cell, total in zip(reach.cells.tolist(), reach.cost.tolist(), strict=True)
    }
    expected = {tuple(entry["hex"]): entry["cost"] for entry in case["expected"]["distances"]}
    assert found == expected


@case("budget-05")
def _(case):
    query = case["query"]
    ((way, n_squares, terrain),) = query["used"]
    assert way == "walk"
    board = fc.Board([["open", *[terrain] * n_squares]], rules="srd5")
    speeds = {mode: f"{squares} sq" for mode, squares in query["speeds"].items()}
    reach = board.reach((0, 0), creature=fc.Creature("climber", speed=speeds))
    assert reach.left_at((0, n_squares)) == case["expected"]


@case("batch-01")
def _(case):
    rows, query = case["map"]["rows"], case["query"]
    closed = opaque(rows)
    field = fc.grid.field(costs(rows), diagonals="equidistant")
    speeds = {enemy["speed"] for enemy in query["enemies"]}
    assert len(speeds) == 1
    starts = [at(enemy["at"]) for enemy in query["enemies"]]
    reaches = field.reach_many(starts, speeds.pop())
    assert [len(reach) for reach in reaches] == case["expected"]["reach_counts"]
    threatened = {
        cell
        for reach in reaches
        for row, col in reach.cells.tolist()
        for cell in fc.Lattice("square").disc((row, col), query["reach"])
    }
    inside = [c for c in threatened if 0 <= c[0] < closed.shape[0] and 0 <= c[1] < closed.shape[1]]
    open_ = [cell for cell in inside if not closed[cell]]
    assert len(open_) == case["expected"]["threatened_open_squares"]


@pytest.mark.parametrize("name", TESTED)
def test_field_case(name, cases):
    TESTED[name](cases[name] | {"others": cases})

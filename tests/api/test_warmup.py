"""What `warmup` compiles is all that ordinary questions need, once each."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

import fieldcraft as fc

COUNT = """
import importlib, json, pkgutil
import fieldcraft_kernel
from numba.core.dispatcher import Dispatcher

def compiled():
    found = {}
    for module in pkgutil.iter_modules(fieldcraft_kernel.__path__, "fieldcraft_kernel."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Dispatcher):
                found[f"{value.__module__}.{value.__name__}"] = len(value.signatures)
    return found
"""


def run(code: str) -> dict:
    code = COUNT + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_progress_is_told_in_order():
    told = []
    asked = fc.warmup(lambda *step: told.append(step))
    assert [done for done, _, _ in told] == list(range(asked + 1))
    assert {total for _, total, _ in told} == {asked}
    names = [name for _, _, name in told]
    assert names[-1] == ""
    assert len(set(names)) == len(names)


@pytest.mark.jit_only
def test_nothing_is_compiled_after_a_warmup():
    """Other shapes, starts, budgets, batches, threads, terrain and copies."""
    found = run(
        """
        import pickle
        import numpy as np
        import fieldcraft as fc

        fc.warmup()
        before = compiled()
        rng = np.random.default_rng(0)
        for shape in ((9, 14), (1, 7), (40, 3)):
            cost = rng.integers(1, 4, shape)
            closed = rng.random(shape) < 0.1
            closed[0, 0] = False
            made = [
                fc.grid.field(cost, closed=closed, diagonals=rule)
                for rule in ((70, 99), "equidistant", "alternating", "exact", "illegal")
            ]
            made += [fc.hexes.field(cost, layout=layout) for layout in ("odd-r", "even-q")]
            made += [pickle.loads(pickle.dumps(field)) for field in made]
            goal = (shape[0] - 1, shape[1] - 1)
            for field in made:
                reach = field.reach((0, 0), 5)
                reach.path_to(reach.stops[-1].tolist())
                field.reach([(0, 0)], 5.0, initial=[1])
                field.distances((0, 0))
                field.path((0, 0), goal)
                field.path((0, 0), fc.within(1, goal), algorithm="dijkstra")
                field.reach_many([(0, 0)] * 40, 3)
                field.paths([((0, 0), goal)] * 3)
                field.reaches(3).count
                next(field.reaches(2).blocks())
            fc.grid.view(closed, (0, 0), 9)
            fc.grid.sights(closed, [((0, 0), goal)] * 5)
            fc.grid.views(closed, radius=3).count
            fc.hexes.view(cost, (0, 0), 9)
            fc.hexes.view(cost, (0, 0), 300)
            fc.hexes.sights(cost, [((0, 0), goal)] * 5).visible
            next(fc.hexes.views(cost, None, 3, layout="even-q").blocks()).malus
            wide = fc.grid.field(np.ones((60, 60)))
            wide.reach((30, 30))
            [wide.path((0, 0), (59, i % 60)) for i in range(50)]
            stack = np.stack([cost, cost])
            fc.grid.distances(stack, [(0, 0), goal], diagonals="equidistant")
            fc.hexes.distances(stack, [(0, 0), goal], budget=4)
            fc.grid.views(stack > 2, [(0, 0), goal], 3)
        board = fc.Board.from_rows(
            [".f~.", "..F.", "...."],
            {".": "open", "f": "light_forest", "F": "heavy_forest", "~": "mud"},
            lattice="even-q", rules="hexwild",
            tokens=[fc.Token(fc.Creature("a", speed=6), (0, 0), side="x"),
                    fc.Token(fc.Creature("b", size="large", speed=6), (2, 3), side="y")],
        )
        for token in board.tokens:
            board.reach(token)
            board.path(token, (1, 1))
            board.view(token, 5)
        board.sight(*board.tokens)
        from fieldcraft.encounters import Combatant, Encounter, Encounters, Profile
        from fieldcraft.encounters.scoring import score_arrays
        profile = Profile("a", board.tokens[0].creature, (fc.tactics.Weapon("bow", 3),))
        for cells in ([(0, 0), (2, 3)], [(0, 0), (1, 1), (2, 3)]):
            who = tuple(Combatant("a", str(i), cell) for i, cell in enumerate(cells))
            many = Encounters.of([Encounter("x", who)], [profile])
            score_arrays(many, {"x": board.replace(tokens=[])})
        after = compiled()
        print(json.dumps({k: [before[k], after[k]] for k in after if before[k] != after[k]}))
        """
    )
    assert found == {}


@pytest.mark.jit_only
def test_ordinary_kernels_are_compiled_once():
    """Those of plain graphs once for bare ones and once for those with dues, at most."""
    found = run("import fieldcraft as fc\nfc.warmup()\nprint(json.dumps(compiled()))")
    twice = ["flood.flood_reach", "flood.flood_list", "flood.reach_each", "astar.path_of"]
    twice += [
        "astar.path_between",
        "astar.path_each",
        "walk.way_to",
        "search.search",
    ]  # the last for ticks and for floats
    once = ["flood.take_costs", "flood.take_states", "plain.pack", "plain.keep_needed"]
    counts = {name: found[f"fieldcraft_kernel.{name}"] for name in (*twice, *once)}
    assert counts == {name: 2 if name in twice else 1 for name in counts}

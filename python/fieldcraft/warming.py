"""Compiling everything beforehand: `warmup`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from fieldcraft import grid, hexes
from fieldcraft.board import Board
from fieldcraft.creature import Creature, Token
from fieldcraft.reaches import Reaches
from fieldcraft.sight_field import SightField
from fieldcraft.step_field import StepField
from fieldcraft.turns import TurnMap, TurnMover

__all__ = ["warmup"]

Progress = Callable[[int, int, str], object]
Step = tuple[str, Callable[[], object]]

SIDE = 6
TWOS = 1 + np.arange(SIDE * SIDE).reshape(SIDE, SIDE) % 2
START, GOAL = (0, 0), (SIDE - 1, SIDE - 1)


def warmup(progress: Progress | None = None) -> int:
    """Compile the kernels, or load those compiled before: a question of every kind is asked.

    Compiled code is kept on disk, so this is for the first time after an installation, or in the
    building of a container: no question compiles anything afterwards.

    Parameters
    ----------
    progress : callable, optional
        Called before each step, and at the end, with the number of steps done, the number of all
        of them, and what comes next.

    Returns
    -------
    int
        How many kinds of question were asked.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> fc.warmup() > 10
    True
    """
    steps = [*_arrays(), *_boards()]
    for done, (name, ask) in enumerate(steps):
        if progress is not None:
            progress(done, len(steps), name)
        ask()
    if progress is not None:
        progress(len(steps), len(steps), "")
    return len(steps)


def _arrays() -> list[Step]:
    """Return questions about arrays: plain graphs, alternating ones, floats, and views."""
    steps: list[Step] = []
    fields: dict[str, Callable[[], StepField]] = {
        "squares": partial(grid.field, TWOS, diagonals=(70, 99)),
        "alternating diagonals": partial(grid.field, TWOS, diagonals="alternating"),
        "exact diagonals": partial(grid.field, TWOS, diagonals="exact"),
        "hexes": partial(hexes.field, TWOS),
    }
    questions: dict[str, Callable[[StepField], object]] = {
        "reach": lambda field: field.reach(START, 4).path_to((1, 1)),
        "reach of several": lambda field: field.reach([START, GOAL], 4).path_to((1, 1)),
        "distances": lambda field: field.distances([START, GOAL]),
        "path": lambda field: field.path(START, GOAL, algorithm="astar"),
        "path to several": lambda field: field.path(START, [GOAL, (1, 1)]),
        "many paths": lambda field: field.paths([(START, GOAL)], algorithm="astar"),
        "many reaches": lambda field: field.reach_many([START, GOAL], 3),
        "reach from every cell": lambda field: _counted(field.reaches(2)),
    }
    stakes = np.ones(TWOS.shape, np.int64)
    for name, make in fields.items():
        for question, ask in questions.items():
            steps.append((f"{name}: {question}", partial(_asked, make, ask)))
    ones = np.ones_like(TWOS)
    even = partial(grid.field, ones, diagonals="equidistant")
    return [
        *steps,
        ("safest ways", lambda: fields["squares"]().safest(START, 4, stakes).path_to((1, 1))),
        ("large reach", lambda: grid.field(np.ones((50, 50))).reach(START)),
        ("long path", lambda: grid.field(np.ones((1, 3000))).path((0, 0), (0, 2999))),
        ("one price: path", lambda: even().path(START, GOAL, algorithm="jps")),
        ("one price: distances", lambda: even().distances(START)),
        ("one price: reach from every cell", lambda: _counted(even().reaches(300))),
        ("squares: stack of maps", lambda: grid.distances([TWOS], [START], diagonals=(70, 99))),
        ("hexes: stack of maps", lambda: hexes.distances([TWOS], [START])),
        *_seeing("squares", partial(grid.sight_field, TWOS > 1)),
        *_seeing("hexes", partial(hexes.sight_field, TWOS)),
        *_seeing("hexes, far sums", partial(hexes.sight_field, TWOS, threshold=100)),
        ("squares: stack of views", lambda: grid.views([TWOS > 1], [START], 3)),
        ("hexes: stack of views", lambda: hexes.views([TWOS], [START], 3)),
        ("turns of many", _turns),
    ]


def _turns() -> object:
    """Score turns on a map, with what lies between all its cells, and between a few and all."""
    field, sight = hexes.field(TWOS), hexes.sight_field(TWOS % 2)
    kind = np.ones((*TWOS.shape, 6), np.uint16)
    mover = TurnMover(field, 4, [3], [None], 0, kind, np.arange(2)[None])
    found = []
    for n in (2, 6):
        game = TurnMap({(0, 0): sight})
        cells, some = np.stack([np.arange(n)] * 2, axis=1), np.arange(n)
        crowd = game.crowd(
            first=np.array([0, n]), cells=cells, side=some % 2, eye=0 * some, looks=some >= 0,
            light=np.zeros(1), foes=np.eye(2) == 0,
        )  # fmt: skip
        found.append((game.turns(crowd, mover, np.array([[0, 0, 0]])), game.pairs(crowd)))
    return found


def _counted(reaches: Reaches) -> object:
    return reaches.count, reaches.visitors, list(reaches.blocks())


def _seeing(name: str, make: Callable[[], SightField]) -> list[Step]:
    """Return questions about sight."""
    far = [(START, GOAL), (START, (0, 1))]
    return [
        (f"{name}: view", lambda: make().view(START, 4).cells),
        (f"{name}: far view", lambda: make().view(START, 200).cells),
        (f"{name}: views", lambda: make().views([START, GOAL], 3)[0].cells),
        (f"{name}: sight", lambda: make().sight(START, GOAL)),
        (f"{name}: sight lines", lambda: make().sights(far).malus),
        (
            f"{name}: every view",
            lambda: (
                make().views(None, 3).count,
                *(block.malus for block in make().views(radius=2).blocks()),
            ),
        ),
    ]


def _asked(make: Callable[[], StepField], ask: Callable[[StepField], object]) -> object:
    return ask(make())


def _boards() -> list[Step]:
    """Return questions about boards of each system: large bodies, several speeds, heights."""
    steps: list[Step] = []
    lattices = {"hexwild": "odd-r", "pathfinder": "square", "srd5": "square", "skirmish": "square"}
    for system, lattice in lattices.items():
        board = Board(
            [["open"] * SIDE] * SIDE, lattice=lattice, rules=system,
            elevation=np.where(np.eye(SIDE) > 0, 1.0, 0.0),
            tokens=[
                Token(Creature("large", size="large", speed=6), (2, 2), side="red"),
                Token(Creature("small", speed={"walk": 6, "fly": 6}), (0, 4), side="blue"),
            ],
        )  # fmt: skip
        large, small = board.tokens
        steps += [
            (f"{system}: reach of a large body", partial(board.reach, large)),
            (f"{system}: reach by several speeds", partial(board.reach, small)),
            (f"{system}: path", partial(board.path, small, (5, 5))),
            (f"{system}: sight", partial(board.sight, large, small)),
            (f"{system}: view", partial(board.view, small, 4)),
        ]
    return steps

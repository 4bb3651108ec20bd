"""What each command does once its arguments are read: ask the board, print the answer."""

from __future__ import annotations

import json as json_
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fieldcraft.cli._escape import visible
from fieldcraft.cli._text import PLACE_MARK, STEP_MARK, Line, MapText, Screen, spot, table
from fieldcraft.lattice import Cell
from fieldcraft.path import amount

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fieldcraft.board import Board
    from fieldcraft.cli._who import Who
    from fieldcraft.io import ScenarioRow
    from fieldcraft.path import Path
    from fieldcraft.reach import Reach
    from fieldcraft.sight import Sight, View

__all__ = ["demo", "path", "reach", "sight", "verify", "view"]

MOST_ROWS = 20
"""How many rows a table has before it ends in "and so many more"."""
BATCH = 250
"""Rows of a scenario computed between two looks at the progress bar, and at Ctrl-C."""


def demo(*, plot: str | None) -> int:
    """Play one turn of the skirmish that comes along."""
    from fieldcraft.cli import _demo

    turn = _demo.play()
    if plot is not None:
        _save(plot, turn.board, turn.title, reach=turn.reach, path=turn.path, sight=turn.sight)
    screen = Screen()
    screen.show(_demo.report(turn, screen.width))
    _say_drawn(screen, plot)
    return 0


def reach(
    map_: str,
    rules: str | None,
    from_: str,
    budget: str | None,
    who: Who,
    *,
    parity: int,
    json: bool,
    plot: str | None,
) -> int:
    """Print which cells a creature gets to, and at what price."""
    board = who.on(read_board(map_, rules))
    start = board.parse_cell(from_)
    board, mover = who.at(board, start, far=budget is None)
    found = board.reach(mover, budget=budget, parity=parity)
    _save(plot, board, f"reach from {spot(start)}", reach=found)
    if json:
        cells = zip(found.cells.tolist(), found.cost.tolist(), found.can_stop.tolist(), strict=True)
        return print_json(
            {
                "count": len(found),
                "cells": [{"cell": cell, "cost": cost, "stop": stop} for cell, cost, stop in cells],
            }
        )
    screen = Screen()
    screen.show(_reach_text(board, start, found, screen.width))
    _say_drawn(screen, plot)
    return 0


def path(
    map_: str,
    rules: str | None,
    from_: str,
    to: str,
    budget: str | None,
    who: Who,
    *,
    parity: int,
    json: bool,
    plot: str | None,
) -> int:
    """Print a cheapest path; the code is 1 where there is no way."""
    board = who.on(read_board(map_, rules))
    start, goal = board.parse_cell(from_), board.parse_cell(to)
    board, mover = who.at(board, start)

    def ask(*, stop: bool) -> Path:
        return board.path(mover, goal, budget=budget, parity=parity, stop=stop)

    found = ask(stop=True)
    _save(plot, board, f"path from {spot(start)} to {spot(goal)}", path=found)
    if json:
        print_json(
            {
                "cost": found.cost if found else None,
                "cells": found.cells.tolist(),
                "steps": [
                    {"to": list(step.to), "cost": step.cost, "why": step.why}
                    | ({"stakes": list(map(str, step.stakes))} if step.stakes else {})
                    for step in found.steps
                ],
            }
        )
        return 0 if found else 1
    screen = Screen()
    if found:
        screen.show(_path_text(board, found, screen.width))
    else:
        within = "" if budget is None else f" within {budget}"
        screen.show(f"There is no way from {spot(start)} to {spot(goal)}{within}.")
        if ask(stop=False):
            screen.show("The cell can be entered, but nobody may stop there.")
    _say_drawn(screen, plot)
    return 0 if found else 1


def sight(
    map_: str,
    rules: str | None,
    from_: str,
    to: str,
    who: Who,
    *,
    light: int | None,
    json: bool,
    plot: str | None,
) -> int:
    """Print whether and how well a target is seen."""
    board = who.on(read_board(map_, rules))
    viewer, target = board.parse_cell(from_), board.parse_cell(to)
    board, looking = who.at(board, viewer)
    found = board.sight(looking, target, light=light)
    _save(plot, board, f"sight from {spot(viewer)} to {spot(target)}", sight=found)
    if json:
        return print_json(
            {
                "visible": found.visible,
                "obstruction": found.obstruction,
                "light": found.light,
                "malus": found.malus,
                "spell_failure": found.spell_failure,
                "line": found.line.tolist(),
                "pairs": [[list(left), list(right)] for left, right in found.pairs],
            }
        )
    screen = Screen()
    screen.show(_sight_text(board, found, screen.width))
    _say_drawn(screen, plot)
    return 0


def view(
    map_: str,
    rules: str | None,
    from_: str,
    radius: int,
    who: Who,
    *,
    light: int | None,
    json: bool,
    plot: str | None,
) -> int:
    """Print everything that is seen from a cell."""
    board = who.on(read_board(map_, rules))
    viewer = board.parse_cell(from_)
    board, looking = who.at(board, viewer)
    found = board.view(looking, radius, light=light)
    _save(plot, board, f"view from {spot(viewer)} within {radius}", view=found)
    if json:
        cells = zip(found.cells.tolist(), found.maluses.tolist(), strict=True)
        return print_json(
            {
                "count": len(found),
                "cells": [{"cell": cell, "malus": malus} for cell, malus in cells],
            }
        )
    screen = Screen()
    screen.show(_view_text(board, found, screen.width))
    _say_drawn(screen, plot)
    return 0


def verify(map_: str, scenario: str, *, json: bool) -> int:
    """Recompute a scenario; the code is 1 where a row differs from the published length."""
    from fieldcraft.io import read_scenario

    board = read_board(map_, "octile")
    rows = read_scenario(scenario)
    rows.check(board)
    wrong = []
    for row, cost in zip(rows, _recomputed(board, rows.rows), strict=True):
        # Also false for infinity: no way.
        if not abs(cost - row.length) <= row.tolerance:
            wrong.append((row, cost))
    if json:
        mismatches = [
            {
                "line": row.line,
                "start": list(row.start),
                "goal": list(row.goal),
                "published": row.length,
                "computed": cost if math.isfinite(cost) else None,
            }
            for row, cost in wrong
        ]
        matched = len(rows) - len(wrong)
        print_json({"rows": len(rows), "matched": matched, "mismatches": mismatches})
        return 1 if wrong else 0
    Screen().show(_verify_text(map_, scenario, len(rows), wrong))
    return 1 if wrong else 0


def _recomputed(board: Board, rows: Sequence[ScenarioRow]) -> Iterable[float]:
    """Return the length of a shortest path for each row, with a progress bar on a terminal."""
    costs: list[float] = []
    tick = _progress(len(rows))
    try:
        for begin in range(0, len(rows), BATCH):
            batch = rows[begin : begin + BATCH]
            costs += [found.cost for found in board.paths([(row.start, row.goal) for row in batch])]
            tick(len(batch))
    finally:
        tick(None)
    return costs


def warmup() -> int:
    """Compile the kernels, with a progress bar on a terminal, and say what was done."""
    from fieldcraft.warming import warmup as compile_all

    bar: Callable[[int | None], None] | None = None

    def show(done: int, total: int, name: str) -> None:
        nonlocal bar
        if bar is None:
            bar = _progress(total, "compiling")
        elif done:
            bar(1)

    begin = time.perf_counter()
    try:
        asked = compile_all(show)
    finally:
        if bar is not None:
            bar(None)
    print(f"{asked} kinds of question asked in {time.perf_counter() - begin:.1f} s.")
    return 0


def _progress(total: int, what: str = "verifying") -> Callable[[int | None], None]:
    """Return what to call with the steps done, and with None at the end."""
    from fieldcraft.cli._text import is_terminal

    if not is_terminal(sys.stderr):
        return lambda _: None
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(file=sys.stderr, force_terminal=True), transient=True)
    task = bar.add_task(what, total=total)
    bar.start()
    return lambda done: bar.stop() if done is None else bar.advance(task, done)


# -- reading, drawing, printing ---------------------------------------------------------------


def read_board(map_: str, rules: str | None) -> Board:
    """Return the board of a file; what looks odd in it becomes a line on standard error."""
    from fieldcraft.io import FieldcraftWarning, read

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FieldcraftWarning)
        board = read(map_, rules=rules)
    for warning in caught:
        text = " ".join(str(warning.message).split())
        print(f"fieldcraft: warning: {visible(text)}", file=sys.stderr)
    return board


def _save(plot: str | None, board: Board, title: str, **answers: Any) -> None:
    """Draw the answers to a file, if one is wanted."""
    if plot is None:
        return
    from fieldcraft import plot as plot_

    name = f"{board.name}: {title}" if board.name else title
    plot_.save(plot_.draw(board, title=name, **answers), plot)


def _say_drawn(screen: Screen, plot: str | None) -> None:
    if plot is not None:
        screen.show(f"Drawn to {plot}.")


def print_json(answer: dict[str, Any]) -> int:
    print(json_.dumps(answer, allow_nan=False))
    return 0


# -- text for people --------------------------------------------------------------------------


def _reach_text(board: Board, start: Cell, found: Reach, width: int) -> list[Line]:
    cells, costs = pairs_of(found.cells), found.cost.tolist()
    marks = {} if board.token_at(start) else {start: PLACE_MARK}
    unit = board.rules.unit
    budget = "without a limit" if math.isinf(found.budget) else f"for {amount(found.budget)} {unit}"
    rest = f" ({found.rest} left over)" if found.rest else ""
    text = [f"{counted(len(found), 'cell')} within reach of {spot(start)} {budget}{rest}."]
    passed = int((~found.can_stop).sum())
    if passed:
        text.append(f"On {passed} of them nobody may stop; their price has a bracket.")
    by_cost: dict[str, list[str]] = {}
    for cell, cost in zip(cells, costs, strict=True):
        by_cost.setdefault(amount(cost), []).append(spot(cell))
    rows = [(cost, len(some), _some(some)) for cost, some in by_cost.items()]
    return as_lines(
        [
            *MapText(board, price_labels(found), marks, set(cells), [start, *cells]).lines(width),
            "",
            *text,
            *_table((unit, "cells", "which"), rows, f"{unit} cells"),
        ]
    )


def _path_text(board: Board, found: Path, width: int) -> list[Line]:
    cells = pairs_of(found.cells)
    lines = MapText(board, {}, dict.fromkeys(cells, STEP_MARK), None, cells).lines(width)
    unit = board.rules.unit
    ends = f"From {spot(cells[0])} to {spot(cells[-1])}"
    text = f"{ends} in {counted(len(found), 'step')} for {amount(found.cost)} {unit}."
    risks = found.explain().at_stake()
    return as_lines([*lines, "", text, *step_table(found, unit), *risks])


def step_table(found: Path, unit: str) -> list[Line]:
    """Return the steps of a path: cell, price, why; long paths are cut."""
    total, rows = 0.0, []
    for number, step in enumerate(found.steps, 1):
        total += step.cost
        rows.append((number, spot(step.to), amount(step.cost), amount(total), step.why))
    return (
        _table(("step", "cell", unit, "total", "why"), rows, f"step {unit} total") if rows else []
    )


def _sight_text(board: Board, found: Sight, width: int) -> list[Line]:
    cells = pairs_of(found.line)
    beside = [cell for pair in found.pairs for cell in pair]
    marks = dict.fromkeys([*cells, *beside], STEP_MARK)
    lines = MapText(board, {}, marks, None, [*cells, *beside]).lines(width)
    ends = f"{spot(found.target)} from {spot(found.viewer)}"
    answer = f"{ends} is seen: " if found else f"{ends} is hidden: "
    rows = [(spot(cell), ground_name(board, cell)) for cell in cells]
    return as_lines(
        [*lines, "", answer + because(board, found) + ".", *_table(("cell", "ground"), rows, "")]
    )


def _view_text(board: Board, found: View, width: int) -> list[Line]:
    cells = pairs_of(found.cells)
    maluses = found.maluses.tolist()
    labels = {cell: str(malus) for cell, malus in zip(cells, maluses, strict=True)}
    marks = {} if board.token_at(found.viewer) else {found.viewer: PLACE_MARK}
    lines = MapText(board, labels, marks, set(cells), [found.viewer, *cells]).lines(width)
    rows = sorted(Counter(maluses).items(), reverse=True)
    text = f"{counted(len(found), 'cell')} seen from {spot(found.viewer)} within {found.radius}."
    return as_lines([*lines, "", text, *_table(("malus", "cells"), rows, "malus cells")])


def _verify_text(
    map_: str, scenario: str, n_rows: int, wrong: Sequence[tuple[ScenarioRow, float]]
) -> list[Line]:
    matched = n_rows - len(wrong)
    text = f"{scenario} on {map_}: {n_rows} rows, {matched} matched, {len(wrong)} mismatched."
    lines: list[Line] = as_lines([text])
    if wrong:
        rows = [
            (row.line, spot(row.start), spot(row.goal), row.printed, _full(cost))
            for row, cost in wrong
        ]
        titles = ("line", "start", "goal", "published", "computed")
        lines += _table(titles, rows, "line published computed")
    return lines


def because(board: Board, sight: Sight) -> str:
    """Return why a target is seen so well, or is not seen."""
    if sight.obstruction is None:
        last = list(sight.explain())[-1]
        if last.ends in ("opaque", "height"):
            return f"{ground_name(board, last.cell)} at {spot(last.cell)} ends the line"
        return f"the {last.ends} at {spot(last.cell)} ends the line"
    if not sight.visible:
        threshold = getattr(board.rules, "threshold", None)
        limit = f", and {-threshold} or worse hides" if threshold is not None else ""
        return f"obstruction {sight.obstruction}{limit}"
    if sight.malus == 0:
        return "malus 0"
    parts = [f"obstruction {sight.obstruction}"] if sight.obstruction else []
    parts += [f"light {sight.light}"] if sight.light else []
    text = f"malus {sight.malus} ({', '.join(parts)})"
    if sight.spell_failure:
        text += f", a spell fails {amount(100 * sight.spell_failure)} %"
    return text


def ground_name(board: Board, cell: Cell) -> str:
    """Return what a cell holds, in words."""
    return " + ".join(board.rules.table.find(id_).name for id_ in board.terrain.kind(cell))


def pairs_of(cells: npt.NDArray[np.int64]) -> list[Cell]:
    """Return an array of cells as a list."""
    return [(row, col) for row, col in cells.tolist()]


def price_labels(reach: Reach) -> dict[Cell, str]:
    """Return the price of each cell of a reach, with a bracket where nobody may stop."""
    return {
        cell: ("" if stop else "(") + short(cost)
        for cell, cost, stop in zip(
            pairs_of(reach.cells), reach.cost.tolist(), reach.can_stop.tolist(), strict=True
        )
    }


def counted(n: int, word: str) -> str:
    """Return how many there are of something."""
    return f"{n} {word}" + ("" if n == 1 else "s")


def short(cost: float) -> str:
    """Return a price that fits a cell of a map."""
    return f"{cost:.1f}".removesuffix(".0")


def as_lines(lines: Iterable[Line | str]) -> list[Line]:
    """Return lines, plain text among them turned into lines."""
    return [[(line, "")] if isinstance(line, str) else line for line in lines]


def _table(titles: Sequence[str], rows: Sequence[Sequence[Any]], right: str) -> list[Line]:
    """Return a table of the first rows, and how many more there are."""
    lines = table(titles, rows[:MOST_ROWS], right)
    if len(rows) > MOST_ROWS:
        lines.append([(f"  and {len(rows) - MOST_ROWS} more (--json has all)", "italic")])
    return lines


def _some(words: Sequence[str], most: int = 8) -> str:
    return " ".join(words[:most]) + (" ..." if len(words) > most else "")


def _full(cost: float) -> str:
    return f"{cost:.8f}" if math.isfinite(cost) else "no way"

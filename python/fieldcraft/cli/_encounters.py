"""The commands of ``fieldcraft encounters``: make very many, analyse them, sum them up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldcraft.cli._commands import print_json, read_board
from fieldcraft.cli._text import Line, Screen
from fieldcraft.errors import MapError

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.encounters.run import Run

__all__ = ["analyse", "generate", "summary"]

MOST_REJECTS = 3
"""So many rows that were set aside are told one by one."""


def generate(
    count: int,
    seed: int,
    out: str,
    boards: Sequence[str],
    *,
    rules: str | None,
    tokens: int | None,
    json: bool,
) -> int:
    """Make random encounters and write them to a file."""
    from fieldcraft import encounters

    options: dict[str, Any] = {} if tokens is None else {"tokens": tokens}
    if boards:
        options["boards"] = _boards(boards, rules)
    elif rules is not None:
        options["rules"] = rules
    made = encounters.generate(count, seed, **options)
    encounters.write(made.encounters, out, boards=made.boards)
    n_tokens = int(made.encounters.first[-1])
    names = list(made.encounters.boards)
    if json:
        return print_json(
            {"file": out, "encounters": len(made.encounters), "tokens": n_tokens, "boards": names}
        )
    what = f"{many(len(made.encounters), 'encounter')} of {many(n_tokens, 'token')}"
    Screen().show(f"{what} on {many(len(names), 'board')} written to {out}.")
    return 0


def analyse(
    file: str, out: str, *, workers: int | None, part_size: int | None, on_error: str, json: bool
) -> int:
    """Analyse a file of encounters into a folder, and tell what was set aside."""
    from fieldcraft import encounters

    options: dict[str, Any] = {} if part_size is None else {"part_size": part_size}
    run = encounters.analyse_to(file, out, workers=workers, on_error=on_error, **options)
    return _report(run, file, out, json=json)


def summary(folder: str, *, json: bool, plot: str | None) -> int:
    """Print what the encounters of a run are like, and draw it."""
    from fieldcraft import encounters

    found = encounters.summary(folder)
    if plot is not None:
        from fieldcraft import plot as plot_

        title = f"{Path(folder).name}: {found.encounters:,} encounters, {found.tokens:,} tokens"
        plot_.save(plot_.encounters(found, title=title), plot)
    if json:
        return print_json(found.to_dict())
    screen = Screen()
    screen.show(_titled(str(found)))
    if plot is not None:
        screen.show(f"Drawn to {plot}.")
    return 0


# -- reading, and text for people -------------------------------------------------------------


def _boards(files: Sequence[str], rules: str | None) -> dict[str, Board]:
    """Return the boards of files by the names of these, without their suffixes."""
    found: dict[str, Board] = {}
    for file in files:
        name = Path(file).stem
        if name in found:
            raise MapError(f"two boards are named {name!r}: {file} and another; rename one")
        found[name] = read_board(file, rules)
    return found


def _report(run: Run, file: str, out: str, *, json: bool) -> int:
    """Print what a run has come to, and what was set aside."""
    from fieldcraft.encounters.summaries import rejected

    rejects = {f"{out.rstrip('/')}/{name}": n for name, n in rejected(run).items()}
    total = sum(rejects.values())
    analysed = run.n_encounters - total
    if json:
        return print_json(
            {
                "out": out,
                "encounters": analysed,
                "parts": run.n_parts,
                "skipped": run.skipped,
                "rejected": total,
                "rejects": list(rejects),
            }
        )
    before = f", {run.skipped:,} of them there before" if run.skipped else ""
    lines = [f"{many(analysed, 'encounter')} in {many(run.n_parts, 'part')} of {out}{before}."]
    if total:
        more = f" and {many(len(rejects) - 1, 'other file')}" if len(rejects) > 1 else ""
        lines.append(f"{many(total, 'row')} of {file} set aside, in {next(iter(rejects))}{more}:")
        lines += _first_rejects(run, total)
    Screen().show(lines)
    return 0


def _first_rejects(run: Run, total: int) -> list[str]:
    """Return what is wrong with the first rows that were set aside."""
    from fieldcraft.encounters.summaries import first_rejects

    found = first_rejects(run, MOST_REJECTS)
    lines = [f"  row {reject.row}: {'; '.join(map(str, reject.faults))}" for reject in found]
    return lines if total == len(lines) else [*lines, f"  and {total - len(lines):,} more"]


def many(n: int, word: str) -> str:
    """Return how many there are, with commas between thousands."""
    return f"{n:,} {word}" + ("" if n == 1 else "s")


def _titled(text: str) -> list[Line]:
    """Return lines with those bold that are not indented: titles."""
    return [[(line, "" if line.startswith(" ") else "bold")] for line in text.splitlines()]

"""How far a run is: a bar on a terminal, or a call of one's own."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from fieldcraft.errors import ArgumentTypeError

__all__ = ["Progress", "shown"]

Progress: TypeAlias = Callable[[int, int], object] | bool | None
"""A call with the encounters done and all of them; True or None: a bar on a terminal."""


@contextlib.contextmanager
def shown(progress: Progress, done: int, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far it is, and hand out what is to be called with the encounters done.

    Parameters
    ----------
    progress : callable, bool or None
    done, total : int
        Where it begins, and where it ends.
    """
    if callable(progress):
        tell = progress
        tell(done, total)
        yield lambda now: _ignore(tell(now, total))
        return
    if progress is not None and not isinstance(progress, bool):
        raise ArgumentTypeError(f"progress must be a function, True or False, not {progress!r}")
    bar = _bar() if progress is not False else None
    if bar is None:
        yield lambda now: None
        return
    with bar:
        task = bar.add_task("encounters", total=total, completed=done)
        yield lambda now: _ignore(bar.update(task, completed=now))


def _ignore(result: object) -> None:
    """Make nothing of what a call returns."""


def _bar() -> Any:
    """Return a bar on standard error, or None where that is no terminal or rich is missing."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        return None

    class Rate(progress.ProgressColumn):
        """Encounters a second."""

        def render(self, task: Any) -> str:
            return "" if not task.speed else f"{task.speed:,.0f}/s"

    return progress.Progress(
        progress.TextColumn("{task.completed:,} of {task.total:,} encounters"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        Rate(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        speed_estimate_period=120.0,
    )

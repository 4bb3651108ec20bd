"""The command line: ``fieldcraft`` (needs the extra ``cli``).

Exit codes: 0 for an answer (hidden is an answer), 1 for a mismatch, a rule without a test or where
there is no way, 2 for bad input, with one line on standard error that says what is wrong.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from fieldcraft.cli._escape import visible
from fieldcraft.errors import FieldcraftError

__all__ = ["main"]

BAD_INPUT = 2
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(args: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        What follows the name of the program; that of this process where absent.

    Returns
    -------
    int
    """
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        return _fault(
            "the command line needs Typer and Rich; install them with: "
            "pip install 'fieldcraft[cli]'"
        )
    if sys.stdout is None or sys.stdout.closed:  # closed by whoever started the program
        return _fault("there is no standard output to write to")
    try:
        # A token's name may hold what the terminal cannot show.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        code = _run(sys.argv[1:] if args is None else args)
        sys.stdout.flush()
        return code
    except FieldcraftError as error:
        return _fault(str(error))
    except MemoryError:
        return _fault("there is not enough memory for this")
    except KeyboardInterrupt as error:
        _fault(str(error) or "interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone; nothing more is written, at exit neither.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fault(f"cannot write the answer: {error.strerror or error}")


def _run(args: Sequence[str]) -> int:
    """Read the arguments, then do what they ask for."""
    import typer

    from fieldcraft.cli import _app

    # By the version of Typer this is a class of Click or a copy of it.
    ancestors: tuple[Any, ...] = typer.BadParameter.__mro__
    faults = tuple(cls for cls in ancestors if cls.__name__ == "ClickException")
    try:
        todo: Callable[[], int] | int | None = _app.command().main(
            args=list(args), prog_name="fieldcraft", standalone_mode=False
        )
    except faults as error:
        return _fault(_usage(error))
    except typer.Abort:
        raise KeyboardInterrupt from None
    if not callable(todo):
        return int(todo or 0)
    from fieldcraft.cli._text import patience

    with patience():
        return todo()


def _usage(error: Exception) -> str:
    """Return what is wrong with the arguments, and where to read on."""
    message: str = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    program = context.command_path if context else "fieldcraft"
    return f"{message.rstrip('.')} (see {program} --help)"


def _fault(message: str) -> int:
    """Write one line to standard error, whatever the message holds."""
    parts = [part.strip() for part in message.splitlines() if part.strip()]
    line = parts[0] + " " + "; ".join(parts[1:]) if len(parts) > 1 else "".join(parts)
    print(f"fieldcraft: error: {visible(line)}", file=sys.stderr)
    return BAD_INPUT

"""The errors Fieldcraft raises.

Every error says what was given, what was expected and where. Each class is also the built-in
exception a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "ArgumentTypeError",
    "ClosedCellError",
    "CostError",
    "FieldcraftError",
    "MapError",
    "MissingExtraError",
    "OutsideMapError",
    "RulesError",
    "RunError",
    "nearest",
]


class FieldcraftError(Exception):
    """Base class of every error raised on purpose by Fieldcraft."""


class ArgumentTypeError(FieldcraftError, TypeError):
    """An argument has the wrong type."""


class ClosedCellError(FieldcraftError, ValueError):
    """A search on a bare array starts on a closed cell."""


class CostError(FieldcraftError, ValueError):
    """A cost, a budget or a total is not a number the search can work with."""


class MapError(FieldcraftError, ValueError):
    """A map, or a file that should hold one, is malformed."""


class MissingExtraError(FieldcraftError, ImportError):
    """An optional package is needed; the message names the extra to install."""


class OutsideMapError(FieldcraftError, IndexError):
    """A cell lies outside the map."""


class RulesError(FieldcraftError, ValueError):
    """A rule system, a rule parameter or a terrain table is unknown or malformed."""


class RunError(FieldcraftError, RuntimeError):
    """An analysis in parts cannot go on: its folder is in use, holds another, or cannot be used."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word nearest to `word`, or nothing."""
    matches = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f" (did you mean {matches[0]!r}?)" if matches else ""

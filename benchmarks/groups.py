"""All groups of questions, by name; a group's module is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from benchmarks.harness import Question
from benchmarks.sizes import Sizes

GROUPS = {
    "whole": "whole_map",
    "reach": "reach",
    "path": "path",
    "bfs": "bfs",
    "view": "view",
    "sights": "sights",
    "views": "all_views",
    "reaches": "reaches",
    "batches": "batches",
    "tactics": "decision",
    "encounters": "encounters",
    "cold": "cold",
}
GROWTH = "growth"
"""No group of questions, but of curves."""


def questions(sizes: Sizes, names: list[str] | None = None) -> Iterator[Question]:
    """Give the questions of the named groups, or of all, one after the other."""
    for name in GROUPS if names is None else names:
        module = importlib.import_module(f"benchmarks.{GROUPS[name]}")
        yield from module.questions(sizes)

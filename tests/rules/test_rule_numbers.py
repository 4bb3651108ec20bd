"""Every rule of this slice has a test that names its number."""

from __future__ import annotations

import ast
import re
from pathlib import Path

RULES = [
    *(f"HW-{n:02}" for n in range(1, 22)),
    *(f"PF-{n:02}" for n in range(1, 7)),
    "PF-13",
]


def test_every_rule_number_is_named_by_a_test():
    named = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                named.update(re.findall(r"\b[A-Z]{2}-\d\d\b", ast.get_docstring(node) or ""))
    assert [number for number in RULES if number not in named] == []

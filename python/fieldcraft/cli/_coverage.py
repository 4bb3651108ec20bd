"""Which rules are proved by a test: numbers from the specifications, counted in the tests.

Nothing is run. The specifications in ``docs/rules`` have a heading for each rule (``### HW-01 A
title``); a test proves the rules that its docstring or its decorators name, ids and other strings
of a parametrization included. A parametrized test counts once. "HW-01 to HW-03" names all three.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import fieldcraft
from fieldcraft.errors import RulesError

__all__ = ["Proof", "Rule", "coverage", "find_checkout", "named_rules", "proofs", "read_rules"]

PAGES = "docs/rules"
TESTS = "tests"

_HEADING = re.compile(r"^### ([A-Z][A-Z0-9]-\d\d) (\S.*)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\b([A-Z][A-Z0-9])-(\d\d)\b")
_RANGE = re.compile(r"\b([A-Z][A-Z0-9])-(\d\d)(?:\s+to\s+|\s*\u2013\s*)\1-(\d\d)\b")
_NOT_RUN = ("skip", "xfail")


@dataclass(frozen=True, slots=True)
class Rule:
    """A numbered rule of a specification.

    Parameters
    ----------
    number, title : str
    system : str
        The name of the page, which is that of the rule system.
    """

    number: str
    title: str
    system: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A test and the rules it names.

    Parameters
    ----------
    test : str
        As pytest calls it, without parameters: ``tests/rules/test_a.py::test_b``.
    numbers : frozenset of str
    """

    test: str
    numbers: frozenset[str]


def find_checkout(start: Path | None = None) -> Path | None:
    """Return the folder of the source checkout that holds `start`, or None.

    Parameters
    ----------
    start : Path, optional
        The folder of the package where absent.
    """
    here = (start or Path(fieldcraft.__file__).parent).resolve()
    for folder in (here, *here.parents):
        if (folder / TESTS).is_dir() and any((folder / PAGES).glob("*.md")):
            return folder
    return None


def coverage(root: Path) -> dict[Rule, list[str]]:
    """Return every rule of a checkout with the tests that prove it, by the pages' order.

    Raises
    ------
    RulesError
        If two headings have one number, or a test file cannot be read as Python.
    """
    rules = read_rules(root / PAGES)
    found: dict[str, list[str]] = {rule.number: [] for rule in rules}
    for proof in proofs(root):
        for number in sorted(proof.numbers & found.keys()):
            found[number].append(proof.test)
    return {rule: found[rule.number] for rule in rules}


def read_rules(pages: Path) -> list[Rule]:
    """Return the rules in a folder of specifications, page by page."""
    rules: dict[str, Rule] = {}
    for page in sorted(pages.glob("*.md")):
        text = _FENCED.sub("", page.read_text(encoding="utf-8"))
        for number, title in _HEADING.findall(text):
            if number in rules:
                raise RulesError(
                    f"{page.name}: rule {number} has a heading in {rules[number].system}.md already"
                )
            rules[number] = Rule(number, title.strip(), page.stem)
    return list(rules.values())


def proofs(root: Path) -> Iterator[Proof]:
    """Yield every test below ``tests`` that names a rule."""
    for file in sorted((root / TESTS).rglob("test_*.py")):
        where = file.relative_to(root).as_posix()
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError) as error:
            raise RulesError(f"{where} cannot be read as Python: {error}") from None
        for name, test in _tests(tree):
            numbers = named_rules("\n".join(_texts(test)))
            if numbers:
                yield Proof(f"{where}::{name}", numbers)


def named_rules(text: str) -> frozenset[str]:
    """Return the rule numbers in a text, those inside a range included.

    Examples
    --------
    >>> from fieldcraft.cli._coverage import named_rules
    >>> sorted(named_rules("QQ-07, and QQ-01 to QQ-03."))
    ['QQ-01', 'QQ-02', 'QQ-03', 'QQ-07']
    """
    found = {f"{system}-{number}" for system, number in _NUMBER.findall(text)}
    for system, first, last in _RANGE.findall(text):
        found.update(f"{system}-{number:02}" for number in range(int(first), int(last) + 1))
    return frozenset(found)


Test = ast.FunctionDef | ast.AsyncFunctionDef


def _tests(tree: ast.Module) -> Iterator[tuple[str, Test]]:
    """Yield the tests of a module that run and do something, those in classes included."""
    for node in tree.body:
        if isinstance(node, Test):
            if _counts(node):
                yield node.name, node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for inner in node.body:
                if isinstance(inner, Test) and _counts(inner) and not _not_run(node):
                    yield f"{node.name}::{inner.name}", inner


def _counts(test: Test) -> bool:
    return test.name.startswith("test") and not _not_run(test) and not _empty(test)


def _not_run(node: Test | ast.ClassDef) -> bool:
    """Tell whether a mark says that the test is skipped or fails."""
    for decorator in node.decorator_list:
        mark = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(mark, ast.Attribute) and mark.attr in _NOT_RUN:
            return True
    return False


def _empty(test: Test) -> bool:
    """Tell whether a test has no body besides its docstring."""
    return all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in test.body
    )


def _texts(test: Test) -> Iterator[str]:
    """Yield the docstring of a test and every string in its decorators."""
    yield ast.get_docstring(test) or ""
    for decorator in test.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value

"""The questions of the report under pytest-benchmark: a test for each answer to each.

    pytest benchmarks [--quick] [-k whole-octile]

An answer is checked before it is timed; one that is wrong fails, a peer that is not installed and
a call that the library does not have are skipped by name.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from benchmarks.groups import GROUPS
from benchmarks.harness import Question, prepare
from benchmarks.sizes import FULL, QUICK, Sizes

pytest.importorskip("pytest_benchmark")
# Peers warn of what is theirs to mend.
pytestmark = pytest.mark.filterwarnings("ignore")

# The answers have the same names at every size, so listing them makes no large map.
LISTED = [
    (group, question.key, answer.name)
    for group in GROUPS
    for question in importlib.import_module(f"benchmarks.{GROUPS[group]}").questions(QUICK)
    for answer in question.answers
]
_current: dict[str, Question] = {}


def question_of(group: str, key: str, sizes: Sizes) -> Question:
    """Return a question, and keep it for the other answers to it: only one map at a time."""
    if key not in _current:
        _current.clear()
        module = importlib.import_module(f"benchmarks.{GROUPS[group]}")
        _current[key] = next(one for one in module.questions(sizes) if one.key == key)
    return _current[key]


@pytest.mark.parametrize(
    ("group", "key", "name"), LISTED, ids=[f"{key}: {name}" for _, key, name in LISTED]
)
def test_answer(group: str, key: str, name: str, benchmark: Any, request: Any) -> None:
    sizes = QUICK if request.config.getoption("--quick", default=False) else FULL
    question = question_of(group, key, sizes)
    result, state = next(prepare(question, lambda answer: answer.name == name))
    if result.status.startswith("WRONG"):
        pytest.fail(f"{name}: {result.status}")
    if not result.may_be_timed:
        pytest.skip(result.status)
    benchmark.group = f"{question.title}"
    benchmark.extra_info.update(
        rule=result.answer.rule,
        checked=result.status,
        questions_a_call=result.answer.per,
        **result.work,
    )
    rounds = sizes.rounds or question.rounds
    raw = benchmark.pedantic(result.answer.query, args=(state,), rounds=rounds, iterations=1)
    if result.answer.own_clock:  # the call's time includes talking to the program
        benchmark.extra_info["own_seconds"] = raw[0]

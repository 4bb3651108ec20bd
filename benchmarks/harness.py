"""Questions, answers to them, and how they are measured: the answer is checked first.

A question has a map and a rule. Each answer to it (ours, a peer's, the limit's) is built once,
asked once and compared with the reference of its own rule; one that is wrong is not timed. Then all
are asked in turn, round after round, in one process, so that what else the machine does falls on
all alike.
"""

from __future__ import annotations

import gc
import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cores import cores

Array = npt.NDArray[Any]
OURS = "fieldcraft"


class NotBuilt(Exception):
    """The library has no such call (yet)."""


class Missing(Exception):
    """A peer, a compiler or a folder is not there; the message names it."""


class Wrong(Exception):
    """An answer differs from the reference."""


def same(found: Any, expected: Any) -> str:
    """Compare two arrays exactly, infinities included."""
    got, wanted = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if got.shape != wanted.shape:
        raise Wrong(f"shape {got.shape}, expected {wanted.shape}")
    if not np.array_equal(got, wanted):
        n = int((got != wanted).sum())
        raise Wrong(f"{n} of {wanted.size} values differ")
    return "equal"


def close(relative: float) -> Callable[[Any, Any], str]:
    """Return a comparison for answers in floats of that relative precision."""

    def compare(found: Any, expected: Any) -> str:
        got, wanted = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=relative, atol=0):
            raise Wrong(f"not within {relative:g} of the reference")
        return f"equal to {relative:g}"

    return compare


def mostly(share: float) -> Callable[[Any, Any], str]:
    """Return a comparison for answers by another rule, which agree in most cases."""

    def compare(found: Any, expected: Any) -> str:
        agreed = float((np.asarray(found) == np.asarray(expected)).mean())
        if agreed < share:
            raise Wrong(f"only {agreed:.1%} agree")
        return f"another rule: {agreed:.1%} agree"

    return compare


def unchecked(why: str) -> Callable[[Any, Any], str]:
    """Return a comparison that says why there is nothing to compare."""
    return lambda found, expected: f"not comparable: {why}"


@dataclass(frozen=True)
class Answer:
    """One way to answer a question.

    `build` prepares the map once (or raises Missing or NotBuilt); `query` asks; `plain` turns what
    came back into what is compared. `per` is how many single questions one `query` answers; with
    fewer than the question's, the first so many are compared. `own_clock`: `query` returns
    (seconds, answer), for programs that take their own time. `needs`: a module without which there
    is no such answer. `one`: asks a single one of a query's questions; it is asked first of all.
    """

    name: str
    query: Callable[[Any], Any]
    build: Callable[[], Any] = lambda: None
    plain: Callable[[Any], Any] = lambda found: found
    rule: str = ""
    per: int = 1
    compare: Callable[[Any, Any], str] = same
    own_clock: bool = False
    note: str = ""
    needs: str = ""
    work: Callable[[Any], dict[str, float]] | None = None
    one: Callable[[Any], Any] | None = None

    @property
    def is_ours(self) -> bool:
        return self.name.startswith(OURS)


@dataclass(frozen=True)
class Target:
    """What is asked for: `ours` at least `ratio` times as fast as `peer` (`least`).

    With `most` set, ours may take at most `ratio` times as long as `peer`.
    """

    peer: str
    ratio: float
    ours: str = OURS
    most: bool = False


@dataclass(frozen=True)
class Question:
    """A question with its answers; `references` gives the expected answer of each rule."""

    key: str
    group: str
    title: str
    answers: Sequence[Answer]
    references: dict[str, Callable[[], Any]] = field(default_factory=dict)
    targets: Sequence[Target] = ()
    unit: str = "ms"
    rounds: int = 7
    seconds: float = 8.0
    """After so many seconds of one answer, it is not asked again."""
    note: str = ""


@dataclass
class Result:
    """What came of one answer.

    `first` is how long the query took that was checked, `very_first` a single question, the first
    after the build.
    """

    answer: Answer
    status: str = ""
    build: float = 0.0
    first: float = 0.0
    very_first: float = 0.0
    times: list[float] = field(default_factory=list)
    work: dict[str, float] = field(default_factory=dict)

    @property
    def may_be_timed(self) -> bool:
        return not self.status.startswith(("not built", "skipped", "WRONG"))

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def least(self) -> float:
        return min(self.times)


def module(name: str) -> Any:
    """Import an optional peer, or raise Missing with its name."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name.partition('.')[0]} is not installed") from error


def method(owner: Any, name: str) -> Any:
    """Return a method of the library, or raise NotBuilt with its name."""
    found = getattr(owner, name, None)
    if found is None:
        raise NotBuilt(f"there is no {name}")
    return found


def calibrate() -> float:
    """Return the seconds of a fixed piece of work: its spread is the noise of the machine."""
    begin = time.perf_counter()
    total = 0
    for i in range(60_000):
        total ^= i * i
    block = np.arange(300_000, dtype=np.float64)
    for _ in range(4):
        block = np.sqrt(block + total % 3)
    return time.perf_counter() - begin


def prepare(
    question: Question, only: Callable[[Answer], bool] = lambda answer: True
) -> Iterator[tuple[Result, Any]]:
    """Build each answer, ask once and compare; give those that may be timed with their state."""
    expected: dict[str, Any] = {}
    for answer in question.answers:
        if not only(answer):
            continue
        result = Result(answer)
        state = None
        try:
            if answer.needs:
                module(answer.needs)
            begin = time.perf_counter()
            state = answer.build()
            result.build = time.perf_counter() - begin
            if answer.one is not None:
                begin = time.perf_counter()
                answer.one(state)
                result.very_first = time.perf_counter() - begin
            begin = time.perf_counter()
            raw = answer.query(state)
            result.first = time.perf_counter() - begin
            if answer.own_clock:
                result.first, raw = raw
            if answer.one is None:
                result.very_first = result.first / answer.per
            if answer.rule not in expected:
                reference = question.references.get(answer.rule)
                expected[answer.rule] = reference() if reference else None
            result.status = answer.compare(answer.plain(raw), expected[answer.rule])
            if answer.work is not None:
                result.work = answer.work(raw)
            del raw
        except NotBuilt as error:
            result.status = f"not built: {error}"
        except Missing as error:
            result.status = f"skipped: {error}"
        except Wrong as error:
            result.status = f"WRONG: {error}"
        except Exception as error:
            if answer.is_ours:
                raise
            # A peer of another version, say: its fault ends its own row, not the run.
            result.status = f"skipped: {type(error).__name__}: {' '.join(str(error).split())[:80]}"
        yield result, state


def ask(answer: Answer, state: Any) -> float:
    """Ask once and return the seconds a single question took."""
    begin = time.perf_counter()
    raw = answer.query(state)
    took = time.perf_counter() - begin
    if answer.own_clock:
        took = raw[0]
    del raw
    return took / answer.per


def measure(question: Question, *, rounds: int = 0) -> tuple[list[Result], list[float]]:
    """Return what came of each answer, and the times of the calibration loop.

    On one core, but for the answers that ask for more.
    """
    with cores(1):
        return _measure(question, rounds or question.rounds)


def _measure(question: Question, rounds: int) -> tuple[list[Result], list[float]]:
    results: list[Result] = []
    states: list[tuple[Result, Any]] = []
    for result, state in prepare(question):
        results.append(result)
        if result.may_be_timed:
            states.append((result, state))
    noise: list[float] = []
    gc.collect()
    gc.freeze()  # what was built is not looked through again
    gc.disable()
    try:
        for number in range(rounds):
            noise.append(calibrate())
            for result, state in states:
                if not result.answer.is_ours and result.first > question.seconds:
                    # So slow that the call that was checked is its one round.
                    result.times = [result.first / result.answer.per]
                    continue
                spent = sum(result.times) * result.answer.per
                if number and spent > question.seconds:
                    continue
                result.times.append(ask(result.answer, state))
            gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
    return results, noise


def say(text: str) -> None:
    """Print progress at once."""
    print(text, file=sys.stderr, flush=True)

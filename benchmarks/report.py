"""Run the suite once and write what came of it.

    python -m benchmarks.report [--quick] [--only GROUP ...] [--out FILE] [--json FILE]

Replaces what stands between the two marks in docs/benchmarks.md; a quick run and a run of some
groups print instead, unless `--out` names a file.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import growth, limits
from benchmarks.cores import available, cores
from benchmarks.groups import GROUPS, GROWTH, questions
from benchmarks.harness import Missing, Question, Result, Target, measure, prepare, say
from benchmarks.scenes import RULES, Noise
from benchmarks.sizes import FULL, QUICK
from benchmarks.whole_map import field

DOC = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- report: begin -->", "<!-- report: end -->"
PEERS = (
    "tcod", "scipy", "dijkstra3d", "networkx", "rustworkx", "networkit", "pyastar2d",
    "w9-pathfinding", "cstar-pathfinding", "nano-astar", "hexutil",
)  # fmt: skip
SHORT = "FALLS SHORT"
UNITS = {"ms": (1e3, "ms"), "us": (1e6, "µs")}


class Asked:
    """A question and what came of it."""

    def __init__(
        self, question: Question, results: list[Result], noise: list[float], *, judged: bool = True
    ) -> None:
        self.question, self.results, self.noise = question, results, noise
        self.judged = judged
        self._by_name = {result.answer.name: result for result in results}

    @property
    def spread(self) -> float:
        """How much longer the fixed loop took at most than at least; 0 after a single round."""
        return max(self.noise) / min(self.noise) - 1

    def standing(self, target: Target) -> tuple[float | None, str]:
        """Return the ratio a target speaks of, and whether it is met, or why it has none."""
        ours, peer = self._by_name.get(target.ours), self._by_name.get(target.peer)
        for result in (ours, peer):
            if result is None or not result.times:
                return None, result.status if result else "not asked"
        assert ours is not None
        assert peer is not None
        ratio = self._ratio(target, ours.median, peer.median)
        if not self.judged:
            return ratio, "a tiny map, not judged"
        is_met = ratio <= target.ratio if target.most else ratio >= target.ratio
        return ratio, "met" if is_met else SHORT

    @staticmethod
    def _ratio(target: Target, ours: float, peer: float) -> float:
        return ours / peer if target.most else peer / ours

    def least(self, target: Target) -> str:
        """Return the ratio of least times, as text."""
        ours, peer = self._by_name.get(target.ours), self._by_name.get(target.peer)
        if not (ours and peer and ours.times and peer.times):
            return ""
        return f"{number(self._ratio(target, ours.least, peer.least))} ×"

    def ours_beside(self, result: Result) -> Result | None:
        """Return the answer of ours that a peer's is set against: of its rule, or the first."""
        mine = [other for other in self.results if other.answer.is_ours and other.times]
        rule = result.answer.rule.partition(", first")[0]
        same_rule = [other for other in mine if other.answer.rule == rule]
        return (same_rule or mine or [None])[0]


# -- what the tables say --------------------------------------------------------------------------


def number(value: float) -> str:
    """Return a number with three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - int(f"{value:e}".partition("e")[2]))
    return f"{value:,.{digits}f}"


def table(header: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def asked_for(target: Target) -> str:
    if target.most:
        return f"at most {target.ratio:g} × {target.peer}"
    return f"at least {target.ratio:g} × {target.peer}"


def summary(asked: list[Asked]) -> list[str]:
    """Return the table of all that is asked for, and where it stands."""
    rows = []
    for one in asked:
        for target in one.question.targets:
            ratio, status = one.standing(target)
            rows.append(
                [
                    one.question.title,
                    target.ours,
                    asked_for(target),
                    "" if ratio is None else f"{number(ratio)} ×",
                    one.least(target),
                    status,
                ]
            )
    header = ["question", "ours", "asked", "medians", "least times", "by medians"]
    return table(header, rows)


def details(one: Asked) -> list[str]:
    """Return the section of one question."""
    question = one.question
    scale, unit = UNITS[question.unit]
    rows = []
    for result in one.results:
        answer = result.answer
        times = ["", "", "", ""]
        if result.times:
            ours = one.ours_beside(result)
            ratio = "" if ours is None else f"{number(result.median / ours.median)}"
            each = (result.median, result.least, result.very_first)
            times = [*(number(seconds * scale) for seconds in each), ratio]
        work = ", ".join(f"{number(value)} {name}" for name, value in result.work.items())
        built = f"{number(result.build * 1e3)}" if result.times else ""
        said = "; ".join(filter(None, (result.status, answer.note)))
        rows.append([answer.name, answer.rule, *times, built, work, said])
    header = ["answer", "rule", f"median, {unit}", f"least, {unit}", f"first, {unit}"]
    header += ["ours = 1", "build, ms"]
    lines = [f"### {question.title[0].upper()}{question.title[1:]}", ""]
    if question.note:
        lines += [f"{question.note[0].upper()}{question.note[1:]}.", ""]
    lines += table([*header, "work", "answer checked"], rows)
    short = [
        f"- {target.ours} falls short: {number(ratio or 0)} ×, asked {asked_for(target)}."
        for target in question.targets
        for ratio, status in [one.standing(target)]
        if status == SHORT
    ]
    rounds = max((len(result.times) for result in one.results), default=0)
    if one.spread:
        lines += ["", f"{rounds} rounds; the fixed loop varied by {one.spread:.0%}."]
    return [*lines, "", *short, ""] if short else [*lines, ""]


def growth_table(fits: list[growth.Fit]) -> list[str]:
    rows = []
    for fit in fits:
        if fit.status:
            rows.append([fit.name, fit.size, "", "", fit.status])
            continue
        least, most = fit.at[0], fit.at[-1]
        times = " → ".join(_duration(seconds) for seconds in (fit.seconds[0], fit.seconds[-1]))
        rows.append(
            [fit.name, fit.size, f"{least:,.0f} → {most:,.0f}", times, f"{fit.exponent:.2f}"]
        )
    return table(["cost of", "grows with", "from, to", "time", "exponent"], rows)


def _duration(seconds: float) -> str:
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1, "s")
    return f"{number(seconds * scale)} {unit}"


# -- where and with what --------------------------------------------------------------------------


def processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def compiler() -> str:
    found = limits.compiler()
    if found is None:
        return "none, so no limit"
    done = subprocess.run([found, "-dumpfullversion"], capture_output=True, text=True, check=False)
    return f"{found} {done.stdout.strip()}, -O3 -march=native"


def machine() -> dict[str, Any]:
    """Return what a reader needs to know of the machine: no name of it, no paths."""
    return {
        "processor": processor(),
        "cores": available(),
        "memory_gb": _memory(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "compiler": compiler(),
        "peers": {name: version(name) for name in PEERS},
    }


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def machine_text(of: dict[str, Any]) -> list[str]:
    peers = ", ".join(f"{name} {found}" for name, found in of["peers"].items() if found)
    missing = ", ".join(name for name, found in of["peers"].items() if not found)
    memory = f", {of['memory_gb']} GB of memory" if of["memory_gb"] else ""
    lines = [
        f"{of['cores']} cores of {of['processor']}{memory}, {of['system']}; Python {of['python']}, "
        f"Numba {of['numba']}, NumPy {of['numpy']}. C++: {of['compiler']}.",
        "",
        f"Peers: {peers or 'none'}."
        + (f" Not installed, and skipped: {missing}." if missing else ""),
    ]
    return lines


# -- running --------------------------------------------------------------------------------------


def noise_text(spreads: list[float]) -> str:
    """Return how quiet the machine was, from how much a fixed loop varied in each question."""
    if not spreads:
        return ""
    return (
        f" A fixed loop varied by {statistics.median(spreads):.0%} within the rounds of a question "
        f"(median over the questions), {max(spreads):.0%} at most."
    )


def report(asked: list[Asked], fits: list[growth.Fit], seconds: float, quick: bool) -> str:
    """Return the part of the page that a run writes."""
    lines = [f"One run, {datetime.date.today().isoformat()}, {seconds / 60:.0f} minutes."]
    lines[0] += noise_text([one.spread for one in asked if one.spread])
    if quick:
        lines = ["A quick run on tiny maps: it shows that everything works, and no figures."]
    lines += ["", "## The machine", "", *machine_text(machine()), ""]
    if any(one.question.targets for one in asked):
        lines += ["## What is asked for, and where it stands", ""]
        lines += [
            "Ratios of medians; “at least 4 × a peer” asks for a quarter of its time, “at most” "
            "for no more than so many times as long.",
            "",
        ]
        lines += [*summary(asked), ""]
    if fits:
        lines += ["## How costs grow", ""]
        lines += [
            "Exponents of a line through the logarithms of least times at several sizes; 0 is no "
            "growth, 1 growth with the size.",
            "",
            *growth_table(fits),
            "",
        ]
    groups = dict.fromkeys(one.question.group for one in asked)
    for group in groups:
        lines += [f"## {group[0].upper()}{group[1:]}", ""]
        for one in asked:
            if one.question.group == group:
                lines += details(one)
    return "\n".join(lines).rstrip() + "\n"


def as_json(asked: list[Asked], fits: list[growth.Fit]) -> dict[str, Any]:
    """Return all of it for a program."""
    return {
        "machine": machine(),
        "questions": [
            {
                "key": one.question.key,
                "group": one.question.group,
                "title": one.question.title,
                "noise": one.spread,
                "answers": [
                    {
                        "name": result.answer.name,
                        "rule": result.answer.rule,
                        "status": result.status,
                        "build": result.build,
                        "first": result.very_first,
                        "seconds": result.times,
                        "median": result.median if result.times else None,
                        "least": result.least if result.times else None,
                        "work": result.work,
                    }
                    for result in one.results
                ],
                "targets": [
                    {
                        "ours": target.ours,
                        "asked": asked_for(target),
                        "ratio": one.standing(target)[0],
                        "status": one.standing(target)[1],
                    }
                    for target in one.question.targets
                ],
            }
            for one in asked
        ],
        "growth": [
            {
                "name": fit.name,
                "with": fit.size,
                "at": fit.at,
                "seconds": fit.seconds,
                "exponent": None if fit.status else fit.exponent,
                "status": fit.status,
            }
            for fit in fits
        ],
    }


def put_into(page: str, part: str) -> str:
    """Return a page with the part between the marks replaced."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"the page has not the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{part.strip()}\n\n{END}{after}"


def warm_up(groups: list[str]) -> None:
    """Load and compile what is asked later, so that builds and first queries are that alone."""
    for rule in RULES:
        field(Noise(8), rule)
    with contextlib.suppress(Missing):
        limits.program()
    with cores(1):
        for question in questions(QUICK, groups):
            for _ in prepare(question, lambda answer: answer.is_ours):
                pass


def main(arguments: list[str] | None = None) -> int:
    """Run the suite; 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="tiny maps, one round")
    known = [*GROUPS, GROWTH]
    only = f"one of {', '.join(known)}; may be given again"
    parser.add_argument("--only", action="append", choices=known, metavar="GROUP", help=only)
    parser.add_argument("--out", type=Path, help="page to write into")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    sizes = QUICK if options.quick else FULL
    groups = options.only or known
    begin = time.perf_counter()
    # Processes of their own are what the cold start is about. Quick runs are not judged.
    warm_up([] if options.quick else [name for name in groups if name in GROUPS and name != "cold"])
    asked = []
    for question in questions(sizes, [name for name in groups if name in GROUPS]):
        started = time.perf_counter()
        one = Asked(question, *measure(question, rounds=sizes.rounds), judged=not options.quick)
        asked.append(one)
        say(f"{question.title}: {time.perf_counter() - started:.0f} s")
        for target in question.targets:
            ratio, status = one.standing(target)
            value = "" if ratio is None else f"{number(ratio)} ×"
            say(f"  {target.ours}: {asked_for(target)}: {value} {status}")
    fits = []
    if GROWTH in groups:
        for fit in growth.fits(sizes):
            fits.append(fit)
            say(f"{fit.name}, {fit.size}: {fit.status or f'exponent {fit.exponent:.2f}'}")
    part = report(asked, fits, time.perf_counter() - begin, options.quick)
    out = options.out
    if out is None and not (options.quick or options.only):
        out = DOC
    if out is None:
        sys.stdout.write(part)
    else:
        page = out.read_text(encoding="utf-8") if out.exists() else f"{BEGIN}\n{END}\n"
        out.write_text(put_into(page, part), encoding="utf-8")
    if options.json is not None:
        options.json.write_text(json.dumps(as_json(asked, fits), indent=1), encoding="utf-8")
    wrong = [
        f"{one.question.title}: {result.answer.name}: {result.status}"
        for one in asked
        for result in one.results
        if result.status.startswith("WRONG")
    ]
    for line in wrong:
        say(line)
    return 1 if wrong else 0


__all__ = ["main", "put_into", "report"]

if __name__ == "__main__":
    sys.exit(main())

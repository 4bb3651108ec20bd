"""The benchmarks run, with no peer installed too, and a wrong answer does not pass their checks."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import all_views, growth, limits, reaches, report
from benchmarks.groups import GROUPS, questions
from benchmarks.harness import (
    Answer,
    Missing,
    NotBuilt,
    Question,
    Target,
    Wrong,
    close,
    measure,
    mostly,
    same,
)
from benchmarks.lines import BLOCKED, halves_on_hexes, sees_on_squares
from benchmarks.path import priced
from benchmarks.scenes import RULES, Noise, graph_of, window
from benchmarks.sizes import FULL, QUICK

PEERS = (
    "cstar",
    "dijkstra3d",
    "hexutil",
    "nano_astar",
    "networkit",
    "pyastar2d",
    "rustworkx",
    "scipy",
    "tcod",
    "w9_pathfinding",
)


# ---- The suite runs ----------------------------------------------------------------------------


@pytest.mark.jit_only
def test_quick_run_without_peers_or_compiler(root, tmp_path):
    """Everything but the cold start, whose cache would be compiled for this test alone."""
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    only = [word for name in (*GROUPS, "growth") if name != "cold" for word in ("--only", name)]
    arguments = ["--quick", "--out", str(page), "--json", str(figures), *only]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({PEERS!r}))  # None: the import fails
sys.path.insert(0, {str(root)!r})
from benchmarks import report
sys.exit(report.main({arguments!r}))
"""
    sources = os.pathsep.join(str(root / name) for name in ("python", "kernel"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PATH": "", "PYTHONPATH": sources},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(figures.read_text(encoding="utf-8"))
    answers = [answer for question in found["questions"] for answer in question["answers"]]
    ours = [answer for answer in answers if answer["name"].startswith("fieldcraft")]
    assert len(ours) > 20
    for answer in ours:
        assert answer["median"] or answer["status"].startswith(("not built", "skipped: the shared"))
    skipped = {answer["status"] for answer in answers if answer["median"] is None}
    for peer in PEERS:
        assert f"skipped: {peer} is not installed" in skipped
    assert "skipped: neither g++ nor clang++ is there" in skipped
    measured = {answer["name"]: answer for answer in answers if answer["median"]}
    assert measured["Numba heapq"]["status"] == "equal"
    assert measured["networkx single_source_dijkstra"]["status"] == "equal"
    text = page.read_text(encoding="utf-8")
    assert text.startswith(report.BEGIN)
    assert text.endswith(f"{report.END}\n")
    assert "## How costs grow" in text
    assert report.SHORT not in text  # tiny maps are not judged
    assert str(root) not in text


def test_names_are_the_same_at_every_size():
    """`pytest benchmarks` lists the answers of tiny maps, and asks them on full ones."""
    names = [
        (question.group, question.key, answer.name)
        for question in questions(QUICK)
        for answer in question.answers
    ]
    assert len(names) == len(set(names))
    assert not [name for _, _, name in names if str(QUICK.large) in name]
    for question in questions(QUICK):
        known = {answer.name for answer in question.answers}
        for target in question.targets:
            assert {target.ours, target.peer} <= known


# ---- Checks can fail ---------------------------------------------------------------------------


def asked_of(answers, expected=(1, 2, 3), targets=()):
    return Question("key", "group", "title", answers, {"": lambda: expected}, targets, rounds=2)


@pytest.mark.parametrize(
    "found",
    [(1, 2, 4), (1, 2), (1, 2, math.inf), ((1, 2, 3),)],
    ids=["value", "short", "inf", "2d"],
)
def test_wrong_answer_is_not_timed(found):
    right = Answer("fieldcraft", query=lambda _: (1, 2, 3))
    wrong = Answer("peer", query=lambda _: found)
    results, noise = measure(asked_of([right, wrong]))
    assert [len(result.times) for result in results] == [2, 0]
    assert len(noise) == 2
    assert results[0].status == "equal"
    assert results[1].status.startswith("WRONG: ")


def test_fault_of_a_peer_ends_its_row_and_ours_the_run():
    def fail(_):
        raise TypeError("another\nversion")

    results, _ = measure(asked_of([Answer("peer", query=fail)]))
    assert results[0].status == "skipped: TypeError: another version"
    with pytest.raises(TypeError):
        measure(asked_of([Answer("fieldcraft", query=fail)]))


def test_missing_and_not_built_are_named():
    def fail(error):
        def build():
            raise error

        return build

    answers = [
        Answer("fieldcraft", query=list, build=fail(NotBuilt("there is no reaches"))),
        Answer("peer", query=list, build=fail(Missing("tcod is not installed"))),
    ]
    results, _ = measure(asked_of(answers))
    said = ["not built: there is no reaches", "skipped: tcod is not installed"]
    assert [result.status for result in results] == said
    asked = report.Asked(asked_of(answers), results, [1.0])
    assert asked.standing(Target("peer", 2, ours="fieldcraft")) == (None, said[0])


def test_first_query_is_shown_by_the_question_it_answers():
    answers = [
        Answer("fieldcraft", query=lambda _: (1, 2, 3)),
        Answer("peer", query=lambda _: (8.0, (1, 2, 3)), own_clock=True, per=4),
    ]
    results, noise = measure(asked_of(answers))
    assert 0 < results[0].very_first == results[0].first < 8
    assert results[1].very_first == 2
    results[0].very_first = 0.5
    asked = report.Asked(asked_of(answers), results, noise)
    header, _, ours, peer = (line for line in report.details(asked) if line.startswith("|"))
    column = header.split(" | ").index("first, ms")
    assert [line.split(" | ")[column] for line in (ours, peer)] == ["500", "2,000"]
    figures = report.as_json([asked], [])["questions"][0]["answers"]
    assert [answer["first"] for answer in figures] == [0.5, 2.0]


def test_one_question_is_asked_before_the_query():
    asked = []

    def query(_):
        asked.append("all")
        return (1, 2, 3)

    answer = Answer("fieldcraft", query=query, one=lambda _: asked.append("one"), per=3)
    results, _ = measure(asked_of([answer]), rounds=1)
    assert asked == ["one", "all", "all"]
    assert results[0].very_first > 0


@pytest.mark.parametrize("size", [QUICK, FULL], ids=["quick", "full"])
def test_answers_are_compared_on_the_edge_of_the_map_and_within(size):
    last = size.hexes - 1
    cells = np.array(all_views.Asked(size, "odd-q").checked)
    on_edge = ((cells == 0) | (cells == last)).any(axis=1)
    assert on_edge.any()
    assert not on_edge.all()
    ground = reaches.Ground(size.reaches)
    assert not ground.scene.closed[tuple(ground.checked.T)].any()
    inner = np.minimum(ground.checked, size.reaches - 1 - ground.checked).min(axis=1)
    assert inner.min() < 3 <= inner.max()


def test_loop_over_our_own_search_counts_what_it_reaches():
    ground = reaches.Ground(QUICK.reaches)
    answer = reaches.looped(ground)
    state = answer.build()
    found = answer.query(state)
    made = ground.field()
    expected = [len(made.reach(tuple(cell), reaches.BUDGET)) for cell in ground.open_cells.tolist()]
    assert found.tolist() == expected
    assert np.array_equal(answer.query(state), found)  # all is blank again


def test_report_fails_with_a_wrong_answer(monkeypatch, capsys):
    wrong = asked_of([Answer("fieldcraft", query=lambda _: (0,))])
    monkeypatch.setattr(report, "questions", lambda sizes, names: [wrong])
    assert report.main(["--quick", "--only", "bfs"]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_comparisons():
    assert same([1, math.inf], np.array([1, math.inf])) == "equal"
    assert close(1e-3)([1000.5], [1000]) == "equal to 0.001"
    with pytest.raises(Wrong, match="not within"):
        close(1e-3)([1002], [1000])
    assert mostly(0.7)([1, 1, 1, 0], [1, 1, 1, 1]) == "another rule: 75.0% agree"
    with pytest.raises(Wrong, match="only 50"):
        mostly(0.7)([1, 0], [1, 1])
    assert limits.sums((2, 7, 9), [3, 4, math.inf]) == "sum equal"
    for wrong in ((2, 8, 9), (3, 7, 9)):
        with pytest.raises(Wrong, match="not 2 to 7"):
            limits.sums(wrong, [3, 4, math.inf])


def test_paths_are_priced_step_by_step():
    scene = Noise(5)
    scene.__dict__["terrain"] = np.array(
        [[1, 0, 1, 1, 1], [1, 2, 1, 1, 1], [1, 1, 3, 1, 1], [1] * 5, [1] * 5], np.uint8
    )

    def price(path, rule="octile"):
        return priced(scene, rule, [(path[0], path[-1])], [path])[0]

    assert price([(0, 0), (1, 1), (2, 1)]) == 2 * 99 + 70
    assert price([(1, 0), (2, 1), (2, 2)], "equidistant") == 1 + 3
    assert price([(1, 1), (0, 2)]) == 99
    assert priced(scene, "octile", [((0, 0), (4, 4))], [None])[0] == math.inf
    # A peer may leave the start out.
    assert priced(scene, "octile", [((3, 0), (3, 2))], [[(3, 1), (3, 2)]])[0] == 140
    for wrong in ([(0, 0), (0, 1)], [(0, 0), (2, 0)]):
        with pytest.raises(Wrong, match="not allowed"):
            price(wrong)
    with pytest.raises(Wrong, match="not allowed"):
        price([(1, 1), (0, 2)], "octile, corners open")
    with pytest.raises(Wrong, match="not allowed"):
        price([(2, 2), (1, 3)], "hex")
    assert price([(2, 2), (1, 1)], "hex") == 2
    with pytest.raises(Wrong, match="ends at"):
        priced(scene, "octile", [((3, 0), (3, 2))], [[(3, 0), (3, 1)]])


# ---- The references ----------------------------------------------------------------------------


def edges(terrain, rule):
    graph = graph_of(np.array(terrain, np.uint8), RULES[rule])
    return {
        (tail, int(graph.heads[i])): float(graph.weights[i])
        for tail in range(graph.n_nodes)
        for i in range(graph.indptr[tail], graph.indptr[tail + 1])
    }


def test_graphs_by_hand():
    terrain = [[1, 2], [0, 3]]
    octile = {(0, 1): 140, (1, 0): 70, (1, 3): 210, (3, 1): 140, (0, 3): 297, (3, 0): 99}
    assert edges(terrain, "octile") == octile
    straight = {key: octile[key] for key in ((0, 1), (1, 0), (1, 3), (3, 1))}
    assert edges(terrain, "octile, corners open") == straight
    # Row 0: (0, 0), (0, 1); row 1, half a hex to the right: (1, 0) touches both.
    assert edges([[1, 2], [3, 1]], "hex") == {
        (0, 1): 2, (1, 0): 1, (0, 2): 3, (2, 0): 1, (1, 2): 3, (2, 1): 2, (1, 3): 1, (3, 1): 2,
        (2, 3): 1, (3, 2): 3,
    }  # fmt: skip
    # Two nodes a cell: a diagonal into 3 costs 4, then 5, and changes the node's half.
    alternating = edges([[1, 0], [0, 3]], "alternating")
    assert alternating == {(0, 7): 4, (4, 3): 5, (3, 4): 1, (7, 0): 2}


def test_networkx_answers_where_scipy_is_missing(monkeypatch):
    graph = Noise(9).graph("octile")
    found = graph.distances(40)
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert np.array_equal(graph.distances(40), found)
    assert np.isfinite(found).any()


def test_window_over_the_border():
    array = np.arange(1, 10).reshape(3, 3)
    assert window(array, (0, 2), 1, 0).tolist() == [[0, 0, 0], [2, 3, 0], [5, 6, 0]]


def test_lines_by_hand():
    opaque = np.zeros((5, 5), bool)
    opaque[0, 1] = opaque[1, 0] = True
    assert not sees_on_squares(opaque, (0, 0), (1, 1))  # two touch at the corner passed
    opaque[1, 0] = False
    assert sees_on_squares(opaque, (0, 0), (1, 1))
    assert not sees_on_squares(opaque, (0, 0), (1, 2))  # crosses (0, 1) and (1, 1)
    assert sees_on_squares(opaque, (0, 0), (0, 1))
    between = np.zeros((5, 5), np.uint8)
    closed = np.zeros((5, 5), bool)
    between[1, 1], between[1, 2] = 3, 1
    # From (0, 2) two rows down the line runs between (1, 1) and (1, 2): the worse side counts.
    assert halves_on_hexes("odd-r", between, closed, (0, 2), (2, 2)) == 3
    assert halves_on_hexes("odd-q", between.T, closed, (2, 0), (2, 2)) == 3
    assert halves_on_hexes("odd-r", between, closed, (1, 0), (1, 3)) == 4
    closed[1, 2] = True
    assert halves_on_hexes("odd-r", between, closed, (0, 2), (2, 2)) >= BLOCKED
    # Of a pair with one hex off the map the other counts twice.
    between[1, 0] = 1
    assert halves_on_hexes("odd-r", between, closed, (0, 0), (2, 0)) == 1


# ---- The page ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "peer", "target", "standing"),
    [
        (1.0, 4.0, Target("peer", 4, ours="fieldcraft"), (4.0, "met")),
        (1.0, 3.0, Target("peer", 4, ours="fieldcraft"), (3.0, report.SHORT)),
        (3.0, 2.0, Target("peer", 1.5, ours="fieldcraft", most=True), (1.5, "met")),
        (4.0, 2.0, Target("peer", 1.5, ours="fieldcraft", most=True), (2.0, report.SHORT)),
    ],
)
def test_standing(ours, peer, target, standing):
    question = asked_of(
        [Answer("fieldcraft", query=lambda _: ()), Answer("peer", query=lambda _: ())], ()
    )
    results, noise = measure(question)
    for result, seconds in zip(results, (ours, peer), strict=True):
        result.times = [seconds]
    asked = report.Asked(question, results, noise)
    assert asked.standing(target) == standing


def test_only_what_stands_between_the_marks_is_replaced():
    page = f"# Title\n\n{report.BEGIN}\nold\n{report.END}\n\nnotes\n"
    put = report.put_into(page, "new\n")
    assert put == f"# Title\n\n{report.BEGIN}\n\nnew\n\n{report.END}\n\nnotes\n"
    assert report.put_into(put, "new\n") == put
    with pytest.raises(SystemExit):
        report.put_into("# Title\n", "new\n")


def test_the_page_has_the_marks():
    page = report.DOC.read_text(encoding="utf-8")
    assert report.put_into(page, "new\n").count("new\n") == 1
    assert "python -m benchmarks.report" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234.5, "1,234"), (12.345, "12.3"), (0.012345, "0.0123"), (999.6, "1,000")],
)
def test_numbers_have_three_digits(value, text):
    assert report.number(value) == text


def test_exponents():
    fit = growth.Fit("name", "cells", [10, 100, 1000], [2e-3, 2e-1, 2e1])
    assert fit.exponent == pytest.approx(2)
    assert growth.Fit("name", "cells", [10, 1000], [3.0, 3.0]).exponent == pytest.approx(0)

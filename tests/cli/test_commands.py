"""What the commands answer: exact JSON, readable text, and the exit code."""

import json
import math

import pytest

import fieldcraft as fc
from sharedfolder import shared_dir

SIGHT_KEYS = ["visible", "obstruction", "light", "malus", "spell_failure", "line", "pairs"]


# -- sight


def forest(tmp_path, heavy):
    file = tmp_path / "forest.toml"
    row = "." + "F" * heavy + "."
    file.write_text(
        f"lattice = 'odd-r'\nrules = 'hexwild'\nrows = '''\n{row}\n'''\n"
        "[legend]\n'.' = 'open'\n'F' = 'heavy_forest'\n"
    )
    return file


def test_hw_03_worked_example(run, tmp_path):
    """Forest -3 and darkness -2: seen, the shot at -5, a spell fails at 50 % (HW-03)."""
    file = forest(tmp_path, 3)
    answer = run("sight", file, "--from", "0,0", "--to", "0,4", "--light", "-2", "--json")
    assert answer.code == 0
    assert answer.json == {
        "visible": True,
        "obstruction": -3,
        "light": -2,
        "malus": -5,
        "spell_failure": 0.5,
        "line": [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]],
        "pairs": [],
    }
    assert list(answer.json) == SIGHT_KEYS
    text = run("sight", file, "--from", "0,0", "--to", "0,4", "--light", "-2").out
    assert "is seen: malus -5 (obstruction -3, light -2), a spell fails 50 %." in text


@pytest.mark.parametrize("light", [None, 0, -2, -9])
def test_hw_03_hidden_by_one_more_hex_whatever_the_light(run, tmp_path, light):
    dark = () if light is None else ("--light", light)
    file = forest(tmp_path, 4)
    answer = run("sight", file, "--from", "0,0", "--to", "0,5", *dark, "--json")
    assert answer.code == 0  # hidden is an answer
    assert list(answer.json) == SIGHT_KEYS
    assert answer.json == answer.json | {
        "visible": False,
        "obstruction": -4,
        "light": light or 0,
        "malus": None,
        "spell_failure": None,
    }
    text = run("sight", file, "--from", "0,0", "--to", "0,5", *dark)
    assert text.code == 0
    assert "is hidden: obstruction -4, and -4 or worse hides." in text.out


def test_something_opaque_has_no_obstruction(run, valley):
    answer = run("sight", valley, "--from", "1,1", "--to", "1,4", "--json")
    assert answer.json["obstruction"] is None
    assert not answer.json["visible"]
    text = run("sight", valley, "--from", "1,1", "--to", "1,4").out
    assert "hidden: rock formation at 1,3 ends the line." in text


def test_sight_equals_the_library(run, valley):
    board = fc.read(valley)
    for to in ("0,3", "1,2", "2,4", "0,0"):
        answer = run("sight", valley, "--from", "0,0", "--to", to, "--json").json
        sight = board.sight((0, 0), board.parse_cell(to))
        assert answer["visible"] == sight.visible
        assert answer["malus"] == sight.malus
        assert answer["line"] == sight.line.tolist()
        assert answer["pairs"] == [[list(a), list(b)] for a, b in sight.pairs]


def test_pairs_are_left_then_right(run, tmp_path):
    file = tmp_path / "open.toml"
    file.write_text("lattice = 'odd-r'\nrules = 'hexwild'\nrows = '''\n...\n...\n...\n'''\n"
                    "[legend]\n'.' = 'open'\n")  # fmt: skip
    answer = run("sight", file, "--from", "0,1", "--to", "2,1", "--json").json
    # Walking down, left is the side of the larger columns.
    assert answer["pairs"] == [[[1, 1], [1, 0]]]
    assert answer["line"] == [[0, 1], [1, 1], [2, 1]]


# -- reach


def test_reach_json(run, valley):
    answer = run("reach", valley, "--from", "0,0", "--budget", "3", "--json")
    assert answer.code == 0
    reach = fc.read(valley).reach((0, 0), budget=3)
    assert list(answer.json) == ["count", "cells"]
    assert answer.json["count"] == len(reach) == len(answer.json["cells"])
    assert answer.json["cells"] == [
        {"cell": cell, "cost": cost, "stop": stop}
        for cell, cost, stop in zip(
            reach.cells.tolist(), reach.cost.tolist(), reach.can_stop.tolist(), strict=True
        )
    ]
    assert {"cell": [0, 1], "cost": 1.5, "stop": True} in answer.json["cells"]


def test_reach_takes_the_speed_of_the_token(run, valley):
    with_speed = run("reach", valley, "--from", "0,0", "--json").json
    assert with_speed == run("reach", valley, "--from", "0,0", "--budget", "3", "--json").json
    nobody = run("reach", valley, "--from", "2,0", "--json").json
    assert nobody == run("reach", valley, "--from", "2,0", "--budget", "inf", "--json").json
    # Friends and foes alike are foes of nobody's side, and stand in the way.
    assert nobody["count"] == 13


@pytest.mark.parametrize(
    ("budget", "same"), [("4.5 m", "3"), ("15 ft", "3"), ("3 hexes", "3"), ("3 sq", "3")]
)
def test_budget_with_a_unit(run, valley, budget, same):
    answer = run("reach", valley, "--from", "0,0", "--budget", budget, "--json")
    assert answer.json == run("reach", valley, "--from", "0,0", "--budget", same, "--json").json


def test_board_numbers(run, valley):
    """Column then row, from 1."""
    assert (
        run("reach", valley, "--from", "0402", "--budget", "2", "--json").json
        == run("reach", valley, "--from", "1,3", "--budget", "2", "--json").json
    )


def test_reach_text(run, valley):
    answer = run("reach", valley, "--from", "0,0")
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.isascii()
    lines = answer.out.splitlines()
    assert lines[1] == "0  [S] f1.5F3.5~   ." or lines[1].startswith("0  [S] f1.5")
    assert "within reach of 0,0 for 3 points." in answer.out
    assert "light forest" in answer.out
    assert "[S] Scout (blue)" in answer.out
    assert "(O) Ogre (red)" in answer.out


def test_reach_parity(run, hall):
    """With an odd number of diagonals behind, the next one costs 2."""
    costs = {}
    for parity in (0, 1):
        cells = run("reach", hall, "--from", "1,4", "--parity", parity, "--json").json["cells"]
        costs[parity] = next(c["cost"] for c in cells if c["cell"] == [0, 3])
    assert costs == {0: 1.0, 1: 2.0}


# -- path


def test_path_json(run, valley):
    answer = run("path", valley, "--from", "0,0", "--to", "0,2", "--json")
    path = fc.read(valley).path((0, 0), (0, 2))
    assert answer.code == 0
    assert list(answer.json) == ["cost", "cells", "steps"]
    assert answer.json["cost"] == path.cost
    assert answer.json["cells"] == path.cells.tolist()
    assert answer.json["steps"] == [
        {"to": list(step.to), "cost": step.cost, "why": step.why} for step in path.steps
    ]
    assert math.isclose(sum(step["cost"] for step in answer.json["steps"]), answer.json["cost"])
    assert "light forest 0.5" in answer.json["steps"][0]["why"]


def test_path_to_itself(run, valley):
    answer = run("path", valley, "--from", "0,0", "--to", "0,0", "--json")
    assert answer.code == 0
    assert answer.json == {"cost": 0.0, "cells": [[0, 0]], "steps": []}
    assert "in 0 steps for 0 points" in run("path", valley, "--from", "0,0", "--to", "0,0").out


NO_WAY = {"cost": None, "cells": [], "steps": []}


def test_no_way_is_exit_code_1(run, hall):
    answer = run("path", hall, "--from", "0,0", "--to", "1,1", "--json")
    assert (answer.code, answer.json) == (1, NO_WAY)
    text = run("path", hall, "--from", "0,0", "--to", "1,1")
    assert (text.code, text.out) == (1, "There is no way from 0,0 to 1,1.\n")


def test_budget_of_a_path(run, hall):
    assert run("path", hall, "--from", "0,0", "--to", "0,4", "--budget", "4", "--json").code == 0
    short = run("path", hall, "--from", "0,0", "--to", "0,4", "--budget", "3", "--json")
    assert (short.code, short.json) == (1, NO_WAY)
    text = run("path", hall, "--from", "0,0", "--to", "0,4", "--budget", "3")
    assert text.out == "There is no way from 0,0 to 0,4 within 3.\n"


def test_where_nobody_may_stop(run, tmp_path, valley):
    valley.write_text(valley.read_text() + "\n[[tokens]]\nside = 'blue'\ncell = [0, 1]\n")
    answer = run("path", valley, "--from", "0,0", "--to", "0,1", "--json")
    assert (answer.code, answer.json) == (1, NO_WAY)
    text = run("path", valley, "--from", "0,0", "--to", "0,1")
    assert (text.code, text.out.splitlines()[1]) == (
        1,
        "The cell can be entered, but nobody may stop there.",
    )


def test_path_text(run, valley):
    answer = run("path", valley, "--from", "0,0", "--to", "0,2")
    assert answer.code == 0
    assert answer.out.isascii()
    assert "step  cell  points  total  why" in answer.out
    assert "plain hex 1 + light forest 0.5" in answer.out


# -- view


def test_view_json(run, valley):
    answer = run("view", valley, "--from", "0,0", "--radius", "3", "--light", "-1", "--json")
    view = fc.read(valley).view((0, 0), 3, light=-1)
    assert answer.code == 0
    assert list(answer.json) == ["count", "cells"]
    assert answer.json == {
        "count": len(view),
        "cells": [
            {"cell": cell, "malus": malus}
            for cell, malus in zip(view.cells.tolist(), view.maluses.tolist(), strict=True)
        ],
    }
    assert {"cell": [0, 0], "malus": 0} in answer.json["cells"]


def test_view_text(run, valley):
    answer = run("view", valley, "--from", "2,0", "--radius", "2")
    assert answer.code == 0
    assert "seen from 2,0 within 2." in answer.out
    assert "@0" in answer.out


# -- rules, pictures, big maps


def test_rules_in_place_of_the_maps_own(run, valley, tmp_path):
    house = tmp_path / "house.toml"
    house.write_text("extends = 'hexwild'\nname = 'house'\n[terrain.light_forest]\nentry = 2\n")
    ask = ("path", valley, "--from", "0,0", "--to", "0,1", "--json")
    assert run(*ask).json["cost"] == 1.5
    assert run(*ask, "--rules", house).json["cost"] == 3
    assert run(*ask, "--rules", "hexwild").json["cost"] == 1.5


@pytest.mark.parametrize(
    "ask",
    [
        ("reach", "--from", "0,0"),
        ("path", "--from", "0,0", "--to", "0,2"),
        ("sight", "--from", "0,0", "--to", "1,4"),
        ("view", "--from", "0,0"),
    ],
    ids=lambda ask: ask[0],
)
def test_plot(run, valley, tmp_path, ask):
    picture = tmp_path / "out.png"
    answer = run(ask[0], valley, *ask[1:], "--plot", picture)
    assert answer.code == 0
    assert answer.out.endswith(f"Drawn to {picture}.\n")
    assert picture.read_bytes().startswith(b"\x89PNG")
    with_json = run(ask[0], valley, *ask[1:], "--plot", picture, "--json")
    assert with_json.json == run(ask[0], valley, *ask[1:], "--json").json


def test_a_part_of_a_large_map(run, tmp_path):
    file = tmp_path / "large.map"
    row = "." * 300 + "\n"
    file.write_text("type octile\nheight 200\nwidth 300\nmap\n" + row * 200)
    answer = run("reach", file, "--from", "100,150", "--budget", "3")
    assert "rows 68 to 131 of 200" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 100
    # So long a way is drawn in part, round its start.
    answer = run("path", file, "--from", "0,0", "--to", "199,299")
    assert "rows 0 to 63 of 200" in answer.out
    assert "and 279 more" in answer.out


@pytest.mark.parametrize("lattice", ["odd-r", "even-r", "odd-q", "even-q", "square", "square4"])
def test_text_map_of_every_lattice(run, tmp_path, lattice):
    file = tmp_path / "map.toml"
    square = lattice.startswith("square")
    rules, mark = ("pathfinder", "#") if square else ("hexwild", "F")
    legend = {".": "open", mark: "wall" if square else "heavy_forest"}
    keys = "".join(f"'{key}' = '{value}'\n" for key, value in legend.items())
    file.write_text(
        f"lattice = '{lattice}'\nrules = '{rules}'\n"
        f"rows = '''\n.{mark}.\n...\n'''\n[legend]\n{keys}"
    )
    out = run("view", file, "--from", "1,2", "--radius", "0").out.splitlines()
    drawn = {
        "square": ["   0   1   2", f"0  .   {mark}   .", "1  .   .   @0"],
        "odd-r": ["   0   1   2", f"0  .   {mark}   .", "1    .   .   @0"],
        "even-r": ["   0   1   2", f"0    .   {mark}   .", "1  .   .   @0"],
        "odd-q": ["   0   1   2", "0  .       .", f"       {mark}", "1  .       @0", "       ."],
        "even-q": ["   0   1   2", f"0      {mark}", "   .       .", "1      .", "   .       @0"],
    }[lattice.removesuffix("4")]
    assert [line.rstrip() for line in out[: len(drawn)]] == drawn


@pytest.mark.shared
def test_megamek_board(run):
    file = shared_dir("data", "megamek", "16x17 Riverland 1.board")
    by_number = run("path", file, "--from", "0909", "--to", "1303", "--json")
    assert by_number.code == 0
    assert by_number.json == run("path", file, "--from", "8,8", "--to", "2,12", "--json").json
    assert by_number.json["cost"] == fc.read(file).path((8, 8), (2, 12)).cost


def test_an_odd_file_warns_and_answers(run, tmp_path):
    """What is odd is a line on standard error; the answer is as it would be."""
    file = tmp_path / "odd.board"
    file.write_text('size 2 1\nhex 0201 0 "" ""\nhex 0101 0 "" ""\nend\n')
    answer = run("reach", file, "--from", "0,0", "--json")
    assert answer.code == 0
    assert answer.err.startswith(f"fieldcraft: warning: {file}")
    assert answer.err.count("\n") == 1
    assert json.loads(answer.out)["count"] == 2

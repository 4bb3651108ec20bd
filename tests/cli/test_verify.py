"""``fieldcraft verify``: every row recomputed, and each mismatch told."""

import pytest

from fieldcraft.cli import _commands

MAP = "type octile\nheight 3\nwidth 4\nmap\n....\n.@..\n....\n"
ROWS = [
    # start x, y, goal x, y, length
    (0, 0, 3, 0, "3"),
    (0, 0, 2, 2, "4"),
    (0, 2, 3, 1, "3.41421"),
    (3, 2, 3, 2, "0"),
]


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, ROWS)


def write(folder, rows, size=(4, 3), the_map=MAP):
    map_, scenario = folder / "a.map", folder / "a.map.scen"
    map_.write_text(the_map)
    lines = ["\t".join(map(str, ("0", "a.map", *size, *row))) for row in rows]
    scenario.write_text("\n".join(["version 1", *lines]) + "\n")
    return map_, scenario


def test_all_match(run, files):
    answer = run("verify", *files)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"{files[1]} on {files[0]}: 4 rows, 4 matched, 0 mismatched.\n"
    answer = run("verify", *files, "--json")
    assert answer.code == 0
    assert answer.json == {"rows": 4, "matched": 4, "mismatches": []}


def test_mismatches(run, tmp_path):
    files = write(tmp_path, [*ROWS, (0, 0, 3, 0, "3.0001"), (0, 0, 1, 1, "1.41421")])
    answer = run("verify", *files, "--json")
    assert answer.code == 1
    assert answer.json == {
        "rows": 6,
        "matched": 4,
        "mismatches": [
            {"line": 6, "start": [0, 0], "goal": [0, 3], "published": 3.0001, "computed": 3.0},
            {"line": 7, "start": [0, 0], "goal": [1, 1], "published": 1.41421, "computed": None},
        ],
    }
    answer = run("verify", *files)
    assert answer.code == 1
    assert "6 rows, 4 matched, 2 mismatched." in answer.out
    assert "3.0001" in answer.out
    assert "no way" in answer.out


@pytest.mark.parametrize(("printed", "matches"), [("3.41421", True), ("3.41422", False)])
def test_at_the_precision_of_the_file(run, tmp_path, printed, matches):
    files = write(tmp_path, [(0, 2, 3, 1, printed)])
    assert run("verify", *files).code == (0 if matches else 1)


def test_many_mismatches_are_cut_in_the_text_only(run, tmp_path):
    files = write(tmp_path, [(0, 0, 3, 0, "7")] * 50)
    assert "and 30 more (--json has all)" in run("verify", *files).out
    assert len(run("verify", *files, "--json").json["mismatches"]) == 50


def test_rows_come_in_batches(run, tmp_path, monkeypatch):
    monkeypatch.setattr(_commands, "BATCH", 3)
    files = write(tmp_path, [*ROWS, *ROWS, (0, 0, 3, 0, "7")])
    answer = run("verify", *files, "--json").json
    assert (answer["rows"], answer["matched"]) == (9, 8)
    assert answer["mismatches"][0]["line"] == 10


def test_a_map_of_another_size(run, tmp_path):
    files = write(tmp_path, ROWS, size=(4, 4))
    assert "line 2" in run("verify", *files).fault


def test_no_scenario(run, files, valley):
    assert "valley.toml" in run("verify", files[0], valley).fault
    assert "no such file" in run("verify", files[0], files[1].with_name("b.scen")).fault


def test_no_map_of_the_benchmark(run, files, valley):
    assert "octile is played on square" in run("verify", valley, files[1]).fault


def test_progress_is_for_terminals(files, monkeypatch, capsys):
    monkeypatch.setattr("fieldcraft.cli._text.is_terminal", lambda stream: True)
    ticks = _commands._progress(4)
    ticks(4)
    ticks(None)
    assert "verifying" in capsys.readouterr().err

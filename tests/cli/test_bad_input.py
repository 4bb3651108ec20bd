"""Bad input ends with exit code 2 and one line on standard error, whatever it is."""

import os
import tracemalloc

import pytest


def ask(file):
    return ("reach", file, "--from", "0,0")


# -- files


@pytest.mark.parametrize("suffix", [".map", ".board", ".toml"])
def test_no_such_file(run, tmp_path, suffix):
    file = tmp_path / f"nothing{suffix}"
    assert f"{file}: there is no such file" in run(*ask(file)).fault


@pytest.mark.parametrize("suffix", [".map", ".board", ".toml"])
def test_a_folder(run, tmp_path, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    assert "is a folder" in run(*ask(folder)).fault


@pytest.mark.parametrize("suffix", [".map", ".board", ".toml"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x01\x02" * 99,
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xfe",
        bytes(range(256)),
        b"{}",
        b"]" * 9,
    ],
)
def test_no_map(run, tmp_path, suffix, content):
    file = tmp_path / f"bad{suffix}"
    file.write_bytes(content)
    assert str(file) in run(*ask(file)).fault


def test_every_truncation(run, valley):
    """Cut anywhere, a board file is refused or still a board."""
    whole = valley.read_text()
    for end in range(0, len(whole), 17):
        valley.write_text(whole[:end])
        answer = run(*ask(valley), "--json")
        if answer.code:
            assert str(valley) in answer.fault


@pytest.mark.parametrize("suffix", [".map", ".board", ".toml", ".scen"])
def test_a_sparse_file_of_200_mb(run, tmp_path, suffix):
    file = tmp_path / f"huge{suffix}"
    file.touch()
    os.truncate(file, 200 * 2**20)
    small = tmp_path / "small.map"
    small.write_text("type octile\nheight 1\nwidth 1\nmap\n.\n")
    args = ("verify", small, file) if suffix == ".scen" else ask(file)
    run(*args)  # what is imported on the way does not count
    tracemalloc.start()
    answer = run(*args)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "209,715,200 bytes" in answer.fault
    assert peak < 100 * 2**20


@pytest.mark.parametrize("name", ["map.txt", "map", "map.json", "map.scen"])
def test_unknown_kind_of_file(run, tmp_path, name):
    file = tmp_path / name
    file.write_text("...")
    assert str(file) in run(*ask(file)).fault


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_does_not_hang(run, tmp_path):
    file = tmp_path / "pipe.map"
    os.mkfifo(file)
    assert "is not a regular file" in run(*ask(file)).fault


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads anything")
def test_a_file_nobody_may_read(run, valley):
    valley.chmod(0)
    assert "cannot be read" in run(*ask(valley)).fault


def test_a_file_name_with_an_escape_code_is_shown_harmlessly(run, tmp_path):
    fault = run(*ask(tmp_path / "\x1b[31mred\n.map")).fault
    assert "\\x1b[31mred" in fault


# -- cells, budgets, rules, options


@pytest.mark.parametrize(
    ("cell", "part"),
    [
        ("3,0", "(3, 0) lies outside the map of shape (3, 5)"),
        ("0,-1", "(0, -1) lies outside"),
        ("0604", "'0604' lies outside the map"),
        ("0000", "'0000' lies outside the map"),
        ("x", "'x' is no cell"),
        ("", "'' is no cell"),
        ("1", "'1' is no cell"),
        ("1,2,3", "'1,2,3' is no cell"),
        ("1.5,0", "'1.5,0' is no cell"),
        ("nan,0", "'nan,0' is no cell"),
    ],
)
@pytest.mark.parametrize("option", ["--from", "--to"])
def test_bad_cells(run, valley, option, cell, part):
    cells = {"--from": "0,0", "--to": "0,1", option: cell}
    for command in ("path", "sight"):
        pairs = [text for pair in cells.items() for text in pair]
        assert part in run(command, valley, *pairs).fault


@pytest.mark.parametrize(
    ("budget", "part"),
    [
        ("nan", "not NaN"),
        ("-1", "0 or more, not -1"),
        ("-inf", "budget must be"),
        ("9 lightyears", "lightyears"),
        ("9 metre s", "unknown unit"),
        ("", "budget must be a number"),
        ("six", "not 'six'"),
    ],
)
@pytest.mark.parametrize("command", ["reach", "path"])
def test_bad_budgets(run, valley, command, budget, part):
    to = ("--to", "0,1") if command == "path" else ()
    assert part in run(command, valley, "--from", "0,0", *to, "--budget", budget).fault


@pytest.mark.parametrize(
    ("rules", "part"),
    [
        ("hexwld", "unknown rules 'hexwld' (did you mean 'hexwild'?)"),
        ("chess", "unknown rules 'chess'"),
        ("", "unknown rules ''"),
        ("nothing.toml", "cannot read the rules file nothing.toml"),
        ("pathfinder", "pathfinder is played on square"),
    ],
)
def test_bad_rules(run, valley, rules, part):
    assert part in run(*ask(valley), "--rules", rules).fault


def test_all_faults_of_a_rules_file_on_one_line(run, valley, tmp_path):
    rules = tmp_path / "house.toml"
    rules.write_text("extends = 'hexwild'\n[terrain.mud]\nentry = -1\nfoo = 2\n")
    fault = run(*ask(valley), "--rules", rules).fault
    assert "line 3, terrain.mud.entry" in fault
    assert "line 4, terrain.mud.foo" in fault


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["jump"], "jump"),
        (["reach"], "MAP"),
        (["reach", "MAP"], "--from"),
        (["path", "MAP", "--from", "0,0"], "--to"),
        (["reach", "MAP", "--from", "0,0", "--fast"], "--fast"),
        (["reach", "MAP", "MAP", "--from", "0,0"], "argument"),
        (["reach", "MAP", "--from"], "--from"),
        (["reach", "MAP", "--from", "0,0", "--parity", "2"], "parity"),
        (["reach", "MAP", "--from", "0,0", "--parity", "x"], "--parity"),
        (["sight", "MAP", "--from", "0,0", "--to", "0,1", "--light", "1"], "light"),
        (["sight", "MAP", "--from", "0,0", "--to", "0,1", "--light", "-999"], "light"),
        (["sight", "MAP", "--from", "0,0", "--to", "0,1", "--light", "dark"], "--light"),
        (["view", "MAP", "--from", "0,0", "--radius", "-1"], "radius"),
        (["view", "MAP", "--from", "0,0", "--radius", "far"], "--radius"),
        (["verify", "MAP"], "SCEN"),
        (["demo", "--json"], "--json"),
        (["--fast"], "--fast"),
    ],
)
def test_usage_errors(run, valley, args, part):
    assert part in run(*(valley if arg == "MAP" else arg for arg in args)).fault


def test_usage_errors_say_where_to_read_on(run):
    assert run("reach").fault.endswith("(see fieldcraft reach --help)")
    assert run("jump").fault.endswith("(see fieldcraft --help)")


def test_a_huge_radius_is_no_trouble(run, valley):
    answer = run("view", valley, "--from", "2,0", "--radius", str(10**20), "--json")
    assert answer.json == run("view", valley, "--from", "2,0", "--radius", "20", "--json").json


# -- pictures


def test_unknown_kind_of_picture(run, valley, tmp_path):
    picture = tmp_path / "out.xyz"
    assert "unknown kind of picture" in run(*ask(valley), "--plot", picture).fault
    assert not picture.exists()


def test_a_picture_that_cannot_be_written(run, valley, tmp_path):
    fault = run(*ask(valley), "--plot", tmp_path / "no folder" / "out.png").fault
    assert "cannot be written" in fault


def test_a_scenario_is_no_map(run, tmp_path):
    file = tmp_path / "a.map.scen"
    file.write_text("version 1\n")
    assert "is a scenario, not a map" in run(*ask(file)).fault

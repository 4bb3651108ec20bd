"""Very many encounters on the command line: from nothing to a file, to tables, to a summary."""

import json
import sys

import pytest

from fieldcraft import encounters

pytest.importorskip("pyarrow")

HEADER = {
    "fieldcraft": "encounters",
    "version": 1,
    "profiles": {
        "archer": {"creature": {"speed": 3}, "weapons": [{"name": "bow", "range": 20}]},
        "ogre": {"creature": {"speed": 2}, "weapons": [{"name": "club"}]},
    },
    "boards": {"valley": "valley.toml"},
}


def row(*cells, **more):
    """Return a row in which an archer in blue meets ogres in red."""
    kinds = [("archer", "blue"), *[("ogre", "red")] * (len(cells) - 1)]
    tokens = [
        {"profile": profile, "side": side, "cell": cell}
        for (profile, side), cell in zip(kinds, cells, strict=True)
    ]
    return {"board": "valley", "tokens": tokens} | more


GOOD = [row([0, 0], [2, 4]), row([0, 0], [0, 1], [2, 2], ground="ice"), row([2, 0], [2, 4])]
BAD = [row([0, 0], [9, 9]), row([0, 0], [0, 0], light=3), "nothing"]


def lines(*rows):
    return "".join(json.dumps(entry) + "\n" for entry in (HEADER, *rows))


@pytest.fixture
def file(tmp_path, valley):
    """Return a file of three encounters."""
    file = tmp_path / "meetings.jsonl"
    file.write_text(lines(*GOOD))
    return file


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def analysed(run, file, out):
    """Return the folder of a run."""
    assert run("encounters", "analyse", file, "--out", out).code == 0
    return out


# -- analyse


def test_analyse_says_what_it_did(run, file, out):
    answer = run("encounters", "analyse", file, "--out", out, "--part-size", 2, "--workers", 1)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"3 encounters in 2 parts of {out}.\n"
    found = encounters.read_run(out)
    assert len(found.tokens) == 7
    assert found.tokens.equals(encounters.analyse(file).tokens)


def test_analyse_goes_on(run, file, out):
    ask = ("encounters", "analyse", file, "--out", out, "--part-size", 1)
    run(*ask)
    (out / "tokens" / "part-00001.parquet").unlink()
    assert run(*ask).out == f"3 encounters in 3 parts of {out}, 2 of them there before.\n"
    assert run(*ask, "--json").json == {
        "out": str(out), "encounters": 3, "parts": 3, "skipped": 3, "rejected": 0, "rejects": [],
    }  # fmt: skip


def test_what_was_set_aside_is_told_at_the_end(run, file, out):
    file.write_text(lines(GOOD[0], *BAD, GOOD[1], BAD[0]))
    ask = ("encounters", "analyse", file, "--out", out, "--part-size", 3)
    answer = run(*ask)
    assert (answer.code, answer.err) == (0, "")
    said = answer.out.splitlines()
    first = f"{out}/rejects/part-00000.jsonl"
    assert said[0] == f"2 encounters in 2 parts of {out}."
    assert said[1] == f"4 rows of {file} set aside, in {first} and 1 other file:"
    assert said[2].startswith("  row 1, line 3: tokens[1].cell: ")
    assert said[3].startswith("  row 2, line 4: light: ")
    assert "; tokens[1]" in said[3]
    assert said[4].startswith("  row 3, line 5: ")
    assert said[5:] == ["  and 1 more"]
    told = run(*ask, "--json").json
    assert (told["encounters"], told["rejected"]) == (2, 4)
    assert told["rejects"] == [first, f"{out}/rejects/part-00001.jsonl"]
    assert sum(len(encounters.read_rejects(file)) for file in told["rejects"]) == 4


def test_nothing_but_bad_rows(run, file, out):
    file.write_text(lines(*BAD[:1]))
    said = run("encounters", "analyse", file, "--out", out).out.splitlines()
    assert said[0] == f"0 encounters in 1 part of {out}."
    assert said[1] == f"1 row of {file} set aside, in {out}/rejects/part-00000.jsonl:"
    assert len(said) == 3
    assert "1 row of the input set aside" in run("encounters", "summary", out).out


def test_on_error_raise(run, file, out):
    file.write_text(lines(*GOOD, *BAD))
    fault = run("encounters", "analyse", file, "--out", out, "--on-error", "raise").fault
    assert str(file) in fault
    assert "row 3" in fault
    assert "tokens[1].cell" in fault


def test_a_fault_in_a_name_is_shown_harmlessly(run, file, out):
    file.write_text(lines(row([0, 0], [0, 1], ground="\x1b[31m\nred")))
    answer = run("encounters", "analyse", file, "--out", out)
    assert "\x1b" not in answer.out
    assert len(answer.out.splitlines()) == 3


def test_another_run_is_in_the_folder(run, file, analysed):
    file.write_text(lines(*GOOD[:2]))
    fault = run("encounters", "analyse", file, "--out", analysed).fault
    assert "holds another run" in fault


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("--workers", 0), "workers must be a whole number from 1 to"),
        (("--workers", -3), "workers must be a whole number from 1 to"),
        (("--workers", 10**9), "workers must be a whole number from 1 to"),
        (("--workers", "two"), "valid int"),
        (("--part-size", 0), "part_size must be a whole number from 1 to"),
        (("--part-size", 10**20), "part_size must be a whole number from 1 to"),
        (("--part-size", "nan"), "valid int"),
        (("--on-error", "ignore"), "on_error must be 'reject' or 'raise', not 'ignore'"),
        (("--on-error", ""), "on_error must be"),
        (("--client", "x"), "No such option"),
    ],
)
def test_bad_options(run, file, out, args, part):
    assert part in run("encounters", "analyse", file, "--out", out, *args).fault
    assert not (out / "run.json").exists()


@pytest.mark.parametrize("name", ["no.jsonl", "no.parquet", "valley.toml", "", "\x1b.jsonl"])
def test_no_file_of_encounters(run, tmp_path, valley, out, name):
    assert run("encounters", "analyse", tmp_path / name, "--out", out).fault


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 99, b"{}\n", b'{"fieldcraft": "encounters", "version": 99}\n', b"[1]"]
)
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_file_of_something_else(run, tmp_path, out, suffix, content):
    file = tmp_path / f"bad{suffix}"
    file.write_bytes(content)
    assert str(file) in run("encounters", "analyse", file, "--out", out).fault


def test_where_it_cannot_be_written(run, file):
    assert run("encounters", "analyse", file, "--out", file).fault
    assert run("encounters", "analyse", file, "--out", file / "out").fault


def test_missing_arguments(run, file):
    assert "Missing option '--out'" in run("encounters", "analyse", file).fault
    assert "Missing argument" in run("encounters", "summary").fault
    assert "Missing option" in run("encounters", "generate", "--count", 3).fault
    assert "encounters --help" in run("encounters", "analyze").fault


INTERRUPTED = """
import os, signal
from fieldcraft.cli import main
from fieldcraft.encounters import work

whole = work.finish

def finish(*args, **options):
    os.kill(os.getpid(), signal.SIGINT)
    return whole(*args, **options)

from fieldcraft.encounters import local
local.finish = finish
raise SystemExit(main({args!r}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to oneself")
def test_ctrl_c_says_how_to_go_on(program, file, out, run):
    ask = ["encounters", "analyse", str(file), "--out", str(out), "--part-size", "1"]
    answer = program(code=INTERRUPTED.format(args=[*ask, "--workers", "1"]))
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.startswith("fieldcraft: error: stopped: ")
    assert "of 3 parts are finished" in answer.err
    assert answer.err.count("\n") == 1
    assert run(*ask).code == 0
    assert encounters.open_run(out).is_complete


# -- summary


def test_summary_prints_what_the_library_says(run, analysed):
    found = encounters.summary(analysed)
    answer = run("encounters", "summary", analysed)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"{found}\n"
    assert answer.out.startswith("3 encounters on 1 board, 7 tokens\n")
    assert run("encounters", "summary", analysed, "--json").json == json.loads(
        json.dumps(found.to_dict())
    )


def test_summary_is_drawn(run, analysed, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "out.png"
    answer = run("encounters", "summary", analysed, "--plot", picture)
    assert answer.out.endswith(f"Drawn to {picture}.\n")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("encounters", "summary", analysed, "--plot", tmp_path / "a.xyz").fault
    svg = tmp_path / "out.svg"
    assert run("encounters", "summary", analysed, "--json", "--plot", svg).json["tokens"] == 7
    assert svg.exists()


def test_summary_of_no_run(run, tmp_path, analysed):
    assert "expected the folder of a run" in run("encounters", "summary", tmp_path / "no").fault
    assert "expected the folder of a run" in run("encounters", "summary", tmp_path).fault
    for content in ("", "{}", "[]", '{"fieldcraft": "run", "version": 9}', "null", "\0"):
        (analysed / "run.json").write_text(content)
        assert "run.json" in run("encounters", "summary", analysed).fault


def test_summary_of_broken_tables(run, analysed):
    part = analysed / "pairs" / "part-00000.parquet"
    whole = part.read_bytes()
    for content in (b"", whole[:-9], whole[: len(whole) // 2], b"PAR1" * 9):
        part.write_bytes(content)
        assert str(part) in run("encounters", "summary", analysed).fault
    part.write_bytes((analysed / "tokens" / "part-00000.parquet").read_bytes())
    assert "expected 'pairs 1'" in run("encounters", "summary", analysed).fault
    part.unlink()
    assert str(part) in run("encounters", "summary", analysed).fault


# -- generate


def test_generate_on_boards_of_ones_own(run, tmp_path, valley):
    file = tmp_path / "made.jsonl"
    ask = ("encounters", "generate", "--count", 20, "--seed", 7, "--board", valley)
    answer = run(*ask, "--tokens", 4, "--out", file)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"20 encounters of 80 tokens on 1 board written to {file}.\n"
    made = encounters.read(file)
    assert len(made.encounters) == 20
    assert made.rejects == []
    assert made.boards["valley"].shape == (3, 5)


def test_the_same_seed_makes_the_same(run, tmp_path):
    files = [tmp_path / f"{i}" / "made.parquet" for i in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        file.parent.mkdir()
        ask = ("encounters", "generate", "--count", 30, "--seed", seed, "--out", file, "--json")
        told = run(*ask).json
        assert told["file"] == str(file)
        assert told["encounters"] == 30
    one, two, other = (encounters.read(file).encounters for file in files)
    assert one == two
    assert one != other


def test_from_end_to_end(run, tmp_path, valley):
    """Made, analysed and summed up; nothing is set aside."""
    file, out = tmp_path / "made.parquet", tmp_path / "out"
    made = ("--count", 40, "--seed", 3, "--tokens", 4, "--board", valley, "--out", file)
    assert run("encounters", "generate", *made).code == 0
    told = run("encounters", "analyse", file, "--out", out, "--part-size", 15, "--json").json
    assert (told["encounters"], told["parts"], told["rejected"]) == (40, 3, 0)
    found = run("encounters", "summary", out, "--json").json
    assert (found["encounters"], found["rejected"], found["missing"]) == (40, 0, 0)
    assert found["opposed"] == 40
    shares = [found["seen_by_all"], found["seen_by_some"], found["seen_by_none"]]
    alone = [side["alone"] * side["encounters"] / 40 for side in found["sides"]]
    assert sum(shares) + sum(alone) == pytest.approx(1)


@pytest.mark.parametrize(
    "args",
    [
        ("--count", -1),
        ("--count", "many"),
        ("--count", 10**20),
        ("--seed", -1),
        ("--seed", "x"),
        ("--tokens", 0),
        ("--tokens", 10**6),
        ("--board", "no.toml"),
        ("--rules", "chess"),
        ("--out", "made.csv"),
        ("--out", ""),
        ("--out", "made\0.jsonl"),
    ],
)
def test_what_cannot_be_made(run, tmp_path, monkeypatch, valley, args):
    monkeypatch.chdir(tmp_path)
    usual = {"--count": 3, "--seed": 1, "--out": "made.jsonl", "--board": valley}
    given = [text for pair in (usual | {args[0]: args[1]}).items() for text in pair]
    assert run("encounters", "generate", *given).fault
    assert not (tmp_path / "made.jsonl").exists()


def test_boards_of_one_name(run, tmp_path, valley):
    other = tmp_path / "other" / "valley.toml"
    other.parent.mkdir()
    other.write_text(valley.read_text())
    boards = ("--board", valley, "--board", other)
    ask = ("encounters", "generate", "--count", 3, "--seed", 1, "--out", tmp_path / "a.jsonl")
    assert "two boards are named 'valley'" in run(*ask, *boards).fault


# -- help, extras


@pytest.mark.parametrize("command", [[], ["generate"], ["analyse"], ["summary"]])
def test_help(run, command):
    answer = run("encounters", *command, "--help")
    assert answer.code == 0
    assert " ".join(["fieldcraft encounters", *command]) in answer.out
    assert run("encounters") == run("encounters", "--help")


WITHOUT = """
import sys
sys.modules["pyarrow"] = None
from fieldcraft.cli import main
raise SystemExit(main({args!r}))
"""


def test_without_pyarrow(program, file, out):
    for args in (["analyse", str(file), "--out", str(out)], ["summary", str(out)]):
        answer = program(code=WITHOUT.format(args=["encounters", *args]))
        assert "fieldcraft[table]" in answer.fault

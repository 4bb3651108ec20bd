"""How the program starts and how it ends: help, version, missing extras, signals, pipes."""

import os
import signal
import subprocess
import sys

import pytest

import fieldcraft
from fieldcraft.cli import _commands, main

WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from fieldcraft.cli import main
raise SystemExit(main({args!r}))
"""


@pytest.mark.parametrize("missing", [["typer"], ["rich"], ["typer", "rich"]])
@pytest.mark.parametrize("args", [["--help"], ["demo"], []])
def test_without_its_extra(program, missing, args):
    answer = program(code=WITHOUT.format(missing=missing, args=args))
    assert "fieldcraft[cli]" in answer.fault


def test_without_matplotlib(program, valley, tmp_path):
    picture = tmp_path / "out.png"
    args = ["reach", str(valley), "--from", "0,0", "--plot", str(picture)]
    answer = program(code=WITHOUT.format(missing=["matplotlib"], args=args))
    assert "fieldcraft[plot]" in answer.fault
    assert not picture.exists()
    answer = program(code=WITHOUT.format(missing=["matplotlib"], args=args[:-2]))
    assert answer.code == 0


IMPORTED = """
import sys
from fieldcraft.cli import main
assert main({args!r}) == 0
print(*sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], [], *([c, "-h"] for c in ("demo", "path", "verify"))]
)
def test_help_is_cheap(program, args):
    answer = program(code=IMPORTED.format(args=args))
    assert answer.code == 0, answer.err
    assert {"numba", "llvmlite", "matplotlib"}.isdisjoint(answer.err.split())


def test_answers_need_no_matplotlib(program, valley):
    answer = program(code=IMPORTED.format(args=["reach", str(valley), "--from", "0,0"]))
    assert "matplotlib" not in answer.err.split()
    assert "numba" in answer.err.split()


def test_version(run, program):
    assert run("--version").out == f"fieldcraft {fieldcraft.__version__}\n"
    assert program("--version") == run("--version")


@pytest.mark.parametrize("command", ["demo", "reach", "path", "sight", "view", "verify"])
def test_help_names_every_command(run, command):
    assert command in run("--help").out
    answer = run(command, "--help")
    assert answer.code == 0
    assert f"fieldcraft {command}" in answer.out


def test_no_command_shows_the_help(run):
    assert run() == run("--help")


def test_main_reads_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fieldcraft", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("fieldcraft ")


def test_as_a_program(program, valley, run):
    ask = ("sight", valley, "--from", "0,0", "--to", "0,2", "--json")
    assert program(*ask) == run(*ask)
    assert (
        program("reach", valley, "--from", "9,9").fault
        == run("reach", valley, "--from", "9,9").fault
    )
    assert program("path", valley, "--from", "0,0", "--to", "2,4").code == 1


def test_interrupted(run, monkeypatch, valley):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_commands, "read_board", interrupt)
    answer = run("reach", valley, "--from", "0,0")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err == "fieldcraft: error: interrupted\n"


WORKING = """
from fieldcraft.cli import _commands, main

def tick(done):
    if done:
        print("working", flush=True)

_commands.BATCH = 4
_commands._progress = lambda total: tick
raise SystemExit(main(["verify", "a.map", "a.scen"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child")
@pytest.mark.jit_only
def test_ctrl_c(tmp_path):
    """While a scenario is verified that would take minutes."""
    size = 400
    rows = [f"0\ta.map\t{size}\t{size}\t0\t0\t{size - 1}\t{size - 1}\t9"] * 50_000
    (tmp_path / "a.scen").write_text("\n".join(["version 1", *rows]) + "\n")
    bars = ["." * size, "." + "@" * (size - 1), "." * size, "@" * (size - 1) + "."]
    lines = [*(bars * (size // 4))[:-1], "." * size]
    the_map = "\n".join(["type octile", f"height {size}", f"width {size}", "map", *lines])
    (tmp_path / "a.map").write_text(the_map + "\n")
    child = subprocess.Popen(
        [sys.executable, "-c", WORKING],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "working\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130
    assert set(out.splitlines()) <= {"working"}
    assert err == "fieldcraft: error: interrupted\n"


def test_out_of_memory(run, monkeypatch, valley):
    def fail(*args):
        raise MemoryError

    monkeypatch.setattr(_commands, "read_board", fail)
    assert run("reach", valley, "--from", "0,0").fault == "there is not enough memory for this"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close differently")
def test_a_closed_pipe_is_no_traceback(tmp_path):
    file = tmp_path / "a.map"
    file.write_text("type octile\nheight 300\nwidth 300\nmap\n" + ("." * 300 + "\n") * 300)
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", "fieldcraft", "reach", str(file), "--from", "0,0", "--json"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")

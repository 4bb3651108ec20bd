"""The demonstration: needs nothing, says what it shows, and is the same every time."""

import os
import re
import sys

import pytest

from fieldcraft.cli import _demo
from fieldcraft.path import amount

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def turn():
    return _demo.play()


def test_demo(run, turn):
    answer = run("demo")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.isascii()
    assert ESCAPE not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    assert answer.out == run("demo").out
    # The prices of the map, the malus of who is seen, why the others are not, the move and why.
    for text in ("f5.5", "[R]", "(O)", ">6", "hidden", "rock formation at 4,12 ends the line",
                 "obstruction -4, and -4 or worse hides", "plain hex 1 + heavy forest 1",
                 "Ranger shoots Bandit with bow at malus -1 from 5,8.",
                 "Ranger goes to 5,8 for 6 points:", "the best of its 73 stops"):  # fmt: skip
        assert text in answer.out


def text_of(turn):
    return "".join(part for line in _demo.report(turn, 100) for part, _ in [*line, ("\n", "")])


def test_every_price_of_the_map_is_the_librarys(turn):
    text = text_of(turn)
    rows = [line for line in text.splitlines() if re.match(r" ?\d+  ", line)][:12]
    shown = sorted(float(n) for row in rows for n in re.findall(r"\d+(?:\.\d)?", row[4:]))
    standing = {token.cell for token in turn.board.tokens}
    prices = [
        cost
        for cell, cost in zip(turn.reach.cells.tolist(), turn.reach.cost.tolist(), strict=True)
        if tuple(cell) not in standing
    ]
    assert shown == sorted(prices)


def test_the_stop_is_the_best_by_its_weights(turn):
    """An attack is worth 10 and 2 a point, an eye costs 1 and a point of malus gives 0.25 back."""
    board, mover = turn.board, turn.mover
    foes = [token for token in board.tokens if token.side != mover.side]
    worth = {}
    for cell in map(tuple, turn.reach.stops.tolist()):
        shots = [
            (sight.malus, foe.label)
            for foe in foes
            if (sight := board.sight(mover.at(cell), foe))
            and sight.malus >= -3
            and board.distance(mover.at(cell), foe) <= 10
        ]
        eyes = [sight.malus for foe in foes if (sight := board.sight(foe, mover.at(cell)))]
        score = 10 + 2 * max(shots)[0] if shots else 0
        score -= len(eyes) + (0.25 * max(eyes) if eyes else 0) + 0.01 * turn.reach.cost_at(cell)
        worth[cell] = score, max(shots)[1] if shots else None
    best = max(worth, key=lambda cell: worth[cell][0])
    assert turn.goal == best == (5, 8)
    assert turn.decision.score == pytest.approx(worth[best][0])
    assert turn.target.label == worth[best][1]
    cells = [tuple(cell) for cell in turn.decision.options.cells.tolist()]
    assert turn.scores.tolist() == pytest.approx([worth[cell][0] for cell in cells])
    assert turn.path == turn.reach.path_to(best)
    assert len(turn.path) > 0


def test_the_best_stops_are_shown(turn):
    shown = text_of(turn)
    best = sorted(turn.scores.tolist(), reverse=True)[: _demo.SHOWN]
    rows = shown.partition("worth\n")[2].splitlines()[: _demo.SHOWN]
    assert [row.split()[-1] for row in rows] == [f"{score:.2f}" for score in best]
    assert rows[0].split() == ["5,8", "6", "Bandit", "bow", "-1", "2", "-2", "6.44"]


def test_it_shows_what_it_should(turn):
    """Enough of everything to be worth showing."""
    kinds = {id_ for kind in turn.board.terrain.kinds for id_ in kind}
    assert kinds >= {"light_forest", "heavy_forest", "light_bushes", "mud", "rock_formation"}
    assert any(id_.startswith("fog") for id_ in kinds)
    assert turn.board.light.max() < 0
    sides = [token.side for token in turn.board.tokens]
    assert {side: sides.count(side) for side in sides} == {"blue": 3, "red": 3}
    assert {bool(sight) for _, sight in turn.after} == {True, False}
    assert {sight.obstruction is None for _, sight in turn.before} == {True, False}
    assert len(set(turn.reach.cost.tolist())) > 6
    assert any("forest" in step.why for step in turn.path.steps)


def test_without_a_weapon():
    """Then the mover stays where nobody sees it, and says so."""
    idle = _demo.play(weapons=())
    assert (idle.decision.kind, idle.target, idle.sight) == ("wait", None, None)
    text = text_of(idle)
    assert "  Ranger waits at 5,4, where no foes can see it.\n\nWho Ranger sees" in text
    assert text.count("\n  5,4       0") == 1


def test_plot(run, tmp_path):
    picture = tmp_path / "demo.png"
    answer = run("demo", "--plot", picture)
    assert answer.out == run("demo").out + f"Drawn to {picture}.\n"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 30_000


def test_as_a_program(program, turn):
    """In a pipe it is plain, whatever the environment wishes for."""
    answer = program("demo", FORCE_COLOR="1", PYTHONIOENCODING="ascii", COLUMNS="20")
    assert (answer.code, answer.err) == (0, "")
    assert ESCAPE not in answer.out
    assert f"for {amount(turn.path.cost)} points" in answer.out


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_on_a_terminal(run, env, coloured):
    text = on_terminal(["demo"], env)
    assert (ESCAPE in text) is coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n")
    expected = [line.rstrip() for line in run("demo").out.splitlines()]
    assert [line.rstrip() for line in plain.splitlines()] == expected


def on_terminal(args, env):
    """Return what the program writes to a terminal of 100 columns."""
    import fcntl
    import pty
    import struct
    import subprocess
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    child = subprocess.Popen(
        [sys.executable, "-m", "fieldcraft", *args],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**clean, **env},
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so at the end
            part = b""
        if not part:
            break
        parts.append(part)
    os.close(ours)
    _, err = child.communicate(timeout=300)
    assert (child.returncode, err) == (0, b"")
    return b"".join(parts).decode()

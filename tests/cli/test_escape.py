"""Names from files reach a terminal with every control character written out."""

import pytest

from fieldcraft.cli import _text
from fieldcraft.cli._escape import visible

# Escape sequences, a bell, a new title, the end of a line, and text that runs backwards.
NASTY = [
    "\x1b[31m",
    "\x1b]0;pwned\x07",
    "\r\x1b[2K",
    "\x9b31m",
    "a\nb",
    "\u202eb",
    "\x7f",
    "\u2028",
]


@pytest.mark.parametrize("name", NASTY)
def test_visible(name):
    shown = visible(name)
    assert shown.isprintable()
    assert shown.isascii()
    assert shown.encode().decode("unicode_escape") == name


@pytest.mark.parametrize("name", ["", "Ogre", "Bär 3", "龍", "a\\b", "[bold]x[/]"])
def test_what_can_be_shown_stays(name):
    assert visible(name) == name


@pytest.fixture
def nasty(tmp_path):
    """Return a map where everything that has a name has one with an escape sequence."""
    rules = tmp_path / "house.toml"
    rules.write_text(
        'extends = "hexwild"\nname = "ho\\u001b[31muse"\n'
        '[terrain.mud]\nname = "mu\\u001b[32md"\n[terrain.wall]\nname = "wa\\u0007ll"\n'
        "opaque = true\n"
    )
    file = tmp_path / "nasty.toml"
    file.write_text(
        'name = "bo\\u001b[33mard"\nlattice = "odd-r"\nrules = "house.toml"\n'
        "rows = '''\n.~..#.\n'''\n[legend]\n'.' = 'open'\n'~' = 'mud'\n'#' = 'wall'\n"
        '[[tokens]]\nname = "to\\u001b[31mken"\nside = "si\\u009b1mde"\ncell = [0, 0]\nspeed = 9\n'
    )
    return file


@pytest.mark.parametrize(
    ("ask", "shown"),
    [
        (["reach", "MAP", "--from", "0,0"], ["to\\x1b[31mken (si\\x9b1mde)", "mu\\x1b[32md"]),
        (["path", "MAP", "--from", "0,0", "--to", "0,3"], ["to\\x1b[31mken", "mu\\x1b[32md 2"]),
        (["sight", "MAP", "--from", "0,0", "--to", "0,5"], ["wa\\x07ll at 0,4 ends the line"]),
        (["view", "MAP", "--from", "0,0"], ["to\\x1b[31mken (si\\x9b1mde)", "mu\\x1b[32md"]),
        (["rules", "show", "RULES"], ["ho\\x1b[31muse", "mu\\x1b[32md", "wa\\x07ll"]),
    ],
    ids=lambda value: value[0],
)
def test_no_answer_holds_a_control_character(run, nasty, ask, shown):
    files = {"MAP": nasty, "RULES": nasty.with_name("house.toml")}
    answer = run(*(files.get(word, word) for word in ask))
    assert (answer.code, answer.err) == (0, "")
    assert all(line.isprintable() for line in answer.out.split("\n"))
    for text in shown:
        assert text in answer.out


def test_on_a_terminal_colours_are_all_there_is(run, nasty, monkeypatch):
    monkeypatch.setattr(_text, "is_terminal", lambda stream: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for ask in (
        ("reach", nasty, "--from", "0,0"),
        ("rules", "show", nasty.with_name("house.toml")),
    ):
        out = run(*ask).out
        assert "\x1b[" in out  # ours
        assert "mu\\x1b[32md" in out
        assert "\x1b[31mken" not in out
        assert "\x1b[31muse" not in out
        assert "\x1b[32md" not in out.replace("\\x1b[32md", "")
        assert not {"\x07", "\x9b", "\r"} & set(out)


def test_no_warning_holds_a_control_character(run, tmp_path):
    file = tmp_path / "odd\x1b[31m.board"
    file.write_text('size 2 1\nhex 0201 0 "" ""\nhex 0101 0 "" ""\nend\n')
    err = run("reach", file, "--from", "0,0", "--json").err
    assert err.startswith("fieldcraft: warning: ")
    assert "odd\\x1b[31m.board" in err
    assert err[:-1].isprintable()


def test_columns_fit_what_is_shown():
    lines = _text.table(("name", "n"), [("\x1b[31m", "1"), ("ogre", "2")])
    assert [line[0][0] for line in lines] == ["  name      n", "  \\x1b[31m  1", "  ogre      2"]

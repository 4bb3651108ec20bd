"""Who moves or looks: --size, --speed, --mode, --prone, --tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fieldcraft as fc
from fieldcraft.cli._who import Who, speeds
from fieldcraft.creature import MODES

SCOUT = fc.Creature("Scout", speed=3)

TOKENS = """
[[tokens]]
name = "Imp"
side = "green"
cell = [0, 0]
size = "small"
speed = { walk = "3 m", swim = "4.5 m" }

[[tokens]]
name = "Wall of meat"
side = "red"
cell = [0, 1]
"""


@pytest.fixture
def board(valley):
    return fc.read(valley)


@pytest.fixture
def tokens(tmp_path):
    file = tmp_path / "tokens.toml"
    file.write_text(TOKENS)
    return file


# -- the token that is asked


def asked(board, cell=(0, 0), **options):
    """Return the token that moves, which is the one on the board where somebody stands there."""
    far = options.pop("far", False)
    after, token = Who(**options).at(board, cell, far=far)
    assert after.token_at(cell) == (token if board.token_at(cell) else None)
    others = [other for other in board.tokens if other.cell != cell]
    assert [other for other in after.tokens if other.cell != cell] == others
    return token


def test_without_options_the_cell_is_asked(board):
    assert Who().at(board, (0, 0)) == (board, (0, 0))
    assert Who(tokens="any.toml").at(board, (2, 0)) == (board, (2, 0))


def test_the_token_there_with_other_things(board):
    scout = board.token("Scout")
    assert asked(board, size="large") == replace(scout, creature=replace(SCOUT, size="large"))
    assert asked(board, speed="9 m") == replace(scout, creature=replace(SCOUT, speed="9 m"))
    assert asked(board, prone=True) == replace(scout, prone=True)
    every = asked(board, size="tiny", speed="2", mode="fly", prone=True)
    body = replace(SCOUT, size="tiny", speed={"fly": "2"})
    assert every == replace(scout, creature=body, prone=True, flying=True)


def test_where_nobody_stands_a_medium_creature(board):
    nobody = fc.Token(fc.Creature(), (2, 0), side="")
    assert asked(board, (2, 0), size="huge") == replace(nobody, creature=fc.Creature(size="huge"))
    assert asked(board, (2, 0), prone=True) == replace(nobody, prone=True)


def test_what_is_not_said_stays(board):
    lying = board.replace(tokens=[replace(board.tokens[0], prone=True, flying=True, level=1)])
    token = asked(lying, speed="9 m")
    assert (token.prone, token.flying, token.level, token.side) == (True, True, 1, "blue")


def test_of_two_tokens_alike_one_is_asked(board):
    twins = board.replace(tokens=[board.tokens[0], board.tokens[0]])
    after, token = Who(size="small").at(twins, (0, 0))
    assert after.tokens == (token, board.tokens[0])


def test_speeds():
    assert speeds("6") == "6"
    assert speeds(" 9 m ") == " 9 m "
    assert speeds("fly=18 m") == {"fly": "18 m"}
    assert speeds("walk=9 m , fly = inf") == {"walk": "9 m", "fly": "inf"}
    assert speeds("land=6,swim=3") == {"walk": "6", "swim": "3"}


@pytest.mark.parametrize("mode", MODES)
def test_mode_with_an_amount_is_the_speed_of_that_mode(board, mode):
    token = asked(board, speed="9 m", mode=mode)
    assert token.creature.speed == {mode: "9 m"}
    assert token.flying == (mode == "fly")


def test_mode_takes_one_of_several_speeds(board):
    both = "walk=9 m,fly=18 m"
    assert asked(board, speed=both).creature.speed == {"walk": "9 m", "fly": "18 m"}
    assert not asked(board, speed=both).flying
    assert asked(board, speed=both, mode="fly").creature.speed == {"fly": "18 m"}
    drake = fc.Token(fc.Creature(speed={"walk": 2, "fly": 6}), (0, 0), flying=True)
    on = board.replace(tokens=[drake])
    assert asked(on, mode="fly").creature.speed == {"fly": 6}
    walking = asked(on, mode="walk", far=True)
    assert (walking.creature.speed, walking.flying) == ({"walk": 2}, False)


def test_mode_of_a_creature_without_that_speed(board):
    """Without a speed there is no limit; a speed on foot says nothing of flying."""
    assert asked(board, (2, 0), mode="fly", far=True).creature.speed == {"fly": None}
    assert asked(board, mode="walk", far=True).creature.speed == {"walk": 3}
    assert asked(board, mode="fly").creature.speed == {"fly": None}
    with pytest.raises(fc.RulesError, match="'Scout' has no speed 'fly', only walk; give --speed"):
        asked(board, mode="fly", far=True)


# -- answers


def library(ask):
    """Return the answer of the library, or the text of its error."""
    try:
        return ask()
    except fc.FieldcraftError as error:
        return str(error)


def reach_of(board, token, **options):
    found = board.reach(token, **options)
    cells = zip(found.cells.tolist(), found.cost.tolist(), found.can_stop.tolist(), strict=True)
    return [{"cell": cell, "cost": cost, "stop": stop} for cell, cost, stop in cells]


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (["--size", "large"], {"size": "large"}),
        (["--size", "tiny"], {"size": "tiny"}),
        (["--speed", "1"], {"speed": 1}),
        (["--speed", "walk=4.5 m,fly=9 m"], {"speed": {"walk": "4.5 m", "fly": "9 m"}}),
        (["--speed", "4.5 m", "--mode", "walk"], {"speed": {"walk": "4.5 m"}}),
        (["--speed", "4.5 m", "--mode", "fly"], {"speed": {"fly": "4.5 m"}, "flying": True}),
        (["--mode", "fly", "--budget", "3"], {"speed": {"fly": None}, "flying": True}),
        (["--prone"], {"prone": True}),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("cell", [(0, 0), (2, 0)])
def test_reach_is_that_of_the_token(run, valley, board, cell, options, changes):
    changes = dict(changes)
    flags = {key: changes.pop(key) for key in ("prone", "flying") if key in changes}
    standing = board.token_at(cell) or fc.Token(fc.Creature(), cell)
    token = replace(standing, creature=replace(standing.creature, **changes), **flags)
    on = board.replace(tokens=[token if t.cell == cell else t for t in board.tokens])
    budget = {"budget": 3} if "--budget" in options else {}
    expected = library(lambda: reach_of(on, token, **budget))
    answer = run("reach", valley, "--from", "{},{}".format(*cell), *options, "--json")
    if isinstance(expected, str):
        assert answer.fault == expected
    else:
        assert answer.json["cells"] == expected


def test_speed_is_what_may_be_spent(run, valley):
    ask = ("reach", valley, "--from", "0,0")
    assert run(*ask, "--speed", "1", "--json").json == run(*ask, "--budget", "1", "--json").json
    assert run(*ask, "--speed", "1", "--json").json["count"] == 2
    assert "for 1 points." in run(*ask, "--speed", "1").out
    # A budget takes the place of every speed.
    short = run(*ask, "--speed", "1", "--budget", "3", "--json").json
    assert short == run(*ask, "--budget", "3", "--json").json


def cost_at(answer, cell):
    return next(entry["cost"] for entry in answer.json["cells"] if entry["cell"] == cell)


def test_lying_down_and_flying(run, hall):
    """Each changes the price: crawling doubles a plain cell, in the air no ground is difficult."""
    ask = ("reach", hall, "--rules", "srd5", "--from", "0,4", "--speed", "9 m", "--json")
    for options, plain, difficult in (
        ((), 1.5, 3),
        (("--prone",), 3, 4.5),
        (("--mode", "fly"), 1.5, 1.5),
    ):
        found = run(*ask, *options)
        assert cost_at(found, [0, 3]) == plain, options
        assert cost_at(found, [1, 3]) == difficult, options


def test_a_large_body(run, hall):
    ask = ("reach", hall, "--size", "large", "--json")
    found = run(*ask, "--from", "1,3")
    large = fc.Token(fc.Creature(size="large"), (1, 3))
    assert found.json["cells"] == reach_of(fc.read(hall), large)
    assert found.json["count"] < run(*ask[:2], "--from", "1,3", "--json").json["count"]
    assert "(2, 5) lies outside the map of shape (3, 5)" in run(*ask, "--from", "2,4").fault


def test_tokens_in_place_of_the_map_s_own(run, valley, tokens):
    ask = ("path", valley, "--from", "0,0", "--to", "0,2", "--budget", "9", "--json")
    assert run(*ask).json["cells"][1] == [0, 1]
    around = run(*ask, "--tokens", tokens).json["cells"]
    assert [0, 1] not in around
    assert around[0] == [0, 0]
    text = run("reach", valley, "--from", "0,0", "--budget", "2", "--tokens", tokens).out
    assert "Imp (green)" in text
    assert "Ogre" not in text
    # Who stands there moves: its speed on foot makes two hexes.
    own = run("reach", valley, "--from", "0,0", "--tokens", tokens, "--mode", "walk", "--json")
    assert own.json == run(
        "reach", valley, "--from", "0,0", "--tokens", tokens, "--mode", "walk", "--budget", "2",
        "--json",
    ).json  # fmt: skip


def test_nobody_on_the_map(run, valley, tmp_path):
    file = tmp_path / "nobody.toml"
    file.write_text("tokens = []\n")
    out = run("view", valley, "--from", "0,0", "--tokens", file).out
    assert "Scout" not in out
    assert "@0" in out


def test_sight_and_view_are_those_of_the_token(run, valley, board):
    small = replace(board.tokens[0], creature=replace(SCOUT, size="small"), prone=True)
    on = board.replace(tokens=[small, board.tokens[1]])
    who = ("--from", "0,0", "--size", "small", "--prone", "--json")
    sight = on.sight(small, (1, 2))
    answer = run("sight", valley, "--to", "1,2", *who).json
    assert (answer["visible"], answer["malus"]) == (sight.visible, sight.malus)
    assert answer["line"] == sight.line.tolist()
    view = on.view(small, 3)
    answer = run("view", valley, "--radius", "3", *who).json
    assert [cell["cell"] for cell in answer["cells"]] == view.cells.tolist()


def test_sight_and_view_need_no_speed(run, valley):
    for ask in (("sight", valley, "--to", "0,1"), ("view", valley)):
        assert run(*ask, "--from", "2,0", "--mode", "fly", "--json").code == 0


def test_the_picture_shows_the_token(run, valley, tmp_path, tokens):
    picture = tmp_path / "out.png"
    ask = ("reach", valley, "--from", "0,0", "--tokens", tokens, "--speed", "2")
    assert run(*ask, "--plot", picture).code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


# -- bad input


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--size", "hug"], "unknown size 'hug' of creature 'Scout' (did you mean 'huge'?)"),
        (["--size", ""], "unknown size ''"),
        (["--size", "2"], "unknown size '2'"),
        (["--mode", "fyl"], "unknown mode 'fyl' (did you mean 'fly'?); expected one of walk, swim"),
        (["--mode", ""], "unknown mode ''"),
        (["--mode", "FLY", "--speed", "9 m"], "unknown mode 'FLY'"),
        (["--mode", "swim", "--speed", "walk=9,fly=18"], "--speed has no 'swim', only walk, fly"),
        (["--mode", "fly"], "'Scout' has no speed 'fly', only walk; give --speed or --budget"),
        (["--speed", "fast"], "--speed must be a number, with a unit if need be, not 'fast'"),
        (["--speed", "-1"], "--speed must be 0 or more, not -1"),
        (["--speed", "nan"], "--speed must be a number, not NaN"),
        (["--speed", "9 lightyears"], "--speed has the unknown unit 'lightyears'"),
        (["--speed", ""], "--speed must be a number"),
        (["--speed", "walk=9,18"], "--speed: '18' names no mode; expected 'walk=9 m,fly=18 m'"),
        (["--speed", "walk=9,"], "--speed: '' names no mode"),
        (["--speed", "wlak=9"], "unknown way of moving 'wlak' of --speed (did you mean 'walk'?)"),
        (["--speed", "=9"], "unknown way of moving ''"),
        (["--speed", "walk="], "speed (walk) of --speed must be a number"),
        (["--speed", "walk=9 lightyears"], "speed (walk) of --speed has the unknown unit"),
        (["--speed", "walk=9,land=6"], "--speed names 'walk' twice"),
        (["--prone=yes"], "--prone"),
        (["--speed"], "--speed"),
        (
            ["--tokens", "no.toml"],
            "no.toml: there is no such file; expected a TOML file with [[tok",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_options(run, valley, options, part):
    assert part in run("reach", valley, "--from", "0,0", *options).fault


@pytest.mark.parametrize("command", ["path", "sight", "view"])
def test_bad_options_of_every_command(run, valley, command):
    to = () if command == "view" else ("--to", "0,1")
    ask = (command, valley, "--from", "0,0", *to)
    assert "unknown mode 'hop'" in run(*ask, "--mode", "hop").fault
    assert "unknown size 'small '" in run(*ask, "--size", "small ").fault
    assert "no such file" in run(*ask, "--tokens", "no.toml").fault


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("[0, 1]", "[3, 0]", "line 12: cell of [[tokens]] 2: (3, 0) lies outside the map of 3"),
        ("[0, 1]", "[0, -1]", "line 12: cell of [[tokens]] 2: (0, -1) lies outside the map"),
        ("[0, 1]", '"0,1"', "line 12: cell of [[tokens]] 2: expected [row, column]"),
        ("swim =", "swmi =", "line 2: [[tokens]] 1: unknown way of moving 'swmi'"),
        ('"small"', '"smal"', "line 2: [[tokens]] 1: unknown size 'smal'"),
        ("side =", "sied =", "line 4: sied of [[tokens]] 1: unknown key (did you mean 'size'?)"),
        ("[[tokens]]", "[tokens]", "tokens.toml: is not valid TOML"),
        (TOKENS, "", "tokens.toml: is empty; expected a TOML file with [[tokens]]"),
        (TOKENS, "name = 3", "line 1: 'name': unknown key; expected tokens"),
        (TOKENS, "\x00", "tokens.toml"),
    ],
)
def test_bad_files_of_tokens(run, valley, tokens, old, new, part):
    tokens.write_text(TOKENS.replace(old, new, 1))
    fault = run("reach", valley, "--from", "0,0", "--tokens", tokens).fault
    assert str(tokens) in fault
    assert part in fault


@pytest.mark.parametrize("content", [b"\xff\xfe", bytes(range(256)), b"]" * 9, b"tokens = 3"])
def test_no_file_of_tokens(run, valley, tokens, content):
    tokens.write_bytes(content)
    assert str(tokens) in run("reach", valley, "--from", "0,0", "--tokens", tokens).fault

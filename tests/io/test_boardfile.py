"""Board files: what they may say, every fault with its place, and reading what was written."""

import contextlib
import math
import tomllib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcraft import rules
from fieldcraft.board import Board
from fieldcraft.creature import BODIES, MODES, SAVES, SIZES, Creature, Token
from fieldcraft.errors import MapError, RulesError
from fieldcraft.io import boardfile
from fieldcraft.lattice import LATTICES, Lattice
from fieldcraft.terrain import BORDER_KINDS, Border, Perch, Terrain

FULL = """# a board
name = "Ford"
lattice = "odd-r"
rules = "hexwild"
light = -2
rows = '''
..F#
.FF.
'''
elevation = [
    [0, 0, 1, 5],
    [-1, 0.5, 1, 1],
]
side_relations = [["red", "blue", "neutral"]]

[parameters]
threshold = 5

[legend]
"." = "open"
"F" = ["light_forest", "fog:2"]
"#" = "rock_formation"

[[tokens]]
name = "scout"
side = "blue"
cell = [0, 1]
size = "small"
speed = "9 m"

[[tokens]]
name = "Grik"
creature = "goblin"
side = "red"
cell = [1, 3]
speed = { walk = 6, fly = inf }
footing = "bold"
climbs = false
crosses = ["mud", "gravel"]
helpless = true
reach = 2
body = 2
hands_full = true
hovers = true
facing = 4
saves = { reflex = 55, "pure reflex" = 40.5 }

[[borders]]
cells = [[0, 0], [0, 1]]
kind = "drop"
height = 2
one_way = true

[[perches]]
cell = [0, 2]
level = 2
size = "small"
metres = 6.5

[[perches]]
cell = [0, 2]
level = 1
metres = 4
"""


def parse(text):
    return boardfile.parse(text, source="a.toml")


def rows(terrain):
    return [["+".join(terrain.kinds[code]) for code in row] for row in terrain.codes]


def same_terrain(a, b):
    return (
        a.lattice == b.lattice
        and a.shape == b.shape
        and all(
            a.kinds[i] == b.kinds[j] for i, j in zip(a.codes.ravel(), b.codes.ravel(), strict=True)
        )
        and np.array_equal(a.elevation, b.elevation)
        and np.array_equal(a.light, b.light)
        and a.borders == b.borders
        and a.perches == b.perches
    )


# -- reading


def test_everything():
    data = parse(FULL)
    assert (data.name, data.rules, data.parameters) == ("Ford", "hexwild", {"threshold": 5})
    terrain = data.terrain
    assert terrain.lattice.name == "odd-r"
    forest = "light_forest+fog:2"
    assert rows(terrain) == [
        ["open", "open", forest, "rock_formation"],
        ["open", forest, forest, "open"],
    ]
    assert terrain.elevation.tolist() == [[0, 0, 1, 5], [-1, 0.5, 1, 1]]
    assert terrain.light.tolist() == [[-2]]
    assert terrain.borders == (Border(((0, 0), (0, 1)), "drop", height=2, one_way=True),)
    assert terrain.perches == (Perch((0, 2), 2, "small", 6.5), Perch((0, 2), 1, "medium", 4))
    assert data.relations == {frozenset({"red", "blue"}): "neutral"}
    scout, grik = data.tokens
    assert scout == Token(Creature("scout", "small", "9 m"), (0, 1), "blue", "scout")
    assert grik == Token(
        Creature(
            "goblin",
            speed={"walk": 6, "fly": None},
            footing="bold",
            climbs=False,
            crosses={"mud", "gravel"},
            reach=2,
            body=2,
            hands_full=True,
            hovers=True,
            saves={"reflex": 55, "pure reflex": 40.5},
        ),
        (1, 3),
        "red",
        "Grik",
        helpless=True,
        facing=4,
    )
    assert scout.engaged is None


SMALL = "lattice = \"square\"\nrules = \"pathfinder\"\nrows = '''\n.#\n..\n'''\n[legend]\n"
SMALL += '"." = "open"\n"#" = "wall"\n'


def test_least():
    data = parse(SMALL)
    assert data == boardfile.BoardData(data.terrain, rules="pathfinder")
    assert rows(data.terrain) == [["open", "wall"], ["open", "open"]]
    assert not data.terrain.has_elevation
    assert data.terrain.light.tolist() == [[0]]


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("'''", '"""'),
        SMALL.replace("'''\n.#\n..\n'''", '".#\\n.."'),
        SMALL.replace("'''\n.#\n..\n'''", '[".#", ".."]'),
        SMALL.replace("..\n'''", "..'''"),
        SMALL.replace("'''\n.#", "'''.#"),
        SMALL.replace("\n", "\r\n"),
        SMALL.replace(".", " "),
        SMALL.replace("#", "\U0001f409"),
        SMALL.replace("#", "'").replace("'''", '"""'),
        SMALL + '"x" = "of no cell"\n',
        SMALL.replace('"wall"', '["wall"]'),
        SMALL + "[parameters]\n",
    ],
)
def test_harmless_variants(text):
    assert rows(parse(text).terrain) == rows(parse(SMALL).terrain)


def test_two_characters_for_one_kind():
    text = SMALL.replace('"#" = "wall"', '"#" = "open"')
    terrain = parse(text).terrain
    assert terrain.kinds == (("open",),)


def test_light_by_cell():
    terrain = parse("light = [[0, -1], [-127, 0]]\n" + SMALL).terrain
    assert terrain.light.tolist() == [[0, -1], [-127, 0]]


def test_names_of_tokens():
    """One name serves both; two are kept apart; none is a creature without a name of its own."""
    text = SMALL + "[[tokens]]\ncell = [0, 0]\n{}\n"
    assert parse(text.format('name = "a"')).tokens[0] == Token(Creature("a"), (0, 0), name="a")
    assert parse(text.format('creature = "a"')).tokens[0] == Token(Creature("a"), (0, 0))
    assert parse(text.format("")).tokens[0] == Token(Creature(), (0, 0))
    both = 'name = "a"\ncreature = "b"'
    assert parse(text.format(both)).tokens[0] == Token(Creature("b"), (0, 0), name="a")


FAULTS = [
    # old, new, what the message says
    ("lattice =", "latice =", r"line 3: 'latice': unknown key \(did you mean 'lattice'\?\)"),
    ('lattice = "odd-r"\n', "", "a.toml: has no key 'lattice'"),
    ('"odd-r"', '"odd"', r"line 3: 'lattice': unknown lattice 'odd' \(did you mean 'odd-[rq]'"),
    ('"odd-r"', "4", "line 3: 'lattice': expected text, not 4"),
    ('"Ford"', "[1]", r"line 2: 'name': expected text, not \[1\]"),
    ("rules = ", "rules = 3 #", "line 4: 'rules': expected text, not 3"),
    ("light = -2", "light = 2", "line 5: 'light': expected the malus of a target, .* not 2"),
    ("light = -2", "light = -129", "line 5: 'light': expected the malus .* not -129"),
    ("light = -2", "light = -0.5", "line 5: 'light': expected the malus .* not -0.5"),
    ("light = -2", "light = true", "line 5: 'light': expected the malus .* not true"),
    ("light = -2", "light = [[0]]", "line 5: 'light': has 1 rows, the map has 2"),
    ("light = -2", "light = [0, 0]", "line 5: 'light': row 0: expected whole numbers, not 0"),
    (
        "light = -2",
        "light = [[0],[0]]",
        "line 5: 'light': row 0 has 1 whole numbers, the map has 4",
    ),
    ("light = -2", "light = [[0,0,0,0],[0,0,1,0]]", "'light': row 1, column 2: expected the malus"),
    (".FF.", ".FF", "line 8: 'rows': row 1 has 3 characters, the first has 4"),
    (".FF.", ".FX.", "line 8: 'rows': the character 'X' in row 1, column 2 is not in .legend.; "),
    ("..F#\n.FF.\n", "", "line 6: 'rows': an empty map"),
    ("..F#\n.FF.\n", "\n", "line 6: 'rows': an empty map"),
    (
        "rows = '''\n..F#\n.FF.\n'''",
        "rows = 3",
        "line 6: 'rows': expected a multi-line string, not 3",
    ),
    ("[-1, 0.5, 1, 1]", "[-1, 0.5, 1]", "line 10: 'elevation': row 1 has 3 numbers, the map has 4"),
    ("[-1, 0.5, 1, 1],", "", "line 10: 'elevation': has 1 rows, the map has 2"),
    ("[-1, 0.5, 1, 1]", "[-1, nan, 1, 1]", "line 10: 'elevation': row 1, column 1: expected a fin"),
    ("[-1, 0.5, 1, 1]", "[-1, -inf, 1, 1]", "'elevation': row 1, column 1: expected a finite"),
    ("[-1, 0.5, 1, 1]", '[-1, "1", 1, 1]', "'elevation': row 1, column 1: expected a finite"),
    ("[-1, 0.5, 1, 1]", "[-1, true, 1, 1]", "'elevation': row 1, column 1: .* not true"),
    ("[-1, 0.5, 1, 1]", "7", "line 10: 'elevation': row 1: expected numbers, not 7"),
    ('"neutral"', '"nuetral"', "line 14: entry 1 of side_relations: expected two sides and friend"),
    (
        '"neutral"]',
        '"foe"], ["blue", "red", "friend"]',
        "entry 2 .*'blue' and 'red' are foe already",
    ),
    ('[["red", "blue", "neutral"]]', '"foes"', "line 14: 'side_relations': expected a list of two"),
    (
        "[parameters]\nthreshold = 5",
        "parameters = 5",
        "'parameters': expected a table .parameters.",
    ),
    ('"#" = "rock_formation"', '"##" = "x"', "line 22: '##' of .legend.: a key .* one character"),
    ('"#" = "rock_formation"', '"#" = ""', "line 22: '#' of .legend.: expected a terrain id"),
    ('"#" = "rock_formation"', '"#" = []', "line 22: '#' of .legend.: expected a terrain id"),
    ('"#" = "rock_formation"', '"#" = [1]', "line 22: '#' of .legend.: expected a terrain id"),
    ("[legend]", "[legends]", r"line 19: 'legends': unknown key \(did you mean 'legend'\?\)"),
    ('"small"', '"smal"', r"line 24: .*tokens.. 1: unknown size 'smal' .*did you mean 'small'"),
    ('"bold"', '"brave"', r"line 31: .*tokens.. 2: footing of creature 'goblin' must be"),
    ("[0, 1]\nsize", "[0, 4]\nsize", r"line 27: cell of ..tokens.. 1: \(0, 4\) lies outside"),
    ("[0, 1]\nsize", "[-1, 0]\nsize", r"line 27: cell of ..tokens.. 1: \(-1, 0\) lies outside"),
    (
        "[0, 1]\nsize",
        "[0, 1.5]\nsize",
        "line 27: cell of ..tokens.. 1: expected .row, column., two",
    ),
    ("cell = [0, 1]\n", "", "line 24: ..tokens.. 1: has no cell"),
    (
        "helpless = true",
        "helples = true",
        r"line 40: helples of ..tokens.. 2: unknown key \(did you",
    ),
    ("helpless = true", "helpless = 1", "helpless of ..tokens.. 2: expected true or false, not 1"),
    (
        'speed = "9 m"',
        "speed = -1",
        "line 29: speed of ..tokens.. 1: expected a number of 0 or more",
    ),
    ('speed = "9 m"', "speed = nan", "speed of ..tokens.. 1: expected a number of 0 or more, text"),
    (
        "walk = 6",
        "wlak = 6",
        r"line 31: ..tokens.. 2: unknown way of moving 'wlak' .*did you mean 'walk'",
    ),
    ("reach = 2", "reach = -1", "line 41: reach of ..tokens.. 2: expected a whole number of cells"),
    ("reach = 2", "reach = 1.5", "line 41: reach of ..tokens.. 2: .* 0 or more, not 1.5"),
    ("body = 2", "body = 4", "line 42: body of ..tokens.. 2: expected 1, 2, 3 or 7 hexagons, not"),
    ("hands_full = true", "hands_full = 1", "line 43: hands_full of .*: expected true or false"),
    ("hovers = true", 'hovers = "yes"', "line 44: hovers of .*: expected true or false"),
    ("reflex = 55,", 'reflex = "55",', "line 46: saves of .*: expected a table from the save to"),
    ("reflex = 55,", "reflex = nan,", "line 31: ..tokens.. 2: save 'reflex' of creature 'goblin'"),
    ("reflex = 55,", "reflex = 101,", "line 31: ..tokens.. 2: .* a chance from 0 to 100 percent"),
    ("reflex = 55,", "relfex = 55,", "unknown save 'relfex' .*did you mean 'reflex'"),
    ("facing = 4", "facing = 6", "line 45: facing of ..tokens.. 2: expected a direction, 0 to 5"),
    ("walk = 6", "walk = [6]", "line 36: speed of ..tokens.. 2: expected a number of 0 or more"),
    ('["mud", "gravel"]', '"mud"', "crosses of ..tokens.. 2: expected a list of names, not 'mud'"),
    ('[[tokens]]\nname = "scout"', '[[token]]\nname = "scout"', "line 24: 'token': unknown key"),
    (
        "[[0, 0], [0, 1]]",
        "[[0, 0], [0, 2]]",
        r"line 49: cells of .* \(0, 0\) and \(0, 2\) are no nei",
    ),
    (
        "[[0, 0], [0, 1]]",
        "[[0, 0], [-1, 0]]",
        r"line 49: cells of ..borders.. 1: \(-1, 0\) lies outs",
    ),
    ("[[0, 0], [0, 1]]", "[[0, 0]]", "line 49: cells of ..borders.. 1: expected two cells"),
    ("cells = [[0, 0], [0, 1]]\n", "", "line 48: ..borders.. 1: has no cells"),
    ('"drop"', '"cliff"', "line 48: ..borders.. 1: unknown border kind 'cliff'"),
    ('"drop"', '"price"', "line 48: ..borders.. 1: the border .* has kind 'price' and none"),
    (
        "height = 2\n",
        "height = -2\n",
        "line 51: height of ..borders.. 1: expected a number above 0",
    ),
    (
        "height = 2\n",
        "height = 2\nprice = -1\n",
        "price of ..borders.. 1: expected a number, 0 or more",
    ),
    ("[[borders]]", "[borders]", "'borders': expected tables ..borders.., not"),
    ("level = 2\n", "level = 5\n", "line 56: level of ..perches.. 1: .* from 1 to 4, not 5"),
    ("level = 2\n", "", "line 54: ..perches.. 1: has no level; expected level, a whole number"),
    ("cell = [0, 2]\n", "", "line 54: ..perches.. 1: has no cell; expected cell, .row, column."),
    ("cell = [0, 2]\n", "cell = [2, 0]\n", r"line 55: cell of ..perches.. 1: \(2, 0\) lies out"),
    ("metres = 6.5", "", "line 54: ..perches.. 1: has no metres; expected metres, a number above"),
    ("metres = 6.5", "metres = 0", "line 58: metres of ..perches.. 1: expected a number above 0"),
    ("metres = 6.5", "meters = 6", "meters of ..perches.. 1: unknown key .did you mean 'metres'"),
    ('"small"\nmetres', '"smal"\nmetres', "line 54: ..perches.. 1: .* must bear a size"),
    ("level = 1\n", "level = 2\n", r"line 60: ..perches.. 2: \(0, 2\) has a perch on level 2 a"),
    ("light = -2", "light = ", r"a.toml: is not valid TOML: .*line 5"),
    ("light = -2", "light = " + "[" * 100_000, "a.toml: is (nested too deeply|not valid TOML)"),
    ("light = -2", "light = " + "1" * 10_000, "a.toml: is not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "match"), FAULTS)
def test_faults(old, new, match):
    assert old in FULL
    with pytest.raises(MapError, match=match) as caught:
        parse(FULL.replace(old, new, 1))
    assert str(caught.value).startswith("a.toml")
    assert "\n" not in str(caught.value)


def test_row_lines_of_other_strings():
    text = SMALL.replace("..\n'''", ".x\n'''")
    with pytest.raises(MapError, match="line 5: 'rows': the character 'x'"):
        parse(text)
    with pytest.raises(MapError, match="line 4: 'rows': the character 'x'"):
        parse(text.replace("'''\n.#", "'''.#"))
    with pytest.raises(MapError, match="line 3: 'rows': the character 'x'"):
        parse(text.replace("'''\n.#\n.x\n'''", '".#\\n.x"'))


def test_empty_legend():
    with pytest.raises(MapError, match="line 7: 'legend': has no entries"):
        parse(SMALL[: SMALL.index('"." =')])


def test_file_cut_off_anywhere():
    whole = FULL.rstrip("\n")
    lines = whole.split("\n")
    for end in range(1, whole.index('"." = "open"')):
        with pytest.raises(MapError, match=r"^a\.toml"):
            parse(whole[:end])
    for end in range(1, len(lines)):  # later a whole table may be gone, which nobody can see
        with contextlib.suppress(MapError):
            parse("\n".join(lines[:end]))


# -- tokens alone

TOKENS = "[[tokens]]" + FULL.partition("[[tokens]]")[2].partition("[[borders]]")[0]


def test_a_file_of_tokens(tmp_path):
    path = tmp_path / "tokens.toml"
    path.write_text(TOKENS, encoding="utf-8")
    assert boardfile.read_tokens(path, (2, 4)) == parse(FULL).tokens
    path.write_text("tokens = []\n", encoding="utf-8")
    assert boardfile.read_tokens(path, (2, 4)) == ()


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (TOKENS, "# nobody\n", r"tokens\.toml: has no \[\[tokens\]\]; expected a TOML file with"),
        (TOKENS, FULL, r"tokens\.toml, line 2: 'name': unknown key; expected tokens"),
        ("[[tokens]]\nname", "[[token]]\nname", r"line 1: 'token': unknown key \(did you mean 't"),
        ("[0, 1]", "[2, 0]", r"toml, line 4: cell of ..tokens.. 1: \(2, 0\) lies outside the map"),
        ("cell = [0, 1]\n", "", r"toml, line 1: \[\[tokens\]\] 1: has no cell"),
        ("helpless = true", "helpless = 1", "line 17: helpless of ..tokens.. 2: expected true or"),
        ("[[tokens]]", "[[tokens]", r"tokens\.toml: is not valid TOML"),
        (TOKENS, "a = " + "[" * 100_000, r"tokens\.toml: is (nested too deeply|not valid TOML)"),
    ],
)
def test_faults_of_a_file_of_tokens(tmp_path, old, new, match):
    path = tmp_path / "tokens.toml"
    assert old in TOKENS
    path.write_text(TOKENS.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(MapError, match=match) as caught:
        boardfile.read_tokens(path, (2, 4))
    assert "\n" not in str(caught.value)


def test_no_file_of_tokens(tmp_path):
    with pytest.raises(MapError, match=r"no\.toml: there is no such file; expected a TOML"):
        boardfile.read_tokens(tmp_path / "no.toml", (2, 4))
    path = tmp_path / "tokens.toml"
    path.write_text(TOKENS, encoding="utf-8")
    with pytest.raises(MapError, match="bytes"):
        boardfile.read_tokens(path, (2, 4), max_bytes=20)


# -- boards


def test_board(tmp_path):
    path = tmp_path / "ford.toml"
    path.write_text(FULL, encoding="utf-8")
    board = boardfile.read(path)
    assert (board.name, board.rules.name, board.rules.threshold) == ("Ford", "hexwild", 5)
    assert board.tokens == parse(FULL).tokens
    path.write_text(FULL.replace('name = "Ford"\n', ""), encoding="utf-8")
    assert boardfile.read(path).name == "ford"


def test_given_rules_take_the_place_of_the_file_s():
    board = boardfile.loads(FULL, rules=rules.get("hexwild", tie="both"))
    assert (board.rules.tie, board.rules.threshold) == ("both", 4)
    assert boardfile.loads(SMALL.replace('"pathfinder"', '"nonsense"'), rules="pathfinder")


@pytest.mark.parametrize(
    ("old", "new", "error", "match"),
    [
        ('rules = "pathfinder"\n', "", MapError, "<text>: has no key 'rules'; expected the name"),
        ('"pathfinder"', '"pathfindr"', RulesError, "<text>: .*did you mean 'pathfinder'"),
        ('"wall"', '"wal"', MapError, r"<text>: .*\(0, 1\).*did you mean 'wall'"),
        ('"wall"', '"wall"\n[parameters]\ntie = 3', RulesError, "<text>: .* no parameter 'tie'"),
        ('"pathfinder"', '"hexwild"', MapError, "<text>: hexwild is played on odd-r"),
        ('"pathfinder"', '"house.toml"', RulesError, "rules file 'house.toml': only a board in a"),
    ],
)
def test_faults_of_rules(old, new, error, match):
    with pytest.raises(error, match=match):
        boardfile.loads(SMALL.replace(old, new, 1))


def test_rules_file_beside_the_board(tmp_path):
    (tmp_path / "boards").mkdir()
    path = tmp_path / "boards" / "a.toml"
    house = 'extends = "pathfinder"\nname = "house"\n[terrain.wall]\nname = "hedge"\n'
    for folder in (tmp_path, path.parent):
        (folder / "house.toml").write_text(house, encoding="utf-8")
    path.write_text(SMALL.replace('"pathfinder"', '"house.toml"'), encoding="utf-8")
    assert boardfile.read(path).rules.name == "house"
    for outside in ("../house.toml", (tmp_path / "house.toml").as_posix()):
        path.write_text(SMALL.replace("pathfinder", outside), encoding="utf-8")
        with pytest.raises(RulesError, match="lies outside the folder of the board"):
            boardfile.read(path)
    path.write_text(SMALL.replace("pathfinder", "none.toml"), encoding="utf-8")
    with pytest.raises(RulesError, match=r"a\.toml: .*none\.toml"):
        boardfile.read(path)


# -- writing


def test_text_of_a_board():
    board = Board(
        [["open", "light_forest"], [["open", "fog:2"], "open"]],
        lattice="odd-q",
        rules=rules.get("hexwild", threshold=None, hex_metres=Fraction(5, 2)),
        elevation=[[0, 1], [-0.5, 2]],
        light=-1,
        tokens=[Token(Creature("ogre", "large", 6), (0, 0), "red")],
        borders=[Border(((0, 0), (1, 0)), "door", open=True)],
        relations={frozenset({"red"}): "foe"},
        name='the "Ford"\n',
    )
    text = boardfile.dumps(board)
    assert text == (
        'name = "the \\"Ford\\"\\n"\n'
        'lattice = "odd-q"\n'
        'rules = "hexwild"\n'
        "light = -1\n"
        "rows = '''\n"
        ".f\n"
        "O.\n"
        "'''\n"
        "elevation = [\n"
        "    [0, 1],\n"
        "    [-0.5, 2],\n"
        "]\n"
        "side_relations = [\n"
        '    ["red", "red", "foe"],\n'
        "]\n"
        "\n"
        "[parameters]\n"
        'threshold = "none"\n'
        "hex_metres = 2.5\n"
        "\n"
        "[legend]\n"
        '"." = "open"\n'
        '"f" = "light_forest"\n'
        '"O" = ["open", "fog:2"]\n'
        "\n"
        "[[tokens]]\n"
        'creature = "ogre"\n'
        'side = "red"\n'
        "cell = [0, 0]\n"
        'size = "large"\n'
        "speed = 6\n"
        "\n"
        "[[borders]]\n"
        "cells = [[0, 0], [1, 0]]\n"
        'kind = "door"\n'
        "open = true\n"
    )
    assert boardfile.loads(text) == board


def test_text_of_what_climbs_and_flies():
    """What is not the default is written, token by token and perch by perch."""
    given = parse(SMALL)
    body = Creature(
        "drake", reach=2, body=7, hands_full=True, hovers=True, speed={"fly": "18 m"},
        saves={"pure reflex": 40},
    )  # fmt: skip
    terrain = replace(given.terrain, perches=(Perch((1, 0), 3, "tiny", 9.5),))
    data = replace(given, terrain=terrain, tokens=(Token(body, (0, 0), flying=True, facing=4),))
    text = boardfile.render(data)
    assert text.partition("[[tokens]]")[2] == (
        "\n"
        'creature = "drake"\n'
        "cell = [0, 0]\n"
        'speed = { fly = "18 m" }\n'
        "reach = 2\n"
        "body = 7\n"
        "hands_full = true\n"
        "hovers = true\n"
        'saves = { "pure reflex" = 40 }\n'
        "flying = true\n"
        "facing = 4\n"
        "\n"
        "[[perches]]\n"
        "cell = [1, 0]\n"
        "level = 3\n"
        'size = "tiny"\n'
        "metres = 9.5\n"
    )
    assert parse(text).tokens == data.tokens
    assert parse(text).terrain.perches == terrain.perches


@pytest.mark.parametrize(
    "parameters",
    [
        {"fog_counts": {"own": True, "target": False, "adjacent": True}},
        {"threshold": 7, "tie": "both", "line": "stepped"},
        {"overlays_stack": False, "mud_exit": "zone", "hex_metres": 1},
        {"hex_metres": 0.1},
    ],
)
def test_parameters_come_back(parameters):
    system = rules.get("hexwild", **parameters)
    board = Board([["open"]], lattice="odd-r", rules=system)
    assert boardfile.loads(boardfile.dumps(board)).rules == system


def test_what_cannot_be_written():
    board = Board(
        [["open"]], lattice="odd-r", rules=rules.get("hexwild", hex_metres=Fraction(1, 3))
    )
    with pytest.raises(MapError, match="rule parameter 1/3 has no exact decimals"):
        boardfile.dumps(board)
    data = parse(SMALL)
    for extra, match in (
        ({"a": object()}, "an? object, cannot be"),
        ({"a": "\ud800"}, "no Unicode"),
    ):
        tokens = (Token(Creature(), (0, 0), extra=extra),)
        with pytest.raises(MapError, match=match):
            boardfile.render(replace(data, tokens=tokens))


def test_registered_rules_come_back(tmp_path):
    path = tmp_path / "a_house.toml"
    text = 'extends = "hexwild"\nname = "house of files"\n[parameters]\ntie = "both"\n'
    path.write_text(text + "[terrain.ice]\nentry = 0.5\n", encoding="utf-8")
    house = rules.load(path)
    board = Board([["ice"]], lattice="odd-r", rules=house)
    unknown = boardfile.dumps(board)
    assert 'tie = "both"' in unknown
    with pytest.raises(RulesError, match="unknown rules 'house of files'"):
        boardfile.loads(unknown)
    assert boardfile.loads(unknown, rules=house) == board
    rules.register(house)
    known = boardfile.dumps(board)
    assert "parameters" not in known
    assert boardfile.loads(known) == board
    other = Board([["ice"]], lattice="odd-r", rules=house.configure(tie="best-hex"))
    assert boardfile.loads(boardfile.dumps(other)) == other


def test_write_and_read(tmp_path):
    board = boardfile.loads(FULL)
    path = tmp_path / "a.toml"
    boardfile.write(board, path)
    assert boardfile.read(path) == board
    assert path.read_bytes().count(b"\r") == 0
    with pytest.raises(MapError, match="cannot be written"):
        boardfile.write(board, tmp_path / "no" / "a.toml")


# Any text, with what is hard for TOML more often than not.
texts = st.text(
    st.one_of(
        st.sampled_from("\"'\\\n\r\t\b\f\x00\x1f\x7f#=[]{}\U0001f409"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=8,
)
numbers = st.one_of(
    st.integers(0, 10**9 - 1),
    st.floats(0, 1e8, allow_nan=False),
)
sizes = st.floats(1e-6, 1e8)
one_speed = st.one_of(numbers, numbers.map(lambda n: f"{float(n):.3f} m"), st.just("30 ft"))
creatures = st.builds(
    Creature,
    name=texts,
    size=st.sampled_from(SIZES),
    speed=st.one_of(
        st.none(),
        st.just(math.inf),
        one_speed,
        st.dictionaries(
            st.sampled_from(MODES), st.one_of(st.none(), one_speed), min_size=1, max_size=3
        ),
    ),
    height=st.one_of(st.none(), sizes),
    footing=st.sampled_from(("careful", "bold")),
    climbs=st.booleans(),
    crosses=st.frozensets(texts, max_size=3),
    untested_by=st.frozensets(texts, max_size=3),
    unharmed_by=st.frozensets(texts, max_size=3),
    reach=st.integers(0, 1000),
    body=st.sampled_from((None, *BODIES)),
    hands_full=st.booleans(),
    hovers=st.booleans(),
    saves=st.one_of(
        st.none(), st.dictionaries(st.sampled_from(SAVES), st.floats(0, 100, width=16))
    ),
)
extras = st.dictionaries(
    texts,
    st.recursive(
        st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), texts),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)
        ),
        max_leaves=5,
    ),
    max_size=2,
)


@st.composite
def terrains(draw, ids=None, lattices=LATTICES, kinds=BORDER_KINDS, prices=numbers):
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = draw(
        st.lists(
            st.lists(texts.filter(bool) if ids is None else ids, min_size=1, max_size=3).map(tuple),
            min_size=1,
            max_size=40,
            unique=True,
        )
    )
    lattice = Lattice(draw(st.sampled_from(lattices)))
    codes = rng.integers(len(found), size=(height, width)).astype(np.uint16)
    elevation = np.zeros((0, 0))
    if draw(st.booleans()):
        elevation = rng.choice([0.0, 1.0, -2.5, 0.1, 1e300, 1e17, 5e-324], (height, width))
    light = np.full((1, 1), draw(st.integers(-127, 0)), np.int8)
    if draw(st.booleans()):
        light = rng.integers(-127, 1, (height, width)).astype(np.int8)
    inside = [(r, c) for r in range(height) for c in range(width)]
    pairs = [(a, b) for a in inside for b in lattice.neighbors(a) if b in inside]
    borders = []
    for _ in range(draw(st.integers(0, 3)) if pairs else 0):
        borders.append(
            Border(
                pairs[draw(st.integers(0, len(pairs) - 1))],
                draw(st.sampled_from(kinds)),
                open=draw(st.booleans()),
                height=draw(st.one_of(st.none(), sizes)),
                length=draw(st.one_of(st.none(), sizes)),
                price=draw(prices),
                one_way=draw(st.booleans()),
            )
        )
    perches = draw(
        st.lists(
            st.builds(
                Perch,
                st.sampled_from(inside),
                st.integers(1, 4),
                st.sampled_from(SIZES),
                st.floats(1e-6, 1000),
            ),
            max_size=3,
            unique_by=lambda perch: (perch.cell, perch.level),
        )
    )
    return Terrain(lattice, codes, tuple(found), elevation, light, tuple(borders), tuple(perches))


@st.composite
def tokens_on(draw, shape):
    return Token(
        draw(creatures),
        (draw(st.integers(0, shape[0] - 1)), draw(st.integers(0, shape[1] - 1))),
        draw(texts),
        draw(texts),
        level=draw(st.integers(0, 9)),
        helpless=draw(st.booleans()),
        engaged=draw(st.sampled_from((None, True, False))),
        prone=draw(st.booleans()),
        flying=draw(st.booleans()),
        lets_through=draw(st.booleans()),
        facing=draw(st.integers(0, 5)),
        extra=draw(extras),
    )


relations = st.dictionaries(
    st.frozensets(texts, min_size=1, max_size=2),
    st.sampled_from(("friend", "foe", "neutral")),
    max_size=3,
)


@given(st.data())
def test_data_come_back(data):
    """Whatever a file can say comes back from what is written, character by character."""
    terrain = data.draw(terrains())
    given = boardfile.BoardData(
        terrain,
        tuple(data.draw(st.lists(tokens_on(terrain.shape), max_size=3))),
        data.draw(relations),
        data.draw(texts),
        data.draw(extras),
        data.draw(texts),
    )
    glyph = data.draw(st.sampled_from((None, lambda kind: kind[0][0], lambda kind: "♣")))
    text = boardfile.render(given, glyph=glyph)
    found = boardfile.parse(text)
    assert same_terrain(found.terrain, terrain)
    assert replace(found, terrain=terrain) == given
    assert [token.extra for token in found.tokens] == [token.extra for token in given.tokens]
    assert boardfile.render(found, glyph=glyph) == text


HEX_IDS = st.sampled_from(
    ("open", "light_forest", "heavy_forest", "gravel", "mud", "fog", "fog:3", "deep_water")
)
HALVES = st.one_of(st.none(), st.integers(0, 20).map(lambda halves: halves / 2))


def on_one_hex(token):
    """Return the token with a body that lies on any map."""
    return replace(token, creature=replace(token.creature, body=None))


@given(st.data())
def test_boards_come_back(data):
    """A board, written and read, equals itself."""
    terrain = data.draw(terrains(HEX_IDS, LATTICES[2:], ("wall", "door"), HALVES))
    system = rules.get(
        "hexwild",
        threshold=data.draw(st.sampled_from((None, 1, 4))),
        tie=data.draw(st.sampled_from(("worst-side", "both"))),
        target_hex=data.draw(st.booleans()),
        hex_metres=data.draw(st.integers(1, 100)) / 8,
    )
    board = Board.from_terrain(
        terrain,
        rules=system,
        tokens=data.draw(st.lists(tokens_on(terrain.shape).map(on_one_hex), max_size=2)),
        relations=data.draw(relations),
        name=data.draw(texts),
    )
    again = boardfile.loads(boardfile.dumps(board))
    assert again == board
    assert same_terrain(again.terrain, board.terrain)


def test_many_kinds_of_cells():
    """More kinds than there are letters."""
    kinds = tuple((f"kind{i}",) for i in range(20_000))
    codes = np.arange(20_000, dtype=np.uint16).reshape(100, 200)
    terrain = Terrain(Lattice("square"), codes, kinds)
    text = boardfile.render(boardfile.BoardData(terrain))
    assert len(tomllib.loads(text)["legend"]) == 20_000
    assert same_terrain(boardfile.parse(text).terrain, terrain)

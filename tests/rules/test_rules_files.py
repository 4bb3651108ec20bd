"""Rules files of a user's own: what they may say, and every fault with its line and its key."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from fieldcraft import rules as systems
from fieldcraft.errors import RulesError
from fieldcraft.rules import Dice, Fault, Forbids, Ground, TableError
from fieldcraft.rules._table import Document, locate
from rules.boards import hexes, of_kind, sight_of, squares, steps_of


@pytest.fixture
def write(tmp_path):
    def write(text, name="my.toml"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write


def faults(path) -> list[tuple[int | None, str]]:
    with pytest.raises(TableError) as caught:
        systems.load(path)
    assert isinstance(caught.value, RulesError)
    return [(fault.line, fault.key) for fault in caught.value.faults]


def only(path, line, key, text):
    """Expect one fault, on that line, of that key, with that text."""
    with pytest.raises(TableError) as caught:
        systems.load(path)
    assert [(f.line, f.key) for f in caught.value.faults] == [(line, key)], caught.value
    assert text in str(caught.value)
    assert f"my.toml, line {line}" in str(caught.value) if line else True


def test_a_file_adds_terrain_and_changes_single_keys_and_parameters(write):
    rules = systems.load(
        write(
            """\
# A house rule for the marshes.
extends = "hexwild"
name = "marsh"

[parameters]
tie = "best-side"
threshold = 5
fog_counts = { own = true }
hex_metres = 2.0

[terrain.swamp]
name = "reed swamp"
entry = 1.5
exit = 0.5
obstruction = 0.5
glyph = "&"
colour = "#406040"

[terrain.mud]
entry = 1

[terrain.stones]
bold = false

[borders]
low_wall = 1.5
"""
        )
    )
    assert rules.name == "marsh"
    assert (rules.tie, rules.threshold, rules.hex_metres) == ("best-side", 5, 2)
    assert rules.fog_counts == (True, True, True)
    swamp = steps_of(rules, of_kind("swamp", "odd-r", "open"))
    assert swamp.price((0, 0), (0, 1)) == 5
    assert swamp.price((0, 1), (0, 0)) == 3
    assert sight_of(rules, of_kind("swamp", "odd-r", "open")).between[0, 1] == 1
    mud = steps_of(rules, of_kind("mud", "odd-r", "open"))
    assert mud.price((0, 0), (0, 1)) == 4
    assert mud.price((0, 1), (0, 0)) == 4, "the exit is as it was"
    assert rules.table["stones"].bold is None
    assert rules.table["stones"].entry == 1
    assert rules.table.border("low_wall") == Fraction(3, 2)
    assert rules.glyph("swamp") == ("&", "#406040")
    assert systems.get("hexwild").table["mud"].entry == 2, "the system itself is as it was"
    assert rules.configure(tie="both").table == rules.table
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert hash(pickle.loads(pickle.dumps(rules))) == hash(rules)


def test_the_name_is_the_files_where_it_gives_none(write):
    rules = systems.load(write('extends = "pathfinder"\n', "crypt.toml"))
    assert rules.name == "crypt"
    assert rules.diagonals == "alternating"
    steps_of(rules, squares("..")).price((0, 0), (0, 1))


def test_sections_are_read_whole(write):
    rules = systems.load(
        write(
            """\
extends = "hexwild"
[terrain.scree]
entry = 1
stay = { hit = -1, reflex = -10 }
prone = { reflex = -15 }
leaving = ["reflex"]
forbids = ["rest"]
slip = { initiative = { dry = 9, wet = 8, snow = 9, ice = 7 }, when = "entering" }
climb = { height = "1d4", rise = 0.5, surface = "loose slope" }
"""
        )
    )
    scree = rules.table["scree"]
    assert scree.slip.initiative == Ground(9, 8, 9, 7)
    assert scree.slip.save == Ground(0, 0, 0, 0)
    assert scree.climb.height == Dice(1, 4)
    whens = [effect.when for effect in rules.effects("scree")]
    assert whens == ["climbing", "entering", "staying", "staying", "staying", "leaving"]
    assert rules.effects("scree")[-2].detail == Forbids("rest")
    compiled = steps_of(rules, hexes(".x", legend={"x": "scree"}))
    assert compiled.price((0, 0), (0, 1)) == 4, "one point for 0.5 m, and one of entry"


def test_a_figure_that_is_no_whole_tick_names_id_key_value_and_tick(write):
    path = write('extends = "hexwild"\n\n[terrain.swamp]\nname = "swamp"\nentry = 1.3\n')
    only(path, 5, "terrain.swamp.entry", "1.3 is no whole number of ticks")
    with pytest.raises(RulesError, match=r"\(1 tick = 0\.5\); expected a multiple of 0\.5"):
        systems.load(path)


def test_all_faults_are_told_at_once_each_with_line_and_key(write):
    path = write(
        """\
extends = "hexwild"
colour = "blue"
[parameters]
ties = "both"
tie = "worst"
threshold = true
fog_counts = { own = 1 }
[terrain.swamp]
entry = -1
exit = 1.25
costs = 3
obstruction = 0.3
opaque = "yes"
glyph = "ab"
colour = "green"
obstructs = "leaves"
[terrain."Big Tree"]
entry = 1
[terrain.mud]
stay = { hit = -1, luck = 2 }
leaving = ["dodge"]
[terrain.bog]
prone = { hit = -2 }
[terrain.stones.bold]
entry = 0
damage = "1d4"
[terrain.boulder.climb]
height = "big"
rise = 1
surface = "wall"
[borders]
fence = 1
low_wall = 0.2
"""
    )
    assert faults(path) == [
        (2, "colour"),
        (4, "parameters.ties"),
        (5, "parameters.tie"),
        (6, "parameters.threshold"),
        (7, "parameters.fog_counts"),
        (9, "terrain.swamp.entry"),
        (10, "terrain.swamp.exit"),
        (11, "terrain.swamp.costs"),
        (12, "terrain.swamp.obstruction"),
        (13, "terrain.swamp.opaque"),
        (14, "terrain.swamp.glyph"),
        (15, "terrain.swamp.colour"),
        (16, "terrain.swamp.obstructs"),
        (17, "terrain.Big Tree"),
        (20, "terrain.mud.stay.luck"),
        (23, "terrain.bog.prone"),
        (26, "terrain.stones.bold.damage"),
        (28, "terrain.boulder.climb.height"),
        (32, "borders.fence"),
        (33, "borders.low_wall"),
    ]
    with pytest.raises(RulesError) as caught:
        systems.load(path)
    message = str(caught.value)
    assert message.startswith("my.toml has 20 faults:\n  line 2, colour: ")
    assert (
        "line 4, parameters.ties: hexwild has no parameter 'ties' (did you mean 'tie'?)" in message
    )
    assert "(did you mean 'exit'?)" not in message


@pytest.mark.parametrize(
    ("text", "line", "key", "expected"),
    [
        ("", None, "", "the key extends is missing"),
        ('extends = "hexwld"', 1, "extends", "(did you mean 'hexwild'?)"),
        ("extends = 3", 1, "extends", "unknown rules 3"),
        ('extends = "hexwild"\nname = "pathfinder"', 2, "name", "a name of its own"),
        ('extends = "hexwild"\nname = 4', 2, "name", "a name of its own"),
        ('extends = "hexwild"\nterain = 1', 2, "terain", "(did you mean 'terrain'?)"),
        ('extends = "hexwild"\nterrain = 1', 2, "terrain", "expected tables [terrain.ID]"),
        ('extends = "hexwild"\nparameters = 1', 2, "parameters", "[parameters]"),
        ('extends = "hexwild"\nborders = 1', 2, "borders", "expected a table of"),
        ('extends = "hexwild"\n[terrain]\nmud = 2', 3, "terrain.mud", "[terrain.mud]"),
        ('extends = "hexwild"\n[terrain.mud]\nentry = inf', 3, "terrain.mud.entry", "a number"),
        ('extends = "hexwild"\n[terrain.mud]\nentry = nan', 3, "terrain.mud.entry", "a number"),
        ('extends = "hexwild"\n[terrain.mud]\nentry = true', 3, "terrain.mud.entry", "not true"),
        ('extends = "hexwild"\n[terrain.mud]\nentry = "1"', 3, "terrain.mud.entry", "not '1'"),
        ('extends = "hexwild"\n[terrain.mud]\nentry = 1e99', 3, "terrain.mud.entry", "10000"),
        ('extends = "hexwild"\n[terrain.mud]\ncorners = true', 3, "terrain.mud.corners", "unknown"),
        ('extends = "hexwild"\n[terrain.mud]\nname = " "', 3, "terrain.mud.name", "text"),
        ('extends = "hexwild"\n[terrain.fog]\nobstruction = 127', 3, "terrain.fog.obstruction",
         "from 0 to 126"),
        ('extends = "hexwild"\n[terrain.mud]\nforbids = "rest"', 3, "terrain.mud.forbids",
         "a list"),
        ('extends = "hexwild"\n[terrain.mud]\nforbids = ["sleep"]', 3, "terrain.mud.forbids",
         "one of rest, half_move"),
        ('extends = "hexwild"\n[terrain.mud]\nleaving = ["hit"]', 3, "terrain.mud.leaving",
         "not among the modifiers of stay"),
        ('extends = "hexwild"\n[terrain.mud]\nslip = {}', 3, "terrain.mud.slip", "initiative"),
        ('extends = "hexwild"\n[terrain.mud]\nslip = { initiative = { dry = 10 } }', 3,
         "terrain.mud.slip.initiative", "the key wet is missing"),
        ('extends = "hexwild"\n[terrain.mud]\nslip = { initiative = { dry = 11 } }', 3,
         "terrain.mud.slip.initiative.dry", "from 1 to 10"),
        ('extends = "hexwild"\n[terrain.mud]\nknockdown = { damage = "1d0 blunt" }', 3,
         "terrain.mud.knockdown.damage", "damage such as '1d3 piercing'"),
        ('extends = "hexwild"\n[terrain.boulder]\n[terrain.boulder.climb]\nheight = "1d2"\n'
         'rise = 1\nsurface = "wall"\nslopes = [{ upto = 5, name = "a", modifier = 1 },\n'
         '  { upto = 5, name = "b", modifier = 1 }]', 7, "terrain.boulder.climb.slopes",
         "must rise"),
        ('extends = "hexwild"\n[terrain.boulder.climb]\nslopes = []', 3,
         "terrain.boulder.climb.slopes", "a list of tables"),
        ('extends = "pathfinder"\n[terrain.difficult]\nentry = 0.5', 3, "terrain.difficult.entry",
         "(1 tick = 1)"),
        ('extends = "pathfinder"\n[terrain.difficult]\nobstruction = 1', 3,
         "terrain.difficult.obstruction", "unknown key"),
        ('extends = "pathfinder"\n[terrain.difficult]\nnumber = "depth"', 3,
         "terrain.difficult.number", "one of obstruction, weight"),
        ('extends = "hexwild"\n[terrain.mud\nentry = 1', 2, "", "not valid TOML"),
        ('extends = "hexwild"\nname = ', None, "", "not valid TOML"),
    ],
)  # fmt: skip
def test_each_fault_has_its_line_and_key(write, text, line, key, expected):
    only(write(text), line, key, expected)


def test_files_that_are_no_rules_files(write, tmp_path):
    with pytest.raises(
        RulesError, match=r"cannot read the rules file .*nowhere\.toml: No such file"
    ):
        systems.load(tmp_path / "nowhere.toml")
    path = write("")
    path.write_bytes(b'extends = "hexwild"\n\xff\xfe')
    with pytest.raises(RulesError, match="no text in UTF-8: byte 20 is malformed"):
        systems.load(path)
    path.write_bytes(b"#" * (2 << 20))
    with pytest.raises(RulesError, match="2097152 bytes; a rules file has at most 1048576"):
        systems.load(path)
    with pytest.raises(RulesError):
        systems.load(write("a = " + "[" * 20_000))
    with pytest.raises(RulesError, match="not valid TOML"):
        systems.load(write("a = " + "9" * 5000))


def test_a_file_may_begin_with_a_byte_order_mark_and_have_windows_line_ends(write):
    path = write("")
    path.write_bytes(b'\xef\xbb\xbfextends = "hexwild"\r\n[terrain.mud]\r\nentry = 1.3\r\n')
    only(path, 3, "terrain.mud.entry", "1.3")


def test_a_system_of_ones_own_can_be_extended_if_it_is_one_on_a_grid(write, monkeypatch):
    monkeypatch.setattr(systems, "_registered", {})
    marsh = systems.load(write('extends = "hexwild"\n[terrain.mud]\nentry = 3\n', "marsh.toml"))
    systems.register(marsh)
    rules = systems.load(write('extends = "marsh"\n[terrain.mud]\nexit = 2\n'))
    assert (rules.table["mud"].entry, rules.table["mud"].exit) == (3, 2)


def test_lines_are_found_past_strings_and_lists_over_several_lines():
    text = '''\
title = """
[terrain.fake]
entry = 1
"""
numbers = [
  1, # ]
  "]",
]
[terrain.mud] # mud
"entry" = 1
bold.save = 2
  [terrain.'far away']
  x = 'a#b' # y = 1
z = { a = "}" , b = 2 }
q = "\\""
[[rows]]
w = 1
'''
    assert locate(text) == {
        ("title",): 1,
        ("numbers",): 5,
        ("terrain",): 9,
        ("terrain", "mud"): 9,
        ("terrain", "mud", "entry"): 10,
        ("terrain", "mud", "bold"): 11,
        ("terrain", "mud", "bold", "save"): 11,
        ("terrain", "far away"): 12,
        ("terrain", "far away", "x"): 13,
        ("terrain", "far away", "z"): 14,
        ("terrain", "far away", "q"): 15,
        ("rows",): 16,
        ("rows", "w"): 17,
    }
    doc = Document(text, "text")
    assert doc.line(("terrain", "far away", "z", "b")) == 14
    assert doc.line(("nothing",)) is None


def test_faults_survive_pickling():
    error = TableError("x.toml", [Fault(2, "b", "late"), Fault(1, "a", "early")])
    assert [fault.line for fault in error.faults] == [1, 2]
    copy = pickle.loads(pickle.dumps(error))
    assert copy.faults == error.faults
    assert str(copy) == str(error)

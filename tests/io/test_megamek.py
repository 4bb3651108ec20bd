"""MegaMek boards: every quirk, every fault with its line, the mapping table, the shared files."""

import tomllib
from collections import Counter

import pytest

from fieldcraft import io, rules
from fieldcraft.errors import ArgumentTypeError, MapError, RulesError
from fieldcraft.io import FieldcraftWarning, megamek
from sharedfolder import shared_dir

TABLE = megamek.mapping_for(rules.get("hexwild"))
SMALL = """size 2 3
hex 0101 0 "" ""
hex 0201 1 "woods:1;foliage_elev:2" "grass"
hex 0102 -3 "" ""
hex 0202 0 "smoke:2" ""
hex 0103 10 "woods:2;rough:1" "grass"
hex 0203 0 "" ""
end
"""


def parse(text, table=TABLE):
    return megamek.parse_board(text, table, source="a.board")


def rows(terrain):
    return [["+".join(terrain.kinds[code]) for code in row] for row in terrain.codes]


def one(terrain, table=TABLE):
    """Return what one hex with that terrain becomes, and its top."""
    board = parse(f'size 1 1\nhex 0101 2 "{terrain}" ""\nend\n', table)
    return "+".join(board.kind((0, 0))), board.elevation[0, 0]


def file(tmp_path, text, name="a.board"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_small_board():
    terrain = parse(SMALL)
    assert terrain.lattice.name == "odd-q"
    assert rows(terrain) == [
        ["open", "light_forest"],
        ["open", "open+fog:2"],
        ["heavy_forest+stones", "open"],
    ]
    assert terrain.elevation.tolist() == [[0, 1], [-3, 0], [10, 0]]


@pytest.mark.parametrize(
    "text",
    [
        SMALL.rstrip("\n"),
        SMALL.replace("\n", "\n\n"),
        SMALL.replace("size", "SIZE").replace("hex", "Hex").replace("end", "End"),
        SMALL.replace(" ", "   ").replace("hex", "\thex"),
        '# a comment with an "odd quotation mark\n' + SMALL.replace('grass"', 'grass" # sand'),
        SMALL + "whatever comes after the end\n",
        SMALL.replace("end", 'option exit_roads_to_pavement false\ntag "Woods (Auto)"\nend'),
        'description "a # of hexes"\nnote "x"\nbackground "pictures/a b.png"\n' + SMALL,
        SMALL.replace(' "grass"', "").replace(' ""\n', "\n", 1),
        SMALL.replace("foliage_elev:2", "foliage_elev:2;"),
        SMALL.replace("woods:1;", "woods:2;woods:1:63;"),
    ],
)
def test_harmless_variants(text):
    terrain = parse(text)
    assert rows(terrain) == rows(parse(SMALL))
    assert terrain.elevation.tolist() == parse(SMALL).elevation.tolist()


def test_line_ends_marks_and_umlauts(tmp_path):
    text = SMALL.replace("\n", "\r\n").replace("grass", "Gebüsch")
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        path = file(tmp_path, text.encode(encoding), "Küste der Bären's 1.board")
        board = megamek.read(path)
        assert rows(board.terrain) == rows(parse(SMALL))
        assert board.name == "Küste der Bären's 1"
        assert board.rules.name == "hexwild"


def long_board(width, height):
    lines = [f"size {width} {height}"]
    for row in range(1, height + 1):
        lines += [f'hex {col:02d}{row:02d} {row} "" ""' for col in range(1, width + 1)]
    return "\n".join([*lines, "end"])


@pytest.mark.parametrize(("width", "height"), [(1, 112), (112, 1), (101, 101)])
def test_long_numbers(width, height):
    """Numbers of five and six digits; a warning would fail the test."""
    terrain = parse(long_board(width, height))
    assert terrain.shape == (height, width)
    assert terrain.elevation[:, 0].tolist() == list(range(1, height + 1))


def test_misplaced_numbers_warn_and_file_order_counts(tmp_path):
    text = SMALL.replace("0201", "0102", 1)
    with pytest.warns(FieldcraftWarning, match=r"line 3: hex 0102 is not .* the first of 1; "):
        terrain = parse(text)
    assert rows(terrain) == rows(parse(SMALL))
    swapped = SMALL.replace("0102", "9999").replace("0201", "10001")
    for read in (megamek.read, io.read):
        with pytest.warns(FieldcraftWarning, match="hex 10001 is not .* the first of 2; ") as w:
            read(file(tmp_path, swapped))
        assert [warning.filename for warning in w] == [__file__]


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("size 2 3\n", "", "line 1: a 'hex' line comes before the 'size' line"),
        ("size 2 3", "size 2", "line 1: expected 'size' with width and height in whole numbers"),
        ("size 2 3", "size 2 x", "line 1: expected 'size' with width and height"),
        ("size 2 3", "size 2 -3", "line 1: expected 'size' with width and height"),
        ("size 2 3", "size 0 0", "line 1: an empty map: size 0 0"),
        ("size 2 3", "size 0 3", "line 1: an empty map: size 0 3"),
        ("size 2 3", "size 99999 99999", "line 1: size 99999 99999 claims 9,999,800,001 hexes"),
        ("size 2 3", "size 2 3\nsize 2 3", "line 2: 'size' is given a second time"),
        ("size 2 3", "size 2 2", "line 6: one hex too many: size 2 2 has 4 hexes"),
        ("size 2 3", "size 2 4", "line 8: 'end' comes after 6 hexes; size 2 4 has 8"),
        ("end\n", "", "line 7: the file ends without 'end'; is a MegaMek board cut off?"),
        ("end", "ent", r"line 8: unknown keyword 'ent' \(did you mean 'end'\?\)"),
        ("hex 0102", "hax 0102", r"line 4: unknown keyword 'hax' \(did you mean 'hex'\?\)"),
        ("hex 0102 -3", "hex 0102 deep", "line 4: the level of hex 0102 .* not 'deep'"),
        ("hex 0102 -3", "hex 0102 1.5", "line 4: the level of hex 0102 .* not '1.5'"),
        ("hex 0102 -3", "hex 0102 12345678", "line 4: the level of hex 0102"),
        ("hex 0102", "hex 12", "line 4: the number of a hex has four to six digits, not '12'"),
        ("hex 0102", "hex A102", "line 4: the number of a hex has four to six digits"),
        ('-3 "" ""', "-3", "line 4: expected 'hex' with number, level, terrain and theme"),
        ('-3 "" ""', '-3 "" "" ""', "line 4: expected 'hex' with number, level"),
        ('"grass"', '"grass', "line 3: a quotation mark is not closed"),
        ("woods:1;", "wods:1;", r"line 3: hex 0201: unknown terrain 'wods' \(did you mean 'woods'"),
        ("woods:1;", "woods:7;", "hex 0201: terrain 'woods' has the unknown number 7; expected 1"),
        ("woods:1;", "woods;", "line 3: hex 0201: terrain 'woods' is not understood; expected"),
        ("woods:1;", "woods:x;", "line 3: hex 0201: terrain 'woods:x' is not understood"),
        ("woods:1;", "woods:1:2:3;", "line 3: hex 0201: terrain 'woods:1:2:3' is not understood"),
    ],
)
def test_faults_of_boards(old, new, match):
    assert old in SMALL
    with pytest.raises(MapError, match=match) as caught:
        parse(SMALL.replace(old, new, 1))
    assert str(caught.value).startswith("a.board, line ")
    assert "\n" not in str(caught.value)


def test_board_without_size():
    with pytest.raises(MapError, match="line 2: a MegaMek board ends without a 'size' line"):
        parse('tag "x"\nend\n')


def test_board_cut_off_anywhere():
    whole = SMALL.rstrip("\n")
    for end in range(1, len(whole)):
        with pytest.raises(MapError, match=r"a\.board, line "):
            parse(whole[:end])


def test_huge_claims_are_refused_before_allocating(tmp_path):
    with pytest.raises(MapError, match="claims 999,999,998,000,000,001 hexes"):
        megamek.read(file(tmp_path, 'size 999999999 999999999\nhex 0101 0 "" ""\nend\n'))


# -- what terrain becomes


@pytest.mark.parametrize(
    ("terrain", "kind"),
    [
        ("", "open"),
        ("woods:1;foliage_elev:2", "light_forest"),
        ("woods:2;foliage_elev:2", "heavy_forest"),
        ("woods:3;foliage_elev:3", "ancient_trees"),
        ("jungle:1;foliage_elev:2", "light_forest+light_bushes"),
        ("jungle:2;foliage_elev:2", "heavy_forest+heavy_bushes"),
        ("jungle:3;foliage_elev:3", "ancient_trees+heavy_bushes"),
        ("planted_fields:5", "light_bushes"),
        ("smoke:1", "open+fog"),
        ("smoke:2;woods:1;foliage_elev:2", "light_forest+fog:2"),
        ("rough:1", "stones"),
        ("rough:2", "sharp_rocks"),
        ("rubble:1", "gravel"),
        ("rubble:3", "stones"),
        ("rubble:6", "sharp_rocks"),
        ("rough:1;woods:2", "heavy_forest+stones"),
        ("sand:1", "gravel"),
        ("swamp:1", "mud"),
        ("mud:1;swamp:1", "mud"),
        ("water:0", "gravel"),
        ("water:0;mud:1", "gravel+mud"),
        ("water:1", "deep_water"),
        ("water:4;rapids:1", "deep_water"),
        ("smoke:1;water:1", "deep_water+fog"),
        ("ice:1;water:2;snow:1", "open"),
        ("water:2:9;bridge:3:9;bridge_cf:100", "open"),
        ("magma:1", "stones"),
        ("magma:2", "deep_water"),
        ("impassable:1", "deep_water"),
        ("building:1:0;bldg_cf:15;rubble:1", "building+gravel"),
        ("fuel_tank:1;fuel_tank_cf:40", "building"),
        ("heavy_industrial:2", "stones+fog"),
        ("road:1:09;pavement:1;snow:2;tundra:1;fire:1;cliff_top:1:03", "open"),
    ],
)
def test_terrain(terrain, kind):
    assert one(terrain)[0] == kind


def test_order_in_the_file_does_not_matter_for_bases():
    assert one("woods:1;rough:1")[0] == one("rough:1;woods:1")[0] == "light_forest+stones"


def test_top_of_buildings_and_bridges():
    assert one("") == ("open", 2)
    assert one("building:1;bldg_elev:3") == ("building", 5)
    assert one("fuel_tank:1;fuel_tank_elev:1") == ("building", 3)
    assert one("bridge:1;bridge_elev:6;water:1") == ("open", 8)


def test_every_id_of_the_table_is_known_to_the_rules():
    hexwild = rules.get("hexwild")
    known = set(hexwild.table)
    ids = {TABLE.ground, *TABLE.base}
    ids |= {id_ for numbers in TABLE.terrain.values() for kind in numbers.values() for id_ in kind}
    assert {id_.partition(":")[0] for id_ in ids} <= known
    assert set(TABLE.hides) <= TABLE.terrain.keys()
    assert set().union(*TABLE.hides.values(), TABLE.heights) <= TABLE.terrain.keys()


def test_user_table_that_extends():
    table = megamek.mapping_for(
        rules.get("hexwild"),
        {
            "extends": "hexwild",
            "level_metres": 6,
            "unknown": "ignore",
            "terrain": {"woods": {1: "heavy_forest", "other": ["light_forest", "thorns"]}},
        },
    )
    assert one("woods:1", table) == ("heavy_forest", 12)
    assert one("woods:9", table)[0] == "light_forest+thorns"
    assert one("jungle:9", table)[0] == "open"
    assert one("jungle:2", table)[0] == "heavy_forest+heavy_bushes"
    assert one("lava_lamp:1", table)[0] == "open"


def test_user_table_of_its_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('ground = "mud"\n[terrain]\nwoods = "thorns"\nsmoke = []\n', encoding="utf-8")
    table = megamek.mapping_for(rules.get("hexwild"), path)
    assert one("woods:2;smoke:1", table)[0] == "mud+thorns"
    with pytest.raises(MapError, match="unknown terrain 'rough'"):
        one("rough:1", table)
    board = megamek.read(
        file(tmp_path, SMALL.replace(";rough:1", "").replace("foliage_elev", "smoke")), mapping=path
    )
    assert board.terrain.kind((0, 1)) == ("mud", "thorns")


@pytest.mark.parametrize(
    ("mapping", "match"),
    [
        ({"extend": "hexwild"}, r"extend: unknown key \(did you mean 'extends'\?\)"),
        ({"extends": "hexwilde"}, "extends: unknown section 'hexwilde'; expected hexwild"),
        ({}, "ground: is missing; extends = 'hexwild'"),
        ({"ground": "open"}, "terrain: is missing"),
        ({"ground": "", "terrain": {}}, "ground: expected a terrain id, not ''"),
        ({"ground": ["open"], "terrain": {}}, "ground: expected a terrain id"),
        ({"extends": "hexwild", "level_metres": 0}, "level_metres: expected a number above 0"),
        ({"extends": "hexwild", "level_metres": True}, "level_metres: expected a number above 0"),
        ({"extends": "hexwild", "level_metres": float("nan")}, "level_metres: expected a number"),
        ({"extends": "hexwild", "unknown": "skip"}, "unknown: expected 'error' or 'ignore'"),
        ({"extends": "hexwild", "base": "open"}, "base: expected a list of names, not 'open'"),
        ({"extends": "hexwild", "base": [1]}, "base: expected a list of names"),
        ({"extends": "hexwild", "heights": 3}, "heights: expected a list of names, not 3"),
        ({"extends": "hexwild", "hides": []}, "hides: expected a table"),
        ({"extends": "hexwild", "hides": {"ice": 1}}, "hides.ice: expected a list of names"),
        ({"extends": "hexwild", "terrain": 1}, "terrain: expected a table"),
        ({"ground": "open", "terrain": 1}, "terrain: expected a table, not 1"),
        ({"extends": "hexwild", "terrain": {"woods": 1}}, "terrain.woods: expected a list of"),
        ({"extends": "hexwild", "terrain": {"woods": {1: ""}}}, "terrain.woods.1: expected a list"),
        ({"extends": "hexwild", "terrain": {"woods": {"x": "a"}}}, "terrain.woods: expected a num"),
    ],
)
def test_faults_of_tables(mapping, match):
    with pytest.raises(RulesError, match=match) as caught:
        megamek.mapping_for(rules.get("hexwild"), mapping)
    assert str(caught.value).startswith("mapping: ")


def test_faults_of_table_files(tmp_path):
    hexwild = rules.get("hexwild")
    path = tmp_path / "mine.toml"
    with pytest.raises(MapError, match="there is no such file; expected a mapping table"):
        megamek.mapping_for(hexwild, path)
    path.write_text("ground = open\n", encoding="utf-8")
    with pytest.raises(RulesError, match=r"mine\.toml: is no TOML: .*line 1"):
        megamek.mapping_for(hexwild, path)
    path.write_text("ground = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(RulesError, match=r"mine\.toml: is no TOML"):
        megamek.mapping_for(hexwild, path)
    path.write_text('ground = "open"\n', encoding="utf-8")
    with pytest.raises(RulesError, match=r"mine\.toml: terrain: is missing"):
        megamek.mapping_for(hexwild, str(path))
    with pytest.raises(ArgumentTypeError, match="mapping must be a table or the path"):
        megamek.mapping_for(hexwild, 3)


def test_system_without_a_table(tmp_path):
    with pytest.raises(
        MapError, match=r"no table of what the terrain .* is in 'octile'; .* hexwild"
    ):
        megamek.read(file(tmp_path, SMALL), rules="octile")


def test_unknown_terrain_of_a_table(tmp_path):
    mapping = {"extends": "hexwild", "terrain": {"woods": "light_forrest"}}
    with pytest.raises(MapError, match="light_forest"):
        megamek.read(file(tmp_path, SMALL), mapping=mapping)


# -- the shared boards

SHARED_BOARDS = {
    "16x17 Arena4 1": (17, 16, 0, 9),
    "16x17 Fire And Ice 2": (17, 16, -3, 8),
    "16x17 Riverland 1": (17, 16, -1, 3),
    "16x17 The Long Run 4": (17, 16, 0, 3),
    "16x17 Under Siege 1": (17, 16, -1, 2),
    "30x150 TheValley-sample-1": (150, 30, 0, 6),
    "32x34 Bleaker's Way": (34, 32, -5, 8),
    "32x34 Bocage1": (34, 32, -1, 3),
    "32x34 DesertPlateaus": (34, 32, 0, 2),
    "32x34_Mountain_Swoop": (34, 32, 0, 9),
    "River Canyon": (17, 16, -5, 9),
    "los_test_01x05_flat": (5, 1, 0, 0),
    "rugged": (17, 16, -2, 6),
}


def lines_of(path):
    """Return number, level and terrain names with numbers of each hex, read in another way."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("hex "):
            number, level = line.split()[1:3]
            terrain = line.split('"')[1]
            yield (
                number,
                int(level),
                {
                    part.split(":")[0]: int(part.split(":")[1])
                    for part in terrain.split(";")
                    if part
                },
            )


@pytest.mark.shared
@pytest.mark.parametrize("name", SHARED_BOARDS)
def test_shared_boards(name):
    path = shared_dir("data", "megamek", f"{name}.board")
    board = megamek.read(path)
    terrain = board.terrain
    height, width, lowest, highest = SHARED_BOARDS[name]
    assert terrain.shape == (height, width)
    assert (terrain.elevation.min(), terrain.elevation.max()) == (lowest, highest)
    found, expected = Counter(), Counter()
    for index, (number, level, items) in enumerate(lines_of(path)):
        row, col = divmod(index, width)
        assert number in (f"{col + 1:02d}{row + 1:02d}", f"{col + 1:03d}{row + 1:03d}")
        added = items.get("bldg_elev", 0) + items.get("bridge_elev", 0)
        assert terrain.elevation[row, col] == level + added + items.get("fuel_tank_elev", 0)
        kind = terrain.kind((row, col))
        found.update(kind)
        forest = {1: "light_forest", 2: "heavy_forest", 3: "ancient_trees"}
        for plants in ("woods", "jungle"):
            expected.update([forest[items[plants]]] if plants in items else [])
        if "water" in items and not {"ice", "bridge"} & items.keys():
            expected[("deep_water" if items["water"] else "gravel")] += 1
        expected["building"] += "building" in items or "fuel_tank" in items
        expected["fog"] += items.get("smoke") == 1
        expected["fog:2"] += items.get("smoke") == 2
    for id_ in ("light_forest", "heavy_forest", "ancient_trees", "building", "fog", "fog:2"):
        assert found[id_] == expected[id_], id_
    assert index == height * width - 1
    assert found["deep_water"] >= expected["deep_water"]
    assert found["gravel"] >= expected["gravel"]


@pytest.mark.shared
def test_shared_board_in_column_order():
    path = shared_dir("data", "megamek", "los_test_03x05_hills.board")
    with pytest.warns(FieldcraftWarning, match="line 3: hex 0102 .* the first of 12; "):
        board = megamek.read(path)
    levels = [[0, 0, 1], [0, 0, 0], [0, 4, 0], [0, 0, 0], [3, 0, 0]]
    assert board.terrain.elevation.tolist() == levels


@pytest.mark.shared
def test_shared_empty_board():
    path = shared_dir("data", "megamek", "30x17 The Castle Underground.board")
    with pytest.raises(MapError, match=r"Underground\.board, line 1: an empty map: size 0 0"):
        megamek.read(path)


@pytest.mark.shared
def test_shared_folder_holds_no_other_board():
    names = {path.stem for path in shared_dir("data", "megamek").glob("*.board")}
    assert names - SHARED_BOARDS.keys() == {
        "30x17 The Castle Underground",
        "los_test_03x05_hills",
    }


def test_the_table_is_data():
    """The file of the project has the shape that a user's own table has."""
    text = (megamek.importlib.resources.files("fieldcraft.io") / "megamek.toml").read_text("utf-8")
    section = tomllib.loads(text)["hexwild"]
    assert megamek.mapping_for(rules.get("hexwild"), section) == TABLE

"""MovingAI maps and scenarios: every quirk, every fault with its line, and the shared files."""

import math

import numpy as np
import pytest

from fieldcraft import rules
from fieldcraft.errors import ArgumentTypeError, MapError, RulesError
from fieldcraft.io import movingai
from sharedfolder import shared_dir

LETTERS = movingai.letters_for(rules.get("octile"))
SMALL = "type octile\nheight 2\nwidth 3\nmap\n.G@\nSTW\n"


def parse(text, letters=LETTERS):
    return movingai.parse_map(text, letters, source="a.map")


def rows(terrain):
    return [["+".join(terrain.kinds[code]) for code in row] for row in terrain.codes]


def file(tmp_path, text, name="a.map"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


# -- maps


def test_letters():
    terrain = parse(SMALL)
    assert terrain.lattice.name == "square"
    assert rows(terrain) == [
        ["ground", "ground", "out_of_bounds"],
        ["swamp", "trees", "water"],
    ]
    assert not terrain.has_elevation
    assert rows(parse(SMALL.replace("@", "O"))) == rows(terrain)


@pytest.mark.parametrize(
    "text",
    [
        SMALL.rstrip("\n"),
        SMALL + "\n \n",
        SMALL.replace("type octile\nheight 2\nwidth 3", "width 3\nheight 2\ntype octile"),
        SMALL.replace("type octile", "type\toctile "),
    ],
)
def test_harmless_variants(text):
    assert rows(parse(text)) == rows(parse(SMALL))


def test_line_ends_and_byte_order_mark(tmp_path):
    path = file(tmp_path, "\ufeff" + SMALL.replace("\n", "\r\n"))
    assert rows(movingai.read(path).terrain) == rows(parse(SMALL))


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("type octile\n", "", "line 3: the header .* has no 'type' line"),
        ("height 2\n", "", "line 3: the header .* has no 'height' line"),
        ("width 3\n", "", "line 3: the header .* has no 'width' line"),
        ("map\n", "", "line 4: '.G@' is no header line"),
        ("type octile", "type tile", "line 1: unknown type 'tile'; expected octile or"),
        ("height 2", "height two", "line 2: height must be a whole number, not 'two'"),
        ("height 2", "height -2", "line 2: height must be a whole number, not '-2'"),
        ("width 3", "width 3.0", "line 3: width must be a whole number, not '3.0'"),
        ("width 3", "width 3 4", "line 3: 'width 3 4' is no header line"),
        ("width 3", "width 9999999999", "line 3: width must be a whole number"),
        ("width 3", "width 3\nwidth 3", "line 4: 'width' is given a second time"),
        ("height 2", "height 0", "line 2: an empty map: height is 0"),
        ("width 3", "width 0", "line 3: an empty map: width is 0"),
        ("height 2", "height 3", "line 6: the file ends after 2 of 3 rows for height 3"),
        ("height 2", "height 1", "line 6: one row too many; expected 1 rows for height 1"),
        ("width 3", "width 4", "line 5: the row has 3 characters, expected width 4"),
        ("STW", "STWW", "line 6: the row has 4 characters, expected width 3"),
        ("STW", "ST", "line 6: the row has 2 characters, expected width 3"),
        ("STW", "STx", "line 6: unknown character 'x' in column 2; expected one of . G S"),
        ("G@\n", "g@\n", "line 5: unknown character 'g' in column 1"),
        ("STW", "ST\U0001f409", "line 6: unknown character '\U0001f409' in column 2"),
        ("height 2", "height 99999", "claims 99999 x 3 cells, but holds only"),
        ("type octile", "Gg, Gg, Gg, Gs^Fp", "line 1: 'Gg, Gg, Gg, Gs\\^Fp' is no header line"),
    ],
)
def test_faults_of_maps(old, new, match):
    assert old in SMALL
    with pytest.raises(MapError, match=match) as caught:
        parse(SMALL.replace(old, new, 1))
    assert str(caught.value).startswith("a.map")


def test_map_cut_off_anywhere():
    whole = SMALL.rstrip("\n")
    for end in range(1, len(whole)):
        with pytest.raises(MapError, match=r"a\.map"):
            parse(whole[:end])


def test_huge_claims_are_refused_before_allocating(tmp_path):
    path = file(tmp_path, "type octile\nheight 999999999\nwidth 999999999\nmap\n...\n")
    with pytest.raises(MapError, match="claims 999999999 x 999999999 cells, but holds only"):
        movingai.read(path)


CORNERS = """type octile-corner
height 3
width 3
map
222
246
223
GgO
sWO
OOO
"""


def test_corner_heights():
    terrain = parse(CORNERS)
    assert rows(terrain) == [["ground", "ground"], ["swamp", "water"]]
    assert terrain.elevation.tolist() == [[0.5, 1.5], [0.5, 1.75]]
    lower = parse(CORNERS.replace("222\n246\n223", "000\n000\n000"))
    assert np.all(lower.elevation == -2)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("246", "2x6", "line 6: unknown character 'x' in column 1; expected a corner height"),
        ("GgO", "G?O", r"line 8: unknown character '\?' in column 1; expected one of"),
        ("OOO\n", "", "line 9: the file ends after 5 of 6 rows: 3 of corner heights, then 3"),
        ("OOO\n", "OOO\nOOO\n", "line 11: one row too many; expected 6 rows"),
        ("246", "24", "line 6: the row has 2 characters, expected width 3"),
        ("OOO\n", "O9O\n", "line 10: unknown character '9' in column 1"),
        ("height 3", "height 1", "1 x 3 corners make an empty map"),
    ],
)
def test_faults_of_corner_maps(old, new, match):
    with pytest.raises(MapError, match=match):
        parse(CORNERS.replace(old, new, 1))


def test_letters_of_other_systems():
    letters = movingai.letters_for(rules.get("pathfinder"))
    assert rows(parse(SMALL, letters)) == [["open", "open", "wall"], ["difficult", "wall", "water"]]
    with pytest.raises(MapError, match=r"no table of what the letters .* are in 'hexwild'"):
        movingai.letters_for(rules.get("hexwild"))


def test_mapping_replaces_letters():
    octile = rules.get("octile")
    letters = movingai.letters_for(octile, {"T": "out_of_bounds", " ": "ground"})
    text = "type octile\nheight 2\nwidth 2\nmap\n.T\n  \n"
    assert rows(parse(text, letters)) == [["ground", "out_of_bounds"], ["ground", "ground"]]
    hexwild = movingai.letters_for(rules.get("hexwild"), {".": ["open", "fog"]})
    assert hexwild == {".": ("open", "fog")}


@pytest.mark.parametrize(
    ("mapping", "error", "match"),
    [
        ({"ab": "ground"}, RulesError, "'ab' is not one character"),
        ({3: "ground"}, RulesError, "3 is not one character"),
        ({"a": ""}, RulesError, "'a' must become a terrain id"),
        ({"a": []}, RulesError, "'a' must become a terrain id"),
        ({"a": [1]}, RulesError, "'a' must become a terrain id"),
        ({"a": 1}, RulesError, "'a' must become a terrain id"),
        ("a.toml", ArgumentTypeError, "mapping must go from letter to terrain id, not str"),
    ],
)
def test_faults_of_mappings(mapping, error, match):
    with pytest.raises(error, match=match):
        movingai.letters_for(rules.get("octile"), mapping)


def test_board(tmp_path):
    board = movingai.read(file(tmp_path, SMALL, "small.map"))
    assert board.rules.name == "octile"
    assert board.name == "small"
    assert board.shape == (2, 3)
    assert movingai.read(file(tmp_path, SMALL), rules="pathfinder").rules.name == "pathfinder"


def test_unknown_terrain_of_a_mapping(tmp_path):
    with pytest.raises(MapError, match="grund"):
        movingai.read(file(tmp_path, SMALL), mapping={"G": "grund"})


SHARED_MAPS = {
    "bg512/AR0331SR": {".": 37884, "@": 224260},
    "cities/Berlin_0_256": {".": 48147, "@": 17389},
    "cities/Denver_1_256": {".": 48145, "@": 17391},
    "da2/ht_chantry": {".": 7461, "@": 13750, "T": 1631},
    "da2/lt_backalley_g": {".": 6928, "@": 8884, "T": 1088},
    "dao/arena": {".": 2054, "T": 347},
    "dao/den312d": {".": 2445, "@": 255, "T": 2565},
    "dao/lak303d": {".": 14784, "@": 14165, "T": 8687},
    "mapf/den312d": {".": 2445, "@": 255, "T": 2565},
    "mapf/empty-8-8": {".": 64},
    "mapf/maze-32-32-2": {".": 666, "@": 358},
    "mapf/random-32-32-20": {".": 819, "@": 204, "T": 1},
    "mapf/room-32-32-4": {".": 682, "@": 342},
    "mapf/warehouse-10-20-10-2-1": {".": 5699, "T": 4444},
    "mazes/maze512-32-1": {".": 253808, "@": 8336},
    "random/random512-25-3": {".": 195275, "@": 65536, "T": 1333},
    "rooms/32room_004": {".": 235829, "@": 15729, "T": 10586},
    "sc1/Sandstorm": {".": 75256, "@": 52631, "T": 68721},
    "wc3maps512/icecrown": {".": 82391, "@": 30965, "S": 94175, "T": 35653, "W": 18960},
    "wc3maps512/nighthaven": {".": 36462, "@": 59066, "S": 87433, "T": 27404, "W": 51779},
}


def counts(terrain):
    """Return how many cells there are of each terrain."""
    found = np.bincount(terrain.codes.ravel(), minlength=len(terrain.kinds))
    return {kind[0]: int(n) for kind, n in zip(terrain.kinds, found, strict=True)}


@pytest.mark.shared
@pytest.mark.parametrize("name", SHARED_MAPS)
def test_shared_maps(name):
    board = movingai.read(shared_dir("data", "movingai", f"{name}.map"))
    letters = {".": "ground", "@": "out_of_bounds", "S": "swamp", "T": "trees", "W": "water"}
    assert counts(board.terrain) == {letters[k]: n for k, n in SHARED_MAPS[name].items()}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "shape", "lowest", "highest"),
    [("gnollwood", (160, 160), -2, 1), ("icecrown", (192, 192), -1, 2)],
)
def test_shared_corner_maps(name, shape, lowest, highest):
    path = shared_dir("data", "movingai", "wc3maps-octile-corner", f"{name}.map")
    terrain = movingai.read(path).terrain
    assert terrain.shape == shape
    assert set(counts(terrain)) == {"ground", "out_of_bounds", "swamp", "trees", "water"}
    assert (terrain.elevation.min(), terrain.elevation.max()) == (lowest, highest)


@pytest.mark.shared
def test_shared_folder_holds_no_other_map():
    folder = shared_dir("data", "movingai")
    found = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.map")}
    corner = {f"wc3maps-octile-corner/{name}" for name in ("gnollwood", "icecrown")}
    assert found == SHARED_MAPS.keys() | corner


# -- scenarios

SCENARIO = (
    "version 1\n1\tmaps/a b/x.map\t10\t8\t3\t2\t9\t7\t7.82843\n0\tx.map\t10\t8\t0\t0\t0\t4\t4\n"
)


def scenario(text):
    return movingai.parse_scenario(text, source="a.scen")


def test_scenario_rows():
    first, second = scenario(SCENARIO)
    assert (first.line, first.bucket, first.map_name) == (2, 1, "maps/a b/x.map")
    assert (first.width, first.height) == (10, 8)
    assert (first.start, first.goal) == ((2, 3), (7, 9))
    assert (first.printed, first.length) == ("7.82843", 7.82843)
    assert (second.start, second.goal, second.printed) == ((0, 0), (4, 0), "4")
    assert len(scenario(SCENARIO)) == 2


@pytest.mark.parametrize(
    "text",
    [
        SCENARIO.replace("\t", " "),
        SCENARIO.replace("\t", "   "),
        SCENARIO.replace("version 1", "version 1.0"),
        SCENARIO.replace("version 1", "version  1 "),
        SCENARIO.replace("\n0", "\n\n0") + "\n\n",
        SCENARIO.replace("\t7.82843", "\t7.82843 "),
    ],
)
def test_harmless_variants_of_scenarios(text):
    def strip(row):
        return (row.map_name, row.width, row.height, row.start, row.goal, row.length)

    assert [strip(row) for row in scenario(text)] == [strip(row) for row in scenario(SCENARIO)]


def lengths(version, *printed):
    row = "1\tx.map\t10\t10\t0\t0\t9\t9\t"
    text = f"version {version}\n" + "".join(f"{row}{length}\n" for length in printed)
    return [row.tolerance for row in scenario(text)]


def test_tolerance_of_six_significant_digits():
    found = lengths("1", "1029.79", "198.368", "4", "5.65685", "99.2", "0")
    assert found == pytest.approx([0.005, 0.0005, 5e-6, 5e-6, 5e-5, 5e-6], rel=0.05)
    assert found[0] == 0.005 + 2e-8 * 1029.79


def test_root_of_single_precision():
    """Rows of the shared files, whose exact lengths round to another sixth digit."""
    single = float(np.float32(math.sqrt(2)))
    for straight, diagonal, printed in ((100, 96, "235.764"), (15, 48, "82.8822")):
        (row,) = scenario(f"version 1\n0\tx.map\t9\t9\t0\t0\t4\t4\t{printed}\n")
        exact = straight + diagonal * math.sqrt(2)
        assert f"{exact:g}" != printed == f"{straight + diagonal * single:g}"
        assert row.matches(exact)


def test_tolerance_of_two_decimals():
    assert lengths("1.0", "306.97", "12.90", "7.00") == pytest.approx([0.005] * 3, rel=1e-12)
    assert lengths("1.0", "306.97") == pytest.approx([0.005], rel=1e-12)
    assert lengths("1", "306.97", "12.90") == pytest.approx([0.005] * 2, rel=1e-12)


def test_tolerance_of_eight_decimals():
    found = lengths("1", "47.24264069", "2.00000000")
    assert found == pytest.approx([5e-9 + 3e-10 * 47.24264069, 5e-9 + 6e-10], rel=1e-12)
    # A length of more than six digits needs no zero at the end to tell.
    assert lengths("1", "47.24264069") == pytest.approx([5e-9 + 3e-10 * 47.24264069], rel=1e-12)


def test_tolerance_of_whole_numbers_and_powers():
    assert lengths("1", "3", "12") == pytest.approx([5e-6, 5e-5], rel=0.02)
    assert lengths("1.0", "3", "12") == pytest.approx([5e-6, 5e-5], rel=0.02)
    assert lengths("1", "1.25e+06", "4") == pytest.approx([5.0, 5e-6], rel=0.02)


def test_matches():
    (row,) = scenario("version 1\n1\tx.map\t9\t9\t0\t0\t4\t4\t5.65685\n")
    assert row.matches(4 * math.sqrt(2))
    assert not row.matches(5.65684)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("version 1\n", "", "line 1: .* does not begin a MovingAI scenario; expected 'version 1'"),
        ("version 1", "version 2", "line 1: 'version 2' does not begin"),
        ("\t7.82843", "", "line 2: the row has 9 fields, expected 9: bucket"),
        ("\t8\t0\t0\t0\t4\t4", "", "line 3: the row has 3 fields, expected 9: bucket, map name"),
        ("7.82843", "long", "line 2: optimal length must be a number, not 'long'"),
        ("7.82843", "-1", "line 2: optimal length must be a number, not '-1'"),
        ("7.82843", "nan", "line 2: optimal length must be a number, not 'nan'"),
        ("7.82843", "inf", "line 2: optimal length must be a number, not 'inf'"),
        ("7.82843", "1" * 5000, "line 2: optimal length must be a number"),
        ("\n0\tx", "\nz\tx", "line 3: bucket must be a whole number, not 'z'"),
        ("\n0\tx", "\n-1\tx", "line 3: bucket must be a whole number, not '-1'"),
        ("3\t2\t9", "3\t8\t9", "line 2: start x 3, y 8 lies outside the map of width 10 and"),
        ("9\t7\t7", "10\t7\t7", "line 2: goal x 10, y 7 lies outside the map"),
        (SCENARIO[10:], "", "line 1: the file ends before the first row"),
    ],
)
def test_faults_of_scenarios(old, new, match):
    assert old in SCENARIO
    text = SCENARIO.replace(old, new, 1)
    if "9 fields" in match:  # a map name with a blank makes up the number; the numbers do not fit
        match = "line 2: bucket|line 2: map width"
    with pytest.raises(MapError, match=match) as caught:
        scenario(text)
    assert str(caught.value).startswith("a.scen, line ")


def test_check_against_a_map():
    terrain = parse(SMALL)
    row = "0\tx.map\t{w}\t{h}\t0\t0\t1\t1\t1.41421\n"
    fits = scenario("version 1\n" + row.format(w=3, h=2))
    fits.check(terrain)
    other = scenario("version 1\n" + row.format(w=3, h=2) + row.format(w=2, h=3))
    with pytest.raises(
        MapError, match=r"a\.scen, line 3: .* height 3 and width 2 .* has height 2 and width 3"
    ):
        other.check(terrain)


SHARED_ROWS = {
    "dao/arena.map": 160,
    "dao/den312d.map": 320,
    "dao/lak303d.map": 1060,
    "da2/ht_chantry.map": 470,
    "da2/lt_backalley_g.map": 430,
    "sc1/Sandstorm.map": 1720,
    "bg512/AR0331SR.map": 1168,
    "rooms/32room_004.map": 1810,
    "random/random512-25-3.map": 1860,
    "mazes/maze512-32-1.map": 4940,
    "cities/Denver_1_256.map": 830,
    "cities/Berlin_0_256.map": 930,
    "wc3maps512/icecrown.map": 1280,
    "wc3maps512/nighthaven.map": 1280,
    "mapf/den312d-even-1": 290,
    "mapf/den312d-random-1": 1000,
    "mapf/empty-8-8-even-1": 32,
    "mapf/empty-8-8-random-1": 32,
    "mapf/maze-32-32-2-even-1": 230,
    "mapf/maze-32-32-2-random-1": 333,
    "mapf/random-32-32-20-even-1": 100,
    "mapf/random-32-32-20-random-1": 409,
    "mapf/room-32-32-4-even-1": 130,
    "mapf/room-32-32-4-random-1": 341,
    "mapf/warehouse-10-20-10-2-1-even-1": 450,
    "mapf/warehouse-10-20-10-2-1-random-1": 1000,
}


def test_shared_rows_are_all():
    assert sum(SHARED_ROWS.values()) == 22_605


@pytest.mark.shared
@pytest.mark.parametrize("name", SHARED_ROWS)
def test_shared_scenarios(name):
    folder = shared_dir("data", "movingai")
    scenario = movingai.read_scenario(folder / f"{name}.scen")
    assert len(scenario) == SHARED_ROWS[name]
    family, _, rest = name.partition("/")
    map_name = rest.removesuffix("-even-1").removesuffix("-random-1").removesuffix(".map")
    terrain = parse((folder / family / f"{map_name}.map").read_text(encoding="utf-8"))
    scenario.check(terrain)
    for row in scenario:
        assert terrain.kind(row.start) != ("out_of_bounds",)
        assert terrain.kind(row.goal) != ("out_of_bounds",)
        if family in ("bg512", "wc3maps512"):
            expected = 0.005
        elif family in ("cities", "mapf"):
            expected = 5e-9 + 3e-10 * row.length
        else:
            sixth = 10.0 ** (math.floor(math.log10(row.length)) - 5)
            expected = 0.5 * sixth + 2e-8 * row.length
        assert row.tolerance == pytest.approx(expected, rel=1e-12)

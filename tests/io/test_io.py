"""Reading and writing by the end of the file name."""

import subprocess
import sys

import pytest

from fieldcraft import io, rules
from fieldcraft.errors import ArgumentTypeError, MapError, RulesError
from fieldcraft.io import boardfile, megamek, movingai

BOARD = 'size 1 1\nhex 0101 2 "woods:1" ""\nend\n'
MAP = "type octile\nheight 1\nwidth 2\nmap\n.T\n"
TOML = 'lattice = "square"\nrules = "pathfinder"\nrows = "."\n[legend]\n"." = "difficult"\n'


def file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "reader", "system"),
    [
        ("a.board", BOARD, megamek.read, "hexwild"),
        ("a.map", MAP, movingai.read, "octile"),
        ("a.toml", TOML, boardfile.read, "pathfinder"),
        ("A.BOARD", BOARD, megamek.read, "hexwild"),
        ("a b.c.Map", MAP, movingai.read, "octile"),
    ],
)
def test_formats(tmp_path, name, text, reader, system):
    path = file(tmp_path, name, text)
    board = io.read(path)
    assert board.rules.name == system
    assert board == reader(path) == io.read(str(path))


def test_rules_in_place_of_a_file_s_own(tmp_path):
    house = rules.get("hexwild", threshold=2)
    assert io.read(file(tmp_path, "a.board", BOARD), rules=house).rules == house
    assert io.read(file(tmp_path, "a.map", MAP), rules="pathfinder").rules.name == "pathfinder"
    with pytest.raises(RulesError, match="did you mean 'hexwild'"):
        io.read(file(tmp_path, "a.board", BOARD), rules="hexwil")


def test_mappings(tmp_path):
    board = file(tmp_path, "a.board", BOARD)
    mapping = {"ground": "mud", "terrain": {"woods": "gravel"}}
    assert io.read(board, mapping=mapping).terrain.kinds == (("mud", "gravel"),)
    with pytest.raises(MapError, match=r"a\.board: cell \(0, 0\).*did you mean 'mud'"):
        io.read(board, mapping={**mapping, "ground": "mudd"})
    with pytest.raises(MapError, match=r"a\.board, line 2: hex 0101: unknown terrain 'woods'"):
        io.read(board, mapping={**mapping, "terrain": {}})
    square = file(tmp_path, "a.map", MAP)
    kinds = io.read(square, mapping={"T": ["ground"]}).terrain.kinds
    assert kinds == (("ground",),)
    with pytest.raises(ArgumentTypeError, match="mapping must go from letter"):
        io.read(square, mapping="letters.toml")
    with pytest.raises(MapError, match="takes no mapping"):
        io.read(file(tmp_path, "a.toml", TOML), mapping={})


@pytest.mark.parametrize("name", ["a.txt", "a", "a.board.gz", ".board"])
def test_unknown_formats(tmp_path, name):
    with pytest.raises(MapError, match=r"unknown kind of map file; expected \.board \(MegaMek\), "):
        io.read(file(tmp_path, name, BOARD))
    with pytest.raises(MapError, match="unknown kind of map file"):
        io.read(tmp_path / name / "none")


def test_scenario_is_no_map(tmp_path):
    with pytest.raises(MapError, match="is a scenario, not a map"):
        io.read(file(tmp_path, "a.map.scen", "version 1\n"))


@pytest.mark.parametrize(("name", "text"), [("a.board", BOARD), ("a.map", MAP), ("a.toml", TOML)])
def test_limit(tmp_path, name, text):
    path = file(tmp_path, name, text)
    with pytest.raises(MapError, match=f"has {len(text)} bytes"):
        io.read(path, max_bytes=len(text) - 1)
    assert io.read(path, max_bytes=len(text))


@pytest.mark.parametrize(("name", "text"), [("a.board", BOARD), ("a.map", MAP), ("a.toml", TOML)])
def test_any_board_is_written_and_read(tmp_path, name, text):
    board = io.read(file(tmp_path, name, text))
    path = tmp_path / "out.TOML"
    io.write(board, path)
    assert io.read(path) == board


def test_other_formats_are_not_written(tmp_path):
    board = io.read(file(tmp_path, "a.board", BOARD))
    with pytest.raises(MapError, match=r"boards are written to \.toml files only"):
        io.write(board, tmp_path / "b.board")
    assert not (tmp_path / "b.board").exists()


def test_reading_needs_no_kernel(tmp_path):
    path = file(tmp_path, "a.board", BOARD)
    code = (
        "import sys, fieldcraft.io; fieldcraft.io.read(sys.argv[1]); print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"

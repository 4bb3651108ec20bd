"""Files of encounters: what is written is read again, and what is no encounter is set aside."""

from __future__ import annotations

import json
import math
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
from fieldcraft.encounters import (
    BOARD_LIGHT,
    GROUNDS,
    Boards,
    Combatant,
    Conditions,
    Encounter,
    Encounters,
    Profile,
    boards_of,
    check,
    files,
    parts,
    read,
    read_part,
    read_rejects,
    write,
    write_rejects,
)
from fieldcraft.encounters.files import joined
from fieldcraft.encounters.rows import FARTHEST, Rows, read_row
from fieldcraft.encounters.schema import VERSION
from fieldcraft.encounters.tables import encounters_schema, read_batch, row_of, to_table
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.tactics import Weapon
from strategies import examples

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FORMS = ("parquet", "jsonl")
PROFILES = (
    Profile("scout", fc.Creature("scout", "small", "8 sq"), (Weapon("sling", "10 sq", -4),)),
    Profile("ogre", fc.Creature("ogre", "huge", 6, body=3), (Weapon("club"), Weapon("rock", 8))),
    Profile(
        "harpy",
        fc.Creature(
            "a harpy", "medium", {"walk": 4, "fly": None}, 2.5, "bold", False,
            frozenset({"mud", "thorns"}), reach=2, hovers=True, saves={"reflex": 62.5},
        ),
    ),
)  # fmt: skip
GLADE = fc.Board([["open"] * 8] * 8, lattice="odd-r", name="glade")
HALL = fc.Board([["open"] * 12] * 5, lattice="even-q", rules=fc.rules.get("hexwild", threshold=3))
BOARDS = {"glade": GLADE, "a hall/of stone": HALL}


# ---- There and back ----------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def tokens(draw: st.DrawFn, board: str) -> tuple[Combatant, ...]:
    height, width = BOARDS[board].shape
    cells = st.tuples(st.integers(0, height - 1), st.integers(0, width - 1))
    drawn = draw(st.lists(cells, min_size=1, max_size=4, unique=True))
    flags = st.booleans()
    return tuple(
        Combatant(
            draw(st.sampled_from(["scout", "harpy"])), draw(texts), cell,
            draw(st.just("") | texts), draw(st.just(0) | st.integers(0, 1000)),
            draw(flags), draw(flags), draw(flags),
        )
        for cell in drawn
    )  # fmt: skip


@st.composite
def encounters(draw: st.DrawFn) -> Encounter:
    board = draw(st.sampled_from(sorted(BOARDS)))
    conditions = Conditions(draw(st.none() | st.integers(-127, 0)), draw(st.sampled_from(GROUNDS)))
    return Encounter(board, draw(tokens(board)), conditions, draw(st.just("") | texts))


@examples(40)
@given(st.lists(encounters(), max_size=6), st.sampled_from(FORMS))
def test_what_is_written_is_read(tmp_path_factory, given_, form):
    file = tmp_path_factory.mktemp("files") / f"x.{form}"
    whole = Encounters.of(given_, PROFILES)
    write(whole, file, boards=BOARDS)
    found = read(file)
    assert found.rejects == []
    assert found.encounters == whole
    assert list(found.encounters) == given_
    assert found.encounters.profiles == PROFILES
    assert found.encounters.number.tolist() == list(range(len(given_)))
    # One form makes the other.
    other = file.with_name(f"y.{FORMS[form == 'parquet']}")
    write(found.encounters, other, boards=BOARDS)
    assert list(read(other).encounters) == given_


def simple(n: int, *, board: str = "glade") -> Encounters:
    """Return encounters of two tokens, each of its own, four on one board."""
    return Encounters.of(
        [
            Encounter(
                board,
                (
                    Combatant("scout", "red", (i % 8, 0), f"r{i % 3}"),
                    Combatant("harpy", "blue", (i % 8, 1 + i % 7)),
                ),
                Conditions(-(i % 3) or None, GROUNDS[i % 4]),
                f"number {i}",
            )
            for i in range(n)
        ],
        PROFILES,
    )


@pytest.mark.parametrize("form", FORMS)
def test_boards_are_written_beside(tmp_path, form):
    file = tmp_path / f"camp.{form}"
    odd = {**BOARDS, "GLADE": HALL, "a hall:of stone": GLADE, "../x": GLADE, "é": GLADE}
    write(simple(3), file, boards=odd)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["camp.boards", file.name]
    names = {path.name.lower() for path in (tmp_path / "camp.boards").iterdir()}
    assert len(names) == len(odd)
    found = boards_of(file)
    assert list(found) == list(odd)
    for name, board in odd.items():
        assert found[name] == board


@pytest.mark.parametrize("form", FORMS)
def test_no_encounters_at_all(tmp_path, form):
    file = tmp_path / f"none.{form}"
    write(Encounters.of([], PROFILES), file)
    found = read(file)
    assert len(found.encounters) == 0
    assert found.encounters.profiles == PROFILES
    assert found.rejects == parts(file, 5) == []


@pytest.mark.parametrize("form", FORMS)
def test_pieces_are_written_as_one(tmp_path, form):
    file = tmp_path / f"x.{form}"
    whole = simple(50)
    write((whole[i : i + 7] for i in range(0, 50, 7)), file)
    assert read(file, boards=BOARDS).encounters == whole
    with pytest.raises(MapError, match="same profiles"):
        write([whole, Encounters.of([], PROFILES[:1])], file)
    for wrong in ([], [3], [whole, 3], 7):
        with pytest.raises((ArgumentTypeError, TypeError)):
            write(wrong, file)
    # What could not be written leaves what was there, and nothing else.
    assert read(file, boards=BOARDS).encounters == whole
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_rows_of_json_lines_may_be_floats_and_nulls(tmp_path):
    file = lines(
        tmp_path,
        {"board": "glade", "light": -2.0, "ground": None, "id": None, "extra": {"any": [1]},
         "tokens": [{**TOKEN, "cell": [1.0, 2], "level": None, "name": None, "prone": None}]},
        {"board": "glade", "tokens": [{**TOKEN, "extra": "mine"}]},
    )  # fmt: skip
    found = read(file, boards=BOARDS)
    assert found.rejects == []
    assert [e.conditions.light for e in found.encounters] == [-2, None]
    assert found.encounters[0].tokens == (Combatant("scout", "red", (1, 2)),)


@pytest.mark.parametrize("form", FORMS)
def test_a_profile_that_json_cannot_say_is_refused(tmp_path, form):
    from fractions import Fraction

    third = Profile("third", fc.Creature(speed=Fraction(1, 3)))
    one = Encounters.of([Encounter("glade", (Combatant("third", "", (0, 0)),))], [third])
    with pytest.raises(MapError, match=r"third.*no exact form"):
        write(one, tmp_path / f"x.{form}")
    half = Profile("half", fc.Creature(speed=Fraction(7, 2)), (Weapon(range=math.inf),))
    one = Encounters.of([Encounter("glade", (Combatant("half", "", (0, 0)),))], [half])
    write(one, tmp_path / f"x.{form}")
    (found,) = read(tmp_path / f"x.{form}", boards=BOARDS).encounters.profiles
    assert found.creature == half.creature


# ---- Parts -------------------------------------------------------------------------------------

TOKEN: dict[str, Any] = {"profile": "scout", "side": "red", "cell": [0, 0]}
HEADER: dict[str, Any] = {
    "fieldcraft": "encounters",
    "version": 1,
    "profiles": {
        "scout": {"creature": {"size": "small", "speed": "8 sq"}},
        "ogre": {"creature": {"speed": 6, "size": "huge", "body": 3}},
    },
}


def lines(folder: Path, *rows: Any, header: Any = None, end: str = "\n") -> Path:
    """Write a file of JSON Lines: text stays as it is."""
    texts = [row if isinstance(row, str) else json.dumps(row) for row in (header or HEADER, *rows)]
    file = folder / "camp.jsonl"
    file.write_text("".join(text + end for text in texts), encoding="utf-8", newline="")
    return file


def mixed(folder: Path, end: str = "\n") -> Path:
    """Write good rows, bad rows and blank lines."""
    rows: list[Any] = []
    for i in range(40):
        row = {"board": "glade", "id": f"{i}", "tokens": [{**TOKEN, "cell": [i % 9, 3]}]}
        if i % 5 == 1:
            row["light"] = 3
        line = "{" if i == 8 else row
        rows += [line] if i % 3 else ["", line, " \t "]
    return lines(folder, *rows, end=end)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_parts_of_lines_do_not_depend_on_their_size(tmp_path, end):
    file = mixed(tmp_path, end)
    whole = read(file, boards=BOARDS)
    assert len(whole.encounters) + len(whole.rejects) == 40
    shown = file.read_text(encoding="utf-8").split("\n")
    for reject in whole.rejects:
        assert shown[reject.line - 1].rstrip("\r") == reject.original
        assert "board" not in reject.original or f'"id": "{reject.row}"' in reject.original
    assert [int(e.id) for e in whole.encounters] == whole.encounters.number.tolist()
    for size in (1, 2, 3, 7, 39, 40, 1000):
        same_as(whole, file, size)


def same_as(whole: files.Contents, file: Path, size: int) -> None:
    """Assert that a file is the same in parts."""
    cut = [pickle.loads(pickle.dumps(part)) for part in parts(file, size)]
    assert [part.number for part in cut] == list(range(len(cut)))
    assert [part.first_row for part in cut] == list(range(0, size * len(cut), size))
    found = [read_part(part, boards=whole.boards) for part in reversed(cut)]
    assert all(part.n_rows == size for part in cut[:-1])
    pieces = [encounters for encounters, _ in found][::-1]
    assert [reject for _, rejects in reversed(found) for reject in rejects] == whole.rejects
    assert joined(pieces) == whole.encounters
    assert joined(pieces).number.tolist() == whole.encounters.number.tolist()


@pytest.mark.parametrize("group", [1, 7, 64, 100_000])
def test_parts_of_parquet_do_not_depend_on_their_size(tmp_path, group, monkeypatch):
    file = tmp_path / "x.parquet"
    monkeypatch.setattr(files, "GROUP", group)
    monkeypatch.setattr(files, "BATCH", 16)
    write(bad_rows(simple(200)), file, boards=BOARDS)
    whole = read(file)
    assert len(whole.rejects) == 29
    assert whole.encounters.number.tolist() == [i for i in range(200) if i % 7 != 0]
    for size in (13, 64, 199, 1000) if group > 1 else (50,):
        same_as(whole, file, size)


def bad_rows(given_: Encounters) -> Encounters:
    """Move a token of every seventh encounter off its map."""
    cells = given_.cells.copy()
    cells[given_.first[:-1][::7]] = 8, 100
    names = ("board", "light", "ground", "number", "first", "profile", "side", "level", "flags")
    return Encounters(
        given_.boards, given_.profiles, given_.sides, ids=given_.ids, names=given_.names,
        cells=cells, **{name: getattr(given_, name) for name in names},
    )  # fmt: skip


def test_only_the_rows_of_a_part_are_held(tmp_path, monkeypatch):
    file = tmp_path / "x.parquet"
    monkeypatch.setattr(files, "GROUP", 100_000)
    write(simple(3000), file)
    asked: list[int] = []
    real = read_batch

    def counted(batch: Any, *rest: Any) -> Any:
        asked.append(batch.num_rows)
        return real(batch, *rest)

    monkeypatch.setattr(files, "read_batch", counted)
    found, rejects = read_part(parts(file, 100)[17])
    assert found.number.tolist() == list(range(1700, 1800))
    assert rejects == []
    assert sum(asked) == 100


@pytest.mark.parametrize("form", FORMS)
def test_another_file_is_no_part(tmp_path, form):
    file = tmp_path / f"x.{form}"
    write(simple(10), file)
    part = parts(file, 5)[1]
    write(simple(200), file)
    with pytest.raises(MapError, match="when it was cut into parts"):
        read_part(part)


@pytest.mark.parametrize("size", [0, -3, 1.5, "7", True, None])
def test_a_size_that_is_none(tmp_path, size):
    with pytest.raises(ArgumentTypeError, match="size must be a whole number of rows"):
        parts(lines(tmp_path), size)


# ---- What is set aside -------------------------------------------------------------------------

ROW: dict[str, Any] = {"board": "glade", "tokens": [TOKEN]}


def token(**changes: Any) -> dict[str, Any]:
    """Return a row with another token."""
    return {"board": "glade", "tokens": [TOKEN | {"cell": [5, 5]}, TOKEN | changes]}


FAULTS = [
    ("{", "", "is not valid JSON"),
    ("[" * 100_000, "", "nested too deeply"),
    ('{"board": ' + "1" * 5000 + "}", "", "is not valid JSON"),
    ("7", "", "expected an object, not 7"),
    ("[]", "", "expected an object"),
    ("null", "", "expected an object"),
    (f'{{"id": "{"x" * (1 << 20)}"}}', "", "more than 1,048,576 bytes"),
    ({**ROW, "light": 1}, "light", "a whole number from -127 to 0, not 1"),
    ({**ROW, "light": -128}, "light", "not -128"),
    ({**ROW, "light": -1.5}, "light", "not -1.5"),
    ({**ROW, "light": math.nan}, "light", "not NaN"),
    ({**ROW, "light": -math.inf}, "light", "not -Infinity"),
    ({**ROW, "light": False}, "light", "not false"),
    ({**ROW, "light": 10**30}, "light", "not 1000000000"),
    ({**ROW, "ground": "icy"}, "ground", "did you mean 'ice'?"),
    ({**ROW, "ground": 2}, "ground", "expected one of dry, wet, snow, ice, not 2"),
    ({**ROW, "id": 7}, "id", "expected text, not 7"),
    ({**ROW, "ligth": 0}, "ligth", "did you mean 'light'?"),
    ({**ROW, "board": ""}, "board", "expected the name of a board"),
    ({"tokens": [TOKEN]}, "board", "there is none"),
    ({**ROW, "board": "glad"}, "board", "glad"),
    ({**ROW, "board": "../glade.toml"}, "board", "not below the folder"),
    ({**ROW, "board": "a\0b"}, "board", ""),
    ({**ROW, "board": "\ud800"}, "board", "expected the name of a board"),
    ({"board": "glade"}, "tokens", "expected a list of tokens; there is none"),
    ({**ROW, "tokens": []}, "tokens", "from 1 to 1,024 tokens, not 0"),
    ({**ROW, "tokens": [TOKEN] * 1025}, "tokens", "not 1,025"),
    ({**ROW, "tokens": {"0": TOKEN}}, "tokens", "expected a list"),
    ({**ROW, "tokens": [None]}, "tokens[0]", "expected an object"),
    (token(profile="scot"), "tokens[1].profile", "did you mean 'scout'?"),
    (token(profile=None), "tokens[1].profile", "expected the name of a profile"),
    (token(profile=["scout"]), "tokens[1].profile", "expected the name of a profile"),
    (token(side=None), "tokens[1].side", "expected the name of a side"),
    (token(side="\udcff"), "tokens[1].side", "expected the name of a side"),
    (token(cell=None), "tokens[1].cell", "expected [row, column]"),
    (token(cell=[1]), "tokens[1].cell", "not [1]"),
    (token(cell=[1, 2, 3]), "tokens[1].cell", "not [1, 2, 3]"),
    (token(cell="12"), "tokens[1].cell", "expected [row, column]"),
    (token(cell=[True, 2]), "tokens[1].cell", "not [true, 2]"),
    (token(cell=[0.5, 2]), "tokens[1].cell", "not [0.5, 2]"),
    (token(cell=[-1, 2]), "tokens[1].cell", "not [-1, 2]"),
    (token(cell=[0, 10**40]), "tokens[1].cell", "of 0 or more"),
    (token(cell=[0, FARTHEST]), "tokens[1].cell", "lies outside board 'glade' of 8 rows and 8"),
    (token(cell=[8, 0]), "tokens[1].cell", "(8, 0) lies outside"),
    (token(cell=[5, 5]), "tokens[1].cell", "tokens[0] is on that cell and level already"),
    (token(cell=[5, 5], level=0.0, prone=True), "tokens[1].cell", "tokens[0] is on that"),
    (token(level=-1), "tokens[1].level", "from 0 to 1,000, not -1"),
    (token(level=1001), "tokens[1].level", "not 1001"),
    (token(level="1"), "tokens[1].level", 'not "1"'),
    (token(prone=1), "tokens[1].prone", "expected true or false, not 1"),
    (token(name=1), "tokens[1].name", "expected text, not 1"),
    (token(spped=1), "tokens[1].spped", "unknown key"),
    (token(profile="ogre", cell=[0, 0]), "tokens[1].cell", "its body covers a cell"),
    (token(profile="ogre", cell=[6, 5]), "tokens[1].cell", "tokens[0] is on that cell"),
]


@pytest.mark.parametrize(("row", "field", "message"), FAULTS)
def test_a_bad_row_is_set_aside(tmp_path, row, field, message):
    good = {**ROW, "id": "good"}
    file = lines(tmp_path, good, "", row, good)
    found = read(file, boards=BOARDS)
    assert [e.id for e in found.encounters] == ["good", "good"]
    assert found.encounters.number.tolist() == [0, 2]
    (reject,) = found.rejects
    assert (reject.file, reject.row, reject.line) == (str(file), 1, 4)
    assert len(reject.faults) == 1
    assert reject.field == field
    assert message in reject.message
    assert f"{file}, line 4: row 1: " in str(reject)
    if len(reject.original) < 1 << 20:
        assert reject.original == (row if isinstance(row, str) else json.dumps(row))
    with pytest.raises(MapError, match="row 1"):
        read(file, boards=BOARDS, on_error="raise")
    write_rejects(found.rejects, tmp_path / "rejects.jsonl")
    assert read_rejects(tmp_path / "rejects.jsonl") == found.rejects
    json.loads(reject.to_json(), parse_constant=pytest.fail)


def test_every_fault_of_a_row_is_told(tmp_path):
    row = {
        "board": "glade", "light": 2, "ground": "mire", "what": 1,
        "tokens": [
            {"profile": "scout", "side": 3, "cell": [1, 1], "level": -1},
            {"profile": "nobody", "side": "red", "cell": [1]},
            {"profile": "scout", "side": "red", "cell": [3, 3]},
            {"profile": "scout", "side": "red", "cell": [3, 30]},
            {"profile": "scout", "side": "red", "cell": [3, 3]},
            {"profile": "ogre", "side": "red", "cell": [0, 0]},
        ],
    }  # fmt: skip
    (reject,) = read(lines(tmp_path, row), boards=BOARDS).rejects
    assert [fault.field for fault in reject.faults] == [
        "what", "light", "ground", "tokens[0].side", "tokens[0].level", "tokens[1].profile",
        "tokens[1].cell", "tokens[4].cell", "tokens[3].cell", "tokens[5].cell",
    ]  # fmt: skip
    assert reject.faults[1].given == 2
    assert str(reject).count(";") >= 9
    # The board that there is not, also where no token is worth looking at.
    (reject,) = read(lines(tmp_path, {"board": "x", "tokens": 1}), boards=BOARDS).rejects
    assert [fault.field for fault in reject.faults] == ["tokens", "board"]


def test_bytes_that_are_no_text(tmp_path):
    file = lines(tmp_path, ROW)
    with open(file, "ab") as stream:
        stream.write(b'{"board": "\xff"}\n' + json.dumps(ROW).encode())
    found = read(file, boards=BOARDS)
    assert found.encounters.number.tolist() == [0, 2]
    (reject,) = found.rejects
    assert "byte 0xff at 11" in reject.message
    assert reject.original == '{"board": "\\xff"}'


def test_a_byte_order_mark_is_passed_over(tmp_path):
    file = lines(tmp_path, ROW)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert len(read(file, boards=BOARDS).encounters) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
    | st.sampled_from(["scout", "glade", "red", "wet", -1, [1, 1], 2**31, 2**63, "\ud800"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3) | st.sampled_from(["cell", "side"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
keys = ("id", "board", "light", "ground", "tokens", "extra", "more")
token_keys = ("profile", "side", "cell", "name", "level", "prone", "flying", "helpless", "more")


@st.composite
def hostile_rows(draw: st.DrawFn) -> Any:
    """Draw a row that is good apart from some values, which may be anything."""
    if draw(st.integers(0, 9)) == 0:
        return draw(json_values)
    row: dict[str, Any] = {
        "board": "glade",
        "tokens": [{**TOKEN, "cell": [i, 3]} for i in range(draw(st.integers(1, 3)))],
    }
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            row[draw(st.sampled_from(keys))] = draw(json_values)
        else:
            first = row["tokens"][0] if isinstance(row["tokens"], list) and row["tokens"] else None
            if not isinstance(first, dict):
                break
            first[draw(st.sampled_from(token_keys))] = draw(json_values)
            if draw(st.booleans()):
                break
    return row


@examples(150)
@given(st.lists(hostile_rows(), min_size=1, max_size=4))
def test_any_json_is_an_encounter_or_set_aside(tmp_path_factory, rows):
    file = lines(tmp_path_factory.mktemp("hostile"), ROW, *map(json.dumps, rows), ROW)
    found = read(file, boards=Boards(BOARDS))
    numbers = [*found.encounters.number.tolist(), *(reject.row for reject in found.rejects)]
    assert sorted(numbers) == list(range(len(rows) + 2))
    assert {0, len(rows) + 1} <= {*found.encounters.number.tolist()}
    for reject in found.rejects:
        assert reject.faults
        assert all(fault.message for fault in reject.faults)
        assert reject.original == json.dumps(rows[reject.row - 1])
        json.loads(reject.to_json(), parse_constant=pytest.fail)
    assert check(found.encounters, BOARDS) == []
    again = Encounters.of(found.encounters, found.encounters.profiles)
    assert again == found.encounters
    for encounter in found.encounters:
        known = {profile.name: profile.creature for profile in found.encounters.profiles}
        GLADE.replace(tokens=[one.token(known[one.profile]) for one in encounter.tokens])
    write(found.encounters, file.with_suffix(".parquet"))
    assert read(file.with_suffix(".parquet"), boards=BOARDS).encounters == found.encounters


def test_rejects_are_repaired_and_read(tmp_path):
    found = read(mixed(tmp_path), boards=BOARDS)
    originals = [reject.original.replace('"light": 3', '"light": 0') for reject in found.rejects]
    again = read(lines(tmp_path, *originals), boards=BOARDS)
    assert len(again.encounters) > len(found.rejects) // 2


def test_a_file_that_is_none_of_rejects(tmp_path):
    file = tmp_path / "rejects.jsonl"
    write_rejects([], file)
    assert read_rejects(file) == []
    for text in ("{", "[]", "{}", '{"faults": 3}', '{"faults": [], "file": 1, "what": 2}'):
        file.write_text(text)
        with pytest.raises(MapError, match="line 1: is no file of rejects"):
            read_rejects(file)
    with pytest.raises(MapError, match="cannot be read"):
        read_rejects(tmp_path / "none.jsonl")
    with pytest.raises(MapError, match="cannot be written"):
        write_rejects([], tmp_path / "none" / "x.jsonl")


# ---- Parquet of others -------------------------------------------------------------------------


def parquet(folder: Path, table: Any, header: Any = None, **options: Any) -> Path:
    """Write a table as a file of encounters."""
    file = folder / "camp.parquet"
    text = header if isinstance(header, bytes) else json.dumps(header or HEADER).encode()
    pq.write_table(table.replace_schema_metadata({"fieldcraft": text}), file, **options)
    return file


def test_a_plain_table_is_read(tmp_path):
    token_type = pa.struct(
        [("side", pa.large_string()), ("col", pa.uint8()), ("row", pa.float64()),
         ("profile", pa.string())]
    )  # fmt: skip
    table = pa.table(
        {
            "tokens": pa.array(
                [[{"profile": "scout", "side": "red", "row": 1.0, "col": 2}]] * 3,
                pa.large_list(token_type),
            ),
            "light": pa.array([None, -2.0, math.nan]),
            "board": ["glade"] * 3,
            "extra": [1, 2, 3],
            "ground": pa.nulls(3),
        }
    )
    found = read(parquet(tmp_path, table), boards=BOARDS)
    assert found.encounters.light.tolist() == [BOARD_LIGHT, -2]
    assert found.encounters[0].tokens == (Combatant("scout", "red", (1, 2)),)
    assert [(reject.row, reject.field) for reject in found.rejects] == [(2, "light")]
    assert json.loads(found.rejects[0].original)["tokens"][0]["cell"] == [1, 2]


NUMBERS = st.sampled_from((pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.float64()))
WORDS = st.sampled_from(
    (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.null())
)


def numbers(draw: st.DrawFn, type_: Any) -> Any:
    """Draw a value of a type, seldom one that is no coordinate."""
    few = st.integers(0, 3)
    bits = 8 if type_ == pa.int8() else 32 if type_ == pa.int32() else 64
    least = 0 if type_ == pa.uint64() else -(1 << bits - 1)
    most = (1 << bits) - 1 if type_ == pa.uint64() else (1 << bits - 1) - 1
    wild = st.floats() if pa.types.is_floating(type_) else st.integers(least, most)
    return draw(st.one_of(few, few, few, few, wild, st.none()))


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """Draw a table of any types that may hold encounters, with anything in it."""
    count = draw(st.integers(1, 6))
    kinds = {name: draw(NUMBERS) for name in ("row", "col", "level", "light")}
    words = {name: draw(WORDS) for name in ("profile", "side", "name", "board", "id", "ground")}

    def word(name: str, good: str) -> Any:
        if pa.types.is_null(words[name]):
            return None
        return draw(st.sampled_from((good, good, good, good, "", "ogre", None)))

    flag = st.sampled_from((None, False, True))
    fields = {name: kinds.get(name, words.get(name)) for name in ("profile", "side", "row", "col")}
    if draw(st.booleans()):
        fields |= {"name": words["name"], "level": kinds["level"], "flying": pa.bool_()}

    def token() -> Any:
        if draw(st.integers(0, 15)) == 0:
            return None
        return {
            "profile": word("profile", "scout"), "side": word("side", "red"),
            "row": numbers(draw, kinds["row"]), "col": numbers(draw, kinds["col"]),
            "name": word("name", "Al"), "level": numbers(draw, kinds["level"]),
            "flying": draw(flag),
        }  # fmt: skip

    listed = [
        None if draw(st.integers(0, 15)) == 0
        else [token() for _ in range(draw(st.sampled_from((1, 2, 2, 3, 0))))]
        for _ in range(count)
    ]  # fmt: skip
    light = [draw(st.sampled_from((0, None))) for _ in range(count)]
    if not pa.types.is_unsigned_integer(kinds["light"]):
        light = [draw(st.sampled_from((0, -1, -127, -128, 1, None))) for _ in range(count)]
    of_tokens = pa.list_(pa.struct(list(fields.items())))
    kept = [
        None if entry is None
        else [one and {name: one[name] for name in fields} for one in entry]
        for entry in listed
    ]  # fmt: skip
    columns = {
        "board": pa.array([word("board", "glade") for _ in range(count)], words["board"]),
        "tokens": pa.array(kept, of_tokens),
    }
    if draw(st.booleans()):
        columns["light"] = pa.array(light, kinds["light"])
        columns["id"] = pa.array([word("id", "x") for _ in range(count)], words["id"])
        columns["ground"] = pa.array([word("ground", "wet") for _ in range(count)], words["ground"])
    return pa.table(columns)


@examples(120)
@given(tables(), st.integers(0, 2))
def test_columns_are_judged_as_rows_are(table, skip):
    """What is told apart for all rows at once is what is told of each by itself."""
    (batch,) = table.combine_chunks().to_batches()
    batch = batch.slice(min(skip, batch.num_rows - 1))
    profiles = PROFILES[:2]
    found = read_batch(batch, 10, profiles)
    rows = Rows(profiles)
    wrong = []
    for place in range(batch.num_rows):
        row, faults = read_row(row_of(batch, place), {"scout": 0, "ogre": 1})
        if faults:
            wrong.append(place)
        else:
            rows.add(10 + place, row)
    assert found.doubtful.tolist() == wrong
    assert found.encounters == rows.encounters()
    assert found.encounters.number.tolist() == rows.encounters().number.tolist()


def test_text_that_is_none_in_parquet(tmp_path):
    offsets = pa.py_buffer(np.array([0, 5, 7, 12], np.int32).tobytes())
    bad = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"glade\xff\xfeglade"))
    tokens_ = [[{"profile": "scout", "side": "red", "row": 1, "col": 2}]] * 3
    file = parquet(tmp_path, pa.table({"board": bad, "tokens": tokens_}))
    found = read(file, boards=BOARDS)
    assert found.encounters.number.tolist() == [0, 2]
    (reject,) = found.rejects
    assert (reject.row, reject.field) == (1, "board")
    json.loads(reject.to_json())


GOOD = pa.array([[{"profile": "scout", "side": "red", "row": 1, "col": 2}]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"board": ["glade"]}, "has no column 'tokens'"),
        ({"tokens": GOOD}, "has no column 'board'"),
        ({"board": ["glade"], "tokens": GOOD, "ligth": [1]}, "did you mean 'light'?"),
        ({"board": [7], "tokens": GOOD}, "column board has type int64; expected text"),
        ({"board": ["x"], "tokens": GOOD, "light": ["dark"]}, "light has type string"),
        ({"board": ["x"], "tokens": GOOD, "light": [True]}, "light has type bool"),
        ({"board": ["x"], "tokens": [1]}, "expected a list of structures"),
        ({"board": ["x"], "tokens": [[1]]}, "expected a list of structures"),
        ({"board": ["x"], "tokens": [[{"profile": "scout"}]]}, "no field of tokens 'side'"),
        (
            {"board": ["x"], "tokens": [[{"profile": "s", "side": "", "row": "1", "col": 1}]]},
            "column tokens.row has type string; expected whole numbers",
        ),
        (
            {"board": ["x"], "tokens": [[{"profile": "s", "side": "", "cell": 1}]]},
            "unknown field of tokens 'cell'",
        ),
    ],
)
def test_a_table_of_other_columns_is_refused(tmp_path, columns, message):
    file = parquet(tmp_path, pa.table(columns))
    for ask in (read, boards_of, lambda path: parts(path, 10)):
        with pytest.raises(MapError, match=r"camp\.parquet") as error:
            ask(file)
        assert message in str(error.value)


def test_the_schema_is_what_is_written(tmp_path):
    table = to_table(simple(3))
    assert table.schema == encounters_schema()
    table.validate(full=True)
    write(simple(3), tmp_path / "x.parquet")
    schema = pq.read_schema(tmp_path / "x.parquet")
    assert schema.remove_metadata() == encounters_schema()
    header = json.loads(schema.metadata[b"fieldcraft"])
    assert (header["fieldcraft"], header["version"]) == ("encounters", 1)


def test_the_page_lists_every_column(root):
    page = (root / "docs" / "encounters.md").read_text(encoding="utf-8")
    told = dict.fromkeys(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|.*", page, re.MULTILINE))))
    schema = encounters_schema()
    fields = [*schema.names, *(field.name for field in schema.field("tokens").type.value_type)]
    assert set(fields) <= set(told)
    assert f"**version {VERSION}**" in page


# ---- The header, and files that are none -------------------------------------------------------


def profile_with(**entry: Any) -> dict[str, Any]:
    return {**HEADER, "profiles": {"scout": {"creature": {"speed": 6}, **entry}}}


HEADERS = [
    ("[]", "is no file of encounters"),
    ("{", "is not valid JSON"),
    ("{}", "is no file of encounters: it begins with {}"),
    ({**HEADER, "fieldcraft": "tokens"}, "is no file of encounters"),
    ({**HEADER, "version": 2}, "is of version 2; this Fieldcraft reads 1"),
    ({**HEADER, "version": True}, "is of version true"),
    ({**HEADER, "version": None}, "is of version null"),
    ({**HEADER, "profils": {}}, "did you mean 'profiles'?"),
    ({**HEADER, "profiles": []}, "profiles: expected an object"),
    ({**HEADER, "boards": 7}, "boards: expected an object"),
    ({**HEADER, "rules": "hexwld"}, "did you mean 'hexwild'?"),
    ({**HEADER, "rules": 7}, "rules: expected the name of a rule system"),
    ({**HEADER, "rules": "../x.toml"}, "not below the folder"),
    ({**HEADER, "boards": {"a": "../a.toml"}}, "not below the folder"),
    ({**HEADER, "boards": {"a": "/a.toml"}}, "not below the folder"),
    ({**HEADER, "boards": {"a": "C:\\a.toml"}}, "not below the folder"),
    ({**HEADER, "boards": {"a": ""}}, "boards.a: expected the name of a file"),
    ({**HEADER, "boards": {"a": {"fiel": "x"}}}, "did you mean 'file'?"),
    ({**HEADER, "boards": {"a": {"rules": "hexwild"}}}, "expected the name of a file"),
    ({**HEADER, "boards": {"a": {"file": "x", "rules": "no"}}}, "boards.a.rules: unknown rules"),
    (profile_with(weapons={}), "profiles.scout.weapons: expected a list"),
    (profile_with(weapons=[{"nmae": "x"}]), "did you mean 'name'?"),
    (profile_with(weapons=[{"name": "x"}] * 2), 'weapons[1]: "x" is named already'),
    (profile_with(weapons=[{"range": -1}]), "weapons[0]: range"),
    (profile_with(weapons=[{"range": []}]), "weapons[0]: range"),
    (profile_with(weapons=[{"limit": 3}]), "weapons[0]: limit"),
    (profile_with(wepons=[]), "did you mean 'weapons'?"),
    (profile_with(creature={"sped": 6}), "did you mean 'speed'?"),
    (profile_with(creature={"speed": -6}), "profiles.scout.creature.speed: expected"),
    (profile_with(creature={"speed": math.nan}), "profiles.scout.creature.speed: expected"),
    (profile_with(creature={"speed": 6, "size": "big"}), "profiles.scout: unknown size 'big'"),
    (profile_with(creature={"speed": 6, "reach": 1.5}), "reach: expected a whole number"),
    (profile_with(creature={"speed": {"run": 6}}), "unknown way of moving 'run'"),
    (profile_with(creature={"name": 7, "speed": 6}), "creature.name: expected text"),
    (profile_with(creature={}), "has no speed"),
    (profile_with(creature=None), "creature: expected an object"),
    ({**HEADER, "profiles": {"": {"creature": {"speed": 6}}}}, "must have a name"),
    ('{"fieldcraft": "encounters", "version": 1, "profiles": {"a": {}, "a": {}}}', "twice"),
    ("[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("header", "message"), HEADERS)
def test_a_wrong_header_is_an_error_at_once(tmp_path, form, header, message):
    if form == "jsonl":
        file = lines(tmp_path, ROW, header=header)
    else:
        text = header.encode() if isinstance(header, str) else header
        file = parquet(tmp_path, to_table(simple(2)), text)
    for ask in (read, boards_of, lambda path: parts(path, 10)):
        with pytest.raises(MapError) as error:
            ask(file)
        assert message in str(error.value)
        assert str(file) in str(error.value)


@examples(100)
@given(json_values, st.sampled_from(["", "profiles", "boards", "rules", "creature", "weapons"]))
def test_any_header_is_read_or_refused(tmp_path_factory, value, place):
    header: Any = json.loads(json.dumps(HEADER))
    if place in ("creature", "weapons"):
        header["profiles"]["scout"][place] = value
    elif place:
        header[place] = value
    else:
        header = value
    file = lines(tmp_path_factory.mktemp("header"), header=json.dumps(header))
    refused_by_name(boards_of, file)


def refused_by_name(ask: Any, file: Path) -> None:
    """Ask a file that may be refused; the error must name it."""
    try:
        ask(file)
    except MapError as error:
        if str(file) not in str(error):
            raise AssertionError(f"{error} does not name {file}") from error


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_none(tmp_path, form):
    file = tmp_path / f"x.{form}"
    with pytest.raises(MapError, match="there is no such file"):
        read(file)
    file.mkdir()
    with pytest.raises(MapError, match="is no regular file"):
        parts(file, 3)
    file.rmdir()
    for data in (b"", b"\n \n", b"PAR1", b"\xff" * 100, b"\0" * 100):
        file.write_bytes(data)
        with pytest.raises(MapError, match=f"x.{form}"):
            read(file)
    with pytest.raises(MapError, match=r"expected .parquet or .jsonl"):
        read(tmp_path / "x.csv")
    with pytest.raises(MapError, match=r"expected .parquet or .jsonl"):
        write(simple(1), tmp_path / "x.json")
    with pytest.raises(MapError, match=r"cannot be read|no such file"):
        read(f"a\0b.{form}")
    with pytest.raises(ArgumentTypeError):
        read(7)
    with pytest.raises(ArgumentTypeError, match="on_error"):
        read(file, on_error="ignore")
    with pytest.raises(MapError, match="cannot be written"):
        write(simple(1), tmp_path / "none" / f"x.{form}")


def test_a_parquet_file_that_is_cut_off_or_rotten(tmp_path):
    file = tmp_path / "x.parquet"
    write(simple(100), file)
    whole = file.read_bytes()
    (tmp_path / "y.parquet").write_bytes(whole)
    rng = np.random.default_rng(3)
    for trial in range(60):
        data = bytearray(whole)
        if trial % 2:
            del data[int(rng.integers(len(data))) :]
        else:
            for place in rng.integers(4, len(data) - 8, 8):
                data[place] = int(rng.integers(256))
        file.write_bytes(data)
        refused_by_name(lambda path: read(path, boards=BOARDS), file)
    # Every page has a checksum: one wrong bit of a value is no other value.
    data = bytearray(whole)
    column = pq.read_metadata(tmp_path / "y.parquet").row_group(0).column(0)
    begin = column.dictionary_page_offset or column.data_page_offset
    data[begin + column.total_compressed_size - 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(MapError, match="CRC"):
        read(file, boards=BOARDS)


def test_parquet_without_header(tmp_path):
    pq.write_table(to_table(simple(2)), tmp_path / "x.parquet")
    with pytest.raises(MapError, match="has no header, metadata of the key 'fieldcraft'"):
        read(tmp_path / "x.parquet")


# ---- Boards ------------------------------------------------------------------------------------


def test_where_boards_come_from(tmp_path):
    (tmp_path / "maps").mkdir()
    fc.write(GLADE, tmp_path / "maps" / "glade.toml")
    fc.write(HALL, tmp_path / "maps" / "hall.toml")
    header = {**HEADER, "boards": {"glade": "maps/glade.toml"}}
    rows = [ROW, {**ROW, "board": "maps/hall.toml"}, {**ROW, "board": "hall"}]
    file = lines(tmp_path, *rows, header=header)
    found = read(file)
    assert found.boards["glade"] == GLADE
    assert found.boards["maps/hall.toml"] == HALL
    assert [reject.row for reject in found.rejects] == [2]
    assert "hall" in found.rejects[0].message
    # Given boards come before those of the header, and beside them.
    other = GLADE.replace((0, 0), "mud")
    mine = {"hall": tmp_path / "maps" / "hall.toml", "glade": other}
    found = read(file, boards=mine)
    assert found.rejects == []
    assert found.boards["glade"] == other
    assert found.boards["hall"] == HALL
    # Boards take the place of all, and a folder that of the file's.
    assert len(read(file, boards=Boards({"glade": GLADE})).rejects) == 2
    other_folder = read(file, boards=tmp_path / "maps")
    assert [reject.field for reject in other_folder.rejects] == ["board"] * 3
    # Nothing is asked of the boards by parts that are given none.
    encounters_, rejects = read_part(parts(file, 10)[0])
    assert len(encounters_) == 3
    assert rejects == []


def test_rules_of_the_header_take_the_place_of_the_files(tmp_path):
    fc.write(GLADE, tmp_path / "glade.toml")
    (tmp_path / "house.toml").write_text('extends = "hexwild"\n[parameters]\nthreshold = 2\n')
    house = {"file": "glade.toml", "rules": "house.toml"}
    header = {**HEADER, "rules": "hexwild", "boards": {"a": house, "b": "glade.toml"}}
    boards = boards_of(lines(tmp_path, header=header))
    assert boards["a"].rules.threshold == 2
    assert boards["b"].rules == boards["glade.toml"].rules == fc.rules.get("hexwild")
    # Rules that are no file are told of when the board is asked for.
    header["boards"] = {"a": {"file": "glade.toml", "rules": "none.toml"}}
    boards = pickle.loads(pickle.dumps(boards_of(lines(tmp_path, header=header))))
    with pytest.raises(MapError, match=r"board 'a'.*none.toml"):
        boards["a"]


def test_a_rotten_board_rejects_its_encounters(tmp_path):
    (tmp_path / "bad.toml").write_text("lattice = ")
    found = read(lines(tmp_path, ROW, {**ROW, "board": "bad.toml"}), boards=BOARDS)
    assert found.encounters.number.tolist() == [0]
    assert "is not valid TOML" in found.rejects[0].message or "bad" in found.rejects[0].message


def one(*tokens_: Combatant, board: str = "glade") -> Encounters:
    return Encounters.of([Encounter(board, tokens_)], PROFILES)


def test_check_is_of_boards():
    scout = Combatant("scout", "red", (2, 2))
    fine = one(scout, replace(scout, level=1), replace(scout, flying=True))
    assert check(fine, BOARDS) == []
    for wrong, message in (
        (one(scout, scout), "tokens[0] is on that cell and level already"),
        (one(replace(scout, cell=(-1, 2))), "(-1, 2) lies outside board 'glade'"),
        (one(scout, board="moor"), "there is no board 'moor'"),
        (one(scout, Combatant("ogre", "red", (3, 1))), "tokens[0] is on that cell"),
        (one(Combatant("ogre", "red", (0, 3))), "its body covers a cell that is not on the map"),
    ):
        (reject,) = check(wrong, BOARDS, file="mine")
        assert message in str(reject)
        assert reject.file == "mine"
        assert json.loads(reject.original)["tokens"]
    with pytest.raises(ArgumentTypeError):
        check(fine, 7)


def test_check_finds_what_a_board_cannot_play():
    squares = fc.Board([["ground"] * 4] * 4, rules="octile")
    metres = Profile("m", fc.Creature(speed="9 m"))
    bow = Profile("b", fc.Creature(speed=6), (Weapon("bow", "30 m"),))
    given_ = Encounters.of(
        [Encounter("x", (Combatant("m", "", (0, 0)), Combatant("b", "", (0, 1))))], [metres, bow]
    )
    (reject,) = check(given_, {"x": squares})
    assert [fault.field for fault in reject.faults] == ["tokens[0].profile", "tokens[1].profile"]
    assert "octile counts in cells, not in m" in reject.message
    assert check(given_, {"x": GLADE}) == []


@examples(60)
@given(st.data())
def test_check_agrees_with_bodies_laid_out_one_by_one(data):
    board = data.draw(st.sampled_from((GLADE, HALL)))
    height, width = board.shape
    cells = st.tuples(st.integers(-1, height), st.integers(-1, width))
    given_ = [
        Encounter(
            "x",
            tuple(
                Combatant(
                    data.draw(st.sampled_from(["scout", "ogre"])), "", cell,
                    level=data.draw(st.integers(0, 1)), flying=data.draw(st.booleans()),
                )
                for cell in data.draw(st.lists(cells, min_size=1, max_size=4))
            ),
        )
        for _ in range(data.draw(st.integers(1, 3)))
    ]  # fmt: skip
    creatures = {profile.name: profile.creature for profile in PROFILES}
    found = check(Encounters.of(given_, PROFILES), {"x": board})
    wrong: dict[int, set[str]] = {}
    for i, encounter in enumerate(given_):
        taken: set[Any] = set()
        for j, combatant in enumerate(encounter.tokens):
            token_ = combatant.token(creatures[combatant.profile])
            covered = board.rules.cells_of(token_, board.lattice)
            on = [0 <= r < height and 0 <= c < width for r, c in covered]
            places = {(*cell, token_.level, token_.flying) for cell in covered}
            if not all(on) or taken & places:
                wrong.setdefault(i, set()).add(f"tokens[{j}].cell")
            if on[0]:
                taken |= {place for place, is_on in zip(
                    [(*cell, token_.level, token_.flying) for cell in covered], on, strict=True
                ) if is_on}  # fmt: skip
    assert {reject.row: {fault.field for fault in reject.faults} for reject in found} == wrong


# ---- Without pyarrow ---------------------------------------------------------------------------


def test_json_lines_need_no_pyarrow(tmp_path):
    code = f"""
import sys
sys.modules["pyarrow"] = None
from pathlib import Path
from fieldcraft import encounters
from fieldcraft.errors import MissingExtraError
folder = Path({str(tmp_path)!r})
made = encounters.generate(3, 1, n_boards=1, shape=(9, 9), tokens=2)
encounters.write(made.encounters, folder / "x.jsonl", boards=made.boards)
found = encounters.read(folder / "x.jsonl")
assert found.encounters == made.encounters and not found.rejects
for ask in (encounters.read, lambda file: encounters.write(made.encounters, file)):
    try:
        ask(folder / "x.parquet")
    except MissingExtraError as error:
        assert "fieldcraft[table]" in str(error)
    else:
        raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

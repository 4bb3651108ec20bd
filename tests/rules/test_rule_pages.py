"""The specifications in docs/rules say what the shipped tables and parameters say.

These tests name no rules: a page that agrees with a table proves neither.
"""

from __future__ import annotations

import re

import pytest

from fieldcraft import rules
from fieldcraft.rules import Dice

SYSTEMS = ["hexwild", "pathfinder", "skirmish", "srd5"]


@pytest.fixture(scope="module")
def pages(root):
    return {
        name: (root / "docs" / "rules" / f"{name}.md").read_text(encoding="utf-8")
        for name in SYSTEMS
    }


def tables(text):
    """Return the tables of a page by their column titles, each a list of rows."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        titles, _, *rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in block.splitlines()
        ]
        found[tuple(titles)] = [dict(zip(titles, row, strict=True)) for row in rows]
    return found


def table(text, first):
    """Return the one table of a page whose first column has that title."""
    [found] = [rows for titles, rows in tables(text).items() if titles[0] == first]
    return found


def by_id(rows, key):
    return {row[key].strip("`"): row for row in rows}


def figure(cell):
    """Return the first figure of a cell, 0 where it is empty."""
    match = re.search(r"-?\d+(?:\.\d+)?", cell)
    return float(match[0]) if match else 0.0


# -- terrain


@pytest.mark.parametrize("name", SYSTEMS)
def test_terrain_tables_are_those_of_the_systems(pages, name):
    system = rules.get(name)
    listed = by_id(table(pages[name], "id"), "id")
    assert set(system.table) <= set(listed)
    for id_, entry in system.table.items():
        row = listed[id_]
        assert row["name"] == entry.name
        for key in {"entry", "exit", "obstruction"}:
            assert figure(row.get(key, "0")) == getattr(entry, key), (id_, key)
        words = set(re.findall(r"\w+", row["besides"]))
        for flag in ("closed", "opaque", "corners"):
            assert (flag in words) == getattr(entry, flag), (id_, flag)
        assert ("no stop" in row["besides"]) == (not entry.stop), id_


def test_bold_steps(pages):
    listed = by_id(table(pages["hexwild"], "id"), "id")
    for id_, entry in rules.get("hexwild").table.items():
        assert ("bold" in listed[id_]["besides"]) == (entry.bold is not None)
        if entry.bold:
            price, damage = f"bold {float(entry.bold.entry):g},", str(entry.bold.damage)
            assert price in listed[id_]["besides"]
            assert damage in listed[id_]["besides"]
            assert (entry.bold.save.wet, entry.bold.save.snow, entry.bold.save.ice) == (
                -5, -10, -10,
            )  # fmt: skip
            assert entry.entry - entry.bold.entry == 1


def test_what_staying_does(pages):
    """The modifiers of the page are those of the table, prone ones in brackets."""
    columns = {
        "hit": "hit",
        "Dexterity AC": "dexterity_ac",
        "Dexterity tests": "dexterity_tests",
        "Reflex": "reflex",
        "dodge": "dodge",
        "deflect": "deflect",
        "somatic failure": "somatic_failure",
    }
    [rows] = [rows for titles, rows in tables(pages["hexwild"]).items() if "dodge" in titles]
    listed = by_id(rows, "terrain")
    for id_, entry in rules.get("hexwild").table.items():
        assert (id_ in listed) == bool(entry.stay)
        if not entry.stay:
            continue
        stay, prone = dict(entry.stay), dict(entry.prone)
        for title, key in columns.items():
            upright, _, lying = listed[id_][title].partition("(")
            assert figure(upright) == stay.get(key, 0), (id_, key)
            assert figure(lying) == prone.get(key, 0), (id_, key)


def test_what_a_knockdown_does(pages):
    """The dice of the page are those of the table, and so is the chance to fall."""
    [rows] = [
        r for titles, r in tables(pages["hexwild"]).items() if titles == ("terrain", "damage")
    ]
    listed = by_id(rows, "terrain")
    for id_, entry in rules.get("hexwild").table.items():
        down = entry.knockdown
        assert (id_ in listed) == (down is not None)
        if down is None:
            continue
        text = listed[id_]["damage"]
        known = {down.damage, down.fall_damage, down.high_fall_damage} - {None}
        assert set(re.findall(r"\d+d\d+(?:\+\d+)? \w+", text)) == {str(d) for d in known}
        assert figure(text.partition(" %")[0] if "%" in text else "") == down.fall_chance
        assert ("2 m" in text) == (down.high_metres == 2)


def test_bushes_and_rocks(pages):
    """Ranges and heights in the page are those of the table."""
    listed = by_id(table(pages["hexwild"], "id"), "id")
    entries = rules.get("hexwild").table
    for id_ in ("light_bushes", "heavy_bushes"):
        hidden, text = entries[id_].hidden, listed[id_]["besides"]
        assert f"{float(hidden.metres):g} m" in text
        assert (f"at {hidden.modifier}" in text) == bool(hidden.modifier)
    for id_ in ("boulder", "rock_formation"):
        assert f"{entries[id_].climb.height} m high" in listed[id_]["besides"]
    levels = entries["rock_formation"].climb.metres_per_level
    assert f"one level for each full {levels} m" in listed["rock_formation"]["besides"]
    for slope in entries["boulder"].climb.slopes:
        text = f"up to {slope.upto} {slope.name},"
        assert text in " ".join(pages["hexwild"].split())
        assert f"+{slope.modifier} %" in pages["hexwild"]
    climb = f"climbing at {entries['ancient_trees'].tree_climb} %"
    assert climb in listed["ancient_trees"]["besides"]


def test_slips(pages):
    """One initiative for all grounds, and saves that differ on rock."""
    for entry in rules.get("hexwild").table.values():
        if entry.slip is None:
            continue
        assert tuple(entry.slip.initiative) == (10, 9, 10, 8)
        high = entry.climb is not None
        assert tuple(entry.slip.save) == ((0, -10, -20, -20) if high else (0, -5, -10, -10))
    section = " ".join(pages["hexwild"].partition("### HW-20")[2].partition("###")[0].split())
    assert "10 (9 or 10 on wet ground, 10 on snow, 8 to 10 on ice)" in section
    assert "0 on dry ground, -5 % on wet, -10 % on snow or ice" in section
    assert "at 0, -10 % and -20 %" in section


@pytest.mark.parametrize("name", ["pathfinder"])
def test_borders(pages, name):
    listed = {
        k: figure(row["cost"]) for k, row in by_id(table(pages[name], "border"), "border").items()
    }
    assert listed == rules.get(name).table.borders


# -- parameters


@pytest.mark.parametrize("name", SYSTEMS)
def test_parameters_are_those_of_the_systems(pages, name):
    listed = by_id(table(pages[name], "parameter"), "parameter")
    known = rules.get(name).parameters()
    assert list(listed) == list(known)
    for key, value in known.items():
        first = re.match(r"`\"?(\{.*\}|[^`\"]*)\"?`", listed[key]["values, the default first"])
        if hasattr(value, "_asdict"):
            pairs = (f"{k} = {str(v).lower()}" for k, v in value._asdict().items())
            assert first[1] == "{" + ", ".join(pairs) + "}", key
        elif value is None or isinstance(value, bool | str):
            assert first[1] == str(value).lower(), key
        else:
            assert float(first[1]) == value, key


@pytest.mark.parametrize("name", SYSTEMS)
def test_values_of_parameters_are_taken(pages, name):
    system = rules.get(name)
    for key, row in by_id(table(pages[name], "parameter"), "parameter").items():
        for word in re.findall(r"`\"([^`\"]*)\"`", row["values, the default first"]):
            value = getattr(system.configure(**{key: word}), key)
            assert value == (None if word == "none" else word)


@pytest.mark.parametrize("name", SYSTEMS)
def test_parameters_are_explained_where_they_are_decided(pages, name):
    """Each parameter is named again in the text, outside the table."""
    text = re.sub(r"^\|.*$", "", pages[name], flags=re.MULTILINE)
    for key in rules.get(name).parameters():
        assert key == "sight_corners" or f"`{key}" in text, key


# -- form


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_heading_of_a_rule_has_one_form(pages, name):
    """A number in a heading that `rules coverage` does not read would be lost in silence."""
    for line in re.findall(r"^#+ .*$", pages[name], re.MULTILINE):
        if re.search(r"[A-Z][A-Z0-9]-?\d", line):
            assert re.fullmatch(r"### [A-Z][A-Z0-9]-\d\d \S.{2,40}", line), line


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_rule_says_something(pages, name):
    for section in re.split(r"^### ", pages[name], flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        assert len(text.partition("\n#")[0].split()) > 3, title


def test_dice_of_perches(pages):
    """The figures of the page are those that are rolled, where the system has them."""
    listed = by_id(table(pages["hexwild"], "table"), "table")
    text = {id_: [row[f"level {n}"] for n in range(1, 5)] for id_, row in listed.items()}
    assert text == {
        "A": ["25 / 50 / 85 / 100", "35 / 60 / 95 / 100", "", ""],
        "B": ["15 / 42 / 82 / 100", "22 / 49 / 89 / 100", "40 / 70 / 95 / 100", ""],
        "C": [
            "40 / 70 / 95 / 100",
            "25 / 50 / 85 / 100",
            "15 / 42 / 82 / 100",
            "35 / 60 / 95 / 100",
        ],
    }
    for entry in rules.get("hexwild").table.values():
        assert bool(entry.perches) == (
            entry.id in {r["forest"].strip("`") for r in listed.values()}
        )
        if entry.perches:
            assert listed[entry.perches]["forest"] == f"`{entry.id}`"
    assert str(Dice(1, 3)) in pages["hexwild"]

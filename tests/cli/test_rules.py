"""``fieldcraft rules``: which systems there are, and what they say."""

from __future__ import annotations

import pytest

from fieldcraft import rules
from fieldcraft.cli import _app, _rules, _text
from fieldcraft.rules import Damage, Dice, Ground, Knockdown

HOUSE = """
extends = "pathfinder"
name = "house"

[parameters]
tumble = true

[borders]
low_wall = 3
door = 1

[terrain.bog]
name = "deep bog"
entry = 2
stop = false
"""


@pytest.fixture
def house(tmp_path):
    file = tmp_path / "house.toml"
    file.write_text(HOUSE)
    return file


def columns(out, title):
    """Return the lines of the table whose header begins with a title, split at wide gaps."""
    lines = out.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.split()[:1] == [title])
    rows = []
    for line in lines[begin + 1 :]:
        if not line:
            break
        rows.append(line.split())
    return rows


# -- list


def test_the_systems(run):
    answer = run("rules")
    assert answer == run("rules", "list")
    assert (answer.code, answer.err) == (0, "")
    titles, *rows = answer.out.splitlines()
    assert titles.split() == ["system", "lattices", "unit", "terrains", "about"]
    assert [row.split()[0] for row in rows if row.startswith("  ") and row[2] != " "] == (
        rules.names()
    )


def test_the_systems_as_json(run):
    systems = {system["name"]: system for system in run("rules", "list", "--json").json["systems"]}
    assert list(systems) == rules.names()
    for name, system in systems.items():
        there = rules.get(name)
        assert system["lattices"] == list(there.lattices)
        assert system["unit"] == there.unit
        assert system["ticks"] == float(there.ticks)
        assert system["n_terrains"] == len(there.table)
        assert system["about"].endswith(".")
    assert systems["hexwild"]["lattices"] == ["odd-r", "even-r", "odd-q", "even-q"]


def test_a_system_of_one_s_own_is_listed(run, house):
    rules.register(rules.load(house))
    assert "house" in [s["name"] for s in run("rules", "list", "--json").json["systems"]]


# -- show


@pytest.mark.parametrize("name", rules.names())
def test_every_terrain_with_its_figures(run, name):
    system = rules.get(name)
    out = run("rules", "show", name).out
    answer = run("rules", "show", name, "--json").json
    assert [terrain["id"] for terrain in answer["terrains"]] == list(system.table)
    shown = {row[0]: row for row in columns(out, "terrain") if row[0] in system.table}
    assert list(shown) == list(system.table)
    for terrain in answer["terrains"]:
        entry = system.table[terrain["id"]]
        assert terrain["name"] == entry.name
        for key in ("entry", "exit", "obstruction"):
            assert terrain[key] == getattr(entry, key)
        for flag in ("closed", "opaque", "corners"):
            assert (flag in terrain["flags"]) == getattr(entry, flag)
            assert (flag in shown[entry.id]) >= getattr(entry, flag)
        assert ("no stop" in terrain["flags"]) == (not entry.stop)
        assert f"{float(entry.entry):g}" in shown[entry.id]
        for phrase in terrain["does"]:
            assert set(phrase.split()) <= set(out.split())


def test_what_a_terrain_does(run):
    terrains = run("rules", "show", "hexwild", "--json").json["terrains"]
    does = {terrain["id"]: terrain["does"] for terrain in terrains}
    on_stones = "(wet -5 %, snow -10 %, ice -10 %)"
    high_up = "(wet -10 %, snow -20 %, ice -20 %)"
    slip = "slip on initiative 10 (wet 9, snow 10, ice 8), save"
    assert does["open"] == []
    in_forest = [
        "searching: perch here: free action, +2 on later actions, 1 a round",
        "searching: perch here: full action",
        "searching: perch elsewhere: full action, test",
        "falling: pure reflex save below or 1/2 of the damage",
    ]
    assert does["light_forest"] == ["perches A", *in_forest]
    assert does["ancient_trees"] == ["perches C", "climbing: climb -10 %", *in_forest]
    assert does["heavy_bushes"] == ["obstructs as bush", "searching: found from 6 m at -2"]
    assert does["fog"] == ["obstructs as fog", "fog:n has obstruction n"]
    assert does["thorns"] == [
        "entering: reflex save or 1d3 piercing in combat",
        "round end: pure reflex save or 1d3 piercing in combat",
        "knockdown: 1d4 piercing",
    ]
    assert does["stones"] == [
        "bold: entry 0",
        f"entering bold: reflex save {on_stones} or knockdown and 1d4 laceration",
        f"staying: {slip} {on_stones}",
        "staying: hit -1, dexterity tests -1, reflex -5 %, dodge -5 %, deflect -1, "
        "somatic failure +10 %",
        "knockdown: 1d3 laceration",
    ]
    assert set(does["boulder"]) == {
        "climbing: steep wall, 1d2 m high (without elevation 1 m), "
        "slope light to 5 +45 %, moderate to 9 +35 %, severe to 12 +25 %",
        f"staying: {slip} {high_up}",
        "staying: hit -1, dexterity ac -1, dexterity tests -2, reflex -10 %, dodge -10 %, "
        "deflect -2, somatic failure +15 %",
        "staying: raised, not against huge over 3 m",
        "knockdown: 1d2 blunt, fall 33 % (1d2 blunt), from 2 m 1d2+1 blunt",
    }
    assert set(does["rock_formation"]) >= {
        "climbing: irregular wall, 2d3+1 m high (without elevation 3 m), a level for 3 m",
        "staying: no rest",
        "knockdown: 1d2 blunt, fall 33 %",
    }
    assert set(does["mud"]) >= {
        "staying: dexterity ac -2, dexterity tests -3, reflex -15 %, dodge -15 %",
        "getting up: no half move",
        "leaving: dexterity tests -3, reflex -15 %, dodge -15 %",
    }


def test_a_fall_without_damage_on_the_spot():
    fall = Knockdown(fall_chance=50, fall_damage=Damage(Dice(1, 6), "blunt"))
    assert _rules._effect(fall) == "fall 50 % (1d6 blunt)"


def test_a_detail_of_a_kind_not_known_yet():
    """New effects are shown by their fields until they get words of their own."""
    assert _rules._effect(Damage(Dice(1, 4), "cold")) == "damage 1d4 cold"
    assert _rules._detail(Ground(0, -5, 0, 1)) == "wet -5 ice 1"
    assert _rules._words("roundEnd_now") == "round end now"


def test_parameters_and_borders(run):
    answer = run("rules", "show", "pathfinder", "--json").json
    assert answer["borders"]["low_wall"] == 2
    assert list(answer["parameters"]) == list(rules.get("pathfinder").parameters())
    assert answer["parameters"]["diagonals"] == "alternating"
    assert answer["parameters"]["tumble"] is False
    out = run("rules", "show", "pathfinder").out
    assert ["low_wall", "2"] in columns(out, "border")
    assert ["tumble", "false"] in columns(out, "parameter")


def test_parameters_of_every_kind(run):
    answer = run("rules", "show", "hexwild", "--json").json["parameters"]
    assert answer["fog_counts"] == {"own": False, "target": True, "adjacent": True}
    assert (answer["threshold"], answer["hex_metres"]) == (4, 1.5)
    out = run("rules", "show", "hexwild").out
    fog = "fog_counts { own = false, target = true, adjacent = true }"
    assert fog.split() in columns(out, "parameter")
    assert ["hex_metres", "1.5"] in columns(out, "parameter")
    assert "octile has no parameters." in run("rules", "show", "octile").out


def test_no_threshold(run, tmp_path):
    file = tmp_path / "clear.toml"
    file.write_text('extends = "hexwild"\n[parameters]\nthreshold = "none"\n')
    assert run("rules", "show", file, "--json").json["parameters"]["threshold"] is None
    assert ["threshold", "none"] in columns(run("rules", "show", file).out, "parameter")


def test_house_rules(run, house):
    answer = run("rules", "show", house, "--json").json
    assert answer["name"] == "house"
    bog = next(terrain for terrain in answer["terrains"] if terrain["id"] == "bog")
    assert bog == {
        "id": "bog", "name": "deep bog", "entry": 2, "exit": 0, "obstruction": 0,
        "flags": ["no stop"], "does": [],
    }  # fmt: skip
    assert answer["borders"] == answer["borders"] | {"low_wall": 3, "door": 1}
    assert answer["parameters"]["tumble"] is True
    out = run("rules", "show", house).out
    assert out.startswith("house: ")
    assert ["bog", "deep", "bog", "2", "no", "stop"] in columns(out, "terrain")


def test_in_a_pipe_the_table_is_plain(run):
    for name in rules.names():
        out = run("rules", "show", name).out
        assert out.isascii()
        assert max(map(len, out.splitlines())) <= 120
        assert not any(line.endswith(" ") for line in out.splitlines())


def test_on_a_terminal_it_fits_the_width(run, monkeypatch):
    monkeypatch.setattr(_text.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = run("rules", "show", "hexwild").out
    assert "\x1b[1m" in out
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run("rules", "show", "hexwild").out
    assert "\x1b" not in plain
    table = plain.splitlines()[3:]
    assert 80 < max(map(len, table)) <= 90


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["show"], "NAME"),
        (["show", "hexwld"], "unknown rules 'hexwld' (did you mean 'hexwild'?)"),
        (["show", ""], "unknown rules ''"),
        (["show", "no.toml"], "cannot read the rules file no.toml"),
        (["show", "hexwild", "octile"], "argument"),
        (["hide"], "hide"),
        (["--fast"], "--fast"),
        (["list", "hexwild"], "argument"),
        (["coverage", "--fast"], "--fast"),
    ],
)
def test_bad_input(run, args, part):
    assert part in run("rules", *args).fault


def test_all_faults_of_a_rules_file(run, house):
    house.write_text(HOUSE.replace("entry = 2", "entry = -2").replace("tumble", "tumbel"))
    fault = run("rules", "show", house).fault
    assert "parameters.tumbel" in fault
    assert "terrain.bog.entry" in fault


def test_help(run):
    assert "rules" in run("--help").out
    out = run("rules", "--help").out
    for command in ("list", "show", "coverage"):
        assert command in out
        answer = run("rules", command, "--help")
        assert (answer.code, answer.err) == (0, "")
        assert f"fieldcraft rules {command}" in answer.out
    assert run("rules", "show").fault.endswith("(see fieldcraft rules show --help)")


def test_every_command_of_the_group_is_described(root):
    text = (root / "docs" / "cli.md").read_text(encoding="utf-8")
    for command in _app.command().commands["rules"].commands.values():
        usage = text.partition(f"\n    fieldcraft rules {command.name} ")[2].partition("\n\n")[0]
        assert usage, command.name
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("--") or option in usage, (command.name, option)

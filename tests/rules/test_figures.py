"""Changing any figure of any terrain table by one tick is noticed."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest

from fieldcraft import rules as systems
from rules.golden import CHECKS

TICK = {"hexwild": 0.5, "pathfinder": 1, "srd5": 0.5, "skirmish": 1, "octile": 1}
POINTS = ("entry", "exit", "obstruction")
PER_DICE = re.compile(r"\d+")


def shipped(name: str) -> dict[str, Any]:
    text = resources.files("fieldcraft.rules").joinpath(f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def inline(value: Any) -> str:
    """Return a value as TOML in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def changed(value: Any, key: str, tick: float) -> Iterator[Any]:
    """Return the value with each of its figures changed by one tick (or by one) at a time."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        step = tick if key in ("entry", "exit", "hands") else 0.5 if key == "obstruction" else 1
        yield value + step
        yield value - step
    elif isinstance(value, str):
        if key in ("damage", "fall_damage", "high_fall_damage", "height"):
            for match in PER_DICE.finditer(value):
                more = str(int(match.group()) + 1)
                yield value[: match.start()] + more + value[match.end() :]
    elif isinstance(value, dict):
        for name, item in value.items():
            for other in changed(item, name, tick):
                yield {**value, name: other}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            for other in changed(item, key, tick):
                rows = copy.deepcopy(value)
                rows[index] = other
                yield rows


def changes(name: str) -> Iterator[tuple[str, str, str]]:
    """Return (terrain, key, TOML of its changed value) for each figure of a table."""
    tick = TICK[name]
    schema = systems.get(name).schema
    for identifier, keys in shipped(name)["terrain"].items():
        known = {**dict.fromkeys(set(POINTS) & schema.keys, 0), "stop": True, "opaque": False}
        if "corners" in schema.keys:
            known["corners"] = False
        for key, value in {**known, "closed": False, **keys}.items():
            for other in changed(value, key, tick):
                yield identifier, key, inline(other)


@pytest.mark.parametrize("name", CHECKS)
def test_the_tables_are_the_specification(name):
    CHECKS[name](systems.get(name))


@pytest.mark.parametrize("name", CHECKS)
def test_changing_any_figure_by_one_tick_is_noticed(name, tmp_path):
    path = tmp_path / "changed.toml"
    n_noticed, n_refused, unnoticed = 0, 0, []
    for identifier, key, value in changes(name):
        path.write_text(f'extends = "{name}"\n[terrain.{identifier}]\n{key} = {value}\n', "utf-8")
        try:
            rules = systems.load(path)
        except systems.TableError:
            n_refused += 1  # below zero, beyond 100 %, or slopes that do not rise
            continue
        try:
            CHECKS[name](rules)
        except AssertionError:
            n_noticed += 1
        else:
            unnoticed.append(f"{identifier}.{key} = {value}")
    assert unnoticed == []
    least = {"hexwild": 250, "pathfinder": 50, "srd5": 45, "skirmish": 50, "octile": 20}
    assert n_noticed > least[name]
    assert n_refused < n_noticed


def test_changing_the_figure_of_a_border_is_noticed(tmp_path):
    path = tmp_path / "changed.toml"
    for price in (1, 3):
        path.write_text(f'extends = "pathfinder"\n[borders]\nlow_wall = {price}\n', "utf-8")
        rules = systems.load(path)
        with pytest.raises(AssertionError):
            CHECKS["pathfinder"](rules)


def test_the_default_parameters_are_those_of_the_specification():
    assert systems.get("hexwild").parameters() == {
        "threshold": 4,
        "ancient_trees_obstruct": "heavy",
        "fog_counts": (False, True, True),
        "target_hex": True,
        "small_in_bushes": "target",
        "line": "crossed",
        "tie": "worst-side",
        "overlays_stack": True,
        "mud_exit": "hex",
        "hex_metres": 1.5,
        "hills": "opaque",
        "turn_cost": None,
    }
    assert systems.get("pathfinder").parameters() == {
        "diagonals": "alternating",
        "parity": "advances",
        "corners": "both",
        "occupied": "double",
        "stack": "multiply",
        "tumble": False,
        "sight_corners": "closed",
        "footprint_cost": "worst",
        "squeeze": True,
        "altitudes": 1,
    }
    assert systems.get("srd5").parameters() == {
        "diagonals": "equidistant",
        "corners": "both",
        "squeeze": True,
        "altitudes": 1,
    }
    assert systems.get("skirmish").parameters() == {"corners": "either", "level_surcharge": False}
    assert systems.get("octile").parameters() == {}


@pytest.mark.parametrize("name", CHECKS)
def test_every_terrain_is_drawn_in_its_own_way(name):
    rules = systems.get(name)
    glyphs = [rules.glyph(identifier)[0] for identifier in rules.table]
    assert len(set(glyphs)) == len(glyphs)

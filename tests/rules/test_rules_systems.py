"""The registry of systems, their parameters, budgets and checks of maps."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest

from fieldcraft import rules as systems
from fieldcraft.creature import Creature, Token
from fieldcraft.errors import ArgumentTypeError, CostError, MapError, OutsideMapError, RulesError
from fieldcraft.terrain import Border
from rules.boards import hexes, squares, steps_of

HEXWILD, PATHFINDER, OCTILE = (systems.get(n) for n in ("hexwild", "pathfinder", "octile"))


def test_systems_are_values():
    for name in ("hexwild", "octile", "pathfinder", "skirmish", "srd5"):
        rules = systems.get(name)
        assert isinstance(rules, systems.Rules)
        assert rules == systems.get(name)
        assert hash(rules) == hash(systems.get(name))
        assert pickle.loads(pickle.dumps(rules)) == rules
        assert "TerrainType" not in repr(rules)
    assert systems.names() == ["hexwild", "octile", "pathfinder", "skirmish", "srd5"]
    assert HEXWILD.configure(tie="both") != HEXWILD
    assert (HEXWILD.unit, HEXWILD.ticks, HEXWILD.cell_metres) == ("points", 2, 1.5)
    assert (PATHFINDER.unit, PATHFINDER.ticks, PATHFINDER.cell_metres) == ("squares", 1, 1.5)
    assert (OCTILE.unit, OCTILE.ticks) == ("cells", 1)


def test_an_unknown_system_is_told_with_the_nearest_known_one():
    with pytest.raises(RulesError, match=r"unknown rules 'hexwlid' \(did you mean 'hexwild'\?\)"):
        systems.get("hexwlid")
    with pytest.raises(RulesError, match="known are hexwild, octile, pathfinder, skirmish, srd5"):
        systems.resolve("whist")
    with pytest.raises(ArgumentTypeError, match="must be text, not 3"):
        systems.get(3)


def test_resolve_takes_a_system_a_name_or_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "octile"\n')
    assert systems.resolve(HEXWILD) is HEXWILD
    assert systems.resolve("pathfinder") == PATHFINDER
    assert systems.resolve(path).name == systems.resolve(str(path)).name == "mine"
    with pytest.raises(ArgumentTypeError, match=r"its name or a \.toml file, not int"):
        systems.resolve(4)


def test_register_makes_a_system_known_by_its_name(monkeypatch, tmp_path):
    monkeypatch.setattr(systems, "_registered", {})
    path = tmp_path / "mine.toml"
    path.write_text('extends = "hexwild"\n')
    mine = systems.load(path)
    systems.register(mine)
    systems.register(mine)
    assert systems.get("mine") is mine
    assert systems.get("mine", tie="both").tie == "both"
    assert "mine" in systems.names()
    with pytest.raises(RulesError, match="there is a rule system named 'mine' already"):
        systems.register(mine.configure(tie="both"))
    with pytest.raises(RulesError, match="there is a rule system named 'hexwild' already"):
        systems.register(HEXWILD)
    with pytest.raises(ArgumentTypeError, match="must be a rule system, not str"):
        systems.register("mine")


def test_parameters_are_checked():
    with pytest.raises(
        RulesError, match=r"no parameter 'tei' \(did you mean 'tie'\?\); it has thr"
    ):
        HEXWILD.configure(tei="both")
    with pytest.raises(RulesError, match="octile has no parameter 'tie'; it has none"):
        systems.get("octile", tie="both")
    expected = "tie of hexwild: expected one of worst-side, best-side, worst-hex, best-hex, both"
    with pytest.raises(RulesError, match=expected):
        systems.get("hexwild", tie="worst")
    with pytest.raises(RulesError, match=r"not 'alternate' \(did you mean 'alternating'\?\)"):
        PATHFINDER.configure(diagonals="alternate")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("hexwild", {"threshold": 0}),
        ("hexwild", {"threshold": 4.0}),
        ("hexwild", {"threshold": True}),
        ("hexwild", {"line": "straight"}),
        ("hexwild", {"small_in_bushes": True}),
        ("hexwild", {"fog_counts": "own"}),
        ("hexwild", {"fog_counts": {"owner": True}}),
        ("hexwild", {"fog_counts": {"own": 1}}),
        ("hexwild", {"target_hex": 1}),
        ("hexwild", {"overlays_stack": "no"}),
        ("hexwild", {"mud_exit": "never"}),
        ("hexwild", {"hex_metres": 0}),
        ("hexwild", {"hex_metres": math.nan}),
        ("hexwild", {"hex_metres": math.inf}),
        ("hexwild", {"hex_metres": "1.5"}),
        ("hexwild", {"ancient_trees_obstruct": "none"}),
        ("pathfinder", {"parity": "carries"}),
        ("pathfinder", {"corners": "none"}),
        ("pathfinder", {"occupied": 2}),
        ("pathfinder", {"stack": "add"}),
        ("pathfinder", {"tumble": "yes"}),
        ("pathfinder", {"sight_corners": "both"}),
    ],
)
def test_a_bad_value_of_a_parameter_is_refused_and_what_is_allowed_is_told(name, parameters):
    (key,) = parameters
    with pytest.raises(RulesError, match=f"parameter {key} of {name}: expected "):
        systems.get(name, **parameters)


def test_parameters_are_made_canonical():
    rules = systems.get("hexwild", hex_metres=0.1, fog_counts={"own": True}, threshold="none")
    assert rules.hex_metres == Fraction(1, 10)
    assert rules.fog_counts == (True, True, True)
    assert rules.threshold is None
    hash(rules)


# -- budgets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "value", "ticks", "rest"),
    [
        (PATHFINDER, "9 m", 6, ""),
        (PATHFINDER, "10 m", 6, "1 m"),
        (PATHFINDER, "30 ft", 6, ""),
        (PATHFINDER, "32 ft", 6, "2 ft"),
        (PATHFINDER, "6 sq", 6, ""),
        (PATHFINDER, 6, 6, ""),
        (PATHFINDER, 6.5, 6, "0.5 squares"),
        (PATHFINDER, 0, 0, ""),
        (PATHFINDER, "1.4 m", 0, "1.4 m"),
        (PATHFINDER, math.inf, None, ""),
        (PATHFINDER, None, None, ""),
        (HEXWILD, 4, 8, ""),
        (HEXWILD, 4.5, 9, ""),
        (HEXWILD, 4.7, 9, "0.2 points"),
        (HEXWILD, "5 points", 10, ""),
        (HEXWILD, "4 hexes", 8, ""),
        (HEXWILD, "9 m", 12, ""),
        (HEXWILD, "10 m", 12, "1 m"),
        (HEXWILD.configure(hex_metres=2), "9 m", 8, "1 m"),
        (HEXWILD, "10 ft", 4, ""),
        (PATHFINDER.configure(diagonals="approximate"), 6.5, 13, ""),
        (PATHFINDER.configure(diagonals="exact"), 6.5, 6.5, ""),
        (PATHFINDER.configure(diagonals="exact"), "10 m", 6, "1 m"),
        (OCTILE, 3.75, 3.75, ""),
    ],
)
def test_budgets_in_ticks_and_what_is_left_over(rules, value, ticks, rest):
    budget = rules.budget(value)
    assert (budget.ticks, budget.rest) == (ticks, rest)


def test_without_a_budget_the_creatures_speed_holds():
    assert PATHFINDER.budget(None, Creature(speed="9 m")).ticks == 6
    assert PATHFINDER.budget(None, Creature(speed={"walk": 4})).ticks == 4
    assert PATHFINDER.budget(None, Creature()).ticks is None
    assert PATHFINDER.budget(3, Creature(speed=6)).ticks == 3
    assert PATHFINDER.budget("10 m").rest_value == 1


def test_bad_budgets():
    with pytest.raises(CostError, match="0 or more"):
        HEXWILD.budget(-1)
    with pytest.raises(CostError, match="NaN"):
        HEXWILD.budget(math.nan)
    with pytest.raises(RulesError, match="pathfinder counts in squares, m, ft, not in pt"):
        PATHFINDER.budget("5 points")
    with pytest.raises(RulesError, match="octile counts in cells, not in m"):
        OCTILE.budget("5 m")


# -- maps a system cannot play ------------------------------------------------------------------


def test_an_unknown_terrain_is_told_with_its_cell_and_the_nearest_known_one():
    terrain = hexes(["...", "..x"], legend={"x": "light_forrest"})
    expected = (
        r"cell \(1, 2\) of the map: unknown terrain 'light_forrest' \(did you mean 'light_for"
    )
    with pytest.raises(MapError, match=expected):
        HEXWILD.check(terrain)
    with pytest.raises(MapError, match=expected):
        steps_of(HEXWILD, terrain)
    with pytest.raises(MapError, match="in pathfinder"):
        PATHFINDER.check(squares("x", legend={"x": "mud"}))


def test_an_unknown_kind_that_no_cell_uses_does_no_harm():
    terrain = hexes("..x", legend={"x": "whirlpool"})
    codes = terrain.codes.copy()
    codes[0, 2] = 0
    terrain = type(terrain)(terrain.lattice, codes, terrain.kinds)
    HEXWILD.check(terrain)
    assert steps_of(HEXWILD, terrain).price((0, 1), (0, 2)) == 2


def test_codes_beyond_the_kinds_are_refused():
    terrain = hexes("..")
    with pytest.raises(MapError, match=r"cell \(0, 0\) has the code 1, and there are 1 kinds"):
        type(terrain)(terrain.lattice, terrain.codes + 1, terrain.kinds)
    with pytest.raises(MapError, match="codes must be uint16, not int64"):
        type(terrain)(terrain.lattice, terrain.codes.astype(int), terrain.kinds)


@pytest.mark.parametrize(
    "identifier", ["fog:0", "fog:-1", "fog:1.5", "fog:", "fog:two", "fog:\uff11"]
)
def test_a_number_that_is_none_is_refused(identifier):
    with pytest.raises(MapError, match="expected a whole number of 1 or more after the colon"):
        HEXWILD.check(hexes("x", legend={"x": ("open", identifier)}))


def test_numbers_where_none_belongs_and_numbers_too_large():
    with pytest.raises(MapError, match="'mud' takes no number"):
        HEXWILD.check(hexes("x", legend={"x": "mud:2"}))
    with pytest.raises(MapError, match="the most is fog:126"):
        HEXWILD.check(hexes("x", legend={"x": ("open", "fog:127")}))
    HEXWILD.check(hexes("x", legend={"x": ("open", "fog:126")}))
    with pytest.raises(MapError, match=r"takes 127 points off a line, more than the 126\.5"):
        HEXWILD.check(hexes("x", legend={"x": ("heavy_forest", "fog:126")}))
    with pytest.raises(MapError, match="the most is difficult:10000"):
        PATHFINDER.check(squares("x", legend={"x": "difficult:10001"}))
    terrain = squares("x.", legend={"x": ("difficult:9000", "difficult:9000")})
    with pytest.raises(RulesError, match="costs 81000000 ticks, more than can be counted"):
        steps_of(PATHFINDER, terrain)


@pytest.mark.parametrize(
    ("rules", "terrain"),
    [
        (HEXWILD, squares("..", legend={".": "open"})),
        (PATHFINDER, hexes("..")),
        (OCTILE, hexes("..")),
    ],
)
def test_a_system_is_played_on_its_own_lattices(rules, terrain):
    with pytest.raises(
        MapError, match=f"{rules.name} is played on .*, and the lattice of this map"
    ):
        rules.check(terrain)


def test_a_token_off_the_map_is_told_by_name():
    token = Token(Creature("imp"), (0, 5))
    with pytest.raises(OutsideMapError, match="cell of token 'imp'"):
        steps_of(HEXWILD, hexes(".."), tokens=[token])


@pytest.mark.parametrize(
    ("border", "expected"),
    [
        (Border(((0, 0), (1, 1)), "wall"), "needs two cells that share a side"),
        (
            Border(((0, 0), (0, 1)), "ladder"),
            "pathfinder has no rule for it; give the border a price",
        ),
        (Border(((0, 0), (0, 1)), "price", price=0.5), "no whole number of ticks"),
        (Border(((0, 0), (0, 1)), "price", price=-1), "must be 0 or more, not -1"),
        (Border(((0, 0), (0, 1)), "price", price="2"), "must be 0 or more, not '2'"),
        (Border(((0, 0), (0, 1)), "price", price=math.nan), "must be 0 or more, not nan"),
        (Border(((0, 0), (0, 1)), "price", price=math.inf), "must be 0 or more, not inf"),
        (Border(((0, 0), (0, 1)), "price", price=1e6), "too high to count"),
    ],
)
def test_borders_a_system_cannot_play(border, expected):
    terrain = squares(["..", ".."], borders=[border])
    with pytest.raises(MapError, match=r"between \(0, 0\) and \(\d, 1\): .*" + expected):
        PATHFINDER.check(terrain)


def test_a_low_wall_on_hexes_needs_a_price():
    pair = ((0, 0), (0, 1))
    with pytest.raises(MapError, match="hexwild has no rule for it; give the border a price"):
        HEXWILD.check(hexes("..", borders=[Border(pair, "low_wall")]))
    terrain = hexes("..", borders=[Border(pair, "low_wall", price=1.5)])
    assert steps_of(HEXWILD, terrain).price(*pair) == 5


def test_systems_are_imported_without_numba():
    code = (
        "import sys, fieldcraft.rules as r; r.names(); r.get('hexwild'); r.get('pathfinder'); "
        "r.get('octile'); sys.exit('numba' in sys.modules or 'fieldcraft.fields' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = "import sys, fieldcraft.rules; sys.exit('fieldcraft.rules.hexwild' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=env).returncode == 0

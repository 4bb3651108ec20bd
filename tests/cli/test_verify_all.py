"""All rows of all shared scenarios: ``fieldcraft verify`` on 22,605 published lengths."""

import json

import pytest

from fieldcraft.cli import main
from fieldcraft.io import read_scenario
from sharedfolder import shared_dir

FOLDER = shared_dir("data", "movingai")
SCENARIOS = sorted(FOLDER.rglob("*.scen"))
LONG = {"maze512-32-1.map"}
"""Where a search visits most of the map, for thousands of rows."""


def map_of(scenario):
    """Return the map of a scenario: ``x.map.scen``, or ``x-even-1.scen``."""
    if scenario.stem.endswith(".map"):
        return scenario.with_suffix("")
    return scenario.with_name(scenario.stem.rsplit("-", 2)[0] + ".map")


@pytest.mark.shared
@pytest.mark.jit_only
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(file, id=file.stem, marks=[pytest.mark.slow] if file.stem in LONG else [])
        for file in SCENARIOS
    ],
)
def test_every_row_matches(capsys, scenario):
    code = main(["verify", str(map_of(scenario)), str(scenario), "--json"])
    answer = json.loads(capsys.readouterr().out)
    rows = len(read_scenario(scenario))
    assert answer == {"rows": rows, "matched": rows, "mismatches": []}
    assert code == 0


@pytest.mark.shared
def test_there_are_22_605_rows():
    assert sum(len(read_scenario(file)) for file in SCENARIOS) == 22_605

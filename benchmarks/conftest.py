"""How `pytest benchmarks` runs: in one process, on one core; with `--quick` on tiny maps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.cores import cores


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="benchmarks: tiny maps, one round")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    # Workers would disturb one another, and pytest-benchmark does not time in them.
    if getattr(config.option, "numprocesses", None):
        config.option.numprocesses = 0
        config.option.dist = "no"


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    with cores(1):
        yield

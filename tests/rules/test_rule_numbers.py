"""Every rule of the four systems has a place in the specifications and a test that names it."""

from __future__ import annotations

import pytest

from fieldcraft.cli import _coverage

N_RULES = {
    "hexwild": ("HW", 27),
    "pathfinder": ("PF", 13),
    "skirmish": ("SK", 10),
    "srd5": ("S5", 14),
}
NUMBERS = [f"{key}-{n:02}" for key, most in N_RULES.values() for n in range(1, most + 1)]


@pytest.fixture(scope="module")
def found(root):
    return _coverage.coverage(root)


def test_the_specifications_hold_every_rule_in_order(found):
    assert [rule.number for rule in found] == NUMBERS
    for rule in found:
        assert rule.number.startswith(N_RULES[rule.system][0])


def test_every_rule_number_is_named_by_a_test(found):
    assert [rule.number for rule, tests in found.items() if not tests] == []


def test_no_test_names_a_rule_that_is_not_there(root):
    keys = {key for key, _ in N_RULES.values()}
    unknown = {
        proof.test: sorted(n for n in proof.numbers if n[:2] in keys and n not in NUMBERS)
        for proof in _coverage.proofs(root)
    }
    assert {test: numbers for test, numbers in unknown.items() if numbers} == {}

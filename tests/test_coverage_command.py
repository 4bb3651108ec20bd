"""How the tests of a rule are counted: ``fieldcraft rules coverage``.

The rules here have numbers that no system has, so that none of these tests counts as a proof.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fieldcraft
from fieldcraft.cli import _coverage, main
from fieldcraft.errors import RulesError

PAGE = """# A game

## Moving

### QQ-01 Walking

One point (QQ-02). QQ-09 Not a heading.

### QQ-02 Going on foot: `slowly`

```text
### QQ-08 In a listing
```

#### QQ-07 Too deep

### QQ-3 Too short

### QQ-04 Standing up
"""

TESTS = '''
"""QQ-04: what a module says is no proof."""

import pytest

# QQ-04 in a comment, and in a constant below, is none either.
CASES = ["QQ-04"]


def test_docstring():
    """QQ-01: one point."""
    assert 1 == 1


@pytest.mark.parametrize("n", [pytest.param(1, id="QQ-02 by foot"), 2])
def test_id(n):
    assert n


@pytest.mark.parametrize(("rule", "n"), [("QQ-01", 1), ("QQ-01", 2), ("QQ-02", 3)])
def test_parametrized_once(rule, n):
    assert n


@pytest.mark.parametrize("n", CASES)
async def test_names_nothing(n):
    assert n == "QQ-04"


def helper():
    """QQ-04."""
    return 1


@pytest.mark.skip(reason="QQ-04 later")
def test_skipped():
    """QQ-04."""
    assert 1 == 2


@pytest.mark.xfail
def test_fails():
    """QQ-04."""
    assert 1 == 2


def test_empty():
    """QQ-04."""


def test_pass():
    """QQ-04."""
    pass


@pytest.mark.skipif("sys.platform == 'win32'")
def test_on_most_machines():
    """QQ-02."""
    assert 1


class TestGroup:
    """QQ-04."""

    def test_method(self):
        """Rule QQ-01, at last."""
        assert 1

    def helper(self):
        """QQ-04."""


class Group:
    def test_not_collected(self):
        """QQ-04."""
        assert 1


def outer():
    def test_inner():
        """QQ-04."""
        assert 1
'''


@pytest.fixture
def checkout(tmp_path):
    """Return a folder that looks like a source checkout, with a package in it."""
    for folder in ("docs/rules", "tests/deep", "python/pack"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/rules/game.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "tests/deep/test_game.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "tests/helper.py").write_text('def test_a():\n    "QQ-04"\n    assert 1\n')
    return tmp_path


# -- counting


def test_rules_of_a_page(checkout):
    rules = _coverage.read_rules(checkout / "docs/rules")
    assert [(rule.number, rule.title, rule.system) for rule in rules] == [
        ("QQ-01", "Walking", "game"),
        ("QQ-02", "Going on foot: `slowly`", "game"),
        ("QQ-04", "Standing up", "game"),
    ]


def test_one_number_twice(checkout):
    (checkout / "docs/rules/other.md").write_text("### QQ-02 Again\n")
    with pytest.raises(
        RulesError, match=r"other\.md: rule QQ-02 has a heading in game\.md already"
    ):
        _coverage.read_rules(checkout / "docs/rules")


def test_what_proves_a_rule(checkout):
    file = "tests/deep/test_game.py"
    found = {rule.number: tests for rule, tests in _coverage.coverage(checkout).items()}
    assert found == {
        "QQ-01": [
            f"{file}::test_docstring",
            f"{file}::test_parametrized_once",
            f"{file}::TestGroup::test_method",
        ],
        "QQ-02": [
            f"{file}::test_id",
            f"{file}::test_parametrized_once",
            f"{file}::test_on_most_machines",
        ],
        "QQ-04": [],
    }


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("QQ-01", "01"),
        ("(QQ-01), QQ-02: and QQ-03.", "01 02 03"),
        ("QQ-01 to QQ-04", "01 02 03 04"),
        ("QQ-01 to\n    QQ-03", "01 02 03"),
        ("QQ-01\u2013QQ-03", "01 02 03"),
        ("QQ-03 to QQ-01", "01 03"),
        ("QQ-01 and QQ-03", "01 03"),
        ("QQ-01, towards QQ-03", "01 03"),
        ("QQ-1, QQ-001, AQQ-01, qq-01, QQ-01a", ""),
        ("nothing", ""),
    ],
)
def test_numbers_in_a_text(text, numbers):
    assert _coverage.named_rules(text) == {f"QQ-{number}" for number in numbers.split()}


def test_a_range_stays_within_a_system():
    assert _coverage.named_rules("QQ-01 to Q5-03") == {"QQ-01", "Q5-03"}


def test_a_test_file_that_is_no_python(checkout):
    (checkout / "tests/test_bad.py").write_text("def test_a(:\n")
    with pytest.raises(RulesError, match=r"tests/test_bad\.py cannot be read as Python"):
        _coverage.coverage(checkout)


def test_the_checkout_is_found_from_inside(checkout, root):
    assert _coverage.find_checkout() == root
    for inside in ("", "python", "python/pack", "tests/deep"):
        assert _coverage.find_checkout(checkout / inside) == checkout


@pytest.mark.parametrize("gone", ["docs/rules/game.md", "docs/rules", "tests"])
def test_anything_else_is_no_checkout(checkout, gone):
    place = checkout / gone
    place.unlink() if place.is_file() else shutil.rmtree(place)
    assert _coverage.find_checkout(checkout / "python/pack") is None


# -- the command


@pytest.fixture
def run(checkout, monkeypatch, capsys):
    """Return a call of the command in that checkout: code and output."""
    monkeypatch.setattr(_coverage, "find_checkout", lambda: checkout)

    def run(*args):
        capsys.readouterr()
        code = main(["rules", "coverage", *args])
        printed = capsys.readouterr()
        assert printed.err == ""
        return code, printed.out

    return run


def test_a_rule_without_a_test_is_exit_code_1(run):
    assert run() == (
        1,
        "  rule   tests  title\n"
        "  QQ-01      3  Walking\n"
        "  QQ-02      3  Going on foot: `slowly`\n"
        "  QQ-04      0  Standing up\n"
        "\n"
        "3 rules, 1 without a test: QQ-04.\n",
    )


def test_all_proved_is_exit_code_0(run, checkout):
    (checkout / "tests/test_more.py").write_text('def test_it():\n    "QQ-04"\n    assert 1\n')
    code, out = run()
    assert code == 0
    assert out.endswith("\n3 rules, 0 without a test.\n")


def test_with_the_tests(run):
    code, out = run("--tests")
    assert code == 1
    lines = out.splitlines()
    assert lines[1].split() == ["QQ-01", "3", "Walking"]
    assert [line.strip() for line in lines[2:5]] == [
        "tests/deep/test_game.py::test_docstring",
        "tests/deep/test_game.py::test_parametrized_once",
        "tests/deep/test_game.py::TestGroup::test_method",
    ]


def test_json(run):
    code, out = run("--json")
    answer = json.loads(out)
    assert code == 1
    assert answer["missing"] == ["QQ-04"]
    assert answer["rules"][0] == {
        "number": "QQ-01",
        "title": "Walking",
        "system": "game",
        "count": 3,
    }
    code, out = run("--json", "--tests")
    assert json.loads(out)["rules"][1]["tests"][0] == "tests/deep/test_game.py::test_id"


def test_here_it_counts_every_rule_there_is(root, capsys):
    code = main(["rules", "coverage", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert [rule["number"] for rule in answer["rules"]] == [
        rule.number for rule in _coverage.read_rules(root / "docs" / "rules")
    ]
    assert answer["missing"] == [r["number"] for r in answer["rules"] if r["count"] == 0]
    assert code == (1 if answer["missing"] else 0)


def test_an_installed_copy_says_so(tmp_path):
    """Copied to where there is no checkout, as an installation does."""
    package = Path(fieldcraft.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, tmp_path / "fieldcraft", ignore=ignored)
    for folder in ("docs", "tests"):  # as careless packages leave them beside others
        (tmp_path / folder).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "fieldcraft", "rules", "coverage"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fieldcraft: error: coverage is counted in a source checkout")
    assert done.stderr.count("\n") == 1

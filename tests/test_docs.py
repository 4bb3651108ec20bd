"""What the pages say is true: their examples run and print what stands below them.

In README.md and docs/*.md a fenced block is

- ``python``: it runs, after the blocks before it on the page; if a ``text`` block follows at once,
  that is exactly what it prints;
- ``console``: commands after ``$``, each with exactly what it prints; ``echo $?`` shows an exit
  code;
- anything with a file name after the language: that file, for the examples below it.

Everything runs in an empty folder.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from fieldcraft import cli, rules
from fieldcraft.io import megamek
from fieldcraft.terrain import BORDER_KINDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKING = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

FENCED = re.compile(r"^```(\w+)[ ]?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# ---- Examples ----------------------------------------------------------------------------------


class Block(NamedTuple):
    language: str
    file: str
    text: str
    line: int
    follows: bool  # nothing but blank lines stands between the block before it and this one


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found, end = [], 0
    for match in FENCED.finditer(page):
        between = page[end : match.start()]
        line = page.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], match[3], line, bool(end) and not between.strip()))
        end = match.end()
    return found


def commands(console: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what is printed below it."""
    parts = re.split(r"^\$ (.*)\n", console, flags=re.MULTILINE)
    assert not parts[0], "a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


class Session:
    """Runs the blocks of a page, one after the other, in the current folder."""

    def __init__(self, capsys, page: str) -> None:
        self.capsys, self.page = capsys, page
        self.scope: dict[str, object] = {}
        self.code = 0

    def python(self, block: Block) -> str:
        """Run a block as part of its page, so that a traceback names the line there."""
        source = "\n" * (block.line - 1) + block.text
        exec(compile(source, self.page, "exec"), self.scope)
        return self.capsys.readouterr().out

    def command(self, line: str) -> str:
        if line == "echo $?":
            return f"{self.code}\n"
        program, *args = shlex.split(line)
        assert program == "fieldcraft"
        self.code = cli.main(args)
        printed = self.capsys.readouterr()
        return printed.out + printed.err


def check(page: str, source: str, capsys) -> None:
    """Run the examples of a page in the current folder and compare what they print."""
    session = Session(capsys, source)
    for block, below in pairwise([*blocks(page), None]):
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            printed = session.python(block)
            if below and below.language == "text" and not below.file and below.follows:
                assert printed == below.text, f"{source}, line {below.line}"
        elif block.language == "console":
            for line, wanted in commands(block.text):
                assert session.command(line) == wanted, f"{source}: $ {line}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to an empty folder; rules registered there are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rules, "_registered", {})
    return tmp_path


@pytest.mark.jit_only
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_run_and_print_what_the_page_says(page, folder, capsys):
    check(page.read_text(encoding="utf-8"), name(page), capsys)


@pytest.mark.parametrize(
    "page",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```console\n$ fieldcraft reach no.map --from 0,0\nall is well\n```\n",
        "```console\n$ echo $?\n1\n```\n",
    ],
)
def test_a_false_page_fails(page, folder, capsys):
    with pytest.raises(AssertionError, match="a page"):
        check(page, "a page", capsys)


def test_an_example_that_raises_fails(folder, capsys):
    with pytest.raises(ZeroDivisionError):
        check("\n```python\n1 / 0\n```\n", "a page", capsys)


def test_blocks_are_told_apart():
    page = "a\n```python\nx = 1\n```\n\n```text\n1\n```\nb\n```toml my.toml\nk = 2\n```\n"
    assert blocks(page) == [
        Block("python", "", "x = 1\n", 3, False),
        Block("text", "", "1\n", 7, True),
        Block("toml", "my.toml", "k = 2\n", 11, False),
    ]
    assert commands("$ a b\nc\n$ d\n") == [("a b", "c\n"), ("d", "")]


# ---- Links -------------------------------------------------------------------------------------


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    plain = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ +(.*?) *$", plain, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list[str]:
    """Return the links of a page to files or headings that are not there."""
    found = []
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target, anchor in LINK.findall(text):
        file = page.parent / target if target else page
        if "://" in target:
            continue
        if not file.exists() or (
            anchor and anchor not in anchors(file.read_text(encoding="utf-8"))
        ):
            found.append(f"{target}#{anchor}" if anchor else target)
    return found


@pytest.mark.parametrize("page", LINKING, ids=name)
def test_links_lead_somewhere(page):
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "a.md"
    page.write_text(
        "# A title\n[a](#a-title) [b](b.md) [c](#b) [d](a.md#a-title) [e](https://x.y)\n"
    )
    assert broken_links(page) == ["b.md", "#b"]


def test_index_links_to_every_page():
    index = ROOT / "docs" / "index.md"
    linked = {target for target, _ in LINK.findall(index.read_text(encoding="utf-8"))}
    assert {page.name for page in index.parent.glob("*.md")} - {"index.md"} <= linked


# ---- Pages that list what there is -------------------------------------------------------------


def text_of(page: str) -> str:
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def tables(text: str) -> list[list[dict[str, str]]]:
    """Return the tables of a page, each row by the titles of its columns."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        titles, _, *rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        ]
        found.append([dict(zip(titles, row, strict=True)) for row in rows])
    return found


@pytest.mark.parametrize("system", rules.names())
def test_terrain_tables_are_those_of_the_systems(system):
    section = text_of("rules.md").partition(f"### Terrain of {system}\n")[2].partition("\n## ")[0]
    listed = {row["id"].strip("`"): row for row in tables(section)[0]}
    table = rules.get(system).table
    assert list(listed) == list(table)
    for id_, entry in table.items():
        row = listed[id_]
        for key in {"name", "group"} & row.keys():
            assert row[key] == getattr(entry, key), id_
        for key in {"entry", "exit", "obstruction"} & row.keys():
            assert float(row[key]) == getattr(entry, key), id_
        flags = {key for key in ("closed", "opaque", "corners") if getattr(entry, key)}
        assert flags == flags & set(re.findall(r"\w+", row["besides"])), id_


@pytest.mark.parametrize("system", ["hexwild", "pathfinder", "skirmish", "srd5"])
def test_rule_parameters_are_those_of_the_systems(system):
    section = text_of("rules.md").partition(f"\n## {system}\n")[2].partition("\n## ")[0]
    listed = next(table for table in tables(section) if "parameter" in table[0])
    given = {row["parameter"].strip("`"): row["values, the default first"] for row in listed}
    known = rules.get(system).parameters()
    assert list(given) == list(known)
    for key, value in known.items():
        if isinstance(value, bool | str):
            first = re.match(r"`\"?([^`\"]*)\"?`", given[key])
            assert first
            assert first[1] == str(value).lower()


def test_every_rule_of_this_version_is_described():
    text = text_of("rules.md")
    last = {"HW": 27, "PF": 13, "S5": 14, "SK": 10}
    numbers = [f"{system}-{n:02}" for system in last for n in range(1, last[system] + 1)]
    assert [number for number in numbers if f"- **{number}** " not in text] == []


def test_every_border_kind_is_described():
    listed = next(table for table in tables(text_of("rules.md")) if "moving" in table[0])
    assert {row["kind"].strip("`") for row in listed} == set(BORDER_KINDS)


def test_every_terrain_of_megamek_that_changes_something_is_listed():
    file = Path(megamek.__file__).with_name("megamek.toml")
    mapping = tomllib.loads(file.read_text(encoding="utf-8"))["hexwild"]["terrain"]
    text = text_of("files.md")
    assert [key for key, value in mapping.items() if value and f"`{key}`" not in text] == []


def leaves(command, name=""):
    """Yield each command with its whole name, those below others too."""
    for below in getattr(command, "commands", {}).values():
        whole = f"{name} {below.name}".strip()
        yield whole, below
        yield from leaves(below, whole)


def test_every_command_and_option_is_described():
    from fieldcraft.cli import _app

    text = text_of("cli.md")
    found = dict(leaves(_app.command()))
    assert {"reach", "rules show", "encounters analyse"} <= set(found)
    for name, command in found.items():
        assert " " in name or f"\n## {name}\n" in text
        usage = text.partition(f"\n    fieldcraft {name} ")[2].partition("\n\n")[0]
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("--") or option in usage, (name, option)

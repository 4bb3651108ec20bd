"""Terrain tables: what each terrain of a system costs, hides and does, read from TOML.

A table is data. The files of the systems lie beside their modules; a user's own file extends one
of them. Both are read by the same code, which collects every fault, with its line and its key,
before it raises one error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from importlib import resources
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

from fieldcraft.creature import MODES, SIZES, Size
from fieldcraft.errors import RulesError, nearest

__all__ = [
    "Bold",
    "Climb",
    "Condition",
    "Damage",
    "Dice",
    "Document",
    "Effect",
    "Fault",
    "Forbids",
    "Ground",
    "Hidden",
    "Knockdown",
    "Landing",
    "Modifier",
    "PerchLevel",
    "PerchSearch",
    "Raised",
    "Save",
    "Schema",
    "SkillTest",
    "Slip",
    "Slope",
    "TableError",
    "TerrainTable",
    "TerrainType",
    "TwoRolls",
    "decimal",
    "read_table",
    "shipped_table",
]

MAX_BYTES = 1 << 20
MAX_POINTS = 10_000
MAX_HALVES = 253
"""The most halves of a point a cell may take off a line: what the sight kernels carry."""

KeyPath = tuple[str, ...]
When = Literal[
    "entering",
    "staying",
    "leaving",
    "round_end",
    "knockdown",
    "getting_up",
    "climbing",
    "searching",
    "falling",
]


# -- what a terrain does ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dice:
    """Dice to roll, such as ``1d6+1``.

    Examples
    --------
    >>> from fieldcraft.rules import Dice
    >>> dice = Dice(1, 6, 1)
    >>> str(dice), dice.low, dice.high, str(dice.mean)
    ('1d6+1', 2, 7, '9/2')
    """

    count: int
    sides: int
    plus: int = 0

    @property
    def low(self) -> int:
        """The least they show."""
        return self.count + self.plus

    @property
    def high(self) -> int:
        """The most they show."""
        return self.count * self.sides + self.plus

    @property
    def mean(self) -> Fraction:
        """What they show on average, exactly."""
        return Fraction(self.count * (self.sides + 1), 2) + self.plus

    def __str__(self) -> str:
        """Return the dice as players write them."""
        return f"{self.count}d{self.sides}" + (f"{self.plus:+d}" if self.plus else "")


@dataclass(frozen=True, slots=True)
class Damage:
    """Dice of damage and its kind (``piercing``, ``laceration``, ``blunt``)."""

    dice: Dice
    kind: str

    def __str__(self) -> str:
        """Return, for example, ``1d3 piercing``."""
        return f"{self.dice} {self.kind}"


class Ground(NamedTuple):
    """One figure for each state of the ground."""

    dry: int = 0
    wet: int = 0
    snow: int = 0
    ice: int = 0


_EVEN = Ground()


@dataclass(frozen=True, slots=True)
class Modifier:
    """A change to a test or a value; `unit` is ``"%"`` or nothing."""

    what: str
    value: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Save:
    """A save and what failing it does; `modifiers` by the state of the ground."""

    save: Literal["reflex", "pure reflex"]
    damage: Damage | None = None
    modifiers: Ground = _EVEN
    knockdown: bool = False
    combat: bool = False


@dataclass(frozen=True, slots=True)
class Bold:
    """The price and the save of whoever crosses boldly instead of with care (HW-17)."""

    entry: Fraction
    damage: Damage
    save: Ground = _EVEN


@dataclass(frozen=True, slots=True)
class Slip:
    """The lowest initiative roll that risks a fall, and the save against it (HW-20)."""

    initiative: Ground
    save: Ground = _EVEN
    when: Literal["entering", "staying"] = "staying"


@dataclass(frozen=True, slots=True)
class Knockdown:
    """What a knockdown on this terrain does besides.

    `damage` is taken on the spot; with `fall_chance` (percent) the creature falls into a random
    adjacent cell and takes `fall_damage`, or `high_fall_damage` where the rock is at least
    `high_metres` high (None: what the fall itself does). It reaches the armour too.
    """

    damage: Damage | None = None
    fall_chance: int = 0
    fall_damage: Damage | None = None
    high_metres: Fraction | None = None
    high_fall_damage: Damage | None = None


@dataclass(frozen=True, slots=True)
class Slope:
    """One row of a slope table: up to this roll, this name and this climbing modifier (%)."""

    upto: int
    name: str
    modifier: int


@dataclass(frozen=True, slots=True)
class Climb:
    """A terrain that is climbed (HW-18).

    `rise` is the height in metres where a map has no elevation, `height` the dice that give it,
    `slopes` the table rolled for the climbing test, `metres_per_level` how many full metres make
    a level (0: no levels).
    """

    height: Dice
    rise: Fraction
    surface: str
    slopes: tuple[Slope, ...] = ()
    metres_per_level: int = 0


@dataclass(frozen=True, slots=True)
class Raised:
    """A raised place: against its own level only, and not against giants above that height."""

    except_size: str
    except_metres: Fraction


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hazards that may hide here: found by a test from within this range (HW-21)."""

    metres: Fraction
    modifier: int = 0
    cells: int = 0


@dataclass(frozen=True, slots=True)
class Forbids:
    """Something that cannot be done here."""

    what: str


@dataclass(frozen=True, slots=True)
class SkillTest:
    """A test of a skill, without which there is no going on."""

    skill: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that lasts as long as one stays, such as ``entangled``."""

    what: str


@dataclass(frozen=True, slots=True)
class TwoRolls:
    """Rolls that are made twice, and which of the two counts."""

    what: str
    counts: Literal["worse", "better"]


@dataclass(frozen=True, slots=True)
class PerchSearch:
    """A way to find out whether a forest has a perch (HW-27).

    Parameters
    ----------
    where : str
        ``"own"``, the forest one is in, or ``"other"``.
    action : str
        ``"free"`` or ``"full"``: what it takes.
    test : bool
        Whether it asks for a test, at what sight and all else takes off it.
    later : int
        What it puts on the later actions of the round.
    a_round : int
        How often a round it may be used; 0: as often as there are actions.
    """

    where: Literal["own", "other"]
    action: Literal["free", "full"]
    test: bool = False
    later: int = 0
    a_round: int = 0


@dataclass(frozen=True, slots=True)
class Landing:
    """What who falls or jumps down does to whoever stands there (HW-26).

    A save, or this share of the damage of a roll of its own, rounded down. Either way one of the
    two is moved, see `fieldcraft.fall_displacements`.
    """

    save: Literal["reflex", "pure reflex"]
    share: Fraction


Detail = (
    Modifier
    | Save
    | Slip
    | Knockdown
    | Climb
    | Raised
    | Hidden
    | Forbids
    | SkillTest
    | Condition
    | TwoRolls
    | PerchSearch
    | Landing
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a terrain does to who enters, stays on or leaves it. Data: nothing is played out.

    Parameters
    ----------
    terrain : str
        The terrain's id.
    when : str
        ``entering``, ``staying``, ``leaving``, ``round_end``, ``knockdown``, ``getting_up``,
        ``climbing``, ``searching`` or ``falling``.
    detail : structure
        One of `Modifier`, `Save`, `Slip`, `Knockdown`, `Climb`, `Raised`, `Hidden`, `Forbids`,
        `SkillTest`, `Condition`, `TwoRolls`, `PerchSearch` and `Landing`.
    footing : str
        ``"bold"`` where only a bold step risks it (HW-17).
    """

    terrain: str
    when: When
    detail: Detail
    footing: str = ""


# Modifiers that a terrain may put on who stays there, with their unit.
MODIFIERS: dict[str, str] = {
    "hit": "",
    "dexterity_ac": "",
    "dexterity_tests": "",
    "reflex": "%",
    "dodge": "%",
    "deflect": "",
    "somatic_failure": "%",
    "combat": "",
    "shooting": "",
    "agility": "",
    "casting": "",
}
FORBIDDEN = (
    "rest",
    "half_move",
    "run",
    "cast",
    "dispel",
    "fight_at_a_distance",
    "fight_with_long_weapons",
)
OBSTRUCTS = ("foliage", "fog", "bush")
NUMBERS = ("obstruction", "weight", "width", "size")

Figures = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class TerrainType:
    """One entry of a terrain table. Every attribute but `id` is a key of the TOML file.

    Parameters
    ----------
    id, name : str
    entry, exit : Fraction
        Points paid besides a plain cell for entering, and for leaving.
    obstruction : Fraction
        Points it takes off a line of sight, a multiple of one half.
    obstructs : str
        ``foliage``, ``fog``, or ``bush`` (low: hides only small creatures).
    opaque, closed, corners, stop : bool
        Nothing is seen through it; nobody enters; it has corners that bar diagonals; a movement
        may end here.
    number : str
        What the number of an id such as ``fog:2`` sets: ``obstruction`` (points), ``weight``
        (entry costs that many plain cells), ``width`` (metres left free) or ``size`` (the largest
        creature that has room, a word); empty where the id takes none.
    group : str
        Terrains that may be stepped between, where the system has such classes.
    speeds : tuple of str
        The ways of moving that may enter, where they are not those of plain ground.
    onward : bool
        Whether only who can leave it again, over another side, may enter.
    ascending : bool
        Whether its entry is paid only where the map does not say how high its cells are.
    hands : Fraction
        Points paid besides by whoever has no hand free: it is a ladder.
    width : Fraction or None
        Metres left free, set by the number of an id.
    room : str
        The largest creature that has room, set by the word of an id.
    test : str
        The skill that entering asks a test of, where one must be passed.
    bold, climb, slip, knockdown, raised, hidden, on_entry, round_end : structures or None
    stay, prone : tuple of (str, int)
        Modifiers while staying; those that differ for who is prone or crawls.
    leaving : tuple of str
        Modifiers of `stay` that hold while leaving too.
    forbids : tuple of str
    perches : str
        The table for perches.
    tree_climb : int
        Modifier (%) to climbing its trees.
    glyph, colour : str
        How it is drawn: one character, and ``#rrggbb``.
    """

    id: str
    name: str
    entry: Fraction = Fraction(0)
    exit: Fraction = Fraction(0)
    obstruction: Fraction = Fraction(0)
    obstructs: str = "foliage"
    opaque: bool = False
    closed: bool = False
    corners: bool = False
    stop: bool = True
    number: str = ""
    group: str = ""
    speeds: tuple[str, ...] = ()
    onward: bool = False
    ascending: bool = False
    hands: Fraction = Fraction(0)
    width: Fraction | None = None
    room: str = ""
    test: str = ""
    bold: Bold | None = None
    climb: Climb | None = None
    stay: Figures = ()
    prone: Figures = ()
    leaving: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()
    on_entry: Save | None = None
    round_end: Save | None = None
    slip: Slip | None = None
    knockdown: Knockdown | None = None
    raised: Raised | None = None
    hidden: Hidden | None = None
    perches: str = ""
    tree_climb: int = 0
    glyph: str = "?"
    colour: str = "#808080"

    @property
    def halves(self) -> int:
        """The obstruction in halves of a point."""
        return int(2 * self.obstruction)

    @property
    def base_id(self) -> str:
        """The id without its number."""
        return self.id.partition(":")[0]

    def effects(self, *, prone: bool = False) -> tuple[Effect, ...]:
        """Return what this terrain does, in a fixed order."""
        found: list[Effect] = []

        def add(when: When, detail: Detail | None, footing: str = "") -> None:
            if detail is not None:
                found.append(Effect(self.id, when, detail, footing))

        def modifiers() -> Iterator[Modifier]:
            lying = dict(self.prone) if prone else {}
            for what, value in self.stay:
                yield Modifier(what, lying.get(what, value), MODIFIERS[what])

        if self.test:
            add("entering", SkillTest(self.test))
        add("entering", self.on_entry)
        if self.bold is not None:
            save = Save("reflex", self.bold.damage, self.bold.save, knockdown=True)
            add("entering", save, "bold")
        if self.climb is not None:
            add("climbing", self.climb)
        if self.tree_climb:
            add("climbing", Modifier("climb", self.tree_climb, "%"))
        if self.slip is not None:
            add(self.slip.when, self.slip)
        for modifier in modifiers():
            add("staying", modifier)
        add("staying", self.raised)
        for what in self.forbids:
            add("getting_up" if what == "half_move" else "staying", Forbids(what))
        add("round_end", self.round_end)
        for modifier in modifiers():
            if modifier.what in self.leaving:
                add("leaving", modifier)
        add("knockdown", self.knockdown)
        add("searching", self.hidden)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class PerchLevel:
    """What the roll for a perch on one level of a forest says (HW-22).

    `none`, `small`, `medium` and `large` are the last rolls of 1d100 for no perch and for one that
    bears creatures up to that size; `metres` gives its height.
    """

    none: int
    small: int
    medium: int
    large: int
    metres: Dice

    def size(self, roll: int) -> Size | None:
        """Return the largest creature that the perch of a roll bears; None where there is none."""
        if roll <= self.none:
            return None
        return "small" if roll <= self.small else "medium" if roll <= self.medium else "large"


class TerrainTable(Mapping[str, TerrainType]):
    """The terrains of a rule system by id, its figures for borders and for perches. Never changed.

    Parameters
    ----------
    types : iterable of TerrainType
    borders : mapping from str to Fraction, optional
        What crossing a border of that kind costs, in points, where the border names no price.
    perches : mapping from str to tuple of PerchLevel, optional
        Tables of perches by name, from level 1 up.
    """

    __slots__ = ("_borders", "_by_id", "_hash", "_perches")

    def __init__(
        self,
        types: Iterable[TerrainType],
        borders: Mapping[str, Fraction] | None = None,
        perches: Mapping[str, tuple[PerchLevel, ...]] | None = None,
    ) -> None:
        self._by_id = {entry.id: entry for entry in types}
        self._borders = dict(borders or {})
        self._perches = dict(perches or {})
        self._hash: int | None = None

    def __getitem__(self, key: str) -> TerrainType:
        """Return the entry of that id; ids with a number are for `find`."""
        return self._by_id[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids, in the order of the file."""
        return iter(self._by_id)

    def __len__(self) -> int:
        """Return how many terrains there are."""
        return len(self._by_id)

    def __eq__(self, other: object) -> bool:
        """Compare all entries and figures."""
        if not isinstance(other, TerrainTable):
            return NotImplemented
        return (
            self._by_id == other._by_id
            and self._borders == other._borders
            and self._perches == other._perches
        )

    def __hash__(self) -> int:
        """Return a hash over all entries, computed once a process."""
        if self._hash is None:
            figures = frozenset(self._borders.items()), frozenset(self._perches.items())
            self._hash = hash((frozenset(self._by_id.values()), *figures))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the entries without the hash, which differs from process to process."""
        return (TerrainTable, (tuple(self._by_id.values()), self._borders, self._perches))

    def __repr__(self) -> str:
        """Return the ids, not every figure."""
        return f"TerrainTable({', '.join(self)})"

    @property
    def borders(self) -> Mapping[str, Fraction]:
        """What crossing a border costs, in points, by kind."""
        return dict(self._borders)

    def border(self, kind: str) -> Fraction | None:
        """Return what crossing a border of that kind costs, or None where no rule says."""
        return self._borders.get(kind)

    @property
    def perches(self) -> Mapping[str, tuple[PerchLevel, ...]]:
        """The tables of perches by name, each from level 1 up."""
        return dict(self._perches)

    def find(self, identifier: str) -> TerrainType:
        """Return the entry of an id, with its number applied (``fog:2``).

        Raises
        ------
        RulesError
            If the id is unknown, with the nearest known one, or its number is malformed.
        """
        entry = self._by_id.get(identifier)
        if entry is not None:
            return entry
        base, colon, number = identifier.partition(":")
        entry = self._by_id.get(base)
        if not colon or entry is None:
            hint = nearest(identifier, self._by_id) or nearest(base, self._by_id)
            raise RulesError(f"unknown terrain {identifier!r}{hint}")
        if not entry.number:
            raise RulesError(f"terrain {identifier!r}: {base!r} takes no number")
        if entry.number == "size":
            if number not in SIZES:
                raise RulesError(
                    f"terrain {identifier!r}: expected a size after the colon, one of "
                    f"{', '.join(SIZES)}, not {number!r}{nearest(number, SIZES)}"
                )
            return replace(entry, id=identifier, name=f"{entry.name} ({number})", room=number)
        if entry.number == "width":
            match = re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", number, re.ASCII)
            if match is None or not float(number):
                raise RulesError(
                    f"terrain {identifier!r}: expected metres above 0 after the colon, "
                    f"not {number!r}"
                )
            width = Fraction(number)
            return replace(entry, id=identifier, name=f"{entry.name} {number} m", width=width)
        value = int(number) if re.fullmatch(r"[0-9]{1,9}", number, re.ASCII) else 0
        if value < 1:
            raise RulesError(
                f"terrain {identifier!r}: expected a whole number of 1 or more after the colon, "
                f"not {number!r}"
            )
        name = f"{entry.name} {value}"
        if entry.number == "weight":
            if value > MAX_POINTS:
                raise RulesError(f"terrain {identifier!r}: the most is {base}:{MAX_POINTS}")
            return replace(entry, id=identifier, name=name, entry=Fraction(value - 1))
        if 2 * value > MAX_HALVES:
            raise RulesError(f"terrain {identifier!r}: the most is {base}:{MAX_HALVES // 2}")
        return replace(entry, id=identifier, name=name, obstruction=Fraction(value))


# -- TOML with lines ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a rules file: line (None if unknown), key, and what was expected."""

    line: int | None
    key: str
    text: str

    def __str__(self) -> str:
        """Return, for example, ``line 7, terrain.mud.entry: ...``."""
        where = "" if self.line is None else f"line {self.line}"
        place = ", ".join(part for part in (where, self.key) if part)
        return f"{place}: {self.text}" if place else self.text


class TableError(RulesError):
    """A rules file with faults; `faults` holds them all, in the order of their lines."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(sorted(faults, key=lambda fault: fault.line or 0))
        if len(self.faults) == 1:
            message = f"{source}, {self.faults[0]}"
        else:
            lines = "".join(f"\n  {fault}" for fault in self.faults)
            message = f"{source} has {len(self.faults)} faults:{lines}"
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the two arguments."""
        return (TableError, (self.source, self.faults))


_KEY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.?)""")


def _dotted(text: str) -> KeyPath:
    """Return the parts of a dotted key at the start of the text."""
    parts: list[str] = []
    position = 0
    while match := _KEY.match(text, position):
        parts.append(next(group for group in match.groups()[:3] if group is not None))
        position = match.end()
        if not match.group(4):
            break
    return tuple(parts)


class _Scanner:
    """Follows strings and brackets over lines, so that only real keys are taken for keys."""

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0

    @property
    def inside(self) -> bool:
        return bool(self.quote) or self.depth > 0

    def feed(self, line: str) -> None:
        i = 0
        while i < len(line):
            if self.quote:
                if self.quote[0] == '"' and line[i] == "\\":
                    i += 2
                elif line.startswith(self.quote, i):
                    i += len(self.quote)
                    self.quote = ""
                else:
                    i += 1
                continue
            char = line[i]
            if char == "#":
                return
            if char in "\"'":
                self.quote = char * 3 if line.startswith(char * 3, i) else char
                i += len(self.quote)
                continue
            self.depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(char, 0)
            i += 1
        if len(self.quote) == 1:
            self.quote = ""


def locate(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, on which each key of a valid TOML text first appears.

    Keys inside inline tables and arrays are found under the key that holds them.
    """
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    scanner = _Scanner()

    def note(path: KeyPath, number: int) -> None:
        for end in range(1, len(path) + 1):
            lines.setdefault(path[:end], number)

    for number, line in enumerate(text.split("\n"), start=1):
        if scanner.inside:
            scanner.feed(line)
            continue
        bare = line.strip()
        if bare.startswith("["):
            table = _dotted(bare.lstrip("["))
            note(table, number)
        elif bare and not bare.startswith("#"):
            note(table + _dotted(bare), number)
            scanner.feed(line)
    return lines


def _toml_float(text: str) -> Fraction | float:
    """Return a TOML float exactly: 0.1 is one tenth."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return float(text)
    if not value.is_finite() or abs(value.adjusted()) > 30 or len(text) > 40:
        return float(text)
    return Fraction(value)


def decimal(value: Fraction | float) -> str:
    """Return a number as people write it: ``1.5``, not ``3/2``."""
    return f"{float(value):.6g}"


class Document:
    """A TOML text with the lines of its keys and the faults found so far.

    Parameters
    ----------
    text : str
    source : str
        What to call it in messages: a file name.

    Raises
    ------
    TableError
        If it is no TOML.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.faults: list[Fault] = []
        try:
            self.data: dict[str, Any] = tomllib.loads(text, parse_float=_toml_float)
        except RecursionError:
            raise TableError(source, [Fault(None, "", "nested too deeply")]) from None
        except ValueError as error:
            message = str(error)
            match = re.search(r" \(at line (\d+), column \d+\)$", message)
            line = int(match.group(1)) if match else None
            text = message[: match.start()] if match else message
            raise TableError(source, [Fault(line, "", f"not valid TOML: {text}")]) from None
        self._lines = locate(text)

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key, or of the nearest key that holds it."""
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path[:-1]
        return None

    def fault(self, path: KeyPath, text: str) -> None:
        """Note a fault and go on."""
        self.faults.append(Fault(self.line(path), ".".join(path), text))

    def finish(self) -> None:
        """Raise one error with all faults, if there are any."""
        if self.faults:
            raise TableError(self.source, self.faults)


# -- readers: a TOML value in, a checked value out ----------------------------------------------


class Bad(Exception):
    """A value that was not expected; the text says what was."""


class _Recorded(Exception):
    """A section whose faults are noted already."""


Reader = Callable[[Document, KeyPath, object], object]


def show(value: object) -> str:
    """Return a value as a TOML file shows it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Fraction, float)):
        return decimal(value)
    return repr(value)


def _text(doc: Document, path: KeyPath, value: object) -> object:
    if not isinstance(value, str) or not value.strip():
        raise Bad(f"expected text, not {show(value)}")
    return value


def _flag(doc: Document, path: KeyPath, value: object) -> object:
    if not isinstance(value, bool):
        raise Bad(f"expected true or false, not {show(value)}")
    return value


def _number(value: object, low: int, high: int) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise Bad(f"expected a number from {low} to {high}, not {show(value)}")
    if not low <= value <= high:
        raise Bad(f"expected a number from {low} to {high}, not {show(value)}")
    return Fraction(value)


def _whole(low: int, high: int) -> Reader:
    def read(doc: Document, path: KeyPath, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Bad(f"expected a whole number from {low} to {high}, not {show(value)}")
        return value

    return read


def _figure(ticks: int | None, low: int = 0, high: int = MAX_POINTS) -> Reader:
    """Read points, which must be whole ticks (any number where `ticks` is None)."""

    def read(doc: Document, path: KeyPath, value: object) -> object:
        points = _number(value, low, high)
        if ticks is not None and (points * ticks).denominator != 1:
            tick = decimal(Fraction(1, ticks))
            raise Bad(
                f"{show(points)} is no whole number of ticks (1 tick = {tick}); "
                f"expected a multiple of {tick}"
            )
        return points

    return read


def _metres(doc: Document, path: KeyPath, value: object) -> object:
    return _number(value, 0, 1000)


def _halves(doc: Document, path: KeyPath, value: object) -> object:
    points = _number(value, 0, MAX_HALVES // 2)
    if (2 * points).denominator != 1:
        raise Bad(f"obstruction counts in halves of a point; expected a multiple of 0.5, "
                  f"not {show(points)}")  # fmt: skip
    return points


def _choice(*words: str) -> Reader:
    def read(doc: Document, path: KeyPath, value: object) -> object:
        if not isinstance(value, str) or value not in words:
            hint = nearest(value, words) if isinstance(value, str) else ""
            raise Bad(f"expected one of {', '.join(words)}, not {show(value)}{hint}")
        return value

    return read


def _words(allowed: Iterable[str]) -> Reader:
    one = _choice(*allowed)

    def read(doc: Document, path: KeyPath, value: object) -> object:
        if not isinstance(value, list):
            raise Bad(f"expected a list of words, not {show(value)}")
        return tuple(one(doc, path, word) for word in value)

    return read


def _modifiers(doc: Document, path: KeyPath, value: object) -> object:
    read = _whole(-100, 100)
    found = _table(doc, path, value, dict.fromkeys(MODIFIERS, read))
    return tuple((key, cast(int, found[key])) for key in MODIFIERS if key in found)


_DICE = re.compile(r"([1-9][0-9]?)d([1-9][0-9]{0,2})([+-][1-9][0-9]?)?", re.ASCII)


def _roll(value: object, example: str) -> Dice:
    match = _DICE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Bad(f"expected {example}, not {show(value)}")
    return Dice(int(match.group(1)), int(match.group(2)), int(match.group(3) or 0))


def _dice(doc: Document, path: KeyPath, value: object) -> object:
    return _roll(value, "dice such as '2d3+1'")


def _damage(doc: Document, path: KeyPath, value: object) -> object:
    example = "damage such as '1d3 piercing'"
    words = value.split() if isinstance(value, str) else []
    if len(words) != 2:
        raise Bad(f"expected {example}, not {show(value)}")
    return Damage(_roll(words[0], example), words[1])


def _glyph(doc: Document, path: KeyPath, value: object) -> object:
    if not isinstance(value, str) or len(value) != 1 or not value.isprintable() or value == " ":
        raise Bad(f"expected one visible character, not {show(value)}")
    return value


def _colour(doc: Document, path: KeyPath, value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
        raise Bad(f"expected a colour such as '#2e7d32', not {show(value)}")
    return value


def _table(
    doc: Document, path: KeyPath, value: object, readers: Mapping[str, Reader]
) -> dict[str, object]:
    """Read the keys of a table, noting each fault; raise only when all are read."""
    if not isinstance(value, dict):
        raise Bad(f"expected a table of {', '.join(readers)}, not {show(value)}")
    found: dict[str, object] = {}
    whole = True
    for key, item in value.items():
        here = (*path, key)
        reader = readers.get(key)
        try:
            if reader is None:
                known = ", ".join(readers)
                raise Bad(f"unknown key{nearest(key, readers)}; expected one of {known}")
            found[key] = reader(doc, here, item)
        except Bad as bad:
            doc.fault(here, str(bad))
            whole = False
        except _Recorded:
            whole = False
    if not whole:
        raise _Recorded
    return found


def _section(
    build: Callable[..., object], readers: Mapping[str, Reader], *, optional: bool = True
) -> Reader:
    """Read a table into a structure; if `optional`, ``false`` takes the structure away."""
    types = getattr(build, "__dataclass_fields__", {})
    needed = [
        key
        for key, entry in types.items()
        if key in readers and entry.default is MISSING and entry.default_factory is MISSING
    ]

    def read(doc: Document, path: KeyPath, value: object) -> object:
        if optional and value is False:
            return None
        found = _table(doc, path, value, readers)
        missing = [key for key in needed if key not in found]
        if missing:
            raise Bad(f"the key {missing[0]} is missing")
        return build(**found)

    return read


_SAVE_FIGURE = _whole(-100, 100)
_GROUND = _section(Ground, dict.fromkeys(Ground._fields, _SAVE_FIGURE), optional=False)
_ROLL = _whole(1, 10)


def _initiative(doc: Document, path: KeyPath, value: object) -> object:
    found = _table(doc, path, value, dict.fromkeys(Ground._fields, _ROLL))
    missing = [key for key in Ground._fields if key not in found]
    if missing:
        raise Bad(f"the key {missing[0]} is missing")
    return Ground(**cast(dict[str, int], found))


def _slopes(doc: Document, path: KeyPath, value: object) -> object:
    if not isinstance(value, list) or not value:
        raise Bad(f"expected a list of tables with upto, name and modifier, not {show(value)}")
    one = _section(
        Slope,
        {"upto": _whole(1, 100), "name": _text, "modifier": _whole(-100, 100)},
        optional=False,
    )
    rows = tuple(cast(Slope, one(doc, path, row)) for row in value)
    if any(a.upto >= b.upto for a, b in pairwise(rows)):
        raise Bad("the values of upto must rise from row to row")
    return rows


def _readers(ticks: int | None) -> dict[str, Reader]:
    """Return a reader for every key that a terrain may have, in a system of that tick."""
    points = _figure(ticks)
    save = _section(
        Save,
        {"save": _choice("reflex", "pure reflex"), "damage": _damage, "combat": _flag,
         "knockdown": _flag, "modifiers": _GROUND},
    )  # fmt: skip
    return {
        "name": _text,
        "entry": points,
        "exit": points,
        "obstruction": _halves,
        "obstructs": _choice(*OBSTRUCTS),
        "opaque": _flag,
        "closed": _flag,
        "corners": _flag,
        "stop": _flag,
        "number": _choice(*NUMBERS),
        "group": _text,
        "speeds": _words(MODES),
        "onward": _flag,
        "ascending": _flag,
        "hands": points,
        "test": _text,
        "bold": _section(Bold, {"entry": points, "damage": _damage, "save": _GROUND}),
        "climb": _section(
            Climb,
            {"height": _dice, "rise": _metres, "surface": _text, "slopes": _slopes,
             "metres_per_level": _whole(0, 100)},
        ),
        "stay": _modifiers,
        "prone": _modifiers,
        "leaving": _words(MODIFIERS),
        "forbids": _words(FORBIDDEN),
        "on_entry": save,
        "round_end": save,
        "slip": _section(
            Slip,
            {"initiative": _initiative, "save": _GROUND, "when": _choice("entering", "staying")},
        ),
        "knockdown": _section(
            Knockdown,
            {"damage": _damage, "fall_chance": _whole(0, 100), "fall_damage": _damage,
             "high_metres": _metres, "high_fall_damage": _damage},
        ),
        "raised": _section(Raised, {"except_size": _choice(*SIZES), "except_metres": _metres}),
        "hidden": _section(Hidden, {"metres": _metres, "modifier": _whole(-100, 100)}),
        "perches": _text,
        "tree_climb": _whole(-100, 100),
        "glyph": _glyph,
        "colour": _colour,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Schema:
    """Which keys the terrains of a system may have, and what a tick is.

    Parameters
    ----------
    ticks : int or None
        Ticks in a point; None where figures may be any decimal.
    keys : frozenset of str
        Keys of `TerrainType` that mean something in the system.
    borders : tuple of str
        Border kinds that may have a figure.
    """

    ticks: int | None
    keys: frozenset[str]
    borders: tuple[str, ...] = ()
    readers: Mapping[str, Reader] = field(init=False, compare=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        readers = _readers(self.ticks)
        object.__setattr__(self, "readers", {k: r for k, r in readers.items() if k in self.keys})


COMMON_KEYS = frozenset(
    {"name", "entry", "exit", "opaque", "closed", "speeds", "stop", "number", "glyph", "colour"}
)
_ID = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


def _terrain(
    doc: Document, identifier: str, value: object, known: TerrainType | None, schema: Schema
) -> TerrainType | None:
    """Read one ``[terrain.ID]`` table over what is known of it."""
    path = ("terrain", identifier)
    if not _ID.fullmatch(identifier):
        doc.fault(path, "a terrain id is made of small letters, digits and underscores")
        return None
    if not isinstance(value, dict):
        doc.fault(path, f"expected a table [terrain.{identifier}], not {show(value)}")
        return None
    try:
        found = _table(doc, path, value, schema.readers)
    except _Recorded:
        return None
    start = known or TerrainType(identifier, identifier.replace("_", " "))
    entry = replace(start, **cast(dict[str, Any], found))
    for key in ("prone", "leaving"):
        names = [name if isinstance(name, str) else name[0] for name in getattr(entry, key)]
        staying = [name for name, _ in entry.stay]
        for name in names:
            if name not in staying:
                doc.fault((*path, key), f"{name} is not among the modifiers of stay")
                return None
    return entry


_PERCH_LEVEL = _section(
    PerchLevel,
    {**dict.fromkeys(("none", "small", "medium", "large"), _whole(0, 100)), "metres": _dice},
    optional=False,
)
_LEVELS = 4


def _perch_levels(doc: Document, path: KeyPath, value: object) -> object:
    """Read the rows of a table of perches, one a level."""
    if not isinstance(value, list) or not 1 <= len(value) <= _LEVELS:
        raise Bad(
            f"expected a list of 1 to {_LEVELS} tables with none, small, medium, large and metres, "
            f"not {show(value)}"
        )
    rows = tuple(cast(PerchLevel, _PERCH_LEVEL(doc, path, row)) for row in value)
    for row in rows:
        rolls = (row.none, row.small, row.medium, row.large)
        if list(rolls) != sorted(rolls) or row.large != 100:
            raise Bad(
                "expected last rolls of 1d100 that do not fall, with large = 100, not "
                f"{', '.join(map(str, rolls))}"
            )
        if row.metres.low <= 0:
            raise Bad(f"expected a height above 0, not {row.metres}")
    return rows


def _perches(
    doc: Document,
    known: Mapping[str, tuple[PerchLevel, ...]],
    types: Mapping[str, TerrainType],
    schema: Schema,
) -> dict[str, tuple[PerchLevel, ...]]:
    """Read ``[perches]`` over the known tables, and note terrain that names none of them."""
    tables = dict(known)
    given = doc.data.get("perches", {})
    if not isinstance(given, dict) or (given and "perches" not in schema.keys):
        allowed = "perches" in schema.keys
        doc.fault(
            ("perches",), "expected tables of perches" if allowed else "the system has no perches"
        )
        return tables
    for name, value in given.items():
        try:
            tables[name] = cast(
                tuple[PerchLevel, ...], _perch_levels(doc, ("perches", name), value)
            )
        except Bad as bad:
            doc.fault(("perches", name), str(bad))
        except _Recorded:
            pass
    for entry in types.values():
        if entry.perches and entry.perches not in {*tables, *given}:
            doc.fault(
                ("terrain", entry.id, "perches"),
                f"unknown table of perches {entry.perches!r}{nearest(entry.perches, tables)}; "
                f"expected one of {', '.join(tables)}",
            )
    return tables


def read_table(doc: Document, base: TerrainTable, schema: Schema) -> TerrainTable:
    """Return the table of a document over a base table; faults are noted in the document."""
    types: dict[str, TerrainType] = dict(base)
    terrain = doc.data.get("terrain", {})
    if not isinstance(terrain, dict):
        doc.fault(("terrain",), "expected tables [terrain.ID]")
        terrain = {}
    for identifier, value in terrain.items():
        entry = _terrain(doc, identifier, value, types.get(identifier), schema)
        if entry is not None:
            types[identifier] = entry
    borders = dict(base.borders)
    given = doc.data.get("borders", {})
    try:
        readers = dict.fromkeys(schema.borders, _figure(schema.ticks))
        borders.update(cast(dict[str, Fraction], _table(doc, ("borders",), given, readers)))
    except Bad as bad:
        doc.fault(("borders",), str(bad))
    except _Recorded:
        pass
    return TerrainTable(types.values(), borders, _perches(doc, base.perches, types, schema))


def shipped_table(name: str, schema: Schema) -> TerrainTable:
    """Return the terrain table that lies beside the module of a system."""
    file = resources.files("fieldcraft.rules").joinpath(f"{name}.toml")
    doc = Document(file.read_text(encoding="utf-8"), f"{name}.toml")
    for key in doc.data:
        if key not in ("terrain", "borders", "perches"):
            doc.fault((key,), "unknown key; expected terrain, borders or perches")
    table = read_table(doc, TerrainTable(()), schema)
    doc.finish()
    return table

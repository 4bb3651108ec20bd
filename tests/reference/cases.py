"""Boards as plain data, for the slow references of the rule systems; and strategies that draw them.

A reference reads a `Case` and nothing of the library. `board_of` and `token_of` make what the
library reads of the same case, `answer_of` what it answers, so that a test can compare the two.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

Cell = tuple[int, int]
Kind = tuple[str, ...]
Answer = dict[Cell, tuple[Fraction, bool, int]]
"""Of each cell reached: its cost in the system's unit, whether one may stop there, the parity."""

SIZES = ("tiny", "small", "medium", "large", "huge", "gargantuan")
SIDE = {"large": 2, "huge": 3, "gargantuan": 4}
SQUARE_STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1), (-1, 1), (1, 1), (1, -1), (-1, -1))
# Steps to the neighbours from (rows or columns that are not pushed, rows or columns that are),
# clockwise from the top.
POINTY_STEPS = (
    ((-1, 0), (0, 1), (1, 0), (1, -1), (0, -1), (-1, -1)),
    ((-1, 1), (0, 1), (1, 1), (1, 0), (0, -1), (-1, 0)),
)
FLAT_STEPS = (
    ((-1, 0), (-1, 1), (0, 1), (1, 0), (0, -1), (-1, -1)),
    ((-1, 0), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)),
)


# -- data ---------------------------------------------------------------------------------------


def _shown(spec: Any) -> str:
    """Return a dataclass as text, without the fields that are the default."""
    parts = []
    for entry in fields(spec):
        value = getattr(spec, entry.name)
        factory = entry.default_factory
        if value != (entry.default if factory is MISSING else factory()):
            parts.append(f"{entry.name}={value!r}")
    return f"{type(spec).__name__}({', '.join(parts)})"


def _printed(spec: Any, printer: Any, cycle: bool) -> None:
    """Let Hypothesis show it so as well."""
    printer.text(_shown(spec))


@dataclass(frozen=True, repr=False)
class TokenSpec:
    """A token in the words of the board file.

    `speed` is None (no limit), an amount in the system's unit, or a mapping from the way of moving
    to either. `cell` is the top-left cell of a large body on squares.
    """

    name: str
    cell: Cell
    side: str = ""
    size: str = "medium"
    speed: Any = None
    level: int = 0
    helpless: bool = False
    engaged: bool | None = None
    prone: bool = False
    flying: bool = False
    lets_through: bool = True
    height: float | None = None
    footing: str = "careful"
    climbs: bool = True
    hands_full: bool = False
    hovers: bool = False
    body: int | None = None
    facing: int = 0
    reach: int = 1
    crosses: frozenset[str] = frozenset()

    __repr__ = _shown
    _repr_pretty_ = _printed

    @property
    def size_number(self) -> int:
        """The size as a number, tiny being 0."""
        return SIZES.index(self.size)

    @property
    def across(self) -> int:
        """How many squares a side its body covers."""
        return SIDE.get(self.size, 1)

    def covered(self) -> list[Cell]:
        """Return the squares that the token covers."""
        row, col = self.cell
        return [(row + i, col + j) for i in range(self.across) for j in range(self.across)]


@dataclass(frozen=True, repr=False)
class BorderSpec:
    """What stands between two neighbouring cells, in the words of the board file."""

    cells: tuple[Cell, Cell]
    kind: str = "wall"
    open: bool = False
    height: float | None = None
    length: float | None = None
    price: float | None = None
    one_way: bool = False

    __repr__ = _shown
    _repr_pretty_ = _printed


@dataclass(frozen=True, repr=False)
class PerchSpec:
    """A place in a tree: its level, the largest size it bears, its height above the ground."""

    cell: Cell
    level: int
    size: str = "medium"
    metres: float = 3.0

    __repr__ = _shown
    _repr_pretty_ = _printed


@dataclass(repr=False)
class Case:
    """A board with tokens and the parameters of the rules, as data.

    Attributes
    ----------
    rows : list of lists of tuples of str
        Of each cell its terrain ids: base first, then overlays.
    lattice : str
    elevation : list of lists of float, or None
    borders : tuple of BorderSpec
    tokens : tuple of TokenSpec
    relations : dict from frozenset of two sides to str
        ``friend``, ``foe`` or ``neutral``; what is not named is friend on one side, else foe.
    parameters : dict
        Parameters of the rule system that are not the default.
    perches : tuple of PerchSpec
    """

    rows: list[list[Kind]]
    lattice: str = "square"
    elevation: list[list[float]] | None = None
    borders: tuple[BorderSpec, ...] = ()
    tokens: tuple[TokenSpec, ...] = ()
    relations: dict[frozenset[str], str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    perches: tuple[PerchSpec, ...] = ()

    __repr__ = _shown
    _repr_pretty_ = _printed

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in cells."""
        return len(self.rows), len(self.rows[0])

    def inside(self, cell: Cell) -> bool:
        """Tell whether a cell lies on the map."""
        height, width = self.shape
        return 0 <= cell[0] < height and 0 <= cell[1] < width

    def cells(self) -> list[Cell]:
        """Return all cells, row by row."""
        height, width = self.shape
        return [(row, col) for row in range(height) for col in range(width)]

    def kind(self, cell: Cell) -> Kind:
        """Return the terrain ids of a cell."""
        return self.rows[cell[0]][cell[1]]

    def height_of(self, cell: Cell) -> Fraction:
        """Return the elevation of a cell, 0 on a map without any."""
        if self.elevation is None:
            return Fraction(0)
        return Fraction(str(self.elevation[cell[0]][cell[1]]))

    def neighbours(self, cell: Cell) -> list[Cell]:
        """Return the neighbours of a cell that lie on the map, in direction order."""
        return [(row, col) for row, col in self.around(cell) if self.inside((row, col))]

    def around(self, cell: Cell) -> list[Cell]:
        """Return the neighbours of a cell in direction order, on the map or off it."""
        row, col = cell
        steps: Sequence[Cell]
        if self.lattice == "square4":
            steps = SQUARE_STEPS[:4]
        elif self.lattice == "square":
            steps = SQUARE_STEPS
        else:
            pushed = 1 if self.lattice.startswith("odd") else 0
            if self.lattice.endswith("r"):
                steps = POINTY_STEPS[int(row % 2 == pushed)]
            else:
                steps = FLAT_STEPS[int(col % 2 == pushed)]
        return [(row + down, col + right) for down, right in steps]

    def relation(self, side: str, other: str) -> str:
        """Return what two sides are to each other."""
        named = self.relations.get(frozenset((side, other)))
        return named or ("friend" if side == other else "foe")

    def others(self, mover: TokenSpec) -> list[TokenSpec]:
        """Return the tokens on the board without the mover itself, which is left out once."""
        found = list(self.tokens)
        if mover in found:
            found.remove(mover)
        return found

    def settled(self) -> Case:
        """Return the case without squeezing if the mover is large and has several speeds on foot.

        From one squeezed place to the next by another speed the library asks for a block of the
        body that both speeds know (see docs/decisions.md); the references ask for less.
        """
        mover = self.tokens[0]
        speeds = mover.speed if isinstance(mover.speed, dict) else {}
        several = len({"walk", "land", "swim", "climb"} & set(speeds)) > 1
        if mover.across == 1 or not several:
            return self
        return self.replace(parameters={**self.parameters, "squeeze": False})

    def replace(self, **changes: Any) -> Case:
        """Return a case that differs in something."""
        return replace(self, **changes)


def drawn(rows: str | Sequence[str], legend: Mapping[str, str | Kind], **options: Any) -> Case:
    """Return the case of a drawing, one character a cell; options are those of `Case`."""
    lines = rows.split() if isinstance(rows, str) else rows
    kinds = {c: (kind,) if isinstance(kind, str) else tuple(kind) for c, kind in legend.items()}
    return Case([[kinds[char] for char in line] for line in lines], **options)


# -- the library's side of a case ---------------------------------------------------------------


def _given(spec: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return those of the fields that are not the default."""
    default = {entry.name: entry.default for entry in fields(spec)}
    return {name: getattr(spec, name) for name in names if getattr(spec, name) != default[name]}


CREATURE_FIELDS = (
    "size", "speed", "height", "footing", "climbs", "hands_full", "hovers", "body", "reach",
    "crosses",
)  # fmt: skip
TOKEN_FIELDS = (
    "side", "level", "helpless", "engaged", "prone", "flying", "lets_through", "facing",
)  # fmt: skip
BORDER_FIELDS = ("kind", "open", "height", "length", "price", "one_way")


def token_of(spec: TokenSpec) -> Any:
    """Return the library's token."""
    import fieldcraft as fc

    creature = fc.Creature(spec.name, **_given(spec, CREATURE_FIELDS))
    return fc.Token(creature, spec.cell, **_given(spec, TOKEN_FIELDS))


def board_of(case: Case, system: str) -> Any:
    """Return the library's board of a case under a rule system."""
    import fieldcraft as fc
    from fieldcraft.terrain import Border

    options: dict[str, Any] = {}
    if case.perches:
        from fieldcraft.terrain import Perch

        options["perches"] = [
            Perch(perch.cell, perch.level, perch.size, perch.metres) for perch in case.perches
        ]
    return fc.Board(
        case.rows,
        lattice=case.lattice,
        rules=fc.rules.get(system, **case.parameters),
        elevation=case.elevation,
        borders=[Border(b.cells, **_given(b, BORDER_FIELDS)) for b in case.borders],
        tokens=[token_of(spec) for spec in case.tokens],
        relations=case.relations,
        **options,
    )


def answer_of(reach: Any) -> Answer:
    """Return a reach of the library as the references answer; costs are exact in quarters."""
    return {
        (int(row), int(col)): (Fraction(float(cost)), bool(stop), int(parity))
        for (row, col), cost, stop, parity in zip(
            reach.cells.tolist(), reach.cost, reach.can_stop, reach.parity, strict=True
        )
    }


def differences(expected: Answer, got: Answer) -> list[str]:
    """Return in words where two answers differ, cell by cell."""

    def shown(answer: Answer, cell: Cell) -> str:
        if cell not in answer:
            return "not reached"
        cost, stop, parity = answer[cell]
        return f"{float(cost):g}{'' if stop else ' (no stop)'}, parity {parity}"

    return [
        f"{cell}: expected {shown(expected, cell)}; got {shown(got, cell)}"
        for cell in sorted(set(expected) | set(got))
        if expected.get(cell) != got.get(cell)
    ]


# -- strategies ---------------------------------------------------------------------------------


def shapes(largest: int = 7) -> st.SearchStrategy[tuple[int, int]]:
    """Draw the shape of a map, seldom a single row or column."""
    side, long = st.integers(2, largest), st.integers(max(2, largest - 2), largest)
    return st.one_of(
        st.tuples(side, side),
        st.tuples(long, long),
        st.tuples(st.integers(1, 2), st.integers(1, largest)),
    )


@st.composite
def terrains(
    draw: st.DrawFn, palette: Sequence[Kind], shape: tuple[int, int], plain: Kind
) -> list[list[Kind]]:
    """Draw what the cells hold: some share of plain cells, the rest from part of the palette."""
    few = draw(st.lists(st.sampled_from(palette), min_size=1, max_size=4, unique=True))
    share = draw(st.sampled_from((0.0, 0.15, 0.3, 0.5, 0.8)))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    return [
        [rng.choice(few) if rng.random() < share else plain for _ in range(shape[1])]
        for _ in range(shape[0])
    ]


@st.composite
def borders(
    draw: st.DrawFn, case: Case, palette: Sequence[Mapping[str, Any]], most: int = 6
) -> tuple[BorderSpec, ...]:
    """Draw borders between neighbouring cells; `palette` holds their fields but for the cells."""
    straight = 4 if case.lattice.startswith("square") else 6
    pairs = [
        (cell, other)
        for cell in case.cells()
        for other in case.around(cell)[:straight]
        if case.inside(other)
    ]
    if not pairs or not palette:
        return ()
    several = draw(st.sampled_from((0, 0, most // 2, most)))
    return tuple(
        BorderSpec(draw(st.sampled_from(pairs)), **draw(st.sampled_from(palette)))
        for _ in range(draw(st.integers(0, several)))
    )


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    palette: Sequence[Kind],
    plain: Kind = ("open",),
    lattices: Sequence[str] = ("square",),
    shape: st.SearchStrategy[tuple[int, int]] | None = None,
    mover: st.SearchStrategy[dict[str, Any]] | None = None,
    other: st.SearchStrategy[dict[str, Any]] | None = None,
    most_others: int = 4,
    border_palette: Sequence[Mapping[str, Any]] = (),
    elevations: Sequence[float] = (),
    parameters: st.SearchStrategy[dict[str, Any]] | None = None,
) -> Case:
    """Draw a case; the mover is its first token.

    Parameters
    ----------
    palette : sequence of kinds
        What cells may hold beside `plain`.
    lattices, shape : optional
        What the map may be; by default maps of squares up to 7 x 7.
    mover, other : strategies of dicts, optional
        Fields of the token that moves, and of each other token; name, cell and (of the mover) side
        are drawn here. Sides are blue (the mover's), grey (neutral) and red. On squares a body
        is cut down to the map.
    border_palette : sequence of mappings
        Fields of borders but for their cells; empty: no borders.
    elevations : sequence of float
        Heights that cells may have, the lowest the likeliest; empty: the map has none.
    parameters : strategy of dicts, optional
        Parameters of the rule system.
    """
    lattice = draw(st.sampled_from(lattices))
    height, width = draw(shapes() if shape is None else shape)
    case = Case(draw(terrains(palette, (height, width), plain)), lattice)
    if elevations and draw(st.booleans()):
        rng = random.Random(draw(st.integers(0, 2**32 - 1)))
        low = min(elevations)
        case.elevation = [
            [rng.choice(elevations) if rng.random() < 0.4 else low for _ in range(width)]
            for _ in range(height)
        ]
    case.borders = draw(borders(case, border_palette))
    mover = st.just({}) if mover is None else mover
    other = st.just({}) if other is None else other
    case.relations = {frozenset(("blue", "grey")): "neutral"}

    def placed(name: str, side: str, given: dict[str, Any]) -> TokenSpec:
        size = given.pop("size", "medium")
        across = SIDE.get(size, 1) if lattice.startswith("square") else 1
        if across > min(height, width):
            size, across = "medium", 1
        row = draw(st.integers(0, height - across))
        col = draw(st.integers(0, width - across))
        return TokenSpec(name, (row, col), side, size, **given)

    tokens = [placed("mover", "blue", dict(draw(mover)))]
    for i in range(draw(st.integers(0, most_others))):
        side = draw(st.sampled_from(("red", "blue", "grey")))
        tokens.append(placed(f"other {i}", side, dict(draw(other))))
    case.tokens = tuple(tokens)
    if parameters is not None:
        case.parameters = draw(parameters)
    return case


def fields_of(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a dict with these entries: fields of a token, or parameters."""
    return st.fixed_dictionaries({}, optional=strategies)

"""Questions about others on a board: how far, who is nearest, places around, charges.

What counts as a distance, a place or a charge is the rules' to say; `Board` has these as methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fieldcraft.creature import Creature, Token, without
from fieldcraft.errors import ArgumentTypeError, MapError
from fieldcraft.lattice import Cell
from fieldcraft.terrain import Border

if TYPE_CHECKING:
    from fieldcraft.board import Board

__all__ = [
    "Charge",
    "charge_lanes",
    "check_generator",
    "distance",
    "drawn",
    "nearest",
    "surrounding",
    "with_door",
]


@dataclass(frozen=True, slots=True)
class Charge:
    """Whether a target can be charged, and how; true when it can.

    Attributes
    ----------
    target : Token or tuple of int
    cells : tuple of cells
        The squares that the line crosses from where the charge starts to where it ends, both
        included; of a large body its top-left squares. Empty where there is no charge.
    length : float
        How far that is, in the system's unit; infinite where there is no charge.
    reason : str
        Why there is no charge; else empty.
    """

    target: Token | Cell
    cells: tuple[Cell, ...] = ()
    length: float = float("inf")
    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


class _Place(NamedTuple):
    """The cells that somebody covers, and on which level."""

    cells: list[Cell]
    level: int = 0


def _place(board: Board, who: Token | Cell, what: str) -> _Place:
    """Return the place of a token, checked, or of a cell, which lies on the ground."""
    if not isinstance(who, Token):
        return _Place([board.terrain.check(who, what)])
    covers = f"a cell that token {who.label!r} covers,"
    cells = board.rules.cells_of(who, board.lattice)
    return _Place([board.terrain.check(cell, covers) for cell in cells], board.rules.level_of(who))


def _there(board: Board, who: Token | Cell, what: str) -> Token | Cell:
    """Return a token for a cell where one stands."""
    if isinstance(who, Token):
        return who
    cell = board.terrain.check(who, what)
    return board.token_at(cell) or cell


def _foes(board: Board, who: Token | Cell) -> list[Token]:
    side = who.side if isinstance(who, Token) else ""
    others = without(board.tokens, who)
    return [other for other in others if board.relation(side, other.side) == "foe"]


def _apart(board: Board, one: _Place, other: _Place) -> float:
    levels = abs(one.level - other.level)
    return board.rules.distance(one.cells, other.cells, board.lattice, levels=levels)


def distance(board: Board, a: Token | Cell, b: Token | Cell) -> float:
    """Return how far apart two are; see `Board.distance`."""
    return _apart(board, _place(board, a, "cell"), _place(board, b, "cell"))


def nearest(
    board: Board, who: Token | Cell, candidates: Sequence[Any] | None
) -> tuple[Token | Cell, ...]:
    """Return the nearest of some candidates, all of them; see `Board.nearest`."""
    who = _there(board, who, "cell")
    mine = _place(board, who, "cell")
    if candidates is None:
        asked: list[Any] = [*_foes(board, who)]
    else:
        asked = [
            one if isinstance(one, Token) else board.terrain.check(one, "candidate")
            for one in candidates
        ]
        asked = without(asked, who) if isinstance(who, Token) else asked
    far = [_apart(board, mine, _place(board, one, "candidate")) for one in asked]
    return tuple(one for one, away in zip(asked, far, strict=True) if away == min(far))


def surrounding(
    board: Board, who: Token | Cell, creature: Token | Creature | None, *, free: bool
) -> tuple[Cell, ...]:
    """Return the places around somebody, by their anchors; see `Board.surrounding`."""
    rules, lattice = board.rules, board.lattice
    if creature is not None and not isinstance(creature, Token | Creature):
        raise ArgumentTypeError(f"creature must be a Creature or a Token, not {creature!r}")
    middle = _place(board, _there(board, who, "cell"), "cell")
    newcomer = creature if isinstance(creature, Token) else Token(creature or Creature(), (0, 0))
    # Who is in a tree comes down from it; flyers stay where they are.
    level = rules.level_of(newcomer) if newcomer.flying else 0
    levels = abs(middle.level - level)
    # Whoever touches has a cell in or beside one of these.
    around = {cell for covered in middle.cells for cell in lattice.disc(covered, 1)}
    anchors = set()
    for cell in around:
        for covered in rules.cells_of(newcomer.at(cell), lattice):
            anchors.add(_mirrored(board, cell, covered))
    found = sorted(
        anchor
        for anchor in anchors
        if rules.steps_apart(
            rules.cells_of(newcomer.at(anchor), lattice), middle.cells, lattice, levels=levels
        )
        == 1
    )
    if free:
        standing = rules.standing(
            board.terrain,
            newcomer.creature,
            token=newcomer,
            tokens=without(board.tokens, creature),
            relation=board.relation,
        )
        height, width = board.shape
        found = [
            (row, col)
            for row, col in found
            if 0 <= row < height and 0 <= col < width and standing.where[row, col]
        ]
    return tuple(found)


def _mirrored(board: Board, centre: Cell, cell: Cell) -> Cell:
    """Return the cell as far from the centre on the other side."""
    if not board.lattice.is_hex:
        return 2 * centre[0] - cell[0], 2 * centre[1] - cell[1]
    axial = 2 * board.lattice.to_axial(centre) - board.lattice.to_axial(cell)
    row, col = board.lattice.from_axial(axial)
    return int(row), int(col)


def charge_lanes(
    board: Board, who: Token | Cell, targets: Sequence[Any] | None
) -> tuple[Charge, ...]:
    """Return whether and how each target can be charged; see `Board.charge_lanes`."""
    from fieldcraft.rules._charging import Mark

    who = _there(board, who, "cell")
    asked: list[Token | Cell]
    if targets is None:
        asked = [*_foes(board, who)]
    else:
        asked = [_there(board, one, "target") for one in targets]
    marks = [Mark(*_place(board, one, "target"), board.sight_field(who, one)) for one in asked]
    token = who if isinstance(who, Token) else None
    lanes = board.rules.charge_lanes(
        board.terrain,
        Creature() if token is None else token.creature,
        board.terrain.check(who),
        marks,
        token=token,
        tokens=without(board.tokens, who),
        relation=board.relation,
    )
    return tuple(
        Charge(target, lane.cells, lane.length, lane.reason)
        for target, lane in zip(asked, lanes, strict=True)
    )


def with_door(board: Board, a: Cell, b: Cell, *, is_open: bool) -> Board:
    """Return a board with the door between two cells open or closed; see `Board.open_door`."""
    pair = {board.terrain.check(a), board.terrain.check(b)}
    borders = board.terrain.borders

    def here(border: Border) -> bool:
        return border.kind == "door" and set(border.cells) == pair

    if not any(map(here, borders)):
        doors = [border.cells for border in borders if border.kind == "door"]
        named = ", ".join(f"{one} and {other}" for one, other in doors[:5])
        between = f"{board.terrain.check(a)} and {board.terrain.check(b)}"
        there_are = f"; doors are between {named}" if doors else ", nor anywhere on this board"
        raise MapError(f"there is no door between {between}{there_are}")
    return board.replace(
        borders=[replace(one, open=is_open) if here(one) else one for one in borders]
    )


def drawn(found: tuple[Token | Cell, ...], rng: np.random.Generator) -> Token | Cell | None:
    """Return one of some at random, None of none."""
    return found[int(rng.integers(len(found)))] if found else None


def check_generator(rng: object) -> None:
    """Raise ArgumentTypeError if that is no NumPy generator."""
    if not isinstance(rng, np.random.Generator):
        raise ArgumentTypeError(
            f"rng must be a NumPy Generator, such as numpy.random.default_rng(1), not {rng!r}"
        )

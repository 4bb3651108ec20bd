"""Trees: which forests bear perches, and where one goes who is moved from below (HW-22, HW-26)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fieldcraft.creature import Creature, Token, without
from fieldcraft.errors import ArgumentTypeError, RulesError
from fieldcraft.lattice import Cell
from fieldcraft.questions import check_generator
from fieldcraft.terrain import Perch

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.rules import PerchLevel

__all__ = ["fall_displacements", "roll_perches"]


def roll_perches(board: Board, rng: np.random.Generator) -> tuple[Perch, ...]:
    """Return the perches of all forests of a board, rolled (HW-22).

    Cell by cell in reading order and in each from level 1 up, 1d100 says whether there is a perch
    and which creatures it bears, and where there is one, dice give its height. So the same seed
    makes the same forest. A cell with several forests has the perches of the first.

    Parameters
    ----------
    board : Board
        Its own perches do not count.
    rng : numpy.random.Generator

    Returns
    -------
    tuple of Perch
        For ``board.replace(perches=...)``.

    Raises
    ------
    RulesError
        If the system has no perches.
    ArgumentTypeError
        If `rng` is no generator.

    Examples
    --------
    >>> import numpy as np
    >>> import fieldcraft as fc
    >>> board = fc.Board([["open", "ancient_trees"]], lattice="odd-r", rules="hexwild")
    >>> perches = fc.roll_perches(board, np.random.default_rng(2))
    >>> [(perch.cell, perch.level, perch.size, perch.metres) for perch in perches]
    [((0, 1), 1, 'medium', 3.0), ((0, 1), 3, 'small', 10.0), ((0, 1), 4, 'medium', 13.0)]
    """
    check_generator(rng)
    table = board.rules.table
    if not table.perches:
        raise RulesError(f"{board.rules.name} has no perches to roll")
    by_kind = []
    for kind in board.terrain.kinds:
        # A kind that is in no cell may be one that the system does not know.
        names = [table.find(id_).perches for id_ in kind if id_.partition(":")[0] in table]
        by_kind.append(next((table.perches[name] for name in names if name), ()))
    forest = np.array([bool(levels) for levels in by_kind])[board.terrain.codes]
    found = []
    for row, col in np.argwhere(forest).tolist():
        levels = by_kind[board.terrain.codes[row, col]]
        found += _rolled((row, col), levels, rng)
    return tuple(found)


def _rolled(cell: Cell, levels: tuple[PerchLevel, ...], rng: np.random.Generator) -> list[Perch]:
    """Return the perches of one cell."""
    found = []
    for number, level in enumerate(levels, 1):
        size = level.size(int(rng.integers(1, 101)))
        if size is not None:
            dice = level.metres
            rolls = [int(rng.integers(1, dice.sides + 1)) for _ in range(dice.count)]
            found.append(Perch(cell, number, size, sum(rolls) + dice.plus))
    return found


def fall_displacements(
    board: Board, cell: Cell, creature: Token | Creature | None = None
) -> tuple[Cell, ...]:
    """Return where a creature may be moved to from a cell on which somebody fell (HW-26).

    That is each place beside its own where the creature may end a single step, where nobody is on
    the ground, and which leaves the cell to the other.

    Parameters
    ----------
    board : Board
    cell : tuple of int
        Where somebody fell.
    creature : Token or Creature, optional
        Who is moved, with its side and its body; a token is in nobody's way. The token on the
        ground of the cell if absent, and without one a Medium creature.

    Returns
    -------
    tuple of cells
        In the order of the directions; a body of several cells is named by its anchor.

    Raises
    ------
    OutsideMapError
        If the cell lies outside the map.
    """
    cell = board.terrain.check(cell)
    if creature is None:
        creature = next((token for token in board.tokens if _is_below(board, token, cell)), None)
    if creature is not None and not isinstance(creature, Token | Creature):
        raise ArgumentTypeError(f"creature must be a Creature or a Token, not {creature!r}")
    if isinstance(creature, Token):
        # Whoever fell is on the ground of the cell, wherever it came from.
        begin = creature.cell if _is_below(board, creature, cell) else cell
        token = replace(creature, cell=begin, level=0, flying=False)
    else:
        token = Token(creature or Creature(), cell)
    standing = board.rules.standing(
        board.terrain,
        token.creature,
        token=token,
        tokens=without(board.tokens, creature),
        relation=board.relation,
    )
    found = []
    for direction, place in enumerate(board.lattice.neighbors(token.cell)):
        covered = board.rules.cells_of(token.at(place), board.lattice)
        legal = int(standing.steps[token.cell]) >> direction & 1
        if legal and standing.where[place] and cell not in covered:
            found.append(place)
    return tuple(found)


def _is_below(board: Board, token: Token, cell: Cell) -> bool:
    """Return whether a token is on the ground of a cell."""
    on_ground = not token.flying and board.rules.level_of(token) == 0
    return on_ground and cell in board.rules.cells_of(token, board.lattice)

"""Who moves or looks: the token on a cell with what the options say of it in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from fieldcraft.creature import MODES, Creature, Size, Token, by_mode
from fieldcraft.errors import RulesError, nearest
from fieldcraft.lattice import Cell
from fieldcraft.units import quantity

if TYPE_CHECKING:
    from fieldcraft.board import Board

__all__ = ["Who", "speeds"]


@dataclass(frozen=True, slots=True)
class Who:
    """What the command line says of whoever moves or looks; None and False: as on the map.

    Parameters
    ----------
    size : str, optional
    speed : str, optional
        An amount, or several such as ``"walk=9 m,fly=18 m"``.
    mode : str, optional
        The only way of moving; with ``"fly"`` the creature is in the air already.
    prone : bool
    tokens : str, optional
        A file of tokens, in place of the map's own.
    """

    size: str | None = None
    speed: str | None = None
    mode: str | None = None
    prone: bool = False
    tokens: str | None = None

    def on(self, board: Board) -> Board:
        """Return the board with the tokens of the file, if one is given."""
        if self.tokens is None:
            return board
        from fieldcraft.io.boardfile import read_tokens

        return board.replace(tokens=read_tokens(self.tokens, board.shape))

    def at(self, board: Board, cell: Cell, *, far: bool = False) -> tuple[Board, Token | Cell]:
        """Return whom to ask about, and the board where that token stands.

        Parameters
        ----------
        board : Board
        cell : tuple of int
        far : bool, keyword-only
            Whether the answer depends on how far the creature gets, and nothing else says so.

        Returns
        -------
        Board
            With the token in the place of the one that stands there.
        Token or tuple of int
            The cell itself where the options say nothing.

        Raises
        ------
        RulesError, CostError
            If a size, a mode or an amount is unknown, or the creature has no such speed.
        OutsideMapError
            If its body does not lie on the map.
        """
        if self == Who(tokens=self.tokens):
            return board, cell
        standing = board.token_at(cell)
        token = standing or Token(Creature(), cell)
        changes: dict[str, Any] = {}
        if self.size is not None:
            changes["size"] = cast(Size, self.size)
        if self.speed is not None or self.mode is not None:
            changes["speed"] = self._speed(token, far=far)
        token = replace(
            token,
            creature=replace(token.creature, **changes),
            prone=self.prone or token.prone,
            flying=token.flying if self.mode is None else self.mode == "fly",
        )
        tokens = list(board.tokens)
        if standing is None:
            board.replace(tokens=[*tokens, token])  # raises where its body has no room on the map
            return board, token
        tokens[tokens.index(standing)] = token
        return board.replace(tokens=tokens), token

    def _speed(self, token: Token, *, far: bool) -> Any:
        given = token.creature.speed if self.speed is None else speeds(self.speed)
        mode = self.mode
        if mode is None:
            return given
        if mode not in MODES:
            raise RulesError(
                f"unknown mode {mode!r}{nearest(mode, MODES)}; expected one of {', '.join(MODES)}"
            )
        if self.speed is not None and not isinstance(given, Mapping):
            return {mode: given}
        known = by_mode(given, "--speed" if self.speed else f"creature {token.creature.name!r}")
        if mode in known:
            return {mode: known[mode]}
        if self.speed is not None:
            raise RulesError(f"--speed has no {mode!r}, only {', '.join(known)}")
        if far and given is not None:
            raise RulesError(
                f"{token.label!r} has no speed {mode!r}, only {', '.join(known)}; "
                "give --speed or --budget"
            )
        return {mode: None}


def speeds(text: str) -> str | dict[str, str]:
    """Read a speed, or several by mode.

    Raises
    ------
    RulesError, CostError
        If a mode is unknown or comes twice, or an amount is no amount.

    Examples
    --------
    >>> from fieldcraft.cli._who import speeds
    >>> speeds("9 m"), speeds("walk=9 m, fly=18 m")
    ('9 m', {'walk': '9 m', 'fly': '18 m'})
    """
    if "=" not in text:
        quantity(text, "--speed")
        return text
    found: dict[str, str] = {}
    for part in text.split(","):
        mode, equals, amount = (word.strip() for word in part.partition("="))
        if not equals:
            raise RulesError(
                f"--speed: {part.strip()!r} names no mode; expected 'walk=9 m,fly=18 m'"
            )
        # One at a time, so that a mode which comes twice under two names is found too.
        [mode] = by_mode({mode: amount}, "--speed")
        if mode in found:
            raise RulesError(f"--speed names {mode!r} twice")
        found[mode] = amount
    return found

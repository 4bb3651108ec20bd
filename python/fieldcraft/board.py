"""The board a user holds: a map, the rules it is played by and the tokens on it."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt

from fieldcraft import questions
from fieldcraft import rules as rules_
from fieldcraft.creature import Creature, Relations, Size, Token, as_cell, without
from fieldcraft.errors import (
    ArgumentTypeError,
    CostError,
    MapError,
    OutsideMapError,
    RulesError,
    nearest,
)
from fieldcraft.lattice import Cell, Lattice, as_lattice
from fieldcraft.path import Path
from fieldcraft.queries import batch_array, batch_of, cells_of, spread
from fieldcraft.reach import Reach
from fieldcraft.route import Route, find_route
from fieldcraft.sight import Sight, Sights, View, best_sights
from fieldcraft.terrain import Border, Kind, Perch, Terrain

if TYPE_CHECKING:
    from fieldcraft.all_views import AllViews
    from fieldcraft.fields import SightField, StepField
    from fieldcraft.questions import Charge
    from fieldcraft.reaches import Reaches
    from fieldcraft.rules import Effect, Pace, Rules
    from fieldcraft.safest import SafestReach

__all__ = ["Board"]

RELATIONS = ("friend", "foe", "neutral")
NOWHERE = (-1, -1)
"""Where the mover of a compiled field stands: off the map, where nobody is equal to it."""
REMEMBERED = 1024
KEPT_FIELDS, MOST_KEPT, KEPT_CELLS = 32, 256, 1 << 18
"""Compiled fields a board keeps; of a small map more, as long as they have no more cells than that
together. The one not used for longest goes first."""

Field = TypeVar("Field")
_ABSENT: Any = object()


class Board:
    """A battle map with its rules and tokens: a value, whose arrays are copied in and frozen.

    Parameters
    ----------
    terrain : sequence of sequences, shape (height, width)
        Of each cell a terrain id, or a sequence of ids: base first, then overlays.
    lattice : str or Lattice
        ``"square"``, ``"square4"``, ``"odd-r"``, ``"even-r"``, ``"odd-q"`` or ``"even-q"``.
    rules : str, path or Rules, optional
        A system by name, a rules file, or a configured system; without it ``"hexwild"`` on
        hexagons and ``"pathfinder"`` on squares.
    elevation : array_like of float, shape (height, width), optional
        The top of each cell in the system's unit of height.
    light : int or array_like of int, shape (height, width)
        Malus of a target there, 0 or negative.
    borders : iterable of Border
    perches : iterable of Perch
        Places in trees, see `fieldcraft.roll_perches`.
    tokens : iterable of Token
    relations : mapping or iterable, optional
        Of two sides: ``{frozenset({"red", "blue"}): "neutral"}`` or ``[("red", "blue",
        "neutral")]``. What is not named: one side is friend, two are foe.
    name : str

    Raises
    ------
    MapError
        If the map is malformed or holds terrain that the rules do not know, with cell and id.
    RulesError
        If the rules are unknown.
    OutsideMapError
        If a token or a border lies outside the map.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> board = fc.Board([["open", "light_forest", "mud"]], lattice="odd-r", rules="hexwild")
    >>> board.reach((0, 0), budget=3).cost.tolist()
    [0.0, 1.5]
    """

    def __init__(
        self,
        terrain: Any,
        *,
        lattice: str | Lattice = "square",
        rules: Rules | str | FilePath | None = None,
        elevation: npt.ArrayLike | None = None,
        light: npt.ArrayLike = 0,
        borders: Iterable[Border] = (),
        perches: Iterable[Perch] = (),
        tokens: Iterable[Token] = (),
        relations: Any = None,
        name: str = "",
    ) -> None:
        codes, kinds = _coded(terrain)
        tiling = as_lattice(lattice)
        if rules is None:
            rules = "hexwild" if tiling.is_hex else "pathfinder"
        self._set(
            Terrain(
                tiling,
                codes,
                kinds,
                _elevation(elevation),
                _light(light),
                tuple(borders),
                tuple(perches),
            ),
            rules_.resolve(rules),
            tuple(tokens),
            _relations(relations),
            name,
        )

    def _set(
        self,
        terrain: Terrain,
        rules: Rules,
        tokens: tuple[Token, ...],
        relations: dict[frozenset[str], str],
        name: str,
        *,
        checked: bool = False,
    ) -> None:
        if not checked:
            rules.check(terrain)
        self._terrain, self._rules = terrain, rules
        self._tokens = self._present(tokens)
        self._relations, self._name = relations, name
        self._relate = Relations(relations)
        self._fields: OrderedDict[Any, Any] = OrderedDict()
        n_cells = terrain.shape[0] * terrain.shape[1]
        self._room = min(max(KEPT_FIELDS, KEPT_CELLS // n_cells), MOST_KEPT)
        self._memo: dict[Any, Any] = {}
        self._lock = threading.Lock()

    @classmethod
    def from_terrain(
        cls,
        terrain: Terrain,
        *,
        rules: Rules | str | FilePath,
        tokens: Iterable[Token] = (),
        relations: Any = None,
        name: str = "",
    ) -> Board:
        """Return a board on a map that is data already; parameters as in `Board`."""
        board = cls.__new__(cls)
        board._set(terrain, rules_.resolve(rules), tuple(tokens), _relations(relations), name)
        return board

    @classmethod
    def from_rows(
        cls,
        rows: str | Sequence[str],
        legend: Mapping[str, str | Sequence[str]],
        **options: Any,
    ) -> Board:
        """Return a board drawn as text, one character a cell.

        Parameters
        ----------
        rows : str or sequence of str
            Lines of text. A multi-line string loses the blanks around it and around its lines.
        legend : mapping from character to terrain id, or to a sequence of ids
        **options
            As in `Board`.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> board = fc.Board.from_rows("..#", {".": "open", "#": "wall"}, rules="pathfinder")
        >>> (0, 2) in board.reach((0, 0))
        False
        """
        lines = _text_rows(rows, legend)
        cells = []
        for row, line in enumerate(lines):
            for col, character in enumerate(line):
                if character not in legend:
                    raise MapError(
                        f"the character {character!r} at cell ({row}, {col}) is not in the legend; "
                        f"expected one of {' '.join(legend)}"
                    )
            cells.append([legend[character] for character in line])
        return cls(cells, **options)

    # -- what it holds --------------------------------------------------------------------------

    @property
    def terrain(self) -> Terrain:
        """The map as data."""
        return self._terrain

    @property
    def rules(self) -> Rules:
        """The rule system."""
        return self._rules

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens on the board."""
        return self._tokens

    @property
    def relations(self) -> Mapping[frozenset[str], str]:
        """What two sides are to each other, where it is not the default."""
        return MappingProxyType(self._relations)

    @property
    def name(self) -> str:
        """The board's name."""
        return self._name

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in cells."""
        return self._terrain.shape

    @property
    def lattice(self) -> Lattice:
        """The lattice of its cells."""
        return self._terrain.lattice

    @property
    def light(self) -> npt.NDArray[np.int8]:
        """Light malus of a target in each cell, shape (height, width)."""
        return np.broadcast_to(self._terrain.light, self.shape)

    def kind(self, cell: Cell) -> Kind:
        """Return what a cell holds: base terrain id, then overlays."""
        return self._terrain.kind(cell)

    def effects(
        self,
        who: Token | Cell,
        *,
        creature: Creature | None = None,
        prone: bool = False,
        level: int = 0,
    ) -> tuple[Effect, ...]:
        """Return what a cell does to whoever enters, stays in or leaves it (HW-19): data.

        Parameters
        ----------
        who : Token or tuple of int
            A cell: all that it may do to anybody. A token: what its place does to that token, its
            body, its state and what it is spared considered.
        creature : Creature, optional
            With a cell: what that place does to such a creature.
        prone, level : bool, int
            Of the creature: whether it lies or crawls, and its level in a tree.

        Returns
        -------
        tuple of Effect

        Raises
        ------
        OutsideMapError
            If the cell lies outside the map.
        """
        token, cell = self._who(who, "cell")
        if token is None:
            if creature is None and not level:
                return self._rules.effects(self._terrain.kind(cell), prone=prone)
            token = Token(creature or Creature(), cell, prone=prone, level=level)
        return self._rules.effects_at(self._terrain, token)

    def token_at(self, cell: Cell) -> Token | None:
        """Return the token that stands on a cell, on the lowest level, or None."""
        return self._lowest(self._tokens, as_cell(cell))

    def _lowest(self, tokens: Iterable[Token], cell: Cell) -> Token | None:
        """Return the token that covers a cell, on the lowest level, or None."""
        lattice = self._terrain.lattice
        here = [token for token in tokens if cell in self._rules.cells_of(token, lattice)]
        return min(here, key=lambda token: token.level) if here else None

    def token(self, name: str) -> Token:
        """Return the token of that name.

        Raises
        ------
        MapError
            If no token has that name, or more than one.
        """
        found = [token for token in self._tokens if token.label == name]
        if len(found) != 1:
            names = ", ".join(token.label for token in self._tokens) or "nobody"
            raise MapError(f"{len(found)} tokens have the name {name!r}; on the board are {names}")
        return found[0]

    def move(self, token: Token, cell: Cell, **state: Any) -> Board:
        """Return a board where the token stands on another cell; nobody asks what it costs.

        Parameters
        ----------
        token : Token
        cell : tuple of int
        **state
            What else of the token has changed: ``prone=False``, ``flying=True``, ``level=1``, ...

        Raises
        ------
        MapError
            If the token is not on this board: one that has moved is another token.
        """
        if not isinstance(token, Token):
            raise ArgumentTypeError(f"who moves must be a Token, not {token!r}; see Board.token")
        if token not in self._tokens:
            raise MapError(f"token {token.label!r} at {token.cell} is not on this board")
        at = self._tokens.index(token)
        known = {item.name for item in fields(Token)}
        for name in state:
            if name not in known:
                raise ArgumentTypeError(f"a token has no {name!r}{nearest(name, known)}")
        moved = replace(token, cell=self._terrain.check(cell), **state)
        return self.replace(tokens=(*self._tokens[:at], moved, *self._tokens[at + 1 :]))

    def relation(self, side: str | Token, other: str | Token) -> Any:
        """Return what two sides, or two tokens, are to each other: friend, foe or neutral."""
        one, two = (x.side if isinstance(x, Token) else x for x in (side, other))
        return self._relate(one, two)

    def parse_cell(self, text: str) -> Cell:
        """Read a cell: ``"row,col"`` from 0, or a board number such as ``"0305"``.

        A board number is column then row, two digits each, from 1; with five digits the second
        number has three, with six both have.

        Raises
        ------
        MapError
            If the text is neither.
        OutsideMapError
            If there is no such cell.
        """
        pair = re.fullmatch(r"\s*\(?\s*(-?[0-9]{1,9})\s*,\s*(-?[0-9]{1,9})\s*\)?\s*", text)
        if pair:
            return self._terrain.check((int(pair[1]), int(pair[2])))
        number = re.fullmatch(r"\s*([0-9]{4,6})\s*", text)
        if not number:
            raise MapError(
                f"{text[:40]!r} is no cell; expected row,col from 0, or a board number such as 0305"
            )
        digits = number[1]
        splits = [2] if len(digits) == 4 else [3] if len(digits) == 6 else [2, 3]
        height, width = self.shape
        found = [
            (int(digits[at:]) - 1, int(digits[:at]) - 1)
            for at in splits
            if 1 <= int(digits[at:]) <= height and 1 <= int(digits[:at]) <= width
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise MapError(f"the board number {text!r} may mean either of {found}; give row,col")
        raise OutsideMapError(
            f"board number {text!r} lies outside the map; columns run from 01 to {width:02d}, "
            f"rows from 01 to {height:02d}"
        )

    def replace(
        self,
        cells: Any = None,
        terrain: str | Sequence[str] | None = None,
        *,
        tokens: Iterable[Token] = _ABSENT,
        rules: Rules | str | FilePath = _ABSENT,
        elevation: npt.ArrayLike | None = _ABSENT,
        light: npt.ArrayLike = _ABSENT,
        borders: Iterable[Border] = _ABSENT,
        perches: Iterable[Perch] = _ABSENT,
        relations: Any = _ABSENT,
        name: str = _ABSENT,
    ) -> Board:
        """Return a board that differs in some cells, or in something else.

        Parameters
        ----------
        cells : cell, array_like of int of shape (n, 2), or array of bool of shape (height, width)
            Cells to change.
        terrain : str or sequence of str
            What they hold from now on.
        tokens, rules, elevation, light, borders, perches, relations, name
            As in `Board`; what is not given stays.

        Returns
        -------
        Board

        Examples
        --------
        >>> import fieldcraft as fc
        >>> board = fc.Board([["open", "open"]], rules="pathfinder")
        >>> board.replace((0, 1), "wall").kind((0, 1)), board.kind((0, 1))
        (('wall',), ('open',))
        """
        old = self._terrain
        codes, kinds = old.codes, old.kinds
        if (cells is None) != (terrain is None):
            raise ArgumentTypeError("replace needs cells and terrain together")
        if terrain is not None:
            codes, kinds = self._replaced(cells, _kind(terrain))
        given = (elevation, light, borders, perches)
        changed = old
        if terrain is not None or any(value is not _ABSENT for value in given):
            changed = Terrain(
                old.lattice,
                codes,
                kinds,
                old.elevation if elevation is _ABSENT else _elevation(elevation),
                old.light if light is _ABSENT else _light(light),
                old.borders if borders is _ABSENT else tuple(borders),
                old.perches if perches is _ABSENT else tuple(perches),
            )
        board = Board.__new__(Board)
        board._set(
            changed,
            self._rules if rules is _ABSENT else rules_.resolve(rules),
            self._tokens if tokens is _ABSENT else tuple(tokens),
            self._relations if relations is _ABSENT else _relations(relations),
            self._name if name is _ABSENT else name,
            checked=changed is old and rules is _ABSENT,
        )
        if changed is old and rules is _ABSENT and relations is _ABSENT:
            # Where only tokens moved, fields are compiled again only near them.
            with self._lock:
                board._fields.update(self._fields)
                board._memo = self._memo
        return board

    def _replaced(self, cells: Any, kind: Kind) -> tuple[npt.NDArray[np.uint16], tuple[Kind, ...]]:
        codes, kinds = self._terrain.codes.copy(), self._terrain.kinds
        if kind not in kinds:
            kinds = (*kinds, kind)
            if len(kinds) > np.iinfo(np.uint16).max:
                raise MapError("a map may hold 65,535 kinds of cells")
        code = kinds.index(kind)
        mask = np.asarray(cells)
        if mask.dtype == np.bool_:
            if mask.shape != self.shape:
                raise MapError(f"cells has shape {mask.shape}, the map has {self.shape}")
            codes[mask] = code
        else:
            for cell in cells_of(cells, self.shape, "cells"):
                codes[cell] = code
        return codes, kinds

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        a, b = self._terrain, other._terrain
        return (
            a.lattice == b.lattice
            and a.shape == b.shape
            and self._rules == other._rules
            and self._tokens == other._tokens
            and self._relations == other._relations
            and a.borders == b.borders
            and a.perches == b.perches
            and np.array_equal(_per_cell(a.light, a.shape), _per_cell(b.light, b.shape))
            and a.has_elevation == b.has_elevation
            and np.array_equal(a.elevation, b.elevation)
            and _same_kinds(a, b)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_fields", "_lock", "_memo")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._fields, self._lock, self._memo = OrderedDict(), threading.Lock(), {}

    def __repr__(self) -> str:
        height, width = self.shape
        name = f"{self._name!r}, " if self._name else ""
        return (
            f"Board({name}{height} x {width} {self.lattice.name}, rules {self._rules.name}, "
            f"{len(self._tokens)} tokens)"
        )

    # -- compiled fields ------------------------------------------------------------------------

    def step_field(
        self,
        who: Token | Cell,
        *,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
    ) -> StepField:
        """Return the compiled movement graph for whoever moves; see `reach`."""
        token, mover, others = self._mover(who, tokens, creature)
        return self._step_field(token, mover, others, self._pace(mover, token))

    def _step_field(
        self,
        token: Token | None,
        creature: Creature,
        others: tuple[Token, ...],
        pace: Pace,
    ) -> StepField:
        # Where the mover stands is no part of its field; its speed is where there are several.
        mover = self._unplaced(token)
        lies = token is not None and (token.prone or token.flying)
        key = ("step", creature, mover, tuple(pace.caps.items()), pace.walking if lies else None)
        with self._lock:
            kept: tuple[tuple[Token, ...], StepField] | None = self._fields.get(key)
        if kept is not None and kept[0] == others:
            field = kept[1]
        elif kept is not None:
            # The same mover among others: compiled again only where they have moved.
            field = kept[1].update(others, has_mover=False)
        else:
            field = self._rules.step_field(
                self._terrain,
                creature,
                token=mover,
                tokens=others,
                relation=self._relate,
                pace=pace,
            )
        field.is_shared = True
        self._keep(key, (others, field))
        return field

    def sight_field(
        self,
        viewer: Token | Cell | Creature | None = None,
        target: Token | Cell | Creature | None = None,
    ) -> SightField:
        """Return the compiled sight field for a viewer and a kind of target."""
        return self._sight_field(self._eye(viewer), self._eye(target))

    def _sight_field(self, viewer: _Eye, target: _Eye) -> SightField:
        return self._kept(
            ("sight", viewer, target),
            lambda: self._rules.sight_field(
                self._terrain,
                viewer.creature,
                target.creature,
                viewer_level=viewer.level,
                target_level=target.level,
            ),
        )

    def _kept(self, key: Any, compile_: Callable[[], Field]) -> Field:
        with self._lock:
            found: Field | None = self._fields.get(key)
        if found is None:
            found = compile_()
        self._keep(key, found)
        return found

    def _keep(self, key: Any, value: Any) -> None:
        """Keep a compiled field as the one used last; the one not used for longest goes."""
        with self._lock:
            self._fields[key] = value
            self._fields.move_to_end(key)
            if len(self._fields) > self._room:
                self._fields.popitem(last=False)

    def _eye(self, who: Token | Cell | Creature | None) -> _Eye:
        """Return who looks, or is looked at: of a cell the token there, else a Medium creature."""
        if who is None:
            return _Eye(Creature())
        if isinstance(who, Creature):
            return _Eye.of(who)
        token = who if isinstance(who, Token) else self.token_at(self._terrain.check(who))
        return _Eye.of(token.creature, token.level) if token else _Eye(Creature())

    def _mover(
        self, who: Token | Cell, tokens: Iterable[Token] | None, creature: Creature | None
    ) -> tuple[Token | None, Creature, tuple[Token, ...]]:
        return self._mover_among(who, self._present(tokens), creature)

    def _mover_among(
        self, who: Token | Cell, others: tuple[Token, ...], creature: Creature | None
    ) -> tuple[Token | None, Creature, tuple[Token, ...]]:
        """Return who moves: the token if any, the creature, and the others, checked already."""
        token, cell = self._who(who, "start")
        if token is None:
            token = self._lowest(others, cell)
        if creature is not None and not isinstance(creature, Creature):
            raise ArgumentTypeError(f"creature must be a Creature, not {creature!r}")
        mover = creature or (token.creature if token else Creature())
        if token is not None:
            # Left out once: another token equal to it stays in its way.
            others = tuple(without(others, token))
        return token, mover, others

    def _present(self, tokens: Iterable[Token] | None) -> tuple[Token, ...]:
        """Return the tokens of a question, checked; the board's own where none are given."""
        if tokens is None:
            return self._tokens
        try:
            others = tuple(tokens)
        except TypeError:
            raise ArgumentTypeError(f"tokens must be several Token, not {tokens!r}") from None
        for other in others:
            if not isinstance(other, Token):
                raise ArgumentTypeError(f"tokens must be Token, not {type(other).__name__}")
            self._terrain.check(other.cell, f"cell of token {other.label!r}")
            for cell in self._rules.cells_of(other, self._terrain.lattice):
                self._terrain.check(cell, f"a cell that token {other.label!r} covers,")
        return others

    def _who(self, who: Token | Cell, what: str) -> tuple[Token | None, Cell]:
        if isinstance(who, Token):
            return who, self._terrain.check(who.cell, f"cell of token {who.label!r}")
        return None, self._terrain.check(who, what)

    def _remembered(self, key: Any, work: Callable[[], Any]) -> Any:
        """Return what was worked out before for a key, or work it out now.

        What takes longer to work out than a search; boards that follow each other share it.
        """
        try:
            found = self._memo.get(key)
        except TypeError:  # a mapping as a budget, say
            return work()
        if found is None:
            found = work()
            if len(self._memo) >= REMEMBERED:
                self._memo.clear()
            self._memo[key] = found
        return found

    def _unplaced(self, token: Token | None) -> Token | None:
        """Return a token that stands nowhere: all of it that its field depends on."""
        if token is None:
            return None
        unplaced: Token = self._remembered(("unplaced", token), lambda: token.at(NOWHERE))
        return unplaced

    def _pace(
        self, mover: Creature, token: Token | None, budget: Any = None, *, limited: bool = True
    ) -> Pace:
        """Return what may be spent; see the rules."""
        key = ("pace", mover, self._unplaced(token), type(budget), budget, limited)
        pace: Pace = self._remembered(
            key, lambda: self._rules.pace(mover, token, budget, limited=limited)
        )
        return pace

    def _limit(self, pace: Pace) -> Any:
        """Return the most that may be spent, in the rules' unit; None for no limit."""
        if pace.limit is None:
            return None
        limit = Fraction(pace.limit) / self._rules.ticks
        return limit.numerator if limit.denominator == 1 else limit

    def _begin(self, who: Token | Cell, token: Token | None) -> Cell:
        """Return where a movement begins: the place of the token, or the cell."""
        _, cell = self._who(who, "start")
        return cell if token is None else token.cell

    # -- moving ---------------------------------------------------------------------------------

    def reach(
        self,
        who: Token | Cell,
        *,
        budget: Any = None,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
        parity: int = 0,
    ) -> Reach:
        """Return every cell a creature gets to.

        Parameters
        ----------
        who : Token or tuple of int
            Who moves: a token, or a cell, which means the token there, else a Medium creature.
        budget : float, str or mapping, optional
            What it may spend: a number in the system's unit, or text such as ``"9 m"``, by each
            way of moving it has, or a mapping from ways of moving to either. Without one its
            speeds, and without a speed no limit.
        tokens : iterable of Token, optional
            Who is on the board, in place of the board's own tokens; the mover is left out.
        creature : Creature, optional
            Move as this creature instead.
        parity : int
            Diagonals made before in this movement, modulo 2.

        Returns
        -------
        Reach

        Raises
        ------
        OutsideMapError
            If who moves is not on the map.
        CostError
            If the budget is negative, not a number, or its unit is unknown.
        RulesError
            If the system cannot move such a creature.
        """
        token, mover, others = self._mover(who, tokens, creature)
        pace = self._pace(mover, token, budget)
        field = self._step_field(token, mover, others, pace)
        start = self._begin(who, token)
        return field.reach(
            start, self._limit(pace), parity=parity, rest=pace.rest, speeds=pace.modes
        )

    def safest(
        self,
        who: Token | Cell,
        stake: Any,
        *,
        budget: Any = None,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
        parity: int = 0,
    ) -> SafestReach:
        """Return the ways of least stake to every cell a creature gets to, exactly.

        Parameters
        ----------
        who, budget, tokens, creature, parity
            As in `reach`; there must be a speed or a budget.
        stake : array_like of int, or callable
            What steps risk: see `StepField.safest`.

        Returns
        -------
        SafestReach

        Raises
        ------
        OutsideMapError, CostError, RulesError
            As in `reach`; CostError also if there is no budget, or a stake is negative.
        ArgumentTypeError, MapError
            If stakes are no whole numbers, or of the wrong shape.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> rows = [".......", ".......", ".......", "......."]
        >>> ada = fc.Token(fc.Creature("Ada", speed=10), (0, 0), side="blue")
        >>> grub = fc.Token("Grub", (1, 3), side="red")
        >>> board = fc.Board.from_rows(rows, {".": "open"}, rules="pathfinder", tokens=[ada, grub])
        >>> safest = board.safest(
        ...     ada, lambda step: sum(stake.kind == "attack" for stake in step.stakes)
        ... )
        >>> [(way.cost, way.stake) for way in safest.frontier((0, 6))]
        [(6.0, 3), (9.0, 1), (10.0, 0)]
        """
        token, mover, others = self._mover(who, tokens, creature)
        pace = self._pace(mover, token, budget)
        field = self._step_field(token, mover, others, pace)
        return field.safest(self._begin(who, token), self._limit(pace), stake, parity=parity)

    def reach_many(
        self,
        starts: npt.ArrayLike,
        *,
        budget: Any = None,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
        parity: int = 0,
    ) -> Sequence[Reach]:
        """Return the reach from each start, shape (n, 2), as `reach` would, on all cores."""
        cells = [self._terrain.check(cell, "start") for cell in batch_of(starts, (2,), "starts")]
        others = self._present(tokens)
        lattice = self.lattice
        occupied = {cell for token in others for cell in self._rules.cells_of(token, lattice)}
        free = [i for i, cell in enumerate(cells) if cell not in occupied]
        found: dict[int, Reach] = {}
        if free:
            # Where nobody stands everyone is the same Medium creature on the same field.
            token, mover, present = self._mover(cells[free[0]], others, creature)
            pace = self._pace(mover, token, budget)
            field = self._step_field(token, mover, present, pace)
            batch = [cells[i] for i in free]
            answers = field.reach_many(
                batch, self._limit(pace), parity=parity, rest=pace.rest, speeds=pace.modes
            )
            if len(free) == len(cells):
                return answers
            found.update(zip(free, answers, strict=True))
        for i, cell in enumerate(cells):
            if i not in found:
                found[i] = self.reach(
                    cell, budget=budget, tokens=others, creature=creature, parity=parity
                )
        return [found[i] for i in range(len(cells))]

    def reaches(
        self,
        who: Token | Cell | None = None,
        *,
        budget: Any = None,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
        parity: int = 0,
    ) -> Reaches:
        """Return where one creature gets to from each cell of the map, if it stood there.

        The others stay where they are, and the mover is left out of them, so that its own place
        is as free as any. It may stand on any cell, closed or not, as in `reach`. Answers are
        worked out when asked for, side by side where the system allows; see `Reaches`.

        Parameters
        ----------
        who : Token or tuple of int, optional
            Who moves, as in `reach`; if absent `creature`, or a Medium one, that is not on the
            board yet.
        budget, tokens, creature, parity
            As in `reach`.

        Returns
        -------
        Reaches
            ``.of(cell)`` are the costs that `reach` finds for this creature on that cell.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> board = fc.Board([["open", "open", "difficult", "open"]], rules="pathfinder")
        >>> board.reaches(budget=2).count.tolist()
        [[2, 3, 4, 2]]
        """
        others = self._present(tokens)
        if who is None:
            token, mover = None, creature or Creature()
            if not isinstance(mover, Creature):
                raise ArgumentTypeError(f"creature must be a Creature, not {creature!r}")
        else:
            token, mover, others = self._mover_among(who, others, creature)
        pace = self._pace(mover, token, budget)
        field = self._step_field(token, mover, others, pace)
        return field.reaches(self._limit(pace), parity=parity)

    def path(
        self,
        start: Token | Cell,
        goal: Any,
        *,
        budget: Any = None,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
        parity: int = 0,
        stop: bool = True,
    ) -> Path:
        """Return a cheapest path to a goal.

        Parameters
        ----------
        start : Token or tuple of int
            As `who` in `reach`.
        goal : tuple of int, array_like of int of shape (n, 2), or ``fc.within(radius, cell)``
        budget : float or str, optional
            What may be spent; without one there is no limit (a path may take several turns).
        tokens, creature, parity
            As in `reach`.
        stop : bool
            Whether it must end where a movement may end.

        Returns
        -------
        Path
            False when there is no way.
        """
        field, cell, limit = self._crossing(start, self._present(tokens), creature, budget)
        return field.path(cell, goal, budget=limit, parity=parity, stop=stop)

    def route(
        self,
        start: Token | Cell,
        goal: Any,
        *,
        budget: Any = None,
        tokens: Iterable[Token] | None = None,
        creature: Creature | None = None,
        parity: int = 0,
        max_turns: int | None = None,
    ) -> Route:
        """Return a way to a goal cut into legal turns.

        No turn ends where nobody may stop. Each has the whole budget again, and counts diagonals
        anew. Of all such ways it is one of the fewest turns, and of these one of the least cost
        in the last turn; each turn before is as cheap as where it ends allows. Who flies, stands
        or squeezes at the end of a turn does so still in the next. The others stay where they are.

        Where there is no way, the turns lead to the nearest approach: the stop nearest to the
        goal (in steps of the lattice, from anchor to anchor), then that of the fewest turns, of
        the least cost in the last, and the first by row and column. They are none where no stop
        is nearer than the start.

        Parameters
        ----------
        start : Token or tuple of int
            As `who` in `reach`.
        goal : tuple of int, array_like of int of shape (n, 2), or ``fc.within(radius, cell)``
        budget : float, str or mapping, optional
            What each turn may spend; the creature's speeds if absent, and without those one turn
            is enough.
        tokens, creature
            As in `reach`.
        parity : int
            Diagonals made before in the first turn, modulo 2.
        max_turns : int, optional
            How many turns it may take at most; as many as it needs if absent.

        Returns
        -------
        Route
            False when there is no way.

        Raises
        ------
        OutsideMapError, CostError, RulesError
            As in `reach`; also if a goal lies outside the map.
        """
        token, mover, others = self._mover(start, tokens, creature)
        pace = self._pace(mover, token, budget)
        field = self._step_field(token, mover, others, pace)
        return find_route(
            field,
            self._begin(start, token),
            goal,
            budget=self._limit(pace),
            parity=parity,
            max_turns=max_turns,
        )

    def paths(self, pairs: npt.ArrayLike, **options: Any) -> Sequence[Path]:
        """Return a cheapest path for each pair (start, goal), shape (n, 2, 2), on all cores.

        Options are those of `path`.
        """
        cells = batch_of(pairs, (2, 2), "pairs")
        others = self._present(options.pop("tokens", None))
        creature, budget = options.pop("creature", None), options.pop("budget", None)
        for start, goal in cells:
            self._terrain.check(start, "start")
            self._terrain.check(goal, "goal")
        # Who moves, and its field, are found once a start.
        movers = {
            start: self._crossing(start, others, creature, budget)
            for start in dict.fromkeys((row, col) for (row, col), _ in cells)
        }

        def part(begin: int, end: int) -> list[Path]:
            found = []
            for (row, col), goal in cells[begin:end]:
                field, cell, limit = movers[row, col]
                found.append(field.path(cell, tuple(goal), budget=limit, **options))
            return found

        return spread(len(cells), part)

    def _crossing(
        self, start: Token | Cell, others: tuple[Token, ...], creature: Creature | None, budget: Any
    ) -> tuple[StepField, Cell, Any]:
        """Return the field of a path, where it begins and what may be spent."""
        token, mover, present = self._mover_among(start, others, creature)
        pace = self._pace(mover, token, budget, limited=budget is not None)
        field = self._step_field(token, mover, present, pace)
        return field, self._begin(start, token), self._limit(pace)

    # -- asking about others --------------------------------------------------------------------

    def distance(self, a: Token | Cell, b: Token | Cell) -> float:
        """Return how far apart two are, as the system counts it, whatever lies between.

        Squares are counted as the way over open ground would cost, diagonals as the system has
        them (PF-01), hexagons and levels together (HW-10, HW-25).

        Parameters
        ----------
        a, b : Token or tuple of int
            Of a body of several cells the closest counts; a cell lies on the ground.

        Returns
        -------
        float
            In the system's unit of movement.

        Raises
        ------
        OutsideMapError
            If either is not on the map.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> board = fc.Board([["open"] * 4] * 4, rules="pathfinder")
        >>> board.distance((0, 0), (3, 3))
        4.0
        """
        return questions.distance(self, a, b)

    @overload
    def nearest(
        self, who: Token | Cell, candidates: Any = None, rng: None = None
    ) -> tuple[Token | Cell, ...]: ...

    @overload
    def nearest(
        self, who: Token | Cell, candidates: Any, rng: np.random.Generator
    ) -> Token | Cell | None: ...

    @overload
    def nearest(
        self, who: Token | Cell, candidates: Any = None, *, rng: np.random.Generator
    ) -> Token | Cell | None: ...

    def nearest(
        self,
        who: Token | Cell,
        candidates: Any = None,
        rng: np.random.Generator | None = None,
    ) -> tuple[Token | Cell, ...] | Token | Cell | None:
        """Return those nearest to somebody, all of them, or one drawn at random (PF-12).

        Parameters
        ----------
        who : Token or tuple of int
            A token, or a cell, which means the token there, if there is one.
        candidates : sequence of tokens and cells, optional
            Who or what may be nearest, `who` apart; all foes of `who` if absent.
        rng : numpy.random.Generator, optional
            Draws one of the nearest.

        Returns
        -------
        tuple of tokens and cells, or one of them
            Equally near, in the order of the candidates; empty where there are none. With `rng`
            one of them, or None.

        Raises
        ------
        OutsideMapError
            If anybody is not on the map.
        """
        if rng is not None:
            questions.check_generator(rng)
        asked = None if candidates is None else _whos(candidates, (2,), "candidates")
        found = questions.nearest(self, who, asked)
        return found if rng is None else questions.drawn(found, rng)

    def surrounding(
        self,
        who: Token | Cell,
        creature: Token | Creature | None = None,
        *,
        free: bool = False,
    ) -> tuple[Cell, ...]:
        """Return the places where a creature would be adjacent to somebody (S5-12).

        Around one square there are eight for a Medium creature, around n x n squares 4n + 4.

        Parameters
        ----------
        who : Token or tuple of int
            As in `nearest`.
        creature : Token or Creature, optional
            Who is to stand there, on the ground or, of a token that flies, on its level of the air;
            with its body and its facing. A Medium creature if absent.
        free : bool, keyword-only
            Only places on the map where it may end a movement and nobody is.

        Returns
        -------
        tuple of cells
            Each place by its anchor, in reading order; without `free` some may lie off the map.

        Raises
        ------
        OutsideMapError
            If `who` is not on the map.
        """
        return questions.surrounding(self, who, creature, free=free)

    def can_hit(self, attacker: Token, target: Token) -> bool:
        """Return whether one token reaches another hand to hand, whatever stands between (HW-25).

        Counted in cells, of which levels are some, too.
        """
        for token in (attacker, target):
            if not isinstance(token, Token):
                raise ArgumentTypeError(f"attacker and target must be Token, not {token!r}")
            self._who(token, "cell")
        return self._rules.can_hit(attacker, target, self.lattice)

    def charge_lanes(self, who: Token | Cell, targets: Any = None) -> tuple[Charge, ...]:
        """Return whether each target can be charged, and in which lane (PF-07).

        A charge goes in a straight line to the closest square from which the target can be
        attacked, over 2 squares or more and at most twice the speed. No creature, no obstacle and
        nothing that slows it lies in the squares that the line crosses, nor a wall between them.

        Parameters
        ----------
        who : Token or tuple of int
            Who charges: a token, or a cell, which means the token there, else a Medium creature.
        targets : sequence of tokens and cells, optional
            All foes of `who` if absent; a cell means the token there, else somebody of one square.

        Returns
        -------
        tuple of Charge
            One for each target, in order: true where it can be charged, else with the reason.

        Raises
        ------
        RulesError
            If the system has no charge.
        OutsideMapError
            If anybody is not on the map.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> knight = fc.Token(fc.Creature("knight", speed=6), (0, 0), side="blue")
        >>> orc = fc.Token("orc", (0, 4), side="red")
        >>> board = fc.Board([["open"] * 5], rules="pathfinder", tokens=[knight, orc])
        >>> [(charge.cells[-1], charge.length) for charge in board.charge_lanes(knight)]
        [((0, 3), 3.0)]
        """
        asked = None if targets is None else _whos(targets, (2,), "targets")
        return questions.charge_lanes(self, who, asked)

    def open_door(self, a: Cell, b: Cell) -> Board:
        """Return a board where the door between two cells is open.

        Raises
        ------
        MapError
            If there is no door.
        OutsideMapError
            If a cell lies outside the map.
        """
        return questions.with_door(self, a, b, is_open=True)

    def close_door(self, a: Cell, b: Cell) -> Board:
        """Return a board where the door between two cells is closed; see `open_door`."""
        return questions.with_door(self, a, b, is_open=False)

    # -- seeing ---------------------------------------------------------------------------------

    def sight(
        self, viewer: Token | Cell, target: Token | Cell, *, light: int | None = None
    ) -> Sight:
        """Return whether and how well a target is seen.

        Bodies of several cells see and are seen by their best pair of cells: a visible one, of
        the least malus, the first of these in reading order of the viewer's and the target's.

        Parameters
        ----------
        viewer, target : Token or tuple of int
            A token, or a cell, which means the token there, else a Medium creature.
        light : int, optional
            Light malus of the target, 0 or negative, in place of the board's.

        Returns
        -------
        Sight

        Raises
        ------
        OutsideMapError
            If either is not on the map.
        """
        seers, seen = self._covered(viewer, "viewer"), self._covered(target, "target")
        field = self.sight_field(viewer, target)
        if len(seers) == len(seen) == 1:
            return field.sight(seers[0], seen[0], light=light)
        return _best(field.sights([(a, b) for a in seers for b in seen], light=light))

    def sights(self, pairs: Any, *, light: int | None = None) -> Sights:
        """Return the sight of each pair (viewer, target), as `sight` would, on all cores.

        Parameters
        ----------
        pairs : array_like of int, shape (n, 2, 2), or sequence of pairs of tokens and cells
        light : int, optional
            As in `sight`.

        Returns
        -------
        Sights
            A sequence of `Sight` with arrays of all answers.
        """
        asked: Any = _asked(pairs, (2, 2), "pairs")
        found: list[tuple[Any, Sights]] = []
        rest: Any = range(len(asked))
        if isinstance(asked, np.ndarray):
            # Where no token stands everybody looks alike, and is looked at alike.
            free = self._free(asked)
            found.append(
                (
                    np.flatnonzero(free),
                    self._sight_field(*[self._eye(None)] * 2).sights(asked[free], light=light),
                )
            )
            rest, asked = np.flatnonzero(~free).tolist(), asked.tolist()
        groups: dict[tuple[_Eye, _Eye], list[tuple[int, Cell, Cell]]] = {}
        known: dict[Any, tuple[_Eye, list[Cell]]] = {}
        for i in rest:
            viewer, target = asked[i]
            seeing, seers = self._looker(viewer, "viewer", known)
            shown, seen = self._looker(target, "target", known)
            group = groups.setdefault((seeing, shown), [])
            group.extend((i, a, b) for a in seers for b in seen)
        for (seeing, shown), members in groups.items():
            field = self._sight_field(seeing, shown)
            answers = field.sights([(a, b) for _, a, b in members], light=light)
            found.append(([i for i, _, _ in members], answers))
        return best_sights(found)

    def _free(self, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which pairs, shape (n, 2, 2), have no token at either end; all must be cells."""
        height, width = self.shape
        rows, cols = pairs[..., 0], pairs[..., 1]
        outside = (rows < 0) | (rows >= height) | (cols < 0) | (cols >= width)
        if outside.any():
            place, end = np.argwhere(outside)[0].tolist()
            self._terrain.check(tuple(pairs[place, end].tolist()), ("viewer", "target")[end])
        if not self._tokens:
            return np.ones(len(pairs), np.bool_)
        covered = np.zeros(self.shape, np.bool_)
        for token in self._tokens:
            for row, col in self._rules.cells_of(token, self.lattice):
                if 0 <= row < height and 0 <= col < width:
                    covered[row, col] = True
        return np.asarray(~covered[rows, cols].any(axis=1), np.bool_)

    def _looker(
        self, who: Token | Cell, what: str, known: dict[Any, tuple[_Eye, list[Cell]]]
    ) -> tuple[_Eye, list[Cell]]:
        """Return who somebody is and which cells it covers, once for everybody."""
        key = who if isinstance(who, Token) else tuple(who)
        if key not in known:
            covered = self._covered(who, what)
            known[key] = self._eye(who), covered
        return known[key]

    def _covered(self, who: Token | Cell, what: str) -> list[Cell]:
        """Return the cells of the map that whoever looks or is looked at covers, in order."""
        token, cell = self._who(who, what)
        if token is None:
            token = self.token_at(cell)
        if token is None:
            return [cell]
        covers = f"a cell that token {token.label!r} covers,"
        cells = self._rules.cells_of(token, self.lattice)
        return sorted(self._terrain.check(covered, covers) for covered in cells)

    def view(
        self,
        viewer: Token | Cell,
        radius: int = 20,
        *,
        light: int | None = None,
        target: Creature | None = None,
    ) -> View:
        """Return every cell where a target would be seen, within a radius.

        A body of several cells sees what one of them sees, as well as the best of them does.

        Parameters
        ----------
        viewer : Token or tuple of int
            As in `sight`.
        radius : int
            In cells.
        light : int, optional
            Light malus everywhere, 0 or negative, in place of the board's.
        target : Creature, optional
            What to look for, on the ground; a Medium creature if absent.

        Returns
        -------
        View
        """
        cells = self._covered(viewer, "viewer")
        field = self.sight_field(viewer, target)
        if len(cells) == 1:
            seen = field.view(cells[0], radius, light=light)
            return _joined(self._who(viewer, "viewer")[1], [seen])
        views = field.views(cells, radius, light=light)
        return _joined(self._who(viewer, "viewer")[1], views)

    @overload
    def views(
        self,
        viewers: None = None,
        radius: int = 20,
        *,
        light: int | None = None,
        target: Creature | None = None,
    ) -> AllViews: ...
    @overload
    def views(
        self,
        viewers: Any,
        radius: int = 20,
        *,
        light: int | None = None,
        target: Creature | None = None,
    ) -> Sequence[View]: ...
    def views(
        self,
        viewers: Any = None,
        radius: int = 20,
        *,
        light: int | None = None,
        target: Creature | None = None,
    ) -> Sequence[View] | AllViews:
        """Return the view of each viewer, as `view` would, on all cores.

        Parameters
        ----------
        viewers : array_like of int, shape (n, 2), or sequence of tokens and cells, optional
            Every cell of the map if absent, with a Medium creature in it, whoever stands there.
        radius, light, target
            As in `view`.

        Returns
        -------
        sequence of View, or AllViews
            For every cell the views are counted or handed out block by block when asked for.
        """
        if viewers is None:
            return self._sight_field(self._eye(None), self._eye(target)).views(
                None, radius, light=light
            )
        groups: dict[_Eye, list[tuple[int, Cell]]] = {}
        asked = _whos(viewers, (2,), "viewers")
        known: dict[Any, tuple[_Eye, list[Cell]]] = {}
        for i, viewer in enumerate(asked):
            seeing, cells = self._looker(viewer, "viewer", known)
            groups.setdefault(seeing, []).extend((i, cell) for cell in cells)
        found: list[list[View]] = [[] for _ in asked]
        for seeing, members in groups.items():
            field = self._sight_field(seeing, self._eye(target))
            answers = field.views([cell for _, cell in members], radius, light=light)
            for (i, _), answer in zip(members, answers, strict=True):
                found[i].append(answer)
        return [
            _joined(self._who(viewer, "viewer")[1], views)
            for viewer, views in zip(asked, found, strict=True)
        ]


class _Eye(NamedTuple):
    """What of a token matters to sight beside its cells."""

    creature: Creature
    level: int = 0

    @classmethod
    def of(cls, creature: Creature, level: int = 0) -> _Eye:
        """Return it without name, speed and whatever else sight does not ask."""
        return cls(_seen(creature.size, creature.height), level)


@lru_cache(maxsize=256)
def _seen(size: Size, height: float | None) -> Creature:
    """Return a creature of which no more is known than what sight asks."""
    return Creature(size=size, height=height)


def _whos(given: Any, shape: tuple[int, ...], what: str) -> list[Any]:
    """Return tokens and cells, or pairs of them, as a list: tokens stay tokens."""
    found = _asked(given, shape, what)
    return found.tolist() if isinstance(found, np.ndarray) else found


def _asked(given: Any, shape: tuple[int, ...], what: str) -> list[Any] | npt.NDArray[np.int64]:
    """Return tokens and cells, or pairs of them, as a list, or an array if there are but cells."""
    if isinstance(given, list | tuple):
        ends = given if len(shape) == 1 else [end for pair in given for end in _ends(pair)]
        if any(isinstance(end, Token) for end in ends):
            batch_array(given, shape, what)
            return list(given)
    return batch_array(given, shape, what).astype(np.int64)


def _ends(pair: Any) -> tuple[Any, ...]:
    return tuple(pair) if isinstance(pair, list | tuple) else ()


def _best(sights: Sequence[Sight]) -> Sight:
    """Return the best of several sight lines, the first of the best."""
    return max(sights, key=lambda sight: -np.inf if sight.malus is None else sight.malus)


def _joined(viewer: Cell, views: Sequence[View]) -> View:
    """Return what several cells of one body see together."""
    if len(views) == 1:
        return views[0]
    width = views[0].shape[1]
    cells = np.concatenate([view.cells for view in views])
    maluses = np.concatenate([view.maluses for view in views])
    flat = cells[:, 0] * width + cells[:, 1]
    order = np.lexsort((-maluses.astype(np.int64), flat))
    first = order[np.diff(flat[order], prepend=-1) > 0]
    return View(viewer, views[0].radius, views[0].shape, cells[first], maluses[first])


# -- what comes in --------------------------------------------------------------------------------


def _kind(value: Any) -> Kind:
    """Return what a cell holds as a tuple of terrain ids."""
    ids = (value,) if isinstance(value, str) else value
    try:
        kind = tuple(str(id_) for id_ in ids if isinstance(id_, str))
        if not kind or len(kind) != len(ids):
            raise TypeError
    except TypeError:
        raise MapError(
            f"a cell must hold a terrain id or a sequence of them, not {value!r}"
        ) from None
    return kind


def _coded(terrain: Any) -> tuple[npt.NDArray[np.uint16], tuple[Kind, ...]]:
    """Return terrain ids as codes and the kinds they stand for."""
    if isinstance(terrain, np.ndarray) and terrain.ndim == 2 and terrain.dtype.kind == "U":
        ids, codes = np.unique(terrain, return_inverse=True)
        if terrain.size == 0 or len(ids) > np.iinfo(np.uint16).max:
            raise MapError(f"a map needs at least one cell; its shape is {terrain.shape}")
        return codes.reshape(terrain.shape).astype(np.uint16), tuple((str(i),) for i in ids)
    if isinstance(terrain, str | bytes) or not isinstance(terrain, Sequence | np.ndarray):
        raise ArgumentTypeError(
            f"terrain must be rows of terrain ids, not {type(terrain).__name__}; "
            "Board.from_rows takes a drawing"
        )
    index: dict[Kind, int] = {}
    rows = []
    for number, row in enumerate(terrain):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
            raise ArgumentTypeError(
                f"row {number} of terrain must be a sequence of terrain ids, not {row!r}; "
                "Board.from_rows takes a drawing"
            )
        rows.append([index.setdefault(_kind(cell), len(index)) for cell in row])
        if len(rows[-1]) != len(rows[0]):
            raise MapError(
                f"row {number} of terrain has {len(rows[-1])} cells, the first has {len(rows[0])}"
            )
    if not rows or not rows[0]:
        raise MapError("a map needs at least one cell, and this terrain has none")
    if len(index) > np.iinfo(np.uint16).max:
        raise MapError(f"a map may hold 65,535 kinds of cells, not {len(index)}")
    return np.array(rows, np.uint16), tuple(index)


def _text_rows(rows: str | Sequence[str], legend: Mapping[str, Any]) -> list[str]:
    """Return the lines of a drawing; of a multi-line string without what only sets it in code."""
    if not isinstance(rows, str):
        return list(rows)
    if any(character.isspace() for character in legend):
        raise MapError(
            "a blank is in the legend, and the indentation of a multi-line string would be cells; "
            "give a list of lines"
        )
    return [line.strip() for line in rows.strip().splitlines()]


def _elevation(elevation: npt.ArrayLike | None) -> npt.NDArray[np.float64]:
    if elevation is None:
        return np.zeros((0, 0))
    try:
        array = np.array(elevation, np.float64)
    except (TypeError, ValueError):
        raise MapError("elevation must be rows of numbers, all of one length") from None
    if array.size and not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise MapError(f"elevation at {place} is {array[place]}; expected a finite number")
    return array


def _light(light: npt.ArrayLike) -> npt.NDArray[np.int8]:
    try:
        array = np.array(light)
    except ValueError:
        raise MapError("light must be a number or rows of numbers, all of one length") from None
    if array.dtype.kind not in "iu":
        raise MapError(f"light must be whole numbers, 0 or negative, not {light!r}")
    if array.size and not (array.min() >= -127 and array.max() <= 0):
        raise CostError(
            "light is the malus of a target, 0 or negative (to -127), not "
            f"{array.max() if array.max() > 0 else array.min()}"
        )
    return (array.reshape(1, 1) if array.ndim == 0 else array).astype(np.int8)


def _relations(relations: Any) -> dict[frozenset[str], str]:
    if relations is None:
        return {}
    found: dict[frozenset[str], str] = {}
    try:
        if isinstance(relations, Mapping):
            entries = [(tuple(sides), relation) for sides, relation in relations.items()]
        else:
            entries = [((one, other), relation) for one, other, relation in relations]
    except (TypeError, ValueError):
        raise RulesError(
            f"relations must map pairs of sides to a relation, or list (side, side, relation), "
            f"not {relations!r}"
        ) from None
    for sides, relation in entries:
        if relation not in RELATIONS or not 1 <= len(sides) <= 2:
            raise RulesError(
                f"a relation names two sides and friend, foe or neutral, not {sides!r}: "
                f"{relation!r}"
            )
        found[frozenset(sides)] = relation
    return found


def _per_cell(array: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[Any]:
    return np.broadcast_to(array, shape)


def _same_kinds(a: Terrain, b: Terrain) -> bool:
    """Tell whether two maps of one shape hold the same in every cell, however they are coded."""
    number = {kind: i for i, kind in enumerate(dict.fromkeys((*a.kinds, *b.kinds)))}
    lookup_a = np.array([number[kind] for kind in a.kinds])
    lookup_b = np.array([number[kind] for kind in b.kinds])
    return bool(np.array_equal(lookup_a[a.codes], lookup_b[b.codes]))

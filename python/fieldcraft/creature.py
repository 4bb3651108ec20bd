"""Who moves on a map: creatures and the tokens that stand for them. Data, no behaviour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fieldcraft.errors import ArgumentTypeError, OutsideMapError, RulesError, nearest
from fieldcraft.lattice import LARGEST_INDEX, Cell
from fieldcraft.units import exact, quantity

__all__ = [
    "BODIES",
    "MODES",
    "SAVES",
    "SIZES",
    "Creature",
    "Relations",
    "Size",
    "Token",
    "as_cell",
    "by_mode",
    "without",
]

Size = Literal["tiny", "small", "medium", "large", "huge", "gargantuan"]
SIZES: tuple[Size, ...] = ("tiny", "small", "medium", "large", "huge", "gargantuan")
MODES = ("walk", "swim", "climb", "burrow", "fly")
"""The ways of moving that may have a speed; ``"land"`` is another name of walking."""
FARTHEST = 1000
"""The longest reach hand to hand, in cells."""
BODIES = (1, 2, 3, 7)
"""How many hexagons a body may cover."""
SAVES = ("reflex", "pure reflex")
"""The saves that terrain asks for."""

Speed = float | str | None


@dataclass(frozen=True, slots=True)
class Creature:
    """A kind of creature: what the rules need to know of its body and its abilities.

    Parameters
    ----------
    name : str
    size : str
        One of tiny, small, medium, large, huge, gargantuan.
    speed : float, str or mapping, optional
        Movement a turn: a number in the rule system's unit, text with a unit (``"9 m"``), or a
        mapping from the way of moving (``"walk"``, ``"swim"``, ...) to either.
        None: no limit is known.
    height : float, optional
        Height in the system's unit of height; by size where absent.
    footing : str
        ``"careful"`` or ``"bold"`` (HW-17).
    climbs : bool
        Whether it climbs boulders and rock formations (HW-18).
    crosses : frozenset of str
        Terrain and border kinds that neither close its way nor cost it more than plain ground.
    untested_by, unharmed_by : frozenset of str
        Terrain kinds whose tests and whose damage it is spared.
    reach : int
        How many cells away it hits hand to hand.
    body : int, optional
        Hexagons it covers: 1, 2, 3 or 7; 1 where absent. On squares its size decides.
    hands_full : bool
        Whether it carries something that takes a hand (SK-07).
    hovers : bool
        Whether it stays in the air when it cannot move (S5-11).
    saves : mapping, optional
        In percent, before modifiers, how often a save succeeds: ``{"reflex": 55, "pure reflex":
        40}``. Of a pure reflex that is not named that of a reflex counts. The rules do not ask;
        `fieldcraft.tactics` values what a step risks by it.
    """

    name: str = "creature"
    size: Size = "medium"
    speed: Speed | Mapping[str, Speed] = None
    height: float | None = None
    footing: Literal["careful", "bold"] = "careful"
    climbs: bool = True
    crosses: frozenset[str] = frozenset()
    untested_by: frozenset[str] = frozenset()
    unharmed_by: frozenset[str] = frozenset()
    reach: int = 1
    body: int | None = None
    hands_full: bool = False
    hovers: bool = False
    saves: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise RulesError(
                f"unknown size {self.size!r} of creature {self.name!r}"
                f"{nearest(str(self.size), SIZES)}; expected one of {', '.join(SIZES)}"
            )
        if self.footing not in ("careful", "bold"):
            raise RulesError(
                f"footing of creature {self.name!r} must be 'careful' or 'bold', "
                f"not {self.footing!r}"
            )
        whole = isinstance(self.reach, int) and not isinstance(self.reach, bool)
        if not whole or not 0 <= self.reach <= FARTHEST:
            raise RulesError(
                f"reach of creature {self.name!r} must be a whole number of cells from 0 to "
                f"{FARTHEST:,}, not {_shown(self.reach)}"
            )
        _check_flags(self, f"creature {self.name!r}", "climbs", "hands_full", "hovers")
        if self.body not in (None, *BODIES):
            raise RulesError(
                f"body of creature {self.name!r} must be {', '.join(map(str, BODIES))} hexagons, "
                f"not {self.body!r}"
            )
        for name in ("crosses", "untested_by", "unharmed_by"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Iterable):
                raise ArgumentTypeError(f"{name} must be a set of names, not {value!r}")
            object.__setattr__(self, name, frozenset(value))
        speeds = by_mode(self.speed, f"creature {self.name!r}")
        if isinstance(self.speed, Mapping):
            object.__setattr__(self, "speed", _FrozenMapping(speeds))
        if self.saves is not None:
            object.__setattr__(self, "saves", _FrozenMapping(_saves(self)))

    @property
    def size_index(self) -> int:
        """The size as a number, tiny being 0."""
        return SIZES.index(self.size)

    def walking_speed(self) -> Speed:
        """Return the speed on foot (of a mapping: ``"walk"``), or None where it is not known.

        Raises
        ------
        RulesError
            If the creature has other speeds and none on foot.
        """
        if not isinstance(self.speed, Mapping):
            return self.speed
        if "walk" not in self.speed:
            raise RulesError(
                f"creature {self.name!r} has no speed 'walk', only {', '.join(self.speed)}; "
                "give a budget"
            )
        return self.speed["walk"]


def _check_flags(owner: Any, whose: str, *names: str) -> None:
    """Raise ArgumentTypeError for a flag that is neither true nor false."""
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, bool):
            if type(value).__name__ not in ("bool", "bool_"):
                raise ArgumentTypeError(
                    f"{name} of {whose} must be true or false, not {_shown(value)}"
                )
            object.__setattr__(owner, name, bool(value))


def _saves(creature: Creature) -> dict[str, float]:
    """Return the saves of a creature, checked."""
    given: Any = creature.saves
    whose = f"creature {creature.name!r}"
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"saves of {whose} must be chances in percent by name, not {_shown(given)}"
        )
    found: dict[str, float] = {}
    for name, chance in given.items():
        if name not in SAVES:
            raise RulesError(
                f"unknown save {name!r} of {whose}{nearest(str(name), SAVES)}; "
                f"expected one of {', '.join(SAVES)}"
            )
        percent = exact(chance, f"save {name!r} of {whose}")
        if not 0 <= percent <= 100:
            raise RulesError(
                f"save {name!r} of {whose} must be a chance from 0 to 100 percent, not "
                f"{_shown(chance)}"
            )
        found[name] = int(percent) if percent.denominator == 1 else float(percent)
    return found


def by_mode(speed: Any, whose: str) -> dict[str, Any]:
    """Return speeds by mode, checked: a single amount is that of walking.

    Raises
    ------
    RulesError, CostError, ArgumentTypeError
        If a mode is unknown, or an amount is malformed.
    """
    given = speed if isinstance(speed, Mapping) else {"walk": speed}
    found: dict[str, Any] = {}
    if not given:
        raise RulesError(f"the speeds of {whose} are empty; expected at least one way of moving")
    for mode, amount in given.items():
        if not isinstance(mode, str):
            raise ArgumentTypeError(f"a way of moving must be a name, not {mode!r}")
        name = "walk" if mode == "land" else mode
        if name not in MODES:
            raise RulesError(
                f"unknown way of moving {mode!r} of {whose}{nearest(mode, MODES)}; "
                f"expected one of {', '.join(MODES)}"
            )
        quantity(amount, f"speed ({mode}) of {whose}")
        found[name] = amount
    return found


class _FrozenMapping(dict[str, Any]):
    """A dictionary that hashes, so that creatures can be keys of a cache."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def _frozen(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("speeds and saves of a creature cannot be changed; make a new Creature")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _frozen

    def __reduce__(self) -> tuple[Any, ...]:
        return (_FrozenMapping, (dict(self),))


@dataclass(frozen=True, slots=True)
class Token:
    """A creature on a board.

    Parameters
    ----------
    creature : Creature
        A name makes a Medium creature of that name.
    cell : tuple of int
        ``(row, col)``; of a large body on squares the top-left cell.
    side : str
        Tokens of one side are friends; of two sides foes, unless the board's relations differ.
    name : str, optional
        The creature's name where absent.
    level : int
        Level above the ground (HW-24).
    helpless, engaged, prone, flying : bool or None
    lets_through : bool
    facing : int
        The direction a body of several hexagons faces (2: its other hexagon; 3: its others lie
        there and one direction further clockwise).
    """

    creature: Creature
    cell: Cell
    side: str = ""
    name: str = ""
    level: int = 0
    helpless: bool = False
    engaged: bool | None = None
    prone: bool = False
    flying: bool = False
    lets_through: bool = True
    facing: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False, hash=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.creature, str):
            object.__setattr__(self, "creature", Creature(self.creature))
        if not isinstance(self.creature, Creature):
            raise ArgumentTypeError(
                f"creature of a token must be a Creature, not {type(self.creature).__name__}"
            )
        object.__setattr__(self, "cell", as_cell(self.cell, f"cell of token {self.label!r}"))
        for name in ("side", "name"):
            if not isinstance(getattr(self, name), str):
                raise ArgumentTypeError(
                    f"{name} of a token must be text, not {_shown(getattr(self, name))}"
                )
        _check_flags(self, f"token {self.label!r}", "helpless", "prone", "flying", "lets_through")
        if self.engaged is not None:
            _check_flags(self, f"token {self.label!r}", "engaged")
        for name, least, most in (("level", 0, 1000), ("facing", 0, 5)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not least <= value <= most:
                raise RulesError(
                    f"{name} of token {self.label!r} must be a whole number from {least} to "
                    f"{most}, not {_shown(value)}"
                )

    @property
    def label(self) -> str:
        """The name to show: the token's own, else the creature's."""
        return self.name or self.creature.name

    def at(self, cell: Cell) -> Token:
        """Return the same token standing on another cell."""
        return replace(self, cell=cell)


@dataclass(frozen=True)
class Relations:
    """What sides are to each other: those named, else one side friend and two sides foes.

    Parameters
    ----------
    named : mapping from frozenset of one or two sides to str
        ``"friend"``, ``"foe"`` or ``"neutral"``.
    """

    named: Mapping[frozenset[str], str] = field(default_factory=dict)

    def __call__(self, side: str, other: str) -> Any:
        """Return what two sides are to each other."""
        return self.named.get(frozenset((side, other))) or ("friend" if side == other else "foe")


def without(tokens: Iterable[Token], token: object) -> list[Token]:
    """Return tokens without one of them, by identity, else by equality; its equals stay."""
    found = list(tokens)
    if token is not None:
        mine = next((i for i, other in enumerate(found) if other is token), None)
        if mine is None and token in found:
            mine = found.index(token)
        if mine is not None:
            del found[mine]
    return found


def _shown(value: Any) -> str:
    """Return a value for a message, cut to a readable length."""
    try:
        text = repr(value)
    except ValueError:  # an integer too long to print
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:80] + "..."


def as_cell(value: Any, what: str = "cell") -> Cell:
    """Return ``(row, col)`` as two plain integers, or raise ArgumentTypeError saying what came.

    A token means the cell it stands on.
    """
    if isinstance(value, Token):
        return value.cell
    try:
        row, col = value
        if isinstance(row, (bool, str, float)) or isinstance(col, (bool, str, float)):
            raise TypeError
        cell = int(row.__index__()), int(col.__index__())
    except (TypeError, ValueError, AttributeError):
        raise ArgumentTypeError(
            f"{what} must be (row, col), two whole numbers, not {_shown(value)}"
        ) from None
    if max(map(abs, cell)) > LARGEST_INDEX:
        raise OutsideMapError(f"{what} lies further out than any map, {LARGEST_INDEX:,}")
    return cell

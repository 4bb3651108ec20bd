"""Rule systems: what is known of games, as data in and fields out.

`get` returns a system by name, `load` reads a user's file that extends one, `register` adds one
of your own. A system is a frozen value; `configure` gives another with other parameters.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, runtime_checkable

from fieldcraft.errors import ArgumentTypeError, RulesError, nearest
from fieldcraft.rules._gaits import Gait, Pace
from fieldcraft.rules._grid import Budget, GridRules
from fieldcraft.rules._table import (
    MAX_BYTES,
    Bold,
    Climb,
    Condition,
    Damage,
    Dice,
    Document,
    Effect,
    Fault,
    Forbids,
    Ground,
    Hidden,
    Knockdown,
    Landing,
    Modifier,
    PerchLevel,
    PerchSearch,
    Raised,
    Save,
    SkillTest,
    Slip,
    Slope,
    TableError,
    TerrainTable,
    TerrainType,
    TwoRolls,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fieldcraft.creature import Creature, Token
    from fieldcraft.fields import SightField, StepField
    from fieldcraft.lattice import Cell, Lattice
    from fieldcraft.rules._charging import Lane, Mark
    from fieldcraft.rules._places import Standing
    from fieldcraft.terrain import Terrain
    from fieldcraft.units import Quantity

__all__ = [
    "Bold",
    "Budget",
    "Climb",
    "Condition",
    "Damage",
    "Dice",
    "Effect",
    "Fault",
    "Forbids",
    "Gait",
    "Ground",
    "Hidden",
    "Knockdown",
    "Landing",
    "Modifier",
    "Pace",
    "PerchLevel",
    "PerchSearch",
    "Raised",
    "Rules",
    "Save",
    "SkillTest",
    "Slip",
    "Slope",
    "TableError",
    "TerrainTable",
    "TerrainType",
    "TwoRolls",
    "get",
    "load",
    "names",
    "register",
    "resolve",
]


@runtime_checkable
class Rules(Protocol):
    """A rule system: compiles a map into fields. Instances are frozen and may be pickled."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def unit(self) -> str:
        """The unit of movement, in the plural: ``points``, ``squares``."""

    @property
    def ticks(self) -> int | Fraction:
        """Ticks in one unit."""

    @property
    def cell_metres(self) -> Fraction | float:
        """Metres across a cell."""

    @property
    def table(self) -> TerrainTable:
        """Its terrains."""

    def configure(self, **parameters: object) -> Rules:
        """Return the same rules with other parameters."""

    def budget(
        self, value: float | str | Fraction | Quantity | None, creature: Creature | None = None
    ) -> Budget:
        """Return a budget in ticks."""

    def check(self, terrain: Terrain) -> None:
        """Raise MapError if the system cannot be played on the map."""

    def step_field(
        self,
        terrain: Terrain,
        creature: Creature,
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Callable[[str, str], Literal["friend", "foe", "neutral"]] = ...,
        pace: Pace | None = None,
    ) -> StepField:
        """Compile the map for a creature that moves."""

    def pace(
        self,
        creature: Creature,
        token: Token | None = None,
        budget: Any = None,
        *,
        limited: bool = True,
    ) -> Pace:
        """Return what a creature may spend by each of its ways of moving."""

    def cells_of(self, token: Token, lattice: Lattice) -> list[Cell]:
        """Return the cells that a token covers."""

    def sight_field(
        self,
        terrain: Terrain,
        viewer: Creature,
        target: Creature,
        *,
        viewer_level: int = 0,
        target_level: int = 0,
    ) -> SightField:
        """Compile the map for a creature that looks at another."""

    def level_of(self, token: Token) -> int:
        """Return on which level above the ground a token is."""

    def distance(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: int = 0
    ) -> float:
        """Return how far apart the cells of two bodies are, in the unit of movement."""

    def distances(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: Any = 0
    ) -> npt.NDArray[np.float64]:
        """Return how far apart cells are, broadcast against each other."""

    def cells_apart(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: Any = 0
    ) -> npt.NDArray[np.int64]:
        """Return how many cells lie between cells, broadcast against each other."""

    def steps_apart(
        self, a: npt.ArrayLike, b: npt.ArrayLike, lattice: Lattice, *, levels: int = 0
    ) -> int:
        """Return how many cells two bodies are apart: 1 when adjacent."""

    def can_hit(self, attacker: Token, target: Token, lattice: Lattice) -> bool:
        """Return whether one token reaches another hand to hand."""

    def footprint(self, creature: Creature, lattice: Lattice, facing: int = 0) -> tuple[Cell, ...]:
        """Return the cells of a body from its anchor: (row, col), or axial (q, r) on hexagons."""

    def standing(
        self,
        terrain: Terrain,
        creature: Creature,
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Callable[[str, str], Literal["friend", "foe", "neutral"]] = ...,
    ) -> Standing:
        """Return where a creature may stand, and its single steps."""

    def charge_lanes(
        self,
        terrain: Terrain,
        creature: Creature,
        cell: Cell,
        marks: Sequence[Mark],
        *,
        token: Token | None = None,
        tokens: Iterable[Token] = (),
        relation: Callable[[str, str], Literal["friend", "foe", "neutral"]] = ...,
    ) -> list[Lane]:
        """Return the lane in which each target can be charged; RulesError where none charges."""

    def effects(self, kind: Sequence[str] | str, *, prone: bool = False) -> tuple[Effect, ...]:
        """Return what a cell of that kind does to who enters, stays or leaves."""

    def effects_at(self, terrain: Terrain, token: Token) -> tuple[Effect, ...]:
        """Return what the place of a token does to it."""

    def glyph(self, kind: Sequence[str] | str) -> tuple[str, str]:
        """Return the character and the colour that draw a cell."""


# The systems that come with Fieldcraft: module and class, imported when asked for.
_SHIPPED: Mapping[str, tuple[str, str]] = {
    "hexwild": ("fieldcraft.rules.hexwild", "Hexwild"),
    "octile": ("fieldcraft.rules.octile", "Octile"),
    "pathfinder": ("fieldcraft.rules.pathfinder", "Pathfinder"),
    "skirmish": ("fieldcraft.rules.skirmish", "Skirmish"),
    "srd5": ("fieldcraft.rules.srd5", "Srd5"),
}
_registered: dict[str, Rules] = {}


def names() -> list[str]:
    """Return the names of all rule systems, in alphabetical order."""
    return sorted({*_SHIPPED, *_registered})


def register(rules: Rules) -> None:
    """Make a rule system known by its name, for `get` and for files that name it.

    Parameters
    ----------
    rules : Rules

    Raises
    ------
    RulesError
        If another system has that name.
    """
    if not isinstance(rules, Rules):
        raise ArgumentTypeError(f"rules must be a rule system, not {type(rules).__name__}")
    known = _registered.get(rules.name)
    if rules.name in _SHIPPED or (known is not None and known != rules):
        raise RulesError(
            f"there is a rule system named {rules.name!r} already; choose another name"
        )
    _registered[rules.name] = rules


def get(name: str, **parameters: object) -> Rules:
    """Return the rule system of that name.

    Parameters
    ----------
    name : str
    **parameters
        Rule parameters that differ from their defaults.

    Raises
    ------
    RulesError
        If there is no such system, with the nearest known name, or no such parameter or value.

    Examples
    --------
    >>> from fieldcraft import rules
    >>> rules.get("hexwild", tie="best-side").tie
    'best-side'
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"the name of a rule system must be text, not {name!r}")
    rules = _registered.get(name)
    if rules is None:
        if name not in _SHIPPED:
            raise RulesError(
                f"unknown rules {name!r}{nearest(name, names())}; known are {', '.join(names())}, "
                f"or give a .toml file"
            )
        module, system = _SHIPPED[name]
        rules = cast(Rules, getattr(import_module(module), system)())
    return rules.configure(**parameters) if parameters else rules


def load(path: str | Path) -> Rules:
    """Read a rules file of your own: terrain and parameters over a known system.

    Keys: ``extends`` (the name of a system), ``name`` (the file's name where absent),
    ``[parameters]``, ``[terrain.ID]`` (new, or single keys over a known one; ``false`` takes a
    section away), ``[borders]`` and ``[perches]``.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Rules

    Raises
    ------
    TableError
        With every fault of the file, each with its line and key; a kind of `RulesError`.
    """
    path = Path(path)
    if "\0" in str(path):
        raise RulesError(f"{str(path)!r} cannot be the name of a rules file")
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise RulesError(f"{path} is no file; expected a rules file")
        if about.st_size > MAX_BYTES:
            raise RulesError(
                f"{path} has {about.st_size} bytes; a rules file has at most {MAX_BYTES}"
            )
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RulesError(f"{path} is no text in UTF-8: byte {error.start} is malformed") from None
    except OSError as error:
        raise RulesError(f"cannot read the rules file {path}: {error.strerror}") from None
    return _extend(Document(text, path.name), path.stem)


def _extend(doc: Document, name: str) -> Rules:
    known = ("extends", "name", "parameters", "terrain", "borders", "perches")
    for key in doc.data:
        if key not in known:
            doc.fault(
                (key,), f"unknown key{nearest(key, known)}; expected one of {', '.join(known)}"
            )
    name = doc.data.get("name", name)
    if not isinstance(name, str) or not name.strip() or name in _SHIPPED:
        doc.fault(("name",), f"expected a name of its own, not {name!r}")
    system = doc.data.get("extends")
    base: Rules | None = None
    if system is None:
        doc.fault((), f"the key extends is missing; expected one of {', '.join(names())}")
    elif system not in names():
        hint = nearest(str(system), names())
        doc.fault(("extends",), f"unknown rules {system!r}{hint}; known are {', '.join(names())}")
    else:
        base = get(system)
        if not isinstance(base, GridRules):
            doc.fault(("extends",), f"{system} cannot be extended by a file")
    if not isinstance(base, GridRules):
        doc.finish()
        raise AssertionError("a document without a system has a fault")
    return base.extended(doc, name)


def resolve(rules: Rules | str | Path) -> Rules:
    """Return a rule system for itself, its name, or the path of a rules file.

    Raises
    ------
    RulesError
        If it is none of these.
    """
    if isinstance(rules, Path) or (isinstance(rules, str) and rules.endswith(".toml")):
        return load(rules)
    if isinstance(rules, str):
        return get(rules)
    if isinstance(rules, Rules):
        return rules
    raise ArgumentTypeError(
        f"rules must be a rule system, its name or a .toml file, not {type(rules).__name__}"
    )

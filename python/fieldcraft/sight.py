"""Sight: whether one cell is seen from another, how well, and everything seen from one cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt

from fieldcraft.creature import as_cell
from fieldcraft.frozen import Frozen, cached_property
from fieldcraft.lattice import Cell
from fieldcraft.path import amount

__all__ = ["HIDDEN", "Passed", "Sight", "SightExplanation", "Sights", "View"]

HIDDEN = -32768
"""The malus of a cell that is not seen, in `View.malus` and the like; the kernel's own is equal."""
LEAST_MALUS = HIDDEN + 1
"""Lower ones are given as this in arrays."""
Line = tuple[npt.NDArray[np.int64], list[tuple[Cell, Cell]]]


class Passed(NamedTuple):
    """One cell of a line, and what it does to it.

    Attributes
    ----------
    cell : tuple of int
    where : str
        ``viewer``, ``between``, ``target``; of a pair ``left`` or ``right``, whichever side
        counted, or ``both``; ``corner`` for a square beside a corner point.
    points : float
        What it takes off, in halves of a point, 0 or more.
    ends : str
        What ends the line here (``opaque``, ``height``, ``border``, ``corner``), or nothing.
    """

    cell: Cell
    where: str
    points: float
    ends: str = ""


_ENDS = {
    "opaque": "opaque, ends the line",
    "height": "high enough to end the line",
    "border": "the border before it ends the line",
    "corner": "the corner passed beside it ends the line",
}


@dataclass(frozen=True, slots=True)
class SightExplanation:
    """A table of the cells of a line, up to where it ends; iteration gives the cells."""

    passed: tuple[Passed, ...]
    obstruction: int | None
    light: int
    malus: int | None

    def __iter__(self) -> Iterator[Passed]:
        return iter(self.passed)

    def __str__(self) -> str:
        rows = [("cell", "where", "points", "")]
        for cell, where, points, ends in self.passed:
            takes = "" if ends else amount(-points)
            rows.append((f"{cell[0]},{cell[1]}", where, takes, _ENDS.get(ends, "")))
        if self.obstruction is not None:
            rows.append(("", "obstruction", str(self.obstruction), ""))
        rows.append(("", "light", str(self.light), ""))
        rows.append(("", "malus", "hidden" if self.malus is None else str(self.malus), ""))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [
            f"{cell:<{widths[0]}}  {where:<{widths[1]}}  {points:>{widths[2]}}  {ends}"
            for cell, where, points, ends in rows
        ]
        return "\n".join(line.rstrip() for line in lines)


class _Lines(Protocol):
    """What can lay a line again: the field it was counted on."""

    def trace(self, viewer: Cell, target: Cell) -> Line:
        """Return the cells of a line and its pairs."""

    def passed(self, viewer: Cell, target: Cell) -> tuple[Passed, ...]:
        """Return what each cell of a line takes off it."""


@dataclass(frozen=True, eq=False)
class Sight(Frozen):
    """One sight line; true when the target is seen.

    Attributes
    ----------
    viewer, target : tuple of int
    visible : bool
    obstruction : int or None
        What the line takes off a shot, 0 or negative, in points; None where something opaque
        ends it. Reported in full beyond the threshold too.
    light : int
        The target's light malus, 0 or negative; no part of what hides it.
    malus : int or None
        Obstruction and light together; None when hidden.
    spell_failure : float or None
        Chance that a spell fails, 0 to 1; None when hidden.
    line : ndarray of int64, shape (n, 2)
        The cells from viewer to target, both included, along the side that counted.
    pairs : list of pairs of cells
        Where the line runs between two hexagons: ``(left, right)`` as one walks to the target.
    """

    viewer: Cell
    target: Cell
    visible: bool
    obstruction: int | None
    light: int
    malus: int | None
    spell_failure: float | None
    _lines: _Lines | None = field(repr=False)

    def __bool__(self) -> bool:
        return self.visible

    def __getstate__(self) -> dict[str, Any]:
        # The line goes along, not the whole map that could trace it again.
        known = {"_traced": self._traced, "_passed": self._passed}
        return {**self.__dict__, **known, "_lines": None}

    @cached_property
    def _traced(self) -> Line:
        if self._lines is None:
            raise AssertionError("a sight that was pickled carries its line")
        return self._lines.trace(self.viewer, self.target)

    @cached_property
    def _passed(self) -> tuple[Passed, ...]:
        if self._lines is None:
            raise AssertionError("a sight that was pickled carries its line")
        return self._lines.passed(self.viewer, self.target)

    @property
    def line(self) -> npt.NDArray[np.int64]:
        """The cells from viewer to target, both included, shape (n, 2)."""
        return self._traced[0]

    @property
    def pairs(self) -> list[tuple[Cell, Cell]]:
        """The pairs of hexagons the line runs between, each ``(left, right)``."""
        return list(self._traced[1])

    def explain(self) -> SightExplanation:
        """Return a table of the line's cells: what each takes off, and what ends the line.

        Halves are summed over the line and rounded up once.

        Examples
        --------
        >>> import fieldcraft as fc
        >>> drawn = {".": "open", "f": "light_forest"}
        >>> board = fc.Board.from_rows(".ff.", drawn, lattice="odd-r", rules="hexwild", light=-2)
        >>> print(board.sight((0, 0), (0, 2)).explain())
        cell  where        points
        0,0   viewer            0
        0,1   between        -0.5
        0,2   target         -0.5
              obstruction      -1
              light            -2
              malus            -3
        """
        return SightExplanation(self._passed, self.obstruction, self.light, self.malus)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sight):
            return NotImplemented
        return self._key == other._key

    __hash__ = None  # type: ignore[assignment]

    @property
    def _key(self) -> tuple[Any, ...]:
        return (
            self.viewer, self.target, self.visible, self.obstruction, self.light, self.malus,
            self.spell_failure,
        )  # fmt: skip


class Counted(Protocol):
    """What tells the answer of a sum: the field it was counted on."""

    @property
    def _limit(self) -> int:
        """The sum of halves that is enough to hide."""

    def _answer(self, viewer: Cell, target: Cell, halves: int, light: int) -> Sight:
        """Return the sight line between two cells for a sum of halves."""

    def spell_failure(self, malus: int) -> float:
        """Return the chance that a spell fails at a malus."""


class Sights(Frozen, Sequence[Sight]):
    """The sight lines of many pairs: a sequence of `Sight` over arrays.

    Items are made when they are asked for. It equals any sequence of the same sights.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n, 2, 2)
        Viewer and target of each.
    visible : ndarray of bool, shape (n,)
    obstruction : ndarray of int16, shape (n,)
        What the line takes off a shot, 0 or negative, in points; HIDDEN where something opaque
        ends it. Sums below HIDDEN + 1 are given as that; `Sight.obstruction` has them in full.
    light : ndarray of int16, shape (n,)
        The target's light malus.
    malus : ndarray of int16, shape (n,)
        Obstruction and light together, to HIDDEN + 1 as well; HIDDEN where the target is hidden.

    Examples
    --------
    >>> import fieldcraft as fc
    >>> sights = fc.hexes.sights([[0, 1, 0.5, 0]], [((0, 0), (0, 2)), ((0, 0), (0, 3))])
    >>> len(sights), sights.malus.tolist(), sights[1].obstruction
    (2, [-2, -2], -2)
    """

    def __init__(
        self,
        pairs: npt.NDArray[np.int64],
        halves: npt.NDArray[np.int32],
        light: npt.NDArray[np.int16],
        fields: tuple[Counted, ...],
        which: npt.NDArray[np.int64] | None = None,
    ) -> None:
        for array in (pairs, halves, light):
            array.flags.writeable = False
        self.pairs, self.light = pairs, light
        self._halves, self._fields, self._which = halves, fields, which

    @cached_property
    def visible(self) -> npt.NDArray[np.bool_]:
        """Whether each target is seen, shape (n,)."""
        limits: Any = np.array([field._limit for field in self._fields], np.int32)
        limits = limits[0] if self._which is None else limits[self._which]
        return _closed(self._halves < limits)

    @cached_property
    def obstruction(self) -> npt.NDArray[np.int16]:
        """What each line takes off a shot, in points, HIDDEN where it is ended, shape (n,)."""
        from fieldcraft_kernel.sight import BLOCKED

        points = np.maximum(-((self._halves + 1) >> 1), LEAST_MALUS)
        return _closed(np.where(self._halves >= BLOCKED, HIDDEN, points).astype(np.int16))

    @cached_property
    def malus(self) -> npt.NDArray[np.int16]:
        """The malus of each target, HIDDEN where it is hidden, shape (n,)."""
        total = np.maximum(self.light - ((self._halves + 1) >> 1), LEAST_MALUS)
        return _closed(np.where(self.visible, total, HIDDEN).astype(np.int16))

    def __len__(self) -> int:
        return len(self._halves)

    @overload
    def __getitem__(self, index: int) -> Sight: ...
    @overload
    def __getitem__(self, index: slice) -> Sights: ...
    def __getitem__(self, index: int | slice) -> Sight | Sights:
        if isinstance(index, slice):
            return self._of(index)
        (viewer, target), halves = self.pairs[index].tolist(), int(self._halves[index])
        field = self._fields[0 if self._which is None else int(self._which[index])]
        return field._answer(tuple(viewer), tuple(target), halves, int(self.light[index]))

    def __iter__(self) -> Iterator[Sight]:
        which = [0] * len(self) if self._which is None else self._which.tolist()
        for (viewer, target), halves, light, place in zip(
            self.pairs.tolist(), self._halves.tolist(), self.light.tolist(), which, strict=True
        ):
            yield self._fields[place]._answer(tuple(viewer), tuple(target), halves, light)

    def _of(self, index: Any) -> Sights:
        """Return some of them, by a slice or an array of places."""
        which = None if self._which is None else self._which[index]
        return Sights(
            self.pairs[index], self._halves[index], self.light[index], self._fields, which
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str | bytes) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Sights({len(self)} pairs, {int(self.visible.sum())} visible)"


def best_sights(parts: Sequence[tuple[Any, Sights]]) -> Sights:
    """Return the best sight of each owner, in the order of their numbers.

    Parts are owners' numbers, one for each sight, and sights; the best is a visible one, of the
    least malus, the first of these.
    """
    kept = [part for part in parts if len(part[1])] or list(parts[:1])
    if len(kept) == 1 and np.array_equal(kept[0][0], np.arange(len(kept[0][1]))):
        return kept[0][1]
    fields: tuple[Counted, ...] = ()
    which = []
    for _, sights in kept:
        own = np.zeros(len(sights), np.int64) if sights._which is None else sights._which
        which.append(own + len(fields))
        fields += sights._fields
    together = Sights(
        np.concatenate([sights.pairs for _, sights in kept]),
        np.concatenate([sights._halves for _, sights in kept]),
        np.concatenate([sights.light for _, sights in kept]),
        fields,
        np.concatenate(which),
    )
    owners = np.concatenate([np.asarray(numbers, np.int64) for numbers, _ in kept])
    loss = (together._halves.astype(np.int64) + 1 >> 1) - together.light
    loss[~together.visible] = np.iinfo(np.int64).max
    order = np.lexsort((loss, owners))
    return together._of(order[np.diff(owners[order], prepend=-1) > 0])


@cache
def _list_seen() -> Any:
    """Return the kernel that lists a view; it is not imported before there is one."""
    from fieldcraft_kernel.views import list_seen

    return list_seen


def _closed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


class View(Frozen):
    """Everything seen from one cell within a radius.

    Attributes
    ----------
    viewer : tuple of int
    radius : int
    cells : ndarray of int64, shape (n, 2)
        The cells seen, row by row; the viewer's own is always among them, with malus 0.
    maluses : ndarray of int16, shape (n,)
        The malus of each, 0 or negative, light included.
    """

    def __init__(
        self,
        viewer: Cell,
        radius: int,
        shape: tuple[int, int],
        cells: npt.NDArray[np.int64],
        maluses: npt.NDArray[np.int16],
    ) -> None:
        for array in (cells, maluses):
            array.flags.writeable = False
        self.viewer, self.radius, self.shape = viewer, radius, shape
        self._n = len(cells)
        self._listed = cells, maluses

    @classmethod
    def _of_window(
        cls,
        viewer: Cell,
        radius: int,
        shape: tuple[int, int],
        window: npt.NDArray[np.int16],
        n_seen: int,
    ) -> View:
        """Return the view of a square of maluses around the viewer; it is listed when asked for."""
        view = cls.__new__(cls)
        view.viewer, view.radius, view.shape = viewer, radius, shape
        view._n, view._window = n_seen, window
        return view

    _window: npt.NDArray[np.int16] | None = None

    @cached_property
    def _listed(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16]]:
        window = self._window
        if window is None:
            raise AssertionError("a view without a window is listed from the start")
        n = self._n
        cells, maluses = np.empty((n, 2), np.int64), np.empty(n, np.int16)
        half = window.shape[0] // 2
        _list_seen()(window, self.viewer[0] - half, self.viewer[1] - half, cells, maluses)
        cells.flags.writeable = maluses.flags.writeable = False
        return cells, maluses

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells seen, row by row, shape (n, 2)."""
        return self._listed[0]

    @property
    def maluses(self) -> npt.NDArray[np.int16]:
        """The malus of each cell seen, shape (n,)."""
        return self._listed[1]

    @cached_property
    def malus(self) -> npt.NDArray[np.int16]:
        """The maluses as a map, shape (height, width); HIDDEN where nothing is seen."""
        array = np.full(self.shape, HIDDEN, np.int16)
        array[self.cells[:, 0], self.cells[:, 1]] = self.maluses
        array.flags.writeable = False
        return array

    @property
    def visible(self) -> npt.NDArray[np.bool_]:
        """Which cells are seen, as a map, shape (height, width)."""
        seen: npt.NDArray[np.bool_] = self.malus != HIDDEN
        return seen

    def __len__(self) -> int:
        return self._n

    def __contains__(self, cell: object) -> bool:
        row, col = as_cell(cell)
        height, width = self.shape
        inside = 0 <= row < height and 0 <= col < width
        return inside and bool(self.malus[row, col] != HIDDEN)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented
        return (
            (self.viewer, self.radius, self.shape) == (other.viewer, other.radius, other.shape)
            and np.array_equal(self.cells, other.cells)
            and np.array_equal(self.maluses, other.maluses)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"View({len(self)} cells from {self.viewer} within {self.radius})"

"""What a designer asks of very many encounters: who sees first, how far, how exposed all are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.encounters.counting import Counts, Tallies
from fieldcraft.encounters.folder import Folder, part_name
from fieldcraft.encounters.rejects import Reject, rejects_of
from fieldcraft.encounters.run import Run
from fieldcraft.encounters.streaming import Tables
from fieldcraft.path import amount

__all__ = [
    "OfBoard", "OfProfile", "OfSide", "OnBoard", "Spread", "Summary", "first_rejects", "rejected",
    "summary",
]  # fmt: skip

Array = npt.NDArray[Any]

MOST_VALUES = 100
"""A histogram with more different values is put into bins."""
MOST_LISTED = 10
"""So many profiles, sides and boards are listed in text."""
THOUSANDTHS = 1000


@dataclass(frozen=True, slots=True)
class Spread:
    """How numbers are spread.

    Attributes
    ----------
    count : int
        How many there are. All else is None, and the histogram empty, where there are none.
    mean, least, most : float or None
    quarter, median, three_quarters : float or None
        The least of the numbers which at least a quarter, a half, three quarters of them do not
        exceed.
    width : float
        Of the bins of the histogram; 0 where it has each value by itself, as with up to 100
        different ones.
    histogram : tuple of (float, int)
        A value, or where a bin begins, and how many there are; by rising value, none of them 0.
    """

    count: int
    mean: float | None = None
    least: float | None = None
    quarter: float | None = None
    median: float | None = None
    three_quarters: float | None = None
    most: float | None = None
    width: float = 0
    histogram: tuple[tuple[float, int], ...] = ()

    @classmethod
    def of(cls, values: Array, counts: Array) -> Spread:
        """Return the spread of rising values, each of which comes so often."""
        if not len(values):
            return cls(0)
        values = values.astype(np.float64)
        total = int(counts.sum())
        up_to = np.cumsum(counts)
        q1, q2, q3 = values[np.searchsorted(4 * up_to, np.arange(1, 4) * total)].tolist()
        mean = math.fsum(values * counts) / total
        least, most = float(values[0]), float(values[-1])
        return cls(total, mean, least, q1, q2, q3, most, *_histogram(values, counts))

    def share(self, value: float) -> float | None:
        """Return which share of the numbers equals a value, of a histogram without bins."""
        return _share(dict(self.histogram).get(value, 0), self.count)


def _histogram(values: Array, counts: Array) -> tuple[float, tuple[tuple[float, int], ...]]:
    """Return values and counts, in bins of 1, 2 or 5 times a power of 10 if there are too many."""
    width = 0.0
    if len(values) > MOST_VALUES:
        rough = 2 * (values[-1] - values[0]) / MOST_VALUES
        scale = 10.0 ** math.floor(math.log10(rough))
        width = next(n * scale for n in (1, 2, 5, 10) if n * scale >= rough)
        bins, inverse = np.unique(np.floor(values / width), return_inverse=True)
        values = (bins * width).round(12)
        counts = np.bincount(inverse, counts).astype(np.int64)
    return width, tuple(zip(values.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class OfSide:
    """How one side stands at the start of its encounters, those in which it has foes.

    Attributes
    ----------
    name : str
    encounters : int
    sees, alone : float
        The share of them in which it sees a foe, and in which it does and no other side does.
    shot_now, shot_after : float
        The share in which one of its tokens can attack at once, and after moving.
    nearest_seen, nearest_shot : Spread
        Of its tokens that see a foe, and of those that can attack at once besides, the distance
        of the nearest foe in sight.
    exposure_before, exposure_after : Spread
        By how many foes its tokens are seen at the start, and at the stop where they are safest.
    unseen_before, unseen_after : float
        The share of its tokens that no foe sees.
    """

    name: str
    encounters: int
    sees: float | None
    alone: float | None
    shot_now: float | None
    shot_after: float | None
    nearest_seen: Spread
    nearest_shot: Spread
    exposure_before: Spread
    exposure_after: Spread
    unseen_before: float | None
    unseen_after: float | None


@dataclass(frozen=True, slots=True)
class OfProfile:
    """What creatures of one profile can do.

    Attributes
    ----------
    name : str
    tokens : int
    reached, stops : Spread
        How many cells they reach within their budget, and where they may stop.
    shot_now, shot_after : float
        The share of them that can attack at once, and after moving.
    stake : Spread
        What their way to the best stop for attack, or else for safety, is expected to cost them.
    at_stake : float
        The share of them for whom that is more than 0.
    """

    name: str
    tokens: int
    reached: Spread
    stops: Spread
    shot_now: float | None
    shot_after: float | None
    stake: Spread
    at_stake: float | None


@dataclass(frozen=True, slots=True)
class OnBoard:
    """How one side stands on one board.

    Attributes
    ----------
    name : str
        Of the side.
    encounters : int
        Those in which it has foes.
    threat : float
        Of all pairs of one of its tokens and one of that token's foes, the share in which the
        token can attack the foe after moving.
    exposed : float
        Of the same pairs, the share in which the foe sees the token where that is safest.
    alone : float
        The share of the encounters in which it sees a foe and no other side does.
    """

    name: str
    encounters: int
    threat: float
    exposed: float
    alone: float


@dataclass(frozen=True, slots=True)
class OfBoard:
    """How unequal the sides are on a board.

    Attributes
    ----------
    name : str
    encounters, opposed : int
        All, and those in which somebody has a foe.
    inequality : float or None
        The largest threat of a side less the smallest; None with less than two sides.
    sides : tuple of OnBoard
    """

    name: str
    encounters: int
    opposed: int
    inequality: float | None
    sides: tuple[OnBoard, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What very many encounters are like.

    A share is a number from 0 to 1, or None of nothing. Distances and prices are in the unit of
    movement of each board; those of boards with several units are put together all the same.
    Whoever is helpless counts as one who sees.

    Attributes
    ----------
    encounters, tokens : int
    opposed : int
        Encounters in which somebody has a foe; the shares of encounters are of these.
    rejected : int or None
        Rows of the input that were set aside; None of tables.
    missing : int or None
        Parts of the run that are not finished, so nothing of them counts; None of tables.
    seen_by_all, seen_by_some, seen_by_none : float
        The share of encounters in which, at the start, each side that has foes sees one of them,
        several sides do and others do not (with three sides or more), and no side does. In the
        rest one side sees first: `OfSide.alone` says which.
    pairs_seen : float
        Of all pairs of a token and a foe of it, the share in which the token sees the foe.
    one_way : float
        Of all pairs of two foes, the share in which just one of them sees the other.
    shot_now, shot_after : float
        The share of encounters in which somebody can attack at once, and after moving.
    first_sight, first_shot : Spread
        Of each encounter the least distance of a foe in sight: of anybody, and of a token that
        can attack at once. Encounters without are left out.
    nearest_seen, nearest_shot, exposure_before, exposure_after, unseen_before, unseen_after
        As in `OfSide`, of all sides together.
    malus_seen : Spread
        The malus of each foe in sight.
    malus_attack : Spread
        The malus of the best attack after moving, of each token that has one.
    sides : tuple of OfSide
    profiles : tuple of OfProfile
    boards : tuple of OfBoard
        The most unequal first.
    """

    encounters: int
    opposed: int
    tokens: int
    rejected: int | None
    missing: int | None
    seen_by_all: float | None
    seen_by_some: float | None
    seen_by_none: float | None
    pairs_seen: float | None
    one_way: float | None
    shot_now: float | None
    shot_after: float | None
    first_sight: Spread
    first_shot: Spread
    nearest_seen: Spread
    nearest_shot: Spread
    exposure_before: Spread
    exposure_after: Spread
    unseen_before: float | None
    unseen_after: float | None
    malus_seen: Spread
    malus_attack: Spread
    sides: tuple[OfSide, ...]
    profiles: tuple[OfProfile, ...]
    boards: tuple[OfBoard, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists and numbers, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(_text(self))


def summary(source: Any) -> Summary:
    """Sum up an analysis: who sees first, how long the first shot is, how exposed the starts are.

    The tables are read in blocks, so memory does not grow with them, but for the number of boards.

    Parameters
    ----------
    source : str, Path, Run, Analysis or (pyarrow.Table, pyarrow.Table)
        The folder of a run, the run, what `analyse` returned, or a table of tokens and a table of
        pairs. Of a run that was cut off the finished parts count.

    Returns
    -------
    Summary
        Prints as a page of text; `Summary.to_dict` has it all.

    Raises
    ------
    RunError
        If there is no run.
    MapError
        If a file cannot be read, or the two tables do not belong together.
    MissingExtraError
        Without pyarrow.

    Examples
    --------
    >>> from fieldcraft import encounters
    >>> made = encounters.generate(20, 7, n_boards=2, shape=(12, 12), tokens=4)
    >>> found = encounters.summary(encounters.analyse(made.encounters, boards=made.boards))
    >>> found.encounters, found.tokens, [side.name for side in found.sides]
    (20, 80, ['blue', 'red'])
    >>> found.exposure_before.most <= 2
    True
    """
    tables = Tables(source)
    counts = Counts()
    for block in tables.blocks():
        counts.add(block)
    names, run = tables.names, tables.run
    pairs, n = counts.pairs, counts.opposed
    before, after = counts.before, counts.after
    return Summary(
        encounters=counts.encounters,
        opposed=n,
        tokens=counts.tokens,
        rejected=None if run is None else sum(rejected(run).values()),
        missing=None if run is None else len(run.missing),
        seen_by_all=_share(counts.seen_by["all"], n),
        seen_by_some=_share(counts.seen_by["some"], n),
        seen_by_none=_share(counts.seen_by["none"], n),
        pairs_seen=_share(pairs["seen"], pairs["foes"]),
        one_way=_share(2 * pairs["one_way"], pairs["foes"]),
        shot_now=_share(counts.shots["now"], n),
        shot_after=_share(counts.shots["after"], n),
        first_sight=_spread(counts.first_sight),
        first_shot=_spread(counts.first_shot),
        nearest_seen=_spread(counts.nearest_seen),
        nearest_shot=_spread(counts.nearest_shot),
        exposure_before=_spread(before),
        exposure_after=_spread(after),
        unseen_before=_unseen(before),
        unseen_after=_unseen(after),
        malus_seen=_spread(counts.malus_seen),
        malus_attack=_spread(counts.malus_attack),
        sides=tuple(sorted(_sides(counts, names["side"]), key=lambda side: side.name)),
        profiles=tuple(sorted(_profiles(counts, names["profile"]), key=lambda some: some.name)),
        boards=_boards(counts, names["board"], names["side"]),
    )


# -- what was set aside -----------------------------------------------------------------------


def rejected(run: Run) -> dict[str, int]:
    """Return how many rows of the input were set aside, by the file below the folder."""
    return {name: data.count(b"\n") for name, data in _rejects(run)}


def first_rejects(run: Run, most: int) -> list[Reject]:
    """Return the first rows of the input that were set aside, without reading all of them."""
    found: list[Reject] = []
    for name, data in _rejects(run):
        lines = data.split(b"\n", most)[:most]
        texts = [line.decode(errors="replace") for line in lines if line]
        found += rejects_of(texts, Folder(run.folder).name_of(name))
        if len(found) >= most:
            break
    return found[:most]


def _rejects(run: Run) -> Iterator[tuple[str, bytes]]:
    """Yield the files of rejects of the finished parts, and what they hold."""
    folder, there = Folder(run.folder), set(run.finished)
    for part in folder.parts("rejects"):
        if part in there:
            name = part_name("rejects", part)
            yield name, folder.get(name) or b""


# -- out of what was counted ------------------------------------------------------------------


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _spread(tallies: Tallies, group: int | None = None) -> Spread:
    return Spread.of(*tallies.result(group))


def _unseen(exposure: Tallies, group: int | None = None) -> float | None:
    """Return the share of tokens whose exposure is 0."""
    values, counts = exposure.result(group)
    return _share(int(counts[values == 0].sum()), int(counts.sum()))


def _sides(counts: Counts, names: Sequence[str]) -> Iterator[OfSide]:
    keys, sums = counts.sides.result()
    for key, (n, sees, alone, now, after) in zip(keys.tolist(), sums.tolist(), strict=True):
        yield OfSide(
            names[key],
            n,
            sees=_share(sees, n),
            alone=_share(alone, n),
            shot_now=_share(now, n),
            shot_after=_share(after, n),
            nearest_seen=_spread(counts.nearest_seen, key),
            nearest_shot=_spread(counts.nearest_shot, key),
            exposure_before=_spread(counts.before, key),
            exposure_after=_spread(counts.after, key),
            unseen_before=_unseen(counts.before, key),
            unseen_after=_unseen(counts.after, key),
        )


def _profiles(counts: Counts, names: Sequence[str]) -> Iterator[OfProfile]:
    keys, sums = counts.profiles.result()
    for key, (n, now, after) in zip(keys.tolist(), sums.tolist(), strict=True):
        values, often = counts.stake.result(key)
        yield OfProfile(
            names[key],
            n,
            reached=_spread(counts.reached, key),
            stops=_spread(counts.stops, key),
            shot_now=_share(now, n),
            shot_after=_share(after, n),
            stake=Spread.of(values / THOUSANDTHS, often),
            at_stake=_share(int(often[values > 0].sum()), n),
        )


def _boards(counts: Counts, names: Sequence[str], sides: Sequence[str]) -> tuple[OfBoard, ...]:
    """Return the boards, the most unequal first, then by name."""
    on: dict[int, list[OnBoard]] = {}
    for board, side, (n, alone, foes, targets, exposed) in counts.sides_of_boards():
        shares = OnBoard(sides[side], n, targets / foes, exposed / foes, alone / n)
        on.setdefault(board, []).append(shares)
    keys, sums = counts.boards.result()
    found = []
    for key, (n, opposed) in zip(keys.tolist(), sums.tolist(), strict=True):
        here = tuple(sorted(on.get(key, ()), key=lambda side: side.name))
        threats = [side.threat for side in here]
        unequal = max(threats) - min(threats) if len(here) > 1 else None
        found.append(OfBoard(names[key], n, opposed, unequal, here))
    found.sort(key=lambda board: (1 if board.inequality is None else -board.inequality, board.name))
    return tuple(found)


# -- text -------------------------------------------------------------------------------------

ORDERED = ("least", "quarter", "median", "three_quarters", "most", "mean")
TITLES = ("least", "quarter", "median", "3 quarters", "most", "mean")


def _text(found: Summary) -> Iterator[str]:
    """Yield the lines of a summary: sections with a title, what is below it indented."""
    yield (
        f"{_counted(found.encounters, 'encounter')} on {_counted(len(found.boards), 'board')}, "
        f"{_counted(found.tokens, 'token')}"
    )
    if found.rejected:
        yield f"  {_counted(found.rejected, 'row')} of the input set aside"
    if found.missing:
        yield f"  {_counted(found.missing, 'part')} of the run not finished, and left out here"
    if found.opposed < found.encounters:
        yield f"  shares of encounters are of the {found.opposed:,} in which somebody has a foe"
    for section in (_who, _how_far, _how_exposed, _what_maluses, _what_profiles, _which_boards):
        yield ""
        yield from section(found)


def _who(found: Summary) -> Iterator[str]:
    yield "Who sees a foe at the start"
    rows = [(f"only {_named(side.name)}", _percent(side.alone)) for side in _some(found.sides)]
    rows.append(("every side", _percent(found.seen_by_all)))
    if found.seen_by_some:
        rows.append(("several sides, not all", _percent(found.seen_by_some)))
    rows.append(("no side", _percent(found.seen_by_none)))
    yield from _table(("", "encounters"), rows)
    yield (
        f"  A token sees {_percent(found.pairs_seen)} of its foes. Of two foes just one sees the "
        f"other in {_percent(found.one_way)}."
    )


def _how_far(found: Summary) -> Iterator[str]:
    yield "How long the first shot is"
    yield (
        f"  Somebody can attack at once in {_percent(found.shot_now)} of the encounters, after "
        f"moving in {_percent(found.shot_after)}."
    )
    rows = [
        ("nearest foe in sight, of an encounter", found.first_sight),
        ("of one who can attack at once", found.first_shot),
    ]
    for side in _some(found.sides):
        name = _named(side.name)
        rows.append((f"nearest foe in sight, of a token of {name}", side.nearest_seen))
        rows.append((f"of one of {name} who can attack at once", side.nearest_shot))
    yield from _table(("distance", "count", *TITLES), [(what, *_figures(it)) for what, it in rows])


def _how_exposed(found: Summary) -> Iterator[str]:
    yield "How exposed the starts are, and how exposed the safest stops"
    rows: list[tuple[str, ...]] = []
    groups: list[tuple[str, Any]] = [(_named(side.name), side) for side in _some(found.sides)]
    for name, group in [*groups, ("all", found)]:
        for when, spread, unseen in (
            ("at the start", group.exposure_before, group.unseen_before),
            ("at the safest stop", group.exposure_after, group.unseen_after),
        ):
            rows.append((f"{name}, {when}", *_figures(spread), _percent(unseen)))
    yield from _table(("foes that see a token", "tokens", *TITLES, "seen by none"), rows)


def _what_maluses(found: Summary) -> Iterator[str]:
    yield "With which malus"
    seen, attack = dict(found.malus_seen.histogram), dict(found.malus_attack.histogram)
    rows = [
        (
            amount(value),
            _percent(_share(seen.get(value, 0), found.malus_seen.count)),
            _percent(_share(attack.get(value, 0), found.malus_attack.count)),
        )
        for value in sorted({*seen, *attack}, reverse=True)
    ]
    yield from _table(("malus", "foes in sight", "best attacks"), rows)


def _what_profiles(found: Summary) -> Iterator[str]:
    yield "What creatures of a profile can do (median, from quarter to three quarters)"
    rows = [
        (
            _named(some.name), str(some.tokens), _middle(some.reached), _middle(some.stops),
            _percent(some.shot_now), _percent(some.shot_after), _number(some.stake.mean),
            _percent(some.at_stake),
        )
        for some in _some(found.profiles)
    ]  # fmt: skip
    titles = ("profile", "tokens", "reached", "stops", "attack now", "after moving", "mean stake",
              "any stake")  # fmt: skip
    yield from _table(titles, rows)
    yield from _more(len(found.profiles))


def _which_boards(found: Summary) -> Iterator[str]:
    yield "Boards, the most unequal first"

    def by_side(board: OfBoard, figure: str) -> str:
        sides = _some(board.sides)
        return ", ".join(f"{_named(side.name)} {_percent(getattr(side, figure))}" for side in sides)

    rows = [
        (
            _named(board.name), str(board.encounters), _percent(board.inequality),
            by_side(board, "threat"), by_side(board, "exposed"),
        )
        for board in _some(found.boards)
    ]  # fmt: skip
    titles = ("board", "encounters", "inequality", "threat", "exposed")
    yield from _table(titles, rows, words=("threat", "exposed"))
    last = [board for board in found.boards if board.inequality is not None][-1:]
    down = [f", down to {_percent(board.inequality)} on {_named(board.name)}" for board in last]
    yield from _more(len(found.boards), "".join(down))


def _more(total: int, what: str = "") -> Iterator[str]:
    """Yield how many rows are not listed, if there are any."""
    if total > MOST_LISTED:
        yield f"  and {total - MOST_LISTED:,} more{what}"


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()
) -> Iterator[str]:
    """Yield rows in columns; the first one and those of words are set to the left."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for row in (titles, *rows):
        cells = [
            text.ljust(width) if not i or titles[i] in words else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  " + "  ".join(cells).rstrip()


def _some(rows: Sequence[Any]) -> Sequence[Any]:
    return rows[:MOST_LISTED]


def _figures(spread: Spread) -> tuple[str, ...]:
    return str(spread.count), *(_number(getattr(spread, name)) for name in ORDERED)


def _middle(spread: Spread) -> str:
    """Return the middle half of the numbers, as words."""
    if not spread.count:
        return "-"
    quarters = f"{_number(spread.quarter)} to {_number(spread.three_quarters)}"
    return f"{_number(spread.median)} ({quarters})"


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word}" + ("" if n == 1 else "s")


def _named(name: str) -> str:
    """Return a name as it can be printed, whatever it holds."""
    return name if name and name.isprintable() else repr(name)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else amount(round(value, 2))

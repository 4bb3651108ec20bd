"""Encounters in, the tables of their tokens and of their pairs out.

Encounters on one board are scored together where the rules allow it (`fieldcraft.turns`), else one
by one (`fieldcraft.encounters.single`); both give the same answers. What of a batch is scored with
what else changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcraft.encounters.boards import Boards
from fieldcraft.encounters.model import FLYING, HELPLESS, PRONE, Encounters, runs_of
from fieldcraft.encounters.scenes import Scene
from fieldcraft.encounters.schema import arrow, pairs_schema, tokens_schema
from fieldcraft.encounters.single import score_one
from fieldcraft.sight import HIDDEN

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Scores", "score", "score_arrays"]

Array = npt.NDArray[Any]
NOWHERE = -1
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it lie far apart in what is left of them beside whole numbers."""


class Scores(NamedTuple):
    """The answers as columns: of tokens and of pairs, each a mapping from name to array.

    Where a column may hold nothing it holds HIDDEN (maluses, obstruction), or -1 (cells).
    """

    tokens: dict[str, Array]
    pairs: dict[str, Array]


TOKEN_COLUMNS: Mapping[str, Any] = {
    "reached": np.int32, "stops": np.int32, "targets_now": np.int16, "targets_after": np.int16,
    "attack_row": np.int32, "attack_col": np.int32, "attack_malus": np.int16,
    "attack_price": np.float32, "safe_row": np.int32, "safe_col": np.int32,
    "exposure_before": np.int16, "exposure_after": np.int16, "malus_before": np.int16,
    "malus_after": np.int16, "expected_stake": np.int64,
}  # fmt: skip
PAIR_COLUMNS: Mapping[str, Any] = {
    "viewer": np.int16, "target": np.int16, "foe": np.bool_, "distance": np.float32,
    "visible": np.bool_, "obstruction": np.int16, "light": np.int16, "malus": np.int16,
    "spell_failure": np.float32,
}  # fmt: skip


def nothing() -> None:
    """Do nothing between two boards."""


def score(
    encounters: Encounters, boards: Boards | Mapping[str, Any], *, pairs: bool = True,
    between: Callable[[], object] = nothing,
) -> tuple[pa.Table, pa.Table]:  # fmt: skip
    """Return the table of tokens and that of pairs, in the columns of `schema`.

    Parameters
    ----------
    encounters : Encounters
        Checked ones: every cell on its board, no two tokens on one.
    boards : Boards
    pairs : bool
        Whether pairs are told; else their table is empty.
    between : callable
        Called every now and then; what it raises ends the work.
    """
    scores = score_arrays(encounters, boards, pairs=pairs, between=between)
    return _tokens_table(encounters, scores.tokens), _pairs_table(encounters, scores.pairs)


def score_arrays(
    encounters: Encounters, boards: Boards | Mapping[str, Any], *, pairs: bool = True,
    between: Callable[[], object] = nothing,
) -> Scores:  # fmt: skip
    """Return the answers as arrays; parameters as in `score`."""
    boards = Boards.of(boards)
    sizes = np.diff(encounters.first)
    until = np.cumsum(sizes * (sizes - 1)) if pairs else np.zeros(len(sizes), np.int64)
    first_pair = np.concatenate([[0], until])
    scores = Scores(
        {name: np.empty(encounters.first[-1], of) for name, of in TOKEN_COLUMNS.items()},
        {name: np.empty(first_pair[-1], of) for name, of in PAIR_COLUMNS.items()},
    )
    order = np.argsort(encounters.board, kind="stable")
    ends = np.searchsorted(encounters.board[order], np.arange(len(encounters.boards) + 1))
    for code in _begun_anywhere(encounters):
        places = order[ends[code] : ends[code + 1]]
        if len(places):
            name = encounters.boards[code]
            _score_board(
                encounters, boards, name, places, first_pair, scores, pairs=pairs, between=between
            )
    return scores


def _begun_anywhere(encounters: Encounters) -> Iterator[int]:
    """Yield the numbers of all boards, from one on that is another for other encounters.

    Parts that are worked on at a time do not wait for each other's scenes then.
    """
    n = len(encounters.boards)
    begin = int(int(encounters.number[0]) * GOLDEN % 1 * n) if len(encounters) else 0
    yield from (*range(begin, n), *range(begin))


def _score_board(
    encounters: Encounters, boards: Boards, name: str, places: Array, first_pair: Array,
    scores: Scores, *, pairs: bool, between: Callable[[], object],
) -> None:  # fmt: skip
    """Score the encounters on one board, given by their places."""
    between()
    scene = boards.scenes.get(name, boards[name], encounters.profiles)
    together = _together(encounters, scene, places)
    if together.any():
        _score_together(encounters, scene, places[together], first_pair, scores, pairs=pairs)
    for i in places[~together].tolist():
        between()
        tokens, of_pairs = score_one(encounters[i], scene, pairs=pairs)
        _put(scores.tokens, slice(encounters.first[i], encounters.first[i + 1]), tokens)
        _put(scores.pairs, slice(first_pair[i], first_pair[i + 1]), of_pairs)


def _put(columns: dict[str, Array], where: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        columns[name][where] = value


def _together(encounters: Encounters, scene: Scene, places: Array) -> npt.NDArray[np.bool_]:
    """Return which encounters are scored together: all on foot, and of kinds that can be."""
    if scene.map is None:
        return np.zeros(len(places), np.bool_)
    tokens, first = runs_of(encounters.first, places)
    odd = (encounters.level[tokens] != 0) | (encounters.flags[tokens] & (PRONE | FLYING) != 0)
    profile = encounters.profile[tokens]
    for kind in np.unique(profile).tolist():
        if scene.mover(kind) is None:
            odd |= profile == kind
    apart: npt.NDArray[np.bool_] = np.logical_or.reduceat(odd, first[:-1])
    return ~apart


def _score_together(
    encounters: Encounters, scene: Scene, places: Array, first_pair: Array, scores: Scores, *,
    pairs: bool,
) -> None:  # fmt: skip
    """Score encounters that share a board in few calls."""
    if scene.map is None:
        raise AssertionError("only a scene with a map scores together")
    tokens, first = runs_of(encounters.first, places)
    profile = encounters.profile[tokens]
    encounter = np.repeat(np.arange(len(places)), np.diff(first))
    crowd = scene.map.crowd(
        first=first, cells=encounters.cells[tokens].astype(np.int64),
        side=encounters.side[tokens], eye=scene.eye_of[profile],
        looks=encounters.flags[tokens] & HELPLESS == 0, light=encounters.light[places],
        foes=_foes(encounters.sides, scene),
    )  # fmt: skip
    ground = encounters.ground[places][encounter]
    for kind in np.unique(profile).tolist():
        own = np.flatnonzero(profile == kind)
        mover = scene.mover(kind)
        if mover is None:
            raise AssertionError("only movers of one layer are scored together")
        movers = np.stack([encounter[own], own, ground[own]], axis=1)
        found = scene.map.turns(crowd, mover, movers)
        found["expected_stake"] = found.pop("stake")
        _put(scores.tokens, tokens[own], found)
    if pairs:
        found = scene.map.pairs(crowd)
        seen, steps = found["visible"], found.pop("steps")
        found["distance"] = steps * scene.cell
        failure = scene.map.spell_failure(np.where(seen, found["malus"], 0))
        found["spell_failure"] = np.where(seen, failure, np.nan)
        _put(scores.pairs, runs_of(first_pair, places)[0], found)


def _foes(sides: tuple[str, ...], scene: Scene) -> Array:
    """Return which sides are foes, shape (sides, sides)."""
    relation = scene.board.relation
    return np.array([[relation(one, other) == "foe" for other in sides] for one in sides])


# -- tables ---------------------------------------------------------------------------------------


def _tokens_table(encounters: Encounters, tokens: Mapping[str, Array]) -> pa.Table:
    """Return the table of tokens."""
    sizes = np.diff(encounters.first)
    of = np.repeat(np.arange(len(sizes)), sizes)
    known: dict[str, Any] = {
        "encounter": encounters.number[of],
        "token": np.arange(len(of)) - encounters.first[:-1][of],
        "board": (encounters.board[of], encounters.boards),
        "profile": (encounters.profile, [profile.name for profile in encounters.profiles]),
        "side": (encounters.side, encounters.sides),
        "row": encounters.cells[:, 0],
        "col": encounters.cells[:, 1],
        **tokens,
    }
    missing = {
        "attack_row": tokens["attack_row"] == NOWHERE,
        "attack_col": tokens["attack_row"] == NOWHERE,
        "attack_malus": tokens["attack_row"] == NOWHERE,
        "attack_price": tokens["attack_row"] == NOWHERE,
        "malus_before": tokens["malus_before"] == HIDDEN,
        "malus_after": tokens["malus_after"] == HIDDEN,
    }
    return _table(tokens_schema(), known, missing)


def _pairs_table(encounters: Encounters, pairs: Mapping[str, Array]) -> pa.Table:
    """Return the table of pairs."""
    sizes = np.diff(encounters.first)
    counts = sizes * (sizes - 1) if len(pairs["viewer"]) else 0 * sizes
    known = {"encounter": np.repeat(encounters.number, counts), **pairs}
    missing = {
        "obstruction": pairs["obstruction"] == HIDDEN,
        "malus": ~pairs["visible"],
        "spell_failure": ~pairs["visible"],
    }
    return _table(pairs_schema(), known, missing)


def _table(schema: pa.Schema, columns: Mapping[str, Any], missing: Mapping[str, Array]) -> pa.Table:
    """Return columns as a table; a pair of codes and words is a dictionary."""
    pa = arrow()
    arrays = []
    for field in schema:
        values = columns[field.name]
        if isinstance(values, tuple):
            codes, words = values
            arrays.append(
                pa.DictionaryArray.from_arrays(
                    pa.array(codes, pa.int32()), pa.array(words, pa.string())
                )
            )
        else:
            array = np.ascontiguousarray(values, field.type.to_pandas_dtype())
            arrays.append(pa.array(array, field.type, mask=missing.get(field.name)))
    return pa.Table.from_arrays(arrays, schema=schema)

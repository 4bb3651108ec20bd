"""One encounter by itself, under any rules: what `fieldcraft.turns` answers for very many."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcraft.creature import Token
from fieldcraft.encounters.model import Encounter
from fieldcraft.encounters.scenes import Scene
from fieldcraft.sight import HIDDEN
from fieldcraft.tactics.options import Options, options

__all__ = ["score_one"]

Columns = dict[str, list[Any]]


def score_one(encounter: Encounter, scene: Scene, *, pairs: bool) -> tuple[Columns, Columns]:
    """Return the columns of the tokens of an encounter, and of its pairs; see `scoring`."""
    known = {profile.name: profile for profile in scene.profiles}
    profiles = [known[one.profile] for one in encounter.tokens]
    tokens = [
        one.token(profile.creature) for one, profile in zip(encounter.tokens, profiles, strict=True)
    ]
    of_tokens: Columns = {}
    light = encounter.conditions.light
    for token, profile in zip(tokens, profiles, strict=True):
        found = options(
            scene.board, token, tokens, weapons=profile.weapons, light=light,
            ground=encounter.conditions.ground,
        )  # fmt: skip
        _add(of_tokens, _summed_up(found))
    return of_tokens, _pairs(scene, tokens, light) if pairs else {}


def _add(columns: Columns, row: dict[str, Any]) -> None:
    for name, value in row.items():
        columns.setdefault(name, []).append(value)


def _summed_up(found: Options) -> dict[str, Any]:
    """Return the answers of one token from all its options."""
    attack, safe = found.best_attack(), found.safest()
    stop = safe if attack is None else attack
    return {
        "reached": len(found.reach),
        "stops": len(found),
        "targets_now": found.n_targets[0],
        "targets_after": np.count_nonzero((found.malus != HIDDEN).any(axis=0)),
        "attack_row": -1 if attack is None else found.cells[attack, 0],
        "attack_col": -1 if attack is None else found.cells[attack, 1],
        "attack_malus": HIDDEN if attack is None else found.best_malus[attack],
        "attack_price": 0.0 if attack is None else found.price[attack],
        "safe_row": found.cells[safe, 0],
        "safe_col": found.cells[safe, 1],
        "exposure_before": found.exposure[0],
        "exposure_after": found.exposure[safe],
        "malus_before": found.exposed_malus[0],
        "malus_after": found.exposed_malus[safe],
        "expected_stake": found.stake[stop],
    }


def _pairs(scene: Scene, tokens: list[Token], light: int | None) -> Columns:
    """Return what each token sees of each other one."""
    board = scene.board
    places = [(a, b) for a in range(len(tokens)) for b in range(len(tokens)) if a != b]
    sights = board.sights([(tokens[a], tokens[b]) for a, b in places], light=light)
    columns: Columns = {}
    for (a, b), sight in zip(places, sights, strict=True):
        failure = sight.spell_failure
        _add(
            columns,
            {
                "viewer": a,
                "target": b,
                "foe": board.relation(tokens[a], tokens[b]) == "foe",
                "distance": board.distance(tokens[a], tokens[b]),
                "visible": sight.visible,
                "obstruction": HIDDEN if sight.obstruction is None
                else max(sight.obstruction, HIDDEN + 1),
                "light": sight.light,
                "malus": HIDDEN if sight.malus is None else sight.malus,
                "spell_failure": np.nan if failure is None else failure,
            },
        )  # fmt: skip
    return columns

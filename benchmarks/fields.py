"""What does it cost to follow a token that moves: compile the field again, or update it?

    python -m benchmarks.fields [--size 256] [--tokens 40] [--moves 20] [--rounds 7] [--systems ...]

For each rule system a board of size x size with walls, difficult ground and other terrain, and
tokens of several sizes on it. One token after the other moves; the field of a Medium and of a Large
creature is compiled afresh and updated, in turn. Each updated field is first compared with the
fresh one: legal steps, prices, stops and the costs of a reach. Prints median times and the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

import fieldcraft as fc

GROUND: dict[str, tuple[str, list[str], list[float]]] = {
    "hexwild": (
        "odd-r",
        ["open", "light_forest", "heavy_forest", "stones", "mud", "deep_water"],
        [0.5, 0.2, 0.1, 0.1, 0.05, 0.05],
    ),
    "pathfinder": ("square", ["open", "difficult", "wall", "pit"], [0.7, 0.15, 0.12, 0.03]),
    "srd5": ("square", ["open", "difficult", "wall", "water"], [0.7, 0.15, 0.1, 0.05]),
    "skirmish": ("square", ["open", "difficult", "wall", "impassable"], [0.7, 0.15, 0.1, 0.05]),
}
SIZES = ("small", "medium", "medium", "large", "huge")


def scene(
    system: str, size: int, n_tokens: int, rng: np.random.Generator
) -> tuple[fc.Board, list[fc.Token]]:
    """Return a random board of a system and the tokens on it."""
    lattice, ids, shares = GROUND[system]
    terrain = np.array(ids)[rng.choice(len(ids), (size, size), p=shares)]
    board = fc.Board(terrain, lattice=lattice, rules=system)
    tokens = []
    for number in range(n_tokens):
        kind = fc.Creature(f"token {number}", size=SIZES[number % len(SIZES)], speed=6)
        row, col = (int(x) for x in rng.integers(0, size - 4, 2))
        tokens.append(fc.Token(kind, (row, col), side="red" if number % 2 else "blue"))
    return board, tokens


def same(a: fc.StepField, b: fc.StepField, start: tuple[int, int]) -> bool:
    """Tell whether two fields are one: their arrays, and what a reach over them answers."""
    arrays = zip(a._graph.arrays, b._graph.arrays, strict=True)
    equal = all(np.array_equal(x, y) for x, y in arrays)
    return equal and a.reach(start, 12) == b.reach(start, 12)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--systems", nargs="+", choices=GROUND, default=list(GROUND))
    options = parser.parse_args()
    rng = np.random.default_rng(20261130)
    print(f"{'system':<11} {'mover':<7} {'compile':>10} {'update':>10}   update / compile")
    for system in options.systems:
        board, tokens = scene(system, options.size, options.tokens, rng)
        movers = {"medium": fc.Creature("mover", speed=6)}
        if system == "hexwild":
            movers["3 hexes"] = fc.Creature("mover", speed=6, body=3)
        else:
            movers["large"] = fc.Creature("mover", speed=6, size="large")
        for name, creature in movers.items():
            compiled, updated = measure(board, creature, tokens, options, rng)
            print(
                f"{system:<11} {name:<7} {compiled * 1e3:>7.2f} ms {updated * 1e3:>7.2f} ms   "
                f"{updated / compiled:.3f}"
            )


def measure(
    board: fc.Board,
    creature: fc.Creature,
    tokens: list[fc.Token],
    options: argparse.Namespace,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the median times of compiling and of updating, in seconds."""

    def compiled(now: list[fc.Token]) -> Any:
        return board.rules.step_field(board.terrain, creature, tokens=now, relation=board.relation)

    times: dict[str, list[float]] = {"compile": [], "update": []}
    field = compiled(tokens)
    for number in range(options.moves):
        moved = list(tokens)
        at = number % len(moved)
        row, col = moved[at].cell
        d_row, d_col = (int(x) for x in rng.integers(-6, 7, 2))
        last = options.size - 5
        cell = (min(max(row + d_row, 0), last), min(max(col + d_col, 0), last))
        moved[at] = moved[at].at(cell)
        fresh = compiled(moved)
        if not same(field.update(moved), fresh, moved[at].cell):
            raise SystemExit(f"{board.rules.name}: the updated field differs from a fresh one")
        for _ in range(options.rounds):
            begin = time.perf_counter()
            compiled(moved)
            middle = time.perf_counter()
            field.update(moved)
            times["update"].append(time.perf_counter() - middle)
            times["compile"].append(middle - begin)
        tokens, field = moved, fresh
    return statistics.median(times["compile"]), statistics.median(times["update"])


if __name__ == "__main__":
    main()

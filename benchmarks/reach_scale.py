"""Does a reach cost its cells, whatever the size of the map?

    python -m benchmarks.reach_scale [--large 10000] [--small 100] [--starts 2000] [--rounds 15]

Reaches of about 75 cells from random starts on a small and on a large map, in turn, through the
public call. Prints the median time of each and the ratio of the medians; the machine's other work
falls on both. Before that, the reach of every tenth start is compared with the same reach on a
crop of the map around it.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import numpy.typing as npt

import fieldcraft as fc

BUDGET = 12
DIAGONALS = (70, 99)
MARGIN = 16
"""More cells than a budget of 12 leads away from its start."""

Costs = npt.NDArray[np.int16]
Closed = npt.NDArray[np.bool_]


def noise(size: int, rng: np.random.Generator) -> tuple[Costs, Closed]:
    """Return entry costs 1 to 4 and 20 % closed cells."""
    cost = rng.integers(1, 5, (size, size), dtype=np.int16)
    return cost, rng.random((size, size), dtype=np.float32) < 0.2


def open_cells(closed: Closed, n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return n random cells that are not closed."""
    starts: list[tuple[int, int]] = []
    while len(starts) < n:
        cell = int(rng.integers(len(closed))), int(rng.integers(len(closed)))
        if not closed[cell]:
            starts.append(cell)
    return starts


def check(field: fc.StepField, cost: Costs, closed: Closed, start: tuple[int, int]) -> None:
    """Compare a reach with the same reach on a crop of the map."""
    low = [max(0, i - MARGIN) for i in start]
    crop = tuple(slice(a, i + MARGIN + 1) for a, i in zip(low, start, strict=True))
    wanted = fc.grid.reach(
        cost[crop],
        (start[0] - low[0], start[1] - low[1]),
        BUDGET,
        closed=closed[crop],
        diagonals=DIAGONALS,
        corners="free",
    )
    found = field.reach(start, BUDGET)
    if not (
        np.array_equal(found.cells - np.array(low), wanted.cells)
        and np.array_equal(found.cost, wanted.cost)
    ):
        raise SystemExit(f"the reach from {start} differs from the same reach on a crop")


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--small", type=int, default=100)
    parser.add_argument("--large", type=int, default=10_000)
    parser.add_argument("--starts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rng = np.random.default_rng(20261130)
    fields: dict[int, fc.StepField] = {}
    starts: dict[int, list[tuple[int, int]]] = {}
    for size in (options.small, options.large):
        cost, closed = noise(size, rng)
        begin = time.perf_counter()
        fields[size] = fc.grid.field(cost, closed=closed, diagonals=DIAGONALS, corners="free")
        print(f"{size} x {size}: field built once in {time.perf_counter() - begin:.2f} s")
        starts[size] = open_cells(closed, options.starts, rng)
        for start in starts[size][::10]:
            check(fields[size], cost, closed, start)
    times: dict[int, list[float]] = {size: [] for size in fields}
    cells: dict[int, int] = {}
    for _ in range(options.rounds):
        for size, field in fields.items():
            begin = time.perf_counter()
            cells[size] = sum(len(field.reach(start, BUDGET)) for start in starts[size])
            times[size].append((time.perf_counter() - begin) / len(starts[size]))
    median = {size: statistics.median(values) for size, values in times.items()}
    for size, value in median.items():
        mean = cells[size] / len(starts[size])
        print(f"{size} x {size}: {value * 1e6:.1f} us a reach of {mean:.1f} cells (median)")
    print(f"ratio large / small: {median[options.large] / median[options.small]:.2f}")


if __name__ == "__main__":
    main()

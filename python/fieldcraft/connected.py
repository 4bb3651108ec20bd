"""Which cells hang together: what proves at once that there is no way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import frozen
from fieldcraft.graph import Graph
from fieldcraft.lattice import Lattice
from fieldcraft_kernel import steps as layout
from fieldcraft_kernel.components import label_components

__all__ = ["SQUARE", "Components", "as_squares", "mainland"]

Array = npt.NDArray[Any]

SQUARE = Lattice("square")


class Components:
    """The weakly connected components of a graph: they prove a no, never a yes.

    All layers and links count as one map: what hangs together in any of them, does so here.

    Parameters
    ----------
    graph : Graph

    Attributes
    ----------
    labels : ndarray of int32, shape (N,)
        Of each padded cell, the number of its component, from 1; 0 where no step enters.
    sizes : ndarray of int64
        How many cells each has.
    """

    def __init__(self, graph: Graph) -> None:
        self._steps = as_squares(graph, all_steps(graph))
        self._beyond = SQUARE.offsets()[0] @ np.array([graph.shape[1] + 2, 1])
        labels = np.empty(graph.n_cells, np.int32)
        self.sizes = label_components(labels, self._steps, graph.shape[1] + 2)
        self.labels = frozen(labels)

    def near(self, cell: int) -> set[int]:
        """Return the labels that a way from a padded cell can lead to.

        Steps lead from a cell that no step enters (in a wall, where a token may stand) as well.
        """
        label = int(self.labels[cell])
        if label:
            return {label}
        mask = int(self._steps[cell])
        return {int(self.labels[cell + to]) for k, to in enumerate(self._beyond) if mask >> k & 1}

    def may_lead(self, start: int, goals: Iterable[int]) -> bool:
        """Tell whether a way may lead from a padded cell to any of others."""
        near, labels = self.near(start), self.labels
        return any(int(labels[goal]) in near for goal in goals)


def all_steps(graph: Graph) -> Array:
    """Return the steps of every row and link as one mask a padded cell, uint8 (N,).

    Of hexagons with their parity, which is the same in all arrays of steps.
    """
    arrays = graph.arrays
    used = np.unique(arrays.rows[:, layout.STEPS])
    links = arrays.links[arrays.links[:, layout.OWN] >= 0]
    if len(used) == 1 and not len(links):
        only: Array = arrays.steps[used[0]]
        return only
    masks: Array = np.bitwise_or.reduce(arrays.steps[used], axis=0)
    for where, own in np.unique(links[:, [layout.CELLS, layout.OWN]], axis=0).tolist():
        steps = arrays.link_steps[own]
        masks |= steps if where < 0 else np.where(arrays.link_cells[where], steps, np.uint8(0))
    return frozen(masks)


def as_squares(graph: Graph, masks: Array) -> Array:
    """Return step masks, uint8 (N,), in the eight directions of squares.

    The neighbours in an offset layout of hexagons are among the eight cells around a cell.
    """
    return _in_squares(graph.lattice, masks)


def _in_squares(lattice: Lattice, masks: Array) -> Array:
    if not lattice.is_hex:
        return masks
    places = [tuple(cell) for cell in SQUARE.offsets()[0].tolist()]
    bits = np.arange(256)
    table = np.zeros(256, np.uint8)
    for parity, offsets in enumerate(lattice.offsets().tolist()):
        mine = (bits >> layout.PARITY_BIT & 1) == parity
        for direction, offset in enumerate(offsets):
            legal = mine & (bits >> direction & 1 > 0)
            table[legal] |= np.uint8(1 << places.index(tuple(offset)))
    return frozen(table[masks])


def mainland(lattice: Lattice, steps: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return the most cells that hang together, shape (height, width).

    Parameters
    ----------
    lattice : Lattice
    steps : ndarray of uint8, shape (height, width)
        Bit k: a step may lead from the cell in direction k, to another cell of the map.
    """
    masks = np.zeros((steps.shape[0] + 2, steps.shape[1] + 2), np.uint8)
    masks[1:-1, 1:-1] = steps
    if lattice.is_hex:
        lines = np.arange(masks.shape[1 if lattice.is_flat else 0]) - 1 & 1
        bits = (lines << layout.PARITY_BIT).astype(np.uint8)
        masks |= bits if lattice.is_flat else bits[:, None]
    labels = np.empty(masks.size, np.int32)
    sizes = label_components(labels, _in_squares(lattice, masks).ravel(), masks.shape[1])
    sizes[0] = 0
    found: npt.NDArray[np.bool_] = labels.reshape(masks.shape)[1:-1, 1:-1] == max(
        int(np.argmax(sizes)), 1
    )
    return found

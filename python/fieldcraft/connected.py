"""Which cells hang together: what proves at once that there is no way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcraft.frozen import frozen
from fieldcraft.graph import Graph
from fieldcraft_kernel import steps as layout
from fieldcraft_kernel.components import label_components

__all__ = ["Components"]

Array = npt.NDArray[Any]


class Components:
    """The weakly connected components of a graph: they prove a no, never a yes.

    All layers and links count as one map: what hangs together in any of them, does so here.

    Parameters
    ----------
    graph : Graph

    Attributes
    ----------
    labels : ndarray of int32, shape (N,)
        Of each padded cell, the first cell of its component; 0 where no step enters.
    """

    def __init__(self, graph: Graph) -> None:
        arrays = graph.arrays
        self._graph = graph
        self._steps = all_steps(graph)
        labels = np.empty(graph.n_cells, np.int32)
        label_components(
            labels, self._steps, graph.shape[1] + 2, graph.lattice.n_directions, arrays.is_hex,
            arrays.offsets, graph.opposite,
        )  # fmt: skip
        self.labels = frozen(labels)

    def near(self, cell: int) -> set[int]:
        """Return the labels that a way from a padded cell can lead to.

        Steps lead from a cell that no step enters (in a wall, where a token may stand) as well.
        """
        label = int(self.labels[cell])
        if label:
            return {label}
        arrays, mask = self._graph.arrays, int(self._steps[cell])
        offsets = arrays.offsets[mask >> layout.PARITY_BIT & arrays.is_hex]
        n = self._graph.lattice.n_directions
        beyond = [cell + int(offsets[k]) for k in range(n) if mask >> k & 1]
        return {int(self.labels[other]) for other in beyond}

    def may_lead(self, start: int, goals: Iterable[int]) -> bool:
        """Tell whether a way may lead from a padded cell to any of others."""
        near, labels = self.near(start), self.labels
        return any(int(labels[goal]) in near for goal in goals)


def all_steps(graph: Graph) -> Array:
    """Return the steps of every row and link as one mask a padded cell, uint8 (N,)."""
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

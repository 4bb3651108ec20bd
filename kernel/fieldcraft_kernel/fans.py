"""The lines from one cell to every target of a disc, as one tree: a fan.

Lines to targets behind one another begin with the same entries (see lines.py), so what a line has
summed up to there is summed once for all of them, and where it is enough to hide, all that lies
behind is left out. The nodes of the tree are listed depth first; each knows how deep it lies and
where the list goes on behind everything that it begins.

A fan depends on the lattice, on how lines are laid and on the radius, not on the map. On hexes its
form does not depend on the viewer's parity either: the nodes hold frame vectors.
"""

from __future__ import annotations

from typing import Any

from fieldcraft_kernel._jit import jit
from fieldcraft_kernel.lines import N_FIELDS, PAIR, line

XL, YL, XR, YR, WHAT = 0, 1, 2, 3, 4
"""Columns of a node: its left and its right cell and what it is, as in lines.py."""
DEPTH, SKIP = 5, 6
"""Further columns of a listed node: how deep it lies, the first entry of a line at 1; the node that
follows all nodes behind this one."""
CHILD, SIBLING = 5, 6
"""Further columns of a node in a tree: its first child and its next sibling, -1 if none."""
N_COLUMNS = 7
TARGET = 3
"""What a node is where a line ends: both its cells are the target, its depth is that of the entry
before it."""


@jit
def grow(is_hex: int, stepped: int, vectors: Any, entries: Any, tree: Any) -> int:
    """Put the lines over frame vectors into a tree of first children and next siblings.

    In: vectors int64 (n, 2), none of them (0, 0). Scratch: entries int64 (m, lines.N_FIELDS).
    Out: tree int32 (nodes, N_COLUMNS), node 0 the viewer. Returns the number of nodes, or -1 if the
    array is too short.
    """
    size = 1
    tree[0, CHILD] = -1
    for i in range(vectors.shape[0]):
        dx, dy = vectors[i, 0], vectors[i, 1]
        n = line(is_hex, stepped, dx, dy, entries)
        entries[n, XL], entries[n, YL] = dx, dy
        entries[n, XR], entries[n, YR] = dx, dy
        entries[n, WHAT] = TARGET
        if size + n + 1 > tree.shape[0]:
            return -1
        at = 0
        for j in range(n + 1):
            last = -1
            found = tree[at, CHILD]
            while found >= 0:
                same = True
                for k in range(N_FIELDS):
                    same = same and tree[found, k] == entries[j, k]
                if same:
                    break
                last = found
                found = tree[found, SIBLING]
            if found < 0:
                found = size
                for k in range(N_FIELDS):
                    tree[found, k] = entries[j, k]
                tree[found, CHILD] = -1
                tree[found, SIBLING] = -1
                if last < 0:
                    tree[at, CHILD] = found
                else:
                    tree[last, SIBLING] = found
                size += 1
            at = found
    return size


@jit
def spread_out(tree: Any, path: Any, nodes: Any) -> int:
    """List a tree depth first.

    In: tree as `grow` made it. Scratch: path int64 (longest line + 2,). Out: nodes int32
    (nodes - 1, N_COLUMNS); the viewer is left out. Returns the depth of the deepest node.
    """
    deepest = 0
    depth = 0
    n = 0
    at = tree[0, CHILD]
    while True:
        while at >= 0:
            for k in range(N_FIELDS):
                nodes[n, k] = tree[at, k]
            if tree[at, WHAT] == TARGET:
                nodes[n, DEPTH] = depth
                nodes[n, SKIP] = n + 1
                n += 1
                at = tree[at, SIBLING]
                continue
            path[depth] = n
            # Until the end is known the column holds where in the tree this node was.
            nodes[n, SKIP] = at
            depth += 1
            nodes[n, DEPTH] = depth
            deepest = max(deepest, depth)
            n += 1
            at = tree[at, CHILD]
        if depth == 0:
            return deepest
        depth -= 1
        at = tree[nodes[path[depth], SKIP], SIBLING]
        nodes[path[depth], SKIP] = n


@jit
def link(nodes: Any, path: Any, before: Any, split: Any) -> None:
    """Tell of each node which one lies before it, and whether its line has two sides.

    In: nodes as `spread_out` made them. Scratch: path int64 (longest line + 2,). Out: before int32
    (n,), -1 behind the viewer; split bool (n,), whether a pair is the node or lies before it.
    """
    path[0] = -1
    for i in range(nodes.shape[0]):
        what, depth = nodes[i, WHAT], nodes[i, DEPTH]
        last = path[depth] if what == TARGET else path[depth - 1]
        before[i] = last
        split[i] = what == PAIR or (last >= 0 and split[last])
        if what != TARGET:
            path[depth] = i

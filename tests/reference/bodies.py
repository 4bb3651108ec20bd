"""Bodies of several cells, cell by cell with sets, straight from the definitions.

Cells lie in the plane as in `graph.COMPASS`; a body is a list of (right, down) from its anchor.
Nothing here uses the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from reference.graph import Cell, cell_at, compass, neighbour, position

Side = tuple[Cell, int]  # a border: the cell one stands on, and the straight direction across it
Body = list[tuple[int, int]]
State = tuple[Cell, int]  # a window and what it is: 0 full, or the number of the class + 1


@dataclass
class Ground:
    """A map for bodies, in sets of cells and borders."""

    lattice: str
    height: int
    width: int
    open: set[Cell] = field(default_factory=set)
    solid: set[Cell] = field(default_factory=set)
    taken: set[Cell] = field(default_factory=set)
    kept: set[Cell] = field(default_factory=set)  # open, but no step may newly cover them
    inner: set[Side] = field(default_factory=set)
    barred: set[Side] = field(default_factory=set)
    corners: str = "both"
    tops: dict[Cell, int] = field(default_factory=dict)
    limit: int = 0
    lifted: set[Side] = field(default_factory=set)

    @property
    def n_straight(self) -> int:
        return 4 if self.lattice.startswith("square") else 6

    @property
    def n_directions(self) -> int:
        return len(compass(self.lattice))

    def cells(self) -> Iterator[Cell]:
        for row in range(self.height):
            for col in range(self.width):
                yield row, col

    def has(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.height and 0 <= cell[1] < self.width

    def beyond(self, cell: Cell, direction: int) -> Cell:
        return neighbour(self.lattice, cell, direction)


def block(n: int) -> Body:
    """Return the body of n x n squares, anchored at the top left."""
    return [(right, down) for down in range(n) for right in range(n)]


def covered(ground: Ground, body: Body, anchor: Cell) -> list[Cell]:
    """Return the cells that a body covers, on the map or off it, in the body's order."""
    x, y = position(ground.lattice, anchor)
    return [cell_at(ground.lattice, x + right, y + down) for right, down in body]


def is_on_map(ground: Ground, body: Body, anchor: Cell) -> bool:
    return all(map(ground.has, covered(ground, body, anchor)))


def is_clean(ground: Ground, body: Body, anchor: Cell) -> bool:
    """Tell whether the place is on the map and no blocking border runs inside it."""
    cells = covered(ground, body, anchor)
    split = any(
        (cell, direction) in ground.inner and ground.beyond(cell, direction) in cells
        for cell in cells
        for direction in range(ground.n_straight)
    )
    return is_on_map(ground, body, anchor) and not split


def fits(ground: Ground, body: Body, anchor: Cell) -> bool:
    return is_clean(ground, body, anchor) and set(covered(ground, body, anchor)) <= ground.open


# ---- Steps -------------------------------------------------------------------------------------


def leading(ground: Ground, body: Body, anchor: Cell, direction: int) -> list[Cell]:
    """Return the cells of the place whose neighbour in that direction lies outside it."""
    cells = covered(ground, body, anchor)
    return [cell for cell in cells if ground.beyond(cell, direction) not in cells]


def crosses_bar(ground: Ground, body: Body, anchor: Cell, direction: int) -> bool:
    return any((c, direction) in ground.barred for c in leading(ground, body, anchor, direction))


def height_of(ground: Ground, body: Body, anchor: Cell) -> int:
    return max(ground.tops[cell] for cell in covered(ground, body, anchor))


def is_legal(ground: Ground, body: Body, anchor: Cell, direction: int) -> bool:
    """Tell whether a body on the map may take the step, whether or not it fits where it is."""
    target = ground.beyond(anchor, direction)
    if not fits(ground, body, target):
        return False
    if ground.kept & set(newly_covered(ground, body, target, direction)):
        return False
    if ground.tops and (anchor, direction) not in ground.lifted:
        rise = height_of(ground, body, target) - height_of(ground, body, anchor)
        if rise >= ground.limit:
            return False
    if direction < ground.n_straight:
        return not crosses_bar(ground, body, anchor, direction)

    i, j = direction - 4, (direction - 3) % 4
    u, v = ground.beyond(anchor, i), ground.beyond(anchor, j)
    if not (is_clean(ground, body, u) and is_clean(ground, body, v)):
        return False
    for place, way in ((anchor, i), (u, j), (anchor, j), (v, i)):
        if crosses_bar(ground, body, place, way):
            return False

    def is_solid(cell: Cell) -> bool:
        if ground.tops and ground.tops[cell] - height_of(ground, body, anchor) >= ground.limit:
            return True
        return cell in ground.solid

    own = covered(ground, body, anchor)
    is_free = [
        not any(is_solid(cell) for cell in covered(ground, body, place) if cell not in own)
        for place in (u, v)
    ]
    return {"both": all(is_free), "either": any(is_free), "free": True}[ground.corners]


def newly_covered(ground: Ground, body: Body, target: Cell, direction: int) -> list[Cell]:
    """Return the cells covered after a step to `target` that were not covered before it."""
    x, y = position(ground.lattice, target)
    right, down = compass(ground.lattice)[direction]
    source = cell_at(ground.lattice, x - right, y - down)
    before = covered(ground, body, source)
    return [cell for cell in covered(ground, body, target) if cell not in before]


# ---- Squeezing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Class:
    """Blocks of a window, by their top-left cells, that cover the same and reach each other."""

    blocks: frozenset[Cell]
    cover: frozenset[Cell]


def hang_together(ground: Ground, start: Iterable[Cell], within: set[Cell]) -> frozenset[Cell]:
    """Return the cells of `within` joined to the start by sides without a blocking border."""
    found, todo = set(start), list(start)
    while todo:
        cell = todo.pop()
        for direction in range(4):
            beyond = ground.beyond(cell, direction)
            if (cell, direction) in ground.inner or beyond not in within or beyond in found:
                continue
            found.add(beyond)
            todo.append(beyond)
    return frozenset(found)


def blocks_reached(ground: Ground, k: int, start: Iterable[Cell], within: set[Cell]) -> set[Cell]:
    """Return the k x k blocks that blocks of the start reach by legal steps inside `within`."""
    body = block(k)
    found, todo = set(start), list(start)
    while todo:
        at = todo.pop()
        for direction in range(ground.n_directions):
            beyond = ground.beyond(at, direction)
            inside = set(covered(ground, body, beyond)) <= within
            if beyond not in found and inside and is_legal(ground, body, at, direction):
                found.add(beyond)
                todo.append(beyond)
    return found


def blocks_in(ground: Ground, n: int, k: int, window: Cell) -> list[Cell]:
    """Return the blocks of a window that fit, row by row."""
    side = range(n - k + 1)
    anchors = [(window[0] + i, window[1] + j) for i in side for j in side]
    return [anchor for anchor in anchors if fits(ground, block(k), anchor)]


def classes(ground: Ground, n: int, k: int, window: Cell) -> list[Class]:
    """Return the classes of a window in order; none if it is full, taken or off the map.

    The cells of `open` are those that are free; creatures that close a cell are not in it.
    """
    if not is_on_map(ground, block(n), window) or fits(ground, block(n), window):
        return []
    cells = set(covered(ground, block(n), window))
    if cells & ground.taken:
        return []
    found: list[Class] = []
    anchors = blocks_in(ground, n, k, window)
    cover = {
        anchor: hang_together(ground, covered(ground, block(k), anchor), cells & ground.open)
        for anchor in anchors
    }
    reached = {anchor: blocks_reached(ground, k, [anchor], cells) for anchor in anchors}
    for anchor in anchors:
        if any(anchor in known.blocks for known in found):
            continue
        alike = frozenset(
            other
            for other in anchors
            if other in reached[anchor]
            and anchor in reached[other]
            and cover[other] == cover[anchor]
        )
        found.append(Class(alike, cover[anchor]))
    return found


def states(ground: Ground, n: int, k: int) -> dict[State, frozenset[Cell]]:
    """Return every place of an n x n body, full or squeezed, with its blocks."""
    found = {}
    for window in ground.cells():
        if fits(ground, block(n), window):
            found[window, 0] = frozenset(blocks_in(ground, n, k, window))
        for i, known in enumerate(classes(ground, n, k, window)):
            found[window, i + 1] = known.blocks
    return found


def squeezed_steps(ground: Ground, n: int, k: int) -> set[tuple[State, State, int]]:
    """Return the steps between places of which at least one is squeezed."""
    places = states(ground, n, k)
    found = set()
    sources = dict(places)
    side = range(n - k + 1)
    for window in ground.cells():
        known = any(place[0] == window for place in places)
        if not known and is_on_map(ground, block(n), window):
            # No place, but whoever stands there may leave it, from all of its blocks.
            sources[window, 0] = frozenset(
                (window[0] + i, window[1] + j) for i in side for j in side
            )
    for (window, which), blocks in sources.items():
        for direction in range(ground.n_directions):
            beyond = ground.beyond(window, direction)
            both = {*covered(ground, block(n), window), *covered(ground, block(n), beyond)}
            goals = [place for place in places if place[0] == beyond and (place[1] or which)]
            if not goals:
                continue
            reached = blocks_reached(ground, k, blocks, both)
            found |= {((window, which), g, direction) for g in goals if places[g] & reached}
    return found

"""Pictures of boards and of answers about them (needs the extra ``plot``).

`draw` puts a board on Matplotlib axes, with a reach, a path, a view or a sight line on it;
`encounters` makes a figure of a summary of encounters; `save` writes a picture to a file. None
keeps any state or opens a window.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcraft.errors import ArgumentTypeError, MapError, MissingExtraError
from fieldcraft.lattice import Cell, Lattice
from fieldcraft.path import amount
from fieldcraft.sight import HIDDEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fieldcraft.board import Board
    from fieldcraft.creature import Token
    from fieldcraft.encounters.summaries import Spread, Summary
    from fieldcraft.path import Path
    from fieldcraft.reach import Reach
    from fieldcraft.sight import Sight, View

__all__ = ["draw", "encounters", "save"]

Floats = npt.NDArray[np.float64]
Colour = tuple[float, float, float]

SIDES = ("#1f5fbf", "#b3261e", "#2e7d32", "#7b3fa0", "#b26a00", "#00798c")
NAMED_SIDES = {"blue": SIDES[0], "red": SIDES[1], "green": SIDES[2], "purple": SIDES[3]}

INK = "#1b1f24"
NIGHT = "#1d2430"
REACH = "#0b57d0"
WAY = "#ffc400"
SEEN, UNSEEN = "#0a8f4d", "#c62828"
LABELLED = 1600
"""A map of at most so many cells has its prices and maluses written in the cells."""
OUTLINED = 6000
"""A map of at most so many cells has lines between its cells."""
CHARTED = 6
"""Charts of encounters show so many sides."""


def draw(
    board: Board,
    *,
    reach: Reach | None = None,
    path: Path | None = None,
    view: View | None = None,
    sight: Sight | None = None,
    values: npt.ArrayLike | None = None,
    label: str = "",
    tokens: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a board, and answers on it.

    Row 0 is on top. What a reach leaves out is pale, what a view does not show is dark. On a map
    of up to 1,600 cells prices and maluses stand in the cells; on a larger one colour tells them.

    Parameters
    ----------
    board : Board
    reach : Reach, optional
        Outlines the cells, with the price of each.
    path : Path, optional
        Draws the way, with its price.
    view : View, optional
        Darkens what is not seen and names the malus of what is.
    sight : Sight, optional
        Draws the line and outlines the cells on it.
    values : array_like of float, shape (height, width), optional
        Colours the cells by any numbers, and writes them where neither a reach nor a view is drawn;
        cells that are NaN or infinite stay as they are.
    label : str
        What these numbers are.
    tokens : bool
        Whether to draw the tokens, as discs in the colour of their side.
    title : str, optional
        The name of the board and of its rules where absent.
    ax : matplotlib.axes.Axes, optional
        Where to draw; axes on a new figure where absent.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    MapError
        If values are of another shape than the board.
    """
    _need_matplotlib()
    canvas = _Canvas(board, ax)
    canvas.ground(_ground(board), reach=reach, view=view)
    canvas.borders()
    if values is not None:
        canvas.values(values, label, write=reach is None and view is None)
    if path is not None:
        canvas.covered |= {(row, col) for row, col in path.cells.tolist()}
    if reach is not None:
        canvas.reach(reach)
    if view is not None:
        canvas.view(view, write=reach is None)
    if sight is not None:
        canvas.sight(sight)
    if path is not None and path:
        canvas.path(path)
    if tokens:
        canvas.tokens(board.tokens)
    canvas.finish(title)
    return canvas.ax


def encounters(summary: Summary, *, title: str | None = None) -> Figure:
    """Draw what very many encounters are like: four charts on one figure.

    They tell who sees a foe at the start, how long the first shot is, and by how many foes tokens
    are seen at the start and at the stop where they are safest, side by side.

    Parameters
    ----------
    summary : fieldcraft.encounters.Summary
    title : str, optional
        How many encounters and tokens there are, where absent.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    _need_matplotlib()
    from matplotlib.figure import Figure

    if not hasattr(summary, "first_shot"):
        raise ArgumentTypeError(f"summary must be a Summary, not {type(summary).__name__}")
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    who, how_far, before, after = figure.subplots(2, 2).ravel()
    hues = colours_of(side.name for side in summary.sides[:CHARTED])
    _chart_who_sees(who, summary, hues)
    _chart_first_shot(how_far, summary, hues)
    _chart_exposure(before, "Foes that see a token at the start", summary, "before", hues)
    _chart_exposure(after, "Foes that see it at its safest stop", summary, "after", hues)
    after.sharey(before)
    after.sharex(before)
    if title is None:
        title = f"{summary.encounters:,} encounters, {summary.tokens:,} tokens"
    figure.suptitle(title, fontsize=11, x=0.01, ha="left", color=INK, parse_math=False)
    return figure


def save(picture: Axes | Figure, path: str | os.PathLike[str], *, dpi: float = 150) -> None:
    """Write a picture to a file, of the kind its name ends in (``.png``, ``.svg``, ``.pdf``).

    Parameters
    ----------
    picture : matplotlib.axes.Axes or matplotlib.figure.Figure
    path : str or path-like
    dpi : float
        Dots per inch.

    Raises
    ------
    MapError
        If the kind of file is unknown, or the file cannot be written.
    """
    figure: Any = getattr(picture, "figure", picture)
    if not hasattr(figure, "savefig"):
        raise ArgumentTypeError(f"picture must be axes or a figure, not {type(picture).__name__}")
    file = FilePath(path)
    if "\0" in str(file):
        raise MapError(f"{str(file)!r} is no name of a file")
    known = sorted(figure.canvas.get_supported_filetypes())
    if file.suffix.lower().removeprefix(".") not in known:
        raise MapError(f"{file}: unknown kind of picture; expected .{', .'.join(known)}")
    try:
        figure.savefig(file, dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=0.15)
    except OSError as error:
        raise MapError(f"{file}: cannot be written ({error.strerror or error})") from None


def _need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "pictures need Matplotlib; install it with: pip install 'fieldcraft[plot]'"
        ) from None


# -- what a drawing and a text map share ------------------------------------------------------


def side_colours(tokens: Iterable[Token]) -> dict[str, str]:
    """Return the colour of the side of each token."""
    return colours_of(token.side for token in tokens)


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Return the colour of each side: its own name's, else the next one that is free."""
    sides = list(dict.fromkeys(names))
    colours = {side: NAMED_SIDES[side.lower()] for side in sides if side.lower() in NAMED_SIDES}
    free = [colour for colour in SIDES if colour not in colours.values()] or list(SIDES)
    others = [side for side in sides if side not in colours]
    colours.update({side: free[i % len(free)] for i, side in enumerate(others)})
    return colours


def letters(tokens: Sequence[Token]) -> list[str]:
    """Return one character for each token: of its name if one is free, else any that is."""
    spare = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    used: set[str] = set()
    found = []
    for token in tokens:
        name = [c for c in token.label.upper() if c.isascii() and c.isalnum()]
        # "Goblin 2" is 2 where G is taken, before it is O.
        wishes = [*name[:1], *(c for c in reversed(name) if c.isdigit()), *name, *spare]
        letter = next((c for c in wishes if c not in used), "?")
        used.add(letter)
        found.append(letter)
    return found


def rgb(colour: str) -> Colour:
    """Return ``#rrggbb`` as three numbers from 0 to 1."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def mixed(colour: str, other: str, share: float) -> str:
    """Return a colour with that share of another in it."""
    mix = (a + (b - a) * share for a, b in zip(rgb(colour), rgb(other), strict=True))
    return "#" + "".join(f"{round(255 * part):02x}" for part in mix)


def ink_on(colour: str) -> str:
    """Return black or white, whichever is read better on a colour."""
    red, green, blue = rgb(colour)
    return "#ffffff" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else INK


# -- charts of encounters ---------------------------------------------------------------------


def _chart_who_sees(ax: Axes, summary: Summary, hues: Mapping[str, str]) -> None:
    """Draw in which share of the encounters who sees a foe."""
    alone = {side.name: side.alone for side in summary.sides}
    bars = [(f"only {_label(name)}", alone[name], hue) for name, hue in hues.items()]
    bars.append(("every side", summary.seen_by_all, SEEN))
    if summary.seen_by_some:
        bars.append(("several sides,\nnot all", summary.seen_by_some, mixed(SEEN, "#ffffff", 0.5)))
    bars.append(("no side", summary.seen_by_none, mixed(NIGHT, "#ffffff", 0.5)))
    names, shares, colours = zip(*bars, strict=True)
    lengths = [100 * (share or 0) for share in shares]
    found = ax.barh(range(len(bars)), lengths, color=list(colours), height=0.7)
    said = ["" if share is None else f" {100 * share:.1f} %" for share in shares]
    ax.bar_label(found, said, fontsize=8, color=INK)
    ax.set_yticks(range(len(bars)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, max(10.0, 1.18 * max(lengths)))
    _frame(ax, "Who sees a foe at the start", "% of encounters", "")


def _chart_first_shot(ax: Axes, summary: Summary, hues: Mapping[str, str]) -> None:
    """Draw how often the nearest foe in sight of one who can attack is how far away."""
    first = summary.first_shot
    gap = _gap(summary.nearest_shot)
    if first.count:
        xs, shares = _shares(first)
        ax.bar(xs + first.width / 2, shares, first.width or gap, color="#d5d9df")
    groups = {side.name: side.nearest_shot for side in summary.sides}
    for name, hue in hues.items():
        if groups[name].count:
            xs, shares = _shares(groups[name])
            ax.plot(xs + groups[name].width / 2, shares, color=hue, lw=1.6, marker=".", ms=5)
    of_tokens = {f"each token of {_label(name)}": hue for name, hue in hues.items()}
    _key(ax, {"first of an encounter": "#d5d9df"} | of_tokens)
    share = "" if summary.shot_now is None else f" (possible in {100 * summary.shot_now:.1f} %)"
    _frame(ax, f"How long the first shot is{share}", "distance of the nearest foe", "% of shots")


def _chart_exposure(
    ax: Axes, title: str, summary: Summary, when: str, hues: Mapping[str, str]
) -> None:
    """Draw which share of the tokens of each side is seen by how many foes."""
    wide = 0.8 / max(len(hues), 1)
    groups = {side.name: getattr(side, f"exposure_{when}") for side in summary.sides}
    for i, (name, hue) in enumerate(hues.items()):
        if groups[name].count:
            xs, shares = _shares(groups[name])
            width = groups[name].width
            span, middle = width or 1, xs + width / 2
            ax.bar(middle + span * ((i + 0.5) * wide - 0.4), shares, span * wide, color=hue)
    _key(ax, {_label(name): hue for name, hue in hues.items()})
    _frame(ax, title, "foes", "% of tokens")


def _shares(spread: Spread) -> tuple[Floats, Floats]:
    """Return the values of a histogram, and how often each comes in per cent."""
    values, counts = np.array(spread.histogram, np.float64).T
    return values, 100 * counts / spread.count


def _gap(spread: Spread) -> float:
    """Return how far apart the nearest two values of a histogram are, 1 at most."""
    values = np.array([value for value, _ in spread.histogram])
    return float(min(np.diff(values), default=1.0))


def _label(name: str) -> str:
    """Return a name as Matplotlib shows it: nothing in it means anything."""
    text = name if name and name.isprintable() else repr(name)
    return text.replace("$", r"\$")


def _key(ax: Axes, hues: Mapping[str, str]) -> None:
    """Say what the colours mean."""
    from matplotlib.patches import Patch

    # A label that begins with an underscore would be left out.
    names = [f" {name}" if name.startswith("_") else name for name in hues]
    if names:
        patches = [Patch(facecolor=hue) for hue in hues.values()]
        ax.legend(patches, names, frameon=False, fontsize=8, handlelength=1.4)


def _frame(ax: Axes, title: str, across: str, up: str) -> None:
    """Set the title and the names of the axes."""
    from matplotlib.ticker import MaxNLocator

    ax.set_title(title, fontsize=10, loc="left", color=INK)
    ax.set_xlabel(across, fontsize=8)
    ax.set_ylabel(up, fontsize=8)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.tick_params(length=0, labelsize=8, colors="#5f6672")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


# -- geometry ---------------------------------------------------------------------------------


def centres(lattice: Lattice, cells: npt.ArrayLike) -> Floats:
    """Return the middles of cells as (x, y), y growing downwards; neighbours are 1 apart."""
    given = np.asarray(cells, np.int64).reshape(-1, 2)
    row, col = given[:, 0], given[:, 1]
    if not lattice.is_hex:
        return np.stack([col, row], axis=1).astype(np.float64)
    line = col if lattice.is_flat else row
    shift = 0.5 * ((line & 1) == lattice.name.startswith("odd"))
    along, across = math.sqrt(3) / 2 * line, (row if lattice.is_flat else col) + shift
    return np.stack([along, across] if lattice.is_flat else [across, along], axis=1)


def corners(lattice: Lattice) -> Floats:
    """Return the corners of a cell round (0, 0), shape (n, 2)."""
    if not lattice.is_hex:
        return np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    angles = np.radians(60.0 * np.arange(6) + (0 if lattice.is_flat else 30))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) / math.sqrt(3)


def edges(lattice: Lattice, inside: npt.NDArray[np.bool_]) -> Floats:
    """Return the edges between cells inside and cells outside a set, shape (n, 2, 2)."""
    padded = np.pad(inside, 1)
    cells = np.argwhere(inside)
    parity, offsets = lattice.parity(cells), lattice.offsets()
    found = []
    for direction in range(lattice.n_straight):
        others = cells + offsets[parity, direction]
        outer = ~padded[others[:, 0] + 1, others[:, 1] + 1]
        found.append(_edge(lattice, cells[outer], others[outer]))
    return np.concatenate(found) if found else np.zeros((0, 2, 2))


def _edge(lattice: Lattice, cells: npt.ArrayLike, others: npt.ArrayLike) -> Floats:
    """Return the edge between each cell and its neighbour, shape (n, 2, 2)."""
    a, b = centres(lattice, cells), centres(lattice, others)
    half = (0.5 / math.sqrt(3)) if lattice.is_hex else 0.5
    middle, along = (a + b) / 2, (b - a)[:, ::-1] * (-half, half)
    return np.stack([middle - along, middle + along], axis=1)


# -- the ground -------------------------------------------------------------------------------


def _ground(board: Board) -> tuple[Floats, dict[str, str]]:
    """Return the colour of each kind of cell's base, shape (kinds, 3), and the legend."""
    terrain, table = board.terrain, board.rules.table
    used = np.unique(terrain.codes)
    bases = np.full((len(terrain.kinds), 3), 0.5)
    names: dict[str, str] = {}
    for code in used.tolist():
        kind = terrain.kinds[code]
        bases[code] = rgb(hue_of(board, kind[0]))
        for id_ in kind:
            names.setdefault(table.find(id_).name, hue_of(board, id_))
    return bases, names


def hue_of(board: Board, id_: str) -> str:
    """Return the colour of a terrain, darker by its number if it has one (``fog:2``)."""
    colour = board.rules.glyph((id_,))[1]
    number = id_.partition(":")[2]
    return mixed(colour, INK, min(0.12 * (int(number) - 1), 0.5)) if number.isdecimal() else colour


class _Canvas:
    """A board on its way onto axes."""

    def __init__(self, board: Board, ax: Axes | None) -> None:
        self.board, self.lattice = board, board.lattice
        self.height, self.width = board.shape
        every = np.indices(board.shape).reshape(2, -1).T
        self.cells, self.points = every, centres(self.lattice, every)
        self.small, self.outlined = len(every) <= LABELLED, len(every) <= OUTLINED
        reach = np.abs(corners(self.lattice)).max(axis=0)
        low, high = self.points.min(axis=0) - reach, self.points.max(axis=0) + reach
        self.low, self.high = low, high
        self.ax = ax if ax is not None else self._new_axes(high - low)
        self.cell_inches = self._cell_inches(high - low)
        self.legend: list[tuple[Any, str]] = []
        self.covered: set[Cell] = {
            cell for token in board.tokens for cell in board.rules.cells_of(token, board.lattice)
        }

    def _new_axes(self, extent: Floats) -> Axes:
        from matplotlib.figure import Figure

        inches = float(np.clip(11 / extent.max(), 0.0, 0.62))
        width, height = np.maximum(extent * inches, 2.2)
        figure = Figure(figsize=(float(width) + 2.4, float(height) + 0.9), layout="constrained")
        return figure.add_subplot()

    def _cell_inches(self, extent: Floats) -> float:
        box = self.ax.get_position()
        figure: Any = self.ax.figure
        size = figure.get_figwidth(), figure.get_figheight()
        room = box.width * size[0] / extent[0], box.height * size[1] / extent[1]
        return float(min(room))

    def font(self, share: float) -> float:
        """Return a font size that takes up that share of a cell."""
        return float(np.clip(72 * self.cell_inches * share, 3.5, 13))

    def polygons(self, points: Floats, scale: float = 1.0) -> Floats:
        return points[:, None, :] + scale * corners(self.lattice)[None]

    def add_polygons(self, points: Floats, colours: Any, scale: float = 1.0, **style: Any) -> None:
        from matplotlib.collections import PolyCollection

        # Outlines in the colour of the cell close the hairline gaps between cells.
        style.setdefault("edgecolors", "face")
        style.setdefault("linewidths", 0.3)
        polygons: Any = self.polygons(points, scale)
        self.ax.add_collection(PolyCollection(polygons, facecolors=colours, **style), autolim=False)

    def ground(
        self, ground: tuple[Floats, dict[str, str]], *, reach: Reach | None, view: View | None
    ) -> None:
        """Draw the cells, then the overlays on them."""
        from matplotlib.patches import Patch

        bases, names = ground
        terrain = self.board.terrain
        codes = terrain.codes.ravel()
        fade = self._fade(reach, view)
        base = _faded(_shaded(bases[codes], terrain.elevation), fade)
        if not self.lattice.is_hex and not self.outlined:
            image = base.reshape(self.height, self.width, 3)
            self.ax.imshow(image, interpolation="nearest", aspect="equal", zorder=1)
        else:
            lines: dict[str, Any] = {"edgecolors": "#0000002e", "linewidths": 0.6}
            self.add_polygons(self.points, base, zorder=1, **(lines if self.outlined else {}))
        for code in np.unique(codes).tolist():
            for layer, id_ in enumerate(terrain.kinds[code][1:]):
                here = codes == code
                colour = np.tile(rgb(hue_of(self.board, id_)), (int(here.sum()), 1))
                shades = _faded(colour, (fade[0][here], fade[1]))
                style: dict[str, Any] = {"edgecolors": "#00000030", "linewidths": 0.5}
                self.add_polygons(
                    self.points[here], shades, 0.66 - 0.2 * layer, zorder=1.5, **style
                )
        for name, hue in names.items():
            self.legend.append((Patch(facecolor=hue, edgecolor="#00000040", linewidth=0.6), name))
        if terrain.has_elevation and np.ptp(terrain.elevation) > 0:
            self.legend.append((_no_mark(), "lighter: higher"))

    def _fade(self, reach: Reach | None, view: View | None) -> tuple[Floats, Colour]:
        """Return how far each cell fades into the background, and into which colour."""
        share = np.zeros(self.board.shape)
        if view is not None:
            share[view.malus == HIDDEN] = 0.66
            return share.ravel(), rgb(NIGHT)
        if reach is not None:
            share[:] = 0.58
            share[tuple(reach.cells.T)] = 0
        return share.ravel(), (1.0, 1.0, 1.0)

    def borders(self) -> None:
        """Draw walls, doors and what else stands between cells."""
        from matplotlib.lines import Line2D

        looks: Mapping[str, tuple[str, Any]] = {
            "wall": (INK, "-"),
            "low_wall": ("#6b6257", "-"),
            "door": ("#8d5524", "-"),
            "drop": ("#37474f", ":"),
            "ladder": ("#8d5524", ":"),
            "price": ("#5c6bc0", "--"),
        }
        width = max(1.2, 72 * self.cell_inches * 0.09)
        for kind, (colour, dash) in looks.items():
            found = [border for border in self.board.terrain.borders if border.kind == kind]
            for is_open in (False, True):
                some = [border for border in found if border.open == is_open]
                if not some:
                    continue
                pairs = np.array([border.cells for border in some])
                self.add_lines(
                    _edge(self.lattice, pairs[:, 0], pairs[:, 1]),
                    colour,
                    width * (0.6 if kind == "low_wall" else 1),
                    linestyles=":" if is_open else dash,
                    zorder=4.15,
                )
                name = kind.replace("_", " ") + (" (open)" if is_open else "")
                dots: Any = ":" if is_open else dash
                self.legend.append((Line2D([], [], color=colour, linestyle=dots, lw=2), name))

    def add_lines(self, lines: Any, colour: str, width: float, **style: Any) -> None:
        from matplotlib.collections import LineCollection

        style.setdefault("capstyle", "round")
        self.ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=width, **style), autolim=False
        )

    def text(self, point: Sequence[float], text: str, size: float, **style: Any) -> None:
        from matplotlib.patheffects import withStroke

        halo = style.pop("halo", "#ffffffb0")
        style.setdefault("color", INK)
        self.ax.text(
            point[0],
            point[1],
            text,
            ha="center",
            va="center_baseline",
            fontsize=size,
            path_effects=[withStroke(linewidth=max(0.8, size / 5), foreground=halo)],
            clip_on=True,
            **style,
        )

    # -- answers ------------------------------------------------------------------------------

    def reach(self, reach: Reach) -> None:
        """Outline a reach and tell the price of each cell."""
        from matplotlib.lines import Line2D

        inside = np.zeros(self.board.shape, bool)
        inside[tuple(reach.cells.T)] = True
        if self.small:
            width = max(1.0, 72 * self.cell_inches * 0.06)
            lines = edges(self.lattice, inside)
            self.add_lines(lines, "#ffffff", 2.2 * width, zorder=4)
            self.add_lines(lines, REACH, width, zorder=4.1)
            texts = [_short(cost) for cost in reach.cost]
            size = self.font(0.36 if max(map(len, texts), default=1) < 4 else 0.27)
            points = centres(self.lattice, reach.cells)
            passed = False
            for cell, point, text, stop in zip(
                reach.cells.tolist(), points, texts, reach.can_stop.tolist(), strict=True
            ):
                if tuple(cell) in self.covered:
                    continue
                passed = passed or not stop
                style: dict[str, Any] = {} if stop else {"style": "italic", "alpha": 0.75}
                self.text(point, text if stop else f"({text})", size, zorder=6, **style)
            self.legend.append((Line2D([], [], color=REACH, lw=2), "within reach"))
            if passed:
                self.legend.append((_no_mark(), "(cost): no stopping"))
        else:
            self._shades(reach.to_array(), f"cost in {self.board.rules.unit}")
            if self.outlined:
                self.add_lines(edges(self.lattice, inside), REACH, 0.8, zorder=4)

    def _shades(self, values: Floats, label: str, cmap: str = "viridis_r") -> None:
        """Tell the numbers of a large map by colour."""
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        known = np.isfinite(values)
        if not known.any():
            return
        norm = Normalize(float(values[known].min()), max(float(values[known].max()), 1e-9))
        scale = ScalarMappable(norm, colormaps[cmap])
        if self.lattice.is_hex or self.outlined:
            colours = scale.to_rgba(values[known], alpha=0.62)
            self.add_polygons(
                self.points[known.ravel()], colours, edgecolors="none", linewidths=0, zorder=2
            )
        else:
            colours = np.zeros((*values.shape, 4))
            colours[known] = scale.to_rgba(values[known], alpha=0.62)
            self.ax.imshow(colours, interpolation="nearest", aspect="equal", zorder=2)
        bar = self.ax.figure.colorbar(
            scale, ax=self.ax, location="bottom", shrink=0.45, aspect=45, pad=0.02
        )
        bar.set_label(label, fontsize=8)
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)

    def values(self, given: npt.ArrayLike, label: str, *, write: bool) -> None:
        """Colour cells by numbers, and write these in them."""
        values = np.asarray(given, np.float64)
        if values.shape != self.board.shape:
            raise MapError(f"values have shape {values.shape}, the board has {self.board.shape}")
        self._shades(values, label, "YlOrRd")
        known = np.isfinite(values)
        if write and self.small:
            texts = [f"{value:.4g}" for value in values[known].tolist()]
            size = self.font(0.34 if max(map(len, texts), default=1) < 4 else 0.25)
            for cell, point, text in zip(
                np.argwhere(known).tolist(), self.points[known.ravel()], texts, strict=True
            ):
                if tuple(cell) not in self.covered:
                    self.text(point, text, size, zorder=6)

    def view(self, view: View, *, write: bool) -> None:
        """Name the malus of what is seen, and mark the viewer."""
        from matplotlib.patches import Patch

        if write and self.small:
            size = self.font(0.34)
            points = centres(self.lattice, view.cells)
            for cell, point, malus in zip(
                view.cells.tolist(), points, view.maluses.tolist(), strict=True
            ):
                if tuple(cell) not in self.covered and tuple(cell) != view.viewer and malus:
                    self.text(point, str(malus), size, zorder=6)
        elif write:
            values = np.where(view.visible, view.malus, np.nan).astype(np.float64)
            if (view.maluses < 0).any():
                self._shades(values, "malus", "YlOrRd_r")
        self.legend.append((Patch(facecolor=mixed("#9aa36a", NIGHT, 0.66)), "not seen"))
        self.ring(view.viewer, INK)

    def ring(self, cell: Cell, colour: str) -> None:
        """Mark a cell with a ring."""
        from matplotlib.patches import Circle

        ((x, y),) = centres(self.lattice, [cell])
        width = max(1.0, 72 * self.cell_inches * 0.06)
        for size, hue in ((2.2 * width, "#ffffff"), (width, colour)):
            self.ax.add_patch(
                Circle((x, y), 0.4, facecolor="none", edgecolor=hue, linewidth=size, zorder=6.5)
            )

    def sight(self, sight: Sight) -> None:
        """Draw a sight line, and outline the cells on it."""
        from matplotlib.lines import Line2D

        on_line = np.zeros(self.board.shape, bool)
        on_line[tuple(sight.line.T)] = True
        for pair in sight.pairs:
            for cell in pair:
                on_line[tuple(cell)] = True
        colour = SEEN if sight.visible else UNSEEN
        width = max(0.8, 72 * self.cell_inches * 0.05)
        self.add_lines(edges(self.lattice, on_line), colour, width, zorder=4.2)
        ends = centres(self.lattice, [sight.viewer, sight.target])
        self.add_lines([ends], "#ffffff", 3 * width, zorder=5)
        self.add_lines([ends], colour, 1.6 * width, linestyles="--", zorder=5.1)
        for cell in (sight.viewer, sight.target):
            self.ring(cell, colour)
        said = f"malus {sight.malus}" if sight.visible else "hidden"
        self.legend.append((Line2D([], [], color=colour, ls="--", lw=2), f"line of sight: {said}"))

    def path(self, path: Path) -> None:
        """Draw a way with a dot for each step and an arrow at its end."""
        from matplotlib.lines import Line2D

        points = centres(self.lattice, path.cells)
        width = max(1.6, 72 * self.cell_inches * 0.1)
        self.add_lines([points], INK, 1.7 * width, zorder=5.2, joinstyle="round")
        self.add_lines([points], WAY, width, zorder=5.3, joinstyle="round")
        if self.small:
            self._totals(path, points)
        else:
            style: dict[str, Any] = {"mfc": WAY, "mec": INK, "mew": 0.8, "ls": "", "zorder": 5.5}
            self.ax.plot(*points[:1].T, marker="o", ms=4 * width, **style)
            self.ax.plot(*points[-1:].T, marker="*", ms=7 * width, **style)
        price = f"path: {amount(round(path.cost, 2))} {self.board.rules.unit}"
        self.legend.append((Line2D([], [], color=WAY, lw=3), price))

    def _totals(self, path: Path, points: Floats) -> None:
        """Put a disc on each cell of a path, with the total up to there; the last one is larger."""
        from matplotlib.patches import Circle

        total = 0.0
        edge = max(0.8, 72 * self.cell_inches * 0.04)
        for i, point in enumerate(points):
            total += path.steps[i - 1].cost if i else 0.0
            last = i == len(points) - 1
            size = 0.36 if last else 0.29
            x, y = float(point[0]), float(point[1])
            self.ax.add_patch(
                Circle((x, y), size, facecolor=WAY, edgecolor=INK, linewidth=edge, zorder=6)
            )
            text = _short(total)
            share = {1: 0.36, 2: 0.3, 3: 0.23}.get(len(text), 0.18)
            style = {"weight": "bold"} if last else {}
            self.text(point, text, self.font(share), halo=WAY, zorder=6.1, **style)

    def tokens(self, tokens: Sequence[Token]) -> None:
        """Draw tokens as discs."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Circle

        hues = side_colours(tokens)
        for token, letter in zip(tokens, letters(tokens), strict=True):
            covered = self.board.rules.cells_of(token, self.lattice)
            x, y = np.mean(centres(self.lattice, covered), axis=0)
            hue = hues[token.side]
            self.ax.add_patch(
                Circle(
                    (x, y),
                    0.36 * len(covered) ** 0.5,
                    facecolor=hue,
                    edgecolor="white",
                    linewidth=max(0.8, 72 * self.cell_inches * 0.045),
                    zorder=7,
                )
            )
            if self.outlined:
                self.ax.text(
                    x,
                    y,
                    letter,
                    color="white",
                    weight="bold",
                    fontsize=self.font(0.4),
                    ha="center",
                    va="center_baseline",
                    zorder=7.1,
                    clip_on=True,
                )
            disc = Line2D([], [], color=hue, marker="o", ls="", ms=7, mec="white")
            side = f" ({token.side})" if token.side else ""
            self.legend.append((disc, f"{letter}  {token.label}{side}"))

    # -- the frame ----------------------------------------------------------------------------

    def finish(self, title: str | None) -> None:
        """Set limits, numbers of rows and columns, title and legend."""
        ax, margin = self.ax, 0.15
        ax.set_aspect("equal")
        ax.set_xlim(self.low[0] - margin, self.high[0] + margin)
        ax.set_ylim(self.high[1] + margin, self.low[1] - margin)
        across = _numbers(self.width)
        down = _numbers(self.height)
        even_out = 0.25 if self.lattice.is_hex else 0.0
        long = math.sqrt(3) / 2
        flat = self.lattice.is_flat
        columns = [long * c for c in across] if flat else [c + even_out for c in across]
        rows = [r + even_out if flat or not self.lattice.is_hex else long * r for r in down]
        ax.set_xticks(columns, [str(c) for c in across])
        ax.set_yticks(rows, [str(r) for r in down])
        ax.xaxis.tick_top()
        ax.tick_params(length=0, labelsize=7, colors="#5f6672")
        for spine in ax.spines.values():
            spine.set_visible(False)
        board = self.board
        if title is None:
            title = f"{board.name} ({board.rules.name})" if board.name else board.rules.name
        ax.set_title(title, fontsize=11, loc="left", color=INK)
        if self.legend:
            handles, labels = zip(*self.legend, strict=True)
            ax.legend(
                list(handles),
                list(labels),
                loc="upper left",
                bbox_to_anchor=(1.01, 1.0),
                borderaxespad=0,
                frameon=False,
                fontsize=8,
                handlelength=1.4,
            )


def _no_mark() -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="")


def _short(cost: float) -> str:
    """Return a price with at most one decimal."""
    return f"{cost:.1f}".removesuffix(".0")


def _shaded(colours: Floats, elevation: npt.NDArray[np.float64]) -> Floats:
    """Return colours with higher ground lighter, if the map has an elevation."""
    if not elevation.size or elevation.max() == elevation.min():
        return colours
    share = (elevation.ravel() - elevation.min()) / (elevation.max() - elevation.min())
    shade = (0.5 * (share - 0.4))[:, None]
    lighter, darker = np.maximum(shade, 0), np.maximum(-shade, 0)
    shaded: Floats = (colours + (1 - colours) * lighter) * (1 - darker)
    return shaded


def _faded(colours: Floats, fade: tuple[Floats, Colour]) -> Floats:
    share, into = fade
    return colours + (np.array(into) - colours) * share[:, None]


def _numbers(n: int) -> list[int]:
    """Return which rows or columns have their number written: all, every second, fifth, ..."""
    step = next(s for s in _steps() if n <= 26 * s)
    return list(range(0, n, step))


def _steps() -> Iterable[int]:
    scale = 1
    while True:
        yield from (scale, 2 * scale, 5 * scale)
        scale *= 10

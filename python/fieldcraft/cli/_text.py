"""Text for people: tables and maps, in colour on a terminal and plain anywhere else.

A line is a list of (text, style) pairs, where a style is what Rich makes of it. Into a pipe goes
the text alone.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, TextIO

import numpy as np
import numpy.typing as npt

from fieldcraft.cli._escape import visible
from fieldcraft.lattice import Cell
from fieldcraft.plot import ink_on, letters, mixed, side_colours

if TYPE_CHECKING:
    from fieldcraft.board import Board
    from fieldcraft.creature import Token

__all__ = ["Line", "MapText", "Screen", "is_terminal", "patience", "spot", "table"]

Line = list[tuple[str, str]]

PIPE_WIDTH, PIPE_TABLE = 100, 120
MAP_HEIGHT = 64
"""How many lines of text a map may have; of a larger one a part is shown."""
STEP_MARK, PLACE_MARK = ">", "@"
BRACKETS = ("[_]", "(_)", "{_}", "<_>")
"""How a token is written in a cell, by its side."""


def is_terminal(stream: TextIO) -> bool:
    """Tell whether somebody looks at the stream."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def patience(seconds: float = 2.0) -> Iterator[None]:
    """Say after some time why it takes so long, to whoever waits at a terminal."""

    def say() -> None:
        print("(the first run on a machine compiles the kernels, once)", file=sys.stderr)

    timer = threading.Timer(seconds, say)
    timer.daemon = True
    if is_terminal(sys.stderr):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Screen:
    """Standard output: with colours where it is a terminal that wants them."""

    def __init__(self) -> None:
        self.colour = is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
        self.width, self.table_width = PIPE_WIDTH, PIPE_TABLE
        if sys.stdout.isatty():
            self.width = self.table_width = shutil.get_terminal_size().columns

    def show(self, lines: Iterable[Line | str] | str = "") -> None:
        """Print lines; text is printed as it is."""
        if isinstance(lines, str):
            lines = [lines]
        rows: list[Line] = [
            [
                (visible(text), style)
                for text, style in ([(line, "")] if isinstance(line, str) else line)
            ]
            for line in lines
        ]
        if not self.colour:
            sys.stdout.writelines("".join(t for t, _ in row).rstrip() + "\n" for row in rows)
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(
            file=sys.stdout, force_terminal=True, highlight=False, markup=False, emoji=False
        )
        for row in rows:
            console.print(Text.assemble(*row), soft_wrap=True)

    def show_table(
        self,
        titles: Sequence[str],
        rows: Iterable[Sequence[str | Sequence[str]]],
        *,
        right: Collection[str] = (),
        wrapped: Collection[str] = (),
    ) -> None:
        """Print a table as wide as the screen at most.

        Parameters
        ----------
        titles : sequence of str
        rows : iterable of sequences of str, or of sequences of str
            The words of each column; a sequence of them is so many lines.
        right, wrapped : collection of str, keyword-only
            Titles of the columns that are set to the right, and of those that may be broken into
            several lines.
        """
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for title in titles:
            grid.add_column(
                title,
                justify="right" if title in right else "left",
                no_wrap=title not in wrapped,
                overflow="fold",
            )
        for row in rows:
            lines = ([cell] if isinstance(cell, str) else cell for cell in row)
            grid.add_row(*(Text("\n".join(map(visible, cell))) for cell in lines))
        console = Console(
            width=max(self.table_width - 2, 20),
            color_system="auto" if self.colour else None,
            force_terminal=self.colour,
            highlight=False,
            markup=False,
            emoji=False,
            file=StringIO(),
        )
        with console.capture() as printed:
            console.print(grid)
        sys.stdout.writelines(f"  {line}".rstrip() + "\n" for line in printed.get().splitlines())


def spot(cell: Iterable[int]) -> str:
    """Return a cell as the command line takes it."""
    row, col = cell
    return f"{row},{col}"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], right: str = "") -> list[Line]:
    """Return a table; columns whose titles are named in `right` are set to the right."""
    body = [[visible(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *body, strict=True)]
    to_right = [title in right.split() for title in titles]

    def line(cells: Sequence[str], style: str) -> Line:
        placed = [
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(cells, widths, to_right, strict=True)
        ]
        return [("  " + "  ".join(placed).rstrip(), style)]

    return [line(titles, "bold"), *(line(row, "") for row in body)]


# -- maps -------------------------------------------------------------------------------------


@dataclass
class MapText:
    """A board as text, one short word a cell.

    Parameters
    ----------
    board : Board
    labels : mapping from cell to str
        What to write behind the character of the terrain: prices, maluses.
    marks : mapping from cell to str
        What to write before it, on a path or a line.
    lit : collection of cells, optional
        The cells that matter; the others are dim. None: all are alike.
    focus : collection of cells
        What must be in sight where the whole map is too large to show.
    """

    board: Board
    labels: Mapping[Cell, str] = field(default_factory=dict)
    marks: Mapping[Cell, str] = field(default_factory=dict)
    lit: Collection[Cell] | None = None
    focus: Collection[Cell] = ()

    def lines(self, width: int) -> list[Line]:
        """Return the map, then what its characters mean."""
        for labelled in (True, False):
            size = self._cell_width(labelled)
            rows, cols = self._window(width, size)
            if self._shows(rows, cols):
                break
        drawn = self._drawn(rows, cols, size, labelled)
        height, total = self.board.shape
        if (len(rows), len(cols)) != (height, total):
            part = (
                f"(rows {rows[0]} to {rows[-1]} of {height}, "
                f"columns {cols[0]} to {cols[-1]} of {total})"
            )
            drawn.append([(part, "italic")])
        return [*drawn, *self._legend(rows, cols, width, labelled)]

    # -- what to show -------------------------------------------------------------------------

    def _cell_width(self, labelled: bool) -> int:
        """Return how many characters a cell gets, the space behind it included."""
        if not labelled:
            return 2 if self.board.lattice.is_hex or self.board.tokens else 1
        hidden = {token.cell for token in self.board.tokens}
        words = max((len(t) for cell, t in self.labels.items() if cell not in hidden), default=0)
        if words or self.marks or self.board.tokens:
            return max(4, 1 + words)
        return 2

    def _window(self, width: int, size: int) -> tuple[range, range]:
        height, total = self.board.shape
        pushed = size // 2 if self.board.lattice.is_hex else 0
        most_cols = max(1, (width - self._margin - pushed) // size)
        most_rows = MAP_HEIGHT // (2 if self.board.lattice.is_flat else 1)
        cells = np.array(list(self.focus) or [(0, 0)])
        return (
            _part(height, most_rows, cells[:, 0], cells[0, 0]),
            _part(total, most_cols, cells[:, 1], cells[0, 1]),
        )

    def _shows(self, rows: range, cols: range) -> bool:
        return all(row in rows and col in cols for row, col in self.focus)

    @property
    def _margin(self) -> int:
        return len(str(self.board.shape[0] - 1)) + 2

    # -- drawing ------------------------------------------------------------------------------

    def _drawn(self, rows: range, cols: range, size: int, labelled: bool) -> list[Line]:
        board, margin = self.board, self._margin
        here = self._tokens(size)
        lines: list[Line] = [self._heading(cols, size)]
        for row in rows:
            number = (f"{row:>{margin - 2}}  ", "dim")
            if not board.lattice.is_flat:
                shift = size // 2 if self._shifted(row) else 0
                line: Line = [number, (" " * shift, "")]
                line += [self._tile((row, col), size, labelled, here) for col in cols]
                lines.append(line)
                continue
            # Columns are pushed down by half a cell: a cell is two lines high, and in the first
            # of a row's two lines stand the columns that are not pushed down.
            upper: Line = [number]
            lower: Line = [(" " * margin, "")]
            for col in cols:
                tile = self._tile((row, col), size, labelled, here)
                above = (row - 1, col) if row > rows[0] else None
                if self._shifted(col):
                    upper.append(self._below(above, size))
                    lower.append(tile)
                else:
                    upper.append(tile)
                    lower.append(self._below((row, col), size))
            lines += [upper, lower]
        if board.lattice.is_flat:
            last = rows[-1]
            halves = [(last, col) if self._shifted(col) else None for col in cols]
            lines.append([(" " * margin, ""), *(self._below(cell, size) for cell in halves)])
        return lines

    def _shifted(self, line: int) -> bool:
        lattice = self.board.lattice
        return lattice.is_hex and (line & 1) == lattice.name.startswith("odd")

    def _heading(self, cols: range, size: int) -> Line:
        every = next(n for n in (1, 2, 5, 10, 20, 50, 100) if n * size > len(str(cols[-1])))
        text = ""
        for col in cols:
            if col % every == 0:
                text = text.ljust(size * (col - cols[0])) + str(col)
        return [(" " * self._margin + text, "dim")]

    def _tile(
        self, cell: Cell, size: int, labelled: bool, here: Mapping[Cell, tuple[str, str]]
    ) -> tuple[str, str]:
        if cell in here:
            text, style = here[cell]
            return text.ljust(size), style
        glyph, colour = self.board.rules.glyph(self.board.terrain.kind(cell))
        label = self.labels.get(cell, "") if labelled else ""
        if cell in self.marks:
            text = self.marks[cell] + (label or glyph.strip(".") if size > 1 else "")
            return text[:size].ljust(size), "bold #1b1f24 on #ffc400"
        if label and glyph == ".":
            glyph = " "  # not a decimal point before the number
        text = glyph + label
        return text[:size].ljust(size), self._style(cell, colour)

    def _below(self, cell: Cell | None, size: int) -> tuple[str, str]:
        """Return the lower half of a cell that is two lines high."""
        if cell is None:
            return " " * size, ""
        return " " * size, self._style(
            cell, self.board.rules.glyph(self.board.terrain.kind(cell))[1]
        )

    def _style(self, cell: Cell, colour: str) -> str:
        if self.lit is not None and cell not in self.lit:
            dark = mixed(colour, "#101418", 0.72)
            return f"{mixed(colour, '#808080', 0.4)} on {dark}"
        return f"{ink_on(colour)} on {colour}"

    def _tokens(self, size: int) -> dict[Cell, tuple[str, str]]:
        tokens = self.board.tokens
        hues, pairs = side_colours(tokens), _brackets(tokens)
        found = {}
        for token, letter in zip(tokens, letters(tokens), strict=True):
            text = pairs[token.side].replace("_", letter) if size > 3 else letter
            found[token.cell] = (text, f"bold #ffffff on {hues[token.side]}")
        return found

    def _legend(self, rows: range, cols: range, width: int, labelled: bool) -> list[Line]:
        board = self.board
        codes = board.terrain.codes[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
        entries: dict[str, tuple[str, str]] = {}
        for code in np.unique(codes).tolist():
            kind = board.terrain.kinds[code]
            glyph, colour = board.rules.glyph(kind)
            entries.setdefault(board.rules.table.find(kind[-1]).name, (glyph, colour))
        parts: list[Line] = [
            [(f" {glyph} ", f"{ink_on(colour)} on {colour}"), (f" {visible(name)}", "")]
            for name, (glyph, colour) in entries.items()
        ]
        hues, pairs = side_colours(board.tokens), _brackets(board.tokens)
        size = self._cell_width(labelled)
        for token, letter in zip(board.tokens, letters(board.tokens), strict=True):
            sign = (pairs[token.side] if size > 3 else " _ ").replace("_", letter)
            side = f" ({visible(token.side)})" if token.side else ""
            style = f"bold #ffffff on {hues[token.side]}"
            parts.append([(sign, style), (f" {visible(token.label)}{side}", "")])
        return _flowing(parts, width)


def _part(total: int, most: int, wanted: npt.NDArray[np.int64], first: int) -> range:
    """Return which rows or columns to show: all, or those round what is wanted."""
    if total <= most:
        return range(total)
    low, high = int(wanted.min()), int(wanted.max())
    middle = (low + high) // 2 if high - low < most else int(first)
    begin = min(max(middle - most // 2, 0), total - most)
    return range(begin, begin + most)


def _brackets(tokens: Iterable[Token]) -> dict[str, str]:
    sides = list(dict.fromkeys(token.side for token in tokens))
    return {side: BRACKETS[i % len(BRACKETS)] for i, side in enumerate(sides)}


def _flowing(parts: Iterable[Line], width: int) -> list[Line]:
    """Return short pieces, as many on each line as fit."""
    lines: list[Line] = [[("  ", "")]]
    used = 2
    for part in parts:
        size = sum(len(text) for text, _ in part) + 2
        if used + size > width and used > 2:
            lines.append([("  ", "")])
            used = 2
        lines[-1] += [*part, ("  ", "")]
        used += size
    return lines if used > 2 else []

"""Pictures: every cell in its place and colour, what is drawn on it, and where it is written to."""

import subprocess
import sys

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import plot
from fieldcraft.lattice import LATTICES, Lattice

pytest.importorskip("matplotlib")

HEXES = [name for name in LATTICES if not name.startswith("square")]
LEGEND = {".": "open", "f": "light_forest", "F": "heavy_forest", "~": "mud", "%": ["open", "fog:2"]}
ROWS = "..fF%\n.~fF.\n..~..\n....."


def hexboard(lattice="odd-r", rows=ROWS, **options):
    return fc.Board.from_rows(rows, LEGEND, lattice=lattice, rules="hexwild", **options)


def hall(**options):
    legend = {".": "open", "#": "wall", "~": "difficult", "o": "pit"}
    return fc.Board.from_rows("...#\n.~.#\n..o.", legend, rules="pathfinder", **options)


def boards():
    return [hexboard(lattice) for lattice in HEXES] + [hall(), hall(lattice="square4")]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def pixels(ax, cells):
    """Return the colour in the middle of each cell, as drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = ax.figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba())[..., :3] / 255
    places = ax.transData.transform(cells).round().astype(int)
    return image[image.shape[0] - 1 - places[:, 1], places[:, 0]]


# -- geometry


@pytest.mark.parametrize("name", LATTICES)
def test_neighbours_are_one_apart_and_share_an_edge(name):
    lattice = Lattice(name)
    shape = plot.corners(lattice)
    for cell in [(3, 3), (3, 4), (4, 3), (4, 4)]:
        ((x, y),) = plot.centres(lattice, [cell])
        straight = lattice.neighbors(cell)[: lattice.n_straight]
        for other in straight:
            ((u, v),) = plot.centres(lattice, [other])
            assert np.hypot(u - x, v - y) == pytest.approx(1)
            mine, theirs = shape + np.array([x, y]), shape + np.array([u, v])
            gaps = np.linalg.norm(mine[:, None] - theirs[None], axis=2)
            assert (gaps < 1e-9).sum() == 2


@pytest.mark.parametrize("name", LATTICES)
def test_directions_point_where_they_say(name):
    """Direction 0 leads up; rows grow downwards."""
    lattice = Lattice(name)
    here, there = plot.centres(lattice, [(4, 4), lattice.neighbor((4, 4), 0)])
    assert there[1] < here[1]
    straight_up = not lattice.is_hex or lattice.is_flat
    assert there[0] - here[0] == (0 if straight_up else 0.5)


@pytest.mark.parametrize("name", LATTICES)
def test_edges_of_a_set(name):
    lattice = Lattice(name)
    inside = np.zeros((5, 5), bool)
    inside[2, 2] = True
    one = plot.edges(lattice, inside)
    assert len(one) == lattice.n_straight
    ends = {tuple(point) for point in one.reshape(-1, 2).round(9)}
    middle = plot.centres(lattice, [(2, 2)])
    assert ends == {tuple(point) for point in (plot.corners(lattice) + middle).round(9) + 0.0}
    inside[lattice.neighbor((2, 2), 1)] = True
    assert len(plot.edges(lattice, inside)) == 2 * (lattice.n_straight - 1)
    assert len(plot.edges(lattice, np.zeros((3, 3), bool))) == 0
    corner = np.zeros((2, 2), bool)
    corner[0, 0] = True  # its neighbours are partly off the map
    assert len(plot.edges(lattice, corner)) == lattice.n_straight


# -- what is drawn


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.lattice.name)
def test_every_cell_has_its_colour_in_its_place(board):
    ax = plot.draw(board)
    plain = [
        cell
        for cell in np.ndindex(board.shape)
        if len(board.terrain.kind(cell)) == 1
    ]  # fmt: skip
    colours = [plot.rgb(board.rules.glyph(board.terrain.kind(cell))[1]) for cell in plain]
    found = pixels(ax, plot.centres(board.lattice, plain))
    np.testing.assert_allclose(found, colours, atol=0.02)
    assert ax.get_aspect() == 1
    assert ax.yaxis_inverted()


def test_an_overlay_lies_on_its_base():
    board = hexboard()
    ax = plot.draw(board)
    ((x, y),) = plot.centres(board.lattice, [(0, 4)])
    middle, rim = pixels(ax, [(x, y), (x, y + 0.48)])
    np.testing.assert_allclose(middle, plot.rgb(plot.hue_of(board, "fog:2")), atol=0.02)
    np.testing.assert_allclose(rim, plot.rgb(board.rules.glyph(("open",))[1]), atol=0.02)


def test_more_fog_is_darker():
    board = hexboard()
    shades = [sum(plot.rgb(plot.hue_of(board, id_))) for id_ in ("fog", "fog:2", "fog:3", "fog:99")]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == 4


def test_the_legend_names_the_terrain_that_is_there():
    assert names(plot.draw(hexboard())) == [
        "open ground", "light forest", "heavy forest", "fog 2", "mud",
    ]  # fmt: skip
    assert names(plot.draw(hexboard(rows="...\n..."))) == ["open ground"]


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.lattice.name)
def test_reach_shows_each_price(board):
    reach = board.reach((2, 0), budget=3)
    ax = plot.draw(board, reach=reach)
    shown = sorted(float(text) for text in texts(ax))
    assert shown == sorted(reach.cost.tolist())
    # What is left out is paler.
    outside = [cell for cell in np.ndindex(board.shape) if cell not in reach]
    outside = [cell for cell in outside if len(board.terrain.kind(cell)) == 1]
    found = pixels(ax, plot.centres(board.lattice, outside))
    colours = [plot.rgb(board.rules.glyph(board.terrain.kind(cell))[1]) for cell in outside]
    assert (found > np.array(colours) + 0.05).any(axis=1).all()


def test_where_nobody_may_stop_the_price_is_in_brackets():
    red = fc.Creature("red")
    friend = fc.Token(red, (2, 1), side="red", name="friend")
    board = hexboard(tokens=[fc.Token(red, (2, 0), side="red"), friend])
    reach = board.reach(board.tokens[0], budget=2)
    assert not reach.can_stop.all()
    bare = plot.draw(board.replace(tokens=()), reach=reach, tokens=False)
    assert "(1)" in texts(bare)
    assert "(cost): no stopping" in names(bare)


def test_path_shows_the_totals():
    board = hexboard()
    path = board.path((2, 0), (0, 3))
    ax = plot.draw(board, path=path)
    totals = np.cumsum([0, *(step.cost for step in path.steps)])
    assert [float(text) for text in texts(ax)] == totals.tolist()
    assert f"path: {path.cost:g} points" in names(ax)


def test_no_way_draws_the_board_alone():
    board = hall()
    path = board.path((0, 0), (0, 3))
    assert not path
    ax = plot.draw(board, path=path, sight=board.sight((0, 0), (1, 1)))
    assert not any(name.startswith("path") for name in names(ax))


def test_view_shows_each_malus_and_darkens_the_rest():
    board = hexboard(rows=".FFFF.\n......", light=-1)
    view = board.view((0, 0))
    ax = plot.draw(board, view=view)
    seen = [malus for malus in view.maluses.tolist() if malus]
    assert sorted(map(int, texts(ax))) == sorted(seen)
    assert (0, 5) not in view
    ((dark),) = pixels(ax, plot.centres(board.lattice, [(0, 5)]))
    assert dark.sum() < 1.2
    assert "not seen" in names(ax)


@pytest.mark.parametrize(
    ("rows", "said"), [("..F..", "malus -1"), ("FFFFF.", "hidden")], ids=["seen", "hidden"]
)
def test_sight_says_the_malus(rows, said):
    board = hexboard(rows=rows)
    sight = board.sight((0, 0), (0, len(rows) - 1))
    assert f"line of sight: {said}" in names(plot.draw(board, sight=sight))


def test_values_are_written_and_coloured():
    board = hexboard(tokens=[fc.Token("elf", (0, 0))])
    values = np.full(board.shape, np.nan)
    values[0, 0], values[1, 2], values[2, 3], values[3, 3] = 1, 0, 2.5, np.inf
    ax = plot.draw(board, values=values, label="foes")
    # The token stands on the 1.
    assert sorted(texts(ax)) == ["0", "2.5", "E"]
    bar = ax.figure.axes[1]
    assert bar.get_xlabel() == "foes"
    plain = plot.draw(board)
    points = plot.centres(board.lattice, [(2, 3), (2, 1)]) + np.array([0.3, 0])
    (marked, other), (before, same) = pixels(ax, points), pixels(plain, points)
    assert np.abs(marked - before).max() > 0.1
    assert other == pytest.approx(same, abs=0.02)
    # Beside a reach the prices are written.
    assert "2.5" not in texts(plot.draw(board, values=values, reach=board.reach((3, 0), budget=0)))
    nothing = plot.draw(board, values=np.full(board.shape, np.nan))
    assert len(nothing.figure.axes) == 1
    with pytest.raises(fc.MapError, match=r"values have shape \(2, 2\), the board has \(4, 5\)"):
        plot.draw(board, values=np.zeros((2, 2)))


def test_all_at_once():
    board = hall(tokens=[fc.Token(fc.Creature("elf"), (0, 0), side="a")])
    ax = plot.draw(
        board,
        reach=board.reach((0, 0), budget=2),
        path=board.path((0, 0), (2, 3)),
        view=board.view((0, 0)),
        sight=board.sight((0, 0), (2, 3)),
    )
    assert "E" in texts(ax)


def test_tokens():
    tokens = [
        fc.Token(fc.Creature("goblin"), (0, 0), side="red", name=name)
        for name in ("Goblin", "Goblin 2", "Goblin 3")
    ] + [fc.Token(fc.Creature("elf"), (1, 1), side="elves")]
    ax = plot.draw(hall(tokens=tokens))
    assert texts(ax) == ["G", "2", "3", "E"]
    assert names(ax)[-1] == "E  elf (elves)"
    assert texts(plot.draw(hall(tokens=tokens), tokens=False)) == []


def test_letters_are_distinct():
    tokens = [fc.Token(fc.Creature(name), (0, 0)) for name in ("a", "A", "aa", "ß", "", "1a", "!")]
    found = plot.letters(tokens)
    assert len(set(found)) == len(tokens)
    assert all(len(letter) == 1 and letter.isascii() for letter in found)
    crowd = [fc.Token(fc.Creature("x"), (0, 0))] * 50
    assert plot.letters(crowd)[-1] == "?"


def test_sides_have_their_own_colours():
    def tokens(*sides):
        return [fc.Token(fc.Creature("x"), (0, 0), side=side) for side in sides]

    red, blue = plot.NAMED_SIDES["red"], plot.NAMED_SIDES["blue"]
    assert plot.side_colours(tokens("red", "blue")) == {"red": red, "blue": blue}
    found = plot.side_colours(tokens("us", "Red", "them", "us"))
    assert found["Red"] == red
    assert len(set(found.values())) == 3
    assert len(plot.side_colours(tokens(*"abcdefghij"))) == 10


def test_borders():
    board = hall(
        borders=[
            fc.Border(((0, 0), (0, 1)), "wall"),
            fc.Border(((1, 1), (2, 1)), "low_wall"),
        ]
    )
    ax = plot.draw(board)
    assert names(ax)[-2:] == ["wall", "low wall"]
    (colour,) = pixels(ax, [(0.5, 0.0)])
    np.testing.assert_allclose(colour, plot.rgb(plot.INK), atol=0.02)


def test_higher_ground_is_lighter():
    board = hexboard(rows="...\n...", elevation=[[0, 1, 2], [0, 1, 2]])
    ax = plot.draw(board)
    low, middle, high = pixels(ax, plot.centres(board.lattice, [(0, 0), (0, 1), (0, 2)])).sum(1)
    assert low < middle < high
    assert "lighter: higher" in names(ax)


@pytest.mark.parametrize("lattice", ["square", "odd-q"])
def test_large_maps_are_coloured_by_price(lattice):
    size = 90
    if lattice == "square":
        board = fc.Board([["open"] * size] * size, rules="pathfinder")
    else:
        board = fc.Board([["open"] * size] * size, lattice=lattice, rules="hexwild")
    reach, path = board.reach((5, 5), budget=20), board.path((5, 5), (60, 80))
    ax = plot.draw(board, reach=reach, path=path, view=board.view((5, 5), 10))
    assert texts(ax) == []
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    assert bar.get_xlabel() == f"cost in {board.rules.unit}"
    far, near = pixels(ax, plot.centres(board.lattice, [(70, 20), (3, 3)]))
    assert not np.allclose(far, near, atol=0.1)
    ticks = [text.get_text() for text in ax.get_xticklabels()]
    assert ticks == [str(n) for n in range(0, size, 5)]


def test_title_and_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    board = hall(name="hall")
    assert plot.draw(board, ax=ax) is ax
    assert ax.get_title(loc="left") == "hall (pathfinder)"
    assert plot.draw(board, title="Ours").get_title(loc="left") == "Ours"
    assert plot.draw(hall()).get_title(loc="left") == "pathfinder"


def test_the_smallest_board():
    board = fc.Board([["open"]], rules="pathfinder")
    ax = plot.draw(board, reach=board.reach((0, 0)), view=board.view((0, 0)))
    assert texts(ax) == ["0"]


# -- charts of encounters


def spread(*numbers):
    from fieldcraft.encounters.summaries import Spread

    return Spread.of(*np.unique(numbers, return_counts=True))


def a_side(name="blue", **figures):
    from fieldcraft.encounters.summaries import OfSide

    usual = {"encounters": 4, "sees": 0.5, "alone": 0.25, "shot_now": 0.5, "shot_after": 0.75}
    usual |= {"nearest_seen": spread(2, 3, 3), "nearest_shot": spread(2, 3)}
    usual |= {"exposure_before": spread(0, 1, 1, 3), "exposure_after": spread(0, 0, 0, 1)}
    return OfSide(name, **usual | {"unseen_before": 0.25, "unseen_after": 0.75} | figures)


def a_summary(*sides, **figures):
    from fieldcraft.encounters.summaries import Summary

    shares = ("pairs_seen", "one_way", "shot_now", "shot_after", "unseen_before", "unseen_after")
    spreads = ("first_sight", "first_shot", "nearest_seen", "nearest_shot", "exposure_before",
               "exposure_after", "malus_seen", "malus_attack")  # fmt: skip
    usual = dict.fromkeys(shares, 0.5) | dict.fromkeys(spreads, spread(1, 2, 2))
    usual |= {"seen_by_all": 0.5, "seen_by_some": 0.0, "seen_by_none": 0.125}
    usual |= {"encounters": 4, "opposed": 4, "tokens": 12, "rejected": 0, "missing": 0}
    return Summary(**usual | {"sides": sides, "profiles": (), "boards": ()} | figures)


def bars(ax):
    """Return the x and the height of the bars of axes, by their colour."""
    from matplotlib.colors import to_hex

    found = {}
    for bar in ax.patches:
        colour, middle = to_hex(bar.get_facecolor()), bar.get_x() + bar.get_width() / 2
        found.setdefault(colour, []).append((round(middle, 6), round(bar.get_height(), 6)))
    return found


def test_charts_show_the_shares():
    figure = plot.encounters(a_summary(a_side(), a_side("red", alone=0.125)))
    who, how_far, before, after = figure.axes
    said = [text.get_text().strip() for text in who.texts]
    assert said == ["25.0 %", "12.5 %", "50.0 %", "12.5 %"]
    rows = [label.get_text() for label in who.get_yticklabels()]
    assert rows == ["only blue", "only red", "every side", "no side"]
    assert bars(how_far) == {"#d5d9df": [(1, 33.333333), (2, 66.666667)]}
    lines = {line.get_color(): line.get_xydata().tolist() for line in how_far.lines}
    assert lines == {hue: [[2, 50], [3, 50]] for hue in plot.SIDES[:2]}
    blue, red = plot.SIDES[:2]
    assert bars(before)[blue] == [(-0.2, 25), (0.8, 50), (2.8, 25)]
    assert bars(before)[red] == [(0.2, 25), (1.2, 50), (3.2, 25)]
    assert bars(after)[blue] == [(-0.2, 75), (0.8, 25)]
    assert before.get_ylim() == after.get_ylim()
    assert before.get_xlim() == after.get_xlim()
    assert names(before) == ["blue", "red"]


def test_charts_of_binned_distances_stand_over_their_bins():
    from fieldcraft.encounters.summaries import Spread

    many = Spread.of(np.arange(200.0), np.ones(200, np.int64))
    figure = plot.encounters(a_summary(a_side(nearest_shot=many), first_shot=many))
    assert many.width == 5
    assert bars(figure.axes[1])["#d5d9df"][0] == (2.5, 2.5)
    assert figure.axes[1].lines[0].get_xydata()[0].tolist() == [2.5, 2.5]


def test_charts_where_several_of_three_sides_see():
    figure = plot.encounters(a_summary(*map(a_side, "abc"), seen_by_some=0.375))
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows[3:] == ["every side", "several sides,\nnot all", "no side"]


def test_charts_show_six_sides():
    figure = plot.encounters(a_summary(*(a_side(f"side {i}") for i in range(9))))
    assert len(names(figure.axes[2])) == 6


@pytest.mark.parametrize(
    "name", ["$", "$x$", "$\\frac", "_hidden", "", "a\nb", "\x1b[31m", "%s {}"]
)
def test_charts_take_any_name(tmp_path, name):
    figure = plot.encounters(a_summary(a_side(name), a_side("red")))
    plot.save(figure, tmp_path / "a.png")
    assert len(names(figure.axes[2])) == 2


def test_charts_of_nothing(tmp_path):
    shares = dict.fromkeys(("seen_by_all", "seen_by_some", "seen_by_none", "shot_now"))
    empty = a_summary(**shares, encounters=0, tokens=0, first_shot=spread(), nearest_shot=spread())
    plot.save(plot.encounters(empty), tmp_path / "a.png")
    nobody = dict.fromkeys(("nearest_shot", "exposure_before", "exposure_after"), spread())
    plot.save(plot.encounters(a_summary(a_side(**nobody), first_shot=spread())), tmp_path / "b.svg")


def test_the_title_of_charts():
    found = a_summary(a_side())
    assert plot.encounters(found).get_suptitle() == "4 encounters, 12 tokens"
    assert plot.encounters(found, title="Ours").get_suptitle() == "Ours"


def test_what_is_no_summary():
    with pytest.raises(fc.ArgumentTypeError, match="summary must be a Summary, not int"):
        plot.encounters(3)


# -- files, and what is imported


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_save(tmp_path, name, start):
    ax = plot.draw(hall())
    plot.save(ax, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    plot.save(ax.figure, str(tmp_path / f"b{name}"))
    assert (tmp_path / f"b{name}").exists()


@pytest.mark.parametrize(
    "name", ["a.xyz", "a", "", "no folder/a.png", "a\0.png", "x" * 300 + ".png"]
)
def test_where_it_cannot_be_saved(tmp_path, name):
    with pytest.raises(fc.MapError, match=r"unknown kind of picture|cannot be written|no name"):
        plot.save(plot.draw(hall()), f"{tmp_path}/{name}")


def test_what_is_no_picture(tmp_path):
    with pytest.raises(fc.ArgumentTypeError, match="picture must be axes or a figure, not int"):
        plot.save(3, tmp_path / "a.png")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (lambda: plot.draw(hall()), lambda: plot.encounters(a_summary())):
        with pytest.raises(fc.MissingExtraError, match=r"fieldcraft\[plot\]") as caught:
            draw()
        assert "\n" not in str(caught.value)


def test_no_window_and_no_state(tmp_path):
    """Neither pyplot nor a window system is touched."""
    code = """
import sys
import fieldcraft as fc
from fieldcraft import plot
assert "matplotlib" not in sys.modules
board = fc.Board([["open", "wall"]], rules="pathfinder")
plot.save(plot.draw(board), sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.png")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")

"""Who is asked about on a board, and what is refused with a clear error."""

import pickle

import numpy as np
import pytest

import fieldcraft as fc

OPEN = [["open"] * 6] * 5


@pytest.fixture
def hexes():
    return fc.Board(OPEN, lattice="odd-r", rules="hexwild")


def test_the_rules_follow_the_lattice_where_none_are_named():
    assert fc.Board(OPEN).rules.name == "pathfinder"
    assert fc.Board(OPEN, lattice="even-q").rules.name == "hexwild"


def test_who_sits_in_a_tree_moves_down_and_looks_out(hexes):
    """HW-23, HW-24: without a perch known it comes down; its hex is free for others."""
    above = fc.Token("owl", (1, 1), level=1)
    board = hexes.replace(tokens=[above])
    assert board.reach(above, budget=0).cells.tolist() == [[1, 1]]
    down = board.reach(above, budget=2)
    assert len(down) > 1
    assert down.cost_at((1, 1)) == 0
    assert board.path((0, 0), (1, 1))
    assert board.sight(above, (0, 0))
    assert (0, 0) in board.view(above, 3)


def test_a_creature_that_only_flies_takes_off(hexes):
    """S5-03: on foot it has no speed, so the ground costs it what the air does."""
    bird = fc.Creature("bird", speed={"fly": 3})
    assert hexes.reach((0, 0), creature=bird).budget == 3
    assert len(hexes.reach((0, 0), creature=bird, budget=1)) == 3
    grounded = {"walk": 0, "fly": 0}
    assert len(hexes.reach((0, 0), creature=bird, budget=grounded)) == 1


@pytest.mark.parametrize("speed", [-3, float("nan"), "9 parsecs", {"walk": "far"}])
def test_speeds_that_are_none(speed):
    with pytest.raises(fc.CostError, match="speed"):
        fc.Creature("elf", speed=speed)


def test_of_two_equal_tokens_only_the_mover_is_left_out(hexes):
    goblin = fc.Token(fc.Creature("goblin", speed=3), (2, 2), side="red")
    twins = [goblin, fc.Token(fc.Creature("goblin", speed=3), (2, 2), side="red")]
    assert hexes.reach(goblin, tokens=[goblin]).can_stop[0]
    assert not hexes.reach(goblin, tokens=twins).can_stop[0]


@pytest.mark.parametrize("tokens", [["a"], [None], [(0, 0)]])
def test_tokens_that_are_none(hexes, tokens):
    for question in (hexes.reach, lambda cell, tokens: hexes.reach_many([cell], tokens=tokens)):
        with pytest.raises(fc.ArgumentTypeError, match="tokens must be Token"):
            question((0, 0), tokens=tokens)
    with pytest.raises(fc.ArgumentTypeError, match="tokens must be Token"):
        hexes.replace(tokens=tokens)


@pytest.mark.parametrize("relations", [5, ["red"], [("a", "b")], [("a", "b", "enemy")]])
def test_relations_that_are_none(relations):
    with pytest.raises(fc.RulesError, match="relation"):
        fc.Board(OPEN, relations=relations)


def test_relations_and_pairs_cannot_be_changed_from_outside(hexes):
    board = hexes.replace(relations=[("red", "blue", "neutral")])
    with pytest.raises(TypeError):
        board.relations[frozenset(("a", "b"))] = "foe"
    sight = hexes.sight((0, 2), (2, 2))
    sight.pairs.clear()
    assert len(sight.pairs) == 1


def test_borders_that_are_none():
    with pytest.raises(fc.ArgumentTypeError, match="borders must be Border"):
        fc.Board(OPEN, borders=[((0, 0), (0, 1))])
    cells = ((0, 0), (0, 1))
    priced = fc.Board(OPEN, borders=[fc.Border(cells, "price", price=np.int64(2))])
    assert priced.path(*cells).cost == 3


def test_answers_travel_without_their_map():
    """A path or a sight keeps its steps or its line, not the whole field."""
    board = fc.Board(np.full((300, 300), "open"))
    path, sight = board.path((0, 0), (3, 4)), board.sight((0, 0), (3, 4))
    for answer in (path, sight):
        packed = pickle.dumps(answer)
        assert len(packed) < 5_000
        assert pickle.loads(packed) == answer
    assert pickle.loads(pickle.dumps(path)).steps == path.steps
    assert np.array_equal(pickle.loads(pickle.dumps(sight)).line, sight.line)


def test_pf04_an_enemy_passed_by_a_test_is_always_named():
    """PF-04, PF-13: also where its square adds nothing to a difficult one."""
    rules = fc.rules.get("pathfinder", tumble=True, stack="worst")
    board = fc.Board(
        [["open", "difficult", "open"]],
        rules=rules,
        tokens=[fc.Token("elf", (0, 0), side="blue"), fc.Token("orc", (0, 1), side="red")],
    )
    why = board.path((0, 0), (0, 2)).steps[0].why
    assert "Acrobatics" in why


def test_hw18_an_absurd_elevation_is_refused():
    """HW-18: the price of the climb is more than can be counted."""
    board = fc.Board(
        [["open", "boulder"]], lattice="odd-r", rules="hexwild", elevation=[[0, 1e300]]
    )
    with pytest.raises(fc.MapError, match=r"\(0, 1\) is 1e\+300; expected a number"):
        board.reach((0, 0))


@pytest.mark.parametrize("value", [256, -1])
def test_masks_out_of_range(value):
    with pytest.raises(fc.MapError, match="barred must be bit masks"):
        fc.grid.field(np.ones((2, 2)), barred=np.full((2, 2), value))
    with pytest.raises(fc.MapError, match="walls must be bit masks"):
        fc.SightField(
            fc.Lattice("square"), (2, 2), between=np.zeros((2, 2), np.uint8),
            walls=np.full((2, 2), value),
        )  # fmt: skip


@pytest.mark.parametrize("threshold", ["4", 3.5, True])
def test_thresholds_that_are_none(threshold):
    with pytest.raises(fc.ArgumentTypeError, match="threshold must be whole points"):
        fc.hexes.view(np.zeros((2, 2)), (0, 0), threshold=threshold)


def test_ragged_costs_with_closed_cells():
    with pytest.raises(fc.MapError, match="full array"):
        fc.grid.field([[1, 2], [1]], closed=[[False, False]])


@pytest.mark.parametrize(("name", "value"), [("layer", "a"), ("layer", 0.0), ("parity", 1.0)])
def test_layers_and_parities_that_are_none(name, value):
    field = fc.grid.field(np.ones((2, 2)))
    with pytest.raises(fc.FieldcraftError, match=name):
        field.reach((0, 0), **{name: value})


def test_a_token_is_as_good_as_a_cell(hexes):
    wolf, hero = fc.Token("wolf", (0, 0)), fc.Token("hero", (3, 3))
    board = hexes.replace(tokens=[wolf, hero])
    assert board.path(wolf, fc.within(1, hero)) == board.path((0, 0), fc.within(1, (3, 3)))
    assert not board.path(wolf, hero)
    assert board.path(wolf, hero, stop=False)
    reach = board.reach(wolf, budget=9)
    assert hero in reach
    assert reach.cost_at(hero) == reach.cost_at((3, 3))
    assert board.sights([(wolf, hero)]) == [board.sight(wolf, hero)]
    assert board.reach_many([wolf, hero], budget=2) == [
        board.reach(token, budget=2) for token in (wolf, hero)
    ]
    assert board.paths([(wolf, (2, 2))]) == [board.path(wolf, (2, 2))]
    assert board.views([hero], 2) == [board.view(hero, 2)]


def test_a_token_that_moved_is_another_one(hexes):
    board = hexes.replace(tokens=[fc.Token("wolf", (0, 0)), fc.Token("hero", (3, 3))])
    moved = board.move(board.token("wolf"), (1, 1))
    assert moved.token("wolf").cell == (1, 1)
    assert board.token("wolf").cell == (0, 0)
    with pytest.raises(fc.MapError, match=r"'wolf' at \(0, 0\) is not on this board"):
        moved.move(board.token("wolf"), (2, 2))
    with pytest.raises(fc.MapError, match="0 tokens have the name 'elf'; on the board are wolf"):
        board.token("elf")


def test_light_is_a_map(hexes):
    assert hexes.replace(light=-2).light[4, 5] == -2


# -- values of odd types and sizes ----------------------------------------------------------------


def test_astar_says_so_when_a_total_would_overflow():
    field = fc.grid.field(np.tile([65535, 65534], (1, 20000)), diagonals="equidistant")
    for algorithm in ("astar", "dijkstra"):
        with pytest.raises(fc.CostError, match="would overflow"):
            field.path((0, 0), (0, 39999), algorithm=algorithm)


def test_an_initial_cost_that_fits_only_undoubled():
    with pytest.raises(fc.CostError, match="too large"):
        fc.grid.distances([[1, 1, 1]], [(0, 0)], initial=[1.2e9])


def test_obstruction_in_eight_bits():
    with pytest.raises(fc.CostError, match="is 128"):
        fc.hexes.sight(np.array([[0, 128, 0]], np.uint8), (0, 0), (0, 2))
    found = fc.hexes.sight(np.array([[0, 64, 0]], np.int8), (0, 0), (0, 2))
    assert found.obstruction == -64


def test_an_iterator_of_tokens_serves_the_whole_batch():
    board = fc.Board([["open"] * 5], rules="pathfinder")
    foe = fc.Token("orc", (0, 2), side="red")
    paths = board.paths([((0, 0), (0, 4))] * 3, tokens=iter([foe]))
    assert not any(paths)


def test_small_numpy_numbers_as_parameters():
    lattice, shape = fc.Lattice("square"), (1, 9)
    legal = fc.legal_steps(lattice, np.ones(shape, bool))
    enter = np.ones(shape, np.uint16)
    linked = fc.StepField(
        lattice, shape, steps=np.stack([0 * legal, legal]), enter=enter, diagonal="alternating",
        layers=[fc.Layer(), fc.Layer(steps=1)], links=[fc.Link(0, 1, ticks=np.int8(100))],
    )  # fmt: skip
    assert linked.distances((0, 0)).tolist() == [[0, *range(101, 109)]]
    capped = fc.StepField(
        lattice, shape, steps=legal, enter=enter * 50, diagonal="alternating",
        layers=[fc.Layer(cap=np.uint8(200))],
    )  # fmt: skip
    assert len(capped.reach((0, 0))) == 5
    view = fc.hexes.view([[0, 2, 1, 1, 0]], (0, 0), 9, threshold=np.int8(100))
    assert view.maluses.tolist() == [0, -2, -3, -4, -4]


def test_geometry_far_out_and_between_cells():
    far = 2**62
    for question in (
        lambda: fc.grid.line((-far, 0), (far, 0)),
        lambda: fc.grid.line((0, 0), (2**39, 3)),
        lambda: fc.hexes.line((-far, 0), (far, 1)),
        lambda: fc.hexes.distance((0, 0), (-(2**63), 0)),
        lambda: fc.hexes.to_axial([(far, 0)]),
        lambda: fc.hexes.to_axial([(0.5, 1.7)]),
        lambda: fc.Lattice("square").distance((0, 0), (0.9, 1.9)),
        lambda: fc.hexes.ring((0, 0), 2.5),
        lambda: fc.grid.reach([[1, 1]], (10**5000, 0)),
    ):
        with pytest.raises(fc.FieldcraftError):
            question()


def test_masked_arrays_are_refused():
    with pytest.raises(fc.ArgumentTypeError, match="its mask as `closed`"):
        fc.grid.distances(np.ma.array([[1, 1, 1]], mask=[[0, 1, 0]]), (0, 0))


@pytest.mark.parametrize("radius", [10, 2**63 - 1, 10**30])
def test_within_a_large_radius(radius):
    assert fc.grid.path([[1, 1]], (0, 0), fc.within(radius, (0, 1))).cost == 0


@pytest.mark.parametrize("budget", ["1e999", 10**400])
@pytest.mark.parametrize("rules", ["octile", "pathfinder"])
def test_budgets_beyond_floats(rules, budget):
    ground = "ground" if rules == "octile" else "open"
    options = {"diagonals": "exact"} if rules == "pathfinder" else {}
    board = fc.Board([[ground] * 3], rules=fc.rules.get(rules, **options))
    assert len(board.reach((0, 0), budget=budget)) == 3


def test_names_that_no_file_has(tmp_path):
    board = fc.Board([["open"]], rules="pathfinder")
    with pytest.raises(fc.FieldcraftError):
        fc.write(board, tmp_path / "a\0.toml")
    (tmp_path / "nul.toml").write_text(
        'lattice = "square"\nrules = "\\u0000.toml"\nrows = "."\n[legend]\n"." = "open"\n'
    )
    with pytest.raises(fc.RulesError, match="name of a rules file"):
        fc.read(tmp_path / "nul.toml")


def test_terrain_compares_by_identity():
    terrain = fc.Board([["open", "wall"]]).terrain
    assert terrain != fc.Board([["open", "wall"]]).terrain
    assert len({terrain, terrain}) == 1

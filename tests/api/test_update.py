"""A field that follows the tokens equals one compiled afresh."""

from __future__ import annotations

import gc
import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fieldcraft as fc
import strategies
from fieldcraft.rules import _moving

SYSTEMS = {
    "hexwild": (
        ("odd-r", "even-q"),
        ["open", "light_forest", "mud", "boulder", "deep_water"],
        [{}, {"mud_exit": "zone"}, {"turn_cost": 0.5}],
    ),
    "pathfinder": (
        ("square", "square4"),
        ["open", "difficult", "wall", "pit", "water", "narrow:0.75"],
        [{}, {"parity": "carry"}, {"footprint_cost": "worst-new"}, {"diagonals": "exact"}],
    ),
    "srd5": (
        ("square",),
        ["open", "difficult", "wall", "water", "narrow:small"],
        [{}, {"diagonals": "alternating"}, {"squeeze": False}],
    ),
    "skirmish": (("square",), ["open", "difficult", "wall", "stairs", "ladder"], [{}]),
}
SPEEDS = [None, 6, {"walk": 6, "fly": 9}, {"walk": 3, "swim": 6, "burrow": 6}]
SIZES = ["small", "medium", "large", "huge"]


def scene(name, seed, size, speed, body):
    """Return a board without tokens, a mover, and tokens that may stand on the board."""
    rng = np.random.default_rng(seed)
    lattices, ids, parameters = SYSTEMS[name]
    shape = (int(rng.integers(4, 24)), int(rng.integers(4, 24)))
    shares = rng.dirichlet(np.r_[8.0, np.ones(len(ids) - 1)])
    terrain = np.array(ids)[rng.choice(len(ids), shape, p=shares)]
    rules = fc.rules.get(name, **parameters[int(rng.integers(len(parameters)))])
    elevation = None
    perches = []
    if name in ("hexwild", "skirmish") and rng.random() < 0.5:
        elevation = rng.choice([0, 0, 0, 1, 2], shape)
    if name == "hexwild":
        cells = {tuple(map(int, rng.integers(0, shape))) for _ in range(4)}
        perches = [fc.Perch(cell, int(rng.integers(1, 3)), "medium", 4) for cell in cells]
    lattice = lattices[int(rng.integers(len(lattices)))]
    board = fc.Board(
        terrain,
        lattice=lattice,
        rules=rules,
        elevation=elevation,
        perches=perches,
        borders=some_borders(name, fc.Lattice(lattice), shape, rng),
    )
    tokens = [token for _ in range(8) if (token := some_token(board, rng)) is not None]
    mover = fc.Creature("mover", size=size, speed=speed, body=body)
    return board, mover, tokens, rng


def some_borders(name, lattice, shape, rng):
    """Return few borders, so that there are none near most tokens."""
    kinds = {"pathfinder": ["low_wall"], "skirmish": ["ladder"]}.get(name, [])
    found = []
    for _ in range(int(rng.integers(5))):
        row, col = (int(x) for x in rng.integers(0, shape))
        side = int(rng.integers(lattice.n_straight))
        beyond = lattice.neighbors((row, col))[side]
        if 0 <= beyond[0] < shape[0] and 0 <= beyond[1] < shape[1]:
            kind = str(rng.choice(["wall", "drop", "price", *kinds]))
            price = 3 if kind == "price" else None
            found.append(fc.Border(((row, col), beyond), kind, price=price))
    return found


def some_token(board, rng):
    """Return a token somewhere on the board, or None where its body is too large for it."""
    creature = fc.Creature(
        "other", size=SIZES[int(rng.integers(4))], body=[None, 2, 3, 7][int(rng.integers(4))]
    )
    if board.lattice.is_hex:
        creature = replace(creature, size="medium")
    token = fc.Token(
        creature,
        tuple(map(int, rng.integers(0, board.shape))),
        side=["", "red"][int(rng.integers(2))],
        helpless=bool(rng.random() < 0.2),
        flying=bool(rng.random() < 0.2),
        lets_through=bool(rng.random() < 0.8),
    )
    height, width = board.shape
    covered = board.rules.cells_of(token, board.lattice)
    inside = all(0 <= row < height and 0 <= col < width for row, col in covered)
    return token if inside else None


def assert_same(found, expected):
    for name, a, b in zip(
        found._graph.arrays._fields, found._graph.arrays, expected._graph.arrays, strict=True
    ):
        np.testing.assert_array_equal(a, b, err_msg=name)
    assert found.home == expected.home
    for (layer, mask), (other, expected_mask) in zip(found.seats, expected.seats, strict=True):
        assert layer == other
        np.testing.assert_array_equal(mask, expected_mask)
    np.testing.assert_array_equal(found.stay, expected.stay)


def changed(board, tokens, rng):
    """Return the tokens with one moved, gone, come or in another state."""
    tokens = list(tokens)
    what = rng.integers(4)
    new = some_token(board, rng)
    if tokens and what == 0:
        del tokens[int(rng.integers(len(tokens)))]
    elif tokens and what == 1:
        at = int(rng.integers(len(tokens)))
        tokens[at] = replace(tokens[at], helpless=not tokens[at].helpless)
    elif tokens and new is not None and what == 2:
        tokens[int(rng.integers(len(tokens)))] = new
    elif new is not None:
        tokens.append(new)
    return tokens


@pytest.fixture(scope="module", autouse=True)
def patches_are_made_on_small_maps_too():
    """As if a part of a map were compiled as quickly as the same part of the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_moving, "PATCH_CELLS", 0)
        yield


@pytest.mark.parametrize("name", SYSTEMS)
@strategies.examples(60)
@given(
    seed=strategies.seeds,
    size=st.sampled_from(SIZES),
    speed=st.sampled_from(SPEEDS),
    body=st.sampled_from([None, 2, 3, 7]),
)
def test_an_updated_field_equals_a_fresh_one(name, seed, size, speed, body):
    board, mover, tokens, rng = scene(name, seed, size, speed, body)

    def compiled(some):
        return board.rules.step_field(board.terrain, mover, tokens=some, relation=board.relation)

    field = compiled(tokens)
    for _ in range(3):
        tokens = changed(board, tokens, rng)
        field = field.update(tokens)
        fresh = compiled(tokens)
        assert_same(field, fresh)
        start = tuple(map(int, rng.integers(0, board.shape)))
        found, expected = field.reach(start, 6), fresh.reach(start, 6)
        assert found == expected
        for cell in expected.stops[-2:]:
            assert found.path_to(cell).explain() == expected.path_to(cell).explain()


def test_a_flyer_keeps_its_borders_far_from_the_tokens_that_move():
    """PF-11: flyers ignore low walls, also where only they have none."""
    rows = [["open"] * 30 for _ in range(7)]
    borders = [fc.Border(((row, 6), (row, 7)), "low_wall") for row in range(7)]
    borders.append(fc.Border(((0, 28), (0, 29)), "price", price=3))
    for speed in ({"walk": 20, "fly": 20}, {"walk": 20, "swim": 20, "fly": 20}):
        bird = fc.Token(fc.Creature("bird", speed=speed), (3, 3), side="a", flying=True)
        foe = fc.Token("foe", (0, 6), side="b")
        board = fc.Board(rows, rules="pathfinder", borders=borders, tokens=[bird, foe])
        board.reach(bird)
        moved = board.move(foe, (1, 6))
        fresh = fc.Board(rows, rules="pathfinder", borders=borders, tokens=moved.tokens)
        assert moved.reach(bird) == fresh.reach(bird)


def test_boards_that_moved_on_are_let_go():
    token = fc.Token(fc.Creature("scout", speed=6), (0, 0))
    guard = fc.Token(fc.Creature("guard"), (9, 9), side="red")
    board = fc.Board([["open"] * 20] * 20, rules="pathfinder", tokens=[token, guard])
    boards = []
    for turn in range(10):
        board.reach(token)
        boards.append(weakref.ref(board))
        board = board.move(board.token("guard"), (9, turn))
    gc.collect()
    assert [ref() for ref in boards] == [None] * 10


def test_where_many_moved_a_small_map_is_compiled_as_a_whole(monkeypatch):
    monkeypatch.setattr(_moving, "PATCH_CELLS", 250)
    tokens = [fc.Token(fc.Creature(f"n{i}", speed=6), (0, 6 * i)) for i in range(5)]
    board = fc.Board([["open"] * 30] * 30, rules="pathfinder", tokens=tokens)
    made = []
    plan = _moving.compile_field
    monkeypatch.setattr(
        _moving, "compile_field", lambda *given: made.append(len(given)) or plan(*given)
    )
    field = board.step_field(tokens[0])
    near = [tokens[1].at((9, 6)), *tokens[2:]]
    far = [token.at((9, 6 * i)) for i, token in enumerate(tokens[1:])]
    made.clear()
    patched = field.update(near, has_mover=False)
    assert made == []
    whole = field.update(far, has_mover=False)
    assert len(made) == 1
    for found, others in ((patched, near), (whole, far)):
        assert_same(found, board.replace(tokens=[tokens[0], *others]).step_field(tokens[0]))


def test_a_board_keeps_more_fields_of_a_small_map():
    creatures = [fc.Creature(f"n{i}") for i in range(60)]
    for side, kept in ((20, 60), (200, 32)):
        board = fc.Board([["open"] * side] * side, rules="pathfinder")
        fields = [board.step_field((0, 0), creature=creature) for creature in creatures]
        again = [board.step_field((0, 0), creature=one) for one in reversed(creatures)]
        same = [one is other for one, other in zip(reversed(fields), again, strict=True)]
        assert same == [True] * kept + [False] * (60 - kept)


def test_the_field_of_a_board_is_not_updated_in_place():
    token = fc.Token(fc.Creature("scout", speed=6), (0, 0))
    board = fc.Board([["open"] * 5] * 5, rules="pathfinder", tokens=[token])
    with pytest.raises(fc.FieldcraftError, match="belongs to a board"):
        board.step_field(token).update([], inplace=True)


def test_a_field_without_changes_is_itself():
    board = fc.Board([["open"] * 9] * 9, rules="pathfinder")
    token = fc.Token("guard", (4, 4), side="red")
    field = board.rules.step_field(board.terrain, fc.Creature(), tokens=[token])
    assert field.update([token]) is field
    renamed = replace(token, name="another")
    assert field.update([renamed]).reach((0, 0), 3) == field.reach((0, 0), 3)


def test_a_pickled_field_follows_tokens_too():
    board = fc.Board([["open"] * 20] * 20, rules="srd5")
    token = fc.Token("guard", (4, 4), side="red")
    field = board.rules.step_field(board.terrain, fc.Creature(size="large"), tokens=[token])
    copy = pickle.loads(pickle.dumps(field))
    moved = [token.at((10, 10))]
    assert_same(copy.update(moved), field.update(moved))


def test_only_the_surroundings_of_what_changed_are_compiled(monkeypatch):
    """Work is counted in cells, not in seconds."""
    from fieldcraft.rules import _moving

    board = fc.Board([["open"] * 100] * 100, rules="pathfinder")
    token = fc.Token("guard", (40, 40), side="red")
    field = board.rules.step_field(board.terrain, fc.Creature(), tokens=[token])
    cells = []
    make_plan = _moving.make_plan

    def counted(site, *rest):
        cells.append(site.terrain.codes.size)
        return make_plan(site, *rest)

    monkeypatch.setattr(_moving, "make_plan", counted)
    field.update([token.at((70, 70))])
    assert len(cells) == 2
    assert sum(cells) <= 2 * 9 * 9


def test_boards_carry_fields_over_moves(monkeypatch):
    """A board after a move updates the fields of the board before, for the same mover."""
    from fieldcraft.rules import _moving

    scout = fc.Token(fc.Creature("scout", speed=6), (0, 0), side="blue")
    guard = fc.Token(fc.Creature("guard", speed=6), (5, 5), side="red")
    board = fc.Board([["open"] * 60] * 60, rules="pathfinder", tokens=[scout, guard])
    board.reach(scout)

    def never(*args):
        raise AssertionError("compiled afresh")

    monkeypatch.setattr(_moving, "compile_field", never)
    after = board.move(guard, (2, 2))
    assert (2, 2) not in after.reach(scout)
    walked = after.move(scout, (3, 3))
    assert walked.reach(walked.token("scout")).cost_at((3, 4)) == 1


def test_a_field_may_be_updated_in_place():
    board = fc.Board([["open"] * 20] * 20, rules="pathfinder")
    token = fc.Token("guard", (4, 4), side="red")
    field = board.rules.step_field(board.terrain, fc.Creature(), tokens=[token])
    expected = field.update([token.at((9, 9))])
    before = field.reach((3, 3), 2)
    assert field.update([token.at((9, 9))], inplace=True) is field
    assert_same(field, expected)
    assert (4, 4) not in before
    assert (4, 4) in field.reach((3, 3), 2)


def test_the_mover_is_left_out_wherever_it_stands():
    scout = fc.Token(fc.Creature("scout", speed=6), (0, 0), side="a")
    guard = fc.Token("guard", (4, 4), side="b")
    board = fc.Board([["open"] * 9] * 9, rules="pathfinder", tokens=[scout, guard])
    field = board.step_field(scout)
    after = field.update([scout.at((2, 2)), guard.at((5, 5))])
    assert after.reach((2, 2), 1).can_stop.all()
    assert (5, 5) not in after.reach((4, 4), 1)
    twin = fc.Token(fc.Creature("scout", speed=6), (0, 3), side="a")
    board = board.replace(tokens=[scout, twin])
    for moved in (board, board.move(twin, (0, 2))):
        stops = {tuple(cell) for cell in moved.reach(scout).stops.tolist()}
        assert moved.tokens[1].cell not in stops


def test_a_board_moves_a_token_in_another_state():
    hero = fc.Token(fc.Creature("hero", speed=9), (0, 0), side="a", prone=True)
    board = fc.Board([["open"] * 9], rules="srd5", tokens=[hero])
    up = board.move(hero, (0, 1), prone=False)
    assert (up.token("hero").cell, up.token("hero").prone) == ((0, 1), False)
    with pytest.raises(fc.ArgumentTypeError, match="a token has no 'prome'"):
        board.move(hero, (0, 1), prome=False)
    with pytest.raises(fc.ArgumentTypeError, match="who moves must be a Token, not 'hero'"):
        board.move("hero", (0, 1))
    assert board.relation(hero, hero) == "friend"


@pytest.mark.parametrize("tokens", [3, None, ["guard"], [(1, 1)]])
def test_tokens_of_an_update_are_checked(tokens):
    board = fc.Board([["open"] * 9], rules="srd5")
    field = board.rules.step_field(board.terrain, fc.Creature())
    with pytest.raises(fc.ArgumentTypeError, match="tokens must be"):
        field.update(tokens)


def test_bare_arrays_know_no_tokens():
    field = fc.grid.field([[1, 1]])
    with pytest.raises(fc.FieldcraftError, match="only a field that rules compiled"):
        field.update([])


def test_a_field_that_follows_its_tokens_looks_for_no_way_once_it_met_one():
    """The answer is the same; what hangs together is worked out after a search in vain."""
    board = fc.Board.from_rows(
        ["..#" + "." * 60] * 29 + ["." * 63], {".": "open", "#": "wall"}, rules="pathfinder",
        tokens=[fc.Token(fc.Creature("a"), (0, 0), side="x"),
                fc.Token(fc.Creature("b"), (0, 60), side="y")],
    )  # fmt: skip
    a, b = board.tokens
    shut = board.step_field(a).update([a, replace(b, cell=(29, 2))])
    first = shut.path((0, 0), (0, 3))
    again = shut.path((0, 0), (0, 3))
    assert not first
    assert not again
    assert (first.expanded > 0, again.expanded) == (True, 0)
    opened = shut.update([a, b])
    assert opened.path((0, 0), (0, 3))

"""Sums over tables: each number worked out by hand, and the same in whatever blocks it is added."""

import json
import math
import pickle
import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft.encounters import counting, streaming
from fieldcraft.encounters.run import Analysis, described, open_run
from fieldcraft.encounters.schema import pairs_schema, tokens_schema
from fieldcraft.encounters.summaries import Spread, Summary, summary

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


# -- tables


def token(side, profile="orc", **columns):
    """Return a row of the table of tokens, as far as a summary looks at it."""
    row = {"side": side, "profile": profile, "reached": 10, "stops": 8}
    row |= dict.fromkeys(("targets_now", "targets_after", "exposure_before", "exposure_after"), 0)
    row |= {"attack_malus": None, "expected_stake": 0}
    return row | columns


def tables(*encounters, numbers=None):
    """Return both tables of encounters.

    Each is (board, tokens, sights); sights tell the malus and the distance of pairs in sight, a
    malus of None that a pair is not; all other pairs are not in sight either, at a distance of 9.
    """
    rows, pairs = [], []
    for number, (board, tokens, sights) in zip(numbers or range(99), encounters, strict=False):
        for i, one in enumerate(tokens):
            row = dict.fromkeys(tokens_schema().names, 0)
            rows.append(row | one | {"encounter": number, "token": i, "board": board})
            for j, other in enumerate(tokens):
                if i == j:
                    continue
                distance, malus = sights.get((i, j), (9, None))
                pairs.append(
                    dict.fromkeys(pairs_schema().names, 0)
                    | {"encounter": number, "viewer": i, "target": j, "malus": malus}
                    | {"foe": one["side"] != other["side"], "visible": malus is not None}
                    | {"distance": distance}
                )
    return made(rows, tokens_schema()), made(pairs, pairs_schema())


def made(rows, schema):
    return pa.Table.from_pylist(rows, schema=schema)


def write(folder, *parts):
    """Write pairs of tables as the parts of a run."""
    for kind in ("tokens", "pairs"):
        (folder / kind).mkdir(parents=True)
    rows = [SimpleNamespace(n_rows=len(set(part[0]["encounter"].to_pylist()))) for part in parts]
    record = described({}, {}, rows, 4096, "reject")
    (folder / "run.json").write_text(json.dumps(record))
    for number, part in enumerate(parts):
        for kind, table in zip(("tokens", "pairs"), part, strict=True):
            pq.write_table(table, folder / kind / f"part-{number:05}.parquet")
    return folder


# Blue has one archer; it sees the nearer of two orcs, and neither sees it.
AMBUSH = (
    "glade",
    [
        token("blue", "archer", targets_now=1, targets_after=2, attack_malus=-1, stops=30,
              exposure_after=0, expected_stake=1500, reached=40),
        token("red", exposure_before=1, exposure_after=1, expected_stake=500),
        token("red", targets_after=1, attack_malus=-3, exposure_after=0),
    ],
    {(0, 1): (4, -2), (1, 2): (2, 0)},
)  # fmt: skip
# Both see each other, at 3 and at 5; the orc has nothing that carries so far.
DUEL = (
    "ridge",
    [
        token("blue", "archer", targets_now=1, targets_after=1, attack_malus=0, stops=20,
              reached=20, exposure_before=1, exposure_after=1),
        token("red", targets_after=1, attack_malus=-1, exposure_before=1, exposure_after=1),
    ],
    {(0, 1): (3, 0), (1, 0): (5, -1)},
)  # fmt: skip
# Nobody sees anybody.
FOG = ("glade", [token("blue"), token("red")], {})
# Friends among themselves, in full sight.
CAMP = ("camp", [token("red", exposure_before=0), token("red")], {(0, 1): (1, 0), (1, 0): (1, 0)})

ALL = (AMBUSH, DUEL, FOG, CAMP)


@pytest.fixture(scope="module")
def found():
    return summary(tables(*ALL))


def side(found, name):
    return next(side for side in found.sides if side.name == name)


# -- numbers


def test_how_many(found):
    assert (found.encounters, found.opposed, found.tokens) == (4, 3, 9)
    assert (found.rejected, found.missing) == (None, None)


def test_who_sees_first(found):
    """Of three encounters with foes blue alone sees in one, both in one, nobody in one."""
    assert (found.seen_by_all, found.seen_by_some, found.seen_by_none) == (1 / 3, 0, 1 / 3)
    blue, red = found.sides
    assert (blue.name, blue.encounters, blue.sees, blue.alone) == ("blue", 3, 2 / 3, 1 / 3)
    assert (red.name, red.encounters, red.sees, red.alone) == ("red", 3, 1 / 3, 0)


def test_one_of_three_sides_or_two(found):
    def melee(*sights):
        tokens = [token(name) for name in ("blue", "green", "red")]
        return "glade", tokens, dict.fromkeys(sights, (3, 0))

    found = summary(
        tables(melee((0, 1)), melee((0, 1), (2, 1)), melee((0, 1), (1, 2), (2, 0)), melee())
    )
    assert (found.seen_by_all, found.seen_by_some, found.seen_by_none) == (0.25, 0.25, 0.25)
    assert [(side.sees, side.alone) for side in found.sides] == [(0.75, 0.25), (0.25, 0), (0.5, 0)]


def test_pairs_of_foes(found):
    """4 + 2 + 2 pairs; blue sees an orc unseen, and the two of the duel see each other."""
    assert found.pairs_seen == 3 / 8
    assert found.one_way == 1 / 4


def test_shots(found):
    assert (found.shot_now, found.shot_after) == (2 / 3, 2 / 3)
    assert (side(found, "blue").shot_now, side(found, "blue").shot_after) == (2 / 3, 2 / 3)
    assert (side(found, "red").shot_now, side(found, "red").shot_after) == (0, 2 / 3)


def test_how_long_the_first_shot_is(found):
    """Of friends no distance counts. The orc that sees at 5 cannot shoot."""
    assert found.first_sight.histogram == ((3, 1), (4, 1))
    assert found.first_shot.histogram == ((3, 1), (4, 1))
    assert found.nearest_seen.histogram == ((3, 1), (4, 1), (5, 1))
    assert found.nearest_shot.histogram == ((3, 1), (4, 1))
    assert side(found, "red").nearest_seen.histogram == ((5, 1),)
    assert side(found, "red").nearest_shot == Spread(0)
    assert (found.nearest_seen.mean, found.nearest_seen.median) == (4, 4)


def test_exposure_is_of_tokens_that_have_foes(found):
    """3 + 2 + 2 of them; those in the camp have none."""
    assert found.exposure_before.histogram == ((0, 4), (1, 3))
    assert found.exposure_after.histogram == ((0, 4), (1, 3))
    assert (found.unseen_before, found.unseen_after) == (4 / 7, 4 / 7)
    blue = side(found, "blue")
    assert blue.exposure_before.histogram == ((0, 2), (1, 1))
    assert (blue.unseen_before, blue.exposure_before.mean) == (2 / 3, 1 / 3)


def test_maluses(found):
    """That of friends does not count."""
    assert found.malus_seen.histogram == ((-2, 1), (-1, 1), (0, 1))
    assert found.malus_attack.histogram == ((-3, 1), (-1, 2), (0, 1))


def test_profiles(found):
    archer, orc = found.profiles
    assert (archer.name, archer.tokens, orc.name, orc.tokens) == ("archer", 2, "orc", 7)
    assert archer.stops.histogram == ((20, 1), (30, 1))
    assert (archer.reached.mean, orc.reached.mean) == (30, 10)
    assert (archer.shot_now, archer.shot_after) == (1, 1)
    assert (orc.shot_now, orc.shot_after) == (0, 2 / 7)
    assert archer.stake.histogram == ((0, 1), (1.5, 1))
    assert (archer.at_stake, orc.at_stake) == (1 / 2, 1 / 7)


def test_boards_the_most_unequal_first(found):
    """On the glade blue threatens 2 of 3 foes, red 1 of 3; in the camp there is no foe."""
    assert [board.name for board in found.boards] == ["glade", "ridge", "camp"]
    glade, ridge, camp = found.boards
    assert (glade.encounters, glade.opposed) == (2, 2)
    blue, red = glade.sides
    assert (blue.threat, blue.exposed, blue.alone, blue.encounters) == (2 / 3, 0, 1 / 2, 2)
    assert (red.threat, red.exposed, red.alone) == (1 / 3, 1 / 3, 0)
    assert glade.inequality == blue.threat - red.threat
    assert (ridge.inequality, len(ridge.sides)) == (0, 2)
    assert (camp.encounters, camp.opposed, camp.inequality, camp.sides) == (1, 0, None, ())


# -- spreads


@pytest.mark.parametrize(
    ("numbers", "quarters"),
    [
        ([5], (5, 5, 5)),
        ([1, 2], (1, 1, 2)),
        ([1, 2, 3], (1, 2, 3)),
        ([1, 2, 3, 4], (1, 2, 3)),
        ([1, 1, 1, 7], (1, 1, 1)),
        ([-3, -1, 0, 2, 8], (-1, 0, 2)),
    ],
)
def test_a_spread(numbers, quarters):
    spread = Spread.of(*np.unique(numbers, return_counts=True))
    assert (spread.quarter, spread.median, spread.three_quarters) == quarters
    assert (spread.count, spread.least, spread.most) == (len(numbers), min(numbers), max(numbers))
    assert spread.mean == sum(numbers) / len(numbers)


def test_quarters_are_those_of_numpy():
    chance = random.Random(3)
    for _ in range(50):
        numbers = [chance.randrange(20) for _ in range(chance.randrange(1, 40))]
        spread = Spread.of(*np.unique(numbers, return_counts=True))
        wanted = np.quantile(numbers, [0.25, 0.5, 0.75], method="inverted_cdf")
        assert [spread.quarter, spread.median, spread.three_quarters] == wanted.tolist()


def test_a_histogram_of_many_values_has_bins():
    numbers = np.arange(1001) / 4
    spread = Spread.of(numbers, np.ones(1001, np.int64))
    assert spread.width == 5
    assert spread.histogram[:2] == ((0, 20), (5, 20))
    assert spread.histogram[-1] == (250, 1)
    assert sum(count for _, count in spread.histogram) == 1001
    assert Spread.of(numbers[:100], np.ones(100, np.int64)).width == 0


@pytest.mark.parametrize("scale", [1e-9, 0.3, 1.0, 7e8])
def test_bins_are_few(scale):
    numbers = np.unique(np.random.default_rng(1).normal(size=5000) * scale)
    spread = Spread.of(numbers, np.ones(len(numbers), np.int64))
    assert len(spread.histogram) <= 60
    assert sum(count for _, count in spread.histogram) == len(numbers)


# -- the same in any blocks


def crowd(n, seed=0):
    """Return random encounters of 1 to 6 tokens of 3 sides on 5 boards."""
    chance = random.Random(seed)
    encounters = []
    for _ in range(n):
        size = chance.randint(1, 6)
        tokens = [
            token(
                chance.choice("abc"), chance.choice("xyz"), targets_now=chance.randrange(2),
                targets_after=chance.randrange(3), exposure_before=chance.randrange(4),
                exposure_after=chance.randrange(2), stops=chance.randrange(300),
                reached=chance.randrange(300), expected_stake=chance.randrange(10**6),
                attack_malus=chance.choice([None, 0, -1]),
            )
            for _ in range(size)
        ]  # fmt: skip
        sights = {
            (i, j): (chance.randrange(1, 40) * 1.5, chance.choice([0, -1, -2]))
            for i in range(size)
            for j in range(size)
            if i != j and chance.random() < 0.4
        }
        encounters.append((f"board {chance.randrange(5)}", tokens, sights))
    return encounters


def straightforward(encounters):
    """Return some of the numbers, counted one by one."""
    opposed = [e for e in encounters if len({t["side"] for t in e[1]}) > 1]
    alone, everybody, nobody, nearest = dict.fromkeys("abc", 0), 0, 0, []
    for _, tokens, sights in opposed:
        sees = {}
        for (i, j), (distance, _) in sights.items():
            if tokens[i]["side"] != tokens[j]["side"]:
                sees.setdefault(tokens[i]["side"], []).append(distance)
        nobody += not sees
        everybody += len(sees) == len({t["side"] for t in tokens})
        if sees:
            nearest.append(min(min(some) for some in sees.values()))
        if len(sees) == 1:
            alone[next(iter(sees))] += 1
    n = len(opposed)
    return n, {k: v for k, v in alone.items()}, everybody / n, nobody / n, sorted(nearest)


@pytest.fixture(scope="module")
def many():
    return crowd(99)


def test_against_counting_one_by_one(many):
    found = summary(tables(*many))
    n, alone, everybody, nobody, nearest = straightforward(many)
    assert (found.opposed, found.seen_by_all, found.seen_by_none) == (n, everybody, nobody)
    assert {s.name: s.alone for s in found.sides} == {
        s.name: alone[s.name] / s.encounters for s in found.sides
    }
    spread = Spread.of(*np.unique(nearest, return_counts=True))
    assert found.first_sight == spread


@pytest.mark.parametrize(("rows", "pairs"), [(1, 1), (7, 30), (50, 1000)])
def test_blocks_of_any_size(many, monkeypatch, rows, pairs):
    whole = summary(tables(*many))
    monkeypatch.setattr(streaming, "ROWS", rows)
    monkeypatch.setattr(streaming, "PAIRS", pairs)
    monkeypatch.setattr(counting, "PENDING", 1)
    assert summary(tables(*many)) == whole


def test_a_run_in_any_parts(many, tmp_path):
    whole = summary(tables(*many))
    cuts = [(0, 1), (1, 40), (40, 99)]
    parts = [tables(*many[a:b], numbers=range(a, b)) for a, b in cuts]
    found = summary(write(tmp_path / "run", *parts))
    assert (found.rejected, found.missing) == (0, 0)
    assert found == summary(str(tmp_path / "run")) == summary(open_run(tmp_path / "run"))
    assert found.to_dict() | {"rejected": None, "missing": None} == whole.to_dict()


def test_rows_in_any_order(many):
    tokens, pairs = tables(*many)
    order = np.random.default_rng(2).permutation
    shuffled = tokens.take(order(len(tokens))), pairs.take(order(len(pairs)))
    assert summary(shuffled) == summary((tokens, pairs))


def test_memory_is_bounded_by_the_block(many, monkeypatch):
    """No block is larger than it may be, and none is empty."""
    monkeypatch.setattr(streaming, "PAIRS", 60)
    monkeypatch.setattr(streaming, "ROWS", 16)
    sizes = [len(block.viewer) for block in streaming.Tables(tables(*many)).blocks()]
    assert max(sizes) <= 60
    assert sum(sizes) == sum(len(e[1]) * (len(e[1]) - 1) for e in many)


def test_words_may_be_plain_text():
    tokens, pairs = tables(*ALL)
    for name in ("board", "profile", "side"):
        at = tokens.schema.get_field_index(name)
        tokens = tokens.set_column(at, name, tokens[name].cast(pa.string()))
    assert summary((tokens, pairs)) == summary(tables(*ALL))


def test_gaps_where_rows_were_set_aside():
    assert summary(tables(*ALL, numbers=[3, 4, 900, 2**40])) == summary(tables(*ALL))


# -- runs


def test_rejects_are_counted(tmp_path):
    run = write(tmp_path / "run", tables(*ALL), tables(FOG, numbers=[7]))
    (run / "rejects").mkdir()
    (run / "rejects" / "part-00000.jsonl").write_text('{"row": 1}\n{"row": 5}\n')
    (run / "rejects" / "part-00001.jsonl").write_text('{"row": 7}\n')
    assert summary(run).rejected == 3
    assert "3 rows of the input set aside" in str(summary(run))


def test_of_a_run_that_was_cut_off_the_finished_parts_count(tmp_path):
    """A part is finished when its tokens are there."""
    run = write(tmp_path / "run", tables(*ALL), tables(AMBUSH, numbers=[4]))
    whole = summary(run)
    (run / "tokens" / "part-00001.parquet").unlink()
    rest = summary(run)
    assert (whole.encounters, whole.missing) == (5, 0)
    assert (rest.encounters, rest.missing) == (4, 1)
    assert "  1 part of the run not finished, and left out here" in str(rest).splitlines()


def test_what_an_analysis_returned(found):
    assert summary(Analysis(*tables(*ALL))) == found


def test_nothing_at_all(tmp_path):
    for run in (tables(), write(tmp_path / "run", tables())):
        found = summary(run)
        assert (found.encounters, found.tokens, found.sides, found.boards) == (0, 0, (), ())
        assert found.seen_by_all is None
        assert found.first_shot == Spread(0)
        assert "0 encounters on 0 boards, 0 tokens" in str(found)
        json.dumps(found.to_dict(), allow_nan=False)


# -- bad input


def test_no_run(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for folder in (tmp_path / "nothing", tmp_path, file):
        with pytest.raises(fc.RunError, match="there is none; expected the folder of a run"):
            summary(folder)


@pytest.mark.parametrize("kind", ["tokens", "pairs"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 99])
def test_a_broken_part_is_named(tmp_path, kind, content):
    run = write(tmp_path / "run", tables(*ALL))
    file = run / kind / "part-00000.parquet"
    file.write_bytes(content)
    with pytest.raises(fc.MapError, match="cannot be read") as caught:
        summary(run)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_part_cut_off_anywhere(tmp_path):
    run = write(tmp_path / "run", tables(*ALL))
    file = run / "tokens" / "part-00000.parquet"
    whole = file.read_bytes()
    for end in range(0, len(whole), 199):
        file.write_bytes(whole[:end])
        with pytest.raises(fc.MapError, match="cannot be read"):
            summary(run)


@pytest.mark.parametrize("given", [None, 3, (), (1, 2), [None], {"tokens": 1}])
def test_what_is_no_run(given):
    with pytest.raises(fc.ArgumentTypeError, match="expected a run, the folder of one"):
        summary(given)


def test_another_version():
    tokens, pairs = tables(*ALL)
    for version in (b"tokens 2", b"pairs 1", b"\xff"):
        other = tokens.replace_schema_metadata({b"fieldcraft": version})
        with pytest.raises(fc.MapError, match="expected 'tokens 1'"):
            summary((other, pairs))
    assert summary((tokens.replace_schema_metadata(None), pairs)).encounters == 4


def test_missing_columns():
    tokens, pairs = tables(*ALL)
    with pytest.raises(fc.MapError, match="table of pairs: has no column foe, malus"):
        summary((tokens, pairs.drop_columns(["foe", "malus"])))


@pytest.mark.parametrize("column", ["side", "stops", "encounter"])
def test_empty_places(column):
    tokens, pairs = tables(*ALL)
    at = tokens.schema.get_field_index(column)
    values = [None, *tokens[column].to_pylist()[1:]]
    broken = tokens.set_column(at, column, pa.array(values))
    with pytest.raises(fc.MapError, match=f"column {column} has an empty place"):
        summary((broken, pairs))


def test_a_word_that_is_none():
    tokens, pairs = tables(*ALL)
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 9, pa.int32()), pa.array([None, "red"]))
    broken = tokens.set_column(tokens.schema.get_field_index("side"), "side", words)
    with pytest.raises(fc.MapError, match="column side"):
        summary((broken, pairs))


def test_a_column_of_another_type():
    tokens, pairs = tables(*ALL)
    at = tokens.schema.get_field_index("stops")
    for values in (["many"] * 9, [2**40] * 9, [[1]] * 9):
        with pytest.raises(fc.MapError, match="column stops"):
            summary((tokens.set_column(at, "stops", pa.array(values)), pairs))


def test_tables_that_do_not_belong_together():
    tokens, pairs = tables(*ALL)
    for broken in (
        (tokens, pairs.slice(1)),
        (tokens, pairs.slice(0, len(pairs) - 1)),
        (tokens, pa.concat_tables([pairs, pairs])),
        (tokens, tables(DUEL, *ALL[1:])[1]),
        (tokens.slice(1), pairs),
        (tokens.slice(0, len(tokens) - 2), pairs),
        (pa.concat_tables([tokens, tokens]), pairs),
    ):
        with pytest.raises(fc.MapError, match=r"is missing|one too many|has not"):
            summary(broken)


def test_parts_that_overlap(tmp_path):
    run = write(tmp_path / "run", tables(*ALL), tables(*ALL))
    with pytest.raises(fc.MapError, match="encounter 0 comes after a later one"):
        summary(run)


def test_a_distance_must_be_finite():
    far = (DUEL[0], DUEL[1], {(0, 1): (math.inf, 0)})
    with pytest.raises(fc.MapError, match="a distance is not finite"):
        summary(tables(far))


def test_an_encounter_beyond_all_bounds(monkeypatch):
    monkeypatch.setattr(streaming, "MOST_TOKENS", 5)
    with pytest.raises(fc.MapError, match="encounter 0 has more than 5 tokens"):
        summary(tables(("glade", [token("red")] * 6, {})))


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(fc.MissingExtraError, match=r"fieldcraft\[table\]"):
        summary("run")


# -- the result


def test_it_is_a_value(found):
    assert found == summary(tables(*ALL)) == pickle.loads(pickle.dumps(found))
    assert isinstance(found, Summary)
    with pytest.raises(AttributeError):
        found.tokens = 3


def test_to_dict_is_plain(found):
    text = json.dumps(found.to_dict(), allow_nan=False)
    told = json.loads(text)
    assert told["sides"][0]["name"] == "blue"
    assert told["first_sight"]["histogram"] == [[3, 1], [4, 1]]
    assert told["boards"][2]["inequality"] is None


def test_text_tells_the_numbers(found):
    lines = str(found).splitlines()
    assert lines[0] == "4 encounters on 3 boards, 9 tokens"
    assert "  shares of encounters are of the 3 in which somebody has a foe" in lines
    assert "  only blue       33.3 %" in lines
    assert (
        "  A token sees 37.5 % of its foes. Of two foes just one sees the other in 25.0 %." in lines
    )
    assert any(line.startswith("  glade           2      33.3 %") for line in lines)
    assert max(map(len, lines)) <= 100


def test_text_of_many_boards_is_cut():
    found = summary(tables(*[(f"b{i}", FOG[1], {}) for i in range(30)]))
    assert "  and 20 more, down to 0.0 % on b9" in str(found).splitlines()


def test_names_that_cannot_be_printed():
    name = "\x1b[31m\n"
    odd = [token(name, name), token("", "")]
    text = str(summary(tables((name, odd, {(0, 1): (1, 0)}))))
    assert "\x1b" not in text
    assert r"only '\x1b[31m\n'" in text

"""Analyses in parts: the same however they are worked, and no part is lost or done again."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fieldcraft as fc
from battles import PROFILES, battles, boards, contents, identities, outside, values, write
from fieldcraft import encounters
from fieldcraft.encounters import files, local, work
from fieldcraft.encounters.folder import Folder, part_name
from fieldcraft.encounters.lock import LOCK, only_one

pa = pytest.importorskip("pyarrow")

N, SIZE = 200, 16
N_PARTS = 13
BAD = {20: "{", 21: outside(1), 100: outside(2)}


def analyse_to(file, out, **options):
    options = {"part_size": SIZE, "workers": 2, "progress": False, **options}
    return encounters.analyse_to(file, out, **options)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("battles"), N, bad=BAD)


@pytest.fixture(scope="module")
def whole(file, tmp_path_factory) -> Path:
    """Return the folder of a run that nobody interrupted, with one worker."""
    out = tmp_path_factory.mktemp("whole") / "out"
    analyse_to(file, out, workers=1)
    return out


# ---- The same however it is worked -------------------------------------------------------------


def test_a_run_has_all_parts(file, whole):
    run = encounters.open_run(whole)
    assert (run.n_encounters, run.n_parts) == (N, N_PARTS)
    assert run.finished == tuple(range(N_PARTS))
    assert run.missing == ()
    assert run.is_complete
    kinds = {"tokens": N_PARTS, "pairs": N_PARTS, "rejects": 2}
    assert {kind: len(list((whole / kind).iterdir())) for kind in kinds} == kinds
    assert {path.name for path in whole.iterdir()} == {*kinds, "run.json"}


@pytest.mark.parametrize("workers", [2, 5])
def test_workers_make_no_difference(file, whole, tmp_path, workers):
    analyse_to(file, tmp_path / "out", workers=workers)
    assert contents(tmp_path / "out") == contents(whole)


def test_the_order_of_parts_makes_no_difference(file, whole, tmp_path):
    known = encounters.boards_of(file)
    for part in reversed(files.parts(file, SIZE)):
        work.finish(work.Job(part, Folder(tmp_path), "reject"), known)
    assert contents(tmp_path) == {k: v for k, v in contents(whole).items() if k != "run.json"}


def test_a_run_is_the_analysis_in_memory(file, whole):
    found = encounters.read_run(whole)
    expected = encounters.analyse(file)
    assert found.tokens.equals(expected.tokens)
    assert found.pairs.equals(expected.pairs)
    assert found.rejects == expected.rejects
    assert found.missing == expected.missing == ()


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_encounters_in_memory_are_those_of_a_file(tmp_path, workers):
    given = battles(50)
    expected = encounters.analyse(write(tmp_path, 50, suffix=".parquet"))
    found = encounters.analyse(given, boards=boards(), workers=workers)
    assert values(found.tokens).equals(values(expected.tokens))
    assert found.pairs.equals(expected.pairs)
    one_by_one = encounters.analyse(iter(list(given)), boards=boards(), profiles=PROFILES)
    assert one_by_one.tokens["reached"].equals(expected.tokens["reached"])
    assert one_by_one.pairs["malus"].equals(expected.pairs["malus"])


def test_blocks_make_no_difference(tmp_path, monkeypatch):
    file = write(tmp_path, 50)
    whole = encounters.analyse(file)
    monkeypatch.setattr(work, "BLOCK", 7)
    monkeypatch.setattr(local, "PART", 20)
    found = encounters.analyse(file)
    assert found.tokens.equals(whole.tokens)
    assert found.pairs.equals(whole.pairs)


def test_nothing_is_no_encounter(tmp_path):
    file = write(tmp_path, 0)
    found = encounters.analyse(file)
    assert (found.tokens.num_rows, found.pairs.num_rows) == (0, 0)
    run = analyse_to(file, tmp_path / "out")
    assert (run.n_parts, run.is_complete) == (0, True)
    assert run.tokens().schema.equals(found.tokens.schema)
    assert encounters.analyse([], boards={}, profiles=[]).pairs.num_rows == 0


# ---- What is set aside -------------------------------------------------------------------------


def test_bad_rows_are_set_aside(whole):
    found = encounters.read_run(whole)
    assert [reject.row for reject in found.rejects] == [*BAD]
    assert found.rejects[1].field == "tokens[0].cell"
    assert {reject.original for reject in found.rejects} == {*BAD.values()}
    assert set(range(N)) - set(found.tokens["encounter"].to_pylist()) == {*BAD}


def test_a_part_of_bad_rows_is_finished_too(tmp_path):
    file = write(tmp_path, 12, bad={row: "?" for row in range(4, 8)})
    run = analyse_to(file, tmp_path / "out", part_size=4)
    assert run.is_complete
    assert [reject.row for reject in run.rejects()] == [4, 5, 6, 7]
    assert len(set(run.tokens()["encounter"].to_pylist())) == 8


def test_the_first_bad_row_stops_a_run_that_wants_none(file, whole, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(fc.MapError, match=r"battles\.jsonl, line 22: row 20: is not valid JSON"):
        analyse_to(file, out, on_error="raise")
    assert 1 not in encounters.open_run(out).finished
    with pytest.raises(fc.MapError, match="row 20"):
        encounters.analyse(file, on_error="raise")
    # What was finished holds without the others too.
    run = analyse_to(file, out)
    assert run.is_complete
    assert contents(out) == contents(whole)
    with pytest.raises(fc.RunError, match="on_error='raise'"):
        analyse_to(file, out, on_error="raise")


def test_encounters_in_memory_are_checked():
    given = encounters.Encounters.of(
        [
            encounters.Encounter("east", (encounters.Combatant("ogre", "red", (0, 0)),)),
            encounters.Encounter("east", (encounters.Combatant("ogre", "red", (0, 9)),)),
        ],
        PROFILES,
    )
    found = encounters.analyse(given, boards=boards())
    assert [reject.row for reject in found.rejects] == [1]
    assert found.tokens["encounter"].to_pylist() == [0]
    with pytest.raises(fc.MapError, match=r"row 1: tokens\[0\]\.cell: \(0, 9\)"):
        encounters.analyse(given, boards=boards(), on_error="raise")


# ---- Killed, interrupted, resumed --------------------------------------------------------------

CHILD = f"""
import sys, time
from fieldcraft import encounters

def tell(done, total):
    print(done, flush=True)
    if done >= int(sys.argv[3]):
        time.sleep(float(sys.argv[4]))

encounters.analyse_to(sys.argv[1], sys.argv[2], part_size={SIZE}, workers=2, progress=tell)
"""
FOUR_PARTS = 4 * SIZE


def begun(file: Path, out: Path, pause: float) -> subprocess.Popen[str]:
    """Begin a run in another process; return when four of its parts are finished."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, file, out, str(FOUR_PARTS), str(pause)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while (line := child.stdout.readline()) and int(line) < FOUR_PARTS:
        pass
    return child


def goes_on(file: Path, out: Path, whole: Path) -> None:
    """See that a run goes on where it was left, and ends as if nothing had been."""
    finished = identities(out)
    parts = encounters.open_run(out).finished
    assert 4 <= len(parts) < N_PARTS
    run = analyse_to(file, out)
    assert run.is_complete
    assert run.skipped == len(parts)
    assert {name: identities(out)[name] for name in finished} == finished
    assert contents(out) == contents(whole)


def test_a_killed_run_loses_no_part_and_repeats_none(file, whole, tmp_path):
    child = begun(file, tmp_path / "out", 60)
    child.kill()
    child.communicate()
    assert (tmp_path / "out" / LOCK).exists()
    goes_on(file, tmp_path / "out", whole)


@pytest.mark.skipif(os.name != "posix", reason="no other system sends an interrupt to a child")
def test_an_interrupted_run_ends_at_once_and_goes_on(file, whole, tmp_path):
    child = begun(file, tmp_path / "out", 60)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT
    last = errors.strip().splitlines()[-1]
    finished = len(encounters.open_run(tmp_path / "out").finished)
    assert last.startswith(
        f"KeyboardInterrupt: stopped: {finished} of {N_PARTS} parts are finished"
    )
    assert "the same call goes on" in last
    assert not (tmp_path / "out" / LOCK).exists()
    goes_on(file, tmp_path / "out", whole)


def test_an_interrupted_run_drops_what_is_under_way(file, tmp_path, monkeypatch):
    out, begun = tmp_path / "out", threading.Event()

    def score(*args, between, **options):
        begun.set()
        while True:  # until somebody wants it to stop
            between()

    def interrupted(*args):
        assert begun.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(work.scoring, "score", score)
    monkeypatch.setattr(local, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"stopped: 0 of 13 parts are finished"):
        analyse_to(file, out)
    assert [path.name for path in out.iterdir()] == ["run.json"]


def test_a_run_that_is_complete_does_nothing(file, whole, tmp_path):
    before = identities(whole)
    told = []
    run = analyse_to(file, whole, progress=lambda done, total: told.append((done, total)))
    assert (run.skipped, told) == (N_PARTS, [(N, N)])
    assert identities(whole) == before


def test_what_killed_writers_left_is_removed(file, whole, tmp_path):
    out = tmp_path / "out"
    analyse_to(file, out)
    for name in ("tokens/part-00003.parquet", "tokens/part-00007.parquet"):
        (out / name).unlink()
    left = [out / f"{kind}/.part-00003.parquet.0a1b.unfinished" for kind in ("tokens", "pairs")]
    for path in left:
        path.write_bytes(b"PAR1")
    run = analyse_to(file, out)
    assert run.skipped == N_PARTS - 2
    assert not any(path.exists() for path in left)
    assert contents(out) == contents(whole)


def test_a_run_can_be_read_before_it_is_complete(file, whole, tmp_path):
    out = tmp_path / "out"
    analyse_to(file, out)
    (out / "tokens/part-00001.parquet").unlink()
    run = encounters.open_run(out)
    assert (run.missing, run.is_complete) == ((1,), False)
    found, all_of_it = run.read(), encounters.read_run(whole)
    assert found.missing == (1,)
    assert [reject.row for reject in found.rejects] == [100]
    gone = range(SIZE, 2 * SIZE)
    for table, complete in ((found.tokens, all_of_it.tokens), (found.pairs, all_of_it.pairs)):
        rows = [number not in gone for number in complete["encounter"].to_pylist()]
        assert table.equals(complete.filter(pa.array(rows)))
    assert run.dataset("pairs").count_rows() == found.pairs.num_rows


def test_progress_is_told(file, tmp_path):
    told = []
    analyse_to(file, tmp_path / "out", progress=lambda done, total: told.append((done, total)))
    dones, totals = zip(*told, strict=True)
    assert {*totals} == {N}
    assert (dones[0], dones[-1], len(dones)) == (0, N, N_PARTS + 1)
    assert list(dones) == sorted(dones)


def test_a_bar_is_shown_on_a_terminal(file, tmp_path, monkeypatch, capsys):
    pytest.importorskip("rich")
    analyse_to(file, tmp_path / "silent", progress=None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    analyse_to(file, tmp_path / "shown", progress=None)
    shown = capsys.readouterr()
    assert (shown.out, "of 200 encounters" in shown.err) == ("", True)


# ---- Where a run may go on, and where not ------------------------------------------------------


@pytest.fixture
def small(tmp_path) -> tuple[Path, Path]:
    """Return a file and the folder of its run."""
    file = write(tmp_path, 40)
    analyse_to(file, tmp_path / "out")
    return file, tmp_path / "out"


def refused(file: Path, out: Path, match: str, **options: object) -> None:
    before = contents(out)
    with pytest.raises(fc.RunError, match=match):
        analyse_to(file, out, **options)
    assert contents(out) == before


def test_another_input_is_refused(small):
    file, out = small
    text = file.read_text(encoding="utf-8")
    file.write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    refused(file, out, r"another run.*its input is [\d,]+ bytes, not [\d,]+ bytes \(bytes\)")
    file.write_text(text.replace("red", "dre"), encoding="utf-8")
    refused(file, out, r"its input is \w{12}\.\.\., not \w{12}\.\.\. \(sha256\)")
    file.write_text(text, encoding="utf-8")
    assert analyse_to(file, out).skipped == 3


def test_another_board_is_refused(small):
    file, out = small
    board = file.parent / "battles.boards" / "west.toml"
    fc.write(fc.read(board).replace([(0, 0)], "mud"), board)
    refused(file, out, r"its boards are others \('west'\)")


def test_another_board_in_memory_is_refused(small, tmp_path):
    file, _ = small
    out, held = tmp_path / "held", boards()
    analyse_to(file, out, boards=held)
    assert analyse_to(file, out, boards=boards()).skipped == 3
    moved = fc.Token(fc.Creature("somebody"), (1, 1))
    assert analyse_to(file, out, boards={**held, "east": held["east"].replace(tokens=[moved])})
    changed = held["east"].replace([(0, 0)], "mud").replace([(0, 1)], "gravel")
    refused(file, out, r"its boards are others \('east'\)", boards={**held, "east": changed})
    refused(file, out, "its boards are others")


def test_other_parameters_are_refused(small, monkeypatch):
    file, out = small
    refused(file, out, "its part_size is 16, not 17", part_size=17)
    refused(file, out, "holds a run already, and resume is False", resume=False)
    monkeypatch.setattr(fc.encounters.run._version, "__version__", "99")
    refused(file, out, r"its version of fieldcraft is .*, not 99")


def test_a_moved_input_goes_on(small, tmp_path):
    file, out = small
    (tmp_path / "elsewhere").mkdir()
    moved = write(tmp_path / "elsewhere", 40)
    assert moved.read_bytes() == file.read_bytes()
    assert analyse_to(moved, out).skipped == 3


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "is not the record of a run"),
        ("[]", "is not the record of a run"),
        ('{"fieldcraft": "run"}', "is not the record of a run"),
        ('{"fieldcraft": "encounters", "version": 1}', "is 'encounters' of version 1"),
        ('{"fieldcraft": "run", "version": 99}', "is 'run' of version 99"),
        ('{"fieldcraft": "run", "version": 1}', "package is None"),
    ],
)
def test_a_record_that_is_none_is_refused(small, text, match):
    file, out = small
    (out / "run.json").write_text(text, encoding="utf-8")
    refused(file, out, match)
    with pytest.raises(fc.RunError, match=match):
        encounters.open_run(out)


def test_tables_without_a_record_are_refused(small):
    file, out = small
    (out / "run.json").unlink()
    refused(file, out, r"has tables, but no run\.json")
    with pytest.raises(fc.RunError, match="there is none"):
        encounters.open_run(out)


def test_a_run_has_two_tables(small):
    with pytest.raises(fc.RunError, match="tokens and pairs, and not 'rejects'"):
        encounters.open_run(small[1]).dataset("rejects")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"workers": 0}, "workers must be a whole number from 1 to 1,024, not 0"),
        ({"workers": True}, "workers"),
        ({"part_size": 0}, "part_size must be a whole number from 1 to 1,048,576, not 0"),
        ({"part_size": 1.5}, "part_size"),
        ({"on_error": "ignore"}, "on_error must be 'reject' or 'raise', not 'ignore'"),
        ({"progress": 3}, "progress must be a function, True or False, not 3"),
        ({"client": object()}, "workers and client exclude each other"),
    ],
)
def test_arguments_are_checked(small, tmp_path, options, match):
    with pytest.raises(fc.ArgumentTypeError, match=match):
        analyse_to(small[0], tmp_path / "new", **options)


def test_sources_are_checked(tmp_path):
    with pytest.raises(fc.ArgumentTypeError, match=r"must be a file.*not Encounters"):
        analyse_to(battles(3), tmp_path / "out")
    with pytest.raises(fc.ArgumentTypeError, match="must be a path or a URL, not 3"):
        analyse_to(tmp_path / "none.jsonl", 3)
    with pytest.raises(fc.MapError, match="there is no such file"):
        analyse_to(tmp_path / "none.jsonl", tmp_path / "out")
    with pytest.raises(fc.ArgumentTypeError, match="boards is missing; expected the boards east"):
        encounters.analyse(battles(3))
    with pytest.raises(fc.ArgumentTypeError, match="profiles is missing"):
        encounters.analyse(list(battles(3)), boards=boards())
    with pytest.raises(fc.ArgumentTypeError, match="has its own profiles"):
        encounters.analyse(battles(3), boards=boards(), profiles=PROFILES)
    with pytest.raises(fc.ArgumentTypeError, match=r"source must be Encounters.*not int"):
        encounters.analyse(3, boards=boards())


def test_too_many_parts_are_refused(file, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "MOST_PARTS", 12)
    with pytest.raises(fc.ArgumentTypeError, match="part_size 16 makes 13 parts; at most 12"):
        analyse_to(file, tmp_path / "out")


# ---- One at a time -----------------------------------------------------------------------------


def test_two_runs_in_one_folder_are_refused(file, tmp_path):
    out = tmp_path / "out"

    def again(done, total):
        if done == 0:
            with pytest.raises(fc.RunError, match=f"process {os.getpid()} on .* is writing there"):
                analyse_to(file, out)

    assert analyse_to(file, out, progress=again).is_complete


@pytest.mark.parametrize("host", [None, "another-machine"])
def test_a_lock_is_taken_over_from_the_dead_of_this_machine_only(tmp_path, host):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    who = {"pid": dead.pid, "host": host or socket.gethostname(), "began": "1"}
    (tmp_path / LOCK).write_text(json.dumps(who), encoding="utf-8")
    if host is None:
        with only_one(tmp_path):
            assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
        assert list(tmp_path.iterdir()) == []
    else:
        with (
            pytest.raises(fc.RunError, match=f"process {dead.pid} on another-machine"),
            only_one(tmp_path),
        ):
            pass


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nobody tells when one began")
def test_a_number_that_was_given_again_is_another_process(tmp_path):
    who = {"pid": os.getpid(), "host": socket.gethostname(), "began": "1"}
    (tmp_path / LOCK).write_text(json.dumps(who), encoding="utf-8")
    with only_one(tmp_path):
        pass


def test_a_lock_without_contents_is_held_for_a_moment(tmp_path):
    lock = tmp_path / LOCK
    lock.touch()
    with pytest.raises(fc.RunError, match="another process is writing there"), only_one(tmp_path):
        pass
    os.utime(lock, (0, 0))
    with only_one(tmp_path):
        pass


# ---- Folders -----------------------------------------------------------------------------------


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    folder = Folder(tmp_path)
    folder.put("tokens/part-00000.parquet", b"before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(fc.RunError, match=r"part-00000\.parquet: cannot be written \(No space"):
        folder.put("tokens/part-00000.parquet", b"after")
    assert contents(tmp_path) == {"tokens/part-00000.parquet": b"before"}


def test_parts_are_numbered():
    assert part_name("rejects", 12) == "rejects/part-00012.jsonl"
    folder = pickle.loads(pickle.dumps(Folder("somewhere")))
    assert folder.where == os.path.abspath("somewhere")
    assert folder.parts("tokens") == []


def test_an_object_store_will_do(file, whole):
    pytest.importorskip("fsspec")
    url = "memory://bucket/run"
    run = analyse_to(file, url)
    assert (run.folder, run.is_complete) == (url, True)
    assert analyse_to(file, url).skipped == N_PARTS
    found, expected = encounters.read_run(url), encounters.read_run(whole)
    assert found.tokens.equals(expected.tokens)
    assert found.pairs.equals(expected.pairs)
    assert found.rejects == expected.rejects
    with pytest.raises(fc.RunError, match=r"memory://bucket/none/run\.json: there is none"):
        encounters.open_run("memory://bucket/none")
    with pytest.raises(fc.RunError, match="its part_size is 16, not 20"):
        analyse_to(file, url, part_size=20)
    with pytest.raises(fc.RunError, match="is not known"):
        analyse_to(file, "nowhere://bucket/run")


def test_a_url_of_this_machine_is_a_path(file, whole, tmp_path):
    analyse_to(file, (tmp_path / "a folder").as_uri())
    assert contents(tmp_path / "a folder") == contents(whole)

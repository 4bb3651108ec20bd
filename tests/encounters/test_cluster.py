"""The parts of an analysis on a cluster: the same as here, also when a worker is lost."""

from __future__ import annotations

import os
import signal
from asyncio import CancelledError

import pytest

import fieldcraft as fc
from battles import boards, contents, values, write
from fieldcraft import encounters
from fieldcraft.encounters import cluster
from fieldcraft.encounters.folder import Folder

pa = pytest.importorskip("pyarrow")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

N, SIZE = 300, 10
N_PARTS = 30
BAD = {7: "{", 150: "[]"}


@pytest.fixture(scope="module")
def client():
    """Return the client of a cluster of two processes, with a thread each."""
    spawned = {"distributed.worker.multiprocessing-method": "spawn"}
    with (
        dask.config.set(spawned),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("battles"), N, bad=BAD)


@pytest.fixture(scope="module")
def whole(file, tmp_path_factory):
    """Return the folder of the same analysis on this machine; kernels are compiled by it."""
    out = tmp_path_factory.mktemp("whole") / "out"
    encounters.analyse_to(file, out, part_size=SIZE, progress=False)
    return out


def on_cluster(client, file, out, **options):
    options = {"part_size": SIZE, "progress": False, **options}
    return encounters.analyse_to(file, out, client=client, **options)


def test_a_worker_that_is_killed_makes_no_difference(whole, client, file, tmp_path):
    before = client.run(os.getpid)

    def kill_one(done, total):
        if len(told) == 2:
            os.kill(next(iter(before.values())), signal.SIGKILL)
        told.append(done)

    told = []
    run = on_cluster(client, file, tmp_path / "out", progress=kill_one)
    assert run.is_complete
    assert (told[0], told[-1], len(told)) == (0, N, N_PARTS + 1)
    assert contents(tmp_path / "out") == contents(whole)
    client.wait_for_workers(2)
    assert len(set(before.values()) - set(client.run(os.getpid).values())) == 1


def test_a_run_begun_here_goes_on_there(whole, client, file, tmp_path):
    out = tmp_path / "out"
    encounters.analyse_to(file, out, part_size=SIZE, progress=False)
    for part in (3, 17):
        (out / f"tokens/part-{part:05d}.parquet").unlink()
    assert on_cluster(client, file, out).skipped == N_PARTS - 2
    assert contents(out) == contents(whole)


def test_boards_in_memory_are_sent(whole, client, file, tmp_path):
    run = on_cluster(client, file, tmp_path / "out", boards=boards(), part_size=100)
    expected = encounters.read_run(whole)
    assert values(run.tokens()).equals(values(expected.tokens))
    assert run.pairs().equals(expected.pairs)
    assert tuple(run.rejects()) == expected.rejects


def test_a_bad_row_stops_a_run_that_wants_none(whole, client, file, tmp_path):
    with pytest.raises(fc.MapError, match=r"battles\.jsonl, line 9: row 7: is not valid JSON"):
        on_cluster(client, file, tmp_path / "out", on_error="raise")


def test_an_error_names_the_part_and_the_worker(whole, client, file, tmp_path):
    def cut_off(done, total):
        if not done:
            file.rename(file.with_suffix(".gone"))

    try:
        with pytest.raises(
            fc.MapError, match=r"part \d, on worker tcp://.*: there is no such file"
        ):
            on_cluster(client, file, tmp_path / "out", progress=cut_off)
    finally:
        file.with_suffix(".gone").rename(file)


def test_a_folder_that_cannot_be_written_to_is_named(whole, client, file, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "pairs").write_text("", encoding="utf-8")
    with pytest.raises(fc.RunError, match=r"part \d, on worker tcp://.*pairs.*cannot be written"):
        on_cluster(client, file, tmp_path / "out")


def test_an_interrupt_leaves_what_is_finished(whole, client, file, tmp_path):
    def interrupt(done, total):
        if done >= 4 * SIZE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=f"of {N_PARTS} parts are finished"):
        on_cluster(client, file, tmp_path / "out", progress=interrupt)
    run = on_cluster(client, file, tmp_path / "out")
    assert run.skipped >= 4
    assert contents(tmp_path / "out") == contents(whole)


def test_a_worker_that_sees_another_folder_is_told(tmp_path, whole, monkeypatch):
    with pytest.raises(fc.RunError, match="expected a folder that all workers share"):
        cluster._check(Folder(tmp_path))
    cluster._check(Folder(whole))
    monkeypatch.setattr(cluster._version, "__version__", "99")
    with pytest.raises(fc.RunError, match="here is fieldcraft 99; the run is one of"):
        cluster._check(Folder(whole))


class Lost:
    """The future of a part that came to nothing."""

    def __init__(self, error):
        self.error = error

    def result(self):
        raise self.error


def test_a_part_that_is_lost_for_good_is_told():
    killed = distributed.scheduler.KilledWorker("part", None, 3)
    with pytest.raises(fc.RunError, match="part 5 was lost with its worker again and again"):
        cluster._done(Lost(killed), 5)
    with pytest.raises(fc.RunError, match="the cluster has given up part 6"):
        cluster._done(Lost(CancelledError("part")), 6)


def test_a_client_is_expected(file, tmp_path):
    with pytest.raises(fc.ArgumentTypeError, match=r"must be a distributed\.Client.*not 'tcp"):
        on_cluster("tcp://localhost", file, tmp_path / "out")

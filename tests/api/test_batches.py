"""How batches are spread over threads."""

import os
import sys
import threading
import time

import numpy as np
import pytest

import fieldcraft as fc
from fieldcraft import queries


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch):
    monkeypatch.setattr(queries, "cores", lambda: 2)


def test_results_come_in_order_and_threads_stay():
    seen = set()

    def part(begin, end):
        seen.add(threading.get_ident())
        return list(range(begin, end))

    for n in (1, 2, 31, 1000):
        assert queries.spread(n, part) == list(range(n))
    assert queries.spread(0, part) == []
    threads = set(seen)
    queries.spread(1000, part)
    assert len(seen) <= len(threads) + 1  # at most the second of the two joins late
    assert threading.get_ident() in seen  # a batch of one is the caller's own


def test_a_batch_within_a_batch_ends():
    def part(begin, end):
        return [queries.spread(40, lambda a, b: list(range(a, b))) for _ in range(begin, end)]

    assert queries.spread(8, part) == [list(range(40))] * 8


def test_an_error_stops_what_has_not_begun():
    begun = []

    def part(begin, end):
        begun.append(begin)
        if begin == 0:
            raise ValueError("the first")
        time.sleep(0.01)
        return [begin]

    with pytest.raises(ValueError, match="the first"):
        queries.spread(10_000, part)
    count = len(begun)
    assert count < 2 * queries.BLOCKS_A_WORKER
    assert queries.spread(4, lambda a, b: [a]) == [0, 1, 2, 3]
    assert len(begun) == count


def test_the_caller_works_along_and_hears_of_errors_elsewhere():
    caller, seen = threading.get_ident(), set()

    def part(begin, end):
        seen.add(threading.get_ident())
        time.sleep(0.005)
        if threading.get_ident() != caller:
            raise ValueError("elsewhere")
        return [begin]

    with pytest.raises(ValueError, match="elsewhere"):
        queries.spread(1000, part)
    assert caller in seen
    assert len(seen) == 2


def test_a_batch_does_not_wait_for_threads_that_others_keep_busy():
    """Neither for their work, nor for them to notice that it has been called off."""
    may_go = threading.Event()

    def slow(begin, end):
        may_go.wait(60)
        return [0] * (end - begin)

    others = [threading.Thread(target=queries.spread, args=(8, slow)) for _ in range(2)]
    for one in others:
        one.start()
    time.sleep(0.1)
    assert queries.spread(24, lambda a, b: [1] * (b - a)) == [1] * 24
    assert all(one.is_alive() for one in others)
    may_go.set()
    for one in others:
        one.join()


def test_answers_are_counted_as_those_of_a_list():
    found = fc.grid.field(np.ones((9, 9))).reach_many([(1, 1), (5, 5)], 2)
    assert found[np.int64(-1)] == found[1]
    assert found[-2:] == [found[0], found[1]]
    for place in (2, -3):
        with pytest.raises(IndexError):
            found[place]
    for place in (1.5, "1", None):
        with pytest.raises(TypeError):
            found[place]


def test_an_interrupt_waits_for_what_has_begun():
    caller, running = threading.get_ident(), []

    def part(begin, end):
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        running.append(1)
        time.sleep(0.05)
        running.pop()
        return [begin]

    with pytest.raises(KeyboardInterrupt):
        queries.spread(1000, part)
    assert not running


def test_batches_of_nothing_and_of_no_steps():
    field = fc.grid.field(np.ones((9, 9)))
    nothing = np.zeros((0, 2), np.int64)
    assert len(field.reach_many(nothing, 3)) == len(field.paths(nothing.reshape(0, 2, 2))) == 0
    assert len(fc.grid.sight_field(np.zeros((9, 9), bool)).views(nothing)) == 0
    here = [((i, i), (i, i)) for i in range(9)]
    assert [path.cost for path in field.paths(here)] == [0] * 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="warns of forks with threads")
def test_a_forked_child_has_threads_of_its_own():
    field = fc.grid.field(np.ones((9, 9)))
    starts = [(i, i) for i in range(9)] * 10
    wanted = [len(reach) for reach in field.reach_many(starts, 3)]
    child = os.fork()
    if child == 0:
        found = [len(reach) for reach in field.reach_many(starts, 3)]
        os._exit(0 if found == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_items_in_turn():
    assert list(queries.in_turn(range(50), lambda i: i * i)) == [i * i for i in range(50)]
    assert list(queries.in_turn([], str)) == []


def test_an_iterator_that_is_dropped_leaves_nothing_running():
    begun = []
    for item in queries.in_turn(range(1000), begun.append):
        assert item is None
        break
    count = len(begun)
    assert queries.spread(4, lambda a, b: [a]) == [0, 1, 2, 3]
    assert len(begun) == count < 10


def test_batches_do_not_wait_for_each_other(monkeypatch):
    """A count asked for by a thread of the team, and one by somebody who waits for the team."""
    slow, other = fc.grid.field(np.ones((60, 60))), fc.grid.field(np.ones((80, 80)))

    def within(begin, end):
        return [int(slow.reaches(1 + i % 3).count.sum()) for i in range(begin, end)]

    def outside():
        for i in range(20):
            other.reaches(1 + i % 3).count.sum()

    thread = threading.Thread(target=outside, daemon=True)
    thread.start()
    found = queries.spread(20, within)
    thread.join(60)
    assert not thread.is_alive()
    assert len(set(found)) == 3

"""Work that several threads share."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from scstream import kernels
from scstream.helper_threads import Helpers
from scstream.kernels.basics.queue import next_piece
from scstream.threads import queue_of, run, run_queue


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("pieces", [1, 3, 40])
def test_run_does_every_piece_once(threads: int, pieces: int) -> None:
    done: list[int] = []
    run(threads, done.append, pieces)
    assert sorted(done) == list(range(pieces))


@pytest.mark.parametrize("threads", [1, 3])
def test_run_passes_an_error_on(threads: int) -> None:
    def work(piece: int) -> None:
        raise RuntimeError(f"piece {piece}")

    with pytest.raises(RuntimeError, match="piece"):
        run(threads, work, 5)


def test_run_passes_the_error_of_a_helper_on() -> None:
    failed = threading.Event()

    def work(piece: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            failed.set()
            raise RuntimeError("helper")
        failed.wait(10.0)

    with pytest.raises(RuntimeError, match="helper"):
        run(2, work, 2)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("pieces", [1, 5, 200])
def test_kernels_that_share_a_queue_write_every_row(threads: int, pieces: int) -> None:
    small = np.random.default_rng(3).integers(0, 100, (400, 300)).astype(np.int32)
    out = np.full((800, 600), -1, np.int32)
    queue = queue_of(np.linspace(0, 800, pieces + 1).astype(int))
    run_queue(threads, queue, lambda queue: kernels.enlarge(queue, small, out))
    np.testing.assert_array_equal(out, small.repeat(2, axis=0).repeat(2, axis=1))
    assert queue.taken[0] >= pieces


def test_no_piece_is_taken_twice() -> None:
    """Each thread notes the pieces that it gets: together they are all, and none is there twice."""
    queue = queue_of(np.arange(3001))
    taken: list[list[int]] = []

    def take(queue: kernels.Queue) -> None:
        mine: list[int] = []
        taken.append(mine)
        while (piece := next_piece(queue)) >= 0:
            mine.append(piece)

    run_queue(4, queue, take)
    assert sorted(piece for mine in taken for piece in mine) == list(range(3000))


def test_a_wait_ends_when_another_thread_changes_the_counter() -> None:
    counter = np.zeros(1, np.int64)
    other = threading.Timer(0.01, lambda: counter.__setitem__(0, 1))
    other.start()
    try:
        assert any(kernels.wait_for_change(counter, 0, 10_000) for _ in range(10_000))
    finally:
        other.join()
    assert not kernels.wait_for_change(counter, 1, 10)


def test_helpers_take_part_in_many_works_in_a_row() -> None:
    """Both threads must meet in every work, whether the helper is still awake or has to be woken."""
    for _ in range(3):
        helpers = Helpers(2)
        for _ in range(100):
            helpers.share(1, threading.Barrier(2, timeout=10.0).wait)


def test_a_caller_waits_for_a_helper_that_has_begun() -> None:
    begun, left, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        if threading.current_thread() is threading.main_thread():
            begun.wait(10.0)
            left.set()
        else:
            begun.set()
            left.wait(10.0)
            ended.append(True)

    Helpers(2).share(1, work)
    assert ended == [True]


def test_an_error_of_the_caller_does_not_leave_a_helper_behind() -> None:
    begun, left, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        if threading.current_thread() is threading.main_thread():
            begun.wait(10.0)
            left.set()
            raise RuntimeError("caller")
        begun.set()
        left.wait(10.0)
        ended.append(True)

    helpers = Helpers(2)
    with pytest.raises(RuntimeError, match="caller"):
        helpers.share(1, work)
    assert ended == [True]
    helpers.share(1, lambda: None)


def test_work_can_share_work() -> None:
    done: list[int] = []
    run(2, lambda outer: run(2, lambda inner: done.append(10 * outer + inner), 3), 4)
    assert sorted(done) == [10 * outer + inner for outer in range(4) for inner in range(3)]


def test_two_callers_share_a_pool() -> None:
    totals = np.zeros((2, 200), np.int64)

    def call(caller: int) -> None:
        for turn in range(200):
            parts: list[int] = []
            run(2, parts.append, 20)
            totals[caller, turn] = sum(parts)

    callers = [threading.Thread(target=call, args=(caller,)) for caller in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert (totals == sum(range(20))).all()

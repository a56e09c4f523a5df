"""Work that several threads share."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from scstream import kernels
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


def test_no_helper_works_on_after_an_error() -> None:
    working, done = threading.Event(), list[int]()

    def work(piece: int) -> None:
        if threading.current_thread() is threading.main_thread():
            working.wait(10.0)
            raise KeyboardInterrupt
        working.set()
        done.append(piece)

    with pytest.raises(KeyboardInterrupt):
        run(2, work, 1_000_000)
    n_done = len(done)
    assert 0 < n_done < 999_999
    assert not threading.Event().wait(0.05)
    assert len(done) == n_done


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

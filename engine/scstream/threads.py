"""Run independent pieces of work on several threads; compiled kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from scstream.kernels import Queue
from scstream.phases import share

#: Pictures of at most this number of pixels are worked on by one thread: waking others takes as long as they save.
_SERIAL_PIXELS = 20_000

_limit: ContextVar[int] = ContextVar("threads", default=1)


@cache
def cores() -> int:
    """Number of cores that this process may use, cached because asking the system takes as long as a small kernel."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(pixels: int, threads: int) -> int:
    """Return the number of threads to use for a picture: one if it has few pixels.

    >>> threads_for(854 * 480, 4), threads_for(160 * 90, 4)
    (4, 1)
    """
    return threads if pixels > _SERIAL_PIXELS else 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="scstream")


def run(threads: int, work: Callable[[int], None], pieces: int) -> None:
    """Call work(0) ... work(pieces - 1) on several threads, including the calling one."""
    queue = iter(range(pieces))

    def drain() -> None:
        try:
            for piece in queue:
                work(piece)
        except BaseException:
            # Other threads need not do the rest.
            for _ in queue:
                pass
            raise

    _run_on_all(threads, pieces, drain)


def run_queue(threads: int, queue: Queue, work: Callable[[Queue], None]) -> None:
    """Call work(queue), a kernel that takes pieces from the queue until it is empty, on several threads.

    Faster than `run` if another thread, such as a window's, runs Python code: the kernel takes its next piece without
    waiting for the interpreter's lock.
    """
    _run_on_all(threads, len(queue.order), lambda: work(queue))


@lru_cache(256)
def split_evenly(n: int, pieces: int) -> npt.NDArray[np.int64]:
    """Edges (pieces + 1,) of nearly equal ranges that cover [0, n). Cached: callers must not change them."""
    return np.linspace(0, n, pieces + 1).astype(np.int64)


def queue_of(edges: npt.NDArray[np.int64], order: npt.NDArray[np.int64] | None = None) -> Queue:
    """Return a queue of the pieces [edges[i], edges[i + 1]), taken in this order, or in their own."""
    return Queue(edges, np.arange(len(edges) - 1) if order is None else order, np.zeros(1, np.int64))


def even_queue(n: int, pieces: int) -> Queue:
    """Return a queue of nearly equal ranges that cover [0, n)."""
    return queue_of(split_evenly(n, pieces))


def _run_on_all(threads: int, pieces: int, work: Callable[[], None]) -> None:
    if pieces < 2:
        work()
        return
    share(lambda: _share_between(min(threads, pieces), threads, work))


def _share_between(n: int, threads: int, work: Callable[[], None]) -> None:
    """Call work on n threads of the pool for ``threads``, including the calling one."""
    helpers = [_pool(threads).submit(work) for _ in range(n - 1)]
    try:
        work()
    except BaseException:
        # Their arrays may change as soon as the error is passed on.
        wait([helper for helper in helpers if not helper.cancel()])
        raise
    for helper in helpers:
        # A helper that has not started has nothing left to do.
        if not helper.cancel():
            helper.result()


@contextmanager
def thread_limit(threads: int | None) -> Iterator[None]:
    """Set the number of threads that `run_ranges` uses; None: one for each core."""
    token = _limit.set(threads or cores())
    try:
        yield
    finally:
        _limit.reset(token)


def threads_available() -> int:
    """Number of threads set by `thread_limit`; 1 on the threads of a pool."""
    return _limit.get()


def run_ranges(n: int, size: int, work: Callable[[int, int], None]) -> None:
    """Call work(first, last) on consecutive ranges of ``size`` that cover [0, n); see `thread_limit`."""
    if 0 < n <= size:
        work(0, n)
        return
    run(_limit.get(), lambda piece: work(piece * size, min((piece + 1) * size, n)), -(-n // size))

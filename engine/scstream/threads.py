"""Spread independent pieces of work over ordinary threads; compiled kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import numpy as np
import numpy.typing as npt

from scstream.kernels import Queue

_limit: ContextVar[int] = ContextVar("threads", default=1)


@cache
def cores() -> int:
    """How many there are; to ask the system takes as long as a small kernel."""
    return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="scstream")


def run(threads: int, work: Callable[[int], None], pieces: int) -> None:
    """Call work(0) ... work(pieces - 1), spread over the threads, the calling one included."""
    queue = iter(range(pieces))

    def drain() -> None:
        for piece in queue:
            work(piece)

    _together(threads, pieces, drain)


def share(threads: int, queue: Queue, work: Callable[[Queue], None]) -> None:
    """Call work(queue), a kernel that takes pieces until there are none, on each of the threads, this one included.

    A thread that has to ask Python for every piece waits whenever another one, such as a window's, is in Python code.
    """
    _together(threads, len(queue.order), lambda: work(queue))


def queue_of(edges: npt.NDArray[np.int64], order: npt.NDArray[np.int64] | None = None) -> Queue:
    """A queue of the pieces [edges[i], edges[i + 1]), in this order if there is one."""
    return Queue(edges, np.arange(len(edges) - 1) if order is None else order, np.zeros(1, np.int64))


def _together(threads: int, pieces: int, work: Callable[[], None]) -> None:
    helpers = [_pool(threads).submit(work) for _ in range(min(threads, pieces) - 1)]
    work()
    for helper in helpers:
        # One that has not even begun is not waited for: nothing is left for it.
        if not helper.cancel():
            helper.result()


@contextmanager
def using(threads: int | None) -> Iterator[None]:
    """Let `spread` use so many threads; None: as many as there are cores."""
    token = _limit.set(threads or cores())
    try:
        yield
    finally:
        _limit.reset(token)


def spread(n: int, size: int, work: Callable[[int, int], None]) -> None:
    """Call work(first, last) on consecutive ranges of ``size`` that cover [0, n)."""
    run(_limit.get(), lambda piece: work(piece * size, min((piece + 1) * size, n)), -(-n // size))

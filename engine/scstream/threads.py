"""Spread independent pieces of work over ordinary threads; compiled kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

_limit: ContextVar[int] = ContextVar("threads", default=1)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="scstream")


def run(threads: int, work: Callable[[int], None], pieces: int) -> None:
    """Call work(0) ... work(pieces - 1), spread over the threads, the calling one included."""
    queue = iter(range(pieces))

    def drain() -> None:
        for piece in queue:
            work(piece)

    helpers = [_pool(threads).submit(drain) for _ in range(min(threads, pieces) - 1)]
    drain()
    for helper in helpers:
        helper.result()


@contextmanager
def using(threads: int | None) -> Iterator[None]:
    """Let `spread` use so many threads; None: as many as there are cores."""
    token = _limit.set(threads or os.cpu_count() or 1)
    try:
        yield
    finally:
        _limit.reset(token)


def spread(n: int, size: int, work: Callable[[int, int], None]) -> None:
    """Call work(first, last) on consecutive ranges of ``size`` that cover [0, n)."""
    run(_limit.get(), lambda piece: work(piece * size, min((piece + 1) * size, n)), -(-n // size))

"""Threads that help a calling thread, and stay awake for a moment in case that it needs them again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter, sleep

import numpy as np

from scstream import kernels

#: How long a helper stays awake after its work, in seconds: longer than most serial parts of a step.
_AWAKE = 0.0007
#: How long a caller sleeps at a time, in seconds, while it waits for a helper that takes longer than that.
_NAP = 0.0001
#: Looks that are timed to find out how many fit into a time, and how often that is repeated.
_TRIAL, _TRIALS = 300, 5


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="scstream")


@cache
def _looks() -> int:
    """Number of looks of `wait_for_change` in the time that a helper stays awake."""
    counter, times = np.zeros(1, np.int64), []
    for _ in range(_TRIALS):
        begin = perf_counter()
        kernels.wait_for_change(counter, 0, _TRIAL)
        times.append(perf_counter() - begin)
    # The first call may compile the kernel, and other threads may run in between.
    return int(_AWAKE / min(times) * _TRIAL)


class Helpers:
    """Helpers of one calling thread, from a pool that all callers share.

    Waking a sleeping thread takes as long as a small kernel, and much longer if the processor sleeps, too. A step of a
    video has a dozen parts that several threads share, with serial ones in between. So a helper that has nothing to do
    first watches for the next work, without the interpreter's lock, before it returns to the pool.
    """

    def __init__(self, threads: int) -> None:
        self._pool = _pool(threads)
        self._lock = threading.Lock()
        #: Number of works so far, and of helpers that have ended the present one.
        self._turn, self._ended = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._work: Callable[[], None] | None = None
        self._awake: set[int] = set()
        self._begun = 0
        self._errors: list[BaseException] = []

    def share(self, n: int, work: Callable[[], None]) -> None:
        """Call work on the calling thread and on n helpers, and wait for those that have begun.

        Raises
        ------
        BaseException
            The first error of a helper.
        """
        if self._work is not None:
            # The work itself has work to share: its helpers are busy.
            work()
            return
        self._begin(n, work)
        try:
            work()
        finally:
            self._end()
        if self._errors:
            raise self._errors.pop()

    def _begin(self, n: int, work: Callable[[], None]) -> None:
        with self._lock:
            seen = int(self._turn[0])
            self._work, self._begun, self._ended[0] = work, 0, 0
            self._errors.clear()
            self._turn[0] = seen + 1
            asleep = [helper for helper in range(n) if helper not in self._awake]
            self._awake.update(asleep)
        for helper in asleep:
            self._pool.submit(self._help, helper, seen)

    def _end(self) -> None:
        with self._lock:
            # A helper that has not begun has nothing left to do.
            self._work = None
            begun = self._begun
        while (ended := int(self._ended[0])) < begun:
            if not kernels.wait_for_change(self._ended, ended, _looks()):
                sleep(_NAP)

    def _help(self, helper: int, seen: int) -> None:
        """Take part in the works after turn ``seen``, until none comes for a while."""
        while True:
            kernels.wait_for_change(self._turn, seen, _looks())
            with self._lock:
                if int(self._turn[0]) == seen:
                    self._awake.discard(helper)
                    return
                seen, work = int(self._turn[0]), self._work
                if work is None:
                    continue
                self._begun += 1
            try:
                work()
            except BaseException as error:
                self._errors.append(error)
            with self._lock:
                self._ended[0] += 1


_helpers = threading.local()


def helpers_of_caller(threads: int) -> Helpers:
    """Return the helpers of the calling thread, of the pool with a number of threads."""
    by_threads: dict[int, Helpers] = _helpers.__dict__.setdefault("by_threads", {})
    if threads not in by_threads:
        by_threads[threads] = Helpers(threads)
    return by_threads[threads]

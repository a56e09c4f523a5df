"""Times of repeated calls and their percentiles, on a given number of threads."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter, process_time, sleep
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

T = TypeVar("T")

_PAUSE = 0.05


def limit_threads(threads: int) -> AbstractContextManager[object]:
    """Limit the threads of OpenMP and BLAS, which scikit-learn uses, while the context is open."""
    limit: AbstractContextManager[object] = _controller().limit(limits=threads)
    return limit


@cache
def _controller() -> ThreadpoolController:
    # Cached because it searches all loaded libraries.
    return ThreadpoolController()


@dataclass(slots=True)
class Stopwatch:
    """Times of calls in milliseconds; each call follows a pause in seconds.

    ``processor`` holds the times of all threads together. Other programs hardly affect them, but threads that wait
    actively count as busy.
    """

    pause: float = _PAUSE
    milliseconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def time(self, step: Callable[[], T]) -> T:
        """Call ``step``, record its duration and return its result.

        The pause lets the threads of the previous method go to sleep: those of OpenBLAS and OpenMP keep spinning for
        a while, which would slow down the next method.
        """
        sleep(self.pause)
        begin, begin_processor = perf_counter(), process_time()
        result = step()
        self.milliseconds.append(1000.0 * (perf_counter() - begin))
        self.processor.append(1000.0 * (process_time() - begin_processor))
        return result

    def summary(self) -> dict[str, float]:
        """Median, 10th and 90th percentile in milliseconds."""
        p10, median, p90 = np.percentile(self.milliseconds, [10, 50, 90])
        return {"ms_median": _rounded(median), "ms_p10": _rounded(p10), "ms_p90": _rounded(p90)}


def _rounded(value: float) -> float:
    return round(float(value), 3)

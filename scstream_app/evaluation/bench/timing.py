"""Times of repeated steps, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import TypeVar

import numpy as np

T = TypeVar("T")

_PAUSE = 0.05


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds of every timed call, each after a pause of so many seconds."""

    pause: float = _PAUSE
    milliseconds: list[float] = field(default_factory=list)

    def time(self, step: Callable[[], T]) -> T:
        """Call ``step``, note how long it took, and return what it returned.

        The pause before it lets the threads of the method that came before go to sleep: OpenBLAS and OpenMP keep
        theirs spinning for a while, which would slow whatever comes next.
        """
        sleep(self.pause)
        begin = perf_counter()
        result = step()
        self.milliseconds.append(1000.0 * (perf_counter() - begin))
        return result

    def summary(self) -> dict[str, float]:
        """Median and spread: the 10th and 90th percentile."""
        p10, median, p90 = np.percentile(self.milliseconds, [10, 50, 90])
        return {"ms_median": _rounded(median), "ms_p10": _rounded(p10), "ms_p90": _rounded(p90)}


def _rounded(value: float) -> float:
    return round(float(value), 3)

"""Measure what the machine can do: its memory bandwidth and its rate of multiply-adds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from scstream_app.evaluation.bench.timing import limit_threads

#: Larger than the caches of most processors, for each of two arrays.
_COPIED_BYTES = 2**28
_MATRIX = 1536
_REPETITIONS = 5


class Rates(NamedTuple):
    """Bytes that can be read or written in a second, and multiply-adds in a second."""

    bandwidth: float
    float32: float
    float64: float


def measure_rates(threads: int, copied_bytes: int = _COPIED_BYTES, matrix: int = _MATRIX) -> Rates:
    """The best of a few repetitions: copies of large arrays, and matrix products by BLAS, on this number of threads."""
    with limit_threads(threads):
        return Rates(
            _bandwidth(threads, copied_bytes), _multiply_adds(np.float32, matrix), _multiply_adds(np.float64, matrix)
        )


def _bandwidth(threads: int, n_bytes: int) -> float:
    source = np.ones(n_bytes, np.uint8)
    parts = np.array_split(np.arange(n_bytes // 4096), threads)
    target = np.zeros_like(source)

    def copy(blocks: Any) -> None:
        first, last = 4096 * int(blocks[0]), 4096 * (int(blocks[-1]) + 1)
        np.copyto(target[first:last], source[first:last])

    with ThreadPoolExecutor(threads) as pool:
        seconds = _least_seconds(lambda: list(pool.map(copy, parts)))
    return 2.0 * n_bytes / seconds


def _multiply_adds(dtype: type[np.floating[Any]], size: int) -> float:
    a = np.ones((size, size), dtype)
    out = np.empty_like(a)
    return size**3 / _least_seconds(lambda: np.matmul(a, a, out=out))


def _least_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPETITIONS):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)

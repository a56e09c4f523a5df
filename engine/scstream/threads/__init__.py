"""Run independent pieces of work on several threads; compiled kernels release the interpreter's lock.

`pieces` divides work, and `helpers` has the threads that take part in it.
"""

from __future__ import annotations

from scstream.threads.pieces import (
    cores,
    queue_of,
    run,
    run_queue,
    run_ranges,
    split_evenly,
    thread_limit,
    threads_available,
    threads_for,
)

__all__ = [
    "cores", "queue_of", "run", "run_queue", "run_ranges", "split_evenly", "thread_limit", "threads_available",
    "threads_for",
]  # fmt: skip

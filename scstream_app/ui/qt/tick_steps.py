"""Distances between the ticks of an axis of frames."""

from __future__ import annotations

_STEPS = (1, 2, 5)


def whole_step(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50, ... that is at least ``least``.

    >>> [whole_step(least) for least in (0.01, 1.5, 21.0)]
    [1, 2, 50]
    """
    size = 1
    while True:
        for step in _STEPS:
            if step * size >= least:
                return step * size
        size *= 10

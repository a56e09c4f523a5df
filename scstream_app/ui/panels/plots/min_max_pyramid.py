"""A long row of numbers, kept so that any part of it can be drawn with few points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream_app.ui.panels.plots.plot_helpers import Array

#: Numbers that one of the next level stands for, and levels above the numbers themselves.
_FANOUT, _LEVELS = 4, 6
#: Room is made in multiples of this, so that every level has whole blocks.
_UNIT = _FANOUT**_LEVELS


class MinMaxPyramid:
    """Numbers that come one after another, with the least and the greatest of every 4, 16, 64, ... of them.

    Adding costs what is added, and looking costs what is looked at, however many there are.

    >>> row = MinMaxPyramid()
    >>> row.put(0, np.arange(1000.0))
    >>> places, values = row.part(0, 1000, most=20)
    >>> len(places), values[:2].tolist(), values[-2:].tolist()
    (32, [0.0, 63.0], [960.0, 999.0])
    """

    def __init__(self) -> None:
        self._count = 0
        self._lows = [np.full(_UNIT // _FANOUT**level, np.nan) for level in range(_LEVELS + 1)]
        # A number is the least and the greatest of itself.
        self._highs = [self._lows[0], *(low.copy() for low in self._lows[1:])]

    def __len__(self) -> int:
        return self._count

    def put(self, start: int, values: Array) -> None:
        """Set the numbers from place ``start`` on, new ones or others in place of those that were there."""
        end = start + len(values)
        self._make_room(end)
        self._count = max(self._count, end)
        self._lows[0][start:end] = values
        for level in range(1, _LEVELS + 1):
            start, end = start // _FANOUT, -(-end // _FANOUT)
            below = slice(start * _FANOUT, end * _FANOUT)
            for rows, least in ((self._lows, np.fmin), (self._highs, np.fmax)):
                rows[level][start:end] = least.reduce(rows[level - 1][below].reshape(-1, _FANOUT), axis=1)

    def _make_room(self, count: int) -> None:
        room = len(self._lows[0])
        if count <= room:
            return
        more = -(-max(count, 2 * room) // _UNIT) * _UNIT - room
        self._lows = [_longer(low, more // _FANOUT**level) for level, low in enumerate(self._lows)]
        self._highs[1:] = [_longer(high, more // _FANOUT**level) for level, high in enumerate(self._highs) if level]
        self._highs[0] = self._lows[0]

    def part(self, start: int, stop: int, most: int) -> tuple[npt.NDArray[np.int64], Array]:
        """Places and numbers from ``start`` to before ``stop``: all, or the extremes of at most ``most`` blocks."""
        start, stop = max(start, 0), min(stop, self._count)
        size, level = 1, 0
        while (stop - start) > most * size and level < _LEVELS:
            size, level = size * _FANOUT, level + 1
        first, last = start // size, -(-stop // size)
        if not level:
            return np.arange(first, last), self._lows[0][first:last].copy()
        values = np.stack([self._lows[level][first:last], self._highs[level][first:last]], axis=1)
        return np.repeat(np.arange(first, last) * size, 2), values.ravel()

    def sample(self, most: int) -> tuple[npt.NDArray[np.int64], Array]:
        """Places and numbers of about so many of them, evenly spread."""
        step = max(1, -(-self._count // most))
        return np.arange(0, self._count, step), self._lows[0][: self._count : step].copy()


def _longer(row: Array, more: int) -> Array:
    return np.concatenate([row, np.full(more, np.nan)])

"""Min-max pyramid: a long series of numbers that can be drawn at any zoom with few points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream_app.ui.panels.plots.plot_helpers import Array

#: Numbers per block of the next level, and levels above the numbers themselves.
_FANOUT, _LEVELS = 4, 6
#: Capacity is a multiple of this, so that every level has whole blocks.
_UNIT = _FANOUT**_LEVELS


class MinMaxPyramid:
    """Growing series with the minimum and maximum of every 4, 16, 64, ... numbers.

    Adding and drawing take time proportional to the numbers added and drawn, not to the length of the series.

    >>> series = MinMaxPyramid()
    >>> series.put(0, np.arange(1000.0))
    >>> places, values = series.part(0, 1000, most=20)
    >>> len(places), values[:2].tolist(), values[-2:].tolist()
    (32, [0.0, 63.0], [960.0, 999.0])
    """

    def __init__(self) -> None:
        self._count = 0
        self._lows = [np.full(_UNIT // _FANOUT**level, np.nan) for level in range(_LEVELS + 1)]
        # At level 0 minimum and maximum are the number itself.
        self._highs = [self._lows[0], *(low.copy() for low in self._lows[1:])]

    def __len__(self) -> int:
        return self._count

    def put(self, start: int, values: Array) -> None:
        """Set or append the numbers from index ``start`` on."""
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
        """Indices and numbers of the range [start, stop): all, or the extremes of at most ``most`` blocks."""
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
        """Indices and numbers of about ``most`` evenly spaced samples."""
        step = max(1, -(-self._count // most))
        return np.arange(0, self._count, step), self._lows[0][: self._count : step].copy()


def _longer(row: Array, more: int) -> Array:
    return np.concatenate([row, np.full(more, np.nan)])

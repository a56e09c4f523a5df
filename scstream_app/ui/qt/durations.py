"""Durations as text, and the time that is left of a long task."""

from __future__ import annotations

from collections import deque

#: Seconds over which the rate is measured, and the least for which an estimate is made.
_SPAN, _LEAST = 20.0, 1.0


def duration_text(seconds: float) -> str:
    """Format a duration.

    >>> duration_text(0.4), duration_text(42.0), duration_text(200.0), duration_text(7300.0)
    ('1 s', '42 s', '3 min 20 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    minutes, rest = divmod(whole, 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class TimeLeft:
    """Estimates how long a task takes, from its progress in the last seconds.

    >>> left = TimeLeft()
    >>> left.note(0.0, 0)
    >>> left.note(2.0, 10)
    >>> left.seconds(60)
    10.0
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def clear(self) -> None:
        """Forget the progress, because the task is another one or was interrupted."""
        self._seen.clear()

    def note(self, now: float, done: int) -> None:
        """Record how much is done at a time in seconds."""
        if self._seen and done < self._seen[-1][1]:
            self.clear()
        self._seen.append((now, done))
        while now - self._seen[0][0] > _SPAN and len(self._seen) > 2:
            self._seen.popleft()

    def seconds(self, total: int) -> float | None:
        """Seconds until ``total`` is done; None if it cannot be told yet."""
        if not self._seen:
            return None
        (start, before), (now, done) = self._seen[0], self._seen[-1]
        if now - start < _LEAST or done <= before:
            return None
        return (total - done) * (now - start) / (done - before)

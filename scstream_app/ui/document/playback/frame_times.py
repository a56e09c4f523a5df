"""When each frame of a clip begins, and times as text."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable

from scstream_app.session.run_summary import RunSummary

#: Frames per second of a source that does not state its rate.
DEFAULT_RATE = 25.0


class FrameTimes:
    """Presentation times of frames, which never decrease, and the end of the last frame.

    Parameters
    ----------
    summary : RunSummary, optional
        The run to which the frames belong.
    first : int
        Index of the first frame of that run.
    rate : float
        Frames per second.

    Examples
    --------
    >>> times = FrameTimes(rate=10.0)
    >>> times.take([0.0, 0.5])
    >>> times.take([0.4])
    >>> [round(times.at(place), 3) for place in range(4)], times.place(0.55)
    ([0.0, 0.5, 0.5, 0.6], 2)
    """

    def __init__(self, summary: RunSummary | None = None, first: int = 0, rate: float = DEFAULT_RATE) -> None:
        self.summary, self.first = summary, first
        self._rate = rate
        self._begins = array("d")
        self._even = False

    def __len__(self) -> int:
        return len(self._begins)

    def take(self, seconds: Iterable[float]) -> None:
        """Add the times of more frames; if any time is not known, all frames follow at the rate."""
        for time in seconds:
            if not self._even and not math.isfinite(time):
                self._even = True
                self._begins = array("d", (place / self._rate for place in range(len(self._begins))))
            if self._even:
                self._begins.append(len(self._begins) / self._rate)
            else:
                self._begins.append(max(time, self._begins[-1]) if self._begins else time)

    def at(self, place: int) -> float:
        """Return when the frame at a place begins; for the place after the last frame, when that ends."""
        if place < len(self._begins):
            return self._begins[place]
        return self._begins[-1] + 1.0 / self._rate if self._begins else 0.0

    def place(self, time: float) -> int:
        """Return the place of the frame shown at a time; after the end, the place after the last frame."""
        if self._begins and time >= self.at(len(self._begins)):
            return len(self._begins)
        return bisect_right(self._begins, time) - 1


def timecode(seconds: float) -> str:
    """Return minutes, seconds and milliseconds as text, with hours if there are any.

    >>> timecode(1.24), timecode(3723.5)
    ('00:01.240', '1:02:03.500')
    """
    thousandths = round(1000.0 * max(seconds, 0.0))
    minutes, rest = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
    return f"{hours}:{text}" if hours else text

"""The last few seconds of a live source, to step back through."""

from __future__ import annotations

import threading
from collections import deque

from scstream_app.results import FrameResult

_FRAMES = 150
_BYTES = 192 << 20


class Recent:
    """Keeps the newest results, as many as fit; from any thread.

    Parameters
    ----------
    frames, bytes : int
        How many, and how much memory for their pictures and ids, at most. The newest one is always kept.
    """

    def __init__(self, frames: int = _FRAMES, bytes: int = _BYTES) -> None:
        self._frames, self._bytes = frames, bytes
        self._results: deque[FrameResult] = deque()
        self._held = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._results)

    def add(self, result: FrameResult) -> None:
        """Take in the newest; the oldest go."""
        with self._lock:
            self._results.append(result)
            self._held += result.nbytes
            while len(self._results) > 1 and (len(self._results) > self._frames or self._held > self._bytes):
                self._held -= self._results.popleft().nbytes

    def at(self, index: int) -> FrameResult | None:
        """The result of that frame, or the nearest one that is kept; None if there is none."""
        with self._lock:
            return min(self._results, key=lambda result: abs(result.index - index), default=None)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._results.clear()
            self._held = 0

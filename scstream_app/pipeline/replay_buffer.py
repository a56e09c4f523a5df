"""Ring buffer of the last few seconds of a live source, for stepping back."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace

import numpy as np

from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap, Picture

_FRAMES = 150
_BYTES = 192 << 20


class ReplayBuffer:
    """Thread-safe ring buffer of the newest results.

    Pictures and ids are copied into memory that is allocated once and reused.

    Parameters
    ----------
    frames, bytes : int
        Maximum number of results, and of bytes for their pictures and ids. The newest result is always kept.
    """

    def __init__(self, frames: int = _FRAMES, bytes: int = _BYTES) -> None:
        self._most, self._bytes = frames, bytes
        self._results: deque[FrameResult] = deque()
        self._pictures: Picture | None = None
        self._ids: IdMap | None = None
        self._place = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._results)

    def add(self, result: FrameResult) -> None:
        """Add the newest result; drops the oldest one if the buffer is full, and all of them if the size changes."""
        with self._lock:
            pictures, ids = self._buffers(result)
            if len(self._results) == len(ids):
                self._results.popleft()
            pictures[self._place], ids[self._place] = result.picture, result.ids
            self._results.append(replace(result, rgb=pictures[self._place], ids=ids[self._place]))
            self._place = (self._place + 1) % len(ids)

    def _buffers(self, result: FrameResult) -> tuple[Picture, IdMap]:
        """Arrays for pictures and ids, allocated for the size of the result."""
        if self._pictures is None or self._ids is None or self._ids.shape[1:] != result.ids.shape:
            self._reset()
            n = max(1, min(self._most, self._bytes // result.nbytes))
            self._pictures = np.empty((n, *result.picture.shape), np.uint8)
            self._ids = np.empty((n, *result.ids.shape), np.int32)
        return self._pictures, self._ids

    def at(self, index: int) -> FrameResult | None:
        """Result of the frame, or of the nearest frame in the buffer; None if it is empty."""
        with self._lock:
            found = min(self._results, key=lambda result: abs(result.index - index), default=None)
            # Copied because the buffer reuses the memory.
            return None if found is None else replace(found, rgb=found.picture.copy(), ids=found.ids.copy())

    def clear(self) -> None:
        """Drop all results."""
        with self._lock:
            self._reset()

    def _reset(self) -> None:
        self._results.clear()
        self._pictures = self._ids = None
        self._place = 0

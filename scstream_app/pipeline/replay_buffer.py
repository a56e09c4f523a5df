"""The last few seconds of a live source, to step back through."""

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
    """Keeps the newest results, as many as fit; from any thread.

    Pictures and ids are copied into memory that is taken once and used round and round, apart from all that comes and
    goes with a frame.

    Parameters
    ----------
    frames, bytes : int
        How many, and how much memory for their pictures and ids, at most. The newest one is always kept.
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
        """Take in the newest; the oldest goes. All of them do when frames have another size."""
        with self._lock:
            pictures, ids = self._room(result)
            if len(self._results) == len(ids):
                self._results.popleft()
            pictures[self._place], ids[self._place] = result.picture, result.ids
            self._results.append(replace(result, rgb=pictures[self._place], ids=ids[self._place]))
            self._place = (self._place + 1) % len(ids)

    def _room(self, result: FrameResult) -> tuple[Picture, IdMap]:
        """Places for pictures and for ids."""
        if self._pictures is None or self._ids is None or self._ids.shape[1:] != result.ids.shape:
            self._forget()
            n = max(1, min(self._most, self._bytes // result.nbytes))
            self._pictures = np.empty((n, *result.picture.shape), np.uint8)
            self._ids = np.empty((n, *result.ids.shape), np.int32)
        return self._pictures, self._ids

    def at(self, index: int) -> FrameResult | None:
        """The result of that frame, or the nearest one that is kept; None if there is none."""
        with self._lock:
            found = min(self._results, key=lambda result: abs(result.index - index), default=None)
            # Its place is going to be another's.
            return None if found is None else replace(found, rgb=found.picture.copy(), ids=found.ids.copy())

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        self._results.clear()
        self._pictures = self._ids = None
        self._place = 0

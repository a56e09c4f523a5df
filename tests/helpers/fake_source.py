"""A source made of arrays, for tests that need one to misbehave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scstream_app.sources import CameraStalled, DamagedFrame, Frame, Source

Picture = npt.NDArray[np.uint8]


class FakeSource(Source):
    """Frames from a list; an exception in it is raised in the frame's place.

    ``on_read`` is called with the index before each frame is given.
    """

    def __init__(
        self,
        items: Sequence[Picture | Exception],
        live: bool = False,
        on_read: Callable[[int], None] | None = None,
    ) -> None:
        pictures = [item for item in items if isinstance(item, np.ndarray)]
        self.items, self.live, self.on_read = list(items), live, on_read
        self.name, self.address, self.rate = "clip", "clip.mp4", 25.0
        self.height, self.width = pictures[0].shape[:2] if pictures else (48, 64)
        self.length = None if live else len(items)
        self.next = 0
        self.reads = 0
        self.readers: set[str] = set()

    def read(self) -> Frame | None:
        self.readers.add(threading.current_thread().name)
        if self.next >= len(self.items):
            return None
        index = self.next
        if self.on_read is not None:
            self.on_read(index)
        self.reads += 1
        item = self.items[index]
        if isinstance(item, Exception):
            # Only these two can be read past.
            self.next += isinstance(item, DamagedFrame | CameraStalled)
            raise item
        self.next += 1
        return Frame(index, index / self.rate, item)

    def seek(self, index: int) -> None:
        assert not self.live, "a live source cannot be sought"
        self.next = index

    def close(self) -> None:
        pass


def readers_alive() -> list[str]:
    """Threads that a pipeline has left behind."""
    return [thread.name for thread in threading.enumerate() if thread.name == "scstream-reader"]

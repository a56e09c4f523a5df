"""Base class of all sources: frames that are read in order or from any index."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a source: its index, its presentation time in seconds, and its RGB picture (H, W, 3).

    The first frame of a file has time 0, and times increase strictly. Frames of one source may differ in size.
    ``captured`` is the `time.monotonic` at which a live source delivered the frame; nan for other sources.
    """

    index: int
    time: float
    rgb: Picture
    captured: float = math.nan


class DamagedFrame(SourceError):
    """Frame ``index`` cannot be decoded; the next `read` continues after it."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class Source(ABC):
    """A source of frames with one read position: use it from one reader at a time.

    Attributes
    ----------
    name : display name.
    address : text that `open_source` accepts to open the source again; files have an absolute path.
    width, height : size of the first frame.
    rate : nominal number of frames per second.
    length : number of frames as far as it is known, else None; see `count`.
    duration : duration in seconds, None if unknown.
    live : whether frames arrive in real time without an end; a live source has no length and cannot seek.
    reading : end of the address that says how images are read, such as ``#range=0:4095``; see `ImageOptions`.
    notes : remarks for the user about how the source is read; reading may add some.
    adjustable : names of the options of images that change what the notes say; see `ImageOptions`.
    dropped : number of frames of a live source that were replaced by newer ones before they were read.
    """

    name: str
    address: str
    width: int
    height: int
    rate: float
    length: int | None = None
    duration: float | None = None
    live: bool = False
    reading: str = ""
    notes: tuple[str, ...] = ()
    adjustable: tuple[str, ...] = ()

    @property
    def file_names(self) -> Sequence[str]:
        """Name of the image file of each frame, relative to the folder of all; empty if frames are no files."""
        return ()

    @property
    def dropped(self) -> int:
        """Number of frames of a live source that were replaced by newer ones before they were read."""
        return 0

    @abstractmethod
    def read(self) -> Frame | None:
        """Read the next frame; None at the end, after `close`, and after `interrupt`.

        Raises `DamagedFrame` for a frame that cannot be decoded; the next call continues after it. A damaged frame
        keeps its index, so damage does not shift the indices of other frames. Raises `SourceError` if reading cannot
        continue.
        """

    @abstractmethod
    def seek(self, index: int) -> None:
        """Make the next `read` return frame ``index``, exactly the one that sequential reading returns (from 0)."""

    def interrupt(self) -> None:
        """Make a `read` that is running in another thread return None soon; without one, do nothing.

        No frame is lost: the next `read` returns the frame that the interrupted one would have returned. Sources
        that never block for long may ignore this.
        """
        return

    @abstractmethod
    def close(self) -> None:
        """Release files and devices; closing again has no effect."""

    def count(self) -> int | None:
        """Exact number of frames, even if that takes reading the whole file; None if it cannot be determined."""
        return self.length

    def frames(
        self, start: int = 0, stop: int | None = None, on_damage: Callable[[DamagedFrame], None] | None = None
    ) -> Iterator[Frame]:
        """Yield frames start, ..., stop - 1; a live source continues with its next frame.

        ``on_damage`` is called for each frame that cannot be decoded, which is then skipped. Without it,
        `DamagedFrame` is raised.
        """
        if start or not self.live:
            self.seek(start)
        place = start
        while stop is None or place < stop:
            try:
                frame = self.read()
            except DamagedFrame as damage:
                if on_damage is None:
                    raise
                on_damage(damage)
                place = damage.index + 1
                continue
            if frame is None or (stop is not None and frame.index >= stop):
                return
            place = frame.index + 1
            yield frame

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_seekable(source: Source, index: int) -> None:
    """Raise `SourceError` if the source is live or the index is negative."""
    if source.live:
        raise SourceError(f"Cannot seek to frame {index} of '{source.name}': a live source has only a next frame.")
    if index < 0:
        raise SourceError(f"Cannot seek to frame {index} of '{source.name}': frame numbers start at 0.")

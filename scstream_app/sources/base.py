"""What all sources have in common: frames, read one after another or from any place."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: its place in the source, its presentation time in seconds, and RGB (H, W, 3).

    The first frame of a file has time 0, and times increase strictly. Frames of one source may differ in size.
    ``captured`` says when a live source handed it over, by `time.monotonic`; nan for others.
    """

    index: int
    time: float
    rgb: Picture
    captured: float = math.nan


class DamagedFrame(SourceError):
    """The frame at place ``index`` cannot be decoded; reading can go on with the next one."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class Source(ABC):
    """Something that frames are read from. It has one place of reading: one reader at a time.

    Attributes
    ----------
    name : what to call it in a window or a message.
    address : a text that `open_source` opens again; for files with their absolute path.
    width, height : the size of the first frame.
    rate : the nominal number of frames a second.
    length : the number of frames as far as it is known, None if it is not; see `count`.
    duration : in seconds, None if it is not known.
    live : whether frames come in their own time, without end; then there is no seeking and no length.
    dropped : frames of a live source that newer ones took the place of before they were read.
    """

    name: str
    address: str
    width: int
    height: int
    rate: float
    length: int | None = None
    duration: float | None = None
    live: bool = False

    @property
    def dropped(self) -> int:
        """See above."""
        return 0

    @abstractmethod
    def read(self) -> Frame | None:
        """The next frame; None at the end, after `close`, and when interrupted.

        Raises `DamagedFrame` for a frame that cannot be decoded: the next call goes on after it. Its index is used
        up, so frames keep their places however many others are damaged. Raises `SourceError` if nothing further
        can be read.
        """

    @abstractmethod
    def seek(self, index: int) -> None:
        """Let the next `read` give the very frame that the ``index``-th one (from 0) of a sequential reading is."""

    def interrupt(self) -> None:
        """Let a `read` that is under way in another thread end soon, with None; where none is, nothing happens.

        The frame is not lost: the next `read` goes on as if the interrupted one had not begun. A source that never
        waits for long need not heed it.
        """
        return

    @abstractmethod
    def close(self) -> None:
        """Let go of files and devices; more than once does no harm."""

    def count(self) -> int | None:
        """The exact number of frames, even if it takes reading through the file; None if it cannot be told."""
        return self.length

    def frames(
        self, start: int = 0, stop: int | None = None, on_damage: Callable[[DamagedFrame], None] | None = None
    ) -> Iterator[Frame]:
        """Frames start, start + 1, ... up to but not including stop; a live source goes on from where it is.

        ``on_damage`` hears of frames that cannot be decoded, which are then left out; without it they are raised.
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


def check_place(source: Source, index: int) -> None:
    """Raise `SourceError` unless the source can be asked for this place."""
    if source.live:
        raise SourceError(f"Cannot go to frame {index} of '{source.name}': it is live and only has a next frame.")
    if index < 0:
        raise SourceError(f"Cannot go to frame {index} of '{source.name}': frames are counted from 0.")

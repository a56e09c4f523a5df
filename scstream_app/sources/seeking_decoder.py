"""Decoder with frame-accurate seeking, also for containers whose own seeking is inexact."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from scstream_app.sources.decoder import Decoder, Interrupted, MissingPicture, Threads, packets
from scstream_app.sources.frame_times import FrameTimes, scan_frame_times

# Up to this many frames ahead, decoding on takes about as long as looking for a key frame.
_NEAR = 32

Opened = tuple[InputContainer, VideoStream]
Step = tuple[int, VideoFrame | MissingPicture]


class SeekingDecoder:
    """Decodes the frames of a video in order, starting at any frame.

    To seek, it jumps to the key frame before the target, whose index it knows from `FrameTimes`. It trusts the jump
    only as long as every picture on the way has the presentation time that `FrameTimes` gives for its index. Otherwise,
    and if times do not give the order, it counts frames from the start. If an irregularity occurs while several threads
    decode, it decodes the same range again with one thread, which is slower but misses nothing.

    Parameters
    ----------
    opened : opens the video at its beginning.
    live : whether the video can only be read forwards.
    check : called before each packet; raises `Interrupted` to stop a long search.

    Attributes
    ----------
    first : VideoFrame or None
        The first picture; None if none can be decoded.
    """

    def __init__(
        self, opened: Callable[[], Opened], live: bool = False, check: Callable[[], None] = lambda: None
    ) -> None:
        self._opened, self._live, self._check = opened, live, check
        self._threads = Threads.PROMPT if live else Threads.FAST
        self._jumps = not live
        self._jumped = False
        self._table: FrameTimes | None = None
        self._scanned = False
        self._place = self._target = 0
        self._approached = True
        self._decoder = self._started()
        self.first = self._first_picture()

    def _started(self) -> Decoder:
        return Decoder(*self._opened(), self._threads, not self._live, self._check)

    def _first_picture(self) -> VideoFrame | None:
        first = self._decoder.peek()
        if self._decoder.irregular and self._threads is Threads.FAST:
            self._restart_carefully()
            first = self._decoder.peek()
        return first if isinstance(first, VideoFrame) else None

    # --- reading ----------------------------------------------------------------------------------------------

    def next(self) -> Step | None:
        """The next index and its picture, on the way to the `seek` target and beyond; None at the end.

        A read error raises FFmpegError. After `Interrupted` it can be called again, also after another `seek`.
        """
        if not self._approached:
            self._approach()
        self._target = max(self._target, self._place)
        item = self._decoder.next()
        while self._went_back(item):
            item = self._decoder.next()
        if item is None:
            return None
        place, self._place = self._place, self._place + 1
        return place, item

    def _went_back(self, item: VideoFrame | MissingPicture | None) -> bool:
        """Whether an irregularity made the decoder go back to approach the target in another way."""
        if self._decoder.irregular and self._threads is Threads.FAST:
            self._restart_carefully()
            self._approach()
            return True
        if self._table is None or not self._contradicts(self._table, item):
            return False
        self._jumps = False
        if self._jumped:
            self._restart()
            return True
        self._table = None
        return False

    def _contradicts(self, table: FrameTimes, item: VideoFrame | MissingPicture | None) -> bool:
        if not isinstance(item, VideoFrame):
            return False
        return not self._decoder.ranked or table.place(item.pts) != self._place

    def _restart_carefully(self) -> None:
        self._threads = Threads.CAREFUL
        self._restart()

    # --- seeking ----------------------------------------------------------------------------------------------

    def seek(self, place: int) -> None:
        """Set the target index; `next` does the work."""
        self._target, self._approached = place, False

    def length(self) -> int | None:
        """Number of frames; None if presentation times do not give it."""
        table = self._scan()
        return None if table is None else len(table)

    def close(self) -> None:
        """Close the file."""
        self._decoder.container.close()

    def _approach(self) -> None:
        """Go to a position from which decoding on reaches the target soon."""
        try:
            self._move_towards_target()
        except Interrupted:
            # The position is unknown now. sys.maxsize is beyond any target, so the next call seeks or restarts.
            self._place, self._approached = sys.maxsize, False
            raise
        self._approached = True

    def _move_towards_target(self) -> None:
        ahead = self._target - self._place
        if 0 <= ahead <= _NEAR or (ahead > 0 and not self._jumps):
            return
        table = self._scan() if self._target > 0 and self._jumps else None
        if ahead > 0 and (table is None or not table.passes_entry(self._place, self._target)):
            return
        if table is None or not self._jump(table):
            self._restart()

    def _jump(self, table: FrameTimes) -> bool:
        for key in table.entries(self._target):
            place = self._landing(table, key)
            if place is not None:
                self._place, self._jumped = place, True
                return True
        return False

    def _landing(self, table: FrameTimes, key: int) -> int | None:
        """Seek to a key frame; returns the index reached, or None if the target cannot be decoded from there."""
        try:
            self._decoder.seek(key)
            first = self._decoder.peek()
        except (av.error.FFmpegError, OSError):
            return None
        # A decoder that starts between key frames returns a first picture that is not a key frame.
        if not isinstance(first, VideoFrame) or not first.key_frame or not table.is_entry(first.pts):
            return None
        place = table.place(first.pts)
        return place if place is not None and place <= self._target else None

    def _restart(self) -> None:
        fresh = self._started()
        self._decoder.container.close()
        self._decoder = fresh
        self._place, self._jumped = 0, False

    def _scan(self) -> FrameTimes | None:
        """The frame times; the first call reads the whole file once without decoding."""
        if not self._scanned and not self._live and self.first is not None and self.first.pts is not None:
            container, stream = self._opened()
            with container:
                try:
                    self._table = scan_frame_times(self._checked(packets(container, stream)), self.first.pts)
                except (av.error.FFmpegError, OSError):
                    self._table = None
        self._scanned = True
        return self._table

    def _checked(self, found: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
        for packet in found:
            self._check()
            yield packet

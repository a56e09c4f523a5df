"""The place of reading in a video: moved to any frame exactly, whatever the container makes of seeking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from scstream_app.sources.decoder import Decoder, Interrupted, Lost, Threads, packets
from scstream_app.sources.frame_times import FrameTimes, scan_frame_times

# So many frames ahead, decoding on is about as quick as finding out where to jump.
_NEAR = 32

Opened = tuple[InputContainer, VideoStream]
Step = tuple[int, VideoFrame | Lost]


class SeekingDecoder:
    """Steps through the places of a video, in order, from wherever it is put.

    A jump goes to the key frame before the wanted one, of which the timetable knows the place. It is trusted only as
    long as every picture on the way comes at the time that the timetable gives for its place. Otherwise, and where
    times do not tell the order, the way is counted from the start. When anything is amiss with threads sharing the
    work, the stretch is read again without them, which is slower but loses nothing.

    Parameters
    ----------
    opened : opens the video at its beginning.
    live : whether it can only be read on.
    check : called before each packet; it raises `Interrupted` when the way has become too long for somebody.
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
            self._be_careful()
            first = self._decoder.peek()
        return first if isinstance(first, VideoFrame) else None

    # --- going on ---------------------------------------------------------------------------------------------

    def next(self) -> Step | None:
        """The next place and what is there, on the way to the place that was sought and beyond it; None at the end.

        A read error raises FFmpegError. After `Interrupted` it can be called again, or sent elsewhere.
        """
        if not self._approached:
            self._approach()
        self._target = max(self._target, self._place)
        item = self._decoder.next()
        while self._distrusts(item):
            item = self._decoder.next()
        if item is None:
            return None
        place, self._place = self._place, self._place + 1
        return place, item

    def _distrusts(self, item: VideoFrame | Lost | None) -> bool:
        """Whether something is amiss; then the playhead has gone back, to get there in another way."""
        if self._decoder.irregular and self._threads is Threads.FAST:
            self._be_careful()
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

    def _contradicts(self, table: FrameTimes, item: VideoFrame | Lost | None) -> bool:
        if not isinstance(item, VideoFrame):
            return False
        return not self._decoder.ranked or table.place(item.pts) != self._place

    def _be_careful(self) -> None:
        self._threads = Threads.CAREFUL
        self._restart()

    # --- going elsewhere --------------------------------------------------------------------------------------

    def seek(self, place: int) -> None:
        """Head for a place. The work is done by `next`."""
        self._target, self._approached = place, False

    def length(self) -> int | None:
        """The number of places, if presentation times tell it."""
        table = self._scan()
        return None if table is None else len(table)

    def close(self) -> None:
        """Let go of the file."""
        self._decoder.container.close()

    def _approach(self) -> None:
        """Stand at a place from which going on leads to the target, and not too far off."""
        try:
            self._come_near()
        except Interrupted:
            # The decoder may stand anywhere: as if far behind the target, it has to be put somewhere first.
            self._place, self._approached = sys.maxsize, False
            raise
        self._approached = True

    def _come_near(self) -> None:
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
        """Go to a key frame: the place reached, or None if the target cannot be decoded from there."""
        try:
            self._decoder.seek(key)
            first = self._decoder.peek()
        except (av.error.FFmpegError, OSError):
            return None
        # A decoder that drops in half-way gives a first picture that is none of the file's key frames.
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
        """The timetable, made when it is first needed by reading through the file once without decoding."""
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

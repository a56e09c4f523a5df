"""Decode packets into pictures in presentation order, and report where a picture is missing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush

import av
from av.codec.context import ThreadType
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from scstream_app.errors import reason

# A truncated file fails for every packet that its index lists; give up after this many failures in a row.
_MOST_FAILURES = 64


class Threads(Enum):
    """Threading of the decoder: kind and number of threads, 0 for one per core."""

    FAST = (ThreadType.AUTO, 0)
    #: Without delay: a frame does not wait for later packets.
    PROMPT = (ThreadType.SLICE, 0)
    #: Reports a damaged packet immediately.
    CAREFUL = (ThreadType.SLICE, 1)


class Interrupted(Exception):
    """Raised when another thread interrupts the reading of a frame."""


@dataclass(frozen=True, slots=True)
class MissingPicture:
    """Stands for a frame without a picture. ``reason`` is empty if the encoder dropped the frame on purpose."""

    reason: str


class Decoder:
    """Sequential decoder of an open video.

    Each packet should yield a picture with the packet's presentation time. If a later picture comes out first, the
    earlier one is missing, and the decoder returns a `MissingPicture` instead. Missing pictures before the first
    decoded one are ignored, because recordings may start between key frames.

    With `Threads.FAST`, FFmpeg reports a damaged packet late, and PyAV may swallow the report together with good
    pictures. ``irregular`` is then True, and the same range should be decoded again with `Threads.CAREFUL`.

    ``check`` is called before each packet. If it raises, the decoder keeps its state and can continue.

    Attributes
    ----------
    ranked : whether presentation times give the order; if not, only packets that raised an error count as missing.
    irregular : whether an error or a missing picture has occurred.
    """

    def __init__(
        self,
        container: InputContainer,
        stream: VideoStream,
        threads: Threads,
        ranked: bool,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.container = container
        self.stream = stream
        self.ranked = ranked
        self._check = check
        stream.codec_context.thread_type, stream.codec_context.thread_count = threads.value
        self._begin()

    def _begin(self) -> None:
        self._packets = packets(self.container, self.stream)
        self._expected: list[int] = []
        self._ready: deque[VideoFrame | MissingPicture] = deque()
        self._latest: int | None = None
        self._error_text = ""
        self._begun = self._over = self.irregular = False

    def seek(self, time: int) -> None:
        """Continue from a key frame, if possible the one with this presentation time; raises FFmpegError."""
        self.container.seek(time, stream=self.stream)
        self._begin()

    def peek(self) -> VideoFrame | MissingPicture | None:
        """The item that `next` will return."""
        while not self._ready and not self._over:
            self._step()
        return self._ready[0] if self._ready else None

    def next(self) -> VideoFrame | MissingPicture | None:
        """The next picture or `MissingPicture`; None at the end. A read error raises FFmpegError."""
        item = self.peek()
        if item is not None:
            self._ready.popleft()
        return item

    def _step(self) -> None:
        self._check()
        packet = next(self._packets, None)
        self._over = packet is None
        if packet is not None and has_picture(packet):
            self._expect(packet.pts)
        for picture in self._decoded(packet):
            self._take(picture)
        if self._over and self._expected:
            # Missing pictures at the end are not counted as frames: a truncated file ends with its last whole frame.
            self.irregular = True

    def _decoded(self, packet: Packet[VideoStream] | None) -> list[VideoFrame]:
        try:
            return self.stream.codec_context.decode(packet)
        except av.error.FFmpegError as error:
            self._error_text = reason(error)
            # Errors before the first picture matter only if there are no times to detect a missing picture.
            self.irregular |= self._begun or not self.ranked
            if self._begun and not self.ranked:
                self._ready.append(MissingPicture(self._error_text))
            return []

    def _expect(self, time: int | None) -> None:
        if not self.ranked:
            return
        if time is None or time in self._expected or self._is_past(time):
            self._stop_ranking()
        else:
            heappush(self._expected, time)

    def _take(self, picture: VideoFrame) -> None:
        time = picture.pts
        if self._error_text and self.ranked and self._is_past(time):
            # Damage has disturbed the order, and this picture has already been reported as missing.
            return
        while self.ranked and time is not None and self._expected and self._expected[0] < time:
            heappop(self._expected)
            if self._begun:
                self.irregular = True
                self._ready.append(MissingPicture(self._error_text))
        if self.ranked and self._expected[:1] == [time]:
            heappop(self._expected)
        else:
            self._stop_ranking()
        self._begun = True
        self._latest = time
        self._ready.append(picture)

    def _is_past(self, time: int | None) -> bool:
        return time is not None and self._latest is not None and time <= self._latest

    def _stop_ranking(self) -> None:
        self.ranked = False
        self._expected.clear()


def packets(container: InputContainer, stream: VideoStream) -> Iterator[Packet[VideoStream]]:
    """Yield the packets of the stream; damaged parts of the file are skipped."""
    failures = 0
    while failures < _MOST_FAILURES:
        try:
            for packet in container.demux(stream):
                if packet.size:
                    failures = 0
                    yield packet
        except av.error.InvalidDataError:
            failures += 1
        else:
            return


def has_picture(packet: Packet[VideoStream]) -> bool:
    """Whether the packet yields a visible picture: not removed by an edit list, and not only a reference for others."""
    if packet.is_discard:
        return False
    return packet.stream.codec_context.name != "vp8" or bool(bytes(packet)[0] & 0x10)

"""Packets in, pictures out: in presentation order, with the places where a picture is missing."""

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

# A file that was cut off goes on failing for every packet that its index promises.
_MOST_FAILURES = 64


class Threads(Enum):
    """How threads share the work of decoding: their kind and number, 0 for as many as there are cores."""

    FAST = (ThreadType.AUTO, 0)
    #: No frame waits for later ones.
    PROMPT = (ThreadType.SLICE, 0)
    #: A damaged packet is reported at once.
    CAREFUL = (ThreadType.SLICE, 1)


class Interrupted(Exception):
    """Somebody does not want to wait for the frame any more."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A place without a picture. ``reason`` is empty where the decoder did not complain: a frame dropped on purpose."""

    reason: str


class Decoder:
    """The pictures of one opening of a video.

    Every packet that goes in is expected to come out as a picture with its presentation time. When a later one
    comes out first, the picture is lost, and a `Lost` stands in its place. Nothing is lost before the first picture:
    recordings may begin in mid-air.

    With `Threads.FAST` FFmpeg reports a damaged packet late, and PyAV may swallow the report together with good
    pictures; ``irregular`` then tells that the same stretch should be read again carefully.

    ``check`` is called before each packet; what it raises leaves the decoder where it is, ready to go on.

    Attributes
    ----------
    ranked : whether presentation times tell the order; if not, only those packets count as lost that raised an error.
    irregular : whether anything was amiss.
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
        self._ready: deque[VideoFrame | Lost] = deque()
        self._latest: int | None = None
        self._complaint = ""
        self._begun = self._over = self.irregular = False

    def seek(self, time: int) -> None:
        """Go on from a key frame, if possible that of this presentation time; raises FFmpegError."""
        self.container.seek(time, stream=self.stream)
        self._begin()

    def peek(self) -> VideoFrame | Lost | None:
        """What `next` will give."""
        while not self._ready and not self._over:
            self._step()
        return self._ready[0] if self._ready else None

    def next(self) -> VideoFrame | Lost | None:
        """The next picture or lost place; None at the end. A read error raises FFmpegError."""
        item = self.peek()
        if item is not None:
            self._ready.popleft()
        return item

    def _step(self) -> None:
        self._check()
        packet = next(self._packets, None)
        self._over = packet is None
        if packet is not None and shows(packet):
            self._expect(packet.pts)
        for picture in self._decoded(packet):
            self._take(picture)
        if self._over and self._expected:
            # Pictures lost at the very end are no places: a file that was cut off ends where it is whole.
            self.irregular = True

    def _decoded(self, packet: Packet[VideoStream] | None) -> list[VideoFrame]:
        try:
            return self.stream.codec_context.decode(packet)
        except av.error.FFmpegError as error:
            self._complaint = reason(error)
            # Before the first picture only missing times could hide that a later one was lost.
            self.irregular |= self._begun or not self.ranked
            if self._begun and not self.ranked:
                self._ready.append(Lost(self._complaint))
            return []

    def _expect(self, time: int | None) -> None:
        if not self.ranked:
            return
        if time is None or time in self._expected or self._is_past(time):
            self._give_up_ranks()
        else:
            heappush(self._expected, time)

    def _take(self, picture: VideoFrame) -> None:
        time = picture.pts
        if self._complaint and self.ranked and self._is_past(time):
            # Damage has confused the order, and this one's place has already been given up as lost.
            return
        while self.ranked and time is not None and self._expected and self._expected[0] < time:
            heappop(self._expected)
            if self._begun:
                self.irregular = True
                self._ready.append(Lost(self._complaint))
        if self.ranked and self._expected[:1] == [time]:
            heappop(self._expected)
        else:
            self._give_up_ranks()
        self._begun = True
        self._latest = time
        self._ready.append(picture)

    def _is_past(self, time: int | None) -> bool:
        return time is not None and self._latest is not None and time <= self._latest

    def _give_up_ranks(self) -> None:
        self.ranked = False
        self._expected.clear()


def packets(container: InputContainer, stream: VideoStream) -> Iterator[Packet[VideoStream]]:
    """The packets of the stream; damaged stretches of the file are passed over."""
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


def shows(packet: Packet[VideoStream]) -> bool:
    """Whether the packet stands for a picture: not one cut off by an edit list, nor one only referred to by others."""
    if packet.is_discard:
        return False
    return packet.stream.codec_context.name != "vp8" or bool(bytes(packet)[0] & 0x10)

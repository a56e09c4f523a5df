"""Standard input source: a video that another program writes into a pipe, encoded or raw."""

from __future__ import annotations

import os
import re
import select
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import av
from av.container import InputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.format import VideoFormat

from scstream_app.errors import SourceError, reason
from scstream_app.sources.base import DamagedFrame
from scstream_app.sources.containers import open_pipe
from scstream_app.sources.video import Video

#: Address of a source that cannot be opened again.
STDIN = "stdin:"
# Seconds between two checks whether the source was closed.
_GLANCE = 0.1
_RAW = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})(?:@([0-9]{1,4}(?:\.[0-9]{1,6})?))?(?::([a-z0-9_]{1,32}))?")
_USUAL_RATE, _USUAL_PIXELS = 25.0, "rgb24"


@dataclass(frozen=True, slots=True)
class RawVideo:
    """Size, rate and pixel format of raw video, which does not state them.

    >>> RawVideo.parse("854x480@30:gray16le")
    RawVideo(width=854, height=480, rate=30.0, pixels='gray16le')
    """

    width: int
    height: int
    rate: float = _USUAL_RATE
    pixels: str = _USUAL_PIXELS

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse WIDTHxHEIGHT[@RATE][:PIXELS]; raises SourceError."""
        match = _RAW.fullmatch(text)
        if match is None or (match[3] and not float(match[3])):
            raise SourceError(f"Raw video must be WIDTHxHEIGHT@RATE:PIXELS, such as 854x480@30:rgb24; got '{text}'.")
        raw = cls(int(match[1]), int(match[2]), float(match[3] or _USUAL_RATE), match[4] or _USUAL_PIXELS)
        try:
            VideoFormat(raw.pixels)
        except ValueError as error:
            raise SourceError(f"FFmpeg has no pixel format '{raw.pixels}', as given in '{text}'.") from error
        return raw

    def options(self) -> dict[str, str]:
        """Options of FFmpeg's reader of raw video."""
        size = f"{self.width}x{self.height}"
        return {"video_size": size, "framerate": str(self.rate), "pixel_format": self.pixels}

    def frame_bytes(self) -> int:
        """Number of bytes of a frame.

        >>> RawVideo(6, 4).frame_bytes(), RawVideo(5, 3, pixels="yuv420p").frame_bytes()
        (72, 27)
        """
        # Pixel formats divide and pad their planes in many ways, which FFmpeg's encoder knows.
        encoder = av.CodecContext.create("rawvideo", "w")
        assert isinstance(encoder, VideoCodecContext)
        encoder.width, encoder.height, encoder.pix_fmt = self.width, self.height, self.pixels
        encoder.time_base = Fraction(1, 1)
        return sum(packet.size for packet in encoder.encode(av.VideoFrame(self.width, self.height, self.pixels)))


class StandardInput(Video):
    """A video from standard input, in a container that can be read from its beginning to its end.

    Every frame is returned, however slow the reader: the writing program waits. The source counts as live, because no
    frame can be read twice, and its length is unknown.

    Parameters
    ----------
    raw : RawVideo or None
        None for an encoded video.
    descriptor : int
        File descriptor of the pipe.
    """

    def __init__(self, raw: RawVideo | None = None, descriptor: int = 0) -> None:
        self._raw = raw
        self._pipe = _Pipe(descriptor)
        if self._pipe.is_terminal:
            raise SourceError("Cannot read standard input: it is a terminal. Pipe a video into it.")
        try:
            super().__init__("stdin", STDIN, "standard input")
        except SourceError as error:
            text = "it is empty or closed. Has the program before it failed?"
            if self._pipe.count:
                if not (ending := self._incomplete_frame()):
                    raise
                text = f"it {ending}."
            raise SourceError(f"Cannot read standard input: {text}") from error

    def _open(self) -> InputContainer:
        name, options = ("rawvideo", self._raw.options()) if self._raw is not None else (None, {})
        try:
            return open_pipe(self._pipe, name, options)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            raise SourceError(
                f"Cannot read standard input: {reason(error)}. Pipe Matroska, MPEG-TS, NUT, YUV4MPEG, MJPEG or "
                "fragmented MP4 into it ('ffmpeg -i clip.mp4 -f matroska -'), or describe raw video with --raw."
            ) from error

    def _damaged(self, place: int, why: str) -> DamagedFrame:
        ending = self._incomplete_frame()
        if not ending:
            return super()._damaged(place, why)
        return DamagedFrame(f"standard input {ending}; the frames before it are kept.", place)

    def _incomplete_frame(self) -> str:
        """How raw video ends, if it ends within a frame; otherwise empty."""
        if self._raw is None:
            return ""
        expected = self._raw.frame_bytes()
        given = self._pipe.count % expected
        if not given:
            return ""
        about = f"{self._raw.width} x {self._raw.height} {self._raw.pixels}"
        return f"ended after {given} of the {expected} bytes of a frame ({about})"

    def _is_live(self, duration: float | None) -> bool:
        return True

    def close(self) -> None:
        """See `Source`."""
        self._pipe.stop()
        super().close()


class _Pipe:
    """File object that FFmpeg reads; without `seek`, so that FFmpeg does not try to.

    It reads the descriptor itself: Python's buffered standard input has a lock, and a thread that still waits for data
    with that lock makes the interpreter abort at exit.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._stopped = False
        self.count = 0

    @property
    def is_terminal(self) -> bool:
        return os.isatty(self._descriptor)

    def stop(self) -> None:
        """End a `read` that is waiting in another thread."""
        self._stopped = True

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""
        # Windows cannot wait for a pipe with a timeout.
        while os.name == "posix" and not select.select([self._descriptor], [], [], _GLANCE)[0]:
            if self._stopped:
                return b""
        data = b"" if self._stopped else os.read(self._descriptor, size)
        self.count += len(data)
        return data

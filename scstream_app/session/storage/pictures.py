"""pictures.mkv: the pictures of a recording, each as it was, in the session's own folder.

H.264 without loss, in RGB, every picture by itself: one thread takes 9 ms for a picture of 480 x 854, which then has
0.4 to 0.8 MB. FFV1 takes three times as long for two thirds of the bytes. A picture is a Matroska cluster of its own,
which FFmpeg writes when the next one comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream

from scstream_app.errors import reason
from scstream_app.render.image_types import Picture, Size
from scstream_app.session.storage.files import Invalid

#: The file's name, and the address of the source of a session that has it.
PICTURES = "pictures.mkv"

_TICK = Fraction(1, 1000)
_CODEC, _PIXELS = "libx264rgb", "bgr24"
_OPTIONS = {"qp": "0", "preset": "ultrafast", "tune": "zerolatency", "g": "1"}
_CONTAINER = {"cluster_time_limit": "0", "flush_packets": "1"}


class PictureFile:
    """A lossless movie of RGB pictures of one size, that is readable up to its last picture but one at any time.

    Attributes
    ----------
    safe : int
        How many pictures are in the file even if the process is killed now.
    """

    def __init__(self, path: Path, rate: float, size: Size) -> None:
        self.safe = 0
        self._last = -1
        with _telling():
            self._container = av.open(str(path), "w", format="matroska", options=_CONTAINER)
            # One thread: the cores are wanted by the engine.
            stream = self._container.add_stream(
                _CODEC, rate=Fraction(rate).limit_denominator(65_535), options={**_OPTIONS, "threads": "1"}
            )
            assert isinstance(stream, VideoStream)
            stream.height, stream.width = size
            stream.pix_fmt = _PIXELS
            stream.codec_context.time_base = _TICK
            self._stream = stream

    def write(self, rgb: Picture, seconds: float) -> None:
        """Append a picture that is shown from then on; Invalid says why it cannot be."""
        before = self._last
        ticks = max(before + 1, round(seconds / _TICK))
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        frame.pts, frame.time_base = ticks, _TICK
        with _telling():
            self._container.mux(self._stream.encode(frame.reformat(format=_PIXELS, threads=1)))
        self.safe += before >= 0
        self._last = ticks

    def close(self) -> None:
        """Write the end; Invalid says why it cannot be, and then the last picture is not safe."""
        with _telling():
            try:
                self._container.mux(self._stream.encode())
            finally:
                self._container.close()
        self.safe += self._last >= 0

    def abandon(self) -> None:
        """Let go of a file that cannot be written to its end; what is safe stays so."""
        with suppress(av.error.FFmpegError):
            self._container.close()


@contextmanager
def _telling() -> Iterator[None]:
    """Say what FFmpeg says in the way that sessions do."""
    try:
        yield
    except av.error.FFmpegError as error:
        raise Invalid(f"{PICTURES}: {reason(error)}") from error

"""pictures.mkv: the pictures of a recording as a lossless movie in the session folder.

Lossless H.264 in RGB, key frames only: one thread takes 9 ms for a picture of 480 x 854, which then has 0.4 to 0.8 MB.
FFV1 takes three times as long for two thirds of the bytes. Each picture is a Matroska cluster of its own, which FFmpeg
writes to the file when the next picture comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from scstream_app.encoders import MissingEncoderError, add_video_stream
from scstream_app.errors import reason
from scstream_app.render.image_types import Picture, Size
from scstream_app.session.storage.files import InvalidData

#: Name of the file, and address of the source in the manifest of a recording.
PICTURES = "pictures.mkv"

#: FFmpeg's name of the encoder.
ENCODER = "libx264rgb"

_TICK = Fraction(1, 1000)
_PIXELS = "bgr24"
_OPTIONS = {"qp": "0", "preset": "ultrafast", "tune": "zerolatency", "g": "1"}
_CONTAINER = {"cluster_time_limit": "0", "flush_packets": "1"}


class PictureFile:
    """Writer of a lossless movie of RGB pictures; the file is readable at any time, except for its last picture.

    Attributes
    ----------
    safe : int
        Number of pictures that remain in the file if the process is killed now.
    """

    def __init__(self, path: Path, rate: float, size: Size) -> None:
        self.safe = 0
        self._last = -1
        with _reporting_ffmpeg_errors():
            self._container = av.open(str(path), "w", format="matroska", options=_CONTAINER)
            # One thread: the engine needs the cores.
            stream = add_video_stream(self._container, ENCODER, rate, {**_OPTIONS, "threads": "1"})
            stream.height, stream.width = size
            stream.pix_fmt = _PIXELS
            stream.codec_context.time_base = _TICK
            self._stream = stream

    def write(self, rgb: Picture, seconds: float) -> None:
        """Append a picture with this presentation time; raises InvalidData if that fails."""
        before = self._last
        ticks = max(before + 1, round(seconds / _TICK))
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
        frame.pts, frame.time_base = ticks, _TICK
        with _reporting_ffmpeg_errors():
            self._container.mux(self._stream.encode(frame.reformat(format=_PIXELS, threads=1)))
        self.safe += before >= 0
        self._last = ticks

    def close(self) -> None:
        """Finish the file; raises InvalidData if that fails, and then the last picture is not safe."""
        with _reporting_ffmpeg_errors():
            try:
                self._container.mux(self._stream.encode())
            finally:
                self._container.close()
        self.safe += self._last >= 0

    def abandon(self) -> None:
        """Close a file after a write error; the safe pictures remain."""
        with suppress(av.error.FFmpegError):
            self._container.close()


@contextmanager
def _reporting_ffmpeg_errors() -> Iterator[None]:
    """Turn FFmpeg errors, and a missing encoder, into InvalidData."""
    try:
        yield
    except (av.error.FFmpegError, MissingEncoderError) as error:
        raise InvalidData(f"{PICTURES}: {reason(error)}") from error

"""Encode pictures as movie files, with a timestamp per picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import av
import cv2
import numpy as np
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

from scstream_app.encoders import add_video_stream
from scstream_app.export import atomic_files
from scstream_app.export.atomic_files import Overwrite
from scstream_app.export.job import Job
from scstream_app.export.writer import Output, Writer
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import Picture

#: Width in pixels of the border around a cut-out that keeps its colour: codecs blend colours within a block.
_MARGIN = 16


@dataclass(frozen=True, slots=True)
class Codec:
    """An FFmpeg encoder and its settings.

    Parameters
    ----------
    name : str
        FFmpeg's name of the encoder.
    pixels : str
        FFmpeg's name of the pixel format.
    options : mapping
        Options of the encoder.
    tick : Fraction
        Time base in seconds: timestamps are multiples of it.
    container : mapping
        Options of the container format.
    even : bool
        Whether width and height must be even.
    """

    name: str
    pixels: str
    options: Mapping[str, str]
    tick: Fraction
    container: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    even: bool = False


H264 = Codec(
    "libx264",
    "yuv420p",
    {"preset": "veryfast", "crf": "18"},
    Fraction(1, 90_000),
    # Put the index first, so that browsers can play the file while they load it.
    {"movflags": "+faststart"},
    even=True,
)


class Clock:
    """Convert times in seconds to timestamps: strictly increasing whole ticks that start at 0.

    >>> clock = Clock(Fraction(1, 1000), rate=25.0)
    >>> [clock.ticks(seconds) for seconds in (7.0, 7.04, 7.04, 7.5)]
    [0, 40, 41, 500]
    """

    def __init__(self, tick: Fraction, rate: float) -> None:
        self._tick = tick
        self._step = 1.0 / rate
        self._begin: float | None = None
        self._last = -1
        self._seconds = 0.0

    def ticks(self, seconds: float | None) -> int:
        """The timestamp of the next picture; without a time it follows one frame after the last one."""
        if seconds is None or not math.isfinite(seconds):
            seconds = self._seconds + self._step if self._begin is not None else 0.0
        if self._begin is None:
            self._begin = seconds
        self._seconds = seconds
        self._last = max(self._last + 1, round((seconds - self._begin) / self._tick))
        return self._last


class Encoder:
    """An open movie file of one size."""

    def __init__(self, path: Path, codec: Codec, rate: float, shape: tuple[int, ...]) -> None:
        self._codec = codec
        self._container = av.open(str(path), "w", options=dict(codec.container))
        stream = add_video_stream(self._container, codec.name, rate, codec.options)
        stream.height, stream.width = shape[:2]
        stream.pix_fmt = codec.pixels
        self._stream = stream
        context = stream.codec_context
        context.time_base = codec.tick
        context.thread_type = "AUTO"
        _tag(context)

    def encode(self, picture: Picture, ticks: int) -> None:
        """Append an RGB or RGBA picture."""
        for frame in self._frames(picture, ticks):
            self._container.mux(self._stream.encode(frame))

    def _frames(self, picture: Picture, ticks: int) -> Iterator[av.VideoFrame]:
        """Convert a picture to the frames that the encoder takes."""
        frame = self._frame(picture, ticks)
        # With several threads, swscale miscalculates the first pixels of each thread's slice in 10-bit formats.
        converted = frame.reformat(
            format=self._codec.pixels, dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG, threads=1
        )
        # ProRes writes the tags of every picture, not those of the encoder.
        _tag(converted)
        yield converted

    def _frame(self, picture: Picture, ticks: int) -> av.VideoFrame:
        kind = "rgba" if picture.shape[2] == 4 else "rgb24"
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format=kind)
        frame.pts, frame.time_base = ticks, self._codec.tick
        return frame

    def finish(self) -> None:
        """Flush the encoder and complete the file."""
        self._container.mux(self._stream.encode())
        self._container.close()

    def close(self) -> None:
        """Close the file, complete or not."""
        self._container.close()


class Movie(Output):
    """Write pictures (H, W, 3) or (H, W, 4) of one size to a movie; use it in a with statement.

    The file appears at the end of the statement. If the body of the statement fails or is interrupted, the movie is
    completed with the pictures so far. If the movie itself cannot be written, no file remains.
    """

    encoder: ClassVar[type[Encoder]] = Encoder

    def __init__(self, path: Path, rate: float, codec: Codec = H264, overwrite: Overwrite = "replace") -> None:
        super().__init__()
        self.path = path
        self._codec = codec
        self._rate = rate
        self._clock = Clock(codec.tick, rate)
        self._file: Encoder | None = None
        atomic_files.make_folder(path.parent)
        self._staged = atomic_files.StagedFiles([path], overwrite)
        self.kept = self._staged.kept

    def write(self, picture: Picture, time: float | None = None) -> None:
        """Append a picture shown from ``time`` (in seconds) on; by default one frame after the last one."""
        if self.kept:
            return
        with self._reporting(self.path):
            self._encode(_pad_to_even(picture) if self._codec.even else picture, time)
        self.count += 1

    def _encode(self, picture: Picture, time: float | None) -> None:
        if self._file is None:
            self._file = self.encoder(self._staged[0], self._codec, self._rate, picture.shape)
        self._file.encode(picture, self._clock.ticks(time))

    def _finish(self) -> None:
        assert self._file is not None
        self._file.finish()
        self._staged.commit()

    def _release(self) -> None:
        if self._file is not None:
            atomic_files.close_quietly(self._file)
        self._staged.discard()


class MovieWriter(Writer):
    """Base class of movie formats.

    The movie shows the view of the options. If they name no view, the clip has objects and the format has
    transparency, it shows the objects cut out.
    """

    needs_picture = True
    suffix: ClassVar[str]
    codec: ClassVar[Codec]
    #: The codec with transparency; None if the format has none.
    alpha_codec: ClassVar[Codec | None] = None

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._cut_out = self._cuts_out(job)
        self.path = folder / self.target_names(job)[0]
        self._movie = self._open()
        self.kept = self._movie.kept

    @classmethod
    def target_names(cls, job: Job) -> tuple[str, ...]:
        stem = views.VIEWS["matte" if cls._cuts_out(job) else job.options.opaque_view].stem
        return (f"{stem}{cls.suffix}",)

    @classmethod
    def _cuts_out(cls, job: Job) -> bool:
        """Whether the movie shows the objects cut out with transparency."""
        return cls.alpha_codec is not None and bool(job.objects) and job.options.view in (None, "matte")

    def _open(self) -> Movie:
        codec = self.alpha_codec if self._cut_out and self.alpha_codec else self.codec
        return Movie(self.path, self.job.rate, codec, self.job.options.overwrite)

    def _write(self, result: FrameResult) -> None:
        self._movie.write(self._picture(result), result.time)

    def _picture(self, result: FrameResult) -> Picture:
        if self._cut_out:
            return views.matte(self.job.picture(result), self.job.alpha(result), _MARGIN)
        return views.flatten(views.draw(self.job.options.opaque_view, self.job.scene(result)))

    def _finish(self) -> None:
        self._movie.close()

    def _release(self) -> None:
        self._movie.abandon()


def _tag(target: av.VideoCodecContext | av.VideoFrame) -> None:
    """Declare the colours as BT.709 in the limited range: players that must guess show wrong ones."""
    target.colorspace = Colorspace.ITU709
    target.color_primaries = ColorPrimaries.BT709
    target.color_trc = ColorTrc.BT709
    target.color_range = ColorRange.MPEG


def _pad_to_even(picture: Picture) -> Picture:
    """Repeat the last row or column if their number is odd: chroma is stored per 2 x 2 pixels."""
    height, width = picture.shape[:2]
    if height % 2 == 0 and width % 2 == 0:
        return picture
    padded = cv2.copyMakeBorder(picture, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
    return np.asarray(padded, np.uint8)

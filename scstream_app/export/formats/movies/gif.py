"""Animated GIF: 256 colours per frame, no transparency; every browser shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import av.filter
import numpy as np

from scstream_app.export.job import Job
from scstream_app.export.movie import Codec, Encoder, Movie, MovieWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import Picture

#: Largest frame rate that browsers play.
_LARGEST_RATE = 50.0
_LARGEST_WIDTH = 640
_TICK = Fraction(1, 100)
#: Clear the two lowest bits of each channel: invisible with 256 colours, and the palette is found three times as fast.
_KEPT_BITS, _MIDDLE = np.uint8(0xFC), np.uint8(0x02)


class _Encoder(Encoder):
    """Encodes every picture with a separate palette of 256 colours."""

    def __init__(self, path: Path, codec: Codec, rate: float, shape: tuple[int, ...]) -> None:
        # Set the duration of the last picture, which has no successor to define it.
        last = {"final_delay": str(max(round(100.0 / rate), 2))}
        super().__init__(path, replace(codec, container={**codec.container, **last}), rate, shape)
        graph = av.filter.Graph()
        source = graph.add_buffer(width=shape[1], height=shape[0], format=av.VideoFormat("rgb24"), time_base=codec.tick)
        split, palette = graph.add("split"), graph.add("palettegen", "stats_mode=single")
        apply, sink = graph.add("paletteuse", "new=1:dither=none"), graph.add("buffersink")
        source.link_to(split)
        split.link_to(palette, 0, 0)
        split.link_to(apply, 1, 0)
        palette.link_to(apply, 0, 1)
        apply.link_to(sink)
        graph.configure()
        self._graph = graph

    def _frames(self, picture: Picture, ticks: int) -> Iterator[av.VideoFrame]:
        self._graph.vpush(self._frame(picture & _KEPT_BITS | _MIDDLE, ticks))
        yield self._graph.vpull()


class _Movie(Movie):
    encoder = _Encoder


class Gif(MovieWriter):
    """Writes VIEW.gif."""

    format = "gif"
    title = "GIF"
    group = "Movies"
    position = 4
    about = (
        f"An animated GIF of at most {_LARGEST_RATE:g} frames per second; "
        f"at most {_LARGEST_WIDTH} pixels wide unless a scale is given"
    )
    warning = "GIF: 256 colours per frame."
    suffix = ".gif"
    codec = Codec("gif", "pal8", {}, _TICK, {"loop": "0"})

    def __init__(self, folder: Path, job: Job) -> None:
        if job.options.scale == 1.0 and job.width > _LARGEST_WIDTH:
            job = job.with_options(scale=_LARGEST_WIDTH / job.width)
        super().__init__(folder, job)
        self._next_time = -np.inf

    def _open(self) -> Movie:
        return _Movie(self.path, min(self.job.rate, _LARGEST_RATE), self.codec, self.job.options.overwrite)

    def _write(self, result: FrameResult) -> None:
        # Half a tick of tolerance, so that rounding does not drop every other frame.
        if result.time + 0.5 * float(_TICK) < self._next_time:
            return
        self._next_time = result.time + 1.0 / _LARGEST_RATE
        super()._write(result)

"""Animated GIF: no player, no transparency, few colours, but it moves everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import av.filter
import numpy as np

from scstream_app.export.job import Job
from scstream_app.export.movie import Codec, Encoder, Movie, Movies
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import Picture

#: Browsers slow down anything faster.
_FASTEST = 50.0
_WIDEST = 640
_TICK = Fraction(1, 100)
#: Two bits less a channel are not missed among 256 colours, and make choosing those three times as fast.
_KEPT_BITS, _MIDDLE = np.uint8(0xFC), np.uint8(0x02)


class _Encoder(Encoder):
    """Gives every picture a table of the 256 colours that suit it best."""

    def __init__(self, path: Path, codec: Codec, rate: float, shape: tuple[int, ...]) -> None:
        # Without this the last picture, having no next one, would have no duration either.
        held = {"final_delay": str(max(round(100.0 / rate), 2))}
        super().__init__(path, replace(codec, container={**codec.container, **held}), rate, shape)
        graph = av.filter.Graph()
        source = graph.add_buffer(width=shape[1], height=shape[0], format=av.VideoFormat("rgb24"), time_base=codec.tick)
        twice, choose = graph.add("split"), graph.add("palettegen", "stats_mode=single")
        use, sink = graph.add("paletteuse", "new=1:dither=none"), graph.add("buffersink")
        source.link_to(twice)
        twice.link_to(choose, 0, 0)
        twice.link_to(use, 1, 0)
        choose.link_to(use, 0, 1)
        use.link_to(sink)
        graph.configure()
        self._graph = graph

    def _frames(self, picture: Picture, ticks: int) -> Iterator[av.VideoFrame]:
        self._graph.vpush(self._frame(picture & _KEPT_BITS | _MIDDLE, ticks))
        yield self._graph.vpull()


class _Movie(Movie):
    encoder = _Encoder


class Gif(Movies):
    """VIEW.gif."""

    format = "gif"
    about = (
        f"An animated GIF, at most {_FASTEST:g} frames a second, at most {_WIDEST} pixels wide unless a scale is given"
    )
    suffix = ".gif"
    codec = Codec("gif", "pal8", {}, _TICK, {"loop": "0"})

    def __init__(self, folder: Path, job: Job) -> None:
        if job.options.scale == 1.0 and job.width > _WIDEST:
            job = job.with_options(scale=_WIDEST / job.width)
        super().__init__(folder, job)
        self._next = -np.inf

    def _open(self) -> Movie:
        return _Movie(self.path, min(self.job.rate, _FASTEST), self.codec, self.job.options.overwrite)

    def _write(self, result: FrameResult) -> None:
        # Half a tick of tolerance, so that rounding does not drop every other frame.
        if result.time + 0.5 * float(_TICK) < self._next:
            self._following.at(result)
            return
        self._next = result.time + 1.0 / _FASTEST
        super()._write(result)

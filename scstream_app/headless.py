"""A whole source segmented into a folder, without a window."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from scstream import Preview, VideoSegmenter
from scstream_app import render
from scstream_app.errors import SourceError
from scstream_app.export import IdImages, Movie
from scstream_app.pipeline import FrameResult, run
from scstream_app.sources import Source


@dataclass(slots=True)
class Tally:
    """What there is to say about a run, gathered frame by frame.

    The first frame has to settle and is timed on its own (``init_seconds``); rates are those of the others.
    """

    width: int
    height: int
    init_seconds: float = 0.0
    segments_last: int = 0
    engine: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    _begin: float = field(default_factory=perf_counter)

    @property
    def frames(self) -> int:
        """Frames done."""
        return len(self.whole)

    def add(self, result: FrameResult, segments: int) -> None:
        """Count a frame that has just been finished, from reading to writing."""
        now = perf_counter()
        self.whole.append(1000.0 * (now - self._begin))
        self.engine.append(result.milliseconds)
        self._begin = now
        self.segments_last = segments
        if self.frames == 1:
            self.init_seconds = result.milliseconds / 1000.0

    def report(self, segmenter: VideoSegmenter) -> dict[str, Any]:
        """The run in numbers, as `scstream segment --json` prints them; None for what one frame cannot tell."""
        whole, engine = np.array(self.whole[1:]), np.array(self.engine[1:])
        several = len(whole) > 0
        model = segmenter.model_
        return {
            "frames": self.frames,
            "width": self.width,
            "height": self.height,
            "ms_per_frame_median": round(float(np.median(whole)), 3) if several else None,
            "ms_per_frame_p95": round(float(np.percentile(whole, 95)), 3) if several else None,
            "ms_engine_median": round(float(np.median(engine)), 3) if several else None,
            "fps": round(1000.0 / float(whole.mean()), 3) if several else None,
            "segments_last": self.segments_last,
            "segments_ever": model.genealogy_.n_ids,
            "init_seconds": round(self.init_seconds, 3),
            "seed": model.seed or 0,
            "threads": model.threads or os.cpu_count() or 1,
        }


def segment_into(
    folder: Path,
    source: Source,
    segmenter: VideoSegmenter,
    start: int = 0,
    stop: int | None = None,
    on_preview: Callable[[Preview], None] | None = None,
) -> Generator[Tally]:
    """Write ids/NNNNN.png, mean.mp4 and overlay.mp4; yields the running tally after every frame.

    Leaving the iterator early keeps the frames so far, as whole files.
    """
    tally = Tally(source.width, source.height)
    with ExitStack() as stack:
        ids = IdImages(folder / "ids")
        mean = stack.enter_context(Movie(folder / "mean.mp4", source.rate))
        overlay = stack.enter_context(Movie(folder / "overlay.mp4", source.rate))
        for result in run(source.frames(start, stop), segmenter, on_preview):
            ids.write(result.index, result.ids)
            mean.write(render.mean_colour(result.rgb, result.ids))
            overlay.write(render.overlay(result.rgb, result.ids))
            tally.add(result, segmenter.model_.n_clusters_)
            yield tally
    if tally.frames == 0:
        raise SourceError(
            f"Nothing to do: '{source.name}' ends before frame {start}. Choose an earlier --frames start."
        )

"""Frames in, segmented frames out: the line that the window and the command line both drive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from scstream import Event, Preview, VideoSegmenter
from scstream_app.sources import Frame


@dataclass(frozen=True, slots=True)
class FrameResult:
    """A segmented frame: what `Frame` says, its ids (H, W), what happened, and the engine's time for it."""

    index: int
    time: float
    rgb: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.int32]
    events: tuple[Event, ...]
    milliseconds: float


def run(
    frames: Iterable[Frame], segmenter: VideoSegmenter, on_preview: Callable[[Preview], None] | None = None
) -> Iterator[FrameResult]:
    """Segment the frames one by one; ``on_preview`` hears of the first one's progress.

    To the engine frame i comes at time i, whatever its presentation time: in a recording that stood still for
    seconds the past would otherwise be forgotten, and every segment lose its id.
    """
    for frame in frames:
        begin = perf_counter()
        ids = segmenter.segment(frame.rgb, float(frame.index), on_preview)
        milliseconds = 1000.0 * (perf_counter() - begin)
        yield FrameResult(frame.index, frame.time, frame.rgb, ids, tuple(segmenter.events_), milliseconds)

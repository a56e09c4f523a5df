"""Label churn and mean uncertainty of frames, measured during a run or afterwards."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import numpy.typing as npt

from scstream import metrics
from scstream.pixels.statistics import scale_covariance
from scstream_app.errors import StudioError
from scstream_app.pipeline.edits import colour_after
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap, Picture
from scstream_app.session import Session
from scstream_app.sources import Source, open_source

#: Number of pixels to average over: as good as all pixels of a frame, and under a millisecond.
_SAMPLE = 6_000


def measure_frame(before: IdMap | None, result: FrameResult, colour: str) -> dict[str, float]:
    """Measure a frame: a mapping that may hold "churn" and "uncertainty".

    ``before`` holds the ids of the previous frame; without it there is no churn. Without a picture there is no
    uncertainty. ``colour`` is the colour space of the frame.
    """
    found = {} if before is None else {"churn": metrics.label_churn(before, result.ids)}
    if result.rgb is not None and len(result.statistics):
        found["uncertainty"] = mean_uncertainty(result.rgb, result.statistics, colour)
    return found


def mean_uncertainty(picture: Picture, statistics: npt.NDArray[np.void], colour: str) -> float:
    """Mean of `scstream.pixels.uncertainty.uncertainty` over every n-th row and column of the picture."""
    height, width = picture.shape[:2]
    step = max(1, math.isqrt(height * width // _SAMPLE))
    sparse = np.ascontiguousarray(picture[step // 2 :: step, step // 2 :: step])
    # Positions are in pixels of the full picture; scale them to the subsampled one.
    rows, factors = statistics.copy(), (sparse.shape[0] / height, sparse.shape[1] / width)
    rows["row"] *= factors[0]
    rows["column"] *= factors[1]
    rows["covariance"] = scale_covariance(rows["covariance"], factors)
    # Imported here because the engine takes a second or two to import, and the window should open at once.
    from scstream.pixels.uncertainty import uncertainty

    return float(uncertainty(sparse, rows, colour).mean())


def colour_at(session: Session, index: int) -> str:
    """Colour space in use just before frame ``index``: the user may have changed it during the run."""
    colour = session.manifest.settings.colour
    for record in session.edited_records(index):
        colour = colour_after(record.edits, colour)
    return colour


class MeasuringSession(Session):
    """Session that measures the churn and uncertainty of every frame it appends.

    It also records how long writing takes. That is known only after the frame is written, so each frame holds the
    time of the frame before it.
    """

    _before: IdMap | None = None
    _colour = ""
    _writing_took = math.nan

    def append(self, result: FrameResult) -> None:
        """Measure the frame and write it."""
        milliseconds = {
            **result.milliseconds,
            **({} if math.isnan(self._writing_took) else {"write": self._writing_took}),
        }
        result = replace(result, measures=self._measure(result), milliseconds=milliseconds)
        begin = perf_counter()
        super().append(result)
        self._writing_took = 1000.0 * (perf_counter() - begin)
        self._before = result.ids

    def _measure(self, result: FrameResult) -> dict[str, float]:
        """Measure a frame that follows the session's last one."""
        if self._before is None and len(self):
            self._before = self.ids(int(self.frames[-1]), stored=True)
        self._colour = colour_after(result.edits, self._colour or colour_at(self, result.index))
        return measure_frame(self._before, result, self._colour)


@dataclass(frozen=True, slots=True)
class MeasureJob:
    """Request to measure frames (ascending) of a session; setting ``cancel`` stops it."""

    session: Session
    frames: Sequence[int]
    cancel: threading.Event


def measure_frames(job: MeasureJob) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield each frame of the job with its measures; without uncertainty if the source cannot be opened."""
    session, wanted = job.session, frozenset(job.frames)
    source = _source(session)
    try:
        first = _before(session, min(wanted, default=0))
        before: IdMap | None = None
        colour = colour_at(session, first)
        for result in session.results(first, max(wanted, default=-1) + 1, source):
            if job.cancel.is_set():
                return
            colour = colour_after(result.edits, colour)
            if result.index in wanted:
                yield result.index, measure_frame(before, result, colour)
            before = result.ids
    finally:
        if source is not None:
            source.close()


def _before(session: Session, index: int) -> int:
    """Index of the frame before ``index`` if there is one: churn compares with it."""
    frames = session.frames
    place = int(np.searchsorted(frames, index))
    return int(frames[max(place - 1, 0)]) if len(frames) else 0


def _source(session: Session) -> Source | None:
    if session.manifest.source.live:
        return None
    try:
        return open_source(session.source_address)
    except StudioError:
        return None

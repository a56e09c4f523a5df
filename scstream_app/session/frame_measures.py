"""What is found out about frames besides their ids: label churn and mean uncertainty, as they come or afterwards."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import numpy.typing as npt

from scstream import metrics
from scstream_app.errors import StudioError
from scstream_app.pipeline.edits import colour_after
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import IdMap, Picture
from scstream_app.session import Session
from scstream_app.sources import Source, open_source

#: The mean over so many pixels of a frame is as good as that over all, and takes under a millisecond.
_SAMPLE = 6_000


def measures(before: IdMap | None, result: FrameResult, colour: str) -> dict[str, float]:
    """What is noted of a frame; ``before`` are the ids of the one before, ``colour`` its colour space.

    Of a first frame the churn is not known, nor is the uncertainty where there is no picture.
    """
    found = {} if before is None else {"churn": metrics.label_churn(before, result.ids)}
    if result.rgb is not None and len(result.statistics):
        found["uncertainty"] = mean_uncertainty(result.rgb, result.statistics, colour)
    return found


def mean_uncertainty(picture: Picture, statistics: npt.NDArray[np.void], colour: str) -> float:
    """The mean of `scstream.pixels.uncertainty.uncertainty` over every so manieth row and column."""
    height, width = picture.shape[:2]
    step = max(1, math.isqrt(height * width // _SAMPLE))
    sparse = np.ascontiguousarray(picture[step // 2 :: step, step // 2 :: step])
    # Places are told in pixels of the picture: here it has fewer.
    rows = statistics.copy()
    rows["row"] *= sparse.shape[0] / height
    rows["column"] *= sparse.shape[1] / width
    # The engine takes a second or two to import, and the window need not wait for it.
    from scstream.pixels.uncertainty import uncertainty

    return float(uncertainty(sparse, rows, colour).mean())


def colour_at(session: Session, index: int) -> str:
    """The colour space that a session is segmented in just before a frame; a person may have changed it on the way."""
    colour = session.manifest.settings.colour
    for record in session.edited_records(index):
        colour = colour_after(record.edits, colour)
    return colour


class MeasuringSession(Session):
    """A session that notes with every frame how many pixels changed their id and how uncertain it is.

    The time that writing took is known afterwards only: it is noted with the next frame.
    """

    _before: IdMap | None = None
    _colour = ""
    _writing_took = math.nan

    def append(self, result: FrameResult) -> None:
        """Write a frame with its measures."""
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
        """What is to be noted of a frame that comes after the last one."""
        if self._before is None and len(self):
            self._before = self.ids(int(self.frames[-1]))
        self._colour = colour_after(result.edits, self._colour or colour_at(self, result.index))
        return measures(self._before, result, self._colour)


@dataclass(frozen=True, slots=True)
class MeasureJob:
    """Frames of a session that nobody measured, ascending."""

    session: Session
    frames: Sequence[int]
    cancel: threading.Event


def measure_frames(survey: MeasureJob) -> Iterator[tuple[int, dict[str, float]]]:
    """Each frame with its measures; without uncertainty where pictures were not kept."""
    session, wanted = survey.session, frozenset(survey.frames)
    source = _source(session)
    try:
        first = _before(session, min(wanted, default=0))
        before: IdMap | None = None
        colour = colour_at(session, first)
        for result in session.results(first, max(wanted, default=-1) + 1, source):
            if survey.cancel.is_set():
                return
            colour = colour_after(result.edits, colour)
            if result.index in wanted:
                yield result.index, measures(before, result, colour)
            before = result.ids
    finally:
        if source is not None:
            source.close()


def _before(session: Session, index: int) -> int:
    """The frame before, if there is one: churn is a comparison."""
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

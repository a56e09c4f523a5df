"""What is found out about frames besides their ids: label churn and mean uncertainty, as they come or afterwards."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic, perf_counter

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QThread, Signal, Slot

from scstream import Event, metrics
from scstream.genealogy import Kind
from scstream_app.edits import Edit
from scstream_app.errors import StudioError
from scstream_app.results import FrameResult, IdMap, Picture
from scstream_app.session import Session
from scstream_app.sources import Source, open_source

#: A kernel that is being compiled for the first time cannot be interrupted.
_STOP_MILLISECONDS = 60_000
#: The mean over so many pixels of a frame is as good as that over all, and takes under a millisecond.
_SAMPLE = 6_000
#: Seconds between two words about what a survey has found.
_PAUSE = 0.25


def mean_uncertainty(picture: Picture, statistics: npt.NDArray[np.void], colour: str) -> float:
    """The mean of `scstream.video.uncertainty` over every so manieth row and column."""
    height, width = picture.shape[:2]
    step = max(1, math.isqrt(height * width // _SAMPLE))
    sparse = np.ascontiguousarray(picture[step // 2 :: step, step // 2 :: step])
    # Places are told in pixels of the picture: here it has fewer.
    rows = statistics.copy()
    rows["row"] *= sparse.shape[0] / height
    rows["column"] *= sparse.shape[1] / width
    # The engine takes a second or two to import, and the window need not wait for it.
    from scstream.video import uncertainty

    return float(uncertainty(sparse, rows, colour).mean())


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
        result = replace(result, measures=self.measure(result), milliseconds=milliseconds)
        if not len(self):
            result = replace(result, events=(*arrivals(result), *result.events))
        begin = perf_counter()
        super().append(result)
        self._writing_took = 1000.0 * (perf_counter() - begin)
        self._before = result.ids

    def measure(self, result: FrameResult) -> dict[str, float]:
        """What is to be noted of a frame that comes after the last one."""
        before = self._before
        if before is None and len(self):
            before = self.ids(int(self.frames[-1]))
        found = {} if before is None else {"churn": metrics.label_churn(before, result.ids)}
        self._colour = colour_of(result.edits, self._colour or colour_at(self, result.index))
        if result.rgb is not None and len(result.statistics):
            found["uncertainty"] = mean_uncertainty(result.rgb, result.statistics, self._colour)
        return found


def colour_of(edits: Iterable[Edit], colour: str) -> str:
    """The colour space after some edits, if it was ``colour`` before."""
    for edit in edits:
        colour = str(edit.values.get("colour", colour))
    return colour


def colour_at(session: Session, index: int) -> str:
    """The colour space that a session is segmented in just before a frame; a person may have changed it on the way."""
    colour = session.manifest.settings.colour
    for record in session.edited_records(index):
        colour = colour_of(record.edits, colour)
    return colour


def arrivals(result: FrameResult) -> list[Event]:
    """Births of the segments that a first frame has from another clip: here their lives begin."""
    born = {event.ids[-1] for event in result.events if event.kind in (Kind.BIRTH, Kind.SPLIT)}
    rows = result.statistics
    return [
        Event(Kind.BIRTH, float(result.index), 0, (int(row["id"]),), math.nan, (float(row["pixels"]),))
        for row in rows
        if int(row["id"]) not in born
    ]


@dataclass(frozen=True, slots=True)
class Survey:
    """Frames of a session that nobody measured, ascending."""

    session: Session
    frames: Sequence[int]
    cancel: threading.Event


class Surveyor(QObject):
    """Measures frames of sessions that were written without: by the command line, or by an earlier program.

    ``measured`` carries the session and a mapping from frames to their measures, now and then; ``finished`` comes at
    the end.
    What cannot be read is left unknown: whoever wants to see such a frame is told why.
    """

    measured = Signal(object, object)
    finished = Signal()

    _begin = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._cancel = threading.Event()
        self._thread = QThread()
        self._thread.setObjectName("measuring")
        self.moveToThread(self._thread)
        self._begin.connect(self._work)

    # --- called from the window's thread

    def start(self, session: Session, frames: Sequence[int]) -> None:
        """Measure these frames; what was being measured is not wanted any more."""
        self.cancel()
        self._cancel = threading.Event()
        self._thread.start(QThread.Priority.LowPriority)
        self._begin.emit(Survey(session, frames, self._cancel))

    def cancel(self) -> None:
        """Stop within a frame."""
        self._cancel.set()

    def shut_down(self) -> bool:
        """Stop for good; True if the thread has ended."""
        self.cancel()
        self._thread.quit()
        return self._thread.wait(_STOP_MILLISECONDS)

    # --- on its own thread

    @Slot(object)
    def _work(self, survey: Survey) -> None:
        found: dict[int, Mapping[str, float]] = {}
        told = monotonic()
        try:
            for index, measures in surveyed(survey):
                found[index] = measures
                if monotonic() - told > _PAUSE:
                    self._tell(survey, found)
                    found, told = {}, monotonic()
        except StudioError:
            pass
        self._tell(survey, found)
        if not survey.cancel.is_set():
            self.finished.emit()

    def _tell(self, survey: Survey, found: Mapping[int, Mapping[str, float]]) -> None:
        if found and not survey.cancel.is_set():
            self.measured.emit(survey.session, found)


def surveyed(survey: Survey) -> Iterator[tuple[int, dict[str, float]]]:
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
            colour = colour_of(result.edits, colour)
            if result.index in wanted:
                found = {} if before is None else {"churn": metrics.label_churn(before, result.ids)}
                if result.rgb is not None:
                    found["uncertainty"] = mean_uncertainty(result.rgb, result.statistics, colour)
                yield result.index, found
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

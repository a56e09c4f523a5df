"""Measuring on a thread of its own what nobody measured when it was segmented."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from time import monotonic

from PySide6.QtCore import Signal

from scstream_app.errors import StudioError
from scstream_app.session import Session
from scstream_app.session.frame_measures import MeasureJob, measure_frames
from scstream_app.ui.qt.background import BackgroundWorker

#: A kernel that is being compiled for the first time cannot be interrupted.
_STOP_MILLISECONDS = 60_000
#: Seconds between two words about what a survey has found.
_PAUSE = 0.25


class MeasureWorker(BackgroundWorker[tuple[Session, Sequence[int]]]):
    """Measures frames of sessions that were written without: by the command line, or by an earlier program.

    ``measured`` carries the session and a mapping from frames to their measures, now and then. The session keeps them,
    so that nothing is measured twice. What cannot be read is left unknown: whoever wants to see such a frame is told
    why.
    """

    measured = Signal(object, object)

    def __init__(self) -> None:
        super().__init__("measuring", _STOP_MILLISECONDS)

    def start(self, session: Session, frames: Sequence[int]) -> None:
        """Measure these frames; what was being measured is not wanted any more."""
        self._do((session, frames))

    def _work(self, task: tuple[Session, Sequence[int]], cancel: threading.Event) -> None:
        survey = MeasureJob(*task, cancel)
        found: dict[int, Mapping[str, float]] = {}
        told = monotonic()
        try:
            for index, measures in measure_frames(survey):
                found[index] = measures
                if monotonic() - told > _PAUSE:
                    self._tell(survey, found)
                    found, told = {}, monotonic()
        except Exception:
            # Whatever cannot be read or reckoned stays unknown; nobody waits for it.
            pass
        self._tell(survey, found)

    def _tell(self, survey: MeasureJob, found: Mapping[int, Mapping[str, float]]) -> None:
        if not found or survey.cancel.is_set():
            return
        self.measured.emit(survey.session, found)
        try:
            survey.session.add_measures(found)
        except StudioError:
            # The disk is full, or the session was just closed: it is measured again some day.
            pass

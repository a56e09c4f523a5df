"""Measures churn and uncertainty of frames that were segmented without a window."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from time import monotonic

from PySide6.QtCore import Signal

from scstream_app.errors import StudioError
from scstream_app.session import Session
from scstream_app.session.frame_measures import MeasureJob, measure_frames
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.qt.threads.background import BackgroundWorker

_logger = logging.getLogger(__name__)

#: The compilation of a kernel cannot be interrupted.
_STOP_MILLISECONDS = 60_000
#: Seconds between two reports.
_PAUSE = 0.25


class MeasureWorker(BackgroundWorker[tuple[Session, Sequence[int]]]):
    """Measures frames of sessions that the command line or an earlier version of the program has written.

    ``measured`` carries the session and a mapping from frames to their measures, several times in a job. The session
    stores the measures. Frames that cannot be read stay unmeasured; the renderer reports why when the user looks at
    them.
    """

    measured = Signal(object, object)

    def __init__(self) -> None:
        super().__init__("measuring", _STOP_MILLISECONDS)

    def start(self, session: Session, frames: Sequence[int]) -> None:
        """Measure these frames instead of any others."""
        self._replace((session, frames))

    def measure_missing(self, session: Session, summary: RunSummary) -> None:
        """Measure the frames of which the summary lacks measures, if any."""
        frames = summary.unmeasured(session.manifest.source.live)
        if frames:
            self.start(session, frames)

    def _work(self, task: tuple[Session, Sequence[int]], cancel: threading.Event) -> None:
        job = MeasureJob(*task, cancel)
        found: dict[int, Mapping[str, float]] = {}
        reported = monotonic()
        try:
            for index, measures in measure_frames(job):
                found[index] = measures
                if monotonic() - reported > _PAUSE:
                    self._report(job, found)
                    found, reported = {}, monotonic()
        except Exception:
            # Whatever the fault, the frames stay unmeasured.
            _logger.error("Measuring frames failed", exc_info=True)
        self._report(job, found)

    def _report(self, job: MeasureJob, found: Mapping[int, Mapping[str, float]]) -> None:
        if not found or job.cancel.is_set():
            return
        self.measured.emit(job.session, found)
        try:
            job.session.add_measures(found)
        except StudioError:
            # The disk is full, or the session was just closed: the frames are measured again when it is next opened.
            pass

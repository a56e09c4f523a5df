"""Tracks the objects of the open clip, and stores their masks in its session."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic

import numpy as np
from PySide6.QtCore import Signal

from scstream_app.objects import MarkedObject
from scstream_app.session import Session, check_source
from scstream_app.session.objects.mask_updates import MaskUpdates
from scstream_app.session.objects.object_curves import ObjectCurves
from scstream_app.sources import Source, open_source
from scstream_app.ui.qt.threads.background import BackgroundWorker

_logger = logging.getLogger(__name__)

#: Opening the source of a long video may take a while.
_STOP_MILLISECONDS = 30_000
#: Seconds between two reports.
_PAUSE = 0.25


@dataclass(frozen=True, slots=True)
class TrackTask:
    """Objects to track in a session.

    Parameters
    ----------
    session : Session
    objects : tuple of MarkedObject
    updates : MaskUpdates
        What is known from earlier tasks of the same clip.
    """

    session: Session
    objects: tuple[MarkedObject, ...]
    updates: MaskUpdates


@dataclass(frozen=True, slots=True)
class TrackReport:
    """What the worker has done.

    Parameters
    ----------
    session : Session
    frames : list of int
        Frames whose masks were stored since the report before.
    curves : ObjectCurves
        Area and confidence of the objects on all frames that are tracked by now.
    """

    session: Session
    frames: list[int]
    curves: ObjectCurves


class ObjectWorker(BackgroundWorker[TrackTask | None]):
    """Tracks the objects on all frames whose stored masks are missing or were made from other edits.

    While the session grows, the worker waits for new frames. ``reported`` says that `take_report` has a report, about
    four times a second. On frames that cannot be read, objects keep showing their segments; the renderer reports why
    when the user looks at them.

    Attributes
    ----------
    progress : float or None
        Place in the clip that the worker has reached, from 0 to 1; None if no masks are missing.
    """

    #: Without arguments, as `BackgroundWorker` explains.
    reported = Signal()

    def __init__(self) -> None:
        super().__init__("tracking", _STOP_MILLISECONDS)
        self.progress: float | None = None
        self._news = threading.Condition()
        self._growing = False
        self._arrivals = 0
        # The source stays open between tasks: to find the frames of a long video takes a while.
        self._source: tuple[Session, Source] | None = None
        self._reports: deque[TrackReport] = deque()
        self._found: list[int] = []
        self._reported = 0.0

    # --- on the window's thread

    def start(self, task: TrackTask, growing: bool) -> None:
        """Do this task instead of any other; ``growing``: more frames follow, which `announce` announces."""
        with self._news:
            self._growing = growing
        self._replace(task)

    def announce(self, growing: bool) -> None:
        """Say that there may be new frames, and whether more of them follow."""
        with self._news:
            self._growing = growing
            self._arrivals += 1
            self._news.notify_all()

    def take_report(self) -> TrackReport:
        """Return the next report; once for ``reported``."""
        return self._reports.popleft()

    def leave(self) -> None:
        """Stop, and close the source."""
        self._replace(None)

    def _cancel_tasks(self) -> None:
        super()._cancel_tasks()
        with self._news:
            self._news.notify_all()

    def shut_down(self, patience: int | None = None) -> bool:
        """End the thread and close the source; return whether the thread ended within ``patience`` milliseconds."""
        ended = super().shut_down(patience)
        if ended:
            self._close_source()
        return ended

    # --- on the worker's thread

    def _work(self, task: TrackTask | None, cancel: threading.Event) -> None:
        if task is None:
            self._found.clear()
            self._close_source()
            return
        try:
            self._follow(task, cancel)
        except Exception:
            # Whatever the fault, the masks stay missing.
            _logger.error("Tracking objects failed", exc_info=True)
        self.progress = None
        self._report(task, cancel)

    def _follow(self, task: TrackTask, cancel: threading.Event) -> None:
        """Track all frames of the session, and new ones until no more follow."""
        start = 0
        while not cancel.is_set():
            with self._news:
                growing, arrivals = self._growing, self._arrivals
            missing = task.updates.missing(task.session, task.objects, start, cancel)
            if not task.session.writable:
                # Only stored masks count: new ones could not be stored.
                return
            if missing and not start:
                # At once: areas and confidences of the missing frames are no longer valid.
                self._send([], task, cancel)
            if missing:
                self._track(task, missing, cancel)
                start = missing[-1] + 1
            elif growing:
                self._wait(task, arrivals, cancel)
            else:
                return

    def _track(self, task: TrackTask, missing: Sequence[int], cancel: threading.Event) -> None:
        source, frames = self._source_of(task.session), task.session.frames
        for index, stored in task.updates.track(task.session, task.objects, missing, source, cancel):
            if stored:
                self._found.append(index)
            if monotonic() - self._reported > _PAUSE:
                done, all_ = np.searchsorted(frames, [index, missing[-1]], "right")
                self.progress = done / all_ if done < all_ else None
                self._report(task, cancel)
        self.progress = None

    def _wait(self, task: TrackTask, arrivals: int, cancel: threading.Event) -> None:
        """Wait for new frames, and report those that were tracked last."""

        def news() -> bool:
            return self._arrivals != arrivals or cancel.is_set()

        with self._news:
            pause = max(self._reported + _PAUSE - monotonic(), 0.0) if self._found else None
            found = self._news.wait_for(news, pause)
        if not found:
            self._report(task, cancel)

    def _report(self, task: TrackTask, cancel: threading.Event) -> None:
        if not cancel.is_set():
            found, self._found = self._found, []
            self._reported = monotonic()
            self._send(found, task, cancel)

    def _send(self, found: list[int], task: TrackTask, cancel: threading.Event) -> None:
        if not cancel.is_set():
            self._reports.append(TrackReport(task.session, found, task.updates.log.curves(task.objects)))
            self.reported.emit()

    def _source_of(self, session: Session) -> Source:
        if self._source is None or self._source[0] is not session:
            self._close_source()
            with ExitStack() as stack:
                source = stack.enter_context(open_source(session.source_address))
                # Masks of other pictures must not be stored.
                check_source(session, source)
                stack.pop_all()
            self._source = session, source
        return self._source[1]

    def _close_source(self) -> None:
        held, self._source = self._source, None
        if held is not None:
            held[1].close()

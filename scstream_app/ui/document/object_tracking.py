"""Keeps the masks of the open clip's objects up to date, and shows them as they come."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from scstream_app.session import MarkedObject, Session
from scstream_app.session.objects.mask_updates import MaskUpdates
from scstream_app.session.objects.object_curves import ObjectCurves
from scstream_app.ui.document.display import Display
from scstream_app.ui.document.state import OpenClip, State
from scstream_app.ui.document.workers.object_worker import ObjectWorker, TrackTask


class ObjectTracking(QObject):
    """Has the objects tracked after every change of the objects or of the clip.

    ``tracked`` carries the session and a list of frames whose masks were stored, ``advanced`` says that `progress` or
    `curves` may have changed. Objects of a live source are not tracked: its pictures are not stored.

    Parameters
    ----------
    clip : OpenClip
        The document.
    display : Display
        Draws its frame again when the masks of this frame arrive.
    changes : iterable of SignalInstance
        Signals of all changes of the clip.
    parent : QObject, optional

    Attributes
    ----------
    worker : ObjectWorker
    curves : ObjectCurves
        Area and confidence of the objects on the frames that are tracked.
    """

    tracked = Signal(object, object)
    advanced = Signal()

    def __init__(
        self, clip: OpenClip, display: Display, changes: Iterable[SignalInstance], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._clip, self._display = clip, display
        self.worker = ObjectWorker()
        self._updates = MaskUpdates()
        self._current: tuple[Session, tuple[MarkedObject, ...]] | None = None
        self._growing = False
        self.curves = ObjectCurves()
        self.worker.reported.connect(self._on_reported)
        for signal in changes:
            signal.connect(self._follow)

    @property
    def progress(self) -> float | None:
        """Place in the clip that tracking has reached, from 0 to 1; None if no masks are missing."""
        return None if self._current is None else self.worker.progress

    @property
    def busy(self) -> bool:
        """Whether the worker is tracking or waits for new frames."""
        return self.worker.busy

    def leave(self) -> None:
        """Stop within a frame, and do not touch the session afterwards."""
        if self._current is not None:
            self._current = None
            self.worker.leave()
            self.advanced.emit()

    def restart(self) -> None:
        """Track again, because the segments of stored frames have changed."""
        self._updates = MaskUpdates()
        self._current = None
        self._follow()

    def shut_down(self, patience: int) -> bool:
        """End the thread; return whether it ended within ``patience`` milliseconds."""
        return self.worker.shut_down(patience)

    @Slot()
    def _follow(self) -> None:
        """Track what the clip has now."""
        if self._clip.session is None:
            self._updates, self.curves = MaskUpdates(), ObjectCurves()
        wanted = self._wanted()
        growing = self._clip.state not in (State.STOPPED, State.DONE)
        ended, self._growing = self._growing and not growing, growing
        if wanted is None:
            self.leave()
        elif wanted != self._current or (ended and not self.worker.busy):
            self._current = wanted
            self.worker.start(TrackTask(*wanted, self._updates), growing)
        else:
            self.worker.announce(growing)

    def _wanted(self) -> tuple[Session, tuple[MarkedObject, ...]] | None:
        """The session and the objects to track; None if there is nothing to track."""
        session, objects = self._clip.session, self._clip.objects
        if session is None or not objects or self._clip.saving or session.manifest.source.live:
            return None
        return session, objects

    @Slot()
    def _on_reported(self) -> None:
        report = self.worker.take_report()
        if self._current is None or report.session is not self._current[0]:
            return
        self.curves = report.curves
        if self._display.index in report.frames:
            self._display.redraw()
        self.advanced.emit()
        self.tracked.emit(report.session, report.frames)

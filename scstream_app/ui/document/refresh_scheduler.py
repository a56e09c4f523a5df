"""Decides when each panel refreshes: one at a time, right after a picture was painted."""

from __future__ import annotations

from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from scstream_app.ui.document.document import Document

#: Milliseconds after which a panel is refreshed even if no picture was painted.
_STILL = 50


class PanelRefresh(QObject):
    """Tells a panel when to refresh, by the signal ``come``.

    Refreshing keeps the window busy. The signal comes when a picture has just been painted, because then the time until
    the next one is longest, or soon if there are no pictures; never together with that of another panel.

    Parameters
    ----------
    document : Document
    pause : float
        Minimum number of seconds between two refreshes.
    parent : QObject
        The panel.

    Examples
    --------
    >>> PanelRefresh(document, 0.5, panel).come.connect(panel.refresh)  # doctest: +SKIP
    """

    come = Signal()

    def __init__(self, document: Document, pause: float, parent: QObject) -> None:
        super().__init__(parent)
        self._pause = pause
        self._due = 0.0
        self._round = document.findChild(_Round) or _Round(document)

    @Slot()
    def ask(self) -> None:
        """Request a refresh."""
        self._round.enter(self)

    def is_due(self, now: float) -> bool:
        """Return whether enough time has passed since the last refresh."""
        return now >= self._due

    def take(self, now: float) -> None:
        """Refresh now."""
        self._due = now + self._pause
        self.come.emit()


class _Round(QObject):
    """The panels of a document that wait for a refresh, in the order of their requests."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._waiting: list[PanelRefresh] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_STILL)
        self._timer.timeout.connect(self._go_on)
        # Queued: after all other slots, when the picture is painted.
        document.display.shown_changed.connect(self._go_on, Qt.ConnectionType.QueuedConnection)

    def enter(self, turn: PanelRefresh) -> None:
        if turn not in self._waiting:
            self._waiting.append(turn)
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _go_on(self) -> None:
        now = monotonic()
        # Panels may have been deleted meanwhile.
        self._waiting = [turn for turn in self._waiting if isValid(turn)]
        chosen = next((turn for turn in self._waiting if turn.is_due(now)), None)
        if chosen is not None:
            self._waiting.remove(chosen)
            chosen.take(now)
        if self._waiting:
            self._timer.start()
        else:
            self._timer.stop()

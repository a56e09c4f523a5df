"""Taking turns: panels follow the pictures one at a time, and when no picture waits to be painted."""

from __future__ import annotations

from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

from scstream_app.ui.document.document import Document

#: Without a picture for so many milliseconds, the next panel does not wait for one.
_STILL = 50


class PanelRefresh(QObject):
    """A panel's turn to bring itself up to date, which keeps the window busy: ``come`` says that it has come.

    It comes when a picture has just been painted, for then it is longest until the next one, or soon if none comes;
    never together with another panel's, and not before so many seconds have passed since the last one.

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
        """There is something new."""
        self._round.enter(self)

    def is_due(self, now: float) -> bool:
        """Whether the last one is long enough ago."""
        return now >= self._due

    def take(self, now: float) -> None:
        """Have it."""
        self._due = now + self._pause
        self.come.emit()


class _Round(QObject):
    """Those who wait for their turn at a document, in the order in which they have asked."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._waiting: list[PanelRefresh] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_STILL)
        self._timer.timeout.connect(self._go_on)
        # Queued: when everybody has heard of the picture, and it is painted.
        document.display.shown_changed.connect(self._go_on, Qt.ConnectionType.QueuedConnection)

    def enter(self, turn: PanelRefresh) -> None:
        if turn not in self._waiting:
            self._waiting.append(turn)
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _go_on(self) -> None:
        now = monotonic()
        # Panels may have gone meanwhile.
        self._waiting = [turn for turn in self._waiting if isValid(turn)]
        chosen = next((turn for turn in self._waiting if turn.is_due(now)), None)
        if chosen is not None:
            self._waiting.remove(chosen)
            chosen.take(now)
        if self._waiting:
            self._timer.start()
        else:
            self._timer.stop()

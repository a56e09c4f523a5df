"""Progress of the first frame in the status bar."""

from __future__ import annotations

from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from scstream_app.pipeline.settling import SettlingProgress
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.durations import duration_text

#: Milliseconds between two updates, at high resolutions previews come many seconds apart.
_INTERVAL = 500
_TEXT = "Analysing first frame…"


class SettlingStatus(QObject):
    """Follows the first frame of the document while it settles; ``changed`` is emitted when there is something new."""

    changed = Signal()

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._progress: SettlingProgress | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL)
        self._timer.timeout.connect(self.changed)
        document.state_changed.connect(self._on_state)
        document.previewed.connect(self._on_preview)

    @property
    def fraction(self) -> float | None:
        """Part of the first frame that is done, in [0, 1]; None if no first frame settles."""
        return None if self._progress is None else self._progress.fraction(monotonic())

    @property
    def text(self) -> str:
        """State of the first frame, with the time left at most if it is known and long."""
        left = None if self._progress is None else self._progress.seconds_left(monotonic())
        return _TEXT if left is None or left < 2.0 else f"{_TEXT} {duration_text(left)} left at most"

    @Slot()
    def _on_state(self) -> None:
        if self._document.state is not State.SETTLING:
            self._progress = None
            self._timer.stop()
        elif self._progress is None:
            self._progress = SettlingProgress(self._document.settings.max_init_sweeps, monotonic())
            self._timer.start()

    @Slot()
    def _on_preview(self) -> None:
        preview = self._document.preview
        if self._progress is not None and preview is not None:
            sweep = preview.progress
            self._progress.note(preview.stride, sweep.sweep, sweep.converged, monotonic())
            self.changed.emit()

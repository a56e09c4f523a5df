"""Progress of a session that is being copied, with a button to cancel."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QProgressDialog, QWidget

from scstream_app.errors import SessionError

#: Milliseconds after which the dialog appears.
_PATIENCE = 1000


class SaveProgress(QObject):
    """Dialog that appears if a copy takes long; the user can go on looking at the clip meanwhile.

    Attributes
    ----------
    cancelled : bool
        Whether the user has pressed *Cancel*.
    """

    _percent = Signal(int)

    def __init__(self, target: Path, window: QWidget) -> None:
        super().__init__(window)
        self._cancel = threading.Event()
        self._last = -1
        self._dialog = QProgressDialog(f"Saving in '{target}' …", "Cancel", 0, 100, window)
        self._dialog.setWindowTitle("ScStream Studio")
        self._dialog.setMinimumDuration(_PATIENCE)
        self._dialog.canceled.connect(self._cancel.set)
        self._percent.connect(self._dialog.setValue)

    @property
    def cancelled(self) -> bool:
        """Whether the user has pressed Cancel."""
        return self._cancel.is_set()

    def report(self, done: int, total: int) -> None:
        """Show how many bytes are copied; raises SessionError if the user has cancelled. Called on any thread."""
        if self.cancelled:
            raise SessionError("Saving was cancelled.")
        percent = 100 * done // max(total, 1)
        if percent != self._last:
            self._last = percent
            self._percent.emit(percent)

    def end(self) -> None:
        """Close the dialog."""
        self._dialog.canceled.disconnect(self._cancel.set)
        self._dialog.reset()
        self._dialog.deleteLater()
        self.deleteLater()

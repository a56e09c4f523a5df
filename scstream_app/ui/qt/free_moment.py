"""Wait with what changes the window until no dialog, menu or drag of the mouse needs it as it is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

#: Milliseconds between two attempts while the user is busy.
_LATER = 50


class FreeMoment(QObject):
    """Calls an action when the user has no dialog or menu open and drags nothing, which may be at once."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._action: Callable[[], object] | None = None
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_LATER)
        self._later.timeout.connect(self._try)

    def wait(self, action: Callable[[], object]) -> None:
        """Call an action instead of one that waits."""
        self._action = action
        self._try()

    @Slot()
    def _try(self) -> None:
        if _user_is_busy():
            self._later.start()
            return
        action, self._action = self._action, None
        if action is not None:
            action()


def _user_is_busy() -> bool:
    app = QApplication
    nothing = Qt.MouseButton.NoButton
    return app.activeModalWidget() is not None or app.activePopupWidget() is not None or app.mouseButtons() != nothing

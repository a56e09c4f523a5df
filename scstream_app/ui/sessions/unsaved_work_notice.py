"""Notice, before the window closes for the first time on unsaved work, that the work is kept."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSettings, QTimer, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from scstream_app.session.library import is_unsaved
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands import has_user_work
from scstream_app.ui.sessions.session_saver import SessionSaver

_KEY = "hints/kept"


class UnsavedWorkNotice(QObject):
    """Tells the user, when the window is first closed on unsaved work, that the work is kept, and offers to save it.

    Parameters
    ----------
    document : Document
    saver : SessionSaver
    settings : QSettings
        Remembers that the notice was shown.
    window : QWidget
        Closed when the session has been saved, if the user chose that; it stays open if saving fails.
    """

    def __init__(self, document: Document, saver: SessionSaver, settings: QSettings, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._saver, self._settings, self._window = document, saver, settings, window
        self._is_waiting = False
        saver.saved.connect(self._on_saved)
        saver.not_saved.connect(self._on_not_saved)

    def may_close(self) -> bool:
        """Show the notice if it is due; returns False if the window is to stay open."""
        self._is_waiting = False
        session = self._document.session
        if session is None or not is_unsaved(session.path) or self._settings.value(_KEY) is not None:
            return True
        if self._document.read_only:
            return True
        # A session without work of the user can be computed again.
        return not has_user_work(self._document) or self._show()

    def _show(self) -> bool:
        text = "Your work is kept. Find it under Unsaved sessions when the program starts again."
        box = QMessageBox(QMessageBox.Icon.Information, "ScStream Studio", text, parent=self._window)
        box.setInformativeText("Save it to choose its name and folder. This message appears only once.")
        close = box.addButton("Close", QMessageBox.ButtonRole.AcceptRole)
        # An export reads the session, which can only be saved after it.
        save = None if self._document.exporting else box.addButton("Save…", QMessageBox.ButtonRole.ActionRole)
        box.setDefaultButton(close)
        box.setEscapeButton(box.addButton(QMessageBox.StandardButton.Cancel))
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        if clicked is close:
            self._settings.setValue(_KEY, "shown")
        elif clicked is save:
            self._is_waiting = True
            self._saver.save()
        return clicked is close

    @Slot()
    def _on_saved(self) -> None:
        """Close the window if it was to be closed: only now is it certain that saving has not failed."""
        if self._is_waiting:
            self._is_waiting = False
            # The window may just be asking whether it may close.
            QTimer.singleShot(0, self._window.close)

    @Slot()
    def _on_not_saved(self) -> None:
        """Keep the window open, also when the user saves later."""
        self._is_waiting = False

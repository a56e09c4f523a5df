"""Message, before the window closes for the first time on unsaved work, that the work is kept."""

from __future__ import annotations

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMessageBox, QWidget

from scstream_app.session.library import is_unsaved
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands import has_marked
from scstream_app.ui.sessions.session_saver import SessionSaver

_KEY = "hints/kept"


class KeptNotice:
    """Says once that closing the window loses nothing: otherwise nobody could know after the first hour of work.

    Parameters
    ----------
    document : Document
    saver : SessionSaver
        Saves the session if the user wants that instead.
    settings : QSettings
        Remembers that the notice was shown.
    window : QWidget
    """

    def __init__(self, document: Document, saver: SessionSaver, settings: QSettings, window: QWidget) -> None:
        self._document, self._saver, self._settings, self._window = document, saver, settings, window

    def may_close(self) -> bool:
        """Show the notice if it is due; returns False if the user wants to go on working."""
        session = self._document.session
        if session is None or not is_unsaved(session.path) or self._settings.value(_KEY) is not None:
            return True
        # What the program did by itself it can do again; nobody fears for that.
        if not (has_marked(self._document) or self._document.objects):
            return True
        return self._show()

    def _show(self) -> bool:
        text = "Your work is kept. You find it under Unsaved sessions when the program starts again."
        box = QMessageBox(QMessageBox.Icon.Information, "ScStream Studio", text, parent=self._window)
        box.setInformativeText("Save it to give it a name and a folder of your own. This is said only once.")
        close = box.addButton("Close", QMessageBox.ButtonRole.AcceptRole)
        save = box.addButton("Save…", QMessageBox.ButtonRole.ActionRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(close)
        box.setEscapeButton(cancel)
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        if clicked is cancel:
            return False
        self._settings.setValue(_KEY, "shown")
        if clicked is save:
            self._saver.save()
            # It may have been cancelled, or saving may have failed to begin.
            return self._document.saving
        return True

"""Title of the main window: the session, the clip, and whether the session is unsaved (a star) or read-only."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMainWindow

from scstream_app.session.library import is_unsaved
from scstream_app.ui.document.document import Document

_PROGRAM = "ScStream Studio"


class WindowTitle(QObject):
    """Shows the name of the session, if it is saved, and of the clip, once if they are alike; a star if unsaved."""

    def __init__(self, document: Document, window: QMainWindow) -> None:
        super().__init__(window)
        self._document, self._window = document, window
        window.setWindowTitle(_PROGRAM)

    @Slot()
    def update(self) -> None:
        """Follow the document; the title stays while its session is being moved."""
        facts, session = self._document.facts, self._document.session
        if self._document.saving:
            return
        read_only = self._document.read_only
        unsaved = session is not None and is_unsaved(session.path) and not read_only
        saved_as = [session.path.stem] if session is not None and not unsaved else []
        mark = " (read-only)" if read_only else "[*]"
        names = [] if facts is None else [" – ".join(dict.fromkeys([*saved_as, facts.name])) + mark]
        self._window.setWindowTitle(" – ".join([*names, _PROGRAM]))
        self._window.setWindowModified(unsaved)

"""The undo command that replaces one value of the document by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QUndoCommand

from scstream_app.errors import StudioError
from scstream_app.ui.document.document import Document


class SwapCommand(QUndoCommand):
    """Replaces names, objects or isolated segments.

    Parameters
    ----------
    document : Document
    text : str
    put : callable
        Called with the new value, or on undo with the old one.
    before, after
        The old and the new value.
    """

    def __init__(self, document: Document, text: str, put: Callable[[Any], None], before: Any, after: Any) -> None:
        super().__init__(text)
        self._document, self._put, self._before, self._after = document, put, before, after

    def redo(self) -> None:
        self._try(self._after)

    def undo(self) -> None:
        self._try(self._before)

    def _try(self, value: Any) -> None:
        try:
            self._put(value)
        except StudioError as error:
            self.setObsolete(True)
            self._document.failed.emit(str(error))

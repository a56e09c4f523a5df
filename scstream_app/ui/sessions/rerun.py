"""Segment the open clip again with other settings, after a warning that marks are not transferred."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.session import Names
from scstream_app.session.library import is_unsaved
from scstream_app.settings import Settings
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.confirm import confirm
from scstream_app.ui.sessions.document_opener import DocumentOpener

#: Objects listed by name; of more objects only their number is shown.
_MOST_NAMED = 3


class Rerun(QObject):
    """Segments the open source again; asks first if the user's marks would be left behind.

    Names, colours, objects and locks refer to segment ids, and another run gives other ids. So marks stay with the old
    session. ``began`` is emitted before the question.
    """

    began = Signal()

    def __init__(self, document: Document, opening: DocumentOpener, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._opening, self._window = document, opening, window

    @Slot(object)
    def again(self, settings: Settings) -> None:
        """Segment from the start, with these settings."""
        if self._document.facts is None:
            return
        self.began.emit()
        if self._may_restart():
            self._opening.segment_again(settings)

    def _may_restart(self) -> bool:
        document = self._document
        objects = [marked.name for marked in document.objects]
        marks = marks_text(objects, document.names, document.pending.locked, document.pending.shaped)
        if not marks:
            return True
        question = f"Segments may get other ids in the new run. {marks} cannot be transferred."
        return confirm(self._window, f"{question} {self._where()}", "Segment Again")

    def _where(self) -> str:
        """Text about where the marks are kept."""
        session = self._document.session
        if session is None:
            return "Marks are kept only if you record the source."
        if is_unsaved(session.path):
            listed = "It is listed under 'Unsaved sessions' on the welcome page."
            return f"They stay with the session that is open now. {listed}"
        return f"They stay with the session that is open now, '{session.path}'."


def marks_text(objects: Sequence[str], names: Names, locked: Collection[int] = (), shaped: Collection[str] = ()) -> str:
    """Describe the user's marks and edits as the subject of a sentence; empty if there are none.

    >>> marks_text(["kite", "sea"], Names({0: "sky"}))
    "Your objects 'kite' and 'sea' and the names, colours and visibility of segments"
    >>> marks_text(["kite"], Names(), locked={1, 2}, shaped={"split", "merge"})
    "Your object 'kite', 2 locks and merges and splits made manually"
    >>> marks_text([], Names(), locked={1})
    'One lock'
    >>> marks_text([], Names())
    ''
    """
    parts = [_objects_text(objects)] if objects else []
    if names != Names():
        parts.append("the names, colours and visibility of segments")
    if locked:
        parts.append("one lock" if len(locked) == 1 else f"{len(locked)} locks")
    if shaped:
        parts.append(f"{' and '.join(f'{kind}s' for kind in sorted(shaped))} made manually")
    text = " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
    return text[:1].upper() + text[1:]


def _objects_text(objects: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in objects]
    if len(quoted) > _MOST_NAMED:
        return f"your {len(quoted)} objects"
    if len(quoted) > 1:
        return f"your objects {', '.join(quoted[:-1])} and {quoted[-1]}"
    return f"your object {quoted[0]}"

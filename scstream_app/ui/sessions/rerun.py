"""Segmenting a clip again: what a person marked belongs to the ids there are, and that is said before they go."""

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

#: Objects that are told by their names; of more, how many there are.
_MOST_NAMED = 3


class Rerun(QObject):
    """Has the opening segment the same source again; asks first if something would not come along.

    What a person marked is about ids, and a run with other settings gives its own: nobody can tell which of them would
    be the same thing. So it stays where it means something. ``began`` comes before anything is asked.
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
        objects = [thing.name for thing in document.objects]
        marked = marks_text(objects, document.names, document.pending.locked, document.pending.shaped)
        if not marked:
            return True
        question = f"Segments may get other ids when the clip is segmented again. {marked} cannot come along."
        return confirm(self._window, f"{question} {self._where()}", "Segment Again")

    def _where(self) -> str:
        """What becomes of the marks."""
        session = self._document.session
        if session is None:
            return "What you marked is kept nowhere else, unless you record the source."
        if is_unsaved(session.path):
            listed = "It is kept, and listed under 'Not finished or not saved' when nothing is open."
            return f"What you marked stays with the session that is open now. {listed}"
        return f"What you marked stays with the session that is open now, '{session.path}'."


def marks_text(objects: Sequence[str], names: Names, locked: Collection[int] = (), shaped: Collection[str] = ()) -> str:
    """What a person marked and did by hand, in words that begin a sentence; nothing if nothing was.

    >>> marks_text(["kite", "sea"], Names({0: "sky"}))
    "Your objects 'kite' and 'sea' and the names, colours and visibility of segments"
    >>> marks_text(["kite"], Names(), locked={1, 2}, shaped={"split", "merge"})
    "Your object 'kite', 2 locks and merges and splits by hand"
    >>> marks_text([], Names(), locked={1})
    'One lock'
    >>> marks_text([], Names())
    ''
    """
    told = [_told_objects(objects)] if objects else []
    if names != Names():
        told.append("the names, colours and visibility of segments")
    if locked:
        told.append("one lock" if len(locked) == 1 else f"{len(locked)} locks")
    if shaped:
        told.append(f"{' and '.join(f'{kind}s' for kind in sorted(shaped))} by hand")
    text = " and ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else "".join(told)
    return text[:1].upper() + text[1:]


def _told_objects(objects: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in objects]
    if len(quoted) > _MOST_NAMED:
        return f"your {len(quoted)} objects"
    if len(quoted) > 1:
        return f"your objects {', '.join(quoted[:-1])} and {quoted[-1]}"
    return f"your object {quoted[0]}"

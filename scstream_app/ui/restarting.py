"""Segmenting a clip again: what a person marked belongs to the ids there are, and that is said before they go."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.library import is_unsaved
from scstream_app.session import Names
from scstream_app.settings import Settings
from scstream_app.ui.document import Document
from scstream_app.ui.opening import Opening
from scstream_app.ui.questions import confirm

#: Objects that are told by their names; of more, how many there are.
_MOST_NAMED = 3


class Restarting(QObject):
    """Has the opening segment the same source again; asks first if something would not come along.

    Objects and names are about ids, and a run with other settings gives its own: nobody can tell which of them would
    be the same thing. So they stay where they mean something.
    """

    def __init__(self, document: Document, opening: Opening, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._opening, self._window = document, opening, window

    @Slot(object)
    def again(self, settings: Settings) -> None:
        """Segment from the start, with these settings."""
        if self._document.facts is not None and self._may_restart():
            self._opening.segment_again(settings)

    def _may_restart(self) -> bool:
        marked = told_marks([thing.name for thing in self._document.objects], self._document.names)
        if not marked:
            return True
        question = f"Segments get new ids when the clip is segmented again. {marked} cannot come along."
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


def told_marks(objects: Sequence[str], names: Names) -> str:
    """What a person marked, in words that begin a sentence; nothing if nothing was.

    >>> told_marks(["kite", "sea"], Names({0: "sky"}))
    "Your objects 'kite' and 'sea' and the names, colours and visibility of segments"
    >>> told_marks([], Names())
    ''
    """
    quoted = [f"'{name}'" for name in objects]
    if len(quoted) > _MOST_NAMED:
        told = f"Your {len(quoted)} objects"
    elif len(quoted) > 1:
        told = f"Your objects {', '.join(quoted[:-1])} and {quoted[-1]}"
    else:
        told = f"Your object {quoted[0]}" if quoted else ""
    if names == Names():
        return told
    given = "names, colours and visibility of segments"
    return f"{told} and the {given}" if told else f"The {given}"

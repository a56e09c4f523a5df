"""Keeping where a person is in a session, and coming back there when it is opened again."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from scstream_app.errors import StudioError
from scstream_app.session import Bookmark, Session
from scstream_app.ui.actions import SPECS

if TYPE_CHECKING:
    from scstream_app.ui.document import Document

#: Milliseconds from a change to when it is kept: after a crash, nobody is further from where they were.
_SOON = 5_000
_VIEWS = frozenset(spec.id.removeprefix("view_") for spec in SPECS if spec.group == "view")


class Bookmarking(QObject):
    """Notes soon after every change, and when the session is left, which frame is shown, how, and what is selected."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._kept: tuple[Session, Bookmark] | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON)
        self._soon.timeout.connect(self.keep)
        for signal in (document.shown_changed, document.look_changed, document.selection_changed):
            signal.connect(self._note)

    @Slot()
    def _note(self) -> None:
        # Not put off by what follows: frames that are played go on changing.
        if self._document.session is not None and not self._soon.isActive():
            self._soon.start()

    @Slot()
    def keep(self) -> None:
        """Write where a person is now, if that is elsewhere than before."""
        self._soon.stop()
        document = self._document
        session, place = document.session, document.place
        if session is None or place is None or self._kept == (session, place):
            return
        # A convenience: a disk that takes no more is told of by what counts, and one that is being moved goes on later.
        with suppress(StudioError):
            session.bookmark = place
            self._kept = session, place

    def forget(self) -> None:
        """The session is left: it is not to be held."""
        self._soon.stop()
        self._kept = None

    def take_view(self, place: Bookmark | None) -> None:
        """Look at a session as when it was left; one that says nothing sensible about it is looked at as before."""
        if place is not None and place.view in _VIEWS:
            self._document.set_look(view=place.view)

    def come_back(self, place: Bookmark | None) -> None:
        """Show the frame at which a session was left, and select what was; its first frame if that is not known."""
        document = self._document
        if place is None:
            document.show(document.trace.frames[0])
        else:
            document.select(place.selected & document.trace.lives.keys())
            document.show(place.frame)

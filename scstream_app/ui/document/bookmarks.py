"""Keeping where a person is in a session, and coming back there when it is opened again."""

from __future__ import annotations

import threading
from contextlib import suppress

from PySide6.QtCore import QObject, QTimer, Slot

from scstream_app.errors import StudioError
from scstream_app.session import Bookmark, Session
from scstream_app.ui.actions.actions import SPECS
from scstream_app.ui.document.display import Display
from scstream_app.ui.document.state import OpenClip
from scstream_app.ui.qt.background import BackgroundWorker

#: Milliseconds from a change to when it is kept: after a crash, nobody is further from where they were.
_SOON = 5_000
#: Milliseconds that a disk which hangs is waited for.
_PATIENCE = 5_000
_VIEWS = frozenset(spec.id.removeprefix("view_") for spec in SPECS if spec.group == "view")


class BookmarkWriter(BackgroundWorker[tuple[Session, Bookmark]]):
    """Writes bookmarks on a thread of its own: a slow disk is not to stop the window every few seconds."""

    def __init__(self) -> None:
        super().__init__("bookmarks", _PATIENCE)
        self._writing = threading.Lock()
        self._kept: tuple[Session, Bookmark] | None = None

    def start(self, session: Session, bookmark: Bookmark) -> None:
        """Have a bookmark written, unless it is the one that was written last; one that still waits is dropped."""
        if self._kept != (session, bookmark):
            self._do((session, bookmark))

    def leave(self, session: Session, bookmark: Bookmark | None) -> None:
        """Write a last bookmark here and now, in place of one that waits; the session is not held from then on.

        One that is being written comes first. On a disk that hangs it stays the last one.
        """
        self.cancel()
        if self._writing.acquire(timeout=_PATIENCE / 1000.0):
            try:
                if bookmark is not None:
                    self._write(session, bookmark)
                self._kept = None
            finally:
                self._writing.release()

    def _work(self, task: tuple[Session, Bookmark], cancel: threading.Event) -> None:
        with self._writing:
            # Not before: whoever cancels it may just be writing a later one.
            if not cancel.is_set():
                self._write(*task)

    def _write(self, session: Session, bookmark: Bookmark) -> None:
        if self._kept == (session, bookmark):
            return
        # A convenience: a disk that takes no more is told of by what counts, and a session that was closed meanwhile
        # takes nothing.
        with suppress(StudioError):
            session.bookmark = bookmark
            self._kept = session, bookmark


class Bookmarks(QObject):
    """Notes soon after every change, and when the session is left, which frame is shown, how, and what is selected."""

    def __init__(self, clip: OpenClip, display: Display, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clip, self._display = clip, display
        self._keeper = BookmarkWriter()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON)
        self._soon.timeout.connect(self._keep)
        for signal in (display.shown_changed, display.look_changed, display.selection_changed):
            signal.connect(self._note)

    @Slot()
    def _note(self) -> None:
        # Not put off by what follows: frames that are played go on changing.
        if self._clip.session is not None and not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _keep(self) -> None:
        """Have written where a person is now; of a session that is just being moved, later."""
        session, bookmark = self._clip.session, self._display.bookmark
        if self._clip.saving:
            self._soon.start()
        elif session is not None and bookmark is not None:
            self._keeper.start(session, bookmark)

    def leave(self) -> None:
        """Write where a person is before the session is closed, which from now on is left alone."""
        self._soon.stop()
        if self._clip.session is not None:
            self._keeper.leave(self._clip.session, self._display.bookmark)

    @property
    def busy(self) -> bool:
        """Whether it is writing."""
        return self._keeper.busy

    def shut_down(self, patience: int) -> bool:
        """End the thread; True if it has ended within so many milliseconds."""
        self._soon.stop()
        return self._keeper.shut_down(patience)

    def take_view(self, bookmark: Bookmark | None) -> None:
        """Look at a session as when it was left; one that says nothing sensible about it is looked at as before."""
        if bookmark is not None and bookmark.view in _VIEWS:
            self._display.set_look(view=bookmark.view)

    def come_back(self, bookmark: Bookmark | None) -> None:
        """Show the frame at which a session was left, and select what was; its first frame if that is not known."""
        if bookmark is None:
            self._display.show(self._clip.summary.frames[0])
        else:
            self._display.select(bookmark.selected & self._clip.summary.lives.keys())
            self._display.show(bookmark.frame)

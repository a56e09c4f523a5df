"""Writing bookmarks to sessions, away from the window's thread because a disk may be slow."""

from __future__ import annotations

import threading
from contextlib import suppress

from scstream_app.errors import StudioError
from scstream_app.session import Bookmark, Session
from scstream_app.ui.qt.threads.background import BackgroundWorker

#: Milliseconds to wait for a disk that hangs.
_PATIENCE = 5_000


class BookmarkWriter(BackgroundWorker[tuple[Session, Bookmark]]):
    """Writes the newest bookmark of a session."""

    def __init__(self) -> None:
        super().__init__("bookmarks", _PATIENCE)
        self._writing = threading.Lock()
        self._written: tuple[Session, Bookmark] | None = None

    def start(self, session: Session, bookmark: Bookmark) -> None:
        """Write a bookmark instead of a queued one, unless it was written last."""
        if self._written != (session, bookmark):
            self._replace((session, bookmark))

    def leave(self, session: Session, bookmark: Bookmark | None) -> None:
        """Write a last bookmark on the calling thread, and release the session.

        A bookmark that is being written comes first. If the disk hangs, the last one is not written.
        """
        self.cancel()
        if self._writing.acquire(timeout=_PATIENCE / 1000.0):
            try:
                if bookmark is not None:
                    self._write(session, bookmark)
                self._written = None
            finally:
                self._writing.release()

    def _work(self, task: tuple[Session, Bookmark], cancel: threading.Event) -> None:
        with self._writing:
            # Checked under the lock: `leave` cancels, and writes a later bookmark.
            if not cancel.is_set():
                self._write(*task)

    def _write(self, session: Session, bookmark: Bookmark) -> None:
        if self._written == (session, bookmark):
            return
        # A bookmark is only a convenience: writing frames and marks reports a full disk.
        with suppress(StudioError):
            session.bookmark = bookmark
            self._written = session, bookmark

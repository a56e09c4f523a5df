"""Bookmarks: the frame, view and selection at which a session was left, restored when it is opened again."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from scstream_app.session import Bookmark
from scstream_app.ui.actions.actions import SPECS
from scstream_app.ui.document.display import Display
from scstream_app.ui.document.state import OpenClip
from scstream_app.ui.document.workers.bookmark_writer import BookmarkWriter

#: Milliseconds from a change to its bookmark, which is what a crash can lose.
_DELAY = 5_000
_VIEWS = frozenset(spec.id.removeprefix("view_") for spec in SPECS if spec.group == "view")


class Bookmarks(QObject):
    """Writes a bookmark soon after each change of the display, and when the session is left.

    Parameters
    ----------
    clip : OpenClip
        The document.
    display : Display
    parent : QObject, optional
    """

    def __init__(self, clip: OpenClip, display: Display, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clip, self._display = clip, display
        self._writer = BookmarkWriter()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._write)
        self._timer.setInterval(_DELAY)
        for signal in (display.shown_changed, display.look_changed, display.selection_changed):
            signal.connect(self._on_changed)

    @Slot()
    def _on_changed(self) -> None:
        # A running timer is not restarted: during playback the display changes all the time.
        if self._clip.session is not None and not self._clip.read_only and not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _write(self) -> None:
        session, bookmark = self._clip.session, self._display.bookmark
        if self._clip.saving:
            # The session cannot be written while it is being moved.
            self._timer.start()
        elif session is not None and bookmark is not None:
            self._writer.start(session, bookmark)

    def leave(self) -> None:
        """Write the last bookmark of the session, and do not touch the session afterwards."""
        self._timer.stop()
        if self._clip.session is not None and not self._clip.read_only:
            self._writer.leave(self._clip.session, self._display.bookmark)

    @property
    def busy(self) -> bool:
        """Whether a bookmark is being written."""
        return self._writer.busy

    def shut_down(self, patience: int) -> bool:
        """End the thread; return whether it ended within ``patience`` milliseconds."""
        self._timer.stop()
        return self._writer.shut_down(patience)

    def restore_view(self, bookmark: Bookmark | None) -> None:
        """Switch to the view of a bookmark, if there is such a view."""
        if bookmark is not None and bookmark.view in _VIEWS:
            self._display.set_look(view=bookmark.view)

    def restore_frame(self, bookmark: Bookmark | None) -> None:
        """Show the frame of a bookmark and select its segments; without a bookmark, show the first frame."""
        if bookmark is None:
            self._display.show(self._clip.summary.frames[0])
        else:
            self._display.select(bookmark.selected & self._clip.summary.lives.keys())
            self._display.show(bookmark.frame)
            if bookmark.frame > self._clip.summary.frames[-1]:
                # The frame is about to be segmented again.
                self._display.follow_newest = True

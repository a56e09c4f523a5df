"""Replace the open document, keeping or discarding the current session."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import StudioError
from scstream_app.session import SUFFIX, Names, Session
from scstream_app.session.library import Library, discard, is_unsaved
from scstream_app.session.model_transfer import settings_of
from scstream_app.settings import Settings
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.job_queue import JobQueue
from scstream_app.ui.sessions.recent_files import RecentFiles

if TYPE_CHECKING:
    from scstream import VideoSegmenter

#: Sessions that took longer than this to segment are kept, in milliseconds.
_WORTH = 120_000.0
_ALL = 1 << 62


class DocumentOpener(QObject):
    """Opens sources and sessions in the document.

    ``leaving`` is emitted before the current document is closed, ``began`` when the document opens another one,
    ``choosing`` before a clip is opened whose settings may still be changed, ``discarded`` when an unwanted session was
    deleted. ``message`` carries a text for the user and its kind, "error" or "notice".

    Parameters
    ----------
    library : callable
        Returns the library for new sessions.
    may_leave : callable
        Returns whether the current document may be closed.

    Attributes
    ----------
    turn : int
        Number of openings so far.
    moving : Path or None
        Session that is being moved and must not be opened.
    changing : bool
        Whether the current document is being replaced.
    """

    leaving = Signal()
    choosing = Signal()
    began = Signal()
    discarded = Signal()
    message = Signal(str, str)

    def __init__(
        self,
        document: Document,
        addresses: RecentFiles,
        library: Callable[[], Library],
        jobs: JobQueue,
        may_leave: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._may_leave = may_leave
        self._document, self._addresses, self._library, self._jobs = document, addresses, library, jobs
        self._made: Path | None = None
        self._unwanted: list[Path] = []
        self.turn = 0
        self.moving: Path | None = None
        self.changing = False

    # --- opening

    @Slot(str)
    def open_address(self, address: str) -> None:
        """Open an address: a video, images, a camera, a URL, or a session."""
        if Path(address).suffix == SUFFIX:
            self.open_session(Path(address))
            return
        address = self._addresses.whole(address)
        path = self._new_path(address)
        if path is not None and self._may_leave():
            self._leave()
            self._addresses.remember(address)
            self.choosing.emit()
            self._open_source(address, path)

    @Slot(list)
    def open_dropped(self, addresses: list[str]) -> None:
        """Open dropped files: a single one, or several images as a sequence."""
        if addresses:
            self.open_address("\n".join(addresses))

    @Slot(str, object)
    def open_with_model(self, address: str, model: VideoSegmenter) -> None:
        """Segment a clip with the model of another clip."""
        path = self._new_path(address)
        if path is not None and self._may_leave():
            self._leave()
            self._addresses.remember(address)
            self._document.set_settings(settings_of(model, self._document.settings))
            self._open_source(address, path, model)

    @Slot(object)
    def segment_again(self, settings: Settings) -> None:
        """Segment the same source from its start, with these settings."""
        facts, session = self._document.facts, self._document.session
        if facts is None:
            return
        address = facts.address if session is None else session.source_address
        # The picture file has the same name in every recording.
        recorded = session is not None and session.recorded
        path = self._new_path(session.path.name if session is not None and recorded else address)
        if path is not None and self._may_leave():
            self._leave()
            self._document.set_settings(settings)
            self._open_source(self._addresses.whole(address), path)

    @Slot(str)
    def open_session_text(self, path: str) -> None:
        """Open the session with this path; see `open_session`."""
        self.open_session(Path(path))

    def open_session(self, path: Path, moved: bool = False) -> None:
        """Open a session and resume its segmentation; do nothing if it is open already.

        ``moved`` marks the session that the document has set aside for saving.
        """
        session = self._document.session
        here = session is not None and _same(session.path, path)
        if not (here or moved) and not self._may_leave():
            return
        self._addresses.remember(str(path))
        if self.moving is not None and _same(self.moving, path):
            self.message.emit(f"'{path.name}' is being saved.", "notice")
            return
        if here and not moved and self._document.state is not State.STOPPED:
            return
        if not moved:
            self._leave(same=here)
        self._document.open_session(path, moved)
        self._begin(None)

    def _open_source(self, address: str, path: Path, model: VideoSegmenter | None = None) -> None:
        self._document.open_source(address, path, model)
        self._begin(path)

    def _begin(self, made: Path | None) -> None:
        self._made = made
        self.changing = False
        self.turn += 1
        self.began.emit()

    def _new_path(self, address: str) -> Path | None:
        """Path for a new session of a source; on failure report the error and return None."""
        try:
            return self._library().new_path(address)
        except StudioError as error:
            self.message.emit(str(error), "error")
            return None

    # --- closing

    def close(self) -> None:
        """Close the document; delete its session only if no frame of it was shown."""
        self.leaving.emit()
        self._close(self._unseen())

    def _leave(self, same: bool = False) -> None:
        """Close the document for another one; delete its session if it is not worth keeping."""
        self.leaving.emit()
        self.changing = True
        session = self._document.session
        gone = None if same else self._unseen()
        if session is not None and not same and self._worthless(session):
            gone = session.path
        self._close(gone)

    def _close(self, gone: Path | None) -> None:
        self._document.close()
        if gone is not None:
            self._unwanted.append(gone)
            # The worker may still write to it.
            self._document.run.when_idle(self.clear_up)

    def clear_up(self) -> None:
        """Delete the unwanted sessions; a session that is still open is skipped."""
        unwanted, self._unwanted = self._unwanted, []
        for path in unwanted:
            what = "Deleting an unsaved session"
            self._jobs.do(partial(discard, path), lambda _nothing: self.discarded.emit(), what=what)

    def _unseen(self) -> Path | None:
        """Path of the session created last if it is closed before its first frame; None while it is being saved."""
        document = self._document
        # The session may not be open yet.
        other = document.session is not None and document.session.path != self._made
        if other or document.state is State.EMPTY or document.saving or len(document.summary):
            return None
        return self._made

    def _worthless(self, session: Session) -> bool:
        """Whether a session is new, unsaved, without user changes, and quick to compute again."""
        document = self._document
        # A reopened session was worth coming back to; a recording has the only copy of its pictures.
        if session.path != self._made or session.recorded or document.exporting or not is_unsaved(session.path):
            return False
        # A session that is being saved is wanted, even if saving fails.
        if document.saving:
            return False
        if undo_commands.has_marked(document) or document.objects or document.names != Names():
            return False
        try:
            if list(session.edited_records(_ALL)):
                return False
        except StudioError:
            return False
        return bool(np.nansum(document.summary.column("engine")) < _WORTH)


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False

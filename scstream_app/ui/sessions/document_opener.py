"""Opening something in place of what is open, which stays, goes, or is asked about."""

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

#: Milliseconds of segmenting that nobody wants to wait for twice.
_WORTH = 120_000.0
_ALL = 1 << 62


class DocumentOpener(QObject):
    """Has the document show sources and sessions.

    ``leaving`` comes before what is open is closed, ``began`` when the document was asked for another. ``choosing``
    comes before a clip is opened with settings that may still be changed, ``discarded`` when a session that nobody
    wants is gone; ``message`` carries a line for people, and whether it is an error.

    Parameters
    ----------
    library : callable
        Gives the library where new sessions go.
    may_leave : callable
        Asked before what is open is closed: whether that may be.

    Attributes
    ----------
    turn : int
        How many times something was opened.
    moving : Path or None
        A session that is not to be opened, because it is just being put elsewhere.
    changing : bool
        Whether what is open goes because something else comes in its place.
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
        chores: JobQueue,
        may_leave: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._may_leave = may_leave
        self._document, self._addresses, self._library, self._chores = document, addresses, library, chores
        self._made: Path | None = None
        self._unwanted: list[Path] = []
        self.turn = 0
        self.moving: Path | None = None
        self.changing = False

    # --- opening

    @Slot(str)
    def open_address(self, address: str) -> None:
        """Open whatever a person means: a video, images, a camera, a URL, or a session."""
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
        """Open what was dropped: one thing, or several images as a sequence."""
        if addresses:
            self.open_address("\n".join(addresses))

    @Slot(str, object)
    def open_with_model(self, address: str, model: VideoSegmenter) -> None:
        """Segment a clip with what another one has taught."""
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
        # A recording's pictures are called the same in every one.
        recorded = session is not None and session.recorded
        path = self._new_path(session.path.name if session is not None and recorded else address)
        if path is not None and self._may_leave():
            self._leave()
            self._document.set_settings(settings)
            self._open_source(self._addresses.whole(address), path)

    @Slot(str)
    def open_session_text(self, path: str) -> None:
        """The same as `open_session`."""
        self.open_session(Path(path))

    def open_session(self, path: Path, moved: bool = False) -> None:
        """Show a session, and go on with it if it is not complete; one that is open already stays as it is.

        ``moved`` says that it is the one that the document set aside.
        """
        session = self._document.session
        here = session is not None and _same(session.path, path)
        if not (here or moved) and not self._may_leave():
            return
        self._addresses.remember(str(path))
        if self.moving is not None and _same(self.moving, path):
            self.message.emit(f"'{path.name}' is just being saved.", "notice")
            return
        if here and not moved and self._document.state is not State.STOPPED:
            return
        if not moved:
            self._leave(stays=here)
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
        """Where the session of a source is to be. If there can be none, this is said, and what is open stays."""
        try:
            return self._library().new_path(address)
        except StudioError as error:
            self.message.emit(str(error), "error")
            return None

    # --- what was open

    def close(self) -> None:
        """Close what is open, and open nothing else; its session goes only if nobody has seen a frame of it."""
        self.leaving.emit()
        self._close(self._unseen())

    def _leave(self, stays: bool = False) -> None:
        """Close what is open, since something else comes; its session goes if it is not worth keeping."""
        self.leaving.emit()
        self.changing = True
        session = self._document.session
        gone = None if stays else self._unseen()
        if session is not None and not stays and self._worthless(session):
            gone = session.path
        self._close(gone)

    def _close(self, gone: Path | None) -> None:
        self._document.close()
        if gone is not None:
            self._unwanted.append(gone)
            # The worker may still write.
            self._document.run.when_idle(self.clear_up)

    def clear_up(self) -> None:
        """Delete the sessions that nobody wants; one that is still open is left alone."""
        unwanted, self._unwanted = self._unwanted, []
        for path in unwanted:
            what = "Deleting a session that nobody has saved"
            self._chores.do(partial(discard, path), lambda _nothing: self.discarded.emit(), what=what)

    def _unseen(self) -> Path | None:
        """The session that was made last if it is called off before anybody has seen a frame; not one being saved."""
        document = self._document
        # It may not be open yet.
        other = document.session is not None and document.session.path != self._made
        if other or document.state is State.EMPTY or document.saving or len(document.summary):
            return None
        return self._made

    def _worthless(self, session: Session) -> bool:
        """Whether a session is a new one that nobody saved or did anything with, and quickly made again."""
        document = self._document
        # A session that was opened again was left, and found worth coming back to; pictures of a recording are
        # nowhere else.
        if session.path != self._made or session.recorded or document.exporting or not is_unsaved(session.path):
            return False
        # One that is just being saved is wanted, also if that fails.
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

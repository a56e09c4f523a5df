"""Replace the open document once the next clip is open, keeping or discarding the current session."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from scstream_app.addresses import absolute_address, public_address, short_name
from scstream_app.errors import StudioError
from scstream_app.session import SUFFIX, Session
from scstream_app.session.library import Library, discard, is_unsaved
from scstream_app.session.model_transfer import settings_of
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source, same_camera
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers.open_clips import open_existing
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.clip_preparer import Clip, ClipPreparer, Request
from scstream_app.ui.sessions.opening.foreign_sources import may_open_source
from scstream_app.ui.sessions.opening.recent_files import RecentFiles

if TYPE_CHECKING:
    from scstream import VideoSegmenter

_logger = logging.getLogger(__name__)

#: Sessions that took longer than this to segment are kept, in milliseconds.
_WORTH = 120_000.0
_ALL = 1 << 62


class DocumentOpener(QObject):
    """Opens sources and sessions in the document.

    A clip is opened on a thread before the current document is closed; if that fails, the document stays as it is.

    ``leaving`` is emitted before the current document is closed, ``began`` when the document opens another one,
    ``choosing`` before a clip is opened whose settings may still be changed, ``discarded`` when an unwanted session was
    deleted. ``message`` carries a text for the user and its kind, "error" or "notice".

    Parameters
    ----------
    library : callable
        Returns the library for new sessions.
    may_leave : callable
        Returns whether the current document may be closed.
    window : QWidget
        Parent of the question whether a session's camera or network address may be opened.

    Attributes
    ----------
    turn : int
        Number of openings so far.
    moving : Path or None
        Session that is being moved and must not be opened.
    changing : bool
        Whether the current document is being replaced.
    preparer : ClipPreparer
        Opens the next clip while the current document stays open.
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
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._may_leave = may_leave
        self._window = window
        self._document, self._addresses, self._library, self._jobs = document, addresses, library, jobs
        self._made: Path | None = None
        self._unproven: str | None = None
        self._unwanted: list[Path] = []
        self.turn = 0
        self.moving: Path | None = None
        self.changing = False
        self.preparer = ClipPreparer(self)
        document.opened.connect(self._on_opened)
        document.failed.connect(self._on_failed)

    # --- opening

    @Slot(str)
    def open_address(self, address: str) -> None:
        """Open an address: a video, images, a camera, a URL, or a session."""
        address = absolute_address(address)
        _logger.info("Opening '%s'", public_address(address))
        # Several files are one address, with a line for each.
        if Path(address).suffix == SUFFIX and "\n" not in address:
            self.open_session(Path(address))
        else:
            self._open_source(address, address, self.choosing.emit)

    @Slot(list)
    def open_dropped(self, addresses: list[str]) -> None:
        """Open dropped files: a single one, or several images as a sequence."""
        if addresses:
            self.open_address("\n".join(addresses))

    @Slot(str, object)
    def open_with_model(self, address: str, model: VideoSegmenter) -> None:
        """Segment a clip with the model of another clip."""

        def use_settings() -> None:
            self._document.set_settings(settings_of(model, self._document.settings))

        self._open_source(absolute_address(address), address, use_settings, model)

    @Slot(object)
    def segment_again(self, settings: Settings) -> None:
        """Segment the same source from its start, or from in to out point, with these settings."""
        facts, session, frames = self._document.facts, self._document.session, self._document.run.frames
        if facts is None:
            return
        address = facts.address if session is None else session.source_address
        # The picture file has the same name in every recording.
        recorded = session is not None and session.recorded
        name = session.path.name if session is not None and recorded else address
        use_settings = partial(self._document.set_settings, settings)
        self._open_source(address, name, use_settings, frames=frames, remembered=False)

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
        if self.moving is not None and _same(self.moving, path):
            self.message.emit(f"'{path.name}' is being saved.", "notice")
            return
        if here and not moved and self._document.state is not State.STOPPED:
            self._addresses.remember(str(path))
            return
        if not (here or moved or self._may_open(path)):
            return

        def replace(ready: Session | None = None) -> None:
            if not moved:
                self._leave(same=here)
            self._addresses.remember(str(path))
            self._document.open_session(path, moved, ready)
            self._begin(None, str(path))

        if moved:
            replace()
        else:
            # A session that is still being closed cannot be opened a second time.
            self._replace_when_open(str(path), partial(open_existing, path), replace, here or self._closing)

    def _may_open(self, path: Path) -> bool:
        return may_open_source(path, self._addresses, self._library(), self._window)

    def new_branch_path(self) -> Path | None:
        """Path for a session that continues the open one; on failure report the error and return None."""
        session = self._document.session
        return None if session is None else self._new_path(session.source_address)

    def open_branch(self, path: Path) -> None:
        """Open a session that continues the open one from a frame on; the open one is kept."""
        self._leave(same=True)
        self._document.open_session(path)
        self._begin(path, str(path))

    def switch_to(self, path: Path, delete: bool) -> None:
        """Open another session of the same clip; ``delete`` says whether the open one is deleted if it is unsaved."""
        session = self._document.session
        if session is None or _same(session.path, path) or self._document.saving or not self._may_leave():
            return
        if not self._may_open(path):
            return

        def replace(ready: Session | None = None) -> None:
            self.leaving.emit()
            self.changing = True
            self._close(session.path if delete and self._document.session is session else None)
            self._addresses.remember(str(path))
            self._document.open_session(path, ready=ready)
            self._begin(None, str(path))

        self._replace_when_open(str(path), partial(open_existing, path), replace, self._closing)

    def _open_source(
        self,
        address: str,
        name: str,
        prepare: Callable[[], object],
        model: VideoSegmenter | None = None,
        frames: tuple[int, int | None] = (0, None),
        remembered: bool = True,
    ) -> None:
        """Open a source in a new session.

        Parameters
        ----------
        address : str
        name : str
            Address or name that the session is named after.
        prepare : callable
            Called between the clip before and this one: sets the settings.
        model : VideoSegmenter, optional
            Model to begin with.
        frames : tuple of int and (int or None)
            Range (start, stop) of the frames to segment.
        remembered : bool
            Whether the address is added to the recent files.
        """
        path = self._new_path(name)
        if path is None or not self._may_leave():
            return

        def replace(ready: Source | None = None) -> None:
            self._leave()
            if remembered:
                self._addresses.remember(address)
            prepare()
            self._document.open_source(address, path, model, frames, ready)
            self._begin(path, address)

        self._replace_when_open(address, partial(open_source, address), replace, self._is_in_use(address))

    def _replace_when_open(
        self, address: str, open_clip: Callable[[], Clip], replace: Callable[..., None], at_once: bool
    ) -> None:
        """Replace the document by a clip as soon as the clip is known to open; on failure the document stays."""
        self.preparer.cancel()
        if at_once or self._document.state is State.EMPTY:
            replace()
        else:
            name = short_name(public_address(address))
            self.preparer.prepare(Request(name, open_clip, replace, partial(self._refuse, address)))

    @property
    def _closing(self) -> bool:
        return self._document.run.closing or self._document.run.queued

    def _is_in_use(self, address: str) -> bool:
        """Whether the address is the camera of the document, which can be opened only once."""
        facts = self._document.facts
        return facts is not None and self._document.live and same_camera(facts.address, address)

    def _refuse(self, address: str, problem: str) -> None:
        self._forget(address)
        self.message.emit(problem, "error")

    @Slot()
    def _on_opened(self) -> None:
        self._unproven = None
        session = self._document.session
        if session is not None and self._document.read_only:
            self.message.emit(
                f"'{session.path.name}' is read-only: its disk or folder cannot be written to. "
                f"It can be viewed, played and exported. {BY_ID['save_as'].menu_path} makes a copy to change.",
                "notice",
            )

    @Slot()
    def _on_failed(self) -> None:
        """Forget the address of a clip that could not be opened."""
        # While a task is queued, the failure is one of the clip before.
        if self._unproven is not None and not (self._document.is_open or self._document.run.queued):
            self._forget(self._unproven)
            self._unproven = None

    def _forget(self, address: str) -> None:
        # A session that exists may only be open elsewhere.
        if Path(address).suffix != SUFFIX or not os.path.exists(address):
            self._addresses.forget(address)

    def _begin(self, made: Path | None, address: str) -> None:
        self._made, self._unproven = made, address
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
        """Close the document, open no other one, and delete its session only if no frame of it was shown."""
        self.preparer.cancel()
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
        if undo_commands.has_user_work(document):
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

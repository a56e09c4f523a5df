"""Save and Save As: move an unsaved session to a folder that the user chooses, or copy a saved one there."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.errors import StudioError
from scstream_app.session import SUFFIX, Session
from scstream_app.session.library import copy_session, is_unsaved, mark_saved, move_session
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.qt.dialogs.folders import own_folder, usable
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.opening.document_opener import DocumentOpener
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.sessions.save_progress import SaveProgress

#: Time stamp that the library appends to the clip's name.
_STAMP = re.compile(r" \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d( \(\d+\))?$")


class SessionSaver(QObject):
    """Asks for a folder, moves or copies the session there, and continues there.

    The first time, the session comes from the library and is moved. Later it is a copy: the session that the user has
    saved before stays as it is. The view stays as it is meanwhile. ``began`` is emitted before the session is closed,
    ``saved`` when it is written, ``not_saved`` if the user cancels or writing fails; ``message`` carries a text for the
    user and its kind, "error" or "notice".
    """

    began = Signal()
    saved = Signal()
    not_saved = Signal()
    message = Signal(str, str)

    def __init__(
        self, document: Document, addresses: RecentFiles, opening: DocumentOpener, jobs: JobQueue, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document, self._addresses, self._opening, self._jobs = document, addresses, opening, jobs
        self._window = window

    def save(self) -> None:
        """Ask for a folder if the session is unsaved or read-only.

        Otherwise only confirm, since changes are written at once.
        """
        session = self._document.session
        if session is not None and (is_unsaved(session.path) or self._document.read_only):
            self.save_as()
        elif session is not None:
            self._report_saved(session.path)

    def save_as(self) -> None:
        """Ask for a path, move or copy the session there and continue."""
        session = self._document.session
        if session is None:
            return
        if self._document.exporting:
            self.message.emit(
                "Cannot save during an export of this session. Wait until the export has finished.", "error"
            )
            self.not_saved.emit()
            return
        suggested = str(self._suggested(session))
        # The name may still get a suffix, so the program asks itself before overwriting.
        quiet = QFileDialog.Option.DontConfirmOverwrite
        kinds = f"Sessions (*{SUFFIX})"
        path, _ = QFileDialog.getSaveFileName(self._window, "Save Session", suggested, kinds, "", quiet)
        target = Path(path if path.endswith(SUFFIX) else f"{path}{SUFFIX}")
        if path and (target == session.path or not os.path.lexists(target) or self._confirmed(target)):
            self.save_to(target)
        else:
            self.not_saved.emit()

    def _suggested(self, session: Session) -> Path:
        """Free path with the clip's name in the folder that was used last, or in the user's own folder."""
        folders = self._addresses.folders(sessions_first=True)
        folder = next((folder for folder in folders if usable(folder)), own_folder())
        stem = session.path.stem
        # Recordings of one camera differ only in their time stamps.
        if is_unsaved(session.path) and not session.recorded:
            stem = _STAMP.sub("", stem)
        # A session cannot be a copy of itself.
        return _free(folder, stem, session.path if is_unsaved(session.path) else None)

    def _confirmed(self, target: Path) -> bool:
        question = f"'{target}' already exists. Replace it? Its content will be deleted."
        return confirm(self._window, question, "Replace")

    def save_to(self, target: Path) -> None:
        """Move the session if it is unsaved, otherwise copy it, and open it there; segmentation resumes.

        A read-only session is copied in any case.
        """
        session = self._document.session
        if session is None:
            return
        path = session.path
        if path == target and self._document.read_only:
            self.message.emit(f"Cannot save '{path}': the session is read-only. Choose another folder.", "error")
            self.not_saved.emit()
            return
        if path == target:
            self._keep(path)
            return
        moved = is_unsaved(path) and not self._document.read_only
        self.began.emit()
        self._opening.moving = path
        self._document.set_aside()
        self.message.emit(f"Saving in '{target}' …", "notice")
        self._document.run.when_idle(partial(self._write, path, target, self._opening.turn, moved))

    def _keep(self, path: Path) -> None:
        try:
            mark_saved(path)
        except StudioError as error:
            self.message.emit(str(error), "error")
            self.not_saved.emit()
        else:
            self._addresses.remember(str(path))
            self._report_saved(path)

    def _write(self, path: Path, target: Path, turn: int, moved: bool) -> None:
        progress = SaveProgress(target, self._window)
        write, verb = (move_session, "Moving") if moved else (copy_session, "Copying")
        self._jobs.do(
            partial(write, path, target, progress.report),
            lambda _nothing: self._written(path, target, turn, progress),
            lambda message: self._not_written(path, turn, message, progress),
            what=f"{verb} the session to '{target}'",
        )

    def _written(self, path: Path, target: Path, turn: int, progress: SaveProgress) -> None:
        progress.end()
        if not os.path.lexists(path):
            self._addresses.forget(str(path))
        # Also if another document is open by now.
        self._addresses.remember(str(target))
        self._reopen(target, turn)
        self._report_saved(target)

    def _not_written(self, path: Path, turn: int, message: str, progress: SaveProgress) -> None:
        progress.end()
        self._reopen(path, turn)
        self.message.emit(message, "notice" if progress.cancelled else "error")
        self.not_saved.emit()

    def _reopen(self, path: Path, turn: int) -> None:
        """Open the session again, unless the user has closed it or opened another one."""
        self._opening.moving = None
        if turn == self._opening.turn and self._document.saving:
            self._opening.open_session(path, moved=True)

    def _report_saved(self, path: Path) -> None:
        self.message.emit(f"Saved in '{path}'.", "notice")
        self.saved.emit()


def _free(folder: Path, stem: str, own: Path | None) -> Path:
    """Path in a folder that is free or, if ``own`` is given, that of the session itself."""
    path, count = folder / f"{stem}{SUFFIX}", 1
    while path != own and os.path.lexists(path):
        count += 1
        path = folder / f"{stem} ({count}){SUFFIX}"
    return path

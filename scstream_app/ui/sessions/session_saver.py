"""Saving a session: putting it where a person wants it to stay."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.errors import StudioError
from scstream_app.session import SUFFIX, Session
from scstream_app.session.library import is_unsaved, mark_saved, move_session
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.confirm import confirm
from scstream_app.ui.qt.folders import own_folder, usable
from scstream_app.ui.qt.job_queue import JobQueue
from scstream_app.ui.sessions.document_opener import DocumentOpener
from scstream_app.ui.sessions.recent_files import RecentFiles

#: What the library puts behind a clip's name to tell unsaved sessions apart.
_STAMP = re.compile(r" \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d( \(\d+\))?$")


class SessionSaver(QObject):
    """Asks where, and moves the session there.

    Everything stands as before meanwhile and afterwards. ``began`` comes before the session is closed for that,
    ``saved`` when it has its place; ``message`` carries a line for people, and whether it is an error.
    """

    began = Signal()
    saved = Signal()
    message = Signal(str, str)

    def __init__(
        self, document: Document, addresses: RecentFiles, opening: DocumentOpener, chores: JobQueue, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document, self._addresses, self._opening, self._chores = document, addresses, opening, chores
        self._window = window

    def save(self) -> None:
        """Everything is on the disk already; a session that has no place of its own gets one."""
        session = self._document.session
        if session is not None and is_unsaved(session.path):
            self.save_as()
        elif session is not None:
            self._tell(session.path)

    def save_as(self) -> None:
        """Ask where a person wants the session, and go on with it there."""
        session = self._document.session
        if session is None:
            return
        if self._document.exporting:
            self.message.emit("An export still reads this session. Save it when that is done.", "error")
            return
        suggested = str(self._suggested(session))
        # The name may still get a suffix: whether it is taken is asked afterwards.
        quiet = QFileDialog.Option.DontConfirmOverwrite
        kinds = f"Sessions (*{SUFFIX})"
        path, _ = QFileDialog.getSaveFileName(self._window, "Save Session", suggested, kinds, "", quiet)
        if path:
            target = Path(path if path.endswith(SUFFIX) else f"{path}{SUFFIX}")
            if target == session.path or not os.path.lexists(target) or self._confirmed(target):
                self.move_session(target)

    def _suggested(self, session: Session) -> Path:
        """The clip's name, where sessions or files were last: a person's own folder, and a name that is still free."""
        folders = self._addresses.folders(sessions_first=True)
        folder = next((folder for folder in folders if usable(folder)), own_folder())
        stem = session.path.stem
        # Recordings come from the same camera: when each was made tells them apart.
        if is_unsaved(session.path) and not session.recorded:
            stem = _STAMP.sub("", stem)
        return _free(folder, stem, session.path)

    def _confirmed(self, target: Path) -> bool:
        question = f"'{target}' is there already. Replace it? What it holds will be gone."
        return confirm(self._window, question, "Replace")

    def move_session(self, target: Path) -> None:
        """Put the session elsewhere and open it there; segmentation goes on where it was."""
        session = self._document.session
        if session is None:
            return
        path = session.path
        if path == target:
            self._keep(path)
            return
        self.began.emit()
        self._opening.moving = path
        self._document.set_aside()
        self.message.emit(f"Saving in '{target}'…", "notice")
        self._document.run.when_idle(partial(self._move, path, target, self._opening.turn))

    def _keep(self, path: Path) -> None:
        try:
            mark_saved(path)
        except StudioError as error:
            self.message.emit(str(error), "error")
        else:
            self._addresses.remember(str(path))
            self._tell(path)

    def _move(self, path: Path, target: Path, turn: int) -> None:
        self._chores.do(
            partial(move_session, path, target),
            lambda _nothing: self._moved(path, target, turn),
            lambda message: self._not_moved(path, turn, message),
            what=f"Moving the session to '{target}'",
        )

    def _moved(self, path: Path, target: Path, turn: int) -> None:
        self._addresses.forget(str(path))
        # Also if something else is open by now.
        self._addresses.remember(str(target))
        self._go_on(target, turn)
        self._tell(target)

    def _not_moved(self, path: Path, turn: int, message: str) -> None:
        self._go_on(path, turn)
        self.message.emit(message, "error")

    def _go_on(self, path: Path, turn: int) -> None:
        """Open the session again, unless a person has closed it or opened something else meanwhile."""
        self._opening.moving = None
        if turn == self._opening.turn and self._document.saving:
            self._opening.open_session(path, moved=True)

    def _tell(self, path: Path) -> None:
        self.message.emit(f"Saved in '{path}'.", "notice")
        self.saved.emit()


def _free(folder: Path, stem: str, own: Path) -> Path:
    """A path in a folder that nothing has but the session itself."""
    path, count = folder / f"{stem}{SUFFIX}", 1
    while path != own and os.path.lexists(path):
        count += 1
        path = folder / f"{stem} ({count}){SUFFIX}"
    return path

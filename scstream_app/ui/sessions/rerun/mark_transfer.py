"""Carry marks over to a run that continues another one, as soon as their frames are segmented again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import StudioError
from scstream_app.render.image_types import IdMap
from scstream_app.session import Session
from scstream_app.session.carried_marks import MatchedMarks, match_marks, with_matches
from scstream_app.session.storage.branch_point import BranchPoint
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.document.undo_commands.rerun import carry_over
from scstream_app.ui.qt.threads.job_queue import JobQueue

_ALL = 1 << 62
_WHAT = "Carrying marks over"


class MarkTransfer(QObject):
    """Finds the segments of waiting marks in the open session, and marks them there.

    ``message`` carries a text for the user, about marks without a counterpart, and its kind.

    Parameters
    ----------
    document : Document
    jobs : JobQueue
        Reads the ids of both runs.
    parent : QObject, optional
    """

    message = Signal(str, str)

    def __init__(self, document: Document, jobs: JobQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._jobs = document, jobs
        self._point: BranchPoint | None = None
        self._turn = 0
        self._busy = False
        document.opened.connect(self._on_opened)
        document.closed.connect(self._leave)
        document.progressed.connect(self._follow)
        document.state_changed.connect(self._follow)

    @Slot()
    def _leave(self) -> None:
        self._point, self._busy = None, False
        self._turn += 1

    @Slot()
    def _on_opened(self) -> None:
        self._leave()
        session = self._document.session
        if session is not None:
            read = partial(_point_of, session)
            self._jobs.do(read, partial(self._on_read, self._turn), partial(self._give_up, self._turn), what=_WHAT)

    def _on_read(self, turn: int, point: BranchPoint | None) -> None:
        if turn == self._turn:
            self._point = point
            self._follow()

    @Slot()
    def _follow(self) -> None:
        """Match the marks whose frames are there; at the end of the run, all of them."""
        document, session = self._document, self._document.session
        first = None if self._point is None else self._point.waiting.first
        if self._point is None or first is None or session is None or self._busy:
            return
        if document.saving or document.read_only:
            return
        done, frames = document.state is State.DONE, document.summary.frames
        if done or (len(frames) and frames[-1] >= first):
            self._busy = True
            match = partial(_match, self._point, session, _ALL if done else frames[-1] + 1)
            self._jobs.do(match, partial(self._on_matched, self._turn), partial(self._give_up, self._turn), what=_WHAT)

    def _on_matched(self, turn: int, matched: MatchedMarks) -> None:
        document, session = self._document, self._document.session
        if turn != self._turn or self._point is None or session is None:
            return
        self._busy = False
        if document.saving:
            # Marks cannot be written now; they are matched again afterwards.
            return
        carry_over(document, *with_matches(document.names, document.objects, matched))
        self._point = BranchPoint(self._point.parent, self._point.frame, self._point.edits, matched.rest)
        try:
            session.set_waiting_marks(matched.rest)
        except StudioError as error:
            self._failed(str(error))
        if matched.lost:
            self.message.emit(f"Not found in the new run: {'; '.join(matched.lost)}.", "notice")
        # The run may have ended meanwhile, so that no signal follows.
        self._follow()

    def _give_up(self, turn: int, text: str) -> None:
        if turn == self._turn:
            self._point = None
            self._failed(text)

    def _failed(self, text: str) -> None:
        self.message.emit(f"Marks of the run before cannot be carried over. {text}", "error")


def _point_of(session: Session) -> BranchPoint | None:
    return session.branch_point


def _match(point: BranchPoint, session: Session, stop: int) -> MatchedMarks:
    """Match marks of frames before ``stop``. Painted ones need no ids of the run before, which may be gone."""
    known = frozenset(session.frames.tolist())
    parent = _opened(Path(point.parent))

    def new_ids(index: int) -> IdMap | None:
        return session.ids(index) if index in known else None

    def old_ids(index: int) -> IdMap | None:
        if parent is None:
            return None
        # A mark may be dated on a frame between those of the run before, if frames are damaged.
        frames = parent.frames
        return parent.ids(int(frames[max(int(np.searchsorted(frames, index, "right")) - 1, 0)]))

    return match_marks(point.waiting, stop, old_ids, new_ids)


def _opened(path: Path) -> Session | None:
    """The session at a path; None if it was deleted or moved."""
    return Session.open(path) if path.is_dir() else None

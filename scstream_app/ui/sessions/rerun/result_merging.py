"""Merge segments in the stored result, without segmenting again."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import SettingsError, StudioError
from scstream_app.objects import MarkedObject, ObjectEdit
from scstream_app.session import Session
from scstream_app.session.run_summary import RunSummary
from scstream_app.session.storage.result_merges import ResultMerge
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.undo_commands.swap import SwapCommand
from scstream_app.ui.document.undo_commands.text import segments_text
from scstream_app.ui.document.workers.segmentation_worker import Opened, read_session
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.sessions.rerun.rerun_plan import check_alive

_Result = tuple[tuple[ResultMerge, ...], tuple[MarkedObject, ...]]


class ResultMerging(QObject):
    """Merges segments in the result of the open session, with undo.

    ``message`` carries a text for the user and its kind, "error" or "notice".

    Parameters
    ----------
    document : Document
    jobs : JobQueue
        Reads the records of the session again.
    parent : QObject, optional
    """

    message = Signal(str, str)

    def __init__(self, document: Document, jobs: JobQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._jobs = document, jobs
        #: Number of changes so far; only the result after the last one is shown.
        self._turn = 0
        #: Whether the result was read while the session was being moved.
        self._outdated = False
        document.opened.connect(self._leave)
        document.closed.connect(self._leave)
        document.state_changed.connect(self._read_again)

    @Slot()
    def _leave(self) -> None:
        self._turn += 1
        self._outdated = False

    def merge(self, ids: Iterable[int], index: int | None, everywhere: bool) -> None:
        """Make segments of a frame one, with the id of the oldest, from this frame on or on all frames."""
        document, session = self._document, self._document.session
        chosen = frozenset(ids)
        if session is None or index is None:
            return
        try:
            check_alive(document.summary, chosen, index)
        except SettingsError as error:
            self.message.emit(f"{error}.", "notice")
            return
        oldest = min(chosen, key=lambda id: (document.summary.lives[id].born, id))
        merge = ResultMerge(chosen, oldest, None if everywhere else index)
        objects = tuple(_with_merged_edits(one, merge) for one in document.objects)
        before, after = (session.merges, document.objects), ((*session.merges, merge), objects)
        where = "on all frames" if everywhere else f"from frame {index} on"
        text = f"Merge {segments_text(chosen)} in the result {where}"
        document.undo.push(SwapCommand(document, text, self._put, before, after))
        if session.merges == after[0]:
            document.display.select({oldest})
            self.message.emit(f"{segments_text(chosen).capitalize()} now have the id {oldest} {where}.", "notice")

    def _put(self, result: _Result) -> None:
        """Write merges, and the objects whose edits they concern; the panels follow when the records are read."""
        document, session = self._document, self._document.session
        assert session is not None
        before = session.merges
        session.merges = result[0]
        try:
            if document.objects != result[1]:
                document.set_objects(result[1])
        except StudioError:
            session.merges = before
            raise
        self._read(session)

    def _read(self, session: Session) -> None:
        self._turn += 1
        read = partial(read_session, session, threading.Event())
        self._jobs.do(read, partial(self._show, self._turn), what="Reading the merged result")

    @Slot()
    def _read_again(self) -> None:
        session = self._document.session
        if self._outdated and session is not None and not self._document.saving:
            self._outdated = False
            self._read(session)

    def _show(self, turn: int, opened: Opened) -> None:
        if turn != self._turn or self._document.session is None:
            return
        if self._document.saving:
            self._outdated = True
        elif opened.problem:
            self.message.emit(opened.problem, "error")
        else:
            try:
                _add_newer(opened.summary, self._document)
            except StudioError as error:
                self.message.emit(str(error), "error")
            else:
                show_results(self._document, opened.summary)


def _add_newer(summary: RunSummary, document: Document) -> None:
    """Add the frames that were segmented while the others were read."""
    last = summary.frames[-1] if len(summary) else -1
    newest = document.summary.frames[-1] if len(document.summary) else -1
    if document.session is not None and newest > last:
        summary.extend(document.session.records(last + 1, newest + 1))


def show_results(document: Document, summary: RunSummary) -> None:
    """Show the open session with a new summary, because its result has changed."""
    index = document.display.index
    document.summary = summary
    document.display.renderer.load(document.session)
    document.tracking.restart()
    document.progressed.emit()
    if index is not None:
        document.display.show(index)


def _with_merged_edits(object_: MarkedObject, merge: ResultMerge) -> MarkedObject:
    """The object with edits that refer to the merged segment where the segments count as one."""
    return object_.with_edits(tuple(_merged_edit(edit, merge) for edit in object_.edits))


def _merged_edit(edit: ObjectEdit, merge: ResultMerge) -> ObjectEdit:
    found = edit.ids & merge.ids
    if not found or not merge.holds(edit.frame):
        return edit
    # A part that was removed takes the whole with it only if all of it was removed.
    whole = {merge.into} if edit.gives or found == merge.ids else set[int]()
    return edit.with_ids((edit.ids - merge.ids) | whole)

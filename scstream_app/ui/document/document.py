"""The document: what the window is about. Widgets read it, ask it to change, and hear of changes by its signals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QUndoStack

from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import SessionError, StudioError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.pending_edits import AbandonedEdits, ModelState, PendingEdits, kinds
from scstream_app.pipeline.run import Notice
from scstream_app.session import FrameRecord, MarkedObject, Names, Session, SourceFacts, damage_report
from scstream_app.settings import Settings
from scstream_app.ui.document.bookmarks import Bookmarks
from scstream_app.ui.document.display import Showing
from scstream_app.ui.document.measure_worker import MeasureWorker
from scstream_app.ui.document.renderer import Renderer
from scstream_app.ui.document.session_closer import SessionCloser
from scstream_app.ui.document.state import State
from scstream_app.ui.document.worker import Opened, Task, Worker

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter

#: Frames of a live source that numbers and events are kept of, and how many more before the oldest go.
_LIVE_FRAMES, _LIVE_SLACK = 6_000, 600
#: Milliseconds that each thread is waited for: a kernel that is being compiled cannot be interrupted.
_PATIENCE = 60_000


@runtime_checkable
class HoldsPast(Protocol):
    """A command that can be undone, and holds ids or objects of frames that may be forgotten."""

    def begin_at(self, index: int) -> None:
        """Hold what they are at this frame where it holds what they were earlier."""


class Document(Showing):
    """One source with its session: the frame at hand, the selection, what a person marked, and what is being done.

    Everything here happens on the window's thread; segmenting and drawing have threads of their own. ``forgetting``
    says that what happened before a frame of a live source is about to be forgotten. What is shown is in `Showing`.

    Attributes
    ----------
    settings : Settings
        Those that the segmentation goes by.
    preview : Preview or None
        The first frame on its way, while it settles; it is what is shown then.
    autostart : bool
        Whether a source that is opened is segmented at once, or waits for `pause` (False).
    exporting : int
        Exports under way.
    saving : bool
        Whether the session is closed because it is just being put elsewhere; all that is shown stays meanwhile.
    undo : QUndoStack
    """

    opened = Signal()
    closed = Signal()
    state_changed = Signal()
    progressed = Signal()
    previewed = Signal()
    marks_changed = Signal()
    settings_changed = Signal()
    forgetting = Signal(int)
    noticed = Signal(object)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo = QUndoStack(self)
        self.settings = Settings()
        self._forget()
        self.autostart = True
        self.exporting = 0
        self._waiting: Task | None = None
        self._busy = False
        self._left: AbandonedEdits | None = None
        self._when_idle: list[Callable[[], None]] = []
        self._closing: Session | None = None
        self._compiling = False
        self.worker = Worker()
        self.renderer = Renderer()
        self.surveyor = MeasureWorker()
        self._closer = SessionCloser()
        self._bookmarking = Bookmarks(self)
        self._connect()

    def _forget(self) -> None:
        self._show_nothing()
        self.saving = False
        self.preview: Preview | None = None
        self.locked: frozenset[int] = frozenset()
        self._asked = PendingEdits(ModelState(self.settings))
        self._first_colour = self.settings.colour

    def _connect(self) -> None:
        self.worker.opened.connect(self._on_opened)
        self.worker.opened_live.connect(self._on_opened_live)
        self.worker.warming.connect(self._on_warming)
        self.worker.noted.connect(self._on_noted)
        self.worker.advanced.connect(self._on_advanced)
        self.worker.previewed.connect(self._on_previewed)
        self.worker.noticed.connect(self._on_noticed)
        self.worker.failed.connect(self._on_failed)
        self.worker.finished.connect(self._on_finished)
        self.renderer.drawn.connect(self._on_drawn)
        self.worker.on_newest = self.renderer.anticipate
        self.renderer.failed.connect(self._on_failed)
        self.surveyor.measured.connect(self._on_measured)
        # Queued: it may be closed just when nobody waits for it any more.
        self._closer.late.connect(self._on_closed_late, Qt.ConnectionType.QueuedConnection)

    # --- opening and closing

    def open_source(self, address: str, path: Path, model: VideoSegmenter | None = None) -> None:
        """Segment a source with the present settings into a new session at ``path``; what was open is closed.

        A live source gets no session: its frames are shown and forgotten. ``model`` is what to begin with, where that
        is not nothing.
        """
        self._start(Task(path, address, self.settings, model))

    def open_session(self, path: Path, moved: bool = False) -> None:
        """Show a session and go on with it if it is not complete; what was open is closed.

        ``moved`` says that it is the one that was set aside: then all stands as before: what is shown, what waits to
        be done, and what can be undone.
        """
        self._start(Task(path, settings=self.settings, moved=moved))

    def _start(self, task: Task) -> None:
        if not task.moved:
            self.close()
        self._waiting = task
        if not self._busy:
            self._begin()
        elif not self.saving:
            # What was open before has not ended: it may be the engine that is being compiled.
            self._set_state(State.WARMING if self._compiling else State.OPENING)

    def _begin(self) -> None:
        task, self._waiting = self._waiting, None
        if task is not None:
            self._settle_left(task)
            self._busy = True
            if not self.saving:
                self._set_state(State.OPENING)
                self.worker.pause(task.address is not None and not self.autostart)
            self.worker.begin(task)

    def close(self) -> None:
        """Let go of the source and the session; what is being done stops within a frame."""
        self._leave_edits()
        self.undo.clear()
        trouble = self._let_go()
        # Not before: a run that waits would go on, and make what was left to be done.
        self.worker.pause(False)
        self.worker.recent.clear()
        if self.state is not State.EMPTY:
            self._forget()
            self.closed.emit()
            self.state_changed.emit()
        if trouble:
            self.failed.emit(trouble)

    def _leave_edits(self) -> None:
        """What was asked for and has not been done still can be, if it is the same session that is opened next."""
        waiting, self._asked.waiting = self._asked.waiting, []
        if waiting and self.session is not None and self.facts is not None:
            address = self.session.source_address
            self._left = AbandonedEdits(self.session.path, address, self.facts.name, tuple(waiting))

    def _settle_left(self, task: Task) -> None:
        """Edits that were left wait on, or nothing comes of them, which is said; where all begins anew it is meant."""
        left, self._left = self._left, None
        # A frame that was under way then may have come to its end.
        waiting = [] if left is None else [edit for edit in left.edits if edit in self.worker.waiting()]
        if left is None or not waiting:
            return
        if task.address is None and task.path == left.path:
            self._asked.waiting = waiting
        elif task.address != left.address:
            text = f"'{left.name}' was left before its next frame: nothing came of what was asked for"
            self.noticed.emit(Notice("edit", 0, f"{text} ({kinds(waiting)})."))

    def set_aside(self) -> None:
        """Let go of the session in order to open it again from elsewhere; see `open_session`."""
        if self.session is None:
            return
        self.saving = True
        trouble = self._let_go(aside=True)
        self.state_changed.emit()
        if trouble:
            self.failed.emit(trouble)

    def _let_go(self, aside: bool = False) -> str:
        """Have the threads leave the session alone, and close it; why that failed, in words, or nothing."""
        self._waiting = None
        self.worker.cancel(aside)
        self.surveyor.cancel()
        self.renderer.load(None)
        self._bookmarking.leave()
        if self.session is None:
            return ""
        if self._busy:
            # The worker still writes; it is closed when that has ended.
            self._closing = self.session
            return ""
        return self._close_session(self.session)

    def _close_session(self, session: Session) -> str:
        """Close it; why that failed, in words, or nothing. While it takes long this is busy, and the window answers."""
        trouble = self._closer.close(session)
        self._busy = trouble is None
        return trouble or ""

    @property
    def busy(self) -> bool:
        """Whether something is being done or closed, which may belong to what was closed before."""
        return self._busy

    def when_idle(self, action: Callable[[], None]) -> None:
        """Call ``action`` as soon as nothing is being done: at once, or when that has ended and is closed."""
        if self._busy:
            self._when_idle.append(action)
        else:
            action()

    def at_work(self) -> list[str]:
        """What its threads are still at, in words."""
        doing = (
            ("Ending the segmentation", self._busy and not self._closer.busy),
            ("Closing the session", self._closer.busy),
            ("Reading a frame", self.renderer.busy),
            ("Measuring frames", self.surveyor.busy),
            ("Keeping where you were", self._bookmarking.busy),
        )
        return [what for what, busy in doing if busy]

    def shut_down(self, patience: int = _PATIENCE) -> bool:
        """Close, and end all threads; True if each of them has ended within so many milliseconds."""
        self.close()
        # Each of them, however late another is.
        threads = (self.worker, self.renderer, self.surveyor, self._bookmarking)
        ended = [thread.shut_down(patience) for thread in threads]
        if self._closing is not None:
            # Whoever hangs may hold what closing has to wait for. What was written is on the disk either way.
            self._closer.close(self._closing)
        return self._closer.shut_down(patience) and all(ended)

    # --- what a person marked

    def set_names(self, names: Names) -> None:
        """Names, colours and visibility of segments."""
        # First to the disk: what cannot be kept is not to look as if it were.
        self._check_free()
        if self.session is not None:
            self.session.names = names
        self.names = names
        self.marks_changed.emit()
        self._draw_again()

    def set_objects(self, objects: Iterable[MarkedObject]) -> None:
        """Named groups of segments."""
        wanted = tuple(objects)
        self._check_free()
        if self.session is not None:
            self.session.objects = wanted
        self.objects = wanted
        self.marks_changed.emit()
        self._draw_again()

    def _check_free(self) -> None:
        if self.saving:
            raise SessionError("The session is just being saved. Do that again in a moment.")

    def edit(self, edit: Edit) -> None:
        """Have something done to the model before its next frame."""
        self._asked.waiting.append(edit)
        self.worker.edit(edit)
        self._reckon(edit)

    def withdraw(self, edit: Edit) -> bool:
        """Take back what was to be done to the model, if that has not begun."""
        if not self.worker.withdraw(edit):
            return False
        self._asked.withdraw(edit)
        self._reckon(edit)
        return True

    @property
    def shaped(self) -> frozenset[str]:
        """What was done to segments by hand, or waits to be: "merge", "split"."""
        return self._asked.then.shaped

    def _reckon(self, edit: Edit) -> None:
        """Settings and locks that an edit is about are those there will be when all that was asked for is done."""
        then = self._asked.then
        if edit.kind in ("lock", "unlock"):
            self.locked = then.locked
            self.marks_changed.emit()
        if edit.values:
            changed = {name: getattr(then.settings, name) for name in edit.values}
            self.settings = replace(self.settings, **changed)
            self.settings_changed.emit()

    def _note_made(self, edits: Iterable[Edit]) -> None:
        """These have reached the model. Of a live source, those that nobody asked for here are the program's own."""
        for edit in edits:
            asked = self._asked.drop(edit)
            if asked or not self.live:
                self._asked.made = self._asked.made.after([edit])
            if not asked and not self.live:
                # It waited while the session was closed.
                self._reckon(edit)

    def _tell_late(self) -> None:
        """Say what came too late for the last frame, and no longer count on it."""
        late, self._asked.waiting = self._asked.waiting, []
        for edit in late:
            self._reckon(edit)
        if late:
            text = f"The last frame was on its way already: nothing came of what was asked for since ({kinds(late)})."
            self.noticed.emit(Notice("edit", self.trace.frames[-1] if len(self.trace) else 0, text))

    def set_settings(self, settings: Settings) -> None:
        """The settings that the next source is opened with."""
        self.settings = settings
        self.settings_changed.emit()

    def pause(self, paused: bool) -> None:
        """Let segmentation wait, or go on."""
        if self.state in (State.SEGMENTING, State.SETTLING, State.PAUSED):
            self.worker.pause(paused)
            self._set_state(State.PAUSED if paused else State.SEGMENTING)
            if self.live and not paused:
                self.follow_newest = True

    # --- what the threads say

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        session, trouble = opened.session, opened.trouble
        if self.state is State.EMPTY or self._waiting is not None:
            # Closed again before it was open.
            self._closing = session
            return
        saving, self.saving = self.saving, False
        if saving and opened.trace.frames == self.trace.frames:
            self._come_back(session)
            return
        self.session, self.facts, self.trace = session, session.manifest.source, opened.trace
        self._first_colour = session.manifest.settings.colour
        self._take_settings(session.manifest.settings, opened.edits)
        try:
            self.names, self.objects = session.names, session.objects
        except StudioError as error:
            trouble = trouble or str(error)
        self.renderer.load(session)
        self._bookmarking.take_view(opened.bookmark)
        self._leave_empty_matte()
        self.opened.emit()
        if trouble:
            self.failed.emit(trouble)
        self._tell_damage(session)
        self.settings_changed.emit()
        self.marks_changed.emit()
        if len(self.trace):
            self.progressed.emit()
            self._bookmarking.come_back(opened.bookmark)
        elif self.state is State.OPENING:
            # Something to look at while the engine is made ready.
            self._wish(session.manifest.start)

    def _come_back(self, session: Session) -> None:
        """Go on with a session that was put elsewhere, as if nothing had happened."""
        self.session, self.facts = session, session.manifest.source
        self.renderer.load(session)
        # What was wished for before, and not drawn yet, was forgotten.
        self._draw_again()
        self.state_changed.emit()

    def _take_settings(self, settings: Settings, edits: Iterable[Edit]) -> None:
        """Those of a session, after what was done on the way; threads belong to the machine."""
        threads = self.settings.threads
        made = ModelState(settings).after(edits)
        self._asked.made = replace(made, settings=replace(made.settings, threads=threads))
        then = self._asked.then
        self.settings, self.locked = then.settings, then.locked

    def _tell_damage(self, session: Session) -> None:
        """Say what is not as it should be, and what to do about it."""
        gone, torn = damage_report.missing_frames_text(self.trace.frames), damage_report.damaged_files_text(session)
        if gone:
            self.noticed.emit(Notice("damaged", self.trace.frames[0], gone))
        if torn:
            self.failed.emit(torn)

    @Slot(object)
    def _on_opened_live(self, facts: SourceFacts) -> None:
        if self.state is State.EMPTY or self._waiting is not None:
            # Closed again before it was open.
            return
        self.facts = facts
        self._first_colour, self._asked.made = self.settings.colour, ModelState(self.settings)
        self._leave_empty_matte()
        self.opened.emit()
        self.marks_changed.emit()

    @Slot(int, int)
    def _on_warming(self, done: int, total: int) -> None:
        self._compiling = done < total
        if self._waiting is not None and not self.saving:
            self._set_state(State.WARMING if self._compiling else State.OPENING)
        # One that was put elsewhere goes on as it did.
        if not self.is_open or self.state in (State.SEGMENTING, State.PAUSED):
            return
        ready = State.PAUSED if self.worker.paused else State.SETTLING
        self._set_state(State.WARMING if done < total else ready)

    @Slot(object)
    def _on_noted(self, record: FrameRecord) -> None:
        if self.is_open and record.index > (self.trace.frames[-1] if len(self.trace) else -1):
            self.trace.add(record)
            self._note_made(record.edits)
            if self.live and len(self.trace) > _LIVE_FRAMES + _LIVE_SLACK:
                self._forget_before(self.trace.frames[-_LIVE_FRAMES])
            self.preview = None
            if self.state is not State.PAUSED:
                self._set_state(State.SEGMENTING)
            self.progressed.emit()

    def _forget_before(self, index: int) -> None:
        """Nothing may grow for ever with a source that has no end; objects stay what they have become."""
        self.forgetting.emit(index)
        self.objects = self.trace.carried(self.objects, index)
        for place in range(self.undo.count()):
            command = self.undo.command(place)
            if isinstance(command, HoldsPast):
                command.begin_at(index)
        self.trace.forget_before(index)

    @Slot()
    def _on_advanced(self) -> None:
        result = self.worker.newest.take()
        if result is not None and self.is_open and self.follow_newest:
            # Of a live source it may be there already.
            self._coming = None if self.shown is not None and self.shown.result is result else result
            self._wish(result)

    @Slot()
    def _on_previewed(self) -> None:
        preview = self.worker.preview.take()
        if preview is not None and self.is_open:
            self.preview = preview
            if self.state in (State.OPENING, State.WARMING):
                self._set_state(State.SETTLING)
            if self.follow_newest:
                self._wish(self._draft(preview))
            self.previewed.emit()

    def _draft(self, preview: Preview) -> FrameResult:
        """What is to be seen of a frame that still settles."""
        index = self.trace.frames[-1] + 1 if len(self.trace) else 0
        return FrameResult(index, math.nan, preview.frame, preview.ids, (), np.empty(0, STATISTICS))

    @Slot(object)
    def _on_noticed(self, notice: Notice) -> None:
        if notice.edit is not None and self._asked.drop(notice.edit):
            self._reckon(notice.edit)
        if self.is_open:
            self.noticed.emit(notice)

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        left = self._waiting is not None or self.state is State.EMPTY
        # That something could not be opened is of no interest to whoever has left it already.
        if not left or self._closing is not None:
            self.failed.emit(message)

    @Slot(bool)
    def _on_finished(self, ended: bool) -> None:
        self._busy = self._compiling = False
        closing, self._closing = self._closing, None
        trouble = "" if closing is None else self._close_session(closing)
        if trouble:
            self.failed.emit(trouble)
        if not self._busy:
            self._go_on(ended, closing is not None)

    @Slot(str)
    def _on_closed_late(self, trouble: str) -> None:
        self._busy, self._closing = False, None
        if trouble:
            self.failed.emit(trouble)
        self._go_on(ended=False, left=True)

    def _go_on(self, ended: bool, left: bool) -> None:
        """Do what waited for the worker; ``left`` says that what it was at has been closed."""
        waiting, self._waiting = self._waiting, None
        # An action may begin something; the others wait until that has ended too.
        while self._when_idle and not self._busy:
            self._when_idle.pop(0)()
        if waiting is not None and self._busy:
            # What a person asked for last counts, whatever an action has begun.
            self._start(waiting)
        elif waiting is not None:
            self._waiting = waiting
            self._begin()
        elif not self._busy and not (self.saving and left):
            self._come_to_rest(ended)

    def _come_to_rest(self, ended: bool) -> None:
        if self.saving:
            # It could not be opened again, and it has been said why.
            self.close()
        elif self.session is not None:
            self._set_state(State.DONE if ended else State.STOPPED)
            self._survey(self.session)
        else:
            self._set_state(State.STOPPED if self.live else State.EMPTY)
        if ended or self.live:
            self._tell_late()

    def _survey(self, session: Session) -> None:
        """Have measured what nobody has, in the background."""
        frames = self.trace.unmeasured(session.manifest.source.live)
        if frames:
            self.surveyor.start(session, frames)

    @Slot(object, object)
    def _on_measured(self, session: Session, found: Mapping[int, Mapping[str, float]]) -> None:
        if session is self.session:
            for index, measures in found.items():
                self.trace.fill(index, measures)
            self.progressed.emit()

    def _set_state(self, state: State) -> None:
        if state is not self.state:
            self.state = state
            self.state_changed.emit()

"""The document: the open clip, which all widgets read and change; its signals announce every change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import SessionError, StudioError
from scstream_app.objects.reach import Reach
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.pending_edits import PendingEdits, kinds_text
from scstream_app.pipeline.run import Notice
from scstream_app.session import FrameRecord, MarkedObject, Names, Session, SourceFacts, damage_report
from scstream_app.session.run_summary import RunSummary
from scstream_app.settings import Settings
from scstream_app.ui.document.bookmarks import Bookmarks
from scstream_app.ui.document.display import Display
from scstream_app.ui.document.events.event_filter import EventFilter
from scstream_app.ui.document.object_tracking import ObjectTracking
from scstream_app.ui.document.run_control import RunControl
from scstream_app.ui.document.state import State
from scstream_app.ui.document.undo_stack import UndoStack
from scstream_app.ui.document.workers.measure_worker import MeasureWorker
from scstream_app.ui.document.workers.segmentation_worker import Opened, Task

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter
    from scstream_app.sources import Source

#: Frames of a live source in the summary, and how many more there may be until the oldest are dropped.
_LIVE_FRAMES, _LIVE_SLACK = 6_000, 600
#: Milliseconds to wait for each thread: the compilation of a kernel cannot be interrupted.
_PATIENCE = 60_000


class Document(QObject):
    """The open clip: a source with its session, the user's marks, and the threads that segment and draw it.

    Widgets call it on the window's thread only. ``forgetting`` carries the index of a frame of a live source: all
    frames before it are about to be forgotten.

    Attributes
    ----------
    display : Display
        The frame shown, its look, and the selection.
    run : RunControl
        The running segmentation.
    event_filter : EventFilter
        The events that are shown.
    pending : PendingEdits
        Edits of the model that the user asked for.
    session : Session or None
        None for a live source, and if nothing is open.
    facts : SourceFacts or None
        Facts about the source.
    summary : RunSummary
        Numbers and events of every frame so far.
    state : State
    names : Names
        Names, colours and visibility of segments.
    objects : tuple of MarkedObject
    edit_reach : Reach
        On which frames new edits of objects hold.
    settings : Settings
        Settings of the segmentation, pending edits included.
    preview : Preview or None
        The first frame while it settles; it is what is shown then.
    autostart : bool
        Whether a newly opened source is segmented at once; otherwise it waits for ``pause(False)``.
    exporting : int
        Number of running exports.
    saving : bool
        Whether the session is closed because it is being moved; the display stays as it is.
    read_only : bool
        Whether the session cannot be written to: it is on a read-only disk or in a folder without write permission.
    measure_worker : MeasureWorker
    tracking : ObjectTracking
    bookmarks : Bookmarks
    undo : UndoStack
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
        self.undo = UndoStack(self)
        self.settings = Settings()
        self._forget()
        self.autostart = True
        self.exporting = 0
        self.edit_reach = Reach.ONWARD
        self.pending = PendingEdits(self.settings)
        self.event_filter = EventFilter(self, self)
        self.run = RunControl(self.pending, self)
        self.display = Display(self, self.run.worker.recent, self)
        self.measure_worker = MeasureWorker()
        self.bookmarks = Bookmarks(self, self.display, self)
        changes = (self.opened, self.closed, self.state_changed, self.progressed, self.marks_changed)
        self.tracking = ObjectTracking(self, self.display, changes, self)
        self._connect()

    def _forget(self) -> None:
        """Reset the data of the clip."""
        self.session: Session | None = None
        self.facts: SourceFacts | None = None
        self.summary = RunSummary()
        self.state = State.EMPTY
        self.names = Names()
        self.objects: tuple[MarkedObject, ...] = ()
        self.saving = False
        self.read_only = False
        self.preview: Preview | None = None
        self._first_colour = self.settings.colour

    def _connect(self) -> None:
        worker, renderer = self.run.worker, self.display.renderer
        self.run.starting.connect(self._on_starting)
        self.run.superseded.connect(self._start)
        self.run.rested.connect(self._on_rested)
        self.run.failed.connect(self.failed)
        worker.opened.connect(self._on_opened)
        worker.opened_live.connect(self._on_opened_live)
        worker.warming.connect(self._on_warming)
        worker.noted.connect(self._on_noted)
        worker.advanced.connect(self._on_advanced)
        worker.previewed.connect(self._on_previewed)
        worker.noticed.connect(self._on_noticed)
        worker.failed.connect(self._on_failed)
        worker.on_newest = renderer.anticipate
        renderer.failed.connect(self._on_failed)
        self.measure_worker.measured.connect(self._on_measured)
        self.opened.connect(self.event_filter.clear)
        self.closed.connect(self.event_filter.clear)

    @property
    def is_open(self) -> bool:
        """Whether a session or a live source is open."""
        return self.facts is not None

    @property
    def live(self) -> bool:
        """Whether the source is live and has no session; only its last frames can be shown again."""
        return self.facts is not None and self.session is None

    def colour_at(self, index: int) -> str:
        """Return the colour space in which a frame was segmented; the user can change it during a run."""
        return self.summary.colour(index, self._first_colour)

    # --- opening and closing

    def open_source(
        self,
        address: str,
        path: Path,
        model: VideoSegmenter | None = None,
        frames: tuple[int, int | None] = (0, None),
        ready: Source | None = None,
    ) -> None:
        """Close the open clip, and segment a source with the current settings.

        Parameters
        ----------
        address : str
            Address of the source.
        path : Path
            Path of the new session. A live source gets no session: its frames are shown and dropped.
        model : VideoSegmenter, optional
            Model to begin with.
        frames : tuple of int and (int or None)
            Range (start, stop) of the frames to segment.
        ready : Source, optional
            The source, if it is open already.
        """
        self._start(Task(path, address, self.settings, model, frames=frames, ready=ready))

    def open_session(self, path: Path, moved: bool = False, ready: Session | None = None) -> None:
        """Close the open clip, show a session, and go on with its segmentation if it is not complete.

        Parameters
        ----------
        path : Path
            Path of the session.
        moved : bool
            Whether it is the session that was set aside: then the display, pending edits and undo stack stay.
        ready : Session, optional
            The session, if it is open already.
        """
        self._start(Task(path, settings=self.settings, moved=moved, ready=ready))

    @Slot(object)
    def _start(self, task: Task) -> None:
        if not task.moved:
            self.close()
        self.run.start(task)
        if self.run.queued and not self.saving:
            # The clip before has not ended: the worker may be compiling the engine.
            self._set_state(State.WARMING if self.run.compiling else State.OPENING)

    @Slot(object)
    def _on_starting(self, task: Task) -> None:
        dropped = self.pending.start(task.path, task.address, task.moved)
        if dropped is not None:
            self.noticed.emit(Notice("edit", 0, dropped.describe()))
        if not self.saving:
            self._set_state(State.OPENING)
            self.run.pause(task.address is not None and not self.autostart)

    def close(self) -> None:
        """Close the source and the session; running work stops within a frame."""
        self._close_pending()
        self.undo.clear()
        problem = self._let_go()
        # Not before `_let_go`: a paused run would go on, and make the edits that were left.
        self.run.pause(False)
        self.run.worker.recent.clear()
        if self.state is not State.EMPTY:
            self._forget()
            self.display.clear()
            self.closed.emit()
            self.state_changed.emit()
        if problem:
            self.failed.emit(problem)

    def _close_pending(self) -> None:
        """Keep pending edits of a session, which are made if the same session opens next."""
        if self.session is None or self.facts is None:
            self.pending.close(self.settings)
        else:
            address = self.session.source_address
            self.pending.close_session(self.settings, self.session.path, address, self.facts.name)

    def set_aside(self) -> None:
        """Close the session in order to open it again from another place; see `open_session`."""
        if self.session is None:
            return
        self.saving = True
        problem = self._let_go(aside=True)
        self.state_changed.emit()
        if problem:
            self.failed.emit(problem)

    def _let_go(self, aside: bool = False) -> str:
        """Have all threads leave the session, and close it; return why that failed, or an empty string."""
        self.run.cancel(aside)
        self.measure_worker.cancel()
        self.tracking.leave()
        self.display.renderer.load(None)
        self.bookmarks.leave()
        return "" if self.session is None else self.run.close(self.session)

    def at_work(self) -> list[str]:
        """Describe what the threads are still doing."""
        doing = (
            ("Reading a frame", self.display.renderer.busy),
            ("Measuring frames", self.measure_worker.busy),
            ("Tracking objects", self.tracking.busy),
            ("Keeping where you were", self.bookmarks.busy),
        )
        return [*self.run.at_work(), *(text for text, busy in doing if busy)]

    def shut_down(self, patience: int = _PATIENCE) -> bool:
        """Close, and end all threads; return whether each of them ended within ``patience`` milliseconds."""
        self.close()
        # A list: each thread gets its time, however late another one is.
        threads = (self.run.worker, self.display.renderer, self.measure_worker, self.tracking, self.bookmarks)
        ended = [thread.shut_down(patience) for thread in threads]
        return self.run.shut_down(patience) and all(ended)

    # --- marks, edits and settings

    def set_names(self, names: Names) -> None:
        """Set and write names, colours and visibility of segments."""
        # Written first: marks that cannot be written are not shown.
        self._check_free()
        if self.session is not None:
            self.session.names = names
        self.names = names
        self.marks_changed.emit()
        self.display.redraw()

    def set_objects(self, objects: Iterable[MarkedObject]) -> None:
        """Set and write the objects."""
        wanted = tuple(objects)
        self._check_free()
        if self.session is not None:
            self.session.objects = wanted
        self.objects = wanted
        self.marks_changed.emit()
        self.display.redraw()

    def _check_free(self) -> None:
        if self.saving:
            raise SessionError("The session is being saved. Try again in a moment.")
        if self.read_only:
            raise SessionError("The session is read-only. Save a copy elsewhere to change it.")

    def edit(self, edit: Edit) -> None:
        """Have the model changed before its next frame."""
        self.pending.add(edit)
        self._expect(edit)

    def withdraw(self, edit: Edit) -> bool:
        """Withdraw a pending edit; return False if the run has taken it already."""
        withdrawn = self.pending.withdraw(edit)
        if withdrawn:
            self._expect(edit)
        return withdrawn

    def _expect(self, edit: Edit) -> None:
        """Update the settings and locks that an edit concerns to those after all pending edits."""
        if edit.kind in ("lock", "unlock"):
            self.marks_changed.emit()
        if edit.values:
            expected = self.pending.expected.settings
            self.settings = replace(self.settings, **{name: getattr(expected, name) for name in edit.values})
            self.settings_changed.emit()

    def _drop_late_edits(self) -> None:
        """Drop and report edits that came too late for the last frame."""
        late = self.pending.clear()
        for edit in late:
            self._expect(edit)
        if late:
            text = f"Pending changes ({kinds_text(late)}) were not applied because no frame follows."
            self.noticed.emit(Notice("edit", self.summary.frames[-1] if len(self.summary) else 0, text))

    def set_settings(self, settings: Settings) -> None:
        """Set the settings with which the next source is opened."""
        self.settings = settings
        self.settings_changed.emit()

    def pause(self, paused: bool) -> None:
        """Pause the segmentation, or go on."""
        if self.state in (State.SEGMENTING, State.SETTLING, State.PAUSED):
            self.run.pause(paused)
            self._set_state(State.PAUSED if paused else State.SEGMENTING)
            # The first frames are shown as soon as they are segmented.
            if not paused and (self.live or not len(self.summary)):
                self.display.follow_newest = True

    # --- signals of the threads

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        session, problem = opened.session, opened.problem
        if self.state is State.EMPTY or self.run.queued:
            # Closed again before it was open.
            self.run.close(session)
            return
        saving, self.saving = self.saving, False
        self.read_only = not session.writable
        if saving and opened.summary.frames == self.summary.frames:
            self._resume_moved(session)
            return
        self.session, self.facts, self.summary = session, session.manifest.source, opened.summary
        self._first_colour = session.manifest.settings.colour
        # The number of threads may have changed since the run was asked for.
        self.settings = replace(self.pending.expected.settings, threads=self.settings.threads)
        try:
            self.names, self.objects = session.names, session.objects
        except StudioError as error:
            problem = problem or str(error)
        self.display.renderer.load(session)
        self.bookmarks.restore_view(opened.bookmark)
        self.display.leave_empty_object_view()
        self.opened.emit()
        if problem:
            self.failed.emit(problem)
        self._report_damage(session)
        self.settings_changed.emit()
        self.marks_changed.emit()
        if len(self.summary):
            self.progressed.emit()
            self.bookmarks.restore_frame(opened.bookmark)
        elif self.state is State.OPENING:
            # The user sees the first frame while the engine is compiled.
            self.display.draw(session.manifest.start)

    def _resume_moved(self, session: Session) -> None:
        """Go on with a session that was moved; the display stays as it is."""
        self.session, self.facts = session, session.manifest.source
        self.display.renderer.load(session)
        # Loading drops the request for a frame that is not drawn yet.
        self.display.redraw()
        self.state_changed.emit()

    def _report_damage(self, session: Session) -> None:
        """Report missing frames and damaged files of a session."""
        missing = damage_report.missing_frames_text(self.summary.frames)
        if missing:
            self.noticed.emit(Notice("damaged", self.summary.frames[0], missing))
        damaged = damage_report.damaged_files_text(session)
        if damaged:
            self.failed.emit(damaged)

    @Slot(object)
    def _on_opened_live(self, facts: SourceFacts) -> None:
        if self.state is State.EMPTY or self.run.queued:
            # Closed again before it was open.
            return
        self.facts = facts
        self._first_colour = self.settings.colour
        self.display.leave_empty_object_view()
        self.opened.emit()
        self.marks_changed.emit()

    @Slot(int, int)
    def _on_warming(self, done: int, total: int) -> None:
        if self.run.queued and not self.saving:
            self._set_state(State.WARMING if done < total else State.OPENING)
        # A moved session keeps its state.
        if not self.is_open or self.state in (State.SEGMENTING, State.PAUSED):
            return
        # A resumed run has no first frame to settle: it repeats the frames since its last snapshot.
        going = State.SEGMENTING if len(self.summary) else State.SETTLING
        ready = State.PAUSED if self.run.paused else going
        self._set_state(State.WARMING if done < total else ready)

    @Slot(object)
    def _on_noted(self, record: FrameRecord) -> None:
        if self.is_open and record.index > (self.summary.frames[-1] if len(self.summary) else -1):
            self.summary.add(record)
            self.display.on_segmented(record.index)
            if self.live and len(self.summary) > _LIVE_FRAMES + _LIVE_SLACK:
                self.forget_before(self.summary.frames[-_LIVE_FRAMES])
            self.preview = None
            if self.state is not State.PAUSED:
                self._set_state(State.SEGMENTING)
            self.progressed.emit()

    def forget_before(self, index: int) -> None:
        """Forget frames of a live source, whose summary would otherwise grow without limit.

        Objects of earlier frames begin at this frame with what their segments have become.
        """
        self.forgetting.emit(index)
        self.objects = self.summary.objects_at(self.objects, index)
        self.undo.forget_before(index)
        self.summary.forget_before(index)

    @Slot()
    def _on_advanced(self) -> None:
        result = self.run.worker.newest.take()
        if result is not None and self.is_open:
            self.display.show_newest(result)

    @Slot()
    def _on_previewed(self) -> None:
        preview = self.run.worker.preview.take()
        if preview is not None and self.is_open:
            self.preview = preview
            if self.state in (State.OPENING, State.WARMING):
                self._set_state(State.SETTLING)
            self.display.show_preview(preview)
            self.previewed.emit()

    @Slot(object)
    def _on_noticed(self, notice: Notice) -> None:
        if not self.is_open:
            return
        if notice.edit is not None:
            # The model refused it.
            self._expect(notice.edit)
        self.noticed.emit(notice)

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        left = self.run.queued or self.state is State.EMPTY
        # A failure to open a clip does not concern a user who has left it already.
        if not left or self.run.closing:
            self.failed.emit(message)

    @Slot(bool, bool)
    def _on_rested(self, ended: bool, closed: bool) -> None:
        if self.saving and closed:
            # It was set aside, and is opened again soon.
            return
        if self.saving:
            # It could not be opened again; `failed` reported why.
            self.close()
        elif self.session is not None:
            self._set_state(State.DONE if ended else State.STOPPED)
            self.measure_worker.measure_missing(self.session, self.summary)
        else:
            self._set_state(State.STOPPED if self.live else State.EMPTY)
        if ended or self.live:
            self._drop_late_edits()

    @Slot(object, object)
    def _on_measured(self, session: Session, found: Mapping[int, Mapping[str, float]]) -> None:
        if session is self.session:
            for index, measures in found.items():
                self.summary.fill(index, measures)
            self.progressed.emit()

    def _set_state(self, state: State) -> None:
        if state is not self.state:
            self.state = state
            self.state_changed.emit()

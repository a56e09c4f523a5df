"""Segmentation on a thread of its own: the pipeline and the session run here, the window only hears of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal, Slot

import scstream
from scstream_app.errors import StudioError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.pending_edits import ModelState, PendingEdits
from scstream_app.pipeline.replay_buffer import ReplayBuffer
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.render.image_types import IdMap
from scstream_app.session import Bookmark, FrameRecord, LiveRecorder, Session, SourceFacts, repair_recording, resume
from scstream_app.session.frame_measures import MeasuringSession, measure_frame
from scstream_app.session.model_transfer import transfer_model
from scstream_app.session.run_summary import RunSummary
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source
from scstream_app.ui.document.split_line import PendingSplit, SplitWatcher
from scstream_app.ui.qt.mailbox import Mailbox
from scstream_app.ui.qt.thread_priority import lower_priority

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter

_STOP_MILLISECONDS = 30_000
#: Sweeps over the first frame of a live source, and of every scene of it, at most: they take 30 to 90 ms at 480p, and
#: what they leave in one segment the next ten frames take apart.
_LIVE_SWEEPS = 8
#: Seconds between looks at whether a pause is over.
_GLANCE = 0.02


@dataclass(frozen=True, slots=True)
class Task:
    """What there is to segment.

    Parameters
    ----------
    path : Path
        Of the session.
    address : str, optional
        Of the source, for a session that is to be made anew. None: the session is there, and its source known.
    settings : Settings
        Of a session to be made.
    model : VideoSegmenter, optional
        What a session to be made begins with, as it was left by another clip.
    moved : bool
        Whether it is the session of the task before, which now is elsewhere: what waits to be done to it still does.
    """

    path: Path
    address: str | None = None
    settings: Settings = field(default_factory=Settings)
    model: VideoSegmenter | None = None
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that is open, what it says of its frames, and where it was left.

    ``trouble`` is why some of that cannot be read.
    """

    session: Session
    summary: RunSummary
    edits: Sequence[Edit]
    bookmark: Bookmark | None = None
    trouble: str = ""


class Worker(QObject):
    """Does one task after another. Its signals are emitted on its own thread.

    ``advanced`` and ``previewed`` say that there is something in the mailboxes `newest` and `preview`: a window that
    is slow finds only the newest there, and never slows the engine. ``noted`` comes for every frame, and is small.
    ``opened`` carries what is `Opened`. ``halved`` says that the mailbox `halves` holds where the segment that the
    window watches would be split.

    A live source is segmented without a session: ``opened_live`` carries its facts. Its last frames are in `recent`.

    Attributes
    ----------
    on_newest : callable or None
        Called with every frame of a live source, on the worker's thread, before the window hears of it.
    recorder : Recorder or None
        Where the frames of a live source go besides.
    dropped : int
        Frames of a live source that were passed over since its first one, but for those in a pause.
    """

    opened = Signal(object)
    opened_live = Signal(object)
    warming = Signal(int, int)
    noted = Signal(object)
    advanced = Signal()
    previewed = Signal()
    halved = Signal()
    noticed = Signal(object)
    failed = Signal(str)
    finished = Signal(bool)

    _begin = Signal(object, object)

    def __init__(self, pending: PendingEdits) -> None:
        super().__init__()
        self._pending = pending
        self.newest: Mailbox[FrameResult] = Mailbox()
        self.preview: Mailbox[Preview] = Mailbox()
        self.halves: Mailbox[PendingSplit] = Mailbox()
        self._halver = SplitWatcher()
        self._cancel, self._aside = threading.Event(), False
        self._paused = threading.Event()
        self.recent = ReplayBuffer()
        self.on_newest: Callable[[FrameResult], None] | None = None
        self.recorder: LiveRecorder | None = None
        self.dropped = 0
        self._thread = QThread()
        self._thread.setObjectName("segmentation")
        self.moveToThread(self._thread)
        self._begin.connect(self._work)
        self._thread.start(QThread.Priority.LowPriority)

    # --- called from the window's thread

    def begin(self, task: Task) -> None:
        """Do the task when the one before has ended."""
        # One event a task: a task that is cancelled before it begins must not be done either.
        self._cancel, self._aside = threading.Event(), False
        self._begin.emit(task, self._cancel)

    def cancel(self, aside: bool = False) -> None:
        """Stop the task at hand within a frame; `finished` follows.

        ``aside`` says that it is taken up again, see `Task.moved`: until then its newest frame can be asked about.
        """
        self._aside = aside
        self._cancel.set()
        if not aside:
            self._halver.move_on(None)

    def pause(self, paused: bool) -> None:
        """Wait before the next frame, or no longer."""
        if paused:
            self._paused.set()
        else:
            self._paused.clear()

    @property
    def paused(self) -> bool:
        """Whether it waits before the next frame."""
        return self._paused.is_set()

    def watch(self, id: int | None) -> None:
        """Tell with every frame, and while paused, where this segment would be split; None: of none."""
        self._halver.ask(id)

    def shut_down(self, patience: int = _STOP_MILLISECONDS) -> bool:
        """Stop for good; True if the thread has ended within so many milliseconds."""
        self.cancel()
        self._thread.quit()
        return self._thread.wait(patience)

    # --- on the worker's thread

    @Slot(object, object)
    def _work(self, task: Task, cancel: threading.Event) -> None:
        lower_priority()
        if cancel.is_set():
            self.finished.emit(False)
            return
        ended = False
        try:
            with ExitStack() as stack:
                session, source = self._open(task, stack)
                if session is None:
                    assert source is not None
                    self._go_live(source, task.settings, task.model)
                    return
                opened = _read(session, cancel)
                self._pending.set_model(_model_state(opened, task.settings.threads))
                self.opened.emit(opened)
                if source is None:
                    source = self._source_of(session, stack)
                if source is not None:
                    scstream.warm_up(lambda done, total, what: self.warming.emit(done, total))
                    self._segment(session, source, task.settings.threads)
                ended = session.manifest.complete
        except StudioError as error:
            self.failed.emit(str(error))
        except Exception as error:
            self.failed.emit(f"Unexpected failure: {type(error).__name__}: {error}.")
        finally:
            if not self._aside:
                self._halver.move_on(None)
            self.finished.emit(ended)

    def _open(self, task: Task, stack: ExitStack) -> tuple[Session | None, Source | None]:
        """The session, which stays open when the task has ended: people mark things in it afterwards.

        A live source has none. A session is there before its source is looked for: that may be gone by now, which is no
        reason to show nothing.
        """
        if task.address is not None:
            source = stack.enter_context(open_source(task.address))
            if source.live:
                return None, source
            model = None if task.model is None else transfer_model(task.model, 0, (source.height, source.width))
            return MeasuringSession.create(task.path, source, task.settings, model=model, unsaved=True), source
        session = MeasuringSession.open(task.path, writable=True)
        try:
            repair_recording(session)
            return session, None
        except BaseException:
            session.close()
            raise

    def _source_of(self, session: Session, stack: ExitStack) -> Source | None:
        """Where more frames of a session come from; None if there are no more."""
        if session.manifest.complete or session.manifest.source.live or session.recorded:
            return None
        return stack.enter_context(open_source(session.source_address))

    def _segment(self, session: Session, source: Source, threads: int | None) -> None:
        resumption = resume(session, source, threads)
        results = resumption.run(cancel=self._cancel, edits=self._wanted, on_preview=self._show, on_notice=self._hear)
        with closing(results):
            for result in results:
                self._pending.settle(result.edits)
                self.noted.emit(session.record(result.index))
                if self.newest.put(result):
                    self.advanced.emit()
                self._halver.move_on((result, resumption.segmenter))
                self._halve()

    def _go_live(self, source: Source, settings: Settings, model: VideoSegmenter | None) -> None:
        self.recent.clear()
        self.dropped = 0
        self._pending.set_model(ModelState(settings))
        self.opened_live.emit(SourceFacts.of(source))
        scstream.warm_up(lambda done, total, what: self.warming.emit(done, total))
        size = (source.height, source.width)
        segmenter = settings.segmenter() if model is None else transfer_model(model, 0, size)
        max_init_sweeps = min(segmenter.parameters.max_init_sweeps, _LIVE_SWEEPS)
        segmenter.change(threads=settings.threads, max_init_sweeps=max_init_sweeps)
        uncounted = 0

        def stale() -> bool:
            nonlocal uncounted
            paused = self._paused.is_set()
            while self._paused.is_set() and not self._cancel.wait(_GLANCE):
                self._halve()
            if paused:
                uncounted = source.dropped - self.dropped
            return paused

        results = segment_frames(
            source,
            segmenter,
            cancel=self._cancel,
            scene_cuts=settings.scene_cuts,
            edits=lambda index: self._pending.take(),
            stale=stale,
            on_preview=self._show,
            on_notice=self._hear,
        )
        before = None
        with closing(results):
            for result in results:
                if before is None:
                    # The first frame takes seconds to settle.
                    uncounted = source.dropped
                self.dropped = source.dropped - uncounted
                self._pending.settle(result.edits)
                self._pass_on(result, before, segmenter)
                self._halver.move_on((result, segmenter))
                self._halve()
                before = result.ids

    def _pass_on(self, result: FrameResult, before: IdMap | None, segmenter: VideoSegmenter) -> None:
        """To the screen first, for whatever is done before makes it late; but what was seen is in the recording."""
        recorder = self.recorder
        if recorder is None:
            self._show_live(result)
        measured = replace(result, measures=measure_frame(before, result, segmenter.colour))
        if recorder is not None:
            recorder.put(measured, segmenter)
            self._show_live(result)
        self.noted.emit(_record_of(measured))

    def _show_live(self, result: FrameResult) -> None:
        self.recent.add(result)
        if self.on_newest is not None:
            self.on_newest(result)
        if self.newest.put(result):
            self.advanced.emit()

    def _wanted(self, index: int) -> Sequence[Edit]:
        """Called before every frame: the place to wait while paused, and to fetch what a person did."""
        while self._paused.is_set() and not self._cancel.wait(_GLANCE):
            self._halve()
        # A run that ends here makes none of them.
        return () if self._cancel.is_set() else self._pending.take()

    def _halve(self) -> None:
        found = self._halver.find()
        if found is not None and self.halves.put(found):
            self.halved.emit()

    def _hear(self, notice: Notice) -> None:
        if notice.edit is not None and not self._pending.discard(notice.edit):
            # The window takes back only edits of the user.
            notice = replace(notice, edit=None)
        self.noticed.emit(notice)

    def _show(self, preview: Preview) -> None:
        if self.preview.put(preview):
            self.previewed.emit()


def _record_of(result: FrameResult) -> FrameRecord:
    """What a session would note of a frame, were it written."""
    return FrameRecord.of(result, (0, 0), (0, len(result.statistics), 0))


def _model_state(opened: Opened, threads: int | None) -> ModelState:
    """Return the state of a session's model after its last frame; the number of threads belongs to the machine."""
    state = ModelState(opened.session.manifest.settings).after(opened.edits)
    return replace(state, settings=replace(state.settings, threads=threads))


def _read(session: Session, cancel: threading.Event) -> Opened:
    """What a session says of its frames: of hours of them that takes seconds, and no window is to wait for it."""
    summary, edits, trouble = RunSummary(), list[Edit](), ""
    try:
        for record in session.records():
            if cancel.is_set():
                break
            summary.add(record)
            edits.extend(record.edits)
        for index, found in session.added_measures():
            summary.fill(index, found)
    except StudioError as error:
        trouble = str(error)
    except Exception as error:
        trouble = f"Cannot read '{session.path}': {type(error).__name__}: {error}."
    return Opened(session, summary, edits, session.bookmark, trouble)

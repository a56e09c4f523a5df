"""Segmentation on its own thread: runs the pipeline, writes the session, and reports to the window by signals."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

import scstream
from scstream_app.addresses import hide_secrets
from scstream_app.errors import StudioError
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.live_start import shorten_first_frame
from scstream_app.pipeline.pending_edits import ModelState, PendingEdits
from scstream_app.pipeline.replay_buffer import ReplayBuffer
from scstream_app.pipeline.run import EndOfRun, Notice, segment_frames
from scstream_app.render.image_types import IdMap
from scstream_app.session import Bookmark, FrameRecord, LiveRecorder, Session, SourceFacts, repair_recording, resume
from scstream_app.session.frame_measures import MeasuringSession, measure_frame
from scstream_app.session.model_transfer import transfer_model
from scstream_app.session.resumption import planned_edits
from scstream_app.session.run_summary import RunSummary
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source
from scstream_app.sources.images.options import address_advice
from scstream_app.ui.document.split_line import PendingSplit, SplitWatcher
from scstream_app.ui.document.workers.open_clips import close_in_background, open_existing, open_unless_cancelled
from scstream_app.ui.qt.threads.background import BackgroundWorker
from scstream_app.ui.qt.threads.mailbox import Mailbox

_logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter

_STOP_MILLISECONDS = 30_000
#: Seconds between checks whether a pause is over.
_PAUSE_CHECK = 0.02


@dataclass(frozen=True, slots=True)
class Task:
    """A clip to segment.

    Parameters
    ----------
    path : Path
        Path of the session.
    address : str, optional
        Address of the source, to create a session. None: the session exists.
    settings : Settings
        Settings of a new session.
    model : VideoSegmenter, optional
        Model of another clip with which a new session begins.
    moved : bool
        Whether the session is the one of the task before, at a new path; its pending edits stay.
    frames : tuple of int and (int or None)
        Range (start, stop) of the frames of a new session; see `Manifest`.
    extended : Session, optional
        An open session that goes on after its range.
    ready : Source or Session, optional
        The source of a new session or the existing session, if it is open already.
    """

    path: Path
    address: str | None = None
    settings: Settings = field(default_factory=Settings)
    model: VideoSegmenter | None = None
    moved: bool = False
    frames: tuple[int, int | None] = (0, None)
    extended: Session | None = None
    ready: Source | Session | None = None

    def release(self) -> None:
        """Close what is open already, because the task is not done."""
        if self.ready is not None:
            close_in_background(self.ready)


@dataclass(frozen=True, slots=True)
class Opened:
    """An open session, the summary and edits of its frames, and its bookmark.

    ``problem`` says why a part of it cannot be read; it is empty otherwise.
    """

    session: Session
    summary: RunSummary
    edits: Sequence[Edit]
    bookmark: Bookmark | None = None
    problem: str = ""


class SegmentationWorker(BackgroundWorker[Task]):
    """Segments clips, one after another.

    Signals: ``opened`` carries an `Opened`, ``opened_live`` the facts about a live source, which has no session.
    ``noted`` carries the record of every frame. ``advanced`` and ``previewed`` say that there is something in the
    mailboxes `newest` and `preview`: a slow window finds only the newest there, and never slows the engine.
    ``split_found`` says the same of the mailbox `split_lines`. ``finished`` comes at the end of every task: whether
    the session is complete.

    Parameters
    ----------
    pending : PendingEdits
        Edits to make before the next frame.

    Attributes
    ----------
    recent : ReplayBuffer
        The last frames of a live source.
    on_newest : callable or None
        Called with every frame of a live source, on the worker's thread, before ``advanced``.
    recorder : LiveRecorder or None
        Records the frames of a live source.
    dropped : int
        Number of frames of a live source that were skipped since its first one, without those during a pause.
    """

    opened = Signal(object)
    opened_live = Signal(object)
    warming = Signal(int, int)
    noted = Signal(object)
    advanced = Signal()
    previewed = Signal()
    split_found = Signal()
    noticed = Signal(object)
    failed = Signal(str)
    finished = Signal(bool)

    def __init__(self, pending: PendingEdits) -> None:
        super().__init__("segmentation", _STOP_MILLISECONDS)
        self._pending = pending
        self.newest: Mailbox[FrameResult] = Mailbox()
        self.preview: Mailbox[Preview] = Mailbox()
        self.split_lines: Mailbox[PendingSplit] = Mailbox()
        self._split_watcher = SplitWatcher()
        self._paused, self._step, self._aside = threading.Event(), threading.Event(), False
        self._range: tuple[int | None, int | None] | None = None
        self.recent = ReplayBuffer()
        self.on_newest: Callable[[FrameResult], None] | None = None
        self.recorder: LiveRecorder | None = None
        self.dropped = 0
        self._start_thread()

    # --- on the window's thread

    def begin(self, task: Task) -> None:
        """Do a task after the one before."""
        self._aside, self._range = False, None
        self._add(task)

    def limit(self, first: int | None, last: int | None) -> None:
        """Segment only frames up to ``last``, and from ``first`` on if no frame is segmented yet; None: no limit."""
        self._range = first, last

    def cancel(self, aside: bool = False) -> None:
        """Stop the task within a frame; ``finished`` follows.

        Parameters
        ----------
        aside : bool
            Whether the session is opened again (`Task.moved`), so that split lines of its newest frame stay available.
        """
        self._aside = aside
        super().cancel()
        if not aside:
            self._split_watcher.set_newest(None)

    def pause(self, paused: bool) -> None:
        """Wait before the next frame, or go on."""
        self._step.clear()
        if paused:
            self._paused.set()
        else:
            self._paused.clear()

    def step(self) -> None:
        """Segment one frame during a pause, and wait again."""
        self._step.set()

    @property
    def paused(self) -> bool:
        """Whether the worker waits before the next frame."""
        return self._paused.is_set()

    def watch(self, id: int | None) -> None:
        """Find the split line of a segment with every frame, and while paused; None: of no segment."""
        self._split_watcher.watch(id)

    # --- on the worker's thread

    def _work(self, task: Task, cancel: threading.Event) -> None:
        if cancel.is_set():
            task.release()
            self.finished.emit(False)
            return
        ended = False
        try:
            with ExitStack() as stack:
                ended = self._do(task, cancel, stack)
        except StudioError as error:
            self.failed.emit(str(error))
        except Exception as error:
            _logger.error("Segmentation failed", exc_info=True)
            self.failed.emit(hide_secrets(f"Unexpected failure: {type(error).__name__}: {error}."))
        finally:
            if not self._aside:
                self._split_watcher.set_newest(None)
            self.finished.emit(ended)

    def _do(self, task: Task, cancel: threading.Event, stack: ExitStack) -> bool:
        """Do a task; return whether the session is complete."""
        if task.extended is not None:
            return self._extend(task.extended, task.settings.threads, cancel, stack)
        session, source = self._open(task, cancel, stack)
        if session is None:
            if source is not None:
                self._segment_live(source, task, cancel)
            return False
        opened = read_session(session, cancel)
        self._pending.set_model(_model_state(opened, task.settings.threads))
        self.opened.emit(opened)
        if source is None:
            source = self._source_of(session, cancel, stack)
        if source is not None:
            scstream.warm_up(lambda done, total, what: self.warming.emit(done, total))
            self._segment(session, source, task.settings.threads, cancel)
        return session.manifest.complete

    def _extend(self, session: Session, threads: int | None, cancel: threading.Event, stack: ExitStack) -> bool:
        """Go on with a session after its range; return whether it is complete."""
        source = open_unless_cancelled(partial(open_source, session.source_address), cancel)
        if source is None:
            return False
        stack.enter_context(source)
        last = None if self._range is None else self._range[1]
        session.set_range(session.manifest.start, None if last is None else last + 1)
        scstream.warm_up(lambda done, total, what: self.warming.emit(done, total))
        self._segment(session, source, threads, cancel)
        return session.manifest.complete

    def _open(self, task: Task, cancel: threading.Event, stack: ExitStack) -> tuple[Session | None, Source | None]:
        """Open the session, and the source of a new one; a live source has no session, a cancelled task neither.

        The session stays open after the task, because the user marks segments in it. The source of an existing session
        is opened later: the session is shown even if its source is gone.
        """
        if task.address is not None:
            ready = task.ready if isinstance(task.ready, Source) else None
            source = ready or open_unless_cancelled(partial(open_source, task.address), cancel)
            if source is None:
                return None, None
            stack.enter_context(source)
            if source.live:
                return None, source
            model = None if task.model is None else transfer_model(task.model, 0, (source.height, source.width))
            start, stop = task.frames
            create = partial(MeasuringSession.create, task.path, source, task.settings, start=start, stop=stop)
            return create(model=model, unsaved=True), source
        session = task.ready if isinstance(task.ready, Session) else open_existing(task.path)
        try:
            if session.writable:
                repair_recording(session)
            return session, None
        except BaseException:
            session.close()
            raise

    def _source_of(self, session: Session, cancel: threading.Event, stack: ExitStack) -> Source | None:
        """Open the source of an existing session; return None if no more frames come from it."""
        if session.manifest.complete or session.manifest.source.live or session.recorded or not session.writable:
            return None
        source = open_unless_cancelled(partial(open_source, session.source_address), cancel)
        return None if source is None else stack.enter_context(source)

    def _segment(self, session: Session, source: Source, threads: int | None, cancel: threading.Event) -> None:
        def edits(index: int) -> Sequence[Edit]:
            # Called before every frame: the place to wait during a pause.
            self._wait_while_paused(cancel)
            # A run that ends here makes no edits.
            if cancel.is_set():
                return ()
            self._update_range(session)
            if session.manifest.stop is not None and index >= session.manifest.stop:
                raise EndOfRun
            return self._pending.take()

        if not len(session):
            # The user may still choose where to begin.
            self._wait_while_paused(cancel)
            if cancel.is_set():
                return
            self._update_range(session)
        resumption = resume(session, source, threads)
        results = resumption.run(
            cancel=cancel, edits=edits, on_preview=self._show_preview, on_notice=self._on_notice, open_end=True
        )
        with closing(results):
            for result in results:
                self._pending.settle(result.edits)
                self.noted.emit(session.record(result.index))
                if self.newest.put(session.relabelled(result)):
                    self.advanced.emit()
                self._watch_split(result, resumption.segmenter)

    def _update_range(self, session: Session) -> None:
        """Write the range that the user has chosen since the run began."""
        if self._range is None:
            return
        first, last = self._range
        start = session.manifest.start if len(session) else first or 0
        stop = None if last is None else last + 1
        if len(session) and stop is not None:
            # Frames beyond it are segmented already.
            stop = max(stop, int(session.frames[-1]) + 1)
        if (start, stop) != (session.manifest.start, session.manifest.stop):
            session.set_range(start, stop)

    def _segment_live(self, source: Source, task: Task, cancel: threading.Event) -> None:
        self.recent.clear()
        self.dropped = 0
        self._pending.set_model(ModelState(task.settings))
        self.opened_live.emit(SourceFacts.of(source))
        scstream.warm_up(lambda done, total, what: self.warming.emit(done, total))
        segmenter = _live_segmenter(source, task)
        uncounted = 0

        def stale() -> bool:
            nonlocal uncounted
            paused = self._wait_while_paused(cancel)
            if paused:
                uncounted = source.dropped - self.dropped
            return paused

        results = segment_frames(
            source,
            segmenter,
            cancel=cancel,
            scene_cuts=task.settings.scene_cuts,
            edits=lambda index: self._pending.take(),
            stale=stale,
            on_preview=self._show_preview,
            on_notice=self._on_notice,
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
                self._watch_split(result, segmenter)
                before = result.ids

    def _wait_while_paused(self, cancel: threading.Event) -> bool:
        """Wait until a pause is over or a step is wanted, finding split lines; return whether there was a pause."""
        paused = self._paused.is_set()
        while self._paused.is_set() and not self._step.is_set() and not cancel.wait(_PAUSE_CHECK):
            self._find_split()
        self._step.clear()
        return paused

    def _pass_on(self, result: FrameResult, before: IdMap | None, segmenter: VideoSegmenter) -> None:
        """Show a live frame as early as possible, but record it before the user sees it."""
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

    def _watch_split(self, result: FrameResult, segmenter: VideoSegmenter) -> None:
        self._split_watcher.set_newest((result, segmenter))
        self._find_split()

    def _find_split(self) -> None:
        found = self._split_watcher.find()
        if found is not None and self.split_lines.put(found):
            self.split_found.emit()

    def _on_notice(self, notice: Notice) -> None:
        if notice.edit is not None and not self._pending.discard(notice.edit):
            # The window takes back only edits of the user.
            notice = replace(notice, edit=None)
        self.noticed.emit(notice.with_advice(address_advice))

    def _show_preview(self, preview: Preview) -> None:
        if self.preview.put(preview):
            self.previewed.emit()


def _live_segmenter(source: Source, task: Task) -> VideoSegmenter:
    size = (source.height, source.width)
    segmenter = task.settings.segmenter() if task.model is None else transfer_model(task.model, 0, size)
    segmenter.set_params(threads=task.settings.threads)
    shorten_first_frame(segmenter)
    return segmenter


def _record_of(result: FrameResult) -> FrameRecord:
    """Return the record of a live frame, as a session would write it."""
    return FrameRecord.of(result, (0, 0), (0, len(result.statistics), 0))


def _model_state(opened: Opened, threads: int | None) -> ModelState:
    """Return the state of a session's model after its last frame; the number of threads belongs to the machine."""
    edits = (*opened.edits, *planned_edits(opened.session))
    state = ModelState(opened.session.manifest.settings).after(edits)
    return replace(state, settings=replace(state.settings, threads=threads))


def read_session(session: Session, cancel: threading.Event) -> Opened:
    """Read the records of all frames, which takes seconds for hours of video."""
    summary, edits, problem = RunSummary(), list[Edit](), ""
    try:
        for record in session.records():
            if cancel.is_set():
                break
            summary.add(record)
            edits.extend(record.edits)
        for index, found in session.added_measures():
            summary.fill(index, found)
    except StudioError as error:
        problem = str(error)
    except Exception as error:
        _logger.error("Reading a session failed", exc_info=True)
        problem = f"Cannot read '{session.path}': {type(error).__name__}: {error}."
    return Opened(session, summary, edits, session.bookmark, problem)

"""Segmentation on a thread of its own: the pipeline and the session run here, the window only hears of them."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QObject, QThread, Signal, Slot

from scstream import Preview, metrics, warm_up
from scstream_app import pipeline
from scstream_app.edits import Edit, EditQueue
from scstream_app.errors import StudioError
from scstream_app.results import FrameResult
from scstream_app.session import FrameRecord, Session, record, resume
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source
from scstream_app.ui.mailbox import Mailbox

_STOP_MILLISECONDS = 30_000
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
    """

    path: Path
    address: str | None = None
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True)
class Advance:
    """A new frame: its result, what the session notes of it, the share of changed ids, and when it was ready."""

    result: FrameResult
    record: FrameRecord
    churn: float
    ready: float


class Worker(QObject):
    """Does one task after another. Its signals are emitted on its own thread.

    ``advanced`` and ``previewed`` say that there is something in the mailboxes `newest` and `preview`: a window that
    is slow finds only the newest there, and never slows the engine. ``noted`` comes for every frame, and is small.
    """

    opened = Signal(object)
    warming = Signal(int, int)
    noted = Signal(object, float)
    advanced = Signal()
    previewed = Signal()
    noticed = Signal(object)
    failed = Signal(str)
    finished = Signal(bool)

    _begin = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.newest: Mailbox[Advance] = Mailbox()
        self.preview: Mailbox[Preview] = Mailbox()
        self._cancel = threading.Event()
        self._paused = threading.Event()
        self._edits = EditQueue()
        self._path: Path | None = None
        self._thread = QThread()
        self._thread.setObjectName("segmentation")
        self.moveToThread(self._thread)
        self._begin.connect(self._work)
        self._thread.start()

    # --- called from the window's thread

    def begin(self, task: Task) -> None:
        """Do the task when the one before has ended."""
        # One event a task: a task that is cancelled before it begins must not be done either.
        self._cancel = threading.Event()
        self._begin.emit(task, self._cancel)

    def cancel(self) -> None:
        """Stop the task at hand within a frame; `finished` follows."""
        self._cancel.set()

    def pause(self, paused: bool) -> None:
        """Wait before the next frame, or no longer."""
        if paused:
            self._paused.set()
        else:
            self._paused.clear()

    def edit(self, edit: Edit) -> None:
        """Have something done to the model before its next frame, though the task be stopped and taken up again."""
        self._edits.add(edit)

    def shut_down(self) -> bool:
        """Stop for good; True if the thread has ended."""
        self.cancel()
        self._thread.quit()
        return self._thread.wait(_STOP_MILLISECONDS)

    # --- on the worker's thread

    @Slot(object, object)
    def _work(self, task: Task, cancel: threading.Event) -> None:
        if task.address is not None or task.path != self._path:
            self._edits.clear()
        self._path = task.path
        if cancel.is_set():
            self.finished.emit(False)
            return
        ended = False
        try:
            with ExitStack() as stack:
                session, source = self._open(task, stack)
                self.opened.emit(session)
                if source is not None:
                    warm_up(lambda done, total, what: self.warming.emit(done, total))
                    self._segment(session, source, task)
                ended = session.manifest.complete
        except StudioError as error:
            self.failed.emit(str(error))
        except Exception as error:
            self.failed.emit(f"Unexpected failure: {type(error).__name__}: {error}.")
        self.finished.emit(ended)

    def _open(self, task: Task, stack: ExitStack) -> tuple[Session, Source | None]:
        """The session, which stays open when the task has ended: people mark things in it afterwards."""
        if task.address is not None:
            source = stack.enter_context(open_source(task.address))
            return Session.create(task.path, source, task.settings, overwrite=True), source
        session = Session.open(task.path, writable=True)
        try:
            if session.manifest.complete or session.manifest.source.live:
                return session, None
            return session, stack.enter_context(open_source(session.manifest.source.address))
        except BaseException:
            session.close()
            raise

    def _segment(self, session: Session, source: Source, task: Task) -> None:
        previous = None
        with closing(self._results(session, source, task.settings.threads)) as results:
            for result in results:
                self._edits.settle(result.edits)
                churn = float("nan") if previous is None else metrics.label_churn(previous, result.ids)
                previous = result.ids
                noted = session.record(result.index)
                self.noted.emit(noted, churn)
                if self.newest.put(Advance(result, noted, churn, monotonic())):
                    self.advanced.emit()

    def _results(self, session: Session, source: Source, threads: int | None) -> Generator[FrameResult]:
        manifest = session.manifest
        if len(session):
            return resume(session, source, threads).run(
                cancel=self._cancel, edits=self._wanted, on_preview=self._show, on_notice=self._hear
            )
        segmenter = manifest.settings.segmenter()
        segmenter.model_.threads = threads
        results = pipeline.run(
            source,
            segmenter,
            start=manifest.start,
            stop=manifest.stop,
            masks=session.masks,
            cancel=self._cancel,
            scene_cuts=manifest.settings.scene_cuts,
            edits=self._wanted,
            on_preview=self._show,
            on_notice=self._hear,
        )
        return record(session, results, segmenter, self._cancel)

    def _wanted(self, index: int) -> Sequence[Edit]:
        """Called before every frame: the place to wait while paused, and to fetch what a person did."""
        while self._paused.is_set() and not self._cancel.wait(_GLANCE):
            pass
        return self._edits.waiting()

    def _hear(self, notice: pipeline.Notice) -> None:
        if notice.edit is not None:
            self._edits.settle([notice.edit])
        self.noticed.emit(notice)

    def _show(self, preview: Preview) -> None:
        if self.preview.put(preview):
            self.previewed.emit()

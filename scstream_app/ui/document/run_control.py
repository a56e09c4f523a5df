"""Starts, pauses and ends the segmentation of the open clip, and closes its session afterwards."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal, Slot

from scstream_app.pipeline.pending_edits import PendingEdits
from scstream_app.session import Session
from scstream_app.ui.document.workers.segmentation_worker import SegmentationWorker, Task
from scstream_app.ui.document.workers.session_closer import SessionCloser


class RunControl(QObject):
    """Gives tasks to the segmentation worker, and closes sessions when the worker no longer writes to them.

    Signals: ``starting`` carries a `Task` just before the worker begins it. ``superseded`` carries the queued task if
    an idle action started another one in the meantime. ``rested`` comes when nothing is running or queued: whether the
    session is complete, and whether a session was closed. ``failed`` says why a session could not be closed.
    ``frames_changed`` says that `frames` is another range.

    Parameters
    ----------
    pending : PendingEdits
        Edits that the worker makes.
    parent : QObject, optional

    Attributes
    ----------
    worker : SegmentationWorker
        Segments on its own thread.
    compiling : bool
        Whether the worker is compiling the engine, which it cannot interrupt.
    frames : tuple of int and (int or None)
        Range (start, stop) between in and out point, to which the open clip is limited when its segmentation begins.
    """

    starting = Signal(object)
    superseded = Signal(object)
    rested = Signal(bool, bool)
    failed = Signal(str)
    frames_changed = Signal()

    def __init__(self, pending: PendingEdits, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worker = SegmentationWorker(pending)
        self.compiling = False
        self.frames: tuple[int, int | None] = (0, None)
        self._closer = SessionCloser()
        self._queued: Task | None = None
        self._busy = False
        self._closing: Session | None = None
        self._when_idle: list[Callable[[], None]] = []
        self.worker.warming.connect(self._on_warming)
        self.worker.finished.connect(self._on_finished)
        # Queued: a session may be closed just after `SessionCloser.close` stopped waiting for it.
        self._closer.late.connect(self._on_closed_late, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether a task is running or a session being closed, possibly of the clip before."""
        return self._busy

    @property
    def queued(self) -> bool:
        """Whether a task waits for the running one to end."""
        return self._queued is not None

    @property
    def closing(self) -> bool:
        """Whether a session waits to be closed."""
        return self._closing is not None

    @property
    def paused(self) -> bool:
        """Whether the worker waits before its next frame."""
        return self.worker.paused

    def start(self, task: Task) -> None:
        """Begin a task now, or when the running one has ended; it replaces a queued one."""
        self._drop_queued()
        self._queued = task
        if not self._busy:
            self._begin()

    def _begin(self) -> None:
        task, self._queued = self._queued, None
        if task is not None:
            self._busy = True
            self.starting.emit(task)
            self.worker.begin(task)

    def pause(self, paused: bool) -> None:
        """Have the worker wait before its next frame, or go on."""
        self.worker.pause(paused)

    def set_frames(self, start: int, stop: int | None) -> None:
        """Set the range to which the clip is limited when its segmentation begins."""
        if (start, stop) != self.frames:
            self.frames = start, stop
            self.frames_changed.emit()

    def limit(self, first: int | None, last: int | None) -> None:
        """Have the worker end after a frame and, if no frame is segmented yet, begin at one; None: no limit."""
        self.worker.limit(first, last)

    def step(self) -> None:
        """Have the worker segment one frame during a pause, and wait again."""
        self.worker.step()

    def cancel(self, aside: bool = False) -> None:
        """Stop the task within a frame, and drop a queued one; ``aside``: the session will be opened again."""
        self._drop_queued()
        self.worker.cancel(aside)

    def _drop_queued(self) -> None:
        queued, self._queued = self._queued, None
        if queued is not None:
            queued.release()

    def close(self, session: Session) -> str:
        """Close a session, after the running task if there is one; return why that failed, or an empty string."""
        if self._busy:
            # The worker still writes to it.
            self._closing = session
            return ""
        return self._close_now(session)

    def _close_now(self, session: Session) -> str:
        """Close a session; if that takes long, the run is busy and `failed` reports problems later."""
        problem = self._closer.close(session)
        self._busy = problem is None
        return problem or ""

    def when_idle(self, action: Callable[[], None]) -> None:
        """Call ``action`` as soon as nothing is running or being closed, which may be at once."""
        if self._busy:
            self._when_idle.append(action)
        else:
            action()

    def at_work(self) -> list[str]:
        """Describe what is still being done."""
        doing = (
            ("Ending the segmentation", self._busy and not self._closer.busy),
            ("Closing the session", self._closer.busy),
        )
        return [text for text, busy in doing if busy]

    def shut_down(self, patience: int) -> bool:
        """Close the remaining session after the worker was shut down; return whether that ended in time.

        Parameters
        ----------
        patience : int
            Milliseconds.
        """
        closing, self._closing = self._closing, None
        if closing is not None:
            # A thread that hangs may hold the session. Everything written is on the disk either way.
            self._closer.close(closing)
        return self._closer.shut_down(patience)

    @Slot(int, int)
    def _on_warming(self, done: int, total: int) -> None:
        self.compiling = done < total

    @Slot(bool)
    def _on_finished(self, ended: bool) -> None:
        self._busy = self.compiling = False
        closing, self._closing = self._closing, None
        problem = "" if closing is None else self._close_now(closing)
        if problem:
            self.failed.emit(problem)
        if not self._busy:
            self._go_on(ended, closing is not None)

    @Slot(str)
    def _on_closed_late(self, problem: str) -> None:
        self._busy, self._closing = False, None
        if problem:
            self.failed.emit(problem)
        self._go_on(ended=False, closed=True)

    def _go_on(self, ended: bool, closed: bool) -> None:
        """Call the idle actions, then begin the queued task."""
        queued, self._queued = self._queued, None
        # An action may begin a task; the other actions wait until that has ended too.
        while self._when_idle and not self._busy:
            self._when_idle.pop(0)()
        if queued is not None and self._busy:
            # The user's last request wins over what an action has begun.
            self.superseded.emit(queued)
        elif queued is not None:
            self._queued = queued
            self._begin()
        elif not self._busy:
            self.rested.emit(ended, closed)

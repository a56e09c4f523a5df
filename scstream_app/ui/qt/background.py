"""Work on a thread of its own that can be cancelled: what exporting and measuring have in common."""

from __future__ import annotations

import threading
from abc import abstractmethod
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, Slot

from scstream_app.ui.qt.abstract_qt import AbstractQtMeta
from scstream_app.ui.qt.thread_priority import lower_priority

T = TypeVar("T")


class BackgroundWorker(QObject, Generic[T], metaclass=AbstractQtMeta):
    """Does one task at a time, the newest. Heirs say how in `_work`; their signals are emitted on its thread.

    Parameters
    ----------
    name : str
        Of the thread, which runs from the first task on.
    patience : int
        Milliseconds that `shut_down` waits at most.
    """

    _begin = Signal(object, object)

    def __init__(self, name: str, patience: int) -> None:
        super().__init__()
        self._patience = patience
        self._cancel = threading.Event()
        self._busy = False
        self._thread = QThread()
        self._thread.setObjectName(name)
        self.moveToThread(self._thread)
        self._begin.connect(self._run)

    # --- called from the window's thread

    def _do(self, task: T) -> None:
        """Begin with a task; the one before is not wanted any more."""
        self.cancel()
        # One event a task: a task that is cancelled before it begins must not be done either.
        self._cancel = threading.Event()
        self._thread.start(QThread.Priority.LowPriority)
        self._begin.emit(task, self._cancel)

    def cancel(self) -> None:
        """Stop the task at hand within a frame."""
        self._cancel.set()

    @property
    def busy(self) -> bool:
        """Whether it is at a task, which may be one that was cancelled."""
        return self._busy

    def shut_down(self, patience: int | None = None) -> bool:
        """Stop, and end the thread; True if it has ended within so many milliseconds, by default its own."""
        self.cancel()
        self._thread.quit()
        return self._thread.wait(self._patience if patience is None else patience)

    # --- on its own thread

    @Slot(object, object)
    def _run(self, task: T, cancel: threading.Event) -> None:
        self._busy = True
        lower_priority()
        try:
            self._work(task, cancel)
        finally:
            self._busy = False

    @abstractmethod
    def _work(self, task: T, cancel: threading.Event) -> None:
        """Do the task, and look now and then whether it is cancelled."""

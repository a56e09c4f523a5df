"""Base class of the worker threads: tasks are done one after another on a thread."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import deque
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, Slot

from scstream_app.ui.qt.abstract_qt import AbstractQtMeta
from scstream_app.ui.qt.threads.thread_priority import lower_priority

T = TypeVar("T")


class BackgroundWorker(QObject, Generic[T], metaclass=AbstractQtMeta):
    """Does tasks on a thread of its own, one after another.

    Subclasses implement `_work`, and offer methods that call `_add` or `_replace`. Their signals are emitted on the
    worker's thread. A worker is never terminated: `_work` checks the event that it gets with each task.

    Parameters
    ----------
    name : str
        Name of the thread, which starts with the first task.
    patience : int
        Milliseconds for which `shut_down` waits by default.
    low_priority : bool
        Whether the window's thread takes precedence.
    """

    #: Without arguments: with Python objects in these events, tests of the renderer sometimes crashed or hung.
    _begin = Signal()

    # Workers that did not end in time: Qt aborts the program when a running thread is deleted.
    _hanging: ClassVar[list[BackgroundWorker[Any]]] = []

    def __init__(self, name: str, patience: int, low_priority: bool = True) -> None:
        super().__init__()
        self._patience, self._low_priority = patience, low_priority
        self._tasks: deque[tuple[T, threading.Event]] = deque()
        # One event for each task that is queued or running: a queued task can be cancelled before it begins.
        self._cancels: list[threading.Event] = []
        self._changed = threading.Condition()
        self._ended = False
        self._thread = QThread()
        self._thread.setObjectName(name)
        self.moveToThread(self._thread)
        self._begin.connect(self._run)

    # --- on other threads

    def _add(self, task: T) -> bool:
        """Do a task after those before; after `shut_down`, ignore it and return False."""
        cancel = threading.Event()
        with self._changed:
            if self._ended:
                return False
            self._cancels.append(cancel)
            self._tasks.append((task, cancel))
            # Inside the lock, so that `shut_down` from another thread cannot come between.
            self._start_thread()
        self._begin.emit()
        return True

    def _replace(self, task: T) -> None:
        """Cancel the tasks before, and do this one next."""
        self._cancel_tasks()
        self._add(task)

    def _start_thread(self) -> None:
        if not self._thread.isRunning():
            priority = QThread.Priority.LowPriority if self._low_priority else QThread.Priority.InheritPriority
            self._thread.start(priority)

    def cancel(self) -> None:
        """Have the running task stop soon, and queued ones not begin."""
        self._cancel_tasks()

    def _cancel_tasks(self) -> None:
        with self._changed:
            for cancel in self._cancels:
                cancel.set()

    @property
    def busy(self) -> bool:
        """Whether a task is running or queued, even if it is cancelled."""
        return bool(self._cancels)

    @property
    def cancelled(self) -> bool:
        """Whether all tasks, running or queued, are cancelled."""
        with self._changed:
            return all(cancel.is_set() for cancel in self._cancels)

    def join(self, seconds: float | None = None) -> bool:
        """Wait until no task is running or queued; return False if that took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._cancels, seconds)

    def stop(self, patience: int | None = None) -> bool:
        """Cancel all tasks and end the thread until the next task; return whether it ended in time.

        Parameters
        ----------
        patience : int, optional
            Milliseconds to wait, by default those of the constructor.
        """
        self._cancel_tasks()
        self._thread.quit()
        ended = self._thread.wait(self._patience if patience is None else patience)
        if ended:
            with self._changed:
                # A thread that ends does not begin queued tasks.
                self._cancels.clear()
                self._tasks.clear()
                self._changed.notify_all()
        elif self not in self._hanging:
            self._hanging.append(self)
        return ended

    def shut_down(self, patience: int | None = None) -> bool:
        """Stop for good: later tasks are ignored; see `stop`."""
        with self._changed:
            self._ended = True
        return self.stop(patience)

    # --- on the worker's thread

    @Slot()
    def _run(self) -> None:
        with self._changed:
            if not self._tasks:
                # Tasks were dropped when the thread ended.
                return
            task, cancel = self._tasks.popleft()
        if self._low_priority:
            lower_priority()
        try:
            self._work(task, cancel)
        finally:
            with self._changed:
                self._cancels.remove(cancel)
                self._changed.notify_all()

    @abstractmethod
    def _work(self, task: T, cancel: threading.Event) -> None:
        """Do a task; return soon after ``cancel`` is set, which may be before this is called."""

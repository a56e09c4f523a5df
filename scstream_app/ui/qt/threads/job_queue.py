"""Queue of slow file operations: done one by one on a thread, with callbacks on the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.errors import StudioError
from scstream_app.ui.qt.threads.background import BackgroundWorker

#: For a thread without jobs.
_STOP_MILLISECONDS = 10_000

T = TypeVar("T")
Job = Callable[[], object]


class _JobWorker(BackgroundWorker[Job]):
    def __init__(self) -> None:
        super().__init__("jobs", _STOP_MILLISECONDS, low_priority=False)

    def add(self, job: Job) -> None:
        self._add(job)

    def _work(self, task: Job, cancel: threading.Event) -> None:
        if not cancel.is_set():
            task()


class JobQueue(QObject):
    """Does jobs one after another.

    Attributes
    ----------
    under_way : tuple of str
        Descriptions of the running job and of those that wait.
    """

    _over = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = _JobWorker()
        self._over.connect(self._call)
        self._ended = False
        self.under_way: tuple[str, ...] = ()

    def do(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] | None = None,
        failed: Callable[[str], object] | None = None,
        *,
        what: str,
    ) -> None:
        """Queue a job.

        Parameters
        ----------
        work : callable
            Called on the queue's thread.
        then : callable, optional
            Called with the job's result, on the thread of this object.
        failed : callable, optional
            Called with the reason instead, on the thread of this object. A fault of the program, any other exception
            than StudioError, is raised there afterwards.
        what : str
            Description of the job for the user.
        """
        if not self._ended:
            self.under_way = (*self.under_way, what)
            self._worker.add(partial(self._do, work, then, failed))

    def _do(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] | None,
        failed: Callable[[str], object] | None,
    ) -> None:
        try:
            result = work()
        except StudioError as error:
            self._over.emit(None if failed is None else partial(failed, str(error)))
        except Exception as error:
            self._over.emit(partial(_raise, error, failed))
        else:
            self._over.emit(None if then is None else partial(then, result))

    @Slot(object)
    def _call(self, action: Callable[[], object] | None) -> None:
        self.under_way = self.under_way[1:]
        if action is not None and not self._ended:
            action()

    def shut_down(self, wait: bool = True) -> None:
        """Accept no more jobs, and call no more callbacks.

        Wait for all queued jobs; or, with ``wait=False``, drop those that have not begun and leave the running one.
        """
        if wait and not self._ended:
            self._worker.join()
        self._ended = True
        self._worker.shut_down(None if wait else 0)


def _raise(error: Exception, failed: Callable[[str], object] | None) -> None:
    """Raise a fault of the program on the window's thread, which reports it."""
    if failed is not None:
        failed(f"{type(error).__name__}: {error}.")
    raise error

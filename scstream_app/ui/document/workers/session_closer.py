"""Closes sessions on a thread, because closing may have to wait for another thread."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from PySide6.QtCore import Signal

from scstream_app.errors import StudioError
from scstream_app.session import Session
from scstream_app.ui.qt.threads.background import BackgroundWorker

#: Seconds for which the window may wait without a noticeable delay.
_MOMENT = 0.2
_STOP_MILLISECONDS = 30_000


class SessionCloser(BackgroundWorker[tuple[Session, "Future[str]"]]):
    """Closes sessions.

    ``late`` comes when a session is closed that took longer than a moment. It carries why closing failed, or an empty
    string.
    """

    late = Signal(str)

    def __init__(self) -> None:
        super().__init__("closing", _STOP_MILLISECONDS, low_priority=False)

    def close(self, session: Session) -> str | None:
        """Close a session; return why that failed, an empty string, or None if it takes long and ``late`` follows."""
        problem: Future[str] = Future()
        if not self._add((session, problem)):
            # A session that opens while the program ends: the thread has ended already.
            self._work((session, problem), threading.Event())
        try:
            return problem.result(_MOMENT)
        except TimeoutError:
            problem.add_done_callback(self._report)
            return None

    def _report(self, problem: Future[str]) -> None:
        self.late.emit(problem.result())

    def shut_down(self, patience: int | None = None) -> bool:
        """Wait until all sessions are closed and end the thread; return whether that ended in time."""
        wait = _STOP_MILLISECONDS if patience is None else patience
        # First: a thread that ends does not begin queued tasks.
        closed = self.join(wait / 1000.0)
        return super().shut_down(wait if closed else 0)

    def _work(self, task: tuple[Session, Future[str]], cancel: threading.Event) -> None:
        session, problem = task
        try:
            session.close()
        except StudioError as error:
            problem.set_result(str(error))
        except Exception as error:
            problem.set_result(f"Unexpected failure: {type(error).__name__}: {error}.")
        else:
            problem.set_result("")

"""Closing a session though somebody may hold it: the window waits for a moment, and hears of the rest."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread

from PySide6.QtCore import QObject, Signal

from scstream_app.errors import StudioError
from scstream_app.session import Session

#: Seconds that a window may wait without anybody noticing.
_MOMENT = 0.2


class SessionCloser(QObject):
    """Closes one session at a time.

    ``late`` comes when one that took longer than a moment is closed; it carries why that failed, in words, or nothing.
    """

    late = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._thread: Thread | None = None

    def close(self, session: Session) -> str | None:
        """Close a session; why that failed, in words, or nothing. None if it takes long: ``late`` follows."""
        trouble: Future[str] = Future()
        # A daemon: what hangs is not to keep the program from ending.
        self._thread = Thread(target=_close, args=(session, trouble), name="closing", daemon=True)
        self._thread.start()
        try:
            return trouble.result(_MOMENT)
        except TimeoutError:
            trouble.add_done_callback(self._tell)
            return None

    def _tell(self, trouble: Future[str]) -> None:
        self.late.emit(trouble.result())

    @property
    def busy(self) -> bool:
        """Whether a session is not closed yet."""
        return self._thread is not None and self._thread.is_alive()

    def shut_down(self, patience: int) -> bool:
        """Wait for so many milliseconds at most; True if nothing is left to be closed."""
        if self._thread is not None:
            self._thread.join(patience / 1000.0)
        return not self.busy


def _close(session: Session, trouble: Future[str]) -> None:
    try:
        session.close()
    except StudioError as error:
        trouble.set_result(str(error))
    except Exception as error:
        trouble.set_result(f"Unexpected failure: {type(error).__name__}: {error}.")
    else:
        trouble.set_result("")

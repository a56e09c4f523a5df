"""Sources and sessions that are opened on one thread and used on another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Event, Thread

from scstream_app.session import Session
from scstream_app.session.frame_measures import MeasuringSession
from scstream_app.session.storage.write_access import can_write
from scstream_app.sources import Source
from scstream_app.ui.qt.threads.thread_priority import lower_priority

#: Seconds between two checks whether an opening is cancelled.
_GLANCE = 0.02


def open_existing(path: Path) -> Session:
    """Open a session whose segmentation may go on; read-only if its folder cannot be written to."""
    return MeasuringSession.open(path, writable=can_write(path))


def open_unless_cancelled(open_: Callable[[], Source], cancel: Event) -> Source | None:
    """Open a source on a thread of its own; return None as soon as ``cancel`` is set.

    A share that does not respond would block the caller for minutes. The source is then closed when it does respond.
    """
    opened: Future[Source] = Future()

    def work() -> None:
        # The decoder's threads inherit the priority.
        lower_priority()
        try:
            opened.set_result(open_())
        except BaseException as error:
            opened.set_exception(error)

    Thread(target=work, name="scstream-open", daemon=True).start()
    while not wait([opened], _GLANCE).done:
        if cancel.is_set():
            opened.add_done_callback(_close_late)
            return None
    return opened.result()


def _close_late(opened: Future[Source]) -> None:
    if opened.exception() is None:
        opened.result().close()


def close_in_background(opened: Source | Session) -> None:
    """Close a source or a session without waiting: a camera takes up to 2 seconds."""
    Thread(target=opened.close, name="scstream-close", daemon=True).start()

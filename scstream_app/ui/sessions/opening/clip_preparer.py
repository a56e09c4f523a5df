"""Open the next clip on a thread while the present one stays open."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.addresses import hide_secrets
from scstream_app.errors import StudioError
from scstream_app.session import Session
from scstream_app.sources import Source
from scstream_app.ui.document.workers.open_clips import close_in_background
from scstream_app.ui.qt.free_moment import FreeMoment
from scstream_app.ui.qt.threads.thread_priority import lower_priority

_logger = logging.getLogger(__name__)

Clip = Source | Session


@dataclass(frozen=True, slots=True)
class Request:
    """A clip to open.

    Parameters
    ----------
    name : str
        Name of the clip for the user.
    open : callable
        Opens the clip, including its first frame; called on a thread.
    opened : callable
        Called with the open clip, on the window's thread.
    failed : callable
        Called instead with the reason, on the window's thread.
    """

    name: str
    open: Callable[[], Clip]
    opened: Callable[[Clip], object]
    failed: Callable[[str], object]


class ClipPreparer(QObject):
    """Opens one clip at a time; a new request replaces the one before.

    The clip is handed over when no dialog, menu or drag of the mouse needs the present one any more. ``changed`` is
    emitted when a request begins and when it ends.
    """

    changed = Signal()

    _over = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._attempt: _Attempt | None = None
        self._over.connect(self._on_over)
        self._free = FreeMoment(self)

    @property
    def name(self) -> str:
        """Name of the clip that is being opened; empty if there is none."""
        return "" if self._attempt is None else self._attempt.request.name

    def prepare(self, request: Request) -> None:
        """Open a clip instead of the one that is being opened."""
        self._drop()
        self._attempt = _Attempt(request, self._over.emit)
        self.changed.emit()

    @Slot()
    def cancel(self) -> None:
        """Give up; a source that hangs is closed when it responds."""
        if self._attempt is not None:
            self._drop()
            self.changed.emit()

    def _drop(self) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            attempt.cancel()

    @Slot()
    def _on_over(self) -> None:
        # The signal of a request that was replaced may arrive late.
        if self._attempt is not None and self._attempt.over:
            self._free.wait(self._deliver)

    def _deliver(self) -> None:
        attempt = self._attempt
        # It may have been replaced while the user was busy.
        if attempt is None or not attempt.over:
            return
        self._attempt = None
        self.changed.emit()
        attempt.deliver()


class _Attempt:
    """A request on a thread of its own: an address that hangs does not hold up the next one."""

    def __init__(self, request: Request, announce: Callable[[], None]) -> None:
        self.request = request
        self.over = False
        self._announce = announce
        self._lock = Lock()
        self._cancelled = False
        self._clip: Clip | None = None
        self._failure = ""
        Thread(target=self._run, name="scstream-open", daemon=True).start()

    def _run(self) -> None:
        # The decoder's threads inherit the priority.
        lower_priority()
        clip, failure = None, ""
        try:
            clip = self.request.open()
        except StudioError as error:
            failure = str(error)
        except Exception as error:
            _logger.error("Opening failed", exc_info=True)
            failure = hide_secrets(f"Cannot open '{self.request.name}': {type(error).__name__}: {error}.")
        with self._lock:
            if not self._cancelled:
                self._clip, self._failure, self.over = clip, failure, True
                # Inside the lock: after `cancel` the receiver may be deleted.
                self._announce()
                return
        if clip is not None:
            clip.close()

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            clip, self._clip = self._clip, None
        if clip is not None:
            close_in_background(clip)

    def deliver(self) -> None:
        clip, self._clip = self._clip, None
        if clip is None:
            self.request.failed(self._failure)
        else:
            self.request.opened(clip)

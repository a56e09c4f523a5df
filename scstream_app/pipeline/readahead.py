"""Decode frames ahead in a separate thread, so that the next frame is ready when the engine is."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Self

from scstream_app.errors import SourceError
from scstream_app.sources import CameraStalled, DamagedFrame, Frame, Source

#: Number of frames decoded ahead: one hides the decoding time, a second one its variation.
AHEAD = 2
#: Seconds between two checks for cancellation.
_POLL = 0.05
#: Seconds to wait at the end for a `read` that does not react to `Source.interrupt`.
_STOP_TIMEOUT = 2.0


@dataclass(frozen=True, slots=True)
class Decoded:
    """A frame and the time its decoding took."""

    frame: Frame
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """An error instead of frame ``index``."""

    error: Exception
    index: int


Item = Decoded | Failure


class ReadAhead:
    """Context manager that reads frames start, ..., stop - 1 of a source in a separate thread.

    It decodes two frames of a file ahead. It reads a live source only while `get` waits, because a queued frame would
    be stale.

    On exit, it interrupts a running `read` and waits for the thread. If the `read` cannot be interrupted, for instance
    because a server sends nothing, the thread is abandoned after 2 seconds.
    """

    def __init__(self, source: Source, start: int, stop: int | None) -> None:
        self._source, self._next, self._stop = source, start, stop
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._wanted = self._closed = self._ended = False
        self._thread = threading.Thread(target=self._work, name="scstream-reader", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._stop_thread()

    def _stop_thread(self) -> None:
        end = perf_counter() + _STOP_TIMEOUT
        while self._thread.is_alive() and perf_counter() < end:
            # Repeated, because a `read` that was just about to start misses an earlier interrupt.
            self._source.interrupt()
            self._thread.join(_POLL)

    def get(self, cancel: threading.Event | None = None) -> Item | None:
        """Wait for the next frame or failure; None at the end or when cancelled."""
        with self._changed:
            self._wanted = True
            self._changed.notify_all()
            # Polling also keeps Ctrl-C working on Windows.
            while not (self._items or self._ended or _is_set(cancel)):
                self._changed.wait(_POLL)
            self._wanted = False
            if _is_set(cancel) or not self._items:
                return None
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def _work(self) -> None:
        try:
            if not self._source.live:
                self._source.seek(self._next)
            while self._wait_for_room() and (item := self._read()) is not None:
                self._put(item)
        except Exception as error:
            self._put(Failure(error, self._next))
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read(self) -> Item | None:
        if self._stop is not None and self._next >= self._stop:
            return None
        begin = perf_counter()
        try:
            frame = self._source.read()
        except DamagedFrame as damage:
            if damage.index < self._next:
                # The source does not advance; reading on would loop for ever.
                raise SourceError(f"Cannot read '{self._source.name}' past frame {damage.index}: {damage}") from damage
            self._next = damage.index + 1
            return Failure(damage, damage.index)
        except CameraStalled as stall:
            return Failure(stall, self._next)
        if frame is None or (self._stop is not None and frame.index >= self._stop):
            return None
        self._next = frame.index + 1
        return Decoded(frame, 1000.0 * (perf_counter() - begin))

    def _wait_for_room(self) -> bool:
        """Wait until another frame may be read; False if the reader was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._may_read())
            return not self._closed

    def _may_read(self) -> bool:
        return self._wanted and not self._items if self._source.live else len(self._items) < AHEAD

    def _put(self, item: Item) -> None:
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()


def _is_set(cancel: threading.Event | None) -> bool:
    return cancel is not None and cancel.is_set()

"""Decoding in a thread of its own, so that the next frame is ready when the engine is."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Self

from scstream_app.errors import SourceError
from scstream_app.sources import CameraStalled, DamagedFrame, Frame, Source

#: Frames decoded ahead: one hides the decoder, a second one its hiccups.
AHEAD = 2
#: Seconds after which a wait looks whether it was cancelled.
_GLANCE = 0.05
#: Seconds to wait at the end for a reading that does not heed `Source.interrupt`.
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Decoded:
    """A frame and how long it took."""

    frame: Frame
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no frame, and which one it would have been."""

    error: Exception
    index: int


Item = Decoded | Failure


class ReadAhead:
    """Frames start, start + 1, ... of a source, up to but not including stop.

    Of a file two frames are decoded ahead. Of a live source a frame is read only while one is waited for: one that
    had waited in a queue would be stale.

    On leaving, a reading under way is interrupted and its thread waited for. One that is held up by something that
    cannot be interrupted, such as a server that sends nothing, is left to itself after 2 seconds.
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
        self._let_go()

    def _let_go(self) -> None:
        end = perf_counter() + _PATIENCE
        while self._thread.is_alive() and perf_counter() < end:
            # Again and again: a reading that was just about to begin has not heard it.
            self._source.interrupt()
            self._thread.join(_GLANCE)

    def get(self, cancel: threading.Event | None = None) -> Item | None:
        """The next frame, or why there is none; None at the end, or when cancelled."""
        with self._changed:
            self._wanted = True
            self._changed.notify_all()
            # A glance now and then also keeps Ctrl-C working on Windows.
            while not (self._items or self._ended or _is_set(cancel)):
                self._changed.wait(_GLANCE)
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
            while self._room() and (item := self._read()) is not None:
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
                # It would be asked for ever.
                raise SourceError(f"Cannot read '{self._source.name}' past frame {damage.index}: {damage}") from damage
            self._next = damage.index + 1
            return Failure(damage, damage.index)
        except CameraStalled as stall:
            return Failure(stall, self._next)
        if frame is None or (self._stop is not None and frame.index >= self._stop):
            return None
        self._next = frame.index + 1
        return Decoded(frame, 1000.0 * (perf_counter() - begin))

    def _room(self) -> bool:
        """Wait until another frame may be read; False when there is to be none."""
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

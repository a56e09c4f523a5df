"""Base class of live sources: keeps only the newest frame, and tells when the source has stalled."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from time import monotonic
from typing import Literal

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture
from scstream_app.sources.base import Frame, Source, check_seekable

#: A live source counts as stalled after this many seconds without a new frame.
PATIENCE = 2.0
#: Seconds between two checks of the clock.
GLANCE = 0.1

State = Literal["live", "stalled", "closed"]


class CameraStalled(SourceError):
    """A live source delivers no new frames. Calling `read` again waits until it recovers."""


class NewestFrameSlot:
    """Holds the newest picture until it is read; a newer picture replaces it.

    Attributes
    ----------
    changed : condition that guards the slot; its owner may guard other state with it.
    dropped : number of pictures that were replaced before they were read.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.changed = Condition()
        self.dropped = 0
        self._clock = clock
        self._newest: tuple[float, Picture, float] | None = None
        self._next = 0
        self._closed = self._gone = self._ended = self._reported = self._interrupted = False
        self._failure: Exception | None = None
        self._fresh = self._waiting = clock()

    # --- called by the grabbing thread

    def put(self, time: float, picture: Picture) -> None:
        """Store a new picture."""
        with self.changed:
            self.dropped += self._newest is not None
            # Not self._clock: the latency is computed later with time.monotonic.
            self._newest = time, picture, monotonic()
            self._fresh = self._waiting = self._clock()
            self._gone = self._reported = False
            self.changed.notify_all()

    def lose(self) -> None:
        """Report that the device was disconnected: the source is stalled at once, until the next `put`."""
        with self.changed:
            self._gone = True
            self.changed.notify_all()

    def end(self, failure: Exception | None = None) -> None:
        """Report that no more pictures will come; ``failure`` is the error that ended the source, if any."""
        with self.changed:
            self._ended, self._failure = True, failure
            self.changed.notify_all()

    # --- called by the reader

    @property
    def state(self) -> State:
        """Whether the source is live, stalled or closed."""
        with self.changed:
            if self._closed or self._ended:
                return "closed"
            return "stalled" if self._gone or self._clock() - self._fresh >= PATIENCE else "live"

    def read(self, stalled_text: str) -> Frame | None:
        """Wait for a new frame and return the newest one; None at the end and after `interrupt`.

        Raises `CameraStalled` with ``stalled_text`` after 2 seconds without a new frame, or at once if the device was
        disconnected; every further call waits for 2 more seconds.
        """
        with self.changed:
            self._interrupted = False
            while self._newest is None and not (self._closed or self._ended or self._interrupted):
                self._raise_if_stalled(stalled_text)
                self.changed.wait(GLANCE)
            if self._closed:
                return None
            return self._taken()

    def _taken(self) -> Frame | None:
        if self._newest is None:
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            return None
        (time, picture, captured), self._newest = self._newest, None
        index, self._next = self._next, self._next + 1
        return Frame(index, time, picture, captured)

    def _raise_if_stalled(self, text: str) -> None:
        now = self._clock()
        if (self._gone and not self._reported) or now - self._waiting >= PATIENCE:
            self._reported, self._waiting = True, now
            raise CameraStalled(text)

    def interrupt(self) -> None:
        """See `Source.interrupt`."""
        with self.changed:
            self._interrupted = True
            self.changed.notify_all()

    def close(self) -> None:
        """End all reading."""
        with self.changed:
            self._closed = True
            self.changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether the slot was closed."""
        return self._closed


class LiveSource(Source):
    """Base class of sources in real time: a separate thread grabs pictures, and `read` returns the newest one.

    Indices count the frames that are read. The grabbing thread of a subclass puts its pictures into ``_slot``.

    Attributes
    ----------
    state : "live", "stalled" or "closed".
    """

    live = True
    #: What the user can check when no new pictures arrive.
    _advice: str

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._slot = NewestFrameSlot(clock)

    @property
    def state(self) -> State:
        """Whether the source is live, stalled or closed."""
        return self._slot.state

    @property
    def dropped(self) -> int:
        """Number of frames that were replaced by newer ones before they were read."""
        return self._slot.dropped

    def read(self) -> Frame | None:
        """Wait for a new frame and return the newest one; None at the end and after `close`.

        Raises `CameraStalled` after 2 seconds without a new frame, or at once if the device was disconnected; every
        further call waits for 2 more seconds. Raises `SourceError` once, after the last frame, if the source fails
        for good.
        """
        return self._slot.read(f"'{self.name}' delivers no new pictures. {self._advice}")

    def seek(self, index: int) -> None:
        """Raise `SourceError`: a live source cannot seek."""
        check_seekable(self, index)

    def interrupt(self) -> None:
        """See `Source`."""
        self._slot.interrupt()

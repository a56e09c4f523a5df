"""The newest frame of something that does not wait: a slot between the thread that grabs and the one that reads."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from time import monotonic
from typing import Literal

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture
from scstream_app.sources.base import Frame, Source, check_place

#: Without a new frame for so many seconds a live source counts as stalled.
PATIENCE = 2.0
#: Seconds between looks at the clock.
GLANCE = 0.1

State = Literal["live", "stalled", "closed"]


class CameraStalled(SourceError):
    """No new frame for a while. Reading again goes on waiting for the camera or stream to come back."""


class Slot:
    """Holds the newest picture until it is read; a newer one takes its place.

    Attributes
    ----------
    changed : the condition that guards it; whoever uses it may guard more by it.
    dropped : how many pictures were overwritten before they were read.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.changed = Condition()
        self.dropped = 0
        self._clock = clock
        self._newest: tuple[float, Picture, float] | None = None
        self._next = 0
        self._closed = self._gone = self._ended = self._told = self._interrupted = False
        self._failure: Exception | None = None
        self._fresh = self._waiting = clock()

    # --- for the thread that grabs

    def put(self, time: float, picture: Picture) -> None:
        """A new picture."""
        with self.changed:
            self.dropped += self._newest is not None
            # By the clock that others go by too, whatever this one's is: what is shown late is known by it.
            self._newest = time, picture, monotonic()
            self._fresh = self._waiting = self._clock()
            self._gone = self._told = False
            self.changed.notify_all()

    def lose(self) -> None:
        """There will be no more pictures unless somebody does something about it: the reader hears of it at once."""
        with self.changed:
            self._gone = True
            self.changed.notify_all()

    def end(self, failure: Exception | None = None) -> None:
        """There will be no more pictures, for the reason given if it is no ordinary end."""
        with self.changed:
            self._ended, self._failure = True, failure
            self.changed.notify_all()

    # --- for the reader

    @property
    def state(self) -> State:
        """How the source is doing."""
        with self.changed:
            if self._closed or self._ended:
                return "closed"
            return "stalled" if self._gone or self._clock() - self._fresh >= PATIENCE else "live"

    def read(self, complaint: str) -> Frame | None:
        """The newest frame that was not read yet, as soon as there is one; None at the end and when interrupted.

        Raises `CameraStalled` with the complaint after 2 seconds without a new frame, at once if the source is gone;
        every further call waits 2 seconds more.
        """
        with self.changed:
            self._interrupted = False
            while self._newest is None and not (self._closed or self._ended or self._interrupted):
                self._tell_if_stalled(complaint)
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

    def _tell_if_stalled(self, complaint: str) -> None:
        now = self._clock()
        if (self._gone and not self._told) or now - self._waiting >= PATIENCE:
            self._told, self._waiting = True, now
            raise CameraStalled(complaint)

    def interrupt(self) -> None:
        """See `Source.interrupt`."""
        with self.changed:
            self._interrupted = True
            self.changed.notify_all()

    def close(self) -> None:
        """No more reading."""
        with self.changed:
            self._closed = True
            self.changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed


class LiveSource(Source):
    """A source that does not wait: a thread of its own grabs what comes, and reading gives the newest of it.

    Indices count the frames that are read. Whoever grabs puts pictures into ``_slot``.

    Attributes
    ----------
    state : "live", "stalled" or "closed".
    """

    live = True
    #: What to look after when no new picture comes.
    _remedy: str

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._slot = Slot(clock)

    @property
    def state(self) -> State:
        """How it is doing."""
        return self._slot.state

    @property
    def dropped(self) -> int:
        """How many frames were overwritten by newer ones before they were read."""
        return self._slot.dropped

    def read(self) -> Frame | None:
        """The newest frame that was not read yet, as soon as there is one; None at the end and after `close`.

        Raises `CameraStalled` after 2 seconds without a new frame, at once if the source is gone; every further call
        waits 2 seconds more. Raises `SourceError` once, after the frames before it, if the source fails for good.
        """
        return self._slot.read(f"'{self.name}' gives no new pictures. {self._remedy}")

    def seek(self, index: int) -> None:
        """Not here: there is only a next frame."""
        check_place(self, index)

    def interrupt(self) -> None:
        """See `Source`."""
        self._slot.interrupt()

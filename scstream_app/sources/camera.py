"""Camera source: delivers the newest frame, and reconnects when the camera stalls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event, Thread
from time import monotonic

import numpy as np

from scstream_app.errors import SourceError, reason
from scstream_app.render.image_types import Picture
from scstream_app.sources.devices import Device, open_device
from scstream_app.sources.live_source import GLANCE, PATIENCE, LiveSource

# Seconds that a camera may take to deliver its first picture.
_WARM_UP = 10.0
# Seconds between attempts to reconnect.
_PAUSE = 0.5
# Number of threads that may hang in a driver before no further one tries to reopen the camera.
_MOST_HANGING = 2


class Camera(LiveSource):
    """A camera, grabbed by a separate thread so that a slow reader always gets the newest frame.

    A camera without a new frame for 2 seconds is stalled: unplugged, hanging, or repeating the same picture (sensor
    noise makes two pictures of a working camera differ). It is reopened until it delivers again; indices and times
    continue.

    Parameters
    ----------
    device : number, part of the name, or path of the camera.
    width, height, rate : requested mode; the camera may choose another one.
    opener : opens the device; for anything that delivers pictures like a camera.
    clock : returns the current time in seconds.
    pause : seconds between attempts to reconnect.
    """

    _advice = "Check that it is plugged in and that no other program uses it."

    def __init__(
        self,
        device: int | str = 0,
        width: int | None = None,
        height: int | None = None,
        rate: float | None = None,
        *,
        opener: Callable[[], Device] | None = None,
        clock: Callable[[], float] = monotonic,
        pause: float = _PAUSE,
    ) -> None:
        super().__init__(clock)
        self.name = f"camera {device}"
        self.address = f"camera:{device}{_mode(width, height, rate)}"
        self._opener = opener or partial(open_device, device, width, height, rate)
        self._clock, self._pause = clock, pause
        self._changed = self._slot.changed
        self._previous: Picture | None = None
        self._opened = clock()
        self._hanging: list[_Grabber] = []
        with self._changed:
            # Holding the condition ensures that self._grabber is set before the first picture arrives.
            self._grabber = _Grabber(self._opener, self._receive)
        self._describe(self._first_picture(), rate)
        if opener is None:
            self._opener = partial(open_device, device, width, height, rate, self.name)
        self._watchdog = Thread(target=self._watch, name="scstream-camera-watch", daemon=True)
        self._watchdog.start()

    def _first_picture(self) -> Picture:
        with self._changed:
            while self._previous is None:
                late = self._clock() - self._opened >= _WARM_UP
                if late or self._grabber.ended:
                    self._grabber.abandon()
                    raise self._failure("it delivers no picture" if late else "it was disconnected") from (
                        self._grabber.failure
                    )
                self._changed.wait(GLANCE)
            return self._previous

    def _failure(self, why: str) -> SourceError:
        failure = self._grabber.failure
        if isinstance(failure, SourceError):
            return failure
        return SourceError(f"Cannot open {self.name}: {reason(failure) if failure else why}.")

    def _describe(self, first: Picture, rate: float | None) -> None:
        self.height, self.width = first.shape[:2]
        self.rate = self._grabber.rate or rate or 30.0
        self.name = self._grabber.name or self.name

    def close(self) -> None:
        """See `Source`. Takes at most 2 seconds; the thread of a hanging device is abandoned."""
        self._slot.close()
        self._grabber.abandon()
        self._watchdog.join(PATIENCE / 2)
        self._grabber.join(PATIENCE / 2)

    # --- called by the threads --------------------------------------------------------------------------------

    def _receive(self, grabber: _Grabber, picture: Picture | None) -> None:
        """Accept a picture of a grabber, or None when the grabber has ended."""
        with self._changed:
            if grabber is not self._grabber or self._slot.closed:
                return
            if picture is None:
                self._slot.lose()
            elif self._previous is None or not np.array_equal(self._previous, picture):
                self._take(picture)

    def _take(self, picture: Picture) -> None:
        now = self._clock()
        if self._previous is None:
            self._opened = now
        self._previous = picture
        self._slot.put(now - self._opened, picture)

    def _watch(self) -> None:
        """Reconnect whenever the camera stalls, until it is closed."""
        with self._changed:
            while not self._slot.closed:
                if self.state == "stalled" and self._may_open():
                    self._reconnect()
                self._changed.wait(GLANCE)

    def _may_open(self) -> bool:
        """Whether another thread may open the camera: not while one is opening it or too many hang in the driver."""
        self._hanging = [grabber for grabber in self._hanging if not grabber.ended]
        return not self._grabber.opening and len(self._hanging) < _MOST_HANGING

    def _reconnect(self) -> None:
        self._grabber.abandon()
        self._hanging.append(self._grabber)
        self._grabber, begin = _Grabber(self._opener, self._receive), self._clock()
        while not self._slot.closed and not self._grabber.ended and self.state == "stalled":
            if self._clock() - begin >= _WARM_UP:
                return
            self._changed.wait(GLANCE)
        if self._grabber.ended:
            self._changed.wait_for(lambda: self._slot.closed, self._pause)


def _mode(width: int | None, height: int | None, rate: float | None) -> str:
    """Part of the address that requests a size and a rate."""
    if not (width and height):
        return ""
    return f"@{width}x{height}" + (f"@{rate:g}" if rate else "")


class _Grabber:
    """Thread that opens a device and passes its pictures to ``receive``, then None at the end.

    A driver may hang for ever, and a thread cannot be stopped from outside. Therefore it can be abandoned; it releases
    the device if the driver ever returns.
    """

    def __init__(self, opener: Callable[[], Device], receive: Callable[[_Grabber, Picture | None], None]) -> None:
        self.failure: Exception | None = None
        self.opening, self.ended = True, False
        self.rate, self.name = 0.0, ""
        self._opener, self._receive = opener, receive
        self._abandoned = Event()
        self._thread = Thread(target=self._run, name="scstream-camera", daemon=True)
        self._thread.start()

    def abandon(self) -> None:
        self._abandoned.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            self._grab()
        except Exception as error:
            # A driver may raise anything; the watchdog must learn that this thread has ended.
            self.failure = error
        self.opening, self.ended = False, True
        self._receive(self, None)

    def _grab(self) -> None:
        device = self._opener()
        self.rate, self.name = device.rate, device.name
        self.opening = False
        try:
            while not self._abandoned.is_set() and (picture := device.grab()) is not None:
                self._receive(self, picture)
        finally:
            device.release()

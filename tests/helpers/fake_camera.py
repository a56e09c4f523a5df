"""A camera for tests: a real `Camera` over devices that give what they are fed, by a clock that a test moves."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Condition

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture
from scstream_app.sources import Camera


class FakeDevice:
    """Gives pictures as it is fed; None means that it was unplugged. It hangs while there is nothing."""

    rate = 30.0

    def __init__(self, name: str, pictures: Sequence[Picture | None]) -> None:
        self.name = name
        self.released = False
        self._items = deque(pictures)
        self._changed = Condition()
        self._idle = False

    def feed(self, *items: Picture | None) -> None:
        """Have these grabbed, one after another."""
        with self._changed:
            self._items.extend(items)
            self._changed.notify_all()

    def settle(self, seconds: float = 10.0) -> None:
        """Wait until everything that was fed has been taken in."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._idle and not self._items, seconds)

    def grab(self) -> Picture | None:
        """See `Device`."""
        with self._changed:
            self._idle = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: bool(self._items))
            self._idle = False
            return self._items.popleft()

    def release(self) -> None:
        """See `Device`."""
        self.released = True


class CameraRig:
    """Cameras that a test plugs in and out.

    ``clock`` stands still unless a test moves ``now``.
    """

    def __init__(self, name: str = "Fake Cam") -> None:
        self.name = name
        self.now = 100.0
        self.devices: list[FakeDevice] = []
        self.addresses: list[str] = []
        self._plugged: deque[FakeDevice] = deque()

    def plug_in(self, *pictures: Picture) -> FakeDevice:
        """A device that the next opening finds."""
        device = FakeDevice(self.name, pictures)
        self.devices.append(device)
        self._plugged.append(device)
        return device

    def clock(self) -> float:
        """The seconds that go by."""
        return self.now

    def open(self, address: str = "camera:0") -> Camera:
        """In the place of `open_source`."""
        self.addresses.append(address)
        return Camera(0, opener=self._device, clock=self.clock, pause=0.01)

    def _device(self) -> FakeDevice:
        if not self._plugged:
            raise SourceError("Cannot open camera 0: no such camera is connected.")
        return self._plugged.popleft()

    def let_go(self) -> None:
        """End the threads that wait for pictures."""
        for device in self.devices:
            device.feed(None)

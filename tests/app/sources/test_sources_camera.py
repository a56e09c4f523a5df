"""Cameras: the newest frame is delivered, and a camera that stalls, hangs or is unplugged is reconnected."""

import struct
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Condition, Event, current_thread
from threading import enumerate as enumerate_threads
from types import SimpleNamespace

import cv2_enumerate_cameras
import numpy as np
import pytest

from helpers.clips import busy, encode
from scstream_app.errors import SourceError
from scstream_app.sources import (
    Camera,
    CameraInfo,
    CameraMode,
    CameraStalled,
    VideoFile,
    camera_modes,
    devices,
    list_cameras,
    open_source,
)
from scstream_app.sources.devices import find_camera, open_device, tried_modes

PICTURES = busy(40, 24, 32)
#: Longer than anything here may take; a test that waits so long has failed.
LONG = 60.0


class Clock:
    """Clock that a test sets."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class WatchedCamera(Camera):
    """Camera that counts the checks of its watchdog thread."""

    looks = 0
    looked = Condition()

    @property
    def state(self):
        if current_thread().name == "scstream-camera-watch":
            with self.looked:
                self.looks += 1
                self.looked.notify_all()
        return super().state

    def wait_for_looks(self, count=10):
        """Wait for ``count`` checks, after which the watchdog has reacted to the current time."""
        with self.looked:
            end = self.looks + count
            assert self.looked.wait_for(lambda: self.looks >= end, LONG)


class FakeDevice:
    """Device that delivers the items fed to it: pictures, or None when unplugged. It blocks while there are none."""

    name, rate = "Fake Cam", 15.0

    def __init__(self, *pictures):
        self._changed = Condition()
        self._items = deque(pictures)
        self._idle = False
        self.released = Event()

    def feed(self, *items):
        with self._changed:
            self._items.extend(items)
            self._changed.notify_all()

    def settle(self):
        """Wait until all fed items have been grabbed."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._idle and not self._items, LONG)

    def grab(self):
        with self._changed:
            self._idle = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._items)
            self._idle = False
            return self._items.popleft()

    def release(self):
        self.released.set()


class Bench:
    """Test bench of a camera: its clock and the devices that it finds, one for each opening."""

    def __init__(self):
        self.clock = Clock()
        self.device = FakeDevice(PICTURES[0])
        self.coming = deque([self.device])
        self.all = [self.device]
        self.attempts = 0
        self.tried = Condition()

    def open(self):
        with self.tried:
            self.attempts += 1
            self.tried.notify_all()
            found = self.coming.popleft() if self.coming else SourceError("Cannot open camera 0: nothing there.")
        if isinstance(found, Exception):
            raise found
        return found

    def connect(self, *pictures):
        device = FakeDevice(*pictures)
        self.all.append(device)
        self.coming.append(device)
        return device

    def wait_for_attempts(self, count):
        with self.tried:
            assert self.tried.wait_for(lambda: self.attempts >= count, LONG)

    def camera(self):
        # A test may replace self.open later.
        return WatchedCamera(0, opener=lambda: self.open(), clock=self.clock, pause=0.01)

    def let_go(self):
        for device in self.all:
            device.feed(None)


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.let_go()


@pytest.fixture
def camera(bench):
    with bench.camera() as opened:
        assert opened.read().index == 0
        yield opened
        bench.let_go()


# --- frames


def test_camera_describes_itself(bench):
    with bench.camera() as camera:
        assert (camera.width, camera.height, camera.rate) == (32, 24, 15.0)
        assert (camera.name, camera.address, camera.live) == ("Fake Cam", "camera:0", True)
        assert (camera.length, camera.duration, camera.count()) == (None, None, None)
        assert camera.state == "live"
        with pytest.raises(SourceError, match=r"Cannot seek to frame 3 of 'Fake Cam': a live source"):
            camera.seek(3)
        bench.let_go()
    assert camera.state == "closed"
    assert bench.device.released.wait(LONG)


def test_newest_frame_wins(bench, camera):
    bench.device.feed(*PICTURES[1:6])
    bench.device.settle()
    frame = camera.read()
    np.testing.assert_array_equal(frame.rgb, PICTURES[5])
    assert (frame.index, camera.dropped) == (1, 4)


def test_times_are_seconds_since_the_first_picture(bench, camera):
    times = []
    for picture in PICTURES[1:4]:
        bench.clock.now += 0.25
        bench.device.feed(picture)
        times.append(camera.read().time)
    assert times == [0.25, 0.5, 0.75]


def test_reading_waits_for_the_next_picture(bench, camera):
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(camera.read)
        bench.device.feed(PICTURES[1])
        np.testing.assert_array_equal(waiting.result(LONG).rgb, PICTURES[1])
    assert camera.dropped == 0


def test_frames_of_a_camera(bench, camera):
    frames = camera.frames()
    for number, picture in enumerate(PICTURES[1:5], 1):
        bench.device.feed(picture)
        assert next(frames).index == number


# --- failures


def test_a_silent_camera_is_stalled_and_reading_again_waits(bench, camera):
    bench.clock.now += 1.9
    assert camera.state == "live"
    for _ in range(2):
        bench.clock.now += 2.0
        with pytest.raises(CameraStalled, match=r"'Fake Cam' delivers no new pictures"):
            camera.read()
        assert camera.state == "stalled"


def test_a_camera_that_repeats_one_picture_is_stalled(bench, camera):
    for _ in range(3):
        bench.clock.now += 0.6
        bench.device.feed(PICTURES[0].copy())
        bench.device.settle()
    assert camera.state == "live"
    bench.clock.now += 0.6
    assert camera.state == "stalled"
    with pytest.raises(CameraStalled):
        camera.read()


def test_one_new_picture_in_time_keeps_the_camera_live(bench, camera):
    for picture in (PICTURES[0], PICTURES[0], PICTURES[1], PICTURES[1], PICTURES[1]):
        bench.clock.now += 0.6
        bench.device.feed(picture.copy())
        bench.device.settle()
        assert camera.state == "live"


def test_an_unplugged_camera_is_reported_at_once_and_reconnected(bench, camera):
    bench.device.feed(None)
    with pytest.raises(CameraStalled):
        camera.read()
    assert camera.state == "stalled"
    assert bench.device.released.wait(LONG)
    bench.wait_for_attempts(4)
    bench.clock.now += 7.0
    bench.connect(PICTURES[1], PICTURES[2])
    frame = read_patiently(camera)
    assert (frame.index, frame.time, camera.state) == (1, 7.0, "live")


def read_patiently(camera):
    while True:
        try:
            return camera.read()
        except CameraStalled:
            continue


@pytest.mark.parametrize("way", ["hangs", "frozen"])
def test_a_hanging_camera_is_reopened(bench, camera, way):
    fresh = bench.connect()
    if way == "frozen":
        bench.device.feed(PICTURES[0].copy())
        bench.device.settle()
    bench.clock.now += 2.0
    bench.wait_for_attempts(2)
    fresh.feed(PICTURES[1])
    frame = read_patiently(camera)
    assert frame.index == 1
    np.testing.assert_array_equal(frame.rgb, PICTURES[1])
    bench.device.feed(PICTURES[2])
    assert bench.device.released.wait(LONG)
    fresh.feed(PICTURES[3])
    np.testing.assert_array_equal(camera.read().rgb, PICTURES[3])


def test_a_camera_may_return_with_another_size(bench, camera):
    bench.connect(busy(1, 48, 64)[0])
    bench.device.feed(None)
    assert read_patiently(camera).rgb.shape == (48, 64, 3)


class FileDevice(FakeDevice):
    """Device that plays a video, one frame per tick; after ``hold`` frames it is unplugged."""

    def __init__(self, path, start, hold):
        super().__init__()
        self._frames = VideoFile(path).frames(start, start + hold)

    def tick(self):
        frame = next(self._frames, None)
        self.feed(None if frame is None else frame.rgb)


def test_a_video_played_as_a_camera_loses_only_frames_while_unplugged(bench, tmp_path):
    path = encode(tmp_path / "a.mkv", busy(20), codec="ffv1", pix_fmt="bgra")
    first, second = FileDevice(path, 0, 8), FileDevice(path, 12, 8)
    bench.all += [first, second]
    bench.coming = deque([first, second])
    first.tick()
    seen = []
    with bench.camera() as camera:
        seen.append(camera.read())
        for device, ticks in ((first, 7), (second, 8)):
            for _ in range(ticks):
                bench.clock.now += 1 / 15
                device.tick()
                seen.append(read_patiently(camera))
            device.tick()
        bench.let_go()
    assert [frame.index for frame in seen] == list(range(16))
    assert (np.diff([frame.time for frame in seen]) > 0).all()
    shown = [*range(8), *range(12, 20)]
    for frame, number in zip(seen, shown, strict=True):
        np.testing.assert_array_equal(frame.rgb, busy(20)[number])


def test_interrupting_only_ends_the_current_read(bench, camera):
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(camera.read)
        while not waiting.done():
            camera.interrupt()
        assert waiting.result() is None
    camera.interrupt()
    bench.device.feed(PICTURES[1])
    assert camera.read().index == 1


def camera_threads():
    return [thread for thread in enumerate_threads() if thread.name == "scstream-camera"]


@pytest.fixture
def watchful(monkeypatch):
    """Make the watchdog check the clock very often."""
    monkeypatch.setattr("scstream_app.sources.camera.GLANCE", 0.002)


@pytest.mark.usefixtures("watchful")
def test_one_thread_at_a_time_waits_for_a_driver_that_hangs_in_opening(bench, camera):
    before, end = len(camera_threads()), Event()
    found = bench.connect(PICTURES[3])

    def hang():
        with bench.tried:
            bench.attempts += 1
            bench.tried.notify_all()
        assert end.wait(LONG)
        return found

    bench.open = hang
    bench.device.feed(None)
    bench.wait_for_attempts(2)
    for _ in range(5):
        bench.clock.now += 11.0
        camera.wait_for_looks()
    assert bench.attempts == 2
    assert len(camera_threads()) <= before + 1
    # The hanging thread is not abandoned: when the driver recovers, its pictures are used.
    end.set()
    np.testing.assert_array_equal(read_patiently(camera).rgb, PICTURES[3])


@pytest.mark.usefixtures("watchful")
def test_few_threads_hang_in_a_driver_that_never_delivers(bench, camera):
    silent = [bench.connect() for _ in range(6)]
    for _ in range(6):
        bench.clock.now += 11.0
        camera.wait_for_looks()
    assert 2 <= bench.attempts <= 4
    assert len(camera_threads()) <= 4
    for device in silent:
        device.feed(None)


# --- opening and closing


def test_a_camera_that_cannot_be_opened_raises():
    def missing():
        raise SourceError("Cannot open camera 0: no such camera is connected.")

    def broken():
        raise RuntimeError("driver trouble")

    with pytest.raises(SourceError, match="no such camera is connected"):
        Camera(0, opener=missing)
    with pytest.raises(SourceError, match="Cannot open camera 0: driver trouble"):
        Camera(0, opener=broken)


def test_a_camera_without_pictures_raises(bench):
    bench.coming = deque([FakeDevice(None)])
    with pytest.raises(SourceError, match="Cannot open camera 0: it was disconnected"):
        bench.camera()


def test_opening_times_out(bench):
    end = Event()

    def hang():
        bench.clock.now += 11.0
        end.wait(LONG)
        return bench.device

    with pytest.raises(SourceError, match="Cannot open camera 0: it delivers no picture"):
        Camera(0, opener=hang, clock=bench.clock)
    end.set()
    assert bench.device.released.wait(LONG)


def test_closing_ends_a_read(bench, camera):
    with ThreadPoolExecutor() as pool:
        waiting, closing = pool.submit(camera.read), pool.submit(camera.close)
        assert waiting.result(LONG) is None
        bench.let_go()
        closing.result(LONG)
    camera.close()
    assert camera.read() is None


def test_closing_does_not_wait_for_a_driver_that_hangs(bench, camera, monkeypatch):
    monkeypatch.setattr("scstream_app.sources.camera.PATIENCE", 0.1)
    with ThreadPoolExecutor() as pool:
        try:
            pool.submit(camera.close).result(LONG)
            assert not bench.device.released.is_set()
        finally:
            bench.let_go()


# --- listing cameras


def test_listing_never_fails(monkeypatch):
    def fail(*args):
        raise RuntimeError("no permission")

    assert all(isinstance(info, CameraInfo) for info in list_cameras())
    monkeypatch.setattr(cv2_enumerate_cameras, "enumerate_cameras", fail)
    assert list_cameras() == []


def test_cameras_are_listed_by_number(monkeypatch):
    # Versions of the package differ in the further arguments of their own class.
    found = [SimpleNamespace(index=index, name=name, path=None) for index, name in ((2, "B"), (0, None))]
    monkeypatch.setattr(cv2_enumerate_cameras, "enumerate_cameras", lambda backend: found)
    assert list_cameras() == [CameraInfo(0, "camera 0", ""), CameraInfo(2, "B", "")]


CAMERAS = [CameraInfo(0, "HD Webcam", "/dev/video0"), CameraInfo(4, "Überkamera", "/dev/video4")]


@pytest.mark.parametrize(("device", "index"), [(7, 7), ("webcam", 0), ("ÜBER", 4), ("/dev/video4", 4)])
def test_camera_is_found(device, index):
    assert find_camera(device, CAMERAS) == index


@pytest.mark.parametrize(
    ("device", "last_name", "index"), [(0, "HD Webcam", 0), (0, "Überkamera", 4), (1, "Überkamera", 4), (2, "gone", 2)]
)
def test_a_camera_is_found_under_another_number(device, last_name, index):
    assert find_camera(device, CAMERAS, last_name) == index


@pytest.mark.parametrize("device", ["nothing", ""])
def test_an_unknown_camera_is_reported_with_the_connected_ones(device):
    with pytest.raises(SourceError, match=rf"camera '{device}'.*'HD Webcam' \(camera:0\), 'Überkamera' \(camera:4\)"):
        find_camera(device, CAMERAS)


@pytest.mark.parametrize(
    ("text", "asked", "address"),
    [
        ("camera:0", (0, None, None, None), "camera:0"),
        ("camera:0@1280x720", (0, 1280, 720, None), "camera:0@1280x720"),
        ("camera:2@1280x720@30", (2, 1280, 720, 30.0), "camera:2@1280x720@30"),
        ("camera:HD Webcam@640x480@29.97", ("HD Webcam", 640, 480, 29.97), "camera:HD Webcam@640x480@29.97"),
        ("camera:me@home", ("me@home", None, None, None), "camera:me@home"),
        ("camera:0@0x720", ("0@0x720", None, None, None), "camera:0@0x720"),
    ],
)
def test_an_address_can_request_a_size_and_a_rate(monkeypatch, text, asked, address):
    calls, device = [], FakeDevice(PICTURES[0])

    def opened(*arguments):
        calls.append(arguments)
        return device

    monkeypatch.setattr("scstream_app.sources.camera.open_device", opened)
    with open_source(text) as source:
        assert source.address == address
        device.feed(None)
    assert calls[0] == asked


def test_a_camera_number_with_many_digits_raises():
    with pytest.raises(SourceError, match=r"Cannot open camera 777777777\.\.\.: no such camera") as caught:
        open_source("camera:" + "7" * 5000)
    assert len(str(caught.value)) < 100


def test_a_missing_camera_raises(monkeypatch):
    monkeypatch.setattr(devices, "list_cameras", list)
    with pytest.raises(
        SourceError, match=r"Cannot open camera 'Sky': no connected camera has this name. Connected: none"
    ):
        open_source("camera:Sky")
    with pytest.raises(SourceError, match="Cannot open "):
        open_source("camera:97")
    assert camera_modes("Sky") == camera_modes(97) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has device nodes")
def test_a_camera_without_permission_raises(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda path: True)
    monkeypatch.setattr(devices.os, "access", lambda path, mode: False)
    with pytest.raises(SourceError, match=r"no permission for '/dev/video3'"):
        open_device(3)


def test_common_sizes_are_tried():
    def settle(width, height):
        return CameraMode(min(width, 1280), min(height, 720), 30.0)

    modes = tried_modes(settle)
    assert CameraMode(640, 480, 30.0) in modes
    assert modes[-1] == CameraMode(1280, 720, 30.0)
    assert len(modes) == len(set(modes))


@pytest.mark.skipif(sys.platform != "linux", reason="Video4Linux")
def test_linux_lists_the_modes(tmp_path):
    from scstream_app.sources import v4l2

    formats = [b"YUYV", b"MJPG"]
    sizes = {b"YUYV": [(640, 480)], b"MJPG": [(640, 480), (1920, 1080)]}
    intervals = {(640, 480): [(1, 30), (1, 15)], (1920, 1080): [(1001, 30000)]}

    def kernel(handle, request, entry):
        index, asked = struct.unpack_from("II", entry)
        try:
            if request == v4l2.ENUM_FORMATS:
                assert asked == 1
                entry[44:48] = formats[index]
            elif request == v4l2.ENUM_SIZES:
                struct.pack_into("III", entry, 8, 1, *sizes[asked.to_bytes(4, sys.byteorder)][index])
            else:
                struct.pack_into("III", entry, 16, 1, *intervals[struct.unpack_from("II", entry, 8)][index])
        except IndexError:
            raise OSError(22, "Invalid argument") from None

    node = tmp_path / "video0"
    node.touch()
    assert v4l2.modes(node, kernel) == {(640, 480, 30.0), (640, 480, 15.0), (1920, 1080, 29.97)}
    assert v4l2.modes(tmp_path / "nothing", kernel) == set()
    assert (v4l2.ENUM_FORMATS, v4l2.ENUM_SIZES, v4l2.ENUM_INTERVALS) == (0xC0405602, 0xC02C564A, 0xC034564B)


@pytest.mark.skipif(not list(Path("/dev").glob("video*")), reason="no camera is connected")
def test_real_camera():
    info = list_cameras()[0]
    assert camera_modes(info.index)
    with open_source(f"camera:{info.index}") as camera:
        frame = camera.read()
        assert frame.rgb.shape == (camera.height, camera.width, 3)
        assert camera.read().index == 1

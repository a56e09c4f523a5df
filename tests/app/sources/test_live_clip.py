"""A clip played as a camera: frames come at the clip's own rate, the newest wins, and the end ends or repeats it."""

from __future__ import annotations

import threading
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from helpers.clips import moving_square, write_video
from helpers.fake_source import FakeSource
from scstream_app.errors import SourceError
from scstream_app.sources import DamagedFrame, Frame, LiveClip, Source, open_source

PICTURES = moving_square(6)
#: Seconds between two frames of `FakeSource`.
STEP = 0.04


class Rig:
    """A clip that plays on a clock of its own; with ``gated``, each frame waits until the test lets it go."""

    def __init__(self, source: FakeSource, repeat: bool = False, gated: bool = False) -> None:
        self.now = 50.0
        self.waits: list[float] = []
        self.arrived, self.go = Event(), Event()
        self._gated = gated
        self.clip = LiveClip(source, repeat, clock=lambda: self.now, wait=self._wait)

    def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        if self._gated:
            self.arrived.set()
            assert self.go.wait(60.0)
            self.go.clear()

    def let_run(self) -> None:
        """Let the clip play without a halt."""
        self._gated = False
        self.go.set()

    def step(self) -> None:
        """Let the clip play until its next frame is due."""
        assert self.arrived.wait(60.0)
        self.arrived.clear()
        self.go.set()


def read_all(clip: Source, most: int = 100) -> list[Frame]:
    frames: list[Frame] = []
    while len(frames) < most and (frame := clip.read()) is not None:
        frames.append(frame)
    return frames


def test_frames_are_delivered_at_the_rate_of_the_clip() -> None:
    rig = Rig(FakeSource(PICTURES))
    with rig.clip as clip:
        read_all(clip)
    assert rig.waits == pytest.approx([STEP] * (len(PICTURES) - 1))


def test_a_slow_reader_gets_the_newest_frame_with_its_time_in_the_clip() -> None:
    rig = Rig(FakeSource(PICTURES), gated=True)
    with rig.clip as clip:
        first = clip.read()
        for _ in PICTURES[1:]:
            rig.step()
        rest = read_all_when_over(clip)
    assert first is not None
    assert (first.index, first.time) == (0, 0.0)
    assert [(frame.index, frame.time) for frame in rest] == [(1, pytest.approx(5 * STEP))]
    np.testing.assert_array_equal(rest[0].rgb, PICTURES[-1])
    assert clip.dropped == 4


def read_all_when_over(clip: LiveClip) -> list[Frame]:
    for thread in threading.enumerate():
        if thread.name == "scstream-live-clip":
            thread.join(60.0)
    return read_all(clip)


def test_a_repeated_clip_goes_on_with_increasing_times() -> None:
    rig = Rig(FakeSource(PICTURES[:3]), repeat=True, gated=True)
    with rig.clip as clip:
        frames = [clip.read()]
        for _ in range(6):
            rig.step()
            frames.append(clip.read())
        rig.let_run()
    got = [frame for frame in frames if frame is not None]
    assert [frame.time for frame in got] == pytest.approx([n * STEP for n in range(7)])
    for n, frame in enumerate(got):
        np.testing.assert_array_equal(frame.rgb, PICTURES[n % 3])


def test_damaged_frames_are_skipped() -> None:
    source = FakeSource([PICTURES[0], DamagedFrame("broken", 1), PICTURES[2]])
    rig = Rig(source, gated=True)
    with rig.clip as clip:
        first = clip.read()
        rig.step()
        second = clip.read()
        assert clip.read() is None
    assert [frame.time for frame in (first, second) if frame is not None] == pytest.approx([0.0, 2 * STEP])


@pytest.mark.parametrize(("prefix", "repeats"), [("live:", False), ("live-loop:", True)])
def test_an_address_plays_a_file_as_a_camera(tmp_path: Path, prefix: str, repeats: bool) -> None:
    path = write_video(tmp_path / "clip.mp4", PICTURES[:2], rate=50)
    with open_source(f"{prefix}{path}") as source:
        assert source.live
        assert source.length is None
        assert (source.name, source.address, source.rate) == ("clip.mp4", f"{prefix}{path}", 50.0)
        assert (source.height, source.width) == PICTURES[0].shape[:2]
        times = [frame.time for frame in read_all(source, most=4)]
    assert times == sorted(set(times))
    assert (len(times) == 4) is repeats


def test_a_missing_clip_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Cannot open"):
        open_source(f"live:{tmp_path / 'none.mp4'}")


def test_a_live_source_is_no_clip() -> None:
    with pytest.raises(SourceError, match="live source already"):
        LiveClip(FakeSource(PICTURES, live=True))

"""Live frames carry their time of capture, and stale ones are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import numpy as np
import pytest

from helpers.clips import moving_square
from helpers.fake_camera import CameraRig
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK
from scstream_app.pipeline.run import segment_frames

PICTURES = moving_square(8)


@pytest.fixture
def rig() -> Iterator[CameraRig]:
    rig = CameraRig()
    yield rig
    rig.let_go()


def test_a_frame_knows_when_it_was_captured(rig: CameraRig) -> None:
    device = rig.plug_in(PICTURES[0])
    begin = monotonic()
    with rig.open() as camera:
        first = camera.read()
        device.feed(PICTURES[1])
        second = camera.read()
        rig.let_go()
    assert first is not None
    assert second is not None
    # By time.monotonic, not by the camera's own clock.
    assert begin <= first.captured <= second.captured <= monotonic()


def test_results_keep_the_time_of_capture(rig: CameraRig) -> None:
    rig.plug_in(PICTURES[0])
    begin = monotonic()
    with rig.open() as camera:
        results = segment_frames(camera, QUICK.segmenter())
        result = next(results)
        results.close()
        rig.let_go()
    assert begin <= result.captured <= monotonic()


def test_frames_of_files_have_no_time_of_capture() -> None:
    source = FakeSource(PICTURES[:2])
    assert source.dropped == 0
    assert all(np.isnan(result.captured) for result in segment_frames(source, QUICK.segmenter()))


def test_stale_frames_are_skipped() -> None:
    old = iter([False, True, True, False, False])
    results = list(segment_frames(FakeSource(PICTURES[:5], live=True), QUICK.segmenter(), stale=lambda: next(old)))
    assert [result.index for result in results] == [0, 3, 4]
    np.testing.assert_array_equal(results[1].picture, PICTURES[3])

"""Looking at frames that are not segmented yet, and limiting the segmentation to the in and out point."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QSpinBox

from helpers.clips import write_images
from helpers.export_scenes import story
from scstream_app.session import Session, resume
from scstream_app.sources import open_source
from scstream_app.ui.document.state import State

pytestmark = pytest.mark.slow

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
LONG = 60_000
COUNT = 14


def colours(index):
    """Frame of two halves, whose colour says which frame it is."""
    frame = np.full((32, 48, 3), (40, 60, 10 * index), np.uint8)
    frame[:, 24:] = (220, 200, 10 * index)
    return frame


@pytest.fixture
def clip(tmp_path):
    return str(write_images(tmp_path / "clip", [colours(index) for index in range(COUNT)]))


@pytest.fixture
def waiting(qtbot, window, clip):
    """Window with a clip that waits for its segmentation to be started."""
    window.document.autostart = False
    window.open_address(clip)
    qtbot.waitUntil(lambda: window.document.state is State.PAUSED and window.document.display.index == 0, timeout=LONG)
    return window


def done(qtbot, window):
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)


def click(qtbot, window, frame):
    timeline = window.timeline
    QTest.mouseClick(timeline, LEFT, NONE, QPoint(round(timeline.x_of(frame)), timeline.height() - 20))
    qtbot.waitUntil(lambda: window.document.display.index == frame, timeout=LONG)


def blue(window):
    """Level of blue in the middle of the left half of the picture on the screen, which tells the frame."""
    image = window.viewer.grab().toImage()
    target = window.viewer.image_rect()
    return image.pixelColor(round(target.left() + target.width() / 4), round(target.center().y())).blue()


def label(window):
    found = window.viewer.findChild(QLabel, "unsegmented")
    return found.text() if found.isVisible() else ""


def start_button(window):
    return next(button for button in window.viewer.findChildren(QPushButton) if button.isVisible())


def start(qtbot, window):
    QTest.mouseClick(start_button(window), LEFT)


def test_frames_that_are_not_segmented_show_their_picture(qtbot, waiting):
    click(qtbot, waiting, 9)
    assert blue(waiting) == pytest.approx(90, abs=2)
    assert label(waiting) == "Frame 9 is not segmented yet"
    assert waiting.transport.findChild(QSpinBox, "frame").value() == 9
    QTest.keyClick(waiting, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: waiting.document.display.index == 10)
    assert blue(waiting) == pytest.approx(100, abs=2)
    # Segments appear when the run reaches the frame, also if the user stays there.
    start(qtbot, waiting)
    done(qtbot, waiting)
    assert label(waiting) == ""
    click(qtbot, waiting, 10)
    assert waiting.document.display.shown.segmented


def test_the_segmentation_goes_on_meanwhile(qtbot, waiting):
    """A frame ahead of the run stays on the screen and gets its segments in time; End goes to the newest frame."""
    document = waiting.document
    start(qtbot, waiting)
    qtbot.waitUntil(lambda: len(document.summary) >= 1, timeout=LONG)
    QTest.keyClick(waiting, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    click(qtbot, waiting, COUNT - 1)
    qtbot.waitUntil(lambda: ends_at_the_newest(waiting), timeout=LONG)
    assert label(waiting) == ""
    click(qtbot, waiting, COUNT - 1)
    QTest.keyClick(waiting, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    done(qtbot, waiting)
    qtbot.waitUntil(lambda: document.display.index == COUNT - 1 and document.display.shown.segmented, timeout=LONG)
    assert len(document.summary) == COUNT


def ends_at_the_newest(window):
    """Press End, whether the newest frame is shown then: the frame in progress still arrives during a pause."""
    QTest.keyClick(window, Qt.Key.Key_End)
    return window.document.display.index == window.document.summary.frames[-1]


def test_in_and_out_before_segmenting_limit_the_work(qtbot, waiting, tmp_path):
    click(qtbot, waiting, 4)
    QTest.keyClick(waiting, Qt.Key.Key_I)
    click(qtbot, waiting, 8)
    QTest.keyClick(waiting, Qt.Key.Key_O)
    assert start_button(waiting).text() == "Segment Frames 4 to 8"
    start(qtbot, waiting)
    done(qtbot, waiting)
    document = waiting.document
    assert list(document.summary.frames) == [4, 5, 6, 7, 8]
    manifest = document.session.manifest
    assert (manifest.start, manifest.stop, manifest.complete) == (4, 9, True)
    assert "out point, frame 8" in waiting.message.text
    # Frames outside of the range can still be looked at.
    click(qtbot, waiting, 12)
    assert blue(waiting) == pytest.approx(120, abs=2)
    assert label(waiting) == "Frame 12 is not segmented"
    waiting.player.set_in(10)
    waiting.player.set_out(12)
    assert waiting.player.range() is None, "no frame of the range can be exported"
    waiting.player.clear_range()
    waiting.actions_["segment_rest"].trigger()
    qtbot.waitUntil(lambda: len(document.summary) == COUNT - 4 and document.state is State.DONE, timeout=LONG)
    assert list(document.session.frames) == list(range(4, COUNT))
    assert document.session.manifest.stop is None
    assert not waiting.actions_["segment_rest"].isEnabled()


def test_a_run_ends_at_an_out_point_that_is_set_meanwhile(qtbot, waiting):
    document = waiting.document
    start(qtbot, waiting)
    qtbot.waitUntil(lambda: len(document.summary) >= 1, timeout=LONG)
    QTest.keyClick(waiting, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: document.state is State.PAUSED)
    before = document.session.frames[-1]
    waiting.player.set_out(COUNT - 3)
    QTest.keyClick(waiting, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    done(qtbot, waiting)
    assert document.summary.frames[-1] == max(COUNT - 3, before)
    assert document.session.manifest.stop == document.summary.frames[-1] + 1


def test_segmenting_again_takes_the_range(qtbot, window, clip):
    window.open_address(clip)
    done(qtbot, window)
    first = window.document.session.path
    window.player.set_in(3)
    window.player.set_out(6)
    window.actions_["restart"].trigger()
    qtbot.waitUntil(lambda: window.document.session is not None and window.document.session.path != first, timeout=LONG)
    done(qtbot, window)
    assert list(window.document.summary.frames) == [3, 4, 5, 6]
    # The view shows the range, and the timeline has room for the whole clip.
    assert (window.timeline.scale.first, window.timeline.scale.last) == (0, COUNT)


def test_an_interrupted_run_resumes_up_to_its_out_point(qtbot, waiting, tmp_path):
    document = waiting.document
    waiting.player.set_out(5)
    start(qtbot, waiting)
    qtbot.waitUntil(lambda: len(document.summary) >= 1, timeout=LONG)
    path = document.session.path
    document.close()
    qtbot.waitUntil(lambda: not document.run.busy, timeout=LONG)
    with Session.open(path, writable=True) as session, open_source(session.source_address) as source:
        for _ in resume(session, source, threads=1).run():
            pass
        assert list(session.frames) == list(range(6))
        assert session.manifest.complete


@pytest.mark.parametrize(("start", "stop"), [(0, 3), (2, None)])
def test_the_range_of_a_session_grows_but_loses_no_frame(finished_session, start, stop):
    path = finished_session(story((24, 32)))
    with Session.open(path, writable=True) as session:
        session.set_range(start, stop)
        assert session.manifest.start == 0
        assert session.manifest.stop == (None if stop is None else 5)
        assert session.manifest.complete == (stop is not None)

"""Zooming and scrolling the timeline with wheel, scroll bar and keys."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar

from helpers.export_scenes import result, split
from scstream_app.session import FrameRecord
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.state import State
from scstream_app.ui.timeline.time_scale import TimeScale
from scstream_app.ui.timeline.timeline import Timeline
from scstream_app.ui.timeline.timeline_painting import TOP

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
LONG = 36_000


def note(index, events=(), cut=False, segments=4):
    return FrameRecord(index, index / 30.0, cut, 0.0, {}, tuple(events), 0, 0, 0, segments, 0)


@pytest.fixture(scope="module")
def twenty_minutes():
    """Summary of 20 minutes at 30 frames a second, with a split on every tenth frame."""
    summary = RunSummary()
    segments = np.random.default_rng(0).integers(5, 60, LONG).tolist()
    for n in range(LONG):
        summary.add(note(n, [split(n, 0, n)] if n % 10 == 1 else (), n % 4000 == 3999, segments[n]))
    return summary


@pytest.fixture
def timeline(qtbot, document, twenty_minutes):
    document.summary, document.state = twenty_minutes, State.DONE
    return shown(qtbot, document, 1000)


@pytest.fixture
def clip(open_results):
    """Document of 30 frames."""
    ids = np.zeros((8, 8), np.int32)
    return open_results([result(i, ids, rgb=np.full((8, 8, 3), i, "u1")) for i in range(30)])


def shown(qtbot, document, width):
    made = Timeline(document, Player(document))
    qtbot.addWidget(made)
    made.resize(width, 120)
    with qtbot.waitExposed(made):
        made.show()
    return made


def wheel(widget, x, steps, modifiers=NONE, across=False):
    """Turn the wheel at a horizontal position."""
    place = QPointF(x, 60.0)
    delta = QPoint(120 * steps, 0) if across else QPoint(0, 120 * steps)
    event = QWheelEvent(
        place,
        widget.mapToGlobal(place),
        QPoint(),
        delta,
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def pixels(widget):
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).astype(int)


@pytest.mark.parametrize("modifiers", [NONE, Qt.KeyboardModifier.ControlModifier])
def test_the_wheel_zooms_at_the_cursor(timeline, modifiers):
    x = timeline.x_of(20_000)
    before = pixels(timeline)
    wheel(timeline, x, 10, modifiers)
    assert timeline.x_of(20_000) == pytest.approx(x, abs=1.0)
    assert timeline.x_of(20_001) - timeline.x_of(20_000) == pytest.approx(timeline.track().width() / LONG * 1.25**10)
    assert (before != pixels(timeline)).any()
    wheel(timeline, x, -10, modifiers)
    assert timeline.x_of(0) == pytest.approx(timeline.track().left(), abs=1.0)


def test_shift_and_a_sideways_wheel_scroll(timeline):
    wheel(timeline, 500, 12)
    width, x = timeline.scale.frame_width, timeline.x_of(18_000)
    wheel(timeline, 500, -2, Qt.KeyboardModifier.ShiftModifier)
    assert timeline.x_of(18_000) < x - 100
    wheel(timeline, 500, 2, across=True)
    assert timeline.x_of(18_000) == pytest.approx(x, abs=1.0)
    assert timeline.scale.frame_width == pytest.approx(width)


def test_a_scroll_bar_appears_and_scrolls(timeline):
    bar = timeline.findChild(QScrollBar)
    assert not bar.isVisible()
    wheel(timeline, 500, 12)
    assert bar.isVisible()
    assert bar.geometry().bottom() < timeline.height()
    first = timeline.index_at(timeline.track().left())
    # A click beside the handle moves by a page.
    QTest.mouseClick(bar, LEFT, NONE, QPoint(bar.width() - 2, bar.height() // 2))
    assert timeline.index_at(timeline.track().left()) == pytest.approx(first + timeline.scale.span, abs=2)


def test_a_double_click_shows_the_whole_clip(timeline):
    wheel(timeline, 500, 20)
    QTest.mouseDClick(timeline, LEFT, NONE, QPoint(500, 90))
    assert (timeline.index_at(0), timeline.index_at(5000)) == (0, LONG - 1)
    assert not timeline.findChild(QScrollBar).isVisible()


def test_other_widgets_hear_of_the_scale(qtbot, timeline):
    with qtbot.waitSignal(timeline.scale_changed):
        wheel(timeline, 500, 3)
    with qtbot.waitSignal(timeline.scale_changed):
        timeline.resize(900, 120)
    with qtbot.waitSignal(timeline.scale_changed):
        timeline.fit()


def test_wide_frames_are_divided_and_numbered_at_whole_frames(timeline):
    wheel(timeline, timeline.x_of(18_000), 80)
    assert timeline.scale.frame_width > 100
    track = timeline.track()
    inside = [n for n in range(17_990, 18_010) if track.left() <= timeline.x_of(n) <= track.right()]
    step, frames = timeline.scale.ruler(60.0)
    assert step == 1
    assert list(frames) == inside
    # Just above the lanes the ruler has a tick at the centre of each frame in view, and nothing else.
    row = pixels(timeline)[TOP - 1, track.left() : track.right()]
    marked = np.flatnonzero(np.abs(row - np.median(row, axis=0)).sum(axis=1) > 40)
    assert (marked + track.left()).tolist() == [round(timeline.x_of(n)) for n in inside]


def test_the_playhead_stays_in_view_in_playback(qtbot, clip):
    timeline = shown(qtbot, clip, 500)
    wheel(timeline, timeline.x_of(0), 20)
    assert timeline.scale.span == 4
    timeline._player.set_speed(4.0)
    timeline._player.play()
    seen = []
    clip.display.shown_changed.connect(lambda: seen.append(timeline.scale.shows(clip.display.index)))
    qtbot.waitUntil(lambda: clip.display.index == 29)
    assert all(seen)
    # The line of the playhead is painted in the view.
    x = round(timeline.x_of(29))
    assert (pixels(timeline)[TOP:60, x] != pixels(timeline)[TOP:60, x - 6]).any()


def test_a_user_who_looks_elsewhere_is_left_there(qtbot, clip):
    """In playback a view that does not show the playhead stays; a seek moves it to the playhead."""
    timeline = shown(qtbot, clip, 500)
    wheel(timeline, timeline.x_of(29), 20)
    begin = timeline.scale.begin
    timeline._player.play()
    qtbot.waitUntil(lambda: clip.display.index == 3)
    timeline._player.pause()
    assert timeline.scale.begin == begin
    timeline._player.step(1)
    qtbot.waitUntil(lambda: timeline.scale.shows(4))


def test_keys_of_the_window_zoom(qtbot, window):
    window.document.summary.extend(note(n) for n in range(500))
    window.document.progressed.emit()
    for id in ("timeline_in", "timeline_out", "timeline_fit"):
        window.actions_[id].setEnabled(True)
    whole = window.timeline.scale.span
    QTest.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.AltModifier)
    assert window.timeline.scale.span == pytest.approx(whole / 1.25**2)
    QTest.keyClick(window, Qt.Key.Key_Minus, Qt.KeyboardModifier.AltModifier)
    assert window.timeline.scale.span == pytest.approx(whole / 1.25)
    QTest.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.AltModifier)
    assert not window.timeline.scale.zoomed


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_reveal_moves_the_view_just_to_the_frame(margin):
    scale = TimeScale()
    scale.set_clip(0, 1000)
    scale.see(100, 200)
    assert scale.reveal(350, margin)
    assert scale.shows(350)
    assert scale.span == 100
    assert scale.reveal(20, margin)
    assert scale.shows(20)
    assert not scale.reveal(21, margin)

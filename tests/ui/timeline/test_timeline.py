"""Tests of the timeline and the playback controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QMouseEvent, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QSpinBox, QToolButton, QToolTip

from helpers.export_scenes import birth, death, merge, split
from scstream.sampler.genealogy import Kind
from scstream_app.session import FrameRecord, Names
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.document.state import State
from scstream_app.ui.timeline import timeline as timeline_module
from scstream_app.ui.timeline.timeline import Timeline
from scstream_app.ui.timeline.timeline_painting import CELL, StaticLayer
from scstream_app.ui.timeline.transport import Transport

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def note(index, events=(), cut=False, segments=4, rate=25.0):
    """Record of a frame as a session writes it."""
    return FrameRecord(index, index / rate, cut, 0.0, {}, tuple(events), 0, 0, 0, segments, 0)


@pytest.fixture
def player(story_document):
    return Player(story_document)


@pytest.fixture
def timeline(qtbot, story_document, player):
    """Timeline of five frames: a split (1, 3) at 2, a merge (0, 2) at 4."""
    return shown(qtbot, Timeline(story_document, player))


def shown(qtbot, timeline, width=700, height=120):
    qtbot.addWidget(timeline)
    timeline.resize(width, height)
    with qtbot.waitExposed(timeline):
        timeline.show()
    return timeline


def pixels(widget):
    """Pixels of the widget on the screen (H, W, 3)."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def on(timeline, kind, frame):
    return QPoint(round(timeline.x_of(frame)), round(timeline.y_of(kind)))


def below(timeline, frame):
    """Point on the curve."""
    return QPoint(round(timeline.x_of(frame)), timeline.height() - 20)


def move(widget, point, button=LEFT):
    place = QPointF(point)
    event = QMouseEvent(QEvent.Type.MouseMove, place, widget.mapToGlobal(place), Qt.MouseButton.NoButton, button, NONE)
    QApplication.sendEvent(widget, event)


# --- seeking


@pytest.mark.parametrize("frame", [0, 3, 4])
def test_a_click_shows_the_frame(qtbot, story_document, timeline, frame):
    QTest.mouseClick(timeline, LEFT, NONE, below(timeline, frame))
    qtbot.waitUntil(lambda: story_document.display.index == frame)
    assert not story_document.display.selection


def test_a_drag_scrubs(qtbot, story_document, timeline):
    QTest.mousePress(timeline, LEFT, NONE, below(timeline, 0))
    for frame in (1, 3, 2):
        move(timeline, below(timeline, frame))
        qtbot.waitUntil(lambda frame=frame: story_document.display.index == frame)
    move(timeline, QPoint(5000, 60))
    qtbot.waitUntil(lambda: story_document.display.index == 4)
    QTest.mouseRelease(timeline, LEFT, NONE, QPoint(5000, 60))
    move(timeline, below(timeline, 1), Qt.MouseButton.NoButton)
    with qtbot.assertNotEmitted(story_document.display.shown_changed, wait=50):
        pass


def test_playback_waits_while_one_scrubs(story_document, player, timeline):
    player.play()
    QTest.mousePress(timeline, LEFT, NONE, below(timeline, 1))
    assert not player.playing
    QTest.mouseRelease(timeline, LEFT, NONE, below(timeline, 1))
    assert player.playing
    player.pause()


@pytest.mark.parametrize(("kind", "frame", "ids"), [(Kind.SPLIT, 2, {1, 3}), (Kind.MERGE, 4, {0, 2})])
def test_a_click_on_a_mark_goes_there_and_selects(qtbot, story_document, timeline, kind, frame, ids):
    point = on(timeline, kind, frame) + QPoint(3, 2)
    drag_a_little = point + QPoint(2, 0)
    said: list[str] = []
    timeline.message.connect(said.append)
    QTest.mousePress(timeline, LEFT, NONE, point)
    move(timeline, drag_a_little)
    QTest.mouseRelease(timeline, LEFT, NONE, drag_a_little)
    qtbot.waitUntil(lambda: story_document.display.index == frame)
    assert story_document.display.selection == ids
    assert said == [f"Selected by this mark: segments {min(ids)} and {max(ids)}. Esc selects none."]


def test_beside_its_lane_a_mark_is_not_clicked(qtbot, story_document, timeline):
    QTest.mouseClick(timeline, LEFT, NONE, on(timeline, Kind.DEATH, 2))
    qtbot.waitUntil(lambda: story_document.display.index == 2)
    assert not story_document.display.selection


def test_clicks_on_lane_names_do_not_seek(qtbot, story_document, timeline):
    QTest.mouseClick(timeline, LEFT, NONE, QPoint(10, 60))
    with qtbot.assertNotEmitted(story_document.display.shown_changed, wait=50):
        pass


# --- painting


def test_every_kind_of_event_has_its_own_mark(qtbot, document, player):
    """The marks of the four lanes differ in colour and shape."""
    document.summary.extend([note(0), note(1, [birth(1, 8), split(1, 0, 9), merge(1, 0, 7), death(1, 5)]), note(2)])
    timeline = shown(qtbot, Timeline(document, player))
    screen = pixels(timeline)
    ratio = timeline.devicePixelRatioF()
    marks = []
    for kind in Kind:
        point = on(timeline, kind, 1) * ratio
        reach = round(5 * ratio)
        lane = screen[point.y() - reach : point.y() + reach + 1, point.x() - reach : point.x() + reach + 1].astype(int)
        ground = screen[point.y(), point.x() - 4 * reach].astype(int)
        marks.append((lane, np.abs(lane - ground).sum(axis=2) > 120))
    colours = [tuple(lane[ink].mean(axis=0).round().astype(int)) for lane, ink in marks]
    for n, (colour, (_, ink)) in enumerate(zip(colours, marks, strict=True)):
        assert ink.sum() > 10
        for other, (_, shape) in list(zip(colours, marks, strict=True))[n + 1 :]:
            assert np.abs(np.subtract(colour, other)).max() > 40
            assert (ink != shape).mean() > 0.1


def test_the_bar_fills_as_segmentation_goes_on(qtbot, story_document, timeline):
    story_document.state = State.SEGMENTING
    story_document.summary = type(story_document.summary)()
    story_document.opened.emit()
    filled = []
    for index in range(3):
        story_document.summary.add(note(index))
        story_document.progressed.emit()
        row = pixels(timeline)[-3].astype(int)
        accent = np.array(timeline.palette().color(QPalette.ColorRole.Highlight).getRgb()[:3])
        filled.append(int((np.abs(row - accent).max(axis=1) < 3).sum()))
    assert timeline.index_at(5000) == 4, "there is room for the whole source"
    assert filled[2] - filled[1] == pytest.approx(filled[1] - filled[0], abs=2)
    assert filled[0] > 50


def test_growing_bit_by_bit_gives_the_same_picture_as_at_once(qtbot, document, player):
    """Drawing frame by frame gives the same picture as drawing all frames at once."""
    rng = np.random.default_rng(0)
    timeline = shown(qtbot, Timeline(document, player))
    for index in range(400):
        events = [split(index, 0, 1000 + index)] if rng.random() < 0.1 else []
        events += [death(index, 3000 + index)] if rng.random() < 0.05 else []
        document.summary.add(note(index, events, index % 90 == 89, int(rng.integers(5, 25))))
        document.progressed.emit()
        if index % 7 == 0:
            timeline.findChild(PanelRefresh).come.emit()
            timeline.repaint()
    grown = pixels(timeline)
    QApplication.sendEvent(timeline, QEvent(QEvent.Type.StyleChange))
    assert np.abs(grown.astype(int) - pixels(timeline)).max() <= 8


def test_a_scene_cut_is_a_line_and_can_be_hit(qtbot, document, player):
    document.summary.extend([note(index, cut=index == 5000) for index in range(10_000)])
    timeline = shown(qtbot, Timeline(document, player))
    assert "Scene cut" in timeline.text_at(QPointF(below(timeline, 5000)))
    screen, x = pixels(timeline).astype(int), round(timeline.x_of(5000) * timeline.devicePixelRatioF())
    column, beside = screen[20:100, x - 1 : x + 1].min(axis=1), screen[20:100, x - 12]
    assert (np.abs(column - beside).max(axis=1) > 25).all()


def test_light_and_dark(timeline):
    light = pixels(timeline)
    palette = QPalette(QColor(40, 40, 44))
    timeline.setPalette(palette)
    dark = pixels(timeline)
    assert light.mean() > 180
    assert dark.mean() < 90


def test_the_range_is_shaded(player, timeline):
    before = pixels(timeline)
    player.set_in(1)
    player.set_out(3)
    after = pixels(timeline)
    y, ratio = below(timeline, 0).y(), timeline.devicePixelRatioF()
    for frame, changed in ((0, True), (2, False), (4, True)):
        # Right of the frame's centre, where the playhead may be.
        x = round((timeline.x_of(frame) + 20) * ratio)
        assert (before[round(y * ratio), x] != after[round(y * ratio), x]).any() == changed


def test_nothing_is_open(qtbot, document):
    player = Player(document)
    timeline = shown(qtbot, Timeline(document, player))
    assert timeline.text_at(QPointF(300, 50)) == ""
    QTest.mouseClick(timeline, LEFT, NONE, QPoint(300, 50))
    assert pixels(timeline).std() > 0


# --- tooltips


def test_tooltips_describe_events(story_document, timeline):
    story_document.set_names(Names(names={3: "sail"}))
    text = timeline.text_at(QPointF(on(timeline, Kind.SPLIT, 2)))
    assert text == "Frame 2 · 00:00.080\nSegment 1 splits: sail is new (log Hastings ratio +5.0)"
    assert "Segment 2 merges into 0 (log" in timeline.text_at(QPointF(on(timeline, Kind.MERGE, 4)))
    assert timeline.text_at(QPointF(below(timeline, 1))) == "Frame 1 · 00:00.040\n3 segments"


def test_tooltip(qtbot, timeline):
    point = on(timeline, Kind.SPLIT, 2)
    QApplication.sendEvent(timeline, QHelpEvent(QEvent.Type.ToolTip, point, timeline.mapToGlobal(point)))
    assert "splits" in QToolTip.text()
    QToolTip.hideText()


# --- long videos


def test_new_frames_redraw_only_the_right_end_of_a_long_timeline(qtbot, document, player, monkeypatch):
    document.state, document.summary = State.SEGMENTING, type(document.summary)()
    document.facts = replace(document.facts, length=120_000)
    document.summary.extend([note(index, [split(index, 0, index)] if index % 3 else ()) for index in range(100_000)])
    drawn_from = []

    class CountingLayer(StaticLayer):
        def draw(self, left):
            drawn_from.append(left)
            super().draw(left)

    monkeypatch.setattr(timeline_module, "StaticLayer", CountingLayer)
    timeline = shown(qtbot, Timeline(document, player), 1600)
    drawn_from.clear()
    for index in range(100_000, 100_020):
        document.summary.add(note(index, [split(index, 0, index)]))
        document.progressed.emit()
        timeline.findChild(PanelRefresh).come.emit()
        timeline.repaint()
    assert len(drawn_from) == 20
    assert min(drawn_from) > timeline.x_of(100_000) - 3 * CELL


# --- transport


@pytest.fixture
def transport(qtbot, story_document, player):
    made = Transport(story_document, player)
    qtbot.addWidget(made)
    made.resize(900, made.sizeHint().height())
    with qtbot.waitExposed(made):
        made.show()
    return made


def press(transport, name):
    QTest.mouseClick(transport.findChild(QToolButton, name), LEFT)


def test_buttons_move(qtbot, story_document, transport):
    for name, index in (("next", 1), ("end", 4), ("previous", 3), ("back", 0), ("forward", 4), ("start", 0)):
        press(transport, name)
        qtbot.waitUntil(lambda index=index: story_document.display.index == index)


def test_the_play_button_shows_whether_it_plays(player, transport):
    play = transport.findChild(QToolButton, "play")
    still = play.icon().pixmap(18).toImage()
    assert play.toolTip() == "Play (Space)"
    press(transport, "play")
    assert player.playing
    assert play.toolTip() == "Pause (Space)"
    assert play.icon().pixmap(18).toImage() != still
    press(transport, "play")
    assert not player.playing


def test_the_time_and_the_frame_are_shown(qtbot, story_document, player, transport):
    player.seek(3)
    qtbot.waitUntil(lambda: story_document.display.index == 3)
    texts = [label.text() for label in transport.findChildren(QLabel) if label.isVisible()]
    # The frame number appears once, and counts from 0 as the range beside it does.
    assert {text for text in texts if ":" not in text} == {"Frame", "of 0 – 4"}
    assert any(text.startswith("00:00.120 / ") for text in texts)
    assert transport.findChild(QSpinBox, "frame").value() == 3


def test_the_first_frame_has_its_number_while_it_is_analysed(story_document, transport):
    shown = story_document.display.shown
    draft = replace(shown.result, index=5, statistics=shown.result.statistics[:0])
    story_document.display.shown = replace(shown, result=draft)
    story_document.display.shown_changed.emit()
    assert transport.findChild(QSpinBox, "frame").value() == 5
    assert "of 0 – 5" in [label.text() for label in transport.findChildren(QLabel) if label.isVisible()]


def test_a_typed_number_is_shown(qtbot, story_document, transport):
    box = transport.findChild(QSpinBox, "frame")
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "4")
    QTest.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: story_document.display.index == 4)
    assert not box.hasFocus()


def test_speed_and_loop_go_both_ways(player, transport):
    speed, loop = transport.findChild(QComboBox, "speed"), transport.findChild(QToolButton, "loop")
    player.faster()
    assert speed.currentText() == "1.5×"
    speed.setFocus()
    QTest.keyClick(speed, Qt.Key.Key_Down)
    assert player.speed == 2.0
    press(transport, "loop")
    assert player.loop
    player.set_loop(False)
    assert not loop.isChecked()


def test_in_and_out_points_are_shown(qtbot, story_document, player, transport):
    clear = transport.findChild(QToolButton, "clear")
    assert not clear.isVisible()
    player.seek(1)
    qtbot.waitUntil(lambda: story_document.display.index == 1)
    press(transport, "in")
    player.seek(3)
    qtbot.waitUntil(lambda: story_document.display.index == 3)
    press(transport, "out")
    assert player.range() == (1, 3)
    assert "1 – 3" in [label.text() for label in transport.findChildren(QLabel)]
    press(transport, "clear")
    assert player.range() is None
    assert not clear.isVisible()


def test_nothing_can_be_pressed_when_nothing_is_open(story_document, transport):
    story_document.close()
    assert not any(button.isEnabled() for button in transport.findChildren(QToolButton))


def test_every_button_has_a_name_and_shows_its_shortcut(transport):
    for button in transport.findChildren(QToolButton):
        assert button.accessibleName()
        assert button.toolTip()
        assert not button.icon().isNull()

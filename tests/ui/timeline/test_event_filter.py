"""Events limited to kinds, segments or an object: marks, table, N and P, and the chip that clears the filter."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QMenu, QToolButton

from helpers.export_scenes import birth, death, merge, result, split
from scstream.sampler.genealogy import Kind
from scstream_app.session import MarkedObject
from scstream_app.ui.document.state import State
from scstream_app.ui.timeline.timeline_painting import LANE

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
LONG = 60_000
#: Segment 1 splits at 2 into 1 and 5, which splits at 4; 2 dies at 6; 3 is born at 7; 0 absorbs 6 at 8.
EVENTS = {2: [split(2, 1, 5)], 4: [split(4, 5, 6)], 6: [death(6, 2)], 7: [birth(7, 3)], 8: [merge(8, 0, 6)]}


@pytest.fixture
def window(qtbot, window, finished_session):
    """Window with ten frames."""
    ids = np.arange(7, dtype=np.int32).repeat(3)[None, :].repeat(8, 0)
    results = [result(n, ids, EVENTS.get(n, ())) for n in range(10)]
    window.open_address(str(finished_session(results)))
    qtbot.waitUntil(lambda: window.document.state is State.DONE and window.document.display.index == 0, timeout=LONG)
    return window


def chip(window):
    found = window.timeline.findChild(QToolButton, "eventFilter")
    return found if found.isVisible() else None


def marked(window):
    """Frames at which each lane has a mark on the screen, by kind."""
    timeline = window.timeline
    image = timeline.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    ratio, reach, found = image.width() / timeline.width(), LANE // 2 - 2, {}
    for kind in Kind:
        for frame in range(1, 10):
            x, y = timeline.x_of(frame), timeline.y_of(kind)
            square = [
                image.pixelColor(round((x + dx) * ratio), round((y + dy) * ratio))
                for dx in range(-reach, reach + 1)
                for dy in (-reach, 0, reach)
            ]
            if any(colour.saturation() > 90 for colour in square):
                found.setdefault(kind, []).append(frame)
    return found


def listed(window):
    """Frames in the table of events."""
    window.statistics.events.refresh()
    model = window.statistics.events.model
    return [int(model.index(row, 0).data()) for row in range(model.rowCount())]


def visit(qtbot, window, key, frames):
    """Press a key again and again; it goes to these frames."""
    for frame in frames:
        QTest.keyClick(window, key)
        qtbot.waitUntil(lambda frame=frame: window.document.display.index == frame, timeout=LONG)


def click_name(window, kind):
    QTest.mouseClick(window.timeline, LEFT, NONE, QPoint(30, round(window.timeline.y_of(kind))))


def test_a_click_on_a_name_hides_its_events(qtbot, window):
    everything = {Kind.SPLIT: [2, 4], Kind.DEATH: [6], Kind.BIRTH: [7], Kind.MERGE: [8]}
    assert marked(window) == everything
    assert chip(window) is None
    click_name(window, Kind.SPLIT)
    click_name(window, Kind.BIRTH)
    assert marked(window) == {Kind.DEATH: [6], Kind.MERGE: [8]}
    assert listed(window) == [6, 8]
    assert chip(window).text() == "Merges and deaths  ×"
    visit(qtbot, window, Qt.Key.Key_N, [6, 8, 8])
    visit(qtbot, window, Qt.Key.Key_P, [6, 6])
    QTest.mouseClick(chip(window), LEFT)
    assert chip(window) is None
    assert marked(window) == everything
    assert listed(window) == [2, 4, 6, 7, 8]


def test_a_hidden_name_is_pale_and_its_tip_shows_the_way_back(window):
    timeline = window.timeline
    point = QPointF(30, timeline.y_of(Kind.DEATH))
    assert timeline.text_at(point) == "Click to hide deaths"
    click_name(window, Kind.DEATH)
    assert timeline.text_at(point) == "Click to show deaths"
    click_name(window, Kind.DEATH)
    assert timeline.text_at(point) == "Click to hide deaths"


def test_only_events_of_the_selected_segments(qtbot, window):
    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    assert chip(window) is None, "nothing is selected"
    window.document.display.select({5, 2})
    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    assert chip(window).text() == "Events of 2 segments  ×"
    assert listed(window) == [2, 4, 6]
    # A click on a mark selects its segments; the filter stays.
    timeline = window.timeline
    QTest.mouseClick(timeline, LEFT, NONE, QPoint(round(timeline.x_of(6)), round(timeline.y_of(Kind.DEATH))))
    qtbot.waitUntil(lambda: window.document.display.index == 6, timeout=LONG)
    assert window.document.display.selection == {2}
    assert listed(window) == [2, 4, 6]
    visit(qtbot, window, Qt.Key.Key_P, [4, 2])
    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    assert listed(window) == [2, 4, 6, 7, 8]


def test_only_events_of_an_object(window):
    """The events of an object include those of segments that split off from its own."""
    window.document.set_objects([MarkedObject.made("kite", (230, 160, 0), 0, {1})])
    timeline = window.timeline
    where = QPoint(round(timeline.x_of(3)), timeline.height() // 2)
    place = timeline.mapToGlobal(where)
    QApplication.sendEvent(timeline, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, place))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    events = next(action.menu() for action in menu.actions() if action.text() == "Show Events")
    next(action for action in events.actions() if action.text() == "Of 'kite' Only").trigger()
    menu.close()
    assert chip(window).text() == "Events of 'kite'  ×"
    assert listed(window) == [2, 4, 8]
    click_name(window, Kind.MERGE)
    assert chip(window).text() == "Births, splits and deaths of 'kite'  ×"
    assert marked(window) == {Kind.SPLIT: [2, 4]}


def test_the_table_has_the_same_filter(window):
    kinds, subject = window.statistics.events.findChildren(QComboBox)
    # Letters are shortcuts of the window.
    for _ in range(2):
        QTest.keyClick(kinds, Qt.Key.Key_Down)
    window.document.display.select({6})
    QTest.keyClick(subject, Qt.Key.Key_Down)
    assert listed(window) == [4]
    assert chip(window).text() == "Splits of segment 6  ×"
    click_name(window, Kind.MERGE)
    assert kinds.currentIndex() == -1
    assert kinds.placeholderText() == "Splits and merges"
    QTest.mouseClick(chip(window), LEFT)
    assert (kinds.currentText(), subject.currentText()) == ("All events", "All segments")


def test_another_clip_has_no_filter(window):
    click_name(window, Kind.MERGE)
    window.document.close()
    assert not window.document.event_filter.active
    assert chip(window) is None

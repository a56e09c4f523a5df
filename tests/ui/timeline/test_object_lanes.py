"""Lanes of objects: their edits as keys that are visited, moved, deleted and changed; area and confidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QHelpEvent, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolTip, QTreeWidget
from pytestqt.qtbot import QtBot

from helpers.mouse import drag_along
from helpers.object_clips import square_at
from helpers.object_window import LONG, go_to, halves, masks, open_clip
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.session import Session
from scstream_app.ui.document.objects.object_confidence import ObjectCurve
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.timeline.lanes.lane_keys import BESIDE, HALF, LANE, MIDDLE
from scstream_app.ui.timeline.lanes.lane_rows import LaneRows
from scstream_app.ui.timeline.lanes.object_lanes_painting import per_pixel
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

COUNT = 16
LEFT, RIGHT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier
KITE = MarkedObject(
    "kite", (230, 160, 0), (ObjectEdit("made", 0, {1}), ObjectEdit("added", 6, {3}), ObjectEdit("removed", 10, {3}))
)
SAIL = MarkedObject.made("sail", (20, 90, 220), 2, {2})


@pytest.fixture
def clip(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """A clip with two objects."""
    open_clip(window, qtbot, finished_session(halves(COUNT)))
    window.document.set_objects([KITE, SAIL])
    qtbot.waitUntil(lambda: window.lanes.isVisible() and window.lanes.rows.width() > 100, timeout=LONG)
    return window


def at(window: MainWindow, frame: int, lane: int = 0) -> QPoint:
    """The place of a key."""
    return QPoint(round(window.timeline.x_of(frame)), LANE * lane + MIDDLE)


def move_to(rows: LaneRows, point: QPoint, buttons: Qt.MouseButton = LEFT) -> None:
    place = QPointF(point)
    event = QMouseEvent(QEvent.Type.MouseMove, place, rows.mapToGlobal(place), Qt.MouseButton.NoButton, buttons, NONE)
    QApplication.sendEvent(rows, event)


def drag(window: MainWindow, frame: int, to: int, lane: int = 0) -> None:
    rows = window.lanes.rows
    QTest.mousePress(rows, LEFT, NONE, at(window, frame, lane))
    move_to(rows, (at(window, frame, lane) + at(window, to, lane)) / 2)
    move_to(rows, at(window, to, lane))
    QTest.mouseRelease(rows, LEFT, NONE, at(window, to, lane))


def edits(window: MainWindow, lane: int = 0) -> list[tuple[str, int]]:
    """Kind and frame of the edits as the session has them."""
    return [(edit.kind, edit.frame) for edit in window.document.session.objects[lane].edits]


def said(window: MainWindow) -> str:
    return window.viewer.findChild(Toast).text()


def tip(rows: LaneRows, point: QPoint) -> str:
    QToolTip.hideText()
    QApplication.sendEvent(rows, QHelpEvent(QEvent.Type.ToolTip, point, rows.mapToGlobal(point)))
    return QToolTip.text()


def choose(window: MainWindow, point: QPoint, text: str) -> None:
    """Choose an entry of the context menu at a point."""
    rows = window.lanes.rows
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(rows, QContextMenuEvent(reason, point, rows.mapToGlobal(point)))
    (menu,) = (found for found in rows.findChildren(QMenu) if found.isVisible())
    (action,) = (found for found in menu.actions() if found.text().partition("\t")[0] == text)
    QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())


def pixels(rows: LaneRows) -> np.ndarray:
    image = rows.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return lines[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).astype(int)


# --- mouse


def test_a_click_on_a_key_goes_to_its_frame_and_highlights_the_object(clip: MainWindow, qtbot: QtBot) -> None:
    rows, tree = clip.lanes.rows, clip.objects.findChild(QTreeWidget)
    QTest.mouseClick(rows, LEFT, NONE, at(clip, 6))
    qtbot.waitUntil(lambda: clip.document.display.index == 6, timeout=LONG)
    assert tree.currentItem().text(0) == "kite"
    QTest.mouseClick(rows, LEFT, NONE, at(clip, 2, lane=1))
    qtbot.waitUntil(lambda: clip.document.display.index == 2, timeout=LONG)
    assert tree.currentItem().text(0) == "sail"
    # Beside the keys, a lane is a part of the timeline.
    QTest.mouseClick(rows, LEFT, NONE, at(clip, 13, lane=1))
    qtbot.waitUntil(lambda: clip.document.display.index == 13, timeout=LONG)
    assert tip(rows, at(clip, 6)) == "kite\nAdded on frame 6\nHolds from frame 6 on\n1 segment"
    assert edits(clip) == [("made", 0), ("added", 6), ("removed", 10)]


def test_a_key_is_dragged_to_another_frame(clip: MainWindow, qtbot: QtBot) -> None:
    before = masks(clip, qtbot)
    drag(clip, 10, 13)
    assert edits(clip) == [("made", 0), ("added", 6), ("removed", 13)]
    assert masks(clip, qtbot)[:10] == before[:10]
    assert clip.document.undo.undoText() == "Move edit of object 'kite' to frame 13"
    qtbot.keyClick(clip, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert clip.document.session.objects == (KITE, SAIL)
    # Segment 3 is born on frame 4.
    drag(clip, 6, 2)
    assert edits(clip) == [("made", 0), ("added", 6), ("removed", 10)]
    assert said(clip) == "The edit stays on frame 6: segment 3 did not exist on frame 2."


def test_escape_cancels_a_drag(clip: MainWindow, qtbot: QtBot) -> None:
    rows = clip.lanes.rows
    QTest.mousePress(rows, LEFT, NONE, at(clip, 10))
    move_to(rows, at(clip, 13))
    qtbot.keyClick(rows, Qt.Key.Key_Escape)
    QTest.mouseRelease(rows, LEFT, NONE, at(clip, 13))
    assert clip.document.objects == (KITE, SAIL)
    qtbot.waitUntil(lambda: clip.document.display.index == 10, timeout=LONG)


def test_the_menu_deletes_an_edit_and_changes_its_reach(clip: MainWindow, qtbot: QtBot) -> None:
    choose(clip, at(clip, 10), "Everywhere")
    assert edits(clip) == [("made", 0)]
    clip.document.undo.undo()
    choose(clip, at(clip, 10), "This frame only")
    assert clip.document.session.objects[0].edits[2] == ObjectEdit("removed", 10, {3}, stop=11)
    assert "Holds on this frame only" in tip(clip.lanes.rows, at(clip, 10))
    choose(clip, at(clip, 10), "Delete Edit")
    assert said(clip) == "Edit of object 'kite' on frame 10 deleted."
    assert edits(clip) == [("made", 0), ("added", 6)]
    choose(clip, at(clip, 2, lane=1), "Delete Edit")
    assert said(clip) == "Object 'sail' deleted with its last edit."
    assert clip.lanes.height() == LANE
    for _ in range(3):
        clip.document.undo.undo()
    assert clip.document.session.objects == (KITE, SAIL)


def test_painted_edits_are_keys_too(clip: MainWindow, qtbot: QtBot) -> None:
    mask = np.zeros((40, 64), bool)
    mask[:16, :16] = square_at(0)[12:28, 4:20]
    painted = ObjectEdit("painted", 8, {0}, mask_to_png(mask))
    clip.document.set_objects([KITE.with_edits([*KITE.edits, painted]), SAIL])
    rows = clip.lanes.rows
    assert tip(rows, at(clip, 8)) == "kite\nPainted or erased on frame 8\nHolds from frame 8 on"
    drag(clip, 8, 12)
    assert edits(clip)[-1] == ("painted", 12)
    choose(clip, at(clip, 12), "Delete Edit")
    assert clip.document.objects == (KITE, SAIL)


def test_the_line_of_an_edit_that_ends_is_explained(clip: MainWindow) -> None:
    ended = ObjectEdit("added", 6, {3}, stop=12)
    clip.document.set_objects([KITE.with_edits([KITE.edits[0], ended]), SAIL])
    rows = clip.lanes.rows
    about = "kite\nAdded on frame 6\nHolds on frames 6 to 11\n1 segment"
    assert tip(rows, at(clip, 6)) == about
    for frame in (8, 11):
        assert tip(rows, at(clip, frame)) == f"{about}\nThe line shows these frames, the bar the last of them"
    assert "Frame 13" in tip(rows, at(clip, 13))


def test_keys_of_one_frame_lie_on_one_plate(clip: MainWindow) -> None:
    mask = np.zeros((40, 64), bool)
    mask[10:26, 8:20] = True
    painted = ObjectEdit("painted", 6, {0}, mask_to_png(mask))
    rows = clip.lanes.rows
    left, right = at(clip, 6) + QPoint(-9, 0), at(clip, 6) + QPoint(BESIDE + 9, 0)
    clip.document.set_objects([KITE.with_edits([painted, ObjectEdit("removed", 10, {3})]), SAIL])
    apart = pixels(rows)
    clip.document.set_objects([KITE.with_edits([painted, ObjectEdit("removed", 6, {3})]), SAIL])
    together = pixels(rows)
    row = MIDDLE - HALF - 1
    plate = together[row, left.x() + 6]
    # About one colour from key to key, above both, which is not that of the lane.
    assert np.median(np.abs(together[row, left.x() + 6 : right.x() - 6] - plate)) < 10
    assert np.median(np.abs(apart[row, left.x() + 6 : right.x() - 6] - plate)) > 10
    assert "Removed on frame 6" in tip(rows, at(clip, 6) + QPoint(BESIDE, 0))


def test_the_playhead_makes_no_plus_of_a_minus(clip: MainWindow, qtbot: QtBot) -> None:
    rows, centre = clip.lanes.rows, at(clip, 10)
    sign = np.s_[centre.y() - 4 : centre.y() + 5, centre.x() - 1 : centre.x() + 2]
    go_to(clip, qtbot, 3)
    before = pixels(rows)[sign]
    go_to(clip, qtbot, 10)
    qtbot.waitUntil(lambda: rows.head == clip.timeline.x_of(10), timeout=LONG)
    np.testing.assert_array_equal(pixels(rows)[sign], before)


# --- keyboard


def test_space_moves_the_picture_under_the_mouse_whatever_has_the_focus(clip: MainWindow, qtbot: QtBot) -> None:
    rows, viewer = clip.lanes.rows, clip.viewer
    QTest.mouseClick(rows, LEFT, NONE, at(clip, 6))
    qtbot.waitUntil(lambda: clip.document.display.index == 6, timeout=LONG)
    assert rows.hasFocus()
    centre = QPointF(viewer.rect().center())
    QApplication.sendEvent(viewer, QEnterEvent(centre, centre, QPointF(viewer.mapToGlobal(centre))))
    with qtbot.assertNotEmitted(clip.actions_["play"].triggered):
        QTest.keyPress(rows, Qt.Key.Key_Space)
        assert viewer.hasFocus()
        drag_along(viewer, [viewer.rect().center() + QPoint(10 * step, 0) for step in range(4)])
        QTest.keyRelease(viewer, Qt.Key.Key_Space)
    assert clip.document.display.index == 6
    assert not clip.actions_["play"].autoRepeat()


def test_the_lanes_are_used_by_keys(clip: MainWindow, qtbot: QtBot) -> None:
    go_to(clip, qtbot, 3)
    rows = clip.lanes.rows
    rows.setFocus(Qt.FocusReason.TabFocusReason)
    assert rows.accessibleDescription().startswith("kite: Made on frame 0, Holds from frame 0 on, 1 segment.")
    plain = pixels(rows)
    qtbot.keyClick(rows, Qt.Key.Key_Right)
    qtbot.keyClick(rows, Qt.Key.Key_Right)
    # The focus is visible around the chosen key.
    x = at(clip, 10).x()
    assert (pixels(rows)[:, x - 12 : x + 12] != plain[:, x - 12 : x + 12]).any()
    assert clip.document.display.index == 3
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: clip.document.display.index == 10, timeout=LONG)
    qtbot.keyClick(rows, Qt.Key.Key_Delete)
    assert edits(clip) == [("made", 0), ("added", 6)]
    qtbot.keyClick(rows, Qt.Key.Key_Down)
    qtbot.keyClick(rows, Qt.Key.Key_Enter)
    qtbot.waitUntil(lambda: clip.document.display.index == 2, timeout=LONG)
    assert clip.objects.current == "sail"


def test_after_a_click_beside_the_keys_the_arrows_step_through_the_frames(clip: MainWindow, qtbot: QtBot) -> None:
    QTest.mouseClick(clip.lanes.rows, LEFT, NONE, at(clip, 13))
    qtbot.waitUntil(lambda: clip.document.display.index == 13, timeout=LONG)
    qtbot.keyClick(clip.lanes.rows, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: clip.document.display.index == 14, timeout=LONG)
    assert clip.document.objects == (KITE, SAIL)


# --- what is shown


def test_frames_that_are_not_tracked_are_blank(clip: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    masks(clip, qtbot)
    rows = clip.lanes.rows
    qtbot.waitUntil(lambda: len(clip.document.tracking.curves.frames) == COUNT, timeout=LONG)
    go_to(clip, qtbot, 0)
    whole = pixels(rows)
    x8, x12 = at(clip, 8).x(), at(clip, 12).x()
    # The area is painted in the object's colour, the confidence on the lower edge.
    assert (np.abs(whole[3:20, x8] - (230, 160, 0)).sum(axis=1) < 200).any()
    assert tip(rows, at(clip, 8, 1) + QPoint(0, 12)).startswith("sail\nFrame 8: 160 pixels, confidence: ")
    monkeypatch.setattr(Session, "store_object_masks", lambda *_: None)
    clip.document.set_objects([KITE.with_edits([*KITE.edits, ObjectEdit("removed", 9, {1})]), SAIL])
    qtbot.waitUntil(lambda: len(clip.document.tracking.curves.frames) == 9, timeout=LONG)
    part = pixels(rows)
    np.testing.assert_array_equal(part[:, x8], whole[:, x8])
    assert len(np.unique(part[: LANE - 1, x12], axis=0)) == 1
    assert tip(rows, at(clip, 12, 1)) == "sail\nFrame 12: not tracked yet"


def test_many_objects_scroll_and_none_take_one_lane(clip: MainWindow, qtbot: QtBot) -> None:
    clip.document.set_objects([MarkedObject.made(f"object {n}", (9, 9, 9), n, {n}) for n in range(7)])
    qtbot.waitUntil(lambda: clip.lanes.rows.height() == 7 * LANE, timeout=LONG)
    assert clip.lanes.height() == 4 * LANE
    assert clip.lanes.verticalScrollBar().maximum() == 3 * LANE
    rows = clip.lanes.rows
    rows.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(6):
        qtbot.keyClick(rows, Qt.Key.Key_Down)
    assert clip.lanes.verticalScrollBar().value() == 3 * LANE
    clip.document.set_objects([])
    qtbot.waitUntil(lambda: clip.lanes.rows.height() == LANE, timeout=LONG)
    place = clip.viewer.geometry()
    clip.document.set_objects([KITE])
    qtbot.waitUntil(lambda: len(np.unique(pixels(clip.lanes.rows).reshape(-1, 3), axis=0)) > 10, timeout=LONG)
    assert clip.viewer.geometry() == place
    clip.document.close()
    assert not clip.lanes.isVisible()


def test_a_column_of_several_frames_shows_the_largest_area_and_the_lowest_confidence() -> None:
    values = np.array([5.0, 1.0, 9.0, 2.0, 4.0, 3.0], np.float32)
    curve = ObjectCurve(np.array([2, 3, 4, 5, 8, 9]), values, values / 10)
    areas, confidences = per_pixel(curve, np.array([0.0, 2.0, 4.0, 6.0, 8.0, 10.0]))
    np.testing.assert_allclose(areas, [np.nan, 5.0, 9.0, np.nan, 4.0])
    np.testing.assert_allclose(confidences, [np.nan, 0.1, 0.2, np.nan, 0.3], atol=1e-6)
    # Frames that are wider than a pixel.
    areas, _ = per_pixel(curve, np.array([4.0, 4.4, 4.8, 5.2, 5.6, 6.0]))
    np.testing.assert_allclose(areas, [9.0, 9.0, 9.0, 2.0, 2.0])

"""Selecting in the viewer: dragging over segments, moving the picture, and the moving outline of the selection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QEnterEvent, QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from helpers.export_scenes import result
from helpers.mouse import drag_along, move, press, release
from scstream_app.session import MarkedObject
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.viewer.viewer import Viewer

SHAPE = (48, 64)
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
RIGHT = Qt.MouseButton.RightButton


@pytest.fixture
def viewer(qtbot: QtBot, open_results: Callable[..., Document]) -> Viewer:
    """White frame of 48 by 64 whose segments are four columns, 0 to 3, of 16 pixels each."""
    ids = np.repeat(np.arange(4), 16)[None].repeat(48, axis=0)
    made = Viewer(open_results([result(0, ids, rgb=np.full((*SHAPE, 3), 255, np.uint8))]))
    qtbot.addWidget(made)
    made.resize(400, 320)
    with qtbot.waitExposed(made):
        made.show()
    made.document.display.set_look(view="original")
    qtbot.waitUntil(lambda: made.document.display.shown.look.view == "original")
    return made


def at(viewer: Viewer, x: float, y: float) -> QPoint:
    """Point of the viewer at a place of the frame."""
    return viewer.frame_map().transform((0, 0)).map(QPointF(x, y)).toPoint()


def selected(viewer: Viewer) -> frozenset[int]:
    return viewer.document.display.selection


def screen(viewer: Viewer) -> npt.NDArray[np.uint8]:
    image = viewer.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


# --- dragging


def test_esc_clears_the_selection_after_leaving_full_screen(
    viewer: Viewer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer.document.display.select({1, 2})
    with monkeypatch.context() as full_screen:
        full_screen.setattr(viewer, "isFullScreen", lambda: True)
        qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert selected(viewer) == {1, 2}
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert selected(viewer) == frozenset()


def test_a_drag_selects_all_segments_that_it_passes_however_fast(viewer: Viewer) -> None:
    drag_along(viewer, [at(viewer, 20, 10), at(viewer, 60, 30)])
    assert selected(viewer) == {1, 2, 3}
    assert viewer.fits


def test_a_drag_with_ctrl_adds_and_with_alt_takes_away(viewer: Viewer) -> None:
    drag_along(viewer, [at(viewer, 4, 10), at(viewer, 10, 30)])
    drag_along(viewer, [at(viewer, 36, 10), at(viewer, 60, 10)], held=CTRL)
    assert selected(viewer) == {0, 2, 3}
    drag_along(viewer, [at(viewer, 20, 20), at(viewer, 40, 20)], held=ALT)
    assert selected(viewer) == {0, 3}


def test_a_click_that_takes_a_segment_away_says_so(viewer: Viewer) -> None:
    toast = viewer.findChild(Toast)
    for x in (4, 20, 36):
        QTest.mouseClick(viewer, Qt.MouseButton.LeftButton, CTRL, at(viewer, x, 10))
        assert not toast.isVisible()
    QTest.mouseClick(viewer, Qt.MouseButton.LeftButton, CTRL, at(viewer, 20, 30))
    assert toast.text() == "Segment 1 is no longer selected. Selected: 2 segments."
    QTest.mouseClick(viewer, Qt.MouseButton.LeftButton, ALT, at(viewer, 4, 10))
    assert toast.text() == "Segment 0 is no longer selected. Selected: 1 segment."
    assert selected(viewer) == {2}
    QTest.mouseClick(viewer, Qt.MouseButton.LeftButton, CTRL, at(viewer, 60, 10))
    assert not toast.isVisible()


def test_escape_during_a_drag_restores_the_selection(viewer: Viewer) -> None:
    QTest.mouseClick(viewer, Qt.MouseButton.LeftButton, pos=at(viewer, 60, 10))
    press(viewer, at(viewer, 4, 10))
    move(viewer, at(viewer, 40, 10))
    assert selected(viewer) == {0, 1, 2}
    QTest.keyClick(viewer, Qt.Key.Key_Escape)
    release(viewer, at(viewer, 40, 10))
    assert selected(viewer) == {3}


def test_a_drag_from_beside_the_picture_moves_it(viewer: Viewer) -> None:
    viewer.actual_size()
    before = at(viewer, 0, 0)
    drag_along(viewer, [QPoint(20, 20), QPoint(40, 30), QPoint(60, 35)])
    assert at(viewer, 0, 0) - before == QPoint(40, 15)
    assert not selected(viewer)


def enter(viewer: Viewer) -> None:
    centre = QPointF(viewer.rect().center())
    QApplication.sendEvent(viewer, QEnterEvent(centre, centre, QPointF(viewer.mapToGlobal(centre))))


def test_space_and_a_drag_move_the_picture_and_space_alone_plays(viewer: Viewer, qtbot: QtBot) -> None:
    play = QAction(viewer)
    play.setShortcut(QKeySequence(Qt.Key.Key_Space))
    viewer.addAction(play)
    enter(viewer)
    before = at(viewer, 0, 0)
    with qtbot.assertNotEmitted(play.triggered):
        QTest.keyPress(viewer, Qt.Key.Key_Space)
        drag_along(viewer, [at(viewer, 20, 20), at(viewer, 22, 22), at(viewer, 30, 22)])
        QTest.keyRelease(viewer, Qt.Key.Key_Space)
    assert (at(viewer, 0, 0) - before).x() > 40
    assert not selected(viewer)
    with qtbot.waitSignal(play.triggered):
        QTest.keyClick(viewer, Qt.Key.Key_Space)
    drag_along(viewer, [at(viewer, 20, 20), at(viewer, 40, 20)])
    assert selected(viewer) == {1, 2}


def test_the_right_button_shows_the_menu_unless_it_moved_the_picture(viewer: Viewer, qtbot: QtBot) -> None:
    def press_right(point: QPoint) -> None:
        press(viewer, point, RIGHT)
        # As X11 does when the button is pressed.
        QApplication.sendEvent(
            viewer, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, viewer.mapToGlobal(point))
        )

    point, before = at(viewer, 20, 20), at(viewer, 0, 0)
    with qtbot.assertNotEmitted(viewer.menu_requested):
        press_right(point)
        move(viewer, point + QPoint(30, 0), RIGHT)
        release(viewer, point + QPoint(30, 0), RIGHT)
    assert at(viewer, 0, 0) - before == QPoint(30, 0)
    with qtbot.waitSignal(viewer.menu_requested):
        press_right(point)
        release(viewer, point, RIGHT)
    assert selected(viewer)


# --- the outline


def outline_colours(viewer: Viewer) -> set[tuple[int, ...]]:
    """Colours on the screen along the left edge of segment 1."""
    ratio = viewer.devicePixelRatioF()
    top, bottom = at(viewer, 16, 4) * ratio, at(viewer, 16.9, 44) * ratio
    part = screen(viewer)[top.y() : bottom.y(), top.x() - 1 : bottom.x()]
    return {tuple(colour) for colour in part.reshape(-1, 3).tolist()}


@pytest.mark.parametrize("view", ["original", "matte"])
def test_the_outline_is_black_and_white_and_the_inside_is_tinted(viewer: Viewer, qtbot: QtBot, view: str) -> None:
    document = viewer.document
    document.set_objects([MarkedObject.made("column", (255, 0, 0), 0, {3})])
    document.display.set_look(view=view, show_objects=False)
    document.display.select([1])
    qtbot.waitUntil(lambda: document.display.shown.look.view == view and document.display.shown.outline is not None)
    assert {(0, 0, 0), (255, 255, 255)} <= outline_colours(viewer)
    inside, outside = (screen(viewer)[place.y(), place.x()].astype(int) for place in _both_sides(viewer))
    assert inside[2] - inside[0] > 30
    assert abs(outside[2] - outside[0]) < 5


def _both_sides(viewer: Viewer) -> tuple[QPoint, QPoint]:
    ratio = viewer.devicePixelRatioF()
    return at(viewer, 24, 20) * ratio, at(viewer, 8, 20) * ratio


def test_the_dashes_move_while_something_is_selected_and_visible(viewer: Viewer, qtbot: QtBot) -> None:
    outline, display = viewer._outline, viewer.document.display
    assert not outline.marching
    display.select([1])
    qtbot.waitUntil(lambda: outline.marching)
    before = screen(viewer)
    with qtbot.waitSignal(outline.stepped):
        pass
    after = screen(viewer)
    changed = (before != after).any(axis=2)
    assert changed.any()
    # Nothing but the dashes changes.
    assert {tuple(colour) for colour in after[changed].tolist()} == {(0, 0, 0), (255, 255, 255)}
    viewer.hide()
    assert not outline.marching
    viewer.show()
    assert outline.marching
    display.select([])
    qtbot.waitUntil(lambda: not outline.marching)


def test_playback_does_not_wait_for_the_dashes(viewer: Viewer, qtbot: QtBot) -> None:
    """Each new frame starts the interval again: at 30 frames a second no step falls between two of them."""
    viewer.document.display.select([1])
    qtbot.waitUntil(lambda: viewer._outline.marching)
    timer = viewer._outline._timer
    with qtbot.waitSignal(viewer._outline.stepped):
        pass
    qtbot.waitUntil(lambda: timer.remainingTime() < timer.interval() // 2)
    before = timer.remainingTime()
    viewer.document.display.shown_changed.emit()
    assert timer.remainingTime() > before

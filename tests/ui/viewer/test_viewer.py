"""Tests of the viewer: painting, zoom, selection, hover, wipe and drag and drop."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from helpers.export_scenes import result
from helpers.mouse import turn_wheel
from scstream_app.session import MarkedObject, Names
from scstream_app.ui.viewer.viewer import Viewer

LEFT, MIDDLE, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def viewer(qtbot, story_document):
    """Viewer of 400 by 300 on the first frame, 48 by 64: segment 2 is a strip at the top, 1 a square, 0 the rest."""
    made = Viewer(story_document)
    qtbot.addWidget(made)
    made.resize(400, 300)
    with qtbot.waitExposed(made):
        made.show()
    return made


def pixels(widget):
    """Pixels of the widget on the screen (H, W, 3)."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def picture_on(viewer):
    """Pixels of the centred picture on the screen, at 100 % zoom."""
    screen, picture = pixels(viewer), viewer.document.display.shown.picture
    top, left = (screen.shape[0] - picture.shape[0]) // 2, (screen.shape[1] - picture.shape[1]) // 2
    return screen[top : top + picture.shape[0], left : left + picture.shape[1]]


def place_at(viewer, point):
    """Position in the picture of a point of the viewer."""
    return viewer.image_point(QPointF(point))


def shown_at(viewer, x, y):
    """Point of the widget at the centre of a pixel of the fitted frame."""
    picture = viewer.document.display.shown.picture
    scale = min(viewer.width() / picture.shape[1], viewer.height() / picture.shape[0])
    left, top = (viewer.width() - scale * picture.shape[1]) / 2, (viewer.height() - scale * picture.shape[0]) / 2
    return QPoint(int(left + scale * (x + 0.5)), int(top + scale * (y + 0.5)))


def drag(widget, button, begin, end):
    QTest.mousePress(widget, button, NONE, begin)
    for share in (0.3, 0.7, 1.0):
        point = QPointF(begin + (end - begin) * share)
        # QTest.mouseMove does not hold a button down.
        event = QMouseEvent(
            QEvent.Type.MouseMove, point, widget.mapToGlobal(point), Qt.MouseButton.NoButton, button, NONE
        )
        QApplication.sendEvent(widget, event)
    QTest.mouseRelease(widget, button, NONE, end)


def show(qtbot, document, **changes):
    document.display.set_look(**changes)
    qtbot.waitUntil(lambda: all(getattr(document.display.shown.look, name) == value for name, value in changes.items()))


# --- painting


def test_a_frame_is_painted_before_anything_else_is(qtbot, viewer, monkeypatch):
    """The viewer repaints at once; otherwise panels painted in the same event would delay the frame."""
    order = []
    monkeypatch.setattr(viewer, "paintEvent", lambda event: order.append("painted"))
    viewer.painted.connect(lambda: order.append("signal"))
    # Connected after the slot of the viewer.
    viewer.document.display.shown_changed.connect(lambda: order.append("others"))
    viewer.document.display.shown_changed.emit()
    assert order == ["painted", "signal", "others"]


def test_painted_is_not_emitted_while_hidden(qtbot, viewer):
    viewer.hide()
    with qtbot.assertNotEmitted(viewer.painted):
        viewer.document.display.shown_changed.emit()


def test_at_100_percent_the_screen_has_the_pictures_pixels(viewer):
    viewer.actual_size()
    assert np.array_equal(picture_on(viewer), viewer.document.display.shown.picture)


def test_it_fits_and_goes_on_fitting(viewer):
    ratio = viewer.devicePixelRatioF()
    viewer.setMinimumSize(0, 0)
    viewer.resize(128, 480)
    assert viewer.scale == 2.0 * ratio
    screen, step = pixels(viewer), round(2 * ratio)
    top = screen.shape[0] // 2 - 24 * step
    assert np.array_equal(screen[top : top + 48 * step : step, ::step], viewer.document.display.shown.picture)
    viewer.zoom(3.0)
    viewer.resize(256, 480)
    assert viewer.scale == 6.0 * ratio
    viewer.fit()
    assert viewer.scale == 4.0 * ratio
    assert viewer.fits


def test_what_is_in_the_middle_stays_there_when_a_zoomed_viewer_is_resized(viewer):
    viewer.zoom(3.0, QPointF(100, 80))
    middle = place_at(viewer, QPoint(200, 150))
    viewer.resize(600, 500)
    assert (place_at(viewer, QPoint(300, 250)) - middle).manhattanLength() <= 1.0 / viewer.scale


def test_pixels_are_squares_when_zoomed_in(viewer):
    viewer.zoom(8.0 / viewer.scale)
    screen = pixels(viewer)
    colours = {tuple(colour) for colour in screen.reshape(-1, 3).tolist()}
    known = {tuple(colour) for colour in viewer.document.display.shown.picture.reshape(-1, 3).tolist()}
    assert len(colours - known) <= 1, "only the ground around the picture is no colour of the picture"


def test_zoomed_out_every_pixel_counts(qtbot, open_results):
    """A fine checkerboard becomes grey, neither black nor white."""
    board = (np.indices((240, 320)).sum(axis=0) % 2 * 255).astype(np.uint8)
    frame = result(0, np.zeros((240, 320)), rgb=np.repeat(board[..., None], 3, axis=2))
    document = open_results([frame])
    viewer = Viewer(document)
    qtbot.addWidget(viewer)
    viewer.resize(400, 300)
    show(qtbot, document, view="original")
    viewer.zoom(0.25 / viewer.scale)
    screen = pixels(viewer)
    y, x = screen.shape[0] // 2, screen.shape[1] // 2
    middle = screen[y - 20 : y + 20, x - 20 : x + 20]
    assert middle.min() >= 126
    assert middle.max() <= 129


@pytest.mark.parametrize("zoom", [0.6, 0.77, 1.3, 1.9, 1.99])
def test_at_a_smooth_zoom_edges_are_where_the_cursor_finds_them(qtbot, open_results, zoom):
    """A red box in a blue picture is shown at its place, but for less than a pixel of the screen."""
    picture = np.full((160, 200, 3), (0, 0, 255), np.uint8)
    picture[40:120, 50:150] = 255, 0, 0
    viewer = Viewer(open_results([result(0, np.zeros((160, 200)), rgb=picture)]))
    qtbot.addWidget(viewer)
    viewer.resize(431, 345)
    show(qtbot, viewer.document, view="original")
    viewer.zoom(zoom / viewer.scale)
    screen = pixels(viewer)
    box = (screen[..., 0] > 127) & (screen[..., 2] < 128)
    ratio = viewer.devicePixelRatioF()
    rows, columns = np.flatnonzero(box.any(axis=1)) / ratio, np.flatnonzero(box.any(axis=0)) / ratio
    first = viewer.image_point(QPointF(columns[0], rows[0]))
    last = viewer.image_point(QPointF(columns[-1], rows[-1]) + QPointF(1, 1) / ratio)
    pixel = 1.0 / zoom
    assert (first.x(), first.y()) == pytest.approx((50, 40), abs=pixel)
    assert (last.x(), last.y()) == pytest.approx((150, 120), abs=pixel)


def test_a_matte_lies_on_checkers(viewer, qtbot):
    document = viewer.document
    document.set_objects([MarkedObject.made("square", (255, 0, 0), 0, frozenset({1}))])
    show(qtbot, document, view="matte")
    qtbot.waitUntil(lambda: bool(document.display.shown.look.members))
    viewer.actual_size()
    screen = picture_on(viewer)
    inside = document.display.shown.result.ids == 1
    assert np.array_equal(screen[inside], document.display.shown.result.picture[inside])
    assert {tuple(colour) for colour in screen[~inside].tolist()} == {(204, 204, 204), (160, 160, 160)}


def test_nothing_is_shown_when_nothing_is_open(qtbot, document):
    viewer = Viewer(document)
    qtbot.addWidget(viewer)
    viewer.resize(400, 300)
    screen = pixels(viewer)
    assert (screen[0, 0] == screen[-1, -1]).all()
    assert viewer.id_at(QPoint(200, 150)) is None
    turn_wheel(viewer, QPoint(200, 150), 1)
    QTest.mouseClick(viewer, LEFT, NONE, QPoint(200, 150))
    assert not document.display.selection


def test_closing_empties_it(viewer, qtbot):
    QTest.mouseMove(viewer, QPoint(200, 150))
    viewer.document.close()
    assert viewer.id_at(QPoint(200, 150)) is None
    assert not viewer.findChild(QLabel, "hover").isVisible()


# --- zoom and pan


def test_the_wheel_zooms_at_the_cursor(viewer):
    at = QPoint(250, 110)
    before = place_at(viewer, at)
    scale = viewer.scale
    for notches in (1, 1, 1, -1):
        turn_wheel(viewer, at, notches)
        assert (place_at(viewer, at) - before).manhattanLength() <= 1.0 / scale
    assert viewer.scale == pytest.approx(scale * 1.25**2)
    assert not viewer.fits


def test_zoom_has_ends(viewer):
    turn_wheel(viewer, QPoint(200, 150), 100)
    assert viewer.scale == 64.0
    turn_wheel(viewer, QPoint(200, 150), -200)
    assert viewer.scale * 64 == 24.0


@pytest.mark.parametrize("button", [MIDDLE, RIGHT])
def test_a_drag_moves_the_picture_and_selects_nothing(viewer, button):
    viewer.zoom(2.0)
    before = pixels(viewer)
    drag(viewer, button, QPoint(200, 150), QPoint(240, 170))
    QApplication.sendEvent(viewer, QEvent(QEvent.Type.Leave))
    x, y = round(40 * viewer.devicePixelRatioF()), round(20 * viewer.devicePixelRatioF())
    assert np.array_equal(pixels(viewer)[y:, x:], before[:-y, :-x])
    assert not viewer.document.display.selection


def test_a_trembling_click_is_a_click(viewer):
    point = shown_at(viewer, 12, 20)
    drag(viewer, LEFT, point, point + QPoint(2, 1))
    assert viewer.document.display.selection == {1}
    assert viewer.fits


def test_the_picture_cannot_get_lost(viewer):
    for _ in range(5):
        drag(viewer, MIDDLE, QPoint(10, 10), QPoint(390, 290))
    screen = pixels(viewer)
    assert len(np.unique(screen.reshape(-1, 3), axis=0)) > 2


# --- selection


@pytest.mark.parametrize(("x", "y"), [(0, 0), (12, 20), (60, 40), (8, 16), (63, 47)])
def test_a_click_selects_the_segment_under_the_cursor(viewer, x, y):
    expected = int(viewer.document.display.shown.result.ids[y, x])
    point = shown_at(viewer, x, y)
    assert viewer.id_at(point) == expected
    QTest.mouseClick(viewer, LEFT, NONE, point)
    assert viewer.document.display.selection == {expected}


def test_ctrl_click_adds_and_takes_away(viewer):
    document = viewer.document
    QTest.mouseClick(viewer, LEFT, NONE, shown_at(viewer, 12, 20))
    QTest.mouseClick(viewer, LEFT, CTRL, shown_at(viewer, 0, 0))
    assert document.display.selection == {1, 2}
    QTest.mouseClick(viewer, LEFT, CTRL, shown_at(viewer, 12, 20))
    assert document.display.selection == {2}
    QTest.mouseClick(viewer, LEFT, CTRL, QPoint(200, 150))
    QTest.mouseClick(viewer, LEFT, NONE, shown_at(viewer, 12, 20))
    assert document.display.selection == {1}


def test_a_click_beside_the_picture_clears(viewer):
    viewer.actual_size()
    QTest.mouseClick(viewer, LEFT, NONE, QPoint(200, 150))
    assert viewer.document.display.selection
    QTest.mouseClick(viewer, LEFT, NONE, QPoint(3, 3))
    assert not viewer.document.display.selection


def test_a_pixel_of_no_segment_is_nothing(viewer):
    document = viewer.document
    ids = document.display.shown.result.ids.copy()
    ids[:, 32:] = -1
    document.display.shown = replace(document.display.shown, result=replace(document.display.shown.result, ids=ids))
    document.display.shown_changed.emit()
    assert viewer.id_at(shown_at(viewer, 12, 20)) == 1
    assert viewer.id_at(shown_at(viewer, 40, 20)) is None


def test_a_double_click_isolates_and_the_next_one_ends_it(viewer, qtbot):
    document, point = viewer.document, shown_at(viewer, 12, 20)

    def double_click(at):
        QTest.mouseClick(viewer, LEFT, NONE, at)
        QTest.mouseDClick(viewer, LEFT, NONE, at)

    double_click(point)
    assert document.display.isolated == {1}
    qtbot.waitUntil(lambda: document.display.shown.look.isolated == {1})
    double_click(shown_at(viewer, 0, 0))
    assert document.display.isolated == {2}
    double_click(shown_at(viewer, 0, 0))
    assert not document.display.isolated
    assert document.display.selection == {2}


def test_both_halves_of_side_by_side_are_the_same_segments(viewer, qtbot):
    show(qtbot, viewer.document, view="side_by_side")
    qtbot.waitUntil(lambda: viewer.scale == 400 * viewer.devicePixelRatioF() / 128)
    for x, y in ((12, 20), (0, 0), (60, 40)):
        expected = int(viewer.document.display.shown.result.ids[y, x])
        assert viewer.id_at(shown_at(viewer, x, y)) == viewer.id_at(shown_at(viewer, x + 64, y)) == expected


# --- hover


def test_hovering_describes_the_segment(viewer, qtbot):
    document = viewer.document
    document.set_names(Names(names={1: "the <square>"}))
    point = shown_at(viewer, 12, 20)
    with qtbot.waitSignal(viewer.hovered) as caught:
        QTest.mouseMove(viewer, point)
    hover = caught.args[0]
    frame = document.display.shown.result
    assert (hover.id, hover.name, hover.x, hover.y) == (1, "the <square>", 12, 20)
    assert hover.pixels == np.count_nonzero(frame.ids == 1)
    assert np.abs(np.array(hover.colour) - frame.picture[frame.ids == 1].mean(axis=0)).max() <= 0.51
    label = viewer.findChild(QLabel, "hover")
    assert label.isVisible()
    assert "the &lt;square&gt;" in label.text()
    assert not label.geometry().contains(point)
    with qtbot.waitSignal(viewer.hovered) as caught:
        QApplication.sendEvent(viewer, QEvent(QEvent.Type.Leave))
    assert caught.args == [None]
    assert not label.isVisible()


def test_what_is_hovered_follows_the_frame(viewer, qtbot):
    # On an X server the mouse arrives later.
    with qtbot.waitSignal(viewer.hovered):
        QTest.mouseMove(viewer, shown_at(viewer, 12, 18))
    with qtbot.waitSignal(viewer.hovered) as caught:
        viewer.document.display.show(2)
    assert caught.args[0].id == viewer.document.display.shown.result.ids[18, 12] == 3


def test_a_draft_is_measured_by_counting(viewer, qtbot):
    document = viewer.document
    frame = document.display.shown.result
    draft = replace(frame, statistics=frame.statistics[:0])
    document.display.shown = replace(document.display.shown, result=draft)
    document.display.shown_changed.emit()
    QTest.mouseMove(viewer, shown_at(viewer, 12, 20))
    label, text = viewer.findChild(QLabel, "hover"), f"{np.count_nonzero(frame.ids == 1):,} px"
    qtbot.waitUntil(lambda: text in label.text())


def test_segments_that_are_not_final_cannot_be_chosen(viewer):
    document = viewer.document
    draft = replace(document.display.shown.result, statistics=document.display.shown.result.statistics[:0])
    document.display.shown = replace(document.display.shown, result=draft)
    document.display.shown_changed.emit()
    QTest.mouseClick(viewer, LEFT, NONE, shown_at(viewer, 12, 20))
    QTest.mouseDClick(viewer, LEFT, NONE, shown_at(viewer, 12, 20))
    assert not document.display.selection
    assert not document.display.isolated
    toast = viewer.findChild(QLabel, "toast")
    assert toast.isVisible()
    assert "still being analysed" in toast.text()


# --- wipe


def test_the_divider_follows_the_mouse(viewer, qtbot):
    document = viewer.document
    show(qtbot, document, view="wipe")
    edge = shown_at(viewer, 32, 24)
    drag(viewer, LEFT, edge, shown_at(viewer, 16, 30))
    assert document.display.look.divider == pytest.approx(16.5 / 64, abs=0.01)
    assert not document.display.selection
    assert viewer.fits
    qtbot.waitUntil(lambda: document.display.shown.look.divider == document.display.look.divider)
    picture = document.display.shown.picture
    assert np.array_equal(picture[:, :16], document.display.shown.result.picture[:, :16])
    drag(viewer, LEFT, shown_at(viewer, 16, 24), QPoint(-50, 100))
    assert document.display.look.divider == 0.0


def test_elsewhere_a_wipe_is_clicked_as_usual(viewer, qtbot):
    show(qtbot, viewer.document, view="wipe")
    QTest.mouseClick(viewer, LEFT, NONE, shown_at(viewer, 12, 20))
    assert viewer.document.display.selection == {1}


# --- drag and drop


def dropped(viewer, data):
    """Drag data onto the viewer and drop it if it is accepted; returns whether it was accepted."""
    where, actions = QPointF(100, 100), Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
    with warnings.catch_warnings():
        # Qt 6.12 prefers a QPointF here, which older versions do not accept.
        warnings.simplefilter("ignore", DeprecationWarning)
        enter = QDragEnterEvent(where.toPoint(), actions, data, LEFT, NONE)
    enter.ignore()
    QApplication.sendEvent(viewer, enter)
    if enter.isAccepted():
        QApplication.sendEvent(viewer, QDropEvent(where, actions, data, LEFT, NONE))
    return enter.isAccepted()


def test_files_and_folders_can_be_dropped(viewer, qtbot, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a b.mp4")), QUrl("https://example.org/live.m3u8")])
    with qtbot.waitSignal(viewer.dropped) as caught:
        assert dropped(viewer, data)
    assert caught.args[0] == [str(tmp_path / "a b.mp4"), "https://example.org/live.m3u8"]


def test_text_cannot_be_dropped(viewer, qtbot):
    data = QMimeData()
    data.setText("hello")
    with qtbot.assertNotEmitted(viewer.dropped):
        assert not dropped(viewer, data)


def test_it_has_a_name(viewer):
    assert viewer.accessibleName() == "Viewer"


@pytest.mark.slow
@pytest.mark.skipif("QT_SCALE_FACTOR" in os.environ, reason="is one of those runs")
def test_at_twice_the_screen_pixel_ratio():
    """Run the tests again in a process with twice the screen pixel ratio."""
    environment = {**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "100 or fit or click or divider"]
    done = subprocess.run([*command, __file__], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout

"""Drive the window by mouse and keys on a small clip with an object of two segments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QDialogButtonBox
from pytestqt.qtbot import QtBot

from helpers.export_scenes import birth, result
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000
LEFT = Qt.MouseButton.LeftButton
COLOURS = np.array([[90, 100, 110], [210, 60, 50], [50, 170, 60], [60, 80, 200]], np.uint8)


def halves(count: int) -> list[FrameResult]:
    """A rectangle moves over ground (0); its halves are the segments 1 and 2. Segment 3 is born on frame 4."""
    results = []
    for index in range(count):
        ids = np.zeros((40, 64), np.int32)
        left = 8 + index // 4
        ids[10:26, left : left + 10] = 1
        ids[10:26, left + 10 : left + 20] = 2
        if index >= 4:
            ids[32:, 44:] = 3
        noise = np.random.default_rng(index).integers(0, 6, (*ids.shape, 1), np.uint8)
        events = {0: [birth(0, id) for id in range(3)], 4: [birth(4, 3)]}.get(index, [])
        results.append(result(index, ids, events, rgb=COLOURS[ids] + noise))
    return results


def open_clip(window: MainWindow, qtbot: QtBot, path: object) -> None:
    """Open a session and show its first frame."""
    window.open_address(str(path))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    go_to(window, qtbot, 0)


def go_to(window: MainWindow, qtbot: QtBot, frame: int) -> None:
    """Go to a frame with the keys of playback."""
    # While the list of segments has the focus, Home and End are its own keys.
    window.viewer.setFocus()
    qtbot.keyClick(window.viewer, Qt.Key.Key_Home)
    for _ in range(frame // 10):
        qtbot.keyClick(window.viewer, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    for _ in range(frame % 10):
        qtbot.keyClick(window.viewer, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: window.document.display.index == frame, timeout=LONG)


def click_segments(window: MainWindow, qtbot: QtBot, *ids: int) -> None:
    """Select segments by clicks on the picture."""
    viewer = window.viewer
    points = [QPoint(x, y) for y in range(2, viewer.height(), 16) for x in range(2, viewer.width(), 16)]
    for number, id in enumerate(ids):
        held = Qt.KeyboardModifier.ControlModifier if number else Qt.KeyboardModifier.NoModifier
        inside = [point for point in points if viewer.id_at(point) == id]
        qtbot.mouseClick(viewer, LEFT, held, pos=inside[len(inside) // 2])
    assert window.document.display.selection == set(ids)


def make_object(window: MainWindow, qtbot: QtBot, *ids: int) -> None:
    """Select segments, press G and accept the proposed name."""
    click_segments(window, qtbot, *ids)
    qtbot.keyClick(window, Qt.Key.Key_G)
    accept(window, qtbot)


def accept(window: MainWindow, qtbot: QtBot) -> None:
    """Accept the dialog that asks for an object."""
    dialog = window.findChild(ObjectDialog)
    qtbot.mouseClick(dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok), LEFT)
    with qtbot.waitActive(window, timeout=LONG):
        window.activateWindow()


def choose_reach(window: MainWindow, qtbot: QtBot, title: str) -> None:
    """Choose how far edits hold, by keys."""
    (choice,) = (box for box in window.objects.findChildren(QComboBox) if box.accessibleName() == "Edits hold")
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Home)
    while choice.currentText() != title:
        before = choice.currentIndex()
        qtbot.keyClick(choice, Qt.Key.Key_Down)
        assert choice.currentIndex() != before, f"there is no {title!r}"


def masks(window: MainWindow, qtbot: QtBot) -> list[tuple[bytes, tuple[float, ...]]]:
    """The masks and confidences of all frames as the session has them, when all are tracked."""
    document = window.document
    session, objects = document.session, document.objects
    qtbot.waitUntil(
        lambda: all(session.read_object_masks(index, objects) for index in document.summary.frames), timeout=LONG
    )
    found = [session.read_object_masks(index, objects) for index in document.summary.frames]
    return [(one.numbers.tobytes(), one.confidences) for one in found]


def mask(window: MainWindow, index: int) -> npt.NDArray[np.bool_]:
    """The stored mask of the first object on a frame."""
    return window.document.session.read_object_masks(index, window.document.objects).mask(0)

"""Side by side in a viewer that is taller than wide: the pictures are below each other."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from pytestqt.qtbot import QtBot

from scstream_app.ui.document.document import Document
from scstream_app.ui.viewer.viewer import Viewer


def screen_point(viewer: Viewer, column: int, row: int) -> QPoint:
    """Point of the viewer at the middle of a pixel of the picture."""
    target, ratio = viewer.image_rect(), viewer.devicePixelRatioF()
    return ((target.topLeft() + QPointF(column + 0.5, row + 0.5) * viewer.scale) / ratio).toPoint()


def test_a_tall_viewer_stacks_the_pictures_and_both_can_be_clicked(story_document: Document, qtbot: QtBot) -> None:
    viewer = Viewer(story_document)
    qtbot.addWidget(viewer)
    viewer.resize(400, 300)
    with qtbot.waitExposed(viewer):
        viewer.show()
    display = story_document.display

    def picture_size() -> tuple[int, int]:
        return display.shown.picture.shape[:2]

    display.set_look(view="side_by_side")
    qtbot.waitUntil(lambda: picture_size() == (48, 128))
    viewer.resize(200, 400)
    qtbot.waitUntil(lambda: picture_size() == (96, 64))
    result, picture = display.shown.result, display.shown.picture
    assert np.array_equal(picture[:48], result.picture)
    assert not np.array_equal(picture[48:], result.picture)
    for row in (10, 48 + 10):
        qtbot.mouseClick(viewer, Qt.MouseButton.LeftButton, pos=screen_point(viewer, 50, row))
        assert display.selection == {int(result.ids[10, 50])}
        display.select(())
    viewer.resize(400, 300)
    qtbot.waitUntil(lambda: picture_size() == (48, 128))

"""The checkerboard behind the matte ends where the picture ends."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from helpers.export_scenes import result
from scstream_app.session import MarkedObject
from scstream_app.ui.document.look import Look, ObjectLook, draw
from scstream_app.ui.viewer.viewer import Viewer


@pytest.mark.parametrize("scale", [0.495, 0.7125, 1.405])
def test_no_line_of_the_background_is_under_an_opaque_matte(qtbot, document, scale):
    """At half a pixel the picture and its background were rounded differently."""
    rgb = np.full((300, 400, 3), (255, 0, 0), np.uint8)
    everything = result(0, np.zeros((300, 400), np.int32), rgb=rgb)
    viewer = Viewer(document)
    qtbot.addWidget(viewer)
    viewer.resize(640, 480)
    document.objects = (MarkedObject.made("all", (0, 0, 0), 0, {0}),)
    document.display.shown = draw(everything, Look(view="matte", objects=(ObjectLook((0, 0, 0), frozenset({0})),)))
    viewer._take_shown()
    viewer.zoom(scale / viewer.scale)
    image = viewer.grab().toImage()
    around = image.pixelColor(0, 0)
    x = image.width() // 2
    column = {image.pixelColor(x, y).name() for y in range(image.height())}
    assert column == {QColor(255, 0, 0).name(), around.name()}

"""Preview of a stroke while it is drawn."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from scstream_app.objects.edits import Mask
from scstream_app.render.palette import RGB
from scstream_app.ui.viewer.geometry.frame_map import FrameMap
from scstream_app.ui.viewer.painting.primitives import as_image
from scstream_app.ui.viewer.tools.strokes import Part

_OPACITY = 140


class StrokePreview:
    """Picture (H, W, 4) of a stroke in one colour; only the parts that change are drawn again."""

    def __init__(self, shape: tuple[int, int], colour: RGB) -> None:
        self._picture = np.zeros((*shape, 4), np.uint8)
        self._colour = (*colour, _OPACITY)

    def show(self, part: Part, inside: Mask) -> QRectF:
        """Show the stroke in a part of the frame; returns the rectangle of that part."""
        picture = self._picture[part]
        picture[...] = 0
        picture[inside] = self._colour
        rows, columns = part
        return QRectF(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)

    def paint(self, painter: QPainter, placed: FrameMap) -> None:
        """Paint the stroke in all copies of the frame."""
        painter.save()
        base = painter.transform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        for tile in placed.tiles:
            painter.setTransform(placed.transform(tile) * base)
            painter.drawImage(0, 0, as_image(self._picture))
        painter.restore()

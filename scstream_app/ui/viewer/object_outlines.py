"""Outlines of the objects: lines in their colours between black edges, as wide at every zoom."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from scstream_app.render.markings import Lines
from scstream_app.render.palette import RGB
from scstream_app.ui.viewer.frame_map import FrameMap
from scstream_app.ui.viewer.viewer_painting import outline_path

#: Where the lines are drawn, beside each other, in screen pixels: Qt draws several thin lines ten times faster than a
#: wide one.
_EDGE = ((-1, -1), (2, -1), (-1, 2), (2, 2))
_LINE = ((0, 0), (1, 0), (0, 1), (1, 1))


class ObjectOutlines:
    """Paints the outlines of all objects."""

    def __init__(self) -> None:
        self._paths: list[tuple[QColor, QPainterPath]] = []

    def set_lines(self, outlines: Iterable[tuple[RGB, Lines]]) -> None:
        """Show other outlines, each with its colour."""
        self._paths = [(QColor(*colour), outline_path(lines)) for colour, lines in outlines]

    def paint(self, painter: QPainter, placed: FrameMap) -> None:
        """Paint the outlines in all copies of the frame."""
        if not self._paths:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        base = painter.transform()
        pixel = 1.0 / painter.device().devicePixelRatioF()
        for tile in placed.tiles:
            for colour, path in self._paths:
                for ink, offsets in ((QColor(0, 0, 0), _EDGE), (colour, _LINE)):
                    # A width of 0: one pixel of the screen, whatever the transform.
                    painter.setPen(QPen(ink, 0.0))
                    for x, y in offsets:
                        moved = QTransform.fromTranslate((x - 0.5) * pixel, (y - 0.5) * pixel)
                        painter.setTransform(placed.transform(tile) * moved * base)
                        painter.drawPath(path)
        painter.restore()

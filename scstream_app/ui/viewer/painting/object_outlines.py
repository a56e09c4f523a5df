"""Outlines of the objects: lines in their colours between black edges, as wide at every zoom."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from scstream_app.render.markings import Lines
from scstream_app.render.palette import RGB
from scstream_app.ui.viewer.geometry.frame_map import FrameMap
from scstream_app.ui.viewer.painting.primitives import outline_path

#: Width of the lines, without their edges, in logical pixels.
_WIDTH = 2.0


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
        ratio = painter.device().devicePixelRatioF()
        width = max(1, round(_WIDTH * ratio))
        strokes = _strokes(width)
        for tile in placed.tiles:
            for colour, path in self._paths:
                for ink, offsets in zip((QColor(0, 0, 0), colour), strokes, strict=True):
                    # A width of 0: one pixel of the screen, whatever the transform.
                    painter.setPen(QPen(ink, 0.0))
                    for x, y in offsets:
                        moved = QTransform.fromTranslate(
                            (x - 0.5 * width + 0.5) / ratio, (y - 0.5 * width + 0.5) / ratio
                        )
                        painter.setTransform(placed.transform(tile) * moved * base)
                        painter.drawPath(path)
        painter.restore()


def _strokes(width: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where the edges of a line and the line itself are drawn, in screen pixels, as lines that are a pixel wide.

    Qt draws several of these ten times faster than a wide one. A line along a row or a column is closed already by the
    diagonals of a square.

    >>> _strokes(2)
    ([(-1, -1), (-1, 2), (2, -1), (2, 2)], [(0, 0), (0, 1), (1, 0), (1, 1)])
    """
    corners = (-1, width)
    diagonals = {(place, place) for place in range(width)} | {(place, width - 1 - place) for place in range(width)}
    return [(x, y) for x in corners for y in corners], sorted(diagonals)

"""Lasso and box: tools that draw around an area."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from scstream_app.objects.box_mask import box_mask
from scstream_app.objects.edits import Mask
from scstream_app.objects.painting import Change, snapped
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.ui.document.undo_commands.painting import PaintedFrame
from scstream_app.ui.viewer.tools.canvas import Canvas
from scstream_app.ui.viewer.tools.drawing_tool import DrawingTool
from scstream_app.ui.viewer.tools.strokes import Point, box_between, polygon_mask

_TAKES_AWAY = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier
_FILL = 70
_DASH = 4.0
#: Boxes with a shorter side, in pixels of the frame, are clicks.
_LEAST_SIDE = 3


class _AreaTool(DrawingTool):
    """A tool whose points outline an area."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._points: list[Point] = []

    def _start(self, frame: PaintedFrame, point: Point) -> None:
        self._points = [point]

    def _forget(self) -> None:
        self._points = []

    def _outline(self) -> QPainterPath:
        """The outline in pixels of the frame."""
        path = QPainterPath()
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in self._points]))
        path.closeSubpath()
        return path

    def paint(self, painter: QPainter) -> None:
        """Paint the area in the object's colour, and its outline in black and white dashes."""
        placed = self._canvas.viewer.frame_map()
        if placed is None or not self._points:
            return
        path, base = self._outline(), painter.transform()
        white = QPen(Qt.GlobalColor.white, 1.0)
        white.setDashPattern([_DASH, _DASH])
        painter.save()
        for tile in placed.tiles:
            painter.setTransform(placed.transform(tile) * base)
            painter.fillPath(path, QColor(*self._canvas.colour, _FILL))
            for pen in (QPen(Qt.GlobalColor.black, 1.0), white):
                pen.setCosmetic(True)
                painter.strokePath(path, pen)
        painter.restore()


class LassoTool(_AreaTool):
    """Adds the area inside a free line to the object; with Ctrl or Alt, takes it away."""

    def _go_on(self, point: Point) -> None:
        self._points.append(point)
        self._canvas.viewer.update()

    def _finish(self, frame: PaintedFrame, modifiers: Qt.KeyboardModifier) -> None:
        if len(self._points) < 3:
            return
        change: Change = "remove" if modifiers & _TAKES_AWAY else "add"
        mask = partial(_lasso_mask, frame.result, tuple(self._points), self._canvas.options.snap)
        self._canvas.apply(frame, mask, change)


class BoxTool(_AreaTool):
    """Makes the object the thing that a box encloses."""

    def _go_on(self, point: Point) -> None:
        self._points = [self._points[0], point]
        self._canvas.viewer.update()

    def _outline(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(QRectF(QPointF(*self._points[0]), QPointF(*self._points[-1])).normalized())
        return path

    def _finish(self, frame: PaintedFrame, modifiers: Qt.KeyboardModifier) -> None:
        height, width = frame.result.ids.shape
        box = box_between(self._points[0], self._points[-1], (height, width))
        if box is not None and min(box[2:]) >= _LEAST_SIDE:
            mask = partial(_box_mask, frame.result, box, self._canvas.options.snap)
            self._canvas.apply(frame, mask, "replace")


def _lasso_mask(result: FrameResult, points: Sequence[Point], snap: bool) -> Mask:
    """Mask of the area inside a line or, with ``snap``, of the segments that are mostly inside."""
    height, width = result.ids.shape
    mask = polygon_mask(points, (height, width))
    return snapped(result.ids, mask) if snap else mask


def _box_mask(result: FrameResult, box: tuple[int, int, int, int], snap: bool) -> Mask:
    """Mask of the thing in a box or, with ``snap``, of the segments that are mostly inside."""
    if not snap:
        return box_mask(result.picture, box)
    left, top, width, height = box
    inside = np.zeros(result.ids.shape, bool)
    inside[top : top + height, left : left + width] = True
    return snapped(result.ids, inside)

"""Brush and eraser."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QWheelEvent

from scstream_app.ui.document.undo_commands.painting import PaintedFrame
from scstream_app.ui.viewer.tools.canvas import Canvas
from scstream_app.ui.viewer.tools.drawing_tool import DrawingTool
from scstream_app.ui.viewer.tools.stroke_preview import StrokePreview
from scstream_app.ui.viewer.tools.strokes import BrushStroke, Part, Point

#: Colour in which the eraser shows its stroke.
_ERASED = (16, 16, 20)
_NOTCH = 120


class BrushTool(DrawingTool):
    """Adds the pixels under a round brush to the object, or takes them away.

    Parameters
    ----------
    canvas : Canvas
    erases : bool
        Whether it takes pixels away.
    """

    def __init__(self, canvas: Canvas, erases: bool = False) -> None:
        super().__init__(canvas)
        self._erases = erases
        self._mouse: QPointF | None = None
        self._stroke: BrushStroke | None = None
        self._preview: StrokePreview | None = None
        self._shown: frozenset[int] = frozenset()
        self._last: Point = (0.0, 0.0)
        canvas.options.changed.connect(canvas.viewer.update)

    def _start(self, frame: PaintedFrame, point: Point) -> None:
        self._stroke, self._shown = BrushStroke(frame.result.ids, self._canvas.options.snap), frozenset()
        height, width = frame.result.ids.shape
        self._preview = StrokePreview((height, width), _ERASED if self._erases else self._canvas.colour)
        self._last = point
        self._go_on(point)

    def _go_on(self, point: Point) -> None:
        if self._stroke is None or self._preview is None:
            return
        part = self._stroke.extend(self._last, point, self._canvas.options.size)
        self._last = point
        if not self._stroke.snap:
            self._repaint(self._preview.show(part, self._stroke.pixels[part] > 0))
        elif self._stroke.segments != self._shown:
            self._shown = self._stroke.segments
            whole: Part = slice(0, self._stroke.pixels.shape[0]), slice(0, self._stroke.pixels.shape[1])
            self._repaint(self._preview.show(whole, self._stroke.mask()))

    def _repaint(self, area: QRectF) -> None:
        placed = self._canvas.viewer.frame_map()
        for rect in [] if placed is None else placed.rects(area):
            self._canvas.viewer.update(rect.toAlignedRect().adjusted(-1, -1, 1, 1))

    def _finish(self, frame: PaintedFrame, modifiers: Qt.KeyboardModifier) -> None:
        if self._stroke is not None:
            self._canvas.apply(frame, self._stroke.mask, "remove" if self._erases else "add")

    def _forget(self) -> None:
        self._stroke = self._preview = None

    # --- the ring that shows the size

    def move(self, event: QMouseEvent) -> None:
        """Draw, and move the ring."""
        self._move_ring(event.position())
        super().move(event)

    def leave(self) -> None:
        """Remove the ring."""
        self._move_ring(None)

    def wheel(self, event: QWheelEvent) -> bool:
        """Change the size of the brush with Shift."""
        if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return False
        # Some systems turn the wheel sideways while Shift is held.
        turned = event.angleDelta().y() or event.angleDelta().x()
        self._canvas.options.step_size(round(turned / _NOTCH) or (turned > 0) - (turned < 0))
        return True

    def _ring(self) -> QRectF:
        placed = self._canvas.viewer.frame_map()
        if placed is None or self._mouse is None:
            return QRectF()
        radius = 0.5 * self._canvas.options.size * placed.scale
        return QRectF(self._mouse.x() - radius, self._mouse.y() - radius, 2.0 * radius, 2.0 * radius)

    def _move_ring(self, point: QPointF | None) -> None:
        before, self._mouse = self._ring(), point
        for rect in (before, self._ring()):
            if not rect.isNull():
                self._canvas.viewer.update(rect.toAlignedRect().adjusted(-3, -3, 3, 3))

    def paint(self, painter: QPainter) -> None:
        """Paint the stroke and the ring."""
        placed = self._canvas.viewer.frame_map()
        if placed is None:
            return
        if self._preview is not None:
            self._preview.paint(painter, placed)
        ring = self._ring()
        if not ring.isNull():
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for colour, grown in ((QColor(0, 0, 0, 200), 1.0), (QColor(255, 255, 255), 0.0)):
                painter.setPen(QPen(colour, 1.0))
                painter.drawEllipse(ring.adjusted(-grown, -grown, grown, grown))
            painter.restore()

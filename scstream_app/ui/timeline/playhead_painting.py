"""Paints what moves over the timeline: the playhead and the range between in and out point."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPolygonF

from scstream_app.ui.timeline.time_scale import TimeScale
from scstream_app.ui.timeline.timeline_painting import TOP


def paint_range(
    painter: QPainter, palette: QPalette, scale: TimeScale, area: QRect, ends: tuple[int | None, int | None]
) -> None:
    """Shade the frames before the in point and after the out point, and mark both.

    Parameters
    ----------
    painter : QPainter
    palette : QPalette
    scale : TimeScale
    area : QRect
        The visible frames.
    ends : tuple of int or None
        First and last frame of the range.
    """
    begin, out = ends
    if begin is None and out is None:
        return
    half = scale.frame_width / 2.0
    shade = QColor(palette.color(QPalette.ColorRole.Window))
    shade.setAlpha(175)
    mark = palette.color(QPalette.ColorRole.Highlight)
    bottom, high = float(area.height()), area.left() + area.width()
    left = float(area.left()) if begin is None else scale.x_of(begin) - half
    right = float(high) if out is None else scale.x_of(out) + half
    painter.fillRect(QRectF(area.left(), TOP, max(left - area.left(), 0.0), bottom - TOP), shade)
    painter.fillRect(QRectF(right, TOP, max(high - right, 0.0), bottom - TOP), shade)
    for there, x, side in ((begin, left, 1.0), (out, right, -1.0)):
        if there is not None:
            painter.fillRect(QRectF(x - (side < 0) * 2.0, 2.0, 2.0, bottom - 2.0), mark)
            painter.fillRect(QRectF(min(x, x + 6.0 * side), 2.0, 6.0, 2.0), mark)
            painter.fillRect(QRectF(min(x, x + 6.0 * side), bottom - 2.0, 6.0, 2.0), mark)


def paint_playhead(painter: QPainter, palette: QPalette, x: float, bottom: float) -> None:
    """Paint the playhead at a horizontal position in pixels."""
    colour = palette.color(QPalette.ColorRole.WindowText)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    tip = [QPointF(x - 5.0, 1.0), QPointF(x + 5.0, 1.0), QPointF(x + 5.0, 5.0), QPointF(x, 11.0)]
    painter.drawPolygon(QPolygonF([*tip, QPointF(x - 5.0, 5.0)]))
    painter.fillRect(QRectF(x - 0.75, 8.0, 1.5, bottom - 8.0), colour)

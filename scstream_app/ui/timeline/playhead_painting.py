"""Paints what moves over the timeline: the playhead and the range between in and out point."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPalette

from scstream_app.ui.timeline.time_scale import TimeScale
from scstream_app.ui.timeline.timeline_painting import TOP

#: How far beside the visible frames the playhead may be, in pixels.
BESIDE = 7


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


def playhead_width(metrics: QFontMetricsF, index: int) -> float:
    """Width of the plate with the number of a frame at the top of the playhead, in pixels."""
    return max(metrics.horizontalAdvance(str(index)) + 8.0, 12.0)


def paint_playhead(painter: QPainter, palette: QPalette, scale: TimeScale, area: QRect, index: int) -> None:
    """Paint the playhead on a frame; it bears the frame's number, since it hides that of the ruler.

    Parameters
    ----------
    painter : QPainter
    palette : QPalette
    scale : TimeScale
    area : QRect
        The visible frames.
    index : int
        The frame.
    """
    colour = palette.color(QPalette.ColorRole.WindowText)
    x, width = scale.x_of(index), playhead_width(QFontMetricsF(painter.font()), index)
    rightmost = area.left() + area.width() + BESIDE - width
    plate = QRectF(min(max(x - 0.5 * width, area.left() - BESIDE), rightmost), 0.0, width, TOP - 2.0)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(plate, 3.0, 3.0)
    painter.fillRect(QRectF(x - 0.75, plate.bottom() - 1.0, 1.5, area.height() - plate.bottom() + 1.0), colour)
    painter.setPen(palette.color(QPalette.ColorRole.Window))
    painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, str(index))

"""Icons of the tools, drawn on a grid of 16 by 16."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPolygonF

from scstream_app.ui.qt.appearance.icons import draw_icon

#: Side of the icons in logical pixels.
SIDE = 20
_GRID = 16.0
_FADED = 0.35


def tool_icon(action: str, ink: QColor) -> QIcon:
    """Icon of an action in the colour of texts."""
    faded = QColor(ink)
    faded.setAlphaF(_FADED)
    return draw_icon(SIDE, partial(_draw, _SHAPES[action], ink), partial(_draw, _SHAPES[action], faded))


def swatch_icon(colour: QColor, ink: QColor) -> QIcon:
    """Disc in the colour of an object."""

    def draw(painter: QPainter) -> None:
        painter.setPen(QPen(ink, 1.0))
        painter.setBrush(colour)
        painter.drawEllipse(QRectF(3.0, 3.0, SIDE - 6.0, SIDE - 6.0))

    return draw_icon(SIDE, draw)


def _draw(shape: Callable[[QPainter, QColor], None], ink: QColor, painter: QPainter) -> None:
    painter.scale(SIDE / _GRID, SIDE / _GRID)
    painter.setPen(QPen(ink, 1.3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    shape(painter, ink)


def _polygon(*points: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


def _arrow(painter: QPainter, ink: QColor) -> None:
    painter.setBrush(ink)
    painter.drawPolygon(_polygon((4, 2), (4, 13), (6.8, 10.4), (8.6, 14.2), (10.4, 13.4), (8.6, 9.7), (12.3, 9.5)))


def _brush(painter: QPainter, ink: QColor) -> None:
    painter.drawPolygon(_polygon((13.6, 1.6), (14.6, 2.6), (8.6, 10.0), (6.6, 8.0)))
    tip = QPainterPath(QPointF(6.0, 8.8))
    tip.cubicTo(3.4, 8.8, 4.4, 12.2, 1.6, 13.4)
    tip.cubicTo(4.8, 15.0, 8.4, 13.4, 7.8, 10.6)
    tip.closeSubpath()
    painter.fillPath(tip, ink)


def _eraser(painter: QPainter, ink: QColor) -> None:
    painter.drawPolygon(_polygon((9.4, 2.2), (14.0, 6.8), (7.6, 13.2), (5.0, 13.2), (2.0, 10.2), (2.0, 9.6)))
    painter.drawLine(QPointF(5.6, 6.0), QPointF(10.2, 10.6))
    painter.drawLine(QPointF(5.0, 13.6), QPointF(14.0, 13.6))


def _lasso(painter: QPainter, ink: QColor) -> None:
    painter.drawEllipse(QRectF(2.0, 2.2, 12.0, 7.4))
    tail = QPainterPath(QPointF(5.0, 9.2))
    tail.cubicTo(2.6, 10.4, 4.2, 12.4, 6.0, 11.2)
    tail.cubicTo(7.4, 10.2, 5.0, 9.0, 4.6, 11.4)
    tail.cubicTo(4.4, 12.8, 5.0, 13.6, 6.0, 14.2)
    painter.drawPath(tail)


def _box(painter: QPainter, ink: QColor) -> None:
    painter.drawRect(QRectF(3.0, 4.0, 10.0, 8.0))
    painter.setBrush(ink)
    for x in (3.0, 13.0):
        for y in (4.0, 12.0):
            painter.drawRect(QRectF(x - 0.9, y - 0.9, 1.8, 1.8))


def _magnet(painter: QPainter, ink: QColor) -> None:
    body = QPainterPath(QPointF(3.0, 3.0))
    body.lineTo(3.0, 8.4)
    body.arcTo(QRectF(3.0, 3.4, 10.0, 10.0), 180.0, 180.0)
    body.lineTo(13.0, 3.0)
    body.lineTo(9.8, 3.0)
    body.lineTo(9.8, 8.4)
    body.arcTo(QRectF(6.2, 6.6, 3.6, 3.6), 0.0, -180.0)
    body.lineTo(6.2, 3.0)
    body.closeSubpath()
    painter.drawPath(body)
    painter.fillRect(QRectF(3.0, 3.0, 3.2, 2.6), ink)
    painter.fillRect(QRectF(9.8, 3.0, 3.2, 2.6), ink)


_SHAPES: Mapping[str, Callable[[QPainter, QColor], None]] = MappingProxyType(
    {
        "tool_select": _arrow,
        "tool_brush": _brush,
        "tool_eraser": _eraser,
        "tool_lasso": _lasso,
        "tool_box": _box,
        "tool_snap": _magnet,
    }
)

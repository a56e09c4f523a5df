"""Icons of the views, drawn in a square of 16 by 16."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPolygonF

from scstream_app.ui.qt.appearance.icons import draw_icon

ICON_SIDE = 18
_FRAME = QRectF(1.5, 2.5, 13.0, 11.0)
_RED, _YELLOW, _GREEN, _BLUE = (QColor(name) for name in ("#d9553f", "#e2a72e", "#3fa06a", "#3d7ec9"))
_FADED = 0.35

Drawing = Callable[[QPainter, QColor], None]


def view_icon(name: str, ink: QColor) -> QIcon:
    """Icon of a view; views without a drawing of their own get their first letter in a frame."""
    drawing = _DRAWINGS.get(name)

    def draw(painter: QPainter) -> None:
        painter.scale(ICON_SIDE / 16.0, ICON_SIDE / 16.0)
        if drawing is None:
            _letter(painter, name[:1].upper())
        else:
            drawing(painter, ink)
        painter.setPen(QPen(ink, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(_FRAME)

    def draw_faded(painter: QPainter) -> None:
        painter.setOpacity(_FADED)
        draw(painter)

    return draw_icon(ICON_SIDE, draw, disabled=draw_faded)


def objects_icon(ink: QColor) -> QIcon:
    """Icon of the objects: a tinted outline."""

    def draw(painter: QPainter) -> None:
        painter.scale(ICON_SIDE / 16.0, ICON_SIDE / 16.0)
        tint = QColor(_YELLOW)
        tint.setAlphaF(0.5)
        painter.setBrush(tint)
        painter.setPen(QPen(ink, 1.4))
        painter.drawEllipse(QRectF(3.0, 2.5, 10.0, 11.0))

    return draw_icon(ICON_SIDE, draw)


def _original(painter: QPainter, ink: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(_points((2, 13), (6, 7), (9, 10.5), (11, 8.5), (14, 13)))
    painter.drawEllipse(QPointF(11.0, 5.5), 1.3, 1.3)


def _overlay(painter: QPainter, ink: QColor) -> None:
    for colour, corners in (
        (_BLUE, ((2, 3), (14, 3), (14, 8), (2, 10))),
        (_GREEN, ((2, 10), (14, 8), (14, 13), (2, 13))),
    ):
        _fill(painter, colour, *corners)
    painter.setBrush(_YELLOW)
    painter.setPen(QPen(ink, 0.8))
    painter.drawEllipse(QPointF(8.5, 7.5), 2.8, 2.8)


def _mean_colour(painter: QPainter, ink: QColor) -> None:
    for colour, x, y in ((_BLUE, 2, 3), (_YELLOW, 8, 3), (_GREEN, 2, 8), (_RED, 8, 8)):
        painter.fillRect(QRectF(x, y, 6.0, 5.0), colour)


def _boundaries(painter: QPainter, ink: QColor) -> None:
    painter.setPen(QPen(ink, 1.2))
    painter.drawPolyline(_points((2, 9), (6, 10.5), (10, 8), (14, 9.5)))
    painter.drawPolyline(_points((6, 10.5), (5, 3)))
    painter.drawPolyline(_points((10, 8), (11, 13)))


def _uncertainty(painter: QPainter, ink: QColor) -> None:
    for place, colour in enumerate(("#1b0c41", "#781c6d", "#cf4446", "#fb9b06", "#f7f58b")):
        painter.fillRect(QRectF(2.0 + 2.4 * place, 3.0, 2.5, 10.0), QColor(colour))


def _matte(painter: QPainter, ink: QColor) -> None:
    light, dark = QColor(ink), QColor(ink)
    light.setAlphaF(0.12)
    dark.setAlphaF(0.38)
    for column in range(4):
        for row in range(3):
            place = QRectF(2.0 + 3.1 * column, 3.0 + 3.4 * row, 3.1, 3.4)
            painter.fillRect(place, dark if (column + row) % 2 else light)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_BLUE)
    painter.drawEllipse(QPointF(8.0, 8.0), 3.2, 3.6)


def _side_by_side(painter: QPainter, ink: QColor) -> None:
    painter.fillRect(QRectF(8.0, 3.0, 6.0, 10.0), _BLUE)
    painter.setPen(QPen(ink, 1.2))
    painter.drawLine(QPointF(8.0, 2.5), QPointF(8.0, 13.5))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_YELLOW)
    painter.drawEllipse(QPointF(11.2, 8.0), 1.7, 1.7)
    painter.setBrush(ink)
    painter.drawEllipse(QPointF(4.8, 8.0), 1.7, 1.7)


def _wipe(painter: QPainter, ink: QColor) -> None:
    painter.fillRect(QRectF(9.5, 3.0, 4.5, 10.0), _BLUE)
    painter.setPen(QPen(ink, 1.4))
    painter.drawLine(QPointF(9.5, 1.0), QPointF(9.5, 15.0))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(_points((4, 8), (7, 5.8), (7, 10.2)))


def _letter(painter: QPainter, letter: str) -> None:
    font = painter.font()
    font.setPixelSize(9)
    painter.setFont(font)
    painter.drawText(_FRAME, Qt.AlignmentFlag.AlignCenter, letter)


def _fill(painter: QPainter, colour: QColor, *corners: tuple[float, float]) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(_points(*corners))


def _points(*corners: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in corners])


_DRAWINGS: Mapping[str, Drawing] = MappingProxyType(
    {
        "original": _original,
        "overlay": _overlay,
        "mean_colour": _mean_colour,
        "boundaries": _boundaries,
        "uncertainty": _uncertainty,
        "matte": _matte,
        "side_by_side": _side_by_side,
        "wipe": _wipe,
    }
)

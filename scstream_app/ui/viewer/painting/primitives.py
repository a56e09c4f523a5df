"""Painting functions of the viewer: pictures, dashed lines, outlines, the wipe's divider, texts."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
from pyqtgraph import arrayToQPath  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPalette, QPen

from scstream_app.render.image_types import Picture
from scstream_app.render.markings import Lines

#: Length of a dash in picture pixels.
_DASH = 3


def as_image(picture: Picture) -> QImage:
    """Wrap a picture in a QImage that shares its memory; the caller must keep the picture alive."""
    height, width, channels = picture.shape
    form = QImage.Format.Format_RGBA8888 if channels == 4 else QImage.Format.Format_RGB888
    image = QImage(picture.data, width, height, picture.strides[0], form)
    # The image is in picture pixels, whatever the pixel ratio of the screen.
    image.setDevicePixelRatio(1.0)
    return image


def average(picture: Picture, scale: float) -> Picture:
    """Shrink a picture; each new pixel is the mean of the pixels it covers."""
    return _resized(picture, scale, cv2.INTER_AREA)


def interpolate(picture: Picture, scale: float) -> Picture:
    """Resize a picture smoothly, to no less than half of its size."""
    return _resized(picture, scale, cv2.INTER_LINEAR)


def _resized(picture: Picture, scale: float, interpolation: int) -> Picture:
    height, width = picture.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.ascontiguousarray(cv2.resize(picture, size, interpolation=interpolation), np.uint8)


def dashed(line: npt.NDArray[np.bool_]) -> Picture:
    """Draw a line mask (H, W) in black and white dashes, visible on any background, as RGBA (H, W, 4)."""
    picture = np.zeros((*line.shape, 4), np.uint8)
    rows, columns = np.nonzero(line)
    picture[rows, columns, :3] = np.where((rows + columns) // _DASH % 2, 255, 0)[:, None]
    picture[rows, columns, 3] = 255
    return picture


def outline_path(lines: Lines) -> QPainterPath:
    """The path along an outline, in pixels of the frame."""
    points, joined = lines
    path: QPainterPath = arrayToQPath(points[:, 0].copy(), points[:, 1].copy(), connect=joined)
    return path


def background(palette: QPalette) -> QColor:
    """Background colour around the picture: darker than the window, so that the picture stands out."""
    return palette.color(QPalette.ColorRole.Window).darker(112)


def paint_text(painter: QPainter, rect: QRect, palette: QPalette, text: str) -> None:
    """Paint a text in the centre of the empty viewer."""
    colour = QColor(palette.color(QPalette.ColorRole.WindowText))
    colour.setAlphaF(0.75)
    painter.setPen(colour)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, text)


def paint_note(painter: QPainter, rect: QRect, text: str) -> None:
    """Paint a text on a dark plate in the centre of a picture."""
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    box = painter.boundingRect(rect.adjusted(24, 24, -24, -24), int(flags), text)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(18, 18, 22, 220))
    painter.drawRoundedRect(box.adjusted(-12, -8, 12, 8), 6, 6)
    painter.setPen(QColor(242, 242, 244))
    painter.drawText(box, flags, text)


def paint_divider(painter: QPainter, x: float, top: float, bottom: float, height: float) -> None:
    """Paint the divider of the wipe, with a knob in the middle of its visible part."""
    middle = (max(top, 0.0) + min(bottom, height)) / 2.0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for colour, width in ((QColor(0, 0, 0, 120), 3.0), (QColor(255, 255, 255), 1.0)):
        painter.setPen(QPen(colour, width))
        painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    painter.setPen(QPen(QColor(0, 0, 0, 120), 1.0))
    painter.setBrush(QColor(255, 255, 255))
    painter.drawEllipse(QPointF(x, middle), 7.0, 7.0)
    painter.setPen(QPen(QColor(60, 60, 60), 1.5))
    for side in (-1.0, 1.0):
        tip = QPointF(x + 4.5 * side, middle)
        for up in (-2.5, 2.5):
            painter.drawLine(tip, QPointF(x + 2.0 * side, middle + up))

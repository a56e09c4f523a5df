"""Paints the picture in the viewer, smoothly or as squares, and keeps it while only marks over it change."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap

from scstream_app.render.image_types import Picture
from scstream_app.ui.qt.widgets import paint_checkers
from scstream_app.ui.viewer.viewer_painting import as_image, average

#: From this zoom on pixels are drawn as squares; below it squares would have uneven widths.
_PIXELATED_FROM = 2.0
#: Below this zoom QPainter's smoothing skips pixels.
_AVERAGED_BELOW = 0.5


@dataclass(frozen=True, slots=True)
class PicturePlace:
    """Where a picture is painted: rectangle and scale in screen pixels, and screen pixels per logical pixel."""

    target: QRectF
    scale: float
    ratio: float


class PicturePainter:
    """Paints pictures in screen pixels."""

    def __init__(self) -> None:
        self._averaged: tuple[Picture, float, Picture] | None = None
        self._kept: tuple[Picture, PicturePlace, QSize, QColor, QPixmap] | None = None

    def clear(self) -> None:
        """Release the pictures."""
        self._averaged = self._kept = None

    def paint(self, painter: QPainter, picture: Picture, place: PicturePlace) -> None:
        """Paint the picture; transparent ones on checkers."""
        image, target = as_image(picture), place.target
        if image.hasAlphaChannel():
            paint_checkers(painter, target, place.ratio)
        if place.scale < _AVERAGED_BELOW:
            painter.drawImage(target.topLeft(), self._smaller(picture, place.scale))
            return
        smooth = place.scale < _PIXELATED_FROM and place.scale != 1.0
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(target, image)

    def _smaller(self, picture: Picture, scale: float) -> QImage:
        if self._averaged is None or self._averaged[0] is not picture or self._averaged[1] != scale:
            self._averaged = picture, scale, average(picture, scale)
        return as_image(self._averaged[2])

    def paint_kept(self, painter: QPainter, picture: Picture, place: PicturePlace, size: QSize, around: QColor) -> None:
        """As `paint`, with the colour ``around`` the picture, from a pixmap of ``size`` made the first time.

        Copying the pixmap takes a fraction of the time that scaling the picture takes.
        """
        kept = self._kept
        if kept is None or kept[0] is not picture or kept[1:4] != (place, size, around):
            pixmap = QPixmap(size)
            pixmap.fill(around)
            inner = QPainter(pixmap)
            self.paint(inner, picture, place)
            inner.end()
            self._kept = kept = picture, place, size, around, pixmap
        painter.drawPixmap(0, 0, kept[4])

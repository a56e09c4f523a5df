"""Paints the picture in the viewer, smoothly or as squares, and keeps it while only marks over it change."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from scstream_app.render.image_types import Picture
from scstream_app.ui.qt.widgets import paint_checkers
from scstream_app.ui.viewer.painting.primitives import as_image, average, interpolate

#: From this zoom on pixels are drawn as squares; below it squares would have uneven widths.
_PIXELATED_FROM = 2.0
#: Below this zoom QPainter's smoothing skips pixels.
_AVERAGED_BELOW = 0.5
#: Pictures that are wider or higher than the viewer by more than this factor are left to Qt, which scales only the part
#: that is visible.
_MOST_VIEWS = 1.25


@dataclass(frozen=True, slots=True)
class PicturePlace:
    """Where a picture is painted: rectangle and scale in screen pixels, and screen pixels per logical pixel."""

    target: QRectF
    scale: float
    ratio: float


class PicturePainter:
    """Paints pictures in screen pixels."""

    def __init__(self) -> None:
        self._resized: tuple[Picture, float, Picture] | None = None
        self._kept: tuple[Picture, PicturePlace, QSize, QColor, QPixmap] | None = None

    def clear(self) -> None:
        """Release the pictures."""
        self._resized = self._kept = None

    def paint(self, painter: QPainter, picture: Picture, place: PicturePlace) -> None:
        """Paint the picture; transparent ones on checkers."""
        image, target = as_image(picture), place.target
        if image.hasAlphaChannel():
            paint_checkers(painter, target, place.ratio)
        # Transparent pixels have no colour that could be mixed with those beside them; Qt takes care of that.
        smooth = place.scale < _PIXELATED_FROM and place.scale != 1.0
        if place.scale < _AVERAGED_BELOW or (smooth and picture.shape[2] == 3 and _fits(target, painter)):
            corner = QPointF(round(target.left()), round(target.top()))
            painter.drawImage(corner, as_image(self._at_scale(picture, place.scale)))
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(target, image)

    def _at_scale(self, picture: Picture, scale: float) -> Picture:
        """The picture in the size in which it is shown.

        Qt would keep all threads that run Python waiting while it scales, and take several times as long.
        """
        if self._resized is None or self._resized[0] is not picture or self._resized[1] != scale:
            resize = average if scale < _AVERAGED_BELOW else interpolate
            self._resized = picture, scale, resize(picture, scale)
        return self._resized[2]

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


def _fits(target: QRectF, painter: QPainter) -> bool:
    """Whether most of the picture is inside the widget or pixmap that is painted on."""
    device = painter.device()
    most = _MOST_VIEWS * device.devicePixelRatioF()
    return target.width() <= most * device.width() and target.height() <= most * device.height()

"""Zoom and position of a picture on the screen, without Qt widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, QSize

#: Largest zoom, in screen pixels per picture pixel.
MAX_SCALE = 64.0
#: Part of the picture that stays visible when the user drags it out, in screen pixels.
_KEPT_IN_SIGHT = 48.0


@dataclass(frozen=True, slots=True)
class Viewport:
    """Zoom and position of a picture: screen pixels per picture pixel, and the position of its upper left corner.

    Examples
    --------
    >>> placed = Viewport.fitting(QSize(100, 50), QSize(400, 400))
    >>> placed.scale, placed.left, placed.top
    (4.0, 0.0, 100.0)
    >>> closer = placed.scaled(8.0, QPointF(40.0, 140.0))
    >>> closer.inverse(QPointF(40.0, 140.0)) == placed.inverse(QPointF(40.0, 140.0))
    True
    """

    scale: float = 1.0
    left: float = 0.0
    top: float = 0.0

    @classmethod
    def fitting(cls, picture: QSize, view: QSize) -> Viewport:
        """Viewport that shows the whole picture as large as possible."""
        scale = min(view.width() / picture.width(), view.height() / picture.height(), MAX_SCALE)
        return cls.centred(scale, picture, view)

    @classmethod
    def centred(cls, scale: float, picture: QSize, view: QSize) -> Viewport:
        """Viewport with the picture centred in the view."""
        left = (view.width() - scale * picture.width()) / 2.0
        return cls(scale, left, (view.height() - scale * picture.height()) / 2.0)

    def scaled(self, scale: float, at: QPointF) -> Viewport:
        """Change the scale; the screen point ``at`` stays in place."""
        factor = scale / self.scale
        left, top = at.x() - factor * (at.x() - self.left), at.y() - factor * (at.y() - self.top)
        return Viewport(scale, left, top)

    def moved(self, by: QPointF) -> Viewport:
        """Shift the picture on the screen."""
        return replace(self, left=self.left + by.x(), top=self.top + by.y())

    def kept_in(self, picture: QSize, view: QSize) -> Viewport:
        """Shift the picture so that part of it stays visible."""
        width, height = self.scale * picture.width(), self.scale * picture.height()
        x, y = min(_KEPT_IN_SIGHT, width), min(_KEPT_IN_SIGHT, height)
        return replace(
            self,
            left=min(max(self.left, x - width), view.width() - x),
            top=min(max(self.top, y - height), view.height() - y),
        )

    def target(self, picture: QSize) -> QRectF:
        """Rectangle of the picture. Its edges are on whole screen pixels: 100 % is exact, and backgrounds fit."""
        width, height = round(self.scale * picture.width()), round(self.scale * picture.height())
        return QRectF(round(self.left), round(self.top), width, height)

    def inverse(self, at: QPointF) -> QPointF:
        """Convert a screen point to picture pixels."""
        return QPointF((at.x() - round(self.left)) / self.scale, (at.y() - round(self.top)) / self.scale)

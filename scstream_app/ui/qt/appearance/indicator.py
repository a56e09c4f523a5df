"""Small round indicator light, as widget and as icon."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QWidget

from scstream_app.ui.qt.appearance.icons import draw_icon

_SIZE = 10


class Indicator(QWidget):
    """Filled circle in a given colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colour = QColor()
        self.setFixedSize(QSize(_SIZE, _SIZE))

    @property
    def colour(self) -> QColor:
        """Current colour."""
        return self._colour

    def set_colour(self, colour: QColor) -> None:
        """Set the colour."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.palette().color(QPalette.ColorRole.Mid))
        painter.setBrush(self._colour)
        painter.drawEllipse(self.rect().adjusted(1, 1, -1, -1))
        painter.end()


def disc_icon(colour: QColor) -> QIcon:
    """Icon of a filled circle."""

    def draw(painter: QPainter) -> None:
        painter.setPen(QColor(127, 127, 127))
        painter.setBrush(colour)
        painter.drawEllipse(QRectF(0.5, 0.5, _SIZE - 1.0, _SIZE - 1.0))

    return draw_icon(_SIZE, draw)

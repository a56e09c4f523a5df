"""A small round light."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QWidget

_SIZE = 10


class Dot(QWidget):
    """A filled circle in whatever colour it is to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colour = QColor()
        self.setFixedSize(QSize(_SIZE, _SIZE))

    @property
    def colour(self) -> QColor:
        """What it shows."""
        return self._colour

    def show_in(self, colour: QColor) -> None:
        """Light up."""
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

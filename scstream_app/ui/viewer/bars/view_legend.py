"""Legends of the views whose colours have a meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from scstream_app.render import views
from scstream_app.render.image_types import Picture
from scstream_app.ui.viewer.painting.primitives import as_image

_GREY, _DARK, _BRIGHT = 90, 40, 225
#: Size of the colour scale and of the samples of lines, and the distance between parts, in pixels.
_SCALE, _SAMPLE, _GAP = (72, 10), (18, 12), 6

#: Words and pictures from left to right.
Parts = tuple[str | Picture, ...]


def _uncertainty() -> Parts:
    width, height = _SCALE
    doubt = np.tile(np.linspace(0.0, 1.0, width, dtype=np.float32), (height, 1))
    return "certain", views.uncertainty(np.full((height, width, 3), _GREY, np.uint8), doubt), "uncertain"


def _boundaries() -> Parts:
    return _line_sample(_DARK), "on dark", _line_sample(_BRIGHT), "on bright"


def _line_sample(ground: int) -> Picture:
    """Picture of two segments on even ground, with the line between them."""
    width, height = _SAMPLE
    ids = np.zeros((height, width), np.int32)
    ids[:, width // 2 :] = 1
    thin = views.boundaries(np.full((height, width, 3), ground, np.uint8), ids)
    # One pixel is hard to see in so small a picture.
    return np.where((np.roll(thin, 1, axis=1) != ground).any(axis=2, keepdims=True), np.roll(thin, 1, axis=1), thin)


_LEGENDS: Mapping[str, Callable[[], Parts]] = MappingProxyType({"uncertainty": _uncertainty, "boundaries": _boundaries})


class ViewLegend(QWidget):
    """Explains the colours of a view; has no width for views that need no explanation."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self._parts: Parts = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.show_view("")

    @property
    def text(self) -> str:
        """The words of the legend."""
        return " ".join(part for part in self._parts if isinstance(part, str))

    def show_view(self, name: str) -> None:
        """Show the legend of a view."""
        self._parts = _LEGENDS[name]() if name in _LEGENDS else ()
        self.setAccessibleName(f"Legend: {self.text}" if self._parts else "")
        widths = [self._width(part) for part in self._parts]
        self.setFixedWidth(sum(widths) + _GAP * max(len(widths) - 1, 0))
        self.update()

    def _width(self, part: str | Picture) -> int:
        return self.fontMetrics().horizontalAdvance(part) if isinstance(part, str) else part.shape[1]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        left = 0
        for part in self._parts:
            width = self._width(part)
            if isinstance(part, str):
                place = QRectF(left, 0, width + 1, self.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, part)
            else:
                height = part.shape[0]
                place = QRectF(left, (self.height() - height) // 2, width, height)
                painter.drawImage(place, as_image(np.ascontiguousarray(part)))
                painter.drawRect(place)
            left += width + _GAP
        painter.end()

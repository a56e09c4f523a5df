"""Icons that are drawn, sharp on every screen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

Draw = Callable[[QPainter], object]

#: Icons are drawn for screens up to this ratio.
_RATIOS = (1, 2, 3)


def draw_icon(side: int, draw: Draw, disabled: Draw | None = None) -> QIcon:
    """A square icon of so many pixels; ``disabled`` draws it where what it stands for cannot be done.

    In a row that is selected it keeps its colours.
    """
    icon = QIcon()
    for ratio in _RATIOS:
        pixmap = _pixmap(side, ratio, draw)
        icon.addPixmap(pixmap)
        icon.addPixmap(pixmap, QIcon.Mode.Selected)
        if disabled is not None:
            icon.addPixmap(_pixmap(side, ratio, disabled), QIcon.Mode.Disabled)
    return icon


def _pixmap(side: int, ratio: int, draw: Draw) -> QPixmap:
    pixmap = QPixmap(side * ratio, side * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw(painter)
    painter.end()
    return pixmap

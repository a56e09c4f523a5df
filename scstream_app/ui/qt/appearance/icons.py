"""Icons drawn by code, sharp on every screen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

Draw = Callable[[QPainter], object]

#: Screen pixel ratios that icons are drawn for.
_RATIOS = (1, 2, 3)


def draw_icon(side: int, draw: Draw, disabled: Draw | None = None) -> QIcon:
    """Create a square icon of ``side`` pixels; ``disabled`` draws its disabled state.

    The icon keeps its colours in selected rows.
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

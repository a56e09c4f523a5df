"""The divider of the wipe, which the mouse drags."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from scstream_app.ui.document.display import Display
from scstream_app.ui.viewer.geometry.frame_map import FrameMap
from scstream_app.ui.viewer.painting.primitives import paint_divider

#: Distance from the divider within which it can be dragged, in logical pixels.
_GRIP = 6.0
WIPE = "wipe"


class WipeDivider:
    """The line between the original and the overlay.

    Attributes
    ----------
    dragged : bool
        Whether the mouse holds it.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self.dragged = False

    @property
    def visible(self) -> bool:
        """Whether the frame on the screen is wiped."""
        shown = self._display.shown
        return shown is not None and shown.look.view == WIPE == self._display.look.view

    def _x(self, placed: FrameMap) -> float:
        edge = round(self._display.look.divider * placed.width)
        return placed.left + edge * placed.scale

    def is_at(self, point: QPointF, placed: FrameMap | None) -> bool:
        """Whether the mouse can take hold of it at a point of the viewer."""
        return self.visible and placed is not None and abs(point.x() - self._x(placed)) <= _GRIP

    def drag(self, point: QPointF, placed: FrameMap | None) -> None:
        """Move it to a point of the viewer."""
        if placed is None:
            return
        divider = min(max((point.x() - placed.left) / (placed.scale * placed.width), 0.0), 1.0)
        if divider != self._display.look.divider:
            self._display.set_look(divider=divider)

    def paint(self, painter: QPainter, placed: FrameMap, height: float) -> None:
        """Paint it if the frame is wiped; ``height`` is that of the viewer."""
        if self.visible:
            area = placed.transform((0, 0)).mapRect(QRectF(0.0, 0.0, placed.width, placed.height))
            paint_divider(painter, self._x(placed), area.top(), area.bottom(), height)

"""Base class of the tools that draw on a frame: from the press of the mouse button to its release."""

from __future__ import annotations

from abc import ABC, abstractmethod

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent

from scstream_app.ui.document.undo_commands.painting import PaintedFrame
from scstream_app.ui.viewer.geometry.frame_map import Tile
from scstream_app.ui.viewer.mouse.viewer_tool import ViewerTool
from scstream_app.ui.viewer.tools.canvas import Canvas
from scstream_app.ui.viewer.tools.strokes import Point


class DrawingTool(ViewerTool, ABC):
    """A tool that draws on the frame shown. The stroke ends without effect if another frame is shown meanwhile."""

    cursor = Qt.CursorShape.CrossCursor
    describes = False

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._frame: PaintedFrame | None = None
        self._tile: Tile = (0, 0)
        canvas.applied.connect(self._on_applied)

    # --- for subclasses

    @abstractmethod
    def _start(self, frame: PaintedFrame, point: Point) -> None:
        """Begin at a point of the frame."""

    @abstractmethod
    def _go_on(self, point: Point) -> None:
        """Go on to a point of the frame."""

    @abstractmethod
    def _finish(self, frame: PaintedFrame, modifiers: Qt.KeyboardModifier) -> None:
        """Apply what was drawn; the frame has the masks of this moment."""

    def _forget(self) -> None:
        """Forget what was drawn."""

    # --- as a tool

    @property
    def drawing(self) -> bool:
        """Whether the user is drawing."""
        return self._frame is not None

    def press(self, event: QMouseEvent) -> None:
        """Begin to draw."""
        placed = self._canvas.viewer.frame_map()
        self._frame = None if placed is None else self._canvas.begin()
        if placed is not None and self._frame is not None:
            self._tile = placed.tile_at(event.position())
            self._start(self._frame, self._point(event.position()))
            self._canvas.viewer.update()

    def move(self, event: QMouseEvent) -> None:
        """Go on drawing while the button is held."""
        if self._frame is not None:
            self._go_on(self._point(event.position()))

    def release(self, event: QMouseEvent) -> None:
        """Apply what was drawn."""
        frame, self._frame = self._frame, None
        now = PaintedFrame.shown(self._canvas.viewer.document)
        if frame is not None and now is not None:
            # Tracked masks may have arrived since the button was pressed.
            self._finish(now, event.modifiers())
        self._on_applied(False)

    def _on_applied(self, redrawn: bool) -> None:
        """Forget what was drawn, unless the frame is about to show it."""
        if not (redrawn or self.drawing or self._canvas.busy):
            self._forget()
            self._canvas.viewer.update()

    def frame_changed(self) -> None:
        """Give up if another frame is shown; forget what the frame shows now."""
        index = self._canvas.viewer.document.display.index
        if self._frame is not None and self._frame.result.index != index:
            self.cancel()
            self._canvas.viewer.show_toast("Another frame is shown: draw again.")
        self._on_applied(False)

    def cancel(self) -> bool:
        """Give up what was drawn."""
        drawing, self._frame = self.drawing, None
        self._forget()
        self._canvas.viewer.update()
        return drawing

    def _point(self, point: QPointF) -> Point:
        return self._canvas.frame_point(point, self._tile)

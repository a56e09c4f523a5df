"""ViewerTool: what the left mouse button does in the viewer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent, QPainter, QWheelEvent


class ViewerTool:
    """Base class of tools. The viewer calls these methods; all do nothing by default."""

    #: Shape of the cursor over the picture.
    cursor = Qt.CursorShape.ArrowCursor
    #: Whether the viewer describes the segment under the mouse.
    describes = True

    def press(self, event: QMouseEvent) -> None:
        """The left button was pressed."""

    def double_click(self, event: QMouseEvent) -> None:
        """The left button was pressed for the second time."""
        self.press(event)

    def move(self, event: QMouseEvent) -> None:
        """The mouse was moved, with or without a button."""

    def release(self, event: QMouseEvent) -> None:
        """The left button was released."""

    def leave(self) -> None:
        """The mouse left the viewer."""

    def wheel(self, event: QWheelEvent) -> bool:
        """The wheel was turned; returns whether the tool uses that, otherwise the picture is zoomed."""
        return False

    def frame_changed(self) -> None:
        """Another frame, or the same one drawn again, is on the screen."""

    def cancel(self) -> bool:
        """Give up what was begun; returns whether there was anything."""
        return False

    def paint(self, painter: QPainter) -> None:
        """Paint over the picture, in logical pixels of the viewer."""

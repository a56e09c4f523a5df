"""Move the picture with the mouse, whatever tool is chosen: middle or right button, or Space and the left button."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication

from scstream_app.ui.viewer.geometry.zoom_view import ZoomView


class Panning:
    """A drag that moves the picture.

    Attributes
    ----------
    space : bool
        Whether the Space key is held down.
    used_space : bool
        Whether the picture was moved since Space was pressed.
    dragged_right : bool
        Whether the right button moved the picture the last time it was pressed: then it does not mean a menu.
    """

    def __init__(self, view: ZoomView) -> None:
        self._view = view
        self._button: Qt.MouseButton | None = None
        self._pressed = self._last = QPointF()
        self._moving = False
        self.space = self.used_space = self.dragged_right = False

    @property
    def moving(self) -> bool:
        """Whether the picture follows the mouse."""
        return self._moving

    @property
    def holds_right(self) -> bool:
        """Whether the right button is down, but has not moved the picture."""
        return self._button is Qt.MouseButton.RightButton and not self._moving

    def takes_key(self, event: QKeyEvent) -> bool:
        """Whether a key press is one of Space over the picture, which no shortcut must take."""
        plain = event.key() == Qt.Key.Key_Space and not event.modifiers()
        return plain and (self.space or self._view.underMouse())

    def press_key(self, event: QKeyEvent) -> bool:
        """Hold Space down; returns False for other keys."""
        if not self.takes_key(event):
            return False
        if not event.isAutoRepeat():
            self.space, self.used_space = True, False
        return True

    def release_key(self, event: QKeyEvent) -> bool:
        """Release Space; returns False for other keys.

        If the picture was not moved meanwhile, do what the key does elsewhere when it is pressed.
        """
        if event.key() != Qt.Key.Key_Space or event.isAutoRepeat() or not self.space:
            return False
        self.space = False
        if not self.used_space:
            for action in self._view.window().actions():
                if action.isEnabled() and QKeySequence(Qt.Key.Key_Space) in action.shortcuts():
                    action.trigger()
        return True

    def press(self, event: QMouseEvent) -> bool:
        """Begin with a button of the mouse; returns False if the button does not move the picture."""
        button = event.button()
        if button is Qt.MouseButton.RightButton:
            self.dragged_right = False
        if button is Qt.MouseButton.LeftButton and not self.space:
            return False
        self.begin(button, event.position())
        return True

    def begin(self, button: Qt.MouseButton, point: QPointF) -> None:
        """Begin with any button, at a point of the viewer."""
        self._button, self._moving = button, False
        self._pressed = self._last = point

    def move(self, event: QMouseEvent) -> bool:
        """Move the picture if a button was pressed for it; returns whether one was."""
        if self._button is None:
            return False
        now = event.position()
        far = (now - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        if self._moving or far:
            self._view.pan(now - self._last)
            self._moving, self._last = True, now
            self.used_space = self.used_space or self.space
            self.dragged_right = self.dragged_right or self._button is Qt.MouseButton.RightButton
        return True

    def release(self, event: QMouseEvent) -> bool:
        """End; returns whether the button was pressed for it."""
        if self._button is None or event.button() is not self._button:
            return False
        self._button, self._moving = None, False
        return True

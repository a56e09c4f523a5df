"""Chooses how the side-by-side view is laid out: next to each other, or stacked if the viewer is taller than wide."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from scstream_app.ui.document.display import Display


class StackedLayout(QObject):
    """Follows the shape of the viewer."""

    def __init__(self, viewer: QWidget, display: Display) -> None:
        super().__init__(viewer)
        self._viewer, self._display = viewer, display
        viewer.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            stacked = self._viewer.height() > self._viewer.width()
            if stacked != self._display.look.stacked:
                self._display.set_look(stacked=stacked)
        return super().eventFilter(watched, event)

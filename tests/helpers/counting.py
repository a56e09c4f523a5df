"""Counting what happens to widgets."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget


class Counter(QObject):
    """Counts how often something happens to widgets from now on."""

    def __init__(self, kind: QEvent.Type, *widgets: QWidget) -> None:
        super().__init__()
        self._kind, self._count = kind, 0
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See Qt."""
        self._count += event.type() == self._kind
        return False

    @property
    def count(self) -> int:
        """As of now, when all that was put off has been done."""
        for _ in range(5):
            QApplication.processEvents()
        return self._count

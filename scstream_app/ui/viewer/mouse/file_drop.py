"""Drag and drop of files, folders and URLs onto a widget."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget


class FileDrop(QWidget):
    """Widget onto which files can be dropped.

    ``dropped`` carries a list of paths and URLs.
    """

    dropped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dropping = False
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_addresses(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._set_dropping(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._set_dropping(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._set_dropping(False)
        addresses = _dropped_addresses(event.mimeData())
        if addresses:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(addresses)

    def _set_dropping(self, dropping: bool) -> None:
        self._dropping = dropping
        self.update()

    def paint_drop_frame(self, painter: QPainter) -> None:
        """Paint a frame around the widget while something is dragged over it."""
        if self._dropping:
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 3))
            painter.drawRect(self.rect().adjusted(1, 1, -2, -2))


def _dropped_addresses(data: QMimeData) -> list[str]:
    """Paths of the dragged files and folders, and URLs of streams."""
    return [url.toLocalFile() if url.isLocalFile() else url.toString() for url in data.urls() if url.isValid()]

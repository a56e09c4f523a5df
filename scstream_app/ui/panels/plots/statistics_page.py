"""Base class of the tabs of the statistics dock."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.abstract_qt import AbstractQtMeta


class StatisticsPage(QWidget, metaclass=AbstractQtMeta):
    """Plot or table that follows the document; a text explains the tab while it has no data.

    Parameters
    ----------
    empty_text : str
        Text shown while there is no data.
    """

    def __init__(self, document: Document, empty_text: str) -> None:
        super().__init__()
        self._document = document
        label = QLabel(empty_text)
        label.setObjectName("nothing")
        label.setWordWrap(True)
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setMargin(12)
        self._pages = QStackedWidget()
        self._pages.addWidget(label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)

    def _set_content(self, content: QWidget, choice: QWidget | None = None, legend: QLabel | None = None) -> None:
        """Set the plot or table, with an optional choice of what it shows above it and a legend below."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        if choice is not None:
            row = QHBoxLayout()
            row.setContentsMargins(8, 4, 8, 4)
            row.addWidget(choice)
            row.addStretch(1)
            column.addLayout(row)
        column.addWidget(content, 1)
        if legend is not None:
            legend.setContentsMargins(8, 2, 8, 2)
            legend.setWordWrap(True)
            column.addWidget(legend)
        self._pages.addWidget(page)

    @Slot()
    def refresh(self) -> None:
        """Update the content."""
        self._update_content()
        self._pages.setCurrentIndex(int(self._has_content()))

    @abstractmethod
    def _update_content(self) -> None:
        """Update the plot or table from the document."""

    @abstractmethod
    def _has_content(self) -> bool:
        """Whether there is data to show."""

    def reset(self) -> None:
        """Reset zoom and position for a new document."""

    def paint(self) -> None:
        """Apply the application's palette where Qt does not."""

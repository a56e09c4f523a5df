"""What the tabs of the statistics dock have in common: words where there is nothing yet, a choice, a legend."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.abstract_qt import AbstractQtMeta


class StatisticsPage(QWidget, metaclass=AbstractQtMeta):
    """A plot or a table that follows the document; as long as there is nothing in it, words say what will be there.

    Parameters
    ----------
    nothing : str
        Those words.
    """

    def __init__(self, document: Document, nothing: str) -> None:
        super().__init__()
        self._document = document
        words = QLabel(nothing)
        words.setObjectName("nothing")
        words.setWordWrap(True)
        words.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setMargin(12)
        self._pages = QStackedWidget()
        self._pages.addWidget(words)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)

    def _put(self, content: QWidget, choice: QComboBox | None = None, legend: QLabel | None = None) -> None:
        """Take the plot or table, with a choice of what it shows above and a legend below, where it has them."""
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
        """Show how things are now."""
        self._take_in()
        self._pages.setCurrentIndex(int(self._filled()))

    @abstractmethod
    def _take_in(self) -> None:
        """Bring what is shown up to date."""

    @abstractmethod
    def _filled(self) -> bool:
        """Whether there is anything to be seen."""

    def reset(self) -> None:
        """Something else is open: forget where in the plot a person looked."""

    def paint(self) -> None:
        """Follow the application's palette, where Qt does not do that by itself."""

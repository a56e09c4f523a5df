"""The choice of the frames at which new edits of objects hold."""

from __future__ import annotations

from PySide6.QtCore import QSettings, Qt, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QWidget

from scstream_app.objects.reach import Reach
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.objects.reach_text import REACH_TIPS, REACHES

_KEY = "objects/reach"


class ReachChoice(QWidget):
    """A labelled list that sets `Document.edit_reach`. The choice is stored in the settings, if there are any."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._settings: QSettings | None = None
        self._list = QComboBox()
        self._list.setAccessibleName("Edits hold")
        # A narrow panel must not be widened by the longest entry.
        self._list.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._list.setMinimumContentsLength(8)
        for reach, title in REACHES.items():
            self._list.addItem(title, reach.value)
            self._list.setItemData(self._list.count() - 1, REACH_TIPS[reach], Qt.ItemDataRole.ToolTipRole)
        label = QLabel("Edits &hold:")
        label.setBuddy(self._list)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 6, 2)
        row.addWidget(label)
        row.addWidget(self._list, 1)
        self._list.currentIndexChanged.connect(self._on_changed)
        self._on_changed()

    def remember(self, settings: QSettings) -> None:
        """Take over the stored choice, and store later ones."""
        found = self._list.findData(str(settings.value(_KEY)))
        if found >= 0:
            self._list.setCurrentIndex(found)
        self._settings = settings

    @Slot()
    def _on_changed(self) -> None:
        reach = self._document.edit_reach = Reach(self._list.currentData())
        self._list.setToolTip(f"Where segments are added to objects and removed from them. {REACH_TIPS[reach]}.")
        if self._settings is not None:
            self._settings.setValue(_KEY, reach.value)

"""Button that shows the filter of events, and clears it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from scstream_app.ui.document.events.event_filter import EventFilter

#: In the ruler of the timeline, which is 16 pixels high.
_STYLE = """
    QToolButton { background: palette(highlight); color: palette(highlighted-text); border: none;
                  border-radius: 6px; padding: 0 6px; font-size: %dpx; }
"""
_HEIGHT, _FONT = 14, 11


class FilterChip(QToolButton):
    """Shows what passes the filter of events, such as "Splits of 3 segments ×"; a click lets all events pass."""

    def __init__(self, filter: EventFilter, parent: QWidget) -> None:
        super().__init__(parent)
        self._filter = filter
        self.setObjectName("eventFilter")
        self.setStyleSheet(_STYLE % _FONT)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip("Show all events again")
        self.clicked.connect(self._clear)
        filter.changed.connect(self.follow)
        self.follow()

    @Slot()
    def _clear(self) -> None:
        self._filter.clear()

    @Slot()
    def follow(self) -> None:
        """Show the filter at the right end of the parent's upper edge."""
        self.setText(f"{self._filter.text}  ×")
        self.setAccessibleName(f"Filter: {self._filter.text}")
        self.setVisible(self._filter.active)
        around = self.parentWidget()
        assert around is not None
        width = self.sizeHint().width()
        self.setGeometry(around.width() - width - 10, 1, width, _HEIGHT)

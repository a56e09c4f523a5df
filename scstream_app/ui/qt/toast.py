"""Short text over the picture that disappears after a few seconds."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

#: Long enough to notice and read a line.
_MILLISECONDS = 3500
#: Distance from the upper edge, below the hover label, and minimum distance from the other edges, in pixels.
_FROM_TOP, _MARGIN = 44, 16


class Toast(QLabel):
    """Label in the upper middle of its parent."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setStyleSheet(
            "#toast { background: rgba(18, 18, 22, 225); color: #f2f2f4; border-radius: 5px; padding: 6px 12px; }"
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_MILLISECONDS)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show a text for a few seconds; an empty text hides it."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.put()
        if text:
            self.raise_()
            self._timer.start()

    def put(self) -> None:
        """Centre the label, as wide as its text if there is room."""
        around = self.parentWidget()
        assert around is not None
        room = max(around.width() - 2 * _MARGIN, 1)
        # The size hint would wrap a line that fits.
        words = self.fontMetrics().horizontalAdvance(self.text()) + 2 * _MARGIN
        width = min(words, room)
        self.setGeometry((around.width() - width) // 2, _FROM_TOP, width, self.heightForWidth(width))

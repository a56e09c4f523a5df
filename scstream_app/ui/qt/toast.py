"""A few words over the picture that go by themselves: what a key has just done, or why it did nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

#: Long enough to read a line, also for somebody who looked elsewhere.
_MILLISECONDS = 3500
#: Pixels from the upper edge, below a label that says what is under the mouse; and from the others at least.
_FROM_TOP, _MARGIN = 44, 16


class Toast(QLabel):
    """A plate in the upper middle of its parent."""

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
        """Show this for a while; nothing: no longer."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.put()
        if text:
            self.raise_()
            self._timer.start()

    def put(self) -> None:
        """Stay in the middle, as wide as the words if there is room."""
        around = self.parentWidget()
        assert around is not None
        room = max(around.width() - 2 * _MARGIN, 1)
        # Its own hint would break a line that has room enough.
        words = self.fontMetrics().horizontalAdvance(self.text()) + 2 * _MARGIN
        width = min(words, room)
        self.setGeometry((around.width() - width) // 2, _FROM_TOP, width, self.heightForWidth(width))

"""Short text over the picture that disappears after a few seconds."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

from scstream_app.ui.qt.layout.clear_place import clearest

#: Long enough to notice and read a line.
_MILLISECONDS = 3500
#: Distance from the upper or lower edge, where the hover label is, and least distance from the sides, in pixels.
_FROM_EDGE, _MARGIN = 44, 16


class Toast(QLabel):
    """Label in the upper middle of its parent, or in the lower middle while the mouse is near the upper one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_low = False
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

    def show_text(self, text: str, mouse: QPointF | None = None) -> None:
        """Show a text for a few seconds, away from the mouse; an empty text hides it."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self._is_low = False
        self.put(mouse)
        if text:
            self.raise_()
            self._timer.start()

    def put(self, mouse: QPointF | None) -> None:
        """Centre the label away from the mouse, as wide as its text if there is room."""
        around = self.parentWidget()
        assert around is not None
        room = max(around.width() - 2 * _MARGIN, 1)
        # The size hint would wrap a line that fits.
        words = self.fontMetrics().horizontalAdvance(self.text()) + 2 * _MARGIN
        width = min(words, room)
        upper = QRect((around.width() - width) // 2, _FROM_EDGE, width, self.heightForWidth(width))
        lower = upper.translated(0, around.height() - upper.height() - 2 * _FROM_EDGE)
        place = clearest((lower, upper) if self._is_low else (upper, lower), mouse)
        self._is_low = place != upper
        self.setGeometry(place)

"""Status of a clip that is being opened while another one is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from scstream_app.ui.sessions.opening.clip_preparer import ClipPreparer

#: Milliseconds before the widget appears: most clips open faster.
_DELAY = 200
#: Maximum width of the text in pixels.
_WIDEST = 320


class OpeningStatus(QWidget):
    """Name of the clip that is being opened, and a button that cancels; hidden if there is none."""

    def __init__(self, preparer: ClipPreparer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("opening")
        self._preparer = preparer
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        cancel = QToolButton()
        cancel.setText("Cancel")
        cancel.setToolTip("Keep the present clip")
        cancel.clicked.connect(lambda _checked=False: preparer.cancel())
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.addWidget(self._text)
        row.addWidget(cancel)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._timer.timeout.connect(self._show)
        preparer.changed.connect(self._follow)
        self.hide()

    @Slot()
    def _follow(self) -> None:
        if self._preparer.name:
            self._timer.start()
        else:
            self._timer.stop()
            self.hide()

    @Slot()
    def _show(self) -> None:
        text = f"Opening '{self._preparer.name}'…"
        self._text.setText(self._text.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, _WIDEST))
        self._text.setToolTip(text)
        self.show()

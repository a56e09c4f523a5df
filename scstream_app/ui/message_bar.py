"""A bar above the picture that says what went wrong or what happened, without getting in the way."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStyle, QToolButton, QWidget

_NOTICE_MILLISECONDS = 8000


class MessageBar(QWidget):
    """Shows one message: an error stays until it is closed, a notice goes by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageBar")
        self.setAccessibleName("Message")
        self._icon, self._text = QLabel(), QLabel()
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._copy = self._button("Copy", "Copy the message")
        self._copy.clicked.connect(self._copy_text)
        close = self._button("✕", "Close the message")
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.addWidget(self._icon)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._copy)
        layout.addWidget(close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAutoRaise(True)
        return button

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def say(self, text: str, kind: Literal["error", "notice"]) -> None:
        """Show a message; a notice does not push an error aside."""
        error = kind == "error"
        if not error and self.isVisible() and not self._timer.isActive():
            return
        pixmap = QStyle.StandardPixmap.SP_MessageBoxWarning if error else QStyle.StandardPixmap.SP_MessageBoxInformation
        self._icon.setPixmap(self.style().standardIcon(pixmap).pixmap(18, 18))
        self._text.setText(text)
        self._copy.setVisible(error)
        self._timer.stop()
        if not error:
            self._timer.start(_NOTICE_MILLISECONDS)
        self.show()

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self._text.text())

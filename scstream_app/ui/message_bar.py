"""A bar above the picture that says what went wrong or what happened, without getting in the way."""

from __future__ import annotations

from collections.abc import Callable
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
        self._offer = self._button("", "")
        self._offer.clicked.connect(self._take_offer)
        self._taken: Callable[[], object] | None = None
        self._error = False
        close = self._button("✕", "Close the message")
        close.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.addWidget(self._icon)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._offer)
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

    def say(
        self, text: str, kind: Literal["error", "notice"], offer: tuple[str, Callable[[], object]] | None = None
    ) -> None:
        """Show a message; a notice does not push an error aside. One with an offer, a button's text and deed, stays."""
        error = kind == "error"
        if not error and self.isVisible() and self._error:
            return
        self._error = error
        pixmap = QStyle.StandardPixmap.SP_MessageBoxWarning if error else QStyle.StandardPixmap.SP_MessageBoxInformation
        self._icon.setPixmap(self.style().standardIcon(pixmap).pixmap(18, 18))
        self._text.setText(text)
        self._copy.setVisible(error)
        self._taken = None
        if offer is not None:
            text, self._taken = offer
            self._offer.setText(text)
            self._offer.setAccessibleName(text)
        self._offer.setVisible(offer is not None)
        self._timer.stop()
        if not error and offer is None:
            self._timer.start(_NOTICE_MILLISECONDS)
        self.show()

    def _take_offer(self) -> None:
        self.hide()
        if self._taken is not None:
            self._taken()

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self._text.text())

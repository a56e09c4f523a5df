"""Message bar above the picture for errors, notices and offers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStyle, QToolButton, QWidget

_NOTICE_MILLISECONDS = 8000
#: Tints of errors and notices, and their share in the background colour.
_ERROR, _NOTICE, _TINT = QColor(213, 60, 40), QColor(60, 130, 200), 0.22


@dataclass(frozen=True, slots=True)
class _Message:
    """Text of a message, its kind, and an optional offer: button text and callback."""

    text: str
    error: bool
    offer: tuple[str, Callable[[], object]] | None

    @property
    def lasting(self) -> bool:
        """Whether the message stays until the user closes it."""
        return self.error or self.offer is not None


class MessageBar(QWidget):
    """Shows one message at a time. Errors and offers stay until closed; other notices disappear after some seconds.

    Messages that may not replace the current one wait: offers in order, then the last notice.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageBar")
        self.setAccessibleName("Message")
        self.setAutoFillBackground(True)
        self._icon, self._text = QLabel(), QLabel()
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._copy = self._button("Copy", "Copy the message")
        self._copy.clicked.connect(self._copy_text)
        self._offer = self._button("", "")
        self._offer.clicked.connect(self._take_offer)
        self._shown: _Message | None = None
        self._offers: deque[_Message] = deque()
        self._notice: _Message | None = None
        close = self._button("✕", "Close the message")
        close.clicked.connect(self._show_next)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.addWidget(self._icon)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._offer)
        layout.addWidget(self._copy)
        layout.addWidget(close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._show_next)
        self.hide()

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAutoRaise(True)
        return button

    @property
    def text(self) -> str:
        """Displayed text."""
        return self._text.text()

    def show_message(
        self, text: str, kind: Literal["error", "notice"], offer: tuple[str, Callable[[], object]] | None = None
    ) -> None:
        """Show or queue a message. Only an error replaces a lasting message; a replaced offer is shown again later."""
        message, shown = _Message(text, kind == "error", offer), self._shown
        if shown is None or not shown.lasting:
            self._put(message)
        elif message.error:
            if shown.offer is not None:
                self._offers.appendleft(shown)
            self._put(message)
        elif offer is not None:
            self._offers.append(message)
        else:
            self._notice = message

    def clear(self) -> None:
        """Remove errors and notices when their document is closed; offers stay."""
        self._notice = None
        if self._shown is not None and self._shown.offer is None:
            self._show_next()

    def _put(self, message: _Message) -> None:
        self._shown = message
        self._tint()
        error = message.error
        pixmap = QStyle.StandardPixmap.SP_MessageBoxWarning if error else QStyle.StandardPixmap.SP_MessageBoxInformation
        self._icon.setPixmap(self.style().standardIcon(pixmap).pixmap(18, 18))
        self._text.setText(message.text)
        self._copy.setVisible(error)
        title = "" if message.offer is None else message.offer[0]
        self._offer.setText(title)
        self._offer.setAccessibleName(title)
        self._offer.setVisible(message.offer is not None)
        self._timer.stop()
        if not message.lasting:
            self._timer.start(_NOTICE_MILLISECONDS)
        self.show()

    @Slot()
    def _show_next(self) -> None:
        """Show the next waiting message, or hide the bar."""
        self._timer.stop()
        self._shown = None
        if self._offers:
            self._put(self._offers.popleft())
        elif self._notice is not None:
            notice, self._notice = self._notice, None
            self._put(notice)
        else:
            self.hide()

    def _tint(self) -> None:
        """Tint the background by the kind of message, in light and dark themes."""
        ground = QGuiApplication.palette().color(QPalette.ColorRole.Window)
        tint = _ERROR if self._shown is not None and self._shown.error else _NOTICE
        pairs = ((ground.red(), tint.red()), (ground.green(), tint.green()), (ground.blue(), tint.blue()))
        colours = self.palette()
        mixed = QColor(*(round((1.0 - _TINT) * a + _TINT * b) for a, b in pairs))
        colours.setColor(QPalette.ColorRole.Window, mixed)
        self.setPalette(colours)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ApplicationPaletteChange:
            self._tint()

    def _take_offer(self) -> None:
        shown = self._shown
        self._show_next()
        if shown is not None and shown.offer is not None:
            shown.offer[1]()

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self._text.text())

"""Message bar for errors, notices and offers."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStyle, QToolButton, QWidget

from scstream_app.ui.qt.appearance.contrast import mix

_NOTICE_MILLISECONDS = 8000
#: Tints of errors and notices, and their share in the background colour.
_ERROR, _NOTICE, _TINT = QColor(213, 60, 40), QColor(60, 130, 200), 0.22

_logger = logging.getLogger(__name__)

#: Text of a button, and what it does.
Offer = tuple[str, Callable[[], object]]


@dataclass(frozen=True, slots=True)
class _Message:
    """Text of a message, its kind, up to two offers, and whether it outlives its clip."""

    text: str
    error: bool
    offer: Offer | None
    other: Offer | None
    kept: bool

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
        self._offer, self._other = self._button("", ""), self._button("", "")
        self._offer.clicked.connect(lambda: self._take(lambda message: message.offer))
        self._other.clicked.connect(lambda: self._take(lambda message: message.other))
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
        layout.addWidget(self._other)
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
        self,
        text: str,
        kind: Literal["error", "notice"],
        offer: Offer | None = None,
        other: Offer | None = None,
        *,
        kept: bool = False,
    ) -> None:
        """Show or queue a message. Only an error replaces a lasting message; a replaced offer is shown again later.

        Parameters
        ----------
        text : str
        kind : {"error", "notice"}
        offer, other : tuple of str and callable, optional
            Text of a button, and what it does.
        kept : bool
            Whether an offer stays when another clip is opened.
        """
        _logger.log(logging.ERROR if kind == "error" else logging.INFO, "%s", text)
        message, shown = _Message(text, kind == "error", offer, other, kept), self._shown
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
        """Remove the messages of a clip when it is closed; kept offers stay."""
        self._notice = None
        self._offers = deque(offer for offer in self._offers if offer.kept)
        if self._shown is not None and not (self._shown.offer is not None and self._shown.kept):
            self._show_next()

    def withdraw(self, title: str) -> None:
        """Remove the offers with this text on their button."""
        self._offers = deque(message for message in self._offers if message.offer and message.offer[0] != title)
        if self._shown is not None and self._shown.offer is not None and self._shown.offer[0] == title:
            self._show_next()

    def _put(self, message: _Message) -> None:
        self._shown = message
        self._tint()
        error = message.error
        pixmap = QStyle.StandardPixmap.SP_MessageBoxWarning if error else QStyle.StandardPixmap.SP_MessageBoxInformation
        self._icon.setPixmap(self.style().standardIcon(pixmap).pixmap(18, 18))
        self._text.setText(message.text)
        self._copy.setVisible(error)
        for button, offer in ((self._offer, message.offer), (self._other, message.other)):
            title = "" if offer is None else offer[0]
            button.setText(title)
            button.setAccessibleName(title)
            button.setVisible(offer is not None)
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
        colours = self.palette()
        colours.setColor(QPalette.ColorRole.Window, mix(ground, tint, _TINT))
        self.setPalette(colours)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._tint()

    def _take(self, which: Callable[[_Message], Offer | None]) -> None:
        offer = None if self._shown is None else which(self._shown)
        self._show_next()
        if offer is not None:
            offer[1]()

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self._text.text())

"""The middle of the window: a message bar above the welcome page, or above the viewer with its bars and timeline."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.document.player import Player
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.timeline.timeline import Timeline
from scstream_app.ui.timeline.transport import Transport
from scstream_app.ui.viewer.live_bar import LiveBar
from scstream_app.ui.viewer.viewer import Viewer
from scstream_app.ui.window.welcome import Welcome


class CentralArea(QWidget):
    """Shows the welcome page or the document.

    Parameters
    ----------
    document : Document
    player : Player
    feed : LiveFeed
    message : MessageBar
    record : QAction
        For the live bar's button.
    """

    def __init__(
        self, document: Document, player: Player, feed: LiveFeed, message: MessageBar, record: QAction
    ) -> None:
        super().__init__()
        self.welcome = Welcome()
        self.viewer = Viewer(document)
        self.live_bar = LiveBar(document, feed, self.viewer, record)
        self.transport = Transport(document, player)
        self.timeline = Timeline(document, player)
        self._stage = QWidget()
        column = _column(self._stage)
        column.addWidget(self.live_bar)
        column.addWidget(self.viewer, 1)
        column.addWidget(self.timeline)
        column.addWidget(self.transport)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self._stage)
        whole = _column(self)
        whole.addWidget(message)
        whole.addWidget(self._pages, 1)

    def show_welcome(self) -> None:
        """Show the welcome page."""
        self._pages.setCurrentWidget(self.welcome)

    def show_document(self) -> None:
        """Show the viewer with its bars and the timeline."""
        self._pages.setCurrentWidget(self._stage)


def _column(parent: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout

"""The middle of the window: the welcome page, or the viewer with its bars and timeline, and messages over it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import LiveFeed
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.qt.message_bar import MessageBar
from scstream_app.ui.timeline.lanes.object_lanes import ObjectLanes
from scstream_app.ui.timeline.timeline import Timeline
from scstream_app.ui.timeline.transport import Transport
from scstream_app.ui.viewer.bars.live_bar import LiveBar
from scstream_app.ui.viewer.bars.view_bar import ViewBar
from scstream_app.ui.viewer.viewer import Viewer
from scstream_app.ui.window.message_placement import MessagePlacement
from scstream_app.ui.window.welcome.thumbnail_loader import ThumbnailLoader
from scstream_app.ui.window.welcome.welcome import Welcome


class CentralArea(QWidget):
    """Shows the welcome page or the document.

    Parameters
    ----------
    document : Document
    player : Player
    feed : LiveFeed
    message : MessageBar
    actions : Actions
        For the buttons of the view bar and the live bar.
    """

    def __init__(
        self, document: Document, player: Player, feed: LiveFeed, message: MessageBar, actions: Actions
    ) -> None:
        super().__init__()
        self.message = message
        self.thumbnails = ThumbnailLoader()
        self.welcome = Welcome(self.thumbnails)
        self.viewer = Viewer(document)
        self.live_bar = LiveBar(document, feed, self.viewer, actions["record"])
        self.view_bar = ViewBar(document, self.viewer, actions)
        self.transport = Transport(document, player)
        self.timeline = Timeline(document, player)
        self.lanes = ObjectLanes(document, player, self.timeline)
        self._stage = QWidget()
        column = _column(self._stage)
        column.addWidget(self.live_bar)
        column.addWidget(self.view_bar)
        self._row = QHBoxLayout()
        self._row.setSpacing(0)
        self._row.addWidget(self.viewer, 1)
        column.addLayout(self._row, 1)
        column.addWidget(self.timeline)
        column.addWidget(self.lanes)
        column.addWidget(self.transport)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self._stage)
        _column(self).addWidget(self._pages, 1)
        MessagePlacement(message, self, self.viewer)

    def add_tools(self, bar: QWidget) -> None:
        """Put a tool bar at the left of the viewer."""
        self._row.insertWidget(0, bar)

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

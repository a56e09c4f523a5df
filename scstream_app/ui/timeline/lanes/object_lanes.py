"""Lanes of objects below the timeline: their edits as keys, and area and confidence along the clip."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.timeline.lanes.lane_keys import LANE
from scstream_app.ui.timeline.lanes.lane_rows import LaneRows
from scstream_app.ui.timeline.timeline import Timeline

#: Lanes that are visible at once; more of them scroll.
_VISIBLE = 4


class ObjectLanes(QScrollArea):
    """A lane for each object, with a scroll bar beyond a few; hidden while nothing is open or the source is live.

    Without objects, an empty lane keeps the picture from moving when the first one is made.

    ``message`` carries why an edit was not changed, ``highlighted`` the name of the object whose lane was clicked,
    ``menu_requested`` its name and the screen position of a right click beside the keys.

    Parameters
    ----------
    document : Document
    player : Player
    timeline : Timeline
        Gives the horizontal places of frames; the lanes must be as far left.
    parent : QWidget, optional
    """

    message = Signal(str)
    highlighted = Signal(str)
    menu_requested = Signal(str, QPoint)

    def __init__(self, document: Document, player: Player, timeline: Timeline, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.rows = LaneRows(document, player, timeline)
        self.rows.message.connect(self.message)
        self.rows.highlighted.connect(self.highlighted)
        self.rows.menu_requested.connect(self.menu_requested)
        self.rows.moved.connect(self._show_lane)
        self.setWidget(self.rows)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for signal in (document.marks_changed, document.opened, document.closed):
            signal.connect(self._fit)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        count = max(len(self._document.objects), 1)
        self.rows.setMinimumHeight(count * LANE)
        self.setFixedHeight(min(count, _VISIBLE) * LANE)
        # A live source forgets old frames, and its objects are not tracked.
        self.setVisible(self._document.is_open and not self._document.live)

    @Slot(int)
    def _show_lane(self, lane: int) -> None:
        self.ensureVisible(0, round((lane + 0.5) * LANE), 0, LANE // 2)

    def sizeHint(self) -> QSize:
        """As wide as possible; the height is fixed."""
        return QSize(640, self.minimumHeight())

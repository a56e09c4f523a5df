"""Label over the picture that says that the frame shown is not segmented."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtWidgets import QLabel, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import is_planned
from scstream_app.ui.document.state import State

_MARGIN = 12


class UnsegmentedLabel(QLabel):
    """Label in the lower left corner of its parent, visible while the user looks at a frame without segments."""

    def __init__(self, document: Document, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self.setObjectName("unsegmented")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setStyleSheet(
            "#unsegmented { background: rgba(18, 18, 22, 225); color: #ffd27a; border-radius: 5px; padding: 4px 10px; }"
        )
        parent.installEventFilter(self)
        for signal in (document.display.shown_changed, document.state_changed, document.closed):
            signal.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        display, state = self._document.display, self._document.state
        shown = display.shown
        # A first frame that is shown while the engine is prepared is not somewhere else.
        parked = not display.follow_newest or state in (State.PAUSED, State.STOPPED)
        seen = shown is not None and not shown.segmented and parked
        if shown is not None and seen:
            yet = " yet" if is_planned(self._document, shown.result.index) else ""
            self.setText(f"Frame {shown.result.index} is not segmented{yet}")
            self.adjustSize()
            self._put()
        self.setVisible(seen)

    def _put(self) -> None:
        around = self.parentWidget()
        assert around is not None
        self.move(_MARGIN, around.height() - self.height() - _MARGIN)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner."""
        if event.type() == QEvent.Type.Resize:
            self._put()
        return super().eventFilter(watched, event)

"""Slim scroll bar below a zoomed timeline."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QScrollBar, QWidget

from scstream_app.ui.timeline.time_scale import TimeScale

_HEIGHT = 9
#: Values of the bar per frame: a frame can be wider than many pixels.
_PER_FRAME = 16
_STYLE = """
    QScrollBar { background: transparent; border: none; height: 9px; margin: 0; }
    QScrollBar::handle { background: palette(mid); border-radius: 3px; margin: 1px 0; min-width: 24px; }
    QScrollBar::handle:hover { background: palette(highlight); }
    QScrollBar::add-line, QScrollBar::sub-line { width: 0; }
    QScrollBar::add-page, QScrollBar::sub-page { background: none; }
"""


class ScrollBar(QScrollBar):
    """Scroll bar of a `TimeScale`, visible while some frames are out of view.

    ``scrolled`` carries the number of frames by which the user moved it.
    """

    scrolled = Signal(float)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._scale = TimeScale()
        self.setAccessibleName("Timeline position")
        self.setFixedHeight(_HEIGHT)
        self.setStyleSheet(_STYLE)
        self.hide()
        self.valueChanged.connect(self._on_value)

    def follow(self, scale: TimeScale, track: QRect) -> None:
        """Show the visible range of a scale, below the track."""
        self._scale = scale
        self.setVisible(scale.zoomed)
        self.setGeometry(track.left(), track.height() - _HEIGHT, track.width(), _HEIGHT)
        page = round(_PER_FRAME * scale.span)
        with QSignalBlocker(self):
            self.setRange(0, _PER_FRAME * (scale.last - scale.first) - page)
            self.setPageStep(page)
            self.setSingleStep(max(page // 10, 1))
            self.setValue(round(_PER_FRAME * (scale.begin - scale.first)))

    @Slot(int)
    def _on_value(self, value: int) -> None:
        self.scrolled.emit(self._scale.first + value / _PER_FRAME - self._scale.begin)

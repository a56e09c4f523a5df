"""The right end of the status bar: whether segments have settled, and how strong the overlay is."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QWidget

from scstream_app.session.run_summary import SETTLED_CHURN, SETTLED_FRAMES
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.indicator import Indicator
from scstream_app.ui.qt.readout import Readout

_GREEN, _AMBER = QColor(0, 158, 115), QColor(230, 159, 0)
_CHANGING = "this frame: changing"
#: Views that the opacity matters to.
_TINTED = ("overlay", "side_by_side", "wipe")


class SettledLight(QWidget):
    """Green when segments have settled by the frame on the screen, amber while many pixels still change their id."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._dot, self._text = Indicator(), Readout("Settled", widest=_CHANGING)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(5)
        row.addWidget(self._dot)
        row.addWidget(self._text)
        for signal in (document.display.shown_changed, document.progressed, document.closed, document.opened):
            signal.connect(self._follow)
        self._follow()

    @property
    def text(self) -> str:
        """What it says; nothing while it is dark."""
        return self._text.text()

    @Slot()
    def _follow(self) -> None:
        index, summary = self._document.display.index, self._document.summary
        if index is not None and self._document.live and len(summary) and index > summary.frames[-1]:
            # Seen before it is noted: in a moment it is known, and until then the light must not flicker.
            return
        settled = None if index is None else summary.settled(index)
        self.setVisible(settled is not None)
        if index is None or settled is None:
            self._text.setText("")
            return
        self._text.setText("this frame: settled" if settled else _CHANGING)
        self._dot.show_in(_GREEN if settled else _AMBER)
        place = summary.place(index)
        churn = "" if place is None else f" On this frame {100.0 * summary.value('churn', place):.1f} % did."
        tip = (
            f"Settled: for {SETTLED_FRAMES} frames at most {100.0 * SETTLED_CHURN:.0f} % of the pixels changed "
            f"their segment.{churn}"
        )
        self.setToolTip(tip)
        self.setAccessibleName(f"Segments, {self._text.text()}")


class OpacitySlider(QWidget):
    """How strongly segments tint the picture, in the views that have a tint."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        label = QLabel("Overlay")
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, 100)
        self._slider.setPageStep(10)
        self._slider.setFixedWidth(90)
        self._slider.setAccessibleName("Opacity of the overlay")
        self._slider.setToolTip("How strongly segments tint the picture")
        # The arrow keys are for going through the frames.
        self._slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        label.setBuddy(self._slider)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.addWidget(label)
        row.addWidget(self._slider)
        self._slider.valueChanged.connect(self._on_slid)
        document.display.look_changed.connect(self._follow)
        document.state_changed.connect(self._follow)
        self._follow()

    @Slot(int)
    def _on_slid(self, value: int) -> None:
        self._document.display.set_look(opacity=value / 100.0)

    @Slot()
    def _follow(self) -> None:
        look = self._document.display.look
        with QSignalBlocker(self._slider):
            self._slider.setValue(round(100.0 * look.opacity))
        self.setVisible(self._document.is_open)
        self.setEnabled(look.view in _TINTED)

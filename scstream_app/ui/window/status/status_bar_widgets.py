"""Widgets of the status bar: pause button, tracking of objects, settled light and overlay opacity."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Slot
from PySide6.QtGui import QAction, QColor, QPainter, QPalette, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QToolButton, QWidget

from scstream_app.session.run_summary import SETTLED_CHURN, SETTLED_FRAMES
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.appearance.icons import draw_icon
from scstream_app.ui.qt.appearance.indicator import Indicator
from scstream_app.ui.qt.readout import Readout

_GREEN, _AMBER = QColor(0, 158, 115), QColor(230, 159, 0)
_CHANGING = "Segments changing"
_ICON = 14


class PauseButton(QToolButton):
    """Pauses and resumes segmentation: its icon shows what a click does."""

    def __init__(self, action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pauseSegmenting")
        self.setAutoRaise(True)
        self.setIconSize(QSize(_ICON, _ICON))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._action = action
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        paused, key = self._action.isChecked(), self._action.shortcut().toString()
        text = "Resume segmentation" if paused else "Pause segmentation"
        self.setAccessibleName(text)
        self.setToolTip(f"{text} ({key})" if key else text)
        ink = self.palette().color(QPalette.ColorRole.ButtonText)
        self.setIcon(draw_icon(_ICON, partial(_paint_play if paused else _paint_pause, ink)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._follow()


def _paint_pause(ink: QColor, painter: QPainter) -> None:
    for x in (3.0, 8.0):
        painter.fillRect(QRectF(x, 2.5, 3.0, 9.0), ink)


def _paint_play(ink: QColor, painter: QPainter) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(QPolygonF([QPointF(3.5, 2.0), QPointF(12.0, 7.0), QPointF(3.5, 12.0)]))


class SettledLight(QWidget):
    """Light that is green if few pixels changed segment in the last frames, and amber otherwise."""

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
        """Displayed text; empty while the light is hidden."""
        return self._text.text()

    @Slot()
    def _follow(self) -> None:
        index, summary = self._document.display.index, self._document.summary
        if index is not None and self._document.live and len(summary) and index > summary.frames[-1]:
            # The frame is not in the summary yet; keep the light as it is, so that it does not flicker.
            return
        settled = None if index is None else summary.settled(index)
        self.setVisible(settled is not None)
        if index is None or settled is None:
            self._text.setText("")
            return
        self._text.setText("Segments settled" if settled else _CHANGING)
        self._dot.set_colour(_GREEN if settled else _AMBER)
        place = summary.place(index)
        churn = "" if place is None else f" On this frame: {100.0 * summary.value('churn', place):.1f} %."
        tip = (
            f"Settled: at most {100.0 * SETTLED_CHURN:.0f} % of the pixels changed segment on each of the last "
            f"{SETTLED_FRAMES} frames.{churn}"
        )
        self.setToolTip(tip)
        self.setAccessibleName(self._text.text())


class TrackingProgress(Readout):
    """Text that says how far the tracking of objects is; empty if no masks are missing."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("Tracking", parent=parent)
        # The number of frames follows.
        self.setMargin(8)
        self._tracking = document.tracking
        self._tracking.advanced.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        progress = self._tracking.progress
        # Rounded down: there is work left.
        self.setText("" if progress is None else f"Tracking objects… {int(100.0 * progress)} %")


class OpacitySlider(QWidget):
    """Slider for the opacity of the overlay, enabled in the views that use it."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        label = QLabel("Overlay")
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, 100)
        self._slider.setPageStep(10)
        self._slider.setFixedWidth(90)
        self._slider.setAccessibleName("Overlay opacity")
        self._slider.setToolTip("Opacity of the overlay")
        # Arrow keys step through frames.
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
        self.setEnabled(look.drawn_view.uses_opacity)

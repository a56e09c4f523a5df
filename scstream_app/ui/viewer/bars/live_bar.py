"""Bar above a live picture: state of the camera, frame rate, latency and the record button."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from time import monotonic

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from scstream_app.plural import counted
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.live_feed import TARGETS, LiveFeed
from scstream_app.ui.document.playback.frame_times import timecode
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.appearance.indicator import Indicator
from scstream_app.ui.qt.layout.narrow_row import NarrowRow
from scstream_app.ui.qt.layout.second_line import SecondLine
from scstream_app.ui.qt.readout import Readout
from scstream_app.ui.viewer.viewer import Viewer

_REFRESH_MILLISECONDS = 250
#: Seconds over which rate and latency are measured.
_SPAN = 2.0
_NAME_WIDTH = 220
#: Width for the state and between widgets in pixels.
_STATE_WIDTH, _SPACING = 120, 14
_GREEN, _ORANGE, _RED, _GREY = (QColor(name) for name in ("#3fa45b", "#e08b28", "#d93636", "#8b9096"))
_DIM = QColor(16, 16, 20, 165)
_STATE_TEXTS = {
    State.OPENING: "opening",
    State.WARMING: "preparing the engine",
    State.SETTLING: "analysing first frame",
    State.PAUSED: "paused",
    State.STOPPED: "ended",
}


class LatencyMeter:
    """Frame rate and latencies of the frames painted in the last seconds."""

    def __init__(self, span: float = _SPAN) -> None:
        self._span = span
        self._painted: deque[tuple[float, float]] = deque()

    def note(self, now: float, captured: float) -> None:
        """Record that a frame captured at time ``captured`` is painted at time ``now``."""
        self._painted.append((now, now - captured))
        self._trim(now)

    def _trim(self, now: float) -> None:
        while self._painted and now - self._painted[0][0] > self._span:
            self._painted.popleft()

    def rate(self, now: float) -> float:
        """Frames per second; 0 if no frames were painted lately."""
        self._trim(now)
        times = [time for time, _ in self._painted]
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 0.0

    def latencies(self, now: float) -> list[float]:
        """Seconds from capture to screen of the last frames."""
        self._trim(now)
        return [latency for _, latency in self._painted]

    def clear(self) -> None:
        """Forget all frames."""
        self._painted.clear()


class LiveBar(QWidget):
    """Bar with state, rate, latency and record button of a live source; hidden for other sources.

    In a narrow window the numbers are on a second line.

    Latency is the time from the camera's delivery of a frame until the viewer has painted it.
    """

    def __init__(
        self, document: Document, feed: LiveFeed, viewer: Viewer, record: QAction, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("liveBar")
        self.setAccessibleName("Live")
        self._document, self._feed, self._viewer = document, feed, viewer
        self._meter = LatencyMeter()
        self._seen: int | None = None
        self._dot = Indicator(self)
        self._name, self._state = QLabel(self), QLabel(self)
        self._name.setAccessibleName("Camera")
        self._state.setAccessibleName("Camera state")
        font = self._name.font()
        font.setBold(True)
        self._name.setFont(font)
        self._time = Readout("Time", "00:00.000", self)
        self._time.setToolTip("Time of the shown frame, by the clock of the source")
        self._rate = Readout("Frame rate", "120.0 fps", self)
        self._rate.setToolTip("Frames per second on the screen")
        self._latency = Readout("Latency", "Latency 9999 ms", self)
        self._dropped = Readout("Dropped frames", "99999 dropped", self)
        self._dropped.setToolTip("Camera frames that were skipped because a newer one was available")
        self._size = Readout("Processing size", "size 100 %", self)
        self._size.setToolTip("Processing size, in per cent of the picture's width and height")
        self._targets = self._make_targets()
        self._record = self._make_record(record)
        self._overlay = DimOverlay(viewer)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MILLISECONDS)
        self._timer.timeout.connect(self._refresh)
        viewer.installEventFilter(self)
        viewer.painted.connect(self._on_painted)
        feed.changed.connect(self._on_changed)
        document.opened.connect(self._on_opened)
        document.closed.connect(self._on_changed)
        self._on_changed()

    # --- construction

    def _make_targets(self) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName("target")
        box.setAccessibleName("Target frame rate")
        box.setToolTip(
            "Keep this frame rate: the engine works on a smaller picture when it is too slow, and on a larger one "
            "when there is time. Segments keep their ids. Fixed size uses the processing size of the controls"
        )
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for target in TARGETS:
            box.addItem(f"Hold {target:g} fps", target)
        box.addItem("Fixed size", None)
        box.activated.connect(self._on_target)
        return box

    def _make_record(self, action: QAction) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("record")
        button.setToolTip(action.toolTip())
        # A default action would overwrite the text of the button.
        button.clicked.connect(action.trigger)
        button.setEnabled(action.isEnabled())
        action.enabledChanged.connect(button.setEnabled)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName("Record")
        return button

    def _lay_out(self) -> None:
        numbers = _Numbers((self._time, self._rate, self._latency, self._dropped, self._size), self)
        NarrowRow(numbers, (self._size, self._dropped))
        row = QHBoxLayout()
        row.setSpacing(_SPACING)
        row.addWidget(self._dot)
        row.addWidget(self._name)
        row.addWidget(self._state, 1)
        row.addWidget(numbers)
        row.addWidget(self._targets)
        row.addWidget(self._record)
        self._state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        lines = QVBoxLayout(self)
        lines.setContentsMargins(8, 4, 8, 4)
        lines.setSpacing(2)
        lines.addLayout(row)
        SecondLine(self, lines, row, numbers, _STATE_WIDTH)

    # --- user input

    @Slot(int)
    def _on_target(self, place: int) -> None:
        self._feed.set_target(self._targets.itemData(place))

    # --- updates

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the overlay as large as the viewer."""
        if event.type() == QEvent.Type.Resize and watched is self._viewer:
            self._overlay.resize(self._viewer.size())
        return super().eventFilter(watched, event)

    @Slot()
    def _on_painted(self) -> None:
        """Measure a frame when it is painted for the first time."""
        shown = self._document.display.shown
        if shown is not None and shown.result.index != self._seen:
            self._seen = shown.result.index
            if math.isfinite(shown.result.captured) and self._document.display.follow_newest:
                self._meter.note(monotonic(), shown.result.captured)

    @Slot()
    def _on_opened(self) -> None:
        self._meter.clear()
        self._seen = None
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        live = self._document.live
        self.setVisible(live)
        if live:
            self._timer.start()
            self._refresh()
        else:
            self._timer.stop()
            self._overlay.hide()

    @Slot()
    def _refresh(self) -> None:
        feed, facts = self._feed, self._document.facts
        self._show_name("" if facts is None else facts.name)
        self._show_state()
        self._show_numbers()
        self._size.setText(f"size {100 * feed.scale:.0f} %")
        place = self._targets.findData(feed.target)
        if place != self._targets.currentIndex() and not self._targets.view().isVisible():
            self._targets.setCurrentIndex(place)

    def _show_name(self, name: str) -> None:
        self._name.setText(self._name.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, _NAME_WIDTH))
        self._name.setToolTip(name)

    def _show_state(self) -> None:
        silence, state = self._feed.silence, self._document.state
        waiting = silence is not None and state is State.SEGMENTING
        # Without frames these numbers mean nothing, and the state text needs the room.
        self._rate.setVisible(not waiting)
        self._latency.setVisible(not waiting)
        if waiting and silence is not None:
            doing = "reconnecting" if self._feed.camera else "waiting"
            text, colour = f"no picture for {silence:.0f} s – {doing}", _ORANGE
        elif self._feed.recording:
            text, colour = self._recording_text(), _RED
        else:
            text, colour = _STATE_TEXTS.get(state, "live"), _GREEN if state is State.SEGMENTING else _GREY
        self._state.setText(text)
        self._state.setToolTip(text)
        self._dot.set_colour(colour)
        self._show_button()
        what = "camera" if self._feed.camera else "stream"
        self._overlay.show_text(f"No picture. Waiting for the {what} …" if waiting else "")

    def _recording_text(self) -> str:
        recorder = self._feed.recorder
        if recorder is None:
            return ""
        missing = f", {counted(recorder.dropped, 'frame')} dropped" if recorder.dropped else ""
        paused = ", paused" if self._document.state is State.PAUSED else ""
        return f"recording {_clock(recorder.seconds)}{paused}{missing}"

    def _show_button(self) -> None:
        recorder = self._feed.recorder
        if recorder is None:
            self._record.setText("● Record")
        else:
            self._record.setText(f"■ Stop {_clock(recorder.seconds)}" if self._feed.recording else "Writing …")

    def _show_numbers(self) -> None:
        now = monotonic()
        latencies = 1000.0 * np.array(self._meter.latencies(now))
        going = self._document.state is State.SEGMENTING
        self._rate.setText(f"{self._meter.rate(now):.1f} fps" if going else "– fps")
        known = len(latencies) and going
        self._latency.setText(f"Latency {np.median(latencies):.0f} ms" if known else "Latency – ms")
        worst = f"; maximum {latencies.max():.0f} ms in the last {_SPAN:g} s" if len(latencies) else ""
        self._latency.setToolTip(f"Time from the camera's delivery of a frame until it is on the screen{worst}")
        self._dropped.setText(f"{self._feed.dropped} dropped")
        shown = self._document.display.shown
        known = shown is not None and math.isfinite(shown.result.time)
        self._time.setText(timecode(shown.result.time) if shown is not None and known else "")

    # --- displayed texts

    @property
    def state(self) -> str:
        """Text about the state of the camera."""
        return self._state.text()

    @property
    def dropped(self) -> str:
        """Text about dropped frames."""
        return self._dropped.text()

    @property
    def time(self) -> str:
        """Text with the time of the shown frame."""
        return self._time.text()

    @property
    def latency(self) -> str:
        """Text about the latency."""
        return self._latency.text()

    @property
    def dimmed(self) -> bool:
        """Whether the picture is dimmed because it is out of date."""
        return self._overlay.isVisible()


class _Numbers(QWidget):
    """Labels side by side; the size hint has room for all, also while some are hidden."""

    def __init__(self, labels: Sequence[Readout], parent: QWidget) -> None:
        super().__init__(parent)
        self._labels = labels
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_SPACING)
        for label in labels:
            layout.addWidget(label)
        layout.addStretch(1)

    def sizeHint(self) -> QSize:
        widths = sum(label.minimumWidth() for label in self._labels)
        return QSize(widths + _SPACING * len(self._labels), super().sizeHint().height())


class DimOverlay(QWidget):
    """Overlay that dims the viewer and explains why."""

    def __init__(self, viewer: QWidget) -> None:
        super().__init__(viewer)
        self._viewer, self._text = viewer, ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_text(self, text: str) -> None:
        """Cover the viewer and show this text; an empty text hides the overlay."""
        if text != self._text:
            self._text = text
            self.resize(self._viewer.size())
            self.setVisible(bool(text))
            self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), _DIM)
        painter.setPen(Qt.GlobalColor.white)
        font = painter.font()
        font.setPointSizeF(1.4 * font.pointSizeF())
        painter.setFont(font)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._text)


def _clock(seconds: float) -> str:
    """Format seconds as minutes and seconds.

    >>> _clock(75.2)
    '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"

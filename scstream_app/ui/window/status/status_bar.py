"""Status bar: state, progress and speed of segmentation."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from scstream_app.plural import counted
from scstream_app.ui.document.action_availability import can_edit
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import frames_to_segment
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.durations import TimeLeft, duration_text
from scstream_app.ui.qt.readout import Readout
from scstream_app.ui.window.status.settling_status import SettlingStatus
from scstream_app.ui.window.status.status_bar_widgets import OpacitySlider, PauseButton, SettledLight, TrackingProgress
from scstream_app.warmup_messages import COMPILING, PREPARING

_PROGRESS_WIDTH = 180
#: Number of frames over which the rate is averaged.
_RECENT = 30
_TEXT = {
    State.EMPTY: "",
    State.OPENING: "Opening…",
    State.WARMING: PREPARING,
    State.SETTLING: "Analysing first frame…",
    State.SEGMENTING: "Segmenting",
    State.PAUSED: "Segmentation paused",
    State.STOPPED: "Segmentation stopped",
    State.DONE: "Segmented",
}
#: Tooltip of the state: what the pause key does.
_NEXT = {
    State.SETTLING: "Pause segmentation",
    State.SEGMENTING: "Pause segmentation",
    State.PAUSED: "Resume segmentation",
}
#: Steps of the progress bar for the first frame.
_FINE = 1000
#: Milliseconds after which the engine must be compiling: compiled code loads faster.
_LONG = 3_000


class StatusBar(QObject):
    """Fills a status bar and updates it from the document.

    Parameters
    ----------
    document : Document
    bar : QStatusBar
    pause : QAction
        The action that pauses segmentation, for the button beside the progress.
    """

    def __init__(self, document: Document, bar: QStatusBar, pause: QAction) -> None:
        super().__init__(bar)
        self._pause = PauseButton(pause)
        self._left, self._time_left = Readout("Time left"), TimeLeft()
        self._document = document
        self._state, self._rate = QLabel(), Readout("Frames")
        self._state.setObjectName("state")
        self._progress = QProgressBar()
        self._progress.setMaximumWidth(_PROGRESS_WIDTH)
        self._progress.setTextVisible(False)
        self._warmed = (0, 0)
        self._pause_key = ""
        self._long = QTimer(self)
        self._long.setSingleShot(True)
        self._long.timeout.connect(self._show_compiling)
        bar.addWidget(self._state)
        bar.addWidget(self._pause)
        bar.addWidget(self._progress)
        bar.addWidget(self._left)
        # Push the permanent widgets to the right.
        bar.addWidget(QWidget(), 1)
        for widget in (TrackingProgress(document), SettledLight(document), self._rate, OpacitySlider(document)):
            bar.addPermanentWidget(widget)
        self._settling = SettlingStatus(document, self)
        self._settling.changed.connect(self._show_settling)
        document.opened.connect(self._on_state)
        document.state_changed.connect(self._on_state)
        document.progressed.connect(self._on_progress)
        document.run.worker.warming.connect(self._on_warming)
        self._on_state()

    @Slot()
    def _on_state(self) -> None:
        document = self._document
        live = document.live and document.state is State.SEGMENTING
        self._state.setText("Live" if live else _TEXT[document.state])
        if document.state is State.WARMING:
            self._long.start(_LONG)
        else:
            self._long.stop()
        self._time_left.clear()
        self._pause.setVisible(can_edit(document) and not document.live)
        self._update_tooltip()
        self._on_progress()

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Show the pause shortcut in the tooltip; ``key`` maps an action's id to its shortcut."""
        self._pause_key = key("pause_segmenting")
        self._update_tooltip()

    def _update_tooltip(self) -> None:
        what = _NEXT.get(self._document.state)
        self._state.setToolTip(f"{what} ({self._pause_key})" if what and self._pause_key else what or "")

    @Slot()
    def _show_compiling(self) -> None:
        self._state.setText(COMPILING)

    @Slot(int, int)
    def _on_warming(self, done: int, total: int) -> None:
        self._warmed = (done, total)
        self._on_progress()

    @Slot()
    def _on_progress(self) -> None:
        document = self._document
        count = len(document.summary)
        working = document.state not in (State.EMPTY, State.DONE, State.STOPPED)
        self._progress.setVisible(working and not (document.live and count))
        length = frames_to_segment(document)
        done, total = self._warmed if document.state is State.WARMING else (count, length or 0)
        self._progress.setRange(0, total)
        self._progress.setValue(done)
        times = document.summary.tail("engine", -_RECENT)
        progress = f"{count} of {length} frames" if working and length and length > count else counted(count, "frame")
        self._show_time_left(count, length)
        # The live bar shows the rate of a live source.
        timed = len(times) and working and not document.live
        rate = f"{1000.0 / times.mean():.1f} frames/s · " if timed else ""
        self._rate.setText(f"{rate}{progress}" if count else "")
        self._show_settling()

    @Slot()
    def _show_settling(self) -> None:
        """Show how far the first frame is, in place of the number of frames."""
        fraction = self._settling.fraction
        if fraction is not None:
            self._state.setText(self._settling.text)
            self._progress.setRange(0, _FINE)
            self._progress.setValue(round(_FINE * fraction))

    def _show_time_left(self, count: int, length: int | None) -> None:
        """Estimate when segmentation ends, while it runs and the number of frames is known."""
        seconds = None
        if self._document.state is State.SEGMENTING and not self._document.live and length:
            self._time_left.note(monotonic(), count)
            seconds = self._time_left.seconds(length)
        self._left.setText("" if seconds is None else f"{duration_text(seconds)} left")

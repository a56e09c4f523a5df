"""Status bar: state, progress and speed of segmentation."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.readout import Readout
from scstream_app.ui.window.status_bar_widgets import OpacitySlider, SettledLight, TrackingProgress
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
#: Milliseconds after which the engine must be compiling: compiled code loads faster.
_LONG = 3_000


class StatusBar(QObject):
    """Fills a status bar and updates it from the document."""

    def __init__(self, document: Document, bar: QStatusBar) -> None:
        super().__init__(bar)
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
        bar.addWidget(self._progress)
        # Push the permanent widgets to the right.
        bar.addWidget(QWidget(), 1)
        for widget in (TrackingProgress(document), SettledLight(document), self._rate, OpacitySlider(document)):
            bar.addPermanentWidget(widget)
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
        length = document.facts.length if document.facts is not None else None
        done, total = self._warmed if document.state is State.WARMING else (count, length or 0)
        self._progress.setRange(0, total)
        self._progress.setValue(done)
        times = document.summary.tail("engine", -_RECENT)
        progress = f"{count} of {length} frames" if working and length and length > count else f"{count} frames"
        # The live bar shows the rate of a live source.
        timed = len(times) and working and not document.live
        rate = f"{1000.0 / times.mean():.1f} frames/s · " if timed else ""
        self._rate.setText(f"{rate}{progress}" if count else "")

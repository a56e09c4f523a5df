"""The line at the bottom of the window: what is being done, how far it is, and how fast."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.readout import Readout
from scstream_app.ui.window.status_bar_widgets import OpacitySlider, SettledLight
from scstream_app.warmup_messages import COMPILING, PREPARING

_PROGRESS_WIDTH = 180
#: Frames that the rate is the mean of.
_RECENT = 30
_TEXT = {
    State.EMPTY: "",
    State.OPENING: "Opening…",
    State.WARMING: PREPARING,
    State.SETTLING: "The first frame settles…",
    State.SEGMENTING: "Segmenting",
    State.PAUSED: "Segmentation paused",
    State.STOPPED: "Segmentation stopped",
    State.DONE: "Segmented",
}
#: What pausing would do.
_NEXT = {
    State.SETTLING: "Pause segmentation",
    State.SEGMENTING: "Pause segmentation",
    State.PAUSED: "Go on with segmentation",
}
#: Milliseconds after which it must be compiling: what was compiled before is ready sooner.
_LONG = 3_000


class StatusBar(QObject):
    """Fills a status bar, and keeps it as the document is."""

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
        self._long.timeout.connect(self._tell_long)
        bar.addWidget(self._state)
        bar.addWidget(self._progress)
        # The right end stays together.
        bar.addWidget(QWidget(), 1)
        for widget in (SettledLight(document), self._rate, OpacitySlider(document)):
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
        self._tell_key()
        self._on_progress()

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Say in the tip which key pauses; ``key`` gives that of an action."""
        self._pause_key = key("pause_segmenting")
        self._tell_key()

    def _tell_key(self) -> None:
        what = _NEXT.get(self._document.state)
        self._state.setToolTip(f"{what} ({self._pause_key})" if what and self._pause_key else what or "")

    @Slot()
    def _tell_long(self) -> None:
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
        told = f"{count} of {length} frames" if working and length and length > count else f"{count} frames"
        # A live source has its own pace, and the strip above it says which.
        timed = len(times) and working and not document.live
        rate = f"{1000.0 / times.mean():.1f} frames/s · " if timed else ""
        self._rate.setText(f"{rate}{told}" if count else "")

"""Window that compares the open run of a clip with another one."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QSlider,
    QSpinBox,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from scstream_app.evaluation.run_statistics import RunStatistics, kept_along_flow, run_statistics
from scstream_app.render.palette import Colouring
from scstream_app.session import Session
from scstream_app.sources import open_source
from scstream_app.ui.compare.compared_frame import COMPARED_VIEWS
from scstream_app.ui.compare.comparison_reader import CompareRequest, ComparisonReader
from scstream_app.ui.compare.comparison_view import ComparisonView, Mode
from scstream_app.ui.compare.statistics_table import StatisticsTable
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.qt.threads.job_queue import JobQueue

_SIZE = QSize(1080, 640)
_TABLE_WIDTH = 330
_MODES: dict[Mode, tuple[str, str]] = {
    "wipe": ("Wipe", "This run left of the divider, the other one right of it; drag the divider"),
    "side_by_side": ("Side by Side", "Both runs, next to each other"),
    "difference": ("Difference", "Pixels whose segments do not correspond to each other in the two runs"),
}
_READING = "Reading the runs …"


class ComparisonWindow(QDialog):
    """Shows the current frame of the open run and of another one, and their statistics.

    It follows the frame of the main window, and can change it. ``keep_first`` and ``keep_second`` are emitted when the
    user decides for the open run or for the other one.

    Parameters
    ----------
    document : Document
        Its session is the first run.
    player : Player
    second : Path
        Session of the other run.
    reader : ComparisonReader
    jobs : JobQueue
        Reads the statistics.
    parent : QWidget
    """

    keep_first = Signal()
    keep_second = Signal()

    def __init__(
        self,
        document: Document,
        player: Player,
        second: Path,
        reader: ComparisonReader,
        jobs: JobQueue,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._player, self._reader, self._jobs = document, player, reader, jobs
        self.second = second
        self._first: Session | None = None
        self._cancel = threading.Event()
        self.setWindowTitle("Compare Runs")
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.view = ComparisonView()
        self.table = StatisticsTable()
        self.agreement = QLabel(_READING)
        self.agreement.setAccessibleName("Agreement of the shown frame")
        self.modes = self._make_modes()
        self.views = self._make_views()
        self.slider, self.frame = QSlider(Qt.Orientation.Horizontal), QSpinBox()
        self.buttons = self._make_buttons()
        self._lay_out()
        self._connect()
        self._load()

    # --- construction

    def _make_modes(self) -> dict[Mode, QToolButton]:
        group, made = QButtonGroup(self), dict[Mode, QToolButton]()
        for place, mode in enumerate(get_args(Mode), 1):
            title, tip = _MODES[mode]
            button = made[mode] = QToolButton()
            button.setText(title)
            button.setToolTip(f"{tip} ({place})")
            button.setShortcut(str(place))
            button.setCheckable(True)
            button.clicked.connect(partial(self._set_mode, mode))
            group.addButton(button)
        made["wipe"].setChecked(True)
        return made

    def _make_views(self) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName("View")
        for name, title in COMPARED_VIEWS.items():
            box.addItem(title, name)
        box.setCurrentIndex(max(box.findData(self._document.display.look.view), 0))
        box.currentIndexChanged.connect(self._request)
        return box

    def _make_buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.keep_this = buttons.addButton("Keep This Run", QDialogButtonBox.ButtonRole.ActionRole)
        self.keep_this.setToolTip("Keep the open run; you can delete the other one if it is not saved")
        self.keep_other = buttons.addButton("Keep the Other", QDialogButtonBox.ButtonRole.ActionRole)
        self.keep_other.setToolTip("Open the other run; you can delete this one if it is not saved")
        self.keep_this.clicked.connect(self.keep_first)
        self.keep_other.clicked.connect(self.keep_second)
        buttons.rejected.connect(self.reject)
        for button in (self.keep_this, self.keep_other, buttons.button(QDialogButtonBox.StandardButton.Close)):
            # Enter in the field with the frame number must not press a button.
            button.setAutoDefault(False)
        return buttons

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        for button in self.modes.values():
            top.addWidget(button)
        top.addWidget(self.views)
        top.addStretch(1)
        top.addWidget(self.agreement)
        self.slider.setAccessibleName("Frame")
        self.frame.setAccessibleName("Frame number")
        self.frame.setKeyboardTracking(False)
        below = QHBoxLayout()
        below.addWidget(self.slider, 1)
        below.addWidget(QLabel("Frame"))
        below.addWidget(self.frame)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view, 1)
        column.addLayout(below)
        halves = QSplitter()
        halves.addWidget(left)
        halves.addWidget(self.table)
        halves.setStretchFactor(0, 1)
        halves.setSizes([_SIZE.width() - _TABLE_WIDTH, _TABLE_WIDTH])
        halves.setChildrenCollapsible(False)
        whole = QVBoxLayout(self)
        whole.addLayout(top)
        whole.addWidget(halves, 1)
        whole.addWidget(self.buttons)
        self.resize(_SIZE.boundedTo(self.screen().availableSize() * 0.95))

    def _connect(self) -> None:
        document = self._document
        document.display.shown_changed.connect(self._follow)
        document.progressed.connect(self._update_range)
        document.state_changed.connect(self._on_state)
        document.closed.connect(self.close)
        self._reader.drawn.connect(self._on_drawn)
        self._reader.failed.connect(self._on_failed)
        self.slider.valueChanged.connect(self._go)
        self.frame.valueChanged.connect(self._go)

    # --- the runs

    def _load(self) -> None:
        """Begin with the document's session; it changes when it is saved to another place."""
        self._first = self._document.session
        if self._first is not None:
            self.setWindowTitle(f"Compare Runs – {self._first.manifest.source.name}")
            self.table.set_names(str(self._first.path), str(self.second))
        self._reader.load(self._first, self.second)
        self._update_range()
        self._follow()
        self._read_statistics()

    def _read_statistics(self) -> None:
        first = self._first
        self._cancel.set()
        cancel = self._cancel = threading.Event()
        if first is None:
            return

        def show(found: tuple[RunStatistics, RunStatistics, list[float]] | None) -> None:
            if not cancel.is_set() and found is not None:
                self.table.show_statistics(*found)

        # Failures are those of the reader, which reports them.
        for read in (_statistics, _with_motion):
            self._jobs.do(partial(read, first, self.second, cancel), show, what=_READING)

    @Slot()
    def _on_state(self) -> None:
        session = self._document.session
        if session is not None and not self._document.saving:
            if session is not self._first:
                self._load()
            else:
                self._read_statistics()

    # --- frames

    @Slot()
    def _update_range(self) -> None:
        frames = self._document.summary.frames
        if len(frames):
            for field in (self.slider, self.frame):
                field.blockSignals(True)
                field.setRange(frames[0], frames[-1])
                field.blockSignals(False)

    @Slot()
    def _follow(self) -> None:
        """Show the frame that the main window shows."""
        index = self._document.display.index
        if index is not None:
            self._put(index)

    @Slot(int)
    def _go(self, index: int) -> None:
        """Show another frame, here and in the main window."""
        self._player.pause()
        self._player.seek(index)
        self._put(index)

    def _put(self, index: int) -> None:
        for field in (self.slider, self.frame):
            field.blockSignals(True)
            field.setValue(index)
            field.blockSignals(False)
        self._request()

    @Slot()
    def _request(self) -> None:
        look, names = self._document.display.look, self._document.names
        colouring = Colouring(look.palette, names.colours)
        self._reader.request(
            CompareRequest(self.slider.value(), str(self.views.currentData()), look.opacity, colouring)
        )

    def _set_mode(self, mode: Mode) -> None:
        self.view.set_mode(mode)

    @Slot()
    def _on_drawn(self) -> None:
        frame = self._reader.ready.take()
        if frame is not None:
            self.view.show_frame(frame)
            found = frame.pair.agreement
            share = f"{100.0 * found.share:.1f} % of the pixels differ"
            self.agreement.setText(f"Frame {frame.pair.index}: {share}, ARI {found.ari:.3f}, VI {found.vi:.2f} bits")
            self.agreement.setToolTip(
                "ARI, the adjusted Rand index: 1 if the segments are equal. "
                "VI, the variation of information: 0 if they are equal."
            )

    @Slot(str)
    def _on_failed(self, why: str) -> None:
        self.view.show_text(why)
        self.agreement.setText("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step and play with the keys of the main window."""
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Comma:
                self._player.step(-1)
            case Qt.Key.Key_Right | Qt.Key.Key_Period:
                self._player.step(1)
            case Qt.Key.Key_Space:
                self._player.toggle()
            case _:
                super().keyPressEvent(event)

    def done(self, result: int) -> None:
        """Let go of the files of both runs, however the window is closed."""
        self._cancel.set()
        self._reader.load(None)
        super().done(result)


def _statistics(
    first: Session, second: Path, cancel: threading.Event
) -> tuple[RunStatistics, RunStatistics, list[float]] | None:
    if cancel.is_set():
        return None
    return run_statistics(first), run_statistics(Session.open(second)), []


def _with_motion(
    first: Session, second: Path, cancel: threading.Event
) -> tuple[RunStatistics, RunStatistics, list[float]] | None:
    """Statistics with the share of pixels that keep their id along the motion, which takes seconds."""
    found = _statistics(first, second, cancel)
    if found is None:
        return None
    with open_source(first.source_address) as source:
        return found[0], found[1], kept_along_flow([first, Session.open(second)], source, cancel)

"""The page that is there before anything is open: samples, recent files, and ways to open something."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

#: Sample clips lie beside the packages in a source tree; an installed program may have none.
SAMPLES = Path(__file__).parents[2] / "sample_videos"

_ABOUT_SAMPLES = {
    "kite_surf": "A surfer drifts over a moving sea",
    "crossing": "Fish swim past and behind each other",
    "lighting": "The light changes, the things do not",
    "cut": "Two scenes with a cut between them",
}


class Welcome(QWidget):
    """Signals what is to be opened: ``chosen`` an address, ``session_chosen`` a session, ``asked`` an action's id."""

    chosen = Signal(str)
    session_chosen = Signal(str)
    asked = Signal(str)
    dropped = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self.setObjectName("welcome")
        column = QVBoxLayout(self)
        column.setSpacing(14)
        column.addStretch(2)
        title = QLabel("ScStream Studio")
        title.setObjectName("title")
        font = title.font()
        font.setPointSizeF(2.2 * font.pointSizeF())
        font.setWeight(font.Weight.DemiBold)
        title.setFont(font)
        hint = QLabel("Drop a video or a folder of images here. Segments appear by themselves.")
        for label in (title, hint):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addLayout(self._buttons())
        lists = QHBoxLayout()
        lists.setSpacing(24)
        lists.addStretch(1)
        self.samples = self._list(lists, "Sample clips")
        self.recent = self._list(lists, "Recent")
        self.recovered = self._list(lists, "Not finished or not saved")
        lists.addStretch(1)
        column.addLayout(lists)
        column.addStretch(3)
        self._fill_samples()
        self.samples.itemActivated.connect(self._choose)
        self.samples.itemClicked.connect(self._choose)
        self.recent.itemActivated.connect(self._choose)
        self.recent.itemClicked.connect(self._choose)
        self.recovered.itemActivated.connect(self._choose_session)
        self.recovered.itemClicked.connect(self._choose_session)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for id, text in (
            ("open", "Open Video…"),
            ("open_folder", "Open Images…"),
            ("open_camera", "Open Camera…"),
            ("open_session", "Open Session…"),
        ):
            button = QPushButton(text)
            button.setObjectName(f"welcome_{id}")
            button.clicked.connect(lambda _checked=False, what=id: self.asked.emit(what))
            row.addWidget(button)
        return row

    def _list(self, row: QHBoxLayout, title: str) -> QListWidget:
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        label = QLabel(title)
        entries = QListWidget()
        entries.setAccessibleName(title)
        entries.setFrameShape(QFrame.Shape.NoFrame)
        entries.setFixedSize(QSize(270, 190))
        entries.setSpacing(3)
        entries.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        label.setBuddy(entries)
        column.addWidget(label)
        column.addWidget(entries)
        holder = QWidget()
        holder.setLayout(column)
        row.addWidget(holder)
        return entries

    def _fill_samples(self) -> None:
        for path in sorted(SAMPLES.glob("*.mp4")):
            text = f"{path.stem.replace('_', ' ').capitalize()}\n{_ABOUT_SAMPLES.get(path.stem, '')}"
            self._add(self.samples, text, str(path))
        self._hide_empty(self.samples)

    def set_recent(self, addresses: Sequence[str]) -> None:
        """What was opened lately, newest first."""
        self.recent.clear()
        for address in addresses:
            self._add(self.recent, Path(address).name or address, address)
        self._hide_empty(self.recent)

    def set_recovered(self, sessions: Sequence[tuple[str, str]]) -> None:
        """Sessions that were left behind: what to say of each, and its path."""
        self.recovered.clear()
        for text, path in sessions:
            self._add(self.recovered, text, path)
        self._hide_empty(self.recovered)

    def _add(self, entries: QListWidget, text: str, data: str) -> None:
        item = QListWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, data)
        item.setToolTip(data)
        entries.addItem(item)

    def _hide_empty(self, entries: QListWidget) -> None:
        holder = entries.parentWidget()
        if holder is not None:
            holder.setVisible(entries.count() > 0)

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(str(item.data(Qt.ItemDataRole.UserRole)))

    def _choose_session(self, item: QListWidgetItem) -> None:
        self.session_chosen.emit(str(item.data(Qt.ItemDataRole.UserRole)))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        self.dropped.emit([url.toLocalFile() or url.toString() for url in event.mimeData().urls()])
        event.acceptProposedAction()

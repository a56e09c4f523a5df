"""Welcome page: sample clips, recent files, unsaved sessions, and buttons to open files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListWidgetItem, QMenu, QPushButton, QVBoxLayout, QWidget

from scstream_app.addresses import short_name
from scstream_app.samples import sample_clips
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.sessions.opening.recent_sessions import Continuation
from scstream_app.ui.window.welcome.clip_list import ClipList, scrolling
from scstream_app.ui.window.welcome.thumbnail_loader import ThumbnailLoader

#: Window size that the page is designed for, and the maximum factor by which it grows in larger windows.
_USUAL, _LARGEST = QSize(1280, 800), 2.0
_SMALLEST_LIST, _LIST = QSize(200, 130), QSize(330, 300)
#: Size of the title relative to plain text.
_TITLE = 2.2
#: Buttons by the ids of their actions.
_BUTTONS = {
    "open": "Open Video…",
    "open_images": "Open Images…",
    "open_camera": "Open Camera…",
    "open_clip_as_camera": "Play a Clip as a Camera…",
    "open_session": "Open Session…",
}
_UNSAVED = (
    "Sessions that you have not saved to a folder of your own. "
    "Below each name: segmented frames, time of the last change, and the objects that you made."
)


class Welcome(QWidget):
    """Page shown while nothing is open.

    ``chosen`` carries an address to open, ``session_chosen`` the path of a session, ``dropped`` dropped addresses,
    ``action_requested`` the id of an action, and ``deletion_requested`` path and description of an unsaved session to
    delete. ``stale`` is emitted when the visible lists need an update.

    Parameters
    ----------
    thumbnails : ThumbnailLoader, optional
        Reads the pictures of the clips; without it there are none.
    """

    chosen = Signal(str)
    session_chosen = Signal(str)
    deletion_requested = Signal(str, str)
    action_requested = Signal(str)
    dropped = Signal(list)
    stale = Signal()

    def __init__(self, thumbnails: ThumbnailLoader | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self.setObjectName("welcome")
        self._thumbnails = thumbnails
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(14)
        column.addStretch(2)
        self._plain = self.font().pointSizeF()
        title = self._title = QLabel("ScStream Studio")
        title.setObjectName("title")
        font = title.font()
        font.setPointSizeF(_TITLE * self._plain)
        font.setWeight(font.Weight.DemiBold)
        title.setFont(font)
        hint = QLabel("Drop a video or a folder of images here. Segmentation starts automatically.")
        for label in (title, hint):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addLayout(self._buttons())
        lists = QHBoxLayout()
        lists.setSpacing(24)
        lists.addStretch(1)
        self.samples = self._list(lists, "Sample clips")
        self.recent = self._list(lists, "Recent files")
        self.unsaved = self._list(lists, "Unsaved sessions", _UNSAVED)
        lists.addStretch(1)
        column.addLayout(lists)
        column.addStretch(3)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling(page))
        self._asking = QTimer(self)
        self._asking.setSingleShot(True)
        self._asking.timeout.connect(self._ask)
        self._fill_samples()
        self._hide_empty(self.recent)
        self._hide_empty(self.unsaved)
        self.samples.itemActivated.connect(self._choose)
        self.samples.itemClicked.connect(self._choose)
        self.recent.itemActivated.connect(self._choose)
        self.recent.itemClicked.connect(self._choose)
        self.unsaved.itemActivated.connect(self._choose_session)
        self.unsaved.itemClicked.connect(self._choose_session)
        self._delete = self._make_delete()
        self.unsaved.addAction(self._delete)
        self.unsaved.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.unsaved.customContextMenuRequested.connect(self._show_menu)

    def _make_delete(self) -> QAction:
        """Create the action that deletes the highlighted session; its shortcut works only in that list."""
        action = QAction("Delete…", self)
        action.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(self._ask_to_delete)
        return action

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for id, text in _BUTTONS.items():
            if id not in BY_ID:
                continue
            button = QPushButton(text)
            button.setObjectName(f"welcome_{id}")
            button.clicked.connect(lambda _checked=False, what=id: self.action_requested.emit(what))
            row.addWidget(button)
        return row

    def _list(self, row: QHBoxLayout, title: str, tip: str = "") -> ClipList:
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        label = QLabel(title)
        label.setToolTip(tip)
        entries = ClipList(title, self._thumbnails)
        entries.setMinimumSize(_SMALLEST_LIST)
        entries.setMaximumSize(_LIST)
        label.setBuddy(entries)
        column.addWidget(label)
        column.addWidget(entries)
        holder = QWidget()
        holder.setLayout(column)
        row.addWidget(holder)
        return entries

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scale fonts and lists with the window, so that the page fills a large screen."""
        super().resizeEvent(event)
        size = event.size()
        grown = min(size.width() / _USUAL.width(), size.height() / _USUAL.height(), _LARGEST)
        grown = max(grown, 1.0)
        for widget, times in ((self, 1.0), (self._title, _TITLE)):
            font = widget.font()
            font.setPointSizeF(times * grown * self._plain)
            widget.setFont(font)
        for entries in (self.samples, self.recent, self.unsaved):
            entries.setMaximumSize(_LIST * grown)
            entries.grow(grown)

    def _fill_samples(self) -> None:
        for sample in sample_clips():
            self.samples.add(f"{sample.title}\n{sample.about}", str(sample.path))
        self._hide_empty(self.samples)

    def set_recent(
        self, addresses: Sequence[str], session_of: Callable[[str], Continuation | None] = lambda _address: None
    ) -> None:
        """Set the recent addresses, newest first.

        ``session_of`` returns the session of an address: it is offered first, and below it to segment the clip again.
        The session itself is then not offered once more.
        """
        self.recent.clear()
        sessions = {address: session_of(address) for address in addresses}
        offered = {session.path for session in sessions.values() if session is not None}
        for address, session in sessions.items():
            name = short_name(address)
            if session is None:
                if address not in offered:
                    self.recent.add(name, address)
            else:
                text = session.describe()
                self.recent.add(f"{name}\n{text[:1].upper()}{text[1:]}", session.path)
                self.recent.add_below("Segment again", address, f"{name}: segment again")
        self._hide_empty(self.recent)

    @Slot()
    def refresh(self) -> None:
        """Request new lists, once for several calls, if the page is still visible."""
        self._asking.start()

    @Slot()
    def _ask(self) -> None:
        if self.isVisible():
            self.stale.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the lists, which may have changed meanwhile."""
        super().showEvent(event)
        self.refresh()

    def set_unsaved(self, sessions: Sequence[tuple[str, str]]) -> None:
        """Set the unsaved sessions, each with description and path."""
        self.unsaved.clear()
        for text, path in sessions:
            self.unsaved.add(text, path)
        self._hide_empty(self.unsaved)

    def _hide_empty(self, entries: ClipList) -> None:
        holder = entries.parentWidget()
        if holder is not None:
            holder.setVisible(entries.count() > 0)

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(str(item.data(Qt.ItemDataRole.UserRole)))

    def _choose_session(self, item: QListWidgetItem) -> None:
        self.session_chosen.emit(str(item.data(Qt.ItemDataRole.UserRole)))

    @Slot(QPoint)
    def _show_menu(self, where: QPoint) -> None:
        item = self.unsaved.itemAt(where)
        if item is not None:
            self.unsaved.setCurrentItem(item)
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(self._delete)
            menu.popup(self.unsaved.viewport().mapToGlobal(where))

    @Slot()
    def _ask_to_delete(self) -> None:
        item = self.unsaved.currentItem()
        if item is not None:
            self.deletion_requested.emit(str(item.data(Qt.ItemDataRole.UserRole)), item.text())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the dropped files and URLs."""
        self.dropped.emit([url.toLocalFile() or url.toString() for url in event.mimeData().urls()])
        event.acceptProposedAction()

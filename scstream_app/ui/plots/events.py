"""The list of events: what happened when, and how likely it was."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from scstream import Event
from scstream.genealogy import Kind
from scstream_app.trace import Trace
from scstream_app.ui import events
from scstream_app.ui.document import Document

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

_FRAME, _WHAT, _RATIO = range(3)
_HEADERS = ("Frame", "What happened", "Log ratio")
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_NOTHING = "Nothing has happened yet: births, splits, merges and deaths of segments will be listed here."


class EventsModel(QAbstractTableModel):
    """The trace's events, the earliest first; new ones are appended."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._kind: Kind | None = None
        self._rows: list[tuple[int, Event]] = []
        self._taken = 0
        self._of: Trace | None = None

    def choose(self, kind: Kind | None) -> None:
        """List only events of this kind; None: all."""
        self._kind = kind
        self._of = None
        self.catch_up()

    def catch_up(self) -> None:
        """Take in what is new."""
        trace = self._document.trace
        if trace is not self._of or self._changed(trace):
            self.beginResetModel()
            self._of, self._taken = trace, len(trace.events)
            self._rows = [entry for entry in trace.events if self._listed(entry)]
            self.endResetModel()
            return
        new = [entry for entry in trace.events[self._taken :] if self._listed(entry)]
        self._taken = len(trace.events)
        if new:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(new) - 1)
            self._rows += new
            self.endInsertRows()

    def _changed(self, trace: Trace) -> bool:
        """Whether events went, as the oldest of an endless stream do."""
        first = next((entry for entry in trace.events if self._listed(entry)), None)
        return len(trace.events) < self._taken or (bool(self._rows) and first is not self._rows[0])

    def _listed(self, entry: tuple[int, Event]) -> bool:
        return self._kind is None or entry[1].kind is self._kind

    def entry(self, row: int) -> tuple[int, Event]:
        """The frame and the event of a row."""
        return self._rows[row]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            return _HEADERS[section]
        return events.ABOUT_RATIO if role == Role.ToolTipRole and section == _RATIO else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        frame, event = self._rows[index.row()]
        if role == Role.DisplayRole:
            names = self._document.names.names
            return (str(frame), events.told(event, names), events.told_ratio(event))[index.column()]
        if role == Role.ToolTipRole and index.column() == _WHAT:
            return events.told(event, self._document.names.names)
        return _RIGHT if role == Role.TextAlignmentRole and index.column() != _WHAT else None


class EventsTable(QWidget):
    """The events with a choice of their kind. A click shows the frame and selects the segments concerned."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.model = EventsModel(document, self)
        self._kinds = QComboBox()
        self._kinds.setAccessibleName("Kind of events")
        self._kinds.addItem("All events", None)
        for kind, title in events.TITLES.items():
            self._kinds.addItem(title, kind)
        self._kinds.currentIndexChanged.connect(self._on_kind)
        self.table = self._make_table()
        nothing = self._nothing = QLabel(_NOTHING)
        nothing.setWordWrap(True)
        nothing.setEnabled(False)
        nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        nothing.setMargin(12)
        self._pages = QStackedWidget()
        self._pages.addWidget(nothing)
        self._pages.addWidget(self.table)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 0)
        row.addWidget(self._kinds)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        layout.addWidget(self._pages, 1)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setAccessibleName("Events")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setAlternatingRowColors(True)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 6)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(_WHAT, QHeaderView.ResizeMode.Stretch)
        table.setColumnWidth(_FRAME, table.fontMetrics().horizontalAdvance("0000000") + 16)
        table.setColumnWidth(_RATIO, table.fontMetrics().horizontalAdvance("+00000.0") + 16)
        table.selectionModel().currentRowChanged.connect(self._go)
        table.clicked.connect(self._go)
        return table

    def refresh(self) -> None:
        """List what has happened so far."""
        self.model.catch_up()
        self._pages.setCurrentWidget(self.table if self._document.trace.events else self._nothing)

    def paint(self) -> None:
        """A table follows the application's palette by itself."""

    @Slot(int)
    def _on_kind(self, place: int) -> None:
        # Qt hands back the plain text of what it was given.
        kind = self._kinds.itemData(place)
        self.model.choose(None if kind is None else Kind(kind))

    @Slot(QModelIndex)
    def _go(self, index: QModelIndex) -> None:
        if index.isValid():
            frame, event = self.model.entry(index.row())
            # In this order: selecting redraws the frame on the screen, which would overtake the wish for another.
            self._document.select(event.ids)
            self._document.show(frame)

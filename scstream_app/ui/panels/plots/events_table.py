"""Table of events: frame, description and log Hastings ratio."""

from __future__ import annotations

from array import array
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
)

from scstream_app.session.event_log import Entry
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.events import event_text
from scstream_app.ui.panels.plots.event_filter_bar import EventFilterBar
from scstream_app.ui.panels.plots.statistics_page import StatisticsPage

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

_FRAME, _WHAT, _RATIO = range(3)
_HEADERS = ("Frame", "Event", "Log ratio")
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_NOTHING = "No events yet. Births, splits, merges and deaths of segments are listed here."


class EventsModel(QAbstractTableModel):
    """Table model of the events of a run, earliest first; new events are appended."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        # Positions in the event log.
        self._rows = array("q")
        self._taken = self._forgotten = 0
        self._of: RunSummary | None = None

    @Slot()
    def start_again(self) -> None:
        """List the events that pass the document's filter, which has changed."""
        self._of = None
        self.catch_up()

    def catch_up(self) -> None:
        """Add new events."""
        summary = self._document.summary
        log = summary.events
        # The log of an endless stream drops its oldest events.
        if summary is not self._of or log.forgotten != self._forgotten:
            self.beginResetModel()
            self._of, self._taken, self._forgotten = summary, len(log), log.forgotten
            self._rows = self._positions(0)
            self.endResetModel()
            return
        new = self._positions(self._taken)
        self._taken = len(log)
        if new:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(new) - 1)
            self._rows += new
            self.endInsertRows()

    def _positions(self, first: int) -> array[int]:
        return array("q", self._document.event_filter.places(first))

    def entry(self, row: int) -> Entry | None:
        """Frame and event of a row; None if the log has dropped it since the last `catch_up`."""
        assert self._of is not None
        log = self._of.events
        place = self._rows[row] - (log.forgotten - self._forgotten)
        return log[place] if place >= 0 else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (signature of Qt)
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (signature of Qt)
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            return _HEADERS[section]
        return event_text.ABOUT_RATIO if role == Role.ToolTipRole and section == _RATIO else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        entry = self.entry(index.row())
        if entry is None:
            return None
        frame, event = entry
        if role == Role.DisplayRole:
            names = self._document.names.names
            return (str(frame), event_text.describe(event, names), event_text.describe_ratio(event))[index.column()]
        if role == Role.ToolTipRole and index.column() == _WHAT:
            return event_text.describe(event, self._document.names.names)
        return _RIGHT if role == Role.TextAlignmentRole and index.column() != _WHAT else None


class EventsTable(StatisticsPage):
    """Table of the events that pass the document's filter. A click shows the frame and selects the event's segments."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, _NOTHING)
        self.model = EventsModel(document, self)
        self.table = self._make_table()
        self._set_content(self.table, choice=EventFilterBar(document))
        document.event_filter.changed.connect(self.model.start_again)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setTabKeyNavigation(False)
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

    def _update_content(self) -> None:
        self.model.catch_up()

    def _has_content(self) -> bool:
        return bool(self._document.summary.events)

    @Slot(QModelIndex)
    def _go(self, index: QModelIndex) -> None:
        entry = self.model.entry(index.row()) if index.isValid() else None
        if entry is not None:
            frame, event = entry
            # Select before showing: selecting redraws the current frame, which would replace the pending one.
            self._document.display.select(event.ids)
            self._document.display.show(frame)

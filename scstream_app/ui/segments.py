"""The dock of segments: a table of those alive on the frame at hand, and what can be done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Slot,
)
from PySide6.QtGui import QAction, QColor, QGuiApplication, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QStyledItemDelegate,
    QTableView,
    QToolBar,
    QVBoxLayout,
    QWidget,
)
from superqt.utils import QSignalThrottler

from scstream.video import STATISTICS
from scstream_app import palette
from scstream_app.errors import StudioError
from scstream_app.palette import RGB
from scstream_app.ui import commands
from scstream_app.ui.document import Document
from scstream_app.ui.objects import ask_colour, ask_object, show_boxes

Index = QModelIndex | QPersistentModelIndex
Rows = npt.NDArray[np.void]
Role = Qt.ItemDataRole

#: While frames fly by, the table follows about ten times a second.
_PAUSE_MILLISECONDS = 100

SHOWN, ID, NAME, SIZE, SHARE, AGE, COLOUR, POSITION = range(8)
_HEADERS = ("", "Id", "Name", "Pixels", "Share", "Age", "Colour", "Position")
_TIPS = (
    "Whether the segment is tinted, and its colour in the overlay",
    "Its number, which never changes",
    "Double click to give it a name",
    "Size on this frame, in pixels",
    "Share of the picture",
    "Frames since it appeared",
    "Mean colour of its pixels",
    "Column and row of its centre, in pixels",
)
#: Widths as texts that must fit.
_WIDEST = ("", "0000", "segment 00 · locked", "0000000", "100.0 %", "00000", "#000000", "0000, 0000")
_RIGHT = frozenset({ID, SIZE, SHARE, AGE, POSITION})
_EMPTY: Rows = np.empty(0, STATISTICS)


class SegmentsModel(QAbstractTableModel):
    """The statistics of a frame as a table, sorted and filtered.

    A new frame changes rows in place, so that a view keeps its place and its selection: rows of segments that went
    are removed, new ones appended, and all of them put in order.
    """

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._all: Rows = _EMPTY
        self._rows: Rows = _EMPTY
        self._place: dict[int, int] = {}
        self._column, self._order = SIZE, Qt.SortOrder.DescendingOrder
        self._filter = ""

    # --- what changes it

    def show(self, rows: Rows) -> None:
        """Take over the statistics of a frame."""
        self._all = rows
        self._update()

    def set_filter(self, text: str) -> None:
        """Keep only segments with this in their name, or ids that begin with it."""
        self._filter = text.strip().casefold()
        self._update()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Put the rows in the order of a column."""
        self._column, self._order = column, order
        self._arrange()

    def refresh(self) -> None:
        """What a person said about segments has changed."""
        self._update()

    def _update(self) -> None:
        kept = self._all[[self._passes(int(id)) for id in self._all["id"]]] if self._filter else self._all
        self._remove(set(kept["id"].tolist()))
        self._append(kept)
        # The rows' order is the old one still: values first, then the order as a change of layout.
        place = {int(id): n for n, id in enumerate(kept["id"])}
        self._rows = kept[[place[int(id)] for id in self._rows["id"]]] if len(kept) else _EMPTY
        self._index()
        self._arrange()
        if len(self._rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(_HEADERS) - 1))

    def _passes(self, id: int) -> bool:
        return str(id).startswith(self._filter) or self._filter in self.name(id).casefold()

    def _remove(self, staying: set[int]) -> None:
        gone = [row for row, id in enumerate(self._rows["id"].tolist()) if id not in staying]
        for first, last in reversed(_runs(gone)):
            self.beginRemoveRows(QModelIndex(), first, last)
            self._rows = np.delete(self._rows, slice(first, last + 1))
            self._index()
            self.endRemoveRows()

    def _append(self, kept: Rows) -> None:
        new = kept[[id not in self._place for id in kept["id"].tolist()]] if len(kept) else kept
        if len(new):
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(new) - 1)
            self._rows = np.concatenate([self._rows, new])
            self._index()
            self.endInsertRows()

    def _index(self) -> None:
        self._place = {id: row for row, id in enumerate(self._rows["id"].tolist())}

    def _arrange(self) -> None:
        order = self._sorted()
        if np.array_equal(order, np.arange(len(order))):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        target = np.argsort(order)
        self._rows = self._rows[order]
        self._index()
        self.changePersistentIndexList(before, [self.index(int(target[i.row()]), i.column()) for i in before])
        self.layoutChanged.emit()

    def _sorted(self) -> npt.NDArray[np.intp]:
        """The rows' order; equal ones by their ids."""
        ids = self._rows["id"]
        order = np.lexsort((ids, self._key()))
        if self._order == Qt.SortOrder.DescendingOrder:
            # Reversed, with equal ones still by ascending id.
            rank = np.unique(self._key(), return_inverse=True)[1]
            order = np.lexsort((ids, -rank))
        return order

    def _key(self) -> npt.NDArray[Any]:
        rows = self._rows
        match self._column:
            case 0:
                return np.array([id in self._document.names.hidden for id in rows["id"].tolist()], bool)
            case 2:
                return np.array([self._sort_name(id) for id in rows["id"].tolist()], str)
            case 6:
                return np.asarray(0.3 * rows["red"] + 0.6 * rows["green"] + 0.1 * rows["blue"])
            case 7:
                return np.asarray(rows["column"])
        return np.asarray(rows[{ID: "id", SIZE: "pixels", SHARE: "share", AGE: "age"}[self._column]])

    def _sort_name(self, id: int) -> str:
        # Those with a name come first; the others in the order of their numbers.
        own = self._document.names.names.get(id)
        return f"0{own.casefold()}" if own is not None else f"1{id:012d}"

    # --- what a view asks for

    def id(self, row: int) -> int:
        """The segment of a row."""
        return int(self._rows["id"][row])

    def row(self, id: int) -> int | None:
        """The row of a segment, if it is there."""
        return self._place.get(id)

    @property
    def ids(self) -> list[int]:
        """Segments from top to bottom."""
        return [int(id) for id in self._rows["id"]]

    def name(self, id: int) -> str:
        """What the segment is called."""
        return self._document.names.names.get(id, f"segment {id}")

    def colour(self, id: int) -> RGB:
        """Its colour in the overlay."""
        own = self._document.names.colours.get(id)
        if own is not None:
            return own
        red, green, blue = (int(level) for level in palette.colours(id + 1, self._document.look.palette)[id])
        return red, green, blue

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            return _HEADERS[section]
        if role == Role.ToolTipRole:
            return _TIPS[section]
        if role == Role.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in _RIGHT else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.column() == SHOWN:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        elif index.column() == NAME:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], index.column()
        id = int(row["id"])
        if role == Role.DisplayRole:
            return self._text(row, id, column)
        if role == Role.EditRole and column == NAME:
            return self._document.names.names.get(id, "")
        if role == Role.CheckStateRole and column == SHOWN:
            return Qt.CheckState.Unchecked if id in self._document.names.hidden else Qt.CheckState.Checked
        if role == Role.DecorationRole and column in (SHOWN, COLOUR):
            return QColor(*(self.colour(id) if column == SHOWN else _mean(row)))
        if role == Role.TextAlignmentRole and column in _RIGHT:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Role.ForegroundRole and self._pale(id, column):
            return QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        if role == Role.ToolTipRole:
            return f"{self.name(id)}, id {id}{', locked' if id in self._document.locked else ''}"
        return None

    def _pale(self, id: int, column: int) -> bool:
        names = self._document.names
        return id in names.hidden or (column == NAME and id not in names.names)

    def _text(self, row: np.void, id: int, column: int) -> str | None:
        match column:
            case 1:
                return str(id)
            case 2:
                return f"{self.name(id)} · locked" if id in self._document.locked else self.name(id)
            case 3:
                return str(int(row["pixels"]))
            case 4:
                return f"{100.0 * float(row['share']):.1f} %"
            case 5:
                return str(int(row["age"]))
            case 6:
                return "#{:02x}{:02x}{:02x}".format(*_mean(row))
            case 7:
                return f"{float(row['column']):.0f}, {float(row['row']):.0f}"
        return None

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        id = self.id(index.row())
        try:
            if role == Role.CheckStateRole and index.column() == SHOWN:
                commands.set_hidden(self._document, [id], Qt.CheckState(value) == Qt.CheckState.Unchecked)
            elif role == Role.EditRole and index.column() == NAME:
                commands.rename(self._document, id, str(value).strip())
            else:
                return False
        except StudioError as error:
            self._document.failed.emit(f"Segment {id} cannot be called that: {error}.")
            return False
        return True


def _mean(row: np.void) -> RGB:
    red, green, blue = (round(255.0 * float(row[name])) for name in ("red", "green", "blue"))
    return red, green, blue


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """First and last of each run of successive numbers.

    >>> _runs([1, 2, 3, 7])
    [(1, 3), (7, 7)]
    """
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


class SegmentsPanel(QWidget):
    """The table with its filter, buttons and menu; the methods are what the window's menu calls.

    All of them act on the document's selection, on the table or in the picture.
    """

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._following = False
        self._stale = True
        self._model = SegmentsModel(document, self)
        self._filter = QLineEdit()
        self._filter.setPlaceholderText("Filter by name or id")
        self._filter.setAccessibleName("Filter segments")
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(self._on_filter)
        self._count = QLabel()
        self._count.setObjectName("count")
        self._count.setContentsMargins(6, 2, 6, 3)
        self._table = self._make_table()
        self._actions = {name: self._action(*entry) for name, entry in self._entries().items()}
        bar = QToolBar()
        bar.addActions(list(self._actions.values()))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(bar)
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 4, 2)
        row.addWidget(self._filter)
        layout.addLayout(row)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._count)
        self._throttle = QSignalThrottler(parent=self)
        self._throttle.setTimeout(_PAUSE_MILLISECONDS)
        self._throttle.triggered.connect(self._follow)
        self._connect()
        self._follow()

    def _connect(self) -> None:
        document = self._document
        document.shown_changed.connect(self._throttle.throttle)
        document.closed.connect(self._follow)
        document.marks_changed.connect(self._refresh)
        document.look_changed.connect(self._refresh)
        document.selection_changed.connect(self._mirror)
        document.state_changed.connect(self._enable)

    def _make_table(self) -> QTableView:
        table = _Table(self)
        table.setAccessibleName("Segments")
        table.setModel(self._model)
        table.setItemDelegateForColumn(NAME, _NameDelegate(table))
        show_boxes(table)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setAlternatingRowColors(True)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setSortingEnabled(True)
        table.sortByColumn(SIZE, Qt.SortOrder.DescendingOrder)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 8)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        metrics = table.fontMetrics()
        for column, text in enumerate(_WIDEST):
            # A box, a swatch and the sort mark take room of their own.
            room = {SHOWN: 48, COLOUR: 40}.get(column, 20)
            table.setColumnWidth(column, max(metrics.horizontalAdvance(text), 0) + room)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._show_menu)
        table.doubleClicked.connect(self._on_double_click)
        table.selectionModel().selectionChanged.connect(self._on_selected)
        return table

    def _entries(self) -> dict[str, tuple[str, str, Callable[[], object]]]:
        return {
            "hide": ("Hide\tH", "Take the tint off the selected segments, or put it back", self.toggle_hidden),
            "isolate": ("Isolate", "Dim everything but the selected segments; again: nothing", self.isolate_selected),
            "recolour": ("Colour…", "Give the selected segments a colour of their own", self.recolour_selected),
            "rename": ("Rename\tF2", "Give the selected segment a name", self.rename_selected),
            "merge": ("Merge\tM", "Make the selected segments one, from the next frame on", self.merge_selected),
            "split": (
                "Split\tAlt+M",
                "Divide the selected segments into their sub-clusters, from the next frame on",
                self.split_selected,
            ),
            "lock": ("Lock", "Keep the selected segments from splitting and merging by themselves", self.toggle_locked),
            "group": ("To object…\tG", "Put the selected segments into an object", self.group_selected),
        }

    def _action(self, text: str, tip: str, act: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.setIconText(text.partition("\t")[0])
        action.setToolTip(tip)
        action.setData(tip)
        action.triggered.connect(lambda: act())
        return action

    # --- what can be done

    @Slot()
    def toggle_hidden(self) -> None:
        """Hide the selected segments; if all of them are hidden, show them."""
        chosen = self._document.selection
        if chosen:
            commands.set_hidden(self._document, chosen, not chosen <= self._document.names.hidden)

    @Slot()
    def isolate_selected(self) -> None:
        """Dim everything but the selected segments; if that is so already, nothing."""
        chosen = self._document.selection
        self._document.isolate(frozenset() if chosen == self._document.isolated else chosen)

    @Slot()
    def recolour_selected(self) -> None:
        """Ask for a colour of the selected segments."""
        chosen = self._document.selection
        if chosen:
            ask_colour(
                self,
                self._model.colour(min(chosen)),
                f"Colour of {commands.told(chosen)}",
                lambda colour: commands.recolour(self._document, chosen, colour),
            )

    @Slot()
    def rename_selected(self) -> None:
        """Begin to edit the name of the selected segment, in the table."""
        row = self._model.row(min(self._document.selection, default=-1))
        if row is not None:
            index = self._model.index(row, NAME)
            self._table.scrollTo(index)
            self._table.edit(index)

    @Slot()
    def merge_selected(self) -> None:
        """Have the model make the selected segments one."""
        if self._can("merge"):
            commands.merge(self._document, self._document.selection)

    @Slot()
    def split_selected(self) -> None:
        """Have the model divide each of the selected segments."""
        if self._can("split"):
            commands.split(self._document, self._document.selection)

    @Slot()
    def toggle_locked(self) -> None:
        """Lock the selected segments; if all of them are locked, unlock them."""
        chosen = self._document.selection
        if self._can("lock"):
            commands.set_locked(self._document, chosen, not chosen <= self._document.locked)

    @Slot()
    def group_selected(self) -> None:
        """Ask which object the selected segments go to."""
        if self._can("group"):
            ask_object(self._document, self)

    def _can(self, name: str) -> bool:
        self._enable()
        return self._actions[name].isEnabled()

    # --- keeping up

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            show_boxes(self._table)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._follow()

    @Slot()
    def _follow(self) -> None:
        """Show the statistics of the frame at hand, if anybody looks."""
        self._stale = not self.isVisible() and self._document.shown is not None
        if not self._stale:
            shown = self._document.shown
            self._change(lambda: self._model.show(_EMPTY if shown is None else shown.result.statistics))

    @Slot()
    def _refresh(self) -> None:
        self._change(self._model.refresh)

    @Slot(str)
    def _on_filter(self, text: str) -> None:
        self._change(lambda: self._model.set_filter(text))

    def _change(self, change: Callable[[], None]) -> None:
        """Change the model; rows that come and go leave the document's selection as it is."""
        self._following = True
        try:
            change()
        finally:
            self._following = False
        self._mirror(scroll=False)

    @Slot()
    def _mirror(self, scroll: bool = True) -> None:
        """Show the document's selection in the table."""
        rows = sorted(row for row in map(self._model.row, self._document.selection) if row is not None)
        model = self._table.selectionModel()
        if rows != sorted(index.row() for index in model.selectedRows()):
            self._following = True
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            model.select(self._selection(rows), flags)
            self._following = False
            if rows and scroll:
                self._table.scrollTo(self._model.index(rows[0], NAME))
        self._enable()

    def _selection(self, rows: Iterable[int]) -> QItemSelection:
        selection = QItemSelection()
        for first, last in _runs(list(rows)):
            selection.select(self._model.index(first, 0), self._model.index(last, len(_HEADERS) - 1))
        return selection

    @Slot()
    def _on_selected(self) -> None:
        if not self._following:
            rows = self._table.selectionModel().selectedRows()
            self._document.select(self._model.id(index.row()) for index in rows)

    @Slot()
    def _enable(self) -> None:
        chosen, editable = self._document.selection, commands.can_edit(self._document)
        enabled = dict.fromkeys(self._actions, bool(chosen))
        enabled["isolate"] = bool(chosen or self._document.isolated)
        enabled["rename"] = len(chosen) == 1
        enabled["merge"] = editable and len(chosen) > 1
        enabled["split"] = enabled["lock"] = editable and bool(chosen)
        enabled["group"] = commands.can_group(self._document)
        for name, action in self._actions.items():
            action.setEnabled(enabled[name])
            needs_model = name in ("merge", "split", "lock")
            action.setToolTip(commands.MODEL_ENDED if needs_model and not editable else str(action.data()))
        self._call("hide", "Show\tH" if chosen and chosen <= self._document.names.hidden else "Hide\tH")
        self._call("lock", "Unlock" if chosen and chosen <= self._document.locked else "Lock")
        self._tell()

    def _call(self, name: str, text: str) -> None:
        self._actions[name].setText(text)
        self._actions[name].setIconText(text.partition("\t")[0])

    def _tell(self) -> None:
        shown = self._document.shown
        there = 0 if shown is None else len(shown.result.statistics)
        listed = self._model.rowCount()
        text = f"{there} segments" if listed == there else f"{listed} of {there} segments"
        if self._document.selection:
            text += f", {len(self._document.selection)} selected"
        if self._document.names.hidden:
            text += f", {len(self._document.names.hidden)} hidden"
        self._count.setText(text)

    @Slot(QModelIndex)
    def _on_double_click(self, index: QModelIndex) -> None:
        if index.column() == SHOWN:
            self.recolour_selected()
        elif index.column() != NAME:
            self.isolate_selected()

    @Slot(QPoint)
    def _show_menu(self, where: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        menu.addActions(list(self._actions.values()))
        own = menu.addAction("Colour of the palette")
        own.setEnabled(bool(self._document.selection & set(self._document.names.colours)))
        own.triggered.connect(lambda: commands.recolour(self._document, self._document.selection, None))
        menu.popup(self._table.viewport().mapToGlobal(where))


class _NameDelegate(QStyledItemDelegate):
    """Leaves alone what somebody is typing: frames that come meanwhile would put the old name back."""

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)


class _Table(QTableView):
    """Keys that the window's menu has too come here only when there is no such menu."""

    def __init__(self, panel: SegmentsPanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        alt = event.modifiers() == Qt.KeyboardModifier.AltModifier
        match event.key():
            case Qt.Key.Key_H if plain:
                self._panel.toggle_hidden()
            case Qt.Key.Key_M if plain:
                self._panel.merge_selected()
            case Qt.Key.Key_M if alt:
                self._panel.split_selected()
            case Qt.Key.Key_G if plain:
                self._panel.group_selected()
            case Qt.Key.Key_F2:
                self._panel.rename_selected()
            case _:
                super().keyPressEvent(event)

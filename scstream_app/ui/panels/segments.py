"""The dock of segments: a table of those alive on the frame at hand, and what can be done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QSignalBlocker,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDockWidget,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QStyledItemDelegate,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from scstream_app.pipeline.run import Notice
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.actions.panel_actions import PanelAction, PanelActions
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.availability import why_unavailable
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.object_dialog import ask_object, if_still_open
from scstream_app.ui.panels.plots.plot_helpers import statistics_of
from scstream_app.ui.panels.segments_cells import LockDelegate, NameDelegate, ShownDelegate, SwatchDelegate
from scstream_app.ui.panels.segments_model import COLOUR, DRIFT, HEADERS, NAME, SHARE, SHOWN, SIZE, SegmentsModel, runs
from scstream_app.ui.panels.segments_table import SegmentsTable
from scstream_app.ui.qt.widgets import ask_colour, more_button, show_boxes

#: While frames fly by, the table follows about four times a second: painting it keeps the window busy for about 10 ms.
_PAUSE = 0.25
#: What is said in place of a number of segments before there are any.
_NOT_YET = {
    State.OPENING: "Opening…",
    State.WARMING: "No segments yet: the engine is being prepared…",
    State.SETTLING: "No segments yet: the first frame settles…",
    # The frame has settled, and its draft is still on the screen.
    State.SEGMENTING: "Settling…",
    State.PAUSED: "Not segmented yet",
}
#: What has no button of its own: a narrow panel would hide the last buttons.
_MORE = ("recolour", "rename", "lock")


class SegmentsPanel(QWidget):
    """The table with its filter, buttons and menu; the methods are what the window's menu calls.

    All of them act on the document's selection, on the table or in the picture. ``said`` carries what became of that,
    where it is not to be seen, or why nothing did.

    Attributes
    ----------
    more : tuple of QAction
        What the menu offers besides, of other panels.
    """

    said = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.more: tuple[QAction, ...] = ()
        self._following = False
        self._stale = True
        self._model = SegmentsModel(document, self)
        self._filter = QLineEdit()
        self._filter.setPlaceholderText("Filter by name, id or object")
        self._filter.setAccessibleName("Filter segments")
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(self._on_filter)
        self._count = QLabel()
        self._count.setObjectName("count")
        self._count.setContentsMargins(6, 2, 6, 3)
        self._table = self._make_table()
        self._plain, self._faded = QStyledItemDelegate(self._table), ShownDelegate(self._table)
        self._swatches = SwatchDelegate(self._table)
        self._names, self._locks = NameDelegate(self._table), LockDelegate(self._table)
        self._deeds = PanelActions(self, self._make_deeds(), partial(why_unavailable, document), self.said.emit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._make_bar())
        row = QHBoxLayout()
        row.setContentsMargins(4, 0, 4, 2)
        row.addWidget(self._filter)
        layout.addLayout(row)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._count)
        self._turn = PanelRefresh(document, _PAUSE, self)
        self._turn.come.connect(self._follow)
        self._connect()
        self._follow()

    def _connect(self) -> None:
        document = self._document
        document.display.shown_changed.connect(self._turn.ask)
        document.previewed.connect(self._tell)
        document.closed.connect(self._follow)
        document.marks_changed.connect(self._refresh)
        document.display.look_changed.connect(self._refresh)
        document.display.selection_changed.connect(self._on_selection)
        document.state_changed.connect(self._enable)
        document.noticed.connect(self._on_noticed)
        document.progressed.connect(self._on_progressed)

    def _make_bar(self) -> QToolBar:
        bar = QToolBar()
        bar.addActions([action for name, action in self._deeds.actions().items() if name not in _MORE])
        bar.addWidget(more_button([self._deeds[name] for name in _MORE], "Colour, name, lock"))
        return bar

    def _make_table(self) -> SegmentsTable:
        table = SegmentsTable(self._model, self)
        table.setAccessibleName("Segments")
        show_boxes(table)
        # Keys are those of the actions, whatever they are now.
        table.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked)
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
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        # The first columns to go when there is no room for them are those that others say nearly as well.
        header.moveSection(SHARE, DRIFT)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(table.show_columns_menu)
        table.set_widths()
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._show_menu)
        table.doubleClicked.connect(self._on_double_click)
        table.selectionModel().selectionChanged.connect(self._on_selected)
        return table

    def _make_deeds(self) -> dict[str, PanelAction]:
        return {
            "hide": PanelAction("Hide", "Take the tint off the selected segments, or put it back", self.toggle_hidden),
            "isolate": PanelAction(
                "Isolate", "Dim everything but the selected segments, or show all", self.isolate_selected
            ),
            "recolour": PanelAction(
                "Colour…", "Give the selected segments a colour of their own", self.recolour_selected
            ),
            "rename": PanelAction("Rename", "Give the selected segment a name", self.rename_selected),
            "merge": PanelAction(
                "Merge",
                "Make the selected segments one from the next frame on, and lock it",
                self.merge_selected,
            ),
            "split": PanelAction(
                "Split",
                "Divide the selected segments into their sub-clusters, from the next frame on, and lock these; "
                "the dashed line in the newest frame shows where",
                self.split_selected,
            ),
            "lock": PanelAction(
                "Lock", "Keep the selected segments from splitting and merging by themselves", self.toggle_locked
            ),
            "group": PanelAction(
                BY_ID["group"].title,
                "Put the selected segments together in an object, a new one or one that is there",
                self.group_selected,
            ),
        }

    # --- what can be done

    @Slot()
    def toggle_hidden(self) -> None:
        """Hide the selected segments; if all of them are hidden, show them."""
        chosen = self._document.display.selection
        if self._deeds.can("hide"):
            undo_commands.set_hidden(self._document, chosen, not chosen <= self._document.names.hidden)

    @Slot()
    def isolate_selected(self) -> None:
        """Dim everything but the selected segments; if that is so already, or none is selected, nothing."""
        if self._deeds.can("isolate"):
            undo_commands.isolate(self._document, self._document.display.selection)

    @Slot()
    def recolour_selected(self) -> None:
        """Ask for a colour of the selected segments."""
        chosen = self._document.display.selection
        if self._deeds.can("recolour"):
            ask_colour(
                self,
                self._model.colour(min(chosen)),
                f"Colour of {undo_commands.segments_text(chosen)}",
                if_still_open(self._document, lambda colour: undo_commands.recolour(self._document, chosen, colour)),
            )

    @Slot()
    def rename_selected(self) -> None:
        """Begin to edit the name of the selected segment, in the table, wherever that is."""
        if self._table.typing or not self._deeds.can("rename"):
            return
        (id,) = self._document.display.selection
        if id not in statistics_of(self._document)["id"]:
            self.said.emit(f"Segment {id} is not on this frame.")
            return
        self._come_forward()
        if self._model.row(id) is None:
            self._filter.clear()
        row = self._model.row(id)
        if row is not None:
            index = self._model.index(row, NAME)
            self._table.scrollTo(index)
            self._table.edit(index)

    @Slot()
    def finish_typing(self) -> None:
        """Keep the name that somebody is typing: in a moment it could not be kept."""
        self._table.finish_typing()

    def _come_forward(self) -> None:
        """Let the table be seen, as of the frame at hand: it may be closed, or behind another panel."""
        dock = self.parentWidget()
        if isinstance(dock, QDockWidget):
            dock.show()
            dock.raise_()
        self._follow()

    @Slot()
    def merge_selected(self) -> None:
        """Have the model make the selected segments one."""
        if self._deeds.can("merge"):
            self._promise(undo_commands.merge(self._document, self._document.display.selection))

    @Slot()
    def split_selected(self) -> None:
        """Have the model divide each of the selected segments."""
        if self._deeds.can("split"):
            self._promise(undo_commands.split(self._document, self._document.display.selection))

    def _promise(self, text: str) -> None:
        """Say what will happen: nothing is to be seen of it before the next frame."""
        if text:
            self.said.emit(text)

    @Slot()
    def toggle_locked(self) -> None:
        """Lock the selected segments; if all of them are locked, unlock them."""
        chosen = self._document.display.selection
        if self._deeds.can("lock"):
            undo_commands.set_locked(self._document, chosen, not chosen <= self._document.pending.locked)

    @Slot()
    def group_selected(self) -> None:
        """Ask which object the selected segments go to."""
        if self._deeds.can("group"):
            ask_object(self._document, self, self.said.emit)

    # --- keeping up

    @Slot(object)
    def _on_noticed(self, notice: Notice) -> None:
        if notice.edit is not None:
            undo_commands.note_failed(self._document, notice.edit)

    @Slot()
    def _on_progressed(self) -> None:
        undo_commands.keep_split(self._document)

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
        self._stale = not self.isVisible() and self._document.display.shown is not None
        if not self._stale:
            self._change(lambda: self._model.show(statistics_of(self._document)))
            self._table.make_room()

    @Slot()
    def _refresh(self) -> None:
        self._change(self._model.refresh)

    @Slot(str)
    def _on_filter(self, text: str) -> None:
        self._change(lambda: self._model.set_filter(text))

    def _change(self, change: Callable[[], None]) -> None:
        """Change the model; rows that come and go leave the document's selection as it is."""
        self._table.look_around()
        self._following = True
        try:
            # Whatever is laid out later, or says that it got another width, as hidden columns do at every new order of
            # rows, has the table painted a second time.
            with QSignalBlocker(self._table.horizontalHeader()):
                change()
                self._table.executeDelayedItemsLayout()
        finally:
            self._following = False
        self._mirror()

    @Slot()
    def _on_selection(self) -> None:
        rows = self._selected_rows()
        # What was chosen in the table is marked there already, and whoever did it looks at the rows around it.
        self._table.elsewhere = bool(rows) and rows == self._table.marked()
        self._mirror()

    def _mirror(self) -> None:
        """Show the document's selection in the table."""
        rows, model = self._selected_rows(), self._table.selectionModel()
        if rows != self._table.marked():
            self._following = True
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            model.select(self._selection(rows), flags)
            self._following = False
        self._table.show_marked()
        self._enable()

    def _selected_rows(self) -> list[int]:
        return sorted(row for row in map(self._model.row, self._document.display.selection) if row is not None)

    def _selection(self, rows: Iterable[int]) -> QItemSelection:
        selection = QItemSelection()
        for first, last in runs(list(rows)):
            selection.select(self._model.index(first, 0), self._model.index(last, len(HEADERS) - 1))
        return selection

    @Slot()
    def _on_selected(self) -> None:
        if not self._following:
            rows = self._table.selectionModel().selectedRows()
            self._document.display.select(self._model.id(index.row()) for index in rows)

    @property
    def word_of_isolating(self) -> str:
        """What isolating is called, as long as that is what it does."""
        document = self._document
        ends = document.display.isolated and document.display.selection in (document.display.isolated, frozenset())
        return "Show All" if ends else "Isolate"

    @Slot()
    def _enable(self) -> None:
        document, chosen = self._document, self._document.display.selection
        self._deeds.enable()
        self._deeds.call("hide", "Show" if chosen and chosen <= document.names.hidden else "Hide")
        self._deeds.call("lock", "Unlock" if chosen and chosen <= document.pending.locked else "Lock")
        self._deeds.call("isolate", self.word_of_isolating)
        self._dress()
        # Boxes and names can be changed when the buttons can.
        self._table.viewport().update()
        self._tell()

    def _dress(self) -> None:
        """Have cells drawn as they must be now; what Qt draws by itself costs a third of the time."""
        document = self._document
        swatches = self._swatches if document.display.selection else self._plain
        boxes = self._faded if document.saving else swatches
        names = self._locks if document.pending.locked else self._names
        for column, delegate in ((SHOWN, boxes), (NAME, names), (COLOUR, swatches)):
            if self._table.itemDelegateForColumn(column) is not delegate:
                self._table.setItemDelegateForColumn(column, delegate)

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Go by the keys that the window's actions have now; ``key`` gives that of an action."""
        self._deeds.set_keys(key)

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key is for, if it is for anything here."""
        return self._deeds.press(event)

    @Slot()
    def _tell(self) -> None:
        ids, listed = frozenset(statistics_of(self._document)["id"].tolist()), self._model.rowCount()
        if ids:
            text = f"{len(ids)} segments" if listed == len(ids) else f"{listed} of {len(ids)} segments"
        else:
            text = self._told_waiting()
        if text and self._document.display.selection:
            text += f", {_told_selected(self._document.display.selection, ids)}"
        if text and self._document.names.hidden:
            text += f", {len(self._document.names.hidden)} hidden"
        self._count.setText(text)

    def _told_waiting(self) -> str:
        """Why the table is empty."""
        document = self._document
        if document.preview is not None and document.display.shown is not None:
            return f"Settling… {document.preview.progress.n_clusters} segments so far"
        return _NOT_YET.get(document.state, "0 segments" if document.is_open else "")

    @Slot(QModelIndex)
    def _on_double_click(self, index: QModelIndex) -> None:
        if index.column() == SHOWN:
            self.recolour_selected()
        elif index.column() != NAME:
            self.isolate_selected()
        elif self._document.saving:
            # Nothing comes of it: that says why.
            self._deeds.can("rename")

    @Slot(QPoint)
    def _show_menu(self, where: QPoint) -> None:
        self.make_menu().popup(self._table.viewport().mapToGlobal(where))

    def make_menu(self) -> QMenu:
        """All that can be done to the selected segments."""
        self._enable()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        menu.addActions([*self._deeds.actions().values(), *self.more])
        own = menu.addAction("Colour of the palette")
        coloured = bool(self._document.display.selection & set(self._document.names.colours))
        own.setEnabled(coloured and not self._document.saving)
        own.triggered.connect(lambda: undo_commands.recolour(self._document, self._document.display.selection, None))
        return menu


def _told_selected(selection: frozenset[int], ids: frozenset[int]) -> str:
    """How many are selected, and how many of them are among the ids of the frame, if not all; no ids: not known yet.

    >>> _told_selected(frozenset({1, 2}), frozenset({0, 1}))
    '2 selected, 1 on this frame'
    """
    count, here = len(selection), len(selection & ids)
    if not ids or here == count:
        return f"{count} selected"
    return f"{count} selected, {here or 'none'} on this frame"

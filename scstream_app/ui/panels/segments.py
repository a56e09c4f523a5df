"""The Segments panel: a table of the segments on the current frame, and the actions on the selected ones."""

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
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from scstream_app.pipeline.run import Notice
from scstream_app.plural import counted
from scstream_app.ui.actions.panel_actions import PanelActions
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.action_availability import can_edit, why_unavailable, why_unchangeable
from scstream_app.ui.document.answers import if_still_open
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.object_dialog import ask_object
from scstream_app.ui.panels.plots.plot_helpers import statistics_of
from scstream_app.ui.panels.segments_cells import LockDelegate, NameDelegate, ShownDelegate, SwatchDelegate, TipDelegate
from scstream_app.ui.panels.segments_items import COLOUR, HEADERS, NAME, SHOWN
from scstream_app.ui.panels.segments_model import SegmentsModel, runs
from scstream_app.ui.panels.segments_table import SegmentsTable
from scstream_app.ui.qt.widgets import ask_colour, more_button, show_boxes

#: Seconds between two updates during playback: numbers that change more often cannot be read.
_PAUSE = 0.2
#: Shown instead of the number of segments while there are none.
_NOT_YET = {
    State.OPENING: "Opening…",
    State.WARMING: "No segments yet: preparing the engine…",
    State.SETTLING: "No segments yet: analysing the first frame…",
    # The first frame is done, and its draft is still on the screen.
    State.SEGMENTING: "Analysing first frame…",
    State.PAUSED: "Not segmented yet",
}
#: Actions with a button, and those in the More menu: a narrow panel would hide the last buttons.
_BUTTONS = ("hide", "isolate", "merge", "split", "group")
_MORE = ("recolour", "rename", "lock")
#: The order of the context menu.
_MENU = ("hide", "isolate", "recolour", "rename", "merge", "split", "lock", "group")


class SegmentsPanel(QWidget):
    """The table with its filter, buttons and menu; the window's menu calls the public methods.

    They act on the document's selection. ``message`` carries what an action did, where the user does not see it, or why
    it did nothing. ``edit_requested`` carries "merge", "split", "lock" or "unlock" if no next frame follows before
    which the model can change.

    Attributes
    ----------
    more : tuple of QAction
        Actions of other panels for the context menu.
    """

    message = Signal(str)
    edit_requested = Signal(str)

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
        self._plain, self._faded = TipDelegate(self._table), ShownDelegate(self._table)
        self._table.setItemDelegate(self._plain)
        self._swatches = SwatchDelegate(self._table)
        self._names, self._locks = NameDelegate(self._table), LockDelegate(self._table)
        self._actions = self._make_actions()
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
        self._panel_refresh = PanelRefresh(document, _PAUSE, self)
        self._panel_refresh.come.connect(self._follow)
        self._connect()
        self._follow()

    def _connect(self) -> None:
        document = self._document
        document.display.shown_changed.connect(self._panel_refresh.ask)
        document.previewed.connect(self._update_count)
        document.closed.connect(self._follow)
        document.marks_changed.connect(self._refresh)
        document.display.look_changed.connect(self._refresh)
        document.display.selection_changed.connect(self._on_selection)
        document.state_changed.connect(self._refresh)
        document.noticed.connect(self._on_noticed)
        document.progressed.connect(self._on_progressed)

    def _make_bar(self) -> QToolBar:
        bar = QToolBar()
        bar.addActions([self._actions[id] for id in _BUTTONS])
        bar.addWidget(more_button([self._actions[id] for id in _MORE], "Colour, name, lock"))
        return bar

    def _make_table(self) -> SegmentsTable:
        table = SegmentsTable(self._model, self._press, self)
        table.customContextMenuRequested.connect(self._show_menu)
        table.doubleClicked.connect(self._on_double_click)
        table.selectionModel().selectionChanged.connect(self._on_selected)
        return table

    def _make_actions(self) -> PanelActions:
        handlers = {
            "hide": self.toggle_hidden,
            "isolate": self.isolate_selected,
            "recolour": self.recolour_selected,
            "rename": self.rename_selected,
            "merge": self.merge_selected,
            "split": self.split_selected,
            "lock": self.toggle_locked,
            "group": self.group_selected,
            "palette_colour": self.use_palette_colour,
        }
        return PanelActions(self, handlers, partial(why_unavailable, self._document), self.message.emit)

    # --- actions

    @Slot()
    def toggle_hidden(self) -> None:
        """Hide the selected segments; if all of them are hidden, show them."""
        chosen = self._document.display.selection
        if self._actions.check("hide"):
            undo_commands.set_hidden(self._document, chosen, not chosen <= self._document.names.hidden)

    @Slot()
    def isolate_selected(self) -> None:
        """Dim all but the selected segments; if they are isolated already, or none is selected, show all."""
        if self._actions.check("isolate"):
            undo_commands.isolate(self._document, self._document.display.selection)

    @Slot()
    def recolour_selected(self) -> None:
        """Ask for a colour for the selected segments."""
        chosen = self._document.display.selection
        if self._actions.check("recolour"):
            ask_colour(
                self,
                self._model.colour(min(chosen)),
                f"Colour of {undo_commands.segments_text(chosen)}",
                if_still_open(self._document, lambda colour: undo_commands.recolour(self._document, chosen, colour)),
            )

    @Slot()
    def use_palette_colour(self) -> None:
        """Give the selected segments the colours of the palette again."""
        if self._actions.check("palette_colour"):
            undo_commands.recolour(self._document, self._document.display.selection, None)

    @Slot()
    def rename_selected(self) -> None:
        """Start to edit the name of the selected segment in the table, and show the table."""
        if self._table.typing or not self._actions.check("rename"):
            return
        (id,) = self._document.display.selection
        if id not in statistics_of(self._document)["id"]:
            self.message.emit(f"Segment {id} is not on this frame.")
            return
        self._raise_panel()
        if self._model.row(id) is None:
            self._filter.clear()
        row = self._model.row(id)
        if row is not None:
            index = self._model.index(row, NAME)
            self._table.scrollTo(index)
            self._table.edit(index)

    @Slot()
    def finish_typing(self) -> None:
        """Store the name that the user is typing, before the document closes."""
        self._table.finish_typing()

    def _raise_panel(self) -> None:
        """Show the panel and update the table: it may be closed, or behind another panel."""
        dock = self.parentWidget()
        if isinstance(dock, QDockWidget):
            dock.show()
            dock.raise_()
        self._follow()

    @Slot()
    def merge_selected(self) -> None:
        """Ask the model to merge the selected segments."""
        if self._actions.check("merge") and self._frames_follow("merge"):
            self._announce(undo_commands.merge(self._document, self._document.display.selection))

    @Slot()
    def split_selected(self) -> None:
        """Ask the model to split each of the selected segments."""
        if self._actions.check("split") and self._frames_follow("split"):
            self._announce(undo_commands.split(self._document, self._document.display.selection))

    def _frames_follow(self, kind: str) -> bool:
        """Whether a frame follows before which the model can change; otherwise request the edit."""
        if not can_edit(self._document):
            self.edit_requested.emit(kind)
            return False
        return True

    def _announce(self, text: str) -> None:
        """Show what will happen: the picture changes only with the next frame."""
        if text:
            self.message.emit(text)

    @Slot()
    def toggle_locked(self) -> None:
        """Lock the selected segments; if all of them are locked, unlock them."""
        chosen = self._document.display.selection
        locked = not chosen <= self._document.pending.locked
        if self._actions.check("lock") and self._frames_follow("lock" if locked else "unlock"):
            undo_commands.set_locked(self._document, chosen, locked)

    @Slot()
    def group_selected(self) -> None:
        """Ask to which object to add the selected segments."""
        if self._actions.check("group"):
            ask_object(self._document, self, self.message.emit)

    # --- updates

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
            self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._follow()

    @Slot()
    def _follow(self) -> None:
        """Show the statistics of the current frame, if the panel is visible."""
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
        """Change the model without changing the document's selection."""
        self._table.prepare_change()
        self._following = True
        try:
            # A later layout, or a signal about a column's width (hidden columns emit one whenever rows are sorted),
            # would paint the table a second time.
            with QSignalBlocker(self._table.horizontalHeader()):
                change()
                self._table.executeDelayedItemsLayout()
        finally:
            self._following = False
        self._mirror()

    @Slot()
    def _on_selection(self) -> None:
        rows = self._selected_rows()
        # A selection made in the table is marked there already: leave the user at these rows.
        self._table.scrolled_away = bool(rows) and rows == self._table.marked()
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
    def isolate_text(self) -> str:
        """What the action Isolate does now, as the text of its button and menu entry."""
        document = self._document
        ends = document.display.isolated and document.display.selection in (document.display.isolated, frozenset())
        return "Show All" if ends else "Isolate"

    @Slot()
    def _enable(self) -> None:
        document, chosen = self._document, self._document.display.selection
        self._actions.enable()
        self._actions.set_text("hide", "Show" if chosen and chosen <= document.names.hidden else "Hide")
        self._actions.set_text("lock", "Unlock" if chosen and chosen <= document.pending.locked else "Lock")
        self._actions.set_text("isolate", self.isolate_text)
        self._choose_delegates()
        self._update_count()

    def _choose_delegates(self) -> None:
        """Draw in Python only where that is needed: Qt's own drawing takes a fraction of the time."""
        document = self._document
        swatches = self._swatches if document.display.selection else self._plain
        boxes = self._faded if why_unchangeable(document) else swatches
        names = self._locks if document.pending.locked else self._names
        for column, delegate in ((SHOWN, boxes), (NAME, names), (COLOUR, swatches)):
            if self._table.itemDelegateForColumn(column) is not delegate:
                self._table.setItemDelegateForColumn(column, delegate)

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Take over the keys of the window's actions; ``key`` gives the key of an action."""
        self._actions.set_keys(key)

    def _press(self, event: QKeyEvent) -> bool:
        return self._actions.press(event)

    @Slot()
    def _update_count(self) -> None:
        """Show the numbers of listed, selected and hidden segments."""
        ids, listed = frozenset(statistics_of(self._document)["id"].tolist()), self._model.rowCount()
        if ids:
            total = counted(len(ids), "segment")
            text = total if listed == len(ids) else f"{listed} of {total}"
        else:
            text = self._waiting_text()
        if text and self._document.display.selection:
            text += f", {_selected_text(self._document.display.selection, ids)}"
        if text and self._document.names.hidden:
            text += f", {len(self._document.names.hidden)} hidden"
        self._count.setText(text)

    def _waiting_text(self) -> str:
        """Describe why the table is empty."""
        document, shown = self._document, self._document.display.shown
        if shown is not None and not shown.segmented and not document.display.follow_newest:
            return f"Frame {shown.result.index} is not segmented"
        if document.preview is not None and document.display.shown is not None:
            return f"Analysing first frame… {counted(document.preview.progress.n_clusters, 'segment')} so far"
        return _NOT_YET.get(document.state, "0 segments" if document.is_open else "")

    @Slot(QModelIndex)
    def _on_double_click(self, index: QModelIndex) -> None:
        if index.column() == SHOWN:
            self.recolour_selected()
        elif index.column() != NAME:
            self.isolate_selected()
        elif why_unchangeable(self._document):
            # The name is not editable now: show why.
            self._actions.check("rename")

    @Slot(QPoint)
    def _show_menu(self, where: QPoint) -> None:
        self.make_menu().popup(self._table.viewport().mapToGlobal(where))

    def make_menu(self) -> QMenu:
        """Make the context menu of the selected segments."""
        self._enable()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        menu.addActions([*(self._actions[id] for id in _MENU), *self.more, self._actions["palette_colour"]])
        return menu


def _selected_text(selection: frozenset[int], ids: frozenset[int]) -> str:
    """Describe how many segments are selected, and how many of them are on the frame, if not all.

    Without any ids of the frame, that number is not known yet.

    >>> _selected_text(frozenset({1, 2}), frozenset({0, 1}))
    '2 selected, 1 on this frame'
    """
    count, here = len(selection), len(selection & ids)
    if not ids or here == count:
        return f"{count} selected"
    return f"{count} selected, {here or 'none'} on this frame"

"""The dock of objects: named groups of segments that follow the genealogy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QMenu,
    QToolBar,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from scstream_app.session import MarkedObject
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.actions.panel_actions import PanelAction, PanelActions
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.availability import SAVING, why_unavailable
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.panels.object_dialog import ObjectDialog, ask_object, capitalised, if_still_open
from scstream_app.ui.panels.segments_cells import SwatchDelegate
from scstream_app.ui.qt.widgets import ask_colour, more_button

#: Nobody reads numbers that change more often.
_PAUSE = 0.2
_MAKE = "Select segments (click, Ctrl+click) and {how} to put them together in an object, which follows them."
_USE = "View > Object Matte shows objects cut out, File > Export… writes their mattes and masks."
_NAME, _COUNT, _FROM = range(3)
#: What is done to the highlighted object, in words.
_OF_AN_OBJECT = {"rename": "rename it", "recolour": "give it another colour", "delete": "delete it"}
#: What has no button of its own: a narrow panel would hide the last buttons.
_MORE = ("recolour", "delete")


class ObjectsPanel(QWidget):
    """The list of objects, with what can be done to them; the methods are what the window's menu calls.

    ``said`` carries what became of that, or why nothing did: the list may be behind another one.
    """

    said = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stale = True
        self._tree = self._make_tree()
        self._hint = QLabel()
        self._hint.setWordWrap(True)
        self._hint.setMargin(6)
        self._deeds = PanelActions(self, self._make_deeds(), self._lacking, self.said.emit)
        self._bar = self._make_bar()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._bar)
        layout.addWidget(self._hint)
        layout.addWidget(self._tree, 1)
        self._turn = PanelRefresh(document, _PAUSE, self)
        self._turn.come.connect(self._refresh)
        document.display.shown_changed.connect(self._turn.ask)
        document.closed.connect(self._refresh)
        document.marks_changed.connect(self._refresh)
        document.display.selection_changed.connect(self._enable)
        document.state_changed.connect(self._enable)
        self._refresh()

    def _make_bar(self) -> QToolBar:
        bar = QToolBar()
        bar.addActions([action for name, action in self._deeds.actions().items() if name not in _MORE])
        bar.addWidget(more_button([self._deeds[name] for name in _MORE], "Colour, delete"))
        return bar

    def _make_tree(self) -> QTreeWidget:
        tree = _Tree(self)
        tree.setAccessibleName("Objects")
        tree.setItemDelegateForColumn(_NAME, SwatchDelegate(tree))
        tree.setHeaderLabels(["Object", "Segments", "Since frame"])
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_COUNT, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_FROM, QHeaderView.ResizeMode.ResizeToContents)
        tree.headerItem().setToolTip(_COUNT, "How many segments the object has on this frame")
        tree.headerItem().setToolTip(_FROM, "The frame from which the object is followed")
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._show_menu)
        tree.itemClicked.connect(self._on_clicked)
        tree.itemDoubleClicked.connect(self.rename_current)
        tree.currentItemChanged.connect(self._enable)
        return tree

    def _make_deeds(self) -> dict[str, PanelAction]:
        return {
            "group": PanelAction(
                BY_ID["group"].title,
                "Put the selected segments together in an object, a new one or one that is there",
                self.add_selected,
            ),
            "ungroup": PanelAction(
                BY_ID["ungroup"].title,
                "Take the selected segments out of the highlighted object, or of all if none is highlighted",
                self.remove_selected,
            ),
            "rename": PanelAction("Rename…", "Call this object something else", self.rename_current),
            "recolour": PanelAction("Colour…", "Give this object another colour", self.recolour_current),
            "delete": PanelAction("Delete", "Forget this object; its segments stay", self.delete_current),
        }

    # --- what can be done

    @property
    def removal(self) -> QAction:
        """What takes the selected segments out of their object, for other menus."""
        return self._deeds["ungroup"]

    @property
    def current(self) -> str | None:
        """The name of the object that is highlighted."""
        item = self._tree.currentItem()
        return None if item is None else item.text(_NAME)

    @property
    def in_use(self) -> bool:
        """Whether keys go to the list."""
        return self._tree.hasFocus()

    @Slot()
    def add_selected(self) -> None:
        """Ask which object the selected segments go to; the highlighted one is offered."""
        if self._deeds.can("group"):
            ask_object(self._document, self, self.said.emit, self.current)

    @Slot()
    def remove_selected(self) -> None:
        """Take the selected segments out of the highlighted object, or of all that have them if none is."""
        if not self._deeds.can("ungroup"):
            return
        document = self._document
        names = [self.current] if self.current is not None else [thing.name for thing in document.objects]
        members = document.display.members()
        of = {name: ids for name in names if (ids := members[name] & document.display.selection)}
        before = document.objects
        if of:
            undo_commands.remove_from_objects(document, of)
            if document.objects != before:
                self.said.emit(_told_removed(of))
        else:
            where = f"object '{self.current}'" if self.current is not None else "any object"
            self.said.emit(
                f"{capitalised(undo_commands.segments_text(document.display.selection))}: not in {where} on this frame."
            )

    def _lacking(self, what: str) -> str:
        """What is missing for this to be done, in words; nothing if it can be done."""
        if what not in _OF_AN_OBJECT:
            return why_unavailable(self._document, what)
        if self.current is None:
            return f"Highlight an object in the list to {_OF_AN_OBJECT[what]}"
        return SAVING if self._document.saving else ""

    @Slot()
    def rename_current(self) -> None:
        """Ask for another name of the highlighted object."""
        name = self.current
        if self._deeds.can("rename") and name is not None:
            ObjectDialog(
                self,
                tuple(thing for thing in self._document.objects if thing.name != name),
                title="Rename object",
                prompt=f"New name of '{name}':",
                start=name,
                existing=False,
                done=if_still_open(self._document, lambda new: undo_commands.rename_object(self._document, name, new)),
            ).open()

    @Slot()
    def recolour_current(self) -> None:
        """Ask for another colour of the highlighted object."""
        name = self.current
        if self._deeds.can("recolour") and name is not None:
            thing = next(thing for thing in self._document.objects if thing.name == name)
            ask_colour(
                self,
                thing.colour,
                f"Colour of '{name}'",
                if_still_open(
                    self._document, lambda colour: undo_commands.recolour_object(self._document, name, colour)
                ),
            )

    @Slot()
    def delete_current(self) -> None:
        """Forget the highlighted object."""
        if self._deeds.can("delete") and self.current is not None:
            undo_commands.delete_object(self._document, self.current)

    # --- keeping up

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()

    @Slot()
    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        objects = self._document.objects
        if self._stale and self._tree.topLevelItemCount() == len(objects) == 0:
            return
        current = self.current
        with QSignalBlocker(self._tree):
            self._fit_rows(len(objects))
            for row, thing in enumerate(objects):
                item = self._tree.topLevelItem(row)
                assert item is not None
                self._fill(item, thing, len(self._document.display.members_of(thing)))
                if thing.name == current:
                    self._tree.setCurrentItem(item)
        self._tell()
        self._enable()

    def _fit_rows(self, count: int) -> None:
        while self._tree.topLevelItemCount() > count:
            self._tree.takeTopLevelItem(self._tree.topLevelItemCount() - 1)
        while self._tree.topLevelItemCount() < count:
            self._tree.addTopLevelItem(QTreeWidgetItem())

    def _fill(self, item: QTreeWidgetItem, thing: MarkedObject, count: int) -> None:
        item.setText(_NAME, thing.name)
        item.setData(_NAME, Qt.ItemDataRole.DecorationRole, QColor(*thing.colour))
        item.setText(_COUNT, str(count))
        item.setText(_FROM, str(thing.frame))
        for column in (_COUNT, _FROM):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    @Slot()
    def _enable(self) -> None:
        self._deeds.enable()

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Go by the keys that the window's actions have now; ``key`` gives that of an action."""
        self._deeds.set_keys(key)
        self._tell()

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key is for, if it is for anything here."""
        return self._deeds.press(event)

    def _tell(self) -> None:
        """Say what objects are good for, and how to make one."""
        key = self._deeds.key("group")
        how = f"press {key}" if key else f"choose {BY_ID['group'].menu_path}"
        self._hint.setText(_USE if self._document.objects else _MAKE.format(how=how))

    @Slot(QTreeWidgetItem, int)
    def _on_clicked(self, item: QTreeWidgetItem, column: int) -> None:
        thing = next(thing for thing in self._document.objects if thing.name == item.text(_NAME))
        self._document.display.select(self._document.display.members_of(thing))

    def _show_menu(self, where: object) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        menu.addActions(list(self._deeds.actions().values()))
        menu.popup(self._tree.viewport().mapToGlobal(where))  # type: ignore[call-overload]


def _told_removed(of: Mapping[str, frozenset[int]]) -> str:
    """What was taken out of which objects, in words.

    >>> _told_removed({"kite": frozenset({3}), "sea": frozenset({3, 5})})
    "Segment 3 removed from object 'kite', segments 3 and 5 from object 'sea'."
    """
    (first, ids), *others = of.items()
    more = "".join(f", {undo_commands.segments_text(ids)} from object '{name}'" for name, ids in others)
    return f"{capitalised(undo_commands.segments_text(ids))} removed from object '{first}'{more}."


class _Tree(QTreeWidget):
    def __init__(self, panel: ObjectsPanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._panel.press(event):
            super().keyPressEvent(event)

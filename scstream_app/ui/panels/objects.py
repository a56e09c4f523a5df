"""The Objects panel: a list of named sets of segments that follow the genealogy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPoint, QSettings, QSignalBlocker, Qt, Signal, Slot
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

from scstream_app.objects import MarkedObject, ObjectEdit
from scstream_app.objects.editing import next_replacement
from scstream_app.objects.reach import Reach
from scstream_app.plural import counted
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.actions.panel_actions import PanelActions
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.action_availability import why_unavailable
from scstream_app.ui.document.answers import if_still_open
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.objects.object_confidence import confidence_text
from scstream_app.ui.document.objects.reach_text import edit_text, reach_phrase
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.document.tracked_segments import pixels_in_largest_piece, segments_of_objects, share_of_object
from scstream_app.ui.document.undo_commands.objects import ObjectsCommand
from scstream_app.ui.panels.column_fitter import ColumnFitter
from scstream_app.ui.panels.object_dialog import ObjectDialog, ask_object, capitalised
from scstream_app.ui.panels.reach_choice import ReachChoice
from scstream_app.ui.panels.segments_cells import SwatchDelegate
from scstream_app.ui.qt.widgets import ask_colour, more_button

#: Seconds between two updates during playback.
_PAUSE = 0.2
_HOW_TO_MAKE = "Select segments (click, Ctrl+click) and {how} to make an object of them. It follows them over time."
_HOW_TO_USE = (
    "The brush and the eraser correct what whole segments cannot. View > Object Matte shows objects cut out, "
    "File > Export… writes their mattes and masks."
)
_DELETING = "These were all of them here; to delete '{name}' itself, choose Object > Delete."
_ERASING = "That is {percent:.0f} % of it on this frame: to take a part of a segment, undo and use the eraser."
_STRADDLING = (
    "{inside} of its {pixels} pixels were in the main part of it: to remove only the others, undo and use the eraser."
)
#: Share of an object whose removal may be more than the user meant.
_LARGE_SHARE = 0.1
#: A segment that has this share of its pixels in an object's main part, and others elsewhere, may be more than a leak.
_INSIDE_SHARE = 0.1
_NAME, _COUNT, _AREA, _CONFIDENCE, _FROM, _EDITS = range(6)
_NUMBERS = (_COUNT, _AREA, _CONFIDENCE, _FROM, _EDITS)
#: Edits listed in a tooltip.
_MOST_LISTED = 20
#: Actions with a button, and those in the More menu: a narrow panel would hide the last buttons.
_BUTTONS = ("group", "ungroup")
_MORE = ("select_object", "rename_object", "recolour_object", "delete_object")
#: Columns that a narrow list hides, the first of them first.
_DISPENSABLE = (_FROM, _COUNT, _EDITS, _AREA)


class ObjectsPanel(QWidget):
    """The list of objects with its buttons and menu; the window's menu calls the public methods.

    ``message`` carries what an action did, or why it did nothing: the list may be behind another panel.
    ``current_changed`` carries the name of the highlighted object, which is empty if there is none.
    """

    message = Signal(str)
    current_changed = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stale = True
        self._announced: str | None = None
        self._tree = self._make_tree()
        self._columns = ColumnFitter(self._tree, _DISPENSABLE)
        self._hint = QLabel()
        self._hint.setWordWrap(True)
        self._hint.setMargin(6)
        self._actions = self._make_actions()
        self._bar = self._make_bar()
        self._reach = ReachChoice(document)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._bar)
        layout.addWidget(self._reach)
        layout.addWidget(self._hint)
        layout.addWidget(self._tree, 1)
        self._panel_refresh = PanelRefresh(document, _PAUSE, self)
        self._panel_refresh.come.connect(self._refresh)
        document.display.shown_changed.connect(self._panel_refresh.ask)
        document.closed.connect(self._refresh)
        document.marks_changed.connect(self._refresh)
        document.undo.indexChanged.connect(self._highlight_changed)
        document.display.selection_changed.connect(self._enable)
        document.state_changed.connect(self._enable)
        self._refresh()

    def _make_bar(self) -> QToolBar:
        bar = QToolBar()
        bar.addActions([self._actions[id] for id in _BUTTONS])
        bar.addWidget(more_button([self._actions[id] for id in _MORE], "Select its segments, rename, colour, delete"))
        return bar

    def _make_tree(self) -> QTreeWidget:
        tree = _Tree(self._press, self)
        tree.setAccessibleName("Objects")
        tree.setItemDelegateForColumn(_NAME, SwatchDelegate(tree))
        tree.setHeaderLabels(["Object", "Segments", "Area", "Confidence", "Since", "Edits"])
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        for column in _NUMBERS:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        tree.headerItem().setToolTip(
            _COUNT, "How many segments the object has on this frame: those of which it covers at least half"
        )
        tree.headerItem().setToolTip(_AREA, "How many pixels the object has on this frame")
        tree.headerItem().setToolTip(
            _CONFIDENCE,
            "About how well the object is found on this frame: 0 % if it is lost; empty until it is tracked; "
            "'edited' where you have marked or corrected it",
        )
        tree.headerItem().setToolTip(_FROM, "The frame at which the object begins")
        tree.headerItem().setToolTip(
            _EDITS,
            "How many edits the object has; each holds from its frame on and leaves earlier frames unchanged",
        )
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._show_menu)
        tree.itemDoubleClicked.connect(self.rename_current)
        tree.currentItemChanged.connect(self._enable)
        return tree

    def _make_actions(self) -> PanelActions:
        handlers = {
            "group": self.add_selected,
            "ungroup": self.remove_selected,
            "select_object": self.select_current,
            "rename_object": self.rename_current,
            "recolour_object": self.recolour_current,
            "delete_object": self.delete_current,
        }
        return PanelActions(self, handlers, self._why_unavailable, self.message.emit)

    def _why_unavailable(self, action: str) -> str:
        return why_unavailable(self._document, action, highlighted=self.current)

    # --- actions

    @property
    def removal(self) -> QAction:
        """The action that removes the selected segments from their object, for other menus."""
        return self._actions["ungroup"]

    @property
    def current(self) -> str | None:
        """Name of the highlighted object."""
        item = self._tree.currentItem()
        return None if item is None else item.text(_NAME)

    def highlight(self, name: str | None) -> None:
        """Highlight an object, or none."""
        rows = [self._tree.topLevelItem(row) for row in range(self._tree.topLevelItemCount())]
        found = [item for item in rows if item is not None and item.text(_NAME) == name]
        # The type stub does not allow None, which is how Qt removes the highlight.
        self._tree.setCurrentItem(found[0] if found else None)  # type: ignore[arg-type]

    @Slot(int)
    def _highlight_changed(self, index: int) -> None:
        """Highlight the object that the user has just made or changed: the next stroke or edit is about it."""
        undo = self._document.undo
        command = undo.command(index - 1) if 0 < index == undo.count() else None
        if isinstance(command, ObjectsCommand):
            self.highlight(command.about)

    @property
    def has_list_focus(self) -> bool:
        """Whether the list has the keyboard focus."""
        return self._tree.hasFocus()

    @Slot()
    def add_selected(self) -> None:
        """Ask to which object to add the selected segments; the dialog suggests the highlighted one."""
        if self._actions.check("group"):
            ask_object(self._document, self, self.message.emit, self.current)

    @Slot()
    def remove_selected(self) -> None:
        """Remove the selected segments from the highlighted object or, if it has none of them, from all objects."""
        if not self._actions.check("ungroup"):
            return
        document, selection, reach = self._document, self._document.display.selection, self._document.edit_reach
        of, before = self._holders(), document.objects
        present = segments_of_objects(document)
        whole = next((name for name, ids in of.items() if present[name] and ids >= present[name]), None)
        shares = {name: share_of_object(document, name, ids) for name, ids in of.items()}
        pieces = [pixels_in_largest_piece(document, name, ids) for name, ids in of.items()]
        index = document.display.index or 0
        ends = {one.name: next_replacement(one, index) for one in document.objects if one.name in of}
        wheres = {name: reach_phrase(reach, index, end) for name, end in ends.items()}
        if of:
            undo_commands.remove_from_objects(document, of, reach)
            if document.objects != before:
                text = _removed_text(of, wheres)
                if whole:
                    text += f" {_DELETING.format(name=whole)}"
                elif max(shares.values()) >= _LARGE_SHARE:
                    text += f" {_ERASING.format(percent=100.0 * max(shares.values()))}"
                else:
                    text += "".join(_straddling(pixels, inside) for pixels, inside in pieces)
                self.message.emit(text)
        else:
            segments = capitalised(undo_commands.segments_text(selection))
            where = " on this frame" if reach is Reach.ONWARD else reach_phrase(reach, index)
            self.message.emit(f"{segments}: not in any object{where}.")

    def _holders(self) -> dict[str, frozenset[int]]:
        """Return the objects from which the selected segments can be removed, and which of them from each.

        The highlighted object comes first; if it has none of them, all objects count.
        """
        members = self._document.display.members()
        # Masks of neighbours touch a segment, too: it leaves the object that has it.
        owned = frozenset[int]().union(*members.values())
        of = {name: self._held_by(name) - (owned - members[name]) for name in members}
        of = {name: ids for name, ids in of.items() if ids}
        return {self.current: of[self.current]} if self.current in of else of

    def _held_by(self, name: str) -> frozenset[int]:
        document = self._document
        return undo_commands.members_within(document, name, document.display.selection, document.edit_reach)

    @Slot()
    def select_current(self) -> None:
        """Select the segments that the highlighted object has on the frame shown."""
        if self._actions.check("select_object") and self.current is not None:
            self._document.display.select(segments_of_objects(self._document)[self.current])

    @Slot()
    def rename_current(self) -> None:
        """Ask for a new name of the highlighted object."""
        name = self.current
        if self._actions.check("rename_object") and name is not None:
            ObjectDialog(
                self,
                tuple(object_ for object_ in self._document.objects if object_.name != name),
                title="Rename object",
                prompt=f"New name of '{name}':",
                start=name,
                existing=False,
                done=if_still_open(self._document, lambda new: undo_commands.rename_object(self._document, name, new)),
            ).open()

    @Slot()
    def recolour_current(self) -> None:
        """Ask for a new colour of the highlighted object."""
        name = self.current
        if self._actions.check("recolour_object") and name is not None:
            object_ = next(object_ for object_ in self._document.objects if object_.name == name)
            ask_colour(
                self,
                object_.colour,
                f"Colour of '{name}'",
                if_still_open(
                    self._document, lambda colour: undo_commands.recolour_object(self._document, name, colour)
                ),
            )

    @Slot()
    def delete_current(self) -> None:
        """Delete the highlighted object; its segments stay."""
        if self._actions.check("delete_object") and self.current is not None:
            undo_commands.delete_object(self._document, self.current)

    def remember(self, settings: QSettings) -> None:
        """Take over the stored reach of edits, and store later choices."""
        self._reach.remember(settings)

    # --- updates

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
        values = self._values_on_frame()
        with QSignalBlocker(self._tree):
            self._fit_rows(len(objects))
            for row, object_ in enumerate(objects):
                item = self._tree.topLevelItem(row)
                assert item is not None
                self._fill(item, object_, values[row])
                if object_.name == current:
                    self._tree.setCurrentItem(item)
        self._columns.fit()
        self._update_hint()
        self._enable()

    def _values_on_frame(self) -> list[tuple[str, str, str]]:
        """Return the texts of segments, area and confidence of each object on the frame shown."""
        objects = self._document.objects
        # Finding masks and counting pixels takes a while: not without objects, and not while the panel is hidden.
        masks = self._document.display.masks() if objects and not self._stale else None
        if masks is None:
            return [("", "", "")] * len(objects)
        segments = segments_of_objects(self._document)
        rows = zip(objects, masks.areas, masks.confidences, strict=True)
        return [(str(len(segments[one.name])), str(area), confidence_text(value)) for one, area, value in rows]

    def _fit_rows(self, count: int) -> None:
        while self._tree.topLevelItemCount() > count:
            self._tree.takeTopLevelItem(self._tree.topLevelItemCount() - 1)
        while self._tree.topLevelItemCount() < count:
            self._tree.addTopLevelItem(QTreeWidgetItem())

    def _fill(self, item: QTreeWidgetItem, object_: MarkedObject, on_frame: tuple[str, str, str]) -> None:
        """Fill a row; ``on_frame`` holds segments, area and confidence."""
        item.setText(_NAME, object_.name)
        item.setData(_NAME, Qt.ItemDataRole.DecorationRole, QColor(*object_.colour))
        for column, text in zip((_COUNT, _AREA, _CONFIDENCE), on_frame, strict=True):
            item.setText(column, text)
        item.setToolTip(_NAME, _about(object_, on_frame))
        item.setText(_FROM, str(object_.frame))
        item.setText(_EDITS, str(len(object_.edits)))
        item.setToolTip(_EDITS, _edits_text(object_.edits))
        for column in _NUMBERS:
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    @Slot()
    def _enable(self) -> None:
        self._actions.enable()
        if self.current != self._announced:
            self._announced = self.current
            self.current_changed.emit(self.current or "")

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Take over the keys of the window's actions; ``key`` gives the key of an action."""
        self._actions.set_keys(key)
        self._update_hint()

    def _press(self, event: QKeyEvent) -> bool:
        return self._actions.press(event)

    def _update_hint(self) -> None:
        """Show how to make an object, or how to use the objects."""
        key = self._actions.key("group")
        how = f"press {key}" if key else f"choose {BY_ID['group'].menu_path}"
        self._hint.setText(_HOW_TO_USE if self._document.objects else _HOW_TO_MAKE.format(how=how))

    @Slot(QPoint)
    def _show_menu(self, where: QPoint) -> None:
        self._make_menu().popup(self._tree.viewport().mapToGlobal(where))

    @Slot(str, QPoint)
    def show_menu_of(self, name: str, where: QPoint) -> None:
        """Highlight an object and show its menu at a place on the screen."""
        self.highlight(name)
        self._make_menu().popup(where)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        menu.addActions([self._actions[id] for id in (*_BUTTONS, *_MORE)])
        return menu


def _removed_text(of: Mapping[str, frozenset[int]], where: Mapping[str, str]) -> str:
    """Describe which segments were removed from which objects, and on which frames of each.

    >>> of, on = {"kite": frozenset({3}), "sea": frozenset({3, 5})}, " from frame 4 on"
    >>> _removed_text(of, {"kite": on, "sea": on})
    "Segment 3 removed from object 'kite', segments 3 and 5 from object 'sea' from frame 4 on."
    >>> _removed_text(of, {"kite": on, "sea": " on frame 4 only"})
    "Segment 3 removed from object 'kite' from frame 4 on, segments 3 and 5 from object 'sea' on frame 4 only."
    """
    names, alike = list(of), len(set(where.values())) == 1
    parts = [
        f"{undo_commands.segments_text(of[name])} {'' if place else 'removed '}from object '{name}'"
        + (where[name] if not alike or name == names[-1] else "")
        for place, name in enumerate(names)
    ]
    return f"{capitalised(', '.join(parts))}."


def _straddling(pixels: int, inside: int) -> str:
    """Say that a segment that was removed had a part of the object as well as what leaked in; empty if it had not."""
    mixed = _INSIDE_SHARE * pixels <= inside < pixels and inside
    return f" {_STRADDLING.format(inside=inside, pixels=pixels)}" if mixed else ""


def _about(object_: MarkedObject, on_frame: tuple[str, str, str]) -> str:
    """Describe an object in a tooltip: a narrow list does not show everything."""
    segments, area, confidence = on_frame
    here = f"On this frame: {counted(int(segments or 0), 'segment')}" + (f", {area} pixels" if area else "")
    sure = f", confidence: {confidence}" if confidence else ""
    return f"{object_.name}\n{here}{sure}\nSince frame {object_.frame}, {counted(len(object_.edits), 'edit')}"


def _edits_text(edits: Sequence[ObjectEdit]) -> str:
    """List edits line by line.

    >>> edits = [ObjectEdit("made", 0, {1, 2}), ObjectEdit("removed", 20, {2}, stop=30)]
    >>> print(_edits_text(edits))
    Frame 0: made of segments 1 and 2
    Frames 20 to 29: segment 2 removed
    """
    lines = [edit_text(edit) for edit in edits[:_MOST_LISTED]]
    return "\n".join([*lines, *([f"… and {len(edits) - _MOST_LISTED} more"] if len(edits) > _MOST_LISTED else [])])


class _Tree(QTreeWidget):
    """A tree that hands keys to ``press`` first, which returns whether it handled them."""

    def __init__(self, press: Callable[[QKeyEvent], bool], parent: QWidget) -> None:
        super().__init__(parent)
        self._press = press

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._press(event):
            super().keyPressEvent(event)

"""The dock of objects: named groups of segments that follow the genealogy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Slot
from PySide6.QtGui import QAction, QColor, QGuiApplication, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QColorDialog,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QToolBar,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from superqt.utils import QSignalThrottler

from scstream_app.errors import StudioError
from scstream_app.palette import RGB
from scstream_app.pipeline import Notice
from scstream_app.session import MarkedObject
from scstream_app.ui import commands
from scstream_app.ui.document import Document

#: Nobody reads numbers that change more often.
_PAUSE_MILLISECONDS = 200
_MAKE = "Select segments (click, Ctrl+click) and press G to put them together in an object, which follows them."
_USE = "View > Object Matte shows objects cut out, File > Export… writes their mattes and masks."
_NAME, _COUNT, _FROM = range(3)


def ask_colour(parent: QWidget, start: RGB, title: str, done: Callable[[RGB], None]) -> QColorDialog:
    """Ask for a colour without stopping the program; ``done`` is called if one is chosen."""
    dialog = QColorDialog(QColor(*start), parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.colorSelected.connect(lambda colour: done((colour.red(), colour.green(), colour.blue())))
    dialog.open()
    return dialog


def show_boxes(view: QAbstractItemView) -> None:
    """Let the boxes of a list be seen that are not ticked: on dark ground Qt's own style frames them in black."""
    ground, text = (
        QGuiApplication.palette().color(role) for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Text)
    )
    if ground.lightness() < text.lightness():
        colours = view.palette()
        # Frames are drawn somewhat darker than this, and a list shows it nowhere else.
        colours.setColor(QPalette.ColorRole.Window, QColor(150, 150, 150))
        view.setPalette(colours)
    else:
        view.setPalette(QPalette())


def free_name(objects: Iterable[MarkedObject]) -> str:
    """The first "object N" that no object is called.

    >>> free_name([MarkedObject("Object 1", (0, 0, 0), 0, frozenset({3}))])
    'object 2'
    """
    taken = {thing.name.casefold() for thing in objects}
    number = 1
    while f"object {number}" in taken:
        number += 1
    return f"object {number}"


def trouble_with(name: str, objects: Iterable[MarkedObject]) -> str:
    """What is wrong with a new object's name; nothing if it will do."""
    try:
        MarkedObject(name, (0, 0, 0), 0, frozenset())
    except StudioError as error:
        return f"{str(error)[:1].upper()}{str(error)[1:]}."
    if name.casefold() in {thing.name.casefold() for thing in objects}:
        return f"There is an object '{name}' already."
    return ""


class ObjectDialog(QDialog):
    """Asks for an object's name: a new one, or, where ``existing`` is offered, one that is there.

    Parameters
    ----------
    objects : sequence of MarkedObject
    title, prompt : str
    start : str
        The name to begin with.
    existing : bool
        Whether the name of an object may be chosen.
    done : callable
        Gets the name.
    """

    def __init__(
        self,
        parent: QWidget,
        objects: tuple[MarkedObject, ...],
        *,
        title: str,
        prompt: str,
        start: str,
        existing: bool,
        done: Callable[[str], None],
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._objects, self._existing = objects, existing
        self._edit: QComboBox | QLineEdit = self._choice(start) if existing else QLineEdit(start)
        self._edit.setAccessibleName("Name")
        self._trouble = QLabel()
        self._trouble.setObjectName("trouble")
        self._trouble.setWordWrap(True)
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, parent=self
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.accepted.connect(lambda: done(self.name))
        label = QLabel(prompt)
        label.setBuddy(self._edit)
        layout = QVBoxLayout(self)
        for widget in (label, self._edit, self._trouble, self._buttons):
            layout.addWidget(widget)
        self._line.textChanged.connect(self._check)
        self._line.selectAll()
        self._line.setFocus()
        self.setMinimumWidth(320)

    def _choice(self, start: str) -> QComboBox:
        box = QComboBox()
        box.setEditable(True)
        box.addItems([thing.name for thing in self._objects])
        box.setEditText(start)
        return box

    @property
    def _line(self) -> QLineEdit:
        line = self._edit.lineEdit() if isinstance(self._edit, QComboBox) else self._edit
        assert line is not None
        return line

    @property
    def name(self) -> str:
        """What was typed or chosen."""
        return self._line.text().strip()

    @Slot()
    def _check(self) -> None:
        known = self._existing and self.name in {thing.name for thing in self._objects}
        trouble = "" if known else trouble_with(self.name, self._objects)
        self._trouble.setText(trouble)
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not trouble)


def ask_object(document: Document, parent: QWidget, start: str | None = None) -> ObjectDialog:
    """Ask which object the selected segments go to, a new one or one that is there."""
    ids = document.selection

    def put(name: str, present: frozenset[int]) -> None:
        if name in {thing.name for thing in document.objects}:
            commands.add_to_object(document, name, present)
        else:
            _make(document, name, present)

    dialog = ObjectDialog(
        parent,
        document.objects,
        title="Add to object",
        prompt=f"Add {commands.told(ids)} to the object:",
        start=start or free_name(document.objects),
        existing=bool(document.objects),
        done=_with_selected(document, put),
    )
    dialog.open()
    return dialog


def _make(document: Document, name: str, ids: frozenset[int]) -> None:
    """Make an object. It is followed forwards only: that is said where frames before it stay without it."""
    commands.make_object(document, name, ids)
    index = document.index
    if index is not None and len(document.trace) and index > document.trace.frames[0] and not document.live:
        text = f"'{name}' begins here, at frame {index}. To have it in all frames, make it on the first one."
        document.noticed.emit(Notice("edit", index, text))


def _with_selected(document: Document, put: Callable[[str, frozenset[int]], None]) -> Callable[[str], None]:
    """Call ``put`` with a name, when there is one, and what has become by then of the segments that are selected now.

    Frames go on while a person thinks of a name, and an object is made of segments of the frame at hand.
    """
    ids, frame, trace = document.selection, document.index, document.trace

    def done(name: str) -> None:
        index = document.index
        if document.trace is not trace or frame is None or index is None:
            # Something else is open.
            return
        present = trace.followed(ids, frame, index) if index > frame else ids
        if present:
            put(name, present)
        else:
            document.noticed.emit(Notice("edit", index, f"There is nothing left of {commands.told(ids)}."))

    return done


class ObjectsPanel(QWidget):
    """The list of objects, with what can be done to them; the methods are what the window's menu calls."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stale = True
        self._tree = self._make_tree()
        self._hint = QLabel()
        self._hint.setWordWrap(True)
        self._hint.setMargin(6)
        self._actions = {name: self._action(*entry) for name, entry in self._entries().items()}
        self._bar = QToolBar()
        self._bar.addActions(list(self._actions.values()))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._bar)
        layout.addWidget(self._hint)
        layout.addWidget(self._tree, 1)
        self._throttle = QSignalThrottler(parent=self)
        self._throttle.setTimeout(_PAUSE_MILLISECONDS)
        self._throttle.triggered.connect(self._refresh)
        document.shown_changed.connect(self._throttle.throttle)
        document.closed.connect(self._refresh)
        document.marks_changed.connect(self._refresh)
        document.selection_changed.connect(self._enable)
        self._refresh()

    def _make_tree(self) -> QTreeWidget:
        tree = _Tree(self)
        tree.setAccessibleName("Objects")
        tree.setHeaderLabels(["Object", "Segments", "Since frame"])
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setAllColumnsShowFocus(True)
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

    def _entries(self) -> dict[str, tuple[str, str, Callable[[], object]]]:
        return {
            "new": ("New…", "Make an object of the selected segments", self.make),
            "add": ("Add", "Add the selected segments to this object", self.add_selected),
            "remove": ("Remove\tDel", "Take the selected segments out of this object", self.remove_selected),
            "rename": ("Rename…", "Call this object something else", self.rename_current),
            "recolour": ("Colour…", "Give this object another colour", self.recolour_current),
            "delete": ("Delete", "Forget this object; its segments stay", self.delete_current),
        }

    def _action(self, text: str, tip: str, act: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.setIconText(text.partition("\t")[0])
        action.setToolTip(tip)
        action.triggered.connect(lambda: act())
        return action

    # --- what can be done

    @property
    def current(self) -> str | None:
        """The name of the object that is highlighted."""
        item = self._tree.currentItem()
        return None if item is None else item.text(_NAME)

    @Slot()
    def make(self) -> None:
        """Ask for a name, and make an object of the selected segments."""
        ids = self._document.selection
        if commands.can_group(self._document):
            ObjectDialog(
                self,
                self._document.objects,
                title="New object",
                prompt=f"Name of the object made of {commands.told(ids)}:",
                start=free_name(self._document.objects),
                existing=False,
                done=_with_selected(self._document, partial(_make, self._document)),
            ).open()

    @Slot()
    def add_selected(self) -> None:
        """Add the selected segments to the highlighted object; ask which one if none is."""
        document = self._document
        if not commands.can_group(document):
            return
        if self.current is None:
            ask_object(document, self)
        else:
            commands.add_to_object(document, self.current, document.selection)

    @Slot()
    def remove_selected(self) -> None:
        """Take the selected segments out of the highlighted object, or of all that have them if none is."""
        document = self._document
        chosen = document.selection
        names = [self.current] if self.current is not None else [thing.name for thing in document.objects]
        of = {thing.name: document.members_of(thing) & chosen for thing in document.objects}
        for name in names:
            if of[name]:
                commands.remove_from_object(document, name, of[name])

    @Slot()
    def rename_current(self) -> None:
        """Ask for another name of the highlighted object."""
        name = self.current
        if name is not None:
            ObjectDialog(
                self,
                tuple(thing for thing in self._document.objects if thing.name != name),
                title="Rename object",
                prompt=f"New name of '{name}':",
                start=name,
                existing=False,
                done=lambda new: commands.rename_object(self._document, name, new),
            ).open()

    @Slot()
    def recolour_current(self) -> None:
        """Ask for another colour of the highlighted object."""
        name = self.current
        if name is not None:
            thing = next(thing for thing in self._document.objects if thing.name == name)
            ask_colour(
                self,
                thing.colour,
                f"Colour of '{name}'",
                lambda colour: commands.recolour_object(self._document, name, colour),
            )

    @Slot()
    def delete_current(self) -> None:
        """Forget the highlighted object."""
        if self.current is not None:
            commands.delete_object(self._document, self.current)

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
                self._fill(item, thing, len(self._document.members_of(thing)))
                if thing.name == current:
                    self._tree.setCurrentItem(item)
        self._hint.setText(_USE if objects else _MAKE)
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
        ready = commands.can_group(self._document)
        chosen = self.current is not None
        for name in ("rename", "recolour", "delete"):
            self._actions[name].setEnabled(chosen)
        self._actions["new"].setEnabled(ready)
        self._actions["add"].setEnabled(ready and chosen)
        self._actions["remove"].setEnabled(ready and bool(self._document.objects))

    @Slot(QTreeWidgetItem, int)
    def _on_clicked(self, item: QTreeWidgetItem, column: int) -> None:
        thing = next(thing for thing in self._document.objects if thing.name == item.text(_NAME))
        self._document.select(self._document.members_of(thing))

    def _show_menu(self, where: object) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(list(self._actions.values()))
        menu.popup(self._tree.viewport().mapToGlobal(where))  # type: ignore[call-overload]


class _Tree(QTreeWidget):
    """Keys that the window's menu has too come here only when there is no such menu."""

    def __init__(self, panel: ObjectsPanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self._panel.remove_selected()
        elif event.key() == Qt.Key.Key_F2:
            self._panel.rename_current()
        elif event.key() == Qt.Key.Key_G and not event.modifiers():
            self._panel.add_selected()
        else:
            super().keyPressEvent(event)

"""Asking which object segments go to, and putting them there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from scstream_app.errors import StudioError
from scstream_app.pipeline.run import Notice
from scstream_app.session import MarkedObject
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document

T = TypeVar("T")


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
        return f"{capitalised(str(error))}."
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
        layout.addWidget(label)
        row = QHBoxLayout()
        row.addWidget(self._edit, 1)
        if existing:
            row.addWidget(self._new_button())
        layout.addLayout(row)
        layout.addWidget(self._trouble)
        layout.addWidget(self._buttons)
        self._line.textChanged.connect(self._check)
        self._check()
        self._line.selectAll()
        self._line.setFocus()
        self.setMinimumWidth(320)

    def _choice(self, start: str) -> QComboBox:
        box = QComboBox()
        box.setEditable(True)
        # A name that is begun is not to become that of another object.
        box.setCompleter(None)  # type: ignore[arg-type]
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.addItems([thing.name for thing in self._objects])
        box.setEditText(start)
        return box

    def _new_button(self) -> QPushButton:
        button = QPushButton("New Object")
        button.setToolTip("Make another object: a name is proposed, type over it")
        button.setAutoDefault(False)
        button.clicked.connect(self._begin_new)
        return button

    @Slot()
    def _begin_new(self) -> None:
        self._line.setText(free_name(self._objects))
        self._line.selectAll()
        self._line.setFocus()

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
        ok = self._buttons.button(QDialogButtonBox.StandardButton.Ok)
        ok.setEnabled(not trouble)
        if self._existing:
            ok.setText("Add" if known else "Make New Object")


def ask_object(
    document: Document, parent: QWidget, say: Callable[[str], object], start: str | None = None
) -> ObjectDialog:
    """Ask which object the selected segments go to, a new one or one that is there; ``say`` gets what came of it."""
    ids = document.display.selection

    def put(name: str, ids: frozenset[int], frame: int) -> None:
        before = document.objects
        thing = next((thing for thing in before if thing.name == name), None)
        if thing is not None:
            undo_commands.add_to_object(document, name, ids, frame)
        else:
            _make(document, name, ids, frame)
        if document.objects != before:
            say(f"{capitalised(undo_commands.segments_text(ids))} added to object '{name}'.")
        elif thing is not None and ids <= document.display.members_of(thing, frame):
            say(f"{capitalised(undo_commands.segments_text(ids))}: in object '{name}' already.")

    dialog = ObjectDialog(
        parent,
        document.objects,
        title=BY_ID["group"].title.rstrip("…"),
        prompt=f"Add {undo_commands.segments_text(ids)} to the object:",
        start=start or _likely(document) or undo_commands.last_object(document) or free_name(document.objects),
        existing=bool(document.objects),
        done=_with_selected(document, put),
    )
    dialog.open()
    return dialog


def _likely(document: Document) -> str | None:
    """The object that some of the selected segments belong to already."""
    members = document.display.members()
    return next((name for name, ids in members.items() if ids & document.display.selection), None)


def capitalised(text: str) -> str:
    """With a capital letter, as sentences begin."""
    return f"{text[:1].upper()}{text[1:]}"


def _make(document: Document, name: str, ids: frozenset[int], frame: int) -> None:
    """Make an object. It is followed forwards only: that is said where frames before it stay without it."""
    before = document.objects
    undo_commands.make_object(document, name, ids, frame)
    if document.objects == before:
        return
    if len(document.summary) and frame > document.summary.frames[0] and not document.live:
        here = "here, " if frame == document.display.index else ""
        text = f"'{name}' begins {here}at frame {frame}. To have it in all frames, make it on the first one."
        document.noticed.emit(Notice("edit", frame, text))


def if_still_open(document: Document, act: Callable[[T], None]) -> Callable[[T], None]:
    """Call ``act`` with an answer, unless what is open now was closed or replaced meanwhile."""
    summary = document.summary

    def done(answer: T) -> None:
        if document.is_open and document.summary is summary:
            act(answer)

    return done


def _with_selected(document: Document, put: Callable[[str, frozenset[int], int], None]) -> Callable[[str], None]:
    """Call ``put`` with a name, when there is one, the segments that are selected now, and the frame at hand now.

    Frames go on while a person thinks of a name, but these are what was chosen; the genealogy tells the rest.
    """
    ids, frame, summary = document.display.selection, document.display.index, document.summary

    def done(name: str) -> None:
        index = document.display.index
        if document.summary is not summary or frame is None or index is None:
            # Something else is open.
            return
        known = len(summary) and frame >= summary.frames[0]
        left = known and (index < frame or summary.followed(ids, frame, index))
        if left or (known and not document.live):
            put(name, ids, frame)
        if not left:
            document.noticed.emit(
                Notice("edit", index, f"There is nothing left of {undo_commands.segments_text(ids)} by now.")
            )

    return done

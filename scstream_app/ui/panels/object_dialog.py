"""The dialog that asks to which object to add segments, and for the names of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

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
from scstream_app.objects.editing import next_replacement
from scstream_app.objects.painting import free_names
from scstream_app.objects.reach import Reach
from scstream_app.pipeline.run import Notice
from scstream_app.session import MarkedObject
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.objects.reach_text import reach_phrase


def name_problem(name: str, objects: Iterable[MarkedObject]) -> str:
    """Return what is wrong with a new object's name; empty if it is valid."""
    try:
        MarkedObject.made(name, (0, 0, 0), 0, ())
    except StudioError as error:
        return undo_commands.sentence(str(error))
    if name.casefold() in {object_.name.casefold() for object_ in objects}:
        return f"There is an object '{name}' already."
    return ""


class ObjectDialog(QDialog):
    """Asks for a new object's name or, with ``existing``, for a new or an existing object.

    Parameters
    ----------
    objects : sequence of MarkedObject
    title, prompt : str
    start : str
        The suggested name.
    existing : bool
        Whether the user may choose an existing object.
    done : callable
        Called with the name if the user accepts.
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
        self._problem = QLabel()
        self._problem.setObjectName("problem")
        self._problem.setWordWrap(True)
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
        layout.addWidget(self._problem)
        layout.addWidget(self._buttons)
        self._line.textChanged.connect(self._check)
        self._check()
        self._line.selectAll()
        self._line.setFocus()
        self.setMinimumWidth(320)

    def _choice(self, start: str) -> QComboBox:
        box = QComboBox()
        box.setEditable(True)
        # Completion would turn the start of a new name into an existing object.
        box.setCompleter(None)  # type: ignore[arg-type]
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.addItems([object_.name for object_ in self._objects])
        box.setEditText(start)
        return box

    def _new_button(self) -> QPushButton:
        button = QPushButton("New Object")
        button.setToolTip("Make a new object with the suggested name, or type another one")
        button.setAutoDefault(False)
        button.clicked.connect(self._begin_new)
        return button

    @Slot()
    def _begin_new(self) -> None:
        self._line.setText(free_names(self._objects)[0])
        self._line.selectAll()
        self._line.setFocus()

    @property
    def _line(self) -> QLineEdit:
        line = self._edit.lineEdit() if isinstance(self._edit, QComboBox) else self._edit
        assert line is not None
        return line

    @property
    def name(self) -> str:
        """The name that the user typed or chose."""
        return self._line.text().strip()

    @Slot()
    def _check(self) -> None:
        known = self._existing and self.name in {object_.name for object_ in self._objects}
        problem = "" if known else name_problem(self.name, self._objects)
        self._problem.setText(problem)
        ok = self._buttons.button(QDialogButtonBox.StandardButton.Ok)
        ok.setEnabled(not problem)
        if self._existing:
            ok.setText("Add" if known else "Make New Object")


def ask_object(
    document: Document,
    parent: QWidget,
    message: Callable[[str], object],
    start: str | None = None,
) -> ObjectDialog:
    """Ask to which object to add the selected segments, and add them; ``message`` shows the result."""
    ids = document.display.selection

    def add(name: str, ids: frozenset[int], frame: int) -> None:
        before, members, reach = document.objects, document.display.members(frame), document.edit_reach
        existing = next((object_ for object_ in before if object_.name == name), None)
        try:
            if existing is not None:
                undo_commands.add_to_object(document, name, ids, frame, reach)
            else:
                _make(document, name, ids, frame, reach)
                if document.objects != before and document.display.selection == ids:
                    # The object is outlined from now on; segments that stay selected would hide it on other frames.
                    document.display.select(())
        except StudioError as error:
            message(undo_commands.sentence(str(error)))
            return
        if document.objects != before:
            end = None if existing is None else next_replacement(existing, frame)
            message(_added_text(name, ids, members, reach_phrase(reach, frame, end)))
        elif existing is not None and ids <= members[name]:
            message(f"{capitalised(undo_commands.segments_text(ids))}: already in object '{name}'.")

    dialog = ObjectDialog(
        parent,
        document.objects,
        title=BY_ID["group"].title.rstrip("…"),
        prompt=f"Add {undo_commands.segments_text(ids)} to the object:",
        start=start or _likely(document) or undo_commands.last_object(document) or free_names(document.objects)[0],
        existing=bool(document.objects),
        done=_with_selection(document, add),
    )
    dialog.open()
    return dialog


def _likely(document: Document) -> str | None:
    """Return an object that has some of the selected segments."""
    members = document.display.members()
    return next((name for name, ids in members.items() if ids & document.display.selection), None)


def _added_text(name: str, ids: frozenset[int], members: Mapping[str, frozenset[int]], where: str = "") -> str:
    """Describe which segments were added to an object on which frames, and from which others they were taken.

    >>> _added_text("sail", frozenset({3, 5}), {"kite": frozenset({1, 3}), "sail": frozenset(), "sea": frozenset({7})})
    "Segments 3 and 5 added to object 'sail'; segment 3 is no longer in object 'kite'."
    """
    taken = {other: lost for other, held in members.items() if other != name and (lost := held & ids)}
    more = "".join(
        f"; {undo_commands.segments_text(lost)} {'is' if len(lost) == 1 else 'are'} no longer in object '{other}'"
        for other, lost in taken.items()
    )
    return f"{capitalised(undo_commands.segments_text(ids))} added to object '{name}'{where}{more}."


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return f"{text[:1].upper()}{text[1:]}"


def _make(document: Document, name: str, ids: frozenset[int], frame: int, reach: Reach) -> None:
    """Make an object; if there are frames before it, a notice says that it is followed forwards only."""
    before = document.objects
    undo_commands.make_object(document, name, ids, frame, reach)
    if document.objects == before or reach is not Reach.ONWARD:
        return
    if len(document.summary) and frame > document.summary.frames[0] and not document.live:
        here = "here, " if frame == document.display.index else ""
        text = (
            f"'{name}' starts {here}at frame {frame}. To have it in earlier frames, "
            "choose Object > Carry Back from Here."
        )
        document.noticed.emit(Notice("edit", frame, text))


def _with_selection(document: Document, add: Callable[[str, frozenset[int], int], None]) -> Callable[[str], None]:
    """Return a function that calls ``add`` with a name, the segments selected now and the frame shown now.

    Playback may go on while the user types a name; the genealogy follows the segments to later frames.
    """
    ids, frame, summary = document.display.selection, document.display.index, document.summary

    def done(name: str) -> None:
        index = document.display.index
        if document.summary is not summary or frame is None or index is None:
            # Another document is open.
            return
        known = len(summary) and frame >= summary.frames[0]
        left = known and (index < frame or summary.followed(ids, frame, index))
        if left or (known and not document.live):
            add(name, ids, frame)
        if not left:
            document.noticed.emit(
                Notice("edit", index, f"Nothing is left of {undo_commands.segments_text(ids)} on this frame.")
            )

    return done

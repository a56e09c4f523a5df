"""Columns of the table of segments, and the items that hold what a row shows."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QIcon, QStandardItem

from scstream_app.render.palette import RGB

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

SHOWN, ID, NAME, SIZE, SHARE, AGE, COLOUR, POSITION, DRIFT = range(9)
HEADERS = ("", "Id", "Name", "Pixels", "Share", "Age", "Colour", "Position", "Drift")
#: Columns of numbers.
RIGHT = frozenset({ID, SIZE, SHARE, AGE, POSITION, DRIFT})
SIDE = [
    int(
        (Qt.AlignmentFlag.AlignRight if column in RIGHT else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
    )
    for column in range(len(HEADERS))
]
#: Roles of a name's cell: whether the segment is locked (the delegate draws a padlock), and the name given by the user.
LOCKED, OWN_NAME = int(Role.UserRole), int(Role.UserRole) + 1
#: Role of the rank by which rows are sorted.
RANK = int(Role.UserRole) + 2
#: Roles as plain integers: to convert an enum takes longer than to store the value.
_DECORATION, _ALIGNMENT, _FOREGROUND, _ACCESSIBLE = (
    int(r) for r in (Role.DecorationRole, Role.TextAlignmentRole, Role.ForegroundRole, Role.AccessibleTextRole)
)
_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_EDITABLE = {SHOWN: _PLAIN | Qt.ItemFlag.ItemIsUserCheckable, NAME: _PLAIN | Qt.ItemFlag.ItemIsEditable}


class Marks(NamedTuple):
    """What a row shows of the segment's marks; it changes rarely.

    Attributes
    ----------
    name : str
    own_name : str
        The name that the user gave, or an empty text.
    colour : RGB
        Colour in the overlay.
    disc : QIcon or None
        Disc of the segment's first object; always the same icon for the same colour.
    hidden, locked : bool
    editable : bool
        Whether the user can rename and hide the segment now.
    pale : int
        Colour of pale texts, as ARGB.
    """

    name: str
    own_name: str
    colour: RGB
    disc: QIcon | None
    hidden: bool
    locked: bool
    editable: bool
    pale: int


class Numbers(NamedTuple):
    """What a row shows of the segment's statistics; it changes with every frame.

    Attributes
    ----------
    texts : tuple of str
        Texts of the columns from `SIZE` to `DRIFT`.
    mean : str
        Code of the mean colour.
    """

    texts: tuple[str, ...]
    mean: str


class RowItems:
    """The items of a segment's row; writes only what has changed.

    Parameters
    ----------
    id : int

    Attributes
    ----------
    items : list of QStandardItem
        One for each column; they belong to the model.
    """

    __slots__ = ("_marks", "_numbers", "items")

    def __init__(self, id: int) -> None:
        self._marks: Marks | None = None
        self._numbers = Numbers(("",) * (len(HEADERS) - SIZE), "")
        self.items = [QStandardItem() for _ in HEADERS]
        for item, side in zip(self.items, SIDE, strict=True):
            item.setFlags(_PLAIN)
            item.setData(side, _ALIGNMENT)
        self.items[ID].setText(str(id))

    def write(self, marks: Marks, numbers: Numbers) -> bool:
        """Show marks and numbers; return whether that changed anything."""
        marked, counted = marks != self._marks, numbers != self._numbers
        if marked:
            self._write_marks(marks)
        if counted:
            self._write_numbers(numbers)
        return marked or counted

    def _write_marks(self, marks: Marks) -> None:
        self._marks = marks
        for column, item in enumerate(self.items):
            pale = marks.hidden or (column == NAME and not marks.own_name)
            item.setData(QColor.fromRgba(marks.pale) if pale else None, _FOREGROUND)
        for column, flags in _EDITABLE.items():
            self.items[column].setFlags(flags if marks.editable else _PLAIN)
        shown, name = self.items[SHOWN], self.items[NAME]
        shown.setCheckState(Qt.CheckState.Unchecked if marks.hidden else Qt.CheckState.Checked)
        shown.setData(QColor(*marks.colour), _DECORATION)
        name.setText(marks.name)
        name.setData(marks.own_name, OWN_NAME)
        name.setData(marks.disc, _DECORATION)
        name.setData(marks.locked, LOCKED)
        name.setData(f"{marks.name}, locked" if marks.locked else None, _ACCESSIBLE)

    def _write_numbers(self, numbers: Numbers) -> None:
        before, self._numbers = self._numbers, numbers
        for item, new, old in zip(self.items[SIZE:], numbers.texts, before.texts, strict=True):
            if new != old:
                item.setText(new)
        if numbers.mean != before.mean:
            colour = self.items[COLOUR]
            colour.setData(QColor(numbers.mean), _DECORATION)
            # Narrow columns do not show the code.
            colour.setData(numbers.mean, _ACCESSIBLE)

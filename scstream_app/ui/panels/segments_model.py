"""Table model of segments: the statistics of a frame as rows, sorted and filtered."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette

from scstream_app.errors import StudioError
from scstream_app.render.palette import RGB
from scstream_app.session import MarkedObject
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.action_availability import SAVING
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.drift import Drift, Origins
from scstream_app.ui.panels.plots.plot_helpers import EMPTY, Rows, colour_of
from scstream_app.ui.qt.appearance.indicator import disc_icon

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

SHOWN, ID, NAME, SIZE, SHARE, AGE, COLOUR, POSITION, DRIFT = range(9)
HEADERS = ("", "Id", "Name", "Pixels", "Share", "Age", "Colour", "Position", "Drift")
_TIPS = (
    "Whether the segment is shown, and its colour in the overlay",
    "Id of the segment; it never changes",
    "Name of the segment; double-click to rename it",
    "Size on this frame in pixels",
    "Share of the frame's pixels",
    "Frames since the segment's birth",
    "Mean colour of the segment's pixels",
    "Column and row of the segment's centre in pixels",
    "Distance of the segment's centre from where it was first seen, in pixels, and of its mean colour, "
    "in per cent of the distance from black to white",
)
#: Texts that must fit into the columns, even if none is as long; the column of names fills the rest of the table.
_WIDEST = ("", "000", "segment 000", "000000", "00.0 %", "0000", "", "000, 000", "000 px, 00 %")
_RIGHT = frozenset({ID, SIZE, SHARE, AGE, POSITION, DRIFT})
#: Roles as plain integers: a view asks for thousands of cells a second, and comparing enums is slow.
_DISPLAY, _EDIT, _TIP, _CHECK = (
    int(r) for r in (Role.DisplayRole, Role.EditRole, Role.ToolTipRole, Role.CheckStateRole)
)
_DECORATION, _ALIGNMENT, _FOREGROUND, _ACCESSIBLE = (
    int(r) for r in (Role.DecorationRole, Role.TextAlignmentRole, Role.ForegroundRole, Role.AccessibleTextRole)
)
#: Role of whether a segment is locked; the delegate draws a padlock.
LOCKED = int(Role.UserRole)
#: Fields of the statistics by which columns are sorted.
_FIELDS = {ID: "id", SIZE: "pixels", SHARE: "share", AGE: "age", POSITION: "column"}
_SIDE = [
    int(
        (Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft)
        | Qt.AlignmentFlag.AlignVCenter
    )
    for column in range(len(HEADERS))
]


class SegmentsModel(QAbstractTableModel):
    """The statistics of a frame as a table, sorted and filtered.

    A new frame changes rows in place, so that a view keeps its scroll position and its selection: rows of segments
    that are gone are removed, new ones appended, and then all are sorted.

    Attributes
    ----------
    widest : tuple of str
        For each column, a text that must fit into its cells.
    """

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.widest: tuple[str, ...] = _WIDEST
        self._all: Rows = EMPTY
        self._rows: Rows = EMPTY
        self._ids: list[int] = []
        self._place: dict[int, int] = {}
        self._texts: dict[int, tuple[str | None, ...]] = {}
        self._swatches: dict[tuple[int, int], QColor] = {}
        self._column, self._order = SIZE, Qt.SortOrder.DescendingOrder
        self._filter = ""
        self._origins = Origins(document)
        self._objects_of: dict[int, list[MarkedObject]] = {}
        self._discs: dict[RGB, QIcon] = {}
        self._colour_codes = True
        plain = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        self._flags = [plain] * len(HEADERS)
        self._flags[SHOWN] |= Qt.ItemFlag.ItemIsUserCheckable
        self._flags[NAME] |= Qt.ItemFlag.ItemIsEditable

    # --- changes

    def show_colour_codes(self, shown: bool) -> None:
        """Show colour codes beside the swatches, or not: the column may be too narrow."""
        self._colour_codes = shown

    def show(self, rows: Rows) -> None:
        """Show the statistics of a frame."""
        self._all = rows
        # Columns never become narrower during playback.
        self.widest = tuple(map(_longer, self.widest, _longest(rows))) if len(rows) else _WIDEST
        self._origins.learn(rows)
        self._update()

    def set_filter(self, text: str) -> None:
        """List only segments whose name or object contains the text, or whose id starts with it."""
        self._filter = text.strip().casefold()
        self._update()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by a column."""
        self._column, self._order = column, order
        self._arrange()

    def refresh(self) -> None:
        """Update the rows after a change of names, colours or objects."""
        self._update()

    def _update(self) -> None:
        self._find_objects()
        kept = self._all[[self._passes(int(id)) for id in self._all["id"]]] if self._filter else self._all
        self._remove(set(kept["id"].tolist()))
        self._append(kept)
        # New values in the old order first; sorting then is a change of layout.
        place = {int(id): n for n, id in enumerate(kept["id"])}
        self._rows = kept[[place[id] for id in self._ids]] if len(kept) else EMPTY
        self._index()
        # Texts and colours of cells are made when a view first asks for them.
        self._texts.clear()
        self._swatches.clear()
        self._arrange()
        if len(self._rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(HEADERS) - 1))

    def _find_objects(self) -> None:
        """List the objects of each segment."""
        self._objects_of = {}
        members = self._document.display.members()
        for object_ in self._document.objects:
            for id in members[object_.name]:
                self._objects_of.setdefault(id, []).append(object_)

    def _passes(self, id: int) -> bool:
        names = (self.name(id), *(object_.name for object_ in self._objects_of.get(id, ())))
        return str(id).startswith(self._filter) or any(self._filter in name.casefold() for name in names)

    def _remove(self, staying: set[int]) -> None:
        gone = [row for row, id in enumerate(self._rows["id"].tolist()) if id not in staying]
        for first, last in reversed(runs(gone)):
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
        self._ids = self._rows["id"].tolist()
        self._place = {id: row for row, id in enumerate(self._ids)}

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
        """Return the sorted order of the rows; equal ones by id."""
        ids = self._rows["id"]
        order = np.lexsort((ids, self._key()))
        if self._order == Qt.SortOrder.DescendingOrder:
            # Descending, but equal ones by ascending id.
            rank = np.unique(self._key(), return_inverse=True)[1]
            order = np.lexsort((ids, -rank))
        return order

    def _key(self) -> npt.NDArray[Any]:
        rows, column = self._rows, self._column
        if column == SHOWN:
            return np.array([id in self._document.names.hidden for id in self._ids], bool)
        if column == NAME:
            return np.array([self._sort_name(id) for id in self._ids], str)
        if column == COLOUR:
            return np.asarray(0.3 * rows["red"] + 0.6 * rows["green"] + 0.1 * rows["blue"])
        if column == DRIFT:
            drifts = (self.drift(row) for row in rows)
            return np.array([-1.0 if drift is None else drift.size for drift in drifts])
        return np.asarray(rows[_FIELDS[column]])

    def _sort_name(self, id: int) -> str:
        # Named segments come first, the others by id.
        own = self._document.names.names.get(id)
        return f"0{own.casefold()}" if own is not None else f"1{id:012d}"

    # --- the model's interface

    def id(self, row: int) -> int:
        """Return the id of the segment in a row."""
        return self._ids[row]

    def row(self, id: int) -> int | None:
        """Return the row of a segment; None if it is not listed."""
        return self._place.get(id)

    @property
    def ids(self) -> list[int]:
        """Ids of the segments from top to bottom."""
        return list(self._ids)

    def name(self, id: int) -> str:
        """Return the name of a segment."""
        return self._document.names.names.get(id, f"segment {id}")

    def colour(self, id: int) -> RGB:
        """Return the colour of a segment in the overlay."""
        return colour_of(self._document, id)

    def drift(self, row: np.void) -> Drift | None:
        """Return how far a segment has drifted since it was first seen; None if that is not known."""
        return self._origins.drift(row)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(self._ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            # The arrow of the sorted column would touch the text.
            return f"{HEADERS[section]} " if section in _RIGHT else HEADERS[section]
        if role == Role.ToolTipRole:
            return _TIPS[section]
        if role == Role.TextAlignmentRole:
            return _SIDE[section]
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        # Called for every cell that is painted: keep it fast.
        column = index.column()
        if column < 0:
            return Qt.ItemFlag.NoItemFlags
        return self._flags[ID if self._document.saving else column]

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        if not 0 <= row < len(self._ids):
            return None
        id = self._ids[row]
        if role == _DISPLAY:
            return self._text(id)[column] if column != COLOUR or self._colour_codes else None
        if role == _ALIGNMENT:
            return _SIDE[column]
        if role == _FOREGROUND:
            pale = self._pale(id, column)
            return QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText) if pale else None
        if role == _CHECK and column == SHOWN:
            return Qt.CheckState.Unchecked if id in self._document.names.hidden else Qt.CheckState.Checked
        if role == _DECORATION and column in (SHOWN, COLOUR):
            return self._swatch(id, column)
        if role == _DECORATION and column == NAME and id in self._objects_of:
            return self._disc(self._objects_of[id][0].colour)
        if role == _EDIT and column == NAME:
            return self._document.names.names.get(id, "")
        if role == LOCKED:
            return id in self._document.pending.locked
        if role == _TIP:
            return self._tip(id, column)
        if role == _ACCESSIBLE and column == NAME and id in self._document.pending.locked:
            return f"{self.name(id)}, locked"
        if role == _ACCESSIBLE and column == COLOUR:
            return self._text(id)[column]
        return None

    def _tip(self, id: int, column: int) -> str:
        if self._document.saving and column in (SHOWN, NAME):
            return SAVING
        locked = ", locked: the model neither splits nor merges it" if id in self._document.pending.locked else ""
        objects = "".join(f", in object '{object_.name}'" for object_ in self._objects_of.get(id, ()))
        return f"{self.name(id)}, id {id}{objects}, mean colour {self._text(id)[COLOUR]}{locked}"

    def _pale(self, id: int, column: int) -> bool:
        names = self._document.names
        return id in names.hidden or (column == NAME and id not in names.names)

    def _swatch(self, id: int, column: int) -> QColor:
        key = id, column
        if key not in self._swatches:
            self._swatches[key] = QColor(*(self.colour(id) if column == SHOWN else _mean(self._rows[self._place[id]])))
        return self._swatches[key]

    def _disc(self, colour: RGB) -> QIcon:
        """Return the icon of an object."""
        if colour not in self._discs:
            self._discs[colour] = disc_icon(QColor(*colour))
        return self._discs[colour]

    def _text(self, id: int) -> tuple[str | None, ...]:
        """Return the texts of a segment's cells, from left to right."""
        if id not in self._texts:
            row = self._rows[self._place[id]]
            drift = self.drift(row)
            self._texts[id] = (
                None,
                str(id),
                self.name(id),
                str(int(row["pixels"])),
                f"{100.0 * float(row['share']):.1f} %",
                str(int(row["age"])),
                "#{:02x}{:02x}{:02x}".format(*_mean(row)),
                f"{float(row['column']):.0f}, {float(row['row']):.0f}",
                "" if drift is None else str(drift),
            )
        return self._texts[id]

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        if self._document.saving:
            return False
        id = self.id(index.row())
        try:
            if role == Role.CheckStateRole and index.column() == SHOWN:
                undo_commands.set_hidden(self._document, [id], Qt.CheckState(value) == Qt.CheckState.Unchecked)
            elif role == Role.EditRole and index.column() == NAME:
                undo_commands.rename(self._document, id, str(value).strip())
            else:
                return False
        except StudioError as error:
            self._document.failed.emit(f"Cannot rename segment {id}: {error}.")
            return False
        return True


def _longest(rows: Rows) -> tuple[str, ...]:
    """Return the longest number of each column whose numbers can be of any length."""
    id, pixels, age = (str(int(rows[name].max())) for name in ("id", "pixels", "age"))
    centre = f"{float(rows['column'].max()):.0f}, {float(rows['row'].max()):.0f}"
    return "", id, f"segment {id}", pixels, "", age, "", centre, ""


def _longer(one: str, other: str) -> str:
    return other if len(other) > len(one) else one


def _mean(row: np.void) -> RGB:
    red, green, blue = (round(255.0 * float(row[name])) for name in ("red", "green", "blue"))
    return red, green, blue


def runs(rows: list[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of consecutive numbers.

    >>> runs([1, 2, 3, 7])
    [(1, 3), (7, 7)]
    """
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs

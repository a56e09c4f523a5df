"""Table model of segments: the statistics of a frame as rows, sorted and filtered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPalette, QStandardItem, QStandardItemModel

from scstream_app.errors import StudioError
from scstream_app.render.palette import RGB
from scstream_app.session import MarkedObject
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.action_availability import why_unchangeable
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.drift import Drift, Origins
from scstream_app.ui.panels.plots.plot_helpers import EMPTY, Rows, colour_of
from scstream_app.ui.panels.segments_items import (
    AGE,
    COLOUR,
    DRIFT,
    HEADERS,
    ID,
    NAME,
    POSITION,
    RANK,
    RIGHT,
    SHARE,
    SHOWN,
    SIDE,
    SIZE,
    Index,
    Marks,
    Numbers,
    Role,
    RowItems,
)
from scstream_app.ui.qt.appearance.indicator import disc_icon

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
#: Fields of the statistics by which columns are sorted.
_FIELDS = {ID: "id", SIZE: "pixels", SHARE: "share", AGE: "age", POSITION: "column"}


class SegmentsModel(QStandardItemModel):
    """The statistics of a frame as a table, sorted and filtered.

    Views read Qt's own items, into which this class writes what has changed. A view asks for a thousand values whenever
    it is painted: answers in Python took most of the time and kept the engine's thread waiting.

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
        self._items: dict[int, RowItems] = {}
        self._numbers: dict[int, Numbers] = {}
        self._drifts: dict[int, Drift | None] = {}
        self._column, self._order = SIZE, Qt.SortOrder.DescendingOrder
        self._filter = ""
        self._origins = Origins(document)
        self._objects_of: dict[int, list[MarkedObject]] = {}
        self._discs: dict[RGB, QIcon] = {}
        self._colour_codes = True
        self.setColumnCount(len(HEADERS))
        self.setSortRole(RANK)
        for column, (title, tip) in enumerate(zip(HEADERS, _TIPS, strict=True)):
            # The arrow of the sorted column would touch the text.
            self._set_header(column, f"{title} " if column in RIGHT else title, Role.DisplayRole)
            self._set_header(column, tip, Role.ToolTipRole)
            self._set_header(column, SIDE[column], Role.TextAlignmentRole)

    def _set_header(self, column: int, value: object, role: Role) -> None:
        self.setHeaderData(column, Qt.Orientation.Horizontal, value, role)

    # --- changes

    def show_colour_codes(self, shown: bool) -> None:
        """Show colour codes beside the swatches, or not: the column may be too narrow."""
        if shown != self._colour_codes:
            self._colour_codes = shown
            self._read_numbers()
            self._write()

    def show(self, rows: Rows) -> None:
        """Show the statistics of a frame."""
        self._all = rows
        # Columns never become narrower during playback.
        self.widest = tuple(map(_longer, self.widest, _longest(rows))) if len(rows) else _WIDEST
        self._origins.learn(rows)
        self._drifts = dict(zip(rows["id"].tolist(), self._origins.drifts(rows), strict=True))
        self._read_numbers()
        self._update()

    def _read_numbers(self) -> None:
        numbers = _numbers(self._all, self._drifts.values(), self._colour_codes)
        self._numbers = dict(zip(self._drifts, numbers, strict=True))

    def set_filter(self, text: str) -> None:
        """List only segments whose name or object contains the text, or whose id starts with it."""
        self._filter = text.strip().casefold()
        self._update()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by a column."""
        self._column, self._order = column, order
        self._arrange()

    def refresh(self) -> None:
        """Update the rows after a change of names, colours, objects, locks, the theme, or of what can be edited."""
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
        self._arrange()
        self._write()

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
        gone = [row for row, id in enumerate(self._ids) if id not in staying]
        for row in gone:
            del self._items[self._ids[row]]
        for first, last in reversed(runs(gone)):
            self._rows = np.delete(self._rows, slice(first, last + 1))
            self._index()
            self.removeRows(first, last + 1 - first)

    def _append(self, kept: Rows) -> None:
        new = kept[[id not in self._place for id in kept["id"].tolist()]] if len(kept) else kept
        if len(new):
            first = len(self._rows)
            self._rows = np.concatenate([self._rows, new])
            self._index()
            self.insertRows(first, len(new))
            with QSignalBlocker(self):
                for row, id in enumerate(self._ids[first:], first):
                    self._items[id] = RowItems(id)
                    for column, item in enumerate(self._items[id].items):
                        self.setItem(row, column, item)
                    # Otherwise screen readers would read the number of the row, which is not the segment's id.
                    self.setVerticalHeaderItem(row, QStandardItem())

    def _index(self) -> None:
        self._ids = self._rows["id"].tolist()
        self._place = {id: row for row, id in enumerate(self._ids)}

    def _arrange(self) -> None:
        order = self._sorted()
        if np.array_equal(order, np.arange(len(order))):
            return
        with QSignalBlocker(self):
            for rank, row in enumerate(order.tolist()):
                self._items[self._ids[row]].items[SHOWN].setData(rank, RANK)
        self._rows = self._rows[order]
        self._index()
        super().sort(SHOWN)

    def _write(self) -> None:
        """Write what has changed into the items, and tell the views once."""
        items, numbers = self._items, self._numbers
        with QSignalBlocker(self):
            rows = enumerate(zip(self._ids, self._marks(), strict=True))
            changed = [row for row, (id, marks) in rows if items[id].write(marks, numbers[id])]
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(HEADERS) - 1))

    def _marks(self) -> Iterator[Marks]:
        """Return the marks of the rows, from top to bottom."""
        names, locked = self._document.names, self._document.pending.locked
        editable = not why_unchangeable(self._document)
        pale = QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText).rgba()
        for id in self._ids:
            objects = self._objects_of.get(id)
            yield Marks(
                self.name(id),
                names.names.get(id, ""),
                self.colour(id),
                self._disc(objects[0].colour) if objects else None,
                id in names.hidden,
                id in locked,
                editable,
                pale,
            )

    def _disc(self, colour: RGB) -> QIcon:
        """Return the icon of an object."""
        if colour not in self._discs:
            self._discs[colour] = disc_icon(QColor(*colour))
        return self._discs[colour]

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
            drifts = (self._drifts[id] for id in self._ids)
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

    def tip(self, index: Index) -> str:
        """Return the tooltip of a cell."""
        if index.column() in (SHOWN, NAME) and (reason := why_unchangeable(self._document)):
            return reason
        id = self.id(index.row())
        locked = ", locked: the model neither splits nor merges it" if id in self._document.pending.locked else ""
        objects = "".join(f", in object '{object_.name}'" for object_ in self._objects_of.get(id, ()))
        return f"{self.name(id)}, id {id}{objects}, mean colour {self._numbers[id].mean}{locked}"

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        if why_unchangeable(self._document):
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


def _numbers(rows: Rows, drifts: Iterable[Drift | None], colour_codes: bool) -> list[Numbers]:
    """Return what the rows of a frame show of its statistics."""
    fields = (rows[name].tolist() for name in ("pixels", "share", "age", "column", "row"))
    means = np.rint(255.0 * np.stack([rows[name] for name in ("red", "green", "blue")], axis=-1)).astype(int)
    numbers = []
    for pixels, share, age, x, y, mean, drift in zip(*fields, means.tolist(), drifts, strict=True):
        code = "#{:02x}{:02x}{:02x}".format(*mean)
        centre = f"{x:.0f}, {y:.0f}"
        drifted = "" if drift is None else str(drift)
        colour = code if colour_codes else ""
        numbers.append(Numbers((str(pixels), f"{100.0 * share:.1f} %", str(age), colour, centre, drifted), code))
    return numbers


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

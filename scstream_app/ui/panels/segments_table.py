"""The view of the table of segments: which columns there is room for, which rows are in sight, and its keys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QLineEdit, QMenu, QStyle, QTableView

from scstream_app.ui.panels.segments_model import COLOUR, HEADERS, NAME, SHOWN, SIZE, SegmentsModel

if TYPE_CHECKING:
    from scstream_app.ui.panels.segments import SegmentsPanel

#: Pixels besides the text: for a box with a swatch, the mark of an object, that of the sorted column.
_BESIDES = {SHOWN: 42, NAME: 26, SIZE: 20}
#: Pixels around a swatch and the number of its colour.
_BESIDE_SWATCH = 12


class SegmentsTable(QTableView):
    """Shows as many columns as there is room for, or those that a person chose; names get the room that is left.

    Attributes
    ----------
    elsewhere : bool
        Whether a person went on to other rows than the marked ones, and is to be left there.
    """

    def __init__(self, model: SegmentsModel, panel: SegmentsPanel) -> None:
        super().__init__(panel)
        self._panel, self._segments = panel, model
        self._room_for = model.widest
        self.setModel(model)
        self._chosen: set[int] | None = None
        self.elsewhere = False
        self.verticalScrollBar().actionTriggered.connect(self._go_elsewhere)
        self.horizontalHeader().sectionClicked.connect(self._go_elsewhere)
        self.horizontalHeader().sectionResized.connect(self._on_resized)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.show_marked()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_marked()

    @Slot()
    def _go_elsewhere(self) -> None:
        """A person scrolls or sorts: frames that come are not to pull the marked rows back."""
        self.elsewhere = True

    def look_around(self) -> None:
        """Before rows change: whoever sees a marked one now is to go on seeing it."""
        if self._sees_marked():
            self.elsewhere = False

    def show_marked(self) -> None:
        """Scroll to the marked rows, if none of them is in sight and a person did not scroll away from them."""
        rows = self.marked()
        if rows and not self.elsewhere and self.isVisible() and not self._sees_marked():
            self.scrollTo(self.model().index(rows[0], NAME))

    def marked(self) -> list[int]:
        """The rows that are shown as selected, from top to bottom."""
        chosen = self.selectionModel()
        return sorted(index.row() for index in chosen.selectedRows()) if chosen is not None else []

    def _sees_marked(self) -> bool:
        """Whether some marked row is in sight, at least half of it."""
        places = (self.visualRect(self.model().index(row, NAME)).center() for row in self.marked())
        return any(self.viewport().rect().contains(place) for place in places)

    def _fit(self) -> None:
        header, seen = self.horizontalHeader(), self._fitting() if self._chosen is None else self._chosen
        for column in range(len(HEADERS)):
            if header.isSectionHidden(column) != (column not in seen):
                header.setSectionHidden(column, column not in seen)
                self.setColumnWidth(column, self._least(column))
        left = self.viewport().width() - header.length() + header.sectionSize(NAME)
        self.setColumnWidth(NAME, max(left, self._least(NAME)))

    @Slot(int, int, int)
    def _on_resized(self, column: int, before: int, width: int) -> None:
        if column == COLOUR:
            swatch = self.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize, None, self)
            number = self.fontMetrics().horizontalAdvance("#000000")
            self._segments.tell_colours(width >= swatch + _BESIDE_SWATCH + number)

    def _fitting(self) -> set[int]:
        """The columns from the left that are not cut off."""
        bar = self.verticalScrollBar()
        # Rows that come are not to push a column out.
        room = self.viewport().width() - (0 if bar.isVisible() else bar.sizeHint().width())
        header, seen = self.horizontalHeader(), {SHOWN, NAME}
        room -= sum(map(self._least, seen))
        for column in sorted(set(range(len(HEADERS))) - seen, key=header.visualIndex):
            width = self._least(column) if header.isSectionHidden(column) else header.sectionSize(column)
            if width > room:
                break
            seen.add(column)
            room -= width
        return seen

    def set_widths(self) -> None:
        """As wide as what stands in the columns."""
        for column in range(len(HEADERS)):
            self.setColumnWidth(column, self._least(column))

    def make_room(self) -> None:
        """Widen columns whose numbers have got longer than they ever were."""
        before, self._room_for = self._room_for, self._segments.widest
        if self._room_for == before:
            return
        for column, texts in enumerate(zip(before, self._room_for, strict=True)):
            if len(texts[1]) > len(texts[0]) and not self.isColumnHidden(column):
                self.setColumnWidth(column, max(self.columnWidth(column), self._least(column)))
        self._fit()

    def _least(self, column: int) -> int:
        metrics = self.fontMetrics()
        texts = (self._segments.widest[column], HEADERS[column])
        return max(map(metrics.horizontalAdvance, texts)) + _BESIDES.get(column, 10)

    @Slot(QPoint)
    def show_columns_menu(self, where: QPoint) -> None:
        """Let a person choose columns."""
        self.make_columns_menu().popup(self.horizontalHeader().mapToGlobal(where))

    def make_columns_menu(self) -> QMenu:
        """Which columns are seen."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        header = self.horizontalHeader()
        fitting = menu.addAction("As Many as Fit")
        fitting.setCheckable(True)
        fitting.setChecked(self._chosen is None)
        fitting.triggered.connect(lambda: self._choose(None))
        menu.addSeparator()
        for column in sorted(range(len(HEADERS)), key=header.visualIndex):
            if column not in (SHOWN, NAME):
                action = menu.addAction(HEADERS[column])
                action.setCheckable(True)
                action.setChecked(not header.isSectionHidden(column))
                action.triggered.connect(partial(self._toggle, column))
        return menu

    def _toggle(self, column: int) -> None:
        header = self.horizontalHeader()
        self._choose({n for n in range(len(HEADERS)) if not header.isSectionHidden(n)} ^ {column})

    def _choose(self, columns: set[int] | None) -> None:
        self._chosen = columns
        self._fit()

    def finish_typing(self) -> None:
        """Keep the name that somebody is typing, as Enter would."""
        editors: Iterable[QLineEdit] = self.viewport().findChildren(QLineEdit)
        for editor in editors:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    @property
    def typing(self) -> bool:
        """Whether somebody is typing a name."""
        return self.state() == QTableView.State.EditingState

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._panel.press(event):
            super().keyPressEvent(event)

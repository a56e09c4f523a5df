"""The view of the table of segments: columns that fit, scrolling to the selected rows, keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QMenu,
    QStyle,
    QTableView,
    QWidget,
)

from scstream_app.ui.panels.segments_items import COLOUR, DRIFT, HEADERS, NAME, SHARE, SHOWN, SIZE
from scstream_app.ui.panels.segments_model import SegmentsModel
from scstream_app.ui.qt.widgets import show_boxes

#: Pixels beside the text: for a box with a swatch, an object's disc, the arrow of the sorted column.
_BESIDES = {SHOWN: 42, NAME: 26, SIZE: 20}
#: Pixels around a swatch and its colour code.
_BESIDE_SWATCH = 12


class SegmentsTable(QTableView):
    """Shows the columns that fit, or those that the user chose; the column of names fills the rest.

    Parameters
    ----------
    model : SegmentsModel
    press : callable
        Handles a key first; returns whether it did.
    parent : QWidget

    Attributes
    ----------
    scrolled_away : bool
        Whether the user has scrolled away from the selected rows; the table then does not scroll back to them.
    """

    def __init__(self, model: SegmentsModel, press: Callable[[QKeyEvent], bool], parent: QWidget) -> None:
        super().__init__(parent)
        self._press, self._segments = press, model
        self._widest = model.widest
        self._chosen: set[int] | None = None
        self.scrolled_away = False
        self.setModel(model)
        self._configure()
        self._configure_header()
        self.set_widths()
        self.verticalScrollBar().actionTriggered.connect(self._on_scrolled)
        self.horizontalHeader().sectionClicked.connect(self._on_scrolled)

    def _configure(self) -> None:
        self.setAccessibleName("Segments")
        self.setTabKeyNavigation(False)
        show_boxes(self)
        # Editing starts by the key of Rename, which the user can change.
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)

    def _configure_header(self) -> None:
        self.setSortingEnabled(True)
        self.sortByColumn(SIZE, Qt.SortOrder.DescendingOrder)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        # Columns that do not fit are hidden from the right: last come those that repeat others.
        header.moveSection(SHARE, DRIFT)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self.show_columns_menu)
        header.sectionResized.connect(self._on_resized)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.show_marked()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_marked()

    @Slot()
    def _on_scrolled(self) -> None:
        """Stay where the user scrolls or sorts, while new frames change the rows."""
        self.scrolled_away = True

    def prepare_change(self) -> None:
        """Before rows change: keep a selected row visible if one is visible now."""
        if self._sees_marked():
            self.scrolled_away = False

    def show_marked(self) -> None:
        """Scroll to the selected rows, unless one is visible or the user has scrolled away."""
        rows = self.marked()
        if rows and not self.scrolled_away and self.isVisible() and not self._sees_marked():
            self.scrollTo(self.model().index(rows[0], NAME))

    def marked(self) -> list[int]:
        """Return the rows that are shown as selected, from top to bottom."""
        chosen = self.selectionModel()
        return sorted(index.row() for index in chosen.selectedRows()) if chosen is not None else []

    def _sees_marked(self) -> bool:
        """Whether a selected row is visible, at least half of it."""
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
            self._segments.show_colour_codes(width >= swatch + _BESIDE_SWATCH + number)

    def _fitting(self) -> set[int]:
        """Return the columns that fit, from the left."""
        bar = self.verticalScrollBar()
        # Leave room for the scroll bar, so that more rows do not hide a column.
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
        """Make columns as wide as their texts."""
        for column in range(len(HEADERS)):
            self.setColumnWidth(column, self._least(column))

    def make_room(self) -> None:
        """Widen columns whose numbers are longer than before."""
        before, self._widest = self._widest, self._segments.widest
        if self._widest == before:
            return
        for column, texts in enumerate(zip(before, self._widest, strict=True)):
            if len(texts[1]) > len(texts[0]) and not self.isColumnHidden(column):
                self.setColumnWidth(column, max(self.columnWidth(column), self._least(column)))
        self._fit()

    def _least(self, column: int) -> int:
        metrics = self.fontMetrics()
        texts = (self._segments.widest[column], HEADERS[column])
        return max(map(metrics.horizontalAdvance, texts)) + _BESIDES.get(column, 10)

    @Slot(QPoint)
    def show_columns_menu(self, where: QPoint) -> None:
        """Let the user choose columns."""
        self.make_columns_menu().popup(self.horizontalHeader().mapToGlobal(where))

    def make_columns_menu(self) -> QMenu:
        """Make the menu of columns."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        header = self.horizontalHeader()
        fitting = menu.addAction("Columns That Fit")
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
        """Store the name that the user is typing, as Enter does."""
        editors: Iterable[QLineEdit] = self.viewport().findChildren(QLineEdit)
        for editor in editors:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    @property
    def typing(self) -> bool:
        """Whether the user is typing a name."""
        return self.state() == QTableView.State.EditingState

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._press(event):
            super().keyPressEvent(event)

"""Hides columns of a list that has no room for them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QTreeWidget

#: Room for a name, in pixels.
_NAME = 110


class ColumnFitter(QObject):
    """Hides columns of a tree, one after another, until its first column has room for a name.

    Parameters
    ----------
    tree : QTreeWidget
    order : sequence of int
        The columns that may be hidden, in the order in which they are.
    """

    def __init__(self, tree: QTreeWidget, order: Sequence[int]) -> None:
        super().__init__(tree)
        self._tree, self._order = tree, order
        tree.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.fit()
        return False

    def fit(self) -> None:
        """Show as many columns as there is room for."""
        tree = self._tree
        widths = {column: self._width(column) for column in range(1, tree.columnCount())}
        room = tree.viewport().width() - _NAME
        hidden = set[int]()
        for column in self._order:
            if sum(width for other, width in widths.items() if other not in hidden) > room:
                hidden.add(column)
        for column in self._order:
            if tree.isColumnHidden(column) != (column in hidden):
                tree.setColumnHidden(column, column in hidden)

    def _width(self, column: int) -> int:
        """Width that a column needs, shown or not."""
        header = self._tree.header()
        content = self._tree.sizeHintForColumn(column) if not self._tree.isColumnHidden(column) else self._text(column)
        return max(content, header.sectionSizeHint(column))

    def _text(self, column: int) -> int:
        """Width of the longest text of a hidden column."""
        metrics = self._tree.fontMetrics()
        items = [self._tree.topLevelItem(row) for row in range(self._tree.topLevelItemCount())]
        texts = [item.text(column) for item in items if item is not None]
        return max((metrics.horizontalAdvance(text) for text in texts), default=0) + 2 * metrics.averageCharWidth()

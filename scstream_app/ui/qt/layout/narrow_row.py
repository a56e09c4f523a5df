"""Rows of widgets that hide the less important ones when the window is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class NarrowRow(QObject):
    """Hides optional widgets of a row for which there is no room, and shows them again when there is.

    The row's minimum width is the width without them.

    Parameters
    ----------
    row : QWidget
        A widget with a horizontal layout.
    optional : sequence of QWidget
        Widgets in the row's layout, in the order in which they are hidden. Nothing else shows or hides them.
    """

    def __init__(self, row: QWidget, optional: Sequence[QWidget]) -> None:
        super().__init__(row)
        self._row, self._optional = row, tuple(optional)
        self._away: set[QWidget] = set()
        row.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        layout = self._row.layout()
        assert layout is not None
        widths = {widget: _width(widget) + layout.spacing() for widget in self._optional}
        needed = layout.totalMinimumSize().width() + sum(widths[widget] for widget in self._away)
        least = needed - sum(widths.values())
        if self._row.minimumWidth() != least:
            self._row.setMinimumWidth(least)
        away = set[QWidget]()
        for widget in self._optional:
            if needed <= self._row.width():
                break
            away.add(widget)
            needed -= widths[widget]
        for widget in away ^ self._away:
            widget.setVisible(widget not in away)
        self._away = away


def _width(widget: QWidget) -> int:
    return max(widget.minimumWidth(), widget.minimumSizeHint().width())

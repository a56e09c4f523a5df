"""Rows of widgets that move a part to a second line when the window is narrow."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget


class SecondLine(QObject):
    """Moves a part of a row to a line of its own when there is no room for it, and back when there is.

    The row's minimum width is the width of the wider line.

    Parameters
    ----------
    row : QWidget
        A widget with the layout ``lines``.
    lines : QVBoxLayout
        Contains the first line.
    line : QHBoxLayout
        The first line, which contains the part while there is room.
    part : QWidget
        The widget that moves; its size hint is the width that it takes.
    spare : int
        Width that stays free in the first line, for texts of variable width.
    """

    def __init__(self, row: QWidget, lines: QVBoxLayout, line: QHBoxLayout, part: QWidget, spare: int = 0) -> None:
        super().__init__(row)
        self._row, self._lines, self._line, self._part, self._spare = row, lines, line, part, spare
        self._place = line.indexOf(part)
        row.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        line, part, margins = self._line, self._part, self._lines.contentsMargins()
        inside = line.indexOf(part) >= 0
        least, spacing = part.minimumWidth() or part.minimumSizeHint().width(), line.spacing()
        rest = line.minimumSize().width() - (least + spacing if inside else 0)
        around = margins.left() + margins.right()
        if self._row.minimumWidth() != around + max(rest, least):
            self._row.setMinimumWidth(around + max(rest, least))
        room = self._row.width() >= around + rest + spacing + part.sizeHint().width() + self._spare
        if room and not inside:
            self._lines.removeWidget(part)
            line.insertWidget(self._place, part)
        elif inside and not room:
            line.removeWidget(part)
            self._lines.addWidget(part)

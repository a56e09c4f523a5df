"""Read and use the table of segments, and the buttons above it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QTableView, QToolBar, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import ID, SIZE


def shown(widget: Any, qtbot: QtBot) -> Any:
    """The widget itself, when it is on the screen."""
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def table(panel: SegmentsPanel) -> QTableView:
    """The view of a panel's rows."""
    return panel.findChild(QTableView)


def column(panel: SegmentsPanel, which: int, role: int = Qt.ItemDataRole.DisplayRole) -> list[object]:
    """What a column has in each row."""
    model = table(panel).model()
    return [model.data(model.index(row, which), role) for row in range(model.rowCount())]


def ids(panel: SegmentsPanel) -> list[int]:
    """Ids in the order of the rows."""
    return [int(text) for text in column(panel, ID)]


def cell(panel: SegmentsPanel, id: int, which: int) -> QPoint:
    """Middle of a segment's cell."""
    view = table(panel)
    return view.visualRect(view.model().index(ids(panel).index(id), which)).center()


def click(
    qtbot: QtBot, panel: SegmentsPanel, id: int, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Click the row of a segment."""
    qtbot.mouseClick(table(panel).viewport(), Qt.MouseButton.LeftButton, held, cell(panel, id, SIZE))


def show(document: Document, qtbot: QtBot, index: int) -> None:
    """Go to a frame."""
    document.display.show(index)
    qtbot.waitUntil(lambda: document.display.index == index)


def tips(panel: QWidget) -> dict[str, str]:
    """What the tips of buttons say that cannot be pressed now."""
    bar = panel.findChild(QToolBar)
    more = next(button for button in bar.findChildren(QToolButton) if button.text() == "More")
    actions = [*bar.actions(), *more.menu().actions()]
    return {action.iconText(): action.toolTip() for action in actions if action.iconText() and not action.isEnabled()}

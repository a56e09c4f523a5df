"""Drive the export dialog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QMessageBox,
    QPushButton,
    QStyle,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from scstream_app.ui.export.export_dialog import ExportDialog

LONG = 60_000
IDS = "Ids, 16-bit PNG"
Made = Callable[..., ExportDialog]


def control(dialog: QDialog, kind: type[QWidget], name: str) -> Any:
    return next(widget for widget in dialog.findChildren(kind) if widget.accessibleName() == name)


def button(dialog: QDialog, text: str) -> QPushButton:
    return next(widget for widget in dialog.findChildren(QPushButton) if widget.text() == text)


def press(qtbot: QtBot, dialog: QDialog, text: str) -> None:
    qtbot.mouseClick(button(dialog, text), Qt.MouseButton.LeftButton)


def item(dialog: QDialog, title: str) -> QTreeWidgetItem:
    tree = dialog.findChild(QTreeWidget)
    (found,) = tree.findItems(title, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)
    return found


def items(dialog: QDialog) -> list[QTreeWidgetItem]:
    """All formats."""
    tree = dialog.findChild(QTreeWidget)
    groups = [tree.topLevelItem(n) for n in range(tree.topLevelItemCount())]
    return [group.child(n) for group in groups for n in range(group.childCount())]


def tick(dialog: QDialog, *titles: str) -> None:
    """These formats and no others."""
    for entry in items(dialog):
        wanted = entry.text(0) in titles
        if wanted != (entry.checkState(0) == Qt.CheckState.Checked):
            entry.setCheckState(0, Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)


def click_box(qtbot: QtBot, dialog: QDialog, title: str) -> None:
    """Click on the box of a format, which is left of its name."""
    tree, entry = dialog.findChild(QTreeWidget), item(dialog, title)
    tree.scrollToItem(entry)
    place = tree.visualItemRect(entry)
    style = tree.style()
    width = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth)
    qtbot.mouseClick(
        tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.left() + width // 2 + 3, place.center().y())
    )


def answer(qtbot: QtBot, dialog: QDialog, yes: bool) -> str:
    """Answer the question that the dialog asks; what it was."""
    box = dialog.findChild(QMessageBox)
    kind = QMessageBox.StandardButton.Yes if yes else QMessageBox.StandardButton.No
    text = box.text()
    with qtbot.waitSignal(box.destroyed, timeout=LONG):
        qtbot.mouseClick(box.button(kind), Qt.MouseButton.LeftButton)
    return text


def shown_text(dialog: QDialog, what: str = "message") -> str:
    return dialog.findChild(QLabel, what).text()


def read_ids(path: Path) -> np.ndarray[Any, Any]:
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED).astype(int) - 1


def finished(dialog: ExportDialog) -> bool:
    return button(dialog, "Export").isVisible() and dialog.findChild(QTreeWidget).isEnabled()

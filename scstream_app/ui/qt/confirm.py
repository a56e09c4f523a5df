"""Questions that are asked before something ends or goes."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget


def confirm(parent: QWidget, question: str, deed: str) -> bool:
    """Ask, with a button that says what it does; leaving the question otherwise means no."""
    box = QMessageBox(QMessageBox.Icon.Question, "ScStream Studio", question, parent=parent)
    yes = box.addButton(deed, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(no)
    box.setEscapeButton(no)
    box.exec()
    said = box.clickedButton() is yes
    box.deleteLater()
    return said

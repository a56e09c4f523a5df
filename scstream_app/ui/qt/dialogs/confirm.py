"""Confirmation dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget


def confirm(parent: QWidget, question: str, action: str) -> bool:
    """Ask a question with a button named after the action and Cancel; closing the dialog means Cancel."""
    box = QMessageBox(QMessageBox.Icon.Question, "ScStream Studio", question, parent=parent)
    yes = box.addButton(action, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(no)
    box.setEscapeButton(no)
    box.exec()
    confirmed = box.clickedButton() is yes
    box.deleteLater()
    return confirmed

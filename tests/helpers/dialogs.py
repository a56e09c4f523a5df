"""Answer questions and file dialogs of a window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot


@contextmanager
def answering(qtbot: QtBot, text: str) -> Iterator[list[str]]:
    """Press the button with this text of the question that has to come while this lasts; what was asked."""
    asked: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox) and not asked:
            asked.append(box.text())
            buttons = {button.text().replace("&", ""): button for button in box.buttons()}
            if text in buttons:
                qtbot.mouseClick(buttons[text], Qt.MouseButton.LeftButton)
            else:
                # Left alone, it would be waited for forever.
                box.done(0)
                pytest.fail(f"{box.text()!r} cannot be answered by {text!r}")

    timer = QTimer()
    timer.timeout.connect(press)
    timer.start(5)
    yield asked
    timer.stop()
    assert asked, "nothing was asked"


@contextmanager
def typing_path(qtbot: QtBot, path: Path) -> Iterator[None]:
    """Type a path and Return into the file dialog that has to come while this lasts."""
    typed = False

    def type_() -> None:
        nonlocal typed
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, QFileDialog) and not typed:
            typed = True
            name = dialog.findChild(QLineEdit, "fileNameEdit")
            # Key by key, the completer would race with the list that the dialog reads on a thread.
            name.setText(str(path))
            qtbot.keyClick(name, Qt.Key.Key_Return)
            if dialog.isVisible():
                # Left alone, it would be waited for forever.
                dialog.reject()
                pytest.fail(f"the dialog does not take {str(path)!r}")

    timer = QTimer()
    timer.timeout.connect(type_)
    timer.start(5)
    yield
    timer.stop()
    assert typed, "no file dialog came"


def choose_folder(parent: QWidget, folder: Path) -> None:
    """Choose a folder in the file dialog that is open above ``parent``."""
    dialog = parent.findChild(QFileDialog)
    assert dialog is not None
    dialog.findChild(QLineEdit, "fileNameEdit").setText(str(folder))
    dialog.accept()

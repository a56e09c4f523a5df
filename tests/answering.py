"""Answers a question that a window waits for, as a person does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot


@contextmanager
def answering(qtbot: QtBot, text: str) -> Iterator[None]:
    """Press the button with this text of the question that has to come while this lasts."""
    pressed: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox) and not pressed:
            button = next(button for button in box.buttons() if button.text().replace("&", "") == text)
            pressed.append(text)
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    timer = QTimer()
    timer.timeout.connect(press)
    timer.start(5)
    yield
    timer.stop()
    assert pressed, "nothing was asked"

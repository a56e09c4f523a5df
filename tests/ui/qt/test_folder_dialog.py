"""The dialog that asks for a folder."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from helpers.dialogs import choose_folder
from scstream_app.ui.qt.dialogs.folder_dialog import ask_folder


def test_the_chosen_folder_is_told(qtbot: QtBot, tmp_path: Path) -> None:
    chosen: list[str] = []
    parent = QWidget()
    qtbot.addWidget(parent)
    ask_folder(parent, "Where", tmp_path.parent, chosen.append)
    choose_folder(parent, tmp_path)
    assert chosen == [str(tmp_path)]


def test_cancelling_tells_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    chosen: list[str] = []
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = ask_folder(parent, "Where", tmp_path, chosen.append)
    dialog.reject()
    qtbot.waitUntil(lambda: not isValid(dialog))
    assert chosen == []


def test_a_dialog_that_closes_takes_its_file_dialog_along(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QDialog()
    dialog = ask_folder(parent, "Where", tmp_path, lambda _: None)
    parent.deleteLater()
    qtbot.waitUntil(lambda: not isValid(dialog))

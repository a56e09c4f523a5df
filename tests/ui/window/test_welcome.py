"""Tests of the welcome page: deleting a single unsaved session after a question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QListWidget, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from scstream_app.session import PICTURES, UNSAVED
from scstream_app.session.storage.lock import Lock
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000


@pytest.fixture(autouse=True)
def left(tmp_path: Path, finished_session: Callable[..., Path]) -> list[Path]:
    """Two unsaved sessions that exist before the window."""
    made = finished_session(story((48, 64)))
    paths = [tmp_path / "library" / f"{name}.scstream" for name in ("one", "two")]
    for path in paths:
        copytree(made, path)
        (path / UNSAVED).touch()
    return paths


@pytest.fixture
def entries(left: list[Path], window: MainWindow, qtbot: QtBot) -> QListWidget:
    listed = window.welcome.unsaved
    qtbot.waitUntil(lambda: listed.isVisible() and listed.count() == len(left), timeout=LONG)
    return listed


def row_of(entries: QListWidget, path: Path) -> int:
    rows = range(entries.count())
    return next(row for row in rows if entries.item(row).data(Qt.ItemDataRole.UserRole) == str(path))


def centre(entries: QListWidget, path: Path) -> QPoint:
    return entries.visualItemRect(entries.item(row_of(entries, path))).center()


def go_to(entries: QListWidget, path: Path, qtbot: QtBot) -> None:
    """Move to an entry with the keyboard."""
    entries.setFocus()
    qtbot.keyClick(entries, Qt.Key.Key_Home)
    for _ in range(row_of(entries, path)):
        qtbot.keyClick(entries, Qt.Key.Key_Down)


def answer(qtbot: QtBot, button: str, ask: Callable[[], object]) -> str:
    """Run ``ask``, press a button of the question, and return the question."""
    asked: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(10, press)
            return
        asked.append(box.text())
        found = next(found for found in box.buttons() if found.text().replace("&", "") == button)
        qtbot.mouseClick(found, Qt.MouseButton.LeftButton)

    QTimer.singleShot(0, press)
    ask()
    qtbot.waitUntil(lambda: bool(asked), timeout=LONG)
    return asked[0]


def menu_at(entries: QListWidget, where: QPoint, window: MainWindow) -> QMenu | None:
    """Context menu of a right click."""
    viewport = entries.viewport()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(viewport, QContextMenuEvent(reason, where, viewport.mapToGlobal(where)))
    return next((menu for menu in window.welcome.findChildren(QMenu) if menu.isVisible()), None)


def test_the_delete_key_deletes_a_session_after_confirmation(
    window: MainWindow, entries: QListWidget, left: list[Path], qtbot: QtBot
) -> None:
    go_to(entries, left[1], qtbot)
    description = entries.currentItem().text().partition("\n")[2]
    asked = answer(qtbot, "Delete", lambda: qtbot.keyClick(entries, Qt.Key.Key_Delete))
    assert asked == f"Delete the unsaved session of 'frames' ({description}) and its marks?"
    assert "5 frames" in description
    qtbot.waitUntil(lambda: entries.count() == 1, timeout=LONG)
    assert [path.exists() for path in left] == [True, False]
    assert window.message.text == "Deleted the unsaved session of 'frames'."
    assert window.welcome.isVisible()


def test_the_context_menu_deletes_a_session_after_confirmation(
    window: MainWindow, entries: QListWidget, left: list[Path], qtbot: QtBot
) -> None:
    menu = menu_at(entries, centre(entries, left[0]), window)
    (delete,) = menu.actions()
    assert delete.text() == "Delete…"
    answer(qtbot, "Cancel", lambda: qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.rect().center()))
    assert all(path.exists() for path in left)
    qtbot.waitUntil(lambda: menu_at(entries, centre(entries, left[0]), window) is not None)
    menu = next(menu for menu in window.welcome.findChildren(QMenu) if menu.isVisible())
    answer(qtbot, "Delete", lambda: qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.rect().center()))
    qtbot.waitUntil(lambda: entries.count() == 1, timeout=LONG)
    assert [path.exists() for path in left] == [False, True]


def test_beside_the_entries_there_is_no_menu(window: MainWindow, entries: QListWidget) -> None:
    assert menu_at(entries, entries.viewport().rect().bottomRight() - QPoint(2, 2), window) is None


def test_pictures_of_a_recording_are_asked_about(entries: QListWidget, left: list[Path], qtbot: QtBot) -> None:
    (left[0] / PICTURES).touch()
    go_to(entries, left[0], qtbot)
    asked = answer(qtbot, "Cancel", lambda: qtbot.keyClick(entries, Qt.Key.Key_Delete))
    assert asked.endswith("and its recorded pictures, which exist nowhere else?")
    assert left[0].exists()


def test_a_session_open_elsewhere_is_kept_and_reported(
    window: MainWindow, entries: QListWidget, left: list[Path], qtbot: QtBot
) -> None:
    held = Lock(left[0] / "lock")
    try:
        go_to(entries, left[0], qtbot)
        answer(qtbot, "Delete", lambda: qtbot.keyClick(entries, Qt.Key.Key_Delete))
        qtbot.waitUntil(lambda: "open elsewhere" in window.message.text, timeout=LONG)
        assert left[0].exists()
    finally:
        held.release()

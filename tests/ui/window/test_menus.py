"""Menus: which entries are enabled when, and the reasons that the others show."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.menus import menu_called
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

LONG = 20_000


def enabled(window: QMainWindow, title: str) -> list[str]:
    """The enabled entries of a menu."""
    entries = menu_called(window, title).actions()
    return [entry.text().partition("\t")[0] for entry in entries if entry.isEnabled() and entry.text()]


def test_with_nothing_open_only_what_needs_nothing_is_enabled(window: MainWindow) -> None:
    assert enabled(window, "Edit") == ["Preferences…"]
    assert enabled(window, "Playback") == enabled(window, "Segmentation") == []
    assert enabled(window, "View")[:4] == ["Full Screen", "System Theme", "Light Theme", "Dark Theme"]
    assert window.actions_["export"].statusTip() == "Open a video, images or a camera first"


def test_entries_of_segments_wait_for_no_selection_and_their_buttons_do(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.open_address(str(write_images(tmp_path / "frames", moving_square(4))))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert {"Merge Segments", "Add to Object…", "Rename…"} <= set(enabled(window, "Edit"))
    assert "Undo" not in enabled(window, "Edit")
    assert enabled(window, "Segmentation") == ["Segment Again"]
    assert window.actions_["export"].statusTip() == "Write masks, mattes, movies, tables or volumes"
    (rename,) = (action for action in window.segments.make_menu().actions() if action.iconText() == "Rename")
    assert not rename.isEnabled()
    assert rename.toolTip() == "Select one segment to rename it"

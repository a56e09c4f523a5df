"""Menus: which entries are enabled when, and the reasons that the others show."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.menus import menu_called
from scstream_app.ui.actions.actions import SPECS, Actions
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000


def enabled(window: QMainWindow, title: str) -> list[str]:
    """The enabled entries of a menu."""
    entries = menu_called(window, title).actions()
    return [entry.text().partition("\t")[0] for entry in entries if entry.isEnabled() and entry.text()]


def test_with_nothing_open_only_what_needs_nothing_is_enabled(window: MainWindow) -> None:
    assert enabled(window, "Edit") == ["Preferences…"]
    assert enabled(window, "Playback") == enabled(window, "Segmentation") == []
    themes = ["System Theme", "Light Theme", "Dark Theme"]
    assert enabled(window, "View")[:5] == ["Full Screen", "Reset Layout", *themes]
    assert window.actions_["export"].statusTip() == "Open a video, images or a camera first"


def test_entries_of_segments_wait_for_a_selection_as_their_buttons_do(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.open_address(str(write_images(tmp_path / "frames", moving_square(4))))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert enabled(window, "Edit") == ["Preferences…"]
    assert "Add to Object…" not in enabled(window, "Object")
    window.document.display.select({0})
    assert "Rename…" in enabled(window, "Edit")
    assert "Add to Object…" in enabled(window, "Object")
    window.document.display.select(())
    assert enabled(window, "Segmentation") == [
        "Segment Again",
        "Segment Again from This Frame",
        "Compare with Another Run…",
    ]
    assert window.actions_["export"].statusTip() == "Write masks, mattes, movies, tables or volumes"
    (rename,) = (action for action in window.segments.make_menu().actions() if action.iconText() == "Rename")
    assert not rename.isEnabled()
    assert rename.toolTip() == "Select one segment to rename it"


def test_no_two_actions_have_the_same_key() -> None:
    keys = [key for spec in SPECS for key in spec.keys]
    assert sorted(keys) == sorted(set(keys))


def test_a_key_that_the_user_chose_belongs_to_no_other_action(qapp: QApplication, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    settings.setValue("keys/hide", "B")
    actions = Actions(qapp, settings)
    assert actions.key("hide") == "B"
    assert actions.key("tool_brush") == ""
    actions.reset_keys()
    assert actions.key("tool_brush") == "B"

"""Preferences as a user changes them: open the dialog, change one, see the effect, restore the defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import time
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QDockWidget,
    QDoubleSpinBox,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.dialogs import answering, choose_folder
from scstream_app.session import Session
from scstream_app.session.library import Library
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.state import State
from scstream_app.ui.window.help_dialogs import KeysDialog
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.preferences.preferences import PREFERENCES
from scstream_app.ui.window.preferences.preferences_dialog import PreferencesDialog

pytestmark = pytest.mark.slow

LONG = 60_000
MakeWindow = Callable[[], MainWindow]


@pytest.fixture
def make(qtbot: QtBot, settings: QSettings, tmp_path: Path) -> Iterator[MakeWindow]:
    windows = []

    def made() -> MainWindow:
        window = MainWindow(settings, Library(tmp_path / "library"))
        window.document.set_settings(Settings(max_init_sweeps=20, threads=1))
        qtbot.addWidget(window)
        window.show()
        windows.append(window)
        return window

    yield made
    for window in windows:
        # Closing one window may delete the others, which are closed already.
        if shiboken6.isValid(window):
            window.preferences["theme"] = "system"
            window.close()


@pytest.fixture
def window(make: MakeWindow, qtbot: QtBot) -> MainWindow:
    window = make()
    with qtbot.waitActive(window, timeout=LONG):
        window.activateWindow()
    return window


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_images(tmp_path / "frames", moving_square(4))


def opened(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    # The clip before stays open, and done, until this one is.
    with qtbot.waitSignal(window.document.opened, timeout=LONG):
        window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)


def dialog_of(window: MainWindow, qtbot: QtBot) -> PreferencesDialog:
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    return window.findChild(PreferencesDialog)


def control(dialog: QWidget, kind: type[QWidget], label: str) -> Any:
    return next(widget for widget in dialog.findChildren(kind) if widget.accessibleName() == label)


def choose(dialog: PreferencesDialog, label: str, value: Any) -> None:
    box = control(dialog, QComboBox, label)
    box.setCurrentIndex(box.findData(value))


def press(dialog: PreferencesDialog, qtbot: QtBot, name: str) -> None:
    qtbot.mouseClick(dialog.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


# --- how it looks


def test_the_theme_holds_at_once_and_the_menu_knows(window: MainWindow, qtbot: QtBot) -> None:
    choose(dialog_of(window, qtbot), "Theme", "dark")
    assert QApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128
    assert window.actions_["theme_dark"].isChecked()
    window.actions_["theme_light"].trigger()
    assert control(window, QComboBox, "Theme").currentData() == "light"


def test_palette_and_opacity_hold_at_once_and_at_the_next_start(
    window: MainWindow, make: MakeWindow, qtbot: QtBot
) -> None:
    dialog = dialog_of(window, qtbot)
    box = control(dialog, QComboBox, "Segment colours")
    icons = [box.itemIcon(n).pixmap(box.iconSize()).toImage() for n in range(box.count())]
    assert icons[0] != icons[1]
    choose(dialog, "Segment colours", "safe")
    control(dialog, QDoubleSpinBox, "Overlay opacity").setValue(80)
    for shown in (window, make()):
        assert (shown.document.display.look.palette, shown.document.display.look.opacity) == ("safe", 0.8)


def test_layout_is_forgotten_or_reset(window: MainWindow, make: MakeWindow, qtbot: QtBot, clip: Path) -> None:
    opened(window, qtbot, clip)
    dock = window.findChild(QDockWidget, "dock_statistics")
    dock.close()
    dialog = dialog_of(window, qtbot)
    press(dialog, qtbot, "layout")
    assert dock.isVisible()
    control(dialog, QCheckBox, "Remember the window's size and panels").setChecked(False)
    window.resize(900, 555)
    window.close()
    assert make().height() != 555


def test_the_keys_are_one_click_away(window: MainWindow, qtbot: QtBot) -> None:
    press(dialog_of(window, qtbot), qtbot, "keys")
    assert window.findChild(KeysDialog).isVisible()


# --- segmentation


def test_a_clip_waits_for_start(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    dialog = dialog_of(window, qtbot)
    control(dialog, QCheckBox, "Start automatically").setChecked(False)
    dialog.close()
    window.open_address(str(clip))
    start = next(button for button in window.viewer.findChildren(QPushButton))
    qtbot.waitUntil(lambda: start.isVisible() and window.document.state is State.PAUSED, timeout=LONG)
    assert len(window.document.summary) == 0
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert len(window.document.summary) == 4
    assert not start.isVisible()


def test_new_clips_begin_with_the_preset(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    choose(dialog_of(window, qtbot), "Settings of new clips", "Coarse")
    opened(window, qtbot, clip)
    assert window.document.session.manifest.settings.detail == 0.1
    dialog, first = window.findChild(PreferencesDialog), window.document.session
    choose(dialog, "Settings of new clips", "Standard")
    dialog.close()
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.session not in (None, first), timeout=LONG)
    assert window.document.session.manifest.settings.detail == 1.0


def test_threads_are_those_of_the_next_run(window: MainWindow, make: MakeWindow, qtbot: QtBot) -> None:
    dialog = dialog_of(window, qtbot)
    threads = control(dialog, QSpinBox, "Threads")
    assert threads.text() == "one for each core"
    threads.setValue(2)
    assert window.document.settings.threads == 2
    assert window.preferences["threads"] == 2
    threads.setValue(0)
    assert window.document.settings.threads is None


# --- unsaved sessions


def test_sessions_go_to_the_chosen_folder(window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    dialog = dialog_of(window, qtbot)
    browse = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Browse…")
    qtbot.mouseClick(browse, Qt.MouseButton.LeftButton)
    choose_folder(dialog, tmp_path / "elsewhere")
    folder = control(dialog, QLineEdit, "Folder")
    assert folder.text() == str(tmp_path / "elsewhere")
    opened(window, qtbot, clip)
    assert window.document.session.path.parent == tmp_path / "elsewhere"


def left_behind(library: Path, name: str, clip: Path, days: float) -> Path:
    path = library / f"{name}.scstream"
    with open_source(str(clip)) as source, Session.create(path, source, Settings(), unsaved=True):
        pass
    then = time() - days * 86_400
    for entry in (path / "manifest.json", path / "frames.jsonl", path):
        os.utime(entry, (then, then))
    return path


def test_old_sessions_go_at_the_next_start(
    window: MainWindow, make: MakeWindow, qtbot: QtBot, clip: Path, tmp_path: Path
) -> None:
    old, new = (left_behind(tmp_path / "library", name, clip, days) for name, days in (("old", 40), ("new", 5)))
    days = control(dialog_of(window, qtbot), QSpinBox, "Delete after")
    assert days.text() == "never"
    make()
    assert old.exists()
    days.setValue(30)
    assert old.exists()
    make()
    qtbot.waitUntil(lambda: not old.exists(), timeout=LONG)
    assert new.exists()


def test_clearing_asks_and_spares_what_is_open(window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path) -> None:
    opened(window, qtbot, clip)
    other = left_behind(tmp_path / "library", "other", clip, 0)
    dialog = dialog_of(window, qtbot)
    for answer in ("Cancel", "Delete"):
        assert other.exists()
        with answering(qtbot, answer) as asked:
            press(dialog, qtbot, "clear")
            qtbot.waitUntil(lambda asked=asked: bool(asked), timeout=LONG)
        assert asked[0].startswith("Delete 1 unsaved")
    qtbot.waitUntil(lambda: not other.exists(), timeout=LONG)
    qtbot.waitUntil(lambda: window.message.text == "Deleted 1 unsaved session.", timeout=LONG)
    assert window.document.session.path.exists()


# --- all of them


def test_defaults_are_restored(window: MainWindow, qtbot: QtBot) -> None:
    dialog = dialog_of(window, qtbot)
    choose(dialog, "Segment colours", "safe")
    control(dialog, QCheckBox, "Start automatically").setChecked(False)
    control(dialog, QSpinBox, "Delete after").setValue(7)
    buttons = dialog.findChild(QDialogButtonBox)
    qtbot.mouseClick(buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults), Qt.MouseButton.LeftButton)
    assert {name: window.preferences[name] for name in PREFERENCES} == {
        name: spec.default for name, spec in PREFERENCES.items()
    }
    assert window.document.display.look.palette == "vivid"
    assert control(dialog, QCheckBox, "Start automatically").isChecked()
    assert control(dialog, QSpinBox, "Delete after").text() == "never"


@pytest.mark.parametrize(
    ("name", "stored"),
    [("theme", "pink"), ("opacity", "7"), ("opacity", "much"), ("threads", "-3"), ("keep_days", "x")],
)
def test_an_invalid_value_gives_the_default(settings: QSettings, make: MakeWindow, name: str, stored: str) -> None:
    settings.setValue(PREFERENCES[name].key, stored)
    assert make().preferences[name] == PREFERENCES[name].default

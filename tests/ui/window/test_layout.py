"""Panels in full screen, detached and reset, and the pause button and the time left in the status bar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolButton
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.export_scenes import story
from helpers.held_worker import Holding
from helpers.menus import entry_called, menu_called
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status import status_bar

LONG = 60_000
NAMES = ("segments", "objects", "controls", "statistics")


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
        window.open_address(str(finished_session(story((48, 64)))))
    qtbot.waitUntil(window.panels["segments"].isVisible)
    return window


def visible(window: MainWindow) -> set[str]:
    """Names of the panels that can be seen: of tabbed panels, the one in front."""
    return {name for name in NAMES if not window.panels[name].visibleRegion().isEmpty()}


def float_button(window: MainWindow, name: str) -> QAbstractButton:
    return window.panels[name].findChild(QAbstractButton, "qt_dockwidget_floatbutton")


def choose(window: MainWindow, qtbot: QtBot, menu: str, entry: str) -> None:
    found = menu_called(window, menu)
    found.popup(window.pos())
    where = found.actionGeometry(entry_called(found, entry)).center()
    qtbot.mouseClick(found, Qt.MouseButton.LeftButton, pos=where)


def test_full_screen_hides_the_panels_and_shows_them_as_they_were(opened: MainWindow, qtbot: QtBot) -> None:
    opened.panels["controls"].close()
    opened.panels["objects"].raise_()
    qtbot.waitUntil(lambda: visible(opened) == {"objects", "statistics"})
    qtbot.keyClick(opened, Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: opened.isFullScreen() and not visible(opened))
    qtbot.waitUntil(lambda: opened.viewer.width() > 0.9 * opened.width())
    qtbot.keyClick(opened, Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: visible(opened) == {"objects", "statistics"})
    assert opened.panels["controls"].isHidden()


def test_a_clip_opened_in_full_screen_gets_its_panels_afterwards(
    window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]
) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F11)
    qtbot.waitUntil(window.isFullScreen)
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
        window.open_address(str(finished_session(story((48, 64)))))
    assert not visible(window)
    qtbot.keyClick(window.viewer, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: visible(window) == {"segments", "statistics"})


def test_detached_panels_do_not_cover_each_other_and_reset_layout_docks_them(opened: MainWindow, qtbot: QtBot) -> None:
    for name in ("segments", "objects", "controls"):
        opened.panels[name].raise_()
        qtbot.waitUntil(lambda name=name: name in visible(opened))
        qtbot.mouseClick(float_button(opened, name), Qt.MouseButton.LeftButton)
        assert opened.panels[name].isFloating()
    places = [opened.panels[name].pos() for name in ("segments", "objects", "controls")]
    pairs = [(places[0], places[1]), (places[0], places[2]), (places[1], places[2])]
    assert all((first - second).manhattanLength() >= 32 for first, second in pairs)
    choose(opened, qtbot, "View", "Reset Layout")
    qtbot.waitUntil(lambda: visible(opened) == {"segments", "statistics"})
    assert not any(opened.panels[name].isFloating() for name in NAMES)


def test_a_panel_is_hidden_by_its_menu_entry_and_shown_by_the_key_it_was_given(
    opened: MainWindow, qtbot: QtBot
) -> None:
    choose(opened, qtbot, "View", "Statistics")
    qtbot.waitUntil(lambda: visible(opened) == {"segments"})
    assert not opened.actions_["panel_statistics"].isChecked()
    opened.actions_.set_keys("panel_statistics", ["Ctrl+T"])
    qtbot.keyClick(opened, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: visible(opened) == {"segments", "statistics"})
    assert opened.actions_["panel_statistics"].isChecked()


def test_a_button_beside_the_progress_pauses_and_resumes(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count()
    monkeypatch.setattr(status_bar, "monotonic", lambda: float(next(ticks)))
    # Time left is estimated from some frames, and shown if there are many more.
    Holding(window.document.run.worker, 12)
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(24))))
    bar = window.statusBar()
    button, state = bar.findChild(QToolButton, "pauseSegmenting"), bar.findChild(QLabel, "state")
    left = next(label for label in bar.findChildren(QLabel) if label.accessibleName() == "Time left")
    qtbot.waitUntil(lambda: left.text().endswith(" left"), timeout=LONG)
    assert button.toolTip() == "Pause segmentation (Shift+Space)"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.document.state is State.PAUSED, timeout=LONG)
    assert state.text() == "Segmentation paused"
    assert left.text() == ""
    assert button.toolTip() == "Resume segmentation (Shift+Space)"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert not button.isVisible()
    assert left.text() == ""

"""The line at the bottom of the window: it says how segmentation is paused."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

LONG = 20_000


def told(window: MainWindow) -> QLabel:
    """What says how far segmentation is."""
    return window.statusBar().findChild(QLabel, "state")


def test_a_key_pauses_segmentation_and_the_status_bar_says_which(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.open_address(str(write_video(tmp_path / "long.mp4", moving_square(200, width=160))))
    qtbot.waitUntil(lambda: window.document.state is State.SEGMENTING, timeout=LONG)
    assert told(window).toolTip() == "Pause segmentation (Shift+Space)"
    qtbot.keyClick(window.viewer, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: window.document.state is State.PAUSED, timeout=LONG)
    assert told(window).text() == "Segmentation paused"
    assert told(window).toolTip() == "Go on with segmentation (Shift+Space)"
    assert not window.player.playing
    window.actions_.set_keys("pause_segmenting", ["Ctrl+P"])
    assert told(window).toolTip() == "Go on with segmentation (Ctrl+P)"
    qtbot.keyClick(window.viewer, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.document.state is not State.PAUSED, timeout=LONG)
    window.actions_.set_keys("pause_segmenting", [])
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert told(window).toolTip() == ""

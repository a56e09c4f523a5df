"""Tests of the status bar: state of segmentation and its pause shortcut."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import Holding
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000


def state_label(window: MainWindow) -> QLabel:
    """Label with the state of segmentation."""
    return window.statusBar().findChild(QLabel, "state")


def test_a_shortcut_pauses_segmentation_and_the_tooltip_names_it(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    Holding(window.document.run.worker, 3)
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(6))))
    qtbot.waitUntil(lambda: len(window.document.summary) == 3, timeout=LONG)
    assert state_label(window).toolTip() == "Pause segmentation (Shift+Space)"
    qtbot.keyClick(window.viewer, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: window.document.state is State.PAUSED, timeout=LONG)
    assert state_label(window).text() == "Segmentation paused"
    assert state_label(window).toolTip() == "Resume segmentation (Shift+Space)"
    assert not window.player.playing
    window.actions_.set_keys("pause_segmenting", ["Ctrl+P"])
    assert state_label(window).toolTip() == "Resume segmentation (Ctrl+P)"
    qtbot.keyClick(window.viewer, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.document.state is not State.PAUSED, timeout=LONG)
    window.actions_.set_keys("pause_segmenting", [])
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert state_label(window).toolTip() == ""

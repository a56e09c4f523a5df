"""Tests of the application process: its memory, and its messages where there is no console."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from scstream_app import __main__ as program
from scstream_app.ui.qt.dialogs import display

_SCRIPT = """
import resource, threading
import numpy as np
from scstream_app.render import views
from scstream_app.ui.window.startup.app import application

application()
rgb = np.zeros((480, 854, 3), np.uint8)
ids = np.zeros((480, 854), np.int32)

def draw():
    pictures = [views.overlay(rgb, ids) for _ in range(4)]
    begin = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(20):
        pictures = [*pictures[1:], views.overlay(rgb, ids)]
    print((resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - begin) / 20)

thread = threading.Thread(target=draw)
thread.start()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other ways to keep memory")
def test_drawing_frame_after_frame_fetches_no_memory_anew() -> None:
    """A picture of this size has 300 pages, and drawing an overlay takes several steps."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 100.0


Start = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def start(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Function that starts the program without a console; returns its exit code and the texts of message boxes."""
    texts: list[str] = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: texts.append(box.text()))

    def run(*arguments: str) -> tuple[int, list[str]]:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["scstream-studio", *arguments])
            patch.setattr(sys, "stdout", None)
            patch.setattr(sys, "stderr", None)
            return program.window(), texts

    return run


def test_without_a_console_a_message_box_shows_the_failure(start: Start) -> None:
    text = "The window takes one source or several images, and no options, got '--out'. See 'scstream segment --help'."
    assert start("./clip.mp4", "--out") == (2, [text])


def test_without_a_console_an_unforeseen_failure_is_shown_too(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(address: str | None = None) -> int:
        raise FileNotFoundError("'icon.svg' is not installed with the program")

    monkeypatch.setattr("scstream_app.ui.window.startup.app.run", fail)
    text = "Unexpected error: FileNotFoundError: 'icon.svg' is not installed with the program."
    assert start() == (1, [text])


def test_success_shows_no_box(start: Start) -> None:
    assert start("--version") == (0, [])


def test_without_a_display_there_is_no_box(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "has_display", lambda: False)
    assert start() == (1, [])


def test_with_a_console_messages_stay_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["scstream-studio", "./clip.mp4", "--out"])
    assert program.window() == 2
    assert "got '--out'" in capsys.readouterr().err

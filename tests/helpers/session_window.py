"""Open clips in a window, mark them, and save their sessions."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from helpers.held_worker import Holding
from scstream_app.session import Names, Session
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions import session_saver
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000


def wait_for(window: MainWindow, qtbot: QtBot, name: str, count: int) -> Path:
    """Wait until a clip is fully segmented; returns the path of its session."""

    def done() -> bool:
        document = window.document
        rests = document.state is State.DONE and not document.saving and not window.opening.preparer.name
        return rests and document.facts.name == name and len(document.summary) == count

    qtbot.waitUntil(done, timeout=LONG)
    return window.document.session.path


def opened(window: MainWindow, qtbot: QtBot, clip: Path, count: int = 6) -> Path:
    """Open a clip and wait until it is fully segmented; returns the path of its session."""
    window.open_address(str(clip))
    return wait_for(window, qtbot, clip.name, count)


def begun(window: MainWindow, qtbot: QtBot, clip: Path) -> Path:
    """Wait until a clip is being segmented; returns the path of its session."""
    Holding(window.document.run.worker, 2)
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: len(window.document.summary) >= 2, timeout=LONG)
    assert window.document.state is State.SEGMENTING
    return window.document.session.path


def name_one(window: MainWindow) -> None:
    """Give a segment a name."""
    window.document.set_names(Names(names={0: "sea"}))


def answer_save(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Have the Save dialog answered with this path."""
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def hold_moving(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Event that moves of sessions wait for."""
    go_on, real = threading.Event(), session_saver.move_session
    monkeypatch.setattr(session_saver, "move_session", lambda *paths: go_on.wait(LONG / 1000) and real(*paths))
    return go_on


def frames_of(path: Path) -> int:
    """Number of frames in a session."""
    with Session.open(path) as session:
        return len(session)

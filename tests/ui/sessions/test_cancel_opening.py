"""Tests of cancelled openings, and of clips opened while the previous one is still closing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QProgressBar
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.compiling import Compiling, said_below
from helpers.held_worker import Holding
from scstream_app.session import Session
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status import status_bar

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", moving_square(12))


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch, window: MainWindow) -> Iterator[Compiling]:
    compiling = Compiling()
    monkeypatch.setattr("scstream.warm_up", compiling)
    yield compiling
    compiling.go.set()


@pytest.fixture
def settling(window: MainWindow) -> Iterator[Event]:
    """Event that the first frame waits for after its first preview."""
    go = Event()
    window.document.run.worker.previewed.connect(lambda: go.wait(LONG / 1000), Qt.ConnectionType.DirectConnection)
    yield go
    go.set()


def close(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    assert window.welcome.isVisible()


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "library").iterdir())


# --- cancelled openings


@pytest.mark.parametrize("state", [State.WARMING, State.SETTLING])
def test_a_clip_that_is_closed_before_its_first_frame_leaves_nothing(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, compiling: Compiling, settling: Event, state: State
) -> None:
    if state is State.SETTLING:
        compiling.go.set()
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is state, timeout=LONG)
    assert len(left(tmp_path)) == 1
    close(window, qtbot)
    compiling.go.set()
    settling.set()
    qtbot.waitUntil(lambda: not (window.document.run.busy or left(tmp_path)), timeout=LONG)
    assert not window.message.isVisible()


def test_a_clip_that_is_closed_before_it_is_open_leaves_nothing(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path
) -> None:
    made = Event()
    window.document.run.worker.opened.connect(lambda *_: made.set(), Qt.ConnectionType.DirectConnection)
    window.open_address(str(clip))
    # No events reach the window's thread meanwhile.
    assert made.wait(LONG / 1000)
    close(window, qtbot)
    qtbot.waitUntil(lambda: not (window.document.run.busy or left(tmp_path)), timeout=LONG)


def test_a_window_that_is_closed_before_the_first_frame_leaves_nothing(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, settling: Event
) -> None:
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.SETTLING, timeout=LONG)
    QTimer.singleShot(0, settling.set)
    assert window.close()
    assert left(tmp_path) == []


def test_a_clip_without_a_frame_that_is_being_saved_is_saved(
    window: MainWindow,
    qtbot: QtBot,
    clip: Path,
    tmp_path: Path,
    compiling: Compiling,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "mine.scstream"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.WARMING, timeout=LONG)
    window.actions_["save"].trigger()
    compiling.go.set()
    qtbot.waitUntil(lambda: window.document.state is State.DONE and len(window.document.summary) == 12, timeout=LONG)
    assert window.document.session.path == target
    assert left(tmp_path) == []


def test_a_session_that_is_closed_before_it_is_open_again_stays(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    path = window.document.session.path
    close(window, qtbot)
    made = Event()
    window.document.run.worker.opened.connect(lambda *_: made.set(), Qt.ConnectionType.DirectConnection)
    window.open_address(str(path))
    assert made.wait(LONG / 1000)
    close(window, qtbot)
    qtbot.waitUntil(lambda: not window.document.run.busy, timeout=LONG)
    assert len(Session.open(path)) == 12


# --- while the engine is compiled for a closed clip


def test_waiting_for_the_compiler_is_shown_at_once(
    window: MainWindow,
    qtbot: QtBot,
    clip: Path,
    other: Path,
    compiling: Compiling,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(status_bar, "_LONG", 600_000)
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.WARMING, timeout=LONG)
    close(window, qtbot)
    assert "Preparing the engine…" not in said_below(window)
    window.open_address(str(other))
    assert window.viewer.isVisible()
    assert window.document.state is State.WARMING
    assert "Preparing the engine…" in said_below(window)
    bar = window.statusBar().findChild(QProgressBar)
    assert (bar.isVisible(), bar.value(), bar.maximum()) == (True, 2, 5)
    pages: list[bool] = []
    window.document.state_changed.connect(lambda: pages.append(window.welcome.isVisible()))
    compiling.go.set()
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert window.document.facts.name == "other.mp4"
    assert not any(pages)


def test_compiling_is_shown_when_it_takes_long(
    window: MainWindow,
    qtbot: QtBot,
    clip: Path,
    other: Path,
    compiling: Compiling,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(status_bar, "_LONG", 1)
    window.open_address(str(clip))
    qtbot.waitUntil(compiling.begun.is_set, timeout=LONG)
    close(window, qtbot)
    window.open_address(str(other))
    qtbot.waitUntil(lambda: any("compiling" in text for text in said_below(window)), timeout=LONG)
    # Else the window would wait for it when it is closed.
    compiling.go.set()


def test_what_waits_for_the_compiler_can_be_called_off(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path, compiling: Compiling
) -> None:
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.WARMING, timeout=LONG)
    close(window, qtbot)
    window.open_address(str(other))
    assert window.document.state is State.WARMING
    close(window, qtbot)
    assert window.document.state is State.EMPTY
    compiling.go.set()
    qtbot.waitUntil(lambda: not window.document.run.busy, timeout=LONG)
    assert window.document.state is State.EMPTY
    assert window.welcome.isVisible()
    qtbot.waitUntil(lambda: left(tmp_path) == [], timeout=LONG)


def test_a_clip_that_has_to_wait_for_a_frame_is_being_opened(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, other: Path
) -> None:
    Holding(window.document.run.worker, 2)
    window.open_address(str(write_video(tmp_path / "long.mp4", moving_square(16))))
    qtbot.waitUntil(lambda: len(window.document.summary) >= 2, timeout=LONG)
    with qtbot.waitSignal(window.opening.began, timeout=LONG):
        window.open_address(str(other))
    assert window.document.run.busy
    assert window.document.state is State.OPENING
    assert "Opening…" in said_below(window)
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert window.document.facts.name == "other.mp4"

"""Tests of closing the window while a source or disk hangs: one time limit, and written data is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import Holding
from scstream_app import thumbnails
from scstream_app.session import Session
from scstream_app.session.storage import measures
from scstream_app.sources import Source, open_source
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import renderer, segmentation_worker
from scstream_app.ui.sessions import shutdown
from scstream_app.ui.sessions.shutdown import ShutdownDialog
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.welcome import welcome_lists

pytestmark = pytest.mark.slow

LONG = 60_000


class Hanging:
    """Source that hangs while it is opened, until the test sets ``go``."""

    def __init__(self) -> None:
        self.go, self.begun = Event(), Event()

    def __call__(self, address: str) -> Source:
        self.begun.set()
        assert self.go.wait(LONG / 1000)
        return open_source(address)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch, window: MainWindow, qtbot: QtBot) -> Iterator[Hanging]:
    """Hanging source with short time limits; it continues after the test, so that its thread ends."""
    monkeypatch.setattr(shutdown, "_PATIENCE", 1.0)
    monkeypatch.setattr(shutdown, "_UNUSUAL", 0.0)
    monkeypatch.setattr(shutdown, "_GRACE", 0.1)
    hanging = Hanging()
    yield hanging
    hanging.go.set()
    assert window.document.shut_down()


@pytest.fixture
def session(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> Path:
    """Closed session with some segmented frames."""
    document = window.document
    Holding(document.run.worker, 3)
    window.open_address(str(write_video(tmp_path / "long.mp4", moving_square(16))))
    qtbot.waitUntil(lambda: len(document.summary) >= 3, timeout=LONG)
    path = document.session.path
    window.actions_["close"].trigger()
    qtbot.waitUntil(lambda: not document.run.busy, timeout=LONG)
    return path


@pytest.fixture
def lines(window: MainWindow) -> Iterator[set[str]]:
    """All lines that the shutdown dialog shows."""
    lines: set[str] = set()

    def look() -> None:
        for dialog in window.findChildren(ShutdownDialog):
            if dialog.isVisible():
                lines.update(dialog.text.splitlines())

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(5)
    yield lines
    timer.stop()


def test_segmentation_that_hangs_is_given_up_and_what_was_written_kept(
    window: MainWindow,
    qtbot: QtBot,
    session: Path,
    hanging: Hanging,
    lines: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = segmentation_worker.resume

    def resume(*given: Any) -> Any:
        hanging.begun.set()
        assert hanging.go.wait(LONG / 1000)
        return real(*given)

    monkeypatch.setattr(segmentation_worker, "resume", resume)
    window.open_address(str(session))
    qtbot.waitUntil(lambda: hanging.begun.is_set() and len(window.document.summary) >= 3, timeout=LONG)
    frames = len(window.document.summary)
    undo_commands.make_object(window.document, "kite", [0])
    assert window.close()
    assert not window.isVisible()
    assert not window.ended
    assert not hanging.go.is_set()
    assert "Ending the segmentation" in lines
    assert any("is given up in 1 s. Everything written so far is kept." in line for line in lines)
    # The lock is released.
    with Session.open(session, writable=True) as kept:
        assert len(kept) == frames
        assert [thing.name for thing in kept.objects] == ["kite"]
        assert kept.bookmark is not None


def test_closing_does_not_wait_for_a_source_that_hangs(
    window: MainWindow, qtbot: QtBot, session: Path, hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmentation_worker, "open_source", hanging)
    window.open_address(str(session))
    qtbot.waitUntil(lambda: hanging.begun.is_set() and len(window.document.summary) >= 3, timeout=LONG)
    assert window.close()
    assert window.ended
    assert not hanging.go.is_set()


def test_closing_does_not_wait_for_an_unreadable_frame(
    window: MainWindow,
    qtbot: QtBot,
    session: Path,
    hanging: Hanging,
    lines: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(renderer, "open_source", hanging)
    window.open_address(str(session))
    qtbot.waitUntil(lambda: hanging.begun.is_set() and window.document.state is State.DONE, timeout=LONG)
    assert window.close()
    assert not window.ended
    assert "Reading a frame" in lines
    assert len(Session.open(session)) == 16


def test_closing_does_not_wait_for_a_hanging_folder_listing(
    window: MainWindow, qtbot: QtBot, hanging: Hanging, lines: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(welcome_lists, "describe_unsaved", lambda _library: hanging(""))
    window.welcome.refresh()
    qtbot.waitUntil(hanging.begun.is_set, timeout=LONG)
    assert window.close()
    assert not window.ended
    assert "Looking for sessions" in lines


def test_closing_does_not_wait_for_the_picture_of_a_clip_that_hangs(
    window: MainWindow, qtbot: QtBot, hanging: Hanging, lines: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def thumbnail(address: str) -> None:
        hanging.begun.set()
        hanging.go.wait(LONG / 1000)

    monkeypatch.setattr(thumbnails, "thumbnail", thumbnail)
    window._centre.thumbnails.load("clip.mp4")
    qtbot.waitUntil(hanging.begun.is_set, timeout=LONG)
    assert window.close()
    assert not window.ended
    assert "Reading pictures of clips" in lines
    hanging.go.set()
    assert window._centre.thumbnails.stop(LONG)


@pytest.fixture
def held(
    window: MainWindow, qtbot: QtBot, session: Path, hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hanging]:
    """Open session that a writer to a hanging disk keeps locked."""
    window.open_address(str(session))
    qtbot.waitUntil(
        lambda: window.document.state is State.DONE and not window.document.measure_worker.busy, timeout=LONG
    )
    kept = window.document.session

    def hang(*_: object) -> None:
        hanging.begun.set()
        assert hanging.go.wait(LONG / 1000)

    monkeypatch.setattr(measures, "append", hang)
    writer = Thread(target=kept.add_measures, args=({},))
    writer.start()
    assert hanging.begun.wait(LONG / 1000)
    yield hanging
    hanging.go.set()
    writer.join()


def test_closing_does_not_wait_for_a_locked_session(window: MainWindow, held: Hanging, lines: set[str]) -> None:
    assert window.close()
    assert not held.go.is_set()
    assert not window.ended
    assert "Closing the session" in lines
    assert any("is given up in 1 s. Everything written so far is kept." in line for line in lines)


def test_what_is_opened_meanwhile_waits_until_the_session_is_closed(
    window: MainWindow, qtbot: QtBot, session: Path, held: Hanging, tmp_path: Path
) -> None:
    with qtbot.waitSignal(window.opening.began, timeout=LONG):
        window.open_address(str(write_video(tmp_path / "other.mp4", moving_square(4))))
    assert not held.go.is_set()
    assert window.document.state is State.OPENING
    held.go.set()
    qtbot.waitUntil(lambda: window.document.state is State.DONE and len(window.document.summary) == 4, timeout=LONG)
    with Session.open(session, writable=True) as kept:
        assert len(kept) == 16


def test_a_locked_session_is_saved_when_the_lock_is_released(
    window: MainWindow, qtbot: QtBot, held: Hanging, tmp_path: Path
) -> None:
    target = tmp_path / "kept.scstream"
    window.saving.save_to(target)
    assert window.document.run.busy
    held.go.set()
    qtbot.waitUntil(lambda: window.document.state is State.DONE and not window.document.saving, timeout=LONG)
    assert window.document.session.path == target
    assert len(window.document.summary) == 16


def test_a_clip_that_hangs_before_its_first_frame_leaves_nothing(
    window: MainWindow, qtbot: QtBot, hanging: Hanging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scstream.warm_up", lambda *_: hanging.begun.set() or hanging.go.wait(LONG / 1000))
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(4))))
    qtbot.waitUntil(lambda: hanging.begun.is_set() and window.document.session is not None, timeout=LONG)
    assert window.close()
    assert not window.ended
    assert list((tmp_path / "library").iterdir()) == []


def test_where_nothing_hangs_all_has_ended(window: MainWindow, session: Path, lines: set[str]) -> None:
    window.open_address(str(session))
    assert window.close()
    assert window.ended
    assert not any("given up" in line for line in lines)

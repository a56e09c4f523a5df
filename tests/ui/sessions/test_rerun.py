"""Tests of segmenting again: the question names the marks that are not transferred."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.dialogs import answering
from helpers.held_worker import Holding
from scstream_app.session import Names, Session
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions.rerun import rerun
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """Window with a segmented clip."""
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(6))))
    done(window, qtbot)
    return window


def done(window: MainWindow, qtbot: QtBot, but: Path | None = None) -> None:
    document = window.document
    qtbot.waitUntil(
        lambda: document.state is State.DONE and len(document.summary) == 6 and document.session.path != but,
        timeout=LONG,
    )


def test_objects_that_stay_with_the_old_session_are_named(opened: MainWindow, qtbot: QtBot) -> None:
    first = opened.document.session.path
    undo_commands.make_object(opened.document, "kite", [0])
    with answering(qtbot, "Segment Again") as asked:
        opened.actions_["restart"].trigger()
    assert "Your object 'kite' cannot be transferred" in asked[0]
    assert "'Unsaved sessions'" in asked[0]
    done(opened, qtbot, but=first)
    assert opened.document.objects == ()
    assert [thing.name for thing in Session.open(first).objects] == ["kite"]
    opened.actions_["close"].trigger()
    recovered = opened.welcome.unsaved
    qtbot.waitUntil(lambda: recovered.isVisible() and recovered.count() == 2, timeout=LONG)
    assert "kite" in recovered.item(1).text() + recovered.item(0).text()


def test_the_button_of_the_controls_asks_as_well_and_no_means_no(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.document.session
    undo_commands.rename(opened.document, 0, "sea")
    button = next(button for button in opened.controls.findChildren(QPushButton) if button.text() == "Restart")
    with answering(qtbot, "Cancel") as asked:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "The names, colours and visibility of segments cannot be transferred" in asked[0]
    assert opened.document.session is session
    assert opened.document.names == Names({0: "sea"})


def test_a_saved_session_is_named_by_its_path(opened: MainWindow, qtbot: QtBot) -> None:
    (opened.document.session.path / "unsaved").unlink()
    undo_commands.make_object(opened.document, "kite", [0])
    with answering(qtbot, "Cancel") as asked:
        opened.actions_["restart"].trigger()
    assert f"'{opened.document.session.path}'" in asked[0]


@pytest.fixture
def paused(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """Window with a clip that is not fully segmented yet."""
    document = window.document
    Holding(document.run.worker, 2)
    window.open_address(str(write_video(tmp_path / "long.mp4", moving_square(16))))
    qtbot.waitUntil(lambda: len(document.summary) >= 2, timeout=LONG)
    window.actions_["pause_segmenting"].trigger()
    assert document.state is State.PAUSED
    return window


def test_locks_are_named(paused: MainWindow, qtbot: QtBot) -> None:
    session = paused.document.session
    paused.document.display.select({0})
    paused.actions_["lock"].trigger()
    with answering(qtbot, "Cancel") as asked:
        paused.actions_["restart"].trigger()
    assert "run. One lock cannot be transferred. They stay with the session" in asked[0]
    assert paused.document.session is session


def test_merges_of_a_reopened_session_are_named(paused: MainWindow, qtbot: QtBot) -> None:
    document = paused.document
    document.display.select(sorted(document.summary.lives)[:2])
    paused.actions_["merge"].trigger()
    paused.actions_["pause_segmenting"].trigger()
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    path = document.session.path
    paused.actions_["close"].trigger()
    paused.open_address(str(path))
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index is not None, timeout=LONG)
    with answering(qtbot, "Cancel") as asked:
        paused.actions_["restart"].trigger()
    assert "2 locks and merges made manually cannot be transferred" in asked[0]


def test_nothing_is_asked_where_nothing_was_marked(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerun, "confirm", lambda *_: pytest.fail("nothing is to be asked"))
    first = opened.document.session.path
    opened.actions_["restart"].trigger()
    done(opened, qtbot, but=first)

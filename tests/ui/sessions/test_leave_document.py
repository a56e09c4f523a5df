"""Tests of closing a document: a name being typed and a session worth keeping are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QTableView
from pytestqt.qtbot import QtBot

from helpers.dialogs import answering
from helpers.session_window import answer_save
from scstream_app.errors import StudioError
from scstream_app.session import Session
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions import session_saver
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000
CTRL = Qt.KeyboardModifier.ControlModifier


def done(window: MainWindow, qtbot: QtBot, frames: int = 6, but: Path | None = None) -> Path:
    """Wait until a session has this many frames and shows them; returns its path."""
    document = window.document
    qtbot.waitUntil(
        lambda: document.state is State.DONE and document.display.index == frames - 1 and document.session.path != but,
        timeout=LONG,
    )
    return document.session.path


# --- names being typed


@pytest.fixture
def typing(window: MainWindow, qtbot: QtBot, clip: Path) -> Path:
    """Type a name without pressing Enter; returns the path of the session."""
    window.open_address(str(clip))
    path = done(window, qtbot)
    table = window.segments.findChild(QTableView)
    qtbot.waitUntil(lambda: table.model().row(0) is not None, timeout=LONG)
    window.document.display.select({0})
    window.actions_["rename"].trigger()
    editor = table.viewport().findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "sky")
    return path


def names(path: Path) -> dict[int, str]:
    with Session.open(path) as session:
        return dict(session.names.names)


def close_clip(window: MainWindow, qtbot: QtBot, other: Path) -> None:
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL)


def close_window(window: MainWindow, qtbot: QtBot, other: Path) -> None:
    assert window.close()


def open_another(window: MainWindow, qtbot: QtBot, other: Path) -> None:
    window.open_address(str(other))
    done(window, qtbot, frames=4)
    assert window.document.names.names == {}


@pytest.mark.parametrize("leave", [close_clip, close_window, open_another])
def test_a_name_that_is_being_typed_is_kept(
    window: MainWindow,
    qtbot: QtBot,
    typing: Path,
    other: Path,
    leave: Callable[[MainWindow, QtBot, Path], None],
) -> None:
    leave(window, qtbot, other)
    assert window.close()
    assert names(typing) == {0: "sky"}


def test_segmenting_again_mentions_a_name_being_typed(window: MainWindow, qtbot: QtBot, typing: Path) -> None:
    with answering(qtbot, "Segment Again") as asked:
        window.actions_["restart"].trigger()
    assert "The names, colours and visibility of segments cannot be transferred" in asked[0]
    done(window, qtbot, but=typing)
    assert window.document.names.names == {}
    assert window.close()
    assert names(typing) == {0: "sky"}


# --- unsaved sessions


@pytest.fixture
def edited(window: MainWindow, qtbot: QtBot, clip: Path, settings: QSettings) -> Path:
    """Make an object, in a window that was never closed before; returns the path of the session."""
    settings.remove("hints/kept")
    window.open_address(str(clip))
    path = done(window, qtbot)
    undo_commands.make_object(window.document, "thing", [0])
    return path


def test_closing_on_unsaved_work_says_once_that_it_is_kept(
    window: MainWindow, qtbot: QtBot, edited: Path, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(qtbot, "Cancel") as asked:
        assert not window.close()
    assert asked == ["Your work is kept. Find it under Unsaved sessions when the program starts again."]
    with answering(qtbot, "Close"):
        assert window.close()
    with Session.open(edited) as session:
        assert [one.name for one in session.objects] == ["thing"]
    monkeypatch.setattr(QMessageBox, "exec", lambda box: pytest.fail(f"asked: {box.text()}"))
    again = MainWindow(settings, window.library)
    qtbot.addWidget(again)
    again.open_address(str(edited))
    done(again, qtbot)
    assert again.close()


def test_nothing_is_said_about_work_that_the_program_did(
    window: MainWindow, qtbot: QtBot, edited: Path, monkeypatch: pytest.MonkeyPatch, other: Path
) -> None:
    monkeypatch.setattr(QMessageBox, "exec", lambda box: pytest.fail(f"asked: {box.text()}"))
    window.open_address(str(other))
    done(window, qtbot, frames=4)
    assert window.close()


def test_unsaved_work_can_be_saved_while_closing(
    window: MainWindow, qtbot: QtBot, edited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.scstream"
    answer_save(monkeypatch, target)
    with answering(qtbot, "Save…"):
        window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=LONG)
    assert not edited.exists()
    with Session.open(target) as session:
        assert [one.name for one in session.objects] == ["thing"]


@pytest.mark.parametrize("failure", ["cancelled", "disk full"])
def test_the_window_stays_open_if_saving_while_closing_fails(
    window: MainWindow, qtbot: QtBot, edited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    def fail(*_: object) -> None:
        raise StudioError("No space is left.")

    with monkeypatch.context() as patched:
        patched.setattr(session_saver, "move_session", fail)
        answer_save(patched, "" if failure == "cancelled" else tmp_path / "mine.scstream")
        with answering(qtbot, "Save…"):
            assert not window.close()
        if failure == "disk full":
            qtbot.waitUntil(lambda: window.message.text == "No space is left.", timeout=LONG)
    assert window.isVisible()
    assert edited.exists()
    # Who saves later wants to go on.
    with qtbot.waitSignal(window.saving.saved, timeout=LONG):
        window.saving.save_to(tmp_path / "later.scstream")
    QApplication.processEvents()
    assert window.isVisible()


def test_looking_at_segments_alone_is_no_reason_to_keep_a_session(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path
) -> None:
    window.open_address(str(clip))
    first = done(window, qtbot)
    undo_commands.isolate(window.document, {0})
    assert window.document.display.isolated == {0}
    window.open_address(str(other))
    done(window, qtbot, frames=4)
    qtbot.waitUntil(lambda: not first.exists(), timeout=LONG)


def test_a_name_that_was_undone_is_reason_to_keep_it(
    window: MainWindow, qtbot: QtBot, typing: Path, other: Path
) -> None:
    qtbot.keyClick(window.segments.findChild(QTableView).viewport().findChild(QLineEdit), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.document.names.names == {0: "sky"}, timeout=LONG)
    window.actions_["undo"].trigger()
    assert window.document.names.names == {}
    window.open_address(str(other))
    done(window, qtbot, frames=4)
    assert window.close()
    assert names(typing) == {}


@pytest.fixture
def stopped(window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Session whose first frame cannot be segmented; returns its path."""

    def fail(*_: object) -> None:
        raise StudioError("the share is gone")

    with monkeypatch.context() as patched:
        patched.setattr("scstream.warm_up", fail)
        window.open_address(str(clip))
        qtbot.waitUntil(lambda: window.document.state is State.STOPPED, timeout=LONG)
    return window.document.session.path


def test_a_session_without_a_frame_goes_on_when_it_is_opened_again(
    window: MainWindow, qtbot: QtBot, stopped: Path
) -> None:
    window.open_address(str(stopped))
    assert done(window, qtbot) == stopped
    assert not window.message.isVisible()
    assert window.close()
    assert len(Session.open(stopped)) == 6


def test_a_session_without_a_frame_goes_when_it_is_closed(window: MainWindow, qtbot: QtBot, stopped: Path) -> None:
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL)
    qtbot.waitUntil(lambda: not stopped.exists(), timeout=LONG)


def test_what_was_closed_stays_when_the_window_is_closed_as_well(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    window.open_address(str(clip))
    path = done(window, qtbot)
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL)
    assert window.close()
    assert len(Session.open(path)) == 6

"""Tests of saving sessions: while something else goes on, as a copy, under which name, and where it fails."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QProgressDialog, QPushButton
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.dialogs import answering
from helpers.session_window import LONG, answer_save, begun, frames_of, hold_moving, name_one, opened, wait_for
from scstream_app.session import Session
from scstream_app.session.library import is_unsaved
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.dialogs import folders
from scstream_app.ui.sessions import session_saver
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow


# --- while something else goes on


def test_saving_while_segmenting_goes_on_there(
    window: MainWindow, qtbot: QtBot, long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = begun(window, qtbot, long), tmp_path / "mine.scstream"
    answer_save(monkeypatch, target)
    window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "long.mp4", 16) == target
    assert not path.exists()
    assert not is_unsaved(target)
    assert window.message.text == f"Saved in '{target}'."


def test_a_session_that_is_being_saved_is_saved_though_the_window_is_closed(
    window: MainWindow, qtbot: QtBot, long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = begun(window, qtbot, long), tmp_path / "mine.scstream"
    answer_save(monkeypatch, target)
    window.actions_["save"].trigger()
    window.close()
    assert not path.exists()
    assert frames_of(target) >= 2


def test_what_is_opened_while_another_is_being_saved_stays_open(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    target, go_on = tmp_path / "mine.scstream", hold_moving(monkeypatch)
    answer_save(monkeypatch, target)
    window.actions_["save"].trigger()
    window.open_address(str(path))
    assert window.message.text == f"'{path.name}' is being saved."
    opened(window, qtbot, other, 4)
    go_on.set()
    qtbot.waitUntil(lambda: window.message.text == f"Saved in '{target}'.", timeout=LONG)
    assert window.document.facts.name == "other.mp4"
    assert frames_of(target) == 6
    assert str(target) in window.addresses.recent()


def test_what_is_closed_while_it_is_saved_stays_closed(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    go_on = hold_moving(monkeypatch)
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    window.actions_["close"].trigger()
    assert window.welcome.isVisible()
    go_on.set()
    qtbot.waitUntil(lambda: window.message.text.startswith("Saved in"), timeout=LONG)
    assert window.document.state is State.EMPTY
    assert not path.exists()
    assert frames_of(tmp_path / "mine.scstream") == 6


def test_the_window_does_not_wait_while_a_session_is_moved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    threads: list[threading.Thread] = []
    monkeypatch.setattr(session_saver, "move_session", lambda *_: threads.append(threading.current_thread()))
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: bool(threads), timeout=LONG)
    assert threads[0] is not threading.main_thread()


# --- copies


def test_save_as_leaves_the_saved_session_and_continues_with_a_copy(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first.scstream", tmp_path / "second.scstream"
    unsaved = opened(window, qtbot, clip)
    for target, action in ((first, "save"), (second, "save_as")):
        answer_save(monkeypatch, target)
        window.actions_[action].trigger()
        assert wait_for(window, qtbot, "clip.mp4", 6) == target
    assert not unsaved.exists()
    name_one(window)
    window.actions_["close"].trigger()
    for path, names in ((first, {}), (second, {0: "sea"})):
        with Session.open(path) as session:
            assert len(session) == 6
            assert session.names.names == names
        assert not is_unsaved(path)
    assert window.addresses.recent()[:2] == [str(second), str(first)]


def test_a_copy_can_be_cancelled(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "first.scstream"
    opened(window, qtbot, clip)
    answer_save(monkeypatch, first)
    window.actions_["save"].trigger()
    wait_for(window, qtbot, "clip.mp4", 6)
    go_on, real = threading.Event(), session_saver.copy_session
    monkeypatch.setattr(session_saver, "copy_session", lambda *words: go_on.wait(LONG / 1000) and real(*words))
    answer_save(monkeypatch, tmp_path / "second")
    window.actions_["save_as"].trigger()
    qtbot.waitUntil(lambda: window.findChild(QProgressDialog) is not None, timeout=LONG)
    window.findChild(QProgressDialog).findChild(QPushButton).click()
    go_on.set()
    qtbot.waitUntil(lambda: window.message.text == "Saving was cancelled.", timeout=LONG)
    assert wait_for(window, qtbot, "clip.mp4", 6) == first
    assert [path.name for path in tmp_path.iterdir() if "second" in path.name] == []


# --- window title


def test_the_title_shows_what_is_open_and_whether_it_was_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (window.windowTitle(), window.isWindowModified()) == ("ScStream Studio", False)
    opened(window, qtbot, clip)
    assert (window.windowTitle(), window.isWindowModified()) == ("clip.mp4[*] – ScStream Studio", True)
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    wait_for(window, qtbot, "clip.mp4", 6)
    assert (window.windowTitle(), window.isWindowModified()) == ("mine – clip.mp4[*] – ScStream Studio", False)
    answer_save(monkeypatch, tmp_path / "yours")
    window.actions_["save_as"].trigger()
    wait_for(window, qtbot, "clip.mp4", 6)
    assert (window.windowTitle(), window.isWindowModified()) == ("yours – clip.mp4[*] – ScStream Studio", False)
    answer_save(monkeypatch, tmp_path / "clip.mp4")
    window.actions_["save_as"].trigger()
    wait_for(window, qtbot, "clip.mp4", 6)
    assert window.windowTitle() == "clip.mp4[*] – ScStream Studio"
    window.actions_["close"].trigger()
    assert (window.windowTitle(), window.isWindowModified()) == ("ScStream Studio", False)


def test_the_title_shows_that_it_was_saved_in_place(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    answer_save(monkeypatch, path)
    window.actions_["save"].trigger()
    assert (window.windowTitle(), window.isWindowModified()) == (f"{path.stem} – clip.mp4[*] – ScStream Studio", False)


# --- names and places


def proposed(window: MainWindow, monkeypatch: pytest.MonkeyPatch, action: str = "save") -> Path:
    """Path that the Save dialog proposes; the dialog is cancelled."""
    asked: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(QFileDialog, "getSaveFileName", lambda *words: (asked.append(words[2]), ("", ""))[1])
        window.actions_[action].trigger()
    return Path(asked[0])


def test_the_clips_name_is_proposed_where_a_session_was_last_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    assert proposed(window, monkeypatch) == tmp_path / "clip.scstream"
    (tmp_path / "work").mkdir()
    answer_save(monkeypatch, tmp_path / "work" / "clip.scstream")
    window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "work" / "clip.scstream"
    assert proposed(window, monkeypatch, "save_as") == tmp_path / "work" / "clip (2).scstream"
    opened(window, qtbot, other, 4)
    assert proposed(window, monkeypatch) == tmp_path / "work" / "other.scstream"
    # The dialog does not propose an existing name.
    opened(window, qtbot, clip)
    assert proposed(window, monkeypatch) == tmp_path / "work" / "clip (2).scstream"


def test_nothing_is_proposed_among_the_sample_clips_or_where_nothing_can_be_written(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("samples", "closed", "videos"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(session_saver, "own_folder", lambda: tmp_path / "videos")
    monkeypatch.setattr(folders, "SAMPLES", tmp_path / "samples")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path / "closed" and access(path, mode))
    for folder in ("closed", "samples"):
        opened(window, qtbot, write_video(tmp_path / folder / "kite_surf.mp4", moving_square(4)), 4)
        assert proposed(window, monkeypatch) == tmp_path / "videos" / "kite_surf.scstream"


def test_a_name_with_a_full_stop_keeps_all_of_it(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, other, 4)
    answer_save(monkeypatch, tmp_path / "clip v1")
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: (tmp_path / "clip v1.scstream").exists(), timeout=LONG)
    opened(window, qtbot, clip)
    answer_save(monkeypatch, tmp_path / "clip v1.2")
    window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "clip v1.2.scstream"
    assert frames_of(tmp_path / "clip v1.scstream") == 4


def test_saving_in_the_place_of_another_session_asks(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.scstream"
    answer_save(monkeypatch, tmp_path / "mine")
    opened(window, qtbot, other, 4)
    window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "other.mp4", 4) == target
    path = opened(window, qtbot, clip)
    with answering(qtbot, "Cancel") as asked:
        window.actions_["save"].trigger()
    assert str(target) in asked[0]
    assert window.document.session.path == path
    assert frames_of(target) == 4
    with answering(qtbot, "Replace"):
        window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "clip.mp4", 6) == target
    assert not path.exists()
    assert frames_of(target) == 6


def test_a_session_can_be_saved_where_it_is(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    answer_save(monkeypatch, path)
    window.actions_["save"].trigger()
    assert window.message.text == f"Saved in '{path}'."
    opened(window, qtbot, other, 4)
    window.actions_["close"].trigger()
    assert window.library.delete_stale() == 1
    assert frames_of(path) == 6


# --- where it fails


def test_a_session_that_could_not_be_saved_stays_though_another_clip_was_opened(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    go_on = hold_moving(monkeypatch)
    answer_save(monkeypatch, tmp_path / "nowhere" / "mine")
    window.actions_["save"].trigger()
    opened(window, qtbot, other, 4)
    go_on.set()
    qtbot.waitUntil(lambda: window.message.text.startswith("Cannot save"), timeout=LONG)
    assert window.document.facts.name == "other.mp4"
    assert frames_of(path) == 6


def test_a_saved_session_that_cannot_be_opened_is_reported(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    monkeypatch.setattr(session_saver, "move_session", lambda path, *_: shutil.rmtree(path))
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: window.document.state is State.EMPTY, timeout=LONG)
    assert window.welcome.isVisible()
    assert "there is no such folder" in window.message.text


def test_why_it_could_not_be_saved_stays_to_be_read(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    name_one(window)
    answer_save(monkeypatch, tmp_path / "nowhere" / "mine")
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: window.message.text.startswith("Cannot save"), timeout=LONG)
    assert wait_for(window, qtbot, "clip.mp4", 6) == path
    assert window.message.isVisible()
    assert window.message.text.startswith("Cannot save")
    assert window.document.names.names == {0: "sea"}
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: window.message.text.startswith("Saved in"), timeout=LONG)
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"
    assert window.addresses.recent() == [str(tmp_path / "mine.scstream"), str(clip)]

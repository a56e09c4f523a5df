"""Tests of opening, saving and closing sessions: user changes are kept, unwanted sessions are deleted."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QProgressDialog, QPushButton, QTabBar
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images, write_video
from helpers.dialogs import answering
from helpers.held_worker import Holding
from scstream_app.pipeline.edits import Edit
from scstream_app.session import FrameRecord, MarkedObject, Names, Session
from scstream_app.session.library import Library, is_unsaved
from scstream_app.sources import Source
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.qt.dialogs import folders
from scstream_app.ui.sessions import session_saver
from scstream_app.ui.sessions.opening import document_opener
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000
#: Matches a time of today or, if the test runs at midnight, of yesterday.
WHEN = r"(today|\d{4}-\d\d-\d\d) \d\d:\d\d"


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", moving_square(6))


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return write_video(tmp_path / "other.mp4", moving_square(4))


@pytest.fixture
def long(tmp_path: Path) -> Path:
    return write_video(tmp_path / "long.mp4", moving_square(16))


def wait_for(window: MainWindow, qtbot: QtBot, name: str, count: int) -> Path:
    """Wait until a clip is fully segmented; returns the path of its session."""

    def done() -> bool:
        document = window.document
        rests = document.state is State.DONE and not document.saving and not window.opening.preparer.name
        return rests and document.facts.name == name and len(document.summary) == count

    qtbot.waitUntil(done, timeout=LONG)
    return window.document.session.path


def opened(window: MainWindow, qtbot: QtBot, clip: Path, count: int = 6) -> Path:
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
    window.document.set_names(Names(names={0: "sea"}))


def answer_save(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def frames_of(path: Path) -> int:
    with Session.open(path) as session:
        return len(session)


# --- while segmentation runs


def test_another_clip_opens_while_one_is_segmented(window: MainWindow, qtbot: QtBot, long: Path, clip: Path) -> None:
    path = begun(window, qtbot, long)
    opened(window, qtbot, clip)
    qtbot.waitUntil(lambda: not path.exists(), timeout=LONG)
    assert window.message.isHidden()


def test_segmenting_again_while_segmenting_begins_anew(window: MainWindow, qtbot: QtBot, long: Path) -> None:
    path = begun(window, qtbot, long)
    window.actions_["restart"].trigger()
    wait_for(window, qtbot, "long.mp4", 16)
    qtbot.waitUntil(lambda: not path.exists(), timeout=LONG)
    assert window.message.isHidden()


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


# --- the view after saving


def tab_of(window: MainWindow, title: str) -> QTabBar:
    """Tab bar with this tab."""
    return next(bar for bar in window.findChildren(QTabBar) if title in [bar.tabText(n) for n in range(bar.count())])


def front(window: MainWindow) -> str:
    """Title of the current tab."""
    bar = tab_of(window, "Objects")
    return bar.tabText(bar.currentIndex())


def as_it_stands(window: MainWindow) -> dict[str, object]:
    """Everything that the user sees and would miss after saving."""
    document, player, viewer = window.document, window.player, window.viewer
    return {
        "frame": document.display.index,
        "selection": document.display.selection,
        "isolated": document.display.isolated,
        "view": document.display.look,
        "objects": document.objects,
        "undo": (document.undo.count(), document.undo.index(), window.actions_["undo"].text()),
        "range": player.range(),
        "speed": player.speed,
        "zoom": (viewer.scale, viewer.fits),
        "picture": viewer.grab().toImage(),
        "tab": front(window),
        "segmenting": document.state,
    }


def arrange(window: MainWindow, qtbot: QtBot) -> None:
    """Go to a middle frame, choose a view and a tab, select a segment, zoom, mark a range, and undo something."""
    bar = tab_of(window, "Objects")
    objects = next(n for n in range(bar.count()) if bar.tabText(n) == "Objects")
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(objects).center())
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_I, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_O):
        before = window.document.display.index
        qtbot.keyClick(window.viewer, key)
        if key == Qt.Key.Key_Right:
            qtbot.waitUntil(lambda before=before: window.document.display.index == before + 1, timeout=LONG)
        elif key == Qt.Key.Key_Home:
            qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    qtbot.keyClick(window.viewer, Qt.Key.Key_3)
    qtbot.keyClick(window.viewer, Qt.Key.Key_BracketRight)
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=window.viewer.rect().center())
    window.actions_["zoom_in"].trigger()
    for _ in range(2):
        qtbot.keyClick(window.viewer, Qt.Key.Key_H)
    window.actions_["undo"].trigger()
    qtbot.waitUntil(lambda: settled(window), timeout=LONG)


def settled(window: MainWindow) -> bool:
    """Whether the shown picture has the requested view, selection and hidden segments."""
    document, shown = window.document, window.document.display.shown
    if shown is None:
        return False
    requested = (
        document.display.look.view,
        document.display.selection,
        document.display.isolated,
        document.names.hidden,
    )
    return (shown.look.view, shown.look.selected, shown.look.isolated, shown.look.hidden) == requested


@pytest.mark.parametrize("works", [True, False], ids=["saved", "failed"])
def test_everything_stands_as_before_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    path, target = opened(window, qtbot, clip), tmp_path / "mine.scstream"
    arrange(window, qtbot)
    # The dashes around the selection move.
    window.viewer._outline.set_visible(False)
    before, size = as_it_stands(window), window.viewer.size()
    assert (before["frame"], before["range"], before["tab"]) == (3, (1, 3), "Objects")
    assert before["selection"]
    answer_save(monkeypatch, target if works else tmp_path / "nowhere" / "mine.scstream")
    left: list[object] = []
    window.document.closed.connect(lambda: left.append(None))
    with qtbot.waitSignal(window.document.run.worker.finished, timeout=LONG):
        qtbot.keyClick(window.viewer, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert wait_for(window, qtbot, "clip.mp4", 6) == (target if works else path)
    window.message.clear()
    # The message bar gives its room back to the picture.
    qtbot.waitUntil(lambda: window.viewer.size() == size, timeout=LONG)
    assert as_it_stands(window) == before
    assert left == []
    window.actions_["undo"].trigger()
    assert window.document.session.names == window.document.names == Names()
    window.player.step(-1)
    qtbot.waitUntil(lambda: window.document.display.index == 2, timeout=LONG)


def test_playing_goes_on_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    window.player.set_loop(True)
    qtbot.keyClick(window.viewer, Qt.Key.Key_Space)
    answer_save(monkeypatch, tmp_path / "mine")
    qtbot.keyClick(window.viewer, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"
    assert window.player.playing
    for _ in range(3):
        with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
            pass
    assert window.player.playing


def test_a_frame_that_was_asked_for_meanwhile_is_shown_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    go_on = hold_moving(monkeypatch)
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    window.timeline.setFocus()
    qtbot.keyClick(window.viewer, Qt.Key.Key_Home)
    go_on.set()
    qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"


def test_a_view_that_was_chosen_just_before_is_shown_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    qtbot.waitUntil(lambda: settled(window), timeout=LONG)
    answer_save(monkeypatch, tmp_path / "mine")
    # Before the frame can be drawn.
    window.actions_["view_boundaries"].trigger()
    window.actions_["save"].trigger()
    assert wait_for(window, qtbot, "clip.mp4", 6) == tmp_path / "mine.scstream"
    qtbot.waitUntil(lambda: settled(window), timeout=LONG)
    assert window.document.display.shown.look.view == "boundaries"


def test_paused_segmentation_stays_paused_when_it_is_saved(
    window: MainWindow, qtbot: QtBot, long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(window, qtbot, long)
    window.actions_["pause_segmenting"].trigger()
    assert window.document.state is State.PAUSED
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    target = tmp_path / "mine.scstream"
    with qtbot.waitSignal(
        window.document.run.worker.warming, timeout=LONG, check_params_cb=lambda done, total: done == total
    ):
        pass
    assert window.document.session.path == target
    assert window.document.state is State.PAUSED
    assert window.actions_["pause_segmenting"].isChecked()
    window.actions_["pause_segmenting"].trigger()
    assert wait_for(window, qtbot, "long.mp4", 16) == target


def hold_moving(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Event that moves of sessions wait for."""
    go_on, real = threading.Event(), session_saver.move_session
    monkeypatch.setattr(session_saver, "move_session", lambda *paths: go_on.wait(LONG / 1000) and real(*paths))
    return go_on


def test_while_it_is_saved_nothing_can_be_marked_and_what_was_undone_stays(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    undo_commands.rename(window.document, 0, "sea")
    go_on = hold_moving(monkeypatch)
    answer_save(monkeypatch, tmp_path / "mine")
    window.actions_["save"].trigger()
    for id in ("undo", "hide", "group", "save", "export", "save_model", "restart"):
        assert not window.actions_[id].isEnabled()
    undo_commands.rename(window.document, 0, "sky")
    assert window.message.text == "The session is being saved. Try again in a moment."
    assert window.document.names.names == {0: "sea"}
    go_on.set()
    wait_for(window, qtbot, "clip.mp4", 6)
    assert window.document.session.names.names == {0: "sea"}
    window.actions_["undo"].trigger()
    assert window.document.session.names == Names()


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
    window.actions_["close"].trigger()
    assert (window.windowTitle(), window.isWindowModified()) == ("ScStream Studio", False)


def test_the_title_shows_that_it_was_saved_in_place(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    answer_save(monkeypatch, path)
    window.actions_["save"].trigger()
    assert (window.windowTitle(), window.isWindowModified()) == (f"{path.stem} – clip.mp4[*] – ScStream Studio", False)


# --- saving


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


# --- kept and deleted sessions


def test_an_untouched_session_is_deleted(window: MainWindow, qtbot: QtBot, clip: Path, other: Path) -> None:
    path = opened(window, qtbot, clip)
    opened(window, qtbot, other, 4)
    qtbot.waitUntil(lambda: not path.exists(), timeout=LONG)


def test_a_clip_that_another_was_opened_before_it_was_open_leaves_nothing(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path
) -> None:
    made = threading.Event()
    window.document.run.worker.opened.connect(lambda *_: made.set(), Qt.ConnectionType.DirectConnection)
    window.open_address(str(clip))
    # No events reach the window's thread meanwhile.
    assert made.wait(LONG / 1000)
    path = opened(window, qtbot, other, 4)
    qtbot.waitUntil(lambda: list((tmp_path / "library").iterdir()) == [path], timeout=LONG)


def test_deleting_it_does_not_hold_the_window_up(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    threads: list[threading.Thread] = []
    monkeypatch.setattr(document_opener, "discard", lambda _path: threads.append(threading.current_thread()))
    opened(window, qtbot, other, 4)
    qtbot.waitUntil(lambda: bool(threads), timeout=LONG)
    assert threads[0] is not threading.main_thread()


def test_hours_of_work_stay(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_opener, "_WORTH", 0.0)
    path = opened(window, qtbot, clip)
    opened(window, qtbot, other, 4)
    window.actions_["close"].trigger()
    recovered = window.welcome.unsaved
    qtbot.waitUntil(lambda: recovered.isVisible() and recovered.count() == 2, timeout=LONG)
    assert frames_of(path) == 6


def rename(window: MainWindow) -> None:
    name_one(window)


def recolour(window: MainWindow) -> None:
    window.document.set_names(Names(colours={0: (1, 2, 3)}))


@pytest.mark.parametrize("mark", [rename, recolour])
def test_what_was_marked_stays(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, mark: Callable[[MainWindow], None]
) -> None:
    path = opened(window, qtbot, clip)
    mark(window)
    opened(window, qtbot, other, 4)
    assert frames_of(path) == 6


def test_what_was_changed_in_the_model_stays(window: MainWindow, qtbot: QtBot, long: Path, clip: Path) -> None:
    worker = window.document.run.worker

    def hold(record: FrameRecord) -> None:
        worker.pause(record.index == 1)

    # Segmentation waits for the edit, however slow the window is.
    worker.noted.connect(hold, Qt.ConnectionType.DirectConnection)
    path = begun(window, qtbot, long)
    worker.noted.disconnect(hold)
    window.document.edit(Edit("lock", (int(window.document.session.ids(0)[0, 0]),)))
    worker.pause(False)
    qtbot.waitUntil(lambda: next(window.document.session.edited_records(1 << 40), None) is not None, timeout=LONG)
    opened(window, qtbot, clip)
    assert frames_of(path) >= 2


@pytest.mark.parametrize("names", [Names(), Names(names={0: "sea"})])
def test_a_session_that_was_opened_again_stays(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, names: Names
) -> None:
    path = opened(window, qtbot, clip)
    window.document.set_names(names)
    window.actions_["close"].trigger()
    item_of(window, qtbot, path)
    wait_for(window, qtbot, "clip.mp4", 6)
    assert window.document.undo.count() == 0
    opened(window, qtbot, other, 4)
    assert frames_of(path) == 6
    with Session.open(path) as session:
        assert session.names == names


def item_of(window: MainWindow, qtbot: QtBot, path: Path) -> None:
    """Click a session on the welcome page."""
    entries = window.welcome.unsaved
    qtbot.waitUntil(lambda: entries.isVisible() and entries.count() == 1, timeout=LONG)
    item = entries.item(0)
    assert item.data(Qt.ItemDataRole.UserRole) == str(path)
    qtbot.mouseClick(entries.viewport(), Qt.MouseButton.LeftButton, pos=entries.visualItemRect(item).center())


def test_opening_what_is_open_changes_nothing(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    path = opened(window, qtbot, clip)
    session = window.document.session
    window.open_address(str(path))
    assert window.document.session is session
    assert window.viewer.isVisible()
    assert frames_of(path) == 6


# --- library folder


def test_an_unusable_library_is_reported_and_the_document_stays(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path
) -> None:
    path = opened(window, qtbot, clip)
    (tmp_path / "file").write_text("")
    window.preferences["library"] = str(tmp_path / "file" / "sessions")
    window.open_address(str(other))
    assert "Not a directory" in window.message.text
    window.actions_["restart"].trigger()
    assert window.document.session.path == path
    assert frames_of(path) == 6


def test_another_folder_counts_from_the_next_clip_on(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, tmp_path: Path
) -> None:
    assert opened(window, qtbot, clip).parent == tmp_path / "library"
    window.preferences["library"] = str(tmp_path / "elsewhere")
    assert opened(window, qtbot, other, 4).parent == tmp_path / "elsewhere"


# --- the welcome page


def test_sessions_are_listed_without_being_opened_or_waited_for(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    threads: list[threading.Thread] = []
    real = Library.unsaved_sessions

    def unsaved_sessions(library: Library) -> list[tuple[str, str]]:
        threads.append(threading.current_thread())
        return real(library)

    monkeypatch.setattr(Library, "unsaved_sessions", unsaved_sessions)
    monkeypatch.setattr(Session, "open", lambda *_: pytest.fail("a session was opened"))
    window.actions_["close"].trigger()
    recovered = window.welcome.unsaved
    qtbot.waitUntil(lambda: recovered.isVisible() and recovered.count() == 1, timeout=LONG)
    assert re.fullmatch(rf"clip\.mp4\n6 frames · {WHEN}", recovered.item(0).text())
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_a_hidden_welcome_page_lists_nothing(
    window: MainWindow, qtbot: QtBot, clip: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot, clip)
    listed: list[Library] = []
    monkeypatch.setattr(Library, "unsaved_sessions", lambda library: listed.append(library) or [])
    opened(window, qtbot, other, 4)
    assert listed == []


def test_sessions_of_the_same_clip_differ_in_the_list(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    first = opened(window, qtbot, clip)
    name_one(window)
    window.open_address(str(clip))
    second = wait_for(window, qtbot, "clip.mp4", 6)
    window.document.set_objects([MarkedObject.made(name, (9, 9, 9), 5, frozenset({0})) for name in ("kite", "surfer")])
    for file in first.iterdir():
        os.utime(file, (1e9, 1e9))
    window.actions_["close"].trigger()
    recovered = window.welcome.unsaved
    qtbot.waitUntil(lambda: recovered.isVisible() and recovered.count() == 2, timeout=LONG)
    texts = [recovered.item(row).text() for row in range(2)]
    assert re.fullmatch(rf"clip\.mp4\n6 frames · {WHEN}\nObjects: kite, surfer", texts[0])
    assert re.fullmatch(r"clip\.mp4\n6 frames · 2001-09-0\d \d\d:\d\d", texts[1])
    assert [recovered.item(row).toolTip() for row in range(2)] == [str(second), str(first)]


def test_an_unsaved_session_is_not_among_the_recent_ones_until_it_is_saved(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(window, qtbot, clip)
    name_one(window)
    window.actions_["close"].trigger()
    item_of(window, qtbot, path)
    wait_for(window, qtbot, "clip.mp4", 6)
    assert window.addresses.recent() == [str(clip)]
    answer_save(monkeypatch, path)
    window.actions_["save"].trigger()
    assert window.addresses.recent() == [str(path), str(clip)]


# --- addresses


def test_several_dropped_files_are_no_session(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(window.opening, "open_session", lambda path: opened.append(f"session {path}"))
    monkeypatch.setattr(window.opening, "_open_source", lambda address, *rest: opened.append(address))
    paths = [str(tmp_path / name) for name in ("clip.mp4", "clip.scstream")]
    window.opening.open_dropped(paths)
    window.opening.open_dropped(paths[1:])
    assert opened == ["\n".join(paths), f"session {paths[1]}"]


def test_many_dropped_images_do_not_hinder_what_comes_then(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_images(tmp_path / ("a walk in the park " * 8).strip(), moving_square(30))
    paths = sorted(folder.glob("*.png"))
    assert len("\n".join(map(str, paths))) > 4096
    window.opening.open_dropped([str(path) for path in paths])
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    folders: list[str] = []
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: (folders.append(words[2]), ("", ""))[1])
    window.actions_["open"].trigger()
    assert folders == [str(folder)]
    window.actions_["export"].trigger()
    dialog = window.findChild(ExportDialog)
    texts = [line.text() for line in dialog.findChildren(QLineEdit) if line.accessibleName() == "Folder"]
    assert texts == [str(folder / "00000_segments")]
    dialog.close()
    window.actions_["close"].trigger()
    recent = window.welcome.recent
    qtbot.waitUntil(lambda: recent.isVisible() and recent.count() == 1, timeout=LONG)
    assert recent.item(0).text() == "00000.png and 29 more"


def test_a_password_is_neither_kept_nor_shown_but_used_again(
    window: MainWindow, qtbot: QtBot, clip: Path, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, asked = "http://me:secret@10.0.0.7/clip.mp4", []
    real = segmentation_worker.open_source

    def open_source(text: str) -> Source:
        asked.append(text)
        source = real(str(clip))
        source.address = text
        return source

    for module in (segmentation_worker, document_opener):
        monkeypatch.setattr(module, "open_source", open_source)
    window.open_address(address)
    first = wait_for(window, qtbot, "clip.mp4", 6)
    window.actions_["restart"].trigger()
    qtbot.waitUntil(lambda: not first.exists(), timeout=LONG)
    wait_for(window, qtbot, "clip.mp4", 6)
    assert asked == [address, address]
    window.actions_["close"].trigger()
    recent = window.welcome.recent
    qtbot.waitUntil(lambda: recent.isVisible() and recent.count() == 1, timeout=LONG)
    item = recent.item(0)
    settings.sync()
    for text in (item.text(), item.toolTip(), Path(settings.fileName()).read_text(), str(first)):
        assert "secret" not in text
    qtbot.mouseClick(recent.viewport(), Qt.MouseButton.LeftButton, pos=recent.visualItemRect(item).center())
    wait_for(window, qtbot, "clip.mp4", 6)
    assert asked == [address] * 3


def test_an_invalid_address_is_reported(window: MainWindow, qtbot: QtBot) -> None:
    window.open_address("http://me:secret@[10")
    qtbot.waitUntil(window.message.isVisible, timeout=LONG)
    assert "Cannot open" in window.message.text
    assert "secret" not in str(window.addresses.recent())


def test_addresses_come_back_however_many_there_are(tmp_path: Path) -> None:
    def kept() -> RecentFiles:
        return RecentFiles(QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat))

    assert kept().recent() == []
    kept().remember("/a")
    assert kept().recent() == ["/a"]
    kept().remember("/b")
    assert kept().recent() == ["/b", "/a"]
    for address in ("/b", "/a"):
        kept().forget(address)
    assert kept().recent() == []

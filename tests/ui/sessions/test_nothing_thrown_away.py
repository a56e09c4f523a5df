"""Tests of clips that cannot be opened: the present clip stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QToolButton
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images, write_video
from helpers.export_scenes import story
from helpers.menus import menu_called
from scstream_app.session import UNSAVED, Session
from scstream_app.session.storage.lock import Lock
from scstream_app.sources import Source, open_source
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.sessions.opening import document_opener
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status.opening_status import OpeningStatus

pytestmark = pytest.mark.slow

LONG = 60_000
CTRL = Qt.KeyboardModifier.ControlModifier


def drop(window: MainWindow, *paths: Path) -> None:
    """Drop files on the picture."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    where, buttons = QPointF(5, 5), Qt.MouseButton.LeftButton
    event = QDropEvent(where, Qt.DropAction.CopyAction, data, buttons, Qt.KeyboardModifier.NoModifier)
    window.viewer.dropEvent(event)


def shows(window: MainWindow, qtbot: QtBot, name: str, frames: int) -> None:
    document = window.document
    qtbot.waitUntil(
        lambda: document.is_open and document.facts.name == name and len(document.summary) == frames, timeout=LONG
    )
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.shown is not None, timeout=LONG)


@pytest.fixture
def present(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """Window with a session of five frames: frame 2 is shown, a segment is selected and hidden, which can be undone."""
    path = finished_session(story((48, 64)))
    (path / UNSAVED).touch()
    window.open_address(str(path))
    shows(window, qtbot, "frames", 5)
    for _ in range(2):
        qtbot.keyClick(window, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: window.document.display.index == 2, timeout=LONG)
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=window.viewer.rect().center())
    qtbot.keyClick(window, Qt.Key.Key_H)
    display = window.document.display
    qtbot.waitUntil(lambda: display.shown.look.hidden == display.selection != frozenset(), timeout=LONG)
    return window


class Kept:
    """What a window shows; compares equal if a failed opening has changed nothing."""

    def __init__(self, window: MainWindow) -> None:
        document = window.document
        self._window, self._session = window, document.session
        self._picture = document.display.shown.picture
        self._facts = self._look()

    def _look(self) -> tuple[object, ...]:
        document, undo = self._window.document, self._window.document.undo
        look = document.display
        return (
            look.index,
            look.selection,
            undo.undoText(),
            undo.count(),
            document.names,
            document.state,
            self._window.windowTitle(),
        )

    def check(self) -> None:
        assert self._window.document.session is self._session
        assert self._look() == self._facts
        np.testing.assert_array_equal(self._window.document.display.shown.picture, self._picture)
        assert self._window.viewer.isVisible()
        assert len(Session.open(self._session.path)) == 5


def refused(window: MainWindow, qtbot: QtBot, text: str) -> None:
    qtbot.waitUntil(lambda: window.message.isVisible() and text in window.message.text, timeout=LONG)


# --- files that cannot be opened


def text_file(folder: Path) -> Path:
    path = folder / "notes.txt"
    path.write_text("These are notes.\n" * 100)
    return path


def empty_file(folder: Path) -> Path:
    (folder / "empty.mp4").touch()
    return folder / "empty.mp4"


def folder_without_images(folder: Path) -> Path:
    (folder / "papers").mkdir()
    text_file(folder / "papers")
    return folder / "papers"


def missing_file(folder: Path) -> Path:
    return folder / "gone.mp4"


def folder_that_is_no_session(folder: Path) -> Path:
    (folder / "false.scstream").mkdir()
    return folder / "false.scstream"


def device(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.png")
    return folder / "pipe.png"


BROKEN = [text_file, empty_file, folder_without_images, missing_file, folder_that_is_no_session, device]


def test_a_dropped_file_that_cannot_be_opened_changes_nothing(
    present: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    kept, recent = Kept(present), present.addresses.recent()
    for make in BROKEN:
        path = make(tmp_path)
        drop(present, path)
        refused(present, qtbot, path.name)
        kept.check()
        assert present.addresses.recent() == recent
    assert list((tmp_path / "library").glob("*")) == []


def test_the_open_dialog_and_the_recent_menu_change_nothing_either(
    present: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, notes, gone = Kept(present), text_file(tmp_path), tmp_path / "gone.mp4"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(notes), ""))
    qtbot.keyClick(present, Qt.Key.Key_O, CTRL)
    refused(present, qtbot, "notes.txt")
    present.addresses.remember(str(gone))
    menu = menu_called(present, "Open Recent")
    menu.popup(present.mapToGlobal(present.rect().center()))
    entry = next(action for action in menu.actions() if action.text() == "gone.mp4")
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entry).center())
    refused(present, qtbot, "gone.mp4")
    kept.check()
    assert str(gone) not in present.addresses.recent()


def test_an_unreachable_address_changes_nothing(present: MainWindow, qtbot: QtBot) -> None:
    kept = Kept(present)
    present.open_address("gopher://example.org/clip")
    refused(present, qtbot, "gopher")
    present.open_address("camera:97")
    refused(present, qtbot, "Cannot open camera 97")
    kept.check()


def test_a_session_that_is_open_elsewhere_changes_nothing_and_stays_among_the_recent(
    present: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]
) -> None:
    other = finished_session(story((48, 64)))
    present.addresses.remember(str(other))
    kept, lock = Kept(present), Lock(other / "lock")
    try:
        present.open_address(str(other))
        refused(present, qtbot, "another ScStream process is writing to it")
        kept.check()
    finally:
        lock.release()
    assert present.addresses.recent()[0] == str(other)


def test_a_clip_whose_file_is_gone_is_not_segmented_again(present: MainWindow, qtbot: QtBot) -> None:
    source = Path(present.document.facts.address)
    for image in source.iterdir():
        image.unlink()
    present.actions_["undo"].trigger()
    qtbot.waitUntil(lambda: not present.document.display.shown.look.hidden, timeout=LONG)
    kept = Kept(present)
    present.actions_["restart"].trigger()
    refused(present, qtbot, "contains no images")
    kept.check()


# --- clips that open


def test_a_clip_that_opens_replaces_the_present_one(present: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    first = present.document.session.path
    folder = write_images(tmp_path / "walk", moving_square(4))
    drop(present, folder)
    shows(present, qtbot, "walk", 4)
    assert present.addresses.recent()[0] == str(folder)
    assert not present.document.undo.canUndo()
    assert not present.document.display.selection
    assert len(Session.open(first)) == 5


def test_the_source_is_opened_once(
    present: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_(address: str) -> Source:
        opened.append(address)
        return open_source(address)

    monkeypatch.setattr(document_opener, "open_source", open_)
    monkeypatch.setattr(segmentation_worker, "open_source", lambda _address: pytest.fail("it is opened again"))
    clip = write_video(tmp_path / "clip.mp4", moving_square(4))
    drop(present, clip)
    shows(present, qtbot, "clip.mp4", 4)
    assert opened == [str(clip)]


def test_a_session_replaces_the_present_one_and_comes_back(
    present: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]
) -> None:
    first, second = present.document.session.path, finished_session(story((48, 64))[:3])
    present.open_address(str(second))
    shows(present, qtbot, "frames", 3)
    present.open_address(str(first))
    shows(present, qtbot, "frames", 5)
    assert present.document.session.path == first


# --- slow addresses


class SlowShare:
    """Addresses with "slow" in them block until `free`; others open at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = Event()
        self.closed = Event()
        monkeypatch.setattr(document_opener, "open_source", self._open)

    def _open(self, address: str) -> Source:
        if "slow" not in address:
            return open_source(address)
        self.free.wait(LONG / 1000)
        source = open_source(address)
        close = source.close

        def closed() -> None:
            close()
            self.closed.set()

        source.close = closed
        return source


@pytest.fixture
def share(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowShare]:
    share = SlowShare(monkeypatch)
    yield share
    share.free.set()


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    return write_images(tmp_path / "slow walk", moving_square(3))


def test_the_present_clip_can_be_used_until_the_next_one_is_open(
    present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path
) -> None:
    drop(present, slow)
    status = present.findChild(OpeningStatus)
    qtbot.waitUntil(status.isVisible, timeout=LONG)
    assert [label.text() for label in status.findChildren(QLabel)] == ["Opening 'slow walk'…"]
    qtbot.keyClick(present, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: present.document.display.shown.result.index == 3, timeout=LONG)
    share.free.set()
    shows(present, qtbot, "slow walk", 3)
    assert status.isHidden()


def test_cancel_keeps_the_present_clip(present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path) -> None:
    kept = Kept(present)
    drop(present, slow)
    status = present.findChild(OpeningStatus)
    qtbot.waitUntil(status.isVisible, timeout=LONG)
    qtbot.mouseClick(status.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert status.isHidden()
    share.free.set()
    qtbot.waitUntil(share.closed.is_set, timeout=LONG)
    kept.check()
    assert present.message.isHidden()
    assert str(slow) not in present.addresses.recent()


def test_the_last_of_two_drops_is_opened(
    present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path, tmp_path: Path
) -> None:
    drop(present, slow)
    drop(present, write_images(tmp_path / "quick walk", moving_square(4)))
    shows(present, qtbot, "quick walk", 4)
    share.free.set()
    qtbot.waitUntil(share.closed.is_set, timeout=LONG)
    assert present.document.facts.name == "quick walk"


def test_closing_calls_off_the_next_clip(present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path) -> None:
    drop(present, slow)
    qtbot.keyClick(present, Qt.Key.Key_W, CTRL)
    share.free.set()
    qtbot.waitUntil(share.closed.is_set, timeout=LONG)
    assert present.welcome.isVisible()
    assert present.document.state is State.EMPTY


def test_a_window_does_not_wait_for_a_clip_that_hangs(
    present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path
) -> None:
    drop(present, slow)
    assert present.close()
    assert present.ended
    share.free.set()
    qtbot.waitUntil(share.closed.is_set, timeout=LONG)


def test_a_file_that_is_deleted_while_it_is_opened_changes_nothing(
    present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path
) -> None:
    kept = Kept(present)
    drop(present, slow)
    for image in slow.iterdir():
        image.unlink()
    slow.rmdir()
    share.free.set()
    refused(present, qtbot, "there is no such file")
    kept.check()


def test_a_share_that_hangs_is_left_and_another_clip_opens(
    window: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmentation_worker, "open_source", document_opener.open_source)
    window.open_address(str(slow))
    qtbot.waitUntil(lambda: window.document.state is State.OPENING, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL)
    window.open_address(str(write_images(tmp_path / "quick walk", moving_square(3))))
    shows(window, qtbot, "quick walk", 3)
    share.free.set()
    qtbot.waitUntil(share.closed.is_set, timeout=LONG)
    assert window.document.facts.name == "quick walk"


def test_a_dialog_about_the_present_clip_is_not_disturbed(
    present: MainWindow, qtbot: QtBot, share: SlowShare, slow: Path
) -> None:
    session = present.document.session
    drop(present, slow)
    qtbot.keyClick(present, Qt.Key.Key_E, CTRL)
    dialog = present.findChild(ExportDialog)
    attempt = present.opening.preparer._attempt
    share.free.set()
    qtbot.waitUntil(lambda: attempt.over, timeout=LONG)
    QApplication.processEvents()
    assert present.document.session is session
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    shows(present, qtbot, "slow walk", 3)


# --- while the session is being saved


def test_a_broken_file_dropped_during_saving_leaves_the_session_to_be_saved(
    present: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.scstream"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    selected = present.document.display.selection
    qtbot.keyClick(present, Qt.Key.Key_S, CTRL)
    drop(present, text_file(tmp_path))
    refused(present, qtbot, "notes.txt")
    qtbot.waitUntil(lambda: not present.document.saving and present.document.session.path == target, timeout=LONG)
    assert (present.document.display.index, present.document.display.selection) == (2, selected)
    assert len(Session.open(target)) == 5


def test_a_clip_dropped_during_saving_opens_and_the_session_is_saved(
    present: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.scstream"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    qtbot.keyClick(present, Qt.Key.Key_S, CTRL)
    drop(present, write_images(tmp_path / "walk", moving_square(4)))
    shows(present, qtbot, "walk", 4)
    qtbot.waitUntil(lambda: target.exists() and not target.parent.joinpath(".mine").exists(), timeout=LONG)
    assert len(Session.open(target)) == 5


# --- segmentation goes on


def test_a_clip_that_is_being_segmented_goes_on_after_a_broken_file(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.open_address(str(write_images(tmp_path / "walk", moving_square(8))))
    qtbot.waitUntil(lambda: len(window.document.summary) >= 1, timeout=LONG)
    session = window.document.session
    drop(window, text_file(tmp_path))
    refused(window, qtbot, "notes.txt")
    shows(window, qtbot, "walk", 8)
    assert window.document.session is session


def test_the_source_that_is_handed_over_gives_the_same_ids(present: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = write_images(tmp_path / "walk", moving_square(4))
    drop(present, folder)
    shows(present, qtbot, "walk", 4)
    ids = [present.document.session.ids(index) for index in range(4)]
    qtbot.keyClick(present, Qt.Key.Key_W, CTRL)
    present.open_address(str(folder))
    shows(present, qtbot, "walk", 4)
    for index in range(4):
        np.testing.assert_array_equal(present.document.session.ids(index), ids[index])

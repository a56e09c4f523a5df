"""Tests of reopened sessions: they show the frame, view and selection of the last time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QSpinBox
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import Holding
from scstream_app.errors import StudioError
from scstream_app.session import Bookmark, Session
from scstream_app.session.storage import bookmark
from scstream_app.ui.document.bookmarks import Bookmarks
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers.bookmark_writer import BookmarkWriter
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000


def write_bookmarks_at_once(window: MainWindow) -> None:
    """Shorten the delay after which a change of the view is written."""
    bookmarks = window.document.findChild(Bookmarks)
    bookmarks.findChild(QTimer).setInterval(1)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_video(tmp_path / "clip.mp4", moving_square(12))


def rests(window: MainWindow, qtbot: QtBot, index: int) -> None:
    """Wait until all frames are segmented and this one is shown."""
    document = window.document
    qtbot.waitUntil(
        lambda: document.state is State.DONE and not document.saving and document.display.index == index, timeout=LONG
    )


def arranged(window: MainWindow, qtbot: QtBot, clip: Path) -> frozenset[int]:
    """Segment a clip, go to frame 3, show mean colours and select the segment in the middle."""
    window.open_address(str(clip))
    rests(window, qtbot, 11)
    qtbot.keyClick(window, Qt.Key.Key_Home)
    rests(window, qtbot, 0)
    for index in (1, 2, 3):
        qtbot.keyClick(window, Qt.Key.Key_Right)
        rests(window, qtbot, index)
    qtbot.keyClick(window, Qt.Key.Key_3)
    qtbot.mouseClick(window.viewer, Qt.MouseButton.LeftButton, pos=window.viewer.rect().center())
    assert window.document.display.selection
    return window.document.display.selection


def reopened(window: MainWindow, qtbot: QtBot, path: Path, index: int) -> None:
    """Open a session after choosing another view."""
    window.document.display.set_look(view="overlay")
    window.open_address(str(path))
    rests(window, qtbot, index)


def test_a_session_that_was_saved_comes_back_where_it_was_left(
    window: MainWindow, qtbot: QtBot, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.scstream"
    chosen = arranged(window, qtbot, clip)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    qtbot.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.document.session.path == target, timeout=LONG)
    rests(window, qtbot, 3)
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    reopened(window, qtbot, target, 3)
    assert window.document.display.shown.look.view == "mean_colour"
    assert window.actions_["view_mean_colour"].isChecked()
    assert window.document.display.selection == chosen
    assert window.transport.findChild(QSpinBox, "frame").value() == 3


def test_an_unsaved_session_comes_back_as_well(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    arranged(window, qtbot, clip)
    path = window.document.session.path
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    reopened(window, qtbot, path, 3)
    assert window.document.display.shown.look.view == "mean_colour"


def test_after_a_crash_it_is_where_it_was_a_moment_before(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bookmarks_at_once(window)
    chosen = arranged(window, qtbot, clip)
    # The session stays open: another process sees what a crash would leave.
    read = Session.open(window.document.session.path)
    qtbot.waitUntil(
        lambda: read.bookmark is not None and (read.bookmark.frame, read.bookmark.selected) == (3, chosen),
        timeout=LONG,
    )
    assert read.bookmark.view == "mean_colour"


class HangingDisk:
    """Disk that blocks every bookmark until it is ``free``.

    Attributes
    ----------
    begun : list of int
        Frames of the bookmarks to write.
    waited : list of bool
        For each bookmark, whether the disk became free before the timeout.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[int] = []
        self.waited: list[bool] = []
        self.free = Event()
        self._write = bookmark.write
        monkeypatch.setattr(bookmark, "write", self._hang)

    def _hang(self, folder: Path, left: Bookmark) -> None:
        self.begun.append(left.frame)
        self.waited.append(self.free.wait(LONG / 1000))
        self._write(folder, left)


@pytest.fixture
def disk(window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HangingDisk]:
    """Disk that hangs while it writes the bookmark of frame 4."""
    arranged(window, qtbot, clip)
    disk = HangingDisk(monkeypatch)
    write_bookmarks_at_once(window)
    qtbot.keyClick(window, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: bool(disk.begun), timeout=LONG)
    yield disk
    disk.free.set()


def test_a_disk_that_hangs_leaves_the_window_answering(window: MainWindow, qtbot: QtBot, disk: HangingDisk) -> None:
    rests(window, qtbot, 4)
    qtbot.keyClick(window, Qt.Key.Key_Right)
    rests(window, qtbot, 5)
    qtbot.keyClick(window, Qt.Key.Key_4)
    qtbot.waitUntil(lambda: window.document.display.shown.look.view == "boundaries", timeout=LONG)
    disk.free.set()
    read = Session.open(window.document.session.path)
    qtbot.waitUntil(lambda: read.bookmark is not None and read.bookmark.frame == 5, timeout=LONG)
    assert read.bookmark.view == "boundaries"
    assert all(disk.waited)


def test_where_a_session_is_left_counts_whatever_is_still_being_kept(
    window: MainWindow, qtbot: QtBot, disk: HangingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = window.document.session.path
    for index in (5, 6):
        qtbot.keyClick(window, Qt.Key.Key_Right)
        rests(window, qtbot, index)
    # The disk becomes free only when the window waits for it.
    cancel = BookmarkWriter.cancel

    def cancelled(writer: BookmarkWriter) -> None:
        cancel(writer)
        disk.free.set()

    monkeypatch.setattr(BookmarkWriter, "cancel", cancelled)
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    assert window.document.session is None
    assert disk.begun[1:] == [6], "what waited meanwhile is not written"
    assert Session.open(path).bookmark.frame == 6
    reopened(window, qtbot, path, 6)


def test_a_closed_session_takes_no_bookmark(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    arranged(window, qtbot, clip)
    session = window.document.session
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    with pytest.raises(StudioError):
        session.bookmark = Bookmark(7, "overlay")
    assert session.bookmark.frame == 3


@pytest.mark.parametrize(
    "left",
    [
        None,
        {"frame": "three", "view": "mean_colour", "selected": []},
        {"frame": 0, "view": "of another program", "selected": [0, 12345]},
        # A view of exported files that no menu offers.
        {"frame": 0, "view": "mask", "selected": []},
    ],
    ids=["none", "damaged", "foreign", "hidden"],
)
def test_a_bookmark_that_makes_no_sense_changes_nothing(
    window: MainWindow, qtbot: QtBot, clip: Path, left: object
) -> None:
    arranged(window, qtbot, clip)
    path = window.document.session.path
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    file = path / "bookmark.json"
    if left is None:
        file.unlink()
    else:
        file.write_text(json.dumps(left))
    reopened(window, qtbot, path, 0)
    assert window.document.display.shown.look.view == "overlay"
    assert window.document.display.selection <= {0}
    assert not window.message.isVisible()


def test_a_frame_behind_the_last_one_is_the_last_one(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    arranged(window, qtbot, clip)
    path = window.document.session.path
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    (path / "bookmark.json").write_text(json.dumps({"frame": 999, "view": "boundaries", "selected": []}))
    reopened(window, qtbot, path, 11)
    assert window.document.display.shown.look.view == "boundaries"


def test_a_matte_without_objects_is_not_come_back_to(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    arranged(window, qtbot, clip)
    path = window.document.session.path
    qtbot.keyClick(window, Qt.Key.Key_6)
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    reopened(window, qtbot, path, 3)
    assert window.document.display.shown.look.view == "overlay"


def test_a_session_in_the_midst_of_segmenting_stays_on_its_frame_and_goes_on(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    document = window.document
    Holding(document.run.worker, 4)
    window.open_address(str(write_video(tmp_path / "long.mp4", moving_square(16))))
    qtbot.waitUntil(lambda: len(document.summary) >= 4, timeout=LONG)
    path = document.session.path
    document.display.show(2)
    document.display.set_look(view="boundaries")
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not document.run.busy, timeout=LONG)
    reopened(window, qtbot, path, 2)
    assert len(document.summary) == 16
    assert document.display.shown.look.view == "boundaries"

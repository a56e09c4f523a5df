"""Tests of what stays of opened clips: marked sessions are kept, others deleted, and addresses are remembered."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.session_window import LONG, answer_save, begun, frames_of, name_one, opened, wait_for
from scstream_app.pipeline.edits import Edit
from scstream_app.session import FrameRecord, MarkedObject, Names, Session
from scstream_app.session.library import Library
from scstream_app.sources import Source, factory, open_source
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.sessions.opening import document_opener
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

#: Matches a time of today or, if the test runs at midnight, of yesterday.
WHEN = r"(today|\d{4}-\d\d-\d\d) \d\d:\d\d"


# --- kept and deleted sessions


def test_an_untouched_session_is_deleted(window: MainWindow, qtbot: QtBot, clip: Path, other: Path) -> None:
    path = opened(window, qtbot, clip)
    opened(window, qtbot, other, 4)
    qtbot.waitUntil(lambda: not path.exists(), timeout=LONG)


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
    # The window can show the frame before `hold` is called.
    qtbot.waitUntil(lambda: worker.paused, timeout=LONG)
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
    assert [Path(text).name for text in texts] == [f"{folder.name}_segments"]
    assert not Path(texts[0]).is_relative_to(tmp_path)
    dialog.close()
    window.actions_["close"].trigger()
    recent = window.welcome.recent
    # The session is found after the address, and offered above it.
    qtbot.waitUntil(lambda: recent.isVisible() and recent.count() == 2, timeout=LONG)
    assert recent.item(0).text() == "00000.png and 29 more\nOpen (30 frames)"


def test_a_password_is_neither_kept_nor_shown_but_used_again(
    window: MainWindow, qtbot: QtBot, clip: Path, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, asked = "http://me:secret@10.0.0.7/clip.mp4", []

    def remote(url: str) -> Source:
        asked.append(url)
        source = open_source(str(clip))
        source.address = url
        return source

    monkeypatch.setattr(factory, "VideoUrl", remote)
    window.open_address(address)
    first = wait_for(window, qtbot, "clip.mp4", 6)
    window.actions_["restart"].trigger()
    qtbot.waitUntil(lambda: not first.exists(), timeout=LONG)
    wait_for(window, qtbot, "clip.mp4", 6)
    # The pictures of earlier frames are read from the address that is stored.
    window.document.display.show(2)
    qtbot.waitUntil(lambda: window.document.display.index == 2, timeout=LONG)
    assert set(asked) == {address}
    count = len(asked)
    window.actions_["close"].trigger()
    recent = window.welcome.recent
    # The session is found after the address, and offered above it.
    qtbot.waitUntil(lambda: recent.isVisible() and recent.count() == 2, timeout=LONG)
    settings.sync()
    shown = [text for row in range(2) for text in (recent.item(row).text(), recent.item(row).toolTip())]
    for text in (*shown, Path(settings.fileName()).read_text(), str(first)):
        assert "secret" not in text
    item = recent.item(1)
    qtbot.mouseClick(recent.viewport(), Qt.MouseButton.LeftButton, pos=recent.visualItemRect(item).center())
    wait_for(window, qtbot, "clip.mp4", 6)
    assert set(asked) == {address}
    assert len(asked) > count >= 3


def test_listing_recent_files_waits_for_no_drive(settings: QSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    recent = RecentFiles(settings)
    for address in ("/share/clip.mp4", "/share/clip.scstream"):
        recent.remember(address)
    for look in ("lexists", "exists", "isdir"):
        monkeypatch.setattr(os.path, look, lambda path: pytest.fail(f"looked at {path}"))
    assert recent.recent() == ["/share/clip.scstream", "/share/clip.mp4"]


def test_a_file_dialog_waits_for_no_drive(settings: QSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recent, answer, real = RecentFiles(settings), threading.Event(), os.path.exists
    (tmp_path / "clip.mp4").touch()
    for address in (str(tmp_path / "clip.mp4"), "/share/clip.mp4"):
        recent.remember(address)
    asked = []

    def hanging(path: str) -> bool:
        asked.append(path)
        return answer.wait(LONG / 1000) if str(path).startswith("/share") else real(path)

    monkeypatch.setattr(os.path, "exists", hanging)
    begin = monotonic()
    assert recent.folder() == recent.folder() == tmp_path
    assert monotonic() - begin < 5.0
    # The drive is asked again only when it has responded.
    assert asked.count("/share/clip.mp4") == 1
    answer.set()
    assert recent.folders() == [Path("/share"), tmp_path]


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


def test_a_folder_that_is_not_a_session_is_named_so(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_images(tmp_path / "pictures", moving_square(2))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *given: str(tmp_path / "pictures"))
    window.actions_["open_session"].trigger()
    qtbot.waitUntil(window.message.isVisible, timeout=LONG)
    assert "it is not a session. A session is a folder NAME.scstream" in window.message.text
    assert not window.document.is_open

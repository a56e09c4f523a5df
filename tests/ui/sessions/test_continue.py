"""Tests of recent clips that have a session: they can be continued or segmented again."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copytree

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QListWidget, QMenu
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.export_scenes import story
from helpers.menus import menu_called
from scstream_app.session import UNSAVED, Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_images(tmp_path / "walk", moving_square(5))


@pytest.fixture
def session(tmp_path: Path, clip: Path) -> Path:
    """Unsaved session with three of the clip's five frames."""
    path = tmp_path / "library" / "walk 1.scstream"
    with open_source(str(clip)) as source, Session.create(path, source, Settings(), unsaved=True) as session:
        for result in story((48, 64))[:3]:
            session.append(result)
    return path


@pytest.fixture
def recent(settings: QSettings, clip: Path, session: Path, window: MainWindow) -> MainWindow:
    """Window that knows the clip from before."""
    window.addresses.remember(str(clip))
    window.welcome.refresh()
    return window


def texts(entries: QListWidget) -> list[str]:
    return [entries.item(row).text() for row in range(entries.count())]


def click(entries: QListWidget, row: int, qtbot: QtBot) -> None:
    where = entries.visualItemRect(entries.item(row)).center()
    qtbot.mouseClick(entries.viewport(), Qt.MouseButton.LeftButton, pos=where)


def recent_menu(window: MainWindow) -> QMenu:
    menu = menu_called(window, "Open Recent")
    menu.popup(window.mapToGlobal(window.rect().center()))
    return menu


def choose(menu: QMenu, text: str, qtbot: QtBot) -> None:
    action = next(action for action in menu.actions() if action.text() == text)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def test_the_welcome_page_offers_to_continue(recent: MainWindow, qtbot: QtBot, session: Path) -> None:
    entries = recent.welcome.recent
    qtbot.waitUntil(lambda: texts(entries) == ["walk\nContinue (frame 3 of 5)", "Segment again"], timeout=LONG)
    click(entries, 0, qtbot)
    document = recent.document
    qtbot.waitUntil(lambda: document.session is not None and len(document.summary) >= 3, timeout=LONG)
    assert document.session.path == session


def test_a_session_is_not_offered_beside_its_clip(recent: MainWindow, qtbot: QtBot, session: Path) -> None:
    (session / UNSAVED).unlink()
    recent.addresses.remember(str(session))
    assert len(recent.addresses.recent()) == 2
    recent.welcome.refresh()
    entries = recent.welcome.recent
    qtbot.waitUntil(lambda: texts(entries) == ["walk\nContinue (frame 3 of 5)", "Segment again"], timeout=LONG)


def test_a_finished_clip_is_opened_not_continued(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    path = window.document.session.path
    qtbot.keyClick(window, Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    entries = window.welcome.recent
    qtbot.waitUntil(lambda: texts(entries) == ["walk\nOpen (5 frames)", "Segment again"], timeout=LONG)
    click(entries, 0, qtbot)
    qtbot.waitUntil(lambda: window.document.state is State.DONE and len(window.document.summary) == 5, timeout=LONG)
    assert window.document.session.path == path


def test_a_run_that_ended_at_the_out_point_is_opened_too(recent: MainWindow, qtbot: QtBot, session: Path) -> None:
    with Session.open(session, writable=True) as stored:
        stored.finish()
    recent.welcome.refresh()
    entries = recent.welcome.recent
    qtbot.waitUntil(lambda: texts(entries) == ["walk\nOpen (3 frames)", "Segment again"], timeout=LONG)


def test_the_welcome_page_offers_to_segment_again(recent: MainWindow, qtbot: QtBot, session: Path, clip: Path) -> None:
    entries = recent.welcome.recent
    qtbot.waitUntil(lambda: entries.count() == 2, timeout=LONG)
    click(entries, 1, qtbot)
    document = recent.document
    qtbot.waitUntil(lambda: document.state is State.DONE and len(document.summary) == 5, timeout=LONG)
    assert document.session.path != session
    assert document.facts.address == str(clip)
    assert len(Session.open(session)) == 3


def test_the_menu_offers_both(recent: MainWindow, qtbot: QtBot, session: Path) -> None:
    menu = recent_menu(recent)
    offered = ["walk: continue (frame 3 of 5)", "walk: segment again"]
    qtbot.waitUntil(lambda: [action.text() for action in menu.actions()[:2]] == offered, timeout=LONG)
    assert menu.actions()[0].toolTip() == str(session)
    choose(menu, offered[0], qtbot)
    document = recent.document
    qtbot.waitUntil(lambda: document.session is not None and document.session.path == session, timeout=LONG)


def test_the_newest_session_is_continued(recent: MainWindow, qtbot: QtBot, session: Path) -> None:
    newer = session.with_name("walk 2.scstream")
    copytree(session, newer)
    (newer / UNSAVED).unlink()
    os.utime(session / "frames.jsonl", (1e9, 1e9))
    recent.welcome.refresh()
    entries = recent.welcome.recent
    role = Qt.ItemDataRole.UserRole
    qtbot.waitUntil(lambda: entries.count() == 2 and entries.item(0).data(role) == str(newer), timeout=LONG)


def test_a_session_that_is_gone_is_not_offered(recent: MainWindow, qtbot: QtBot, session: Path) -> None:
    entries = recent.welcome.recent
    qtbot.waitUntil(lambda: entries.count() == 2, timeout=LONG)
    (session / "manifest.json").unlink()
    recent.welcome.refresh()
    qtbot.waitUntil(lambda: texts(entries) == ["walk"], timeout=LONG)


# --- the list of recent files


def test_paths_are_stored_absolute(
    window: MainWindow, qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clip.parent)
    window.open_address("walk")
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert window.addresses.recent() == [str(clip)]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("a.mp4", "{here}/a.mp4"),
        ("../a.mp4", "{above}/a.mp4"),
        ("frames/*.png", "{here}/frames/*.png"),
        ("a.png\nb.png", "{here}/a.png\n{here}/b.png"),
        ("camera:0", "camera:0"),
        ("rtsp://10.0.0.7/door", "rtsp://10.0.0.7/door"),
        ("live-loop:a.mp4", "live-loop:{here}/a.mp4"),
    ],
)
def test_addresses_are_made_absolute(
    settings: QSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, stored: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    addresses = RecentFiles(settings)
    addresses.remember(given)
    assert addresses.recent() == [stored.format(here=here, above=tmp_path)]


def test_what_cannot_be_opened_from_the_welcome_page_is_forgotten(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.addresses.remember(str(tmp_path / "gone.mp4"))
    window.welcome.refresh()
    entries = window.welcome.recent
    qtbot.waitUntil(lambda: entries.isVisible() and texts(entries) == ["gone.mp4"], timeout=LONG)
    click(entries, 0, qtbot)
    qtbot.waitUntil(lambda: "gone.mp4" in window.message.text and window.welcome.isVisible(), timeout=LONG)
    assert window.addresses.recent() == []
    qtbot.waitUntil(lambda: not entries.isVisible(), timeout=LONG)

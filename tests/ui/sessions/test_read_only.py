"""Sessions on a read-only disk or in a folder without write permission: viewed and copied, but not changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from helpers.clips import write_images
from helpers.export_scenes import story
from helpers.exports import made_of
from helpers.read_only import obeying_permissions, read_only_disk, without_permission
from helpers.session_window import answer_save
from scstream_app import headless
from scstream_app.errors import SessionError
from scstream_app.export import ExportOptions
from scstream_app.session import Names, Session
from scstream_app.session.library import is_unsaved
from scstream_app.session.storage.new_folder import UNSAVED
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.action_availability import READ_ONLY, why_unchangeable
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers.open_clips import open_existing
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.timeline.lanes.key_menu import make_key_menu
from scstream_app.ui.window.main_window import MainWindow

#: Actions that would change the session.
EDITS = ("hide", "recolour", "rename", "merge", "split", "lock", "group", "ungroup", "palette_colour", "tool_brush")
EDITS += ("load_mask", "carry_back", "recolour_object", "delete_object", "segment_rest")
#: Actions that only look, or write elsewhere.
VIEWS = ("play", "next", "isolate", "view_mean_colour", "save_as", "export", "restart", "restart_here")


@pytest.fixture(autouse=True)
def permissions_hold(collected: None) -> Iterator[None]:
    with obeying_permissions():
        yield


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of five frames with an object, none of whose masks are stored."""
    return _write(tmp_path, complete=True)


def _write(folder: Path, complete: bool) -> Path:
    results, path = story((48, 64)), folder / "locked" / "clip.scstream"
    images = write_images(folder / "frames", [result.picture for result in results])
    objects = (made_of("dog", 1),)
    with open_source(str(images)) as source, Session.create(path, source, Settings(), objects=objects) as session:
        for result in results:
            session.append(result)
        if complete:
            session.finish()
    return path


@pytest.fixture(params=["disk", "permission"])
def locked(session: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The same session where it cannot be written to."""
    forbidding = read_only_disk if request.param == "disk" else without_permission
    with forbidding(session.parent):
        yield session


@pytest.fixture
def content(session: Path) -> dict[Path, bytes]:
    return _content(session)


def _content(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _open(window: MainWindow, qtbot: QtBot, path: Path, state: State = State.DONE) -> None:
    window.open_address(str(path))
    document = window.document
    qtbot.waitUntil(lambda: document.state is state and document.display.index is not None)


def test_it_is_shown_and_nothing_is_written(
    content: dict[Path, bytes], locked: Path, window: MainWindow, qtbot: QtBot
) -> None:
    _open(window, qtbot, locked)
    document = window.document
    assert document.read_only
    assert window.message.text.startswith("'clip.scstream' is read-only: its disk or folder cannot be written to.")
    assert "File > Save Session As…" in window.message.text
    assert window.windowTitle() == "clip – frames (read-only) – ScStream Studio"
    for index in range(1, 5):
        qtbot.keyClick(window, Qt.Key.Key_Right)
        qtbot.waitUntil(lambda index=index: document.display.index == index)
    window.actions_["close"].trigger()
    qtbot.waitUntil(lambda: not document.run.busy)
    assert _content(locked) == content


def test_editing_commands_are_disabled_with_the_reason(locked: Path, window: MainWindow, qtbot: QtBot) -> None:
    _open(window, qtbot, locked)
    window.document.display.select({0, 1})
    window.objects.highlight("dog")
    for id in EDITS:
        assert not window.actions_[id].isEnabled(), id
        assert READ_ONLY in window.actions_[id].statusTip(), id
    for id in (*VIEWS, "select_object"):
        assert window.actions_[id].isEnabled(), id


def test_edits_in_the_lanes_stay_as_they_are(locked: Path, window: MainWindow, qtbot: QtBot) -> None:
    _open(window, qtbot, locked)
    rows = window.lanes.rows
    qtbot.waitUntil(lambda: len(rows.keys) == 1)
    before = window.document.objects
    rows.setFocus()
    qtbot.keyClick(rows, Qt.Key.Key_Delete)
    assert window.viewer.findChild(Toast).text() == f"{READ_ONLY}."
    assert window.document.objects == before
    menu = make_key_menu(rows, rows.keys[0], print, print, print, why_unchangeable(window.document))
    assert next(action.text() for action in menu.actions() if action.isEnabled()) == "Go to Frame 0"
    assert not any(action.isEnabled() for action in menu.actions() if action.isCheckable())


def test_marks_cannot_be_set(locked: Path, window: MainWindow, qtbot: QtBot) -> None:
    _open(window, qtbot, locked)
    with pytest.raises(SessionError, match="read-only"):
        window.document.set_names(Names(names={0: "sea"}))
    with pytest.raises(SessionError, match="read-only"):
        window.document.set_objects(())
    assert [one.name for one in window.document.objects] == ["dog"]


def test_an_interrupted_session_is_shown_without_going_on(tmp_path: Path, window: MainWindow, qtbot: QtBot) -> None:
    path = _write(tmp_path, complete=False)
    with without_permission(path.parent):
        _open(window, qtbot, path, State.STOPPED)
        assert len(window.document.summary) == 5


@pytest.mark.parametrize("unsaved", [False, True])
def test_save_as_makes_a_copy_that_can_be_changed(
    session: Path, unsaved: bool, window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if unsaved:
        (session / UNSAVED).touch()
    content, target, document = _content(session), tmp_path / "mine.scstream", window.document
    with without_permission(session.parent):
        _open(window, qtbot, session)
        answer_save(monkeypatch, target)
        window.actions_["save"].trigger()
        qtbot.waitUntil(lambda: document.session.path == target and not document.saving)
        assert not document.read_only
        assert window.windowTitle() == "mine – frames[*] – ScStream Studio"
        document.display.select({0})
        assert window.actions_["hide"].isEnabled()
        document.set_names(Names(names={0: "sea"}))
        assert not is_unsaved(target)
        assert _content(session) == content
        window.actions_["close"].trigger()
    assert Session.open(target).names.names == {0: "sea"}


def test_it_cannot_be_saved_in_its_own_place(
    locked: Path, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    _open(window, qtbot, locked)
    answer_save(monkeypatch, locked)
    window.actions_["save_as"].trigger()
    assert window.message.text == f"Cannot save '{locked}': the session is read-only. Choose another folder."
    assert window.document.state is State.DONE


def test_it_is_exported_with_its_objects(locked: Path, tmp_path: Path) -> None:
    with open_existing(locked) as session:
        list(headless.export(session, tmp_path / "out", ExportOptions(formats=("object",))))
    assert len(list((tmp_path / "out" / "object").iterdir())) == 5


def test_a_session_that_can_be_written_is_opened_for_writing(session: Path) -> None:
    with open_existing(session) as opened:
        assert opened.writable

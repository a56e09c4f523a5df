"""A session's camera or network address is opened in the window only after a question, unless it is the user's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from helpers.dialogs import answering
from helpers.session_clips import clip, recorded
from scstream_app.errors import SourceError
from scstream_app.sources import Source
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import renderer, segmentation_worker
from scstream_app.ui.window.main_window import MainWindow

LONG = 20_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "foreign.scstream"
    recorded(path, clip(2, cut=None))
    return path


def foreign(made: Path, path: Path, address: str) -> Path:
    """Copy of a session whose source has this address."""
    shutil.copytree(made, path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["source"]["address"] = address
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses of the sources that were opened."""
    found: list[str] = []

    def open_source(text: str) -> Source:
        found.append(text)
        raise SourceError("there is no network in a test")

    for module in (segmentation_worker, renderer):
        monkeypatch.setattr(module, "open_source", open_source)
    return found


@pytest.mark.parametrize("address", ["http://10.0.0.7/a.mp4", "camera:0"])
def test_nothing_is_opened_if_the_user_declines(
    window: MainWindow, qtbot: QtBot, made: Path, tmp_path: Path, opened: list[str], address: str
) -> None:
    path = foreign(made, tmp_path / "a.scstream", address)
    with answering(qtbot, "Cancel") as asked:
        window.open_address(str(path))
    assert asked == [f"This session's source is '{address}'. Open it?"]
    assert window.document.state is State.EMPTY
    assert opened == []
    assert str(path) not in window.addresses.recent()


def test_a_session_that_was_allowed_is_not_asked_about_again(
    window: MainWindow, qtbot: QtBot, made: Path, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(made, tmp_path / "a.scstream", "http://me:secret@10.0.0.7/a.mp4?token=secret")
    with answering(qtbot, "Open") as asked:
        window.open_address(str(path))
    assert asked == ["This session's source is 'http://me@10.0.0.7/a.mp4'. Open it?"]
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    window.actions_["close"].trigger()
    monkeypatch.setattr(QMessageBox, "exec", lambda box: pytest.fail(f"asked: {box.text()}"))
    window.open_address(str(path))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)


@pytest.mark.parametrize("own", [True, False])
def test_own_sessions_and_files_are_opened_without_a_question(
    window: MainWindow,
    qtbot: QtBot,
    made: Path,
    tmp_path: Path,
    opened: list[str],
    monkeypatch: pytest.MonkeyPatch,
    own: bool,
) -> None:
    monkeypatch.setattr(QMessageBox, "exec", lambda box: pytest.fail(f"asked: {box.text()}"))
    folder, address = (window.library.folder, "http://10.0.0.7/a.mp4") if own else (tmp_path, "/clips/a.mp4")
    window.open_address(str(foreign(made, folder / "a.scstream", address)))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)

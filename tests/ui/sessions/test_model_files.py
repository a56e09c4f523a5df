"""Tests of portable models: save, load, and segment another clip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from scstream import VideoSegmenter
from scstream_app.errors import SessionError
from scstream_app.session import Session, model_transfer, resume
from scstream_app.session.library import Library
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000
FRAMES = 8


@pytest.fixture
def window(qtbot: QtBot, settings: QSettings, tmp_path: Path) -> Iterator[MainWindow]:
    window = MainWindow(settings, Library(tmp_path / "library"))
    window.document.set_settings(Settings(max_init_sweeps=20, threads=1, decay=1.5))
    qtbot.addWidget(window)
    window.show()
    clip = write_video(tmp_path / "clip.mp4", moving_square(FRAMES))
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    yield window
    window.close()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The same scene in another size."""
    return write_video(tmp_path / "other.mp4", moving_square(FRAMES, 96, 128))


def segmented(window: MainWindow, qtbot: QtBot, clip: Path) -> Session:
    qtbot.waitUntil(
        lambda: window.document.facts is not None and window.document.facts.address == str(clip), timeout=LONG
    )
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    session = window.document.session
    assert session is not None
    return session


def test_another_clip_gets_the_ids_of_this_one(
    window: MainWindow, qtbot: QtBot, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = window.document.session.ids(FRAMES - 1)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(other), ""))
    window.actions_["use_model"].trigger()
    session = segmented(window, qtbot, other)
    ids = session.ids(0)
    assert ids.shape == (96, 128)
    # Sky and ground keep their positions and ids.
    for row in (0, -1):
        assert ids[row, -1] == before[row, -1]
    assert session.manifest.settings.decay == 1.5
    assert set(window.document.summary.lives) >= set(np.unique(ids).tolist())


def test_a_saved_model_is_small_and_used_later(
    window: MainWindow, qtbot: QtBot, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = window.document.session.ids(FRAMES - 1)
    file = tmp_path / "sea.npz"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    window.actions_["save_model"].trigger()
    assert file.stat().st_size < 200_000
    assert f"after frame {FRAMES - 1}" in window.message.text
    window.actions_["close"].trigger()
    assert not window.actions_["save_model"].isEnabled()
    answers = iter([str(file), str(other)])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (next(answers), ""))
    window.actions_["open_model"].trigger()
    assert segmented(window, qtbot, other).ids(0)[0, -1] == before[0, -1]


def test_such_a_session_can_be_resumed(window: MainWindow, qtbot: QtBot, other: Path, tmp_path: Path) -> None:
    model = model_transfer.newest(window.document.session)[1]
    window.models.wanted.emit(str(other), model)
    whole = segmented(window, qtbot, other)
    expected = [whole.ids(index) for index in range(FRAMES)]
    path = whole.path
    window.document.close()
    qtbot.waitUntil(lambda: window.document.state is State.EMPTY, timeout=LONG)
    # As after a crash: everything after the first snapshot is gone.
    for snapshot in (path / "models").glob("*.npz"):
        if snapshot.name != "000000.npz":
            snapshot.unlink()
    manifest = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(manifest.replace('"complete": true', '"complete": false'))
    lines = (path / "frames.jsonl").read_bytes().splitlines(keepends=True)
    (path / "frames.jsonl").write_bytes(b"".join(lines[:3]))
    with open_source(str(other)) as source, Session.open(path, writable=True) as session:
        list(resume(session, source).run())
        for index in range(FRAMES):
            np.testing.assert_array_equal(session.ids(index), expected[index])


def test_what_is_no_model_is_refused(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"nothing of the kind")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(broken), ""))
    window.actions_["open_model"].trigger()
    assert "broken.npz" in window.message.text
    assert window.document.facts.name == "clip.mp4"


def torn(path: Path, frames: int) -> None:
    """Leave a session as a process killed after this many frames, before any snapshot."""
    for snapshot in (path / "models").glob("0*.npz"):
        snapshot.unlink()
    manifest = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(manifest.replace('"complete": true', '"complete": false'))
    lines = (path / "frames.jsonl").read_bytes().splitlines(keepends=True)
    (path / "frames.jsonl").write_bytes(b"".join(lines[:frames]))


@pytest.mark.parametrize("frames", [0, 1])
def test_the_model_to_begin_with_is_not_lost_before_its_first_snapshot(
    window: MainWindow, qtbot: QtBot, other: Path, frames: int
) -> None:
    window.models.wanted.emit(str(other), model_transfer.newest(window.document.session)[1])
    whole = segmented(window, qtbot, other)
    expected = [whole.ids(index) for index in range(FRAMES)]
    lives = set(window.document.summary.lives)
    path = whole.path
    assert (path / "models" / "first.npz").exists()
    window.document.close()
    torn(path, frames)
    window.document.open_session(path)
    session = segmented(window, qtbot, other)
    for index in range(FRAMES):
        np.testing.assert_array_equal(session.ids(index), expected[index])
    assert set(window.document.summary.lives) == lives


def test_a_model_to_begin_with_that_was_tampered_with_is_refused(
    window: MainWindow, qtbot: QtBot, other: Path, tmp_path: Path
) -> None:
    window.models.wanted.emit(str(other), model_transfer.newest(window.document.session)[1])
    path = segmented(window, qtbot, other).path
    window.document.close()
    torn(path, 1)
    stranger = VideoSegmenter(max_init_sweeps=20, decay=0.5)
    stranger.segment(moving_square(1, 96, 128)[0])
    stranger.save(path / "models" / "first.npz")
    with open_source(str(other)) as source, Session.open(path) as session:
        with pytest.raises(SessionError, match="does not match the session's settings"):
            resume(session, source)
        (path / "models" / "first.npz").write_bytes(b"nothing of the kind")
        with pytest.raises(SessionError, match=r"first\.npz is damaged"):
            resume(session, source)


def test_a_model_of_the_library_serves_though_it_has_no_seed(
    window: MainWindow, qtbot: QtBot, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segmenter = VideoSegmenter(max_init_sweeps=20)
    segmenter.segment(moving_square(1)[0])
    segmenter.save(tmp_path / "seedless.npz")
    answers = iter([str(tmp_path / "seedless.npz"), str(other)])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (next(answers), ""))
    window.actions_["open_model"].trigger()
    session = segmented(window, qtbot, other)
    expected = session.ids(FRAMES - 1)
    path = session.path
    window.document.close()
    torn(path, 3)
    window.document.open_session(path)
    np.testing.assert_array_equal(segmented(window, qtbot, other).ids(FRAMES - 1), expected)


def test_a_model_that_no_settings_describe_is_refused(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segmenter = VideoSegmenter(max_init_sweeps=20, burn_in=20_000)
    segmenter.segment(moving_square(1)[0])
    segmenter.save(tmp_path / "slow.npz")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "slow.npz"), ""))
    window.actions_["open_model"].trigger()
    assert "slow.npz" in window.message.text
    assert "burn_in" in window.message.text
    assert window.document.facts.name == "clip.mp4"

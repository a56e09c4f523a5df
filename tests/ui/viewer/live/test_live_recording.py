"""Tests of recording a camera: what was shown is kept, with its marks, however the recording ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLineEdit, QToolButton

from helpers.clips import moving_square, write_video
from helpers.dialogs import answering
from helpers.export_scenes import split, story
from helpers.live_scene import LONG, Scene, check, main_id, sessions
from scstream import VideoSegmenter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import PICTURES, MarkedObject, Names, Session
from scstream_app.session.library import Library
from scstream_app.session.storage.pictures import PictureFile
from scstream_app.ui.document import document, undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.export.export_dialog import ExportDialog

pytestmark = pytest.mark.slow


def stop_recording(scene: Scene) -> Path:
    with scene.qtbot.waitSignal(scene.window.feed.recorded, timeout=LONG) as heard:
        scene.key(Qt.Key.Key_R)
    return Path(heard.args[0].path)


# --- what is kept


def test_recording_keeps_what_is_shown(scene: Scene) -> None:
    window = scene.window
    scene.show(2)
    scene.key(Qt.Key.Key_R)
    assert window.actions_["record"].isChecked()
    assert window.live_bar.state.startswith("recording 0:00")
    scene.results.clear()
    scene.show(6)
    path = stop_recording(scene)
    assert not window.actions_["record"].isChecked()
    check(path, scene.results)
    with Session.open(path) as session:
        model = session.load_snapshot(0)
    assert set(model.statistics_["id"]) == set(scene.results[0].statistics["id"])
    assert f"Recorded 6 frames in '{path}'" in window.message.text
    scene.show(2)


def test_a_frame_is_recorded_before_it_is_shown(scene: Scene) -> None:
    worker = scene.window.document.run.worker
    scene.key(Qt.Key.Key_R)
    order: list[tuple[str, int]] = []
    shown, recorder = worker.on_newest, worker.recorder
    put = recorder.put

    def note_put(result: FrameResult, segmenter: VideoSegmenter) -> None:
        order.append(("recorded", result.index))
        put(result, segmenter)

    def note_shown(result: FrameResult) -> None:
        order.append(("shown", result.index))
        shown(result)

    recorder.put, worker.on_newest = note_put, note_shown
    scene.show(3)
    indices = [index for kind, index in order if kind == "shown"]
    assert len(indices) == 3
    assert order == [(kind, index) for index in indices for kind in ("recorded", "shown")]


def test_a_recording_is_opened_played_and_left_alone(scene: Scene) -> None:
    window = scene.window
    scene.key(Qt.Key.Key_R)
    scene.show(6)
    path = stop_recording(scene)
    scene.rig.let_go()
    offer = next(button for button in window.message.findChildren(QToolButton) if button.text() == "Open Recording")
    scene.qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    scene.wait(lambda: window.document.state is State.DONE and window.document.display.index == 0)
    assert not window.live_bar.isVisible()
    assert "Fake Cam" in window.windowTitle()
    scene.key(Qt.Key.Key_Right)
    scene.wait(lambda: window.document.display.index == 1)
    np.testing.assert_array_equal(window.document.display.shown.result.picture, scene.results[1].picture)
    np.testing.assert_array_equal(window.document.display.shown.result.ids, scene.results[1].ids)
    window.actions_["restart"].trigger()
    scene.wait(lambda: window.document.state is State.DONE and window.document.session.path != path)
    assert window.document.facts.name == PICTURES
    # The recording has the only copy of its pictures.
    check(path, scene.results)


def test_objects_and_names_come_along(scene: Scene) -> None:
    window = scene.window
    scene.show(2)
    corner = main_id(scene.results[-1])
    window.document.set_objects([MarkedObject.made("ground", (1, 2, 3), 1, frozenset({corner}))])
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    window.document.set_names(Names({corner: "sky"}))
    scene.show(2)
    path = stop_recording(scene)
    with Session.open(path) as session:
        (marked,) = session.objects
        assert (marked.name, marked.frame, marked.ids) == ("ground", 0, {corner})
        assert session.names.names == {corner: "sky"}


def test_marks_go_to_their_own_recording(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    window, gate, write = scene.window, Event(), PictureFile.write
    monkeypatch.setattr(PictureFile, "write", lambda *given: (gate.wait(LONG / 1000), write(*given))[1])
    scene.key(Qt.Key.Key_R)
    scene.show(3)
    corner = main_id(scene.results[-1])
    window.document.set_names(Names({corner: "sky"}))
    before = scene.device
    scene.plug_in_when_opened(monkeypatch)
    with answering(scene.qtbot, "Stop Recording and Open"):
        window.open_address("camera:0")
    before.feed(None)
    scene.wait(lambda: window.document.display.index == 0 and window.document.state is State.SEGMENTING)
    assert window.live_bar.state == "live"
    window.document.set_names(Names({corner: "another"}))
    with scene.qtbot.waitSignal(window.feed.recorded, timeout=LONG) as heard:
        gate.set()
    with Session.open(heard.args[0].path) as session:
        assert len(session) == 3
        assert session.names.names == {corner: "sky"}


@pytest.fixture
def short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep few frames, as after some minutes."""
    monkeypatch.setattr(document, "_LIVE_FRAMES", 5)
    monkeypatch.setattr(document, "_LIVE_SLACK", 2)


@pytest.mark.usefixtures("short_memory")
def test_objects_stay_where_they_were_marked_in_a_long_recording(scene: Scene) -> None:
    window = scene.window
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    corner = main_id(scene.results[-1])
    window.document.set_objects([MarkedObject.made("ground", (1, 2, 3), 2, frozenset({corner}))])
    scene.show(10)
    window.document.set_objects(
        [*window.document.objects, MarkedObject.made("all", (4, 5, 6), 12, frozenset({corner}))]
    )
    scene.show(10)
    window.document.set_names(Names({corner: "sky"}))
    path = stop_recording(scene)
    with Session.open(path) as session:
        assert [(thing.name, thing.frame) for thing in session.objects] == [("ground", 1), ("all", 11)]
        assert session.names.names == {corner: "sky"}


@pytest.mark.usefixtures("short_memory")
def test_undo_brings_an_object_back_whose_marking_is_long_past(scene: Scene) -> None:
    window = scene.window
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    corner = main_id(scene.results[-1])
    undo_commands.make_object(window.document, "ground", [corner])
    scene.show()
    undo_commands.delete_object(window.document, "ground")
    scene.show(20)
    first = window.document.summary.frames[0]
    assert first > 2
    scene.qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert [(thing.name, thing.frame) for thing in window.document.objects] == [("ground", first)]
    assert window.document.display.members() == {"ground": {corner}}
    path = stop_recording(scene)
    with Session.open(path) as session:
        assert [(thing.name, thing.frame, thing.ids) for thing in session.objects] == [("ground", 1, {corner})]
    for _ in range(2):
        scene.qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.document.objects == ()
    scene.qtbot.keyClick(window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert [thing.name for thing in window.document.objects] == ["ground"]


@pytest.mark.usefixtures("short_memory")
def test_what_undo_brings_back_has_followed_what_was_forgotten_since(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, summary = scene.window, scene.window.document.summary
    scene.show(2)
    corner = main_id(scene.results[-1])
    undo_commands.make_object(window.document, "ground", [corner])
    undo_commands.delete_object(window.document, "ground")
    # A part that splits off on the next frame.
    summary.events.append(3, split(3, corner, 10_000))
    scene.show(20)
    assert not [event for _, event in summary.events if 10_000 in event.ids]
    scene.qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.document.display.members() == {"ground": {corner, 10_000}}


# --- how it ends


def test_a_stream_that_ends_ends_its_recording(scene: Scene) -> None:
    scene.key(Qt.Key.Key_R)
    scene.show(3)
    with scene.qtbot.waitSignal(scene.window.feed.recorded, timeout=LONG) as heard:
        scene.window.document.run.worker.cancel()
        scene.rig.let_go()
    check(Path(heard.args[0].path), scene.results)
    assert scene.window.live_bar.state == "ended"
    assert not scene.window.actions_["record"].isChecked()
    assert not scene.window.actions_["record"].isEnabled()


def test_an_export_is_named_after_the_recording(scene: Scene) -> None:
    window = scene.window
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    path = stop_recording(scene)
    scene.rig.let_go()
    window.open_address(str(path))
    scene.wait(lambda: window.document.state is State.DONE)
    window.actions_["export"].trigger()
    dialog = window.findChild(ExportDialog)
    folders = [line.text() for line in dialog.findChildren(QLineEdit) if line.text().endswith("_segments")]
    assert [Path(folder).name for folder in folders] == [f"{path.stem}_segments"]
    dialog.reject()


def test_unplugged_while_recording(scene: Scene) -> None:
    scene.key(Qt.Key.Key_R)
    scene.show(3)
    scene.device.feed(None)
    scene.wait(lambda: scene.window.live_bar.dimmed)
    assert scene.window.feed.recorder is not None
    scene.replug()
    scene.wait(lambda: scene.window.document.display.index == 4)
    scene.results.append(scene.window.document.display.shown.result)
    scene.show(2)
    check(stop_recording(scene), scene.results)


def test_closing_the_window_asks_before_it_ends_the_recording(scene: Scene) -> None:
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    with answering(scene.qtbot, "Cancel"):
        scene.window.close()
    assert scene.window.isVisible()
    scene.show(2)
    with answering(scene.qtbot, "Stop Recording and Close"):
        QTimer.singleShot(0, scene.rig.let_go)
        scene.window.close()
    assert not scene.window.isVisible()
    (path,) = sessions(scene.window)
    check(path, scene.results)


@pytest.mark.parametrize("way", ["dropped", "recent", "session", "restart"])
def test_opening_something_asks_before_it_ends_a_recording(
    scene: Scene, tmp_path: Path, finished_session: Callable[..., Path], way: str
) -> None:
    window = scene.window
    clip = write_video(tmp_path / "clip.mp4", moving_square(4))
    session = finished_session(story((48, 64)))

    def open_it() -> None:
        match way:
            case "dropped":
                data = QMimeData()
                data.setUrls([QUrl.fromLocalFile(str(clip))])
                act, button, key = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
                window.viewer.dropEvent(QDropEvent(QPointF(5, 5), act, data, button, key))
            case "recent":
                window.welcome.chosen.emit(str(clip))
            case "session":
                window.welcome.session_chosen.emit(str(session))
            case "restart":
                window.actions_["restart"].trigger()

    scene.key(Qt.Key.Key_R)
    scene.show(2)
    recent = window.addresses.recent()
    with answering(scene.qtbot, "Cancel"):
        open_it()
    scene.show(2)
    assert window.live_bar.state.startswith("recording")
    assert window.addresses.recent() == recent
    with (
        scene.qtbot.waitSignal(window.feed.recorded, timeout=LONG) as heard,
        answering(scene.qtbot, "Stop Recording and Open"),
    ):
        open_it()
        scene.rig.let_go()
    check(Path(heard.args[0].path), scene.results)
    if way in ("dropped", "recent"):
        scene.wait(lambda: window.document.state is State.DONE)
        assert window.document.facts.name == "clip.mp4"


def test_a_file_that_cannot_be_opened_does_not_end_a_recording(scene: Scene, tmp_path: Path) -> None:
    window = scene.window
    (tmp_path / "notes.txt").write_text("These are notes.")
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    with answering(scene.qtbot, "Stop Recording and Open"):
        window.open_address(str(tmp_path / "notes.txt"))
    scene.wait(lambda: "notes.txt" in window.message.text)
    scene.show(2)
    assert window.live_bar.state.startswith("recording")
    with scene.qtbot.waitActive(window, timeout=LONG):
        window.activateWindow()
    check(stop_recording(scene), scene.results)


def test_closing_the_camera_asks_before_it_ends_the_recording(scene: Scene) -> None:
    scene.key(Qt.Key.Key_R)
    scene.show(4)
    with answering(scene.qtbot, "Cancel"):
        scene.window.actions_["close"].trigger()
    assert scene.window.feed.recording
    scene.rig.let_go()
    with (
        scene.qtbot.waitSignal(scene.window.feed.recorded, timeout=LONG),
        answering(scene.qtbot, "Stop Recording and Close"),
    ):
        scene.window.actions_["close"].trigger()
    (path,) = sessions(scene.window)
    check(path, scene.results)
    assert "Recorded 4 frames" in scene.window.message.text


def test_a_full_disk_ends_the_recording_and_not_the_camera(scene: Scene) -> None:
    window, resource = scene.window, pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    scene.key(Qt.Key.Key_R)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, before[1]))
    try:
        while window.feed.recorder is not None and scene.given < 60:
            scene.show()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert window.feed.recorder is None
    assert "Recording stopped." in window.message.text
    assert "File too large" in window.message.text
    assert not window.actions_["record"].isChecked()
    scene.show(3)
    assert window.live_bar.state == "live"
    (path,) = sessions(window)
    window.open_address(str(path))
    scene.rig.let_go()
    scene.wait(lambda: window.document.state is State.DONE and window.document.display.index == 0)
    assert 0 < len(window.document.summary) < len(scene.results)


def test_an_unwritable_library_is_reported(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    scene.window.library = Library(tmp_path / "file" / "library")
    scene.key(Qt.Key.Key_R)
    assert "Cannot record" in scene.window.message.text
    assert not scene.window.actions_["record"].isChecked()
    scene.show(2)

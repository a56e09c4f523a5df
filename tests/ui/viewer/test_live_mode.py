"""Tests of live mode: a camera that shows, drops frames, stalls, reconnects and is recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QLabel, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.counting import Counter
from helpers.dialogs import answering
from helpers.export_scenes import split, story
from helpers.fake_camera import CameraRig, FakeDevice
from scstream import VideoSegmenter
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import Picture
from scstream_app.session import PICTURES, MarkedObject, Names, Session
from scstream_app.session.library import Library
from scstream_app.session.storage.pictures import PictureFile
from scstream_app.settings import Settings
from scstream_app.sources import Camera, CameraInfo, CameraMode, open_source
from scstream_app.ui.document import document, live_feed, undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.export.export_dialog import ExportDialog
from scstream_app.ui.sessions.opening import camera_dialog, document_opener
from scstream_app.ui.sessions.opening.camera_dialog import CameraDialog
from scstream_app.ui.timeline.transport import Transport
from scstream_app.ui.viewer.bars.live_bar import LatencyMeter
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status.status_bar_widgets import SettledLight

pytestmark = pytest.mark.slow

LONG = 60_000
PICTURES_OF_CAMERA = moving_square(40, width=160)


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[CameraRig]:
    rig = CameraRig()
    real = segmentation_worker.open_source
    monkeypatch.setattr(
        segmentation_worker, "open_source", lambda text: rig.open(text) if "camera:" in text else real(text)
    )
    yield rig
    rig.let_go()


@pytest.fixture
def settings(settings: QSettings) -> QSettings:
    """Settings with a fixed processing size, so that no test depends on the speed of the engine."""
    settings.setValue("live/target", 0)
    return settings


@pytest.fixture
def quick(quick: Settings) -> Settings:
    return replace(quick, scene_cuts=False)


@pytest.fixture
def before_closing(rig: CameraRig) -> Callable[[MainWindow], None]:
    """Stop recording and release the device, so that closing neither asks nor waits."""

    def let_go(window: MainWindow) -> None:
        window.feed.stop()
        rig.let_go()

    return let_go


class Scene:
    """Window with a fake camera that the test feeds picture by picture."""

    def __init__(self, qtbot: QtBot, window: MainWindow, rig: CameraRig) -> None:
        self.qtbot, self.window, self.rig = qtbot, window, rig
        self.given = 0
        self.results: list[FrameResult] = []
        self.device = rig.plug_in(self.picture())
        window.open_address("camera:0")
        self.wait(lambda: window.document.display.index == 0 and window.document.state is State.SEGMENTING)

    def picture(self) -> Picture:
        self.given += 1
        return PICTURES_OF_CAMERA[self.given % len(PICTURES_OF_CAMERA)]

    def wait(self, until: object) -> None:
        self.qtbot.waitUntil(until, timeout=LONG)  # type: ignore[arg-type]

    def show(self, count: int = 1) -> None:
        """Feed pictures one by one, each when the previous one is on the screen and in the summary."""
        document = self.window.document
        for _ in range(count):
            before = document.display.index
            self.device.feed(self.picture())
            self.wait(lambda before=before: before != document.display.index == document.summary.frames[-1])
            self.results.append(document.display.shown.result)

    def key(self, key: Qt.Key) -> None:
        self.qtbot.keyClick(self.window, key)

    def replug(self) -> FakeDevice:
        self.device = self.rig.plug_in(self.picture())
        return self.device

    def plug_in_when_opened(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Provide a device only when the source is opened; a camera still being closed would take it."""

        def opened(text: str) -> Camera:
            self.replug()
            return self.rig.open(text)

        monkeypatch.setattr(segmentation_worker, "open_source", opened)


@pytest.fixture
def scene(qtbot: QtBot, window: MainWindow, rig: CameraRig) -> Scene:
    return Scene(qtbot, window, rig)


def sessions(window: MainWindow) -> list[Path]:
    return sorted(window.library.folder.glob("*.scstream"))


def main_id(result: FrameResult) -> int:
    """Id of the segment in the upper left corner, where nothing moves."""
    return int(result.ids[0, 0])


def test_frames_of_a_live_source_are_not_segmented_again(scene: Scene) -> None:
    scene.show(1)
    again, one = (scene.window.actions_[id] for id in ("restart_here", "segment_one"))
    assert not again.isEnabled()
    assert again.statusTip() == "Frames of a live source cannot be segmented again: its pictures are not stored"
    scene.key(Qt.Key.Key_Space)
    assert (one.isEnabled(), one.statusTip()) == (False, "Not available for a live source")


# --- showing


def test_numbers_that_change_with_every_frame_leave_everything_in_its_place(scene: Scene) -> None:
    scene.show(12)
    window = scene.window
    requests = Counter(QEvent.Type.LayoutRequest, window.findChild(Transport), window.statusBar(), window.live_bar)
    scene.show(24)
    # Rarely a number gets another digit; ordinary labels would request a layout several times a frame.
    assert requests.count < 8


def test_the_light_does_not_flicker(scene: Scene) -> None:
    scene.show(12)
    light = scene.window.findChild(SettledLight)
    scene.wait(lambda: light.isVisible())
    hidden = Counter(QEvent.Type.Hide, light)
    scene.show(12)
    assert hidden.count == 0


def test_a_camera_is_shown_and_nothing_is_written(scene: Scene) -> None:
    window = scene.window
    scene.show(5)
    assert window.live_bar.isVisible()
    assert window.live_bar.state == "live"
    assert any("Fake Cam" in label.text() for label in window.live_bar.findChildren(QLabel))
    assert "Fake Cam" in window.windowTitle()
    # Only the live bar shows the frame rate.
    assert not any("frames/s" in label.text() for label in window.statusBar().findChildren(QLabel))
    assert sessions(window) == []
    assert not window.actions_["save"].isEnabled()
    assert not window.actions_["export"].isEnabled()
    assert window.actions_["hide"].statusTip() == "Select segments to hide them"
    scene.wait(lambda: window.live_bar.latency.split()[1].isdecimal())


def test_a_first_frame_is_not_waited_for(qtbot: QtBot, window: MainWindow, rig: CameraRig) -> None:
    window.document.set_settings(Settings(max_init_sweeps=200, threads=1))
    sweeps, document = [0], window.document
    document.previewed.connect(lambda: sweeps.append(document.preview.progress.sweep if document.preview else 0))
    Scene(qtbot, window, rig)
    # The first frame of a clip shows a preview every ten sweeps.
    assert max(sweeps) < 10


def test_files_have_no_live_bar(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(4))))
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    assert not window.live_bar.isVisible()
    assert not window.actions_["record"].isEnabled()


def test_dropped_frames_are_counted_and_shown(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, measures = Event(), segmentation_worker.measure_frame
    monkeypatch.setattr(
        segmentation_worker, "measure_frame", lambda *given: (gate.wait(LONG / 1000), measures(*given))[1]
    )
    last = scene.given + 6
    scene.device.feed(*(scene.picture() for _ in range(6)))
    scene.device.settle()
    gate.set()
    wanted = PICTURES_OF_CAMERA[last % len(PICTURES_OF_CAMERA)]
    scene.wait(lambda: np.array_equal(scene.window.document.display.shown.result.picture, wanted))
    # A frame is shown before it is in the summary.
    scene.wait(lambda: scene.window.document.summary.frames[-1] == scene.window.document.display.index)
    dropped = scene.given - len(scene.window.document.summary)
    assert dropped >= 4
    assert scene.window.feed.dropped == dropped
    scene.wait(lambda: scene.window.live_bar.dropped == f"{dropped} dropped")


def test_space_pauses_and_the_last_frames_can_be_gone_through(scene: Scene) -> None:
    window = scene.window
    scene.show(6)
    assert not window.actions_["previous"].isEnabled()
    scene.key(Qt.Key.Key_Space)
    assert window.live_bar.state == "paused"
    scene.device.feed(*(scene.picture() for _ in range(3)))
    scene.device.settle()
    scene.key(Qt.Key.Key_Left)
    scene.wait(lambda: window.document.display.index == 5)
    np.testing.assert_array_equal(window.document.display.shown.result.picture, scene.results[4].picture)
    scene.key(Qt.Key.Key_Home)
    scene.wait(lambda: window.document.display.index == 0)
    first = scene.given - 2
    scene.key(Qt.Key.Key_Space)
    newest = scene.picture()
    scene.device.feed(newest)
    scene.wait(lambda: np.array_equal(window.document.display.shown.result.picture, newest))
    # The first frame of the pause was outdated when the pause ended; a pause drops no frames.
    kept = [window.document.run.worker.recent.at(index) for index in window.document.summary.frames]
    stale = PICTURES_OF_CAMERA[first % len(PICTURES_OF_CAMERA)]
    assert not any(np.array_equal(result.picture, stale) for result in kept)
    assert window.feed.dropped <= 1


def test_disabled_step_buttons_explain_why(scene: Scene) -> None:
    button = scene.window.transport.findChild(QToolButton, "previous")
    assert not button.isEnabled()
    assert "Pause" in button.toolTip()
    play = scene.window.transport.findChild(QToolButton, "play")
    scene.qtbot.mouseClick(play, Qt.MouseButton.LeftButton)
    assert scene.window.document.state is State.PAUSED
    assert button.isEnabled()
    assert "Previous frame" in button.toolTip()


def test_numbers_of_an_endless_stream_are_bounded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_LIVE_FRAMES", 5)
    monkeypatch.setattr(document, "_LIVE_SLACK", 2)
    scene.show(12)
    frames = scene.window.document.summary.frames
    assert 5 <= len(frames) <= 7
    assert frames[-1] == 12
    corner = main_id(scene.results[-1])
    assert scene.window.document.summary.lives[corner].born == 0
    ticks = [frame for ticks in scene.window.timeline.marks.ticks.values() for frame in ticks.frames]
    assert sorted(ticks) == [frame for frame, _ in scene.window.document.summary.events]


def test_closing_a_camera_leaves_nothing(scene: Scene) -> None:
    scene.show(2)
    scene.rig.let_go()
    scene.window.actions_["close"].trigger()
    scene.wait(lambda: scene.device.released)
    assert scene.window.welcome.isVisible()
    assert not scene.window.live_bar.isVisible()
    assert sessions(scene.window) == []


def test_a_stream_that_ends_can_still_be_looked_at(scene: Scene) -> None:
    scene.show(3)
    scene.window.document.run.worker.cancel()
    scene.rig.let_go()
    scene.wait(lambda: scene.window.document.state is State.STOPPED)
    assert scene.window.live_bar.state == "ended"
    scene.key(Qt.Key.Key_Left)
    scene.wait(lambda: scene.window.document.display.index == 2)


# --- stalls


def test_a_frozen_camera_is_reported_and_reconnected(scene: Scene) -> None:
    window = scene.window
    scene.show(3)
    before = window.document.display.shown.result
    scene.rig.now += 2.0
    scene.wait(lambda: window.live_bar.state.startswith("no picture for"))
    assert "reconnecting" in window.live_bar.state
    assert window.message.isVisible()
    assert "delivers no new pictures" in window.message.text
    assert window.live_bar.dimmed
    assert window.document.display.index == 3
    scene.replug()
    scene.wait(lambda: window.live_bar.state == "live" and window.document.display.index == 4)
    assert not window.live_bar.dimmed
    assert "delivers pictures again" in window.message.text
    after = window.document.display.shown.result
    assert not after.cut
    assert main_id(after) == main_id(before)
    scene.show(2)


def test_a_silent_network_stream_is_waited_for(
    window: MainWindow, qtbot: QtBot, rig: CameraRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(text: str) -> Camera:
        stream = rig.open(text)
        stream.address = text
        return stream

    monkeypatch.setattr(segmentation_worker, "open_source", opened)
    rig.plug_in(PICTURES_OF_CAMERA[0])
    window.open_address("rtsp://example.org/door")
    qtbot.waitUntil(lambda: window.document.state is State.SEGMENTING, timeout=LONG)
    rig.now += 2.0
    qtbot.waitUntil(lambda: window.live_bar.state.startswith("no picture for"), timeout=LONG)
    assert window.live_bar.state.endswith("– waiting")
    assert window.live_bar.dimmed


def test_an_unplugged_camera_is_reported_at_once(scene: Scene) -> None:
    scene.show(2)
    before = scene.window.document.display.shown.result
    scene.device.feed(None)
    scene.wait(lambda: scene.window.live_bar.dimmed)
    scene.replug()
    scene.wait(lambda: not scene.window.live_bar.dimmed and scene.window.document.display.index == 3)
    assert main_id(scene.window.document.display.shown.result) == main_id(before)


# --- frame rate


def targets(scene: Scene) -> QComboBox:
    return scene.window.live_bar.findChild(QComboBox, "target")


def choose(scene: Scene, text: str) -> None:
    box = targets(scene)
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def shown_size(scene: Scene) -> str:
    return next(label.text() for label in scene.window.live_bar.findChildren(QLabel) if label.text().startswith("size"))


def test_the_size_adapts_and_ids_are_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.show(3)
    before = main_id(scene.results[-1])
    choose(scene, "Hold 30 fps")
    wishes = iter([0.5])
    monkeypatch.setattr(live_feed.AdaptiveScale, "note", lambda pace, *frame: next(wishes, None))
    scene.show(4)
    assert shown_size(scene) == "size 50 %"
    assert main_id(scene.results[-1]) == before
    assert scene.window.document.settings.scale == 1.0
    choose(scene, "Fixed size")
    scene.show(2)
    assert shown_size(scene) == "size 100 %"
    assert main_id(scene.results[-1]) == before
    assert scene.window.feed.target is None


def test_the_rate_is_remembered(scene: Scene, tmp_path: Path) -> None:
    choose(scene, "Hold 15 fps")
    again = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), scene.window.library)
    scene.qtbot.addWidget(again)
    assert again.feed.target == 15.0
    again.close()


def test_a_size_that_the_user_chooses_stays(scene: Scene) -> None:
    choose(scene, "Hold 30 fps")
    scene.window.document.edit(Edit("change", values={"scale": 0.75}))
    scene.show(2)
    scene.wait(lambda: targets(scene).currentText() == "Fixed size")
    assert shown_size(scene) == "size 75 %"


# --- recording


def stop_recording(scene: Scene) -> Path:
    with scene.qtbot.waitSignal(scene.window.feed.recorded, timeout=LONG) as heard:
        scene.key(Qt.Key.Key_R)
    return Path(heard.args[0].path)


def check(path: Path, results: list[FrameResult]) -> None:
    """Assert that the session holds exactly these ids and pictures."""
    with Session.open(path) as session, open_source(session.source_address) as source:
        assert session.manifest.complete
        assert len(session) == len(results)
        for kept, given in zip(session.results(source=source), results, strict=True):
            np.testing.assert_array_equal(kept.ids, given.ids)
            np.testing.assert_array_equal(kept.picture, given.picture)


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


def test_another_camera_is_opened_before_this_one_is_closed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    window = scene.window
    monkeypatch.setattr(document_opener, "open_source", scene.rig.open)
    window.open_address("camera:1")
    scene.wait(lambda: window.message.text == "Cannot open camera 0: no such camera is connected.")
    scene.show(2)
    assert not scene.device.released
    before = scene.device
    scene.replug()
    window.open_address("camera:1")
    scene.wait(lambda: window.document.display.index == 0)
    before.feed(None)
    scene.wait(lambda: before.released)
    assert window.live_bar.state == "live"


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


# --- rate and latency


def test_rate_and_latency_are_those_of_the_last_seconds() -> None:
    meter = LatencyMeter(span=2.0)
    for n in range(100):
        meter.note(0.1 * n, captured=0.1 * n - (0.5 if n < 50 else 0.04))
    assert meter.rate(9.9) == pytest.approx(10.0)
    assert meter.latencies(9.9) == pytest.approx([0.04] * len(meter.latencies(9.9)))
    assert meter.rate(20.0) == 0.0
    assert meter.latencies(20.0) == []


# --- camera dialog


@pytest.fixture
def cameras(rig: CameraRig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install two fake cameras."""
    infos = [CameraInfo(0, "Front", "/dev/video0"), CameraInfo(2, "Desk", "/dev/video2")]
    modes = [CameraMode(320, 240, 30.0), CameraMode(640, 480, 15.0)]
    monkeypatch.setattr(camera_dialog, "list_cameras", lambda: infos)
    monkeypatch.setattr(camera_dialog, "camera_modes", lambda device: modes)

    def opened(text: str) -> Camera:
        # Each opening gets a device of its own.
        rig.plug_in(*PICTURES_OF_CAMERA[:2])
        return rig.open(text)

    monkeypatch.setattr(camera_dialog, "open_source", opened)


@pytest.fixture
def dialog(qtbot: QtBot, rig: CameraRig, cameras: None) -> Iterator[CameraDialog]:
    dialog = CameraDialog()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    yield dialog
    rig.let_go()
    dialog.reject()


def listed(box: QComboBox) -> list[str]:
    return [box.itemText(place) for place in range(box.count())]


def has_picture(dialog: CameraDialog) -> bool:
    return not dialog.picture.pixmap().isNull()


def test_cameras_are_listed_with_a_preview(qtbot: QtBot, dialog: CameraDialog) -> None:
    qtbot.waitUntil(lambda: has_picture(dialog) and dialog.modes.count() == 3, timeout=LONG)
    assert listed(dialog.cameras) == ["Front", "Desk"]
    assert listed(dialog.modes) == ["Automatic", "320 × 240, 30 fps", "640 × 480, 15 fps"]


def test_the_preview_lets_go_before_the_camera_is_opened(qtbot: QtBot, rig: CameraRig, dialog: CameraDialog) -> None:
    qtbot.waitUntil(lambda: has_picture(dialog) and dialog.modes.count() == 3, timeout=LONG)
    qtbot.keyClick(dialog.modes, Qt.Key.Key_End)
    dialog.modes.activated.emit(dialog.modes.currentIndex())
    rig.let_go()
    qtbot.waitUntil(lambda: rig.addresses[-1] == "camera:0@640x480@15" and has_picture(dialog), timeout=LONG)
    free: list[bool] = []
    dialog.chosen.connect(lambda address: free.extend(device.released for device in rig.devices))
    with qtbot.waitSignal(dialog.chosen, timeout=LONG) as heard:
        qtbot.mouseClick(dialog.buttons.button(QDialogButtonBox.StandardButton.Open), Qt.MouseButton.LeftButton)
        rig.let_go()
    assert heard.args == ["camera:0@640x480@15"]
    assert free == [True, True]
    assert dialog.isHidden()


def test_a_busy_camera_is_reported(
    qtbot: QtBot, rig: CameraRig, dialog: CameraDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: has_picture(dialog) and dialog.modes.count() == 3, timeout=LONG)
    monkeypatch.setattr(camera_dialog, "open_source", rig.open)
    qtbot.keyClick(dialog.cameras, Qt.Key.Key_Down)
    dialog.cameras.activated.emit(dialog.cameras.currentIndex())
    rig.let_go()
    qtbot.waitUntil(lambda: "Cannot open" in dialog.picture.text(), timeout=LONG)


def test_without_cameras_the_dialog_explains_what_to_do(
    qtbot: QtBot, rig: CameraRig, dialog: CameraDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: has_picture(dialog), timeout=LONG)
    monkeypatch.setattr(camera_dialog, "list_cameras", lambda: [])
    rig.let_go()
    qtbot.mouseClick(dialog.refresh, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "No camera found" in dialog.picture.text(), timeout=LONG)
    assert not dialog.buttons.button(QDialogButtonBox.StandardButton.Open).isEnabled()


def test_the_menu_opens_what_was_chosen(
    qtbot: QtBot, window: MainWindow, rig: CameraRig, dialog: CameraDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: has_picture(dialog), timeout=LONG)
    monkeypatch.setattr(camera_dialog, "CameraDialog", lambda parent, fallback, folder: dialog)
    dialog.chosen.connect(lambda address: rig.plug_in(PICTURES_OF_CAMERA[9]))
    window.actions_["open_camera"].trigger()
    dialog.buttons.button(QDialogButtonBox.StandardButton.Open).click()
    rig.let_go()
    qtbot.waitUntil(lambda: window.live_bar.isVisible() and window.document.display.index == 0, timeout=LONG)


def opened_dialog(scene: Scene) -> CameraDialog:
    """Open the dialog from the menu and wait for a preview picture."""
    scene.wait(lambda: scene.window.findChild(CameraDialog) is not None)
    dialog = scene.window.findChild(CameraDialog)
    scene.wait(lambda: has_picture(dialog) and dialog.isActiveWindow())
    return dialog


def leave(scene: Scene, dialog: CameraDialog, monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    """Cancel the dialog; returns the device of its preview."""
    preview = scene.rig.devices[-1]
    scene.plug_in_when_opened(monkeypatch)
    scene.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    preview.feed(None)
    return preview


@pytest.mark.usefixtures("cameras")
def test_the_camera_that_is_on_is_free_while_another_is_chosen_and_comes_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = scene.window
    scene.show(3)
    window.actions_["open_camera"].trigger()
    assert window.findChild(CameraDialog) is None
    scene.device.feed(None)
    dialog = opened_dialog(scene)
    assert scene.device.released
    preview = leave(scene, dialog, monkeypatch)
    scene.wait(lambda: window.document.display.index == 0 and window.document.state is State.SEGMENTING)
    assert preview.released
    assert window.live_bar.isVisible()
    scene.wait(lambda: window.findChild(CameraDialog) is None)
    scene.show(2)


@pytest.mark.usefixtures("cameras")
def test_a_recording_is_not_ended_by_choosing_a_camera_without_a_question(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = scene.window
    scene.key(Qt.Key.Key_R)
    scene.show(2)
    with answering(scene.qtbot, "Cancel"):
        window.actions_["open_camera"].trigger()
    scene.show(2)
    assert window.live_bar.state.startswith("recording")
    with (
        scene.qtbot.waitSignal(window.feed.recorded, timeout=LONG) as heard,
        answering(scene.qtbot, "Stop Recording and Choose"),
    ):
        window.actions_["open_camera"].trigger()
        scene.device.feed(None)
    check(Path(heard.args[0].path), scene.results)
    leave(scene, opened_dialog(scene), monkeypatch)
    scene.wait(lambda: window.document.display.index == 0)


def test_cameras_found_after_the_dialog_is_closed_are_ignored(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, trouble = Event(), list[threading.ExceptHookArgs]()
    monkeypatch.setattr(camera_dialog, "list_cameras", lambda: gate.wait(LONG / 1000) and [])
    monkeypatch.setattr(threading, "excepthook", trouble.append)
    dialog = CameraDialog()
    dialog.open()
    with qtbot.waitSignal(dialog.destroyed):
        dialog.reject()
    gate.set()
    qtbot.waitUntil(lambda: all(thread.name != "scstream-cameras" for thread in threading.enumerate()))
    assert trouble == []

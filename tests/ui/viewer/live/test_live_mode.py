"""Tests of live mode: a camera that shows, drops frames, stalls and reconnects."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSettings, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.counting import Counter
from helpers.fake_camera import CameraRig
from helpers.live_scene import LONG, PICTURES_OF_CAMERA, Scene, main_id, sessions
from scstream_app.pipeline.edits import Edit
from scstream_app.settings import Settings
from scstream_app.sources import Camera
from scstream_app.ui.document import document, live_feed
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.sessions.opening import document_opener
from scstream_app.ui.timeline.transport import Transport
from scstream_app.ui.viewer.bars.live_bar import LatencyMeter
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.status.status_bar_widgets import SettledLight

pytestmark = pytest.mark.slow


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


def numbers(bar: QWidget) -> dict[str, QRect]:
    """Accessible names and places of the visible numbers in the live bar."""
    names = ("Time", "Frame rate", "Latency", "Dropped frames", "Processing size")
    labels = [label for label in bar.findChildren(QLabel) if label.isVisible() and label.accessibleName() in names]
    return {label.accessibleName(): QRect(label.mapTo(bar, QPoint()), label.size()) for label in labels}


def test_a_narrow_bar_has_all_numbers_on_a_second_line(scene: Scene) -> None:
    window, bar = scene.window, scene.window.live_bar
    record = bar.findChild(QToolButton, "record")

    def second_line() -> bool:
        return all(place.top() >= record.geometry().bottom() for place in numbers(bar).values())

    for size, narrow in (((1800, 900), False), ((1024, 670), True), ((1800, 900), False), ((1024, 700), True)):
        window.resize(*size)
        scene.wait(lambda narrow=narrow: len(numbers(bar)) == 5 and second_line() == narrow)
        assert all(bar.rect().contains(place) for place in numbers(bar).values())
        assert bar.rect().contains(record.geometry())
    scene.show(1)
    scene.wait(lambda: bar.time != "")


def test_the_narrowest_bar_leaves_out_numbers(scene: Scene) -> None:
    window, bar = scene.window, scene.window.live_bar
    window.resize(window.minimumSizeHint())
    scene.wait(lambda: "Processing size" not in numbers(bar))
    assert {"Time", "Frame rate", "Latency"} <= set(numbers(bar))
    assert all(bar.rect().contains(place) for place in numbers(bar).values())
    window.resize(1024, 700)
    scene.wait(lambda: len(numbers(bar)) == 5)


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


# --- rate and latency


def test_rate_and_latency_are_those_of_the_last_seconds() -> None:
    meter = LatencyMeter(span=2.0)
    for n in range(100):
        meter.note(0.1 * n, captured=0.1 * n - (0.5 if n < 50 else 0.04))
    assert meter.rate(9.9) == pytest.approx(10.0)
    assert meter.latencies(9.9) == pytest.approx([0.04] * len(meter.latencies(9.9)))
    assert meter.rate(20.0) == 0.0
    assert meter.latencies(20.0) == []

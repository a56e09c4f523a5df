"""Live sources without a camera: a clip that is played as one, URLs, the source's time, and the processing size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from helpers.clips import moving_square, write_video
from helpers.fake_camera import CameraRig
from helpers.menus import menu_called
from scstream_app.addresses import short_name
from scstream_app.session import FrameRecord
from scstream_app.settings import Settings
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.sessions.opening import camera_dialog
from scstream_app.ui.sessions.opening.camera_dialog import CameraDialog
from scstream_app.ui.sessions.opening.url_dialog import UrlDialog
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000
PICTURES = moving_square(12, width=96)


@pytest.fixture
def settings(settings: QSettings) -> QSettings:
    settings.setValue("live/target", 20)
    return settings


@pytest.fixture
def quick(quick: Settings) -> Settings:
    return replace(quick, scene_cuts=False)


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[CameraRig]:
    rig = CameraRig()
    monkeypatch.setattr(segmentation_worker, "open_source", rig.open)
    yield rig
    rig.let_go()


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clip of 0.24 seconds that the user chooses in the next file dialog."""
    path = write_video(tmp_path / "walk.mp4", PICTURES[:6])
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *about: (str(path), ""))
    return path


def wait(qtbot: QtBot, until: Callable[[], bool]) -> None:
    qtbot.waitUntil(until, timeout=LONG)


def shown_size(window: MainWindow) -> str:
    return next(label.text() for label in window.live_bar.findChildren(QLabel) if label.text().startswith("size"))


# --- a clip as a camera


def test_the_menu_plays_a_clip_as_a_camera(qtbot: QtBot, window: MainWindow, clip: Path) -> None:
    (entry,) = [each for each in menu_called(window, "File").actions() if each.objectName() == "open_clip_as_camera"]
    assert entry.text().replace("&", "") == "Play a Clip as a Camera…"
    entry.trigger()
    wait(qtbot, lambda: window.live_bar.isVisible() and window.document.display.shown is not None)
    # It goes on after its end, with the times of the clip.
    wait(qtbot, lambda: len(window.document.summary) and window.document.summary.value("time", -1) > 0.3)
    assert window.document.live
    assert window.windowTitle().startswith("walk.mp4")
    times = window.document.summary.column("time")
    assert times * 25.0 == pytest.approx((times * 25.0).round(), abs=0.01)
    assert short_name(window.addresses.recent()[0]) == "walk.mp4 (as a camera)"


def test_cancelling_the_file_dialog_opens_nothing(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *about: ("", ""))
    window.actions_["open_clip_as_camera"].trigger()
    assert window.document.state is State.EMPTY
    assert window.addresses.recent() == []


def test_the_camera_dialog_plays_a_clip_where_there_is_no_camera(
    qtbot: QtBot, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(camera_dialog, "list_cameras", lambda: [])
    dialog = CameraDialog()
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: "play a clip" in dialog.picture.text())
    assert not dialog.buttons.button(QDialogButtonBox.StandardButton.Open).isEnabled()
    with qtbot.waitSignal(dialog.chosen) as heard:
        qtbot.mouseClick(dialog.clip, Qt.MouseButton.LeftButton)
    assert heard.args == [f"live-loop:{clip}"]
    assert dialog.isHidden()


def test_the_camera_dialog_may_close_while_a_clip_is_chosen(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file dialog was its child, and deleted with it while it ran, which sometimes crashed."""
    monkeypatch.setattr(camera_dialog, "list_cameras", lambda: [])
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = CameraDialog(parent)
    dialog.open()
    qtbot.waitUntil(lambda: "play a clip" in dialog.picture.text())
    seen: list[QWidget | None] = []

    def close() -> None:
        seen.append(QApplication.activeModalWidget())
        dialog.close()
        dialog.destroyed.connect(end)

    def end() -> None:
        (chooser,) = seen
        assert isinstance(chooser, QFileDialog)
        assert chooser.parentWidget() is parent
        chooser.reject()

    QTimer.singleShot(0, close)
    dialog.clip.click()
    assert not isValid(dialog)


# --- a camera


def open_camera(qtbot: QtBot, window: MainWindow, rig: CameraRig) -> FrameRecord:
    """Open the camera and return the record of its first frame."""
    records: list[FrameRecord] = []
    window.document.run.worker.noted.connect(records.append)
    rig.plug_in(PICTURES[0])
    window.open_address("camera:0")
    wait(qtbot, lambda: len(window.document.summary.frames) > 0 and window.document.display.index == 0)
    return records[0]


def test_the_time_is_that_of_the_source(qtbot: QtBot, window: MainWindow, rig: CameraRig) -> None:
    open_camera(qtbot, window, rig)
    wait(qtbot, lambda: window.live_bar.time == "00:00.000")
    rig.now += 75.5
    rig.devices[0].feed(PICTURES[1])
    wait(qtbot, lambda: window.live_bar.time == "01:15.500")
    # It stands still while no frame comes.
    rig.now += 0.5
    window.feed.changed.emit()
    assert window.live_bar.time == "01:15.500"
    rig.let_go()


def deliver(window: MainWindow, first: FrameRecord, count: int, engine: float, drops: int = 0) -> None:
    """Have the worker report frames of a camera that delivers ten per second, segmented in ``engine`` milliseconds."""
    worker = window.document.run.worker
    for _ in range(count):
        place = window.document.summary.frames[-1] + 1
        worker.dropped += drops
        time = 0.1 * (place + worker.dropped)
        worker.noted.emit(replace(first, index=place, time=time, milliseconds={"engine": engine}))


def test_a_slow_camera_is_never_reduced_and_one_whose_frames_are_late_is(
    qtbot: QtBot, window: MainWindow, rig: CameraRig
) -> None:
    first = open_camera(qtbot, window, rig)
    # 60 ms are more than 20 frames per second allow, but this camera delivers only ten.
    deliver(window, first, 60, engine=60.0)
    assert window.document.pending.expected.settings.scale == 1.0
    assert shown_size(window) == "size 100 %"
    deliver(window, first, 12, engine=150.0, drops=1)
    rig.devices[0].feed(PICTURES[1])
    wait(qtbot, lambda: shown_size(window) == "size 50 %")
    rig.let_go()


# --- URLs


def test_the_url_dialog_shows_examples_and_the_last_addresses(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in ("rtsp://me:secret@door/1", "/videos/dog.mp4", "http://host/a.m3u8"):
        window.addresses.remember(address)
    opened: list[str] = []
    monkeypatch.setattr(window.opening, "open_address", opened.append)
    seen: list[str] = []

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, UrlDialog)
        button = dialog.buttons.button(QDialogButtonBox.StandardButton.Open)
        seen.extend(label.text() for label in dialog.findChildren(QLabel))
        seen.append(str(button.isEnabled()))
        seen.extend(dialog.field.itemText(place) for place in range(dialog.field.count()))
        # Down chooses the newest address.
        qtbot.keyClick(dialog.field, Qt.Key.Key_Down)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    QTimer.singleShot(0, answer)
    window.actions_["open_url"].trigger()
    assert opened == ["http://host/a.m3u8"]
    assert any(text.startswith("rtsp://") for text in seen)
    assert any(text.endswith(".m3u8") for text in seen)
    assert any(text.startswith("udp://") for text in seen)
    assert seen[-3:] == ["False", "http://host/a.m3u8", "rtsp://me@door/1"]

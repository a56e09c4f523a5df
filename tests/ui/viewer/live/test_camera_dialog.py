"""Tests of the dialog that chooses a camera: a list, a preview, and the camera that is on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialogButtonBox
from pytestqt.qtbot import QtBot

from helpers.dialogs import answering
from helpers.fake_camera import CameraRig, FakeDevice
from helpers.live_scene import LONG, PICTURES_OF_CAMERA, Scene, check
from scstream_app.sources import Camera, CameraInfo, CameraMode
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions.opening import camera_dialog
from scstream_app.ui.sessions.opening.camera_dialog import CameraDialog
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow


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

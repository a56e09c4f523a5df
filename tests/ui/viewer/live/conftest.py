"""Fixtures of live mode: a fake camera, a window that shows it, and settings that hold on any machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from helpers.fake_camera import CameraRig
from helpers.live_scene import Scene
from scstream_app.settings import Settings
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.window.main_window import MainWindow


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[CameraRig]:
    """Fake cameras, which all addresses of cameras open."""
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
    """Engine settings for quick tests, with no cuts between the pictures of a camera."""
    return replace(quick, scene_cuts=False)


@pytest.fixture
def before_closing(rig: CameraRig) -> Callable[[MainWindow], None]:
    """Stop recording and release the device, so that closing neither asks nor waits."""

    def let_go(window: MainWindow) -> None:
        window.feed.stop()
        rig.let_go()

    return let_go


@pytest.fixture
def scene(qtbot: QtBot, window: MainWindow, rig: CameraRig) -> Scene:
    """A window whose camera has shown its first picture."""
    return Scene(qtbot, window, rig)

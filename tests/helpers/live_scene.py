"""A window with a fake camera, and what was recorded of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square
from helpers.fake_camera import CameraRig, FakeDevice
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.image_types import Picture
from scstream_app.session import Session
from scstream_app.sources import Camera, open_source
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers import segmentation_worker
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000
PICTURES_OF_CAMERA = moving_square(40, width=160)


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


def sessions(window: MainWindow) -> list[Path]:
    """All that are in the window's library."""
    return sorted(window.library.folder.glob("*.scstream"))


def main_id(result: FrameResult) -> int:
    """Id of the segment in the upper left corner, where nothing moves."""
    return int(result.ids[0, 0])


def check(path: Path, results: list[FrameResult]) -> None:
    """Assert that the session holds exactly these ids and pictures."""
    with Session.open(path) as session, open_source(session.source_address) as source:
        assert session.manifest.complete
        assert len(session) == len(results)
        for kept, given in zip(session.results(source=source), results, strict=True):
            np.testing.assert_array_equal(kept.ids, given.ids)
            np.testing.assert_array_equal(kept.picture, given.picture)

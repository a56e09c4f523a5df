"""Tests of opening TIFF stacks, patterns and several images in the window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_images
from helpers.dialogs import typing_path
from scstream_app.session import Manifest
from scstream_app.sources import sequence_of
from scstream_app.sources.images.locations import locate
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow

LONG = 20_000


def finish(window: MainWindow, qtbot: QtBot, count: int) -> Manifest:
    """Wait until all frames are segmented; returns the manifest of the session."""
    qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
    session = window.document.session
    assert session is not None
    assert len(session) == count
    return session.manifest


def test_a_stack_is_stretched_and_the_range_is_shown_and_stored(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stack.tif"
    tifffile.imwrite(path, np.stack(moving_square(2))[..., 0].astype(np.uint16) + 500, photometric="minisblack")
    filters = []

    def choose(parent: object, title: str, folder: str, names: str) -> tuple[str, str]:
        filters.append(names)
        return str(path), names

    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose)
    with qtbot.waitSignal(window.document.noticed, timeout=LONG) as noticed:
        window.open_dialogs.video()
    assert "are shown as black to white" in noticed.args[0].text
    source = finish(window, qtbot, 2).source
    assert (source.address, source.name) == (str(path), "stack.tif")
    assert source.reading.startswith("#range=5")
    assert "*.tif" in filters[0]


def test_an_image_is_chosen_and_its_folder_is_opened(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_images(tmp_path / "frames", moving_square(3))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: (str(folder / "00001.png"), given[-1]))
    window.actions_["open_images"].trigger()
    source = finish(window, qtbot, 3).source
    assert (source.address, source.name) == (str(folder), "frames")


def test_a_folder_of_images_can_be_typed(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = write_images(tmp_path / "frames", moving_square(3))

    with typing_path(qtbot, folder):
        window.actions_["open_folder"].trigger()
    source = finish(window, qtbot, 3).source
    assert (source.address, source.name) == (str(folder), "frames")


def test_an_image_of_the_rarer_kind_opens_its_kind(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "takes [2]", moving_square(3))
    (folder / "cover.jpg").write_bytes(b"")
    assert sequence_of(folder / "00001.png") == str(folder)
    assert [path.name for path in locate(sequence_of(folder / "cover.jpg")).paths] == ["cover.jpg"]


def test_options_in_an_address(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = write_images(tmp_path / "frames", moving_square(2))
    window.opening.open_address(f"{folder}/%05d.png#rate=7")
    manifest = finish(window, qtbot, 2)
    assert (manifest.source.rate, manifest.source.reading) == (7.0, "#rate=7")
    session = window.document.session
    assert session is not None
    assert session.path.name.startswith("frames ")
    assert window.document.facts is not None
    assert window.document.facts.rate == 7.0

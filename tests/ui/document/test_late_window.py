"""A window that is busy while the worker runs ahead: what it hears late it must not get wrong."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from scstream_app.settings import Settings
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

LONG = 120_000


def test_a_run_that_has_ended_before_the_window_hears_of_it_is_followed_to_its_end(
    qtbot: QtBot, document: Document, tmp_path: Path
) -> None:
    ended = threading.Event()
    document.set_settings(Settings(max_init_sweeps=10, threads=1))
    document.run.worker.finished.connect(lambda _complete: ended.set(), Qt.ConnectionType.DirectConnection)
    document.open_source(str(write_video(tmp_path / "clip.mp4", moving_square(8))), tmp_path / "clip.scstream")
    # Nothing is delivered to the window's thread meanwhile.
    assert ended.wait(LONG / 1000)
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 7, timeout=LONG)
    assert list(document.summary.frames) == list(range(8))
    assert document.preview is None

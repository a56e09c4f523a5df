"""Tests for leaks after opening and closing clips, dialogs and windows, and after showing frames.

`tools/window_bench.py` does the same with many more clips and frames, and measures the memory of the process.
"""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import FrameRecord, Session
from scstream_app.session.library import Library
from scstream_app.session.run_summary import RunSummary
from scstream_app.settings import Settings
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.threads.mailbox import Mailbox
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

QUICK = Settings(max_init_sweeps=10, threads=1)
#: Includes the time to compile.
LONG = 120_000
DESCRIPTORS = Path("/proc/self/fd")


def census() -> dict[str, int]:
    """Number of objects that can leak, by name."""
    for _ in range(2):
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()
        gc.collect()
    found: Counter[str] = Counter(
        f"Qt {type(wrapper).__name__}" for wrapper in shiboken6.getAllValidWrappers() if isinstance(wrapper, QObject)
    )
    kinds = (type(thing) for thing in gc.get_objects())
    found.update(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith("scstream"))
    found["threads"] = threading.active_count()
    found["widgets"] = len(QApplication.allWidgets())
    if DESCRIPTORS.exists():
        found["files"] = len(list(DESCRIPTORS.iterdir()))
    return dict(found)


def more(before: dict[str, int], after: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Objects that increased in number."""
    return {name: (before.get(name, 0), n) for name, n in after.items() if n > before.get(name, 0)}


def left_behind(act: Callable[[], None], times: int = 4, first: int = 2) -> dict[str, tuple[int, int]]:
    """Objects that increased after repeated calls; the first calls fill what is created once."""
    for _ in range(first):
        act()
    before = census()
    for _ in range(times):
        act()
    left, end = more(before, census()), monotonic() + LONG / 1000
    # Other threads may still be closing files.
    while left and monotonic() < end:
        left = more(before, census())
    return left


@pytest.fixture
def make_window(settings: QSettings, tmp_path: Path) -> Callable[[], MainWindow]:
    def make() -> MainWindow:
        window = MainWindow(settings, Library(tmp_path / "library"))
        window.document.set_settings(QUICK)
        window.show()
        return window

    return make


@pytest.fixture
def window(qtbot: QtBot, make_window: Callable[[], MainWindow]) -> Iterator[MainWindow]:
    window = make_window()
    qtbot.addWidget(window)
    yield window
    window.close()


@pytest.fixture
def clips(tmp_path: Path) -> Iterator[Path]:
    """Endless sequence of results."""
    frames = moving_square(8)
    return (write_video(tmp_path / f"clip {n}.mp4", frames) for n in count())


def close_clip(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_["close"].trigger()
    idle: list[bool] = []
    window.document.run.when_idle(lambda: idle.append(True))
    qtbot.waitUntil(lambda: bool(idle), timeout=LONG)


def open_clip(window: MainWindow, qtbot: QtBot, clip: Path) -> None:
    document = window.document
    # The list of recent clips, with their sessions, grows up to its limit.
    window.addresses.clear()
    window.open_address(str(clip))
    qtbot.waitUntil(lambda: document.facts is not None and document.facts.name == clip.name, timeout=LONG)
    qtbot.waitUntil(lambda: document.state is State.DONE and document.display.index == 7, timeout=LONG)


# --- clips


def test_clips_that_were_closed_leave_nothing(window: MainWindow, qtbot: QtBot, clips: Iterator[Path]) -> None:
    def look_through() -> None:
        open_clip(window, qtbot, next(clips))
        window.actions_["view_side_by_side"].trigger()
        window.actions_["start"].trigger()
        qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
        close_clip(window, qtbot)

    assert left_behind(look_through) == {}


def test_clips_that_were_closed_midway_leave_nothing(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    clip = write_video(tmp_path / "long.mp4", moving_square(60, width=160))

    def look_in() -> None:
        window.open_address(str(clip))
        qtbot.waitUntil(lambda: len(window.document.summary) >= 2, timeout=LONG)
        close_clip(window, qtbot)

    assert left_behind(look_in) == {}


def test_a_clip_that_replaces_another_leaves_nothing_of_it(
    window: MainWindow, qtbot: QtBot, clips: Iterator[Path]
) -> None:
    assert left_behind(lambda: open_clip(window, qtbot, next(clips))) == {}


def test_files_that_cannot_be_opened_leave_nothing(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video at all " * 50)

    def try_to_open() -> None:
        with qtbot.waitSignal(window.document.failed, timeout=LONG):
            window.open_address(str(broken))
        # The error message stays.
        qtbot.waitUntil(lambda: window.document.state is State.EMPTY and not window.document.run.busy, timeout=LONG)

    assert left_behind(try_to_open) == {}


# --- dialogs and windows


@pytest.mark.parametrize("action", ["export", "shortcuts", "about", "preferences"])
def test_dialogs_that_were_closed_leave_nothing(
    window: MainWindow, qtbot: QtBot, clips: Iterator[Path], action: str
) -> None:
    def look_at() -> None:
        window.actions_[action].trigger()
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None, timeout=LONG)
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QDialog)
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None, timeout=LONG)

    open_clip(window, qtbot, next(clips))
    assert left_behind(look_at, times=3) == {}


def test_a_window_that_was_closed_leaves_nothing(
    qtbot: QtBot, make_window: Callable[[], MainWindow], clips: Iterator[Path]
) -> None:
    def use() -> None:
        window = make_window()
        open_clip(window, qtbot, next(clips))
        window.close()
        window.deleteLater()

    assert left_behind(use, times=3) == {}


# --- frames


def test_frames_that_were_shown_are_let_go(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    elsewhere = {id(thing) for thing in gc.get_objects() if isinstance(thing, FrameResult)}
    window.open_address(str(write_video(tmp_path / "long.mp4", moving_square(60, width=240))))
    qtbot.waitUntil(lambda: window.document.state is State.DONE and window.document.display.index == 59, timeout=LONG)
    window.actions_["start"].trigger()
    qtbot.waitUntil(lambda: window.document.display.index == 0, timeout=LONG)
    gc.collect()
    # The renderer and the viewer hold the current frame; no object holds an earlier one.
    results = [thing for thing in gc.get_objects() if isinstance(thing, FrameResult)]
    assert {result.index for result in results if id(result) not in elsewhere} == {0}


def test_a_mailbox_releases_replaced_items() -> None:
    class Parcel:
        pass

    box: Mailbox[Any] = Mailbox()
    for _ in range(1000):
        box.put(Parcel())
    gc.collect()
    assert sum(isinstance(thing, Parcel) for thing in gc.get_objects()) == 1
    assert box.replaced == 999


def test_a_trace_keeps_a_few_numbers_a_frame() -> None:
    record = FrameRecord(0, 0.0, False, 0.0, {"decode": 1.0, "engine": 1.0}, (), 0, 0, 0, 0, 0)
    summary, frames = RunSummary(), 5_000
    summary.add(record)
    gc.collect()
    tracemalloc.start()
    for index in range(1, frames):
        summary.add(replace(record, index=index, time=index / 25.0))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(summary) == frames
    # Index and columns of a frame, and spare capacity.
    assert size < 100 * frames


def test_a_session_keeps_little_of_each_frame(window: MainWindow, qtbot: QtBot, clips: Iterator[Path]) -> None:
    open_clip(window, qtbot, next(clips))
    gc.collect()
    records = [thing for thing in gc.get_objects() if isinstance(thing, FrameRecord)]
    assert isinstance(window.document.session, Session)
    assert len(records) <= 2, "records are read back from the file"

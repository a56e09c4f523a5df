"""Tests of the lower priority of worker threads."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from scstream_app.ui.qt.threads.background import BackgroundWorker
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="niceness of threads is Linux's")


class Asked(BackgroundWorker[list[int]]):
    """Worker that records the niceness of its thread and of a thread it starts."""

    def __init__(self) -> None:
        super().__init__("asked", 10_000)

    def ask(self, niceness: list[int]) -> None:
        self._replace(niceness)

    def _work(self, task: list[int], cancel: threading.Event) -> None:
        helper = threading.Thread(target=lambda: task.append(niceness_of(threading.get_native_id())))
        helper.start()
        helper.join()
        task.append(niceness_of(threading.get_native_id()))


def niceness_of(thread: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, thread)


def test_background_work_and_its_helpers_give_way(qtbot: QtBot) -> None:
    asked, found = Asked(), list[int]()
    asked.ask(found)
    qtbot.waitUntil(lambda: len(found) == 2)
    assert asked.shut_down()
    assert min(found) > niceness_of(threading.get_native_id())


def test_segmentation_gives_way(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    own = niceness_of(threading.get_native_id())
    window.open_address(str(tmp_path / "missing.mp4"))
    qtbot.waitUntil(lambda: any(niceness > own for niceness in niceness_of_threads_named("segmentation")))


def niceness_of_threads_named(name: str) -> list[int]:
    """Niceness of every thread of this process with that name: an earlier window's may still be ending."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            if (task / "comm").read_text().strip() == name:
                found.append(niceness_of(int(task.name)))
    return found

"""Tests of garbage collection on the interface thread, which skips loaded objects."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from threading import Thread, get_ident

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from scstream_app.ui.document.state import State
from scstream_app.ui.window.main_window import MainWindow
from scstream_app.ui.window.startup import gc_timer
from scstream_app.ui.window.startup.gc_timer import GcTimer, freeze_loaded_objects

LONG = 60_000


class Knot(QWidget):
    """Object in a reference cycle, which only the garbage collector frees."""

    def __init__(self, destroyed_on: list[int]) -> None:
        super().__init__()
        self.itself = self
        weakref.finalize(self, lambda: destroyed_on.append(get_ident()))


def allocate() -> None:
    """Allocate enough that automatic collection would run more than once."""
    assert len([[] for _ in range(200_000)]) == 200_000


def test_a_widget_is_destroyed_on_the_windows_thread_whoever_needs_memory(qtbot: QtBot) -> None:
    gc.enable()
    program, destroyed_on = QObject(), list[int]()
    GcTimer.start(program)
    Knot(destroyed_on)
    thread = Thread(target=allocate)
    thread.start()
    thread.join()
    assert destroyed_on == []
    qtbot.waitUntil(lambda: bool(destroyed_on), timeout=LONG)
    assert destroyed_on == [get_ident()]


def test_one_is_enough(qtbot: QtBot) -> None:
    program = QObject()
    for _ in range(2):
        GcTimer.start(program)
    assert len(program.findChildren(GcTimer)) == 1


def test_a_search_that_takes_long_is_followed_by_a_long_rest(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    program, now, searched = QObject(), [100.0], list[float]()
    collector = GcTimer(program)

    def collect() -> None:
        searched.append(now[0])
        now[0] += 0.1

    monkeypatch.setattr(gc_timer, "monotonic", lambda: now[0])
    monkeypatch.setattr(gc_timer.gc, "collect", collect)
    for seconds in (0.0, 1.0, 98.0, 2.0):
        now[0] += seconds
        collector.findChild(QTimer).timeout.emit()
    assert searched == [100.0, pytest.approx(201.1)]


@pytest.mark.parametrize("first", [State.SETTLING, State.DONE])
def test_what_is_loaded_is_not_searched_again(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: State
) -> None:
    address = str(write_video(tmp_path / "clip.mp4", moving_square(4)))

    def open_and_close() -> Path:
        window.open_address(address)
        qtbot.waitUntil(lambda: window.document.state is State.DONE, timeout=LONG)
        path = window.document.session.path
        window.actions_["close"].trigger()
        return path

    if first is State.DONE:
        address = str(open_and_close())
    frozen: list[State] = []
    monkeypatch.setattr(gc_timer.gc, "freeze", lambda: frozen.append(window.document.state))
    freeze_loaded_objects(window.document)
    for _ in range(2):
        open_and_close()
    assert frozen == [first]

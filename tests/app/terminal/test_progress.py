"""Progress of a run: the bar while the engine compiles, and lines where there is no terminal."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import numba
import pytest
from rich.console import Console
from rich.progress import Progress

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from scstream_app.terminal.progress import start_progress
from scstream_app.terminal.progress_display import ProgressBar, ProgressLines
from scstream_app.warmup_messages import COMPILING, PREPARING


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_terminal_shows_the_message_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, float, float | None]] = []

    def warm_up(on_progress: Callable[[int, int, str], None]) -> None:
        on_progress(1, 5, "")
        (task,) = bar.tasks
        shown.append((task.description, task.completed, task.total))
        numba.njit(lambda number: number + 1)(1)
        on_progress(2, 5, "")
        shown.append((task.description, task.completed, task.total))

    monkeypatch.setattr("scstream.warm_up", warm_up)
    bar = Progress(console=Console(file=io.StringIO()))
    start_progress(ProgressBar(bar), threading.Event(), FakeSource(moving_square(3)), 0, None)
    assert shown == [(PREPARING, 0, None), (COMPILING, 2, 5)]
    (task,) = bar.tasks
    assert (task.description, task.total) == ("First frame", 3)


def test_lines_name_compilation_only_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, compiles = Clock(), False

    def warm_up(on_progress: Callable[[int, int, str], None]) -> None:
        for step in range(6):
            clock.now += 11.0
            on_progress(step, 5, "")
            if compiles:
                numba.njit(lambda number: number + 1)(1)

    monkeypatch.setattr("scstream.warm_up", warm_up)
    start_progress(ProgressLines(clock), threading.Event(), FakeSource(moving_square(3)), 0, None)
    assert capsys.readouterr().err == ""
    compiles = True
    start_progress(ProgressLines(clock), threading.Event(), FakeSource(moving_square(3)), 0, None)
    assert COMPILING in capsys.readouterr().err


def test_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines(clock)
    lines.begin("Segmenting", 1000)
    for frame in range(1, 61):
        clock.now = frame / 2
        lines.update(frame, rate=2.0)
    lines.end()
    assert capsys.readouterr().err.splitlines() == [
        "Segmenting: 20 of 1000 (2%), 2.0 frames/s, 0:08:10 left",
        "Segmenting: 40 of 1000 (4%), 2.0 frames/s, 0:08:00 left",
        "Segmenting: 60 of 1000 (6%), 2.0 frames/s, 0:07:50 left",
    ]


def test_a_short_run_has_a_line_for_each_tenth_and_a_last_one(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines(clock)
    lines.begin("Writing files", 40)
    for frame in range(1, 41):
        clock.now = frame / 8
        lines.update(frame)
    clock.now += 0.1
    lines.end()
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "Writing files: 8 of 40 (20%), 0:00:04 left"
    assert shown[-1] == "Writing files: 40 of 40 (100%)"
    assert len(shown) == 5


def test_lines_of_a_source_without_a_known_length(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines(clock)
    lines.begin("First frame", None)
    clock.now = 11.0
    lines.update(text="First frame: sweep 3")
    clock.now = 22.0
    lines.update(5, "Segmenting", 0.5)
    assert capsys.readouterr().err == "First frame: sweep 3\nSegmenting: 5, 0.5 frames/s\n"

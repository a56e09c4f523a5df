"""The progress bar of the terminal while the engine compiles."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.progress import Progress

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from scstream_app.terminal.progress import start_progress
from scstream_app.warmup_messages import COMPILING


def test_the_terminal_shows_the_message_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, float, float | None]] = []

    def warm_up(on_progress: Callable[[int, int, str], None]) -> None:
        on_progress(2, 5, "")
        (task,) = bar.tasks
        shown.append((task.description, task.completed, task.total))

    monkeypatch.setattr("scstream.warm_up", warm_up)
    bar = Progress(console=Console(file=io.StringIO()))
    start_progress(bar, threading.Event(), FakeSource(moving_square(3)), 0, None)
    assert shown == [(COMPILING, 2, 5)]
    (task,) = bar.tasks
    assert (task.description, task.total) == ("First frame", 3)

"""What a terminal says while the engine is made ready: the same as the window."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.progress import Progress

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from scstream_app.terminal.progress import prepare
from scstream_app.warmup_messages import COMPILING


def test_the_terminal_says_what_the_window_says(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, float, float | None]] = []

    def warm_up(on_progress: Callable[[int, int, str], None]) -> None:
        on_progress(2, 5, "")
        (task,) = bar.tasks
        said.append((task.description, task.completed, task.total))

    monkeypatch.setattr("scstream.warm_up", warm_up)
    bar = Progress(console=Console(file=io.StringIO()))
    prepare(bar, threading.Event(), FakeSource(moving_square(3)), 0, None)
    assert said == [(COMPILING, 2, 5)]
    (task,) = bar.tasks
    assert (task.description, task.total) == ("First frame", 3)

"""Progress on standard error: a bar in a terminal, otherwise a line from time to time, or nothing."""

from __future__ import annotations

import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

#: Seconds between two lines of progress. After a tenth of the work, a line may come sooner, but not at once.
_SECONDS, _SHARE, _LEAST_SECONDS = 10.0, 0.1, 1.0


class ProgressDisplay(ABC):
    """Shows how far a job is."""

    @abstractmethod
    def begin(self, text: str, total: int | None) -> None:
        """Begin a stage of ``total`` steps; None if their number is unknown."""

    @abstractmethod
    def update(self, completed: int | None = None, text: str | None = None, rate: float | None = None) -> None:
        """Change the number of completed steps, the text, or the number of frames a second."""

    @abstractmethod
    def show_part(self, name: str, text: str, completed: int, total: int | None) -> None:
        """Show how far one of several parts is that run side by side."""

    @abstractmethod
    def end_part(self, name: str) -> None:
        """Stop showing a part; no effect if it is not shown."""

    @abstractmethod
    def print(self, text: str) -> None:
        """Print a line of text."""


@contextmanager
def progress_display(quiet: bool) -> Iterator[ProgressDisplay]:
    """Yield the display that suits standard error."""
    if quiet:
        yield NoProgress()
    elif in_terminal():
        with _rich_progress() as progress:
            yield ProgressBar(progress)
    else:
        lines = ProgressLines()
        yield lines
        lines.end()


def in_terminal() -> bool:
    """Whether standard error is a terminal in which a line can be overwritten."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def status_display(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step of a job whose length is unknown."""
    if quiet or in_terminal():
        with Console(stderr=True, quiet=quiet).status("") as line:
            yield lambda text: line.update(text)
    else:
        lines = ProgressLines()
        yield lambda text: lines.update(text=text)


class NoProgress(ProgressDisplay):
    """Shows nothing."""

    def begin(self, text: str, total: int | None) -> None:
        """Do nothing."""

    def update(self, completed: int | None = None, text: str | None = None, rate: float | None = None) -> None:
        """Do nothing."""

    def show_part(self, name: str, text: str, completed: int, total: int | None) -> None:
        """Do nothing."""

    def end_part(self, name: str) -> None:
        """Do nothing."""

    def print(self, text: str) -> None:
        """Do nothing."""


class ProgressBar(ProgressDisplay):
    """A bar in a terminal, with rate and remaining time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, visible=False, rate="")
        self._parts: dict[str, TaskID] = {}

    def begin(self, text: str, total: int | None) -> None:
        """Begin a stage with an empty bar."""
        self._progress.reset(self._task, total=total, description=text, visible=True, rate="")

    def update(self, completed: int | None = None, text: str | None = None, rate: float | None = None) -> None:
        """Move the bar."""
        fields: dict[str, Any] = {} if rate is None else {"rate": f"{rate:.1f} frames/s"}
        self._progress.update(self._task, completed=completed, description=text, **fields)

    def show_part(self, name: str, text: str, completed: int, total: int | None) -> None:
        """Move the bar of the part, below the one of the whole."""
        if name not in self._parts:
            self._parts[name] = self._progress.add_task(name, total=total, rate=text)
        self._progress.update(self._parts[name], completed=completed, total=total, rate=text)

    def end_part(self, name: str) -> None:
        """Remove the bar of the part."""
        if name in self._parts:
            self._progress.remove_task(self._parts.pop(name))

    def print(self, text: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(text, highlight=False, markup=False)


class ProgressLines(ProgressDisplay):
    """Plain lines without control codes, for log files: every ten seconds, or sooner after a tenth of the work."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._text, self._completed = "", 0
        self._parts: dict[str, str] = {}
        self._total: int | None = None
        self._rate: float | None = None
        self._shown: tuple[str, int] = ("", 0)
        self._begin = self._last = clock()

    def begin(self, text: str, total: int | None) -> None:
        """Begin a stage."""
        self._text, self._total, self._completed, self._rate = text, total, 0, None
        self._shown = (text, 0)
        self._begin = self._clock()

    def update(self, completed: int | None = None, text: str | None = None, rate: float | None = None) -> None:
        """Print a line if it is time for one."""
        self._completed = self._completed if completed is None else completed
        self._text = self._text if text is None else text
        self._rate = rate
        waited = self._clock() - self._last
        step = self._completed - self._shown[1]
        if waited >= _SECONDS or (waited >= _LEAST_SECONDS and self._total and step >= _SHARE * self._total):
            self._print_line()

    def show_part(self, name: str, text: str, completed: int, total: int | None) -> None:
        """Remember the part for the next line."""
        self._parts[name] = f"{name} {text} {completed} of {'?' if total is None else total}"

    def end_part(self, name: str) -> None:
        """Leave the part out of the next line."""
        self._parts.pop(name, None)

    def print(self, text: str) -> None:
        """Print a line."""
        print(" ".join(text.split()), file=sys.stderr, flush=True)

    def end(self) -> None:
        """Print the last line unless it is there."""
        if self._completed > self._shown[1]:
            self._print_line()

    def _print_line(self) -> None:
        self._last = self._clock()
        self._shown = (self._text, self._completed)
        line = ": ".join(filter(None, (self._text, self._figures())))
        self.print("; ".join([line, *self._parts.values()]))

    def _figures(self) -> str:
        """Number of steps, rate and remaining time; empty before the first step."""
        if not self._completed:
            return ""
        elapsed = self._clock() - self._begin
        rate = self._rate or (self._completed / elapsed if elapsed > 0.0 else None)
        parts = [str(self._completed)]
        if self._total:
            parts = [f"{self._completed} of {self._total} ({self._completed / self._total:.0%})"]
        if self._rate is not None:
            parts.append(f"{self._rate:.1f} frames/s")
        if self._total and rate and self._completed < self._total:
            parts.append(f"{timedelta(seconds=round((self._total - self._completed) / rate))} left")
        return ", ".join(parts)


def _rich_progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
    )

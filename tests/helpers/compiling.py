"""An engine that is being compiled for as long as a test wants, and what the window says meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from PySide6.QtWidgets import QLabel, QMainWindow


class Compiling:
    """The engine's preparation: it stops at the third of five steps until a test lets it go on."""

    def __init__(self) -> None:
        self.go, self.begun = Event(), Event()

    def __call__(self, on_progress: Callable[[int, int, str], None]) -> None:
        on_progress(2, 5, "")
        self.begun.set()
        self.go.wait()
        on_progress(5, 5, "")


def said_below(window: QMainWindow) -> list[str]:
    """What stands in the status bar."""
    return [label.text() for label in window.statusBar().findChildren(QLabel)]

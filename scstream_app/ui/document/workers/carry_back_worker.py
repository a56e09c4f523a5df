"""Carries objects of the open clip back from a frame to earlier ones."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import Signal

from scstream_app.errors import StudioError
from scstream_app.objects import MarkedObject
from scstream_app.session import Session, check_source
from scstream_app.session.objects.carry_back import carry_back
from scstream_app.sources import open_source
from scstream_app.ui.qt.threads.background import BackgroundWorker

_STOP_MILLISECONDS = 30_000


@dataclass(frozen=True, slots=True)
class CarryBackTask:
    """An object to carry back: the one at ``place`` of ``objects``, as it is on the frame ``index``."""

    session: Session
    objects: tuple[MarkedObject, ...]
    place: int
    index: int


@dataclass(frozen=True, slots=True)
class CarriedBack:
    """The outcome of a task: all objects afterwards, or what went wrong."""

    task: CarryBackTask
    objects: tuple[MarkedObject, ...] = ()
    problem: str = ""


class CarryBackWorker(BackgroundWorker[CarryBackTask]):
    """Carries one object back at a time; ``done`` says that `take` has an outcome. A cancelled task has none."""

    #: Without arguments, as `BackgroundWorker` explains.
    done = Signal()

    def __init__(self) -> None:
        super().__init__("carrying back", _STOP_MILLISECONDS)
        self._outcomes: deque[CarriedBack] = deque()

    def start(self, task: CarryBackTask) -> None:
        """Do this task instead of any other."""
        self._replace(task)

    def take(self) -> CarriedBack:
        """Return the next outcome; once for ``done``."""
        return self._outcomes.popleft()

    def _work(self, task: CarryBackTask, cancel: threading.Event) -> None:
        try:
            outcome = CarriedBack(task, self._carried(task, cancel))
        except StudioError as error:
            outcome = CarriedBack(task, problem=str(error))
        except Exception as error:
            outcome = CarriedBack(task, problem=f"Cannot carry the object back: {type(error).__name__}: {error}.")
        if not cancel.is_set():
            self._outcomes.append(outcome)
            self.done.emit()

    def _carried(self, task: CarryBackTask, cancel: threading.Event) -> tuple[MarkedObject, ...]:
        with open_source(task.session.source_address) as source:
            check_source(task.session, source)
            return carry_back(task.session, source, task.objects, task.place, task.index, cancel)

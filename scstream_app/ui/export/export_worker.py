"""Exports on a thread of their own, and what the export dialog has to know of sessions and writers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
from PySide6.QtCore import Signal

from scstream_app import export, headless
from scstream_app.errors import StudioError
from scstream_app.export import ExportObject, ExportOptions, Job
from scstream_app.render import views
from scstream_app.render.image_types import Picture
from scstream_app.render.palette import Colouring
from scstream_app.session import Session
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.background import BackgroundWorker

_STOP_MILLISECONDS = 30_000
#: Seconds between two words about progress.
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class ExportTask:
    """Frames first to last of a session, how many there are, and what is to become of them."""

    session: Session
    folder: Path
    options: ExportOptions
    first: int
    last: int
    count: int


def _frames(task: ExportTask, cancel: threading.Event) -> Iterator[int]:
    return headless.export(task.session, task.folder, task.options, task.first, task.last + 1, cancel)


def task(document: Document, folder: Path, options: ExportOptions, frames: tuple[int, int]) -> ExportTask | None:
    """The task of exporting these frames, the last one included; None if there is nothing to export."""
    first, last = frames
    there = np.array(document.summary.frames)
    count = int(((there >= first) & (there <= last)).sum())
    if document.session is None or not count:
        return None
    return ExportTask(document.session, folder, options, first, last, count)


def job(document: Document, options: ExportOptions) -> Job:
    """The options as writers get them; an ExportError says what is wrong with them."""
    assert document.facts is not None
    objects = tuple(ExportObject(thing.name, thing.ids, thing.frame) for thing in document.objects)
    return headless.make_job(options, document.facts, document.names, objects, remove_stale=False)


def trouble(document: Document, folder: Path, options: ExportOptions) -> str:
    """Why the options cannot be carried out, in one line; nothing if it can."""
    try:
        export.check_job(folder, job(document, options))
    except StudioError as error:
        return str(error)
    return ""


def preview(document: Document, view: str, palette: str, opacity: float, largest: int) -> Picture | None:
    """The frame at hand in a view, reduced to about ``largest`` pixels; "ids" shows the segments alone."""
    shown = document.display.shown
    if shown is None or shown.result.rgb is None:
        return None
    ids = shown.result.ids
    step = max(1, -(-max(ids.shape) // largest))
    scene = views.Scene(
        np.ascontiguousarray(shown.result.picture[::step, ::step]),
        np.ascontiguousarray(ids[::step, ::step]),
        members=frozenset[int]().union(*document.display.members().values()),
        opacity=1.0 if view == "ids" else opacity,
        borders=view != "ids",
        colouring=Colouring(palette, document.names.colours, frozenset() if view == "ids" else document.names.hidden),
    )
    return np.ascontiguousarray(views.draw("overlay" if view == "ids" else view, scene))


class ExportWorker(BackgroundWorker[ExportTask]):
    """Does one export at a time.

    ``progressed`` carries the number of frames done. ``finished`` comes at the end of every export: whether all
    frames were written. ``failed`` comes before it and says in one line what went wrong.
    """

    progressed = Signal(int)
    failed = Signal(str)
    finished = Signal(bool)

    def __init__(self) -> None:
        super().__init__("export", _STOP_MILLISECONDS)

    def start(self, task: ExportTask) -> None:
        """Begin; `finished` follows, also after `cancel`."""
        self._replace(task)

    def _work(self, task: ExportTask, cancel: threading.Event) -> None:
        done, told, complete = 0, 0.0, False
        try:
            for _ in _frames(task, cancel):
                done += 1
                if monotonic() - told > _PAUSE:
                    told = monotonic()
                    self.progressed.emit(done)
            complete = done == task.count and not cancel.is_set()
        except StudioError as error:
            self.failed.emit(" ".join([str(error), *getattr(error, "__notes__", [])]))
        except Exception as error:
            self.failed.emit(f"Unexpected failure: {type(error).__name__}: {error}.")
        self.progressed.emit(done)
        self.finished.emit(complete)

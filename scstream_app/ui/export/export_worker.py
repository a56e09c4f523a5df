"""Export on a background thread, and the helpers that connect the export dialog with sessions and writers."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
from PySide6.QtCore import Signal

from scstream_app import export, headless
from scstream_app.addresses import hide_secrets
from scstream_app.errors import StudioError
from scstream_app.export import ExportOptions, Job
from scstream_app.render import views
from scstream_app.render.image_types import Picture
from scstream_app.render.palette import Colouring
from scstream_app.session import Session
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.threads.background import BackgroundWorker

_logger = logging.getLogger(__name__)

_STOP_MILLISECONDS = 30_000
#: Seconds between two progress signals.
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class ExportTask:
    """One export: the frames ``first`` to ``last`` of a session (``count`` in number), the options and the folder."""

    session: Session
    folder: Path
    options: ExportOptions
    first: int
    last: int
    count: int


def make_task(document: Document, folder: Path, options: ExportOptions, frames: tuple[int, int]) -> ExportTask | None:
    """The task that exports the segmented frames from first to last (inclusive); None if there are none."""
    first, last = frames
    segmented = np.array(document.summary.frames)
    inside = segmented[(segmented >= first) & (segmented <= last)]
    if document.session is None or not len(inside):
        return None
    # Frames that are segmented meanwhile are left out, as the count says.
    return ExportTask(document.session, folder, options, first, int(inside[-1]), len(inside))


def make_job(document: Document, options: ExportOptions) -> Job:
    """The export job of the document; raises ExportError if the options are invalid."""
    assert document.facts is not None
    return headless.make_job(options, document.facts, document.names, document.objects, remove_stale=False)


def file_names(document: Document, options: ExportOptions) -> tuple[str, ...]:
    """The names of the files and folders that an export writes."""
    return export.target_names(make_job(document, options))


def find_problem(document: Document, folder: Path, options: ExportOptions) -> str:
    """Describe in one line why the export is impossible; empty if it is possible."""
    try:
        export.check_job(folder, make_job(document, options))
    except StudioError as error:
        return str(error)
    return ""


def draw_preview(document: Document, view: str, palette: str, opacity: float, largest: int) -> Picture | None:
    """The current frame in a view, reduced to about ``largest`` pixels; "ids" shows the segments alone."""
    shown = document.display.shown
    if shown is None or shown.result.rgb is None:
        return None
    ids, masks = shown.result.ids, document.display.masks()
    step = max(1, -(-max(ids.shape) // largest))
    scene = views.Scene(
        np.ascontiguousarray(shown.result.picture[::step, ::step]),
        np.ascontiguousarray(ids[::step, ::step]),
        mask=None if masks is None else views.all_objects(masks.numbers[::step, ::step]),
        opacity=1.0 if view == "ids" else opacity,
        borders=view != "ids",
        colouring=Colouring(palette, document.names.colours, frozenset() if view == "ids" else document.names.hidden),
    )
    return np.ascontiguousarray(views.draw("overlay" if view == "ids" else view, scene))


class ExportWorker(BackgroundWorker[ExportTask]):
    """Worker that runs one export at a time.

    The signal ``progressed`` carries the number of frames written. ``finished`` follows at the end of every export
    and tells whether all frames were written; ``failed`` precedes it with a message if there was an error.
    """

    progressed = Signal(int)
    failed = Signal(str)
    finished = Signal(bool)

    def __init__(self) -> None:
        super().__init__("export", _STOP_MILLISECONDS)

    def start(self, task: ExportTask) -> None:
        """Start an export; `finished` follows, also after `cancel`."""
        self._replace(task)

    def _work(self, task: ExportTask, cancel: threading.Event) -> None:
        done, last_signal, complete = 0, 0.0, False
        try:
            stop = task.last + 1
            # The user has agreed to open the source of this session: see `may_open_source`.
            steps = headless.export(task.session, task.folder, task.options, task.first, stop, cancel, may_connect=True)
            for _ in steps:
                done += 1
                if monotonic() - last_signal > _PAUSE:
                    last_signal = monotonic()
                    self.progressed.emit(done)
            complete = done == task.count and not cancel.is_set()
        except StudioError as error:
            self.failed.emit(" ".join([str(error), *getattr(error, "__notes__", [])]))
        except Exception as error:
            _logger.error("The export failed", exc_info=True)
            self.failed.emit(hide_secrets(f"Unexpected error: {type(error).__name__}: {error}."))
        self.progressed.emit(done)
        self.finished.emit(complete)

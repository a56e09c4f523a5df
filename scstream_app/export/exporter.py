"""An export in several formats at once, written while the next frames are computed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Self

from scstream_app.errors import ExportError
from scstream_app.export import files
from scstream_app.export.formats.registry import FORMATS
from scstream_app.export.job import Job
from scstream_app.export.movie import Movies
from scstream_app.export.options import VIEWS, ExportOptions
from scstream_app.export.writer import Writer
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views

#: Frames that may wait for a writer. More would only take memory: a writer that is too slow stays too slow.
_BACKLOG = 3


class Exporter:
    """Hands every frame to the writers of all formats; use it in a with statement.

    Each writer has a thread of its own and gets the frames in order. When one fails, the next call of `write` or
    `close` raises its ExportError; the files of the others are completed all the same, with the frames so far. With
    ``on_failure`` nothing is raised: it hears of the failure, and the others go on. Arrays of a result must not be
    changed after it was handed over.

    Parameters
    ----------
    folder : Path
        Where everything goes; it is made if need be.
    job : Job
    on_failure : callable, optional

    Attributes
    ----------
    paths : tuple of Path
        The files and folders that are written.
    needs_picture : bool
        Whether results must come with their picture.
    """

    def __init__(
        self,
        folder: Path,
        job: Job,
        on_failure: Callable[[ExportError], None] | None = None,
    ) -> None:
        check_job(folder, job)
        with ExitStack() as stack:
            writers: list[Writer] = []
            for name in dict.fromkeys(job.options.formats):
                writers.append(stack.enter_context(open_writer(folder, name, job)))
            self.paths = tuple(writer.path for writer in writers)
            stack.pop_all()
        self.needs_picture = any(writer.needs_picture for writer in writers)
        self._lanes = [_Lane(writer) for writer in writers]
        self._on_failure = on_failure
        self._closed = False

    @property
    def failed(self) -> bool:
        """Whether all formats have failed, so that going on is of no use."""
        return bool(self._lanes) and all(lane.failed for lane in self._lanes)

    def write(self, result: FrameResult) -> None:
        """Hand over the next frame; waits while a writer is more than a few frames behind."""
        if self._closed:
            raise ValueError("the export has been closed")
        self._tell_failures()
        for lane in self._lanes:
            lane.put(result)

    def close(self) -> None:
        """Complete all files; raises what went wrong since the last call of `write`."""
        self._end(abandon=False)
        self._tell_failures()

    def abandon(self) -> None:
        """Remove what is not in place yet instead of completing it: files of an earlier export stay as they are."""
        self._end(abandon=True)

    def _end(self, abandon: bool) -> None:
        if self._closed:
            return
        self._closed = True
        for lane in self._lanes:
            lane.end(abandon)
        for lane in self._lanes:
            lane.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ExportError as another:
            # One that is on its way already is not to be hidden by its successor.
            if not isinstance(error, ExportError):
                raise
            error.add_note(str(another))

    def _tell_failures(self) -> None:
        taken = [lane.take_failure() for lane in self._lanes]
        failures = [failure for failure in taken if failure is not None]
        if self._on_failure is not None:
            for failure in failures:
                self._on_failure(failure)
        elif failures:
            for other in failures[1:]:
                failures[0].add_note(str(other))
            raise failures[0]


def check_options(options: ExportOptions) -> None:
    """Raise an ExportError if the options are invalid for every clip, for example an unknown format."""
    options.check()
    for name in options.formats:
        _, view = _parse(name)
        replace(options, view=view or options.view).check()


def check_job(folder: Path, job: Job) -> None:
    """Raise the ExportError that says why a format cannot be written, before anything is."""
    places = []
    for name in dict.fromkeys(job.options.formats):
        kind, view = _parse(name)
        own = job.with_options(view=view) if view else job
        kind.check(folder, own)
        places.append(folder / kind.place(own))
    _check_apart(places)


def open_writer(folder: Path, name: str, job: Job) -> Writer:
    """The writer of a format, by its name in `FORMATS`, with ":view" after it for movies."""
    kind, view = _parse(name)
    return kind(folder, job.with_options(view=view) if view else job)


def needs_picture(formats: Iterable[str]) -> bool:
    """Whether any of the formats shows the frames' pictures."""
    return any(_parse(name)[0].needs_picture for name in formats)


def needs_object(name: str) -> bool:
    """Whether the format makes no sense without an object.

    >>> needs_object("matte"), needs_object("mp4:mask"), needs_object("webm")
    (True, True, False)
    """
    kind, view = _parse(name)
    return kind.needs_object or "members" in (views.view(view).needs if view else ())


def _parse(name: str) -> tuple[type[Writer], str]:
    """The writer of a format, and its view or nothing."""
    plain, _, view = name.partition(":")
    kind = FORMATS.get(plain)
    if kind is None:
        raise ExportError(f"There is no format '{plain}'. Those known are {', '.join(FORMATS)}.")
    if view and not issubclass(kind, Movies):
        raise ExportError(f"'{plain}' is not a movie: it takes no view, got '{view}'.")
    if view and view not in views.VIEWS:
        raise ExportError(f"There is no view '{view}'. Those known are {', '.join(VIEWS)}.")
    return kind, view


def _check_apart(paths: Sequence[Path]) -> None:
    twice = [path for path in paths if paths.count(path) > 1]
    if twice:
        raise ExportError(f"Cannot write '{twice[0]}' twice: two of the formats go to that file.")


class _Lane(threading.Thread):
    """A writer, the frames that wait for it, and the thread that writes them."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(name=f"export {writer.format}", daemon=True)
        self._writer = writer
        self._waiting: Queue[FrameResult | None] = Queue(_BACKLOG)
        self._failure: ExportError | None = None
        self._abandoned = False
        self.failed = False
        self.start()

    def put(self, result: FrameResult) -> None:
        """Append a frame."""
        self._waiting.put(result)

    def end(self, abandon: bool) -> None:
        """End the export; frames that wait are still written, unless all is to be abandoned."""
        self._abandoned = abandon
        self._waiting.put(None)

    def take_failure(self) -> ExportError | None:
        """What went wrong, once."""
        failure, self._failure = self._failure, None
        return failure

    def run(self) -> None:
        """Write frames until there are no more; after a failure they are only taken off the queue."""
        while (result := self._waiting.get()) is not None:
            if not self.failed and not self._abandoned:
                self._attempt(self._writer.write, result)
        self._attempt(self._writer.abandon if self._abandoned else self._writer.close)

    def _attempt(self, action: Callable[..., None], *arguments: FrameResult) -> None:
        try:
            action(*arguments)
        except ExportError as error:
            self._failure, self.failed = error, True
        except Exception as error:
            failure = files.failure(self._writer.path, error)
            failure.__cause__ = error
            self._failure, self.failed = failure, True

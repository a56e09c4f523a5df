"""Export to several formats at once, one thread per format."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Self

from scstream_app.errors import ExportError
from scstream_app.export import atomic_files
from scstream_app.export.folder_lock import FolderLock
from scstream_app.export.formats.registry import FORMATS
from scstream_app.export.job import Job
from scstream_app.export.movie import MovieWriter
from scstream_app.export.options import VIEWS, ExportOptions
from scstream_app.export.writer import Writer
from scstream_app.objects import Membership, member_masks
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views

#: Frames queued per writer. A longer queue only takes memory: a writer that is too slow stays too slow.
_BACKLOG = 3


class Exporter:
    """Pass every frame to the writers of all formats; use it in a with statement.

    Each writer runs on a separate thread and receives the frames in order. If a writer fails, the next call of
    `write` or `close` raises its ExportError, and the other writers complete their files with the frames so far. If
    ``on_failure`` is given, it is called with the error instead, and the other writers continue. Do not modify the
    arrays of a result after passing it to `write`. Only one exporter at a time can write to a folder; another one
    raises an ExportError.

    Results without masks get those of the segments that the job's objects have. If such an export does not start at the
    first frame, edits of earlier frames must give the segments just before its start: see `Membership.collapsed`.

    Parameters
    ----------
    folder : Path
        Output folder; created if necessary.
    job : Job
        The job, whose options name the formats.
    on_failure : callable, optional
        Called with the ExportError of each writer that fails.

    Attributes
    ----------
    paths : tuple of Path
        The files and folders that are written.
    needs_picture : bool
        Whether any format needs the picture of the frames.
    """

    def __init__(
        self,
        folder: Path,
        job: Job,
        on_failure: Callable[[ExportError], None] | None = None,
    ) -> None:
        check_job(folder, job)
        with ExitStack() as stack:
            # Before anything else: opening a writer removes unfinished files.
            self._lock = FolderLock(folder)
            stack.callback(self._lock.release)
            writers: list[Writer] = []
            for name in dict.fromkeys(job.options.formats):
                writers.append(stack.enter_context(open_writer(folder, name, job)))
            self.paths = tuple(writer.path for writer in writers)
            stack.pop_all()
        self.needs_picture = any(writer.needs_picture for writer in writers)
        self._threads = [_WriterThread(writer) for writer in writers]
        self._membership = Membership(job.objects)
        self._on_failure = on_failure
        self._closed = False

    @property
    def failed(self) -> bool:
        """Whether all writers have failed."""
        return bool(self._threads) and all(thread.failed for thread in self._threads)

    def write(self, result: FrameResult) -> None:
        """Pass the next frame to the writers; blocks while a writer is more than a few frames behind."""
        if self._closed:
            raise ValueError("the export is closed")
        self._report_failures()
        result = self._with_masks(result)
        for thread in self._threads:
            thread.put(result)

    def _with_masks(self, result: FrameResult) -> FrameResult:
        # Also if the result has masks: the next one may have none.
        members = self._membership.advance(result.index, result.events, result.cut)
        if result.objects is not None or not members:
            return result
        return replace(result, objects=member_masks(result.ids, members))

    def close(self) -> None:
        """Complete all files; raises or reports errors since the last call of `write`."""
        self._end(abandon=False)
        self._report_failures()

    def abandon(self) -> None:
        """Discard unfinished files instead of completing them; files of an earlier export stay unchanged."""
        self._end(abandon=True)

    def _end(self, abandon: bool) -> None:
        if self._closed:
            return
        self._closed = True
        for thread in self._threads:
            thread.end(abandon)
        for thread in self._threads:
            thread.join()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ExportError as another:
            # Do not hide an ExportError that is already being raised.
            if not isinstance(error, ExportError):
                raise
            error.add_note(str(another))

    def _report_failures(self) -> None:
        failures = [failure for thread in self._threads if (failure := thread.take_failure()) is not None]
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
    """Raise an ExportError if a format of the job cannot be written to the folder."""
    targets: list[Path] = []
    for kind, format_job in _writers(job):
        kind.check(folder, format_job)
        targets += (folder / name for name in kind.target_names(format_job))
    _check_distinct(targets)


def target_names(job: Job) -> tuple[str, ...]:
    """The names of the files and folders that an export writes, in the order of its formats."""
    return tuple(name for kind, format_job in _writers(job) for name in kind.target_names(format_job))


def _writers(job: Job) -> Iterator[tuple[type[Writer], Job]]:
    """The writer of every format of a job, and the job with the view that the format names."""
    for name in dict.fromkeys(job.options.formats):
        kind, view = _parse(name)
        yield kind, job.with_options(view=view) if view else job


def open_writer(folder: Path, name: str, job: Job) -> Writer:
    """Open the writer of a format by its name in `FORMATS`; a movie format may name its view ("mp4:mean_colour")."""
    kind, view = _parse(name)
    return kind(folder, job.with_options(view=view) if view else job)


def needs_picture(formats: Iterable[str]) -> bool:
    """Whether any of the formats needs the picture of the frames."""
    return any(_parse(name)[0].needs_picture for name in formats)


def lists_files(formats: Iterable[str]) -> bool:
    """Whether any of the formats lists the names of the source's image files."""
    return any(_parse(name)[0].lists_files for name in formats)


def uses_picture(formats: Iterable[str]) -> bool:
    """Whether any of the formats includes the picture of the frames if there is one."""
    return any(_parse(name)[0].uses_picture for name in formats)


def needs_object(name: str) -> bool:
    """Whether the format needs an object.

    >>> needs_object("matte"), needs_object("mp4:mask"), needs_object("webm")
    (True, True, False)
    """
    kind, view = _parse(name)
    return kind.needs_object or "mask" in (views.view(view).needs if view else ())


def _parse(name: str) -> tuple[type[Writer], str]:
    """Split the name of a format into its writer and its view, which may be empty."""
    plain, _, view = name.partition(":")
    kind = FORMATS.get(plain)
    if kind is None:
        raise ExportError(f"Unknown format '{plain}'. Choose from {', '.join(FORMATS)}.")
    if view and not issubclass(kind, MovieWriter):
        raise ExportError(f"The format '{plain}' is not a movie and takes no view, got '{view}'.")
    if view and view not in views.VIEWS:
        raise ExportError(f"Unknown view '{view}'. Choose from {', '.join(VIEWS)}.")
    return kind, view


def _check_distinct(paths: Sequence[Path]) -> None:
    repeated = [path for path in paths if paths.count(path) > 1]
    if repeated:
        raise ExportError(f"Cannot write '{repeated[0]}': two of the formats write this file.")


class _WriterThread(threading.Thread):
    """The thread of one writer, with a queue of frames."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(name=f"export {writer.format}", daemon=True)
        self._writer = writer
        self._waiting: Queue[FrameResult | None] = Queue(_BACKLOG)
        self._failure: ExportError | None = None
        self._abandoned = False
        self.failed = False
        self.start()

    def put(self, result: FrameResult) -> None:
        """Queue a frame; blocks while the queue is full."""
        self._waiting.put(result)

    def end(self, abandon: bool) -> None:
        """Complete the export after the queued frames or, if ``abandon``, discard it."""
        self._abandoned = abandon
        self._waiting.put(None)

    def take_failure(self) -> ExportError | None:
        """Return the error of the writer, if any, and forget it."""
        failure, self._failure = self._failure, None
        return failure

    def run(self) -> None:
        """Write frames until `end`; after a failure, drop them so that `put` does not block for ever."""
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
            failure = atomic_files.write_error(self._writer.path, error)
            failure.__cause__ = error
            self._failure, self.failed = failure, True

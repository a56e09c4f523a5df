"""Export a session to files."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np

from scstream_app.errors import ExportError, StudioError
from scstream_app.export import Exporter, ExportOptions, check_space, lists_files, needs_picture, uses_picture
from scstream_app.headless.job_setup import check_formats, make_job
from scstream_app.headless.session_sources import open_local_source
from scstream_app.headless.stored_objects import session_objects
from scstream_app.objects import MarkedObject
from scstream_app.session import ObjectResults, Session, check_source
from scstream_app.sources import STDIN, Source, open_source


def export(
    session: Session,
    out: Path,
    options: ExportOptions,
    start: int = 0,
    stop: int | None = None,
    cancel: threading.Event | None = None,
    source: Source | None = None,
    may_connect: bool = False,
    objects: tuple[MarkedObject, ...] | None = None,
) -> Generator[int]:
    """Write the frames of a session in the chosen formats; yields the index of every frame written.

    ``source`` is opened from the session if it is None and a format needs the picture; if it is at a network address,
    only with ``may_connect``: see `open_local_source`. ``objects`` are the session's own if None. If a format fails,
    the others continue, and its error is raised at the end. If the export is cancelled or the generator closed early,
    files of an earlier export stay unchanged.
    """
    frames = session.frames
    chosen = frames[(frames >= start) & (frames < (np.inf if stop is None else stop))]
    if not len(chosen):
        raise ExportError(f"Cannot export: '{session.path}' has no such frame{_frame_range(session)}.")
    objects = session_objects(session) if objects is None else objects
    check_formats(options.formats, bool(objects), "add one with --object")
    results = ObjectResults(session, objects, start, stop)
    failures: list[ExportError] = []
    with ExitStack() as stack:
        tracking = bool(objects) and not results.stored
        pictures = stack.enter_context(_pictures(session, options, source, tracking, may_connect))
        file_names = _file_names(session, options, pictures)
        job = make_job(options, session.manifest.source, session.names, objects, len(chosen) == len(frames), file_names)
        exporter = stack.enter_context(Exporter(out, job, failures.append))
        # An incomplete export must not replace an earlier one.
        stack.callback(exporter.abandon)
        if options.formats:
            check_space(out)
        cancel = cancel or threading.Event()
        for result in stack.enter_context(closing(results.read(pictures, cancel))):
            if cancel.is_set() or exporter.failed:
                break
            exporter.write(result)
            yield result.index
        else:
            # Tracking ends early when it is cancelled.
            if not cancel.is_set():
                exporter.close()
    raise_failures(failures)


def raise_failures(failures: Sequence[ExportError]) -> None:
    """Raise the first failure, if any, with the others as notes."""
    if failures:
        for other in failures[1:]:
            failures[0].add_note(str(other))
        raise failures[0]


def _file_names(session: Session, options: ExportOptions, source: Source | None) -> Sequence[str]:
    """File names of the source's frames if a format lists them; none if the images are gone or others were added."""
    facts = session.manifest.source
    if facts.live or not lists_files(options.formats):
        return ()
    try:
        with ExitStack() as stack:
            # Only images on this machine have file names.
            source = source or stack.enter_context(open_local_source(session))
            return source.file_names if source.length == facts.length else ()
    except StudioError:
        return ()


def _frame_range(session: Session) -> str:
    frames = session.frames
    return f"; it holds frames {frames[0]} to {frames[-1]}" if len(frames) else ": it is empty"


@contextmanager
def _pictures(
    session: Session, options: ExportOptions, source: Source | None, tracking: bool, may_connect: bool
) -> Iterator[Source | None]:
    """Open the source if a format or the tracking of objects takes pictures, and check that it belongs to the session.

    Tracking alone does without a source that cannot be opened: objects then consist of whole segments. So do formats
    that only include pictures if there are any.
    """
    needed = needs_picture(options.formats)
    wanted = tracking or uses_picture(options.formats)
    facts = session.manifest.source
    if needed and facts.live and source is None:
        names = ", ".join(name for name in options.formats if needs_picture([name]))
        where = "came from standard input, and its" if facts.address == STDIN else "was a live source whose"
        raise ExportError(
            f"Cannot write {names}: '{facts.name}' {where} pictures were not saved. "
            "Choose ids, csv or another format without pictures, or write these formats while segmenting."
        )
    with ExitStack() as stack:
        opened = source
        if opened is None and (needed or (wanted and not facts.live)):
            try:
                found = open_source(session.source_address) if may_connect else open_local_source(session)
                opened = stack.enter_context(found)
            except StudioError:
                if needed:
                    raise
        if opened is not None:
            check_source(session, opened)
        yield opened

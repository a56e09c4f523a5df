"""A session into files of other formats."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from scstream_app.errors import ExportError
from scstream_app.export import Exporter, ExportOptions, needs_picture
from scstream_app.headless.export_options import check_formats, make_job
from scstream_app.headless.object_masks import objects_before
from scstream_app.session import Session, check_source
from scstream_app.sources import Source, open_source


def export(
    session: Session,
    out: Path,
    options: ExportOptions,
    start: int = 0,
    stop: int | None = None,
    cancel: threading.Event | None = None,
    source: Source | None = None,
) -> Generator[int]:
    """Write a session's frames in the chosen formats; yields the index of every frame done.

    The session's source is opened, if none is given, only for formats that show its picture. When a format fails, the
    others go on, and its failure is raised at the end. When cancelled, or left early, files of an earlier export stay.
    """
    frames = session.frames
    chosen = frames[(frames >= start) & (frames < (np.inf if stop is None else stop))]
    if not len(chosen):
        raise ExportError(f"Nothing to write: '{session.path}' has no such frame{_what_there_is(session)}.")
    objects = objects_before(session, start)
    check_formats(options.formats, bool(objects), "segment again with --object MASK.png")
    failures: list[ExportError] = []
    with ExitStack() as stack:
        pictures = stack.enter_context(_pictures(session, options, source))
        job = make_job(options, session.manifest.source, session.names, objects, len(chosen) == len(frames))
        exporter = stack.enter_context(Exporter(out, job, failures.append))
        # Unless all frames are written, what is there already is worth more.
        stack.callback(exporter.abandon)
        for result in session.results(start, stop, pictures):
            if (cancel is not None and cancel.is_set()) or exporter.failed:
                break
            exporter.write(result)
            yield result.index
        else:
            exporter.close()
    raise_failures(failures)


def raise_failures(failures: Sequence[ExportError]) -> None:
    """Raise the first one, if there is any, with the others as its notes."""
    if failures:
        for other in failures[1:]:
            failures[0].add_note(str(other))
        raise failures[0]


def _what_there_is(session: Session) -> str:
    frames = session.frames
    return f"; it holds frames {frames[0]} to {frames[-1]}" if len(frames) else ": it is empty"


@contextmanager
def _pictures(session: Session, options: ExportOptions, source: Source | None) -> Iterator[Source | None]:
    """The source to take pictures from, if any are needed; it must be the session's."""
    if not needs_picture(options.formats):
        yield None
        return
    facts = session.manifest.source
    if facts.live:
        shown = ", ".join(name for name in options.formats if needs_picture([name]))
        raise ExportError(
            f"Cannot write {shown}: '{facts.name}' was live, and its pictures are gone. "
            "Choose ids, csv or another format without pictures, or have these written while segmenting."
        )
    with ExitStack() as stack:
        opened = stack.enter_context(open_source(session.source_address)) if source is None else source
        check_source(session, opened)
        yield opened

"""Steps that several commands have in common: open a session, read objects, write the files of a session."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scstream_app import headless
from scstream_app.terminal.console import print_message
from scstream_app.terminal.progress_display import ProgressDisplay

if TYPE_CHECKING:
    from scstream_app.export import ExportOptions
    from scstream_app.objects import MarkedObject
    from scstream_app.session import Session
    from scstream_app.sources import Source


def open_session(path: Path, writable: bool = False) -> Session:
    """Open the session at ``path``, or the only one in that folder, and print which parts of it are damaged."""
    from scstream_app.session import Session

    session = Session.open(headless.find_session(path), writable)
    for text in session.damage:
        print_message(text)
    return session


def open_session_source(session: Session, given: str | None) -> Source:
    """Open the source of a session: at the address of --source, or else the session's own, if it is on this machine."""
    from scstream_app.sources import open_source

    return open_source(session.moved_address(given)) if given else headless.open_local_source(session)


def read_prompts(
    source: Source, objects: Sequence[str] | None, corrections: Path | None, known: Sequence[str] = ()
) -> list[headless.Prompt]:
    """The objects and corrections that the options name; ``known`` are the names of objects that exist already."""
    prompts = headless.read_prompts(objects or (), source)
    if corrections is not None:
        names = [*known, *(prompt.name for prompt in prompts)]
        prompts += headless.read_corrections(corrections, source, names)
    return prompts


def changed_objects(
    session: Session,
    source: Source | None,
    objects: Sequence[str] | None,
    corrections: Path | None,
    removed: Sequence[str] | None,
) -> tuple[MarkedObject, ...]:
    """The objects of a session without removed ones, with the objects and corrections that the options name.

    ``source`` is only needed for objects and corrections.
    """
    kept = headless.objects_without(session, removed or ())
    names = [one.name for one in kept]
    prompts = [] if source is None else read_prompts(source, objects, corrections, names)
    return headless.objects_with(session, kept, prompts, source)


def write_files(
    display: ProgressDisplay,
    session: Session,
    out: Path,
    options: ExportOptions,
    start: int,
    stop: int | None,
    cancel: threading.Event,
    source: Source | None = None,
    objects: tuple[MarkedObject, ...] | None = None,
) -> int:
    """Export the frames from ``start`` to ``stop`` - 1, with the session's objects or others; returns their number."""
    indices = [index for index in session.frames.tolist() if index >= start and (stop is None or index < stop)]
    display.begin("Writing files", len(indices))
    done = 0
    # Close the generator at once when interrupted, so that no partial file remains when the command ends.
    with closing(headless.export(session, out, options, start, stop, cancel, source, objects=objects)) as steps:
        for _ in steps:
            done += 1
            display.update(done)
    return done

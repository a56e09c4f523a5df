"""Run one clip of several: begin it, continue it where it was interrupted, or skip it if it is complete."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scstream_app.addresses import hide_secrets, public_address
from scstream_app.errors import SessionError, SourceError, StudioError
from scstream_app.export import atomic_files
from scstream_app.headless.export_job import export
from scstream_app.headless.job_setup import stored_options
from scstream_app.headless.many_clips.clips import Clip
from scstream_app.headless.run_progress import RunCallbacks, RunProgress, expected_frames
from scstream_app.headless.segment_job import Run, prepare, resume, segment
from scstream_app.headless.session_names import session_name
from scstream_app.pipeline.run import Notice
from scstream_app.session import Session, SourceFacts
from scstream_app.sources import Source, open_source


@dataclass(frozen=True, slots=True)
class ClipProgress:
    """How far a clip is: its current step, the frames in its session, and how many there will be if that is known."""

    step: str
    frames: int = 0
    expected: int | None = None


@dataclass(frozen=True, slots=True)
class ClipResult:
    """How the run of a clip ended.

    Parameters
    ----------
    report : dict, optional
        The figures that `scstream segment --json` prints for this clip alone.
    error : str
        Why the clip failed; empty if it did not. If only a format failed, there is a report as well.
    trace : str
        The traceback of the error.
    skipped : bool
        Whether the clip was complete before; the report is that of the run that completed it.
    interrupted : bool
        Whether the run was cancelled; the frames so far are in the session.
    """

    report: dict[str, Any] | None = None
    error: str = ""
    trace: str = ""
    skipped: bool = False
    interrupted: bool = False


#: Called with the number of the clip, and its progress or its result.
ClipUpdate = Callable[[int, ClipProgress | ClipResult], None]


def run_in_turn(clips: Sequence[Clip], cancel: threading.Event, on_update: ClipUpdate) -> None:
    """Run the clips one after another; a clip that fails does not stop the others."""
    for number, clip in enumerate(clips):
        if cancel.is_set():
            return

        def on_progress(progress: ClipProgress, number: int = number) -> None:
            on_update(number, progress)

        on_update(number, run_clip(clip, cancel, on_progress))


def run_clip(clip: Clip, cancel: threading.Event, on_progress: Callable[[ClipProgress], None]) -> ClipResult:
    """Run the clip until it is complete or cancelled; never raises an Exception: the result holds the error."""
    try:
        return _run(clip, cancel, on_progress)
    except StudioError as error:
        return _failed(" ".join([str(error), *getattr(error, "__notes__", [])]))
    except Exception as error:
        return _failed(f"Unexpected error: {type(error).__name__}: {error}.")


def _failed(error: str) -> ClipResult:
    """The result of a clip that failed with the exception that is being handled."""
    return ClipResult(error=hide_secrets(error), trace=hide_secrets(traceback.format_exc()))


def _run(clip: Clip, cancel: threading.Event, on_progress: Callable[[ClipProgress], None]) -> ClipResult:
    if clip.overwrite:
        clip.report_path.unlink(missing_ok=True)
    with _open_clip(clip) as source:
        path = clip.out / session_name(source)
        if clip.overwrite or not path.exists():
            return _begin(clip, source, cancel, on_progress)
        with Session.open(path) as session:
            _check_same_run(session, clip, source)
            report = _stored_report(clip) if session.manifest.complete else None
        if report is not None:
            return ClipResult(report, skipped=True)
        return _continue(clip, source, path, cancel, on_progress)


def _open_clip(clip: Clip) -> Source:
    """Open the source of a clip; raises SourceError if it is live."""
    source = open_source(clip.address, clip.reading)
    if source.live:
        source.close()
        raise SourceError(f"'{source.name}' is live: segment it alone, without --workers and --scheduler.")
    return source


def _begin(
    clip: Clip, source: Source, cancel: threading.Event, on_progress: Callable[[ClipProgress], None]
) -> ClipResult:
    run = prepare(
        source,
        clip.out,
        clip.settings,
        clip.options,
        start=clip.start,
        stop=clip.stop,
        overwrite=clip.overwrite,
    )
    expected = expected_frames(source, clip.start, clip.stop)
    on_progress(ClipProgress("first frame", 0, expected))
    _consume(segment(run, RunCallbacks(cancel)), on_progress, expected)
    if cancel.is_set():
        return ClipResult(interrupted=True)
    return _finish(clip, run)


def _continue(
    clip: Clip, source: Source, path: Path, cancel: threading.Event, on_progress: Callable[[ClipProgress], None]
) -> ClipResult:
    """Segment the missing frames, then write all files again: those of an interrupted run are incomplete."""
    expected = expected_frames(source, clip.start, clip.stop)
    with Session.open(path, writable=True) as session:
        already = len(session)
        on_progress(ClipProgress("resuming", already, expected))
        run, steps = resume(session, source, clip.settings.threads, RunCallbacks(cancel))
        _consume(steps, on_progress, expected, already)
        if not cancel.is_set() and clip.options.formats:
            on_progress(ClipProgress("writing files", len(session), expected))
            with closing(export(session, clip.out, clip.options, 0, None, cancel, source)) as frames:
                for _ in frames:
                    pass
        if cancel.is_set():
            return ClipResult(interrupted=True)
        run.progress.notices += [Notice("damaged", clip.start, text) for text in session.damage]
        return _finish(clip, run)


def _consume(
    steps: Generator[RunProgress],
    on_progress: Callable[[ClipProgress], None],
    expected: int | None,
    already: int = 0,
) -> None:
    with closing(steps):
        for progress in steps:
            on_progress(ClipProgress("segmenting", already + progress.frames, expected))


def _finish(clip: Clip, run: Run) -> ClipResult:
    report = run.report()
    failures = run.progress.failures
    if failures:
        return ClipResult(report, " ".join(map(str, failures)))
    atomic_files.write_bytes(clip.report_path, json.dumps(report, indent=2).encode())
    return ClipResult(report)


def _stored_report(clip: Clip) -> dict[str, Any] | None:
    """The report of the run that completed the clip; None if there is none, so that its files may be incomplete."""
    try:
        report = json.loads(clip.report_path.read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) and "frames" in report else None


def _check_same_run(session: Session, clip: Clip, source: Source) -> None:
    """Raise SessionError unless the session is one that this clip's run would have begun."""
    manifest, facts = session.manifest, SourceFacts.of(source)
    remedy = "Choose another --out, or replace it with --overwrite."
    if manifest.source.address != facts.address:
        other = public_address(manifest.source.address)
        raise SessionError(f"'{session.path}' is the session of another source, '{other}'. {remedy}")
    stored, wanted = stored_options(manifest), replace(clip.options, overwrite="replace")
    mine, theirs = clip.settings.portable(), manifest.settings.portable()
    different = [name for name in mine if mine[name] != theirs[name]]
    different += ["frames"] * ((manifest.start, manifest.stop) != (clip.start, clip.stop))
    different += ["range, rate or plane"] * (manifest.source.reading != facts.reading)
    different += [name for name in ("formats", *wanted.as_dict()) if getattr(stored, name) != getattr(wanted, name)]
    if different:
        raise SessionError(f"'{session.path}' was begun with other options ({', '.join(different)}). {remedy}")

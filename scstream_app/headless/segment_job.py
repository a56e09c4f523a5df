"""Segment a source into a session and files, or resume an interrupted session."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scstream_app.errors import ExportError, SessionError, SettingsError, SourceError
from scstream_app.export import Exporter, ExportOptions, Job, check_job
from scstream_app.headless.job_setup import check_formats, make_job, stored_options
from scstream_app.headless.object_masks import Masks, mask_names, objects_from_masks, store_objects
from scstream_app.headless.run_progress import RunCallbacks, RunProgress
from scstream_app.headless.session_names import resume_command, session_name, sessions_in
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.session import Names, Session, SourceFacts, write_run
from scstream_app.session import resume as prepare_resumption
from scstream_app.settings import Settings
from scstream_app.sources import Source

if TYPE_CHECKING:
    from scstream import VideoSegmenter


@dataclass(slots=True)
class Run:
    """One segmentation of a source into a session and files.

    ``session`` is None until the first frame is segmented; until then nothing is written, and an earlier session
    stays unchanged.
    """

    source: Source
    out: Path
    settings: Settings
    options: ExportOptions
    segmenter: VideoSegmenter
    progress: RunProgress
    start: int = 0
    stop: int | None = None
    masks: Masks | None = None
    overwrite: bool = False
    session: Session | None = None

    @property
    def path(self) -> Path:
        """The path of the session."""
        return self.out / session_name(self.source)

    def job(self, objects: tuple[MarkedObject, ...]) -> Job:
        """The export job of this run."""
        # Remove old images only if the user asked to overwrite: they may belong to another source.
        return make_job(self.options, SourceFacts.of(self.source), Names(), objects, remove_stale=self.overwrite)

    def create_session(self) -> Session:
        """Create the session, replacing an earlier one if ``overwrite`` is set."""
        self.session = Session.create(
            self.path,
            self.source,
            self.settings,
            start=self.start,
            stop=self.stop,
            formats=self.options.formats,
            export=self.options.as_dict(),
            masks=self.masks,
            overwrite=self.overwrite,
        )
        return self.session


def prepare(
    source: Source,
    out: Path,
    settings: Settings,
    options: ExportOptions,
    *,
    start: int = 0,
    stop: int | None = None,
    masks: Masks | None = None,
    overwrite: bool = False,
) -> Run:
    """Prepare to segment a source into the folder ``out``: the session NAME.scstream and the exported files.

    Writes nothing and keeps no file open; raises the errors that would otherwise stop the run later.
    """
    if source.live and start:
        raise SettingsError(f"'{source.name}' is live: --frames can only set the end (:{start})")
    formats = options.formats if masks is None or "object" in options.formats else (*options.formats, "object")
    progress = RunProgress(source.width, source.height)
    options = replace(options, formats=formats)
    run = Run(source, out, settings, options, settings.segmenter(), progress, start, stop, masks, overwrite)
    check_formats(formats, masks is not None, "give a mask with --object MASK.png")
    objects = tuple(MarkedObject.made(name, (0, 0, 0), start, ()) for name in mask_names(masks).values())
    check_job(out, run.job(objects))
    if not overwrite:
        _check_unused(run.path)
    _check_folder(run.path)
    return run


def _check_unused(path: Path) -> None:
    """Raise unless the folder is free of sessions: the files of two sources have the same names."""
    if os.path.exists(path):
        raise SessionError(
            f"The session '{path}' exists. Replace it with --overwrite, or resume it with: {resume_command(path)}"
        )
    others = sessions_in(path.parent)
    if others:
        raise SessionError(
            f"'{path.parent}' holds the session '{others[0].name}' of another source: choose another --out, or use "
            "--overwrite."
        )


def _check_folder(path: Path) -> None:
    """Raise now if no session can be created at ``path``, instead of after the first frame."""
    nearest = next(folder for folder in path.absolute().parents if os.path.exists(folder))
    if not os.path.isdir(nearest):
        raise SessionError(f"Cannot create '{path}': '{nearest}' is a file.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise SessionError(f"Cannot create '{path}': Permission denied.")


def segment(run: Run, callbacks: RunCallbacks) -> Generator[RunProgress]:
    """Segment the source of a prepared run; yields the progress after every frame.

    Closing the generator early completes the files with the frames so far. If a format fails, its error is recorded
    in the progress, and the others continue.
    """
    results = segment_frames(
        run.source,
        run.segmenter,
        start=run.start,
        stop=run.stop,
        masks=run.masks,
        cancel=callbacks.cancel,
        scene_cuts=run.settings.scene_cuts,
        on_preview=callbacks.on_preview,
        on_notice=_record_notices(run.progress, callbacks),
    )
    with closing(results):
        first = next(results, None)
        if first is not None:
            yield from _write_all(run, first, results, callbacks)
        elif not callbacks.cancel.is_set():
            raise SourceError(
                f"Cannot segment: '{run.source.name}' ends before frame {run.start}. Choose an earlier --frames."
            )


def _write_all(
    run: Run, first: FrameResult, results: Generator[FrameResult], callbacks: RunCallbacks
) -> Generator[RunProgress]:
    """Write the first result and all others to the session and the files."""
    objects = objects_from_masks(run.masks, first)
    job = run.job(tuple(objects))
    with ExitStack() as stack:
        exporter = stack.enter_context(Exporter(run.out, job, _record_failures(run.progress, callbacks)))
        session = stack.enter_context(run.create_session())
        session.objects = objects
        everything = write_run(session, _with_first(first, results), run.segmenter, callbacks.cancel)
        for result in stack.enter_context(closing(everything)):
            exporter.write(result)
            run.progress.add(result)
            yield run.progress


def _with_first(first: FrameResult, others: Generator[FrameResult]) -> Generator[FrameResult]:
    with closing(others):
        yield first
        yield from others


def _record_notices(progress: RunProgress, callbacks: RunCallbacks) -> Callable[[Notice], None]:
    def note(notice: Notice) -> None:
        progress.notices.append(notice)
        if callbacks.on_notice is not None:
            callbacks.on_notice(notice)

    return note


def _record_failures(progress: RunProgress, callbacks: RunCallbacks) -> Callable[[ExportError], None]:
    def note(failure: ExportError) -> None:
        progress.failures.append(failure)
        if callbacks.on_failure is not None:
            callbacks.on_failure(failure)

    return note


def resume(
    session: Session, source: Source, threads: int | None, callbacks: RunCallbacks
) -> tuple[Run, Generator[RunProgress]]:
    """Resume an interrupted session; the generator yields the progress after every new frame and writes no exports."""
    resumption = prepare_resumption(session, source, threads)
    manifest = session.manifest
    progress = RunProgress(manifest.source.width, manifest.source.height, fresh=not len(session))
    for record in session.records():
        progress.count_ids(record.events)
    run = Run(
        source,
        session.path.parent,
        manifest.settings,
        stored_options(manifest),
        resumption.segmenter,
        progress,
        manifest.start,
        manifest.stop,
        session=session,
    )
    results = resumption.run(
        cancel=callbacks.cancel,
        on_preview=callbacks.on_preview,
        on_notice=_record_notices(progress, callbacks),
        on_repeated=callbacks.on_repeated,
    )
    return run, _continue_run(session, results, progress)


def _continue_run(session: Session, results: Generator[FrameResult], progress: RunProgress) -> Generator[RunProgress]:
    with closing(results):
        store_objects(session)
        for result in results:
            if not progress.frames:
                store_objects(session)
            progress.add(result)
            yield progress

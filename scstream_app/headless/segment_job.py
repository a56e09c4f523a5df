"""Segment a source into a session and files, or resume an interrupted session."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scstream_app.errors import ExportError, SessionError, SettingsError, SourceError
from scstream_app.export import (
    Exporter,
    ExportOptions,
    Job,
    check_folder_free,
    check_job,
    check_space,
    check_writable,
)
from scstream_app.headless.job_setup import check_formats, make_job, stored_options
from scstream_app.headless.object_prompts import with_prompts
from scstream_app.headless.run_progress import RunCallbacks, RunProgress
from scstream_app.headless.session_names import resume_command, session_name, sessions_in
from scstream_app.headless.stored_objects import apply_due_prompts, apply_stored_prompts, store_objects
from scstream_app.objects import MarkedObject
from scstream_app.objects.prompt import Prompt
from scstream_app.objects.tracker import ObjectTracker
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.live_start import shorten_first_frame
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.render.image_types import Picture
from scstream_app.session import Names, Session, SourceFacts, write_run
from scstream_app.session import resume as prepare_resumption
from scstream_app.settings import Settings
from scstream_app.sources import LiveSource, Source
from scstream_app.sources.images.options import command_advice

if TYPE_CHECKING:
    from scstream import VideoSegmenter


@dataclass(slots=True)
class Run:
    """One segmentation of a source into a session and files.

    ``session`` is None until the first frame is segmented; until then nothing is written, and an earlier session
    stays unchanged. ``waiting`` are the prompts whose frames are still to come; the session stores them for `resume`.
    """

    source: Source
    out: Path
    settings: Settings
    options: ExportOptions
    segmenter: VideoSegmenter
    progress: RunProgress
    start: int = 0
    stop: int | None = None
    prompts: tuple[Prompt, ...] = ()
    waiting: tuple[Prompt, ...] = ()
    overwrite: bool = False
    session: Session | None = None
    objects: tuple[MarkedObject, ...] = ()

    @property
    def path(self) -> Path:
        """The path of the session."""
        return self.out / session_name(self.source)

    def job(self, objects: tuple[MarkedObject, ...]) -> Job:
        """The export job of this run."""
        # Remove old images only if the user asked to overwrite: they may belong to another source.
        facts, file_names = SourceFacts.of(self.source), self.source.file_names
        return make_job(self.options, facts, Names(), objects, remove_stale=self.overwrite, file_names=file_names)

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
            objects=self.objects,
            prompts=self.waiting,
            overwrite=self.overwrite,
        )
        return self.session

    def report(self) -> dict[str, Any]:
        """The figures that `scstream segment --json` prints; needs a session."""
        session = self.session
        assert session is not None
        report = {
            **self.progress.report(self.segmenter),
            "session": str(session.path),
            "frames_in_session": len(session),
            "out": str(self.out),
            "formats": list(self.options.formats),
            "dropped": self.source.dropped,
        }
        if not self.progress.frames and len(session):
            report["segments_last"] = session.record(int(session.frames[-1])).rows
        return report


def prepare(
    source: Source,
    out: Path,
    settings: Settings,
    options: ExportOptions,
    *,
    start: int = 0,
    stop: int | None = None,
    prompts: Sequence[Prompt] = (),
    overwrite: bool = False,
) -> Run:
    """Prepare to segment a source into the folder ``out``: the session NAME.scstream and the exported files.

    Leaves nothing behind and keeps no file open; raises the errors that would otherwise stop the run later.
    """
    if source.live and start:
        raise SettingsError(f"'{source.name}' is live: --frames can only set the end (:{start})")
    formats = (*options.formats, "object") if prompts and "object" not in options.formats else options.formats
    progress = RunProgress(source.width, source.height)
    options = replace(options, formats=formats)
    segmenter = settings.segmenter()
    # Standard input waits for its reader: it loses no frames.
    if isinstance(source, LiveSource):
        shorten_first_frame(segmenter)
    run = Run(source, out, settings, options, segmenter, progress, start, stop, tuple(prompts), overwrite=overwrite)
    check_formats(formats, bool(prompts), "give one with --object")
    _check_prompts(run)
    names = dict.fromkeys(prompt.name for prompt in prompts)
    job = run.job(tuple(MarkedObject.made(name, (0, 0, 0), start, ()) for name in names))
    check_job(out, job)
    check_folder_free(out)
    if not overwrite:
        _check_unused(run.path, run.source.live)
    _check_folder(run.path)
    check_writable(out, job)
    return run


def _check_prompts(run: Run) -> None:
    """Raise if an object is corrected on a frame that the run does not segment."""
    end = run.source.length if run.stop is None else run.stop
    for prompt in run.prompts:
        if prompt.frame is not None and (prompt.frame < run.start or (end is not None and prompt.frame >= end)):
            raise SettingsError(f"'{prompt.name}' is corrected on frame {prompt.frame}, which is not segmented")


def _check_unused(path: Path, live: bool) -> None:
    """Raise unless the folder is free of sessions: the files of two sources have the same names."""
    if os.path.exists(path):
        # A live source cannot be resumed.
        other = "choose another --out." if live else f"resume it with: {resume_command(path)}"
        raise SessionError(f"The session '{path}' exists. Replace it with --overwrite, or {other}")
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


def segment(
    run: Run, callbacks: RunCallbacks, on_result: Callable[[FrameResult], None] | None = None
) -> Generator[RunProgress]:
    """Segment the source of a prepared run; yields the progress after every frame.

    ``on_result`` is called with every frame once it is in the session.

    Closing the generator early completes the files with the frames so far. If a format fails, its error is recorded
    in the progress, and the others continue.
    """
    with closing(_ObjectStage(run)) as stage:
        results = segment_frames(
            run.source,
            run.segmenter,
            start=run.start,
            stop=run.stop,
            cancel=callbacks.cancel,
            scene_cuts=run.settings.scene_cuts,
            on_picture=stage.prepare,
            on_preview=callbacks.on_preview,
            on_notice=_record_notices(run.progress, callbacks),
        )
        with closing(results):
            first = next(results, None)
            if first is not None:
                yield from _write_all(run, stage, stage.track(first), results, callbacks, on_result)
            elif not callbacks.cancel.is_set():
                raise SourceError(
                    f"Cannot segment: '{run.source.name}' ends before frame {run.start}. Choose an earlier --frames."
                )


class _ObjectStage:
    """Tracks the objects of a run; prompts become edits when their frames arrive."""

    def __init__(self, run: Run) -> None:
        self._run = run
        run.waiting = tuple(sorted(run.prompts, key=lambda prompt: -1 if prompt.frame is None else prompt.frame))
        self._tracker = ObjectTracker(())

    def prepare(self, picture: Picture) -> None:
        """Begin to compute the flow of the next picture."""
        self._tracker.prepare(picture)

    def track(self, result: FrameResult) -> FrameResult:
        """The result with the masks of the objects."""
        if not self._run.prompts:
            return result
        begin = perf_counter()
        waiting = self._run.waiting
        due = [prompt for prompt in waiting if prompt.frame is None or prompt.frame <= result.index]
        if due:
            self._run.waiting = waiting[len(due) :]
            self._run.objects = with_prompts(self._run.objects, due, result)
            self._tracker.close()
            self._tracker = self._tracker.copy(self._run.objects)
        masks = self._tracker.advance(result)
        times = {**result.milliseconds, "objects": 1000.0 * (perf_counter() - begin)}
        return replace(result, objects=masks, milliseconds=times)

    def close(self) -> None:
        """End the thread of the tracker."""
        self._tracker.close()


def _write_all(
    run: Run,
    stage: _ObjectStage,
    first: FrameResult,
    results: Generator[FrameResult],
    callbacks: RunCallbacks,
    on_result: Callable[[FrameResult], None] | None,
) -> Generator[RunProgress]:
    """Write the first result and all others to the session and the files."""
    with ExitStack() as stack:
        exporter = stack.enter_context(
            Exporter(run.out, run.job(run.objects), _record_failures(run.progress, callbacks))
        )
        # Another process may have been faster since `prepare`.
        if not run.overwrite:
            _check_unused(run.path, run.source.live)
        session = stack.enter_context(run.create_session())
        tracked = _with_first(first, (stage.track(result) for result in results))
        everything = write_run(session, tracked, run.segmenter, callbacks.cancel)
        stored = run.waiting
        for result in stack.enter_context(closing(everything)):
            if result.objects is not None:
                if session.objects != run.objects:
                    session.objects = run.objects
                if stored is not run.waiting:
                    # After the objects: if the process is killed in between, the prompts are only applied twice.
                    session.waiting_prompts = stored = run.waiting
                session.store_object_masks(result.index, result.objects, run.objects)
            exporter.write(result)
            if on_result is not None:
                on_result(result)
            run.progress.add(result, [one.name for one in run.objects])
            yield run.progress


def _with_first(first: FrameResult, others: Generator[FrameResult]) -> Generator[FrameResult]:
    with closing(others):
        yield first
        yield from others


def _record_notices(progress: RunProgress, callbacks: RunCallbacks) -> Callable[[Notice], None]:
    def note(notice: Notice) -> None:
        notice = notice.with_advice(command_advice)
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
    check_space(session.path.parent)
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
    on_notice = _record_notices(progress, callbacks)
    results = resumption.run(
        cancel=callbacks.cancel,
        on_preview=callbacks.on_preview,
        on_notice=on_notice,
        on_repeated=callbacks.on_repeated,
    )
    return run, _continue_run(session, source, results, progress, on_notice)


def _continue_run(
    session: Session,
    source: Source,
    results: Generator[FrameResult],
    progress: RunProgress,
    on_notice: Callable[[Notice], None],
) -> Generator[RunProgress]:
    with closing(results):
        store_objects(session)
        waiting = apply_stored_prompts(session, source, on_notice)
        for result in results:
            if not progress.frames:
                store_objects(session)
            waiting = apply_due_prompts(session, waiting, result, on_notice)
            progress.add(result)
            yield progress
